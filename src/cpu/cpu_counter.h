/*
 * Counters: two ways for a CPU thread to count bin numbers, each with memory of its own, merged
 * into the shared histogram in the end. Which one pays depends on the number of bins.
 */
#ifndef GPUHIST_CPU_COUNTER_H
#define GPUHIST_CPU_COUNTER_H

#include "cpu/cpu_guide.h"
#include "cpu/cpu_index.h"
#include "cpu/cpu_tree.h"
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

/* Bin numbers are staged by region of the histogram and counted region by region: any bins. */
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
 * From here on what is counted are ranks (binning.h) instead of bin numbers. The histogram is of
 * nothing but bins and what is outside. The state is of cpu_counter_private.
 */
void cpu_counter_private_take_ranks(void *state);

/* Whether what was counted so far has anything outside the bins. The state as above. */
bool cpu_counter_private_has_outside(const void *state);

/*
 * Counts elements[0..n), which need not be aligned, in the bins that the function computes, those
 * of the histogram's binning; their numbers are left in indexes[0..n). Without `has_outside` those
 * outside the bins are not counted, and are never to be in this state; returns how many these are.
 * The state is of cpu_counter_private, and takes bin numbers.
 */
size_t cpu_counter_private_count_elements(void *state, cpu_index_function *index,
                                          const struct binning *binning,
                                          const struct element *element, const void *elements,
                                          size_t n, uint32_t *indexes, bool has_outside);

/*
 * Counts keys[0..n) of a guide of the histogram's binning, of pairs distances in buckets[0..n),
 * which are not looked at otherwise; keys need not be aligned. The state is of cpu_counter_private,
 * and takes ranks. Returns how many keys are in mixed buckets, which take longer.
 */
size_t cpu_counter_private_count_keys(void *state, const struct cpu_guide *guide, const void *keys,
                                      const uint32_t *buckets, size_t n);

/*
 * Counts elements[0..n), of so many bytes each, which need not be aligned, by a tree of the
 * histogram's binning. The state is of cpu_counter_private, and takes ranks. Returns how many were
 * found twice, as the tree's `count` does.
 */
size_t cpu_counter_private_count_tree(void *state, const struct cpu_tree *tree, bool swapped,
                                      const void *elements, size_t bytes, size_t n);

/*
 * Counts elements[0..n), words of 16 bits that need not be aligned, in the entries that map[] has
 * for them. The state is of cpu_counter_private, and takes bin numbers.
 */
void cpu_counter_private_count_mapped(void *state, const uint16_t *map, const void *elements,
                                      size_t n);

/*
 * The private counter with a given number of increments after which its 32-bit counters are moved
 * to the histogram; for tests, since the real number is 2^32 - 1.
 */
enum status cpu_counter_private_open_limited(struct histogram *histogram, uint32_t limit,
                                             void **state, struct failure *failure);

#endif
