/*
 * Text or not: UTF-8 as Unicode defines it (version 15, table 3-7: nothing overlong, no surrogates,
 * nothing above U+10FFFF) without control characters (category Cc), but white space.
 */
#include "config.h"

#include "text.h"

/* What may follow a character's first byte. */
struct text_lead {
    unsigned char first;
    unsigned char last; /* of a range of first bytes */
    unsigned char low;  /* the second byte is from low */
    unsigned char high; /* to high; any further one from 0x80 to 0xbf */
    unsigned char bytes;
};

/* U+0080 to U+009F are controls; that one of them is a next line, U+0085, is seen below. */
static const struct text_lead text_leads[] = {
    {0xc2, 0xc2, 0xa0, 0xbf, 2}, {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* Whether an ASCII byte may be in a text. */
static bool text_detect_ascii(unsigned char byte)
{
    return (byte >= ' ' && byte < 0x7f) || (byte >= '\t' && byte <= '\r');
}

/*
 * The bytes of the character beyond ASCII at text[0..bytes), or 0 if it is none. One that is cut
 * off counts whole.
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
