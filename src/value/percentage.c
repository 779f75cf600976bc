/* Implements percentage.h. */
#include "config.h"

#include "value/percentage.h"

#include "lib/decimal.h"

#include <string.h>

bool percentage_parse(struct percentage *percentage, const char *text, size_t length)
{
    size_t whole = strspn(text, "0123456789");
    size_t point = whole < length && text[whole] == '.';
    size_t decimals = point ? strspn(text + whole + 1, "0123456789") : 0;
    uint64_t limit;

    if (whole == 0 || decimals > PERCENTAGE_DECIMALS_MAX || (point && decimals == 0) ||
        whole + point + decimals != length)
        return false;
    *percentage = (struct percentage){.decimals = (unsigned)decimals};
    limit = 100 * decimal_power(percentage->decimals);
    for (size_t i = 0; i < length && percentage->digits <= limit; i++) {
        if (text[i] != '.')
            percentage->digits = percentage->digits * 10 + (uint64_t)(text[i] - '0');
    }
    return percentage->digits <= limit;
}

/* digits <= 10^17 < 2^57 and n < 2^64: the product fits. */
uint64_t percentage_rank(const struct percentage *percentage, uint64_t n)
{
    unsigned __int128 divisor = (unsigned __int128)100 * decimal_power(percentage->decimals);
    unsigned __int128 rank = ((unsigned __int128)percentage->digits * n + divisor - 1) / divisor;

    return rank > 0 ? (uint64_t)rank : 1;
}

uint64_t percentage_index(const struct percentage *percentage, uint64_t n, uint64_t *above)
{
    const uint64_t whole = 100 * decimal_power(percentage->decimals);
    const unsigned __int128 product = (unsigned __int128)(n - 1) * percentage->digits;

    *above = (uint64_t)(product % whole);
    return (uint64_t)(product / whole);
}

int percentage_compare(const struct percentage *percentage, unsigned whole)
{
    const uint64_t other = whole * decimal_power(percentage->decimals);
    return (percentage->digits > other) - (percentage->digits < other);
}

size_t percentage_write(char out[PERCENTAGE_SIZE], const struct percentage *percentage)
{
    return decimal_write_fixed(out, percentage->digits, percentage->decimals);
}

size_t percentage_write_share(char out[PERCENTAGE_SHARE_SIZE], uint64_t part, uint64_t whole)
{
    const unsigned __int128 scaled = (unsigned __int128)part * 1000000; /* 100 with 4 decimals */
    uint64_t rounded = 0;

    if (whole > 0) { /* 64-bit division is faster */
        rounded = scaled <= UINT64_MAX ? (uint64_t)scaled / whole : (uint64_t)(scaled / whole);
        const uint64_t rest = (uint64_t)(scaled - (unsigned __int128)rounded * whole);
        const uint64_t missing = whole - rest; /* distance to the next quotient */
        rounded += rest > missing || (rest == missing && rounded % 2 == 1);
    }
    return decimal_write_places(out, rounded, 4);
}
