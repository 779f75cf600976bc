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

/*
 * Returns elements[0..count), at most a block, in this machine's byte order: the elements
 * themselves if they are, else a copy in `buffer`. Thread-safe on distinct buffers.
 */
const void *cpu_native_block(const struct element *element, const void *elements, size_t count,
                             struct cpu_native *buffer);

#endif
