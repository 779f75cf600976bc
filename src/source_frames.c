#include "config.h"

#include "source_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Groups of frames under way at once, and what one may have, compressed and decoded. */
#define SOURCE_FRAMES_SLOTS            8
#define SOURCE_FRAMES_COMPRESSED_BYTES ((size_t)16 << 20)
#define SOURCE_FRAMES_PLAIN_BYTES      ((size_t)32 << 20)

/* Small frames are decoded together, until there are that many bytes of them. */
#define SOURCE_FRAMES_GROUP_BYTES ((size_t)128 << 10)

enum source_frames_state {
    SOURCE_FRAMES_FREE,
    SOURCE_FRAMES_CLAIMED, /* somebody decodes it */
    SOURCE_FRAMES_READY,
    SOURCE_FRAMES_LARGE, /* too large for a slot */
    SOURCE_FRAMES_FAILED,
};

struct source_frames_buffer {
    char *data;
    size_t bytes;
    size_t room;
};

/* A group of frames. Its claimer's alone while it is claimed. */
struct source_frames_slot {
    enum source_frames_state state;
    off_t offset;
    struct source_frames_buffer compressed;
    struct source_frames_buffer plain;
    size_t used; /* of plain, by the reader */
    struct decoder *decoder;
    struct failure failure;
};

struct source_frames {
    const struct decoder_format *format;
    int fd;
    const char *name;
    uint64_t memory_limit;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t done;  /* a slot is no longer claimed */
    unsigned users;
    off_t next;    /* where the next group begins */
    bool ended;    /* there is none */
    uint64_t head; /* groups that were read */
    uint64_t tail; /* and claimed, so far */
    struct source_frames_slot slots[SOURCE_FRAMES_SLOTS];
};

struct source_frames *source_frames_open(const struct decoder_format *format, int fd, off_t offset,
                                         const char *name, uint64_t memory_limit)
{
    struct source_frames *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;

    made->format = format;
    made->fd = fd;
    made->name = name;
    made->memory_limit = memory_limit;
    made->users = 1;
    made->next = offset;
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
        free(self->slots[i].plain.data);
        decoder_close(self->slots[i].decoder);
    }
    pthread_cond_destroy(&self->done);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Doubles the room of a buffer; false if it has all that it may, or there is no memory. */
static bool source_frames_grow(struct source_frames_buffer *buffer, size_t most)
{
    size_t room = buffer->room > 0 ? 2 * buffer->room : SOURCE_FRAMES_GROUP_BYTES;
    char *grown = room <= most ? realloc(buffer->data, room) : NULL;

    if (!grown)
        return false;
    buffer->data = grown;
    buffer->room = room;
    return true;
}

/* Reads on at the end of what the slot has; 0 at the end of the file. */
static ssize_t source_frames_read_more(const struct source_frames *self,
                                       struct source_frames_slot *slot)
{
    struct source_frames_buffer *compressed = &slot->compressed;
    ssize_t n = source_file_read_at(self->fd, compressed->data + compressed->bytes,
                                    compressed->room - compressed->bytes,
                                    slot->offset + (off_t)compressed->bytes);

    if (n > 0)
        compressed->bytes += (size_t)n;
    return n;
}

/*
 * Reads whole frames from slot->offset on, as many as make a group. What is wrong with them is left
 * for decoding to tell: all that there is belongs to the group then. The lock is held, so that
 * groups are found in order.
 */
static enum source_frames_state source_frames_gather(const struct source_frames *self,
                                                     struct source_frames_slot *slot)
{
    struct source_frames_buffer *compressed = &slot->compressed;
    size_t whole = 0;

    compressed->bytes = 0;
    while (whole < SOURCE_FRAMES_GROUP_BYTES) {
        size_t frame =
            decoder_frame_bytes(self->format, compressed->data + whole, compressed->bytes - whole);
        if (frame > 0 && frame <= compressed->bytes - whole) {
            whole += frame;
            continue;
        }
        if (frame == SIZE_MAX)
            return whole > 0 ? SOURCE_FRAMES_CLAIMED : SOURCE_FRAMES_LARGE;
        if (compressed->bytes == compressed->room && whole == 0 &&
            !source_frames_grow(compressed, SOURCE_FRAMES_COMPRESSED_BYTES))
            return SOURCE_FRAMES_LARGE;
        if (compressed->bytes == compressed->room)
            break;
        if (source_frames_read_more(self, slot) <= 0) {
            if (whole == 0) /* the end, or within a frame: the reader finds out */
                return SOURCE_FRAMES_LARGE;
            break;
        }
    }
    compressed->bytes = whole;
    return SOURCE_FRAMES_CLAIMED;
}

/* Decodes a group, with no lock held. */
static enum source_frames_state source_frames_decode(const struct source_frames *self,
                                                     struct source_frames_slot *slot)
{
    struct source_frames_buffer *plain = &slot->plain;
    size_t in = 0;

    slot->used = plain->bytes = 0;
    if (!slot->decoder && decoder_open(&slot->decoder, self->format, self->name, self->memory_limit,
                                       &slot->failure) != STATUS_OK)
        return SOURCE_FRAMES_FAILED;
    for (;;) {
        size_t in_used = 0;
        size_t out_used = 0;
        if (plain->bytes == plain->room && !source_frames_grow(plain, SOURCE_FRAMES_PLAIN_BYTES)) {
            decoder_close(slot->decoder); /* it is within a frame */
            slot->decoder = NULL;
            return SOURCE_FRAMES_LARGE;
        }
        enum status status =
            decoder_run(slot->decoder, slot->compressed.data + in, slot->compressed.bytes - in,
                        &in_used, plain->data + plain->bytes, plain->room - plain->bytes, &out_used,
                        &slot->failure);
        in += in_used;
        plain->bytes += out_used;
        if (status != STATUS_OK)
            return SOURCE_FRAMES_FAILED;
        if (in == slot->compressed.bytes && plain->bytes < plain->room)
            break;
    }
    return decoder_finish(slot->decoder, &slot->failure) == STATUS_OK ? SOURCE_FRAMES_READY
                                                                      : SOURCE_FRAMES_FAILED;
}

/* Claims the next group, if there is one and a slot is free. The lock is held. */
static struct source_frames_slot *source_frames_claim(struct source_frames *self)
{
    struct source_frames_slot *slot = &self->slots[self->tail % SOURCE_FRAMES_SLOTS];

    if (self->ended || slot->state != SOURCE_FRAMES_FREE)
        return NULL;
    slot->offset = self->next;
    slot->state = source_frames_gather(self, slot);
    self->ended = slot->state != SOURCE_FRAMES_CLAIMED;
    self->next += (off_t)slot->compressed.bytes;
    self->tail++;
    return self->ended ? NULL : slot;
}

bool source_frames_help(struct source_frames *self)
{
    pthread_mutex_lock(&self->lock);
    struct source_frames_slot *slot = source_frames_claim(self);
    pthread_mutex_unlock(&self->lock);
    if (!slot)
        return false;

    enum source_frames_state state = source_frames_decode(self, slot);
    pthread_mutex_lock(&self->lock);
    slot->state = state;
    self->ended = self->ended || state != SOURCE_FRAMES_READY;
    pthread_cond_broadcast(&self->done);
    pthread_mutex_unlock(&self->lock);
    return true;
}

/* Waits until the group that is read next is decoded, by others or, if nobody has it, by itself. */
static struct source_frames_slot *source_frames_wait(struct source_frames *self)
{
    struct source_frames_slot *slot = &self->slots[self->head % SOURCE_FRAMES_SLOTS];

    pthread_mutex_lock(&self->lock);
    while (slot->state == SOURCE_FRAMES_FREE || slot->state == SOURCE_FRAMES_CLAIMED) {
        if (slot->state == SOURCE_FRAMES_CLAIMED) {
            pthread_cond_wait(&self->done, &self->lock);
            continue;
        }
        pthread_mutex_unlock(&self->lock);
        source_frames_help(self);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return slot;
}

enum source_event source_frames_read(struct source_frames *self, void *buffer, size_t room,
                                     size_t *bytes, off_t *offset, struct failure *failure)
{
    for (;;) {
        struct source_frames_slot *slot = source_frames_wait(self);
        if (slot->state == SOURCE_FRAMES_LARGE) {
            *offset = slot->offset;
            return SOURCE_EMPTY;
        }
        size_t left = slot->plain.bytes - slot->used;
        *bytes = left < room ? left : room;
        if (*bytes > 0) {
            memcpy(buffer, slot->plain.data + slot->used, *bytes);
            slot->used += *bytes;
            return SOURCE_DATA;
        }
        if (slot->state == SOURCE_FRAMES_FAILED) {
            *failure = slot->failure;
            return SOURCE_ERROR;
        }
        pthread_mutex_lock(&self->lock);
        slot->state = SOURCE_FRAMES_FREE;
        self->head++;
        pthread_mutex_unlock(&self->lock);
    }
}
