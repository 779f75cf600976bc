/* Implements groups.h: the aggregate, and the rows of counted groups. */
#include "config.h"

#include "aggregate/groups.h"

#include "aggregate/rows.h"
#include "aggregate/store.h"
#include "lib/parallel.h"
#include "lib/resources.h"
#include "value/binning_index.h"

#include <stdlib.h>
#include <string.h>

/* Number of rows that are read at a time. */
#define GROUPS_BATCH 64

/* Minimum number of rows that a thread ranks. */
#define GROUPS_RANK_ROWS_MIN ((uint64_t)1 << 16)

bool groups_have_value_keys(const struct plan *plan)
{
    return plan->operation == OPERATION_HISTOGRAM || plan->operation == OPERATION_UNIQ ||
           plan->reductions.needs & REDUCTIONS_NEED_TABLE || element_is_name(&plan->element);
}

/* Returns whether the last word of the keys is the number of a bin of the plan. */
static bool groups_have_bins(const struct plan *plan)
{
    return plan->operation == OPERATION_HISTOGRAM && !plan->is_automatic;
}

bool groups_are_unit(const struct plan *plan)
{
    return groups_have_bins(plan) ? binning_is_unit(&plan->binning) : plan->bin_width == 1;
}

void groups_destroy(void *aggregate)
{
    struct groups *groups = aggregate;
    if (!groups)
        return;
    if (groups->ranked != groups->table)
        table_destroy(groups->ranked);
    table_destroy(groups->table);
    dictionary_order_destroy(&groups->order);
    if (groups->accumulators != groups->layout)
        free(groups->accumulators);
    free(groups->layout);
    free(groups->buffer);
    free(groups->starts);
    free(groups);
}

/* Creates an empty table for the rows. */
static enum status groups_create_table(const struct groups *groups, struct table **table,
                                       struct failure *failure)
{
    const struct plan *plan = groups->plan;
    const struct table_layout rows = {
        .key_words = groups->layout->count,
        .words = groups->layout->words,
        .has_zeros = plan->has_weights,
        .is_weighted = plan->has_weights,
        .merge = groups_have_value_keys(plan) ? NULL : accumulators_merge,
        .accumulate = groups_have_value_keys(plan) ? NULL : accumulators_add_values,
        .context = groups->layout,
        .initial = groups->layout->initial,
    };

    if (table_create(table, &rows, context_table_bytes(plan), plan->temporary_directory, failure) !=
        STATUS_OK)
        return failure->status;
    table_set_stage(*table, context_of(plan)->stage);
    return STATUS_OK;
}

void *groups_create(const struct plan *plan, struct failure *failure)
{
    struct groups *groups = calloc(1, sizeof *groups);
    const unsigned needs = plan->reductions.needs;

    if (!groups) {
        status_fail(failure, STATUS_DATA, "not enough memory for groups");
        return NULL;
    }
    groups->plan = plan;
    for (size_t i = 0; i < plan->group_count; i++) {
        const struct column *column = &plan->columns[plan_group_column(plan) + i];
        groups->words[i] = groups->value;
        groups->sign_biases[groups->value] = element_sign_bias(&column->element);
        groups->is_text[groups->value] = element_is_string(&column->element);
        groups->value += column_words(column);
    }
    if (groups_have_value_keys(plan)) {
        groups->layout =
            accumulators_create(plan, groups->value + column_words(&plan->columns[0]), 0);
        groups->accumulators = accumulators_create(plan, 0, needs);
    } else {
        groups->layout = groups->accumulators = accumulators_create(plan, groups->value, needs);
    }
    if (groups->layout)
        groups->buffer = calloc(groups->layout->words, sizeof *groups->buffer);
    if (!groups->accumulators || !groups->buffer) {
        groups_destroy(groups);
        status_fail(failure, STATUS_DATA, "not enough memory for groups");
        return NULL;
    }
    groups->sign_biases[groups->value] =
        groups_have_bins(plan) ? 0 : element_sign_bias(&plan->element);
    groups->is_text[groups->value] =
        groups_have_value_keys(plan) && element_is_string(&plan->element);
    groups->divisor = uniq_divisor_of(plan->bin_width > 0 ? plan->bin_width : 1);
    if (groups_create_table(groups, &groups->table, failure) != STATUS_OK) {
        groups_destroy(groups);
        return NULL;
    }
    groups->ranked = groups->table;
    return groups;
}

void groups_make_keys(const struct groups *groups, const uint64_t *const *columns,
                      const void *elements, size_t n, uint64_t *keys)
{
    const struct plan *plan = groups->plan;
    const struct binning *binning = &plan->binning;
    const struct element *element = &plan->element;
    const size_t words = groups->layout->count;
    const size_t last = groups->value;
    const uint64_t sign_bias = groups->sign_biases[last];

    for (size_t c = 0; c < plan->group_count; c++) {
        const size_t first = groups->words[c];
        const size_t own = column_words(&plan->columns[plan_group_column(plan) + c]);
        for (size_t w = 0; w < own; w++) {
            for (size_t i = 0; i < n; i++)
                keys[i * words + first + w] =
                    columns[c][i * own + w] ^ groups->sign_biases[first + w];
        }
    }
    if (words == last)
        return;
    if (element_is_wide(element)) {
        for (size_t i = 0; i < n; i++)
            memcpy(&keys[i * words + last], (const char *)elements + i * element->bytes,
                   element->bytes);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *value = (const char *)elements + i * element->bytes;
        keys[i * words + last] =
            element->swapped ? element_key(element, value) : element_load(element->type, value);
    }
    if (groups_have_bins(plan)) {
        for (size_t i = 0; i < n; i++) {
            uint64_t *bin = &keys[i * words + last];
            *bin = binning_index(binning, binning->form, *bin);
            if (plan->outside == OUTSIDE_CLAMP && *bin >= binning->bins)
                *bin = *bin == binning->bins ? 0 : binning->bins - 1;
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t *value = &keys[i * words + last];
        if (groups->divisor.width > 1)
            *value = sign_bias != 0 ? uniq_divide_signed(&groups->divisor, (int64_t)*value)
                                    : uniq_divide(&groups->divisor, *value);
        *value ^= sign_bias;
    }
}

/*
 * Returns the first row after the group of row `begin`, among `rows` rows. It looks farther and
 * farther ahead, and then between the last two places (exponential search; J. Bentley and A. Yao,
 * "An Almost Optimal Algorithm for Unbounded Searching", 1976).
 */
static uint64_t groups_find_end(const struct groups *groups, uint64_t begin, uint64_t rows)
{
    const size_t key_bytes = groups->value * sizeof(uint64_t);
    uint64_t key[TEXT_COLUMNS_MAX + 2];
    uint64_t buffer[TEXT_COLUMNS_MAX + 2];
    uint64_t inside = begin;
    uint64_t step = 1;

    memcpy(key, groups_row(groups, begin, buffer), key_bytes);
    while (step < rows - inside &&
           memcmp(groups_row(groups, inside + step, buffer), key, key_bytes) == 0) {
        inside += step;
        step *= 2;
    }
    uint64_t end = step < rows - inside ? inside + step : rows;
    while (end - inside > 1) {
        const uint64_t middle = inside + (end - inside) / 2;
        if (memcmp(groups_row(groups, middle, buffer), key, key_bytes) == 0)
            inside = middle;
        else
            end = middle;
    }
    return end;
}

/* Finds the first row of each group. */
static enum status groups_find_starts(struct groups *groups, struct failure *failure)
{
    const uint64_t rows = table_distinct(groups->ranked);
    uint64_t capacity = 0;

    free(groups->starts);
    groups->starts = NULL;
    groups->count = 0;
    for (uint64_t row = 0; row < rows; row = groups_find_end(groups, row, rows)) {
        if (groups->count + 1 >= capacity) {
            capacity = capacity > 0 ? 2 * capacity : GROUPS_BATCH;
            const bool has_memory = resources_have_memory(capacity / 2 * sizeof *groups->starts);
            uint64_t *grown = has_memory ? realloc(groups->starts, capacity * sizeof *grown) : NULL;
            if (!grown)
                return status_fail(failure, STATUS_DATA, "not enough memory for %llu groups",
                                   (unsigned long long)groups->count);
            groups->starts = grown;
        }
        groups->starts[groups->count++] = row;
    }
    if (groups->count > 0)
        groups->starts[groups->count] = rows;
    return table_check(groups->ranked, failure);
}

/* The threads that make the table of ranks. */
struct groups_ranking {
    const struct groups *groups;
    struct table *ranked;
    uint64_t set;         /* the set of `ranked`: ranks are distinct, like the numbers of strings */
    size_t parts;         /* number of parts of the finalized table */
    pthread_mutex_t lock; /* guards *failure, the first failure */
    struct failure *failure;
};

static void groups_rank_part(void *context, size_t part)
{
    struct groups_ranking *ranking = context;
    const struct groups *groups = ranking->groups;
    const size_t words = groups->layout->words;
    struct table_position position = table_begin_part(groups->table, part, ranking->parts);
    struct table_writer *writer = NULL;
    uint64_t *batch = malloc(GROUPS_BATCH * words * sizeof *batch);
    struct failure failure = {.status = STATUS_OK};
    size_t n;

    if (!batch)
        status_fail(&failure, STATUS_DATA, "not enough memory for sorting strings");
    else
        table_writer_open(ranking->ranked, &writer, &failure);
    while (failure.status == STATUS_OK &&
           (n = table_read(groups->table, &position, batch, GROUPS_BATCH)) > 0) {
        for (size_t k = 0; k < groups->layout->count; k++) {
            for (size_t i = k; groups->is_text[k] && i < n * words; i += words)
                batch[i] = groups->order.ranks[batch[i]];
        }
        table_writer_add_distinct(writer, ranking->set, batch, n, &failure);
    }
    if (failure.status == STATUS_OK)
        table_writer_flush(writer, &failure);
    table_writer_close(writer);
    free(batch);
    if (failure.status != STATUS_OK) {
        pthread_mutex_lock(&ranking->lock);
        if (ranking->failure->status == STATUS_OK)
            *ranking->failure = failure;
        pthread_mutex_unlock(&ranking->lock);
    }
}

/*
 * Puts the finalized table, in which strings have their numbers, in the order of their ranks. If
 * that takes too much memory, it makes a table of ranks, which may spill to disk.
 */
static enum status groups_rank(struct groups *groups, struct failure *failure)
{
    const unsigned threads = parallel_threads(table_threads(groups->table),
                                              table_distinct(groups->table), GROUPS_RANK_ROWS_MIN);
    struct groups_ranking ranking = {.groups = groups, .parts = threads, .failure = failure};

    if (groups->ranked != groups->table)
        table_destroy(groups->ranked);
    groups->ranked = groups->table;
    dictionary_order_destroy(&groups->order);
    if (!dictionary_order_create(groups->plan->context->dictionary,
                                 resources_at_start()->processors, &groups->order))
        return status_fail(failure, STATUS_DATA, "not enough memory for sorting strings");
    const struct table_ranks ranks = {groups->order.ranks, groups->is_text};
    if (table_order_ranked(groups->table, &ranks))
        return STATUS_OK;
    if (groups_create_table(groups, &ranking.ranked, failure) != STATUS_OK)
        return failure->status;
    ranking.set = table_new_set(ranking.ranked);
    failure->status = STATUS_OK;
    pthread_mutex_init(&ranking.lock, NULL);
    parallel_run(threads, threads, groups_rank_part, &ranking);
    pthread_mutex_destroy(&ranking.lock);
    if (failure->status == STATUS_OK && table_check(groups->table, failure) == STATUS_OK &&
        table_finalize(ranking.ranked, TABLE_ASCENDING, failure) == STATUS_OK)
        groups->ranked = ranking.ranked;
    else
        table_destroy(ranking.ranked);
    return failure->status;
}

enum status groups_finalize(void *aggregate, const struct plan *plan, uint64_t elements,
                            struct failure *failure)
{
    struct groups *groups = aggregate;

    const bool has_strings = plan_has_strings(plan); /* strings are sorted by their ranks */

    if (table_finalize(groups->table, has_strings ? TABLE_ANY_ORDER : TABLE_ASCENDING, failure) !=
            STATUS_OK ||
        store_check_elements(elements, table_total(groups->table), failure) != STATUS_OK)
        return failure->status;
    if (has_strings && groups_rank(groups, failure) != STATUS_OK)
        return failure->status;
    groups->count = table_distinct(groups->ranked);
    return groups_have_value_keys(plan) ? groups_find_starts(groups, failure) : STATUS_OK;
}

enum status groups_check(const struct groups *groups, struct failure *failure)
{
    return table_check(groups->ranked, failure);
}

/* Returns the number of the bin or value of a counted row. */
static __int128 groups_bin(const struct groups *groups, const uint64_t *row)
{
    const size_t last = groups->value;
    const uint64_t sign_bias = groups->sign_biases[last];
    const uint64_t bin = row[last] ^ sign_bias;

    if (element_is_wide(&groups->plan->element))
        return element_address((struct kind_ip){row[last], row[last + 1]});
    return sign_bias != 0 ? (__int128)(int64_t)bin : (__int128)bin;
}

bool groups_has_bin(const struct groups *groups, const uint64_t *row)
{
    const struct plan *plan = groups->plan;
    const __int128 bin = groups_bin(groups, row);

    if (groups_have_bins(plan))
        return bin < (__int128)plan->binning.bins + 2;
    if (element_is_wide(&plan->element))
        return true;
    return bin >= binning_floor(element_min(&plan->element), plan->bin_width) &&
           bin <= binning_floor(element_limit(&plan->element) - 1, plan->bin_width);
}

static struct rows_row groups_make_row(const struct rows *rows, __int128 bin, uint64_t count)
{
    const struct plan *plan = rows->plan;
    const __int128 width = plan->bin_width;

    if (element_is_wide(&plan->element)) /* the largest value has no successor */
        return (struct rows_row){bin, bin, count};
    if (!groups_have_bins(plan))
        return (struct rows_row){bin * width, (bin + 1) * width, count};
    return (struct rows_row){binning_edge(&plan->binning, (uint64_t)bin),
                             binning_edge(&plan->binning, (uint64_t)bin + 1), count};
}

/* next[0] and next[1]: the next row of the table, and the end of the group's rows. */
static size_t groups_rows_read(struct rows *rows, struct rows_row *out, size_t capacity)
{
    const struct groups *groups = rows->aggregate;
    uint64_t batch[GROUPS_BATCH * (TEXT_COLUMNS_MAX + 2)];
    size_t some = 1;
    size_t n = 0;

    while (n < capacity && some > 0) {
        const uint64_t left = rows->next[1] - rows->next[0];
        some = left < GROUPS_BATCH ? (size_t)left : GROUPS_BATCH;
        some = some < capacity - n ? some : capacity - n;
        struct table_position position = table_seek(groups->ranked, rows->next[0]);
        some = some > 0 ? table_read(groups->ranked, &position, batch, some) : 0;
        for (size_t i = 0; i < some; i++) {
            const uint64_t *row = batch + i * groups->layout->words;
            const uint64_t count = row[groups->layout->count];
            if (count > 0 || plan_keeps_zeros(groups->plan))
                out[n++] = groups_make_row(rows, groups_bin(groups, row), count);
        }
        rows->next[0] += some;
    }
    return n;
}

void groups_rows_begin(struct rows *rows, const struct groups *groups, uint64_t i, bool zeros)
{
    const struct plan *plan = groups->plan;
    const bool has_bins = groups_have_bins(plan);
    const uint64_t bins = plan->binning.bins;
    uint64_t buffer[TEXT_COLUMNS_MAX + 2];
    const bool keeps_zeros = plan_keeps_zeros(plan);
    uint64_t begin = i < groups->count ? groups->starts[i] : 0;
    uint64_t end = begin;

    *rows = (struct rows){
        .plan = plan,
        .aggregate = groups,
        .groups = element_is_string(&plan->element) ? groups : NULL,
        .zeros = zeros,
        .is_unit = groups_are_unit(plan),
        .is_sparse = true,
        .read = groups_rows_read,
    };
    /* Empty rows at both ends are left out; the values outside the bins are in the last rows. */
    for (uint64_t k = begin; i < groups->count && k < groups->starts[i + 1]; k++) {
        const uint64_t *row = groups_row(groups, k, buffer);
        const uint64_t count = row[groups->layout->count];
        const __int128 bin = groups_bin(groups, row);
        if (has_bins && bin >= (__int128)bins) {
            if (plan->outside != OUTSIDE_IGNORE)
                *(bin == (__int128)bins ? &rows->below : &rows->above) += count;
        } else if (count > 0 || keeps_zeros) {
            rows->inside += count;
            end = k + 1;
        } else if (end == begin) {
            begin = end = k + 1;
        }
    }
    rows->next[0] = begin;
    rows->next[1] = end;
    if (!zeros || (end == begin && !has_bins))
        return;
    __int128 first = 0;
    __int128 last = (__int128)bins - 1;
    if (!has_bins || binning_is_of_powers(&plan->binning)) { /* the bins between used ones */
        first = end > begin ? groups_bin(groups, groups_row(groups, begin, buffer)) : 0;
        last = end > begin ? groups_bin(groups, groups_row(groups, end - 1, buffer)) : -1;
    }
    rows_fill(rows, first, last, groups_make_row);
}
