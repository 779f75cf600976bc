/* Implements quantiles.h: one pass over the rows finds all quantiles. */
#include "config.h"

#include "partial/quantiles.h"

#include <stdlib.h>
#include <string.h>

#define QUANTILES_BATCH_ROWS 256

enum status quantiles_parse(struct quantiles *quantiles, const char *text, struct failure *failure)
{
    size_t count = 1;

    for (const char *c = text; *c; c++)
        count += *c == ',';
    quantiles_destroy(quantiles);
    quantiles->percents = calloc(count, sizeof *quantiles->percents);
    quantiles->count = count;
    if (!quantiles->percents)
        return status_fail(failure, STATUS_DATA, "no memory for %zu quantiles", count);
    const char *word = text;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(word, ",");
        if (!percentage_parse(&quantiles->percents[i], word, length))
            return status_fail(failure, STATUS_USAGE,
                               "invalid --quantiles '%s': expected percentages from 0 to 100, with "
                               "at most %d decimals, such as 50,99,99.9",
                               text, PERCENTAGE_DECIMALS_MAX);
        word += length + 1;
    }
    return STATUS_OK;
}

void quantiles_note(const struct quantiles *quantiles)
{
    const struct percentage *fraction = NULL; /* the first below 1 */
    char typed[PERCENTAGE_SIZE];
    char meant[PERCENTAGE_SIZE];

    for (size_t i = 0; i < quantiles->count; i++) {
        const struct percentage *percent = &quantiles->percents[i];
        if (percentage_compare(percent, 0) == 0 || percentage_compare(percent, 1) > 0)
            return;
        if (!fraction && percentage_compare(percent, 1) < 0)
            fraction = percent;
    }
    if (!fraction)
        return;
    struct percentage hundredfold = *fraction;
    for (int i = 0; i < 2; i++) {
        if (hundredfold.decimals > 0)
            hundredfold.decimals--;
        else
            hundredfold.digits *= 10;
    }
    typed[percentage_write(typed, fraction)] = '\0';
    meant[percentage_write(meant, &hundredfold)] = '\0';
    status_print("note: --quantiles are percentages: %s is less than 1%%; did you mean %s?", typed,
                 meant);
}

void quantiles_destroy(struct quantiles *quantiles)
{
    free(quantiles->percents);
    *quantiles = (struct quantiles){.percents = NULL};
}

static int quantiles_compare_ranks(const void *a, const void *b)
{
    uint64_t x = ((const struct quantiles_value *)a)->rank;
    uint64_t y = ((const struct quantiles_value *)b)->rank;
    return (x > y) - (x < y);
}

static int quantiles_compare_indexes(const void *a, const void *b)
{
    size_t x = ((const struct quantiles_value *)a)->index;
    size_t y = ((const struct quantiles_value *)b)->index;
    return (x > y) - (x < y);
}

/* Finds the bins of all quantiles. values[0..count) are sorted by rank. */
static void quantiles_find_bins(struct rows rows, struct quantiles_value *values, size_t count)
{
    struct rows_row batch[QUANTILES_BATCH_ROWS];
    uint64_t seen = rows.below;
    size_t found = 0;
    size_t n;

    rows.zeros = false;
    rows.least = 0;
    while (found < count && (n = rows_read(&rows, batch, QUANTILES_BATCH_ROWS)) > 0) {
        for (size_t i = 0; i < n; i++) {
            seen += batch[i].count;
            for (; found < count && values[found].rank <= seen; found++) {
                values[found].low = batch[i].low;
                values[found].high = batch[i].high;
            }
        }
    }
}

static enum status quantiles_fail_outside(const struct percentage *percent, const struct rows *rows,
                                          struct failure *failure)
{
    char text[PERCENTAGE_SIZE];

    text[percentage_write(text, percent)] = '\0';
    return status_fail(
        failure, STATUS_DATA,
        "the bins do not cover the data: %llu below, %llu above, among them quantile "
        "%s (gpuhist uniq --quantiles needs no bins)",
        (unsigned long long)rows->below, (unsigned long long)rows->above, text);
}

enum status quantiles_find(const struct quantiles *quantiles, const struct rows *rows,
                           struct quantiles_value *values, struct failure *failure)
{
    uint64_t total = rows->below + rows->inside + rows->above;

    for (size_t i = 0; i < quantiles->count; i++) {
        uint64_t rank = percentage_rank(&quantiles->percents[i], total);
        if (rank <= rows->below || rank > rows->below + rows->inside)
            return quantiles_fail_outside(&quantiles->percents[i], rows, failure);
        values[i] = (struct quantiles_value){.rank = rank, .index = i};
    }
    qsort(values, quantiles->count, sizeof *values, quantiles_compare_ranks);
    quantiles_find_bins(*rows, values, quantiles->count);
    qsort(values, quantiles->count, sizeof *values, quantiles_compare_indexes);
    return STATUS_OK;
}
