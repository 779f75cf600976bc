/* Implements print_rows.h: the table of formats, and the order and selection of rows. */
#include "config.h"

#include "print/print_rows.h"

#include "print/rows_list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct print_format *const print_formats[] = {
    &print_tsv, &print_csv, &print_json, &print_raw, &print_gnuplot, &print_svg,
};

bool print_format_find(const char *name, const struct print_format **format)
{
    for (size_t i = 0; i < sizeof print_formats / sizeof *print_formats; i++) {
        if (strcmp(name, print_formats[i]->name) == 0) {
            *format = print_formats[i];
            return true;
        }
    }
    return false;
}

void print_note_suffix(const struct print_options *options, bool has_bins)
{
    const char *suffix = options->output ? strrchr(options->output, '.') : NULL;
    const struct print_format *format;

    if (!suffix || options->format || options->plot || !print_format_find(suffix + 1, &format) ||
        format == &print_tsv || !(has_bins || format->values))
        return;
    status_print("note: %s is written as tsv; try --format %s", options->output, format->name);
}

const struct print_format *print_rows_format(const struct print_options *options)
{
    if (options->format)
        return options->format;
    if (options->plot || (!options->output && isatty(STDOUT_FILENO)))
        return &print_plot;
    return &print_tsv;
}

static const char *print_refused_name(enum print_extra extra)
{
    switch (extra) {
    case PRINT_EXTRA_TOP:
        return "--top";
    case PRINT_EXTRA_SORT:
        return "--sort";
    case PRINT_EXTRA_CUMULATIVE:
        return "--cumulative";
    case PRINT_EXTRA_PERCENT:
        return "--percent";
    case PRINT_EXTRA_QUANTILES:
        return "--quantiles";
    case PRINT_EXTRA_MIN_COUNT:
        return "--min-count";
    case PRINT_EXTRA_OTHER:
        return "--other";
    case PRINT_EXTRA_ZEROS:
        return "--zeros";
    }
    __builtin_unreachable();
}

/* The given options that some formats do not support: bits of enum print_extra. */
static unsigned print_find_extras(const struct print_options *options)
{
    return (options->top > 0 ? PRINT_EXTRA_TOP : 0) |
           (options->sort != PRINT_SORT_DEFAULT ? PRINT_EXTRA_SORT : 0) |
           (options->cumulative ? PRINT_EXTRA_CUMULATIVE : 0) |
           (options->percent ? PRINT_EXTRA_PERCENT : 0) |
           (options->quantiles.count > 0 ? PRINT_EXTRA_QUANTILES : 0) |
           (options->min_count > 0 ? PRINT_EXTRA_MIN_COUNT : 0) |
           (options->other ? PRINT_EXTRA_OTHER : 0) | (options->zeros ? PRINT_EXTRA_ZEROS : 0);
}

enum status print_check_format(const struct print_options *options, struct failure *failure)
{
    const struct print_format *format = print_rows_format(options);
    unsigned given = print_find_extras(options);
    unsigned refused = given & format->refused;
    unsigned useless = given & ~(unsigned)PRINT_EXTRA_QUANTILES;

    if (options->format && options->plot)
        return status_fail(failure, STATUS_USAGE, "--plot does not go with --format");
    if (refused > 0)
        return status_fail(failure, STATUS_USAGE, "%s does not go with --format %s",
                           print_refused_name((enum print_extra)(refused & -refused)),
                           format->name);
    if (options->quantiles.count > 0 && format->replaces_bins && useless > 0)
        return status_fail(failure, STATUS_USAGE,
                           "%s does not go with --quantiles, which %s prints instead of bins "
                           "(--format json and --plot print both)",
                           print_refused_name((enum print_extra)(useless & -useless)),
                           format->name);
    if (options->other && options->top == 0 && options->min_count == 0)
        return status_fail(failure, STATUS_USAGE,
                           "--other needs --top or --min-count, which leave something out");
    return STATUS_OK;
}

/* Returns how many of the values in bins are in none of these rows. */
static uint64_t print_count_other(struct rows rows)
{
    struct rows_row batch[PRINT_ROWS_BATCH];
    uint64_t other = rows.inside;
    size_t n;

    while ((n = rows_read(&rows, batch, PRINT_ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            other -= batch[i].count;
    }
    return other;
}

/*
 * Selects the rows, and replaces them by a sorted list if they are wanted in another order, or if
 * the format prints only some.
 */
static enum status print_order_rows(struct print_table *table, struct rows_list *list,
                                    const struct print_format *format, struct failure *failure)
{
    const struct print_options *options = table->options;
    bool by_count = options->sort == PRINT_SORT_COUNT ||
                    (options->sort == PRINT_SORT_DEFAULT && options->top > 0);
    uint64_t top = options->top > 0 ? options->top : format->list_rows_max;
    bool is_selection = options->top > 0 || options->min_count > 0;

    table->rows.least = options->min_count;
    struct rows selected = table->rows;
    table->is_by_bin = !by_count;
    table->is_complete = !by_count && !is_selection;
    if (by_count || (is_selection && top > 0)) {
        if (rows_list_make(list, &selected, top, by_count, options->threads, failure) != STATUS_OK)
            return failure->status;
        rows_list_begin(&table->rows, &selected, list);
        table->rows_left = options->top > 0 ? 0 : list->left;
    }
    if (options->other)
        table->other = print_count_other(options->top > 0 ? table->rows : selected);
    return STATUS_OK;
}

enum status print_rows(struct writer *writer, const struct rows *rows,
                       const struct print_options *options, struct failure *failure)
{
    const struct print_format *format = print_rows_format(options);
    struct print_table table = {
        .rows = *rows,
        .options = options,
        .total = rows->below + rows->inside + rows->above,
    };
    struct rows_list list = {.items = NULL};
    struct quantiles_value *quantiles = NULL;
    enum status status = STATUS_OK;

    if (options->quantiles.count > 0 && table.total > 0) {
        quantiles = calloc(options->quantiles.count, sizeof *quantiles);
        if (!quantiles)
            return status_fail(failure, STATUS_DATA, "no memory for %zu quantiles",
                               options->quantiles.count);
        status = quantiles_find(&options->quantiles, rows, quantiles, failure);
        table.quantiles = quantiles;
    }
    if (status == STATUS_OK)
        status = print_order_rows(&table, &list, format, failure);
    if (status == STATUS_OK)
        status = format->rows(writer, &table, failure);
    rows_list_destroy(&list);
    free(quantiles);
    return status;
}
