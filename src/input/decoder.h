/*
 * Decoders: compressed bytes in, plain bytes out, a piece at a time, whatever the format. Any
 * concatenation of frames or members is one stream.
 *
 * Functions are thread-safe on distinct decoders.
 */
#ifndef GPUHIST_DECODER_H
#define GPUHIST_DECODER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder;
struct decoder_format;

/*
 * As many bytes at the beginning of a file as may be needed to know its format. A skippable frame
 * is enough for zstd, whatever follows: its length has no limit. What follows is then an error if
 * it is no frame.
 */
#define DECODER_MAGIC_BYTES 4

/*
 * The format that begins so, or NULL. Where the bytes are too few to tell, *undecided is set; more
 * of them, if there are, would decide.
 */
const struct decoder_format *decoder_detect(const void *head, size_t bytes, bool *undecided);

/* "zstd", "gzip". */
const char *decoder_format_name(const struct decoder_format *format);

/*
 * Makes a decoder; `name` is the file's, for messages, and must live as long. memory_limit bounds
 * the window, in bytes (0: what the format's own tool allows; gzip's is never above 32 KiB). Fails
 * with STATUS_DATA if there is no memory, or if the build lacks the format. The caller closes it.
 */
enum status decoder_open(struct decoder **decoder, const struct decoder_format *format,
                         const char *name, uint64_t memory_limit, struct failure *failure);

/* NULL is allowed. */
void decoder_close(struct decoder *decoder);

/*
 * Decodes from in[0..in_bytes) to out[0..out_bytes) until the one is used up or the other full, and
 * stores how much of either. There may be more output without more input if the output was filled.
 * Fails with STATUS_DATA on corrupt input (checksums are verified), on trailing junk (but NULs
 * behind gzip's members are ignored, as gzip does), on a window above the limit and on what needs a
 * dictionary. *out_used is then what was decoded before, in this call maybe less; a checksum comes
 * behind what it covers. After a failure only decoder_close may be called.
 */
enum status decoder_run(struct decoder *decoder, const void *in, size_t in_bytes, size_t *in_used,
                        void *out, size_t out_bytes, size_t *out_used, struct failure *failure);

/* As decoder_run, but goes no further than to the end of a frame or member. */
enum status decoder_run_frame(struct decoder *decoder, const void *in, size_t in_bytes,
                              size_t *in_used, void *out, size_t out_bytes, size_t *out_used,
                              struct failure *failure);

/* Whether all that was decoded are whole frames or members. */
bool decoder_is_between(const struct decoder *decoder);

/* At the end of the input: fails with STATUS_DATA if it ends within a frame or member. */
enum status decoder_finish(struct decoder *decoder, struct failure *failure);

/*
 * Frames that can be decoded by themselves, on any thread: the compressed bytes of the frame that
 * begins at data[0..bytes), skippable frames included, or 0 if more bytes are needed to tell;
 * SIZE_MAX if the format has none or what is there is no frame. Goes from block to block, so that
 * a call takes time in proportion to `bytes`, though far less than decoding.
 */
size_t decoder_frame_bytes(const struct decoder_format *format, const void *data, size_t bytes);

#endif
