/* Implements percent.h: exact division with rounding half to even. */
#include "config.h"

#include "print/percent.h"

#include "base/decimal.h"

/* 100 percent, in units of the last decimal. */
#define PERCENT_SCALE 1000000

size_t percent_write(char out[PERCENT_SIZE], uint64_t part, uint64_t whole)
{
    uint64_t rounded = 0;

    if (whole > 0) {
        const unsigned __int128 scaled = (unsigned __int128)part * PERCENT_SCALE;
        rounded = scaled <= UINT64_MAX ? (uint64_t)scaled / whole : (uint64_t)(scaled / whole);
        const uint64_t rest = (uint64_t)(scaled - (unsigned __int128)rounded * whole);
        const uint64_t missing = whole - rest; /* until the next quotient */
        rounded += rest > missing || (rest == missing && rounded % 2 == 1);
    }
    const size_t length = decimal_write(out, rounded / 10000);
    uint64_t decimals = rounded % 10000;

    out[length] = '.';
    for (size_t i = 4; i > 0; i--, decimals /= 10)
        out[length + i] = (char)('0' + decimals % 10);
    return length + 5;
}
