/* Implements find_kinds.h: a job whose columns are of unknown kind reads the rows. */
#include "config.h"

#include "app/find_kinds.h"

#include "app/lists.h"
#include "app/options_table.h"
#include "text/row_scanner.h"
#include "text/text_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIND_KINDS_BYTES ((size_t)64 << 10)

/* The columns of a job without kinds, and what is known of their values. */
struct find_kinds {
    const struct options *options;
    struct options probe; /* the options of a job that has them as values */
    size_t count;
    const struct options_column *columns[TEXT_COLUMNS_MAX]; /* [count] */
    char *kinds[TEXT_COLUMNS_MAX];                          /* where their kinds go */
    struct kind_find found[TEXT_COLUMNS_MAX];
};

/* Adds the open columns of an option. */
static void find_kinds_add(struct find_kinds *self, const struct options_columns *columns,
                           char (*kinds)[KIND_FIND_SIZE])
{
    for (size_t i = 0; i < columns->count; i++) {
        kinds[i][0] = '\0';
        if (!columns->list[i].is_open || self->count == TEXT_COLUMNS_MAX)
            continue;
        struct options_column *column = &self->probe.field.list[self->count];
        *column = columns->list[i];
        column->kind = &kind_rows[KINDS]; /* unknown */
        column->decimals = 0;
        self->columns[self->count] = &columns->list[i];
        self->kinds[self->count++] = kinds[i];
    }
}

/* Adds the rows of a chunk. What is invalid, or missing, says nothing of the kind. */
static enum status find_kinds_read_chunk(const struct job *job, const struct chunk *chunk,
                                         struct failure *failure)
{
    uint64_t keys[TEXT_COLUMNS_MAX];
    uint64_t lost;
    struct text_rows rows = {
        .job = job,
        .rules = &chunk->rules,
        .row_end = chunk->origin.row_end,
        .data = chunk->data,
        .bytes = chunk->bytes,
        .lost = &lost,
        .capacity = 1,
        .scratch = malloc(text_rows_scratch_bytes(job)),
    };
    enum status status = STATUS_OK;

    for (size_t i = 0; i < job->value_count; i++)
        rows.keys[i] = &keys[i];
    if (!rows.scratch)
        status = status_fail(failure, STATUS_DATA, "no memory for finding kinds");
    while (status == STATUS_OK && text_rows_parse(&rows) != TEXT_END)
        continue;
    free(rows.scratch);
    return status;
}

/* Reads up to 64 KiB of a source. Rows that are longer, and files that cannot be read, end it. */
static enum status find_kinds_read(struct find_kinds *self, struct job *job, struct source *source,
                                   struct failure *failure)
{
    struct record_format format;
    struct chunk_buffer buffer = {
        .data = malloc(FIND_KINDS_BYTES),
        .capacity = FIND_KINDS_BYTES,
    };
    struct failure ignored;
    struct chunk chunk;
    enum status status = STATUS_OK;

    if (!buffer.data)
        return status_fail(failure, STATUS_DATA, "no memory for finding kinds");
    for (size_t i = 0; i < self->count; i++) {
        self->found[i].skips_null = row_scanners[job->row_scanner]->has_null;
        job->columns[i].find = &self->found[i];
    }
    options_make_format(self->options, job, &format);
    source_set_format(source, &format, false);
    source_join(source);
    while (status == STATUS_OK && buffer.capacity >= SOURCE_TEXT_CAPACITY_MIN) {
        if (source_pull(source, &buffer, &chunk, &ignored) != STATUS_OK || chunk.bytes == 0)
            break;
        buffer.capacity -= chunk.bytes;
        status = find_kinds_read_chunk(job, &chunk, failure);
    }
    free(buffer.data);
    return status;
}

/* How the values of -f are used. */
static enum kind_find_use find_kinds_use(const struct options *options)
{
    const struct reductions *reductions = &options->reductions;
    bool is_counted = options->command->operation == OPERATION_REDUCE;

    for (unsigned i = 0; i < reductions->count; i++) {
        const enum reduction_id id = reductions->list[i].id;
        is_counted = is_counted && (id == REDUCTION_COUNT || id == REDUCTION_DISTINCT);
    }
    return is_counted || options->command->operation == OPERATION_UNIQ ? KIND_FIND_KEYS
                                                                       : KIND_FIND_NUMBERS;
}

/*
 * The digits of a typed number behind its point; -1: it is no number in that form, or -2: one that
 * as a number would lose what was typed, such as 01234.
 */
static int find_kinds_decimals(const char *item, size_t bytes)
{
    const size_t sign = bytes > 0 && (*item == '-' || *item == '+');
    const char *point = memchr(item, '.', bytes);
    size_t digits = 0;

    for (size_t i = sign; i < bytes; i++) {
        digits += item[i] >= '0' && item[i] <= '9';
        if ((item[i] < '0' || item[i] > '9') && item + i != point)
            return -1;
    }
    if (digits == 0)
        return -1;
    if (*item == '+' || (bytes - sign > 1 && item[sign] == '0' && item[sign + 1] != '.'))
        return -2;
    return point ? (int)(item + bytes - point) - 1 : 0;
}

/*
 * The kind of a condition, from that of its column and from what it is compared with: a number
 * compares exactly, of any number of decimals.
 */
static enum status find_kinds_compare(const struct options_condition *condition,
                                      const struct kind_find *found, char kind[KIND_FIND_SIZE],
                                      struct failure *failure)
{
    const bool is_list = condition->relation == PREDICATE_EQ || condition->relation == PREDICATE_NE;
    const bool is_of_numbers = found->numbers == found->values;
    struct lists_items items = {.list = NULL};
    int most = 0;
    bool is_written = false; /* a number would lose how it is written */

    kind_find_choose(found, KIND_FIND_COMPARISON, kind);
    if (condition->relation == PREDICATE_BEGINS || condition->relation == PREDICATE_CONTAINS) {
        strcpy(kind, "text");
        return STATUS_OK;
    }
    if (strcmp(kind, "text") == 0 && !is_list)
        return status_fail(
            failure, STATUS_USAGE,
            "--where '%s' compares texts: add a kind, such as COLUMN:text, COLUMN:ms "
            "or COLUMN:bytes",
            condition->typed);
    if (lists_is_file(condition->value) || !is_of_numbers)
        return STATUS_OK;
    const enum status status = lists_read_items(condition->value, "where", &items, failure);
    for (size_t i = 0; status == STATUS_OK && i < items.count && most >= 0; i++) {
        const int decimals = find_kinds_decimals(items.list[i].data, items.list[i].bytes);
        is_written = is_written || decimals == -2;
        most = decimals == -1 ? -1 : decimals > most ? decimals : most;
    }
    lists_destroy_items(&items);
    if (status != STATUS_OK)
        return status;
    if (most >= 0 && is_written && is_list)
        strcpy(kind, "text");
    else if (most > 0 && most <= TEXT_DECIMALS_MAX && (unsigned)most > found->decimals)
        snprintf(kind, KIND_FIND_SIZE, ".%d", most);
    return STATUS_OK;
}

/* Chooses the kinds from what was found. */
static enum status find_kinds_choose(struct find_kinds *self, bool *is_any, struct failure *failure)
{
    const struct options *options = self->options;
    const struct options_columns *where = &options->where;

    for (size_t i = 0; i < self->count; i++) {
        const struct options_column *column = self->columns[i];
        char *kind = self->kinds[i];
        const bool is_condition = column >= where->list && column < where->list + where->count;
        const bool is_group =
            column >= options->by.list && column < options->by.list + options->by.count;
        const char *wrong = NULL;
        if (is_condition) {
            if (find_kinds_compare(&options->conditions[column - where->list], &self->found[i],
                                   kind, failure) != STATUS_OK)
                return failure->status;
        } else {
            wrong = kind_find_choose(&self->found[i],
                                     is_group ? KIND_FIND_KEYS : find_kinds_use(options), kind);
        }
        if (wrong) {
            const char *time = strstr(kind, "time");
            return status_fail(failure, STATUS_USAGE,
                               "the values of '%s' %s: try '%s:%s' or '%s:%s%s'", column->where,
                               wrong, column->where, time ? time : kind, column->where,
                               time ? "local" : "text", time ? time : "");
        }
        *is_any = *is_any || *kind != '\0';
    }
    return STATUS_OK;
}

enum status find_kinds(const struct options *options, const struct source_options *reading,
                       struct source **source, struct options_found *found, bool *is_any,
                       struct failure *failure)
{
    struct find_kinds *self = calloc(1, sizeof *self);
    struct job job = {.predicates = NULL};
    const bool is_repeated = source_sizes(*source).files != SOURCE_SIZE_UNKNOWN;
    struct source_options of_copy = *reading;
    struct source *copied = NULL;
    char name[32];
    char *names[] = {name};
    int copy = -1;

    *is_any = false;
    if (!self)
        return status_fail(failure, STATUS_DATA, "no memory for finding kinds");
    self->options = options;
    options_make_probe(options, &self->probe);
    find_kinds_add(self, &options->field, found->field);
    find_kinds_add(self, &options->by, found->by);
    find_kinds_add(self, &options->where, found->where);
    self->probe.field.count = self->count;
    enum status status = options_make(&self->probe, true, false, NULL, &job, failure);
    if (status == STATUS_OK && !is_repeated) {
        status = source_copy_first(*source, &copy, failure);
        of_copy.kinds = 0;
        snprintf(name, sizeof name, "/proc/self/fd/%d", copy);
        if (status == STATUS_OK)
            status = source_open(&copied, names, 1, &of_copy, failure);
    }
    if (status == STATUS_OK)
        status = find_kinds_read(self, &job, is_repeated ? *source : copied, failure);
    if (status == STATUS_OK && is_repeated)
        status = source_repeat(source, failure);
    source_close(copied);
    if (copy >= 0)
        close(copy);
    job_destroy(&job);
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
        const char (*kinds)[KIND_FIND_SIZE];
    } uses[] = {{"-f", &options->field, found->field},
                {"--by", &options->by, found->by},
                {"--where", &options->where, found->where}};

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        for (size_t k = 0; k < uses[i].columns->count; k++) {
            if (uses[i].columns->list[k].is_open && *uses[i].kinds[k])
                status_print("%s: %s %s:%s", before, uses[i].option, uses[i].columns->list[k].where,
                             uses[i].kinds[k]);
        }
    }
}
