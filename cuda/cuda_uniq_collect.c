/*
 * Adds the table of a GPU to the host's table. If the host does not have far more entries than the
 * device, they are moved to the device first: it adds them faster than the host would look up each
 * entry of the device among its own. Then the counts of values in the host's window leave the
 * device as an array, which is added to those of the window. The remaining entries are distinct,
 * and the host packs them as they are. All threads take part in each step. The host's table is not
 * moved if it has weights, which are beside the keys, or IP addresses, whose keys may have two
 * words.
 */
#include "config.h"

#include "cuda/cuda_uniq.h"

#include "aggregate/groups.h"
#include "aggregate/uniq.h"
#include "lib/parallel.h"
#include "lib/resources.h"

#include <stdatomic.h>

/* Maximum number of threads that move entries. */
#define CUDA_UNIQ_THREADS_MAX 16

/*
 * Maximum number of entries that the host moves per entry of the device. Most of them may be
 * repetitions: up to 2.5 keys are pending per distinct key.
 */
#define CUDA_UNIQ_MOVED_MAX 4

/*
 * Maximum number of counters of an array per entry of the device. A counter is 8 bytes of a copy;
 * an entry, which the host must look up, takes as much time as many of them.
 */
#define CUDA_UNIQ_COUNTERS_MAX 16

/*
 * The staging memory: its maximum, its share of the slots' memory, and of the host table's limit.
 * With 2 MiB, 128 KiB for each of 16 threads, they mostly waited. Seconds for 1Gi distinct values:
 *
 *   MiB    2    8   32  128
 *   s    3.4  2.9  2.5  2.4
 */
#define CUDA_UNIQ_STAGING_BYTES_MAX  ((size_t)128 << 20)
#define CUDA_UNIQ_STAGING_SHARE      16
#define CUDA_UNIQ_STAGING_HOST_SHARE 128

/* Number of rows of IP addresses that are added at a time. */
#define CUDA_UNIQ_ADDRESSES 64

/* Minimum number of entries of a thread in the staging memory. */
#define CUDA_UNIQ_PIECE_MIN 64

/* A row of the host's table of IP addresses. */
struct cuda_uniq_address {
    uint64_t high; /* the first word of the key, 0 */
    struct table_entry entry;
};

/*
 * A transfer of entries from the host's table to the device's, of entries from the device's slots
 * to the host's table, or of counts to the host's window.
 */
struct cuda_uniq_transfer {
    const struct cuda_shared *shared;
    unsigned threads;
    size_t piece;                  /* entries per thread in the staging memory; a power of 2 */
    struct table_entry *staging;   /* [threads * piece], host memory */
    struct table_entry *d_staging; /* to the device: the same in device memory; else NULL */
    uint64_t *d_left;              /* to the device: [threads], for cuda_uniq_add_launch */
    const struct growing_window *window; /* counts: the host's window; else NULL */
    const uint64_t *d_counts;            /* counts: [window->bins], device memory */
    uint64_t set;   /* to the host: the set of the host's table that has all entries */
    size_t section; /* number of slots that a thread takes at a time: one or more pieces, and the
                       keys of whole partitions of the host's table, which threads do not share */
    _Atomic size_t taken; /* number of slots, host partitions or counters taken so far */
    pthread_mutex_t lock; /* guards the members below */
    struct failure *failure;
    enum status status;
};

struct cuda_uniq_thread {
    struct cuda_uniq_transfer *transfer;
    struct table_writer *writer;
    cudaStream_t stream;
    size_t part;                 /* the index of the thread */
    struct table_entry *entries; /* its part of the staging memory */
    size_t used;                 /* number of entries in it for the device */
};

static bool cuda_uniq_has_addresses(const struct cuda_shared *shared)
{
    return element_is_name(&shared->plan->element);
}

struct table *cuda_uniq_host_table(const struct cuda_shared *shared)
{
    return cuda_uniq_has_addresses(shared) ? ((const struct groups *)shared->aggregate)->table
                                           : ((const struct uniq *)shared->aggregate)->table;
}

static size_t cuda_uniq_slots(const struct cuda_shared *shared)
{
    return (size_t)1 << ((const struct cuda_uniq *)shared->host)->table.bits;
}

size_t cuda_uniq_staging_bytes(const struct cuda_shared *shared)
{
    const size_t slots_bytes = cuda_uniq_slots(shared) * sizeof(struct table_entry);
    const uint64_t host_bytes = table_bytes_max(cuda_uniq_host_table(shared));
    size_t bytes = CUDA_UNIQ_STAGING_BYTES_MAX;

    while (bytes > slots_bytes / CUDA_UNIQ_STAGING_SHARE ||
           bytes > host_bytes / CUDA_UNIQ_STAGING_HOST_SHARE)
        bytes /= 2;
    return bytes;
}

enum status cuda_uniq_write_host(const struct cuda_shared *shared, struct table_writer *writer,
                                 uint64_t set, struct table_entry *entries, size_t n,
                                 struct failure *failure)
{
    const uint64_t seed = ((const struct cuda_uniq *)shared->host)->table.seeds[0];
    struct cuda_uniq_address rows[CUDA_UNIQ_ADDRESSES];
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        const struct table_entry word = entries[i];
        entries[used] = (struct table_entry){word.key ^ seed, word.count};
        used += word.key != 0;
    }
    if (!cuda_uniq_has_addresses(shared))
        return table_writer_add_distinct(writer, set, entries, used, failure);
    for (size_t i = 0, some; i < used; i += some) {
        some = used - i < CUDA_UNIQ_ADDRESSES ? used - i : CUDA_UNIQ_ADDRESSES;
        for (size_t k = 0; k < some; k++)
            rows[k] = (struct cuda_uniq_address){.entry = entries[i + k]};
        if (table_writer_add_distinct(writer, set, rows, some, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/* Adds a thread's entries to the device's table. Entries that do not fit return to the host's. */
static enum status cuda_uniq_push(struct cuda_uniq_thread *thread, struct failure *failure)
{
    const struct cuda_uniq_transfer *transfer = thread->transfer;
    const struct cuda_shared *shared = transfer->shared;
    const struct cuda_uniq *self = shared->host;
    struct table_entry *d_entries = transfer->d_staging + thread->part * transfer->piece;
    uint64_t *d_left = transfer->d_left + thread->part;
    const size_t used = thread->used;
    const size_t bytes = used * sizeof *thread->entries;
    uint64_t left = 0;

    thread->used = 0;
    cudaError_t error = cudaMemsetAsync(d_left, 0, sizeof left, thread->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(d_entries, thread->entries, bytes, cudaMemcpyHostToDevice,
                                thread->stream);
    if (error == cudaSuccess)
        error = cuda_uniq_add_launch(&shared->device, d_entries, used, &self->table, d_left,
                                     thread->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&left, d_left, sizeof left, cudaMemcpyDeviceToHost, thread->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(thread->stream);
    if (error == cudaSuccess && left > 0)
        error = cudaMemcpy(thread->entries, d_entries, bytes, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot move counts to the GPU", failure);
    return cuda_uniq_write_host(shared, thread->writer, 0, thread->entries, left > 0 ? used : 0,
                                failure);
}

/*
 * Takes entries of the host's table for the device. The key whose word is 0 has no slot: it is
 * returned.
 */
static enum status cuda_uniq_take(void *context, const struct table_entry *entries, size_t n,
                                  struct failure *failure)
{
    struct cuda_uniq_thread *thread = context;
    const struct cuda_uniq *self = thread->transfer->shared->host;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        const struct table_entry word = {entries[i].key ^ self->table.seeds[0], entries[i].count};
        if (word.key == 0) {
            status = table_writer_add_rows(thread->writer, &entries[i], 1, failure);
            continue;
        }
        thread->entries[thread->used++] = word;
        if (thread->used == thread->transfer->piece)
            status = cuda_uniq_push(thread, failure);
    }
    return status;
}

/* Moves partitions of the host's table to the device until none is left. */
static enum status cuda_uniq_move_to_device(struct cuda_uniq_thread *thread,
                                            struct failure *failure)
{
    enum status status = STATUS_OK;
    size_t partition;

    while (status == STATUS_OK &&
           (partition = atomic_fetch_add(&thread->transfer->taken, 1)) < TABLE_PARTITIONS)
        status = table_writer_drain(thread->writer, partition, cuda_uniq_take, thread, failure);
    return status == STATUS_OK ? cuda_uniq_push(thread, failure) : status;
}

/* Adds sections of the slots to the host's table until none is left. */
static enum status cuda_uniq_move_to_host(struct cuda_uniq_thread *thread, struct failure *failure)
{
    struct cuda_uniq_transfer *transfer = thread->transfer;
    const struct cuda_uniq *self = transfer->shared->host;
    const size_t slots = cuda_uniq_slots(transfer->shared);
    const size_t piece = transfer->piece;
    size_t first;

    while ((first = atomic_fetch_add(&transfer->taken, transfer->section)) < slots) {
        for (size_t i = first; i < first + transfer->section; i += piece) {
            cudaError_t error = cudaMemcpyAsync(thread->entries, self->table.d_slots + i,
                                                piece * sizeof *thread->entries,
                                                cudaMemcpyDeviceToHost, thread->stream);
            if (error == cudaSuccess)
                error = cudaStreamSynchronize(thread->stream);
            if (error != cudaSuccess)
                return cuda_fail(error, "cannot copy the result", failure);
            if (cuda_uniq_write_host(transfer->shared, thread->writer, transfer->set,
                                     thread->entries, piece, failure) != STATUS_OK)
                return failure->status;
        }
    }
    return STATUS_OK;
}

/* Adds counters to those of the window until none is left. */
static enum status cuda_uniq_move_counts(struct cuda_uniq_thread *thread, struct failure *failure)
{
    struct cuda_uniq_transfer *transfer = thread->transfer;
    const size_t bins = (size_t)transfer->window->bins;
    uint64_t *counts = (uint64_t *)thread->entries;
    const size_t capacity = transfer->piece * sizeof *thread->entries / sizeof *counts;
    size_t first;

    while ((first = atomic_fetch_add(&transfer->taken, capacity)) < bins) {
        const size_t n = bins - first < capacity ? bins - first : capacity;
        cudaError_t error = cudaMemcpyAsync(counts, transfer->d_counts + first, n * sizeof *counts,
                                            cudaMemcpyDeviceToHost, thread->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(thread->stream);
        if (error != cudaSuccess)
            return cuda_check_copy(error, failure);
        histogram_add_counts64(transfer->window->histogram, first, counts, n);
    }
    return STATUS_OK;
}

/* Does a thread's part of a transfer. */
static void cuda_uniq_transfer_part(void *context, size_t part)
{
    struct cuda_uniq_transfer *transfer = context;
    struct cuda_uniq_thread thread = {
        .transfer = transfer,
        .part = part,
        .entries = transfer->staging + part * transfer->piece,
    };
    struct failure failure;
    enum status status = STATUS_OK;

    cudaError_t error = cudaSetDevice(transfer->shared->device.id);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&thread.stream, cudaStreamNonBlocking);
    if (error != cudaSuccess)
        status = cuda_fail(error, "cannot create a stream", &failure);
    if (status == STATUS_OK)
        status =
            table_writer_open(cuda_uniq_host_table(transfer->shared), &thread.writer, &failure);
    if (status == STATUS_OK)
        status = transfer->d_staging ? cuda_uniq_move_to_device(&thread, &failure)
                 : transfer->window  ? cuda_uniq_move_counts(&thread, &failure)
                                     : cuda_uniq_move_to_host(&thread, &failure);
    if (status == STATUS_OK)
        status = table_writer_flush(thread.writer, &failure);
    table_writer_close(thread.writer);
    if (thread.stream)
        cudaStreamDestroy(thread.stream);
    if (status == STATUS_OK)
        return;
    pthread_mutex_lock(&transfer->lock);
    transfer->status = status;
    *transfer->failure = failure;
    pthread_mutex_unlock(&transfer->lock);
}

/* Runs all threads of a transfer. */
static enum status cuda_uniq_transfer_run(struct cuda_uniq_transfer *transfer)
{
    transfer->taken = 0;
    pthread_mutex_init(&transfer->lock, NULL);
    parallel_run(transfer->threads, transfer->threads, cuda_uniq_transfer_part, transfer);
    pthread_mutex_destroy(&transfer->lock);
    return transfer->status;
}

static enum status cuda_uniq_read_control(const struct cuda_uniq_transfer *transfer,
                                          struct cuda_uniq_control *control)
{
    const struct cuda_uniq *self = transfer->shared->host;
    return cuda_check_copy(cudaMemcpy(control, self->table.d_control, sizeof *control,
                                      cudaMemcpyDeviceToHost),
                           transfer->failure);
}

/*
 * Moves the host's entries to the device, if it has memory for the copies; reads the control words
 * again.
 */
static enum status cuda_uniq_transfer_to_device(struct cuda_uniq_transfer *transfer,
                                                struct cuda_uniq_control *control)
{
    const size_t entries = transfer->threads * transfer->piece;
    void *d_memory;

    cudaError_t error = cudaMalloc(&d_memory, entries * sizeof *transfer->d_staging +
                                                  transfer->threads * sizeof *transfer->d_left);
    if (cuda_is_out_of_memory(error))
        return STATUS_OK;
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot move counts to the GPU", transfer->failure);
    transfer->d_staging = d_memory;
    transfer->d_left = (uint64_t *)(transfer->d_staging + entries);
    enum status status = cuda_uniq_transfer_run(transfer);
    transfer->d_staging = NULL;
    cudaFree(d_memory);
    return status == STATUS_OK ? cuda_uniq_read_control(transfer, control) : status;
}

/*
 * Adds the counts of values in the host's window to it, if it is dense and there is memory on the
 * device for an array. The table then has the other entries. Counts of 0, which mean that a value
 * occurred, stay in it, and so does the key whose word is 0.
 */
static enum status cuda_uniq_transfer_counts(struct cuda_uniq_transfer *transfer,
                                             struct cuda_uniq_control *control)
{
    const struct cuda_shared *shared = transfer->shared;
    const struct cuda_uniq *self = shared->host;
    const struct uniq *uniq = shared->aggregate; /* unless there are addresses */
    const struct growing_window *window =
        cuda_uniq_has_addresses(shared) ? NULL : uniq_window(uniq);
    uint64_t *d_counts;

    if (!window || window->bins / CUDA_UNIQ_COUNTERS_MAX > control->used)
        return STATUS_OK;
    const size_t bytes = (size_t)(window->bins + 1) * sizeof *d_counts;
    cudaError_t error = cudaMalloc((void **)&d_counts, bytes);
    if (cuda_is_out_of_memory(error))
        return STATUS_OK;
    if (error != cudaSuccess)
        return cuda_check_copy(error, transfer->failure);
    uint64_t *d_left = d_counts + window->bins;
    error = cudaMemset(d_counts, 0, bytes);
    if (error == cudaSuccess)
        error =
            cuda_uniq_spread_launch(&shared->device, &self->table, uniq_window_first(uniq, window),
                                    window->bins, d_counts, d_left, NULL);
    if (error == cudaSuccess) /* also waits for the kernel */
        error = cudaMemcpy(&control->used, d_left, sizeof control->used, cudaMemcpyDeviceToHost);
    enum status status = cuda_check_copy(error, transfer->failure);
    transfer->window = window;
    transfer->d_counts = d_counts;
    if (status == STATUS_OK)
        status = cuda_uniq_transfer_run(transfer);
    transfer->window = NULL;
    cudaFree(d_counts);
    return status;
}

/* Moves all slots to the host's table, and adds the count of the key whose word is 0. */
static enum status cuda_uniq_transfer_to_host(struct cuda_uniq_transfer *transfer,
                                              const struct cuda_uniq_control *control)
{
    const struct cuda_shared *shared = transfer->shared;
    const struct cuda_uniq *self = shared->host;
    const struct cuda_uniq_address row = {.entry = {self->table.seeds[0], control->zeros}};
    const void *zero = cuda_uniq_has_addresses(shared) ? (const void *)&row : &row.entry;
    struct table_writer *writer;

    if (table_writer_open(cuda_uniq_host_table(shared), &writer, transfer->failure) != STATUS_OK)
        return transfer->failure->status;
    enum status status =
        table_writer_add_rows(writer, zero, control->zeros_added > 0, transfer->failure);
    if (status == STATUS_OK)
        status = table_writer_flush(writer, transfer->failure);
    table_writer_close(writer);
    if (status != STATUS_OK || control->used == 0)
        return status;
    transfer->set = table_new_set(cuda_uniq_host_table(shared));
    transfer->section = cuda_uniq_slots(shared) >> TABLE_PARTITION_BITS;
    if (transfer->section < transfer->piece)
        transfer->section = transfer->piece;
    return cuda_uniq_transfer_run(transfer);
}

/* Clears the slots; the engine clears the control words. */
enum status cuda_uniq_collect(const struct cuda_shared *shared, void *staging, size_t staging_bytes,
                              struct failure *failure)
{
    const struct cuda_uniq_table *table = &((const struct cuda_uniq *)shared->host)->table;
    const uint64_t held = table_held(cuda_uniq_host_table(shared));
    const size_t slots = cuda_uniq_slots(shared);
    const size_t capacity = staging_bytes / sizeof(struct table_entry);
    const unsigned processors = resources_at_start()->processors;
    struct cuda_uniq_control control;
    struct cuda_uniq_transfer transfer = {
        .shared = shared,
        .threads = processors < CUDA_UNIQ_THREADS_MAX ? processors : CUDA_UNIQ_THREADS_MAX,
        .piece = CUDA_UNIQ_PIECE_MIN,
        .staging = staging,
        .failure = failure,
    };

    if (transfer.threads > capacity / CUDA_UNIQ_PIECE_MIN)
        transfer.threads = (unsigned)(capacity / CUDA_UNIQ_PIECE_MIN);
    while (2 * transfer.piece <= slots && 2 * transfer.piece * transfer.threads <= capacity)
        transfer.piece *= 2;
    if (cuda_uniq_read_control(&transfer, &control) != STATUS_OK)
        return failure->status;
    if ((held > 0 && held / CUDA_UNIQ_MOVED_MAX <= control.used && !shared->plan->has_weights &&
         !cuda_uniq_has_addresses(shared) &&
         cuda_uniq_transfer_to_device(&transfer, &control) != STATUS_OK) ||
        cuda_uniq_transfer_counts(&transfer, &control) != STATUS_OK ||
        cuda_uniq_transfer_to_host(&transfer, &control) != STATUS_OK)
        return failure->status;
    cudaError_t error = cudaMemset(table->d_slots, 0, slots * sizeof *table->d_slots);
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot clear the table", failure);
    return STATUS_OK;
}
