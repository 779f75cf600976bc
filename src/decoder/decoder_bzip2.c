/* bzip2, by libbz2. */
#include "config.h"

#include "decoder/decoder_internal.h"

#ifdef HAVE_BZ2

#include <bzlib.h>
#include <stdlib.h>

static void *decoder_bzip2_open(uint64_t memory_limit)
{
    bz_stream *stream = calloc(1, sizeof *stream);

    (void)memory_limit; /* a block takes 3.7 MB at the most */
    if (stream && BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK)
        return stream;
    free(stream);
    return NULL;
}

static void decoder_bzip2_close(void *state)
{
    BZ2_bzDecompressEnd(state);
    free(state);
}

static enum status decoder_bzip2_step(struct decoder *decoder, struct decoder_io *io, bool *ended,
                                      struct failure *failure)
{
    bz_stream *stream = decoder->state;
    unsigned in_bytes = decoder_limit(io->in_bytes - io->in_used);
    unsigned out_bytes = decoder_limit(io->out_bytes - io->out_used);

    stream->next_in = (char *)io->in + io->in_used; /* the library does not write there */
    stream->avail_in = in_bytes;
    stream->next_out = (char *)io->out + io->out_used;
    stream->avail_out = out_bytes;
    int result = BZ2_bzDecompress(stream);
    io->in_used += in_bytes - stream->avail_in;
    io->out_used += out_bytes - stream->avail_out;
    *ended = result == BZ_STREAM_END;
    if (*ended) { /* prepare for the next stream; after a failure it may be closed */
        result = BZ2_bzDecompressEnd(stream);
        result = result == BZ_OK ? BZ2_bzDecompressInit(stream, 0, 0) : result;
    }
    if (result == BZ_OK)
        return STATUS_OK;
    return decoder_fail(decoder, failure, "%s",
                        result == BZ_MEM_ERROR ? "no memory to decompress it" : "corrupt data");
}

static const struct decoder_library decoder_bzip2_library = {
    .name = "libbz2",
    .version = BZ2_bzlibVersion,
    .open = decoder_bzip2_open,
    .step = decoder_bzip2_step,
    .close = decoder_bzip2_close,
};
#define DECODER_BZIP2_LIBRARY &decoder_bzip2_library

#else
#define DECODER_BZIP2_LIBRARY NULL
#endif

const struct decoder_format decoder_bzip2 = {
    .name = "bzip2",
    .unit = "stream",
    .needs = "libbz2",
    .instead = "bzip2 -dc",
    .library = DECODER_BZIP2_LIBRARY,
    /* The block size, and the magic of the first block, or of the end of an empty stream. */
    .magics = {DECODER_MAGIC_RANGE("BZh11AY&SY", "BZh91AY&SY"),
               DECODER_MAGIC_RANGE("BZh1\x17\x72\x45\x38\x50\x90", "BZh9\x17\x72\x45\x38\x50\x90")},
};
