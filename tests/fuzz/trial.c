#include "config.h"

#include "trial.h"

#include "lib/decimal.h"

#include <stdlib.h>
#include <string.h>

const char *trial_relation_name(enum predicate_relation relation)
{
    static const char *const names[] = {
#define TRIAL_NAME(id, label, name, ...) [PREDICATE_##id] = name,
        PREDICATE_RELATIONS(TRIAL_NAME)
#undef TRIAL_NAME
    };
    return names[relation];
}

/* The remaining bytes. */
struct trial_bytes {
    const uint8_t *next;
    size_t count;
};

/* Returns the next byte; 0 after the end. */
static uint8_t trial_byte(struct trial_bytes *from)
{
    if (from->count == 0)
        return 0;
    from->count--;
    return *from->next++;
}

/* Reads an integer from -2^63 to 2^64 - 1: a small one from a byte, others from 2, 4 or 8 more. */
static __int128 trial_number(struct trial_bytes *from)
{
    uint8_t first = trial_byte(from);
    unsigned bytes = first < 0xf0 ? 0 : first < 0xf4 ? 2 : first < 0xf8 ? 4 : 8;
    uint64_t word = 0;

    if (bytes == 0)
        return (__int128)first - '0';
    for (unsigned i = 0; i < bytes; i++)
        word |= (uint64_t)trial_byte(from) << 8 * i;
    if (first & 1)
        return -(__int128)(word >> 1) - 1;
    return (__int128)word;
}

/* Reads an integer of at least 1. */
static uint64_t trial_positive(struct trial_bytes *from)
{
    __int128 number = trial_number(from);
    return number > 0 ? (uint64_t)number : 1;
}

/* Returns whether empty bins can be printed: there are not too many. */
static bool trial_takes_zeros(const struct trial *trial)
{
    switch (trial->bins) {
    case TRIAL_BINS:
    case TRIAL_BINS_RANGE:
        return trial->bin_count <= 1000;
    case TRIAL_WIDTH:
    case TRIAL_WIDTH_RANGE:
        return false;
    default:
        return true;
    }
}

static void trial_read_bins(struct trial *trial, struct trial_bytes *from)
{
    uint8_t flags = trial_byte(from);

    trial->bins = (enum trial_bins)(trial_byte(from) % TRIAL_BINNINGS);
    trial->outside = (enum outside_policy)(flags & 3);
    trial->low = trial_number(from);
    trial->high = trial_number(from);
    trial->width = trial_positive(from);
    trial->bin_count = trial_positive(from) & 0xfffff;
    trial->zeros = flags & 4 && trial_takes_zeros(trial);
    trial->edge_count = trial_byte(from) % (TRIAL_EDGES_MAX + 1);
    for (size_t i = 0; i < trial->edge_count; i++)
        trial->edges[i] = trial_number(from);
}

static const struct reduction trial_reductions[] = {
    {.id = REDUCTION_COUNT, .name = "count"}, {.id = REDUCTION_SUM, .name = "sum"},
    {.id = REDUCTION_MIN, .name = "min"},     {.id = REDUCTION_MAX, .name = "max"},
    {.id = REDUCTION_AND, .name = "and"},     {.id = REDUCTION_OR, .name = "or"},
    {.id = REDUCTION_XOR, .name = "xor"},
};

/* Reductions that need a table. */
static const struct reduction trial_tables[] = {
    {.id = REDUCTION_DISTINCT, .name = "distinct"},
    {.id = REDUCTION_MODE, .name = "mode"},
    {.id = REDUCTION_MEDIAN, .name = "median", .percentage = {50, 0}},
    {.id = REDUCTION_QUANTILE, .name = "p0", .percentage = {0, 0}},
    {.id = REDUCTION_QUANTILE, .name = "p12.5", .percentage = {125, 1}},
    {.id = REDUCTION_QUANTILE, .name = "p99.90", .percentage = {9990, 2}},
    {.id = REDUCTION_QUANTILE, .name = "p100", .percentage = {100, 0}},
};

/* Reads reductions, each at most once, in an order given by the bytes. */
static void trial_read_reductions(struct trial *trial, struct trial_bytes *from)
{
    enum { TRIAL_REDUCTIONS = sizeof trial_reductions / sizeof *trial_reductions };
    _Static_assert(TRIAL_REDUCTIONS == sizeof trial_tables / sizeof *trial_tables &&
                       TRIAL_REDUCTIONS < 8,
                   "a bit for each, and 0x80 for the second byte");
    uint8_t chosen = trial_byte(from) | 1;
    uint8_t first = trial_byte(from);
    uint8_t tables = chosen & 0x80 && !trial_has_groups(trial) ? trial_byte(from) : 0;
    struct reduction *list = trial->reductions.list;

    for (size_t i = 0; i < TRIAL_REDUCTIONS; i++) {
        if (chosen >> i & 1)
            list[trial->reductions.count++] = trial_reductions[(first + i) % TRIAL_REDUCTIONS];
        if (tables >> i & 1)
            list[trial->reductions.count++] = trial_tables[(first + i) % TRIAL_REDUCTIONS];
    }
}

static void trial_read_predicates(struct trial *trial, struct trial_bytes *from)
{
    trial->predicate_count = 1 + trial_byte(from) % TRIAL_PREDICATES_MAX;
    for (size_t i = 0; i < trial->predicate_count; i++) {
        struct trial_predicate *predicate = &trial->predicates[i];
        uint8_t kind = trial_byte(from);
        predicate->relation = (enum predicate_relation)(kind % (PREDICATE_ALL + 1));
        predicate->count = predicate->relation == PREDICATE_ALL      ? 0
                           : predicate->relation == PREDICATE_IN     ? 2
                           : predicate->relation == PREDICATE_ANY_OF ? kind / 16 % TRIAL_EDGES_MAX
                                                                     : 1;
        for (size_t j = 0; j < predicate->count; j++)
            predicate->values[j] = trial_number(from);
    }
}

static void trial_make_uniq(struct trial *trial, uint8_t kind)
{
    trial->operation = OPERATION_UNIQ;
    trial->is_raw = kind & 64;
    trial->top = trial->is_raw ? 0 : kind >> 7 ? 1 + kind / 4 % 8 : 0;
}

static void trial_read_operation(struct trial *trial, struct trial_bytes *from)
{
    static const enum operation_id operations[] = {OPERATION_HISTOGRAM, OPERATION_REDUCE,
                                                   OPERATION_COUNT, OPERATION_STALIN_SORT};
    uint8_t kind = trial_byte(from);

    trial->operation = operations[kind % 4];
    switch (trial->operation) {
    case OPERATION_REDUCE:
        trial_read_reductions(trial, from);
        break;
    case OPERATION_COUNT:
        trial_read_predicates(trial, from);
        break;
    case OPERATION_STALIN_SORT:
        trial->rules.strict = kind & 4;
        trial->rules.descending = kind & 8;
        trial->rules.purged = kind & 16;
        trial->text.more[0] = 0; /* it supports neither weights nor groups */
        trial->second_name = NULL;
        break;
    default:
        if (kind & 32)
            trial_make_uniq(trial, kind);
        else
            trial_read_bins(trial, from);
    }
}

/* Reads which fields have names, and the names. */
static void trial_read_names(struct trial *trial, struct trial_bytes *from)
{
    static const char *const names[] = {"a", "b", "id", "ms", "a b", "a,b", "q\"q", "-"};
    uint8_t chosen = trial_byte(from);

    if (chosen & 1) {
        trial->field_name = names[chosen >> 1 & 7];
        trial->text.field = 1;
    }
    if (chosen & 16 && trial->text.more[0] != 0) {
        trial->second_name = names[chosen >> 5];
        trial->text.more[0] = 1;
    }
    if (trial->header_lines == 0 && (trial->field_name || trial->second_name))
        trial->header_lines = 1;
}

static void trial_read_element(struct trial *trial, struct trial_bytes *from)
{
#define TRIAL_TYPE(id, name, ctype) #name "le", #name "be",
    static const char *const types[] = {ELEMENT_TYPES(TRIAL_TYPE)};
#undef TRIAL_TYPE
    uint8_t kind = trial_byte(from);

    trial->is_text = kind & 16;
    element_parse(types[kind % 16], &trial->element);
    if (!trial->is_text)
        return;
    uint8_t rules = trial_byte(from);
    trial->element.swapped = false;
    trial->text.field = (rules & 7) - 3;
    trial->text.delimiter = rules & 8 ? ",;\t "[rules >> 4 & 3] : TEXT_NO_DELIMITER;
    trial->invalid = (enum invalid_policy)(rules >> 6);
    uint8_t header = trial_byte(from);
    trial->header_lines = header % 4;
    trial->text.is_quoted = header & 128 && trial->text.delimiter != TEXT_NO_DELIMITER;
    trial->text.more[0] = header & 64 && trial->text.field != 0 ? (header >> 2 & 7) - 3 : 0;
    if (header & 32)
        trial_read_names(trial, from);
}

/* Repeats the rest of the bytes as requested. */
static void trial_read_data(struct trial *trial, struct trial_bytes *from, size_t repeats)
{
    size_t most = from->count > 0 ? TRIAL_DATA_MAX / from->count : 0;
    size_t times = repeats < most ? repeats : most;

    trial->bytes = times * from->count;
    trial->data = malloc(trial->bytes + 1);
    if (!trial->data)
        abort();
    for (size_t i = 0; i < times; i++)
        memcpy(trial->data + i * from->count, from->next, from->count);
}

void trial_read(struct trial *trial, const uint8_t *bytes, size_t count)
{
    struct trial_bytes from = {.next = bytes, .count = count};

    *trial = (struct trial){.text = {.delimiter = TEXT_NO_DELIMITER}};
    trial_read_element(trial, &from);
    trial_read_operation(trial, &from);
    uint8_t way = trial_byte(&from);
    size_t repeats = (size_t)1 << (trial_byte(&from) & 15);
    trial->way = (enum trial_way)(way % TRIAL_WAYS);
    trial->threads = 1 + way / TRIAL_WAYS % 4;
    trial->chunk_bytes = 8 + (size_t)(trial_positive(&from) & 0xffff);
    trial->frame_bytes = 1 + (size_t)(trial_positive(&from) & 0xffff);
    size_t split = (size_t)trial_positive(&from);
    trial_read_data(trial, &from, repeats);
    trial->split = way & 64 && split < trial->bytes ? split : trial->bytes;
    if (trial->frame_bytes < trial->bytes / 32) /* frames take time */
        trial->frame_bytes = trial->bytes / 32;
}

void trial_destroy(struct trial *trial)
{
    free(trial->data);
}

void trial_print_number(FILE *out, __int128 number)
{
    char text[DECIMAL_SIZE];

    decimal_format_fixed(text, number, 0);
    fputs(text, out);
}

/* --- the command line ----------------------------------------------------------------------------
 */

/* Ends a word. */
static void trial_end_word(FILE *out)
{
    fputc('\0', out);
}

static void trial_write_list(FILE *out, const __int128 *numbers, size_t count, char separator)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fputc(separator, out);
        trial_print_number(out, numbers[i]);
    }
    trial_end_word(out);
}

static void trial_write_bins(const struct trial *trial, FILE *out)
{
    static const char *const outside[] = {"report", "abort", "clamp", "ignore"};
    const enum trial_bins bins = trial->bins;
    const __int128 range[] = {trial->low, trial->high};

    fprintf(out, "--outside=%s%c", outside[trial->outside], 0);
    if (trial->zeros)
        fprintf(out, "--zeros%c", 0);
    if (bins == TRIAL_BINS || bins == TRIAL_BINS_RANGE)
        fprintf(out, "--bins=%llu%c", (unsigned long long)trial->bin_count, 0);
    if (bins == TRIAL_WIDTH || bins == TRIAL_WIDTH_RANGE)
        fprintf(out, "--width=%llu%c", (unsigned long long)trial->width, 0);
    if (bins == TRIAL_BINS_RANGE || bins == TRIAL_WIDTH_RANGE || bins == TRIAL_RANGE) {
        fprintf(out, "--range=");
        trial_write_list(out, range, 2, ':');
    }
    if (bins == TRIAL_LOG2 || bins == TRIAL_LOG10)
        fprintf(out, "--%s%c", bins == TRIAL_LOG2 ? "log2" : "log10", 0);
    if (bins == TRIAL_EDGES) {
        fprintf(out, "--edges=");
        trial_write_list(out, trial->edges, trial->edge_count, ',');
    }
}

static void trial_write_predicates(const struct trial *trial, FILE *out)
{
    for (size_t i = 0; i < trial->predicate_count; i++) {
        const struct trial_predicate *predicate = &trial->predicates[i];
        const char separator = predicate->relation == PREDICATE_IN ? ':' : ',';
        fprintf(out, "--%s", trial_relation_name(predicate->relation));
        if (predicate->relation != PREDICATE_ALL)
            fputc('=', out);
        trial_write_list(out, predicate->values, predicate->count, separator);
    }
}

static void trial_write_operation(const struct trial *trial, FILE *out)
{
    switch (trial->operation) {
    case OPERATION_REDUCE:
        fprintf(out, "reduce%c", 0);
        for (unsigned i = 0; i < trial->reductions.count; i++)
            fprintf(out, "%s%s", i > 0 ? "," : "", trial->reductions.list[i].name);
        trial_end_word(out);
        break;
    case OPERATION_COUNT:
        fprintf(out, "count%c", 0);
        trial_write_predicates(trial, out);
        break;
    case OPERATION_STALIN_SORT:
        fprintf(out, "stalin-sort%c", 0);
        if (trial->rules.strict)
            fprintf(out, "--strict%c", 0);
        if (trial->rules.descending)
            fprintf(out, "--descending%c", 0);
        break;
    case OPERATION_UNIQ:
        fprintf(out, "uniq%c", 0);
        if (trial->is_raw)
            fprintf(out, "--format=raw%c", 0);
        if (trial->top > 0)
            fprintf(out, "--top=%u%c", trial->top, 0);
        break;
    default:
        fprintf(out, "histogram%c", 0);
        trial_write_bins(trial, out);
    }
}

/* Writes an option of a column: the name of the field, or its number; 0: nothing. */
static void trial_write_field(FILE *out, const char *option, const char *name, int32_t field)
{
    if (name && strchr(name, ','))
        fprintf(out, "--%s=\"%s\"%c", option, name, 0);
    else if (name)
        fprintf(out, "--%s=%s%c", option, name, 0);
    else if (field != 0)
        fprintf(out, "--%s=%d%c", option, (int)field, 0);
}

static void trial_write_input(const struct trial *trial, FILE *out)
{
    static const char *const invalid[] = {"abort", "fail", "warn", "ignore"};

    fprintf(out, "--type=%s%s%c", trial->element.name, trial->element.swapped ? "be" : "", 0);
    if (trial->is_text) {
        fprintf(out, "--text%c--invalid=%s%c", 0, invalid[trial->invalid], 0);
        if (trial->header_lines != 1 || !trial->field_name) /* a name implies one */
            fprintf(out, "--header=%u%c", (unsigned)trial->header_lines, 0);
        trial_write_field(out, "field", trial->field_name, trial->text.field);
        if (trial->text.more[0] != 0)
            trial_write_field(out, trial_has_groups(trial) ? "by" : "weight", trial->second_name,
                              trial->text.more[0]);
        if (trial->text.delimiter != TEXT_NO_DELIMITER)
            fprintf(out, "--delimiter=%c%c", trial->text.delimiter, 0);
        if (trial->text.is_quoted)
            fprintf(out, "--csv%c", 0);
    } else {
        fprintf(out, "--binary%c", 0);
    }
    if (trial->way == TRIAL_FILE || trial->way == TRIAL_PIPE)
        fprintf(out, "--decompress=none%c", 0);
}

void trial_write_words(const struct trial *trial, char *words[TRIAL_WORDS_MAX], size_t *count,
                       char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");

    if (!out)
        abort();
    fprintf(out, "gpuhist%c", 0);
    trial_write_operation(trial, out);
    trial_write_input(trial, out);
    fprintf(out, "--engine=cpu%c--no-progress%c", 0, 0);
    fprintf(out, "--threads=%u%c--chunk-size=%zu%c", trial->threads, 0, trial->chunk_bytes, 0);
    long length = ftell(out);
    if (length < 0 || (size_t)length >= size || fclose(out) != 0)
        abort();
    *count = 0;
    for (char *word = text; word < text + length; word += strlen(word) + 1) {
        if (*count + 1 == TRIAL_WORDS_MAX)
            abort();
        words[(*count)++] = word;
    }
    words[*count] = NULL;
}
