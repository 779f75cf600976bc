/*
 * Operation histogram on a GPU, the host's part. All feeders of a GPU share its partial: the
 * counters of bins (cuda_counters.h), the counters of values outside, and the starts of bins
 * between edges.
 */
#include "config.h"

#include "cuda/cuda_counters.h"

#include "count/histogram.h"
#include "cuda/cuda_operation.h"
#include "engine/outside.h"

#define CUDA_HISTOGRAM_OUTSIDE_BYTES (BINNING_OUTSIDE * sizeof(uint64_t))

static enum status cuda_histogram_open(struct cuda_shared *shared, struct failure *failure)
{
    return cuda_counters_open(shared, sizeof(struct cuda_counters), failure);
}

static size_t cuda_histogram_partial_bytes(const struct job *job)
{
    return cuda_counters_bytes(job->binning.bins) + CUDA_HISTOGRAM_OUTSIDE_BYTES +
           binning_table_bytes(&job->binning);
}

/* The table in the partial; the starts are behind it. */
static struct cuda_histogram_table cuda_histogram_table(const struct cuda_shared *shared)
{
    char *d_partial = shared->d_partial;
    char *d_outside = d_partial + cuda_counters_bytes(shared->job->binning.bins);
    return (struct cuda_histogram_table){(uint32_t *)shared->d_partial, (uint64_t *)d_outside};
}

static uint64_t *cuda_histogram_starts(const struct cuda_shared *shared)
{
    return cuda_histogram_table(shared).d_outside + BINNING_OUTSIDE;
}

static cudaError_t cuda_histogram_prepare(const struct cuda_shared *shared)
{
    const struct binning *binning = &shared->job->binning;

    if (!binning->table)
        return cudaSuccess;
    return cudaMemcpy(cuda_histogram_starts(shared), binning->table, binning_table_bytes(binning),
                      cudaMemcpyHostToDevice);
}

static size_t cuda_histogram_result_bytes(const struct job *job, size_t elements_bytes)
{
    (void)elements_bytes;
    return job->outside == OUTSIDE_ABORT ? CUDA_HISTOGRAM_OUTSIDE_BYTES : 0;
}

/* Queues the counting. Room in the counters is reserved, and their lock is held. */
static cudaError_t cuda_histogram_queue(const struct cuda_shared *shared,
                                        const struct cuda_chunk *chunk)
{
    const struct job *job = shared->job;
    struct cuda_histogram_table table = cuda_histogram_table(shared);
    struct binning binning = binning_at(&job->binning, cuda_histogram_starts(shared));
    cudaError_t error = cuda_histogram_launch(&shared->device, &job->element, &binning,
                                              &chunk->elements, &table, chunk->stream);

    if (error != cudaSuccess || job->outside != OUTSIDE_ABORT)
        return error;
    return cudaMemcpyAsync(chunk->result, table.d_outside, CUDA_HISTOGRAM_OUTSIDE_BYTES,
                           cudaMemcpyDeviceToHost, chunk->stream);
}

static cudaError_t cuda_histogram_absorb(const struct cuda_shared *shared,
                                         const struct cuda_chunk *chunk)
{
    struct cuda_counters *counters = shared->host;
    const size_t elements = chunk->elements.count;
    cudaError_t error = cudaSuccess;

    pthread_rwlock_rdlock(&counters->lock);
    if (!cuda_counters_reserve(counters, elements)) {
        pthread_rwlock_unlock(&counters->lock);
        pthread_rwlock_wrlock(&counters->lock);
        while (error == cudaSuccess && !cuda_counters_reserve(counters, elements))
            error = cuda_counters_make_room(shared, shared->job->binning.bins, shared->partial);
    }
    if (error == cudaSuccess)
        error = cuda_histogram_queue(shared, chunk);
    pthread_rwlock_unlock(&counters->lock);
    return error;
}

/*
 * The counters of values outside are those of all chunks so far. Once one is not 0, each chunk is
 * searched for such a value, which finds the chunk that has it.
 */
static enum status cuda_histogram_complete(const struct cuda_shared *shared,
                                           const struct cuda_chunk *chunk, struct failure *failure)
{
    const uint64_t *outside = chunk->result;

    if (shared->job->outside != OUTSIDE_ABORT || outside[0] + outside[1] == 0)
        return STATUS_OK;
    return outside_check(shared->job, &chunk->chunk, failure);
}

static enum status cuda_histogram_collect(const struct cuda_shared *shared, void *staging,
                                          size_t staging_bytes, struct failure *failure)
{
    const size_t bins = shared->job->binning.bins;
    uint64_t outside[BINNING_OUTSIDE];
    cudaError_t error = cudaMemcpy(outside, cuda_histogram_table(shared).d_outside, sizeof outside,
                                   cudaMemcpyDeviceToHost);

    if (error != cudaSuccess)
        return cuda_check_copy(error, failure);
    histogram_add_counts64(shared->partial, bins, outside, BINNING_OUTSIDE);
    error = cuda_counters_collect(shared, bins, shared->partial, staging, staging_bytes);
    return cuda_check_copy(error, failure);
}

const struct cuda_operation cuda_histogram = {
    .open = cuda_histogram_open,
    .close = cuda_counters_close,
    .partial_bytes = cuda_histogram_partial_bytes,
    .prepare = cuda_histogram_prepare,
    .result_bytes = cuda_histogram_result_bytes,
    .absorb = cuda_histogram_absorb,
    .complete = cuda_histogram_complete,
    .collect = cuda_histogram_collect,
};
