/* What the files of the options share: the table. */
#ifndef GPUHIST_OPTIONS_INTERNAL_H
#define GPUHIST_OPTIONS_INTERNAL_H

#include "options.h"

#include <stddef.h>

/* In `operations`: merge takes it, too, of those operations' states. */
#define OPTIONS_MERGES (1u << OPERATION_IDS)

/* One option: its names, what --help says, and what it does. */
struct options_row {
    int key; /* its letter, or an options_key */
    const char *name;
    const char *argument; /* what --help calls its value; in []: it may be left out; NULL: none */
    const char *help;
    /* Takes the value; NULL for an option that only sets the bool at `flag` in struct options. */
    enum status (*set)(struct options *options, const char *value, struct failure *failure);
    size_t flag;
    unsigned operations; /* those that take it, as bits; 0: all. And OPTIONS_MERGES */
};

/* The operations that take it, without OPTIONS_MERGES. */
static inline unsigned options_row_operations(const struct options_row *row)
{
    return row->operations & ~OPTIONS_MERGES;
}

extern const struct options_row options_rows[];
extern const size_t options_row_count;

/*
 * Makes the bins of the job, whose element is known; a file of edges is read only `with_files`.
 * Fails as options_make_job does.
 */
enum status options_make_histogram(const struct options *options, bool with_files, struct job *job,
                                   struct failure *failure);

#endif
