/* Implements reduce.h: results from the table, and their written form. */
#include "config.h"

#include "aggregate/reduce.h"

#include "aggregate/rows.h"
#include "lib/decimal.h"
#include "lib/ratio.h"
#include "lib/wide.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(REDUCE_SIZE >= RATIO_SIZE && REDUCE_SIZE >= DECIMAL_SIZE, "enough for either");

bool reduce_has(uint64_t count, enum reduction_id id)
{
    const bool is_of_sample = id == REDUCTION_SVAR || id == REDUCTION_SSTDEV;

    return count > is_of_sample || id == REDUCTION_COUNT || id == REDUCTION_SUM ||
           id == REDUCTION_DISTINCT;
}

static size_t reduce_write_key(char *out, const struct element *element, uint64_t key)
{
    return element_write(out, element, element_value(element, key));
}

/* Returns number / denominator, rounded half to even. The denominator is below 2^64. */
static __int128 reduce_round(__int128 number, uint64_t denominator)
{
    __int128 time = number / (__int128)denominator;
    __int128 rest = number % (__int128)denominator;

    if (rest < 0) { /* round towards minus infinity, then up by the rest */
        time--;
        rest += denominator;
    }
    time +=
        2 * rest > (__int128)denominator || (2 * rest == (__int128)denominator && time % 2 != 0);
    return time;
}

/* The accumulators of reductions whose results are keys. */
static const enum accumulator_id reduce_keys[REDUCTION_IDS] = {
    [REDUCTION_MIN] = ACCUMULATOR_MIN, [REDUCTION_MAX] = ACCUMULATOR_MAX,
    [REDUCTION_AND] = ACCUMULATOR_AND, [REDUCTION_OR] = ACCUMULATOR_OR,
    [REDUCTION_XOR] = ACCUMULATOR_XOR,
};

/* Writes the value of a reduction that needs no table. */
static size_t reduce_write_value(char *out, const struct accumulators *accumulators,
                                 const uint64_t *row, enum reduction_id id)
{
    const struct element *element = &accumulators->plan->element;
    const uint64_t count = row[accumulators->count];
    const uint64_t *words = accumulators_words(accumulators, row, ACCUMULATOR_SUM);

    if (id == REDUCTION_COUNT)
        return decimal_write(out, count);
    if (reduce_keys[id] != ACCUMULATOR_SUM)
        return reduce_write_key(out, element,
                                *accumulators_words(accumulators, row, reduce_keys[id]));
    const unsigned __int128 sum = (unsigned __int128)words[1] << 64 | words[0];
    const bool is_negative = element->is_signed && (__int128)sum < 0;
    const unsigned __int128 magnitude = is_negative ? -sum : sum;
    struct wide numerator = wide_from(magnitude);
    struct wide denominator = wide_from(count);
    const uint64_t scale = decimal_power(element->decimals);
    if (id == REDUCTION_SUM) {
        *out = '-';
        out += is_negative;
        return is_negative + (element->decimals > 0
                                  ? decimal_write_places(out, magnitude, element->decimals)
                                  : decimal_write_128(out, magnitude));
    }
    if (id == REDUCTION_MEAN && element_is_time(element))
        return element_write(out, element, reduce_round((__int128)sum, count));
    wide_scale(&denominator, scale);
    if (id == REDUCTION_MEAN)
        return ratio_write(out, is_negative, &numerator, &denominator, false);
    /* The variance is (n * squares - sum^2) / n^2, that of a sample has n (n - 1) instead. */
    const struct wide squared_sum = wide_multiply(&numerator, &numerator);
    words = accumulators_words(accumulators, row, ACCUMULATOR_SQUARES);
    numerator = (struct wide){{words[0], words[1], words[2]}};
    wide_scale(&numerator, count);
    wide_subtract(&numerator, &squared_sum); /* not negative: accumulators_check */
    wide_scale(&denominator, count - (id == REDUCTION_SVAR || id == REDUCTION_SSTDEV));
    wide_scale(&denominator, scale); /* it stays below 2^248 */
    return ratio_write(out, false, &numerator, &denominator,
                       id == REDUCTION_STDDEV || id == REDUCTION_SSTDEV);
}

/*
 * Returns the interpolated percentile between keys[0] and keys[1], its neighbours among `count`
 * values, as a multiple of 1 / *denominator. Its index among n values in ascending order is (n - 1)
 * * percentage / 100 (definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages",
 * 1996; NumPy's default).
 */
static __int128 reduce_interpolate(const struct percentage *percentage,
                                   const struct element *element, const uint64_t keys[2],
                                   uint64_t count, uint64_t *denominator)
{
    const __int128 low = element_value(element, keys[0]);
    const __int128 high = element_value(element, keys[1]);
    uint64_t above;

    *denominator = 100 * decimal_power(percentage->decimals);
    percentage_index(percentage, count, &above);
    /* The difference is below 2^64, and the denominator below 2^57. */
    return low * (__int128)*denominator + (high - low) * (__int128)above;
}

/* Returns the mode; for wide elements, the value of its two words. */
static __int128 reduce_find_mode(const struct element *element, const uint64_t *keys)
{
    return element_is_wide(element) ? (__int128)((unsigned __int128)keys[1] << 64 | keys[0])
                                    : element_value(element, keys[0]);
}

/* Returns whether a reduction is the percentile of its percentage. */
static bool reduce_is_quantile(enum reduction_id id)
{
    return id == REDUCTION_MEDIAN || id == REDUCTION_Q1 || id == REDUCTION_Q3 ||
           id == REDUCTION_QUANTILE;
}

/* The quartiles of iqr. */
static const struct percentage reduce_quarters[] = {{.digits = 25}, {.digits = 75}};

/* Returns a percentile of `count` values, or iqr, as a multiple of 1 / *denominator. */
static __int128 reduce_find_quantile(const struct plan *plan, const struct reduction *reduction,
                                     const uint64_t *keys, uint64_t count, uint64_t *denominator)
{
    const struct element *element = &plan->element;
    const bool is_range = reduction->id == REDUCTION_IQR;

    *denominator = 1;
    if (!plan->interpolates)
        return is_range ? element_value(element, keys[2]) - element_value(element, keys[0])
                        : element_value(element, keys[0]);
    if (is_range)
        return reduce_interpolate(&reduce_quarters[1], element, keys + 2, count, denominator) -
               reduce_interpolate(&reduce_quarters[0], element, keys, count, denominator);
    return reduce_interpolate(&reduction->percentage, element, keys, count, denominator);
}

/*
 * Writes number / denominator in units of the element: in full if it is a multiple of the unit.
 * Timestamps are rounded to a unit.
 */
static size_t reduce_write_quotient(char *out, const struct element *element, __int128 number,
                                    uint64_t denominator, bool is_value)
{
    if (is_value && element_is_time(element))
        return element_write(out, element, reduce_round(number, denominator));
    if (number % (__int128)denominator == 0 && is_value)
        return element_write(out, element, number / (__int128)denominator);
    if (number % (__int128)denominator == 0)
        return decimal_write_fixed(out, number / (__int128)denominator, element->decimals);
    struct wide numerator = wide_from((unsigned __int128)(number < 0 ? -number : number));
    struct wide scaled = wide_from(denominator);
    wide_scale(&scaled, decimal_power(element->decimals));
    return ratio_write(out, number < 0, &numerator, &scaled, false);
}

size_t reduce_write(char out[REDUCE_SIZE], const struct accumulators *accumulators,
                    const uint64_t *row, const struct reduce_found *found, unsigned i)
{
    const struct plan *plan = accumulators->plan;
    const uint64_t count = row[accumulators->count];
    const struct reduction *reduction = &plan->reductions.list[i];
    const struct element *element = &plan->element;
    const uint64_t *keys = found[i].keys;
    uint64_t denominator;
    __int128 value;

    switch (reduction->id) {
    case REDUCTION_DISTINCT:
        return decimal_write(out, keys[0]);
    case REDUCTION_MODE:
        return element_write(out, element, reduce_find_mode(element, keys));
    case REDUCTION_MEDIAN:
    case REDUCTION_Q1:
    case REDUCTION_Q3:
    case REDUCTION_QUANTILE:
    case REDUCTION_IQR:
        value = reduce_find_quantile(plan, reduction, keys, count, &denominator);
        return reduce_write_quotient(out, element, value, denominator,
                                     reduce_is_quantile(reduction->id));
    default:
        return reduce_write_value(out, accumulators, row, reduction->id);
    }
}

void reduce_find_order(struct reduce_order *order, const struct accumulators *accumulators,
                       const uint64_t *row, const struct reduce_found *found, unsigned i)
{
    const struct plan *plan = accumulators->plan;
    const struct reduction *reduction = &plan->reductions.list[i];
    const struct element *element = &plan->element;
    const uint64_t count = row[accumulators->count];
    const uint64_t *keys = found[i].keys;
    const bool is_time = element_is_time(element);
    uint64_t denominator;
    char text[REDUCE_SIZE];
    const uint64_t *words;

    *order = (struct reduce_order){.whole = 0};
    switch (reduction->id) {
    case REDUCTION_COUNT:
        order->whole = (__int128)count;
        return;
    case REDUCTION_DISTINCT:
        order->whole = (__int128)keys[0];
        return;
    case REDUCTION_MODE:
        order->whole = reduce_find_mode(element, keys);
        return;
    case REDUCTION_MIN:
    case REDUCTION_MAX:
    case REDUCTION_AND:
    case REDUCTION_OR:
    case REDUCTION_XOR:
        words = accumulators_words(accumulators, row, reduce_keys[reduction->id]);
        order->whole = element_value(element, *words);
        return;
    case REDUCTION_SUM: /* 2^63 values would be needed to reach 2^127 */
    case REDUCTION_MEAN:
        words = accumulators_words(accumulators, row, ACCUMULATOR_SUM);
        order->whole = (__int128)((unsigned __int128)words[1] << 64 | words[0]);
        if (reduction->id == REDUCTION_SUM)
            return;
        order->whole = is_time ? reduce_round(order->whole, count) : 0;
        if (is_time)
            return;
        break;
    case REDUCTION_MEDIAN:
    case REDUCTION_Q1:
    case REDUCTION_Q3:
    case REDUCTION_QUANTILE:
    case REDUCTION_IQR:
        order->whole = reduce_find_quantile(plan, reduction, keys, count, &denominator);
        if (is_time && reduce_is_quantile(reduction->id))
            order->whole = reduce_round(order->whole, denominator);
        else if (plan->interpolates)
            break;
        return;
    default:
        break;
    }
    text[reduce_write(text, accumulators, row, found, i)] = '\0';
    *order = (struct reduce_order){.real = strtold(text, NULL)};
}

/* A percentile that is searched for. */
struct reduce_rank {
    uint64_t rank; /* 1 is the smallest element */
    uint64_t *key; /* receives the key of the element; not owned */
};

static int reduce_compare_ranks(const void *a, const void *b)
{
    uint64_t x = ((const struct reduce_rank *)a)->rank;
    uint64_t y = ((const struct reduce_rank *)b)->rank;
    return (x > y) - (x < y);
}

/*
 * Adds the rank of a percentile among `count` elements to ranks[0..n), or if percentiles are
 * interpolated the ranks of both neighbours. Returns the new number of ranks.
 */
static unsigned reduce_add_ranks(const struct plan *plan, const struct percentage *percentage,
                                 uint64_t count, uint64_t keys[2], struct reduce_rank *ranks,
                                 unsigned n)
{
    uint64_t above = 0;

    if (!plan->interpolates) {
        ranks[n++] = (struct reduce_rank){percentage_rank(percentage, count), &keys[0]};
        return n;
    }
    const uint64_t index = percentage_index(percentage, count, &above);
    ranks[n++] = (struct reduce_rank){index + 1, &keys[0]};
    ranks[n++] = (struct reduce_rank){index + 1 + (above > 0), &keys[1]};
    return n;
}

void reduce_find(const struct plan *plan, struct rows rows, uint64_t elements,
                 struct reduce_found *found)
{
    struct reduce_rank ranks[4 * REDUCTIONS_MAX]; /* in ascending order; [0..next) are found */
    unsigned count = 0;
    unsigned next = 0;
    uint64_t distinct = 0;
    uint64_t seen = 0; /* number of elements so far */
    struct rows_row mode = {.count = 0};
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    for (unsigned i = 0; i < plan->reductions.count; i++) {
        const struct reduction *reduction = &plan->reductions.list[i];
        for (size_t k = 0; k < 2 && reduction->id == REDUCTION_IQR; k++)
            count = reduce_add_ranks(plan, &reduce_quarters[k], elements, &found[i].keys[2 * k],
                                     ranks, count);
        if (reduce_is_quantile(reduction->id))
            count = reduce_add_ranks(plan, &reduction->percentage, elements, found[i].keys, ranks,
                                     count);
    }
    qsort(ranks, count, sizeof *ranks, reduce_compare_ranks);
    while ((n = rows.read(&rows, batch, ROWS_BATCH)) > 0) {
        distinct += n;
        for (size_t i = 0; i < n; i++) {
            const struct rows_row *row = &batch[i];
            if (row->count > mode.count || (row->count == mode.count && row->low < mode.low))
                mode = *row;
            seen += row->count;
            for (; next < count && ranks[next].rank <= seen; next++)
                *ranks[next].key = (uint64_t)row->low;
        }
    }
    for (unsigned i = 0; i < plan->reductions.count; i++) {
        if (plan->reductions.list[i].id == REDUCTION_DISTINCT)
            found[i].keys[0] = distinct;
        if (plan->reductions.list[i].id == REDUCTION_MODE) {
            found[i].keys[0] = (uint64_t)mode.low;
            found[i].keys[1] = (uint64_t)((unsigned __int128)mode.low >> 64);
        }
    }
}

void reduce_add_rows(const struct accumulators *accumulators, uint64_t *row, struct rows rows)
{
    struct rows_row batch[ROWS_BATCH];
    uint64_t keys[ROWS_BATCH];
    uint64_t counts[ROWS_BATCH];
    size_t n;

    while ((n = rows.read(&rows, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            keys[i] = (uint64_t)batch[i].low;
            counts[i] = batch[i].count;
        }
        accumulators_add_counts(accumulators, row, keys, counts, n);
    }
}
