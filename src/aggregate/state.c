/* Implements state.h: writes and reads a zstd frame of two lines and numbers. */
#include "config.h"

#include "aggregate/state.h"

#include "aggregate/store.h"
#include "input/source.h"
#include "lib/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define STATE_BUFFER_BYTES ((size_t)128 << 10)

/*
 * The level of zstd. 5M bins of 20M random ids: level 1 1.96 MB, decompressed in 3.0 ms; 3 2.29 MB
 * and 6.3 ms, since it finds short matches where literals would do.
 */
#define STATE_LEVEL 1

/* The start of the first line, before the version. */
#define STATE_LINE    "gpuhist state "
#define STATE_VERSION "5"

/*
 * The maximum number of empty bins in a row within a run. The size of a state of 5M bins of 0.5M
 * and of 1.8M random ids, and the time of one core to merge 32 of them:
 *
 *   empty bins        0     4     8    16
 *   0.5M ids, MB   0.45  0.51  0.57  0.65
 *             s    0.30  0.33  0.36  0.36
 *   1.8M ids, MB   1.07  1.19  1.17  1.14
 *             s    0.89  0.61  0.37  0.29
 */
#define STATE_GAP_MAX 8

/* Maximum lengths of the first line, and of the options, which may list edges. */
#define STATE_LINE_MAX    64
#define STATE_OPTIONS_MAX ((size_t)256 << 20)

/*
 * A frame begins with the magic number and a byte with a flag for the checksum (RFC 8878, 3.1.1).
 */
#define STATE_HEAD_BYTES   5
#define STATE_MAGIC        "\x28\xb5\x2f\xfd"
#define STATE_MAGIC_BYTES  4
#define STATE_HAS_CHECKSUM 4

/* Number of one-byte counts that are read together. */
#define STATE_BLOCK 32

/* Maximum length of a number, of 128 bits. */
#define STATE_NUMBER_BYTES 19

struct state_writer {
    struct writer *writer;
    ZSTD_CCtx *context;
    size_t error;            /* the error code of zstd, or 0 */
    unsigned __int128 start; /* the bin after the last run */
    struct state_run run;    /* the counts that are not written yet */
    size_t used;
    unsigned char buffer[STATE_BUFFER_BYTES];
};

struct state_reader {
    const char *name;
    char *names[1];            /* the file name of the source */
    struct source *source;     /* owned; NULL: the states are in memory */
    const unsigned char *data; /* states in memory: the next bytes; not owned */
    size_t bytes;              /* states in memory: number of those bytes */
    ZSTD_DCtx *context;
    unsigned long long states; /* number of states begun so far */
    bool has_ended;            /* the frame of the state is decoded */
    unsigned __int128 start;   /* the bin after the last run */
    size_t in_used;
    size_t in_bytes;
    size_t out_used;
    size_t out_bytes;
    unsigned char in[STATE_HEAD_BYTES + STATE_BUFFER_BYTES];
    unsigned char out[STATE_BUFFER_BYTES];
};

/* Compresses the buffer; with ZSTD_e_end also completes the frame. */
static void state_compress(struct state_writer *state, ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {state->buffer, state->used, 0};
    size_t left;

    do {
        ZSTD_outBuffer out = {writer_reserve(state->writer, STATE_BUFFER_BYTES / 2),
                              STATE_BUFFER_BYTES / 2, 0};
        left = ZSTD_compressStream2(state->context, &out, &in, directive);
        if (ZSTD_isError(left)) {
            state->error = left;
            break;
        }
        writer_commit(state->writer, out.pos);
    } while (in.pos < in.size || (directive == ZSTD_e_end && left > 0));
    state->used = 0;
}

static void state_write(struct state_writer *state, const void *data, size_t bytes)
{
    const char *from = data;

    while (bytes > 0) {
        size_t space = sizeof state->buffer - state->used;
        size_t n = bytes < space ? bytes : space;
        memcpy(state->buffer + state->used, from, n);
        state->used += n;
        from += n;
        bytes -= n;
        if (state->used == sizeof state->buffer)
            state_compress(state, ZSTD_e_continue);
    }
}

enum status state_writer_open(struct state_writer **state, struct writer *writer, const char *line,
                              struct failure *failure)
{
    static const char first[] = STATE_LINE STATE_VERSION "\n";
    struct state_writer *created = calloc(1, sizeof *created);
    ZSTD_CCtx *context = ZSTD_createCCtx();

    if (!created || !context) {
        free(created);
        ZSTD_freeCCtx(context);
        return status_fail(failure, STATUS_DATA, "not enough memory for saving the state");
    }
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, STATE_LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    created->writer = writer;
    created->context = context;
    state_write(created, first, sizeof first - 1);
    state_write(created, line, strlen(line));
    state_write(created, "\n", 1);
    *state = created;
    return STATUS_OK;
}

void state_write_number(struct state_writer *state, unsigned __int128 number)
{
    if (sizeof state->buffer - state->used < STATE_NUMBER_BYTES)
        state_compress(state, ZSTD_e_continue);
    for (; number > 127; number >>= 7)
        state->buffer[state->used++] = (unsigned char)(number | 128);
    state->buffer[state->used++] = (unsigned char)number;
}

/* Writes the run and begins an empty one after it. */
static void state_write_run(struct state_writer *state)
{
    struct state_run *run = &state->run;

    if (run->n == 0)
        return;
    state_write_number(state, run->n);
    state_write_number(state, run->bin - state->start);
    for (size_t i = 0; i < run->n; i++)
        state_write_number(state, run->counts[i]);
    state->start = run->bin + run->n;
    run->n = 0;
}

void state_write_row(struct state_writer *state, unsigned __int128 bin, uint64_t count)
{
    struct state_run *run = &state->run;
    const unsigned __int128 gap = bin - (run->bin + run->n);

    if (run->n > 0 && (gap > STATE_GAP_MAX || run->n + gap >= STATE_RUN_BINS))
        state_write_run(state);
    if (run->n == 0)
        run->bin = bin;
    while (run->bin + run->n < bin)
        run->counts[run->n++] = 0;
    run->counts[run->n++] = count;
}

void state_write_rows_end(struct state_writer *state)
{
    state_write_run(state);
    state_write_number(state, 0);
    state->start = 0;
}

enum status state_writer_close(struct state_writer *state, enum status status,
                               struct failure *failure)
{
    if (status == STATUS_OK)
        state_compress(state, ZSTD_e_end);
    if (status == STATUS_OK && state->error != 0)
        status = status_fail(failure, STATUS_DATA, "cannot compress the state: %s",
                             ZSTD_getErrorName(state->error));
    ZSTD_freeCCtx(state->context);
    free(state);
    return status;
}

enum status state_reader_open_memory(struct state_reader **state, const char *name,
                                     struct failure *failure)
{
    struct state_reader *created = calloc(1, sizeof *created);

    if (created)
        created->context = ZSTD_createDCtx();
    if (!created || !created->context) {
        state_reader_close(created);
        return status_fail(failure, STATUS_DATA, "not enough memory for reading states");
    }
    created->name = name;
    *state = created;
    return STATUS_OK;
}

void state_reader_feed(struct state_reader *state, const void *data, size_t bytes)
{
    state->data = data;
    state->bytes = bytes;
}

enum status state_reader_open(struct state_reader **state, const char *name,
                              struct failure *failure)
{
    const char *shown = strcmp(name, "-") == 0 ? "standard input" : name;
    struct state_reader *created = NULL;

    if (state_reader_open_memory(&created, shown, failure) != STATUS_OK)
        return failure->status;
    created->names[0] = (char *)name; /* the source does not change it */
    const struct source_options options = {.kinds = 0};
    if (source_open(&created->source, created->names, 1, &options, failure) != STATUS_OK) {
        state_reader_close(created);
        return failure->status;
    }
    *state = created;
    return STATUS_OK;
}

void state_reader_close(struct state_reader *state)
{
    if (!state)
        return;
    source_close(state->source);
    ZSTD_freeDCtx(state->context);
    free(state);
}

const char *state_reader_name(const struct state_reader *state)
{
    return state->name;
}

enum status state_fail_damaged(const struct state_reader *state, const char *what,
                               struct failure *failure)
{
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": corrupt state: %s", state->name, what);
}

static enum status state_fail_foreign(const struct state_reader *state, struct failure *failure)
{
    if (state->states > 0)
        return state_fail_damaged(state, "other data follow it", failure);
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": not a state that --save wrote",
                       state->name);
}

/* Reads more of the file after the unused bytes. At the end of the file it adds none. */
static enum status state_pull(struct state_reader *state, struct failure *failure)
{
    struct chunk chunk;
    size_t left = state->in_bytes - state->in_used;

    memmove(state->in, state->in + state->in_used, left);
    state->in_used = 0;
    state->in_bytes = left;
    if (!state->source) {
        size_t n = state->bytes < STATE_BUFFER_BYTES ? state->bytes : STATE_BUFFER_BYTES;
        memcpy(state->in + left, state->data, n);
        state->in_bytes += n;
        state->data += n;
        state->bytes -= n;
        return STATUS_OK;
    }
    struct chunk_buffer buffer = {.data = (char *)state->in + left, .capacity = STATE_BUFFER_BYTES};
    enum status status = source_pull(state->source, &buffer, &chunk, failure);
    if (status == STATUS_OK)
        state->in_bytes += chunk.bytes;
    return status;
}

/* Decodes until there is output or the frame ends. All earlier output must have been used. */
static enum status state_decode(struct state_reader *state, struct failure *failure)
{
    ZSTD_outBuffer out = {state->out, sizeof state->out, 0};

    while (out.pos == 0 && !state->has_ended) {
        ZSTD_inBuffer in = {state->in, state->in_bytes, state->in_used};
        size_t left = ZSTD_decompressStream(state->context, &out, &in);
        if (ZSTD_isError(left))
            return state_fail_damaged(state, ZSTD_getErrorName(left), failure);
        state->in_used = in.pos;
        state->has_ended = left == 0;
        if (out.pos > 0 || state->has_ended || in.pos < in.size)
            continue;
        if (state_pull(state, failure) != STATUS_OK)
            return failure->status;
        if (state->in_bytes == 0)
            return state_fail_damaged(state, "it is cut off", failure);
    }
    state->out_used = 0;
    state->out_bytes = out.pos;
    return STATUS_OK;
}

static enum status state_read_byte(struct state_reader *state, unsigned char *byte,
                                   struct failure *failure)
{
    if (state->out_used == state->out_bytes) {
        if (state_decode(state, failure) != STATUS_OK)
            return failure->status;
        if (state->out_bytes == 0)
            return state_fail_damaged(state, "it ends too early", failure);
    }
    *byte = state->out[state->out_used++];
    return STATUS_OK;
}

enum status state_read_options(struct state_reader *state, char **line, struct failure *failure)
{
    char version[STATE_LINE_MAX];
    unsigned char byte = 0;
    size_t length = 0;
    size_t bytes;

    *line = NULL;
    do { /* until the start of a frame, or all remaining bytes, are in the buffer */
        bytes = state->in_bytes - state->in_used;
        if (bytes >= STATE_HEAD_BYTES)
            break;
        if (state_pull(state, failure) != STATUS_OK)
            return failure->status;
    } while (state->in_bytes > bytes);
    if (bytes == 0 && state->states > 0)
        return STATUS_OK;
    const unsigned char *head = state->in + state->in_used;
    if (bytes < STATE_HEAD_BYTES || memcmp(head, STATE_MAGIC, STATE_MAGIC_BYTES) != 0 ||
        !(head[STATE_MAGIC_BYTES] & STATE_HAS_CHECKSUM))
        return state_fail_foreign(state, failure);
    ZSTD_DCtx_reset(state->context, ZSTD_reset_session_only);
    state->has_ended = false;
    state->start = 0;

    while (byte != '\n' && length < sizeof version - 1) {
        if (state_read_byte(state, &byte, failure) != STATUS_OK)
            return failure->status;
        if (length < sizeof STATE_LINE - 1 && byte != (unsigned char)STATE_LINE[length])
            return state_fail_foreign(state, failure);
        if (byte != '\n')
            version[length++] = (char)byte;
    }
    version[length] = '\0';
    const char *number = version + sizeof STATE_LINE - 1;
    if (byte != '\n' || *number == '\0' || number[strspn(number, "0123456789")] != '\0')
        return state_fail_foreign(state, failure);
    if (strcmp(number, STATE_VERSION) != 0)
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME ": a state of version %s: this gpuhist reads version %s",
                           state->name, number, STATE_VERSION);
    state->states++;

    FILE *options = open_memstream(line, &bytes);
    enum status status;
    if (!options)
        return status_fail(failure, STATUS_DATA, "not enough memory for the options of a state");
    for (length = 0; (status = state_read_byte(state, &byte, failure)) == STATUS_OK && byte != '\n';
         length++) {
        if (byte == '\0' || length == STATE_OPTIONS_MAX) {
            status = state_fail_damaged(state, "its options are not text", failure);
            break;
        }
        fputc(byte, options);
    }
    if (fclose(options) != 0)
        return status_fail(failure, STATUS_DATA, "not enough memory for the options of a state");
    if (status == STATUS_OK && length == 0)
        return state_fail_damaged(state, "it has no options", failure);
    return status;
}

/* Reads a number of at most `bits` bits. */
static enum status state_read_bits(struct state_reader *state, unsigned bits,
                                   unsigned __int128 *number, struct failure *failure)
{
    unsigned __int128 value = 0;
    unsigned shift = 0;
    unsigned char byte = 0;

    if (state->out_used < state->out_bytes &&
        state->out[state->out_used] < 128) { /* usually one byte */
        *number = state->out[state->out_used++];
        return STATUS_OK;
    }
    do {
        if (state_read_byte(state, &byte, failure) != STATUS_OK)
            return failure->status;
        unsigned __int128 seven = byte & 127;
        if (shift >= bits || (shift > bits - 7 && seven >> (bits - shift) != 0) ||
            (shift > 0 && byte == 0))
            return state_fail_damaged(state, "a number is too long", failure);
        value |= seven << shift;
        shift += 7;
    } while (byte & 128);
    *number = value;
    return STATUS_OK;
}

enum status state_read_number(struct state_reader *state, uint64_t *number, struct failure *failure)
{
    unsigned __int128 value;
    enum status status = state_read_bits(state, 64, &value, failure);

    if (status == STATUS_OK)
        *number = (uint64_t)value;
    return status;
}

enum status state_read_number_128(struct state_reader *state, unsigned __int128 *number,
                                  struct failure *failure)
{
    return state_read_bits(state, 128, number, failure);
}

/* Subtracts a count from *left, the number of elements not yet counted. */
static enum status state_count_off(const struct state_reader *state, uint64_t count, uint64_t *left,
                                   struct failure *failure)
{
    if (count > *left)
        return state_fail_damaged(state, "the counts exceed the number of elements", failure);
    *left -= count;
    return STATUS_OK;
}

enum status state_read_count(struct state_reader *state, uint64_t *count, uint64_t *left,
                             struct failure *failure)
{
    enum status status = state_read_number(state, count, failure);
    return status == STATUS_OK ? state_count_off(state, *count, left, failure) : status;
}

/*
 * Reads STATE_BLOCK counts if they lie in the buffer and have one byte each, and adds them to
 * *sum, in simple loops that compilers vectorize. Returns whether it read them.
 */
static bool state_read_block(struct state_reader *state, uint64_t *counts, uint64_t *sum)
{
    const unsigned char *from = state->out + state->out_used;
    unsigned char bits = 0;
    unsigned block_sum = 0;

    if (state->out_bytes - state->out_used < STATE_BLOCK)
        return false;
    for (size_t i = 0; i < STATE_BLOCK; i++)
        bits |= from[i];
    if (bits > 127)
        return false;
    for (size_t i = 0; i < STATE_BLOCK; i++) {
        counts[i] = from[i];
        block_sum += from[i];
    }
    state->out_used += STATE_BLOCK;
    *sum += block_sum;
    return true;
}

enum status state_read_run(struct state_reader *state, unsigned __int128 bins, uint64_t *left,
                           struct state_run *run, struct failure *failure)
{
    unsigned __int128 skipped = 0;
    uint64_t sum = 0; /* the sum of counts below 128 */
    uint64_t n;

    if (state_read_number(state, &n, failure) != STATUS_OK)
        return failure->status;
    if (n > STATE_RUN_BINS)
        return state_fail_damaged(state, "a run is too long", failure);
    run->n = n;
    if (n > 0 && state_read_number_128(state, &skipped, failure) != STATUS_OK)
        return failure->status;
    if (n > 0 && (state->start >= bins || skipped >= bins - state->start ||
                  n > bins - state->start - skipped))
        return state_fail_damaged(state, "it counts in a bin that does not exist", failure);
    run->bin = state->start + skipped;
    state->start = n > 0 ? run->bin + n : 0;
    for (size_t i = 0; i < run->n;) {
        if (run->n - i >= STATE_BLOCK && state_read_block(state, run->counts + i, &sum)) {
            i += STATE_BLOCK;
            continue;
        }
        if (state_read_count(state, &run->counts[i++], left, failure) != STATUS_OK)
            return failure->status;
    }
    if (run->n > 0 && (run->counts[0] == 0 || run->counts[run->n - 1] == 0))
        return state_fail_damaged(state, "a run begins or ends with an empty bin", failure);
    if (run->n == 0 && *left > 0)
        return state_fail_damaged(state, "not all was counted", failure);
    return state_count_off(state, sum, left, failure);
}

enum status state_read_end(struct state_reader *state, struct failure *failure)
{
    if (state->out_used == state->out_bytes && state_decode(state, failure) != STATUS_OK)
        return failure->status;
    if (state->out_used < state->out_bytes)
        return state_fail_damaged(state, "its length is wrong", failure);
    return STATUS_OK;
}

enum status state_save(struct writer *writer, const char *line, const struct plan *plan,
                       const void *aggregate, struct failure *failure)
{
    struct state_writer *state;

    if (strlen(line) > STATE_OPTIONS_MAX)
        return status_fail(failure, STATUS_DATA, "there are too many edges for a state");
    if (state_writer_open(&state, writer, line, failure) != STATUS_OK)
        return failure->status;
    enum status status = store_of(plan)->save(state, plan, aggregate, failure);
    return state_writer_close(state, status, failure);
}

enum status state_load(struct state_reader *state, const struct plan *plan, void *aggregate,
                       uint64_t *elements, struct failure *failure)
{
    uint64_t more;

    if (state_read_number(state, &more, failure) != STATUS_OK)
        return failure->status;
    if (more > UINT64_MAX - *elements)
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME
                           ": more than 2^64 - 1 elements, together with the states before it",
                           state->name);
    enum status status = store_of(plan)->load(state, plan, aggregate, more, failure);
    if (status == STATUS_OK)
        status = state_read_end(state, failure);
    if (status == STATUS_OK)
        *elements += more;
    return status;
}
