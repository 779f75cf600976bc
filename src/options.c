#include "config.h"

#include "options.h"

#include "decimal.h"
#include "operation.h"

#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --chunk-size: an element of any type at least; kernels count a chunk's elements in 32 bits. */
#define OPTIONS_CHUNK_MIN   8
#define OPTIONS_CHUNK_MAX   ((size_t)1 << 30)
#define OPTIONS_THREADS_MAX 4096

/* Keys of options that have no letter. */
enum options_key {
    OPTIONS_KEY_RANGE = 256,
    OPTIONS_KEY_OUTSIDE,
    OPTIONS_KEY_ZEROS,
    OPTIONS_KEY_FORMAT,
    OPTIONS_KEY_ENGINE,
    OPTIONS_KEY_THREADS,
    OPTIONS_KEY_CHUNK_SIZE,
    OPTIONS_KEY_STATS,
#define OPTIONS_PREDICATE_KEY(id, ...) OPTIONS_KEY_##id,
    PREDICATE_RELATIONS(OPTIONS_PREDICATE_KEY)
#undef OPTIONS_PREDICATE_KEY
        OPTIONS_KEY_STRICT,
    OPTIONS_KEY_DESCENDING,
    OPTIONS_KEY_PURGED,
};

#define OPTIONS_FOR(id) (1u << OPERATION_##id)

/* One option: its names, what --help says, and what it does. */
struct options_row {
    int key; /* its letter, or an options_key */
    const char *name;
    const char *argument; /* what --help calls its value; NULL: it takes none */
    const char *help;
    /* Takes the value; NULL for an option that only sets the bool at `flag` in struct options. */
    enum status (*set)(struct options *options, const char *value, struct failure *failure);
    size_t flag;
    unsigned operations; /* those that take it, as bits; 0: all */
};

static enum status options_fail_value(const char *name, const char *value, const char *expected,
                                      struct failure *failure)
{
    return status_fail(failure, STATUS_USAGE, "invalid %s '%s': expected %s", name, value,
                       expected);
}

static enum status options_set_type(struct options *options, const char *value,
                                    struct failure *failure)
{
    if (element_parse(value, &options->element))
        return STATUS_OK;
    return options_fail_value("--type", value,
                              "i8, u8, i16, u16, i32, u32, i64 or u64, with le or be", failure);
}

static enum status options_set_bins(struct options *options, const char *value,
                                    struct failure *failure)
{
    if (!decimal_parse_unsigned(value, DECIMAL_UNIT_SI, &options->bins))
        return options_fail_value("--bins", value, "a number such as 256, 5M or 1Mi", failure);
    if (options->bins == 0)
        return status_fail(failure, STATUS_USAGE, "--bins must be at least 1");
    return STATUS_OK;
}

static enum status options_set_range(struct options *options, const char *value,
                                     struct failure *failure)
{
    const char *colon = strchr(value, ':');

    options->has_range = true;
    if (colon &&
        decimal_parse(value, (size_t)(colon - value), DECIMAL_UNIT_SI, &options->range_low) &&
        decimal_parse(colon + 1, strlen(colon + 1), DECIMAL_UNIT_SI, &options->range_high))
        return STATUS_OK;
    return options_fail_value("--range", value, "LO:HI, two integers", failure);
}

static enum status options_set_outside(struct options *options, const char *value,
                                       struct failure *failure)
{
    static const char *const names[] = {
        [OUTSIDE_REPORT] = "report",
        [OUTSIDE_ABORT] = "abort",
        [OUTSIDE_CLAMP] = "clamp",
        [OUTSIDE_IGNORE] = "ignore",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]) == 0) {
            options->outside = (enum outside_policy)i;
            return STATUS_OK;
        }
    }
    return options_fail_value("--outside", value, "report, abort, clamp or ignore", failure);
}

static enum status options_set_format(struct options *options, const char *value,
                                      struct failure *failure)
{
    if (print_format_find(value, &options->print.format))
        return STATUS_OK;
    return options_fail_value("--format", value, "tsv or raw", failure);
}

static enum status options_set_output(struct options *options, const char *value,
                                      struct failure *failure)
{
    if (*value == '\0')
        return options_fail_value("--output", value, "a file's name", failure);
    options->print.output = strcmp(value, "-") == 0 ? NULL : value;
    return STATUS_OK;
}

static enum status options_set_purged(struct options *options, const char *value,
                                      struct failure *failure)
{
    if (*value == '\0')
        return options_fail_value("--purged", value, "a file's name", failure);
    options->print.purged = value;
    options->stalin_sort.purged = true;
    return STATUS_OK;
}

static enum status options_set_engine(struct options *options, const char *value,
                                      struct failure *failure)
{
    (void)failure; /* which engines there are is the pipeline's to know */
    options->engine = strcmp(value, "auto") == 0 ? NULL : value;
    return STATUS_OK;
}

static enum status options_set_threads(struct options *options, const char *value,
                                       struct failure *failure)
{
    uint64_t threads;

    if (!decimal_parse_unsigned(value, DECIMAL_UNIT_SI, &threads) || threads == 0 ||
        threads > OPTIONS_THREADS_MAX)
        return options_fail_value("--threads", value, "a number from 1 to 4096", failure);
    options->threads = (unsigned)threads;
    return STATUS_OK;
}

static enum status options_set_chunk_size(struct options *options, const char *value,
                                          struct failure *failure)
{
    uint64_t bytes;

    if (!decimal_parse_unsigned(value, DECIMAL_UNIT_BYTES, &bytes) || bytes < OPTIONS_CHUNK_MIN ||
        bytes > OPTIONS_CHUNK_MAX)
        return options_fail_value("--chunk-size", value, "bytes from 8 to 1G, such as 512K or 8M",
                                  failure);
    options->chunk_bytes = (size_t)bytes;
    return STATUS_OK;
}

/* Appends a predicate to those that were given before. */
static enum status options_add_predicate(struct options *options, enum predicate_relation relation,
                                         const char *text, struct failure *failure)
{
    size_t count = options->predicate_count;

    if ((count & (count - 1)) == 0) { /* 0 or a power of two: there is no more room */
        size_t room = count > 0 ? 2 * count : 1;
        struct options_predicate *grown =
            realloc(options->predicates, room * sizeof *options->predicates);
        if (!grown)
            return status_fail(failure, STATUS_DATA, "no memory for %zu predicates", room);
        options->predicates = grown;
    }
    options->predicates[count] = (struct options_predicate){.relation = relation, .text = text};
    options->predicate_count++;
    return STATUS_OK;
}

#define OPTIONS_SET_PREDICATE(id, label, ...)                                          \
    static enum status options_set_##label(struct options *options, const char *value, \
                                           struct failure *failure)                    \
    {                                                                                  \
        return options_add_predicate(options, PREDICATE_##id, value, failure);         \
    }
PREDICATE_RELATIONS(OPTIONS_SET_PREDICATE)
#undef OPTIONS_SET_PREDICATE

static enum status options_set_help(struct options *options, const char *value,
                                    struct failure *failure)
{
    (void)value;
    (void)failure;
    options->action = OPTIONS_HELP;
    return STATUS_OK;
}

static enum status options_set_version(struct options *options, const char *value,
                                       struct failure *failure)
{
    (void)value;
    (void)failure;
    options->action = OPTIONS_VERSION;
    return STATUS_OK;
}

static const struct options_row options_rows[] = {
    {'t', "type", "TYPE", "elements: i8 u8 i16 u16 i32 u32 i64 u64, + le or be (i32le)",
     options_set_type, 0, 0},
    {'o', "output", "FILE", "write the result to FILE, when it is complete", options_set_output, 0,
     0},
    {OPTIONS_KEY_ENGINE, "engine", "NAME", "auto (default), cpu or cuda", options_set_engine, 0, 0},
    {OPTIONS_KEY_THREADS, "threads", "N", "threads that read and count (default: the cores)",
     options_set_threads, 0, 0},
    {OPTIONS_KEY_CHUNK_SIZE, "chunk-size", "SIZE", "bytes that a thread reads at a time",
     options_set_chunk_size, 0, 0},
    {OPTIONS_KEY_STATS, "stats", NULL, "tell on stderr how much was done how fast", NULL,
     offsetof(struct options, stats), 0},
    {'v', "verbose", NULL, "tell on stderr what is used, and why", NULL,
     offsetof(struct options, verbose), 0},
    {'q', "quiet", NULL, "do not report values outside the bins", NULL,
     offsetof(struct options, quiet), 0},
    {'h', "help", NULL, "print this help", options_set_help, 0, 0},
    {'V', "version", NULL, "print the version", options_set_version, 0, 0},

    {'b', "bins", "N", "N bins: one for each value from 0, or equal parts of --range",
     options_set_bins, 0, OPTIONS_FOR(HISTOGRAM)},
    {OPTIONS_KEY_RANGE, "range", "LO:HI", "bin the values LO <= v < HI", options_set_range, 0,
     OPTIONS_FOR(HISTOGRAM)},
    {OPTIONS_KEY_OUTSIDE, "outside", "HOW",
     "values in no bin: report (default), abort, clamp, ignore", options_set_outside, 0,
     OPTIONS_FOR(HISTOGRAM)},
    {OPTIONS_KEY_ZEROS, "zeros", NULL, "print empty bins, too", NULL,
     offsetof(struct options, print.zeros), OPTIONS_FOR(HISTOGRAM)},
    {OPTIONS_KEY_FORMAT, "format", "FORMAT", "tsv (default), or raw: counts as 64-bit integers",
     options_set_format, 0, OPTIONS_FOR(HISTOGRAM)},

#define OPTIONS_PREDICATE_ROW(id, label, name, argument, help) \
    {OPTIONS_KEY_##id, name, argument, help, options_set_##label, 0, OPTIONS_FOR(COUNT)},
    PREDICATE_RELATIONS(OPTIONS_PREDICATE_ROW)
#undef OPTIONS_PREDICATE_ROW
        {OPTIONS_KEY_STRICT, "strict", NULL, "purge what equals the last survivor, too", NULL,
         offsetof(struct options, stalin_sort.strict), OPTIONS_FOR(STALIN_SORT)},
    {OPTIONS_KEY_DESCENDING, "descending", NULL, "purge what is greater, not what is less", NULL,
     offsetof(struct options, stalin_sort.descending), OPTIONS_FOR(STALIN_SORT)},
    {OPTIONS_KEY_PURGED, "purged", "FILE", "write what was purged to FILE", options_set_purged, 0,
     OPTIONS_FOR(STALIN_SORT)},
};
#define OPTIONS_ROWS (sizeof options_rows / sizeof *options_rows)

/* getopt's two descriptions of the rows. */
struct options_getopt {
    char letters[2 * OPTIONS_ROWS + 2];
    struct option names[OPTIONS_ROWS + 1];
};

static struct options_getopt options_describe(void)
{
    struct options_getopt described = {.letters = ":"};
    size_t length = 1;

    for (size_t i = 0; i < OPTIONS_ROWS; i++) {
        const struct options_row *row = &options_rows[i];
        described.names[i] = (struct option){
            .name = row->name,
            .has_arg = row->argument ? required_argument : no_argument,
            .val = row->key,
        };
        if (row->key < 256) {
            described.letters[length++] = (char)row->key;
            if (row->argument)
                described.letters[length++] = ':';
        }
    }
    return described;
}

/* The option of that key, or NULL. */
static const struct options_row *options_find(int key)
{
    for (size_t i = 0; i < OPTIONS_ROWS; i++) {
        if (options_rows[i].key == key)
            return &options_rows[i];
    }
    return NULL;
}

static enum status options_set(struct options *options, int key, const char *value,
                               struct failure *failure)
{
    const struct options_row *row = options_find(key);

    if (row->operations && !(row->operations & 1u << options->operation))
        return status_fail(failure, STATUS_USAGE, "option --%s does not go with %s", row->name,
                           operations[options->operation]->name);
    if (row->set)
        return row->set(options, value, failure);
    *(bool *)((char *)options + row->flag) = true;
    return STATUS_OK;
}

/* What getopt answers '?' or ':' to. */
static enum status options_fail_unknown(int answer, char *const *argv, struct failure *failure)
{
    const struct options_row *row = options_find(optopt);

    if (answer == ':' && row)
        return status_fail(failure, STATUS_USAGE, "option --%s needs a value", row->name);
    if (row)
        return status_fail(failure, STATUS_USAGE, "option --%s takes no value", row->name);
    if (optopt)
        return status_fail(failure, STATUS_USAGE, "unknown option '-%c'", optopt);
    return status_fail(failure, STATUS_USAGE, "unknown or ambiguous option '%s'", argv[optind - 1]);
}

/* The first word may name an operation; returns whether it does. */
static bool options_set_operation(struct options *options, const char *word)
{
    if (strcmp(word, "info") == 0) {
        options->action = OPTIONS_INFO;
        return true;
    }
    return operation_find(word, &options->operation);
}

/*
 * The first operand of reduce, NULL if there is none, may list reductions; it is then taken as
 * read. Otherwise all of them are meant.
 */
static enum status options_set_reductions(struct options *options, const char *operand,
                                          struct failure *failure)
{
    enum reductions_parsed parsed = REDUCTIONS_NO_LIST;

    if (operand)
        parsed = reductions_parse(operand, &options->reductions);
    if (parsed == REDUCTIONS_TWICE)
        return status_fail(failure, STATUS_USAGE, "a reduction is named twice: '%s'", operand);
    if (parsed == REDUCTIONS_LIST)
        optind++;
    else
        reductions_all(&options->reductions);
    return STATUS_OK;
}

enum status options_parse(struct options *options, int argc, char **argv, struct failure *failure)
{
    static char *standard_input[] = {"-", NULL};
    struct options_getopt described = options_describe();
    int key;

    *options = (struct options){.operation = OPERATION_HISTOGRAM};
    element_parse("i32", &options->element);
    if (argc > 1 && options_set_operation(options, argv[1])) {
        argv++;
        argc--;
    }
    opterr = 0;
    while ((key = getopt_long(argc, argv, described.letters, described.names, NULL)) != -1) {
        if (key == '?' || key == ':')
            return options_fail_unknown(key, argv, failure);
        if (options_set(options, key, optarg, failure) != STATUS_OK)
            return failure->status;
        if (options->action == OPTIONS_HELP || options->action == OPTIONS_VERSION)
            return STATUS_OK;
    }
    if (options->operation == OPERATION_REDUCE &&
        options_set_reductions(options, argv[optind], failure) != STATUS_OK)
        return failure->status;
    options->names = argc > optind ? argv + optind : standard_input;
    options->name_count = argc > optind ? (size_t)(argc - optind) : 1;
    if (options->action == OPTIONS_INFO && argc > optind)
        return status_fail(failure, STATUS_USAGE, "info takes no file: '%s'", argv[optind]);
    return STATUS_OK;
}

void options_destroy(struct options *options)
{
    free(options->predicates);
}

static enum status options_make_histogram(const struct options *options, struct job *job,
                                          struct failure *failure)
{
    if (options->bins == 0)
        return status_fail(failure, STATUS_USAGE, "--bins is required");
    __int128 low = options->has_range ? options->range_low : 0;
    __int128 high = options->has_range ? options->range_high : (__int128)options->bins;
    job->outside = options->outside;
    return binning_init(&job->binning, &job->element, low, high, options->bins, failure);
}

/* Standard input can be read once: as the input, or as the values of one predicate. */
static enum status options_check_input(const struct options *options, struct failure *failure)
{
    unsigned uses = 0;

    for (size_t i = 0; i < options->predicate_count; i++) {
        const struct options_predicate *predicate = &options->predicates[i];
        uses += predicate->relation == PREDICATE_ANY_OF && strcmp(predicate->text, "@-") == 0;
    }
    for (size_t i = 0; uses == 1 && i < options->name_count; i++)
        uses += strcmp(options->names[i], "-") == 0;
    if (uses <= 1)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE,
                       "--any-of @-: standard input is read for something else already");
}

static bool options_names_file(const struct options_predicate *predicate)
{
    return predicate->relation == PREDICATE_ANY_OF && *predicate->text == '@';
}

/* Makes the predicates of the job that read a file, or the others. */
static enum status options_make_predicates(const struct options *options, struct job *job,
                                           bool from_files, struct failure *failure)
{
    for (size_t i = 0; i < options->predicate_count; i++) {
        const struct options_predicate *typed = &options->predicates[i];
        if (options_names_file(typed) != from_files)
            continue;
        if (predicate_init(&job->predicates[i], typed->relation, typed->text, &job->element,
                           failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status options_make_count(const struct options *options, struct job *job,
                                      struct failure *failure)
{
    if (options->predicate_count == 0)
        return status_fail(failure, STATUS_USAGE, "count needs a predicate, such as --ge 500");
    if (options_check_input(options, failure) != STATUS_OK)
        return failure->status;
    job->predicates = calloc(options->predicate_count, sizeof *job->predicates);
    if (!job->predicates)
        return status_fail(failure, STATUS_DATA, "no memory for %zu predicates",
                           options->predicate_count);
    job->predicate_count = options->predicate_count;

    /* What is wrong with the command line comes first. */
    enum status status = options_make_predicates(options, job, false, failure);
    if (status == STATUS_OK)
        status = options_make_predicates(options, job, true, failure);
    return status;
}

static enum status options_make_stalin_sort(const struct options *options, struct job *job,
                                            struct failure *failure)
{
    const char *output = options->print.output ? options->print.output : "-";

    job->stalin_sort = options->stalin_sort;
    if (options->print.purged && strcmp(options->print.purged, output) == 0)
        return status_fail(failure, STATUS_USAGE,
                           "--purged and the survivors cannot both go to '%s'", output);
    return STATUS_OK;
}

enum status options_make_job(const struct options *options, struct job *job,
                             struct failure *failure)
{
    *job = (struct job){.operation = options->operation, .element = options->element};
    switch (job->operation) {
    case OPERATION_HISTOGRAM:
        return options_make_histogram(options, job, failure);
    case OPERATION_REDUCE:
        job->reductions = options->reductions;
        return STATUS_OK;
    case OPERATION_COUNT:
        return options_make_count(options, job, failure);
    case OPERATION_STALIN_SORT:
        return options_make_stalin_sort(options, job, failure);
    case OPERATION_IDS:
        break;
    }
    __builtin_unreachable();
}

/* Appends formatted text at *length, as far as there is room. */
static void __attribute__((format(printf, 4, 5)))
options_append(char *text, size_t size, size_t *length, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int n = vsnprintf(text + *length, size - *length, format, arguments);
    va_end(arguments);
    *length = n < 0 || (size_t)n >= size - *length ? size - 1 : *length + (size_t)n;
}

static void options_append_row(char *text, size_t size, size_t *length,
                               const struct options_row *row)
{
    char letter[5] = "    ";
    char names[40];

    if (row->key < 256)
        snprintf(letter, sizeof letter, "-%c, ", row->key);
    snprintf(names, sizeof names, "%s--%s%s%s", letter, row->name, row->argument ? " " : "",
             row->argument ? row->argument : "");
    options_append(text, size, length, "  %-23s %s\n", names, row->help);
}

/* Whether there are options that the operations of that set, and no others, take. */
static bool options_has_rows(unsigned set)
{
    for (size_t i = 0; i < OPTIONS_ROWS; i++) {
        if (options_rows[i].operations == set)
            return true;
    }
    return false;
}

/* The options that the operations of that set take. */
static void options_append_rows(char *text, size_t size, size_t *length, unsigned set)
{
    for (size_t i = 0; i < OPTIONS_ROWS; i++) {
        if (options_rows[i].operations == set)
            options_append_row(text, size, length, &options_rows[i]);
    }
}

void options_help(char *text, size_t size)
{
    size_t length = 0;

    options_append(text, size, &length,
                   "Usage: gpuhist [OPERATION] [OPTION]... [FILE]...\n"
                   "Count the binary integers of the FILEs, or of standard input, on all cores or "
                   "the GPU.\n\nOperations:\n");
    for (size_t i = 0; i < OPERATION_IDS; i++)
        options_append(text, size, &length, "  %-23s %s\n", operations[i]->name,
                       operations[i]->help);
    options_append(text, size, &length, "  %-23s %s\n\nOptions:\n", "info",
                   "the version and the engines that can run here");
    options_append_rows(text, size, &length, 0);
    for (size_t i = 0; i < OPERATION_IDS; i++) {
        if (!options_has_rows(1u << i))
            continue;
        options_append(text, size, &length, "Options of %s:\n", operations[i]->name);
        options_append_rows(text, size, &length, 1u << i);
    }
    options_append(text, size, &length,
                   "\nNumbers take the suffixes K, M, G, ... (1000) and Ki, Mi, Gi, ... (1024).\n"
                   "Exit status: 0 done, 1 bad data or I/O error, 2 usage, 3 the engine cannot "
                   "run.\n\nExample: cat ids.bin | gpuhist --bins 5M\n");
}
