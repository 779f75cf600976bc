/*
 * A table of 64-bit keys and their counts, for any keys and any number of threads.
 *
 * Keys are scattered by a hash to 1,024 *partitions*. A partition holds its distinct keys in lists
 * of blocks: *packed* entries, which are keys with counts, and *singles*, keys that have come once.
 * Two more lists have what came since: *pending* keys and *added* entries. When all of them take 28
 * bytes for each distinct key, a thread counts what came in a hash table that fits its L2 cache,
 * moves the packed entries and the singles of the same keys to it, and packs the result. A key thus
 * takes part in few passes. A key that comes often is counted by each writer in a small table of
 * its own (table_hot.h).
 *
 * Sources: V. Leis et al., "Morsel-Driven Parallelism" (SIGMOD 2014); I. Müller et al.,
 * "Cache-Efficient Aggregation: Hashing Is Sorting" (SIGMOD 2015). The hash has secret seeds, so
 * that no input can be made to collide.
 *
 * When the table takes more memory than it may, it moves its counts to sorted runs on disk
 * (table_runs.h), and table_settle merges them.
 */
#ifndef GPUHIST_TABLE_H
#define GPUHIST_TABLE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table;

struct table_entry {
    uint64_t key;
    uint64_t count; /* above 0 */
};

/*
 * Makes an empty table that may take `bytes` of memory, or somewhat more if that is very little; 0:
 * half of what is available.
 * Beyond that it makes files in `directory`, which must outlive it; NULL: in $TMPDIR or /tmp. Fails
 * with STATUS_DATA. The caller destroys it.
 */
enum status table_create(struct table **table, uint64_t bytes, const char *directory,
                         struct failure *failure);

/* The memory that it may take. */
uint64_t table_bytes_most(const struct table *table);

/* Frees a table and its files. All writers must be closed. NULL is allowed. */
void table_destroy(struct table *table);

/* Keys belong to partitions by the upper bits of their hash (keyed_hash.h). */
#define TABLE_PARTITION_BITS 10
#define TABLE_PARTITIONS     ((size_t)1 << TABLE_PARTITION_BITS)

/* Copies the seeds of the hash (keyed_hash.h). Thread-safe. */
void table_seeds(const struct table *table, uint64_t seeds[3]);

/* A thread's access to a table. Writers of one table may work at the same time. */
struct table_writer;

/* Makes a writer. Fails with STATUS_DATA. The caller closes it. */
enum status table_writer_open(struct table *table, struct table_writer **writer,
                              struct failure *failure);

/* Frees a writer. What it has not flushed is lost. NULL is allowed. */
void table_writer_close(struct table_writer *writer);

/*
 * Counts each of keys[0..n) once. Fails with STATUS_DATA if there is no memory, or if runs cannot
 * be written.
 */
enum status table_writer_add(struct table_writer *writer, const uint64_t *keys, size_t n,
                             struct failure *failure);

/*
 * Adds counts to keys, which may be repeated. Fails likewise. Entries are added fastest if those of
 * one partition follow each other, and each thread has partitions of its own.
 */
enum status table_writer_add_counts(struct table_writer *writer, const struct table_entry *entries,
                                    size_t n, struct failure *failure);

/*
 * Begins a set: entries whose keys are distinct, which may come in several calls and from several
 * threads. Returns its number, above 0. Thread-safe.
 */
uint64_t table_new_set(struct table *table);

/*
 * Adds entries of a set. They are packed as they are, without a hash table, until keys or other
 * entries come to their partition. Set 0: entries of no set, whose keys may be repeated. Fails
 * likewise.
 */
enum status table_writer_add_distinct(struct table_writer *writer, uint64_t set,
                                      const struct table_entry *entries, size_t n,
                                      struct failure *failure);

/* Takes some of a table's entries. May add to the table. */
typedef enum status table_take(void *context, const struct table_entry *entries, size_t n,
                               struct failure *failure);

/*
 * Removes all that is in memory of a partition, whose number is below TABLE_PARTITIONS, and passes
 * it to `take`; keys may be repeated. Fails as `take` does, and what it has not taken is lost.
 */
enum status table_writer_drain(struct table_writer *writer, size_t partition, table_take *take,
                               void *context, struct failure *failure);

/* Moves all that the writer holds to the table. Fails likewise. */
enum status table_writer_flush(struct table_writer *writer, struct failure *failure);

/*
 * The number of entries in memory, which may have the same keys. All writers must have been
 * flushed, and none may be at work.
 */
uint64_t table_held(const struct table *table);

/* The order of a settled table's entries. */
enum table_order {
    TABLE_ANY_ORDER,
    TABLE_ASCENDING, /* by key, unsigned */
};

/*
 * Prepares a table for reading, with as many threads as it has had writers at once. All writers
 * must have been flushed, and none may add meanwhile. More may be added later, and then the table
 * is settled again. Fails with STATUS_DATA if there is no memory, if runs cannot be written or
 * read, or if a count does not fit in 64 bits.
 */
enum status table_settle(struct table *table, enum table_order order, struct failure *failure);

/*
 * Removes the entries whose keys are `first` to `last` from a table that was settled in any order
 * and is in memory, and passes them to `take`, which several threads may call at once. No other
 * thread may use the table meanwhile. The table must then be settled again.
 */
void table_extract(struct table *table, uint64_t first, uint64_t last,
                   void (*take)(void *context, const struct table_entry *entries, size_t n),
                   void *context);

/*
 * The rest is for a settled table. All are thread-safe.
 */

/* The number of distinct keys, and the sum of their counts modulo 2^64. */
uint64_t table_distinct(const struct table *table);
uint64_t table_total(const struct table *table);

/* Whether all entries are in memory. */
bool table_is_in_memory(const struct table *table);

/* A position among the entries. */
struct table_position {
    uint64_t next[4];
};

/* Starts at the first entry. */
struct table_position table_begin(const struct table *table);

/*
 * Reads up to `room` entries, at least one if any are left, and advances the position. Returns how
 * many; 0 also if a run cannot be read (table_check).
 */
size_t table_read(const struct table *table, struct table_position *position,
                  struct table_entry *entries, size_t room);

/*
 * Starts at the first entry of part `part` of `parts` parts, which are about equal, and ends with
 * that part.
 */
struct table_position table_begin_part(const struct table *table, size_t part, size_t parts);

/*
 * In ascending order: starts at entry `index`, at most table_distinct. Otherwise undefined.
 */
struct table_position table_seek(const struct table *table, uint64_t index);

/* Fails with STATUS_DATA if table_read has failed. */
enum status table_check(const struct table *table, struct failure *failure);

#endif
