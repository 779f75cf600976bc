/* Implements groups_row.h. */
#include "config.h"

#include "count/groups_row.h"

#include "count/reduce_words.h"

#include <stdlib.h>

struct groups_layout *groups_layout_create(const struct job *job, bool is_counted)
{
    const unsigned needs = is_counted ? 0 : job->reductions.needs;
    size_t keys = is_counted ? column_words(&job->columns[0]) : 0;
    for (size_t i = 0; i < job->group_count; i++)
        keys += column_words(&job->columns[job_group_column(job) + i]);
    const size_t first = keys + 1;
    const size_t capacity = first + REDUCE_WORDS_MAX + job->predicate_count;
    struct groups_layout *layout =
        malloc(sizeof *layout + capacity * (sizeof *layout->initial + 1));
    if (!layout)
        return NULL;

    layout->job = job;
    layout->flip = element_flip(&job->element);
    layout->count = keys;
    layout->first = layout->words = first;
    layout->rules = (unsigned char *)(layout->initial + capacity);
#define GROUPS_LAYOUT_ADD(need, n)                                       \
    for (unsigned i = 0; needs & REDUCTIONS_NEED_##need && i < (n); i++) \
        layout->rules[layout->words++] = i == 0 ? GROUPS_RULE_##need : GROUPS_RULE_CARRY;
    REDUCE_WORDS(GROUPS_LAYOUT_ADD)
#undef GROUPS_LAYOUT_ADD
    for (size_t i = 0; i < job->predicate_count; i++)
        layout->rules[layout->words++] = GROUPS_RULE_SUM;
    for (size_t i = layout->first; i < layout->words; i++)
        layout->initial[i] = layout->rules[i] == GROUPS_RULE_MIN   ? ~layout->flip
                             : layout->rules[i] == GROUPS_RULE_MAX ? layout->flip
                             : layout->rules[i] == GROUPS_RULE_AND ? UINT64_MAX
                                                                   : 0;
    return layout;
}

void groups_row_absorb(const void *context, uint64_t *const *rows, const uint64_t *keys, size_t n)
{
    const struct groups_layout *layout = context;
    const struct job *job = layout->job;
    const uint64_t flip = layout->flip;
    const bool is_signed = flip != 0;

    for (size_t i = 0; i < job->predicate_count; i++) {
        for (size_t k = 0; k < n; k++)
            rows[k][layout->first + i] += predicate_contains(&job->predicates[i], keys[k]);
    }
    for (size_t w = layout->first; w < layout->words && job->predicate_count == 0; w++) {
        switch ((enum groups_rule)layout->rules[w]) {
        case GROUPS_RULE_SUM: /* of two words */
            for (size_t k = 0; k < n; k++) {
                uint64_t *sum = rows[k] + w;
                const uint64_t upper = is_signed && (int64_t)keys[k] < 0 ? UINT64_MAX : 0;
                sum[0] += keys[k];
                sum[1] += upper + (sum[0] < keys[k]);
            }
            break;
        case GROUPS_RULE_SQUARES: /* of three words */
            for (size_t k = 0; k < n; k++) {
                uint64_t *sum = rows[k] + w;
                const uint64_t magnitude = is_signed && (int64_t)keys[k] < 0 ? -keys[k] : keys[k];
                const unsigned __int128 square = (unsigned __int128)magnitude * magnitude;
                const unsigned __int128 total = ((unsigned __int128)sum[1] << 64 | sum[0]) + square;
                sum[0] = (uint64_t)total;
                sum[1] = (uint64_t)(total >> 64);
                sum[2] += total < square;
            }
            break;
        case GROUPS_RULE_CARRY:
            break;
        case GROUPS_RULE_MIN:
            for (size_t k = 0; k < n; k++)
                rows[k][w] = (keys[k] ^ flip) < (rows[k][w] ^ flip) ? keys[k] : rows[k][w];
            break;
        case GROUPS_RULE_MAX:
            for (size_t k = 0; k < n; k++)
                rows[k][w] = (keys[k] ^ flip) > (rows[k][w] ^ flip) ? keys[k] : rows[k][w];
            break;
        case GROUPS_RULE_AND:
            for (size_t k = 0; k < n; k++)
                rows[k][w] &= keys[k];
            break;
        case GROUPS_RULE_OR:
            for (size_t k = 0; k < n; k++)
                rows[k][w] |= keys[k];
            break;
        case GROUPS_RULE_XOR:
            for (size_t k = 0; k < n; k++)
                rows[k][w] ^= keys[k];
            break;
        }
    }
}

bool groups_row_merge(const void *context, uint64_t *into, const uint64_t *from)
{
    const struct groups_layout *layout = context;
    const uint64_t flip = layout->flip;
    unsigned __int128 sum = 0;

    into[layout->count] += from[layout->count];
    for (size_t i = layout->first; i < layout->words; i++) {
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
