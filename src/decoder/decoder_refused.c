/*
 * Formats that are known only to be refused: read as they are, they would be counted as binary.
 * Binary integers can begin like any of them; --decompress=none reads those.
 */
#include "config.h"

#include "decoder/decoder_internal.h"

/* The signatures of a file in an archive, of an archive without any, and of one in parts. */
static enum decoder_match decoder_zip_match(const unsigned char *head, size_t bytes)
{
    static const char *const signatures[] = {"PK\3\4", "PK\5\6", "PK\7\10"};
    enum decoder_match match = DECODER_NO;

    for (size_t i = 0; match == DECODER_NO && i < sizeof signatures / sizeof *signatures; i++)
        match = decoder_match_magic(head, bytes, signatures[i], 4);
    return match;
}

static enum decoder_match decoder_7z_match(const unsigned char *head, size_t bytes)
{
    return decoder_match_magic(head, bytes, "7z\xbc\xaf\x27\x1c", 6);
}

/*
 * The magic has two bytes; a third holds the greatest length of a code, 9 to 16 bits, and a flag
 * that has been set ever since compress 4.0 (1985). One in two million random files begins so.
 */
static enum decoder_match decoder_compress_match(const unsigned char *head, size_t bytes)
{
    enum decoder_match match = decoder_match_magic(head, bytes, "\x1f\x9d", 2);

    if (match != DECODER_YES || bytes == 2)
        return match == DECODER_NO ? DECODER_NO : DECODER_MAYBE;
    return head[2] >= (0x80 | 9) && head[2] <= (0x80 | 16) ? DECODER_YES : DECODER_NO;
}

/* Whether the size of a dictionary is one that encoders use: 2^n or 2^n + 2^(n-1), from 4 KiB on.
 */
static bool decoder_lzma_is_dictionary(uint32_t bytes)
{
    uint32_t lowest = bytes & -bytes;
    uint32_t rest = bytes - lowest;

    return bytes >= 4096 && (rest == 0 || rest == 2 * lowest);
}

/*
 * There is no magic: the header has the usual properties (0x5d), the sizes of the dictionary and of
 * the content (all ones: not known), 13 bytes in all, and behind it come a byte of 0 and 4 of code
 * (the LZMA specification in the LZMA SDK). Small integers may have the same in the header, but
 * zeros behind it: three bytes of the code must be none.
 */
static enum decoder_match decoder_lzma_match(const unsigned char *head, size_t bytes)
{
    enum decoder_match match = decoder_match_magic(head, bytes, "\x5d\0", 2);
    unsigned zeros = 0;

    if (match != DECODER_YES || bytes < DECODER_MAGIC_BYTES)
        return match == DECODER_NO ? DECODER_NO : DECODER_MAYBE;
    uint64_t size = decoder_read_32(head + 5) | (uint64_t)decoder_read_32(head + 9) << 32;
    for (size_t i = 14; i < 18; i++)
        zeros += head[i] == 0;
    return decoder_lzma_is_dictionary(decoder_read_32(head + 1)) &&
                   (size == UINT64_MAX || size >> 38 == 0) && head[13] == 0 && zeros <= 1
               ? DECODER_YES
               : DECODER_NO;
}

const struct decoder_format decoder_zip = {
    .name = "zip",
    .instead = "zip archives are not read: unpack it before, for example with unzip -p "
               "(--decompress=none counts it as it is)",
    .match = decoder_zip_match,
};

const struct decoder_format decoder_7z = {
    .name = "7z",
    .instead = "7z archives are not read: unpack it before, for example with 7z x -so "
               "(--decompress=none counts it as it is)",
    .match = decoder_7z_match,
};

const struct decoder_format decoder_lzma = {
    .name = "lzma",
    .instead = "lzma files of the format before xz are not read: decompress it first, for example "
               "with xz -dc (--decompress=none counts it as it is)",
    .match = decoder_lzma_match,
};

const struct decoder_format decoder_compress = {
    .name = "compress",
    .instead =
        "files of compress (.Z) are not read: decompress it first, for example with gzip -dc "
        "(--decompress=none counts it as it is)",
    .match = decoder_compress_match,
};
