/* Shared by the files of the options: the table of options. */
#ifndef GPUHIST_OPTIONS_INTERNAL_H
#define GPUHIST_OPTIONS_INTERNAL_H

#include "app/options.h"

#include <stddef.h>

/* A bit of `operations`: merge accepts the option, too, for states of these operations. */
#define OPTIONS_MERGES (1u << OPERATION_IDS)

/* A bit of `operations`: info accepts the option. */
#define OPTIONS_INFORMS (2u << OPERATION_IDS)

/* X(ID, heading): the headings of --help. */
#define OPTIONS_GROUPS(X)                                   \
    X(BINS, "Bins (default: automatic, to fit the values)") \
    X(PREDICATES, "Predicates")                             \
    X(PURGE, "Purging")                                     \
    X(PRINT, "Output")                                      \
    X(INPUT, "Input")                                       \
    X(RUN, "Execution")

enum options_group {
#define OPTIONS_GROUP_ENUM(id, heading) OPTIONS_GROUP_##id,
    OPTIONS_GROUPS(OPTIONS_GROUP_ENUM)
#undef OPTIONS_GROUP_ENUM
};

/* One option: its names, what --help says, and what it does. */
struct options_row {
    int key; /* what getopt_long returns for it: its letter, or an options_key */
    const char *name;
    const char *argument; /* the name of its value in --help; in []: optional; NULL: no value */
    const char *help;     /* NULL: shares the line of the option before it */
    /* Stores the value. NULL: the option only sets the bool at offset `flag` in struct options. */
    enum status (*set)(struct options *options, const char *value, struct failure *failure);
    size_t flag;
    unsigned operations; /* operations that take it; 0: all. And OPTIONS_MERGES, _INFORMS */
    enum options_group group;
};

/* Returns the operations of a row, without OPTIONS_MERGES and OPTIONS_INFORMS. */
static inline unsigned options_row_operations(const struct options_row *row)
{
    return row->operations & (OPTIONS_MERGES - 1);
}

extern const struct options_row options_rows[];
extern const size_t options_row_count;

/* Returns whether the current action or operation accepts the option. */
bool options_row_goes(const struct options *options, const struct options_row *row);

/* Fails with STATUS_USAGE: "invalid NAME 'VALUE': expected EXPECTED". */
enum status options_fail_value(const char *name, const char *value, const char *expected,
                               struct failure *failure);

/* The `set` of -f, --record and --offset. */
enum status options_set_field(struct options *options, const char *value, struct failure *failure);
enum status options_set_record(struct options *options, const char *value, struct failure *failure);
enum status options_set_offset(struct options *options, const char *value, struct failure *failure);

/*
 * Stores where the second column is, by the value of the option of that name: the number or name of
 * a field of text, or TYPE@OFFSET, an element of binary records. Fails with STATUS_USAGE.
 */
enum status options_set_second(struct options *options, enum second_use use, const char *name,
                               const char *value, struct failure *failure);

/* Checks that the columns of the values and the second one go together, as the next two do. */
enum status options_check_second(const struct options *options, struct failure *failure);

/* Sets the record of binary input, unless it is an element alone. The job's element is known. */
enum status options_make_record(const struct options *options, struct job *job,
                                struct failure *failure);

/* Sets the second column. */
enum status options_make_second(const struct options *options, struct job *job,
                                struct failure *failure);

/*
 * Fails with STATUS_USAGE if the first word of the command line, which is no operation, is no file
 * either, but nearly the name of an operation, a list of reductions, or the name of an option.
 */
enum status options_check_first_word(const char *word, struct failure *failure);

/*
 * Likewise for the first operand of reduce, which is no list of reductions: fails if it is no file,
 * but has the name of a reduction, or nearly.
 */
enum status options_check_reductions(const char *list, struct failure *failure);

/*
 * Fails with STATUS_DATA if one of the files, up to NULL, does not exist, and its name is an
 * operation, which would have to be the first word, or a reduction behind others or a file.
 */
enum status options_check_files(const struct options *options, char *const *names,
                                struct failure *failure);

/*
 * Fails with STATUS_USAGE if the word, which getopt takes for options of one letter and a value, is
 * a long option with one dash, such as -top or -top=3. NULL is no such word.
 */
enum status options_check_dashes(const char *word, struct failure *failure);

/*
 * Fails with STATUS_USAGE for a long option, as typed, that does not exist or is ambiguous. The
 * message has the candidates, or the option that was probably meant.
 */
enum status options_fail_name(const struct options *options, const char *typed,
                              struct failure *failure);

/* Whether a word certainly is no file: then it may be a mistyped name. */
bool options_is_no_file(const char *word);

/* Fails with STATUS_USAGE for an option of one letter that does not exist. */
enum status options_fail_letter(char letter, struct failure *failure);

/* Fails with STATUS_USAGE for a --type, as typed, that does not exist. */
enum status options_fail_type(const char *typed, struct failure *failure);

/*
 * Creates the bins of the job, whose element is known. Reads a file of edges only `with_files`.
 * Fails as options_make_job does.
 */
enum status options_make_histogram(const struct options *options, bool with_files, struct job *job,
                                   struct failure *failure);

/*
 * Makes the job, whose element is known, one of uniq with bins of that width. Fails with
 * STATUS_USAGE if the format does not support an option.
 */
enum status options_make_uniq(const struct options *options, uint64_t width, struct job *job,
                              struct failure *failure);

#endif
