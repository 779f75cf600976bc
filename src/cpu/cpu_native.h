/* Converts blocks of elements to this machine's byte order, so that loops need no other. */
#ifndef GPUHIST_CPU_NATIVE_H
#define GPUHIST_CPU_NATIVE_H

#include "job/element.h"

#include <stddef.h>

/* Elements in a block: at most 32 KiB, so that a block stays in or near L1. */
#define CPU_NATIVE_BLOCK ((size_t)4096)

/* Holds a block of elements of any type. */
struct cpu_native {
    uint64_t words[CPU_NATIVE_BLOCK];
};

typedef void cpu_native_function(const void *elements, size_t count, void *buffer);

/*
 * The function that copies elements[0..count) to `buffer` and reverses the bytes of each, in the
 * best instruction set of this machine. NULL if the elements are in this machine's byte order. This
 * function and the returned one are thread-safe.
 */
cpu_native_function *cpu_native_choose(const struct element *element);

/*
 * Returns elements[0..count), at most a block, in this machine's byte order: the elements
 * themselves if `swap` is NULL, else a copy in `buffer`. Thread-safe on distinct buffers.
 */
static inline const void *cpu_native_block(cpu_native_function *swap, const void *elements,
                                           size_t count, struct cpu_native *buffer)
{
    if (!swap)
        return elements;
    swap(elements, count, buffer->words);
    return buffer->words;
}

#endif
