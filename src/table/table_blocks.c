/* Implements table_blocks.h: a list of free blocks, and mappings that blocks are cut from. */
#include "config.h"

#include "table/table_blocks.h"

#include "base/memory.h"

/* Blocks that a cache takes at once: those of a huge page and more are zeroed at its first use. */
#define TABLE_BLOCKS_BATCH 64

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

/* Fills an empty cache: with returned blocks, or with new ones, which lie one after another. */
static void table_blocks_fill(struct table_blocks *blocks, struct table_block_cache *cache)
{
    pthread_mutex_lock(&blocks->lock);
    if (!blocks->free && blocks->at == blocks->end)
        table_blocks_extend(blocks);
    while (blocks->free && cache->count < TABLE_BLOCKS_BATCH) {
        struct table_block *block = blocks->free;
        blocks->free = block->next;
        table_block_push(cache, block);
    }
    while (cache->count < TABLE_BLOCKS_BATCH && blocks->at < blocks->end) {
        table_block_push(cache, (struct table_block *)blocks->at);
        blocks->at += TABLE_BLOCK_BYTES;
    }
    atomic_fetch_add_explicit(&blocks->used, cache->count * TABLE_BLOCK_BYTES,
                              memory_order_relaxed);
    pthread_mutex_unlock(&blocks->lock);
}

struct table_block *table_block_take(struct table_blocks *blocks, struct table_block_cache *cache)
{
    if (!cache->free)
        table_blocks_fill(blocks, cache);
    return cache->free ? table_block_pop(cache) : NULL;
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
    table_block_cache_shrink(blocks, cache, 0);
}
