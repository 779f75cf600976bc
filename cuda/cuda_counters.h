/*
 * The counters of bins on a GPU, which all its feeders share. They have 32 bits, so they take half
 * the memory of a histogram's own (histogram.h), and half the time to copy. Before one could wrap,
 * the greatest is found, and if it is large all counters are added to the histogram.
 *
 * They are at the beginning of the partial in device memory, and are cleared with it. All functions
 * but open and close are thread-safe if the caller holds the lock as they say.
 */
#ifndef GPUHIST_CUDA_COUNTERS_H
#define GPUHIST_CUDA_COUNTERS_H

#include "cuda/cuda_operation.h"
#include "operations/histogram.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct cuda_counters {
    /* Held for reading to queue work on the counters, for writing to move them. */
    pthread_rwlock_t lock;
    atomic_uint_least64_t greatest; /* no counter exceeds it when all queued work is done */
};

/* Makes shared->host, of so many bytes; its first member is a struct cuda_counters. */
enum status cuda_counters_open(struct cuda_shared *shared, size_t bytes, struct failure *failure);

/* Frees shared->host, which may be NULL. */
void cuda_counters_close(struct cuda_shared *shared);

/* The device memory that counters of so many bins take, in bytes, rounded up by cuda_align. */
size_t cuda_counters_bytes(size_t bins);

/*
 * Reserves room for so many elements, and returns whether there is any. If not, the caller takes
 * the lock for writing and calls cuda_counters_make_room. The lock is held.
 */
bool cuda_counters_reserve(struct cuda_counters *counters, size_t elements);

/*
 * Makes room for at least 2^31 - 1 elements, so that cuda_counters_reserve succeeds. Waits for all
 * work on the device. The lock is held for writing. Returns what CUDA returned.
 */
cudaError_t cuda_counters_make_room(const struct cuda_shared *shared, size_t bins,
                                    struct histogram *histogram);

/*
 * Adds the counters to a histogram; `staging` is host memory of staging_bytes to copy them to. All
 * work is done. The caller then clears them. Returns what CUDA returned.
 */
cudaError_t cuda_counters_collect(const struct cuda_shared *shared, size_t bins,
                                  struct histogram *histogram, void *staging, size_t staging_bytes);

/* The same with memory of its own, and clears them. Waits for all work on the device. */
cudaError_t cuda_counters_move(const struct cuda_shared *shared, size_t bins,
                               struct histogram *histogram);

#endif
