/*
 * Element types: the integers of a binary stream.
 *
 * Code that does not depend on the type passes values as *keys*. A key is the value widened to 64
 * bits, sign- or zero-extended. Keys of one type compare as int64_t if the type is signed and as
 * uint64_t if not.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_ELEMENT_H
#define GPUHIST_ELEMENT_H

#include "lib/real.h"
#include "value/kind.h"
#include "value/kind_ip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* X(ID, name, C type), one row for each type. All per-type code is generated from this list. */
#define ELEMENT_TYPES(X)  \
    X(I8, i8, int8_t)     \
    X(U8, u8, uint8_t)    \
    X(I16, i16, int16_t)  \
    X(U16, u16, uint16_t) \
    X(I32, i32, int32_t)  \
    X(U32, u32, uint32_t) \
    X(I64, i64, int64_t)  \
    X(U64, u64, uint64_t)

enum element_type {
#define ELEMENT_ENUM(id, name, ctype) ELEMENT_##id,
    ELEMENT_TYPES(ELEMENT_ENUM)
#undef ELEMENT_ENUM
        ELEMENT_TYPE_COUNT
};

struct element {
    enum element_type type;
    unsigned bytes;    /* 1, 2, 4 or 8; IP addresses: 16, the key with its higher word first */
    bool is_signed;    /* keys compare as int64_t */
    bool swapped;      /* the byte order is opposite to this machine's */
    const char *name;  /* the type as users type it: "i32" */
    unsigned decimals; /* elements are multiples of 10^-decimals: 0 to 18 */
    enum kind_id kind;
    struct kind_ip_prefix prefix;      /* IP addresses: the lengths of the printed prefixes */
    const struct kind_time_zone *zone; /* timestamps: their time zone; NULL: UTC; not owned */
    enum real_format real;             /* binary floats: the input's format, rounded to elements */
    bool is_real_swapped; /* binary floats have the opposite byte order of this machine */
};

/*
 * The struct element for a row of ELEMENT_TYPES, in this machine's byte order. An always-inline
 * function that takes this constant by value is specialized for the type.
 */
#define ELEMENT_OF(id, label, ctype) \
    ((struct element){               \
        .type = ELEMENT_##id, .bytes = sizeof(ctype), .is_signed = (ctype)-1 < 1, .name = #label})

/* Returns whether values are timestamps. Pure. */
static inline bool element_is_time(const struct element *element)
{
    return kind_rows[element->kind].scale == KIND_INSTANTS;
}

/* Returns whether values are timestamps, or numbers of a cycle (hour of the day). Pure. */
static inline bool element_is_of_time(const struct element *element)
{
    return kind_rows[element->kind].notation == TEXT_TIME;
}

/* Returns whether keys have two words. Pure. */
static inline bool element_is_wide(const struct element *element)
{
    return kind_rows[element->kind].words > 1;
}

/* Returns whether keys are the numbers of strings in the plan's dictionary, or their ranks. Pure.
 */
static inline bool element_is_string(const struct element *element)
{
    return kind_rows[element->kind].has_dictionary;
}

/* Returns the size of a value in binary input, in bytes. Pure. */
static inline size_t element_stored_bytes(const struct element *element)
{
    switch (element->real) {
#define ELEMENT_REAL_BYTES(id, name, size) \
    case REAL_##id:                        \
        return size;
        REAL_FORMATS(ELEMENT_REAL_BYTES)
#undef ELEMENT_REAL_BYTES
    case REAL_NONE:
        break;
    }
    return element->bytes;
}

/* Returns the name of the type in binary input. Pure. */
const char *element_stored_name(const struct element *element);

/* Returns whether values have an order but no arithmetic: IP addresses and strings. Pure. */
static inline bool element_is_name(const struct element *element)
{
    return kind_rows[element->kind].scale == KIND_NAMES;
}

/*
 * Parses a type: i8 to u64, f16, bf16, f32 or f64, optionally followed by le or be (default: little
 * endian). Elements of floats are i64. Returns false if `text` is not a type.
 */
bool element_parse(const char *text, struct element *element);

/*
 * Convert IP addresses to numbers of 128 bits in the same order, and back. The numbers are signed,
 * as all values are: the key minus 2^127.
 */
static inline __int128 element_address(struct kind_ip key)
{
    return (__int128)(((unsigned __int128)key.high << 64 | key.low) ^ (unsigned __int128)1 << 127);
}

static inline struct kind_ip element_address_key(__int128 value)
{
    const unsigned __int128 key = (unsigned __int128)value ^ (unsigned __int128)1 << 127;
    return (struct kind_ip){(uint64_t)(key >> 64), (uint64_t)key};
}

/* Size of a buffer for any written value, with a NUL. */
#define ELEMENT_TEXT_SIZE 64

/* Writes a value as its kind does, without a NUL. Returns its length. */
size_t element_write(char *out, const struct element *element, __int128 value);

/* Like element_write, but for JSON output: timestamps and IP addresses are quoted. */
size_t element_write_json(char *out, const struct element *element, __int128 value);

/* Like element_write, but with a NUL. */
void element_format(char out[ELEMENT_TEXT_SIZE], const struct element *element, __int128 value);

/*
 * Reads a bound, all of text[0..bytes), in the form of the column type; numbers may have suffixes
 * (decimal.h). Returns false if it is invalid, or has more decimal places than the values.
 */
bool element_read(const struct element *element, const char *text, size_t bytes, __int128 *value);

/* Like element_read, but reads LO:HI. Timestamps have colons, too: the first colon that separates
 * two valid bounds divides them. */
bool element_read_range(const struct element *element, const char *text, __int128 *low,
                        __int128 *high);

/* Returns the key of the element at `bytes`, which need not be aligned. */
uint64_t element_key(const struct element *element, const void *bytes);

/* Return the smallest value of the type, and the largest plus one. */
__int128 element_min(const struct element *element);
__int128 element_limit(const struct element *element);

/* Returns the number that the key represents. */
static inline __int128 element_value(const struct element *element, uint64_t key)
{
    return element->is_signed ? (__int128)(int64_t)key : (__int128)key;
}

/* Returns the word to XOR keys with so that they compare as uint64_t. */
static inline uint64_t element_sign_bias(const struct element *element)
{
    return element->is_signed ? (uint64_t)1 << 63 : 0;
}

/* Reverses the order of the lowest `bytes` (1, 2, 4 or 8) bytes of a word. */
static inline uint64_t element_swap(uint64_t word, size_t bytes)
{
    switch (bytes) {
    case 2:
        return __builtin_bswap16((uint16_t)word);
    case 4:
        return __builtin_bswap32((uint32_t)word);
    case 8:
        return __builtin_bswap64(word);
    default:
        return word;
    }
}

/* Returns the key of the element at `bytes`, in this machine's byte order and of any alignment. */
static inline __attribute__((always_inline)) uint64_t element_load(enum element_type type,
                                                                   const void *bytes)
{
    switch (type) {
#define ELEMENT_CASE(id, label, ctype)       \
    case ELEMENT_##id: {                     \
        ctype value;                         \
        memcpy(&value, bytes, sizeof value); \
        return (uint64_t)(int64_t)value;     \
    }
        ELEMENT_TYPES(ELEMENT_CASE)
#undef ELEMENT_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    __builtin_unreachable();
}

/* Stores a key as an element of `width` (1, 2, 4 or 8) bytes, in this machine's byte order. */
static inline __attribute__((always_inline)) void element_store(void *bytes, uint64_t key,
                                                                size_t width)
{
    const uint8_t narrow = (uint8_t)key;
    const uint16_t half = (uint16_t)key;
    const uint32_t word = (uint32_t)key;

    if (width == sizeof key)
        memcpy(bytes, &key, sizeof key);
    else if (width == sizeof word)
        memcpy(bytes, &word, sizeof word);
    else if (width == sizeof half)
        memcpy(bytes, &half, sizeof half);
    else
        memcpy(bytes, &narrow, sizeof narrow);
}

#endif
