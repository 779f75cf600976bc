/* Implements reduce_table.h. */
#include "config.h"

#include "count/reduce_table.h"

#include "partial/operation.h"
#include "partial/rows.h"

#include <stdlib.h>

#define REDUCE_TABLE_BATCH 256

/* A quantile that is searched for. */
struct reduce_table_rank {
    uint64_t rank;  /* 1 is the smallest element */
    unsigned index; /* of the reduction */
};

/* The mode so far, and the quantiles: ranks[0..next) are found. */
struct reduce_table_search {
    uint64_t distinct;
    struct rows_row mode;
    struct reduce_table_rank ranks[REDUCTIONS_MAX];
    unsigned count;
    unsigned next;
    uint64_t seen; /* elements */
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

/* Lists the quantiles in ascending order. */
static void reduce_table_begin(struct reduce_table_search *search, const struct job *job,
                               uint64_t elements)
{
    *search = (struct reduce_table_search){.count = 0};
    for (unsigned i = 0; i < job->reductions.count; i++) {
        const struct reduction *reduction = &job->reductions.list[i];
        if (reduction->id == REDUCTION_QUANTILE || reduction->id == REDUCTION_MEDIAN)
            search->ranks[search->count++] =
                (struct reduce_table_rank){.rank =
                                               percentage_rank(&reduction->percentage, elements),
                                           .index = i};
    }
    qsort(search->ranks, search->count, sizeof *search->ranks, reduce_table_compare);
}

/* Looks at one row. For quantiles, rows come in ascending order. */
static void reduce_table_look(struct reduce_table *table, struct reduce_table_search *search,
                              const struct rows_row *row)
{
    struct rows_row *mode = &search->mode;

    if (row->count > mode->count || (row->count == mode->count && row->low < mode->low))
        *mode = *row;
    search->distinct++;
    search->seen += row->count;
    for (; search->next < search->count && search->ranks[search->next].rank <= search->seen;
         search->next++)
        table->found[search->ranks[search->next].index] = (uint64_t)row->low;
}

static enum status reduce_table_scan(struct reduce_table *table, const struct job *job,
                                     struct reduce_table_search *search, struct failure *failure)
{
    struct rows_row batch[REDUCE_TABLE_BATCH];
    struct rows rows;
    size_t n;

    uniq_rows_begin(&rows, job, table->uniq, false);
    while ((n = rows.read(&rows, batch, REDUCE_TABLE_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            reduce_table_look(table, search, &batch[i]);
    }
    for (unsigned i = 0; i < job->reductions.count; i++) {
        if (job->reductions.list[i].id == REDUCTION_DISTINCT)
            table->found[i] = search->distinct;
        else if (job->reductions.list[i].id == REDUCTION_MODE)
            table->found[i] = (uint64_t)search->mode.low;
    }
    return table_check(table->uniq->table, failure);
}

enum status reduce_table_finish(struct reduce_table *table, const struct job *job,
                                uint64_t elements, struct failure *failure)
{
    struct reduce_table_search search;

    if (!table->uniq)
        return STATUS_OK;
    if (operation_uniq.finish(table->uniq, job, elements, failure) != STATUS_OK)
        return failure->status;
    reduce_table_begin(&search, job, elements);
    return reduce_table_scan(table, job, &search, failure);
}
