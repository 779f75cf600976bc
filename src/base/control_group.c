/* Implements control_group.h: one walk over the groups for each controller. */
#include "config.h"

#include "base/control_group.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* From here on a limit is none: version 1 writes 2^63 less a page, or -1. */
#define CONTROL_GROUP_NONE ((uint64_t)1 << 62)

#define CONTROL_GROUP_PATH_SIZE (2 * PATH_MAX)

static const char *const control_group_plain[2] = {""};

uint64_t control_group_read(const char *directory, const char *name, const char *const labels[2],
                            uint64_t otherwise)
{
    char line[CONTROL_GROUP_PATH_SIZE];
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

/* What the group of a directory leaves of its memory. */
static uint64_t control_group_memory_of(const char *directory, bool is_v2)
{
    static const char *const caches[2][2] = {{"total_inactive_file ", "total_active_file "},
                                             {"inactive_file ", "active_file "}}; /* and below */
    const uint64_t limit =
        control_group_read(directory, is_v2 ? "memory.max" : "memory.limit_in_bytes",
                           control_group_plain, UINT64_MAX);

    if (limit >= CONTROL_GROUP_NONE)
        return UINT64_MAX;
    const uint64_t cache = control_group_read(directory, "memory.stat", caches[is_v2], 0);
    uint64_t used =
        control_group_read(directory, is_v2 ? "memory.current" : "memory.usage_in_bytes",
                           control_group_plain, 0);
    used = used > cache ? used - cache : 0;
    return limit > used ? limit - used : 0;
}

/* The processors of the group of a directory. */
static uint64_t control_group_processors_of(const char *directory, bool is_v2)
{
    char path[CONTROL_GROUP_PATH_SIZE];
    uint64_t quota = UINT64_MAX;
    uint64_t period = 0;

    if (is_v2) {
        snprintf(path, sizeof path, "%s/cpu.max", directory);
        FILE *file = fopen(path, "re"); /* QUOTA PERIOD, or max PERIOD */
        if (file && fscanf(file, "%" SCNu64 " %" SCNu64, &quota, &period) != 2)
            quota = UINT64_MAX;
        if (file)
            fclose(file);
    } else {
        quota = control_group_read(directory, "cpu.cfs_quota_us", control_group_plain, quota);
        if (quota < CONTROL_GROUP_NONE)
            period = control_group_read(directory, "cpu.cfs_period_us", control_group_plain, 0);
    }
    if (quota >= CONTROL_GROUP_NONE || period == 0)
        return UINT64_MAX;
    return quota > period ? (quota - 1) / period + 1 : 1;
}

/* The minimum of a number over the groups of a controller. */
static uint64_t control_group_minimum(const char *root, const char *controller,
                                      uint64_t (*number)(const char *directory, bool is_v2))
{
    char v1_name[32]; /* as in /proc/self/cgroup, between commas */
    char v1_mount[64];
    const struct {
        const char *controller;
        const char *mount;
    } hierarchies[] = {{v1_name, v1_mount},
                       {",,", "/sys/fs/cgroup"},
                       {",,", "/sys/fs/cgroup/unified"}};
    char path[CONTROL_GROUP_PATH_SIZE - NAME_MAX];
    char line[PATH_MAX];
    uint64_t minimum = UINT64_MAX;

    snprintf(v1_name, sizeof v1_name, ",%s,", controller);
    snprintf(v1_mount, sizeof v1_mount, "/sys/fs/cgroup/%s", controller);
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
        for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
            const char *wanted = hierarchies[i].controller;
            if (!memmem(controllers, bytes, wanted, strlen(wanted)))
                continue;
            const int top = snprintf(path, sizeof path, "%s%s", root, hierarchies[i].mount);
            snprintf(path + top, sizeof path - (size_t)top, "%s", group);
            for (char *end = path + strlen(path); end >= path + top; end = strrchr(path, '/')) {
                *end = '\0';
                const uint64_t own = number(path, i > 0);
                minimum = own < minimum ? own : minimum;
            }
        }
    }
    if (groups)
        fclose(groups);
    return minimum;
}

uint64_t control_group_memory(const char *root)
{
    return control_group_minimum(root, "memory", control_group_memory_of);
}

uint64_t control_group_processors(const char *root)
{
    return control_group_minimum(root, "cpu", control_group_processors_of);
}
