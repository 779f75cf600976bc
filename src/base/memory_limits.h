/*
 * How much memory the system leaves to this process: what is free, and the limits of the process's
 * control groups.
 *
 * Thread-safe.
 */
#ifndef GPUHIST_MEMORY_LIMITS_H
#define GPUHIST_MEMORY_LIMITS_H

#include <stdint.h>

/*
 * Returns the bytes that can still be used without swapping, or UINT64_MAX if the system does not
 * say. It is the least of
 *
 *     MemAvailable of /proc/meminfo
 *     for the process's control group and each of its ancestors: the limit minus the memory in use,
 *     where file cache, which is freed on demand, does not count as in use
 *
 * The groups are those of /proc/self/cgroup, in the places where systems mount them: version 2 at
 * /sys/fs/cgroup or beside version 1 at /sys/fs/cgroup/unified, version 1 at
 * /sys/fs/cgroup/memory (cgroups(7)). A container may only see the
 * group that limits it, at the top. `root` is put before the name of each file that is read: "" for
 * the system, a directory for tests.
 */
uint64_t memory_limits_available(const char *root);

#endif
