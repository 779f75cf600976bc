/*
 * Open histogram on a GPU, the host's part. The device has one table, which all feeders share, for
 * one window (open_window.h). A chunk is counted in it, with counters of its own for the values
 * outside; the host looks for these when the chunk is settled, and counts them itself, which makes
 * a wider window if it pays. The next chunk then moves the table to its window's histogram and
 * begins with the new one.
 */
#include "config.h"

#include "cuda_operation.h"
#include "open_histogram.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What is copied of a table at a time. */
#define CUDA_OPEN_HISTOGRAM_COPY_BYTES ((size_t)2 << 20)

/* On the host, of a session. */
struct cuda_open_histogram {
    pthread_rwlock_t lock; /* to be read while work is queued, written while the window changes */
    const struct open_window *window; /* that the table is for; NULL: there is none yet */
};

/* What comes of a chunk. */
struct cuda_open_histogram_result {
    uint64_t outside[BINNING_OUTSIDE];
    const struct open_window *window; /* that it was counted in; NULL: it has no values */
};

static size_t cuda_open_histogram_partial_bytes(const struct job *job)
{
    uint64_t bins = job->bin_width > 0 ? OPEN_HISTOGRAM_BINS_MAX : OPEN_HISTOGRAM_BINS_MIN;
    return bins * sizeof(uint64_t);
}

static size_t cuda_open_histogram_scratch_bytes(const struct job *job, size_t elements_bytes)
{
    (void)job;
    (void)elements_bytes;
    return BINNING_OUTSIDE * sizeof(uint64_t);
}

static size_t cuda_open_histogram_result_bytes(const struct job *job, size_t elements_bytes)
{
    (void)job;
    (void)elements_bytes;
    return sizeof(struct cuda_open_histogram_result);
}

static enum status cuda_open_histogram_open(struct cuda_shared *shared, struct failure *failure)
{
    struct cuda_open_histogram *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for the CUDA engine");

    pthread_rwlock_init(&made->lock, NULL);
    shared->host = made;
    return STATUS_OK;
}

static void cuda_open_histogram_close(struct cuda_shared *shared)
{
    struct cuda_open_histogram *self = shared->host;
    if (!self)
        return;
    pthread_rwlock_destroy(&self->lock);
    free(self);
}

/* Adds the table to its window's histogram; all work is done. */
static cudaError_t cuda_open_histogram_collect(const struct cuda_shared *shared, void *staging,
                                               size_t staging_bytes)
{
    const struct cuda_open_histogram *self = shared->host;
    const uint64_t *d_counts = shared->d_partial;
    size_t bins = self->window ? self->window->binning.bins : 0;
    size_t room = staging_bytes / sizeof *d_counts;

    for (size_t first = 0; first < bins; first += room) {
        size_t n = bins - first < room ? bins - first : room;
        cudaError_t error =
            cudaMemcpy(staging, d_counts + first, n * sizeof *d_counts, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess)
            return error;
        histogram_add_counts64(self->window->histogram, first, staging, n);
    }
    return cudaSuccess;
}

/* Makes the table empty, for the newest window. The lock is held for writing. */
static cudaError_t cuda_open_histogram_rebase(const struct cuda_shared *shared)
{
    struct cuda_open_histogram *self = shared->host;
    const struct open_window *newest = open_histogram_window(shared->partial);

    if (newest == self->window)
        return cudaSuccess;
    void *staging = malloc(CUDA_OPEN_HISTOGRAM_COPY_BYTES);
    if (!staging)
        return cudaErrorMemoryAllocation;
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cuda_open_histogram_collect(shared, staging, CUDA_OPEN_HISTOGRAM_COPY_BYTES);
    free(staging);
    if (error == cudaSuccess && self->window)
        error = cudaMemset(shared->d_partial, 0, self->window->binning.bins * sizeof(uint64_t));
    if (error == cudaSuccess) /* the workers' streams do not wait for it */
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        self->window = newest;
    return error;
}

/* A walk over a chunk's values, in host memory, a block at a time. */
struct cuda_open_histogram_walk {
    const struct job *job;
    const struct chunk *chunk;
    size_t offset;              /* of what is still to be read */
    text_parse_function *parse; /* of text */
    enum text_event event;      /* the last one */
    uint64_t keys[OPEN_HISTOGRAM_BLOCK];
};

static void cuda_open_histogram_walk_begin(struct cuda_open_histogram_walk *walk,
                                           const struct job *job, const struct chunk *chunk)
{
    walk->job = job;
    walk->chunk = chunk;
    walk->offset = 0;
    walk->parse = job->is_text ? text_choose_parser(&job->text, job->element.type) : NULL;
    walk->event = TEXT_FULL;
}

/* Parses some values, maybe none; their number. At the end the last event is TEXT_END. */
static size_t cuda_open_histogram_walk_text(struct cuda_open_histogram_walk *walk)
{
    const struct job *job = walk->job;
    const unsigned bytes = job->element.bytes;
    uint64_t values[OPEN_HISTOGRAM_BLOCK];
    struct text_token invalid;
    size_t n;

    walk->event = walk->parse(&job->text, walk->chunk->data, walk->chunk->bytes, &walk->offset,
                              values, OPEN_HISTOGRAM_BLOCK, &n, &invalid);
    for (size_t i = 0; i < n; i++)
        walk->keys[i] = element_key(&job->element, (const char *)values + i * bytes);
    return n;
}

/* Makes the keys of the next block; 0 at the end. */
static size_t cuda_open_histogram_walk_next(struct cuda_open_histogram_walk *walk)
{
    const struct element *element = &walk->job->element;
    const struct chunk *chunk = walk->chunk;
    size_t n = 0;

    if (walk->parse) {
        while (n == 0 && walk->event != TEXT_END)
            n = cuda_open_histogram_walk_text(walk);
        return n;
    }
    for (; n < OPEN_HISTOGRAM_BLOCK && walk->offset < chunk->bytes; walk->offset += element->bytes)
        walk->keys[n++] = element_key(element, (const char *)chunk->data + walk->offset);
    return n;
}

/* Before the first launch: makes a window that suits the beginning of the chunk, if it has any. */
static cudaError_t cuda_open_histogram_look(const struct cuda_shared *shared,
                                            const struct chunk *chunk)
{
    struct cuda_open_histogram_walk *walk = malloc(sizeof *walk);
    const struct open_window *window;
    struct failure failure;
    enum status status = STATUS_OK;

    if (!walk)
        return cudaErrorMemoryAllocation;
    cuda_open_histogram_walk_begin(walk, shared->job, chunk);
    size_t n = cuda_open_histogram_walk_next(walk);
    if (n > 0)
        status = open_histogram_widen(shared->partial, NULL, walk->keys, n, n, &window, &failure);
    free(walk);
    return status == STATUS_OK ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* Queues the counting in the table's window, if it has one. The lock is held for reading. */
static cudaError_t cuda_open_histogram_queue(const struct cuda_shared *shared,
                                             const struct cuda_chunk *chunk)
{
    const struct open_window *window = ((struct cuda_open_histogram *)shared->host)->window;
    struct cuda_open_histogram_result *result = chunk->result;
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

static cudaError_t cuda_open_histogram_absorb(const struct cuda_shared *shared,
                                              const struct cuda_chunk *chunk)
{
    struct cuda_open_histogram *self = shared->host;
    cudaError_t error = cudaSuccess;

    if (!open_histogram_window(shared->partial))
        error = cuda_open_histogram_look(shared, &chunk->chunk);
    if (error != cudaSuccess)
        return error;
    pthread_rwlock_rdlock(&self->lock);
    if (self->window != open_histogram_window(shared->partial)) {
        pthread_rwlock_unlock(&self->lock);
        pthread_rwlock_wrlock(&self->lock);
        error = cuda_open_histogram_rebase(shared);
    }
    if (error == cudaSuccess)
        error = cuda_open_histogram_queue(shared, chunk);
    pthread_rwlock_unlock(&self->lock);
    return error;
}

/* Counts the values of a chunk that lie outside the window that it was counted in. */
static enum status cuda_open_histogram_add(const struct cuda_shared *shared,
                                           const struct chunk *chunk,
                                           const struct open_window *window,
                                           struct cuda_open_histogram_walk *walk,
                                           struct bin_map_batch *batch, struct failure *failure)
{
    const struct binning *binning = &window->binning;
    size_t n;

    batch->count = 0;
    cuda_open_histogram_walk_begin(walk, shared->job, chunk);
    while ((n = cuda_open_histogram_walk_next(walk)) > 0) {
        size_t outside = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t key = walk->keys[i];
            walk->keys[outside] = key;
            outside += binning_index(binning, binning->form, key) >= binning->bins;
        }
        if (outside > 0 && open_histogram_add(shared->partial, batch, walk->keys, outside, n,
                                              failure) != STATUS_OK)
            return failure->status;
    }
    return bin_map_add(((struct open_histogram *)shared->partial)->map, batch, failure);
}

static enum status cuda_open_histogram_settle(const struct cuda_shared *shared,
                                              const struct cuda_chunk *chunk,
                                              struct failure *failure)
{
    const struct cuda_open_histogram_result *result = chunk->result;
    const struct open_window *window = result->window;

    if (!window || result->outside[0] + result->outside[1] == 0)
        return STATUS_OK;

    struct cuda_open_histogram_walk *walk = malloc(sizeof *walk);
    struct bin_map_batch *batch = malloc(sizeof *batch);
    enum status status =
        walk && batch
            ? cuda_open_histogram_add(shared, &chunk->chunk, window, walk, batch, failure)
            : status_fail(failure, STATUS_DATA, "no memory for values outside the GPU's bins");
    free(walk);
    free(batch);
    return status;
}

const struct cuda_operation cuda_open_histogram = {
    .open = cuda_open_histogram_open,
    .close = cuda_open_histogram_close,
    .partial_bytes = cuda_open_histogram_partial_bytes,
    .scratch_bytes = cuda_open_histogram_scratch_bytes,
    .result_bytes = cuda_open_histogram_result_bytes,
    .absorb = cuda_open_histogram_absorb,
    .settle = cuda_open_histogram_settle,
    .collect = cuda_open_histogram_collect,
};
