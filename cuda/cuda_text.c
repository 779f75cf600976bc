/*
 * Text on a GPU, the host's part: queues the parsing of a chunk, and passes the numbers of values
 * and of invalid tokens on to the job.
 */
#include "config.h"

#include "cuda/cuda_text.h"

#include "cuda/text_span.h"
#include "input/parse_errors.h"

cudaError_t cuda_text_parse(const struct cuda_shared *shared, const struct cuda_text *text,
                            struct cuda_chunk *chunk)
{
    cudaError_t error =
        cuda_text_launch(&shared->device, &chunk->chunk.rules, &shared->job->element, text->d_bytes,
                         chunk->chunk.bytes, text->d_values, text->d_control, chunk->stream);

    chunk->elements = (struct cuda_elements){
        .d_data = text->d_values,
        .count = TEXT_SPAN_VALUES_MAX(chunk->chunk.bytes),
        .d_count = &((const struct cuda_text_parsed *)text->d_control)->values,
    };
    if (error != cudaSuccess)
        return error;
    return cudaMemcpyAsync(text->parsed, text->d_control, sizeof *text->parsed,
                           cudaMemcpyDeviceToHost, chunk->stream);
}

enum status cuda_text_complete(const struct cuda_shared *shared, const struct cuda_text *text,
                               struct cuda_chunk *chunk, struct failure *failure)
{
    const struct job *job = shared->job;

    chunk->count = text->parsed->values;
    parse_errors_add_values(job->errors, chunk->count);
    if (text->parsed->invalid == 0)
        return STATUS_OK;
    return parse_errors_scan_chunk(job->errors, job, &chunk->chunk, failure);
}

void cuda_text_cut(const struct job *job, struct chunk *chunk, uint64_t position)
{
    const char *text = chunk->data;
    size_t bytes = (size_t)(position - chunk->position);

    /* In a line that lacks its end, a field could be another one. */
    while (job->text.field != 0 && bytes > 0 && text[bytes - 1] != '\n')
        bytes--;
    chunk->bytes = bytes;
    chunk->is_cut = true;
}
