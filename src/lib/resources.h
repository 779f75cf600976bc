/*
 * The processors and the memory that this process may use: the minimum of what the system, the
 * control groups (cgroups(7)) and resource limits leave to it.
 *
 * All functions are thread-safe.
 */
#ifndef GPUHIST_RESOURCES_H
#define GPUHIST_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct resources {
    unsigned processors; /* at least 1 */
    uint64_t memory;     /* bytes that can still be used without swapping */
};

/*
 * Returns what the control groups of the process leave to it, each number the minimum over the
 * groups: the quota of processor time divided by its period, rounded up; and the limit of memory
 * minus the memory in use, where file cache, which is freed on demand, does not count as in use.
 * UINT_MAX and UINT64_MAX: there is no limit.
 *
 * The groups are those of /proc/self/cgroup and each of their ancestors, at the paths where systems
 * mount them: version 2 at /sys/fs/cgroup or beside version 1 at /sys/fs/cgroup/unified, version 1
 * at /sys/fs/cgroup/memory and /sys/fs/cgroup/cpu. A container may only see the group that limits
 * it, at the top. `root` is put before the name of each file that is read: "" for the system, a
 * directory for tests.
 */
struct resources resources_of_groups(const char *root);

/*
 * Returns what this process may use now. Processors are those that it may run on, or fewer by the
 * quota of its groups. Memory is the minimum of MemAvailable of /proc/meminfo, of what its groups
 * leave, and of RLIMIT_AS (ulimit -v) minus what is mapped; UINT64_MAX if the system does not say.
 */
struct resources resources_look(const char *root);

/* Returns what resources_look("") returned at the first call: to look takes 0.1 ms. */
const struct resources *resources_at_start(void);

/* Returns whether RLIMIT_AS is set: all that is mapped counts, in use or not. */
bool resources_limit_mapped(void);

/* Returns whether `bytes` more can be used now. A small number is not checked: always true. */
bool resources_have_memory(uint64_t bytes);

#endif
