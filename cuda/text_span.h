/*
 * Parses a text by many threads at once: a thread parses its span of the text. Compiled for host
 * and device.
 *
 * The rules of text.h divide a text into units: tokens, parts of lines, or whole lines with one
 * wanted field. A byte and the one before it tell whether a unit begins there. Therefore each
 * thread finds the units that begin in its span without knowing more of the text, and follows them
 * beyond the span's end. A value belongs to one unit, and has at least two bytes: a digit and a
 * separator.
 *
 * All functions are thread-safe on distinct sinks.
 */
#ifndef GPUHIST_TEXT_SPAN_H
#define GPUHIST_TEXT_SPAN_H

#include "cuda/text_span_number.h"

/*
 * Size of a thread's span, and maximum number of values that begin in it. A text of n bytes has
 * n + 1 positions where a part may begin: an empty part follows a delimiter at the very end.
 */
#define TEXT_SPAN_BYTES  32
#define TEXT_SPAN_VALUES (TEXT_SPAN_BYTES / 2)

/* Maximum number of values of a text. */
#define TEXT_SPAN_VALUES_MAX(bytes) (((bytes) + 1) / 2)

enum text_span_unit {
    TEXT_SPAN_TOKENS, /* words between white space */
    TEXT_SPAN_PARTS,  /* parts between delimiters and line ends */
    TEXT_SPAN_LINES,  /* lines, whose value is one field */
};

/*
 * Receives the values of a span. Invalid units are counted modulo 2^32, and only the sum over all
 * spans of a text is right: see text_span_parse_part.
 */
struct text_span_sink {
    uint64_t *values; /* [TEXT_SPAN_VALUES], keys (element.h) */
    uint32_t count;
    uint32_t invalid;
    uint32_t zeros; /* number of timestamps that are 0 */
};

static inline enum text_span_unit text_span_unit_of(const struct text_rules *rules)
{
    if (rules->field != 0)
        return TEXT_SPAN_LINES;
    return rules->delimiter == TEXT_NO_DELIMITER ? TEXT_SPAN_TOKENS : TEXT_SPAN_PARTS;
}

HOST_DEVICE_INLINE void text_span_emit(struct text_span_sink *sink, bool is_good, uint64_t key)
{
    if (is_good)
        sink->values[sink->count++] = key;
    else
        sink->invalid++;
}

/* Returns the end of the field at `i`: a delimiter, or without one a blank, or the line's end. */
HOST_DEVICE_INLINE uint32_t text_span_skip_field(const struct text_span_view *view,
                                                 const struct text_span_rules *rules, uint32_t i)
{
    const bool is_word = rules->delimiter > UINT8_MAX;

    for (;; i++) {
        const unsigned byte = text_span_at(view, i);
        if (byte == rules->delimiter || (byte <= ' ' && ((is_word && text_span_is_blank(byte)) ||
                                                         text_span_ends_line(view, i))))
            return i;
    }
}

/*
 * Returns field number `field`, from 1, of the line at `first`: a word between blanks, or a part
 * between delimiters. Returns an empty range at the line's end if there are fewer fields.
 */
HOST_DEVICE_INLINE struct text_span_range text_span_find_field(const struct text_span_view *view,
                                                               const struct text_span_rules *rules,
                                                               uint32_t first, uint32_t number)
{
    const bool is_word = rules->delimiter > UINT8_MAX;
    struct text_span_range field = {first, first};

    for (uint32_t left = number;; left--) {
        while (is_word && text_span_is_blank(text_span_at(view, field.first)))
            field.first++;
        field.end = text_span_skip_field(view, rules, field.first);
        if (left == 1)
            return field;
        if (is_word ? field.first == field.end : text_span_ends_line(view, field.end))
            break;
        field.first = field.end + !is_word;
    }
    field.first = field.end;
    return field;
}

/* Returns the number of fields of the line at `first`, and stores its end. */
HOST_DEVICE_INLINE uint32_t text_span_count_fields(const struct text_span_view *view,
                                                   const struct text_span_rules *rules,
                                                   uint32_t first, uint32_t *end)
{
    const bool has_delimiter = rules->delimiter <= UINT8_MAX;
    uint32_t fields = has_delimiter;
    bool is_inside = false; /* inside a word */
    uint32_t i = first;

    for (; !text_span_ends_line(view, i); i++) {
        const unsigned byte = text_span_at(view, i);
        const bool was_inside = is_inside;
        is_inside = !text_span_is_blank(byte);
        fields += has_delimiter ? byte == rules->delimiter : is_inside && !was_inside;
    }
    *end = i;
    return fields;
}

/* Parses the token at `first`. Returns a position in it, or its end. */
HOST_DEVICE_INLINE uint32_t text_span_parse_token(const struct text_span_view *view,
                                                  const struct text_span_rules *rules,
                                                  uint32_t first, struct text_span_sink *sink)
{
    const struct text_span_range rest = {first, view->bytes};
    const struct text_span_number number = text_span_convert(view, rules, rest);

    text_span_emit(sink, number.is_good && text_span_is_space(text_span_at(view, number.end)),
                   number.value);
    return number.end;
}

/* Returns the number of parts of the line at `first` if it has only blanks; otherwise 0. */
HOST_DEVICE_INLINE uint32_t text_span_count_blank_parts(const struct text_span_view *view,
                                                        const struct text_span_rules *rules,
                                                        uint32_t first)
{
    uint32_t parts = 1;
    uint32_t i = first;

    for (; text_span_is_blank(text_span_at(view, i)); i++)
        parts += text_span_at(view, i) == rules->delimiter;
    return text_span_ends_line(view, i) ? parts : 0;
}

/*
 * Parses the part at `first`, and returns its end. A line of blanks has neither values nor invalid
 * parts. But each thread that finds an empty part of it counts it as invalid, so the thread that
 * finds the first part subtracts them all.
 */
HOST_DEVICE_INLINE uint32_t text_span_parse_part(const struct text_span_view *view,
                                                 const struct text_span_rules *rules,
                                                 uint32_t first, struct text_span_sink *sink)
{
    const uint32_t end = text_span_skip_field(view, rules, first);
    const struct text_span_range part = {first, end};
    const struct text_span_range trimmed = text_span_trim(view, part);
    const struct text_span_number number = text_span_convert(view, rules, trimmed);

    text_span_emit(sink, number.is_good && number.end == trimmed.end, number.value);
    if (trimmed.first == trimmed.end && text_span_at(view, first - 1) == '\n')
        sink->invalid -= text_span_count_blank_parts(view, rules, first);
    return end;
}

/* Parses the line at `first`. Returns a position in it, or its end. */
HOST_DEVICE_INLINE uint32_t text_span_parse_line(const struct text_span_view *view,
                                                 const struct text_span_rules *rules,
                                                 uint32_t first, struct text_span_sink *sink)
{
    uint32_t seen = first;
    int64_t field = rules->field;
    bool is_split_right = true;
    struct text_span_range found = {first, first};

    if (field < 0 || rules->columns > 0) {
        const uint32_t fields = text_span_count_fields(view, rules, first, &seen);
        is_split_right = rules->columns == 0 || fields == rules->columns;
        field += field < 0 ? (int64_t)fields + 1 : 0;
    }
    if (field > 0)
        found = text_span_find_field(view, rules, first, (uint32_t)field);
    seen = found.end > seen ? found.end : seen;
    found = text_span_trim(view, found);
    const struct text_span_number number =
        rules->notation == TEXT_TIME ? text_span_read_time(view, rules, found)
        : rules->notation == TEXT_IP ? text_span_read_address(view, rules, found)
                                     : text_span_convert(view, rules, found);

    if (rules->notation == TEXT_TIME)
        sink->zeros +=
            is_split_right && number.is_good &&
            kind_time_is_zero(text_span_at(view, found.first), text_span_at(view, found.first + 1));
    if (found.first < found.end || text_span_count_blank_parts(view, rules, first) == 0)
        text_span_emit(sink, is_split_right && number.is_good && number.end == found.end,
                       number.value);
    return seen;
}

/*
 * Returns whether a unit begins at a position with `byte`, after one with `before`. An empty line
 * after the last newline also begins a unit, which is skipped later.
 */
HOST_DEVICE_INLINE bool text_span_begins(const struct text_span_rules *rules,
                                         enum text_span_unit unit, unsigned before, unsigned byte)
{
    if (unit == TEXT_SPAN_TOKENS)
        return text_span_is_space(before) && !text_span_is_space(byte);
    if (before == '\n')
        return true;
    return unit == TEXT_SPAN_PARTS && before == rules->delimiter &&
           !(before == '\r' && byte == '\n');
}

/*
 * Adds to the empty sink the values and invalid units that begin at the positions [first, first +
 * TEXT_SPAN_BYTES). The spans of all positions 0 to view->bytes, each once, are the whole text. It
 * is faster if `unit`, text_span_unit_of the rules, is a constant.
 */
HOST_DEVICE_INLINE void text_span_parse(const struct text_span_view *view,
                                        const struct text_span_rules *rules,
                                        enum text_span_unit unit, uint32_t first,
                                        struct text_span_sink *sink)
{
    const uint32_t positions = view->bytes + 1;
    const uint32_t end = positions - first < TEXT_SPAN_BYTES ? positions : first + TEXT_SPAN_BYTES;
    uint32_t i = first;

    while (i < positions && i < end) {
        unsigned before = text_span_at(view, i - 1);
        for (; i < end; i++) {
            const unsigned byte = text_span_at(view, i);
            if (text_span_begins(rules, unit, before, byte))
                break;
            before = byte;
        }
        if (i == end)
            return;
        if (unit == TEXT_SPAN_TOKENS)
            i = text_span_parse_token(view, rules, i, sink) + 1;
        else if (unit == TEXT_SPAN_PARTS)
            i = text_span_parse_part(view, rules, i, sink) + 1;
        else
            i = text_span_parse_line(view, rules, i, sink) + 1;
    }
}

#endif
