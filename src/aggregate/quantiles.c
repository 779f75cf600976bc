/* Implements quantiles.h: one pass over the rows finds all percentiles. */
#include "config.h"

#include "aggregate/quantiles.h"

#include <stdlib.h>
#include <string.h>

enum status quantiles_parse(struct quantiles *quantiles, const char *text, struct failure *failure)
{
    size_t count = 1;

    for (const char *c = text; *c; c++)
        count += *c == ',';
    struct percentage *percents =
        realloc(quantiles->percents, (quantiles->count + count) * sizeof *percents);
    if (!percents)
        return status_fail(failure, STATUS_DATA, "not enough memory for %zu percentiles", count);
    quantiles->percents = percents;
    percents += quantiles->count;
    quantiles->count += count;
    const char *word = text;
    for (size_t i = 0; i < count; i++) {
        word += strspn(word, " ");
        word += *word == 'p'; /* as in reductions */
        size_t length = strcspn(word, ",");
        if (!percentage_parse(&percents[i], word, length))
            return status_fail(
                failure, STATUS_USAGE,
                "invalid --percentiles '%s': expected percentages from 0 to 100, with "
                "at most %d decimals, such as 50,99,99.9",
                text, PERCENTAGE_DECIMALS_MAX);
        word += length + 1;
    }
    return STATUS_OK;
}

void quantiles_note(const struct quantiles *quantiles, const char *prefix)
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
    status_print("note: %s are percentages: %s%s is less than 1%% (try %s%s)",
                 *prefix ? "percentiles" : "--percentiles", prefix, typed, prefix, meant);
}

enum status quantiles_find(const struct quantiles *quantiles, const struct rows *rows,
                           struct quantiles_value *values, struct failure *failure)
{
    const uint64_t total = rows->below + rows->inside + rows->above;
    const size_t count = quantiles->count;
    struct rows_row batch[ROWS_BATCH];
    struct rows rest = *rows;
    char text[PERCENTAGE_SIZE];
    uint64_t seen = rows->below; /* number of values up to this row */
    uint64_t next = UINT64_MAX;  /* the lowest rank that is not found yet */
    size_t found = 0;
    size_t n;

    for (size_t i = 0; i < count; i++) {
        const uint64_t rank = percentage_rank(&quantiles->percents[i], total);
        values[i] = (struct quantiles_value){.rank = rank};
        next = rank < next ? rank : next;
        if (rank > rows->below && rank <= rows->below + rows->inside)
            continue;
        text[percentage_write(text, &quantiles->percents[i])] = '\0';
        return status_fail(
            failure, STATUS_DATA,
            "percentile %s is out of range: %llu below the bins, %llu above (try uniq "
            "--percentiles)",
            text, (unsigned long long)rows->below, (unsigned long long)rows->above);
    }
    rest.zeros = false;
    while (found < count && (n = rows_read(&rest, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            const uint64_t before = seen;
            seen += batch[i].count;
            if (next > seen)
                continue;
            next = UINT64_MAX;
            for (size_t k = 0; k < count; k++) {
                struct quantiles_value *value = &values[k];
                if (value->rank > seen) {
                    next = value->rank < next ? value->rank : next;
                } else if (value->rank > before) {
                    value->low = batch[i].low;
                    value->high = batch[i].high;
                    found++;
                }
            }
        }
    }
    return STATUS_OK;
}
