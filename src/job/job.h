/*
 * The job: what to compute. It does not say where the input comes from, where the result goes or
 * which engine works. It is all that an engine may know. It is constant after its construction, and
 * all threads share it.
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
 * X(ID, name), one row for each operation: OPERATION_ID is its id, op_<name> its functions
 * (operation.h).
 */
#define OPERATIONS(X)       \
    X(HISTOGRAM, histogram) \
    X(UNIQ, uniq)           \
    X(REDUCE, reduce)       \
    X(COUNT, count)         \
    X(STALIN_SORT, stalin_sort)

enum operation_id {
#define OPERATION_ENUM(id, name) OPERATION_##id,
    OPERATIONS(OPERATION_ENUM)
#undef OPERATION_ENUM
        OPERATION_IDS /* the number of operations */
};

/* What happens to values that are in no bin. */
enum outside_policy {
    OUTSIDE_REPORT, /* counted separately and reported on stderr */
    OUTSIDE_ABORT,  /* the first one ends the run with an error */
    OUTSIDE_CLAMP,  /* counted in the first or last bin */
    OUTSIDE_IGNORE, /* dropped */
};

/* What happens to tokens of text that are not integers of the type. */
enum invalid_policy {
    INVALID_ABORT,  /* the first one ends the run */
    INVALID_FAIL,   /* they are reported, and the exit status is 1 */
    INVALID_WARN,   /* they are reported */
    INVALID_IGNORE, /* they are skipped */
};

struct parse_errors;
struct weight_sum;

/* What the second column (chunk.h) is for. */
enum second_use {
    SECOND_NONE,    /* there is none */
    SECOND_WEIGHTS, /* how many times the value beside it counts, 0 to 2^63 - 1 */
    SECOND_GROUPS,  /* the group that the value beside it belongs to */
};

/*
 * Which elements survive a stalin-sort: by default those not less than every survivor before them.
 */
struct stalin_sort_rules {
    bool strict;     /* survivors must be greater */
    bool descending; /* survivors must not be greater (strict: must be less) */
    bool purged;     /* the purged elements are also written */
};

struct job {
    char *line; /* of the options that define the job, for states (app/options.h); or NULL; owned */
    enum operation_id operation;
    struct element element;
    size_t record_bytes;  /* binary: of a record of which one element is a value; 0: none */
    size_t record_offset; /* binary: of the element in its record */
    enum second_use second;
    struct element second_element;   /* of the second column; of text: of 8 bytes, not swapped */
    size_t second_offset;            /* binary: of its element in the record */
    struct weight_sum *weights;      /* weights: their sum so far; thread-safe, not owned */
    bool is_text;                    /* text input; otherwise binary */
    struct text_rules text;          /* text: fields and delimiter */
    struct parse_errors *errors;     /* text: errors of parsing; thread-safe, not owned */
    bool is_automatic;               /* histogram: the values determine its bins */
    struct binning binning;          /* histogram, unless is_automatic; owned */
    enum outside_policy outside;     /* histogram */
    bool needs_values;               /* histogram: a run without values is an error */
    uint64_t bin_width;              /* uniq: the width of every bin, 1 for values */
    bool any_order;                  /* uniq, reduce: the result may be in any order */
    uint64_t buffer_bytes;           /* uniq, reduce: memory for counts */
    const char *temporary_directory; /* uniq, reduce: for counts that need more; not owned */
    struct reductions reductions;    /* reduce, and groups of it */
    struct predicate *predicates;    /* count, and groups of it: [predicate_count], owned */
    size_t predicate_count;
    struct stalin_sort_rules stalin_sort; /* stalin-sort */
};

/* Returns the bytes of binary input for each value. Pure. */
static inline size_t job_value_bytes(const struct job *job)
{
    return job->record_bytes > 0 ? job->record_bytes : job->element.bytes;
}

/* Returns the option that names the second column, for messages. Pure. */
const char *job_second_option(const struct job *job);

/*
 * Returns the rules of the second column, as if it were the only one, in a text of these rules. Its
 * values are decimal integers. Pure.
 */
struct text_rules job_second_rules(const struct job *job, const struct text_rules *rules);

/* Frees what the job owns. A zero-initialised job is allowed. Not thread-safe. */
void job_destroy(struct job *job);

/* Fails with STATUS_DATA if the job needs values and none was counted. Thread-safe. */
enum status job_check_values(const struct job *job, bool has_values, struct failure *failure);

#endif
