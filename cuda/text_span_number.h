/*
 * The view of a text for the parsers of spans, and the values in it: the notations of numbers,
 * timestamps and IP addresses, and the range of the type. Compiled for host and device. All
 * functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_SPAN_NUMBER_H
#define GPUHIST_TEXT_SPAN_NUMBER_H

#include "text/text.h"
#include "value/kind_ip_read.h"
#include "value/kind_time_read.h"
#include "value/plan.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A text, a piece of which may also be in faster memory. Positions after the text, and the one
 * before it, read as newlines; a piece that extends there has newlines.
 */
struct text_span_view {
    const unsigned char *text; /* [bytes] */
    uint32_t bytes;            /* length of the text, at most 2^31 */
    const unsigned char *piece;
    uint32_t piece_first; /* the piece's position, modulo 2^32: it may begin before the text */
    uint32_t piece_bytes;
};

/* Positions [first, end) of a text. */
struct text_span_range {
    uint32_t first;
    uint32_t end;
};

HOST_DEVICE_INLINE unsigned text_span_at(const struct text_span_view *view, uint32_t position)
{
    const uint32_t offset = position - view->piece_first;

    if (offset < view->piece_bytes)
        return view->piece[offset];
    return position < view->bytes ? view->text[position] : '\n';
}

HOST_DEVICE_INLINE bool text_span_is_blank(unsigned byte)
{
    return byte == ' ' || byte == '\t';
}

HOST_DEVICE_INLINE bool text_span_is_space(unsigned byte)
{
    return byte == ' ' || byte - '\t' <= '\r' - '\t';
}

/*
 * Returns whether the line's content ends here: at a newline, or at a carriage return before one.
 */
HOST_DEVICE_INLINE bool text_span_ends_line(const struct text_span_view *view, uint32_t position)
{
    const unsigned byte = text_span_at(view, position);

    return byte == '\n' || (byte == '\r' && text_span_at(view, position + 1) == '\n');
}

/* Returns the range without blanks at its ends. */
HOST_DEVICE_INLINE struct text_span_range text_span_trim(const struct text_span_view *view,
                                                         struct text_span_range range)
{
    while (range.first < range.end && text_span_is_blank(text_span_at(view, range.first)))
        range.first++;
    while (range.first < range.end && text_span_is_blank(text_span_at(view, range.end - 1)))
        range.end--;
    return range;
}

/* Maximum number of words of a timestamp after its field. */
#define TEXT_SPAN_TIME_WORDS 3

/* The rules of a plan's text, for the parsers of spans. */
struct text_span_rules {
    int32_t field;      /* the field's number; 0: none (text.h) */
    uint32_t columns;   /* required number of fields of a line; 0: any number */
    unsigned delimiter; /* a byte; a larger number: none */
    enum text_notation notation;
    uint32_t decimals;     /* TEXT_FIXED: number of decimal places */
    uint64_t positive_max; /* the maximum magnitudes that fit the type */
    uint64_t negative_max;
    bool is_signed;
    bool is_found;                  /* as in struct column */
    uint64_t width;                 /* this and the next members: as in struct column */
    struct kind_time_rules time;    /* TEXT_TIME: the rules, without a format */
    struct kind_time_bucket bucket; /* TEXT_TIME: the bucket to floor to, if it has a width */
    bool has_bucket;
    struct kind_ip_prefix prefix; /* TEXT_IP: the prefixes to floor to */
};

/*
 * A number, the position after it, and whether it is valid: it fits the type, as a key (element.h);
 * or without its sign it fits 64 bits.
 */
struct text_span_number {
    uint64_t value;
    uint32_t end;
    bool is_good;
};

static inline struct text_span_rules text_span_rules_of(const struct text_rules *rules,
                                                        const struct column *column)
{
    const struct element *element = &column->element;
    const uint64_t top = (uint64_t)1 << ((element->bytes < 8 ? element->bytes : 8) * 8 - 1);
    struct text_span_rules span_rules;

    memset(&span_rules, 0, sizeof span_rules);
    span_rules.field = rules->field;
    span_rules.columns = (uint32_t)rules->columns;
    span_rules.delimiter = (unsigned)rules->delimiter;
    span_rules.notation = rules->notation;
    span_rules.decimals = rules->decimals;
    span_rules.positive_max = element->is_signed ? top - 1 : top - 1 + top;
    span_rules.negative_max = element->is_signed ? top : 0;
    if (rules->from_zero) {
        span_rules.positive_max = INT64_MAX;
        span_rules.negative_max = 0;
    }
    span_rules.is_signed = element->is_signed;
    span_rules.is_found = column->is_found;
    span_rules.width = column->width.units;
    span_rules.time.digits = element->decimals;
    span_rules.time.is_local = kind_rows[element->kind].is_local;
    span_rules.time.is_cell = text_has_cells(rules);
    span_rules.time.is_found = column->is_found;
    span_rules.bucket = column->width.bucket;
    span_rules.has_bucket = column_has_bucket(column);
    span_rules.prefix = element->prefix;
    return span_rules;
}

/*
 * Returns whether a number of `digits` digits is below 2^64; `number` has its low 64 bits. The
 * first digit, and whether the product has wrapped, tell this for 20 digits (Langdale and Lemire,
 * "Parsing Gigabytes of JSON per Second", 2019, and its implementation simdjson).
 */
HOST_DEVICE_INLINE bool text_span_fits(uint64_t number, uint32_t digits, bool begins_with_1)
{
    return digits < 20 || (digits == 20 && begins_with_1 && number >= 10000000000000000000u);
}

/* Reads the decimal digits at the start of the range. */
HOST_DEVICE_INLINE struct text_span_number text_span_read_integer(const struct text_span_view *view,
                                                                  struct text_span_range range)
{
    struct text_span_number read;
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
    read.value = number;
    read.end = i;
    read.is_good =
        i > range.first && text_span_fits(number, i - leading, text_span_at(view, leading) == '1');
    return read;
}

/* Reads the hexadecimal digits at the start of the range, with or without 0x. */
HOST_DEVICE_INLINE struct text_span_number text_span_read_hex(const struct text_span_view *view,
                                                              struct text_span_range range)
{
    struct text_span_number read;
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
    read.value = number;
    read.end = i;
    read.is_good = i > first && digits <= 16;
    return read;
}

/*
 * Reads the number, with or without a point, at the start of the range, in units of 10^-decimals.
 * Further digits must be zeros.
 */
HOST_DEVICE_INLINE struct text_span_number text_span_read_fixed(const struct text_span_view *view,
                                                                struct text_span_range range,
                                                                uint32_t decimals)
{
    struct text_span_number read;
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
    read.value = number;
    read.end = i;
    read.is_good =
        is_exact && i - range.first > has_point && text_span_fits(number, digits, leading == 1);
    return read;
}

/* Returns whether a number without its sign, digits[first..end), is written as it is printed. */
HOST_DEVICE_INLINE bool text_span_is_plain(const struct text_span_view *view,
                                           const struct text_span_rules *rules,
                                           struct text_span_range digits)
{
    const uint32_t behind = rules->notation == TEXT_FIXED ? rules->decimals + 1 : 0; /* the point */
    const uint32_t count = digits.end - digits.first;

    return count > behind && (text_span_at(view, digits.first) != '0' || count == behind + 1) &&
           (behind == 0 || text_span_at(view, digits.end - behind) == '.');
}

/*
 * Reads the number at the start of the range. It is faster if rules->notation is a constant.
 */
HOST_DEVICE_INLINE struct text_span_number text_span_convert(const struct text_span_view *view,
                                                             const struct text_span_rules *rules,
                                                             struct text_span_range range)
{
    const unsigned sign = range.first < range.end ? text_span_at(view, range.first) : '\n';
    range.first += sign == '-' || sign == '+';
    struct text_span_number number =
        rules->notation == TEXT_FIXED ? text_span_read_fixed(view, range, rules->decimals)
        : rules->notation == TEXT_HEX ? text_span_read_hex(view, range)
                                      : text_span_read_integer(view, range);

    number.is_good =
        number.is_good && number.value <= (sign == '-' ? rules->negative_max : rules->positive_max);
    if (rules->is_found) {
        const struct text_span_range digits = {range.first, number.end};
        number.is_good = number.is_good && sign != '+' && (sign != '-' || number.value > 0) &&
                         text_span_is_plain(view, rules, digits);
    }
    number.value = sign == '-' ? 0 - number.value : number.value;
    if (rules->width > 1)
        number.is_good = number.is_good &&
                         column_floor(&number.value, rules->width, rules->is_signed) &&
                         (sign != '-' || 0 - number.value <= rules->negative_max);
    return number;
}

/* Returns the bytes [first, end) of the text, all in one memory. */
HOST_DEVICE_INLINE const char *text_span_pointer(const struct text_span_view *view, uint32_t first,
                                                 uint32_t end)
{
    const uint32_t offset = first - view->piece_first;
    const bool is_in_piece =
        offset < view->piece_bytes && end - first <= view->piece_bytes - offset;

    return (const char *)(is_in_piece ? view->piece + offset : view->text + first);
}

/*
 * Reads the timestamp in a field. If fields are not cells, it may continue in the next words: the
 * time of day, AM, an offset.
 */
HOST_DEVICE_INLINE struct text_span_number text_span_read_time(const struct text_span_view *view,
                                                               const struct text_span_rules *rules,
                                                               struct text_span_range field)
{
    const size_t bytes = field.end - field.first;
    uint32_t end = field.end;
    struct text_span_number read = {0, field.end, false};
    struct kind_time_parts parts;
    int64_t value = 0;

    if (bytes > TEXT_BYTES_MAX)
        return read;
    bool was_blank = false;
    for (unsigned words = 0; !rules->time.is_cell && !text_span_ends_line(view, end); end++) {
        const bool is_blank = text_span_is_blank(text_span_at(view, end));
        words += is_blank && !was_blank;
        was_blank = is_blank;
        if (words > TEXT_SPAN_TIME_WORDS)
            break;
    }
    const char *text = text_span_pointer(view, field.first, end);
    const char *stop = kind_time_read_known(&rules->time, text, bytes, end - field.first, &parts);
    read.is_good = stop && (!rules->is_found || stop <= text + bytes) &&
                   kind_time_convert(&rules->time, &parts, &value) == KIND_TIME_VALID;
    read.value =
        (uint64_t)(rules->has_bucket ? kind_time_bucket_floor(&rules->bucket, value) : value);
    return read;
}

/*
 * Reads an IPv4 address that fills a field: its key (kind_ip.h) has one word. Anything else, even
 * an IPv6 address, is invalid here.
 */
HOST_DEVICE_INLINE struct text_span_number text_span_read_address(
    const struct text_span_view *view, const struct text_span_rules *rules,
    struct text_span_range field)
{
    const char *text = text_span_pointer(view, field.first, field.end);
    struct text_span_number read = {0, field.end, false};

    read.is_good = kind_ip_read_v4(text, field.end - field.first, &read.value);
    read.value = kind_ip_first_v4(read.value, rules->prefix.v4);
    return read;
}

#endif
