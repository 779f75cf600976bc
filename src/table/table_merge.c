/*
 * Merges runs: a heap has the next row of each run, the least key on top (Knuth, "The Art of
 * Computer Programming", vol. 3, 5.4.1).
 */
#include "config.h"

#include "table/table_rows.h"
#include "table/table_runs.h"

#include <stdlib.h>

/* A run that is read. */
struct table_merge_input {
    const struct table_run *run;
    size_t block;        /* the next one */
    const uint64_t *row; /* the next row */
    const uint64_t *end; /* of the rows read */
    uint64_t rows[];     /* of a block */
};

struct table_merge {
    struct table_layout layout;
    struct table_merge_input **heap; /* [left] */
    size_t left;
    uint64_t *row; /* the one that is merged */
    struct table_run_writer *writer;
};

/* Moves input i of the heap down to where it belongs. */
TABLE_INLINE void table_merge_sift_down(const struct table_layout layout, struct table_merge *merge,
                                        size_t i)
{
    struct table_merge_input **heap = merge->heap;
    struct table_merge_input *input = heap[i];

    for (size_t child; (child = 2 * i + 1) < merge->left; i = child) {
        if (child + 1 < merge->left &&
            table_key_is_less(layout, heap[child + 1]->row, heap[child]->row))
            child++;
        if (!table_key_is_less(layout, heap[child]->row, input->row))
            break;
        heap[i] = heap[child];
    }
    heap[i] = input;
}

static void table_merge_sift(struct table_merge *merge, size_t i)
{
    if (merge->layout.key_words == 1)
        table_merge_sift_down(table_counts, merge, i);
    else
        table_merge_sift_down(merge->layout, merge, i);
}

/* Reads the next block of an input. */
static enum status table_merge_fill(struct table_merge_input *input, struct failure *failure)
{
    size_t n;

    if (table_run_read(input->run, input->block++, input->rows, &n, failure) != STATUS_OK)
        return failure->status;
    input->row = input->rows;
    input->end = input->rows + n * input->run->layout->words;
    return STATUS_OK;
}

/* Advances the input on top. */
static enum status table_merge_advance(struct table_merge *merge, struct failure *failure)
{
    struct table_merge_input *input = merge->heap[0];

    input->row += merge->layout.words;
    if (input->row == input->end && table_merge_fill(input, failure) != STATUS_OK)
        return failure->status;
    if (input->row == input->end) {
        merge->heap[0] = merge->heap[--merge->left];
        free(input);
    }
    if (merge->left > 0)
        table_merge_sift(merge, 0);
    return STATUS_OK;
}

/* Writes all rows in order. */
static enum status table_merge_write(struct table_merge *merge, struct failure *failure)
{
    const struct table_layout layout = merge->layout;

    while (merge->left > 0) {
        table_row_copy(layout, merge->row, merge->heap[0]->row);
        if (table_merge_advance(merge, failure) != STATUS_OK)
            return failure->status;
        while (merge->left > 0 && table_keys_are_equal(layout, merge->heap[0]->row, merge->row)) {
            if (!table_row_merge(layout, merge->row, merge->heap[0]->row))
                return status_fail(failure, STATUS_DATA, "a count does not fit in 64 bits");
            if (table_merge_advance(merge, failure) != STATUS_OK)
                return failure->status;
        }
        if (table_run_write(merge->writer, merge->row, 1, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

enum status table_runs_merge(struct table_run *runs, size_t n, const char *directory,
                             struct table_run *merged, struct failure *failure)
{
    const struct table_layout *layout = runs[0].layout;
    const size_t row_bytes = layout->words * sizeof(uint64_t);
    struct table_merge merge = {
        .layout = *layout,
        .heap = calloc(n, sizeof *merge.heap),
        .row = malloc(row_bytes),
    };
    enum status status = STATUS_OK;

    if (!merge.heap || !merge.row)
        status = status_fail(failure, STATUS_DATA, "no memory for merging counts");
    for (size_t i = 0; status == STATUS_OK && i < n; i++) {
        struct table_merge_input *input =
            malloc(sizeof *input + table_run_rows(layout) * row_bytes);
        if (!input) {
            status = status_fail(failure, STATUS_DATA, "no memory for merging counts");
            break;
        }
        input->run = &runs[i];
        input->block = 0;
        status = table_merge_fill(input, failure);
        if (status == STATUS_OK && input->row < input->end)
            merge.heap[merge.left++] = input;
        else
            free(input);
    }
    for (size_t i = merge.left / 2; status == STATUS_OK && i-- > 0;)
        table_merge_sift(&merge, i);
    if (status == STATUS_OK)
        status = table_run_writer_open(&merge.writer, layout, directory, failure);
    if (status == STATUS_OK)
        status = table_merge_write(&merge, failure);
    if (status == STATUS_OK)
        status = table_run_writer_finish(merge.writer, merged, failure);
    table_run_writer_close(merge.writer);
    while (merge.left > 0)
        free(merge.heap[--merge.left]);
    free(merge.heap);
    free(merge.row);
    for (size_t i = 0; status == STATUS_OK && i < n; i++)
        table_run_destroy(&runs[i]);
    return status;
}
