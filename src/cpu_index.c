#include "config.h"

#include "cpu_index.h"

#include "cpu_exponent.h"
#include "cpu_index_scaled.h"
#include "cpu_isa.h"

#include <string.h>

#define CPU_INDEX_INLINE static inline __attribute__((always_inline))

/* The bin of a value in powers of 2, in words that have it. */
#define CPU_INDEX_DEFINE_LOG2(bits)                                                            \
    CPU_INDEX_INLINE uint32_t cpu_index_log2_##bits(uint32_t zero, bool counts_zeros,          \
                                                    bool is_signed, uint##bits##_t value)      \
    {                                                                                          \
        const uint##bits##_t sign = is_signed ? 0 - (value >> (bits - 1)) : 0;                 \
        const uint##bits##_t magnitude = (value ^ sign) - sign;                                \
        const uint32_t digits = cpu_exponent##bits(counts_zeros, magnitude) + (magnitude > 0); \
        return zero + ((digits ^ (uint32_t)sign) - (uint32_t)sign);                            \
    }
CPU_INDEX_DEFINE_LOG2(32)
CPU_INDEX_DEFINE_LOG2(64)

/*
 * For each element type: the loop, with form and byte order as constants so that it becomes
 * straight vector code, and the choice among its variants.
 */
#define CPU_INDEX_DEFINE_LOOP(id, name, ctype)                                                     \
    CPU_INDEX_INLINE size_t cpu_index_loop_##name(const struct binning *binning,                   \
                                                  enum binning_form form, bool swapped,            \
                                                  const void *elements, size_t count,              \
                                                  uint32_t *indexes)                               \
    {                                                                                              \
        const struct binning local = *binning; /* no store to indexes can change it */             \
        const char *bytes = elements;                                                              \
        uint32_t outside = 0;                                                                      \
        for (size_t i = 0; i < count; i++) {                                                       \
            ctype value;                                                                           \
            memcpy(&value, bytes + i * sizeof value, sizeof value);                                \
            if (swapped)                                                                           \
                value = (ctype)element_swap((uint64_t)(int64_t)value, sizeof value);               \
            uint32_t index = binning_index(&local, form, (uint64_t)(int64_t)value);                \
            indexes[i] = index;                                                                    \
            outside += index >= local.bins;                                                        \
        }                                                                                          \
        return outside;                                                                            \
    }                                                                                              \
    CPU_INDEX_INLINE size_t cpu_index_log2_##name(const struct binning *binning,                   \
                                                  bool counts_zeros, bool swapped,                 \
                                                  const void *elements, size_t count,              \
                                                  uint32_t *indexes)                               \
    {                                                                                              \
        const uint32_t zero = binning->zero;                                                       \
        const char *bytes = elements;                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            ctype value;                                                                           \
            memcpy(&value, bytes + i * sizeof value, sizeof value);                                \
            if (swapped)                                                                           \
                value = (ctype)element_swap((uint64_t)(int64_t)value, sizeof value);               \
            indexes[i] =                                                                           \
                sizeof value > 4                                                                   \
                    ? cpu_index_log2_64(zero, counts_zeros, (ctype)-1 < (ctype)1, (uint64_t)value) \
                    : cpu_index_log2_32(zero, counts_zeros, (ctype)-1 < (ctype)1,                  \
                                        (uint32_t)value);                                          \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    CPU_INDEX_INLINE size_t cpu_index_##name(const struct binning *binning, bool counts_zeros,     \
                                             bool swapped, const void *elements, size_t count,     \
                                             uint32_t *indexes)                                    \
    {                                                                                              \
        bool swap = swapped && sizeof(ctype) > 1;                                                  \
        switch (binning->form) {                                                                   \
            CPU_INDEX_CASE(name, BINNING_UNIT32)                                                   \
            CPU_INDEX_CASE(name, BINNING_UNIT64)                                                   \
            CPU_INDEX_CASE(name, BINNING_SCALED32)                                                 \
            CPU_INDEX_CASE(name, BINNING_SCALED64)                                                 \
            CPU_INDEX_CASE(name, BINNING_SCALED128)                                                \
            CPU_INDEX_CASE(name, BINNING_MULTIPLES32)                                              \
            CPU_INDEX_CASE(name, BINNING_MULTIPLES64)                                              \
        case BINNING_LOG2:                                                                         \
            return swap ? cpu_index_log2_##name(binning, counts_zeros, true, elements, count,      \
                                                indexes)                                           \
                        : cpu_index_log2_##name(binning, counts_zeros, false, elements, count,     \
                                                indexes);                                          \
            CPU_INDEX_CASE(name, BINNING_LOG10_32)                                                 \
            CPU_INDEX_CASE(name, BINNING_LOG10_64)                                                 \
            CPU_INDEX_CASE(name, BINNING_EDGES_FEW)                                                \
            CPU_INDEX_CASE(name, BINNING_EDGES)                                                    \
        }                                                                                          \
        __builtin_unreachable();                                                                   \
    }

#define CPU_INDEX_CASE(name, form)                                                         \
    case form:                                                                             \
        return swap ? cpu_index_loop_##name(binning, form, true, elements, count, indexes) \
                    : cpu_index_loop_##name(binning, form, false, elements, count, indexes);

ELEMENT_TYPES(CPU_INDEX_DEFINE_LOOP)

/* Wrapped for each instruction set, and the table of them. */
#define CPU_INDEX_WRAP(isa, target, name)                                                      \
    target static size_t cpu_index_##name##_##isa(const struct binning *binning, bool swapped, \
                                                  const void *elements, size_t count,          \
                                                  uint32_t *indexes)                           \
    {                                                                                          \
        return cpu_index_##name(binning, CPU_ISA_COUNTS_ZEROS(isa), swapped, elements, count,  \
                                indexes);                                                      \
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
