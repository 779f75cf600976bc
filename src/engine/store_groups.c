/*
 * Operations with --by. A CPU thread adds values to the rows of their groups, or counts each value
 * of a group; percentiles are found when the group is printed.
 *
 * The numbers of its states are, for each row of the table in ascending order: its count, plus 1 if
 * values may have counts of 0 (plan_keeps_zeros), else 2^64 for a count of 0; the number of words
 * of its key that equal those of the row before; the other words of its key; and the words after
 * the count (groups.h). A 0 is the end.
 */
#include "config.h"

#include "aggregate/groups.h"
#include "aggregate/reduce.h"
#include "aggregate/rows.h"
#include "aggregate/state.h"
#include "engine/cpu_keys.h"
#include "engine/outside.h"
#include "engine/stores.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* A count of 0 in a state. */
#define STORE_GROUPS_ZERO ((unsigned __int128)1 << 64)

/* Maximum number of words of a key. */
#define STORE_GROUPS_WORDS (2 * (PLAN_GROUPS_MAX + 1))

struct store_groups_local {
    const struct groups *groups;
    struct table_writer *writer;
};

static enum status store_groups_open(void *local, const struct plan *plan, void *aggregate,
                                     struct failure *failure)
{
    struct store_groups_local *self = local;
    (void)plan;

    self->groups = aggregate;
    return table_writer_open(self->groups->table, &self->writer, failure);
}

static enum status store_groups_accumulate(void *local, const struct chunk *chunk,
                                           struct failure *failure)
{
    struct store_groups_local *self = local;
    const struct groups *groups = self->groups;
    const struct plan *plan = groups->plan;
    const struct element *element = &plan->element;
    const bool is_counted = groups_have_value_keys(plan);
    const size_t elements = chunk->bytes / element->bytes;
    const uint64_t *columns[TEXT_COLUMNS_MAX];
    uint64_t keys[TABLE_ACCUMULATE_MAX * STORE_GROUPS_WORDS];
    uint64_t values[TABLE_ACCUMULATE_MAX];

    if (plan->outside == OUTSIDE_ABORT && outside_check(plan, chunk, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0, n; i < elements; i += n) {
        const char *block = (const char *)chunk->data + i * element->bytes;
        n = elements - i < TABLE_ACCUMULATE_MAX ? elements - i : TABLE_ACCUMULATE_MAX;
        for (size_t c = 0; c < plan->group_count; c++)
            columns[c] =
                chunk->groups[c] + i * column_words(&plan->columns[plan_group_column(plan) + c]);
        groups_make_keys(groups, columns, block, n, keys);
        if (!is_counted)
            cpu_keys_widen(element, block, n, values);
        if (table_writer_accumulate(self->writer, keys, values,
                                    chunk->weights ? chunk->weights + i : NULL, n,
                                    failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status store_groups_merge(void *local, struct failure *failure)
{
    return table_writer_flush(((struct store_groups_local *)local)->writer, failure);
}

static void store_groups_close(void *local)
{
    table_writer_close(((struct store_groups_local *)local)->writer);
}

/*
 * Writes a word of a key: its distance above the word before, in the order of keys; or if there is
 * none, its number without the sign_bias, in the order 0, -1, 1, -2, ...
 */
static void store_groups_save_word(struct state_writer *state, uint64_t word,
                                   const uint64_t *before, uint64_t sign_bias)
{
    const uint64_t number = word ^ sign_bias;

    if (before)
        state_write_number(state, word - *before - 1);
    else
        state_write_number(state, sign_bias == 0 ? number : number << 1 ^ (0 - (number >> 63)));
}

/* Reads a word as store_groups_save_word writes it. */
static enum status store_groups_load_word(struct state_reader *state, uint64_t *word,
                                          const uint64_t *before, uint64_t sign_bias,
                                          struct failure *failure)
{
    uint64_t number;

    if (state_read_number(state, &number, failure) != STATUS_OK)
        return failure->status;
    if (before && number >= UINT64_MAX - *before)
        return state_fail_damaged(state, "it has a group that does not exist", failure);
    *word = before           ? *before + number + 1
            : sign_bias == 0 ? number
                             : (number >> 1 ^ (0 - (number & 1))) ^ sign_bias;
    return STATUS_OK;
}

/*
 * Writes the strings of the rows in ascending order: their bytes, eight per number. Makes the array
 * of their new numbers by rank, which the caller frees; the dictionary may have more strings, from
 * earlier periods (--window).
 */
static enum status store_groups_save_strings(struct state_writer *state,
                                             const struct groups *groups, uint32_t **numbers,
                                             struct failure *failure)
{
    const uint32_t count = dictionary_count(groups->plan->context->dictionary);
    uint32_t *number = calloc((size_t)count + 1, sizeof *number);
    uint32_t used = 0;

    *numbers = number;
    if (!number)
        return status_fail(failure, STATUS_DATA, "not enough memory for strings");
    for (uint64_t i = 0; i < table_distinct(groups->table); i++) {
        const uint64_t *row = groups_row(groups, i, groups->buffer);
        for (size_t k = 0; k < groups->layout->count; k++) {
            if (groups->is_text[k])
                number[row[k]] = 1;
        }
    }
    for (uint32_t rank = 0; rank < count; rank++)
        used += number[rank];
    state_write_number(state, used);
    used = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        size_t bytes;
        if (number[rank] == 0)
            continue;
        number[rank] = used++;
        const char *text = groups_text(groups, rank, &bytes);
        state_write_number(state, bytes);
        for (size_t i = 0; i < bytes; i += 8) {
            uint64_t word = 0;
            memcpy(&word, text + i, bytes - i < 8 ? bytes - i : 8);
            state_write_number(state, htole64(word));
        }
    }
    return STATUS_OK;
}

/* Reads the strings, and makes the array of their numbers here, which the caller frees. */
static enum status store_groups_load_strings(struct state_reader *state,
                                             struct dictionary *dictionary, uint32_t **ids,
                                             uint64_t *count, struct failure *failure)
{
    char *text = malloc(TEXT_BYTES_MAX + 8);
    struct dictionary_cache *cache = dictionary_cache_create(dictionary);
    enum status status = state_read_number(state, count, failure);

    *ids = NULL;
    if (status == STATUS_OK && (!text || !cache))
        status = status_fail(failure, STATUS_DATA, "not enough memory for strings");
    for (uint64_t i = 0; i < *count && status == STATUS_OK; i++) {
        uint64_t bytes;
        uint64_t word;
        if ((i & (i - 1)) == 0) { /* 0 or a power of 2: the array is full */
            uint32_t *grown = realloc(*ids, (i > 0 ? 2 * i : 1) * sizeof *grown);
            if (!grown) {
                status = status_fail(failure, STATUS_DATA, "not enough memory for strings");
                break;
            }
            *ids = grown;
        }
        status = state_read_number(state, &bytes, failure);
        if (status == STATUS_OK && bytes > TEXT_BYTES_MAX)
            status = state_fail_damaged(state, "it has a text that is too long", failure);
        for (size_t k = 0; k < bytes && status == STATUS_OK; k += 8) {
            status = state_read_number(state, &word, failure);
            word = le64toh(word);
            memcpy(text + k, &word, sizeof word);
        }
        if (status == STATUS_OK)
            status = dictionary_find(cache, text, bytes, &(*ids)[i], failure);
    }
    free(cache);
    free(text);
    return status;
}

static enum status store_groups_save(struct state_writer *state, const struct plan *plan,
                                     const void *aggregate, struct failure *failure)
{
    const struct groups *groups = aggregate;
    const struct accumulators *layout = groups->layout;
    uint64_t keys[2][STORE_GROUPS_WORDS]; /* the keys of this row and of the row before */
    uint32_t *numbers = NULL;             /* the numbers of strings here */

    state_write_number(state, table_total(groups->table));
    if (plan_has_strings(plan) &&
        store_groups_save_strings(state, groups, &numbers, failure) != STATUS_OK)
        return failure->status;
    for (uint64_t i = 0; i < table_distinct(groups->table); i++) {
        const uint64_t *row = groups_row(groups, i, groups->buffer);
        const uint64_t *before = keys[(i + 1) % 2];
        uint64_t *key = keys[i % 2];
        size_t same = 0;
        for (size_t k = 0; k < layout->count; k++)
            key[k] = groups->is_text[k] ? numbers[row[k]] : row[k];
        while (i > 0 && key[same] == before[same])
            same++;
        const unsigned __int128 count = row[layout->count];
        state_write_number(state, plan_keeps_zeros(plan) ? count + 1
                                  : count == 0           ? STORE_GROUPS_ZERO
                                                         : count);
        state_write_number(state, same);
        for (size_t k = same; k < layout->count; k++)
            store_groups_save_word(state, key[k], i > 0 && k == same ? &before[k] : NULL,
                                   groups->sign_biases[k]);
        for (size_t k = layout->first; k < layout->words; k++)
            state_write_number(state, row[k]);
    }
    free(numbers);
    state_write_number(state, 0);
    return groups_check(groups, failure);
}

/* Returns whether a row is valid for the plan. */
static bool store_groups_is_valid(const struct groups *groups, const uint64_t *row)
{
    const struct plan *plan = groups->plan;

    for (size_t i = 0; i < plan->group_count; i++) {
        const struct element *element = &plan->columns[plan_group_column(plan) + i].element;
        const __int128 value = groups_value(groups, row, i);
        if (!element_is_wide(element) &&
            (value < element_min(element) || value >= element_limit(element)))
            return false;
    }
    if (groups_have_value_keys(plan))
        return groups_has_bin(groups, row);
    return accumulators_check(groups->layout, row);
}

static enum status store_groups_load(struct state_reader *state, const struct plan *plan,
                                     void *aggregate, uint64_t elements, struct failure *failure)
{
    struct groups *groups = aggregate;
    const struct accumulators *layout = groups->layout;
    uint64_t *row = calloc(2 * layout->words, sizeof *row);
    uint32_t *ids = NULL;
    uint64_t strings = 0;
    struct table_writer *writer = NULL;
    enum status status = row ? table_writer_open(groups->table, &writer, failure)
                             : status_fail(failure, STATUS_DATA, "not enough memory for a group");

    if (status == STATUS_OK && plan_has_strings(plan))
        status =
            store_groups_load_strings(state, plan->context->dictionary, &ids, &strings, failure);
    for (bool is_first = true; status == STATUS_OK; is_first = false) {
        uint64_t *added = row + layout->words; /* the same with the numbers of strings */
        unsigned __int128 count;
        uint64_t same;
        status = state_read_number_128(state, &count, failure);
        if (status != STATUS_OK || count == 0)
            break;
        if (plan_keeps_zeros(plan))
            count--;
        else if (count == STORE_GROUPS_ZERO && plan->has_weights)
            count = 0;
        if (count > elements) {
            status = state_fail_damaged(state, "the counts exceed the number of elements", failure);
            break;
        }
        row[layout->count] = (uint64_t)count;
        elements -= (uint64_t)count;
        status = state_read_number(state, &same, failure);
        if (status == STATUS_OK && (same >= layout->count || (is_first && same > 0)))
            status = state_fail_damaged(state, "it has a group that does not exist", failure);
        for (size_t k = same; k < layout->count && status == STATUS_OK; k++) {
            const uint64_t before = row[k];
            status = store_groups_load_word(state, &row[k], !is_first && k == same ? &before : NULL,
                                            groups->sign_biases[k], failure);
            if (status == STATUS_OK && groups->is_text[k] && row[k] >= strings)
                status = state_fail_damaged(state, "it has a text that does not exist", failure);
        }
        for (size_t k = layout->first; k < layout->words && status == STATUS_OK; k++)
            status = state_read_number(state, &row[k], failure);
        if (status == STATUS_OK && !store_groups_is_valid(groups, row))
            status =
                state_fail_damaged(state, "the values of a group contradict each other", failure);
        if (status != STATUS_OK)
            break;
        for (size_t k = 0; k < layout->words; k++)
            added[k] = k < layout->count && groups->is_text[k] ? ids[row[k]] : row[k];
        status = table_writer_add_rows(writer, added, 1, failure);
    }
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    free(ids);
    free(row);
    if (status == STATUS_OK && elements > 0)
        status = state_fail_damaged(state, "not all was counted", failure);
    return status;
}

static uint64_t store_groups_count(const void *aggregate)
{
    return ((const struct groups *)aggregate)->count;
}

static uint64_t store_groups_elements(const void *aggregate)
{
    return table_total(((const struct groups *)aggregate)->table);
}

static void store_groups_rows(struct rows *rows, const struct plan *plan, const void *aggregate,
                              uint64_t group, bool zeros)
{
    (void)plan;
    groups_rows_begin(rows, aggregate, group, zeros);
}

/* Returns the words of a row of the table and a row of accumulators. */
static size_t store_groups_values_words(const void *aggregate)
{
    const struct groups *groups = aggregate;
    return groups->layout->words + groups->accumulators->words;
}

static void store_groups_values(struct reduce_values *values, const void *aggregate, uint64_t group,
                                uint64_t *memory)
{
    const struct groups *groups = aggregate;
    const struct accumulators *accumulators = groups->accumulators;
    uint64_t *row = memory + groups->layout->words;
    struct rows rows;

    values->accumulators = accumulators;
    values->row = accumulators->initial;
    if (group < groups->count) /* else nothing was counted, without group columns */
        values->group = values->row = groups_first_row(groups, group, memory);
    if (!groups_have_value_keys(groups->plan))
        return;
    groups_rows_begin(&rows, groups, group, false);
    memcpy(row, accumulators->initial, accumulators->words * sizeof *row);
    if (accumulators->uses > 0)
        reduce_add_rows(accumulators, row, rows);
    else
        row[accumulators->count] = rows.inside;
    reduce_find(groups->plan, rows, rows.inside, values->found);
    values->row = row;
}

static enum status store_groups_check(const void *aggregate, struct failure *failure)
{
    return groups_check(aggregate, failure);
}

static struct store_size store_groups_size(const void *aggregate)
{
    const struct groups *groups = aggregate;
    return (struct store_size){.rows = table_rows_about(groups->table)};
}

static struct store_memory store_groups_memory(const struct plan *plan)
{
    return (struct store_memory){.has_table = true, .bins = plan->range_bins};
}

const struct store store_groups = {
    .create = groups_create,
    .finalize = groups_finalize,
    .destroy = groups_destroy,
    .memory = store_groups_memory,
    .size = store_groups_size,
    .local_bytes = sizeof(struct store_groups_local),
    .local_open = store_groups_open,
    .local_accumulate = store_groups_accumulate,
    .local_merge = store_groups_merge,
    .local_close = store_groups_close,
    .save = store_groups_save,
    .load = store_groups_load,
    .groups = store_groups_count,
    .elements = store_groups_elements,
    .rows = store_groups_rows,
    .values = store_groups_values,
    .values_words = store_groups_values_words,
    .check = store_groups_check,
};
