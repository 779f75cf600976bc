/*
 * Plans the memory of a run before it starts, so that the kernel kills none: how many threads there
 * are, what the buffers of each may take, and what the counts may take before they go to files.
 *
 * All functions are thread-safe.
 */
#ifndef GPUHIST_MEMORY_PLAN_H
#define GPUHIST_MEMORY_PLAN_H

#include "lib/status.h"
#include "value/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The context of a device takes 0.3 GB, and its feeders' buffers as much. */
#define MEMORY_PLAN_DEVICES ((uint64_t)1 << 30)

/* What a run takes, in bytes. */
struct memory_needs {
    unsigned threads;          /* wanted, at least 1 */
    uint64_t bins;             /* their number, which is part of the next; 0: there are none */
    uint64_t shared;           /* of all threads together */
    uint64_t thread;           /* of each thread, without buffers of counts */
    uint64_t buffers;          /* of counts, of each thread: the minimum, */
    uint64_t buffers_max;      /* and those with which it is fastest */
    uint64_t table_per_thread; /* of the table, for each thread and once more; 0: there is none */
    uint64_t table;            /* as the user has said; 0: half of what is available */
};

/*
 * Stores what a plan takes with as many threads as are wanted and useful for input of that size
 * (engine_useful_workers), and chunks of `chunk_bytes` bytes, 0: of the usual size. is_decoded:
 * some input is compressed, and decoders take up to `decoding_bytes`, 0: the default.
 */
void memory_plan_needs(struct memory_needs *needs, const struct plan *plan, unsigned threads,
                       size_t chunk_bytes, uint64_t input_bytes, bool is_decoded,
                       uint64_t decoding_bytes);

/*
 * Divides the memory that is available (resources.h): the buffers become smaller first, down to
 * their minimum, and then there are fewer threads. Stores how many, and in the context of the plan
 * its memory, which its value columns share. Fails with STATUS_DATA if one thread is too many.
 */
enum status memory_plan_make(const struct memory_needs *needs, uint64_t available,
                             const struct plan *plan, unsigned *threads, struct failure *failure);

/*
 * Returns the limit of a decoder's window or dictionary: a part of what is available, up to the
 * default of decoder_open.
 */
uint64_t memory_plan_decoding(uint64_t available);

#endif
