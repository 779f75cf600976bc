/*
 * Reductions: the results that operation reduce can compute, the list that the user requests, and
 * the accumulators that the list needs.
 *
 * All functions are thread-safe on distinct arguments.
 */
#ifndef GPUHIST_REDUCTIONS_H
#define GPUHIST_REDUCTIONS_H

#include "value/percentage.h"

#include <stdbool.h>
#include <stddef.h>

/* The accumulators besides the number of elements, as bits. */
enum reductions_need {
    REDUCTIONS_NEED_SUM = 1 << 0,
    REDUCTIONS_NEED_SQUARES = 1 << 1, /* the sum of the squares */
    REDUCTIONS_NEED_MIN = 1 << 2,
    REDUCTIONS_NEED_MAX = 1 << 3,
    REDUCTIONS_NEED_AND = 1 << 4,
    REDUCTIONS_NEED_OR = 1 << 5,
    REDUCTIONS_NEED_XOR = 1 << 6,
    REDUCTIONS_NEED_TABLE = 1 << 7,  /* the distinct values and their counts */
    REDUCTIONS_NEED_ORDER = 1 << 8,  /* the distinct values in ascending order */
    REDUCTIONS_NEED_NAMING = 1 << 9, /* nothing, but the user must name the reduction */
    REDUCTIONS_GIVE_VALUE = 1 << 10, /* nothing (reductions_gives_value) */
};

/*
 * X(ID, name, needs), one row for each reduction. By default, those that need no table and no
 * naming are computed and printed in this order. QUANTILE is the last: its name is followed by a
 * percentage, and it may be requested with several.
 */
#define REDUCTIONS(X)                                                                           \
    X(COUNT, "count", 0)                                                                        \
    X(SUM, "sum", REDUCTIONS_NEED_SUM)                                                          \
    X(MIN, "min", REDUCTIONS_NEED_MIN | REDUCTIONS_GIVE_VALUE)                                  \
    X(MAX, "max", REDUCTIONS_NEED_MAX | REDUCTIONS_GIVE_VALUE)                                  \
    X(MEAN, "mean", REDUCTIONS_NEED_SUM | REDUCTIONS_GIVE_VALUE)                                \
    X(VARIANCE, "variance", REDUCTIONS_NEED_SUM | REDUCTIONS_NEED_SQUARES)                      \
    X(STDDEV, "stddev", REDUCTIONS_NEED_SUM | REDUCTIONS_NEED_SQUARES)                          \
    X(SVAR, "svar", REDUCTIONS_NEED_SUM | REDUCTIONS_NEED_SQUARES | REDUCTIONS_NEED_NAMING)     \
    X(SSTDEV, "sstdev", REDUCTIONS_NEED_SUM | REDUCTIONS_NEED_SQUARES | REDUCTIONS_NEED_NAMING) \
    X(AND, "and", REDUCTIONS_NEED_AND)                                                          \
    X(OR, "or", REDUCTIONS_NEED_OR)                                                             \
    X(XOR, "xor", REDUCTIONS_NEED_XOR)                                                          \
    X(DISTINCT, "distinct", REDUCTIONS_NEED_TABLE)                                              \
    X(MODE, "mode", REDUCTIONS_NEED_TABLE | REDUCTIONS_GIVE_VALUE)                              \
    X(MEDIAN, "median", REDUCTIONS_NEED_TABLE | REDUCTIONS_NEED_ORDER | REDUCTIONS_GIVE_VALUE)  \
    X(Q1, "q1", REDUCTIONS_NEED_TABLE | REDUCTIONS_NEED_ORDER | REDUCTIONS_GIVE_VALUE)          \
    X(Q3, "q3", REDUCTIONS_NEED_TABLE | REDUCTIONS_NEED_ORDER | REDUCTIONS_GIVE_VALUE)          \
    X(IQR, "iqr", REDUCTIONS_NEED_TABLE | REDUCTIONS_NEED_ORDER)                                \
    X(QUANTILE, "p", REDUCTIONS_NEED_TABLE | REDUCTIONS_NEED_ORDER | REDUCTIONS_GIVE_VALUE)

enum reduction_id {
#define REDUCTIONS_ENUM(id, name, needs) REDUCTION_##id,
    REDUCTIONS(REDUCTIONS_ENUM)
#undef REDUCTIONS_ENUM
        REDUCTION_IDS /* the number of reductions */
};

/* The size of a name such as "variance" or "p99.9", and a NUL. */
#define REDUCTION_NAME_SIZE (1 + PERCENTAGE_SIZE)

/* A requested reduction. */
struct reduction {
    enum reduction_id id;
    struct percentage percentage; /* percentile, median, quartiles */
    char name[REDUCTION_NAME_SIZE];
};

/* Maximum number of requested reductions. */
#define REDUCTIONS_MAX 64

/* The requested reductions in order: list[0..count), with distinct names. */
struct reductions {
    unsigned count;
    unsigned needs; /* the needs of all, bits of enum reductions_need */
    struct reduction list[REDUCTIONS_MAX];
};

/* Size of a buffer for the names of all, separated by commas and blanks, and a NUL. */
#define REDUCTIONS_TEXT_SIZE (REDUCTIONS_MAX * (REDUCTION_NAME_SIZE + 1))

enum reductions_parsed {
    REDUCTIONS_LIST,     /* a valid list, which is stored */
    REDUCTIONS_NO_LIST,  /* an item is not the name of a reduction */
    REDUCTIONS_TWICE,    /* all items are names, and one occurs twice */
    REDUCTIONS_TOO_MANY, /* all items are names, more than REDUCTIONS_MAX */
};

/*
 * Takes the first item of a list off *text: stores where it begins, without the blanks around it,
 * and the rest of the list, NULL after the last item. Returns its length.
 */
size_t reductions_split(const char **text, const char **part);

/* Parses a list such as "sum, p99.9". Stores nothing unless the result is REDUCTIONS_LIST. */
enum reductions_parsed reductions_parse(const char *text, struct reductions *reductions);

/*
 * Stores the reduction named text[0..length); avg means mean, and pvar and pstdev mean variance and
 * stddev. Returns false if the name is unknown.
 */
bool reductions_find(const char *text, size_t length, struct reduction *found);

/* Returns the name of a row, a constant string. */
const char *reductions_name(enum reduction_id id);

/* Returns whether the result of a row is a value like those that are reduced: of times, a time. */
bool reductions_gives_value(enum reduction_id id);

/* The needs of bitwise reductions, which numbers with decimal places do not have. */
#define REDUCTIONS_NEED_BITS \
    ((unsigned)REDUCTIONS_NEED_AND | REDUCTIONS_NEED_OR | REDUCTIONS_NEED_XOR)

/* Stores the default reductions that do not need any of `except`, in the order of the rows. */
void reductions_default(struct reductions *reductions, unsigned except);

#endif
