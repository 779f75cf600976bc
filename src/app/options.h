/* The command line as a struct. options_parse fills it in; it is constant afterwards. */
#ifndef GPUHIST_OPTIONS_H
#define GPUHIST_OPTIONS_H

#include "base/status.h"
#include "job/job.h"
#include "print/print.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --gpus: the most GPUs, and the highest number plus one. */
#define OPTIONS_GPUS_MAX 16

/* The action of the program. */
enum options_action {
    OPTIONS_RUN,     /* run an operation over the input */
    OPTIONS_MERGE,   /* add states */
    OPTIONS_INFO,    /* print the version and the engines */
    OPTIONS_VERSION, /* --version */
};

/* The kind of input that the options state. */
enum options_input {
    OPTIONS_INPUT_ANY, /* not stated: the program looks at the input */
    OPTIONS_INPUT_BINARY,
    OPTIONS_INPUT_TEXT,
};

/* When progress is shown. */
enum options_progress {
    OPTIONS_PROGRESS_AUTO, /* on a terminal, for long runs */
    OPTIONS_PROGRESS_ON,
    OPTIONS_PROGRESS_OFF,
};

/* A predicate as typed. The text points into argv. */
struct options_predicate {
    enum predicate_relation relation;
    const char *text; /* NULL: the relation takes no argument */
};

struct options {
    enum options_action action;
    bool help; /* print the help of the action or operation */

    /* the job */
    enum operation_id operation;
    const char
        *unmergeable[OPERATION_IDS]; /* merge: an option that its states do not take; or NULL */
    bool has_type;
    bool has_order; /* the type was given with le or be */
    struct element element;
    uint64_t bins;          /* 0: not given */
    const char *width_text; /* NULL: not given. This and range_text point into argv, and are read */
    uint64_t width;         /* once the decimals are known; 0: not given */
    bool log2;
    bool log10;
    const char *edges;      /* a list or @FILE; NULL: not given. Points into argv */
    const char *range_text; /* NULL: not given */
    bool has_range;
    __int128 range_low;
    __int128 range_high; /* exclusive */
    enum outside_policy outside;
    struct options_predicate *predicates; /* [predicate_count], in the order given; owned */
    size_t predicate_count;
    struct reductions reductions;
    struct stalin_sort_rules stalin_sort;

    /* the input: names[0..name_count), "-" if none was given; points into argv */
    char **names;
    size_t name_count;
    bool has_names;
    bool binary; /* --binary */
    bool text;   /* --text */
    struct text_rules text_rules;
    const char *field_name; /* of text_rules.field; NULL: it is a number. Points into argv */
    enum second_use second;
    const char *second_name;       /* likewise, of text_rules.second_field */
    bool has_second_offset;        /* the second column is of binary records */
    struct element second_element; /* this and the next: of binary records */
    uint64_t second_offset;
    bool has_base; /* --base was given */
    bool has_decimals;
    uint64_t header_lines;
    enum invalid_policy invalid;
    uint64_t record_bytes; /* 0: not given */
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
    const char *temporary_directory; /* NULL: the default; points into argv */
    enum options_progress progress;
    uint64_t every_ns; /* interval between results so far; 0: none */
    bool stats;
    bool verbose;
    bool quiet;
};

/* Whether the result is of bins, which all formats and options of the output are for. Pure. */
bool options_print_bins(const struct options *options);

/*
 * Parses the command line; getopt reorders argv. Fails with STATUS_USAGE. The options point into
 * argv. The caller destroys them, also after a failure. Not thread-safe, because getopt is not.
 */
enum status options_parse(struct options *options, int argc, char **argv, struct failure *failure);

/* Frees what the options own. */
void options_destroy(struct options *options);

/*
 * Returns the word that precedes --help for this text, such as `reduce`; empty for the default. The
 * string is constant.
 */
const char *options_help_word(const struct options *options);

/*
 * Writes the --help text of the action or operation to `text`; cuts it if `size` bytes are too few.
 */
void options_help(const struct options *options, char *text, size_t size);

/*
 * Checks, before any file is opened, that the options define a job. Stores the kind of input that
 * they state. Fails with STATUS_USAGE.
 */
enum status options_check(const struct options *options, enum options_input *input,
                          struct failure *failure);

/*
 * Checks that all options of a merge apply to the job of its states. Fails with STATUS_USAGE.
 */
enum status options_check_merged(const struct options *options, const struct job *job,
                                 struct failure *failure);

/*
 * Creates the job for text or binary input, and reads the files that --edges and --any-of name.
 * Fails with STATUS_USAGE if options are valid but do not go together, with STATUS_DATA if a file
 * cannot be read or there is no memory. The caller destroys the job, also after a failure. The
 * options and argv must outlive the job.
 */
enum status options_make_job(const struct options *options, bool is_text, struct job *job,
                             struct failure *failure);

#endif
