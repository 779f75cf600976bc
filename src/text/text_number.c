/* Implements text_number.h: numbers of any length, one digit at a time. */
#include "config.h"

#include "text/text_number.h"

/* The digits of the largest magnitude, 2^64 - 1. */
#define TEXT_NUMBER_DIGITS_MAX 20

/*
 * Appends digits[0..count) to *number. Returns false for a byte that is not a digit, and for 2^64
 * or more.
 */
static bool text_number_append(const char *digits, size_t count, uint64_t *number)
{
    for (; count >= 8; digits += 8, count -= 8) {
        uint64_t word = text_block_word(digits) ^ TEXT_BYTES('0');
        if (text_number_no_digits(word) ||
            __builtin_mul_overflow(*number, (uint64_t)100000000, number) ||
            __builtin_add_overflow(*number, text_number_join_eight(word), number))
            return false;
    }
    for (; count > 0; digits++, count--) {
        if (*digits < '0' || *digits > '9' || __builtin_mul_overflow(*number, (uint64_t)10, number))
            return false;
        if (__builtin_add_overflow(*number, (uint64_t)(*digits - '0'), number))
            return false;
    }
    return true;
}

bool text_number_read_any(const char *token, size_t bytes, struct text_number *number)
{
    const char *end = token + bytes;

    number->is_negative = bytes > 0 && *token == '-';
    number->magnitude = 0;
    token += number->is_negative || (bytes > 0 && *token == '+');
    if (token == end)
        return false;
    while (token < end && *token == '0')
        token++;
    return end - token <= TEXT_NUMBER_DIGITS_MAX &&
           text_number_append(token, (size_t)(end - token), &number->magnitude);
}
