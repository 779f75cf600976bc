/*
 * Bars of a terminal: their length is proportional to a count, in steps of an eighth of a character
 * if Unicode is available, or to its logarithm.
 *
 * Pure and thread-safe.
 */
#ifndef GPUHIST_BAR_H
#define GPUHIST_BAR_H

#include "result/terminal.h"

#include <stddef.h>
#include <stdint.h>

struct bar_scale {
    const struct terminal *terminal;
    unsigned columns; /* of the longest bar */
    uint64_t max;     /* the greatest count */
    uint64_t min;     /* logarithmic: the smallest count that is not 0; else 0 */
};

/* Room for any bar, its colour and a NUL. */
#define BAR_SIZE (3 * TERMINAL_COLUMNS_MAX + 32)

/*
 * Writes the bar of a count and a NUL: of 0 nothing, of others at least the smallest step. Returns
 * its length, and stores how many columns of the terminal it takes.
 */
size_t bar_write(char out[BAR_SIZE], const struct bar_scale *scale, uint64_t count,
                 unsigned *columns);

#endif
