/*
 * The table of options, the source of getopt's tables, --help, and the options in the man page and
 * in completions (completions/option_documents.c). Also declares what the files of the options
 * share.
 */
#ifndef GPUHIST_OPTIONS_TABLE_H
#define GPUHIST_OPTIONS_TABLE_H

#include "cli/options.h"
#include "lib/decimal.h"

#include <stddef.h>

/* What commands do, as bits. */
enum options_trait {
    OPTIONS_MAKES_BINS = 1,
    OPTIONS_TESTS_VALUES = 2, /* has predicates */
    OPTIONS_PURGES = 4,
    OPTIONS_PRINTS_BINS = 8, /* bins, or values with their counts */
    OPTIONS_WEIGHS = 16,
    OPTIONS_REDUCES = 32,
    OPTIONS_HAS_RESULT = 64, /* one, which exists only at the end */
    OPTIONS_READS_INPUT = 128,
    OPTIONS_READS_STATES = 256,
    OPTIONS_RUNS = 512,        /* every command */
    OPTIONS_HAS_GROUPS = 1024, /* its results are also of groups (store_groups.c) */
};

/* A command: what the first word of the command line may be. */
struct options_command {
    const char *name;
    const char *alias;    /* a shorter name, or NULL */
    const char *help;     /* in the list of commands */
    const char *usage;    /* begins its --help: the command line, and a description */
    const char *examples; /* lines */
    enum options_action action;
    enum operation_id operation; /* to run */
    unsigned traits;
};

/* The operations by their ids, then the other commands. */
#define OPTIONS_COMMANDS (OPERATION_IDS + 2)
extern const struct options_command options_commands[OPTIONS_COMMANDS];

/* Returns the command of that name or alias, or NULL. Pure. */
const struct options_command *options_find_command(const char *name);

/* The headings of --help and of the man page, in this order. */
enum options_group {
    OPTIONS_SELECTION,
    OPTIONS_BINS,
    OPTIONS_PREDICATES,
    OPTIONS_STALIN_SORT,
    OPTIONS_OUTPUT,
    OPTIONS_INPUT,
    OPTIONS_EXECUTION,
    OPTIONS_GROUPS, /* their number */
};
extern const char *const options_groups[OPTIONS_GROUPS];

/* What a value is, and the type of the target. */
enum options_kind {
    OPTIONS_FLAG,       /* no value: stores `value` */
    OPTIONS_NUMBER,     /* from `minimum` to `maximum`, in `unit`; `value` if it is left out */
    OPTIONS_DECIMALS,   /* as OPTIONS_NUMBER, unsigned; after "round." also is_rounded */
    OPTIONS_CHOICE,     /* one of `words`: stores `value` for the first, value + 1, ... */
    OPTIONS_FORMAT,     /* the format of one of `words`: const struct print_format * */
    OPTIONS_TEXT,       /* const char *, read later */
    OPTIONS_FILE,       /* as OPTIONS_TEXT, not empty */
    OPTIONS_DIRECTORY,  /* as OPTIONS_FILE, and not a number */
    OPTIONS_LIST,       /* as OPTIONS_TEXT, integers, also in several lists, or @FILE */
    OPTIONS_COLUMNS,    /* struct options_columns, at most `maximum` */
    OPTIONS_CONDITIONS, /* appended to those before */
    OPTIONS_OR,         /* the next condition begins another alternative */
    OPTIONS_CHARACTER,  /* int, a byte */
    OPTIONS_QUANTILES,  /* struct quantiles */
    OPTIONS_TYPE,       /* an element type; this and the next have targets of their own */
    OPTIONS_GPUS,
    OPTIONS_PREDICATE, /* appended to those before; `value` is the relation */
};

/* One option. */
struct options_row {
    const char *name;
    const char *alias;    /* another name, which no help offers, or NULL */
    const char *argument; /* the name of its value; in []: optional; NULL: no value */
    const char *help;     /* what follows "; bins also as " is only for operations with bins */
    const char *words;    /* a choice: all values; else values that completions offer; or NULL */
    const char *expected; /* what a value is, for messages; NULL: its words */
    const char *instead;  /* what does the same for commands that do not take it, or NULL */
    enum options_group group;
    unsigned traits; /* commands with one of these take it: bits of enum options_trait */
    enum options_kind kind;
    char letter;            /* 0: none */
    enum decimal_unit unit; /* of minimum and maximum */
    uint64_t minimum;
    uint64_t maximum;
    unsigned value;
    size_t target; /* the offset in struct options of what is set, of that many bytes */
    size_t bytes;
    size_t given;   /* the offset of a bool that is set as well; 0: none */
    bool is_common; /* the help of the program lists it, not only that of its operations */
    bool is_told;   /* the help of the option before it names it; it has no line of its own */
};

#define OPTIONS_ROWS_MAX 80
extern const struct options_row options_rows[];
extern const size_t options_row_count;

/* Returns the kind of values that no column gives one: as --decimals and --base say. Pure. */
const struct kind *options_default_kind(const struct options *options);

/* Return whether the values of a column are times, or strings. Pure. */
bool options_is_time(const struct options_column *column);
bool options_is_text(const struct options_column *column);

/* Reads the columns and conditions that were given. Fails with STATUS_USAGE or STATUS_DATA. */
enum status options_finish_columns(struct options *options, struct failure *failure);

/*
 * Makes a column wanted, of any name, if rows name theirs and none is: their scanners have at least
 * one. Fails with STATUS_DATA if there is no memory.
 */
enum status options_want_any(struct options *options, struct failure *failure);

/*
 * Returns the length of the operator of a condition that the text begins with, and stores its
 * relation; 0: it begins with none. Pure.
 */
size_t options_find_operator(const char *text, enum predicate_relation *relation);

/* Room for advice about a condition and a NUL. */
#define OPTIONS_ADVICE_SIZE 256

/*
 * Writes what a condition means whose value is none of its column, of that element, such as
 * " (try '4:time>=2026-11-21')", or "". What it names, if it is typed, asks the same question; so
 * :text is named only if no number can be meant. `kind` is that of the column. Pure.
 */
void options_advise_condition(const struct options_condition *condition, const char *value,
                              size_t length, const struct element *element, const struct kind *kind,
                              char out[OPTIONS_ADVICE_SIZE]);

/* Fails with STATUS_USAGE: "invalid --NAME 'VALUE': expected EXPECTED". */
enum status options_fail_value(const char *name, const char *value, const char *expected,
                               struct failure *failure);

/* Fails with STATUS_USAGE if an option of that name has a value that means another option. */
enum status options_check_value(const char *option, const char *value, struct failure *failure);

/*
 * Fails with STATUS_USAGE for a --range that is none of such bounds, with the one that was probably
 * meant.
 */
enum status options_fail_range(const char *typed, const struct element *bounds,
                               struct failure *failure);

/*
 * Fails with STATUS_USAGE if the first word of the command line, which is no operation, is no file
 * either, but nearly the name of one, reductions, or an option.
 */
enum status options_check_first_word(const char *word, struct failure *failure);

/*
 * Fails with STATUS_USAGE if the first operand of reduce, which is not a list of reductions, is not
 * a file either, but has the name of a reduction, or nearly, or of a column of `file`, the next
 * operand or NULL.
 */
enum status options_check_reductions(const struct options *options, const char *list,
                                     const char *file, struct failure *failure);

/*
 * Fails with STATUS_DATA if one of the files, up to NULL, does not exist, and its name probably
 * means something else, such as a column of the second one, whose first line it reads. names[-1] is
 * the word before the first one.
 */
enum status options_check_files(const struct options *options, char *const *names,
                                struct failure *failure);

/*
 * Fails with STATUS_USAGE because the command takes one column of values; that of different values
 * counts combinations of several with --by.
 */
enum status options_fail_columns(const struct options *options, struct failure *failure);

/* Fails with STATUS_USAGE if a word is a long option with one dash, such as -top or -top=3. */
enum status options_check_dashes(const char *word, struct failure *failure);

/*
 * Fails with STATUS_USAGE for an option that does not exist: of that letter or, if it is 0, a long
 * one, as typed. The message has what it may be short for, or what was probably meant.
 */
enum status options_fail_unknown(const struct options *options, char letter, const char *typed,
                                 struct failure *failure);

/*
 * Returns advice on typed[0..length), an option with its dashes or a reduction, that other programs
 * have and a command of these traits has not; else NULL. Pure.
 */
const char *options_find_habit(unsigned traits, const char *typed, size_t length);

/* Returns whether a predicate's values are listed in a file. Pure. */
bool options_names_file(const struct options_predicate *predicate);

/* Returns whether a word certainly is no file: then it may be a mistyped name. */
bool options_is_no_file(const char *word);

/* Fails with STATUS_USAGE for a --type, as typed, that does not exist. */
enum status options_fail_type(const char *typed, struct failure *failure);

#endif
