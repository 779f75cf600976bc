/*
 * A struct reduce as words of 64 bits: those that the reductions of a job need, in the order of the
 * list below. States hold them (op_reduce.c), and so do the rows of groups (groups_row.h).
 *
 * All functions are pure, or change only what their arguments point to, and are thread-safe.
 */
#ifndef GPUHIST_REDUCE_WORDS_H
#define GPUHIST_REDUCE_WORDS_H

#include "count/reduce.h"

/*
 * X(NEED, words): the lower and the higher half of the sum modulo 2^128; the sum of the squares,
 * below 2^192, the lowest word first; keys (element.h).
 */
#define REDUCE_WORDS(X) X(SUM, 2) X(SQUARES, 3) X(MIN, 1) X(MAX, 1) X(AND, 1) X(OR, 1) X(XOR, 1)

#define REDUCE_WORDS_SUM_UP(need, n) +(n)
#define REDUCE_WORDS_MAX             (0 REDUCE_WORDS(REDUCE_WORDS_SUM_UP))

/* Returns how many words the needs (enum reductions_need) have. */
unsigned reduce_words_count(unsigned needs);

/* Writes the words of a struct reduce that is not empty. */
void reduce_words_pack(unsigned needs, const struct reduce *reduce, uint64_t *words);

/* The inverse of reduce_words_pack: stores in *reduce that number of elements, above 0. */
void reduce_words_unpack(const struct job *job, uint64_t elements, const uint64_t *words,
                         struct reduce *reduce);

/* Likewise, for words of unknown origin. Returns false if no elements can have them. */
bool reduce_words_check(const struct job *job, uint64_t elements, const uint64_t *words,
                        struct reduce *reduce);

#endif
