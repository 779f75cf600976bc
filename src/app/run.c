/* Carries out a run: creates the job, opens the source, runs the pipeline, prints. */
#include "config.h"

#include "app/run.h"

#include "app/engines.h"
#include "app/merge.h"
#include "app/monitor.h"
#include "app/progress.h"
#include "input/parse_errors.h"
#include "input/source.h"
#include "job/weight_sum.h"
#include "partial/operation.h"
#include "pipeline/pipeline.h"
#include "print/print.h"

#include <unistd.h>

_Static_assert(SOURCE_SIZE_UNKNOWN == ENGINE_INPUT_UNKNOWN, "the one is passed as the other");
/* What the chunk of every engine has room for. */
#define RUN_RECORD_BYTES ((size_t)64 << 10)

_Static_assert(OPTIONS_GPUS_MAX <= ENGINE_DEVICES_MAX, "there is a pool for each");

/* Returns the size of a chunk in bytes; 0: chosen by the engine. */
static size_t run_chunk_bytes(const struct options *options, const struct job *job)
{
    size_t least = job->is_text ? SOURCE_TEXT_CAPACITY_MIN : job->record_bytes;

    if (options->chunk_bytes == 0 && job->record_bytes <= RUN_RECORD_BYTES)
        return 0;
    return options->chunk_bytes < least ? least : options->chunk_bytes;
}

/* The state of a run. Owns everything except the options. */
struct run {
    const struct options *options;
    const char *engine; /* the only engine to use; NULL: all that pay */
    struct job job;
    struct weight_sum weights; /* of the job */
    struct source *source;
    void *partial;
    struct print_output output;
    char quotes_note[SOURCE_NOTE_SIZE]; /* for the end: of quoted fields that a delimiter splits */
    bool is_thread_left;                /* as in struct pipeline_report, of any attempt */
};

static enum status run_print_so_far(void *context, struct failure *failure)
{
    struct run *run = context;
    return print_so_far(&run->output, &run->job, run->partial, &run->options->print, failure);
}

/* What a run tells on stderr once the result is printed. */
static enum status run_report(const struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    const struct operation *operation = operations[run->job.operation];

    if (options->stats && operation->stats)
        operation->stats(run->partial);
    if (operation->report && !options->quiet)
        operation->report(run->partial);
    if (*run->quotes_note)
        status_print("%s", run->quotes_note);
    const char *tabbed = source_tabbed_file(run->source);
    if (tabbed && !options->quiet)
        status_print("note: the header of %s has tabs, so tabs separate its fields (-d '\\t')",
                     tabbed);
    if (!options->quiet)
        print_note(&run->job, run->partial, &options->print);
    return run->job.is_text ? parse_errors_report(run->job.errors, options->quiet, failure)
                            : STATUS_OK;
}

/*
 * Ends a run in which counting ended with status `counted`: prints the result, and then reports
 * values outside the bins and invalid tokens. If counting succeeded and printing fails, reports
 * invalid tokens alone.
 */
static enum status run_end(struct run *run, enum status counted, struct failure *failure)
{
    const struct job *job = &run->job;
    struct failure beside;
    enum status status =
        print_end(&run->output, job, run->partial, &run->options->print, counted, failure);

    if (status == STATUS_OK)
        return run_report(run, failure);
    if (counted == STATUS_OK && job->is_text)
        parse_errors_report(job->errors, true, &beside);
    return status;
}

/* The end of a run that a signal ends. */
static enum status run_print_last(void *context, struct failure *failure)
{
    return run_end(context, STATUS_OK, failure);
}

/* Unrequested progress is not drawn on a terminal to which the operation streams results. */
static enum progress_style run_progress(const struct run *run)
{
    const struct options *options = run->options;
    bool streams = operations[run->job.operation]->stop != NULL;

    if (options->progress == OPTIONS_PROGRESS_ON)
        return progress_choose(true);
    if (options->progress == OPTIONS_PROGRESS_OFF || options->quiet ||
        (streams && isatty(STDOUT_FILENO)))
        return PROGRESS_NONE;
    return progress_choose(false);
}

/* Reads the whole source into the partial. */
static enum status run_pipeline(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    struct pipeline_report report;
    struct monitor monitor = {
        .element_bytes = run->job.is_text ? 0 : job_value_bytes(&run->job),
        .every_seconds = (double)options->every_ns * 1e-9,
        .print = run_print_so_far,
        .print_last = run_print_last,
        .context = run,
    };
    progress_begin(&monitor.progress, run_progress(run), source_file_bytes(run->source));
    struct pipeline_watcher watcher = monitor_watcher(&monitor);
    struct pipeline_task task = {
        .job = &run->job,
        .source = run->source,
        .partial = run->partial,
        .table = engines,
        .engine = run->engine,
        .devices = options->gpus,
        .device_count = options->gpu_count,
        .options =
            {
                .threads = options->threads,
                .chunk_bytes = run_chunk_bytes(options, &run->job),
                .input_bytes = source_size(run->source),
                .is_compressed = source_is_compressed(run->source),
            },
        .watcher = &watcher,
    };
    enum status status = pipeline_run(&task, &report, failure);
    monitor_release_signals();
    run->is_thread_left = run->is_thread_left || report.is_thread_left;
    if (options->verbose)
        progress_print_engines(&report, status == STATUS_OK);
    if (status == STATUS_OK && options->stats)
        progress_print_stats(&report);
    return status;
}

/* Prepares an attempt: empty parse errors for text, no weights yet, and an empty partial. */
static enum status run_make_partial(struct run *run, struct failure *failure)
{
    struct job *job = &run->job;

    weight_sum_clear(&run->weights);
    job->weights = &run->weights;

    if (job->is_text &&
        parse_errors_create(&job->errors, job, run->options->field_name, run->options->second_name,
                            run->options->invalid, failure) != STATUS_OK)
        return failure->status;
    return operations[job->operation]->create(job, &run->partial, failure);
}

static void run_destroy_partial(struct run *run)
{
    operations[run->job.operation]->destroy(run->partial);
    run->partial = NULL;
    parse_errors_destroy(run->job.errors);
    run->job.errors = NULL;
}

/* Makes a second attempt from the reopened source, with an empty partial. */
static enum status run_again(struct run *run, struct failure *failure)
{
    run_destroy_partial(run);
    if (run_make_partial(run, failure) != STATUS_OK)
        return failure->status;
    print_restart(&run->output, &run->job, run->partial);
    return run_pipeline(run, failure);
}

/*
 * A device failed and its chunks are lost. If the user named no engine, repeats the run on the CPU
 * if the source can be read again. Output that an ordered operation has already written is a prefix
 * of the new output.
 */
static enum status run_without_devices(struct run *run, struct failure *failure)
{
    const struct failure lost = *failure;
    struct failure reason;

    if (source_repeat(&run->source, &reason) != STATUS_OK)
        return status_fail(failure, STATUS_DATA, "%.1024s; the CPU cannot start again: %.2048s",
                           lost.message, reason.message);
    status_print("%s; starting again on the CPU", lost.message);
    run->engine = engine_last(engines)->name;
    return run_again(run, failure);
}

/*
 * Compressed files were decoded in parallel, and a record was cut. Reads everything again in order.
 */
static enum status run_in_order(struct run *run, struct failure *failure)
{
    if (source_repeat(&run->source, failure) != STATUS_OK)
        return failure->status;
    return run_again(run, failure);
}

/* Reads the source into the partial and prints the result. */
static enum status run_source(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    const struct job *job = &run->job;
    const struct operation *operation = operations[job->operation];

    enum status status = print_begin(&run->output, job, run->partial, &options->print, failure);
    if (status == STATUS_OK)
        status = run_pipeline(run, failure);
    if (status != STATUS_OK && source_needs_order(run->source))
        status = run_in_order(run, failure);
    if (status == STATUS_ENGINE && !run->engine)
        status = run_without_devices(run, failure);
    status = run_end(run, status, failure);
    if (status == STATUS_OK && operation->verdict && !print_is_dropped(&options->print))
        status = operation->verdict(job, run->partial, failure);
    return status;
}

/*
 * Returns whether chunks may come in any order. They may not for ordered operations. Nor may they
 * for binary input if a value's offset or a result so far is shown before it is known that no file
 * ends within an element.
 */
static bool run_takes_any_order(const struct run *run)
{
    const struct job *job = &run->job;
    bool shows_early = job->outside == OUTSIDE_ABORT || run->options->every_ns > 0;

    return !operations[job->operation]->stop && (job->is_text || !shows_early);
}

/*
 * Looks whether a delimiter that the user gave splits quoted fields. In a log, -d ' ' is meant to
 * split them, as cut does.
 */
static enum status run_look_at_quotes(struct run *run, struct failure *failure)
{
    const struct text_rules *rules = &run->job.text;
    bool is_text;

    if (!run->job.is_text || rules->delimiter == TEXT_NO_DELIMITER || rules->delimiter == ' ' ||
        rules->delimiter == '"' || rules->is_quoted || run->options->quiet)
        return STATUS_OK;
    return source_look(run->source, &is_text, run->quotes_note, failure);
}

static enum status run_operation(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    const struct job *job = &run->job;
    struct record_format format = {
        .element_bytes = job_value_bytes(job),
        .has_records = job->record_bytes > 0,
        .is_text = job->is_text,
        .text = job->text,
        .header_lines = options->header_lines,
        .field_name = options->field_name,
        .second_name = options->second_name,
    };

    if (format.header_lines == 0 && record_has_names(&format))
        format.header_lines = 1;

    source_set_format(run->source, &format);
    enum status status = run_look_at_quotes(run, failure);
    if (status == STATUS_OK && run_takes_any_order(run))
        source_divide(run->source);
    if (status == STATUS_OK)
        status = run_make_partial(run, failure);
    if (status == STATUS_OK)
        status = run_source(run, failure);
    run_destroy_partial(run);
    return status;
}

static enum status run_open_source(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    enum status status = source_open(&run->source, options->names, options->name_count, 1, failure);

    if (status == STATUS_OK && !options->no_decompression)
        source_decode(run->source, options->decoding_memory, operations[options->operation]->stop);
    if (status == STATUS_OK && !options->binary && !options->has_order)
        source_refuse_kinds(run->source);
    return status;
}

/* Checks the outputs. Checks also that results written during the run do not go to an input. */
static enum status run_check_outputs(const struct options *options, struct failure *failure)
{
    bool is_early = options->every_ns > 0;
    bool streams = operations[options->operation]->stop || is_early;
    enum status status = print_check(&options->print, failure);

    for (size_t i = 0; status == STATUS_OK && streams && i < options->name_count; i++)
        status = print_check_input(&options->print, options->names[i], is_early, failure);
    return status;
}

/* Looks whether the source is text. Prints what speaks against reading it without options. */
static enum status run_look(struct run *run, bool *is_text, struct failure *failure)
{
    char note[SOURCE_NOTE_SIZE];
    enum status status = run_open_source(run, failure);

    if (status == STATUS_OK)
        status = source_look(run->source, is_text, note, failure);
    if (status == STATUS_OK && *note && !run->options->quiet &&
        (*is_text || !run->options->has_type))
        status_print("%s", note);
    return status;
}

/* Prints a note if the result goes to a file whose name says another format. */
static void run_note_suffix(const struct options *options)
{
    if (!operations[options->operation]->stop) /* an ordered operation has no formats */
        print_note_suffix(&options->print, options_print_bins(options));
}

/* Creates the job and opens the source. Looks at the source if no option states its kind. */
static enum status run_prepare(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    enum options_input input;
    bool is_text = false;
    enum status status = options_check(options, &input, failure);

    if (status == STATUS_OK)
        status = run_check_outputs(options, failure);
    if (status == STATUS_OK && !options->has_names && !options->quiet && isatty(STDIN_FILENO))
        status_print("reading standard input, up to Ctrl-D (see gpuhist --help)");
    if (status == STATUS_OK && !options->quiet) {
        quantiles_note(&options->print.quantiles);
        run_note_suffix(options);
    }
    if (status == STATUS_OK && input == OPTIONS_INPUT_ANY)
        status = run_look(run, &is_text, failure);
    if (status == STATUS_OK)
        status =
            options_make_job(options, is_text || input == OPTIONS_INPUT_TEXT, &run->job, failure);
    if (status == STATUS_OK && !run->source)
        status = run_open_source(run, failure);
    return status;
}

static enum status run_job(const struct options *options, bool *is_thread_left,
                           struct failure *failure)
{
    struct run run = {.options = options, .engine = options->engine};

    enum status status = run_prepare(&run, failure);
    if (status == STATUS_OK)
        status = run_operation(&run, failure);
    *is_thread_left = run.is_thread_left;
    source_close(run.source);
    job_destroy(&run.job);
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
        return print_info(engines, failure);
    case OPTIONS_VERSION:
        return print_version(failure);
    }
    __builtin_unreachable();
}
