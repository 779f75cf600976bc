/*
 * Compares bins that are not equal parts of a range (widths, windows, powers and edges) with a list
 * of their edges in 128-bit arithmetic: binning_index and the CPU's bin numbers.
 */
#include "config.h"

#include "edges_reference.h"
#include "engine/cpu_index.h"
#include "lib/cpu_isa.h"
#include "lib/decimal.h"
#include "tap.h"
#include "value/binning_index.h"

#include <stdlib.h>
#include <string.h>

#define POWER2(n)  ((__int128)1 << (n))
#define EDGES_MAX  5000
#define VALUES_MAX (4 * EDGES_MAX)

/* A binning and its expected edges. */
struct subject {
    const char *name;
    struct element element;
    struct binning binning;
    __int128 edges[EDGES_MAX]; /* [count], ascending */
    size_t count;
};

static struct subject subject;
static uint64_t state = 1;

static void set_element(const char *name)
{
    subject.element = (struct element){.name = NULL};
    if (!element_parse(name, &subject.element))
        tap_ok(false, "element_parse knows %s", name);
}

static uint32_t defined_bin(__int128 value)
{
    return (uint32_t)edges_reference_entry(subject.edges, subject.count, value);
}

/* Makes elements around every edge, at the type's limits, and random ones; returns their number. */
static size_t make_values(__int128 values[VALUES_MAX])
{
    __int128 min = element_min(&subject.element);
    __int128 limit = element_limit(&subject.element);
    size_t count = 0;

    for (size_t i = 0; i < VALUES_MAX; i++) {
        unsigned shift = (unsigned)(tap_random(&state) % 64);
        uint64_t word = tap_random(&state) >> shift;
        __int128 value = i % 2 == 0 ? min + word : limit - 1 - word;
        if (i < 3 * subject.count)
            value = subject.edges[i / 3] + (__int128)(i % 3) - 1;
        else if (i < 3 * subject.count + 9)
            value = (i % 3 == 0 ? min : i % 3 == 1 ? limit : 0) + (__int128)(i / 3 % 3) - 1;
        if (value >= min && value < limit)
            values[count++] = value;
    }
    return count;
}

static bool note(const char *what, __int128 value, uint32_t found, uint32_t wanted)
{
    char text[DECIMAL_SIZE];

    decimal_format_fixed(text, value, 0);
    return tap_note("%s of %s: %s %s: found %u, not %u", subject.name, subject.element.name, what,
                    text, found, wanted);
}

static bool check_index(const __int128 *values, size_t count)
{
    const struct binning *binning = &subject.binning;

    for (size_t i = 0; i < count; i++) {
        uint32_t wanted = defined_bin(values[i]);
        uint32_t found = binning_index(binning, binning->form, (uint64_t)values[i]);
        if (found != wanted)
            return note("value", values[i], found, wanted);
    }
    return true;
}

/* Returns whether a bin is the wanted one. Of windows it does not matter which side is outside. */
static bool is_bin(uint32_t found, uint32_t wanted, bool has_sides)
{
    const uint32_t bins = subject.binning.bins;
    return found == wanted || (!has_sides && found >= bins && wanted >= bins);
}

static bool check_loops(const __int128 *values, size_t count, bool has_sides)
{
    static unsigned char bytes[VALUES_MAX * 8];
    static uint32_t found[VALUES_MAX];
    const unsigned width = subject.element.bytes;

    for (size_t i = 0; i < count; i++) {
        for (unsigned byte = 0; byte < width; byte++)
            bytes[i * width + byte] = (unsigned char)((uint64_t)values[i] >> 8 * byte);
    }
    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        size_t outside = 0;
        struct cpu_index index;
        cpu_index_init(&index, &subject.element, &subject.binning);
        cpu_index_find(&index, bytes, count, found);
        size_t told = cpu_index_outside(found, count, subject.binning.bins);
        for (size_t i = 0; i < count; i++) {
            uint32_t wanted = defined_bin(values[i]);
            outside += wanted >= subject.binning.bins;
            if (!is_bin(found[i], wanted, has_sides))
                return note(cpu_isa_names[isa], values[i], found[i], wanted);
        }
        if (told != outside)
            return note("outside with", isa, (uint32_t)told, (uint32_t)outside);
    }
    unsetenv("GPUHIST_ISA");
    cpu_isa_forget();
    return true;
}

static bool check_edges(void)
{
    for (size_t i = 0; i < subject.count; i++) {
        if (binning_edge(&subject.binning, i) != subject.edges[i])
            return note("edge", subject.edges[i], (uint32_t)i, (uint32_t)i);
    }
    return true;
}

/* Checks the subject and destroys it. `has_edge`: binning_edge is for it. */
static bool check(const char *name, bool has_edge)
{
    static __int128 values[VALUES_MAX];

    subject.name = name;
    bool right = subject.binning.bins == subject.count - 1 ||
                 note("bins", 0, subject.binning.bins, (uint32_t)subject.count - 1);
    size_t count = make_values(values);
    right = right && check_index(values, count) && check_loops(values, count, true) &&
            (!has_edge || check_edges());
    free(subject.binning.table);
    return right;
}

static const char *const type_names[] = {
#define TYPE_NAME(id, name, ctype) #name "le",
    ELEMENT_TYPES(TYPE_NAME)
#undef TYPE_NAME
};

#define FOR_EACH_TYPE(i) \
    for (size_t i = 0; i < ELEMENT_TYPE_COUNT && (set_element(type_names[i]), 1); i++)

static void set_widths(__int128 low, __int128 high, uint64_t width)
{
    subject.count = 0;
    for (__int128 edge = low; edge < high; edge += width)
        subject.edges[subject.count++] = edge;
    subject.edges[subject.count++] = high;
}

static void test_widths(void)
{
    static const struct {
        __int128 low;
        __int128 high;
        uint64_t width;
    } rows[] = {
        {0, 1000, 1},
        {0, 1000, 7},
        {-100, 155, 10},
        {-128, 128, 128},
        {0, 255, 300},
        {-32768, 32768, 100},
        {-POWER2(31), POWER2(31), 1000003},
        {0, POWER2(32), 1 << 20},
        {-POWER2(62), POWER2(62), (uint64_t)1 << 52},
        {-POWER2(62), POWER2(62) + 5, ((uint64_t)1 << 52) + 7},
        {0, POWER2(63), (uint64_t)1 << 63},
        {0, POWER2(63) - 1, UINT64_MAX},
        {3, POWER2(63) - 1, 999999999999999999u},
    };

    FOR_EACH_TYPE(type)
    {
        bool right = true;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct failure failure;
            bool is_valid = rows[i].low >= 0 || subject.element.type != ELEMENT_U64;
            if (!is_valid)
                continue;
            set_widths(rows[i].low, rows[i].high, rows[i].width);
            right = right &&
                    binning_init_width(&subject.binning, &subject.element, rows[i].low,
                                       rows[i].high, rows[i].width, &failure) == STATUS_OK &&
                    check("width", true);
        }
        tap_ok(right, "%s: bins of a width, the last of them cut", subject.element.name);
    }
}

static void set_window(__int128 first, uint32_t bins, uint64_t width)
{
    subject.count = 0;
    for (uint32_t i = 0; i <= bins; i++)
        subject.edges[subject.count++] = (first + i) * (__int128)width;
    binning_init_window(&subject.binning, &subject.element, first * (__int128)width, bins, width);
}

static bool check_window(__int128 first, uint32_t bins, uint64_t width)
{
    static __int128 values[VALUES_MAX];

    set_window(first, bins, width);
    subject.name = "window";
    size_t count = make_values(values);
    for (size_t i = 0; i < count; i++) {
        uint32_t wanted = defined_bin(values[i]);
        uint32_t found = binning_index(&subject.binning, subject.binning.form, (uint64_t)values[i]);
        if (!is_bin(found, wanted, false))
            return note("value", values[i], found, wanted);
    }
    return check_edges() && check_loops(values, count, false);
}

/* Windows of any width, over the type's ends, over 0, or anywhere. */
static bool check_random_windows(void)
{
    const __int128 min = element_min(&subject.element);
    const __int128 limit = element_limit(&subject.element);
    const unsigned rounds = tap_some(200);
    bool right = true;

    for (size_t i = 0; i < rounds && right; i++) {
        const unsigned shift = (unsigned)(tap_random(&state) % 64);
        const uint64_t width = 1 + (tap_random(&state) >> shift) / 2;
        const uint32_t bins = 1 + (uint32_t)(tap_random(&state) % (i % 8 == 0 ? 4900 : 100));
        const __int128 any = min + (__int128)(tap_random(&state) % (uint64_t)(limit - min - 1));
        const __int128 place = i % 4 == 0 ? min : i % 4 == 1 ? limit - 1 : i % 4 == 2 ? 0 : any;
        __int128 first = binning_floor(place, (__int128)width) - tap_random(&state) % bins;
        if (width == 1 && first < min) /* a window of width 1 cannot start below the type */
            first = min;
        right = check_window(first, bins, width);
    }
    return right;
}

static void test_windows(void)
{
    FOR_EACH_TYPE(type)
    {
        __int128 min = element_min(&subject.element);
        __int128 limit = element_limit(&subject.element);
        uint64_t third = UINT64_MAX / 3;
        bool right = check_window(min, 200, 1) && check_window(limit - 5, 200, 1) &&
                     check_window(min / 10 - 1, 100, 10) && check_window(-50, 100, 7) &&
                     check_window(limit / 1000 - 2, 4000, 1000) &&
                     check_window(-9223372036854777, 4096, 1000) && check_window(-2, 4, third) &&
                     check_window(-1, 2, UINT64_MAX) && check_window(0, 1, UINT64_MAX) &&
                     check_window(-1, 3, (uint64_t)1 << 63) &&
                     check_window(-923, 4096, 10000000000000000) &&
                     check_window(-1, 2, (uint64_t)1 << 31) && check_window(-1, 4, UINT32_MAX) &&
                     check_window(-1, 4, (uint64_t)UINT32_MAX + 1);
        tap_ok(right & check_random_windows(), "%s: windows, also such that reach beyond 64 bits",
               subject.element.name);
    }
}

static void set_powers(unsigned base)
{
    __int128 min = element_min(&subject.element);
    __int128 limit = element_limit(&subject.element);
    __int128 powers[66];
    size_t count = 0;

    subject.count = 0;
    for (__int128 power = 1; power < limit || (min < 0 && power <= -min); power *= base)
        powers[count++] = power;
    if (min < 0) {
        size_t below = count;
        while (powers[below - 1] > -min)
            below--;
        subject.edges[subject.count++] = 1 - powers[below - 1] * base;
        for (size_t i = below; i > 0; i--)
            subject.edges[subject.count++] = 1 - powers[i - 1];
    } else {
        subject.edges[subject.count++] = 0;
    }
    while (powers[count - 1] >= limit)
        count--;
    for (size_t i = 0; i < count; i++)
        subject.edges[subject.count++] = powers[i];
    subject.edges[subject.count++] = powers[count - 1] * base;
}

static void test_powers(void)
{
    FOR_EACH_TYPE(type)
    {
        set_powers(2);
        binning_init_powers(&subject.binning, &subject.element, 2);
        bool right = check("log2", true);
        set_powers(10);
        binning_init_powers(&subject.binning, &subject.element, 10);
        tap_ok(right & check("log10", true), "%s: powers of 2 and of 10", subject.element.name);
    }
}

static bool check_list(const char *name)
{
    struct failure failure;

    if (binning_init_edges(&subject.binning, &subject.element, subject.edges, subject.count,
                           &failure) != STATUS_OK)
        return tap_note("%s: %s", name, failure.message);
    return check(name, true);
}

/* Makes at most `count` ascending edges with gaps of up to `gap`, or of any size if it is 0. */
static void set_random_edges(__int128 low, __int128 high, size_t count, uint64_t gap)
{
    __int128 edge = low;

    subject.count = 0;
    while (subject.count < count && edge <= high) {
        uint64_t word = tap_random(&state);
        subject.edges[subject.count++] = edge;
        edge += 1 + (gap > 0 ? word % gap : word >> tap_random(&state) % 64);
    }
}

static void test_lists(void)
{
    FOR_EACH_TYPE(type)
    {
        bool is_u64 = subject.element.type == ELEMENT_U64;
        __int128 low = is_u64 ? 0 : -POWER2(63);
        __int128 high = POWER2(is_u64 ? 64 : 63);
        bool right = true;

        subject.count = 2;
        subject.edges[0] = low;
        subject.edges[1] = high;
        right = right && check_list("everything");
        subject.edges[1] = low + 1;
        subject.edges[2] = high - 1;
        subject.edges[3] = high;
        subject.count = 4;
        right = right && check_list("the limits");
        set_widths(0, 256, 2);
        right = right && check_list("even numbers");
        for (size_t i = 0; i < 60; i++) {
            __int128 from = i % 3 == 0 ? low : i % 3 == 1 ? element_min(&subject.element) : 0;
            set_random_edges(from, high, 2 + i * i, i % 4 == 0 ? 0 : 1 + i * i * i);
            right = right && (subject.count < 2 || check_list("random edges"));
        }
        tap_ok(right, "%s: bins between edges", subject.element.name);
    }
}

static bool refuses(const __int128 *edges, size_t count, const char *message)
{
    struct failure failure = {.status = STATUS_OK};
    enum status status =
        binning_init_edges(&subject.binning, &subject.element, edges, count, &failure);

    return (status == STATUS_USAGE && strstr(failure.message, message)) ||
           tap_note("status %d, not '%s'", (int)status, message);
}

static void test_refusals(void)
{
    const __int128 edges[] = {5, 7, 7, 6, -1, POWER2(63) + 1, POWER2(64) + 1};
    struct failure failure;

    set_element("i32");
    tap_ok(refuses(edges, 0, "at least two edges") & refuses(edges, 1, "at least two edges"),
           "refuses one edge");
    tap_ok(refuses(edges, 3, "7 is not greater") & refuses(edges + 2, 2, "6 is not greater"),
           "refuses edges that do not ascend");
    tap_ok(refuses(edges + 4, 2, "9223372036854775809 exceeds"), "refuses edges beyond i64");
    tap_ok(binning_init_width(&subject.binning, &subject.element, 0, 10, 0, &failure) ==
                   STATUS_USAGE &&
               binning_init_width(&subject.binning, &subject.element, 0, POWER2(40), 1, &failure) ==
                   STATUS_USAGE,
           "refuses a width of 0, and one of too many bins");
    set_element("u64");
    tap_ok(refuses(edges + 4, 3, "-1 exceeds") & refuses(edges + 6, 1, "at least two edges") &
               refuses(edges + 5, 2, "18446744073709551617 exceeds"),
           "refuses edges beyond u64");
}

/* Returns the width of automatic bins by trying all widths. */
static uint64_t defined_round_width(__int128 low, __int128 high)
{
    static const uint64_t factors[] = {1, 2, 5};

    for (uint64_t power = 1;; power *= 10) {
        for (size_t i = 0; i < 3; i++) {
            __int128 width = (__int128)power * factors[i];
            __int128 first = low;
            __int128 last = high - 1;
            while (first % width != 0)
                first -= first % width + (first % width < 0 ? width : 0);
            while (last % width != 0)
                last -= last % width + (last % width < 0 ? width : 0);
            if ((last - first) / width < 64)
                return power * factors[i];
        }
    }
}

static void test_round_width(void)
{
    bool right = binning_round_width(0, 64) == 1 && binning_round_width(0, 65) == 2 &&
                 binning_round_width(-1, 63) == 1 && binning_round_width(-1, 64) == 2 &&
                 binning_round_width(1, 129) == 5 && binning_round_width(0, 128) == 2 &&
                 binning_round_width(0, 129) == 5 && binning_round_width(5, 6) == 1;

    for (int i = 0; i < 10000 && right; i++) {
        __int128 low = (__int128)(int64_t)(tap_random(&state)) >> tap_random(&state) % 64;
        __int128 high = low + 1 + (tap_random(&state) >> tap_random(&state) % 64);
        right = binning_round_width(low, high) == defined_round_width(low, high);
    }
    right = right && binning_round_width(-POWER2(63), POWER2(63)) == 500000000000000000;
    tap_ok(right, "the width of automatic bins is 1, 2 or 5 times a power of 10, for 64 at most");
}

int main(void)
{
    unsetenv("GPUHIST_ISA");
    cpu_isa_forget();
    test_widths();
    test_windows();
    test_powers();
    test_lists();
    test_refusals();
    test_round_width();
    return tap_done();
}
