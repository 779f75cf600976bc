/*
 * The aggregate of an operation with --by: a result for each *group*, a combination of values of
 * the group columns. It is a table (table.h) whose keys begin with the keys of the groups
 * (element.h), XORed with sign biases, so that their unsigned order is that of the values.
 *
 * For reductions and predicates, a row is a group, with its accumulators (accumulator.h). The
 * groups of histogram, uniq, and reductions that need a table are *counted*: a row is a bin or
 * value of a group, and its count or weight; the rows of a group are consecutive.
 */
#ifndef GPUHIST_GROUPS_H
#define GPUHIST_GROUPS_H

#include "aggregate/accumulator.h"
#include "aggregate/uniq_key.h"
#include "lib/status.h"
#include "lib/table.h"
#include "text/dictionary.h"
#include "value/context.h"

/* Constant, except the table and the buffer. */
struct groups {
    const struct plan *plan;
    struct accumulators *layout;       /* the layout of the table's rows; owned */
    struct accumulators *accumulators; /* a group's: `layout`; if counted, without keys; owned */
    struct table *table;
    struct table *ranked;          /* the table to read: `table`, or a copy with ranks of strings */
    struct dictionary_order order; /* strings: the order in the finalized aggregate */
    uint64_t sign_biases[TEXT_COLUMNS_MAX]; /* the sign bias of each word of the keys */
    bool is_text[TEXT_COLUMNS_MAX]; /* the word of the keys is a string's number, or its rank */
    size_t words[TEXT_COLUMNS_MAX]; /* index of the first word of each group column's keys */
    size_t value;                   /* counted: index of the first word of a bin or value */
    struct uniq_divisor divisor;    /* counted values: divides by the width of their bins */
    uint64_t *buffer;               /* a row, for the one thread that saves the aggregate; owned */

    /* Set by finalize. */
    uint64_t count;   /* number of groups */
    uint64_t *starts; /* counted: [count + 1], each group's first row, and the end; owned */
};

/* Create, finalize and destroy a struct groups (store.h). The plan must outlive it. */
void *groups_create(const struct plan *plan, struct failure *failure);
enum status groups_finalize(void *groups, const struct plan *plan, uint64_t elements,
                            struct failure *failure);
void groups_destroy(void *groups);

/* Returns whether a plan counts each value, or bin, of each group: values are in the keys. Pure. */
bool groups_have_value_keys(const struct plan *plan);

/* Returns whether it counts them in bins of width 1. Pure. */
bool groups_are_unit(const struct plan *plan);

/*
 * Makes the keys of n elements, groups->layout->count words each: from the keys of each group
 * column, columns[column][i], and if groups are counted from the elements. Pure.
 */
void groups_make_keys(const struct groups *groups, const uint64_t *const *columns,
                      const void *elements, size_t n, uint64_t *keys);

/*
 * Returns row i, in ascending order, of a finalized aggregate: in memory, or in `buffer`, which has
 * the layout's words. Thread-safe. groups_check fails if a row could not be read.
 */
static inline const uint64_t *groups_row(const struct groups *groups, uint64_t i, uint64_t *buffer)
{
    return table_row(groups->ranked, i, buffer);
}

/* Like groups_row, but returns the row of group i, or its first row if groups are counted. */
static inline const uint64_t *groups_first_row(const struct groups *groups, uint64_t i,
                                               uint64_t *buffer)
{
    return groups_row(groups, groups->starts ? groups->starts[i] : i, buffer);
}

/*
 * Returns the string with a rank in a row of a finalized aggregate, and stores its length. It lives
 * as long as the dictionary. Thread-safe.
 */
static inline const char *groups_text(const struct groups *groups, uint64_t rank, size_t *bytes)
{
    return dictionary_text(groups->plan->context->dictionary, groups->order.ids[rank], bytes);
}

/* Fetches the string with a rank into the CPU's cache, for a later groups_text. */
static inline void groups_prefetch_text(const struct groups *groups, uint64_t rank)
{
    dictionary_prefetch(groups->plan->context->dictionary, groups->order.ids[rank]);
}

/* Returns the value of group column `column`, from 0, of a row; for strings the rank. */
static inline __int128 groups_value(const struct groups *groups, const uint64_t *row, size_t column)
{
    const struct column *of = &groups->plan->columns[plan_group_column(groups->plan) + column];
    const uint64_t *key = row + groups->words[column];

    if (column_words(of) == 2)
        return element_address((struct kind_ip){key[0], key[1]});
    return element_value(&of->element, key[0] ^ groups->sign_biases[groups->words[column]]);
}

/*
 * Returns whether the bin or value of a counted row is valid for the plan. Pure.
 */
bool groups_has_bin(const struct groups *groups, const uint64_t *row);

struct rows;

/*
 * Starts at the first row (rows.h) of group i of a finalized aggregate of uniq, reductions, or
 * histogram with given bins. Group `count` has no rows. The aggregate must outlive `rows`.
 */
void groups_rows_begin(struct rows *rows, const struct groups *groups, uint64_t i, bool zeros);

/* Fails with STATUS_DATA if a row could not be read. */
enum status groups_check(const struct groups *groups, struct failure *failure);

#endif
