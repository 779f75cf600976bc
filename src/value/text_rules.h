/*
 * The rules of a text: which parts of its lines are values, and the notation of values. text/text.h
 * defines fields, tokens, lines and the notations.
 */
#ifndef GPUHIST_TEXT_RULES_H
#define GPUHIST_TEXT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_NO_DELIMITER (-1)

/* The number of the field that is the whole line. */
#define TEXT_WHOLE_LINE INT32_MIN

#define TEXT_BYTES_MAX ((size_t)64 << 10)

/* Maximum number of columns of a plan. */
#define TEXT_COLUMNS_MAX 64

/* Maximum number of decimal places: 10^18 fits 64 bits with a sign. */
#define TEXT_DECIMALS_MAX 18

/* The notation of a value. */
enum text_notation {
    TEXT_INTEGERS, /* decimal integers */
    TEXT_FIXED,    /* decimal numbers with a point; values are multiples of 10^-decimals */
    TEXT_HEX,      /* hexadecimal integers */
    TEXT_OPAQUE,   /* no token is a value: the parser returns the position of each */
    /* The rest is only for columns of rows (text_rows.h). */
    TEXT_NOTHING, /* no token is read: every row counts */
    TEXT_TIME,    /* timestamps (kind_time.h) */
    TEXT_IP,      /* IP addresses (kind_ip.h) */
    TEXT_OTHER,   /* the kind's own (kind.h); only on the CPU */
    TEXT_BYTES,   /* strings: the bytes of the field, at most TEXT_BYTES_MAX */
};

/* The bytes that end the rows of a file. The reader replaces them by newlines. */
enum text_row_end {
    TEXT_ENDS_LF,
    TEXT_ENDS_CR,        /* carriage returns without newlines, as on an old Mac */
    TEXT_ENDS_NUL,       /* NULs; the reader replaces newlines by spaces */
    TEXT_ENDS_NUL_EXACT, /* NULs; the reader replaces newlines by vertical tabs, these by NULs */
};

/* The scanner that finds the rows of a text (text/row_scanner.h). */
enum row_scanner_id {
    ROW_LINES, /* lines of fields */
    ROW_JSON,
    ROW_LOGFMT,
    ROW_CLF,
    ROW_SCANNERS, /* the number of scanners */
};

struct text_rules {
    int32_t field; /* the field's number, from 1; 0: every token or part. A field with a name is 1
                      in the plan; a chunk has its number in the file */
    int32_t more[TEXT_COLUMNS_MAX - 1]; /* like `field`, for the plan's further columns */
    int32_t columns; /* number of fields that lines must have, if fields are counted from the left;
                        other lines are invalid tokens. 0: any number; parts are not quoted */
    int delimiter;   /* a byte, or TEXT_NO_DELIMITER; in a chunk, that of its file */
    bool is_quoted;  /* parts may be quoted (RFC 4180); there is a delimiter */
    bool from_zero;  /* fields: negative values are invalid */
    bool has_comments; /* lines that begin with `comment` are skipped; chunks have blank ones */
    char comment;      /* the first byte of comments, not a newline */
    enum text_notation notation;
    unsigned decimals;  /* TEXT_FIXED: number of decimal places, at most TEXT_DECIMALS_MAX */
    bool is_rounded;    /* TEXT_FIXED: further decimal places are rounded, half to even */
    bool has_exponents; /* TEXT_INTEGERS: 12e3 is an integer */
    bool is_found;      /* numbers not written as they are printed, such as 007, are invalid */
};

/* Returns the field number of a column of the plan; 0: it has no field. Pure. */
static inline int32_t text_rules_field(const struct text_rules *rules, size_t column)
{
    return column == 0 ? rules->field : rules->more[column - 1];
}

/*
 * Returns true if fields are cells, which a timestamp must fill; otherwise it may continue in the
 * next words. Fields between spaces are not cells; those between tabs are if they may be quoted.
 * Pure.
 */
static inline bool text_has_cells(const struct text_rules *rules)
{
    return rules->delimiter != TEXT_NO_DELIMITER && rules->delimiter != ' ' &&
           (rules->delimiter != '\t' || rules->is_quoted);
}

/* Returns whether chunks of text may be cut at any white space, not only at newlines. Pure. */
static inline bool text_is_of_tokens(const struct text_rules *rules)
{
    return rules->field == 0 && rules->delimiter == TEXT_NO_DELIMITER;
}

#endif
