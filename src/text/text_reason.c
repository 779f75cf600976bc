/* Implements text_reason.h. */
#include "config.h"

#include "text/text_number.h"
#include "text/text_reason.h"

#include <stdio.h>
#include <string.h>

#define TEXT_REASON_SHOWN       40
#define TEXT_REASON_ADVICE_SIZE 40
#define TEXT_REASON_JSON        " (JSON: choose numbers with jq)"

/* A byte order mark in UTF-8, which Windows programs put before a text. */
static const char text_reason_mark[] = "\xef\xbb\xbf";

static bool text_reason_has_mark(const char *token, size_t bytes)
{
    return bytes >= 3 && memcmp(token, text_reason_mark, 3) == 0;
}

static bool text_reason_is_letter(char byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

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

/* The beginning of the line that a byte is in. Stores the line's length. */
static const char *text_reason_find_line(const struct text_reading *reading, size_t offset,
                                         size_t *length)
{
    const char *data = reading->data;
    const char *newline = memchr(data + offset, '\n', reading->bytes - offset);
    size_t end = newline ? (size_t)(newline - data) : reading->bytes;
    size_t begin = offset;

    while (begin > 0 && data[begin - 1] != '\n')
        begin--;
    end -= end > begin && data[end - 1] == '\r';
    *length = end - begin;
    return data + begin;
}

/* The number of fields of the line that a byte is in. */
static size_t text_reason_count_fields(const struct text_reading *reading, size_t offset)
{
    size_t length;
    const char *line = text_reason_find_line(reading, offset, &length);

    return reading->rules->delimiter == TEXT_NO_DELIMITER
               ? text_reason_count_words(line, length)
               : text_reason_count_parts(reading->rules, line, length);
}

/*
 * Whether a token without its sign, which is not empty, is written as a number of the notation, of
 * whatever size.
 */
static bool text_reason_is_number(const struct text_rules *rules, const char *token, size_t bytes)
{
    const bool has_prefix = rules->notation == TEXT_HEX && text_number_has_prefix(token, bytes);
    size_t fraction = 0; /* characters from the point on */

    for (size_t i = has_prefix ? 2 : 0; i < bytes; i++) {
        const bool is_point = rules->notation == TEXT_FIXED && token[i] == '.' && fraction == 0;
        const char lower = (char)(token[i] | 0x20);
        const bool is_digit = (token[i] >= '0' && token[i] <= '9') ||
                              (rules->notation == TEXT_HEX && lower >= 'a' && lower <= 'f');
        fraction += is_point || fraction > 0;
        if (!is_point && (!is_digit || (fraction > rules->decimals + 1 && token[i] != '0')))
            return false;
    }
    return bytes > (fraction == 1);
}

/*
 * The type to try for a number that is out of range: "i64", "u64", or "" if none has it. NULL if
 * the token is no number.
 */
static const char *text_reason_find_type(const struct text_rules *rules, const char *token,
                                         size_t bytes)
{
    const uint64_t half = (uint64_t)1 << 63;
    const size_t sign = bytes > 0 && (*token == '-' || *token == '+');
    struct text_number number;

    if (bytes == sign || !text_reason_is_number(rules, token + sign, bytes - sign))
        return NULL;
    if (!text_number_read_any(rules, token, bytes, &number))
        return "";
    if (number.is_negative ? number.magnitude <= half : number.magnitude < half)
        return "i64";
    return number.is_negative ? "" : "u64";
}

/*
 * Whether token[0..bytes) is digits, in groups of three or not, with a fraction and an exponent or
 * without. Stores how many decimals it has, without zeros at its end, and whether that is all: it
 * has neither groups nor an exponent.
 */
static bool text_reason_is_any_number(const char *token, size_t bytes, size_t *decimals,
                                      bool *is_plain)
{
    size_t digits = 0;
    size_t i = 0;

    *decimals = 0;
    *is_plain = true;
    for (; i < bytes && token[i] >= '0' && token[i] <= '9'; i++)
        digits++;
    while (digits > 0 && i + 3 < bytes && (token[i] == ',' || token[i] == '_') &&
           memchr("0123456789", token[i + 1], 10) && memchr("0123456789", token[i + 2], 10) &&
           memchr("0123456789", token[i + 3], 10)) {
        i += 4;
        *is_plain = false;
    }
    if (i < bytes && token[i] == '.') {
        const size_t point = i++;
        for (; i < bytes && token[i] >= '0' && token[i] <= '9'; i++) {
            digits++;
            *decimals = token[i] == '0' ? *decimals : i - point;
        }
    }
    if (digits > 0 && i + 1 < bytes && (token[i] == 'e' || token[i] == 'E')) {
        const bool has_sign = i + 2 < bytes && (token[i + 1] == '-' || token[i + 1] == '+');
        i += (size_t)1 + has_sign;
        while (i < bytes && token[i] >= '0' && token[i] <= '9')
            i++;
        *is_plain = false;
    }
    return digits > 0 && i == bytes;
}

enum text_misfit text_find_misfit(const struct text_rules *rules, const char *token, size_t bytes,
                                  size_t *decimals)
{
    const char *type = text_reason_find_type(rules, token, bytes);
    const bool is_quoted = bytes > 2 && token[0] == '"' && token[bytes - 1] == '"';
    bool is_plain;

    *decimals = 0;
    if (type)
        return *type == 'i' ? TEXT_MISFIT_I64 : *type == 'u' ? TEXT_MISFIT_U64 : TEXT_MISFIT_RANGE;
    token += is_quoted;
    bytes -= 2 * (size_t)is_quoted;
    const size_t sign = bytes > 0 && (*token == '-' || *token == '+');
    if (rules->notation == TEXT_HEX ||
        !text_reason_is_any_number(token + sign, bytes - sign, decimals, &is_plain))
        return TEXT_MISFIT_NONE;
    *decimals += *decimals == 0;
    return is_quoted || !is_plain ? TEXT_MISFIT_FORM : TEXT_MISFIT_DECIMAL;
}

/* Whether a token looks like fields with this byte between them, not like a number such as 1,5. */
static bool text_reason_has_fields(const char *token, size_t bytes, char separator)
{
    size_t separators = 0;
    size_t letters = 0;

    for (size_t i = 0; i < bytes; i++) {
        separators += token[i] == separator;
        letters += text_reason_is_letter(token[i]);
    }
    return separators > 0 && letters > 0;
}

/*
 * Whether each word is a value and the token is the first word of its file. The byte behind it, if
 * there is one, is then in the same chunk; the rest of its line may be in the next one.
 */
static bool text_reason_is_first_word(const struct text_reading *reading,
                                      const struct text_token *token)
{
    return reading->begins_file && text_is_of_tokens(reading->rules) && token->offset == 0;
}

/* Whether text[0..length) has words and no numbers. */
static bool text_reason_has_only_words(const char *text, size_t length)
{
    bool was_letter = false;
    size_t letters = 0;

    for (size_t i = 0; i < length; i++) {
        const bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (is_digit && !was_letter)
            return false;
        was_letter = (was_letter && (is_digit || text[i] == '_')) || text_reason_is_letter(text[i]);
        letters += was_letter;
    }
    return letters > 0;
}

/*
 * Whether the token is in what looks like a header: a first line, or a word alone on it. It is of
 * the first file: in files before another one, --header would skip lines that were read as values.
 */
static bool text_reason_is_header(const struct text_reading *reading,
                                  const struct text_token *token)
{
    const char *data = reading->data;
    size_t length;

    if (!reading->begins_run)
        return false;
    if (!text_is_of_tokens(reading->rules)) {
        const char *line = text_reason_find_line(reading, token->offset, &length);
        return line == data && text_reason_has_only_words(line, length);
    }
    return text_reason_is_first_word(reading, token) && token->bytes <= TEXT_REASON_SHOWN &&
           (token->bytes == reading->bytes || data[token->bytes] == '\n' ||
            data[token->bytes] == '\r') &&
           data[0] != '-' && data[0] != '+' && text_reason_has_only_words(data, token->bytes);
}

/* Whether the token has a quote, and --csv would read its line: no quote is open at the end. */
static bool text_reason_has_quotes(const struct text_reading *reading,
                                   const struct text_token *token)
{
    const struct text_rules *rules = reading->rules;
    size_t quotes = 0;
    size_t length;

    if (rules->delimiter == TEXT_NO_DELIMITER || rules->is_quoted ||
        !memchr(reading->data + token->offset, '"', token->bytes))
        return false;
    const char *line = text_reason_find_line(reading, token->offset, &length);
    for (size_t i = 0; i < length; i++)
        quotes += line[i] == '"';
    return quotes % 2 == 0;
}

/*
 * Whether the token is the first word of a file, is followed by another on its line, and is no
 * mistyped number: a name, a date or an address, as in lines of a log.
 */
static bool text_reason_begins_row(const struct text_reading *reading,
                                   const struct text_token *token)
{
    const char *data = reading->data;
    size_t letters = 0;
    size_t marks = 0;

    if (!text_reason_is_first_word(reading, token) || token->bytes == reading->bytes ||
        !text_reason_is_blank(data[token->bytes]))
        return false;
    for (size_t i = 0; i < token->bytes; i++) {
        letters += text_reason_is_letter(data[i]);
        marks += data[i] == '.' || data[i] == ':' || data[i] == '-' || data[i] == '/';
    }
    return letters > 0 || marks > 1;
}

/* Writes the options that would read a token that is none of the notation, if there are some. */
static void text_reason_advise(const struct text_rules *rules, const char *token, size_t bytes,
                               char out[TEXT_REASON_ADVICE_SIZE])
{
    const struct text_rules fixed = {.notation = TEXT_FIXED, .decimals = TEXT_DECIMALS_MAX};
    const struct text_rules hex = {.notation = TEXT_HEX};
    const size_t sign = bytes > 0 && (*token == '-' || *token == '+');
    const char *digits = token + sign;
    const size_t count = bytes - sign;
    const char *point = memchr(digits, '.', count);
    const size_t decimals = point ? bytes - (size_t)(point + 1 - token) : 0;

    if (rules->notation == TEXT_HEX)
        return;
    if (decimals > 0 && decimals <= TEXT_DECIMALS_MAX &&
        text_reason_is_number(&fixed, digits, count))
        snprintf(out, TEXT_REASON_ADVICE_SIZE, " (try --decimals %zu)", decimals);
    else if (rules->notation == TEXT_FIXED)
        return;
    else if (count > 2 && (digits[1] == 'x' || digits[1] == 'X') &&
             text_reason_is_number(&hex, digits, count))
        strcpy(out, " (try --base 16)");
    else if (text_is_of_tokens(rules) && text_reason_has_fields(token, bytes, ','))
        strcpy(out, " (try --csv -f N)");
    else if (text_is_of_tokens(rules) && text_reason_has_fields(token, bytes, ';'))
        strcpy(out, " (try -d ';' -f N)");
}

/* Whether the token is in a line of JSON; of words, whether it begins such a line. */
static bool text_reason_is_json(const struct text_reading *reading, size_t offset)
{
    const char *line = reading->data + offset;
    size_t length = reading->bytes - offset;

    if (!text_is_of_tokens(reading->rules))
        line = text_reason_find_line(reading, offset, &length);
    while (length > 0 && text_reason_is_blank(*line)) {
        line++;
        length--;
    }
    return length > 0 && *line == '{';
}

/* The first byte of text[0..length) that may separate fields, or is between digits; 0: none is. */
static char text_reason_find_separator(const char *text, size_t length, bool between_digits)
{
    for (size_t i = 0; i < length; i++) {
        const bool is_between = i > 0 && i + 1 < length && text[i - 1] >= '0' &&
                                text[i - 1] <= '9' && text[i + 1] >= '0' && text[i + 1] <= '9';
        if ((text[i] == ',' || text[i] == ';' || text[i] == '|') && (!between_digits || is_between))
            return text[i];
    }
    return '\0';
}

static const char *text_reason_advise_separator(char separator)
{
    return separator == ','   ? " (try -d ,)"
           : separator == ';' ? " (try -d ';')"
           : separator == '|' ? " (try -d '|')"
                              : "";
}

/* Whether the token is a number in quotes among words, which --csv reads. */
static bool text_reason_is_quoted(const struct text_rules *rules, const char *token, size_t bytes)
{
    const struct text_rules fixed = {.notation = TEXT_FIXED, .decimals = TEXT_DECIMALS_MAX};

    if (!text_is_of_tokens(rules) || bytes < 3 || token[0] != '"' || token[bytes - 1] != '"')
        return false;
    const size_t sign = token[1] == '-' || token[1] == '+';
    return bytes - 2 > sign && text_reason_is_number(&fixed, token + 1 + sign, bytes - 2 - sign);
}

/*
 * Whether the token looks hexadecimal, such as 7f00: neither a word, with a number behind it or
 * not, nor a number such as 12e5.
 */
static bool text_reason_is_hex(const struct text_rules *rules, const char *token, size_t bytes)
{
    size_t digits = 0;
    size_t changes = 0; /* from a digit to a letter */
    size_t exponents = 0;

    if (rules->notation != TEXT_INTEGERS || bytes < 4 || bytes > 16)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        const char lower = (char)(token[i] | 0x20);
        const bool is_digit = token[i] >= '0' && token[i] <= '9';
        if (!is_digit && (lower < 'a' || lower > 'f'))
            return false;
        changes += !is_digit && i > 0 && token[i - 1] <= '9';
        digits += is_digit;
        exponents += lower == 'e' && i > 0 && i + 1 < bytes;
    }
    return changes > 0 && (exponents != 1 || digits + 1 < bytes);
}

/* What helps because of where the token is, or of what it looks like. Or "". */
static const char *text_reason_guess(const struct text_reading *reading,
                                     const struct text_token *token)
{
    const struct text_rules *rules = reading->rules;
    const char *begin = reading->data + token->offset;
    const bool has_delimiter = rules->delimiter != TEXT_NO_DELIMITER;
    char separator = '\0';

    if (text_reason_has_quotes(reading, token) || text_reason_is_quoted(rules, begin, token->bytes))
        return " (try --csv)";
    if (text_reason_is_header(reading, token))
        return rules->field == 0 && has_delimiter ? " (try --header, or -f NAME)"
                                                  : " (try --header)";
    if (rules->field != 0 && !has_delimiter)
        separator = text_reason_find_separator(begin, token->bytes, true);
    if (separator)
        return text_reason_advise_separator(separator);
    if (!text_is_text(begin, token->bytes, true))
        return " (is it binary?)";
    if (text_reason_begins_row(reading, token))
        return " (try -f N)";
    if (!reading->is_group && text_reason_is_hex(rules, begin, token->bytes))
        return " (try --base 16)";
    if (reading->begins_file && token->offset == 0 && text_reason_has_mark(begin, token->bytes))
        return " (tail -c +4 removes it)";
    return reading->is_group ? " (groups are integers)" : "";
}

/* Writes what helps against an invalid token, or "". */
static void text_reason_help(const struct text_reading *reading, const struct text_token *token,
                             char out[TEXT_REASON_ADVICE_SIZE])
{
    const char *begin = reading->data + token->offset;

    out[0] = '\0';
    if (reading->ends_run && (token->bytes == 0 || (token->bytes == 1 && *begin == '-'))) {
        strcpy(out, " (try --invalid ignore)");
        return;
    }
    if (reading->rules->from_zero)
        return;
    if (text_reason_is_json(reading, token->offset)) {
        strcpy(out, TEXT_REASON_JSON);
        return;
    }
    if (!reading->is_group)
        text_reason_advise(reading->rules, begin, token->bytes, out);
    if (*out == '\0')
        strcpy(out, text_reason_guess(reading, token));
}

/* Copies the beginning of a token, with `?` for NUL, and appends "..." if it is longer. */
static void text_reason_show(const char *token, size_t bytes, char out[TEXT_REASON_SHOWN + 4])
{
    size_t shown = bytes < TEXT_REASON_SHOWN ? bytes : TEXT_REASON_SHOWN;

    for (size_t i = 0; i < shown; i++)
        out[i] = token[i] == '\0' ? '?' : token[i];
    strcpy(out + shown, bytes > shown ? "..." : "");
}

/* What helps if a line has only so many fields. Or "". */
static const char *text_reason_help_missing(const struct text_reading *reading, size_t offset,
                                            size_t fields)
{
    size_t length;
    const char *line = text_reason_find_line(reading, offset, &length);

    if (text_reason_is_json(reading, offset))
        return TEXT_REASON_JSON;
    if (fields > 1)
        return "";
    return text_reason_advise_separator(text_reason_find_separator(line, length, false));
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
    snprintf(out, TEXT_REASON_SIZE, "line has %zu field%s, %s %.100s wants %zu%s", fields,
             fields == 1 ? "" : "s", reading->option,
             reading->field_name ? reading->field_name : number, wanted,
             text_reason_help_missing(reading, offset, fields));
    return true;
}

/*
 * Writes the reason if the line has another number of fields than its header. Returns whether it
 * has. One that lacks the wanted field is only said to lack it.
 */
static bool text_reason_is_miscounted(const struct text_reading *reading, size_t offset,
                                      char out[TEXT_REASON_SIZE])
{
    const struct text_rules *rules = reading->rules;
    const size_t fields = rules->columns > 0 ? text_reason_count_fields(reading, offset) : 0;
    char advice[TEXT_REASON_ADVICE_SIZE] = "";

    if (rules->columns == 0 || fields == (size_t)rules->columns || (int64_t)fields < rules->field)
        return false;
    if (reading->field_name)
        snprintf(advice, sizeof advice, " (try %s %d)", reading->option, (int)rules->field);
    snprintf(out, TEXT_REASON_SIZE, "line has %zu field%s, its header has %d%s", fields,
             fields == 1 ? "" : "s", (int)rules->columns, advice);
    return true;
}

void text_explain_invalid(const struct text_reading *reading, const struct text_token *token,
                          char out[TEXT_REASON_SIZE])
{
    const char *begin = reading->data + token->offset;
    const char *type = text_reason_find_type(reading->rules, begin, token->bytes);
    bool has_mark = text_reason_has_mark(begin, token->bytes);
    char shown[TEXT_REASON_SHOWN + 4];
    char advice[TEXT_REASON_ADVICE_SIZE];
    char decimals[24] = "";

    if (token->bytes == 0 && (text_reason_is_miscounted(reading, token->offset, out) ||
                              text_reason_is_missing(reading, token->offset, out)))
        return;
    text_reason_show(begin + 3 * has_mark, token->bytes - 3 * has_mark, shown);
    text_reason_help(reading, token, advice);
    if (reading->rules->notation == TEXT_FIXED)
        snprintf(decimals, sizeof decimals, " with --decimals %u", reading->rules->decimals);
    if (type && !reading->rules->from_zero)
        snprintf(out, TEXT_REASON_SIZE, "'%s' is out of range for %s%s%s%s%s", shown,
                 reading->element->name, decimals, *type ? " (try -t " : "", type,
                 *type ? ")" : "");
    else
        snprintf(out, TEXT_REASON_SIZE, "invalid %s '%s%s'%s%s",
                 reading->rules->from_zero                ? "weight"
                 : reading->is_group                      ? "group"
                 : reading->rules->notation == TEXT_FIXED ? "number"
                                                          : "integer",
                 has_mark ? "<byte order mark>" : "", shown,
                 reading->rules->from_zero ? ", no integer from 0 to 2^63 - 1" : "", advice);
}
