/*
 * Detects text: valid UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above
 * U+10FFFF) with no control characters (category Cc) except white space; and text in other
 * encodings, by their byte order marks (section 23.8).
 */
#include "config.h"

#include "text/text.h"

#include "lib/printable.h"

#include <string.h>

/* Returns whether an ASCII character may occur in text. */
static bool text_detect_ascii(unsigned char byte)
{
    return (byte >= ' ' && byte < 0x7f) || (byte >= '\t' && byte <= '\r');
}

/*
 * Characters that are not ASCII are text if they are valid and not a control, except U+0085, the
 * next line. A character that the end cuts counts as whole if further bytes can complete it.
 */
bool text_is_text(const void *block, size_t bytes, bool ended)
{
    static const char fillers[] = {'\xbf', '\x80'}; /* one of these completes a cut character */
    const unsigned char *text = block;

    for (size_t i = 0, length; i < bytes; i += length) {
        length = text_detect_ascii(text[i]);
        for (size_t k = 0; length == 0 && text[i] >= 0x80 && k < sizeof fillers; k++) {
            const size_t left = bytes - i;
            uint32_t code;
            char whole[4];
            memset(whole, fillers[k], sizeof whole);
            memcpy(whole, text + i, left < sizeof whole ? left : sizeof whole);
            length = printable_decode(whole, sizeof whole, &code);
            if (code < 0xa0 && code != 0x85)
                length = 0;
        }
        if (length == 0 || (length > bytes - i && ended))
            return false;
    }
    return true;
}

/* A byte order mark. */
struct text_mark {
    const char *encoding;
    unsigned char bytes[4];
    unsigned char length; /* length of the mark, and of each code unit after it */
    bool is_big_endian;
};

static const struct text_mark text_marks[] = {
    {"UTF-32", {0xff, 0xfe, 0, 0}, 4, false},
    {"UTF-32", {0, 0, 0xfe, 0xff}, 4, true},
    {"UTF-16", {0xff, 0xfe}, 2, false},
    {"UTF-16", {0xfe, 0xff}, 2, true},
};

/*
 * After the mark, only characters of text are allowed, no controls, surrogates or noncharacters,
 * and at least half of them must be ASCII. A character that the end cuts is ignored.
 */
const char *text_find_encoding(const void *block, size_t bytes)
{
    const unsigned char *text = block;

    for (size_t i = 0; i < sizeof text_marks / sizeof *text_marks; i++) {
        const struct text_mark *mark = &text_marks[i];
        const size_t unit = mark->length;
        size_t ascii = 0;
        size_t others = 0;
        uint32_t high = 0; /* the first surrogate of a pair */
        bool is_text = bytes >= unit && memcmp(block, mark->bytes, unit) == 0;
        for (size_t at = unit; is_text && at + unit <= bytes; at += unit) {
            uint32_t code = 0;
            for (size_t k = 0; k < unit; k++)
                code = code << 8 | text[at + (mark->is_big_endian ? k : unit - 1 - k)];
            if (unit == 2 && high == 0 && (code & 0xfc00) == 0xd800) {
                high = code;
                continue;
            }
            is_text = high == 0 || (code & 0xfc00) == 0xdc00;
            code = high != 0 ? 0x10000 + (high - 0xd800) * 0x400 + (code - 0xdc00) : code;
            high = 0;
            const bool is_wide = code >= 0xa0 && code <= 0x10ffff && (code & 0xfffe) != 0xfffe &&
                                 (code < 0xd800 || code > 0xdfff);
            is_text = is_text && (code < 0x80 ? text_detect_ascii((unsigned char)code)
                                              : is_wide || code == 0x85);
            ascii += code < 0x80;
            others += code >= 0x80;
        }
        if (is_text && ascii > 0 && ascii >= others)
            return mark->encoding;
    }
    return NULL;
}
