/* Implements memory.h. */
#include "config.h"

#include "base/memory.h"

#include "base/memory_limits.h"

#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_HUGE_PAGE ((size_t)2 << 20)

/*
 * The pages of kernels whose huge pages have 2 MiB. Those of kernels with pages of 16 or 64 KiB
 * have 32 or 512 MiB: the first touch of one would clear all of it.
 */
#define MEMORY_SMALL_PAGE ((size_t)4 << 10)

static size_t memory_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t memory_round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t memory_mapping_bytes(size_t bytes)
{
    return memory_round_up(bytes, bytes >= MEMORY_HUGE_PAGE ? MEMORY_HUGE_PAGE : memory_page());
}

static void *memory_map_pages(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *memory_map(size_t bytes)
{
    size_t size = memory_mapping_bytes(bytes);
    if (bytes < MEMORY_HUGE_PAGE)
        return memory_map_pages(size);

    /* Map one huge page more, then unmap the parts before and after the aligned one. */
    char *mapping = memory_map_pages(size + MEMORY_HUGE_PAGE);
    if (!mapping)
        return NULL;
    size_t before = memory_round_up((uintptr_t)mapping, MEMORY_HUGE_PAGE) - (uintptr_t)mapping;
    if (before > 0)
        munmap(mapping, before);
    munmap(mapping + before + size, MEMORY_HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    if (memory_page() == MEMORY_SMALL_PAGE)
        madvise(mapping + before, size, MADV_HUGEPAGE); /* a hint: a failure only costs speed */
#endif
    return mapping + before;
}

void memory_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, memory_mapping_bytes(bytes));
}

void memory_touch(void *memory, size_t bytes)
{
    for (size_t i = 0, page = memory_page(); i < bytes; i += page)
        ((volatile char *)memory)[i] = 0;
}

uint64_t memory_available(void)
{
    return memory_limits_available("");
}
