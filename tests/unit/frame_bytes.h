/* Lengths of frames in memory. */
#ifndef GPUHIST_TEST_FRAME_BYTES_H
#define GPUHIST_TEST_FRAME_BYTES_H

#include "lib/decoder.h"

static const unsigned char *frame_look(void *context, uint64_t offset, size_t bytes)
{
    (void)bytes;
    return (const unsigned char *)context + offset;
}

/* Like decoder_frame_bytes, for the frame at the start of data[0..bytes). */
static uint64_t frame_bytes_in(const struct decoder_format *format, const void *data, size_t bytes)
{
    const struct decoder_view view = {
        .bytes = bytes,
        .look = frame_look,
        .context = (void *)data,
    };
    return decoder_frame_bytes(format, &view, 0);
}

#endif
