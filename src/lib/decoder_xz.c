/* xz, by liblzma, and its index. The format: https://tukaani.org/xz/xz-file-format.txt */
#include "config.h"

#include "lib/decoder_internal.h"

#ifdef HAVE_LZMA

#include <inttypes.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>

/* Default maximum size of a dictionary, like for zstd. The xz tool has no limit; its option -9 uses
 * 64 MiB. */
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

static void *decoder_xz_open(uint64_t memory_limit)
{
    struct decoder_xz *xz = malloc(sizeof *xz);

    if (!xz)
        return NULL;
    *xz = (struct decoder_xz){
        .stream = LZMA_STREAM_INIT,
        .dictionary_limit = memory_limit > 0 ? memory_limit : DECODER_XZ_DICTIONARY_BYTES,
    };
    if (decoder_xz_reset(xz) == LZMA_OK)
        return xz;
    free(xz);
    return NULL;
}

static void decoder_xz_close(void *state)
{
    struct decoder_xz *xz = state;

    lzma_end(&xz->stream);
    free(xz);
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
    if (result == LZMA_OK)
        return STATUS_OK;
    if (result == LZMA_MEMLIMIT_ERROR)
        return decoder_fail(decoder, failure,
                            "a block needs %" PRIu64 " bytes of memory, the limit is %" PRIu64
                            ": --memory raises it",
                            lzma_memusage(stream), xz->dictionary_limit);
    return decoder_fail(decoder, failure, "%s",
                        result == LZMA_MEM_ERROR ? "no memory to decompress it"
                        : result == LZMA_OPTIONS_ERROR
                            ? "a stream has options that are not supported"
                        : result == LZMA_UNSUPPORTED_CHECK
                            ? "a stream has a check that is not supported"
                            : "corrupt data");
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

/* liblzma has lzma_file_info_decoder since 5.4. */
#if defined HAVE_LZMA && LZMA_VERSION >= 50040002

/*
 * Memory limit for an index, in which a block takes 16 bytes and a stream 0.3 KB (5.4.1). It also
 * limits time, which grows with the square of the number of streams: 3,400 streams take 0.04 s. A
 * file with a larger index is decoded as a whole.
 */
#define DECODER_XZ_INDEX_BYTES ((uint64_t)1 << 20)

/* Number of bytes read at a time. */
#define DECODER_XZ_LOOK_BYTES 4096

struct decoder_xz_index {
    struct decoder_index index;
    uint64_t begin; /* offset of the first stream in the data */
    lzma_index *blocks;
    lzma_index_iter next; /* the first block that is not yet in a part */
    bool has_ended;       /* there is no such block */
};

/*
 * Reads and verifies the headers, indexes and footers of all streams, which have the places of
 * blocks, so that several threads can decode them.
 */
static struct decoder_index *decoder_xz_index_open(const struct decoder_view *view, uint64_t begin,
                                                   uint64_t block_bytes, bool ends_anywhere)
{
    struct decoder_xz_index *index = NULL;
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_index *blocks = NULL;
    uint64_t at = begin;
    lzma_ret result =
        lzma_file_info_decoder(&stream, &blocks, DECODER_XZ_INDEX_BYTES, view->bytes - begin);

    (void)ends_anywhere; /* blocks made by xz have whole KiB */
    while (result == LZMA_OK) {
        const uint64_t left = view->bytes - at;
        const size_t bytes = left < DECODER_XZ_LOOK_BYTES ? (size_t)left : DECODER_XZ_LOOK_BYTES;
        if (stream.avail_in == 0 && bytes > 0) {
            stream.next_in = decoder_look(view, at, bytes);
            stream.avail_in = bytes;
            at += bytes;
            if (!stream.next_in)
                break;
        }
        result = lzma_code(&stream, LZMA_RUN);
        if (result == LZMA_SEEK_NEEDED) {
            at = begin + stream.seek_pos;
            stream.avail_in = 0;
            result = LZMA_OK;
        }
    }
    lzma_end(&stream);
    if (result != LZMA_STREAM_END)
        return NULL;
    const uint64_t count = lzma_index_block_count(blocks);
    if (count > 1 && lzma_index_total_size(blocks) / count >= block_bytes)
        index = calloc(1, sizeof *index);
    if (!index) {
        lzma_index_end(blocks, NULL);
        return NULL;
    }
    index->index.format = &decoder_xz;
    index->begin = begin;
    index->blocks = blocks;
    lzma_index_iter_init(&index->next, blocks);
    index->has_ended = lzma_index_iter_next(&index->next, LZMA_INDEX_ITER_BLOCK);
    return &index->index;
}

static void decoder_xz_index_close(struct decoder_index *base)
{
    struct decoder_xz_index *index = (struct decoder_xz_index *)base;

    lzma_index_end(index->blocks, NULL);
    free(index);
}

static bool decoder_xz_index_next(struct decoder_index *base, uint64_t bytes,
                                  struct decoder_part *part)
{
    struct decoder_xz_index *index = (struct decoder_xz_index *)base;
    lzma_index *blocks = lzma_index_init(NULL); /* the blocks of the part */
    lzma_index_iter *next = &index->next;
    lzma_stream_flags flags = *next->stream.flags;
    const lzma_vli stream = next->stream.number;
    lzma_ret result = blocks ? LZMA_OK : LZMA_MEM_ERROR;
    size_t at = LZMA_STREAM_HEADER_SIZE;

    *part = (struct decoder_part){
        .begin = index->begin + next->block.compressed_file_offset,
        .head_bytes = LZMA_STREAM_HEADER_SIZE,
    };
    while (result == LZMA_OK && !index->has_ended && next->stream.number == stream &&
           (lzma_vli)lzma_index_total_size(blocks) < bytes) {
        result = lzma_index_append(blocks, NULL, next->block.unpadded_size,
                                   next->block.uncompressed_size);
        index->has_ended = lzma_index_iter_next(next, LZMA_INDEX_ITER_BLOCK);
    }
    if (result == LZMA_OK) { /* the header, index and footer of a stream of these blocks */
        const size_t index_bytes = (size_t)lzma_index_size(blocks);
        part->end = part->begin + lzma_index_total_size(blocks);
        part->is_last = index->has_ended;
        part->wrap_bytes = part->head_bytes + index_bytes + LZMA_STREAM_HEADER_SIZE;
        part->wrap = malloc(part->wrap_bytes);
        uint8_t *wrap = (uint8_t *)part->wrap;
        flags.backward_size = index_bytes;
        if (!wrap || lzma_stream_header_encode(&flags, wrap) != LZMA_OK ||
            lzma_index_buffer_encode(blocks, wrap, &at, at + index_bytes) != LZMA_OK ||
            lzma_stream_footer_encode(&flags, wrap + at) != LZMA_OK)
            result = LZMA_MEM_ERROR;
    }
    lzma_index_end(blocks, NULL);
    if (result == LZMA_OK)
        return true;
    free(part->wrap);
    part->wrap = NULL;
    return false;
}

#define DECODER_XZ_HAS_INDEX

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
#ifdef DECODER_XZ_HAS_INDEX
    .index_open = decoder_xz_index_open,
    .index_next = decoder_xz_index_next,
    .index_close = decoder_xz_index_close,
#endif
};
