/*
 * Kinds: what the values of a column are. A kind is a row of one table, which says how values are
 * read, written, floored and named in messages. Other code asks what a kind can do, not which it
 * is.
 *
 * All functions but kind_names are pure; all are thread-safe. The rows are constant.
 */
#ifndef GPUHIST_KIND_H
#define GPUHIST_KIND_H

#include "value/kind_ip.h"
#include "value/kind_time.h"
#include "value/kind_time_bucket.h"
#include "value/kind_unit.h"
#include "value/text_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the names of all kinds. */
#define KIND_NAMES_SIZE 96

/* Room for a width, with its slash and a NUL. */
#define KIND_WIDTH_SIZE 64

struct column;
struct element;

/* How many values were read from what their writer may not have meant. */
struct kind_guesses {
    uint64_t times[KIND_TIME_GUESSES];
};

/* The text of a value, where it stands. */
struct kind_text {
    const char *data;
    size_t bytes;
    size_t more;                  /* bytes after it on its line, which may belong to a time */
    bool is_cell;                 /* the field is a cell, of which the value is all; else a word */
    bool is_joined;               /* it is made of two fields, and nothing after it belongs to it */
    struct kind_guesses *guesses; /* counts the value, if it is one of them */
};

/*
 * A row of the table. The first one is what an element of zeros has. Several rows may have one
 * name: it means the first that reads the typed width; without a width, the first.
 */
enum kind_id {
    KIND_INT,
    KIND_HEX,
    KIND_FIXED,
    KIND_ROUND,
    KIND_S,
    KIND_MS,
    KIND_US,
    KIND_NS,
    KIND_BYTES,
    KIND_IBYTES,
    KIND_TIME,
    KIND_LOCAL_TIME,
    KIND_TIME_CYCLE, /* the number of a time in a cycle, by a width of its own */
    KIND_LOCAL_TIME_CYCLE,
    KIND_IP,
    KIND_TEXT,
    KINDS,                /* the number of kinds that can be typed */
    KIND_UNKNOWN = KINDS, /* it is being found (kind_find.h) */
};

/* What can be computed of values. */
enum kind_scale {
    KIND_NUMBERS,  /* sums */
    KIND_INSTANTS, /* differences, which are numbers */
    KIND_NAMES,    /* only an order */
};

/* What values are floored to. Zeros: they are not. */
struct kind_width {
    uint64_t units;                 /* numbers: multiples of it */
    struct kind_time_bucket bucket; /* what is read from times */
    struct kind_ip_prefix
        prefix; /* addresses: the bits that are kept; none is dropped by 32, 128 */
};

struct kind {
    const char *name;            /* in COLUMN:KIND; "": it is only .N */
    const char *noun;            /* in messages: of a value */
    const char *nouns;           /* and of several */
    const char *value;           /* "expected" of a bound, */
    const char *hint;            /* with what follows where options are about it; */
    const char *pair;            /* of LO:HI, */
    const char *list;            /* and of a list */
    const char *type;            /* of the elements; NULL: any, of plain numbers */
    unsigned unit;               /* 1 is 10^-unit seconds; of sizes what K is */
    unsigned words;              /* of 64 bits that a key has */
    unsigned decimals_max;       /* 0: the kind has none */
    bool needs_decimals;         /* they are typed always: .N */
    bool is_rounded;             /* text: to its decimals, half to even */
    const char *microseconds;    /* the kind that reads its values as microseconds, or NULL */
    bool has_exponents;          /* text, where the kind is typed: an integer may have one */
    enum text_notation notation; /* how text is read */
    enum kind_scale scale;
    bool is_local;       /* read from times, as they were written somewhere */
    bool has_dictionary; /* keys are the numbers of strings in the plan's dictionary, or their ranks
                          */

    /*
     * Reads a value of text and floors it to the width of its column: stores its key, of `words`
     * words. Returns false if it is invalid. NULL: the parser does it, of numbers as the notation
     * says, of strings by the dictionary.
     */
    bool (*parse)(const struct column *column, const struct kind_text *text, uint64_t key[2]);

    /* Writes a value, without a NUL, to ELEMENT_TEXT_SIZE bytes. Returns the length. */
    size_t (*write)(char *out, const struct element *element, __int128 value);

    /* Reads a bound, all of text[0..bytes). Returns false if it is none of the element. */
    bool (*read)(const struct element *element, const char *text, size_t bytes, __int128 *value);

    /*
     * Reads the WIDTH of COLUMN:KIND/WIDTH of values with `decimals` decimals. Returns false if it
     * is none. NULL: the kind has no widths.
     */
    bool (*parse_width)(const struct kind *kind, const char *text, size_t bytes, unsigned decimals,
                        struct kind_width *width);

    /*
     * Returns the value after one that is floored to the width of its column, or after any if it
     * has none: where the next bucket begins. NULL: values have only an order.
     */
    __int128 (*next)(const struct column *column, __int128 value);

    /*
     * Writes a slash and a width as parse_width reads it, and a NUL; nothing if numbers or instants
     * are not floored. Strings of the same width give one. NULL: the kind has no widths.
     */
    void (*format_width)(char out[KIND_WIDTH_SIZE], const struct element *element,
                         const struct kind_width *width);
};

extern const struct kind kind_rows[KINDS + 1];

/* Returns the first kind of numbers with units that reads a text which is no number; or NULL. */
const struct kind *kind_find_units(const char *text, size_t bytes);

/* Writes the names of all kinds, with blanks between and a NUL. */
void kind_names(char out[KIND_NAMES_SIZE]);

/* Returns the id of a row, and that of integers for NULL. */
static inline enum kind_id kind_id_of(const struct kind *kind)
{
    return kind ? (enum kind_id)(kind - kind_rows) : KIND_INT;
}

/* Returns whether values are numbers, with or without decimals. NULL: those without. */
static inline bool kind_is_number(const struct kind *kind, bool has_decimals)
{
    return kind ? kind->scale == KIND_NUMBERS && (kind->decimals_max > 0) == has_decimals
                : !has_decimals;
}

#endif
