/* Decimal numbers: valid and invalid input, and output compared with snprintf. */
#include "config.h"

#include "lib/decimal.h"
#include "tap.h"

#include <limits.h>
#include <string.h>

#define INT128_MAX          ((__int128)(((unsigned __int128)1 << 127) - 1))
#define INT128_MIN          (-INT128_MAX - 1)
#define POWER2(n)           ((__int128)1 << (n))
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* One TAP line for the strings that are read (or refused) for one reason. */
struct reading {
    const char *text;
    enum decimal_unit unit;
    __int128 value;
};

static bool reads(const struct reading *rows, size_t count)
{
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        char found[DECIMAL_SIZE] = "nothing";
        __int128 value = 0;
        bool read = decimal_parse(rows[i].text, strlen(rows[i].text), rows[i].unit, &value);
        if (read)
            decimal_format_fixed(found, value, 0);
        if (!read || value != rows[i].value)
            all = tap_note("'%s' was read as %s", rows[i].text, found);
    }
    return all;
}

static bool refuses(const char *const *texts, size_t count, enum decimal_unit unit)
{
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        __int128 value = 4711;
        if (decimal_parse(texts[i], strlen(texts[i]), unit, &value))
            all = tap_note("'%s' was read as %lld", texts[i], (long long)value);
        if (value != 4711)
            all = tap_note("'%s' was refused, but stored", texts[i]);
    }
    return all;
}

static void test_parse_plain(void)
{
    static const struct reading rows[] = {
        {"0", DECIMAL_UNIT_SI, 0},
        {"-0", DECIMAL_UNIT_SI, 0},
        {"7", DECIMAL_UNIT_SI, 7},
        {"-5", DECIMAL_UNIT_SI, -5},
        {"+5", DECIMAL_UNIT_SI, 5},
        {"007", DECIMAL_UNIT_BYTES, 7},
        {"0000000000000000000000000000000000000000000000000012", DECIMAL_UNIT_SI, 12},
        {"9223372036854775807", DECIMAL_UNIT_SI, INT64_MAX},
        {"-9223372036854775808", DECIMAL_UNIT_SI, INT64_MIN},
        {"18446744073709551615", DECIMAL_UNIT_BYTES, UINT64_MAX},
        {"18446744073709551616", DECIMAL_UNIT_BYTES, POWER2(64)},
        {"79228162514264337593543950335", DECIMAL_UNIT_SI, POWER2(96) - 1},
        {"-79228162514264337593543950335", DECIMAL_UNIT_BYTES, 1 - POWER2(96)},
    };
    tap_ok(reads(rows, ARRAY_LENGTH(rows)), "parse: plain numbers, up to 2^96 - 1");
}

static void test_parse_suffixes(void)
{
    static const struct reading si[] = {
        {"5k", DECIMAL_UNIT_SI, 5000},
        {"5K", DECIMAL_UNIT_SI, 5000},
        {"5M", DECIMAL_UNIT_SI, 5000000},
        {"-5M", DECIMAL_UNIT_SI, -5000000},
        {"3G", DECIMAL_UNIT_SI, 3000000000},
        {"3T", DECIMAL_UNIT_SI, 3000000000000},
        {"3P", DECIMAL_UNIT_SI, 3000000000000000},
        {"3E", DECIMAL_UNIT_SI, 3000000000000000000},
        {"1Ki", DECIMAL_UNIT_SI, 1024},
        {"1Mi", DECIMAL_UNIT_SI, 1048576},
        {"1Ei", DECIMAL_UNIT_SI, POWER2(60)},
    };
    static const struct reading bytes[] = {
        {"5K", DECIMAL_UNIT_BYTES, 5120},
        {"5k", DECIMAL_UNIT_BYTES, 5120},
        {"5Ki", DECIMAL_UNIT_BYTES, 5120},
        {"5KiB", DECIMAL_UNIT_BYTES, 5120},
        {"5KB", DECIMAL_UNIT_BYTES, 5000},
        {"5kB", DECIMAL_UNIT_BYTES, 5000},
        {"2M", DECIMAL_UNIT_BYTES, 2 << 20},
        {"2MB", DECIMAL_UNIT_BYTES, 2000000},
        {"2MiB", DECIMAL_UNIT_BYTES, 2 << 20},
        {"16E", DECIMAL_UNIT_BYTES, POWER2(64)},
        {"16EiB", DECIMAL_UNIT_BYTES, POWER2(64)},
        {"16EB", DECIMAL_UNIT_BYTES, (__int128)16 * 1000000000000000000},
    };
    tap_ok(reads(si, ARRAY_LENGTH(si)), "parse: suffixes as numfmt --from=auto");
    tap_ok(reads(bytes, ARRAY_LENGTH(bytes)), "parse: suffixes as GNU sizes");
}

static void test_parse_fractions(void)
{
    static const struct reading rows[] = {
        {"1.5M", DECIMAL_UNIT_SI, 1500000}, {"-1.5M", DECIMAL_UNIT_SI, -1500000},
        {"1.5K", DECIMAL_UNIT_BYTES, 1536}, {"0.5k", DECIMAL_UNIT_SI, 500},
        {"0.125Ki", DECIMAL_UNIT_SI, 128},  {"1.0", DECIMAL_UNIT_SI, 1},
        {"12.000", DECIMAL_UNIT_BYTES, 12}, {"0.000", DECIMAL_UNIT_SI, 0},
    };
    static const char *const broken[] = {"0.5",       "1.5",    "-0.5", "1.0001k", "0.1Ki", "1.",
                                         "1.234567k", "1.2.3M", "1.k",  ".5k",     "1.5M.", "."};

    tap_ok(reads(rows, ARRAY_LENGTH(rows)), "parse: fractions that make a whole number");
    tap_ok(refuses(broken, ARRAY_LENGTH(broken), DECIMAL_UNIT_SI),
           "parse: refuses fractions that make none, or are not written out");
}

static void test_parse_times(void)
{
    static const struct reading rows[] = {
        {"10", DECIMAL_UNIT_TIME, 10000000000},   {"10s", DECIMAL_UNIT_TIME, 10000000000},
        {"0.25", DECIMAL_UNIT_TIME, 250000000},   {"500ms", DECIMAL_UNIT_TIME, 500000000},
        {"0.000001ms", DECIMAL_UNIT_TIME, 1},     {"1.5m", DECIMAL_UNIT_TIME, 90000000000},
        {"2h", DECIMAL_UNIT_TIME, 7200000000000}, {"0.1d", DECIMAL_UNIT_TIME, 8640000000000},
    };
    static const char *const broken[] = {"5K", "5M", "5S",    "5us",           "5 s",
                                         "s",  "ms", "1h30m", "0.0000000001s", "5sm"};

    tap_ok(reads(rows, ARRAY_LENGTH(rows)), "parse: times, in nanoseconds");
    tap_ok(refuses(broken, ARRAY_LENGTH(broken), DECIMAL_UNIT_TIME),
           "parse: refuses what is no time, or a part of a nanosecond");
}

static void test_parse_refusals(void)
{
    static const char *const either[] = {
        "",    "-",    "+",    "--5",  "++5", "+-5", "-+5",   "- 5", " 5",        "5 ", "5\n",
        "5X",  "32LB", "5m",   "5g",   "K",   "-K",  "M5",    "5KK", "5iB",       "5i", "5B",
        "0x5", "1e5",  "5Kib", "5KIB", "5,0", "1_0", "5KiBB", "5Z",  "5\xc2\xb2",
    };
    static const char *const si[] = {"5KB", "5KiB", "5kB", "1MB", "1MiB"};

    tap_ok(refuses(either, ARRAY_LENGTH(either), DECIMAL_UNIT_SI) &&
               refuses(either, ARRAY_LENGTH(either), DECIMAL_UNIT_BYTES),
           "parse: refuses what is no number");
    tap_ok(refuses(si, ARRAY_LENGTH(si), DECIMAL_UNIT_SI), "parse: refuses suffixes of bytes");
}

static void test_parse_limits(void)
{
    static const struct reading below[] = {
        {"77371252455336267181195263Ki", DECIMAL_UNIT_SI, POWER2(96) - 1024},
        {"68719476735E", DECIMAL_UNIT_BYTES, POWER2(96) - POWER2(60)},
    };
    static const char *const huge[] = {
        "79228162514264337593543950336",
        "-79228162514264337593543950336",
        "77371252455336267181195264Ki",
        "79228162515E",
        "340282366920938463463374607431768211456",
        "340282366920938463463374607431768211461",
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999",
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999E",
    };
    static const char *const bytes[] = {"68719476736E", "68719476736EiB"};

    tap_ok(reads(below, ARRAY_LENGTH(below)), "parse: the largest multiples of a unit");
    tap_ok(refuses(huge, ARRAY_LENGTH(huge), DECIMAL_UNIT_SI) &&
               refuses(bytes, ARRAY_LENGTH(bytes), DECIMAL_UNIT_BYTES),
           "parse: refuses 2^96 and more, nothing wraps");
}

static void test_parse_length(void)
{
    __int128 value = 0;

    tap_ok(decimal_parse("123456", 3, DECIMAL_UNIT_SI, &value) && value == 123 &&
               decimal_parse("5MiB", 2, DECIMAL_UNIT_SI, &value) && value == 5000000 &&
               decimal_parse("5MiB", 1, DECIMAL_UNIT_SI, &value) && value == 5,
           "parse: looks at `length` bytes and no more");
    tap_ok(!decimal_parse("", 0, DECIMAL_UNIT_SI, &value) &&
               !decimal_parse("7", 0, DECIMAL_UNIT_SI, &value) &&
               !decimal_parse("5\0", 2, DECIMAL_UNIT_SI, &value) &&
               !decimal_parse("5K\0", 3, DECIMAL_UNIT_BYTES, &value) &&
               !decimal_parse("1\0002", 3, DECIMAL_UNIT_SI, &value),
           "parse: nothing, or a NUL in it, is no number");
}

static void test_parse_unsigned(void)
{
    uint64_t value = 0;

    tap_ok(decimal_parse_unsigned("18446744073709551615", DECIMAL_UNIT_SI, &value) &&
               value == UINT64_MAX && decimal_parse_unsigned("15E", DECIMAL_UNIT_BYTES, &value) &&
               value == (uint64_t)15 << 60 &&
               decimal_parse_unsigned("-0", DECIMAL_UNIT_SI, &value) && value == 0,
           "parse_unsigned: 0 to 2^64 - 1");
    value = 4711;
    tap_ok(!decimal_parse_unsigned("18446744073709551616", DECIMAL_UNIT_SI, &value) &&
               !decimal_parse_unsigned("16E", DECIMAL_UNIT_BYTES, &value) &&
               !decimal_parse_unsigned("-1", DECIMAL_UNIT_SI, &value) &&
               !decimal_parse_unsigned("", DECIMAL_UNIT_SI, &value) && value == 4711,
           "parse_unsigned: refuses the rest");
}

/* Returns whether every function writes `value` as `wanted`, and nothing after it. */
static bool writes(__int128 value, const char *wanted)
{
    char out[DECIMAL_SIZE + 1];
    size_t length = strlen(wanted);
    bool right;

    memset(out, '#', sizeof out);
    right = decimal_write_fixed(out, value, 0) == length && memcmp(out, wanted, length) == 0 &&
            out[length] == '#';
    memset(out, '#', sizeof out);
    decimal_format_fixed(out, value, 0);
    right = right && strcmp(out, wanted) == 0;
    if (value >= 0 && value <= UINT64_MAX) {
        memset(out, '#', sizeof out);
        right = right && decimal_write(out, (uint64_t)value) == length &&
                memcmp(out, wanted, length) == 0 && out[length] == '#';
    }
    return right || tap_note("%s was written as '%.*s'", wanted, DECIMAL_SIZE, out);
}

static bool writes_as_snprintf(uint64_t magnitude)
{
    char wanted[32];

    snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)magnitude);
    if (!writes((__int128)magnitude, wanted))
        return false;
    if (magnitude == 0)
        return true;
    snprintf(wanted, sizeof wanted, "-%llu", (unsigned long long)magnitude);
    return writes(-(__int128)magnitude, wanted);
}

static void test_write_64(void)
{
    bool small = true;
    bool powers = true;
    bool random = true;
    uint64_t state = 1;

    for (uint64_t value = 0; value < 12000; value++)
        small = small && writes_as_snprintf(value);
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
        for (uint64_t factor = 1; factor <= 10; factor += 9)
            powers = powers && writes_as_snprintf(power * factor - 1) &&
                     writes_as_snprintf(power * factor) && writes_as_snprintf(power * factor + 1);
    }
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t word = tap_random(&state);
        random = random && writes_as_snprintf(word >> i % 64);
    }
    tap_ok(small, "write: 0 to 11999 and their negatives");
    tap_ok(powers, "write: powers of ten, one less and one more");
    tap_ok(writes_as_snprintf(UINT64_MAX) && writes(INT64_MIN, "-9223372036854775808") &&
               writes(INT64_MAX, "9223372036854775807"),
           "write: the limits of 64 bits");
    tap_ok(random, "write: random numbers of every length");
}

/* Writes the digits of a number to the end of `text`, in the slowest way. */
static const char *slow_text(__int128 value, char text[DECIMAL_SIZE])
{
    char *c = text + DECIMAL_SIZE - 1;
    __int128 rest = value;

    *c = '\0';
    do {
        int digit = (int)(rest % 10);
        *--c = (char)('0' + (digit < 0 ? -digit : digit));
        rest /= 10;
    } while (rest != 0);
    if (value < 0)
        *--c = '-';
    return c;
}

static void test_write_128(void)
{
    bool powers = true;
    bool random = true;
    uint64_t state = 2;
    char text[DECIMAL_SIZE];

    for (__int128 power = 1; power <= INT128_MAX / 10; power *= 10) {
        for (__int128 value = power * 10 - 2; value <= power * 10 + 2; value++)
            powers = powers && writes(value, slow_text(value, text)) &&
                     writes(-value, slow_text(-value, text));
    }
    for (unsigned i = 0; i < 20000; i++) {
        unsigned __int128 bits = tap_random(&state);
        __int128 value = (__int128)(bits << 64 | tap_random(&state)) >> i % 128;
        random = random && writes(value, slow_text(value, text));
    }
    tap_ok(powers, "write_signed: powers of ten to 10^38, up to two less and two more");
    tap_ok(random, "write_signed: random 128-bit numbers of every length");
    tap_ok(writes(POWER2(64), "18446744073709551616") &&
               writes(-POWER2(64), "-18446744073709551616") &&
               writes(INT128_MAX, "170141183460469231731687303715884105727") &&
               writes(INT128_MIN, "-170141183460469231731687303715884105728"),
           "write_signed: 2^64 and the limits of 128 bits");
}

static void test_round_trip(void)
{
    bool same = true;
    uint64_t state = 3;

    for (unsigned i = 0; i < 20000; i++) {
        char text[DECIMAL_SIZE];
        unsigned __int128 bits = tap_random(&state);
        __int128 value = (__int128)(bits << 32 | tap_random(&state) >> 32) >> i % 96;
        __int128 back = 0;
        value = i % 2 ? -value : value;
        size_t length = decimal_write_fixed(text, value, 0);
        same = same && decimal_parse(text, length, DECIMAL_UNIT_SI, &back) && back == value;
    }
    tap_ok(same, "what is written is read as the same number");
}

/* Checks reading and writing of a number with decimal places. read_as NULL: same as written. */
static bool is_fixed(__int128 value, unsigned decimals, const char *written, const char *read_as)
{
    char out[DECIMAL_SIZE];
    const char *text = read_as ? read_as : written;
    __int128 back = 4711;

    decimal_format_fixed(out, value, decimals);
    bool right = strcmp(out, written) == 0;
    right = right && decimal_write_fixed(out, value, decimals) == strlen(written);
    return (right && decimal_parse_fixed(text, strlen(text), decimals, &back) && back == value) ||
           tap_note("%s was written as '%s'", text, out);
}

static void test_fixed(void)
{
    static const char *const refused[] = {"1.2345", ".",  "-.",   "1..2",    "1.2.3", "1e",
                                          "1e-4",   "e5", "1e5K", "1e99999", "",      "+",
                                          " 1",     "1 ", "1e+",  "5e 3"};
    char out[DECIMAL_SIZE];
    __int128 value = 4711;

    bool right = true;

    tap_ok(is_fixed(0, 3, "0.000", "-0") && is_fixed(7, 3, "0.007", ".007") &&
               is_fixed(-70, 3, "-0.070", "-.07") && is_fixed(1000, 3, "1.000", "1.") &&
               is_fixed(12345, 3, "12.345", "+12.345000") && is_fixed(-5, 0, "-5", NULL) &&
               is_fixed(1500000, 3, "1500.000", "1.5K") && is_fixed(512, 1, "51.2", "0.05Ki") &&
               is_fixed(1500000, 3, "1500.000", "1.5e3") && is_fixed(-15, 3, "-0.015", "-15E-3") &&
               is_fixed(0, 3, "0.000", "0e-99999999999") &&
               is_fixed(INT64_MIN, 18, "-9.223372036854775808", NULL) &&
               is_fixed(UINT64_MAX, 18, "18.446744073709551615", NULL),
           "fixed: numbers with a point");
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++)
        right = right && !decimal_parse_fixed(refused[i], strlen(refused[i]), 3, &value);
    right = right && !decimal_parse_fixed(".5", 2, 0, &value) &&
            !decimal_parse_fixed("79228162514264337.6", 19, 12, &value); /* 2^96 */
    tap_ok(right && value == 4711, "fixed: refuses the rest");
    decimal_format_fixed(out, INT128_MIN, 18);
    tap_ok(strcmp(out, "-170141183460469231731.687303715884105728") == 0 &&
               decimal_write_places(out, -(unsigned __int128)1, 18) == 40,
           "fixed: the limits of 128 bits");
}

int main(void)
{
    test_parse_plain();
    test_parse_suffixes();
    test_parse_fractions();
    test_parse_times();
    test_parse_refusals();
    test_parse_limits();
    test_parse_length();
    test_parse_unsigned();
    test_write_64();
    test_write_128();
    test_round_trip();
    test_fixed();
    return tap_done();
}
