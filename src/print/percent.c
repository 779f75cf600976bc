/* Implements percent.h: exact division with rounding half to even. */
#include "config.h"

#include "print/percent.h"

#include "base/decimal.h"

/* 100 percent, in units of the last decimal. */
#define PERCENT_SCALE 1000000

/* The quotient part * PERCENT_SCALE / whole, rounded. */
static uint32_t percent_round(uint64_t part, uint64_t whole)
{
    unsigned __int128 scaled = (unsigned __int128)part * PERCENT_SCALE;
    uint64_t quotient =
        scaled <= UINT64_MAX ? (uint64_t)scaled / whole : (uint64_t)(scaled / whole);
    uint64_t rest = (uint64_t)(scaled - (unsigned __int128)quotient * whole);
    uint64_t missing = whole - rest; /* until the next quotient */

    return (uint32_t)(quotient + (rest > missing || (rest == missing && quotient % 2 == 1)));
}

size_t percent_write(char out[PERCENT_SIZE], uint64_t part, uint64_t whole)
{
    uint32_t rounded = whole > 0 ? percent_round(part, whole) : 0;
    size_t length = decimal_write(out, rounded / 10000);
    uint32_t decimals = rounded % 10000;

    out[length] = '.';
    for (size_t i = 4; i > 0; i--, decimals /= 10)
        out[length + i] = (char)('0' + decimals % 10);
    return length + 5;
}
