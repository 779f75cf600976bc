/* Who decodes which piece of a gzip file, and how the pieces are linked. */
#include "config.h"

#include "input/gzip_crew.h"

#include "base/memory.h"
#include "decoder/deflate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where the file is divided, in compressed bytes, and how far beyond it the last block of a piece
 * may extend: those of gzip have 64 KiB at most.
 */
#define GZIP_CREW_PIECE_BYTES ((uint64_t)256 << 10)
#define GZIP_CREW_OVER_BYTES  ((uint64_t)256 << 10)
#define GZIP_CREW_INPUT_BYTES ((size_t)(GZIP_CREW_PIECE_BYTES + GZIP_CREW_OVER_BYTES))

/* A shorter file is not worth it. */
#define GZIP_CREW_FILE_BYTES (16 * GZIP_CREW_PIECE_BYTES)

/* The plain bytes of a piece: 16 for each compressed one. */
#define GZIP_CREW_PLAIN_BYTES ((size_t)8 << 20)

#define GZIP_CREW_MARKED_SIZE (sizeof(uint16_t) * (DEFLATE_WINDOW + GZIP_CREW_PLAIN_BYTES))
#define GZIP_CREW_PLAIN_SIZE  (DEFLATE_WINDOW + GZIP_CREW_PLAIN_BYTES)

enum gzip_crew_state {
    GZIP_CREW_DECODING, /* by a thread */
    GZIP_CREW_DECODED,  /* it is not known what precedes it */
    GZIP_CREW_LINKED,   /* it is, in `window` */
    GZIP_CREW_RESOLVING,
    GZIP_CREW_READY,
    GZIP_CREW_DROPPED, /* it does not begin where a block begins */
};

/* A piece and its memory. */
struct gzip_crew_slot {
    enum gzip_crew_state state;
    struct deflate *deflate;
    unsigned char *in; /* [GZIP_CREW_INPUT_BYTES + DEFLATE_PADDING] */
    struct deflate_piece piece;
    struct deflate_window window;
};

struct gzip_crew {
    struct relay *relay;
    size_t slot_count;
    struct gzip_crew_slot *slots; /* [slot_count + 1]: piece i in slot i % slot_count, and what is
                                     decoded between pieces; const but for what they hold */

    pthread_mutex_t lock;   /* guards all below; taken before the relay's */
    pthread_cond_t changed; /* signalled when a thread ends a piece of work */
    bool is_open;           /* there is a file */
    unsigned busy;          /* threads at work */
    int fd;
    uint64_t start; /* the offset of the first member */
    uint64_t size;  /* of the file */
    atomic_uint_least64_t *bytes_read;
    uint64_t counted; /* so far, in *bytes_read */

    uint64_t first;               /* the number of the piece that is read, or that is read next */
    uint64_t linked;              /* of the first one that is not linked */
    uint64_t next;                /* of the first one that no thread has begun */
    deflate_place place;          /* where what is linked ends, */
    struct deflate_window window; /* and its last bytes */
    bool has_ended;               /* the file ends there */
    bool gave_up;

    struct gzip_crew_slot *current; /* that is read, or NULL */
    size_t taken;                   /* bytes of it */
    uint32_t crc;                   /* of the member that goes on behind it, so far */
    uint64_t length;
};

struct gzip_crew *gzip_crew_create(unsigned threads, struct relay *relay)
{
    struct gzip_crew *crew = calloc(1, sizeof *crew);

    if (!crew)
        return NULL;
    crew->relay = relay;
    crew->slot_count = threads + threads / 2;
    crew->slots = calloc(crew->slot_count + 1, sizeof *crew->slots);
    if (!crew->slots) {
        free(crew);
        return NULL;
    }
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->changed, NULL);
    return crew;
}

void gzip_crew_destroy(struct gzip_crew *crew)
{
    if (!crew)
        return;
    gzip_crew_end(crew);
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
    free(crew->slots);
    free(crew);
}

/* Makes what a slot lacks of its memory. */
static bool gzip_crew_equip(struct gzip_crew_slot *slot)
{
    struct deflate_piece *piece = &slot->piece;

    piece->capacity = GZIP_CREW_PLAIN_BYTES;
    if (!slot->deflate)
        slot->deflate = deflate_create();
    if (!slot->in)
        slot->in = malloc(GZIP_CREW_INPUT_BYTES + DEFLATE_PADDING);
    if (!piece->marked)
        piece->marked = memory_map(GZIP_CREW_MARKED_SIZE);
    if (!piece->plain)
        piece->plain = memory_map(GZIP_CREW_PLAIN_SIZE);
    return slot->deflate && slot->in && piece->marked && piece->plain;
}

static void gzip_crew_strip(struct gzip_crew_slot *slot)
{
    free(slot->deflate);
    free(slot->in);
    memory_unmap(slot->piece.marked, GZIP_CREW_MARKED_SIZE);
    memory_unmap(slot->piece.plain, GZIP_CREW_PLAIN_SIZE);
    *slot = (struct gzip_crew_slot){.deflate = NULL};
}

/* Reads the input of a slot from an offset of the file. */
static bool gzip_crew_load(const struct gzip_crew *crew, struct gzip_crew_slot *slot,
                           uint64_t offset, struct deflate_input *input)
{
    const uint64_t left = crew->size - offset;
    const size_t bytes = left < GZIP_CREW_INPUT_BYTES ? (size_t)left : GZIP_CREW_INPUT_BYTES;

    if (!gzip_crew_equip(slot) ||
        input_read_at(crew->fd, slot->in, bytes, (off_t)offset) != (ssize_t)bytes)
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

/* The `look` of a struct decoder_view of the first input. */
static const unsigned char *gzip_crew_look(void *context, uint64_t offset, size_t bytes)
{
    const struct deflate_input *input = context;

    if (offset < input->offset || offset - input->offset > input->bytes ||
        bytes > input->bytes - (offset - input->offset))
        return NULL;
    return input->data + (offset - input->offset);
}

bool gzip_crew_begin(struct gzip_crew *crew, const struct input *input,
                     const struct decoder_format *format, atomic_uint_least64_t *bytes_read)
{
    const uint64_t start = (uint64_t)input->start;
    const uint64_t size = (uint64_t)input->size;
    struct deflate_input first;
    const struct decoder_view view = {.bytes = size, .look = gzip_crew_look, .context = &first};

    if (size < start + GZIP_CREW_FILE_BYTES)
        return false;
    crew->fd = input->fd;
    crew->start = start;
    crew->size = size;
    crew->bytes_read = bytes_read;
    crew->counted = 0;
    crew->first = crew->linked = crew->next = 0;
    crew->has_ended = crew->gave_up = false;
    crew->current = NULL;
    crew->crc = 0;
    crew->length = 0;
    crew->window.valid = 0;
    memset(crew->window.bytes, 0, sizeof crew->window.bytes);
    bool is_open = gzip_crew_load(crew, &crew->slots[0], start, &first) &&
                   decoder_frame_bytes(format, &view, start) == UINT64_MAX;
    if (is_open) {
        crew->place = deflate_skip_header(&first, start);
        is_open = crew->place != DEFLATE_NOWHERE;
    }
    if (!is_open) {
        gzip_crew_strip(&crew->slots[0]);
        return false;
    }
    pthread_mutex_lock(&crew->lock);
    crew->is_open = true;
    pthread_mutex_unlock(&crew->lock);
    return true;
}

void gzip_crew_end(struct gzip_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->is_open = false;
    while (crew->busy > 0)
        pthread_cond_wait(&crew->changed, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
    for (size_t i = 0; i <= crew->slot_count; i++)
        gzip_crew_strip(&crew->slots[i]);
}

/* --- work ------------------------------------------------------------------------------------ */

static struct gzip_crew_slot *gzip_crew_slot(const struct gzip_crew *crew, uint64_t number)
{
    return &crew->slots[number % crew->slot_count];
}

/* Where piece `number` is searched for. */
static uint64_t gzip_crew_offset(const struct gzip_crew *crew, uint64_t number)
{
    return crew->start + number * GZIP_CREW_PIECE_BYTES;
}

/* Decodes piece `number`, which is marked DECODING. The lock is not held. */
static void gzip_crew_decode(const struct gzip_crew *crew, struct gzip_crew_slot *slot,
                             uint64_t number)
{
    const uint64_t offset = gzip_crew_offset(crew, number);
    const uint64_t stop = 8 * (offset + GZIP_CREW_PIECE_BYTES);
    struct deflate_piece *piece = &slot->piece;
    struct deflate_input input;

    piece->begin = DEFLATE_NOWHERE;
    if (!gzip_crew_load(crew, slot, offset, &input))
        return;
    piece->begin = number == 0 ? deflate_skip_header(&input, offset)
                               : deflate_find(slot->deflate, &input, 8 * offset, stop);
    slot->window.valid = 0; /* before the first piece there is nothing */
    if (piece->begin != DEFLATE_NOWHERE)
        deflate_decode(slot->deflate, &input, stop, number == 0 ? &slot->window : NULL, piece);
}

/* Links the pieces that are decoded, as far as they follow each other. The lock is held. */
static void gzip_crew_link(struct gzip_crew *crew)
{
    for (; crew->linked < crew->next && !crew->has_ended && !crew->gave_up; crew->linked++) {
        struct gzip_crew_slot *slot = gzip_crew_slot(crew, crew->linked);
        const struct deflate_piece *piece = &slot->piece;
        if (slot->state != GZIP_CREW_DECODED)
            break;
        const bool is_empty = piece->begin == DEFLATE_NOWHERE || piece->end == piece->begin;
        if (is_empty || piece->begin < crew->place) {
            slot->state = GZIP_CREW_DROPPED;
            continue;
        }
        if (piece->begin > crew->place)
            break;
        slot->window = crew->window;
        slot->state = GZIP_CREW_LINKED;
        crew->gave_up = !deflate_advance(piece, &crew->window);
        crew->place = piece->end;
        crew->has_ended = piece->is_last;
        relay_notify(crew->relay, false);
    }
}

/* Does a piece of work, the first of what is to be resolved or decoded. The lock is held, but given
 * up meanwhile. Returns false if there is none. */
static bool gzip_crew_work_held(struct gzip_crew *crew)
{
    struct gzip_crew_slot *slot = NULL;

    if (!crew->is_open || crew->gave_up)
        return false;
    for (uint64_t i = crew->first; i < crew->linked && !slot; i++) {
        slot = gzip_crew_slot(crew, i);
        slot = slot->state == GZIP_CREW_LINKED ? slot : NULL;
    }
    if (slot) {
        slot->state = GZIP_CREW_RESOLVING;
        crew->busy++;
        pthread_mutex_unlock(&crew->lock);
        const bool is_valid = deflate_resolve(&slot->piece, &slot->window);
        pthread_mutex_lock(&crew->lock);
        slot->state = GZIP_CREW_READY;
        crew->gave_up |= !is_valid;
    } else if (!crew->has_ended && crew->next - crew->first < crew->slot_count &&
               gzip_crew_offset(crew, crew->next) < crew->size) {
        const uint64_t number = crew->next++;
        slot = gzip_crew_slot(crew, number);
        slot->state = GZIP_CREW_DECODING;
        crew->busy++;
        pthread_mutex_unlock(&crew->lock);
        gzip_crew_decode(crew, slot, number);
        pthread_mutex_lock(&crew->lock);
        slot->state = GZIP_CREW_DECODED;
        gzip_crew_link(crew);
    } else {
        return false;
    }
    crew->busy--;
    pthread_cond_broadcast(&crew->changed);
    return true;
}

bool gzip_crew_work(struct gzip_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    const bool has_worked = gzip_crew_work_held(crew);
    pthread_mutex_unlock(&crew->lock);
    return has_worked;
}

/* --- reading in order; the lock is held, but given up meanwhile ------------------------------ */

/*
 * Decodes from where what is linked ends up to the piece that is to be linked next, if there is
 * one, or as far as a piece may go. Nobody else links meanwhile.
 */
static void gzip_crew_fill_gap(struct gzip_crew *crew, const struct gzip_crew_slot *before)
{
    const deflate_place stop = before ? before->piece.begin : DEFLATE_NOWHERE;
    struct gzip_crew_slot *slot = &crew->slots[crew->slot_count];
    struct deflate_piece *piece = &slot->piece;
    struct deflate_input input;

    slot->window = crew->window;
    pthread_mutex_unlock(&crew->lock);
    const uint64_t offset = crew->place / 16;
    piece->begin = piece->end = crew->place;
    if (offset < crew->size && gzip_crew_load(crew, slot, offset, &input))
        deflate_decode(slot->deflate, &input, stop / 2, &slot->window, piece);
    const bool is_good = piece->end != piece->begin && deflate_resolve(piece, &slot->window) &&
                         deflate_advance(piece, &crew->window);
    pthread_mutex_lock(&crew->lock);
    crew->gave_up |= !is_good;
    crew->place = piece->end;
    crew->has_ended = is_good && piece->is_last;
    crew->current = slot;
    gzip_crew_link(crew);
}

/* Checks the members that end in the current piece, and counts it as read. */
static void gzip_crew_accept(struct gzip_crew *crew)
{
    const struct deflate_piece *piece = &crew->current->piece;
    const uint64_t end = piece->is_last ? crew->size : piece->end / 16;
    size_t at = 0;

    for (size_t i = 0; i < piece->end_count; at = piece->ends[i++].at) {
        const struct deflate_end *end_of = &piece->ends[i];
        const size_t bytes = end_of->at - at;
        crew->gave_up |= deflate_combine(crew->crc, end_of->piece_crc, bytes) != end_of->crc ||
                         (uint32_t)(crew->length + bytes) != end_of->length;
        crew->crc = 0;
        crew->length = 0;
    }
    const size_t rest = piece->marked_count + piece->plain_count - at;
    crew->crc = deflate_combine(crew->crc, piece->rest_crc, rest);
    crew->length += rest;
    crew->taken = 0;
    atomic_fetch_add(crew->bytes_read, end - crew->start - crew->counted);
    crew->counted = end - crew->start;
}

/* Ends the reading of the current piece, and frees its slot and those after it that are dropped. */
static void gzip_crew_release(struct gzip_crew *crew)
{
    const uint64_t first = crew->first;

    crew->first += crew->current && crew->current != &crew->slots[crew->slot_count];
    crew->current = NULL;
    while (crew->first < crew->linked &&
           gzip_crew_slot(crew, crew->first)->state == GZIP_CREW_DROPPED)
        crew->first++;
    for (uint64_t i = first; i < crew->first; i++)
        relay_notify(crew->relay, false);
}

/* Makes the next piece the current one, if it is ready, or does or awaits what it needs. */
static void gzip_crew_go_on(struct gzip_crew *crew)
{
    struct gzip_crew_slot *slot =
        crew->first < crew->next ? gzip_crew_slot(crew, crew->first) : NULL;

    if (crew->first < crew->linked && slot->state == GZIP_CREW_READY)
        crew->current = slot;
    else if (crew->first == crew->linked &&
             (slot ? slot->state == GZIP_CREW_DECODED
                   : gzip_crew_offset(crew, crew->next) >= crew->size))
        gzip_crew_fill_gap(crew, slot);
    else if (!gzip_crew_work_held(crew))
        pthread_cond_wait(&crew->changed, &crew->lock);
    if (crew->current && !crew->gave_up)
        gzip_crew_accept(crew);
}

enum gzip_crew_event gzip_crew_read(struct gzip_crew *crew, char *data, size_t capacity,
                                    size_t *bytes)
{
    const struct deflate_piece *piece = NULL;

    *bytes = 0;
    pthread_mutex_lock(&crew->lock);
    while (!crew->gave_up) {
        piece = crew->current ? &crew->current->piece : NULL;
        if (piece && crew->taken < piece->marked_count + piece->plain_count)
            break;
        gzip_crew_release(crew);
        if (crew->first == crew->linked && crew->has_ended)
            break;
        gzip_crew_go_on(crew);
    }
    if (crew->gave_up)
        atomic_fetch_sub(crew->bytes_read, crew->counted);
    const enum gzip_crew_event event = crew->gave_up    ? GZIP_CREW_GAVE_UP
                                       : !crew->current ? GZIP_CREW_ENDED
                                                        : GZIP_CREW_DATA;
    pthread_mutex_unlock(&crew->lock);
    if (event != GZIP_CREW_DATA)
        return event;
    const bool is_marked = crew->taken < piece->marked_count;
    const unsigned char *from =
        is_marked ? deflate_resolved(piece) + crew->taken
                  : piece->plain + DEFLATE_WINDOW + (crew->taken - piece->marked_count);
    const size_t left = piece->marked_count + (is_marked ? 0 : piece->plain_count) - crew->taken;
    *bytes = left < capacity ? left : capacity;
    memcpy(data, from, *bytes);
    crew->taken += *bytes;
    return event;
}
