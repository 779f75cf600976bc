#include "config.h"

#include "cpu_guide.h"

#include "cpu_isa.h"

#include <stdlib.h>
#include <string.h>

#define CPU_GUIDE_INLINE static inline __attribute__((always_inline))

/* Buckets on one side: so that a guide, of 12 bytes a bucket at the most, stays in a core's L2. */
#define CPU_GUIDE_SIDE_MAX    (24u << 10)
#define CPU_GUIDE_ENTRIES_MAX (2 * CPU_GUIDE_SIDE_MAX + BINNING_OUTSIDE)

/* The largest k, but for even buckets without mixed ones, of which it may be one more. */
#define CPU_GUIDE_LOG2_MAX 13

/*
 * The least k with which buckets may be mixed. Seconds for 32Mi uniform int32 and 999 random edges,
 * k from 11 to 15: 0.088 0.076 0.073 0.074 0.076; 16Mi int64: 0.073 0.052 0.052 0.057 0.063 (Zen 4,
 * searching for each value in a mixed bucket). Gathered, 64Mi int32, k of 12 and 13: 0.135 0.145.
 */
#define CPU_GUIDE_MIXED_LOG2 12

/*
 * The bucket of a distance from the lowest value, in words of 32 and of 64 bits. Below the centre
 * it is one of the second side, as is the centre's own. `is_centred`: the centre may be above 0.
 */
#define CPU_GUIDE_DEFINE_BUCKET(bits, leading_zeros)                                           \
    CPU_GUIDE_INLINE uint32_t cpu_guide_bucket##bits(const struct cpu_guide *guide,            \
                                                     bool is_centred, uint##bits##_t distance) \
    {                                                                                          \
        const uint##bits##_t centre = is_centred ? (uint##bits##_t)guide->centre : 0;          \
        const uint32_t log2 = guide->log2;                                                     \
        uint##bits##_t larger = distance > centre ? distance : centre;                         \
        uint##bits##_t from = larger - (distance < centre ? distance : centre);                \
        uint##bits##_t least = (uint##bits##_t)1 << (log2 + guide->unit);                      \
        uint32_t shift = bits - 1 - log2 - (uint32_t)leading_zeros(from | least);              \
        uint32_t bucket = (shift << log2) + (uint32_t)(from >> shift) - (guide->unit << log2); \
        return is_centred && larger == centre ? bucket + guide->side : bucket;                 \
    }
CPU_GUIDE_DEFINE_BUCKET(32, __builtin_clz)
CPU_GUIDE_DEFINE_BUCKET(64, __builtin_clzll)

/* For elements of a type, as words of `key_bits`: those with distances of so many bits. */
#define CPU_GUIDE_DEFINE_LOOP(name, ctype, key_bits, bits, room)                                  \
    CPU_GUIDE_INLINE size_t cpu_guide_loop_##name(const struct cpu_guide *guide, bool is_centred, \
                                                  bool swapped, const void *elements,             \
                                                  size_t count, struct cpu_guide_places *places)  \
    {                                                                                             \
        const struct cpu_guide local = *guide; /* no store to places can change it */             \
        const char *bytes = elements;                                                             \
        uint##bits##_t outside = 0;                                                               \
        for (size_t i = 0; i < count; i++) {                                                      \
            ctype value;                                                                          \
            memcpy(&value, bytes + i * sizeof value, sizeof value);                               \
            if (swapped)                                                                          \
                value = (ctype)element_swap((uint64_t)(int64_t)value, sizeof value);              \
            uint##key_bits##_t distance =                                                         \
                (uint##key_bits##_t)value - (uint##key_bits##_t)local.low;                        \
            bool is_outside = distance > (uint##key_bits##_t)local.last;                          \
            bool is_above = distance <= (uint##key_bits##_t)local.limit;                          \
            uint32_t bucket =                                                                     \
                cpu_guide_bucket##bits(&local, is_centred, (uint##bits##_t)distance);             \
            places->room[i] = (uint##bits##_t)(distance & local.mask);                            \
            places->buckets[i] = is_outside ? 2 * local.side + is_above : bucket;                 \
            outside += is_outside;                                                                \
        }                                                                                         \
        return outside;                                                                           \
    }                                                                                             \
    CPU_GUIDE_INLINE size_t cpu_guide_place_##name(const struct cpu_guide *guide, bool swapped,   \
                                                   const void *elements, size_t count,            \
                                                   struct cpu_guide_places *places)               \
    {                                                                                             \
        if (guide->centre > 0)                                                                    \
            return swapped ? cpu_guide_loop_##name(guide, true, true, elements, count, places)    \
                           : cpu_guide_loop_##name(guide, true, false, elements, count, places);  \
        return swapped ? cpu_guide_loop_##name(guide, false, true, elements, count, places)       \
                       : cpu_guide_loop_##name(guide, false, false, elements, count, places);     \
    }
CPU_GUIDE_DEFINE_LOOP(i8, int8_t, 32, 32, narrow)
CPU_GUIDE_DEFINE_LOOP(u8, uint8_t, 32, 32, narrow)
CPU_GUIDE_DEFINE_LOOP(i16, int16_t, 32, 32, narrow)
CPU_GUIDE_DEFINE_LOOP(u16, uint16_t, 32, 32, narrow)
CPU_GUIDE_DEFINE_LOOP(i32, int32_t, 32, 32, narrow)
CPU_GUIDE_DEFINE_LOOP(u32, uint32_t, 32, 32, narrow)
CPU_GUIDE_DEFINE_LOOP(i64, int64_t, 64, 32, narrow)
CPU_GUIDE_DEFINE_LOOP(u64, uint64_t, 64, 32, narrow)
CPU_GUIDE_DEFINE_LOOP(wide, uint64_t, 64, 64, wide)

/* Wrapped for each instruction set, and the table of them. */
#define CPU_GUIDE_WRAP(isa, target, name)                                                   \
    target static size_t cpu_guide_place_##name##_##isa(const struct cpu_guide *guide,      \
                                                        bool swapped, const void *elements, \
                                                        size_t count,                       \
                                                        struct cpu_guide_places *places)    \
    {                                                                                       \
        return cpu_guide_place_##name(guide, swapped, elements, count, places);             \
    }
#define CPU_GUIDE_DEFINE(id, name, ctype) CPU_ISA_VARIANTS(CPU_GUIDE_WRAP, name)
ELEMENT_TYPES(CPU_GUIDE_DEFINE)
CPU_ISA_VARIANTS(CPU_GUIDE_WRAP, wide)

static cpu_guide_place_function *cpu_guide_choose_place(enum element_type type, bool is_wide)
{
#define CPU_GUIDE_ENTRY(isa, target, name) cpu_guide_place_##name##_##isa,
#define CPU_GUIDE_ROW(id, name, ctype)     [ELEMENT_##id] = {CPU_ISA_VARIANTS(CPU_GUIDE_ENTRY, name)},
    static cpu_guide_place_function *const narrow[ELEMENT_TYPE_COUNT][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(CPU_GUIDE_ROW)};
    static cpu_guide_place_function *const wide[CPU_ISA_COUNT] = {
        CPU_ISA_VARIANTS(CPU_GUIDE_ENTRY, wide)};
    return is_wide ? wide[cpu_isa_best()] : narrow[type][cpu_isa_best()];
}

/*
 * Whether it is quicker than computing the bin, which takes ns a value (Zen 4), counting included:
 * edges 2.4 to 3.9, looked up 0.7, of 64 bits 1.0; log10 of 64 bits 1.8, 1.1, but 0.85 of 32 bits;
 * bins of one width are computed in 0.6, whatever the bits.
 */
static bool cpu_guide_is_wanted(enum binning_form form)
{
    switch (form) {
    case BINNING_EDGES_FEW:
    case BINNING_EDGES:
    case BINNING_LOG10_64:
        return true;
    default:
        return false;
    }
}

/* Sets an entry: values of that bin, and of the next one from the threshold on. */
static void cpu_guide_set(struct cpu_guide *guide, size_t entry, uint32_t bin, uint64_t threshold)
{
    if (guide->is_packed) {
        uint32_t next = bin + 1; /* 0 if the bucket is all in the first bin */
        uint64_t word = ((uint64_t)next << guide->unit) - (threshold & guide->mask);
        if (guide->is_wide)
            guide->thresholds[entry] = word;
        else
            guide->bins[entry] = (uint32_t)word;
    } else if (guide->is_wide) {
        guide->bins[entry] = bin;
        guide->thresholds[entry] = threshold;
    } else {
        guide->thresholds[entry] = ((uint64_t)bin << 32) + ((uint64_t)1 << 32) - threshold;
    }
}

/* Sets one for values of one bin: the next one from the lowest value on. */
static void cpu_guide_set_one(struct cpu_guide *guide, size_t entry, uint32_t bin)
{
    cpu_guide_set(guide, entry, bin - 1, 0);
}

/* Sets the entry of a bucket, by its lowest and its highest value. */
static void cpu_guide_set_bucket(struct cpu_guide *guide, size_t entry, uint64_t lowest,
                                 uint64_t highest)
{
    uint32_t bin = cpu_guide_search(guide, lowest);
    uint32_t begun = cpu_guide_search(guide, highest) - bin;

    if (begun == 0)
        cpu_guide_set_one(guide, entry, bin);
    else if (begun == 1)
        cpu_guide_set(guide, entry, bin,
                      (uint64_t)binning_edge(guide->binning, bin + 1) - guide->low);
    else
        cpu_guide_set_one(guide, entry, guide->mixed + bin);
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

    for (uint32_t bucket = 0; bucket < guide->side; bucket++) {
        uint64_t nearest = cpu_guide_bucket_begin(guide, bucket);
        uint64_t farthest = cpu_guide_bucket_begin(guide, bucket + 1) - 1;
        if (nearest > reach)
            break;
        farthest = farthest < reach ? farthest : reach;
        if (is_left)
            cpu_guide_set_bucket(guide, guide->side + bucket, guide->centre - farthest,
                                 guide->centre - nearest);
        else
            cpu_guide_set_bucket(guide, bucket, guide->centre + nearest, guide->centre + farthest);
    }
}

/* Packs the guide if it can be, before its entries are set. */
static void cpu_guide_pack(struct cpu_guide *guide, bool is_even)
{
    uint32_t bits = (guide->is_wide ? 64 : 32) - guide->unit; /* of bins */
    uint32_t mixed = (uint32_t)1 << ((bits < 32 ? bits : 32) - 1);
    uint64_t limit = guide->has_mixed ? mixed : 2 * (uint64_t)mixed;

    guide->is_packed = is_even && guide->centre == 0 && guide->binning->bins + 1 < limit;
    if (guide->is_packed) {
        guide->mixed = guide->has_mixed ? mixed : guide->mixed; /* which no bin is */
        guide->mask = ((uint64_t)1 << guide->unit) - 1;
    }
}

/* Sets all entries. */
static void cpu_guide_fill(struct cpu_guide *guide)
{
    cpu_guide_set_one(guide, 2 * (size_t)guide->side, guide->binning->bins);
    cpu_guide_set_one(guide, 2 * (size_t)guide->side + 1, guide->binning->bins + 1);
    cpu_guide_fill_side(guide, true);
    cpu_guide_fill_side(guide, false);
}

/*
 * How many bins begin in mixed buckets, behind the lowest values of these; or more than `limit`.
 * The edges alone are looked at, so that shapes are compared in little time.
 */
static uint32_t cpu_guide_count_mixed(const struct cpu_guide *guide, uint32_t limit)
{
    const bool is_centred = guide->centre > 0; /* as values are placed */
    uint32_t previous = UINT32_MAX;
    uint32_t mixed = 0;
    uint32_t run = 0; /* bins that begin in the bucket */

    for (uint32_t bin = 1; bin < guide->binning->bins && mixed <= limit; bin++) {
        uint64_t distance = (uint64_t)binning_edge(guide->binning, bin) - guide->low;
        if (distance - 1 >= guide->last) /* the lowest value, or outside the type */
            continue;
        uint32_t bucket = cpu_guide_bucket64(guide, is_centred, distance);
        if (bucket != cpu_guide_bucket64(guide, is_centred, distance - 1))
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
    uint64_t centre;
};

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
    guide->side = cpu_guide_bucket64(guide, true, reach == right ? guide->last : 0) + 1;
    return guide->side <= CPU_GUIDE_SIDE_MAX;
}

/* Buckets of one width, or around the lowest value, or around 0. */
enum cpu_guide_kind { CPU_GUIDE_EVEN, CPU_GUIDE_UNEVEN, CPU_GUIDE_CENTRED, CPU_GUIDE_KINDS };

/* Takes a shape of that kind. False if more than `limit` bins begin in mixed buckets. */
static bool cpu_guide_try(struct cpu_guide *guide, uint32_t log2, enum cpu_guide_kind kind,
                          uint64_t zero, uint32_t limit)
{
    const struct cpu_guide_shape shape = {
        .log2 = log2,
        .is_even = kind == CPU_GUIDE_EVEN,
        .centre = kind == CPU_GUIDE_CENTRED ? zero : 0,
    };

    if ((kind == CPU_GUIDE_CENTRED && zero == 0) || !cpu_guide_set_shape(guide, &shape))
        return false;
    uint32_t mixed = cpu_guide_count_mixed(guide, limit);
    if (mixed > limit)
        return false;
    guide->has_mixed = mixed > 0;
    cpu_guide_pack(guide, shape.is_even);
    return true;
}

/*
 * Takes the smallest shape that leaves no bucket mixed, around the lowest value or `zero` if that
 * is not 0. If there is none, one with a sixth of the bins in mixed buckets, or half of them, an
 * even one if possible, which may be packed. False if there is none of these: the binning is slow
 * then, but searching it alone is not slower.
 */
static bool cpu_guide_choose(struct cpu_guide *guide, uint64_t zero)
{
    /* of 999 random edges in 2^13 buckets, 11 to 13% are in mixed ones */
    const uint32_t limits[] = {guide->binning->bins / 6, guide->binning->bins / 2};

    for (uint32_t log2 = 0; log2 <= CPU_GUIDE_LOG2_MAX; log2++) {
        for (int kind = 0; kind < CPU_GUIDE_KINDS; kind++) {
            uint32_t more = kind == CPU_GUIDE_EVEN; /* as many buckets, but quicker */
            if (cpu_guide_try(guide, log2 + more, (enum cpu_guide_kind)kind, zero, 0))
                return true;
        }
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        for (int kind = 0; kind < CPU_GUIDE_KINDS; kind++) {
            for (uint32_t log2 = CPU_GUIDE_MIXED_LOG2; log2 <= CPU_GUIDE_LOG2_MAX; log2++) {
                if (cpu_guide_try(guide, log2, (enum cpu_guide_kind)kind, zero, limits[i]))
                    return true;
            }
        }
    }
    return false;
}

enum status cpu_guide_create(const struct job *job, struct cpu_guide **guide,
                             struct failure *failure)
{
    const struct element *element = &job->element;
    __int128 low;
    __int128 high;

    binning_bounds(&job->binning, element, &low, &high);
    cpu_guide_index_function *index = cpu_guide_gather_choose(element->bytes);
    bool is_wide = high - low > (__int128)1 << 32 || (index && element->bytes == 8);
    if (!cpu_guide_is_wanted(job->binning.form) || low >= high)
        return STATUS_OK;
    struct cpu_guide *made = malloc(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    *made = (struct cpu_guide){
        .binning = &job->binning,
        .place = cpu_guide_choose_place(element->type, is_wide),
        .index = index,
        .is_wide = is_wide,
        .mixed = (uint32_t)1 << 31,
        .mask = UINT64_MAX,
        .low = (uint64_t)low,
        .last = (uint64_t)(high - low - 1),
        .limit = (uint64_t)(element_limit(element) - low - 1),
        .thresholds = malloc(CPU_GUIDE_ENTRIES_MAX * sizeof *made->thresholds),
        .bins = malloc(CPU_GUIDE_ENTRIES_MAX * sizeof *made->bins),
    };
    if (!made->thresholds || !made->bins) {
        cpu_guide_destroy(made);
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    }
    if (cpu_guide_choose(made, low < 0 && high > 0 ? (uint64_t)-low : 0)) {
        cpu_guide_fill(made);
        if (!made->is_packed)
            made->index = NULL;
        *guide = made;
        return STATUS_OK;
    }
    cpu_guide_destroy(made);
    return STATUS_OK;
}

void cpu_guide_destroy(struct cpu_guide *guide)
{
    if (!guide)
        return;
    free(guide->thresholds);
    free(guide->bins);
    free(guide);
}
