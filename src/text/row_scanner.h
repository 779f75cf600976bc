/*
 * Row scanners find the rows of a text and their columns. The table has one constant row for each;
 * plan->row_scanner (plan.h) selects one.
 *
 * The loops of text_rows.c, or of text_fields.c if one column is read, find lines of fields
 * (blanks, -d, CSV): they count fields while they look for the ends of lines. A scan finds rows
 * that name their columns, and returns the values of the wanted columns row by row.
 *
 * Thread-safe on distinct scans; scans only read the wanted columns.
 */
#ifndef GPUHIST_ROW_SCANNER_H
#define GPUHIST_ROW_SCANNER_H

#include "lib/status.h"
#include "value/plan.h"

#define ROW_COLUMNS_MAX TEXT_COLUMNS_MAX

/* Size of a buffer for a column's name in advice, with a NUL. */
#define ROW_NAME_SIZE 128

/* The kind of a value. A scanner may have further kinds, which like ROW_PLAIN need no decoding. */
enum row_value_kind {
    ROW_MISSING,
    ROW_NULL,    /* no value: the bytes are a placeholder, such as null */
    ROW_DASH,    /* no value, unless strings are wanted: the bytes are a dash */
    ROW_ESCAPED, /* a string with escapes, which the scanner decodes */
    ROW_PLAIN,
};

/* The value of a column: bytes of the text, without enclosing quotes. */
struct row_value {
    unsigned kind;
    size_t offset; /* offset of the value in the text; undefined for ROW_MISSING, like `bytes` */
    size_t bytes;
};

enum row_event {
    ROW_FOUND,
    ROW_INVALID, /* the row is invalid */
    ROW_END,     /* there is no further row */
};

/* A row, at data[begin..end). */
struct row {
    size_t begin;
    size_t end;
    const char *fault; /* ROW_INVALID: the reason, a constant string */
    struct row_value values[ROW_COLUMNS_MAX];
};

struct row_scanner {
    const char *option; /* the option that selects it, without dashes; NULL: the default */
    bool names_columns; /* rows name their columns: there are neither headers nor field numbers;
                           the members below, except `decode`, exist only then */
    bool skips_mark;    /* a byte order mark is not part of the first row */
    const char *noun;   /* the word for a row in messages */
    const char *part;   /* the word for the value of a column in messages */
    const char *wanted; /* the form of column names, for messages */
    const char *none;   /* the placeholder for a missing value; NULL: there is none */

    /*
     * Adds a column to *columns, unless it is there, and sets *number to its number, from 0.
     * *columns is NULL at first; `name` must outlive it. Fails with STATUS_USAGE if there is no
     * such column, or with STATUS_DATA.
     */
    enum status (*want)(void **columns, const char *name, unsigned *number,
                        struct failure *failure);
    void (*forget)(void *columns); /* frees the wanted columns; NULL is allowed */
    /* Returns true if a field, numbered from 1, may have several values in a row. `next` then
       returns the row once for each of them. NULL: no field has. */
    bool (*is_each)(const void *columns, int32_t field);
    /* Returns the type of a column without a typed one, as it would be typed; a constant string.
       NULL, also for the member: the values determine it. */
    const char *(*kind)(const char *name);

    size_t scan_bytes; /* size of the object `scan` */
    /* Begins to scan data[0..bytes), rows that end with newlines. The data must not change. */
    void (*begin)(void *scan, const void *columns, const char *data, size_t bytes);
    /* Scans the next row. ROW_FOUND: row->values has the value of each column, by its number. */
    enum row_event (*next)(void *scan, struct row *row);

    /* Decodes a value with escapes, and returns the length, at most `bytes`. */
    size_t (*decode)(const char *text, size_t bytes, char *decoded);
    /* Writes the column of row[0..bytes) that a name which the row lacks probably means, or "".
       NULL: there is never a suggestion. */
    void (*suggest)(const char *row, size_t bytes, const char *name, char column[ROW_NAME_SIZE]);
};

extern const struct row_scanner *const row_scanners[ROW_SCANNERS];

/* The scanners of rows that name their columns. */
extern const struct row_scanner json_scanner;
extern const struct row_scanner logfmt_scanner;
extern const struct row_scanner clf_scanner;

#endif
