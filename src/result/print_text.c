/*
 * Formats tsv, csv, json and jsonl.
 *
 * tsv and csv have a line for each bin: "value, count" for bins of width 1, else "low, high, count"
 * with an exclusive high, and then the optional columns. The line of --other is last. csv (RFC
 * 4180, but lines end with only a newline) begins with a header. Percentiles replace the bins.
 *
 * jsonl has an object (RFC 8259) for each of these lines, on a line of its own.
 *
 * json is one object (RFC 8259) with an object for each bin on a line of its own, so that it can
 * also be read line by line. Integers are written in full; some readers round those beyond 2^53.
 */
#include "config.h"

#include "aggregate/groups.h"
#include "aggregate/store.h"
#include "lib/decimal.h"
#include "lib/printable.h"
#include "lib/writer.h"
#include "result/print_rows.h"

#include <stdio.h>
#include <string.h>

/* Size of a line: two edges, two counts, two percentages, words. Percentile lines are shorter. */
#define PRINT_LINE_MAX (2 * ELEMENT_TEXT_SIZE + 2 * DECIMAL_SIZE + 2 * PERCENTAGE_SHARE_SIZE + 120)

/* Maximum length of groups and names in lines that are written together. */
#define PRINT_OTHER_MAX 4096

/* Number of lines that are written together. */
#define PRINT_LINE_BATCH (ROWS_BATCH / 2)
_Static_assert(64 << 10 > PRINT_LINE_BATCH * PRINT_LINE_MAX, "what a writer reserves");

/* The following functions write at `c` and return the end. */
static inline char *print_word(char *c, const struct print_word_text *words, enum print_word word)
{
    memcpy(c, words[word].text, sizeof words[word].text);
    return c + words[word].length;
}

static inline char *print_bin(char *c, const struct print_input *input, __int128 low, __int128 high)
{
    const struct element *element = &input->rows.plan->element;
    const struct print_word_text *words = input->format->words;
    size_t (*write)(char *, const struct element *, __int128) =
        input->format->has_names ? element_write_json : element_write;

    if (input->format->has_names)
        c = print_word(c, words, input->rows.is_unit ? PRINT_WORD_VALUE : PRINT_WORD_LOW);
    c += write(c, element, low);
    if (input->rows.is_unit)
        return c;
    c = print_word(c, words, PRINT_WORD_HIGH);
    return c + write(c, element, high);
}

/* Writes the count and the next columns, and the end of the line. */
static inline char *print_counts(char *c, const struct print_input *input, uint64_t count,
                                 uint64_t cumulative)
{
    const struct print_options *options = input->options;
    const struct print_word_text *words = input->format->words;
    const unsigned decimals = plan_count_decimals(input->rows.plan);

    c += decimal_write_fixed(c, count, decimals);
    if (options->percent) {
        c = print_word(c, words, PRINT_WORD_PERCENT);
        c += percentage_write_share(c, count, input->total);
    }
    if (options->cumulative) {
        c = print_word(c, words, PRINT_WORD_CUMULATIVE);
        c += decimal_write_fixed(c, cumulative, decimals);
        if (options->percent) {
            c = print_word(c, words, PRINT_WORD_CUMULATIVE_PERCENT);
            c += percentage_write_share(c, cumulative, input->total);
        }
    }
    return print_word(c, words, PRINT_WORD_END);
}

/* Writes the text before a count, of any length, the count and the next columns. */
static void print_write_counts(struct writer *writer, const struct print_input *input,
                               const char *word, uint64_t count, uint64_t cumulative)
{
    char line[PRINT_LINE_MAX];

    writer_write_text(writer, word);
    const char *end = print_counts(line, input, count, cumulative);
    writer_write(writer, line, (size_t)(end - line));
}

/* Writes lines of any length, with values or groups that are strings. */
static void print_long_lines(struct writer *writer, const struct print_input *input)
{
    const struct print_format *format = input->format;
    const bool is_text = element_is_string(&input->rows.plan->element);
    struct rows rows = input->rows;
    struct rows_row batch[PRINT_LINE_BATCH];
    size_t n;
    uint64_t cumulative = 0;
    char line[PRINT_LINE_MAX];

    while ((n = rows_read(&rows, batch, PRINT_LINE_BATCH)) > 0) {
        for (size_t i = 0; is_text && i < n; i++)
            groups_prefetch_text(input->rows.groups, (uint64_t)batch[i].low);
        for (size_t i = 0; i < n; i++) {
            const struct rows_row row = batch[i];
            const bool is_first = format->is_document && row.low == input->first_low;
            cumulative += row.count;
            print_write_word(writer, format, is_first ? PRINT_WORD_FIRST : PRINT_WORD_LINE);
            writer_write(writer, input->prefix, input->prefix_bytes);
            if (is_text) {
                size_t bytes;
                const char *data = groups_text(input->rows.groups, (uint64_t)row.low, &bytes);
                print_write_word(writer, format, PRINT_WORD_VALUE);
                print_write_text(writer, data, bytes, format);
            } else {
                const char *end = print_bin(line, input, row.low, row.high);
                writer_write(writer, line, (size_t)(end - line));
            }
            print_write_counts(writer, input, input->count_word, row.count, cumulative);
        }
    }
}

static void print_lines_of(struct writer *writer, const struct print_input *input)
{
    const size_t prefix_bytes = input->prefix_bytes;
    const char *word = input->count_word;
    const bool has_word = input->rows.plan->has_weights; /* else the format has the word */
    const size_t word_bytes = has_word ? strlen(word) : 0;
    const size_t line_max = PRINT_LINE_MAX + prefix_bytes + word_bytes;
    const size_t fitting = ((64 << 10) - 1) / line_max;
    const size_t capacity = fitting < PRINT_LINE_BATCH ? fitting : PRINT_LINE_BATCH;
    struct rows_row batch[PRINT_LINE_BATCH];
    const struct print_word_text *words = input->format->words;
    const bool is_document = input->format->is_document;
    const bool has_begin = words[PRINT_WORD_LINE].length > 0;
    struct rows rows = input->rows;
    uint64_t cumulative = 0;
    size_t n;

    while ((n = rows_read(&rows, batch, capacity)) > 0) {
        char *lines = writer_reserve(writer, n * line_max);
        char *c = lines;
        for (size_t i = 0; i < n; i++) {
            cumulative += batch[i].count;
            const bool is_first = is_document && batch[i].low == input->first_low;
            if (has_begin)
                c = print_word(c, words, is_first ? PRINT_WORD_FIRST : PRINT_WORD_LINE);
            if (prefix_bytes > 0) /* a call takes time */
                c = mempcpy(c, input->prefix, prefix_bytes);
            c = print_bin(c, input, batch[i].low, batch[i].high);
            c = has_word ? mempcpy(c, word, word_bytes) : print_word(c, words, PRINT_WORD_COUNT);
            c = print_counts(c, input, batch[i].count, cumulative);
        }
        writer_commit(writer, (size_t)(c - lines));
    }
}

void print_lines(struct writer *writer, const struct print_input *input)
{
    const size_t other_bytes = input->prefix_bytes + strlen(input->count_word);

    if (element_is_string(&input->rows.plan->element) || other_bytes > PRINT_OTHER_MAX)
        print_long_lines(writer, input);
    else
        print_rows_in_parts(writer, input, print_lines_of);
}

/* Writes the line of --other, with the columns of the bins; a second edge is empty. */
static void print_other(struct writer *writer, const struct print_input *input)
{
    print_write_word(writer, input->format, PRINT_WORD_LINE);
    writer_write(writer, input->prefix, input->prefix_bytes);
    writer_write_text(writer, input->format->has_names ? "\"other\":true" : "other");
    if (!input->rows.is_unit && !input->format->has_names)
        print_write_word(writer, input->format, PRINT_WORD_NEXT);
    print_write_counts(writer, input, input->count_word, input->other, input->rows.inside);
}

/* Writes a line for each percentile. */
static void print_quantiles(struct writer *writer, const struct print_input *input)
{
    const struct quantiles *quantiles = &input->options->quantiles;
    const struct print_word_text *words = input->format->words;

    for (size_t i = 0; i < quantiles->count; i++) {
        print_write_word(writer, input->format, i > 0 ? PRINT_WORD_LINE : PRINT_WORD_FIRST);
        writer_write(writer, input->prefix, input->prefix_bytes);
        char *line = writer_reserve(writer, PRINT_LINE_MAX);
        char *c = stpcpy(line, input->format->has_names ? "\"percent\":" : "");
        c += percentage_write(c, &quantiles->percents[i]);
        c = print_word(c, words, PRINT_WORD_NEXT);
        c = input->quantiles
                ? print_bin(c, input, input->quantiles[i].low, input->quantiles[i].high)
            : input->rows.is_unit ? stpcpy(c, "\"value\":null")
                                  : stpcpy(c, "\"low\":null,\"high\":null");
        c = print_word(c, words, PRINT_WORD_END);
        writer_commit(writer, (size_t)(c - line));
    }
}

void print_delimited(struct writer *writer, const struct print_input *input)
{
    if (input->quantiles)
        print_quantiles(writer, input);
    else if (input->options->quantiles.count == 0)
        print_lines(writer, input);
    if (input->options->other)
        print_other(writer, input);
}

void print_write_header(struct writer *writer, const struct print_result *result)
{
    const struct print_options *options = result->options;
    const struct print_format *format = result->format;
    struct print_column column;

    if (!result->column || options->group || options->is_next_column ||
        !print_has_header(options, format))
        return;
    for (unsigned line = 0; line < (format->rules[0] ? 2 : 1); line++) {
        print_write_word(writer, format, PRINT_WORD_LINE);
        for (size_t i = 0; (column = result->column(result, i)).words[0]; i++) {
            if (i > 0)
                print_write_word(writer, format, PRINT_WORD_NEXT);
            if (line == 0)
                print_write_name(writer, &column, format);
            else
                writer_write_text(writer, format->rules[column.is_text]);
        }
        print_write_word(writer, format, PRINT_WORD_END);
    }
}

/* Begins the object; for one of several columns or groups it is an element of a list. */
static void print_object_open(struct writer *writer, const struct print_result *result)
{
    const struct print_options *options = result->options;
    const enum operation_id operation =
        result->plan->range_bins > 0 ? OPERATION_HISTOGRAM : result->plan->operation;
    const char *name = options->column ? options->column : plan_operation_names[operation];

    if (options->group) {
        writer_write_text(writer, options->is_next_group ? ",{" : "\n{");
        writer_write(writer, options->group, options->group_bytes);
        return;
    }
    if (options->column)
        writer_write_text(writer, options->is_next_column ? ",{\"column\":" : "\n{\"column\":");
    else
        writer_print(writer, "%s\"operation\":", print_object_begin(options));
    print_write_text(writer, name, strlen(name), &print_json);
    if (result->list)
        writer_print(writer, ",\"%s\":[", result->list);
    else
        writer_write_text(writer, ",");
}

static void print_object_close(struct writer *writer, const struct print_result *result)
{
    writer_write_text(writer, result->list ? "]}\n" : "}\n");
}

static void print_object(struct writer *writer, const struct print_input *input)
{
    const struct rows *rows = &input->rows;
    struct print_input all = *input;
    struct rows ahead = *rows;
    struct rows_row first;
    const bool has_quantiles = input->options->quantiles.count > 0;
    const struct {
        const char *name;
        uint64_t count;
    } totals[] = {{"total", input->total},
                  {"inside", rows->inside},
                  {"below", rows->below},
                  {"above", rows->above}};

    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        char number[DECIMAL_SIZE];
        decimal_format_fixed(number, totals[i].count, plan_count_decimals(rows->plan));
        writer_print(writer, "\"%s\":%s,", totals[i].name, number);
    }
    writer_write_text(writer, "\"bins\":[");
    if (rows_read(&ahead, &first, 1) > 0)
        all.first_low = first.low;
    print_lines(writer, &all);
    writer_write_text(writer, "]");
    if (input->options->other) {
        writer_write_text(writer, ",\n\"other\":{");
        print_write_counts(writer, input, input->count_word + 1, input->other, rows->inside);
    }
    writer_write_text(writer, has_quantiles ? ",\"quantiles\":[" : "");
    print_quantiles(writer, input);
    writer_write_text(writer, has_quantiles ? "]" : "");
}

static size_t print_escape_tsv(const char *text, size_t bytes, size_t *used, char out[8])
{
    const char c = *text;
    (void)bytes;

    *used = 1;
    if (c != '\t' && c != '\n' && c != '\\')
        return 0;
    out[0] = '\\';
    out[1] = c == '\t' ? 't' : c == '\n' ? 'n' : '\\';
    return 2;
}

static size_t print_escape_csv(const char *text, size_t bytes, size_t *used, char out[8])
{
    (void)bytes;

    *used = 1;
    memcpy(out, "\"\"", 2);
    return *text == '"' ? 2 : 0;
}

static size_t print_escape_json(const char *text, size_t bytes, size_t *used, char out[8])
{
    const unsigned char c = (unsigned char)*text;
    uint32_t code;

    *used = 1;
    if (c == '"' || c == '\\') {
        out[0] = '\\';
        out[1] = (char)c;
        return 2;
    }
    if (c >= ' ' && c < 0x7f)
        return 0;
    *used = printable_decode(text, bytes, &code);
    if (*used == 0) {
        *used = 1;
        memcpy(out, PRINT_REPLACEMENT, 3);
        return 3;
    }
    return code < 0xa0 ? (size_t)snprintf(out, 8, "\\u%04x", (unsigned)code) : 0;
}

static const struct print_word_text print_words_tsv[] = {PRINT_WORDS_PLAIN("", "\t", "\n")};
static const struct print_word_text print_words_csv[] = {PRINT_WORDS_PLAIN("", ",", "\n")};

#define PRINT_WORDS_JSON(first, line, end)                                                    \
    [PRINT_WORD_FIRST] = PRINT_WORD(first), [PRINT_WORD_LINE] = PRINT_WORD(line),             \
    [PRINT_WORD_VALUE] = PRINT_WORD("\"value\":"), [PRINT_WORD_LOW] = PRINT_WORD("\"low\":"), \
    [PRINT_WORD_NEXT] = PRINT_WORD(","), [PRINT_WORD_HIGH] = PRINT_WORD(",\"high\":"),        \
    [PRINT_WORD_COUNT] = PRINT_WORD(",\"count\":"),                                           \
    [PRINT_WORD_PERCENT] = PRINT_WORD(",\"percent\":"),                                       \
    [PRINT_WORD_CUMULATIVE] = PRINT_WORD(",\"cumulative\":"),                                 \
    [PRINT_WORD_CUMULATIVE_PERCENT] = PRINT_WORD(",\"cumulative_percent\":"),                 \
    [PRINT_WORD_END] = PRINT_WORD(end)

static const struct print_word_text print_words_json[] = {PRINT_WORDS_JSON("\n{", ",\n{", "}")};
static const struct print_word_text print_words_jsonl[] = {PRINT_WORDS_JSON("", "", "}\n")};

const struct print_format print_tsv = {
    .name = "tsv",
    .has_lines = true,
    .words = print_words_tsv,
    .header = PRINT_HEADER_ASKED,
    .lists_values = true,
    .escape = print_escape_tsv,
    .begin = print_write_header,
    .rows = print_delimited,
};

const struct print_format print_csv = {
    .name = "csv",
    .has_lines = true,
    .words = print_words_csv,
    .header = PRINT_HEADER_ALWAYS,
    .quoted = ",\"\r\n",
    .escape = print_escape_csv,
    .begin = print_write_header,
    .rows = print_delimited,
};

const struct print_format print_jsonl = {
    .name = "jsonl",
    .has_lines = true,
    .words = print_words_jsonl,
    .has_names = true,
    .is_unicode = true,
    .escape = print_escape_json,
    .rows = print_delimited,
};

const struct print_format print_json = {
    .name = "json",
    .has_lines = true,
    .words = print_words_json,
    .has_names = true,
    .is_unicode = true,
    .is_document = true,
    .escape = print_escape_json,
    .begin = print_object_open,
    .rows = print_object,
    .end = print_object_close,
};
