/* Format tsv: "value TAB count" for bins one wide, else "low TAB high TAB count", up to high. */
#include "config.h"

#include "decimal.h"
#include "histogram.h"
#include "print.h"
#include "writer.h"

/* Two edges, a count, two tabs and a newline. */
#define PRINT_TSV_LINE_MAX (3 * DECIMAL_SIZE + 3)

static void print_tsv_line(struct writer *writer, const struct job *job, uint64_t bin,
                           uint64_t count)
{
    char *line = writer_reserve(writer, PRINT_TSV_LINE_MAX);
    char *c = line;

    c += decimal_write_signed(c, binning_edge(&job->binning, bin));
    *c++ = '\t';
    if (!binning_is_unit(&job->binning)) {
        c += decimal_write_signed(c, binning_edge(&job->binning, bin + 1));
        *c++ = '\t';
    }
    c += decimal_write(c, count);
    *c++ = '\n';
    writer_commit(writer, (size_t)(c - line));
}

static void print_tsv_histogram(struct writer *writer, const struct job *job,
                                const struct histogram *histogram,
                                const struct print_options *options)
{
    for (uint64_t bin = 0; bin < job->binning.bins; bin++) {
        uint64_t count = histogram_count(histogram, bin);
        if (count > 0 || options->zeros)
            print_tsv_line(writer, job, bin, count);
    }
}

const struct print_format print_tsv = {.name = "tsv",
                                       .has_lines = true,
                                       .histogram = print_tsv_histogram};
