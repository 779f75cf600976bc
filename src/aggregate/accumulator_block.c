/*
 * The loops of accumulators over blocks of elements, for each type and instruction set. Their words
 * are as narrow as possible, so that vectors have many; the loops over values with a row each
 * (accumulator.c) take 2 to 17 times as long.
 */
#include "config.h"

#include "aggregate/accumulator.h"

#include "lib/cpu_isa.h"

#define ACCUMULATOR_INLINE static inline __attribute__((always_inline))

_Static_assert(ACCUMULATOR_BLOCK <= UINT16_MAX, "16-bit counters take a block");

/*
 * Computes the sum of a block, in the narrowest words possible, so that vectors have many: the sum
 * of 2^12 elements below 2^16 fits in 32 bits, and that of 32-bit halves in 64.
 */
ACCUMULATOR_INLINE void accumulator_block_sum(struct element element, const char *elements,
                                              size_t count, uint64_t *words)
{
    int32_t narrow = 0;
    int64_t sum = 0;
    uint64_t low = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t key = element_load(element.type, elements + i * element.bytes);
        if (element.bytes <= 2) {
            narrow += (int32_t)key;
        } else if (element.bytes == 4) {
            sum += (int64_t)key;
        } else {
            low += (uint32_t)key;
            sum += element.is_signed ? (int64_t)key >> 32 : (int64_t)(key >> 32);
        }
    }
    const unsigned __int128 total = element.bytes == 8
                                        ? ((unsigned __int128)(__int128)sum << 32) + low
                                        : (unsigned __int128)((__int128)sum + narrow);
    words[0] = (uint64_t)total;
    words[1] = (uint64_t)(total >> 64);
}

/* Computes the sum of the squares of a block, in words as narrow as possible. */
ACCUMULATOR_INLINE void accumulator_block_squares(struct element element, const char *elements,
                                                  size_t count, uint64_t *words)
{
    uint32_t narrow = 0;
    uint64_t low = 0;
    uint64_t high = 0;
    unsigned __int128 wide_low = 0;
    unsigned __int128 wide_high = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t key = element_load(element.type, elements + i * element.bytes);
        int64_t value = (int64_t)key; /* signed, so that a widening multiplication is found */
        if (element.bytes == 1) {
            int32_t square = (int32_t)value * (int32_t)value;
            narrow += (uint32_t)square;
        } else if (element.bytes == 2) {
            low += (uint32_t)key * (uint32_t)key;
        } else if (element.bytes == 4) {
            int64_t signed_square = element.is_signed ? value * value : 0;
            uint64_t square = element.is_signed ? (uint64_t)signed_square : key * key;
            low += (uint32_t)square;
            high += square >> 32;
        } else {
            uint64_t size = element.is_signed && value < 0 ? -key : key;
            unsigned __int128 square = (unsigned __int128)size * size;
            wide_low += (uint64_t)square;
            wide_high += square >> 64;
        }
    }
    if (element.bytes < 8)
        wide_low = ((unsigned __int128)high << 32) + low + narrow;
    wide_high += wide_low >> 64;
    words[0] = (uint64_t)wide_low;
    words[1] = (uint64_t)wide_high;
    words[2] = (uint64_t)(wide_high >> 64);
}

/*
 * Folds a block to the key of an accumulator. There is a loop for each type, because vectors of
 * keys would have fewer elements.
 */
#define ACCUMULATOR_DEFINE_FOLD(id, name, ctype)                                                  \
    ACCUMULATOR_INLINE uint64_t accumulator_block_fold_##name(enum accumulator_id fold,           \
                                                              const char *elements, size_t count) \
    {                                                                                             \
        ctype result = fold == ACCUMULATOR_XOR ? 0 : (ctype)element_load(ELEMENT_##id, elements); \
        for (size_t i = 0; i < count; i++) {                                                      \
            ctype value = (ctype)element_load(ELEMENT_##id, elements + i * sizeof value);         \
            result = (ctype)(fold == ACCUMULATOR_MIN   ? value < result ? value : result          \
                             : fold == ACCUMULATOR_MAX ? value > result ? value : result          \
                             : fold == ACCUMULATOR_AND ? result & value                           \
                             : fold == ACCUMULATOR_OR  ? result | value                           \
                                                       : result ^ value);                          \
        }                                                                                         \
        return (uint64_t)(int64_t)result;                                                         \
    }
ELEMENT_TYPES(ACCUMULATOR_DEFINE_FOLD)

/* X(bits, type of hits): the widths of elements. The loops use the unsigned type of each width. */
#define ACCUMULATOR_WIDTHS(X) X(8, uint16_t) X(16, uint16_t) X(32, uint32_t) X(64, uint64_t)

/*
 * The loops of a width: they count the elements in an interval, and those in a set of a constant
 * form. With narrow counters, vectors have more. GB/s in L1 with AVX-512, for counters of 8, 16 and
 * 32 bits: 8-bit elements 14 (in blocks of 255), 45, 23; 16-bit elements -, 85, 43.
 */
#define ACCUMULATOR_DEFINE_HITS(bits, hits_type)                                                   \
    ACCUMULATOR_INLINE uint64_t accumulator_block_interval##bits(const char *elements,             \
                                                                 size_t count, uint##bits##_t low, \
                                                                 uint##bits##_t last)              \
    {                                                                                              \
        hits_type hits = 0;                                                                        \
        for (size_t i = 0; i < count; i++, elements += sizeof low) {                               \
            const uint##bits##_t word = (uint##bits##_t)element_load(ELEMENT_U##bits, elements);   \
            hits = (hits_type)(hits + ((uint##bits##_t)(word - low) <= last));                     \
        }                                                                                          \
        return hits;                                                                               \
    }                                                                                              \
    ACCUMULATOR_INLINE uint64_t accumulator_block_set##bits(const char *elements, size_t count,    \
                                                            const struct value_set *set,           \
                                                            enum value_set_form form)              \
    {                                                                                              \
        const uint##bits##_t low = (uint##bits##_t)set->low;                                       \
        uint64_t hits = 0;                                                                         \
        for (size_t i = 0; i < count; i++, elements += sizeof low) {                               \
            const uint##bits##_t word = (uint##bits##_t)element_load(ELEMENT_U##bits, elements);   \
            hits += value_set_contains(set, form, (uint##bits##_t)(word - low));                   \
        }                                                                                          \
        return hits;                                                                               \
    }                                                                                              \
    ACCUMULATOR_INLINE uint64_t accumulator_block_hits##bits(const char *elements, size_t count,   \
                                                             const struct predicate *predicate)    \
    {                                                                                              \
        const struct value_set *set = &predicate->set;                                             \
        if (predicate->form == PREDICATE_INTERVAL)                                                 \
            return accumulator_block_interval##bits(elements, count,                               \
                                                    (uint##bits##_t)predicate->low,                \
                                                    (uint##bits##_t)predicate->last);              \
        if (predicate->form == PREDICATE_SET && set->form == VALUE_SET_BITMAP)                     \
            return accumulator_block_set##bits(elements, count, set, VALUE_SET_BITMAP);            \
        if (predicate->form == PREDICATE_SET)                                                      \
            return accumulator_block_set##bits(elements, count, set, VALUE_SET_SORTED);            \
        return 0;                                                                                  \
    }
ACCUMULATOR_WIDTHS(ACCUMULATOR_DEFINE_HITS)

/* An accumulator_block_function for a constant type, and the fold of that type. */
ACCUMULATOR_INLINE void accumulator_block(
    struct element element, uint64_t (*fold)(enum accumulator_id, const char *, size_t),
    const struct accumulator_use *use, const char *elements, size_t count, uint64_t *words)
{
    switch (use->id) {
    case ACCUMULATOR_SUM:
        accumulator_block_sum(element, elements, count, words);
        return;
    case ACCUMULATOR_SQUARES:
        accumulator_block_squares(element, elements, count, words);
        return;
    case ACCUMULATOR_MIN:
        *words = fold(ACCUMULATOR_MIN, elements, count);
        return;
    case ACCUMULATOR_MAX:
        *words = fold(ACCUMULATOR_MAX, elements, count);
        return;
    case ACCUMULATOR_AND:
        *words = fold(ACCUMULATOR_AND, elements, count);
        return;
    case ACCUMULATOR_OR:
        *words = fold(ACCUMULATOR_OR, elements, count);
        return;
    case ACCUMULATOR_XOR:
        *words = fold(ACCUMULATOR_XOR, elements, count);
        return;
    default:
        *words = element.bytes == 1   ? accumulator_block_hits8(elements, count, use->predicate)
                 : element.bytes == 2 ? accumulator_block_hits16(elements, count, use->predicate)
                 : element.bytes == 4 ? accumulator_block_hits32(elements, count, use->predicate)
                                      : accumulator_block_hits64(elements, count, use->predicate);
    }
}

/* The functions for each type and instruction set, and their table. */
#define ACCUMULATOR_WRAP(isa, target, id, name, ctype)                                      \
    target static void accumulator_block_##name##_##isa(const struct accumulator_use *use,  \
                                                        const void *elements, size_t count, \
                                                        uint64_t *words)                    \
    {                                                                                       \
        accumulator_block(ELEMENT_OF(id, name, ctype), accumulator_block_fold_##name, use,  \
                          elements, count, words);                                          \
    }
#define ACCUMULATOR_WRAP_TYPE(id, name, ctype) CPU_ISA_VARIANTS(ACCUMULATOR_WRAP, id, name, ctype)
ELEMENT_TYPES(ACCUMULATOR_WRAP_TYPE)

#define ACCUMULATOR_ENTRY(isa, target, name) accumulator_block_##name##_##isa,
#define ACCUMULATOR_TYPE(id, name, ctype) \
    [ELEMENT_##id] = {CPU_ISA_VARIANTS(ACCUMULATOR_ENTRY, name)},

accumulator_block_function *accumulator_block_of(enum element_type type)
{
    static accumulator_block_function *const functions[ELEMENT_TYPE_COUNT][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(ACCUMULATOR_TYPE)};

    return functions[type][cpu_isa_best()];
}
