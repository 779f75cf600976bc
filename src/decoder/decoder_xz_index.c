/*
 * The index of xz files, by liblzma. It shows where the blocks of a file are, so that several
 * threads can decode them in parallel. The format: https://tukaani.org/xz/xz-file-format.txt
 */
#include "config.h"

#include "decoder/decoder_internal.h"

#ifdef HAVE_LZMA
#include <lzma.h>
#endif

/* liblzma has lzma_file_info_decoder since 5.4. */
#if defined HAVE_LZMA && LZMA_VERSION >= 50040002

#include <stdlib.h>
#include <string.h>

/*
 * Memory limit for an index, in which a block takes 16 bytes and a stream 0.3 KB (5.4.1). It also
 * limits time, which grows with the square of the number of streams: 3,400 streams take 0.04 s. A
 * file with a larger index is decoded as a whole.
 */
#define DECODER_XZ_INDEX_BYTES ((uint64_t)1 << 20)

/* Bytes that are read at a time. */
#define DECODER_XZ_LOOK_BYTES 4096

struct decoder_index {
    uint64_t begin; /* offset of the first stream in the data */
    lzma_index *blocks;
    lzma_index_iter next; /* the first block that is in no part yet */
    bool has_ended;       /* there is no such block */
};

/* Reads and verifies the headers, indexes and footers of all streams. NULL on failure. */
static lzma_index *decoder_index_read(const struct decoder_view *view, uint64_t begin)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_index *blocks = NULL;
    uint64_t at = begin;
    lzma_ret result =
        lzma_file_info_decoder(&stream, &blocks, DECODER_XZ_INDEX_BYTES, view->bytes - begin);

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
    return result == LZMA_STREAM_END ? blocks : NULL;
}

struct decoder_index *decoder_xz_open_index(const struct decoder_view *view, uint64_t begin,
                                            uint64_t block_bytes)
{
    lzma_index *blocks = decoder_index_read(view, begin);
    uint64_t count = blocks ? lzma_index_block_count(blocks) : 0;
    struct decoder_index *index = NULL;

    if (count > 1 && lzma_index_total_size(blocks) / count >= block_bytes)
        index = calloc(1, sizeof *index);
    if (!index) {
        lzma_index_end(blocks, NULL);
        return NULL;
    }
    index->begin = begin;
    index->blocks = blocks;
    lzma_index_iter_init(&index->next, blocks);
    index->has_ended = lzma_index_iter_next(&index->next, LZMA_INDEX_ITER_BLOCK);
    return index;
}

void decoder_index_close(struct decoder_index *index)
{
    if (!index)
        return;
    lzma_index_end(index->blocks, NULL);
    free(index);
}

/* Moves on by at least `bytes` bytes of blocks, within one stream, and appends them to `taken`. */
static bool decoder_index_take(struct decoder_index *index, uint64_t bytes, lzma_index *taken)
{
    lzma_index_iter *next = &index->next;
    lzma_vli stream = next->stream.number;
    uint64_t taken_bytes = 0;

    do {
        if (lzma_index_append(taken, NULL, next->block.unpadded_size,
                              next->block.uncompressed_size) != LZMA_OK)
            return false;
        taken_bytes += next->block.total_size;
        index->has_ended = lzma_index_iter_next(next, LZMA_INDEX_ITER_BLOCK);
    } while (!index->has_ended && next->stream.number == stream && taken_bytes < bytes);
    return true;
}

/* Makes the header, index and footer of a stream that consists of the blocks in `taken`. */
static bool decoder_index_wrap(const lzma_index *taken, const lzma_stream_flags *stream,
                               struct decoder_part *part)
{
    lzma_stream_flags flags = *stream;
    size_t index_bytes = (size_t)lzma_index_size(taken);
    size_t at = LZMA_STREAM_HEADER_SIZE;

    part->head_bytes = LZMA_STREAM_HEADER_SIZE;
    part->wrap_bytes = part->head_bytes + index_bytes + LZMA_STREAM_HEADER_SIZE;
    part->wrap = malloc(part->wrap_bytes);
    uint8_t *wrap = (uint8_t *)part->wrap;
    flags.backward_size = index_bytes;
    if (wrap && lzma_stream_header_encode(&flags, wrap) == LZMA_OK &&
        lzma_index_buffer_encode(taken, wrap, &at, at + index_bytes) == LZMA_OK &&
        lzma_stream_footer_encode(&flags, wrap + at) == LZMA_OK)
        return true;
    free(part->wrap);
    part->wrap = NULL;
    return false;
}

bool decoder_index_next(struct decoder_index *index, uint64_t bytes, struct decoder_part *part)
{
    lzma_index *taken = lzma_index_init(NULL);
    const lzma_stream_flags *stream = index->next.stream.flags;

    *part = (struct decoder_part){.begin = index->begin + index->next.block.compressed_file_offset};
    bool is_made =
        taken && decoder_index_take(index, bytes, taken) && decoder_index_wrap(taken, stream, part);
    if (is_made)
        part->end = part->begin + lzma_index_total_size(taken);
    part->is_last = index->has_ended;
    lzma_index_end(taken, NULL);
    return is_made;
}

#else /* no index is ever opened, so the last two functions are never called */

struct decoder_index *decoder_xz_open_index(const struct decoder_view *view, uint64_t begin,
                                            uint64_t block_bytes)
{
    (void)view;
    (void)begin;
    (void)block_bytes;
    return NULL;
}

void decoder_index_close(struct decoder_index *index)
{
    (void)index;
}

bool decoder_index_next(struct decoder_index *index, uint64_t bytes, struct decoder_part *part)
{
    (void)index;
    (void)bytes;
    (void)part;
    return false;
}

#endif
