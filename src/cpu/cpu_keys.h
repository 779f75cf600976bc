/*
 * Converts blocks of elements of any type to keys (element.h) of 32 or 64 bits, or directly to the
 * numbers of bins of width 1. All functions are pure and thread-safe.
 */
#ifndef GPUHIST_CPU_KEYS_H
#define GPUHIST_CPU_KEYS_H

#include "cpu/cpu_index_loops.h"
#include "job/element.h"

#include <string.h>

/* The most elements that are converted at once, so that their keys stay in L1. */
#define CPU_KEYS_BLOCK ((size_t)1024)

/* Writes the keys of elements[0..count), unaligned; count is a multiple of CPU_INDEX_GROUP. */
typedef void cpu_keys_function(const void *elements, size_t count, void *keys);

/*
 * Returns the function that makes keys of key_bytes bytes, 4 or 8 and not less than the element
 * has, for the best instruction set of this machine. Returns NULL if the elements already are such
 * keys.
 */
cpu_keys_function *cpu_keys_choose(const struct element *element, unsigned key_bytes);

/* Returns the loop from elements to the numbers of bins of width 1, likewise. */
cpu_index_loop *cpu_keys_choose_units(const struct element *element);

/* Returns element i; one function for each type: cpu_keys_load_i8, ... */
#define CPU_KEYS_DEFINE_LOAD(id, name, ctype)                                    \
    static inline __attribute__((always_inline))                                 \
    ctype cpu_keys_load_##name(bool swapped, const char *elements, size_t i)     \
    {                                                                            \
        ctype value;                                                             \
        memcpy(&value, elements + i * sizeof value, sizeof value);               \
        if (swapped)                                                             \
            value = (ctype)element_swap((uint64_t)(int64_t)value, sizeof value); \
        return value;                                                            \
    }
ELEMENT_TYPES(CPU_KEYS_DEFINE_LOAD)

#endif
