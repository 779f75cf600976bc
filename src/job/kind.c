/* Implements kind.h: the table, and the functions of its rows. */
#include "config.h"

#include "job/kind.h"

#include "base/decimal.h"
#include "base/kind_time.h"
#include "job/job.h"

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

static bool kind_parse_number_width(const char *text, size_t bytes, unsigned decimals,
                                    struct kind_width *width)
{
    __int128 units;

    if (!decimal_parse_fixed(text, bytes, decimals, &units) || units < 1 || units > INT64_MAX)
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

/* --- instants --------------------------------------------------------------------------------- */

static struct kind_time_rules kind_time_rules_of(const struct element *element)
{
    return (struct kind_time_rules){.digits = element->decimals,
                                    .is_local = kind_rows[element->kind].is_local};
}

static bool kind_parse_time(const struct column *column, const struct kind_text *text,
                            uint64_t key[2])
{
    struct kind_time_rules rules = kind_time_rules_of(&column->element);
    enum kind_time_guess guess;
    int64_t time;

    rules.is_cell = text->is_cell;
    rules.is_joined = text->is_joined;
    rules.format = column->time_format;
    if (text->bytes == 0 || kind_time_read(&rules, text->data, text->bytes,
                                           text->bytes + text->more, &time, &guess) == 0)
        return false;
    text->guesses->times[guess]++;
    key[0] =
        (uint64_t)(column_has_bucket(column) ? kind_time_bucket_floor(&column->width.bucket, time)
                                             : time);
    return true;
}

static size_t kind_write_time(char *out, const struct element *element, __int128 value)
{
    /* the upper edge of the last bin may be beyond what 64 bits hold */
    const __int128 limit = element_limit(element);
    const struct kind_time_rules rules = kind_time_rules_of(element);
    return kind_time_write(out, &rules, (int64_t)(value < limit ? value : limit - 1));
}

/* Whether the fraction of a time has more digits than `decimals`, zeros at its end aside. */
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
    const struct kind_time_rules rules = kind_time_rules_of(element);
    int64_t time;

    if (bytes == 0 || kind_time_read(&rules, text, bytes, bytes, &time, NULL) == 0 ||
        kind_is_finer(text, bytes, element->decimals))
        return false;
    *value = time;
    return true;
}

static bool kind_parse_time_width(const char *text, size_t bytes, unsigned decimals,
                                  struct kind_width *width)
{
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

/* --- addresses -------------------------------------------------------------------------------- */

static bool kind_parse_address(const struct column *column, const struct kind_text *text,
                               uint64_t key[2])
{
    struct kind_ip address;

    if (text->is_cell ? !kind_ip_read(text->data, text->bytes, &address)
                      : !kind_ip_read_word(text->data, text->bytes, &address))
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

static bool kind_parse_prefix(const char *text, size_t bytes, unsigned decimals,
                              struct kind_width *width)
{
    (void)decimals;
    return kind_ip_prefix_parse(text, bytes, &width->prefix);
}

static void kind_format_prefix(char out[KIND_WIDTH_SIZE], const struct element *element,
                               const struct kind_width *width)
{
    (void)width;
    snprintf(out, KIND_WIDTH_SIZE, "/%u/%u", element->prefix.v4, element->prefix.v6);
}

/* ---------------------------------------------------------------------------------------------- */

#define KIND_OF_NUMBERS                                                                      \
    .words = 1, .scale = KIND_NUMBERS, .write = kind_write_number, .read = kind_read_number, \
    .parse_width = kind_parse_number_width, .format_width = kind_format_number_width

#define KIND_OF_INTEGERS                                                             \
    KIND_OF_NUMBERS, .noun = "integer", .value = "an integer such as 500, -3 or 5M", \
                     .hint = ", or 0.5 with --decimals 1",                           \
                     .pair = "two integers, or numbers with --decimals",             \
                     .list = "integers such as 1,2,3"

#define KIND_OF_INSTANTS                                                                       \
    .words = 1, .type = "i64", .decimals_max = KIND_TIME_DIGITS_MAX, .notation = TEXT_TIME,    \
    .scale = KIND_INSTANTS, .difference = KIND_FIXED, .noun = "time", .nouns = "times",        \
    .value = "a time such as 2026-11-21T13:45:02Z, with no more decimals than its column "     \
             "(COLUMN:time.3)",                                                                \
    .hint = "",                                                                                \
    .pair = "two times such as 2026-11-21T13:45:02Z, with no more decimals than their column " \
            "(COLUMN:time.3)",                                                                 \
    .list = "times without blanks, such as 2026-11-21,2026-11-21T13:45:02",                    \
    .parse = kind_parse_time, .write = kind_write_time, .read = kind_read_time,                \
    .parse_width = kind_parse_time_width, .format_width = kind_format_time_width

const struct kind kind_rows[KINDS] = {
    [KIND_INT] = {.name = "int", .notation = TEXT_INTEGERS, KIND_OF_INTEGERS},
    [KIND_HEX] = {.name = "hex", .notation = TEXT_HEX, KIND_OF_INTEGERS},
    [KIND_FIXED] = {.name = "",
                    .decimals_max = TEXT_DECIMALS_MAX,
                    .difference = KIND_FIXED,
                    .notation = TEXT_FIXED,
                    KIND_OF_NUMBERS,
                    .noun = "number",
                    .value = "a number with no more decimals than its column",
                    .hint = " (--decimals)",
                    .pair = "two numbers with no more decimals than --decimals",
                    .list = "numbers with no more decimals than --decimals"},
    [KIND_TIME] = {.name = "time", KIND_OF_INSTANTS},
    [KIND_LOCAL_TIME] = {.name = "localtime", .is_local = true, KIND_OF_INSTANTS},
    [KIND_IP] = {.name = "ip",
                 .type = "u64",
                 .words = 2,
                 .notation = TEXT_IP,
                 .scale = KIND_NAMES,
                 .noun = "address",
                 .nouns = "addresses",
                 .value = "an address such as 10.0.0.1, or a prefix such as 10.0.0.0/8",
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
                   .noun = "text",
                   .nouns = "texts",
                   .has_dictionary = true},
};
