/*
 * The partial of operation reduce: exact sums, extremes and bitwise results of all elements, the
 * partial of uniq if a reduction takes a table of the distinct ones (distinct, mode, median and
 * quantiles), and the text of the reductions computed from them. Members that the job does not need
 * (reductions.h) keep their values of reduce_empty.
 *
 * Sums are exact for up to 2^64 - 1 elements.
 */
#ifndef GPUHIST_REDUCE_H
#define GPUHIST_REDUCE_H

#include "base/ratio.h"
#include "base/status.h"
#include "base/wide.h"
#include "job/job.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct uniq;

struct reduce {
    uint64_t count;
    unsigned __int128 sum; /* modulo 2^128; never wraps; two's complement if the type is signed */
    struct wide squares;   /* the sum of the squares, below 2^192 */
    __int128 min;          /* greater than max if there are no elements */
    __int128 max;
    uint64_t and_bits; /* of the elements' keys (element.h) */
    uint64_t or_bits;
    uint64_t xor_bits;
};

/* A struct reduce of no elements. */
extern const struct reduce reduce_empty;

/* Adds `from` to *into. Thread-safe on distinct structs. */
void reduce_merge(struct reduce *into, const struct reduce *from);

/* Whether a reduction has a value: of an empty stream only count, sum and distinct have. Pure. */
bool reduce_has(const struct reduce *reduce, enum reduction_id id);

/* The size of the text of any value and a NUL. */
#define REDUCE_SIZE ELEMENT_TEXT_SIZE

/*
 * Writes the value of a reduction that needs no table, and that reduce_has: an integer in full,
 * others with 17 significant digits (ratio.h), without a NUL. Returns the length. Thread-safe.
 */
size_t reduce_write_value(char out[REDUCE_SIZE], const struct reduce *reduce,
                          const struct element *element, enum reduction_id id);

/*
 * What a reduction that takes a table of distinct values found: of distinct their number; of others
 * keys (element.h), undefined if there are no elements: the mode, or the quantile's value, with
 * --interpolate also the value after it; of iqr those of both quartiles.
 */
struct reduce_found {
    uint64_t keys[4];
};

/* The partial, shared by all workers. */
struct reduce_shared {
    pthread_mutex_t mutex; /* for reduce_share; the table guards itself */
    struct reduce reduce;
    struct uniq *uniq; /* to which workers add all elements, as uniq does; NULL: none is needed */
    struct reduce_found found[REDUCTIONS_MAX]; /* by number of the reduction; set by finalize */
};

/* Create, finalize and destroy a struct reduce_shared, as operation.h says. */
void *reduce_create(const struct job *job, struct failure *failure);
enum status reduce_finalize(void *shared, const struct job *job, uint64_t elements,
                            struct failure *failure);
void reduce_destroy(void *shared);

/* Adds `from` to the shared partial. Thread-safe. */
void reduce_share(struct reduce_shared *shared, const struct reduce *from);

struct rows;

/*
 * Finds the reductions of a job that take a table of distinct values: `rows` are these values in
 * ascending order, each of width 1, and their counts, which add up to `elements`. Stores what it
 * finds in found[i] for reduction i, for all reductions of the job. Thread-safe.
 */
void reduce_find(const struct job *job, struct rows rows, uint64_t elements,
                 struct reduce_found *found);

/* Adds rows, likewise, to *into. Thread-safe. */
void reduce_add_rows(struct reduce *into, struct rows rows);

/* Writes the value of reduction `i` of the job, which it must have; `found` as of reduce_find. */
size_t reduce_write_found(char out[REDUCE_SIZE], const struct reduce *reduce,
                          const struct reduce_found *found, const struct job *job, unsigned i);

#endif
