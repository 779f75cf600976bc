/* Implements reduce_words.h. */
#include "config.h"

#include "count/reduce_words.h"

unsigned reduce_words_count(unsigned needs)
{
    unsigned count = 0;

#define REDUCE_WORDS_COUNT(need, n) count += needs & REDUCTIONS_NEED_##need ? (n) : 0;
    REDUCE_WORDS(REDUCE_WORDS_COUNT)
#undef REDUCE_WORDS_COUNT
    return count;
}

void reduce_words_pack(unsigned needs, const struct reduce *reduce, uint64_t *words)
{
    const uint64_t *squares = reduce->squares.words;

    if (needs & REDUCTIONS_NEED_SUM) {
        *words++ = (uint64_t)reduce->sum;
        *words++ = (uint64_t)(reduce->sum >> 64);
    }
    for (unsigned i = 0; needs & REDUCTIONS_NEED_SQUARES && i < 3; i++)
        *words++ = squares[i];
    if (needs & REDUCTIONS_NEED_MIN)
        *words++ = (uint64_t)reduce->min;
    if (needs & REDUCTIONS_NEED_MAX)
        *words++ = (uint64_t)reduce->max;
    if (needs & REDUCTIONS_NEED_AND)
        *words++ = reduce->and_bits;
    if (needs & REDUCTIONS_NEED_OR)
        *words++ = reduce->or_bits;
    if (needs & REDUCTIONS_NEED_XOR)
        *words = reduce->xor_bits;
}

void reduce_words_unpack(const struct job *job, uint64_t elements, const uint64_t *words,
                         struct reduce *reduce)
{
    const unsigned needs = job->reductions.needs;

    *reduce = reduce_empty;
    reduce->count = elements;
    if (needs & REDUCTIONS_NEED_SUM) {
        reduce->sum = (unsigned __int128)words[1] << 64 | words[0];
        words += 2;
    }
    for (unsigned i = 0; needs & REDUCTIONS_NEED_SQUARES && i < 3; i++)
        reduce->squares.words[i] = *words++;
    if (needs & REDUCTIONS_NEED_MIN)
        reduce->min = element_value(&job->element, *words++);
    if (needs & REDUCTIONS_NEED_MAX)
        reduce->max = element_value(&job->element, *words++);
    if (needs & REDUCTIONS_NEED_AND)
        reduce->and_bits = *words++;
    if (needs & REDUCTIONS_NEED_OR)
        reduce->or_bits = *words++;
    if (needs & REDUCTIONS_NEED_XOR)
        reduce->xor_bits = *words;
}

/* Whether reduce->count elements between the minimum and the maximum can have this sum. */
static bool reduce_words_is_sum(const struct job *job, const struct reduce *reduce)
{
    const struct element *element = &job->element;
    const unsigned needs = job->reductions.needs;
    __int128 min = needs & REDUCTIONS_NEED_MIN ? reduce->min : element_min(element);
    __int128 max = needs & REDUCTIONS_NEED_MAX ? reduce->max : element_limit(element) - 1;

    if (!element->is_signed)
        return reduce->sum >= (unsigned __int128)min * reduce->count &&
               reduce->sum <= (unsigned __int128)max * reduce->count;
    __int128 sum = (__int128)reduce->sum;
    return sum >= min * (__int128)reduce->count && sum <= max * (__int128)reduce->count;
}

/*
 * Whether they can have this sum of squares: at least that of equal elements, at most that of
 * extreme ones.
 */
static bool reduce_words_is_squares(const struct element *element, const struct reduce *reduce)
{
    bool is_negative = element->is_signed && (__int128)reduce->sum < 0;
    uint64_t extreme = element->is_signed ? (uint64_t)-element_min(element)
                                          : (uint64_t)(element_limit(element) - 1);
    struct wide sum = wide_from(is_negative ? -reduce->sum : reduce->sum);
    struct wide count = wide_from(reduce->count);
    struct wide min = wide_multiply(&sum, &sum);
    struct wide scaled = wide_multiply(&count, &reduce->squares);
    struct wide max = count;

    wide_scale(&max, extreme);
    wide_scale(&max, extreme);
    return wide_compare(&scaled, &min) >= 0 && wide_compare(&reduce->squares, &max) <= 0;
}

static bool reduce_words_is_key(const struct element *element, uint64_t key)
{
    __int128 value = element_value(element, key);
    return value >= element_min(element) && value < element_limit(element);
}

bool reduce_words_check(const struct job *job, uint64_t elements, const uint64_t *words,
                        struct reduce *reduce)
{
    const struct element *element = &job->element;
    const unsigned needs = job->reductions.needs;
    unsigned n = reduce_words_count(needs);

    reduce_words_unpack(job, elements, words, reduce);
    for (unsigned need = REDUCTIONS_NEED_XOR; need >= REDUCTIONS_NEED_MIN; need /= 2) {
        if (needs & need && !reduce_words_is_key(element, words[--n]))
            return false;
    }
    if (needs & REDUCTIONS_NEED_SUM && !reduce_words_is_sum(job, reduce))
        return false;
    if (needs & REDUCTIONS_NEED_SQUARES && !reduce_words_is_squares(element, reduce))
        return false;
    return reduce->min <= reduce->max || !(needs & REDUCTIONS_NEED_MIN) ||
           !(needs & REDUCTIONS_NEED_MAX);
}
