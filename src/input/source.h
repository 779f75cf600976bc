/*
 * The input: any number of files, pipes and terminals as one stream of bytes, pulled in chunks by
 * any number of threads at once.
 *
 * A regular file is claimed range by range under a lock, and each puller then reads its range
 * itself, in parallel with the others. Everything else is read under the lock, straight into the
 * puller's buffer. Either way chunks hold whole elements: the start of an element that is cut off
 * by the end of a buffer opens the next chunk, also across files.
 */
#ifndef GPUHIST_SOURCE_H
#define GPUHIST_SOURCE_H

#include "base/status.h"
#include "input/record.h"
#include "job/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;

/* The least capacity of buffers for text. */
#define SOURCE_TEXT_CAPACITY_MIN ((size_t)4096)

/* What source_size returns where the size cannot be known before the end. */
#define SOURCE_SIZE_UNKNOWN UINT64_MAX

/*
 * Opens the stream of names[0..count), "-" being standard input, for elements of element_bytes
 * (1 to 8). The names must live as long as the source. Every file is looked at now and opened when
 * its turn comes: fails with STATUS_DATA if one is missing, unreadable or a directory. The caller
 * closes it.
 */
enum status source_open(struct source **source, char *const *names, size_t count,
                        size_t element_bytes, struct failure *failure);

/*
 * The next four are to be called before the first pull, if at all.
 *
 * Decodes files that are compressed, told by their first bytes; memory_limit as in decoder_open.
 * With `holds_frames`, of a frame or member that decodes to 16 MiB or less nothing is pulled before
 * its checksum is verified; of a larger one, nothing before that much is decoded.
 */
void source_decode(struct source *source, uint64_t memory_limit, bool holds_frames);

/*
 * Lets files that are compressed be decoded side by side: their chunks then come in any order, with
 * positions that are in the order of the stream but have gaps, and all with sequence 0. Has no
 * effect unless all of the stream is regular files. See source_is_mistaken.
 */
void source_divide(struct source *source);

/*
 * Looks at the first block of the first file that has any bytes, and says whether it is text
 * (text_is_text); an empty stream is. Waits for it, but for no more than there is at once. Fails
 * with STATUS_DATA if not a byte of a file can be read or decoded, and if it is text in another
 * encoding (text_find_encoding).
 */
enum status source_look(struct source *source, bool *is_text, struct failure *failure);

/* Sets what chunks are made of, if it is not binary elements as given to source_open. */
void source_set_format(struct source *source, const struct record_format *format);

/*
 * Closes *source, no pull being under way, and opens in its place the same stream, from where it
 * began and set up likewise. Fails with STATUS_DATA unless all inputs are regular files, each still
 * the same file with the same size and modification time. *source is then unchanged, or closed and
 * NULL.
 */
enum status source_repeat(struct source **source, struct failure *failure);

/* No pull may be under way. NULL is allowed. */
void source_close(struct source *source);

/*
 * Waits until one puller more is wanted, and returns whether it is: false if the input ended
 * before. To be called once by every thread that is going to pull. The first is wanted at once, as
 * are all where ranges of a file can be read in parallel. From a pipe, each further one is wanted
 * when those that pull have been busy with what they had while the writer waited: as few as keep up
 * are quickest, since each change of the reader moves the pipe to another core. Of compressed files
 * that are read side by side all are wanted, of a single one that is read in turns a few.
 * Thread-safe.
 */
bool source_join(struct source *source);

/* Tells that one that has joined does not pull any more, though it could: another may join in its
 * place. Thread-safe. */
void source_leave(struct source *source);

/*
 * Fills `buffer` with the next chunk, `capacity` bytes at the most: at least one element, or
 * SOURCE_TEXT_CAPACITY_MIN of text; pullers may differ in it. Returns when the buffer is full, or
 * when there is something and no more just now, or not enough for a while; waits while there is
 * nothing. At the end, or once source_stop was called, chunk->bytes is
 * 0. The data stays the caller's own.
 *
 * Fails with STATUS_DATA on an I/O error, a file that shrinks, and bytes left over at the end that
 * make no element. The chunk then is what precedes the fault, maybe nothing, with is_cut set; the
 * source is stopped. Thread-safe.
 */
enum status source_pull(struct source *source, void *buffer, size_t capacity, struct chunk *chunk,
                        struct failure *failure);

/*
 * As source_pull, but where that would wait, for input or for another puller, does nothing and sets
 * *pulled to false.
 */
enum status source_try_pull(struct source *source, void *buffer, size_t capacity,
                            struct chunk *chunk, bool *pulled, struct failure *failure);

/*
 * Ends the stream at a position (0: at once): pulls under way or to come see the end of the input
 * where all that is left comes behind it. Thread-safe.
 */
void source_stop(struct source *source, uint64_t position);

/*
 * Whether source_divide has cut a record: a pull has failed, and what was read is of no use, but
 * source_repeat opens a stream that is read in order. Not thread-safe.
 */
bool source_is_mistaken(const struct source *source);

/* Whether the input is files, some of which are to be decoded. */
bool source_is_compressed(const struct source *source);

/* Whether compressed input has been found so far. Thread-safe. */
bool source_is_decoding(const struct source *source);

/* The bytes of the whole stream if it is regular files, none of them compressed; else unknown. */
uint64_t source_size(const struct source *source);

/* The bytes of all files as they are, compressed ones too; unknown unless all are regular files. */
uint64_t source_file_bytes(const struct source *source);

/* How many of these bytes have been read so far. Thread-safe. */
uint64_t source_file_bytes_read(const struct source *source);

/* How many bytes have been pulled so far. Not thread-safe: call it when the workers have ended. */
uint64_t source_position(const struct source *source);

#endif
