/*
 * Predicates: the conditions that operation count tests for each value. Every relation is reduced
 * to one of three forms, or to the negation of one.
 *
 * A predicate is constant after its construction, and all threads share it.
 */
#ifndef GPUHIST_PREDICATE_H
#define GPUHIST_PREDICATE_H

#include "lib/status.h"
#include "value/element.h"
#include "value/value_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(ID, id, name, argument, help): the relations. The names are those of the options. */
#define PREDICATE_RELATIONS(X)                                              \
    X(EQ, eq, "eq", "V", "count values equal to V")                         \
    X(NE, ne, "ne", "V", "count values not equal to V")                     \
    X(LT, lt, "lt", "V", "count values less than V")                        \
    X(LE, le, "le", "V", "count values less than or equal to V")            \
    X(GT, gt, "gt", "V", "count values greater than V")                     \
    X(GE, ge, "ge", "V", "count values greater than or equal to V")         \
    X(IN, in, "in", "LO:HI", "count values in [LO, HI)")                    \
    X(ANY_OF, any_of, "any-of", "LIST", "count values in 1,2,... or @FILE") \
    X(ALL, all, "all", NULL, "count all values")

enum predicate_relation {
#define PREDICATE_ENUM(id, ...) PREDICATE_##id,
    PREDICATE_RELATIONS(PREDICATE_ENUM)
        PREDICATE_BEGINS, /* this and the next relations are for strings in conditions only */
    PREDICATE_CONTAINS,
    PREDICATE_MATCHES, /* an extended regular expression matches (text/pattern.h) */
    PREDICATE_DIFFERS, /* an extended regular expression does not match */
#undef PREDICATE_ENUM
};

enum predicate_form {
    PREDICATE_EVERY,    /* every value of the type */
    PREDICATE_INTERVAL, /* low <= value <= low + last */
    PREDICATE_SET,
};

/* IP addresses from `low` to `high`, inclusive. */
struct predicate_range {
    __int128 low;
    __int128 high;
};

/* Bytes that a string is compared with. */
struct predicate_text {
    const char *data; /* [bytes] */
    size_t bytes;
};

struct predicate {
    enum predicate_form form;
    bool negated;                   /* the predicate holds where the form does not */
    bool is_of_missing;             /* it holds only for missing values and empty strings */
    uint64_t low;                   /* interval: the smallest value, as a key (element.h) */
    uint64_t last;                  /* interval: the largest value minus low */
    struct predicate_range *ranges; /* IP addresses: [range_count], ascending, disjoint; owned */
    size_t range_count;
    enum predicate_relation relation; /* strings: EQ, LT, LE, BEGINS, CONTAINS or MATCHES */
    struct predicate_text *strings;   /* [text_count], ascending, in one block with their bytes and
                                         a final NUL; owned */
    size_t text_count;
    struct value_set set;
    uint64_t set_values; /* PREDICATE_ANY_OF: the number of values */
    uint64_t set_digest; /* PREDICATE_ANY_OF: the digest of the ascending keys (digest.h) */
    const char *name;    /* the option's name: "ge" */
    const char *text;    /* its argument: "500"; NULL: none. Not owned */
    bool is_alternative; /* conditions: it begins another alternative */
};

/*
 * Creates the predicate of a relation other than PREDICATE_ANY_OF for elements of that type. `text`
 * is the argument, NULL if the relation takes none. V, LO and HI need not be values of the type.
 * The text must outlive the predicate. Fails with STATUS_USAGE if the text is invalid. The caller
 * destroys the predicate, also after a failure. Thread-safe on distinct predicates.
 */
enum status predicate_init(struct predicate *predicate, enum predicate_relation relation,
                           const char *text, const struct element *element,
                           struct failure *failure);

/*
 * Creates the predicate PREDICATE_ANY_OF of keys[0..count), which are copied. The keys are
 * ascending as values of the type and have no duplicates. `text` is the argument that listed them.
 * Otherwise as predicate_init; fails with STATUS_DATA if there is no memory.
 */
enum status predicate_init_any_of(struct predicate *predicate, const char *text,
                                  const struct element *element, const uint64_t *keys, size_t count,
                                  struct failure *failure);

/*
 * Like predicate_init_any_of, but for an unknown list, of results loaded from states. Its set is
 * empty.
 */
void predicate_init_unread(struct predicate *predicate, const char *text,
                           const struct element *element, uint64_t values, uint64_t digest);

void predicate_destroy(struct predicate *predicate);

/*
 * Returns whether the value of a key is in the interval or set of a predicate. For "every" it is
 * false. Pure.
 */
static inline bool predicate_contains(const struct predicate *predicate, uint64_t key)
{
    const uint64_t low = predicate->form == PREDICATE_SET ? predicate->set.low : predicate->low;

    if (predicate->form == PREDICATE_SET)
        return value_set_contains(&predicate->set, predicate->set.form, key - low);
    return predicate->form == PREDICATE_INTERVAL && key - low <= predicate->last;
}

/*
 * Returns the number of values that meet a predicate, among `values` values of which `hits` are in
 * its interval or set. Pure.
 */
static inline uint64_t predicate_count(const struct predicate *predicate, uint64_t values,
                                       uint64_t hits)
{
    const uint64_t held = predicate->form == PREDICATE_EVERY ? values : hits;
    return predicate->negated ? values - held : held;
}

/*
 * Creates the condition that an IP address (element_address) is in one of `count` ranges,
 * low[i] <= value <= high[i]. The ranges are copied. Fails with STATUS_DATA if there is no memory.
 */
enum status predicate_init_ranges(struct predicate *predicate, const char *text,
                                  const struct predicate_range *ranges, size_t count,
                                  struct failure *failure);

/*
 * Creates a condition of strings, in the order of memcmp. EQ and NE compare with `count` strings,
 * other relations with one. The strings are copied. Fails with STATUS_DATA if there is no memory.
 */
enum status predicate_init_strings(struct predicate *predicate, enum predicate_relation relation,
                                   const struct predicate_text *strings, size_t count,
                                   struct failure *failure);

/* Returns whether the relation is for strings only. Pure. */
static inline bool predicate_is_of_strings(enum predicate_relation relation)
{
    return relation >= PREDICATE_BEGINS;
}

/* Returns whether a predicate, not MATCHES, holds for data[0..bytes). Pure. */
bool predicate_holds_text(const struct predicate *predicate, const char *data, size_t bytes);

/* Returns whether a predicate of ranges holds for an IP address. Pure. */
static inline bool predicate_holds_address(const struct predicate *predicate, __int128 address)
{
    size_t begin = 0;                    /* earlier ranges begin at or below the address */
    size_t end = predicate->range_count; /* ranges from here on begin above it */

    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (predicate->ranges[middle].low <= address)
            begin = middle + 1;
        else
            end = middle;
    }
    return (begin > 0 && address <= predicate->ranges[begin - 1].high) != predicate->negated;
}

/* Returns whether a predicate holds for the value of a key. Pure. */
static inline bool predicate_holds(const struct predicate *predicate, uint64_t key)
{
    return (predicate->form == PREDICATE_EVERY || predicate_contains(predicate, key)) !=
           predicate->negated;
}

#endif
