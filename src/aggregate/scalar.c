/* Implements scalar.h. */
#include "config.h"

#include "aggregate/scalar.h"

#include "aggregate/rows.h"
#include "aggregate/store.h"
#include "aggregate/uniq.h"

#include <stdlib.h>
#include <string.h>

void *scalar_create(const struct plan *plan, struct failure *failure)
{
    struct accumulators *accumulators = accumulators_create(plan, 0, plan->reductions.needs);
    struct scalar *scalar = NULL;

    if (accumulators)
        scalar = calloc(1, sizeof *scalar + accumulators->words * sizeof *scalar->row);
    if (!scalar) {
        free(accumulators);
        status_fail(failure, STATUS_DATA, "not enough memory for the result");
        return NULL;
    }
    scalar->accumulators = accumulators;
    memcpy(scalar->row, accumulators->initial, accumulators->words * sizeof *scalar->row);
    pthread_mutex_init(&scalar->mutex, NULL);
    if (plan->reductions.needs & REDUCTIONS_NEED_TABLE &&
        !(scalar->uniq = uniq_create(plan, failure))) {
        scalar_destroy(scalar);
        return NULL;
    }
    return scalar;
}

void scalar_destroy(void *aggregate)
{
    struct scalar *scalar = aggregate;

    if (!scalar)
        return;
    uniq_destroy(scalar->uniq);
    pthread_mutex_destroy(&scalar->mutex);
    free(scalar->accumulators);
    free(scalar);
}

void scalar_merge(struct scalar *scalar, const uint64_t *row)
{
    pthread_mutex_lock(&scalar->mutex);
    accumulators_merge(scalar->accumulators, scalar->row, row);
    pthread_mutex_unlock(&scalar->mutex);
}

void scalar_add_counts(struct scalar *scalar, size_t word, const uint64_t *counts, size_t n)
{
    pthread_mutex_lock(&scalar->mutex);
    for (size_t i = 0; i < n; i++)
        scalar->row[word + i] += counts[i];
    pthread_mutex_unlock(&scalar->mutex);
}

enum status scalar_finalize(void *aggregate, const struct plan *plan, uint64_t elements,
                            struct failure *failure)
{
    struct scalar *scalar = aggregate;
    struct rows rows;

    if (store_check_elements(elements, scalar->row[0], failure) != STATUS_OK)
        return failure->status;
    if (!accumulators_check(scalar->accumulators, scalar->row))
        return status_fail(failure, STATUS_DATA,
                           "internal error: the results contradict each other");
    if (!scalar->uniq)
        return STATUS_OK;
    if (uniq_finalize(scalar->uniq, plan, elements, failure) != STATUS_OK)
        return failure->status;
    uniq_rows_begin(&rows, plan, scalar->uniq, false); /* ascending, for percentiles */
    reduce_find(plan, rows, elements, scalar->found);
    return table_check(scalar->uniq->table, failure);
}
