#include "config.h"

#include "run.h"

#include "merge.h"
#include "monitor.h"
#include "operation.h"
#include "pipeline.h"
#include "print.h"
#include "progress.h"
#include "source.h"
#include "tally.h"

#include <unistd.h>

_Static_assert(SOURCE_SIZE_UNKNOWN == ENGINE_INPUT_UNKNOWN, "the one is passed as the other");
_Static_assert(OPTIONS_GPUS_MAX <= ENGINE_DEVICES_MAX, "there is a crew for each");

/* The bytes of a chunk; 0: what suits the engine. */
static size_t run_chunk_bytes(const struct options *options, const struct job *job)
{
    bool is_small = options->chunk_bytes > 0 && options->chunk_bytes < SOURCE_TEXT_CAPACITY_MIN;
    return job->is_text && is_small ? SOURCE_TEXT_CAPACITY_MIN : options->chunk_bytes;
}

/* What printing takes, also while the run goes on. */
struct run {
    const struct options *options;
    const struct job *job;
    struct source *source;
    void *partial;
    struct print_output output;
    bool is_thread_left; /* as in struct pipeline_report */
};

static enum status run_print_so_far(void *context, struct failure *failure)
{
    struct run *run = context;
    return print_so_far(&run->output, run->job, run->partial, &run->options->print, failure);
}

/* Progress nobody asked for is not drawn over results that come all the time. */
static enum progress_style run_progress(const struct run *run)
{
    const struct options *options = run->options;
    bool streams = operations[run->job->operation]->stop != NULL;

    if (options->progress == OPTIONS_PROGRESS_ON)
        return progress_choose(true);
    if (options->progress == OPTIONS_PROGRESS_OFF || options->quiet ||
        (streams && isatty(STDOUT_FILENO)))
        return PROGRESS_NONE;
    return progress_choose(false);
}

/* Reads the source into the partial. */
static enum status run_pipeline(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    struct pipeline_report report;
    struct monitor monitor = {
        .element_bytes = run->job->is_text ? 0 : run->job->element.bytes,
        .every_seconds = (double)options->every_ns * 1e-9,
        .print = run_print_so_far,
        .context = run,
    };
    progress_begin(&monitor.progress, run_progress(run), source_size(run->source));
    struct pipeline_watcher watcher = monitor_watcher(&monitor);
    struct pipeline_task task = {
        .job = run->job,
        .source = run->source,
        .partial = run->partial,
        .table = engines,
        .engine = options->engine,
        .devices = options->gpus,
        .device_count = options->gpu_count,
        .options =
            {
                .threads = options->threads,
                .chunk_bytes = run_chunk_bytes(options, run->job),
                .input_bytes = source_size(run->source),
            },
        .watcher = &watcher,
    };
    enum status status = pipeline_run(&task, &report, failure);
    run->is_thread_left = report.is_thread_left;
    if (options->verbose)
        progress_print_engines(&report, status == STATUS_OK);
    if (status == STATUS_OK && options->stats)
        progress_print_stats(&report);
    return status;
}

/* Reads the source into the partial and prints it. */
static enum status run_source(const struct options *options, const struct job *job,
                              struct source *source, void *partial, bool *is_thread_left,
                              struct failure *failure)
{
    const struct operation *operation = operations[job->operation];
    struct run run = {.options = options, .job = job, .source = source, .partial = partial};

    enum status status = print_begin(&run.output, job, partial, &options->print, failure);
    if (status == STATUS_OK)
        status = run_pipeline(&run, failure);
    *is_thread_left = run.is_thread_left;
    status = print_end(&run.output, job, partial, &options->print, status, failure);
    if (status == STATUS_OK && options->stats && operation->stats)
        operation->stats(partial);
    if (status == STATUS_OK && operation->report && !options->quiet)
        operation->report(partial);
    if (status == STATUS_OK && job->is_text)
        status = tally_report(job->tally, failure);
    if (status == STATUS_OK && operation->verdict && !print_is_dropped(&options->print))
        status = operation->verdict(job, partial, failure);
    return status;
}

static enum status run_operation(const struct options *options, const struct job *job,
                                 struct source *source, bool *is_thread_left,
                                 struct failure *failure)
{
    const struct operation *operation = operations[job->operation];
    const struct source_format format = {
        .element_bytes = job->element.bytes,
        .is_text = job->is_text,
        .text = job->text,
        .header_lines = options->header_lines,
    };
    void *partial = NULL;

    source_set_format(source, &format);
    enum status status = operation->create(job, &partial, failure);
    if (status == STATUS_OK)
        status = run_source(options, job, source, partial, is_thread_left, failure);
    operation->destroy(partial);
    return status;
}

static enum status run_open_source(const struct options *options, struct source **source,
                                   struct failure *failure)
{
    enum status status = source_open(source, options->names, options->name_count, 1, failure);
    if (status == STATUS_OK && !options->no_decompression)
        source_decode(*source, options->decoding_memory);
    return status;
}

/* Makes the job and opens the source, which is looked at if nothing says what it is. */
static enum status run_prepare(const struct options *options, struct job *job,
                               struct source **source, struct failure *failure)
{
    enum options_input input;
    bool is_text = false;
    enum status status = options_check(options, &input, failure);

    if (status == STATUS_OK && input == OPTIONS_INPUT_ANY) {
        status = run_open_source(options, source, failure);
        if (status == STATUS_OK)
            status = source_look(*source, &is_text, failure);
    }
    if (status == STATUS_OK)
        status = options_make_job(options, is_text || input == OPTIONS_INPUT_TEXT, job, failure);
    if (status == STATUS_OK)
        status = print_check(&options->print, failure);
    if (status == STATUS_OK && !*source)
        status = run_open_source(options, source, failure);
    if (status == STATUS_OK && job->is_text)
        status = tally_create(&job->tally, options->invalid, failure);
    return status;
}

static enum status run_job(const struct options *options, bool *is_thread_left,
                           struct failure *failure)
{
    struct job job = {.predicates = NULL};
    struct source *source = NULL;

    enum status status = run_prepare(options, &job, &source, failure);
    if (status == STATUS_OK)
        status = run_operation(options, &job, source, is_thread_left, failure);
    source_close(source);
    tally_destroy(job.tally);
    job_destroy(&job);
    return status;
}

static enum status run_help(const struct options *options, struct failure *failure)
{
    char text[8192];

    options_help(options, text, sizeof text);
    return print_text(text, failure);
}

enum status run_options(const struct options *options, bool *is_thread_left,
                        struct failure *failure)
{
    *is_thread_left = false;
    monitor_block_signal();
    if (options->help)
        return run_help(options, failure);
    switch (options->action) {
    case OPTIONS_RUN:
        return run_job(options, is_thread_left, failure);
    case OPTIONS_MERGE:
        return merge_run(options, failure);
    case OPTIONS_INFO:
        return print_info(failure);
    case OPTIONS_VERSION:
        return print_version(failure);
    }
    __builtin_unreachable();
}
