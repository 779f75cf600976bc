/*
 * Decodes deflate (RFC 1951) within gzip (RFC 1952) from a guessed place, like pugz (Kerbiriou and
 * Chikhi, 2019) and rapidgzip (Knespel and Brunst, 2023). The window, the 32 KiB before the place
 * to which matches refer, is unknown. Therefore symbols have 16 bits: bytes, and marks for bytes of
 * the window, which are resolved once it is known. After 32 Ki symbols without a mark, the rest is
 * decoded to bytes.
 *
 * A piece ends before unusual data, such as a checksum of a header, which are not decoded. A piece
 * is valid only if its place is the end of the piece before it, and the checksums of its members
 * are right.
 *
 * Functions are thread-safe on distinct objects.
 */
#ifndef GPUHIST_DEFLATE_H
#define GPUHIST_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEFLATE_WINDOW ((size_t)1 << 15)

/* The first mark: symbol DEFLATE_MARK + i is byte i of the window. */
#define DEFLATE_MARK 256u

/* Number of readable zero bytes after a deflate_input. */
#define DEFLATE_PADDING 64

/* Maximum number of members that end in a piece. */
#define DEFLATE_ENDS_MAX 1024

/* Bytes of a file. */
struct deflate_input {
    const unsigned char *data; /* [bytes + DEFLATE_PADDING] */
    size_t bytes;
    uint64_t offset; /* the offset of data[0] in the file */
    bool is_rest;    /* the file ends after these bytes */
};

/*
 * The place of a block: twice the number of bits before it in the file. For a stored block, twice
 * the number of bits before its length plus 1, since the number of bits between its head and its
 * length varies.
 */
typedef uint64_t deflate_place;
#define DEFLATE_NOWHERE UINT64_MAX

/* The bytes before a place, as far as they are known. */
struct deflate_window {
    unsigned char bytes[DEFLATE_WINDOW];
    size_t valid; /* number of last bytes that belong to the same member */
};

/* The end of a member. */
struct deflate_end {
    size_t at; /* number of bytes of the piece before it */
    uint32_t crc;
    uint32_t length;    /* length of the member, modulo 2^32 */
    uint32_t piece_crc; /* CRC of the piece's bytes since the last end; set by deflate_resolve */
};

/* A piece. The caller owns `marked` and `plain`, which begin with a window. */
struct deflate_piece {
    uint16_t *marked;     /* [DEFLATE_WINDOW + capacity] */
    unsigned char *plain; /* [DEFLATE_WINDOW + capacity] */
    size_t capacity;      /* number of symbols after the window of each, above DEFLATE_SLACK */
    deflate_place begin;
    deflate_place end;   /* the start of the next block */
    bool is_last;        /* it ends the last member of the file */
    size_t marked_count; /* number of symbols in `marked`; once resolved, of bytes */
    size_t plain_count;  /* number of bytes in `plain`, which follow those */
    size_t end_count;
    struct deflate_end ends[DEFLATE_ENDS_MAX];
    uint32_t rest_crc; /* CRC of the bytes since the last end */
};

/* Maximum number of symbols that copying a match writes, including those beyond its end. */
#define DEFLATE_SLACK ((size_t)512)

/* Reusable tables of codes. deflate_create returns NULL if there is no memory; the caller frees it.
 */
struct deflate;
struct deflate *deflate_create(void);

/*
 * Returns the first place in [begin, end), both in bits of the file, where a block may begin: a
 * block of dynamic codes that are all complete, or a stored block before such a block, but not the
 * last block. Returns DEFLATE_NOWHERE if there is none. Does not find blocks of fixed codes.
 */
deflate_place deflate_find(struct deflate *deflate, const struct deflate_input *input,
                           uint64_t begin, uint64_t end);

/*
 * Returns the place after the header of a member at a byte of the input; DEFLATE_NOWHERE if there
 * is no header, or an unusual one.
 */
deflate_place deflate_skip_header(const struct deflate_input *input, uint64_t offset);

/*
 * Decodes from piece->begin to the first block at or after the bit `stop` that deflate_find would
 * find, or to the end of the file; it ends earlier if the input ends, a fault follows, or the piece
 * is full. `window` precedes the piece; NULL: it is unknown.
 */
void deflate_decode(struct deflate *deflate, const struct deflate_input *input, uint64_t stop,
                    const struct deflate_window *window, struct deflate_piece *piece);

/* Turns the window before a piece into the one after it. Returns false if a match is too far back.
 */
bool deflate_advance(const struct deflate_piece *piece, struct deflate_window *window);

/*
 * Resolves the marks: piece->marked then begins with marked_count bytes. Computes the checksums.
 * Returns false if a match refers to bytes before the window.
 */
bool deflate_resolve(struct deflate_piece *piece, const struct deflate_window *window);

/* Returns the first marked_count bytes of a resolved piece. */
static inline const unsigned char *deflate_resolved(const struct deflate_piece *piece)
{
    return (const unsigned char *)piece->marked;
}

/* Returns the CRC of two adjacent strings from their CRCs; the second has `bytes` bytes. */
uint32_t deflate_combine(uint32_t crc, uint32_t next, uint64_t bytes);

#endif
