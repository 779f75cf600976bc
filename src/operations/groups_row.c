/* Implements groups_row.h. */
#include "config.h"

#include "operations/groups_row.h"

#include "operations/reduce_words.h"

#include <stdlib.h>

struct groups_layout *groups_layout_create(const struct job *job)
{
    const unsigned needs = job->reductions.needs;
    const size_t capacity = GROUPS_ROW_FIRST + REDUCE_WORDS_MAX + job->predicate_count;
    struct groups_layout *layout =
        malloc(sizeof *layout + capacity * (sizeof *layout->initial + 1));
    if (!layout)
        return NULL;

    layout->job = job;
    layout->flip = element_flip(&job->element);
    layout->words = GROUPS_ROW_FIRST;
    layout->rules = (unsigned char *)(layout->initial + capacity);
#define GROUPS_LAYOUT_ADD(need, n)                                       \
    for (unsigned i = 0; needs & REDUCTIONS_NEED_##need && i < (n); i++) \
        layout->rules[layout->words++] = i == 0 ? GROUPS_RULE_##need : GROUPS_RULE_CARRY;
    REDUCE_WORDS(GROUPS_LAYOUT_ADD)
#undef GROUPS_LAYOUT_ADD
    for (size_t i = 0; i < job->predicate_count; i++)
        layout->rules[layout->words++] = GROUPS_RULE_SUM;
    for (size_t i = GROUPS_ROW_FIRST; i < layout->words; i++)
        layout->initial[i] = layout->rules[i] == GROUPS_RULE_MIN   ? ~layout->flip
                             : layout->rules[i] == GROUPS_RULE_MAX ? layout->flip
                             : layout->rules[i] == GROUPS_RULE_AND ? UINT64_MAX
                                                                   : 0;
    return layout;
}

/* Adds the values to the sum in two words. */
static void groups_row_add_sums(const struct groups_layout *layout, size_t word,
                                uint64_t *const *rows, const uint64_t *keys, size_t n)
{
    const bool is_signed = layout->flip != 0;

    for (size_t k = 0; k < n; k++) {
        uint64_t *sum = rows[k] + word;
        const uint64_t upper = is_signed && (int64_t)keys[k] < 0 ? UINT64_MAX : 0;
        sum[0] += keys[k];
        sum[1] += upper + (sum[0] < keys[k]);
    }
}

/* Adds their squares to the sum in three words. */
static void groups_row_add_squares(const struct groups_layout *layout, size_t word,
                                   uint64_t *const *rows, const uint64_t *keys, size_t n)
{
    const bool is_signed = layout->flip != 0;

    for (size_t k = 0; k < n; k++) {
        uint64_t *sum = rows[k] + word;
        const uint64_t magnitude = is_signed && (int64_t)keys[k] < 0 ? -keys[k] : keys[k];
        const unsigned __int128 square = (unsigned __int128)magnitude * magnitude;
        const unsigned __int128 lower = (unsigned __int128)sum[1] << 64 | sum[0];
        const unsigned __int128 total = lower + square;
        sum[0] = (uint64_t)total;
        sum[1] = (uint64_t)(total >> 64);
        sum[2] += total < square;
    }
}

/* Applies the rule of a word to it and the values. */
static void groups_row_add_word(const struct groups_layout *layout, size_t word,
                                uint64_t *const *rows, const uint64_t *keys, size_t n)
{
    const uint64_t flip = layout->flip;

    switch ((enum groups_rule)layout->rules[word]) {
    case GROUPS_RULE_SUM:
        groups_row_add_sums(layout, word, rows, keys, n);
        break;
    case GROUPS_RULE_SQUARES:
        groups_row_add_squares(layout, word, rows, keys, n);
        break;
    case GROUPS_RULE_CARRY:
        break;
    case GROUPS_RULE_MIN:
        for (size_t k = 0; k < n; k++)
            rows[k][word] = (keys[k] ^ flip) < (rows[k][word] ^ flip) ? keys[k] : rows[k][word];
        break;
    case GROUPS_RULE_MAX:
        for (size_t k = 0; k < n; k++)
            rows[k][word] = (keys[k] ^ flip) > (rows[k][word] ^ flip) ? keys[k] : rows[k][word];
        break;
    case GROUPS_RULE_AND:
        for (size_t k = 0; k < n; k++)
            rows[k][word] &= keys[k];
        break;
    case GROUPS_RULE_OR:
        for (size_t k = 0; k < n; k++)
            rows[k][word] |= keys[k];
        break;
    case GROUPS_RULE_XOR:
        for (size_t k = 0; k < n; k++)
            rows[k][word] ^= keys[k];
        break;
    }
}

void groups_row_add(const struct groups_layout *layout, uint64_t *const *rows, const uint64_t *keys,
                    size_t n)
{
    const struct job *job = layout->job;

    for (size_t i = 0; i < job->predicate_count; i++) {
        for (size_t k = 0; k < n; k++)
            rows[k][GROUPS_ROW_FIRST + i] += predicate_contains(&job->predicates[i], keys[k]);
    }
    for (size_t i = GROUPS_ROW_FIRST; i < layout->words && job->predicate_count == 0; i++)
        groups_row_add_word(layout, i, rows, keys, n);
}

bool groups_row_merge(const void *context, uint64_t *into, const uint64_t *from)
{
    const struct groups_layout *layout = context;
    const uint64_t flip = layout->flip;
    unsigned __int128 sum = 0;

    into[GROUPS_ROW_COUNT] += from[GROUPS_ROW_COUNT];
    for (size_t i = GROUPS_ROW_FIRST; i < layout->words; i++) {
        switch ((enum groups_rule)layout->rules[i]) {
        case GROUPS_RULE_SUM:
        case GROUPS_RULE_SQUARES:
            sum = (unsigned __int128)into[i] + from[i];
            into[i] = (uint64_t)sum;
            break;
        case GROUPS_RULE_CARRY:
            sum = (sum >> 64) + into[i] + from[i];
            into[i] = (uint64_t)sum;
            break;
        case GROUPS_RULE_MIN:
            into[i] = (from[i] ^ flip) < (into[i] ^ flip) ? from[i] : into[i];
            break;
        case GROUPS_RULE_MAX:
            into[i] = (from[i] ^ flip) > (into[i] ^ flip) ? from[i] : into[i];
            break;
        case GROUPS_RULE_AND:
            into[i] &= from[i];
            break;
        case GROUPS_RULE_OR:
            into[i] |= from[i];
            break;
        case GROUPS_RULE_XOR:
            into[i] ^= from[i];
            break;
        }
    }
    return true;
}
