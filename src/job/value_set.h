/*
 * A set of integers, and whether a value is in it: one definition, compiled for host and device.
 *
 * The values are kept as distances x from the smallest. Where these lie close together the set is a
 * bitmap, bit x telling whether x is in it. Elsewhere it is the sorted x, with a directory by their
 * top bits: several times as many buckets as values, so that most buckets of evenly spread values
 * are empty or have one, and a binary search in the bucket for those that crowd together.
 *
 * A set is const once made, and all functions are thread-safe on one that is.
 */
#ifndef GPUHIST_VALUE_SET_H
#define GPUHIST_VALUE_SET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_set_form {
    VALUE_SET_BITMAP,
    VALUE_SET_SORTED,
};

struct value_set {
    enum value_set_form form;
    unsigned shift;   /* sorted: the bucket of x is x >> shift */
    uint64_t low;     /* the smallest value, as a key (element.h) */
    uint64_t last;    /* the largest less the smallest */
    uint64_t *words;  /* bitmap: bit x & 63 of words[x >> 6]; sorted: every x */
    uint32_t *starts; /* sorted: bucket b is words[starts[b]] up to words[starts[b + 1]] */
    size_t bytes;     /* of the memory at `words`, which holds both */
};

/* Sorts keys of a signed or unsigned type, removes duplicates, and returns how many are left. */
size_t value_set_sort(uint64_t *keys, size_t count, bool is_signed);

/*
 * Makes the set of keys[0..count), at least one, sorted by value_set_sort. Fails with STATUS_DATA
 * where there is no memory for it or there are 2^32 keys and more. The caller destroys it; the keys
 * stay its own.
 */
enum status value_set_init(struct value_set *set, const uint64_t *keys, size_t count,
                           struct failure *failure);

/* A set of zeros is allowed. */
void value_set_destroy(struct value_set *set);

/* The set as it is where a copy of its memory lies at `memory`; it owns nothing. */
struct value_set value_set_at(const struct value_set *set, void *memory);

#ifdef __CUDACC__
#define VALUE_SET_INLINE static __host__ __device__ __forceinline__
#else
#define VALUE_SET_INLINE static inline __attribute__((always_inline))
#endif

/* Whether the sorted set has x <= last. The loop halves [first, first + n) without a branch. */
VALUE_SET_INLINE bool value_set_search(const struct value_set *set, uint64_t x)
{
    const uint32_t *bucket = set->starts + (x >> set->shift);
    const uint64_t *first = set->words + bucket[0];
    uint32_t n = bucket[1] - bucket[0];

    while (n > 1) {
        uint32_t half = n / 2;
        first = first[half] <= x ? first + half : first;
        n -= half;
    }
    return n > 0 && *first == x;
}

/*
 * Whether the set has the value that is x more than its smallest; x wraps around for smaller ones,
 * modulo 2 to the bits of the type. `form` is set->form, see binning_index.
 */
VALUE_SET_INLINE bool value_set_contains(const struct value_set *set, enum value_set_form form,
                                         uint64_t x)
{
    if (x > set->last)
        return false;
    if (form == VALUE_SET_BITMAP)
        return set->words[x >> 6] >> (x & 63) & 1;
    return value_set_search(set, x);
}

#endif
