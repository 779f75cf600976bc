/*
 * Text on a GPU, the host's part: chunks are copied as they are, and parsed on the device into the
 * elements that operations work on. How many there are is told when a chunk is settled.
 *
 * All functions are thread-safe on distinct chunks.
 */
#ifndef GPUHIST_CUDA_TEXT_H
#define GPUHIST_CUDA_TEXT_H

#include "cuda/cuda_operation.h"

/* A chunk's text and what it is parsed to; no memory is owned. */
struct cuda_text {
    const void *d_bytes;
    void *d_values;                  /* TEXT_SPAN_VALUES_MAX elements */
    void *d_control;                 /* cuda_text_control_bytes */
    struct cuda_text_parsed *parsed; /* in host memory */
};

/*
 * Queues the parsing of a chunk whose bytes are on the device by then, and gives it its elements.
 * Returns what CUDA returned.
 */
cudaError_t cuda_text_parse(const struct cuda_shared *shared, const struct cuda_text *text,
                            struct cuda_chunk *chunk);

/*
 * When the work on a chunk is done: stores how many elements it has, and tells the job's errors of
 * them and of invalid tokens. Fails as parse_errors_scan_chunk does.
 */
enum status cuda_text_settle(const struct cuda_shared *shared, const struct cuda_text *text,
                             struct cuda_chunk *chunk, struct failure *failure);

/*
 * Shortens a chunk to what counts before a fault at a position of the stream within it: the tokens
 * or parts before, or the lines.
 */
void cuda_text_cut(const struct job *job, struct chunk *chunk, uint64_t position);

#endif
