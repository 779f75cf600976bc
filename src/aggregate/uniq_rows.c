/*
 * The rows of uniq. In ascending order, they are the entries of the table below the window, the
 * bins of the window, which may be empty, and the entries above it. In any order, the bins of the
 * window come first.
 *
 * next[0..4) is a position in the table, which ends with the part to read; next[4] is the next bin
 * of the window, and next[5] the end of its bins.
 */
#include "config.h"

#include "aggregate/rows.h"
#include "aggregate/uniq.h"

#include <string.h>

#define UNIQ_ROWS_BATCH 256

static struct rows_row uniq_row(const struct rows *rows, __int128 bin, uint64_t count)
{
    const __int128 width = rows->plan->bin_width;
    return (struct rows_row){.low = bin * width, .high = (bin + 1) * width, .count = count};
}

/* Returns the number of the window's bins. */
static uint64_t uniq_window_bins(const struct uniq *uniq)
{
    const struct growing_window *window = uniq_window(uniq);
    return window ? window->bins : 0;
}

static size_t uniq_rows_read(struct rows *rows, struct rows_row *out, size_t capacity)
{
    const struct uniq *uniq = rows->aggregate;
    const struct growing_window *window = uniq_window(uniq);
    struct table_position position;
    struct table_entry entries[UNIQ_ROWS_BATCH];
    uint64_t wanted = capacity < UNIQ_ROWS_BATCH ? capacity : UNIQ_ROWS_BATCH;
    size_t n = 0;

    if (rows->next[0] < uniq->below && rows->next[0] < rows->next[3]) {
        const uint64_t below = uniq->below - rows->next[0];
        wanted = below < wanted ? below : wanted;
    } else {
        while (n < capacity && rows->next[4] < rows->next[5]) {
            const size_t bin = histogram_skip_empty(window->histogram, (size_t)rows->next[4],
                                                    (size_t)rows->next[5]);
            if (bin < rows->next[5])
                out[n++] = uniq_row(rows, window->first + bin, growing_window_count(window, bin));
            rows->next[4] = bin + 1;
        }
        if (n > 0)
            return n;
    }
    memcpy(position.next, rows->next, sizeof position.next);
    n = table_read(uniq->table, &position, entries, wanted);
    memcpy(rows->next, position.next, sizeof position.next);
    for (size_t i = 0; i < n; i++)
        out[i] = uniq_row(rows, uniq_bin(uniq, entries[i].key), entries[i].count);
    return n;
}

/* Ascending order: stores the entry or bin of row `number`, and the next one of the other kind. */
static void uniq_rows_seek(const struct uniq *uniq, uint64_t number, uint64_t *entry, uint64_t *bin)
{
    const uint64_t bins = uniq_window_bins(uniq);
    const uint64_t above = number < uniq->below ? 0 : number - uniq->below;

    *bin = above < bins ? above : bins;
    *entry = number - *bin;
}

static void uniq_rows_narrow(struct rows *rows, uint64_t part, uint64_t parts)
{
    const struct uniq *uniq = rows->aggregate;
    const unsigned __int128 all = rows->rows_max;
    const unsigned __int128 bins = uniq_window_bins(uniq);

    if (rows->plan->any_order) {
        const struct table_position position = table_begin_part(uniq->table, part, parts);
        memcpy(rows->next, position.next, sizeof position.next);
        rows->next[4] = (uint64_t)(bins * part / parts);
        rows->next[5] = (uint64_t)(bins * (part + 1) / parts);
        return;
    }
    uniq_rows_seek(uniq, (uint64_t)(all * part / parts), &rows->next[0], &rows->next[4]);
    uniq_rows_seek(uniq, (uint64_t)(all * (part + 1) / parts), &rows->next[3], &rows->next[5]);
}

void uniq_rows_begin(struct rows *rows, const struct plan *plan, const struct uniq *uniq,
                     bool zeros)
{
    *rows = (struct rows){
        .plan = plan,
        .aggregate = uniq,
        .zeros = zeros,
        .is_unit = plan->bin_width == 1,
        .inside = uniq->elements,
        .is_sparse = true,
        .rows_max = table_distinct(uniq->table) + uniq_window_bins(uniq),
        .read = uniq_rows_read,
    };
    uniq_rows_narrow(rows, 0, 1);
    if (!zeros)
        rows->narrow = uniq_rows_narrow;
    else if (!plan->any_order)
        rows_fill(rows, uniq->first, uniq->last, uniq_row);
}
