/*
 * Suggestions for mistyped words.
 *
 * The distance of two words is the least number of letters to insert, delete or replace, or of
 * neighbours to exchange, that makes one of the other, where no letter is changed twice: the
 * "optimal string alignment" distance (Damerau, "A Technique for Computer Detection and Correction
 * of Spelling Errors", Communications of the ACM 7(3), 1964). Capitals are the same as small
 * letters.
 *
 * Thread-safe on distinct suggestions.
 */
#ifndef GPUHIST_SUGGESTION_H
#define GPUHIST_SUGGESTION_H

#include <stddef.h>

/* The search for the word nearest to typed[0..length). */
struct suggestion {
    const char *typed;
    size_t length;
    const char *word;  /* the nearest so far; NULL: none is near. As given to suggestion_consider */
    unsigned distance; /* only words nearer than this are near */
};

/* Begins a search. Words are near at a distance of 1, or from five letters on of 2. */
void suggestion_begin(struct suggestion *suggestion, const char *typed, size_t length);

/* Keeps the word, which has no capitals, if it is nearer than those before. */
void suggestion_consider(struct suggestion *suggestion, const char *word);

#endif
