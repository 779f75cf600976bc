/*
 * Gathers the elements of records, one of each, so that operations see elements alone. Pure and
 * thread-safe on distinct memory.
 */
#ifndef GPUHIST_CPU_RECORD_H
#define GPUHIST_CPU_RECORD_H

#include "job/element.h"

/*
 * Copies `count` elements of `width` (1, 2, 4 or 8) bytes, one in each record of record_bytes
 * bytes, the first at `first`, to elements[0..count).
 */
void cpu_record_gather(const void *first, size_t record_bytes, size_t count, size_t width,
                       void *elements);

/*
 * Stores the keys (element.h) of `count` elements, one in each record of record_bytes bytes, the
 * first at `first`, at keys[0..count).
 */
void cpu_record_gather_keys(const struct element *element, const void *first, size_t record_bytes,
                            size_t count, uint64_t *keys);

#endif
