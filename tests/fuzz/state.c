/*
 * libFuzzer: reads the input as states and merges those with the options of the first state.
 * Accepted states must give a result, and the same state after saving and reading. After a first
 * byte 'r', the input is the file. Any other input is the contents of a frame, which is compressed
 * here, because otherwise no input would pass the checksum.
 */
#include "config.h"

#include "aggregate/groups.h"
#include "aggregate/scalar.h"
#include "aggregate/state.h"
#include "aggregate/store.h"
#include "cli/options.h"
#include "lib/writer.h"
#include "value/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define BINS_MAX     (1u << 20)
#define FRAME_MAX    ((size_t)4 << 20)
#define BUFFER_BYTES ((uint64_t)1 << 30) /* memory for tables */

/* States in memory, as named files. */
static int input = -1;
static char input_name[32];
static char saved_name[64];
static unsigned char frame[FRAME_MAX];

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void remove_saved(void)
{
    unlink(saved_name);
}

static void prepare(void)
{
    input = memfd_create("states", 0);
    require(input >= 0, "memfd_create");
    snprintf(input_name, sizeof input_name, "/proc/self/fd/%d", input);
    snprintf(saved_name, sizeof saved_name, "/dev/shm/gpuhist-fuzz-%ld", (long)getpid());
    atexit(remove_saved);
}

static void set_input(const uint8_t *data, size_t bytes)
{
    require(ftruncate(input, 0) == 0, "ftruncate");
    if (bytes > 0 && data[0] == 'r') {
        require(pwrite(input, data + 1, bytes - 1, 0) == (ssize_t)(bytes - 1), "pwrite");
        return;
    }
    static ZSTD_CCtx *context;
    if (!context) {
        context = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, -5);
    }
    size_t length = ZSTD_compress2(context, frame, sizeof frame, data, bytes);
    require(!ZSTD_isError(length), "ZSTD_compress2");
    require(pwrite(input, frame, length, 0) == (ssize_t)length, "pwrite");
}

/* The sum of the states of a file. */
struct sum {
    struct options options;
    struct context context;
    struct plan plan; /* plan of the first state */
    void *aggregate;
    uint64_t elements;
};

static void destroy(struct sum *sum)
{
    if (sum->aggregate)
        store_of(&sum->plan)->destroy(sum->aggregate);
    plan_destroy(&sum->plan);
    options_destroy(&sum->options);
}

/* Adds up the states of a file. Returns whether all are valid. The caller destroys the sum. */
static bool merge(const char *name, struct sum *sum)
{
    static const struct options none;
    struct failure failure;
    struct state_reader *reader;
    char difference[OPTIONS_DIFFERENCE_SIZE];
    char *line = NULL;
    bool is_fine = state_reader_open(&reader, name, &failure) == STATUS_OK;

    require(is_fine, "cannot open");
    *sum = (struct sum){.aggregate = NULL};
    while (is_fine && (is_fine = state_read_options(reader, &line, &failure) == STATUS_OK) &&
           line) {
        if (sum->aggregate) {
            is_fine = options_compare_lines(sum->plan.line, line, difference);
            free(line);
        } else {
            is_fine = options_read_line(&sum->options, line, &none, &sum->context, &sum->plan,
                                        &failure) == STATUS_OK &&
                      sum->plan.binning.bins <= BINS_MAX;
            sum->context.table_bytes = BUFFER_BYTES;
            is_fine =
                is_fine && (sum->aggregate = store_of(&sum->plan)->create(&sum->plan, &failure));
        }
        line = NULL;
        is_fine = is_fine && state_load(reader, &sum->plan, sum->aggregate, &sum->elements,
                                        &failure) == STATUS_OK;
    }
    free(line);
    state_reader_close(reader);
    return is_fine && sum->aggregate;
}

static void save(const struct plan *plan, const void *aggregate)
{
    struct failure failure;
    struct writer *writer;

    require(writer_open(&writer, saved_name, &failure) == STATUS_OK, "writer_open");
    require(state_save(writer, plan->line, plan, aggregate, &failure) == STATUS_OK, "state_save");
    require(writer_close(writer, &failure) == STATUS_OK, "writer_close");
}

/* Writes the reductions of a finalized aggregate to /dev/null. */
static void write_reductions(const struct plan *plan, const void *aggregate)
{
    const struct scalar *shared = aggregate; /* if there are no groups */
    char text[REDUCE_SIZE];

    for (unsigned i = 0; i < plan->reductions.count; i++) {
        const enum reduction_id id = plan->reductions.list[i].id;
        if (plan->group_count == 0 && plan->operation == OPERATION_REDUCE &&
            reduce_has(shared->row[0], id))
            reduce_write(text, shared->accumulators, shared->row, shared->found, i);
        const struct groups *groups = aggregate;
        const bool has_groups = plan->group_count > 0 && !groups_have_value_keys(plan);
        for (size_t k = 0; has_groups && k < table_distinct(groups->table); k++) {
            const uint64_t *row = groups_row(groups, k, groups->buffer);
            if (reduce_has(row[groups->layout->count], id))
                reduce_write(text, groups->layout, row, NULL, i);
        }
    }
}

static void check(struct sum *sum)
{
    struct failure failure;
    struct sum again;

    require(store_of(&sum->plan)->finalize(sum->aggregate, &sum->plan, sum->elements, &failure) ==
                STATUS_OK,
            "a state that makes no result was taken");
    write_reductions(&sum->plan, sum->aggregate);
    save(&sum->plan, sum->aggregate);
    require(merge(saved_name, &again), "what was saved cannot be read");
    require(again.elements == sum->elements, "other elements were saved");
    destroy(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct sum sum;

    if (input < 0)
        prepare();
    set_input(data, bytes);
    if (merge(input_name, &sum))
        check(&sum);
    destroy(&sum);
    return 0;
}
