/* What the files of the options share: the table. */
#ifndef GPUHIST_OPTIONS_INTERNAL_H
#define GPUHIST_OPTIONS_INTERNAL_H

#include "app/options.h"

#include <stddef.h>

/* In `operations`: merge takes it, too, of those operations' states. */
#define OPTIONS_MERGES (1u << OPERATION_IDS)

/* Likewise: info takes it. */
#define OPTIONS_INFORMS (2u << OPERATION_IDS)

/* X(ID, heading): under which heading --help has an option. */
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
    int key; /* its letter, or an options_key */
    const char *name;
    const char *argument; /* what --help calls its value; in []: it may be left out; NULL: none */
    const char *help;     /* NULL: it stands in the line of the option before it */
    /* Takes the value; NULL for an option that only sets the bool at `flag` in struct options. */
    enum status (*set)(struct options *options, const char *value, struct failure *failure);
    size_t flag;
    unsigned operations; /* those that take it, as bits; 0: all. And OPTIONS_MERGES, _INFORMS */
    enum options_group group;
};

/* The operations that take it, without the bits that are none. */
static inline unsigned options_row_operations(const struct options_row *row)
{
    return row->operations & (OPTIONS_MERGES - 1);
}

extern const struct options_row options_rows[];
extern const size_t options_row_count;

/* Whether the action, or the operation, that the options name takes that one. */
bool options_row_goes(const struct options *options, const struct options_row *row);

/*
 * Makes the bins of the job, whose element is known; a file of edges is read only `with_files`.
 * Fails as options_make_job does.
 */
enum status options_make_histogram(const struct options *options, bool with_files, struct job *job,
                                   struct failure *failure);

#endif
