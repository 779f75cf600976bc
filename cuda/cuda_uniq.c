/* Implements cuda_uniq.h: the table's growth, and chunks. */
#include "config.h"

#include "cuda/cuda_uniq.h"

#include "count/uniq.h"

#include <stdlib.h>

/* 32 MiB: with half of its slots in use it fits the L2 cache of an H200. */
#define CUDA_UNIQ_BITS 21

/* A table that is too small gets four times the slots. */
#define CUDA_UNIQ_GROWTH_BITS 2

/* The table takes at most this part of the memory that is free at first. */
#define CUDA_UNIQ_MEMORY_SHARE 4

/* A table with so many slots has room for all values of types of up to 16 bits. */
#define CUDA_UNIQ_NARROW_BITS 17

/* The entries of a chunk that are copied to the host at a time. */
#define CUDA_UNIQ_COPY_ENTRIES ((size_t)1 << 16)

#define CUDA_UNIQ_ENTRY_BYTES sizeof(struct table_entry)

/* The result of a chunk. */
struct cuda_uniq_result {
    uint64_t left; /* entries that did not fit into the table */
    unsigned bits; /* of the table */
};

static size_t cuda_uniq_partial_bytes(const struct job *job)
{
    (void)job;
    return sizeof(struct cuda_uniq_control);
}

static bool cuda_uniq_is_narrow(const struct job *job)
{
    return job->element.bytes <= 2;
}

/* The number of entries left, and the entries. */
static size_t cuda_uniq_scratch_bytes(const struct job *job, size_t elements_bytes)
{
    const size_t entries = cuda_uniq_is_narrow(job) ? 0 : elements_bytes / job->element.bytes;
    return CUDA_ALIGNMENT + entries * CUDA_UNIQ_ENTRY_BYTES;
}

static struct cuda_uniq_left cuda_uniq_left(const struct cuda_chunk *chunk)
{
    char *d_scratch = chunk->d_scratch;
    return (struct cuda_uniq_left){
        .d_entries = (struct table_entry *)(d_scratch + CUDA_ALIGNMENT),
        .d_count = (uint64_t *)d_scratch,
    };
}

static size_t cuda_uniq_result_bytes(const struct job *job, size_t elements_bytes)
{
    (void)job;
    (void)elements_bytes;
    return sizeof(struct cuda_uniq_result);
}

static size_t cuda_uniq_table_bytes(const struct cuda_uniq_table *table)
{
    return CUDA_UNIQ_ENTRY_BYTES << table->bits;
}

/*
 * Gives the table an empty array of slots. If all keys fit, every slot may be used; otherwise three
 * of four, and 512 probes are far more than almost all words need at that load.
 */
static cudaError_t cuda_uniq_allocate(struct cuda_uniq_table *table, unsigned bits, bool all_fit)
{
    const uint64_t slots = (uint64_t)1 << bits;

    table->bits = bits;
    table->used_max = all_fit ? slots : slots / 4 * 3;
    table->probes_max = all_fit ? slots : 512;
    cudaError_t error = cudaMalloc((void **)&table->d_slots, cuda_uniq_table_bytes(table));
    if (error != cudaSuccess) {
        table->d_slots = NULL;
        return error;
    }
    error = cudaMemset(table->d_slots, 0, cuda_uniq_table_bytes(table));
    if (error == cudaSuccess) /* the workers' streams would not wait for it */
        error = cudaDeviceSynchronize();
    return error;
}

enum status cuda_uniq_open_bits(struct cuda_shared *shared, unsigned bits, unsigned bits_max,
                                struct failure *failure)
{
    const bool narrow = cuda_uniq_is_narrow(shared->job);
    struct cuda_uniq *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for the CUDA engine");

    shared->host = made;
    pthread_rwlock_init(&made->lock, NULL);
    made->bits_max = bits_max;
    made->table.d_control = shared->d_partial;
    table_seeds(((const struct uniq *)shared->partial)->table, made->table.seeds);
    if (narrow && bits < CUDA_UNIQ_NARROW_BITS)
        bits = CUDA_UNIQ_NARROW_BITS;
    cudaError_t error = cuda_uniq_allocate(&made->table, bits, narrow);
    if (error != cudaSuccess)
        return cuda_fail(error, "no room for a table on the GPU", failure);
    return STATUS_OK;
}

static enum status cuda_uniq_open(struct cuda_shared *shared, struct failure *failure)
{
    size_t free_bytes = 0;
    size_t total_bytes;
    unsigned bits_max = TABLE_PARTITION_BITS + 1;

    cudaError_t error = cudaMemGetInfo(&free_bytes, &total_bytes);
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot tell the free memory", failure);
    while (CUDA_UNIQ_ENTRY_BYTES << (bits_max + 1) <= free_bytes / CUDA_UNIQ_MEMORY_SHARE)
        bits_max++;
    return cuda_uniq_open_bits(shared, bits_max < CUDA_UNIQ_BITS ? bits_max : CUDA_UNIQ_BITS,
                               bits_max, failure);
}

static void cuda_uniq_close(struct cuda_shared *shared)
{
    struct cuda_uniq *self = shared->host;
    if (!self)
        return;
    cudaFree(self->table.d_slots);
    pthread_rwlock_destroy(&self->lock);
    free(self);
}

/* Queues the copy of the number of entries left. */
static cudaError_t cuda_uniq_fetch_left(const struct cuda_chunk *chunk)
{
    struct cuda_uniq_result *result = chunk->result;
    return cudaMemcpyAsync(&result->left, cuda_uniq_left(chunk).d_count, sizeof result->left,
                           cudaMemcpyDeviceToHost, chunk->stream);
}

static cudaError_t cuda_uniq_absorb(const struct cuda_shared *shared,
                                    const struct cuda_chunk *chunk)
{
    struct cuda_uniq *self = shared->host;
    struct cuda_uniq_result *result = chunk->result;
    const struct cuda_uniq_left left = cuda_uniq_left(chunk);

    pthread_rwlock_rdlock(&self->lock);
    result->bits = self->table.bits;
    cudaError_t error = cudaMemsetAsync(left.d_count, 0, sizeof *left.d_count, chunk->stream);
    if (error == cudaSuccess)
        error = cuda_uniq_count_launch(&shared->device, shared->job, &chunk->elements, &self->table,
                                       &left, chunk->stream);
    if (error == cudaSuccess)
        error = cuda_uniq_fetch_left(chunk);
    pthread_rwlock_unlock(&self->lock);
    return error;
}

/* Adds all entries of a table to an empty larger one. No other work is under way. */
static cudaError_t cuda_uniq_move(const struct cuda_shared *shared,
                                  const struct cuda_uniq_table *from,
                                  const struct cuda_uniq_table *to)
{
    struct cuda_uniq_table unlimited = *to; /* it has twice the slots, so all entries fit */
    uint64_t *d_used = &to->d_control->used;

    unlimited.used_max = (uint64_t)1 << to->bits;
    unlimited.probes_max = unlimited.used_max;
    cudaError_t error = cudaMemset(d_used, 0, sizeof *d_used);
    if (error == cudaSuccess)
        error = cuda_uniq_add_launch(&shared->device, from->d_slots, (size_t)1 << from->bits,
                                     &unlimited, NULL, NULL);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* Replaces the table by a larger one if there is memory. The lock is held for writing. */
static cudaError_t cuda_uniq_enlarge(const struct cuda_shared *shared)
{
    struct cuda_uniq *self = shared->host;
    struct cuda_uniq_table made = self->table;
    unsigned bits = made.bits + CUDA_UNIQ_GROWTH_BITS;
    cudaError_t error = cudaDeviceSynchronize();

    if (error != cudaSuccess)
        return error;
    error = cuda_uniq_allocate(&made, bits < self->bits_max ? bits : self->bits_max, false);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* or CUDA reports it again */
        self->bits_max = self->table.bits;
        return cudaSuccess;
    }
    if (error == cudaSuccess)
        error = cuda_uniq_move(shared, &self->table, &made);
    if (error != cudaSuccess) {
        cudaFree(made.d_slots);
        return error;
    }
    error = cudaFree(self->table.d_slots);
    self->table = made;
    return error;
}

/* Makes the table larger than 2^bits slots if it is not and can be. Stores whether it is now. */
static cudaError_t cuda_uniq_grow(const struct cuda_shared *shared, unsigned bits, bool *is_larger)
{
    struct cuda_uniq *self = shared->host;
    cudaError_t error = cudaSuccess;

    pthread_rwlock_wrlock(&self->lock);
    if (self->table.bits == bits && bits < self->bits_max)
        error = cuda_uniq_enlarge(shared);
    *is_larger = self->table.bits > bits;
    pthread_rwlock_unlock(&self->lock);
    return error;
}

/* Adds a chunk's entries that did not fit to the table, which has grown. */
static cudaError_t cuda_uniq_add_left(const struct cuda_shared *shared,
                                      const struct cuda_chunk *chunk, size_t entries)
{
    struct cuda_uniq *self = shared->host;
    struct cuda_uniq_result *result = chunk->result;
    const struct cuda_uniq_left left = cuda_uniq_left(chunk);

    pthread_rwlock_rdlock(&self->lock);
    result->bits = self->table.bits;
    cudaError_t error = cudaMemsetAsync(left.d_count, 0, sizeof *left.d_count, chunk->stream);
    if (error == cudaSuccess)
        error = cuda_uniq_add_launch(&shared->device, left.d_entries, entries, &self->table,
                                     left.d_count, chunk->stream);
    if (error == cudaSuccess)
        error = cuda_uniq_fetch_left(chunk);
    pthread_rwlock_unlock(&self->lock);
    return error == cudaSuccess ? cudaStreamSynchronize(chunk->stream) : error;
}

/* Copies a chunk's entries to `copied`, some at a time, and adds them to the host's table. */
static enum status cuda_uniq_write_left(const struct cuda_shared *shared,
                                        const struct cuda_chunk *chunk, size_t entries,
                                        struct table_writer *writer, struct table_entry *copied,
                                        struct failure *failure)
{
    const struct table_entry *d_entries = cuda_uniq_left(chunk).d_entries;

    for (size_t first = 0, n; first < entries; first += n) {
        n = entries - first < CUDA_UNIQ_COPY_ENTRIES ? entries - first : CUDA_UNIQ_COPY_ENTRIES;
        cudaError_t error = cudaMemcpyAsync(copied, d_entries + first, n * CUDA_UNIQ_ENTRY_BYTES,
                                            cudaMemcpyDeviceToHost, chunk->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(chunk->stream);
        if (error != cudaSuccess)
            return cuda_fail(error, "cannot copy counts", failure);
        if (cuda_uniq_write_host(shared->host, writer, 0, copied, n, failure) != STATUS_OK)
            return failure->status;
    }
    return table_writer_flush(writer, failure);
}

/* Adds a chunk's entries that did not fit to the host's table. */
static enum status cuda_uniq_count_left(const struct cuda_shared *shared,
                                        const struct cuda_chunk *chunk, size_t entries,
                                        struct failure *failure)
{
    struct table_entry *copied = malloc(CUDA_UNIQ_COPY_ENTRIES * CUDA_UNIQ_ENTRY_BYTES);
    struct table_writer *writer = NULL;
    enum status status =
        copied ? table_writer_open(((struct uniq *)shared->partial)->table, &writer, failure)
               : status_fail(failure, STATUS_DATA, "no memory for counts of the GPU");

    if (status == STATUS_OK)
        status = cuda_uniq_write_left(shared, chunk, entries, writer, copied, failure);
    table_writer_close(writer);
    free(copied);
    return status;
}

static enum status cuda_uniq_complete(const struct cuda_shared *shared,
                                      const struct cuda_chunk *chunk, struct failure *failure)
{
    const struct cuda_uniq_result *result = chunk->result;
    const size_t entries = (size_t)result->left;

    while (result->left > 0) {
        bool is_larger;
        cudaError_t error = cuda_uniq_grow(shared, result->bits, &is_larger);
        if (error == cudaSuccess && !is_larger)
            return cuda_uniq_count_left(shared, chunk, entries, failure);
        if (error == cudaSuccess)
            error = cuda_uniq_add_left(shared, chunk, entries);
        if (error != cudaSuccess)
            return cuda_fail(error, "counting failed", failure);
    }
    return STATUS_OK;
}

const struct cuda_operation cuda_uniq = {
    .open = cuda_uniq_open,
    .close = cuda_uniq_close,
    .partial_bytes = cuda_uniq_partial_bytes,
    .scratch_bytes = cuda_uniq_scratch_bytes,
    .result_bytes = cuda_uniq_result_bytes,
    .absorb = cuda_uniq_absorb,
    .complete = cuda_uniq_complete,
    .staging_bytes = cuda_uniq_staging_bytes,
    .collect = cuda_uniq_collect,
};
