/*
 * The partial of operation reduce: exact sums, extremes and bits over all elements, and the text of
 * what is made from them. What a job does not need (reductions.h) stays as it is when empty.
 *
 * All sums are exact for any number of elements that 64 bits can count.
 */
#ifndef GPUHIST_REDUCE_H
#define GPUHIST_REDUCE_H

#include "base/ratio.h"
#include "base/status.h"
#include "base/wide.h"
#include "job/job.h"

#include <stddef.h>
#include <stdint.h>

struct reduce {
    uint64_t count;
    unsigned __int128 sum; /* modulo 2^128, which holds it: signed if the type is */
    struct wide squares;   /* below 2^192 */
    __int128 min;          /* greater than max if there is none */
    __int128 max;
    uint64_t and_bits; /* of the elements' keys (element.h) */
    uint64_t or_bits;
    uint64_t xor_bits;
};

/* A struct reduce of no elements. */
extern const struct reduce reduce_empty;

/* Adds what `from` holds to *into. Thread-safe on distinct ones. */
void reduce_merge(struct reduce *into, const struct reduce *from);

/* Whether it has that value: an empty stream has a count and a sum, and nothing else. */
bool reduce_has(const struct reduce *reduce, enum reduction_id id);

/* Room for the text of any value and a NUL. */
#define REDUCE_SIZE 48

/*
 * Writes a value that a finished struct reduce has: an integer in full, another one with 17
 * significant digits (ratio.h). No NUL; returns the length. Thread-safe.
 */
size_t reduce_write(char out[REDUCE_SIZE], const struct reduce *reduce,
                    const struct element *element, enum reduction_id id);

/* The shared partial, as operation_reduce creates it. */
struct reduce_shared;

/* Adds what `from` holds to the shared partial. Thread-safe. */
void reduce_share(struct reduce_shared *shared, const struct reduce *from);

/* What the shared partial holds; not while others add to it. */
const struct reduce *reduce_result(const struct reduce_shared *shared);

#endif
