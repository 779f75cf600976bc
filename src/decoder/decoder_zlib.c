/*
 * Recognises zlib streams (RFC 1950), which are rejected. Their two magic bytes are also those of
 * many integers, such as 40056 and 105592. So the first block of the stream (RFC 1951) has to be
 * one: a stored block with its length and the complement of it; a complete code of code lengths,
 * which one in some hundred random ones is; or symbols of the fixed code that decode, up to 64
 * bytes or to the checksum. Where integers begin with the two bytes, fewer than one in a thousand
 * go on so, and hardly ever small ones, with zeros in their upper bytes.
 */
#include "config.h"

#include "decoder/decoder_internal.h"

/* Decoded bytes of a fixed block that are evidence enough, without its end. */
#define DECODER_ZLIB_ENOUGH 64

/* The longest match. */
#define DECODER_ZLIB_MATCH 258

/* Bits from the least significant one of each byte on. */
struct decoder_bits {
    const unsigned char *data;
    size_t bits; /* how many there are */
    size_t next; /* may be greater: then zeros were read */
};

static unsigned decoder_bits_take(struct decoder_bits *from, unsigned count)
{
    unsigned value = 0;

    for (unsigned i = 0; i < count; i++, from->next++) {
        if (from->next < from->bits)
            value |= ((unsigned)from->data[from->next / 8] >> from->next % 8 & 1u) << i;
    }
    return value;
}

/* A Huffman code of the fixed table, whose bits come in the other order. */
static unsigned decoder_bits_take_code(struct decoder_bits *from, unsigned count)
{
    unsigned code = 0;

    while (count-- > 0)
        code = code << 1 | decoder_bits_take(from, 1);
    return code;
}

/* The symbol of the fixed code for literals and lengths. */
static unsigned decoder_zlib_symbol(struct decoder_bits *from)
{
    unsigned code = decoder_bits_take_code(from, 7);

    if (code < 24)
        return 256 + code;
    code = code << 1 | decoder_bits_take(from, 1);
    if (code < 192)
        return code - 48;
    if (code < 200)
        return 280 + code - 192;
    return 144 + (code << 1 | decoder_bits_take(from, 1)) - 400;
}

/* Adler-32. */
static uint32_t decoder_zlib_checksum(const unsigned char *data, size_t bytes)
{
    uint32_t sum = 1;
    uint32_t sums = 0;

    for (size_t i = 0; i < bytes; i++) {
        sum = (sum + data[i]) % 65521;
        sums = (sums + sum) % 65521;
    }
    return sums << 16 | sum;
}

/* What follows the header of a block with fixed codes. */
static enum decoder_match decoder_zlib_match_fixed(struct decoder_bits *from, bool is_last)
{
    unsigned char out[DECODER_ZLIB_ENOUGH + DECODER_ZLIB_MATCH];
    size_t count = 0;
    unsigned symbol;

    while ((symbol = decoder_zlib_symbol(from)) != 256 && count < DECODER_ZLIB_ENOUGH) {
        if (symbol < 256) {
            out[count++] = (unsigned char)symbol;
            continue;
        }
        const unsigned length_code = symbol - 257;
        if (length_code > 28)
            return from->next > from->bits ? DECODER_MAYBE : DECODER_NO;
        const unsigned length_bits = length_code < 8 || length_code == 28 ? 0 : length_code / 4 - 1;
        unsigned length = length_code < 8     ? 3 + length_code
                          : length_code == 28 ? DECODER_ZLIB_MATCH
                                              : 3 + ((4 + length_code % 4) << length_bits);
        length += decoder_bits_take(from, length_bits);
        const unsigned distance_code = decoder_bits_take_code(from, 5);
        const unsigned distance_bits = distance_code < 4 ? 0 : distance_code / 2 - 1;
        const unsigned distance =
            (distance_code < 4 ? 1 + distance_code
                               : 1 + ((2 + distance_code % 2) << distance_bits)) +
            decoder_bits_take(from, distance_bits);
        if (from->next > from->bits)
            return DECODER_MAYBE;
        if (distance_code > 29 || distance > count)
            return DECODER_NO;
        for (; length > 0; length--, count++)
            out[count] = out[count - distance];
    }
    if (from->next > from->bits)
        return DECODER_MAYBE;
    if (symbol != 256)
        return DECODER_YES;
    const size_t end = (from->next + 7) / 8;
    if (!is_last)
        return DECODER_NO;
    if (from->bits / 8 < end + 4)
        return DECODER_MAYBE;
    const unsigned char *sum = from->data + end;
    const uint32_t found =
        (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | (uint32_t)sum[3];
    return found == decoder_zlib_checksum(out, count) ? DECODER_YES : DECODER_NO;
}

/* What follows the header of a block with codes of its own: their numbers, and a complete code. */
static enum decoder_match decoder_zlib_match_own(struct decoder_bits *from)
{
    const unsigned literals = decoder_bits_take(from, 5);
    const unsigned distances = decoder_bits_take(from, 5);
    const unsigned lengths = decoder_bits_take(from, 4) + 4;
    unsigned used = 0; /* of the 2^7 codes of 7 bits */
    unsigned bits = 0;

    for (unsigned i = 0; i < lengths; i++) {
        bits = decoder_bits_take(from, 3);
        used += bits > 0 ? 128u >> bits : 0;
    }
    if (from->next > from->bits)
        return DECODER_MAYBE;
    /* The first four are of no code with a length, and no encoder writes a 0 as the last. */
    return literals < 30 && distances < 30 && used == 128 && lengths > 4 && bits > 0 ? DECODER_YES
                                                                                     : DECODER_NO;
}

enum decoder_match decoder_zlib_match(const unsigned char *head, size_t bytes)
{
    if ((bytes > 0 && head[0] != 0x78) ||
        (bytes > 1 && ((head[0] << 8 | head[1]) % 31 != 0 || head[1] & 0x20)))
        return DECODER_NO;
    if (bytes < 3)
        return DECODER_MAYBE;
    struct decoder_bits from = {head, 8 * bytes, 16};
    const bool is_last = decoder_bits_take(&from, 1);
    switch (decoder_bits_take(&from, 2)) {
    case 0:
        if (bytes < 7)
            return DECODER_MAYBE;
        return (decoder_read_16(head + 3) ^ decoder_read_16(head + 5)) == 0xffff ? DECODER_YES
                                                                                 : DECODER_NO;
    case 1:
        return decoder_zlib_match_fixed(&from, is_last);
    case 2:
        return decoder_zlib_match_own(&from);
    default:
        return DECODER_NO;
    }
}
