/* Implements uniq.h: the partial. */
#include "config.h"

#include "count/uniq.h"

#include "partial/store.h"

#include <stdlib.h>

void *uniq_create(const struct job *job, struct failure *failure)
{
    struct uniq *uniq = calloc(1, sizeof *uniq);
    if (!uniq) {
        status_fail(failure, STATUS_DATA, "no memory for counts");
        return NULL;
    }
    uniq->job = job;
    uniq->divisor = uniq_divisor_of(job->bin_width);
    uniq->flip = element_flip(&job->element);
    const struct table_layout layout = {.key_words = 1,
                                        .words = 2,
                                        .has_zeros = job_keeps_zeros(job),
                                        .is_weighted = job->has_weights};
    if (table_create(&uniq->table, &layout, context_table_bytes(job), job->temporary_directory,
                     failure) != STATUS_OK) {
        free(uniq);
        return NULL;
    }
    table_set_stage(uniq->table, context_of(job)->stage);
    pthread_mutex_init(&uniq->windows.lock, NULL);
    return uniq;
}

void uniq_destroy(void *partial)
{
    struct uniq *uniq = partial;

    if (!uniq)
        return;
    growing_windows_destroy(&uniq->windows);
    table_destroy(uniq->table);
    free(uniq);
}

struct store_size uniq_size(const void *partial)
{
    const struct uniq *uniq = partial;
    const struct growing_window *window = uniq_window(uniq);

    return (struct store_size){
        .counters = window ? window->bins : 0,
        .rows = table_rows_about(uniq->table),
    };
}

void uniq_make_keys(const struct uniq *uniq, uint64_t *words, size_t n)
{
    const struct uniq_divisor *divisor = &uniq->divisor;
    const uint64_t flip = uniq->flip;

    for (size_t i = 0; i < n && divisor->width == 1 && flip != 0; i++)
        words[i] ^= flip;
    for (size_t i = 0; i < n && divisor->width > 1 && flip != 0; i++)
        words[i] = uniq_divide_signed(divisor, (int64_t)words[i]) ^ flip;
    for (size_t i = 0; i < n && divisor->width > 1 && flip == 0; i++)
        words[i] = uniq_divide(divisor, words[i]);
}

/* The key of an entry of the ascending table; 0 if it cannot be read (table_check). */
static uint64_t uniq_key_at(const struct uniq *uniq, uint64_t index)
{
    uint64_t row[2];
    return table_row(uniq->table, index, row)[0];
}

/* Finds the entries below the window, and the bins of the first and of the last row. */
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

enum status uniq_finalize(void *partial, const struct job *job, uint64_t elements,
                          struct failure *failure)
{
    const enum table_order order = job->any_order ? TABLE_ANY_ORDER : TABLE_ASCENDING;
    struct uniq *uniq = partial;

    uniq->elements = elements;
    if (uniq_window(uniq) && uniq_join_windows(uniq, failure) != STATUS_OK)
        return failure->status;
    if (table_finalize(uniq->table, order, failure) != STATUS_OK)
        return failure->status;
    if (!job->any_order)
        uniq_find_ends(uniq);
    return store_check_elements(elements,
                                table_total(uniq->table) + growing_windows_total(&uniq->windows),
                                failure);
}
