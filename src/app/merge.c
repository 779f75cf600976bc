/* Implements merge.h: threads that take the next file and add its states to one partial. */
#include "config.h"

#include "app/merge.h"

#include "base/parallel.h"
#include "partial/operation.h"
#include "partial/state_job.h"
#include "print/print.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define MERGE_NONE SIZE_MAX

/*
 * The sum of the states. Once the first state has been begun, the threads take one file after the
 * other and add their states to the partial, which they share.
 */
struct merge {
    const struct options *options;
    struct state_reader *first;   /* has begun the first state */
    struct definition definition; /* the definition in the first state */
    struct job job;
    void *partial; /* NULL: the first state has not been begun */

    pthread_mutex_t lock;       /* guards what follows */
    unsigned __int128 elements; /* elements in the partial */
    unsigned long long states;
    size_t failed;          /* the first file of which a state could not be added, or MERGE_NONE */
    struct failure failure; /* why */
};

/* Begins the first state, and takes over its definition and its job. */
static enum status merge_begin(struct merge *merge, struct failure *failure)
{
    const struct options *options = merge->options;
    struct job *job = &merge->job;
    bool found; /* a file without a state is an error */
    enum status status = state_reader_open(&merge->first, options->names[0], failure);

    if (status == STATUS_OK)
        status = state_recall(merge->first, &merge->definition, job, &found, failure);
    job->buffer_bytes = options->buffer_bytes;
    job->temporary_directory = options->temporary_directory;
    job->needs_values = options->print.quantiles.count > 0;
    if (status == STATUS_OK)
        status = options_check_merged(options, job, failure);
    if (status == STATUS_OK)
        merge->partial = operation_of(job)->create(job, failure);
    return status == STATUS_OK && !merge->partial ? failure->status : status;
}

static enum status merge_check_definition(const struct merge *merge, const char *name,
                                          const struct definition *definition,
                                          struct failure *failure)
{
    char difference[DEFINITION_DIFFERENCE_SIZE];

    if (definition_compare(&merge->definition, definition, difference))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": %s as in " STATUS_NAME, name,
                       difference, state_reader_name(merge->first));
}

/* Begins the next state of the file. *found is false if there is none. */
static enum status merge_begin_next(const struct merge *merge, struct state_reader *reader,
                                    bool *found, struct failure *failure)
{
    struct definition definition;
    struct job job;
    enum status status = state_recall(reader, &definition, &job, found, failure);

    if (status == STATUS_OK && *found)
        status = merge_check_definition(merge, state_reader_name(reader), &definition, failure);
    definition_destroy(&definition);
    job_destroy(&job);
    return status;
}

/* Adds the state that the reader has begun, if it `found` one, and those behind it. */
static enum status merge_add_states(struct merge *merge, struct state_reader *reader, bool found,
                                    struct failure *failure)
{
    uint64_t elements = 0;
    unsigned long long states = 0;
    enum status status = STATUS_OK;

    for (; status == STATUS_OK && found; states++) {
        status = state_load(reader, &merge->job, merge->partial, &elements, failure);
        if (status == STATUS_OK)
            status = merge_begin_next(merge, reader, &found, failure);
    }
    pthread_mutex_lock(&merge->lock);
    merge->elements += elements;
    merge->states += states;
    pthread_mutex_unlock(&merge->lock);
    return status;
}

static enum status merge_add_file(struct merge *merge, const char *name, struct failure *failure)
{
    struct state_reader *reader;
    bool found = false;
    enum status status = state_reader_open(&reader, name, failure);

    if (status != STATUS_OK)
        return status;
    status = merge_begin_next(merge, reader, &found, failure);
    if (status == STATUS_OK)
        status = merge_add_states(merge, reader, found, failure);
    state_reader_close(reader);
    return status;
}

static bool merge_is_before_failure(struct merge *merge, size_t file)
{
    pthread_mutex_lock(&merge->lock);
    bool is_before = file < merge->failed;
    pthread_mutex_unlock(&merge->lock);
    return is_before;
}

/* Adds the states of a file. Files behind one that has failed are not read. */
static void merge_take_file(void *context, size_t file)
{
    struct merge *merge = context;
    struct failure failure;

    if (!merge_is_before_failure(merge, file))
        return;
    enum status status = file == 0 ? merge_add_states(merge, merge->first, true, &failure)
                                   : merge_add_file(merge, merge->options->names[file], &failure);
    if (status == STATUS_OK)
        return;
    pthread_mutex_lock(&merge->lock);
    if (file < merge->failed) {
        merge->failed = file;
        merge->failure = failure;
    }
    pthread_mutex_unlock(&merge->lock);
}

/*
 * The number of threads. Pipes are read by one thread, each to its end: a writer may write to one
 * after the other.
 */
static unsigned merge_threads(const struct options *options)
{
    struct stat info;

    for (size_t i = 0; i < options->name_count; i++) {
        bool is_stream = strcmp(options->names[i], "-") == 0 ||
                         (stat(options->names[i], &info) == 0 && !S_ISREG(info.st_mode));
        if (is_stream)
            return 1;
    }
    return parallel_threads(options->threads, options->name_count, 1);
}

/* Adds the states of all files. */
static enum status merge_add(struct merge *merge, struct failure *failure)
{
    const struct options *options = merge->options;

    pthread_mutex_init(&merge->lock, NULL);
    merge->failed = MERGE_NONE;
    parallel_run(merge_threads(options), options->name_count, merge_take_file, merge);
    pthread_mutex_destroy(&merge->lock);
    if (merge->failed != MERGE_NONE) {
        *failure = merge->failure;
        return failure->status;
    }
    if (merge->elements > UINT64_MAX)
        return status_fail(failure, STATUS_DATA, "the states have more than 2^64 - 1 elements");
    return STATUS_OK;
}

/* Prints and saves the sum, and writes to stderr what a run would. */
static enum status merge_finish(struct merge *merge, struct failure *failure)
{
    const struct options *options = merge->options;
    const struct operation *operation = operation_of(&merge->job);
    struct print_output output;

    enum status status =
        operation->finish(merge->partial, &merge->job, (uint64_t)merge->elements, failure);
    if (status == STATUS_OK && options->stats)
        status_print("%llu state%s, %llu elements", merge->states, merge->states == 1 ? "" : "s",
                     (unsigned long long)merge->elements);
    if (status != STATUS_OK)
        return status;
    status = print_begin(&output, &merge->job, merge->partial, &options->print, failure);
    status = print_end(&output, &merge->job, merge->partial, &options->print, status, failure);
    if (status == STATUS_OK && operation->report && !options->quiet)
        operation->report(&merge->job, merge->partial);
    if (status == STATUS_OK && operation->check_result && !print_is_dropped(&options->print))
        status = operation->check_result(&merge->job, merge->partial, failure);
    return status;
}

enum status merge_run(const struct options *options, struct failure *failure)
{
    struct merge merge = {.options = options};
    enum status status = print_check_format(&options->print, failure);

    if (status == STATUS_OK)
        status = print_check(&options->print, failure);
    if (status == STATUS_OK)
        status = merge_begin(&merge, failure);
    if (status == STATUS_OK && !options->quiet)
        quantiles_note(&options->print.quantiles);
    if (status == STATUS_OK)
        status = merge_add(&merge, failure);
    if (status == STATUS_OK)
        status = merge_finish(&merge, failure);
    if (merge.partial)
        operation_of(&merge.job)->destroy(merge.partial);
    state_reader_close(merge.first);
    job_destroy(&merge.job);
    definition_destroy(&merge.definition);
    return status;
}
