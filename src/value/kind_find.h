/*
 * Finds the kind of a column from the values at the start of the input. The result of a run is then
 * the same as with that kind typed.
 *
 * Functions are thread-safe on distinct structs.
 */
#ifndef GPUHIST_KIND_FIND_H
#define GPUHIST_KIND_FIND_H

#include "value/kind.h"

#include <stdbool.h>
#include <stddef.h>

/* Size of a buffer for a typed kind with decimal places, KIND.N, and a NUL. */
#define KIND_FIND_SIZE 16

/* Statistics of the values of a column that tell its kind. All zeros: there was no value. */
struct kind_find {
    size_t placeholders;     /* number of words such as NA, which are not counted as values */
    size_t values;           /* number of values that are not missing */
    size_t integers;         /* number of values that are digits with or without a minus */
    size_t numbers;          /* number of values that are digits, maybe with a sign and a point */
    size_t times;            /* number of timestamps */
    size_t addresses;        /* number of IP addresses in the form in which they are printed */
    size_t variants;         /* number of IP addresses in another form, without port or brackets */
    size_t exponents;        /* number of numbers with an exponent, not counted in `numbers` */
    size_t amounts;          /* number of numbers of either form other than 0 */
    int64_t digits_most;     /* maximum of kind_find_number.digits of the amounts */
    int64_t digits_least;    /* minimum of kind_find_number.digits of the amounts */
    int64_t places;          /* maximum of kind_find_number.places of the amounts */
    bool has_leading_zero;   /* an integer has a leading zero */
    bool has_variants;       /* a number is not written as it is printed: +7, 007, .5, 5. or -0 */
    bool has_offset;         /* a timestamp has an offset or Z */
    bool reads_on;           /* a timestamp includes words after its field */
    unsigned whole_digits;   /* maximum number of digits before the point */
    unsigned decimals;       /* maximum number of digits after the point */
    unsigned decimals_least; /* minimum number of digits after the point */
    unsigned fraction;       /* maximum number of digits of a fraction of a second */
};

/* The notation of a number: a sign, digits, a point and digits, and an exponent. */
struct kind_find_number {
    bool has_plus;
    bool has_minus;
    bool has_point;
    bool has_exponent;
    bool has_leading_zero; /* it begins with a zero that another digit before the point follows */
    bool is_zero;
    unsigned whole;    /* number of digits before the point */
    unsigned decimals; /* number of digits after the point */
    /* The same with the exponent applied and without zeros at the ends; magnitudes up to 2^60. */
    int64_t digits; /* digits before the point; 0 or less: -digits zeros follow the point */
    int64_t places; /* digits after the point; 0 or less: -places zeros precede the point */
};

/* A kind that was found. */
struct kind_found {
    char kind[KIND_FIND_SIZE]; /* as users type it; "": integers, or no kind found */
    bool is_uniform;           /* later values must be like these (kind_find_is_uniform) */
};

/* Stores the notation of the number text[0..bytes). Returns false if it is not a number. Pure. */
bool kind_find_read_number(const char *text, size_t bytes, struct kind_find_number *number);

/*
 * Returns the number of decimal places, 0 to TEXT_DECIMALS_MAX, that keep six digits of a number
 * with `digits` digits before the point, as in struct kind_find_number. Pure.
 */
unsigned kind_find_round(int64_t digits);

/* Returns whether all values are numbers, and some must be rounded unless a kind is typed. Pure. */
bool kind_find_is_rounded(const struct kind_find *found);

/* Returns whether text[0..bytes) is a word or sign that programs write where a value is missing. */
bool kind_find_is_placeholder(const char *text, size_t bytes);

/* Adds a value. */
void kind_find_add(struct kind_find *found, const struct kind_text *text);

/* How the values of a column are used. */
enum kind_find_use {
    KIND_FIND_NUMBERS,   /* as numbers: IP addresses and strings are of no use */
    KIND_FIND_KEYS,      /* as keys: equal values must be written alike */
    KIND_FIND_COMPARISON /* in a condition */
};

/*
 * Writes the kind of the values as it would be typed. For a mixture it is "", the default, which
 * gives the best error messages. Placeholders count as strings if there is no number, time or
 * address; else not at all. Returns NULL, or if the values cannot be keys the reason, for a
 * message that ends with kinds to type: `kind` then has those.
 */
const char *kind_find_choose(const struct kind_find *found, enum kind_find_use use,
                             char kind[KIND_FIND_SIZE]);

/*
 * Returns whether later values that differ from these in form must be rejected, because the kind
 * would read them, but not as meant: timestamps, and keys that are printed as they are written.
 * Pure.
 */
bool kind_find_is_uniform(const struct kind_find *found, enum kind_find_use use);

/*
 * Writes the two kinds that may be meant if some values are not of the kind that was found: that
 * kind and text; for timestamps, time and localtime with its digits.
 */
void kind_find_alternatives(const char *kind, char first[KIND_FIND_SIZE],
                            char second[KIND_FIND_SIZE]);

#endif
