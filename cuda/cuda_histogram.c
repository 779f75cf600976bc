/* Operation histogram on a GPU, the host's part: one table a GPU, which all its feeders share. */
#include "config.h"

#include "cuda_operation.h"
#include "histogram.h"

static size_t cuda_histogram_partial_bytes(const struct job *job)
{
    return ((size_t)job->binning.bins + BINNING_OUTSIDE) * sizeof(uint64_t);
}

static cudaError_t cuda_histogram_absorb(const struct cuda_device *device, const struct job *job,
                                         const void *d_elements, size_t elements, void *d_partial,
                                         void *note, cudaStream_t stream)
{
    uint64_t *d_counts = d_partial;
    cudaError_t error = cuda_histogram_launch(device, job, d_elements, elements, d_counts, stream);

    if (error != cudaSuccess || job->outside != OUTSIDE_ABORT)
        return error;
    return cudaMemcpyAsync(note, d_counts + job->binning.bins, BINNING_OUTSIDE * sizeof *d_counts,
                           cudaMemcpyDeviceToHost, stream);
}

/*
 * The counters of values outside are the whole run's: once they are not 0, every chunk is looked at
 * for such a value, and the one that has it is found.
 */
static enum status cuda_histogram_settle(const struct job *job, const struct chunk *chunk,
                                         const void *note, struct failure *failure)
{
    const uint64_t *outside = note;

    if (job->outside != OUTSIDE_ABORT || outside[0] + outside[1] == 0)
        return STATUS_OK;
    return job_check_outside(job, chunk, failure);
}

static cudaError_t cuda_histogram_collect(const struct job *job, const void *d_partial,
                                          void *staging, size_t staging_bytes, void *partial)
{
    const uint64_t *d_counts = d_partial;
    size_t entries = (size_t)job->binning.bins + BINNING_OUTSIDE;
    size_t room = staging_bytes / sizeof *d_counts;

    for (size_t first = 0; first < entries; first += room) {
        size_t n = entries - first < room ? entries - first : room;
        cudaError_t error =
            cudaMemcpy(staging, d_counts + first, n * sizeof *d_counts, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess)
            return error;
        histogram_add_counts64(partial, first, staging, n);
    }
    return cudaSuccess;
}

const struct cuda_operation cuda_histogram = {
    .partial_bytes = cuda_histogram_partial_bytes,
    .absorb = cuda_histogram_absorb,
    .settle = cuda_histogram_settle,
    .collect = cuda_histogram_collect,
};
