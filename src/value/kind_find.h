/*
 * Finds the kind of a column from the values at the beginning of the input. The result of a run is
 * then that of the same command with the kind typed.
 *
 * Functions are thread-safe on distinct structs.
 */
#ifndef GPUHIST_KIND_FIND_H
#define GPUHIST_KIND_FIND_H

#include "value/kind.h"

#include <stdbool.h>
#include <stddef.h>

/* Room for KIND.N and a NUL. */
#define KIND_FIND_SIZE 16

/* What is known of the values of a column. All zeros: there was none. */
struct kind_find {
    size_t values;           /* that are not missing, */
    size_t integers;         /* and how many of them are digits with or without a minus, */
    size_t numbers;          /* have digits, maybe a sign and a point, */
    size_t times;            /* are times, */
    size_t addresses;        /* and are addresses as they are printed */
    size_t exponents;        /* numbers with an exponent, which are none of these */
    size_t amounts;          /* numbers of either form that are not 0: */
    int64_t digits_most;     /* before the point (struct kind_find_number), the most of all, */
    int64_t digits_least;    /* the fewest, */
    int64_t places;          /* and after it, the most of all */
    bool has_leading_zero;   /* an integer has */
    bool has_variants;       /* a number is written as none is printed: +7, 007, .5, 5. or -0 */
    bool has_offset;         /* a time has one, or Z */
    bool reads_on;           /* a time has words after its field */
    unsigned whole_digits;   /* before the point, the most of all, */
    unsigned decimals;       /* and after it, */
    unsigned decimals_least; /* and the fewest of numbers */
    unsigned fraction;       /* digits of seconds, the most of all */
};

/* How a number is written: a sign, digits, a point and digits, and an exponent. */
struct kind_find_number {
    bool has_plus;
    bool has_minus;
    bool has_point;
    bool has_exponent;
    bool has_leading_zero; /* and another digit before the point */
    bool is_zero;
    unsigned whole;    /* digits before the point, */
    unsigned decimals; /* and after it */
    /* What it is without zeros at its ends and an exponent: at most 2^60, either way. */
    int64_t digits; /* before the point; 0 and less: -digits zeros follow it */
    int64_t places; /* after the point; 0 and less: -places zeros precede it */
};

/* A kind that was found. */
struct kind_found {
    char kind[KIND_FIND_SIZE]; /* as it is typed; "": none, or that of integers */
    bool is_uniform;           /* all values are of it, and as it is printed if it is one of keys */
};

/* Reads how the number that text[0..bytes) is, is written. Returns false if it is none. Pure. */
bool kind_find_read_number(const char *text, size_t bytes, struct kind_find_number *number);

/*
 * Returns the decimals that keep six digits of a number whose first digit is `digits` before the
 * point, as in struct kind_find_number: 0 to TEXT_DECIMALS_MAX. Pure.
 */
unsigned kind_find_round(int64_t digits);

/* Returns whether all values are numbers, of which some have to be rounded, or a kind typed. Pure.
 */
bool kind_find_is_rounded(const struct kind_find *found);

/* Adds a value. */
void kind_find_add(struct kind_find *found, const struct kind_text *text);

/* How the values of a column are used. */
enum kind_find_use {
    KIND_FIND_NUMBERS,   /* as numbers: a name is none that helps */
    KIND_FIND_KEYS,      /* equal ones are one: all have to be written alike */
    KIND_FIND_COMPARISON /* a condition */
};

/*
 * Writes the kind of the values as it would be typed; "" is that of a column without a kind, which
 * also tells best what is wrong with a mixture. Returns NULL, or what is wrong with the values as
 * keys, for a message that ends with kinds to type, which are then in `kind`.
 */
const char *kind_find_choose(const struct kind_find *found, enum kind_find_use use,
                             char kind[KIND_FIND_SIZE]);

/*
 * Returns whether later values that are not like these would be read as well, but otherwise than
 * meant, so that they have to be refused: of times, and of keys which are printed as they are
 * written. Pure.
 */
bool kind_find_is_uniform(const struct kind_find *found, enum kind_find_use use);

/*
 * Writes the two kinds that may be meant where values are not all of the kind that was found: that
 * kind and text; of times, time and localtime with its digits.
 */
void kind_find_alternatives(const char *kind, char first[KIND_FIND_SIZE],
                            char second[KIND_FIND_SIZE]);

#endif
