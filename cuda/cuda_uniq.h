/*
 * Operation uniq on a GPU. All feeders share one hash table in device memory. It is small at first,
 * so that it fits the L2 cache. Entries that do not fit into it come back with the result of their
 * chunk. When that chunk is completed, the table is replaced by a larger one, and its entries are
 * added again. If there is no memory for a larger table, they are added to the host's table
 * instead.
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
    unsigned bits_max; /* of the table */
};

/*
 * Makes shared->host with an empty table of 2^bits slots, which may grow to 2^bits_max. bits must
 * be above TABLE_PARTITION_BITS; types of up to 16 bits get at least a table into which all values
 * fit. Fails with STATUS_ENGINE or STATUS_DATA. The caller closes it, even after a failure.
 */
enum status cuda_uniq_open_bits(struct cuda_shared *shared, unsigned bits, unsigned bits_max,
                                struct failure *failure);

/*
 * Returns the host's table: uniq's, or of addresses that of groups (groups.h), whose keys have two
 * words; those on the device are the second.
 */
struct table *cuda_uniq_host_table(const struct cuda_shared *shared);

/*
 * Adds entries of the device, which are overwritten, to a set of the host's table (0: to none).
 * Skips those whose word is 0. Fails as table_writer_add_distinct does. Thread-safe on distinct
 * writers.
 */
enum status cuda_uniq_write_host(const struct cuda_shared *shared, struct table_writer *writer,
                                 uint64_t set, struct table_entry *entries, size_t n,
                                 struct failure *failure);

/* struct cuda_operation has the contracts of these. */
size_t cuda_uniq_staging_bytes(const struct cuda_shared *shared);
enum status cuda_uniq_collect(const struct cuda_shared *shared, void *staging, size_t staging_bytes,
                              struct failure *failure);

#endif
