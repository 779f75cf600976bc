/*
 * The memory of a table: blocks of keys or rows, which form lists. Blocks lie in huge pages that
 * are mapped once. Threads take and return them in batches.
 */
#ifndef GPUHIST_TABLE_BLOCKS_H
#define GPUHIST_TABLE_BLOCKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Minimum and maximum size of a block: powers of two, which are also its alignment. */
#define TABLE_BLOCK_BYTES     ((size_t)4096)
#define TABLE_BLOCK_BYTES_MAX ((size_t)2 << 20)

/* Returns the number of words in a block of `block_bytes`. Pure. */
static inline size_t table_block_words(size_t block_bytes)
{
    return (block_bytes - 16) / sizeof(uint64_t);
}

/* Number of one-word keys in a block of minimum size, the size in tables of plain counts. */
#define TABLE_BLOCK_KEYS ((TABLE_BLOCK_BYTES - 16) / sizeof(uint64_t))

struct table_block {
    struct table_block *next;
    uint64_t used;    /* number of keys or rows */
    uint64_t words[]; /* the keys or rows, consecutively */
};

struct table_extent;

struct table_blocks {
    size_t block_bytes;           /* size of a block; constant */
    size_t extent_bytes;          /* size of a mapping; constant */
    pthread_mutex_t lock;         /* guards the members below */
    struct table_extent *extents; /* the mappings, the newest first; owned */
    char *at;                     /* the unused part of the newest mapping */
    char *end;
    struct table_block *free; /* returned blocks */
    _Atomic uint64_t used;    /* bytes of blocks that are in use or in caches; read without lock */
};

/* A thread's stock of free blocks. Zero-initialised, it is empty. */
struct table_block_cache {
    struct table_block *free;
    size_t count; /* number of blocks */
};

/* Prepares an empty pool for about `bytes_max` bytes of blocks; it may have more. The owner frees
 * all of its memory with table_blocks_destroy. */
void table_blocks_init(struct table_blocks *blocks, size_t block_bytes, uint64_t bytes_max);
void table_blocks_destroy(struct table_blocks *blocks);

/* Returns the approximate size of the blocks that are not free, in bytes. Thread-safe. */
static inline uint64_t table_blocks_used(const struct table_blocks *blocks)
{
    return atomic_load_explicit(&blocks->used, memory_order_relaxed);
}

/*
 * Take a block, whose contents are undefined, and return a block. table_block_take returns NULL if
 * there is no memory. Thread-safe on distinct caches.
 */
struct table_block *table_block_take(struct table_blocks *blocks, struct table_block_cache *cache);
void table_block_return(struct table_blocks *blocks, struct table_block_cache *cache,
                        struct table_block *block);

/* Empties a cache. Thread-safe on distinct caches. */
void table_block_cache_empty(struct table_blocks *blocks, struct table_block_cache *cache);

#endif
