/*
 * Guides: the ranks (binning.h) of values in bins of any kind, by a look-up. The values are divided
 * into *buckets*, of one width, or of widths that grow with the distance from a *centre* as those
 * of an HdrHistogram (Tene, hdrhistogram.org): near it they are one unit wide, and behind 2^(k+1)
 * units there are 2^k of them for each power of 2. Wherever at most one rank begins within a
 * bucket, one word tells the ranks of all its values.
 *
 * A value is looked up by its *key*, which has its bucket in the upper bits and in the `shift`
 * lower ones where it lies in the bucket. The word of a bucket has the rank that begins in it in
 * its upper bits, less the key which that begins at; the sum of key and word carries into the rank.
 *
 * Making keys is vector code; of equal buckets they may be the elements themselves. Words are
 * loaded one by one, or gathered where that is quick (cpu_guide_gather.h).
 *
 * A guide is made from binning_index and binning_edge alone, so that they remain what defines bins.
 * It is const once made; all functions are thread-safe.
 */
#ifndef GPUHIST_CPU_GUIDE_H
#define GPUHIST_CPU_GUIDE_H

#include "job/job.h"

#include <stddef.h>
#include <stdint.h>

/* Values that are placed at once, so that their keys stay in the L1. */
#define CPU_GUIDE_BLOCK 1024

/* What values are looked up by. */
enum cpu_guide_keys {
    CPU_GUIDE_NARROW, /* keys of 32 bits */
    CPU_GUIDE_WIDE,   /* of 64 bits; of unequal buckets the bucket and a distance of 32 bits */
    CPU_GUIDE_PAIRS,  /* of unequal ones, a bucket and a distance of 64 bits, apart */
};

struct cpu_guide_places {
    union {
        uint32_t narrow[CPU_GUIDE_BLOCK];     /* keys, */
        uint64_t wide[CPU_GUIDE_BLOCK];       /* or of pairs the distances */
        uint32_t halves[2 * CPU_GUIDE_BLOCK]; /* of wide ones */
    };
    uint32_t buckets[CPU_GUIDE_BLOCK]; /* of pairs */
};

struct cpu_guide;

/* Makes the keys of elements[0..count), at most CPU_GUIDE_BLOCK, which need not be aligned. */
typedef void cpu_guide_place_function(const struct cpu_guide *guide, bool swapped,
                                      const void *elements, size_t count,
                                      struct cpu_guide_places *places);

/*
 * Buckets that two ranks and more begin in are *mixed*: their word has not the rank of their lowest
 * value but that and `mixed`, a power of 2 above all ranks, and the rank is to be looked for from
 * there on (cpu_guide_settle).
 *
 * Distances are from the lowest value of the bins, modulo 2^32 or 2^64, and keys are distances plus
 * `offset`, of unequal buckets behind the bucket. What is outside has keys of two buckets behind
 * the others, unless there are buckets for all words of the elements.
 */
struct cpu_guide {
    const struct binning *binning; /* not owned */
    cpu_guide_place_function *place;
    enum cpu_guide_keys keys;
    bool is_even;    /* buckets are equal, */
    bool is_whole;   /* and there are some for all words of the elements */
    bool is_direct;  /* elements are keys */
    bool has_mixed;  /* buckets */
    bool is_short;   /* distances within the bins have 32 bits */
    unsigned choice; /* which shapes it was looked for among */
    uint32_t mixed;
    uint32_t log2;   /* k */
    uint32_t unit;   /* as a power of 2, too */
    uint32_t side;   /* buckets on one side of the centre */
    uint32_t shift;  /* bits of keys below the bucket's */
    uint64_t low;    /* the lowest value */
    uint64_t last;   /* the distance from it to the highest one */
    uint64_t limit;  /* the distance from it to the type's highest value */
    uint64_t centre; /* its distance from the lowest value */
    uint64_t offset; /* even: of keys from distances */
    uint64_t clamp;  /* even: the greatest distance that keys are made of */
    uint64_t below;  /* even: the keys of other ones */
    uint64_t above;
    uint32_t *narrow; /* words of narrow keys; of pairs the ranks below thresholds */
    uint64_t *wide;   /* words of wide keys; of pairs the thresholds */
};

/* The choice of equal buckets, which are the quickest, and the last one. */
#define CPU_GUIDE_FIRST_CHOICE 0
#define CPU_GUIDE_LAST_CHOICE  5

/*
 * Makes the guide of a job, a histogram's of bins that private counters are used for, of the first
 * shapes among choices `first` to `last` that will do; after a guide whose values are too often in
 * mixed buckets, from one more than its `choice` on. Leaves *guide NULL if there is none that pays.
 * Fails with STATUS_DATA. The caller destroys it, before the job.
 */
enum status cpu_guide_create(const struct job *job, unsigned first, unsigned last,
                             struct cpu_guide **guide, struct failure *failure);

/* NULL is allowed. */
void cpu_guide_destroy(struct cpu_guide *guide);

/* The bytes of a key, or of a pair's distance. */
static inline size_t cpu_guide_key_bytes(enum cpu_guide_keys keys)
{
    return keys == CPU_GUIDE_NARROW ? 4 : 8;
}

/*
 * The rank of a key, or of a pair's distance in that bucket: 0 .. bins + 1, or `mixed` and more if
 * the bucket is. `keys` is the guide's.
 */
static inline __attribute__((always_inline)) uint64_t cpu_guide_find(const struct cpu_guide *guide,
                                                                     enum cpu_guide_keys keys,
                                                                     uint64_t key, uint32_t bucket)
{
    switch (keys) {
    case CPU_GUIDE_NARROW:
        return (guide->narrow[(uint32_t)key >> guide->shift] + (uint32_t)key) >> guide->shift;
    case CPU_GUIDE_WIDE:
        return (guide->wide[key >> guide->shift] + key) >> guide->shift;
    case CPU_GUIDE_PAIRS:
        return guide->narrow[bucket] + (uint32_t)(key >= guide->wide[bucket]);
    }
    __builtin_unreachable();
}

/* The rank of a distance, by the binning alone. */
uint32_t cpu_guide_rank(const struct cpu_guide *guide, uint64_t distance);

/*
 * The rank of a key, or of a pair's distance, that was found as `rank`: that itself, or if its
 * bucket is mixed, one of those that begin there, two as a rule.
 */
static inline uint32_t cpu_guide_settle(const struct cpu_guide *guide, uint32_t rank, uint64_t key)
{
    const uint64_t *starts = guide->binning->starts;
    uint64_t distance = key - guide->offset;

    if (rank < guide->mixed)
        return rank;
    if (guide->is_short)
        distance = (uint32_t)distance;
    uint64_t x = guide->low + distance - guide->binning->low;
    if (!starts || distance > guide->last || x == UINT64_MAX) /* as are the starts behind all */
        return cpu_guide_rank(guide, distance);
    rank -= guide->mixed;
    rank += starts[rank] <= x;
    rank += starts[rank] <= x;
    return starts[rank] <= x ? cpu_guide_rank(guide, distance) : rank;
}

#endif
