/*
 * A text as the parsers of spans see it, and its bytes: white space, line ends, ranges of places.
 * Compiled for host and device. All functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_SPAN_VIEW_H
#define GPUHIST_TEXT_SPAN_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define TEXT_SPAN_INLINE static __host__ __device__ __forceinline__
#else
#define TEXT_SPAN_INLINE static inline
#endif

/*
 * A text, a piece of which may also be in faster memory. Places after the text, and the one before
 * it, read as newlines; a piece that reaches there holds newlines.
 */
struct text_span_view {
    const unsigned char *text; /* [bytes] */
    uint32_t bytes;            /* 2^31 at most */
    const unsigned char *piece;
    uint32_t piece_first; /* its place in the text, modulo 2^32: it may begin before the text */
    uint32_t piece_bytes;
};

/* Places [first, end) of a text. */
struct text_span_range {
    uint32_t first;
    uint32_t end;
};

TEXT_SPAN_INLINE unsigned text_span_at(const struct text_span_view *view, uint32_t place)
{
    const uint32_t offset = place - view->piece_first;

    if (offset < view->piece_bytes)
        return view->piece[offset];
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

/* Whether the line's content ends here: at a newline, or at a carriage return before one. */
TEXT_SPAN_INLINE bool text_span_ends_line(const struct text_span_view *view, uint32_t place)
{
    const unsigned byte = text_span_at(view, place);

    return byte == '\n' || (byte == '\r' && text_span_at(view, place + 1) == '\n');
}

/* The range without the blanks at its ends. */
TEXT_SPAN_INLINE struct text_span_range text_span_trim(const struct text_span_view *view,
                                                       struct text_span_range range)
{
    while (range.first < range.end && text_span_is_blank(text_span_at(view, range.first)))
        range.first++;
    while (range.first < range.end && text_span_is_blank(text_span_at(view, range.end - 1)))
        range.end--;
    return range;
}

#endif
