/*
 * Large zero-filled memory from the kernel, in huge pages if large enough.
 *
 * All functions are thread-safe.
 */
#ifndef GPUHIST_MEMORY_H
#define GPUHIST_MEMORY_H

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
 * Makes a mapping of memory_map longer or shorter, and keeps its contents. Returns its new address.
 * Returns NULL, sets errno and changes nothing if there is no memory.
 */
void *memory_remap(void *memory, size_t bytes, size_t new_bytes);

/* Sets the first byte of each page of a mapping to 0: later use causes no page faults. */
void memory_touch(void *memory, size_t bytes);

#endif
