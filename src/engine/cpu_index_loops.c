/*
 * Quotients are computed with doubles: integer vectors have neither division nor 64-bit products.
 * The bin of x is the integer part of (x + a) * n / d; a is the distance from the first bin's start
 * to the origin.
 *
 * Exact quotients: ((x + a) * n + 1/2) / d has a fraction of at least 1 / (2d) and at most
 * 1 - 1 / (2d). Its relative rounding errors add up to less than 3 * 2^-53; for 32-bit keys,
 * relative to the value for x = 2^32. If (x + a) * n is below 2^50, the error is less than 1 /
 * (2d), and the integer part is right.
 *
 * Rounded quotients are below 2^31 and thus right to 2^-19. If a slightly larger and a slightly
 * smaller quotient differ in their integer parts, which is rare, the definition decides
 * (binning_index.h).
 */
#include "config.h"

#include "engine/cpu_index_loops.h"

#include "lib/cpu_isa.h"
#include "value/binning_index.h"

#include <string.h>

#define CPU_INDEX_INLINE static inline __attribute__((always_inline))

/*
 * CPUs without AVX-512 cannot count leading zeros in vectors, but the exponent of a float
 * gives the same number. To keep rounding from carrying into the exponent, one digit below the
 * needed precision is cleared first: the 23rd of a 32-bit word, the 52nd of a 64-bit word.
 */

/* For each width: the bits of a float's mantissa, and the bias of its exponent. */
#define CPU_EXPONENT_DIGITS32 23
#define CPU_EXPONENT_DIGITS64 52
#define CPU_EXPONENT_BIAS32   127
#define CPU_EXPONENT_BIAS64   1023

/* A word that is also a double. */
union cpu_exponent_double {
    uint64_t bits;
    double number;
};

/*
 * Converts a number to a double, rounded. Places each half in the mantissa of 2^52 or 2^84, whose
 * lowest bits then have the values of that half.
 */
CPU_INDEX_INLINE union cpu_exponent_double cpu_exponent_double(uint64_t number)
{
    const union cpu_exponent_double low = {(number & UINT32_MAX) | 0x4330000000000000};
    const union cpu_exponent_double high = {number >> 32 | 0x4530000000000000};

    return (union cpu_exponent_double){.number = high.number - (0x1p84 + 0x1p52) + low.number};
}

/*
 * Return floor(log2(number)), or 0 for 0; by counting zeros if counts_zeros, a constant. A 32-bit
 * number is halved before conversion, so that it fits a signed word.
 */
CPU_INDEX_INLINE uint32_t cpu_exponent32(bool counts_zeros, uint32_t number)
{
    const uint32_t half = number >> 1;
    const union {
        float number;
        uint32_t bits;
    } rounded = {(float)(int32_t)(half & ~(half >> 22)) + 0.5f};

    return counts_zeros ? 31 - (uint32_t)__builtin_clz(number | 1)
                        : (rounded.bits >> CPU_EXPONENT_DIGITS32) + 1 - CPU_EXPONENT_BIAS32;
}

CPU_INDEX_INLINE uint32_t cpu_exponent64(bool counts_zeros, uint64_t number)
{
    const uint64_t rounded = cpu_exponent_double((number | 1) & ~(number >> 51)).bits;

    return counts_zeros ? 63 - (uint32_t)__builtin_clzll(number | 1)
                        : (uint32_t)(rounded >> CPU_EXPONENT_DIGITS64) - CPU_EXPONENT_BIAS64;
}

/* More than the error of rounded quotients. */
#define CPU_INDEX_ERROR 0x1p-18

/*
 * In the functions below, `way`, `is_simple` and `has_words` are constants. `has_words`: the
 * instruction set converts vectors of 64-bit words to doubles and counts leading zeros
 * (CPU_ISA_HAS_WORDS).
 */

/* Returns the bin number of a 32-bit key, or its bucket (binning_bucket). */
CPU_INDEX_INLINE uint32_t cpu_index_bin32(const struct cpu_index_terms *terms,
                                          enum cpu_index_way way, bool is_simple, bool has_words,
                                          uint32_t key)
{
    const struct binning *binning = terms->binning;

    if (way == CPU_INDEX_POWERS) {
        const uint32_t sign = (0 - (key >> 31)) & (uint32_t)terms->signs;
        const uint32_t magnitude = (key ^ sign) - sign;
        const uint32_t digits = is_simple ? cpu_exponent32(has_words, magnitude) + (magnitude > 0)
                                          : binning_digits10_32(magnitude);
        return binning->zero + ((digits ^ sign) - sign);
    }
    const uint32_t half = (uint32_t)1 << 31; /* AVX2 compares only signed words */
    const int32_t shifted = (int32_t)(key - ((uint32_t)terms->origin + half));
    const bool is_inside = shifted <= (int32_t)((uint32_t)terms->last - half);
    const bool is_above = shifted <= (int32_t)((uint32_t)terms->limit - half);
    const uint32_t outside =
        is_above ? terms->above : terms->below; /* as one expression, gcc needs more masks */
    const uint32_t x = is_inside ? (uint32_t)shifted + half : 0;
    uint32_t bin;

    if (way == CPU_INDEX_UNITS) {
        bin = x + (uint32_t)terms->added;
    } else if (way == CPU_INDEX_QUOTIENT) { /* AVX2 converts only signed words */
        bin = (uint32_t)(int32_t)((double)(int32_t)(x - ((uint32_t)1 << 31)) * terms->reciprocal +
                                  (terms->offset + 0x1p31 * terms->reciprocal));
    } else if (is_simple) {
        bin = x >> binning->shift;
    } else {
        const uint32_t centre = (uint32_t)binning->centre;
        const uint32_t mask = x < centre ? UINT32_MAX : 0;
        const uint32_t distance = (x - centre) ^ mask;
        const uint32_t leading = (uint32_t)1 << binning->shift;
        const uint32_t excess = cpu_exponent32(has_words, distance | leading) - binning->shift;
        bin = binning->side + (((excess << binning->shift) + (distance >> excess)) ^ mask);
    }
    return is_inside ? bin : outside;
}

/* Returns the bin of a 64-bit key; a rounded quotient is right unless bits of *doubt are set. */
CPU_INDEX_INLINE uint32_t cpu_index_bin64(const struct cpu_index_terms *terms,
                                          enum cpu_index_way way, bool is_simple, bool has_words,
                                          uint64_t key, uint32_t *doubt)
{
    const struct binning *binning = terms->binning;

    if (way == CPU_INDEX_POWERS) {
        const uint64_t sign = (0 - (key >> 63)) & terms->signs;
        const uint64_t magnitude = (key ^ sign) - sign;
        const uint64_t digits2 = cpu_exponent64(has_words, magnitude) + (magnitude > 0);
        const uint64_t digits = is_simple ? digits2 : binning_digits10_of(digits2, magnitude);
        return binning->zero + (uint32_t)((digits ^ sign) - sign);
    }
    const uint64_t half = (uint64_t)1 << 63;
    const int64_t shifted = (int64_t)(key - (terms->origin + half));
    const bool is_inside = shifted <= (int64_t)(terms->last - half);
    const bool is_above = shifted <= (int64_t)(terms->limit - half);
    const uint32_t outside = is_above ? terms->above : terms->below;
    const uint64_t x =
        ((uint64_t)shifted + half) & (0 - (uint64_t)is_inside); /* a branch prevents vector code */
    uint32_t bin;

    if (way == CPU_INDEX_UNITS) { /* x is the number of the bin */
        bin = (uint32_t)x;
    } else if (way == CPU_INDEX_QUOTIENT) {
        const union cpu_exponent_double above = {x | 0x4330000000000000}; /* 2^52 + x, x < 2^52 */
        const double number = has_words   ? (double)x
                              : is_simple ? above.number - 0x1p52
                                          : cpu_exponent_double(x).number;
        const double quotient = number * terms->reciprocal + terms->offset;
        const double error = is_simple ? 0 : CPU_INDEX_ERROR;
        const uint32_t lower = (uint32_t)(int32_t)(quotient - error);
        bin = (uint32_t)(int32_t)(quotient + error);
        *doubt |= lower ^ bin;
    } else if (is_simple) {
        bin = (uint32_t)(x >> binning->shift);
    } else {
        const uint64_t mask = x < binning->centre ? UINT64_MAX : 0;
        const uint64_t distance = (x - binning->centre) ^ mask;
        const uint64_t leading = (uint64_t)1 << binning->shift;
        const uint64_t excess = cpu_exponent64(has_words, distance | leading) - binning->shift;
        bin =
            binning->side + (uint32_t)(((excess << binning->shift) + (distance >> excess)) ^ mask);
    }
    return is_inside ? bin : outside;
}

/* Returns key i, which has `bits` bits. */
CPU_INDEX_INLINE uint64_t cpu_index_key(unsigned bits, const char *keys, size_t i)
{
    uint32_t narrow;
    uint64_t wide;

    if (bits == 64) {
        memcpy(&wide, keys + i * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, keys + i * sizeof narrow, sizeof narrow);
    return narrow;
}

/* Like binning_index, but not inlined: for the few keys with doubtful quotients. */
static __attribute__((noinline)) uint32_t cpu_index_define(const struct binning *binning,
                                                           uint64_t key)
{
    return binning_index(binning, binning->form, key);
}

/* Like binning_search, but not inlined: for the few crowded buckets. */
static __attribute__((noinline)) uint32_t cpu_index_search(const struct binning *binning,
                                                           uint32_t bucket, uint64_t x)
{
    return binning_search(binning, bucket, x);
}

/* Buckets per round of the look-up loop; divides the size of a group. */
#define CPU_INDEX_LOOK_UPS 4

/* Replaces the buckets of keys, indexes[0..count), by their bin numbers. */
CPU_INDEX_INLINE void cpu_index_look_up(const struct cpu_index_terms *terms, unsigned bits,
                                        const char *restrict keys, size_t count,
                                        uint32_t *restrict indexes)
{
    const uint32_t *firsts = binning_firsts(terms->binning);
    const uint64_t *const lasts = binning_lasts(terms->binning);
    const uint64_t origin = terms->origin;

    __asm__("" : "+r"(firsts)); /* else compilers compute the sum for each key */
    for (size_t i = 0; i < count; i += CPU_INDEX_LOOK_UPS) {
        _Pragma("GCC unroll 4") for (size_t k = i; k < i + CPU_INDEX_LOOK_UPS; k++)
        {
            const uint64_t key = cpu_index_key(bits, keys, k);
            const uint64_t x = bits == 32 ? (uint32_t)key - (uint32_t)origin : key - origin;
            const uint32_t first = firsts[indexes[k]];
            if (__builtin_expect(first >= BINNING_CROWDED, 0))
                indexes[k] = cpu_index_search(terms->binning, indexes[k], x);
            else
                indexes[k] = first + (x > lasts[first]);
        }
    }
}

/* Computes the bin numbers or buckets of a group. */
CPU_INDEX_INLINE void cpu_index_group(enum cpu_index_way way, unsigned bits, bool is_simple,
                                      bool has_words, const struct cpu_index_terms *terms,
                                      const char *restrict keys, uint32_t *restrict indexes)
{
    uint32_t doubt = terms->doubt;

    for (size_t i = 0; i < CPU_INDEX_GROUP; i++) {
        const uint64_t key = cpu_index_key(bits, keys, i);
        if (bits == 32)
            indexes[i] = cpu_index_bin32(terms, way, is_simple, has_words, (uint32_t)key);
        else
            indexes[i] = cpu_index_bin64(terms, way, is_simple, has_words, key, &doubt);
    }
    if (way != CPU_INDEX_QUOTIENT || bits != 64 || is_simple || __builtin_expect(doubt == 0, 1))
        return;
    for (size_t i = 0; i < CPU_INDEX_GROUP; i++)
        indexes[i] = cpu_index_define(terms->binning, cpu_index_key(bits, keys, i));
}

/* A cpu_index_loop. */
CPU_INDEX_INLINE void cpu_index_run(enum cpu_index_way way, unsigned bits, bool has_words,
                                    const struct cpu_index_terms *terms, const char *keys,
                                    size_t count, uint32_t *indexes)
{
    const struct binning binning = *terms->binning; /* a copy: stores to indexes cannot change it */
    struct cpu_index_terms local = *terms;          /* also a copy */
    local.binning = &binning;

    if ((way == CPU_INDEX_QUOTIENT && bits == 32) || local.is_simple) {
        for (size_t i = 0; i < count; i += CPU_INDEX_GROUP)
            cpu_index_group(way, bits, true, has_words, &local, keys + i * bits / 8, indexes + i);
    } else {
        for (size_t i = 0; i < count; i += CPU_INDEX_GROUP)
            cpu_index_group(way, bits, false, has_words, &local, keys + i * bits / 8, indexes + i);
    }
    if (way == CPU_INDEX_BUCKETS)
        cpu_index_look_up(&local, bits, keys, count, indexes);
}

/* The loops for each instruction set, and their table. */
#define CPU_INDEX_WRAP(isa, target, way, bits)                                                     \
    target static void cpu_index_##way##_##bits##_##isa(const struct cpu_index_terms *terms,       \
                                                        const void *keys, size_t count,            \
                                                        uint32_t *indexes)                         \
    {                                                                                              \
        cpu_index_run(CPU_INDEX_##way, bits, CPU_ISA_HAS_WORDS(isa), terms, keys, count, indexes); \
    }
#define CPU_INDEX_DEFINE(way, bits) CPU_ISA_VARIANTS(CPU_INDEX_WRAP, way, bits)
CPU_INDEX_LOOPS(CPU_INDEX_DEFINE)

cpu_index_loop *cpu_index_loops_choose(enum cpu_index_way way, unsigned key_bytes)
{
#define CPU_INDEX_ENTRY(isa, target, way, bits) cpu_index_##way##_##bits##_##isa,
#define CPU_INDEX_ROW(way, bits) \
    [CPU_INDEX_##way][bits / 64] = {CPU_ISA_VARIANTS(CPU_INDEX_ENTRY, way, bits)},
    static cpu_index_loop *const loops[][2][CPU_ISA_COUNT] = {CPU_INDEX_LOOPS(CPU_INDEX_ROW)};
    return loops[way][key_bytes / 8][cpu_isa_best()];
}

#define CPU_INDEX_WRAP_OUTSIDE(isa, target, ...)                                        \
    target static size_t cpu_index_outside_##isa(const uint32_t *indexes, size_t count, \
                                                 uint32_t bins)                         \
    {                                                                                   \
        uint32_t outside = 0;                                                           \
        for (size_t i = 0; i < count; i++)                                              \
            outside += indexes[i] >= bins;                                              \
        return outside;                                                                 \
    }
CPU_ISA_VARIANTS(CPU_INDEX_WRAP_OUTSIDE, )

size_t cpu_index_outside(const uint32_t *indexes, size_t count, uint32_t bins)
{
#define CPU_INDEX_ENTRY_OUTSIDE(isa, target, ...) cpu_index_outside_##isa,
    static size_t (*const functions[CPU_ISA_COUNT])(const uint32_t *, size_t, uint32_t) = {
        CPU_ISA_VARIANTS(CPU_INDEX_ENTRY_OUTSIDE, )};
    return functions[cpu_isa_best()](indexes, count, bins);
}
