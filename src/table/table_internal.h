/* Shared by the files of the table: partitions, writers, and hashing. */
#ifndef GPUHIST_TABLE_INTERNAL_H
#define GPUHIST_TABLE_INTERNAL_H

#include "base/keyed_hash.h"
#include "table/table.h"
#include "table/table_blocks.h"
#include "table/table_hot.h"
#include "table/table_runs.h"

#include <stdbool.h>

/* A list of blocks and what they hold together. */
struct table_list {
    struct table_block *blocks;
    uint64_t used;
};

/* A part of the keys, by their hash. */
struct table_partition {
    pthread_mutex_t lock;      /* guards what follows */
    struct table_list packed;  /* entries of distinct keys */
    struct table_list singles; /* other distinct keys, each of which has come once */
    struct table_list pending; /* keys that came since */
    struct table_list added;   /* entries that came since */
    uint64_t total;            /* the sum of the packed counts, modulo 2^64 */
    uint64_t only;             /* the set that all packed entries are of; 0: there is none */
} __attribute__((aligned(128)));

/* Memory in which a thread counts a partition: a hash table with linear probing. */
struct table_scratch {
    struct table_entry *slots; /* [1 << bits]; count 0: free. NULL: none yet */
    unsigned bits;
    unsigned room_bits; /* 1 << room_bits slots are mapped */
    uint64_t used;      /* slots that are not free */
};

/* What a thread needs to count partitions. Zero-initialised at first. */
struct table_counter {
    struct table_block_cache blocks;
    struct table_scratch scratch;
};

/* The most runs. When there are so many, the smaller half is merged into one. */
#define TABLE_RUNS_MAX 32

/* Counts that have left memory. */
struct table_spill {
    pthread_mutex_t lock; /* guards what follows */
    struct table_run runs[TABLE_RUNS_MAX];
    size_t count;   /* of runs */
    size_t next;    /* the partition that leaves next */
    uint64_t total; /* the sum of all counts in runs, modulo 2^64 */
};

/* Blocks of the run that were read last, by their numbers modulo TABLE_CACHE_BLOCKS. */
#define TABLE_CACHE_BLOCKS 32
struct table_cache {
    pthread_mutex_t lock;               /* guards what follows */
    size_t numbers[TABLE_CACHE_BLOCKS]; /* plus 1; 0: none */
    struct table_entry entries[TABLE_CACHE_BLOCKS][TABLE_RUN_ENTRIES];
    struct failure failure; /* the first one */
    bool has_failed;
};

struct table {
    uint64_t bytes_most; /* const, like the next two */
    const char *directory;
    struct keyed_hash hash;
    struct table_blocks blocks;
    _Atomic unsigned writers;      /* open now */
    _Atomic unsigned writers_most; /* open at once */
    _Atomic uint64_t sets;         /* numbers given by table_new_set */
    _Atomic bool has_new_keys;     /* most keys that a partition packed last were different */
    _Atomic bool has_overflowed;   /* a count did not fit in 64 bits */
    struct table_partition partitions[TABLE_PARTITIONS];

    struct table_spill spill;

    /* Set by table_settle. */
    uint64_t distinct;
    uint64_t total;
    struct table_entry *sorted; /* [distinct], or NULL: not sorted */
    struct table_cache *cache;  /* of the run that has all entries, or NULL: they are in memory */
};

struct table_writer {
    struct table *table;
    struct table_counter counter;
    struct table_hot hot;
    /* Where the next key of each partition goes, in a block; a multiple of TABLE_BLOCK_BYTES: the
     * block is full, or there is none. */
    uint64_t *next[TABLE_PARTITIONS];
    uint64_t cold[TABLE_HOT_BLOCK]; /* keys that the hot table does not have */
};

static inline uint64_t table_hash(const struct table *table, uint64_t key)
{
    return keyed_hash_of(&table->hash, key);
}

static inline size_t table_hash_partition(uint64_t hash)
{
    return hash >> (64 - TABLE_PARTITION_BITS);
}

/*
 * Counts what came since in a partition, and packs the result. The caller holds its lock. Fails
 * with STATUS_DATA if there is no memory.
 */
enum status table_partition_pack(struct table *table, struct table_partition *partition,
                                 struct table_counter *counter, struct failure *failure);

/* The number of distinct keys of a partition, of which nothing is pending or added. */
static inline uint64_t table_partition_distinct(const struct table_partition *partition)
{
    return partition->packed.used + partition->singles.used;
}

/* Makes entries of keys that have come once. */
static inline void table_entries_of(const uint64_t *keys, size_t n, struct table_entry *entries)
{
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct table_entry){.key = keys[i], .count = 1};
}

/*
 * All lists of distinct keys have a number: of each partition the packed entries, and the singles.
 */
#define TABLE_LISTS (2 * TABLE_PARTITIONS)

static inline const struct table_list *table_list_at(const struct table *table, size_t number)
{
    const struct table_partition *partition = &table->partitions[number / 2];
    return number % 2 == 0 ? &partition->packed : &partition->singles;
}

/* Whether a partition should be packed now. The caller holds its lock. */
bool table_partition_is_due(const struct table *table, const struct table_partition *partition);

/*
 * Takes the first block of a list, NULL if there is none, and returns `done`, the one before, to
 * the pool.
 */
struct table_block *table_list_next(struct table *table, struct table_counter *counter,
                                    struct table_list *list, struct table_block *done);

/* Frees what a counter holds. */
void table_counter_destroy(struct table *table, struct table_counter *counter);

/* Whether the table should move counts to a run. Thread-safe. */
bool table_is_full(const struct table *table);

/*
 * Moves the counts of some partitions to a run, unless another thread has just done so. The caller
 * has no lock. Fails with STATUS_DATA.
 */
enum status table_spill_some(struct table *table, struct table_counter *counter,
                             struct failure *failure);

/*
 * Moves all counts to runs, and merges all runs into spill.runs[0]. No writer may be at work. Fails
 * with STATUS_DATA.
 */
enum status table_spill_all(struct table *table, struct failure *failure);

/* Whether entries in ascending order would take more memory than the table may. */
bool table_is_too_large(const struct table *table);

/* Frees all runs. */
void table_spill_destroy(struct table *table);

/* Makes table->sorted. Fails with STATUS_DATA. */
enum status table_sort(struct table *table, unsigned threads, struct failure *failure);

/* Frees table->sorted. */
void table_unsort(struct table *table);

#endif
