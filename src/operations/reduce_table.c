/* Implements reduce_table.h. */
#include "config.h"

#include "operations/reduce_table.h"

#include "partial/operation.h"
#include "partial/rows.h"

#include <stdlib.h>

#define REDUCE_TABLE_BATCH 256

/* A quantile that is searched for. */
struct reduce_table_rank {
    uint64_t rank;  /* 1 is the smallest element */
    unsigned index; /* of the reduction */
};

enum status reduce_table_init(struct reduce_table *table, const struct job *job,
                              struct failure *failure)
{
    void *uniq = NULL;

    if (job->reductions.needs & REDUCTIONS_NEED_TABLE &&
        operation_uniq.create(job, &uniq, failure) != STATUS_OK)
        return failure->status;
    table->uniq = uniq;
    return STATUS_OK;
}

void reduce_table_destroy(struct reduce_table *table)
{
    operation_uniq.destroy(table->uniq);
}

static int reduce_table_compare(const void *a, const void *b)
{
    uint64_t x = ((const struct reduce_table_rank *)a)->rank;
    uint64_t y = ((const struct reduce_table_rank *)b)->rank;
    return (x > y) - (x < y);
}

enum status reduce_table_finish(struct reduce_table *table, const struct job *job,
                                uint64_t elements, struct failure *failure)
{
    struct reduce_table_rank ranks[REDUCTIONS_MAX]; /* [count], ascending; [0..next) are found */
    struct rows_row batch[REDUCE_TABLE_BATCH];
    struct rows_row mode = {.count = 0};
    uint64_t distinct = 0;
    uint64_t seen = 0; /* elements */
    unsigned count = 0;
    unsigned next = 0;
    struct rows rows;
    size_t n;

    if (!table->uniq)
        return STATUS_OK;
    if (operation_uniq.finish(table->uniq, job, elements, failure) != STATUS_OK)
        return failure->status;
    for (unsigned i = 0; i < job->reductions.count; i++) {
        const struct reduction *reduction = &job->reductions.list[i];
        if (reduction->id == REDUCTION_QUANTILE || reduction->id == REDUCTION_MEDIAN)
            ranks[count++] =
                (struct reduce_table_rank){.rank =
                                               percentage_rank(&reduction->percentage, elements),
                                           .index = i};
    }
    qsort(ranks, count, sizeof *ranks, reduce_table_compare);
    uniq_rows_begin(&rows, job, table->uniq, false); /* for quantiles, in ascending order */
    while ((n = rows.read(&rows, batch, REDUCE_TABLE_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            const struct rows_row *row = &batch[i];
            if (row->count > mode.count || (row->count == mode.count && row->low < mode.low))
                mode = *row;
            distinct++;
            seen += row->count;
            for (; next < count && ranks[next].rank <= seen; next++)
                table->found[ranks[next].index] = (uint64_t)row->low;
        }
    }
    for (unsigned i = 0; i < job->reductions.count; i++) {
        if (job->reductions.list[i].id == REDUCTION_DISTINCT)
            table->found[i] = distinct;
        else if (job->reductions.list[i].id == REDUCTION_MODE)
            table->found[i] = (uint64_t)mode.low;
    }
    return table_check(table->uniq->table, failure);
}
