/*
 * The plan: what to compute, and all that an engine may know. It is constant after its
 * construction, and all threads share it. What a run writes is in its context.
 */
#ifndef GPUHIST_PLAN_H
#define GPUHIST_PLAN_H

#include "lib/host_device.h"
#include "lib/status.h"
#include "value/binning.h"
#include "value/element.h"
#include "value/kind_time.h"
#include "value/kind_time_bucket.h"
#include "value/predicate.h"
#include "value/reductions.h"
#include "value/text_rules.h"

/* What users name on the command line: X(ID, name). */
#define OPERATIONS(X)         \
    X(HISTOGRAM, "histogram") \
    X(UNIQ, "uniq")           \
    X(REDUCE, "reduce")       \
    X(COUNT, "count")         \
    X(STALIN_SORT, "stalin-sort")

enum operation_id {
#define OPERATION_ENUM(id, name) OPERATION_##id,
    OPERATIONS(OPERATION_ENUM)
#undef OPERATION_ENUM
        OPERATION_IDS /* the number of operations */
};

extern const char *const plan_operation_names[OPERATION_IDS];

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

struct context;
struct kind_find;

/* Which elements survive a stalin-sort: by default those not less than every one before. */
struct stalin_sort_rules {
    bool strict;     /* survivors must be greater */
    bool descending; /* survivors must not be greater (strict: must be less) */
    bool purged;     /* the purged elements are also written */
};

/*
 * A column, as --where, --by, --weight or -f names it: what the plan takes from each row, that is a
 * line of text, a record or an element.
 */
struct column {
    int32_t field;     /* text: as text_rules; 1 if it has a name */
    const char *name;  /* text: of the field in the header; NULL: none; not owned */
    const char *label; /* what pictures call a column without a name: that of a field chosen by its
                          number, or of the values of a state; NULL: unknown; not owned */
    struct element
        element;   /* its keys; binary: also how they lie in the record; text: not swapped */
    size_t offset; /* binary: of the element in the record */
    enum text_notation notation; /* text */
    bool has_exponents;          /* text: as in struct text_rules */
    bool is_found; /* text: the kind is that of the first values, and others that it would read as
                      well are invalid: keys that are not printed as they are written, and times
                      with an offset, words or digits that these had not */
    struct kind_width width;                    /* to which values are floored */
    const struct kind_time_format *time_format; /* times; NULL: that of any form; not owned */
    size_t half; /* text: two fields are joined, with a blank between: those of the plan's columns
                    `half` and half + 1. A field with the name of both goes before. 0: no */
    struct kind_find *find; /* of unknown kind: it is found here; not owned */
    const char *where; /* its number or name as typed, or TYPE@OFFSET; NULL: not named; not owned */
};

/* Returns whether times are floored to buckets, or numbers of a cycle. Pure. */
static inline bool column_has_bucket(const struct column *column)
{
    return kind_time_bucket_is_set(&column->width.bucket);
}

/* Returns what times are multiples of: their bucket, or a unit of their decimals. Pure. */
struct kind_time_bucket column_time_unit(const struct column *column);

/* Returns how many words of 64 bits a column's keys have. Pure. */
static inline size_t column_words(const struct column *column)
{
    return kind_rows[column->element.kind].words;
}

/*
 * Floors a key to the least of its bucket, `width` wide, 1 or more. Returns false if that is
 * below -2^63, which the key then is. Pure.
 */
HOST_DEVICE_INLINE bool column_floor(uint64_t *key, uint64_t width, bool is_signed)
{
    const uint64_t magnitude = -*key;
    const uint64_t above = magnitude % width;
    const uint64_t more = above > 0 ? width - above : 0;

    if (!is_signed || (int64_t)*key >= 0) {
        *key -= *key % width;
        return true;
    }
    const bool is_fine = more <= ((uint64_t)1 << 63) - magnitude;
    *key = is_fine ? *key - more : (uint64_t)1 << 63;
    return is_fine;
}

struct plan {
    struct context *context; /* what its run writes (context.h); not owned; NULL: it has no run */
    char
        *line; /* of the options that define the plan, for states (cli/options.h); or NULL; owned */
    enum operation_id operation;
    struct element element;
    size_t record_bytes;  /* binary: of a record of which one element is a value; 0: none */
    size_t record_offset; /* binary: of the element in its record */
    /*
     * The columns: the values, then the weight, the groups, the conditions. The first one is also
     * described by element, record_offset and text.
     */
    struct column columns[TEXT_COLUMNS_MAX];
    size_t value_count;     /* 1 or more */
    struct plan *singles;   /* several values: [value_count], the plan of each of them; owned */
    bool has_weights;       /* how many times a value counts, 0 to 2^63 - 1; with decimals in
                               multiples of their unit, as are counts and their sums */
    size_t group_count;     /* a result for each combination of their keys */
    size_t condition_count; /* only rows that meet all conditions of an alternative count; the
                               alternatives are tested in order, up to one that is met */
    size_t half_count;      /* columns after these are only fields that others join */
    struct predicate *conditions;    /* [condition_count], owned */
    bool is_text;                    /* text input; otherwise binary */
    bool skips_missing;              /* text: rows with missing values are left out (text_rows.h) */
    enum row_scanner_id row_scanner; /* text: how rows are found, */
    const void *wanted;              /* and which columns, if they name theirs; not owned */
    struct text_rules text;          /* text: fields and delimiter */
    bool is_automatic;               /* histogram: the values determine its bins */
    struct binning binning;          /* histogram, unless is_automatic; owned */
    enum outside_policy outside;     /* histogram */
    bool needs_values;               /* histogram: a run without values is an error */
    bool is_merged;                  /* histogram: of states, whose bins are given */
    uint64_t bin_width;              /* uniq: the width of every bin, 1 for values */
    uint64_t range_bins;   /* uniq: of its values, the result is a histogram with this many
                              bins from the least to the greatest; 0: it is not */
    bool has_round_range;  /* these bins are of a round width of times, and at most
                              range_bins (binning_init_times) */
    bool any_order;        /* uniq, reduce: the result may be in any order */
    uint64_t buffer_bytes; /* memory for counts by value or group, and strings, that the
                              user gives; 0: what the plan gives (memory_plan.h) */
    const char *temporary_directory; /* uniq, reduce: for counts that need more; not owned */
    struct reductions reductions;    /* reduce, and groups of it */
    bool interpolates;               /* reduce: quantiles lie between values */
    struct predicate *predicates;    /* count, and groups of it: [predicate_count], owned */
    size_t predicate_count;
    struct stalin_sort_rules stalin_sort; /* stalin-sort */
    size_t window_periods; /* of time: the number of the last periods that results are of
                              (pipeline.c); 0: all so far */
};

/* Returns the bytes of binary input for each value. Pure. */
static inline size_t plan_value_bytes(const struct plan *plan)
{
    return plan->record_bytes > 0 ? plan->record_bytes : plan->element.bytes;
}

/* Returns whether a column is of binary floats. Pure. */
bool plan_has_reals(const struct plan *plan);

/* Return the index of the column of weights, and of the first group, condition, and past all. */
static inline size_t plan_weight_column(const struct plan *plan)
{
    return plan->value_count;
}

static inline size_t plan_group_column(const struct plan *plan)
{
    return plan->value_count + plan->has_weights;
}

static inline size_t plan_condition_column(const struct plan *plan)
{
    return plan_group_column(plan) + plan->group_count;
}

static inline size_t plan_column_count(const struct plan *plan)
{
    return plan_condition_column(plan) + plan->condition_count;
}

/* Returns how many columns have a field: also those that others join. Pure. */
static inline size_t plan_field_count(const struct plan *plan)
{
    return plan_column_count(plan) + plan->half_count;
}

/* Returns the decimals of counts: those of the weights, of which they are sums; else 0. Pure. */
static inline unsigned plan_count_decimals(const struct plan *plan)
{
    return plan->has_weights ? plan->columns[plan_weight_column(plan)].element.decimals : 0;
}

/* Returns whether values whose weights add up to 0 are part of the result. Pure. */
static inline bool plan_keeps_zeros(const struct plan *plan)
{
    return plan->has_weights && plan->operation == OPERATION_UNIQ && plan->bin_width == 1;
}

/* Returns the bytes of each key of a column in blocks of rows (chunk.h). Pure. */
static inline size_t plan_key_bytes(const struct plan *plan, size_t column)
{
    const struct column *of = &plan->columns[column];
    return column < plan->value_count ? of->element.bytes : column_words(of) * sizeof(uint64_t);
}

/* Returns whether values are one column of several, or have conditions. Pure. */
static inline bool plan_has_rows(const struct plan *plan)
{
    return plan_column_count(plan) > 1;
}

/* Returns what results call the column of groups, the first is 0: its name, else "by". Pure. */
const char *plan_group_name(const struct plan *plan, size_t group);

/* Returns what results call counts: "count", or with weights their name, else "weight". Pure. */
const char *plan_count_name(const struct plan *plan);

/* Returns whether values or groups are strings, so that a dictionary is needed. Pure. */
bool plan_has_strings(const struct plan *plan);

/* Returns the option that names a column, for messages. Pure. */
const char *plan_column_option(const struct plan *plan, size_t column);

/* Returns the rules of a column, as if it were the only one, in a text of these rules. Pure. */
struct text_rules plan_column_rules(const struct plan *plan, const struct text_rules *rules,
                                    size_t column);

/* Frees what the plan owns. A zero-initialised plan is allowed. Not thread-safe. */
void plan_destroy(struct plan *plan);

/* Fails with STATUS_DATA if the plan needs values and none was counted. Thread-safe. */
enum status plan_check_values(const struct plan *plan, bool has_values, struct failure *failure);

#endif
