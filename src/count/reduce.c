/* Implements reduce.h: merging, what the table gives, and the text of results. */
#include "config.h"

#include "count/reduce.h"

#include "base/decimal.h"
#include "count/uniq.h"
#include "partial/operation.h"
#include "partial/rows.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(REDUCE_SIZE >= RATIO_SIZE && REDUCE_SIZE >= DECIMAL_SIZE, "enough for either");

/* The extremes of no elements: beyond the values of every type. */
#define REDUCE_BEYOND ((__int128)1 << 64)

const struct reduce reduce_empty = {
    .min = REDUCE_BEYOND,
    .max = -REDUCE_BEYOND,
    .and_bits = UINT64_MAX,
};

void reduce_merge(struct reduce *into, const struct reduce *from)
{
    into->count += from->count;
    into->sum += from->sum;
    wide_add(&into->squares, &from->squares);
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->and_bits &= from->and_bits;
    into->or_bits |= from->or_bits;
    into->xor_bits ^= from->xor_bits;
}

bool reduce_has(const struct reduce *reduce, enum reduction_id id)
{
    const bool is_of_sample = id == REDUCTION_SVAR || id == REDUCTION_SSTDEV;

    return reduce->count > is_of_sample || id == REDUCTION_COUNT || id == REDUCTION_SUM ||
           id == REDUCTION_DISTINCT;
}

/* The absolute value of the sum. */
static unsigned __int128 reduce_magnitude(const struct reduce *reduce,
                                          const struct element *element)
{
    return element->is_signed && (__int128)reduce->sum < 0 ? -reduce->sum : reduce->sum;
}

/*
 * The variance of n elements as (n * squares - sum^2) / n^2. Returns false if it would be negative,
 * which sums of real elements cannot make.
 */
static bool reduce_find_variance(const struct reduce *reduce, const struct element *element,
                                 struct wide *numerator, struct wide *denominator)
{
    struct wide sum = wide_from(reduce_magnitude(reduce, element));
    struct wide count = wide_from(reduce->count);
    struct wide squared_sum = wide_multiply(&sum, &sum);

    *numerator = wide_multiply(&count, &reduce->squares);
    *denominator = wide_multiply(&count, &count);
    if (wide_compare(numerator, &squared_sum) < 0)
        return false;
    wide_subtract(numerator, &squared_sum);
    return true;
}

static size_t reduce_write_key(char *out, const struct element *element, uint64_t key)
{
    return element_write(out, element, element_value(element, key));
}

size_t reduce_write_value(char out[REDUCE_SIZE], const struct reduce *reduce,
                          const struct element *element, enum reduction_id id)
{
    const unsigned __int128 magnitude = reduce_magnitude(reduce, element);
    const bool is_negative = magnitude != reduce->sum;
    struct wide numerator = wide_from(magnitude);
    struct wide denominator = wide_from(reduce->count);

    switch (id) {
    case REDUCTION_COUNT:
        return decimal_write(out, reduce->count);
    case REDUCTION_SUM:
        *out = '-';
        out += is_negative;
        return is_negative + (element->decimals > 0
                                  ? decimal_write_places(out, magnitude, element->decimals)
                                  : decimal_write_128(out, magnitude));
    case REDUCTION_MIN:
        return element_write(out, element, reduce->min);
    case REDUCTION_MAX:
        return element_write(out, element, reduce->max);
    case REDUCTION_MEAN:
        wide_scale(&denominator, decimal_power(element->decimals));
        return ratio_write(out, is_negative, &numerator, &denominator, false);
    case REDUCTION_VARIANCE:
    case REDUCTION_STDDEV:
    case REDUCTION_SVAR:
    case REDUCTION_SSTDEV:
        reduce_find_variance(reduce, element, &numerator, &denominator); /* checked before */
        if (id == REDUCTION_SVAR || id == REDUCTION_SSTDEV) { /* n (n - 1) instead of n^2 */
            denominator = wide_from(reduce->count);
            wide_scale(&denominator, reduce->count - 1);
        }
        wide_scale(&denominator, decimal_power(element->decimals));
        wide_scale(&denominator, decimal_power(element->decimals)); /* it stays below 2^248 */
        return ratio_write(out, false, &numerator, &denominator,
                           id == REDUCTION_STDDEV || id == REDUCTION_SSTDEV);
    case REDUCTION_AND:
        return reduce_write_key(out, element, reduce->and_bits);
    case REDUCTION_OR:
        return reduce_write_key(out, element, reduce->or_bits);
    case REDUCTION_XOR:
        return reduce_write_key(out, element, reduce->xor_bits);
    default:
        break;
    }
    __builtin_unreachable();
}

/*
 * The quantile of a percentage between keys[0] and keys[1], the values before and after it among
 * `count`, as a multiple of 1 / *denominator: of n values in ascending order, it is where (n - 1) *
 * percentage / 100 lies between their indices (definition 7 of Hyndman and Fan, "Sample Quantiles
 * in Statistical Packages", 1996; numpy's default).
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

/* Writes a number of so many 1 / denominator of the element's unit: in full if it is one of these.
 */
static size_t reduce_write_quotient(char *out, const struct element *element, __int128 number,
                                    uint64_t denominator, bool is_value)
{
    if (number % (__int128)denominator == 0 && is_value)
        return element_write(out, element, number / (__int128)denominator);
    if (number % (__int128)denominator == 0)
        return decimal_write_fixed(out, number / (__int128)denominator, element->decimals);
    struct wide numerator = wide_from((unsigned __int128)(number < 0 ? -number : number));
    struct wide scaled = wide_from(denominator);
    wide_scale(&scaled, decimal_power(element->decimals));
    return ratio_write(out, number < 0, &numerator, &scaled, false);
}

size_t reduce_write_found(char out[REDUCE_SIZE], const struct reduce *reduce,
                          const struct reduce_found *found, const struct job *job, unsigned i)
{
    static const struct percentage quarters[] = {{.digits = 25}, {.digits = 75}};
    const struct reduction *reduction = &job->reductions.list[i];
    const struct element *element = &job->element;
    const uint64_t *keys = found[i].keys;
    uint64_t denominator = 1;
    __int128 value;

    switch (reduction->id) {
    case REDUCTION_DISTINCT:
        return decimal_write(out, keys[0]);
    case REDUCTION_MODE:
        return reduce_write_key(out, element, keys[0]);
    case REDUCTION_MEDIAN:
    case REDUCTION_Q1:
    case REDUCTION_Q3:
    case REDUCTION_QUANTILE:
        value = element_value(element, keys[0]);
        if (job->interpolates)
            value = reduce_interpolate(&reduction->percentage, element, keys, reduce->count,
                                       &denominator);
        return reduce_write_quotient(out, element, value, denominator, true);
    case REDUCTION_IQR:
        value = element_value(element, keys[2]) - element_value(element, keys[0]);
        if (job->interpolates)
            value =
                reduce_interpolate(&quarters[1], element, keys + 2, reduce->count, &denominator) -
                reduce_interpolate(&quarters[0], element, keys, reduce->count, &denominator);
        return reduce_write_quotient(out, element, value, denominator, false);
    default:
        return reduce_write_value(out, reduce, element, reduction->id);
    }
}

void reduce_share(struct reduce_shared *shared, const struct reduce *from)
{
    pthread_mutex_lock(&shared->mutex);
    reduce_merge(&shared->reduce, from);
    pthread_mutex_unlock(&shared->mutex);
}

void *reduce_create(const struct job *job, struct failure *failure)
{
    struct reduce_shared *shared = calloc(1, sizeof *shared);
    if (!shared) {
        status_fail(failure, STATUS_DATA, "no memory for the result");
        return NULL;
    }
    if (job->reductions.needs & REDUCTIONS_NEED_TABLE) {
        shared->uniq = uniq_create(job, failure);
        if (!shared->uniq) {
            free(shared);
            return NULL;
        }
    }
    pthread_mutex_init(&shared->mutex, NULL);
    shared->reduce = reduce_empty;
    return shared;
}

void reduce_destroy(void *partial)
{
    struct reduce_shared *shared = partial;
    if (!shared)
        return;
    uniq_destroy(shared->uniq);
    pthread_mutex_destroy(&shared->mutex);
    free(shared);
}

/* A quantile that is searched for. */
struct reduce_rank {
    uint64_t rank; /* 1 is the smallest element */
    uint64_t *key; /* where it goes */
};

static int reduce_compare_ranks(const void *a, const void *b)
{
    uint64_t x = ((const struct reduce_rank *)a)->rank;
    uint64_t y = ((const struct reduce_rank *)b)->rank;
    return (x > y) - (x < y);
}

/*
 * Adds the rank of a quantile among `count` elements to ranks[0..n), or if quantiles lie between
 * elements those of both. Returns how many there are then.
 */
static unsigned reduce_add_ranks(const struct job *job, const struct percentage *percentage,
                                 uint64_t count, uint64_t keys[2], struct reduce_rank *ranks,
                                 unsigned n)
{
    uint64_t above = 0;

    if (!job->interpolates) {
        ranks[n++] = (struct reduce_rank){percentage_rank(percentage, count), &keys[0]};
        return n;
    }
    const uint64_t index = percentage_index(percentage, count, &above);
    ranks[n++] = (struct reduce_rank){index + 1, &keys[0]};
    ranks[n++] = (struct reduce_rank){index + 1 + (above > 0), &keys[1]};
    return n;
}

void reduce_find(const struct job *job, struct rows rows, uint64_t elements,
                 struct reduce_found *found)
{
    static const struct percentage quarters[] = {{.digits = 25}, {.digits = 75}};
    struct reduce_rank ranks[4 * REDUCTIONS_MAX]; /* in ascending order; [0..next) are found */
    unsigned count = 0;
    unsigned next = 0;
    uint64_t distinct = 0;
    uint64_t seen = 0; /* elements */
    struct rows_row mode = {.count = 0};
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    for (unsigned i = 0; i < job->reductions.count; i++) {
        const struct reduction *reduction = &job->reductions.list[i];
        for (size_t k = 0; k < 2 && reduction->id == REDUCTION_IQR; k++)
            count =
                reduce_add_ranks(job, &quarters[k], elements, &found[i].keys[2 * k], ranks, count);
        if (reduction->id == REDUCTION_QUANTILE || reduction->id == REDUCTION_MEDIAN ||
            reduction->id == REDUCTION_Q1 || reduction->id == REDUCTION_Q3)
            count = reduce_add_ranks(job, &reduction->percentage, elements, found[i].keys, ranks,
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
    for (unsigned i = 0; i < job->reductions.count; i++) {
        if (job->reductions.list[i].id == REDUCTION_DISTINCT)
            found[i].keys[0] = distinct;
        else if (job->reductions.list[i].id == REDUCTION_MODE)
            found[i].keys[0] = (uint64_t)mode.low;
    }
}

void reduce_add_rows(struct reduce *into, struct rows rows)
{
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    while ((n = rows.read(&rows, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            const __int128 value = batch[i].low;
            const uint64_t count = batch[i].count;
            const uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
            struct wide squares = wide_from((unsigned __int128)magnitude * magnitude);
            wide_scale(&squares, count);
            const struct reduce row = {
                .count = count,
                .sum = (unsigned __int128)value * count,
                .squares = squares,
                .min = value,
                .max = value,
                .and_bits = (uint64_t)value,
                .or_bits = (uint64_t)value,
                .xor_bits = count % 2 == 1 ? (uint64_t)value : 0,
            };
            reduce_merge(into, &row);
        }
    }
}

enum status reduce_finalize(void *partial, const struct job *job, uint64_t elements,
                            struct failure *failure)
{
    struct reduce_shared *shared = partial;
    const struct reduce *reduce = &shared->reduce;
    struct wide numerator;
    struct wide denominator;

    if (operation_check_elements(elements, reduce->count, failure) != STATUS_OK)
        return failure->status;
    if (job->reductions.needs & REDUCTIONS_NEED_SQUARES &&
        !reduce_find_variance(reduce, &job->element, &numerator, &denominator))
        return status_fail(failure, STATUS_DATA, "internal error: a negative variance");
    if (!shared->uniq)
        return STATUS_OK;
    if (uniq_finalize(shared->uniq, job, elements, failure) != STATUS_OK)
        return failure->status;
    struct rows rows;
    uniq_rows_begin(&rows, job, shared->uniq, false); /* for quantiles, in ascending order */
    reduce_find(job, rows, elements, shared->found);
    return table_check(shared->uniq->table, failure);
}
