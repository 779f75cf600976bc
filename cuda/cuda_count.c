/*
 * Operation count on a GPU, the host's part. All feeders of a GPU share its aggregate: the hits of
 * each predicate, followed by the memory of the sets.
 */
#include "config.h"

#include "aggregate/scalar.h"
#include "cuda/cuda_operation.h"

/* Returns the size of the set of predicate i in the aggregate; 0 if it is an interval. */
static size_t cuda_count_set_bytes(const struct plan *plan, size_t i)
{
    const struct predicate *predicate = &plan->predicates[i];
    return predicate->form == PREDICATE_SET ? cuda_align(predicate->set.bytes) : 0;
}

static size_t cuda_count_hits_bytes(const struct plan *plan)
{
    return cuda_align(plan->predicate_count * sizeof(uint64_t));
}

static struct cuda_bytes cuda_count_bytes(const struct plan *plan, size_t elements_bytes)
{
    struct cuda_bytes bytes = {.aggregate = cuda_count_hits_bytes(plan)};
    (void)elements_bytes;

    for (size_t i = 0; i < plan->predicate_count; i++)
        bytes.aggregate += cuda_count_set_bytes(plan, i);
    return bytes;
}

static cudaError_t cuda_count_prepare(const struct cuda_shared *shared)
{
    const struct plan *plan = shared->plan;
    char *d_set = (char *)shared->d_aggregate + cuda_count_hits_bytes(plan);
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; error == cudaSuccess && i < plan->predicate_count; i++) {
        const struct predicate *predicate = &plan->predicates[i];
        if (predicate->form == PREDICATE_SET)
            error = cudaMemcpy(d_set, predicate->set.words, predicate->set.bytes,
                               cudaMemcpyHostToDevice);
        d_set += cuda_count_set_bytes(plan, i);
    }
    return error;
}

static cudaError_t cuda_count_accumulate(const struct cuda_shared *shared,
                                         const struct cuda_chunk *chunk)
{
    const struct plan *plan = shared->plan;
    const struct cuda_device *device = &shared->device;
    uint64_t *d_hits = shared->d_aggregate;
    char *d_set = (char *)shared->d_aggregate + cuda_count_hits_bytes(plan);
    cudaError_t error =
        cuda_count_intervals_launch(device, plan, &chunk->elements, d_hits, chunk->stream);

    for (size_t i = 0; error == cudaSuccess && i < plan->predicate_count; i++) {
        if (plan->predicates[i].form == PREDICATE_SET) {
            struct value_set set = value_set_at(&plan->predicates[i].set, d_set);
            error = cuda_count_set_launch(device, plan, &set, &chunk->elements, d_hits + i,
                                          chunk->stream);
        }
        d_set += cuda_count_set_bytes(plan, i);
    }
    return error;
}

static enum status cuda_count_complete(const struct cuda_shared *shared,
                                       const struct cuda_chunk *chunk, struct failure *failure)
{
    const uint64_t count = chunk->count;
    (void)failure;

    scalar_add_counts(shared->aggregate, 0, &count, 1);
    return STATUS_OK;
}

static enum status cuda_count_collect(const struct cuda_shared *shared, void *staging,
                                      size_t staging_bytes, struct failure *failure)
{
    struct scalar *scalar = shared->aggregate;
    const uint64_t *d_hits = shared->d_aggregate;
    size_t predicates = shared->plan->predicate_count;
    size_t capacity = staging_bytes / sizeof *d_hits;

    for (size_t first = 0; first < predicates; first += capacity) {
        size_t n = predicates - first < capacity ? predicates - first : capacity;
        cudaError_t error =
            cudaMemcpy(staging, d_hits + first, n * sizeof *d_hits, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess)
            return cuda_check_copy(error, failure);
        scalar_add_counts(scalar, scalar->accumulators->first + first, staging, n);
    }
    return STATUS_OK;
}

const struct cuda_operation cuda_count = {
    .bytes = cuda_count_bytes,
    .prepare = cuda_count_prepare,
    .accumulate = cuda_count_accumulate,
    .complete = cuda_count_complete,
    .collect = cuda_count_collect,
};
