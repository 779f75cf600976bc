/* The table of options, and the functions that store their values. */
#include "config.h"

#include "app/options_internal.h"

#include "base/decimal.h"
#include "partial/operation.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * --chunk-size: at least one element of any type; kernels count the elements of a chunk in 32 bits.
 */
#define OPTIONS_CHUNK_MIN   8
#define OPTIONS_CHUNK_MAX   ((size_t)1 << 30)
#define OPTIONS_THREADS_MAX 4096

/* --every: at least a millisecond, so that there is time to count. */
#define OPTIONS_EVERY_NS_MIN 1000000

/* Keys of options without a letter. */
enum options_key {
    OPTIONS_KEY_BINARY = 256,
    OPTIONS_KEY_TEXT,
    OPTIONS_KEY_CSV,
    OPTIONS_KEY_BASE,
    OPTIONS_KEY_DECIMALS,
    OPTIONS_KEY_HEADER,
    OPTIONS_KEY_RECORD,
    OPTIONS_KEY_OFFSET,
    OPTIONS_KEY_WEIGHT,
    OPTIONS_KEY_BY,
    OPTIONS_KEY_INVALID,
    OPTIONS_KEY_DECOMPRESS,
    OPTIONS_KEY_MEMORY,
    OPTIONS_KEY_RANGE,
    OPTIONS_KEY_LOG2,
    OPTIONS_KEY_LOG10,
    OPTIONS_KEY_EDGES,
    OPTIONS_KEY_OUTSIDE,
    OPTIONS_KEY_ZEROS,
    OPTIONS_KEY_FORMAT,
    OPTIONS_KEY_PLOT,
    OPTIONS_KEY_TOP,
    OPTIONS_KEY_MIN_COUNT,
    OPTIONS_KEY_OTHER,
    OPTIONS_KEY_SORT,
    OPTIONS_KEY_PERCENT,
    OPTIONS_KEY_CUMULATIVE,
    OPTIONS_KEY_QUANTILES,
    OPTIONS_KEY_SAVE,
    OPTIONS_KEY_ENGINE,
    OPTIONS_KEY_GPUS,
    OPTIONS_KEY_THREADS,
    OPTIONS_KEY_CHUNK_SIZE,
    OPTIONS_KEY_PROGRESS,
    OPTIONS_KEY_NO_PROGRESS,
    OPTIONS_KEY_EVERY,
    OPTIONS_KEY_STATS,
    OPTIONS_KEY_STRICT,
    OPTIONS_KEY_DESCENDING,
    OPTIONS_KEY_PURGED,
#define OPTIONS_PREDICATE_KEY(id, ...) OPTIONS_KEY_##id,
    PREDICATE_RELATIONS(OPTIONS_PREDICATE_KEY)
#undef OPTIONS_PREDICATE_KEY
};

/* Room for " (but with" and the names of all operations. */
#define OPTIONS_TAKERS_SIZE 128

#define OPTIONS_FOR(id) (1u << OPERATION_##id)

enum status options_fail_value(const char *name, const char *value, const char *expected,
                               struct failure *failure)
{
    return status_fail(failure, STATUS_USAGE, "invalid %s '%s': expected %s", name, value,
                       expected);
}

/* Returns the index of `value` in the names; `count` if it is not there. */
static size_t options_find_name(const char *const *names, size_t count, const char *value)
{
    size_t i = 0;

    while (i < count && strcmp(value, names[i]) != 0)
        i++;
    return i;
}

static enum status options_set_type(struct options *options, const char *value,
                                    struct failure *failure)
{
    options->has_type = true;
    if (element_parse(value, &options->element)) {
        options->has_order = strlen(value) > strlen(options->element.name);
        return STATUS_OK;
    }
    return options_fail_type(value, failure);
}

static enum status options_set_weight(struct options *options, const char *value,
                                      struct failure *failure)
{
    return options_set_second(options, SECOND_WEIGHTS, "--weight", value, failure);
}

static enum status options_set_delimiter(struct options *options, const char *value,
                                         struct failure *failure)
{
    const char *character = strcmp(value, "\\t") == 0 ? "\t" : value;

    if (strlen(character) != 1 || strchr("\n\r0123456789", *character))
        return options_fail_value("--delimiter", value, "one character, such as ',' or '\\t'",
                                  failure);
    options->text_rules.delimiter = (unsigned char)*character;
    return STATUS_OK;
}

static enum status options_set_base(struct options *options, const char *value,
                                    struct failure *failure)
{
    bool is_hex = strcmp(value, "16") == 0;

    if (!is_hex && strcmp(value, "10") != 0)
        return options_fail_value("--base", value, "10 or 16", failure);
    options->has_base = true;
    options->text_rules.notation = is_hex ? TEXT_HEX : TEXT_INTEGERS;
    return STATUS_OK;
}

static enum status options_set_decimals(struct options *options, const char *value,
                                        struct failure *failure)
{
    uint64_t decimals;

    if (!decimal_parse_unsigned(value, DECIMAL_UNIT_SI, &decimals) || decimals > TEXT_DECIMALS_MAX)
        return options_fail_value("--decimals", value, "a number from 0 to 18", failure);
    options->has_decimals = true;
    options->text_rules.decimals = (unsigned)decimals;
    return STATUS_OK;
}

static enum status options_set_header(struct options *options, const char *value,
                                      struct failure *failure)
{
    if (!value) {
        options->header_lines = 1;
        return STATUS_OK;
    }
    if (!decimal_parse_unsigned(value, DECIMAL_UNIT_SI, &options->header_lines))
        return options_fail_value("--header", value, "a number of lines", failure);
    return STATUS_OK;
}

static enum status options_set_invalid(struct options *options, const char *value,
                                       struct failure *failure)
{
    static const char *const names[] = {
        [INVALID_ABORT] = "abort",
        [INVALID_FAIL] = "fail",
        [INVALID_WARN] = "warn",
        [INVALID_IGNORE] = "ignore",
    };

    size_t found = options_find_name(names, sizeof names / sizeof *names, value);

    options->invalid = (enum invalid_policy)found;
    if (found < sizeof names / sizeof *names)
        return STATUS_OK;
    return options_fail_value("--invalid", value, "abort, fail, warn or ignore", failure);
}

static enum status options_set_by(struct options *options, const char *value,
                                  struct failure *failure)
{
    return options_set_second(options, SECOND_GROUPS, "--by", value, failure);
}

static enum status options_set_decompress(struct options *options, const char *value,
                                          struct failure *failure)
{
    options->no_decompression = strcmp(value, "none") == 0;
    if (options->no_decompression || strcmp(value, "auto") == 0)
        return STATUS_OK;
    return options_fail_value("--decompress", value, "auto or none", failure);
}

static enum status options_set_memory(struct options *options, const char *value,
                                      struct failure *failure)
{
    if (decimal_parse_unsigned(value, DECIMAL_UNIT_BYTES, &options->decoding_memory) &&
        options->decoding_memory > 0)
        return STATUS_OK;
    return options_fail_value("--memory", value, "bytes, such as 512M", failure);
}

/* Parses a number that must not be 0. */
static enum status options_read_positive(const char *name, const char *value, const char *expected,
                                         uint64_t *number, struct failure *failure)
{
    if (!decimal_parse_unsigned(value, DECIMAL_UNIT_SI, number))
        return options_fail_value(name, value, expected, failure);
    if (*number == 0)
        return status_fail(failure, STATUS_USAGE, "%s must be at least 1", name);
    return STATUS_OK;
}

static enum status options_set_bins(struct options *options, const char *value,
                                    struct failure *failure)
{
    return options_read_positive("--bins", value, "a number such as 256, 5M or 1Mi", &options->bins,
                                 failure);
}

static enum status options_set_range(struct options *options, const char *value,
                                     struct failure *failure)
{
    (void)failure;
    options->range_text = value;
    return STATUS_OK;
}

static enum status options_set_width(struct options *options, const char *value,
                                     struct failure *failure)
{
    (void)failure;
    options->width_text = value;
    return STATUS_OK;
}

static enum status options_read_range(struct options *options, struct failure *failure)
{
    const unsigned decimals = options->text_rules.decimals;
    const char *value = options->range_text;

    options->has_range = true;
    if (decimal_parse_range(value, decimals, &options->range_low, &options->range_high))
        return STATUS_OK;
    return options_fail_value("--range", value,
                              decimals > 0
                                  ? "LO:HI, two numbers with no more decimals than --decimals"
                                  : "LO:HI, two integers, or numbers with --decimals",
                              failure);
}

static enum status options_read_width(struct options *options, struct failure *failure)
{
    const unsigned decimals = options->text_rules.decimals;
    const char *value = options->width_text;
    char least[DECIMAL_SIZE];
    __int128 width;

    if (!decimal_parse_fixed(value, strlen(value), decimals, &width) || width < 0 ||
        width > UINT64_MAX)
        return options_fail_value("--width", value,
                                  decimals > 0
                                      ? "a number with no more decimals than --decimals"
                                      : "a number such as 10, 500 or 1Mi, or 0.5 with --decimals 1",
                                  failure);
    options->width = (uint64_t)width;
    if (width > 0)
        return STATUS_OK;
    decimal_format_fixed(least, 1, decimals);
    return status_fail(failure, STATUS_USAGE, "--width must be at least %s", least);
}

static enum status options_set_edges(struct options *options, const char *value,
                                     struct failure *failure)
{
    (void)failure; /* the list is read once the type is known */
    options->edges = value;
    return STATUS_OK;
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

    size_t found = options_find_name(names, sizeof names / sizeof *names, value);

    options->outside = (enum outside_policy)found;
    if (found < sizeof names / sizeof *names)
        return STATUS_OK;
    return options_fail_value("--outside", value, "report, abort, clamp or ignore", failure);
}

static enum status options_set_format(struct options *options, const char *value,
                                      struct failure *failure)
{
    if (print_format_find(value, &options->print.format))
        return STATUS_OK;
    return options_fail_value("--format", value, "tsv, csv, json, raw, gnuplot or svg", failure);
}

static enum status options_set_top(struct options *options, const char *value,
                                   struct failure *failure)
{
    if (decimal_parse_unsigned(value, DECIMAL_UNIT_SI, &options->print.top) &&
        options->print.top > 0)
        return STATUS_OK;
    return options_fail_value("--top", value, "a number of bins, such as 10", failure);
}

static enum status options_set_min_count(struct options *options, const char *value,
                                         struct failure *failure)
{
    return options_read_positive("--min-count", value, "a count, such as 2 or 1K",
                                 &options->print.min_count, failure);
}

static enum status options_set_sort(struct options *options, const char *value,
                                    struct failure *failure)
{
    bool is_bin = strcmp(value, "bin") == 0;

    if (!is_bin && strcmp(value, "count") != 0)
        return options_fail_value("--sort", value, "bin or count", failure);
    options->print.sort = is_bin ? PRINT_SORT_BIN : PRINT_SORT_COUNT;
    return STATUS_OK;
}

static enum status options_set_quantiles(struct options *options, const char *value,
                                         struct failure *failure)
{
    return quantiles_parse(&options->print.quantiles, value, failure);
}

static enum status options_set_output(struct options *options, const char *value,
                                      struct failure *failure)
{
    if (*value == '\0')
        return options_fail_value("--output", value, "a file's name", failure);
    options->print.output = strcmp(value, "-") == 0 ? NULL : value;
    options->print.has_output = true;
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

static enum status options_set_save(struct options *options, const char *value,
                                    struct failure *failure)
{
    if (*value == '\0')
        return options_fail_value("--save", value, "a file's name", failure);
    options->print.save = value;
    return STATUS_OK;
}

static enum status options_set_buffer_size(struct options *options, const char *value,
                                           struct failure *failure)
{
    if (decimal_parse_unsigned(value, DECIMAL_UNIT_BYTES, &options->buffer_bytes) &&
        options->buffer_bytes > 0)
        return STATUS_OK;
    return options_fail_value("--buffer-size", value, "bytes, such as 512M", failure);
}

static enum status options_set_directory(struct options *options, const char *value,
                                         struct failure *failure)
{
    if (*value == '\0')
        return options_fail_value("--temporary-directory", value, "a directory", failure);
    options->temporary_directory = value;
    return STATUS_OK;
}

static enum status options_set_engine(struct options *options, const char *value,
                                      struct failure *failure)
{
    (void)failure; /* the pipeline checks the name */
    options->engine = strcmp(value, "auto") == 0 ? NULL : value;
    return STATUS_OK;
}

/* Appends a GPU to the list. Returns false if `number` is not a GPU number or is already listed. */
static bool options_add_gpu(struct options *options, const char *number, size_t length)
{
    __int128 gpu;

    if (!decimal_parse(number, length, DECIMAL_UNIT_SI, &gpu) || gpu < 0 || gpu >= OPTIONS_GPUS_MAX)
        return false;
    for (size_t i = 0; i < options->gpu_count; i++) {
        if (options->gpus[i] == (unsigned)gpu)
            return false;
    }
    options->gpus[options->gpu_count++] = (unsigned)gpu;
    return true;
}

static enum status options_set_gpus(struct options *options, const char *value,
                                    struct failure *failure)
{
    const char *number = value;
    bool more = true;

    options->gpu_count = 0;
    while (more) {
        size_t length = strcspn(number, ",");
        if (!options_add_gpu(options, number, length))
            return options_fail_value("--gpus", value,
                                      "numbers from 0 to 15, each once, such as 0 or 0,1", failure);
        more = number[length] == ',';
        number += length + more;
    }
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
    options->print.threads = (unsigned)threads;
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

static enum status options_set_progress(struct options *options, const char *value,
                                        struct failure *failure)
{
    (void)value;
    (void)failure;
    options->progress = OPTIONS_PROGRESS_ON;
    return STATUS_OK;
}

static enum status options_set_no_progress(struct options *options, const char *value,
                                           struct failure *failure)
{
    (void)value;
    (void)failure;
    options->progress = OPTIONS_PROGRESS_OFF;
    return STATUS_OK;
}

static enum status options_set_every(struct options *options, const char *value,
                                     struct failure *failure)
{
    if (decimal_parse_unsigned(value, DECIMAL_UNIT_TIME, &options->every_ns) &&
        options->every_ns >= OPTIONS_EVERY_NS_MIN)
        return STATUS_OK;
    return options_fail_value("--every", value, "a time from 1ms, such as 500ms, 10s, 1.5m or 2h",
                              failure);
}

/* Appends a predicate to those given before. */
static enum status options_add_predicate(struct options *options, enum predicate_relation relation,
                                         const char *text, struct failure *failure)
{
    size_t count = options->predicate_count;

    if ((count & (count - 1)) == 0) { /* 0 or a power of two: the array is full */
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

static enum status options_set_version(struct options *options, const char *value,
                                       struct failure *failure)
{
    (void)value;
    (void)failure;
    options->action = OPTIONS_VERSION;
    return STATUS_OK;
}

/*
 * The operations that accept an option. RESULTS: those whose result, and so a state, exists only at
 * the end. Merge accepts options, too.
 */
#define OPTIONS_FOR_RESULTS \
    (OPTIONS_FOR(HISTOGRAM) | OPTIONS_FOR(UNIQ) | OPTIONS_FOR(REDUCE) | OPTIONS_FOR(COUNT))
#define OPTIONS_FOR_BINS   (OPTIONS_FOR(HISTOGRAM) | OPTIONS_FOR(UNIQ) | OPTIONS_MERGES)
#define OPTIONS_FOR_TABLES (OPTIONS_FOR_BINS | OPTIONS_FOR(REDUCE))
#define OPTIONS_FOR_ALL    (OPTIONS_MERGES | OPTIONS_INFORMS)

const struct options_row options_rows[] = {
    {'b', "bins", "N", "N bins: the values 0 to N-1, or equal parts of --range", options_set_bins,
     0, OPTIONS_FOR(HISTOGRAM), OPTIONS_GROUP_BINS},
    {OPTIONS_KEY_RANGE, "range", "LO:HI", "the range LO <= v < HI; alone: bins of a round width",
     options_set_range, 0, OPTIONS_FOR(HISTOGRAM), OPTIONS_GROUP_BINS},
    {'w', "width", "W", "bins of width W, over --range or over all values", options_set_width, 0,
     OPTIONS_FOR(HISTOGRAM), OPTIONS_GROUP_BINS},
    {OPTIONS_KEY_LOG2, "log2", NULL, "bins by powers of 2 or 10, for values of any sign", NULL,
     offsetof(struct options, log2), OPTIONS_FOR(HISTOGRAM), OPTIONS_GROUP_BINS},
    {OPTIONS_KEY_LOG10, "log10", NULL, NULL, NULL, offsetof(struct options, log10),
     OPTIONS_FOR(HISTOGRAM), OPTIONS_GROUP_BINS},
    {OPTIONS_KEY_EDGES, "edges", "LIST", "bins between the edges 0,10,50,... or those in @FILE",
     options_set_edges, 0, OPTIONS_FOR(HISTOGRAM), OPTIONS_GROUP_BINS},
    {OPTIONS_KEY_OUTSIDE, "outside", "HOW",
     "outside values: report (default), abort, clamp, ignore", options_set_outside, 0,
     OPTIONS_FOR(HISTOGRAM), OPTIONS_GROUP_BINS},

#define OPTIONS_PREDICATE_ROW(id, label, name, argument, help) \
    {OPTIONS_KEY_##id,    name, argument,           help,      \
     options_set_##label, 0,    OPTIONS_FOR(COUNT), OPTIONS_GROUP_PREDICATES},
    PREDICATE_RELATIONS(OPTIONS_PREDICATE_ROW)
#undef OPTIONS_PREDICATE_ROW

        {OPTIONS_KEY_STRICT, "strict", NULL, "also purge elements equal to the last survivor", NULL,
         offsetof(struct options, stalin_sort.strict), OPTIONS_FOR(STALIN_SORT),
         OPTIONS_GROUP_PURGE},
    {OPTIONS_KEY_DESCENDING, "descending", NULL, "purge greater elements instead of lesser ones",
     NULL, offsetof(struct options, stalin_sort.descending), OPTIONS_FOR(STALIN_SORT),
     OPTIONS_GROUP_PURGE},
    {OPTIONS_KEY_PURGED, "purged", "FILE", "write the purged elements to FILE", options_set_purged,
     0, OPTIONS_FOR(STALIN_SORT), OPTIONS_GROUP_PURGE},

    {OPTIONS_KEY_TOP, "top", "K", "print only the K bins with the highest counts", options_set_top,
     0, OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_MIN_COUNT, "min-count", "N", "only counts of N and more; a line for the others",
     options_set_min_count, 0, OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_OTHER, "other", NULL, NULL, NULL, offsetof(struct options, print.other),
     OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_SORT, "sort", "ORDER", "order: bin (default), or count (default with --top)",
     options_set_sort, 0, OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_PERCENT, "percent", NULL, "add columns: percentages; running totals", NULL,
     offsetof(struct options, print.percent), OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_CUMULATIVE, "cumulative", NULL, NULL, NULL,
     offsetof(struct options, print.cumulative), OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_QUANTILES, "quantiles", "LIST", "print quantiles, in percent, such as 50,99,99.9",
     options_set_quantiles, 0, OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_FORMAT, "format", "FORMAT", "tsv (default), csv, json; of bins: raw, gnuplot, svg",
     options_set_format, 0, OPTIONS_FOR_RESULTS | OPTIONS_MERGES, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_PLOT, "plot", NULL, "draw bars (default at a terminal); show empty bins too", NULL,
     offsetof(struct options, print.plot), OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_ZEROS, "zeros", NULL, NULL, NULL, offsetof(struct options, print.zeros),
     OPTIONS_FOR_BINS, OPTIONS_GROUP_PRINT},
    {'o', "output", "FILE", "write the result to FILE once it is complete", options_set_output, 0,
     OPTIONS_MERGES, OPTIONS_GROUP_PRINT},
    {OPTIONS_KEY_SAVE, "save", "FILE", "also save the state for merge (-: print it instead)",
     options_set_save, 0, OPTIONS_FOR_RESULTS | OPTIONS_MERGES, OPTIONS_GROUP_PRINT},

    {'t', "type", "TYPE", "i8 u8 i16 u16 i32 u32 i64 u64, plus le or be: u16be", options_set_type,
     0, 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_BINARY, "binary", NULL, "default: detected, as i32 if binary and i64 if text",
     NULL, offsetof(struct options, binary), 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_TEXT, "text", NULL, NULL, NULL, offsetof(struct options, text), 0,
     OPTIONS_GROUP_INPUT},
    {'f', "field", "N|NAME", "text: field N (-1: last) or NAME (default: all fields)",
     options_set_field, 0, 0, OPTIONS_GROUP_INPUT},
    {'d', "delimiter", "C", "text: fields between blanks, between C, or of CSV",
     options_set_delimiter, 0, 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_CSV, "csv", NULL, NULL, NULL, offsetof(struct options, text_rules.is_quoted), 0,
     OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_BASE, "base", "N", "text: base 10 or 16; all but stalin-sort print base 10",
     options_set_base, 0, 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_DECIMALS, "decimals", "N", "text: numbers such as 12.34, with at most N decimals",
     options_set_decimals, 0, 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_HEADER, "header", "[N]", "text: skip the first line, or N lines, of each file",
     options_set_header, 0, 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_RECORD, "record", "BYTES", "binary: one integer of each record",
     options_set_record, 0, 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_OFFSET, "offset", "BYTES", NULL, options_set_offset, 0, 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_WEIGHT, "weight", "COLUMN", "instead of counting, add up field N|NAME, or u32@8",
     options_set_weight, 0, OPTIONS_FOR(HISTOGRAM) | OPTIONS_FOR(UNIQ), OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_BY, "by", "COLUMN", "a line for each integer in field N|NAME, or u32@8",
     options_set_by, 0, OPTIONS_FOR(REDUCE) | OPTIONS_FOR(COUNT), OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_INVALID, "invalid", "HOW",
     "what is no number: abort (default), fail, warn, ignore", options_set_invalid, 0, 0,
     OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_DECOMPRESS, "decompress", "HOW", "auto (default), none; its memory limit",
     options_set_decompress, 0, 0, OPTIONS_GROUP_INPUT},
    {OPTIONS_KEY_MEMORY, "memory", "SIZE", NULL, options_set_memory, 0, 0, OPTIONS_GROUP_INPUT},

    {'S', "buffer-size", "SIZE", "memory for counts (default: half of what is free)",
     options_set_buffer_size, 0, OPTIONS_FOR_TABLES | OPTIONS_FOR(COUNT), OPTIONS_GROUP_RUN},
    {'T', "temporary-directory", "DIR", "where counts beyond it go ($TMPDIR or /tmp)",
     options_set_directory, 0, OPTIONS_FOR_TABLES, OPTIONS_GROUP_RUN},
    {OPTIONS_KEY_ENGINE, "engine", "NAME", "auto (default), cpu or cuda; GPUs, such as 0,1",
     options_set_engine, 0, 0, OPTIONS_GROUP_RUN},
    {OPTIONS_KEY_GPUS, "gpus", "LIST", NULL, options_set_gpus, 0, 0, OPTIONS_GROUP_RUN},
    {OPTIONS_KEY_THREADS, "threads", "N", "worker threads (default: all processors)",
     options_set_threads, 0, OPTIONS_MERGES, OPTIONS_GROUP_RUN},
    {OPTIONS_KEY_CHUNK_SIZE, "chunk-size", "SIZE", "bytes that a thread reads at a time",
     options_set_chunk_size, 0, 0, OPTIONS_GROUP_RUN},
    {OPTIONS_KEY_PROGRESS, "progress", NULL, "show progress on stderr, or do not",
     options_set_progress, 0, 0, OPTIONS_GROUP_RUN},
    {OPTIONS_KEY_NO_PROGRESS, "no-progress", NULL, NULL, options_set_no_progress, 0, 0,
     OPTIONS_GROUP_RUN},
    {OPTIONS_KEY_EVERY, "every", "DURATION", "print the result so far every 500ms, 10s, 1.5m, 2h",
     options_set_every, 0, OPTIONS_FOR_RESULTS, OPTIONS_GROUP_RUN},
    {OPTIONS_KEY_STATS, "stats", NULL, "print statistics on stderr: volume, time, rates", NULL,
     offsetof(struct options, stats), OPTIONS_MERGES, OPTIONS_GROUP_RUN},
    {'v', "verbose", NULL, "report on stderr which engines run, and why", NULL,
     offsetof(struct options, verbose), 0, OPTIONS_GROUP_RUN},
    {'q', "quiet", NULL, "do not report values outside the bins", NULL,
     offsetof(struct options, quiet), OPTIONS_MERGES, OPTIONS_GROUP_RUN},
    {'h', "help", NULL, "print this help, or the version, and exit", NULL,
     offsetof(struct options, help), OPTIONS_FOR_ALL, OPTIONS_GROUP_RUN},
    {'V', "version", NULL, NULL, options_set_version, 0, OPTIONS_FOR_ALL, OPTIONS_GROUP_RUN},
};
#define OPTIONS_ROWS (sizeof options_rows / sizeof *options_rows)
const size_t options_row_count = OPTIONS_ROWS;

/* The option descriptions that getopt needs. */
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
            .has_arg = !row->argument          ? no_argument
                       : *row->argument == '[' ? optional_argument
                                               : required_argument,
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

/* Returns the option with that key, or NULL. */
static const struct options_row *options_find(int key)
{
    for (size_t i = 0; i < OPTIONS_ROWS; i++) {
        if (options_rows[i].key == key)
            return &options_rows[i];
    }
    return NULL;
}

bool options_print_bins(const struct options *options)
{
    return options->action == OPTIONS_MERGE || OPTIONS_FOR_BINS & 1u << options->operation;
}

bool options_row_goes(const struct options *options, const struct options_row *row)
{
    unsigned takers = options_row_operations(row);

    if (options->action == OPTIONS_MERGE)
        return row->operations & OPTIONS_MERGES;
    if (options->action == OPTIONS_INFO)
        return row->operations & OPTIONS_INFORMS;
    return !takers || takers & 1u << options->operation;
}

/* Writes the operations that accept the option, such as " (but with histogram, uniq)"; or "". */
static void options_list_takers(const struct options_row *row, char list[OPTIONS_TAKERS_SIZE])
{
    unsigned takers = options_row_operations(row);
    size_t used = 0;

    list[0] = '\0';
    for (unsigned i = 0; i < OPERATION_IDS; i++) {
        if (takers & 1u << i)
            used += (size_t)snprintf(list + used, OPTIONS_TAKERS_SIZE - used, "%s %s",
                                     used == 0 ? " (but with" : ",", operations[i]->name);
    }
    if (used > 0)
        strcpy(list + used, ")");
}

/*
 * Fails if the action or operation does not accept the option. For merge, which does not know its
 * states yet, records the operations that do not accept it.
 */
static enum status options_check_row(struct options *options, const struct options_row *row,
                                     struct failure *failure)
{
    bool is_merge = options->action == OPTIONS_MERGE;
    unsigned takers = options_row_operations(row);
    char list[OPTIONS_TAKERS_SIZE];

    for (unsigned i = 0; is_merge && takers && i < OPERATION_IDS; i++) {
        if (!(takers & 1u << i))
            options->unmergeable[i] = row->name;
    }
    if (options_row_goes(options, row))
        return STATUS_OK;
    options_list_takers(row, list);
    return status_fail(failure, STATUS_USAGE, "option --%s does not go with %s%s", row->name,
                       is_merge                          ? "merge"
                       : options->action == OPTIONS_INFO ? "info"
                                                         : operations[options->operation]->name,
                       list);
}

static enum status options_set(struct options *options, int key, const char *value,
                               struct failure *failure)
{
    const struct options_row *row = options_find(key);

    if (options_check_row(options, row, failure) != STATUS_OK)
        return failure->status;
    if (row->set)
        return row->set(options, value, failure);
    *(bool *)((char *)options + row->flag) = true;
    return STATUS_OK;
}

/* Reports an option for which getopt returned '?' or ':'. */
static enum status options_fail_unknown(const struct options *options, int answer,
                                        char *const *argv, struct failure *failure)
{
    const struct options_row *row = options_find(optopt);

    if (answer == ':' && row)
        return status_fail(failure, STATUS_USAGE, "option --%s needs a value", row->name);
    if (row)
        return status_fail(failure, STATUS_USAGE, "option --%s takes no value", row->name);
    if (optopt)
        return options_fail_letter((char)optopt, failure);
    return options_fail_name(options, argv[optind - 1], failure);
}

/* Sets the operation or action if the first word names one. Returns whether it does. */
static bool options_set_operation(struct options *options, const char *word)
{
    if (strcmp(word, "info") == 0 || strcmp(word, "merge") == 0) {
        options->action = *word == 'i' ? OPTIONS_INFO : OPTIONS_MERGE;
        return true;
    }
    return operation_find(word, &options->operation);
}

/*
 * The first operand of reduce may be a list of reductions. If so, it is consumed; else the default
 * ones are computed. `operand` is NULL if there is none.
 */
static enum status options_set_reductions(struct options *options, const char *operand,
                                          struct failure *failure)
{
    enum reductions_parsed parsed = REDUCTIONS_NO_LIST;

    if (operand)
        parsed = reductions_parse(operand, &options->reductions);
    if (parsed == REDUCTIONS_TWICE)
        return status_fail(failure, STATUS_USAGE, "a reduction is named twice: '%s'", operand);
    if (parsed == REDUCTIONS_TOO_MANY)
        return status_fail(failure, STATUS_USAGE, "too many reductions: at most %d",
                           REDUCTIONS_MAX);
    if (parsed == REDUCTIONS_NO_LIST && operand &&
        options_check_reductions(operand, failure) != STATUS_OK)
        return failure->status;
    if (parsed == REDUCTIONS_LIST)
        optind++;
    else
        reductions_default(&options->reductions, options->has_decimals ? REDUCTIONS_NEED_BITS : 0);
    if (options->has_decimals && options->reductions.needs & REDUCTIONS_NEED_BITS)
        return status_fail(failure, STATUS_USAGE,
                           "and, or and xor do not go with --decimals: they are of the bits of "
                           "integers");
    return STATUS_OK;
}

/* Reads what depends on other options. */
static enum status options_finish(struct options *options, struct failure *failure)
{
    if (options->has_decimals && options->text_rules.notation == TEXT_HEX)
        return status_fail(failure, STATUS_USAGE, "--decimals does not go with --base 16");
    if (options->has_decimals)
        options->text_rules.notation = TEXT_FIXED;
    if (options->range_text && options_read_range(options, failure) != STATUS_OK)
        return failure->status;
    return options->width_text ? options_read_width(options, failure) : STATUS_OK;
}

/* Sets the options that getopt finds, up to --help or --version. */
static enum status options_parse_words(struct options *options, int argc, char **argv,
                                       struct failure *failure)
{
    struct options_getopt described = options_describe();
    int key;

    opterr = 0;
    while ((key = getopt_long(argc, argv, described.letters, described.names, NULL)) != -1) {
        bool has_value = optarg && optarg == argv[optind - 1] + 2; /* in the word of its letter */
        if (options_check_dashes(has_value ? argv[optind - 1] : argv[optind], failure) != STATUS_OK)
            return failure->status;
        if (key == '?' || key == ':')
            return options_fail_unknown(options, key, argv, failure);
        if (options_set(options, key, optarg, failure) != STATUS_OK)
            return failure->status;
        if (options->help || options->action == OPTIONS_VERSION)
            return STATUS_OK;
    }
    return STATUS_OK;
}

/* Sets the operation if the first word names one, or is "help" before one. */
static enum status options_parse_first(struct options *options, int argc, char **argv,
                                       bool *is_named, struct failure *failure)
{
    *is_named = argc > 1 && options_set_operation(options, argv[1]);
    if (*is_named || argc < 2 || *argv[1] == '-')
        return STATUS_OK;
    options->help = argc > 2 && strcmp(argv[1], "help") == 0 && options_is_no_file(argv[1]) &&
                    options_set_operation(options, argv[2]);
    return options->help ? STATUS_OK : options_check_first_word(argv[1], failure);
}

enum status options_parse(struct options *options, int argc, char **argv, struct failure *failure)
{
    static char *standard_input[] = {"-", NULL};
    bool is_named;

    *options = (struct options){
        .operation = OPERATION_HISTOGRAM,
        .text_rules = {.delimiter = TEXT_NO_DELIMITER},
    };
    element_parse("i32", &options->element);
    if (options_parse_first(options, argc, argv, &is_named, failure) != STATUS_OK)
        return failure->status;
    if (options->help)
        return STATUS_OK;
    argv += is_named;
    argc -= is_named;
    if (options_parse_words(options, argc, argv, failure) != STATUS_OK)
        return failure->status;
    if (options->help && !is_named && optind < argc)
        options_set_operation(options, argv[optind]);
    if (options->help || options->action == OPTIONS_VERSION)
        return STATUS_OK;
    if (options_finish(options, failure) != STATUS_OK)
        return failure->status;
    if (options->operation == OPERATION_REDUCE &&
        options_set_reductions(options, argv[optind], failure) != STATUS_OK)
        return failure->status;
    if (options_check_files(options, argv + optind, failure) != STATUS_OK)
        return failure->status;
    options->names = argc > optind ? argv + optind : standard_input;
    options->name_count = argc > optind ? (size_t)(argc - optind) : 1;
    options->has_names = argc > optind;
    if (options->action == OPTIONS_INFO && argc > optind)
        return status_fail(failure, STATUS_USAGE, "info takes no file: '%s'", argv[optind]);
    return STATUS_OK;
}

void options_destroy(struct options *options)
{
    free(options->predicates);
    quantiles_destroy(&options->print.quantiles);
}
