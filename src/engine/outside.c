/* Searches a chunk for its first value outside the bins. */
#include "config.h"

#include "engine/outside.h"

#include "base/decimal.h"
#include "input/parse_errors.h"
#include "job/binning_index.h"
#include "text/text_pairs.h"

static bool outside_is(const struct job *job, uint64_t key)
{
    return binning_index(&job->binning, job->binning.form, key) >= job->binning.bins;
}

/*
 * Returns the offset of the last byte of the value that the parser has just read, or of its line;
 * `offset` is the position of the parser.
 */
static size_t outside_find_end(const struct chunk *text, size_t offset)
{
    const char *data = text->data;
    size_t end = offset < text->bytes ? offset : text->bytes;

    while (end > 1 && (data[end - 1] == ' ' || (data[end - 1] >= '\t' && data[end - 1] <= '\r')))
        end--; /* the parser also skips blank lines */
    return end - 1;
}

/* Parses the next value; with weights, also its weight. */
static enum text_event outside_parse(const struct job *job, const struct chunk *text,
                                     size_t *offset, uint64_t *value, uint64_t *weight,
                                     size_t *count)
{
    struct text_token invalid;

    if (job->second == SECOND_WEIGHTS)
        return text_pairs_parse(job, &text->rules, text->data, text->bytes, offset, value, weight,
                                1, count, &invalid);
    return text_choose_parser(&job->text, job->element.type)(&text->rules, text->data, text->bytes,
                                                             offset, value, 1, count, &invalid);
}

/* As outside_check, for a chunk of text. Parses the text again, one value at a time. */
static enum status outside_check_text(const struct job *job, const struct chunk *text,
                                      struct failure *failure)
{
    struct element native = job->element;
    enum text_event event;
    size_t offset = 0;

    native.swapped = false;
    do {
        uint64_t value;
        uint64_t weight = 1;
        size_t count;
        event = outside_parse(job, text, &offset, &value, &weight, &count);
        if (count == 0 || weight == 0 || !outside_is(job, element_key(&native, &value)))
            continue;
        char shown[DECIMAL_SIZE];
        size_t end = outside_find_end(text, offset);
        decimal_format_fixed(shown, element_value(&native, element_key(&native, &value)),
                             native.decimals);
        return status_fail_at(failure, text->position + end, STATUS_DATA,
                              STATUS_NAME ":%llu: value %s is outside the bins", text->name,
                              (unsigned long long)parse_errors_find_line(text, end), shown);
    } while (event != TEXT_END);
    return STATUS_OK;
}

enum status outside_check(const struct job *job, const struct chunk *chunk, struct failure *failure)
{
    const struct element *element = &job->element;
    const char *first = (const char *)chunk->data + (chunk->is_gathered ? 0 : job->record_offset);
    const size_t stride = chunk->is_gathered ? element->bytes : job_value_bytes(job);

    if (job->is_text)
        return outside_check_text(job, chunk->text ? chunk->text : chunk, failure);
    for (size_t i = 0; i < chunk->bytes / stride; i++) {
        uint64_t key = element_key(element, first + i * stride);
        if (!outside_is(job, key) || (chunk->second && chunk->second[i] == 0))
            continue;
        char value[DECIMAL_SIZE];
        uint64_t position = chunk->position + i * job_value_bytes(job) + job->record_offset;
        decimal_format_signed(value, element_value(element, key));
        return status_fail_at(failure, position, STATUS_DATA,
                              "value %s at byte %llu of the input is outside the bins", value,
                              (unsigned long long)position);
    }
    return STATUS_OK;
}
