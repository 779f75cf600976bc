/* Implements reduce.h: merging, the text of results, and the row of the table of operations. */
#include "config.h"

#include "count/reduce.h"

#include "base/decimal.h"
#include "count/reduce_table.h"
#include "partial/operation.h"
#include "partial/state_job.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(REDUCE_SIZE >= RATIO_SIZE && REDUCE_SIZE >= DECIMAL_SIZE, "room for either");

/* The extremes of no elements: beyond the values of every type. */
#define REDUCE_BEYOND ((__int128)1 << 64)

struct reduce_shared {
    pthread_mutex_t mutex; /* guards what follows; the table guards itself */
    struct reduce reduce;
    struct reduce_table table;
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

static bool reduce_is_negative(const struct reduce *reduce, const struct element *element)
{
    return element->is_signed && (__int128)reduce->sum < 0;
}

/* The absolute value of the sum. */
static unsigned __int128 reduce_magnitude(const struct reduce *reduce,
                                          const struct element *element)
{
    return reduce_is_negative(reduce, element) ? -reduce->sum : reduce->sum;
}

static size_t reduce_write_sum(char *out, const struct reduce *reduce,
                               const struct element *element)
{
    bool is_negative = reduce_is_negative(reduce, element);

    *out = '-';
    unsigned __int128 magnitude = reduce_magnitude(reduce, element);
    if (element->decimals > 0)
        return is_negative + decimal_write_places(out + is_negative, magnitude, element->decimals);
    return is_negative + decimal_write_128(out + is_negative, magnitude);
}

static size_t reduce_write_mean(char *out, const struct reduce *reduce,
                                const struct element *element)
{
    struct wide sum = wide_from(reduce_magnitude(reduce, element));
    struct wide count = wide_from(reduce->count);

    wide_scale(&count, decimal_powers[element->decimals]);
    return ratio_write(out, reduce_is_negative(reduce, element), &sum, &count);
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

static size_t reduce_write_variance(char *out, const struct reduce *reduce,
                                    const struct element *element, bool is_root)
{
    struct wide numerator;
    struct wide denominator;

    reduce_find_variance(reduce, element, &numerator, &denominator); /* reduce_check has tried it */
    for (unsigned i = 0; i < 2; i++)                                 /* it stays below 2^248 */
        wide_scale(&denominator, decimal_powers[element->decimals]);
    return is_root ? ratio_write_root(out, &numerator, &denominator)
                   : ratio_write(out, false, &numerator, &denominator);
}

static size_t reduce_write_key(char *out, const struct element *element, uint64_t key)
{
    return decimal_write_fixed(out, element_value(element, key), element->decimals);
}

size_t reduce_write_value(char out[REDUCE_SIZE], const struct reduce *reduce,
                          const struct element *element, enum reduction_id id)
{
    switch (id) {
    case REDUCTION_COUNT:
        return decimal_write(out, reduce->count);
    case REDUCTION_SUM:
        return reduce_write_sum(out, reduce, element);
    case REDUCTION_MIN:
        return decimal_write_fixed(out, reduce->min, element->decimals);
    case REDUCTION_MAX:
        return decimal_write_fixed(out, reduce->max, element->decimals);
    case REDUCTION_MEAN:
        return reduce_write_mean(out, reduce, element);
    case REDUCTION_VARIANCE:
        return reduce_write_variance(out, reduce, element, false);
    case REDUCTION_STDDEV:
        return reduce_write_variance(out, reduce, element, true);
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
        return decimal_write(out, shared->table.found[i]);
    case REDUCTION_MODE:
    case REDUCTION_MEDIAN:
    case REDUCTION_QUANTILE:
        return reduce_write_key(out, &job->element, shared->table.found[i]);
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
    return shared->table.uniq;
}

static enum status reduce_create_partial(const struct job *job, void **partial,
                                         struct failure *failure)
{
    struct reduce_shared *made = malloc(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for the result");

    if (reduce_table_init(&made->table, job, failure) != STATUS_OK) {
        free(made);
        return failure->status;
    }
    pthread_mutex_init(&made->mutex, NULL);
    made->reduce = reduce_empty;
    *partial = made;
    return STATUS_OK;
}

static enum status reduce_finish_partial(void *partial, const struct job *job, uint64_t elements,
                                         struct failure *failure)
{
    struct reduce_shared *shared = partial;
    const struct reduce *reduce = &shared->reduce;

    if (operation_check_elements(elements, reduce->count, failure) != STATUS_OK ||
        reduce_check(reduce, job, failure) != STATUS_OK)
        return failure->status;
    return reduce_table_finish(&shared->table, job, elements, failure);
}

/*
 * Fails if the stream is empty and reductions that then have no value were asked for; lists them.
 */
static enum status reduce_verdict_partial(const struct job *job, const void *partial,
                                          struct failure *failure)
{
    const struct reduce_shared *shared = partial;
    char names[REDUCTIONS_TEXT_SIZE] = "";
    size_t length = 0;

    for (unsigned i = 0; i < job->reductions.count; i++) {
        const struct reduction *reduction = &job->reductions.list[i];
        if (!reduce_has(&shared->reduce, reduction->id))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length > 0 ? ", " : "", reduction->name);
    }
    if (length > 0)
        return status_fail(failure, STATUS_DATA, "the input is empty: it has no %s", names);
    return shared->table.uniq ? operation_uniq.verdict(job, shared->table.uniq, failure)
                              : STATUS_OK;
}

static void reduce_destroy_partial(void *partial)
{
    struct reduce_shared *shared = partial;
    if (!shared)
        return;
    reduce_table_destroy(&shared->table);
    free(shared);
}

const struct operation operation_reduce = {
    .name = "reduce",
    .help = "print count, sum, min, max, mean, ... or some of them",
    .usage = "gpuhist reduce [OPS] [OPTION]... [FILE]...\n"
             "Print the statistics that OPS names, separated by commas.\n"
             "Default: count,sum,min,max,mean,variance,stddev,and,or,xor\n"
             "Also, but not with --by: distinct, mode, median, p99.9 (any quantile in percent)\n",
    .create = reduce_create_partial,
    .finish = reduce_finish_partial,
    .verdict = reduce_verdict_partial,
    .state = &reduce_state,
    .destroy = reduce_destroy_partial,
};
