/* How an open histogram is printed: as any other, "value TAB count" or "low TAB high TAB count". */
#include "config.h"

#include "decimal.h"
#include "open_histogram.h"
#include "print.h"
#include "rows.h"
#include "writer.h"

#define PRINT_OPEN_HISTOGRAM_ROWS 256

/* Two edges, a count, two tabs and a newline. */
#define PRINT_OPEN_HISTOGRAM_LINE_MAX (3 * DECIMAL_SIZE + 3)

static void print_open_histogram_row(struct writer *writer, const struct rows *rows,
                                     const struct rows_row *row)
{
    char *line = writer_reserve(writer, PRINT_OPEN_HISTOGRAM_LINE_MAX);
    char *c = line;

    c += decimal_write_signed(c, row->low);
    *c++ = '\t';
    if (!rows->is_unit) {
        c += decimal_write_signed(c, row->high);
        *c++ = '\t';
    }
    c += decimal_write(c, row->count);
    *c++ = '\n';
    writer_commit(writer, (size_t)(c - line));
}

static void print_open_histogram_result(struct writer *writer, const struct job *job,
                                        const void *partial, const struct print_options *options)
{
    struct rows_row found[PRINT_OPEN_HISTOGRAM_ROWS];
    struct rows rows;
    size_t n;

    open_histogram_rows_begin(&rows, job, partial, options->zeros);
    while ((n = rows.read(&rows, found, PRINT_OPEN_HISTOGRAM_ROWS)) > 0) {
        for (size_t i = 0; i < n; i++)
            print_open_histogram_row(writer, &rows, &found[i]);
    }
}

const struct print_operation print_open_histogram = {.result = print_open_histogram_result};
