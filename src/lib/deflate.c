/* Implements deflate.h: finds blocks, decodes them to symbols or bytes, and resolves marks. */
#include "config.h"

#include "lib/deflate.h"

#include "lib/bytes.h"
#include "lib/cpu_isa.h"

#include <stdlib.h>
#include <string.h>
#if defined HAVE_ISAL
#include <isa-l.h>
#elif defined HAVE_ZLIB
#include <zlib.h>
#endif

/* RFC 1951, 3.2.3 to 3.2.7. */
#define DEFLATE_STORED         0
#define DEFLATE_FIXED          1
#define DEFLATE_DYNAMIC        2
#define DEFLATE_HEAD_BITS      3
#define DEFLATE_LENGTH_CODES   19
#define DEFLATE_LITERALS       288
#define DEFLATE_LITERALS_USED  286
#define DEFLATE_DISTANCES      32
#define DEFLATE_DISTANCES_USED 30
#define DEFLATE_CODE_BITS      15
#define DEFLATE_LENGTH_BITS    7
#define DEFLATE_BLOCK_END      256
#define DEFLATE_STORED_BYTES   4 /* the length and its complement */

/* RFC 1952, 2.3. */
#define DEFLATE_GZIP_HEADER  10
#define DEFLATE_GZIP_TRAILER 8
#define DEFLATE_GZIP_CRC     0x02
#define DEFLATE_GZIP_EXTRA   0x04
#define DEFLATE_GZIP_NAME    0x08
#define DEFLATE_GZIP_COMMENT 0x10
#define DEFLATE_GZIP_UNKNOWN 0xe0

/* The reflected CRC polynomial of gzip, and x^0 and x^8 as remainders. */
#define DEFLATE_CRC_POLYNOMIAL 0xedb88320u
#define DEFLATE_CRC_ONE        (1u << 31)
#define DEFLATE_CRC_BYTE       (1u << 23)

/*
 * Code tables. Each of the first 2^bits entries has, from the lowest bit: 8 bits for the length of
 * the code and its extra bits, 5 for the length of the code, 3 flags, 15 for the value, and the
 * flag of a literal. The entry of a longer code has the index and index bits of a second table.
 */
#define DEFLATE_ENTRY_LITERAL 0x80000000u
#define DEFLATE_ENTRY_TABLE   0x2000u
#define DEFLATE_ENTRY_END     0x4000u
#define DEFLATE_ENTRY_INVALID 0x8000u
#define DEFLATE_ENTRY_OTHER   (DEFLATE_ENTRY_TABLE | DEFLATE_ENTRY_END | DEFLATE_ENTRY_INVALID)

/* Index bits of the first tables, and entries of all tables: zlib's `enough 288 11 15`, 32 8 15. */
#define DEFLATE_LITERAL_BITS     11
#define DEFLATE_LITERAL_ENTRIES  2342
#define DEFLATE_DISTANCE_BITS    8
#define DEFLATE_DISTANCE_ENTRIES 402

/* Index bits of `shares`: for 4 lengths of 3 bits, the part of the code space in use, in 1/128. */
#define DEFLATE_SHARE_BITS 12

struct deflate {
    uint32_t literals[DEFLATE_LITERAL_ENTRIES];
    uint32_t distances[DEFLATE_DISTANCE_ENTRIES];
    uint32_t lengths[1 << DEFLATE_LENGTH_BITS];
    uint16_t shares[1 << DEFLATE_SHARE_BITS];
    unsigned char bits[DEFLATE_LITERALS + DEFLATE_DISTANCES]; /* code lengths of a block */
    unsigned literal_count;
    unsigned distance_count;
};

/* A bit reader. The lowest bit is the next one. */
struct deflate_bits {
    const unsigned char *next;
    uint64_t bits;
    unsigned count; /* valid low bits of `bits`; the bits above are correct or 0 */
};

static inline uint64_t deflate_load(const unsigned char *data)
{
    return bytes_load((const char *)data);
}

/* Refills to at least 56 bits. */
static inline __attribute__((always_inline)) void deflate_refill(struct deflate_bits *bits)
{
    bits->bits |= deflate_load(bits->next) << bits->count;
    bits->next += (63 - bits->count) >> 3;
    bits->count |= 56;
}

static inline __attribute__((always_inline)) void deflate_drop(struct deflate_bits *bits,
                                                               unsigned count)
{
    bits->bits >>= count;
    bits->count -= count;
}

/* Takes `count` bits, which must be available. */
static inline unsigned deflate_take(struct deflate_bits *bits, unsigned count)
{
    const unsigned value = (unsigned)(bits->bits & ((UINT64_C(1) << count) - 1));

    deflate_drop(bits, count);
    return value;
}

/* Returns a bit reader at a bit of the input. */
static struct deflate_bits deflate_bits_at(const struct deflate_input *input, uint64_t bit)
{
    struct deflate_bits bits = {.next = input->data + bit / 8};

    deflate_refill(&bits);
    deflate_drop(&bits, bit % 8);
    return bits;
}

/* Returns the position of the next bit in the input. */
static uint64_t deflate_tell(const struct deflate_input *input, const struct deflate_bits *bits)
{
    return (uint64_t)(bits->next - input->data) * 8 - bits->count;
}

struct deflate *deflate_create(void)
{
    struct deflate *deflate = malloc(sizeof *deflate);

    if (!deflate)
        return NULL;
    for (unsigned i = 0; i < 1 << DEFLATE_SHARE_BITS; i++) {
        unsigned share = 0;
        for (unsigned shift = 0; shift < DEFLATE_SHARE_BITS; shift += 3) {
            const unsigned length = i >> shift & 7;
            share += length > 0 ? 128u >> length : 0;
        }
        deflate->shares[i] = (uint16_t)share;
    }
    return deflate;
}

/* --- codes ----------------------------------------------------------------------------------- */

/* Return table entries without the code lengths. */
static uint32_t deflate_literal_entry(unsigned symbol)
{
    static const unsigned char extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t bases[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                     15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                     67, 83, 99, 115, 131, 163, 195, 227, 258};
    if (symbol < DEFLATE_BLOCK_END)
        return DEFLATE_ENTRY_LITERAL | symbol << 16;
    if (symbol == DEFLATE_BLOCK_END)
        return DEFLATE_ENTRY_END;
    if (symbol >= DEFLATE_LITERALS_USED)
        return DEFLATE_ENTRY_INVALID;
    const unsigned i = symbol - DEFLATE_BLOCK_END - 1;
    return (uint32_t)bases[i] << 16 | extra[i];
}

static uint32_t deflate_distance_entry(unsigned symbol)
{
    if (symbol >= DEFLATE_DISTANCES_USED)
        return DEFLATE_ENTRY_INVALID;
    if (symbol < 4)
        return (symbol + 1) << 16;
    const unsigned extra = symbol / 2 - 1;
    return (((2 + symbol % 2) << extra) + 1) << 16 | extra;
}

static uint32_t deflate_length_entry(unsigned symbol)
{
    return symbol << 16;
}

/* Counts codes by their lengths. Returns the unused code space in 2^-15; negative: too many. */
static int deflate_count_codes(const unsigned char *bits, unsigned symbols,
                               unsigned counts[DEFLATE_CODE_BITS + 1])
{
    int left = 1 << DEFLATE_CODE_BITS;

    memset(counts, 0, (DEFLATE_CODE_BITS + 1) * sizeof *counts);
    for (unsigned i = 0; i < symbols; i++)
        counts[bits[i]]++;
    for (unsigned length = 1; length <= DEFLATE_CODE_BITS; length++)
        left -= (int)counts[length] << (DEFLATE_CODE_BITS - length);
    return left;
}

/*
 * Makes the table of codes with these lengths. The codes are complete, or at most one: then all
 * other codes are invalid.
 */
static void deflate_make_table(uint32_t *table, unsigned table_bits, const unsigned char *bits,
                               unsigned symbols, uint32_t (*entry)(unsigned symbol))
{
    unsigned counts[DEFLATE_CODE_BITS + 1];
    unsigned first[DEFLATE_CODE_BITS + 2] = {0};
    uint16_t sorted[DEFLATE_LITERALS];
    const size_t size = (size_t)1 << table_bits;
    size_t used = size;    /* number of entries, including second tables */
    unsigned reversed = 0; /* the next code with its first bit lowest */
    size_t prefix = size;  /* prefix of the second table being filled; size: none */
    size_t begin = 0;
    unsigned further = 0; /* index bits of that table */

    if (deflate_count_codes(bits, symbols, counts) != 0) {
        for (size_t i = 0; i < size; i++)
            table[i] = DEFLATE_ENTRY_INVALID;
    }
    counts[0] = 0;
    for (unsigned length = 1; length <= DEFLATE_CODE_BITS; length++)
        first[length + 1] = first[length] + counts[length];
    const unsigned total = first[DEFLATE_CODE_BITS + 1];
    for (unsigned i = 0; i < symbols; i++) {
        if (bits[i] > 0)
            sorted[first[bits[i]]++] = (uint16_t)i;
    }
    for (unsigned i = 0; i < total; i++) {
        const unsigned length = bits[sorted[i]];
        const uint32_t value = entry(sorted[i]);
        if (length <= table_bits) {
            for (size_t at = reversed; at < size; at += (size_t)1 << length)
                table[at] = value + length * 0x101;
        } else {
            if ((reversed & (size - 1)) != prefix) {
                prefix = reversed & (size - 1);
                begin = used;
                /* the codes with this prefix fill a table of this many bits */
                further = length - table_bits;
                unsigned left = 1u << further;
                unsigned same = counts[length]; /* remaining codes of this length */
                while (same < left && table_bits + further < DEFLATE_CODE_BITS) {
                    left = (left - same) << 1;
                    further++;
                    same = counts[table_bits + further];
                }
                used += (size_t)1 << further;
                table[prefix] =
                    DEFLATE_ENTRY_TABLE | (uint32_t)begin << 16 | further << 8 | table_bits;
            }
            for (size_t at = reversed >> table_bits; at < (size_t)1 << further;
                 at += (size_t)1 << (length - table_bits))
                table[begin + at] = value + (length - table_bits) * 0x101;
        }
        counts[length]--; /* remaining codes */
        /* The next code is one larger; a longer code appends zeros. */
        unsigned bit = 1u << (length - 1);
        while (bit > 0 && reversed & bit)
            bit >>= 1;
        reversed = bit > 0 ? (reversed & (bit - 1)) | bit : 0;
    }
}

/*
 * Reads the code lengths after the type of a dynamic block. Returns false unless the codes are
 * complete; a distance code can also be single or missing.
 */
static bool deflate_read_codes(struct deflate *deflate, const struct deflate_input *input,
                               struct deflate_bits *bits)
{
    static const unsigned char order[DEFLATE_LENGTH_CODES] = {
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    };
    unsigned char lengths[DEFLATE_LENGTH_CODES] = {0};
    unsigned counts[DEFLATE_CODE_BITS + 1];
    unsigned char *all = deflate->bits;

    deflate_refill(bits);
    const unsigned literals = deflate_take(bits, 5) + 257;
    const unsigned distances = deflate_take(bits, 5) + 1;
    const unsigned given = deflate_take(bits, 4) + 4;
    if (literals > DEFLATE_LITERALS_USED || distances > DEFLATE_DISTANCES_USED)
        return false;
    for (unsigned i = 0; i < given; i++) {
        deflate_refill(bits);
        lengths[order[i]] = (unsigned char)deflate_take(bits, 3);
    }
    if (deflate_count_codes(lengths, DEFLATE_LENGTH_CODES, counts) != 0)
        return false;
    deflate_make_table(deflate->lengths, DEFLATE_LENGTH_BITS, lengths, DEFLATE_LENGTH_CODES,
                       deflate_length_entry);
    const unsigned total = literals + distances;
    for (unsigned i = 0; i < total;) {
        if (bits->next > input->data + input->bytes)
            return false;
        deflate_refill(bits);
        const uint32_t entry = deflate->lengths[bits->bits & ((1 << DEFLATE_LENGTH_BITS) - 1)];
        deflate_drop(bits, entry & 0xff);
        const unsigned symbol = entry >> 16;
        if (symbol < 16) {
            all[i++] = (unsigned char)symbol;
            continue;
        }
        const unsigned repeats = symbol == 16   ? 3 + deflate_take(bits, 2)
                                 : symbol == 17 ? 3 + deflate_take(bits, 3)
                                                : 11 + deflate_take(bits, 7);
        if (repeats > total - i || (symbol == 16 && i == 0))
            return false;
        memset(all + i, symbol == 16 ? all[i - 1] : 0, repeats);
        i += repeats;
    }
    deflate->literal_count = literals;
    deflate->distance_count = distances;
    if (all[DEFLATE_BLOCK_END] == 0 || deflate_count_codes(all, literals, counts) != 0)
        return false;
    const int left = deflate_count_codes(all + literals, distances, counts);
    return left == 0 ||
           (left > 0 && counts[0] + 1 >= distances && counts[0] + counts[1] == distances);
}

/* Makes the tables from the code lengths. */
static void deflate_make_codes(struct deflate *deflate)
{
    deflate_make_table(deflate->literals, DEFLATE_LITERAL_BITS, deflate->bits,
                       deflate->literal_count, deflate_literal_entry);
    deflate_make_table(deflate->distances, DEFLATE_DISTANCE_BITS,
                       deflate->bits + deflate->literal_count, deflate->distance_count,
                       deflate_distance_entry);
}

static void deflate_make_fixed_codes(struct deflate *deflate)
{
    memset(deflate->bits, 8, 144);
    memset(deflate->bits + 144, 9, 112);
    memset(deflate->bits + 256, 7, 24);
    memset(deflate->bits + 280, 8, 8);
    memset(deflate->bits + DEFLATE_LITERALS, 5, DEFLATE_DISTANCES);
    deflate->literal_count = DEFLATE_LITERALS;
    deflate->distance_count = DEFLATE_DISTANCES;
    deflate_make_codes(deflate);
}

/* --- where blocks begin ---------------------------------------------------------------------- */

/* Returns whether a byte of the input can be the length of a stored block; stores the length. */
static bool deflate_is_stored(const struct deflate_input *input, uint64_t at, size_t *length)
{
    if (at + DEFLATE_STORED_BYTES > input->bytes)
        return false;
    const uint32_t word = (uint32_t)deflate_load(input->data + at);
    *length = word & 0xffff;
    return ((word ^ word >> 16) & 0xffff) == 0xffff;
}

/* Returns whether a dynamic block can start at a bit of the input. */
static bool deflate_is_dynamic(struct deflate *deflate, const struct deflate_input *input,
                               uint64_t bit)
{
    struct deflate_bits bits = deflate_bits_at(input, bit);

    deflate_drop(&bits, DEFLATE_HEAD_BITS);
    return deflate_read_codes(deflate, input, &bits) &&
           deflate_tell(input, &bits) <= 8 * (uint64_t)input->bytes;
}

/* Returns whether a stored block with its length at a byte precedes a stored or dynamic block. */
static bool deflate_is_stored_before(struct deflate *deflate, const struct deflate_input *input,
                                     uint64_t at)
{
    size_t length;

    if (!deflate_is_stored(input, at, &length))
        return false;
    at += DEFLATE_STORED_BYTES + length;
    if (at + 1 > input->bytes)
        return false;
    const unsigned type = input->data[at] >> 1 & 3;
    return (type == DEFLATE_DYNAMIC && deflate_is_dynamic(deflate, input, 8 * at)) ||
           (type == DEFLATE_STORED && deflate_is_stored(input, at + 1, &length));
}

deflate_place deflate_find(struct deflate *deflate, const struct deflate_input *input,
                           uint64_t begin, uint64_t end)
{
    const uint64_t base = 8 * input->offset;
    const uint64_t first = begin - base;
    const uint64_t last =
        end - base < 8 * (uint64_t)input->bytes ? end - base : 8 * (uint64_t)input->bytes;

    /* 48 bits at a time: the loaded word has 12 further bits for each. */
    for (uint64_t at = first / 8; 8 * at < last; at += 6) {
        const unsigned char *data = input->data + at;
        const uint64_t word = deflate_load(data);
        deflate_place found = DEFLATE_NOWHERE;
        /* Not the last block, dynamic codes, at most 286 literals and 30 distances. */
        uint64_t fits =
            ~word & ~(word >> 1) & word >> 2 & ~(word >> 4 & word >> 5 & word >> 6 & word >> 7) &
            ~(word >> 9 & word >> 10 & word >> 11 & word >> 12) & ((UINT64_C(1) << 48) - 1);
        if (8 * at < first)
            fits &= ~UINT64_C(0) << (first - 8 * at);
        for (; fits > 0; fits &= fits - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(fits);
            const unsigned given = 3 * ((unsigned)(word >> (bit + 13) & 15) + 4);
            uint64_t lengths = deflate_load(data + (bit + 17) / 8) >> (bit + 17) % 8;
            unsigned share = 0;
            lengths &= (UINT64_C(1) << given) - 1;
            for (unsigned i = 0; i < 5; i++, lengths >>= DEFLATE_SHARE_BITS)
                share += deflate->shares[lengths & ((1 << DEFLATE_SHARE_BITS) - 1)];
            if (share == 128 && 8 * at + bit < last &&
                deflate_is_dynamic(deflate, input, 8 * at + bit)) {
                found = 2 * (base + 8 * at + bit);
                break;
            }
        }
        for (unsigned i = 0; i < 6; i++) {
            const uint64_t byte = at + i;
            const uint32_t length = (uint32_t)deflate_load(data + i);
            if (((length ^ length >> 16) & 0xffff) != 0xffff || 8 * byte < first ||
                8 * byte >= last || 2 * (base + 8 * byte) >= found)
                continue;
            if (byte > 0 && data[(ptrdiff_t)i - 1] >> (8 - DEFLATE_HEAD_BITS) == 0 &&
                deflate_is_stored_before(deflate, input, byte))
                return 2 * (base + 8 * byte) + 1;
        }
        if (found != DEFLATE_NOWHERE)
            return found;
    }
    return DEFLATE_NOWHERE;
}

deflate_place deflate_skip_header(const struct deflate_input *input, uint64_t offset)
{
    const unsigned char *data = input->data;
    size_t at = (size_t)(offset - input->offset);

    if (input->bytes < at + DEFLATE_GZIP_HEADER || data[at] != 0x1f || data[at + 1] != 0x8b ||
        data[at + 2] != 8 || data[at + 3] & (DEFLATE_GZIP_UNKNOWN | DEFLATE_GZIP_CRC))
        return DEFLATE_NOWHERE;
    const unsigned flags = data[at + 3];
    at += DEFLATE_GZIP_HEADER;
    if (flags & DEFLATE_GZIP_EXTRA) {
        if (at + 2 > input->bytes)
            return DEFLATE_NOWHERE;
        at += 2 + (data[at] | (size_t)data[at + 1] << 8);
    }
    for (unsigned flag = DEFLATE_GZIP_NAME; flag <= DEFLATE_GZIP_COMMENT; flag <<= 1) {
        const unsigned char *end =
            flags & flag && at < input->bytes ? memchr(data + at, 0, input->bytes - at) : NULL;
        if (flags & flag && !end)
            return DEFLATE_NOWHERE;
        at = flags & flag ? (size_t)(end - data) + 1 : at;
    }
    return at < input->bytes ? 2 * 8 * (input->offset + at) : DEFLATE_NOWHERE;
}

/* --- decoding -------------------------------------------------------------------------------- */

/* Copies a match and up to 32 further bytes. The match can overlap its source. */
static inline __attribute__((always_inline)) void deflate_copy(unsigned char *out, size_t distance,
                                                               size_t bytes, size_t size)
{
    const unsigned char *from = out - distance;
    const unsigned char *end = out + bytes;

    if (distance >= 32) {
        do {
            memcpy(out, from, 32);
            out += 32;
            from += 32;
        } while (out < end);
    } else if (distance >= 8) {
        do {
            memcpy(out, from, 8);
            out += 8;
            from += 8;
        } while (out < end);
    } else {
        for (; out < end; out += size, from += size)
            memcpy(out, from, size);
    }
}

/* Writes a literal. Returns the address of the next symbol. */
static inline __attribute__((always_inline)) unsigned char *deflate_put(unsigned char *out,
                                                                        unsigned literal,
                                                                        size_t size)
{
    const uint16_t symbol = (uint16_t)literal;

    if (size == 1)
        *out = (unsigned char)literal;
    else
        memcpy(out, &symbol, sizeof symbol);
    return out + size;
}

enum deflate_result {
    DEFLATE_DONE,
    DEFLATE_STOPPED, /* at a fault, the end of the input, or the end of the output space */
};

/*
 * Decodes a block of codes to symbols of `size` bytes, from *out up to `limit`, followed by space
 * for DEFLATE_SLACK symbols. No match starts before `oldest`.
 */
static inline __attribute__((always_inline)) enum deflate_result deflate_codes(
    const struct deflate *deflate, const struct deflate_input *input, struct deflate_bits *stream,
    unsigned char **to, const unsigned char *limit, const unsigned char *oldest, const size_t size)
{
    const uint64_t literal_mask = (1 << DEFLATE_LITERAL_BITS) - 1;
    const uint64_t distance_mask = (1 << DEFLATE_DISTANCE_BITS) - 1;
    const unsigned char *end = input->data + input->bytes;
    struct deflate_bits bits = *stream;
    unsigned char *out = *to;

    deflate_refill(&bits);
    uint32_t entry = deflate->literals[bits.bits & literal_mask];
    while (out < limit && bits.next <= end + 8) {
        /* Up to three literals from 56 bits leave 23 bits: enough for a first table look-up. */
        for (unsigned i = 0; i < 3 && entry & DEFLATE_ENTRY_LITERAL; i++) {
            out = deflate_put(out, entry >> 16 & 0xff, size);
            deflate_drop(&bits, entry & 0xff);
            entry = deflate->literals[bits.bits & literal_mask];
        }
        deflate_refill(&bits);
        if (entry & DEFLATE_ENTRY_LITERAL)
            continue;
        if (entry & DEFLATE_ENTRY_OTHER) {
            if (entry & DEFLATE_ENTRY_TABLE) {
                deflate_drop(&bits, DEFLATE_LITERAL_BITS);
                entry =
                    deflate
                        ->literals[(entry >> 16) + (bits.bits & ((1u << (entry >> 8 & 31)) - 1))];
            }
            if (entry & DEFLATE_ENTRY_LITERAL) {
                out = deflate_put(out, entry >> 16 & 0xff, size);
                deflate_drop(&bits, entry & 0xff);
                deflate_refill(&bits);
                entry = deflate->literals[bits.bits & literal_mask];
                continue;
            }
            if (entry & DEFLATE_ENTRY_INVALID)
                return DEFLATE_STOPPED;
            if (entry & DEFLATE_ENTRY_END) {
                deflate_drop(&bits, entry & 0xff);
                *stream = bits;
                *to = out;
                return DEFLATE_DONE;
            }
        }
        const size_t length =
            (entry >> 16) +
            ((bits.bits & ((UINT64_C(1) << (entry & 0xff)) - 1)) >> (entry >> 8 & 31));
        deflate_drop(&bits, entry & 0xff);
        entry = deflate->distances[bits.bits & distance_mask];
        if (entry & DEFLATE_ENTRY_OTHER) {
            if (entry & DEFLATE_ENTRY_TABLE) {
                deflate_drop(&bits, DEFLATE_DISTANCE_BITS);
                entry =
                    deflate
                        ->distances[(entry >> 16) + (bits.bits & ((1u << (entry >> 8 & 31)) - 1))];
            }
            if (entry & DEFLATE_ENTRY_INVALID)
                return DEFLATE_STOPPED;
        }
        const size_t distance =
            (entry >> 16) +
            ((bits.bits & ((UINT64_C(1) << (entry & 0xff)) - 1)) >> (entry >> 8 & 31));
        deflate_drop(&bits, entry & 0xff);
        if (distance * size > (size_t)(out - oldest))
            return DEFLATE_STOPPED;
        deflate_refill(&bits);
        entry = deflate->literals[bits.bits & literal_mask];
        deflate_copy(out, distance * size, length * size, size);
        out += length * size;
    }
    return DEFLATE_STOPPED;
}

typedef enum deflate_result deflate_codes_function(const struct deflate *deflate,
                                                   const struct deflate_input *input,
                                                   struct deflate_bits *stream, unsigned char **to,
                                                   const unsigned char *limit,
                                                   const unsigned char *oldest);

/*
 * Writes the bytes of symbols; a table has the byte of each symbol. The bytes can overwrite the
 * symbols. The table avoids branches on marks, which are often mispredicted because bytes and marks
 * alternate. The loop loads a whole block before it stores any byte: else each load waits to see
 * whether the previous store had the same address.
 */
static inline __attribute__((always_inline)) void deflate_narrow(const uint16_t *symbols,
                                                                 unsigned char *bytes, size_t count,
                                                                 const unsigned char *table)
{
    enum { AT_ONCE = 8 };
    size_t i = 0;

    for (; i + AT_ONCE <= count; i += AT_ONCE) {
        unsigned char block[AT_ONCE];
#pragma GCC unroll 8
        for (size_t k = 0; k < AT_ONCE; k++)
            block[k] = table[symbols[i + k]];
#pragma GCC unroll 8
        for (size_t k = 0; k < AT_ONCE; k++)
            bytes[i + k] = block[k];
    }
    for (; i < count; i++)
        bytes[i] = table[symbols[i]];
}

typedef void deflate_narrow_function(const uint16_t *symbols, unsigned char *bytes, size_t count,
                                     const unsigned char *table);

#define DEFLATE_VARIANT(name, attribute, ...)                                                  \
    attribute static enum deflate_result deflate_codes_marked_##name(                          \
        const struct deflate *deflate, const struct deflate_input *input,                      \
        struct deflate_bits *stream, unsigned char **to, const unsigned char *limit,           \
        const unsigned char *oldest)                                                           \
    {                                                                                          \
        return deflate_codes(deflate, input, stream, to, limit, oldest, sizeof(uint16_t));     \
    }                                                                                          \
    attribute static enum deflate_result deflate_codes_plain_##name(                           \
        const struct deflate *deflate, const struct deflate_input *input,                      \
        struct deflate_bits *stream, unsigned char **to, const unsigned char *limit,           \
        const unsigned char *oldest)                                                           \
    {                                                                                          \
        return deflate_codes(deflate, input, stream, to, limit, oldest, 1);                    \
    }                                                                                          \
    attribute static void deflate_narrow_##name(const uint16_t *symbols, unsigned char *bytes, \
                                                size_t count, const unsigned char *table)      \
    {                                                                                          \
        deflate_narrow(symbols, bytes, count, table);                                          \
    }
CPU_ISA_VARIANTS(DEFLATE_VARIANT, )
#undef DEFLATE_VARIANT

static const struct deflate_loops {
    deflate_codes_function *marked;
    deflate_codes_function *plain;
    deflate_narrow_function *narrow;
} deflate_loops[CPU_ISA_COUNT] = {
#define DEFLATE_ROW(id, name) \
    {deflate_codes_marked_##name, deflate_codes_plain_##name, deflate_narrow_##name},
    CPU_ISAS(DEFLATE_ROW)
#undef DEFLATE_ROW
};

/* State of decoding a piece. */
struct deflate_run {
    struct deflate_bits bits;
    size_t size;          /* bytes per symbol: 2 in piece->marked, 1 in piece->plain */
    unsigned char *out;   /* address of the next symbol */
    unsigned char *begin; /* the first one after the window */
    unsigned char *limit;
    unsigned char *oldest; /* the earliest symbol that a match can refer to */
};

/* Continues in piece->plain; the window is in front of it. */
static void deflate_go_plain(struct deflate_run *run, const struct deflate_piece *piece,
                             size_t valid)
{
    run->size = 1;
    run->out = run->begin = piece->plain + DEFLATE_WINDOW;
    run->limit = run->begin + piece->capacity - DEFLATE_SLACK;
    run->oldest = run->begin - valid;
}

/* Continues in piece->plain if the window has no mark. */
static void deflate_try_plain(struct deflate_run *run, const struct deflate_piece *piece)
{
    const uint16_t *symbols = (const uint16_t *)(const void *)run->out - DEFLATE_WINDOW;
    uint16_t any = 0;

    if ((size_t)(run->out - run->begin) < DEFLATE_WINDOW * sizeof *symbols)
        return;
    for (size_t i = 0; i < DEFLATE_WINDOW && any < DEFLATE_MARK; i += 256) {
        for (size_t k = 0; k < 256; k++)
            any |= symbols[i + k];
    }
    if (any >= DEFLATE_MARK)
        return;
    for (size_t i = 0; i < DEFLATE_WINDOW; i++)
        piece->plain[i] = (unsigned char)symbols[i];
    deflate_go_plain(run, piece, DEFLATE_WINDOW);
}

/* Decodes a stored block whose length is at a byte of the input. */
static enum deflate_result deflate_copy_stored(struct deflate_run *run,
                                               const struct deflate_input *input, uint64_t at)
{
    size_t length;

    if (!deflate_is_stored(input, at, &length))
        return DEFLATE_STOPPED;
    at += DEFLATE_STORED_BYTES;
    if (length > input->bytes - at || run->out >= run->limit ||
        length * run->size > (size_t)(run->limit - run->out))
        return DEFLATE_STOPPED;
    if (run->size == 1) {
        memcpy(run->out, input->data + at, length);
    } else {
        for (size_t i = 0; i < length; i++) {
            const uint16_t symbol = input->data[at + i];
            memcpy(run->out + 2 * i, &symbol, sizeof symbol);
        }
    }
    run->out += length * run->size;
    run->bits = deflate_bits_at(input, 8 * (at + length));
    return DEFLATE_DONE;
}

/* Records the symbols so far and the start of the next block. */
static void deflate_commit(const struct deflate_run *run, struct deflate_piece *piece,
                           deflate_place place)
{
    const size_t count = (size_t)(run->out - run->begin) / run->size;

    if (run->size == 1)
        piece->plain_count = count;
    else
        piece->marked_count = count;
    piece->end = place;
}

/*
 * Reads the bytes after the last block of a member: its trailer, and the next header or the end of
 * the file. Returns false if there is something else.
 */
static bool deflate_end_member(struct deflate_run *run, const struct deflate_input *input,
                               struct deflate_piece *piece)
{
    const uint64_t at = (deflate_tell(input, &run->bits) + 7) / 8;
    const uint64_t next = at + DEFLATE_GZIP_TRAILER;

    if (next > input->bytes || piece->end_count == DEFLATE_ENDS_MAX)
        return false;
    const uint64_t trailer = deflate_load(input->data + at);
    uint64_t rest = next;
    while (rest < input->bytes && input->data[rest] == 0)
        rest++;
    const bool is_last = input->is_rest && rest == input->bytes;
    const deflate_place place =
        is_last ? DEFLATE_NOWHERE : deflate_skip_header(input, input->offset + next);
    if (!is_last && place == DEFLATE_NOWHERE)
        return false;
    deflate_commit(run, piece, place);
    piece->ends[piece->end_count++] = (struct deflate_end){
        .at = piece->marked_count + piece->plain_count,
        .crc = (uint32_t)trailer,
        .length = (uint32_t)(trailer >> 32),
    };
    piece->is_last = is_last;
    if (is_last)
        return true;
    run->bits = deflate_bits_at(input, place / 2 - 8 * input->offset);
    if (run->size == 1) {
        run->oldest = run->out;
    } else {
        memset(piece->plain, 0, DEFLATE_WINDOW);
        deflate_go_plain(run, piece, 0);
    }
    return true;
}

void deflate_decode(struct deflate *deflate, const struct deflate_input *input, uint64_t stop,
                    const struct deflate_window *window, struct deflate_piece *piece)
{
    const struct deflate_loops *loops = &deflate_loops[cpu_isa_best()];
    const uint64_t base = 8 * input->offset;
    bool is_stored = piece->begin & 1;
    struct deflate_run run;

    piece->end = piece->begin;
    piece->is_last = false;
    piece->marked_count = piece->plain_count = piece->end_count = 0;
    if (window) {
        memcpy(piece->plain, window->bytes, DEFLATE_WINDOW);
        deflate_go_plain(&run, piece, window->valid);
    } else {
        for (size_t i = 0; i < DEFLATE_WINDOW; i++)
            piece->marked[i] = (uint16_t)(DEFLATE_MARK + i);
        run.size = sizeof(uint16_t);
        run.oldest = (unsigned char *)piece->marked;
        run.out = run.begin = (unsigned char *)(piece->marked + DEFLATE_WINDOW);
        run.limit = run.begin + (piece->capacity - DEFLATE_SLACK) * run.size;
    }
    if (piece->begin / 2 - base >= 8 * (uint64_t)input->bytes)
        return;
    run.bits = deflate_bits_at(input, piece->begin / 2 - base);
    for (;;) {
        const uint64_t bit = deflate_tell(input, &run.bits);
        enum deflate_result result = DEFLATE_STOPPED;
        unsigned head = DEFLATE_STORED << 1;
        if (bit >= 8 * (uint64_t)input->bytes)
            return;
        if (!is_stored) {
            deflate_refill(&run.bits);
            head = deflate_take(&run.bits, DEFLATE_HEAD_BITS);
        }
        const unsigned type = head >> 1;
        const bool is_final = head & 1;
        const uint64_t stored = is_stored ? bit / 8 : (bit + DEFLATE_HEAD_BITS + 7) / 8;
        const deflate_place place =
            type == DEFLATE_STORED && !is_final ? 2 * (base + 8 * stored) + 1 : 2 * (base + bit);
        deflate_commit(&run, piece, place);
        if (run.size > 1)
            deflate_try_plain(&run, piece);
        const bool is_dynamic =
            type == DEFLATE_DYNAMIC && deflate_read_codes(deflate, input, &run.bits);
        if (place / 2 >= stop && !is_final && place != piece->begin &&
            (is_dynamic ||
             (type == DEFLATE_STORED && deflate_is_stored_before(deflate, input, stored))))
            return;
        is_stored = false;
        if (type == DEFLATE_STORED) {
            result = deflate_copy_stored(&run, input, stored);
        } else if (type == DEFLATE_FIXED || is_dynamic) {
            if (is_dynamic)
                deflate_make_codes(deflate);
            else
                deflate_make_fixed_codes(deflate);
            result = (run.size > 1 ? loops->marked : loops->plain)(deflate, input, &run.bits,
                                                                   &run.out, run.limit, run.oldest);
        }
        if (result != DEFLATE_DONE || deflate_tell(input, &run.bits) > 8 * (uint64_t)input->bytes ||
            (is_final && !deflate_end_member(&run, input, piece)) || piece->is_last)
            return;
    }
}

/* --- when the window is known ---------------------------------------------------------------- */

/* Returns whether all marks refer to the valid bytes of the window. */
static bool deflate_is_valid(const struct deflate_piece *piece, size_t valid)
{
    const uint16_t *symbols = piece->marked + DEFLATE_WINDOW;
    bool is_valid = true;

    for (size_t i = 0; valid < DEFLATE_WINDOW && i < piece->marked_count; i++)
        is_valid &=
            symbols[i] < DEFLATE_MARK || symbols[i] >= DEFLATE_MARK + DEFLATE_WINDOW - valid;
    return is_valid;
}

/* Makes a table with the byte of each symbol. */
static void deflate_fill_table(unsigned char table[DEFLATE_MARK + DEFLATE_WINDOW],
                               const struct deflate_window *window)
{
    for (unsigned i = 0; i < DEFLATE_MARK; i++)
        table[i] = (unsigned char)i;
    memcpy(table + DEFLATE_MARK, window->bytes, DEFLATE_WINDOW);
}

bool deflate_advance(const struct deflate_piece *piece, struct deflate_window *window)
{
    const struct deflate_loops *loops = &deflate_loops[cpu_isa_best()];
    const size_t count = piece->marked_count + piece->plain_count;
    const size_t valid =
        piece->end_count > 0 ? count - piece->ends[piece->end_count - 1].at : window->valid + count;

    unsigned char table[DEFLATE_MARK + DEFLATE_WINDOW];

    if (!deflate_is_valid(piece, window->valid))
        return false;
    if (piece->plain_count > 0 || piece->marked_count == 0) {
        /* its own window was known, or is no longer needed */
        if (piece->plain_count > 0)
            memcpy(window->bytes, piece->plain + piece->plain_count, DEFLATE_WINDOW);
    } else {
        deflate_fill_table(table, window);
        loops->narrow(piece->marked + piece->marked_count, window->bytes, DEFLATE_WINDOW, table);
    }
    window->valid = valid < DEFLATE_WINDOW ? valid : DEFLATE_WINDOW;
    return true;
}

static uint32_t deflate_crc(uint32_t crc, const unsigned char *data, size_t bytes)
{
#if defined HAVE_ISAL
    return crc32_gzip_refl(crc, data, bytes);
#elif defined HAVE_ZLIB
    return (uint32_t)crc32_z(crc, data, bytes);
#else
    (void)data;
    (void)bytes;
    return crc;
#endif
}

bool deflate_resolve(struct deflate_piece *piece, const struct deflate_window *window)
{
    const struct deflate_loops *loops = &deflate_loops[cpu_isa_best()];
    unsigned char *bytes = (unsigned char *)piece->marked;
    const unsigned char *plain = piece->plain + DEFLATE_WINDOW;
    const size_t count = piece->marked_count + piece->plain_count;
    unsigned char table[DEFLATE_MARK + DEFLATE_WINDOW];
    size_t at = 0;

    if (!deflate_is_valid(piece, window->valid))
        return false;
    deflate_fill_table(table, window);
    loops->narrow(piece->marked + DEFLATE_WINDOW, bytes, piece->marked_count, table);
    for (size_t i = 0; i <= piece->end_count; i++) {
        const size_t end = i < piece->end_count ? piece->ends[i].at : count;
        const size_t marked = piece->marked_count;
        uint32_t crc = 0;
        if (at < marked)
            crc = deflate_crc(crc, bytes + at, (end < marked ? end : marked) - at);
        if (end > marked) {
            const size_t from = at > marked ? at - marked : 0;
            crc = deflate_crc(crc, plain + from, end - marked - from);
        }
        at = end;
        *(i < piece->end_count ? &piece->ends[i].piece_crc : &piece->rest_crc) = crc;
    }
    return true;
}

/* Returns the product of two remainders. */
static uint32_t deflate_multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (uint32_t bit = DEFLATE_CRC_ONE; bit > 0; bit >>= 1) {
        product ^= a & bit ? b : 0;
        b = b & 1 ? b >> 1 ^ DEFLATE_CRC_POLYNOMIAL : b >> 1;
    }
    return product;
}

uint32_t deflate_combine(uint32_t crc, uint32_t next, uint64_t bytes)
{
    uint32_t power = DEFLATE_CRC_BYTE;

    for (; bytes > 0; bytes >>= 1) { /* crc times x^(8 bytes) */
        if (bytes & 1)
            crc = deflate_multiply(power, crc);
        power = deflate_multiply(power, power);
    }
    return crc ^ next;
}
