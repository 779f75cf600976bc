/*
 * Operation uniq on a GPU. All feeders share one hash table in device memory. It is small at first,
 * so that it fits the L2 cache. Entries that do not fit are returned with the result of their
 * chunk. When that chunk is completed, a larger table replaces this one, and the entries are added
 * again. If there is no memory for a larger table, they are added to the host's table instead.
 */
#ifndef GPUHIST_CUDA_UNIQ_H
#define GPUHIST_CUDA_UNIQ_H

#include "cuda/cuda_operation.h"
#include "lib/table.h"

#include <pthread.h>

/* The session's state on the host. */
struct cuda_uniq {
    pthread_rwlock_t lock; /* held for reading to queue work on the table, for writing to grow it */
    struct cuda_uniq_table table;
    unsigned bits_max; /* maximum log2 of the table's slots */
};

/*
 * Makes shared->host with an empty table of 2^bits slots, which may grow to 2^bits_max. bits must
 * be above TABLE_PARTITION_BITS; for types of up to 16 bits, the table is large enough for all
 * values. Fails with STATUS_ENGINE or STATUS_DATA. The caller closes it, also after a failure.
 */
enum status cuda_uniq_open_bits(struct cuda_shared *shared, unsigned bits, unsigned bits_max,
                                struct failure *failure);

/*
 * Returns the host's table: that of uniq, or for IP addresses that of groups (groups.h), whose keys
 * have two words; keys on the device are the second word.
 */
struct table *cuda_uniq_host_table(const struct cuda_shared *shared);

/*
 * Adds entries of the device, which are overwritten, to a set of the host's table (0: to no set).
 * Skips entries whose word is 0. Fails like table_writer_add_distinct. Thread-safe on distinct
 * writers.
 */
enum status cuda_uniq_write_host(const struct cuda_shared *shared, struct table_writer *writer,
                                 uint64_t set, struct table_entry *entries, size_t n,
                                 struct failure *failure);

/* struct cuda_operation has the contracts of these functions. */
size_t cuda_uniq_staging_bytes(const struct cuda_shared *shared);
enum status cuda_uniq_collect(const struct cuda_shared *shared, void *staging, size_t staging_bytes,
                              struct failure *failure);

#endif
