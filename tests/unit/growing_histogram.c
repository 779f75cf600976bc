/* Automatic histograms: windows widen, and no count is lost, compared with plain sums. */
#include "config.h"

#include "aggregate/growing_histogram.h"
#include "aggregate/rows.h"
#include "aggregate/store.h"
#include "tap.h"
#include "value/binning_index.h"

#include <stdlib.h>

/* A histogram under test, and the number of values given to it. */
struct test {
    struct plan plan;
    struct growing_histogram *histogram;
    uint64_t added;
};

static void test_open(struct test *test, const char *type)
{
    struct failure failure;

    *test = (struct test){.added = 0};
    if (!element_parse(type, &test->plan.element) ||
        !(test->histogram = growing_histogram_create(&test->plan, &failure))) {
        printf("Bail out! no histogram\n");
        exit(1);
    }
}

static void test_close(struct test *test)
{
    growing_histogram_destroy(test->histogram);
}

/* Adds values first, first + step, ...: n of them, a block. */
static void test_add(struct test *test, uint64_t first, uint64_t step, size_t n)
{
    uint64_t keys[4096];
    struct failure failure;

    for (size_t i = 0; i < n; i++)
        keys[i] = first + i * step;
    if (growing_histogram_add(test->histogram, keys, NULL, n, &failure) != STATUS_OK) {
        printf("Bail out! %s\n", failure.message);
        exit(1);
    }
    test->added += n;
}

/* Finishes the histogram and checks its rows: their number, sum and ascending order. */
static bool test_rows(struct test *test, size_t wanted)
{
    struct failure failure;
    struct rows rows;
    struct rows_row row;
    size_t n = 0;
    uint64_t sum = 0;
    __int128 end = (__int128)1 << 100;

    if (growing_histogram_finalize(test->histogram, &test->plan, test->added, &failure) !=
        STATUS_OK)
        return tap_note("%s", failure.message);
    growing_histogram_rows_begin(&rows, &test->plan, test->histogram,
                                 growing_histogram_width(test->histogram, 64), false);
    for (end = -end; rows.read(&rows, &row, 1) == 1; end = row.high) {
        if (row.low < end || row.count == 0)
            return tap_note("row %zu is empty or not behind the one before", n);
        sum += row.count;
        n++;
    }
    if (n != wanted || sum != test->added)
        return tap_note("%zu rows with %llu values", n, (unsigned long long)sum);
    return true;
}

static void test_growth(void)
{
    struct test test;

    test_open(&test, "i32");
    for (uint64_t i = 0; i < 4000; i++)
        test_add(&test, i * 1000, 1, 1000);
    tap_ok(test_rows(&test, 40), "ascending values are all there");
    tap_ok(test.histogram->windows.count <= 15, "windows widen: %zu",
           test.histogram->windows.count);
    test_add(&test, 1u << 30, 0, 3);
    test_add(&test, (uint64_t)-5, 1, 5);
    tap_ok(test_rows(&test, 3), "more may be added to a finished one");
    test_close(&test);
}

/* Single values on both sides of 0, farther and farther away. */
static void test_automatic(void)
{
    struct test test;
    uint64_t magnitude = 1;

    test_open(&test, "i64");
    for (; magnitude < (uint64_t)1 << 62; magnitude += magnitude / 64 + 1) {
        test_add(&test, magnitude, 0, 1);
        test_add(&test, -magnitude, 0, 1);
    }
    test_add(&test, (uint64_t)1 << 63, 0, 3);
    test_add(&test, INT64_MAX, 0, 2);
    tap_ok(test_rows(&test, 22), "automatic bins over all of i64");
    tap_ok(test.histogram->windows.count <= 54, "three windows a width at the most: %zu",
           test.histogram->windows.count);
    tap_ok(growing_histogram_width(test.histogram, 64) == 500000000000000000, "the final width");
    test_close(&test);
}

/* The first bin begins below the smallest value. */
static void test_below(void)
{
    static struct growing_windows windows;
    const struct growing_window *window = &windows.list[0];
    struct element element;
    struct failure failure;

    element_parse("i64", &element);
    pthread_mutex_init(&windows.lock, NULL);
    const bool is_added = growing_windows_add(&windows, &(struct plan){.element = element},
                                              -((__int128)1 << 63), 100, 10, &failure) == STATUS_OK;
    tap_ok(is_added && window == growing_windows_newest(&windows) &&
               window->first == binning_floor(-((__int128)1 << 63), 10) && window->bins == 100,
           "a window at the smallest value");
    uint32_t lowest = binning_index(&window->binning, window->binning.form, (uint64_t)1 << 63);
    uint32_t largest = binning_index(&window->binning, window->binning.form, INT64_MAX);
    tap_ok(lowest == 0 && largest >= window->bins, "has the smallest value, and not the largest");
    growing_windows_destroy(&windows);
}

/* Counts outside the bins of a window's histogram are not part of the result. */
static void test_outside(void)
{
    struct test test;

    test_open(&test, "i32");
    test_add(&test, 0, 1, 1000);
    struct histogram *histogram = test.histogram->windows.list[0].histogram;
    histogram_add_unlocked(histogram, histogram->entries - 2, 5);
    histogram_add_unlocked(histogram, histogram->entries - 1, 7);
    tap_ok(test_rows(&test, 50), "what lies outside of a window is not counted");
    test_close(&test);
}

int main(void)
{
    test_growth();
    test_automatic();
    test_below();
    test_outside();
    return tap_done();
}
