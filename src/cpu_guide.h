/*
 * Guides: bins of any kind by a look-up. The values are divided into *buckets*, whose widths grow
 * with the distance from a *centre* as those of an HdrHistogram (Tene, hdrhistogram.org): near it
 * they are one unit wide, and behind 2^(k+1) units there are 2^k of them for each power of 2. As
 * unit and k are chosen, buckets may as well all be equal. Wherever at most one bin begins within a
 * bucket, the bucket and one comparison tell the bin.
 *
 * Placing values, finding their buckets, is vector code. Looking up is that only where gathered
 * loads are quick (cpu_guide_gather.c): on Zen 4 they take 1.5 ns each, scalar ones 0.2
 * (cpu_counter_private.c).
 *
 * A guide is made from binning_index and binning_edge alone, so that they remain what defines bins.
 * It is const once made; all functions are thread-safe.
 */
#ifndef GPUHIST_CPU_GUIDE_H
#define GPUHIST_CPU_GUIDE_H

#include "job.h"

#include <stddef.h>
#include <stdint.h>

/* Values that are placed at once, so that they and their buckets stay in the L1. */
#define CPU_GUIDE_BLOCK 1024

/*
 * Where values lie: their buckets, and their distances from the lowest value, or of *packed* guides
 * from the lowest one of the bucket.
 */
struct cpu_guide_places {
    uint32_t buckets[CPU_GUIDE_BLOCK];
    uint32_t narrow[CPU_GUIDE_BLOCK]; /* if they are below 2^32 */
    uint64_t wide[CPU_GUIDE_BLOCK];   /* if they may be above */
};

struct cpu_guide;

/*
 * Places elements[0..count), at most CPU_GUIDE_BLOCK, and returns how many are outside the bins.
 * The elements need not be aligned.
 */
typedef size_t cpu_guide_place_function(const struct cpu_guide *guide, bool swapped,
                                        const void *elements, size_t count,
                                        struct cpu_guide_places *places);

/* Writes the bin numbers of elements, as cpu_index_function does. */
typedef size_t cpu_guide_index_function(const struct cpu_guide *guide, bool swapped,
                                        const void *elements, size_t count, uint32_t *indexes);

/*
 * Buckets that two bins and more begin in are *mixed*: their entry has not the bin of their lowest
 * value but that and `mixed`, a power of 2 above all bins, and the bin is to be looked for from
 * there on (cpu_guide_settle).
 *
 * A guide of equal buckets from the lowest value on is *packed* where bins are few enough: one word
 * of 32 bits, or of 64 if it is wide, has the bin in its upper part and in the `unit` lower bits
 * 2^unit less the threshold within the bucket, so that adding the distance carries into the bin.
 *
 * Behind the entries of buckets follow two more, for values below and above the bins.
 */
struct cpu_guide {
    const struct binning *binning; /* not owned */
    cpu_guide_place_function *place;
    cpu_guide_index_function *index; /* NULL: values are to be placed and looked up */
    bool is_wide;                    /* distances need 64 bits */
    bool has_mixed;                  /* buckets */
    bool is_packed;
    uint32_t mixed;
    uint32_t log2;        /* k */
    uint32_t unit;        /* as a power of 2, too */
    uint32_t side;        /* buckets on one side of the centre */
    uint64_t low;         /* the lowest value, as a key */
    uint64_t last;        /* the distance from it to the highest one */
    uint64_t limit;       /* the distance from it to the type's highest value */
    uint64_t centre;      /* its distance from the lowest value */
    uint64_t mask;        /* of the bits of distances that places have */
    uint64_t *thresholds; /* [2 * side + 2]; narrow: sums, see cpu_guide_find; packed, wide:
                             the words */
    uint32_t *bins;       /* [2 * side + 2]; wide: the bin of values below the threshold; packed,
                             narrow: the words */
};

/*
 * Makes the guide of a job, a histogram's of bins that private counters are used for; leaves *guide
 * NULL if there is none that pays. Fails with STATUS_DATA. The caller destroys it, before the job.
 */
enum status cpu_guide_create(const struct job *job, struct cpu_guide **guide,
                             struct failure *failure);

/*
 * That for packed guides of elements of so many bytes, wide if these are 8; NULL if there is none
 * that pays on this machine.
 */
cpu_guide_index_function *cpu_guide_gather_choose(unsigned bytes);

/* NULL is allowed. */
void cpu_guide_destroy(struct cpu_guide *guide);

/*
 * The bin of a value in that bucket, of that distance: 0 .. bins + 1, or `mixed` and more if the
 * bucket is. is_wide and is_packed are the guide's. A narrow sum is of a bin, in the upper half,
 * and 2^32 less the threshold: adding the distance carries into the bin.
 */
static inline __attribute__((always_inline)) uint64_t cpu_guide_find(const struct cpu_guide *guide,
                                                                     bool is_wide, bool is_packed,
                                                                     uint32_t bucket,
                                                                     uint64_t distance)
{
    if (is_packed && is_wide)
        return (guide->thresholds[bucket] + distance) >> guide->unit;
    if (is_packed)
        return (guide->bins[bucket] + (uint32_t)distance) >> guide->unit;
    if (is_wide)
        return guide->bins[bucket] + (distance >= guide->thresholds[bucket]);
    return (guide->thresholds[bucket] + distance) >> 32;
}

/* The bin of a value inside the bins, by its distance from the lowest one. */
static inline uint32_t cpu_guide_search(const struct cpu_guide *guide, uint64_t distance)
{
    return binning_index(guide->binning, guide->binning->form, guide->low + distance);
}

/*
 * The bin of a value of that distance that was found as `bin`: that itself, or if its bucket is
 * mixed, one of those that begin there, two as a rule.
 */
static inline uint32_t cpu_guide_settle(const struct cpu_guide *guide, uint32_t bin,
                                        uint64_t distance)
{
    const uint64_t *starts = guide->binning->starts;
    uint64_t x = guide->low + distance - guide->binning->low;

    if (bin < guide->mixed)
        return bin;
    if (!starts || x == UINT64_MAX) /* as are the starts behind the last bin's */
        return cpu_guide_search(guide, distance);
    bin -= guide->mixed;
    bin += starts[bin + 1] <= x;
    bin += starts[bin + 1] <= x;
    return starts[bin + 1] <= x ? cpu_guide_search(guide, distance) : bin;
}

#endif
