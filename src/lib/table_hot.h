/*
 * The hot table of a writer counts the most frequent keys, without any exchange with other threads.
 * Each slot keeps one key, chosen from a sample by majority voting (R. S. Boyer, J S. Moore,
 * "MJRTY: A Fast Majority Vote Algorithm", 1991) among the keys that share the slot. If it finds
 * few keys, the table pauses.
 *
 * Thread-safe on distinct tables.
 */
#ifndef GPUHIST_TABLE_HOT_H
#define GPUHIST_TABLE_HOT_H

#include "lib/table.h"

#include <stdbool.h>

#define TABLE_HOT_BITS  12
#define TABLE_HOT_SLOTS ((size_t)1 << TABLE_HOT_BITS)

/* Maximum number of keys of one call. */
#define TABLE_HOT_BLOCK ((size_t)4096)

enum table_hot_state {
    TABLE_HOT_SAMPLES,
    TABLE_HOT_COUNTS,
    TABLE_HOT_PAUSES,
};

/* A hot table. If all but the seed is 0, it is empty and begins with a sample. */
struct table_hot {
    uint64_t seed; /* the seed of its hash; odd */
    enum table_hot_state state;
    uint64_t seen;                             /* number of keys since the state began */
    uint64_t found;                            /* number of these that were in their slot */
    struct table_entry slots[TABLE_HOT_SLOTS]; /* while it samples, the counts are votes */
};

/*
 * Counts those of (*keys)[0..n), n <= TABLE_HOT_BLOCK, that the table has. Points *keys to the
 * other keys, which are in cold[0..TABLE_HOT_BLOCK) if any key was counted, and returns their
 * number.
 */
size_t table_hot_count(struct table_hot *hot, const uint64_t **keys, size_t n, uint64_t *cold);

/*
 * Returns whether the table finds too few keys, and should be emptied. It then takes a new sample.
 */
bool table_hot_is_stale(const struct table_hot *hot);

/* Moves all counts to entries[0..TABLE_HOT_SLOTS). Returns their number. */
size_t table_hot_empty(struct table_hot *hot, struct table_entry *entries);

#endif
