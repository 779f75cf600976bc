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

/* What chunks consist of. */
struct record_format {
    size_t element_bytes;   /* of binary input: of an element or record */
    bool has_records;       /* of binary input: these are records, as messages call them */
    bool has_arrays;        /* of binary input: each file is an array of NumPy like this one, */
    struct npy array;       /* with any number of rows, */
    uint64_t array_column;  /* and if it is column-major only of this column, from 0 */
    bool is_text;           /* a chunk of text is of one file */
    struct text_rules text; /* of text */
    bool drops_mark;        /* of text: a file without a header may begin with a byte order mark */
    uint64_t header_lines;  /* of each file, skipped */
    size_t columns;         /* of text: 1 or more */
    bool has_names;         /* some field has, so that it has to be looked up in the header */
    const char *names[TEXT_COLUMNS_MAX]; /* of their fields, in the last header line; NULL: the
                                            field has none; not owned */
    size_t half[TEXT_COLUMNS_MAX]; /* a name that the header lacks joins the field of that column
                                      and the next one; 0: it does not */
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
 * Returns whether carriage returns end the rows of a file that has no newline in its first block.
 */
static inline bool record_may_end_with_cr(const struct record_format *format)
{
    return format->text.delimiter != '\r' && format->is_text &&
           (record_has_lines(format) || format->header_lines > 0);
}

/*
 * Returns how many of data[0..bytes) are whole records. Examines only data[known..bytes): the
 * caller knows that no record ends before. Of CSV, *state is that at `known`, and becomes that at
 * `bytes`; NULL: newlines between quotes are ends, too.
 */
size_t record_cut(const struct record_format *format, const char *data, size_t known, size_t bytes,
                  enum text_scan_state *state);

/*
 * The length of the text data[0..bytes) up to the end of its first record; 0 if none ends there. Of
 * CSV it begins in a state.
 */
size_t record_find_end(const struct record_format *format, const char *data, size_t bytes,
                       enum text_scan_state state);

/* Returns whether a comment is the line of a W3C or Zeek log that names its columns. */
bool record_has_columns(const char *line, size_t bytes);

/*
 * Returns whether a line, without its end, names the columns as the header of the file does whose
 * rules these are, as far as names are looked up.
 */
bool record_has_same_columns(const struct record_format *format, const struct text_rules *rules,
                             const char *line, size_t bytes);

/*
 * Begins to read a header line with names of fields, which is without its end. Returns where the
 * first name begins: after a byte order mark, a '#' and the word of a W3C or a Zeek log, "Fields:"
 * or "fields". Sets how the lines of the file are separated: if the rules have no delimiter, and
 * there is a tab between two names, by tabs; else by blanks, and then each has as many fields as
 * the header (rules->columns). A first name of '#' alone, before a tab, may be one or may be none;
 * then fields are counted, too.
 */
size_t record_begin_header(struct text_rules *rules, const char *line, size_t bytes);

/*
 * Returns the number of the field with this name in a header line; 0 if there is none, -1 if there
 * are several. As record_begin_header; a name may also be given with the '#' before it.
 */
int32_t record_find_name(const struct text_rules *rules, const char *line, size_t bytes,
                         const char *name);

/*
 * Stores the name that a header line has for the field with this number, from the end if it is
 * negative, or NULL if it has none. The caller frees it. Returns false if there is no memory. Reads
 * the line as record_begin_header does.
 */
bool record_copy_name(const struct text_rules *rules, const char *line, size_t bytes,
                      int32_t number, char **name);

/*
 * Looks up the names of all fields in a header line, as record_find_name, and sets their numbers in
 * `rules`. One that joins two fields gets the number of the first, or where it is in the header
 * itself, the two get 0. Returns NULL, or the first name that is not there once, and stores what
 * record_find_name returns for it.
 */
const char *record_find_names(const struct record_format *format, const char *line, size_t bytes,
                              struct text_rules *rules, int32_t *number);

#endif
