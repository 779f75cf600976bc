/*
 * Scans JSON Lines: each row of a text is one JSON object (RFC 8259). For each wanted column the
 * scanner returns the place of its value in the row; it builds no tree and copies nothing.
 *
 * Every row is checked as a whole, even if no column is wanted. The scanner accepts exactly the
 * objects of the grammar of RFC 8259, with these limits:
 * - NaN, Infinity and -Infinity are rejected; numbers may have any number of digits;
 * - a \u escape of a surrogate without its other half is rejected, because it is not a character;
 * - objects and arrays are nested at most JSON_DEPTH_MAX deep;
 * - bytes above 127 are not checked to be UTF-8.
 *
 * Rows that hold only white space are skipped. If an object has a key twice, the last one counts,
 * as in jq, even if its value is an object with wanted keys.
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
 * Adds the column of path[0..bytes), unless it is in the set, and sets *column to its number, from
 * 0. A path that begins with a dot names keys of nested objects: `.http.ms`, or quoted as in JSON,
 * `."a.b".c`. Any other path is a key of the row's object: `a.b`.
 *
 * Elements may follow a key: `.a[0]`, or `.a[-1].b` for the last one. The value is missing if the
 * array lacks that element, or if there is no array. `.a[]` is each element: the row has one value
 * per element, none if the array is empty, and json_lines_next returns the row once per value. If
 * the row has a member whose unquoted keys include the brackets, the value is that member's.
 *
 * Fails with STATUS_USAGE for any other path, for a second [], or for more than ROW_COLUMNS_MAX
 * columns, where an element of an array takes three; or with STATUS_DATA.
 */
enum status json_columns_add(struct json_columns *columns, const char *path, size_t bytes,
                             unsigned *column, struct failure *failure);

/* Returns true if the column with that number is each element of an array (`[]`). Pure. */
bool json_columns_is_each(const struct json_columns *columns, unsigned column);

/* --- rows ------------------------------------------------------------------------------------- */

/* The kinds of a row_value. The value of a string is the bytes between its quotes. */
enum json_kind {
    JSON_MISSING = ROW_MISSING,
    JSON_NULL = ROW_NULL,
    JSON_ESCAPED = ROW_ESCAPED, /* a string with escapes: json_string_decode */
    JSON_STRING = ROW_PLAIN,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_OBJECT,
    JSON_ARRAY,
};

/* Why a row is not an object. */
enum json_fault {
    JSON_NOT_OBJECT, /* the row begins with a byte other than { */
    JSON_BAD_VALUE,  /* a value is missing, or is neither a number nor true, false or null */
    JSON_NO_KEY,     /* there is no quoted key where one is required */
    JSON_NO_COLON,   /* there is no colon after a key */
    JSON_NO_COMMA,   /* there is neither a comma nor the right bracket after a value */
    JSON_UNCLOSED,   /* the row ends in a string, an object or an array */
    JSON_BAD_ESCAPE, /* an escape is invalid, or is half a surrogate pair */
    JSON_CONTROL,    /* a string has a control character, 0 to 31 */
    JSON_TOO_DEEP,   /* there are more than JSON_DEPTH_MAX levels */
    JSON_NOT_ONE,    /* something follows the object */
};

/* Number of bytes that are indexed at a time: they and the index stay in the L1 cache. */
#define JSON_WINDOW_BYTES 8192

/* Number of row shapes that are kept. */
#define JSON_SHAPES 4

/* Maximum number of values in a shape, and of bytes between them. */
#define JSON_SHAPE_VALUES 64
#define JSON_SHAPE_BYTES  2048

/* The shape of a row: its bytes without numbers, literals and the contents of strings. */
struct json_shape {
    /*
     * The bytes before each value, and after the last one. A piece begins and ends at an entry of
     * the index: the end of the value before it, and the byte before the next value.
     */
    struct json_piece {
        uint16_t bytes;
        uint16_t entries; /* number of index entries after the piece's first one */
        uint16_t node;    /* the wanted node of the value after the piece, or JSON_NODE_NONE */
        bool is_string;   /* that value is a string; else a number or literal */
    } pieces[JSON_SHAPE_VALUES + 1];
    unsigned count;                  /* number of pieces; 0: no shape is kept here */
    unsigned entries;                /* index entries of the whole row after the first */
    char text[JSON_SHAPE_BYTES + 8]; /* the bytes of all pieces in order */
};

/* The scanner of a text. Its users read only the members of the first group. */
struct json_lines {
    /* the row that json_lines_next returned last */
    size_t row_begin;
    size_t row_end; /* the offset of its end byte, or the end of the text */
    enum json_fault fault;
    size_t fault_offset; /* the offset of the fault in the text */

    const struct json_columns *columns;
    const char *data;
    size_t bytes;
    char end_byte;
    size_t row_next; /* the offset of the next row */

    /* the first stage */
    void (*index_window)(struct json_lines *lines); /* the function for the instruction set */
    size_t next; /* the offset of the first byte not indexed; if is_broken, of the invalid byte */
    size_t escapes_end; /* the end of the last escape or surrogate pair that was checked */
    bool is_broken;     /* a string is invalid: the row of the last entry ends in it */
    bool is_escaped;    /* a backslash escapes the byte at `next` */
    bool is_inside;     /* the byte at `next` is inside a string */

    /* the index: quotes, and brackets, colons, commas and row ends outside strings */
    size_t window;  /* the offset of the first indexed byte */
    unsigned count; /* number of entries */
    unsigned used;  /* number of entries that the scan has passed */
    bool window_has_backslash;
    bool has_backslash;                     /* a window of the row has one */
    uint16_t index[JSON_WINDOW_BYTES + 64]; /* offsets from `window`, ascending */

    uint16_t stack[JSON_DEPTH_MAX]; /* the nodes of the open brackets, with a mark for arrays */

    /* the values of the row that is being scanned, from which its shape is made */
    struct json_mark {
        uint16_t entry; /* the entry of `index` at the end of the value */
        uint16_t node;
    } marks[JSON_SHAPE_VALUES];
    unsigned mark_count; /* more than JSON_SHAPE_VALUES: the row's shape is not kept */
    struct json_shape shapes[JSON_SHAPES];
    unsigned shape;        /* the shape that the last matching row had */
    unsigned shape_oldest; /* the shape to replace next */
    unsigned misses;       /* number of rows without a known shape since the last match */

    /* the third stage: the row that json_lines_next returned last, if it has further values */
    size_t element; /* the next element of its array; 0: there is none */
    struct row_value values[ROW_COLUMNS_MAX];
};

/*
 * Starts on data[0..bytes), which begins with a row. `end_byte`, a newline, a carriage return or
 * NUL, ends each row but the last. The data must not change until the scan ends.
 */
void json_lines_begin(struct json_lines *lines, const struct json_columns *columns, char end_byte,
                      const char *data, size_t bytes);

/*
 * Scans the next row, or returns the same row with its next element of an array. ROW_FOUND: stores
 * the value of each column in values[its number]; the rest of the array may be overwritten.
 * ROW_INVALID: sets lines->fault and its offset; the values are undefined, and the next call
 * continues with the row after it.
 */
enum row_event json_lines_next(struct json_lines *lines, struct row_value *values);

/*
 * Reads the escape that begins with the backslash text[0], within text[0..bytes). Sets *code to the
 * code point and returns the length: 2, or 6, or 12 for a surrogate pair. Returns 0 if it is not an
 * escape.
 */
size_t json_escape_read(const char *text, size_t bytes, uint32_t *code);

/* Returns a fault in words, which follow "not a JSON object: " in messages. */
const char *json_fault_text(enum json_fault fault);

/*
 * Decodes the escapes of string[0..bytes), the bytes between the quotes of a JSON_ESCAPED value, to
 * `text`, and returns the length. `text` must have room for `bytes` bytes, the maximum length.
 */
size_t json_string_decode(const char *string, size_t bytes, char *text);

/*
 * Returns whether text[0..bytes) is a number of JSON,
 * `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
 */
bool json_is_number(const char *text, size_t bytes);

#endif
