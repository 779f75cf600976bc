/* Implements cpu_native.h: one loop for each width and instruction set. */
#include "config.h"

#include "cpu/cpu_native.h"

#include "base/cpu_isa.h"

/* A cpu_native_function for a constant type. */
static inline __attribute__((always_inline)) void cpu_native_swap(enum element_type type,
                                                                  size_t width,
                                                                  const char *elements,
                                                                  size_t count, char *buffer)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = element_load(type, elements + i * width);
        element_store(buffer + i * width, element_swap(word, width), width);
    }
}

#define CPU_NATIVE_WRAP(isa, target, bits)                                               \
    target static void cpu_native_swap##bits##_##isa(const void *elements, size_t count, \
                                                     void *buffer)                       \
    {                                                                                    \
        cpu_native_swap(ELEMENT_U##bits, bits / 8, elements, count, buffer);             \
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
