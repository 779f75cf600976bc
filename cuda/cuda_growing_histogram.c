/*
 * Automatic histogram on a GPU, the host's part. All feeders share one table on the device, for one
 * window (growing_window.h). A chunk is counted in it, and has its own counters for values outside.
 * When the chunk is completed, the host finds these values and counts them itself; that makes a
 * wider window. The next chunk then adds the table to its window's histogram, and begins
 * with the new window.
 */
#include "config.h"

#include "count/growing_histogram.h"
#include "cuda/cuda_counters.h"
#include "cuda/cuda_operation.h"
#include "job/binning_index.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

/* The values of a chunk that the host looks at together. */
#define CUDA_GROWING_HISTOGRAM_BLOCK ((size_t)4096)

/* The session's state on the host. */
struct cuda_growing_histogram {
    struct cuda_counters counters;       /* their lock guards the window too */
    const struct growing_window *window; /* the table's; NULL: there is none yet */
};

/* The result of a chunk. */
struct cuda_growing_histogram_result {
    uint64_t outside[BINNING_OUTSIDE];
    const struct growing_window *window; /* it was counted in; NULL: it has no values */
};

static size_t cuda_growing_histogram_partial_bytes(const struct job *job)
{
    (void)job;
    return cuda_counters_bytes(GROWING_HISTOGRAM_BINS);
}

static size_t cuda_growing_histogram_scratch_bytes(const struct job *job, size_t elements_bytes)
{
    (void)job;
    (void)elements_bytes;
    return BINNING_OUTSIDE * sizeof(uint64_t);
}

static size_t cuda_growing_histogram_result_bytes(const struct job *job, size_t elements_bytes)
{
    (void)job;
    (void)elements_bytes;
    return sizeof(struct cuda_growing_histogram_result);
}

static enum status cuda_growing_histogram_open(struct cuda_shared *shared, struct failure *failure)
{
    return cuda_counters_open(shared, sizeof(struct cuda_growing_histogram), failure);
}

/* Adds the table to its window's histogram. All work is done. */
static enum status cuda_growing_histogram_collect(const struct cuda_shared *shared, void *staging,
                                                  size_t staging_bytes, struct failure *failure)
{
    const struct growing_window *window = ((struct cuda_growing_histogram *)shared->host)->window;

    if (!window)
        return STATUS_OK;
    return cuda_check_copy(cuda_counters_collect(shared, window->binning.bins, window->histogram,
                                                 staging, staging_bytes),
                           failure);
}

/* Clears the table for the newest window. The lock is held for writing. */
static cudaError_t cuda_growing_histogram_rebase(const struct cuda_shared *shared)
{
    struct cuda_growing_histogram *self = shared->host;
    const struct growing_window *window = self->window;
    const struct growing_window *newest = growing_histogram_window(shared->partial);
    cudaError_t error = cudaSuccess;

    if (newest == window)
        return cudaSuccess;
    if (window)
        error = cuda_counters_move(shared, window->binning.bins, window->histogram);
    if (error == cudaSuccess)
        self->window = newest;
    return error;
}

/* Makes room for so many elements. The lock is held for writing. */
static cudaError_t cuda_growing_histogram_make_room(const struct cuda_shared *shared,
                                                    size_t elements)
{
    struct cuda_growing_histogram *self = shared->host;
    const struct growing_window *window = self->window;
    cudaError_t error = cudaSuccess;

    while (error == cudaSuccess && window && !cuda_counters_reserve(&self->counters, elements))
        error = cuda_counters_make_room(shared, window->binning.bins, window->histogram);
    return error;
}

/* A walk over a chunk's values, in host memory, a block at a time. */
struct cuda_growing_histogram_walk {
    const struct job *job;
    const struct chunk *chunk;
    size_t offset;              /* of the next value */
    text_parse_function *parse; /* of text */
    enum text_event event;      /* the last one */
    uint64_t keys[CUDA_GROWING_HISTOGRAM_BLOCK];
};

static void cuda_growing_histogram_walk_begin(struct cuda_growing_histogram_walk *walk,
                                              const struct job *job, const struct chunk *chunk)
{
    walk->job = job;
    walk->chunk = chunk;
    walk->offset = 0;
    walk->parse = job->is_text ? text_choose_parser(&job->text, job->element.type) : NULL;
    walk->event = TEXT_FULL;
}

/* Parses some values, and returns their number, which may be 0. The last event is TEXT_END. */
static size_t cuda_growing_histogram_walk_text(struct cuda_growing_histogram_walk *walk)
{
    const struct job *job = walk->job;
    const unsigned bytes = job->element.bytes;
    uint64_t values[CUDA_GROWING_HISTOGRAM_BLOCK];
    struct text_cursor text = {
        .rules = &walk->chunk->rules,
        .data = walk->chunk->data,
        .bytes = walk->chunk->bytes,
        .offset = walk->offset,
        .values = values,
        .capacity = CUDA_GROWING_HISTOGRAM_BLOCK,
    };

    walk->event = walk->parse(&text);
    walk->offset = text.offset;
    for (size_t i = 0; i < text.count; i++)
        walk->keys[i] = element_key(&job->element, (const char *)values + i * bytes);
    return text.count;
}

/* Makes the keys of the next block, and returns their number: 0 at the end. */
static size_t cuda_growing_histogram_walk_next(struct cuda_growing_histogram_walk *walk)
{
    const struct job *job = walk->job;
    const struct chunk *chunk = walk->chunk;
    size_t n = 0;

    if (walk->parse) {
        while (n == 0 && walk->event != TEXT_END)
            n = cuda_growing_histogram_walk_text(walk);
        return n;
    }
    for (; n < CUDA_GROWING_HISTOGRAM_BLOCK && walk->offset < chunk->bytes;
         walk->offset += job_value_bytes(job)) {
        const char *value = (const char *)chunk->data + walk->offset + job->record_offset;
        walk->keys[n++] = element_key(&job->element, value);
    }
    return n;
}

/* Before the first launch: makes a window that suits the first values of the chunk, if any. */
static cudaError_t cuda_growing_histogram_look(const struct cuda_shared *shared,
                                               const struct chunk *chunk)
{
    struct cuda_growing_histogram_walk *walk = malloc(sizeof *walk);
    const struct growing_window *window;
    struct failure failure;
    enum status status = STATUS_OK;

    if (!walk)
        return cudaErrorMemoryAllocation;
    cuda_growing_histogram_walk_begin(walk, shared->job, chunk);
    size_t n = cuda_growing_histogram_walk_next(walk);
    if (n > 0)
        status = growing_histogram_widen(shared->partial, NULL, walk->keys, n, &window, &failure);
    free(walk);
    return status == STATUS_OK ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* Queues the counting in the table's window, if it has one. The lock is held for reading. */
static cudaError_t cuda_growing_histogram_queue(const struct cuda_shared *shared,
                                                const struct cuda_chunk *chunk)
{
    const struct growing_window *window = ((struct cuda_growing_histogram *)shared->host)->window;
    struct cuda_growing_histogram_result *result = chunk->result;
    struct cuda_histogram_table table = {shared->d_partial, chunk->d_scratch};

    result->window = window;
    if (!window)
        return cudaSuccess;
    cudaError_t error = cudaMemsetAsync(chunk->d_scratch, 0, sizeof result->outside, chunk->stream);
    if (error == cudaSuccess)
        error = cuda_histogram_launch(&shared->device, &shared->job->element, &window->binning,
                                      &chunk->elements, &table, chunk->stream);
    if (error != cudaSuccess)
        return error;
    return cudaMemcpyAsync(result->outside, chunk->d_scratch, sizeof result->outside,
                           cudaMemcpyDeviceToHost, chunk->stream);
}

static cudaError_t cuda_growing_histogram_absorb(const struct cuda_shared *shared,
                                                 const struct cuda_chunk *chunk)
{
    struct cuda_growing_histogram *self = shared->host;
    pthread_rwlock_t *lock = &self->counters.lock;
    const size_t elements = chunk->elements.count;
    cudaError_t error = cudaSuccess;

    if (!growing_histogram_window(shared->partial))
        error = cuda_growing_histogram_look(shared, &chunk->chunk);
    if (error != cudaSuccess)
        return error;
    pthread_rwlock_rdlock(lock);
    if (self->window != growing_histogram_window(shared->partial) ||
        !cuda_counters_reserve(&self->counters, elements)) {
        pthread_rwlock_unlock(lock);
        pthread_rwlock_wrlock(lock);
        error = cuda_growing_histogram_rebase(shared);
        if (error == cudaSuccess)
            error = cuda_growing_histogram_make_room(shared, elements);
    }
    if (error == cudaSuccess)
        error = cuda_growing_histogram_queue(shared, chunk);
    pthread_rwlock_unlock(lock);
    return error;
}

/* Counts the values of a chunk that lie outside the window that it was counted in. */
static enum status cuda_growing_histogram_add(const struct cuda_shared *shared,
                                              const struct chunk *chunk,
                                              const struct growing_window *window,
                                              struct cuda_growing_histogram_walk *walk,
                                              struct failure *failure)
{
    const struct binning *binning = &window->binning;
    size_t n;

    cuda_growing_histogram_walk_begin(walk, shared->job, chunk);
    while ((n = cuda_growing_histogram_walk_next(walk)) > 0) {
        size_t outside = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t key = walk->keys[i];
            walk->keys[outside] = key;
            outside += binning_index(binning, binning->form, key) >= binning->bins;
        }
        if (growing_histogram_add(shared->partial, walk->keys, NULL, outside, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status cuda_growing_histogram_complete(const struct cuda_shared *shared,
                                                   const struct cuda_chunk *chunk,
                                                   struct failure *failure)
{
    const struct cuda_growing_histogram_result *result = chunk->result;
    const struct growing_window *window = result->window;

    if (!window || result->outside[0] + result->outside[1] == 0)
        return STATUS_OK;

    struct cuda_growing_histogram_walk *walk = malloc(sizeof *walk);
    enum status status =
        walk ? cuda_growing_histogram_add(shared, &chunk->chunk, window, walk, failure)
             : status_fail(failure, STATUS_DATA, "no memory for values outside the GPU's bins");
    free(walk);
    return status;
}

const struct cuda_operation cuda_growing_histogram = {
    .open = cuda_growing_histogram_open,
    .close = cuda_counters_close,
    .partial_bytes = cuda_growing_histogram_partial_bytes,
    .scratch_bytes = cuda_growing_histogram_scratch_bytes,
    .result_bytes = cuda_growing_histogram_result_bytes,
    .absorb = cuda_growing_histogram_absorb,
    .complete = cuda_growing_histogram_complete,
    .collect = cuda_growing_histogram_collect,
};
