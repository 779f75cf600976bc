/*
 * What is written during a run. The run owns it, and its plan, which is constant, and the plan of
 * each value column point to it.
 */
#ifndef GPUHIST_CONTEXT_H
#define GPUHIST_CONTEXT_H

#include "value/plan.h"

#include <stdatomic.h>

struct dictionary;
struct parse_errors;
struct stage;

/* What counts of the rows of a run. */
struct row_count {
    atomic_uint_least64_t sum; /* values of several columns, each as often as its weight says */
    atomic_bool is_too_large;  /* it would be 2^64 or more */
    atomic_uint_least64_t
        met; /* bit i: a row met condition i, tested after those before it in its
                alternative, which it met, and after alternatives that it did not */
};

/* All of it is thread-safe, but the memory, which is planned before threads start. */
struct context {
    struct row_count rows;
    atomic_uint_least64_t guesses[KIND_TIME_GUESSES]; /* of the times that were read */
    struct stage *stage;                 /* after the input; not owned; NULL: nobody looks */
    struct parse_errors *errors;         /* text: errors of parsing; owned by the run */
    enum invalid_policy invalid;         /* binary floats that are no numbers, or out of range: */
    atomic_uint_least64_t invalid_reals; /* how many there were, unless they end the run, */
    atomic_uint_least64_t invalid_first; /* and where the first of them begins in the stream */
    struct dictionary *dictionary;       /* of columns of strings; owned by the run; NULL: none */
    /* Memory (memory_plan.h); 0: the least, and for counter_bytes what is fastest. */
    uint64_t dictionary_bytes; /* of the dictionary */
    uint64_t table_bytes;      /* of each value column, for counts by value or group, and strings */
    uint64_t counter_bytes;    /* of each thread and value column, for counts in bins */
};

/* Returns the context of a plan; of one that no run has, an empty one. Thread-safe. */
const struct context *context_of(const struct plan *plan);

/* Returns the memory that the table of a plan without `singles` may take. Pure. */
uint64_t context_table_bytes(const struct plan *plan);

/* Adds the sum of the weights of some rows, below 2^96, to the rows of the context. Thread-safe. */
void context_add_weight(const struct plan *plan, unsigned __int128 weight);

/* Like context_add_weight, but adds weights[0..n), n <= 2^32; NULL: 1 for each. */
void context_add_rows(const struct plan *plan, const uint64_t *weights, size_t n);

/* Adds to the guesses of the context, and clears those that it adds. Thread-safe. */
void context_add_guesses(const struct plan *plan, struct kind_guesses *guesses);

/*
 * Adds a binary float at a position of the stream that is no number, or out of range. With
 * INVALID_ABORT it fails with STATUS_DATA instead, and that position. Thread-safe.
 */
enum status context_add_invalid_real(const struct plan *plan, double value, uint64_t position,
                                     struct failure *failure);

/* Notes in the context that rows met these conditions. Thread-safe. */
void context_note_met(const struct plan *plan, uint64_t met);

/*
 * Stores the sum. Fails with STATUS_DATA if it would be 2^64 or more; if not, no sum of some of the
 * weights has wrapped. Thread-safe.
 */
enum status context_get_rows(const struct plan *plan, uint64_t *total, struct failure *failure);

#endif
