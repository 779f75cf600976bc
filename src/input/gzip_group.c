/* Assigns the pieces of a gzip file to threads, and links the decoded pieces. */
#include "config.h"

#include "input/gzip_group.h"

#include "lib/deflate.h"
#include "lib/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Distance of the places where the file is divided, in compressed bytes, and how far the last block
 * of a piece may extend beyond them: blocks of gzip have at most 64 KiB.
 */
#define GZIP_GROUP_PIECE_BYTES ((uint64_t)256 << 10)
#define GZIP_GROUP_OVER_BYTES  ((uint64_t)256 << 10)
#define GZIP_GROUP_INPUT_BYTES ((size_t)(GZIP_GROUP_PIECE_BYTES + GZIP_GROUP_OVER_BYTES))

/* Minimum length of a file that is worth it. */
#define GZIP_GROUP_FILE_BYTES (16 * GZIP_GROUP_PIECE_BYTES)

/* Maximum number of decoded bytes of a piece: 16 per compressed byte. */
#define GZIP_GROUP_PLAIN_BYTES ((size_t)8 << 20)

#define GZIP_GROUP_MARKED_SIZE (sizeof(uint16_t) * (DEFLATE_WINDOW + GZIP_GROUP_PLAIN_BYTES))
#define GZIP_GROUP_PLAIN_SIZE  (DEFLATE_WINDOW + GZIP_GROUP_PLAIN_BYTES)

enum gzip_group_state {
    GZIP_GROUP_DECODING, /* a thread is decoding it */
    GZIP_GROUP_DECODED,  /* it is decoded, but its window is unknown */
    GZIP_GROUP_LINKED,   /* it is decoded, and `window` is known */
    GZIP_GROUP_RESOLVING,
    GZIP_GROUP_READY,
    GZIP_GROUP_DROPPED, /* it does not begin at a block */
};

/* A piece and its memory. */
struct gzip_group_slot {
    enum gzip_group_state state;
    struct deflate *deflate;
    unsigned char *in; /* [GZIP_GROUP_INPUT_BYTES + DEFLATE_PADDING] */
    struct deflate_piece piece;
    struct deflate_window window;
};

struct gzip_group {
    struct relay *relay;
    size_t slot_count;
    struct gzip_group_slot *slots; /* [slot_count + 1], owned: piece i is in slot i % slot_count;
                                     the last slot has data decoded between pieces */

    pthread_mutex_t lock;   /* guards the members below; taken before the relay's lock */
    pthread_cond_t changed; /* signalled when a thread ends a piece of work */
    bool is_open;           /* there is a file */
    unsigned busy;          /* number of threads at work */
    int fd;
    uint64_t start; /* the offset of the first member */
    uint64_t size;  /* size of the file */
    atomic_uint_least64_t *bytes_read;
    uint64_t counted; /* number of bytes added to *bytes_read so far */

    uint64_t first;               /* the number of the piece that is read now or next */
    uint64_t linked;              /* the number of the first piece that is not linked */
    uint64_t next;                /* the number of the first piece that no thread has begun */
    deflate_place place;          /* the end of the linked pieces */
    struct deflate_window window; /* the bytes before `place` */
    bool has_ended;               /* the file ends at `place` */
    bool gave_up;

    struct gzip_group_slot *current; /* the slot that is read, or NULL */
    size_t taken;                    /* number of bytes read from it */
    uint32_t crc;                    /* CRC so far of the member that continues after it */
    uint64_t length;
};

struct gzip_group *gzip_group_create(unsigned threads, struct relay *relay)
{
    struct gzip_group *group = calloc(1, sizeof *group);

    if (!group)
        return NULL;
    group->relay = relay;
    group->slot_count = threads + threads / 2;
    group->slots = calloc(group->slot_count + 1, sizeof *group->slots);
    if (!group->slots) {
        free(group);
        return NULL;
    }
    pthread_mutex_init(&group->lock, NULL);
    pthread_cond_init(&group->changed, NULL);
    return group;
}

void gzip_group_destroy(struct gzip_group *group)
{
    gzip_group_end(group);
    pthread_cond_destroy(&group->changed);
    pthread_mutex_destroy(&group->lock);
    free(group->slots);
    free(group);
}

/* Allocates the missing memory of a slot. */
static bool gzip_group_equip(struct gzip_group_slot *slot)
{
    struct deflate_piece *piece = &slot->piece;

    piece->capacity = GZIP_GROUP_PLAIN_BYTES;
    if (!slot->deflate)
        slot->deflate = deflate_create();
    if (!slot->in)
        slot->in = malloc(GZIP_GROUP_INPUT_BYTES + DEFLATE_PADDING);
    if (!piece->marked)
        piece->marked = memory_map(GZIP_GROUP_MARKED_SIZE);
    if (!piece->plain)
        piece->plain = memory_map(GZIP_GROUP_PLAIN_SIZE);
    return slot->deflate && slot->in && piece->marked && piece->plain;
}

static void gzip_group_strip(struct gzip_group_slot *slot)
{
    free(slot->deflate);
    free(slot->in);
    memory_unmap(slot->piece.marked, GZIP_GROUP_MARKED_SIZE);
    memory_unmap(slot->piece.plain, GZIP_GROUP_PLAIN_SIZE);
    *slot = (struct gzip_group_slot){.deflate = NULL};
}

/* Reads the input of a slot from an offset of the file. */
static bool gzip_group_load(const struct gzip_group *group, struct gzip_group_slot *slot,
                            uint64_t offset, struct deflate_input *input)
{
    const uint64_t left = group->size - offset;
    const size_t bytes = left < GZIP_GROUP_INPUT_BYTES ? (size_t)left : GZIP_GROUP_INPUT_BYTES;

    if (!gzip_group_equip(slot) ||
        input_read_at(group->fd, slot->in, bytes, (off_t)offset) != (ssize_t)bytes)
        return false;
    memset(slot->in + bytes, 0, DEFLATE_PADDING);
    *input = (struct deflate_input){
        .data = slot->in,
        .bytes = bytes,
        .offset = offset,
        .is_rest = bytes == left,
    };
    return true;
}

/* The `look` of a struct decoder_view, for the first input. */
static const unsigned char *gzip_group_look(void *context, uint64_t offset, size_t bytes)
{
    const struct deflate_input *input = context;

    if (offset < input->offset || offset - input->offset > input->bytes ||
        bytes > input->bytes - (offset - input->offset))
        return NULL;
    return input->data + (offset - input->offset);
}

bool gzip_group_begin(struct gzip_group *group, const struct input *input,
                      const struct decoder_format *format, atomic_uint_least64_t *bytes_read)
{
    const uint64_t start = (uint64_t)input->start;
    const uint64_t size = (uint64_t)input->size;
    struct deflate_input first;
    const struct decoder_view view = {.bytes = size, .look = gzip_group_look, .context = &first};

    if (size < start + GZIP_GROUP_FILE_BYTES)
        return false;
    group->fd = input->fd;
    group->start = start;
    group->size = size;
    group->bytes_read = bytes_read;
    group->counted = 0;
    group->first = group->linked = group->next = 0;
    group->has_ended = group->gave_up = false;
    group->current = NULL;
    group->crc = 0;
    group->length = 0;
    group->window.valid = 0;
    memset(group->window.bytes, 0, sizeof group->window.bytes);
    bool is_open = gzip_group_load(group, &group->slots[0], start, &first) &&
                   decoder_frame_bytes(format, &view, start) == UINT64_MAX;
    if (is_open) {
        group->place = deflate_skip_header(&first, start);
        is_open = group->place != DEFLATE_NOWHERE;
    }
    if (!is_open) {
        gzip_group_strip(&group->slots[0]);
        return false;
    }
    pthread_mutex_lock(&group->lock);
    group->is_open = true;
    pthread_mutex_unlock(&group->lock);
    return true;
}

void gzip_group_end(struct gzip_group *group)
{
    pthread_mutex_lock(&group->lock);
    group->is_open = false;
    while (group->busy > 0)
        pthread_cond_wait(&group->changed, &group->lock);
    pthread_mutex_unlock(&group->lock);
    for (size_t i = 0; i <= group->slot_count; i++)
        gzip_group_strip(&group->slots[i]);
}

/* --- work ------------------------------------------------------------------------------------ */

static struct gzip_group_slot *gzip_group_slot(const struct gzip_group *group, uint64_t number)
{
    return &group->slots[number % group->slot_count];
}

/* Returns the offset from which piece `number` is searched for. */
static uint64_t gzip_group_offset(const struct gzip_group *group, uint64_t number)
{
    return group->start + number * GZIP_GROUP_PIECE_BYTES;
}

/* Decodes piece `number`, which is marked DECODING. The lock is not held. */
static void gzip_group_decode(const struct gzip_group *group, struct gzip_group_slot *slot,
                              uint64_t number)
{
    const uint64_t offset = gzip_group_offset(group, number);
    const uint64_t stop = 8 * (offset + GZIP_GROUP_PIECE_BYTES);
    struct deflate_piece *piece = &slot->piece;
    struct deflate_input input;

    piece->begin = DEFLATE_NOWHERE;
    if (!gzip_group_load(group, slot, offset, &input))
        return;
    piece->begin = number == 0 ? deflate_skip_header(&input, offset)
                               : deflate_find(slot->deflate, &input, 8 * offset, stop);
    slot->window.valid = 0; /* nothing precedes the first piece */
    if (piece->begin != DEFLATE_NOWHERE)
        deflate_decode(slot->deflate, &input, stop, number == 0 ? &slot->window : NULL, piece);
}

/* Links the decoded pieces as far as they are consecutive. The lock is held. */
static void gzip_group_link(struct gzip_group *group)
{
    for (; group->linked < group->next && !group->has_ended && !group->gave_up; group->linked++) {
        struct gzip_group_slot *slot = gzip_group_slot(group, group->linked);
        const struct deflate_piece *piece = &slot->piece;
        if (slot->state != GZIP_GROUP_DECODED)
            break;
        const bool is_empty = piece->begin == DEFLATE_NOWHERE || piece->end == piece->begin;
        if (is_empty || piece->begin < group->place) {
            slot->state = GZIP_GROUP_DROPPED;
            continue;
        }
        if (piece->begin > group->place)
            break;
        slot->window = group->window;
        slot->state = GZIP_GROUP_LINKED;
        group->gave_up = !deflate_advance(piece, &group->window);
        group->place = piece->end;
        group->has_ended = piece->is_last;
        relay_notify(group->relay, false);
    }
}

/* Resolves or decodes the first piece that needs it. The lock is held, but released meanwhile.
 * Returns false if there is no work. */
static bool gzip_group_work_held(struct gzip_group *group)
{
    struct gzip_group_slot *slot = NULL;

    if (!group->is_open || group->gave_up)
        return false;
    for (uint64_t i = group->first; i < group->linked && !slot; i++) {
        slot = gzip_group_slot(group, i);
        slot = slot->state == GZIP_GROUP_LINKED ? slot : NULL;
    }
    if (slot) {
        slot->state = GZIP_GROUP_RESOLVING;
        group->busy++;
        pthread_mutex_unlock(&group->lock);
        const bool is_valid = deflate_resolve(&slot->piece, &slot->window);
        pthread_mutex_lock(&group->lock);
        slot->state = GZIP_GROUP_READY;
        group->gave_up |= !is_valid;
    } else if (!group->has_ended && group->next - group->first < group->slot_count &&
               gzip_group_offset(group, group->next) < group->size) {
        const uint64_t number = group->next++;
        slot = gzip_group_slot(group, number);
        slot->state = GZIP_GROUP_DECODING;
        group->busy++;
        pthread_mutex_unlock(&group->lock);
        gzip_group_decode(group, slot, number);
        pthread_mutex_lock(&group->lock);
        slot->state = GZIP_GROUP_DECODED;
        gzip_group_link(group);
    } else {
        return false;
    }
    group->busy--;
    pthread_cond_broadcast(&group->changed);
    return true;
}

bool gzip_group_work(struct gzip_group *group)
{
    pthread_mutex_lock(&group->lock);
    const bool has_worked = gzip_group_work_held(group);
    pthread_mutex_unlock(&group->lock);
    return has_worked;
}

/* --- reading in order; the lock is held, but released meanwhile ------------------------------ */

/*
 * Decodes from the end of the linked pieces to the next piece to link, if there is one, or to the
 * maximum size of a piece. Nobody else links meanwhile.
 */
static void gzip_group_fill_gap(struct gzip_group *group, const struct gzip_group_slot *before)
{
    const deflate_place stop = before ? before->piece.begin : DEFLATE_NOWHERE;
    struct gzip_group_slot *slot = &group->slots[group->slot_count];
    struct deflate_piece *piece = &slot->piece;
    struct deflate_input input;

    slot->window = group->window;
    pthread_mutex_unlock(&group->lock);
    const uint64_t offset = group->place / 16;
    piece->begin = piece->end = group->place;
    if (offset < group->size && gzip_group_load(group, slot, offset, &input))
        deflate_decode(slot->deflate, &input, stop / 2, &slot->window, piece);
    const bool is_good = piece->end != piece->begin && deflate_resolve(piece, &slot->window) &&
                         deflate_advance(piece, &group->window);
    pthread_mutex_lock(&group->lock);
    group->gave_up |= !is_good;
    group->place = piece->end;
    group->has_ended = is_good && piece->is_last;
    group->current = slot;
    gzip_group_link(group);
}

/* Checks the members that end in the current piece, and counts it as read. */
static void gzip_group_accept(struct gzip_group *group)
{
    const struct deflate_piece *piece = &group->current->piece;
    const uint64_t end = piece->is_last ? group->size : piece->end / 16;
    size_t at = 0;

    for (size_t i = 0; i < piece->end_count; at = piece->ends[i++].at) {
        const struct deflate_end *end_of = &piece->ends[i];
        const size_t bytes = end_of->at - at;
        group->gave_up |= deflate_combine(group->crc, end_of->piece_crc, bytes) != end_of->crc ||
                          (uint32_t)(group->length + bytes) != end_of->length;
        group->crc = 0;
        group->length = 0;
    }
    const size_t rest = piece->marked_count + piece->plain_count - at;
    group->crc = deflate_combine(group->crc, piece->rest_crc, rest);
    group->length += rest;
    group->taken = 0;
    atomic_fetch_add(group->bytes_read, end - group->start - group->counted);
    group->counted = end - group->start;
}

/* Ends the reading of the current piece, and frees its slot and those of dropped pieces after it.
 */
static void gzip_group_release(struct gzip_group *group)
{
    const uint64_t first = group->first;

    group->first += group->current && group->current != &group->slots[group->slot_count];
    group->current = NULL;
    while (group->first < group->linked &&
           gzip_group_slot(group, group->first)->state == GZIP_GROUP_DROPPED)
        group->first++;
    for (uint64_t i = first; i < group->first; i++)
        relay_notify(group->relay, false);
}

/* Makes the next piece the current one if it is ready, or else does or awaits some work for it. */
static void gzip_group_go_on(struct gzip_group *group)
{
    struct gzip_group_slot *slot =
        group->first < group->next ? gzip_group_slot(group, group->first) : NULL;

    if (group->first < group->linked && slot->state == GZIP_GROUP_READY)
        group->current = slot;
    else if (group->first == group->linked &&
             (slot ? slot->state == GZIP_GROUP_DECODED
                   : gzip_group_offset(group, group->next) >= group->size))
        gzip_group_fill_gap(group, slot);
    else if (!gzip_group_work_held(group))
        pthread_cond_wait(&group->changed, &group->lock);
    if (group->current && !group->gave_up)
        gzip_group_accept(group);
}

enum gzip_group_event gzip_group_read(struct gzip_group *group, char *data, size_t capacity,
                                      size_t *bytes)
{
    const struct deflate_piece *piece = NULL;

    *bytes = 0;
    pthread_mutex_lock(&group->lock);
    while (!group->gave_up) {
        piece = group->current ? &group->current->piece : NULL;
        if (piece && group->taken < piece->marked_count + piece->plain_count)
            break;
        gzip_group_release(group);
        if (group->first == group->linked && group->has_ended)
            break;
        gzip_group_go_on(group);
    }
    if (group->gave_up)
        atomic_fetch_sub(group->bytes_read, group->counted);
    const enum gzip_group_event event = group->gave_up    ? GZIP_GROUP_GAVE_UP
                                        : !group->current ? GZIP_GROUP_ENDED
                                                          : GZIP_GROUP_DATA;
    pthread_mutex_unlock(&group->lock);
    if (event != GZIP_GROUP_DATA)
        return event;
    const bool is_marked = group->taken < piece->marked_count;
    const unsigned char *from =
        is_marked ? deflate_resolved(piece) + group->taken
                  : piece->plain + DEFLATE_WINDOW + (group->taken - piece->marked_count);
    const size_t left = piece->marked_count + (is_marked ? 0 : piece->plain_count) - group->taken;
    *bytes = left < capacity ? left : capacity;
    memcpy(data, from, *bytes);
    group->taken += *bytes;
    return event;
}
