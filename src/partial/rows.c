/* Implements rows.h: reading rows of any kind. */
#include "config.h"

#include "partial/rows.h"

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
