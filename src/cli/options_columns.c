/* Reads columns, COLUMN[:TYPE[/WIDTH]], and conditions, COLUMN OP VALUE. */
#include "config.h"

#include "cli/options_table.h"
#include "text/row_scanner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Maximum field number, from either end. */
#define OPTIONS_FIELD_MAX INT32_MAX

/* The operators, the longest first. */
static const struct {
    const char *text;
    enum predicate_relation relation;
} options_operators[] = {
    {"^=", PREDICATE_BEGINS}, {"*=", PREDICATE_CONTAINS}, {"!~", PREDICATE_DIFFERS},
    {"!=", PREDICATE_NE},     {"<=", PREDICATE_LE},       {">=", PREDICATE_GE},
    {"==", PREDICATE_EQ},     {"=", PREDICATE_EQ},        {"<", PREDICATE_LT},
    {">", PREDICATE_GT},      {"~", PREDICATE_MATCHES},
};

const struct kind *options_default_kind(const struct options *options)
{
    return &kind_rows[options->is_rounded                ? KIND_ROUND
                      : options->has_decimals            ? KIND_FIXED
                      : options->base == OPTIONS_BASE_16 ? KIND_HEX
                                                         : KIND_INT];
}

bool options_is_time(const struct options_column *column)
{
    return column->kind && column->kind->notation == TEXT_TIME;
}

bool options_is_text(const struct options_column *column)
{
    return column->kind && column->kind->has_dictionary;
}

size_t options_find_operator(const char *text, enum predicate_relation *relation)
{
    for (size_t i = 0; i < sizeof options_operators / sizeof *options_operators; i++) {
        const size_t length = strlen(options_operators[i].text);
        if (strncmp(text, options_operators[i].text, length) == 0) {
            *relation = options_operators[i].relation;
            return length;
        }
    }
    return 0;
}

/* Reads the type of numbers, text[0..length), in the form of states: without a byte order. */
static bool options_parse_type(const char *text, size_t length, struct element *element)
{
    char name[sizeof "i64"];

    if (length >= sizeof name)
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return element_parse(name, element);
}

/*
 * Reads TYPE[/WIDTH] in text[0..length); in the line of a state the type of numbers is their
 * element type and decimal places. Returns false if it is not a column type: it then belongs to a
 * name.
 */
static bool options_parse_kind(const char *text, size_t length, struct options_column *column)
{
    const char *slash = memchr(text, '/', length);
    const size_t bytes = slash ? (size_t)(slash - text) : length;
    const char *point = memchr(text, '.', bytes);
    const size_t name = point ? (size_t)(point - text) : bytes;
    __int128 decimals = 0;
    struct element type = column->element;
    const bool has_type = column->is_saved && options_parse_type(text, name, &type);

    for (size_t i = 0; i < KINDS; i++) {
        const struct kind *kind = &kind_rows[i];
        if (has_type ? i != (point ? KIND_FIXED : KIND_INT)
                     : strlen(kind->name) != name || memcmp(kind->name, text, name) != 0)
            continue;
        struct options_column found = *column;
        found.kind = kind;
        found.has_kind = true;
        found.element = type;
        if (point ? !decimal_parse(point + 1, bytes - name - 1, DECIMAL_UNIT_SI, &decimals) ||
                        decimals < 0 || decimals > kind->decimals_max || kind->decimals_max == 0
                  : kind->needs_decimals)
            return false;
        found.decimals = (unsigned)decimals;
        found.width = (struct kind_width){.prefix = {32, 128}};
        if (slash && (!kind->parse_width || !kind->parse_width(kind, slash + 1, length - bytes - 1,
                                                               found.decimals, &found.width)))
            continue;
        *column = found;
        return true;
    }
    return false;
}

/*
 * Returns the length of a column up to one of the characters `stops` outside quotes. Quoted names
 * begin with a quote, also after the + that joins two.
 */
static size_t options_column_length(const char *text, const char *stops)
{
    bool is_quoted = false;
    bool is_inside = false;
    size_t length = 0;

    for (; text[length] && (is_inside || !strchr(stops, text[length])); length++) {
        if (length == 0 || (text[length - 1] == '+' && !is_inside))
            is_quoted = text[length] == '"';
        is_inside ^= is_quoted && text[length] == '"';
    }
    return length;
}

/* Unquotes a name in place. Returns the text after it, or NULL if there is no closing quote. */
static char *options_unquote(char *text)
{
    const char *from = text + 1;
    char *to = text;

    while (*from && (*from != '"' || from[1] == '"')) {
        from += *from == '"';
        *to++ = *from++;
    }
    const bool is_closed = *from == '"' && to > text;
    *to = '\0';
    return is_closed ? text + (from + 1 - text) : NULL;
}

/*
 * Reads a name quoted as in CSV, which may have any characters, and a type. The text becomes the
 * name.
 */
static bool options_parse_quoted(char *text, struct options_column *column)
{
    const char *rest = options_unquote(text);

    column->where_bytes = strlen(text);
    column->is_name = true;
    return rest && (*rest == '\0' ||
                    (*rest == ':' && options_parse_kind(rest + 1, strlen(rest + 1), column)));
}

/* Returns whether all columns are names, even those that are numbers. */
static bool options_takes_names(const struct options *options)
{
    return options->names_only || row_scanners[options->row_scanner]->names_columns;
}

/*
 * Returns whether where[0..length) is the number of a field, and not a name. Stores the number, or
 * sets *is_valid to false if it is out of range.
 */
static bool options_parse_field(const struct options *options, const char *where, size_t length,
                                int32_t *field, bool *is_valid)
{
    const size_t sign = length > 0 && (*where == '+' || *where == '-');
    bool is_number = sign < length && !options_takes_names(options);
    __int128 number = 0;

    for (size_t i = sign; i < length; i++)
        is_number = is_number && where[i] >= '0' && where[i] <= '9';
    *is_valid = !is_number || (decimal_parse(where, length, DECIMAL_UNIT_SI, &number) &&
                               number >= -OPTIONS_FIELD_MAX && number <= OPTIONS_FIELD_MAX);
    if (is_number && *is_valid)
        *field = number == 0 ? TEXT_WHOLE_LINE : (int32_t)number;
    return is_number;
}

/* Returns the index of the + that joins two fields: the first inside and outside quotes; or 0. */
static size_t options_find_plus(const char *where, size_t length)
{
    bool is_inside = false;

    for (size_t i = 0; i + 1 < length; i++) {
        is_inside ^= where[i] == '"';
        if (i > 0 && where[i] == '+' && !is_inside)
            return i;
    }
    return 0;
}

/* Reads one column of a text that it keeps and may change. Returns false if it is invalid. */
static bool options_parse_column(const struct options *options, char *text,
                                 struct options_column *column)
{
    *column = (struct options_column){.typed = text, .field = 1, .is_saved = options->is_saved};
    if (*text == '"' && text[options_column_length(text, "+")] == '\0')
        return options_parse_quoted(text, column);
    char *colon = strrchr(text, ':');
    if (colon && colon > text && options_parse_kind(colon + 1, strlen(colon + 1), column))
        column->where_bytes = (size_t)(colon - text);
    else
        column->where_bytes = strlen(text);

    const size_t length = column->where_bytes;
    char *at = memchr(text, '@', length);
    __int128 number;
    bool is_valid;
    if (length == 0)
        return false;
    if (!options_takes_names(options) && at) {
        struct element element;
        *at = '\0';
        const bool is_element = element_parse(text, &element);
        *at = '@';
        if (is_element &&
            decimal_parse(at + 1, (size_t)(text + length - at) - 1, DECIMAL_UNIT_BYTES, &number) &&
            number >= 0 && number <= UINT64_MAX) {
            column->element = element;
            column->offset = (uint64_t)number;
            column->field = 0;
            return true;
        }
    }
    if (options_is_time(column))
        column->plus = options_find_plus(text, length);
    column->is_name = !options_parse_field(options, text, length, &column->field, &is_valid);
    return is_valid;
}

/* Copies a text that options keep; NULL if there is no memory. */
static char *options_copy(struct options *options, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    struct options_copy *copy = malloc(sizeof *copy + bytes);
    if (!copy)
        return NULL;

    copy->next = options->copies;
    options->copies = copy;
    return memcpy(copy->text, text, bytes);
}

/* If rows name their columns, makes the name a wanted column and stores its number. */
static enum status options_want(struct options *options, const char *where, int32_t *field,
                                struct failure *failure)
{
    const struct row_scanner *scanner = row_scanners[options->row_scanner];
    unsigned number = 0;

    if (!scanner->names_columns)
        return STATUS_OK;
    if (scanner->want(&options->wanted, where, &number, failure) != STATUS_OK)
        return failure->status;
    *field = (int32_t)number + 1;
    return STATUS_OK;
}

enum status options_want_any(struct options *options, struct failure *failure)
{
    int32_t field;

    return options->wanted ? STATUS_OK : options_want(options, "a", &field, failure);
}

/* Reads the two fields that a column joins. Two numbers are not a name. */
static enum status options_join_column(struct options *options, struct options_column *column,
                                       struct failure *failure)
{
    bool has_name = false;

    for (int i = 0; i < 2; i++) {
        bool is_valid = true;
        char *half = options_copy(options, column->where + (i == 1 ? column->plus + 1 : 0));
        if (!half)
            return status_fail(failure, STATUS_DATA, "not enough memory for the name of a column");
        if (i == 0)
            half[column->plus] = '\0';
        const bool is_quoted = *half == '"';
        const char *rest = is_quoted ? options_unquote(half) : "";
        if (!rest || *rest)
            return status_fail(failure, STATUS_USAGE,
                               "invalid column '%s': a name in quotes does not end with one",
                               column->where);
        column->half_field[i] = 1;
        if (is_quoted ||
            !options_parse_field(options, half, strlen(half), &column->half_field[i], &is_valid)) {
            column->half[i] = half;
            has_name = true;
        }
        if (!is_valid)
            return status_fail(failure, STATUS_USAGE, "invalid column '%s': there is no field %s",
                               column->where, half);
        if (options_want(options, half, &column->half_field[i], failure) != STATUS_OK)
            return failure->status;
    }
    if (!has_name) {
        column->is_name = false;
        column->name = NULL;
        column->field = column->half_field[0];
    }
    return STATUS_OK;
}

/* Sets the place of a column as typed, a copy that options keep, and its name. */
static enum status options_name_column(struct options *options, struct options_column *column,
                                       struct failure *failure)
{
    char *where = options_copy(options, column->typed);
    if (!where)
        return status_fail(failure, STATUS_DATA, "not enough memory for the name of a column");
    where[column->where_bytes] = '\0';
    column->where = where;
    column->name = column->is_name ? where : NULL;
    if (options_want(options, where, &column->field, failure) != STATUS_OK)
        return failure->status;
    return column->plus > 0 ? options_join_column(options, column, failure) : STATUS_OK;
}

/* Returns the length of the column at the start of a condition. */
static size_t options_where_length(const char *typed)
{
    const size_t where = options_column_length(typed, "=!<>~");
    return where - (where > 0 && typed[where] == '=' && strchr("^*", typed[where - 1]));
}

/* Reads a condition: COLUMN OP VALUE. */
static enum status options_parse_condition(struct options *options,
                                           struct options_condition *condition,
                                           struct options_column *column, struct failure *failure)
{
    const char *typed = condition->typed + strspn(condition->typed, " ");
    const size_t where = options_where_length(typed);
    const size_t length = options_find_operator(typed + where, &condition->relation);
    char *text = options_copy(options, typed);
    if (!text)
        return status_fail(failure, STATUS_DATA, "not enough memory for a condition");
    condition->sign = typed + where;
    if (where > 0 && length > 0) {
        char *value = text + where + length;
        size_t end = where;
        while (end > 0 && text[end - 1] == ' ')
            end--;
        text[end] = '\0';
        value += strspn(value, " ");
        for (end = strlen(value); end > 0 && value[end - 1] == ' '; end--)
            value[end - 1] = '\0';
        condition->value = value;
        const bool is_list =
            condition->relation == PREDICATE_EQ || condition->relation == PREDICATE_NE;
        if ((*value != '\0' || is_list) && options_parse_column(options, text, column))
            return options_name_column(options, column, failure);
    }
    const bool is_cut = where > 0 && typed[where] == '\0';
    return options_fail_value("where", typed,
                              is_cut ? "a column, an operator and a value in quotes, such as "
                                       "'9>=500', else the shell takes > and <"
                                     : "a column, an operator and a value, such as '9>=500' or "
                                       "'status=200,304' (= != < <= > >=, of strings also ^= "
                                       "begins with, *= contains, ~ and !~ a regular expression)",
                              failure);
}

/*
 * Sets the kind of a column without one: that of the rows' format, or the one found in the input;
 * or notes that one may be found. Stalin-sort writes while it reads: it does not wait for 64 KiB.
 */
static void options_set_found(struct options *options, struct options_column *column,
                              const struct kind_found *found)
{
    const struct row_scanner *scanner = row_scanners[options->row_scanner];
    const char *kind = scanner->kind ? scanner->kind(column->where) : NULL;

    if (kind && !column->kind && !options->is_saved)
        options_parse_kind(kind, strlen(kind), column);
    column->is_open = !column->kind && column->element.bytes == 0 && !options->is_saved &&
                      options->command->operation != OPERATION_STALIN_SORT;
    options->has_open |= column->is_open;
    if (column->is_open && found && *found->kind)
        options_parse_kind(found->kind, strlen(found->kind), column);
    column->is_found = column->is_open && found && found->is_uniform;
}

enum status options_finish_columns(struct options *options, struct failure *failure)
{
    /* The options about the values of -f determine their kind. */
    const bool is_told = options->has_type || options->base != OPTIONS_BASE_DEFAULT ||
                         options->has_decimals || options->time_format_text;
    const struct options_found *found = options->found;
    const struct options_column *local = NULL; /* a column of local times */
    bool has_time = false;

    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        struct options_columns *columns = (void *)((char *)options + row->target);
        for (size_t k = 0; row->kind == OPTIONS_COLUMNS && k < columns->list_count; k++) {
            char *next = options_copy(options, columns->lists[k]);
            if (!next)
                return status_fail(failure, STATUS_DATA,
                                   "not enough memory for the names of columns");
            while (next) {
                char *text = next;
                const size_t length = options_column_length(text, ",");
                next = text[length] ? text + length + 1 : NULL;
                text[length] = '\0';
                if (columns->count == row->maximum)
                    return status_fail(failure, STATUS_USAGE, "--%s accepts at most %zu column%s",
                                       row->name, columns->count, columns->count == 1 ? "" : "s");
                struct options_column *column = &columns->list[columns->count++];
                if (!options_parse_column(options, text, column))
                    return options_fail_value(row->name, columns->lists[k], row->expected, failure);
                if (options_name_column(options, column, failure) != STATUS_OK)
                    return failure->status;
                const size_t index = columns->count - 1;
                column->is_key = columns == &options->by;
                if (column->is_key)
                    options_set_found(options, column, found ? &found->by[index] : NULL);
                else if (columns == &options->field && !is_told)
                    options_set_found(options, column, found ? &found->field[index] : NULL);
                has_time |= options_is_time(column);
                local = options_is_time(column) && column->kind->is_local ? column : local;
            }
        }
    }
    for (size_t i = 0; i < options->where.count; i++) {
        if (options_parse_condition(options, &options->conditions[i], &options->where.list[i],
                                    failure) != STATUS_OK)
            return failure->status;
        options_set_found(options, &options->where.list[i], found ? &found->where[i] : NULL);
        const struct options_column *column = &options->where.list[i];
        has_time |= options_is_time(column);
        local = options_is_time(column) && column->kind->is_local ? column : local;
    }
    /* A kind of the first value is also that of bounds, but not of the other values. */
    const struct kind *by_default = options_default_kind(options);
    for (size_t i = 1; i < options->field.count; i++) {
        struct options_column *column = &options->field.list[i];
        if (!column->kind) { /* it may still be open */
            column->kind = by_default;
            column->decimals = options->decimals;
        }
    }
    const struct options_column *first = &options->field.list[0];
    if (options->field.count > 0 && first->kind) {
        options->has_decimals = kind_is_number(first->kind, true);
        options->decimals = options->has_decimals ? first->decimals : 0;
        options->is_rounded = first->kind->is_rounded;
    }
    if (options->time_format_text &&
        kind_time_format_parse(&options->time_format, options->time_format_text, failure) !=
            STATUS_OK)
        return failure->status;
    if (options->time_format_text && !has_time)
        return status_fail(failure, STATUS_USAGE,
                           "--time-format requires a column of timestamps (try -f COLUMN:time)");
    if (options->zone_name && local)
        return status_fail(failure, STATUS_USAGE,
                           "--tz cannot be combined with column '%.128s', which has timestamps as "
                           "they are written "
                           "(try %.128s:time, where those without an offset are UTC)",
                           local->typed, local->where);
    if (options->zone_name &&
        kind_time_zone_read(options->zone_name, &options->zone, failure) != STATUS_OK)
        return failure->status;
    if (options->year > 0 && !options->time_format.lacks_year)
        return status_fail(failure, STATUS_USAGE,
                           "--year is of a --time-format that has no year, such as '%%b %%e %%T'");
    options->time_format.year = (unsigned)options->year;
    options->time_format.today = (int64_t)time(NULL) / 86400;
    return STATUS_OK;
}
