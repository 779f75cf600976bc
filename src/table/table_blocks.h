/*
 * The memory of a table: blocks of 4 KiB, which hold keys or entries and form lists. They lie in
 * huge pages that are mapped once. Threads take and return them in batches.
 */
#ifndef GPUHIST_TABLE_BLOCKS_H
#define GPUHIST_TABLE_BLOCKS_H

#include "table/table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define TABLE_BLOCK_BYTES   ((size_t)4096) /* its alignment, too */
#define TABLE_BLOCK_KEYS    ((TABLE_BLOCK_BYTES - 16) / sizeof(uint64_t))
#define TABLE_BLOCK_ENTRIES ((TABLE_BLOCK_BYTES - 16) / sizeof(struct table_entry))

struct table_block {
    struct table_block *next;
    uint64_t used; /* keys or entries */
    union {
        uint64_t keys[TABLE_BLOCK_KEYS];
        struct table_entry entries[TABLE_BLOCK_ENTRIES];
    };
};

struct table_extent;

struct table_blocks {
    pthread_mutex_t lock;         /* guards what follows */
    struct table_extent *extents; /* the mappings, the newest first */
    char *at;                     /* the unused part of the newest */
    char *end;
    struct table_block *free; /* returned blocks */
    _Atomic uint64_t used;    /* bytes of blocks that are in use or in caches; read without lock */
};

/* A thread's stock of free blocks. Zero-initialised, it is empty. */
struct table_block_cache {
    struct table_block *free; /* returned blocks */
    size_t count;             /* their number */
    char *at;                 /* memory that was never used */
    char *end;
};

/* Prepares an empty pool. The owner frees all of its memory with table_blocks_destroy. */
void table_blocks_init(struct table_blocks *blocks);
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
