/* What of a text may be shown at a terminal: printable UTF-8. */
#include "config.h"

#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>

size_t printable_bytes(const char *text)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (const unsigned char *)text;
    size_t bytes = *c < 0x80   ? 1
                   : *c < 0xc0 ? 0
                   : *c < 0xe0 ? 2
                   : *c < 0xf0 ? 3
                   : *c < 0xf8 ? 4
                               : 0;
    uint32_t code = bytes <= 1 ? *c : *c & (0x7fu >> bytes);

    for (size_t i = 1; i < bytes; i++) {
        if ((c[i] & 0xc0) != 0x80) /* the NUL is none of these either */
            return 0;
        code = code << 6 | (c[i] & 0x3fu);
    }
    if (bytes == 0 || code < min[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    /* Not printed: controls; Unicode's characters of format for lines and directions (UAX 9). */
    const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
                            (code >= 0x200e && code <= 0x200f) ||
                            (code >= 0x2028 && code <= 0x202e) ||
                            (code >= 0x2066 && code <= 0x2069);
    return is_control ? 0 : bytes;
}

void printable_mask(char *text)
{
    while (*text) {
        size_t bytes = printable_bytes(text);
        if (bytes == 0)
            *text = '?';
        text += bytes > 0 ? bytes : 1;
    }
}
