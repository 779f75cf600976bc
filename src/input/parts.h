/*
 * Parts: compressed files that several workers decode in parallel. Each compressed regular file is
 * divided into parts that can be decoded independently: groups of frames, groups of blocks listed
 * in an index, or the whole file. A worker takes a part, and decodes it chunk by chunk. It counts
 * the chunks itself, or hands them to workers that have no part (relay.h).
 *
 * The part that is taken next is of the file with most left. At the end, when fewer parts are left
 * than two for each worker, a worker that has decoded one for a while goes on with another that has
 * more left and that nobody decodes: so parts of unequal length, and three parts and two workers,
 * end at the same time.
 *
 * A row belongs to the part in which it begins: the worker of that part reads on beyond the end of
 * the part, up to the end of the row, and the worker of the next part skips these bytes. A row that
 * begins with a part belongs to the part before. The bytes that were skipped are kept for the
 * worker that needs them; if they are not known yet, it decodes the beginning of the part itself.
 *
 * In CSV, only the end of the previous part tells whether a part begins inside quotes. Workers do
 * not wait for it: they guess from the first quotes and check later. After a wrong guess, all input
 * has to be read again in order (parts_needs_order).
 *
 * The chunks come in any order, but their positions are in the order of the stream. If a part ends
 * within a binary element, all input has to be read again in order (parts_needs_order).
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
 * after parts_add; so must the relay, which is told of parts that become free. Returns NULL with
 * errno set if there is no memory. The caller destroys it, when no thread pulls from it.
 */
struct parts *parts_create(const struct record_format *format, const struct reader_options *options,
                           struct relay *relay);

/* Frees it, and closes its files and readers. NULL is allowed. */
void parts_destroy(struct parts *parts);

/*
 * Adds the next file, at a position of the stream. Takes over the caller's use of the input.
 * Returns an upper bound on the decoded length of the file; the position of the next file is that
 * much greater. Returns 0, and leaves the input to the caller, if the position would overflow or if
 * there is no memory.
 */
uint64_t parts_add(struct parts *parts, struct input *input, const struct decoder_format *format,
                   uint64_t position);

struct parts_counts {
    size_t taken; /* parts that a thread has begun and that are not at their end */
    size_t left;  /* these, and files with parts that no thread has begun */
};
struct parts_counts parts_count(struct parts *parts);

/* Returns whether this thread was the last to decode some part that is not at its end. */
bool parts_has_own(struct parts *parts);

enum parts_event {
    PARTS_CHUNK, /* *chunk is filled */
    PARTS_FAULT, /* *chunk precedes a fault, which is in *failure; it may be empty */
    PARTS_NONE,  /* other threads decode all parts that are left */
    PARTS_ENDED, /* all files added so far have been read */
};

/*
 * Fills `buffer` with the next chunk that this thread is to count, of its part or, if it has none,
 * of one that no other thread is decoding. Goes on as long as chunks can be handed to others.
 */
enum parts_event parts_pull(struct parts *parts, struct chunk_buffer *buffer, struct chunk *chunk,
                            struct failure *failure);

/*
 * Ends the stream at a position, that of a fault, or 0: nothing from there on is read any more.
 */
void parts_stop(struct parts *parts, uint64_t position);

/*
 * Returns whether the files have to be read in order: a part ends within a binary element, within
 * the header or in a first block without newlines; a wrong guess where rows of CSV begin; or there
 * is a fault in a part of a divided file, or in binary values, where only reading in order finds
 * its position. All that was read must then be discarded.
 */
bool parts_needs_order(struct parts *parts);

/* After the last pull: how many bytes were decoded, each by the worker of its part. */
uint64_t parts_bytes(const struct parts *parts);

#endif
