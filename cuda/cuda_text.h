/*
 * Text on a GPU, the host's part. Chunks are copied unchanged, and the device parses them to
 * elements. The host learns the number of elements when the chunk is completed.
 *
 * All functions are thread-safe on distinct chunks.
 */
#ifndef GPUHIST_CUDA_TEXT_H
#define GPUHIST_CUDA_TEXT_H

#include "cuda/cuda_operation.h"

/* Memory for the text of a chunk and its values. Owns none of it. */
struct cuda_text {
    const void *d_bytes;
    void *d_values;                  /* TEXT_SPAN_VALUES_MAX elements */
    void *d_control;                 /* cuda_text_control_bytes */
    struct cuda_text_parsed *parsed; /* in host memory */
};

/*
 * Queues the parsing of a chunk after the copy of its bytes, and sets chunk->elements. Returns the
 * status of CUDA.
 */
cudaError_t cuda_text_parse(const struct cuda_shared *shared, const struct cuda_text *text,
                            struct cuda_chunk *chunk);

/*
 * Completes a chunk after the work on it is done: sets chunk->count, and adds the values and the
 * invalid tokens to the parse errors of the job. Fails as parse_errors_scan_chunk does.
 */
enum status cuda_text_complete(const struct cuda_shared *shared, const struct cuda_text *text,
                               struct cuda_chunk *chunk, struct failure *failure);

/*
 * Shortens a chunk that contains a fault, at `position` in the stream, to the tokens, parts or
 * lines before the fault.
 */
void cuda_text_cut(const struct job *job, struct chunk *chunk, uint64_t position);

#endif
