/*
 * Parts: compressed files that several workers decode in parallel. Each compressed regular file is
 * divided into parts that can be decoded independently: groups of frames, groups of blocks listed
 * in an index, or the whole file. A worker takes a part, and decodes it chunk by chunk. It counts
 * the chunks itself, or hands them to workers that have no part (relay.h).
 *
 * Workers take the next part from the file with most input left. At the end, with fewer than two
 * parts per worker left, a worker that has decoded a part for a while continues with another one
 * that has more left and that nobody decodes. Thus parts of unequal length, or three parts and two
 * workers, end at the same time.
 *
 * A row belongs to the part in which it begins: the worker of that part reads beyond the end of the
 * part, up to the end of the row, and the worker of the next part skips these bytes. A row that
 * begins with a part belongs to the part before. Skipped bytes are kept for the worker that needs
 * them; if they are not known yet, it decodes the start of the part itself.
 *
 * In CSV, only the end of the previous part tells whether a part begins inside quotes. Workers do
 * not wait for it: they guess from the first quotes and check later. After a wrong guess, all input
 * must be read again in order (parts_needs_order).
 *
 * Chunks have any order, but their positions are in stream order. If a part ends within a binary
 * element, all input must be read again in order (parts_needs_order).
 *
 * All functions but parts_destroy and parts_bytes are thread-safe.
 */
#ifndef GPUHIST_PARTS_H
#define GPUHIST_PARTS_H

#include "input/reader.h"
#include "input/record.h"
#include "input/relay.h"
#include "input/stream.h"
#include "lib/status.h"
#include "value/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parts;

/*
 * Makes an object without files. The format and the options must outlive it, and must not change
 * after parts_add. It notifies the relay, which must also outlive it, of parts that become free.
 * Returns NULL with errno set if there is no memory. The caller destroys it, when no thread pulls
 * from it.
 */
struct parts *parts_create(const struct record_format *format, const struct reader_options *options,
                           struct relay *relay);

/* Frees it, and closes its files and readers. NULL is allowed. */
void parts_destroy(struct parts *parts);

/*
 * Adds the next file, at a position of the stream. Takes over the caller's use of the input.
 * Returns an upper bound on the decoded length of the file, by which the position of the next file
 * is larger. Returns 0, and leaves the input to the caller, if the position would overflow or if
 * there is no memory.
 */
uint64_t parts_add(struct parts *parts, struct input *input, const struct decoder_format *format,
                   uint64_t position);

struct parts_counts {
    size_t taken; /* number of parts that a thread has begun and not yet finished */
    size_t left;  /* `taken`, plus the number of files with parts that no thread has begun */
};
struct parts_counts parts_count(struct parts *parts);

/* Returns whether this thread was the last to decode some unfinished part. */
bool parts_has_own(struct parts *parts);

enum parts_event {
    PARTS_CHUNK, /* *chunk is filled */
    PARTS_FAULT, /* *chunk, which may be empty, precedes a fault; *failure has the fault */
    PARTS_NONE,  /* other threads decode all parts that are left */
    PARTS_ENDED, /* all files added so far have been read */
};

/*
 * Fills `buffer` with the next chunk that this thread must count, from its part or, if it has none,
 * from a part that no other thread is decoding. Continues while it can hand chunks to others.
 */
enum parts_event parts_pull(struct parts *parts, struct chunk_buffer *buffer, struct chunk *chunk,
                            struct failure *failure);

/*
 * Ends the stream at a position, that of a fault, or 0: nothing after it is read any more.
 */
void parts_stop(struct parts *parts, uint64_t position);

/*
 * Returns whether the files must be read in order: because a part ends within a binary element,
 * within the header or in a first block without newlines; because of a wrong guess of where rows of
 * CSV begin; or because of a fault in a part of a divided file, or in binary values, whose position
 * only reading in order finds. All input read so far must then be discarded.
 */
bool parts_needs_order(struct parts *parts);

/* After the last pull: returns the number of decoded bytes, each counted once. */
uint64_t parts_bytes(const struct parts *parts);

#endif
