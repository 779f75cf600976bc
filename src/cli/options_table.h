/*
 * The table of options, the source of getopt's tables, --help, and the options in the man page and
 * in completions (completions/option_documents.c). Also declares the functions that the files of
 * the options share.
 */
#ifndef GPUHIST_OPTIONS_TABLE_H
#define GPUHIST_OPTIONS_TABLE_H

#include "cli/options.h"
#include "lib/decimal.h"

#include <stddef.h>

/* Properties of commands, as bits. */
enum options_trait {
    OPTIONS_MAKES_BINS = 1,
    OPTIONS_TESTS_VALUES = 2, /* tests predicates */
    OPTIONS_PURGES = 4,
    OPTIONS_PRINTS_BINS = 8, /* prints bins, or values with their counts */
    OPTIONS_WEIGHS = 16,
    OPTIONS_REDUCES = 32,
    OPTIONS_HAS_RESULT = 64, /* has a result, which exists only at the end */
    OPTIONS_READS_INPUT = 128,
    OPTIONS_READS_STATES = 256,
    OPTIONS_RUNS = 512,        /* every command */
    OPTIONS_HAS_GROUPS = 1024, /* can compute grouped results (store_groups.c) */
};

/* A command, which the first word of the command line may name. */
struct options_command {
    const char *name;
    const char *alias;    /* a shorter name, or NULL */
    const char *help;     /* its line in the list of commands */
    const char *usage;    /* the start of its --help: the command line, and a description */
    const char *examples; /* its examples in --help, as lines */
    enum options_action action;
    enum operation_id operation; /* OPTIONS_RUN: the operation to run */
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
    OPTIONS_GROUPS, /* the number of headings */
};
extern const char *const options_groups[OPTIONS_GROUPS];

/* The form of an option's value, and the type of its target. */
enum options_kind {
    OPTIONS_FLAG,       /* no value: stores `value` */
    OPTIONS_NUMBER,     /* a number from `minimum` to `maximum`, in `unit`; without it `value` */
    OPTIONS_DECIMALS,   /* like OPTIONS_NUMBER, unsigned; the prefix "round." sets is_rounded */
    OPTIONS_CHOICE,     /* one of `words`: stores `value` for the first, value + 1, ... */
    OPTIONS_FORMAT,     /* one of `words`: stores a const struct print_format * */
    OPTIONS_TEXT,       /* any text, read later: stores a const char * */
    OPTIONS_FILE,       /* like OPTIONS_TEXT, but not empty */
    OPTIONS_DIRECTORY,  /* like OPTIONS_FILE, but not a number */
    OPTIONS_LIST,       /* like OPTIONS_TEXT: a list of integers, repeatable, or @FILE */
    OPTIONS_COLUMNS,    /* at most `maximum` columns: appended to a struct options_columns */
    OPTIONS_CONDITIONS, /* a condition: appended to `where` and `conditions` */
    OPTIONS_OR,         /* no value: the next condition begins another alternative */
    OPTIONS_CHARACTER,  /* a byte: stores an int */
    OPTIONS_QUANTILES,  /* a list of percentages: stores a struct quantiles */
    OPTIONS_TYPE,       /* an element type; this and the next kinds have fixed targets */
    OPTIONS_GPUS,
    OPTIONS_PREDICATE, /* a predicate with relation `value`: appended to `predicates` */
};

/* A help line of an option for the commands with one of these traits. */
struct options_help_line {
    unsigned traits;
    const char *text;
};

#define OPTIONS_SPECIAL_MAX 3

/* One option. */
struct options_row {
    const char *name;
    const char *alias;    /* another name, which --help does not list, or NULL */
    const char *argument; /* the name of its value; in []: optional; NULL: no value */
    const char *help;     /* if it is too long for a line, the next one begins after its "; " */
    /* Help lines instead of `help`: the first for one of the command's traits is shown. */
    struct options_help_line special[OPTIONS_SPECIAL_MAX];
    const char *words;    /* a choice: all values; else values that completions offer; or NULL */
    const char *expected; /* the expected form of the value, for messages; NULL: `words` */
    const char *instead;  /* another way for commands that do not support it, or NULL */
    enum options_group group;
    unsigned traits; /* commands with one of these support it: bits of enum options_trait */
    enum options_kind kind;
    char letter;            /* the short option; 0: none */
    enum decimal_unit unit; /* the suffixes of numbers */
    uint64_t minimum;
    uint64_t maximum;
    unsigned value;
    size_t target;  /* the offset in struct options of the member that is set */
    size_t bytes;   /* the size of that member */
    size_t given;   /* the offset of a bool that is set as well; 0: none */
    bool is_common; /* the program's --help lists it, not only that of operations */
    bool is_told;   /* the help line of the option before it documents it */
};

#define OPTIONS_ROWS_MAX 80
extern const struct options_row options_rows[];
extern const size_t options_row_count;

/* Returns the help line of an option for commands with these traits. Pure. */
const char *options_row_help(const struct options_row *row, unsigned traits);

/* Returns the kind of values without a column's kind, by --decimals and --base. Pure. */
const struct kind *options_default_kind(const struct options *options);

/* Return whether the values of a column are timestamps, and whether they are strings. Pure. */
bool options_is_time(const struct options_column *column);
bool options_is_text(const struct options_column *column);

/* Parses the typed columns and conditions. Fails with STATUS_USAGE or STATUS_DATA. */
enum status options_finish_columns(struct options *options, struct failure *failure);

/*
 * If rows name their columns and no column is wanted, makes one with any name wanted, because
 * scanners need at least one. Fails with STATUS_DATA if there is no memory.
 */
enum status options_want_any(struct options *options, struct failure *failure);

/*
 * Returns the length of a condition's operator at the start of the text, and stores its relation;
 * 0: there is none. Pure.
 */
size_t options_find_operator(const char *text, enum predicate_relation *relation);

/* Size of a buffer for advice about a condition and a NUL. */
#define OPTIONS_ADVICE_SIZE 256

/*
 * Writes advice for a condition whose value is invalid for its column, of that element and kind,
 * such as " (try '4:time>=2026-11-21')", or "". The advised condition has the same meaning; so
 * :text is advised only if no number can be meant. Pure.
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
 * Fails with STATUS_USAGE for a --range that is invalid for such bounds, with the range that was
 * probably meant.
 */
enum status options_fail_range(const char *typed, const struct element *bounds,
                               struct failure *failure);

/*
 * Fails with STATUS_USAGE if the first word of the command line, which is not an operation, is not
 * a file either, but nearly the name of an operation, reductions, or an option.
 */
enum status options_check_first_word(const char *word, struct failure *failure);

/*
 * Fails with STATUS_USAGE if the first operand of reduce, which is not a list of reductions, is not
 * a file either, but has exactly or nearly the name of a reduction, or of a column of `file`, the
 * next operand or NULL.
 */
enum status options_check_reductions(const struct options *options, const char *list,
                                     const char *file, struct failure *failure);

/*
 * Fails with STATUS_DATA if one of the files, up to NULL, does not exist, and its name probably
 * means something else, such as a column of the second file, whose first line it reads. names[-1]
 * is the word before the first name.
 */
enum status options_check_files(const struct options *options, char *const *names,
                                struct failure *failure);

/*
 * Fails with STATUS_USAGE because the command supports only one value column; the message of uniq
 * advises --by for combinations of several.
 */
enum status options_fail_columns(const struct options *options, struct failure *failure);

/* Fails with STATUS_USAGE if a word is a long option with one dash, such as -top or -top=3. */
enum status options_check_dashes(const char *word, struct failure *failure);

/*
 * Fails with STATUS_USAGE for an unknown option: `letter`, or if that is 0, the long one `typed`.
 * The message has the options that it may abbreviate, or the one that was probably meant.
 */
enum status options_fail_unknown(const struct options *options, char letter, const char *typed,
                                 struct failure *failure);

/*
 * Returns advice on typed[0..length), an option with its dashes or a reduction, if other programs
 * have it and a command with these traits does not; else NULL. Pure.
 */
const char *options_find_habit(unsigned traits, const char *typed, size_t length);

/* Returns whether a file lists a predicate's values. Pure. */
bool options_names_file(const struct options_predicate *predicate);

/* Returns true if a word certainly is not a file: it may then be a mistyped name. */
bool options_is_no_file(const char *word);

/* Fails with STATUS_USAGE for an unknown --type, as typed. */
enum status options_fail_type(const char *typed, struct failure *failure);

#endif
