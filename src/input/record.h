/*
 * Defines where chunks may be cut: after binary elements or records, after lines, or after tokens
 * if they can be parsed without their line (text_is_of_tokens).
 *
 * All functions are pure and thread-safe on distinct data.
 */
#ifndef GPUHIST_RECORD_H
#define GPUHIST_RECORD_H

#include "input/npy.h"
#include "text/text_scan.h"
#include "value/text_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The format of chunks. */
struct record_format {
    size_t element_bytes;   /* binary: size of an element or record */
    bool has_records;       /* binary: messages call elements records */
    bool has_arrays;        /* binary: each file is a NumPy array like `array` */
    struct npy array;       /* has_arrays: the array; the number of rows may differ */
    uint64_t array_column;  /* has_arrays, column-major: the column to read, from 0 */
    bool is_text;           /* text: each chunk belongs to one file */
    struct text_rules text; /* text: the rules before a header is read */
    bool drops_mark;        /* text: a file without a header may begin with a byte order mark */
    uint64_t header_lines;  /* number of lines to skip at the start of each file */
    size_t columns;         /* text: number of columns, 1 or more */
    bool has_names;         /* text: the header must be searched for names of fields */
    const char *names[TEXT_COLUMNS_MAX]; /* each column's name in the last header line; NULL: the
                                            field has a number; not owned */
    size_t half[TEXT_COLUMNS_MAX]; /* if the header lacks the column's name, it joins the fields of
                                      column `half` and the next one; 0: it does not */
};

/* Returns whether a character is white space, in any locale. */
static inline bool record_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns whether lines matter: chunks of text are not cut at every white space. */
static inline bool record_has_lines(const struct record_format *format)
{
    return format->is_text && (!text_is_of_tokens(&format->text) || format->text.has_comments);
}

/*
 * Returns whether carriage returns end rows in a file without a newline in its first block.
 */
static inline bool record_may_end_with_cr(const struct record_format *format)
{
    return format->text.delimiter != '\r' && format->is_text &&
           (record_has_lines(format) || format->header_lines > 0);
}

/*
 * Returns the length of the whole records in data[0..bytes). Examines only data[known..bytes): no
 * record ends before. In CSV, *state is the state at `known`, and becomes that at `bytes`; NULL:
 * newlines between quotes are ends, too.
 */
size_t record_cut(const struct record_format *format, const char *data, size_t known, size_t bytes,
                  enum text_scan_state *state);

/*
 * Returns the length of the first record in the text data[0..bytes); 0 if none ends there. In CSV,
 * the text begins in `state`.
 */
size_t record_find_end(const struct record_format *format, const char *data, size_t bytes,
                       enum text_scan_state state);

/* Returns whether a comment is the line of a W3C or Zeek log with the names of columns. */
bool record_has_columns(const char *line, size_t bytes);

/*
 * Returns whether a line, without its end, has the same columns as the header of the file with
 * these rules, as far as names are looked up.
 */
bool record_has_same_columns(const struct record_format *format, const struct text_rules *rules,
                             const char *line, size_t bytes);

/*
 * Begins to read a header line, without its end, with names of fields. Returns the start of the
 * first name: after a byte order mark, a '#' and the word of a W3C or a Zeek log, "Fields:" or
 * "fields". If the rules have no delimiter, sets it: tabs, if a tab separates two names; else
 * blanks, and then lines must have as many fields as the header (rules->columns). A first name '#'
 * before a tab may be a name or not; then fields are counted, too.
 */
size_t record_begin_header(struct text_rules *rules, const char *line, size_t bytes);

/*
 * Returns the number of the field with this name in a header line; 0 if there is none, -1 if there
 * are several. Reads the line like record_begin_header; the name may include the '#' before it.
 */
int32_t record_find_name(const struct text_rules *rules, const char *line, size_t bytes,
                         const char *name);

/*
 * Stores the name of the field with this number, from the end if negative, in a header line, or
 * NULL if there is none. The caller frees it. Returns false if there is no memory. Reads the line
 * like record_begin_header.
 */
bool record_copy_name(const struct text_rules *rules, const char *line, size_t bytes,
                      int32_t number, char **name);

/*
 * Looks up the names of all fields in a header line (record_find_name), and sets their numbers in
 * `rules`. A column that joins two fields gets the number of the first; if its own name is in the
 * header, the two get 0. Returns NULL, or the first name that does not occur exactly once, and
 * stores the result of record_find_name for it.
 */
const char *record_find_names(const struct record_format *format, const char *line, size_t bytes,
                              struct text_rules *rules, int32_t *number);

#endif
