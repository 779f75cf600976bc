/*
 * The plan: what to compute, and all that an engine may know. It is constant after its
 * construction, and all threads share it. The mutable state of a run is in its context.
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

/* The operations, by their names on the command line: X(ID, name). */
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

/* Maximum number of group columns (--by). */
#define PLAN_GROUPS_MAX 8

/* The treatment of out-of-range values. */
enum outside_policy {
    OUTSIDE_REPORT, /* counted separately and reported on stderr */
    OUTSIDE_ABORT,  /* the first one ends the run with an error */
    OUTSIDE_CLAMP,  /* counted in the first or last bin */
    OUTSIDE_IGNORE, /* dropped */
};

/* The treatment of invalid tokens of text. */
enum invalid_policy {
    INVALID_ABORT,  /* the first one ends the run */
    INVALID_FAIL,   /* they are reported, and the exit status is 1 */
    INVALID_WARN,   /* they are reported */
    INVALID_IGNORE, /* they are skipped */
};

struct context;
struct kind_find;

/* The elements that stalin-sort keeps: by default those not smaller than any earlier one. */
struct stalin_sort_rules {
    bool strict;     /* kept elements must be larger than all earlier ones */
    bool descending; /* kept elements must not be larger (strict: must be smaller) */
    bool purged;     /* dropped elements are also written */
};

/*
 * A column that -f, --where, --by or --weight selects: the part of each row that the plan uses. A
 * row is a line of text, a record or an element.
 */
struct column {
    int32_t field;          /* text: as in text_rules; 1 if it has a name */
    const char *name;       /* text: the field's name in the header; NULL: none; not owned */
    const char *label;      /* the name in plots of a column without `name`: from the header, for a
                               field chosen by number, or from a state; NULL: unknown; not owned */
    struct element element; /* its keys; binary: also as in the record; text: not swapped */
    size_t offset;          /* binary: offset of the element in the record */
    enum text_notation notation; /* text */
    bool has_exponents;          /* text: as in struct text_rules */
    bool is_found; /* text: the kind was found from the first values. Values that it reads, but
                      that differ from those in form, are invalid: keys that are not written as
                      they are printed, timestamps with additional offsets, words or digits */
    struct kind_width width;                    /* the width that values are floored to */
    const struct kind_time_format *time_format; /* timestamps; NULL: any form; not owned */
    size_t half; /* text: the value is two fields with a blank between, those of the plan's columns
                    `half` and half + 1, unless a field has the name of both; 0: one field */
    struct kind_find *find; /* the statistics that find an unknown kind; not owned */
    const char *where;      /* number, name or TYPE@OFFSET as typed; NULL: not typed; not owned */
};

/* Returns whether timestamps are floored to buckets, or are numbers of a cycle. Pure. */
static inline bool column_has_bucket(const struct column *column)
{
    return kind_time_bucket_is_set(&column->width.bucket);
}

/* Returns the bucket whose multiples timestamps are: theirs, or a unit of their digits. Pure. */
struct kind_time_bucket column_time_unit(const struct column *column);

/* Returns the width whose multiples numbers are, 1 or more. Pure. */
static inline uint64_t column_width(const struct column *column)
{
    return column->width.units > 1 ? column->width.units : 1;
}

/* Returns whether values are rounded down to buckets, which cycles are not. Pure. */
static inline bool column_has_width(const struct column *column)
{
    return column_width(column) > 1 || kind_time_bucket_exists(&column->width.bucket);
}

/* Returns whether a bucket begins at a value of the column's type. Without a width all do. Pure. */
bool column_begins_at(const struct column *column, __int128 value);

/* Returns the number of 64-bit words of a column's keys. Pure. */
static inline size_t column_words(const struct column *column)
{
    return kind_rows[column->element.kind].words;
}

/*
 * Floors a key to the start of its bucket of `width` values, 1 or more. If that is below -2^63,
 * sets the key to -2^63 and returns false. Pure.
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
    struct context *context; /* its run's state (context.h); not owned; NULL: there is no run */
    char *line; /* the options that define the plan, for states (cli/options.h); or NULL; owned */
    enum operation_id operation;
    struct element element;
    size_t record_bytes;  /* binary: size of a record that contains one value; 0: no records */
    size_t record_offset; /* binary: offset of the element in its record */
    /*
     * The columns: the values, then the weight, the groups, the conditions. The members element,
     * record_offset and text also describe the first column.
     */
    struct column columns[TEXT_COLUMNS_MAX];
    size_t value_count;     /* 1 or more */
    struct plan *singles;   /* several value columns: [value_count], a plan for each; owned */
    bool has_weights;       /* a value counts as often as its weight, 0 to 2^63 - 1. Weights with
                               decimal places, and counts, are multiples of their unit */
    size_t group_count;     /* number of group columns: each combination of keys has a result */
    size_t condition_count; /* number of conditions: rows must meet all conditions of one
                               alternative; they are tested in order, up to the first that is met */
    size_t half_count;      /* number of columns after these, which are halves of joined fields */
    struct predicate *conditions;    /* [condition_count], owned */
    bool is_text;                    /* text input; otherwise binary */
    bool skips_missing;              /* text: rows with missing values are left out (text_rows.h) */
    enum row_scanner_id row_scanner; /* text: the scanner that finds rows */
    const void *wanted;              /* the wanted columns, if rows name theirs; not owned */
    struct text_rules text;          /* text: fields and delimiter */
    bool is_automatic;               /* histogram: the values determine its bins */
    struct binning binning;          /* histogram, unless is_automatic; owned */
    enum outside_policy outside;     /* histogram */
    bool needs_values;               /* histogram: a run without values is an error */
    bool is_merged;                  /* histogram: merged from states, which have the bins */
    uint64_t bin_width;              /* uniq: the width of every bin, 1 for values */
    uint64_t range_bins;   /* uniq for --range auto: the result is a histogram with this many bins
                              from the minimum to the maximum; 0: it is not */
    bool has_round_range;  /* those bins have a round width of timestamps, and are at most
                              range_bins (binning_init_times) */
    bool any_order;        /* uniq, reduce: the result may be in any order */
    uint64_t buffer_bytes; /* the user's memory limit for counts by value or group, and strings;
                              0: memory_plan.h sets it */
    const char *temporary_directory; /* uniq, reduce: the directory of spill files; not owned */
    struct reductions reductions;    /* reduce, and groups of it */
    bool interpolates;               /* reduce: percentiles are interpolated between values */
    struct predicate *predicates;    /* count, and groups of it: [predicate_count], owned */
    size_t predicate_count;
    struct stalin_sort_rules stalin_sort; /* stalin-sort */
    size_t window_periods; /* number of periods (--every) in a sliding window (pipeline.c); 0:
                              results cover all input so far */
};

/* Returns the number of bytes of binary input per value. Pure. */
static inline size_t plan_value_bytes(const struct plan *plan)
{
    return plan->record_bytes > 0 ? plan->record_bytes : plan->element.bytes;
}

/* Returns whether a column has binary floats. Pure. */
bool plan_has_reals(const struct plan *plan);

/* Return the index of the weight column, of the first group, of the first condition, and the end.
 */
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

/* Returns the number of columns with a field, including halves of joined fields. Pure. */
static inline size_t plan_field_count(const struct plan *plan)
{
    return plan_column_count(plan) + plan->half_count;
}

/* Returns the number of decimal places of counts: that of the weights, or 0. Pure. */
static inline unsigned plan_count_decimals(const struct plan *plan)
{
    return plan->has_weights ? plan->columns[plan_weight_column(plan)].element.decimals : 0;
}

/* Returns whether the result includes values whose weights add up to 0. Pure. */
static inline bool plan_keeps_zeros(const struct plan *plan)
{
    return plan->has_weights && plan->operation == OPERATION_UNIQ && plan->bin_width == 1;
}

/* Returns the size of a column's key in blocks of rows (chunk.h), in bytes. Pure. */
static inline size_t plan_key_bytes(const struct plan *plan, size_t column)
{
    const struct column *of = &plan->columns[column];
    return column < plan->value_count ? of->element.bytes : column_words(of) * sizeof(uint64_t);
}

/* Returns whether there are other columns than one value column. Pure. */
static inline bool plan_has_rows(const struct plan *plan)
{
    return plan_column_count(plan) > 1;
}

/* Returns the name of group column `group`, from 0, in results: its own, else "by". Pure. */
const char *plan_group_name(const struct plan *plan, size_t group);

/* Returns the name of counts in results: "count", the weights' name, or "weight". Pure. */
const char *plan_count_name(const struct plan *plan);

/* Returns whether values or groups are strings, so that a dictionary is needed. Pure. */
bool plan_has_strings(const struct plan *plan);

/* Returns the option that names a column, for messages. Pure. */
const char *plan_column_option(const struct plan *plan, size_t column);

/* Returns `rules` as they apply to one column, as if it were the only one. Pure. */
struct text_rules plan_column_rules(const struct plan *plan, const struct text_rules *rules,
                                    size_t column);

/* Frees what the plan owns. A zero-initialised plan is allowed. Not thread-safe. */
void plan_destroy(struct plan *plan);

#endif
