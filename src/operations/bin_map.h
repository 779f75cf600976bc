/*
 * Counts sparse bins: a hash table from the 64-bit number of a bin, its key, to its count, shared
 * by all threads.
 *
 * The hash divides it into shards. Each is a table with a lock of its own, so threads seldom
 * contend and the map grows in small steps. Keys are added in batches that are first sorted by
 * shard, so the shard in use stays in the cache: the radix partitioning of Manegold, Boncz and
 * Kersten
 * ("Optimizing main-memory join on modern hardware", TKDE 2002). Shards use open addressing with
 * linear probing (Knuth, "The Art of Computer Programming", vol. 3, 6.4). The hash is the finalizer
 * of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA
 * 2014), of the key and a number that is random in each run, so that no input can be made whose
 * keys collide.
 *
 * bin_map_add (on distinct batches), bin_map_add_count and bin_map_bins are thread-safe; the other
 * functions are not.
 */
#ifndef GPUHIST_BIN_MAP_H
#define GPUHIST_BIN_MAP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys of a batch: 1 MiB with `sorted`, so that it stays in L2; each shard gets a few hundred. */
#define BIN_MAP_BATCH ((size_t)64 << 10)

struct bin_map;

/* The keys that a thread has yet to add. It appends keys while there is room. */
struct bin_map_batch {
    size_t count;
    uint64_t keys[BIN_MAP_BATCH];
    uint64_t sorted[BIN_MAP_BATCH]; /* only for bin_map_add */
};

struct bin_map_entry {
    uint64_t key;
    uint64_t count; /* > 0 */
};

/* Makes an empty map. Fails with STATUS_DATA if there is no memory. The caller destroys it. */
enum status bin_map_create(struct bin_map **map, struct failure *failure);

/* Frees a map. NULL is allowed. */
void bin_map_destroy(struct bin_map *map);

/*
 * Counts each key of a batch once and empties the batch. Fails with STATUS_DATA if there is no
 * memory for more bins; then the map may only be destroyed.
 */
enum status bin_map_add(struct bin_map *map, struct bin_map_batch *batch, struct failure *failure);

/* Adds `count` > 0 to one key. Fails as bin_map_add does. */
enum status bin_map_add_count(struct bin_map *map, uint64_t key, uint64_t count,
                              struct failure *failure);

/* The number of bins so far. */
size_t bin_map_bins(const struct bin_map *map);

/*
 * Makes an array of all entries in ascending order of their keys, which are signed or unsigned
 * numbers, and stores its length; NULL for an empty map. Fails with STATUS_DATA if there is no
 * memory. The caller frees the array with bin_map_free_entries.
 */
enum status bin_map_sort(const struct bin_map *map, bool is_signed, struct bin_map_entry **entries,
                         size_t *count, struct failure *failure);

/* Frees the array of bin_map_sort, of that length. NULL is allowed. */
void bin_map_free_entries(struct bin_map_entry *entries, size_t count);

#endif
