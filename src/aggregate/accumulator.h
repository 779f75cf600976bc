/*
 * Accumulators, such as sum and minimum, each of one to three 64-bit words. Words have initial
 * values, values are added to them, and the words of two streams are merged. An accumulator is a
 * constant row of one table in accumulator.c, and knows neither groups nor threads.
 *
 * The accumulators that a plan needs lie side by side in a *row*: the keys of a group, if there are
 * groups; the number of values; and the words of each accumulator, in the order of the list below.
 * A reduce or count without groups has one row (scalar.h), with groups a table of rows (groups.h).
 * States have the same words.
 *
 * Functions are thread-safe on distinct rows.
 */
#ifndef GPUHIST_ACCUMULATOR_H
#define GPUHIST_ACCUMULATOR_H

#include "value/plan.h"

#include <stddef.h>
#include <stdint.h>

/*
 * X(ID, name, words, value, initial, is_ordered, check) for each accumulator, those of reductions
 * in the order of enum reductions_need: its number of words, how a value makes them, the initial
 * first word (XORed with the sign bias if it is ordered), and how words of unknown origin are
 * checked. They are exact for up to 2^64 - 1 values: the sum modulo 2^128, two's complement if the
 * type is signed, and the sum of the squares, below 2^192, both with the lowest word first; keys
 * (element.h); and the number of values in the interval or set of a predicate.
 */
#define ACCUMULATORS(X)                                \
    X(SUM, sum, 2, sum, 0, false, sum)                 \
    X(SQUARES, squares, 3, squares, 0, false, squares) \
    X(MIN, min, 1, key, UINT64_MAX, true, key)         \
    X(MAX, max, 1, key, 0, true, max)                  \
    X(AND, and, 1, key, UINT64_MAX, false, key)        \
    X(OR, or, 1, key, 0, false, key)                   \
    X(XOR, xor, 1, odd_key, 0, false, key)             \
    X(HITS, hits, 1, hits, 0, false, hits)

enum accumulator_id {
#define ACCUMULATOR_ENUM(id, ...) ACCUMULATOR_##id,
    ACCUMULATORS(ACCUMULATOR_ENUM)
#undef ACCUMULATOR_ENUM
        ACCUMULATOR_IDS
};

/* Maximum number of words of one accumulator, and the words of all of reductions: without hits. */
#define ACCUMULATOR_WORDS_MAX                    3
#define ACCUMULATOR_ADD_UP(id, name, words, ...) +(words)
#define ACCUMULATOR_WORDS_ALL                    (0 ACCUMULATORS(ACCUMULATOR_ADD_UP) - 1)

struct accumulator;
struct accumulator_use;

/* Maximum number of elements of a block: 32 KiB of 64-bit elements stay in or near L1. */
#define ACCUMULATOR_BLOCK ((size_t)4096)

/*
 * Stores the words of only elements[0..count): 1 to ACCUMULATOR_BLOCK elements in this machine's
 * byte order.
 */
typedef void accumulator_block_function(const struct accumulator_use *use, const void *elements,
                                        size_t count, uint64_t *words);

/* An accumulator of a plan. */
struct accumulator_use {
    enum accumulator_id id;
    const struct accumulator *accumulator;
    const struct predicate *predicate; /* the predicate that hits meet; not owned; else NULL */
    uint64_t sign_bias;                /* keys XOR this compare as unsigned words */
    size_t word;                       /* index of its first word in a row */
};

/* The layout of a plan's rows. Constant, and shared by all threads. */
struct accumulators {
    const struct plan *plan;
    accumulator_block_function *block;
    size_t count;                    /* index of the number of values, which follows the keys */
    size_t first;                    /* index of the accumulators' first word */
    size_t words;                    /* number of words of a row */
    size_t word_of[ACCUMULATOR_IDS]; /* index of the first word of each accumulator of the plan */
    uint64_t *initial;               /* [words]: a row without values, and with keys 0 */
    size_t uses;
    struct accumulator_use use[]; /* [uses] */
};

/*
 * Makes the layout of a plan's rows: with key_words words of keys, the accumulators of these needs
 * (enum reductions_need), and the hits of each predicate. The plan must outlive it. Returns NULL if
 * there is no memory. The caller frees it.
 */
struct accumulators *accumulators_create(const struct plan *plan, size_t key_words, unsigned needs);

/*
 * Adds the value keys[i] to the words of rows[i], for i < n, but does not count it. Rows may be
 * repeated.
 */
void accumulators_add_values(const void *accumulators, uint64_t *const *rows, const uint64_t *keys,
                             size_t n);

/* Adds the values keys[0..n), counts[i] times each, to a row. */
void accumulators_add_counts(const struct accumulators *accumulators, uint64_t *row,
                             const uint64_t *keys, const uint64_t *counts, size_t n);

/* Adds elements[0..count), a block as above, to a row. */
void accumulators_add_block(const struct accumulators *accumulators, uint64_t *row,
                            const void *elements, size_t count);

/*
 * Adds a row to a row with the same keys, for a table (table.h). Returns true.
 */
bool accumulators_merge(const void *accumulators, uint64_t *into, const uint64_t *from);

/* Copies from words[0..ACCUMULATOR_WORDS_ALL), of all reductions, those that the row has. */
void accumulators_select(const struct accumulators *accumulators, uint64_t *row,
                         const uint64_t *words);

/*
 * Returns whether some values could produce a row of unknown origin. Does not check its keys. Pure.
 */
bool accumulators_check(const struct accumulators *accumulators, const uint64_t *row);

/* Returns the words of an accumulator that the plan needs. Pure. */
static inline const uint64_t *accumulators_words(const struct accumulators *accumulators,
                                                 const uint64_t *row, enum accumulator_id id)
{
    return row + accumulators->word_of[id];
}

/* Returns the block function for a type in the best instruction set. Thread-safe. */
accumulator_block_function *accumulator_block_of(enum element_type type);

#endif
