/*
 * Detects text: valid UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above
 * U+10FFFF) with no control characters (category Cc) except white space; and text in other
 * encodings, by their byte order marks (section 23.8).
 */
#include "config.h"

#include "text/text.h"

#include <string.h>

/* The second byte that a range of first bytes of characters allows. Later ones are 0x80 to 0xbf. */
struct text_lead {
    unsigned char first; /* the first bytes are first..last */
    unsigned char last;
    unsigned char low; /* the second byte is low..high */
    unsigned char high;
    unsigned char bytes; /* of the character */
};

/* U+0080 to U+009F are controls and left out. text_detect_wide allows U+0085, the next line. */
static const struct text_lead text_leads[] = {
    {0xc2, 0xc2, 0xa0, 0xbf, 2}, {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* Whether an ASCII character may occur in text. */
static bool text_detect_ascii(unsigned char byte)
{
    return (byte >= ' ' && byte < 0x7f) || (byte >= '\t' && byte <= '\r');
}

/*
 * The length in bytes of the non-ASCII character at text[0..bytes), or 0 if it is not valid. For a
 * character that the end cuts, the whole length.
 */
static size_t text_detect_wide(const unsigned char *text, size_t bytes)
{
    if (bytes >= 2 && text[0] == 0xc2 && text[1] == 0x85)
        return 2;
    for (size_t i = 0; i < sizeof text_leads / sizeof *text_leads; i++) {
        const struct text_lead *lead = &text_leads[i];
        if (text[0] < lead->first || text[0] > lead->last)
            continue;
        if (bytes > 1 && (text[1] < lead->low || text[1] > lead->high))
            return 0;
        for (size_t k = 2; k < lead->bytes && k < bytes; k++) {
            if (text[k] < 0x80 || text[k] > 0xbf)
                return 0;
        }
        return lead->bytes;
    }
    return 0;
}

bool text_is_text(const void *block, size_t bytes, bool ended)
{
    const unsigned char *text = block;
    size_t i = 0;

    while (i < bytes) {
        if (text[i] < 0x80) {
            if (!text_detect_ascii(text[i++]))
                return false;
            continue;
        }
        size_t character = text_detect_wide(text + i, bytes - i);
        if (character == 0 || (character > bytes - i && ended))
            return false;
        i += character;
    }
    return true;
}

/* A byte order mark. */
struct text_mark {
    const char *encoding;
    unsigned char bytes[4];
    unsigned char length; /* of the mark, and of each code unit after it */
    bool is_big_endian;
};

static const struct text_mark text_marks[] = {
    {"UTF-32", {0xff, 0xfe, 0, 0}, 4, false},
    {"UTF-32", {0, 0, 0xfe, 0xff}, 4, true},
    {"UTF-16", {0xff, 0xfe}, 2, false},
    {"UTF-16", {0xfe, 0xff}, 2, true},
};

/*
 * Whether only characters of text follow the mark, no control, surrogate or noncharacter, at least
 * half of them ASCII. A character that the end cuts is ignored.
 */
static bool text_detect_encoded(const struct text_mark *mark, const unsigned char *text,
                                size_t bytes)
{
    size_t ascii = 0;
    size_t others = 0;
    uint32_t high = 0; /* the first surrogate of a pair */

    for (size_t i = mark->length; i + mark->length <= bytes; i += mark->length) {
        uint32_t code = 0;
        for (size_t k = 0; k < mark->length; k++)
            code = code << 8 | text[i + (mark->is_big_endian ? k : mark->length - 1 - k)];
        if (mark->length == 2 && high == 0 && (code & 0xfc00) == 0xd800) {
            high = code;
            continue;
        }
        if (high != 0 && (code & 0xfc00) != 0xdc00)
            return false;
        code = high != 0 ? 0x10000 + (high - 0xd800) * 0x400 + (code - 0xdc00) : code;
        high = 0;
        const bool is_wide = code >= 0xa0 && code <= 0x10ffff && (code & 0xfffe) != 0xfffe &&
                             (code < 0xd800 || code > 0xdfff);
        if (code < 0x80 ? !text_detect_ascii((unsigned char)code) : !is_wide && code != 0x85)
            return false;
        ascii += code < 0x80;
        others += code >= 0x80;
    }
    return ascii > 0 && ascii >= others;
}

const char *text_find_encoding(const void *block, size_t bytes)
{
    for (size_t i = 0; i < sizeof text_marks / sizeof *text_marks; i++) {
        const struct text_mark *mark = &text_marks[i];
        if (bytes >= mark->length && memcmp(block, mark->bytes, mark->length) == 0 &&
            text_detect_encoded(mark, block, bytes))
            return mark->encoding;
    }
    return NULL;
}
