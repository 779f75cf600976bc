/* Implements table_blocks.h: a list of free blocks, and mappings that blocks are cut from. */
#include "config.h"

#include "lib/table_blocks.h"

#include "lib/memory.h"

/*
 * Number of bytes that a cache takes at once: returned blocks, or a huge page, which the kernel
 * clears at its first use. Thus each thread clears its own, and none waits for another.
 */
#define TABLE_REGION_BYTES ((size_t)2 << 20)

/*
 * Minimum size of a mapping, which is a part of the table's limit: untouched pages take no memory,
 * but count for `ulimit -v`.
 */
#define TABLE_EXTENT_BYTES_MIN (2 * TABLE_REGION_BYTES)
#define TABLE_EXTENT_BYTES_MAX ((size_t)64 << 20)
#define TABLE_EXTENT_PART      16

/* Maximum size of a cache in bytes. */
#define TABLE_CACHE_BYTES (2 * TABLE_REGION_BYTES)

_Static_assert(TABLE_REGION_BYTES % TABLE_BLOCK_BYTES_MAX == 0, "regions are whole blocks");

/* The first block of a mapping. */
struct table_extent {
    struct table_extent *next;
};

void table_blocks_init(struct table_blocks *blocks, size_t block_bytes, uint64_t bytes_max)
{
    const uint64_t part = bytes_max / TABLE_EXTENT_PART / TABLE_REGION_BYTES * TABLE_REGION_BYTES;

    *blocks = (struct table_blocks){
        .block_bytes = block_bytes,
        .extent_bytes = part > TABLE_EXTENT_BYTES_MAX   ? TABLE_EXTENT_BYTES_MAX
                        : part < TABLE_EXTENT_BYTES_MIN ? TABLE_EXTENT_BYTES_MIN
                                                        : (size_t)part,
    };
    pthread_mutex_init(&blocks->lock, NULL);
}

void table_blocks_destroy(struct table_blocks *blocks)
{
    while (blocks->extents) {
        struct table_extent *extent = blocks->extents;
        blocks->extents = extent->next;
        memory_unmap(extent, blocks->extent_bytes);
    }
    pthread_mutex_destroy(&blocks->lock);
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
    const size_t bytes = blocks->block_bytes;
    size_t region = 0; /* size of the unused memory */

    pthread_mutex_lock(&blocks->lock);
    while (blocks->free && cache->count * bytes < TABLE_REGION_BYTES) {
        struct table_block *block = blocks->free;
        blocks->free = block->next;
        table_block_push(cache, block);
    }
    if (!cache->free && blocks->at == blocks->end) {
        struct table_extent *extent = memory_map(blocks->extent_bytes);
        if (extent) {
            extent->next = blocks->extents;
            blocks->extents = extent;
            blocks->at = (char *)extent + bytes;
            blocks->end = (char *)extent + blocks->extent_bytes;
        }
    }
    if (!cache->free && blocks->at < blocks->end) {
        const size_t left = (size_t)(blocks->end - blocks->at) % TABLE_REGION_BYTES;
        region = left > 0 ? left : TABLE_REGION_BYTES; /* to a huge page's end */
        blocks->at += region;
    }
    char *end = blocks->at;
    atomic_fetch_add_explicit(&blocks->used, cache->count * bytes + region, memory_order_relaxed);
    pthread_mutex_unlock(&blocks->lock);
    for (size_t at = bytes; at <= region; at += bytes)
        table_block_push(cache, (struct table_block *)(end - at));
}

struct table_block *table_block_take(struct table_blocks *blocks, struct table_block_cache *cache)
{
    if (!cache->free)
        table_blocks_fill(blocks, cache);
    return cache->free ? table_block_pop(cache) : NULL;
}

/* Returns blocks to the pool until the cache has `left`. */
static void table_block_cache_shrink(struct table_blocks *blocks, struct table_block_cache *cache,
                                     size_t left)
{
    uint64_t bytes = (cache->count - left) * blocks->block_bytes;

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
    if (cache->count * blocks->block_bytes > TABLE_CACHE_BYTES)
        table_block_cache_shrink(blocks, cache, cache->count / 2);
}

void table_block_cache_empty(struct table_blocks *blocks, struct table_block_cache *cache)
{
    table_block_cache_shrink(blocks, cache, 0);
}
