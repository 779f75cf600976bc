/*
 * A hash table for all that is counted by key, for any keys and any number of threads. A row is a
 * key of one or more words of 64 bits, and after it what is known of it: a count, or more words.
 *
 * Rows are scattered by a hash of their keys to 1,024 *partitions*. A partition holds rows of
 * distinct keys, the *packed* ones, in lists of blocks, and rows that were *added* since. When
 * these take as much memory as the packed ones, a thread adds them up in a hash table that fits its
 * L2 cache, moves the packed rows of the same keys to it, and packs the result. A key thus takes
 * part in few passes.
 *
 * In a table of plain counts, keys are *pending* as they came, without counts, until they are
 * packed. A key that comes often is counted by each writer in a small table of its own
 * (table_hot.h).
 *
 * Sources: V. Leis et al., "Morsel-Driven Parallelism" (SIGMOD 2014); I. Müller et al.,
 * "Cache-Efficient Aggregation: Hashing Is Sorting" (SIGMOD 2015). The hash has secret seeds, so
 * that no input can be chosen to collide.
 *
 * When the table takes more memory than it may, it moves rows to sorted runs on disk
 * (table_runs.h), and table_finalize merges them.
 */
#ifndef GPUHIST_TABLE_H
#define GPUHIST_TABLE_H

#include "lib/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stage;
struct table;

/* The words of rows. */
struct table_layout {
    size_t key_words; /* compared as unsigned words, the first one first */
    size_t words;     /* of a row, with its key */
    bool has_zeros;   /* the first word after the key may be 0; else it is above 0 in every row */
    bool is_weighted; /* keys come with weights, which are added to the first word after them */
    /*
     * Adds the row `from` to another one of the same key. Returns false if something does not fit.
     * Thread-safe on distinct rows. NULL: all words after the key are counts, which are added.
     */
    bool (*merge)(const void *context, uint64_t *into, const uint64_t *from);
    /*
     * Keys come with values: adds values[i] to the words after the first one after the key of
     * rows[i], for n rows, which may be repeated. Thread-safe on distinct rows. NULL: they do not.
     */
    void (*accumulate)(const void *context, uint64_t *const *rows, const uint64_t *values,
                       size_t n);
    const void *context;
    /*
     * [words]: the first values of a new row (table_writer_accumulate); those of the key and of the
     * word after it are not used. NULL: zeros. It must outlive the table.
     */
    const uint64_t *initial;
};

/* A row of the layout {1, 2}: plain counts. */
struct table_entry {
    uint64_t key;
    uint64_t count; /* above 0 */
};

/* The most words of a key with ranks. */
#define TABLE_RANKED_WORDS_MAX 130

/*
 * Creates an empty table of a layout, which is copied; NULL: of plain counts. It may take `bytes`
 * of memory, or somewhat more if that is very little. Beyond that it creates files in `directory`,
 * which must outlive it; NULL: in $TMPDIR or /tmp. Fails with STATUS_DATA, also if the layout has
 * no keys. The caller destroys it.
 */
enum status table_create(struct table **table, const struct table_layout *layout, uint64_t bytes,
                         const char *directory, struct failure *failure);

/* Reports merges to a stage (stage.h), which must outlive the table. NULL: no longer. */
void table_set_stage(struct table *table, struct stage *stage);

/* The memory that it may take. */
uint64_t table_bytes_max(const struct table *table);

/* Frees a table and its files. All writers must be closed. NULL is allowed. */
void table_destroy(struct table *table);

/* Keys belong to partitions by the upper bits of their hash (keyed_hash.h). */
#define TABLE_PARTITION_BITS 10
#define TABLE_PARTITIONS     ((size_t)1 << TABLE_PARTITION_BITS)

/* Copies the seeds of the hash (keyed_hash.h). Thread-safe. */
void table_seeds(const struct table *table, uint64_t seeds[3]);

/* A thread's access to a table. Writers of one table may work at the same time. */
struct table_writer;

/* Opens a writer. Fails with STATUS_DATA. The caller closes it. */
enum status table_writer_open(struct table *table, struct table_writer **writer,
                              struct failure *failure);

/* Frees a writer. What it has not flushed is lost. NULL is allowed. */
void table_writer_close(struct table_writer *writer);

/*
 * Counts each of keys[0..n) once, in a table of plain counts: the quickest way. Fails with
 * STATUS_DATA if there is no memory, or if runs cannot be written.
 */
enum status table_writer_add(struct table_writer *writer, const uint64_t *keys, size_t n,
                             struct failure *failure);

/* The maximum of keys of one call. */
#define TABLE_ACCUMULATE_MAX ((size_t)256)

/*
 * Adds weights[i], above 0 unless the layout has zeros, to the first word after the key of the row
 * of key i, for n <= TABLE_ACCUMULATE_MAX keys, which follow each other in `keys` and may be
 * repeated; 1 if keys come without weights. If they come with values, these are added to the other
 * words. Frequent keys are added up in rows of the writer's own. Errors as above.
 */
enum status table_writer_accumulate(struct table_writer *writer, const uint64_t *keys,
                                    const uint64_t *values, const uint64_t *weights, size_t n,
                                    struct failure *failure);

/*
 * Adds n rows of the layout, whose keys may be repeated; fastest if those of one partition follow
 * each other, and each thread has partitions of its own. Errors as above.
 */
enum status table_writer_add_rows(struct table_writer *writer, const void *rows, size_t n,
                                  struct failure *failure);

/*
 * Begins a set: rows whose keys are distinct, which may come in several calls and from several
 * threads. Returns its number, above 0. Thread-safe.
 */
uint64_t table_new_set(struct table *table);

/*
 * Adds rows of a set. They are packed as they are, without a hash table, until keys or other rows
 * come to their partition. Set 0: rows of no set, whose keys may be repeated. Errors as above.
 */
enum status table_writer_add_distinct(struct table_writer *writer, uint64_t set, const void *rows,
                                      size_t n, struct failure *failure);

/* Takes some of a table's entries. May add to the table. */
typedef enum status table_take(void *context, const struct table_entry *entries, size_t n,
                               struct failure *failure);

/*
 * Removes all that is in memory of a partition of plain counts, whose number is below
 * TABLE_PARTITIONS, and passes it to `take`; keys may be repeated. Fails as `take` does, and what
 * it has not taken is lost.
 */
enum status table_writer_drain(struct table_writer *writer, size_t partition, table_take *take,
                               void *context, struct failure *failure);

/* Moves all that the writer holds to the table. Errors as above. */
enum status table_writer_flush(struct table_writer *writer, struct failure *failure);

/* The number of rows in memory, which may have the same keys. No writer may be at work. */
uint64_t table_held(const struct table *table);

/*
 * Returns about how many rows are in memory: of a sample of the partitions, of each the packed
 * ones, or what came if none are packed yet. Thread-safe, but not with table_finalize.
 */
uint64_t table_rows_about(struct table *table);

/* The order of a finalized table's rows. */
enum table_order {
    TABLE_ANY_ORDER,
    TABLE_ASCENDING, /* by key */
};

/*
 * Prepares a table for reading, with as many threads as it has had writers at once. All writers
 * must have been flushed, and none may add meanwhile. More may be added later, and then the table
 * is finalized again. Fails with STATUS_DATA if there is no memory, if runs cannot be written or
 * read, or if rows of a key did not fit when they were merged.
 */
enum status table_finalize(struct table *table, enum table_order order, struct failure *failure);

/* Numbers in keys, and what is read in their place. */
struct table_ranks {
    const uint32_t *ranks;                  /* of each number; all are distinct */
    bool is_ranked[TABLE_RANKED_WORDS_MAX]; /* which words of the keys are numbers */
};

/*
 * Puts the rows of a table that was finalized in any order into ascending order, in which rows have
 * ranks in place of numbers until they are finalized again. Returns false if they, and their copy
 * in order, are too large for the memory that the table may take, or for the machine: then nothing
 * has changed.
 */
bool table_order_ranked(struct table *table, const struct table_ranks *ranks);

/* How many threads work at once on all of a table: as many as it has had writers at once. */
unsigned table_threads(const struct table *table);

/*
 * Removes the entries whose keys are `first` to `last` from a table with rows of two words that was
 * finalized in any order and is in memory, and passes them to `take`, on table_threads threads at
 * most. Their keys are distinct. No other thread may use the table meanwhile. It must then be
 * finalized again.
 */
void table_extract(struct table *table, uint64_t first, uint64_t last,
                   void (*take)(void *context, const struct table_entry *entries, size_t n),
                   void *context);

/* The rest is for a finalized table. All are thread-safe. */

/* The number of distinct keys, and the sum of the first words after them modulo 2^64. */
uint64_t table_distinct(const struct table *table);
uint64_t table_total(const struct table *table);

/* Returns whether all rows are in memory. May be called before, while no writer is at work. */
bool table_is_in_memory(const struct table *table);

/* A position among the rows. */
struct table_position {
    uint64_t next[4];
};

/* Starts at the first row. */
struct table_position table_begin(const struct table *table);

/*
 * Copies up to `capacity` rows, at least one if any are left, and advances the position. Returns
 * how many; 0 also if a run cannot be read (table_check).
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
