/*
 * Decoders turn compressed bytes into plain bytes, piece by piece, in any supported format. A
 * compressed file consists of frames; gzip calls them members, xz and bzip2 call them streams.
 * Consecutive frames of one format are one stream of bytes.
 *
 * Functions are thread-safe on distinct decoders.
 */
#ifndef GPUHIST_DECODER_H
#define GPUHIST_DECODER_H

#include "lib/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder;
struct decoder_format;

/* Number of bytes that identify a file's format. A skippable frame identifies zstd. */
#define DECODER_MAGIC_BYTES 512

/* Kinds of formats, as bits. */
enum decoder_kind {
    DECODER_COMPRESSED = 1,
    DECODER_REFUSED = 2, /* unsupported file types: archives, images, databases and so on */
    DECODER_ARRAY = 4,   /* NumPy arrays, where they are not supported */
};

/*
 * Returns the format, among those of `kinds`, of a file that begins with these bytes, or NULL. Sets
 * *undecided if the bytes are too few to tell. decoder_open rejects unsupported file types, and
 * formats that this build cannot decode.
 */
const struct decoder_format *decoder_detect(const void *head, size_t bytes, unsigned kinds,
                                            bool *undecided);

/* Returns "zstd", "gzip", "xz", "bzip2" or "lz4"; for unsupported file types "zip", "PNG", ... */
const char *decoder_format_name(const struct decoder_format *format);

/* Returns whether frames of the format are gzip members, which deflate.h decodes. */
bool decoder_is_deflate(const struct decoder_format *format);

/*
 * Writes a line about format number i, without a newline: "gzip: yes: ISA-L 2.30.0", or why this
 * build cannot decode the format. Returns false if there are no more formats.
 */
bool decoder_describe(size_t i, char *text, size_t size);

/*
 * Makes a decoder, which the caller closes. `name`, the file's name for messages, must outlive it.
 * memory_limit is the maximum size of zstd's window and xz's dictionary, in bytes (0: 128 MiB).
 * Fails with STATUS_DATA if there is no memory, or if the format cannot be decoded; the message
 * then names the missing library, or another way.
 */
enum status decoder_open(struct decoder **decoder, const struct decoder_format *format,
                         const char *name, uint64_t memory_limit, struct failure *failure);

void decoder_close(struct decoder *decoder);

/* The input and output of a call of decoder_run, which advances in_used and out_used. */
struct decoder_io {
    const unsigned char *in;
    size_t in_bytes;
    size_t in_used;
    unsigned char *out;
    size_t out_bytes;
    size_t out_used;
};

/*
 * Decodes until all input is used or the output is full, or with `ends_with_frame` until the end of
 * a frame. If the output is full, the next call may produce more output without more input.
 *
 * Fails with STATUS_DATA if the input is corrupt (checksums are verified), if trailing data follow
 * a frame, if a window exceeds the limit, and if a dictionary is needed. NULs may follow the last
 * gzip member, and NULs in multiples of four an xz stream. On failure out_used counts the bytes
 * decoded before the fault, some of which may not be verified; then only decoder_close may be
 * called.
 */
enum status decoder_run(struct decoder *decoder, struct decoder_io *io, bool ends_with_frame,
                        struct failure *failure);

/* Returns whether the decoder is at the end of a frame, or at the start of the input. */
bool decoder_is_between(const struct decoder *decoder);

/* To be called at the end of the input. Fails with STATUS_DATA if a frame is incomplete. */
enum status decoder_finish(struct decoder *decoder, struct failure *failure);

/* Random access to compressed data, for the functions below. */
struct decoder_view {
    uint64_t bytes; /* length of the data */
    /*
     * Returns data[offset..offset + bytes), which lies within the data and has at most
     * DECODER_LOOK_BYTES. The result is valid until the next call. NULL: the data cannot be read.
     */
    const unsigned char *(*look)(void *context, uint64_t offset, size_t bytes);
    void *context;
};

#define DECODER_LOOK_BYTES ((size_t)1 << 17)

/*
 * Returns the compressed length of the frame that begins at an offset, without decoding it. Such
 * frames can be decoded independently, by any thread. Skippable frames count as frames. Returns 0
 * if the data end before the frame does, and UINT64_MAX if there is no frame or if its length can
 * only be found by decoding.
 *
 * For zstd and lz4 it follows the block headers. For gzip it reads the length in the headers of
 * BGZF members (SAM/BAM format specification, 4.1); if that is wrong, the pieces fail to decode.
 */
uint64_t decoder_frame_bytes(const struct decoder_format *format, const struct decoder_view *view,
                             uint64_t offset);

/*
 * The index of a compressed file has the places of parts that can be decoded independently. For xz
 * and bzip2, a part is a group of blocks of one stream, without the stream's header and end.
 */
struct decoder_index;

/* A part: the bytes [begin, end) of the data, between the head and the tail in `wrap`. */
struct decoder_part {
    uint64_t begin;
    uint64_t end;
    unsigned shift; /* bzip2: the part begins this many bits after `begin`: byte i of it is
                       data[i] << shift | data[i + 1] >> (8 - shift) */
    bool is_last;
    char *wrap;        /* [wrap_bytes]; the caller frees it; NULL: the part is whole frames */
    size_t head_bytes; /* length of the head; the rest of `wrap` is the tail */
    size_t wrap_bytes;
};

/*
 * Reads and verifies the index of the data that begin at an offset. Whether the blocks are where
 * the index says is verified by decoding them. Returns NULL if the format has no index, if the
 * index is corrupt or cannot be read, if there is only one block, or, for xz, if the compressed
 * blocks have fewer than block_bytes bytes on average. view->context must outlive the index, which
 * the caller closes.
 *
 * bzip2 has no index, but each block begins with 48 bits that are pi in decimal, and a stream ends
 * with the square root of pi, at any bit (https://en.wikipedia.org/wiki/Bzip2).
 * decoder_index_next searches for them. If they are data by chance, a part fails to decode. The
 * decoded length of a block is unknown, so there is no index unless a part `ends_anywhere`.
 */
struct decoder_index *decoder_index_open(const struct decoder_format *format,
                                         const struct decoder_view *view, uint64_t begin,
                                         uint64_t block_bytes, bool ends_anywhere);

/* NULL is allowed. */
void decoder_index_close(struct decoder_index *index);

/*
 * Stores the next part in *part. It has at least `bytes` bytes, or for bzip2 3.6 MB of decoded
 * bytes, unless it ends a stream. May be called until it has stored the last part. Returns false if
 * there is no memory; the index may then only be closed.
 */
bool decoder_index_next(struct decoder_index *index, uint64_t bytes, struct decoder_part *part);

#endif
