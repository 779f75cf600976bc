/* Implements kind.h: the table, and the functions of its rows. */
#include "config.h"

#include "value/kind.h"

#include "lib/decimal.h"
#include "value/kind_find.h"
#include "value/kind_ip_read.h"
#include "value/kind_time.h"
#include "value/plan.h"

#include <stdio.h>
#include <string.h>

/* --- numbers ---------------------------------------------------------------------------------- */

static size_t kind_write_number(char *out, const struct element *element, __int128 value)
{
    return decimal_write_fixed(out, value, element->decimals);
}

static bool kind_read_number(const struct element *element, const char *text, size_t bytes,
                             __int128 *value)
{
    return decimal_parse_fixed(text, bytes, element->decimals, value);
}

static bool kind_parse_number_width(const struct kind *kind, const char *text, size_t bytes,
                                    unsigned decimals, struct kind_width *width)
{
    const struct element element = {.kind = kind_id_of(kind), .decimals = decimals};
    __int128 units;

    if (!kind->read(&element, text, bytes, &units) || units < 1 || units > INT64_MAX)
        return false;
    width->units = (uint64_t)units;
    return true;
}

static void kind_format_number_width(char out[KIND_WIDTH_SIZE], const struct element *element,
                                     const struct kind_width *width)
{
    *out = '\0';
    if (width->units <= 1)
        return;
    *out = '/';
    decimal_format_fixed(out + 1, width->units, element->decimals);
}

static __int128 kind_next_number(const struct column *column, __int128 value)
{
    return value + column_width(column);
}

/* --- numbers with units ----------------------------------------------------------------------- */

static bool kind_read_duration(const struct element *element, const char *text, size_t bytes,
                               __int128 *value)
{
    return kind_unit_read_duration(kind_rows[element->kind].unit, element->decimals, text, bytes,
                                   value);
}

static bool kind_read_size(const struct element *element, const char *text, size_t bytes,
                           __int128 *value)
{
    return kind_unit_read_size(kind_rows[element->kind].unit, text, bytes, value);
}

static bool kind_parse_units(const struct column *column, const struct kind_text *text,
                             uint64_t key[2])
{
    const struct element *element = &column->element;
    __int128 value;

    if (!kind_rows[element->kind].read(element, text->data, text->bytes, &value) ||
        value < element_min(element) || value >= element_limit(element))
        return false;
    key[0] = (uint64_t)value;
    return column->width.units <= 1 || column_floor(key, column->width.units, element->is_signed);
}

/* --- timestamps ------------------------------------------------------------------------------- */

static struct kind_time_rules kind_time_rules_of(const struct element *element)
{
    return (struct kind_time_rules){.digits = element->decimals,
                                    .is_local = kind_rows[element->kind].is_local,
                                    .zone = element->zone};
}

static bool kind_parse_time(const struct column *column, const struct kind_text *text,
                            uint64_t key[2])
{
    const struct kind_time_bucket *bucket = &column->width.bucket;
    struct kind_time_rules rules = kind_time_rules_of(&column->element);
    enum kind_time_guess guess;
    int64_t time;

    rules.is_cell = text->is_cell;
    rules.is_joined = text->is_joined;
    rules.is_found = column->is_found;
    rules.format = column->time_format;
    if (text->bytes == 0)
        return false;
    const size_t used =
        kind_time_read(&rules, text->data, text->bytes, text->bytes + text->more, &time, &guess);
    if (used == 0 || (column->is_found && used > text->bytes))
        return false;
    text->guesses->times[guess]++;
    if (column_has_bucket(column))
        time = kind_time_bucket_find(bucket, column->element.zone, time);
    key[0] = (uint64_t)time;
    return true;
}

static size_t kind_write_time(char *out, const struct element *element, __int128 value)
{
    /* the upper edge of the last bin may exceed 64 bits */
    const __int128 limit = element_limit(element);
    const struct kind_time_rules rules = kind_time_rules_of(element);
    return kind_time_write(out, &rules, (int64_t)(value < limit ? value : limit - 1));
}

/* Returns whether the fraction of a timestamp has more than `decimals` digits without trailing
 * zeros.
 */
static bool kind_is_finer(const char *time, size_t bytes, unsigned decimals)
{
    size_t i = 0;

    while (i < bytes && time[i] != '.' && time[i] != ',')
        i++;
    for (size_t first = i + 1; ++i < bytes && time[i] >= '0' && time[i] <= '9';) {
        if (i - first >= decimals && time[i] != '0')
            return true;
    }
    return false;
}

static bool kind_read_time(const struct element *element, const char *text, size_t bytes,
                           __int128 *value)
{
    struct kind_time_rules rules = kind_time_rules_of(element);
    const int64_t scale = (int64_t)decimal_power(element->decimals);
    int64_t seconds = 0; /* seconds of its offset, which zones have before 1972 */
    int64_t time;

    if (element->zone && bytes > 9 && text[bytes - 3] == ':' && text[bytes - 6] == ':' &&
        (text[bytes - 9] == '-' || text[bytes - 9] == '+') && kind_time_is_digit(text[bytes - 2]) &&
        kind_time_is_digit(text[bytes - 1])) {
        seconds = (text[bytes - 2] - '0') * 10 + (text[bytes - 1] - '0');
        seconds = text[bytes - 9] == '-' ? -seconds : seconds;
        bytes -= 3;
    }

    /* a bound is in the zone's local time, unless it determines its instant */
    rules.is_local = rules.is_local || (element->zone && bytes > 0 &&
                                        !kind_time_has_offset(&rules, text, bytes, bytes));
    if (bytes == 0 || kind_time_read(&rules, text, bytes, bytes, &time, NULL) == 0 ||
        kind_is_finer(text, bytes, element->decimals))
        return false;
    *value = time - (__int128)seconds * scale;
    if (element->zone && rules.is_local) {
        const int64_t local = kind_time_divide(time, scale);
        *value =
            (__int128)kind_time_zone_first(element->zone, local) * scale + (time - local * scale);
    }
    return *value >= element_min(element) && *value < element_limit(element);
}

static bool kind_parse_time_width(const struct kind *kind, const char *text, size_t bytes,
                                  unsigned decimals, struct kind_width *width)
{
    (void)kind;
    return kind_time_bucket_parse(text, bytes, decimals, &width->bucket);
}

static void kind_format_time_width(char out[KIND_WIDTH_SIZE], const struct element *element,
                                   const struct kind_width *width)
{
    const struct kind_time_bucket *bucket = &width->bucket;
    const int64_t second = (int64_t)decimal_power(element->decimals);
    const int64_t week = 7 * 86400 * second;

    *out = '\0';
    if (bucket->months > 0)
        snprintf(out, KIND_WIDTH_SIZE, "/%umo", bucket->months);
    else if (bucket->width > 0)
        snprintf(out, KIND_WIDTH_SIZE, bucket->phase > 0 ? "/%lldw" : "/%llds",
                 (long long)(bucket->width / (bucket->phase > 0 ? week : second)));
}

static __int128 kind_next_time(const struct column *column, __int128 value)
{
    return column_has_bucket(column)
               ? (__int128)kind_time_bucket_next(&column->width.bucket, column->element.zone,
                                                 (int64_t)value)
               : value + 1;
}

static bool kind_parse_cycle(const struct kind *kind, const char *text, size_t bytes,
                             unsigned decimals, struct kind_width *width)
{
    (void)kind;
    return kind_time_cycle_parse(text, bytes, decimals, &width->bucket);
}

static void kind_format_cycle(char out[KIND_WIDTH_SIZE], const struct element *element,
                              const struct kind_width *width)
{
    (void)element;
    snprintf(out, KIND_WIDTH_SIZE, "/%s", kind_time_cycle_name(width->bucket.cycle));
}

/* --- IP addresses ----------------------------------------------------------------------------- */

static bool kind_parse_address(const struct column *column, const struct kind_text *text,
                               uint64_t key[2])
{
    char written[KIND_IP_SIZE];
    struct kind_ip address;

    if (kind_ip_read_v4(text->data, text->bytes, &key[1])) { /* has one form: the one written */
        key[0] = 0;
        key[1] = kind_ip_first_v4(key[1], column->element.prefix.v4);
        return true;
    }
    if (text->is_cell ? !kind_ip_read(text->data, text->bytes, &address)
                      : !kind_ip_read_word(text->data, text->bytes, &address))
        return false;
    if (column->is_found && (kind_ip_write(written, address) != text->bytes ||
                             memcmp(written, text->data, text->bytes) != 0))
        return false;
    address = kind_ip_floor(address, column->element.prefix);
    key[0] = address.high;
    key[1] = address.low;
    return true;
}

static size_t kind_write_address(char *out, const struct element *element, __int128 value)
{
    return kind_ip_write_prefix(out, element_address_key(value), element->prefix);
}

static bool kind_read_address(const struct element *element, const char *text, size_t bytes,
                              __int128 *value)
{
    struct kind_ip key;

    (void)element;
    if (!kind_ip_read(text, bytes, &key))
        return false;
    *value = element_address(key);
    return true;
}

static bool kind_parse_prefix(const struct kind *kind, const char *text, size_t bytes,
                              unsigned decimals, struct kind_width *width)
{
    (void)kind;
    (void)decimals;
    return kind_ip_prefix_parse(text, bytes, &width->prefix);
}

static void kind_format_prefix(char out[KIND_WIDTH_SIZE], const struct element *element,
                               const struct kind_width *width)
{
    (void)width;
    snprintf(out, KIND_WIDTH_SIZE, "/%u/%u", element->prefix.v4, element->prefix.v6);
}

/* --- unknown kinds ---------------------------------------------------------------------------- */

static bool kind_parse_unknown(const struct column *column, const struct kind_text *text,
                               uint64_t key[2])
{
    kind_find_add(column->find, text);
    key[0] = 0;
    return true;
}

/* ---------------------------------------------------------------------------------------------- */

#define KIND_OF_NUMBERS                                                                      \
    .words = 1, .scale = KIND_NUMBERS, .write = kind_write_number, .read = kind_read_number, \
    .parse_width = kind_parse_number_width, .format_width = kind_format_number_width,        \
    .next = kind_next_number

#define KIND_OF_INTEGERS                                                             \
    KIND_OF_NUMBERS, .noun = "integer", .value = "an integer such as 500, -3 or 5M", \
                     .hint = ", or 0.5 with --decimals 1",                           \
                     .pair = "two integers, or numbers with --decimals",             \
                     .list = "integers such as 1,2,3"

#define KIND_OF_DECIMALS                                                                      \
    KIND_OF_NUMBERS,                                                                          \
        .decimals_max = TEXT_DECIMALS_MAX, .needs_decimals = true, .notation = TEXT_FIXED,    \
        .noun = "number", .value = "a number with no more decimals than its column",          \
        .hint = " (--decimals)", .pair = "two numbers with no more decimals than --decimals", \
        .list = "numbers with no more decimals than --decimals"

#define KIND_OF_UNITS                                                                              \
    .type = "i64", .words = 1, .notation = TEXT_OTHER, .scale = KIND_NUMBERS,                      \
    .parse = kind_parse_units, .write = kind_write_number, .parse_width = kind_parse_number_width, \
    .format_width = kind_format_number_width, .next = kind_next_number, .hint = ""

#define KIND_OF_DURATIONS                                                                        \
    KIND_OF_UNITS,                                                                               \
        .decimals_max = KIND_UNIT_DECIMALS_MAX, .read = kind_read_duration, .noun = "duration",  \
        .value =                                                                                 \
            "a duration such as 250ms, 1.5s or 00:02:03, with no more decimals than its column", \
        .pair = "two durations such as 0 and 1.5s, with no more decimals than their column",     \
        .list = "durations without blanks, such as 250ms,1.5s"

#define KIND_OF_SIZES                                                                         \
    KIND_OF_UNITS,                                                                            \
        .read = kind_read_size, .noun = "size", .value = "a size such as 500, 64K or 1.5GiB", \
        .pair = "two sizes such as 0 and 64K", .list = "sizes without blanks, such as 500,64K"

#define KIND_OF_INSTANTS                                                                        \
    .words = 1, .type = "i64", .decimals_max = KIND_TIME_DIGITS_MAX, .notation = TEXT_TIME,     \
    .scale = KIND_INSTANTS, .noun = "timestamp", .nouns = "timestamps",                         \
    .value = "a timestamp such as 2026-11-21T13:45:02Z, with no more decimals than its column " \
             "(COLUMN:time.3)",                                                                 \
    .hint = "",                                                                                 \
    .pair =                                                                                     \
        "two timestamps such as 2026-11-21T13:45:02Z, with no more decimals than their column " \
        "(COLUMN:time.3)",                                                                      \
    .list = "timestamps without blanks, such as 2026-11-21,2026-11-21T13:45:02",                \
    .parse = kind_parse_time, .write = kind_write_time, .read = kind_read_time,                 \
    .parse_width = kind_parse_time_width, .format_width = kind_format_time_width,               \
    .next = kind_next_time

#define KIND_OF_CYCLES                                                                            \
    .words = 1, .type = "i64", .notation = TEXT_TIME, .scale = KIND_NUMBERS, .noun = "timestamp", \
    .value = "a number such as 9 (days of the week are 1, Monday, to 7)", .hint = "",             \
    .pair = "two integers such as 9 and 17", .list = "integers such as 1,2,3",                    \
    .parse = kind_parse_time, .write = kind_write_number, .read = kind_read_number,               \
    .parse_width = kind_parse_cycle, .format_width = kind_format_cycle, .next = kind_next_number

const struct kind kind_rows[KINDS + 1] = {
    [KIND_INT] = {.name = "int",
                  .notation = TEXT_INTEGERS,
                  .microseconds = "time.6",
                  .has_exponents = true,
                  KIND_OF_INTEGERS},
    [KIND_HEX] = {.name = "hex", .notation = TEXT_HEX, KIND_OF_INTEGERS},
    [KIND_FIXED] = {.name = "", KIND_OF_DECIMALS},
    [KIND_ROUND] = {.name = "round", .is_rounded = true, KIND_OF_DECIMALS},
    [KIND_S] = {.name = "s", .unit = 0, KIND_OF_DURATIONS},
    [KIND_MS] = {.name = "ms", .unit = 3, KIND_OF_DURATIONS},
    [KIND_US] = {.name = "us", .unit = 6, KIND_OF_DURATIONS},
    [KIND_NS] = {.name = "ns", .unit = 9, KIND_OF_DURATIONS},
    [KIND_BYTES] = {.name = "bytes", .unit = 1000, KIND_OF_SIZES},
    [KIND_IBYTES] = {.name = "ibytes", .unit = 1024, KIND_OF_SIZES},
    [KIND_TIME] = {.name = "time", KIND_OF_INSTANTS},
    [KIND_LOCAL_TIME] = {.name = "localtime", .is_local = true, KIND_OF_INSTANTS},
    [KIND_TIME_CYCLE] = {.name = "time", KIND_OF_CYCLES},
    [KIND_LOCAL_TIME_CYCLE] = {.name = "localtime", .is_local = true, KIND_OF_CYCLES},
    [KIND_IP] = {.name = "ip",
                 .type = "u64",
                 .words = 2,
                 .notation = TEXT_IP,
                 .scale = KIND_NAMES,
                 .noun = "IP address",
                 .nouns = "IP addresses",
                 .value = "an IP address such as 10.0.0.1, or a prefix such as 10.0.0.0/8",
                 .parse = kind_parse_address,
                 .write = kind_write_address,
                 .read = kind_read_address,
                 .parse_width = kind_parse_prefix,
                 .format_width = kind_format_prefix},
    [KIND_TEXT] = {.name = "text",
                   .type = "u64",
                   .words = 1,
                   .notation = TEXT_BYTES,
                   .scale = KIND_NAMES,
                   .noun = "string",
                   .nouns = "strings",
                   .has_dictionary = true},
    [KIND_UNKNOWN] = {.words = 1,
                      .notation = TEXT_OTHER,
                      .scale = KIND_NAMES,
                      .noun = "value",
                      .nouns = "values",
                      .parse = kind_parse_unknown,
                      .write = kind_write_number},
};

const struct kind *kind_of_units(const char *text, size_t bytes)
{
    bool has_unit = false;
    __int128 value;

    for (size_t i = 0; i < bytes; i++)
        has_unit = has_unit || !memchr("+-.0123456789", text[i], 13);
    for (size_t i = 0; i < KINDS && has_unit; i++) {
        const struct element element = {.kind = (enum kind_id)i};
        const struct kind *kind = &kind_rows[i];
        if (kind->notation == TEXT_OTHER && kind->scale == KIND_NUMBERS &&
            kind->read(&element, text, bytes, &value))
            return kind;
    }
    return NULL;
}

void kind_list_all(char out[KIND_LIST_SIZE])
{
    size_t used = 0;

    for (size_t i = 0; i < KINDS; i++) {
        bool is_repeated = false;
        for (size_t before = 0; before < i; before++)
            is_repeated = is_repeated || strcmp(kind_rows[i].name, kind_rows[before].name) == 0;
        if (is_repeated)
            continue;
        used += (size_t)snprintf(out + used, KIND_LIST_SIZE - used, "%s%s%s", i > 0 ? " " : "",
                                 kind_rows[i].name, kind_rows[i].needs_decimals ? ".N" : "");
    }
}
