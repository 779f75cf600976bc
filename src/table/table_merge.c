/*
 * Merges runs: a heap has the next entry of each run, the least on top (Knuth, "The Art of Computer
 * Programming", vol. 3, 5.4.1).
 */
#include "config.h"

#include "table/table_runs.h"

#include <stdlib.h>

/* A run that is read. */
struct table_merge_input {
    const struct table_run *run;
    size_t block; /* the next one */
    size_t at;    /* the next entry */
    size_t count;
    struct table_entry entries[TABLE_RUN_ENTRIES];
};

struct table_merge {
    struct table_merge_input **heap; /* [left] */
    size_t left;
    struct table_run_writer *writer;
};

static uint64_t table_merge_key(const struct table_merge_input *input)
{
    return input->entries[input->at].key;
}

/* Moves the input at place i of the heap down to where it belongs. */
static void table_merge_sift(struct table_merge *merge, size_t i)
{
    struct table_merge_input *input = merge->heap[i];

    for (size_t child; (child = 2 * i + 1) < merge->left; i = child) {
        if (child + 1 < merge->left &&
            table_merge_key(merge->heap[child + 1]) < table_merge_key(merge->heap[child]))
            child++;
        if (table_merge_key(input) <= table_merge_key(merge->heap[child]))
            break;
        merge->heap[i] = merge->heap[child];
    }
    merge->heap[i] = input;
}

/* Reads the next block of an input. */
static enum status table_merge_fill(struct table_merge_input *input, struct failure *failure)
{
    input->at = 0;
    return table_run_read(input->run, input->block++, input->entries, &input->count, failure);
}

/* Advances the input on top. */
static enum status table_merge_advance(struct table_merge *merge, struct failure *failure)
{
    struct table_merge_input *input = merge->heap[0];

    if (++input->at == input->count && table_merge_fill(input, failure) != STATUS_OK)
        return failure->status;
    if (input->count == 0) {
        merge->heap[0] = merge->heap[--merge->left];
        free(input);
    }
    if (merge->left > 0)
        table_merge_sift(merge, 0);
    return STATUS_OK;
}

/* Writes all entries in order. */
static enum status table_merge_write(struct table_merge *merge, struct failure *failure)
{
    while (merge->left > 0) {
        struct table_entry entry = merge->heap[0]->entries[merge->heap[0]->at];
        if (table_merge_advance(merge, failure) != STATUS_OK)
            return failure->status;
        while (merge->left > 0 && table_merge_key(merge->heap[0]) == entry.key) {
            uint64_t more = merge->heap[0]->entries[merge->heap[0]->at].count;
            if (__builtin_add_overflow(entry.count, more, &entry.count))
                return status_fail(failure, STATUS_DATA, "a count does not fit in 64 bits");
            if (table_merge_advance(merge, failure) != STATUS_OK)
                return failure->status;
        }
        if (table_run_write(merge->writer, &entry, 1, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/* Adds a run to the heap, which is in order only once all are added. */
static enum status table_merge_add(struct table_merge *merge, const struct table_run *run,
                                   struct failure *failure)
{
    struct table_merge_input *input = malloc(sizeof *input);
    if (!input)
        return status_fail(failure, STATUS_DATA, "no memory for merging counts");

    input->run = run;
    input->block = 0;
    enum status status = table_merge_fill(input, failure);
    if (status == STATUS_OK && input->count > 0)
        merge->heap[merge->left++] = input;
    else
        free(input);
    return status;
}

enum status table_runs_merge(struct table_run *runs, size_t n, const char *directory,
                             struct table_run *merged, struct failure *failure)
{
    struct table_merge merge = {.heap = calloc(n, sizeof *merge.heap)};
    enum status status = STATUS_OK;

    if (!merge.heap)
        status = status_fail(failure, STATUS_DATA, "no memory for merging counts");
    for (size_t i = 0; status == STATUS_OK && i < n; i++)
        status = table_merge_add(&merge, &runs[i], failure);
    for (size_t i = merge.left / 2; status == STATUS_OK && i-- > 0;)
        table_merge_sift(&merge, i);
    if (status == STATUS_OK)
        status = table_run_writer_open(&merge.writer, directory, failure);
    if (status == STATUS_OK)
        status = table_merge_write(&merge, failure);
    if (status == STATUS_OK)
        status = table_run_writer_finish(merge.writer, merged, failure);
    table_run_writer_close(merge.writer);
    while (merge.left > 0)
        free(merge.heap[--merge.left]);
    free(merge.heap);
    for (size_t i = 0; status == STATUS_OK && i < n; i++)
        table_run_destroy(&runs[i]);
    return status;
}
