/*
 * The fields of a line: words between blanks, or parts between delimiters. Compiled for host and
 * device. All functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_SPAN_FIELD_H
#define GPUHIST_TEXT_SPAN_FIELD_H

#include "cuda/text_span_number.h"

/* The end of the part that `place` is in: a delimiter or the end of the line. */
TEXT_SPAN_INLINE uint32_t text_span_skip_part(const struct text_span_view *view,
                                              const struct text_span_rules *rules, uint32_t place)
{
    while (text_span_at(view, place) != rules->delimiter && !text_span_ends_line(view, place))
        place++;
    return place;
}

/* The end of the word that `place` is in. */
TEXT_SPAN_INLINE uint32_t text_span_skip_word(const struct text_span_view *view, uint32_t place)
{
    for (;; place++) {
        const unsigned byte = text_span_at(view, place);
        if (byte <= ' ' && (text_span_is_blank(byte) || text_span_ends_line(view, place)))
            return place;
    }
}

/*
 * The word number rules->field, from 1 on, of the line that begins at `first`. If the line has
 * fewer, the result is an empty range at its end; so it is in the functions that follow.
 */
TEXT_SPAN_INLINE struct text_span_range text_span_find_word(const struct text_span_view *view,
                                                            const struct text_span_rules *rules,
                                                            uint32_t first)
{
    struct text_span_range word = {first, first};

    for (int32_t left = rules->field; left > 0; left--) {
        word.first = word.end;
        while (text_span_is_blank(text_span_at(view, word.first)))
            word.first++;
        word.end = text_span_skip_word(view, word.first);
        if (word.first == word.end) /* the line has ended */
            break;
    }
    return word;
}

TEXT_SPAN_INLINE struct text_span_range text_span_find_part(const struct text_span_view *view,
                                                            const struct text_span_rules *rules,
                                                            uint32_t first)
{
    struct text_span_range part = {first, text_span_skip_part(view, rules, first)};

    for (int32_t left = rules->field; left > 1; left--) {
        part.first = part.end;
        if (text_span_ends_line(view, part.end))
            break;
        part.first++;
        part.end = text_span_skip_part(view, rules, part.first);
    }
    return part;
}

/* The word number rules->field of a line [first, end); -1 is the last word. */
TEXT_SPAN_INLINE struct text_span_range text_span_find_last_word(
    const struct text_span_view *view, const struct text_span_rules *rules,
    struct text_span_range line)
{
    struct text_span_range word = {line.end, line.end};

    for (int32_t left = rules->field; left < 0; left++) {
        word.end = word.first;
        while (word.end > line.first && text_span_is_blank(text_span_at(view, word.end - 1)))
            word.end--;
        word.first = word.end;
        while (word.first > line.first && !text_span_is_blank(text_span_at(view, word.first - 1)))
            word.first--;
        if (word.first == word.end) /* the line's beginning */
            break;
    }
    return word;
}

TEXT_SPAN_INLINE struct text_span_range text_span_find_last_part(
    const struct text_span_view *view, const struct text_span_rules *rules,
    struct text_span_range line)
{
    struct text_span_range part = {line.end + 1, line.end};

    for (int32_t left = rules->field; left < 0; left++) {
        if (part.first == line.first) {
            part.end = part.first;
            break;
        }
        part.first--;
        part.end = part.first;
        while (part.first > line.first && text_span_at(view, part.first - 1) != rules->delimiter)
            part.first--;
    }
    return part;
}

/* How many fields the line has that begins at `first`. */
TEXT_SPAN_INLINE uint32_t text_span_count_fields(const struct text_span_view *view,
                                                 const struct text_span_rules *rules,
                                                 uint32_t first)
{
    const bool has_delimiter = rules->delimiter <= UINT8_MAX;
    uint32_t fields = has_delimiter;
    bool is_inside = false; /* of a word */

    for (uint32_t place = first; !text_span_ends_line(view, place); place++) {
        const unsigned byte = text_span_at(view, place);
        const bool was_inside = is_inside;
        is_inside = !text_span_is_blank(byte);
        fields += has_delimiter ? byte == rules->delimiter : is_inside && !was_inside;
    }
    return fields;
}

/* The wanted field of the line that begins at `first`. *seen is a place in the line, or its end. */
TEXT_SPAN_INLINE struct text_span_range text_span_find_field(const struct text_span_view *view,
                                                             const struct text_span_rules *rules,
                                                             uint32_t first, uint32_t *seen)
{
    const bool has_delimiter = rules->delimiter <= UINT8_MAX;

    if (rules->field > 0) {
        const struct text_span_range found = has_delimiter
                                                 ? text_span_find_part(view, rules, first)
                                                 : text_span_find_word(view, rules, first);
        *seen = found.end;
        return found;
    }
    struct text_span_range line = {first, first};
    while (!text_span_ends_line(view, line.end))
        line.end++;
    *seen = line.end;
    return has_delimiter ? text_span_find_last_part(view, rules, line)
                         : text_span_find_last_word(view, rules, line);
}

#endif
