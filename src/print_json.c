/*
 * Format json: one object (RFC 8259), a line a bin, so that it can also be read by line. Integers
 * are written in full: those beyond 2^53 are exact only in readers that keep them.
 */
#include "config.h"

#include "decimal.h"
#include "percent.h"
#include "print_rows.h"
#include "writer.h"

#include <string.h>

static void print_json_text(struct writer *writer, const char *text)
{
    writer_write(writer, text, strlen(text));
}

static void print_json_integer(struct writer *writer, const char *before, __int128 value)
{
    print_json_text(writer, before);
    char *c = writer_reserve(writer, DECIMAL_SIZE);
    writer_commit(writer, decimal_write_signed(c, value));
}

static void print_json_percent(struct writer *writer, const char *before, uint64_t part,
                               uint64_t whole)
{
    print_json_text(writer, before);
    char *c = writer_reserve(writer, PERCENT_SIZE);
    writer_commit(writer, percent_write(c, part, whole));
}

static void print_json_row(struct writer *writer, const struct print_table *table,
                           const struct rows_row *row, uint64_t cumulative)
{
    const struct print_options *options = table->options;

    if (table->rows.is_unit) {
        print_json_integer(writer, "{\"value\":", row->low);
    } else {
        print_json_integer(writer, "{\"low\":", row->low);
        print_json_integer(writer, ",\"high\":", row->high);
    }
    print_json_integer(writer, ",\"count\":", row->count);
    if (options->percent)
        print_json_percent(writer, ",\"percent\":", row->count, table->total);
    if (options->cumulative)
        print_json_integer(writer, ",\"cumulative\":", cumulative);
    if (options->percent && options->cumulative)
        print_json_percent(writer, ",\"cumulative_percent\":", cumulative, table->total);
    print_json_text(writer, "}");
}

static void print_json_bins(struct writer *writer, const struct print_table *table)
{
    struct rows_row batch[PRINT_ROWS_BATCH];
    struct rows rows = table->rows;
    const char *separator = "\n";
    uint64_t cumulative = 0;
    size_t n;

    print_json_text(writer, ",\"bins\":[");
    while ((n = rows.read(&rows, batch, PRINT_ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            print_json_text(writer, separator);
            cumulative += batch[i].count;
            print_json_row(writer, table, &batch[i], cumulative);
            separator = ",\n";
        }
    }
    print_json_text(writer, "]");
}

/* The side that is open is null; of no values everything is. */
static void print_json_quantile(struct writer *writer, const struct print_table *table, size_t i)
{
    const struct quantiles_value *value = table->quantiles ? &table->quantiles[i] : NULL;

    print_json_text(writer, "{\"percent\":");
    char *c = writer_reserve(writer, QUANTILES_SIZE);
    writer_commit(writer, quantiles_write_percent(c, &table->options->quantiles.percents[i]));
    if (!value) {
        print_json_text(writer, ",\"value\":null}");
        return;
    }
    if (table->rows.is_unit && value->side == QUANTILES_INSIDE) {
        print_json_integer(writer, ",\"value\":", value->low);
    } else if (value->side == QUANTILES_BELOW) {
        print_json_integer(writer, ",\"low\":null,\"high\":", value->high);
    } else {
        print_json_integer(writer, ",\"low\":", value->low);
        if (value->side == QUANTILES_ABOVE)
            print_json_text(writer, ",\"high\":null");
        else
            print_json_integer(writer, ",\"high\":", value->high);
    }
    print_json_text(writer, "}");
}

static enum status print_json_rows(struct writer *writer, const struct print_table *table,
                                   struct failure *failure)
{
    size_t quantiles = table->options->quantiles.count;

    (void)failure;
    print_json_integer(writer, "{\"operation\":\"histogram\",\"total\":", table->total);
    print_json_integer(writer, ",\"inside\":", table->rows.inside);
    print_json_integer(writer, ",\"below\":", table->rows.below);
    print_json_integer(writer, ",\"above\":", table->rows.above);
    print_json_bins(writer, table);
    for (size_t i = 0; i < quantiles; i++) {
        print_json_text(writer, i == 0 ? ",\"quantiles\":[\n" : ",\n");
        print_json_quantile(writer, table, i);
    }
    print_json_text(writer, quantiles > 0 ? "]}\n" : "}\n");
    return STATUS_OK;
}

const struct print_format print_json = {
    .name = "json",
    .has_lines = true,
    .rows = print_json_rows,
};
