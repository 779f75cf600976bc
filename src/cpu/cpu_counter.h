/*
 * Counters: two ways for a CPU thread to count bin numbers, each with memory of its own, merged
 * into the shared histogram in the end. Which one pays depends on the number of bins.
 */
#ifndef GPUHIST_CPU_COUNTER_H
#define GPUHIST_CPU_COUNTER_H

#include "operations/histogram.h"

struct cpu_counter {
    enum status (*open)(struct histogram *histogram, void **state, struct failure *failure);
    /* Counts indexes[0..n), bin numbers, each below histogram->entries. */
    void (*count)(void *state, const uint32_t *indexes, size_t n);
    /* Adds to the histogram whatever is not there yet. */
    void (*flush)(void *state);
    /* Counts in another one from now on, after a flush, with the same memory. Fails as open does;
       the state is to be closed then. NULL: it is to be closed and opened. */
    enum status (*move)(void *state, struct histogram *histogram, struct failure *failure);
    /* NULL is allowed. */
    void (*close)(void *state);
};

/* Tables of the thread's own, for as many bins as stay in its L2. */
extern const struct cpu_counter cpu_counter_private;

/* Bin numbers are gathered by region of the histogram and counted region by region: any bins. */
extern const struct cpu_counter cpu_counter_partitioned;

/*
 * The most entries that private tables are used for: 2 MiB a thread, its share of a common L3.
 * Seconds for 64Mi uniform int32 on two cores (1 MiB of L2 each, 32 MiB of L3), private and
 * partitioned: 16,000 bins 0.048 0.078, 128,000 0.056 0.077, 512,000 0.052 0.082,
 * 1,000,000 0.071 0.118.
 */
#define CPU_COUNTER_PRIVATE_MAX ((size_t)512 << 10)

/* The one to count in that histogram. */
static inline const struct cpu_counter *cpu_counter_choose(const struct histogram *histogram)
{
    return histogram->entries <= CPU_COUNTER_PRIVATE_MAX ? &cpu_counter_private
                                                         : &cpu_counter_partitioned;
}

/*
 * The private counter with a given number of increments after which its 32-bit counters are moved
 * to the histogram; for tests, since the real number is 2^32 - 1.
 */
enum status cpu_counter_private_open_limited(struct histogram *histogram, uint32_t limit,
                                             void **state, struct failure *failure);

/* The partitioned counter with that region hot already, as if others counted in it; for tests. */
enum status cpu_counter_partitioned_open_hot(struct histogram *histogram, size_t region,
                                             void **state, struct failure *failure);

#endif
