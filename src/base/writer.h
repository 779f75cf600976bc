/*
 * A buffered writer to standard output or to a file (output_file.h). It keeps the first error, so
 * that callers write on and look once, at the end.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_WRITER_H
#define GPUHIST_WRITER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer;

/*
 * Opens a writer on the file `name`, or on standard output if it is NULL. Fails with STATUS_DATA;
 * the caller closes or discards it.
 */
enum status writer_open(struct writer **writer, const char *name, struct failure *failure);

/*
 * Room for `bytes` (64 KiB at the most) behind what was written; the caller fills some of it and
 * tells with writer_commit how much. For writing numbers without a copy.
 */
char *writer_reserve(struct writer *writer, size_t bytes);
void writer_commit(struct writer *writer, size_t bytes);

/* Writes any number of bytes; many at once without a copy. */
void writer_write(struct writer *writer, const void *data, size_t bytes);

/*
 * Whether several results are written one behind the other: to standard output, a device or a pipe.
 * Otherwise each is a file of its own, by a writer of its own, and replaces the one before.
 */
bool writer_is_stream(const struct writer *writer);

/* Whether a write has failed: what is written from then on goes nowhere. */
bool writer_has_failed(const struct writer *writer);

/*
 * A writer that keeps what is written in memory: `capacity` bytes at the most, in pieces of less
 * than 64 KiB; more is an error. NULL if there is no memory. To be discarded.
 */
struct writer *writer_create_memory(size_t capacity);

/* Writes what such a writer keeps, which then keeps nothing. Its error becomes the writer's. */
void writer_write_memory(struct writer *writer, struct writer *memory);

/* Writes out what is buffered. Fails with STATUS_DATA if this or any write before it failed. */
enum status writer_flush(struct writer *writer, struct failure *failure);

/*
 * Begins again: what is written from now on is, from its beginning, what was written so far, of
 * which that much is not written twice.
 */
void writer_restart(struct writer *writer);

/*
 * Writes out what is buffered, closes the file and frees the writer. Fails with STATUS_DATA if this
 * or any write before it failed, or less was written than before writer_restart; a named file is
 * then as it was before.
 */
enum status writer_close(struct writer *writer, struct failure *failure);

/* Frees the writer and leaves no trace of a named file; NULL is allowed. */
void writer_discard(struct writer *writer);

#endif
