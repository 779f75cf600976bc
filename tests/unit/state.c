/*
 * States of every kind of binning, written and read back; rows of more than 64 bits; corrupt
 * states.
 */
#include "config.h"

#include "aggregate/histogram.h"
#include "aggregate/scalar.h"
#include "aggregate/state.h"
#include "aggregate/uniq.h"
#include "cli/options.h"
#include "engine/stores.h"
#include "lib/writer.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))
#define POWER2(n)           ((__int128)1 << (n))

enum state_kind { BINS, WIDTH, POWERS, EDGES };

/* Bins: number; width: the width; powers: the base; edges: number, two apart except the last. */
struct shape {
    enum state_kind kind;
    const char *type;
    __int128 low;
    __int128 high;
    uint64_t number;
};

static const struct shape shapes[] = {
    {BINS, "i32", 0, 256, 256},
    {BINS, "i32", -5, 256, 7},
    {BINS, "u8", 0, 1, 1},
    {BINS, "i64", -POWER2(63), POWER2(63), 1},
    {BINS, "i64", -POWER2(63), POWER2(63), 2},
    {BINS, "i64", -POWER2(63), POWER2(63), 1000003},
    {BINS, "u64", 0, POWER2(64), 1},
    {BINS, "u64", POWER2(64) - 100, POWER2(64), 99},
    {WIDTH, "i32", 0, 256, 1},
    {WIDTH, "i32", 0, 256, 256},
    {WIDTH, "i32", -7, 256, 10},
    {WIDTH, "i64", -POWER2(63), POWER2(63), UINT64_MAX},
    {WIDTH, "i16", -POWER2(63), POWER2(63), (uint64_t)1 << 63},
    {WIDTH, "u64", 3, POWER2(64), ((uint64_t)1 << 44) + 1},
    {POWERS, "i8", 0, 0, 2},
    {POWERS, "u8", 0, 0, 10},
    {POWERS, "i64", 0, 0, 2},
    {POWERS, "u64", 0, 0, 10},
    {EDGES, "i32", 5, 1000, 2},
    {EDGES, "i16", -3000, 100000, 1001},
    {EDGES, "u64", 0, POWER2(64), 2},
    {EDGES, "i64", -POWER2(63), POWER2(63), 2},
    {EDGES, "i64", -POWER2(63), POWER2(63), 100},
};

static char directory[4096];
static char file[sizeof directory + 8];

static void require(enum status status, const struct failure *failure)
{
    if (status == STATUS_OK)
        return;
    printf("Bail out! %s\n", failure->message);
    exit(1);
}

static void make_plan(struct plan *plan, const struct shape *shape)
{
    struct failure failure;
    enum status status = STATUS_OK;
    struct binning *binning = &plan->binning;

    *plan = (struct plan){.operation = OPERATION_HISTOGRAM, .outside = OUTSIDE_CLAMP};
    element_parse(shape->type, &plan->element);
    if (shape->kind == BINS) {
        status =
            binning_init(binning, &plan->element, shape->low, shape->high, shape->number, &failure);
    } else if (shape->kind == WIDTH) {
        status = binning_init_width(binning, &plan->element, shape->low, shape->high, shape->number,
                                    &failure);
    } else if (shape->kind == POWERS) {
        binning_init_powers(binning, &plan->element, shape->number == 2 ? 2 : 10);
    } else {
        __int128 edges[1001];
        for (uint64_t i = 0; i < shape->number; i++)
            edges[i] = i == shape->number - 1 ? shape->high : shape->low + 2 * (__int128)i;
        status = binning_init_edges(binning, &plan->element, edges, shape->number, &failure);
    }
    require(status, &failure);
}

/* Reads the options of a state. Returns whether they make a plan, which then has their line. */
static bool read_plan(struct state_reader *reader, struct options *options, struct plan *plan)
{
    static const struct options none;
    struct failure failure;

    *options = (struct options){.words = NULL};
    *plan = (struct plan){.line = NULL};
    return state_read_options(reader, &plan->line, &failure) == STATUS_OK && plan->line &&
           options_read_line(options, plan->line, &none, NULL, plan, &failure) == STATUS_OK;
}

static void save(struct plan *plan, const void *aggregate)
{
    struct failure failure;
    struct writer *writer;

    if (!plan->line)
        plan->line = options_write_line(plan);
    require(writer_open(&writer, file, &failure), &failure);
    require(state_save(writer, plan->line, plan, aggregate, &failure), &failure);
    require(writer_close(writer, &failure), &failure);
}

static bool is_same_binning(const struct binning *a, const struct binning *b)
{
    bool is_powers = a->base > 0;

    if (a->form != b->form || a->bins != b->bins || a->low != b->low || a->last != b->last ||
        a->numerator != b->numerator || a->divisor != b->divisor || a->zero != b->zero)
        return tap_note("not the same binning");
    for (uint64_t bin = 0; bin <= a->bins && !is_powers; bin++) {
        if (binning_edge(a, bin) != binning_edge(b, bin))
            return tap_note("edge %llu differs", (unsigned long long)bin);
    }
    return true;
}

/* Reads the state twice into one histogram, which must then have twice the counts. */
static bool check_loaded(const struct plan *plan, const struct histogram *histogram)
{
    struct failure failure;
    struct state_reader *reader;
    struct options options;
    struct plan found;
    void *aggregate = NULL;
    uint64_t elements = 0;
    bool is_same = true;

    for (unsigned pass = 0; pass < 2; pass++) {
        require(state_reader_open(&reader, file, &failure), &failure);
        is_same = is_same && read_plan(reader, &options, &found) &&
                  is_same_binning(&plan->binning, &found.binning);
        if (!is_same)
            return tap_note("%s", found.line);
        if (!aggregate)
            aggregate = store_array.create(&found, &failure);
        require(aggregate ? STATUS_OK : failure.status, &failure);
        require(state_load(reader, &found, aggregate, &elements, &failure), &failure);
        if (pass == 1)
            require(store_array.finalize(aggregate, &found, elements, &failure), &failure);
        plan_destroy(&found);
        options_destroy(&options);
        state_reader_close(reader);
    }
    const struct histogram *loaded = aggregate;
    for (size_t i = 0; i < histogram->entries && is_same; i++)
        is_same = histogram_count(loaded, i) == 2 * histogram_count(histogram, i);
    store_array.destroy(aggregate);
    return is_same;
}

static void test_shape(const struct shape *shape)
{
    static const char *const kinds[] = {"bins", "width", "powers", "edges"};
    struct failure failure;
    struct plan plan;
    struct histogram *histogram;
    uint64_t random = 1;
    uint64_t elements = 0;

    make_plan(&plan, shape);
    histogram = histogram_create(&plan, &failure);
    require(histogram ? STATUS_OK : failure.status, &failure);
    for (size_t i = 0; i < histogram->entries; i++) {
        uint64_t count = tap_random(&random) % 3 == 0 ? tap_random(&random) >> 32 : 0;
        histogram_add_unlocked(histogram, i, count);
        elements += count;
    }
    require(histogram_finalize(histogram, &plan, elements, &failure), &failure);
    save(&plan, histogram);
    tap_ok(check_loaded(&plan, histogram), "%s %llu, type %s, %u bins", kinds[shape->kind],
           (unsigned long long)shape->number, shape->type, plan.binning.bins);
    histogram_destroy(histogram);
    plan_destroy(&plan);
}

struct row {
    unsigned __int128 bin;
    uint64_t count;
};

/* Rows at both ends of 65 bits and of 128, and with gaps that do and do not end a run. */
static const struct row rows[] = {
    {0, 1},
    {1, UINT64_MAX - 999},
    {10, 1},
    {20, 2},
    {(unsigned __int128)1 << 64, 127},
    {((unsigned __int128)1 << 65) - 1, 128},
    {-(unsigned __int128)2, 5},
};

/* The numbers of bins in their runs. */
static const size_t runs[] = {11, 1, 1, 1, 1, 0};

static void write_rows(void)
{
    struct failure failure;
    struct writer *writer;
    struct state_writer *state;

    require(writer_open(&writer, file, &failure), &failure);
    require(state_writer_open(&state, writer, "any text", &failure), &failure);
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        state_write_row(state, rows[i].bin, rows[i].count);
    state_write_rows_end(state);
    state_write_number(state, -(unsigned __int128)1);
    require(state_writer_close(state, STATUS_OK, &failure), &failure);
    require(writer_close(writer, &failure), &failure);
}

static void test_rows(void)
{
    struct failure failure;
    struct state_reader *reader;
    struct state_run run;
    char *line;
    unsigned __int128 number;
    const struct row *row = rows;
    uint64_t left = 0;
    bool is_same = true;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        left += rows[i].count;
    write_rows();
    require(state_reader_open(&reader, file, &failure), &failure);
    require(state_read_options(reader, &line, &failure), &failure);
    for (size_t i = 0; i < ARRAY_LENGTH(runs); i++) {
        require(state_read_run(reader, -(unsigned __int128)1, &left, &run, &failure), &failure);
        is_same = is_same && run.n == runs[i];
        for (size_t j = 0; j < run.n; j++) {
            const bool is_row = row < rows + ARRAY_LENGTH(rows) && row->bin == run.bin + j;
            is_same = is_same && run.counts[j] == (is_row ? row->count : 0);
            row += is_row;
        }
    }
    is_same = is_same && row == rows + ARRAY_LENGTH(rows) && left == 0;
    require(state_read_number_128(reader, &number, &failure), &failure);
    is_same = is_same && number == -(unsigned __int128)1;
    require(state_read_end(reader, &failure), &failure);
    tap_ok(is_same && strcmp(line, "any text") == 0, "rows and numbers of 128 bits");
    free(line);
    state_reader_close(reader);
}

/* Reads data[0..bytes) as one state: its aggregate, NULL if it is refused, and its elements. */
static void *load(const unsigned char *data, size_t bytes, struct options *options,
                  struct plan *plan, uint64_t *elements)
{
    struct failure failure;
    struct state_reader *reader;
    void *aggregate = NULL;
    char *more = NULL;
    FILE *out = fopen(file, "wb");

    if (!out || fwrite(data, 1, bytes, out) != bytes || fclose(out) != 0)
        printf("Bail out! cannot write %s\n", file);
    *elements = 0;
    require(state_reader_open(&reader, file, &failure), &failure);
    bool is_fine = read_plan(reader, options, plan) &&
                   (aggregate = store_of(plan)->create(plan, &failure)) != NULL &&
                   state_load(reader, plan, aggregate, elements, &failure) == STATUS_OK;
    if (is_fine) { /* nothing can follow */
        is_fine = state_read_options(reader, &more, &failure) == STATUS_OK && !more;
        free(more);
    }
    state_reader_close(reader);
    if (is_fine || !aggregate)
        return aggregate;
    store_of(plan)->destroy(aggregate);
    return NULL;
}

/* Reads the output of `save`; returns its length. */
static size_t read_file(unsigned char *data, size_t room)
{
    FILE *in = fopen(file, "rb");
    size_t bytes = in ? fread(data, 1, room, in) : 0;

    if (in)
        fclose(in);
    return bytes;
}

/* A state with missing bytes at the end, or with a flipped bit, is refused or equivalent. */
static void test_damage(const char *name, struct plan *plan, const void *aggregate)
{
    unsigned char good[1024];
    unsigned char bad[1024];
    unsigned char again[1024];
    struct failure failure;
    unsigned same = 0;
    bool passed = true;

    save(plan, aggregate);
    size_t bytes = read_file(good, sizeof good);
    for (size_t i = 0; i < 9 * bytes && passed; i++) {
        struct options options;
        struct plan found;
        bool is_cut = i < bytes;
        memcpy(bad, good, bytes);
        if (!is_cut)
            bad[(i - bytes) / 8] ^= (unsigned char)(1 << i % 8);
        uint64_t elements;
        void *loaded = load(bad, is_cut ? i : bytes, &options, &found, &elements);
        if (loaded) {
            const struct store *store = store_of(&found);
            require(store->finalize(loaded, &found, elements, &failure), &failure);
            save(&found, loaded);
            same++;
            passed = !is_cut && read_file(again, sizeof again) == bytes &&
                     memcmp(again, good, bytes) == 0;
            store_of(&found)->destroy(loaded);
        }
        plan_destroy(&found);
        options_destroy(&options);
        if (!passed)
            tap_note("%s %zu made another state", is_cut ? "a cut at" : "flip", i);
    }
    tap_ok(passed && bytes > 60 && same <= 16, "damage to a state of %s, %zu bytes", name, bytes);
    plan_destroy(plan);
}

static void put_entry(struct table *table, const struct table_entry *entry)
{
    struct failure failure;
    struct table_writer *writer;

    require(table_writer_open(table, &writer, &failure), &failure);
    require(table_writer_add_rows(writer, entry, 1, &failure), &failure);
    require(table_writer_flush(writer, &failure), &failure);
    table_writer_close(writer);
}

/* A state of reductions; some of them have a table. */
static void test_damage_table(void)
{
    struct failure failure;
    struct plan plan = {.operation = OPERATION_REDUCE, .bin_width = 1};
    void *aggregate;

    element_parse("i16", &plan.element);
    reductions_parse("mode,p99.9,count", &plan.reductions);
    aggregate = store_scalar.create(&plan, &failure);
    require(aggregate ? STATUS_OK : failure.status, &failure);
    put_entry(((struct scalar *)aggregate)->uniq->table,
              &(const struct table_entry){.key = 7, .count = 3});
    scalar_merge(aggregate, &(const uint64_t){3});
    require(store_scalar.finalize(aggregate, &plan, 3, &failure), &failure);
    test_damage("reductions with a table", &plan, aggregate);
    store_scalar.destroy(aggregate);
}

static void test_damages(void)
{
    struct failure failure;
    struct plan plan;
    struct histogram *histogram;
    void *aggregate;
    static const uint64_t row[] = {3, 9, 0, 29, 0, 0, 2, 4, 0, 7, 5};

    make_plan(&plan, &shapes[0]);
    histogram = histogram_create(&plan, &failure);
    require(histogram ? STATUS_OK : failure.status, &failure);
    histogram_add_unlocked(histogram, 7, 300);
    test_damage("a histogram", &plan, histogram);
    histogram_destroy(histogram);

    plan = (struct plan){.operation = OPERATION_REDUCE};
    element_parse("i16", &plan.element);
    reductions_default(&plan.reductions, 0);
    aggregate = store_scalar.create(&plan, &failure);
    require(aggregate ? STATUS_OK : failure.status, &failure);
    scalar_merge(aggregate, row);
    test_damage("reductions", &plan, aggregate);
    store_scalar.destroy(aggregate);

    plan = (struct plan){.operation = OPERATION_COUNT, .predicate_count = 1};
    element_parse("i64", &plan.element);
    plan.predicates = calloc(1, sizeof *plan.predicates);
    require(predicate_init_any_of(plan.predicates, "3,9", &plan.element, (const uint64_t[]){3, 9},
                                  2, &failure),
            &failure);
    aggregate = store_scalar.create(&plan, &failure);
    require(aggregate ? STATUS_OK : failure.status, &failure);
    scalar_merge(aggregate, (const uint64_t[]){1000, 500});
    test_damage("counts", &plan, aggregate);
    store_scalar.destroy(aggregate);
}

/*
 * Counts that exceed the elements, so that the rest wraps around, and counts that wrap it back:
 * both must be refused. The checksum is valid.
 */
static void test_wrap(void)
{
    static const uint64_t forged[][3] = {{UINT64_MAX - 4, 0, 0},
                                         {0, UINT64_MAX - 4, 0},
                                         {0, 0, UINT64_MAX - 4}};
    struct failure failure;
    unsigned char data[1024];

    for (size_t i = 0; i < ARRAY_LENGTH(forged); i++) {
        struct options options;
        struct plan plan;
        struct plan found;
        struct histogram *histogram;
        make_plan(&plan, &shapes[0]);
        plan.outside = OUTSIDE_REPORT;
        histogram = histogram_create(&plan, &failure);
        require(histogram ? STATUS_OK : failure.status, &failure);
        histogram->ignored = forged[i][0];
        histogram_add_unlocked(histogram, plan.binning.bins, forged[i][1]);
        histogram_add_unlocked(histogram, plan.binning.bins + 1, forged[i][2]);
        histogram_add_unlocked(histogram, 7, 305); /* 300 elements in all, modulo 2^64 */
        histogram->inside = 305;
        save(&plan, histogram);
        uint64_t elements;
        void *loaded = load(data, read_file(data, sizeof data), &options, &found, &elements);
        tap_ok(!loaded, "a state whose count %zu wraps is refused", i);
        if (loaded)
            store_array.destroy(loaded);
        histogram_destroy(histogram);
        plan_destroy(&found);
        options_destroy(&options);
        plan_destroy(&plan);
    }
}

/* Sums of squares at both bounds, and beyond: three elements of i16 whose sum is 9. */
static void test_squares(void)
{
    static const uint64_t extreme = (uint64_t)3 << 30;
    static const struct {
        uint64_t squares;
        bool is_valid;
    } cases[] = {{26, false}, {27, true}, {extreme, true}, {extreme + 1, false}};
    unsigned char data[1024];
    struct failure failure;

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct plan plan = {.operation = OPERATION_REDUCE};
        struct plan found;
        struct options options;
        uint64_t elements;
        element_parse("i16", &plan.element);
        reductions_parse("variance", &plan.reductions);
        void *aggregate = store_scalar.create(&plan, &failure);
        require(aggregate ? STATUS_OK : failure.status, &failure);
        scalar_merge(aggregate, (const uint64_t[]){3, 9, 0, cases[i].squares, 0, 0});
        save(&plan, aggregate);
        store_scalar.destroy(aggregate);
        void *loaded = load(data, read_file(data, sizeof data), &options, &found, &elements);
        tap_ok((loaded != NULL) == cases[i].is_valid, "a state with the sum of squares %llu",
               (unsigned long long)cases[i].squares);
        if (loaded)
            store_scalar.destroy(loaded);
        plan_destroy(&found);
        options_destroy(&options);
        plan_destroy(&plan);
    }
}

/* Rows after the end of others begin at bin 0 again. */
static void test_rows_again(void)
{
    static const unsigned bins[] = {5, 3};
    struct failure failure;
    struct writer *writer;
    struct state_writer *state;
    struct state_reader *reader;
    struct state_run run;
    uint64_t left = ARRAY_LENGTH(bins);
    char *line;
    bool is_same = true;

    require(writer_open(&writer, file, &failure), &failure);
    require(state_writer_open(&state, writer, "any text", &failure), &failure);
    for (size_t i = 0; i < ARRAY_LENGTH(bins); i++) {
        state_write_row(state, bins[i], 1);
        state_write_rows_end(state);
    }
    require(state_writer_close(state, STATUS_OK, &failure), &failure);
    require(writer_close(writer, &failure), &failure);
    require(state_reader_open(&reader, file, &failure), &failure);
    require(state_read_options(reader, &line, &failure), &failure);
    for (size_t i = 0; i < ARRAY_LENGTH(bins) && is_same; i++) {
        uint64_t one = 1;
        is_same = state_read_run(reader, 10, &one, &run, &failure) == STATUS_OK && run.n == 1 &&
                  run.bin == bins[i] &&
                  state_read_run(reader, 10, &one, &run, &failure) == STATUS_OK && run.n == 0;
        left -= is_same;
    }
    tap_ok(is_same && left == 0 && state_read_end(reader, &failure) == STATUS_OK,
           "rows, and rows after them");
    free(line);
    state_reader_close(reader);
}

/* Rows with as many bins as a run, and one more. */
static void test_full_run(void)
{
    struct failure failure;
    struct writer *writer;
    struct state_writer *state;
    struct state_reader *reader;
    struct state_run run;
    uint64_t left = STATE_RUN_BINS + 1;
    char *line;

    require(writer_open(&writer, file, &failure), &failure);
    require(state_writer_open(&state, writer, "any text", &failure), &failure);
    for (size_t bin = 0; bin <= STATE_RUN_BINS; bin++)
        state_write_row(state, bin, 1);
    state_write_rows_end(state);
    require(state_writer_close(state, STATUS_OK, &failure), &failure);
    require(writer_close(writer, &failure), &failure);
    require(state_reader_open(&reader, file, &failure), &failure);
    require(state_read_options(reader, &line, &failure), &failure);
    bool is_right = state_read_run(reader, 2000, &left, &run, &failure) == STATUS_OK &&
                    run.n == STATE_RUN_BINS && run.bin == 0;
    is_right = is_right && state_read_run(reader, 2000, &left, &run, &failure) == STATUS_OK &&
               run.n == 1 && run.bin == STATE_RUN_BINS && left == 0;
    tap_ok(is_right, "a full run, and one bin after it");
    free(line);
    state_reader_close(reader);
}

/* Makes a state of two lines and these bytes in frame[0..256); starts reading after the lines. */
static struct state_reader *read_bytes(const char *bytes, size_t count, char *frame)
{
    static const char lines[] = "gpuhist state 5\nany text\n";
    char text[sizeof lines + 32];
    struct failure failure;
    struct state_reader *reader;
    char *line;
    ZSTD_CCtx *context = ZSTD_createCCtx();

    memcpy(text, lines, sizeof lines - 1);
    memcpy(text + sizeof lines - 1, bytes, count);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const size_t frame_bytes = ZSTD_compress2(context, frame, 256, text, sizeof lines - 1 + count);
    ZSTD_freeCCtx(context);
    require(state_reader_open_memory(&reader, "memory", &failure), &failure);
    state_reader_feed(reader, frame, frame_bytes);
    require(state_read_options(reader, &line, &failure), &failure);
    free(line);
    return reader;
}

static bool reads_number(const char *bytes, size_t count, uint64_t *number)
{
    char frame[256];
    struct failure failure;
    struct state_reader *reader = read_bytes(bytes, count, frame);
    const bool is_read = state_read_number(reader, number, &failure) == STATUS_OK &&
                         state_read_end(reader, &failure) == STATUS_OK;

    state_reader_close(reader);
    return is_read;
}

/* Two bins of ten, one after the other. */
static bool reads_run(const char *bytes, size_t count)
{
    char frame[256];
    struct failure failure;
    struct state_run run;
    uint64_t left = 2;
    struct state_reader *reader = read_bytes(bytes, count, frame);
    const bool is_read = state_read_run(reader, 10, &left, &run, &failure) == STATUS_OK;

    state_reader_close(reader);
    return is_read;
}

/* A number has one form. */
static void test_numbers(void)
{
    uint64_t number = 0;

    tap_ok(reads_number("\x81\x01", 2, &number) && number == 129, "a number of two bytes");
    tap_ok(!reads_number("\x81\x00", 2, &number), "a number with an empty byte at its end");
    tap_ok(reads_number("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, &number) &&
               number == UINT64_MAX,
           "the greatest number");
    tap_ok(!reads_number("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03", 10, &number),
           "a number of 65 bits");
    tap_ok(reads_run("\2\10\1\1", 4), "a run of the last two bins");
    tap_ok(!reads_run("\2\11\1\1", 4), "a run that goes on after the last bin");
    tap_ok(!reads_run("\2\12\1\1", 4), "a run after the last bin");
}

int main(void)
{
    tap_write_template(directory, sizeof directory, "state");
    if (!mkdtemp(directory)) {
        printf("Bail out! no directory for files\n");
        return 1;
    }
    snprintf(file, sizeof file, "%s/state", directory);
    for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++)
        test_shape(&shapes[i]);
    test_rows();
    test_damages();
    test_damage_table();
    test_wrap();
    test_squares();
    test_rows_again();
    test_full_run();
    test_numbers();
    unlink(file);
    rmdir(directory);
    return tap_done();
}
