/* Implements merge.h: threads that take the next file and add its states to one aggregate. */
#include "config.h"

#include "cli/merge.h"

#include "aggregate/state.h"
#include "aggregate/store.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"
#include "lib/decimal.h"
#include "lib/parallel.h"
#include "lib/resources.h"
#include "result/print.h"
#include "result/result.h"
#include "text/dictionary.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MERGE_NONE SIZE_MAX

/* Number of bytes of a state that a thread reads at a time (state.c). */
#define MERGE_CHUNK_BYTES ((size_t)128 << 10)

/*
 * The merge of the states. Once the first state has been begun, each thread takes one file after
 * another and merges its states into the shared aggregate.
 */
struct merge {
    const struct options *options;
    struct state_reader *first; /* the reader that has begun the first state; owned */
    struct options of_state;    /* the options of that state */
    struct plan plan;           /* the plan of those options */
    struct context context;     /* the context of the plan */
    void *aggregate;            /* owned; NULL: the first state has not been begun */
    unsigned threads;           /* number of threads, as many as there is memory for */

    pthread_mutex_t lock;       /* guards the members below */
    unsigned __int128 elements; /* number of elements in the aggregate */
    unsigned long long states;
    size_t failed;          /* index of the first file that failed, or MERGE_NONE */
    struct failure failure; /* the failure of that file */
};

/* Begins the next state of the file, which must have the line of the first. Sets *found if any. */
static enum status merge_begin_next(const struct merge *merge, struct state_reader *reader,
                                    bool *found, struct failure *failure)
{
    char difference[OPTIONS_DIFFERENCE_SIZE];
    char *line;
    enum status status = state_read_options(reader, &line, failure);

    *found = line != NULL;
    if (status == STATUS_OK && line && !options_compare_lines(merge->plan.line, line, difference))
        status =
            status_fail(failure, STATUS_DATA, STATUS_NAME ": %s " STATUS_NAME,
                        state_reader_name(reader), difference, state_reader_name(merge->first));
    free(line);
    return status;
}

/* Merges the states of a file. Files after one that has failed are not read. */
static void merge_take_file(void *context, size_t file)
{
    struct merge *merge = context;
    struct state_reader *reader = file == 0 ? merge->first : NULL;
    bool found = file == 0;
    struct failure failure;
    uint64_t elements = 0;
    unsigned long long states = 0;
    enum status status = STATUS_OK;

    pthread_mutex_lock(&merge->lock);
    bool is_after_failure = file >= merge->failed;
    pthread_mutex_unlock(&merge->lock);
    if (is_after_failure)
        return;
    if (file > 0) {
        status = state_reader_open(&reader, merge->options->names[file], &failure);
        if (status == STATUS_OK)
            status = merge_begin_next(merge, reader, &found, &failure);
    }
    for (; status == STATUS_OK && found; states++) {
        status = state_load(reader, &merge->plan, merge->aggregate, &elements, &failure);
        if (status == STATUS_OK)
            status = merge_begin_next(merge, reader, &found, &failure);
    }
    if (file > 0)
        state_reader_close(reader);
    pthread_mutex_lock(&merge->lock);
    merge->elements += elements;
    merge->states += states;
    if (status != STATUS_OK && file < merge->failed) {
        merge->failed = file;
        merge->failure = failure;
    }
    pthread_mutex_unlock(&merge->lock);
}

/* Merges all states, the first of which has been begun, and prints and saves the result. */
static enum status merge_states(struct merge *merge, struct failure *failure)
{
    const struct options *options = merge->options;
    const struct store *store = store_of(&merge->plan);
    unsigned threads = merge->threads;
    struct print_output output = {.result = NULL}; /* ordered operations have no states */
    char elements[DECIMAL_SIZE];
    struct stat info;

    /* One thread reads all pipes, each to its end: a writer may write to one after the other. */
    for (size_t i = 0; i < options->name_count; i++) {
        const char *name = options->names[i];
        if (strcmp(name, "-") == 0 || (stat(name, &info) == 0 && !S_ISREG(info.st_mode)))
            threads = 1;
    }
    pthread_mutex_init(&merge->lock, NULL);
    merge->failed = MERGE_NONE;
    parallel_run(threads, options->name_count, merge_take_file, merge);
    pthread_mutex_destroy(&merge->lock);
    if (merge->failed != MERGE_NONE) {
        *failure = merge->failure;
        return failure->status;
    }
    if (merge->elements > UINT64_MAX)
        return status_fail(failure, STATUS_DATA, "the states have more than 2^64 - 1 elements");

    enum status status =
        store->finalize(merge->aggregate, &merge->plan, (uint64_t)merge->elements, failure);
    if (status != STATUS_OK)
        return status;
    decimal_format_fixed(elements, (__int128)merge->elements, plan_count_decimals(&merge->plan));
    if (options->stats)
        status_print("%llu state%s, %s %s%.200s", merge->states, merge->states == 1 ? "" : "s",
                     elements, merge->plan.has_weights ? "of " : "",
                     merge->plan.has_weights ? plan_count_name(&merge->plan) : "elements");
    status = print_final(&output, &merge->plan, merge->aggregate, &options->print, status, failure);
    if (status == STATUS_OK && !options->quiet) {
        result_report(&merge->plan, merge->aggregate);
        result_note(&merge->plan, merge->aggregate, &options->print, true);
    }
    return status;
}

/* Begins the first state, and creates its plan with the options of the merge. */
static enum status merge_begin(struct merge *merge, struct failure *failure)
{
    const struct options *options = merge->options;
    struct plan *plan = &merge->plan;

    if (state_reader_open(&merge->first, options->names[0], failure) != STATUS_OK)
        return failure->status;
    enum status status = state_read_options(merge->first, &plan->line, failure);
    if (status == STATUS_OK)
        status = options_read_line(&merge->of_state, plan->line, options, &merge->context, plan,
                                   failure);
    if (status == STATUS_USAGE) /* the file is wrong, not the command line */
        return state_fail_damaged(merge->first, "its options are invalid", failure);
    return status == STATUS_OK ? options_check_merged(options, plan, failure) : status;
}

enum status merge_run(const struct options *options, struct failure *failure)
{
    struct merge merge = {.options = options};
    const struct plan *plan = &merge.plan;
    struct memory_needs needs;
    enum status status = print_check(&options->print, failure);

    if (status == STATUS_OK)
        status = merge_begin(&merge, failure);
    if (status == STATUS_OK) {
        const unsigned wanted = parallel_threads(options->threads, options->name_count, 1);
        memory_plan_needs(&needs, plan, wanted, MERGE_CHUNK_BYTES, ENGINE_INPUT_UNKNOWN, true, 0);
        status =
            memory_plan_make(&needs, resources_at_start()->memory, plan, &merge.threads, failure);
    }
    if (status == STATUS_OK && plan_has_strings(plan) &&
        !(merge.context.dictionary =
              dictionary_create(merge.context.dictionary_bytes, keyed_hash_create())))
        status = status_fail(failure, STATUS_DATA, "not enough memory for strings");
    if (status == STATUS_OK && !(merge.aggregate = store_of(plan)->create(plan, failure)))
        status = failure->status;
    if (status == STATUS_OK && !options->quiet && options->print.quantiles.count > 0)
        quantiles_note(&options->print.quantiles, "");
    if (status == STATUS_OK)
        status = merge_states(&merge, failure);
    if (merge.aggregate)
        store_of(plan)->destroy(merge.aggregate);
    dictionary_destroy(merge.context.dictionary);
    state_reader_close(merge.first);
    plan_destroy(&merge.plan);
    options_destroy(&merge.of_state);
    return status;
}
