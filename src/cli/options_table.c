/* The table of options: one row for each, in the order of --help and of the man page. */
#include "config.h"

#include "cli/options_table.h"

#include <string.h>

const struct options_command options_commands[OPTIONS_COMMANDS] = {
    [OPERATION_HISTOGRAM] =
        {
            .name = "histogram",
            .alias = "hist",
            .help = "count the values in each bin (the default)",
            .usage = "gpuhist [histogram] [OPTION]... [FILE]...\n"
                     "Count the values in each bin, by default in automatic bins.\n",
            .examples = "  gpuhist --bins 5M ids.bin                    ids below 5000000\n"
                        "  gpuhist --width 1h -f 4:time access.log      requests per hour\n"
                        "  gpuhist --log2=3 -f 10 --by 9 --plot x.log   sizes by status\n",
            .operation = OPERATION_HISTOGRAM,
            .traits = OPTIONS_MAKES_BINS | OPTIONS_PRINTS_BINS | OPTIONS_WEIGHS |
                      OPTIONS_HAS_GROUPS | OPTIONS_HAS_RESULT | OPTIONS_READS_INPUT | OPTIONS_RUNS,
        },
    [OPERATION_UNIQ] =
        {
            .name = "uniq",
            .alias = "distinct",
            .help = "count each distinct value",
            .usage = "gpuhist uniq [OPTION]... [FILE]...\n"
                     "Count each distinct value. Print the values in ascending order, as\n"
                     "`sort -n | uniq -c` does, but with the count last.\n",
            .examples =
                "  gpuhist uniq -f 9 --where '10>=1M' access.log   statuses of large responses\n"
                "  gpuhist uniq -f 10 --by 9 --top 3 access.log    3 commonest sizes by status\n",
            .operation = OPERATION_UNIQ,
            .traits = OPTIONS_PRINTS_BINS | OPTIONS_WEIGHS | OPTIONS_HAS_GROUPS |
                      OPTIONS_HAS_RESULT | OPTIONS_READS_INPUT | OPTIONS_RUNS,
        },
    [OPERATION_REDUCE] =
        {
            .name = "reduce",
            .help = "print statistics: count, sum, mean, p99, ...",
            .usage =
                "gpuhist reduce [OPS] [OPTION]... [FILE]...\n"
                "Print the statistics in OPS, a comma-separated list.\n"
                "Default: count,sum,min,max,mean,variance,stddev\n"
                "Default for integers and sizes: also the bitwise and,or,xor\n"
                "Also: svar, sstdev (of a sample, not a population), distinct, mode, q1, q3, iqr,\n"
                "percentiles such as p99.9, or median (for an even count, the lower middle "
                "value)\n",
            .examples = "  gpuhist reduce count,p50,p99 -f 10 --by 9 access.log   sizes by status\n"
                        "  gpuhist reduce sum,max --csv -f ms:.2,bytes x.csv      two columns\n"
                        "  gpuhist reduce p99 --jsonl -f .ms --missing skip x.jsonl\n",
            .operation = OPERATION_REDUCE,
            .traits = OPTIONS_REDUCES | OPTIONS_HAS_GROUPS | OPTIONS_HAS_RESULT |
                      OPTIONS_READS_INPUT | OPTIONS_RUNS,
        },
    [OPERATION_COUNT] =
        {
            .name = "count",
            .help = "count the values that satisfy each predicate",
            .usage = "gpuhist count [PREDICATE]... [OPTION]... [FILE]...\n"
                     "Count the values that satisfy each predicate, in one pass over the input;\n"
                     "with no predicate and no -f, count the rows.\n",
            .examples = "  gpuhist count --where '9>=500' access.log             server errors\n"
                        "  gpuhist count --ge 1M --all -f 10 --by 9 access.log   "
                        "large and all, by status\n",
            .operation = OPERATION_COUNT,
            .traits = OPTIONS_TESTS_VALUES | OPTIONS_HAS_GROUPS | OPTIONS_HAS_RESULT |
                      OPTIONS_READS_INPUT | OPTIONS_RUNS,
        },
    [OPERATION_STALIN_SORT] =
        {
            .name = "stalin-sort",
            .alias = "stalin",
            .help = "drop values smaller than an earlier one",
            .usage =
                "gpuhist stalin-sort [OPTION]... [FILE]...\n"
                "Copy the values in input order, but drop those smaller than an earlier one.\n",
            .examples =
                "  gpuhist stalin-sort --purged late.txt times.txt   save the dropped values\n",
            .operation = OPERATION_STALIN_SORT,
            .traits = OPTIONS_PURGES | OPTIONS_READS_INPUT | OPTIONS_RUNS,
        },
    {
        .name = "merge",
        .help = "merge state files written by --save",
        .usage = "gpuhist merge [OPTION]... [FILE]...\n"
                 "Merge state files written by --save, and print the result.\n"
                 "A state stores only one output option: whether percentiles are interpolated.\n"
                 "Give merge the others, such as --top 10, if the operation that made the states\n"
                 "has them: --percentiles, for example, only for histogram and uniq.\n",
        .examples = "  gpuhist uniq --save monday.state -o /dev/null monday.txt   make a state\n"
                    "  gpuhist merge --top 10 monday.state tuesday.state          merge two days\n",
        .action = OPTIONS_MERGE,
        .traits = OPTIONS_PRINTS_BINS | OPTIONS_READS_STATES | OPTIONS_RUNS,
    },
    {
        .name = "info",
        .help = "print the version, usable engines and formats",
        .usage = "gpuhist info\n"
                 "Print the version, and for each engine and compression format whether it can\n"
                 "be used, and if not, why; in a build with CUDA, also what runs on the GPU.\n",
        .examples = "  gpuhist info | grep '^cuda'   whether the GPU can be used\n",
        .action = OPTIONS_INFO,
        .traits = OPTIONS_RUNS,
    },
};

const struct options_command *options_find_command(const char *name)
{
    for (size_t i = 0; i < OPTIONS_COMMANDS; i++) {
        const struct options_command *command = &options_commands[i];
        if (strcmp(name, command->name) == 0 ||
            (command->alias && strcmp(name, command->alias) == 0))
            return command;
    }
    return NULL;
}

/* A row; `...` are its kind and target. */
#define OPTION(in_group, with_traits, its_letter, its_name, its_argument, its_help, ...) \
    {.group = OPTIONS_##in_group,                                                        \
     .traits = with_traits,                                                              \
     .letter = its_letter,                                                               \
     .name = its_name,                                                                   \
     .argument = its_argument,                                                           \
     .help = its_help,                                                                   \
     __VA_ARGS__},

#define TARGET(is_kind, member)                                            \
    .kind = OPTIONS_##is_kind, .target = offsetof(struct options, member), \
    .bytes = sizeof((struct options *)0)->member
#define FLAG(member, stored)         TARGET(FLAG, member), .value = stored
#define CHOICE(member, first, names) TARGET(CHOICE, member), .value = first, .words = names
#define NUMBER_IN(member, in_unit, low, high, is_expected)                                   \
    TARGET(NUMBER, member), .unit = DECIMAL_UNIT_##in_unit, .minimum = low, .maximum = high, \
                            .expected = is_expected
#define NUMBER(member, low, high, is_expected) NUMBER_IN(member, SI, low, high, is_expected)
#define SIZE(member, low, high, is_expected)   NUMBER_IN(member, BYTES, low, high, is_expected)
#define FILENAME(member)                       TARGET(FILE, member), .expected = "a file's name"
#define GIVEN(member)                          .given = offsetof(struct options, member)

const char *const options_groups[OPTIONS_GROUPS] = {
    [OPTIONS_SELECTION] = "Columns and rows",
    [OPTIONS_BINS] = "Bins (default: automatic, with round widths)",
    [OPTIONS_PREDICATES] = "Predicates",
    [OPTIONS_STALIN_SORT] = "Dropping",
    [OPTIONS_OUTPUT] = "Output",
    [OPTIONS_INPUT] = "Input",
    [OPTIONS_EXECUTION] = "Execution",
};

/* clang-format off */
const struct options_row options_rows[] = {
    OPTION(SELECTION, OPTIONS_READS_INPUT, 'f', "field", "COLUMN",
           "use column N (-1: last) or NAME (default: all numbers)",
           TARGET(COLUMNS, field), .maximum = 32,
           .expected = "1 for the first, -1 for the last, ..., or a name, and a type such as :.2",
           .is_common = true)
    OPTION(SELECTION, OPTIONS_HAS_GROUPS, 0, "by", "COLUMN",
           "group by column N or NAME: one result per group",
           TARGET(COLUMNS, by), .maximum = PLAN_GROUPS_MAX,
           .expected = "a field's number or name, or in records such as u32@8", .is_common = true)
    OPTION(SELECTION, OPTIONS_READS_INPUT, 0, "where", "CONDITION",
           "keep rows that match, as in \"9>=500\"; repeat to AND",
           .kind = OPTIONS_CONDITIONS, .is_common = true)
    OPTION(SELECTION, OPTIONS_READS_INPUT, 0, "or", NULL,
           "between two --where: start another alternative",
           .kind = OPTIONS_OR)
    OPTION(SELECTION, OPTIONS_WEIGHS, 0, "weight", "COLUMN",
           "sum this column instead of counting",
           TARGET(COLUMNS, weight), .maximum = 1,
           .expected = "a field's number or name, or in records such as u32@8", .is_common = true)
    OPTION(SELECTION, OPTIONS_READS_INPUT, 0, "names", NULL,
           "treat every column as a header name, even 2017", FLAG(names_only, true))

    OPTION(BINS, OPTIONS_MAKES_BINS, 'b', "bins", "N",
           "use N bins: values 0 to N-1, or divide --range",
           NUMBER(bins, 1, UINT64_MAX, "a number from 1, such as 256, 5M or 1Mi"),
           .is_common = true)
    OPTION(BINS, OPTIONS_MAKES_BINS, 0, "range", "LO:HI",
           "bin values in [LO, HI); auto: min to max of data", TARGET(TEXT, range_text),
           .words = "auto", .is_common = true)
    OPTION(BINS, OPTIONS_MAKES_BINS, 'w', "width", "W",
           "use bins of width W, over --range or all values", TARGET(TEXT, width_text),
           .instead = "-f 4:time/1m, -f 10:int/100", .is_common = true)
    OPTION(BINS, OPTIONS_MAKES_BINS, 0, "log2", "[K]",
           "put edges at powers of 2, with 2^K bins in between",
           NUMBER(log2, 0, BINNING_PARTS_MAX, "a number from 0 to 12"), GIVEN(has_log2))
    OPTION(BINS, OPTIONS_MAKES_BINS, 0, "log10", NULL,
           "put edges at powers of 10", FLAG(log10, true))
    OPTION(BINS, OPTIONS_MAKES_BINS, 0, "edges", "LIST",
           "use these bin edges: 0,10,50 or @FILE", TARGET(LIST, edges))
    OPTION(BINS, OPTIONS_MAKES_BINS, 0, "outside", "HOW",
           "out of range: report (default), abort, clamp, ignore",
           CHOICE(outside, OUTSIDE_REPORT, "report abort clamp ignore"))

#define OPTION_PREDICATE(id, label, name, argument, help)  \
    OPTION(PREDICATES, OPTIONS_TESTS_VALUES, 0, name, argument, help,     \
           .kind = OPTIONS_PREDICATE, .value = PREDICATE_##id,            \
           .instead = "--where 'COLUMN>=V'")
    PREDICATE_RELATIONS(OPTION_PREDICATE)

    OPTION(STALIN_SORT, OPTIONS_PURGES, 0, "strict", NULL,
           "also drop values equal to the last one kept", FLAG(stalin_sort.strict, true))
    OPTION(STALIN_SORT, OPTIONS_PURGES, 0, "descending", NULL,
           "drop greater values instead of smaller ones", FLAG(stalin_sort.descending, true))
    OPTION(STALIN_SORT, OPTIONS_PURGES, 0, "purged", "FILE",
           "write the dropped values to FILE", FILENAME(print.purged))

    OPTION(OUTPUT, OPTIONS_PRINTS_BINS | OPTIONS_HAS_GROUPS, 0, "top", "K",
           "print K highest counts (reduce, count: first K groups)",
           NUMBER(print.top, 1, UINT64_MAX, "a number of bins, such as 10"), .is_common = true,
           .special = {{OPTIONS_WEIGHS, "print the K highest counts (with --by: of each group)"},
                       {OPTIONS_REDUCES | OPTIONS_TESTS_VALUES,
                        "print the first K groups (requires --by and --sort)"}})
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS | OPTIONS_HAS_GROUPS, 0, "min-count", "N",
           "print only lines with a count of at least N",
           NUMBER(print.min_count, 1, UINT64_MAX, "a count from 1, such as 2 or 1K"),
           .special = {{OPTIONS_REDUCES | OPTIONS_TESTS_VALUES,
                        "print only groups with at least N values or rows"}})
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "other", NULL,
           "add a line for what --top and --min-count omit", FLAG(print.other, true))
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS | OPTIONS_HAS_GROUPS, 0, "sort", "ORDER",
           "sort by bin or count (reduce, count: by a result)",
           TARGET(TEXT, print.sort), .words = "bin count",
           .special = {{OPTIONS_WEIGHS, "sort by bin (value) or count"},
                       {OPTIONS_REDUCES, "sort groups by a result: count, p99, ..."},
                       {OPTIONS_TESTS_VALUES,
                        "sort groups by a result: count, \"ge 500\", ..."}})
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "percent", NULL,
           "add a column of percentages", FLAG(print.percent, true))
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "cumulative", NULL,
           "add a column of cumulative counts", FLAG(print.cumulative, true))
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "percentiles", "LIST",
           "print percentiles, such as 50,99,99.9", TARGET(QUANTILES, print.quantiles),
           .alias = "quantiles", .instead = "reduce p50,p99,p99.9")
    OPTION(OUTPUT, OPTIONS_REDUCES, 0, "interpolate", NULL,
           "interpolate percentiles between values, as NumPy does",
           FLAG(interpolate, true))
    OPTION(OUTPUT, OPTIONS_HAS_RESULT | OPTIONS_READS_STATES, 0, "format", "FORMAT",
           "print " PRINT_NAMES_OF_LINES "; histogram, uniq: also raw"
           PRINT_FORMATS_OF_BINS(PRINT_FORMAT_NAME, PRINT_FORMAT_NAME),
           TARGET(FORMAT, print.format),
           .special = {{OPTIONS_WEIGHS,
                        "print " PRINT_NAMES_OF_LINES "; also raw"
                        PRINT_FORMATS_OF_BINS(PRINT_FORMAT_NAME, PRINT_FORMAT_NAME)},
                       {OPTIONS_HAS_RESULT, "print " PRINT_NAMES_OF_LINES}},
           .words = "tsv" PRINT_FORMATS_OF_LINES(PRINT_FORMAT_WORD)
                    " raw" PRINT_FORMATS_OF_BINS(PRINT_FORMAT_WORD, PRINT_FORMAT_WORD),
           .expected = PRINT_NAMES_OF_LINES ", raw"
                       PRINT_FORMATS_OF_BINS(PRINT_FORMAT_NAME, PRINT_FORMAT_LAST)
                       " (rsvg-convert makes png)",
           .is_common = true)
    OPTION(OUTPUT, OPTIONS_HAS_RESULT | OPTIONS_READS_STATES, 0, "header-out", NULL,
           "in tsv, print the column names first", FLAG(print.header_out, true))
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "plot", NULL,
           "draw bars, or a heat map of groups (--no-plot: table)",
           FLAG(print.plot, PRINT_PLOT_ALWAYS))
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "no-plot", NULL,
           "print a table without bars at a terminal", FLAG(print.plot, PRINT_PLOT_NEVER),
           .is_told = true)
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "title", "TEXT",
           "set the title (plots and images)", TARGET(TEXT, print.title))
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "label", "TEXT",
           "set the axis label for the values (plots and images)", TARGET(TEXT, print.label))
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "log-count", NULL,
           "scale counts logarithmically (plots and images)", FLAG(print.log_count, true))
    OPTION(OUTPUT, OPTIONS_PRINTS_BINS, 0, "zeros", NULL,
           "also print empty bins (uniq: the values in between)", FLAG(print.zeros, true),
           .special = {{OPTIONS_MAKES_BINS, "also print empty bins"},
                       {OPTIONS_WEIGHS, "also print the values in between, with count 0"}})
    OPTION(OUTPUT, OPTIONS_READS_INPUT | OPTIONS_READS_STATES, 'o', "output", "FILE",
           "write the result to FILE once it is complete",
           FILENAME(print.output), GIVEN(print.has_output), .is_common = true)
    OPTION(OUTPUT, OPTIONS_HAS_RESULT | OPTIONS_READS_STATES, 0, "save", "FILE",
           "also save a state for merge (-: print it instead)", FILENAME(print.save))

    OPTION(INPUT, OPTIONS_READS_INPUT, 't', "type", "TYPE",
           "read i8-i64, u8-u64, f16-f64, bf16; u16be: big-endian",
           .kind = OPTIONS_TYPE, .words = "{i,u}{8,16,32,64}{,le,be}", .is_common = true)
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "binary", NULL,
           "read binary input (i32 unless -t is given)", FLAG(binary, true))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "text", NULL,
           "read text (default: detected)", FLAG(text, true))
    OPTION(INPUT, OPTIONS_READS_INPUT, 'd', "delimiter", "C",
           "split lines of text at C (default: spaces and tabs)",
           TARGET(CHARACTER, delimiter),
           .expected = "one byte that is no digit, such as ',' or '\\t'")
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "csv", NULL,
           "read CSV: fields between commas may be quoted", FLAG(csv, true), .is_common = true)
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "jsonl", NULL,
           "read JSON Lines; columns are names or paths (.a.b)", FLAG(rows_given[ROW_JSON], true),
           .is_common = true)
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "logfmt", NULL,
           "read KEY=VALUE pairs; columns are keys", FLAG(rows_given[ROW_LOGFMT], true))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "clf", NULL,
           "read web logs; columns are status, path, agent ...", FLAG(rows_given[ROW_CLF], true),
           .is_common = true)
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "base", "N",
           "read integers in base 10 (default) or 16",
           CHOICE(base, OPTIONS_BASE_10, "10 16"))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "decimals", "N",
           "read up to N decimal places; round.N rounds to N",
           TARGET(DECIMALS, decimals), .maximum = TEXT_DECIMALS_MAX,
           .expected = "a number from 0 to 18, or round.6 to round numbers",
           GIVEN(has_decimals),
           .is_common = true)
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "header", "[N]",
           "skip the first line, or N lines, of each file",
           NUMBER(header_lines, 0, UINT64_MAX, "a number of lines"), GIVEN(has_header), .value = 1)
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "comment", "C",
           "skip lines that begin with C",
           TARGET(CHARACTER, comment), .expected = "one byte that is no digit, such as '#'")
    OPTION(INPUT, OPTIONS_READS_INPUT, 'z', "zero-terminated", NULL,
           "read rows that end with NUL instead of newline", FLAG(ends_with_nul, true))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "record", "BYTES",
           "split binary input into records of this many bytes",
           SIZE(record_bytes, 1, OPTIONS_RECORD_MAX, "bytes from 1 to 16M, such as 24"))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "offset", "BYTES",
           "without -f: read the value at this offset (default: 0)",
           SIZE(record_offset, 0, UINT64_MAX, "bytes, such as 8"), GIVEN(has_offset))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "time-format", "FORMAT",
           "read timestamps in this form: \"%d.%m.%Y %H:%M\"",
           TARGET(TEXT, time_format_text))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "year", "N",
           "use this year if --time-format has none",
           NUMBER(year, 1, 9999, "a year from 1 to 9999"))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "tz", "ZONE",
           "print and group timestamps in ZONE: Europe/Berlin",
           TARGET(TEXT, zone_name))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "invalid", "HOW",
           "invalid values: abort (default), fail, warn or ignore",
           CHOICE(invalid, INVALID_ABORT, "abort fail warn ignore"), .is_common = true)
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "missing", "HOW",
           "missing values: error (default) or skip (the row)",
           CHOICE(missing, OPTIONS_MISSING_ERROR, "error skip"), .is_common = true)
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "decompress", "HOW",
           "auto (default): decompress input; none: read it as is",
           CHOICE(no_decompression, false, "auto none"))
    OPTION(INPUT, OPTIONS_READS_INPUT, 0, "memory", "SIZE",
           "limit memory of zstd and xz decoders (default: 128M)",
           SIZE(decoding_memory, 1, UINT64_MAX, "bytes, such as 512M"))

    OPTION(EXECUTION, OPTIONS_HAS_RESULT | OPTIONS_READS_STATES, 'S', "buffer-size", "SIZE",
           "limit memory for counts (default: half of free)",
           SIZE(buffer_bytes, 1, UINT64_MAX, "bytes, such as 512M"))
    OPTION(EXECUTION, OPTIONS_HAS_RESULT | OPTIONS_READS_STATES, 'T', "temporary-directory", "DIR",
           "spill to DIR (default: $TMPDIR or /tmp)",
           TARGET(DIRECTORY, temporary_directory), .expected = "a directory (threads: --threads N)")
    OPTION(EXECUTION, OPTIONS_READS_INPUT, 0, "engine", "NAME",
           "use auto (default), cpu or cuda", TARGET(TEXT, engine), .words = "auto cpu cuda")
    OPTION(EXECUTION, OPTIONS_READS_INPUT, 0, "gpus", "LIST",
           "use these GPUs, such as 0,1", .kind = OPTIONS_GPUS,
           .expected = "numbers from 0 to 15, each once, such as 0 or 0,1")
    OPTION(EXECUTION, OPTIONS_READS_INPUT | OPTIONS_READS_STATES, 0, "threads", "N",
           "use N threads (default: all CPUs)",
           NUMBER(threads, 1, 4096, "a number from 1 to 4096"))
    /* At least one element of any type; kernels count the elements of a chunk in 32 bits. */
    OPTION(EXECUTION, OPTIONS_READS_INPUT, 0, "chunk-size", "SIZE",
           "read this many bytes at a time per thread",
           SIZE(chunk_bytes, 8, 1 << 30, "bytes from 8 to 1G, such as 512K or 8M"))
    OPTION(EXECUTION, OPTIONS_READS_INPUT, 0, "progress", NULL,
           "show progress, as at a terminal (--no-progress: never)",
           FLAG(progress, OPTIONS_PROGRESS_ON))
    OPTION(EXECUTION, OPTIONS_READS_INPUT, 0, "no-progress", NULL,
           "do not show progress", FLAG(progress, OPTIONS_PROGRESS_OFF), .is_told = true)
    /* At least a millisecond, so that there is time to count. */
    OPTION(EXECUTION, OPTIONS_HAS_RESULT, 0, "every", "DURATION",
           "print an intermediate result every 10s, 1.5m, 2h ...",
           NUMBER_IN(every_ns, TIME, 1000000, UINT64_MAX,
                     "a time from 1ms, such as 500ms, 10s, 1.5m or 2h"),
           .words = "500ms 1s 10s 1m 1h")
    OPTION(EXECUTION, OPTIONS_HAS_RESULT, 0, "window", "DURATION",
           "use only the last 5m, 1h ... of input (with --every)",
           NUMBER_IN(window_ns, TIME, 1000000, UINT64_MAX,
                     "a time from 1ms, such as 500ms, 10s, 1.5m or 2h"),
           .words = "1m 5m 1h")
    OPTION(EXECUTION, OPTIONS_READS_INPUT | OPTIONS_READS_STATES, 0, "stats", NULL,
           "print statistics on stderr: volume, time, rates", FLAG(stats, true))
    OPTION(EXECUTION, OPTIONS_READS_INPUT, 'v', "verbose", NULL,
           "report engines and inferred column types on stderr", FLAG(verbose, true),
           .special = {{OPTIONS_PURGES, "report engines on stderr"}})
    OPTION(EXECUTION, OPTIONS_READS_INPUT | OPTIONS_READS_STATES, 'q', "quiet", NULL,
           "print no notes", FLAG(quiet, true),
           .special = {{OPTIONS_MAKES_BINS | OPTIONS_READS_STATES,
                        "print no notes and no report of out-of-range values"}})
    OPTION(EXECUTION, OPTIONS_RUNS, 'h', "help", NULL,
           "print this help; -V, --version: print the version", FLAG(help, true), .is_common = true)
    OPTION(EXECUTION, OPTIONS_RUNS, 'V', "version", NULL,
           "print the version and exit", FLAG(version, true), .is_told = true)
};
/* clang-format on */
#define OPTIONS_ROWS (sizeof options_rows / sizeof *options_rows)
_Static_assert(OPTIONS_ROWS <= OPTIONS_ROWS_MAX, "the size of tables of options");
const size_t options_row_count = OPTIONS_ROWS;

const char *options_row_help(const struct options_row *row, unsigned traits)
{
    for (size_t i = 0; i < OPTIONS_SPECIAL_MAX; i++) {
        if (row->special[i].traits & traits)
            return row->special[i].text;
    }
    return row->help;
}
