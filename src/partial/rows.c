/* Implements rows.h: reading rows of any kind. */
#include "config.h"

#include "partial/rows.h"

size_t rows_read(struct rows *rows, struct rows_row *out, size_t room)
{
    size_t kept = 0;
    size_t n;

    if (rows->least == 0)
        return rows->read(rows, out, room);
    while (kept == 0 && (n = rows->read(rows, out, room)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (out[i].count >= rows->least)
                out[kept++] = out[i];
        }
    }
    return kept;
}
