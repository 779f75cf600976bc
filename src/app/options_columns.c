/*
 * Which columns of text or of binary records are read: -f, --record and --offset for the values,
 * and the options of a second column.
 */
#include "config.h"

#include "app/options_internal.h"

#include "base/decimal.h"

#include <string.h>

#define OPTIONS_FIELD_MAX  INT32_MAX
#define OPTIONS_RECORD_MAX ((size_t)16 << 20)

/* Reads the number of a field, or its name. Returns false if the value is neither. */
static bool options_read_field(const char *value, int32_t *field, const char **name)
{
    const char *digits = value + (*value == '+' || *value == '-');
    bool is_name = *value != '\0' && (*digits == '\0' || digits[strspn(digits, "0123456789")]);
    __int128 number = 1;

    if (!is_name && (!decimal_parse(value, strlen(value), DECIMAL_UNIT_SI, &number) ||
                     number == 0 || number < -OPTIONS_FIELD_MAX || number > OPTIONS_FIELD_MAX))
        return false;
    *field = (int32_t)number;
    *name = is_name ? value : NULL;
    return true;
}

enum status options_set_field(struct options *options, const char *value, struct failure *failure)
{
    if (options_read_field(value, &options->text_rules.field, &options->field_name)) {
        options->print.value_name = options->field_name;
        return STATUS_OK;
    }
    return options_fail_value("--field", value, "1 for the first, -1 for the last, ..., or a name",
                              failure);
}

/* Reads TYPE@OFFSET, an element of binary records. Returns false if the value is something else. */
static bool options_read_place(struct options *options, const char *value)
{
    const char *at = strrchr(value, '@');
    char type[8];

    if (!at || (size_t)(at - value) >= sizeof type)
        return false;
    memcpy(type, value, (size_t)(at - value));
    type[at - value] = '\0';
    return element_parse(type, &options->second_element) &&
           decimal_parse_unsigned(at + 1, DECIMAL_UNIT_BYTES, &options->second_offset);
}

enum status options_set_second(struct options *options, enum second_use use, const char *name,
                               const char *value, struct failure *failure)
{
    options->second = use;
    options->has_second_offset = options_read_place(options, value);
    options->text_rules.second_field = 0;
    options->second_name = NULL;
    if (options->has_second_offset ||
        options_read_field(value, &options->text_rules.second_field, &options->second_name))
        return STATUS_OK;
    return options_fail_value(name, value, "a field's number or name, or in records such as u32@8",
                              failure);
}

enum status options_set_record(struct options *options, const char *value, struct failure *failure)
{
    if (decimal_parse_unsigned(value, DECIMAL_UNIT_BYTES, &options->record_bytes) &&
        options->record_bytes > 0 && options->record_bytes <= OPTIONS_RECORD_MAX)
        return STATUS_OK;
    return options_fail_value("--record", value, "bytes from 1 to 16M, such as 24", failure);
}

enum status options_set_offset(struct options *options, const char *value, struct failure *failure)
{
    options->has_offset = true;
    if (decimal_parse_unsigned(value, DECIMAL_UNIT_BYTES, &options->record_offset))
        return STATUS_OK;
    return options_fail_value("--offset", value, "bytes, such as 8", failure);
}

/* Checks that an element at an offset of a record lies in it. */
static enum status options_check_place(const struct options *options, const char *option,
                                       const struct element *element, uint64_t offset,
                                       struct failure *failure)
{
    if (options->record_bytes >= element->bytes && offset <= options->record_bytes - element->bytes)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE,
                       "%s at %s %llu does not fit in a --record of %llu bytes", element->name,
                       option, (unsigned long long)offset,
                       (unsigned long long)options->record_bytes);
}

enum status options_make_record(const struct options *options, struct job *job,
                                struct failure *failure)
{
    if (options->record_bytes == 0 && options->has_offset)
        return status_fail(failure, STATUS_USAGE, "--offset needs --record");
    if (options->record_bytes == 0 || job->is_text)
        return STATUS_OK;
    if (options_check_place(options, "--offset", &job->element, options->record_offset, failure) !=
        STATUS_OK)
        return failure->status;
    bool has_more = options->record_bytes > job->element.bytes || options->second != SECOND_NONE;
    job->record_bytes = has_more ? options->record_bytes : 0;
    job->record_offset = options->record_offset;
    return STATUS_OK;
}

enum status options_make_second(const struct options *options, struct job *job,
                                struct failure *failure)
{
    if (options->second == SECOND_NONE)
        return STATUS_OK;
    job->second = options->second;
    const char *name = job_second_option(job);
    if (options->has_second_offset) {
        job->second_element = options->second_element;
        job->second_offset = options->second_offset;
        return options_check_place(options, name, &job->second_element, options->second_offset,
                                   failure);
    }
    bool is_unsigned = job->second == SECOND_GROUPS && job->element.type == ELEMENT_U64;
    element_parse(is_unsigned ? "u64" : "i64", &job->second_element);
    job->second_element.swapped = false;
    return STATUS_OK;
}

enum status options_check_second(const struct options *options, struct failure *failure)
{
    const char *name = job_second_option(&(struct job){.second = options->second});

    if (options->second == SECOND_NONE)
        return STATUS_OK;
    if (options->has_second_offset && options->record_bytes == 0)
        return status_fail(failure, STATUS_USAGE, "%s TYPE@OFFSET needs --record", name);
    if (!options->has_second_offset && options->record_bytes > 0)
        return status_fail(failure, STATUS_USAGE, "with --record, %s wants TYPE@OFFSET", name);
    if (!options->has_second_offset && options->text_rules.field == 0)
        return status_fail(failure, STATUS_USAGE, "%s needs -f, the field of the values%s", name,
                           options->second == SECOND_WEIGHTS ? " (of uniq -c lines: -f 2)" : "");
    return STATUS_OK;
}
