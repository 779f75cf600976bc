/*
 * Counters: ways for a CPU thread to count bin numbers. The number of bins decides: few are counted
 * in a table of the thread's own, which is added to the shared histogram at the end; bin numbers of
 * many are collected in buffers of the thread's own, and each full buffer is counted into the
 * shared histogram. A third one adds up weights.
 */
#ifndef GPUHIST_CPU_COUNTER_H
#define GPUHIST_CPU_COUNTER_H

#include "aggregate/histogram.h"
#include "lib/cpu_isa.h"

struct cpu_counter {
    /* Fails with STATUS_DATA; the caller closes the state, also then. */
    enum status (*open)(struct histogram *histogram, void **state, struct failure *failure);
    /* Counts indexes[0..n), bin numbers, each below histogram->entries: each once or, if it takes
       weights, weights[i] times. All weights of a run add up to less than 2^64. */
    void (*count)(void *state, const uint32_t *indexes, const uint64_t *weights, size_t n);
    /* Adds all counts that are not yet in the histogram. */
    void (*flush)(void *state);
    /* NULL is allowed. */
    void (*close)(void *state);
};

/* The thread has a table of its own, for as many bins as stay in its L2. */
extern const struct cpu_counter cpu_counter_private;

/* Collects bin numbers by region of the histogram, and counts region by region into it: for any
 * bins. */
extern const struct cpu_counter cpu_counter_partitioned;

/* Like the counter above, but collects lines of the cache that are written past the caches. */
extern const struct cpu_counter cpu_counter_streamed;

/* Adds up weights, for any bins. The others take none. */
extern const struct cpu_counter cpu_counter_weighted;

/*
 * Maximum number of entries in a private table: 2 MiB per thread, its part of a shared L3.
 * Seconds for 64Mi uniform int32 on two cores (1 MiB of L2 each, 32 MiB of L3):
 *
 *   bins        private  partitioned
 *      16,000     0.048        0.078
 *     128,000     0.056        0.077
 *     512,000     0.052        0.082
 *   1,000,000     0.071        0.118
 *
 * The limit is lower than these figures suggest: elsewhere more threads share an L3.
 */
#define CPU_COUNTER_PRIVATE_MAX ((size_t)512 << 10)

/* On Intel's processors, more entries are streamed: 128 regions; 62 would lose a tenth. */
#define CPU_COUNTER_STREAMED_MIN ((size_t)2 << 20)

/* Returns the counter for that histogram. */
static inline const struct cpu_counter *cpu_counter_choose(const struct histogram *histogram,
                                                           bool has_weights)
{
    if (has_weights)
        return &cpu_counter_weighted;
    if (histogram->entries <= CPU_COUNTER_PRIVATE_MAX)
        return &cpu_counter_private;
    return histogram->entries > CPU_COUNTER_STREAMED_MIN && cpu_isa_is_intel()
               ? &cpu_counter_streamed
               : &cpu_counter_partitioned;
}

#endif
