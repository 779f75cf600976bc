/*
 * Folding: for a small range of values, each value gets a counter of its own, and the counters are
 * added up by bin at the end. Any kind of bins then costs as much as bins of width 1.
 *
 * Each CPU thread has its own fold. Not thread-safe.
 */
#ifndef GPUHIST_CPU_FOLD_H
#define GPUHIST_CPU_FOLD_H

#include "count/histogram.h"
#include "job/job.h"

struct cpu_fold {
    struct job fine;         /* the job with bins of width 1 */
    struct histogram *table; /* the counts of those bins; NULL: no folding */
};

/*
 * Makes the fold of a histogram job. It has no table if folding does not pay: the bins already have
 * width 1, or there are too many values. Fails with STATUS_DATA. The caller destroys it, also after
 * a failure.
 */
enum status cpu_fold_init(struct cpu_fold *fold, const struct job *job, struct failure *failure);

/* Adds the counts of fold->table to the bins of the job in `histogram`, and clears them. */
void cpu_fold_flush(struct cpu_fold *fold, const struct job *job, struct histogram *histogram);

/* Frees the memory of a fold. A zero-initialised struct is allowed. */
void cpu_fold_destroy(struct cpu_fold *fold);

#endif
