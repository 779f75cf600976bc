/* Format raw: the count of every bin as an unsigned 64-bit integer, little endian. */
#include "config.h"

#include "print_rows.h"
#include "writer.h"

#include <string.h>

static enum status print_raw_rows(struct writer *writer, const struct print_table *table,
                                  struct failure *failure)
{
    struct rows_row batch[PRINT_ROWS_BATCH];
    struct rows rows = table->rows;
    size_t n;

    (void)failure;
    rows.zeros = true;
    while ((n = rows.read(&rows, batch, PRINT_ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            uint64_t count = batch[i].count;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            count = __builtin_bswap64(count);
#endif
            memcpy(writer_reserve(writer, sizeof count), &count, sizeof count);
            writer_commit(writer, sizeof count);
        }
    }
    return STATUS_OK;
}

const struct print_format print_raw = {
    .name = "raw",
    .has_zeros = true,
    .refused = PRINT_EXTRA_TOP | PRINT_EXTRA_SORT | PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_PERCENT |
               PRINT_EXTRA_QUANTILES,
    .rows = print_raw_rows,
};
