/*
 * Gathers the elements of records, one of each, so that operations see elements alone. Pure and
 * thread-safe on distinct memory.
 */
#ifndef GPUHIST_CPU_RECORD_H
#define GPUHIST_CPU_RECORD_H

#include "job/element.h"

#include <stddef.h>

/*
 * Copies `count` elements, one in each record of record_bytes bytes, the first at `first`, to
 * elements[0..count), which may begin where the records do.
 */
void cpu_record_gather(const struct element *element, const void *first, size_t record_bytes,
                       size_t count, void *elements);

/* Likewise stores their keys (element.h) at keys[0..count), outside the records. */
void cpu_record_gather_keys(const struct element *element, const void *first, size_t record_bytes,
                            size_t count, uint64_t *keys);

#endif
