/*
 * Operation reduce on a GPU, the host's part. All feeders of a GPU share its partial, from which
 * the host makes a struct reduce at the end.
 */
#include "config.h"

#include "count/reduce.h"
#include "cuda/cuda_operation.h"

/* key ^ bias compares as an unsigned word; the kernels use the same. */
static uint64_t cuda_reduce_bias(const struct element *element)
{
    return element->is_signed ? (uint64_t)1 << 63 : 0;
}

static struct cuda_bytes cuda_reduce_bytes(const struct job *job, size_t elements_bytes)
{
    (void)job;
    (void)elements_bytes;
    return (struct cuda_bytes){.partial = sizeof(struct cuda_reduce_partial)};
}

static cudaError_t cuda_reduce_prepare(const struct cuda_shared *shared)
{
    const struct cuda_reduce_partial empty = {.min = UINT64_MAX, .and_bits = UINT64_MAX};
    return cudaMemcpy(shared->d_partial, &empty, sizeof empty, cudaMemcpyHostToDevice);
}

static cudaError_t cuda_reduce_absorb(const struct cuda_shared *shared,
                                      const struct cuda_chunk *chunk)
{
    return cuda_reduce_launch(&shared->device, shared->job, &chunk->elements, shared->d_partial,
                              chunk->stream);
}

static enum status cuda_reduce_collect(const struct cuda_shared *shared, void *staging,
                                       size_t staging_bytes, struct failure *failure)
{
    const struct element *element = &shared->job->element;
    const struct cuda_reduce_partial *copied = staging;
    cudaError_t error =
        cudaMemcpy(staging, shared->d_partial, sizeof *copied, cudaMemcpyDeviceToHost);

    (void)staging_bytes; /* they are enough */
    if (error != cudaSuccess)
        return cuda_check_copy(error, failure);
    const struct reduce reduce = {
        .count = copied->count,
        .sum = (unsigned __int128)copied->sum[1] << 64 | copied->sum[0],
        .squares = {{copied->squares[0], copied->squares[1], copied->squares[2]}},
        .min = element_value(element, copied->min ^ cuda_reduce_bias(element)),
        .max = element_value(element, copied->max ^ cuda_reduce_bias(element)),
        .and_bits = copied->and_bits,
        .or_bits = copied->or_bits,
        .xor_bits = copied->xor_bits,
    };
    reduce_share(shared->partial, &reduce);
    return STATUS_OK;
}

const struct cuda_operation cuda_reduce = {
    .bytes = cuda_reduce_bytes,
    .prepare = cuda_reduce_prepare,
    .absorb = cuda_reduce_absorb,
    .collect = cuda_reduce_collect,
};
