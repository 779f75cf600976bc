/*
 * libFuzzer: command lines. The input is their words, each ended by a NUL; the last one is the
 * contents of files named by @FILE. The result is always a plan with ordered bins, a help text, or
 * one line with the error.
 */
#include "config.h"

#include "aggregate/store.h"
#include "cli/lists.h"
#include "cli/options_table.h"
#include "value/binning_index.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OPTIONS_WORDS_MAX 20

static int list = -1; /* descriptor of every @FILE */
static char list_argument[32];

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void set_list(const char *text)
{
    if (list < 0) {
        list = memfd_create("list", MFD_CLOEXEC);
        require(list >= 0, "memfd_create");
        snprintf(list_argument, sizeof list_argument, "@/proc/self/fd/%d", list);
    }
    require(ftruncate(list, 0) == 0, "ftruncate");
    require(pwrite(list, text, strlen(text), 0) == (ssize_t)strlen(text), "pwrite");
}

/* Prevents reads of other files. */
static void replace_files(struct options *options)
{
    if (options->edges && lists_is_file(options->edges))
        options->edges = list_argument;
    for (size_t i = 0; i < options->predicate_count; i++) {
        struct options_predicate *predicate = &options->predicates[i];
        if (predicate->relation == PREDICATE_ANY_OF && lists_is_file(predicate->text))
            predicate->text = list_argument;
    }
}

static bool names_file(const struct options *options)
{
    bool names = options->edges && lists_is_file(options->edges);

    for (size_t i = 0; i < options->predicate_count; i++)
        names = names || (options->predicates[i].relation == PREDICATE_ANY_OF &&
                          lists_is_file(options->predicates[i].text));
    return names;
}

/* A failure is reported in one printable line. */
static void check_failure(enum status status, const struct failure *failure)
{
    char *line = NULL;
    size_t bytes = 0;
    FILE *terminal = stderr;

    require(status == failure->status, "another status than that of the failure");
    require(status == STATUS_USAGE || status == STATUS_DATA, "an unknown status");
    require(memchr(failure->message, '\0', sizeof failure->message), "a message without an end");
    require(strlen(failure->message) > 10, "a message that says nothing");
    stderr = open_memstream(&line, &bytes);
    require(stderr, "open_memstream");
    status_print("%s", failure->message);
    fclose(stderr);
    stderr = terminal;
    require(bytes > 0 && line[bytes - 1] == '\n', "a line without an end");
    for (size_t i = 0; i + 1 < bytes; i++)
        require((unsigned char)line[i] >= ' ' && line[i] != 127, "a control character");
    free(line);
}

static void check_help(const struct options *options)
{
    char *text = options_help(options);
    size_t length = text ? strlen(text) : 0;
    require(length > 0 && strncmp(text, "Usage: gpuhist", 14) == 0, "help without usage");
    require(text[length - 1] == '\n', "the text of help is cut");
    free(text);
}

static void require_bin(const struct plan *plan, __int128 value, uint64_t bin)
{
    if (value < element_min(&plan->element) || value >= element_limit(&plan->element))
        return;
    require(binning_index(&plan->binning, plan->binning.form, (uint64_t)value) == bin,
            "a value in another bin");
}

/* Checks a bin's edges, and that the bin contains exactly the values between them. */
static void check_bin(const struct plan *plan, uint64_t bin)
{
    __int128 low = binning_edge(&plan->binning, bin);
    __int128 high = binning_edge(&plan->binning, bin + 1);

    require(low < high, "edges that do not ascend");
    require_bin(plan, low, bin);
    require_bin(plan, low + (high - low) / 2, bin);
    require_bin(plan, high - 1, bin);
    if (bin > 0)
        require_bin(plan, low - 1, bin - 1);
    else if (plan->binning.base == 0)
        require_bin(plan, low - 1, plan->binning.bins);
    if (bin + 1 < plan->binning.bins)
        require_bin(plan, high, bin + 1);
    else if (plan->binning.base == 0)
        require_bin(plan, high, (uint64_t)plan->binning.bins + 1);
}

static void check_plan(const struct options *options, const struct plan *plan)
{
    uint64_t bins = plan->binning.bins;

    if (plan->operation == OPERATION_COUNT)
        require(plan->predicate_count == options->predicate_count && plan->predicates,
                "other predicates");
    if (plan->operation == OPERATION_REDUCE)
        require(plan->reductions.count > 0, "no reduction");
    if (plan->is_automatic)
        require(bins == 0 && plan->operation == OPERATION_HISTOGRAM,
                "automatic bins have no number");
    if (plan->operation == OPERATION_UNIQ)
        require(bins == 0 && plan->bin_width > 0 && plan->buffer_bytes == options->buffer_bytes,
                "other bins, or more memory");
    if (plan->operation != OPERATION_HISTOGRAM || plan->is_automatic)
        return;
    require(bins > 0 && bins <= BINNING_BINS_MAX, "no bins, or too many");
    const uint64_t some[] = {0, 1, bins / 3, bins / 2, bins - bins / 5, bins - 2, bins - 1};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        if (some[i] < bins)
            check_bin(plan, some[i]);
    }
}

static void check_run(struct options *options)
{
    enum options_input input;
    struct failure failure = {.status = STATUS_OK};
    bool is_list = names_file(options);

    enum status checked = options_check(options, &input, &failure);
    if (checked != STATUS_OK)
        check_failure(checked, &failure);
    replace_files(options);
    for (int is_text = 0; is_text < 2; is_text++) {
        struct plan plan;
        enum status status = options_make(options, is_text, true, NULL, &plan, &failure);
        if (status == STATUS_OK)
            check_plan(options, &plan);
        else
            check_failure(status, &failure);
        bool is_valid = input != (is_text ? OPTIONS_INPUT_BINARY : OPTIONS_INPUT_TEXT);
        require(checked != STATUS_OK || !is_valid || is_list || status == STATUS_OK,
                "options that are fine make no plan");
        plan_destroy(&plan);
    }
}

static void check_words(char **words, size_t count)
{
    struct options options;
    struct failure failure = {.status = STATUS_OK};

    optind = 0; /* getopt restarts */
    enum status status = options_parse(&options, (int)count, words, false, NULL, &failure);
    check_help(&options);
    if (status != STATUS_OK) {
        check_failure(status, &failure);
    } else if (options.command->action == OPTIONS_RUN && !options.help && !options.version) {
        check_run(&options);
    } else if (options.command->action == OPTIONS_MERGE && !options.help && !options.version) {
        for (unsigned id = 0; id < OPERATION_IDS; id++) {
            const struct plan plan = {.operation = (enum operation_id)id};
            status = options_check_merged(&options, &plan, &failure);
            if (status != STATUS_OK)
                check_failure(status, &failure);
        }
    }
    options_destroy(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *words[OPTIONS_WORDS_MAX + 2] = {"gpuhist"};
    char *text = malloc(bytes + 1);
    size_t count = 1;
    char *word = text;

    require(text, "malloc");
    if (bytes > 0)
        memcpy(text, data, bytes);
    text[bytes] = '\0';
    for (; count <= OPTIONS_WORDS_MAX && word < text + bytes; word += strlen(word) + 1)
        words[count++] = word;
    set_list(words[count - 1]);
    check_words(words, count);
    free(text);
    return 0;
}
