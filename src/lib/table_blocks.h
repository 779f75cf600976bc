/*
 * The memory of a table: blocks, which hold keys or rows and form lists. They lie in huge pages
 * that are mapped once. Threads take and return them in batches.
 */
#ifndef GPUHIST_TABLE_BLOCKS_H
#define GPUHIST_TABLE_BLOCKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The minimum and maximum of bytes of a block: powers of two, its alignment, too. */
#define TABLE_BLOCK_BYTES     ((size_t)4096)
#define TABLE_BLOCK_BYTES_MAX ((size_t)2 << 20)

/* Returns the number of words in a block of `block_bytes`. Pure. */
static inline size_t table_block_words(size_t block_bytes)
{
    return (block_bytes - 16) / sizeof(uint64_t);
}

/* Keys of one word in a block of the minimum size, the only one in tables of plain counts. */
#define TABLE_BLOCK_KEYS ((TABLE_BLOCK_BYTES - 16) / sizeof(uint64_t))

struct table_block {
    struct table_block *next;
    uint64_t used;    /* keys or rows */
    uint64_t words[]; /* of them, one after the other */
};

struct table_extent;

struct table_blocks {
    size_t block_bytes;           /* constant, as the next one */
    size_t extent_bytes;          /* of a mapping */
    pthread_mutex_t lock;         /* guards what follows */
    struct table_extent *extents; /* the mappings, the newest first */
    char *at;                     /* the unused part of the newest */
    char *end;
    struct table_block *free; /* returned blocks */
    _Atomic uint64_t used;    /* bytes of blocks that are in use or in caches; read without lock */
};

/* A thread's stock of free blocks. Zero-initialised, it is empty. */
struct table_block_cache {
    struct table_block *free;
    size_t count; /* their number */
};

/* Prepares an empty pool, for some `bytes_max` of blocks: it may have more. The owner frees all of
 * its memory with table_blocks_destroy. */
void table_blocks_init(struct table_blocks *blocks, size_t block_bytes, uint64_t bytes_max);
void table_blocks_destroy(struct table_blocks *blocks);

/* Bytes of the blocks that are not free, about. Thread-safe. */
static inline uint64_t table_blocks_used(const struct table_blocks *blocks)
{
    return atomic_load_explicit(&blocks->used, memory_order_relaxed);
}

/*
 * Takes a block, whose contents are undefined, or returns it. table_block_take returns NULL if
 * there is no memory. Thread-safe on distinct caches.
 */
struct table_block *table_block_take(struct table_blocks *blocks, struct table_block_cache *cache);
void table_block_return(struct table_blocks *blocks, struct table_block_cache *cache,
                        struct table_block *block);

/* Empties a cache. Thread-safe on distinct caches. */
void table_block_cache_empty(struct table_blocks *blocks, struct table_block_cache *cache);

#endif
