/*
 * Elements in this machine's byte order, so that the loops behind see no other.
 */
#ifndef GPUHIST_CPU_NATIVE_H
#define GPUHIST_CPU_NATIVE_H

#include "job/element.h"

#include <stddef.h>

/* Elements in a block: 32 KiB at the most, so that a block stays in L1 or near it. */
#define CPU_NATIVE_BLOCK ((size_t)4096)

/* Room for a block of elements of any type. */
struct cpu_native {
    uint64_t words[CPU_NATIVE_BLOCK];
};

typedef void cpu_native_function(const void *elements, size_t count, void *room);

/*
 * The function that copies swapped elements into this machine's order, in the best instruction set
 * of this machine; NULL for elements that are in that order. Thread-safe, as is the function.
 */
cpu_native_function *cpu_native_choose(const struct element *element);

/* The elements[0..count), at most a block, in this machine's order: themselves or a copy in `room`.
 */
static inline const void *cpu_native_block(cpu_native_function *swap, const void *elements,
                                           size_t count, struct cpu_native *room)
{
    if (!swap)
        return elements;
    swap(elements, count, room->words);
    return room->words;
}

#endif
