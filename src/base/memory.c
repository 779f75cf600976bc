/* Implements memory.h: mappings, and the limits of the system and of control groups. */
#include "config.h"

#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_HUGE_PAGE ((size_t)2 << 20)

static size_t memory_round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t memory_mapping_bytes(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return memory_round_up(bytes, bytes >= MEMORY_HUGE_PAGE ? MEMORY_HUGE_PAGE : page);
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

    /* Map one huge page more, then unmap the parts before and behind the aligned one. */
    char *mapping = memory_map_pages(size + MEMORY_HUGE_PAGE);
    if (!mapping)
        return NULL;
    size_t before = memory_round_up((uintptr_t)mapping, MEMORY_HUGE_PAGE) - (uintptr_t)mapping;
    if (before > 0)
        munmap(mapping, before);
    munmap(mapping + before + size, MEMORY_HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
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
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < bytes; i += page)
        ((volatile char *)memory)[i] = 0;
}

/* Reads the number behind `label` in a file; returns `otherwise` if there is none. */
static uint64_t memory_read_number(const char *path, const char *label, uint64_t otherwise)
{
    char line[128];
    uint64_t number = otherwise;
    FILE *file = fopen(path, "re");

    if (!file)
        return otherwise;
    while (fgets(line, sizeof line, file)) {
        const char *digits = line + strlen(label);
        if (strncmp(line, label, strlen(label)) == 0 && sscanf(digits, "%" SCNu64, &number) == 1)
            break;
    }
    fclose(file);
    return number;
}

/* The least that the control group of this process and its parents leave of their limits. */
static uint64_t memory_group_available(void)
{
    char path[PATH_MAX] = "";
    char file[PATH_MAX + 64];
    uint64_t available = UINT64_MAX;
    FILE *groups = fopen("/proc/self/cgroup", "re");

    if (groups && fscanf(groups, "0::%4095s", path) != 1)
        path[0] = '\0';
    if (groups)
        fclose(groups);
    for (char *end = path + strlen(path); end; end = strrchr(path, '/')) {
        *end = '\0';
        snprintf(file, sizeof file, "/sys/fs/cgroup%s/memory.max", path);
        uint64_t limit = memory_read_number(file, "", UINT64_MAX);
        snprintf(file, sizeof file, "/sys/fs/cgroup%s/memory.current", path);
        uint64_t used = memory_read_number(file, "", 0);
        snprintf(file, sizeof file, "/sys/fs/cgroup%s/memory.stat", path);
        uint64_t cache = memory_read_number(file, "inactive_file ", 0) +
                         memory_read_number(file, "active_file ", 0); /* freed on demand */
        used = used > cache ? used - cache : 0;
        uint64_t left = limit > used ? limit - used : 0;
        available = limit < UINT64_MAX && left < available ? left : available;
    }
    return available;
}

uint64_t memory_available(void)
{
    uint64_t kib = memory_read_number("/proc/meminfo", "MemAvailable:", UINT64_MAX);
    uint64_t available = kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
    uint64_t allowed = memory_group_available();

    return available < allowed ? available : allowed;
}
