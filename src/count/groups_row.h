/*
 * The rows of groups: what is known of the values of a group, in words of 64 bits. The first are
 * the keys of its columns, then comes the number of its values; the others depend on the job: those
 * of its reductions (reduce_words.h), or the hits of each of its predicates.
 *
 * The functions are thread-safe on distinct rows.
 */
#ifndef GPUHIST_GROUPS_ROW_H
#define GPUHIST_GROUPS_ROW_H

#include "job/job.h"

#include <stddef.h>
#include <stdint.h>

/* How a word is merged with that of another row. */
enum groups_rule {
    GROUPS_RULE_SUM,     /* added. This and the next one: the lowest word of a sum */
    GROUPS_RULE_SQUARES, /* likewise */
    GROUPS_RULE_CARRY,   /* added, with the carry of the word before */
    GROUPS_RULE_MIN,
    GROUPS_RULE_MAX,
    GROUPS_RULE_AND,
    GROUPS_RULE_OR,
    GROUPS_RULE_XOR,
};

/* The words of a job's rows. Constant, and shared by all threads. */
struct groups_layout {
    const struct job *job;
    uint64_t flip; /* XORed with the keys of values, which are then in unsigned order */
    size_t count;  /* the word that is the number of values, above 0; before it are the keys */
    size_t first;  /* the first word of the reductions or predicates */
    size_t words;
    unsigned char *rules; /* [words]: enum groups_rule */
    uint64_t initial[];   /* [words]: of a group without values */
};

/*
 * Makes the layout of a job, which must outlive it; if groups are counted (groups.h), the keys have
 * another word, and no word but the count is after them. NULL: no memory. The caller frees it.
 */
struct groups_layout *groups_layout_create(const struct job *job, bool is_counted);

/*
 * Adds the values keys[0..n) to the words of rows[0..n), each to its own, but for the number of
 * values; a row may be there more than once.
 */
void groups_row_absorb(const void *context, uint64_t *const *rows, const uint64_t *keys, size_t n);

/*
 * Adds a row to another one of the same group, as a table does (table.h); `layout` is a struct
 * groups_layout. Returns true.
 */
bool groups_row_merge(const void *layout, uint64_t *into, const uint64_t *from);

#endif
