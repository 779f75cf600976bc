/* Implements memory.h: mappings; /proc/meminfo, and control groups of both versions. */
#include "config.h"

#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

/* --- what the system leaves to the process ------------------------------------------------- */

/* From here on a limit is none: version 1 writes 2^63 less a page. */
#define MEMORY_NONE ((uint64_t)1 << 62)

#define MEMORY_PATH_SIZE (2 * PATH_MAX)

/* The files of control groups of version 2. */
#define MEMORY_V2 \
    .limit = "memory.max", .used = "memory.current", .caches = {"inactive_file ", "active_file "}

/* The paths where systems mount control groups. */
static const struct memory_mount {
    const char *path;
    const char *controller; /* in /proc/self/cgroup, between commas */
    const char *limit;
    const char *used;
    const char *caches[2]; /* numbers in memory.stat, of all groups below as well */
} memory_mounts[] = {
    {
        .path = "/sys/fs/cgroup/memory",
        .controller = ",memory,",
        .limit = "memory.limit_in_bytes",
        .used = "memory.usage_in_bytes",
        .caches = {"total_inactive_file ", "total_active_file "},
    },
    {.path = "/sys/fs/cgroup", .controller = ",,", MEMORY_V2},
    {.path = "/sys/fs/cgroup/unified", .controller = ",,", MEMORY_V2},
};

/* The sum of the numbers after the labels in a file of a directory; `otherwise`: there is none. */
static uint64_t memory_read_numbers(const char *directory, const char *name,
                                    const char *const labels[2], uint64_t otherwise)
{
    char line[MEMORY_PATH_SIZE];
    uint64_t sum = otherwise;
    uint64_t found = 0;
    uint64_t number;

    snprintf(line, sizeof line, "%s/%s", directory, name);
    FILE *file = fopen(line, "re");
    while (file && fgets(line, sizeof line, file)) {
        for (size_t i = 0; i < 2 && labels[i]; i++) {
            const size_t length = strlen(labels[i]);
            if (strncmp(line, labels[i], length) == 0 &&
                sscanf(line + length, "%" SCNu64, &number) == 1)
                sum = found += number;
        }
    }
    if (file)
        fclose(file);
    return sum;
}

uint64_t memory_available_under(const char *root)
{
    static const char *const label[2] = {"MemAvailable:"};
    static const char *const plain[2] = {""};
    const uint64_t kib = memory_read_numbers(root, "proc/meminfo", label, UINT64_MAX);
    uint64_t available = kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
    char path[MEMORY_PATH_SIZE - NAME_MAX];
    char line[PATH_MAX];

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *groups = fopen(path, "re");
    while (groups && fgets(line, sizeof line, groups)) { /* NUMBER:CONTROLLERS:GROUP */
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers = *group = ',';
        const size_t bytes = (size_t)(group++ - controllers) + 1;
        group[strcspn(group, "\n")] = '\0';
        for (size_t i = 0; i < sizeof memory_mounts / sizeof *memory_mounts; i++) {
            const struct memory_mount *mount = &memory_mounts[i];
            if (!memmem(controllers, bytes, mount->controller, strlen(mount->controller)))
                continue;
            const int top = snprintf(path, sizeof path, "%s%s", root, mount->path);
            snprintf(path + top, sizeof path - (size_t)top, "%s", group);
            for (char *end = path + strlen(path); end >= path + top; end = strrchr(path, '/')) {
                *end = '\0';
                const uint64_t limit = memory_read_numbers(path, mount->limit, plain, UINT64_MAX);
                if (limit >= MEMORY_NONE)
                    continue;
                const uint64_t cache = memory_read_numbers(path, "memory.stat", mount->caches, 0);
                uint64_t used = memory_read_numbers(path, mount->used, plain, 0);
                used = used > cache ? used - cache : 0;
                const uint64_t left = limit > used ? limit - used : 0;
                available = left < available ? left : available;
            }
        }
    }
    if (groups)
        fclose(groups);
    return available;
}
