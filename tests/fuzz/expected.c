#include "config.h"

#include "expected.h"

#include "lib/printable.h"
#include "tests/unit/text_reference.h"

#include <ctype.h>

/* Maximum number of tokens reported in full, and bytes of each. */
#define EXPECTED_REPORTED    10
#define EXPECTED_TOKEN_BYTES 40

/* A value of the stream, or an invalid token. */
struct expected_item {
    bool is_valid;
    bool is_integer; /* an integer, valid or out of range */
    bool is_second;  /* the token belongs to the second column */
    int64_t fields;  /* text: fields of the line if the wanted one is missing; else 0 */
    int64_t wanted;  /* text: the number of the field, from either end */
    int64_t columns; /* text: required number of fields of the line; 0: any */
    __int128 value;
    __int128 group;       /* group of the value, with --by */
    uint64_t weight;      /* weight of the value */
    const char *name;     /* name of its file */
    const char *token;    /* text: the token in the data */
    size_t bytes;         /* length of the token */
    size_t line;          /* line number of the token, from 1 */
    size_t stream_offset; /* binary */
};

struct expected_items {
    struct expected_item *items; /* [count], owned */
    size_t count;
    size_t left_over;        /* binary: bytes at the end that are not a whole element */
    bool is_ended;           /* a header ends the stream */
    char *copies[2];         /* files whose rows end with CR, converted to newlines; owned */
    const char *quoted_name; /* the first file whose quoted fields a delimiter splits, or NULL */
    const char *tabbed_name; /* the first file whose header has tabs, or NULL */
};

static void expected_open(struct expected_text *text)
{
    text->file = open_memstream(&text->text, &text->bytes);
    reference_must(text->file);
}

/* --- the values ----------------------------------------------------------------------------------
 */

static struct expected_item *expected_add(struct expected_items *all)
{
    if ((all->count & (all->count - 1)) == 0) {
        size_t room = all->count > 0 ? 2 * all->count : 1;
        all->items = reference_must(realloc(all->items, room * sizeof *all->items));
    }
    return &all->items[all->count++];
}

static void expected_read_binary(const struct trial *trial, struct expected_items *all)
{
    const size_t width = trial->element.bytes;

    for (size_t i = 0; i + width <= trial->bytes; i += width) {
        unsigned char bytes[8];
        for (size_t j = 0; j < width; j++)
            bytes[j] = (unsigned char)trial->data[i + (trial->element.swapped ? width - 1 - j : j)];
        *expected_add(all) = (struct expected_item){
            .is_valid = true,
            .weight = 1,
            .value = reference_value(trial->element.type, bytes),
            .token = trial->data + i,
            .bytes = width,
            .stream_offset = i,
        };
    }
    all->left_over = trial->bytes % width;
}

/*
 * Returns the item of a line: its value with its weight or group, or the token of an invalid
 * column.
 */
static struct expected_item expected_join(const struct reference_item *value,
                                          const struct reference_item *second, bool is_group,
                                          const char *data)
{
    const bool is_fine = !second || (second->is_valid && (is_group || second->value >= 0));
    const struct reference_item *token = value->is_valid && !is_fine ? second : value;

    return (struct expected_item){
        .is_valid = value->is_valid && is_fine,
        .is_integer = token->is_integer,
        .is_second = token != value,
        .fields = token->fields,
        .value = token->value,
        .group = second ? second->value : 0,
        .weight = second && !is_group ? (uint64_t)second->value : 1,
        .token = data + token->offset,
        .bytes = token->bytes,
    };
}

/* Returns whether text is a whole quoted field that contains a delimiter. */
static bool expected_is_quoted(const char *text, size_t bytes, char delimiter)
{
    bool is_whole =
        bytes > 2 && text[0] == '"' && text[bytes - 1] == '"' && memchr(text, delimiter, bytes);

    for (size_t i = 1; i + 1 < bytes && is_whole; i++) {
        is_whole = text[i] != '"' || (text[i + 1] == '"' && i + 2 < bytes);
        i += text[i] == '"';
    }
    return is_whole;
}

/* Returns whether ignoring quotes changes the field to another one, or to a part of it. */
static bool expected_is_shifted(const char *data, const char *end, int delimiter, int64_t field)
{
    const char *line = data;
    int64_t before = 0; /* number of delimiters before this point of the line */

    for (const char *c = data; c < end; c++) {
        line = c > data && c[-1] == '\n' ? c : line;
        before = c == line ? 0 : before + (c[-1] == (char)delimiter);
        if (*c != '"' || (c > line && c[-1] != (char)delimiter))
            continue;
        for (const char *stop = c + 1; stop <= end && stop[-1] != '\n'; stop++) {
            int64_t behind = 0;
            if ((stop < end && *stop != (char)delimiter && *stop != '\r' && *stop != '\n') ||
                !expected_is_quoted(c, (size_t)(stop - c), (char)delimiter))
                continue;
            for (const char *rest = stop; rest < end && *rest != '\n'; rest++)
                behind += *rest == (char)delimiter;
            if (field > 0 ? field > before + 1 : -field > behind + 1)
                return true;
        }
    }
    return false;
}

/* Groups are unsigned if the values are u64. */
static enum element_type expected_second_type(const struct trial *trial)
{
    const bool is_unsigned = trial_has_groups(trial) && trial->element.type == ELEMENT_U64;
    return is_unsigned ? ELEMENT_U64 : ELEMENT_I64;
}

/* --- the header ----------------------------------------------------------------------------------
 */

/* The last line of a file's header, without its line end. */
struct expected_header {
    const char *line;
    size_t bytes;
    const char *open; /* its quote that is never closed, or NULL */
};

/* Returns whether data[begin..end) is this name. Its quotes are doubled if parts can be quoted. */
static bool expected_is_name(const struct reference *all, size_t begin, size_t end,
                             const char *name)
{
    while (begin < end && reference_is_blank(all->data[begin]))
        begin++;
    while (begin < end && reference_is_blank(all->data[end - 1]))
        end--;
    for (; begin < end; begin++, name++) {
        if (*name == '\0' || all->data[begin] != *name)
            return false;
        begin += *name == '"' && all->rules->is_quoted;
    }
    return *name == '\0';
}

/*
 * Returns the start of a header's names. Sets rules->delimiter for its file, and rules->columns to
 * the number of fields of each line.
 */
static size_t expected_begin_header(const struct expected_header *header, struct text_rules *rules)
{
    const char *const line = header->line;
    const bool words = rules->delimiter == TEXT_NO_DELIMITER;
    size_t end = header->bytes;
    size_t begin = end >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    bool is_alone = false; /* a '#' followed by a separator other than a space */

    if (begin < end && line[begin] == '#') {
        is_alone = begin + 1 < end && line[begin + 1] != ' ' &&
                   (words ? line[begin + 1] == '\t' : line[begin + 1] == (char)rules->delimiter);
        begin += !is_alone;
        if (!is_alone && end - begin >= 7 && memcmp(line + begin, "Fields:", 7) == 0 &&
            (end - begin == 7 || reference_is_blank(line[begin + 7])))
            begin += end - begin > 7 ? 8 : 7;
        else if (!is_alone && end - begin >= 6 && memcmp(line + begin, "fields", 6) == 0 &&
                 (end - begin == 6 || reference_is_blank(line[begin + 6])))
            begin += end - begin > 6 ? 7 : 6;
        while (!is_alone && begin < end && line[begin] == ' ')
            begin++;
    }
    if (!words)
        return begin;
    while (end > begin && reference_is_blank(line[end - 1]))
        end--;
    const bool has_tabs = end > begin && memchr(line + begin, '\t', end - begin);
    if (has_tabs)
        rules->delimiter = '\t';
    for (size_t i = begin; i < header->bytes; i++) {
        if (has_tabs)
            rules->columns += line[i] == '\t';
        else
            rules->columns +=
                !reference_is_blank(line[i]) && (i == begin || reference_is_blank(line[i - 1]));
    }
    rules->columns = has_tabs && !is_alone ? 0 : rules->columns + has_tabs;
    return begin;
}

/* Returns the number of header fields with this name; stores the last one in *field. -1: unknown,
 * because of invalid quotes. */
static int expected_find_name(const struct trial *trial, const struct expected_header *header,
                              const char *name, int32_t *field)
{
    struct text_rules rules = trial->text;
    size_t next = expected_begin_header(header, &rules);
    const struct reference all = {.rules = &rules, .data = header->line};
    const bool words = rules.delimiter == TEXT_NO_DELIMITER;
    int found = 0;

    for (int32_t number = 1; next <= header->bytes; number++, next++) {
        while (words && next < header->bytes && reference_is_blank(header->line[next]))
            next++;
        struct reference_part part = {.begin = next};
        part.end = part.next = reference_field_end(&all, next, header->bytes);
        if (all.rules->is_quoted)
            part = reference_read_part(&all, next, header->bytes);
        if (part.is_wrong)
            return -1;
        bool is_it = expected_is_name(&all, part.begin, part.end, name);
        *field = is_it ? number : *field;
        found += is_it;
        next = part.next;
    }
    return found;
}

/* Looks a name up, if there is one. Returns false, and ends the stream, if that fails. */
static bool expected_look_up(struct expected *expected, const struct trial *trial, const char *file,
                             const struct expected_header *header, const char *name, int32_t *field)
{
    FILE *message = expected->message.file;
    const int found = name ? expected_find_name(trial, header, name, field) : 1;

    expected->is_undefined |= found < 0;
    if (found == 1)
        return true;
    expected->is_header_wrong = true;
    expected->status = STATUS_DATA;
    if (found > 1)
        fprintf(message, "%s: duplicate column '%s' in the header (try its number)", file, name);
    else
        fprintf(message, "%s: unknown column '%s'", file, name);
    if (found == 0 && header->bytes > 0)
        fprintf(message, ": the header is '%.*s%s'", header->bytes > 80 ? 80 : (int)header->bytes,
                header->line, header->bytes > 80 ? "..." : "");
    else if (found == 0)
        fprintf(message, ": the header is empty");
    return false;
}

/*
 * Returns the newline that ends the row at data, or `end`. In CSV, *open is the quote that is never
 * closed, or NULL.
 */
static const char *expected_row_end(const struct trial *trial, const char *data, const char *end,
                                    const char **open)
{
    bool begins_field = true;
    const char *c = data;

    *open = NULL;
    for (; c < end && *c != '\n'; c++) {
        const bool is_quoted = trial->text.is_quoted && begins_field && *c == '"';
        begins_field = *c == (char)trial->text.delimiter;
        if (!is_quoted)
            continue;
        *open = c;
        for (c++; c < end && (*c != '"' || (c + 1 < end && c[1] == '"')); c++)
            c += *c == '"';
        if (c >= end)
            return end;
        *open = NULL;
    }
    return c;
}

/* Skips the header of a file. Returns its last line. */
static struct expected_header expected_skip_header(const struct trial *trial, const char **data,
                                                   const char *end)
{
    struct expected_header header = {.line = *data};

    for (uint64_t i = 0; i < trial->header_lines; i++) {
        const char *newline = expected_row_end(trial, *data, end, &header.open);
        header.line = *data;
        header.bytes = (size_t)(newline - *data);
        *data = newline < end ? newline + 1 : end;
        if (header.open)
            break;
    }
    header.bytes -= header.bytes > 0 && header.line[header.bytes - 1] == '\r';
    return header;
}

/* If lines matter and end with only carriage returns, makes a copy with newlines. */
static const char *expected_end_rows(struct expected_items *all, const struct trial *trial,
                                     const char *data, size_t bytes)
{
    const bool is_of_lines = trial->text.field != 0 || trial->header_lines > 0 ||
                             trial->text.delimiter != TEXT_NO_DELIMITER;

    if (!is_of_lines || trial->text.delimiter == '\r' || memchr(data, '\n', bytes) ||
        !memchr(data, '\r', bytes))
        return data;
    char *copy = reference_must(malloc(bytes));
    for (size_t i = 0; i < bytes; i++)
        copy[i] = data[i] == '\r' ? '\n' : data[i];
    all->copies[all->copies[0] != NULL] = copy;
    return copy;
}

/* Reads the text of one file after its header. */
static void expected_read_text(struct expected *expected, const struct trial *trial,
                               const char *name, const char *data, size_t bytes,
                               struct expected_items *all)
{
    const bool is_first = data == trial->data && bytes == trial->split;
    const char *const begin = data = expected_end_rows(all, trial, data, bytes);
    const char *end = data + bytes;
    const struct expected_header header = expected_skip_header(trial, &data, end);
    struct text_rules first = trial->text;
    struct text_rules second = {
        .field = trial->text.more[0],
        .delimiter = trial->text.delimiter,
        .is_quoted = trial->text.is_quoted,
    };

    if (header.open) {
        expected->is_header_wrong = true;
        expected->status = STATUS_DATA;
        fprintf(expected->message.file, "%s: a quote in its header is never closed", name);
        all->is_ended = true;
        return;
    }
    all->is_ended =
        !expected_look_up(expected, trial, name, &header, trial->field_name, &first.field) ||
        !expected_look_up(expected, trial, name, &header, trial->second_name, &second.field);
    if (all->is_ended)
        return;
    const char *open = NULL; /* the unclosed quote of the last row */
    const char *next = data;
    while (next < end && !open) {
        const char *newline = expected_row_end(trial, next, end, &open);
        end = open ? next : end;
        next = newline + 1;
    }
    if (trial->field_name || trial->second_name) {
        expected_begin_header(&header, &first);
        second.delimiter = first.delimiter;
        if (first.delimiter != trial->text.delimiter && !all->tabbed_name)
            all->tabbed_name = name;
    }
    const int delimiter = trial->text.delimiter;
    if (is_first && delimiter != TEXT_NO_DELIMITER && delimiter != '"' && !trial->text.is_quoted &&
        (expected_is_shifted(begin, end, delimiter, first.field) ||
         expected_is_shifted(begin, end, delimiter, second.field)))
        all->quoted_name = name;
    struct reference parsed =
        reference_parse(&first, trial->element.type, data, (size_t)(end - data));
    const bool has_groups = trial_has_groups(trial);
    struct reference seconds = {.items = NULL};
    if (second.field != 0)
        seconds = reference_parse(&second, expected_second_type(trial), data, (size_t)(end - data));
    size_t line = 1;
    for (const char *c = begin; c < data; c++)
        line += *c == '\n';
    size_t seen = 0;
    for (size_t i = 0; i < parsed.count; i++) {
        struct expected_item *item = expected_add(all);
        *item = expected_join(&parsed.items[i], seconds.items ? &seconds.items[i] : NULL,
                              has_groups, data);
        for (; data + seen < item->token; seen++)
            line += data[seen] == '\n';
        item->name = name;
        item->line = line;
        item->wanted = item->is_second ? second.field : first.field;
        item->columns = item->is_second ? 0 : first.columns;
    }
    free(seconds.items);
    free(parsed.items);
    if (!open)
        return;
    for (; data + seen < open; seen++)
        line += data[seen] == '\n';
    expected->is_header_wrong = true;
    expected->status = STATUS_DATA;
    fprintf(expected->message.file, "%s:%zu: a quote is never closed", name, line);
    all->is_ended = true;
}

static void expected_read(struct expected *expected, const struct trial *trial,
                          char *const names[2], struct expected_items *all)
{
    if (!trial->is_text) {
        expected_read_binary(trial, all);
        return;
    }
    expected_read_text(expected, trial, names[0], trial->data, trial->split, all);
    if (trial->split < trial->bytes && !all->is_ended)
        expected_read_text(expected, trial, names[1], trial->data + trial->split,
                           trial->bytes - trial->split, all);
}

/* A value and its weight. */
struct expected_value {
    __int128 value;
    __int128 group;
    uint64_t weight;
};

/* --- histogram -----------------------------------------------------------------------------------
 */

/* The range low <= value < high of the bins, and their width. */
struct expected_bins {
    const struct trial *trial;
    __int128 low;
    __int128 high;
    __int128 width; /* width of the bins, if all are equal */
};

struct expected_row {
    __int128 low;
    __int128 high;
};

static __int128 expected_floor(__int128 value, __int128 width)
{
    __int128 quotient = value / width;
    return quotient * width > value ? quotient - 1 : quotient;
}

/* Returns the smallest of 1, 2, 5, 10, ... for which 64 bins reach from low to last. */
static __int128 expected_round_width(__int128 low, __int128 last)
{
    __int128 power = 1;

    for (unsigned i = 0;; i++) {
        __int128 width = power * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 5);
        if (expected_floor(last, width) - expected_floor(low, width) < 64)
            return width;
        power *= i % 3 == 2 ? 10 : 1;
    }
}

/* [1, b), [b, b^2), ...; [0, 1); and the mirror image. */
static struct expected_row expected_find_power(__int128 base, __int128 value)
{
    __int128 magnitude = value < 0 ? -value : value;
    __int128 power = 1;

    if (value == 0)
        return (struct expected_row){0, 1};
    while (power * base <= magnitude)
        power *= base;
    if (value > 0)
        return (struct expected_row){power, power * base};
    return (struct expected_row){1 - power * base, 1 - power};
}

static struct expected_row expected_find_edges(const struct trial *trial, __int128 value)
{
    size_t i = 1;

    while (value >= trial->edges[i])
        i++;
    return (struct expected_row){trial->edges[i - 1], trial->edges[i]};
}

/* Returns the bin of a value inside the bins. */
static struct expected_row expected_find_bin(const struct expected_bins *bins, __int128 value)
{
    const __int128 count = (__int128)bins->trial->bin_count;
    const __int128 range = bins->high - bins->low;
    const __int128 x = value - bins->low;

    switch (bins->trial->bins) {
    case TRIAL_BINS:
    case TRIAL_BINS_RANGE:
        return (struct expected_row){
            bins->low + (x * count / range * range + count - 1) / count,
            bins->low + ((x * count / range + 1) * range + count - 1) / count,
        };
    case TRIAL_WIDTH_RANGE:
    case TRIAL_RANGE:
        value = bins->low + x / bins->width * bins->width;
        return (struct expected_row){value, bins->high - value < bins->width ? bins->high
                                                                             : value + bins->width};
    case TRIAL_LOG2:
        return expected_find_power(2, value);
    case TRIAL_LOG10:
        return expected_find_power(10, value);
    case TRIAL_EDGES:
        return expected_find_edges(bins->trial, value);
    default:
        value = expected_floor(value, bins->width) * bins->width;
        return (struct expected_row){value, value + bins->width};
    }
}

/* Returns whether a bin is printed as its only value. */
static bool expected_is_unit(const struct expected_bins *bins)
{
    switch (bins->trial->bins) {
    case TRIAL_BINS:
    case TRIAL_BINS_RANGE:
        return bins->high - bins->low == (__int128)bins->trial->bin_count;
    case TRIAL_WIDTH_RANGE:
        return bins->width == 1 || bins->high - bins->low == 1;
    case TRIAL_LOG2:
    case TRIAL_LOG10:
    case TRIAL_EDGES:
        return false;
    default:
        return bins->width == 1;
    }
}

static struct expected_bins expected_choose_bins(const struct trial *trial,
                                                 const struct expected_value *sorted, size_t count)
{
    const __int128 far = (__int128)1 << 80;
    struct expected_bins bins = {.trial = trial,
                                 .low = -far,
                                 .high = far,
                                 .width = (__int128)trial->width};

    if (trial->bins == TRIAL_BINS) {
        bins.low = 0;
        bins.high = (__int128)trial->bin_count;
    } else if (trial->bins == TRIAL_EDGES) {
        bins.low = trial->edges[0];
        bins.high = trial->edges[trial->edge_count - 1];
    } else if (trial->bins == TRIAL_BINS_RANGE || trial->bins == TRIAL_WIDTH_RANGE ||
               trial->bins == TRIAL_RANGE) {
        bins.low = trial->low;
        bins.high = trial->high;
    }
    if (trial->bins == TRIAL_RANGE)
        bins.width = expected_round_width(bins.low, bins.high - 1);
    if (trial->bins == TRIAL_AUTOMATIC)
        bins.width = count > 0 ? expected_round_width(sorted[0].value, sorted[count - 1].value) : 1;
    return bins;
}

static void expected_print_row(FILE *out, const struct expected_bins *bins, __int128 value,
                               uint64_t count)
{
    struct expected_row row = expected_find_bin(bins, value);

    trial_print_number(out, row.low);
    if (!expected_is_unit(bins)) {
        fputc('\t', out);
        trial_print_number(out, row.high);
    }
    fprintf(out, "\t%llu\n", (unsigned long long)count);
}

/* Prints empty bins from *next to that of `value`; *next becomes the end of the latter. */
static void expected_print_zeros(FILE *out, const struct expected_bins *bins, __int128 *next,
                                 __int128 value)
{
    while (*next < value && expected_find_bin(bins, *next).high <= value) {
        expected_print_row(out, bins, *next, 0);
        *next = expected_find_bin(bins, *next).high;
    }
}

/* Prints the bins of sorted values; all values have one. */
static void expected_print_bins(FILE *out, const struct expected_bins *bins,
                                const struct expected_value *sorted, size_t count)
{
    bool is_given = bins->low > -((__int128)1 << 80);
    __int128 next = is_given ? bins->low : count > 0 ? sorted[0].value : 0;

    for (size_t i = 0; i < count;) {
        const __int128 first = sorted[i].value;
        struct expected_row row = expected_find_bin(bins, first);
        uint64_t in_bin = 0;
        for (; i < count && sorted[i].value < row.high; i++)
            in_bin += sorted[i].weight;
        if (bins->trial->zeros)
            expected_print_zeros(out, bins, &next, first);
        expected_print_row(out, bins, first, in_bin);
        next = row.high;
    }
    if (bins->trial->zeros && is_given)
        expected_print_zeros(out, bins, &next, bins->high);
}

static int expected_compare(const void *a, const void *b)
{
    const __int128 x = ((const struct expected_value *)a)->value;
    const __int128 y = ((const struct expected_value *)b)->value;
    return x < y ? -1 : x > y;
}

static uint64_t expected_sum_weights(const struct expected_value *values, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i].weight;
    return sum;
}

static void expected_count_bins(struct expected *expected, const struct trial *trial,
                                struct expected_value *values, size_t count)
{
    size_t below = 0;
    size_t inside = 0;

    qsort(values, count, sizeof *values, expected_compare);
    struct expected_bins bins = expected_choose_bins(trial, values, count);
    for (size_t i = 0; i < count && trial->outside == OUTSIDE_CLAMP; i++) {
        __int128 *value = &values[i].value;
        *value = *value < bins.low ? bins.low : *value;
        *value = *value >= bins.high ? bins.high - 1 : *value;
    }
    while (below < count && values[below].value < bins.low)
        below++;
    while (below + inside < count && values[below + inside].value < bins.high)
        inside++;
    size_t above = count - below - inside;
    const char *advice = bins.low == 0 && expected_is_unit(&bins) ? " (try --range auto)"
                         : inside > 0                             ? " (try --outside)"
                                                                  : " (try --width or uniq)";
    expected_print_bins(expected->result.file, &bins, values + below, inside);
    if (trial->outside == OUTSIDE_REPORT && below + above > 0)
        fprintf(expected->report.file, "gpuhist: %s out of range: %llu below, %llu above%s\n",
                trial->second_name    ? trial->second_name
                : trial->text.more[0] ? "weight"
                                      : "values",
                (unsigned long long)expected_sum_weights(values, below),
                (unsigned long long)expected_sum_weights(values + below + inside, above), advice);
}

/* --- uniq ----------------------------------------------------------------------------------------
 */

/* Compares by count, descending, then by value, ascending. */
static int expected_compare_counts(const void *a, const void *b)
{
    const struct expected_value *x = a;
    const struct expected_value *y = b;

    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return expected_compare(x, y);
}

static void expected_print_count(FILE *out, const struct expected_value *row, bool is_raw)
{
    uint64_t record[2] = {(uint64_t)row->value, row->weight};

    if (is_raw) {
        fwrite(record, sizeof record, 1, out);
        return;
    }
    trial_print_number(out, row->value);
    fprintf(out, "\t%llu\n", (unsigned long long)row->weight);
}

static void expected_print_uniq(struct expected *expected, const struct trial *trial,
                                struct expected_value *values, size_t count)
{
    struct expected_value *rows = reference_must(calloc(count + 1, sizeof *rows));
    size_t n = 0;

    qsort(values, count, sizeof *values, expected_compare);
    for (size_t i = 0; i < count; i++) {
        if (n == 0 || rows[n - 1].value != values[i].value)
            rows[n++].value = values[i].value;
        rows[n - 1].weight += values[i].weight;
    }
    if (trial->top > 0) {
        qsort(rows, n, sizeof *rows, expected_compare_counts);
        n = n < trial->top ? n : trial->top;
    }
    for (size_t i = 0; i < n; i++)
        expected_print_count(expected->result.file, &rows[i], trial->is_raw);
    free(rows);
}

/* --- the others ----------------------------------------------------------------------------------
 */

static __int128 expected_reduce(enum reduction_id id, const __int128 *values, size_t count)
{
    __int128 result = id == REDUCTION_AND ? -1 : 0;

    if ((id == REDUCTION_MIN || id == REDUCTION_MAX) && count > 0)
        result = values[0];
    for (size_t i = 0; i < count; i++) {
        __int128 value = values[i];
        switch (id) {
        case REDUCTION_COUNT:
            result++;
            break;
        case REDUCTION_SUM:
            result += value;
            break;
        case REDUCTION_MIN:
            result = value < result ? value : result;
            break;
        case REDUCTION_MAX:
            result = value > result ? value : result;
            break;
        case REDUCTION_AND:
            result &= value;
            break;
        case REDUCTION_OR:
            result |= value;
            break;
        default:
            result ^= value;
        }
    }
    return result;
}

static int expected_compare_values(const void *a, const void *b)
{
    __int128 x = *(const __int128 *)a;
    __int128 y = *(const __int128 *)b;
    return (x > y) - (x < y);
}

/* Reductions of sorted values, which need a table. */
static __int128 expected_reduce_sorted(const struct reduction *reduction, const __int128 *values,
                                       size_t count)
{
    __int128 distinct = 0;
    size_t rank = 1;
    size_t longest = 0; /* length of the longest run, which ends at `end` */
    size_t end = 0;
    uint64_t whole = 100;

    for (size_t i = 0, length = 0; i < count; i++) {
        length = i > 0 && values[i] == values[i - 1] ? length + 1 : 1;
        distinct += length == 1;
        end = length > longest ? i : end;
        longest = length > longest ? length : longest;
    }
    for (unsigned i = 0; i < reduction->percentage.decimals; i++)
        whole *= 10;
    while (rank * whole < reduction->percentage.digits * count)
        rank++;
    return reduction->id == REDUCTION_DISTINCT ? distinct
           : reduction->id == REDUCTION_MODE   ? values[end]
                                               : values[rank - 1];
}

static bool expected_needs_order(enum reduction_id id)
{
    return id == REDUCTION_DISTINCT || id == REDUCTION_MODE || id == REDUCTION_MEDIAN ||
           id == REDUCTION_QUANTILE;
}

static void expected_print_reductions(struct expected *expected, const struct trial *trial,
                                      const __int128 *values, size_t count)
{
    const struct reductions *reductions = &trial->reductions;
    const char *before = "cannot compute ";
    __int128 *sorted = calloc(count + 1, sizeof *sorted);

    if (!sorted)
        abort();
    for (size_t i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, count, sizeof *sorted, expected_compare_values);
    for (unsigned i = 0; i < reductions->count; i++) {
        const struct reduction *reduction = &reductions->list[i];
        enum reduction_id id = reduction->id;
        if (count == 0 && id != REDUCTION_COUNT && id != REDUCTION_SUM &&
            id != REDUCTION_DISTINCT) {
            expected->status = STATUS_DATA;
            fprintf(expected->message.file, "%s%s", before, reduction->name);
            before = ", ";
        }
    }
    if (*before == ',')
        fprintf(expected->message.file, ": empty input");
    for (unsigned i = 0; i < reductions->count && expected->status == STATUS_OK; i++) {
        const struct reduction *reduction = &reductions->list[i];
        enum reduction_id id = reduction->id;
        if (reductions->count > 1)
            fprintf(expected->result.file, "%s\t", reduction->name);
        trial_print_number(expected->result.file,
                           expected_needs_order(id)
                               ? expected_reduce_sorted(reduction, sorted, count)
                               : expected_reduce(id, values, count));
        fputc('\n', expected->result.file);
    }
    free(sorted);
}

static bool expected_meets(const struct trial_predicate *predicate, __int128 value)
{
    const __int128 *values = predicate->values;

    switch (predicate->relation) {
    case PREDICATE_EQ:
        return value == values[0];
    case PREDICATE_NE:
        return value != values[0];
    case PREDICATE_LT:
        return value < values[0];
    case PREDICATE_LE:
        return value <= values[0];
    case PREDICATE_GT:
        return value > values[0];
    case PREDICATE_GE:
        return value >= values[0];
    case PREDICATE_IN:
        return value >= values[0] && value < values[1];
    case PREDICATE_ANY_OF:
        for (size_t i = 0; i < predicate->count; i++) {
            if (value == values[i])
                return true;
        }
        return false;
    default:
        break;
    }
    return true;
}

static void expected_print_counts(struct expected *expected, const struct trial *trial,
                                  const __int128 *values, size_t count)
{
    FILE *out = expected->result.file;

    for (size_t i = 0; i < trial->predicate_count; i++) {
        const struct trial_predicate *predicate = &trial->predicates[i];
        size_t met = 0;
        for (size_t j = 0; j < count; j++)
            met += expected_meets(predicate, values[j]);
        if (trial->predicate_count > 1) {
            fprintf(out, "%s%s", trial_relation_name(predicate->relation),
                    predicate->relation == PREDICATE_ALL ? "" : " ");
            for (size_t j = 0; j < predicate->count; j++) {
                if (j > 0)
                    fputc(predicate->relation == PREDICATE_IN ? ':' : ',', out);
                trial_print_number(out, predicate->values[j]);
            }
            fputc('\t', out);
        }
        fprintf(out, "%zu\n", met);
    }
}

static void expected_print_survivors(struct expected *expected, const struct trial *trial,
                                     const struct expected_items *all)
{
    const struct stalin_sort_rules *rules = &trial->rules;
    const struct expected_item *last = NULL;

    for (size_t i = 0; i < all->count; i++) {
        const struct expected_item *item = &all->items[i];
        if (!item->is_valid)
            continue;
        bool survives =
            !last || (rules->descending ? item->value < last->value : item->value > last->value);
        survives = survives || (!rules->strict && item->value == last->value);
        FILE *out = survives ? expected->result.file : expected->purged.file;
        last = survives ? item : last;
        if (!survives && !rules->purged)
            continue;
        if (!trial->is_text) {
            fwrite(item->token, item->bytes, 1, out);
            continue;
        }
        trial_print_number(out, item->value);
        fputc('\n', out);
    }
}

/* --- all of it -----------------------------------------------------------------------------------
 */

/* Writes that a line lacks the wanted field. */
static void expected_print_missing(FILE *out, const struct trial *trial,
                                   const struct expected_item *item)
{
    const char *name = item->is_second ? trial->second_name : trial->field_name;

    if (item->columns > 0 && item->fields != item->columns && item->fields >= item->wanted) {
        fprintf(out, "wrong number of fields: the line has %d, the header %d", (int)item->fields,
                (int)item->columns);
        return;
    }
    fprintf(out, "missing field %d", (int)item->wanted);
    if (name)
        fprintf(out, " '%s'", name);
    fprintf(out, ": the line has %d", (int)item->fields);
}

/* Writes a token like messages do; masks unprintable bytes only if `as_printed`. */
static void expected_print_invalid(FILE *out, const struct trial *trial,
                                   const struct expected_item *item, bool as_printed)
{
    bool has_mark = item->bytes >= 3 && memcmp(item->token, "\xef\xbb\xbf", 3) == 0;
    const char *begin = item->token + 3 * has_mark;
    size_t bytes = item->bytes - 3 * has_mark;
    char token[EXPECTED_TOKEN_BYTES + 1] = "";

    for (size_t i = 0; i < bytes && i < EXPECTED_TOKEN_BYTES; i++)
        token[i] = begin[i] == '\0' ? '?' : begin[i];
    if (as_printed)
        printable_mask(token);
    const char *more = bytes > EXPECTED_TOKEN_BYTES ? "..." : "";
    fprintf(out, "%s:%zu: ", item->name, item->line);
    if (item->fields > 0)
        expected_print_missing(out, trial, item);
    else if (item->is_second && !trial_has_groups(trial))
        fprintf(out, "invalid weight '%s%s%s', no integer from 0 to 2^63 - 1",
                has_mark ? "<byte order mark>" : "", token, more);
    else if (item->is_integer)
        fprintf(out, "'%s%s' is out of range for %s", token, more,
                !item->is_second                             ? trial->element.name
                : expected_second_type(trial) == ELEMENT_U64 ? "u64"
                                                             : "i64");
    else
        fprintf(out, "invalid %s '%s%s%s'", item->is_second ? "group" : "integer",
                has_mark ? "<byte order mark>" : "", token, more);
}

static bool expected_is_outside(const struct trial *trial, const struct expected_item *item)
{
    const __int128 value = item->value;
    struct expected_bins bins = expected_choose_bins(trial, NULL, 0);

    return trial->operation == OPERATION_HISTOGRAM && trial->outside == OUTSIDE_ABORT &&
           item->weight > 0 && (value < bins.low || value >= bins.high);
}

/* Ends the stream before the item that aborts the run, if any. */
static void expected_abort(struct expected *expected, const struct trial *trial,
                           struct expected_items *all, const char *last_name)
{
    FILE *message = expected->message.file;

    for (size_t i = 0; i < all->count; i++) {
        const struct expected_item *item = &all->items[i];
        bool is_invalid = !item->is_valid && trial->invalid == INVALID_ABORT;
        if (!is_invalid && !(item->is_valid && expected_is_outside(trial, item)))
            continue;
        expected->status = STATUS_DATA;
        all->count = i;
        rewind(message); /* it precedes the message about a header */
        if (is_invalid) {
            expected_print_invalid(message, trial, item, false);
            return;
        }
        if (trial->is_text)
            fprintf(message, "%s:%zu: ", item->name, item->line);
        fprintf(message, "value ");
        trial_print_number(message, item->value);
        if (!trial->is_text)
            fprintf(message, " at byte %zu of the input", item->stream_offset);
        fprintf(message, " is out of range");
        return;
    }
    if (all->left_over == 0)
        return;
    expected->status = STATUS_DATA;
    fprintf(message, "%s: truncated input: %zu byte%s left after the last %u-byte element",
            last_name, all->left_over, all->left_over == 1 ? "" : "s", trial->element.bytes);
}

/* Writes the report about tokens that do not abort. */
static void expected_tell_invalid(struct expected *expected, const struct trial *trial,
                                  const struct expected_items *all)
{
    FILE *report = expected->report.file;
    size_t told = 0;
    size_t seconds = 0; /* weights or groups */

    if (all->quoted_name)
        fprintf(report, "gpuhist: note: %s has quoted fields, which -d splits (try --csv)\n",
                all->quoted_name);
    if (all->tabbed_name)
        fprintf(report, "gpuhist: note: the header of %s has tabs, so tabs separate its fields\n",
                all->tabbed_name);
    for (size_t i = 0; i < all->count; i++)
        seconds += !all->items[i].is_valid && all->items[i].is_second;
    for (size_t i = 0; i < all->count && trial->invalid != INVALID_IGNORE; i++) {
        if (all->items[i].is_valid || told++ >= EXPECTED_REPORTED)
            continue;
        fprintf(report, "gpuhist: ");
        expected_print_invalid(report, trial, &all->items[i], true);
        fputc('\n', report);
    }
    size_t valid = 0;
    for (size_t i = 0; i < all->count; i++)
        valid += all->items[i].is_valid;
    if (trial->invalid == INVALID_IGNORE && valid > 0 && valid < all->count)
        fprintf(report, "gpuhist: note: skipped %zu invalid value%s\n", all->count - valid,
                all->count - valid == 1 ? "" : "s");
    if (trial->invalid == INVALID_IGNORE && valid == 0 && all->count > 0)
        fprintf(report, "gpuhist: all input was invalid and ignored: %zu value%s\n", all->count,
                all->count == 1 ? "" : "s");
    const char *second = trial_has_groups(trial) ? "group" : "weight";
    const char *kind = seconds == 0 ? "integer" : seconds == told ? second : "value";
    if (told > EXPECTED_REPORTED)
        fprintf(report, "gpuhist: %zu more invalid %ss\n", told - EXPECTED_REPORTED, kind);
    if (told == 0 || trial->invalid != INVALID_FAIL)
        return;
    rewind(expected->message.file); /* it comes first */
    expected->status = STATUS_DATA;
    fprintf(expected->message.file, "%zu invalid %s%s in the input", told, kind,
            told == 1 ? "" : "s");
}

/*
 * Returns the valid values values[0..*count) with their weights; those of weight 0 only as values,
 * not in bins. Owned by the caller.
 */
static struct expected_value *expected_weigh(const struct trial *trial,
                                             const struct expected_items *all, size_t *count)
{
    const bool keeps_zeros =
        trial->operation == OPERATION_UNIQ || (trial->operation == OPERATION_HISTOGRAM &&
                                               trial->bins == TRIAL_WIDTH && trial->width == 1);
    struct expected_value *values = reference_must(malloc((all->count + 1) * sizeof *values));

    *count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct expected_item *item = &all->items[i];
        if (item->is_valid && (item->weight > 0 || keeps_zeros))
            values[(*count)++] = (struct expected_value){item->value, item->group, item->weight};
    }
    return values;
}

/* Fails if the sum of the weights does not fit 64 bits, and nothing else failed. */
static void expected_check_weights(struct expected *expected, const struct expected_items *all)
{
    unsigned __int128 sum = 0;

    for (size_t i = 0; i < all->count; i++)
        sum += all->items[i].is_valid ? all->items[i].weight : 0;
    if (expected->status != STATUS_OK || sum <= UINT64_MAX)
        return;
    expected->status = STATUS_DATA;
    fprintf(expected->message.file, "the weights add up to more than 2^64 - 1");
}

static int expected_compare_groups(const void *a, const void *b)
{
    const __int128 x = ((const struct expected_value *)a)->group;
    const __int128 y = ((const struct expected_value *)b)->group;
    return x < y ? -1 : x > y;
}

/* Prints a line for each group, in ascending order: the group and its result. */
static void expected_print_groups(FILE *out, const struct trial *trial,
                                  struct expected_value *sorted, size_t count)
{
    __int128 *values = reference_must(malloc((count + 1) * sizeof *values));
    size_t n;

    qsort(sorted, count, sizeof *sorted, expected_compare_groups);
    for (; count > 0; sorted += n, count -= n) {
        for (n = 0; n < count && sorted[n].group == sorted->group; n++)
            values[n] = sorted[n].value;
        trial_print_number(out, sorted->group);
        for (unsigned i = 0; i < trial->reductions.count; i++) {
            fputc('\t', out);
            trial_print_number(out, expected_reduce(trial->reductions.list[i].id, values, n));
        }
        for (size_t i = 0; i < trial->predicate_count; i++) {
            size_t met = 0;
            for (size_t j = 0; j < n; j++)
                met += expected_meets(&trial->predicates[i], values[j]);
            fprintf(out, "\t%zu", met);
        }
        fputc('\n', out);
    }
    free(values);
}

static void expected_print(struct expected *expected, const struct trial *trial,
                           const struct expected_items *all)
{
    size_t count;
    struct expected_value *weighed = expected_weigh(trial, all, &count);
    __int128 *values = reference_must(malloc((count + 1) * sizeof *values));

    for (size_t i = 0; i < count; i++)
        values[i] = weighed[i].value;
    if (trial_has_groups(trial))
        expected_print_groups(expected->result.file, trial, weighed, count);
    else if (trial->operation == OPERATION_REDUCE)
        expected_print_reductions(expected, trial, values, count);
    else if (trial->operation == OPERATION_COUNT)
        expected_print_counts(expected, trial, values, count);
    else if (trial->operation == OPERATION_UNIQ)
        expected_print_uniq(expected, trial, weighed, count);
    else if (trial->operation == OPERATION_HISTOGRAM)
        expected_count_bins(expected, trial, weighed, count);
    free(values);
    free(weighed);
}

void expected_make(struct expected *expected, const struct trial *trial, char *const names[2])
{
    struct expected_text *texts[] = {&expected->message, &expected->result, &expected->purged,
                                     &expected->report};
    struct expected_items all = {.items = NULL};

    *expected = (struct expected){.status = STATUS_OK};
    for (size_t i = 0; i < 4; i++)
        expected_open(texts[i]);
    expected_read(expected, trial, names, &all);
    expected_abort(expected, trial, &all, names[trial->split < trial->bytes]);
    expected_check_weights(expected, &all);
    if (trial->operation == OPERATION_STALIN_SORT)
        expected_print_survivors(expected, trial, &all);
    if (expected->status == STATUS_OK) {
        expected_print(expected, trial, &all);
        expected_tell_invalid(expected, trial, &all);
    }
    for (size_t i = 0; i < 4; i++)
        fclose(texts[i]->file);
    free(all.items);
    free(all.copies[0]);
    free(all.copies[1]);
}

void expected_destroy(struct expected *expected)
{
    free(expected->message.text);
    free(expected->result.text);
    free(expected->purged.text);
    free(expected->report.text);
}
