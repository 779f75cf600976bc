/*
 * A set of integers, with a membership test that is compiled for host and device.
 *
 * Values are stored as distances x from the smallest value. A dense set is a bitmap: bit x is set
 * if x is in the set. A sparse set is a sorted array of x with a directory indexed by the top bits
 * of x. The directory has several times as many buckets as values, so most buckets hold at most one
 * value if values are evenly spread. Within a bucket a binary search finds x.
 *
 * A set is constant after its construction. All functions are then thread-safe on it.
 */
#ifndef GPUHIST_VALUE_SET_H
#define GPUHIST_VALUE_SET_H

#include "lib/host_device.h"
#include "lib/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_set_form {
    VALUE_SET_BITMAP,
    VALUE_SET_SORTED,
};

struct value_set {
    enum value_set_form form;
    unsigned shift;   /* sorted: x is in bucket x >> shift */
    uint64_t low;     /* the smallest value, as a key (element.h) */
    uint64_t last;    /* the largest value minus the smallest */
    uint64_t *words;  /* bitmap: bit x & 63 of words[x >> 6]; sorted: every x */
    uint32_t *starts; /* sorted: bucket b is words[starts[b]] to words[starts[b + 1] - 1] */
    size_t bytes;     /* size of the memory at `words`, which has both arrays */
};

/*
 * Sorts keys of a signed or unsigned type in place and removes duplicates. Returns the number left.
 */
size_t value_set_sort(uint64_t *keys, size_t count, bool is_signed);

/*
 * Creates the set of keys[0..count), at least one, sorted by value_set_sort; the keys are copied.
 * Fails with STATUS_DATA if there is no memory or there are 2^32 or more keys. The caller destroys
 * the set.
 */
enum status value_set_init(struct value_set *set, const uint64_t *keys, size_t count,
                           struct failure *failure);

/* Frees the set. A zero-initialised set is allowed. Not thread-safe. */
void value_set_destroy(struct value_set *set);

/* Returns the set for a copy of its memory at `memory`. The result does not own the memory. */
struct value_set value_set_at(const struct value_set *set, void *memory);

/*
 * Returns whether the set contains the value smallest + x. For smaller values x wraps around,
 * modulo 2 to the number of bits of the type. `form` is set->form; see binning_index. In a sorted
 * set, the loop halves [first, first + n) without a branch.
 */
HOST_DEVICE_INLINE bool value_set_contains(const struct value_set *set, enum value_set_form form,
                                           uint64_t x)
{
    if (x > set->last)
        return false;
    if (form == VALUE_SET_BITMAP)
        return set->words[x >> 6] >> (x & 63) & 1;
    const uint32_t *bucket = set->starts + (x >> set->shift);
    const uint64_t *first = set->words + bucket[0];
    uint32_t n = bucket[1] - bucket[0];
    while (n > 1) {
        const uint32_t half = n / 2;
        first = first[half] <= x ? first + half : first;
        n -= half;
    }
    return n > 0 && *first == x;
}

#endif
