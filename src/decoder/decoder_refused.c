/*
 * Formats that are recognised only to be rejected. Otherwise gpuhist would count their compressed
 * bytes as binary integers. Binary integers can begin like one of these formats by chance; option
 * --decompress=none reads such input.
 */
#include "config.h"

#include "decoder/decoder_internal.h"

/* The signatures of a file in an archive, of an empty archive, and of a split archive. */
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
 * The magic has two bytes. The third byte holds the maximum code length, 9 to 16 bits, and a flag
 * that compress has set since version 4.0 (1985). One in two million random files begins so.
 */
static enum decoder_match decoder_compress_match(const unsigned char *head, size_t bytes)
{
    enum decoder_match match = decoder_match_magic(head, bytes, "\x1f\x9d", 2);

    if (match != DECODER_YES || bytes == 2)
        return match == DECODER_NO ? DECODER_NO : DECODER_MAYBE;
    return head[2] >= (0x80 | 9) && head[2] <= (0x80 | 16) ? DECODER_YES : DECODER_NO;
}

/*
 * lzma has no magic. Its header has 13 bytes: the properties (usually 0x5d), the size of the
 * dictionary, and the size of the content (all ones: unknown). A byte of 0 and 4 bytes of code
 * follow (the LZMA specification in the LZMA SDK). Small binary integers may look like such a
 * header, but then zeros follow. So at least three bytes of the code must not be zero.
 */
static enum decoder_match decoder_lzma_match(const unsigned char *head, size_t bytes)
{
    enum decoder_match match = decoder_match_magic(head, bytes, "\x5d\0", 2);
    unsigned zeros = 0;

    if (match != DECODER_YES || bytes < DECODER_MAGIC_BYTES)
        return match == DECODER_NO ? DECODER_NO : DECODER_MAYBE;
    uint64_t size = decoder_read_32(head + 5) | (uint64_t)decoder_read_32(head + 9) << 32;
    const uint32_t dictionary = decoder_read_32(head + 1);
    const uint32_t lowest = dictionary & -dictionary;
    for (size_t i = 14; i < 18; i++)
        zeros += head[i] == 0;
    /* Encoders use dictionaries of 2^n or 2^n + 2^(n-1), 4 KiB or more. */
    return dictionary >= 4096 && (dictionary == lowest || dictionary == 3 * lowest) &&
                   (size == UINT64_MAX || size >> 38 == 0) && head[13] == 0 && zeros <= 1
               ? DECODER_YES
               : DECODER_NO;
}

const struct decoder_format decoder_zip = {
    .name = "zip",
    .instead = "zip archives are not supported: unpack it first, for example with unzip -p "
               "(--decompress=none counts it as it is)",
    .match = decoder_zip_match,
};

const struct decoder_format decoder_7z = {
    .name = "7z",
    .instead = "7z archives are not supported: unpack it first, for example with 7z x -so "
               "(--decompress=none counts it as it is)",
    .match = decoder_7z_match,
};

const struct decoder_format decoder_lzma = {
    .name = "lzma",
    .instead =
        "lzma files, the predecessors of xz, are not supported: decompress it first, for example "
        "with xz -dc (--decompress=none counts it as it is)",
    .match = decoder_lzma_match,
};

const struct decoder_format decoder_compress = {
    .name = "compress",
    .instead =
        "files of compress (.Z) are not supported: decompress it first, for example with gzip -dc "
        "(--decompress=none counts it as it is)",
    .match = decoder_compress_match,
};
