/*
 * Random counts of uniq in several windows and in the table: after each finalization, every value
 * has one row with the sum of all its counts. Windows overlap, contain each other and are distant;
 * some values have weight 0, some tables have runs on disk. More values are added after results
 * were read, like between two reports of --every.
 */
#include "config.h"

#include "aggregate/rows.h"
#include "aggregate/uniq.h"
#include "engine/stores.h"
#include "tap.h"
#include "value/context.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS  (TAP_HAS_TSAN ? 6 : 18)
#define STEPS   32
#define VALUES  ((size_t)1 << 20) /* values -VALUES / 2, -VALUES / 2 + 1, ... */
#define WRITERS 4                 /* threads that move counts, if there are cores */
#define SAMPLE  256
#define BATCH   1000

struct drawn {
    struct plan plan;
    struct uniq *uniq;
    struct table_writer *writers[WRITERS];
    size_t writer_count;
    size_t rows_max;  /* maximum number of rows added to the table at once */
    uint64_t *counts; /* [VALUES]: expected counts */
    bool *is_seen;    /* [VALUES]: the value was added, maybe with weight 0 */
    uint64_t total;
};

/* Cases that the random counts covered. */
static struct {
    bool has_zeros;
    bool has_runs;
    bool has_windows; /* many windows */
    bool has_overlap; /* windows that partly overlap */
} shape;

static uint64_t state = 1;

static uint64_t draw(uint64_t limit)
{
    return tap_random(&state) % limit;
}

static void must(bool is_so, const char *what)
{
    if (is_so)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

static uint64_t key_of(const struct drawn *drawn, size_t value)
{
    uint64_t word = (uint64_t)value - VALUES / 2;
    uniq_make_keys(drawn->uniq, &word, 1);
    return word;
}

static void record(struct drawn *drawn, size_t value, uint64_t count)
{
    drawn->counts[value] += count;
    drawn->is_seen[value] = true;
    drawn->total += count;
}

/* Draws a count of a few bits or of more than 32 bits. */
static uint64_t draw_count(void)
{
    return draw(50) == 0 ? (uint64_t)5 << 32 : 1 + draw(9);
}

/* Adds a window, often across an end of the newest one, not always wide enough for both. */
static void add_window(struct drawn *drawn)
{
    const struct growing_window *newest = uniq_window(drawn->uniq);
    const uint64_t seen = (uint64_t)1 << draw(14);
    const size_t span = ((size_t)1 << (4 + draw(12))) + draw(VALUES / 16);
    size_t first = draw(VALUES - span + 1);
    uint64_t keys[SAMPLE];

    if (newest && draw(4) > 0) {
        const __int128 end = newest->first + VALUES / 2 + draw(2) * newest->bins - draw(span + 1);
        if (end >= 0 && end + (__int128)span <= (__int128)VALUES)
            first = (size_t)end;
    }
    for (size_t i = 0; i < SAMPLE; i++)
        keys[i] = key_of(drawn, first + i * (span - 1) / (SAMPLE - 1));
    uniq_consider_window(drawn->uniq, newest, keys, SAMPLE, seen);
    const struct growing_window *added = uniq_window(drawn->uniq);
    if (added != newest && newest)
        shape.has_overlap |=
            newest->first < added->first && newest->first + (__int128)newest->bins > added->first;
}

/* Adds an array of counts to any window, like a worker that knows it, or a device. */
static void add_to_window(struct drawn *drawn)
{
    static uint64_t counts[VALUES];
    const struct growing_windows *windows = &drawn->uniq->windows;
    if (windows->count == 0)
        return;

    const struct growing_window *window = &windows->list[draw(windows->count)];
    const __int128 low = window->first + VALUES / 2; /* can be below all values */
    const size_t begin = low < 0 ? (size_t)-low : 0;
    size_t end = begin;
    while (end < window->bins && low + (__int128)end < (__int128)VALUES)
        end++;
    if (begin == end)
        return;
    const size_t first = begin + draw(end - begin);
    const size_t n = 1 + draw(end - first);
    const uint64_t sparse = 1 + draw(5);
    for (size_t i = 0; i < n; i++) {
        counts[i] = draw(sparse) == 0 ? draw_count() : 0;
        if (counts[i] > 0)
            record(drawn, (size_t)(low + (__int128)(first + i)), counts[i]);
    }
    histogram_add_counts64(window->histogram, first, counts, n);
}

/* Adds rows to the table, some with weight 0 if kept; as a set, or with repetitions. */
static void add_rows(struct drawn *drawn)
{
    const uint64_t set = draw(3) == 0 ? table_new_set(drawn->uniq->table) : 0;
    const size_t step = drawn->rows_max == VALUES ? 1 : 1 + draw(100);
    const size_t first = draw(VALUES);
    struct table_entry entries[BATCH];
    struct failure failure;
    size_t n = 1 + draw(drawn->rows_max);
    size_t value = first;

    n = n < VALUES / step ? n : VALUES / step;
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < BATCH ? n - i : BATCH;
        for (size_t k = 0; k < some; k++, value = (value + step) % VALUES) {
            const uint64_t count =
                plan_keeps_zeros(&drawn->plan) && draw(3) == 0 ? 0 : draw_count();
            entries[k] = (struct table_entry){key_of(drawn, value), count};
            record(drawn, value, count);
            shape.has_zeros |= count == 0;
        }
        must(table_writer_add_distinct(drawn->writers[draw(drawn->writer_count)], set, entries,
                                       some, &failure) == STATUS_OK,
             "rows are not added");
    }
}

/* Returns whether the rows are those expected, in ascending order if the plan requires it. */
static bool has_rows(const struct drawn *drawn)
{
    bool *is_read = calloc(VALUES, sizeof *is_read);
    struct rows_row batch[BATCH];
    __int128 before = -(__int128)VALUES;
    struct rows rows;
    size_t left = 0;
    size_t n;

    must(is_read != NULL, "no memory");
    for (size_t i = 0; i < VALUES; i++)
        left += drawn->is_seen[i];
    uniq_rows_begin(&rows, &drawn->plan, drawn->uniq, false);
    bool passed = true;
    while (passed && (n = rows.read(&rows, batch, BATCH)) > 0) {
        for (size_t i = 0; i < n && passed; i++) {
            const size_t value = (size_t)(batch[i].low + VALUES / 2);
            passed = value < VALUES && drawn->is_seen[value] && !is_read[value] &&
                     batch[i].count == drawn->counts[value] &&
                     (drawn->plan.any_order || batch[i].low > before);
            if (!passed)
                tap_note("value %lld: %llu, not %llu", (long long)batch[i].low,
                         (unsigned long long)batch[i].count,
                         (unsigned long long)(value < VALUES ? drawn->counts[value] : 0));
            is_read[value < VALUES ? value : 0] = true;
            before = batch[i].low;
            left--;
        }
    }
    free(is_read);
    return passed && (left == 0 || tap_note("%zu rows are missing", left));
}

static bool finalize(struct drawn *drawn)
{
    struct failure failure;
    bool passed = true;

    for (size_t i = 0; i < drawn->writer_count && passed; i++)
        passed = table_writer_flush(drawn->writers[i], &failure) == STATUS_OK;
    passed = passed &&
             store_table.finalize(drawn->uniq, &drawn->plan, drawn->total, &failure) == STATUS_OK;
    if (!passed)
        return tap_note("%s", failure.message);
    shape.has_runs |= !table_is_in_memory(drawn->uniq->table) && drawn->uniq->windows.count > 0;
    shape.has_windows |= drawn->uniq->windows.count > 3;
    return has_rows(drawn);
}

static void test_drawn(size_t round)
{
    const bool is_small =
        round % 6 == 5; /* little memory: with one writer, a million rows do not fit */
    struct context context = {.table_bytes = is_small ? (uint64_t)3 << 20 : (uint64_t)1 << 30};
    struct drawn drawn = {
        .plan = {.operation = OPERATION_UNIQ,
                 .bin_width = 1,
                 .any_order = draw(2) == 0,
                 .has_weights = round / 2 % 2 == 0,
                 .context = &context},
        .writer_count = is_small ? 1 : WRITERS,
        .rows_max = is_small ? VALUES : 20 * BATCH,
        .counts = calloc(VALUES, sizeof *drawn.counts),
        .is_seen = calloc(VALUES, sizeof *drawn.is_seen),
    };
    struct failure failure;
    bool passed = true;

    must(drawn.counts && drawn.is_seen &&
             element_parse(round % 3 == 0 ? "i64" : "i32", &drawn.plan.element) &&
             (drawn.uniq = store_table.create(&drawn.plan, &failure)) != NULL,
         "no aggregate");
    for (size_t i = 0; i < drawn.writer_count; i++)
        must(table_writer_open(drawn.uniq->table, &drawn.writers[i], &failure) == STATUS_OK,
             "no writer");
    for (size_t step = 0; step < STEPS && passed; step++) {
        const uint64_t what = draw(8);
        if (what < 2)
            add_window(&drawn);
        else if (what < 5)
            add_to_window(&drawn);
        else if (what < 7 || step == 0)
            add_rows(&drawn);
        else
            passed = finalize(&drawn);
    }
    tap_ok(passed && finalize(&drawn), "round %zu, with %zu windows", round,
           drawn.uniq->windows.count);
    for (size_t i = 0; i < drawn.writer_count; i++)
        table_writer_close(drawn.writers[i]);
    store_table.destroy(drawn.uniq);
    free(drawn.counts);
    free(drawn.is_seen);
}

/* Dense keys get a window unless a width of the column leaves most of its bins empty. */
static void test_width(uint64_t width, bool has_window)
{
    struct context context = {.table_bytes = (uint64_t)1 << 30};
    struct plan plan = {.operation = OPERATION_UNIQ, .bin_width = 1, .context = &context};
    struct failure failure;
    uint64_t keys[SAMPLE];

    must(element_parse("i64", &plan.element), "no element");
    plan.columns[0].element = plan.element;
    plan.columns[0].width.units = width;
    struct uniq *uniq = store_table.create(&plan, &failure);
    must(uniq != NULL, "no aggregate");
    for (size_t i = 0; i < SAMPLE; i++)
        keys[i] = i * (width > 0 ? width : 1);
    uniq_make_keys(uniq, keys, SAMPLE);
    uniq_consider_window(uniq, NULL, keys, SAMPLE, 1 << 20);
    tap_ok((uniq->windows.count > 0) == has_window, "width %llu", (unsigned long long)width);
    store_table.destroy(uniq);
}

int main(void)
{
    test_width(0, true);
    test_width(8, true);
    test_width(9, false);

    const size_t rounds = getenv("GPUHIST_TEST_SHARE") ? ROUNDS / 2 : ROUNDS;
    for (size_t round = 0; round < rounds; round++)
        test_drawn(round);
    tap_ok(TAP_HAS_TSAN ||
               (shape.has_zeros && shape.has_runs && shape.has_windows && shape.has_overlap),
           "there were zeros %d, runs on disk %d, windows %d, overlaps %d", shape.has_zeros,
           shape.has_runs, shape.has_windows, shape.has_overlap);
    return tap_done();
}
