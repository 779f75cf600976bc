/*
 * Division: compressed files that are decoded side by side. Every regular file of a stream that is
 * compressed is divided into parts that can be decoded by themselves: groups of frames, or of the
 * blocks of an index, or all of it. A puller that wants input takes a part, decodes it into its own
 * buffer and counts that; where no part is left it helps with one that another puller is counting a
 * chunk of.
 *
 * The chunks do not come in the order of the stream, but their positions do. A record that goes
 * over the end of a part is a line, whose two pieces are joined, or it shows that the division was
 * a mistake: then all has to be read again in order (division_is_mistaken).
 *
 * All functions are thread-safe.
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
 * Makes a division without files; what it points to outlives it, and does not change any more once
 * there is a file. NULL with errno set if there is no memory. The caller destroys it, when nobody
 * pulls.
 */
struct division *division_create(const struct record_format *format,
                                 const struct reader_options *options);

void division_destroy(struct division *division);

/*
 * Adds the next file of the stream, from `begin` on, at a position of the stream; takes over the
 * caller's use of the input. Returns how many positions the file takes at the most, which those of
 * later files follow, or 0 with the input untouched if they are too many or there is no memory.
 */
uint64_t division_add(struct division *division, struct input *input,
                      const struct decoder_format *format, off_t begin, uint64_t position);

enum division_event {
    DIVISION_CHUNK, /* *chunk is filled */
    DIVISION_FAULT, /* and comes before a fault, which is in *failure; it may be empty */
    DIVISION_NONE,  /* no part is free */
    DIVISION_ENDED, /* all files that were added are read */
};

/*
 * Fills `buffer` with the next chunk of a part that is nobody's. If all parts are taken, waits if
 * `wait` until one is free, or all are read.
 */
enum division_event division_pull(struct division *division, void *buffer, size_t capacity,
                                  bool wait, struct chunk *chunk, struct failure *failure);

/* Whether there is more to read at present than one part, so that more pullers are of use. */
bool division_has_several(struct division *division);

/* Nothing behind that position of the stream is wanted any more; what comes before it still is. */
void division_stop(struct division *division, uint64_t position);

/* Whether a record was cut that cannot be joined: what was read is of no use. */
bool division_is_mistaken(struct division *division);

#endif
