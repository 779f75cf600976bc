/*
 * Compares operation histogram on a CPU thread (plain, folded, computed, looked up) with a search
 * among the edges in 128-bit arithmetic, in every instruction set.
 */
#include "config.h"

#include "aggregate/histogram.h"
#include "edges_reference.h"
#include "engine/stores.h"
#include "lib/cpu_isa.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define POWER2(n)  ((__int128)1 << (n))
#define EDGES_MAX  70000
#define VALUES_MAX 130003
#define ZEROS      ((size_t)1 << 16)

/* The expected edges of bins, and the expected counts: bins, below, above. */
struct subject {
    struct plan plan;
    __int128 edges[EDGES_MAX];
    size_t count; /* number of edges */
    uint64_t wanted[EDGES_MAX + 1];
    unsigned char bytes[VALUES_MAX * 8];
    size_t values;
};

static struct subject subject;
static unsigned char zeros[ZEROS * 8];
static uint64_t state = 1;

static void bail_out(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(1);
}

static void set_type(const char *name)
{
    if (!element_parse(name, &subject.plan.element))
        bail_out("no such type");
}

static size_t defined_entry(__int128 value)
{
    return edges_reference_entry(subject.edges, subject.count, value);
}

/* Appends the value if the type has it. */
static void put(__int128 value)
{
    const struct element *element = &subject.plan.element;
    uint64_t word = (uint64_t)value;
    unsigned char *place = subject.bytes + subject.values * element->bytes;

    if (subject.values == VALUES_MAX || value < element_min(element) ||
        value >= element_limit(element))
        return;
    for (unsigned i = 0; i < element->bytes; i++) {
        bool is_big = element->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        place[is_big ? element->bytes - 1 - i : i] = (unsigned char)(word >> 8 * i);
    }
    subject.wanted[defined_entry(value)] += 1;
    subject.values++;
}

/* Values at distances of any magnitude from each edge, fewer if these are many. */
static void put_far(void)
{
    const int step = subject.count < 70 ? 1 : 4;

    for (size_t i = 0; i < subject.count && subject.count < 512; i++) {
        for (int digits = 1 + (int)i % step; digits < 62; digits += step) {
            uint64_t distance = tap_random(&state) >> (64 - digits);
            put(subject.edges[i] - distance);
            put(subject.edges[i] + distance);
        }
    }
}

/* Values around edges, at the limits, and of any magnitude. */
static void make_values(void)
{
    const struct element *element = &subject.plan.element;
    __int128 min = element_min(element);
    __int128 limit = element_limit(element);

    subject.values = 0;
    memset(subject.wanted, 0, sizeof subject.wanted);
    for (int i = -2; i <= 2; i++) {
        put(min + i);
        put(limit + i);
        put(i);
    }
    for (size_t i = 0; i < subject.count; i++) {
        for (int near = -1; near <= 1; near++)
            put(subject.edges[i] + near);
    }
    put_far();
    for (size_t i = 0; i < 9001; i++) {
        uint64_t word = tap_random(&state) >> tap_random(&state) % 64;
        put(i % 3 == 0 ? min + word : i % 3 == 1 ? limit - 1 - word : (__int128)(int64_t)word);
    }
    for (int i = 0; i < 8 || (i < 16 && subject.values % 8 != 7); i++)
        put(limit - 1); /* also counted after the last group of 8 */
}

/* Counts the values, zeros, and the values again, with a finish in between. */
static void count(struct histogram *histogram)
{
    struct failure failure;
    void *local = NULL;
    const size_t bytes = subject.plan.element.bytes;

    if (store_open_local(&store_array, &subject.plan, histogram, &local, &failure) != STATUS_OK)
        bail_out(failure.message);
    for (int i = 0; i < 3; i++) {
        struct chunk chunk = {
            .data = i == 1 ? zeros : subject.bytes,
            .bytes = (i == 1 ? ZEROS : subject.values) * bytes,
        };
        if (store_array.local_accumulate(local, &chunk, &failure) != STATUS_OK ||
            store_array.local_merge(local, &failure) != STATUS_OK)
            bail_out(failure.message);
    }
    store_close_local(&store_array, local);
}

static bool check_isa(const char *name, const char *isa)
{
    struct failure failure;
    struct histogram *histogram;
    bool right = true;

    setenv("GPUHIST_ISA", isa, 1);
    cpu_isa_forget();
    if (!(histogram = histogram_create(&subject.plan, &failure)))
        bail_out(failure.message);
    count(histogram);
    for (size_t i = 0; i < histogram->entries && right; i++) {
        uint64_t found = histogram_count(histogram, i);
        uint64_t wanted = 2 * subject.wanted[i] + (i == defined_entry(0) ? ZEROS : 0);
        if (found != wanted)
            right = tap_note("%s of %s, %s: entry %zu of %zu: %llu, not %llu", name,
                             subject.plan.element.name, isa, i, histogram->entries,
                             (unsigned long long)found, (unsigned long long)wanted);
    }
    histogram_destroy(histogram);
    unsetenv("GPUHIST_ISA");
    cpu_isa_forget();
    return right;
}

/* Checks the subject's binning, and destroys it. */
static bool check(const char *name)
{
    bool right = true;

    if (subject.plan.binning.bins != subject.count - 1)
        bail_out("a binning of other bins");
    make_values();
    for (int isa = 0; isa < CPU_ISA_COUNT; isa++)
        right = right && check_isa(name, cpu_isa_names[isa]);
    free(subject.plan.binning.table);
    return right;
}

/* Makes the binning of the subject's edges, which the caller destroys. */
static void make_binning(void)
{
    struct failure failure;

    if (binning_init_edges(&subject.plan.binning, &subject.plan.element, subject.edges,
                           subject.count, &failure) != STATUS_OK)
        bail_out(failure.message);
}

static bool check_edges(const char *name)
{
    make_binning();
    return check(name);
}

static bool check_width(__int128 low, __int128 high, uint64_t width)
{
    struct failure failure;

    subject.count = 0;
    for (__int128 edge = low; edge < high; edge += width)
        subject.edges[subject.count++] = edge;
    subject.edges[subject.count++] = high;
    if (binning_init_width(&subject.plan.binning, &subject.plan.element, low, high, width,
                           &failure) != STATUS_OK)
        bail_out(failure.message);
    return check("width");
}

/* A number of bins of equal or nearly equal width over a range. */
static bool check_equal(__int128 low, __int128 high, uint32_t bins)
{
    struct failure failure;
    struct binning *binning = &subject.plan.binning;

    if (binning_init(binning, &subject.plan.element, low, high, bins, &failure) != STATUS_OK)
        bail_out(failure.message);
    for (subject.count = 0; subject.count <= bins; subject.count++)
        subject.edges[subject.count] =
            (__int128)(((unsigned __int128)(high - low) * subject.count + bins - 1) / bins) + low;
    return check("equal");
}

/* Powers of 2 or 10. */
static bool check_powers(uint32_t base)
{
    __int128 powers[66];
    size_t length = 0;
    __int128 min = element_min(&subject.plan.element);

    for (__int128 power = 1; power < POWER2(64) * base; power *= base)
        powers[length++] = power;
    subject.count = 0;
    for (size_t i = length; i-- > 0 && min < 0;) {
        if (i == 0 || powers[i - 1] <= -min)
            subject.edges[subject.count++] = 1 - powers[i];
    }
    if (min == 0)
        subject.edges[subject.count++] = 0;
    for (size_t i = 0; i < length; i++) {
        if (i == 0 || powers[i - 1] < element_limit(&subject.plan.element))
            subject.edges[subject.count++] = powers[i];
    }
    binning_init_powers(&subject.plan.binning, &subject.plan.element, base);
    return check(base == 2 ? "log2" : "log10");
}

/* Ascending edges from `low` on, below `high`, with gaps below `gap`. */
static void set_random(__int128 low, __int128 high, size_t most, uint64_t gap)
{
    subject.count = 0;
    for (__int128 edge = low; edge < high && subject.count < most;) {
        subject.edges[subject.count++] = edge;
        edge += 1 + tap_random(&state) % gap;
    }
}

/* Ascending edges from `low` on, sometimes three to six close together. */
static void set_clusters(__int128 low, __int128 high, uint64_t gap)
{
    subject.count = 0;
    for (__int128 edge = low; edge < high;) {
        size_t close = tap_random(&state) % 8 == 0 ? 3 + tap_random(&state) % 4 : 1;
        for (size_t i = 0; i < close && edge < high; i++)
            subject.edges[subject.count++] = edge + (__int128)i;
        edge += (__int128)close + 1 + tap_random(&state) % gap;
    }
    while (subject.count > 0 && subject.edges[subject.count - 1] >= high)
        subject.count--;
}

/* Edges in both directions from 0, each a fourth further than the last one. */
static void set_geometric(__int128 low, __int128 high)
{
    static __int128 distances[200];
    size_t length = 0;

    for (__int128 distance = 1; distance < POWER2(62); distance += 1 + distance / 4)
        distances[length++] = distance;
    subject.count = 0;
    for (size_t i = length; i-- > 0;) {
        if (-distances[i] >= low)
            subject.edges[subject.count++] = -distances[i];
    }
    for (size_t i = 0; i < length; i++) {
        if (distances[i] < high)
            subject.edges[subject.count++] = distances[i];
    }
}

static int compare_edges(const void *left, const void *right)
{
    const __int128 a = *(const __int128 *)left;
    const __int128 b = *(const __int128 *)right;
    return (a > b) - (a < b);
}

/* Edges first, first + step, ... */
static void set_steps(__int128 first, __int128 step, size_t count)
{
    for (subject.count = 0; subject.count < count; subject.count++)
        subject.edges[subject.count] = first + step * (__int128)subject.count;
}

/* 1000 edges: 49 bins of one value each, and far ones. */
static void set_dense(void)
{
    set_steps(0, 1, 50);
    for (; subject.count < 1000; subject.count++)
        subject.edges[subject.count] = (__int128)(subject.count - 49) * 2000000;
}

/* 50 edges from low to high. Those two are not multiples of 2^10; the others can be. */
static bool check_ends(const char *name, __int128 low, __int128 high)
{
    __int128 width = (high - low) / 50;

    if (subject.plan.element.bytes == 1)
        return true;
    set_steps(low, width, 50);
    subject.edges[subject.count++] = high;
    return check_edges(name);
}

/*
 * Bins with ends inside the buckets of the look-up table, in part or nearly all of the type's
 * range.
 */
static bool check_all_ends(__int128 min, __int128 limit)
{
    return check_ends("a first edge within a bucket", 1, limit / 2) &
           check_ends("a last edge within a bucket", min / 2, limit / 4 + 77) &
           check_ends("both", min / 2 + 13, limit / 2 + 77) &
           check_ends("both, with next to nothing outside", min + 5, limit - 7);
}

/* Ranges on both sides of the limits where 52-bit factors are exact, or have all distance bits. */
static bool check_reciprocals(void)
{
    static const unsigned digits[] = {13, 14, 41, 42, 43, 51, 52, 53, 62};
    static const uint32_t bins[] = {7, 512, 999, 1000, 8191};
    bool right = true;

    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        for (size_t k = 0; k < sizeof bins / sizeof *bins; k++)
            right = right & check_equal(5, 5 + POWER2(digits[i]) - 1, bins[k]) &
                    check_equal(0, POWER2(digits[i]), bins[k]);
    }
    return right;
}

/*
 * The range of most edges: all values of the type, and 1000 more at each end unless the type has 64
 * bits.
 */
static __int128 range_low(void)
{
    const struct element *element = &subject.plan.element;
    return element_min(element) - (element->bytes == 8 ? 0 : 1000);
}

static __int128 range_high(void)
{
    const struct element *element = &subject.plan.element;
    return element_limit(element) + (element->bytes == 8 ? 0 : 1000);
}

/* Bins computed from a width, a number of bins or a base. */
static void test_computed(const char *name)
{
    const struct element *element = &subject.plan.element;
    const __int128 min = element_min(element);
    const __int128 limit = element_limit(element);
    const __int128 low = range_low();
    const __int128 high = range_high();

    tap_ok(check_width(low < -5 ? -5 : 0, 250, 7) & check_width(3, 1025, 2) &
               check_width(3, 1026, 2) & check_width(low, high, 1 + (uint64_t)((high - low) / 999)),
           "%s: bins of a width", name);
    tap_ok(check_equal(min, limit, 200) & check_equal(min + 3, limit - 4, 133) &
               (element->bytes == 1 ||
                (check_equal(min, limit, 999) & check_equal(min / 2 + 7, limit / 3 + 1, 9001))),
           "%s: so many bins of a range", name);
    if (element->bytes == 8)
        tap_ok(check_reciprocals(), "%s: so many bins of ranges of 13 to 62 bits", name);
    tap_ok(check_powers(2) & check_powers(10), "%s: powers of 2 and of 10", name);
}

/* Edges of every distribution: regular, random, close together, far apart. */
static void test_edges(const char *name)
{
    const struct element *element = &subject.plan.element;
    const __int128 min = element_min(element);
    const __int128 limit = element_limit(element);
    const __int128 low = range_low();
    const __int128 high = range_high();
    const uint64_t gap = (uint64_t)((high - low) / 1000);

    set_geometric(low, high);
    bool right = check_edges("geometric");
    set_random(low, high, EDGES_MAX, 2 * gap + 1);
    right = right & check_edges("random");
    set_random(low, high, EDGES_MAX, gap / 10 + 1);
    right = right & check_edges("many");
    set_clusters(low, high, 2 * gap + 1);
    right = right & check_edges("clusters");
    set_clusters(min, high, 2 * gap + 1);
    subject.edges[subject.count++] = element->bytes == 8 ? limit : high;
    right = right & check_edges("clusters, up to the limit");
    set_random(0, high, 3000, 5);
    right = right & check_edges("near 0");
    set_random(0, element->bytes == 8 ? POWER2(36) : high, 1000,
               element->bytes == 8 ? POWER2(27) : 5);
    right = right & check_edges("far apart, in buckets of less than 2^32");
    set_random(limit - 300 > 0 ? limit - 300 : 0, high, 100, 5);
    right = right & check_edges("near the limit");
    if (element->bytes >= 4) {
        set_steps(min, (limit - min) / 9000, 9001);
        right = right & check_edges("at the same distance");
    }
    tap_ok(right, "%s: edges", name);
}

/* Few edges, at the limits of the type and of the range around it. */
static void test_limits(const char *name)
{
    const struct element *element = &subject.plan.element;
    const __int128 min = element_min(element);
    const __int128 limit = element_limit(element);

    subject.edges[0] = range_low();
    subject.edges[1] = range_low() + 1;
    subject.edges[2] = range_high() - 1;
    subject.edges[3] = range_high();
    subject.count = 4;
    bool right = check_edges("limits");
    subject.edges[0] = 1;
    subject.edges[1] = (limit - min) / 2;
    subject.count = 2;
    right = right & check_edges("one bin");
    subject.edges[0] = 0;
    subject.edges[1] = 1;
    subject.edges[2] = 149;
    subject.edges[3] = 5000;
    subject.count = 4;
    right = right & check_edges("a first bin of one value");
    subject.edges[0] = element->bytes == 8 ? limit - 1 : limit;
    subject.edges[1] = subject.edges[0] + 1;
    subject.count = 2;
    right = right & check_edges("next to nothing");
    tap_ok(right & check_all_ends(min, limit), "%s: edges at the limits", name);
}

static void test_type(const char *name)
{
    set_type(name);
    test_computed(name);
    test_edges(name);
    test_limits(name);
}

/*
 * Returns whether a number of chunks of zeros is counted, and a single value outside is then
 * reported with its position in the next chunk.
 */
static bool check_abort(const char *isa, __int128 outside, int chunks, size_t place)
{
    struct failure failure = {.position = 0};
    struct histogram *histogram;
    void *local = NULL;
    const size_t bytes = subject.plan.element.bytes;
    struct chunk chunk = {.data = zeros, .bytes = ZEROS * bytes};

    setenv("GPUHIST_ISA", isa, 1);
    cpu_isa_forget();
    if (!(histogram = histogram_create(&subject.plan, &failure)) ||
        store_open_local(&store_array, &subject.plan, histogram, &local, &failure) != STATUS_OK)
        bail_out(failure.message);
    bool right = true;
    for (int i = 0; i < chunks; i++)
        right = right && store_array.local_accumulate(local, &chunk, &failure) == STATUS_OK;
    subject.values = 0;
    put(outside);
    memcpy(zeros + place * bytes, subject.bytes, bytes);
    right = right && store_array.local_accumulate(local, &chunk, &failure) == STATUS_DATA &&
            failure.position == place * bytes;
    memset(zeros, 0, sizeof zeros);
    store_close_local(&store_array, local);
    histogram_destroy(histogram);
    unsetenv("GPUHIST_ISA");
    cpu_isa_forget();
    return right;
}

/* Every way to find bins reports values outside: few, even or uneven edges, powers apart. */
static void test_abort(const char *name)
{
    const struct element *element = &subject.plan.element;
    bool right = true;

    set_type(name);
    subject.plan.outside = OUTSIDE_ABORT;
    for (int shape = 0; shape < 3; shape++) {
        __int128 low = element_min(element) / 2;
        __int128 high = (element_limit(element) - 1) / 2;
        if (shape < 2)
            set_random(low, high, EDGES_MAX,
                       (uint64_t)((high - low) / (shape == 0 ? 10 : 500)) + 1);
        else
            set_geometric(low, high);
        if (low == 0)
            subject.edges[0] = 0;
        make_binning();
        for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
            const __int128 above = element_limit(element) - 1;
            right = right && check_abort(cpu_isa_names[isa], above, 2, ZEROS - 3) &&
                    check_abort(cpu_isa_names[isa], above, 0, 0) &&
                    (low == 0 || check_abort(cpu_isa_names[isa], element_min(element), 1, 5));
        }
        free(subject.plan.binning.table);
    }
    subject.plan.outside = OUTSIDE_REPORT;
    tap_ok(right, "%s: the first value outside is told", name);
}

/* Dense bins with nearly all values, among far ones, and keys with hardly any space. */
static void test_dense(const char *name)
{
    bool right = true;

    set_type(name);
    set_dense();
    right = right & check_edges("dense");
    for (size_t bins = 4093; bins < 4098; bins++) {
        set_steps(subject.plan.element.is_signed ? -POWER2(31) : 0, POWER2(32) / (__int128)bins,
                  bins + 1);
        right = right & check_edges("as many as keys have room for");
    }
    set_steps(0, (POWER2(32) - 5) / 977, 978);
    subject.edges[977] = POWER2(32) - 5;
    right = right & check_edges("nearly 32 bits");
    subject.edges[977] = POWER2(31) + 2000;
    for (size_t i = 1; i < 977; i++)
        subject.edges[i] = (__int128)i * 2198012;
    right = right & check_edges("a little more than 31 bits");
    tap_ok(right, "%s: dense bins, and keys with hardly any room", name);
}

/* About as many edges as each power of 2. */
static void test_counts(const char *name)
{
    bool right = true;

    set_type(name);
    const bool is_short = subject.plan.element.bytes == 2;
    for (int log2 = 3; log2 <= 10; log2++) {
        for (size_t count = (1u << log2) - 2; count <= (1u << log2) + 1; count++) {
            __int128 low = subject.plan.element.is_signed ? -1000000 : 17;
            set_steps(is_short ? low / 32 : low, is_short ? 62000 >> log2 : 77777 << log2, count);
            subject
                .edges[count / 2]++; /* bins of equal width are computed, except for 2-byte types */
            right = right & check_edges("about a power of 2");
        }
    }
    tap_ok(right, "%s: about as many edges as powers of 2", name);
}

/* Edges that are rounded, many of them to the same floats as values of other bins. */
static void test_rounded(const char *name)
{
    bool right = true;

    set_type(name);
    const __int128 far = POWER2(50);
    const __int128 low = subject.plan.element.is_signed ? -far : far;
    set_steps(low + 3, POWER2(45) + 12345, 60);
    right = right & check_edges("from far, 1 in 30 of them a float");
    set_steps(1700000000000000000 - 1, 1000000007, 25);
    right = right & check_edges("times, a second apart");
    set_steps(1700000000000000000 - 1, 7, 40);
    subject.edges[39] += 5;
    right = right & check_edges("times, 7 ns apart");
    subject.count = 0;
    for (__int128 edge = 1; edge < POWER2(62); edge = edge * 3 + 1)
        subject.edges[subject.count++] = edge + 1;
    right = right & check_edges("about powers of 3");
    set_steps(low + 3, 100, 2);
    subject.edges[2] = low + 3 + far;
    subject.edges[3] = POWER2(55) + 1;
    subject.count = 4;
    right = right & check_edges("all zeros doubtful");
    set_steps(low + 3, 100, 2);
    subject.edges[2] = 2 * far + 3;
    subject.edges[3] = 2 * far + 103;
    subject.count = 4;
    right = right & check_edges("rounded to the same from anywhere");
    tap_ok(right, "%s: edges that are rounded", name);
}

/* Values around an edge. */
static struct {
    int64_t values[100000];
    uint64_t wanted[EDGES_MAX + 1];
} doubtful;

static void make_doubtful(void)
{
    memset(doubtful.wanted, 0, sizeof doubtful.wanted);
    for (size_t i = 0; i < sizeof doubtful.values / sizeof *doubtful.values; i++) {
        doubtful.values[i] = (int64_t)subject.edges[0] - 1000000 + (int64_t)(i % 2000001);
        doubtful.wanted[defined_entry(doubtful.values[i])]++;
    }
}

/* Returns whether floats are rounded to the nearest. */
static bool rounds_as_usual(void)
{
    volatile float one = 1;
    volatile float more = 0x1.8p-24F;
    return one + more > one;
}

/* Counts chunks of doubtful values (d), zeros (z) and any values (a) in one run. */
static bool check_order(const char *order, const char *isa)
{
    struct failure failure;
    struct histogram *histogram;
    void *local = NULL;
    uint64_t times[128] = {0};
    bool right = true;

    setenv("GPUHIST_ISA", isa, 1);
    cpu_isa_forget();
    if (!(histogram = histogram_create(&subject.plan, &failure)) ||
        store_open_local(&store_array, &subject.plan, histogram, &local, &failure) != STATUS_OK)
        bail_out(failure.message);
    for (const char *letter = order; *letter; letter++) {
        struct chunk chunk = {.data = zeros, .bytes = sizeof zeros};
        if (*letter == 'd')
            chunk = (struct chunk){.data = doubtful.values, .bytes = sizeof doubtful.values};
        if (*letter == 'a')
            chunk = (struct chunk){.data = subject.bytes, .bytes = subject.values * 8};
        times[(unsigned char)*letter]++;
        if (store_array.local_accumulate(local, &chunk, &failure) != STATUS_OK ||
            (letter - order == 2 && store_array.local_merge(local, &failure) != STATUS_OK))
            bail_out(failure.message);
        right = right && rounds_as_usual();
    }
    if (store_array.local_merge(local, &failure) != STATUS_OK)
        bail_out(failure.message);
    store_close_local(&store_array, local);
    for (size_t i = 0; i < histogram->entries && right; i++) {
        uint64_t wanted = times['d'] * doubtful.wanted[i] + times['a'] * subject.wanted[i] +
                          times['z'] * (i == defined_entry(0) ? ZEROS : 0);
        if (histogram_count(histogram, i) != wanted)
            right = tap_note("%s, %s: entry %zu", order, isa, i);
    }
    histogram_destroy(histogram);
    unsetenv("GPUHIST_ISA");
    cpu_isa_forget();
    return right;
}

/* Blocks of values around an edge, of any values and of zeros, in any order. */
static void test_changes(size_t count)
{
    static const char *const orders[] = {"d", "ddd", "zd", "zdad", "adzzd", "dzdz", "aaaddd"};
    bool right = true;

    set_type("i64");
    set_steps((__int128)1000000000000001, 200000000000, 3);
    for (; subject.count < count; subject.count++)
        subject.edges[subject.count] = (__int128)20000000000000000 * ((__int128)subject.count - 2);
    make_binning();
    make_values();
    make_doubtful();
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        for (int isa = 0; isa < CPU_ISA_COUNT; isa++)
            right = right && check_order(orders[i], cpu_isa_names[isa]);
    }
    free(subject.plan.binning.table);
    tap_ok(right, "%zu edges, blocks of values of several kinds", count);
}

/* Bins that are mostly outside the type. */
static void test_beyond(const char *name)
{
    static const size_t bins[] = {255, 256, 257, 1021, 1022, 1023, 3000};
    bool right = true;

    set_type(name);
    const struct element *element = &subject.plan.element;
    for (size_t i = 0; i < sizeof bins / sizeof *bins; i++) {
        for (int within = 20; within <= 500; within += 240) {
            set_steps(element_limit(element) - within * 61, 61, bins[i] + 1);
            subject.edges[1]++;
            right = right & check_edges("above");
            if (!element->is_signed)
                continue;
            set_steps(element_min(element) - 61 * ((__int128)bins[i] - within), 61, bins[i] + 1);
            subject.edges[1]++;
            right = right & check_edges("below");
        }
    }
    set_steps(0, 1000, 2);
    subject.edges[2] = POWER2(60);
    subject.count = 3;
    right = right & check_edges("a last bin of nearly all");
    set_steps(element->is_signed ? -34000 : 0, 1, 68000); /* more than 2^16 */
    subject.edges[67999] += 5;
    right = right & check_edges("one wide, but the last");
    tap_ok(right, "%s: bins beyond the type", name);
}

/* `count` edges from `first` on. The first gap is `gap`; each gap is larger by 1/ratio. */
static void set_growing(__int128 first, __int128 gap, int ratio, size_t count)
{
    set_steps(first, 0, 1);
    for (; subject.count < count; subject.count++, gap += gap / ratio + 1)
        subject.edges[subject.count] = subject.edges[subject.count - 1] + gap;
}

/* 150 edges from the middle of the type's upper half on. The last one is `span` words of 4 elements
   away. */
static void set_span(__int128 span)
{
    set_steps(element_limit(&subject.plan.element) / 2, span * 4 / 149, 150);
    subject.edges[149] = subject.edges[0] + span * 4 - 1;
}

/* Equal bins of 2 bytes, about as many as powers of 2. */
static void test_equal_short(const char *name)
{
    static const uint32_t bins[] = {2, 62, 63, 64, 65, 509, 510, 511, 512, 513};
    const struct element *element = &subject.plan.element;
    bool right = true;

    set_type(name);
    const __int128 low = element_min(element) + 2000;
    const __int128 high = element_limit(element) - 2001;
    for (size_t i = 0; i < sizeof bins / sizeof *bins; i++)
        right = right & check_equal(low, high, bins[i]);
    tap_ok(right, "%s: equal bins of two bytes", name);
}

/* Edges over the whole type, at the same distance or nearly, and at random. */
static void test_whole(const char *name)
{
    const __int128 min = element_min(&subject.plan.element);
    const __int128 limit = element_limit(&subject.plan.element);
    const __int128 range = limit - min;

    set_steps(min + 1, (range - 2) / 399, 400);
    subject.edges[399] = limit - 1;
    bool right = check_edges("over the whole type");
    for (size_t i = 60; i < 399; i += 60) {
        subject.edges[i - 1] = subject.edges[i - 2] + 1;
        subject.edges[i] = subject.edges[i - 1] + 1;
    }
    right = right & check_edges("some close together");
    set_random(min, limit, 510, (uint64_t)(range / 260));
    right = right & check_edges("random");
    for (__int128 span = 65531; span <= 65534; span++) { /* on both sides of 2^16 words */
        set_span(span);
        right = right & check_edges("about 2^16 steps of 4");
    }
    tap_ok(right, "%s: edges over the whole type", name);
}

/* Edges with growing distances, from 0 or from far away. */
static void test_growing(const char *name)
{
    const struct element *element = &subject.plan.element;
    const bool is_wide = element->bytes == 8;

    set_growing(1, 1, is_wide ? 12 : 20, is_wide ? 480 : 340);
    bool right = check_edges("growing");
    if (element->is_signed) {
        set_growing(1, 1, 6, is_wide ? 240 : 110);
        size_t count = subject.count;
        for (size_t i = 0; i < count; i++)
            subject.edges[subject.count++] = -subject.edges[i] - (__int128)(i % 2);
        qsort(subject.edges, subject.count, sizeof *subject.edges, compare_edges);
        subject.count = subject.count > 511 ? 511 : subject.count;
        right = right & check_edges("growing on both sides");
    }
    set_growing(element_limit(element) / 2 + 12345, 3, 16, is_wide ? 400 : 260);
    right = right & check_edges("growing from far");
    tap_ok(right, "%s: edges that grow", name);
}

/* A type of 4 or 8 bytes. */
static void test_wide_type(const char *name)
{
    set_type(name);
    test_whole(name);
    test_growing(name);
}

int main(void)
{
    static const char *const wide[] = {"i32", "i32be", "u32be", "i64", "i64be", "u64be"};
    static const char *const types[] = {"i8",    "u8",    "i16",   "u16",   "i32",
                                        "u32",   "i64",   "u64",   "i16be", "u16be",
                                        "i32be", "u32be", "i64be", "u64be"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        test_type(types[i]);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        test_abort(types[i]);
    test_counts("i16");
    test_counts("i16be");
    test_counts("u16be");
    test_counts("i32");
    test_counts("u32be");
    test_counts("i64");
    test_counts("u64be");
    test_rounded("i64");
    test_rounded("i64be");
    test_rounded("u64");
    test_rounded("u64be");
    test_changes(52);
    test_changes(25);
    test_changes(300);
    test_dense("i32");
    test_dense("u32");
    test_dense("i64");
    test_dense("u64be");
    test_beyond("i16");
    test_beyond("u16be");
    test_beyond("i32");
    test_beyond("u32");
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        test_wide_type(wide[i]);
    test_equal_short("i16");
    test_equal_short("u16be");
    return tap_done();
}
