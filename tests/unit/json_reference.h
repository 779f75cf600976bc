/*
 * The reference for json_lines.h: a byte-by-byte recursive descent parser of JSON, which compares
 * keys with each column. A column is a list of keys and of array elements, which begin with a
 * bracket: "[1]", "[-1]". A row is parsed again for each element of an array, "[]".
 */
#ifndef GPUHIST_JSON_REFERENCE_H
#define GPUHIST_JSON_REFERENCE_H

#include "text/json_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_KEYS_MAX    4
#define REFERENCE_COLUMNS_MAX 16

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
    size_t each;          /* index of the element that "[]" means */
    size_t count_of_each; /* length of that array; SIZE_MAX: no such array */
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

/* Parses a string after its first quote; decodes it to `text` unless NULL. */
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

static bool reference_value(struct reference_row *row, unsigned columns, unsigned level);

/* A new value replaces that of the column, or of a step on its path. */
static void reference_forget(struct reference_row *row, unsigned column, unsigned level)
{
    row->values[column].kind = JSON_MISSING;
    for (unsigned i = level; i <= REFERENCE_KEYS_MAX && row->columns[column].keys[i]; i++)
        if (strcmp(row->columns[column].keys[i], "[]") == 0)
            row->count_of_each = SIZE_MAX;
}

/* Finds the columns whose next step is an array element, by its number. */
static unsigned reference_elements(struct reference_row *row, unsigned columns, unsigned level,
                                   size_t number, size_t count)
{
    unsigned matching = 0;

    for (unsigned i = 0; i < row->count; i++) {
        const char *key = columns >> i & 1 ? row->columns[i].keys[level] : NULL;
        if (!key || *key != '[')
            continue;
        const long index = strtol(key + 1, NULL, 10);
        const size_t wanted = key[1] == ']' ? row->each
                              : index < 0   ? count - (size_t)-index
                                            : (size_t)index;
        matching |= (unsigned)(wanted == number) << i;
        row->count_of_each = key[1] == ']' ? count : row->count_of_each;
    }
    return matching;
}

/* Returns the number of elements of the array after its bracket; 0 also if it is invalid. */
static size_t reference_count(const struct reference_row *row, unsigned level)
{
    struct reference_row rest = *row;
    size_t count = 1;

    reference_skip(&rest);
    if (reference_byte(&rest) == ']')
        return 0;
    while (reference_value(&rest, 0, level + 1)) {
        if (!reference_take(&rest, ','))
            return count;
        count++;
    }
    return 0;
}

/*
 * Parses a value with the white space around it. `columns`: those whose first `level` keys led
 * here.
 */
static bool reference_value(struct reference_row *row, unsigned columns, unsigned level)
{
    struct row_value value = {.kind = JSON_MISSING};
    bool escaped;
    bool is_right = true;

    for (unsigned i = 0; i < row->count; i++)
        if (columns >> i & 1)
            reference_forget(row, i, level);
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
        const bool has_elements = first == '[' && columns != 0;
        const size_t elements = has_elements ? reference_count(row, level) : 0;
        size_t number = 0;
        if (has_elements)
            reference_elements(row, columns, level, SIZE_MAX, elements); /* counts the elements */
        bool is_closed = reference_take(row, last);
        while (is_right && !is_closed) {
            unsigned matching = 0;
            reference_skip(row);
            if (has_elements)
                matching = reference_elements(row, columns, level, number++, elements);
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
                    if (wanted && *wanted != '[' && strlen(wanted) == bytes &&
                        memcmp(wanted, key, bytes) == 0)
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

/* Scans the next row, and compares it with a parsed one. Returns NULL, or what is wrong. */
static const char *reference_check(const struct reference_row *row, bool is_right,
                                   const unsigned *numbers, struct json_lines *lines,
                                   struct row_value *values, size_t begin)
{
    const enum row_event event = json_lines_next(lines, values);

    if (event != (is_right ? ROW_FOUND : ROW_INVALID))
        return is_right ? "a row is not accepted" : "a row is accepted";
    if (lines->row_begin != begin || lines->row_end != row->end)
        return "the ends of a row";
    if (event == ROW_INVALID && (lines->fault_offset < begin || lines->fault_offset > row->end))
        return "the offset of a fault";
    for (unsigned i = 0; is_right && i < row->count; i++) {
        const struct row_value *found = &values[numbers[i]];
        const struct row_value *expected = &row->values[i];
        if (found->kind != expected->kind ||
            (found->kind != JSON_MISSING &&
             (found->offset != expected->offset || found->bytes != expected->bytes)))
            return "a value";
    }
    return NULL;
}

/*
 * Scans a text that ends with its memory, and compares each row. Returns NULL, or what is wrong at
 * *where.
 */
static const char *reference_compare(const struct reference_column *columns, unsigned count,
                                     const char *text, size_t bytes, char end_byte, size_t *where)
{
    struct json_columns *wanted = json_columns_create();
    struct json_lines *lines = malloc(sizeof *lines);
    struct row_value values[ROW_COLUMNS_MAX];
    unsigned numbers[REFERENCE_COLUMNS_MAX];
    struct failure failure;
    char *data = reference_copy(text, bytes);
    const char *wrong = NULL;

    for (unsigned i = 0; i < count; i++)
        if (!wanted || json_columns_add(wanted, columns[i].path, strlen(columns[i].path),
                                        &numbers[i], &failure))
            wrong = "the columns";
    if (!lines)
        abort();
    json_lines_begin(lines, wanted, end_byte, data, bytes);
    for (size_t begin = 0, next; !wrong && begin < bytes; begin = next) {
        const char *newline = memchr(data + begin, end_byte, bytes - begin);
        const size_t end = newline ? (size_t)(newline - data) : bytes;
        next = end + 1;
        *where = begin;
        for (size_t each = 0, rows = 1; !wrong && each < rows; each++) {
            struct reference_row row = {columns, count, data, begin, end, 0, {{0}}, each, SIZE_MAX};
            reference_skip(&row);
            if (row.at == end)
                break;
            const bool is_right = reference_byte(&row) == '{' &&
                                  reference_value(&row, (1u << count) - 1, 0) && row.at == end;
            rows = is_right && row.count_of_each != SIZE_MAX ? row.count_of_each : 1;
            for (unsigned i = 0; i < count;
                 i++) { /* members with exactly that name have priority */
                const char *name = strchr(columns[i].path, '[') ? columns[i].path + 1 : "";
                unsigned member = 0;
                while (member < count && strcmp(columns[member].path, name) != 0)
                    member++;
                if (member == count || row.values[member].kind == JSON_MISSING)
                    continue;
                row.values[i] = row.values[member];
                rows = strstr(name, "[]") ? 1 : rows;
            }
            if (rows > 0)
                wrong = reference_check(&row, is_right, numbers, lines, values, begin);
        }
    }
    if (!wrong && json_lines_next(lines, values) != ROW_END)
        wrong = "no end";
    free(data);
    free(lines);
    json_columns_destroy(wanted);
    return wrong;
}

#endif
