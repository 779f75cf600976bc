/*
 * Counters: ways for a CPU thread to count bin numbers. The number of bins selects one: with few
 * bins, the thread counts in a private table, which is added to the shared histogram at the end;
 * with many, it collects bin numbers in private buffers, and counts each full buffer into the
 * shared histogram. A third counter adds up weights.
 */
#ifndef GPUHIST_CPU_COUNTER_H
#define GPUHIST_CPU_COUNTER_H

#include "aggregate/histogram.h"
#include "lib/cpu_isa.h"

struct cpu_counter {
    /* Fails with STATUS_DATA. The caller closes the state, also after a failure. */
    enum status (*open)(struct histogram *histogram, void **state, struct failure *failure);
    /* Counts the bin numbers indexes[0..n), each below histogram->entries. Each counts once, or for
       cpu_counter_weighted weights[i] times. The weights of a run add up to less than 2^64. */
    void (*count)(void *state, const uint32_t *indexes, const uint64_t *weights, size_t n);
    /* Adds all counts that are not yet in the histogram. */
    void (*flush)(void *state);
    /* NULL is allowed. */
    void (*close)(void *state);
};

/* Counts in a private table, for as many bins as stay in the thread's L2. */
extern const struct cpu_counter cpu_counter_private;

/* Collects bin numbers by region of the histogram, and counts them region by region: for any bins.
 */
extern const struct cpu_counter cpu_counter_partitioned;

/* Like the counter above, but collects whole cache lines, and writes them past the caches. */
extern const struct cpu_counter cpu_counter_streamed;

/* Adds up weights, for any bins. The other counters accept no weights. */
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

/* Minimum number of entries that are streamed on Intel's CPUs: 128 regions; 62 are 10% slower. */
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
