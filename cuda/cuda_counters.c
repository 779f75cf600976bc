/*
 * The counters of bins on a GPU: how they are kept from wrapping, and added to the histogram.
 * Behind them in device memory is a word for the greatest of them.
 */
#include "config.h"

#include "cuda/cuda_counters.h"

#include <stdlib.h>

/* Copied at a time. */
#define CUDA_COUNTERS_COPY_BYTES ((size_t)2 << 20)

/* Counters up to here need not be moved: there is room for as much again. */
#define CUDA_COUNTERS_KEPT_MAX (UINT32_MAX / 2)

enum status cuda_counters_open(struct cuda_shared *shared, size_t bytes, struct failure *failure)
{
    struct cuda_counters *made = calloc(1, bytes);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for the CUDA engine");

    pthread_rwlock_init(&made->lock, NULL);
    shared->host = made;
    return STATUS_OK;
}

void cuda_counters_close(struct cuda_shared *shared)
{
    struct cuda_counters *self = shared->host;
    if (!self)
        return;
    pthread_rwlock_destroy(&self->lock);
    free(self);
}

size_t cuda_counters_bytes(size_t bins)
{
    return cuda_align((bins + 1) * sizeof(uint32_t));
}

bool cuda_counters_reserve(struct cuda_counters *counters, size_t elements)
{
    return atomic_fetch_add(&counters->greatest, elements) + elements <= UINT32_MAX;
}

static cudaError_t cuda_counters_find_greatest(const struct cuda_shared *shared, size_t bins,
                                               uint32_t *greatest)
{
    uint32_t *d_counts = shared->d_partial;
    uint32_t *d_greatest = d_counts + bins;
    cudaError_t error = cudaDeviceSynchronize();

    if (error == cudaSuccess)
        error = cudaMemset(d_greatest, 0, sizeof *d_greatest);
    if (error == cudaSuccess)
        error = cuda_histogram_greatest_launch(&shared->device, d_counts, bins, d_greatest, NULL);
    if (error == cudaSuccess)
        error = cudaMemcpy(greatest, d_greatest, sizeof *greatest, cudaMemcpyDeviceToHost);
    return error;
}

cudaError_t cuda_counters_make_room(const struct cuda_shared *shared, size_t bins,
                                    struct histogram *histogram)
{
    struct cuda_counters *self = shared->host;
    uint32_t greatest;
    cudaError_t error = cuda_counters_find_greatest(shared, bins, &greatest);

    if (error != cudaSuccess)
        return error;
    if (greatest > CUDA_COUNTERS_KEPT_MAX)
        return cuda_counters_move(shared, bins, histogram);
    atomic_store(&self->greatest, greatest);
    return cudaSuccess;
}

cudaError_t cuda_counters_collect(const struct cuda_shared *shared, size_t bins,
                                  struct histogram *histogram, void *staging, size_t staging_bytes)
{
    struct cuda_counters *self = shared->host;
    const uint32_t *d_counts = shared->d_partial;
    const size_t room = staging_bytes / sizeof *d_counts;

    for (size_t first = 0; first < bins; first += room) {
        size_t n = bins - first < room ? bins - first : room;
        cudaError_t error =
            cudaMemcpy(staging, d_counts + first, n * sizeof *d_counts, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess)
            return error;
        histogram_add_counts32(histogram, first, staging, n);
    }
    atomic_store(&self->greatest, 0);
    return cudaSuccess;
}

/* Clears the word behind them, too: if there are more bins next, it becomes a counter. */
cudaError_t cuda_counters_move(const struct cuda_shared *shared, size_t bins,
                               struct histogram *histogram)
{
    void *staging = malloc(CUDA_COUNTERS_COPY_BYTES);
    if (!staging)
        return cudaErrorMemoryAllocation;

    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cuda_counters_collect(shared, bins, histogram, staging, CUDA_COUNTERS_COPY_BYTES);
    free(staging);
    if (error == cudaSuccess)
        error = cudaMemset(shared->d_partial, 0, (bins + 1) * sizeof(uint32_t));
    if (error == cudaSuccess) /* the workers' streams would not wait for it */
        error = cudaDeviceSynchronize();
    return error;
}
