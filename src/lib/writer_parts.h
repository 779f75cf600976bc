/*
 * Writes a result of independent parts with several threads. Each thread writes a part to memory,
 * and then writes out all complete parts that are next in order, unless another thread does so.
 */
#ifndef GPUHIST_WRITER_PARTS_H
#define GPUHIST_WRITER_PARTS_H

#include "lib/writer.h"

struct writer_parts {
    size_t count;
    /* Writes a part. Several threads call it at the same time for different parts. */
    void (*write)(const void *context, size_t part, struct writer *writer);
    const void *context;
};

/*
 * Writes all parts with up to `threads` threads, fewer if threads or memory are short. Returns
 * false, and writes nothing, if there is no memory for any part. The first write error ends it.
 */
bool writer_parts_write(struct writer *writer, const struct writer_parts *parts, unsigned threads);

#endif
