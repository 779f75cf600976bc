/*
 * What the control groups of the process (cgroups(7)) leave to it, in both versions.
 *
 * The groups are those of /proc/self/cgroup and each of their ancestors, at the paths where systems
 * mount them: version 2 at /sys/fs/cgroup or beside version 1 at /sys/fs/cgroup/unified, version 1
 * at /sys/fs/cgroup/memory and /sys/fs/cgroup/cpu. A container may only see the group that limits
 * it, at the top. `root` is put before the name of each file that is read: "" for the system, a
 * directory for tests.
 *
 * All functions are thread-safe.
 */
#ifndef GPUHIST_CONTROL_GROUP_H
#define GPUHIST_CONTROL_GROUP_H

#include <stdint.h>

/*
 * Returns the minimum over the groups of the limit minus the memory in use, in bytes, where file
 * cache, which is freed on demand, does not count as in use. UINT64_MAX: there is no limit.
 */
uint64_t control_group_memory(const char *root);

/*
 * Returns the minimum over the groups of the processors whose time a group may use: the quota
 * divided by its period, rounded up. UINT64_MAX: there is no quota.
 */
uint64_t control_group_processors(const char *root);

/*
 * Returns the sum of the numbers after up to two labels, each at the beginning of a line of a file
 * of a directory; `otherwise`: there is none. NULL ends the labels.
 */
uint64_t control_group_read(const char *directory, const char *name, const char *const labels[2],
                            uint64_t otherwise);

#endif
