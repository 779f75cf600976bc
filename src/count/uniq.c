/* Implements uniq.h: the partial. */
#include "config.h"

#include "count/uniq.h"

#include "partial/operation.h"

#include <stdlib.h>

void *uniq_create(const struct job *job, struct failure *failure)
{
    struct uniq *made = calloc(1, sizeof *made);
    if (!made) {
        status_fail(failure, STATUS_DATA, "no memory for counts");
        return NULL;
    }
    made->job = job;
    made->divisor = uniq_divisor_of(job->bin_width);
    made->flip = element_flip(&job->element);
    if (table_create(&made->table, NULL, job->buffer_bytes, job->temporary_directory, failure) !=
        STATUS_OK) {
        free(made);
        return NULL;
    }
    pthread_mutex_init(&made->windows.lock, NULL);
    return made;
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

/* The number of the first entry of the ascending table whose key is not below `key`. */
static uint64_t uniq_count_below(const struct uniq *uniq, uint64_t key)
{
    uint64_t low = 0;
    uint64_t high = table_distinct(uniq->table);

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        struct table_position position = table_seek(uniq->table, middle);
        struct table_entry entry = {.key = 0};
        table_read(uniq->table, &position, &entry, 1);
        if (entry.key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds the bins of the first and of the last row, in ascending order. */
static void uniq_find_ends(struct uniq *uniq)
{
    const struct growing_window *window = uniq_window(uniq);
    const uint64_t distinct = table_distinct(uniq->table);
    struct table_position begin = table_seek(uniq->table, 0);
    struct table_position end = table_seek(uniq->table, distinct > 0 ? distinct - 1 : 0);
    struct table_entry entries[2];

    uniq->first = 0;
    uniq->last = -1;
    const bool has_window = window && growing_window_find_ends(window, &uniq->first, &uniq->last);
    if (distinct == 0 || table_read(uniq->table, &begin, &entries[0], 1) == 0 ||
        table_read(uniq->table, &end, &entries[1], 1) == 0)
        return;
    const __int128 low = uniq_bin(uniq, entries[0].key);
    const __int128 high = uniq_bin(uniq, entries[1].key);
    uniq->first = has_window && uniq->first < low ? uniq->first : low;
    uniq->last = has_window && uniq->last > high ? uniq->last : high;
}

unsigned __int128 uniq_span(const struct uniq *uniq)
{
    return (unsigned __int128)(uniq->last - uniq->first + 1);
}

enum status uniq_finish(void *partial, const struct job *job, uint64_t elements,
                        struct failure *failure)
{
    const enum table_order order = job->any_order ? TABLE_ANY_ORDER : TABLE_ASCENDING;
    struct uniq *uniq = partial;
    const struct growing_window *window = uniq_window(uniq);

    uniq->elements = elements;
    uniq->below = 0;
    if (window && (table_finalize(uniq->table, TABLE_ANY_ORDER, failure) != STATUS_OK ||
                   uniq_join_windows(uniq, failure) != STATUS_OK))
        return failure->status;
    if (table_finalize(uniq->table, order, failure) != STATUS_OK)
        return failure->status;
    if (!job->any_order) {
        if (window)
            uniq->below = uniq_count_below(uniq, (uint64_t)window->first ^ uniq->flip);
        uniq_find_ends(uniq);
    }
    return operation_check_elements(
        elements, table_total(uniq->table) + growing_windows_total(&uniq->windows), failure);
}

enum status uniq_check(const struct uniq *uniq, struct failure *failure)
{
    return table_check(uniq->table, failure);
}
