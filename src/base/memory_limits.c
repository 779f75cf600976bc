/* Implements memory_limits.h: /proc/meminfo, and control groups of both versions. */
#include "config.h"

#include "base/memory_limits.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From here on a limit is none: version 1 writes 2^63 less a page. */
#define MEMORY_LIMITS_NONE ((uint64_t)1 << 62)

/* The files of a version of control groups. */
struct memory_limits_version {
    const char *type;       /* of its file system */
    const char *controller; /* named in the options of the mount; NULL: not looked at */
    const char *limit;
    const char *used;
    const char *caches[2]; /* numbers in memory.stat, of all groups below as well */
};

static const struct memory_limits_version memory_limits_versions[] = {
    {
        .type = "cgroup",
        .controller = "memory",
        .limit = "memory.limit_in_bytes",
        .used = "memory.usage_in_bytes",
        .caches = {"total_inactive_file ", "total_active_file "},
    },
    {
        .type = "cgroup2",
        .limit = "memory.max",
        .used = "memory.current",
        .caches = {"inactive_file ", "active_file "},
    },
};

#define MEMORY_LIMITS_VERSIONS (sizeof memory_limits_versions / sizeof *memory_limits_versions)

/* A mount of a control group file system. */
struct memory_limits_mount {
    const struct memory_limits_version *version;
    char group[PATH_MAX]; /* that is at its root */
    char path[PATH_MAX];
};

/* Opens `name` in the directory `directory` of `root`; NULL if that fails. The caller closes it. */
static FILE *memory_limits_open(const char *root, const char *directory, const char *name)
{
    char path[3 * PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s/%s", root, directory, name);

    return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* Reads the number behind `label` in a file, and closes it; `otherwise` if there is none. */
static uint64_t memory_limits_read_number(FILE *file, const char *label, uint64_t otherwise)
{
    char line[128];
    uint64_t number = otherwise;

    while (file && fgets(line, sizeof line, file)) {
        const char *digits = line + strlen(label);
        if (strncmp(line, label, strlen(label)) == 0 && sscanf(digits, "%" SCNu64, &number) == 1)
            break;
    }
    if (file)
        fclose(file);
    return number;
}

/* What a group, of which `directory` has the files, leaves of its limit. */
static uint64_t memory_limits_read_group(const struct memory_limits_version *version,
                                         const char *root, const char *directory)
{
    FILE *file = memory_limits_open(root, directory, version->limit);
    uint64_t limit = memory_limits_read_number(file, "", UINT64_MAX);
    uint64_t cache = 0;

    if (limit >= MEMORY_LIMITS_NONE)
        return UINT64_MAX;
    file = memory_limits_open(root, directory, version->used);
    uint64_t used = memory_limits_read_number(file, "", 0);
    for (size_t i = 0; i < sizeof version->caches / sizeof *version->caches; i++) {
        file = memory_limits_open(root, directory, "memory.stat");
        cache += memory_limits_read_number(file, version->caches[i], 0);
    }
    used = used > cache ? used - cache : 0;
    return limit > used ? limit - used : 0;
}

/* Whether a list, separated by commas, has the word. */
static bool memory_limits_has_word(const char *list, const char *word)
{
    size_t bytes = strlen(word);

    while (list) {
        if (strncmp(list, word, bytes) == 0 && (list[bytes] == ',' || list[bytes] == '\0'))
            return true;
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return false;
}

/* Puts characters in the place of the kernel's escapes, such as \040, which is a space. */
static void memory_limits_unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from; to++) {
        bool is_escape = *from == '\\' && strspn(from + 1, "01234567") >= 3;
        int code =
            is_escape ? (from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0') : *from;
        *to = (char)code;
        from += is_escape ? 4 : 1;
    }
    *to = '\0';
}

/* Reads a line of /proc/self/mountinfo; false if it is no mount that may limit memory. */
static bool memory_limits_parse_mount(const char *line, struct memory_limits_mount *mount)
{
    const char *behind = strstr(line, " - "); /* a space in a name is escaped */
    char type[16];
    char options[1024] = "";

    if (!behind || sscanf(behind, " - %15s %*s %1023s", type, options) < 1 ||
        sscanf(line, "%*s %*s %*s %4095s %4095s", mount->group, mount->path) != 2)
        return false;
    memory_limits_unescape(mount->group);
    memory_limits_unescape(mount->path);
    for (size_t i = 0; i < MEMORY_LIMITS_VERSIONS; i++) {
        mount->version = &memory_limits_versions[i];
        if (strcmp(type, mount->version->type) == 0)
            return !mount->version->controller ||
                   memory_limits_has_word(options, mount->version->controller);
    }
    return false;
}

/*
 * Reads a line of /proc/self/cgroup, "NUMBER:CONTROLLERS:GROUP\n", which it cuts up; NULL if it is
 * not of that version. A line without controllers is of version 2.
 */
static const char *memory_limits_parse_group(char *line,
                                             const struct memory_limits_version *version)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group)
        return NULL;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    controllers++;
    bool is_of_version = version->controller
                             ? memory_limits_has_word(controllers, version->controller)
                             : *controllers == '\0';
    return is_of_version ? group : NULL;
}

/* What the group and those above it leave of their limits, as far as the mount shows them. */
static uint64_t memory_limits_read_groups(const struct memory_limits_mount *mount, const char *root,
                                          const char *group)
{
    size_t shown = strcmp(mount->group, "/") == 0 ? 0 : strlen(mount->group);
    size_t top = strlen(mount->path);
    char directory[2 * PATH_MAX];
    uint64_t available = UINT64_MAX;

    if (strncmp(group, mount->group, shown) != 0 || (group[shown] != '/' && group[shown] != '\0'))
        return available; /* it shows other groups */
    int length = snprintf(directory, sizeof directory, "%s%s", mount->path, group + shown);
    if (length < 0 || (size_t)length >= sizeof directory)
        return available;
    for (char *end = directory + length; end >= directory + top; end = strrchr(directory, '/')) {
        *end = '\0';
        uint64_t left = memory_limits_read_group(mount->version, root, directory);
        available = left < available ? left : available;
    }
    return available;
}

/* What the groups of the process leave that one mount shows. */
static uint64_t memory_limits_read_mount(const struct memory_limits_mount *mount, const char *root)
{
    FILE *groups = memory_limits_open(root, "/proc/self", "cgroup");
    uint64_t available = UINT64_MAX;
    char *line = NULL;
    size_t size = 0;

    while (groups && getline(&line, &size, groups) > 0) {
        const char *group = memory_limits_parse_group(line, mount->version);
        uint64_t left = group ? memory_limits_read_groups(mount, root, group) : UINT64_MAX;
        available = left < available ? left : available;
    }
    free(line);
    if (groups)
        fclose(groups);
    return available;
}

uint64_t memory_limits_available(const char *root)
{
    FILE *system = memory_limits_open(root, "/proc", "meminfo");
    uint64_t kib = memory_limits_read_number(system, "MemAvailable:", UINT64_MAX);
    uint64_t available = kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
    FILE *mounts = memory_limits_open(root, "/proc/self", "mountinfo");
    struct memory_limits_mount mount;
    char *line = NULL;
    size_t size = 0;

    while (mounts && getline(&line, &size, mounts) > 0) {
        if (memory_limits_parse_mount(line, &mount)) {
            uint64_t left = memory_limits_read_mount(&mount, root);
            available = left < available ? left : available;
        }
    }
    free(line);
    if (mounts)
        fclose(mounts);
    return available;
}
