/*
 * Integers in a text, and the rules that say which values fit the type. Compiled for host and
 * device. All functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_SPAN_NUMBER_H
#define GPUHIST_TEXT_SPAN_NUMBER_H

#include "cuda/text_span_view.h"
#include "job/element.h"
#include "text/text.h"

/* The rules of a job's text, as the parsers take them. */
struct text_span_rules {
    int32_t field;          /* 0: none; see text.h */
    unsigned delimiter;     /* a byte; larger: none */
    uint64_t most_positive; /* the greatest magnitudes that fit the type */
    uint64_t most_negative;
};

/* An integer: its key (element.h), the place after it, and whether it is one that fits the type.
 */
struct text_span_number {
    uint64_t key;
    uint32_t end;
    bool is_good;
};

static inline struct text_span_rules text_span_rules_of(const struct text_rules *rules,
                                                        const struct element *element)
{
    const uint64_t top = (uint64_t)1 << (element->bytes * 8 - 1);
    struct text_span_rules made;

    made.field = rules->field;
    made.delimiter = (unsigned)rules->delimiter;
    made.most_positive = element->is_signed ? top - 1 : top - 1 + top;
    made.most_negative = element->is_signed ? top : 0;
    return made;
}

/*
 * The integer at the beginning of the range, as far as its digits go. At most 20 digits fit 64
 * bits; whether 20 do is seen from the first one and from the product, wrapped or not (Langdale and
 * Lemire, "Parsing Gigabytes of JSON per Second", 2019, and its implementation simdjson).
 */
TEXT_SPAN_INLINE struct text_span_number text_span_convert(const struct text_span_view *view,
                                                           const struct text_span_rules *rules,
                                                           struct text_span_range range)
{
    struct text_span_number number;
    uint64_t magnitude = 0;
    uint32_t i = range.first;
    const unsigned sign = i < range.end ? text_span_at(view, i) : '\n';
    i += sign == '-' || sign == '+';
    const uint32_t first = i;

    while (i < range.end && text_span_at(view, i) == '0')
        i++;
    const uint32_t leading = i;
    for (; i < range.end; i++) {
        const unsigned digit = text_span_at(view, i) - '0';
        if (digit > 9)
            break;
        magnitude = magnitude * 10 + digit;
    }
    const uint32_t digits = i - leading;
    const bool fits = digits < 20 || (digits == 20 && text_span_at(view, leading) == '1' &&
                                      magnitude >= 10000000000000000000u);
    const uint64_t most = sign == '-' ? rules->most_negative : rules->most_positive;
    number.key = sign == '-' ? 0 - magnitude : magnitude;
    number.end = i;
    number.is_good = i > first && fits && magnitude <= most;
    return number;
}

#endif
