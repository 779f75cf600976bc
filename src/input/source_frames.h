/*
 * The decoding of a compressed input, file or pipe. Its frames are gathered into a ring of slots,
 * whole frames each; pullers that have nothing better to do decode those that come next, and the
 * one whose turn it is reads them in order. What nobody has decoded yet it decodes itself, piece by
 * piece as it comes: the frame that a slow pipe is in the middle of, frames too large for a slot,
 * and formats whose frames cannot be told apart.
 */
#ifndef GPUHIST_SOURCE_FRAMES_H
#define GPUHIST_SOURCE_FRAMES_H

#include "input/decoder.h"
#include "input/source_internal.h"

struct source_frames;

/*
 * Prepares to decode an input: what was read ahead of it, which is taken, and then its descriptor,
 * from where that stands. Descriptor and name must live as long. With `holds`, nothing of a frame
 * is read before all of it is decoded and its checksum is right, or 16 MiB of it are. NULL with
 * errno set if there is no memory. The caller releases it.
 */
struct source_frames *source_frames_open(const struct decoder_format *format, struct input *input,
                                         uint64_t memory_limit, bool holds);

/* One user more, and one less; the last one frees it. Thread-safe. */
void source_frames_hold(struct source_frames *self);
void source_frames_release(struct source_frames *self);

/*
 * Decodes the next frames, if there are any that nobody has begun, and no more than so many pullers
 * will soon have read are decoded already. Thread-safe.
 */
void source_frames_help(struct source_frames *self, unsigned pullers);

/* For how many pullers more than those at work there is something to decode. Thread-safe. */
unsigned source_frames_waiting(struct source_frames *self);

/*
 * Reads the decoded bytes in order, up to `room`, and first gathers frames, without waiting, for
 * others to decode. Waits for input as source_pipe_read does, and for others that decode what comes
 * next; but not if there are frames to decode meanwhile: SOURCE_EMPTY then means to help and to
 * come again. Bytes before a fault come first, as many as if one decoder had read it all. The
 * source's lock is held.
 */
enum source_event source_frames_read(struct source_frames *self, struct source *source,
                                     void *buffer, size_t room, bool wait, size_t *bytes,
                                     struct failure *failure);

#endif
