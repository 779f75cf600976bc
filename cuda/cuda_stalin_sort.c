/*
 * Operation stalin-sort on a GPU, the host's part. The GPU finds what survives of a chunk, given
 * the survivors known when it was queued; when the chunk is completed, that is copied back and
 * submitted.
 */
#include "config.h"

#include "count/stalin_sort.h"
#include "cuda/cuda_operation.h"

static struct cuda_stalin_sort_buffers cuda_stalin_sort_lay_out(const struct job *job,
                                                                const struct cuda_chunk *chunk)
{
    size_t bytes = cuda_align(chunk->elements.count * job->element.bytes);
    char *d_next = chunk->d_scratch;
    struct cuda_stalin_sort_buffers buffers = {.d_kept = d_next};

    d_next += bytes;
    if (job->stalin_sort.purged) {
        buffers.d_purged = d_next;
        d_next += bytes;
    }
    buffers.d_control = d_next;
    return buffers;
}

/*
 * Whether all elements are copied back, too: to write the purged, the host needs them in order, and
 * those of text and records are on the device alone.
 */
static bool cuda_stalin_sort_needs_elements(const struct job *job)
{
    return job->stalin_sort.purged && cuda_makes_elements(job);
}

static struct cuda_bytes cuda_stalin_sort_bytes(const struct job *job, size_t elements_bytes)
{
    const size_t outputs = job->stalin_sort.purged ? 2 : 1;
    const size_t copies = cuda_stalin_sort_needs_elements(job) ? 2 : 1;

    return (struct cuda_bytes){
        .scratch =
            outputs * cuda_align(elements_bytes) + cuda_stalin_sort_control_bytes(elements_bytes),
        /* the number of survivors, the survivors, the purged, and all elements if needed */
        .result = CUDA_ALIGNMENT + copies * elements_bytes,
    };
}

static cudaError_t cuda_stalin_sort_absorb(const struct cuda_shared *shared,
                                           const struct cuda_chunk *chunk)
{
    const struct job *job = shared->job;
    struct cuda_stalin_sort_buffers buffers = cuda_stalin_sort_lay_out(job, chunk);
    uint64_t key;
    bool has_floor = stalin_sort_floor(shared->partial, &key);
    cudaError_t error = cuda_stalin_sort_launch(&shared->device, job, &chunk->elements,
                                                has_floor ? &key : NULL, &buffers, chunk->stream);

    if (error != cudaSuccess)
        return error;
    return cudaMemcpyAsync(chunk->result, buffers.d_control, sizeof(uint64_t),
                           cudaMemcpyDeviceToHost, chunk->stream);
}

/* Copies the survivors back, and what else is wanted, in this order, and submits them. */
static enum status cuda_stalin_sort_complete(const struct cuda_shared *shared,
                                             const struct cuda_chunk *chunk,
                                             struct failure *failure)
{
    const struct job *job = shared->job;
    const struct cuda_stalin_sort_buffers buffers = cuda_stalin_sort_lay_out(job, chunk);
    const size_t bytes = chunk->count * job->element.bytes;
    const size_t kept_count = (size_t) * (const uint64_t *)chunk->result;
    const size_t kept_bytes = kept_count * job->element.bytes;
    const bool purged = job->stalin_sort.purged;
    char *kept = (char *)chunk->result + CUDA_ALIGNMENT;
    cudaError_t error = cudaSuccess;

    if (kept_count > 0)
        error = cudaMemcpyAsync(kept, buffers.d_kept, kept_bytes, cudaMemcpyDeviceToHost,
                                chunk->stream);
    if (error == cudaSuccess && purged)
        error = cudaMemcpyAsync(kept + kept_bytes, buffers.d_purged, bytes - kept_bytes,
                                cudaMemcpyDeviceToHost, chunk->stream);
    if (error == cudaSuccess && cuda_stalin_sort_needs_elements(job))
        error = cudaMemcpyAsync(kept + bytes, chunk->elements.d_data, bytes, cudaMemcpyDeviceToHost,
                                chunk->stream);
    if (error == cudaSuccess && (kept_count > 0 || purged))
        error = cudaStreamSynchronize(chunk->stream);
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot copy the survivors", failure);
    struct stalin_sort_run run = {
        .chunk = chunk->chunk,
        .kept = kept,
        .kept_count = kept_count,
        .purged = purged ? kept + kept_bytes : NULL,
    };
    run.chunk.bytes = bytes;
    if (cuda_makes_elements(job)) /* the run is of elements */
        run.chunk.data = purged ? kept + bytes : NULL;
    if (job->is_text)
        run.chunk.text = &chunk->chunk;
    run.chunk.is_gathered = job->record_bytes > 0;
    return stalin_sort_submit(shared->partial, &run, failure);
}

const struct cuda_operation cuda_stalin_sort = {
    .bytes = cuda_stalin_sort_bytes,
    .absorb = cuda_stalin_sort_absorb,
    .complete = cuda_stalin_sort_complete,
};
