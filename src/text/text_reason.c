/* Implements text_reason.h: the reasons, and lists of rules; the first rule that applies gives
 * advice.
 */
#include "config.h"

#include "text/text_reason.h"

#include "lib/decimal.h"
#include "lib/nearest.h"
#include "text/row_scanner.h"
#include "text/text.h"
#include "text/text_line.h"
#include "text/text_number.h"
#include "text/text_rewrite.h"
#include "text/text_scan.h"
#include "value/kind_find.h"
#include "value/kind_ip.h"
#include "value/kind_time.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#define TEXT_REASON_SHOWN 40

/* Room for what a weight is not. */
#define TEXT_REASON_WEIGHT_SIZE 96

#define TEXT_ADVICE_JSON    "try --jsonl -f NAME"
#define TEXT_ADVICE_ARRAY   "try jq -c '.[]', which writes the objects of an array as lines"
#define TEXT_ADVICE_BINARY  "try --binary, or iconv if it is UTF-16"
#define TEXT_ADVICE_CSV     "try --csv"
#define TEXT_ADVICE_MISSING "try --missing skip"
#define TEXT_ADVICE_JOIN    "try A+B:time, as only timestamps are joined"
#define TEXT_ADVICE_WORDS   "try N:time with the first word, which reads the words after it, too"
#define TEXT_ADVICE_PRETTY  "try jq -c ., which writes each object as one line for --jsonl"
#define TEXT_ADVICE_COMMENT "try --comment '#'"
#define TEXT_ADVICE_MARK \
    "try tail -c +4, which removes it" /* of UTF-8, which Windows puts before a text */

/* Maximum length of a word, alone on its line, that may be a header. */
#define TEXT_ADVICE_WORD_MAX 40

/* The bytes of a token that patterns are compared with. */
#define TEXT_ADVICE_TOKEN_MAX 128

static bool text_reason_is_letter(char byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

static bool text_reason_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The beginning of the line, or row of CSV, that a byte is in. Stores its length. */
static const char *text_reason_find_line(const struct text_reading *reading, size_t offset,
                                         size_t *length)
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

/*
 * Returns whether a token without its sign, which is not empty, is written as a number of the
 * notation, of whatever size.
 */
static bool text_reason_is_number(const struct text_rules *rules, const char *token, size_t bytes)
{
    const bool has_prefix = rules->notation == TEXT_HEX && text_number_has_prefix(token, bytes);
    struct kind_find_number parts;
    uint64_t number;

    if (rules->notation == TEXT_FIXED ||
        (rules->has_exponents && kind_find_read_number(token, bytes, &parts) &&
         parts.has_exponent)) {
        const enum text_number_fault fault = text_number_read_decimal(rules, token, bytes, &number);
        return fault == TEXT_NUMBER_VALID || fault == TEXT_NUMBER_LARGE;
    }
    for (size_t i = has_prefix ? 2 : 0; i < bytes; i++) {
        const char lower = (char)(token[i] | 0x20);
        const bool is_digit = text_reason_is_digit(token[i]) ||
                              (rules->notation == TEXT_HEX && lower >= 'a' && lower <= 'f');
        if (!is_digit)
            return false;
    }
    return bytes > 0;
}

/* Returns whether text[0..bytes), which is not empty, is a number without a sign. */
static bool text_reason_is_decimal(const char *text, size_t bytes)
{
    const struct text_rules fixed = {.notation = TEXT_FIXED, .decimals = TEXT_DECIMALS_MAX};
    return text_reason_is_number(&fixed, text, bytes);
}

static bool text_reason_is_json(const char *text, size_t bytes)
{
    size_t i = 0;

    while (i < bytes && (text[i] == ' ' || text[i] == '\t'))
        i++;
    return i < bytes && text[i] == '{';
}

/* Returns whether the text is the beginning of an object that ends on another line. */
static bool text_reason_is_pretty(const char *text, size_t bytes)
{
    while (bytes > 0 && memchr(" \t\r", text[bytes - 1], 3))
        bytes--;
    return text_reason_is_json(text, bytes) && text[bytes - 1] != '}';
}

/* Returns whether the line begins with the sign of comments, which none are. */
static bool text_reason_is_comment(const struct text_rules *rules, const char *line, size_t bytes)
{
    return bytes > 0 && *line == '#' && !rules->has_comments;
}

/*
 * Writes the option that reads the fields of web logs, if words are read of one of their lines,
 * with a time in brackets and after it quotes; or "".
 */
static void text_reason_find_log(const struct text_reading *reading, const char *line, size_t bytes,
                                 char out[TEXT_ADVICE_SIZE])
{
    static const char *const names[] = {
        [1] = "ip",   [2] = "ident",  [3] = "user",   [4] = "time",
        [7] = "path", [9] = "status", [10] = "bytes", [11] = "referer",
    };
    const struct text_rules *rules = reading->rules;
    const int64_t field = rules->field;
    const char *end = line + bytes;
    const char *bracket = memmem(line, bytes, " [", 2);
    const char *quote = bracket ? memmem(bracket, (size_t)(end - bracket), "] \"", 3) : NULL;
    const bool has_name =
        field > 0 && field < (int64_t)(sizeof names / sizeof *names) && names[field];

    *out = '\0';
    if (reading->ends_run && !reading->scanner->names_columns && field != 0 &&
        rules->delimiter == TEXT_NO_DELIMITER && !rules->is_quoted && quote &&
        text_reason_is_digit(bracket[2]))
        snprintf(out, TEXT_ADVICE_SIZE,
                 has_name ? "try --clf, where this field is named %s"
                          : "try --clf, which reads quoted fields%s",
                 has_name ? names[field] : "");
}

/* Returns whether the text begins with an array, of JSON objects if it goes on. */
static bool text_reason_is_array(const char *text, size_t bytes)
{
    size_t i = 0;

    while (i < bytes && (text[i] == ' ' || text[i] == '\t'))
        i++;
    if (i == bytes || text[i] != '[')
        return false;
    for (i++; i < bytes && memchr(" \t\r\n", text[i], 4); i++)
        continue;
    return i == bytes || text[i] == '{';
}

/*
 * The first byte of text[0..length) that may separate fields; 0: none is. A tab does so only if
 * blanks do not.
 */
static char text_reason_find_separator(const struct text_rules *rules, const char *text,
                                       size_t length)
{
    const bool has_delimiter = rules->delimiter != TEXT_NO_DELIMITER;

    for (size_t i = 0; i < length; i++) {
        if (memchr(",;|\t", text[i], has_delimiter ? 4 : 3))
            return text[i];
    }
    return '\0';
}

/* The options that name a separator of fields, some of them in quotes or none; or "". */
static const char *text_reason_name_separator(char separator, bool is_quoted)
{
    return separator == ','    ? is_quoted ? TEXT_ADVICE_CSV : "try -d ,"
           : separator == ';'  ? is_quoted ? TEXT_ADVICE_CSV " -d ';'" : "try -d ';'"
           : separator == '|'  ? is_quoted ? TEXT_ADVICE_CSV " -d '|'" : "try -d '|'"
           : separator == '\t' ? is_quoted ? TEXT_ADVICE_CSV " -d '\\t'" : "try -d '\\t'"
                               : "";
}

/* The options that read quotes and the delimiter of the rules. */
static const char *text_reason_name_csv(const struct text_rules *rules)
{
    const char *advice = text_reason_name_separator((char)rules->delimiter, true);
    return *advice ? advice : "try --csv and the -d that was given";
}

/* The separator after the quoted field that the text begins with; '\0': none of the usual. */
static char text_reason_after_quotes(const char *text, size_t bytes)
{
    size_t i = 1;

    while (i < bytes && (text[i] != '"' || (i + 1 < bytes && text[i + 1] == '"')))
        i += text[i] == '"' ? 2 : 1;
    return (char)(bytes > 0 && *text == '"' && i + 1 < bytes && memchr(";|\t", text[i + 1], 3)
                      ? text[i + 1]
                      : '\0');
}

static bool text_reason_has_letter(const char *text, size_t bytes)
{
    size_t i = 0;

    while (i < bytes && !text_reason_is_letter(text[i]))
        i++;
    return i < bytes;
}

/*
 * Returns whether the text, which has no sign, is a number in a notation that is not read: with
 * groups of digits, a decimal comma, an exponent, a suffix or a unit.
 */
static bool text_reason_is_foreign(const char *text, size_t bytes)
{
    static const char pattern[] = "^([0-9]{1,3}([,_'][0-9]{3})+([.][0-9]+)?|[0-9]+,[0-9]+|"
                                  "[0-9.,]*[0-9]([eE][-+]?[0-9]+|[%A-Za-z\x80-\xff]{1,4})|"
                                  "([$#~<>]|[\x80-\xff]{2,4})[0-9][0-9.,]*)$";
    char token[TEXT_ADVICE_TOKEN_MAX];
    regex_t regex;

    if (bytes >= sizeof token || memchr(text, '\0', bytes) ||
        regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    memcpy(token, text, bytes);
    token[bytes] = '\0';
    const bool is_foreign = regexec(&regex, token, 0, NULL, 0) == 0;
    regfree(&regex);
    return is_foreign;
}

/*
 * Returns whether text[0..bytes), a word or a line that the file begins with, looks like a header,
 * with letters and no numbers. It is of the first file: in files before another one, --header would
 * skip lines that were read as values.
 */
static bool text_reason_is_header(const struct text_reading *reading, const char *text,
                                  size_t bytes, bool is_word)
{
    const char *data_end = reading->data + reading->bytes;
    bool was_letter = false;
    size_t letters = 0;

    if (!reading->begins_run || text != reading->data)
        return false;
    if (is_word && (bytes > TEXT_ADVICE_WORD_MAX || *text == '-' || *text == '+' ||
                    (bytes < reading->bytes && !memchr("\r\n", text[bytes], 2))))
        return false;
    for (size_t i = 0; i < bytes; i++) {
        const bool is_digit = text_reason_is_digit(text[i]);
        if (is_digit && !was_letter)
            return false;
        was_letter = (was_letter && (is_digit || text[i] == '_')) || text_reason_is_letter(text[i]);
        letters += was_letter;
    }
    const char *next = memchr(text + bytes, '\n', (size_t)(data_end - text) - bytes);
    const char *end = next ? memchr(next + 1, '\n', (size_t)(data_end - next) - 1) : NULL;
    for (; end && next < end && !text_reason_is_digit(*next); next++)
        continue;
    return letters > 0 && (!end || next < end); /* values follow, if the next line is known */
}

/* Writes the kind of the column that the token would be one of, or "". */
static void text_reason_choose_kind(const struct text_reading *reading, const char *text,
                                    size_t bytes, char out[TEXT_ADVICE_SIZE])
{
    const struct kind_time_rules time = {.is_cell = true};
    const struct kind *units = kind_of_units(text, bytes);
    struct kind_ip address;
    int64_t value;

    *out = '\0';
    if (bytes == 0 || (reading->rules->from_zero && (!units || *text == '-')))
        return;
    if (units && units->decimals_max > units->unit)
        snprintf(out, TEXT_ADVICE_SIZE, "try COLUMN:%s, or %s.%u for nanoseconds", units->name,
                 units->name, KIND_UNIT_DECIMALS_MAX - units->unit);
    else if (units)
        snprintf(out, TEXT_ADVICE_SIZE, "try COLUMN:%s%s", units->name,
                 units->decimals_max == 0 ? ", or COLUMN:ibytes if K is 1024" : "");
    else if (!text_reason_is_decimal(text, bytes) &&
             kind_time_read(&time, text, bytes, bytes, &value, NULL) > 0)
        strcpy(out, "try COLUMN:time");
    else if (kind_ip_read(text, bytes, &address))
        strcpy(out, reading->takes_strings || reading->is_group ? "try COLUMN:ip or COLUMN:text"
                                                                : "try COLUMN:ip");
    else if (!reading->is_value && text_reason_has_letter(text, bytes))
        strcpy(out, "try COLUMN:text");
}

/* A rule. In a list, the first rule that applies gives the advice; the last one always applies. */
struct text_rule {
    bool is_so;
    const char *advice;
};

static void text_reason_write(const struct text_rule *rule, char out[TEXT_ADVICE_SIZE])
{
    while (!rule->is_so)
        rule++;
    snprintf(out, TEXT_ADVICE_SIZE, *rule->advice ? " (%s)" : "%s", rule->advice);
}

/* What to do about a token that is not a timestamp, or "". */
static const char *text_reason_advise_time(const struct text_reading *reading,
                                           const struct text_token *token)
{
    static const char *const advice[] = {
        [KIND_TIME_FAULT_NONE] = "",
        [KIND_TIME_FAULT_ZONE] = "try COLUMN:localtime, which ignores the zone's name",
        [KIND_TIME_FAULT_OFFSET] = "try 1+2:time, which reads two columns, or localtime; the next "
                                   "word may be an offset or a value",
        [KIND_TIME_FAULT_WORD] =
            "try --time-format '%F', which reads only dates; no time of day follows",
        [KIND_TIME_FAULT_NUMBER] = "try --time-format, such as '%Y%m%d%H' or '%s'",
    };
    const bool is_cell = reading->scanner->names_columns ||
                         reading->rules->field == TEXT_WHOLE_LINE || text_has_cells(reading->rules);
    const struct kind_time_rules time = {
        .is_local = kind_rows[reading->element->kind].is_local,
        .is_cell = is_cell,
    };
    size_t length;
    const char *text = reading->data + token->offset;
    const char *line = text_reason_find_line(reading, token->offset, &length);
    const size_t bytes = is_cell ? token->bytes : (size_t)(line + length - text);

    return advice[kind_time_find_fault(&time, text, token->bytes, bytes)];
}

/* Writes the option of the year, if a token is a timestamp of the format only in leap years; or "".
 */
static void text_reason_find_year(const struct text_reading *reading,
                                  const struct text_token *token, char out[TEXT_ADVICE_SIZE])
{
    struct kind_time_format leap;
    size_t length;
    const char *text = reading->data + token->offset;
    const char *line = text_reason_find_line(reading, token->offset, &length);
    const size_t bytes = (size_t)(line + length - text);

    *out = '\0';
    if (!reading->format || !reading->format->lacks_year)
        return;
    leap = *reading->format;
    leap.year = 2000;
    if (text_rewrite_read(reading, &leap, text, token->bytes, bytes) > 0)
        snprintf(out, TEXT_ADVICE_SIZE, "try --year N, unless it is a day of %u",
                 kind_time_format_year(reading->format));
}

/* Returns whether a text is the name of a day of the week or of a month. */
static bool text_reason_is_day(const char *text, size_t bytes)
{
    static const char names[] =
        " mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec";
    char begin[] = {' ', 0, 0, 0, '\0'};

    for (size_t i = 0; i < bytes; i++) {
        if (!text_reason_is_letter(text[i]) || i == sizeof "September" - 1)
            return false;
        if (i < 3)
            begin[1 + i] = (char)(text[i] | 0x20);
    }
    return bytes >= 3 && strstr(names, begin);
}

/* Returns whether values are numbers with units, which their kind reads. */
static bool text_reason_is_unit(const struct text_reading *reading)
{
    return reading->rules->notation == TEXT_OTHER &&
           kind_rows[reading->element->kind].scale == KIND_NUMBERS;
}

/*
 * Writes the option or the kind that reads a number, with a point or an exponent, that values do
 * not have; "" if the token is not such a number, or has such decimals.
 */
static void text_reason_find_number(const struct text_reading *reading, const char *text,
                                    size_t bytes, char out[TEXT_ADVICE_SIZE])
{
    const struct text_rules *rules = reading->rules;
    const bool is_column = !reading->is_value || rules->field != 0; /* it may have a kind */
    const char *option = is_column ? "COLUMN:" : "--decimals ";
    const char *point = is_column ? "." : "";
    struct kind_find_number number;

    *out = '\0';
    if (rules->notation == TEXT_HEX || rules->is_rounded ||
        !kind_find_read_number(text, bytes, &number) ||
        (!number.has_exponent && number.decimals == 0) || (rules->from_zero && number.has_minus))
        return;
    const int64_t decimals = !number.has_exponent                  ? number.decimals
                             : number.places < 0 || number.is_zero ? 0
                                                                   : number.places;
    const bool may_be_text = (reading->takes_strings || !reading->is_value) && !rules->from_zero;
    if (decimals > TEXT_DECIMALS_MAX)
        snprintf(out, TEXT_ADVICE_SIZE, "try %sround.%u", option, kind_find_round(number.digits));
    else if (rules->notation == TEXT_INTEGERS && decimals == 0 && rules->field != 0)
        snprintf(out, TEXT_ADVICE_SIZE, "try COLUMN:int%s", may_be_text ? " or COLUMN:text" : "");
    else if (decimals > rules->decimals || rules->notation == TEXT_INTEGERS)
        snprintf(out, TEXT_ADVICE_SIZE, "try %s%s%u", option, point, (unsigned)decimals);
}

/* Writes the kind with the decimals that a number with a unit needs, if more would do. */
static void text_reason_find_decimals(const struct text_reading *reading, const char *text,
                                      size_t bytes, char out[TEXT_ADVICE_SIZE])
{
    const struct kind *kind = &kind_rows[reading->element->kind];
    const unsigned finest = KIND_UNIT_DECIMALS_MAX - kind->unit; /* nanoseconds */
    struct element finer = *reading->element;
    __int128 value;

    while (finer.decimals < kind->decimals_max && !*out) {
        finer.decimals++;
        if (kind->read(&finer, text, bytes, &value))
            snprintf(out, TEXT_ADVICE_SIZE,
                     finer.decimals < finest ? "try COLUMN:%s.%u, or %s.%u for nanoseconds"
                                             : "try COLUMN:%s.%u",
                     kind->name, finer.decimals, kind->name, finest);
    }
}

/*
 * Writes the condition that missing values meet, if that of the column compares with what rows have
 * in their place; or "".
 */
static void text_reason_find_condition(const struct text_reading *reading,
                                       char out[TEXT_ADVICE_SIZE])
{
    const struct predicate *condition = reading->condition;
    const char *none = reading->scanner->none;

    *out = '\0';
    if (condition && condition->relation == PREDICATE_EQ && none && condition->text &&
        strcmp(condition->text, none) == 0)
        snprintf(out, TEXT_ADVICE_SIZE, "try '%.160s%s='", reading->field_name,
                 condition->negated ? "!" : "");
}

/* Writes the format that reads a time, or leaves "". */
static void text_reason_find_format(const struct text_reading *reading,
                                    const struct text_token *token, char out[TEXT_ADVICE_SIZE])
{
    char format[TEXT_ADVICE_SIZE];

    if (text_rewrite_time(reading, token, format))
        snprintf(out, TEXT_ADVICE_SIZE, "try %s--time-format %.160s",
                 element_is_of_time(reading->element) ? "" : "COLUMN:time ", format);
}

/* What to do about a line of fields that is JSON, or "". */
static const char *text_reason_advise_json(const struct text_reading *reading,
                                           const struct text_token *token)
{
    const char *text = reading->data + token->offset;
    const bool is_word = text_is_of_tokens(reading->rules);
    const size_t sign = token->bytes > 0 && (*text == '-' || *text == '+');
    size_t length;
    const char *line = text_reason_find_line(reading, token->offset, &length);

    if (text_reason_is_pretty(line, length))
        return TEXT_ADVICE_PRETTY;
    if (text_reason_is_json(is_word ? text : line, is_word ? token->bytes : length))
        return TEXT_ADVICE_JSON;
    if (reading->begins_file && token->offset == 0 &&
        text_reason_is_array(is_word ? text : line, is_word ? token->bytes : length) &&
        !text_reason_is_decimal(text + sign, token->bytes - sign) && memchr(line, '{', length))
        return TEXT_ADVICE_ARRAY " for --jsonl";
    return "";
}

/* Writes advice about an invalid token, such as " (try --decimals 1)", or "". */
static void text_advise_token(const struct text_reading *reading, const struct text_token *token,
                              char out[TEXT_ADVICE_SIZE])
{
    const struct text_rules *rules = reading->rules;
    const bool has_fields = !reading->scanner->names_columns;
    const char *text = reading->data + token->offset;
    const size_t bytes = token->bytes;
    const size_t sign = bytes > 0 && (*text == '-' || *text == '+');
    const char *number = text + sign;
    const size_t digits = bytes - sign;
    const char before = token->offset > 0 ? text[-1] : '\n'; /* two quotes may be one */
    const bool has_delimiter = rules->delimiter != TEXT_NO_DELIMITER;
    const bool has_letter = text_reason_has_letter(text, bytes);
    const bool has_mark = text_has_mark(text, bytes);
    const bool is_word = text_is_of_tokens(rules); /* each one is a value */
    const bool is_integer = rules->notation == TEXT_INTEGERS && reading->is_value;
    const bool is_names = is_integer && is_word && has_letter && !has_mark;
    const bool is_hex = rules->notation == TEXT_HEX;
    const bool is_foreign = !is_hex && !has_mark && text_reason_is_foreign(number, digits);
    /* The byte after a file's first word is in the same chunk; the rest of its line may not be. */
    const bool is_first = is_word && reading->begins_file && token->offset == 0 &&
                          bytes < reading->bytes && (text[bytes] == ' ' || text[bytes] == '\t');
    const bool may_be_text = reading->takes_strings && reading->is_value && rules->field != 0 &&
                             has_letter && text_is_text(text, bytes, true);
    const char separator = has_delimiter ? '\0' : text_reason_find_separator(rules, text, bytes);
    const char *foreign = "try man gpuhist-formats, UNSUPPORTED NUMBERS";
    const struct text_rules hex = {.notation = TEXT_HEX};
    struct text_field quoted = {.begin = 0}; /* the token, if quotes are how it begins */
    const bool is_indented = rules->is_quoted && bytes > 0 && *text == '"' &&
                             (before == ' ' || before == '\t') && before != (char)rules->delimiter;
    const char after_quotes = text_reason_after_quotes(text, bytes);
    char fixed[TEXT_ADVICE_SIZE];
    char of_year[TEXT_ADVICE_SIZE];
    char finer[TEXT_ADVICE_SIZE] = "";
    char kind[TEXT_ADVICE_SIZE];
    char of_format[TEXT_ADVICE_SIZE] = "";
    char of_missing[TEXT_ADVICE_SIZE];
    char of_log[TEXT_ADVICE_SIZE];
    size_t next = 0;
    size_t length;
    const char *line = text_reason_find_line(reading, token->offset, &length);
    const char *json = has_fields ? text_reason_advise_json(reading, token) : "";
    const bool is_time = element_is_of_time(reading->element);
    const bool is_alone = is_word && has_letter && text == line && bytes == length;

    if (rules->is_quoted && bytes > 0 && *text == '"')
        text_line_next(rules, text, bytes, &next, &quoted);
    text_reason_find_condition(reading, of_missing);
    text_reason_find_log(reading, line, length, of_log);
    text_reason_find_number(reading, text, bytes, fixed);
    text_reason_choose_kind(reading, text, bytes, kind);
    if (is_time || (!*kind && (rules->field != 0 || !has_fields)))
        text_reason_find_format(reading, token, of_format);
    if (text_reason_is_unit(reading) && !(rules->from_zero && *text == '-'))
        text_reason_find_decimals(reading, text, bytes, finer);
    text_reason_find_year(reading, token, of_year);
    const struct text_rule list[] = {
        {*of_missing && token->is_empty, of_missing},
        {reading->ends_run && (token->is_empty || (bytes == 0 && rules->field != 0)),
         TEXT_ADVICE_MISSING},
        {reading->ends_run && (bytes == 0 || kind_find_is_placeholder(text, bytes)),
         "try --invalid ignore"},
        {quoted.is_wrong && after_quotes, text_reason_name_separator(after_quotes, true)},
        {is_indented || (quoted.is_wrong && before != '"'), "spaces or text around its quotes"},
        {*of_format, of_format},
        {*of_year, of_year},
        {is_time && text_reason_is_day(text, bytes), "try COLUMN:text, as it has no date"},
        {is_time && !reading->format, text_reason_advise_time(reading, token)},
        {*of_log && !is_time, of_log},
        {rules->notation > TEXT_OPAQUE, finer},
        {*json, json},
        {*fixed, fixed},
        {(!has_fields || rules->from_zero) && *kind, kind},
        {!has_fields || rules->from_zero, is_foreign    ? foreign
                                          : may_be_text ? "try COLUMN:text"
                                                        : ""},
        {is_integer && text_number_has_prefix(number, digits) &&
             text_reason_is_number(&hex, number, digits),
         "try --base 16"},
        {is_names && memchr(text, ',', bytes), "try --csv -f N"},
        {is_names && memchr(text, ';', bytes), "try -d ';' -f N"},
        {has_delimiter && !rules->is_quoted && memchr(text, '"', bytes),
         text_reason_name_csv(rules)},
        {is_word && bytes > 2 && *text == '"' && text[bytes - 1] == '"', TEXT_ADVICE_CSV},
        {!text_is_text(text, bytes, true), TEXT_ADVICE_BINARY},
        {has_fields && text_reason_is_comment(rules, line, length), TEXT_ADVICE_COMMENT},
        {text_reason_is_header(reading, is_word ? text : line, is_word ? bytes : length, is_word),
         rules->field == 0 && has_delimiter ? "try --header, or -f NAME" : "try --header"},
        {is_foreign && separator == ',', "try -d , or man gpuhist-formats, UNSUPPORTED NUMBERS"},
        {separator && !is_hex, text_reason_name_separator(separator, memchr(line, '"', length))},
        {is_first && (has_letter || *kind), "try -f N"},
        {rules->field != 0 && *kind, kind},
        {reading->begins_file && token->offset == 0 && has_mark, TEXT_ADVICE_MARK},
        {is_foreign, foreign},
        {may_be_text, "try COLUMN:text"},
        {is_alone && reading->takes_strings && text_is_text(text, bytes, true), "try -f 1:text"},
        {true, ""},
    };
    text_reason_write(list, out);
}

static size_t text_reason_count_fields(const struct text_rules *rules, const char *line,
                                       size_t bytes)
{
    struct text_field field;
    size_t fields = 0;

    for (size_t next = 0; text_line_next(rules, line, bytes, &next, &field);)
        fields++;
    return fields;
}

/* Returns whether a line is the first of the input, and the next one has the wanted field. */
static bool text_reason_is_title(const struct text_reading *reading, const char *line,
                                 size_t length)
{
    const size_t begin = (size_t)(line - reading->data) + length + 1;
    const int64_t field = reading->rules->field;
    size_t bytes;

    if (!reading->begins_run || line != reading->data || begin >= reading->bytes)
        return false;
    const char *next = text_reason_find_line(reading, begin, &bytes);
    return text_reason_count_fields(reading->rules, next, bytes) >=
           (size_t)(field < 0 ? -field : field);
}

/* Writes advice about the line around an offset, which has only `fields` fields, or "". */
static void text_advise_missing(const struct text_reading *reading, size_t offset, size_t fields,
                                char out[TEXT_ADVICE_SIZE])
{
    size_t length;
    const char *line = text_reason_find_line(reading, offset, &length);
    const char separator = text_reason_find_separator(reading->rules, line, length);

    const struct text_rule list[] = {
        {text_reason_is_comment(reading->rules, line, length), TEXT_ADVICE_COMMENT},
        {text_reason_is_pretty(line, length), TEXT_ADVICE_PRETTY},
        {text_reason_is_json(line, length), TEXT_ADVICE_JSON},
        {fields == 1 && separator,
         text_reason_name_separator(separator,
                                    reading->rules->is_quoted || memchr(line, '"', length))},
        {text_reason_is_title(reading, line, length), "try --header, if this line is one"},
        {true, ""},
    };
    text_reason_write(list, out);
}

/* Writes advice about a column that the row around an offset, which names its own, lacks; or "". */
static void text_advise_column(const struct text_reading *reading, size_t offset,
                               char out[TEXT_ADVICE_SIZE])
{
    const char *name = reading->field_name;
    char column[ROW_NAME_SIZE] = "";
    size_t length;
    char meant[TEXT_ADVICE_SIZE];
    const char *row = text_reason_find_line(reading, offset, &length);

    if (reading->scanner->suggest)
        reading->scanner->suggest(row, length, name, column);
    out[0] = '\0';
    text_reason_find_condition(reading, meant);
    if (*meant || text_rewrite_column(reading->rules, row, length, name, meant))
        snprintf(out, TEXT_ADVICE_SIZE, " (%.200s)", meant);
    else if (*column)
        snprintf(out, TEXT_ADVICE_SIZE, " (%sdid you mean '%.*s'?)",
                 reading->ends_run ? TEXT_ADVICE_MISSING ", or " : "", TEXT_ADVICE_SIZE - 64,
                 column);
    else if (*name && strchr(name + 1, '+'))
        strcpy(out, " (" TEXT_ADVICE_JOIN ")");
    else if (reading->ends_run)
        strcpy(out, " (" TEXT_ADVICE_MISSING ")");
}

bool text_explain_kind(const struct text_rules *rules, const char *line, size_t bytes,
                       const char *name, char out[TEXT_REASON_SIZE])
{
    char meant[TEXT_ADVICE_SIZE];
    const size_t where = strcspn(name, ":");
    const char *colon = strrchr(name, ':');
    char kinds[KIND_LIST_SIZE];

    kind_list_all(kinds);
    if (where == 0 || !colon ||
        (!memmem(line, bytes, name, where) && strspn(name, "-0123456789") != where))
        return false;
    if (text_rewrite_column(rules, line, bytes, name, meant))
        snprintf(out, TEXT_REASON_SIZE,
                 "unknown column type '%.24s'; the header has no column '%.100s' either (%.128s)",
                 colon + 1, name, meant);
    else
        snprintf(
            out, TEXT_REASON_SIZE,
            "unknown column type '%.24s': expected %s, with an optional width such as time/15m or "
            "time/day-of-week; "
            "the header has no column '%.100s' either",
            colon + 1, kinds, name);
    return true;
}

void text_advise_name(const struct text_rules *rules, const char *line, size_t bytes,
                      const char *name, char out[TEXT_ADVICE_SIZE])
{
    const bool has_delimiter = rules->delimiter != TEXT_NO_DELIMITER;
    struct nearest search = nearest_begin(name, strlen(name));
    struct text_rules header = *rules;
    struct text_field field = {.begin = 0};
    char found[TEXT_ADVICE_SIZE];
    char meant[TEXT_ADVICE_SIZE];
    char quoted[TEXT_ADVICE_SIZE] = ""; /* a name that has a colon after this one */

    header.delimiter = !has_delimiter && memchr(line, '\t', bytes) ? '\t' : rules->delimiter;
    for (size_t next = 0; text_line_next(&header, line, bytes, &next, &field);) {
        const bool is_quoted = rules->is_quoted && field.begin + 1 < field.end &&
                               line[field.begin] == '"' && line[field.end - 1] == '"';
        size_t begin = field.begin + is_quoted;
        size_t end = field.end - is_quoted;
        text_line_trim(line, &begin, &end);
        nearest_try(&search, line + begin, end - begin);
        const size_t length = strlen(name);
        if (end - begin > length && memcmp(line + begin, name, length) == 0 &&
            line[begin + length] == ':')
            snprintf(quoted, sizeof quoted, "try '\"%.*s\"', a name in quotes",
                     (int)(end - begin < 64 ? end - begin : 64), line + begin);
    }
    const bool is_json = text_reason_is_json(line, bytes);
    const bool is_meant = text_rewrite_column(rules, line, bytes, name, meant);
    if (is_meant)
        strcpy(found, meant);
    else if (text_reason_is_pretty(line, bytes))
        strcpy(found, TEXT_ADVICE_PRETTY);
    else if (is_json)
        snprintf(found, sizeof found, "try --jsonl -f %s%.64s", *name == '.' ? "" : ".", name);
    else if (search.word)
        snprintf(found, sizeof found, "did you mean '%.*s'?", (int)search.word_length, search.word);
    const struct text_rule list[] = {
        {is_meant || is_json, found},
        {*quoted, quoted},
        {!search.word && text_reason_is_comment(rules, line, bytes), TEXT_ADVICE_COMMENT},
        {!search.word && name[strspn(name, "0123456789-")] == '\0',
         "try one field, by its number or name"},
        {memchr(line, '\0', bytes), TEXT_ADVICE_BINARY},
        /* It begins as no name does, and the name could be in it by chance alone. */
        {(text_reason_is_digit(*line) || *line == '[') && !text_reason_is_digit(*name),
         "try the field's number, if there is no header"},
        {has_delimiter && !rules->is_quoted && memchr(line, '"', bytes),
         text_reason_name_csv(rules)},
        {*name && strchr(name + 1, '+') &&
             !(search.word && memchr(search.word, '+', search.word_length)),
         has_delimiter || strspn(name, "0123456789+") < strlen(name) ? TEXT_ADVICE_JOIN
                                                                     : TEXT_ADVICE_WORDS},
        {search.word, found},
        {has_delimiter && memchr(line, rules->delimiter, bytes), ""},
        {memchr(line, ',', bytes), rules->is_quoted ? "try -d ," : TEXT_ADVICE_CSV},
        {true, text_reason_name_separator(text_reason_find_separator(rules, line, bytes),
                                          rules->is_quoted || memchr(line, '"', bytes))},
    };
    text_reason_write(list, out);
}

/*
 * Returns whether token[0..bytes) is digits, in groups of three or not, with a fraction and an
 * exponent or without. Stores how many decimals it has, without zeros at its end, and whether that
 * is all: it has neither groups nor an exponent.
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

enum text_misfit text_find_misfit(const struct text_rules *rules, const struct element *element,
                                  const char *token, size_t bytes, size_t *decimals)
{
    const bool is_kind = rules->notation > TEXT_OPAQUE;
    const bool is_quoted = bytes > 2 && token[0] == '"' && token[bytes - 1] == '"';
    const uint64_t half = (uint64_t)1 << 63;
    size_t sign = bytes > 0 && (*token == '-' || *token == '+');
    struct kind_find_number parts;
    struct text_number number;
    bool is_plain;

    *decimals = 0;
    if (!is_kind && bytes > sign && text_reason_is_number(rules, token + sign, bytes - sign)) {
        if (!text_number_read_any(rules, token, bytes, &number))
            return TEXT_MISFIT_RANGE;
        if (number.magnitude <= text_number_limits(*element).magnitude[number.is_negative])
            return TEXT_MISFIT_BUCKET;
        if (number.is_negative)
            return number.magnitude <= half ? TEXT_MISFIT_I64 : TEXT_MISFIT_RANGE;
        return number.magnitude < half ? TEXT_MISFIT_I64 : TEXT_MISFIT_U64;
    }
    token += is_quoted;
    bytes -= 2 * (size_t)is_quoted;
    sign = bytes > 0 && (*token == '-' || *token == '+');
    if (is_kind || rules->notation == TEXT_HEX ||
        !text_reason_is_any_number(token + sign, bytes - sign, decimals, &is_plain))
        return TEXT_MISFIT_NONE;
    if ((rules->notation == TEXT_FIXED || rules->has_exponents) &&
        kind_find_read_number(token, bytes, &parts) && parts.has_exponent) {
        *decimals = parts.places > 0 ? (size_t)parts.places : 0;
        is_plain = true;
    }
    *decimals += *decimals == 0;
    return is_quoted || !is_plain ? TEXT_MISFIT_FORM : TEXT_MISFIT_DECIMAL;
}

/*
 * Writes the reason if the line has no such field, or another number of them than its header; one
 * that lacks the wanted field is only said to lack it. Returns whether it is so.
 */
static bool text_reason_has_wrong_fields(const struct text_reading *reading, size_t offset,
                                         char out[TEXT_REASON_SIZE])
{
    const int32_t columns = reading->rules->columns;
    const int64_t field = reading->rules->field;
    const size_t wanted = (size_t)(field < 0 ? -field : field);
    char advice[TEXT_ADVICE_SIZE] = "";
    size_t bytes;
    const char *line = text_reason_find_line(reading, offset, &bytes);

    const size_t fields = text_reason_count_fields(reading->rules, line, bytes);
    const bool is_missing = fields < wanted;
    if (!is_missing && (columns == 0 || fields == (size_t)columns))
        return false;
    if (is_missing) {
        text_advise_missing(reading, offset, fields, advice);
        snprintf(out, TEXT_REASON_SIZE, "missing field %lld%s%.100s%s: the line has %zu%s",
                 (long long)field, reading->field_name ? " '" : "",
                 reading->field_name ? reading->field_name : "", reading->field_name ? "'" : "",
                 fields, advice);
        return true;
    }
    if (reading->field_name)
        snprintf(advice, sizeof advice, " (%s)", reading->numbers);
    snprintf(out, TEXT_REASON_SIZE, "wrong number of fields: the line has %zu, the header %d%s",
             fields, (int)columns, advice);
    return true;
}

/* What the values of a column are. */
static const char *text_reason_noun(const struct text_reading *reading)
{
    const struct kind *kind = &kind_rows[reading->element->kind];

    if (kind->scale != KIND_NUMBERS)
        return kind->noun;
    return reading->rules->from_zero ? "weight" : reading->is_group ? "group" : kind->noun;
}

/* Writes what an invalid weight is not, or "" of other columns. */
static void text_reason_say_weight(const struct text_reading *reading,
                                   char out[TEXT_REASON_WEIGHT_SIZE])
{
    const struct text_rules *rules = reading->rules;
    const struct kind *kind = &kind_rows[reading->element->kind];
    const unsigned decimals = reading->element->decimals;
    char limit[DECIMAL_SIZE];
    char places[32] = "";

    decimal_format_fixed(limit, INT64_MAX, decimals);
    if (decimals > 0 && !rules->is_rounded)
        snprintf(places, sizeof places, " with %u decimal%s", decimals, decimals == 1 ? "" : "s");
    *out = '\0';
    if (rules->from_zero)
        snprintf(out, TEXT_REASON_WEIGHT_SIZE, ", no %s from 0 to %s%s", kind->noun,
                 decimals > 0 ? limit : "2^63 - 1", places);
}

void text_explain_invalid(const struct text_reading *reading, const struct text_token *token,
                          char out[TEXT_REASON_SIZE])
{
    const char *begin = reading->data + token->offset;
    const struct text_rules *rules = reading->rules;
    const struct row_scanner *scanner = reading->scanner;
    const bool is_kind = rules->notation > TEXT_OPAQUE;
    size_t ignored;
    const enum text_misfit misfit = /* of a weight it is not told */
        rules->from_zero ? TEXT_MISFIT_NONE
                         : text_find_misfit(rules, reading->element, begin, token->bytes, &ignored);
    const char *type = misfit == TEXT_MISFIT_I64 ? "i64" : misfit == TEXT_MISFIT_U64 ? "u64" : "";
    bool has_mark = text_has_mark(begin, token->bytes);
    char shown[TEXT_REASON_SHOWN + 4];
    char advice[TEXT_ADVICE_SIZE];
    char decimals[24] = "";
    char weight[TEXT_REASON_WEIGHT_SIZE];
    __int128 value;
    const bool is_other = /* that has not been said */
        !reading->is_value && !rules->from_zero && (is_kind || !reading->is_group);

    if (token->fault) {
        size_t length;
        const char *line = text_reason_find_line(reading, token->offset, &length);
        const char *rest = /* of the row */
            has_mark ? ", because of a byte order mark (" TEXT_ADVICE_MARK ")"
            : text_reason_is_array(begin, token->bytes) ? " (" TEXT_ADVICE_ARRAY ")"
            : text_reason_is_pretty(line, length)       ? " (" TEXT_ADVICE_PRETTY ")"
                                                        : "";
        snprintf(out, TEXT_REASON_SIZE, "invalid %s: %s%s", scanner->noun, token->fault, rest);
        return;
    }
    if (scanner->names_columns && token->is_missing) {
        text_advise_column(reading, token->offset, advice);
        snprintf(out, TEXT_REASON_SIZE, "missing %s '%.100s'%s", scanner->part, reading->field_name,
                 advice);
        return;
    }
    if (token->bytes == 0 && !scanner->names_columns &&
        text_reason_has_wrong_fields(reading, token->offset, out))
        return;
    text_advise_token(reading, token, advice);
    if (element_is_string(reading->element) && token->bytes > TEXT_BYTES_MAX) {
        snprintf(out, TEXT_REASON_SIZE, "text of more than %zu bytes", TEXT_BYTES_MAX);
        return;
    }
    /* The beginning of the token, with `?` for NUL. */
    const size_t bytes = token->bytes - 3 * has_mark;
    const size_t length = bytes < TEXT_REASON_SHOWN ? bytes : TEXT_REASON_SHOWN;
    for (size_t i = 0; i < length; i++)
        shown[i] = begin[3 * has_mark + i] == '\0' ? '?' : begin[3 * has_mark + i];
    strcpy(shown + length, bytes > length ? "..." : "");
    text_reason_say_weight(reading, weight);
    if (rules->notation == TEXT_FIXED)
        snprintf(decimals, sizeof decimals, " with --decimals %u", rules->decimals);
    const struct kind_time_rules time = {
        .digits = reading->element->decimals,
        .is_local = kind_rows[reading->element->kind].is_local,
        .is_cell = true,
    };
    if (element_is_of_time(reading->element) && token->bytes > 0 &&
        kind_time_is_out_of_range(&time, begin, token->bytes, token->bytes))
        snprintf(out, TEXT_REASON_SIZE,
                 "'%s' is out of range for timestamps with %u digits of a second", shown,
                 time.digits);
    else if (misfit == TEXT_MISFIT_BUCKET)
        snprintf(out, TEXT_REASON_SIZE, "the bucket of '%s' starts below the smallest %s%s%s",
                 shown, reading->element->name, decimals,
                 reading->element->bytes < sizeof(int64_t) ? " (try -t i64)" : "");
    else if (text_reason_is_unit(reading) && !rules->from_zero &&
             kind_rows[reading->element->kind].read(reading->element, begin, token->bytes, &value))
        snprintf(out, TEXT_REASON_SIZE, "'%s' is out of range for %s", shown,
                 kind_rows[reading->element->kind].name);
    else if (*type || misfit == TEXT_MISFIT_RANGE)
        snprintf(out, TEXT_REASON_SIZE, "'%s' is out of range for %s%s%s%s%s", shown,
                 reading->element->name, decimals, *type ? " (try -t " : "", type,
                 *type ? ")" : "");
    else
        snprintf(out, TEXT_REASON_SIZE, "invalid %s '%s%s'%s%s%s%s", text_reason_noun(reading),
                 has_mark ? "<byte order mark>" : "", shown, weight, is_other ? " of " : "",
                 is_other ? reading->option : "", advice);
}
