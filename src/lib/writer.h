/*
 * A buffered writer to standard output or to a file (output_file.h). It keeps the first error, so
 * callers may ignore errors until the end.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_WRITER_H
#define GPUHIST_WRITER_H

#include "lib/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stage;
struct writer;

/*
 * Opens a writer on the file `name`, or on standard output if it is NULL. Fails with STATUS_DATA;
 * the caller closes or discards it.
 */
enum status writer_open(struct writer **writer, const char *name, struct failure *failure);

/* Returns space for `bytes`, at most 64 KiB; the caller fills a part of it, and commits that. */
char *writer_reserve(struct writer *writer, size_t bytes);
void writer_commit(struct writer *writer, size_t bytes);

/* Writes any number of bytes; large pieces without a copy. */
void writer_write(struct writer *writer, const void *data, size_t bytes);

/* Writes a NUL-terminated text; the second as printf does. */
void writer_write_text(struct writer *writer, const char *text);
__attribute__((format(printf, 2, 3))) void writer_print(struct writer *writer, const char *format,
                                                        ...);

/* Reports the bytes written to a stage (stage.h), which must outlive the writer. */
void writer_set_stage(struct writer *writer, struct stage *stage);

/* Returns whether successive results are appended, not files that replace each other. */
bool writer_is_stream(const struct writer *writer);

/*
 * Makes a writer that keeps in memory what it is given; its buffer of `capacity` bytes, no less
 * than the most that is reserved, grows. Returns NULL if there is no memory.
 */
struct writer *writer_create_memory(size_t capacity);

/*
 * Returns what `memory` keeps, *bytes bytes, until it is written to. NULL: there was not enough
 * memory. writer_restart empties it.
 */
const char *writer_memory(const struct writer *memory, size_t *bytes);

/*
 * Writes what `memory` keeps, and empties it. An error of `memory` becomes one of `writer`. Returns
 * whether no write has failed so far; after one, later writes are discarded.
 */
bool writer_write_memory(struct writer *writer, struct writer *memory);

/* Writes out what is buffered. Fails with STATUS_DATA if this or any write before it failed. */
enum status writer_flush(struct writer *writer, struct failure *failure);

/* Begins again: the caller repeats what was written so far, and the writer skips that. */
void writer_restart(struct writer *writer);

/*
 * Writes out what is buffered, closes the file and frees the writer. Fails with STATUS_DATA if this
 * or any write before it failed, or less was written than before writer_restart; a named file is
 * then as it was before.
 */
enum status writer_close(struct writer *writer, struct failure *failure);

/*
 * Like writer_close, but for writers[0..count), at most WRITER_TOGETHER: no file is replaced before
 * the data of all is on the disk.
 */
#define WRITER_TOGETHER 2
enum status writer_close_all(struct writer *const *writers, size_t count, struct failure *failure);

/* Frees the writer and leaves no trace of a named file; NULL is allowed. */
void writer_discard(struct writer *writer);

#endif
