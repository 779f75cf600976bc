/* Implements table_blocks.h: a list of free blocks, and mappings that blocks are cut from. */
#include "config.h"

#include "table/table_blocks.h"

#include "base/memory.h"

/* Returned blocks that a cache takes at once. */
#define TABLE_BLOCKS_BATCH 64

/*
 * Unused memory that a cache takes at once: a huge page, which the kernel clears at its first use.
 * So each thread clears its own, and none waits for it.
 */
#define TABLE_REGION_BYTES ((size_t)2 << 20)

/* A cache returns a batch when it holds more. */
#define TABLE_BLOCKS_CACHED (4 * TABLE_BLOCKS_BATCH)

/* A mapping. Untouched pages take no memory. */
#define TABLE_EXTENT_BYTES ((size_t)64 << 20)

/* The first block of a mapping. */
struct table_extent {
    struct table_extent *next;
};

void table_blocks_init(struct table_blocks *blocks)
{
    *blocks = (struct table_blocks){.extents = NULL};
    pthread_mutex_init(&blocks->lock, NULL);
}

void table_blocks_destroy(struct table_blocks *blocks)
{
    while (blocks->extents) {
        struct table_extent *extent = blocks->extents;
        blocks->extents = extent->next;
        memory_unmap(extent, TABLE_EXTENT_BYTES);
    }
    pthread_mutex_destroy(&blocks->lock);
}

static size_t table_block_cache_bytes(const struct table_block_cache *cache)
{
    return cache->count * TABLE_BLOCK_BYTES + (size_t)(cache->end - cache->at);
}

/* Maps more memory. Returns false if there is none. The caller holds the lock. */
static bool table_blocks_extend(struct table_blocks *blocks)
{
    struct table_extent *extent = memory_map(TABLE_EXTENT_BYTES);
    if (!extent)
        return false;

    extent->next = blocks->extents;
    blocks->extents = extent;
    blocks->at = (char *)extent + TABLE_BLOCK_BYTES;
    blocks->end = (char *)extent + TABLE_EXTENT_BYTES;
    return true;
}

static void table_block_push(struct table_block_cache *cache, struct table_block *block)
{
    block->next = cache->free;
    cache->free = block;
    cache->count++;
}

static struct table_block *table_block_pop(struct table_block_cache *cache)
{
    struct table_block *block = cache->free;
    cache->free = block->next;
    cache->count--;
    return block;
}

/* Fills an empty cache: with returned blocks, or with a region of unused memory. */
static void table_blocks_fill(struct table_blocks *blocks, struct table_block_cache *cache)
{
    pthread_mutex_lock(&blocks->lock);
    while (blocks->free && cache->count < TABLE_BLOCKS_BATCH) {
        struct table_block *block = blocks->free;
        blocks->free = block->next;
        table_block_push(cache, block);
    }
    if (!cache->free && (blocks->at < blocks->end || table_blocks_extend(blocks))) {
        const size_t left = (size_t)(blocks->end - blocks->at);
        const size_t bytes = left % TABLE_REGION_BYTES; /* the first one ends with a huge page */
        cache->at = blocks->at;
        cache->end = blocks->at += bytes > 0 ? bytes : TABLE_REGION_BYTES;
    }
    atomic_fetch_add_explicit(&blocks->used, table_block_cache_bytes(cache), memory_order_relaxed);
    pthread_mutex_unlock(&blocks->lock);
}

struct table_block *table_block_take(struct table_blocks *blocks, struct table_block_cache *cache)
{
    if (!cache->free && cache->at == cache->end)
        table_blocks_fill(blocks, cache);
    if (cache->free)
        return table_block_pop(cache);
    if (cache->at == cache->end)
        return NULL;
    cache->at += TABLE_BLOCK_BYTES;
    return (struct table_block *)(cache->at - TABLE_BLOCK_BYTES);
}

/* Returns blocks to the pool until `left` are left. */
static void table_block_cache_shrink(struct table_blocks *blocks, struct table_block_cache *cache,
                                     size_t left)
{
    uint64_t bytes = (cache->count - left) * TABLE_BLOCK_BYTES;

    pthread_mutex_lock(&blocks->lock);
    while (cache->count > left) {
        struct table_block *block = table_block_pop(cache);
        block->next = blocks->free;
        blocks->free = block;
    }
    atomic_fetch_sub_explicit(&blocks->used, bytes, memory_order_relaxed);
    pthread_mutex_unlock(&blocks->lock);
}

void table_block_return(struct table_blocks *blocks, struct table_block_cache *cache,
                        struct table_block *block)
{
    table_block_push(cache, block);
    if (cache->count > TABLE_BLOCKS_CACHED)
        table_block_cache_shrink(blocks, cache, TABLE_BLOCKS_CACHED / 2);
}

void table_block_cache_empty(struct table_blocks *blocks, struct table_block_cache *cache)
{
    for (; cache->at < cache->end; cache->at += TABLE_BLOCK_BYTES)
        table_block_push(cache, (struct table_block *)cache->at);
    table_block_cache_shrink(blocks, cache, 0);
}
