/*
 * Kinds are column types. A kind is a row of one table, which says how values are read, written,
 * floored and named in messages. Other code asks what a kind can do, not which kind it is.
 *
 * All functions but kind_list_all are pure; all are thread-safe. The rows are constant.
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

/* Size of a buffer for the names of all kinds, with a NUL. */
#define KIND_LIST_SIZE 96

/* Size of a buffer for a width, with its slash and a NUL. */
#define KIND_WIDTH_SIZE 64

struct column;
struct element;

/* Number of values with each guess: their writer may have meant something else. */
struct kind_guesses {
    uint64_t times[KIND_TIME_GUESSES];
};

/* A value in its text. */
struct kind_text {
    const char *data;
    size_t bytes;
    size_t more;                  /* bytes after it on its line that may belong to a timestamp */
    bool is_cell;                 /* the value is the whole field, a cell; else a word */
    bool is_joined;               /* it is made of two fields; nothing after it belongs to it */
    struct kind_guesses *guesses; /* the counters to update; not owned */
};

/*
 * A row of the table. A zero-initialised element has the first one. Several rows may share a name:
 * it then means the first row that accepts the typed width, or without a width the first row.
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
    KIND_TIME_CYCLE, /* the number of a timestamp in a cycle: time/hour-of-day */
    KIND_LOCAL_TIME_CYCLE,
    KIND_IP,
    KIND_TEXT,
    KINDS,                /* the number of kinds that can be typed */
    KIND_UNKNOWN = KINDS, /* the kind is being found (kind_find.h) */
};

/* The arithmetic that values support. */
enum kind_scale {
    KIND_NUMBERS,  /* sums */
    KIND_INSTANTS, /* timestamps: differences, which are numbers */
    KIND_NAMES,    /* only an order */
};

/* The width that values are floored to. All zeros: they are not floored. */
struct kind_width {
    uint64_t units;                 /* numbers: floored to multiples of this */
    struct kind_time_bucket bucket; /* timestamps: floored to buckets, or numbers of a cycle */
    struct kind_ip_prefix prefix;   /* IP addresses: the bits that are kept; 32 and 128 keep all */
};

struct kind {
    const char *name;            /* the TYPE of COLUMN:TYPE; "": the type is only .N */
    const char *noun;            /* the word for a value in messages */
    const char *nouns;           /* the word for several values in messages */
    const char *value;           /* messages that a bound is invalid: the expected form */
    const char *hint;            /* follows `value` where options can change the form */
    const char *pair;            /* messages that LO:HI is invalid: the expected form */
    const char *list;            /* messages that a list is invalid: the expected form */
    const char *type;            /* the element type; NULL: any (plain numbers) */
    unsigned unit;               /* durations: 1 is 10^-unit seconds; sizes: K is this many bytes */
    unsigned words;              /* number of 64-bit words of a key */
    unsigned decimals_max;       /* maximum number of decimal places; 0: integers only */
    bool needs_decimals;         /* the number of decimal places must be typed: .N */
    bool is_rounded;             /* text: further decimal places are rounded, half to even */
    const char *microseconds;    /* the kind that reads the same values as microseconds, or NULL */
    bool has_exponents;          /* text, if the kind is typed: integers may have exponents */
    enum text_notation notation; /* how text is read */
    enum kind_scale scale;
    bool is_local;       /* timestamps are local times of an unknown place */
    bool has_dictionary; /* keys are numbers of strings in the plan's dictionary, or their ranks */

    /*
     * Reads a value of text, floors it to the width of its column and stores its key, `words`
     * words. Returns false if it is invalid. NULL: the parser does this, by the notation for
     * numbers and by the dictionary for strings.
     */
    bool (*parse)(const struct column *column, const struct kind_text *text, uint64_t key[2]);

    /* Writes a value, without a NUL, to ELEMENT_TEXT_SIZE bytes. Returns the length. */
    size_t (*write)(char *out, const struct element *element, __int128 value);

    /* Reads a bound, all of text[0..bytes). Returns false if it is not valid for the element. */
    bool (*read)(const struct element *element, const char *text, size_t bytes, __int128 *value);

    /*
     * Reads the WIDTH of COLUMN:TYPE/WIDTH for values with `decimals` decimal places. Returns false
     * if it is invalid. NULL: the kind has no widths.
     */
    bool (*parse_width)(const struct kind *kind, const char *text, size_t bytes, unsigned decimals,
                        struct kind_width *width);

    /*
     * Returns the start of the bucket after the one that starts at `value`, a floored value;
     * without a width, the next value. NULL: values have only an order.
     */
    __int128 (*next)(const struct column *column, __int128 value);

    /*
     * Writes a slash and a width as parse_width reads it, and a NUL; only the NUL if numbers or
     * timestamps are not floored. Equal widths are written alike. NULL: the kind has no widths.
     */
    void (*format_width)(char out[KIND_WIDTH_SIZE], const struct element *element,
                         const struct kind_width *width);
};

extern const struct kind kind_rows[KINDS + 1];

/* Returns the first kind of numbers with units that reads text[0..bytes), not a number; or NULL. */
const struct kind *kind_of_units(const char *text, size_t bytes);

/* Writes the names of all kinds, separated by blanks, and a NUL. */
void kind_list_all(char out[KIND_LIST_SIZE]);

/* Returns the id of a kind; KIND_INT for NULL. */
static inline enum kind_id kind_id_of(const struct kind *kind)
{
    return kind ? (enum kind_id)(kind - kind_rows) : KIND_INT;
}

/* Returns whether values are numbers, with or without decimal places. NULL is KIND_INT. */
static inline bool kind_is_number(const struct kind *kind, bool has_decimals)
{
    return kind ? kind->scale == KIND_NUMBERS && (kind->decimals_max > 0) == has_decimals
                : !has_decimals;
}

#endif
