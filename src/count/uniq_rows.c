/*
 * The rows of uniq. In ascending order they have places: the entries of the table below the window,
 * the bins of the window, which may be empty, and the entries above it. In any order the window
 * comes first.
 */
#include "config.h"

#include "count/uniq.h"
#include "partial/rows.h"

#include <string.h>

#define UNIQ_ROWS_BATCH 256

static struct rows_row uniq_row(const struct rows *rows, __int128 bin, uint64_t count)
{
    const __int128 width = rows->job->bin_width;
    return (struct rows_row){.low = bin * width, .high = (bin + 1) * width, .count = count};
}

/* The number of the window's bins. */
static uint64_t uniq_window_bins(const struct uniq *uniq)
{
    const struct growing_window *window = uniq_window(uniq);
    return window ? window->bins : 0;
}

/* The places of all rows. */
static uint64_t uniq_places(const struct uniq *uniq)
{
    return table_distinct(uniq->table) + uniq_window_bins(uniq);
}

/* Reads rows of the table from a position on, and advances it. */
static size_t uniq_rows_read_table(const struct rows *rows, struct table_position *position,
                                   struct rows_row *out, size_t room)
{
    const struct uniq *uniq = rows->partial;
    struct table_entry entries[UNIQ_ROWS_BATCH];
    size_t n =
        table_read(uniq->table, position, entries, room < UNIQ_ROWS_BATCH ? room : UNIQ_ROWS_BATCH);

    for (size_t i = 0; i < n; i++)
        out[i] = uniq_row(rows, uniq_bin(uniq, entries[i].key), entries[i].count);
    return n;
}

/* Reads rows of the window's bins *bin..end, and advances *bin. */
static size_t uniq_rows_read_window(const struct rows *rows, uint64_t *bin, uint64_t end,
                                    struct rows_row *out, size_t room)
{
    const struct growing_window *window = uniq_window(rows->partial);
    size_t n = 0;

    while (n < room && *bin < end) {
        *bin = histogram_skip_empty(window->histogram, (size_t)*bin, (size_t)end);
        if (*bin == end)
            break;
        out[n++] = uniq_row(rows, window->first + *bin, growing_window_count(window, *bin));
        ++*bin;
    }
    return n;
}

/*
 * In any order: next[0..4) is a position in the table; next[4] is the next bin of the window, and
 * next[5] the one behind the last.
 */
static size_t uniq_rows_read_any(struct rows *rows, struct rows_row *out, size_t room)
{
    struct table_position position;
    size_t n = uniq_rows_read_window(rows, &rows->next[4], rows->next[5], out, room);

    if (n == 0) {
        memcpy(position.next, rows->next, sizeof position.next);
        n = uniq_rows_read_table(rows, &position, out, room);
        memcpy(rows->next, position.next, sizeof position.next);
    }
    return n;
}

/* In ascending order: next[0] is the place, and next[2] places at the end belong to other parts. */
static size_t uniq_rows_read_used(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct uniq *uniq = rows->partial;
    const uint64_t bins = uniq_window_bins(uniq);
    const uint64_t end = uniq_places(uniq) - rows->next[2];
    size_t n = 0;

    while (n == 0 && rows->next[0] < end) {
        const bool is_below = rows->next[0] < uniq->below;
        const uint64_t bins_end = uniq->below + bins < end ? uniq->below + bins : end;
        if (!is_below && rows->next[0] < bins_end) {
            uint64_t bin = rows->next[0] - uniq->below;
            n = uniq_rows_read_window(rows, &bin, bins_end - uniq->below, out, room);
            rows->next[0] = uniq->below + bin;
            continue;
        }
        const uint64_t skipped = is_below ? 0 : bins;
        const uint64_t stop = is_below && uniq->below < end ? uniq->below : end;
        const uint64_t left = stop - rows->next[0];
        struct table_position position = table_seek(uniq->table, rows->next[0] - skipped);
        n = uniq_rows_read_table(rows, &position, out, left < room ? (size_t)left : room);
        if (n == 0)
            break; /* a run could not be read */
        rows->next[0] += n;
    }
    return n;
}

/* With empty bins: next[0] is the place, next[1] the number of bins read. */
static size_t uniq_rows_read_zeros(struct rows *rows, struct rows_row *out, size_t room)
{
    const __int128 first = ((const struct uniq *)rows->partial)->first;
    size_t n = 0;

    while (n < room) {
        struct rows behind = *rows;
        struct rows_row used;
        if (uniq_rows_read_used(&behind, &used, 1) == 0)
            break;
        for (; n < room && rows->next[0] != behind.next[0]; rows->next[1]++) {
            const __int128 bin = first + rows->next[1];
            bool is_used = bin * rows->job->bin_width == used.low;
            out[n++] = uniq_row(rows, bin, is_used ? used.count : 0);
            if (is_used)
                rows->next[0] = behind.next[0];
        }
    }
    return n;
}

static size_t uniq_rows_read(struct rows *rows, struct rows_row *out, size_t room)
{
    if (rows->job->any_order)
        return uniq_rows_read_any(rows, out, room);
    return rows->zeros ? uniq_rows_read_zeros(rows, out, room)
                       : uniq_rows_read_used(rows, out, room);
}

static uint64_t uniq_rows_most(const struct rows *rows)
{
    return uniq_places(rows->partial);
}

static void uniq_rows_narrow_any(struct rows *rows, uint64_t part, uint64_t parts)
{
    const struct uniq *uniq = rows->partial;
    const unsigned __int128 bins = uniq_window_bins(uniq);
    const struct table_position position = table_begin_part(uniq->table, part, parts);

    memcpy(rows->next, position.next, sizeof position.next);
    rows->next[4] = (uint64_t)(bins * part / parts);
    rows->next[5] = (uint64_t)(bins * (part + 1) / parts);
}

static void uniq_rows_narrow(struct rows *rows, uint64_t part, uint64_t parts)
{
    const uint64_t places = uniq_rows_most(rows);
    const unsigned __int128 all = places;

    if (rows->job->any_order) {
        uniq_rows_narrow_any(rows, part, parts);
        return;
    }
    rows->next[0] = (uint64_t)(all * part / parts);
    rows->next[2] = places - (uint64_t)(all * (part + 1) / parts);
}

void uniq_rows_begin(struct rows *rows, const struct job *job, const struct uniq *uniq, bool zeros)
{
    *rows = (struct rows){
        .job = job,
        .partial = uniq,
        .zeros = zeros,
        .is_unit = job->bin_width == 1,
        .inside = uniq->elements,
        .is_sparse = true,
        .read = uniq_rows_read,
    };
    if (job->any_order)
        uniq_rows_narrow_any(rows, 0, 1);
    if (zeros)
        return;
    rows->narrow = uniq_rows_narrow;
    rows->most = uniq_rows_most;
}
