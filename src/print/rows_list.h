/*
 * Rows in another order than that of the bins, or the greatest of them, in memory of their own.
 *
 * All by count: a radix sort of the counts, digit by digit from the lowest, each pass stable
 * (Knuth, "The Art of Computer Programming" 3, 5.2.5); digits in which all are equal, mostly all
 * but the lowest, take no pass. The K greatest: a heap whose top is the least of them.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_ROWS_LIST_H
#define GPUHIST_ROWS_LIST_H

#include "base/status.h"
#include "operations/rows.h"

struct rows_list {
    struct rows_row *items; /* [count], owned */
    size_t count;
    size_t bytes;  /* of the mapping */
    uint64_t left; /* rows that are not in it */
};

/*
 * Makes the list of the `top` rows with the greatest counts, or of all if it is 0; of equal ones
 * those of lower bins come first. They are by count, the greatest first, or by bin. The rows, of
 * which none has been read, stay as they are. Fails with STATUS_DATA if there is no memory: 48
 * bytes for each row of the list, twice that for all by count. The caller frees it, also after
 * failure.
 */
enum status rows_list_make(struct rows_list *list, const struct rows *rows, uint64_t top,
                           bool by_count, struct failure *failure);

/* The rows of the list; those that it was made from lend what is not of a row. */
void rows_list_begin(struct rows *rows, const struct rows *from, const struct rows_list *list);

/* Frees what it owns. One of zeros is allowed. */
void rows_list_destroy(struct rows_list *list);

#endif
