/*
 * Decoders: compressed bytes in, plain bytes out, a piece at a time, whatever the format. What a
 * file is made of is called a frame here; gzip calls it a member, xz and bzip2 a stream. Any
 * concatenation of frames of one format is one stream.
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
#define DECODER_MAGIC_BYTES 18

/*
 * The format that begins so, or NULL. Where the bytes are too few to tell, *undecided is set; more
 * of them, if there are, would decide. Formats that this build cannot decode, and some that
 * gpuhist never does, are known as well: decoder_open refuses them.
 */
const struct decoder_format *decoder_detect(const void *head, size_t bytes, bool *undecided);

/* "zstd", "gzip", "xz", "bzip2", "lz4"; of those never decoded, "zip", "7z", "lzma", "compress". */
const char *decoder_format_name(const struct decoder_format *format);

/*
 * Writes a line without its end about the format i = 0, 1, ...: "gzip: yes: ISA-L 2.30.0", or why
 * this build cannot decode it. False where there is no such format.
 */
bool decoder_describe(size_t i, char *text, size_t size);

/*
 * Makes a decoder; `name` is the file's, for messages, and must live as long. memory_limit bounds
 * the window of zstd and the dictionary of xz, in bytes (0: 128 MiB); the other formats need less
 * than 8 MiB. Fails with STATUS_DATA if there is no memory, or if the format cannot be decoded: the
 * message then names the library, or what to do instead. The caller closes it.
 */
enum status decoder_open(struct decoder **decoder, const struct decoder_format *format,
                         const char *name, uint64_t memory_limit, struct failure *failure);

/*
 * Whether what is decoded depends on little of what came before, at most 64 KiB: threads then may
 * take turns with a decoder. With the window of zstd, of megabytes, each turn begins in a cold
 * cache: decoding by two threads in turns takes 1.5 times as long as by one.
 */
bool decoder_looks_back_little(const struct decoder_format *format);

/* NULL is allowed. */
void decoder_close(struct decoder *decoder);

/*
 * Decodes from in[0..in_bytes) to out[0..out_bytes) until the one is used up or the other full, and
 * stores how much of either. There may be more output without more input if the output was filled.
 * Fails with STATUS_DATA on corrupt input (checksums are verified), on trailing junk (but NULs
 * behind gzip's last member are ignored, as gzip does, and those behind xz's streams, in fours, as
 * xz does), on a window above the limit and on what needs a dictionary. *out_used is then what was
 * decoded before, in this call maybe less; a checksum comes behind what it covers. After a failure
 * only decoder_close may be called.
 */
enum status decoder_run(struct decoder *decoder, const void *in, size_t in_bytes, size_t *in_used,
                        void *out, size_t out_bytes, size_t *out_used, struct failure *failure);

/* As decoder_run, but goes no further than to the end of a frame. */
enum status decoder_run_frame(struct decoder *decoder, const void *in, size_t in_bytes,
                              size_t *in_used, void *out, size_t out_bytes, size_t *out_used,
                              struct failure *failure);

/* Whether all that was decoded are whole frames. */
bool decoder_is_between(const struct decoder *decoder);

/* At the end of the input: fails with STATUS_DATA if it ends within a frame. */
enum status decoder_finish(struct decoder *decoder, struct failure *failure);

/* Compressed data that are looked at here and there, without reading all of them. */
struct decoder_view {
    uint64_t bytes; /* of all data */
    /*
     * Returns data[offset..offset + bytes), which is not behind the end, valid until the next call;
     * at most DECODER_LOOK_BYTES. NULL if they cannot be read.
     */
    const unsigned char *(*look)(void *context, uint64_t offset, size_t bytes);
    void *context;
};

#define DECODER_LOOK_BYTES ((size_t)1 << 17)

/*
 * Frames that can be decoded by themselves, on any thread: the compressed bytes of the frame that
 * begins at an offset, skippable frames included; 0 if the data end before the frame does;
 * UINT64_MAX if there is no frame, or one that does not show its length. Frames of zstd (RFC 8878)
 * and lz4 do: the call goes from the header of one block to the next. Of gzip, members of BGZF (the
 * SAM/BAM format specification, 4.1) do, in their headers, which are not verified: with a wrong
 * length, the pieces do not decode.
 */
uint64_t decoder_frame_bytes(const struct decoder_format *format, const struct decoder_view *view,
                             uint64_t offset);

/*
 * The index of data that have one: which parts of them can be decoded by themselves. Those of xz
 * are groups of blocks of one stream, which lack what a stream has around them.
 */
struct decoder_index;

/* The bytes [begin, end) of the data, with others before and behind them, are whole frames. */
struct decoder_part {
    uint64_t begin;
    uint64_t end;
    bool is_last;
    char *wrap;        /* [wrap_bytes]; the caller frees it. NULL: nothing is lacking */
    size_t head_bytes; /* so many of them come before the part, the others behind it */
    size_t wrap_bytes;
};

/*
 * Reads the index of data from an offset on, verified but for that the blocks are as it says:
 * decoding the parts shows that. NULL if the format has none, if it cannot be read or is corrupt,
 * if there is only one block, and if blocks have less than block_bytes compressed bytes on average.
 * The caller closes it; NULL is allowed there.
 */
struct decoder_index *decoder_index_open(const struct decoder_format *format,
                                         const struct decoder_view *view, uint64_t begin,
                                         uint64_t block_bytes);

void decoder_index_close(struct decoder_index *index);

/*
 * The next part, of at least so many bytes if there are; to be called until one is the last. False
 * if there is no memory: the index may then only be closed.
 */
bool decoder_index_next(struct decoder_index *index, uint64_t bytes, struct decoder_part *part);

#endif
