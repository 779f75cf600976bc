/* The rows of uniq: the entries of its table, and empty bins between them if they are asked for. */
#include "config.h"

#include "operations/rows.h"
#include "operations/uniq.h"

#define UNIQ_ROWS_BATCH 256

static struct rows_row uniq_row(const struct rows *rows, __int128 bin, uint64_t count)
{
    const __int128 width = rows->job->bin_width;
    return (struct rows_row){.low = bin * width, .high = (bin + 1) * width, .count = count};
}

/* The bins of the first and of the last entry. Returns false if there is none. */
static bool uniq_ends(const struct uniq *uniq, __int128 *first, __int128 *last)
{
    const uint64_t distinct = table_distinct(uniq->table);
    struct table_entry entries[2];

    if (distinct == 0)
        return false;
    struct table_position begin = table_seek(uniq->table, 0);
    struct table_position end = table_seek(uniq->table, distinct - 1);
    if (table_read(uniq->table, &begin, &entries[0], 1) == 0 ||
        table_read(uniq->table, &end, &entries[1], 1) == 0)
        return false;
    *first = uniq_bin(uniq, entries[0].key);
    *last = uniq_bin(uniq, entries[1].key);
    return true;
}

unsigned __int128 uniq_span(const struct uniq *uniq)
{
    __int128 first;
    __int128 last;

    return uniq_ends(uniq, &first, &last) ? (unsigned __int128)(last - first + 1) : 0;
}

/*
 * With empty bins: next[0] is the number of the next entry, next[1] that of the next bin behind the
 * first one.
 */
static size_t uniq_rows_read_zeros(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct uniq *uniq = rows->partial;
    struct table_entry entries[UNIQ_ROWS_BATCH];
    struct table_position position = table_seek(uniq->table, rows->next[0]);
    __int128 first;
    __int128 last;
    size_t used = 0;
    size_t n = 0;

    if (!uniq_ends(uniq, &first, &last))
        return 0;
    const size_t held = table_read(uniq->table, &position, entries, UNIQ_ROWS_BATCH);
    for (__int128 bin = first + rows->next[1]; n < room && used < held; bin++) {
        bool has_count = bin == uniq_bin(uniq, entries[used].key);
        out[n++] = uniq_row(rows, bin, has_count ? entries[used].count : 0);
        used += has_count;
    }
    rows->next[0] += used;
    rows->next[1] += n;
    return n;
}

/* The position of a table is that of the rows. In parts, next[2] entries behind one are not its. */
static size_t uniq_rows_read_entries(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct uniq *uniq = rows->partial;
    struct table_entry entries[UNIQ_ROWS_BATCH];
    struct table_position position = {.next = {rows->next[0], rows->next[1], rows->next[2]}};
    size_t some = room < UNIQ_ROWS_BATCH ? room : UNIQ_ROWS_BATCH;

    if (!rows->job->any_order) {
        uint64_t left = table_distinct(uniq->table) - rows->next[2] - rows->next[0];
        position = table_seek(uniq->table, rows->next[0]);
        some = left < some ? (size_t)left : some;
    }
    const size_t n = table_read(uniq->table, &position, entries, some);
    for (size_t i = 0; i < n; i++)
        out[i] = uniq_row(rows, uniq_bin(uniq, entries[i].key), entries[i].count);
    for (size_t i = 0; i < (rows->job->any_order ? 3 : 1); i++)
        rows->next[i] = position.next[i];
    return n;
}

static size_t uniq_rows_read(struct rows *rows, struct rows_row *out, size_t room)
{
    return rows->zeros ? uniq_rows_read_zeros(rows, out, room)
                       : uniq_rows_read_entries(rows, out, room);
}

static uint64_t uniq_rows_most(const struct rows *rows)
{
    const struct uniq *uniq = rows->partial;
    return table_distinct(uniq->table);
}

static void uniq_rows_narrow(struct rows *rows, uint64_t part, uint64_t parts)
{
    const uint64_t distinct = uniq_rows_most(rows);
    const unsigned __int128 all = distinct;

    rows->next[0] = (uint64_t)(all * part / parts);
    rows->next[2] = distinct - (uint64_t)(all * (part + 1) / parts);
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
    if (zeros || job->any_order)
        return;
    rows->narrow = uniq_rows_narrow;
    rows->most = uniq_rows_most;
}
