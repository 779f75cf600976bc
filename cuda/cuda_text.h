/*
 * Text on a GPU, the host's part. Chunks are copied unchanged, and the device parses them to the
 * elements that operations work on. Their number is known when the chunk is completed.
 *
 * All functions are thread-safe on distinct chunks.
 */
#ifndef GPUHIST_CUDA_TEXT_H
#define GPUHIST_CUDA_TEXT_H

#include "cuda/cuda_operation.h"

/* A chunk's text and its values. Owns no memory. */
struct cuda_text {
    const void *d_bytes;
    void *d_values;                  /* TEXT_SPAN_VALUES_MAX elements */
    void *d_control;                 /* cuda_text_control_bytes */
    struct cuda_text_parsed *parsed; /* in host memory */
};

/*
 * Queues the parsing of a chunk behind the copy of its bytes, and sets its elements. Returns what
 * CUDA returned.
 */
cudaError_t cuda_text_parse(const struct cuda_shared *shared, const struct cuda_text *text,
                            struct cuda_chunk *chunk);

/*
 * When the work on a chunk is done: stores how many elements it has, and adds these and the invalid
 * tokens to the job's errors. Fails as parse_errors_scan_chunk does.
 */
enum status cuda_text_complete(const struct cuda_shared *shared, const struct cuda_text *text,
                               struct cuda_chunk *chunk, struct failure *failure);

/*
 * Shortens a chunk to what counts before a fault at a position of the stream within it: the tokens,
 * parts or lines before the fault.
 */
void cuda_text_cut(const struct job *job, struct chunk *chunk, uint64_t position);

#endif
