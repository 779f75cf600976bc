/*
 * Operation histogram on a GPU, the host's part. The partial of a GPU, which all its feeders share,
 * is one table, and behind it the starts of bins between edges.
 */
#include "config.h"

#include "cuda_operation.h"
#include "histogram.h"

#define CUDA_HISTOGRAM_OUTSIDE_BYTES (BINNING_OUTSIDE * sizeof(uint64_t))

static size_t cuda_histogram_entries(const struct job *job)
{
    return (size_t)job->binning.bins + BINNING_OUTSIDE;
}

static size_t cuda_histogram_partial_bytes(const struct job *job)
{
    return cuda_histogram_entries(job) * sizeof(uint64_t) + binning_starts_bytes(&job->binning);
}

/* The starts in a partial. */
static uint64_t *cuda_histogram_starts(const struct cuda_shared *shared)
{
    return (uint64_t *)shared->d_partial + cuda_histogram_entries(shared->job);
}

static cudaError_t cuda_histogram_prepare(const struct cuda_shared *shared)
{
    const struct binning *binning = &shared->job->binning;

    if (!binning->starts)
        return cudaSuccess;
    return cudaMemcpy(cuda_histogram_starts(shared), binning->starts, binning_starts_bytes(binning),
                      cudaMemcpyHostToDevice);
}

static size_t cuda_histogram_result_bytes(const struct job *job, size_t elements_bytes)
{
    (void)elements_bytes;
    return job->outside == OUTSIDE_ABORT ? CUDA_HISTOGRAM_OUTSIDE_BYTES : 0;
}

static cudaError_t cuda_histogram_absorb(const struct cuda_shared *shared,
                                         const struct cuda_chunk *chunk)
{
    const struct job *job = shared->job;
    uint64_t *d_counts = shared->d_partial;
    struct cuda_histogram_table table = {d_counts, d_counts + job->binning.bins};
    struct binning binning = binning_at(&job->binning, cuda_histogram_starts(shared));
    cudaError_t error = cuda_histogram_launch(&shared->device, &job->element, &binning,
                                              &chunk->elements, &table, chunk->stream);

    if (error != cudaSuccess || job->outside != OUTSIDE_ABORT)
        return error;
    return cudaMemcpyAsync(chunk->result, d_counts + job->binning.bins,
                           CUDA_HISTOGRAM_OUTSIDE_BYTES, cudaMemcpyDeviceToHost, chunk->stream);
}

/*
 * The counters of values outside are the whole run's: once they are not 0, every chunk is looked at
 * for such a value, and the one that has it is found.
 */
static enum status cuda_histogram_settle(const struct cuda_shared *shared,
                                         const struct cuda_chunk *chunk, struct failure *failure)
{
    const uint64_t *outside = chunk->result;

    if (shared->job->outside != OUTSIDE_ABORT || outside[0] + outside[1] == 0)
        return STATUS_OK;
    return job_check_outside(shared->job, &chunk->chunk, failure);
}

static cudaError_t cuda_histogram_collect(const struct cuda_shared *shared, void *staging,
                                          size_t staging_bytes)
{
    const uint64_t *d_counts = shared->d_partial;
    size_t entries = cuda_histogram_entries(shared->job);
    size_t room = staging_bytes / sizeof *d_counts;

    for (size_t first = 0; first < entries; first += room) {
        size_t n = entries - first < room ? entries - first : room;
        cudaError_t error =
            cudaMemcpy(staging, d_counts + first, n * sizeof *d_counts, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess)
            return error;
        histogram_add_counts64(shared->partial, first, staging, n);
    }
    return cudaSuccess;
}

const struct cuda_operation cuda_histogram = {
    .partial_bytes = cuda_histogram_partial_bytes,
    .prepare = cuda_histogram_prepare,
    .result_bytes = cuda_histogram_result_bytes,
    .absorb = cuda_histogram_absorb,
    .settle = cuda_histogram_settle,
    .collect = cuda_histogram_collect,
};
