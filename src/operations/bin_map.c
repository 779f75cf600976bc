/* Implements bin_map.h: sharded hash tables, and sorting their entries. */
#include "config.h"

#include "operations/bin_map.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>
#include <time.h>

#define BIN_MAP_SHARDS_LOG2 8
#define BIN_MAP_SHARDS      ((size_t)1 << BIN_MAP_SHARDS_LOG2)

/* Slots of a new shard: one page. */
#define BIN_MAP_SLOTS_MIN ((size_t)256)

/* A shard of this size or more checks that the memory is free before it grows. */
#define BIN_MAP_CHECKED_BYTES ((size_t)1 << 20)

/* How many keys ahead slots are prefetched. */
#define BIN_MAP_AHEAD 16

/* The most entries that are sorted by insertion. */
#define BIN_MAP_SORT_SMALL 32

struct bin_map_shard {
    pthread_mutex_t lock;        /* guards what follows */
    struct bin_map_entry *slots; /* [room]; a count of 0 marks a free slot */
    size_t room;                 /* 0 or a power of two */
    size_t used;                 /* at most 3/4 of `room` */
};

struct bin_map {
    uint64_t seed;      /* of the hash; const */
    atomic_size_t bins; /* used slots of all shards; relaxed */
    struct bin_map_shard shards[BIN_MAP_SHARDS];
};

static uint64_t bin_map_hash(const struct bin_map *map, uint64_t key)
{
    key ^= map->seed;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
    key = (key ^ key >> 27) * 0x94d049bb133111eb;
    return key ^ key >> 31;
}

static size_t bin_map_shard(const struct bin_map *map, uint64_t key)
{
    return (size_t)(bin_map_hash(map, key) >> (64 - BIN_MAP_SHARDS_LOG2));
}

/* A number that whoever made the input cannot know; where the system has none, the time and place.
 */
static uint64_t bin_map_make_seed(const struct bin_map *map)
{
    struct timespec now;
    uint64_t seed;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
        return seed;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)map;
}

enum status bin_map_create(struct bin_map **map, struct failure *failure)
{
    struct bin_map *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for bins");

    made->seed = bin_map_make_seed(made);
    for (size_t i = 0; i < BIN_MAP_SHARDS; i++)
        pthread_mutex_init(&made->shards[i].lock, NULL);
    *map = made;
    return STATUS_OK;
}

void bin_map_destroy(struct bin_map *map)
{
    if (!map)
        return;
    for (size_t i = 0; i < BIN_MAP_SHARDS; i++) {
        struct bin_map_shard *shard = &map->shards[i];
        memory_unmap(shard->slots, shard->room * sizeof *shard->slots);
        pthread_mutex_destroy(&shard->lock);
    }
    free(map);
}

/* The slot that holds a key, or the free slot to put it in. */
static struct bin_map_entry *bin_map_find(const struct bin_map *map, struct bin_map_entry *slots,
                                          size_t room, uint64_t key)
{
    size_t slot = (size_t)bin_map_hash(map, key) & (room - 1);

    while (slots[slot].count > 0 && slots[slot].key != key)
        slot = (slot + 1) & (room - 1);
    return &slots[slot];
}

static enum status bin_map_fail(const struct bin_map *map, struct failure *failure)
{
    return status_fail(failure, STATUS_DATA,
                       "no memory for more than %llu bins: a larger --width makes fewer",
                       (unsigned long long)atomic_load(&map->bins));
}

/*
 * Doubles a shard. All shards grow at about the same time. Each checks that enough memory is left
 * for itself and for sorting the result, so the first ones to grow do not use it all.
 */
static enum status bin_map_grow(struct bin_map *map, struct bin_map_shard *shard,
                                struct failure *failure)
{
    size_t room = shard->room > 0 ? 2 * shard->room : BIN_MAP_SLOTS_MIN;
    size_t bytes = room * sizeof *shard->slots;
    size_t result = atomic_load(&map->bins) * sizeof *shard->slots;
    bool is_free = bytes < BIN_MAP_CHECKED_BYTES || memory_available() > bytes + result;
    struct bin_map_entry *slots = is_free ? memory_map(bytes) : NULL;

    if (!slots)
        return bin_map_fail(map, failure);
    for (size_t i = 0; i < shard->room; i++) {
        if (shard->slots[i].count > 0)
            *bin_map_find(map, slots, room, shard->slots[i].key) = shard->slots[i];
    }
    memory_unmap(shard->slots, shard->room * sizeof *shard->slots);
    shard->slots = slots;
    shard->room = room;
    return STATUS_OK;
}

/* Counts keys[0..n) in their shard. The caller holds its lock. */
static enum status bin_map_count(struct bin_map *map, struct bin_map_shard *shard,
                                 const uint64_t *keys, size_t n, struct failure *failure)
{
    for (size_t i = 0; i < n; i++) {
        if (shard->used * 4 >= shard->room * 3 && bin_map_grow(map, shard, failure) != STATUS_OK)
            return failure->status;
        if (i + BIN_MAP_AHEAD < n) {
            uint64_t hash = bin_map_hash(map, keys[i + BIN_MAP_AHEAD]);
            __builtin_prefetch(&shard->slots[(size_t)hash & (shard->room - 1)], 1);
        }
        struct bin_map_entry *entry = bin_map_find(map, shard->slots, shard->room, keys[i]);
        shard->used += entry->count == 0;
        entry->key = keys[i];
        entry->count++;
    }
    return STATUS_OK;
}

/* Sorts the keys of a batch by shard. Those of shard i end at sorted[ends[i]]. */
static void bin_map_partition(const struct bin_map *map, struct bin_map_batch *batch,
                              size_t ends[BIN_MAP_SHARDS])
{
    size_t next = 0;

    for (size_t i = 0; i < BIN_MAP_SHARDS; i++)
        ends[i] = 0;
    for (size_t i = 0; i < batch->count; i++)
        ends[bin_map_shard(map, batch->keys[i])]++;
    for (size_t i = 0; i < BIN_MAP_SHARDS; i++) {
        size_t n = ends[i];
        ends[i] = next;
        next += n;
    }
    for (size_t i = 0; i < batch->count; i++)
        batch->sorted[ends[bin_map_shard(map, batch->keys[i])]++] = batch->keys[i];
}

enum status bin_map_add(struct bin_map *map, struct bin_map_batch *batch, struct failure *failure)
{
    size_t ends[BIN_MAP_SHARDS];
    size_t first = 0;
    enum status status = STATUS_OK;

    bin_map_partition(map, batch, ends);
    batch->count = 0;
    for (size_t i = 0; status == STATUS_OK && i < BIN_MAP_SHARDS; i++) {
        struct bin_map_shard *shard = &map->shards[i];
        if (ends[i] == first)
            continue;
        pthread_mutex_lock(&shard->lock);
        size_t used = shard->used;
        status = bin_map_count(map, shard, batch->sorted + first, ends[i] - first, failure);
        atomic_fetch_add_explicit(&map->bins, shard->used - used, memory_order_relaxed);
        pthread_mutex_unlock(&shard->lock);
        first = ends[i];
    }
    return status;
}

enum status bin_map_add_count(struct bin_map *map, uint64_t key, uint64_t count,
                              struct failure *failure)
{
    struct bin_map_shard *shard = &map->shards[bin_map_shard(map, key)];
    enum status status = STATUS_OK;

    pthread_mutex_lock(&shard->lock);
    if (shard->used * 4 >= shard->room * 3)
        status = bin_map_grow(map, shard, failure);
    if (status == STATUS_OK) {
        struct bin_map_entry *entry = bin_map_find(map, shard->slots, shard->room, key);
        bool is_new = entry->count == 0;
        shard->used += is_new;
        atomic_fetch_add_explicit(&map->bins, is_new, memory_order_relaxed);
        entry->key = key;
        entry->count += count;
    }
    pthread_mutex_unlock(&shard->lock);
    return status;
}

size_t bin_map_bins(const struct bin_map *map)
{
    return atomic_load_explicit(&map->bins, memory_order_relaxed);
}

static void bin_map_sort_small(struct bin_map_entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct bin_map_entry entry = entries[i];
        size_t place = i;
        for (; place > 0 && entries[place - 1].key > entry.key; place--)
            entries[place] = entries[place - 1];
        entries[place] = entry;
    }
}

/*
 * Sorts entries in place by the low shift + 8 bits of their keys: the "American flag sort" of
 * McIlroy, Bostic and McIlroy ("Engineering radix sort", Computing Systems 1993).
 */
static void bin_map_sort_radix(struct bin_map_entry *entries, size_t n, unsigned shift)
{
    size_t next[256];
    size_t ends[256] = {0};

    if (n <= BIN_MAP_SORT_SMALL) {
        bin_map_sort_small(entries, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        ends[entries[i].key >> shift & 255]++;
    for (size_t i = 0, end = 0; i < 256; i++) {
        next[i] = end;
        end += ends[i];
        ends[i] = end;
    }
    for (size_t i = 0; i < 256; i++) {
        while (next[i] < ends[i]) {
            struct bin_map_entry entry = entries[next[i]];
            size_t byte;
            while ((byte = entry.key >> shift & 255) != i) {
                struct bin_map_entry other = entries[next[byte]];
                entries[next[byte]++] = entry;
                entry = other;
            }
            entries[next[i]++] = entry;
        }
    }
    for (size_t i = 0, first = 0; shift > 0 && i < 256; first = ends[i++])
        bin_map_sort_radix(entries + first, ends[i] - first, shift - 8);
}

enum status bin_map_sort(const struct bin_map *map, bool is_signed, struct bin_map_entry **entries,
                         size_t *count, struct failure *failure)
{
    const uint64_t bias = is_signed ? (uint64_t)1 << 63 : 0; /* makes keys compare as unsigned */
    size_t bins = atomic_load(&map->bins);
    size_t n = 0;

    *count = bins;
    *entries = NULL;
    if (bins == 0)
        return STATUS_OK;
    struct bin_map_entry *made = memory_map(bins * sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA,
                           "no memory to sort %zu bins: a larger --width makes fewer", bins);
    for (size_t i = 0; i < BIN_MAP_SHARDS; i++) {
        const struct bin_map_shard *shard = &map->shards[i];
        for (size_t slot = 0; slot < shard->room; slot++) {
            if (shard->slots[slot].count == 0)
                continue;
            made[n] = shard->slots[slot];
            made[n++].key ^= bias;
        }
    }
    bin_map_sort_radix(made, n, 56);
    for (size_t i = 0; i < n; i++)
        made[i].key ^= bias;
    *entries = made;
    return STATUS_OK;
}

void bin_map_free_entries(struct bin_map_entry *entries, size_t count)
{
    memory_unmap(entries, count * sizeof *entries);
}
