/* What the files of the decoder share: its state, and the rows of its table of formats. */
#ifndef GPUHIST_DECODER_INTERNAL_H
#define GPUHIST_DECODER_INTERNAL_H

#include "input/decoder.h"

/* Room for the longest beginning of a frame that its format looks at, a header of zstd. */
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
    const char *name;  /* of the file, for messages */
    void *state;       /* the format's own */
    bool head_is_done; /* no more bytes are wanted for the head of this frame */
    bool is_pending;   /* the output was filled: there may be more without input */
    bool is_padded;    /* in the NULs behind the last frame */
    size_t head_bytes; /* 0: between frames */
    unsigned char head[DECODER_HEAD_BYTES];
};

/* Functions that fail write the message by decoder_fail. */
struct decoder_format {
    const char *name;
    const char *unit;    /* what a frame is called */
    bool allows_padding; /* NULs behind the last frame are ignored */

    /* Whether a frame begins with head[0..bytes). */
    enum decoder_match (*match)(const unsigned char *head, size_t bytes);
    /* Makes the state. */
    enum status (*open)(struct decoder *decoder, uint64_t memory_limit, struct failure *failure);
    /*
     * Checks the head of a frame, which matches, before its last bytes are decoded; sets
     * head_is_done unless more of it is wanted. NULL: all that matches is fine.
     */
    enum status (*check_head)(struct decoder *decoder, struct failure *failure);
    /*
     * Decodes a piece: advances in_used and out_used, as far as the end of the frame; sets *ended
     * once it is reached and all its output is written.
     */
    enum status (*step)(struct decoder *decoder, struct decoder_io *io, bool *ended,
                        struct failure *failure);
    /* Frees the state; it may be NULL. */
    void (*close)(struct decoder *decoder);
    /* As decoder_frame_bytes; NULL: frames end where decoding them ends. */
    size_t (*frame_bytes)(const unsigned char *data, size_t bytes);
};

extern const struct decoder_format decoder_zstd;
extern const struct decoder_format decoder_gzip;

/* Writes "FILE: FORMAT: reason" and returns STATUS_DATA. */
enum status decoder_fail(const struct decoder *decoder, const char *reason,
                         struct failure *failure);

#endif
