/* Prints counts: "predicate TAB count" lines, or for a single predicate only the count. */
#include "config.h"

#include "base/decimal.h"
#include "base/printable.h"
#include "base/writer.h"
#include "operations/count.h"
#include "print/print.h"

/* Writes text of a predicate, as typed or as a state has it, the way messages are written. */
static void print_count_text(struct writer *writer, const char *text)
{
    while (*text) {
        size_t bytes = printable_bytes(text);
        writer_write(writer, bytes > 0 ? text : "?", bytes > 0 ? bytes : 1);
        text += bytes > 0 ? bytes : 1;
    }
}

static void print_count_predicate(struct writer *writer, const struct predicate *predicate)
{
    print_count_text(writer, predicate->name);
    if (predicate->text) {
        writer_write(writer, " ", 1);
        print_count_text(writer, predicate->text);
    }
    writer_write(writer, "\t", 1);
}

static enum status print_count_result(struct writer *writer, const struct job *job,
                                      const void *partial, const struct print_options *options,
                                      struct failure *failure)
{
    const struct count *count = partial;
    (void)options; /* there is only one format */
    (void)failure;

    for (size_t i = 0; i < job->predicate_count; i++) {
        if (job->predicate_count > 1)
            print_count_predicate(writer, &job->predicates[i]);
        char *c = writer_reserve(writer, DECIMAL_SIZE);
        size_t length = decimal_write(c, count_result(count, job, i));
        c[length] = '\n';
        writer_commit(writer, length + 1);
    }
    return STATUS_OK;
}

const struct print_operation print_count = {.result = print_count_result};
