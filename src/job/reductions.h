/*
 * Reductions: the values that operation reduce can make of a stream, which of them are asked for,
 * and what must be accumulated for that.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_REDUCTIONS_H
#define GPUHIST_REDUCTIONS_H

#include <stdbool.h>

/* What can be accumulated over the elements beside their number, as bits. */
enum reductions_need {
    REDUCTIONS_NEED_SUM = 1 << 0,
    REDUCTIONS_NEED_SQUARES = 1 << 1, /* the sum of the squares */
    REDUCTIONS_NEED_MIN = 1 << 2,
    REDUCTIONS_NEED_MAX = 1 << 3,
    REDUCTIONS_NEED_AND = 1 << 4,
    REDUCTIONS_NEED_OR = 1 << 5,
    REDUCTIONS_NEED_XOR = 1 << 6,
};

/* X(ID, name, what it needs), one row a reduction, in the order that all of them are printed in. */
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
        REDUCTION_IDS /* how many there are */
};

/* Those asked for, in their order: ids[0..count), none twice. */
struct reductions {
    unsigned count;
    unsigned needs; /* bits of enum reductions_need */
    enum reduction_id ids[REDUCTION_IDS];
};

enum reductions_parsed {
    REDUCTIONS_LIST,    /* they are stored */
    REDUCTIONS_NO_LIST, /* a part of it names no reduction */
    REDUCTIONS_TWICE,   /* all of them do, one twice */
};

/* Reads a list such as "sum,max". Nothing is stored unless it is one. */
enum reductions_parsed reductions_parse(const char *text, struct reductions *reductions);

/* Stores all of them, in the order of the table. */
void reductions_all(struct reductions *reductions);

const char *reductions_name(enum reduction_id id);

#endif
