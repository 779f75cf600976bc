/*
 * Large memory: zero-filled, straight from the kernel, in huge pages where they pay.
 *
 * All functions are thread-safe.
 */
#ifndef GPUHIST_MEMORY_H
#define GPUHIST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Maps `bytes` > 0 of private zero-filled memory; from 2 MiB on it is aligned to 2 MiB and asks for
 * huge pages. Pages cost nothing until they are touched. Returns NULL with errno set when there is
 * none; the caller owns it and gives it back with memory_unmap and the same `bytes`.
 */
void *memory_map(size_t bytes);

/* Unmaps what memory_map returned; NULL is allowed. */
void memory_unmap(void *memory, size_t bytes);

/* Touches every page of a mapping, so that later use takes no page faults. */
void memory_touch(void *memory, size_t bytes);

/*
 * Bytes that can still be used without swapping: MemAvailable of /proc/meminfo, or less where a
 * control group (version 2) sets a limit. UINT64_MAX where the system does not say.
 */
uint64_t memory_available(void);

#endif
