/* Implements wide.h: schoolbook arithmetic on 64-bit words. */
#include "config.h"

#include "lib/wide.h"

struct wide wide_from(unsigned __int128 value)
{
    return (struct wide){{(uint64_t)value, (uint64_t)(value >> 64)}};
}

void wide_add(struct wide *a, const struct wide *b)
{
    unsigned __int128 carry = 0;

    for (unsigned i = 0; i < WIDE_WORDS; i++) {
        carry += (unsigned __int128)a->words[i] + b->words[i];
        a->words[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

void wide_subtract(struct wide *a, const struct wide *b)
{
    unsigned borrow = 0;

    for (unsigned i = 0; i < WIDE_WORDS; i++) {
        unsigned __int128 difference = (unsigned __int128)a->words[i] - b->words[i] - borrow;
        a->words[i] = (uint64_t)difference;
        borrow = (unsigned)(difference >> 64) & 1;
    }
}

void wide_scale(struct wide *a, uint64_t factor)
{
    unsigned __int128 carry = 0;

    for (unsigned i = 0; i < WIDE_WORDS; i++) {
        carry += (unsigned __int128)a->words[i] * factor;
        a->words[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

struct wide wide_multiply(const struct wide *a, const struct wide *b)
{
    const unsigned words = (wide_bits(a) + 63) / 64;
    struct wide product = {{0}};

    for (unsigned i = 0; i < words; i++) {
        unsigned __int128 carry = 0;
        for (unsigned j = 0; i + j < WIDE_WORDS; j++) {
            carry += (unsigned __int128)a->words[i] * b->words[j] + product.words[i + j];
            product.words[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    return product;
}

unsigned __int128 wide_divide(struct wide *a, const struct wide *b)
{
    unsigned __int128 quotient = 0;
    unsigned __int128 rest = 0;
    struct wide step = *b;
    unsigned steps = 0;

    if (wide_bits(b) <= 64) { /* word by word */
        for (unsigned i = (wide_bits(a) + 63) / 64; i-- > 0;) {
            rest = rest << 64 | a->words[i];
            const uint64_t word = (uint64_t)(rest / b->words[0]);
            quotient = quotient << 64 | word;
            rest -= (unsigned __int128)word * b->words[0];
        }
        *a = wide_from(rest);
        return quotient;
    }
    for (; wide_compare(&step, a) <= 0; steps++)
        wide_scale(&step, 2);
    for (; steps > 0; steps--) {
        for (unsigned i = 0; i < WIDE_WORDS; i++) /* halves the even number */
            step.words[i] = step.words[i] >> 1 | (i + 1 < WIDE_WORDS ? step.words[i + 1] << 63 : 0);
        quotient *= 2;
        if (wide_compare(&step, a) <= 0) {
            wide_subtract(a, &step);
            quotient++;
        }
    }
    return quotient;
}

unsigned wide_bits(const struct wide *a)
{
    for (unsigned i = WIDE_WORDS; i-- > 0;) {
        if (a->words[i] > 0)
            return 64 * i + 64 - (unsigned)__builtin_clzll(a->words[i]);
    }
    return 0;
}

int wide_compare(const struct wide *a, const struct wide *b)
{
    for (unsigned i = WIDE_WORDS; i-- > 0;) {
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    }
    return 0;
}
