/*
 * Classifies the bytes of JSON in blocks of 64, as text_block.h does: the first stage of simdjson
 * (Langdale and Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28, 2019).
 *
 * Functions take the instruction set as a constant and are inlined into a function for that set.
 * They are pure and thread-safe.
 */
#ifndef GPUHIST_JSON_BLOCK_H
#define GPUHIST_JSON_BLOCK_H

#include "text/text_block.h"

/* Masks of the bytes of a block, whether or not they are inside strings. */
struct json_masks {
    uint64_t quotes;
    uint64_t backslashes;
    uint64_t operators; /* braces, brackets, colons, commas and row ends */
    uint64_t controls;  /* bytes 0 to 31 */
};

static inline struct json_masks json_block_masks_plain(const char *block, char end_byte)
{
    struct json_masks masks = {
        .quotes = text_block_equal_plain(block, '"'),
        .backslashes = text_block_equal_plain(block, '\\'),
        .operators = text_block_equal_plain(block, '{') | text_block_equal_plain(block, '}') |
                     text_block_equal_plain(block, '[') | text_block_equal_plain(block, ']') |
                     text_block_equal_plain(block, ':') | text_block_equal_plain(block, ',') |
                     text_block_equal_plain(block, end_byte),
    };
    for (size_t i = 0; i < TEXT_BLOCK; i += 8)
        masks.controls |= bytes_gather(bytes_zeros(bytes_load(block + i) & BYTES_OF(0xe0))) << i;
    return masks;
}

#if defined(__x86_64__)
/*
 * For the low four bits of a byte: the operator with these bits, of { } : and comma. Setting bit 32
 * makes [ and ] to { and }, and does not change the others. A byte over 127 looks up 0. Control
 * characters that become colons and commas in this way are left out. (simdjson)
 */
#define JSON_BLOCK_OPERATORS 0, 0, '}', ',', '{', ':', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0

CPU_ISA_TARGET_AVX2 static inline __m256i json_block_controls_avx2(__m256i bytes)
{
    return _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(31)), bytes);
}

CPU_ISA_TARGET_AVX2 static inline __m256i json_block_operators_avx2(__m256i bytes, char end_byte)
{
    const __m256i by_low = _mm256_set_epi8(JSON_BLOCK_OPERATORS, JSON_BLOCK_OPERATORS);
    const __m256i curly = _mm256_or_si256(bytes, _mm256_set1_epi8(32));
    const __m256i same = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(by_low, bytes), curly);
    return _mm256_or_si256(_mm256_andnot_si256(json_block_controls_avx2(bytes), same),
                           _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(end_byte)));
}

CPU_ISA_TARGET_AVX2 static inline struct json_masks json_block_masks_avx2(const char *block,
                                                                          char end_byte)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)block);
    const __m256i high = _mm256_loadu_si256((const __m256i *)block + 1);
    return (struct json_masks){
        .quotes = text_block_equal_avx2(block, '"'),
        .backslashes = text_block_equal_avx2(block, '\\'),
        .operators = text_block_bits_avx2(json_block_operators_avx2(low, end_byte),
                                          json_block_operators_avx2(high, end_byte)),
        .controls =
            text_block_bits_avx2(json_block_controls_avx2(low), json_block_controls_avx2(high)),
    };
}

CPU_ISA_TARGET_AVX512 static inline struct json_masks json_block_masks_avx512(const char *block,
                                                                              char end_byte)
{
    const __m512i bytes = _mm512_loadu_si512(block);
    const __m512i by_low = _mm512_set_epi8(JSON_BLOCK_OPERATORS, JSON_BLOCK_OPERATORS,
                                           JSON_BLOCK_OPERATORS, JSON_BLOCK_OPERATORS);
    const __m512i curly = _mm512_or_si512(bytes, _mm512_set1_epi8(32));
    const __mmask64 controls = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(32));
    return (struct json_masks){
        .quotes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
        .backslashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')),
        .operators =
            (_mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(by_low, bytes), curly) & ~controls) |
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(end_byte)),
        .controls = controls,
    };
}
#endif

TEXT_INLINE struct json_masks json_block_masks(enum cpu_isa isa, const char *block, char end_byte)
{
#if defined(__x86_64__)
    if (isa <= CPU_ISA_AVX512)
        return json_block_masks_avx512(block, end_byte);
    if (isa == CPU_ISA_AVX2)
        return json_block_masks_avx2(block, end_byte);
#endif
    (void)isa;
    return json_block_masks_plain(block, end_byte);
}

/*
 * A table that has, for each byte, the numbers of its set bits in ascending order, then zeros. Bit
 * 0 adds nothing.
 */
#define JSON_BLOCK_BIT(byte, bit, rank) \
    ((byte) >> (bit)&1 && __builtin_popcount((byte) & ((1 << (bit)) - 1)) == (rank) ? (bit) : 0)
#define JSON_BLOCK_RANK(byte, rank)                                  \
    (JSON_BLOCK_BIT(byte, 1, rank) + JSON_BLOCK_BIT(byte, 2, rank) + \
     JSON_BLOCK_BIT(byte, 3, rank) + JSON_BLOCK_BIT(byte, 4, rank) + \
     JSON_BLOCK_BIT(byte, 5, rank) + JSON_BLOCK_BIT(byte, 6, rank) + \
     JSON_BLOCK_BIT(byte, 7, rank))
#define JSON_BLOCK_BYTE(byte)                                                             \
    {                                                                                     \
        JSON_BLOCK_RANK(byte, 0), JSON_BLOCK_RANK(byte, 1), JSON_BLOCK_RANK(byte, 2),     \
            JSON_BLOCK_RANK(byte, 3), JSON_BLOCK_RANK(byte, 4), JSON_BLOCK_RANK(byte, 5), \
            JSON_BLOCK_RANK(byte, 6), JSON_BLOCK_RANK(byte, 7)                            \
    }
#define JSON_BLOCK_4(byte)                                                       \
    JSON_BLOCK_BYTE(byte), JSON_BLOCK_BYTE(byte + 1), JSON_BLOCK_BYTE(byte + 2), \
        JSON_BLOCK_BYTE(byte + 3)
#define JSON_BLOCK_16(byte) \
    JSON_BLOCK_4(byte), JSON_BLOCK_4(byte + 4), JSON_BLOCK_4(byte + 8), JSON_BLOCK_4(byte + 12)
#define JSON_BLOCK_64(byte)                                                  \
    JSON_BLOCK_16(byte), JSON_BLOCK_16(byte + 16), JSON_BLOCK_16(byte + 32), \
        JSON_BLOCK_16(byte + 48)
static const uint8_t json_block_bits[256][8] = {JSON_BLOCK_64(0), JSON_BLOCK_64(64),
                                                JSON_BLOCK_64(128), JSON_BLOCK_64(192)};

/*
 * Writes base + i for each set bit i to index, and up to seven entries after them. It takes the
 * mask byte by byte, without branches. Bit by bit, until the mask is 0, the first stage takes more
 * than twice as long, because the branch at the end is mispredicted.
 */
TEXT_INLINE void json_block_write_bits(uint64_t bits, unsigned base, uint16_t *index)
{
    for (unsigned at = 0; at < 64; at += 8) {
        const unsigned byte = bits >> at & 255;
        for (unsigned i = 0; i < 8; i++)
            index[i] = (uint16_t)(base + at + json_block_bits[byte][i]);
        index += __builtin_popcount(byte);
    }
}

#endif
