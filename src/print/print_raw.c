/* Format raw: the count of each bin as an unsigned 64-bit little-endian integer. */
#include "config.h"

#include "base/writer.h"
#include "print/print_rows.h"

/* Reads the counts of up to PRINT_ROWS_BATCH rows. Returns how many. */
static size_t print_raw_read(struct rows *rows, uint64_t *counts)
{
    struct rows_row batch[PRINT_ROWS_BATCH];

    if (rows->read_counts)
        return rows->read_counts(rows, counts, PRINT_ROWS_BATCH);
    size_t n = rows->read(rows, batch, PRINT_ROWS_BATCH);
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
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        for (size_t i = 0; i < n; i++)
            counts[i] = __builtin_bswap64(counts[i]);
#endif
        writer_write(writer, counts, n * sizeof *counts);
    }
}

static enum status print_raw_rows(struct writer *writer, const struct print_table *table,
                                  struct failure *failure)
{
    struct print_table all = *table;

    (void)failure;
    all.rows.zeros = all.rows.all = true; /* a reader must know which bin comes first */
    print_rows_in_parts(writer, &all, sizeof(uint64_t), print_raw_bins);
    return STATUS_OK;
}

const struct print_format print_raw = {
    .name = "raw",
    .has_zeros = true,
    .refused = PRINT_EXTRA_TOP | PRINT_EXTRA_SORT | PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_PERCENT |
               PRINT_EXTRA_QUANTILES,
    .rows = print_raw_rows,
};
