/* Constructs sets of values: a bitmap, or a sorted array with a directory. */
#include "config.h"

#include "value/value_set.h"

#include "lib/memory.h"
#include "lib/resources.h"

#include <stdlib.h>

/*
 * Number of bits up to which a bitmap is always used: 64 KiB, which stay in L2, and all 16-bit
 * values.
 */
#define VALUE_SET_BITMAP_SMALL ((uint64_t)1 << 19)

/*
 * Maximum number of bits per value of a larger bitmap: about the memory of the sorted form, 192 to
 * 320 bits.
 */
#define VALUE_SET_BITMAP_SPREAD 256

/*
 * Log2 of the minimum number of directory buckets per value: 4 to 8. Seconds for 64Mi random int32
 * on two cores:
 *
 *   buckets per value      1     2     4  8 to 16
 *   set of 1000         0.25  0.20  0.12     0.10
 *   set of a million     1.1   1.0   1.0     0.95
 */
#define VALUE_SET_BUCKETS_LOG2 2

static int value_set_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

size_t value_set_sort(uint64_t *keys, size_t count, bool is_signed)
{
    const uint64_t sign_bias = (uint64_t)is_signed << 63; /* signed keys then compare as unsigned */
    size_t unique = 0;

    if (count == 0) /* `keys` may be NULL */
        return 0;
    for (size_t i = 0; i < count; i++)
        keys[i] ^= sign_bias;
    qsort(keys, count, sizeof *keys, value_set_compare);
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = keys[i] ^ sign_bias;
        if (unique == 0 || key != keys[unique - 1])
            keys[unique++] = key;
    }
    return unique;
}

enum status value_set_init(struct value_set *set, const uint64_t *keys, size_t count,
                           struct failure *failure)
{
    const uint64_t last = keys[count - 1] - keys[0];
    const unsigned bits = 64 - (unsigned)__builtin_clzll(last | 1);
    const unsigned bucket_bits = 64 - (unsigned)__builtin_clzll(count) + VALUE_SET_BUCKETS_LOG2;
    const unsigned shift = bits > bucket_bits ? bits - bucket_bits : 0;
    const bool is_bitmap = last < VALUE_SET_BITMAP_SMALL || last / VALUE_SET_BITMAP_SPREAD < count;
    const size_t words = is_bitmap ? (size_t)(last >> 6) + 1 : count;
    const size_t starts = is_bitmap ? 0 : (size_t)(last >> shift) + 2;
    const size_t bytes = words * sizeof *set->words + starts * sizeof *set->starts;
    size_t next = 0; /* the first bucket whose start is unknown */

    *set = (struct value_set){
        .form = is_bitmap ? VALUE_SET_BITMAP : VALUE_SET_SORTED,
        .shift = shift,
        .low = keys[0],
        .last = last,
        .bytes = bytes,
    };
    if (count > UINT32_MAX)
        return status_fail(failure, STATUS_DATA, "a set of %zu values is too large", count);
    set->words = resources_have_memory(bytes) ? memory_map(bytes) : NULL;
    if (!set->words)
        return status_fail(failure, STATUS_DATA, "not enough memory for a set of %zu values",
                           count);
    set->starts = (uint32_t *)(set->words + words);
    for (size_t i = 0; i < count; i++) {
        const uint64_t x = keys[i] - set->low;
        if (is_bitmap) {
            set->words[x >> 6] |= (uint64_t)1 << (x & 63);
            continue;
        }
        set->words[i] = x;
        for (; next <= x >> shift; next++)
            set->starts[next] = (uint32_t)i;
    }
    if (!is_bitmap)
        set->starts[starts - 1] = (uint32_t)count; /* one past the last bucket */
    return STATUS_OK;
}

void value_set_destroy(struct value_set *set)
{
    memory_unmap(set->words, set->bytes);
}

struct value_set value_set_at(const struct value_set *set, void *memory)
{
    struct value_set moved = *set;
    size_t words = (size_t)((const uint64_t *)(const void *)set->starts - set->words);

    moved.words = memory;
    moved.starts = (uint32_t *)(moved.words + words);
    return moved;
}
