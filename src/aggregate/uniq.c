/* Implements uniq.h: the aggregate. */
#include "config.h"

#include "aggregate/uniq.h"

#include "aggregate/store.h"

#include <stdlib.h>

void *uniq_create(const struct plan *plan, struct failure *failure)
{
    struct uniq *uniq = calloc(1, sizeof *uniq);
    if (!uniq) {
        status_fail(failure, STATUS_DATA, "not enough memory for counts");
        return NULL;
    }
    uniq->plan = plan;
    uniq->divisor = uniq_divisor_of(plan->bin_width);
    uniq->sign_bias = element_sign_bias(&plan->element);
    const struct table_layout layout = {.key_words = 1,
                                        .words = 2,
                                        .has_zeros = plan_keeps_zeros(plan),
                                        .is_weighted = plan->has_weights};
    if (table_create(&uniq->table, &layout, context_table_bytes(plan), plan->temporary_directory,
                     failure) != STATUS_OK) {
        free(uniq);
        return NULL;
    }
    table_set_stage(uniq->table, context_of(plan)->stage);
    pthread_mutex_init(&uniq->windows.lock, NULL);
    return uniq;
}

void uniq_destroy(void *aggregate)
{
    struct uniq *uniq = aggregate;

    if (!uniq)
        return;
    growing_windows_destroy(&uniq->windows);
    table_destroy(uniq->table);
    free(uniq);
}

struct store_size uniq_size(const void *aggregate)
{
    const struct uniq *uniq = aggregate;
    const struct growing_window *window = uniq_window(uniq);

    return (struct store_size){
        .counters = window ? window->bins : 0,
        .rows = table_rows_about(uniq->table),
    };
}

void uniq_make_keys(const struct uniq *uniq, uint64_t *words, size_t n)
{
    const struct uniq_divisor *divisor = &uniq->divisor;
    const uint64_t sign_bias = uniq->sign_bias;

    for (size_t i = 0; i < n && divisor->width == 1 && sign_bias != 0; i++)
        words[i] ^= sign_bias;
    for (size_t i = 0; i < n && divisor->width > 1 && sign_bias != 0; i++)
        words[i] = uniq_divide_signed(divisor, (int64_t)words[i]) ^ sign_bias;
    for (size_t i = 0; i < n && divisor->width > 1 && sign_bias == 0; i++)
        words[i] = uniq_divide(divisor, words[i]);
}

/* Returns the key of an entry of the ascending table; 0 if it cannot be read (table_check). */
static uint64_t uniq_key_at(const struct uniq *uniq, uint64_t index)
{
    uint64_t row[2];
    return table_row(uniq->table, index, row)[0];
}

/* Finds the number of entries below the window, and the bins of the first and last row. */
static void uniq_find_ends(struct uniq *uniq)
{
    const struct growing_window *window = uniq_window(uniq);
    const uint64_t distinct = table_distinct(uniq->table);
    const uint64_t begin = window ? uniq_window_first(uniq, window) : 0;
    uint64_t high = window ? distinct : 0;

    uniq->below = 0;
    while (uniq->below < high) { /* finds the first entry that is not below the window */
        const uint64_t middle = uniq->below + (high - uniq->below) / 2;
        if (uniq_key_at(uniq, middle) < begin)
            uniq->below = middle + 1;
        else
            high = middle;
    }
    uniq->first = 0;
    uniq->last = -1;
    const bool has_window = window && growing_window_find_ends(window, &uniq->first, &uniq->last);
    if (distinct == 0)
        return;
    const __int128 first = uniq_bin(uniq, uniq_key_at(uniq, 0));
    const __int128 last = uniq_bin(uniq, uniq_key_at(uniq, distinct - 1));
    uniq->first = has_window && uniq->first < first ? uniq->first : first;
    uniq->last = has_window && uniq->last > last ? uniq->last : last;
}

enum status uniq_finalize(void *aggregate, const struct plan *plan, uint64_t elements,
                          struct failure *failure)
{
    const enum table_order order = plan->any_order ? TABLE_ANY_ORDER : TABLE_ASCENDING;
    struct uniq *uniq = aggregate;

    uniq->elements = elements;
    if (uniq_window(uniq) && uniq_join_windows(uniq, failure) != STATUS_OK)
        return failure->status;
    if (table_finalize(uniq->table, order, failure) != STATUS_OK)
        return failure->status;
    if (!plan->any_order)
        uniq_find_ends(uniq);
    return store_check_elements(elements,
                                table_total(uniq->table) + growing_windows_total(&uniq->windows),
                                failure);
}
