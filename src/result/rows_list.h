/*
 * Lists of rows: all sorted by count, or those with the largest counts.
 *
 * All rows are sorted by a radix sort of the counts, from the lowest digit up (Knuth, "The Art of
 * Computer Programming", vol. 3, 5.2.5). Digits that are equal in all counts, mostly all but the
 * lowest, need no pass. The K largest are selected with a heap whose top is the smallest of them.
 *
 * Thread-safe on distinct lists.
 */
#ifndef GPUHIST_ROWS_LIST_H
#define GPUHIST_ROWS_LIST_H

#include "aggregate/rows.h"
#include "lib/status.h"

struct rows_list {
    struct rows_row *items; /* [count], owned */
    size_t count;
    size_t bytes;        /* size of the memory of `items` */
    uint64_t left;       /* number of rows that are not in the list */
    uint64_t empty_left; /* number of empty rows that are not in the list */
};

/*
 * Makes the list of the `top` rows with the largest counts, or of all rows if `top` is 0. It is
 * sorted by count, the largest first and equal counts by bin, or by bin. Uses at most `threads`
 * threads; 0: as many as are useful. Does not change `rows`, which are unread. Takes 48 bytes per
 * row, twice that to sort them; fails with STATUS_DATA if there is no memory. The caller destroys
 * the list, also after a failure.
 */
enum status rows_list_make(struct rows_list *list, const struct rows *rows, uint64_t top,
                           bool by_count, unsigned threads, struct failure *failure);

/* Starts at the first row of a list made from `from`. The list and the plan must outlive `rows`. */
void rows_list_begin(struct rows *rows, const struct rows *from, const struct rows_list *list);

/* Frees a list. A zero-initialised struct is allowed. */
void rows_list_destroy(struct rows_list *list);

#endif
