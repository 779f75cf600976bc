/*
 * The counters of bins on a GPU, which all its feeders share: of 32 bits, which take half the
 * memory, and half the time to copy, of a histogram's own (histogram.h). Before more is counted
 * than fits one of them, they are looked at, and if need be moved to the histogram.
 *
 * They lie in the partial in device memory, at its beginning, so that whoever empties the partial
 * empties them. All functions but those that open and close are thread-safe, as their rules on the
 * lock are kept.
 */
#ifndef GPUHIST_CUDA_COUNTERS_H
#define GPUHIST_CUDA_COUNTERS_H

#include "cuda/cuda_operation.h"
#include "operations/histogram.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct cuda_counters {
    /* To be read while work on the counters is queued, written while they are moved. */
    pthread_rwlock_t lock;
    atomic_uint_least64_t greatest; /* no counter is above it once all that is queued is done */
};

/* Makes shared->host, whose first member is a struct cuda_counters and which has so many bytes. */
enum status cuda_counters_open(struct cuda_shared *shared, size_t bytes, struct failure *failure);

/* Frees shared->host, which may be NULL. */
void cuda_counters_close(struct cuda_shared *shared);

/* What counters of so many bins take in device memory, aligned. */
size_t cuda_counters_bytes(size_t bins);

/*
 * Whether so many elements more can be counted; then they are allowed for. The lock is held. If
 * not, it is to be held for writing, and cuda_counters_make_room called.
 */
bool cuda_counters_reserve(struct cuda_counters *counters, size_t elements);

/*
 * Makes room for elements, 2^31 - 1 at the least, after which cuda_counters_reserve is true. Waits
 * for all work on the device. The lock is held for writing. Returns what CUDA returned.
 */
cudaError_t cuda_counters_make_room(const struct cuda_shared *shared, size_t bins,
                                    struct histogram *histogram);

/*
 * Adds the counters to a histogram, by way of `staging`, host memory of staging_bytes. All work is
 * done; the caller then empties them.
 */
cudaError_t cuda_counters_collect(const struct cuda_shared *shared, size_t bins,
                                  struct histogram *histogram, void *staging, size_t staging_bytes);

/* The same with memory of its own, and empties them. Waits for all work on the device. */
cudaError_t cuda_counters_move(const struct cuda_shared *shared, size_t bins,
                               struct histogram *histogram);

#endif
