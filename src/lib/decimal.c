/* Implements decimal.h: suffixes, points, and writing digits in pairs. */
#include "config.h"

#include "lib/decimal.h"

#include <string.h>

#define DECIMAL_LIMIT ((__int128)1 << 96)

/* Maximum exponent: larger than that of any valid number. */
#define DECIMAL_EXPONENT_MAX 100000

/* Returns the factor of a suffix; 0 for an unknown one. Without a suffix: 1, or for time 1 second.
 */
static uint64_t decimal_factor(const char *suffix, size_t length, enum decimal_unit unit)
{
    static const char letters[] = "KMGTPE";
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } times[] = {
        {"", 1000000000},   {"ms", 1000000},      {"s", 1000000000},
        {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000},
    };

    for (size_t i = 0; unit == DECIMAL_UNIT_TIME && i < sizeof times / sizeof *times; i++) {
        if (strlen(times[i].name) == length && memcmp(times[i].name, suffix, length) == 0)
            return times[i].nanoseconds;
    }
    if (length == 0 || unit == DECIMAL_UNIT_TIME)
        return length == 0 ? 1 : 0;
    const char *letter = strchr(letters, *suffix == 'k' ? 'K' : *suffix);
    if (!letter || *suffix == '\0')
        return 0;
    const char *rest = suffix + 1;
    uint64_t base = unit == DECIMAL_UNIT_SI ? 1000 : 1024;
    if (length == 2 && *rest == 'i')
        base = 1024;
    else if (unit == DECIMAL_UNIT_BYTES && length == 2 && *rest == 'B')
        base = 1000;
    else if (length > 1 &&
             !(unit == DECIMAL_UNIT_BYTES && length == 3 && memcmp(rest, "iB", 2) == 0))
        return 0;
    uint64_t factor = base;
    for (const char *power = letters; power < letter; power++)
        factor *= base;
    return factor;
}

/*
 * Takes the exponent, such as e-3, at the start of *text, up to `end`. Returns it, at most
 * DECIMAL_EXPONENT_MAX; 0 if there is none.
 */
static int decimal_take_exponent(const char **text, const char *end)
{
    const char *c = *text + 1;
    int exponent = 0;

    if (end - *text < 2 || (**text != 'e' && **text != 'E'))
        return 0;
    const bool is_negative = *c == '-';
    c += is_negative || *c == '+';
    if (c == end || *c < '0' || *c > '9')
        return 0;
    for (; c < end && *c >= '0' && *c <= '9'; c++)
        exponent = exponent < DECIMAL_EXPONENT_MAX ? exponent * 10 + (*c - '0') : exponent;
    if (c < end) /* a suffix cannot follow */
        return 0;
    *text = c;
    return is_negative ? -exponent : exponent;
}

/*
 * Like decimal_parse, in units of 10^-decimals. `is_fixed`: an exponent is allowed, and if
 * `decimals` is not 0, digits may be missing before or after the point.
 */
static bool decimal_read(const char *text, size_t length, enum decimal_unit unit, unsigned decimals,
                         bool is_fixed, __int128 *value)
{
    const bool is_loose = is_fixed && decimals > 0;
    const char *c = text;
    const char *end = text + length;
    bool negative = c < end && *c == '-';
    bool has_point = false;
    unsigned whole_digits = 0;
    unsigned fraction_digits = 0;
    __int128 number = 0;

    if (c < end && (*c == '-' || *c == '+'))
        c++;
    for (; c < end && number < DECIMAL_LIMIT; c++) { /* up to the suffix */
        if (*c >= '0' && *c <= '9') {
            number = number * 10 + (*c - '0');
            whole_digits += !has_point;
            fraction_digits += has_point;
        } else if (*c == '.' && !has_point && (whole_digits > 0 || is_loose)) {
            has_point = true;
        } else {
            break;
        }
    }
    if (has_point && fraction_digits == 0 && !is_loose)
        return false;
    const int exponent = is_fixed ? decimal_take_exponent(&c, end) : 0;
    const uint64_t factor = decimal_factor(c, (size_t)(end - c), unit);
    if (whole_digits + fraction_digits == 0 || factor == 0 ||
        number > (DECIMAL_LIMIT - 1) / (__int128)factor)
        return false;
    number *= (__int128)factor;
    int missing = (int)decimals - (int)fraction_digits + exponent; /* number of decimal places */
    for (; missing > 0 && number > 0; missing--) {
        if (number > (DECIMAL_LIMIT - 1) / 10)
            return false;
        number *= 10;
    }
    for (; missing < 0 && number > 0; missing++) {
        if (number % 10 != 0)
            return false;
        number /= 10;
    }
    *value = negative ? -number : number;
    return true;
}

bool decimal_parse(const char *text, size_t length, enum decimal_unit unit, __int128 *value)
{
    return decimal_read(text, length, unit, 0, false, value);
}

bool decimal_parse_fixed(const char *text, size_t length, unsigned decimals, __int128 *value)
{
    return decimal_read(text, length, DECIMAL_UNIT_SI, decimals, true, value);
}

bool decimal_parse_unsigned(const char *text, enum decimal_unit unit, uint64_t *value)
{
    __int128 number;

    if (!decimal_read(text, strlen(text), unit, 0, false, &number) || number < 0 ||
        number > UINT64_MAX)
        return false;
    *value = (uint64_t)number;
    return true;
}

size_t decimal_write(char *out, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    /* The number of digits: log10 from log2 (Warren, "Hacker's Delight", 11-4). */
    const uint64_t odd = value | 1; /* has as many digits, and is above 0 */
    const unsigned guess = (64 - (unsigned)__builtin_clzll(odd)) * 1233 >> 12;
    const size_t length = guess + (odd >= decimal_power(guess));
    char *c = out + length;

    for (; value >= 100; value /= 100)
        memcpy(c -= 2, pairs + value % 100 * 2, 2);
    if (value >= 10)
        memcpy(c - 2, pairs + value * 2, 2);
    else
        c[-1] = (char)('0' + value);
    return length;
}

size_t decimal_write_128(char *out, unsigned __int128 value)
{
    const uint64_t ten19 = 10000000000000000000u;
    char low[20];

    if (value <= UINT64_MAX)
        return decimal_write(out, (uint64_t)value);

    /* 19 digits at a time: the upper part, then the lower part with its leading zeros. */
    size_t length = decimal_write_128(out, value / ten19);
    size_t digits = decimal_write(low, (uint64_t)(value % ten19));
    memset(out + length, '0', 19 - digits);
    memcpy(out + length + 19 - digits, low, digits);
    return length + 19;
}

size_t decimal_write_places(char *out, unsigned __int128 value, unsigned decimals)
{
    char digits[DECIMAL_SIZE];
    size_t length = decimal_write_128(digits, value);
    size_t zeros = length > decimals ? 0 : decimals + 1 - length;
    size_t whole = zeros + length - decimals;

    if (zeros > 0) { /* 0.00123 */
        memset(out, '0', zeros + 1);
        memcpy(out + zeros + 1, digits, length);
    } else {
        memcpy(out, digits, whole);
        memcpy(out + whole + 1, digits + whole, decimals);
    }
    out[whole] = '.';
    return whole + 1 + decimals;
}

size_t decimal_write_fixed(char *out, __int128 value, unsigned decimals)
{
    const bool is_negative = value < 0;
    const unsigned __int128 magnitude =
        is_negative ? -(unsigned __int128)value : (unsigned __int128)value;

    if (decimals == 0 && (unsigned __int128)value <= UINT64_MAX) /* the common case */
        return decimal_write(out, (uint64_t)value);
    *out = '-';
    return is_negative + (decimals > 0
                              ? decimal_write_places(out + is_negative, magnitude, decimals)
                              : decimal_write_128(out + is_negative, magnitude));
}

void decimal_format_fixed(char out[DECIMAL_SIZE], __int128 value, unsigned decimals)
{
    out[decimal_write_fixed(out, value, decimals)] = '\0';
}
