/*
 * The partial of reduce and count with --by: for each different value of another column, the
 * *group*, what reduce or count computes. It is a hash table of rows (groups_row.h) in partitions,
 * by the upper bits of the hash.
 *
 * Each thread adds values to a small table of its own, which stays in its L2 cache, and merges that
 * into the partitions when it is full: V. Leis et al., "Morsel-Driven Parallelism" (SIGMOD 2014).
 * The hash has secret seeds, so that no input can be made to collide. All rows are in memory.
 */
#ifndef GPUHIST_GROUPS_H
#define GPUHIST_GROUPS_H

#include "base/keyed_hash.h"
#include "base/status.h"
#include "count/groups_table.h"

struct groups;

/* Create, finish and destroy a struct groups, as operation.h says. The job must outlive it. */
void *groups_create(const struct job *job, struct failure *failure);
enum status groups_finish(void *groups, const struct job *job, uint64_t elements,
                          struct failure *failure);
void groups_destroy(void *groups);

/* A thread's part. Writers of one partial may work at the same time. */
struct groups_writer {
    struct groups *groups;
    struct groups_table table;
};

/*
 * Makes an empty writer of a zero-initialised struct. Fails with STATUS_DATA if there is no memory.
 * The caller closes it, also after a failure.
 */
enum status groups_writer_open(struct groups *groups, struct groups_writer *writer,
                               struct failure *failure);

/* Frees what a writer holds. What it has not flushed is lost. */
void groups_writer_close(struct groups_writer *writer);

/* The most values that are added at once. */
#define GROUPS_WRITER_BLOCK ((size_t)256)

/*
 * Adds keys[0..n) (element.h), at most a block, each to its group. Fails with STATUS_DATA if the
 * groups take more memory than they may.
 */
enum status groups_writer_add(struct groups_writer *writer, const uint64_t *groups,
                              const uint64_t *keys, size_t n, struct failure *failure);

/* Moves all that the writer holds to the partial. Fails likewise. */
enum status groups_writer_flush(struct groups_writer *writer, struct failure *failure);

/* The words of a row. Thread-safe. */
size_t groups_words(const struct groups *groups);

/* Merges a row in use into the partial. Fails likewise. Thread-safe. */
enum status groups_add_row(struct groups *groups, const uint64_t *row, struct failure *failure);

/*
 * The rest is for a finished partial. All are thread-safe.
 */

/* The number of groups, and of the values in all of them. */
size_t groups_count(const struct groups *groups);
uint64_t groups_elements(const struct groups *groups);

/* The row of group i, in ascending order. */
const uint64_t *groups_row(const struct groups *groups, size_t i);

#endif
