/*
 * Formats tsv, csv and json.
 *
 * tsv and csv have a line for each bin: "value, count" for bins of width 1, else "low, high, count"
 * with an exclusive high, and then the optional columns. The line of --other comes last. csv (RFC
 * 4180, but lines end with a newline alone) begins with a header. Quantiles replace the bins.
 *
 * jsonl is an object (RFC 8259) for each of these lines, on a line of its own.
 *
 * json is one object (RFC 8259) with an object for each bin on a line of its own, so that it can
 * also be read line by line. Integers are written in full; some readers round those beyond 2^53.
 */
#include "config.h"

#include "base/decimal.h"
#include "count/groups.h"
#include "output/writer.h"
#include "partial/operation.h"
#include "print/print_rows.h"

#include <string.h>

/* What stands in a line of json around its numbers; in tsv and csv separators and line ends. */
enum print_word {
    PRINT_WORD_FIRST, /* begins the first line, */
    PRINT_WORD_LINE,  /* and any other */
    PRINT_WORD_VALUE,
    PRINT_WORD_LOW,
    PRINT_WORD_HIGH, /* begins with a separator, as do the next ones */
    PRINT_WORD_COUNT,
    PRINT_WORD_PERCENT,
    PRINT_WORD_CUMULATIVE,
    PRINT_WORD_CUMULATIVE_PERCENT,
    PRINT_WORD_END, /* of a line */
};

/* Each is copied whole, which takes less time than to copy just its characters. */
#define PRINT_WORD(string)        \
    {                             \
        string, sizeof string - 1 \
    }
static const struct {
    char text[31];
    unsigned char length;
} print_words[] = {
    [PRINT_WORD_FIRST] = PRINT_WORD("\n{"),
    [PRINT_WORD_LINE] = PRINT_WORD(",\n{"),
    [PRINT_WORD_VALUE] = PRINT_WORD("\"value\":"),
    [PRINT_WORD_LOW] = PRINT_WORD("\"low\":"),
    [PRINT_WORD_HIGH] = PRINT_WORD(",\"high\":"),
    [PRINT_WORD_COUNT] = PRINT_WORD(",\"count\":"),
    [PRINT_WORD_PERCENT] = PRINT_WORD(",\"percent\":"),
    [PRINT_WORD_CUMULATIVE] = PRINT_WORD(",\"cumulative\":"),
    [PRINT_WORD_CUMULATIVE_PERCENT] = PRINT_WORD(",\"cumulative_percent\":"),
    [PRINT_WORD_END] = PRINT_WORD("}"),
};

/* What stands for the separator in jsonl, whose words are those of json but at the ends of lines.
 */
#define PRINT_JSONL '\n'

/* A line: two edges, two counts, two percentages and the words. Lines of quantiles are shorter. */
#define PRINT_LINE_MAX (2 * ELEMENT_TEXT_SIZE + 2 * DECIMAL_SIZE + 2 * PERCENTAGE_SHARE_SIZE + 120)

/* Longer groups and names are not in lines that are written together. */
#define PRINT_OTHER_MAX 4096

/* Lines that are written together. */
#define PRINT_LINE_BATCH (ROWS_BATCH / 2)
_Static_assert(64 << 10 > PRINT_LINE_BATCH * PRINT_LINE_MAX, "what a writer reserves");

/* The following functions write at `c` and return the end. */
static inline char *print_word(char *c, char separator, enum print_word word)
{
    if (separator == PRINT_JSONL && (word <= PRINT_WORD_LINE || word == PRINT_WORD_END))
        return stpcpy(c, word == PRINT_WORD_END ? "}\n" : "");
    if (separator == '\0' || separator == PRINT_JSONL) {
        memcpy(c, print_words[word].text, sizeof print_words[word].text);
        return c + print_words[word].length;
    }
    if (word >= PRINT_WORD_HIGH)
        *c++ = word == PRINT_WORD_END ? '\n' : separator;
    return c;
}

static inline char *print_bin(char *c, const struct print_table *table, __int128 low, __int128 high)
{
    const struct element *element = &table->rows.job->element;
    const char separator = table->format->separator;
    const bool is_json = separator == '\0' || separator == PRINT_JSONL;
    size_t (*write)(char *, const struct element *, __int128) =
        is_json ? element_write_json : element_write;

    c = print_word(c, separator, table->rows.is_unit ? PRINT_WORD_VALUE : PRINT_WORD_LOW);
    c += write(c, element, low);
    if (table->rows.is_unit)
        return c;
    c = print_word(c, separator, PRINT_WORD_HIGH);
    return c + write(c, element, high);
}

/* The columns from the count on, after its name, and the end of the line. */
static inline char *print_counts(char *c, const struct print_table *table, uint64_t count,
                                 uint64_t cumulative)
{
    const struct print_options *options = table->options;
    const char separator = table->format->separator;

    c += decimal_write(c, count);
    if (options->percent) {
        c = print_word(c, separator, PRINT_WORD_PERCENT);
        c += percentage_write_share(c, count, table->total);
    }
    if (options->cumulative) {
        c = print_word(c, separator, PRINT_WORD_CUMULATIVE);
        c += decimal_write(c, cumulative);
        if (options->percent) {
            c = print_word(c, separator, PRINT_WORD_CUMULATIVE_PERCENT);
            c += percentage_write_share(c, cumulative, table->total);
        }
    }
    return print_word(c, separator, PRINT_WORD_END);
}

/* What stands between the bin and its count. */
static const char *print_count_word(const struct print_table *table)
{
    const char separator = table->format->separator;

    return separator == '\t' ? "\t" : separator == ',' ? "," : table->count_member;
}

/* Writes such a word, which may be of any length, and the columns after it. */
static void print_write_counts(struct writer *writer, const struct print_table *table,
                               const char *word, uint64_t count, uint64_t cumulative)
{
    char line[PRINT_LINE_MAX];

    writer_write_text(writer, word);
    const char *end = print_counts(line, table, count, cumulative);
    writer_write(writer, line, (size_t)(end - line));
}

/* What begins each line, and its length: of a group its values, else in jsonl its object. */
static const char *print_group(const struct print_table *table, size_t *bytes)
{
    const bool has_group = table->options->group && table->format->separator;

    const char *object = table->format == &print_jsonl ? print_object_begin(table->options) : "";
    *bytes = has_group ? table->options->group_bytes : strlen(object);
    return has_group ? table->options->group : object;
}

static void print_write_group(struct writer *writer, const struct print_table *table)
{
    size_t bytes;
    const char *group = print_group(table, &bytes);
    writer_write(writer, group, bytes);
}

/* Writes lines of any length: of texts, or with groups of texts. */
static void print_long_lines(struct writer *writer, const struct print_table *table)
{
    const bool is_text = element_is_text(&table->rows.job->element);
    const char separator = table->format->separator;
    const bool is_json = separator == '\0' || separator == PRINT_JSONL;
    struct rows rows = table->rows;
    struct rows_row batch[PRINT_LINE_BATCH];
    size_t n;
    uint64_t cumulative = 0;
    char line[PRINT_LINE_MAX];

    while ((n = rows_read(&rows, batch, PRINT_LINE_BATCH)) > 0) {
        for (size_t i = 0; is_text && i < n; i++)
            groups_prefetch_text(table->rows.groups, (uint64_t)batch[i].low);
        for (size_t i = 0; i < n; i++) {
            const struct rows_row row = batch[i];
            const bool is_first = separator == '\0' && row.low == table->first_low;
            cumulative += row.count;
            char *c = print_word(line, separator, is_first ? PRINT_WORD_FIRST : PRINT_WORD_LINE);
            writer_write(writer, line, (size_t)(c - line));
            print_write_group(writer, table);
            if (is_text) {
                size_t bytes;
                const char *data = groups_text(table->rows.groups, (uint64_t)row.low, &bytes);
                c = print_word(line, separator, PRINT_WORD_VALUE);
                writer_write(writer, line, (size_t)(c - line));
                print_write_text(writer, data, bytes, is_json ? '\0' : separator);
            } else {
                c = print_bin(line, table, row.low, row.high);
                writer_write(writer, line, (size_t)(c - line));
            }
            print_write_counts(writer, table, print_count_word(table), row.count, cumulative);
        }
    }
}

static void print_lines_of(struct writer *writer, const struct print_table *table)
{
    size_t group_bytes;
    const char *group = print_group(table, &group_bytes);
    const char *word = print_count_word(table);
    const bool has_word = table->rows.job->has_weights; /* else it is that of print_words */
    const size_t word_bytes = has_word ? strlen(word) : 0;
    const size_t line_max = PRINT_LINE_MAX + group_bytes + word_bytes;
    const size_t fitting = ((64 << 10) - 1) / line_max;
    const size_t capacity = fitting < PRINT_LINE_BATCH ? fitting : PRINT_LINE_BATCH;
    struct rows_row batch[PRINT_LINE_BATCH];
    const char separator = table->format->separator;
    struct rows rows = table->rows;
    uint64_t cumulative = 0;
    size_t n;

    while ((n = rows_read(&rows, batch, capacity)) > 0) {
        char *lines = writer_reserve(writer, n * line_max);
        char *c = lines;
        for (size_t i = 0; i < n; i++) {
            cumulative += batch[i].count;
            const bool is_first = separator == '\0' && batch[i].low == table->first_low;
            c = print_word(c, separator, is_first ? PRINT_WORD_FIRST : PRINT_WORD_LINE);
            if (group_bytes > 0) /* a call takes time */
                c = mempcpy(c, group, group_bytes);
            c = print_bin(c, table, batch[i].low, batch[i].high);
            c = has_word ? mempcpy(c, word, word_bytes)
                         : print_word(c, separator, PRINT_WORD_COUNT);
            c = print_counts(c, table, batch[i].count, cumulative);
        }
        writer_commit(writer, (size_t)(c - lines));
    }
}

void print_lines(struct writer *writer, const struct print_table *table)
{
    struct print_table all = *table;
    struct rows rows = table->rows;
    struct rows_row first;
    size_t other_bytes;

    print_group(table, &other_bytes);
    other_bytes += strlen(print_count_word(table));
    if (table->format == &print_json && rows_read(&rows, &first, 1) > 0)
        all.first_low = first.low; /* in other formats the first line is like all others */
    if (element_is_text(&table->rows.job->element) || other_bytes > PRINT_OTHER_MAX)
        print_long_lines(writer, &all);
    else
        print_rows_in_parts(writer, &all, print_lines_of);
}

static void print_delimited(struct writer *writer, const struct print_table *table)
{
    const struct print_options *options = table->options;
    const struct quantiles *quantiles = &options->quantiles;
    const char separator = table->format->separator;
    const bool is_jsonl = table->format == &print_jsonl;

    if ((separator == ',' || (separator == '\t' && options->header_out)) &&
        !options->is_next_group) {
        const char *names[] = {
            quantiles->count > 0 ? "quantile" : NULL,
            table->rows.is_unit ? "value" : "low",
            table->rows.is_unit ? NULL : "high",
            quantiles->count > 0 ? NULL : table->count_name,
            quantiles->count == 0 && options->percent ? "percent" : NULL,
            quantiles->count == 0 && options->cumulative ? "cumulative" : NULL,
            quantiles->count == 0 && options->cumulative && options->percent ? "cumulative_percent"
                                                                             : NULL,
        };
        bool is_first = true;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (names[i] && !is_first)
                writer_write(writer, &separator, 1);
            if (names[i])
                print_values_field(writer, names[i], separator);
            is_first = is_first && !names[i];
        }
        writer_write_text(writer, "\n");
    }
    if (quantiles->count == 0)
        print_lines(writer, table);
    for (size_t i = 0; table->quantiles && i < quantiles->count; i++) {
        print_write_group(writer, table);
        char *line = writer_reserve(writer, PRINT_LINE_MAX);
        char *c = is_jsonl ? stpcpy(line, "\"percent\":") : line;
        c += percentage_write(c, &quantiles->percents[i]);
        *c++ = is_jsonl ? ',' : separator;
        c = print_bin(c, table, table->quantiles[i].low, table->quantiles[i].high);
        c = print_word(c, separator, PRINT_WORD_END);
        writer_commit(writer, (size_t)(c - line));
    }
    if (options->other) { /* the columns of the bins; of two edges, the second is empty */
        print_write_group(writer, table);
        char *line = writer_reserve(writer, PRINT_LINE_MAX);
        char *c = stpcpy(line, is_jsonl ? "\"other\":true" : "other");
        if (!table->rows.is_unit && !is_jsonl)
            *c++ = separator;
        writer_commit(writer, (size_t)(c - line));
        print_write_counts(writer, table, print_count_word(table), table->other,
                           table->rows.inside);
    }
}

static void print_object(struct writer *writer, const struct print_table *table)
{
    const struct quantiles *quantiles = &table->options->quantiles;
    const struct rows *rows = &table->rows;
    const struct {
        const char *name;
        uint64_t number;
    } totals[] = {
        {table->options->group ? "\"total\":" : "\",\"total\":", table->total},
        {",\"inside\":", rows->inside},
        {",\"below\":", rows->below},
        {",\"above\":", rows->above},
    };

    if (!table->options->group) /* else the object has begun */
        writer_write_text(writer, print_object_begin(table->options));
    char *line = writer_reserve(writer, PRINT_LINE_MAX);
    char *c = line;
    if (!table->options->group)
        c = stpcpy(stpcpy(c, "\"operation\":\""), job_operation_names[rows->job->operation]);
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        c = stpcpy(c, totals[i].name);
        c += decimal_write(c, totals[i].number);
    }
    writer_commit(writer, (size_t)(stpcpy(c, ",\"bins\":[") - line));
    print_lines(writer, table);
    writer_write_text(writer, "]");
    if (table->options->other) {
        writer_write_text(writer, ",\n\"other\":{");
        print_write_counts(writer, table, print_count_word(table) + 1, table->other, rows->inside);
    }
    for (size_t i = 0; i < quantiles->count; i++) {
        line = writer_reserve(writer, PRINT_LINE_MAX);
        c = stpcpy(line, i == 0 ? ",\"quantiles\":[\n{\"percent\":" : ",\n{\"percent\":");
        c += percentage_write(c, &quantiles->percents[i]);
        *c++ = ',';
        c = table->quantiles
                ? print_bin(c, table, table->quantiles[i].low, table->quantiles[i].high)
                : stpcpy(c, rows->is_unit ? "\"value\":null" : "\"low\":null,\"high\":null");
        *c++ = '}';
        writer_commit(writer, (size_t)(c - line));
    }
    writer_write_text(writer, quantiles->count > 0 ? "]}\n" : "}\n");
}

const struct print_format print_tsv = {
    .name = "tsv",
    .separator = '\t',
    .has_values = true,
    .has_lines = true,
    .replaces_bins = true,
    .rows = print_delimited,
};

const struct print_format print_csv = {
    .name = "csv",
    .separator = ',',
    .has_values = true,
    .has_lines = true,
    .replaces_bins = true,
    .rows = print_delimited,
};

const struct print_format print_jsonl = {
    .name = "jsonl",
    .separator = PRINT_JSONL,
    .has_values = true,
    .has_lines = true,
    .replaces_bins = true,
    .rows = print_delimited,
};

const struct print_format print_json = {
    .name = "json",
    .has_values = true,
    .has_lines = true,
    .rows = print_object,
};
