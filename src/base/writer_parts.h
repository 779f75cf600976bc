/*
 * Writing in parts that do not depend on one another, by several threads. Each makes the next part
 * in memory, and goes on to another one; whoever finds that the first of those left is made writes
 * it out. So they come in their order, and nobody waits unless the output is slower than all.
 */
#ifndef GPUHIST_WRITER_PARTS_H
#define GPUHIST_WRITER_PARTS_H

#include "base/writer.h"

struct writer_parts {
    size_t count;
    size_t part_bytes; /* of one, at the most, */
    /* which this writes, in pieces of less than 64 KiB; called by several threads at once. */
    void (*write)(const void *context, size_t part, struct writer *writer);
    const void *context;
};

/*
 * Writes all parts by up to `threads` threads, the caller's among them. Threads and memory that
 * cannot be had are done without; if there is no memory at all it returns false, and has written
 * nothing. Errors of writing stay in the writer; then the parts that are left are not made.
 */
bool writer_parts_write(struct writer *writer, const struct writer_parts *parts, unsigned threads);

#endif
