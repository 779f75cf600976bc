#include "config.h"

#include "cpu_index.h"

#include "cpu_isa.h"

#include <string.h>

#define CPU_INDEX_INLINE static inline __attribute__((always_inline))

CPU_INDEX_INLINE uint64_t cpu_index_swap(uint64_t word, size_t bytes)
{
    switch (bytes) {
    case 2:
        return __builtin_bswap16((uint16_t)word);
    case 4:
        return __builtin_bswap32((uint32_t)word);
    case 8:
        return __builtin_bswap64(word);
    default:
        return word;
    }
}

/*
 * For each element type: the loop, with form and byte order as constants so that it becomes
 * straight vector code, and the choice among its variants.
 */
#define CPU_INDEX_DEFINE_LOOP(id, name, ctype)                                            \
    CPU_INDEX_INLINE size_t cpu_index_loop_##name(const struct binning *binning,          \
                                                  enum binning_form form, bool swapped,   \
                                                  const void *elements, size_t count,     \
                                                  uint32_t *indexes)                      \
    {                                                                                     \
        const struct binning local = *binning; /* no store to indexes can change it */    \
        const char *bytes = elements;                                                     \
        uint32_t outside = 0;                                                             \
        for (size_t i = 0; i < count; i++) {                                              \
            ctype value;                                                                  \
            memcpy(&value, bytes + i * sizeof value, sizeof value);                       \
            if (swapped)                                                                  \
                value = (ctype)cpu_index_swap((uint64_t)(int64_t)value, sizeof value);    \
            uint32_t index = binning_index(&local, form, (uint64_t)(int64_t)value);       \
            indexes[i] = index;                                                           \
            outside += index >= local.bins;                                               \
        }                                                                                 \
        return outside;                                                                   \
    }                                                                                     \
    CPU_INDEX_INLINE size_t cpu_index_##name(const struct binning *binning, bool swapped, \
                                             const void *elements, size_t count,          \
                                             uint32_t *indexes)                           \
    {                                                                                     \
        bool swap = swapped && sizeof(ctype) > 1;                                         \
        switch (binning->form) {                                                          \
            CPU_INDEX_CASE(name, BINNING_UNIT32)                                          \
            CPU_INDEX_CASE(name, BINNING_UNIT64)                                          \
            CPU_INDEX_CASE(name, BINNING_SCALED32)                                        \
            CPU_INDEX_CASE(name, BINNING_SCALED64)                                        \
            CPU_INDEX_CASE(name, BINNING_SCALED128)                                       \
        }                                                                                 \
        __builtin_unreachable();                                                          \
    }

#define CPU_INDEX_CASE(name, form)                                                         \
    case form:                                                                             \
        return swap ? cpu_index_loop_##name(binning, form, true, elements, count, indexes) \
                    : cpu_index_loop_##name(binning, form, false, elements, count, indexes);

ELEMENT_TYPES(CPU_INDEX_DEFINE_LOOP)

/* For each instruction set: a function for each type, and the row of them. */
#define CPU_INDEX_DEFINE_TARGET(id, name, isa, target)                                         \
    target static size_t cpu_index_##name##_##isa(const struct binning *binning, bool swapped, \
                                                  const void *elements, size_t count,          \
                                                  uint32_t *indexes)                           \
    {                                                                                          \
        return cpu_index_##name(binning, swapped, elements, count, indexes);                   \
    }

#if defined(__x86_64__)
#define CPU_INDEX_DEFINE_AVX512(id, name, ctype) \
    CPU_INDEX_DEFINE_TARGET(id, name, avx512, CPU_ISA_TARGET_AVX512)
#define CPU_INDEX_DEFINE_AVX2(id, name, ctype) \
    CPU_INDEX_DEFINE_TARGET(id, name, avx2, CPU_ISA_TARGET_AVX2)
ELEMENT_TYPES(CPU_INDEX_DEFINE_AVX512)
ELEMENT_TYPES(CPU_INDEX_DEFINE_AVX2)
#endif
#define CPU_INDEX_DEFINE_PLAIN(id, name, ctype) \
    CPU_INDEX_DEFINE_TARGET(id, name, plain, CPU_ISA_TARGET_PLAIN)
ELEMENT_TYPES(CPU_INDEX_DEFINE_PLAIN)

#define CPU_INDEX_ENTRY_AVX512(id, name, ctype) [ELEMENT_##id] = cpu_index_##name##_avx512,
#define CPU_INDEX_ENTRY_AVX2(id, name, ctype)   [ELEMENT_##id] = cpu_index_##name##_avx2,
#define CPU_INDEX_ENTRY_PLAIN(id, name, ctype)  [ELEMENT_##id] = cpu_index_##name##_plain,
#define CPU_INDEX_ROW(isa, name)                [CPU_ISA_##isa] = {ELEMENT_TYPES(CPU_INDEX_ENTRY_##isa)},

cpu_index_function *cpu_index_choose(enum element_type type)
{
    static cpu_index_function *const functions[CPU_ISA_COUNT][ELEMENT_TYPE_COUNT] = {
        CPU_ISAS(CPU_INDEX_ROW)};
    return functions[cpu_isa_best()][type];
}
