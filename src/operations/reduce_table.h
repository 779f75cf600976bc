/*
 * The reductions that are computed from a table of the distinct elements and their counts:
 * distinct, mode, median and quantiles. The table is the partial of uniq with bins of width 1.
 */
#ifndef GPUHIST_REDUCE_TABLE_H
#define GPUHIST_REDUCE_TABLE_H

#include "histograms/uniq.h"
#include "job/job.h"

struct reduce_table {
    struct uniq *uniq; /* NULL: the job needs none; owned */
    /*
     * Set by reduce_table_finish, by number of the reduction: for distinct a number, otherwise a
     * key (element.h), which is undefined if there are no elements.
     */
    uint64_t found[REDUCTIONS_MAX];
};

/* Makes an empty table if the job needs one. Fails with STATUS_DATA. The caller destroys it. */
enum status reduce_table_init(struct reduce_table *table, const struct job *job,
                              struct failure *failure);
void reduce_table_destroy(struct reduce_table *table);

/*
 * Checks that the table holds `elements` elements, finalizes it, and finds all reductions in one
 * pass. More may be added later, and then it is finished again. No thread may add meanwhile. Fails
 * with STATUS_DATA.
 */
enum status reduce_table_finish(struct reduce_table *table, const struct job *job,
                                uint64_t elements, struct failure *failure);

#endif
