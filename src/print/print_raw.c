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

static void print_raw_bins(struct writer *writer, const struct print_table *table)
{
    struct rows_row batch[PRINT_ROWS_BATCH];
    uint64_t counts[PRINT_ROWS_BATCH];
    struct rows rows = table->rows;
    size_t n;

    do {
        n = rows.read_counts ? rows.read_counts(&rows, counts, PRINT_ROWS_BATCH)
                             : rows_read(&rows, batch, PRINT_ROWS_BATCH);
        for (size_t i = 0; i < n; i++)
            counts[i] = print_raw_order(rows.read_counts ? counts[i] : batch[i].count);
        writer_write(writer, counts, n * sizeof *counts);
    } while (n > 0);
}

static void print_raw_records(struct writer *writer, const struct print_table *table)
{
    const __int128 type_min = element_min(&table->rows.job->element);
    struct rows_row batch[PRINT_ROWS_BATCH];
    uint64_t records[2 * PRINT_ROWS_BATCH];
    struct rows rows = table->rows;
    size_t n;

    while ((n = rows_read(&rows, batch, PRINT_ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) { /* the first bin may begin below the type's values */
            const __int128 low = batch[i].low < type_min ? type_min : batch[i].low;
            records[2 * i] = print_raw_order((uint64_t)low);
            records[2 * i + 1] = print_raw_order(batch[i].count);
        }
        writer_write(writer, records, 2 * n * sizeof *records);
    }
}

static void print_raw_rows(struct writer *writer, const struct print_table *table)
{
    struct print_table all = *table;

    if (!all.rows.is_sparse) /* a reader must know which bin comes first */
        all.rows.zeros = all.rows.all = true;
    print_rows_in_parts(writer, &all, 2 * sizeof(uint64_t),
                        all.rows.is_sparse ? print_raw_records : print_raw_bins);
}

const struct print_format print_raw = {
    .name = "raw",
    .has_zeros = true,
    .refused = PRINT_EXTRA_TOP | PRINT_EXTRA_MIN_COUNT | PRINT_EXTRA_OTHER | PRINT_EXTRA_SORT |
               PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_PERCENT | PRINT_EXTRA_QUANTILES,
    .rows = print_raw_rows,
};
