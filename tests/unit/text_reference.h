/*
 * Text to integers in another way, for tests: byte by byte, in 128 bits, the whole text at once;
 * and the comparison with src/text/text.h, which defines the rules.
 */
#ifndef GPUHIST_TEXT_REFERENCE_H
#define GPUHIST_TEXT_REFERENCE_H

#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An item of a text: a number, or an invalid token. */
struct reference_item {
    bool is_valid;
    bool is_integer; /* true for valid numbers and those out of the type's range */
    __int128 value;
    size_t offset;
    size_t bytes;
    int64_t fields; /* fields of the line if their number is wrong; else 0 */
    bool is_line;   /* the whole line is invalid: its quotes or number of fields */
    int64_t wrong;  /* number of the part with invalid quotes; 0: none */
};

struct reference {
    const struct text_rules *rules;
    enum element_type type;
    const char *data;
    struct reference_item *items; /* owned */
    size_t count;
    size_t capacity;
};

static inline void *reference_must(void *memory)
{
    if (memory)
        return memory;
    printf("Bail out! no memory\n");
    exit(1);
}

/* Stores the smallest and the largest value of a type. */
static inline __int128 reference_low(enum element_type type)
{
    static const int bits[] = {8, 0, 16, 0, 32, 0, 64, 0};
    return bits[type] ? -((__int128)1 << (bits[type] - 1)) : 0;
}

static inline __int128 reference_high(enum element_type type)
{
    static const int bits[] = {7, 8, 15, 16, 31, 32, 63, 64};
    return ((__int128)1 << bits[type]) - 1;
}

static inline bool reference_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Returns the value of a digit, or 99. */
static inline int reference_digit(char c, int base)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = c ? strchr(digits, c) : NULL;
    int value = found ? (int)((found - digits) % 16) : 99;

    return value < base ? value : 99;
}

/* Adds a digit to a number. A number beyond every limit does not change. */
static inline void reference_append(__int128 *number, int base, int digit)
{
    if (*number < (__int128)1 << 100)
        *number = *number * base + digit;
}

/* Reads the exponent at [at, end), such as e-3; clamps it to more than any number of digits. */
static inline bool reference_exponent(const char *data, size_t at, size_t end, int64_t *exponent)
{
    const int64_t most = (int64_t)1 << 40;
    bool is_negative = false;

    *exponent = 0;
    if (at == end)
        return true;
    if (++at < end && (data[at] == '-' || data[at] == '+'))
        is_negative = data[at++] == '-';
    if (at == end)
        return false;
    for (; at < end; at++) {
        int digit = reference_digit(data[at], 10);
        if (digit == 99)
            return false;
        *exponent = *exponent < most ? *exponent * 10 + digit : most;
    }
    *exponent = is_negative ? -*exponent : *exponent;
    return true;
}

/*
 * Reads the magnitude of a number with a point and an exponent as a multiple of 10^-decimals, digit
 * by digit, each with its power of ten.
 */
static inline bool reference_fixed(const struct reference *all, size_t at, size_t end,
                                   __int128 *magnitude)
{
    const int64_t last = all->rules->notation == TEXT_FIXED ? -(int64_t)all->rules->decimals : 0;
    const char *data = all->data;
    size_t stop = at; /* end of the digits */
    size_t whole = 0;
    size_t digits = 0;
    bool has_point = false;
    int64_t power;
    int next = 0;
    bool has_rest = false;

    while (stop < end && data[stop] != 'e' && data[stop] != 'E')
        stop++;
    if (!reference_exponent(data, stop, end, &power))
        return false;
    for (size_t i = at; i < stop; i++) {
        if (data[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (reference_digit(data[i], 10) == 99)
            return false;
        digits++;
        whole += !has_point;
    }
    power += (int64_t)whole;
    for (size_t i = at; i < stop; i++) {
        if (data[i] == '.')
            continue;
        const int digit = reference_digit(data[i], 10);
        power--;
        if (power >= last)
            reference_append(magnitude, 10, digit);
        else if (power == last - 1)
            next = digit;
        else
            has_rest |= digit > 0;
    }
    for (; power > last && *magnitude > 0 && *magnitude < (__int128)1 << 100; power--)
        reference_append(magnitude, 10, 0);
    if (!all->rules->is_rounded && (next > 0 || has_rest))
        return false;
    *magnitude += next > 5 || (next == 5 && (has_rest || *magnitude % 2 == 1));
    return digits > 0;
}

/* Reads the magnitude at [at, end), after the sign. Returns false if it is not a number. */
static inline bool reference_magnitude(const struct reference *all, size_t at, size_t end,
                                       __int128 *magnitude)
{
    const int base = all->rules->notation == TEXT_HEX ? 16 : 10;
    const char *data = all->data;

    if (all->rules->notation == TEXT_FIXED ||
        (all->rules->has_exponents &&
         (memchr(data + at, 'e', end - at) || memchr(data + at, 'E', end - at))))
        return reference_fixed(all, at, end, magnitude);
    if (base == 16 && end - at > 2 && data[at] == '0' && (data[at + 1] | ' ') == 'x')
        at += 2;
    if (at == end)
        return false;
    for (; at < end; at++) {
        int digit = reference_digit(data[at], base);
        if (digit == 99)
            return false;
        reference_append(magnitude, base, digit);
    }
    return true;
}

/* Adds the item at [begin, end). */
static inline void reference_add(struct reference *all, size_t begin, size_t end)
{
    const char *data = all->data;
    struct reference_item item = {.offset = begin, .bytes = end - begin};
    bool is_negative = begin < end && data[begin] == '-';
    bool is_signed = begin < end && (data[begin] == '-' || data[begin] == '+');

    item.is_valid = reference_magnitude(all, begin + is_signed, end, &item.value);
    item.value = is_negative ? -item.value : item.value;
    item.is_integer = item.is_valid;
    item.is_valid = item.is_valid && item.value >= reference_low(all->type) &&
                    item.value <= reference_high(all->type);
    if (all->count == all->capacity) {
        all->capacity = all->capacity * 2 + 16;
        all->items = reference_must(realloc(all->items, all->capacity * sizeof *all->items));
    }
    all->items[all->count++] = item;
}

/* Adds the part at [begin, end) without the blanks around it. */
static inline void reference_add_part(struct reference *all, size_t begin, size_t end)
{
    while (begin < end && reference_is_blank(all->data[begin]))
        begin++;
    while (begin < end && reference_is_blank(all->data[end - 1]))
        end--;
    reference_add(all, begin, end);
}

/* Returns the end of the field that starts at `begin`. */
static inline size_t reference_field_end(const struct reference *all, size_t begin, size_t end)
{
    const int delimiter = all->rules->delimiter;

    while (begin < end &&
           (delimiter == TEXT_NO_DELIMITER ? !reference_is_blank(all->data[begin])
                                           : (unsigned char)all->data[begin] != delimiter))
        begin++;
    return begin;
}

/* Adds field `wanted` of the line [begin, end); 0: all fields. Returns the number of fields. */
static inline int64_t reference_fields(struct reference *all, size_t begin, size_t end,
                                       int64_t wanted)
{
    const bool words = all->rules->delimiter == TEXT_NO_DELIMITER;
    int64_t number = 0;

    for (;;) {
        while (words && begin < end && reference_is_blank(all->data[begin]))
            begin++;
        if (words && begin == end)
            return number;
        size_t field_end = reference_field_end(all, begin, end);
        number++;
        if (wanted == number || wanted == 0)
            reference_add_part(all, begin, field_end);
        if (field_end == end)
            return number;
        begin = field_end + 1;
    }
}

/* A part of a row, possibly quoted. */
struct reference_part {
    size_t begin; /* start without quotes */
    size_t end;
    size_t next; /* the delimiter, or the end of the row */
    bool is_wrong;
};

/* Reads the part at `begin` up to the first fault. */
static inline struct reference_part reference_read_part(const struct reference *all, size_t begin,
                                                        size_t end)
{
    enum { BEGIN, BLANKS, PLAIN, QUOTED, CLOSED } state = BEGIN;
    struct reference_part part = {.begin = begin, .next = begin};

    for (; part.next < end && !part.is_wrong; part.next++) {
        const char byte = all->data[part.next];
        const bool is_quote = byte == '"';
        if (state != QUOTED && (unsigned char)byte == all->rules->delimiter)
            break;
        part.is_wrong = (state == CLOSED && !is_quote) || (state == BLANKS && is_quote);
        part.begin += state == BEGIN && is_quote;
        if (state == QUOTED)
            state = is_quote ? CLOSED : QUOTED;
        else if (is_quote && (state == BEGIN || state == CLOSED))
            state = QUOTED;
        else if (state != PLAIN)
            state = reference_is_blank(byte) ? BLANKS : PLAIN;
    }
    part.is_wrong = part.is_wrong || state == QUOTED;
    part.end = part.next - (state == CLOSED);
    return part;
}

/* Returns the newline that ends the row at `begin`: the first one outside quotes; or the end. */
static inline size_t reference_row_end(const struct reference *all, size_t begin, size_t bytes)
{
    bool is_begin = true; /* at the start of a part */
    bool is_inside = false;
    bool is_closed = false; /* the previous byte is a quote that ends a part or is doubled */
    size_t i;

    for (i = begin; i < bytes && (is_inside || all->data[i] != '\n'); i++) {
        const bool is_quote = all->rules->is_quoted && all->data[i] == '"';
        const bool was_inside = is_inside;
        is_inside = is_quote ? !is_inside && (is_begin || is_closed) : is_inside;
        is_closed = was_inside && is_quote;
        is_begin = !was_inside && (unsigned char)all->data[i] == all->rules->delimiter;
    }
    return i;
}

/* Adds part `wanted` of a line with quotes; 0: all parts. Returns the number of parts; -1: one is
 * invalid, and added as such. */
static inline int64_t reference_parts(struct reference *all, size_t begin, size_t end,
                                      int64_t wanted)
{
    for (int64_t number = 1;; number++) {
        struct reference_part part = reference_read_part(all, begin, end);
        if (part.is_wrong) {
            reference_add_part(all, begin, end);
            all->items[all->count - 1].is_line = true;
            all->items[all->count - 1].wrong = number;
        } else if (wanted == number || wanted == 0) {
            reference_add_part(all, part.begin, part.end);
        }
        if (part.is_wrong || part.next == end)
            return part.is_wrong ? -1 : number;
        begin = part.next + 1;
    }
}

static inline void reference_line(struct reference *all, size_t begin, size_t end)
{
    int64_t (*read)(struct reference *, size_t, size_t, int64_t) =
        all->rules->is_quoted ? reference_parts : reference_fields;
    int64_t wanted = all->rules->field;
    bool is_empty = true;

    if (begin < end && all->data[end - 1] == '\r')
        end--;
    for (size_t i = begin; i < end; i++)
        is_empty = is_empty && reference_is_blank(all->data[i]);
    if (is_empty)
        return;
    if (wanted == 0) {
        read(all, begin, end, 0);
        return;
    }
    int64_t fields = read(all, begin, end, INT64_MAX);
    if (fields < 0)
        return;
    const int32_t columns = all->rules->columns;
    wanted = wanted < 0 ? fields + 1 + wanted : wanted;
    if (wanted >= 1 && wanted <= fields && (columns == 0 || columns == fields)) {
        read(all, begin, end, wanted);
        return;
    }
    reference_add(all, end, end);
    all->items[all->count - 1].fields = fields;
    all->items[all->count - 1].is_line = columns != 0 && columns != fields;
}

static inline void reference_tokens(struct reference *all, size_t bytes)
{
    static const char white[] = " \t\n\r\v\f";
    size_t begin = 0;

    for (size_t i = 0; i <= bytes; i++) {
        if (i < bytes && (all->data[i] == '\0' || !strchr(white, all->data[i])))
            continue;
        if (begin < i)
            reference_add(all, begin, i);
        begin = i + 1;
    }
}

static inline struct reference reference_parse(const struct text_rules *rules,
                                               enum element_type type, const char *data,
                                               size_t bytes)
{
    struct reference all = {.rules = rules, .type = type, .data = data};

    if (text_is_of_tokens(rules)) {
        reference_tokens(&all, bytes);
        return all;
    }
    for (size_t begin = 0; begin < bytes;) {
        const size_t end = reference_row_end(&all, begin, bytes);
        reference_line(&all, begin, end);
        begin = end + 1;
    }
    return all;
}

/* Returns the value of an element in this machine's byte order. */
static inline __int128 reference_value(enum element_type type, const void *element)
{
#define REFERENCE_CASE(id, name, ctype)        \
    case ELEMENT_##id: {                       \
        ctype value;                           \
        memcpy(&value, element, sizeof value); \
        return value;                          \
    }
    switch (type) {
        ELEMENT_TYPES(REFERENCE_CASE)
    default:
        return 0;
    }
#undef REFERENCE_CASE
}

static inline size_t reference_element_bytes(enum element_type type)
{
    return (size_t)1 << type / 2;
}

/* Compares the result of a call with the items from *next on; advances *next. */
static inline const char *reference_check_call(const struct reference *all, enum text_event event,
                                               const char *values, size_t room, size_t count,
                                               const struct text_token *invalid, size_t *next)
{
    if (count > room || count > all->count - *next)
        return "too many values";
    for (size_t i = 0; i < count; i++) {
        const struct reference_item *item = &all->items[(*next)++];
        const char *value = values + i * reference_element_bytes(all->type);
        if (!item->is_valid)
            return "a value instead of an invalid token";
        if (reference_value(all->type, value) != item->value)
            return "a wrong value";
    }
    if (event == TEXT_FULL)
        return count < room ? "full, but there is room" : NULL;
    if (event == TEXT_END)
        return *next < all->count ? "the end too early" : NULL;
    if (*next == all->count || all->items[*next].is_valid)
        return "an invalid token instead of a value";
    const struct reference_item *item = &all->items[(*next)++];
    return item->offset != invalid->offset || item->bytes != invalid->bytes
               ? "another invalid token"
               : NULL;
}

/*
 * Parses the text with space for that many values per call, continues after each stop, and compares
 * with the reference. Returns NULL, or what is wrong.
 */
static inline const char *reference_compare(const struct reference *all, size_t bytes, size_t room)
{
    const size_t space = room * reference_element_bytes(all->type);
    text_parse_function *parse = text_choose_parser(all->rules, all->type);
    char *values = reference_must(malloc(space + 16));
    const char *wrong = NULL;
    struct text_cursor text = {
        .rules = all->rules,
        .data = all->data,
        .bytes = bytes,
        .values = values,
        .capacity = room,
    };
    size_t next = 0;
    enum text_event event = TEXT_FULL;

    memset(values + space, 0x5a, 16);
    while (!wrong && event != TEXT_END) {
        size_t before = text.offset;
        text.count = SIZE_MAX;
        text.invalid = (struct text_token){.offset = SIZE_MAX, .bytes = SIZE_MAX};
        event = parse(&text);
        wrong = reference_check_call(all, event, values, room, text.count, &text.invalid, &next);
        if (!wrong && event != TEXT_END && text.offset <= before)
            wrong = "it does not advance";
        for (size_t i = space; i < space + 16; i++)
            wrong = values[i] == 0x5a ? wrong : "a value behind the room";
    }
    free(values);
    return wrong;
}

#endif
