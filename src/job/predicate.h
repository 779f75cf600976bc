/*
 * Predicates: what operation count asks of each value. Whatever was asked for is brought into one
 * of three forms, or the opposite of one.
 *
 * A predicate is const once made, and shared by all threads.
 */
#ifndef GPUHIST_PREDICATE_H
#define GPUHIST_PREDICATE_H

#include "base/status.h"
#include "job/element.h"
#include "job/value_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(ID, id, name, argument, help): what can be asked; the names are those of the options. */
#define PREDICATE_RELATIONS(X)                                                    \
    X(EQ, eq, "eq", "V", "values equal to V")                                     \
    X(NE, ne, "ne", "V", "values not equal to V")                                 \
    X(LT, lt, "lt", "V", "values less than V")                                    \
    X(LE, le, "le", "V", "values less than or equal to V")                        \
    X(GT, gt, "gt", "V", "values greater than V")                                 \
    X(GE, ge, "ge", "V", "values greater than or equal to V")                     \
    X(IN, in, "in", "LO:HI", "values with LO <= v < HI")                          \
    X(ANY_OF, any_of, "any-of", "LIST", "values in the list 1,2,... or in @FILE") \
    X(ALL, all, "all", NULL, "all values")

enum predicate_relation {
#define PREDICATE_ENUM(id, ...) PREDICATE_##id,
    PREDICATE_RELATIONS(PREDICATE_ENUM)
#undef PREDICATE_ENUM
};

enum predicate_form {
    PREDICATE_EVERY,    /* every value of the type */
    PREDICATE_INTERVAL, /* low <= value <= low + last */
    PREDICATE_SET,
};

struct predicate {
    enum predicate_form form;
    bool negated;  /* the values for which that is not so */
    uint64_t low;  /* interval: as a key (element.h) */
    uint64_t last; /* interval: the largest value less low */
    struct value_set set;
    uint64_t set_values; /* how many the set has, */
    uint64_t set_digest; /* and the digest of their keys in ascending order (digest.h) */
    const char *name;    /* as typed: "ge", */
    const char *text;    /* "500"; NULL: nothing. Not owned */
    char *recalled;      /* the text if it comes from a state; owned. Else NULL */
};

/*
 * Makes the predicate of a relation, but PREDICATE_ANY_OF, and its argument `text` (NULL if it
 * takes none) for elements of that type; V, LO and HI need not be values of the type. The text must
 * outlive the predicate. Fails with STATUS_USAGE if the text is wrong. The caller destroys it, also
 * after a failure; a predicate of zeros may be destroyed as well. Thread-safe on distinct ones.
 */
enum status predicate_init(struct predicate *predicate, enum predicate_relation relation,
                           const char *text, const struct element *element,
                           struct failure *failure);

/*
 * Makes the predicate PREDICATE_ANY_OF of keys[0..count), ascending as values of the type and
 * without duplicates, which are copied; `text` is the argument that listed them. Otherwise as
 * predicate_init; fails with STATUS_DATA if there is no memory.
 */
enum status predicate_init_any_of(struct predicate *predicate, const char *text,
                                  const struct element *element, const uint64_t *keys, size_t count,
                                  struct failure *failure);

void predicate_destroy(struct predicate *predicate);

/* Finds the relation of that name, text[0..length); false if there is none. */
bool predicate_find(const char *text, size_t length, enum predicate_relation *relation);

/* The name of a relation, as in struct predicate. */
const char *predicate_name(enum predicate_relation relation);

#endif
