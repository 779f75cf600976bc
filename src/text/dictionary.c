/*
 * Implements dictionary.h. The upper bits of the hash select a shard, which has a lock and a hash
 * table with linear probing. Entries never move; they lie in blocks, which each cache takes for
 * itself and fills. A cache has the entries that its thread found lately, one for each value of
 * some bits of the hash.
 *
 * Only adding takes a lock: slots are filled once, and tables that have become too small stay
 * unchanged until the end, so that threads that still read them find all that they may expect.
 *
 * Million strings per second on one core (Zen 4): 16,000 distinct paths of 10 to 55 bytes whose
 * frequencies follow Zipf's law 85, all distinct strings of 40 bytes 4.
 */
#include "config.h"

#include "text/dictionary.h"

#include "lib/bytes.h"
#include "lib/memory.h"
#include "lib/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DICTIONARY_SHARDS     256
#define DICTIONARY_SLOTS_MIN  ((uint32_t)32) /* minimum number of slots of a shard */
#define DICTIONARY_CACHE_SIZE ((size_t)1 << 14)

/* Size of a cache's first block of entries; each next block is twice as large, up to MAX. */
#define DICTIONARY_BLOCK_MIN ((size_t)32 << 10)
#define DICTIONARY_BLOCK_MAX ((size_t)2 << 20)

/*
 * Entries by number are in segments, which do not move: the first has 2^12 entries, each next one
 * as many as all before it.
 */
#define DICTIONARY_SEGMENT_BITS 12
#define DICTIONARY_SEGMENTS     (32 - DICTIONARY_SEGMENT_BITS + 1)

struct dictionary_entry {
    uint32_t id;
    uint32_t bytes;
    char text[];
};

struct dictionary_slot {
    uint64_t hash;                                /* constant once the slot is taken */
    const struct dictionary_entry *_Atomic entry; /* NULL: the slot is free */
};

struct dictionary_slots {
    struct dictionary_slots *older; /* the earlier table, with half as many slots; owned */
    uint32_t count;                 /* number of slots, a power of 2 */
    struct dictionary_slot slots[]; /* [count]; at most 3/4 of them are taken */
};

struct dictionary_shard {
    _Alignas(64) pthread_mutex_t lock;      /* held while a string is added */
    struct dictionary_slots *_Atomic table; /* owned; NULL: there are no entries */
    uint32_t entries;
};

/* An entry that a thread has found. */
struct dictionary_found {
    uint64_t hash;
    const struct dictionary_entry *entry; /* NULL: none */
};

struct dictionary_block {
    struct dictionary_block *next;
    size_t bytes; /* size of the mapping */
};

struct dictionary {
    struct keyed_hash hash;
    uint64_t limit_bytes;
    _Atomic uint64_t memory;  /* memory taken, in bytes */
    _Atomic uint64_t longest; /* length of the longest string */
    _Atomic uint64_t count;   /* number of strings */
    pthread_mutex_t lock;     /* held while blocks and segments are added */
    struct dictionary_block *blocks;
    const struct dictionary_entry **_Atomic segments[DICTIONARY_SEGMENTS];
    struct dictionary_shard shards[DICTIONARY_SHARDS];
};

struct dictionary_cache {
    struct dictionary *dictionary;
    char *at; /* free memory of the last block: [at, end) */
    char *end;
    size_t block_bytes; /* size of the last block; 0: there is none */
    struct dictionary_found found[DICTIONARY_CACHE_SIZE];
};

/* --- hashing ---------------------------------------------------------------------------------- */

/* Returns the XOR of the halves of the product. */
static inline uint64_t dictionary_fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns four bytes as a word. */
static inline uint64_t dictionary_half_word(const char *bytes)
{
    uint32_t half;
    memcpy(&half, bytes, sizeof half);
    return half;
}

/* Returns a hash: folded multiplication of 16 bytes, like wyhash (Wang Yi, 2019), secret constants.
 */
static uint64_t dictionary_hash(const struct keyed_hash *hash, const char *string, size_t bytes)
{
    const char *end = string + bytes;
    uint64_t state = hash->seeds[0];
    uint64_t a = 0, b = 0;

    if (bytes > 16) {
        for (size_t left = bytes; left > 16; left -= 16, string += 16)
            state = dictionary_fold(bytes_load(string) ^ hash->seeds[1],
                                    bytes_load(string + 8) ^ state);
        a = bytes_load(end - 16);
        b = bytes_load(end - 8);
    } else if (bytes >= 8) {
        a = bytes_load(string);
        b = bytes_load(end - 8);
    } else if (bytes >= 4) {
        a = dictionary_half_word(string);
        b = dictionary_half_word(end - 4);
    } else if (bytes > 0) {
        a = (uint64_t)(unsigned char)string[0] << 16 |
            (uint64_t)(unsigned char)string[bytes / 2] << 8 | (unsigned char)end[-1];
    }
    state = dictionary_fold(a ^ hash->seeds[1], b ^ state);
    return dictionary_fold(state ^ hash->seeds[2], bytes ^ hash->seeds[0]);
}

/* --- memory ----------------------------------------------------------------------------------- */

static enum status dictionary_take_memory(struct dictionary *dictionary, uint64_t bytes,
                                          struct failure *failure)
{
    const uint64_t before = atomic_fetch_add(&dictionary->memory, bytes);

    if (before <= dictionary->limit_bytes && bytes <= dictionary->limit_bytes - before)
        return STATUS_OK;
    atomic_fetch_sub(&dictionary->memory, bytes);
    return status_fail(failure, STATUS_DATA,
                       "the distinct strings need more than %llu bytes of memory, their part of -S",
                       (unsigned long long)dictionary->limit_bytes);
}

static enum status dictionary_fail_memory(struct failure *failure)
{
    return status_fail(failure, STATUS_DATA, "not enough memory for distinct strings");
}

/* Gives the cache a block with space for an entry of `entry_bytes`. */
static enum status dictionary_add_block(struct dictionary_cache *cache, size_t entry_bytes,
                                        struct failure *failure)
{
    struct dictionary *dictionary = cache->dictionary;
    size_t bytes = cache->block_bytes ? 2 * cache->block_bytes : DICTIONARY_BLOCK_MIN;

    if (bytes > DICTIONARY_BLOCK_MAX)
        bytes = DICTIONARY_BLOCK_MAX;
    cache->block_bytes = bytes;
    if (bytes < entry_bytes + sizeof(struct dictionary_block))
        bytes = entry_bytes + sizeof(struct dictionary_block);
    enum status status = dictionary_take_memory(dictionary, bytes, failure);
    if (status)
        return status;
    struct dictionary_block *block = memory_map(bytes);
    if (!block)
        return dictionary_fail_memory(failure);
    block->bytes = bytes;
    pthread_mutex_lock(&dictionary->lock);
    block->next = dictionary->blocks;
    dictionary->blocks = block;
    pthread_mutex_unlock(&dictionary->lock);
    cache->at = (char *)(block + 1);
    cache->end = (char *)block + bytes;
    return STATUS_OK;
}

/* Returns the segment of a number, and stores the segment's first number. */
static inline unsigned dictionary_segment(uint32_t id, uint32_t *first)
{
    if (id >> DICTIONARY_SEGMENT_BITS == 0) {
        *first = 0;
        return 0;
    }
    const unsigned bits = 31 - (unsigned)__builtin_clz(id);
    *first = (uint32_t)1 << bits;
    return bits - DICTIONARY_SEGMENT_BITS + 1;
}

static uint64_t dictionary_segment_bytes(unsigned segment)
{
    const unsigned bits = DICTIONARY_SEGMENT_BITS + (segment > 0 ? segment - 1 : 0);
    return ((uint64_t)1 << bits) * sizeof(struct dictionary_entry *);
}

/* Gives a shard, which the caller has locked, a table with twice as many slots. */
static enum status dictionary_grow_shard(struct dictionary *dictionary,
                                         struct dictionary_shard *shard, struct failure *failure)
{
    struct dictionary_slots *old = atomic_load_explicit(&shard->table, memory_order_relaxed);
    const uint32_t count = old ? 2 * old->count : DICTIONARY_SLOTS_MIN;
    const size_t bytes = sizeof *old + count * sizeof *old->slots;
    enum status status = dictionary_take_memory(dictionary, bytes, failure);

    if (status)
        return status;
    /*
     * Not calloc: its pages are fresh, and slots are read before they are written, so each page
     * would fault twice, the second time with an interrupt to all other threads.
     */
    struct dictionary_slots *table = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!table)
        return dictionary_fail_memory(failure);
    memset(table, 0, bytes);
    table->older = old;
    table->count = count;
    for (uint32_t i = 0; old && i < old->count; i++) {
        const struct dictionary_entry *entry =
            atomic_load_explicit(&old->slots[i].entry, memory_order_relaxed);
        size_t at = old->slots[i].hash & (count - 1);
        if (!entry)
            continue;
        while (atomic_load_explicit(&table->slots[at].entry, memory_order_relaxed))
            at = (at + 1) & (count - 1);
        table->slots[at].hash = old->slots[i].hash;
        atomic_store_explicit(&table->slots[at].entry, entry, memory_order_relaxed);
    }
    atomic_store_explicit(&shard->table, table, memory_order_release);
    return STATUS_OK;
}

/* --- the life of a dictionary ----------------------------------------------------------------- */

struct dictionary *dictionary_create(uint64_t limit_bytes, struct keyed_hash hash)
{
    struct dictionary *dictionary = aligned_alloc(64, sizeof *dictionary);

    if (!dictionary)
        return NULL;
    memset(dictionary, 0, sizeof *dictionary);
    dictionary->hash = hash;
    dictionary->limit_bytes = limit_bytes;
    pthread_mutex_init(&dictionary->lock, NULL);
    for (size_t i = 0; i < DICTIONARY_SHARDS; i++)
        pthread_mutex_init(&dictionary->shards[i].lock, NULL);
    return dictionary;
}

void dictionary_destroy(struct dictionary *dictionary)
{
    struct dictionary_block *next;

    if (!dictionary)
        return;
    for (size_t i = 0; i < DICTIONARY_SHARDS; i++) {
        for (struct dictionary_slots *table = dictionary->shards[i].table, *older; table;
             table = older) {
            older = table->older;
            free(table);
        }
        pthread_mutex_destroy(&dictionary->shards[i].lock);
    }
    for (unsigned i = 0; i < DICTIONARY_SEGMENTS; i++)
        memory_unmap(dictionary->segments[i], dictionary_segment_bytes(i));
    for (struct dictionary_block *block = dictionary->blocks; block; block = next) {
        next = block->next;
        memory_unmap(block, block->bytes);
    }
    pthread_mutex_destroy(&dictionary->lock);
    free(dictionary);
}

struct dictionary_cache *dictionary_cache_create(struct dictionary *dictionary)
{
    struct dictionary_cache *cache = calloc(1, sizeof *cache);

    if (cache)
        cache->dictionary = dictionary;
    return cache;
}

uint32_t dictionary_count(const struct dictionary *dictionary)
{
    return (uint32_t)dictionary->count;
}

uint64_t dictionary_memory(const struct dictionary *dictionary)
{
    return dictionary->memory;
}

uint64_t dictionary_longest(const struct dictionary *dictionary)
{
    return dictionary->longest;
}

/* --- finding ---------------------------------------------------------------------------------- */

static inline bool dictionary_is_entry(const struct dictionary_entry *entry, const char *string,
                                       size_t bytes)
{
    return entry->bytes == bytes && memcmp(entry->text, string, bytes) == 0;
}

/* Adds a string to a free slot of a shard, which the caller has locked. */
static enum status dictionary_add(struct dictionary_cache *cache, struct dictionary_slot *slot,
                                  uint64_t hash, const char *string, size_t bytes,
                                  struct failure *failure)
{
    struct dictionary *dictionary = cache->dictionary;
    const size_t alignment = _Alignof(struct dictionary_entry);
    const size_t entry_bytes =
        (sizeof(struct dictionary_entry) + bytes + alignment - 1) / alignment * alignment;
    enum status status = STATUS_OK;
    uint32_t first;

    if (bytes > UINT32_MAX)
        return status_fail(failure, STATUS_DATA, "a text has more than 4 GiB");
    if ((size_t)(cache->end - cache->at) < entry_bytes)
        status = dictionary_add_block(cache, entry_bytes, failure);
    if (status)
        return status;
    const uint64_t id = atomic_fetch_add_explicit(&dictionary->count, 1, memory_order_relaxed);
    if (id >= UINT32_MAX)
        return status_fail(failure, STATUS_DATA, "there are more than 2^32 - 1 distinct strings");
    const unsigned segment = dictionary_segment((uint32_t)id, &first);
    if (!atomic_load_explicit(&dictionary->segments[segment], memory_order_acquire)) {
        pthread_mutex_lock(&dictionary->lock);
        if (!atomic_load_explicit(&dictionary->segments[segment], memory_order_relaxed)) {
            const uint64_t segment_bytes = dictionary_segment_bytes(segment);
            status = dictionary_take_memory(dictionary, segment_bytes, failure);
            void *entries = status ? NULL : memory_map(segment_bytes);
            if (!entries && !status)
                status = dictionary_fail_memory(failure);
            atomic_store_explicit(&dictionary->segments[segment], entries, memory_order_release);
        }
        pthread_mutex_unlock(&dictionary->lock);
    }
    if (status)
        return status;
    struct dictionary_entry *entry = (struct dictionary_entry *)cache->at;
    cache->at += entry_bytes;
    *entry = (struct dictionary_entry){.id = (uint32_t)id, .bytes = (uint32_t)bytes};
    memcpy(entry->text, string, bytes);
    uint64_t longest = atomic_load_explicit(&dictionary->longest, memory_order_relaxed);
    while (longest < bytes && !atomic_compare_exchange_weak(&dictionary->longest, &longest, bytes))
        ;
    atomic_load_explicit(&dictionary->segments[segment], memory_order_acquire)[id - first] = entry;
    slot->hash = hash;
    atomic_store_explicit(&slot->entry, entry, memory_order_release);
    return STATUS_OK;
}

/* Returns the entry of a string in a table; NULL: there is none, and *slot is the free slot for it.
 */
static const struct dictionary_entry *dictionary_look_up(struct dictionary_slots *table,
                                                         uint64_t hash, const char *string,
                                                         size_t bytes,
                                                         struct dictionary_slot **slot)
{
    for (size_t at = hash & (table->count - 1);; at = (at + 1) & (table->count - 1)) {
        *slot = &table->slots[at];
        const struct dictionary_entry *entry =
            atomic_load_explicit(&(*slot)->entry, memory_order_acquire);
        if (!entry || ((*slot)->hash == hash && dictionary_is_entry(entry, string, bytes)))
            return entry;
    }
}

/* Finds or adds a string in its shard. */
__attribute__((noinline)) static enum status dictionary_find_shared(
    struct dictionary_cache *cache, uint64_t hash, const char *string, size_t bytes,
    const struct dictionary_entry **entry, struct failure *failure)
{
    struct dictionary *dictionary = cache->dictionary;
    struct dictionary_shard *shard = &dictionary->shards[hash >> 56];
    struct dictionary_slots *table = atomic_load_explicit(&shard->table, memory_order_acquire);
    struct dictionary_slot *slot;
    enum status status = STATUS_OK;

    *entry = table ? dictionary_look_up(table, hash, string, bytes, &slot) : NULL;
    if (*entry)
        return STATUS_OK;
    pthread_mutex_lock(&shard->lock);
    table = atomic_load_explicit(&shard->table, memory_order_relaxed);
    if (!table || shard->entries >= table->count / 4 * 3)
        status = dictionary_grow_shard(dictionary, shard, failure);
    if (!status) {
        table = atomic_load_explicit(&shard->table, memory_order_relaxed);
        *entry = dictionary_look_up(table, hash, string, bytes, &slot);
    }
    if (!status && !*entry) {
        status = dictionary_add(cache, slot, hash, string, bytes, failure);
        shard->entries += !status;
        *entry = atomic_load_explicit(&slot->entry, memory_order_relaxed);
    }
    pthread_mutex_unlock(&shard->lock);
    return status;
}

enum status dictionary_find(struct dictionary_cache *cache, const char *string, size_t bytes,
                            uint32_t *id, struct failure *failure)
{
    const uint64_t hash = dictionary_hash(&cache->dictionary->hash, string, bytes);
    struct dictionary_found *found = &cache->found[(hash >> 40) % DICTIONARY_CACHE_SIZE];

    if (found->hash != hash || !found->entry || !dictionary_is_entry(found->entry, string, bytes)) {
        const struct dictionary_entry *entry;
        enum status status = dictionary_find_shared(cache, hash, string, bytes, &entry, failure);
        if (status)
            return status;
        *found = (struct dictionary_found){hash, entry};
    }
    *id = found->entry->id;
    return STATUS_OK;
}

static const struct dictionary_entry *dictionary_entry(const struct dictionary *dictionary,
                                                       uint32_t id)
{
    uint32_t first;
    const unsigned segment = dictionary_segment(id, &first);

    return atomic_load_explicit(&dictionary->segments[segment], memory_order_acquire)[id - first];
}

const char *dictionary_text(const struct dictionary *dictionary, uint32_t id, size_t *bytes)
{
    const struct dictionary_entry *entry = dictionary_entry(dictionary, id);

    *bytes = entry->bytes;
    return entry->text;
}

void dictionary_prefetch(const struct dictionary *dictionary, uint32_t id)
{
    __builtin_prefetch(dictionary_entry(dictionary, id));
}

/* --- order ------------------------------------------------------------------------------------ */

/*
 * Strings are sorted by quicksort, with their first bytes beside the pointer. The pivots are
 * random, so that no input makes it slow.
 */
struct dictionary_item {
    uint64_t word; /* the first eight bytes as a big-endian number, padded with zeros */
    const struct dictionary_entry *entry;
};

#define DICTIONARY_INSERTION_MAX 12

static struct dictionary_item dictionary_item(const struct dictionary_entry *entry)
{
    char word[8] = {0};

    memcpy(word, entry->text, entry->bytes < 8 ? entry->bytes : 8);
    return (struct dictionary_item){__builtin_bswap64(bytes_load(word)), entry};
}

static inline bool dictionary_is_before(const struct dictionary_item *a,
                                        const struct dictionary_item *b)
{
    const size_t bytes = a->entry->bytes < b->entry->bytes ? a->entry->bytes : b->entry->bytes;

    if (a->word != b->word)
        return a->word < b->word;
    const int order = memcmp(a->entry->text, b->entry->text, bytes);
    return order != 0 ? order < 0 : a->entry->bytes < b->entry->bytes;
}

/* Sorts items. Recursion is not deep, because it only sorts the smaller part. */
static void dictionary_sort(struct dictionary_item *items, size_t count, uint64_t *random)
{
    while (count > DICTIONARY_INSERTION_MAX) {
        *random = *random * 0x5851f42d4c957f2d + 0x14057b7ef767814f; /* PCG's (O'Neill 2014) */
        const struct dictionary_item pivot = items[(*random >> 33) % count];
        size_t low = 0;
        size_t high = count - 1;
        for (;; low++, high--) { /* items before low are <= the pivot, those after high >= */
            while (dictionary_is_before(&items[low], &pivot))
                low++;
            while (dictionary_is_before(&pivot, &items[high]))
                high--;
            if (low >= high)
                break;
            const struct dictionary_item item = items[low];
            items[low] = items[high];
            items[high] = item;
        }
        const size_t next = low + (low == high); /* they meet at the pivot */
        if (low > count / 2) {
            dictionary_sort(items + next, count - next, random);
            count = low;
        } else {
            dictionary_sort(items, low, random);
            items += next;
            count -= next;
        }
    }
    for (size_t i = 1; i < count; i++) {
        const struct dictionary_item item = items[i];
        size_t j = i;
        for (; j > 0 && dictionary_is_before(&item, &items[j - 1]); j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

/*
 * Threads use a sample sort: they distribute ranges of numbers to buckets, which splitters
 * separate, and sort the buckets.
 */
#define DICTIONARY_BUCKETS_MAX 256
#define DICTIONARY_OVERSAMPLE  16
#define DICTIONARY_PART_MIN    ((uint64_t)1 << 14) /* minimum number of strings per thread */

struct dictionary_sorting {
    const struct dictionary *dictionary;
    const struct dictionary_order *order;
    struct dictionary_item *items; /* [count] */
    uint16_t *buckets;             /* [count]: the bucket of each string */
    uint32_t count;
    uint32_t parts;                                           /* number of ranges and of buckets */
    struct dictionary_item splitters[DICTIONARY_BUCKETS_MAX]; /* [parts - 1] */
    uint32_t (*begins)[DICTIONARY_BUCKETS_MAX]; /* [parts]: number of each part's strings in each
                                                 * bucket, then the start of these */
    uint32_t ends[DICTIONARY_BUCKETS_MAX];      /* the end of each bucket */
};

/* Returns the first number of a part. */
static uint32_t dictionary_part_begin(const struct dictionary_sorting *sorting, size_t part)
{
    return (uint32_t)((uint64_t)sorting->count * part / sorting->parts);
}

static void dictionary_choose_buckets(void *context, size_t part)
{
    struct dictionary_sorting *sorting = context;

    for (uint32_t id = dictionary_part_begin(sorting, part);
         id < dictionary_part_begin(sorting, part + 1); id++) {
        const struct dictionary_item item =
            dictionary_item(dictionary_entry(sorting->dictionary, id));
        uint32_t low = 0;
        for (uint32_t high = sorting->parts - 1; low < high;) {
            const uint32_t middle = (low + high) / 2;
            if (dictionary_is_before(&item, &sorting->splitters[middle]))
                high = middle;
            else
                low = middle + 1;
        }
        sorting->buckets[id] = (uint16_t)low;
        sorting->begins[part][low]++;
    }
}

static void dictionary_fill_buckets(void *context, size_t part)
{
    struct dictionary_sorting *sorting = context;

    for (uint32_t id = dictionary_part_begin(sorting, part);
         id < dictionary_part_begin(sorting, part + 1); id++) {
        sorting->items[sorting->begins[part][sorting->buckets[id]]++] =
            dictionary_item(dictionary_entry(sorting->dictionary, id));
    }
}

static void dictionary_sort_bucket(void *context, size_t bucket)
{
    struct dictionary_sorting *sorting = context;
    const uint32_t begin = bucket > 0 ? sorting->ends[bucket - 1] : 0;
    const uint32_t end = sorting->ends[bucket];
    uint64_t random = sorting->dictionary->hash.seeds[0] + bucket;

    dictionary_sort(sorting->items + begin, end - begin, &random);
    for (uint32_t rank = begin; rank < end; rank++) {
        const uint32_t id = sorting->items[rank].entry->id;
        sorting->order->ids[rank] = id;
        sorting->order->ranks[id] = rank;
    }
}

bool dictionary_order_create(const struct dictionary *dictionary, unsigned threads,
                             struct dictionary_order *order)
{
    const uint32_t count = dictionary_count(dictionary);
    const unsigned workers = parallel_threads(threads, count, DICTIONARY_PART_MIN);
    struct dictionary_sorting sorting = {.dictionary = dictionary, .order = order, .count = count};
    const size_t size = count > 0 ? count : 1;

    sorting.parts = workers == 1 ? 1 : 4 * workers < DICTIONARY_BUCKETS_MAX ? 4 * workers : 256;
    sorting.items = malloc(size * sizeof *sorting.items);
    sorting.buckets = malloc(size * sizeof *sorting.buckets);
    sorting.begins = calloc(sorting.parts, sizeof *sorting.begins);
    order->ids = malloc(size * sizeof *order->ids);
    order->ranks = malloc(size * sizeof *order->ranks);
    const bool has_memory =
        sorting.items && sorting.buckets && sorting.begins && order->ids && order->ranks;
    if (has_memory) {
        /* The splitters are chosen from strings at regular distances, sorted in `items`. */
        const uint32_t samples = sorting.parts > 1 ? sorting.parts * DICTIONARY_OVERSAMPLE : 0;
        uint64_t random = dictionary->hash.seeds[0];
        for (uint32_t i = 0; i < samples; i++) {
            const uint32_t id = (uint32_t)((uint64_t)count * i / samples);
            sorting.items[i] = dictionary_item(dictionary_entry(dictionary, id));
        }
        dictionary_sort(sorting.items, samples, &random);
        for (uint32_t i = 1; i < sorting.parts; i++)
            sorting.splitters[i - 1] = sorting.items[i * DICTIONARY_OVERSAMPLE];
        parallel_run(workers, sorting.parts, dictionary_choose_buckets, &sorting);
        uint32_t end = 0;
        for (size_t bucket = 0; bucket < sorting.parts; bucket++) {
            for (size_t part = 0; part < sorting.parts; part++) {
                const uint32_t strings = sorting.begins[part][bucket];
                sorting.begins[part][bucket] = end;
                end += strings;
            }
            sorting.ends[bucket] = end;
        }
        parallel_run(workers, sorting.parts, dictionary_fill_buckets, &sorting);
        parallel_run(workers, sorting.parts, dictionary_sort_bucket, &sorting);
    } else {
        dictionary_order_destroy(order);
    }
    free(sorting.items);
    free(sorting.buckets);
    free(sorting.begins);
    return has_memory;
}

void dictionary_order_destroy(struct dictionary_order *order)
{
    free(order->ids);
    free(order->ranks);
    *order = (struct dictionary_order){NULL, NULL};
}
