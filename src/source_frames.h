/*
 * Compressed files of several frames, decoded by whoever has nothing better to do: pullers decode
 * the frames that come next, each some of them, into a ring, from which the one whose turn it is
 * reads them in order. Frames that are large, and so a file of one, are left to its reader.
 */
#ifndef GPUHIST_SOURCE_FRAMES_H
#define GPUHIST_SOURCE_FRAMES_H

#include "decoder.h"
#include "source_internal.h"

struct source_frames;

/*
 * Prepares for the frames of a regular file, from `offset` on; the descriptor and the name must
 * live as long. NULL with errno set if there is no memory. The caller releases it.
 */
struct source_frames *source_frames_open(const struct decoder_format *format, int fd, off_t offset,
                                         const char *name, uint64_t memory_limit);

/* One user more, and one less; the last one frees it. Thread-safe. */
void source_frames_hold(struct source_frames *self);
void source_frames_release(struct source_frames *self);

/* Decodes the next frames, if there are any and room for them; returns whether. Thread-safe. */
bool source_frames_help(struct source_frames *self);

/*
 * Reads what was decoded, in order, up to `room` bytes; decodes or waits if it is not there yet. At
 * SOURCE_EMPTY the rest is to be decoded from *offset on by the caller. One thread at a time.
 */
enum source_event source_frames_read(struct source_frames *self, void *buffer, size_t room,
                                     size_t *bytes, off_t *offset, struct failure *failure);

#endif
