/* xz, by liblzma. The format: https://tukaani.org/xz/xz-file-format.txt */
#include "config.h"

#include "decoder/decoder_internal.h"

#ifdef HAVE_LZMA

#include <inttypes.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>

/* The same default as for zstd. The xz tool has no limit; its option -9 uses 64 MiB. */
#define DECODER_XZ_DICTIONARY_BYTES ((uint64_t)128 << 20)

/* Memory that the library may use besides the dictionary; 5.4.1 needs 0.1 MiB. */
#define DECODER_XZ_OTHER_BYTES ((uint64_t)1 << 20)

struct decoder_xz {
    lzma_stream stream;
    uint64_t dictionary_limit;
};

/* Prepares the library for a stream. It reuses memory that it has allocated before. */
static lzma_ret decoder_xz_reset(struct decoder_xz *xz)
{
    uint64_t limit = xz->dictionary_limit;

    limit = limit < UINT64_MAX - DECODER_XZ_OTHER_BYTES ? limit + DECODER_XZ_OTHER_BYTES : limit;
    return lzma_stream_decoder(&xz->stream, limit, LZMA_TELL_UNSUPPORTED_CHECK);
}

static enum status decoder_xz_open(struct decoder *decoder, uint64_t memory_limit,
                                   struct failure *failure)
{
    struct decoder_xz *xz = malloc(sizeof *xz);

    if (xz)
        *xz = (struct decoder_xz){
            .stream = LZMA_STREAM_INIT,
            .dictionary_limit = memory_limit > 0 ? memory_limit : DECODER_XZ_DICTIONARY_BYTES,
        };
    if (!xz || decoder_xz_reset(xz) != LZMA_OK) {
        free(xz);
        return decoder_fail(decoder, "no memory to decompress it", failure);
    }
    decoder->state = xz;
    return STATUS_OK;
}

static void decoder_xz_close(struct decoder *decoder)
{
    struct decoder_xz *xz = decoder->state;

    lzma_end(&xz->stream);
    free(xz);
}

static enum status decoder_xz_fail(const struct decoder *decoder, lzma_ret result,
                                   struct failure *failure)
{
    const struct decoder_xz *xz = decoder->state;
    char reason[128];

    switch (result) {
    case LZMA_MEMLIMIT_ERROR:
        snprintf(reason, sizeof reason,
                 "a block needs %" PRIu64 " bytes of memory, the limit is %" PRIu64
                 ": --memory raises it",
                 lzma_memusage(&xz->stream), xz->dictionary_limit);
        return decoder_fail(decoder, reason, failure);
    case LZMA_MEM_ERROR:
        return decoder_fail(decoder, "no memory to decompress it", failure);
    case LZMA_OPTIONS_ERROR:
        return decoder_fail(decoder, "a stream has options that are not supported", failure);
    case LZMA_UNSUPPORTED_CHECK:
        return decoder_fail(decoder, "a stream has a check that is not supported", failure);
    default:
        return decoder_fail(decoder, "corrupt data", failure);
    }
}

static enum status decoder_xz_step(struct decoder *decoder, struct decoder_io *io, bool *ended,
                                   struct failure *failure)
{
    struct decoder_xz *xz = decoder->state;
    lzma_stream *stream = &xz->stream;

    stream->next_in = io->in + io->in_used;
    stream->avail_in = io->in_bytes - io->in_used;
    stream->next_out = io->out + io->out_used;
    stream->avail_out = io->out_bytes - io->out_used;
    lzma_ret result = lzma_code(stream, LZMA_RUN);
    io->in_used = io->in_bytes - stream->avail_in;
    io->out_used = io->out_bytes - stream->avail_out;
    *ended = result == LZMA_STREAM_END;
    if (*ended)
        result = decoder_xz_reset(xz);
    /* No output was pending: the library needs input. */
    if (result == LZMA_BUF_ERROR && io->in_used == io->in_bytes)
        result = LZMA_OK;
    return result == LZMA_OK ? STATUS_OK : decoder_xz_fail(decoder, result, failure);
}

static const struct decoder_library decoder_xz_library = {
    .name = "liblzma",
    .version = lzma_version_string,
    .open = decoder_xz_open,
    .step = decoder_xz_step,
    .close = decoder_xz_close,
};
#define DECODER_XZ_LIBRARY &decoder_xz_library

#else
#define DECODER_XZ_LIBRARY NULL
#endif

const struct decoder_format decoder_xz = {
    .name = "xz",
    .unit = "stream",
    .needs = "liblzma",
    .instead = "xz -dc",
    .padding = DECODER_PADDED_BY_FOURS,
    .library = DECODER_XZ_LIBRARY,
    .magics = {DECODER_MAGIC("\xfd"
                             "7zXZ\0")}, /* 2.1.1.1 */
    .open_index = decoder_xz_open_index,
};
