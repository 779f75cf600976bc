/*
 * Large zero-filled memory from the kernel, in huge pages if large enough, and how much is free.
 *
 * All functions are thread-safe.
 */
#ifndef GPUHIST_MEMORY_H
#define GPUHIST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Maps `bytes` > 0 of private zero-filled memory. Mappings of 2 MiB and more are aligned to 2 MiB
 * and ask for huge pages, where these have 2 MiB. Pages take no memory until they are touched.
 * Returns NULL and sets errno if there is no memory. The caller unmaps it with memory_unmap and the
 * same `bytes`.
 */
void *memory_map(size_t bytes);

/* Unmaps memory of memory_map. NULL is allowed. */
void memory_unmap(void *memory, size_t bytes);

/*
 * Makes a mapping of memory_map longer or shorter, and keeps its contents. Returns where it lies
 * now; NULL with errno set if there is no memory: it is then unchanged.
 */
void *memory_remap(void *memory, size_t bytes, size_t new_bytes);

/* Touches each page of a mapping and sets its first byte to 0: later use takes no page faults. */
void memory_touch(void *memory, size_t bytes);

/* Whether RLIMIT_AS (ulimit -v) is set: all that is mapped then counts, in use or not. */
bool memory_is_limited(void);

/*
 * Returns the bytes that can still be used without swapping, or UINT64_MAX if the system does not
 * say. It is the minimum of
 *
 *     MemAvailable of /proc/meminfo
 *     what the control groups of the process leave (control_group.h)
 *     RLIMIT_AS (ulimit -v) minus what is mapped
 *
 * `root` is put before the name of each file that is read: "" for the system, a directory for
 * tests.
 */
uint64_t memory_available_under(const char *root);

static inline uint64_t memory_available(void)
{
    return memory_available_under("");
}

#endif
