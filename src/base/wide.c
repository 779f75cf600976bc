/* Implements wide.h: schoolbook arithmetic on 64-bit words. */
#include "config.h"

#include "base/wide.h"

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
    struct wide product = {{0}};

    for (unsigned i = 0; i < WIDE_WORDS; i++) {
        unsigned __int128 carry = 0;
        for (unsigned j = 0; i + j < WIDE_WORDS; j++) {
            carry += (unsigned __int128)a->words[i] * b->words[j] + product.words[i + j];
            product.words[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    return product;
}

int wide_compare(const struct wide *a, const struct wide *b)
{
    for (unsigned i = WIDE_WORDS; i-- > 0;) {
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    }
    return 0;
}
