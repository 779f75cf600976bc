/* Decodes xz data in memory part by part, with the parts of the index. */
#ifndef GPUHIST_TEST_XZ_PARTS_H
#define GPUHIST_TEST_XZ_PARTS_H

#include "tests/unit/frame_bytes.h"

#include <stdlib.h>

/* Decodes a part to out[0..room), stores its length in *made; false if corrupt or too long. */
static bool xz_part_decode(const struct decoder_format *xz, const unsigned char *data,
                           const struct decoder_part *part, unsigned char *out, size_t room,
                           size_t *made)
{
    const struct {
        const void *data;
        size_t bytes;
    } pieces[] = {{part->wrap, part->head_bytes},
                  {data + part->begin, part->end - part->begin},
                  {part->wrap + part->head_bytes, part->wrap_bytes - part->head_bytes}};
    struct decoder *decoder;
    struct failure failure;

    if (decoder_open(&decoder, xz, "part", 0, &failure) != STATUS_OK)
        return false;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < 3; i++) {
        struct decoder_io io = {
            .in = (const unsigned char *)pieces[i].data,
            .in_bytes = pieces[i].bytes,
            .out = (unsigned char *)out + *made,
            .out_bytes = room - *made,
        };
        is_fine = decoder_run(decoder, &io, false, &failure) == STATUS_OK &&
                  io.in_used == pieces[i].bytes;
        *made += io.out_used;
    }
    is_fine = is_fine && decoder_finish(decoder, &failure) == STATUS_OK;
    decoder_close(decoder);
    return is_fine;
}

/*
 * Decodes all parts of at least this many bytes of data[begin..bytes). Returns the number of parts;
 * 0: no index of more than one block, a corrupt part, or no space.
 */
static size_t xz_parts_decode(const unsigned char *data, size_t begin, size_t bytes,
                              uint64_t part_bytes, unsigned char *out, size_t room, size_t *made)
{
    bool undecided;
    const struct decoder_format *xz =
        decoder_detect("\xfd\x37zXZ", 6, DECODER_COMPRESSED, &undecided);
    const struct decoder_view view = {.bytes = bytes, .look = frame_look, .context = (void *)data};
    struct decoder_index *index = decoder_index_open(xz, &view, begin, 0, true);
    struct decoder_part part = {.is_last = false};
    size_t count = 0;
    bool is_fine = index != NULL;

    *made = 0;
    while (is_fine && !part.is_last) {
        is_fine = decoder_index_next(index, part_bytes, &part) &&
                  xz_part_decode(xz, data, &part, out, room, made);
        free(part.wrap);
        count++;
    }
    decoder_index_close(index);
    return is_fine ? count : 0;
}

#endif
