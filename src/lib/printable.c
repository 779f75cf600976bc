/* Implements printable.h: decodes UTF-8, and classifies characters for terminals. */
#include "config.h"

#include "lib/printable.h"

#include <stdbool.h>
#include <stdint.h>

size_t printable_decode(const char *text, size_t bytes, uint32_t *code)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (const unsigned char *)text;
    const size_t length = *c < 0x80   ? 1
                          : *c < 0xc0 ? 0
                          : *c < 0xe0 ? 2
                          : *c < 0xf0 ? 3
                          : *c < 0xf8 ? 4
                                      : 0;

    *code = length <= 1 ? *c : *c & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (i >= bytes || (c[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (c[i] & 0x3fu);
    }
    return *code < min[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0
                                                                                          : length;
}

size_t printable_bytes(const char *text)
{
    uint32_t code;
    const size_t bytes = printable_decode(text, SIZE_MAX, &code); /* a NUL ends it */

    /* Not printed: controls; Unicode's characters of format for lines and directions (UAX 9). */
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
                   (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069)
               ? 0
               : bytes;
}

/* Ranges of characters with other than one column: Unicode 15, UAX 11 and class Mn, in short. */
static const struct {
    uint32_t first;
    uint32_t last;
    uint32_t columns;
} printable_ranges[] = {
    {0x300, 0x36f, 0},     {0x483, 0x489, 0},     {0x591, 0x5bd, 0},     {0x610, 0x61a, 0},
    {0x64b, 0x65f, 0},     {0x6d6, 0x6dc, 0},     {0x900, 0x902, 0},     {0x93c, 0x93c, 0},
    {0x941, 0x948, 0},     {0xe31, 0xe31, 0},     {0xe34, 0xe3a, 0},     {0xe47, 0xe4e, 0},
    {0x1100, 0x115f, 2},   {0x1160, 0x11ff, 0},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},
    {0x200b, 0x200d, 0},   {0x2060, 0x2064, 0},   {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},
    {0x3041, 0xa4cf, 2},   {0xa960, 0xa97f, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
    {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xfeff, 0xfeff, 0},
    {0xff01, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
    {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}, {0xe0100, 0xe01ef, 0},
};

size_t printable_columns(const char *text)
{
    uint32_t code;

    if (printable_bytes(text) == 0)
        return 1;
    printable_decode(text, SIZE_MAX, &code);
    for (size_t i = 0; i < sizeof printable_ranges / sizeof *printable_ranges; i++) {
        if (code >= printable_ranges[i].first && code <= printable_ranges[i].last)
            return printable_ranges[i].columns;
    }
    return 1;
}

size_t printable_width(const char *text)
{
    size_t width = 0;

    for (size_t bytes; *text; text += bytes > 0 ? bytes : 1) {
        bytes = printable_bytes(text);
        width += printable_columns(text);
    }
    return width;
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
