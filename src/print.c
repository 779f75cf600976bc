#include "config.h"

#include "print.h"

#include "engine.h"
#include "writer.h"

#include <stdio.h>
#include <string.h>

static const struct print_operation *const print_operations[OPERATION_IDS] = {
#define PRINT_ROW(id, label) [OPERATION_##id] = &print_##label,
    OPERATIONS(PRINT_ROW)
#undef PRINT_ROW
};

enum status print_check(const struct print_options *options, struct failure *failure)
{
    return writer_check(options->output, failure);
}

enum status print_result(const struct job *job, const void *partial,
                         const struct print_options *options, struct failure *failure)
{
    struct writer *writer;

    if (writer_open(&writer, options->output, failure) != STATUS_OK)
        return failure->status;

    print_operations[job->operation]->result(writer, job, partial, options);
    return writer_close(writer, failure);
}

enum status print_text(const char *text, struct failure *failure)
{
    struct writer *writer;

    if (writer_open(&writer, NULL, failure) != STATUS_OK)
        return failure->status;
    writer_write(writer, text, strlen(text));
    return writer_close(writer, failure);
}

enum status print_version(struct failure *failure)
{
    return print_text(PACKAGE_STRING "\n", failure);
}

enum status print_info(struct failure *failure)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "%s\n", PACKAGE_STRING);

    for (const struct engine *const *engine = engines; *engine; engine++) {
        char description[512];
        bool usable = (*engine)->probe(description, sizeof description);
        length += snprintf(text + length, sizeof text - (size_t)length, "%s: %s: %s\n",
                           (*engine)->name, usable ? "yes" : "no", description);
    }
    return print_text(text, failure);
}
