/*
 * The counters of bins on a GPU, which all its feeders share. They have 32 bits, so they take half
 * the memory of those of the histogram (histogram.h), and half the time to copy. Before a counter
 * could wrap, the maximum of all counters is determined; if it is large, all counters are added to
 * the histogram and cleared.
 *
 * The counters are at the beginning of the partial in device memory. All functions except open and
 * close are thread-safe, if the caller holds the lock as described.
 */
#ifndef GPUHIST_CUDA_COUNTERS_H
#define GPUHIST_CUDA_COUNTERS_H

#include "count/histogram.h"
#include "cuda/cuda_operation.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct cuda_counters {
    /* For reading: to queue work on the counters. For writing: to move them to the histogram. */
    pthread_rwlock_t lock;
    atomic_uint_least64_t greatest; /* an upper bound on all counters after all queued work */
};

/* Makes shared->host, a struct of `bytes` bytes whose first member is a struct cuda_counters. */
enum status cuda_counters_open(struct cuda_shared *shared, size_t bytes, struct failure *failure);

/* Frees shared->host, which may be NULL. */
void cuda_counters_close(struct cuda_shared *shared);

/* Returns the bytes of device memory for the counters of `bins` bins, rounded up by cuda_align. */
size_t cuda_counters_bytes(size_t bins);

/*
 * Reserves room for counting `elements` elements. Returns false if a counter could wrap: the caller
 * then takes the lock for writing and calls cuda_counters_make_room. The caller holds the lock.
 */
bool cuda_counters_reserve(struct cuda_counters *counters, size_t elements);

/*
 * Makes room for at least 2^31 - 1 elements, so that cuda_counters_reserve succeeds. Waits for all
 * work on the device. The caller holds the lock for writing. Returns the status of CUDA.
 */
cudaError_t cuda_counters_make_room(const struct cuda_shared *shared, size_t bins,
                                    struct histogram *histogram);

/*
 * Adds the counters to a histogram, after all work is done. `staging` is host memory for copies, of
 * staging_bytes. The caller then clears the counters. Returns the status of CUDA.
 */
cudaError_t cuda_counters_collect(const struct cuda_shared *shared, size_t bins,
                                  struct histogram *histogram, void *staging, size_t staging_bytes);

/*
 * Waits for all work on the device, adds the counters to a histogram, and clears them. Returns the
 * status of CUDA.
 */
cudaError_t cuda_counters_move(const struct cuda_shared *shared, size_t bins,
                               struct histogram *histogram);

#endif
