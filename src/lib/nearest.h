/*
 * Finds the word that a mistyped word probably meant. Pure and thread-safe on distinct searches.
 *
 * The distance of two words is the minimum number of letters to insert, delete or replace, or of
 * neighbours to exchange, that turns one into the other, where no letter is changed twice: the
 * "optimal string alignment" distance (Damerau, "A Technique for Computer Detection and Correction
 * of Spelling Errors", Communications of the ACM 7(3), 1964). Case is ignored.
 */
#ifndef GPUHIST_NEAREST_H
#define GPUHIST_NEAREST_H

#include <stddef.h>

/* The search for the word nearest to typed[0..length). */
struct nearest {
    const char *typed;
    size_t length;
    const char *word; /* the nearest word so far; not owned; NULL: none is near */
    size_t word_length;
    unsigned distance; /* the best so far; at first 1, from two letters 2, from five 3 */
};

/* Begins a search. typed[0..length) must outlive it. */
struct nearest nearest_begin(const char *typed, size_t length);

/* Keeps word[0..length) if it is nearer than earlier words, and has at most 63 bytes. */
void nearest_try(struct nearest *search, const char *word, size_t length);

#endif
