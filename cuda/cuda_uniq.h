/*
 * Uniq on a GPU: one hash table in device memory, which all feeders of the GPU share. It begins so
 * small that it fits the L2 cache. What it has no room for comes back beside the chunk; when that
 * is completed, the table grows, and what is left is added again. A table that cannot grow any more
 * keeps its keys, and the others are counted in the host's table.
 */
#ifndef GPUHIST_CUDA_UNIQ_H
#define GPUHIST_CUDA_UNIQ_H

#include "cuda/cuda_operation.h"

#include <pthread.h>

/* The session's state on the host. */
struct cuda_uniq {
    pthread_rwlock_t lock; /* held for reading to queue work on the table, for writing to grow it */
    struct cuda_uniq_table table;
    unsigned bits_max; /* of the table */
};

/*
 * Makes shared->host, with an empty table of 2^bits slots that may grow to 2^bits_max; bits must be
 * above TABLE_PARTITION_BITS. Types of up to 16 bits get a table with room for all values. Fails
 * with STATUS_ENGINE or STATUS_DATA; the caller closes it then as well.
 */
enum status cuda_uniq_open_bits(struct cuda_shared *shared, unsigned bits, unsigned bits_max,
                                struct failure *failure);

#endif
