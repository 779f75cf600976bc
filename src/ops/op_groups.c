/*
 * Operations with --by. A CPU thread adds values to the rows of their groups.
 *
 * The numbers of its states are, for each row of the table in ascending order, its count, plus 1 if
 * values may have counts of 0 (job_keeps_zeros), else 2^64 if it is 0, how many words of its key
 * are those of the row before, the others of its key, and the words after the count (groups.h). A 0
 * is the end.
 */
#include "config.h"

#include "base/decimal.h"
#include "count/groups.h"
#include "count/growing_histogram.h"
#include "count/range_histogram.h"
#include "count/reduce.h"
#include "cpu/cpu_keys.h"
#include "engine/outside.h"
#include "ops/stores.h"
#include "output/writer.h"
#include "partial/state.h"
#include "print/print_heat.h"
#include "print/print_rows.h"
#include "print/print_values.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* The most columns of groups. */
#define OP_GROUPS_MAX 8

/* A count of 0 in a state. */
#define OP_GROUPS_ZERO ((unsigned __int128)1 << 64)

/* The most words of a key. */
#define OP_GROUPS_WORDS (2 * (OP_GROUPS_MAX + 1))

struct op_groups_local {
    const struct groups *groups;
    struct table_writer *writer;
};

static enum status op_groups_open(void *local, const struct job *job, void *partial,
                                  struct failure *failure)
{
    struct op_groups_local *self = local;
    (void)job;

    self->groups = partial;
    return table_writer_open(self->groups->table, &self->writer, failure);
}

static enum status op_groups_absorb(void *local, const struct chunk *chunk, struct failure *failure)
{
    struct op_groups_local *self = local;
    const struct groups *groups = self->groups;
    const struct job *job = groups->job;
    const struct element *element = &job->element;
    const bool is_counted = groups_are_counted(job);
    const size_t elements = chunk->bytes / element->bytes;
    const uint64_t *columns[TEXT_COLUMNS_MAX];
    uint64_t keys[TABLE_ABSORB_MAX * OP_GROUPS_WORDS];
    uint64_t values[TABLE_ABSORB_MAX];

    if (job->outside == OUTSIDE_ABORT && outside_check(job, chunk, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0, n; i < elements; i += n) {
        const char *block = (const char *)chunk->data + i * element->bytes;
        n = elements - i < TABLE_ABSORB_MAX ? elements - i : TABLE_ABSORB_MAX;
        for (size_t c = 0; c < job->group_count; c++)
            columns[c] =
                chunk->groups[c] + i * column_words(&job->columns[job_group_column(job) + c]);
        groups_make_keys(groups, columns, block, n, keys);
        if (!is_counted)
            cpu_keys_widen(element, block, n, values);
        if (table_writer_absorb(self->writer, keys, values,
                                chunk->weights ? chunk->weights + i : NULL, n,
                                failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status op_groups_merge(void *local, struct failure *failure)
{
    return table_writer_flush(((struct op_groups_local *)local)->writer, failure);
}

static void op_groups_close(void *local)
{
    table_writer_close(((struct op_groups_local *)local)->writer);
}

/*
 * Writes a word of a key: how far it is above the one before, in the order of keys, or if there is
 * none, its number without the flip, from 0 up alternating with -1 down.
 */
static void op_groups_save_word(struct state_writer *state, uint64_t word, const uint64_t *before,
                                uint64_t flip)
{
    const uint64_t number = word ^ flip;

    if (before)
        state_write_number(state, word - *before - 1);
    else
        state_write_number(state, flip == 0 ? number : number << 1 ^ (0 - (number >> 63)));
}

/* Reads a word, likewise. */
static enum status op_groups_load_word(struct state_reader *state, uint64_t *word,
                                       const uint64_t *before, uint64_t flip,
                                       struct failure *failure)
{
    uint64_t number;

    if (state_read_number(state, &number, failure) != STATUS_OK)
        return failure->status;
    if (before && number >= UINT64_MAX - *before)
        return state_fail_damaged(state, "it has a group that does not exist", failure);
    *word = before      ? *before + number + 1
            : flip == 0 ? number
                        : (number >> 1 ^ (0 - (number & 1))) ^ flip;
    return STATUS_OK;
}

/*
 * Writes the texts of the rows in ascending order: their bytes, eight to a number. Makes the array
 * of their numbers by their ranks, which the caller frees; the dictionary may have more texts, of
 * periods before (--window).
 */
static enum status op_groups_save_texts(struct state_writer *state, const struct groups *groups,
                                        uint32_t **numbers, struct failure *failure)
{
    const uint32_t count = dictionary_count(groups->job->context->dictionary);
    uint32_t *number = calloc((size_t)count + 1, sizeof *number);
    uint32_t used = 0;

    *numbers = number;
    if (!number)
        return status_fail(failure, STATUS_DATA, "no memory for texts");
    for (uint64_t i = 0; i < table_distinct(groups->table); i++) {
        const uint64_t *row = groups_row(groups, i, groups->buffer);
        for (size_t k = 0; k < groups->layout->count; k++) {
            if (groups->is_text[k])
                number[row[k]] = 1;
        }
    }
    for (uint32_t rank = 0; rank < count; rank++)
        used += number[rank];
    state_write_number(state, used);
    used = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        size_t bytes;
        if (number[rank] == 0)
            continue;
        number[rank] = used++;
        const char *text = groups_text(groups, rank, &bytes);
        state_write_number(state, bytes);
        for (size_t i = 0; i < bytes; i += 8) {
            uint64_t word = 0;
            memcpy(&word, text + i, bytes - i < 8 ? bytes - i : 8);
            state_write_number(state, htole64(word));
        }
    }
    return STATUS_OK;
}

/* Reads the texts, and makes the array of their numbers, which the caller frees. */
static enum status op_groups_load_texts(struct state_reader *state, struct dictionary *dictionary,
                                        uint32_t **ids, uint64_t *count, struct failure *failure)
{
    char *text = malloc(TEXT_BYTES_MAX + 8);
    struct dictionary_cache *cache = dictionary_cache_create(dictionary);
    enum status status = state_read_number(state, count, failure);

    *ids = NULL;
    if (status == STATUS_OK && (!text || !cache))
        status = status_fail(failure, STATUS_DATA, "no memory for texts");
    for (uint64_t i = 0; i < *count && status == STATUS_OK; i++) {
        uint64_t bytes;
        uint64_t word;
        if ((i & (i - 1)) == 0) { /* 0 or a power of 2: the array is full */
            uint32_t *grown = realloc(*ids, (i > 0 ? 2 * i : 1) * sizeof *grown);
            if (!grown) {
                status = status_fail(failure, STATUS_DATA, "no memory for texts");
                break;
            }
            *ids = grown;
        }
        status = state_read_number(state, &bytes, failure);
        if (status == STATUS_OK && bytes > TEXT_BYTES_MAX)
            status = state_fail_damaged(state, "it has a text that is too long", failure);
        for (size_t k = 0; k < bytes && status == STATUS_OK; k += 8) {
            status = state_read_number(state, &word, failure);
            word = le64toh(word);
            memcpy(text + k, &word, sizeof word);
        }
        if (status == STATUS_OK)
            status = dictionary_find(cache, text, bytes, &(*ids)[i], failure);
    }
    free(cache);
    free(text);
    return status;
}

static enum status op_groups_save(struct state_writer *state, const struct job *job,
                                  const void *partial, struct failure *failure)
{
    const struct groups *groups = partial;
    const struct accumulators *layout = groups->layout;
    uint64_t keys[2][OP_GROUPS_WORDS]; /* of the row, and of the one before */
    uint32_t *numbers = NULL;          /* of texts */

    state_write_number(state, table_total(groups->table));
    if (job_has_texts(job) && op_groups_save_texts(state, groups, &numbers, failure) != STATUS_OK)
        return failure->status;
    for (uint64_t i = 0; i < table_distinct(groups->table); i++) {
        const uint64_t *row = groups_row(groups, i, groups->buffer);
        const uint64_t *before = keys[(i + 1) % 2];
        uint64_t *key = keys[i % 2];
        size_t same = 0;
        for (size_t k = 0; k < layout->count; k++)
            key[k] = groups->is_text[k] ? numbers[row[k]] : row[k];
        while (i > 0 && key[same] == before[same])
            same++;
        const unsigned __int128 count = row[layout->count];
        state_write_number(state, job_keeps_zeros(job) ? count + 1
                                  : count == 0         ? OP_GROUPS_ZERO
                                                       : count);
        state_write_number(state, same);
        for (size_t k = same; k < layout->count; k++)
            op_groups_save_word(state, key[k], i > 0 && k == same ? &before[k] : NULL,
                                groups->flips[k]);
        for (size_t k = layout->first; k < layout->words; k++)
            state_write_number(state, row[k]);
    }
    free(numbers);
    state_write_number(state, 0);
    return groups_check(groups, failure);
}

/* Whether a row can be one of the job. */
static bool op_groups_is_possible(const struct groups *groups, const uint64_t *row)
{
    const struct job *job = groups->job;

    for (size_t i = 0; i < job->group_count; i++) {
        const struct element *element = &job->columns[job_group_column(job) + i].element;
        const __int128 value = groups_value(groups, row, i);
        if (!element_is_wide(element) &&
            (value < element_min(element) || value >= element_limit(element)))
            return false;
    }
    if (groups_are_counted(job))
        return groups_has_bin(groups, row);
    return accumulators_check(groups->layout, row);
}

static enum status op_groups_load(struct state_reader *state, const struct job *job, void *partial,
                                  uint64_t elements, struct failure *failure)
{
    struct groups *groups = partial;
    const struct accumulators *layout = groups->layout;
    uint64_t *row = calloc(2 * layout->words, sizeof *row);
    uint32_t *ids = NULL;
    uint64_t texts = 0;
    struct table_writer *writer = NULL;
    enum status status = row ? table_writer_open(groups->table, &writer, failure)
                             : status_fail(failure, STATUS_DATA, "no memory for a group");

    if (status == STATUS_OK && job_has_texts(job))
        status = op_groups_load_texts(state, job->context->dictionary, &ids, &texts, failure);
    for (bool is_first = true; status == STATUS_OK; is_first = false) {
        uint64_t *added = row + layout->words; /* the same with the numbers of texts */
        unsigned __int128 count;
        uint64_t same;
        status = state_read_number_128(state, &count, failure);
        if (status != STATUS_OK || count == 0)
            break;
        if (job_keeps_zeros(job))
            count--;
        else if (count == OP_GROUPS_ZERO && job->has_weights)
            count = 0;
        if (count > elements) {
            status = state_fail_damaged(state, "the counts exceed the number of elements", failure);
            break;
        }
        row[layout->count] = (uint64_t)count;
        elements -= (uint64_t)count;
        status = state_read_number(state, &same, failure);
        if (status == STATUS_OK && (same >= layout->count || (is_first && same > 0)))
            status = state_fail_damaged(state, "it has a group that does not exist", failure);
        for (size_t k = same; k < layout->count && status == STATUS_OK; k++) {
            const uint64_t before = row[k];
            status = op_groups_load_word(state, &row[k], !is_first && k == same ? &before : NULL,
                                         groups->flips[k], failure);
            if (status == STATUS_OK && groups->is_text[k] && row[k] >= texts)
                status = state_fail_damaged(state, "it has a text that does not exist", failure);
        }
        for (size_t k = layout->first; k < layout->words && status == STATUS_OK; k++)
            status = state_read_number(state, &row[k], failure);
        if (status == STATUS_OK && !op_groups_is_possible(groups, row))
            status =
                state_fail_damaged(state, "the values of a group contradict each other", failure);
        if (status != STATUS_OK)
            break;
        for (size_t k = 0; k < layout->words; k++)
            added[k] = k < layout->count && groups->is_text[k] ? ids[row[k]] : row[k];
        status = table_writer_add_rows(writer, added, 1, failure);
    }
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    free(ids);
    free(row);
    if (status == STATUS_OK && elements > 0)
        status = state_fail_damaged(state, "not all was counted", failure);
    return status;
}

/* The groups, and for each part that a thread prints memory for their rows. */
struct op_groups_values {
    const struct groups *groups;
    size_t words;   /* of a row of the table, and one of accumulators */
    uint64_t *rows; /* [parts * words] */
};

/* Finds what is printed of a group. */
static void op_groups_find(const struct print_values *values, size_t group,
                           struct print_found *found)
{
    const struct op_groups_values *self = values->partial;
    const struct groups *groups = self->groups;
    const struct accumulators *accumulators = groups->accumulators;
    uint64_t *buffer = self->rows + group / PRINT_VALUES_PART * self->words;
    uint64_t *row = buffer + groups->layout->words;

    found->accumulators = accumulators;
    found->row = accumulators->initial;
    if (group == groups->count) /* nothing was counted, and there are no columns of groups */
        return;
    found->group = found->row = groups_first_row(groups, group, buffer);
    if (groups_are_counted(values->job)) {
        struct rows rows;
        groups_rows_begin(&rows, groups, group, false);
        memcpy(row, accumulators->initial, accumulators->words * sizeof *row);
        if (accumulators->uses > 0)
            reduce_add_rows(accumulators, row, rows);
        else
            row[accumulators->count] = rows.inside;
        reduce_find(values->job, rows, rows.inside, found->found);
        found->row = row;
    }
}

/* Writes the values of the columns of a row's group as fields of a line, and what is between. */
static void op_groups_write_columns(const struct groups *groups, const uint64_t *row,
                                    const struct print_prefixes *prefixes,
                                    const struct print_format *format, struct writer *writer)
{
    const struct job *job = groups->job;
    char value[ELEMENT_TEXT_SIZE];
    size_t bytes;

    for (size_t i = 0; i < job->group_count; i++) {
        const struct element *element = &job->columns[job_group_column(job) + i].element;
        if (format->has_names)
            print_write_group_member(writer, job, prefixes, i);
        if (element_is_text(element)) {
            const char *text = groups_text(groups, row[groups->words[i]], &bytes);
            print_write_text(writer, text, bytes, format);
        } else {
            bytes =
                (format->has_names ? element_write_json
                                   : element_write)(value, element, groups_value(groups, row, i));
            writer_write(writer, value, bytes);
        }
        print_write_word(writer, format, PRINT_WORD_NEXT);
    }
}

static void op_groups_write_group(const struct print_values *values,
                                  const struct print_found *found, struct writer *writer)
{
    const struct op_groups_values *self = values->partial;

    op_groups_write_columns(self->groups, found->group, &values->prefixes, values->format, writer);
}

/* Prints the groups of reduce and count, or without --by what is found of all values. */
static enum status op_groups_print_values(struct writer *writer, const struct groups *groups,
                                          const struct print_options *options,
                                          struct failure *failure)
{
    const struct job *job = groups->job;
    const size_t parts = groups->count / PRINT_VALUES_PART + 1;
    const size_t words = groups->layout->words + groups->accumulators->words;
    struct op_groups_values self = {groups, words, calloc(parts, words * sizeof *self.rows)};
    const struct print_values values = {
        .job = job,
        .partial = &self,
        .options = options,
        .groups = job->group_count > 0 ? groups->count : 1,
        .find = op_groups_find,
        .write_group = job->group_count > 0 ? op_groups_write_group : NULL,
    };

    if (!self.rows)
        return status_fail(failure, STATUS_DATA, "no memory for printing groups");
    print_values(writer, &values);
    free(self.rows);
    return groups_check(groups, failure);
}

/*
 * Makes the automatic histogram of the values of groups `first` to `last`, and begins its rows, of
 * that width. The caller destroys it, also after a failure; then it may be NULL.
 */
static enum status op_groups_make_automatic(const struct groups *groups, uint64_t first,
                                            uint64_t last, const struct print_options *options,
                                            struct rows *rows, uint64_t *width,
                                            struct growing_histogram **automatic,
                                            struct failure *failure)
{
    const struct job *job = groups->job;
    struct rows_row batch[ROWS_BATCH];
    uint64_t keys[ROWS_BATCH];
    uint64_t counts[ROWS_BATCH];
    uint64_t elements = 0;
    size_t n;

    *automatic = growing_histogram_create(job, failure);
    if (!*automatic)
        return failure->status;
    for (uint64_t g = first; g <= last; g++) {
        groups_rows_begin(rows, groups, g, false);
        elements += rows->inside;
        while ((n = rows_read(rows, batch, ROWS_BATCH)) > 0) {
            for (size_t i = 0; i < n; i++) {
                keys[i] = (uint64_t)batch[i].low;
                counts[i] = batch[i].count;
            }
            if (growing_histogram_add(*automatic, keys, counts, n, failure) != STATUS_OK)
                return failure->status;
        }
    }
    if (growing_histogram_finalize(*automatic, job, elements, failure) != STATUS_OK)
        return failure->status;
    *width = op_automatic_begin_rows(rows, job, *automatic, options);
    return STATUS_OK;
}

/* Prints the groups of histogram and uniq, each with its values in front of its lines. */
static enum status op_groups_print_rows(struct writer *writer, const struct groups *groups,
                                        const struct print_options *options,
                                        struct failure *failure)
{
    const struct job *job = groups->job;
    const struct print_format *format = print_groups_format(options, job);
    const bool has_groups = job->group_count > 0;
    const struct print_result result = {.options = options,
                                        .format = format,
                                        .job = job,
                                        .list = "groups",
                                        .is_unit = groups_are_unit(job) && !job->is_automatic &&
                                                   job->range_bins == 0,
                                        .column = print_rows_column};
    struct print_options own = *options;
    struct writer *prefix = writer_create_memory(ELEMENT_TEXT_SIZE);
    struct print_prefixes prefixes;
    uint64_t buffer[TEXT_COLUMNS_MAX + 2];
    uint64_t width; /* of automatic bins */
    enum status status = STATUS_OK;

    if (!prefix)
        return status_fail(failure, STATUS_DATA, "no memory for printing groups");
    print_find_prefixes(&prefixes, job, format, NULL);
    if (has_groups)
        print_begin(writer, &result);
    own.format = format;
    for (uint64_t g = 0; g < (has_groups ? groups->count : 1) && status == STATUS_OK; g++) {
        struct growing_histogram *automatic = NULL;
        struct range_histogram range = {.histogram = NULL};
        struct rows values;
        struct rows rows;
        writer_restart(prefix);
        if (format->has_names && !format->is_document)
            writer_write_text(prefix, print_object_begin(options));
        if (has_groups)
            op_groups_write_columns(groups, groups_first_row(groups, g, buffer), &prefixes, format,
                                    prefix);
        const char *group = writer_memory(prefix, &own.group_bytes);
        if (!group)
            status = status_fail(failure, STATUS_DATA, "no memory for printing groups");
        own.group = has_groups ? group : NULL;
        own.is_next_group = g > 0;
        if (status == STATUS_OK && job->is_automatic)
            status =
                op_groups_make_automatic(groups, g, g, &own, &rows, &width, &automatic, failure);
        else
            groups_rows_begin(&rows, groups, g, options->zeros);
        if (status == STATUS_OK && job->range_bins > 0) {
            groups_rows_begin(&values, groups, g, false);
            status = range_histogram_create(&range, job, &values, failure);
            range_histogram_rows_begin(&rows, &range, &values, options->zeros);
        }
        if (status == STATUS_OK)
            status = print_rows(writer, &rows, &own, failure);
        growing_histogram_destroy(automatic);
        range_histogram_destroy(&range);
    }
    writer_discard(prefix);
    if (has_groups)
        print_end(writer, &result);
    return status == STATUS_OK ? groups_check(groups, failure) : status;
}

/* Prints a heat map. Automatic bins, and a range, are those of the values of all groups. */
static enum status op_groups_print_heat(struct writer *writer, const struct groups *groups,
                                        const struct print_options *options,
                                        struct failure *failure)
{
    const struct job *job = groups->job;
    struct growing_histogram *automatic = NULL;
    uint64_t width = job->bin_width;
    enum status status = STATUS_OK;
    struct job ranged = *job;
    struct rows rows;
    __int128 low;
    __int128 last;
    __int128 ends[2] = {0, 0}; /* of all groups */

    for (uint64_t g = 0; job->range_bins > 0 && g < groups->count; g++) {
        groups_rows_begin(&rows, groups, g, false);
        if (!range_histogram_find_ends(rows, &low, &last))
            continue; /* it could not be read */
        ends[0] = g == 0 || low < ends[0] ? low : ends[0];
        ends[1] = g == 0 || last > ends[1] ? last : ends[1];
    }
    if (job->range_bins > 0 && groups->count > 0)
        status = range_histogram_make_job(&ranged, job, ends[0], ends[1], failure);
    if (job->is_automatic && groups->count > 0)
        status = op_groups_make_automatic(groups, 0, groups->count - 1, options, &rows, &width,
                                          &automatic, failure);
    if (status == STATUS_OK)
        status = print_heat(writer, groups, &ranged, width, options, failure);
    growing_histogram_destroy(automatic);
    return status == STATUS_OK ? groups_check(groups, failure) : status;
}

static enum status op_groups_print(struct writer *writer, const struct job *job,
                                   const void *partial, const struct print_options *options,
                                   struct failure *failure)
{
    if (job->operation == OPERATION_REDUCE || job->operation == OPERATION_COUNT)
        return op_groups_print_values(writer, partial, options, failure);
    if (print_groups_format(options, job)->heat)
        return op_groups_print_heat(writer, partial, options, failure);
    return op_groups_print_rows(writer, partial, options, failure);
}

static void op_groups_report(const struct job *job, const void *partial)
{
    const struct groups *groups = partial;
    uint64_t inside = 0;
    uint64_t below = 0;
    uint64_t above = 0;

    if (job->operation != OPERATION_HISTOGRAM || job->outside != OUTSIDE_REPORT)
        return;
    for (uint64_t g = 0; groups->starts && g < groups->count; g++) {
        struct rows rows;
        groups_rows_begin(&rows, groups, g, false);
        inside += rows.inside;
        below += rows.below;
        above += rows.above;
    }
    op_histogram_report_outside(job, inside, below, above);
}

/* Json has no way to write bytes that are not UTF-8. */
static void op_groups_note(const struct job *job, const void *partial,
                           const struct print_options *options)
{
    const struct groups *groups = partial;
    const uint32_t texts = job_has_texts(job) ? dictionary_count(job->context->dictionary) : 0;
    unsigned others = 0;

    if (!options->format || !options->format->has_names)
        return;
    for (uint32_t rank = 0; rank < texts; rank++) {
        size_t bytes;
        const char *text = groups_text(groups, rank, &bytes);
        others += !print_text_is_utf8(text, bytes);
    }
    if (others > 0)
        status_print("note: %u text%s not UTF-8: %s has U+FFFD for these bytes (tsv and csv have "
                     "them as they are)",
                     others, others == 1 ? " is" : "s are", options->format->name);
}

static enum status op_groups_check_result(const struct job *job, const void *partial,
                                          struct failure *failure)
{
    const struct groups *groups = partial;

    return job_check_values(job, groups->count > 0 || job->group_count > 0, failure);
}

static struct store_size op_groups_size(const void *partial)
{
    const struct groups *groups = partial;
    return (struct store_size){.rows = table_rows_about(groups->table)};
}

const struct store op_groups = {
    .create = groups_create,
    .finalize = groups_finalize,
    .destroy = groups_destroy,
    .size = op_groups_size,
    .local_bytes = sizeof(struct op_groups_local),
    .local_open = op_groups_open,
    .local_absorb = op_groups_absorb,
    .local_merge = op_groups_merge,
    .local_close = op_groups_close,
    .save = op_groups_save,
    .load = op_groups_load,
    .print = op_groups_print,
    .note = op_groups_note,
    .report = op_groups_report,
    .check_result = op_groups_check_result,
};
