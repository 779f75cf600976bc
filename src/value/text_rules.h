/*
 * Which parts of a line of text are values, and how values are written. text/text.h defines fields,
 * tokens, lines and the notations.
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

/* The columns of a plan. */
#define TEXT_COLUMNS_MAX 64

/* Every power of ten up to this one fits 64 bits, with a sign. */
#define TEXT_DECIMALS_MAX 18

/* How a value is written. */
enum text_notation {
    TEXT_INTEGERS, /* decimal integers */
    TEXT_FIXED,    /* decimal numbers with a point; values are multiples of 10^-decimals */
    TEXT_HEX,      /* hexadecimal integers */
    TEXT_OPAQUE,   /* no token is a value: the parser returns the position of each */
    /* The rest is only for columns of rows (text_rows.h). */
    TEXT_NOTHING, /* of any row: no token is read */
    TEXT_TIME,    /* kind_time.h */
    TEXT_IP,      /* kind_ip.h */
    TEXT_OTHER,   /* as the kind reads it (kind.h), only on the CPU */
    TEXT_BYTES,   /* the bytes of the field, at most TEXT_BYTES_MAX */
};

/* What ends the rows of a file. Chunks have newlines there. */
enum text_row_end {
    TEXT_ENDS_LF,
    TEXT_ENDS_CR,        /* carriage returns alone, as on an old Mac */
    TEXT_ENDS_NUL,       /* newlines are spaces */
    TEXT_ENDS_NUL_EXACT, /* newlines are vertical tabs, and these are NULs */
};

/* How the rows of a text are found (text/row_scanner.h). */
enum row_scanner_id {
    ROW_LINES, /* of fields */
    ROW_JSON,
    ROW_LOGFMT,
    ROW_CLF,
    ROW_SCANNERS, /* their number */
};

struct text_rules {
    int32_t field; /* the number of the field, from 1; 0: every token or part. If it has a name: 1
                      in the plan, and its number in the file in the rules of a chunk */
    int32_t more[TEXT_COLUMNS_MAX - 1]; /* as `field`, of the plan's further columns */
    int32_t columns; /* of a field counted from the left: a line with another number of fields is an
                        invalid token; 0: lines are not counted. Their parts are not quoted */
    int delimiter;   /* a byte, or TEXT_NO_DELIMITER. In a chunk: of its file */
    bool is_quoted;  /* parts may be quoted (RFC 4180); there is a delimiter */
    bool from_zero;  /* of fields: negative values are invalid */
    bool has_comments; /* lines that begin with `comment` are skipped; chunks have blank ones */
    char comment;      /* no newline */
    enum text_notation notation;
    unsigned decimals;  /* TEXT_FIXED: at most TEXT_DECIMALS_MAX */
    bool is_rounded;    /* TEXT_FIXED: further decimals are rounded, half to even */
    bool has_exponents; /* TEXT_INTEGERS: 12e3 is one */
    bool is_found;      /* numbers that are not written as they are printed are invalid: 007 */
};

/* Returns the number of the field of a column of the plan; 0: it has none. Pure. */
static inline int32_t text_rules_field(const struct text_rules *rules, size_t column)
{
    return column == 0 ? rules->field : rules->more[column - 1];
}

/*
 * Returns whether a field is a cell, of which a time is all; else words may follow that belong to
 * it. A field of CSV between blanks is none unless it is in quotes. Pure.
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
