/* Collects invalid tokens, and reports the first ten of the stream. */
#include "config.h"

#include "input/parse_errors.h"

#include "input/reader.h"
#include "text/text.h"
#include "text/text_reason.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PARSE_ERRORS_REPORTED 10

/* An invalid token, as it is reported. */
struct parse_errors_invalid {
    uint64_t position; /* in the stream */
    const char *name;
    uint64_t line; /* lines before it, as in struct chunk, as the next two */
    uint64_t offset;
    uint64_t start;
    const struct decoder_format *decoder;
    char reason[TEXT_REASON_SIZE];
};

struct parse_errors {
    const struct job *job;
    const char *field_name;
    const char *second_name;
    enum invalid_policy policy;
    const char *kind; /* of value: "integer" or "number" */
    atomic_uint_least64_t values;
    atomic_uint_least64_t ignored; /* invalid tokens, if they are ignored */

    pthread_mutex_t lock; /* guards what follows */
    uint64_t invalid;
    uint64_t groups; /* of these */
    size_t first_count;
    struct parse_errors_invalid first[PARSE_ERRORS_REPORTED]; /* of the stream, in its order */
};

enum status parse_errors_create(struct parse_errors **errors, const struct job *job,
                                const char *field_name, const char *second_name,
                                enum invalid_policy policy, struct failure *failure)
{
    struct parse_errors *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for reading text");

    made->job = job;
    made->field_name = field_name;
    made->second_name = second_name;
    made->policy = policy;
    made->kind = job->text.notation == TEXT_FIXED ? "number" : "integer";
    pthread_mutex_init(&made->lock, NULL);
    *errors = made;
    return STATUS_OK;
}

void parse_errors_destroy(struct parse_errors *errors)
{
    if (!errors)
        return;
    pthread_mutex_destroy(&errors->lock);
    free(errors);
}

void parse_errors_add_values(struct parse_errors *errors, uint64_t values)
{
    atomic_fetch_add_explicit(&errors->values, values, memory_order_relaxed);
}

uint64_t parse_errors_values(const struct parse_errors *errors)
{
    return atomic_load_explicit(&errors->values, memory_order_relaxed);
}

/*
 * The position of a token in the stream. A missing part at the end of a file gets the position of
 * the byte before it, because the next file begins where this one ends.
 */
static uint64_t parse_errors_position(const struct chunk *chunk, const struct text_token *token)
{
    return chunk->position + token->offset - (token->bytes == 0 && token->offset > 0);
}

/* Where a token of a chunk is; without a reason. */
static struct parse_errors_invalid parse_errors_locate(const struct chunk *chunk,
                                                       const struct text_token *token)
{
    return (struct parse_errors_invalid){
        .position = parse_errors_position(chunk, token),
        .name = chunk->name,
        .line = chunk->line + text_count_lines(chunk->data, token->offset),
        .offset = chunk->offset,
        .start = chunk->start,
        .decoder = chunk->decoder,
    };
}

static bool parse_errors_is_group(const struct job *job, const struct text_token *token)
{
    return token->is_second && job->second == SECOND_GROUPS;
}

static struct parse_errors_invalid parse_errors_describe(const struct parse_errors *errors,
                                                         const struct chunk *chunk,
                                                         const struct text_token *token)
{
    const struct job *job = errors->job;
    const struct text_rules second = job_second_rules(job, &chunk->rules);
    struct parse_errors_invalid invalid = parse_errors_locate(chunk, token);
    const bool begins_file = chunk->line == 0 && chunk->offset == 0 && chunk->left_out == 0;
    const struct text_reading reading = {
        .rules = token->is_second ? &second : &chunk->rules,
        .is_group = parse_errors_is_group(job, token),
        .option = token->is_second ? job_second_option(job) : "-f",
        .field_name = token->is_second ? errors->second_name : errors->field_name,
        .element = token->is_second ? &job->second_element : &job->element,
        .data = chunk->data,
        .bytes = chunk->bytes,
        .ends_run = errors->policy == INVALID_ABORT,
        .begins_file = begins_file,
        .begins_run = begins_file && chunk->position == 0,
    };

    text_explain_invalid(&reading, token, invalid.reason);
    return invalid;
}

static uint64_t parse_errors_line(const struct parse_errors_invalid *invalid)
{
    uint64_t before = 0;
    if (invalid->offset > invalid->start)
        before =
            reader_count_lines(invalid->name, invalid->start, invalid->offset, invalid->decoder);
    return before + invalid->line + 1;
}

uint64_t parse_errors_find_line(const struct chunk *chunk, size_t offset)
{
    struct parse_errors_invalid place =
        parse_errors_locate(chunk, &(struct text_token){.offset = offset, .bytes = 1});
    return parse_errors_line(&place);
}

/*
 * Whether an invalid token is one of the first so far: at most so many of a chunk are. To describe
 * every one would take the square of the chunk's length, if it has nothing else. The lock is held.
 */
static bool parse_errors_is_first(const struct parse_errors *errors, uint64_t position)
{
    return errors->first_count < PARSE_ERRORS_REPORTED ||
           position < errors->first[PARSE_ERRORS_REPORTED - 1].position;
}

/* Keeps one of the first. The lock is held. */
static void parse_errors_keep(struct parse_errors *errors,
                              const struct parse_errors_invalid *invalid)
{
    size_t place = errors->first_count;

    while (place > 0 && errors->first[place - 1].position > invalid->position)
        place--;
    errors->first_count += errors->first_count < PARSE_ERRORS_REPORTED;
    memmove(errors->first + place + 1, errors->first + place,
            (errors->first_count - place - 1) * sizeof *invalid);
    errors->first[place] = *invalid;
}

enum status parse_errors_add_invalid(struct parse_errors *errors, const struct chunk *chunk,
                                     const struct text_token *token, struct failure *failure)
{
    if (errors->policy == INVALID_IGNORE) {
        atomic_fetch_add_explicit(&errors->ignored, 1, memory_order_relaxed);
        return STATUS_OK;
    }
    if (errors->policy == INVALID_ABORT) {
        struct parse_errors_invalid invalid = parse_errors_describe(errors, chunk, token);
        return status_fail_at(failure, invalid.position, STATUS_DATA, STATUS_NAME ":%llu: %s",
                              invalid.name, (unsigned long long)parse_errors_line(&invalid),
                              invalid.reason);
    }
    pthread_mutex_lock(&errors->lock);
    errors->invalid++;
    errors->groups += parse_errors_is_group(errors->job, token);
    if (parse_errors_is_first(errors, parse_errors_position(chunk, token))) {
        struct parse_errors_invalid invalid = parse_errors_describe(errors, chunk, token);
        parse_errors_keep(errors, &invalid);
    }
    pthread_mutex_unlock(&errors->lock);
    return STATUS_OK;
}

enum status parse_errors_scan_chunk(struct parse_errors *errors, const struct job *job,
                                    const struct chunk *chunk, struct failure *failure)
{
    uint64_t values[256];
    text_parse_function *parse = text_choose_parser(&job->text, job->element.type);
    enum text_event event;
    size_t offset = 0;

    do {
        size_t count;
        struct text_token token;
        event =
            parse(&chunk->rules, chunk->data, chunk->bytes, &offset, values, 256, &count, &token);
        if (event == TEXT_INVALID &&
            parse_errors_add_invalid(errors, chunk, &token, failure) != STATUS_OK)
            return failure->status;
    } while (event != TEXT_END);
    return STATUS_OK;
}

enum status parse_errors_report(const struct parse_errors *errors, struct failure *failure)
{
    unsigned long long more = errors->invalid - errors->first_count;
    const char *kind = errors->groups == 0                 ? errors->kind
                       : errors->groups == errors->invalid ? "group"
                                                           : "token";
    unsigned long long ignored = atomic_load_explicit(&errors->ignored, memory_order_relaxed);

    for (size_t i = 0; i < errors->first_count; i++) {
        const struct parse_errors_invalid *invalid = &errors->first[i];
        status_print(STATUS_NAME ":%llu: %s", invalid->name,
                     (unsigned long long)parse_errors_line(invalid), invalid->reason);
    }
    if (more > 0)
        status_print("%llu more invalid %ss", more, kind);
    if (ignored > 0 && parse_errors_values(errors) == 0)
        status_print("all input was invalid and ignored: %llu token%s", ignored,
                     ignored == 1 ? "" : "s");
    if (errors->invalid == 0 || errors->policy != INVALID_FAIL)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "%llu invalid %s%s in the input",
                       (unsigned long long)errors->invalid, kind, errors->invalid == 1 ? "" : "s");
}
