#include "config.h"

#include "cpu/cpu_guide.h"

#include "base/cpu_isa.h"
#include "cpu/cpu_exponent.h"

#include <stdlib.h>
#include <string.h>

#define CPU_GUIDE_INLINE static inline __attribute__((always_inline))

/*
 * Buckets on one side: so that a guide, of 12 bytes a bucket at the most, stays in a core's L2. Of
 * many bins there may be so many of each, equal and unequal ones.
 */
#define CPU_GUIDE_SIDE_MAX       (24u << 10)
#define CPU_GUIDE_EVEN_PER_BIN   32
#define CPU_GUIDE_UNEVEN_PER_BIN 8

/*
 * The largest k; that of many bins, whose words stay in the L2; and of very many, which are quicker
 * looked up in the L3 than searched for. ns a value of int32 in 999 bins of random edges, k from 11
 * to 14: 0.77 0.70 0.71 0.73, of normal ones 1.29 0.83 0.71 (Zen 4); with what reading leaves of
 * the caches, and on Sapphire Rapids, 13 takes 3 to 8% less than 12.
 */
#define CPU_GUIDE_LOG2_MAX  13
#define CPU_GUIDE_LOG2_L2   17
#define CPU_GUIDE_LOG2_MANY 20

/*
 * The bucket of a distance from the lowest value, in words of 32 and of 64 bits, which are counted
 * in units. Below the centre it is one of the second side, as is the centre's own. `is_centred`:
 * the centre may be above 0. It is computed by floats if these are for words of so many bits.
 */
#define CPU_GUIDE_DEFINE_BUCKET(bits)                                                      \
    CPU_GUIDE_INLINE uint32_t cpu_guide_count##bits(uint32_t log2, uint##bits##_t units)   \
    {                                                                                      \
        uint##bits##_t least = (uint##bits##_t)1 << log2;                                  \
        uint32_t shift = cpu_exponent##bits(true, units | least) - log2;                   \
        return (shift << log2) + (uint32_t)(units >> shift);                               \
    }                                                                                      \
    CPU_GUIDE_INLINE uint32_t cpu_guide_round##bits(uint32_t log2, uint##bits##_t units)   \
    {                                                                                      \
        const uint32_t first = (CPU_EXPONENT_BIAS##bits + log2 - 1) << log2;               \
        uint##bits##_t digits =                                                            \
            cpu_exponent_float##bits(units) >> (CPU_EXPONENT_DIGITS##bits - log2);         \
        return units >> (log2 + 1) == 0 ? (uint32_t)units : (uint32_t)digits - first;      \
    }                                                                                      \
    CPU_GUIDE_INLINE uint32_t cpu_guide_bucket##bits(const struct cpu_guide *guide,        \
                                                     unsigned float_bits, bool is_centred, \
                                                     uint##bits##_t distance)              \
    {                                                                                      \
        const uint##bits##_t centre = is_centred ? (uint##bits##_t)guide->centre : 0;      \
        uint##bits##_t larger = distance > centre ? distance : centre;                     \
        uint##bits##_t from = larger - (distance < centre ? distance : centre);            \
        uint##bits##_t units = from >> guide->unit;                                        \
        uint32_t bucket = bits > float_bits ? cpu_guide_count##bits(guide->log2, units)    \
                                            : cpu_guide_round##bits(guide->log2, units);   \
        return is_centred && larger == centre ? bucket + guide->side : bucket;             \
    }
CPU_GUIDE_DEFINE_BUCKET(32)
CPU_GUIDE_DEFINE_BUCKET(64)

/*
 * X(name, type, bits of distances as elements have them, bits of those within the bins, room of
 * keys of equal buckets), for each type of elements and, the last, for distances that need 64 bits.
 */
#define CPU_GUIDE_ROWS(X)            \
    X(i8, int8_t, 32, 32, narrow)    \
    X(u8, uint8_t, 32, 32, narrow)   \
    X(i16, int16_t, 32, 32, narrow)  \
    X(u16, uint16_t, 32, 32, narrow) \
    X(i32, int32_t, 32, 32, narrow)  \
    X(u32, uint32_t, 32, 32, narrow) \
    X(i64, int64_t, 64, 32, narrow)  \
    X(u64, uint64_t, 64, 32, narrow) \
    X(wide, uint64_t, 64, 64, wide)

/* The distance of element i of a type. */
#define CPU_GUIDE_DEFINE_DISTANCE(name, ctype, word_bits, bits, room)                              \
    CPU_GUIDE_INLINE uint##word_bits##_t cpu_guide_distance_##name(const struct cpu_guide *guide,  \
                                                                   bool swapped,                   \
                                                                   const void *elements, size_t i) \
    {                                                                                              \
        ctype value;                                                                               \
        memcpy(&value, (const char *)elements + i * sizeof value, sizeof value);                   \
        if (swapped)                                                                               \
            value = (ctype)element_swap((uint64_t)(int64_t)value, sizeof value);                   \
        return (uint##word_bits##_t)value - (uint##word_bits##_t)guide->low;                       \
    }
CPU_GUIDE_ROWS(CPU_GUIDE_DEFINE_DISTANCE)

/* Makes the keys of elements of a type: of equal buckets, or of others. */
#define CPU_GUIDE_DEFINE_EVEN(name, ctype, word_bits, bits, room)                          \
    CPU_GUIDE_INLINE void cpu_guide_even_##name(const struct cpu_guide *guide,             \
                                                unsigned float_bits, bool swapped,         \
                                                const void *elements, size_t count,        \
                                                struct cpu_guide_places *places)           \
    {                                                                                      \
        (void)float_bits;                      /* buckets are bits of keys */              \
        const struct cpu_guide local = *guide; /* no store to places can change it */      \
        for (size_t i = 0; i < count; i++) {                                               \
            uint##word_bits##_t distance =                                                 \
                cpu_guide_distance_##name(&local, swapped, elements, i);                   \
            bool is_above = distance <= (uint##word_bits##_t)local.limit;                  \
            uint##bits##_t other = (uint##bits##_t)(is_above ? local.above : local.below); \
            uint##bits##_t key = (uint##bits##_t)(distance + local.offset);                \
            places->room[i] = distance <= (uint##word_bits##_t)local.clamp ? key : other;  \
        }                                                                                  \
    }
CPU_GUIDE_ROWS(CPU_GUIDE_DEFINE_EVEN)

/* Stores the key of a distance in one of unequal buckets, or a pair. */
CPU_GUIDE_INLINE void cpu_guide_put32(struct cpu_guide_places *places, size_t i, uint32_t bucket,
                                      uint32_t distance)
{
    const size_t first = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    places->halves[2 * i + first] = distance;
    places->halves[2 * i + 1 - first] = bucket;
}

CPU_GUIDE_INLINE void cpu_guide_put64(struct cpu_guide_places *places, size_t i, uint32_t bucket,
                                      uint64_t distance)
{
    places->wide[i] = distance;
    places->buckets[i] = bucket;
}

#define CPU_GUIDE_DEFINE_UNEVEN(name, ctype, word_bits, bits, room)                               \
    CPU_GUIDE_INLINE void cpu_guide_loop_##name(const struct cpu_guide *guide,                    \
                                                unsigned float_bits, bool is_centred,             \
                                                bool swapped, const void *elements, size_t count, \
                                                struct cpu_guide_places *places)                  \
    {                                                                                             \
        const struct cpu_guide local = *guide; /* no store to places can change it */             \
        for (size_t i = 0; i < count; i++) {                                                      \
            uint##word_bits##_t distance =                                                        \
                cpu_guide_distance_##name(&local, swapped, elements, i);                          \
            uint32_t bucket =                                                                     \
                cpu_guide_bucket##bits(&local, float_bits, is_centred, (uint##bits##_t)distance); \
            if (distance > (uint##word_bits##_t)local.last)                                       \
                bucket = 2 * local.side + 1;                                                      \
            if (distance > (uint##word_bits##_t)local.limit)                                      \
                bucket = 2 * local.side;                                                          \
            cpu_guide_put##bits(places, i, bucket, (uint##bits##_t)distance);                     \
        }                                                                                         \
    }                                                                                             \
    CPU_GUIDE_INLINE void cpu_guide_uneven_##name(const struct cpu_guide *guide,                  \
                                                  unsigned float_bits, bool swapped,              \
                                                  const void *elements, size_t count,             \
                                                  struct cpu_guide_places *places)                \
    {                                                                                             \
        if (guide->centre > 0 && swapped)                                                         \
            cpu_guide_loop_##name(guide, float_bits, true, true, elements, count, places);        \
        else if (guide->centre > 0)                                                               \
            cpu_guide_loop_##name(guide, float_bits, true, false, elements, count, places);       \
        else if (swapped)                                                                         \
            cpu_guide_loop_##name(guide, float_bits, false, true, elements, count, places);       \
        else                                                                                      \
            cpu_guide_loop_##name(guide, float_bits, false, false, elements, count, places);      \
    }
CPU_GUIDE_ROWS(CPU_GUIDE_DEFINE_UNEVEN)

/* Wrapped for each instruction set, and the tables of them. */
#define CPU_GUIDE_WRAP(isa, target, name)                                                    \
    target static void cpu_guide_##name##_##isa(const struct cpu_guide *guide, bool swapped, \
                                                const void *elements, size_t count,          \
                                                struct cpu_guide_places *places)             \
    {                                                                                        \
        cpu_guide_##name(guide, CPU_ISA_FLOAT_BITS(isa), swapped, elements, count, places);  \
    }
#define CPU_GUIDE_DEFINE(id, name, ctype)         \
    CPU_ISA_VARIANTS(CPU_GUIDE_WRAP, even_##name) \
    CPU_ISA_VARIANTS(CPU_GUIDE_WRAP, uneven_##name)
ELEMENT_TYPES(CPU_GUIDE_DEFINE)
CPU_ISA_VARIANTS(CPU_GUIDE_WRAP, even_wide)
CPU_ISA_VARIANTS(CPU_GUIDE_WRAP, uneven_wide)

/* The function for elements of that type, with distances of 64 bits if it is ELEMENT_TYPE_COUNT. */
static cpu_guide_place_function *cpu_guide_choose_place(unsigned type, bool is_even)
{
#define CPU_GUIDE_ENTRY(isa, target, name) cpu_guide_##name##_##isa,
#define CPU_GUIDE_EVEN_ROW(id, name, ctype) \
    [ELEMENT_##id] = {CPU_ISA_VARIANTS(CPU_GUIDE_ENTRY, even_##name)},
#define CPU_GUIDE_UNEVEN_ROW(id, name, ctype) \
    [ELEMENT_##id] = {CPU_ISA_VARIANTS(CPU_GUIDE_ENTRY, uneven_##name)},
    static cpu_guide_place_function *const even[ELEMENT_TYPE_COUNT + 1][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(CPU_GUIDE_EVEN_ROW){CPU_ISA_VARIANTS(CPU_GUIDE_ENTRY, even_wide)}};
    static cpu_guide_place_function *const uneven[ELEMENT_TYPE_COUNT + 1][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(CPU_GUIDE_UNEVEN_ROW){CPU_ISA_VARIANTS(CPU_GUIDE_ENTRY, uneven_wide)}};
    return (is_even ? even : uneven)[type][cpu_isa_best()];
}

/*
 * Whether it is quicker than computing the bin, which takes ns a value (Zen 4), counting included:
 * edges 2.4 to 3.9, looked up 0.5 to 0.8; log10 of 64 bits 1.8, 1.1, but 0.85 of 32 bits with AVX2,
 * and without 4.0; bins of one width are computed in 0.6, but without AVX-512 in 1.1 and more.
 */
static bool cpu_guide_is_wanted(const struct job *job)
{
    switch (job->binning.form) {
    case BINNING_EDGES_FEW:
    case BINNING_EDGES:
    case BINNING_LOG10_64:
        return true;
    case BINNING_LOG10_32:
        return cpu_isa_best() == CPU_ISA_PLAIN;
    case BINNING_SCALED32:
    case BINNING_SCALED64:
    case BINNING_SCALED128:
    case BINNING_MULTIPLES32:
    case BINNING_MULTIPLES64:
        return !cpu_isa_has_avx512() && job->binning.bins < 1u << CPU_GUIDE_LOG2_MAX;
    default:
        return false;
    }
}

uint32_t cpu_guide_rank(const struct cpu_guide *guide, uint64_t distance)
{
    if (distance > guide->last)
        return distance <= guide->limit ? guide->binning->bins + 1 : 0;
    return binning_index(guide->binning, guide->binning->form, guide->low + distance) + 1;
}

/* Sets the word of a bucket: keys of the rank before that one, and of it from `threshold` on. */
static void cpu_guide_set(struct cpu_guide *guide, uint64_t bucket, uint32_t rank,
                          uint64_t threshold)
{
    uint64_t word = ((uint64_t)rank << guide->shift) - threshold;

    if (guide->keys == CPU_GUIDE_PAIRS) {
        guide->narrow[bucket] = rank - 1;
        guide->wide[bucket] = threshold;
    } else if (guide->keys == CPU_GUIDE_NARROW) {
        guide->narrow[bucket] = (uint32_t)word;
    } else {
        guide->wide[bucket] = word;
    }
}

/* The least key that a bucket may have, or of pairs the least distance. */
static uint64_t cpu_guide_least_key(const struct cpu_guide *guide, uint64_t bucket)
{
    return guide->keys == CPU_GUIDE_PAIRS ? 0 : bucket << guide->shift;
}

/* Sets one for keys of one rank. */
static void cpu_guide_set_one(struct cpu_guide *guide, uint64_t bucket, uint32_t rank)
{
    cpu_guide_set(guide, bucket, rank, cpu_guide_least_key(guide, bucket));
}

/* Distances of one rank, side by side, of which it need not be searched for. */
struct cpu_guide_run {
    uint32_t rank;
    uint64_t first;
    uint64_t last;
};

/* The greatest distance of a rank. */
static uint64_t cpu_guide_rank_last(const struct cpu_guide *guide, uint32_t rank)
{
    if (rank == 0)
        return UINT64_MAX;
    if (rank > guide->binning->bins)
        return guide->limit;
    uint64_t next = (uint64_t)binning_edge(guide->binning, rank) - guide->low;
    return next - 1 < guide->last ? next - 1 : guide->last;
}

/*
 * Sets the word of a bucket, by the distances of its lowest and its highest value. `run` is of a
 * bucket before, if there is one, and is then of this one's highest value.
 */
static void cpu_guide_set_bucket(struct cpu_guide *guide, uint64_t bucket, uint64_t lowest,
                                 uint64_t highest, struct cpu_guide_run *run)
{
    if (run->first <= lowest && lowest <= highest && highest <= run->last) {
        cpu_guide_set_one(guide, bucket, run->rank);
        return;
    }
    uint32_t rank = cpu_guide_rank(guide, lowest);
    uint32_t end = cpu_guide_rank(guide, highest);

    if (rank == end) {
        cpu_guide_set_one(guide, bucket, rank);
    } else if (rank + 1 == end) {
        uint64_t start = (uint64_t)binning_edge(guide->binning, rank) - guide->low;
        cpu_guide_set(guide, bucket, end,
                      start +
                          (guide->is_even ? guide->offset : cpu_guide_least_key(guide, bucket)));
    } else {
        cpu_guide_set_one(guide, bucket, guide->mixed + rank);
        guide->has_mixed = true;
    }
    *run = (struct cpu_guide_run){end, highest, cpu_guide_rank_last(guide, end)};
}

/* The least distance from the centre of a bucket, modulo 2^64. */
static uint64_t cpu_guide_bucket_begin(const struct cpu_guide *guide, uint32_t bucket)
{
    uint32_t level = bucket >> guide->log2;
    uint64_t rest = bucket - (level << guide->log2);

    if (level == 0)
        return (uint64_t)bucket << guide->unit;
    unsigned __int128 units = ((uint64_t)1 << guide->log2) + rest;
    return (uint64_t)(units << (level - 1 + guide->unit));
}

/* Sets the entries of one side. */
static void cpu_guide_fill_side(struct cpu_guide *guide, bool is_left)
{
    uint64_t reach = is_left ? guide->centre : guide->last - guide->centre;
    struct cpu_guide_run run = {.first = 1, .last = 0};

    for (uint32_t bucket = 0; bucket < guide->side; bucket++) {
        uint64_t nearest = cpu_guide_bucket_begin(guide, bucket);
        uint64_t farthest = cpu_guide_bucket_begin(guide, bucket + 1) - 1;
        if (nearest > reach)
            break;
        farthest = farthest < reach ? farthest : reach;
        if (is_left)
            cpu_guide_set_bucket(guide, guide->side + bucket, guide->centre - farthest,
                                 guide->centre - nearest, &run);
        else
            cpu_guide_set_bucket(guide, bucket, guide->centre + nearest, guide->centre + farthest,
                                 &run);
    }
}

/* Sets the words of an even guide: of all buckets of keys, or those of the bins and two more. */
static void cpu_guide_fill_even(struct cpu_guide *guide)
{
    const uint64_t mask = guide->keys == CPU_GUIDE_WIDE ? UINT64_MAX : UINT32_MAX;
    const uint64_t width = (uint64_t)1 << guide->unit;
    const uint64_t buckets = guide->is_whole ? (mask >> guide->unit) + 1 : guide->side;
    struct cpu_guide_run run = {.first = 1, .last = 0};

    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        uint64_t lowest = ((bucket << guide->unit) - guide->offset) & mask;
        uint64_t highest = (lowest + width - 1) & mask;
        if (!guide->is_whole && highest > guide->last)
            highest = guide->last; /* no key is above it */
        cpu_guide_set_bucket(guide, bucket, lowest, highest, &run);
    }
    if (guide->is_whole)
        return;
    cpu_guide_set_one(guide, guide->below >> guide->unit, 0);
    cpu_guide_set_one(guide, guide->above >> guide->unit, guide->binning->bins + 1);
}

/* Sets all words. */
static void cpu_guide_fill(struct cpu_guide *guide)
{
    if (guide->is_even) {
        cpu_guide_fill_even(guide);
        return;
    }
    cpu_guide_set_one(guide, 2 * (uint64_t)guide->side, 0);
    cpu_guide_set_one(guide, 2 * (uint64_t)guide->side + 1, guide->binning->bins + 1);
    cpu_guide_fill_side(guide, true);
    cpu_guide_fill_side(guide, false);
}

/* The most buckets, as a power of 2, that are made for all words of the elements, unless there are
   hardly more than the bins need. */
#define CPU_GUIDE_WHOLE_LOG2 15

/*
 * Even keys: the elements' words, or distances, of which those beyond the bins are replaced. Words
 * may have buckets that are within the bins in part, whose end is a rank's begin as any other.
 */
static void cpu_guide_set_even(struct cpu_guide *guide, const struct element *element,
                               uint32_t bits)
{
    const uint64_t keys = UINT64_MAX >> (64 - bits);

    const uint32_t buckets = bits - guide->unit;
    const bool are_few = buckets <= CPU_GUIDE_WHOLE_LOG2 || buckets <= guide->log2 + 1;

    guide->is_whole = 8 * element->bytes == bits && are_few;
    guide->is_short = bits == 32;
    guide->keys = guide->is_short ? CPU_GUIDE_NARROW : CPU_GUIDE_WIDE;
    guide->shift = guide->unit;
    guide->is_direct = guide->is_whole && !element->swapped;
    guide->offset = guide->is_whole ? guide->low : 0;
    guide->clamp = guide->is_whole ? keys : guide->last;
    guide->above = (uint64_t)guide->side << guide->unit;
    guide->below = (uint64_t)(guide->side + 1) << guide->unit;
}

/*
 * Chooses the keys for the shape: even ones if it is, and the bits above the unit do for ranks and
 * `mixed`. Words of 8 bytes get narrow ones only if two more buckets have room there.
 */
static void cpu_guide_set_keys(struct cpu_guide *guide, const struct element *element, bool is_even)
{
    const uint32_t bits = guide->last > (element->bytes == 8 ? INT32_MAX : UINT32_MAX) ? 64 : 32;
    const uint32_t upper = bits - guide->unit < 32 ? bits - guide->unit : 32;

    guide->mixed = (uint32_t)1 << (upper - 1);
    guide->is_even = is_even && guide->binning->bins + 1 < guide->mixed;
    if (guide->is_even) {
        cpu_guide_set_even(guide, element, bits);
        return;
    }
    guide->is_short = guide->last <= UINT32_MAX;
    guide->keys = guide->is_short ? CPU_GUIDE_WIDE : CPU_GUIDE_PAIRS;
    guide->is_whole = false;
    guide->is_direct = false;
    guide->shift = 32;
    guide->offset = 0;
    guide->mixed = (uint32_t)1 << 31;
}

/* The bucket of a distance within the bins. */
static uint64_t cpu_guide_bucket(const struct cpu_guide *guide, bool is_centred, uint64_t distance)
{
    uint64_t key = distance + guide->offset;

    if (!guide->is_even)
        return cpu_guide_bucket64(guide, 0, is_centred, distance);
    return (guide->keys == CPU_GUIDE_NARROW ? (uint32_t)key : key) >> guide->shift;
}

/*
 * How many ranks begin in mixed buckets, behind the lowest values of these; or more than `limit`.
 * The edges alone are looked at, so that shapes are compared in little time.
 */
static uint32_t cpu_guide_count_mixed(const struct cpu_guide *guide, uint32_t limit)
{
    const bool is_centred = guide->centre > 0; /* as values are placed */
    uint64_t previous = UINT64_MAX;
    uint32_t mixed = 0;
    uint32_t run = 0; /* ranks that begin in the bucket */

    for (uint32_t bin = 0; bin <= guide->binning->bins && mixed <= limit; bin++) {
        uint64_t distance = (uint64_t)binning_edge(guide->binning, bin) - guide->low;
        if (guide->is_whole ? distance > guide->limit : distance - 1 >= guide->last)
            continue; /* outside the type, or the end of bins, behind which keys are others */
        uint64_t bucket = cpu_guide_bucket(guide, is_centred, distance);
        if (bucket != cpu_guide_bucket(guide, is_centred, distance - 1))
            continue;
        run = bucket == previous ? run + 1 : 1;
        previous = bucket;
        mixed += run > 2 ? 1 : run == 2 ? 2 : 0;
    }
    return mixed;
}

/* A choice of buckets. */
struct cpu_guide_shape {
    uint32_t log2;
    bool is_even; /* they are of one width, the unit; else the unit is 1 */
    bool is_large;
    uint64_t centre;
};

/* The most buckets that a shape may have on one side. */
static uint64_t cpu_guide_side_max(const struct cpu_guide *guide,
                                   const struct cpu_guide_shape *shape)
{
    const uint64_t per_bin = shape->is_even ? CPU_GUIDE_EVEN_PER_BIN : CPU_GUIDE_UNEVEN_PER_BIN;
    const uint64_t many = shape->is_large ? per_bin * guide->binning->bins : 0;

    return many > CPU_GUIDE_SIDE_MAX ? many : CPU_GUIDE_SIDE_MAX;
}

/* Sets what the guide has of a shape but the entries. False if they would be too many. */
static bool cpu_guide_set_shape(struct cpu_guide *guide, const struct cpu_guide_shape *shape)
{
    uint64_t right = guide->last - shape->centre;
    uint64_t reach = right > shape->centre ? right : shape->centre;
    uint32_t digits = binning_digits2(reach);

    guide->log2 = shape->log2;
    guide->unit = shape->is_even && digits > shape->log2 + 1 ? digits - shape->log2 - 1 : 0;
    guide->centre = shape->centre;
    guide->side = 0;
    guide->side = cpu_guide_bucket64(guide, 0, true, reach == right ? guide->last : 0) + 1;
    return guide->side <= cpu_guide_side_max(guide, shape);
}

/* Buckets of one width, or around the lowest value, or around 0. */
enum cpu_guide_kind { CPU_GUIDE_EVEN, CPU_GUIDE_UNEVEN, CPU_GUIDE_CENTRED };

/* Takes a shape of that kind. False if more than `limit` bins begin in mixed buckets. */
static bool cpu_guide_try(struct cpu_guide *guide, const struct element *element, uint32_t log2,
                          enum cpu_guide_kind kind, bool is_large, uint32_t limit)
{
    const bool has_zero = element->is_signed && (int64_t)guide->low < 0;
    const uint64_t zero = has_zero && 0 - guide->low <= guide->last ? 0 - guide->low : 0;
    const struct cpu_guide_shape shape = {
        .log2 = log2,
        .is_even = kind == CPU_GUIDE_EVEN,
        .is_large = is_large,
        .centre = kind == CPU_GUIDE_CENTRED ? zero : 0,
    };

    if ((kind == CPU_GUIDE_CENTRED && zero == 0) || !cpu_guide_set_shape(guide, &shape))
        return false;
    cpu_guide_set_keys(guide, element, shape.is_even);
    if (shape.is_even && !guide->is_even && guide->binning->bins + 1 < 1u << CPU_GUIDE_LOG2_MAX)
        return false; /* more buckets have room in their keys */
    return cpu_guide_count_mixed(guide, limit) <= limit;
}

/*
 * Shapes to be tried, the smallest first, and which share of the ranks may begin in mixed buckets.
 * Equal buckets come first: their keys take a subtraction at the most. 100 random edges of int32,
 * ns a value, k from 8 to 13: 0.62 0.54 0.53 0.55 0.56 0.60, and with unequal ones, none of which
 * is mixed, 0.84. But few ranks may be those of most values: then the next ones are tried. Large
 * guides come late, since others stay in the cache.
 */
struct cpu_guide_choice {
    enum cpu_guide_kind first;
    enum cpu_guide_kind last;
    uint32_t log2_min;
    uint32_t log2_max;
    uint32_t share; /* 1 / share of them; 0: none */
    bool are_many;  /* bins, which large guides pay for */
};

static const struct cpu_guide_choice cpu_guide_choices[] = {
    {CPU_GUIDE_EVEN, CPU_GUIDE_EVEN, 0, CPU_GUIDE_LOG2_MAX - 1, 16, false},
    {CPU_GUIDE_EVEN, CPU_GUIDE_CENTRED, 0, CPU_GUIDE_LOG2_MAX, 0, false},
    {CPU_GUIDE_EVEN, CPU_GUIDE_CENTRED, CPU_GUIDE_LOG2_MAX, CPU_GUIDE_LOG2_MAX, 4, false},
    {CPU_GUIDE_EVEN, CPU_GUIDE_CENTRED, 0, CPU_GUIDE_LOG2_L2, 12, true},
    {CPU_GUIDE_EVEN, CPU_GUIDE_CENTRED, 0, CPU_GUIDE_LOG2_MANY, 6, true},
    {CPU_GUIDE_EVEN, CPU_GUIDE_CENTRED, CPU_GUIDE_LOG2_MAX, CPU_GUIDE_LOG2_MAX, 2, false},
};
_Static_assert(sizeof cpu_guide_choices / sizeof *cpu_guide_choices == CPU_GUIDE_LAST_CHOICE + 1,
               "there is no other");

/* Takes the first shape of a choice that will do. False if none does. */
static bool cpu_guide_choose(struct cpu_guide *guide, const struct element *element,
                             const struct cpu_guide_choice *choice)
{
    const uint32_t limit = choice->share > 0 ? guide->binning->bins / choice->share : 0;

    for (uint32_t log2 = choice->log2_min; log2 <= choice->log2_max; log2++) {
        for (enum cpu_guide_kind kind = choice->first; kind <= choice->last; kind++) {
            if (cpu_guide_try(guide, element, log2, kind, choice->are_many, limit))
                return true;
        }
    }
    return false;
}

/* Makes one of no buckets, for values low <= v < high; NULL if there is no memory. */
static struct cpu_guide *cpu_guide_make(const struct job *job, __int128 low, __int128 high)
{
    struct cpu_guide *made = malloc(sizeof *made);
    if (!made)
        return NULL;

    *made = (struct cpu_guide){
        .binning = &job->binning,
        .low = (uint64_t)low,
        .last = (uint64_t)(high - low - 1),
        .limit = (uint64_t)(element_limit(&job->element) - low - 1),
    };
    return made;
}

/* Makes the words of the shape that was chosen, to be filled. False if there is no memory. */
static bool cpu_guide_allocate(struct cpu_guide *guide)
{
    const uint32_t bits = guide->is_short ? 32 : 64;
    const size_t words = guide->is_whole  ? (size_t)1 << (bits - guide->unit)
                         : guide->is_even ? guide->side + BINNING_OUTSIDE
                                          : 2 * (size_t)guide->side + BINNING_OUTSIDE;

    if (guide->keys != CPU_GUIDE_WIDE)
        guide->narrow = malloc(words * sizeof *guide->narrow);
    if (guide->keys != CPU_GUIDE_NARROW)
        guide->wide = malloc(words * sizeof *guide->wide);
    return (guide->narrow || guide->keys == CPU_GUIDE_WIDE) &&
           (guide->wide || guide->keys == CPU_GUIDE_NARROW);
}

enum status cpu_guide_create(const struct job *job, unsigned first, unsigned last,
                             struct cpu_guide **guide, struct failure *failure)
{
    unsigned choice = first;
    __int128 low;
    __int128 high;

    *guide = NULL;
    binning_bounds(&job->binning, &job->element, &low, &high);
    if (!cpu_guide_is_wanted(job) || low >= high)
        return STATUS_OK;
    struct cpu_guide *made = cpu_guide_make(job, low, high);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    while (choice <= last && !cpu_guide_choose(made, &job->element, &cpu_guide_choices[choice]))
        choice++;
    if (choice > last) { /* slow bins, but searching them alone is not slower */
        cpu_guide_destroy(made);
        return STATUS_OK;
    }
    if (!cpu_guide_allocate(made)) {
        cpu_guide_destroy(made);
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    }
    made->choice = choice;
    made->place = cpu_guide_choose_place(made->is_short ? job->element.type : ELEMENT_TYPE_COUNT,
                                         made->is_even);
    cpu_guide_fill(made);
    *guide = made;
    return STATUS_OK;
}

void cpu_guide_destroy(struct cpu_guide *guide)
{
    if (!guide)
        return;
    free(guide->narrow);
    free(guide->wide);
    free(guide);
}
