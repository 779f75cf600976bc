/* Chunks: the pieces that the input is pulled in, and that engines absorb. */
#ifndef GPUHIST_CHUNK_H
#define GPUHIST_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder_format;

/*
 * A piece of the input, in memory of the worker that pulled it: whole elements, or of text whole
 * lines or tokens (text_is_of_tokens), whose end is that of a line. Text is never of two files.
 */
struct chunk {
    const void *data;
    size_t bytes;
    uint64_t left_out; /* bytes that were read and are in no chunk: of headers and of long lines */
    uint64_t position; /* of its first byte in the input stream */
    uint64_t sequence; /* 0, 1, 2, ... in the order of the stream */
    bool is_cut;       /* a fault follows: nothing behind this chunk counts */
    const char *name;  /* of text: its file, as messages say it */
    uint64_t line;     /* of text: how many lines end before it in its file, behind this offset; */
    uint64_t offset;   /* if that is above the start, the file is a regular one, in which */
    uint64_t start;    /* reading began there: lines between the two are still to be counted */
    const struct decoder_format *decoder; /* of text: not NULL if that file is compressed, and these
                                             are the offsets of frames */
    const struct chunk *text; /* of values parsed from text: the chunk of it; else NULL */
};

#endif
