/*
 * The CPUs and the memory that this process may use: the minimum of the limits of the system, of
 * cgroups (cgroups(7)) and of resource limits.
 *
 * All functions are thread-safe.
 */
#ifndef GPUHIST_RESOURCES_H
#define GPUHIST_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct resources {
    unsigned processors; /* number of CPUs, at least 1 */
    uint64_t memory;     /* bytes that can still be used without swapping */
};

/*
 * Returns the resources that the cgroups of the process leave to it, each the minimum over the
 * groups: the quota of CPU time divided by its period, rounded up; and the memory limit minus the
 * memory in use, without file cache, which is freed on demand. UINT_MAX and UINT64_MAX: there is no
 * limit.
 *
 * The groups are those of /proc/self/cgroup and each of their ancestors, at the paths where systems
 * mount them: version 2 at /sys/fs/cgroup or beside version 1 at /sys/fs/cgroup/unified, version 1
 * at /sys/fs/cgroup/memory and /sys/fs/cgroup/cpu. A container may only see the group that limits
 * it, at the top. `root` precedes the name of each file that is read: "" for the system, a
 * directory for tests.
 */
struct resources resources_of_groups(const char *root);

/*
 * Returns the resources that this process may use now. CPUs are those of its affinity mask, or
 * fewer by the quota of its cgroups. Memory is the minimum of MemAvailable in /proc/meminfo, of the
 * rest of its cgroups, and of RLIMIT_AS (ulimit -v) minus mapped memory; UINT64_MAX if unknown.
 */
struct resources resources_look(const char *root);

/* Returns the result of resources_look("") at the first call: looking again would take 0.1 ms. */
const struct resources *resources_at_start(void);

/* Returns whether RLIMIT_AS is set: all mapped memory counts, in use or not. */
bool resources_limit_mapped(void);

/* Returns whether `bytes` more bytes can be used now; always true for a small number. */
bool resources_have_memory(uint64_t bytes);

#endif
