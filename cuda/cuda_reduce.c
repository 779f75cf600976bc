/*
 * Operation reduce on a GPU, the host's part. All feeders of a GPU share its aggregate, from which
 * the host makes a row of accumulators at the end.
 *
 * If some reductions need a table of distinct values, the elements of a chunk are also counted like
 * in uniq, in a table that the host adds to that of the reduction. The control words of that table
 * follow the sums in the aggregate.
 */
#include "config.h"

#include "aggregate/scalar.h"
#include "cuda/cuda_uniq.h"

#include <stdlib.h>

#define CUDA_REDUCE_SUMS_BYTES cuda_align(sizeof(struct cuda_reduce_aggregate))

static bool cuda_reduce_needs_table(const struct plan *plan)
{
    return (plan->reductions.needs & REDUCTIONS_NEED_TABLE) != 0;
}

static struct cuda_bytes cuda_reduce_bytes(const struct plan *plan, size_t elements_bytes)
{
    struct cuda_bytes bytes = {.aggregate = 0};

    if (cuda_reduce_needs_table(plan))
        bytes = cuda_uniq.bytes(plan, elements_bytes);
    bytes.aggregate += CUDA_REDUCE_SUMS_BYTES;
    return bytes;
}

/* Makes shared->host, if there is a table: the struct cuda_shared of uniq, for its aggregate. */
static enum status cuda_reduce_open(struct cuda_shared *shared, struct failure *failure)
{
    if (!cuda_reduce_needs_table(shared->plan))
        return STATUS_OK;
    struct cuda_shared *table = malloc(sizeof *table);
    if (!table)
        return status_fail(failure, STATUS_DATA, "not enough memory for the CUDA engine");
    *table = *shared;
    table->d_aggregate = (char *)shared->d_aggregate + CUDA_REDUCE_SUMS_BYTES;
    table->aggregate = ((struct scalar *)shared->aggregate)->uniq;
    shared->host = table;
    return cuda_uniq.open(table, failure);
}

static void cuda_reduce_close(struct cuda_shared *shared)
{
    if (shared->host)
        cuda_uniq.close(shared->host);
    free(shared->host);
}

static cudaError_t cuda_reduce_prepare(const struct cuda_shared *shared)
{
    const struct cuda_reduce_aggregate empty = {.min = UINT64_MAX, .and_bits = UINT64_MAX};
    return cudaMemcpy(shared->d_aggregate, &empty, sizeof empty, cudaMemcpyHostToDevice);
}

static cudaError_t cuda_reduce_accumulate(const struct cuda_shared *shared,
                                          const struct cuda_chunk *chunk)
{
    cudaError_t error = cuda_reduce_launch(&shared->device, shared->plan, &chunk->elements,
                                           shared->d_aggregate, chunk->stream);

    return error == cudaSuccess && shared->host ? cuda_uniq.accumulate(shared->host, chunk) : error;
}

static enum status cuda_reduce_complete(const struct cuda_shared *shared,
                                        const struct cuda_chunk *chunk, struct failure *failure)
{
    return shared->host ? cuda_uniq.complete(shared->host, chunk, failure) : STATUS_OK;
}

static size_t cuda_reduce_staging_bytes(const struct cuda_shared *shared)
{
    return shared->host ? cuda_uniq.staging_bytes(shared->host) : 0;
}

static enum status cuda_reduce_collect(const struct cuda_shared *shared, void *staging,
                                       size_t staging_bytes, struct failure *failure)
{
    const uint64_t sign_bias =
        element_sign_bias(&shared->plan->element); /* the kernels' words include it */
    const struct cuda_reduce_aggregate *copied = staging;
    struct scalar *scalar = shared->aggregate;
    cudaError_t error =
        cudaMemcpy(staging, shared->d_aggregate, sizeof *copied, cudaMemcpyDeviceToHost);

    if (error != cudaSuccess)
        return cuda_check_copy(error, failure);
    const uint64_t words[ACCUMULATOR_WORDS_ALL] = {
        copied->sum[0],     copied->sum[1],          copied->squares[0],      copied->squares[1],
        copied->squares[2], copied->min ^ sign_bias, copied->max ^ sign_bias, copied->and_bits,
        copied->or_bits,    copied->xor_bits,
    };
    uint64_t row[1 + ACCUMULATOR_WORDS_ALL] = {copied->count};
    if (copied->count > 0) { /* without values, extremes are those of the type */
        accumulators_select(scalar->accumulators, row, words);
        scalar_merge(scalar, row);
    }
    return shared->host ? cuda_uniq.collect(shared->host, staging, staging_bytes, failure)
                        : STATUS_OK;
}

const struct cuda_operation cuda_reduce = {
    .open = cuda_reduce_open,
    .close = cuda_reduce_close,
    .bytes = cuda_reduce_bytes,
    .prepare = cuda_reduce_prepare,
    .accumulate = cuda_reduce_accumulate,
    .complete = cuda_reduce_complete,
    .staging_bytes = cuda_reduce_staging_bytes,
    .collect = cuda_reduce_collect,
};
