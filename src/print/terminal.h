/*
 * What can be shown where a plot goes: how much fits a line, which characters, and whether in
 * colour. Not thread-safe: it reads the environment.
 */
#ifndef GPUHIST_TERMINAL_H
#define GPUHIST_TERMINAL_H

#include <stdbool.h>

/* Lines are not made longer than that, however wide a terminal says that it is. */
#define TERMINAL_COLUMNS_MAX 1000

struct terminal {
    unsigned columns; /* of a line, at least 1 */
    bool has_unicode; /* the locale's characters are in UTF-8 */
    bool has_colour;
};

/*
 * Describes standard output, or, if the plot goes elsewhere, what is not known to be a terminal.
 * The width is that of the terminal, else what COLUMNS says, else 80. Colour takes a terminal, a
 * TERM other than "dumb", and no NO_COLOR (https://no-color.org).
 */
struct terminal terminal_describe(bool is_standard_output);

#endif
