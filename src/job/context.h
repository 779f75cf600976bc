/*
 * What is written during a run. The run owns it, and its job, which is constant, and the job of
 * each value column point to it.
 */
#ifndef GPUHIST_CONTEXT_H
#define GPUHIST_CONTEXT_H

#include "job/job.h"

#include <stdatomic.h>

struct dictionary;
struct parse_errors;
struct stage;

/* What counts of the rows of a run. */
struct row_count {
    atomic_uint_least64_t sum; /* values of several columns, each as often as its weight says */
    atomic_bool is_too_large;  /* it would be 2^64 or more */
    atomic_size_t met; /* conditions, from the first on, that one row met: the most of any row */
};

/* All of it is thread-safe, but the memory, which is planned before threads start. */
struct context {
    struct row_count rows;
    atomic_uint_least64_t guesses[KIND_TIME_GUESSES]; /* of the times that were read */
    struct stage *stage;           /* after the input; not owned; NULL: nobody looks */
    struct parse_errors *errors;   /* text: errors of parsing; owned by the run */
    struct dictionary *dictionary; /* of columns of texts; owned by the run; NULL: none */
    /* Memory (memory_plan.h); 0: the least, and for counter_bytes what is fastest. */
    uint64_t dictionary_bytes; /* of the dictionary */
    uint64_t table_bytes;      /* of each value column, for counts by value or group, and texts */
    uint64_t counter_bytes;    /* of each thread and value column, for counts in bins */
};

/* Returns the context of a job; of one that no run has, an empty one. Thread-safe. */
const struct context *context_of(const struct job *job);

/* Returns the memory that the table of a job without `singles` may take. Pure. */
uint64_t context_table_bytes(const struct job *job);

#endif
