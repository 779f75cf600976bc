/*
 * Formats that are recognised only to be rejected. Otherwise gpuhist would count their compressed
 * bytes as binary integers. Binary integers can begin like one of these formats by chance; option
 * --decompress=none reads such input.
 */
#include "config.h"

#include "decoder/decoder_internal.h"

/*
 * lzma has no magic. Its header has 13 bytes: the properties (usually 0x5d), the size of the
 * dictionary, and the size of the content (all ones: unknown). A byte of 0 and 4 bytes of code
 * follow (the LZMA specification in the LZMA SDK). Small binary integers may look like such a
 * header, but then zeros follow. So at least three bytes of the code must not be zero.
 */
static enum decoder_match decoder_lzma_match(const unsigned char *head, size_t bytes)
{
    unsigned zeros = 0;

    if (bytes < DECODER_MAGIC_BYTES)
        return DECODER_MAYBE;
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
    /* A file in an archive, an empty archive, and a split archive. */
    .magics = {DECODER_MAGIC("PK\3\4"), DECODER_MAGIC("PK\5\6"), DECODER_MAGIC("PK\7\10")},
};

const struct decoder_format decoder_7z = {
    .name = "7z",
    .instead = "7z archives are not supported: unpack it first, for example with 7z x -so "
               "(--decompress=none counts it as it is)",
    .magics = {DECODER_MAGIC("7z\xbc\xaf\x27\x1c")},
};

const struct decoder_format decoder_lzma = {
    .name = "lzma",
    .instead =
        "lzma files, the predecessors of xz, are not supported: decompress it first, for example "
        "with xz -dc (--decompress=none counts it as it is)",
    .magics = {DECODER_MAGIC("\x5d\0")},
    .match = decoder_lzma_match,
};

const struct decoder_format decoder_compress = {
    .name = "compress",
    .instead =
        "files of compress (.Z) are not supported: decompress it first, for example with gzip -dc "
        "(--decompress=none counts it as it is)",
    /*
     * The third byte holds the maximum code length, 9 to 16 bits, and a flag that compress has set
     * since version 4.0 (1985). One in two million random files begins so.
     */
    .magics = {DECODER_MAGIC_RANGE("\x1f\x9d\x89", "\x1f\x9d\x90")},
};
