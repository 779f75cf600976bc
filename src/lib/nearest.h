/*
 * The word that a mistyped one was probably meant to be. Pure and thread-safe on distinct searches.
 *
 * The distance of two words is the smallest number of letters to insert, delete or replace, or of
 * neighbours to exchange, that makes one of the other, where no letter is changed twice: the
 * "optimal string alignment" distance (Damerau, "A Technique for Computer Detection and Correction
 * of Spelling Errors", Communications of the ACM 7(3), 1964). Capitals are the same as small
 * letters.
 */
#ifndef GPUHIST_NEAREST_H
#define GPUHIST_NEAREST_H

#include <stddef.h>

/* The search for the word nearest to typed[0..length). */
struct nearest {
    const char *typed;
    size_t length;
    const char *word; /* the nearest so far, of the caller; NULL: none is near */
    size_t word_length;
    unsigned distance; /* only nearer words are near: 0; from two letters on 1; from five on 2 */
};

/* Begins a search, which refers to the text until it ends. */
struct nearest nearest_begin(const char *typed, size_t length);

/* Keeps word[0..length) if it is nearer than those before. Words of more than 63 bytes are not. */
void nearest_try(struct nearest *search, const char *word, size_t length);

#endif
