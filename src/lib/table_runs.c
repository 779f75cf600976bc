/*
 * Implements table_runs.h. A heap has the next row of each run in a merge, the smallest key on top
 * (Knuth, "The Art of Computer Programming", vol. 3, 5.4.1).
 */
#include "config.h"

#include "lib/table_runs.h"

#include "lib/input.h"
#include "lib/memory.h"
#include "lib/stage.h"
#include "lib/table_rows.h"
#include "lib/temporary.h"

#include <errno.h>
#include <unistd.h>

/* Number of bytes of a run that a merge reads or writes at once: at least a row. */
#define TABLE_MERGE_BYTES ((size_t)64 << 10)

enum status table_run_fail(const struct table_run *run, const char *what, struct failure *failure)
{
    return status_fail(failure, STATUS_DATA,
                       "cannot %s a temporary file of counts in " STATUS_NAME ": %s", what,
                       run->directory, strerror(errno));
}

enum status table_run_create(struct table_run *run, const char *directory, struct failure *failure)
{
    *run = (struct table_run){.fd = temporary_open_nameless(directory), .directory = directory};
    return run->fd >= 0 ? STATUS_OK : table_run_fail(run, "make", failure);
}

enum status table_run_append(struct table_run *run, const struct table_layout *layout,
                             const uint64_t *rows, size_t n, struct failure *failure)
{
    const char *data = (const char *)rows;
    size_t left = n * layout->words * sizeof *rows;

    while (left > 0) {
        const ssize_t written = write(run->fd, data, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return table_run_fail(run, "write", failure);
        data += written;
        left -= (size_t)written;
    }
    run->rows += n;
    return STATUS_OK;
}

bool table_run_read(const struct table_run *run, const struct table_layout *layout, uint64_t first,
                    uint64_t *rows, size_t n)
{
    const size_t row_bytes = layout->words * sizeof *rows;

    errno = EIO; /* for a file that another process has truncated */
    return input_read_at(run->fd, rows, n * row_bytes, (off_t)(first * row_bytes)) ==
           (ssize_t)(n * row_bytes);
}

void table_run_destroy(struct table_run *run)
{
    if (run->fd >= 0)
        close(run->fd);
    run->fd = -1;
}

/* A run in a merge. */
struct table_merge_input {
    const struct table_run *run;
    uint64_t read;       /* number of rows read so far */
    uint64_t *rows;      /* the buffer; not owned */
    const uint64_t *row; /* the next row in the buffer */
    const uint64_t *end; /* the end of the rows in the buffer */
};

struct table_merge {
    struct table_layout layout;
    size_t capacity; /* number of rows of a buffer */
    struct stage *stage;
    struct table_merge_input inputs[TABLE_RUNS_MAX];
    struct table_merge_input *heap[TABLE_RUNS_MAX]; /* [left], the unfinished inputs */
    size_t left;
};

/* Moves the input at `i` of the heap down as far as inputs below it have lower keys. */
static void table_merge_sift(struct table_merge *merge, size_t i)
{
    const struct table_layout layout = merge->layout;
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

/* Reads the next rows of an input; `row` equals `end` at its end. */
static enum status table_merge_read(const struct table_merge *merge,
                                    struct table_merge_input *input, struct failure *failure)
{
    const uint64_t left = input->run->rows - input->read;
    const size_t n = left < merge->capacity ? (size_t)left : merge->capacity;

    if (!table_run_read(input->run, &merge->layout, input->read, input->rows, n))
        return table_run_fail(input->run, "read", failure);
    stage_add(merge->stage, n);
    input->read += n;
    input->row = input->rows;
    input->end = input->rows + n * merge->layout.words;
    return STATUS_OK;
}

/* Advances the input on top by a row. */
static enum status table_merge_advance(struct table_merge *merge, struct failure *failure)
{
    struct table_merge_input *input = merge->heap[0];

    input->row += merge->layout.words;
    if (input->row == input->end && table_merge_read(merge, input, failure) != STATUS_OK)
        return failure->status;
    if (input->row == input->end)
        merge->heap[0] = merge->heap[--merge->left];
    if (merge->left > 0)
        table_merge_sift(merge, 0);
    return STATUS_OK;
}

/* Appends all rows in order to `merged`, through a buffer. */
static enum status table_merge_write(struct table_merge *merge, uint64_t *buffer,
                                     struct table_run *merged, struct failure *failure)
{
    const struct table_layout layout = merge->layout;
    size_t n = 0;

    while (merge->left > 0) {
        uint64_t *row = buffer + n * layout.words;
        table_row_copy(layout, row, merge->heap[0]->row);
        if (table_merge_advance(merge, failure) != STATUS_OK)
            return failure->status;
        while (merge->left > 0 && table_keys_are_equal(layout, merge->heap[0]->row, row)) {
            if (!table_row_merge(layout, row, merge->heap[0]->row))
                return status_fail(failure, STATUS_DATA, "a count does not fit in 64 bits");
            if (table_merge_advance(merge, failure) != STATUS_OK)
                return failure->status;
        }
        if (++n < merge->capacity && merge->left > 0)
            continue;
        if (table_run_append(merged, &layout, buffer, n, failure) != STATUS_OK)
            return failure->status;
        n = 0;
    }
    return STATUS_OK;
}

enum status table_runs_merge(struct table_run *runs, size_t n, const struct table_layout *layout,
                             const char *directory, struct stage *stage, struct table_run *merged,
                             struct failure *failure)
{
    const size_t row_bytes = layout->words * sizeof(uint64_t);
    const size_t capacity = TABLE_MERGE_BYTES / row_bytes + 1;
    const size_t bytes = (n + 1) * capacity * row_bytes;
    struct table_merge merge = {.layout = *layout, .capacity = capacity, .stage = stage};
    uint64_t rows = 0;
    uint64_t *buffers = memory_map(bytes);
    enum status status;

    if (!buffers)
        return status_fail(failure, STATUS_DATA, "not enough memory for merging counts");
    for (size_t i = 0; i < n; i++)
        rows += runs[i].rows;
    stage_begin(stage, "merging", rows);
    status = table_run_create(merged, directory, failure);
    for (size_t i = 0; status == STATUS_OK && i < n; i++) {
        struct table_merge_input *input = &merge.inputs[i];
        *input = (struct table_merge_input){
            .run = &runs[i],
            .rows = buffers + (i + 1) * capacity * layout->words,
        };
        status = table_merge_read(&merge, input, failure);
        if (status == STATUS_OK && input->row < input->end)
            merge.heap[merge.left++] = input;
    }
    for (size_t i = merge.left / 2; status == STATUS_OK && i-- > 0;)
        table_merge_sift(&merge, i);
    if (status == STATUS_OK)
        status = table_merge_write(&merge, buffers, merged, failure);
    memory_unmap(buffers, bytes);
    if (status != STATUS_OK) {
        table_run_destroy(merged);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        table_run_destroy(&runs[i]);
    return STATUS_OK;
}
