/* Implements uniq.h: the partial, and the row of the table of operations. */
#include "config.h"

#include "operations/uniq.h"

#include "operations/operation.h"
#include "operations/state_job.h"

#include <stdlib.h>

/* Counts that are moved together. */
#define UNIQ_MOVE_BATCH 1024

static enum status uniq_create(const struct job *job, void **partial, struct failure *failure)
{
    struct uniq *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for counts");

    made->job = job;
    made->flip = job->element.is_signed ? (uint64_t)1 << 63 : 0;
    if (table_create(&made->table, job->buffer_bytes, job->temporary_directory, failure) !=
        STATUS_OK) {
        free(made);
        return failure->status;
    }
    pthread_mutex_init(&made->lock, NULL);
    *partial = made;
    return STATUS_OK;
}

static void uniq_destroy(void *partial)
{
    struct uniq *uniq = partial;

    if (!uniq)
        return;
    for (size_t i = 0; i < uniq->count; i++)
        growing_window_destroy(&uniq->windows[i]);
    pthread_mutex_destroy(&uniq->lock);
    table_destroy(uniq->table);
    free(uniq);
}

void uniq_make_keys(const struct uniq *uniq, const struct uniq_divisor *divisor, uint64_t *words,
                    size_t n)
{
    const uint64_t flip = uniq->flip;

    for (size_t i = 0; i < n && divisor->width == 1 && flip != 0; i++)
        words[i] ^= flip;
    for (size_t i = 0; i < n && divisor->width > 1 && flip != 0; i++)
        words[i] = uniq_divide_signed(divisor, (int64_t)words[i]) ^ flip;
    for (size_t i = 0; i < n && divisor->width > 1 && flip == 0; i++)
        words[i] = uniq_divide(divisor, words[i]);
}

/* Moves the counts of a window to the table. */
static enum status uniq_move_window(const struct uniq *uniq, const struct growing_window *window,
                                    struct table_writer *writer, struct failure *failure)
{
    struct histogram *histogram = window->histogram;
    const size_t bins = (size_t)window->bins;
    struct table_entry entries[UNIQ_MOVE_BATCH];
    size_t n = 0;

    for (size_t i = 0; (i = histogram_skip_empty(histogram, i, bins)) < bins; i++) {
        const uint64_t bin = (uint64_t)window->first + i;
        entries[n++] =
            (struct table_entry){.key = bin ^ uniq->flip, .count = histogram_take(histogram, i)};
        if (n < UNIQ_MOVE_BATCH)
            continue;
        if (table_writer_add_counts(writer, entries, n, failure) != STATUS_OK)
            return failure->status;
        n = 0;
    }
    return table_writer_add_counts(writer, entries, n, failure);
}

static enum status uniq_move_windows(struct uniq *uniq, struct failure *failure)
{
    struct table_writer *writer;
    enum status status = STATUS_OK;

    if (uniq->count == 0)
        return STATUS_OK;
    if (table_writer_open(uniq->table, &writer, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0; i < uniq->count && status == STATUS_OK; i++)
        status = uniq_move_window(uniq, &uniq->windows[i], writer, failure);
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    return status;
}

static enum status uniq_finish(void *partial, const struct job *job, uint64_t elements,
                               struct failure *failure)
{
    struct uniq *uniq = partial;

    uniq->elements = elements;
    if (uniq_move_windows(uniq, failure) != STATUS_OK)
        return failure->status;
    if (table_settle(uniq->table, job->any_order ? TABLE_ANY_ORDER : TABLE_ASCENDING, failure) !=
        STATUS_OK)
        return failure->status;
    if (table_total(uniq->table) == elements)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       "internal error: %llu elements were read, but %llu counted",
                       (unsigned long long)elements, (unsigned long long)table_total(uniq->table));
}

static enum status uniq_verdict(const struct job *job, const void *partial, struct failure *failure)
{
    const struct uniq *uniq = partial;

    if (table_check(uniq->table, failure) != STATUS_OK)
        return failure->status;
    return job_check_values(job, uniq->elements > 0, failure);
}

const struct operation operation_uniq = {
    .name = "uniq",
    .alias = "distinct",
    .help = "count each different value",
    .usage = "gpuhist uniq [OPTION]... [FILE]...\n"
             "Print each different value and how often it came, in ascending order, as\n"
             "`sort -n | uniq -c` does: any values of the type, any number of them.\n",
    .create = uniq_create,
    .finish = uniq_finish,
    .verdict = uniq_verdict,
    .state = &uniq_state,
    .destroy = uniq_destroy,
};
