/*
 * Converts blocks of elements of any type to keys (element.h) of 32 or 64 bits, or to this
 * machine's byte order: loops need no other types. All functions are pure and thread-safe.
 */
#ifndef GPUHIST_CPU_KEYS_H
#define GPUHIST_CPU_KEYS_H

#include "engine/cpu_index_loops.h"
#include "value/element.h"

/* Number of elements that are converted at once: their keys stay in L1. */
#define CPU_KEYS_BLOCK ((size_t)1024)

/* Writes the keys of elements[0..count), unaligned; count is a multiple of CPU_INDEX_GROUP. */
typedef void cpu_keys_function(const void *elements, size_t count, void *keys);

/*
 * Returns the function that writes keys of key_bytes bytes (4 or 8, at least the element's size)
 * with this machine's best instruction set. Returns NULL if the elements already are such keys.
 */
cpu_keys_function *cpu_keys_choose(const struct element *element, unsigned key_bytes);

/* Writes the keys of elements[0..count), unaligned, to keys[0..count), for any count. */
void cpu_keys_widen(const struct element *element, const void *elements, size_t count,
                    uint64_t *keys);

/* Maximum number of elements in a block: 32 KiB, so that it stays in or near L1. */
#define CPU_NATIVE_BLOCK ((size_t)4096)

/* A buffer for a block of elements of any type. */
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
