/*
 * Counters: two ways for a CPU thread to count bin numbers, each with memory of its own, merged
 * into the shared histogram in the end. cpu_histogram.c chooses between them by the number of bins.
 */
#ifndef GPUHIST_CPU_COUNTER_H
#define GPUHIST_CPU_COUNTER_H

#include "histogram.h"

struct cpu_counter {
    enum status (*open)(struct histogram *histogram, void **state, struct failure *failure);
    /* Counts indexes[0..n), each below histogram->entries. */
    void (*count)(void *state, const uint32_t *indexes, size_t n);
    /* Adds to the histogram whatever is not there yet. */
    void (*flush)(void *state);
    /* NULL is allowed. */
    void (*close)(void *state);
};

/* Tables of the thread's own, for as many bins as stay in its L2. */
extern const struct cpu_counter cpu_counter_private;

/* Bin numbers are staged by region of the histogram and counted region by region: any bins. */
extern const struct cpu_counter cpu_counter_partitioned;

/*
 * The private counter with a given number of increments after which its 32-bit counters are moved
 * to the histogram; for tests, since the real number is 2^32 - 1.
 */
enum status cpu_counter_private_open_limited(struct histogram *histogram, uint32_t limit,
                                             void **state, struct failure *failure);

#endif
