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
 * Control groups of version 1 and 2 are found by /proc/self/cgroup and /proc/self/mountinfo
 * (cgroups(7)). `root` is put before the name of each file that is read: "" for the system, a
 * directory for tests.
 */
uint64_t memory_limits_available(const char *root);

#endif
