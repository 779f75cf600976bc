/*
 * Format raw: the count of each bin as an unsigned 64-bit little-endian integer. Of rows that are
 * sparse, each has a record: its lower limit and its count, 64 bits each.
 */
#include "config.h"

#include "output/writer.h"
#include "print/print_rows.h"

/* Puts a number in little-endian order. */
static uint64_t print_raw_order(uint64_t number)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(number);
#else
    return number;
#endif
}

/* Reads the counts of up to PRINT_ROWS_BATCH rows. Returns how many. */
static size_t print_raw_read(struct rows *rows, uint64_t *counts)
{
    struct rows_row batch[PRINT_ROWS_BATCH];

    if (rows->read_counts)
        return rows->read_counts(rows, counts, PRINT_ROWS_BATCH);
    size_t n = rows_read(rows, batch, PRINT_ROWS_BATCH);
    for (size_t i = 0; i < n; i++)
        counts[i] = batch[i].count;
    return n;
}

static void print_raw_bins(struct writer *writer, const struct print_table *table)
{
    uint64_t counts[PRINT_ROWS_BATCH];
    struct rows rows = table->rows;
    size_t n;

    while ((n = print_raw_read(&rows, counts)) > 0) {
        for (size_t i = 0; i < n; i++)
            counts[i] = print_raw_order(counts[i]);
        writer_write(writer, counts, n * sizeof *counts);
    }
}

static void print_raw_records(struct writer *writer, const struct print_table *table)
{
    const __int128 least = element_min(&table->rows.job->element);
    struct rows_row batch[PRINT_ROWS_BATCH];
    uint64_t records[2 * PRINT_ROWS_BATCH];
    struct rows rows = table->rows;
    size_t n;

    while ((n = rows_read(&rows, batch, PRINT_ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) { /* the first bin may begin below the type's values */
            const __int128 low = batch[i].low < least ? least : batch[i].low;
            records[2 * i] = print_raw_order((uint64_t)low);
            records[2 * i + 1] = print_raw_order(batch[i].count);
        }
        writer_write(writer, records, 2 * n * sizeof *records);
    }
}

static enum status print_raw_rows(struct writer *writer, const struct print_table *table,
                                  struct failure *failure)
{
    struct print_table all = *table;

    (void)failure;
    if (all.rows.is_sparse) {
        print_rows_in_parts(writer, &all, 2 * sizeof(uint64_t), print_raw_records);
        return STATUS_OK;
    }
    all.rows.zeros = all.rows.all = true; /* a reader must know which bin comes first */
    print_rows_in_parts(writer, &all, sizeof(uint64_t), print_raw_bins);
    return STATUS_OK;
}

const struct print_format print_raw = {
    .name = "raw",
    .has_zeros = true,
    .refused = PRINT_EXTRA_TOP | PRINT_EXTRA_MIN_COUNT | PRINT_EXTRA_OTHER | PRINT_EXTRA_SORT |
               PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_PERCENT | PRINT_EXTRA_QUANTILES,
    .rows = print_raw_rows,
};
