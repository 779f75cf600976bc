/* The command line as a struct. options_parse fills it in; it is constant afterwards. */
#ifndef GPUHIST_OPTIONS_H
#define GPUHIST_OPTIONS_H

#include "input/npy.h"
#include "input/record.h"
#include "lib/status.h"
#include "result/print.h"
#include "value/kind_find.h"
#include "value/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --gpus: the most GPUs, and the highest number plus one. */
#define OPTIONS_GPUS_MAX 16

/* --record: the longest, in bytes. */
#define OPTIONS_RECORD_MAX ((uint64_t)16 << 20)

/* The action of a command. */
enum options_action {
    OPTIONS_RUN,   /* run an operation over the input */
    OPTIONS_MERGE, /* add states */
    OPTIONS_INFO,  /* print the version and the engines */
};

struct options_command;

/* The kind of input that the options state. */
enum options_input {
    OPTIONS_INPUT_ANY, /* not stated: the program looks at the input */
    OPTIONS_INPUT_BINARY,
    OPTIONS_INPUT_TEXT,
    OPTIONS_INPUT_FIELDS, /* columns by their numbers or names: text, or an array of NumPy */
};

/* When progress is shown. */
enum options_progress {
    OPTIONS_PROGRESS_AUTO, /* on a terminal, for long runs */
    OPTIONS_PROGRESS_ON,
    OPTIONS_PROGRESS_OFF,
};

/* --base: how integers in text are written. */
enum options_base {
    OPTIONS_BASE_DEFAULT, /* decimal */
    OPTIONS_BASE_10,
    OPTIONS_BASE_16,
};

/* --missing: what becomes of rows with missing values. */
enum options_missing {
    OPTIONS_MISSING_ERROR, /* as of invalid ones */
    OPTIONS_MISSING_SKIP,
};

/* A column: a field of text, or with an `element` an integer of binary records. */
struct options_column {
    const char *typed; /* all of it; the first where_bytes say where it is: */
    size_t where_bytes;
    const char *where; /* NULL only while it is parsed */
    int32_t field;     /* its number, 1 if it has a name */
    bool is_name;
    const char *name;        /* NULL: none */
    size_t plus;             /* where typed[0..where_bytes) joins two fields; 0: it does not */
    int32_t half_field[2];   /* the two, as `field`, */
    const char *half[2];     /* and their names */
    struct element element;  /* its `bytes` are 0 for a field of text */
    uint64_t offset;         /* of the element in its record */
    const struct kind *kind; /* NULL: of -f as --base and --decimals say, else integers */
    unsigned decimals;       /* fixed point, times */
    bool has_kind;           /* the kind was typed, or found */
    struct kind_width width; /* to which values are floored */
    bool is_saved;           /* in the line of a state: the kind of numbers is their type */
    bool is_key;             /* of --by */
    bool is_open;            /* a field of text without a kind: that may be found in the input */
    bool is_found;           /* it was, and all values there are of it */
};

/* The columns of an option, which may be given several times. */
struct options_columns {
    const char *lists[TEXT_COLUMNS_MAX]; /* [list_count] as typed */
    size_t list_count;
    struct options_column list[TEXT_COLUMNS_MAX]; /* [count] */
    size_t count;
};

/* A condition of --where. */
struct options_condition {
    const char *typed;
    enum predicate_relation relation;
    const char *sign;    /* where the operator is in `typed` */
    const char *value;   /* a number; with = and != a list */
    bool is_alternative; /* --or is before it */
};
#define OPTIONS_CONDITIONS_MAX 16

/* A text that the options keep. */
struct options_copy {
    struct options_copy *next;
    char text[];
};

/* A predicate as typed. The text points into argv. */
struct options_predicate {
    enum predicate_relation relation;
    const char *text; /* NULL: the relation takes no argument */
};

/* The kinds that were found of columns which have none, as they would be typed; "": none. */
struct options_found {
    struct kind_found field[TEXT_COLUMNS_MAX];
    struct kind_found by[TEXT_COLUMNS_MAX];
    struct kind_found where[OPTIONS_CONDITIONS_MAX];
};

/* Strings point into argv; NULL: not given. Numbers are 0 unless they are given. */
struct options {
    int argc; /* what they were parsed of, */
    char **argv;
    const struct options_found *found; /* and the kinds of columns without one; NULL: not known */
    bool has_open;                     /* a column is open */
    bool is_tentative; /* --range or --width cannot be read, unless a kind is found that does */
    char **words;      /* of options_read_line: what strings point into, owned; else NULL */
    bool is_saved;     /* they are the line of a state */
    const struct options_command *command;  /* options_table.h */
    bool is_named;                          /* the command line names it */
    bool help;                              /* print the help of the command, or of the program */
    bool version;                           /* print the version */
    const char *unmergeable[OPERATION_IDS]; /* merge: an option that goes with no states of that */

    /* the plan */
    bool has_type;
    bool has_order; /* the type was given with le or be */
    struct element element;
    uint64_t bins;
    const char *width_text; /* read once the decimals are known, as range_text */
    __int128 width;         /* 0: none; 2^64 and more only with a range */
    bool has_log2;
    unsigned log2; /* each power is divided in 2^log2 bins */
    bool log10;
    const char *edges; /* a list or @FILE */
    const char *range_text;
    bool is_range_auto; /* it is "auto": that of the values */
    __int128 range_low; /* range_low <= v < range_high, if there is a range_text */
    __int128 range_high;
    enum outside_policy outside;
    struct options_predicate *predicates; /* [predicate_count], in the order given; owned */
    size_t predicate_count;
    bool counts_rows; /* count: neither a predicate nor -f was given; the predicate is --all */
    struct reductions reductions;
    bool interpolate; /* quantiles */
    struct stalin_sort_rules stalin_sort;

    /* the input: names[0..name_count), "-" if none was given; points into argv */
    char **names;
    size_t name_count;
    bool has_names;
    bool binary;
    bool text;
    struct options_columns field;
    struct options_columns weight;
    struct options_columns by;
    struct options_columns where;                                /* of the conditions */
    struct options_condition conditions[OPTIONS_CONDITIONS_MAX]; /* [where.count] */
    bool ends_with_or; /* --or was given, and no --where after it */
    bool names_only;   /* columns are names, also those that are numbers */
    const char *time_format_text;
    const char *zone_name;
    struct kind_time_zone *zone;         /* if it has a name, owned; else NULL */
    uint64_t year;                       /* of a format without one; 0: the default */
    bool rows_given[ROW_SCANNERS];       /* the options of row_scanner.h that were given */
    enum row_scanner_id row_scanner;     /* what they say, */
    void *wanted;                        /* and the columns that they find; owned; else NULL */
    struct kind_time_format time_format; /* if it has a text */
    struct options_copy *copies;         /* owned */
    int delimiter;                       /* a byte, or TEXT_NO_DELIMITER */
    bool csv;
    bool ends_with_nul; /* rows do */
    int comment;        /* a byte that comments begin with, or -1 */
    enum options_base base;
    bool has_decimals;
    unsigned decimals;
    bool is_rounded; /* to the decimals */
    uint64_t header_lines;
    bool has_header; /* that number was given, maybe 0 */
    enum invalid_policy invalid;
    enum options_missing missing;
    uint64_t record_bytes;
    bool has_offset;
    uint64_t record_offset;
    bool no_decompression;
    uint64_t decoding_memory; /* bytes; 0: the default */

    /* the output */
    struct print_options print;

    /* the execution */
    const char *engine;              /* NULL: all that pay */
    unsigned gpus[OPTIONS_GPUS_MAX]; /* [gpu_count]: the GPUs to use */
    size_t gpu_count;                /* 0: all that pay */
    unsigned threads;                /* 0: chosen by the engine */
    size_t chunk_bytes;              /* 0: chosen by the engine */
    uint64_t buffer_bytes;           /* of memory for counts; 0: half of what is available */
    const char *temporary_directory; /* NULL: the default */
    enum options_progress progress;
    uint64_t every_ns;  /* interval between results so far; 0: none */
    uint64_t window_ns; /* results are of so long before; 0: of all so far */
    bool stats;
    bool verbose;
    bool quiet;
};

/*
 * Parses the command line, or if `is_saved` the line of a state, which getopt reorders and the
 * options point into. `found`: the kinds of columns without one; NULL: not known yet. Fails with
 * STATUS_USAGE. The caller destroys them, also after a failure. Not thread-safe.
 */
enum status options_parse(struct options *options, int argc, char **argv, bool is_saved,
                          const struct options_found *found, struct failure *failure);

/* Makes the format of the records of a plan's input, which is no array. */
void options_make_format(const struct options *options, const struct plan *plan,
                         struct record_format *format);

/* Returns whether the values of -f are keys: equal ones are one. Pure. */
bool options_has_keys(const struct options *options);

/* Frees what the options own. */
void options_destroy(struct options *options);

/* Returns the word that precedes --help for this text, such as `reduce`. */
const char *options_help_word(const struct options *options);

/* Returns the --help text, which the caller frees; NULL: there is no memory. */
char *options_help(const struct options *options);

/* Fails with STATUS_USAGE unless the options define a plan. Stores the input that they state. */
enum status options_check(const struct options *options, enum options_input *input,
                          struct failure *failure);

/*
 * Writes the options that define a plan, as one line, such as "histogram --type=i32 --bins=256
 * --outside=report": states of equal lines can be added. Columns are written as they were resolved,
 * numbers with their type, so that the line does not depend on the kind of input. The name of a
 * histogram's or uniq's values is last, as --label; lines are equal without it. What was typed is
 * quoted: blanks, control characters and backslashes become \ and three octal digits. The caller
 * frees the line; NULL: there is no memory.
 */
char *options_write_line(const struct plan *plan);

/*
 * Parses such a line, which the plan then owns, and creates its plan: to add up states, with the
 * memory, the temporary directory and the quantiles of the options `merge`. It takes no input: the
 * values of lists in files are unknown. Fails with STATUS_USAGE if options_write_line does not
 * write the line, with STATUS_DATA if there is no memory. The context is as for options_make. The
 * caller destroys the plan, then the options, which own what the plan points to, also after a
 * failure. Not thread-safe.
 */
enum status options_read_line(struct options *options, char *line, const struct options *merge,
                              struct context *context, struct plan *plan, struct failure *failure);

/*
 * Returns whether two lines are equal. If not, writes how `b` first differs from `a`, for a name
 * after it, such as "--type=i16, not --type=i32 as in". Thread-safe.
 */
#define OPTIONS_DIFFERENCE_SIZE 192
bool options_compare_lines(const char *a, const char *b, char difference[OPTIONS_DIFFERENCE_SIZE]);

/* Checks that all options of a merge apply to the plan of its states. Fails with STATUS_USAGE. */
enum status options_check_merged(const struct options *options, const struct plan *plan,
                                 struct failure *failure);

/*
 * Adapts the options to a NumPy array in the file `name`: binary integers, or records if they name
 * columns or count rows; else the array becomes one that is read whole. `adapted` shares what
 * `options` own, and is not destroyed. For a column-major array, the options read the elements of
 * one *column, from 0. Fails with STATUS_DATA if the options cannot be used with the array.
 */
enum status options_adapt_array(const struct options *options, struct npy *array, const char *name,
                                struct options *adapted, uint64_t *column, struct failure *failure);

/*
 * Creates the plan for text or binary input; its run has the context, NULL: it has no run. Only
 * `with_files` reads the files that --edges and --any-of name; else what depends on them is
 * zero-initialised in the plan. Fails with STATUS_USAGE if options are valid but do not go
 * together, with STATUS_DATA if a file cannot be read or there is no memory. The caller destroys
 * the plan, also after a failure. The options, argv and the context must outlive the plan.
 */
enum status options_make(const struct options *options, bool is_text, bool with_files,
                         struct context *context, struct plan *plan, struct failure *failure);

#endif
