/*
 * A reader returns the bytes of one input, or of a part of a regular file, in order. It
 * decompresses, ends rows with newlines, drops headers, the comments before them and unused columns
 * of an array, and finds the names of columns in the last header line.
 *
 * Not thread-safe; distinct readers may share an input.
 */
#ifndef GPUHIST_READER_H
#define GPUHIST_READER_H

#include "input/gzip_group.h"
#include "input/npy.h"
#include "input/record.h"
#include "lib/decoder.h"
#include "lib/input.h"
#include "lib/status.h"
#include "value/chunk.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pipe counts as empty if nothing arrives for this long. A shorter time makes small chunks. */
#define INPUT_PAUSE_MS 1

/* The result of a read. */
enum input_event {
    INPUT_DATA,  /* bytes were read, or none: try again */
    INPUT_END,   /* the end of the input */
    INPUT_EMPTY, /* nothing to read at present, or woken */
    INPUT_ERROR, /* the failure is written */
};

/* Memory to read to, and what was read. */
struct input_piece {
    char *data;
    size_t capacity; /* above 0 */
    bool wait;       /* for something to read, without limit; else for INPUT_PAUSE_MS */
    bool has_waited; /* set if there was nothing to read at once */
    size_t bytes;    /* read */
};

/* Shared by all readers of a source. */
struct reader_options {
    unsigned kinds; /* of decoder_detect: compressed inputs are decoded, refused ones an error */
    enum text_row_end row_end; /* TEXT_ENDS_LF: or TEXT_ENDS_CR */
    uint64_t memory_limit;     /* of decoder_open */
    bool holds_frames;         /* return a frame only after its checksum is verified (see below) */
    int wake; /* a descriptor; when it becomes readable, no reader waits any longer */
    atomic_uint_least64_t *bytes_read; /* counts bytes read from files, before decoding; or NULL */
    atomic_size_t *tabbed; /* the minimum number of an input whose header has tabs, without a
                              delimiter in the rules; or NULL */
    _Atomic(struct reader_header *) *header; /* gets the header of the first input, if it was
                                                NULL, which the caller frees; or NULL */
};

/* The last header line of an input, without its end. */
struct reader_header {
    size_t bytes;
    char line[];
};

/* Bytes that were read before they are needed: data[begin..end). */
struct reader_ahead {
    char *data; /* NULL: never used */
    size_t begin;
    size_t end;
    size_t capacity;
};

/* Maximum size of a frame that is held back. What is beyond it is returned as it is decoded. */
#define READER_HELD_BYTES ((size_t)16 << 20)

/* The longest header line with names. */
#define READER_NAMES_BYTES ((size_t)1 << 20)

/* Bytes that are read ahead at a time: a first block to inspect, or compressed input. */
#define READER_AHEAD_BYTES ((size_t)64 << 10)

struct reader {
    const struct reader_options *options;
    struct input *input; /* the reader is one of its users */
    bool is_part;        /* reads input[next..limit) with pread; else from the file offset of fd */
    off_t next;
    off_t limit;
    unsigned shift;                      /* see struct decoder_part */
    bool goes_on;                        /* another part of the file follows */
    struct reader_ahead head;            /* bytes to read before the part */
    struct reader_ahead tail;            /* and after it; in the memory of the head */
    const struct decoder_format *format; /* NULL: not compressed */
    bool is_detected;                    /* `format` is known */
    bool checks_content;                 /* what is decoded first may be of a refused kind */
    bool has_ended;                      /* the file is at its end */
    struct decoder *decoder;             /* NULL: not opened yet */
    struct gzip_group *group;            /* decodes the file instead; NULL: none */
    uint64_t worker_group_bytes;         /* that it has decoded */
    uint64_t repeated;                   /* of these, to be decoded again since it gave up */
    bool is_pending;                     /* the decoder may have more output without input */
    bool is_faulty;                      /* a fault follows the bytes decoded so far */
    struct failure fault;
    struct reader_ahead held;  /* a mapping: of a frame that is held back, what may be returned */
    size_t held_end;           /* of what is decoded of it */
    bool is_large;             /* the frame is longer than READER_HELD_BYTES */
    struct reader_ahead raw;   /* read ahead, not decoded */
    struct reader_ahead plain; /* read ahead and decoded */
    const struct record_format *records; /* describes the header; NULL: no header */
    struct text_rules *rules;            /* of the file, which the header completes */
    bool has_begun;                      /* the next four are done with */
    enum text_row_end row_end;           /* newlines are put there */
    bool checks_line_end;  /* a text whose lines matter has no newline so far: if there is none in
                              its first block, carriage returns end its rows */
    bool checks_mark;      /* a byte order mark at the beginning is dropped, if there is one */
    uint64_t skip_lines;   /* header lines still to skip */
    bool keeps_header;     /* the last of them is kept for options->header */
    uint64_t header_lines; /* lines and bytes skipped; the caller resets both */
    uint64_t header_bytes;
    bool has_array;          /* the next four count bytes: */
    uint64_t columns_before; /* of an array, to be skipped, */
    uint64_t left;           /* to be returned, */
    uint64_t columns_after;  /* to be skipped, */
    uint64_t excess;         /* and read after it, which are an error */
};

/*
 * Begins to read an input. The reader takes over the caller's use of it. `format` is the
 * compression format of a regular file, NULL if it is not compressed; the format of any other input
 * is detected by its first bytes. The options must outlive the reader. The caller closes it.
 */
void reader_open(struct reader *reader, const struct reader_options *options, struct input *input,
                 const struct decoder_format *format);

/* As reader_open, of a regular file that a worker group has begun, which must outlive the reader.
 */
void reader_open_group(struct reader *reader, const struct reader_options *options,
                       struct input *input, const struct decoder_format *format,
                       struct gzip_group *group);

/* As reader_open, for a part of a regular file. part->wrap must outlive the reader. */
void reader_open_part(struct reader *reader, const struct reader_options *options,
                      struct input *input, const struct decoder_format *format,
                      const struct decoder_part *part);

/*
 * Says how many header lines the input has, and which names of fields to look up in the last of
 * them. The reader stores the numbers of these fields, and how the header says that lines are
 * separated, in *rules, once it is read (has_begun). Both must outlive the reader, from which
 * nothing was read, except by reader_look.
 */
void reader_set_records(struct reader *reader, const struct record_format *records,
                        struct text_rules *rules);

/* Closes an open reader: frees its memory and decoder, and ends its use of the input. */
void reader_close(struct reader *reader);

/* Puts newlines where rows end, in text that no reader has read. */
void reader_end_rows(enum text_row_end row_end, char *data, size_t bytes);

/*
 * Reads ahead until the beginning of the text is known: how its first line ends, and the header,
 * which it removes, and a byte order mark; reader_read does the same. It uses `wait` of the piece,
 * and sets `has_waited`. Returns INPUT_DATA when that is done, INPUT_END if a part ends before the
 * header does, and else what reader_read does.
 */
enum input_event reader_begin(struct reader *reader, struct input_piece *piece,
                              struct failure *failure);

/*
 * Reads the next piece, up to its capacity. Stops waiting when the descriptor options->wake becomes
 * readable. With INPUT_DATA, it may be empty. With INPUT_ERROR, *failure
 * is written; the bytes that precede a fault are returned before, as far as they can be decoded. A
 * header that does not have the name of a field, or has it more than once, or a quote that is never
 * closed, is an error; and so is an array that is not like that of the format, or whose data are
 * shorter or longer than it says. If the header does not end in a part that is not the last,
 * skip_lines is above 0 at its end.
 */
enum input_event reader_read(struct reader *reader, struct input_piece *piece,
                             struct failure *failure);

/*
 * Reads the first block into reader->plain, until it is full, the input ends (INPUT_END) or nothing
 * more can be read without waiting, unless it `waits`. Waits for a byte that is not white space,
 * because white space does not show whether the input is text. reader_read then returns the same
 * bytes.
 */
enum input_event reader_look(struct reader *reader, bool waits, struct failure *failure);

/*
 * Reads ahead until it is known whether the input begins with an array of NumPy, and stores it.
 * reader_read then returns the same bytes. Returns INPUT_DATA if it does or does not, INPUT_END if
 * the input is empty, and else what reader_read does. An array that is not supported is an error.
 */
enum input_event reader_look_array(struct reader *reader, struct input_piece *piece,
                                   struct npy *array, bool *is_array, struct failure *failure);

/* Stores the format of a regular file that the options decode or refuse, or NULL. */
enum status reader_detect(const struct reader_options *options, const struct input *input,
                          const struct decoder_format **format, struct failure *failure);

/* Returns the number of a line. Reads the file again to count lines that are not counted yet. */
uint64_t reader_find_line(const struct chunk_origin *origin);

#endif
