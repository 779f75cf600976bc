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

/* Returns space for `bytes` <= 64 KiB; the caller fills and commits a part of it. */
char *writer_reserve(struct writer *writer, size_t bytes);
void writer_commit(struct writer *writer, size_t bytes);

/* Writes any number of bytes, and does not copy large pieces. */
void writer_write(struct writer *writer, const void *data, size_t bytes);

/* Write a NUL-terminated text, and text formatted like printf. */
void writer_write_text(struct writer *writer, const char *text);
__attribute__((format(printf, 2, 3))) void writer_print(struct writer *writer, const char *format,
                                                        ...);

/* Reports the bytes written to a stage (stage.h), which must outlive the writer. */
void writer_set_stage(struct writer *writer, struct stage *stage);

/* Returns whether successive results are appended, rather than replace the file. */
bool writer_is_stream(const struct writer *writer);

/*
 * Makes a writer to memory. Its buffer of `capacity` bytes, at least the largest reservation,
 * grows. Returns NULL if there is no memory.
 */
struct writer *writer_create_memory(size_t capacity);

/*
 * Returns the contents of `memory`, *bytes bytes, valid until the next write to it. NULL: there was
 * not enough memory. writer_restart empties it.
 */
const char *writer_memory(const struct writer *memory, size_t *bytes);

/*
 * Writes the contents of `memory`, and empties it. An error of `memory` becomes one of `writer`.
 * Returns false if any write has failed so far; later writes are then discarded.
 */
bool writer_write_memory(struct writer *writer, struct writer *memory);

/* Writes out the buffer. Fails with STATUS_DATA if this or any earlier write failed. */
enum status writer_flush(struct writer *writer, struct failure *failure);

/* Begins again: the caller repeats its output so far, and the writer skips that. */
void writer_restart(struct writer *writer);

/*
 * Writes out the buffer, closes the file and frees the writer. Fails with STATUS_DATA if this or
 * any earlier write failed, or less was written than before writer_restart; a named file is then
 * unchanged.
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
