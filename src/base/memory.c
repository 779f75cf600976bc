/* Implements memory.h: mappings; the minimum of what the system, groups and limits leave. */
#include "config.h"

#include "base/memory.h"

#include "base/control_group.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEMORY_HUGE_PAGE ((size_t)2 << 20)

/*
 * The pages of kernels whose huge pages have 2 MiB. Those of kernels with pages of 16 or 64 KiB
 * have 32 or 512 MiB: the first touch of one would clear all of it.
 */
#define MEMORY_SMALL_PAGE (4 << 10)

/* The size of a mapping: whole pages. */
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
#ifdef MADV_HUGEPAGE
    if (sysconf(_SC_PAGESIZE) == MEMORY_SMALL_PAGE)
        madvise(mapping + before, size, MADV_HUGEPAGE); /* a hint: a failure only costs speed */
#endif
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

/* Returns RLIMIT_AS, or RLIM_INFINITY. */
static rlim_t memory_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool memory_is_limited(void)
{
    return memory_limit() != RLIM_INFINITY;
}

uint64_t memory_available_under(const char *root)
{
    static const char *const available_label[2] = {"MemAvailable:"};
    static const char *const pages_label[2] = {""};
    const rlim_t limit = memory_limit();
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/proc", root);
    const uint64_t kib = control_group_read(path, "meminfo", available_label, UINT64_MAX);
    uint64_t available = kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
    const uint64_t of_groups = control_group_memory(root);

    if (of_groups < available)
        available = of_groups;
    if (limit != RLIM_INFINITY) {
        const uint64_t mapped = control_group_read(path, "self/statm", pages_label, 0) *
                                (uint64_t)sysconf(_SC_PAGESIZE);
        const uint64_t left = limit > mapped ? limit - mapped : 0;
        available = left < available ? left : available;
    }
    return available;
}
