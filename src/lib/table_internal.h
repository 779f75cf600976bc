/* Shared by the files of the table: partitions, writers and spilled rows. */
#ifndef GPUHIST_TABLE_INTERNAL_H
#define GPUHIST_TABLE_INTERNAL_H

#include "lib/table.h"
#include "lib/table_blocks.h"
#include "lib/table_hot.h"
#include "lib/table_rows.h"
#include "lib/table_runs.h"

#include <stdbool.h>

/* The message if there is less memory than the table's limit. */
#define TABLE_NO_MEMORY "not enough memory for counts (try a smaller -S)"

/* A list of blocks, and the number of their keys or rows. */
struct table_list {
    struct table_block *blocks;
    uint64_t used;
};

/* A part of the keys, by their hash. */
struct table_partition {
    pthread_mutex_t lock;      /* guards the members below */
    struct table_list packed;  /* rows of distinct keys */
    struct table_list pending; /* keys added since, with their values and weights */
    struct table_list added;   /* rows added since */
    uint64_t total;            /* the sum of the packed counts, modulo 2^64 */
    uint64_t only;             /* the set of all packed rows; 0: they are not of one set */
} __attribute__((aligned(128)));

/* A thread's memory for packing partitions. Zero-initialised at first. */
struct table_packer {
    struct table_block_cache blocks;
    struct table_slots slots;
};

/* Spilled rows. */
struct table_spill {
    pthread_mutex_t lock;                  /* guards the members below */
    struct table_run runs[TABLE_RUNS_MAX]; /* if all are in use, the smaller half is merged */
    size_t count;                          /* number of runs */
    size_t next;                           /* the partition that is spilled next */
    uint64_t total;                        /* the sum of all counts in runs, modulo 2^64 */
};

/* A cache of the rows of a run, in blocks by their numbers modulo TABLE_CACHE_BLOCKS. */
#define TABLE_CACHE_BLOCKS 32
struct table_cache {
    pthread_mutex_t lock;                /* guards the members below */
    uint64_t blocks[TABLE_CACHE_BLOCKS]; /* the numbers of the blocks plus 1; 0: none */
    int read_errno;                      /* why rows could not be read, or 0 */
    uint64_t rows[];                     /* [TABLE_CACHE_BLOCKS][rows of a block] */
};

struct table {
    struct table_layout layout; /* this and the next seven members are constant */
    bool has_counts;            /* the layout is table_counts */
    bool has_sums;              /* the layout is table_sums */
    size_t block_rows;          /* number of rows of a block */
    uint64_t bytes_max;
    const char *directory;
    struct stage *stage; /* reports merges; NULL: unused; not owned */
    struct keyed_hash hash;
    struct table_blocks blocks;
    _Atomic unsigned writers;     /* number of open writers */
    _Atomic unsigned writers_max; /* maximum number of writers open at once */
    _Atomic uint64_t sets;        /* the last number given by table_new_set */
    _Atomic bool has_new_keys;    /* over 3/5 of the keys in the last packing were distinct */
    _Atomic bool has_overflowed;  /* merged rows have overflowed */
    struct table_partition partitions[TABLE_PARTITIONS];

    struct table_spill spill;

    /* Set by table_finalize. */
    uint64_t distinct;
    uint64_t total;
    uint64_t *sorted;          /* [distinct] rows, owned; NULL: not sorted */
    struct table_cache *cache; /* for spill.runs[0], which has all rows; NULL: all are in memory */
};

/*
 * Blocks that one writer fills, one for each partition. All full blocks end at the same offset from
 * a multiple of the block size; if a partition has no block, `next` is that offset.
 */
struct table_filling {
    size_t words;                     /* words of a row, or of a key with its value and weight */
    uintptr_t end;                    /* the offset of the ends of full blocks */
    struct table_block *filled;       /* full blocks, not yet moved to their partitions */
    uint64_t *next[TABLE_PARTITIONS]; /* the place of the next row or key */
};

struct table_writer {
    struct table *table;
    struct table_packer packer;
    struct table_slots local;       /* the local table: rows of recent keys */
    uint64_t local_look_ups;        /* number of look-ups since the local table was empty */
    uint64_t direct;                /* number of next keys that bypass the local table */
    bool has_rows;                  /* `rows` has had blocks */
    struct table_filling rows;      /* rows from the local table */
    struct table_filling input;     /* keys with their values and weights */
    struct table_hot hot;           /* tables of plain counts: the hot table */
    uint64_t cold[TABLE_HOT_BLOCK]; /* keys that the hot table does not have */
};

/* Returns the size of a row in bytes. */
static inline uint64_t table_row_bytes(const struct table *table)
{
    return table->layout.words * sizeof(uint64_t);
}

/* Adds up the new keys and rows of a partition, whose lock the caller holds, and packs the result.
 */
enum status table_partition_pack(struct table *table, struct table_partition *partition,
                                 struct table_packer *packer, struct failure *failure);

/* Like table_partition_pack, but only if the partition should be packed now. */
enum status table_partition_pack_due(struct table *table, struct table_partition *partition,
                                     struct table_packer *packer, struct failure *failure);

/* Returns the first block of a list, or NULL, and gives `done`, the block before, to the pool. */
struct table_block *table_list_next(struct table *table, struct table_packer *packer,
                                    struct table_list *list, struct table_block *done);

/* Frees the memory of a packer. */
void table_packer_destroy(struct table *table, struct table_packer *packer);

/* Moves the rows of some partitions to a run if the table is full. Thread-safe, without a lock. */
enum status table_spill_some(struct table *table, struct table_packer *packer,
                             struct failure *failure);

/* Moves all rows to runs, and merges all runs into spill.runs[0]. No writer may be at work. */
enum status table_spill_all(struct table *table, struct failure *failure);

/* Returns whether rows in ascending order would exceed the memory limit. */
bool table_is_too_large(const struct table *table);

/* Frees all runs. */
void table_spill_destroy(struct table *table);

/*
 * Sorts entries[0..n) by key, with `spare` of the same size as scratch. Bytes that are equal in all
 * keys need no pass. Entries of equal keys keep their order. Thread-safe on distinct entries.
 */
void table_order_entries(struct table_entry *entries, size_t n, struct table_entry *spare);

/*
 * Sorts rows[0..n) by key, with n * table_order_spare_words words as scratch. It sorts their
 * indices by each word of the key, the last one first, and then copies the rows. Thread-safe on
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
