/*
 * What json_lines.h is compared with: a parser of JSON by recursive descent, byte by byte, which
 * looks keys up by comparing them with each column. Each column is a list of keys.
 */
#ifndef GPUHIST_JSON_REFERENCE_H
#define GPUHIST_JSON_REFERENCE_H

#include "text/json_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_KEYS_MAX    4
#define REFERENCE_COLUMNS_MAX 9

struct reference_column {
    const char *path;
    const char *keys[REFERENCE_KEYS_MAX + 1]; /* ends with NULL */
};

struct reference_row {
    const struct reference_column *columns; /* [count] */
    unsigned count;
    const char *data;
    size_t at;
    size_t end;
    unsigned depth;
    struct row_value values[REFERENCE_COLUMNS_MAX];
};

static void *reference_copy(const char *data, size_t bytes)
{
    char *copy = malloc(bytes > 0 ? bytes : 1);
    if (!copy)
        abort();
    if (bytes > 0)
        memcpy(copy, data, bytes);
    return copy;
}

static char reference_byte(const struct reference_row *row)
{
    return row->at < row->end ? row->data[row->at] : '\0';
}

static bool reference_take(struct reference_row *row, char byte)
{
    const bool found = row->at < row->end && row->data[row->at] == byte;
    row->at += found;
    return found;
}

static void reference_skip(struct reference_row *row)
{
    while (row->at < row->end && strchr(" \t\r\n", row->data[row->at]) && row->data[row->at])
        row->at++;
}

static bool reference_hex(struct reference_row *row, unsigned *code)
{
    char digits[5] = "";
    if (row->end - row->at < 4)
        return false;
    memcpy(digits, row->data + row->at, 4);
    row->at += 4;
    *code = (unsigned)strtoul(digits, NULL, 16);
    return strspn(digits, "0123456789abcdefABCDEF") == 4;
}

/* Parses a string after its first quote; decodes it to text, unless that is NULL. */
static bool reference_string(struct reference_row *row, char *text, size_t *bytes, bool *escaped)
{
    size_t length = 0;
    char utf8[4];

    *escaped = false;
    while (!reference_take(row, '"')) {
        size_t more = 1;
        utf8[0] = reference_byte(row);
        if (row->at++ >= row->end || (unsigned char)utf8[0] < 32)
            return false;
        if (utf8[0] == '\\') {
            unsigned code, low;
            *escaped = true;
            const char letter = reference_byte(row);
            if (row->at++ >= row->end || letter == '\0')
                return false;
            if (letter == 'u') {
                if (!reference_hex(row, &code) || (code >= 0xdc00 && code < 0xe000))
                    return false;
                if (code >= 0xd800 && code < 0xdc00) {
                    if (!reference_take(row, '\\') || !reference_take(row, 'u') ||
                        !reference_hex(row, &low) || low < 0xdc00 || low > 0xdfff)
                        return false;
                    code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
                }
            } else {
                const char *found = strchr("\"\"\\\\//b\bf\fn\nr\rt\t", letter);
                if (!found || !strchr("\"\\/bfnrt", letter))
                    return false;
                code = (unsigned char)found[1];
            }
            if (code < 0x80) {
                utf8[0] = (char)code;
            } else if (code < 0x800) {
                utf8[0] = (char)(0xc0 + code / 64);
                utf8[1] = (char)(0x80 + code % 64);
                more = 2;
            } else if (code < 0x10000) {
                utf8[0] = (char)(0xe0 + code / 4096);
                utf8[1] = (char)(0x80 + code / 64 % 64);
                utf8[2] = (char)(0x80 + code % 64);
                more = 3;
            } else {
                utf8[0] = (char)(0xf0 + code / 262144);
                utf8[1] = (char)(0x80 + code / 4096 % 64);
                utf8[2] = (char)(0x80 + code / 64 % 64);
                utf8[3] = (char)(0x80 + code % 64);
                more = 4;
            }
        }
        if (text)
            memcpy(text + length, utf8, more);
        length += more;
    }
    *bytes = length;
    return true;
}

static bool reference_digits(struct reference_row *row)
{
    const size_t begin = row->at;
    while (reference_byte(row) >= '0' && reference_byte(row) <= '9')
        row->at++;
    return row->at > begin;
}

static bool reference_number(struct reference_row *row)
{
    reference_take(row, '-');
    if (!reference_take(row, '0') && !reference_digits(row))
        return false;
    if (reference_take(row, '.') && !reference_digits(row))
        return false;
    if (reference_take(row, 'e') || reference_take(row, 'E')) {
        if (!reference_take(row, '+'))
            reference_take(row, '-');
        return reference_digits(row);
    }
    return true;
}

static bool reference_word(struct reference_row *row, const char *word)
{
    const size_t bytes = strlen(word);
    if (row->end - row->at < bytes || memcmp(row->data + row->at, word, bytes) != 0)
        return false;
    row->at += bytes;
    return true;
}

/*
 * Parses a value, the white space before it and after it. `columns` are those whose first `level`
 * keys have led here.
 */
static bool reference_value(struct reference_row *row, unsigned columns, unsigned level)
{
    struct row_value value = {.kind = JSON_MISSING};
    bool escaped;
    bool is_right = true;

    for (unsigned i = 0; i < row->count; i++)
        if (columns >> i & 1)
            row->values[i].kind = JSON_MISSING;
    reference_skip(row);
    value.offset = row->at;
    const char first = reference_byte(row);
    if (reference_take(row, '"')) {
        value.offset++;
        is_right = reference_string(row, NULL, &value.bytes, &escaped);
        value.kind = escaped ? JSON_ESCAPED : JSON_STRING;
        value.bytes = row->at - 1 - value.offset;
    } else if (reference_take(row, '{') || reference_take(row, '[')) {
        const char last = first == '{' ? '}' : ']';
        value.kind = first == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++row->depth > JSON_DEPTH_MAX)
            return false;
        reference_skip(row);
        bool is_closed = reference_take(row, last);
        while (is_right && !is_closed) {
            unsigned matching = 0;
            reference_skip(row);
            if (first == '{') {
                size_t bytes = 0;
                char *key = malloc(row->end - row->at + 1);
                if (!key)
                    abort();
                is_right = reference_take(row, '"') && reference_string(row, key, &bytes, &escaped);
                reference_skip(row);
                is_right = is_right && reference_take(row, ':');
                for (unsigned i = 0; is_right && i < row->count; i++) {
                    const char *wanted = columns >> i & 1 ? row->columns[i].keys[level] : NULL;
                    if (wanted && strlen(wanted) == bytes && memcmp(wanted, key, bytes) == 0)
                        matching |= 1u << i;
                }
                free(key);
            }
            is_right = is_right && reference_value(row, matching, level + 1);
            is_closed = is_right && reference_take(row, last);
            is_right = is_right && (is_closed || reference_take(row, ','));
        }
        row->depth--;
    } else if (reference_word(row, "true")) {
        value.kind = JSON_TRUE;
    } else if (reference_word(row, "false")) {
        value.kind = JSON_FALSE;
    } else if (reference_word(row, "null")) {
        value.kind = JSON_NULL;
    } else {
        is_right = reference_number(row);
        value.kind = JSON_NUMBER;
    }
    if (value.kind != JSON_STRING && value.kind != JSON_ESCAPED)
        value.bytes = row->at - value.offset;
    for (unsigned i = 0; i < row->count; i++)
        if (columns >> i & 1 && level > 0 && !row->columns[i].keys[level])
            row->values[i] = value;
    reference_skip(row);
    return is_right;
}

/*
 * Scans a text whose memory ends with it, and compares each row. Returns NULL, or what is wrong,
 * at *where.
 */
static const char *reference_compare(const struct reference_column *columns, unsigned count,
                                     const char *text, size_t bytes, char end_byte, size_t *where)
{
    struct json_columns *wanted = json_columns_create();
    struct json_lines *lines = malloc(sizeof *lines);
    struct row_value values[ROW_COLUMNS_MAX];
    struct failure failure;
    char *data = reference_copy(text, bytes);
    const char *wrong = NULL;
    const unsigned all = (1u << count) - 1;
    unsigned column;

    for (unsigned i = 0; i < count; i++)
        if (!wanted ||
            json_columns_add(wanted, columns[i].path, strlen(columns[i].path), &column, &failure) ||
            column != i)
            wrong = "the columns";
    if (!lines)
        abort();
    json_lines_begin(lines, wanted, end_byte, data, bytes);
    for (size_t begin = 0, next; !wrong && begin < bytes; begin = next) {
        struct reference_row row;
        const char *newline = memchr(data + begin, end_byte, bytes - begin);
        const size_t end = newline ? (size_t)(newline - data) : bytes;
        next = end + 1;
        *where = begin;
        row = (struct reference_row){columns, count, data, begin, end, 0, {{0}}};
        reference_skip(&row);
        if (row.at == end)
            continue;
        const bool is_right =
            reference_byte(&row) == '{' && reference_value(&row, all, 0) && row.at == end;
        const enum row_event event = json_lines_next(lines, values);
        if (event != (is_right ? ROW_FOUND : ROW_INVALID))
            wrong = is_right ? "a row is not accepted" : "a row is accepted";
        else if (lines->row_begin != begin || lines->row_end != end)
            wrong = "the ends of a row";
        else if (event == ROW_INVALID && (lines->fault_offset < begin || lines->fault_offset > end))
            wrong = "the offset of a fault";
        for (unsigned i = 0; !wrong && is_right && i < count; i++)
            if (values[i].kind != row.values[i].kind ||
                (values[i].kind != JSON_MISSING && (values[i].offset != row.values[i].offset ||
                                                    values[i].bytes != row.values[i].bytes)))
                wrong = "a value";
    }
    if (!wrong && json_lines_next(lines, values) != ROW_END)
        wrong = "no end";
    free(data);
    free(lines);
    json_columns_destroy(wanted);
    return wrong;
}

#endif
