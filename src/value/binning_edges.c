/*
 * Constructs the binning of a list of edges: checks the list, chooses the buckets, fills the table.
 */
#include "config.h"

#include "value/binning_index.h"

#include "lib/decimal.h"

#include <stdlib.h>

/* All bin numbers, including those outside, are below BINNING_CROWDED. */
#define BINNING_EDGES_BINS_MAX (BINNING_CROWDED - BINNING_OUTSIDE)

/* Log2 of the maximum number of buckets: 1 MiB, about an L2 cache. Longer lists may have more. */
#define BINNING_BUCKETS_LOG2_MAX 18

/*
 * The buckets suffice if at most one edge in this many shares its bucket with another. A search
 * in a shared bucket takes 5 to 10 ns, because its branches are mispredicted; a larger table is
 * slower to load from. If edges are denser near a centre, values probably are, too. Therefore the
 * share must be smaller for growing buckets.
 */
#define BINNING_CROWDED_SHARE_EQUAL 16
#define BINNING_CROWDED_SHARE       64

/* Log2 of the number of exponents of a 64-bit number. */
#define BINNING_POWERS_LOG2 6

/*
 * Returns the number of edges that share a bucket with another edge. Stops at `limit`, and then
 * returns `limit` or limit + 1.
 */
static size_t binning_count_crowded(const struct binning *binning, const __int128 *edges,
                                    size_t limit)
{
    uint32_t previous = UINT32_MAX;
    size_t crowded = 0;
    bool is_crowded = false; /* the previous bucket has more than one edge */

    for (size_t i = 1; i < binning->bins && crowded < limit; i++) {
        uint32_t bucket = binning_bucket(binning, binning->form, (uint64_t)(edges[i] - edges[0]));
        if (bucket == previous)
            crowded += is_crowded ? 1 : 2;
        is_crowded = bucket == previous;
        previous = bucket;
    }
    return crowded;
}

/*
 * Chooses the minimum number of buckets that suffice, or else those with the fewest shared edges:
 * about 2^log2 buckets of equal width, or growing from the first edge or from 0.
 */
static void binning_choose_buckets(struct binning *binning, const __int128 *edges)
{
    const uint64_t zero = edges[0] < 0 && edges[binning->bins] > 0 ? (uint64_t)-edges[0] : 0;
    const uint32_t digits = binning_digits2(binning->last);
    const uint32_t log2_min = binning_digits2(binning->bins);
    const uint32_t log2_max =
        log2_min > BINNING_BUCKETS_LOG2_MAX ? log2_min : BINNING_BUCKETS_LOG2_MAX;
    struct binning best = {.bins = 0};
    size_t crowded = SIZE_MAX;

    for (uint32_t log2 = log2_min; log2 <= log2_max; log2++) {
        for (unsigned i = 0; i < (zero > 0 ? 3 : 2); i++) {
            const uint32_t cut = i == 0 ? digits : BINNING_POWERS_LOG2;
            const size_t enough =
                binning->bins / (i == 0 ? BINNING_CROWDED_SHARE_EQUAL : BINNING_CROWDED_SHARE);
            binning->form = i == 0 ? BINNING_EDGES_EQUAL : BINNING_EDGES;
            binning->shift = i == 0 ? (cut > log2 ? cut - log2 : 0) : log2 > cut ? log2 - cut : 0;
            binning->centre = i == 2 ? zero : 0;
            binning->side = 0;
            if (i == 2)
                binning->side = ~binning_bucket(binning, BINNING_EDGES, 0) + 1;
            binning->buckets = binning_bucket(binning, binning->form, binning->last) + 1;
            const size_t found =
                binning_count_crowded(binning, edges, crowded > enough ? crowded : enough + 1);
            if (found <= enough)
                return;
            if (found < crowded) {
                best = *binning;
                crowded = found;
            }
        }
    }
    *binning = best;
}

size_t binning_table_bytes(const struct binning *binning)
{
    return binning->buckets == 0
               ? 0
               : ((size_t)binning->bins + BINNING_OUTSIDE) * sizeof(uint64_t) +
                     ((size_t)binning->buckets + BINNING_FIRSTS_MORE) * sizeof(uint32_t);
}

enum status binning_init_edges(struct binning *binning, const struct element *element,
                               const __int128 *edges, size_t count, struct failure *failure)
{
    const bool is_signed = element->type != ELEMENT_U64;
    char shown[DECIMAL_SIZE];
    __int128 min;
    __int128 limit;
    const char *integers = binning_limits(element, &min, &limit);
    uint32_t bin = 0;

    if (count < 2)
        return status_fail(failure, STATUS_USAGE,
                           "--edges requires at least two edges, such as 0,10,20");
    if (count - 1 > BINNING_EDGES_BINS_MAX)
        return status_fail(failure, STATUS_USAGE, "--edges has too many edges: at most %u bins",
                           (unsigned)BINNING_EDGES_BINS_MAX);
    for (size_t i = 0; i < count; i++) {
        const bool is_beyond = edges[i] < min || edges[i] > limit;
        if (!is_beyond && (i == 0 || edges[i] > edges[i - 1]))
            continue;
        decimal_format_fixed(shown, edges[i], element->decimals);
        if (is_beyond)
            return status_fail(failure, STATUS_USAGE, "--edges: %s exceeds the values of %s", shown,
                               integers);
        return status_fail(failure, STATUS_USAGE,
                           "--edges must be ascending: %s is not greater than the edge before it",
                           shown);
    }
    *binning = (struct binning){
        .is_signed = is_signed,
        .bins = (uint32_t)(count - 1),
        .low = (uint64_t)edges[0],
        .last = (uint64_t)(edges[count - 1] - edges[0] - 1),
        .bias = is_signed ? (uint64_t)1 << 63 : 0,
    };
    binning_choose_buckets(binning, edges);
    uint64_t *lasts = malloc(binning_table_bytes(binning));
    uint32_t *firsts = (uint32_t *)(lasts + (size_t)binning->bins + BINNING_OUTSIDE);
    binning->table = lasts;
    if (!lasts)
        return status_fail(failure, STATUS_DATA, "not enough memory for %zu bins", count - 1);
    for (size_t i = 0; i < binning->bins; i++)
        lasts[i] = (uint64_t)(edges[i + 1] - edges[0] - 1);
    for (size_t i = 0; i < BINNING_OUTSIDE; i++)
        lasts[binning->bins + i] = UINT64_MAX;
    for (uint32_t bucket = 0; bucket < binning->buckets; bucket++) {
        const uint32_t first = bin; /* number of edges after the first in earlier buckets */
        while (bin + 1 < binning->bins &&
               binning_bucket(binning, binning->form, lasts[bin] + 1) == bucket)
            bin++;
        firsts[bucket] = bin > first + 1 ? first + BINNING_CROWDED : first;
    }
    for (uint32_t i = 0; i < BINNING_FIRSTS_MORE; i++)
        firsts[binning->buckets + i] = bin + i;
    return STATUS_OK;
}

enum status binning_init_times(struct binning *binning, const struct element *element,
                               const struct kind_time_bucket *unit, __int128 low, __int128 high,
                               uint64_t bins_max, bool is_cut, struct failure *failure)
{
    struct kind_time_bucket bucket = *unit;
    __int128 min;
    __int128 limit;

    if (low >= high)
        return binning_init_width(binning, element, low, high, 1, failure);
    while (kind_time_bucket_number(&bucket, high - 1) - kind_time_bucket_number(&bucket, low) >=
           (__int128)bins_max)
        bucket = kind_time_bucket_widen(&bucket, unit);
    const __int128 first = kind_time_bucket_number(&bucket, low);
    const __int128 last = kind_time_bucket_number(&bucket, high - 1);
    binning_limits(element, &min, &limit);
    if (!is_cut) {
        low = kind_time_bucket_begin(&bucket, first);
        high = kind_time_bucket_begin(&bucket, last + 1);
        low = low < min ? min : low;
        high = high > limit ? limit : high;
    }
    if (bucket.months == 0 && !bucket.zone && kind_time_bucket_begin(&bucket, first) == low)
        return binning_init_width(binning, element, low, high, bucket.width, failure);
    __int128 *edges = malloc(((size_t)bins_max + 1) * sizeof *edges);
    size_t count = 0;
    if (!edges)
        return status_fail(failure, STATUS_DATA, "not enough memory for bins");
    edges[count++] = low;
    for (__int128 number = first + 1; number <= last; number++) {
        const __int128 begin = kind_time_bucket_begin(&bucket, number);
        if (begin > edges[count - 1] && begin < high) /* clocks of a zone skip hours */
            edges[count++] = begin;
    }
    edges[count++] = high;
    const enum status status = binning_init_edges(binning, element, edges, count, failure);
    free(edges);
    return status;
}

enum status binning_init_parts(struct binning *binning, const struct element *element,
                               uint32_t parts, struct failure *failure)
{
    const __int128 limit = element_limit(element);
    const __int128 min = element_min(element);
    const __int128 one = decimal_power(element->decimals);
    const size_t powers = 66;
    const size_t positive_max = (powers << parts) + 2;
    __int128 *edges = malloc((2 * positive_max + 1) * sizeof *edges);
    size_t count = 0;

    if (!edges)
        return status_fail(failure, STATUS_DATA, "not enough memory for bins");
    /* the edges from 1 up, at the end of the memory; negative edges are before them */
    __int128 *positive = edges + positive_max + 1;
    bool is_below = true;
    for (int power = -64; is_below; power++) { /* 2^-64 is less than a unit */
        for (uint64_t part = 0; part < (uint64_t)1 << parts && is_below; part++) {
            const __int128 scaled = one * (((__int128)1 << parts) + part);
            const int shift = power - (int)parts;
            const __int128 edge = shift >= 0 ? scaled << shift : ((scaled - 1) >> -shift) + 1;
            is_below = edge < limit;
            if (is_below && (count == 0 || edge > positive[count - 1]))
                positive[count++] = edge;
        }
    }
    positive[count++] = limit;
    __int128 *first = positive;
    if (min == 0)
        *--first = 0;
    for (size_t i = 0; i < count && 1 - positive[i] > min; i++)
        *--first = 1 - positive[i];
    if (min < 0)
        *--first = min;
    enum status status =
        binning_init_edges(binning, element, first, (size_t)(positive - first) + count, failure);
    free(edges);
    binning->has_parts = true;
    binning->parts = parts;
    return status;
}
