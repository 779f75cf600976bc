/*
 * The aggregate of an operation with --by: for each combination of values of other columns, the
 * *group*, what the operation computes. It is a table (table.h) whose keys begin with the keys of
 * the groups (element.h), XORed with what makes their unsigned order that of the values.
 *
 * For reductions and predicates, a row is a group, with its accumulators (accumulator.h). The
 * groups of histogram, uniq, and reductions that need a table are *counted*: a row is a bin or
 * value of a group, and its count or weight; the rows of a group follow each other.
 */
#ifndef GPUHIST_GROUPS_H
#define GPUHIST_GROUPS_H

#include "aggregate/accumulator.h"
#include "aggregate/uniq_key.h"
#include "lib/status.h"
#include "lib/table.h"
#include "text/dictionary.h"
#include "value/context.h"

/* Constant but for the table and the buffer. */
struct groups {
    const struct plan *plan;
    struct accumulators *layout; /* of the table's rows */
    struct accumulators
        *accumulators; /* of a group: `layout`, or if they are counted without keys */
    struct table *table;
    struct table *ranked; /* whose rows are read: `table`, or a copy with ranks of strings */
    struct dictionary_order order;          /* of strings: of the finalized aggregate */
    uint64_t sign_biases[TEXT_COLUMNS_MAX]; /* of each word of the keys */
    bool is_text[TEXT_COLUMNS_MAX]; /* of each word: it is the number of a text, or its rank */
    size_t words[TEXT_COLUMNS_MAX]; /* where the keys of each column of groups begin */
    size_t value;                   /* counted: where bins and values begin */
    struct uniq_divisor divisor;    /* counted values: by the width of their bins */
    uint64_t *buffer;               /* for a row, of the one thread that saves the aggregate */

    /* Set by finalize. */
    uint64_t count;   /* of groups */
    uint64_t *starts; /* counted: [count + 1], the first row of each, and the end */
};

/* Create, finalize and destroy a struct groups, as store.h says. The plan must outlive it. */
void *groups_create(const struct plan *plan, struct failure *failure);
enum status groups_finalize(void *groups, const struct plan *plan, uint64_t elements,
                            struct failure *failure);
void groups_destroy(void *groups);

/* Returns whether the groups of a plan are counted, and in bins one wide. Pure. */
bool groups_have_value_keys(const struct plan *plan);
bool groups_are_unit(const struct plan *plan);

/*
 * Makes keys, groups->layout->count each, of n elements: from the keys of each column of groups
 * at groups[column][i], and if they are counted from the elements. Pure.
 */
void groups_make_keys(const struct groups *groups, const uint64_t *const *columns,
                      const void *elements, size_t n, uint64_t *keys);

/*
 * Returns row i, in ascending order, of a finalized aggregate: in memory, or in `buffer`, of the
 * layout's words. Thread-safe. groups_check tells of a row that could not be read.
 */
static inline const uint64_t *groups_row(const struct groups *groups, uint64_t i, uint64_t *buffer)
{
    return table_row(groups->ranked, i, buffer);
}

/* Like groups_row, but returns the row of group i, the first one if values are counted. */
static inline const uint64_t *groups_first_row(const struct groups *groups, uint64_t i,
                                               uint64_t *buffer)
{
    return groups_row(groups, groups->starts ? groups->starts[i] : i, buffer);
}

/*
 * Returns the text of a rank that a row of a finalized aggregate has, and stores its length. It
 * lives as long as the dictionary. Thread-safe.
 */
static inline const char *groups_text(const struct groups *groups, uint64_t rank, size_t *bytes)
{
    return dictionary_text(groups->plan->context->dictionary, groups->order.ids[rank], bytes);
}

/* Fetches the text of a rank to the cache, where groups_text will find it. */
static inline void groups_prefetch_text(const struct groups *groups, uint64_t rank)
{
    dictionary_prefetch(groups->plan->context->dictionary, groups->order.ids[rank]);
}

/* The value of a column, the first is 0, of the group of a row; the rank of a text. */
static inline __int128 groups_value(const struct groups *groups, const uint64_t *row, size_t column)
{
    const struct column *of = &groups->plan->columns[plan_group_column(groups->plan) + column];
    const uint64_t *key = row + groups->words[column];

    if (column_words(of) == 2)
        return element_address((struct kind_ip){key[0], key[1]});
    return element_value(&of->element, key[0] ^ groups->sign_biases[groups->words[column]]);
}

/*
 * Returns whether a counted row has a bin or value that the plan can have. Pure.
 */
bool groups_has_bin(const struct groups *groups, const uint64_t *row);

struct rows;

/*
 * Starts at the first row (rows.h) of group i of a finalized aggregate of histogram, whose bins the
 * plan gives, or of uniq or reductions; group `count` has none. The aggregate must outlive `rows`.
 */
void groups_rows_begin(struct rows *rows, const struct groups *groups, uint64_t i, bool zeros);

/* Fails with STATUS_DATA if a row could not be read. */
enum status groups_check(const struct groups *groups, struct failure *failure);

#endif
