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

/* --gpus: maximum number of GPUs, and the highest GPU number plus one. */
#define OPTIONS_GPUS_MAX 16

/* --record: maximum record size in bytes. */
#define OPTIONS_RECORD_MAX ((uint64_t)16 << 20)

/* The action of a command. */
enum options_action {
    OPTIONS_RUN,   /* run an operation over the input */
    OPTIONS_MERGE, /* add saved states */
    OPTIONS_INFO,  /* print the version and the engines */
};

struct options_command;

/* The kind of input that the options require. */
enum options_input {
    OPTIONS_INPUT_ANY, /* unspecified: detected from the input */
    OPTIONS_INPUT_BINARY,
    OPTIONS_INPUT_TEXT,
    OPTIONS_INPUT_FIELDS, /* column numbers or names: text or a NumPy array */
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

/* --missing: how rows with missing values are treated. */
enum options_missing {
    OPTIONS_MISSING_ERROR, /* like invalid values */
    OPTIONS_MISSING_SKIP,
};

/* A column: a field of text, or if `element` has bytes, an integer in binary records. */
struct options_column {
    const char *typed; /* the whole argument; its first where_bytes are the location */
    size_t where_bytes;
    const char *where; /* the location as a string; NULL only during parsing */
    int32_t field;     /* field number; 1 if the column is named */
    bool is_name;
    const char *name;        /* NULL: the column is not named */
    size_t plus;             /* index of the + in `typed` that joins two fields; 0: none */
    int32_t half_field[2];   /* numbers of the joined fields, like `field` */
    const char *half[2];     /* names of the joined fields */
    struct element element;  /* `bytes` is 0 for a field of text */
    uint64_t offset;         /* byte offset of the element in its record */
    const struct kind *kind; /* NULL: for -f set by --base and --decimals, else integers */
    unsigned decimals;       /* decimal places of fixed-point numbers and timestamps */
    bool has_kind;           /* the kind was typed or found in the input */
    struct kind_width width; /* bucket width: values are rounded down to it */
    bool is_saved;           /* from the line of a state: the kind of a number is its type */
    bool is_key;             /* the column is one of --by */
    bool is_open;            /* a text field without a kind, which may be found in the input */
    bool is_found;           /* the kind was found, and all values read have it */
};

/* The columns of an option, which may be given several times. */
struct options_columns {
    const char *lists[TEXT_COLUMNS_MAX]; /* [list_count] arguments as typed */
    size_t list_count;
    struct options_column list[TEXT_COLUMNS_MAX]; /* [count] */
    size_t count;
};

/* A condition of --where. Strings point into argv. */
struct options_condition {
    const char *typed;
    enum predicate_relation relation;
    const char *sign;    /* the operator inside `typed` */
    const char *value;   /* the operand: a number; for = and != a list */
    bool is_alternative; /* --or precedes the condition */
};
#define OPTIONS_CONDITIONS_MAX 16

/* A string that the options own. */
struct options_copy {
    struct options_copy *next;
    char text[];
};

/* A predicate as typed. The text points into argv. */
struct options_predicate {
    enum predicate_relation relation;
    const char *text; /* NULL: the relation takes no argument */
};

/* Kinds found in the input for columns without a kind, as the user would type them; "": none. */
struct options_found {
    struct kind_found field[TEXT_COLUMNS_MAX];
    struct kind_found by[TEXT_COLUMNS_MAX];
    struct kind_found where[OPTIONS_CONDITIONS_MAX];
};

/* Strings point into argv; NULL: not given. Numbers are 0 unless they are given. */
struct options {
    int argc; /* length of argv, from which the options were parsed */
    char **argv;
    const struct options_found *found; /* kinds of columns without one; NULL: not known yet */
    bool has_open;                     /* some column is open (options_column) */
    bool is_tentative; /* --range or --width is readable only if a fitting kind is found */
    char **words;      /* owned by options_read_line: strings point into it; else NULL */
    bool is_saved;     /* parsed from the line of a state */
    const struct options_command *command;  /* a row of options_table.h */
    bool is_named;                          /* the command line names the command */
    bool help;                              /* print the help of the command, or of the program */
    bool version;                           /* print the version */
    const char *unmergeable[OPERATION_IDS]; /* merge: a given option that the operation lacks */

    /* the plan */
    bool has_type;
    bool has_order; /* the type was given with le or be */
    struct element element;
    uint64_t bins;
    const char *width_text; /* parsed after the decimal places are known, like range_text */
    __int128 width;         /* 0: none; 2^64 or more only with a range */
    bool has_log2;
    unsigned log2; /* each power of 2 is divided into 2^log2 bins */
    bool log10;
    const char *edges; /* a list or @FILE */
    const char *range_text;
    bool is_range_auto; /* --range=auto: from the smallest to the largest value */
    __int128 range_low; /* range_low <= v < range_high; valid if range_text is given */
    __int128 range_high;
    enum outside_policy outside;
    struct options_predicate *predicates; /* [predicate_count] in the order given; owned */
    size_t predicate_count;
    bool counts_rows; /* count without -f or a predicate: the predicate is --all */
    struct reductions reductions;
    bool interpolate; /* percentiles between values */
    struct stalin_sort_rules stalin_sort;

    /* the input: names[0..name_count), "-" by default; points into argv */
    char **names;
    size_t name_count;
    bool has_names;
    bool binary;
    bool text;
    struct options_columns field;
    struct options_columns weight;
    struct options_columns by;
    struct options_columns where;                                /* columns of the conditions */
    struct options_condition conditions[OPTIONS_CONDITIONS_MAX]; /* [where.count] conditions */
    bool ends_with_or; /* --or is the last of --or and --where */
    bool names_only;   /* columns are names, even if they look like numbers */
    const char *time_format_text;
    const char *zone_name;
    struct kind_time_zone *zone;     /* owned; NULL: none */
    uint64_t year;                   /* year for a time format without one; 0: the default */
    bool rows_given[ROW_SCANNERS];   /* options that select a row scanner */
    enum row_scanner_id row_scanner; /* the selected row scanner */
    void *wanted;                    /* columns that the row scanner must find; owned; NULL: none */
    struct kind_time_format time_format; /* valid if time_format_text is given */
    struct options_copy *copies;         /* list of owned strings */
    int delimiter;                       /* a byte or TEXT_NO_DELIMITER */
    bool csv;
    bool ends_with_nul; /* rows end with a NUL byte */
    int comment;        /* first byte of comment lines; -1: none */
    enum options_base base;
    bool has_decimals;
    unsigned decimals;
    bool is_rounded; /* values are rounded to `decimals` */
    uint64_t header_lines;
    bool has_header; /* header_lines was given; it can be 0 */
    enum invalid_policy invalid;
    enum options_missing missing;
    uint64_t record_bytes;
    bool has_offset;
    uint64_t record_offset;
    bool no_decompression;
    uint64_t decoding_memory; /* in bytes; 0: the default */

    /* the output */
    struct print_options print;

    /* the execution */
    const char *engine;              /* NULL: chosen by speed */
    unsigned gpus[OPTIONS_GPUS_MAX]; /* [gpu_count]: the GPUs to use */
    size_t gpu_count;                /* 0: chosen by speed */
    unsigned threads;                /* 0: chosen by the engine */
    size_t chunk_bytes;              /* 0: chosen by the engine */
    uint64_t buffer_bytes;           /* memory for counts; 0: half of the available memory */
    const char *temporary_directory; /* NULL: the default */
    enum options_progress progress;
    uint64_t every_ns;  /* interval between intermediate results; 0: none */
    uint64_t window_ns; /* age of the oldest input in a result; 0: no limit */
    bool stats;
    bool verbose;
    bool quiet;
};

/*
 * Parses the command line, or if `is_saved` the line of a state. getopt reorders argv, and the
 * options point into it. `found`: kinds of columns without one; NULL: not known yet. Fails with
 * STATUS_USAGE. The caller destroys the options, even after a failure. Not thread-safe.
 */
enum status options_parse(struct options *options, int argc, char **argv, bool is_saved,
                          const struct options_found *found, struct failure *failure);

/* Makes the record format of a plan's input, which is not a NumPy array. */
void options_make_format(const struct options *options, const struct plan *plan,
                         struct record_format *format);

/* Returns whether values of -f are keys: equal values are counted together. Pure. */
bool options_has_keys(const struct options *options);

/* Frees what the options own. */
void options_destroy(struct options *options);

/* Returns the command word before --help that prints this help text, such as `reduce`. */
const char *options_help_word(const struct options *options);

/* Returns the help text; the caller frees it. NULL: out of memory. */
char *options_help(const struct options *options);

/* Fails with STATUS_USAGE unless the options define a plan. Stores the input they require. */
enum status options_check(const struct options *options, enum options_input *input,
                          struct failure *failure);

/*
 * Writes the options that define a plan as one line, such as "histogram --type=i32 --bins=256
 * --outside=report". States with equal lines can be added. Columns are written as resolved, numbers
 * with their type, so that the line does not depend on the kind of input. The name of a histogram's
 * or uniq's values comes last, as --label; comparisons ignore it. Typed strings are quoted: blanks,
 * control characters and backslashes become \ and three octal digits. The caller frees the line;
 * NULL: out of memory.
 */
char *options_write_line(const struct plan *plan);

/*
 * Parses such a line and creates its plan, which then owns the line. The plan adds up states, with
 * the memory, temporary directory and percentiles of the options `merge`. It takes no input,
 * because the values of lists in files are unknown. Fails with STATUS_USAGE if options_write_line
 * does not write such a line, with STATUS_DATA if out of memory. The context is the same as for
 * options_make. The options own what the plan points to: the caller destroys the plan, then the
 * options, even after a failure. Not thread-safe.
 */
enum status options_read_line(struct options *options, char *line, const struct options *merge,
                              struct context *context, struct plan *plan, struct failure *failure);

/*
 * Returns whether two lines are equal. If not, writes the first difference of `b` from `a`, such as
 * "--type=i16, not --type=i32 as in"; a name follows in the message. Thread-safe.
 */
#define OPTIONS_DIFFERENCE_SIZE 192
bool options_compare_lines(const char *a, const char *b, char difference[OPTIONS_DIFFERENCE_SIZE]);

/* Checks that the options of a merge apply to the plan of its states. Fails with STATUS_USAGE. */
enum status options_check_merged(const struct options *options, const struct plan *plan,
                                 struct failure *failure);

/*
 * Adapts the options to a NumPy array in the file `name`. If they name columns or count rows, the
 * input is records; else it is binary integers, and the whole array is read. `adapted` shares what
 * `options` own; the caller does not destroy it. For a column-major array, the options read the
 * elements of one *column, from 0. Fails with STATUS_DATA if the options do not fit the array.
 */
enum status options_adapt_array(const struct options *options, struct npy *array, const char *name,
                                struct options *adapted, uint64_t *column, struct failure *failure);

/*
 * Creates the plan for text or binary input. `context`: that of the run; NULL: there is no run.
 * `with_files`: reads the files that --edges and --any-of name; else the plan's members that depend
 * on them are zero. Fails with STATUS_USAGE if valid options contradict each other, with
 * STATUS_DATA if a file is unreadable or memory runs out. The caller destroys the plan, even after
 * a failure. The options, argv and the context must outlive the plan.
 */
enum status options_make(const struct options *options, bool is_text, bool with_files,
                         struct context *context, struct plan *plan, struct failure *failure);

#endif
