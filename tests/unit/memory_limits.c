/*
 * Available memory and CPUs, in made-up trees of /proc and control groups, also with interrupted
 * and short reads.
 */
#define _XOPEN_SOURCE 700
#include "config.h"

#include "lib/resources.h"
#include "tap.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES_MAX 12

struct tree_file {
    const char *name;
    const char *content;
};

struct tree {
    const char *what;
    uint64_t available;
    struct tree_file files[FILES_MAX];
};

#define MEMINFO                                                                           \
    {                                                                                     \
        "proc/meminfo", "MemTotal:       2000 kB\nMemAvailable:   1000 kB\nSwap:  1 kB\n" \
    }
#define V1_GROUP "4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/d\n"
#define V1       "sys/fs/cgroup/memory/"

static const struct tree trees[] = {
    {"nothing is known", UINT64_MAX, {{"proc/empty", ""}}},
    {"the system alone", 1024000, {MEMINFO}},
    {"more kilobytes than 64 bits have bytes",
     UINT64_MAX,
     {{"proc/meminfo", "MemAvailable: 18446744073709551615 kB\n"}}},
    {"version 2: a limit of the group itself",
     700,
     {MEMINFO,
      {"proc/self/cgroup", "0::/a/b\n"},
      {"sys/fs/cgroup/a/b/memory.max", "1000\n"},
      {"sys/fs/cgroup/a/b/memory.current", "350\n"},
      {"sys/fs/cgroup/a/b/memory.stat", "anon 90\ninactive_file 30\nactive_file 20\nfile 9\n"},
      {"sys/fs/cgroup/a/memory.max", "max\n"},
      {"sys/fs/cgroup/a/memory.current", "900000\n"}}},
    {"version 2: the least is that of an ancestor",
     500,
     {MEMINFO,
      {"proc/self/cgroup", "0::/a/b/c\n"},
      {"sys/fs/cgroup/a/b/c/memory.max", "9000\n"},
      {"sys/fs/cgroup/a/b/memory.max", "7000\n"},
      {"sys/fs/cgroup/a/memory.max", "800\n"},
      {"sys/fs/cgroup/a/memory.current", "300\n"},
      {"sys/fs/cgroup/memory.max", "600\n"}}},
    {"version 2: the least is that of the root",
     400,
     {MEMINFO,
      {"proc/self/cgroup", "0::/a\n"},
      {"sys/fs/cgroup/a/memory.max", "9000\n"},
      {"sys/fs/cgroup/memory.max", "400\n"}}},
    {"version 2: a container sees only the group that limits it, at the top",
     300,
     {MEMINFO,
      {"proc/self/cgroup", "0::/system/a/b\n"},
      {"sys/fs/cgroup/memory.max", "700\n"},
      {"sys/fs/cgroup/memory.current", "400\n"},
      {"sys/fs/cgroupa/memory.max", "7\n"},
      {"sys/fs/cgroup/b/memory.max", "7\n"},
      {"sys/fs/memory.max", "7\n"}}},
    {"a limit that is exceeded, all of it in use",
     0,
     {MEMINFO,
      {"proc/self/cgroup", "0::/\n"},
      {"sys/fs/cgroup/memory.max", "1000\n"},
      {"sys/fs/cgroup/memory.current", "1001\n"}}},
    {"more cache than memory in use",
     1000,
     {MEMINFO,
      {"proc/self/cgroup", "0::/\n"},
      {"sys/fs/cgroup/memory.max", "1000\n"},
      {"sys/fs/cgroup/memory.current", "10\n"},
      {"sys/fs/cgroup/memory.stat", "active_file 20\n"}}},
    {"version 1: a limit of the group itself",
     650,
     {MEMINFO,
      {"proc/self/cgroup", V1_GROUP},
      {V1 "a/b/memory.limit_in_bytes", "1000\n"},
      {V1 "a/b/memory.usage_in_bytes", "450\n"},
      {V1 "a/b/memory.stat", "active_file 7\ntotal_inactive_file 60\ntotal_active_file 40\n"},
      {V1 "memory.limit_in_bytes", "9223372036854771712\n"},
      {"sys/fs/cgroup/cpu/c/memory.limit_in_bytes", "1\n"},
      {V1 "d/memory.limit_in_bytes", "1\n"}}},
    {"version 1: the least is that of an ancestor",
     300,
     {MEMINFO,
      {"proc/self/cgroup", V1_GROUP},
      {V1 "a/b/memory.limit_in_bytes", "9223372036854771712\n"},
      {V1 "a/memory.limit_in_bytes", "300\n"}}},
    {"version 1: a controller whose name only begins like that of memory",
     1024000,
     {MEMINFO, {"proc/self/cgroup", "4:memory_x:/a\n"}, {V1 "a/memory.limit_in_bytes", "7\n"}}},
    {"version 1: with another controller, and the part of a container",
     200,
     {MEMINFO,
      {"proc/self/cgroup", "4:hugetlb,memory:/docker/a\n"},
      {V1 "memory.limit_in_bytes", "200\n"},
      {V1 "a/memory.limit_in_bytes", "1\n"}}},
    {"both versions, each with a limit",
     150,
     {MEMINFO,
      {"proc/self/cgroup", V1_GROUP},
      {V1 "a/b/memory.limit_in_bytes", "200\n"},
      {"sys/fs/cgroup/unified/d/memory.max", "150\n"},
      {"sys/fs/cgroup/unified/a/b/memory.max", "1\n"}}},
    {"spaces, colons and backslashes in names",
     100,
     {MEMINFO,
      {"proc/self/cgroup", "0::/my pod/a\\:b c\n"},
      {"sys/fs/cgroup/my pod/a\\:b c/memory.max", "100\n"}}},
    {"lines that make no sense", 1024000, {MEMINFO, {"proc/self/cgroup", "\n0\n0:\n0::\n:::\n"}}},
};

/* Quotas of CPU time: `available` is the number of CPUs; UINT_MAX: no quota. */
static const struct tree quotas[] = {
    {"no group", UINT_MAX, {{"proc/empty", ""}}},
    {"version 2: two and a half processors",
     3,
     {{"proc/self/cgroup", "0::/a/b\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
      {"sys/fs/cgroup/a/cpu.max", "250000 100000\n"},
      {"sys/fs/cgroup/cpu.max", "400000 100000\n"}}},
    {"version 2: a small part of one",
     1,
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "1000 100000\n"}}},
    {"version 2: no quota",
     UINT_MAX,
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "max 100000\n"}}},
    {"version 2: a file that makes no sense",
     UINT_MAX,
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "100000\n"}}},
    {"version 1: exactly two",
     2,
     {{"proc/self/cgroup", V1_GROUP},
      {"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "100000\n"},
      {"sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "50000\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}},
    {"version 1: no quota",
     UINT_MAX,
     {{"proc/self/cgroup", V1_GROUP},
      {"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n"}}},
};

static char root[PATH_MAX];

/* Every other read is interrupted, and the others return at most 3 bytes. */
static bool is_interrupted;

/* Replaces the C library's function. */
ssize_t read(int fd, void *buffer, size_t bytes)
{
    static bool is_now;

    is_now = is_interrupted && !is_now;
    if (is_now) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_read, fd, buffer, is_interrupted && bytes > 3 ? 3 : bytes);
}

/* Makes a file of the tree and its parent directories. */
static bool make_file(const struct tree_file *made)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", root, made->name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool is_written = fputs(made->content, file) >= 0;
    return fclose(file) == 0 && is_written;
}

static int remove_entry(const char *name, const struct stat *info, int type, struct FTW *place)
{
    (void)info;
    (void)type;
    return place->level > 0 ? remove(name) : 0;
}

static void test_tree(const struct tree *tree, bool is_quota)
{
    bool is_made = true;

    for (size_t i = 0; i < FILES_MAX && tree->files[i].name; i++)
        is_made = is_made && make_file(&tree->files[i]);
    for (unsigned i = 0; i < 2; i++) {
        is_interrupted = i == 1;
        uint64_t available =
            is_quota ? resources_of_groups(root).processors : resources_look(root).memory;
        tap_ok(is_made && available == tree->available, "%s%s: %" PRIu64 ", expected %" PRIu64,
               tree->what, is_interrupted ? ", interrupted" : "", available, tree->available);
    }
    is_interrupted = false;
    nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* ulimit -v: the rest of it. No mapping comes near it. */
static void test_address_space(void)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const struct tree_file pages = {"proc/self/statm", "1000 2 3 4 5 6 7\n"};
    struct rlimit before;
    const bool is_read = getrlimit(RLIMIT_AS, &before) == 0;
    struct rlimit limit = {.rlim_cur = (rlim_t)1 << 46, .rlim_max = before.rlim_max};

    if (!is_read || before.rlim_cur != RLIM_INFINITY || !make_file(&pages) ||
        setrlimit(RLIMIT_AS, &limit) != 0)
        return;
    struct rlimit set; /* an emulator may not support such a limit */
    if (getrlimit(RLIMIT_AS, &set) != 0 || set.rlim_cur != limit.rlim_cur)
        return;
    const uint64_t available = resources_look(root).memory;
    setrlimit(RLIMIT_AS, &before);
    tap_ok(available == ((uint64_t)1 << 46) - 1000 * page, "the limit of the address space");
}

int main(void)
{
    tap_write_template(root, sizeof root, "memory");
    if (!mkdtemp(root)) {
        printf("Bail out! no directory\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        test_tree(&trees[i], false);
    for (size_t i = 0; i < sizeof quotas / sizeof *quotas; i++)
        test_tree(&quotas[i], true);
    test_address_space();
    nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    rmdir(root);
    return tap_done();
}
