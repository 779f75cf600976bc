/* gzip by ISA-L. The library decodes deflate and headers; this file handles members and trailers.
 */
#include "config.h"

#include "decoder/decoder_internal.h"

#ifdef HAVE_ISAL

#include <isa-l.h>
#include <stdlib.h>
#include <string.h>

#define DECODER_GZIP_TRAILER_BYTES 8 /* CRC and length, RFC 1952, 2.3 */

#define DECODER_GZIP_VERSION(a, b, c)  DECODER_GZIP_VERSION_(a, b, c)
#define DECODER_GZIP_VERSION_(a, b, c) #a "." #b "." #c

/*
 * isal_inflate can read headers and trailers itself. But if a header comes in pieces, it forgets
 * which fields the header has (2.30), and it does not tell a wrong CRC from a wrong length.
 */
struct decoder_gzip_isal {
    struct inflate_state inflate; /* its total_out counts modulo 2^32, as the trailer does */
    struct isal_gzip_header header;
    bool header_is_done;
    size_t trailer_bytes;
    unsigned char trailer[DECODER_GZIP_TRAILER_BYTES];
};

static const char *decoder_gzip_isal_version(void)
{
    return DECODER_GZIP_VERSION(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
}

/* Prepares the library for a member. */
static void decoder_gzip_isal_reset(struct decoder_gzip_isal *isal)
{
    isal_inflate_reset(&isal->inflate);
    isal_gzip_header_init(&isal->header);
    isal->header_is_done = false;
    isal->trailer_bytes = 0;
}

static enum status decoder_gzip_isal_open(struct decoder *decoder, uint64_t memory_limit,
                                          struct failure *failure)
{
    struct decoder_gzip_isal *isal = malloc(sizeof *isal);

    (void)memory_limit; /* the window has at most 32 KiB */
    if (!isal)
        return decoder_fail(decoder, "no memory to decompress it", failure);
    isal_inflate_init(&isal->inflate);
    isal->inflate.crc_flag = ISAL_GZIP_NO_HDR; /* the CRC is computed */
    decoder_gzip_isal_reset(isal);
    decoder->state = isal;
    return STATUS_OK;
}

static void decoder_gzip_isal_close(struct decoder *decoder)
{
    free(decoder->state);
}

static enum status decoder_gzip_isal_fail(const struct decoder *decoder, int result,
                                          struct failure *failure)
{
    switch (result) {
    case ISAL_INVALID_BLOCK:
        return decoder_fail(decoder, "invalid block", failure);
    case ISAL_INVALID_SYMBOL:
        return decoder_fail(decoder, "invalid code", failure);
    case ISAL_INVALID_LOOKBACK:
        return decoder_fail(decoder, "invalid distance too far back", failure);
    case ISAL_INCORRECT_CHECKSUM: /* of a header; this file compares those of the data */
        return decoder_fail(decoder, "header crc mismatch", failure);
    default:
        return decoder_fail(decoder, "invalid header", failure);
    }
}

/* The library counts in 32 bits. */
static uint32_t decoder_gzip_isal_limit(size_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static enum status decoder_gzip_isal_step(struct decoder *decoder, struct decoder_io *io,
                                          bool *ended, struct failure *failure)
{
    struct decoder_gzip_isal *isal = decoder->state;
    struct inflate_state *inflate = &isal->inflate;

    if (inflate->block_state != ISAL_BLOCK_FINISH) {
        int result;
        inflate->next_in = (uint8_t *)io->in + io->in_used; /* the library does not write there */
        inflate->avail_in = decoder_gzip_isal_limit(io->in_bytes - io->in_used);
        inflate->next_out = io->out + io->out_used;
        inflate->avail_out = decoder_gzip_isal_limit(io->out_bytes - io->out_used);
        if (isal->header_is_done) {
            result = isal_inflate(inflate);
            io->out_used = (size_t)(inflate->next_out - io->out);
        } else {
            result = isal_read_gzip_header(inflate, &isal->header);
            isal->header_is_done = result == ISAL_DECOMP_OK;
        }
        io->in_used = (size_t)(inflate->next_in - io->in);
        if (result < 0)
            return decoder_gzip_isal_fail(decoder, result, failure);
        if (inflate->block_state != ISAL_BLOCK_FINISH)
            return STATUS_OK;
        /* The trailer begins with whole bytes that the library has read but not used. */
        uint64_t bits = inflate->read_in >> (inflate->read_in_length % 8);
        for (; inflate->read_in_length >= 8; inflate->read_in_length -= 8, bits >>= 8)
            isal->trailer[isal->trailer_bytes++] = (unsigned char)bits;
    }
    while (isal->trailer_bytes < sizeof isal->trailer && io->in_used < io->in_bytes)
        isal->trailer[isal->trailer_bytes++] = io->in[io->in_used++];
    if (isal->trailer_bytes < sizeof isal->trailer)
        return STATUS_OK;
    if (decoder_read_32(isal->trailer) != inflate->crc)
        return decoder_fail(decoder, "incorrect data check", failure);
    if (decoder_read_32(isal->trailer + 4) != inflate->total_out)
        return decoder_fail(decoder, "incorrect length check", failure);
    decoder_gzip_isal_reset(isal);
    *ended = true;
    return STATUS_OK;
}

const struct decoder_library decoder_gzip_isal = {
    .name = "ISA-L",
    .version = decoder_gzip_isal_version,
    .open = decoder_gzip_isal_open,
    .step = decoder_gzip_isal_step,
    .close = decoder_gzip_isal_close,
};

#endif
