/*
 * The command line as a struct. Filled once by options_parse and const from then on.
 */
#ifndef GPUHIST_OPTIONS_H
#define GPUHIST_OPTIONS_H

#include "base/status.h"
#include "job/job.h"
#include "print/print.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --gpus: how many, and the highest number, plus one. */
#define OPTIONS_GPUS_MAX 16

/* What the program is asked for. */
enum options_action {
    OPTIONS_RUN,     /* an operation over the input */
    OPTIONS_MERGE,   /* states added up */
    OPTIONS_INFO,    /* the version and the engines */
    OPTIONS_VERSION, /* --version */
};

/* What the input is said to be. */
enum options_input {
    OPTIONS_INPUT_ANY, /* nothing: it is to be looked at */
    OPTIONS_INPUT_BINARY,
    OPTIONS_INPUT_TEXT,
};

/* Whether progress is shown. */
enum options_progress {
    OPTIONS_PROGRESS_AUTO, /* as suits */
    OPTIONS_PROGRESS_ON,
    OPTIONS_PROGRESS_OFF,
};

/* A predicate as typed; the text points into argv. */
struct options_predicate {
    enum predicate_relation relation;
    const char *text; /* NULL: it takes none */
};

struct options {
    enum options_action action;
    bool help; /* --help: what that is, and its options, are to be told */

    /* the job */
    enum operation_id operation;
    const char *unmergeable[OPERATION_IDS]; /* merge: an option that such states do not take */
    bool has_type;
    bool has_order; /* a type with le or be */
    struct element element;
    uint64_t bins;  /* 0: not given */
    uint64_t width; /* likewise */
    bool log2;
    bool log10;
    const char *edges; /* a list or @FILE; NULL: not given. Points into argv */
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
    bool binary; /* --binary */
    bool text;   /* --text */
    struct text_rules text_rules;
    uint64_t header_lines;
    enum invalid_policy invalid;
    bool no_decompression;
    uint64_t decoding_memory; /* 0: as usual */

    /* the output */
    struct print_options print;

    /* how it is done */
    const char *engine;              /* NULL: any */
    unsigned gpus[OPTIONS_GPUS_MAX]; /* [gpu_count]: those to be used */
    size_t gpu_count;                /* 0: those that pay */
    unsigned threads;                /* 0: as many as pay */
    size_t chunk_bytes;              /* 0: what suits the engine */
    enum options_progress progress;
    uint64_t every_ns; /* between two results so far; 0: there are none */
    bool stats;
    bool verbose;
    bool quiet;
};

/*
 * Reads the command line, which getopt reorders. Fails with STATUS_USAGE. The options point into
 * argv. The caller destroys them, also after failure. Not thread-safe, as getopt is not.
 */
enum status options_parse(struct options *options, int argc, char **argv, struct failure *failure);

/* Frees what the options own. */
void options_destroy(struct options *options);

/* The word before --help for that text: `reduce`; empty for the default. */
const char *options_help_word(const struct options *options);

/* The text of --help of that action or operation, into `text`; cut if `size` is too small. */
void options_help(const struct options *options, char *text, size_t size);

/*
 * Checks that the options make a job, before any file is looked at, and stores what they say that
 * the input is. Fails with STATUS_USAGE.
 */
enum status options_check(const struct options *options, enum options_input *input,
                          struct failure *failure);

/*
 * Checks that all options of merge go with the operation that turns out to be that of its states.
 * Fails with STATUS_USAGE.
 */
enum status options_check_merged(const struct options *options, enum operation_id operation,
                                 struct failure *failure);

/*
 * Makes the job that the options describe, for input that is text or binary, and reads the files
 * that predicates name. Fails with STATUS_USAGE where options that are fine by themselves do not
 * make one, with STATUS_DATA where a file or memory does not. The caller destroys the job, also
 * after failure; the options and argv must live as long.
 */
enum status options_make_job(const struct options *options, bool is_text, struct job *job,
                             struct failure *failure);

#endif
