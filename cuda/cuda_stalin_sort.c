/*
 * Operation stalin-sort on a GPU, the host's part. The GPU finds the kept elements of a chunk,
 * given the kept elements known when it was queued; when the chunk is completed, they are copied
 * back and submitted.
 */
#include "config.h"

#include "aggregate/stalin_sort.h"
#include "cuda/cuda_operation.h"

static struct cuda_stalin_sort_buffers cuda_stalin_sort_lay_out(const struct plan *plan,
                                                                const struct cuda_chunk *chunk)
{
    size_t bytes = cuda_align(chunk->elements.count * plan->element.bytes);
    char *d_next = chunk->d_scratch;
    struct cuda_stalin_sort_buffers buffers = {.d_kept = d_next};

    d_next += bytes;
    if (plan->stalin_sort.purged) {
        buffers.d_purged = d_next;
        d_next += bytes;
    }
    buffers.d_control = d_next;
    return buffers;
}

/*
 * Returns whether all elements are copied back, too: to write the dropped elements, the host needs
 * all in order, and the elements of text and records are only on the device.
 */
static bool cuda_stalin_sort_needs_elements(const struct plan *plan)
{
    return plan->stalin_sort.purged && cuda_makes_elements(plan);
}

static struct cuda_bytes cuda_stalin_sort_bytes(const struct plan *plan, size_t elements_bytes)
{
    const size_t outputs = plan->stalin_sort.purged ? 2 : 1;
    const size_t copies = cuda_stalin_sort_needs_elements(plan) ? 2 : 1;

    return (struct cuda_bytes){
        .scratch =
            outputs * cuda_align(elements_bytes) + cuda_stalin_sort_control_bytes(elements_bytes),
        /* the number of kept elements, these, the dropped ones, and all elements if needed */
        .result = CUDA_ALIGNMENT + copies * elements_bytes,
    };
}

static cudaError_t cuda_stalin_sort_accumulate(const struct cuda_shared *shared,
                                               const struct cuda_chunk *chunk)
{
    const struct plan *plan = shared->plan;
    struct cuda_stalin_sort_buffers buffers = cuda_stalin_sort_lay_out(plan, chunk);
    uint64_t key;
    bool has_floor = stalin_sort_floor(shared->aggregate, &key);
    cudaError_t error = cuda_stalin_sort_launch(&shared->device, plan, &chunk->elements,
                                                has_floor ? &key : NULL, &buffers, chunk->stream);

    if (error != cudaSuccess)
        return error;
    return cudaMemcpyAsync(chunk->result, buffers.d_control, sizeof(uint64_t),
                           cudaMemcpyDeviceToHost, chunk->stream);
}

/* Copies the kept elements back, then the others that are wanted, and submits them. */
static enum status cuda_stalin_sort_complete(const struct cuda_shared *shared,
                                             const struct cuda_chunk *chunk,
                                             struct failure *failure)
{
    const struct plan *plan = shared->plan;
    const struct cuda_stalin_sort_buffers buffers = cuda_stalin_sort_lay_out(plan, chunk);
    const size_t bytes = chunk->count * plan->element.bytes;
    const size_t kept_count = (size_t) * (const uint64_t *)chunk->result;
    const size_t kept_bytes = kept_count * plan->element.bytes;
    const bool purged = plan->stalin_sort.purged;
    char *kept = (char *)chunk->result + CUDA_ALIGNMENT;
    cudaError_t error = cudaSuccess;

    if (kept_count > 0)
        error = cudaMemcpyAsync(kept, buffers.d_kept, kept_bytes, cudaMemcpyDeviceToHost,
                                chunk->stream);
    if (error == cudaSuccess && purged)
        error = cudaMemcpyAsync(kept + kept_bytes, buffers.d_purged, bytes - kept_bytes,
                                cudaMemcpyDeviceToHost, chunk->stream);
    if (error == cudaSuccess && cuda_stalin_sort_needs_elements(plan))
        error = cudaMemcpyAsync(kept + bytes, chunk->elements.d_data, bytes, cudaMemcpyDeviceToHost,
                                chunk->stream);
    if (error == cudaSuccess && (kept_count > 0 || purged))
        error = cudaStreamSynchronize(chunk->stream);
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot copy the kept values", failure);
    struct stalin_sort_run run = {
        .chunk = chunk->chunk,
        .kept = kept,
        .kept_count = kept_count,
        .purged = purged ? kept + kept_bytes : NULL,
    };
    run.chunk.bytes = bytes;
    if (cuda_makes_elements(plan)) /* the run has elements */
        run.chunk.data = purged ? kept + bytes : NULL;
    if (plan->is_text)
        run.chunk.text = &chunk->chunk;
    run.chunk.is_gathered = plan->record_bytes > 0;
    return stalin_sort_submit(shared->aggregate, &run, failure);
}

const struct cuda_operation cuda_stalin_sort = {
    .bytes = cuda_stalin_sort_bytes,
    .accumulate = cuda_stalin_sort_accumulate,
    .complete = cuda_stalin_sort_complete,
};
