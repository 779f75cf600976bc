/*
 * Division: compressed files that several workers decode in parallel. Each compressed regular file
 * of a stream is divided into parts that can be decoded independently: groups of frames, groups of
 * blocks listed in an index, or the whole file. A worker takes a part, decodes a chunk of it into
 * its own buffer and counts it. If all parts are taken, a worker may decode the next chunk of a
 * part while the worker that took it is counting.
 *
 * The chunks come in any order, but their positions are in the order of the stream. A record may
 * extend over the end of a part. If it is a line, the two pieces are joined. If they cannot be
 * joined, or the record is a binary element, all input has to be read again in order
 * (division_needs_order).
 *
 * All functions but division_destroy are thread-safe.
 */
#ifndef GPUHIST_DIVISION_H
#define GPUHIST_DIVISION_H

#include "base/status.h"
#include "input/reader.h"
#include "input/record.h"
#include "job/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct division;

/*
 * Makes a division without files. The format and the options must outlive it, and must not change
 * after division_add. Returns NULL with errno set if there is no memory. The caller destroys the
 * division, when no thread pulls from it.
 */
struct division *division_create(const struct record_format *format,
                                 const struct reader_options *options);

/* Frees a division, and closes the files and readers that it holds. NULL is allowed. */
void division_destroy(struct division *division);

/*
 * Adds the next file, at a position of the stream. Takes over the caller's use of the input.
 * `rules` are the rules of the text of the file. Returns an upper bound on the decoded length of
 * the file; the position of the next file is that much greater. Returns 0, and leaves the input to
 * the caller, if the position would overflow or if there is no memory.
 */
uint64_t division_add(struct division *division, struct input *input,
                      const struct decoder_format *format, const struct text_rules *rules,
                      uint64_t position);

enum division_event {
    DIVISION_CHUNK, /* *chunk is filled */
    DIVISION_FAULT, /* *chunk precedes a fault, which is in *failure; it may be empty */
    DIVISION_NONE,  /* no part is free */
    DIVISION_ENDED, /* all files added so far have been read */
};

/*
 * Fills `buffer` with the next chunk of a part that no other thread is decoding. If there is none,
 * returns DIVISION_NONE, or with `wait` waits until there is one or all files have been read.
 */
enum division_event division_pull(struct division *division, void *buffer, size_t capacity,
                                  bool wait, struct chunk *chunk, struct failure *failure);

/* Whether more than one part is left, so that more workers would help. */
bool division_has_several(struct division *division);

/* Ends the stream at a position: what follows it is no longer read. */
void division_stop(struct division *division, uint64_t position);

/*
 * Whether a pull has failed because the files have to be read in order: a part ends within a binary
 * element or within the header, or two pieces of a line cannot be joined, or a part of a divided
 * file is corrupt, where only reading in order finds the position of the fault. All that was read
 * must then be discarded.
 */
bool division_needs_order(struct division *division);

#endif
