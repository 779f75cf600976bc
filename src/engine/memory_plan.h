/*
 * Plans the memory of a run before it starts, so that the OOM killer never ends it: the number of
 * threads, the size of each one's buffers, and the memory for counts before they spill to disk.
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

/* Memory for devices: a context takes 0.3 GB, and the buffers of its feeders as much. */
#define MEMORY_PLAN_DEVICES ((uint64_t)1 << 30)

/* The memory needs of a run, in bytes. */
struct memory_needs {
    unsigned threads;          /* number of threads wanted, at least 1 */
    uint64_t bins;             /* number of bins, whose memory is part of `shared`; 0: none */
    uint64_t shared;           /* memory that all threads share */
    uint64_t thread;           /* memory of each thread, without its buffers of counts */
    uint64_t buffers;          /* minimum size of each thread's buffers of counts */
    uint64_t buffers_max;      /* fastest size of each thread's buffers of counts */
    uint64_t table_per_thread; /* minimum of the table: threads + 1 times this; 0: no table */
    uint64_t table;            /* the user's limit for the table; 0: half of available memory */
};

/*
 * Stores the needs of a plan with at most `threads` threads, as far as they are useful for input of
 * that size (engine_useful_workers), and chunks of `chunk_bytes` bytes (0: the default).
 * is_decoded: some input is compressed, and decoders take up to `decoding_bytes` (0: the default).
 */
void memory_plan_needs(struct memory_needs *needs, const struct plan *plan, unsigned threads,
                       size_t chunk_bytes, uint64_t input_bytes, bool is_decoded,
                       uint64_t decoding_bytes);

/*
 * Divides the available memory (resources.h): shrinks the buffers first, down to their minimum, and
 * then the number of threads. Stores that number, and in the plan's context the memory limits,
 * which the value columns share. Fails with STATUS_DATA if one thread needs too much.
 */
enum status memory_plan_make(const struct memory_needs *needs, uint64_t available,
                             const struct plan *plan, unsigned *threads, struct failure *failure);

/*
 * Returns the limit of a decoder's window or dictionary: a part of the available memory, at most
 * the default of decoder_open.
 */
uint64_t memory_plan_decoding(uint64_t available);

#endif
