/* Implements text_reason.h. */
#include "config.h"

#include "text/text_reason.h"

#include <stdio.h>
#include <string.h>

#define TEXT_REASON_SHOWN 40

/* A byte order mark in UTF-8, which Windows programs put before a text. */
static const char text_reason_mark[] = "\xef\xbb\xbf";

static bool text_reason_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* The number of words of line[0..length). */
static size_t text_reason_count_words(const char *line, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += !text_reason_is_blank(line[i]) && (i == 0 || text_reason_is_blank(line[i - 1]));
    return count;
}

/* The number of parts of line[0..length), whose quotes are right. */
static size_t text_reason_count_parts(const struct text_rules *rules, const char *line,
                                      size_t length)
{
    bool is_inside = false;
    size_t count = 1;

    for (size_t i = 0; i < length; i++) {
        is_inside ^= rules->is_quoted && line[i] == '"';
        count += !is_inside && line[i] == (char)rules->delimiter;
    }
    return count;
}

/* The number of fields of the line that a byte is in. */
static size_t text_reason_count_fields(const struct text_reading *reading, size_t offset)
{
    const char *data = reading->data;
    const char *newline = memchr(data + offset, '\n', reading->bytes - offset);
    size_t end = newline ? (size_t)(newline - data) : reading->bytes;
    size_t begin = offset;

    while (begin > 0 && data[begin - 1] != '\n')
        begin--;
    end -= end > begin && data[end - 1] == '\r';
    return reading->rules->delimiter == TEXT_NO_DELIMITER
               ? text_reason_count_words(data + begin, end - begin)
               : text_reason_count_parts(reading->rules, data + begin, end - begin);
}

/*
 * The type to try for an integer [+-]?[0-9]+ that is out of range: "i64", "u64", or "" if none has
 * it. NULL if the token is no such integer.
 */
static const char *text_reason_find_type(const char *token, size_t bytes)
{
    const unsigned __int128 half = (unsigned __int128)1 << 63;
    bool is_negative = bytes > 0 && *token == '-';
    size_t i = bytes > 0 && (*token == '-' || *token == '+');
    unsigned __int128 value = 0;

    if (i == bytes)
        return NULL;
    for (; i < bytes; i++) {
        if (token[i] < '0' || token[i] > '9')
            return NULL;
        if (value <= UINT64_MAX) /* beyond, it does not matter how much */
            value = value * 10 + (unsigned)(token[i] - '0');
    }
    if (is_negative ? value <= half : value < half)
        return "i64";
    return is_negative || value > UINT64_MAX ? "" : "u64";
}

/* Copies the beginning of a token, with `?` for NUL, and appends "..." if it is longer. */
static void text_reason_show(const char *token, size_t bytes, char out[TEXT_REASON_SHOWN + 4])
{
    size_t shown = bytes < TEXT_REASON_SHOWN ? bytes : TEXT_REASON_SHOWN;

    for (size_t i = 0; i < shown; i++)
        out[i] = token[i] == '\0' ? '?' : token[i];
    strcpy(out + shown, bytes > shown ? "..." : "");
}

/* Writes the reason if the line has no such field. Returns whether it has none. */
static bool text_reason_is_missing(const struct text_reading *reading, size_t offset,
                                   char out[TEXT_REASON_SIZE])
{
    const int64_t field = reading->rules->field;
    const size_t wanted = (size_t)(field < 0 ? -field : field);
    const size_t fields = field == 0 ? 0 : text_reason_count_fields(reading, offset);
    char number[16];

    if (fields >= wanted)
        return false;
    snprintf(number, sizeof number, "%lld", (long long)field);
    snprintf(out, TEXT_REASON_SIZE, "line has %zu field%s, -f %.100s wants %zu", fields,
             fields == 1 ? "" : "s", reading->field_name ? reading->field_name : number, wanted);
    return true;
}

void text_explain_invalid(const struct text_reading *reading, const struct text_token *token,
                          char out[TEXT_REASON_SIZE])
{
    const char *begin = reading->data + token->offset;
    const enum text_notation notation = reading->rules->notation;
    const char *type =
        notation == TEXT_INTEGERS ? text_reason_find_type(begin, token->bytes) : NULL;
    bool has_mark = token->bytes >= 3 && memcmp(begin, text_reason_mark, 3) == 0;
    char shown[TEXT_REASON_SHOWN + 4];

    if (token->bytes == 0 && text_reason_is_missing(reading, token->offset, out))
        return;
    text_reason_show(begin + 3 * has_mark, token->bytes - 3 * has_mark, shown);
    if (type)
        snprintf(out, TEXT_REASON_SIZE, "'%s' is out of range for %s%s%s%s", shown,
                 reading->element->name, *type ? " (try -t " : "", type, *type ? ")" : "");
    else
        snprintf(out, TEXT_REASON_SIZE, "invalid %s '%s%s'",
                 notation == TEXT_FIXED ? "number" : "integer", has_mark ? "<byte order mark>" : "",
                 shown);
}
