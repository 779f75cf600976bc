/* Prints many rows in parts, by several threads. */
#include "config.h"

#include "base/parallel.h"
#include "output/writer_parts.h"
#include "print/print_rows.h"

/*
 * Bins of a part. Its text is longer than the 64 KiB that a writer copies, and mostly fits in L2.
 */
#define PRINT_PARTS_BINS ((uint64_t)8 << 10)

/* The least bins for each thread. Starting a thread takes as long as printing a few thousand. */
#define PRINT_PARTS_THREAD_BINS ((uint64_t)64 << 10)

struct print_parts {
    const struct print_table *table;
    uint64_t count;
    void (*write)(struct writer *writer, const struct print_table *part);
};

static void print_parts_write(const void *context, size_t part, struct writer *writer)
{
    const struct print_parts *parts = context;
    struct print_table table = *parts->table;

    table.rows.narrow(&table.rows, part, parts->count);
    parts->write(writer, &table);
}

/* How many threads print; 1 if a row depends on those before it. */
static unsigned print_parts_threads(const struct print_table *table, uint64_t most)
{
    const struct print_options *options = table->options;

    return options->cumulative ? 1
                               : parallel_threads(options->threads, most, PRINT_PARTS_THREAD_BINS);
}

void print_rows_in_parts(struct writer *writer, const struct print_table *table, size_t row_bytes,
                         void (*write)(struct writer *writer, const struct print_table *part))
{
    uint64_t most = table->rows.narrow ? table->rows.most(&table->rows) : 0;
    unsigned threads = print_parts_threads(table, most);
    struct print_parts parts = {
        .table = table,
        .count = (most + PRINT_PARTS_BINS - 1) / PRINT_PARTS_BINS,
        .write = write,
    };
    struct writer_parts writes = {
        .count = parts.count,
        .part_bytes = PRINT_PARTS_BINS * row_bytes,
        .write = print_parts_write,
        .context = &parts,
    };

    if (threads == 1 || !writer_parts_write(writer, &writes, threads))
        write(writer, table);
}
