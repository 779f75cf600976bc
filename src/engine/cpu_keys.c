/* Implements cpu_keys.h: one loop for each type, byte order, width and instruction set. */
#include "config.h"

#include "engine/cpu_keys.h"

#include "lib/cpu_isa.h"

#include <string.h>

#define CPU_KEYS_INLINE static inline __attribute__((always_inline))

/* The loop of a type, inlined with constants for the byte order and the bytes of keys. */
#define CPU_KEYS_DEFINE(id, name, ctype)                                                     \
    CPU_KEYS_INLINE void cpu_keys_##name(bool swapped, unsigned key_bytes,                   \
                                         const char *restrict elements, size_t count,        \
                                         char *restrict keys)                                \
    {                                                                                        \
        for (size_t i = 0; i < count; i += CPU_INDEX_GROUP) {                                \
            for (size_t k = i; k < i + CPU_INDEX_GROUP; k++) {                               \
                ctype value;                                                                 \
                memcpy(&value, elements + k * sizeof value, sizeof value);                   \
                if (swapped)                                                                 \
                    value = (ctype)element_swap((uint64_t)(int64_t)value, sizeof value);     \
                const uint32_t narrow = (uint32_t)value;                                     \
                const uint64_t wide = (uint64_t)(int64_t)value;                              \
                memcpy(keys + k * key_bytes, key_bytes == 4 ? &narrow : (const void *)&wide, \
                       key_bytes);                                                           \
            }                                                                                \
        }                                                                                    \
    }
ELEMENT_TYPES(CPU_KEYS_DEFINE)

/* The loops for each instruction set, and their tables. */
#define CPU_KEYS_WRAP_KEYS(isa, target, name, swapped, bytes)                                  \
    target static void cpu_keys_##name##_##swapped##_##bytes##_##isa(const void *elements,     \
                                                                     size_t count, void *keys) \
    {                                                                                          \
        cpu_keys_##name(swapped, bytes, elements, count, keys);                                \
    }
#define CPU_KEYS_WRAP(id, name, ctype)               \
    CPU_ISA_VARIANTS(CPU_KEYS_WRAP_KEYS, name, 0, 4) \
    CPU_ISA_VARIANTS(CPU_KEYS_WRAP_KEYS, name, 0, 8) \
    CPU_ISA_VARIANTS(CPU_KEYS_WRAP_KEYS, name, 1, 4) \
    CPU_ISA_VARIANTS(CPU_KEYS_WRAP_KEYS, name, 1, 8)
ELEMENT_TYPES(CPU_KEYS_WRAP)

#define CPU_KEYS_ENTRY(isa, target, name) cpu_keys_##name##_##isa,

cpu_keys_function *cpu_keys_choose(const struct element *element, unsigned key_bytes)
{
#define CPU_KEYS_ROW(id, name, ctype)                \
    {{CPU_ISA_VARIANTS(CPU_KEYS_ENTRY, name##_0_4)}, \
     {CPU_ISA_VARIANTS(CPU_KEYS_ENTRY, name##_0_8)}, \
     {CPU_ISA_VARIANTS(CPU_KEYS_ENTRY, name##_1_4)}, \
     {CPU_ISA_VARIANTS(CPU_KEYS_ENTRY, name##_1_8)}},
    static cpu_keys_function *const functions[ELEMENT_TYPE_COUNT][4][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(CPU_KEYS_ROW)};

    if (element->bytes == key_bytes && !element->swapped)
        return NULL;
    return functions[element->type][2 * element->swapped + (key_bytes == 8)][cpu_isa_best()];
}

void cpu_keys_widen(const struct element *element, const void *elements, size_t count,
                    uint64_t *keys)
{
    cpu_keys_function *loop = cpu_keys_choose(element, sizeof *keys);
    const size_t whole = count - count % CPU_INDEX_GROUP;

    if (!loop) {
        memcpy(keys, elements, count * sizeof *keys);
        return;
    }
    loop(elements, whole, keys);
    for (size_t i = whole; i < count; i++)
        keys[i] = element_key(element, (const char *)elements + i * element->bytes);
}

/* Copies elements of a constant type with reversed bytes. */
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
