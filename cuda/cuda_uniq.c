/* Implements cuda_uniq.h: growth of the table, and chunks. */
#include "config.h"

#include "cuda/cuda_uniq.h"

#include "lib/keyed_hash.h"

#include <stdlib.h>

/* Log2 of the initial slots: 32 MiB; half full, the table fits the L2 cache of an H200. */
#define CUDA_UNIQ_BITS 21

/* Log2 of the growth of a table that is too small. */
#define CUDA_UNIQ_GROWTH_BITS 2

/* The table takes at most 1/SHARE of the initially free memory. */
#define CUDA_UNIQ_MEMORY_SHARE 4

/* Log2 of the slots of a table for all values of a type of up to 16 bits. */
#define CUDA_UNIQ_NARROW_BITS 17

/* Number of entries of a chunk that are copied to the host at a time. */
#define CUDA_UNIQ_COPY_ENTRIES ((size_t)1 << 16)

#define CUDA_UNIQ_ENTRY_BYTES sizeof(struct table_entry)

/* The result of a chunk. */
struct cuda_uniq_result {
    uint64_t left; /* number of entries that did not fit into the table */
    unsigned bits; /* log2 of the table's slots */
};

static bool cuda_uniq_is_narrow(const struct plan *plan)
{
    return plan->element.bytes <= 2;
}

static struct cuda_bytes cuda_uniq_bytes(const struct plan *plan, size_t elements_bytes)
{
    const size_t entries = cuda_uniq_is_narrow(plan) ? 0 : elements_bytes / plan->element.bytes;

    return (struct cuda_bytes){
        .aggregate = sizeof(struct cuda_uniq_control),
        /* the number of entries left, and the entries */
        .scratch = CUDA_ALIGNMENT + entries * CUDA_UNIQ_ENTRY_BYTES,
        .result = sizeof(struct cuda_uniq_result),
    };
}

static struct cuda_uniq_left cuda_uniq_left(const struct cuda_chunk *chunk)
{
    char *d_scratch = chunk->d_scratch;
    return (struct cuda_uniq_left){
        .d_entries = (struct table_entry *)(d_scratch + CUDA_ALIGNMENT),
        .d_count = (uint64_t *)d_scratch,
    };
}

/*
 * Gives the table an empty array of slots. If all keys fit, every slot may be used; otherwise three
 * of four, and 512 probes are far more than almost all words need at that load.
 */
static cudaError_t cuda_uniq_allocate(struct cuda_uniq_table *table, unsigned bits, bool all_fit)
{
    const uint64_t slots = (uint64_t)1 << bits;
    const size_t bytes = CUDA_UNIQ_ENTRY_BYTES << bits;

    table->bits = bits;
    table->used_max = all_fit ? slots : slots / 4 * 3;
    table->probes_max = all_fit ? slots : 512;
    cudaError_t error = cudaMalloc((void **)&table->d_slots, bytes);
    if (error != cudaSuccess) {
        table->d_slots = NULL;
        return error;
    }
    error = cudaMemset(table->d_slots, 0, bytes);
    if (error == cudaSuccess) /* the workers' streams would not wait for it */
        error = cudaDeviceSynchronize();
    return error;
}

enum status cuda_uniq_open_bits(struct cuda_shared *shared, unsigned bits, unsigned bits_max,
                                struct failure *failure)
{
    const bool narrow = cuda_uniq_is_narrow(shared->plan);
    struct cuda_uniq *opened = calloc(1, sizeof *opened);
    if (!opened)
        return status_fail(failure, STATUS_DATA, "not enough memory for the CUDA engine");

    shared->host = opened;
    pthread_rwlock_init(&opened->lock, NULL);
    opened->bits_max = bits_max;
    opened->table.d_control = shared->d_aggregate;
    table_seeds(cuda_uniq_host_table(shared), opened->table.seeds);
    if (element_is_name(&shared->plan->element)) {
        /* the hash of a word is that of both words, the first of which is 0 (table_rows.h) */
        const uint64_t *seeds = opened->table.seeds;
        const struct keyed_hash hash = {{seeds[0], seeds[1], seeds[2]}};
        opened->table.seeds[0] ^= keyed_hash_of(&hash, 0);
    }
    if (narrow && bits < CUDA_UNIQ_NARROW_BITS)
        bits = CUDA_UNIQ_NARROW_BITS;
    cudaError_t error = cuda_uniq_allocate(&opened->table, bits, narrow);
    if (error != cudaSuccess)
        return cuda_fail(error, "not enough memory for a table on the GPU", failure);
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

/*
 * Queues the counting of a chunk; or if entries > 0, the adding of its entries that did not fit
 * before. Then queues the copy of the number of entries that do not fit now.
 */
static cudaError_t cuda_uniq_queue(const struct cuda_shared *shared, const struct cuda_chunk *chunk,
                                   size_t entries)
{
    struct cuda_uniq *self = shared->host;
    struct cuda_uniq_result *result = chunk->result;
    const struct cuda_uniq_left left = cuda_uniq_left(chunk);

    pthread_rwlock_rdlock(&self->lock);
    result->bits = self->table.bits;
    cudaError_t error = cudaMemsetAsync(left.d_count, 0, sizeof *left.d_count, chunk->stream);
    if (error == cudaSuccess)
        error = entries > 0
                    ? cuda_uniq_add_launch(&shared->device, left.d_entries, entries, &self->table,
                                           left.d_count, chunk->stream)
                    : cuda_uniq_count_launch(&shared->device, shared->plan, &chunk->elements,
                                             &self->table, &left, chunk->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&result->left, left.d_count, sizeof result->left,
                                cudaMemcpyDeviceToHost, chunk->stream);
    pthread_rwlock_unlock(&self->lock);
    return error;
}

static cudaError_t cuda_uniq_accumulate(const struct cuda_shared *shared,
                                        const struct cuda_chunk *chunk)
{
    return cuda_uniq_queue(shared, chunk, 0);
}

/* Replaces the table by a larger one if there is memory. The lock is held for writing. */
static cudaError_t cuda_uniq_enlarge(const struct cuda_shared *shared)
{
    struct cuda_uniq *self = shared->host;
    struct cuda_uniq_table larger = self->table;
    uint64_t *d_used = &larger.d_control->used;
    unsigned bits = larger.bits + CUDA_UNIQ_GROWTH_BITS;

    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        return error;
    error = cuda_uniq_allocate(&larger, bits < self->bits_max ? bits : self->bits_max, false);
    if (cuda_is_out_of_memory(error)) {
        self->bits_max = self->table.bits;
        return cudaSuccess;
    }
    struct cuda_uniq_table unlimited = larger; /* without limits: all entries fit */
    unlimited.used_max = (uint64_t)1 << larger.bits;
    unlimited.probes_max = unlimited.used_max;
    if (error == cudaSuccess)
        error = cudaMemset(d_used, 0, sizeof *d_used);
    if (error == cudaSuccess)
        error = cuda_uniq_add_launch(&shared->device, self->table.d_slots,
                                     (size_t)1 << self->table.bits, &unlimited, NULL, NULL);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        cudaFree(larger.d_slots);
        return error;
    }
    error = cudaFree(self->table.d_slots);
    self->table = larger;
    return error;
}

/* Adds a chunk's entries that did not fit to the host's table, some at a time. */
static enum status cuda_uniq_count_left(const struct cuda_shared *shared,
                                        const struct cuda_chunk *chunk, size_t entries,
                                        struct failure *failure)
{
    const struct table_entry *d_entries = cuda_uniq_left(chunk).d_entries;
    struct table_entry *copied = malloc(CUDA_UNIQ_COPY_ENTRIES * CUDA_UNIQ_ENTRY_BYTES);
    struct table_writer *writer = NULL;
    enum status status =
        copied ? table_writer_open(cuda_uniq_host_table(shared), &writer, failure)
               : status_fail(failure, STATUS_DATA, "not enough memory for counts of the GPU");

    for (size_t first = 0, n; status == STATUS_OK && first < entries; first += n) {
        n = entries - first < CUDA_UNIQ_COPY_ENTRIES ? entries - first : CUDA_UNIQ_COPY_ENTRIES;
        cudaError_t error = cudaMemcpyAsync(copied, d_entries + first, n * CUDA_UNIQ_ENTRY_BYTES,
                                            cudaMemcpyDeviceToHost, chunk->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(chunk->stream);
        status = error == cudaSuccess ? cuda_uniq_write_host(shared, writer, 0, copied, n, failure)
                                      : cuda_fail(error, "cannot copy counts", failure);
    }
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    free(copied);
    return status;
}

/*
 * Adds the entries that did not fit to a larger table: another chunk may have enlarged it since. If
 * it cannot be enlarged, adds them to the host's table.
 */
static enum status cuda_uniq_complete(const struct cuda_shared *shared,
                                      const struct cuda_chunk *chunk, struct failure *failure)
{
    struct cuda_uniq *self = shared->host;
    const struct cuda_uniq_result *result = chunk->result;
    const size_t entries = (size_t)result->left;

    while (result->left > 0) {
        cudaError_t error = cudaSuccess;
        pthread_rwlock_wrlock(&self->lock);
        if (self->table.bits == result->bits && self->table.bits < self->bits_max)
            error = cuda_uniq_enlarge(shared);
        const bool is_larger = self->table.bits > result->bits;
        pthread_rwlock_unlock(&self->lock);
        if (error == cudaSuccess && !is_larger)
            return cuda_uniq_count_left(shared, chunk, entries, failure);
        if (error == cudaSuccess)
            error = cuda_uniq_queue(shared, chunk, entries);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(chunk->stream);
        if (error != cudaSuccess)
            return cuda_fail(error, "counting failed", failure);
    }
    return STATUS_OK;
}

const struct cuda_operation cuda_uniq = {
    .open = cuda_uniq_open,
    .close = cuda_uniq_close,
    .bytes = cuda_uniq_bytes,
    .accumulate = cuda_uniq_accumulate,
    .complete = cuda_uniq_complete,
    .staging_bytes = cuda_uniq_staging_bytes,
    .collect = cuda_uniq_collect,
};
