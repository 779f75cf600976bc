/* Shared by the files of the table: partitions, writers, what has left memory. */
#ifndef GPUHIST_TABLE_INTERNAL_H
#define GPUHIST_TABLE_INTERNAL_H

#include "lib/table.h"
#include "lib/table_blocks.h"
#include "lib/table_hot.h"
#include "lib/table_rows.h"
#include "lib/table_runs.h"

#include <stdbool.h>

/* The failure of a table that has less memory than it may take. */
#define TABLE_NO_MEMORY "not enough memory for counts (try a smaller -S)"

/* A list of blocks and what they hold together. */
struct table_list {
    struct table_block *blocks;
    uint64_t used;
};

/* A part of the keys, by their hash. */
struct table_partition {
    pthread_mutex_t lock;      /* guards what follows */
    struct table_list packed;  /* rows of distinct keys */
    struct table_list pending; /* keys that came since, with their values and weights */
    struct table_list added;   /* rows that came since */
    uint64_t total;            /* the sum of the packed counts, modulo 2^64 */
    uint64_t only;             /* the set that all packed rows are of; 0: there is none */
} __attribute__((aligned(128)));

/* What a thread needs to pack partitions. Zero-initialised at first. */
struct table_packer {
    struct table_block_cache blocks;
    struct table_slots slots;
};

/* Rows that have left memory. */
struct table_spill {
    pthread_mutex_t lock;                  /* guards what follows */
    struct table_run runs[TABLE_RUNS_MAX]; /* if all are in use, the smaller half is merged */
    size_t count;                          /* of runs */
    size_t next;                           /* the partition that leaves next */
    uint64_t total;                        /* the sum of all counts in runs, modulo 2^64 */
};

/* Rows of a run that were read last, in blocks by their numbers modulo TABLE_CACHE_BLOCKS. */
#define TABLE_CACHE_BLOCKS 32
struct table_cache {
    pthread_mutex_t lock;                /* guards what follows */
    uint64_t blocks[TABLE_CACHE_BLOCKS]; /* their numbers plus 1; 0: none */
    int read_errno;                      /* why rows could not be read, or 0 */
    uint64_t rows[];                     /* [TABLE_CACHE_BLOCKS][rows of a block] */
};

struct table {
    struct table_layout layout; /* const, like the next seven */
    bool has_counts;            /* the layout is table_counts */
    bool has_sums;              /* the layout is table_sums */
    size_t block_rows;          /* of a block */
    uint64_t bytes_max;
    const char *directory;
    struct stage *stage; /* or NULL; not owned */
    struct keyed_hash hash;
    struct table_blocks blocks;
    _Atomic unsigned writers;     /* open now */
    _Atomic unsigned writers_max; /* open at once */
    _Atomic uint64_t sets;        /* numbers given by table_new_set */
    _Atomic bool
        has_new_keys; /* over 3/5 of the keys that a partition packed last were different */
    _Atomic bool has_overflowed; /* rows did not fit when they were merged */
    struct table_partition partitions[TABLE_PARTITIONS];

    struct table_spill spill;

    /* Set by table_finalize. */
    uint64_t distinct;
    uint64_t total;
    uint64_t *sorted;          /* [distinct] rows, or NULL: not sorted */
    struct table_cache *cache; /* of spill.runs[0], which has all rows; NULL: they are in memory */
};

/*
 * Blocks that a writer fills alone, one for each partition. All full blocks end at the same offset
 * from a multiple of the bytes of blocks; where a partition has no block, `next` is that offset.
 */
struct table_filling {
    size_t words;                     /* of a row, or of a key with its value and weight */
    uintptr_t end;                    /* the offset */
    struct table_block *filled;       /* full blocks, which have yet to go to their partitions */
    uint64_t *next[TABLE_PARTITIONS]; /* where the next one goes */
};

struct table_writer {
    struct table *table;
    struct table_packer packer;
    struct table_slots local;       /* rows of keys that came lately */
    uint64_t local_look_ups;        /* since the local table was empty */
    uint64_t direct;                /* number of next keys that do not go to the local table */
    bool has_rows;                  /* `rows` has had blocks */
    struct table_filling rows;      /* of the local table */
    struct table_filling input;     /* keys with their values and weights */
    struct table_hot hot;           /* in a table of plain counts */
    uint64_t cold[TABLE_HOT_BLOCK]; /* keys that the hot table does not have */
};

/* The bytes of a row. */
static inline uint64_t table_row_bytes(const struct table *table)
{
    return table->layout.words * sizeof(uint64_t);
}

/* Adds up what came since in a partition, whose lock the caller holds, and packs the result. */
enum status table_partition_pack(struct table *table, struct table_partition *partition,
                                 struct table_packer *packer, struct failure *failure);

/* Like table_partition_pack, but only if the partition should be packed now. */
enum status table_partition_pack_due(struct table *table, struct table_partition *partition,
                                     struct table_packer *packer, struct failure *failure);

/* Takes the first block of a list, or NULL, and returns `done`, the one before, to the pool. */
struct table_block *table_list_next(struct table *table, struct table_packer *packer,
                                    struct table_list *list, struct table_block *done);

/* Frees what a packer holds. */
void table_packer_destroy(struct table *table, struct table_packer *packer);

/* Moves the rows of some partitions to a run if the table is full. Thread-safe, without a lock. */
enum status table_spill_some(struct table *table, struct table_packer *packer,
                             struct failure *failure);

/* Moves all rows to runs, and merges all runs into spill.runs[0]. No writer may be at work. */
enum status table_spill_all(struct table *table, struct failure *failure);

/* Returns whether rows in ascending order would take more memory than the table may. */
bool table_is_too_large(const struct table *table);

/* Frees all runs. */
void table_spill_destroy(struct table *table);

/*
 * Sorts entries[0..n) by key, with `spare` of the same size as scratch. Bytes that are equal in all
 * keys take no pass. Entries of equal keys keep their order. Thread-safe on distinct entries.
 */
void table_order_entries(struct table_entry *entries, size_t n, struct table_entry *spare);

/*
 * Sorts rows[0..n) by key, with n * table_order_spare_words words as scratch: their numbers are
 * sorted by each word of the key, the last one first, and then the rows are copied. Thread-safe on
 * distinct rows.
 */
void table_order_rows(const struct table_layout *layout, uint64_t *rows, size_t n, uint64_t *spare);

/* Pure. */
static inline size_t table_order_spare_words(const struct table_layout *layout)
{
    return layout->key_words == 1 && layout->words == 2 ? 2 : layout->words + 2;
}

/* Frees table->sorted and table->cache. */
void table_unsort(struct table *table);

/*
 * Stores all rows in ascending order in table->sorted, with ranks for numbers unless `ranks` is
 * NULL. Returns false if there is no memory; then the order is undefined.
 */
bool table_sort(struct table *table, const struct table_ranks *ranks);

#endif
