/* Implements memory.h. */
#include "config.h"

#include "lib/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_HUGE_PAGE ((size_t)2 << 20)

/*
 * The pages of kernels whose huge pages have 2 MiB. Those of kernels with pages of 16 or 64 KiB
 * have 32 or 512 MiB: the first touch of one would clear all of it.
 */
#define MEMORY_SMALL_PAGE (4 << 10)

/* Returns the size of a mapping: whole pages. */
static size_t memory_size(size_t bytes)
{
    const size_t page =
        bytes >= MEMORY_HUGE_PAGE ? MEMORY_HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

void *memory_map(size_t bytes)
{
    const size_t size = memory_size(bytes);
    const size_t more = bytes >= MEMORY_HUGE_PAGE ? MEMORY_HUGE_PAGE : 0;
    char *mapping =
        mmap(NULL, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mapping == MAP_FAILED || more == 0)
        return mapping == MAP_FAILED ? NULL : mapping;
    /* Unmap the parts before and after the aligned one. */
    const size_t before = -(uintptr_t)mapping % MEMORY_HUGE_PAGE;
    if (before > 0)
        munmap(mapping, before);
    munmap(mapping + before + size, more - before);
    if (sysconf(_SC_PAGESIZE) == MEMORY_SMALL_PAGE)
        madvise(mapping + before, size, MADV_HUGEPAGE); /* a hint: a failure only costs speed */
    return mapping + before;
}

void memory_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, memory_size(bytes));
}

void *memory_remap(void *memory, size_t bytes, size_t new_bytes)
{
    void *moved = memory_map(new_bytes); /* ThreadSanitizer does not know mremap */

    if (!moved)
        return NULL;
    memcpy(moved, memory, bytes < new_bytes ? bytes : new_bytes);
    memory_unmap(memory, bytes);
    return moved;
}

void memory_touch(void *memory, size_t bytes)
{
    for (size_t i = 0, page = memory_size(1); i < bytes; i += page)
        ((volatile char *)memory)[i] = 0;
}
