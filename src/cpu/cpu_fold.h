/*
 * Folding: values of a small range are counted one by one, in bins one wide, whose counts are added
 * up by bin in the end. However the bins are laid, they then cost as much as plain ones.
 *
 * One a CPU thread; not thread-safe.
 */
#ifndef GPUHIST_CPU_FOLD_H
#define GPUHIST_CPU_FOLD_H

#include "job/job.h"
#include "operations/histogram.h"

struct cpu_fold {
    struct job fine;         /* the job, but with bins one wide */
    struct histogram *table; /* of these; NULL: there is no folding */
};

/*
 * Makes the fold of a job, a histogram's; without a table if that does not pay: if its bins are one
 * wide, or its values too many. Fails with STATUS_DATA. The caller destroys it, in either case.
 */
enum status cpu_fold_init(struct cpu_fold *fold, const struct job *job, struct failure *failure);

/* Moves what was counted in fold->table to the bins of the job, in `histogram`. */
void cpu_fold_flush(struct cpu_fold *fold, const struct job *job, struct histogram *histogram);

/* One of zeros is allowed. */
void cpu_fold_destroy(struct cpu_fold *fold);

#endif
