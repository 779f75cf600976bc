/* Implements rows.h: reading rows of any kind. */
#include "config.h"

#include "aggregate/rows.h"

#include "aggregate/state.h"

size_t rows_read(struct rows *rows, struct rows_row *out, size_t capacity)
{
    size_t kept = 0;
    size_t n;

    if (rows->min_count == 0)
        return rows->read(rows, out, capacity);
    while (kept == 0 && (n = rows->read(rows, out, capacity)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (out[i].count >= rows->min_count)
                out[kept++] = out[i];
        }
    }
    return kept;
}

size_t rows_read_counts(struct rows *rows, uint64_t *counts, size_t capacity)
{
    struct rows_row batch[ROWS_BATCH];

    if (rows->read_counts)
        return rows->read_counts(rows, counts, capacity);
    const size_t n = rows_read(rows, batch, capacity < ROWS_BATCH ? capacity : ROWS_BATCH);
    for (size_t i = 0; i < n; i++)
        counts[i] = batch[i].count;
    return n;
}

/* Returns the number of the bin after that one: values have widths, too. */
static __int128 rows_next_bin(const struct plan *plan, __int128 bin)
{
    const struct column *values = &plan->columns[0];
    const bool is_value = plan->binning.bins == 0 && plan->bin_width == 1;

    return is_value ? kind_rows[values->element.kind].next(values, bin) : bin + 1;
}

static size_t rows_read_filled(struct rows *rows, struct rows_row *out, size_t capacity)
{
    struct rows_fill *fill = &rows->fill;
    size_t n = 0;

    for (; n < capacity; n++) {
        if (fill->first == fill->count) {
            fill->count = fill->read(rows, fill->ahead, ROWS_AHEAD);
            fill->first = 0;
        }
        const bool has_row = fill->first < fill->count;
        if (!has_row && fill->bin > fill->last)
            break;
        const struct rows_row empty = fill->make(rows, fill->bin, 0);
        const bool is_empty = !has_row || fill->ahead[fill->first].low > empty.low;
        out[n] = is_empty ? empty : fill->ahead[fill->first++];
        if (out[n].low == empty.low)
            fill->bin = rows_next_bin(rows->plan, fill->bin);
    }
    return n;
}

void rows_fill(struct rows *rows, __int128 first, __int128 last,
               struct rows_row (*make)(const struct rows *rows, __int128 bin, uint64_t count))
{
    rows->fill = (struct rows_fill){.bin = first, .last = last, .read = rows->read, .make = make};
    rows->read = rows_read_filled;
}

void rows_save(struct rows *rows, uint64_t width, struct state_writer *state)
{
    const __int128 lowest = binning_floor(element_min(&rows->plan->element), width);
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    while ((n = rows->read(rows, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (batch[i].count == 0)
                continue;
            state_write_row(state, (unsigned __int128)(binning_floor(batch[i].low, width) - lowest),
                            batch[i].count);
        }
    }
    state_write_rows_end(state);
}
