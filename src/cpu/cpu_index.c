#include "config.h"

#include "cpu/cpu_index.h"

#include "base/cpu_isa.h"
#include "cpu/cpu_exponent.h"
#include "cpu/cpu_index_scaled.h"

#include <string.h>

#define CPU_INDEX_INLINE static inline __attribute__((always_inline))

/* How quotients of 64 bits, of multiples, are computed. */
enum cpu_index_quotients {
    CPU_INDEX_DEFINED, /* as binning.h does */
    CPU_INDEX_EXACT,   /* of doubles, */
    CPU_INDEX_NEARLY,  /* which are rounded */
};

/* What a loop is made for: constants. */
struct cpu_index_shape {
    enum binning_form form;
    enum cpu_index_quotients quotients;
    unsigned float_bits; /* CPU_ISA_FLOAT_BITS */
    unsigned bytes;      /* of elements, */
    bool is_signed;      /* which compare as that, */
    bool swapped;        /* and are in the other byte order */
};

/* What bins are computed with. */
struct cpu_index_terms {
    struct binning binning; /* a copy: no store to indexes can change it */
    double reciprocal;      /* multiples: 1 / W and very little more */
    double most;            /* what greater quotients are taken for, which have no bin */
    uint64_t signs;         /* all ones if it is magnitudes that are divided, or else 0; */
    uint64_t base;          /* what is to be subtracted from them, */
    uint64_t first;         /* and from quotients */
};

/*
 * All bins together are less wide than this if quotients are exact. Else the widest bins that
 * doubles do for, whose remainders have signs, and the narrowest if magnitudes are divided: those
 * have quotients below 2^30. There are always fewer bins than INT32_MAX.
 */
#define CPU_INDEX_EXACT_END ((__int128)1 << 50)
#define CPU_INDEX_WIDTH_MAX ((uint64_t)1 << 61)
#define CPU_INDEX_WIDTH_MIN ((uint64_t)1 << 33)

/* Adds the terms of multiples for elements of values min <= v < limit. Returns how to divide. */
static enum cpu_index_quotients cpu_index_add_multiples(struct cpu_index_terms *terms, __int128 min,
                                                        __int128 limit)
{
    const uint64_t width = terms->binning.divisor;
    const uint32_t bins = terms->binning.bins;
    const __int128 first = (int64_t)terms->binning.low;
    const bool is_within = first * width >= min && (first + bins) * width <= limit;
    const bool is_exact = is_within && (__int128)bins * width < CPU_INDEX_EXACT_END;

    terms->reciprocal = 1 / (double)width * (1 + 0x1p-52);
    terms->most = is_exact ? bins : INT32_MAX;
    terms->signs = min < 0 && !is_within ? UINT64_MAX : 0;
    terms->base = is_within ? (uint64_t)(first * width) : 0;
    terms->first = is_within ? 0 : (uint64_t)first;
    if (bins >= INT32_MAX)
        return CPU_INDEX_DEFINED;
    if (is_exact)
        return CPU_INDEX_EXACT;
    return width <= CPU_INDEX_WIDTH_MAX && (is_within || width >= CPU_INDEX_WIDTH_MIN)
               ? CPU_INDEX_NEARLY
               : CPU_INDEX_DEFINED;
}

/*
 * The bin of a value among multiples of a width of at least 2. A quotient is a whole number or
 * at least 1 / W below the next one. The reciprocal is not below 1 / W, and it and rounding add
 * less than 2^-50 of the quotient, which is less than 1 / W for numbers below 2^32: so it is exact.
 * `is_signed`: the value as a word of 32 bits is.
 */
CPU_INDEX_INLINE uint32_t cpu_index_multiple32(const struct cpu_index_terms *terms, bool is_signed,
                                               uint32_t value)
{
    const uint32_t bins = terms->binning.bins;
    const uint32_t sign = is_signed ? 0 - (value >> 31) : 0;
    const uint32_t magnitude = value ^ sign;
    const double number = is_signed ? (double)(int32_t)magnitude
                                    : (double)(int32_t)(magnitude ^ (uint32_t)1 << 31) + 0x1p31;
    const uint32_t quotient = (uint32_t)(int32_t)(number * terms->reciprocal);
    const uint32_t bin = (quotient ^ sign) - (uint32_t)terms->binning.low;
    return bin < bins ? bin : bins;
}

/*
 * The same of a value of 64 bits. Exact quotients are so of numbers below 2^50, as above. Of others
 * doubles have not all digits: quotients are rounded, to the nearest as threads do by themselves,
 * and the remainder tells whether that was up.
 */
CPU_INDEX_INLINE uint32_t cpu_index_multiple64(const struct cpu_index_terms *terms,
                                               struct cpu_index_shape shape, uint64_t value)
{
    const bool is_exact = shape.quotients == CPU_INDEX_EXACT;
    const uint32_t bins = terms->binning.bins;
    const uint64_t sign = shape.is_signed && !is_exact ? (0 - (value >> 63)) & terms->signs : 0;
    const uint64_t x = (value ^ sign) - terms->base;
    const double number = shape.float_bits == 0 ? (double)x : cpu_exponent_double(x).number;
    const double scaled = number * terms->reciprocal;
    const double estimate = scaled < terms->most ? scaled : terms->most;

    if (is_exact)
        return (uint32_t)(int32_t)estimate;
    const union cpu_exponent_double rounded = {.number = estimate + 0x1p52};
    const uint64_t guess = rounded.bits & UINT32_MAX;
    const int64_t rest = (int64_t)(x - guess * terms->binning.divisor);
    const uint64_t quotient = guess - (uint64_t)(rest < 0);
    const uint32_t bin = (uint32_t)((quotient ^ sign) - terms->first);
    return bin < bins ? bin : bins;
}

/* The bin of a value in powers of 2, in words that have it. */
#define CPU_INDEX_DEFINE_LOG2(bits)                                                               \
    CPU_INDEX_INLINE uint32_t cpu_index_log2_##bits(const struct cpu_index_terms *terms,          \
                                                    unsigned float_bits, bool is_signed,          \
                                                    uint##bits##_t value)                         \
    {                                                                                             \
        const uint##bits##_t sign = is_signed ? 0 - (value >> (bits - 1)) : 0;                    \
        const uint##bits##_t magnitude = (value ^ sign) - sign;                                   \
        const uint32_t digits = cpu_exponent##bits(float_bits == 0, magnitude) + (magnitude > 0); \
        return terms->binning.zero + ((digits ^ (uint32_t)sign) - (uint32_t)sign);                \
    }
CPU_INDEX_DEFINE_LOG2(32)
CPU_INDEX_DEFINE_LOG2(64)

/*
 * The bin of an element as a key (element.h): as binning_index has it, but computed otherwise where
 * compilers make no vector code of that, or slow one.
 */
CPU_INDEX_INLINE uint32_t cpu_index_bin(const struct cpu_index_terms *terms,
                                        struct cpu_index_shape shape, uint64_t key)
{
    if (shape.form == BINNING_MULTIPLES32)
        return cpu_index_multiple32(terms, shape.is_signed || shape.bytes < 4, (uint32_t)key);
    if (shape.form == BINNING_MULTIPLES64 && shape.quotients != CPU_INDEX_DEFINED)
        return cpu_index_multiple64(terms, shape, key);
    if (shape.form == BINNING_LOG2 && shape.bytes <= 4)
        return cpu_index_log2_32(terms, shape.float_bits, shape.is_signed, (uint32_t)key);
    if (shape.form == BINNING_LOG2)
        return cpu_index_log2_64(terms, shape.float_bits, shape.is_signed, key);
    return binning_index(&terms->binning, shape.form, key);
}

/* X(form, ...): those that functions can count in, but BINNING_MULTIPLES64; and the others. */
#define CPU_INDEX_FORMS_THAT_COUNT(X, ...) \
    X(BINNING_SCALED32, __VA_ARGS__)       \
    X(BINNING_SCALED64, __VA_ARGS__)       \
    X(BINNING_MULTIPLES32, __VA_ARGS__)    \
    X(BINNING_LOG2, __VA_ARGS__)           \
    X(BINNING_LOG10_32, __VA_ARGS__)
#define CPU_INDEX_OTHER_FORMS(X, ...) \
    X(BINNING_UNIT32, __VA_ARGS__)    \
    X(BINNING_UNIT64, __VA_ARGS__)    \
    X(BINNING_SCALED128, __VA_ARGS__) \
    X(BINNING_LOG10_64, __VA_ARGS__)  \
    X(BINNING_EDGES_FEW, __VA_ARGS__) \
    X(BINNING_EDGES, __VA_ARGS__)

/* Elements that are computed together, and then as many counted. */
#define CPU_INDEX_GROUP ((size_t)32)
_Static_assert(CPU_TABLES_LAG % CPU_INDEX_GROUP == 0, "groups are counted as they are computed");

/*
 * For each element type: the loop, to be inlined with a constant for each form and byte order so
 * that groups become straight vector code, and the choice among these. What is less than a group
 * is made one by zeros, elsewhere.
 */
#define CPU_INDEX_DEFINE_LOOP(id, name, ctype)                                                   \
    CPU_INDEX_INLINE void cpu_index_group_##name(const struct cpu_index_terms *terms,            \
                                                 struct cpu_index_shape shape,                   \
                                                 const char *restrict bytes,                     \
                                                 uint32_t *restrict indexes)                     \
    {                                                                                            \
        for (size_t i = 0; i < CPU_INDEX_GROUP; i++) {                                           \
            ctype value;                                                                         \
            memcpy(&value, bytes + i * sizeof value, sizeof value);                              \
            if (shape.swapped)                                                                   \
                value = (ctype)element_swap((uint64_t)(int64_t)value, sizeof value);             \
            indexes[i] = cpu_index_bin(terms, shape, (uint64_t)(int64_t)value);                  \
        }                                                                                        \
    }                                                                                            \
    CPU_INDEX_INLINE void cpu_index_loop_##name(const struct cpu_index_terms *terms,             \
                                                struct cpu_index_shape shape, const char *bytes, \
                                                size_t count, uint32_t *indexes,                 \
                                                const struct cpu_tables_turns *turns)            \
    {                                                                                            \
        const struct cpu_index_terms local = *terms; /* no store can change it */                \
        const struct cpu_tables_turns tables = turns ? *turns : (struct cpu_tables_turns){{0}};  \
        ctype rest[CPU_INDEX_GROUP] = {0};                                                       \
        uint32_t rest_indexes[CPU_INDEX_GROUP];                                                  \
        for (size_t i = 0; i < count; i += CPU_INDEX_GROUP) {                                    \
            const bool is_whole = count - i >= CPU_INDEX_GROUP;                                  \
            const char *from = bytes + i * sizeof(ctype);                                        \
            if (!is_whole)                                                                       \
                memcpy(rest, from, (count - i) * sizeof(ctype));                                 \
            cpu_index_group_##name(&local, shape, is_whole ? from : (const char *)rest,          \
                                   is_whole ? indexes + i : rest_indexes);                       \
            if (!is_whole)                                                                       \
                memcpy(indexes + i, rest_indexes, (count - i) * sizeof *indexes);                \
            if (turns && i >= CPU_TABLES_LAG)                                                    \
                cpu_tables_count_group(&tables, indexes + i - CPU_TABLES_LAG, CPU_INDEX_GROUP);  \
        }                                                                                        \
        if (turns)                                                                               \
            cpu_tables_count_rest(&tables, indexes, count, CPU_INDEX_GROUP);                     \
    }                                                                                            \
    CPU_INDEX_INLINE void cpu_index_##name(const struct binning *binning, unsigned float_bits,   \
                                           bool swapped, const void *elements, size_t count,     \
                                           uint32_t *indexes,                                    \
                                           const struct cpu_tables_turns *turns)                 \
    {                                                                                            \
        const __int128 values = (__int128)1 << 8 * sizeof(ctype);                                \
        const bool is_signed = (ctype)-1 < (ctype)1;                                             \
        const __int128 min = is_signed ? -values / 2 : 0;                                        \
        const bool swap = swapped && sizeof(ctype) > 1;                                          \
        struct cpu_index_terms terms = {.binning = *binning};                                    \
        enum cpu_index_quotients quotients = CPU_INDEX_DEFINED;                                  \
        if (binning->form == BINNING_MULTIPLES32 || binning->form == BINNING_MULTIPLES64)        \
            quotients = cpu_index_add_multiples(&terms, min, min + values);                      \
        if (float_bits == 32) /* doubles of words of 64 bits are slower than these */            \
            quotients = CPU_INDEX_DEFINED;                                                       \
        switch (binning->form) {                                                                 \
            CPU_INDEX_FORMS_THAT_COUNT(CPU_INDEX_CASE, name, ctype, turns)                       \
            CPU_INDEX_OTHER_FORMS(CPU_INDEX_CASE, name, ctype, NULL)                             \
        case BINNING_MULTIPLES64:                                                                \
            if (quotients == CPU_INDEX_EXACT)                                                    \
                CPU_INDEX_RUN(name, ctype, BINNING_MULTIPLES64, CPU_INDEX_EXACT, turns);         \
            else if (quotients == CPU_INDEX_NEARLY)                                              \
                CPU_INDEX_RUN(name, ctype, BINNING_MULTIPLES64, CPU_INDEX_NEARLY, turns);        \
            else                                                                                 \
                CPU_INDEX_RUN(name, ctype, BINNING_MULTIPLES64, CPU_INDEX_DEFINED, turns);       \
        }                                                                                        \
    }

#define CPU_INDEX_CASE(form, name, ctype, turns)                    \
    case form:                                                      \
        CPU_INDEX_RUN(name, ctype, form, CPU_INDEX_DEFINED, turns); \
        break;

#define CPU_INDEX_SHAPE(ctype, form, quotients, swapped) \
    ((struct cpu_index_shape){form, quotients, float_bits, sizeof(ctype), is_signed, swapped})
#define CPU_INDEX_RUN(name, ctype, form, quotients, turns)                                         \
    (swap ? cpu_index_loop_##name(&terms, CPU_INDEX_SHAPE(ctype, form, quotients, true), elements, \
                                  count, indexes, turns)                                           \
          : cpu_index_loop_##name(&terms, CPU_INDEX_SHAPE(ctype, form, quotients, false),          \
                                  elements, count, indexes, turns))

ELEMENT_TYPES(CPU_INDEX_DEFINE_LOOP)

/* Wrapped for each instruction set, and the table of them. */
#define CPU_INDEX_WRAP(isa, target, name)                                                     \
    target static void cpu_index_##name##_##isa(const struct binning *binning, bool swapped,  \
                                                const void *elements, size_t count,           \
                                                uint32_t *indexes,                            \
                                                const struct cpu_tables_turns *turns)         \
    {                                                                                         \
        cpu_index_##name(binning, CPU_ISA_FLOAT_BITS(isa), swapped, elements, count, indexes, \
                         turns);                                                              \
    }
#define CPU_INDEX_DEFINE(id, name, ctype) CPU_ISA_VARIANTS(CPU_INDEX_WRAP, name)
ELEMENT_TYPES(CPU_INDEX_DEFINE)

#define CPU_INDEX_ENTRY(isa, target, name) cpu_index_##name##_##isa,
#define CPU_INDEX_ROW(id, name, ctype)     [ELEMENT_##id] = {CPU_ISA_VARIANTS(CPU_INDEX_ENTRY, name)},

cpu_index_function *cpu_index_choose(const struct element *element, const struct binning *binning)
{
    static cpu_index_function *const functions[ELEMENT_TYPE_COUNT][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(CPU_INDEX_ROW)};
    cpu_index_function *scaled = binning ? cpu_index_scaled_choose(element, binning) : NULL;

    return scaled ? scaled : functions[element->type][cpu_isa_best()];
}

bool cpu_index_can_count(enum binning_form form)
{
#define CPU_INDEX_COUNT_CASE(form, ...) case form:
    switch (form) {
        CPU_INDEX_FORMS_THAT_COUNT(CPU_INDEX_COUNT_CASE, )
    case BINNING_MULTIPLES64:
        return true;
    default:
        return false;
    }
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
