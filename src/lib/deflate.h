/*
 * Deflate (RFC 1951) within gzip (RFC 1952), decoded from a place that is guessed, as pugz
 * (Kerbiriou and Chikhi, 2019) and rapidgzip (Knespel and Brunst, 2023) do: the 32 KiB before it,
 * to which matches refer, are not known. So its symbols have 16 bits: bytes, and marks for the
 * bytes of that window, which are resolved when it is known. Once no mark is among the last 32 Ki
 * symbols, what follows is decoded to bytes.
 *
 * What is unusual is not decoded, such as a checksum of a header; a piece just ends before it. No
 * piece is to be believed before its place was found to be the end of what precedes it, and the
 * checksums of its members to be right.
 *
 * Functions are thread-safe on distinct objects.
 */
#ifndef GPUHIST_DEFLATE_H
#define GPUHIST_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEFLATE_WINDOW ((size_t)1 << 15)

/* Symbols from this on are marks: the rest is the offset in the window. */
#define DEFLATE_MARK 256u

/* Number of bytes after a deflate_input that can be read; they are 0. */
#define DEFLATE_PADDING 64

/* The members that may end in a piece. */
#define DEFLATE_ENDS_MAX 1024

/* Bytes of a file. */
struct deflate_input {
    const unsigned char *data; /* [bytes + DEFLATE_PADDING] */
    size_t bytes;
    uint64_t offset; /* of data[0] in the file */
    bool is_rest;    /* the file ends with them */
};

/*
 * Places of blocks: twice the number of bits before them in the file; or, of a stored block, before
 * its length, and 1 more, since the bits between its head and its length may have any number.
 */
typedef uint64_t deflate_place;
#define DEFLATE_NOWHERE UINT64_MAX

/* What is known of the bytes before a place. */
struct deflate_window {
    unsigned char bytes[DEFLATE_WINDOW];
    size_t valid; /* number of the last ones that are of the same member */
};

/* The end of a member. */
struct deflate_end {
    size_t at; /* bytes of the piece before it */
    uint32_t crc;
    uint32_t length;    /* modulo 2^32 */
    uint32_t piece_crc; /* of the bytes since the last end or the beginning; deflate_resolve sets
                           it */
};

/* A piece. `marked` and `plain` are the caller's memory, which has a window before it. */
struct deflate_piece {
    uint16_t *marked;     /* [DEFLATE_WINDOW + capacity] */
    unsigned char *plain; /* [DEFLATE_WINDOW + capacity] */
    size_t capacity;      /* of each, above DEFLATE_SLACK */
    deflate_place begin;
    deflate_place end;   /* the beginning of the next block */
    bool is_last;        /* the last member ends with it, and then the file */
    size_t marked_count; /* symbols, and bytes once they are resolved */
    size_t plain_count;  /* bytes after them */
    size_t end_count;
    struct deflate_end ends[DEFLATE_ENDS_MAX];
    uint32_t rest_crc; /* of the bytes since the last end */
};

/* The most symbols of a match, and what copying it may write beyond its end. */
#define DEFLATE_SLACK ((size_t)512)

/* Tables of codes, to be used again. The caller frees it. Returns NULL if there is no memory. */
struct deflate;
struct deflate *deflate_create(void);

/*
 * Returns the first place in [begin, end), both in bits of the file, where a block may begin that
 * is not the last: one of dynamic codes whose codes are all complete, or a stored one before such a
 * block. DEFLATE_NOWHERE: there is none. Blocks of fixed codes are not found.
 */
deflate_place deflate_find(struct deflate *deflate, const struct deflate_input *input,
                           uint64_t begin, uint64_t end);

/*
 * Returns the place after the header of a member at a byte of the input; DEFLATE_NOWHERE if there
 * is none, or if it is unusual.
 */
deflate_place deflate_skip_header(const struct deflate_input *input, uint64_t offset);

/*
 * Decodes from piece->begin to the first block at or after the bit `stop` that deflate_find would
 * find, or to the end of the file; it ends earlier if the input ends, a fault follows, or the piece
 * is full. `window` is what precedes it; NULL: not known.
 */
void deflate_decode(struct deflate *deflate, const struct deflate_input *input, uint64_t stop,
                    const struct deflate_window *window, struct deflate_piece *piece);

/* Turns the window before a piece into the one after it. Returns false if a match goes beyond. */
bool deflate_advance(const struct deflate_piece *piece, struct deflate_window *window);

/*
 * Resolves the marks: piece->marked then begins with marked_count bytes. Computes the checksums.
 * Returns false if a match refers beyond the window.
 */
bool deflate_resolve(struct deflate_piece *piece, const struct deflate_window *window);

/* Where the bytes of a resolved piece are: the first marked_count ones. */
static inline const unsigned char *deflate_resolved(const struct deflate_piece *piece)
{
    return (const unsigned char *)piece->marked;
}

/* Returns the CRC of a string and one of `bytes` bytes after it, from theirs. */
uint32_t deflate_combine(uint32_t crc, uint32_t next, uint64_t bytes);

#endif
