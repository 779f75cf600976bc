/*
 * Classifies the bytes of text in blocks of 64: a mask has one bit for each byte, the lowest bit
 * for the first byte. Finding all separators of a block at once, without branches, is the first
 * stage of simdjson (Langdale and Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28,
 * 2019).
 *
 * Functions take the instruction set as a constant and are inlined into a function for that set.
 * They are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_BLOCK_H
#define GPUHIST_TEXT_BLOCK_H

#include "lib/bytes.h"
#include "lib/cpu_isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>
#define TEXT_BLOCK_HAS_NEON /* for plain code, too: every aarch64 processor has it */
#endif

#define TEXT_BLOCK ((size_t)64)

#define TEXT_INLINE HOST_DEVICE_INLINE

/* For a function of one instruction set: inlines all that it calls. */
#define TEXT_FLATTEN __attribute__((flatten))

/* TEXT_ISA_<name> is CPU_ISA_<ID>, for CPU_ISA_VARIANTS, which passes only the name. */
enum text_isa {
#define TEXT_ISA_ENUM(id, name) TEXT_ISA_##name = CPU_ISA_##id,
    CPU_ISAS(TEXT_ISA_ENUM)
#undef TEXT_ISA_ENUM
};

/* Sets the highest bit of each byte that is white space: 9 to 13, or 32. */
TEXT_INLINE uint64_t text_block_whites(uint64_t word)
{
    const uint64_t low = BYTES_OF(0x7f);
    uint64_t from_9 = (word & low) + BYTES_OF(0x80 - 9);
    uint64_t from_14 = (word & low) + BYTES_OF(0x80 - 14);
    return (from_9 & ~from_14 & ~word & ~low) | bytes_zeros(word ^ BYTES_OF(' '));
}

#if defined(TEXT_BLOCK_HAS_NEON)
/* Returns four vectors of bytes that are 0 or 255 as bits: adds neighbours three times. */
static inline uint64_t text_block_bits_neon(const uint8x16_t bytes[4])
{
    const uint8x16_t bits = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const uint8x16_t low = vpaddq_u8(vandq_u8(bytes[0], bits), vandq_u8(bytes[1], bits));
    const uint8x16_t high = vpaddq_u8(vandq_u8(bytes[2], bits), vandq_u8(bytes[3], bits));
    const uint8x16_t quarters = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0);
}

static inline uint64_t text_block_equal_plain(const char *block, char byte)
{
    const uint8x16_t same = vdupq_n_u8((uint8_t)byte);
    uint8x16_t found[4];

    for (size_t i = 0; i < 4; i++)
        found[i] = vceqq_u8(vld1q_u8((const uint8_t *)block + 16 * i), same);
    return text_block_bits_neon(found);
}

static inline uint64_t text_block_white_plain(const char *block)
{
    uint8x16_t found[4];

    for (size_t i = 0; i < 4; i++) {
        const uint8x16_t bytes = vld1q_u8((const uint8_t *)block + 16 * i);
        found[i] = vorrq_u8(vcleq_u8(vsubq_u8(bytes, vdupq_n_u8(9)), vdupq_n_u8(4)),
                            vceqq_u8(bytes, vdupq_n_u8(' ')));
    }
    return text_block_bits_neon(found);
}
#else
static inline uint64_t text_block_equal_plain(const char *block, char byte)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < TEXT_BLOCK; i += 8)
        mask |= bytes_gather(bytes_zeros(bytes_load(block + i) ^ BYTES_OF((unsigned char)byte)))
                << i;
    return mask;
}

static inline uint64_t text_block_white_plain(const char *block)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < TEXT_BLOCK; i += 8)
        mask |= bytes_gather(text_block_whites(bytes_load(block + i))) << i;
    return mask;
}
#endif

#if defined(__x86_64__)
CPU_ISA_TARGET_AVX2 static inline uint64_t text_block_bits_avx2(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

CPU_ISA_TARGET_AVX2 static inline uint64_t text_block_equal_avx2(const char *block, char byte)
{
    const __m256i same = _mm256_set1_epi8(byte);
    __m256i low = _mm256_loadu_si256((const __m256i *)block);
    __m256i high = _mm256_loadu_si256((const __m256i *)block + 1);
    return text_block_bits_avx2(_mm256_cmpeq_epi8(low, same), _mm256_cmpeq_epi8(high, same));
}

CPU_ISA_TARGET_AVX2 static inline __m256i text_block_whites_avx2(__m256i bytes)
{
    __m256i from_9 = _mm256_sub_epi8(bytes, _mm256_set1_epi8(9));
    __m256i controls = _mm256_cmpeq_epi8(_mm256_min_epu8(from_9, _mm256_set1_epi8(4)), from_9);
    return _mm256_or_si256(controls, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(' ')));
}

CPU_ISA_TARGET_AVX2 static inline uint64_t text_block_white_avx2(const char *block)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)block);
    __m256i high = _mm256_loadu_si256((const __m256i *)block + 1);
    return text_block_bits_avx2(text_block_whites_avx2(low), text_block_whites_avx2(high));
}

CPU_ISA_TARGET_AVX512 static inline uint64_t text_block_equal_avx512(const char *block, char byte)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(block), _mm512_set1_epi8(byte));
}

CPU_ISA_TARGET_AVX512 static inline uint64_t text_block_white_avx512(const char *block)
{
    __m512i bytes = _mm512_loadu_si512(block);
    __m512i from_9 = _mm512_sub_epi8(bytes, _mm512_set1_epi8(9));
    return _mm512_cmple_epu8_mask(from_9, _mm512_set1_epi8(4)) |
           _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(' '));
}
#endif

/* Returns the mask of the bytes of a block that equal `byte`. */
TEXT_INLINE uint64_t text_block_equal(enum cpu_isa isa, const char *block, char byte)
{
#if defined(__x86_64__)
    if (isa <= CPU_ISA_AVX512)
        return text_block_equal_avx512(block, byte);
    if (isa == CPU_ISA_AVX2)
        return text_block_equal_avx2(block, byte);
#endif
    (void)isa;
    return text_block_equal_plain(block, byte);
}

/* Returns the mask of the bytes of a block that are white space. */
TEXT_INLINE uint64_t text_block_white(enum cpu_isa isa, const char *block)
{
#if defined(__x86_64__)
    if (isa <= CPU_ISA_AVX512)
        return text_block_white_avx512(block);
    if (isa == CPU_ISA_AVX2)
        return text_block_white_avx2(block);
#endif
    (void)isa;
    return text_block_white_plain(block);
}

/*
 * Returns the block of data[0..bytes) at offset `at`, as if newlines followed the data: a pointer
 * into the data, or to a copy of an incomplete block in `room`, which has TEXT_BLOCK bytes. `at`
 * may be after the data.
 */
TEXT_INLINE const char *text_block_at(const char *data, size_t bytes, size_t at, char *room)
{
    if (__builtin_expect(at < bytes && bytes - at >= TEXT_BLOCK, true))
        return data + at;
    memset(room, '\n', TEXT_BLOCK);
    if (at < bytes)
        memcpy(room, data + at, bytes - at);
    return room;
}

/*
 * Returns the mask of the bytes that a backslash escapes. *carry, 0 at first, is 1 if one escapes
 * the first byte of the next block. Every second backslash of a run is escaped: adding the starts
 * of runs at odd bits to the backslashes carries through each run to its end (simdjson).
 */
TEXT_INLINE uint64_t text_block_escaped(uint64_t backslashes, uint64_t *carry)
{
    const uint64_t even = 0x5555555555555555;

    if (__builtin_expect(backslashes == 0, true)) {
        const uint64_t escaped = *carry;
        *carry = 0;
        return escaped;
    }
    backslashes &= ~*carry;
    const uint64_t follows = backslashes << 1 | *carry;
    const uint64_t odd_starts = backslashes & ~even & ~follows;
    uint64_t ends_even;
    *carry = __builtin_add_overflow(odd_starts, backslashes, &ends_even);
    return (even ^ ends_even << 1) & follows;
}

/* Returns the index of the lowest set bit of a mask other than 0. */
TEXT_INLINE unsigned text_block_first(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

#endif
