/*
 * Describes the terminal for plots: its size, whether it shows Unicode, and colour. Not
 * thread-safe: it reads the environment.
 */
#ifndef GPUHIST_TERMINAL_H
#define GPUHIST_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of columns, however wide the terminal is, and of lines. */
#define TERMINAL_COLUMNS_MAX 1000
#define TERMINAL_LINES_MAX   1000

struct terminal {
    unsigned columns; /* number of columns of a line, at least 1 */
    unsigned lines;   /* number of lines, at least 1 */
    bool has_unicode; /* the user's locale uses UTF-8 */
    bool has_colour;
    bool has_true_colour; /* colours have 24 bits; else they are of a palette of 256 */
};

/*
 * Describes standard output, or an output that is not a terminal. The width is that of the
 * terminal, else COLUMNS, else for a pipe, which may lead to a pager, that of the terminal of
 * standard error or input, else 80; the same rules hold for the height, with LINES and 24. Colour
 * requires a terminal, a TERM other than "dumb", and no NO_COLOR (https://no-color.org).
 */
struct terminal terminal_describe(bool is_standard_output);

/*
 * Returns the number of lines that fit the output's height beside `others` lines, between `min` and
 * `max`. Reads the environment, like the functions above and below.
 */
uint64_t terminal_lines_beside(bool is_standard_output, uint64_t others, uint64_t min,
                               uint64_t max);

/* Returns whether standard output is a terminal on which earlier output can be replaced. */
bool terminal_can_redraw(void);

#endif
