/*
 * Numbers in a text, and the rules that say how they are written and which values fit the type.
 * Compiled for host and device. All functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_SPAN_NUMBER_H
#define GPUHIST_TEXT_SPAN_NUMBER_H

#include "cuda/text_span_view.h"
#include "job/element.h"
#include "text/text.h"

/* The rules of a job's text, as the parsers take them. */
struct text_span_rules {
    int32_t field;      /* 0: none; see text.h */
    uint32_t columns;   /* how many fields a line has; 0: any number */
    unsigned delimiter; /* a byte; larger: none */
    enum text_notation notation;
    uint32_t decimals;      /* of TEXT_FIXED */
    uint64_t most_positive; /* the greatest magnitudes that fit the type */
    uint64_t most_negative;
};

/* A number: its key (element.h), the place after it, and whether it is one that fits the type. */
struct text_span_number {
    uint64_t key;
    uint32_t end;
    bool is_good;
};

/* What follows the sign: a number, the place after it, and whether it is one below 2^64. */
struct text_span_magnitude {
    uint64_t number;
    uint32_t end;
    bool is_good;
};

static inline struct text_span_rules text_span_rules_of(const struct text_rules *rules,
                                                        const struct element *element)
{
    const uint64_t top = (uint64_t)1 << (element->bytes * 8 - 1);
    struct text_span_rules made;

    made.field = rules->field;
    made.columns = (uint32_t)rules->columns;
    made.delimiter = (unsigned)rules->delimiter;
    made.notation = rules->notation;
    made.decimals = rules->decimals;
    made.most_positive = element->is_signed ? top - 1 : top - 1 + top;
    made.most_negative = element->is_signed ? top : 0;
    return made;
}

/*
 * Whether a number of so many digits is below 2^64, of which `number` holds the low 64 bits. At
 * most 20 digits are; whether 20 are is seen from the first one and from the product, wrapped or
 * not (Langdale and Lemire, "Parsing Gigabytes of JSON per Second", 2019, and its implementation
 * simdjson).
 */
TEXT_SPAN_INLINE bool text_span_fits(uint64_t number, uint32_t digits, bool begins_with_1)
{
    return digits < 20 || (digits == 20 && begins_with_1 && number >= 10000000000000000000u);
}

/* The decimal digits at the beginning of the range, as far as they go. */
TEXT_SPAN_INLINE struct text_span_magnitude text_span_read_integer(
    const struct text_span_view *view, struct text_span_range range)
{
    struct text_span_magnitude read;
    uint64_t number = 0;
    uint32_t i = range.first;

    while (i < range.end && text_span_at(view, i) == '0')
        i++;
    const uint32_t leading = i;
    for (; i < range.end; i++) {
        const unsigned digit = text_span_at(view, i) - '0';
        if (digit > 9)
            break;
        number = number * 10 + digit;
    }
    read.number = number;
    read.end = i;
    read.is_good =
        i > range.first && text_span_fits(number, i - leading, text_span_at(view, leading) == '1');
    return read;
}

/* The hexadecimal digits at the beginning of the range, with or without 0x. */
TEXT_SPAN_INLINE struct text_span_magnitude text_span_read_hex(const struct text_span_view *view,
                                                               struct text_span_range range)
{
    struct text_span_magnitude read;
    uint64_t number = 0;
    uint32_t digits = 0; /* without leading zeros */
    uint32_t i = range.first;

    if (range.end - i > 1 && text_span_at(view, i) == '0' &&
        (text_span_at(view, i + 1) | 0x20) == 'x')
        i += 2;
    const uint32_t first = i;
    for (; i < range.end; i++) {
        const unsigned byte = text_span_at(view, i);
        const unsigned letter = (byte | 0x20) - 'a';
        const unsigned digit = letter <= 5 ? letter + 10 : byte - '0';
        if (letter > 5 && digit > 9)
            break;
        number = number << 4 | digit;
        digits += digits > 0 || digit > 0;
    }
    read.number = number;
    read.end = i;
    read.is_good = i > first && digits <= 16;
    return read;
}

/*
 * The number with or without a point at the beginning of the range, as a multiple of 10^-decimals.
 * Digits that are worth less must be zeros.
 */
TEXT_SPAN_INLINE struct text_span_magnitude text_span_read_fixed(const struct text_span_view *view,
                                                                 struct text_span_range range,
                                                                 uint32_t decimals)
{
    struct text_span_magnitude read;
    uint64_t number = 0;
    uint32_t digits = 0; /* without leading zeros */
    uint32_t missing = decimals;
    unsigned leading = 0;
    bool has_point = false;
    bool is_exact = true;
    uint32_t i = range.first;

    for (; i < range.end; i++) {
        const unsigned byte = text_span_at(view, i);
        const unsigned digit = byte - '0';
        if (byte == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (digit > 9)
            break;
        if (has_point && missing == 0) {
            is_exact = is_exact && digit == 0;
            continue;
        }
        missing -= has_point;
        number = number * 10 + digit;
        leading = digits == 0 ? digit : leading;
        digits += leading > 0;
    }
    digits += missing;
    for (; missing > 0; missing--)
        number *= 10;
    read.number = number;
    read.end = i;
    read.is_good =
        is_exact && i - range.first > has_point && text_span_fits(number, digits, leading == 1);
    return read;
}

/*
 * The number at the beginning of the range, as far as it goes. It is faster if rules->notation is a
 * constant.
 */
TEXT_SPAN_INLINE struct text_span_number text_span_convert(const struct text_span_view *view,
                                                           const struct text_span_rules *rules,
                                                           struct text_span_range range)
{
    struct text_span_number number;
    const unsigned sign = range.first < range.end ? text_span_at(view, range.first) : '\n';
    range.first += sign == '-' || sign == '+';
    const struct text_span_magnitude read =
        rules->notation == TEXT_FIXED ? text_span_read_fixed(view, range, rules->decimals)
        : rules->notation == TEXT_HEX ? text_span_read_hex(view, range)
                                      : text_span_read_integer(view, range);
    const uint64_t most = sign == '-' ? rules->most_negative : rules->most_positive;

    number.key = sign == '-' ? 0 - read.number : read.number;
    number.end = read.end;
    number.is_good = read.is_good && read.number <= most;
    return number;
}

#endif
