/* Implements text_advice.h: lists of rules, of which the first that applies gives the advice. */
#include "config.h"

#include "text/text_advice.h"

#include "base/kind_ip.h"
#include "base/kind_time.h"
#include "base/nearest.h"
#include "text/text_line.h"
#include "text/text_number.h"
#include "text/text_scan.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TEXT_ADVICE_JSON "JSON: try --jsonl -f NAME"
#define TEXT_ADVICE_WIDE "is it UTF-16? iconv -f UTF-16 -t UTF-8 converts it"

/* The kinds of columns, and widths of theirs. */
static const struct {
    const char *name; /* "": .N */
    const char *widths;
} text_kinds[] = {
    {"int", "/100"},
    {"hex", "/100"},
    {"time", "/1s /15m /1h /1d /1w /1mo /1y"},
    {"localtime", "/1s /15m /1h /1d /1w /1mo /1y"},
    {"ip", "/24 /24/48"},
    {"text", NULL},
    {"", "/100 /0.5"},
};

#define TEXT_KINDS (sizeof text_kinds / sizeof *text_kinds)

/* A header may be a word of so many bytes that stands alone on its line. */
#define TEXT_ADVICE_WORD_MAX 40

/* The bytes of a token that rules look at. */
#define TEXT_ADVICE_TOKEN_MAX 128

/* Keys of JSON objects are looked at that are in fewer objects than this. */
#define TEXT_ADVICE_DEPTH 16

/* An invalid token, its line, and how they are read. */
struct text_case {
    const struct text_reading *reading;
    const struct text_rules *rules;
    const char *text; /* [bytes]: the token */
    size_t bytes;
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

/*
 * The first byte of text[0..length) that may separate fields; 0: none is. A tab does so only if
 * blanks do not.
 */
static char text_advice_find_separator(const struct text_rules *rules, const char *text,
                                       size_t length)
{
    const bool has_delimiter = rules->delimiter != TEXT_NO_DELIMITER;

    for (size_t i = 0; i < length; i++) {
        if (memchr(",;|\t", text[i], has_delimiter ? 4 : 3))
            return text[i];
    }
    return '\0';
}

/* The option that names a separator, or "". */
static const char *text_advice_name_separator(char separator)
{
    return separator == ','    ? "try -d ,"
           : separator == ';'  ? "try -d ';'"
           : separator == '|'  ? "try -d '|'"
           : separator == '\t' ? "try -d '\\t'"
                               : "";
}

static size_t text_advice_count(const char *text, size_t bytes, bool (*is_it)(char))
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += is_it(text[i]);
    return count;
}

/*
 * Whether text[0..bytes) looks like ASCII in UTF-16 without a byte order mark, of whatever byte
 * order: every second byte is NUL, and the others are not.
 */
static bool text_advice_is_wide(const char *text, size_t bytes)
{
    const size_t mark =
        bytes >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0) ? 2
                                                                                             : 0;
    const size_t first = bytes > mark && text[mark] != '\0';

    for (size_t i = mark; i < bytes; i++) {
        if ((text[i] == '\0') != ((i - mark) % 2 == first))
            return false;
    }
    return bytes > (mark ? 3 : 4);
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

/* The kind of the column that the token would be one of, or "". */
static const char *text_advice_choose_kind(const struct text_reading *reading, const char *text,
                                           size_t bytes)
{
    const struct kind_time_rules time = {.digits = 0};
    struct kind_ip address;
    int64_t value;

    if (reading->rules->notation > TEXT_OPAQUE || reading->rules->field == 0 || bytes == 0 ||
        reading->rules->from_zero)
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

/* When a rule applies: to lines with one of these separators, */
enum text_when {
    TEXT_WHEN_BLANKS = 1, /* a comma may be a delimiter that is not known yet */
    TEXT_WHEN_COMMAS = 2, /* or the rows are JSON: a comma in a token is in quotes */
    TEXT_WHEN_OTHERS = 4,
    TEXT_WHEN_ANY = 7,
    /* and only if all of these are so: */
    TEXT_WHEN_INTEGER = 8, /* the values are integers */
    TEXT_WHEN_WORD = 16,   /* and every word is one */
    TEXT_WHEN_FIELD = 32,  /* a field is wanted */
    TEXT_WHEN_PAIRS = 64,  /* -d splits quoted fields: the quotes of the line are in pairs */
};

/* The order of rules: some come before or after others that are no patterns. */
enum text_turn {
    TEXT_TURN_LINES,  /* what the lines are */
    TEXT_TURN_COMMAS, /* then whether the token is in a header */
    TEXT_TURN_NUMBERS /* and at last, numbers as they are written elsewhere, which are not read */
};

/*
 * Extended regular expressions, in the locale C, of a token without its sign. The advice is
 * `before`, or has the first group between that and `after`.
 */
static const struct text_rule {
    enum text_turn turn;
    unsigned when; /* bits of enum text_when */
    const char *pattern;
    const char *before;
    const char *after;
} text_rules_of_tokens[] = {
#define LINES   TEXT_TURN_LINES
#define COMMAS  TEXT_TURN_COMMAS
#define NUMBERS TEXT_TURN_NUMBERS
#define WORD    (TEXT_WHEN_ANY | TEXT_WHEN_INTEGER | TEXT_WHEN_WORD)
#define FIELD   (TEXT_WHEN_BLANKS | TEXT_WHEN_FIELD)
#define GROUPS  "^[0-9]{1,3}(,[0-9]{3})+([.][0-9]+)?$"
#define DECIMAL "^[0-9]+,[0-9]+$"
    {LINES, TEXT_WHEN_ANY | TEXT_WHEN_INTEGER, "^0[xX][0-9a-fA-F]+$", "try --base 16", NULL},
    {LINES, WORD, "[A-Za-z].*,|,.*[A-Za-z]", "try --csv -f N", NULL},
    {LINES, WORD, "[A-Za-z].*;|;.*[A-Za-z]", "try -d ';' -f N", NULL},
    {LINES, TEXT_WHEN_ANY | TEXT_WHEN_PAIRS, "\"", "try --csv", NULL},
    {LINES, TEXT_WHEN_ANY | TEXT_WHEN_WORD, "^\"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)\"$", "try --csv",
     NULL},
    {COMMAS, TEXT_WHEN_BLANKS, GROUPS, "try -d , or, if it groups digits, tr -d ,", NULL},
    {COMMAS, TEXT_WHEN_COMMAS, GROUPS, "digit groups are not read: see NOT READ in the manual",
     NULL},
    {COMMAS, TEXT_WHEN_OTHERS, GROUPS, "digit groups are not read: try tr -d ,", NULL},
    {COMMAS, TEXT_WHEN_BLANKS, DECIMAL, "try -d , or, if it is a decimal comma, sed 's/,/./'",
     NULL},
    {COMMAS, TEXT_WHEN_COMMAS, DECIMAL, "decimal commas are not read: see NOT READ in the manual",
     NULL},
    {COMMAS, TEXT_WHEN_OTHERS, DECIMAL, "decimal commas are not read: try sed 's/,/./g'", NULL},
    {COMMAS, FIELD, "[0-9],[0-9]", "try -d ,", NULL},
    {COMMAS, FIELD, "[0-9]([;|])[0-9]", "try -d '", "'"},
    {NUMBERS, TEXT_WHEN_ANY, "^[0-9]{1,3}([_'])[0-9]{3}([_'][0-9]{3})*$",
     "digit groups are not read: try tr -d \"", "\""},
    {NUMBERS, TEXT_WHEN_ANY, "^[0-9]*[.]?[0-9]+[.]?[eE][-+]?[0-9]+$",
     "exponents are not read: see NOT READ in the manual", NULL},
    {NUMBERS, TEXT_WHEN_ANY, "^[0-9.]+[KMGTPE]i?$", "suffixes are not read: try numfmt --from=auto",
     NULL},
    {NUMBERS, TEXT_WHEN_ANY, "^[0-9.,]*[0-9]([%A-Za-z\x80-\xff]{1,4})$",
     "units are not read: try sed 's/\\([0-9]\\)", "/\\1/g'"},
    {NUMBERS, TEXT_WHEN_ANY, "^([$#~<>]|[\x80-\xff]{2,4})[0-9.][0-9.,]*$",
     "units are not read: try sed 's/[", "]//g'"},
    {NUMBERS, TEXT_WHEN_ANY, "^(NA|N/A|[Nn]a[Nn]|null|NULL|None|[\\]N)$", "try --invalid ignore",
     NULL},
#undef LINES
#undef COMMAS
#undef NUMBERS
#undef WORD
#undef FIELD
#undef GROUPS
#undef DECIMAL
};

/* The advice of the rules whose turn it is, which may be in `out`; or "". */
static const char *text_advice_find(const struct text_case *c, enum text_turn turn,
                                    char out[TEXT_ADVICE_SIZE])
{
    const int delimiter = c->rules->delimiter;
    const size_t sign = c->bytes > 0 && (*c->text == '-' || *c->text == '+');
    const size_t bytes =
        c->bytes - sign < TEXT_ADVICE_TOKEN_MAX ? c->bytes - sign : TEXT_ADVICE_TOKEN_MAX;
    const bool is_integer = c->rules->notation == TEXT_INTEGERS && c->reading->is_value;
    size_t quotes = 0;
    char token[TEXT_ADVICE_TOKEN_MAX + 1];
    const char *advice = "";
    regmatch_t groups[2];
    regex_t regex;

    for (size_t i = 0; i < c->length; i++)
        quotes += c->line[i] == '"';
    const bool has_pairs =
        delimiter != TEXT_NO_DELIMITER && !c->rules->is_quoted && quotes % 2 == 0;
    const unsigned is = (is_integer ? TEXT_WHEN_INTEGER : 0U) | (c->is_word ? TEXT_WHEN_WORD : 0U) |
                        (c->rules->field != 0 ? TEXT_WHEN_FIELD : 0U) |
                        (has_pairs ? TEXT_WHEN_PAIRS : 0U) |
                        (delimiter == ',' || c->reading->is_json ? TEXT_WHEN_COMMAS
                         : delimiter == TEXT_NO_DELIMITER        ? TEXT_WHEN_BLANKS
                                                                 : TEXT_WHEN_OTHERS);
    memcpy(token, c->text + sign, bytes);
    token[bytes] = '\0';
    if (strlen(token) < bytes || text_advice_has_mark(c->text, c->bytes) ||
        (turn != TEXT_TURN_LINES && c->rules->notation == TEXT_HEX))
        return "";
    for (size_t i = 0; i < sizeof text_rules_of_tokens / sizeof *text_rules_of_tokens; i++) {
        const struct text_rule *rule = &text_rules_of_tokens[i];
        if (rule->turn != turn || *advice != '\0' || !(rule->when & is & TEXT_WHEN_ANY) ||
            rule->when & ~is & ~(unsigned)TEXT_WHEN_ANY ||
            regcomp(&regex, rule->pattern, REG_EXTENDED) != 0)
            continue;
        if (regexec(&regex, token, 2, groups, 0) == 0) {
            advice = rule->before;
            if (rule->after) {
                snprintf(out, TEXT_ADVICE_SIZE, "%s%.*s%s", rule->before,
                         (int)(groups[1].rm_eo - groups[1].rm_so), token + groups[1].rm_so,
                         rule->after);
                advice = out;
            }
        }
        regfree(&regex);
    }
    return advice;
}

/* The rules for an invalid token but the one for decimals. May write the advice to `out`. */
static const char *text_advice_choose(const struct text_case *c, char out[TEXT_ADVICE_SIZE])
{
    const struct text_rules *rules = c->rules;
    const char *advice = text_advice_find(c, TEXT_TURN_LINES, out);

    if (*advice)
        return advice;
    if (text_advice_is_wide(c->text, c->bytes))
        return TEXT_ADVICE_WIDE;
    if (text_advice_is_header(c))
        return rules->field == 0 && rules->delimiter != TEXT_NO_DELIMITER
                   ? "try --header, or -f NAME"
                   : "try --header";
    advice = text_advice_find(c, TEXT_TURN_COMMAS, out);
    if (*advice)
        return advice;
    if (!text_is_text(c->text, c->bytes, true))
        return "is it binary?";
    if (c->is_first_word && c->bytes < c->reading->bytes &&
        (c->text[c->bytes] == ' ' || c->text[c->bytes] == '\t') &&
        (text_advice_count(c->text, c->bytes, text_advice_is_letter) > 0 ||
         text_advice_count(c->text, c->bytes, text_advice_is_mark) > 1))
        return "try -f N";
    advice = text_advice_choose_kind(c->reading, c->text, c->bytes);
    if (*advice)
        return advice;
    if (c->reading->begins_file && c->text == c->reading->data &&
        text_advice_has_mark(c->text, c->bytes))
        return text_advise_mark(c->reading);
    return text_advice_find(c, TEXT_TURN_NUMBERS, out);
}

static void text_advice_write(const char *advice, char out[TEXT_ADVICE_SIZE])
{
    snprintf(out, TEXT_ADVICE_SIZE, *advice ? " (%s)" : "%s", advice);
}

const char *text_advise_mark(const struct text_reading *reading)
{
    return reading->is_decoded ? "decompress it, and tail -c +4 removes it"
                               : "tail -c +4 removes it";
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
        .is_word = is_word,
        .is_first_word = is_word && reading->begins_file && token->offset == 0,
    };
    const size_t sign = token->bytes > 0 && (*text == '-' || *text == '+');
    const char *point = memchr(text, '.', c.bytes);
    const size_t decimals = point ? (size_t)(text + c.bytes - point) - 1 : 0;
    char form[TEXT_ADVICE_SIZE];

    c.line = text_advice_find_line(reading, token->offset, &c.length);
    const char *quotes = text_advice_find_quotes(&c);
    const char *kind = text_advice_choose_kind(reading, text, c.bytes);
    if (reading->ends_run && (c.bytes == 0 || (c.bytes == 1 && *text == '-')))
        text_advice_write("try --invalid ignore", out);
    else if (c.rules->notation > TEXT_OPAQUE || *quotes)
        text_advice_write(quotes, out);
    else if (!reading->is_json &&
             text_advice_is_json(is_word ? text : c.line, is_word ? c.bytes : c.length))
        text_advice_write(TEXT_ADVICE_JSON, out);
    else if (c.rules->notation != TEXT_HEX && !c.rules->from_zero && decimals > 0 &&
             decimals <= TEXT_DECIMALS_MAX && text_advice_is_decimal(text + sign, c.bytes - sign))
        snprintf(out, TEXT_ADVICE_SIZE,
                 reading->is_value ? " (try --decimals %zu)" : " (try COLUMN:.%zu)", decimals);
    else if (*kind && (reading->is_json || c.rules->from_zero))
        text_advice_write(kind, out);
    else if (reading->is_json || c.rules->from_zero) {
        const char *number = text_advice_find(&c, TEXT_TURN_COMMAS, form);
        text_advice_write(*number ? number : text_advice_find(&c, TEXT_TURN_NUMBERS, form), out);
    } else
        text_advice_write(text_advice_choose(&c, form), out);
    if (*out == '\0' && reading->takes_texts && reading->is_value && c.rules->field != 0 &&
        c.rules->notation <= TEXT_OPAQUE && text_is_text(text, c.bytes, true) &&
        text_advice_count(text, c.bytes, text_advice_is_letter) > 0)
        text_advice_write("try COLUMN:text", out);
}

void text_advise_missing(const struct text_reading *reading, size_t offset, size_t fields,
                         char out[TEXT_ADVICE_SIZE])
{
    size_t length;
    const char *line = text_advice_find_line(reading, offset, &length);
    const char separator = text_advice_find_separator(reading->rules, line, length);

    text_advice_write(text_advice_is_json(line, length) ? TEXT_ADVICE_JSON
                      : reading->rules->field >= 1000   ? "is it a name? add --names"
                      : fields > 1                      ? ""
                                                        : text_advice_name_separator(separator),
                      out);
}

void text_advise_path(const struct text_reading *reading, size_t offset, const char *path,
                      char out[TEXT_ADVICE_SIZE])
{
    const char *last = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
    struct nearest search = nearest_begin(last, strlen(last));
    char found[TEXT_ADVICE_SIZE] = ""; /* the path of a key */
    char best[TEXT_ADVICE_SIZE] = "";
    size_t ends[TEXT_ADVICE_DEPTH] = {0}; /* of the paths of the objects that it is in */
    size_t depth = 0;
    size_t arrays = 0; /* no path leads into them */
    size_t length;
    const char *line = text_advice_find_line(reading, offset, &length);

    for (size_t i = 0; i < length && depth < TEXT_ADVICE_DEPTH; i++) {
        arrays += line[i] == '[';
        arrays -= line[i] == ']' && arrays > 0;
        if (line[i] == '{' && arrays == 0)
            ends[depth++] = strlen(found);
        else if (line[i] == '}' && arrays == 0 && depth > 0)
            depth--;
        if (line[i] != '"')
            continue;
        const size_t begin = ++i;
        while (i < length && line[i] != '"')
            i += (size_t)1 + (line[i] == '\\');
        size_t next = i + 1;
        while (next < length && (line[next] == ' ' || line[next] == '\t'))
            next++;
        if (next >= length || line[next] != ':' || arrays > 0 || depth == 0)
            continue;
        const size_t end = ends[depth - 1];
        const size_t key = i - begin;
        if (end + key + 2 > sizeof found || memchr(line + begin, '.', key))
            continue;
        const bool has_path = depth > 1 || *path == '.';
        snprintf(found + end, sizeof found - end, ".%.*s", (int)key, line + begin);
        const unsigned distance = search.distance;
        if (strcmp(found + !has_path, path) != 0)
            nearest_try(&search, line + begin, key);
        if (search.distance < distance)
            strcpy(best, found + !has_path);
    }
    out[0] = '\0';
    if (*best)
        snprintf(out, TEXT_ADVICE_SIZE, " (did you mean %.*s?)", TEXT_ADVICE_SIZE - 24, best);
    else if (path[strspn(path, "0123456789")] == '\0')
        snprintf(out, TEXT_ADVICE_SIZE, " (columns of JSON have names, such as .a.b)");
}

bool text_explain_kind(const char *line, size_t bytes, const char *name, char out[TEXT_ADVICE_SIZE])
{
    const size_t where = strcspn(name, ":");
    const char *colon = strrchr(name, ':');
    if (where == 0 || !colon ||
        (!memmem(line, bytes, name, where) && strspn(name, "-0123456789") != where))
        return false;
    const char *typed = colon + 1; /* KIND[/WIDTH], of which a part is wrong */
    const size_t length = strcspn(typed, "/");
    const size_t stem = strcspn(typed, "./"); /* time.3: digits of a second */
    const int shown = length < 20 ? (int)length : 20;
    size_t kind = 0;

    while (kind < TEXT_KINDS && (strlen(text_kinds[kind].name) != stem ||
                                 memcmp(text_kinds[kind].name, typed, stem) != 0))
        kind++;
    if (kind == TEXT_KINDS || typed[length] == '\0')
        snprintf(out, TEXT_ADVICE_SIZE, "'%.*s' is no kind: int hex .N time localtime ip text",
                 shown, typed);
    else if (!text_kinds[kind].widths)
        snprintf(out, TEXT_ADVICE_SIZE, "kind %.*s has no widths", shown, typed);
    else
        snprintf(out, TEXT_ADVICE_SIZE, "'%.30s' is no width of kind %.*s: %s", typed + length,
                 shown, typed, text_kinds[kind].widths);
    return true;
}

/*
 * The field of a header that a name probably means: the nearest one, or the only one that has the
 * name in it. NULL: there is none. Fields with bytes that may separate others are not looked at.
 */
static const char *text_advice_find_field(const struct text_rules *rules, const char *line,
                                          size_t bytes, const char *name, size_t *length)
{
    const size_t wanted = strlen(name);
    struct nearest search = nearest_begin(name, wanted);
    struct text_field field = {.begin = 0};
    const char *part = NULL;
    size_t part_length = 0;
    size_t parts = 0;

    for (size_t next = 0; text_line_next(rules, line, bytes, &next, &field);) {
        const bool is_quoted = rules->is_quoted && field.begin + 1 < field.end &&
                               line[field.begin] == '"' && line[field.end - 1] == '"';
        size_t begin = field.begin + is_quoted;
        size_t end = field.end - is_quoted;
        text_line_trim(line, &begin, &end);
        if (!is_quoted && text_advice_find_separator(rules, line + begin, end - begin))
            continue;
        nearest_try(&search, line + begin, end - begin);
        if (wanted < 2 || !memmem(line + begin, end - begin, name, wanted))
            continue;
        part = line + begin;
        part_length = end - begin;
        parts++;
    }
    *length = search.word ? search.word_length : part_length;
    return search.word ? search.word : parts == 1 ? part : NULL;
}

void text_advise_name(const struct text_rules *rules, const char *line, size_t bytes,
                      const char *name, char out[TEXT_ADVICE_SIZE])
{
    const bool has_delimiter = rules->delimiter != TEXT_NO_DELIMITER;
    const size_t stem = strcspn(name, "/"); /* what comes before a width */
    const char indented[] = {(char)rules->delimiter, ' ', '"'};
    struct text_rules header = *rules;
    char found[TEXT_ADVICE_SIZE];
    size_t length;

    header.delimiter = !has_delimiter && memchr(line, '\t', bytes) ? '\t' : rules->delimiter;
    const char *field = text_advice_find_field(&header, line, bytes, name, &length);
    if (field)
        snprintf(found, sizeof found, "did you mean %.*s?", length < 64 ? (int)length : 64, field);
    const bool
        is_data = /* it begins as no name does, and the name could be in it by chance alone */
        (text_advice_is_digit(*line) || *line == '[') && !text_advice_is_digit(*name);
    const bool is_dollar =
        *name == '$' && name[1] != '\0' && name[1 + strspn(name + 1, "0123456789")] == '\0';
    const bool is_json = text_advice_is_json(line, bytes);
    if (is_json)
        snprintf(found, sizeof found, "JSON: try --jsonl -f %s%.64s", *name == '.' ? "" : ".",
                 name);
    else if (is_dollar)
        snprintf(found, sizeof found, "did you mean %.64s?", name + 1);
    const struct {
        bool is_so;
        const char *advice;
    } rules_of_names[] = {
        {is_json || is_dollar, found},
        {!field && name[strspn(name, "$0123456789-")] == '\0',
         "give one field, by its number or name"},
        {text_advice_is_wide(line, bytes), TEXT_ADVICE_WIDE},
        {is_data, "no header? give the field's number"},
        {rules->is_quoted && memmem(line, bytes, indented, sizeof indented),
         "there are blanks before its quotes"},
        {has_delimiter && !rules->is_quoted && memchr(line, '"', bytes), "try --csv"},
        {name[stem] == '/' && stem > 0 && memmem(line, bytes, name, stem),
         "a width stands behind a kind: int/100, time/1h"},
        {field, found},
        {!has_delimiter && header.delimiter == '\t', "tabs separate its fields"},
        {has_delimiter && memchr(line, rules->delimiter, bytes), ""},
        {memchr(line, ',', bytes), rules->is_quoted ? "try -d ," : "try --csv"},
        {true, text_advice_name_separator(text_advice_find_separator(rules, line, bytes))},
    };
    size_t i = 0;
    while (!rules_of_names[i].is_so)
        i++;
    text_advice_write(rules_of_names[i].advice, out);
}
