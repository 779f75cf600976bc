/*
 * Counts of bins that lie anywhere: a hash table from the number of a bin, 64 bits, to how often it
 * was met, shared by all threads.
 *
 * It is divided into shards by the hash, each a table of its own with a lock of its own, so that
 * threads seldom meet, and so that it grows by small steps. Keys are added many at a time and
 * sorted by shard first: the part of the memory that a shard takes stays in the cache meanwhile,
 * which is the radix partitioning of Manegold, Boncz and Kersten ("Optimizing main-memory join on
 * modern hardware", TKDE 2002). Shards are open addressing with linear probing (Knuth, "The Art of
 * Computer Programming", vol. 3, 6.4); the hash is the finalizer of SplitMix64 (Steele, Lea, Flood,
 * "Fast splittable pseudorandom number generators", OOPSLA 2014).
 *
 * bin_map_add is thread-safe on distinct batches, and so are bin_map_add_count and bin_map_bins;
 * the other functions are not.
 */
#ifndef GPUHIST_BIN_MAP_H
#define GPUHIST_BIN_MAP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Keys added at a time: 1 MiB with the room to sort them, so that they stay in the L2 and each of
 * the shards gets a few hundred.
 */
#define BIN_MAP_BATCH ((size_t)64 << 10)

struct bin_map;

/* Keys of one thread, on their way. The thread appends to them where there is room. */
struct bin_map_batch {
    size_t count;
    uint64_t keys[BIN_MAP_BATCH];
    uint64_t sorted[BIN_MAP_BATCH]; /* bin_map_add's own */
};

struct bin_map_entry {
    uint64_t key;
    uint64_t count; /* > 0 */
};

/* Makes an empty map. Fails with STATUS_DATA. The caller destroys it. */
enum status bin_map_create(struct bin_map **map, struct failure *failure);

/* NULL is allowed. */
void bin_map_destroy(struct bin_map *map);

/*
 * Counts the keys of a batch and empties it. Fails with STATUS_DATA and a message about bins if
 * there is no memory for more of them; the map is then worthless.
 */
enum status bin_map_add(struct bin_map *map, struct bin_map_batch *batch, struct failure *failure);

/* Adds `count` > 0 to one key. Fails likewise. */
enum status bin_map_add_count(struct bin_map *map, uint64_t key, uint64_t count,
                              struct failure *failure);

/* How many bins it has by now. Thread-safe. */
size_t bin_map_bins(const struct bin_map *map);

/*
 * Makes an array of all that was counted, in ascending order of the keys, as signed or unsigned
 * numbers, and stores its length. NULL if there is nothing. Fails with STATUS_DATA. The caller
 * gives it back with bin_map_free_entries.
 */
enum status bin_map_sort(const struct bin_map *map, bool is_signed, struct bin_map_entry **entries,
                         size_t *count, struct failure *failure);

void bin_map_free_entries(struct bin_map_entry *entries, size_t count);

#endif
