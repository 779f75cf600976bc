/*
 * A concurrent hash table that aggregates rows by key. A row is a key of one or more 64-bit words,
 * followed by a count or other words.
 *
 * A hash of the key selects one of 1,024 *partitions*. A partition has, in lists of blocks, rows of
 * distinct keys, the *packed* rows, and rows *added* since. When added rows take as much memory as
 * packed rows, a thread adds them up in a hash table that fits its L2 cache, moves the packed rows
 * of the same keys to it, and packs the result. Thus each key is copied few times.
 *
 * In a table of plain counts, new keys are *pending*, without counts, until they are packed. Each
 * writer counts frequent keys in a small table of its own (table_hot.h).
 *
 * Sources: V. Leis et al., "Morsel-Driven Parallelism" (SIGMOD 2014); I. Müller et al.,
 * "Cache-Efficient Aggregation: Hashing Is Sorting" (SIGMOD 2015). The hash has secret seeds, so
 * that nobody can construct input that collides.
 *
 * When the table exceeds its memory limit, it spills rows to sorted runs on disk (table_runs.h),
 * and table_finalize merges them.
 */
#ifndef GPUHIST_TABLE_H
#define GPUHIST_TABLE_H

#include "lib/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stage;
struct table;

/* The layout of rows. */
struct table_layout {
    size_t key_words; /* number of words of a key; compared as unsigned, the first word first */
    size_t words;     /* number of words of a row, including its key */
    bool has_zeros;   /* the first word after the key may be 0; else it is above 0 in every row */
    bool is_weighted; /* keys have weights, which are added to the first word after the key */
    /*
     * Adds the row `from` to a row with the same key. Returns false on overflow. Thread-safe on
     * distinct rows. NULL: all words after the key are counts, which are added.
     */
    bool (*merge)(const void *context, uint64_t *into, const uint64_t *from);
    /*
     * Keys have values: adds values[i] to rows[i], to the words after the key but the first, for n
     * rows, which may be repeated. Thread-safe on distinct rows. NULL: keys have no values.
     */
    void (*accumulate)(const void *context, uint64_t *const *rows, const uint64_t *values,
                       size_t n);
    const void *context;
    /*
     * [words]: the initial words of a new row (table_writer_accumulate), without those of the key
     * and the next word, which are unused. NULL: zeros. Must outlive the table.
     */
    const uint64_t *initial;
};

/* A row of the layout {1, 2}: plain counts. */
struct table_entry {
    uint64_t key;
    uint64_t count; /* above 0 */
};

/* Maximum number of words of a key with ranks. */
#define TABLE_RANKED_WORDS_MAX 130

/*
 * Creates an empty table with a copy of `layout`; NULL: plain counts. Its memory limit is `bytes`,
 * or somewhat more if that is very little. Beyond that it creates files in `directory`, a string
 * that must outlive it; NULL: in $TMPDIR or /tmp. Fails with STATUS_DATA, also if the layout has no
 * keys. The caller destroys the table.
 */
enum status table_create(struct table **table, const struct table_layout *layout, uint64_t bytes,
                         const char *directory, struct failure *failure);

/* Reports merges to a stage (stage.h), which must outlive the table. NULL: ends that. */
void table_set_stage(struct table *table, struct stage *stage);

/* Returns the memory limit in bytes. */
uint64_t table_bytes_max(const struct table *table);

/* Frees a table and its files. All writers must be closed. NULL is allowed. */
void table_destroy(struct table *table);

/* Number of upper bits of a key's hash (keyed_hash.h) that select its partition. */
#define TABLE_PARTITION_BITS 10
#define TABLE_PARTITIONS     ((size_t)1 << TABLE_PARTITION_BITS)

/* Copies the seeds of the hash (keyed_hash.h). Thread-safe. */
void table_seeds(const struct table *table, uint64_t seeds[3]);

/* A thread's access to a table. Writers of one table may work at the same time. */
struct table_writer;

/* Opens a writer. Fails with STATUS_DATA. The caller closes it. */
enum status table_writer_open(struct table *table, struct table_writer **writer,
                              struct failure *failure);

/* Frees a writer. Rows that it has not flushed are lost. NULL is allowed. */
void table_writer_close(struct table_writer *writer);

/*
 * Counts each of keys[0..n) once, in a table of plain counts: the fastest way. Fails with
 * STATUS_DATA if there is no memory, or if runs cannot be written.
 */
enum status table_writer_add(struct table_writer *writer, const uint64_t *keys, size_t n,
                             struct failure *failure);

/* Maximum number of keys of one call. */
#define TABLE_ACCUMULATE_MAX ((size_t)256)

/*
 * Adds weights[i], above 0 unless the layout has zeros, or without weights 1, to the first word
 * after the key of the row of key i, for n <= TABLE_ACCUMULATE_MAX keys, which are consecutive in
 * `keys` and may be repeated. If keys have values, adds these to the other words. The writer adds
 * up frequent keys in rows of its own. Errors as above.
 */
enum status table_writer_accumulate(struct table_writer *writer, const uint64_t *keys,
                                    const uint64_t *values, const uint64_t *weights, size_t n,
                                    struct failure *failure);

/*
 * Adds n rows of the layout, whose keys may be repeated; fastest if rows of a partition are
 * consecutive, and each thread has partitions of its own. Errors as above.
 */
enum status table_writer_add_rows(struct table_writer *writer, const void *rows, size_t n,
                                  struct failure *failure);

/*
 * Begins a set: rows whose keys are distinct, which several calls and threads may add. Returns its
 * number, above 0. Thread-safe.
 */
uint64_t table_new_set(struct table *table);

/*
 * Adds rows of a set. They are packed as they are, without a hash table, until their partition gets
 * keys or other rows. Set 0: rows of no set, whose keys may be repeated. Errors as above.
 */
enum status table_writer_add_distinct(struct table_writer *writer, uint64_t set, const void *rows,
                                      size_t n, struct failure *failure);

/* Receives entries of a table. May add to the table. */
typedef enum status table_take(void *context, const struct table_entry *entries, size_t n,
                               struct failure *failure);

/*
 * Removes all entries in memory of a partition of plain counts, whose number is below
 * TABLE_PARTITIONS, and passes them to `take`; keys may be repeated. Fails if `take` fails: the
 * entries that it has not taken are lost.
 */
enum status table_writer_drain(struct table_writer *writer, size_t partition, table_take *take,
                               void *context, struct failure *failure);

/* Moves all rows of the writer to the table. Errors as above. */
enum status table_writer_flush(struct table_writer *writer, struct failure *failure);

/* Returns the number of rows in memory; keys may be repeated. No writer may be at work. */
uint64_t table_held(const struct table *table);

/*
 * Returns the approximate number of rows in memory, from a sample of the partitions. It counts the
 * packed rows of each, or if there are none the others. Thread-safe, but not with table_finalize.
 */
uint64_t table_rows_about(struct table *table);

/* The order of a finalized table's rows. */
enum table_order {
    TABLE_ANY_ORDER,
    TABLE_ASCENDING, /* by key */
};

/*
 * Prepares a table for reading, with as many threads as it had concurrent writers. All writers must
 * have been flushed, and none may add meanwhile. If more is added later, the table must be
 * finalized again. Fails with STATUS_DATA if there is no memory, if runs cannot be written or read,
 * or if merged rows have overflowed.
 */
enum status table_finalize(struct table *table, enum table_order order, struct failure *failure);

/* String numbers in keys, and the ranks that replace them. */
struct table_ranks {
    const uint32_t *ranks; /* each number's rank; all are distinct; not owned */
    const bool *is_ranked; /* [key_words]: the words of keys that are numbers; not owned */
};

/*
 * Sorts the rows of a table that was finalized in any order, in ascending order, after replacing
 * numbers by ranks, which stay until the table is finalized again. Returns false and changes
 * nothing if the rows and their sorted copy exceed the memory limit or the machine's memory.
 */
bool table_order_ranked(struct table *table, const struct table_ranks *ranks);

/* Returns the number of threads that work on a whole table: that of its concurrent writers. */
unsigned table_threads(const struct table *table);

/*
 * Removes the entries with keys `first` to `last` from a table with rows of two words, finalized in
 * any order and in memory, and passes them to `take`, on up to table_threads threads. Their keys
 * are distinct. No other thread may use the table meanwhile. It must then be finalized again.
 */
void table_extract(struct table *table, uint64_t first, uint64_t last,
                   void (*take)(void *context, const struct table_entry *entries, size_t n),
                   void *context);

/* The functions below are for a finalized table, and thread-safe. */

/* Return the number of distinct keys, and the sum of the first words after them modulo 2^64. */
uint64_t table_distinct(const struct table *table);
uint64_t table_total(const struct table *table);

/* Returns whether all rows are in memory. Also for other tables, while no writer is at work. */
bool table_is_in_memory(const struct table *table);

/* A position among the rows. */
struct table_position {
    uint64_t next[4];
};

/* Starts at the first row. */
struct table_position table_begin(const struct table *table);

/*
 * Copies up to `capacity` rows, at least one if any are left, and advances the position. Returns
 * their number; 0 also if a run cannot be read (table_check).
 */
size_t table_read(const struct table *table, struct table_position *position, void *rows,
                  size_t capacity);

/* Starts at the first row of part `part` of `parts` equal parts, and ends with that part. */
struct table_position table_begin_part(const struct table *table, size_t part, size_t parts);

/* In ascending order: starts at row `index`, at most table_distinct. Otherwise undefined. */
struct table_position table_seek(const struct table *table, uint64_t index);

/*
 * In ascending order: returns row `index`, below table_distinct: its address in memory, or `row`
 * after copying it there. If it cannot be read (table_check), the copy is all zeros.
 */
const uint64_t *table_row(const struct table *table, uint64_t index, uint64_t *row);

/* Fails with STATUS_DATA if a row could not be read. */
enum status table_check(const struct table *table, struct failure *failure);

#endif
