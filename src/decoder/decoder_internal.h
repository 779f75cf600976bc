/* What the files of the decoder share: its state, and the rows of its table of formats. */
#ifndef GPUHIST_DECODER_INTERNAL_H
#define GPUHIST_DECODER_INTERNAL_H

#include "decoder/decoder.h"

/* Room for the longest beginning of a frame that its format looks at: that of zstd, and of lzma. */
#define DECODER_HEAD_BYTES 18

/* What the bytes seen so far say about the beginning of a frame. */
enum decoder_match {
    DECODER_NO,
    DECODER_MAYBE, /* they are too few */
    DECODER_YES,
};

/* The memory that one call of decoder_run works on. */
struct decoder_io {
    const unsigned char *in;
    size_t in_bytes;
    size_t in_used;
    unsigned char *out;
    size_t out_bytes;
    size_t out_used;
};

struct decoder {
    const struct decoder_format *format;
    const char *name;       /* of the file, for messages */
    void *state;            /* the library's own */
    bool head_is_done;      /* no more bytes are wanted for the head of this frame */
    bool is_pending;        /* the output was filled: there may be more without input */
    uint64_t padding_bytes; /* NULs since the last frame */
    size_t head_bytes;      /* 0: between frames */
    unsigned char head[DECODER_HEAD_BYTES];
};

/* Where a format allows NULs. */
enum decoder_padding {
    DECODER_UNPADDED,
    DECODER_PADDED_AT_END,   /* behind the last frame */
    DECODER_PADDED_BY_FOURS, /* behind any frame, a multiple of 4 of them */
};

/* What a library does for a format. Functions that fail write the message by decoder_fail. */
struct decoder_library {
    const char *name;
    const char *(*version)(void);
    /* Makes the state. */
    enum status (*open)(struct decoder *decoder, uint64_t memory_limit, struct failure *failure);
    /*
     * Decodes a piece: advances in_used and out_used, as far as the end of the frame; sets *ended
     * once it is reached and all its output is written.
     */
    enum status (*step)(struct decoder *decoder, struct decoder_io *io, bool *ended,
                        struct failure *failure);
    /* Frees the state. */
    void (*close)(struct decoder *decoder);
};

struct decoder_format {
    const char *name;
    const char *unit;    /* what a frame is called */
    const char *needs;   /* the libraries that decode it; NULL: gpuhist never does */
    const char *instead; /* what to do where it cannot be decoded, or the whole refusal */
    enum decoder_padding padding;
    bool looks_back_little;                /* as decoder_looks_back_little */
    const struct decoder_library *library; /* NULL: this build has none */

    /* Whether a frame begins with head[0..bytes). */
    enum decoder_match (*match)(const unsigned char *head, size_t bytes);
    /*
     * Checks the head of a frame, which matches, before its last bytes are decoded; sets
     * head_is_done unless more of it is wanted. NULL: all that matches is fine.
     */
    enum status (*check_head)(struct decoder *decoder, struct failure *failure);
    /* As decoder_frame_bytes; NULL: frames end where decoding them ends. */
    uint64_t (*frame_bytes)(const struct decoder_view *view, uint64_t offset);
    /* As decoder_index_open; NULL: the format has no index. */
    struct decoder_index *(*open_index)(const struct decoder_view *view, uint64_t begin,
                                        uint64_t block_bytes);
};

extern const struct decoder_format decoder_zstd;
extern const struct decoder_format decoder_gzip;
extern const struct decoder_format decoder_xz;
extern const struct decoder_format decoder_bzip2;
extern const struct decoder_format decoder_lz4;

/* Known only to be refused (decoder_refused.c). */
extern const struct decoder_format decoder_zip;
extern const struct decoder_format decoder_7z;
extern const struct decoder_format decoder_lzma;
extern const struct decoder_format decoder_compress;

/* Of these two, a build has at most one. */
extern const struct decoder_library decoder_gzip_isal;
extern const struct decoder_library decoder_gzip_zlib;

/* The index of xz (decoder_xz_index.c), which decoder_index_next and _close are for. */
struct decoder_index *decoder_xz_open_index(const struct decoder_view *view, uint64_t begin,
                                            uint64_t block_bytes);

/* Whether head[0..bytes) begins with the magic, which has magic_bytes. */
enum decoder_match decoder_match_magic(const unsigned char *head, size_t bytes, const char *magic,
                                       size_t magic_bytes);

/* The data at an offset, as struct decoder_view has it; NULL if they end before. */
const unsigned char *decoder_look(const struct decoder_view *view, uint64_t offset, size_t bytes);

/* Whether a frame of the format begins at an offset, by as much of its head as there is. */
enum decoder_match decoder_match_at(const struct decoder_format *format,
                                    const struct decoder_view *view, uint64_t offset);

/* The length of a frame that has that many bytes; 0 if the data end before it does. */
uint64_t decoder_frame_if_there(const struct decoder_view *view, uint64_t offset, uint64_t bytes);

/* Integers in little-endian byte order, as all formats here have them. */
static inline uint32_t decoder_read_16(const unsigned char *data)
{
    return data[0] | (uint32_t)data[1] << 8;
}

static inline uint32_t decoder_read_32(const unsigned char *data)
{
    return decoder_read_16(data) | decoder_read_16(data + 2) << 16;
}

/* Writes "FILE: FORMAT: reason" and returns STATUS_DATA. */
enum status decoder_fail(const struct decoder *decoder, const char *reason,
                         struct failure *failure);

#endif
