/*
 * The context: the mutable state of a run. The run owns it; the plan, which is constant, and the
 * plans of single value columns point to it.
 */
#ifndef GPUHIST_CONTEXT_H
#define GPUHIST_CONTEXT_H

#include "value/plan.h"

#include <stdatomic.h>

struct dictionary;
struct parse_errors;
struct stage;

/* Totals over the rows of a run. */
struct row_count {
    atomic_uint_least64_t sum; /* plan_has_rows: number of values, or sum of weights */
    atomic_bool is_too_large;  /* the sum would be 2^64 or more */
    /* bit i: a row met condition i. Only rows that fail all earlier alternatives, and meet the
       earlier conditions of its own, test it. */
    atomic_uint_least64_t met;
};

/* Thread-safe, except the memory limits, which are set before threads start. */
struct context {
    struct row_count rows;
    atomic_uint_least64_t guesses[KIND_TIME_GUESSES]; /* number of timestamps with each guess */
    struct stage *stage;                 /* progress after the input; not owned; NULL: unused */
    struct parse_errors *errors;         /* text: invalid tokens; owned by the run */
    enum invalid_policy invalid;         /* for binary floats that are NaN or out of range */
    atomic_uint_least64_t invalid_reals; /* number of such floats, unless one ended the run */
    atomic_uint_least64_t invalid_first; /* offset of the first such float in the stream */
    struct dictionary *dictionary;       /* of string columns; owned by the run; NULL: none */
    /* Memory limits in bytes (memory_plan.h); 0: the minimum, for counter_bytes the fastest. */
    uint64_t dictionary_bytes; /* for the dictionary */
    uint64_t table_bytes;      /* per value column, for counts by value or group, and strings */
    uint64_t counter_bytes;    /* per thread and value column, for counts in bins */
};

/* Returns the context of a plan; an empty one if the plan has no run. Thread-safe. */
const struct context *context_of(const struct plan *plan);

/* Returns the memory limit of the table of a plan without `singles`, in bytes. Pure. */
uint64_t context_table_bytes(const struct plan *plan);

/* Adds the sum of the weights of some rows, below 2^96, to context->rows. Thread-safe. */
void context_add_weight(const struct plan *plan, unsigned __int128 weight);

/* Like context_add_weight, but adds weights[0..n), n <= 2^32; NULL: 1 for each. */
void context_add_rows(const struct plan *plan, const uint64_t *weights, size_t n);

/* Adds the guesses to those of the context, and clears them. Thread-safe. */
void context_add_guesses(const struct plan *plan, struct kind_guesses *guesses);

/*
 * Counts a binary float, at a position in the stream, that is NaN or out of range. With
 * INVALID_ABORT, fails instead with STATUS_DATA and names the position. Thread-safe.
 */
enum status context_add_invalid_real(const struct plan *plan, double value, uint64_t position,
                                     struct failure *failure);

/* Notes in the context that rows met these conditions. Thread-safe. */
void context_note_met(const struct plan *plan, uint64_t met);

/*
 * Stores rows.sum. Fails with STATUS_DATA if it would be 2^64 or more; otherwise no partial sum of
 * the weights has wrapped. Thread-safe.
 */
enum status context_get_rows(const struct plan *plan, uint64_t *total, struct failure *failure);

#endif
