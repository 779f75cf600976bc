/* Implements reduce.h: merging, what the table gives, and the text of results. */
#include "config.h"

#include "count/reduce.h"

#include "base/decimal.h"
#include "count/uniq.h"
#include "partial/operation.h"
#include "partial/rows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(REDUCE_SIZE >= RATIO_SIZE && REDUCE_SIZE >= DECIMAL_SIZE, "enough for either");

/* The extremes of no elements: beyond the values of every type. */
#define REDUCE_BEYOND ((__int128)1 << 64)

/* Rows of the table that are read at a time. */
#define REDUCE_BATCH 256

struct reduce_shared {
    pthread_mutex_t mutex; /* guards what follows; the table guards itself */
    struct reduce reduce;
    struct uniq *uniq; /* the distinct elements and their counts; NULL: the job needs none */
    /*
     * Set by finish, by number of the reduction, of those that take the table: for distinct a
     * number, else a key (element.h), which is undefined if there are no elements.
     */
    uint64_t found[REDUCTIONS_MAX];
};

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
    return reduce->count > 0 || id == REDUCTION_COUNT || id == REDUCTION_SUM ||
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

enum status reduce_check(const struct reduce *reduce, const struct job *job,
                         struct failure *failure)
{
    struct wide numerator;
    struct wide denominator;

    if (job->reductions.needs & REDUCTIONS_NEED_SQUARES &&
        !reduce_find_variance(reduce, &job->element, &numerator, &denominator))
        return status_fail(failure, STATUS_DATA, "internal error: a negative variance");
    return STATUS_OK;
}

static size_t reduce_write_key(char *out, const struct element *element, uint64_t key)
{
    return decimal_write_fixed(out, element_value(element, key), element->decimals);
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
        return decimal_write_fixed(out, reduce->min, element->decimals);
    case REDUCTION_MAX:
        return decimal_write_fixed(out, reduce->max, element->decimals);
    case REDUCTION_MEAN:
        wide_scale(&denominator, decimal_powers[element->decimals]);
        return ratio_write(out, is_negative, &numerator, &denominator);
    case REDUCTION_VARIANCE:
    case REDUCTION_STDDEV:
        reduce_find_variance(reduce, element, &numerator, &denominator); /* checked before */
        wide_scale(&denominator, decimal_powers[element->decimals]);
        wide_scale(&denominator, decimal_powers[element->decimals]); /* it stays below 2^248 */
        return id == REDUCTION_STDDEV ? ratio_write_root(out, &numerator, &denominator)
                                      : ratio_write(out, false, &numerator, &denominator);
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

size_t reduce_write(char out[REDUCE_SIZE], const struct reduce_shared *shared,
                    const struct job *job, unsigned i)
{
    switch (job->reductions.list[i].id) {
    case REDUCTION_DISTINCT:
        return decimal_write(out, shared->found[i]);
    case REDUCTION_MODE:
    case REDUCTION_MEDIAN:
    case REDUCTION_QUANTILE:
        return reduce_write_key(out, &job->element, shared->found[i]);
    default:
        return reduce_write_value(out, &shared->reduce, &job->element, job->reductions.list[i].id);
    }
}

void reduce_share(struct reduce_shared *shared, const struct reduce *from)
{
    pthread_mutex_lock(&shared->mutex);
    reduce_merge(&shared->reduce, from);
    pthread_mutex_unlock(&shared->mutex);
}

const struct reduce *reduce_result(const struct reduce_shared *shared)
{
    return &shared->reduce;
}

struct uniq *reduce_uniq(const struct reduce_shared *shared)
{
    return shared->uniq;
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
    uint64_t rank;  /* 1 is the smallest element */
    unsigned index; /* of the reduction */
};

static int reduce_compare_ranks(const void *a, const void *b)
{
    uint64_t x = ((const struct reduce_rank *)a)->rank;
    uint64_t y = ((const struct reduce_rank *)b)->rank;
    return (x > y) - (x < y);
}

/* Finds the reductions that take the table, which is finished, in one pass. */
static enum status reduce_scan_table(struct reduce_shared *shared, const struct job *job,
                                     uint64_t elements, struct failure *failure)
{
    struct reduce_rank ranks[REDUCTIONS_MAX]; /* in ascending order; [0..next) are found */
    unsigned count = 0;
    unsigned next = 0;
    uint64_t distinct = 0;
    uint64_t seen = 0; /* elements */
    struct rows_row mode = {.count = 0};
    struct rows_row batch[REDUCE_BATCH];
    struct rows rows;
    size_t n;

    for (unsigned i = 0; i < job->reductions.count; i++) {
        const struct reduction *reduction = &job->reductions.list[i];
        if (reduction->id == REDUCTION_QUANTILE || reduction->id == REDUCTION_MEDIAN)
            ranks[count++] =
                (struct reduce_rank){.rank = percentage_rank(&reduction->percentage, elements),
                                     .index = i};
    }
    qsort(ranks, count, sizeof *ranks, reduce_compare_ranks);
    uniq_rows_begin(&rows, job, shared->uniq, false); /* for quantiles, in ascending order */
    while ((n = rows.read(&rows, batch, REDUCE_BATCH)) > 0) {
        distinct += n;
        for (size_t i = 0; i < n; i++) {
            const struct rows_row *row = &batch[i];
            if (row->count > mode.count || (row->count == mode.count && row->low < mode.low))
                mode = *row;
            seen += row->count;
            for (; next < count && ranks[next].rank <= seen; next++)
                shared->found[ranks[next].index] = (uint64_t)row->low;
        }
    }
    for (unsigned i = 0; i < job->reductions.count; i++) {
        if (job->reductions.list[i].id == REDUCTION_DISTINCT)
            shared->found[i] = distinct;
        else if (job->reductions.list[i].id == REDUCTION_MODE)
            shared->found[i] = (uint64_t)mode.low;
    }
    return uniq_check(shared->uniq, failure);
}

enum status reduce_finish(void *partial, const struct job *job, uint64_t elements,
                          struct failure *failure)
{
    struct reduce_shared *shared = partial;
    const struct reduce *reduce = &shared->reduce;

    if (operation_check_elements(elements, reduce->count, failure) != STATUS_OK ||
        reduce_check(reduce, job, failure) != STATUS_OK)
        return failure->status;
    if (!shared->uniq)
        return STATUS_OK;
    if (uniq_finish(shared->uniq, job, elements, failure) != STATUS_OK)
        return failure->status;
    return reduce_scan_table(shared, job, elements, failure);
}
