/*
 * Decodes a file to standard output, for decoder.bats:
 *
 *     decode_file FORMAT MEMORY-LIMIT IN-PIECE OUT-PIECE FILE
 *
 * FORMAT is zstd, gzip or "auto", what the file begins like. The decoder is given IN-PIECE bytes at
 * a time and room for OUT-PIECE. Ends with the decoder's status and its message on stderr; 2 if
 * used wrongly, 3 if the file is of no format, 4 if it could not be told, being too short.
 */
#include "config.h"

#include "decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_PLAIN     3
#define STATUS_UNDECIDED 4

struct pieces {
    FILE *file;
    unsigned char *in;
    size_t in_piece;
    unsigned char *out;
    size_t out_piece;
};

/* Decodes in[0..bytes), and all the output that is there without more. */
static enum status decode_piece(struct decoder *decoder, const struct pieces *pieces, size_t bytes,
                                struct failure *failure)
{
    size_t used = 0;
    size_t out_used;

    do {
        size_t in_used;
        if (decoder_run(decoder, pieces->in + used, bytes - used, &in_used, pieces->out,
                        pieces->out_piece, &out_used, failure) != STATUS_OK)
            return failure->status;
        fwrite(pieces->out, 1, out_used, stdout);
        used += in_used;
        if (used < bytes && out_used < pieces->out_piece)
            return status_fail(failure, STATUS_DATA, "input left without cause");
    } while (used < bytes || out_used == pieces->out_piece);
    return STATUS_OK;
}

static enum status decode_all(struct decoder *decoder, const struct pieces *pieces,
                              struct failure *failure)
{
    size_t bytes;

    while ((bytes = fread(pieces->in, 1, pieces->in_piece, pieces->file)) > 0) {
        if (decode_piece(decoder, pieces, bytes, failure) != STATUS_OK)
            return failure->status;
    }
    return decoder_finish(decoder, failure);
}

static const struct decoder_format *find_format(const char *name, FILE *file, bool *undecided)
{
    char head[DECODER_MAGIC_BYTES];
    size_t bytes = fread(head, 1, sizeof head, file);

    rewind(file);
    if (strcmp(name, "zstd") == 0)
        return decoder_detect("\x28\xb5\x2f\xfd", 4, undecided);
    if (strcmp(name, "gzip") == 0)
        return decoder_detect("\x1f\x8b\x08", 3, undecided);
    return decoder_detect(head, bytes, undecided);
}

int main(int argc, char **argv)
{
    struct failure failure = {.status = STATUS_OK};
    struct decoder *decoder = NULL;
    bool undecided;
    FILE *file = argc == 6 ? fopen(argv[5], "rb") : NULL;

    if (!file)
        return fprintf(stderr, "usage: decode_file FORMAT LIMIT IN OUT FILE\n"), STATUS_USAGE;
    const struct decoder_format *format = find_format(argv[1], file, &undecided);
    if (!format)
        return undecided ? STATUS_UNDECIDED : STATUS_PLAIN;
    struct pieces pieces = {.file = file,
                            .in_piece = strtoul(argv[3], NULL, 10),
                            .out_piece = strtoul(argv[4], NULL, 10)};
    pieces.in = malloc(pieces.in_piece);
    pieces.out = malloc(pieces.out_piece);
    if (!pieces.in || !pieces.out)
        return STATUS_USAGE;
    if (decoder_open(&decoder, format, argv[5], strtoull(argv[2], NULL, 10), &failure) == STATUS_OK)
        decode_all(decoder, &pieces, &failure);
    if (failure.status != STATUS_OK)
        status_print("%s", failure.message);
    decoder_close(decoder);
    free(pieces.in);
    free(pieces.out);
    fclose(file);
    return fflush(stdout) == 0 ? (int)failure.status : STATUS_USAGE;
}
