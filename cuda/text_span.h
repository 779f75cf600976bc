/*
 * Parsing text by many threads at once: what one of them finds in its span of a chunk. Compiled for
 * host and device.
 *
 * The rules of text.h divide a text into units: tokens, parts of lines, or whole lines of which a
 * field is wanted. Whether one begins at a byte can be seen from that byte and the one before it,
 * so each thread finds the units that begin in its span by itself, and follows them past its end.
 * Every value belongs to one unit and takes two bytes at least, a digit and a separator.
 *
 * Twenty digits are the most that fit 64 bits; whether they do is seen from the first of them and
 * from the product, wrapped or not (Langdale and Lemire, "Parsing Gigabytes of JSON per Second",
 * 2019, and its implementation simdjson).
 *
 * All functions are pure and thread-safe, but for the sink that they are given.
 */
#ifndef GPUHIST_TEXT_SPAN_H
#define GPUHIST_TEXT_SPAN_H

#include "job/element.h"
#include "text/text.h"

#ifdef __CUDACC__
#define TEXT_SPAN_INLINE static __host__ __device__ __forceinline__
#else
#define TEXT_SPAN_INLINE static inline
#endif

/*
 * A thread's span of a text, and the most values that can begin in it. A text of n bytes has n + 1
 * places where a part may begin: after a delimiter at the very end there is an empty one.
 */
#define TEXT_SPAN_BYTES  32
#define TEXT_SPAN_VALUES (TEXT_SPAN_BYTES / 2)

/* The most values that a text can have. */
#define TEXT_SPAN_VALUES_MAX(bytes) (((bytes) + 1) / 2)

enum text_span_unit {
    TEXT_SPAN_TOKENS, /* words between white space */
    TEXT_SPAN_PARTS,  /* what is between delimiters and line ends */
    TEXT_SPAN_LINES,  /* lines, of which one field is the value */
};

/* The rules, as the functions below want them. */
struct text_span_rules {
    int32_t field;
    unsigned delimiter;     /* a byte; larger: none */
    uint64_t most_positive; /* the magnitudes that the type has room for */
    uint64_t most_negative;
};

/*
 * A text, of which a piece may lie in faster memory, too. Places behind the text and the one
 * before it read as newlines; the staged piece holds such if it reaches there.
 */
struct text_span_view {
    const unsigned char *text; /* [bytes] */
    uint32_t bytes;            /* 2^31 at most */
    const unsigned char *staged;
    uint32_t
        staged_first; /* place of its first byte in the text; may be less than 0, modulo 2^32 */
    uint32_t staged_bytes;
};

/* Where a span's values go. Invalid units are counted modulo 2^32: only their sum over all spans
 * means something. */
struct text_span_sink {
    uint64_t *values; /* [TEXT_SPAN_VALUES], keys (element.h) */
    uint32_t count;
    uint32_t invalid;
};

/* An integer: its key, the place behind it, and whether it is one and fits the type. */
struct text_span_number {
    uint64_t key;
    uint32_t end;
    bool is_good;
};

/* Places [first, end) of a text. */
struct text_span_range {
    uint32_t first;
    uint32_t end;
};

static inline enum text_span_unit text_span_unit_of(const struct text_rules *rules)
{
    if (rules->field != 0)
        return TEXT_SPAN_LINES;
    return rules->delimiter == TEXT_NO_DELIMITER ? TEXT_SPAN_TOKENS : TEXT_SPAN_PARTS;
}

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

TEXT_SPAN_INLINE unsigned text_span_at(const struct text_span_view *view, uint32_t place)
{
    const uint32_t offset = place - view->staged_first;

    if (offset < view->staged_bytes)
        return view->staged[offset];
    return place < view->bytes ? view->text[place] : '\n';
}

TEXT_SPAN_INLINE bool text_span_is_blank(unsigned byte)
{
    return byte == ' ' || byte == '\t';
}

TEXT_SPAN_INLINE bool text_span_is_space(unsigned byte)
{
    return byte == ' ' || byte - '\t' <= '\r' - '\t';
}

/* Whether the line's content ends here, at a newline or at a carriage return before it. */
TEXT_SPAN_INLINE bool text_span_ends_line(const struct text_span_view *view, uint32_t place)
{
    const unsigned byte = text_span_at(view, place);

    return byte == '\n' || (byte == '\r' && text_span_at(view, place + 1) == '\n');
}

/* The integer that begins at the first place of the range, as far as its digits go. */
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

TEXT_SPAN_INLINE void text_span_emit(struct text_span_sink *sink, bool is_good, uint64_t key)
{
    if (is_good)
        sink->values[sink->count++] = key;
    else
        sink->invalid++;
}

/* The token that begins here. Returns a place in it or at its end. */
TEXT_SPAN_INLINE uint32_t text_span_parse_token(const struct text_span_view *view,
                                                const struct text_span_rules *rules, uint32_t first,
                                                struct text_span_sink *sink)
{
    const struct text_span_range rest = {first, view->bytes};
    const struct text_span_number number = text_span_convert(view, rules, rest);

    text_span_emit(sink, number.is_good && text_span_is_space(text_span_at(view, number.end)),
                   number.key);
    return number.end;
}

/* The range without the blanks around it. */
TEXT_SPAN_INLINE struct text_span_range text_span_trim(const struct text_span_view *view,
                                                       struct text_span_range range)
{
    while (range.first < range.end && text_span_is_blank(text_span_at(view, range.first)))
        range.first++;
    while (range.first < range.end && text_span_is_blank(text_span_at(view, range.end - 1)))
        range.end--;
    return range;
}

/* The end of the part that begins here, or of a rest of it: a delimiter or the end of the line. */
TEXT_SPAN_INLINE uint32_t text_span_skip_part(const struct text_span_view *view,
                                              const struct text_span_rules *rules, uint32_t place)
{
    while (text_span_at(view, place) != rules->delimiter && !text_span_ends_line(view, place))
        place++;
    return place;
}

/* Of a line that has only blanks: how many parts it seems to have. Of any other, 0. */
TEXT_SPAN_INLINE uint32_t text_span_count_blank_parts(const struct text_span_view *view,
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
 * The part that begins here; returns its end. If its line has only blanks, all parts of that are
 * empty and are counted as invalid by whoever finds them, and the first takes them back.
 */
TEXT_SPAN_INLINE uint32_t text_span_parse_part(const struct text_span_view *view,
                                               const struct text_span_rules *rules, uint32_t first,
                                               struct text_span_sink *sink)
{
    const uint32_t end = text_span_skip_part(view, rules, first);
    const struct text_span_range part = {first, end};
    const struct text_span_range trimmed = text_span_trim(view, part);
    const struct text_span_number number = text_span_convert(view, rules, trimmed);

    text_span_emit(sink, number.is_good && number.end == trimmed.end, number.key);
    if (trimmed.first == trimmed.end && text_span_at(view, first - 1) == '\n')
        sink->invalid -= text_span_count_blank_parts(view, rules, first);
    return end;
}

/* The end of the word that begins here. */
TEXT_SPAN_INLINE uint32_t text_span_skip_word(const struct text_span_view *view, uint32_t place)
{
    for (;; place++) {
        const unsigned byte = text_span_at(view, place);
        if (byte <= ' ' && (text_span_is_blank(byte) || text_span_ends_line(view, place)))
            return place;
    }
}

/*
 * The wanted word of the line that begins here, the first being 1. Where it is missing, the range
 * is an empty one at the line's end. So do the three functions that follow.
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

/* The wanted word of a line [first, end), -1 being the last. */
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
        if (word.first == word.end) /* the line's begin */
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

/* The line that begins here. Returns a place in it or at its end. */
TEXT_SPAN_INLINE uint32_t text_span_parse_line(const struct text_span_view *view,
                                               const struct text_span_rules *rules, uint32_t first,
                                               struct text_span_sink *sink)
{
    const bool has_delimiter = rules->delimiter <= UINT8_MAX;
    struct text_span_range found;
    uint32_t seen;

    if (rules->field > 0) {
        found = has_delimiter ? text_span_find_part(view, rules, first)
                              : text_span_find_word(view, rules, first);
        seen = found.end;
    } else {
        struct text_span_range line = {first, first};
        while (!text_span_ends_line(view, line.end))
            line.end++;
        found = has_delimiter ? text_span_find_last_part(view, rules, line)
                              : text_span_find_last_word(view, rules, line);
        seen = line.end;
    }
    found = text_span_trim(view, found);
    const struct text_span_number number = text_span_convert(view, rules, found);
    if (found.first < found.end || text_span_count_blank_parts(view, rules, first) == 0)
        text_span_emit(sink, number.is_good && number.end == found.end, number.key);
    return seen;
}

/*
 * Whether a unit begins at a place that holds `byte`, behind one that holds `before`. Behind a last
 * newline that is an empty line, which is skipped.
 */
TEXT_SPAN_INLINE bool text_span_begins(const struct text_span_rules *rules,
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
 * Adds to the sink, an empty one, what the units that begin at the places [first, first +
 * TEXT_SPAN_BYTES) are worth. The spans of all places 0 to view->bytes, each once, make the whole
 * text. A caller in a hurry passes text_span_unit_of the rules as a constant.
 */
TEXT_SPAN_INLINE void text_span_parse(const struct text_span_view *view,
                                      const struct text_span_rules *rules, enum text_span_unit unit,
                                      uint32_t first, struct text_span_sink *sink)
{
    const uint32_t places = view->bytes + 1;
    const uint32_t end = places - first < TEXT_SPAN_BYTES ? places : first + TEXT_SPAN_BYTES;
    uint32_t i = first;

    while (i < places && i < end) {
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
