/* Implements cpu_native.h: one loop for each width and instruction set. */
#include "config.h"

#include "cpu/cpu_native.h"

#include "base/cpu_isa.h"

/* Copies elements of a constant type, the bytes of each in reverse order. */
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

const void *cpu_native_block(const struct element *element, const void *elements, size_t count,
                             struct cpu_native *buffer)
{
    static void (*const functions[][CPU_ISA_COUNT])(const void *, size_t, void *) = {
        [2] = {CPU_ISA_VARIANTS(CPU_NATIVE_ENTRY, 16)},
        [4] = {CPU_ISA_VARIANTS(CPU_NATIVE_ENTRY, 32)},
        [8] = {CPU_ISA_VARIANTS(CPU_NATIVE_ENTRY, 64)},
    };

    if (!element->swapped || element->bytes == 1)
        return elements;
    functions[element->bytes][cpu_isa_best()](elements, count, buffer->words);
    return buffer->words;
}
