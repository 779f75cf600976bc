/* Prints reductions: "name TAB value" lines in the given order, or for a single one the value. */
#include "config.h"

#include "base/writer.h"
#include "operations/reduce.h"
#include "print/print.h"

#include <string.h>

/* A name, a tab, a value and a newline. */
#define PRINT_REDUCE_LINE_MAX (16 + REDUCE_SIZE)

static void print_reduce_line(struct writer *writer, const struct job *job,
                              const struct reduce *reduce, enum reduction_id id)
{
    const char *name = reductions_name(id);
    char *line = writer_reserve(writer, PRINT_REDUCE_LINE_MAX);
    char *c = line;

    if (job->reductions.count > 1) {
        size_t length = strlen(name);
        memcpy(c, name, length);
        c[length] = '\t';
        c += length + 1;
    }
    c += reduce_write(c, reduce, &job->element, id);
    *c++ = '\n';
    writer_commit(writer, (size_t)(c - line));
}

static enum status print_reduce_result(struct writer *writer, const struct job *job,
                                       const void *partial, const struct print_options *options,
                                       struct failure *failure)
{
    const struct reduce *reduce = reduce_result(partial);

    (void)options; /* they are for histograms */
    (void)failure;
    for (unsigned i = 0; i < job->reductions.count; i++) {
        if (reduce_has(reduce, job->reductions.ids[i]))
            print_reduce_line(writer, job, reduce, job->reductions.ids[i]);
    }
    return STATUS_OK;
}

const struct print_operation print_reduce = {.result = print_reduce_result};
