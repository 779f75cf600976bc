/* Implements resources.h: one walk over the cgroups, and the files of the system. */
#include "config.h"

#include "lib/resources.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/* Limits from this value mean no limit: version 1 writes 2^63 minus a page, or -1. */
#define RESOURCES_NONE ((uint64_t)1 << 62)

/* Smaller needs are not checked. */
#define RESOURCES_FEW_BYTES ((uint64_t)4 << 20)

/* Maximum size of a file that is read, and of its path. */
#define RESOURCES_TEXT_SIZE 16384

/* The mount point of a hierarchy of cgroups, and the names of its files; NULL: it has none. */
struct resources_hierarchy {
    const char *controller; /* its name in /proc/self/cgroup, between commas */
    const char *mount;
    const char *memory_limit;
    const char *memory_used;
    const char *caches[2]; /* labels in memory.stat, for the group with its descendants */
    const char *quota;     /* the quota of CPU time */
    const char *period;    /* the period of the quota; NULL: it is in the same file */
};

#define RESOURCES_V2                                                                   \
    .controller = ",,", .memory_limit = "memory.max", .memory_used = "memory.current", \
    .caches = {"\ninactive_file ", "\nactive_file "}, .quota = "cpu.max"

static const struct resources_hierarchy resources_hierarchies[] = {
    {
        .controller = ",memory,",
        .mount = "/sys/fs/cgroup/memory",
        .memory_limit = "memory.limit_in_bytes",
        .memory_used = "memory.usage_in_bytes",
        .caches = {"\ntotal_inactive_file ", "\ntotal_active_file "},
    },
    {
        .controller = ",cpu,",
        .mount = "/sys/fs/cgroup/cpu",
        .quota = "cpu.cfs_quota_us",
        .period = "cpu.cfs_period_us",
    },
    {.mount = "/sys/fs/cgroup", RESOURCES_V2},
    {.mount = "/sys/fs/cgroup/unified", RESOURCES_V2},
};

/*
 * Replaces the path in `text` by a line feed, so that each line follows one, and the contents of
 * the file, as far as there is room. Returns whether the file exists.
 */
static bool resources_read_file(char text[RESOURCES_TEXT_SIZE])
{
    size_t length = 0;
    ssize_t n;
    const int fd = open(text, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    text[length++] = '\n';
    while ((n = read(fd, text + length, RESOURCES_TEXT_SIZE - 1 - length)) > 0 ||
           (n < 0 && errno == EINTR))
        length += n > 0 ? (size_t)n : 0;
    close(fd);
    text[length] = '\0';
    return true;
}

/*
 * Reads up to two numbers after a label in a file of a directory, like scanf. Returns their number;
 * the others are 0.
 */
static int resources_read(const char *directory, const char *name, const char *label,
                          uint64_t numbers[2])
{
    char text[RESOURCES_TEXT_SIZE];

    numbers[0] = numbers[1] = 0;
    snprintf(text, sizeof text, "%s/%s", directory, name);
    if (!resources_read_file(text))
        return 0;
    const char *found = strstr(text, label);
    const int count =
        found ? sscanf(found + strlen(label), "%" SCNu64 " %" SCNu64, &numbers[0], &numbers[1]) : 0;
    return count > 0 ? count : 0;
}

struct resources resources_of_groups(const char *root)
{
    struct resources resources = {.processors = UINT_MAX, .memory = UINT64_MAX};
    char path[RESOURCES_TEXT_SIZE];
    char groups[RESOURCES_TEXT_SIZE];
    char *rest = NULL;
    uint64_t limit[2];
    uint64_t used[2];
    uint64_t cache[2];
    uint64_t quota[2]; /* the quota and its period */

    snprintf(groups, sizeof groups, "%s/proc/self/cgroup", root);
    if (!resources_read_file(groups))
        return resources;
    for (char *line = groups; (line = strtok_r(line, "\n", &rest)); line = NULL) {
        /* NUMBER:CONTROLLERS:GROUP */
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers = *group = ',';
        const size_t bytes = (size_t)(group++ - controllers) + 1;
        if (strcmp(group, "/") == 0)
            *group = '\0';
        for (size_t i = 0; i < sizeof resources_hierarchies / sizeof *resources_hierarchies; i++) {
            const struct resources_hierarchy *files = &resources_hierarchies[i];
            if (!memmem(controllers, bytes, files->controller, strlen(files->controller)))
                continue;
            const int top = snprintf(path, sizeof path, "%s%s", root, files->mount);
            snprintf(path + top, sizeof path - (size_t)top, "%s", group);
            for (char *end = path + strlen(path); end >= path + top; end = strrchr(path, '/')) {
                *end = '\0'; /* the group, then its ancestors */
                if (files->memory_limit &&
                    resources_read(path, files->memory_limit, "\n", limit) > 0 &&
                    limit[0] < RESOURCES_NONE) {
                    resources_read(path, files->memory_used, "\n", used);
                    for (size_t k = 0; k < 2; k++) {
                        resources_read(path, "memory.stat", files->caches[k], cache);
                        used[0] = used[0] > cache[0] ? used[0] - cache[0] : 0;
                    }
                    const uint64_t left = limit[0] > used[0] ? limit[0] - used[0] : 0;
                    resources.memory = left < resources.memory ? left : resources.memory;
                }
                if (!files->quota || resources_read(path, files->quota, "\n", quota) == 0 ||
                    quota[0] >= RESOURCES_NONE)
                    continue;
                if (files->period && resources_read(path, files->period, "\n", used) > 0)
                    quota[1] = used[0];
                const uint64_t processors = quota[1] == 0         ? UINT64_MAX
                                            : quota[0] > quota[1] ? (quota[0] - 1) / quota[1] + 1
                                                                  : 1;
                if (processors < resources.processors)
                    resources.processors = (unsigned)processors;
            }
        }
    }
    return resources;
}

struct resources resources_look(const char *root)
{
    struct resources resources = resources_of_groups(root);
    uint64_t numbers[2];
    struct rlimit limit;
    unsigned processors = 0;
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        processors = (unsigned)CPU_COUNT(&set);
    if (processors == 0) {
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        processors = online > 0 ? (unsigned)online : 1;
    }
    if (processors < resources.processors)
        resources.processors = processors;

    if (resources_read(root, "proc/meminfo", "\nMemAvailable:", numbers) > 0 &&
        numbers[0] <= resources.memory / 1024)
        resources.memory = numbers[0] * 1024;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        resources_read(root, "proc/self/statm", "\n", numbers);
        const uint64_t mapped = numbers[0] * (uint64_t)sysconf(_SC_PAGESIZE);
        const uint64_t left = limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
        resources.memory = left < resources.memory ? left : resources.memory;
    }
    return resources;
}

const struct resources *resources_at_start(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct resources first; /* 0 processors: not known yet */

    pthread_mutex_lock(&lock);
    if (first.processors == 0)
        first = resources_look("");
    pthread_mutex_unlock(&lock);
    return &first;
}

bool resources_limit_mapped(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool resources_have_memory(uint64_t bytes)
{
    return bytes < RESOURCES_FEW_BYTES || bytes <= resources_look("").memory;
}
