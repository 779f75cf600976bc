/*
 * Format raw: the count of each bin as an unsigned 64-bit little-endian integer; if rows are
 * sparse, a record for each: its lower edge and its count, 64 bits each. Format npy: like raw, but
 * after the header of a NumPy file, version 1.0 (numpy.lib.format). In npy, automatic bins, which
 * only the values determine, are records.
 */
#include "config.h"

#include "lib/writer.h"
#include "result/print_rows.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

/* Maximum length of a field name in a header. */
#define PRINT_NPY_NAME_MAX 64

static void print_raw_bins(struct writer *writer, const struct print_input *input)
{
    uint64_t counts[ROWS_BATCH];
    struct rows rows = input->rows;
    size_t n;

    while ((n = rows_read_counts(&rows, counts, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            counts[i] = htole64(counts[i]);
        writer_write(writer, counts, n * sizeof *counts);
    }
}

static void print_raw_records(struct writer *writer, const struct print_input *input)
{
    const __int128 type_min = element_min(&input->rows.plan->element);
    struct rows_row batch[ROWS_BATCH];
    uint64_t records[2 * ROWS_BATCH];
    struct rows rows = input->rows;
    size_t n;

    while ((n = rows_read(&rows, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) { /* the first bin may begin below the type's values */
            const __int128 low = batch[i].low < type_min ? type_min : batch[i].low;
            records[2 * i] = htole64((uint64_t)low);
            records[2 * i + 1] = htole64(batch[i].count);
        }
        writer_write(writer, records, 2 * n * sizeof *records);
    }
}

static void print_raw_data(struct writer *writer, const struct print_input *input, bool is_records)
{
    print_rows_in_parts(writer, input, is_records ? print_raw_records : print_raw_bins);
}

static void print_raw_rows(struct writer *writer, const struct print_input *input)
{
    struct print_input all = *input;

    if (!all.rows.is_sparse) /* a reader must know the first bin */
        all.rows.zeros = all.rows.all = true;
    print_raw_data(writer, &all, all.rows.is_sparse);
}

/* Reads the rows twice, even from disk, because the header has their number. */
static void print_npy_rows(struct writer *writer, const struct print_input *input)
{
    const struct element *element = &input->rows.plan->element;
    const bool is_records = input->rows.is_sparse || input->rows.plan->is_automatic;
    struct print_input all = *input;
    struct rows_row batch[ROWS_BATCH];
    uint64_t counts[ROWS_BATCH];
    const struct print_column sums = print_sums_column(input->rows.plan);
    char name[PRINT_NPY_NAME_MAX + 2]; /* a name that needs no escapes in the header */
    char header[192 + PRINT_NPY_NAME_MAX];
    char descr[80 + PRINT_NPY_NAME_MAX] = "'<u8'";
    uint64_t count = 0;
    size_t n;

    snprintf(name, sizeof name, "%s%s", sums.words[0], sums.words[1]);
    for (size_t i = 0; i == 0 || name[i]; i++) {
        if (name[i] < ' ' || name[i] > '~' || strchr("'\\", name[i]) || i == PRINT_NPY_NAME_MAX)
            strcpy(name, "weight");
    }
    if (!is_records)
        all.rows.zeros = all.rows.all = true;
    struct rows rows = all.rows;
    while ((n = is_records ? rows_read(&rows, batch, ROWS_BATCH)
                           : rows_read_counts(&rows, counts, ROWS_BATCH)) > 0)
        count += n;
    if (is_records)
        snprintf(descr, sizeof descr, "[('%s', '<%c8'), ('%s', '<u8')]",
                 all.rows.is_unit ? "value" : "low", element->is_signed ? 'i' : 'u', name);
    const int length =
        snprintf(header, sizeof header,
                 "\x93NUMPY\1%c..{'descr': %s, 'fortran_order': False, 'shape': (%llu,), }", 0,
                 descr, (unsigned long long)count);
    /* The data begin at a multiple of 64 bytes, after a newline. */
    const size_t bytes = ((size_t)length + 64) / 64 * 64;
    memset(header + length, ' ', bytes - (size_t)length);
    header[bytes - 1] = '\n';
    header[8] = (char)(bytes - 10); /* little-endian, without the first ten bytes */
    header[9] = 0;
    writer_write(writer, header, bytes);
    print_raw_data(writer, &all, is_records);
}

#define PRINT_RAW_REFUSED                                                             \
    (PRINT_EXTRA_TOP | PRINT_EXTRA_MIN_COUNT | PRINT_EXTRA_OTHER | PRINT_EXTRA_SORT | \
     PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_PERCENT | PRINT_EXTRA_QUANTILES)

const struct print_format print_raw = {
    .name = "raw",
    .refused = PRINT_RAW_REFUSED,
    .rows = print_raw_rows,
};

const struct print_format print_npy = {
    .name = "npy",
    .refused = PRINT_RAW_REFUSED,
    .rows = print_npy_rows,
};
