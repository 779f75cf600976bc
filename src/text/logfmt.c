/*
 * The scanner of logfmt: each row is a line of pairs KEY=VALUE with blanks between them.
 *
 * A value ends at the next blank, or is in double quotes, where \" \\ \n \t \r and \uXXXX are
 * escapes, like in Go's writers, and two halves of a surrogate pair are one character. A key
 * without = or a value has the empty value. Keys have no blanks, = or quotes, and are not empty;
 * unquoted values have no quotes. If a key is duplicated, the last one counts. Lines of blanks are
 * skipped.
 */
#include "config.h"

#include "lib/nearest.h"
#include "text/json_lines.h"
#include "text/row_scanner.h"
#include "text/text_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the wanted columns ----------------------------------------------------------------------- */

struct logfmt_columns {
    const char *keys[ROW_COLUMNS_MAX]; /* [count], not owned */
    size_t bytes[ROW_COLUMNS_MAX];     /* [count]: length of each key */
    unsigned count;
    uint64_t lengths; /* bit n: some key has n bytes, or 63 or more */
};

static uint64_t logfmt_length_bit(size_t bytes)
{
    return (uint64_t)1 << (bytes < 63 ? bytes : 63);
}

/* Returns the number of the column with this key, or `count`. */
static unsigned logfmt_find(const struct logfmt_columns *columns, const char *key, size_t bytes)
{
    unsigned i = 0;

    if (!(columns->lengths & logfmt_length_bit(bytes)))
        return columns->count;
    while (i < columns->count &&
           (columns->bytes[i] != bytes || memcmp(columns->keys[i], key, bytes) != 0))
        i++;
    return i;
}

static enum status logfmt_want(void **wanted, const char *name, unsigned *number,
                               struct failure *failure)
{
    struct logfmt_columns *columns = *wanted ? *wanted : calloc(1, sizeof *columns);
    const size_t bytes = strlen(name);

    *wanted = columns;
    if (!columns)
        return status_fail(failure, STATUS_DATA, "not enough memory for the names of columns");
    if (bytes == 0 || name[strcspn(name, " \t=\"")] != '\0')
        return status_fail(failure, STATUS_USAGE,
                           "invalid key '%s': it is empty, or has blanks, = or quotes", name);
    *number = logfmt_find(columns, name, bytes);
    if (*number < columns->count)
        return STATUS_OK;
    if (columns->count == ROW_COLUMNS_MAX)
        return status_fail(failure, STATUS_USAGE, "more than %d columns", ROW_COLUMNS_MAX);
    columns->keys[columns->count] = name;
    columns->bytes[columns->count++] = bytes;
    columns->lengths |= logfmt_length_bit(bytes);
    return STATUS_OK;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* Bits of logfmt_ends: the byte ends a key, or other parts. */
#define LOGFMT_KEY    1
#define LOGFMT_VALUE  2
#define LOGFMT_QUOTED 4 /* the byte ends a quoted part, or escapes the next byte */

static const unsigned char logfmt_ends[256] = {
    [' '] = LOGFMT_KEY | LOGFMT_VALUE,
    ['\t'] = LOGFMT_KEY | LOGFMT_VALUE,
    ['='] = LOGFMT_KEY,
    ['"'] = LOGFMT_KEY | LOGFMT_VALUE | LOGFMT_QUOTED,
    ['\\'] = LOGFMT_QUOTED,
};

TEXT_INLINE size_t logfmt_find_end(const char *data, size_t begin, size_t end, unsigned what)
{
    while (begin < end && !(logfmt_ends[(unsigned char)data[begin]] & what))
        begin++;
    return begin;
}

struct logfmt_pair {
    size_t key;
    size_t key_bytes;
    struct row_value value;
};

/* Reads the rest of a value after its quote, data[*at - 1]. Returns the fault, or NULL. */
static const char *logfmt_read_quoted(const char *data, size_t *at, size_t end,
                                      struct row_value *value)
{
    uint32_t code;

    value->offset = *at;
    while ((*at = logfmt_find_end(data, *at, end, LOGFMT_QUOTED)) < end && data[*at] == '\\') {
        const bool is_known = *at + 1 < end && memchr("\"\\ntru", data[*at + 1], 6);
        const size_t bytes = is_known ? json_escape_read(data + *at, end - *at, &code) : 0;
        if (bytes == 0)
            return "invalid escape in a value";
        *at += bytes;
        value->kind = ROW_ESCAPED;
    }
    if (*at == end)
        return "unterminated quoted value";
    value->bytes = (*at)++ - value->offset;
    return *at == end || text_line_is_blank(data[*at]) ? NULL : "text after a quoted value";
}

/*
 * Reads the pair at data[*at], which is not a blank, and sets *at to the next pair, or to `end`.
 * Returns the fault, or NULL.
 */
TEXT_INLINE const char *logfmt_read_pair(const char *data, size_t *at, size_t end,
                                         struct logfmt_pair *pair)
{
    const char *fault = NULL;

    pair->key = *at;
    *at = logfmt_find_end(data, *at, end, LOGFMT_KEY);
    pair->key_bytes = *at - pair->key;
    pair->value = (struct row_value){.kind = ROW_PLAIN, .offset = *at};
    if (*at < end && data[*at] == '"')
        return data[pair->key] == '{' ? "quote in a key (try --jsonl)" : "quote in a key";
    if (pair->key_bytes == 0)
        return "missing key";
    if (*at < end && data[*at] == '=') {
        if (++*at < end && data[*at] == '"') {
            ++*at;
            fault = logfmt_read_quoted(data, at, end, &pair->value);
        } else {
            pair->value.offset = *at;
            *at = logfmt_find_end(data, *at, end, LOGFMT_VALUE);
            pair->value.bytes = *at - pair->value.offset;
            fault = *at < end && data[*at] == '"' ? "quote inside a value" : NULL;
        }
    }
    while (*at < end && text_line_is_blank(data[*at]))
        ++*at;
    return fault;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct logfmt_scan {
    const struct logfmt_columns *columns;
    const char *data;
    size_t bytes;
    size_t next; /* the start of the next row */
};

static void logfmt_begin(void *scan, const void *columns, const char *data, size_t bytes)
{
    *(struct logfmt_scan *)scan =
        (struct logfmt_scan){.columns = columns, .data = data, .bytes = bytes};
}

static enum row_event logfmt_next(void *scan, struct row *row)
{
    struct logfmt_scan *self = scan;
    const struct logfmt_columns *columns = self->columns;
    const char *data = self->data;
    struct logfmt_pair pair;
    size_t at;

    do {
        if (self->next >= self->bytes)
            return ROW_END;
        const char *newline = memchr(data + self->next, '\n', self->bytes - self->next);
        row->begin = self->next;
        row->end = newline ? (size_t)(newline - data) : self->bytes;
        self->next = row->end + 1;
        row->end = text_line_content_end(data, row->begin, row->end);
        text_line_trim(data, &row->begin, &row->end);
    } while (row->begin == row->end);
    for (unsigned i = 0; i < columns->count; i++)
        row->values[i].kind = ROW_MISSING;
    for (at = row->begin; at < row->end;) {
        row->fault = logfmt_read_pair(data, &at, row->end, &pair);
        if (row->fault)
            return ROW_INVALID;
        const unsigned column = logfmt_find(columns, data + pair.key, pair.key_bytes);
        if (column < columns->count)
            row->values[column] = pair.value;
    }
    return ROW_FOUND;
}

static void logfmt_suggest(const char *row, size_t bytes, const char *name,
                           char column[ROW_NAME_SIZE])
{
    struct nearest search = nearest_begin(name, strlen(name));
    struct logfmt_pair pair;
    size_t at = 0;

    text_line_trim(row, &at, &bytes);
    while (at < bytes && !logfmt_read_pair(row, &at, bytes, &pair))
        nearest_try(&search, row + pair.key, pair.key_bytes);
    snprintf(column, ROW_NAME_SIZE, "%.*s", search.word ? (int)search.word_length : 0,
             search.word ? search.word : "");
}

const struct row_scanner logfmt_scanner = {
    .option = "logfmt",
    .names_columns = true,
    .skips_mark = true,
    .noun = "logfmt line",
    .part = "key",
    .wanted = "-f KEY",
    .want = logfmt_want,
    .forget = free,
    .scan_bytes = sizeof(struct logfmt_scan),
    .begin = logfmt_begin,
    .next = logfmt_next,
    .decode = json_string_decode,
    .suggest = logfmt_suggest,
};
