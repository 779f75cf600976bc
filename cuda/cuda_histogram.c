/*
 * Operation histogram on a GPU, the host's part. All feeders of a GPU share its aggregate: the
 * counters of bins, a word for the largest of them, the counters of values outside, and the table
 * of edges.
 *
 * The counters of bins have 32 bits, so they take half the memory of those of the histogram
 * (histogram.h), and half the time to copy. Before a counter could wrap, the maximum of all
 * counters is determined; if it is large, all counters are added to the histogram and cleared.
 * Counters of elements with weights have 64 bits. If one wraps, the sum of all weights is too
 * large, which is an error (store.h).
 *
 * Automatic bins: the counters are those of a window (growing_window.h), and each chunk has its own
 * counters of values outside. When a chunk with such values is completed, the host copies its
 * elements back and counts those outside, which makes a wider window. The next chunk adds the
 * counters to the histogram of their window, and begins with the new window. A chunk before the
 * first window is counted when it is completed, in a window for its first values.
 */
#include "config.h"

#include "aggregate/growing_histogram.h"
#include "aggregate/histogram.h"
#include "cuda/cuda_operation.h"
#include "engine/outside.h"
#include "value/binning_index.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define CUDA_HISTOGRAM_OUTSIDE_BYTES (BINNING_OUTSIDE * sizeof(uint64_t))

/* Number of bytes copied at a time when counters are moved. */
#define CUDA_HISTOGRAM_COPY_BYTES ((size_t)2 << 20)

/* Number of values of a chunk that the host checks together. */
#define CUDA_HISTOGRAM_BLOCK ((size_t)4096)

/* Maximum counter that need not be moved: as much again can be added to each. */
#define CUDA_HISTOGRAM_KEPT_MAX (UINT32_MAX / 2)

/* The session's state on the host. */
struct cuda_histogram {
    pthread_rwlock_t lock; /* held for reading while work on the counters is queued; for writing
                              while they are moved, or `window` changes */
    atomic_uint_least64_t greatest; /* an upper bound on all counters after all queued work */
    /*
     * The window of the counters. NULL: bins are automatic, and there are no values yet. Given bins
     * are in `fixed`, whose binning has its table on the device, and whose histogram is the plan's
     * aggregate.
     */
    const struct growing_window *window;
    struct growing_window fixed;
};

/* The result of a chunk. If bins are not automatic, it has only `outside`. */
struct cuda_histogram_result {
    uint64_t outside[BINNING_OUTSIDE];
    const struct growing_window *window;     /* the window that counted it; NULL: not counted */
    uint64_t elements[CUDA_HISTOGRAM_BLOCK]; /* elements copied back, each of the type's width */
    uint64_t keys[CUDA_HISTOGRAM_BLOCK];     /* keys of the elements outside the window */
    uint64_t weights[CUDA_HISTOGRAM_BLOCK];  /* the weights of `keys`, above 0, if there are any */
};

/* Returns the size of the counters of bins and the largest of them. */
static size_t cuda_histogram_counters_bytes(const struct plan *plan)
{
    const size_t bins = plan->is_automatic ? GROWING_HISTOGRAM_BINS : plan->binning.bins;
    return cuda_align(plan->has_weights ? bins * sizeof(uint64_t) : (bins + 1) * sizeof(uint32_t));
}

static struct cuda_bytes cuda_histogram_bytes(const struct plan *plan, size_t elements_bytes)
{
    const size_t counters = cuda_histogram_counters_bytes(plan) + CUDA_HISTOGRAM_OUTSIDE_BYTES;
    (void)elements_bytes;

    if (plan->is_automatic)
        return (struct cuda_bytes){
            .aggregate = counters,
            .scratch = CUDA_HISTOGRAM_OUTSIDE_BYTES,
            .result = sizeof(struct cuda_histogram_result),
        };
    return (struct cuda_bytes){
        .aggregate = counters + binning_table_bytes(&plan->binning),
        .result = plan->outside == OUTSIDE_ABORT ? CUDA_HISTOGRAM_OUTSIDE_BYTES : 0,
    };
}

/* Returns the counters of values outside in the aggregate; the table of edges follows them. */
static uint64_t *cuda_histogram_outside(const struct cuda_shared *shared)
{
    return (uint64_t *)((char *)shared->d_aggregate + cuda_histogram_counters_bytes(shared->plan));
}

static cudaError_t cuda_histogram_prepare(const struct cuda_shared *shared)
{
    const struct binning *binning = &shared->plan->binning;

    if (shared->plan->is_automatic || !binning->table)
        return cudaSuccess;
    return cudaMemcpy(cuda_histogram_outside(shared) + BINNING_OUTSIDE, binning->table,
                      binning_table_bytes(binning), cudaMemcpyHostToDevice);
}

static enum status cuda_histogram_open(struct cuda_shared *shared, struct failure *failure)
{
    struct cuda_histogram *opened = calloc(1, sizeof *opened);
    if (!opened)
        return status_fail(failure, STATUS_DATA, "not enough memory for the CUDA engine");

    shared->host = opened;
    pthread_rwlock_init(&opened->lock, NULL);
    if (shared->plan->is_automatic)
        return STATUS_OK;
    opened->window = &opened->fixed;
    opened->fixed.histogram = shared->aggregate;
    opened->fixed.binning =
        binning_at(&shared->plan->binning, cuda_histogram_outside(shared) + BINNING_OUTSIDE);
    return STATUS_OK;
}

static void cuda_histogram_close(struct cuda_shared *shared)
{
    struct cuda_histogram *self = shared->host;
    if (!self)
        return;
    pthread_rwlock_destroy(&self->lock);
    free(self);
}

/* Adds the counters to the histogram of their window, through `staging`. All work is done. */
static cudaError_t cuda_histogram_add_counters(const struct cuda_shared *shared, void *staging,
                                               size_t staging_bytes)
{
    struct cuda_histogram *self = shared->host;
    const bool has_weights = shared->plan->has_weights;
    const size_t bytes = has_weights ? sizeof(uint64_t) : sizeof(uint32_t); /* per counter */
    const size_t capacity = staging_bytes / bytes;
    const size_t bins = self->window->binning.bins;

    for (size_t first = 0; first < bins; first += capacity) {
        size_t n = bins - first < capacity ? bins - first : capacity;
        cudaError_t error = cudaMemcpy(staging, (const char *)shared->d_aggregate + first * bytes,
                                       n * bytes, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess)
            return error;
        if (has_weights)
            histogram_add_counts64(self->window->histogram, first, staging, n);
        else
            histogram_add_counts32(self->window->histogram, first, staging, n);
    }
    atomic_store(&self->greatest, 0);
    return cudaSuccess;
}

/* Waits for all work, adds the counters, and clears them. The lock is held for writing. */
static cudaError_t cuda_histogram_move_counters(const struct cuda_shared *shared)
{
    void *staging = malloc(CUDA_HISTOGRAM_COPY_BYTES);
    if (!staging)
        return cudaErrorMemoryAllocation;

    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cuda_histogram_add_counters(shared, staging, CUDA_HISTOGRAM_COPY_BYTES);
    free(staging);
    if (error == cudaSuccess)
        error = cudaMemset(shared->d_aggregate, 0, cuda_histogram_counters_bytes(shared->plan));
    if (error == cudaSuccess) /* the workers' streams would not wait for it */
        error = cudaDeviceSynchronize();
    return error;
}

/*
 * Returns false if a 32-bit counter could wrap when `elements` more elements are counted. The lock
 * is held.
 */
static bool cuda_histogram_reserve(const struct cuda_shared *shared, size_t elements)
{
    struct cuda_histogram *self = shared->host;
    return shared->plan->has_weights ||
           atomic_fetch_add(&self->greatest, elements) + elements <= UINT32_MAX;
}

/* Makes it possible to count at least 2^31 - 1 elements. The lock is held for writing. */
static cudaError_t cuda_histogram_make_capacity(const struct cuda_shared *shared)
{
    struct cuda_histogram *self = shared->host;
    const size_t bins = self->window->binning.bins;
    uint32_t *d_counts = shared->d_aggregate;
    uint32_t *d_greatest = d_counts + bins;
    uint32_t greatest;

    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemset(d_greatest, 0, sizeof *d_greatest);
    if (error == cudaSuccess)
        error = cuda_histogram_greatest_launch(&shared->device, d_counts, bins, d_greatest, NULL);
    if (error == cudaSuccess)
        error = cudaMemcpy(&greatest, d_greatest, sizeof greatest, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
        return error;
    if (greatest > CUDA_HISTOGRAM_KEPT_MAX)
        return cuda_histogram_move_counters(shared);
    atomic_store(&self->greatest, greatest);
    return cudaSuccess;
}

/* Queues the counting of a chunk in the window of the counters. The lock is held. */
static cudaError_t cuda_histogram_queue(const struct cuda_shared *shared,
                                        const struct cuda_chunk *chunk)
{
    const struct plan *plan = shared->plan;
    const struct cuda_histogram *self = shared->host;
    struct cuda_histogram_result *result = chunk->result;
    struct cuda_histogram_table table = {
        .d_counts = shared->d_aggregate,
        .d_outside = cuda_histogram_outside(shared),
        .d_sums = shared->d_aggregate,
    };
    cudaError_t error = cudaSuccess;

    if (plan->is_automatic) {
        result->window = self->window;
        if (!self->window)
            return cudaSuccess;
        table.d_outside = chunk->d_scratch;
        error = cudaMemsetAsync(table.d_outside, 0, CUDA_HISTOGRAM_OUTSIDE_BYTES, chunk->stream);
    }
    if (error == cudaSuccess)
        error = cuda_histogram_launch(&shared->device, &plan->element, &self->window->binning,
                                      &chunk->elements, &table, chunk->stream);
    if (error != cudaSuccess || (!plan->is_automatic && plan->outside != OUTSIDE_ABORT))
        return error;
    return cudaMemcpyAsync(result->outside, table.d_outside, CUDA_HISTOGRAM_OUTSIDE_BYTES,
                           cudaMemcpyDeviceToHost, chunk->stream);
}

static cudaError_t cuda_histogram_accumulate(const struct cuda_shared *shared,
                                             const struct cuda_chunk *chunk)
{
    struct cuda_histogram *self = shared->host;
    const size_t elements = chunk->elements.count;
    const struct growing_window *newest =
        shared->plan->is_automatic ? growing_histogram_window(shared->aggregate) : &self->fixed;
    cudaError_t error = cudaSuccess;

    pthread_rwlock_rdlock(&self->lock);
    if (self->window != newest || !cuda_histogram_reserve(shared, elements)) {
        pthread_rwlock_unlock(&self->lock);
        pthread_rwlock_wrlock(&self->lock);
        if (shared->plan->is_automatic)
            newest = growing_histogram_window(shared->aggregate);
        if (self->window && self->window != newest)
            error = cuda_histogram_move_counters(shared);
        if (error == cudaSuccess)
            self->window = newest;
        while (error == cudaSuccess && newest && !cuda_histogram_reserve(shared, elements))
            error = cuda_histogram_make_capacity(shared);
    }
    if (error == cudaSuccess)
        error = cuda_histogram_queue(shared, chunk);
    pthread_rwlock_unlock(&self->lock);
    return error;
}

/*
 * Copies a block of the elements of a chunk back, from index `first`. Makes the keys of the
 * elements outside the window (NULL: of all) whose weight is not 0, and stores their number. All
 * work on the chunk is done.
 */
static enum status cuda_histogram_fetch_outside(const struct cuda_shared *shared,
                                                const struct cuda_chunk *chunk,
                                                const struct growing_window *window, size_t first,
                                                size_t *outside, struct failure *failure)
{
    const struct element *element = &shared->plan->element;
    const char *d_first = (const char *)chunk->elements.d_data + first * element->bytes;
    const uint64_t *d_weights = chunk->elements.d_weights;
    struct cuda_histogram_result *result = chunk->result;
    size_t n = chunk->count - first;

    n = n < CUDA_HISTOGRAM_BLOCK ? n : CUDA_HISTOGRAM_BLOCK;
    cudaError_t error = cudaMemcpyAsync(result->elements, d_first, n * element->bytes,
                                        cudaMemcpyDeviceToHost, chunk->stream);
    if (error == cudaSuccess && d_weights)
        error = cudaMemcpyAsync(result->weights, d_weights + first, n * sizeof *d_weights,
                                cudaMemcpyDeviceToHost, chunk->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(chunk->stream);
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot copy out-of-range values", failure);
    *outside = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = element_key(element, (const char *)result->elements + i * element->bytes);
        const uint64_t weight = d_weights ? result->weights[i] : 1;
        result->keys[*outside] = key;
        result->weights[*outside] = weight;
        *outside += weight > 0 && (!window || binning_index(&window->binning, window->binning.form,
                                                            key) >= window->binning.bins);
    }
    return STATUS_OK;
}

/* Completes a chunk of automatic bins. */
static enum status cuda_histogram_complete_automatic(const struct cuda_shared *shared,
                                                     const struct cuda_chunk *chunk,
                                                     struct failure *failure)
{
    struct cuda_histogram_result *result = chunk->result;
    size_t outside = 0;

    if (!result->window) {
        const struct growing_window *window;
        for (size_t first = 0; outside == 0 && first < chunk->count;
             first += CUDA_HISTOGRAM_BLOCK) {
            if (cuda_histogram_fetch_outside(shared, chunk, NULL, first, &outside, failure) !=
                STATUS_OK)
                return failure->status;
        }
        if (outside == 0) /* all weights are 0 */
            return STATUS_OK;
        if (growing_histogram_widen(shared->aggregate, NULL, result->keys, outside, &window,
                                    failure) != STATUS_OK)
            return failure->status;
        cudaError_t error = cuda_histogram_accumulate(shared, chunk);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(chunk->stream);
        if (error != cudaSuccess)
            return cuda_fail(error, "counting failed", failure);
    }
    if ((result->outside[0] | result->outside[1]) == 0)
        return STATUS_OK;
    for (size_t first = 0; first < chunk->count; first += CUDA_HISTOGRAM_BLOCK) {
        if (cuda_histogram_fetch_outside(shared, chunk, result->window, first, &outside, failure) !=
                STATUS_OK ||
            growing_histogram_add(shared->aggregate, result->keys, result->weights, outside,
                                  failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/*
 * The counters of values outside given bins are those of all chunks so far. Once one is not 0, each
 * chunk is searched for such a value, until the chunk that has it is found.
 */
static enum status cuda_histogram_complete(const struct cuda_shared *shared,
                                           const struct cuda_chunk *chunk, struct failure *failure)
{
    const struct cuda_histogram_result *result = chunk->result;

    if (shared->plan->is_automatic)
        return cuda_histogram_complete_automatic(shared, chunk, failure);
    if (shared->plan->outside != OUTSIDE_ABORT || (result->outside[0] | result->outside[1]) == 0)
        return STATUS_OK;
    return outside_check(shared->plan, &chunk->chunk, failure);
}

static enum status cuda_histogram_collect(const struct cuda_shared *shared, void *staging,
                                          size_t staging_bytes, struct failure *failure)
{
    const struct growing_window *window = ((const struct cuda_histogram *)shared->host)->window;
    uint64_t outside[BINNING_OUTSIDE];

    if (!window)
        return STATUS_OK;
    cudaError_t error =
        cudaMemcpy(outside, cuda_histogram_outside(shared), sizeof outside, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) {
        histogram_add_counts64(window->histogram, window->binning.bins, outside, BINNING_OUTSIDE);
        error = cuda_histogram_add_counters(shared, staging, staging_bytes);
    }
    return cuda_check_copy(error, failure);
}

const struct cuda_operation cuda_histogram = {
    .open = cuda_histogram_open,
    .close = cuda_histogram_close,
    .bytes = cuda_histogram_bytes,
    .prepare = cuda_histogram_prepare,
    .accumulate = cuda_histogram_accumulate,
    .complete = cuda_histogram_complete,
    .collect = cuda_histogram_collect,
};
