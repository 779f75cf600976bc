/*
 * Reductions: the results that operation reduce can compute, the list that the user requests, and
 * the accumulators that the list needs.
 *
 * All functions are thread-safe on distinct arguments.
 */
#ifndef GPUHIST_REDUCTIONS_H
#define GPUHIST_REDUCTIONS_H

#include <stdbool.h>

/* Accumulators besides the number of elements, as bits. */
enum reductions_need {
    REDUCTIONS_NEED_SUM = 1 << 0,
    REDUCTIONS_NEED_SQUARES = 1 << 1, /* the sum of the squares */
    REDUCTIONS_NEED_MIN = 1 << 2,
    REDUCTIONS_NEED_MAX = 1 << 3,
    REDUCTIONS_NEED_AND = 1 << 4,
    REDUCTIONS_NEED_OR = 1 << 5,
    REDUCTIONS_NEED_XOR = 1 << 6,
};

/* X(ID, name, needs), one row for each reduction, in the default order of the output. */
#define REDUCTIONS(X)                                                      \
    X(COUNT, "count", 0)                                                   \
    X(SUM, "sum", REDUCTIONS_NEED_SUM)                                     \
    X(MIN, "min", REDUCTIONS_NEED_MIN)                                     \
    X(MAX, "max", REDUCTIONS_NEED_MAX)                                     \
    X(MEAN, "mean", REDUCTIONS_NEED_SUM)                                   \
    X(VARIANCE, "variance", REDUCTIONS_NEED_SUM | REDUCTIONS_NEED_SQUARES) \
    X(STDDEV, "stddev", REDUCTIONS_NEED_SUM | REDUCTIONS_NEED_SQUARES)     \
    X(AND, "and", REDUCTIONS_NEED_AND)                                     \
    X(OR, "or", REDUCTIONS_NEED_OR)                                        \
    X(XOR, "xor", REDUCTIONS_NEED_XOR)

enum reduction_id {
#define REDUCTIONS_ENUM(id, name, needs) REDUCTION_##id,
    REDUCTIONS(REDUCTIONS_ENUM)
#undef REDUCTIONS_ENUM
        REDUCTION_IDS /* the number of reductions */
};

/* The requested reductions in order: ids[0..count), without duplicates. */
struct reductions {
    unsigned count;
    unsigned needs; /* bits of enum reductions_need */
    enum reduction_id ids[REDUCTION_IDS];
};

enum reductions_parsed {
    REDUCTIONS_LIST,    /* a valid list, which is stored */
    REDUCTIONS_NO_LIST, /* an item is not the name of a reduction */
    REDUCTIONS_TWICE,   /* all items are names, and one occurs twice */
};

/* Parses a list such as "sum,max". Stores nothing unless the result is REDUCTIONS_LIST. */
enum reductions_parsed reductions_parse(const char *text, struct reductions *reductions);

/* Stores all reductions, in the order of the table. */
void reductions_all(struct reductions *reductions);

const char *reductions_name(enum reduction_id id);

#endif
