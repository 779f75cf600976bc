/*
 * The job: what to compute, apart from where the input comes from, where the result goes and who
 * does the work. Everything that an engine may know. Const once made, shared by all threads.
 */
#ifndef GPUHIST_JOB_H
#define GPUHIST_JOB_H

#include "base/status.h"
#include "job/binning.h"
#include "job/element.h"
#include "job/predicate.h"
#include "job/reductions.h"
#include "job/text_rules.h"

/*
 * X(ID, name), one row an operation. Every table with a row for each of them is made from this
 * list: operation.c, cpu_engine.c, cuda_engine.c and print.c find in it operation_<name>,
 * cpu_<name>, cuda_<name> and print_<name>.
 */
#define OPERATIONS(X)                       \
    X(HISTOGRAM, histogram)                 \
    X(GROWING_HISTOGRAM, growing_histogram) \
    X(REDUCE, reduce)                       \
    X(COUNT, count)                         \
    X(STALIN_SORT, stalin_sort)

enum operation_id {
#define OPERATION_ENUM(id, name) OPERATION_##id,
    OPERATIONS(OPERATION_ENUM)
#undef OPERATION_ENUM
        OPERATION_IDS /* how many there are */
};

/* What becomes of values that fall in no bin. */
enum outside_policy {
    OUTSIDE_REPORT, /* counted apart and reported on stderr */
    OUTSIDE_ABORT,  /* an error */
    OUTSIDE_CLAMP,  /* counted in the first or last bin */
    OUTSIDE_IGNORE, /* dropped */
};

/* What becomes of tokens of text that are no integer of the type. */
enum invalid_policy {
    INVALID_ABORT,  /* the first one ends the run */
    INVALID_FAIL,   /* they are reported, and the status is 1 */
    INVALID_WARN,   /* they are reported */
    INVALID_IGNORE, /* they are skipped */
};

struct parse_errors;

/* What survives a stalin-sort: elements that are not less than all before them, unless ... */
struct stalin_sort_rules {
    bool strict;     /* ... they must be greater */
    bool descending; /* ... they must not be greater (strict: must be less) */
    bool purged;     /* the other elements are wanted, too */
};

struct job {
    enum operation_id operation;
    struct element element;
    bool is_text;                 /* else the input is binary */
    struct text_rules text;       /* of text */
    struct parse_errors *errors;  /* of text: what parsing it meets; thread-safe, not owned */
    struct binning binning;       /* histogram; owned */
    enum outside_policy outside;  /* histogram */
    bool needs_values;            /* histogram: it is an error if there are none */
    uint64_t bin_width;           /* growing histogram: of every bin; 0: automatic */
    struct reductions reductions; /* reduce */
    struct predicate *predicates; /* count: [predicate_count], owned */
    size_t predicate_count;
    struct stalin_sort_rules stalin_sort; /* stalin-sort */
};

/* Frees what the job owns. A job of zeros is allowed. */
void job_destroy(struct job *job);

/* Fails with STATUS_DATA if the job needs values and none was counted. */
enum status job_check_values(const struct job *job, bool has_values, struct failure *failure);

#endif
