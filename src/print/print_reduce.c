/* Prints reductions: "name TAB value" lines in the given order, or for a single one the value. */
#include "config.h"

#include "base/writer.h"
#include "operations/reduce.h"
#include "print/print.h"

#include <string.h>

/* A name, a tab, a value and a newline. */
#define PRINT_REDUCE_LINE_MAX (REDUCTION_NAME_SIZE + REDUCE_SIZE + 2)

static void print_reduce_line(struct writer *writer, const struct job *job, const void *partial,
                              unsigned i)
{
    char *line = writer_reserve(writer, PRINT_REDUCE_LINE_MAX);
    char *c = line;

    if (job->reductions.count > 1) {
        c = stpcpy(c, job->reductions.list[i].name);
        *c++ = '\t';
    }
    c += reduce_write(c, partial, job, i);
    *c++ = '\n';
    writer_commit(writer, (size_t)(c - line));
}

static enum status print_reduce_result(struct writer *writer, const struct job *job,
                                       const void *partial, const struct print_options *options,
                                       struct failure *failure)
{
    (void)options; /* they are for histograms */
    (void)failure;
    for (unsigned i = 0; i < job->reductions.count; i++) {
        if (reduce_has(reduce_result(partial), job->reductions.list[i].id))
            print_reduce_line(writer, job, partial, i);
    }
    return STATUS_OK;
}

const struct print_operation print_reduce = {.result = print_reduce_result};
