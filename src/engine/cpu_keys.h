/*
 * Converts blocks of elements of any type to keys (element.h) of 32 or 64 bits, or to this
 * machine's byte order, so that loops need no other. All functions are pure and thread-safe.
 */
#ifndef GPUHIST_CPU_KEYS_H
#define GPUHIST_CPU_KEYS_H

#include "engine/cpu_index_loops.h"
#include "value/element.h"

/* Elements that are converted at once, so that their keys stay in L1. */
#define CPU_KEYS_BLOCK ((size_t)1024)

/* Writes the keys of elements[0..count), unaligned; count is a multiple of CPU_INDEX_GROUP. */
typedef void cpu_keys_function(const void *elements, size_t count, void *keys);

/*
 * Returns the function that writes keys of key_bytes bytes, 4 or 8 and not less than the element
 * has, for the best instruction set of this machine. Returns NULL if the elements already are such
 * keys.
 */
cpu_keys_function *cpu_keys_choose(const struct element *element, unsigned key_bytes);

/* Writes the keys of elements[0..count), unaligned, of any count, to keys[0..count). */
void cpu_keys_widen(const struct element *element, const void *elements, size_t count,
                    uint64_t *keys);

/* Elements in a block: at most 32 KiB, so that a block stays in or near L1. */
#define CPU_NATIVE_BLOCK ((size_t)4096)

/* Holds a block of elements of any type. */
struct cpu_native {
    uint64_t words[CPU_NATIVE_BLOCK];
};

/*
 * Returns elements[0..count), at most a block, in this machine's byte order: the elements
 * themselves if they are, else a copy in `buffer`. Thread-safe on distinct buffers.
 */
const void *cpu_native_block(const struct element *element, const void *elements, size_t count,
                             struct cpu_native *buffer);

#endif
