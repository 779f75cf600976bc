/* Timestamps in text: reading and the bytes used, formats, buckets, and writing. */
#include "config.h"

#include "tap.h"
#include "value/kind_time.h"
#include "value/kind_time_bucket.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))
#define ALL                 SIZE_MAX

/* 2026-11-21T13:45:02Z */
#define EXAMPLE INT64_C(1795268702)

struct reading {
    const char *text;
    int64_t value;
    unsigned digits;
    size_t field; /* length of the field; ALL: the whole text */
    size_t used;  /* bytes that are read; 0: none */
};

/* Reads from memory of the text's size, so that a sanitizer detects reads outside. */
static size_t read_exactly(const struct kind_time_rules *rules, const char *text, size_t field,
                           int64_t *value, bool *is_out_of_range)
{
    size_t bytes = strlen(text);
    char *copy = malloc(bytes > 0 ? bytes : 1);

    if (!copy)
        abort();
    memcpy(copy, text, bytes);
    field = field == ALL ? bytes : field;
    struct kind_time_rules how = *rules;
    how.is_cell = field == bytes;
    size_t used = kind_time_read(&how, copy, field, bytes, value, NULL);
    *is_out_of_range = kind_time_is_out_of_range(&how, copy, field, bytes);
    free(copy);
    return used;
}

static bool reads(struct kind_time_rules rules, const struct reading *rows, size_t count)
{
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        const struct reading *row = &rows[i];
        const bool is_wanted = row->used > 0;
        int64_t value = 4711;
        bool is_out_of_range;
        rules.digits = row->digits;
        size_t used = read_exactly(&rules, row->text, row->field, &value, &is_out_of_range);
        if ((used > 0) != is_wanted || value != (is_wanted ? row->value : 4711))
            all = tap_note("'%s': %zu bytes, %lld", row->text, used, (long long)value);
        if (is_out_of_range)
            all = tap_note("'%s' is out of range", row->text);
    }
    return all;
}

static bool refuses(const struct kind_time_rules *rules, const char *const *texts, size_t count,
                    bool out_of_range)
{
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        int64_t value = 4711;
        bool is_out_of_range;
        size_t used = read_exactly(rules, texts[i], ALL, &value, &is_out_of_range);
        if (used > 0 || value != 4711 || is_out_of_range != out_of_range)
            all = tap_note("'%s': %zu bytes, %lld, %s of range", texts[i], used, (long long)value,
                           is_out_of_range ? "out" : "not out");
    }
    return all;
}

static void test_forms(void)
{
    static const struct reading rows[] = {
        {"2026-11-21T13:45:02Z", EXAMPLE, 0, ALL, ALL},
        {"2026-11-21t13:45:02z", EXAMPLE, 0, ALL, ALL},
        {"2026-11-21 13:45:02", EXAMPLE, 0, ALL, ALL},
        {"2026-11-21T13:45:02+01:00", EXAMPLE - 3600, 0, ALL, ALL},
        {"2026-11-21T13:45:02-0130", EXAMPLE + 5400, 0, ALL, ALL},
        {"2026-11-21T13:45:02+01", EXAMPLE - 3600, 0, ALL, ALL},
        {"2026-11-21 13:45:02 +01", EXAMPLE - 3600, 0, ALL, ALL},
        {"2026-11-21 13:45:02 Z", EXAMPLE, 0, ALL, ALL},
        {"2026-11-21T13:45:02-00:00", EXAMPLE, 0, ALL, ALL},
        {"2026-11-21T13:45:02+23:59", EXAMPLE - 86340, 0, ALL, ALL},
        {"2026-11-21T13:45:02.987654321987Z", EXAMPLE * 1000 + 987, 3, ALL, ALL},
        {"2026-11-21T13:45:02,9", EXAMPLE, 0, ALL, ALL},
        {"2026-11-21T13:45:02,9", EXAMPLE * 1000000 + 900000, 6, ALL, ALL},
        {"2026-11-21T13:45", EXAMPLE - 2, 0, ALL, ALL},
        {"2026-11-21T13:45+01:00", EXAMPLE - 3602, 0, ALL, ALL},
        {"2026-11-21", EXAMPLE - 49502, 0, ALL, ALL},
        {"20261121T134502Z", EXAMPLE, 0, ALL, ALL},
        {"20261121T134502.5-0100", (EXAMPLE + 3600) * 10 + 5, 1, ALL, ALL},
        {"20261121T1345", EXAMPLE - 2, 0, ALL, ALL},
        {"[2026-11-21 13:45:02,123]", EXAMPLE * 1000 + 123, 3, ALL, ALL},
        {"[21/Nov/2026:13:45:02 +0000]", EXAMPLE, 0, ALL, ALL},
        {"21/nov/2026:13:45:02 -0100", EXAMPLE + 3600, 0, ALL, ALL},
        {"[21/NOV/2026:13:45:02", EXAMPLE, 0, ALL, ALL},
        {"[21/Nov/2026:13:45:02.123]", EXAMPLE * 1000 + 123, 3, ALL, ALL},
        {"1795268702", EXAMPLE, 0, ALL, ALL},
        {"+1795268702.9", EXAMPLE, 0, ALL, ALL},
        {"1795268702.25", EXAMPLE * 1000 + 250, 3, ALL, ALL},
        {"[2026-11-21T13:45:02Z]", EXAMPLE, 0, ALL, ALL},
        {"[2026-11-21 13:45", EXAMPLE - 2, 0, ALL, ALL},
        {"[20261121T134502Z]", EXAMPLE, 0, ALL, ALL},
        {"0", 0, 9, ALL, ALL},
    };
    tap_ok(reads((struct kind_time_rules){0}, rows, ARRAY_LENGTH(rows)), "read: every form");
}

static void test_floor(void)
{
    static const struct reading rows[] = {
        {"-100000000.5", -100000001, 0, ALL, ALL},
        {"-100000000.0000000001", -100000001, 0, ALL, ALL},
        {"-100000000.0000000001", -100000000000000001, 9, ALL, ALL},
        {"100000000.9999999999", 100000000999999999, 9, ALL, ALL},
        {"-100000000000.5", -100000001, 0, ALL, ALL},
        {"1969-12-31T23:59:59.25Z", -1, 0, ALL, ALL},
        {"1969-12-31T23:59:59.25Z", -75, 2, ALL, ALL},
        {"2016-12-31T23:59:60Z", 1483228800, 0, ALL, ALL},
        {"2016-12-31T23:59:60.5Z", 14832288005, 1, ALL, ALL},
    };
    tap_ok(reads((struct kind_time_rules){0}, rows, ARRAY_LENGTH(rows)),
           "read: times are floored, second 60 is the next minute's first");
}

static void test_local(void)
{
    static const struct reading rows[] = {
        {"2026-11-21T13:45:02+01:00", EXAMPLE, 0, ALL, ALL},
        {"[21/Nov/2026:13:45:02 -1130]", EXAMPLE, 0, ALL, ALL},
        {"[21/Nov/2026:13:45:02 -1130]", EXAMPLE, 0, 21, ALL},
        {"2026-11-21T13:45:02Z", EXAMPLE, 0, ALL, ALL},
        {"1795268702", EXAMPLE, 0, ALL, ALL},
        {"0001-01-01T00:00:00+23:00", -62135596800, 0, ALL, ALL},
    };
    static const char *const broken[] = {"2026-11-21T13:45:02+24:00", "2026-11-21T13:45:02+01:60",
                                         "[21/Nov/2026:13:45:02 +9900]"};
    const struct kind_time_rules rules = {.is_local = true};

    tap_ok(reads(rules, rows, ARRAY_LENGTH(rows)), "read: local times ignore the offset");
    tap_ok(refuses(&rules, broken, ARRAY_LENGTH(broken), false), "read: but it is checked");
}

static void test_invalid(void)
{
    static const char *const broken[] = {
        "",
        "[",
        "[]",
        "-",
        ".",
        "+.",
        "1e9",
        "1,5",
        "--5",
        "12:30:00",
        "2026-11",
        "2026-11-2",
        "2026-1-21",
        "2026-11-21T",
        "2026-11-21Z",
        "2026-11-21 ",
        "2026-11-21T13",
        "2026-11-21T13:4",
        "2026-11-21x13:45:02",
        "2026-11-21T13:45:02.",
        "2026-11-21T13:45:02.Z",
        "2026-11-21T13:45:02ZZ",
        "2026-11-21T13:45:02+1",
        "2026-11-21T13:45:02+010",
        "2026-11-21T13:45:02+01:0",
        "2026-11-21T13:45:02+01:00:00",
        "2026-11-21T13:45:02+",
        "2026-11-21T13:45:02 ",
        "2026-11-21T13:45:02 x",
        "2026-11-21T13:45:0:",
        "2026-11-21T13:45:02\x80",
        "202\xb6-11-21T13:45:02Z",
        "2026-00-21",
        "2026-13-21",
        "2026-11-00",
        "2026-11-31",
        "2026-02-29",
        "1900-02-29T00:00:00Z",
        "2000-02-30T00:00:00Z",
        "0000-11-21",
        "2026-11-21T24:00:00",
        "2026-11-21T25:00:00",
        "2026-11-21T13:60:00",
        "2026-11-21T13:45:61",
        "2026-11-21T13:45.5",
        "20261121 134502",
        "20261121T13",
        "20261121T1345021",
        "2026-11-21T134502",
        "21/Nox/2026:13:45:02 +0000",
        "21/November/2026:13:45:02",
        "31/Nov/2026:13:45:02 +0000",
        "21/Nov/0000:13:45:02 +0000",
        "1/Nov/2026:13:45:02 +0000",
        "21/11/2026:13:45:02 +0000",
        "[5",
        "5]",
        "5",
        ".5",
        "100000000000000000",
        "20261121134561",
        "2026112113",
        "261121134502",
        "2026-11-21T13:45:60",
        "21/Nov/2026:13:45:02]",
        "[5]",
        "1.5]",
        "+0000]",
        "2026-11-21]",
        "[[21/Nov/2026:13:45:02 +0000]",
        "[21/Nov/2026:13:45:02 +0000]]",
    };
    static const struct kind_time_rules rules = {0};

    tap_ok(refuses(&rules, broken, ARRAY_LENGTH(broken), false),
           "read: refuses what is none, and what no calendar has");
}

static void test_range(void)
{
    static const struct reading rows[] = {
        {"0001-01-01", -62135596800, 0, ALL, ALL},
        {"9999-12-31T23:59:59.9999999Z", INT64_C(2534023007999999999), 7, ALL, ALL},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX, 9, ALL, ALL},
        {"1677-09-21T00:12:44Z", INT64_C(-9223372036000000000), 9, ALL, ALL},
    };
    static const char *const beyond[] = {"0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
                                         "9999-12-31T23:59:60Z"};
    static const char *const beyond_nanoseconds[] = {"2262-04-11T23:47:16.854775808Z", "9999-01-01",
                                                     "1677-09-21T00:12:43.1Z"};
    static const struct kind_time_rules rules = {0};
    static const struct kind_time_rules nanoseconds = {.digits = 9};

    tap_ok(reads((struct kind_time_rules){0}, rows, ARRAY_LENGTH(rows)),
           "read: the first and the last times");
    tap_ok(refuses(&rules, beyond, ARRAY_LENGTH(beyond), true), "read: before and after them");
    tap_ok(refuses(&nanoseconds, beyond_nanoseconds, ARRAY_LENGTH(beyond_nanoseconds), true),
           "read: and of nanoseconds");
}

static void test_reading_on(void)
{
    static const struct reading rows[] = {
        {"2026-11-21 13:45:02 +01:00 x", EXAMPLE - 3600, 0, 10, ALL},
        {"2026-11-21 13:45:02 +0100 x", EXAMPLE - 3600, 0, 10, ALL},
        {"2026-11-21 13:45:02 +10 x", EXAMPLE - 36000, 0, 10, ALL},
        {"2026-11-21 13:45:02  +0100", EXAMPLE - 3600, 0, 10, ALL},
        {"2026-11-21\t13:45:02\t+0100", EXAMPLE - 3600, 0, 10, ALL},
        {"2026-11-21 13:45:02 Z", EXAMPLE, 0, 10, ALL},
        {"2026-11-21 13:45:02 Zebra", EXAMPLE, 0, 10, ALL},
        {"2026-11-21 13:45:02 -1.5", EXAMPLE, 0, 10, ALL},
        {"2026-11-21 13:45:02 -13", EXAMPLE, 0, 10, ALL},
        {"2026-11-21 13:45:02 +01000", EXAMPLE, 0, 10, ALL},
        {"2026-11-21 13:45:02 +9900", EXAMPLE, 0, 10, ALL},
        {"2026-11-21 13:45:02+01 x", EXAMPLE - 3600, 0, 10, ALL},
        {"2026-11-21 13:45 x", EXAMPLE - 2, 0, 10, ALL},
        {"2026-11-21 13:45:02\r", EXAMPLE, 0, 10, ALL},
        {"2026-11-21  13:45:02", EXAMPLE, 0, 10, ALL},
        {"2026-11-21 01:45:02 p.m. -03]", EXAMPLE + 10800, 0, 10, ALL},
        {"2026-11-21 13 x", EXAMPLE - 49502, 0, 10, ALL},
        {"2026-11-21 ", EXAMPLE - 49502, 0, 10, ALL},
        {"[21/Nov/2026:13:45:02 +0000] \"GET", EXAMPLE, 0, 21, ALL},
        {"21/Nov/2026:13:45:02 +0000] \"GET", EXAMPLE, 0, 20, ALL},
        {"[21/Nov/2026:13:45:02 -1100", EXAMPLE + 39600, 0, 21, ALL},
        {"[21/Nov/2026:13:45:02 -1200] \"GET", EXAMPLE + 43200, 0, 21, ALL},
        {"[21/Nov/2026:13:45:02 +1400] \"GET", EXAMPLE - 50400, 0, 21, ALL},
        {"[21/Nov/2026:13:45:02] +0100", EXAMPLE, 0, 22, ALL},
        {"[21/Nov/2026:13:45:02 200", EXAMPLE, 0, 21, ALL},
        {"1795268702 +0100", EXAMPLE, 0, 10, ALL},
        {"2026-11-21T13:45:02 -1999", EXAMPLE, 0, 19, ALL},
        {"2026-11-21T13:45:02 -0160 x", EXAMPLE, 0, 19, ALL},
        {"20261121 134502 x", 0, 0, 8, 0},
        {"2026-11-21 25:00:00 x", 0, 0, 10, 0},
        {"[21/Nov/2026:13:45:02 +9900]", 0, 0, 21, 0},
        {"[21/Nov/2026:13:45:02 -1201] \"GET", 0, 0, 21, 0},
        {"[21/Nov/2026:13:45:02 +1401] \"GET", 0, 0, 21, 0},
        {"2026-11-21T13:45:02 +0100 x", 0, 0, 19, 0},
        {"2026-11-21 +01:00", 0, 0, 10, 0},
        {"2026-11-21 12:34:56:78:9a:bc", 0, 0, 10, 0},
        {"2026-11-21 13:45:02x", 0, 0, 10, 0},
    };
    tap_ok(reads((struct kind_time_rules){0}, rows, ARRAY_LENGTH(rows)),
           "read: in the words that follow");
}

struct format_case {
    const char *format;
    const char *text;
    int64_t value; /* -1: invalid */
};

static void test_formats(void)
{
    static const struct format_case rows[] = {
        {"%d.%m.%Y %H:%M:%S", "21.11.2026 13:45:02", EXAMPLE},
        {"%d.%m.%Y%n%H:%M:%S", "21.11.2026 \t 13:45:02.5", EXAMPLE},
        {"%Y%m%d%H%M%S", "20261121134502", EXAMPLE},
        {"%FT%T%z", "2026-11-21T13:45:02+01:00", EXAMPLE - 3600},
        {"%F %R", "2026-11-21 13:45", EXAMPLE - 2},
        {"%D %T", "11/21/26 13:45:02", EXAMPLE},
        {"%D", "11/21/69", -3542400},
        {"%a %b %e %T %Z %Y", "Sat Nov 21 13:45:02 UTC 2026", EXAMPLE},
        {"%A, %d %B %Y %I:%M:%S %p", "saturday, 21 NOVEMBER 2026 01:45:02 pm", EXAMPLE},
        {"%b %e %T", "Jan  2 00:00:01", 86401},
        {"%b %e", "Jan  3", 2 * 86400 - 365 * 86400},
        {"%b %e", "Feb 29", -1},
        {"%b %d %T", "Jan 2 00:00:01", 86401},
        {"%Y-%j", "2024-366", 1735603200},
        {"%Y-%j", "2023-366", -1},
        {"%Y-%j", "2024-000", -1},
        {"%j %Y", "60 2024", 1709164800},
        {"%s", "1795268702.7", EXAMPLE},
        {"%s", "-5", -5},
        {"%s.%f", "-1.5", -2},
        {"%d.%m.%Y %H:%M", "1.1.1970 00:10", 600},
        {"%F %I %p", "1970-01-01 12 AM", 0},
        {"%F %I%p", "1970-01-01 12pm", 43200},
        {"%F %I %p", "1970-01-01 13 PM", -1},
        {"%F %I %p", "1970-01-01 0 PM", -1},
        {"%F %H:%M:%S.%f", "1970-01-01 0:0:1.5", 1},
        {"%Y-%m %H:%M:%S,%d", "1970-01 0:0:1,5", 345601},
        {"%F %T%%", "1970-01-01 00:00:02%", 2},
        {"%F %T%%", "1970-01-01 00:00:02", -1},
        {"%F %T %z %Z", "2026-11-21 13:45:02 +0100 CET", EXAMPLE - 3600},
        {"%F %T %Z", "2026-11-21 13:45:02 CET", -1},
        {"%F", "26-11-21", -1},
        {"%F", "2026-02-30", -1},
        {"%d %b", "21 Nox", -1},
        {"%d %b", "21 No", -1},
        {"%F", "2026-11-21x", -1},
        {"[%F]", "[2026-11-21]", EXAMPLE - 49502},
        {"%d\303\251%m", "1\303\2511", 0},
        {"%m %e", "1  1", 0},
        {"%m\303\251%e", "1\303\251 12", -1},
    };
    bool all = true;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct kind_time_format format;
        struct failure failure;
        struct kind_time_rules rules = {.format = &format};
        int64_t value = -1;
        bool is_out_of_range;
        if (kind_time_format_parse(&format, rows[i].format, &failure) != STATUS_OK)
            all = tap_note("%s: %s", rows[i].format, failure.message);
        else if ((read_exactly(&rules, rows[i].text, ALL, &value, &is_out_of_range) ==
                  strlen(rows[i].text)) != (rows[i].value != -1) ||
                 value != rows[i].value)
            all = tap_note("%s: '%s': %lld", rows[i].format, rows[i].text, (long long)value);
    }
    tap_ok(all, "format: each letter");

    static const char *const broken[] = {"%",     "%Y%",   "%Q",       "%c",      "%Ey",
                                         "",      "noon",  "%z",       "%f",      "%Y %y",
                                         "%j %m", "%s %Y", "%F %d",    "%H %I",   "%%",
                                         "%T",    "%Y %b", "%F %R %p", "%F %H%p", "%F %I"};
    all = true;
    for (size_t i = 0; i < ARRAY_LENGTH(broken); i++) {
        struct kind_time_format format;
        struct failure failure;
        if (kind_time_format_parse(&format, broken[i], &failure) != STATUS_USAGE)
            all = tap_note("'%s' is a format", broken[i]);
    }
    tap_ok(all, "format: refuses what it does not know, and what is said twice");

    char longest[KIND_TIME_FORMAT_STEPS + 40];
    memset(longest, 'x', sizeof longest);
    for (size_t length = 2; length < sizeof longest; length++) {
        struct kind_time_format format;
        struct failure failure;
        memcpy(longest + length - 2, "%D", 3);
        all &= (kind_time_format_parse(&format, longest, &failure) == STATUS_OK) ==
               (length - 2 + 8 < sizeof format.steps);
        memset(longest + length - 2, 'x', 3);
    }
    tap_ok(all, "format: of any length, up to its greatest");
}

static void test_format_reading_on(void)
{
    static const struct reading rows[] = {
        {"21.11.2026 13:45:02 x", EXAMPLE, 0, 10, 19},
        {"21.11.2026 13:45:02", EXAMPLE, 0, 10, 19},
        {"21.11.2026 13:45:02x", 0, 0, 10, 0},
        {"21.11.2026 x", 0, 0, 10, 0},
    };
    static const struct reading zones[] = {{"1970-01-01 13:45:02 CEST", 49502, 0, ALL, ALL}};
    struct kind_time_format format;
    struct failure failure;

    kind_time_format_parse(&format, "%d.%m.%Y %T", &failure);
    tap_ok(reads((struct kind_time_rules){.format = &format}, rows, ARRAY_LENGTH(rows)),
           "format: blanks in it read on");
    kind_time_format_parse(&format, "%F %T %Z", &failure);
    tap_ok(reads((struct kind_time_rules){.format = &format, .is_local = true}, zones, 1),
           "format: zones of local times may have any name");
}

static void test_write(void)
{
    static const struct {
        int64_t value;
        struct kind_time_rules rules;
        const char *text;
    } rows[] = {
        {EXAMPLE, {0}, "2026-11-21T13:45:02Z"},
        {EXAMPLE, {.is_local = true}, "2026-11-21T13:45:02"},
        {EXAMPLE * 1000 + 7, {.digits = 3}, "2026-11-21T13:45:02.007Z"},
        {-1, {.digits = 9}, "1969-12-31T23:59:59.999999999Z"},
        {INT64_MIN, {.digits = 9}, "1677-09-21T00:12:43.145224192Z"},
        {INT64_MAX, {.digits = 9}, "2262-04-11T23:47:16.854775807Z"},
        {-62135596800, {0}, "0001-01-01T00:00:00Z"},
        {-62135596801, {0}, "0000-12-31T23:59:59Z"},
        {-62167219201, {0}, "-0001-12-31T23:59:59Z"},
        {253402300800, {.is_local = true}, "+10000-01-01T00:00:00"},
        {INT64_MAX, {0}, "+292277026596-12-04T15:30:07Z"},
        {INT64_MIN, {0}, "-292277022657-01-27T08:29:52Z"},
    };
    bool all = true;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        char out[KIND_TIME_SIZE] = "";
        size_t length = kind_time_write(out, &rows[i].rules, rows[i].value);
        if (length != strlen(rows[i].text) || memcmp(out, rows[i].text, length) != 0)
            all = tap_note("%s, not %.*s", rows[i].text, (int)length, out);
    }
    tap_ok(all, "write: with digits, local times, and values of any size");
}

static void test_every_day(void)
{
    const struct kind_time_rules rules = {0};
    int64_t wanted = -62135596800;
    bool all = true;

    for (unsigned year = 1; year <= 9999; year++) {
        for (unsigned month = 1; month <= 12; month++) {
            static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
            bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            unsigned count = days[month - 1] + (month == 2 && is_leap ? 1u : 0u);
            for (unsigned day = 1; day <= count + 1; day++) {
                char text[64];
                char out[KIND_TIME_SIZE];
                int64_t value = 0;
                snprintf(text, sizeof text, "%04u-%02u-%02uT12:34:56Z", year, month, day);
                bool is_read = kind_time_read(&rules, text, 20, 20, &value, NULL) == 20;
                if (is_read != (day <= count) || (is_read && value != wanted + 45296))
                    all = tap_note("%s: %lld", text, (long long)value);
                if (is_read &&
                    (kind_time_write(out, &rules, value) != 20 || memcmp(out, text, 20) != 0))
                    all = tap_note("%s: %.20s", text, out);
                wanted += is_read ? 86400 : 0;
            }
        }
    }
    tap_ok(all, "read and write: every day of the years 1 to 9999");
}

static int64_t value_of(const char *text, unsigned digits)
{
    const struct kind_time_rules rules = {.digits = digits};
    int64_t value = 0;

    kind_time_read(&rules, text, strlen(text), strlen(text), &value, NULL);
    return value;
}

static void test_buckets(void)
{
    static const struct {
        const char *width;
        unsigned digits;
        const char *time, *begin, *next; /* next NULL: its bucket is the last */
    } rows[] = {
        {"15m", 0, "2026-11-21T13:45:02", "2026-11-21T13:45:00", "2026-11-21T14:00:00"},
        {"1s", 3, "2026-11-21T13:45:02.7", "2026-11-21T13:45:02", "2026-11-21T13:45:03"},
        {"h", 0, "2026-11-21T13:45:02", "2026-11-21T13:00:00", "2026-11-21T14:00:00"},
        {"1d", 9, "1969-12-31T23:59:59.5", "1969-12-31", "1970-01-01"},
        {"w", 0, "2026-11-21T13:45:02", "2026-11-16", "2026-11-23"},
        {"1w", 0, "1970-01-01", "1969-12-29", "1970-01-05"},
        {"1w", 9, "1969-12-28T23:59:59.9", "1969-12-22", "1969-12-29"},
        {"2w", 0, "1970-01-05", "1969-12-29", "1970-01-12"},
        {"1w", 0, "0001-01-03", "0001-01-01", "0001-01-08"},
        {"3d", 0, "0001-01-01T05:00:00", "0001-01-01", "0001-01-03"},
        {"1mo", 0, "2024-02-29T13:45:02", "2024-02-01", "2024-03-01"},
        {"3mo", 3, "2026-11-21T13:45:02.9", "2026-10-01", "2027-01-01"},
        {"y", 0, "2026-11-21T13:45:02", "2026-01-01", "2027-01-01"},
        {"10y", 9, "1969-12-31T23:59:59.9", "1960-01-01", "1970-01-01"},
        {"100y", 0, "1999-12-31", "1900-01-01", "2000-01-01"},
        {"10y", 0, "0009-12-31", "0001-01-01", "0010-01-01"},
        {"10000y", 0, "2026-11-21", "0001-01-01", NULL},
        {"1y", 0, "9999-06-01", "9999-01-01", NULL},
        {"1s", 0, "9999-12-31T23:59:59", "9999-12-31T23:59:59", NULL},
        {"1y", 9, "2262-03-01", "2262-01-01", NULL},
        {"15mins", 0, "2026-11-21T13:59:59", "2026-11-21T13:45:00", "2026-11-21T14:00:00"},
        {"2hours", 0, "2026-11-21T13:59:59", "2026-11-21T12:00:00", "2026-11-21T14:00:00"},
        {"week", 0, "2026-11-21", "2026-11-16", "2026-11-23"},
        {"month", 0, "2026-11-21", "2026-11-01", "2026-12-01"},
        {"year", 0, "2026-11-21", "2026-01-01", "2027-01-01"},
        {"1d", 9, "2262-04-11", "2262-04-11", NULL},
    };
    static const char *const broken[] = {"",
                                         "0s",
                                         "m5",
                                         "5",
                                         "5ms",
                                         "1.5h",
                                         "-1h",
                                         "1 h",
                                         "1mo ",
                                         "1minu",
                                         "seconds ",
                                         "s sec",
                                         "Day",
                                         "120001mo",
                                         "10001y",
                                         "1D",
                                         "99999999999999999999s",
                                         "9223372036854775807m"};
    struct kind_time_bucket bucket;
    bool all = true;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        int64_t value = value_of(rows[i].time, rows[i].digits);
        bool is_bucket =
            kind_time_bucket_parse(rows[i].width, strlen(rows[i].width), rows[i].digits, &bucket);
        int64_t begin = value_of(rows[i].begin, rows[i].digits);
        int64_t found = is_bucket ? kind_time_bucket_floor(&bucket, value) : 0;
        int64_t last = rows[i].digits == 9
                           ? INT64_MAX
                           : value_of("9999-12-31T23:59:59.999999999", rows[i].digits);
        if (rows[i].next) {
            int64_t next = value_of(rows[i].next, rows[i].digits);
            is_bucket = is_bucket && kind_time_bucket_floor(&bucket, next) == next;
            last = next - 1;
        }
        if (!is_bucket || found != begin || kind_time_bucket_floor(&bucket, last) != begin)
            all = tap_note("%s of %s: %lld", rows[i].width, rows[i].time, (long long)found);
    }
    tap_ok(all, "buckets: where they begin and end");
    all = true;
    for (size_t i = 0; i < ARRAY_LENGTH(broken); i++) {
        if (kind_time_bucket_parse(broken[i], strlen(broken[i]), 0, &bucket))
            all = tap_note("'%s' is a bucket", broken[i]);
    }
    tap_ok(all, "buckets: refuses what is none");
    bucket = (struct kind_time_bucket){0};
    tap_ok(kind_time_bucket_parse("1w", 2, 9, &bucket) &&
               kind_time_bucket_floor(&bucket, INT64_MIN) == INT64_MIN,
           "buckets: the first of nanoseconds begins with the first of these");
}

/* The start of a bucket is its first value. */
static void test_bucket_rows(void)
{
    static const char *const widths[] = {"7s", "13m", "5h",  "1d", "9d", "1w",
                                         "3w", "1mo", "5mo", "1y", "7y", "300y"};
    uint64_t random = 5;
    bool all = true;

    for (size_t i = 0; i < ARRAY_LENGTH(widths); i++) {
        for (unsigned digits = 0; digits <= 9; digits += 3) {
            struct kind_time_bucket bucket;
            kind_time_bucket_parse(widths[i], strlen(widths[i]), digits, &bucket);
            for (int j = 0; j < 300; j++) {
                const struct kind_time_rules rules = {.digits = digits};
                char text[64];
                int64_t value;
                snprintf(text, sizeof text, "%u.%u", (unsigned)(tap_random(&random) % 4000000000),
                         j);
                kind_time_read(&rules, text, strlen(text), strlen(text), &value, NULL);
                value -= j % 2 == 0 ? value / 3 * 5 : 0; /* before 1970 */
                int64_t begin = kind_time_bucket_floor(&bucket, value);
                all &= begin <= value && kind_time_bucket_floor(&bucket, begin) == begin;
                all &= kind_time_bucket_floor(&bucket, begin - 1) < begin;
            }
        }
    }
    tap_ok(all, "buckets: they begin with their first value");
}

int main(void)
{
    test_forms();
    test_floor();
    test_local();
    test_invalid();
    test_range();
    test_reading_on();
    test_formats();
    test_format_reading_on();
    test_write();
    test_every_day();
    test_buckets();
    test_bucket_rows();
    return tap_done();
}
