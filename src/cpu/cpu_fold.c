/* Fine bins of equal width that are added up into the bins wanted at the end. */
#include "config.h"

#include "cpu/cpu_fold.h"

#include "job/binning_index.h"

/*
 * The most values that are folded: as many as private counters keep copies for
 * (cpu_counter_private.c). Beyond, a run of equal values would wait for its own stores, at 1.0
 * instead of 0.4 ns a value (Zen 4).
 */
#define CPU_FOLD_VALUES_MAX 1022

enum status cpu_fold_init(struct cpu_fold *fold, const struct job *job, struct failure *failure)
{
    __int128 low;
    __int128 high;

    *fold = (struct cpu_fold){.fine = *job};
    binning_bounds(&job->binning, &job->element, &low, &high);
    if (binning_is_unit(&job->binning) || low >= high || high - low > CPU_FOLD_VALUES_MAX)
        return STATUS_OK;
    if (binning_init(&fold->fine.binning, &job->element, low, high, (uint64_t)(high - low),
                     failure) != STATUS_OK)
        return failure->status;
    fold->table = histogram_create(&fold->fine, failure);
    return fold->table ? STATUS_OK : failure->status;
}

void cpu_fold_flush(struct cpu_fold *fold, const struct job *job, struct histogram *histogram)
{
    const struct binning *binning = &job->binning;
    const struct binning *fine = &fold->fine.binning;

    for (uint32_t value = 0; value < fold->table->entries; value++) {
        uint64_t count = histogram_take(fold->table, value);
        uint32_t bin = value < fine->bins ? binning_index(binning, binning->form, fine->low + value)
                                          : binning->bins + (value - fine->bins);
        if (count > 0)
            histogram_add_counts64(histogram, bin, &count, 1);
    }
}

void cpu_fold_destroy(struct cpu_fold *fold)
{
    histogram_destroy(fold->table);
}
