/* Implements relay.h: counts of threads, and a queue of chunks, under one lock. */
#include "config.h"

#include "input/relay.h"

#include "lib/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Number of chunks that wait for each thread that counts them. */
#define RELAY_ITEMS_PER_THREAD 2

void relay_init(struct relay *relay, unsigned wanted)
{
    *relay = (struct relay){.wanted = wanted};
    pthread_mutex_init(&relay->lock, NULL);
    pthread_cond_init(&relay->joining, NULL);
    pthread_cond_init(&relay->changed, NULL);
}

void relay_destroy(struct relay *relay)
{
    for (size_t i = 0; i < relay->count; i++) {
        const struct chunk_memory *memory = &relay->items[(relay->first + i) % RELAY_ITEMS].memory;
        memory_unmap(memory->data, memory->bytes);
    }
    for (size_t i = 0; i < relay->spare_count; i++)
        memory_unmap(relay->spares[i].data, relay->spares[i].bytes);
    free(relay->items);
    pthread_cond_destroy(&relay->changed);
    pthread_cond_destroy(&relay->joining);
    pthread_mutex_destroy(&relay->lock);
}

bool relay_join(struct relay *relay)
{
    pthread_mutex_lock(&relay->lock);
    while (relay->joined >= relay->wanted && !relay->ended)
        pthread_cond_wait(&relay->joining, &relay->lock);
    const bool joins = !relay->ended;
    relay->joined += joins;
    pthread_mutex_unlock(&relay->lock);
    return joins;
}

void relay_leave(struct relay *relay)
{
    pthread_mutex_lock(&relay->lock);
    relay->joined--;
    pthread_cond_broadcast(&relay->joining);
    pthread_mutex_unlock(&relay->lock);
}

/* Lets more threads join. The lock is held. */
static void relay_want(struct relay *relay, unsigned more)
{
    relay->wanted = more > UINT_MAX - relay->wanted ? UINT_MAX : relay->wanted + more;
    pthread_cond_broadcast(&relay->joining);
}

void relay_let_join(struct relay *relay, unsigned more)
{
    pthread_mutex_lock(&relay->lock);
    relay->ended = relay->ended || more == 0;
    relay_want(relay, more);
    pthread_mutex_unlock(&relay->lock);
}

struct relay_threads relay_threads(struct relay *relay)
{
    pthread_mutex_lock(&relay->lock);
    const struct relay_threads threads = {.joined = relay->joined, .wanted = relay->wanted};
    pthread_mutex_unlock(&relay->lock);
    return threads;
}

/* Counts an event, and wakes one of the threads that wait for it or all. The lock is held. */
static void relay_signal(struct relay *relay, bool all)
{
    relay->events++;
    if (relay->idle > 0 && all)
        pthread_cond_broadcast(&relay->changed);
    else if (relay->idle > 0)
        pthread_cond_signal(&relay->changed);
}

/* Returns memory for a chunk: that of an earlier chunk, or new memory. The lock is held. */
static struct chunk_memory relay_find_memory(struct relay *relay, size_t bytes)
{
    struct chunk_memory memory = {.bytes = bytes};

    if (relay->spare_count > 0)
        return relay->spares[--relay->spare_count];
    memory.data = memory_map(bytes);
    return memory;
}

bool relay_hand(struct relay *relay, struct chunk_buffer *buffer, const struct chunk *chunk,
                size_t busy)
{
    struct relay_item item = {.chunk = *chunk};

    if (!buffer->exchange)
        return false;
    pthread_mutex_lock(&relay->lock);
    const size_t others = relay->joined > busy ? relay->joined - busy : 0;
    if (!relay->items)
        relay->items = malloc(RELAY_ITEMS * sizeof *relay->items);
    if (relay->items && relay->count < RELAY_ITEMS &&
        relay->count < RELAY_ITEMS_PER_THREAD * others)
        item.memory = relay_find_memory(relay, buffer->capacity);
    const bool is_handed = item.memory.data != NULL;
    if (is_handed) {
        buffer->exchange(buffer, &item.memory);
        relay->items[(relay->first + relay->count++) % RELAY_ITEMS] = item;
        relay_signal(relay, false);
    }
    if ((others == 0 || relay->count > others) && relay->wanted == relay->joined)
        relay_want(relay, 1);
    pthread_mutex_unlock(&relay->lock);
    return is_handed;
}

enum status relay_take(struct relay *relay, uint64_t stop, struct chunk_buffer *buffer,
                       struct chunk *chunk, struct failure *failure)
{
    struct relay_item item = {.chunk.bytes = 0};
    enum status status = STATUS_OK;

    pthread_mutex_lock(&relay->lock);
    while (relay->count > 0 && item.chunk.bytes == 0) {
        item = relay->items[relay->first];
        relay->first = (relay->first + 1) % RELAY_ITEMS;
        relay->count--;
        item.chunk.bytes = item.chunk.position < stop ? item.chunk.bytes : 0;
        if (item.chunk.bytes > 0 && buffer->exchange)
            buffer->exchange(buffer, &item.memory);
        if (item.chunk.bytes == 0 || buffer->exchange)
            relay->spares[relay->spare_count++] = item.memory;
    }
    pthread_mutex_unlock(&relay->lock);
    *chunk = item.chunk;
    if (chunk->bytes == 0 || buffer->exchange)
        return STATUS_OK;
    if (chunk->bytes > buffer->capacity)
        status = buffer->grow(buffer, chunk->bytes, failure);
    if (status == STATUS_OK)
        memcpy(buffer->data, chunk->data, chunk->bytes);
    chunk->data = buffer->data;
    memory_unmap(item.memory.data, item.memory.bytes);
    return status;
}

uint64_t relay_events(struct relay *relay)
{
    pthread_mutex_lock(&relay->lock);
    const uint64_t events = relay->events;
    pthread_mutex_unlock(&relay->lock);
    return events;
}

void relay_wait(struct relay *relay, uint64_t events)
{
    pthread_mutex_lock(&relay->lock);
    relay->idle++;
    while (relay->events == events)
        pthread_cond_wait(&relay->changed, &relay->lock);
    relay->idle--;
    pthread_mutex_unlock(&relay->lock);
}

void relay_notify(struct relay *relay, bool all)
{
    pthread_mutex_lock(&relay->lock);
    relay_signal(relay, all);
    pthread_mutex_unlock(&relay->lock);
}
