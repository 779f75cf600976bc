/* Decodes gzip data in memory piece by piece, like src/input/gzip_group.c with its threads. */
#ifndef GPUHIST_TEST_DEFLATE_PIECES_H
#define GPUHIST_TEST_DEFLATE_PIECES_H

#include "lib/deflate.h"

#include <stdlib.h>
#include <string.h>

/* How the data are divided, and the result. */
struct deflate_pieces {
    const unsigned char *data;
    size_t bytes;
    size_t piece_bytes;
    size_t over_bytes;
    size_t capacity;
    unsigned char *out; /* [room] */
    size_t room;
    size_t made;
    size_t guessed; /* pieces with a correctly guessed start */
    bool has_ended; /* decoded to the end of the data; all members are valid */

    struct deflate *deflate;
    unsigned char *in;
    struct deflate_piece *piece;
    struct deflate_piece *between;
    struct deflate_window window;
    deflate_place place;
    uint32_t crc;
    size_t length;
};

static struct deflate_piece *deflate_pieces_make(size_t capacity)
{
    struct deflate_piece *piece = calloc(1, sizeof *piece);

    piece->capacity = capacity;
    piece->marked = calloc(DEFLATE_WINDOW + capacity, sizeof *piece->marked);
    piece->plain = calloc(DEFLATE_WINDOW + capacity, 1);
    return piece;
}

static void deflate_pieces_free(struct deflate_piece *piece)
{
    free(piece->marked);
    free(piece->plain);
    free(piece);
}

/* In memory of exactly its length, so that a sanitizer detects reads after it. */
static struct deflate_input deflate_pieces_load(struct deflate_pieces *pieces, size_t offset)
{
    const size_t left = pieces->bytes - offset;
    const size_t wanted = pieces->piece_bytes + pieces->over_bytes;
    const size_t bytes = left < wanted ? left : wanted;

    free(pieces->in);
    pieces->in = calloc(bytes + DEFLATE_PADDING, 1);
    memcpy(pieces->in, pieces->data + offset, bytes);
    return (struct deflate_input){pieces->in, bytes, offset, bytes == left};
}

/* Takes the piece after the bytes taken so far. Returns false if it is invalid. */
static bool deflate_pieces_take(struct deflate_pieces *pieces, struct deflate_piece *piece)
{
    struct deflate_window before = pieces->window;
    const size_t count = piece->marked_count + piece->plain_count;
    size_t at = 0;

    if (!deflate_advance(piece, &pieces->window) || !deflate_resolve(piece, &before) ||
        count > pieces->room - pieces->made)
        return false;
    for (size_t i = 0; i < piece->end_count; at = piece->ends[i++].at) {
        const struct deflate_end *end = &piece->ends[i];
        if (deflate_combine(pieces->crc, end->piece_crc, end->at - at) != end->crc ||
            (uint32_t)(pieces->length + end->at - at) != end->length)
            return false;
        pieces->crc = 0;
        pieces->length = 0;
    }
    pieces->crc = deflate_combine(pieces->crc, piece->rest_crc, count - at);
    pieces->length += count - at;
    memcpy(pieces->out + pieces->made, deflate_resolved(piece), piece->marked_count);
    memcpy(pieces->out + pieces->made + piece->marked_count, piece->plain + DEFLATE_WINDOW,
           piece->plain_count);
    pieces->made += count;
    pieces->place = piece->end;
    pieces->has_ended = piece->is_last;
    return true;
}

/* Decodes in order up to a position. */
static bool deflate_pieces_fill(struct deflate_pieces *pieces, deflate_place to)
{
    while (!pieces->has_ended && pieces->place < to) {
        if (pieces->place / 16 >= pieces->bytes)
            return false;
        const struct deflate_input input = deflate_pieces_load(pieces, pieces->place / 16);
        pieces->between->begin = pieces->place;
        deflate_decode(pieces->deflate, &input, to / 2, &pieces->window, pieces->between);
        if (pieces->between->end == pieces->place || !deflate_pieces_take(pieces, pieces->between))
            return false;
    }
    return true;
}

/* Decodes as far as possible. */
static void deflate_pieces_decode(struct deflate_pieces *pieces)
{
    bool is_right = true;

    pieces->deflate = deflate_create();
    pieces->piece = deflate_pieces_make(pieces->capacity);
    pieces->between = deflate_pieces_make(pieces->capacity);
    for (size_t offset = 0; is_right && !pieces->has_ended && offset < pieces->bytes;
         offset += pieces->piece_bytes) {
        const struct deflate_input input = deflate_pieces_load(pieces, offset);
        const uint64_t stop = 8 * (uint64_t)(offset + pieces->piece_bytes);
        struct deflate_piece *piece = pieces->piece;
        if (offset == 0)
            pieces->place = deflate_skip_header(&input, 0);
        piece->begin =
            offset > 0 ? deflate_find(pieces->deflate, &input, 8 * offset, stop) : pieces->place;
        if (pieces->place == DEFLATE_NOWHERE)
            break;
        if (piece->begin == DEFLATE_NOWHERE)
            continue;
        deflate_decode(pieces->deflate, &input, stop, offset > 0 ? NULL : &pieces->window, piece);
        if (piece->begin == piece->end || piece->begin < pieces->place)
            continue;
        is_right = deflate_pieces_fill(pieces, piece->begin);
        if (is_right && !pieces->has_ended && piece->begin == pieces->place) {
            is_right = deflate_pieces_take(pieces, piece);
            pieces->guessed += offset > 0;
        }
    }
    if (is_right && pieces->place != DEFLATE_NOWHERE)
        deflate_pieces_fill(pieces, DEFLATE_NOWHERE);
    deflate_pieces_free(pieces->piece);
    deflate_pieces_free(pieces->between);
    free(pieces->in);
    free(pieces->deflate);
}

#endif
