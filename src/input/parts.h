/*
 * Parts: compressed files that several workers decode in parallel. Each compressed regular file is
 * divided into parts that can be decoded independently: groups of frames, groups of blocks listed
 * in an index, or the whole file. A worker takes a part, decodes a chunk of it into its own buffer
 * and counts it. If all parts are taken, a worker may decode the next chunk of a part while the
 * worker that took it is counting.
 *
 * A row belongs to the part in which it begins: the worker of that part reads on beyond the end of
 * the part, up to the end of the row, and the worker of the next part skips these bytes. A row that
 * begins with a part belongs to the part before. The bytes that were skipped are kept for the
 * worker that needs them; if they are not known yet, it decodes the beginning of the part itself.
 *
 * Of CSV, it is known whether a part begins between quotes once the part before it is decoded,
 * which is not waited for: it is guessed, from the first quotes, and found out afterwards. If the
 * guess is wrong, all input has to be read again in order (parts_needs_order).
 *
 * The chunks come in any order, but their positions are in the order of the stream. If a part ends
 * within a binary element, all input has to be read again in order (parts_needs_order).
 *
 * All functions but parts_destroy and parts_bytes are thread-safe.
 */
#ifndef GPUHIST_PARTS_H
#define GPUHIST_PARTS_H

#include "base/status.h"
#include "input/reader.h"
#include "input/record.h"
#include "input/stream.h"
#include "job/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parts;

/*
 * Makes an object without files. The format and the options must outlive it, and must not change
 * after parts_add. Returns NULL with errno set if there is no memory. The caller destroys it, when
 * no thread pulls from it.
 */
struct parts *parts_create(const struct record_format *format,
                           const struct reader_options *options);

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

enum parts_event {
    PARTS_CHUNK, /* *chunk is filled */
    PARTS_FAULT, /* *chunk precedes a fault, which is in *failure; it may be empty */
    PARTS_NONE,  /* no part is free */
    PARTS_ENDED, /* all files added so far have been read */
};

/*
 * Fills `buffer` with the next chunk of a part that no other thread is decoding. If there is none,
 * returns PARTS_NONE, or with `wait` waits until there is one or all files have been read. Sets
 * *has_several if more than one part is left, so that more workers would help.
 */
enum parts_event parts_pull(struct parts *parts, struct chunk_buffer *buffer, bool wait,
                            struct chunk *chunk, bool *has_several, struct failure *failure);

/*
 * Ends the stream at a position, that of a fault, or 0: nothing from there on is read any more.
 */
void parts_stop(struct parts *parts, uint64_t position);

/*
 * Whether the files have to be read in order: a part ends within a binary element, within the
 * header or in a first block without newlines; a wrong guess where rows of CSV begin; or there is a
 * fault in a part of a divided file, or in binary values, where only reading in order finds its
 * position. All that was read must then be discarded.
 */
bool parts_needs_order(struct parts *parts);

/* After the last pull: how many bytes were decoded, each by the worker of its part. */
uint64_t parts_bytes(const struct parts *parts);

#endif
