/*
 * Bars in a terminal. Their length is proportional to a count or its logarithm, in steps of an
 * eighth of a character if Unicode is available.
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
    unsigned columns; /* length of the longest bar in columns */
    uint64_t max;     /* the largest count */
    uint64_t min;     /* logarithmic: the smallest count that is not 0; else 0 */
};

/* Size of a buffer for any bar, its colour and a NUL. */
#define BAR_SIZE (3 * TERMINAL_COLUMNS_MAX + 32)

/*
 * Writes the bar of a count and a NUL: nothing for 0, else at least the smallest step. Returns its
 * length in bytes, and stores its number of terminal columns.
 */
size_t bar_write(char out[BAR_SIZE], const struct bar_scale *scale, uint64_t count,
                 unsigned *columns);

#endif
