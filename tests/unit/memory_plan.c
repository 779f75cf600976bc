/*
 * Memory plans in made-up control groups of both versions: for every plan and number of threads,
 * the sum of the plan fits the group, or it is an error.
 */
#define _XOPEN_SOURCE 700
#include "config.h"

#include "engine/memory_plan.h"

#include "engine/engine.h"
#include "lib/resources.h"
#include "tap.h"
#include "value/context.h"

#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

static char root[PATH_MAX - 64];

/* Writes a file of the tree, whose directory exists. */
static bool write_file(const char *name, uint64_t number, const char *text)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    const bool is_written = text ? fputs(text, file) >= 0 : fprintf(file, "%" PRIu64, number) > 0;
    return fclose(file) == 0 && is_written;
}

/* Makes a group with a limit and memory in use. Returns the available memory. */
static uint64_t make_group(bool is_v2, uint64_t limit, uint64_t used)
{
    static const char *const directories[] = {"proc",   "proc/self",     "sys",
                                              "sys/fs", "sys/fs/cgroup", "sys/fs/cgroup/memory"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(path, sizeof path, "%s/%s", root, directories[i]);
        mkdir(path, 0700);
    }
    const bool is_made = write_file("proc/self/cgroup", 0, is_v2 ? "0::/\n" : "1:memory:/\n") &&
                         write_file(is_v2 ? "sys/fs/cgroup/memory.max"
                                          : "sys/fs/cgroup/memory/memory.limit_in_bytes",
                                    limit, NULL) &&
                         write_file(is_v2 ? "sys/fs/cgroup/memory.current"
                                          : "sys/fs/cgroup/memory/memory.usage_in_bytes",
                                    used, NULL);
    return is_made ? resources_look(root).memory : 0;
}

static int remove_entry(const char *name, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    return at->level >= 0 ? remove(name) : 0;
}

/* Returns the sum of the plan as memory_plan.h defines it. */
static uint64_t add_up(const struct plan *plan, unsigned threads, const struct memory_needs *needs)
{
    const uint64_t blocks = (threads + 1) * needs->table_per_thread;
    const uint64_t values = plan->value_count > 0 ? plan->value_count : 1;
    const uint64_t table = values * plan->context->table_bytes;

    return needs->shared + (table > blocks ? table : blocks) +
           threads * (needs->thread + values * plan->context->counter_bytes);
}

static const unsigned thread_counts[] = {1, 2, 4, 16, 64, 128, 4096};

/* All numbers of threads with a plan, in a group. */
static void test_plan(const char *what, const struct plan *plan, uint64_t available)
{
    bool fits = true;
    bool falls = true;
    unsigned planned = 0;
    uint64_t buffers = UINT64_MAX;

    for (size_t i = 0; i < sizeof thread_counts / sizeof *thread_counts; i++) {
        struct memory_needs needs;
        struct context context;
        struct plan own = *plan;
        struct failure failure;
        unsigned threads;
        own.context = &context;
        memory_plan_needs(&needs, plan, thread_counts[i], 0, ENGINE_INPUT_UNKNOWN, i % 2 == 1, 0);
        if (memory_plan_make(&needs, available, &own, &threads, &failure) != STATUS_OK) {
            fits = fits && strstr(failure.message,
                                  needs.shared > available && needs.bins > 0
                                      ? "not enough memory for 5000000 bins: 38 MiB needed, "
                                      : "not enough memory: ");
            continue;
        }
        fits = fits && threads >= 1 && threads <= thread_counts[i] &&
               add_up(&own, threads, &needs) <= available;
        falls = falls && (i % 2 == 1 || (threads >= planned && context.counter_bytes <= buffers));
        planned = i % 2 == 1 ? planned : threads;
        buffers = i % 2 == 1 ? buffers : context.counter_bytes;
    }
    tap_ok(fits, "%s in %" PRIu64 " MiB: plans fit", what, available / MIB);
    tap_ok(falls, "%s in %" PRIu64 " MiB: more threads have less each, and are not fewer", what,
           available / MIB);
}

static void test_plenty(const char *what, const struct plan *plan)
{
    struct memory_needs needs;
    struct context context;
    struct plan own = *plan;
    struct failure failure;
    unsigned threads;
    const uint64_t values = plan->value_count > 0 ? plan->value_count : 1;

    own.context = &context;
    memory_plan_needs(&needs, plan, 16, 0, ENGINE_INPUT_UNKNOWN, false, 0);
    const bool is_made =
        memory_plan_make(&needs, (uint64_t)64 << 30, &own, &threads, &failure) == STATUS_OK;
    tap_ok(is_made && threads == 16 && context.counter_bytes == needs.buffers_max / values &&
               context.table_bytes * values ==
                   (needs.table_per_thread > 0 ? (uint64_t)32 << 30 : 0),
           "%s with plenty: all threads, the best buffers, half for the table", what);
}

int main(void)
{
    static struct plan pair[] = {
        {.operation = OPERATION_REDUCE, .value_count = 1},
        {.operation = OPERATION_REDUCE, .value_count = 1, .element.kind = KIND_TEXT},
    };
    static const struct plan plans[] = {
        {.operation = OPERATION_HISTOGRAM, .binning.bins = 100},
        {.operation = OPERATION_HISTOGRAM, .binning.bins = 5000000},
        {.operation = OPERATION_HISTOGRAM, .binning.bins = 5000000, .has_weights = true},
        {.operation = OPERATION_UNIQ},
        {.operation = OPERATION_UNIQ,
         .value_count = 1,
         .element.kind = KIND_TEXT,
         .columns[0].element.kind = KIND_TEXT},
        {.operation = OPERATION_REDUCE,
         .value_count = 2,
         .columns[1].element.kind = KIND_TEXT,
         .singles = pair},
        {.operation = OPERATION_REDUCE, .reductions.needs = REDUCTIONS_NEED_TABLE},
        {.operation = OPERATION_REDUCE},
        {.operation = OPERATION_REDUCE, .value_count = 1, .group_count = 1},
        {.operation = OPERATION_COUNT},
        {.operation = OPERATION_STALIN_SORT},
    };
    static const char *const names[] = {"100 bins",      "5M bins",       "5M weighted bins",
                                        "uniq",          "uniq of texts", "numbers and texts",
                                        "reduce median", "reduce",        "groups",
                                        "count",         "stalin-sort"};
    static const uint64_t limits[] = {16, 64, 128, 256, 1024};

    tap_write_template(root, sizeof root, "plan");
    if (!mkdtemp(root)) {
        printf("Bail out! no directory\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const uint64_t available = make_group(i % 2 == 0, limits[i] * MIB, MIB);
        tap_ok(available == (limits[i] - 1) * MIB, "the group's current use counts");
        for (size_t k = 0; k < sizeof plans / sizeof *plans; k++)
            test_plan(names[k], &plans[k], available);
        nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        mkdir(root, 0700);
    }
    rmdir(root);
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++)
        test_plenty(names[k], &plans[k]);

    struct memory_needs of_numbers;
    struct memory_needs of_strings;
    memory_plan_needs(&of_numbers, &plans[3], 4, 0, ENGINE_INPUT_UNKNOWN, false, 0);
    memory_plan_needs(&of_strings, &plans[4], 4, 0, ENGINE_INPUT_UNKNOWN, false, 0);
    tap_ok(of_numbers.table_per_thread > 0 &&
               of_strings.table_per_thread == 2 * of_numbers.table_per_thread,
           "texts need as much again beside the table");

    struct context context;
    const struct plan two = {.operation = OPERATION_UNIQ, .value_count = 2, .context = &context};
    const struct memory_needs needs = {
        .threads = 1, .buffers = 10, .buffers_max = 10, .table_per_thread = 1, .table = 100};
    struct failure failure;
    unsigned threads;
    tap_ok(memory_plan_make(&needs, 64 * MIB, &two, &threads, &failure) == STATUS_OK &&
               context.dictionary_bytes == 50 && context.table_bytes == 50 &&
               context.counter_bytes == 5,
           "columns share");
    tap_ok(memory_plan_decoding(128 * MIB) == 16 * MIB &&
               memory_plan_decoding(16 * MIB) == 8 * MIB &&
               memory_plan_decoding(UINT64_MAX) == 128 * MIB,
           "windows of decoders");
    return tap_done();
}
