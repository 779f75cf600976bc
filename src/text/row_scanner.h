/*
 * How the rows of a text and their columns are found: a const row for each way, which
 * plan->row_scanner (plan.h) chooses.
 *
 * Lines of fields (blanks, -d, CSV) are found by the loops of text_rows.c, and of text_fields.c if
 * one column is read: they count fields while they look for the ends of lines. Rows that name their
 * columns are found by a scan, which yields the values of the wanted columns, a row at a time.
 *
 * Thread-safe on distinct scans; wanted columns are only read while rows are scanned.
 */
#ifndef GPUHIST_ROW_SCANNER_H
#define GPUHIST_ROW_SCANNER_H

#include "lib/status.h"
#include "value/plan.h"

#define ROW_COLUMNS_MAX TEXT_COLUMNS_MAX

/* Room for a column's name in advice, and a NUL. */
#define ROW_NAME_SIZE 128

/* What a value is. A scanner may have further kinds, whose bytes stand as they are, too. */
enum row_value_kind {
    ROW_MISSING,
    ROW_NULL,    /* it is none, and the bytes say so */
    ROW_ESCAPED, /* a string with escapes, which the scanner decodes */
    ROW_PLAIN,
};

/* The value of a column: bytes of the text, without quotes around them. */
struct row_value {
    unsigned kind;
    size_t offset; /* in the text; undefined for ROW_MISSING, as is `bytes` */
    size_t bytes;
};

enum row_event {
    ROW_FOUND,
    ROW_INVALID, /* the row has a fault */
    ROW_END,     /* there is no further row */
};

/* A row, at data[begin..end). */
struct row {
    size_t begin;
    size_t end;
    const char *fault; /* ROW_INVALID: what is wrong, a constant string */
    struct row_value values[ROW_COLUMNS_MAX];
};

struct row_scanner {
    const char *option; /* that chooses it, without dashes; NULL: it is the default */
    bool names_columns; /* rows do, so that there is neither a header nor a number of a field; only
                           then there are the members below, but decode */
    bool skips_mark;    /* a byte order mark is not part of the first row */
    const char *noun;   /* what a row is, in messages */
    const char *part;   /* and the value of one of its columns */
    const char *wanted; /* how columns are wanted, for messages */
    const char *none;   /* what rows have where a value is missing; NULL: nothing says so */

    /*
     * Adds a column to the wanted ones, at first NULL, and sets *number to its number, from 0 on,
     * also if it is wanted already. The name stays until they are freed. Fails with STATUS_USAGE if
     * there is no such column, or with STATUS_DATA.
     */
    enum status (*want)(void **columns, const char *name, unsigned *number,
                        struct failure *failure);
    void (*forget)(void *columns); /* frees them; NULL is allowed */
    /* Whether a field, by its number from 1 on, has any number of values in a row, each of which
       `next` returns with those of the other columns. NULL: none has. */
    bool (*is_each)(const void *columns, int32_t field);
    /* The kind of a column that has none, as it is typed; NULL, also of the member: its values say
       it. A constant string. */
    const char *(*kind)(const char *name);

    size_t scan_bytes; /* of a scan */
    /* Begins to scan data[0..bytes), rows that end with newlines, which stay as they are. */
    void (*begin)(void *scan, const void *columns, const char *data, size_t bytes);
    /* Scans the next row, as a whole: of ROW_FOUND the value of each column, at its number. */
    enum row_event (*next)(void *scan, struct row *row);

    /* Decodes a value with escapes. The result, of which the length is returned, is no longer. */
    size_t (*decode)(const char *text, size_t bytes, char *decoded);
    /* Writes which column of row[0..bytes) a name that it lacks probably means, or "". NULL: none
       ever. */
    void (*suggest)(const char *row, size_t bytes, const char *name, char column[ROW_NAME_SIZE]);
};

extern const struct row_scanner *const row_scanners[ROW_SCANNERS];

/* Rows of the table that have a file of their own. */
extern const struct row_scanner json_scanner;
extern const struct row_scanner logfmt_scanner;
extern const struct row_scanner clf_scanner;

#endif
