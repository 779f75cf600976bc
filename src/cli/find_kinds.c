/* Implements find_kinds.h: reads rows with a plan whose columns have the unknown kind. */
#include "config.h"

#include "cli/find_kinds.h"

#include "cli/lists.h"
#include "cli/options_table.h"
#include "text/row_scanner.h"
#include "text/text_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIND_KINDS_BYTES ((size_t)64 << 10)

/* A column without a kind. */
struct find_kinds_column {
    const char *where;
    enum kind_find_use use;
    const struct options_condition *condition; /* KIND_FIND_COMPARISON; else NULL */
    struct kind_found *to;                     /* receives the kind */
    struct kind_find found;                    /* facts about the values */
};

/* The columns of a plan that have no kind. */
struct find_kinds {
    const struct options *options;
    struct options probe; /* the options of a plan with the columns as values */
    size_t count;
    struct find_kinds_column columns[TEXT_COLUMNS_MAX]; /* [count] */
};

/* Makes the options of a plan that counts values of the same input. It has no columns yet. */
static void find_kinds_make_probe(const struct options *options, struct options *probe)
{
    *probe = *options;
    probe->command = &options_commands[OPERATION_REDUCE];
    reductions_parse("count", &probe->reductions);
    probe->field.count = probe->weight.count = probe->by.count = probe->where.count = 0;
    probe->predicate_count = 0;
    probe->bins = probe->window_ns = probe->every_ns = 0;
    probe->width = 0;
    probe->edges = probe->range_text = NULL;
    probe->has_log2 = probe->log10 = probe->is_range_auto = false;
    probe->print = (struct print_options){.format = NULL};
}

/* Adds the open columns of an option. */
static void find_kinds_add(struct find_kinds *self, const struct options_columns *columns,
                           enum kind_find_use use, struct kind_found *kinds)
{
    struct options_columns *probed = &self->probe.field;

    for (size_t i = 0; i < columns->count; i++) {
        kinds[i] = (struct kind_found){.is_uniform = false};
        if (!columns->list[i].is_open || self->count == TEXT_COLUMNS_MAX)
            continue;
        struct options_column *column = &probed->list[probed->count++];
        *column = columns->list[i];
        column->kind = &kind_rows[KINDS]; /* unknown */
        column->decimals = 0;
        self->columns[self->count++] = (struct find_kinds_column){
            .where = column->where,
            .use = use,
            .condition = use == KIND_FIND_COMPARISON ? &self->options->conditions[i] : NULL,
            .to = &kinds[i],
        };
    }
}

/* Adds the rows of a chunk. Invalid and missing values do not affect the kind. */
static enum status find_kinds_read_chunk(const struct plan *plan, const struct chunk *chunk,
                                         struct failure *failure)
{
    uint64_t keys[TEXT_COLUMNS_MAX];
    uint64_t nulls;
    struct text_rows rows = {
        .plan = plan,
        .rules = &chunk->rules,
        .row_end = chunk->origin.row_end,
        .data = chunk->data,
        .bytes = chunk->bytes,
        .nulls = &nulls,
        .capacity = 1,
        .scratch = text_rows_scratch_create(plan),
    };
    enum status status = STATUS_OK;

    for (size_t i = 0; i < plan->value_count; i++)
        rows.keys[i] = &keys[i];
    if (!rows.scratch)
        status = status_fail(failure, STATUS_DATA, "not enough memory for finding column types");
    while (status == STATUS_OK && text_rows_parse(&rows) != TEXT_END)
        continue;
    text_rows_scratch_destroy(rows.scratch);
    return status;
}

/* Stops reading at a row that is longer than the buffer, with a status that no input has. */
static enum status find_kinds_grow(struct chunk_buffer *buffer, size_t capacity,
                                   struct failure *failure)
{
    (void)buffer;
    return status_fail(failure, STATUS_ENGINE, "a row of more than %zu bytes", capacity);
}

/*
 * Reads up to 64 KiB of a source. Stops at a longer row and at a failure, which the run will meet.
 * If `is_whole`, the source is not the start of a pipe: then fails if that comes before the first
 * row, for it may be that of a column that is not in the header.
 */
static enum status find_kinds_read(struct find_kinds *self, struct plan *plan,
                                   struct source *source, bool is_whole, struct failure *failure)
{
    struct record_format format;
    struct chunk_buffer buffer = {
        .data = malloc(FIND_KINDS_BYTES),
        .capacity = FIND_KINDS_BYTES,
        .grow = find_kinds_grow,
    };
    struct failure own;
    struct chunk chunk;
    enum status status = STATUS_OK;

    if (!buffer.data)
        return status_fail(failure, STATUS_DATA, "not enough memory for finding column types");
    for (size_t i = 0; i < self->count; i++)
        plan->columns[i].find = &self->columns[i].found;
    options_make_format(self->options, plan, &format);
    source_set_format(source, &format, false, 1);
    source_join(source);
    while (status == STATUS_OK && buffer.capacity >= SOURCE_TEXT_CAPACITY_MIN) {
        if (source_pull(source, &buffer, &chunk, &own) != STATUS_OK) {
            if (is_whole && own.position == 0 && own.status != STATUS_ENGINE)
                status = status_fail_first(failure, status, &own);
            break;
        }
        if (chunk.bytes == 0)
            break;
        buffer.capacity -= chunk.bytes;
        status = find_kinds_read_chunk(plan, &chunk, failure);
    }
    free(buffer.data);
    return status;
}

/*
 * Chooses the kind of a condition from its column's kind and its operand. Numbers compare exactly,
 * with any number of decimal places.
 */
static enum status find_kinds_compare(const struct options_condition *condition,
                                      const struct kind_find *found, char kind[KIND_FIND_SIZE],
                                      struct failure *failure)
{
    const bool is_list = condition->relation == PREDICATE_EQ || condition->relation == PREDICATE_NE;
    const bool is_of_numbers = found->numbers == found->values;
    struct lists_items items = {.list = NULL};
    int64_t most = 0;             /* largest number of decimal places */
    size_t placeholders = 0;      /* number of items for missing values */
    bool has_strings = false;     /* an item is not a number */
    bool loses_something = false; /* a number would lose how an item is written, such as 01234 */

    const char *wrong = kind_find_choose(found, KIND_FIND_COMPARISON, kind);
    if (predicate_is_of_strings(condition->relation)) {
        strcpy(kind, "text");
        return STATUS_OK;
    }
    if (kind_find_is_rounded(found))
        return status_fail(failure, STATUS_USAGE, "--where '%s': the values %s (try '%.*s:%s%s')",
                           condition->typed, wrong, (int)(condition->sign - condition->typed),
                           condition->typed, kind, condition->sign);
    if (strcmp(kind, "text") == 0 && !is_list)
        return status_fail(
            failure, STATUS_USAGE,
            "--where '%s' compares strings: add a type, such as COLUMN:text, COLUMN:ms "
            "or COLUMN:bytes",
            condition->typed);
    if (lists_is_file(condition->value) || !is_of_numbers || strcmp(kind, "text") == 0)
        return STATUS_OK;
    const enum status status = lists_read_items(condition->value, "where", &items, failure);
    for (size_t i = 0; status == STATUS_OK && i < items.count; i++) {
        struct kind_find_number number;
        placeholders += kind_find_is_placeholder(items.list[i].data, items.list[i].bytes);
        has_strings |= !kind_find_read_number(items.list[i].data, items.list[i].bytes, &number);
        loses_something |= number.has_plus || number.has_leading_zero || number.has_exponent;
        const int64_t decimals = number.has_exponent ? number.places : (int64_t)number.decimals;
        most = decimals > most ? decimals : most;
    }
    const bool is_of_placeholders =
        is_list && found->placeholders > 0 && placeholders > 0 && placeholders == items.count;
    lists_destroy_items(&items);
    if (status != STATUS_OK)
        return status;
    if (has_strings && !is_of_placeholders)
        return STATUS_OK;
    if (is_list && (loses_something || is_of_placeholders))
        strcpy(kind, "text");
    else if (most <= TEXT_DECIMALS_MAX && most > found->decimals)
        snprintf(kind, KIND_FIND_SIZE, ".%u", (unsigned)most);
    return STATUS_OK;
}

/* Chooses the kinds from the facts about the values. */
static enum status find_kinds_choose(struct find_kinds *self, bool *is_any, struct failure *failure)
{
    for (size_t i = 0; i < self->count; i++) {
        const struct find_kinds_column *column = &self->columns[i];
        char *kind = column->to->kind;
        if (column->condition &&
            find_kinds_compare(column->condition, &column->found, kind, failure) != STATUS_OK)
            return failure->status;
        const char *wrong =
            column->condition ? NULL : kind_find_choose(&column->found, column->use, kind);
        if (wrong) {
            char first[KIND_FIND_SIZE];
            char second[KIND_FIND_SIZE];
            if (column->use == KIND_FIND_NUMBERS && !strstr(kind, "time"))
                return status_fail(failure, STATUS_USAGE, "the values of '%s' %s (try '%s:%s')",
                                   column->where, wrong, column->where, kind);
            kind_find_alternatives(kind, first, second);
            return status_fail(failure, STATUS_USAGE,
                               "the values of '%s' %s (try '%s:%s' or '%s:%s')", column->where,
                               wrong, column->where, first, column->where, second);
        }
        column->to->is_uniform = kind_find_is_uniform(&column->found, column->use);
        *is_any = *is_any || *kind != '\0' || column->to->is_uniform;
    }
    return STATUS_OK;
}

enum status find_kinds(const struct options *options, const struct source_options *reading,
                       struct source **source, struct options_found *found, bool *is_any,
                       struct failure *failure)
{
    struct find_kinds *self = calloc(1, sizeof *self);
    struct plan plan = {.predicates = NULL};
    const bool is_repeated = source_sizes(*source).files != SOURCE_SIZE_UNKNOWN;
    struct source_options of_copy = *reading;
    struct source *copied = NULL;
    char name[32];
    char *names[] = {name};
    int copy = -1;

    *is_any = false;
    if (!self)
        return status_fail(failure, STATUS_DATA, "not enough memory for finding column types");
    self->options = options;
    find_kinds_make_probe(options, &self->probe);
    find_kinds_add(self, &options->field,
                   options_has_keys(options) ? KIND_FIND_KEYS : KIND_FIND_NUMBERS, found->field);
    find_kinds_add(self, &options->by, KIND_FIND_KEYS, found->by);
    find_kinds_add(self, &options->where, KIND_FIND_COMPARISON, found->where);
    enum status status = options_make(&self->probe, true, false, NULL, &plan, failure);
    if (status == STATUS_OK && !is_repeated) {
        status = source_copy_first(*source, &copy, failure);
        of_copy.kinds = 0;
        snprintf(name, sizeof name, "/proc/self/fd/%d", copy);
        if (status == STATUS_OK)
            status = source_open(&copied, names, 1, &of_copy, failure);
    }
    if (status == STATUS_OK)
        status = find_kinds_read(self, &plan, is_repeated ? *source : copied, is_repeated, failure);
    if (status == STATUS_OK && is_repeated)
        status = source_repeat(source, failure);
    source_close(copied);
    if (copy >= 0)
        close(copy);
    plan_destroy(&plan);
    if (status == STATUS_OK)
        status = find_kinds_choose(self, is_any, failure);
    free(self);
    return status;
}

void find_kinds_print(const struct options *options, const struct options_found *found,
                      const char *before)
{
    const struct {
        const char *option;
        const struct options_columns *columns;
        const struct kind_found *kinds;
    } uses[] = {{"-f", &options->field, found->field},
                {"--by", &options->by, found->by},
                {"--where", &options->where, found->where}};

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        for (size_t k = 0; k < uses[i].columns->count; k++) {
            if (uses[i].columns->list[k].is_open && *uses[i].kinds[k].kind)
                status_print("%s: %s %s:%s", before, uses[i].option, uses[i].columns->list[k].where,
                             uses[i].kinds[k].kind);
        }
    }
}
