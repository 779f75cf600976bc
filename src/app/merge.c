/* Operation merge: loads states, adds them up and prints the result. */
#include "config.h"

#include "app/merge.h"

#include "partial/operation.h"
#include "partial/state_job.h"
#include "print/print.h"

/* The sum of the states read so far. */
struct merge {
    const struct options *options;
    const char *first;            /* the file of the first state, for messages */
    struct definition definition; /* the definition in the first state */
    struct job job;
    void *partial;     /* NULL: there is no state yet */
    uint64_t elements; /* elements in the partial */
    unsigned long long states;
};

/* Takes over the definition and the job of the first state; the merge then owns them. */
static enum status merge_begin(struct merge *merge, const char *name,
                               const struct definition *definition, const struct job *job,
                               struct failure *failure)
{
    merge->first = name;
    merge->definition = *definition;
    merge->job = *job;
    merge->job.buffer_bytes = merge->options->buffer_bytes;
    merge->job.temporary_directory = merge->options->temporary_directory;
    merge->job.needs_values = merge->options->print.quantiles.count > 0;
    enum status status = options_check_merged(merge->options, job->operation, failure);
    if (status == STATUS_OK)
        status = operations[job->operation]->create(&merge->job, &merge->partial, failure);
    return status;
}

static enum status merge_check_definition(const struct merge *merge, const char *name,
                                          const struct definition *definition,
                                          struct failure *failure)
{
    char difference[DEFINITION_DIFFERENCE_SIZE];

    if (definition_compare(&merge->definition, definition, difference))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": %s as in " STATUS_NAME, name,
                       difference, merge->first);
}

/* Adds the next state of the file. Sets *found to false if there is none. */
static enum status merge_add_state(struct merge *merge, struct state_reader *reader, bool *found,
                                   struct failure *failure)
{
    const char *name = state_reader_name(reader);
    struct definition definition;
    struct job job;
    enum status status = state_recall(reader, &definition, &job, found, failure);

    if (status == STATUS_OK && *found && merge->states == 0) {
        status = merge_begin(merge, name, &definition, &job, failure);
    } else {
        if (status == STATUS_OK && *found)
            status = merge_check_definition(merge, name, &definition, failure);
        definition_destroy(&definition);
        job_destroy(&job);
    }
    if (status == STATUS_OK && *found)
        status = state_load(reader, &merge->job, merge->partial, &merge->elements, failure);
    merge->states += *found;
    return status;
}

static enum status merge_add_file(struct merge *merge, const char *name, struct failure *failure)
{
    struct state_reader *reader;
    bool found = true;
    enum status status = state_reader_open(&reader, name, failure);

    if (status != STATUS_OK)
        return status;
    while (status == STATUS_OK && found)
        status = merge_add_state(merge, reader, &found, failure);
    state_reader_close(reader);
    return status;
}

/* Prints and saves the sum, and writes to stderr what a run would. */
static enum status merge_finish(struct merge *merge, struct failure *failure)
{
    const struct options *options = merge->options;
    const struct operation *operation = operations[merge->job.operation];
    struct print_output output;

    enum status status = operation->finish(merge->partial, &merge->job, merge->elements, failure);
    if (status == STATUS_OK && options->stats)
        status_print("%llu state%s, %llu elements", merge->states, merge->states == 1 ? "" : "s",
                     (unsigned long long)merge->elements);
    if (status != STATUS_OK)
        return status;
    status = print_begin(&output, &merge->job, merge->partial, &options->print, failure);
    status = print_end(&output, &merge->job, merge->partial, &options->print, status, failure);
    if (status == STATUS_OK && operation->report && !options->quiet)
        operation->report(merge->partial);
    if (status == STATUS_OK && operation->verdict && !print_is_dropped(&options->print))
        status = operation->verdict(&merge->job, merge->partial, failure);
    return status;
}

enum status merge_run(const struct options *options, struct failure *failure)
{
    struct merge merge = {.options = options};
    enum status status = print_check_format(&options->print, failure);

    if (status == STATUS_OK)
        status = print_check(&options->print, failure);
    for (size_t i = 0; status == STATUS_OK && i < options->name_count; i++)
        status = merge_add_file(&merge, options->names[i], failure);
    if (status == STATUS_OK)
        status = merge_finish(&merge, failure);
    if (merge.partial)
        operations[merge.job.operation]->destroy(merge.partial);
    job_destroy(&merge.job);
    definition_destroy(&merge.definition);
    return status;
}
