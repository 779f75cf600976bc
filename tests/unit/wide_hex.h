/* Wide integers from hexadecimal digits, for tests. */
#ifndef GPUHIST_WIDE_HEX_H
#define GPUHIST_WIDE_HEX_H

#include "lib/wide.h"

#include <string.h>

/* Returns the value of up to 96 digits. */
static inline struct wide wide_hex(const char *digits)
{
    struct wide value = {{0}};
    size_t length = strlen(digits);

    for (size_t i = 0; i < length; i++) {
        char c = digits[length - 1 - i];
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        value.words[i / 16] |= digit << i % 16 * 4;
    }
    return value;
}

#endif
