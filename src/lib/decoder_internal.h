/* Shared by the decoder files: the state of a decoder, and the rows of the table of formats. */
#ifndef GPUHIST_DECODER_INTERNAL_H
#define GPUHIST_DECODER_INTERNAL_H

#include "lib/decoder.h"

#include <limits.h>

/* Maximum number of bytes of a frame's head that a format inspects (zstd and lzma). */
#define DECODER_HEAD_BYTES 18

/* Whether the bytes seen so far begin a frame. */
enum decoder_match {
    DECODER_NO,
    DECODER_MAYBE, /* they are too few to tell */
    DECODER_YES,
};

struct decoder {
    const struct decoder_format *format;
    const char *name;       /* the file's name, for messages; not owned */
    void *state;            /* the library's state; owned */
    bool head_is_done;      /* the head of this frame is complete and checked */
    bool is_pending;        /* the output was full: more may follow without more input */
    uint64_t padding_bytes; /* number of NULs since the last frame */
    size_t head_bytes;      /* number of bytes in `head`; 0: between frames */
    unsigned char head[DECODER_HEAD_BYTES];
};

/* The NULs that a format allows between or after frames. */
enum decoder_padding {
    DECODER_UNPADDED,
    DECODER_PADDED_AT_END,   /* after the last frame */
    DECODER_PADDED_BY_FOURS, /* after any frame, in multiples of 4 */
};

/* The functions of a library for a format. */
struct decoder_library {
    const char *name;
    const char *(*version)(void);
    /* Returns the state, or NULL if there is no memory. */
    void *(*open)(uint64_t memory_limit);
    /*
     * Decodes a piece, up to the end of the frame at most, and advances in_used and out_used. Sets
     * *ended when the frame is at its end and all its output is written. On failure it writes the
     * message with decoder_fail.
     */
    enum status (*step)(struct decoder *decoder, struct decoder_io *io, bool *ended,
                        struct failure *failure);
    /* Frees the state. */
    void (*close)(void *state);
};

/* The first bytes of a frame: each lies in the range of its bytes in `low` and `high`. */
struct decoder_magic {
    const char *low; /* [bytes] */
    const char *high;
    size_t bytes;
};
#define DECODER_MAGIC_RANGE(low, high) \
    {                                  \
        low, high, sizeof(low) - 1     \
    }
#define DECODER_MAGIC(text) DECODER_MAGIC_RANGE(text, text)

/* The first members of the index of every format. */
struct decoder_index {
    const struct decoder_format *format;
};

struct decoder_format {
    const char *name;
    const char *unit;    /* the format's own word for a frame */
    const char *needs;   /* libraries that decode it, for messages; NULL: never decoded */
    const char *instead; /* another command that decompresses it; never decoded: advice, or NULL */
    const char *kind;    /* never decoded: the word for such files, plural */
    bool is_array;       /* never decoded: the format is DECODER_ARRAY */
    bool is_deflate;     /* see decoder_is_deflate */
    enum decoder_padding padding;
    const struct decoder_library *library; /* NULL: this build has none */

    struct decoder_magic magics[3]; /* the alternative first bytes of a frame; "": any bytes */
    /* Tells whether head[0..bytes), which begins with a magic, begins a frame. NULL: always. */
    enum decoder_match (*match)(const unsigned char *head, size_t bytes);
    /*
     * Checks the head of a frame before the library sees all of it, and sets head_is_done if the
     * head is complete. NULL: every head that matches is accepted.
     */
    enum status (*check_head)(struct decoder *decoder, struct failure *failure);
    /* Like decoder_frame_bytes, or a length beyond the data. NULL: only decoding finds the end. */
    uint64_t (*frame_bytes)(const struct decoder_view *view, uint64_t offset);
    /* Like the functions decoder_index_*. NULL: the format has no index. */
    struct decoder_index *(*index_open)(const struct decoder_view *view, uint64_t begin,
                                        uint64_t block_bytes, bool ends_anywhere);
    bool (*index_next)(struct decoder_index *index, uint64_t bytes, struct decoder_part *part);
    void (*index_close)(struct decoder_index *index);
};

extern const struct decoder_format decoder_zstd;
extern const struct decoder_format decoder_gzip;
extern const struct decoder_format decoder_xz;
extern const struct decoder_format decoder_bzip2;
extern const struct decoder_format decoder_lz4;

/* The formats that are never decoded (decoder_refused.c). */
extern const struct decoder_format decoder_refused[];
extern const size_t decoder_refused_count;

/*
 * Returns whether head[0..bytes) is the start of a frame, or of a file that is never decoded.
 */
enum decoder_match decoder_match(const struct decoder_format *format, const unsigned char *head,
                                 size_t bytes);

/*
 * Returns whether head[0..bytes) is the start of a zlib stream, which the libraries of
 * decoder_gzip.c also decode. Needs ISA-L or zlib.
 */
enum decoder_match decoder_zlib_match(const unsigned char *head, size_t bytes);

/* Calls view->look. Returns NULL if the data end before offset + bytes. */
const unsigned char *decoder_look(const struct decoder_view *view, uint64_t offset, size_t bytes);

/* Returns a skippable frame's length, like frame_bytes. Its head: a magic and the rest's length. */
#define DECODER_SKIPPABLE_HEAD_BYTES 8
uint64_t decoder_frame_skippable(const struct decoder_view *view, uint64_t offset);

/*
 * Returns how many bytes of input the next call of libzstd or liblz4 gets. A call that fails does
 * not tell what it has written before. Therefore each call takes pending output, or reads up to the
 * end of a block, or the bytes between blocks: the output before a fault, and its message, then do
 * not depend on the sizes of buffers. The last call has asked for `wanted` bytes, which may include
 * the `between` bytes after a block. At the start of a frame a call may get all input, which is
 * faster; if it fails, the frame is decoded again.
 */
static inline size_t decoder_next_bytes(const struct decoder *decoder, const struct decoder_io *io,
                                        size_t wanted, size_t between)
{
    const size_t bytes = wanted > between ? wanted - between : wanted;
    const size_t left = io->in_bytes - io->in_used;

    return decoder->is_pending ? 0 : bytes < left ? bytes : left;
}

/* The libraries of gzip and bzip2 count in unsigned int. */
static inline unsigned decoder_limit(size_t bytes)
{
    return bytes < UINT_MAX ? (unsigned)bytes : UINT_MAX;
}

/* Read integers in little-endian byte order, which all formats here use. */
static inline uint32_t decoder_read_16(const unsigned char *data)
{
    return data[0] | (uint32_t)data[1] << 8;
}

static inline uint32_t decoder_read_32(const unsigned char *data)
{
    return decoder_read_16(data) | decoder_read_16(data + 2) << 16;
}

/* Writes "FILE: FORMAT: REASON" and returns STATUS_DATA. */
enum status decoder_fail(const struct decoder *decoder, struct failure *failure, const char *reason,
                         ...) __attribute__((format(printf, 3, 4)));

#endif
