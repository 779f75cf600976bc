/* Format raw: the count of every bin as an unsigned 64-bit integer, little endian. */
#include "config.h"

#include "histogram.h"
#include "print.h"
#include "writer.h"

#include <string.h>

static void print_raw_histogram(struct writer *writer, const struct job *job,
                                const struct histogram *histogram,
                                const struct print_options *options)
{
    (void)options; /* --zeros: every bin is there in any case */
    for (uint64_t bin = 0; bin < job->binning.bins; bin++) {
        uint64_t count = histogram_count(histogram, bin);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        count = __builtin_bswap64(count);
#endif
        memcpy(writer_reserve(writer, sizeof count), &count, sizeof count);
        writer_commit(writer, sizeof count);
    }
}

const struct print_format print_raw = {.name = "raw", .histogram = print_raw_histogram};
