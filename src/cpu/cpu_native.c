#include "config.h"

#include "cpu/cpu_native.h"

#include "base/cpu_isa.h"

#include <string.h>

#define CPU_NATIVE_WRAP(isa, target, bits)                                               \
    target static void cpu_native_swap##bits##_##isa(const void *elements, size_t count, \
                                                     void *room)                         \
    {                                                                                    \
        const char *from = elements;                                                     \
        char *to = room;                                                                 \
        for (size_t i = 0; i < count; i++) {                                             \
            uint##bits##_t word;                                                         \
            memcpy(&word, from + i * sizeof word, sizeof word);                          \
            word = __builtin_bswap##bits(word);                                          \
            memcpy(to + i * sizeof word, &word, sizeof word);                            \
        }                                                                                \
    }
CPU_ISA_VARIANTS(CPU_NATIVE_WRAP, 16)
CPU_ISA_VARIANTS(CPU_NATIVE_WRAP, 32)
CPU_ISA_VARIANTS(CPU_NATIVE_WRAP, 64)
#define CPU_NATIVE_ENTRY(isa, target, bits) cpu_native_swap##bits##_##isa,

cpu_native_function *cpu_native_choose(const struct element *element)
{
    static cpu_native_function *const functions[][CPU_ISA_COUNT] = {
        [2] = {CPU_ISA_VARIANTS(CPU_NATIVE_ENTRY, 16)},
        [4] = {CPU_ISA_VARIANTS(CPU_NATIVE_ENTRY, 32)},
        [8] = {CPU_ISA_VARIANTS(CPU_NATIVE_ENTRY, 64)},
    };
    return element->swapped && element->bytes > 1 ? functions[element->bytes][cpu_isa_best()]
                                                  : NULL;
}
