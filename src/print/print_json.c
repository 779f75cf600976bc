/*
 * Format json: one object (RFC 8259) with a line for each bin, so that it can also be read line by
 * line. Integers are written in full; some readers round those beyond 2^53.
 */
#include "config.h"

#include "base/decimal.h"
#include "output/writer.h"
#include "partial/operation.h"
#include "print/percent.h"
#include "print/print_rows.h"

#include <string.h>

/* Room for four integers, two percentages and the text between them; quantiles are shorter. */
#define PRINT_JSON_LINE_MAX (4 * DECIMAL_SIZE + 2 * PERCENT_SIZE + 80)

/* Lines that are written together. */
#define PRINT_JSON_BATCH (PRINT_ROWS_BATCH / 2)
_Static_assert(64 << 10 > PRINT_JSON_BATCH * PRINT_JSON_LINE_MAX, "what a writer reserves");

/* The following functions write at `c` and return the end. */
static char *print_json_integer(char *c, const char *before, __int128 value)
{
    c = stpcpy(c, before);
    return c + decimal_write_signed(c, value);
}

static char *print_json_value(char *c, const char *before, const struct print_table *table,
                              __int128 value)
{
    c = stpcpy(c, before);
    return c + decimal_write_fixed(c, value, table->rows.job->element.decimals);
}

static char *print_json_percent(char *c, const char *before, uint64_t part, uint64_t whole)
{
    c = stpcpy(c, before);
    return c + percent_write(c, part, whole);
}

static char *print_json_bin(char *c, const struct print_table *table, __int128 low, __int128 high)
{
    if (table->rows.is_unit)
        return print_json_value(c, "\"value\":", table, low);
    c = print_json_value(c, "\"low\":", table, low);
    return print_json_value(c, ",\"high\":", table, high);
}

/* Writes the members that bins and `other` have, the last ones, and ends the object. */
static char *print_json_counts(char *c, const struct print_table *table, uint64_t count,
                               uint64_t cumulative)
{
    const struct print_options *options = table->options;

    c = print_json_integer(c, "\"count\":", count);
    if (options->percent)
        c = print_json_percent(c, ",\"percent\":", count, table->total);
    if (options->cumulative)
        c = print_json_integer(c, ",\"cumulative\":", cumulative);
    if (options->percent && options->cumulative)
        c = print_json_percent(c, ",\"cumulative_percent\":", cumulative, table->total);
    return stpcpy(c, "}");
}

/* A comma precedes each row except the first of the table, which may be in another part. */
static void print_json_bins(struct writer *writer, const struct print_table *table)
{
    struct rows_row batch[PRINT_JSON_BATCH];
    struct rows rows = table->rows;
    uint64_t cumulative = 0;
    size_t n;

    while ((n = rows_read(&rows, batch, PRINT_JSON_BATCH)) > 0) {
        char *lines = writer_reserve(writer, n * PRINT_JSON_LINE_MAX);
        char *c = lines;
        for (size_t i = 0; i < n; i++) {
            cumulative += batch[i].count;
            c = stpcpy(c, batch[i].low == table->first_low ? "\n{" : ",\n{");
            c = print_json_bin(c, table, batch[i].low, batch[i].high);
            *c++ = ',';
            c = print_json_counts(c, table, batch[i].count, cumulative);
        }
        writer_commit(writer, (size_t)(c - lines));
    }
}

static void print_json_rows(struct writer *writer, const struct print_table *table)
{
    const struct quantiles *quantiles = &table->options->quantiles;
    struct rows rows = table->rows;
    struct rows_row first;
    struct print_table all = *table;

    char *line = writer_reserve(writer, PRINT_JSON_LINE_MAX);
    char *c = stpcpy(line, "{\"operation\":\"");
    c = stpcpy(c, operations[table->rows.job->operation]->name);
    c = print_json_integer(c, "\",\"total\":", table->total);
    c = print_json_integer(c, ",\"inside\":", table->rows.inside);
    c = print_json_integer(c, ",\"below\":", table->rows.below);
    c = print_json_integer(c, ",\"above\":", table->rows.above);
    c = stpcpy(c, ",\"bins\":[");
    writer_commit(writer, (size_t)(c - line));
    if (rows_read(&rows, &first, 1) > 0)
        all.first_low = first.low;
    print_rows_in_parts(writer, &all, PRINT_JSON_LINE_MAX, print_json_bins);
    writer_write_text(writer, "]");
    if (table->options->other) {
        line = writer_reserve(writer, PRINT_JSON_LINE_MAX);
        c = stpcpy(line, ",\n\"other\":{");
        c = print_json_counts(c, table, table->other, table->rows.inside);
        writer_commit(writer, (size_t)(c - line));
    }
    for (size_t i = 0; i < quantiles->count; i++) {
        line = writer_reserve(writer, PRINT_JSON_LINE_MAX);
        c = stpcpy(line, i == 0 ? ",\"quantiles\":[\n" : ",\n");
        c = stpcpy(c, "{\"percent\":");
        c += percentage_write(c, &quantiles->percents[i]);
        *c++ = ',';
        c = table->quantiles
                ? print_json_bin(c, table, table->quantiles[i].low, table->quantiles[i].high)
                : stpcpy(c, "\"value\":null");
        *c++ = '}';
        writer_commit(writer, (size_t)(c - line));
    }
    writer_write_text(writer, quantiles->count > 0 ? "]}\n" : "}\n");
}

const struct print_format print_json = {
    .name = "json",
    .has_lines = true,
    .has_values = true,
    .rows = print_json_rows,
};
