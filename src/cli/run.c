/* Performs a run: creates the plan, opens the source, runs the pipeline, watches it, prints. */
#include "config.h"

#include "cli/run.h"

#include "aggregate/store.h"
#include "cli/check_reals.h"
#include "cli/engines.h"
#include "cli/find_kinds.h"
#include "cli/merge.h"
#include "cli/options_table.h"
#include "cli/progress.h"
#include "engine/memory_plan.h"
#include "engine/pipeline.h"
#include "input/parse_errors.h"
#include "input/source.h"
#include "lib/resources.h"
#include "lib/temporary.h"
#include "result/print.h"
#include "result/result.h"
#include "text/dictionary.h"
#include "text/row_scanner.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert(SOURCE_SIZE_UNKNOWN == ENGINE_INPUT_UNKNOWN, "the one is passed as the other");

/* Every engine's default chunk holds at least this many bytes. */
#define RUN_RECORD_BYTES ((size_t)64 << 10)

/* Limits each wait, so that large times do not overflow struct timespec. */
#define RUN_WAIT_SECONDS_MAX 3600.0

/* Delay of the last result if the end was requested while a result was printed. */
#define RUN_ENDING_SECONDS 0.001

_Static_assert(OPTIONS_GPUS_MAX <= ENGINE_DEVICES_MAX, "there is a pool for each");

/* The state of a run. Owns everything except the options. */
struct run {
    const struct options *options;
    struct options adapted; /* options adapted to a NumPy array, or to memory; then in use */
    struct options typed;   /* options with the kinds that were found; then in use */
    struct options_found found;
    struct npy array;
    uint64_t array_column;
    bool has_arrays;
    const char *engine; /* the only engine to use; NULL: all that are worth it */
    size_t chunk_bytes; /* as in struct engine_options */
    struct record_format format;
    struct plan plan;
    struct context context; /* the plan's context */
    struct source *source;
    void *aggregate;
    struct print_output output;
    struct progress progress; /* the progress of the last attempt */
    struct stage stage;       /* the stage after the input */
    pthread_t thread;         /* the thread of run_watch */
    sigset_t handled;         /* --every: the signals that end the process */
    bool is_last;             /* the next intermediate result is the last one */
    bool has_printed_last;
    char *labels[TEXT_COLUMNS_MAX];     /* labels of the plan's columns; owned */
    bool has_labels;                    /* the labels were looked up */
    char quotes_note[SOURCE_NOTE_SIZE]; /* note at the end: a delimiter splits quoted fields */
    bool is_thread_left;                /* as in struct pipeline_report, for any attempt */
};

/*
 * Notes for each alternative its first condition that no row met. Only rows that met the earlier
 * conditions of the alternative, and no earlier alternative, were tested; so nothing is known of
 * later conditions.
 */
static void run_note_conditions(const struct run *run)
{
    const struct options *options = run->options;
    const struct plan *plan = &run->plan;
    const uint64_t met = atomic_load(&run->context.rows.met);
    bool is_any_met = plan->condition_count == 0; /* some alternative is met */
    bool is_met = true;                           /* all conditions of the alternative so far */
    bool is_first = true;                         /* the alternative is the first */
    const char *none = row_scanners[plan->row_scanner]->none;
    const bool is_listed = options->command->traits & OPTIONS_PRINTS_BINS || plan->group_count > 0;

    for (size_t i = 0; i < plan->condition_count; i++) {
        const struct options_condition *condition = &options->conditions[i];
        const bool is_text = options_is_text(&options->where.list[i]);
        const bool is_list =
            condition->relation == PREDICATE_EQ || condition->relation == PREDICATE_NE;
        const char *value = condition->value;
        enum predicate_relation relation;
        const int sign = (int)options_find_operator(condition->sign, &relation);
        const bool begins = i == 0 || condition->is_alternative;
        const bool was_met = is_met || begins;
        is_first = is_first && !condition->is_alternative;
        is_met = was_met && (met >> i & 1);
        is_any_met |= is_met && (i + 1 == plan->condition_count || condition[1].is_alternative);
        if (was_met && !is_met)
            status_print("note: no %srow %shas %s %.*s '%s'%s", is_first ? "" : "other ",
                         !begins ? "that meets the conditions before it " : "",
                         options->where.list[i].where, sign, condition->sign, value,
                         is_text && is_list && strstr(value, ", ")
                             ? ", a list; a text with a comma is in double quotes"
                             : "");
        if (was_met && !is_met && is_list && none && strcmp(value, none) == 0)
            status_print("note: missing values meet '%s%.*s'", options->where.list[i].where, sign,
                         condition->sign);
        if (is_text && is_list && *value != '@' && (*value == '~' || strchr(value, '*')))
            status_print(
                "note: %.*s compares whole strings, and '%s' is not a pattern: *= is contains, "
                "^= begins with, ~ a regular expression",
                sign, condition->sign, value);
    }
    if (is_any_met && is_listed && !plan->has_weights && atomic_load(&run->context.rows.sum) == 0)
        status_print("note: no row with a value meets --where");
}

/*
 * With --csv, returns whether a header would silently have been read as a row: all columns are
 * strings, or not read at all, and no option says whether there is a header.
 */
static bool run_may_count_header(const struct run *run)
{
    const struct options *options = run->options;
    const struct plan *plan = &run->plan;
    bool takes_any = plan->is_text && !options->has_header;

    for (size_t i = 0; takes_any && i < plan_column_count(plan); i++) {
        const struct column *column = &plan->columns[i];
        takes_any = !column->name &&
                    (element_is_string(&column->element) || column->notation == TEXT_NOTHING);
    }
    return takes_any && parse_errors_values(run->context.errors) > 0;
}

/* Notes timestamps whose writer may have meant something else. */
static void run_note_guesses(const struct run *run)
{
    const unsigned year = kind_time_format_year(&run->options->time_format);
    unsigned long long times[KIND_TIME_GUESSES];

    for (size_t i = 0; i < KIND_TIME_GUESSES; i++)
        times[i] = atomic_load(&run->context.guesses[i]);
    const bool is_of_both =
        times[KIND_TIME_GUESS_YEAR] > 0 && times[KIND_TIME_GUESS_YEAR_BEFORE] > 0;
    if (is_of_both)
        status_print("note: dates are of %u, those later than tomorrow of %u; --year N is another",
                     year, year - 1);
    else if (times[KIND_TIME_GUESS_YEAR] > 0)
        status_print("note: dates are of %u; --year N is another", year);
    else if (times[KIND_TIME_GUESS_YEAR_BEFORE] > 0)
        status_print("note: dates are later than tomorrow, and so of %u; --year N is another",
                     year - 1);
    if (times[KIND_TIME_GUESS_ZERO] > 0)
        status_print("note: %llu time%s 0, which is the beginning of 1970",
                     times[KIND_TIME_GUESS_ZERO],
                     times[KIND_TIME_GUESS_ZERO] == 1 ? " is" : "s are");
}

/*
 * Takes the names of columns chosen by number from the first header, for plots and for the state.
 * No worker may run.
 */
static enum status run_find_labels(struct run *run, struct failure *failure)
{
    struct plan *plan = &run->plan;
    bool is_any = false;
    bool is_complete = true;

    for (size_t i = 0; !run->has_labels && plan->is_text && i < plan_condition_column(plan); i++) {
        struct column *column = &plan->columns[i];
        if (!column->name && column->half == 0 && column->field != TEXT_WHOLE_LINE)
            is_complete &= source_copy_name(run->source, column->field, &run->labels[i]);
        column->label = run->labels[i];
        is_any |= column->label != NULL;
    }
    run->has_labels = true;
    if (!is_complete)
        return status_fail(failure, STATUS_DATA, "not enough memory for the names of columns");
    if (!is_any || !plan->line)
        return STATUS_OK;
    free(plan->line);
    plan->line = options_write_line(plan);
    return plan->line
               ? STATUS_OK
               : status_fail(failure, STATUS_DATA, "not enough memory for the options of a state");
}

/*
 * Ends a run in which counting ended with status `counted`: prints the result, and then reports on
 * stderr values outside the bins, and invalid tokens or binary floats, which may be errors. If
 * counting succeeded and printing fails, reports only invalid tokens.
 */
static enum status run_print_final(struct run *run, enum status counted, struct failure *failure)
{
    const struct options *options = run->options;
    const struct plan *plan = &run->plan;
    const struct store *store = store_of(plan);
    struct failure beside;

    if (counted == STATUS_OK && !options->print.is_terminal) /* else it would be drawn over */
        progress_begin_stage(&run->progress, &run->stage);
    enum status status = counted == STATUS_OK ? run_find_labels(run, failure) : counted;
    status = print_final(&run->output, plan, run->aggregate, &options->print, status, failure);
    progress_end_stage(&run->progress);
    if (status != STATUS_OK) {
        if (counted == STATUS_OK && plan->is_text)
            parse_errors_report(run->context.errors, true, &beside);
        return status;
    }
    if (options->stats && store->stats)
        store->stats(run->aggregate);
    if (!options->quiet)
        result_report(plan, run->aggregate);
    if (*run->quotes_note)
        status_print("%s", run->quotes_note);
    const char *tabbed = plan->is_text ? source_tabbed_file(run->source) : NULL;
    if (tabbed && !options->quiet)
        status_print("note: the header of %s has tabs, so tabs separate its fields (-d '\\t')",
                     tabbed);
    if (options->csv && !options->quiet && run_may_count_header(run))
        status_print("note: line 1 is read as a row: --header=1 skips a header, and --header=0 "
                     "says that there is none");
    if (plan->condition_count > 0 && !options->quiet)
        run_note_conditions(run);
    if (plan->is_text && !options->quiet)
        run_note_guesses(run);
    if (!options->quiet)
        result_note(plan, run->aggregate, &options->print, false);
    if (plan->is_text)
        return parse_errors_report(run->context.errors, options->quiet, failure);
    const unsigned long long reals = atomic_load(&run->context.invalid_reals);
    const unsigned long long first = atomic_load(&run->context.invalid_first);
    const char *plural = reals == 1 ? "" : "s";
    if (reals > 0 && (options->invalid != INVALID_IGNORE || !options->quiet))
        status_print("note: %llu number%s skipped, infinite, out of range or none, from byte %llu "
                     "of the input on",
                     reals, plural, first);
    return reals == 0 || options->invalid != INVALID_FAIL
               ? STATUS_OK
               : status_fail(failure, STATUS_DATA, "%llu invalid number%s in the input", reals,
                             plural);
}

/* The signal that requested the end; 0: none. */
static volatile sig_atomic_t run_ending;

static void run_handle_signal(int number)
{
    if (run_ending != 0)
        temporary_end(number);
    run_ending = number;
}

/* Handles and blocks the signals that end the process, unless they are ignored. */
static void run_take_signals(struct run *run)
{
    static const int ends[] = {SIGINT, SIGTERM};
    const struct sigaction handle = {.sa_handler = run_handle_signal};
    struct sigaction now;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (sigaction(ends[i], NULL, &now) == 0 &&
            (now.sa_handler == SIG_DFL || now.sa_handler == run_handle_signal)) {
            sigaction(ends[i], &handle, NULL);
            sigaddset(&run->handled, ends[i]);
        }
    }
    pthread_sigmask(SIG_BLOCK, &run->handled, NULL);
}

void run_end_process(void)
{
    if (run_ending != 0)
        temporary_end(run_ending);
}

/* Called by the last worker: wakes run_watch. */
static void run_wake(void *context)
{
    pthread_kill(((struct run *)context)->thread, SIGUSR1);
}

/* Prints an intermediate result, or if a signal ends the run, the final one. */
static enum status run_print(void *context, struct failure *failure)
{
    struct run *run = context;

    run->has_printed_last = run->is_last;
    if (!run->is_last)
        return run_find_labels(run, failure) == STATUS_OK
                   ? print_so_far(&run->output, &run->plan, run->aggregate, &run->options->print,
                                  failure)
                   : failure->status;
    run->progress.due = INFINITY; /* no stage is shown */
    return run_print_final(run, STATUS_OK, failure);
}

/* Prints an intermediate result. If the end is requested, it is the last one: ends the process. */
static enum status run_print_so_far(struct run *run, struct pipeline *pipeline,
                                    struct failure *failure)
{
    progress_clear(&run->progress);
    pthread_sigmask(SIG_UNBLOCK, &run->handled, NULL);
    run->is_last = run_ending != 0;
    enum status status = pipeline_checkpoint(pipeline, run_print, run, failure);
    if (status == STATUS_OK && run->has_printed_last)
        run_end_process();
    run_take_signals(run);
    return status;
}

/*
 * Works during a run on the thread that called pipeline_run: shows progress, answers SIGUSR1 with
 * statistics, and prints intermediate results (--every), also a last one on SIGINT and SIGTERM.
 *
 * SIGUSR1 is blocked in all threads, so that it interrupts no system call. Only this thread
 * receives it, with sigtimedwait. The last worker sends the same signal to wake it. With --every,
 * SIGINT and SIGTERM are handled in the same way, unless they were ignored, except while a result
 * is printed, which may wait for its reader. The second of these signals ends the process at once.
 */
static enum status run_watch(void *context, struct pipeline *pipeline, struct failure *failure)
{
    struct run *run = context;
    struct progress *progress = &run->progress;
    const double every = (double)run->options->every_ns * 1e-9;
    double print_due = every > 0 ? every : INFINITY;
    enum status status = STATUS_OK;
    sigset_t awaited = run->handled;
    siginfo_t info;

    sigaddset(&awaited, SIGUSR1);
    struct pipeline_live live = pipeline_look(pipeline);
    while (status == STATUS_OK && !live.has_ended) {
        const double due = print_due < progress->due ? print_due : progress->due;
        double wait = run_ending != 0 ? RUN_ENDING_SECONDS : due - live.seconds;
        wait = wait < 0 ? 0 : wait > RUN_WAIT_SECONDS_MAX ? RUN_WAIT_SECONDS_MAX : wait;
        struct timespec timeout = {.tv_sec = (time_t)wait};
        timeout.tv_nsec = (long)((wait - (double)timeout.tv_sec) * 1e9);
        const int number = sigtimedwait(&awaited, &info, &timeout);
        if (number > 0 && number != SIGUSR1)
            run_ending = number;
        const bool asked = number == SIGUSR1 && info.si_pid != getpid(); /* not run_wake */
        live = pipeline_look(pipeline);
        if (asked) {
            progress_clear(progress);
            progress_print_so_far(pipeline, &live,
                                  run->plan.is_text ? 0 : plan_value_bytes(&run->plan));
        }
        if (live.seconds >= progress->due)
            progress_show(progress, &live);
        bool is_due = live.seconds >= print_due || run_ending != 0;
        if (is_due && every > 0 && !live.has_ended) {
            status = run_print_so_far(run, pipeline, failure);
            live = pipeline_look(pipeline);
            print_due = ((double)(uint64_t)(live.seconds / every) + 1) * every;
        }
    }
    if (progress->is_of_lines) /* the last line has the total */
        progress_show(progress, &live);
    progress_clear(progress);
    if (status == STATUS_OK)
        progress_begin_stage(progress, &run->stage);
    return status;
}

/* Makes an attempt to read the whole source into the aggregate. */
static enum status run_attempt(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    const struct plan *plan = &run->plan;
    const bool streams = store_of(plan)->stop && isatty(STDOUT_FILENO);
    struct pipeline_report report;
    /* Without a request there is no progress on a terminal to which results are written. */
    const bool is_asked = options->progress == OPTIONS_PROGRESS_ON;
    const bool is_wanted =
        is_asked || (options->progress == OPTIONS_PROGRESS_AUTO && !options->quiet && !streams);
    const struct source_sizes sizes = source_sizes(run->source);
    progress_begin(&run->progress, is_wanted, is_asked, sizes.files);
    run->thread = pthread_self();
    sigemptyset(&run->handled);
    if (options->every_ns > 0)
        run_take_signals(run);
    const struct pipeline_watcher watcher = {
        .context = run,
        .checkpoints = options->every_ns > 0,
        .watch = run_watch,
        .wake = run_wake,
    };
    struct pipeline_task task = {
        .plan = plan,
        .source = run->source,
        .aggregate = &run->aggregate,
        .table = engines,
        .engine = run->engine,
        .devices = options->gpus,
        .device_count = options->gpu_count,
        .options =
            {
                .threads = options->threads,
                .chunk_bytes = run->chunk_bytes,
                .input_bytes = sizes.stream,
                .is_compressed = sizes.stream != sizes.files,
            },
        .watcher = &watcher,
    };
    enum status status = pipeline_run(&task, &report, failure);
    progress_end_stage(&run->progress);
    pthread_sigmask(SIG_UNBLOCK, &run->handled, NULL);
    run->is_thread_left = run->is_thread_left || report.is_thread_left;
    if (options->verbose)
        progress_print_engines(&report, status == STATUS_OK);
    if (status == STATUS_OK && options->stats)
        progress_print_stats(&report);
    return status;
}

static void run_destroy_aggregate(struct run *run)
{
    store_of(&run->plan)->destroy(run->aggregate);
    run->aggregate = NULL;
    if (run->context.errors)
        parse_errors_destroy(run->context.errors);
    if (run->context.dictionary)
        dictionary_destroy(run->context.dictionary);
    run->context.errors = NULL;
    run->context.dictionary = NULL;
}

/*
 * Reads the whole source into a new aggregate. Starts again on the CPU if a device failed, whose
 * chunks are lost, and the user named no engine; and in order if compressed files were decoded in
 * parallel and must be read in order (source_needs_order). Each happens at most once: the CPU
 * engine does not fail, and reading in order cuts no record. The output that an ordered operation
 * has already written is a prefix of its new output.
 */
static enum status run_attempts(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    const struct plan *plan = &run->plan;
    const struct store *store = store_of(plan);
    struct context *context = &run->context;

    for (bool is_first = true;; is_first = false) {
        context->rows = (struct row_count){.sum = 0};
        context->invalid = options->invalid;
        context->invalid_reals = 0;
        context->invalid_first = UINT64_MAX;
        if (plan->is_text &&
            parse_errors_create(&context->errors, plan, options->invalid, failure) != STATUS_OK)
            return failure->status;
        if (plan_has_strings(plan) &&
            !(context->dictionary =
                  dictionary_create(context->dictionary_bytes, keyed_hash_create())))
            return status_fail(failure, STATUS_DATA, "not enough memory for strings");
        run->aggregate = store->create(plan, failure);
        if (!run->aggregate)
            return failure->status;
        if (store->connect && !is_first)
            print_reconnect(&run->output, plan, run->aggregate);
        else if (store->connect && print_connect(&run->output, plan, run->aggregate,
                                                 &options->print, failure) != STATUS_OK)
            return failure->status;

        const enum status status = run_attempt(run, failure);
        const bool is_lost = status == STATUS_ENGINE && !run->engine;
        struct failure reason;
        if (!is_lost &&
            (status == STATUS_OK || status == STATUS_ENGINE || !source_needs_order(run->source)))
            return status;
        if (source_repeat(&run->source, &reason) != STATUS_OK) {
            const struct failure lost = *failure;
            *failure = reason;
            if (is_lost)
                status_fail(failure, STATUS_DATA, "%.1024s; the CPU cannot start again: %.2048s",
                            lost.message, reason.message);
            return failure->status;
        }
        if (is_lost) {
            status_print("%s; starting again on the CPU", failure->message);
            run->engine = engine_last(engines)->name;
        }
        run_destroy_aggregate(run);
    }
}

/*
 * Plans the memory of the run, the size of chunks and the parts of the plan, with fewer threads if
 * there is too little for all; reads the source, which is open, and prints the result.
 */
static enum status run_operation(struct run *run, struct failure *failure)
{
    const struct options *options = run->options; /* until the plan */
    const struct plan *plan = &run->plan;
    const struct text_rules *rules = &plan->text;
    const struct store *store = store_of(plan);
    const struct resources *resources = resources_at_start();
    const struct source_sizes sizes = source_sizes(run->source);
    const bool is_compressed =
        sizes.stream == SOURCE_SIZE_UNKNOWN && sizes.files != SOURCE_SIZE_UNKNOWN;
    const unsigned wanted = options->threads > 0 ? options->threads : resources->processors;
    const size_t min_bytes = plan->is_text ? SOURCE_TEXT_CAPACITY_MIN : plan->record_bytes;
    struct memory_needs needs;
    unsigned threads = wanted;
    bool is_text;
    enum status status = STATUS_OK;

    /*
     * Chunks may have any order, except for ordered operations, and for binary input with
     * intermediate results, which are shown before the run knows that no file ends within an
     * element. The length of an array is that of all parts of its file.
     */
    source_set_format(run->source, &run->format,
                      !store->stop && (plan->is_text || options->every_ns == 0) && !run->has_arrays,
                      wanted);
    /* Checks whether -d splits quoted fields. In a log, -d ' ' is meant to split them, like cut. */
    if (plan->is_text && rules->delimiter != TEXT_NO_DELIMITER && !rules->is_quoted &&
        rules->delimiter != ' ' && rules->delimiter != '"' && !options->quiet)
        status = source_look(run->source, &is_text, run->quotes_note, failure);
    run->chunk_bytes = options->chunk_bytes;
    if (run->chunk_bytes < min_bytes && (run->chunk_bytes > 0 || min_bytes > RUN_RECORD_BYTES))
        run->chunk_bytes = min_bytes;
    memory_plan_needs(&needs, plan, wanted, run->chunk_bytes, sizes.stream, is_compressed,
                      options->decoding_memory);
    if (status == STATUS_OK)
        status = memory_plan_make(&needs, resources->memory, plan, &threads, failure);
    if (threads < needs.threads) {
        run->adapted = *options;
        run->adapted.threads = run->adapted.print.threads = threads;
        run->options = options = &run->adapted;
    }
    if (resources->memory < MEMORY_PLAN_DEVICES && options->gpu_count == 0 && !run->engine)
        run->engine = engine_last(engines)->name;
    if (status == STATUS_OK) {
        status = run_attempts(run, failure);
        status = run_print_final(run, status, failure);
    }
    run_destroy_aggregate(run);
    return status;
}

/* Returns how rows end with -z: strings keep newlines unless these separate fields. */
static enum text_row_end run_row_end(const struct options *options)
{
    const struct options_columns *const columns[] = {&options->field, &options->by,
                                                     &options->where};
    const bool by_blanks = options->delimiter == TEXT_NO_DELIMITER && !options->csv;
    bool keeps = false;

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        for (size_t k = 0; k < columns[i]->count; k++) {
            const struct options_column *column = &columns[i]->list[k];
            keeps |= options_is_text(column) && (!by_blanks || column->field == TEXT_WHOLE_LINE);
        }
    }
    return keeps && !row_scanners[options->row_scanner]->names_columns ? TEXT_ENDS_NUL_EXACT
                                                                       : TEXT_ENDS_NUL;
}

/* Finds the kinds of columns without one, and parses the options as if they had been typed. */
static enum status run_find_kinds(struct run *run, const struct source_options *reading,
                                  struct failure *failure)
{
    const struct options *options = run->options;
    enum options_input input;
    bool is_any;

    if (find_kinds(options, reading, &run->source, &run->found, &is_any, failure) != STATUS_OK)
        return failure->status;
    if (options->verbose)
        find_kinds_print(options, &run->found, "found in the input");
    else if (options->print.save && !options->quiet)
        find_kinds_print(options, &run->found, "note: the state has a column type that was found");
    if (!is_any && !options->is_tentative)
        return STATUS_OK;
    run->options = &run->typed;
    if (options_parse(&run->typed, options->argc, options->argv, false, &run->found, failure) !=
            STATUS_OK ||
        options_check(&run->typed, &input, failure) != STATUS_OK)
        return failure->status;
    return print_check(&run->typed.print, failure);
}

/*
 * Checks the options, the plan and the outputs, opens the source, and creates the plan. Looks at
 * the source if no option states its kind.
 */
static enum status run_prepare(struct run *run, struct failure *failure)
{
    const struct options *options = run->options;
    const bool is_ordered = store_of_operation(options->command->operation)->stop != NULL;
    const bool is_early = options->every_ns > 0;
    char note[SOURCE_NOTE_SIZE];
    enum options_input input;

    if (options_check(options, &input, failure) != STATUS_OK ||
        print_check(&options->print, failure) != STATUS_OK)
        return failure->status;
    /* Results that are written during the run must not go to an input. */
    for (size_t i = 0; (is_ordered || is_early) && i < options->name_count; i++) {
        if (print_check_input(&options->print, options->names[i], is_early, failure) != STATUS_OK)
            return failure->status;
    }
    if (!options->has_names && !options->quiet && isatty(STDIN_FILENO))
        status_print("reading standard input, up to Ctrl-D (try gpuhist --help)");
    if (!options->quiet) {
        struct percentage percents[REDUCTIONS_MAX];
        struct quantiles reduced = {.percents = percents};
        for (unsigned i = 0; i < options->reductions.count; i++) {
            if (options->reductions.list[i].id == REDUCTION_QUANTILE)
                percents[reduced.count++] = options->reductions.list[i].percentage;
        }
        if (options->print.quantiles.count > 0)
            quantiles_note(&options->print.quantiles, "");
        if (reduced.count > 0)
            quantiles_note(&reduced, "p");
    }
    if (!options->quiet && !is_ordered &&
        options->print.output) /* ordered operations have no formats */
        print_note_suffix(&options->print, options->command->traits & OPTIONS_PRINTS_BINS);

    const struct source_options reading = {
        .kinds = (options->no_decompression ? 0u : DECODER_COMPRESSED) |
                 (options->binary || options->has_order ? 0u : DECODER_REFUSED | DECODER_ARRAY),
        .memory_limit = options->decoding_memory > 0
                            ? options->decoding_memory
                            : memory_plan_decoding(resources_at_start()->memory),
        .holds_frames = is_ordered,
        .row_end = options->ends_with_nul ? run_row_end(options) : TEXT_ENDS_LF,
    };
    bool is_text = input == OPTIONS_INPUT_TEXT || input == OPTIONS_INPUT_FIELDS;
    if (input == OPTIONS_INPUT_ANY || input == OPTIONS_INPUT_FIELDS ||
        (is_text && options->has_open)) {
        const char *name = "";
        if (source_open(&run->source, options->names, options->name_count, &reading, failure) !=
            STATUS_OK)
            return failure->status;
        /* The first results of --every do not wait for columns of a pipe. */
        const bool looks = input == OPTIONS_INPUT_ANY || !is_early ||
                           source_sizes(run->source).files != SOURCE_SIZE_UNKNOWN;
        if (looks && input != OPTIONS_INPUT_TEXT &&
            source_look_array(run->source, &run->array, &run->has_arrays, &name, failure) !=
                STATUS_OK)
            return failure->status;
        if (run->has_arrays) {
            if (options_adapt_array(options, &run->array, name, &run->adapted, &run->array_column,
                                    failure) != STATUS_OK)
                return failure->status;
            run->options = &run->adapted;
            is_text = false;
        }
    }
    if (input == OPTIONS_INPUT_ANY && !run->has_arrays) {
        if (source_look(run->source, &is_text, note, failure) != STATUS_OK)
            return failure->status;
        if (*note && !options->quiet && (is_text || !options->has_type))
            status_print("%s", note);
    }
    if (run->source && is_text && !run->has_arrays && options->has_open &&
        (!is_early || source_sizes(run->source).files != SOURCE_SIZE_UNKNOWN) &&
        run_find_kinds(run, &reading, failure) != STATUS_OK)
        return failure->status;
    if (options_make(run->options, is_text, true, &run->context, &run->plan, failure) !=
            STATUS_OK ||
        (!run->source && source_open(&run->source, options->names, options->name_count, &reading,
                                     failure) != STATUS_OK))
        return failure->status;
    options_make_format(run->options, &run->plan, &run->format);
    run->format.has_arrays = run->has_arrays;
    run->format.array = run->array;
    run->format.array_column = run->array_column;
    if (!is_text && run->options->is_rounded && !plan_has_reals(&run->plan))
        return status_fail(failure, STATUS_USAGE,
                           "round.N is of text and of floats (-t f16, bf16, f32, f64), not of %s",
                           run->plan.element.name);
    return is_text ? STATUS_OK : check_reals(&run->plan, run->source, &run->format, failure);
}

enum status run_options(const struct options *options, bool *is_thread_left,
                        struct failure *failure)
{
    struct run run = {.options = options,
                      .engine = options->engine,
                      .context.stage = &run.stage,
                      .progress = {.due = INFINITY}};

    *is_thread_left = false;
    sigset_t statistics; /* run_watch waits for it; blocked before any thread is started */
    sigemptyset(&statistics);
    sigaddset(&statistics, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &statistics, NULL);
    if (options->help) {
        char *help = options_help(options);
        const enum status status =
            help ? print_string(help, failure)
                 : status_fail(failure, STATUS_DATA, "not enough memory for the help");
        free(help);
        return status;
    }
    if (options->version)
        return print_string(PACKAGE_STRING "\n", failure);
    if (options->command->action == OPTIONS_MERGE)
        return merge_run(options, failure);
    if (options->command->action == OPTIONS_INFO)
        return print_info(engines, failure);
    enum status status = run_prepare(&run, failure);
    if (status == STATUS_OK)
        status = run_operation(&run, failure);
    *is_thread_left = run.is_thread_left;
    source_close(run.source);
    plan_destroy(&run.plan);
    for (size_t i = 0; i < TEXT_COLUMNS_MAX; i++)
        free(run.labels[i]);
    options_destroy(&run.typed);
    return status;
}
