/* Implements text_advice.h: three lists of rules, of which the first that applies gives the advice.
 */
#include "config.h"

#include "text/text_advice.h"

#include "base/kind_ip.h"
#include "base/kind_time.h"
#include "text/text_line.h"
#include "text/text_number.h"
#include "text/text_scan.h"

#include <stdio.h>
#include <string.h>

#define TEXT_ADVICE_JSON "JSON: try --jsonl -f NAME"

/* A header may be a word of so many bytes that stands alone on its line. */
#define TEXT_ADVICE_WORD_MAX 40

/* An invalid token, its line, and how they are read. */
struct text_case {
    const struct text_reading *reading;
    const struct text_rules *rules;
    const char *text; /* [bytes]: the token */
    size_t bytes;
    size_t sign;      /* bytes of it */
    const char *line; /* [length] */
    size_t length;
    bool is_word;       /* every word is a value */
    bool is_first_word; /* and the token is the first one of its file. The byte behind it, if there
                           is one, is in the same chunk; the rest of its line may not be */
};

static bool text_advice_is_letter(char byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

static bool text_advice_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool text_advice_has_mark(const char *token, size_t bytes)
{
    return bytes >= 3 && memcmp(token, "\xef\xbb\xbf", 3) == 0;
}

const char *text_advice_find_line(const struct text_reading *reading, size_t offset, size_t *length)
{
    const char *data = reading->data;
    enum text_scan_state state = TEXT_SCAN_ROW;
    const size_t begin = text_scan_last(reading->rules, data, offset, &state);
    const size_t row =
        text_scan_first(reading->rules, data + begin, reading->bytes - begin, TEXT_SCAN_ROW);
    size_t end = row > 0 ? begin + row - 1 : reading->bytes;

    end -= end > begin && data[end - 1] == '\r';
    *length = end - begin;
    return data + begin;
}

bool text_advice_is_number(const struct text_rules *rules, const char *token, size_t bytes)
{
    const bool has_prefix = rules->notation == TEXT_HEX && text_number_has_prefix(token, bytes);
    size_t fraction = 0; /* characters from the point on */

    for (size_t i = has_prefix ? 2 : 0; i < bytes; i++) {
        const bool is_point = rules->notation == TEXT_FIXED && token[i] == '.' && fraction == 0;
        const char lower = (char)(token[i] | 0x20);
        const bool is_digit = text_advice_is_digit(token[i]) ||
                              (rules->notation == TEXT_HEX && lower >= 'a' && lower <= 'f');
        fraction += is_point || fraction > 0;
        if (!is_point && (!is_digit || (fraction > rules->decimals + 1 && token[i] != '0')))
            return false;
    }
    return bytes > (fraction == 1);
}

/* Whether text[0..bytes), which is not empty, is a number without a sign. */
static bool text_advice_is_decimal(const char *text, size_t bytes)
{
    const struct text_rules fixed = {.notation = TEXT_FIXED, .decimals = TEXT_DECIMALS_MAX};
    return text_advice_is_number(&fixed, text, bytes);
}

static bool text_advice_is_json(const char *text, size_t bytes)
{
    size_t i = 0;

    while (i < bytes && (text[i] == ' ' || text[i] == '\t'))
        i++;
    return i < bytes && text[i] == '{';
}

/* The first byte of text[0..length) that may separate fields, or is between digits; 0: none is. */
static char text_advice_find_separator(const char *text, size_t length, bool between_digits)
{
    for (size_t i = 0; i < length; i++) {
        const bool is_between = i > 0 && i + 1 < length && text_advice_is_digit(text[i - 1]) &&
                                text_advice_is_digit(text[i + 1]);
        if (memchr(",;|", text[i], 3) && (!between_digits || is_between))
            return text[i];
    }
    return '\0';
}

/* The option that names a separator, or "". */
static const char *text_advice_name_separator(char separator)
{
    return separator == ','   ? "try -d ,"
           : separator == ';' ? "try -d ';'"
           : separator == '|' ? "try -d '|'"
                              : "";
}

static size_t text_advice_count(const char *text, size_t bytes, bool (*is_it)(char))
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += is_it(text[i]);
    return count;
}

static bool text_advice_is_quote(char byte)
{
    return byte == '"';
}

/* A character of dates and addresses. */
static bool text_advice_is_mark(char byte)
{
    return byte == '.' || byte == ':' || byte == '-' || byte == '/';
}

/*
 * Whether the token is in what looks like a header, with words and no numbers: a first line, or a
 * word alone on it. It is of the first file: in files before another one, --header would skip lines
 * that were read as values.
 */
static bool text_advice_is_header(const struct text_case *c)
{
    const char *text = c->is_word ? c->text : c->line;
    const size_t length = c->is_word ? c->bytes : c->length;
    bool was_letter = false;
    size_t letters = 0;

    if (!c->reading->begins_run || text != c->reading->data)
        return false;
    if (c->is_word && (c->bytes > TEXT_ADVICE_WORD_MAX || *text == '-' || *text == '+' ||
                       (c->bytes < c->reading->bytes && !memchr("\r\n", text[c->bytes], 2))))
        return false;
    for (size_t i = 0; i < length; i++) {
        const bool is_digit = text_advice_is_digit(text[i]);
        if (is_digit && !was_letter)
            return false;
        was_letter = (was_letter && (is_digit || text[i] == '_')) || text_advice_is_letter(text[i]);
        letters += was_letter;
    }
    return letters > 0;
}

/*
 * Whether the token looks hexadecimal, such as 7f00: neither a word, with a number behind it or
 * not, nor a number such as 12e5.
 */
static bool text_advice_is_hex(const char *token, size_t bytes)
{
    size_t digits = 0;
    size_t changes = 0; /* from a digit to a letter */
    size_t exponents = 0;

    for (size_t i = 0; i < bytes && bytes <= 16; i++) {
        const char lower = (char)(token[i] | 0x20);
        const bool is_digit = text_advice_is_digit(token[i]);
        if (!is_digit && (lower < 'a' || lower > 'f'))
            return false;
        changes += !is_digit && i > 0 && text_advice_is_digit(token[i - 1]);
        digits += is_digit;
        exponents += lower == 'e' && i > 0 && i + 1 < bytes;
    }
    return bytes >= 4 && changes > 0 && (exponents != 1 || digits + 1 < bytes);
}

/* The kind of the column that the token would be one of, or "". */
static const char *text_advice_choose_kind(const struct text_reading *reading, const char *text,
                                           size_t bytes)
{
    const struct kind_time_rules time = {.digits = 0};
    struct kind_ip address;
    int64_t value;

    if (reading->rules->notation > TEXT_OPAQUE || reading->rules->field == 0 || bytes == 0)
        return "";
    if (!text_advice_is_decimal(text, bytes) &&
        kind_time_read(&time, text, bytes, bytes, &value) == bytes)
        return "try COLUMN:time";
    if (kind_ip_read(text, bytes, &address))
        return "try COLUMN:ip";
    if (!reading->is_value && text_advice_count(text, bytes, text_advice_is_letter) > 0)
        return "try COLUMN:text";
    return "";
}

/* What is wrong with the quotes that the token begins with, or "". */
static const char *text_advice_find_quotes(const struct text_case *c)
{
    const char before = c->text > c->reading->data ? c->text[-1] : '\n';
    struct text_field field = {.begin = 0};
    size_t offset = 0;

    if (!c->rules->is_quoted || c->bytes == 0 || c->text[0] != '"' ||
        before == '"') /* two may be one */
        return "";
    if ((before == ' ' || before == '\t') && before != (char)c->rules->delimiter)
        return "there are blanks before its quote";
    text_line_next(c->rules, c->text, c->bytes, &offset, &field);
    return field.is_wrong ? "it goes on after its quotes" : "";
}

/* The rules for an invalid token but the one for decimals. */
static const char *text_advice_choose(const struct text_case *c)
{
    const struct text_rules *rules = c->rules;
    const bool has_delimiter = rules->delimiter != TEXT_NO_DELIMITER;
    const bool is_integer = rules->notation == TEXT_INTEGERS && c->reading->is_value;
    const struct text_rules hex = {.notation = TEXT_HEX};
    const char *digits = c->text + c->sign;
    const size_t count = c->bytes - c->sign;
    const size_t letters = text_advice_count(c->text, c->bytes, text_advice_is_letter);
    const size_t quotes = text_advice_count(c->line, c->length, text_advice_is_quote);
    const size_t inner = c->bytes > 2 && (c->text[1] == '-' || c->text[1] == '+') ? 2 : 1;

    const char *wrong = text_advice_find_quotes(c);
    if (*wrong)
        return wrong;
    if (is_integer && count > 2 && (digits[1] | 0x20) == 'x' &&
        text_advice_is_number(&hex, digits, count))
        return "try --base 16";
    if (is_integer && c->is_word && letters > 0 && memchr(c->text, ',', c->bytes))
        return "try --csv -f N";
    if (is_integer && c->is_word && letters > 0 && memchr(c->text, ';', c->bytes))
        return "try -d ';' -f N";
    if (has_delimiter && !rules->is_quoted && memchr(c->text, '"', c->bytes) && quotes % 2 == 0)
        return "try --csv";
    if (c->is_word && c->bytes > inner + 1 && c->text[0] == '"' && c->text[c->bytes - 1] == '"' &&
        text_advice_is_decimal(c->text + inner, c->bytes - inner - 1))
        return "try --csv";
    if (text_advice_is_header(c))
        return rules->field == 0 && has_delimiter ? "try --header, or -f NAME" : "try --header";
    if (rules->field != 0 && !has_delimiter &&
        text_advice_find_separator(c->text, c->bytes, true) != '\0')
        return text_advice_name_separator(text_advice_find_separator(c->text, c->bytes, true));
    if (!text_is_text(c->text, c->bytes, true))
        return "is it binary?";
    if (c->is_first_word && c->bytes < c->reading->bytes &&
        (c->text[c->bytes] == ' ' || c->text[c->bytes] == '\t') &&
        (letters > 0 || text_advice_count(c->text, c->bytes, text_advice_is_mark) > 1))
        return "try -f N";
    if (is_integer && text_advice_is_hex(c->text, c->bytes))
        return "try --base 16";
    const char *kind = text_advice_choose_kind(c->reading, c->text, c->bytes);
    if (*kind)
        return kind;
    if (c->reading->begins_file && c->text == c->reading->data &&
        text_advice_has_mark(c->text, c->bytes))
        return "tail -c +4 removes it";
    return "";
}

static void text_advice_write(const char *advice, char out[TEXT_ADVICE_SIZE])
{
    snprintf(out, TEXT_ADVICE_SIZE, *advice ? " (%s)" : "%s", advice);
}

void text_advise_token(const struct text_reading *reading, const struct text_token *token,
                       char out[TEXT_ADVICE_SIZE])
{
    const char *text = reading->data + token->offset;
    const bool is_word = text_is_of_tokens(reading->rules);
    struct text_case c = {
        .reading = reading,
        .rules = reading->rules,
        .text = text,
        .bytes = token->bytes,
        .sign = token->bytes > 0 && (*text == '-' || *text == '+'),
        .is_word = is_word,
        .is_first_word = is_word && reading->begins_file && token->offset == 0,
    };
    const char *point = memchr(text, '.', c.bytes);
    const size_t decimals = point ? (size_t)(text + c.bytes - point) - 1 : 0;

    c.line = text_advice_find_line(reading, token->offset, &c.length);
    if (reading->ends_run && (c.bytes == 0 || (c.bytes == 1 && *text == '-')))
        text_advice_write("try --invalid ignore", out);
    else if (c.rules->from_zero || c.rules->notation > TEXT_OPAQUE)
        text_advice_write(text_advice_find_quotes(&c), out);
    else if (!reading->is_json &&
             text_advice_is_json(is_word ? text : c.line, is_word ? c.bytes : c.length))
        text_advice_write(TEXT_ADVICE_JSON, out);
    else if (c.rules->notation != TEXT_HEX && decimals > 0 && decimals <= TEXT_DECIMALS_MAX &&
             text_advice_is_decimal(text + c.sign, c.bytes - c.sign))
        snprintf(out, TEXT_ADVICE_SIZE,
                 reading->is_value ? " (try --decimals %zu)" : " (try COLUMN:.%zu)", decimals);
    else if (reading->is_json)
        text_advice_write(text_advice_choose_kind(reading, text, c.bytes), out);
    else
        text_advice_write(text_advice_choose(&c), out);
}

void text_advise_missing(const struct text_reading *reading, size_t offset, size_t fields,
                         char out[TEXT_ADVICE_SIZE])
{
    size_t length;
    const char *line = text_advice_find_line(reading, offset, &length);
    const char separator = text_advice_find_separator(line, length, false);

    text_advice_write(text_advice_is_json(line, length) ? TEXT_ADVICE_JSON
                      : fields > 1                      ? ""
                                                        : text_advice_name_separator(separator),
                      out);
}

void text_advise_name(const struct text_rules *rules, const char *line, size_t bytes,
                      const char *name, char out[TEXT_ADVICE_SIZE])
{
    const bool has_delimiter = rules->delimiter != TEXT_NO_DELIMITER;
    const bool has_comma = memchr(line, ',', bytes) != NULL;
    const size_t stem = strcspn(name, ":/"); /* what comes before a kind or a width */
    const char *advice = "";

    if (name[strspn(name, "$0123456789-")] == '\0')
        advice = "give one field, by its number or name";
    else if (name[stem] != '\0' && stem > 0 &&
             (memmem(line, bytes, name, stem) || strspn(name, "-0123456789") == stem))
        advice = "kinds: int hex .N time ip text; width: /100";
    else if (!has_delimiter && memchr(line, '\t', bytes))
        advice = "tabs separate its fields";
    else if (has_delimiter && memchr(line, rules->delimiter, bytes))
        advice = !rules->is_quoted && memchr(line, '"', bytes) ? "try --csv" : "";
    else if (has_comma)
        advice = rules->is_quoted ? "try -d ," : "try --csv";
    else
        advice = text_advice_name_separator(text_advice_find_separator(line, bytes, false));
    text_advice_write(advice, out);
}
