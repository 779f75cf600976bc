/*
 * Scans JSON Lines: each row of a text is one JSON object (RFC 8259). For each wanted column the
 * scanner yields where its value stands in the row; it builds no tree and copies nothing.
 *
 * Every row is checked as a whole, also where no column is wanted: exactly the rows are accepted
 * that are objects by the grammar of RFC 8259, with these limits:
 * - NaN, Infinity and -Infinity are refused; numbers may have any number of digits;
 * - a \u escape of a surrogate without its other half is refused, because no text has it;
 * - objects and arrays are nested at most JSON_DEPTH_MAX deep;
 * - bytes above 127 are not checked to be UTF-8.
 *
 * Rows that hold only white space are skipped. Where a key stands twice in an object the last one
 * counts, also of an object that holds wanted keys, as in jq.
 *
 * Thread-safe on distinct objects; struct json_columns is only read while rows are scanned.
 */
#ifndef GPUHIST_JSON_LINES_H
#define GPUHIST_JSON_LINES_H

#include "text/row_scanner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 1024

/* --- the wanted columns ----------------------------------------------------------------------- */

/* A set of wanted columns, for any number of scanners. */
struct json_columns;

/* Creates an empty set; NULL if there is no memory. The caller destroys it. */
struct json_columns *json_columns_create(void);

/* NULL is allowed. */
void json_columns_destroy(struct json_columns *columns);

/*
 * Adds the column of path[0..bytes) and sets *column to its number, from 0 on, also if it is in the
 * set. A path that begins with a dot names keys of nested objects: `.http.ms`, or with quotes, as a
 * string in JSON, `."a.b".c`. Any other path is a key of the row's object: `a.b`.
 *
 * A key may be followed by elements: `.a[0]`, `.a[-1].b`, the last one; of an array that has none,
 * and of what is no array, the value is missing. `.a[]` is each element: a row has as many values,
 * none if the array is empty, and json_lines_next returns it with each. If the row has a member of
 * just that path, as if the brackets were part of its keys, the value is that of the member; keys
 * in quotes are no such keys.
 *
 * Fails with STATUS_USAGE for a path that is neither, a second [], or more than ROW_COLUMNS_MAX, of
 * which elements of arrays take three each; or with STATUS_DATA.
 */
enum status json_columns_add(struct json_columns *columns, const char *path, size_t bytes,
                             unsigned *column, struct failure *failure);

/* Returns whether a column, by its number, is each element of an array. Pure. */
bool json_columns_is_each(const struct json_columns *columns, unsigned column);

/* --- rows ------------------------------------------------------------------------------------- */

/* The kinds of a row_value: of strings, it is the bytes between the quotes. */
enum json_kind {
    JSON_MISSING = ROW_MISSING,
    JSON_NULL = ROW_NULL,
    JSON_ESCAPED = ROW_ESCAPED, /* a string: json_string_decode */
    JSON_STRING = ROW_PLAIN,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_OBJECT,
    JSON_ARRAY,
};

/* Why a row is not an object. */
enum json_fault {
    JSON_NOT_OBJECT, /* it begins with another byte than { */
    JSON_BAD_VALUE,  /* what is neither a number nor true, false or null; or nothing */
    JSON_NO_KEY,     /* something else where a key in quotes has to be */
    JSON_NO_COLON,   /* something else after a key */
    JSON_NO_COMMA,   /* something else after a value, or the wrong bracket */
    JSON_UNCLOSED,   /* the row ends in a string, an object or an array */
    JSON_BAD_ESCAPE, /* also half a surrogate pair */
    JSON_CONTROL,    /* a control character, 0 to 31, in a string */
    JSON_TOO_DEEP,   /* JSON_DEPTH_MAX */
    JSON_NOT_ONE,    /* something after the object */
};

/* The bytes that are indexed at a time: they and the index stay in the L1 cache. */
#define JSON_WINDOW_BYTES 8192

/* How many shapes of rows are kept. */
#define JSON_SHAPES 4

/* The most that the shape of a row has: values, and bytes of what stands between them. */
#define JSON_SHAPE_VALUES 64
#define JSON_SHAPE_BYTES  2048

/* The shape of a row: all but its numbers, literals and what its strings hold. */
struct json_shape {
    /*
     * What stands before each value and, in the last one, after all: from one entry of the index to
     * another. The entry before is the end of a value, the entry after is that of the next one.
     */
    struct json_piece {
        uint16_t bytes;
        uint16_t entries; /* but the first */
        uint16_t node;    /* of the value after it */
        bool is_string;   /* that value; else a number or literal */
    } pieces[JSON_SHAPE_VALUES + 1];
    unsigned count;                  /* pieces; 0: there is no shape */
    unsigned entries;                /* of all pieces and values */
    char text[JSON_SHAPE_BYTES + 8]; /* of all pieces */
};

/* The scanner of a text. Its users read only the members of the first group. */
struct json_lines {
    /* the row that json_lines_next returned last */
    size_t row_begin;
    size_t row_end; /* its end byte, or the end of the text */
    enum json_fault fault;
    size_t fault_offset; /* in the text */

    const struct json_columns *columns;
    const char *data;
    size_t bytes;
    char end_byte;
    size_t row_next; /* where the next row begins */

    /* the first stage */
    void (*index_window)(struct json_lines *lines); /* for the instruction set */
    size_t next; /* the first byte that is not indexed; if is_broken, the one that is wrong */
    size_t escapes_end; /* of the last surrogate pair or other escape that was checked */
    bool is_broken;     /* a string turned out wrong: the row of the last entry ends in it */
    bool is_escaped;    /* the byte at `next` is, by a backslash before it */
    bool is_inside;     /* the byte at `next` is inside a string */

    /* the index: quotes, and brackets, colons, commas and row ends outside strings */
    size_t window;  /* where the indexed bytes begin */
    unsigned count; /* entries */
    unsigned used;  /* entries that the scan is past */
    bool window_has_backslash;
    bool has_backslash;                     /* that window or another one of the row */
    uint16_t index[JSON_WINDOW_BYTES + 64]; /* offsets from `window` on, ascending */

    uint16_t stack[JSON_DEPTH_MAX]; /* the nodes of the open brackets, with a mark for arrays */

    /* the values of the row that is being scanned, for its shape */
    struct json_mark {
        uint16_t entry; /* in `index`: of the end of the value */
        uint16_t node;
    } marks[JSON_SHAPE_VALUES];
    unsigned mark_count; /* more than JSON_SHAPE_VALUES: the row's shape is not kept */
    struct json_shape shapes[JSON_SHAPES];
    unsigned shape;        /* that of the last row that had one */
    unsigned shape_oldest; /* the one to replace */
    unsigned misses;       /* rows of other shapes, one after the other */

    /* the third stage: the row that json_lines_next returned last, if it has further values */
    size_t element; /* the next element of its array; 0: there is none */
    struct row_value values[ROW_COLUMNS_MAX];
};

/*
 * Starts on data[0..bytes), which begins with a row; `end_byte` ends each but the last: a newline,
 * a carriage return or NUL. The data have to stay as they are until the scan ends.
 */
void json_lines_begin(struct json_lines *lines, const struct json_columns *columns, char end_byte,
                      const char *data, size_t bytes);

/*
 * Scans the next row, or with each element of an array its next value. ROW_FOUND: stores the value
 * of each column in values[its number], and maybe others in those up to ROW_COLUMNS_MAX.
 * ROW_INVALID: sets lines->fault and its offset; the values are undefined, and the next call goes
 * on with the row after it.
 */
enum row_event json_lines_next(struct json_lines *lines, struct row_value *values);

/*
 * Reads the escape that begins with the backslash text[0]; `bytes` may be read. Sets *code to the
 * code point and returns how many bytes it takes: 2, or 6, or 12 for a surrogate pair. Returns 0 if
 * it is not an escape.
 */
size_t json_escape_read(const char *text, size_t bytes, uint32_t *code);

/* A fault in words, to follow "not a JSON object: ". */
const char *json_fault_text(enum json_fault fault);

/*
 * Decodes the escapes of string[0..bytes), the bytes between the quotes of a JSON_ESCAPED value, to
 * text[0..returned), which has to hold `bytes` bytes: what is decoded is never longer.
 */
size_t json_string_decode(const char *string, size_t bytes, char *text);

/*
 * Returns whether text[0..bytes) is a number of JSON,
 * `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
 */
bool json_is_number(const char *text, size_t bytes);

#endif
