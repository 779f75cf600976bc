#include "config.h"

#include "input/source_frames.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Groups of frames under way at once, and what one may have, compressed and decoded. */
#define SOURCE_FRAMES_SLOTS            8
#define SOURCE_FRAMES_COMPRESSED_BYTES ((size_t)16 << 20)
#define SOURCE_FRAMES_PLAIN_BYTES      ((size_t)32 << 20)

/* Small frames are decoded together: so many bytes are gathered before the ends are looked for. */
#define SOURCE_FRAMES_GROUP_BYTES ((size_t)128 << 10)

/* How much of a frame waits for its end, and so for its checksum, where that is wanted. */
#define SOURCE_FRAMES_HELD_BYTES ((size_t)16 << 20)

/* What the reader decodes at a time: the more, the more would be lost of a frame with a fault. */
#define SOURCE_FRAMES_PIECE_BYTES SOURCE_AHEAD_BYTES

/*
 * The first three are of the last slot alone, which holds the beginning of what is still to be
 * read. In the second and third nothing is gathered, and the slot is the reader's.
 */
enum source_frames_state {
    SOURCE_FRAMES_FILLING,
    SOURCE_FRAMES_LARGE, /* to the end of the frame that is being decoded */
    SOURCE_FRAMES_REST,  /* to the end of the input */
    SOURCE_FRAMES_WHOLE, /* a group of whole frames, that nobody has begun */
    SOURCE_FRAMES_CLAIMED,
    SOURCE_FRAMES_BEGUN, /* decoded, or as far as it got, or by the reader: the reader's */
};

struct source_frames_buffer {
    char *data;
    size_t bytes;
    size_t room;
};

/* Its claimer's alone while it is claimed. */
struct source_frames_slot {
    struct source_frames_slot *spare; /* the next one that is, if this one is */
    enum source_frames_state state;
    struct source_frames_buffer compressed; /* begins with a frame */
    size_t target;                          /* how many bytes are gathered before the next look */
    size_t decoded;                         /* how many the decoder has had */
    struct decoder *decoder;                /* NULL: not opened yet, or of no use any more */
    char *plain; /* from a claimer, or of frames that are held: a mapping, NULL at first */
    size_t plain_bytes;
    size_t ready;  /* so many of them may be used, */
    size_t used;   /* and so many the reader has */
    bool is_large; /* of the frame that is being decoded more than is held has come */
};

/*
 * From a regular file anybody gathers. From a pipe the reader alone does, which has the source's
 * lock, and also uses the slot that is filled without the lock below.
 */
struct source_frames {
    const struct decoder_format *format;
    int fd;
    bool is_regular;
    const char *name;
    uint64_t memory_limit;
    bool holds;     /* frames are held until they have ended */
    bool is_faulty; /* these two are the reader's */
    struct failure fault;

    pthread_mutex_t lock; /* guards what follows; taken after the source's */
    pthread_cond_t done;  /* a slot is no longer claimed */
    unsigned users;
    unsigned pullers; /* how many there are, as far as is known */
    bool at_end;      /* the descriptor has no more */
    uint64_t head;    /* groups that were read */
    uint64_t tail;    /* and gathered, so far */
    struct source_frames_slot *ring[SOURCE_FRAMES_SLOTS]; /* of [head, tail], the others NULL */
    struct source_frames_slot *spare; /* the last one used first: its memory is in the cache */
    struct source_frames_slot slots[SOURCE_FRAMES_SLOTS];
};

static struct source_frames_slot *source_frames_slot(const struct source_frames *self,
                                                     uint64_t number)
{
    return self->ring[number % SOURCE_FRAMES_SLOTS];
}

/* Makes the slot the one that is filled. */
static void source_frames_empty(struct source_frames_slot *slot)
{
    slot->state = SOURCE_FRAMES_FILLING;
    slot->compressed.bytes = slot->decoded = 0;
    slot->plain_bytes = slot->ready = slot->used = 0;
    slot->is_large = false;
    slot->target = SOURCE_FRAMES_GROUP_BYTES;
}

/* Gives a buffer the room at least; false with errno set if there is no memory. */
static bool source_frames_reserve(struct source_frames_buffer *buffer, size_t room)
{
    if (room <= buffer->room)
        return true;
    char *grown = realloc(buffer->data, room);
    if (!grown)
        return false;
    buffer->data = grown;
    buffer->room = room;
    return true;
}

struct source_frames *source_frames_open(const struct decoder_format *format, struct input *input,
                                         uint64_t memory_limit, bool holds)
{
    struct source_frames *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;

    struct source_frames_slot *slot = made->ring[0] = &made->slots[0];
    for (size_t i = SOURCE_FRAMES_SLOTS; --i > 0;) {
        made->slots[i].spare = made->spare;
        made->spare = &made->slots[i];
    }
    if (!source_frames_reserve(&slot->compressed, SOURCE_FRAMES_GROUP_BYTES)) {
        free(made);
        return NULL;
    }
    source_frames_empty(slot);
    slot->compressed.bytes =
        source_ahead_take(&input->raw, slot->compressed.data, slot->compressed.room);
    made->format = format;
    made->fd = input->fd;
    made->is_regular = input->is_regular;
    made->at_end = input->raw_ended;
    made->name = input->name;
    made->memory_limit = memory_limit;
    made->holds = holds;
    made->users = 1;
    made->pullers = 1;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->done, NULL);
    return made;
}

void source_frames_hold(struct source_frames *self)
{
    pthread_mutex_lock(&self->lock);
    self->users++;
    pthread_mutex_unlock(&self->lock);
}

void source_frames_release(struct source_frames *self)
{
    pthread_mutex_lock(&self->lock);
    bool is_last = --self->users == 0;
    pthread_mutex_unlock(&self->lock);
    if (!is_last)
        return;
    for (size_t i = 0; i < SOURCE_FRAMES_SLOTS; i++) {
        free(self->slots[i].compressed.data);
        memory_unmap(self->slots[i].plain, SOURCE_FRAMES_PLAIN_BYTES);
        decoder_close(self->slots[i].decoder);
    }
    pthread_cond_destroy(&self->done);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* How many bytes whole frames take at the beginning of data; *is_lost if no frame follows them. */
static size_t source_frames_measure(const struct source_frames *self,
                                    const struct source_frames_buffer *compressed, bool *is_lost)
{
    size_t whole = 0;

    *is_lost = false;
    while (whole < compressed->bytes) {
        size_t left = compressed->bytes - whole;
        size_t frame = decoder_frame_bytes(self->format, compressed->data + whole, left);
        *is_lost = frame == SIZE_MAX;
        if (frame == 0 || frame > left)
            break;
        whole += frame;
    }
    return whole;
}

/*
 * Looks for the ends of frames in the slot that is filled. Those that are whole become a group;
 * what follows them opens the next slot. Returns whether there were any. Looking goes through a
 * frame from its beginning, and so is done again when there is twice as much of it.
 */
static bool source_frames_cut(struct source_frames *self)
{
    struct source_frames_slot *slot = source_frames_slot(self, self->tail);
    struct source_frames_slot *next = self->spare;
    bool is_lost;
    size_t whole = source_frames_measure(self, &slot->compressed, &is_lost);
    size_t rest = slot->compressed.bytes - whole;

    if (whole > 0 && whole >= slot->decoded &&
        source_frames_reserve(&next->compressed, rest + SOURCE_FRAMES_GROUP_BYTES)) {
        source_frames_empty(next);
        memcpy(next->compressed.data, slot->compressed.data + whole, rest);
        next->compressed.bytes = rest;
        slot->compressed.bytes = whole;
        slot->state = slot->decoded > 0 ? SOURCE_FRAMES_BEGUN : SOURCE_FRAMES_WHOLE;
        self->spare = next->spare;
        self->ring[++self->tail % SOURCE_FRAMES_SLOTS] = next;
        return true;
    }
    if (is_lost)
        slot->state = SOURCE_FRAMES_REST;
    else if (slot->target < SOURCE_FRAMES_COMPRESSED_BYTES)
        slot->target *= 2;
    else
        slot->state = SOURCE_FRAMES_LARGE;
    return false;
}

/*
 * Reads on what there is just now; false if that is nothing. `source` is that of a pipe, else NULL.
 * That reading fails the reader will find out.
 */
static bool source_frames_read_ahead(struct source_frames *self, const struct source *source)
{
    struct source_frames_slot *slot = source_frames_slot(self, self->tail);
    struct source_frames_buffer *compressed = &slot->compressed;
    ssize_t n;

    if (source && !source_pipe_has(source, 0))
        return false;
    if (!source_frames_reserve(compressed, slot->target)) {
        slot->state = SOURCE_FRAMES_LARGE;
        return false;
    }
    do
        n = read(self->fd, compressed->data + compressed->bytes, slot->target - compressed->bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        slot->state = SOURCE_FRAMES_REST;
    if (n < 0)
        return false;
    self->at_end = n == 0;
    compressed->bytes += (size_t)n;
    return true;
}

/* How many groups have that state. */
static unsigned source_frames_count(const struct source_frames *self,
                                    enum source_frames_state state)
{
    unsigned count = 0;

    for (uint64_t i = self->head; i < self->tail; i++)
        count += source_frames_slot(self, i)->state == state;
    return count;
}

/* Whether to gather more: not at the end, nor what so few pullers will not decode for a while. */
static bool source_frames_has_room(const struct source_frames *self)
{
    return source_frames_slot(self, self->tail)->state == SOURCE_FRAMES_FILLING && !self->at_end &&
           self->spare && source_frames_count(self, SOURCE_FRAMES_WHOLE) <= self->pullers;
}

/* Reads ahead until there is a group more, or for now no more to read. */
static void source_frames_gather(struct source_frames *self, const struct source *source)
{
    while (source_frames_has_room(self)) {
        struct source_frames_slot *slot = source_frames_slot(self, self->tail);
        bool is_due = slot->compressed.bytes >= slot->target;
        if (!is_due && !source_frames_read_ahead(self, source))
            return;
        is_due = self->at_end || slot->compressed.bytes >= slot->target;
        if (is_due && source_frames_cut(self))
            return;
    }
}

/*
 * How many groups are there to be decoded ahead of the reader. No more of them are decoded than
 * there are pullers, and one: what is not read soon only takes memory and leaves the cache.
 */
static unsigned source_frames_claimable(const struct source_frames *self)
{
    unsigned whole = source_frames_count(self, SOURCE_FRAMES_WHOLE);
    unsigned others = (unsigned)(self->tail - self->head) - whole;
    unsigned most = self->pullers + 1 > others ? self->pullers + 1 - others : 0;

    return whole < most ? whole : most;
}

unsigned source_frames_waiting(struct source_frames *self)
{
    pthread_mutex_lock(&self->lock);
    unsigned waiting = source_frames_claimable(self);
    pthread_mutex_unlock(&self->lock);
    return waiting;
}

/* Decodes at most so many bytes of a slot, with no lock of frames held. */
static enum status source_frames_decode(const struct source_frames *self,
                                        struct source_frames_slot *slot, size_t most, void *buffer,
                                        size_t room, size_t *bytes, struct failure *failure)
{
    const struct source_frames_buffer *compressed = &slot->compressed;
    size_t left = compressed->bytes - slot->decoded;
    size_t used = 0;

    *bytes = 0;
    if (left == 0 && !slot->decoder)
        return STATUS_OK;
    if (!slot->decoder && decoder_open(&slot->decoder, self->format, self->name, self->memory_limit,
                                       failure) != STATUS_OK)
        return failure->status;
    enum status status =
        (slot->state == SOURCE_FRAMES_LARGE || self->holds
             ? decoder_run_frame
             : decoder_run)(slot->decoder, compressed->data + slot->decoded,
                            left < most ? left : most, &used, buffer, room, bytes, failure);
    slot->decoded += used;
    return status;
}

/* What was decoded last may be used: all of it, or if frames are held those that have ended. */
static void source_frames_make_ready(const struct source_frames *self,
                                     struct source_frames_slot *slot)
{
    bool is_end = decoder_is_between(slot->decoder);
    bool is_more = slot->plain_bytes - slot->ready > SOURCE_FRAMES_HELD_BYTES;

    slot->is_large = !is_end && (slot->is_large || is_more);
    if (!self->holds || is_end || slot->is_large)
        slot->ready = slot->plain_bytes;
}

/*
 * Decodes a group, with no lock held. Where the room ends the reader goes on. It also begins anew
 * if something is wrong, so that what comes before the fault, and how it is told, is as ever.
 */
static void source_frames_decode_group(const struct source_frames *self,
                                       struct source_frames_slot *slot)
{
    struct failure failure;

    if (!slot->plain)
        slot->plain = memory_map(SOURCE_FRAMES_PLAIN_BYTES);
    while (slot->plain && slot->plain_bytes < SOURCE_FRAMES_PLAIN_BYTES) {
        size_t bytes;
        if (source_frames_decode(self, slot, SIZE_MAX, slot->plain + slot->plain_bytes,
                                 SOURCE_FRAMES_PLAIN_BYTES - slot->plain_bytes, &bytes,
                                 &failure) != STATUS_OK) {
            decoder_close(slot->decoder);
            slot->decoder = NULL;
            slot->decoded = slot->plain_bytes = slot->ready = 0;
            slot->is_large = false;
            return;
        }
        slot->plain_bytes += bytes;
        source_frames_make_ready(self, slot);
        if (slot->decoded == slot->compressed.bytes)
            return;
    }
}

/* Claims the first group that nobody has begun, if one is to be decoded now; else NULL. */
static struct source_frames_slot *source_frames_claim(struct source_frames *self)
{
    if (source_frames_claimable(self) == 0)
        return NULL;
    uint64_t i = self->head;
    while (source_frames_slot(self, i)->state != SOURCE_FRAMES_WHOLE)
        i++;
    struct source_frames_slot *slot = source_frames_slot(self, i);
    slot->state = SOURCE_FRAMES_CLAIMED;
    return slot;
}

void source_frames_help(struct source_frames *self, unsigned pullers)
{
    pthread_mutex_lock(&self->lock);
    self->pullers = pullers;
    if (self->is_regular)
        source_frames_gather(self, NULL);
    struct source_frames_slot *slot = source_frames_claim(self);
    pthread_mutex_unlock(&self->lock);
    if (!slot)
        return;

    source_frames_decode_group(self, slot);
    pthread_mutex_lock(&self->lock);
    slot->state = SOURCE_FRAMES_BEGUN;
    pthread_cond_broadcast(&self->done);
    pthread_mutex_unlock(&self->lock);
}

/*
 * Drops frames that the reader has decoded from the slot that is still being read: all that there
 * was of a pipe, or a large one.
 */
static void source_frames_drop(struct source_frames *self)
{
    struct source_frames_slot *slot = source_frames_slot(self, self->tail);
    size_t rest = slot->compressed.bytes - slot->decoded;

    if (slot->decoded == 0 || slot->used < slot->plain_bytes ||
        !decoder_is_between(slot->decoder) ||
        (slot->state != SOURCE_FRAMES_LARGE && (slot->state != SOURCE_FRAMES_FILLING || rest > 0)))
        return;
    memmove(slot->compressed.data, slot->compressed.data + slot->decoded, rest);
    source_frames_empty(slot);
    slot->compressed.bytes = rest;
}

/* The slot to read from; NULL if others have it, and there is something better to do than wait. */
static struct source_frames_slot *source_frames_take(struct source_frames *self,
                                                     struct source *source, bool wait)
{
    const struct source *pipe = self->is_regular ? NULL : source;

    pthread_mutex_lock(&self->lock);
    source_frames_drop(self);
    source_frames_gather(self, pipe);
    struct source_frames_slot *slot = source_frames_slot(self, self->head);
    while (slot->state == SOURCE_FRAMES_CLAIMED && wait && source_frames_claimable(self) == 0 &&
           !atomic_load(&source->stopped)) {
        if (!pipe || !source_frames_has_room(self)) {
            pthread_cond_wait(&self->done, &self->lock);
            continue;
        }
        pthread_mutex_unlock(&self->lock); /* what comes meanwhile may be a group for others */
        source_pipe_has(source, SOURCE_PIPE_PAUSE_MS);
        pthread_mutex_lock(&self->lock);
        source_frames_gather(self, pipe);
    }
    bool is_claimed = slot->state == SOURCE_FRAMES_CLAIMED;
    if (slot->state == SOURCE_FRAMES_WHOLE)
        slot->state = SOURCE_FRAMES_BEGUN;
    pthread_mutex_unlock(&self->lock);
    return is_claimed ? NULL : slot;
}

/* Gives up a group that was read to its end. */
static enum source_event source_frames_next(struct source_frames *self,
                                            struct source_frames_slot *slot,
                                            struct failure *failure)
{
    if (decoder_finish(slot->decoder, failure) != STATUS_OK)
        return SOURCE_ERROR;
    pthread_mutex_lock(&self->lock);
    self->head++;
    slot->spare = self->spare;
    self->spare = slot;
    pthread_mutex_unlock(&self->lock);
    return SOURCE_DATA;
}

/* Reads on in the last slot, all of which is decoded, when nothing was to be had at once. */
static enum source_event source_frames_read_on(struct source_frames *self, struct source *source,
                                               struct source_frames_slot *slot, bool wait,
                                               struct failure *failure)
{
    struct source_frames_buffer *compressed = &slot->compressed;
    size_t limit = slot->target;
    size_t bytes = 0;

    if (self->at_end)
        return !slot->decoder || decoder_finish(slot->decoder, failure) == STATUS_OK ? SOURCE_END
                                                                                     : SOURCE_ERROR;
    if (slot->state != SOURCE_FRAMES_FILLING) {
        compressed->bytes = slot->decoded = 0;
        limit = SOURCE_FRAMES_PIECE_BYTES;
    }
    if (!source_frames_reserve(compressed, limit)) {
        source_input_fail(failure, self->name, strerror(errno));
        return SOURCE_ERROR;
    }
    enum source_event event = source_pipe_read(source, compressed->data + compressed->bytes,
                                               limit - compressed->bytes, wait, &bytes, failure);
    compressed->bytes += bytes;
    self->at_end = event == SOURCE_END;
    return event == SOURCE_END ? SOURCE_DATA : event;
}

/*
 * Decodes the next piece behind what is held, which is moved to the front; false if there is no
 * more to decode just now, or a fault, behind which nothing that is held is used.
 */
static bool source_frames_hold_piece(struct source_frames *self, struct source_frames_slot *slot)
{
    size_t held = slot->plain_bytes - slot->used;
    size_t before = slot->decoded;
    size_t bytes;

    if (!slot->plain)
        slot->plain = memory_map(SOURCE_FRAMES_PLAIN_BYTES);
    if (!slot->plain) {
        source_input_fail(&self->fault, self->name, "no memory to decode it");
        self->is_faulty = true;
        return false;
    }
    if (slot->used > 0)
        memmove(slot->plain, slot->plain + slot->used, held);
    slot->plain_bytes = held;
    slot->ready = slot->used = 0;
    self->is_faulty =
        source_frames_decode(self, slot, SOURCE_FRAMES_PIECE_BYTES, slot->plain + held,
                             SOURCE_FRAMES_PLAIN_BYTES - held, &bytes, &self->fault) != STATUS_OK;
    if (self->is_faulty || !slot->decoder)
        return false;
    slot->plain_bytes += bytes;
    source_frames_make_ready(self, slot); /* a frame may end without more of either */
    return bytes > 0 || slot->decoded > before;
}

/* Takes what was decoded of the slot, or decodes the next piece; maybe 0 bytes. */
static size_t source_frames_serve(struct source_frames *self, struct source_frames_slot *slot,
                                  void *buffer, size_t room)
{
    while (self->holds && slot->used == slot->ready && source_frames_hold_piece(self, slot))
        continue;
    size_t left = slot->ready - slot->used;
    size_t bytes = left < room ? left : room;

    if (bytes > 0) {
        memcpy(buffer, slot->plain + slot->used, bytes);
        slot->used += bytes;
        return bytes;
    }
    if (!self->holds)
        self->is_faulty = source_frames_decode(self, slot, SOURCE_FRAMES_PIECE_BYTES, buffer, room,
                                               &bytes, &self->fault) != STATUS_OK;
    return bytes;
}

enum source_event source_frames_read(struct source_frames *self, struct source *source,
                                     void *buffer, size_t room, bool wait, size_t *bytes,
                                     struct failure *failure)
{
    enum source_event event = SOURCE_DATA;

    *bytes = 0;
    while (event == SOURCE_DATA && *bytes == 0) {
        if (self->is_faulty) {
            *failure = self->fault;
            return SOURCE_ERROR;
        }
        struct source_frames_slot *slot = source_frames_take(self, source, wait);
        if (!slot)
            return SOURCE_EMPTY;
        *bytes = source_frames_serve(self, slot, buffer, room);
        if (*bytes > 0 || self->is_faulty || slot->decoded < slot->compressed.bytes)
            continue;
        if (slot->state == SOURCE_FRAMES_BEGUN)
            event = source_frames_next(self, slot, failure);
        else
            event = source_frames_read_on(self, source, slot, wait, failure);
    }
    return event;
}
