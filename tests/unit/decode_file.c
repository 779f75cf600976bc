/*
 * Decodes a file to standard output, for decoder.bats:
 *
 *     decode_file FORMAT MEMORY-LIMIT IN-PIECES OUT-PIECES FILE...
 *
 * FORMAT is a name such as gzip, or "auto": detected. IN-PIECES and OUT-PIECES are numbers
 * separated by commas. For each pair of them, decodes the file once, with that many bytes of input
 * and space for that many bytes of output at a time. Outputs follow each other, like messages on
 * stderr. Ends with the first status that is not success; 2: wrong usage, 3: no known format, 4:
 * file too short to detect its format.
 *
 * With several files, writes each file's output to FILE.out, its messages to FILE.err and its
 * status, one line, to FILE.status: a process per file would take much longer than the decoding.
 */
#include "config.h"

#include "lib/decoder.h"

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

/* Decodes in[0..bytes) to all output that needs no further input. */
static enum status decode_piece(struct decoder *decoder, const struct pieces *pieces, size_t bytes,
                                struct failure *failure)
{
    size_t used = 0;
    size_t out_used;

    do {
        struct decoder_io io = {
            .in = (const unsigned char *)pieces->in + used,
            .in_bytes = bytes - used,
            .out = (unsigned char *)pieces->out,
            .out_bytes = pieces->out_piece,
        };
        if (decoder_run(decoder, &io, false, failure) != STATUS_OK)
            return failure->status;
        out_used = io.out_used;
        fwrite(pieces->out, 1, out_used, stdout);
        used += io.in_used;
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
    /* The first bytes of each format. */
    static const struct {
        const char *name;
        const char *magic;
        size_t bytes;
    } formats[] = {
        {"zstd", "\x28\xb5\x2f\xfd", 4},
        {"gzip", "\x1f\x8b", 2},
        {"xz",
         "\xfd"
         "7zXZ",
         6},
        {"bzip2", "BZh91AY&SY", 10},
        {"lz4", "\x04\x22\x4d\x18", 4},
    };
    char head[DECODER_MAGIC_BYTES];
    size_t bytes = fread(head, 1, sizeof head, file);

    rewind(file);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(name, formats[i].name) == 0)
            return decoder_detect(formats[i].magic, formats[i].bytes, DECODER_COMPRESSED,
                                  undecided);
    }
    return decoder_detect(head, bytes, DECODER_COMPRESSED, undecided);
}

/* Decodes the file from its beginning, and prints the message if it is refused. */
static enum status decode_file(const struct decoder_format *format, const char *name,
                               uint64_t memory_limit, const struct pieces *pieces)
{
    struct failure failure = {.status = STATUS_OK};
    struct decoder *decoder;

    rewind(pieces->file);
    if (decoder_open(&decoder, format, name, memory_limit, &failure) == STATUS_OK) {
        decode_all(decoder, pieces, &failure);
        decoder_close(decoder);
    }
    if (failure.status != STATUS_OK)
        status_print("%s", failure.message);
    return failure.status;
}

/* Takes the first number of *list; advances *list after it and its comma. */
static size_t next_piece(const char **list)
{
    char *end;
    size_t piece = strtoul(*list, &end, 10);

    *list = end + (*end == ',');
    return piece;
}

/* Decodes the file with all pairs of sizes. */
static int decode_in_all_pieces(const struct decoder_format *format, FILE *file, const char *name,
                                char **argv)
{
    enum status first = STATUS_OK;

    for (const char *ins = argv[3]; *ins != '\0';) {
        size_t in_piece = next_piece(&ins);
        for (const char *outs = argv[4]; *outs != '\0';) {
            size_t out_piece = next_piece(&outs);
            struct pieces pieces = {.file = file,
                                    .in = malloc(in_piece),
                                    .in_piece = in_piece,
                                    .out = malloc(out_piece),
                                    .out_piece = out_piece};
            if (!pieces.in || !pieces.out || in_piece == 0 || out_piece == 0)
                return STATUS_USAGE;
            enum status status = decode_file(format, name, strtoull(argv[2], NULL, 10), &pieces);
            first = first == STATUS_OK ? status : first;
            free(pieces.in);
            free(pieces.out);
        }
    }
    return (int)first;
}

/* Decodes one file to stdout. Returns its status. */
static int decode_one(const char *name, char **argv)
{
    bool undecided;
    FILE *file = fopen(name, "rb");

    if (!file)
        return STATUS_USAGE;
    const struct decoder_format *format = find_format(argv[1], file, &undecided);
    int status = format      ? decode_in_all_pieces(format, file, name, argv)
                 : undecided ? STATUS_UNDECIDED
                             : STATUS_PLAIN;
    fclose(file);
    return fflush(stdout) == 0 ? status : STATUS_USAGE;
}

/* Decodes one of several files to its own output files; returns false if that failed. */
static bool decode_apart(const char *name, char **argv)
{
    char other[4096];

    snprintf(other, sizeof other, "%s.out", name);
    bool is_open = freopen(other, "wb", stdout);
    snprintf(other, sizeof other, "%s.err", name);
    is_open = freopen(other, "wb", stderr) && is_open;
    snprintf(other, sizeof other, "%s.status", name);
    FILE *file = fopen(other, "w");
    if (file)
        fprintf(file, "%d\n", is_open ? decode_one(name, argv) : STATUS_USAGE);
    return file && fclose(file) == 0 && is_open;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return fprintf(stderr, "usage: decode_file FORMAT LIMIT INS OUTS FILE...\n"), STATUS_USAGE;
    if (argc == 6)
        return decode_one(argv[5], argv);
    for (int i = 5; i < argc; i++) {
        if (!decode_apart(argv[i], argv))
            return STATUS_USAGE;
    }
    return freopen("/dev/null", "w", stderr) ? EXIT_SUCCESS : STATUS_USAGE;
}
