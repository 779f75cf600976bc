/* Opens, checks and closes the outputs, and prints intermediate results and the final one. */
#include "config.h"

#include "result/print.h"

#include "aggregate/state.h"
#include "aggregate/store.h"
#include "engine/engine.h"
#include "lib/decoder.h"
#include "lib/output_file.h"
#include "lib/stage.h"
#include "lib/writer.h"
#include "result/print_rows.h"
#include "result/result.h"
#include "result/terminal.h"
#include "value/kind_time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Moves a terminal's cursor to the first column and row, and clears the screen. */
#define PRINT_CLEAR "\033[H\033[J"

/* Returns the name of a file for writers; NULL is standard output. */
static const char *print_file(const char *name)
{
    return strcmp(name, "-") == 0 ? NULL : name;
}

bool print_is_dropped(const struct print_options *options)
{
    return options->save && strcmp(options->save, "-") == 0 && !options->has_output;
}

enum status print_check(const struct print_options *options, struct failure *failure)
{
    const char *save = options->save ? print_file(options->save) : NULL;
    const char *purged = options->purged ? print_file(options->purged) : NULL;

    if (output_file_check(options->output, failure) != STATUS_OK)
        return failure->status;
    if (options->save && !print_is_dropped(options) && output_file_is_same(save, options->output))
        return status_fail(failure, STATUS_USAGE, "--save and the result cannot both go to '%s'",
                           options->save);
    if (options->save && output_file_check(save, failure) != STATUS_OK)
        return failure->status;
    if (options->purged && output_file_is_same(purged, options->output))
        return status_fail(failure, STATUS_USAGE,
                           "--purged and the kept values cannot both go to '%s'", options->purged);
    return options->purged ? output_file_check(purged, failure) : STATUS_OK;
}

enum status print_check_input(const struct print_options *options, const char *input, bool is_early,
                              struct failure *failure)
{
    const char *outputs[] = {
        options->output,
        options->purged ? print_file(options->purged) : options->output,
        options->save && is_early ? print_file(options->save) : options->output,
    };

    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *name = strcmp(input, "-") != 0 ? input : outputs[i];
        if (output_file_is_input(outputs[i], input, is_early))
            return status_fail(failure, STATUS_USAGE,
                               STATUS_NAME " is an input, and results cannot be written to it "
                                           "while it is read",
                               name ? name : "standard input");
    }
    return STATUS_OK;
}

enum status print_connect(struct print_output *output, const struct plan *plan, void *aggregate,
                          const struct print_options *options, struct failure *failure)
{
    if (writer_open(&output->result, options->output, failure) != STATUS_OK)
        return failure->status;
    if (options->purged &&
        writer_open(&output->purged, print_file(options->purged), failure) != STATUS_OK)
        return failure->status;
    store_of(plan)->connect(aggregate, output->result, output->purged);
    return STATUS_OK;
}

void print_reconnect(struct print_output *output, const struct plan *plan, void *aggregate)
{
    writer_restart(output->result);
    if (output->purged)
        writer_restart(output->purged);
    store_of(plan)->connect(aggregate, output->result, output->purged);
}

/* Writes the time as text, to milliseconds. */
static void print_format_time(char out[KIND_TIME_SIZE])
{
    const struct kind_time_rules rules = {.digits = 3};
    struct timespec now = {.tv_sec = 0};

    clock_gettime(CLOCK_REALTIME, &now);
    const size_t length =
        kind_time_write(out, &rules, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    out[length] = '\0';
}

/* Writes the result. Opens the output if it is not open. */
static enum status print_result(struct print_output *output, const struct plan *plan,
                                const void *aggregate, const struct print_options *options,
                                struct failure *failure)
{
    const struct store *store = store_of(plan);
    struct print_options own = *options;
    char time[KIND_TIME_SIZE];
    char object[KIND_TIME_SIZE + sizeof "{\"reported\":\"\","];

    if (print_is_dropped(options))
        return STATUS_OK;
    if (!output->result && writer_open(&output->result, options->output, failure) != STATUS_OK)
        return failure->status;
    if (store->connect) /* the run has written the result */
        return STATUS_OK;
    writer_set_stage(output->result, context_of(plan)->stage);
    stage_begin(context_of(plan)->stage, "printing", 0);
    if (output->redraws)
        writer_write(output->result, PRINT_CLEAR, strlen(PRINT_CLEAR));
    if (options->has_reports) {
        print_format_time(time);
        snprintf(object, sizeof object, "{\"reported\":\"%s\",", time);
        own.object = object;
    }
    if (options->has_reports && options->header_out &&
        print_rows_format(options)->header == PRINT_HEADER_ASKED)
        writer_print(output->result, "# %s\n", time);
    const struct print_format *format = print_plan_format(options, plan);
    return (format->result ? format->result : result_print)(output->result, plan, aggregate, &own,
                                                            failure);
}

/* Saves the state. During a run, saves it only if it replaces the last one. */
static enum status print_state(struct print_output *output, const struct plan *plan,
                               const void *aggregate, const struct print_options *options,
                               bool is_so_far, struct failure *failure)
{
    if (!output->state &&
        writer_open(&output->state, print_file(options->save), failure) != STATUS_OK)
        return failure->status;
    if (is_so_far && writer_is_stream(output->state))
        return STATUS_OK;
    if (state_save(output->state, plan->line, plan, aggregate, failure) != STATUS_OK)
        return failure->status;
    enum status status = writer_close(output->state, failure);
    output->state = NULL;
    return status;
}

enum status print_so_far(struct print_output *output, const struct plan *plan,
                         const void *aggregate, const struct print_options *options,
                         struct failure *failure)
{
    if (options->save && print_state(output, plan, aggregate, options, true, failure) != STATUS_OK)
        return failure->status;
    output->redraws =
        !options->output && print_rows_format(options)->has_lines && terminal_can_redraw();
    if (print_result(output, plan, aggregate, options, failure) != STATUS_OK)
        return failure->status;
    if (!output->result)
        return STATUS_OK;
    if (writer_is_stream(output->result)) {
        if (print_rows_format(options)->has_lines && !output->redraws)
            writer_write(output->result, "\n", 1);
        return writer_flush(output->result, failure);
    }
    enum status status = writer_close(output->result, failure);
    output->result = NULL;
    return status;
}

enum status print_final(struct print_output *output, const struct plan *plan, const void *aggregate,
                        const struct print_options *options, enum status status,
                        struct failure *failure)
{
    if (status == STATUS_OK && options->save)
        status = print_state(output, plan, aggregate, options, false, failure);
    /* A sliding window may be empty. */
    if (status == STATUS_OK && !print_is_dropped(options) && plan->window_periods == 0)
        status = result_check(plan, aggregate, failure);
    if (status == STATUS_OK)
        status = print_result(output, plan, aggregate, options, failure);
    if (status == STATUS_OK && output->result) {
        struct writer *const writers[] = {output->result,
                                          output->purged}; /* either may be the input */
        output->result = output->purged = NULL;
        status = writer_close_all(writers, writers[1] ? 2 : 1, failure);
    }
    writer_discard(output->result);
    writer_discard(output->purged);
    writer_discard(output->state);
    *output = (struct print_output){.result = NULL};
    return status;
}

enum status print_string(const char *text, struct failure *failure)
{
    struct writer *writer;

    if (writer_open(&writer, NULL, failure) != STATUS_OK)
        return failure->status;
    writer_write(writer, text, strlen(text));
    return writer_close(writer, failure);
}

enum status print_info(const struct engine *const *table, struct failure *failure)
{
    static const char *const supports[] = {
        [ENGINE_RUNS] = "yes",
        [ENGINE_PARSES] = "parsed on the CPU",
        [ENGINE_REFUSES] = "no",
    };
    struct writer *writer;
    char format[128];

    if (writer_open(&writer, NULL, failure) != STATUS_OK)
        return failure->status;
    writer_print(writer, "%s\n", PACKAGE_STRING);
    for (const struct engine *const *engine = table; *engine; engine++) {
        unsigned devices = (*engine)->devices ? (*engine)->devices() : 1;
        for (unsigned i = 0; i == 0 || (i < devices && i < ENGINE_DEVICES_MAX); i++) {
            char name[ENGINE_NAME_MAX];
            char description[512] = "not in this build";
            bool usable = (*engine)->probe && (*engine)->probe(i, description, sizeof description);
            engine_write_name(name, (*engine)->name, i);
            writer_print(writer, "%s: %s: %s\n", name, usable ? "yes" : "no", description);
        }
    }
    for (size_t i = 0; decoder_describe(i, format, sizeof format); i++)
        writer_print(writer, "%s\n", format);
    for (const struct engine *const *engine = table; *engine; engine++) {
        const struct engine_feature *feature = (*engine)->features;
        if (feature)
            writer_print(writer, "\n%-42s %-4s %s\n", "what runs where", engine_last(table)->name,
                         (*engine)->name);
        for (; feature && feature->name; feature++)
            writer_print(writer, "%-42s %-4s %s\n", feature->name, "yes",
                         supports[feature->support]);
    }
    return writer_close(writer, failure);
}
