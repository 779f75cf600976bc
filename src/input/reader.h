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
    INPUT_DATA,  /* bytes were read; if none, try again */
    INPUT_END,   /* the end of the input */
    INPUT_EMPTY, /* nothing to read at present, or `wake` became readable */
    INPUT_ERROR, /* an error, which is in *failure */
};

/* Memory to read to, and the result of a read. */
struct input_piece {
    char *data;
    size_t capacity; /* size of `data` in bytes, above 0 */
    bool wait;       /* wait for data without limit; else for INPUT_PAUSE_MS */
    bool has_waited; /* set if there was nothing to read at once */
    size_t bytes;    /* number of bytes read */
};

/* Shared by all readers of a source. */
struct reader_options {
    unsigned kinds; /* for decoder_detect: decode compressed input, reject unsupported file types */
    enum text_row_end row_end; /* the ends of rows; TEXT_ENDS_LF also means TEXT_ENDS_CR */
    uint64_t memory_limit;     /* for decoder_open */
    bool holds_frames;         /* return a frame only after its checksum is verified (see below) */
    int wake;                  /* a descriptor: once it is readable, no reader waits any longer */
    atomic_uint_least64_t *bytes_read; /* counts bytes read from files, before decoding; or NULL */
    atomic_size_t *tabbed; /* the lowest number of an input whose header has tabs while the rules
                              have no delimiter; or NULL */
    _Atomic(struct reader_header *) *header; /* receives the header of the first input, if *header
                                                is NULL; the caller frees it; or NULL */
};

/* The last header line of an input, without its end. */
struct reader_header {
    size_t bytes;
    char line[];
};

/* Bytes that were read before they are needed: data[begin..end). */
struct reader_ahead {
    char *data; /* [capacity], owned; NULL: never used */
    size_t begin;
    size_t end;
    size_t capacity;
};

/* Maximum size of a frame that is held back. Bytes beyond it are returned as they are decoded. */
#define READER_HELD_BYTES ((size_t)16 << 20)

/* Maximum length of a header line with names. */
#define READER_NAMES_BYTES ((size_t)1 << 20)

/* Number of bytes read ahead at a time: a first block to inspect, or compressed input. */
#define READER_AHEAD_BYTES ((size_t)64 << 10)

struct reader {
    const struct reader_options *options;
    struct input *input; /* the reader is one of its users */
    bool is_part;        /* reads input[next..limit) with pread; else at fd's file offset */
    off_t next;
    off_t limit;
    unsigned shift;                      /* see struct decoder_part */
    bool goes_on;                        /* it is not the file's last part */
    struct reader_ahead head;            /* bytes to read before the part */
    struct reader_ahead tail;            /* bytes to read after it; in the memory of `head` */
    const struct decoder_format *format; /* NULL: not compressed */
    bool is_detected;                    /* `format` is known */
    bool checks_content;                 /* the decoded data may have an unsupported type */
    bool has_ended;                      /* the file is at its end */
    struct decoder *decoder;             /* NULL: not opened yet */
    struct gzip_group *group;            /* decodes the file instead; not owned; or NULL */
    uint64_t worker_group_bytes;         /* number of bytes that the group has decoded */
    uint64_t repeated;                   /* bytes to skip after the group gave up */
    bool is_pending;                     /* the decoder may have more output without input */
    bool is_faulty;                      /* a fault follows the bytes decoded so far */
    struct failure fault;
    struct reader_ahead held;  /* a frame that is held back: the bytes that may be returned */
    size_t held_end;           /* the end of its decoded bytes */
    bool is_large;             /* the frame is longer than READER_HELD_BYTES */
    struct reader_ahead raw;   /* bytes read ahead, not decoded */
    struct reader_ahead plain; /* bytes read ahead and decoded */
    const struct record_format *records; /* describes the header; NULL: no header */
    struct text_rules *rules;            /* the file's rules, which the header completes */
    bool has_begun;                      /* the start of the text is read (reader_begin) */
    enum text_row_end row_end;           /* the ends of rows, replaced by newlines */
    bool checks_line_end;  /* text whose lines matter has no newline so far: if its first block has
                              none, carriage returns end its rows */
    bool checks_mark;      /* a byte order mark at the start is dropped */
    uint64_t skip_lines;   /* number of header lines still to skip */
    bool keeps_header;     /* the last header line is kept for options->header */
    uint64_t header_lines; /* number of lines skipped; the caller resets this and the next */
    uint64_t header_bytes; /* number of bytes skipped */
    bool has_array;        /* the input is an array */
    uint64_t columns_before; /* array: number of bytes to skip before its column */
    uint64_t left;           /* array: number of bytes to return */
    uint64_t columns_after;  /* array: number of bytes to skip after its column */
    uint64_t excess;         /* array: number of bytes after it, which are an error */
};

/*
 * Begins to read an input. The reader takes over the caller's use of it. `format` is the
 * compression format of a regular file, NULL if it is not compressed; the format of any other input
 * is detected by its first bytes. The options must outlive the reader. The caller closes it.
 */
void reader_open(struct reader *reader, const struct reader_options *options, struct input *input,
                 const struct decoder_format *format);

/* Like reader_open, for a regular file that a worker group has begun. It must outlive the reader.
 */
void reader_open_group(struct reader *reader, const struct reader_options *options,
                       struct input *input, const struct decoder_format *format,
                       struct gzip_group *group);

/* Like reader_open, for a part of a regular file. part->wrap must outlive the reader. */
void reader_open_part(struct reader *reader, const struct reader_options *options,
                      struct input *input, const struct decoder_format *format,
                      const struct decoder_part *part);

/*
 * Sets the number of header lines of the input, and the names of fields to look up in the last one.
 * Once the header is read (has_begun), the reader stores in *rules the numbers of these fields and
 * the separator of the header. Both arguments must outlive the reader, from which nothing was read,
 * except by reader_look.
 */
void reader_set_records(struct reader *reader, const struct record_format *records,
                        struct text_rules *rules);

/* Closes an open reader: frees its memory and decoder, and ends its use of the input. */
void reader_close(struct reader *reader);

/* Replaces the ends of rows by newlines, in text that no reader has read. */
void reader_end_rows(enum text_row_end row_end, char *data, size_t bytes);

/*
 * Reads ahead until it knows how the first line ends, and removes a byte order mark and the header;
 * reader_read does the same. Uses `wait` of the piece, and sets `has_waited`. Returns INPUT_DATA
 * when that is done, INPUT_END if a part ends before the header does, and otherwise the result of
 * reader_read.
 */
enum input_event reader_begin(struct reader *reader, struct input_piece *piece,
                              struct failure *failure);

/*
 * Reads the next piece, up to its capacity. Stops waiting when the descriptor options->wake becomes
 * readable. With INPUT_DATA, the piece may be empty. With INPUT_ERROR, *failure is set; the bytes
 * before a fault are returned first, as far as they can be decoded. Errors are a header that lacks
 * the name of a field, has it more than once, or has a quote that is never closed; and an array
 * that differs from that of the format, or whose data are shorter or longer than its header says.
 * If the header does not end in a part other than the last, skip_lines is above 0 at the part's
 * end.
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
 * Reads ahead until it knows whether the input begins with a NumPy array, and stores its header.
 * reader_read then returns the same bytes. Returns INPUT_DATA in both cases, INPUT_END if the input
 * is empty, and otherwise the result of reader_read. An unsupported array is an error.
 */
enum input_event reader_look_array(struct reader *reader, struct input_piece *piece,
                                   struct npy *array, bool *is_array, struct failure *failure);

/* Stores the format of a regular file that the options decode or reject, or NULL. */
enum status reader_detect(const struct reader_options *options, const struct input *input,
                          const struct decoder_format **format, struct failure *failure);

/* Returns the line number of a place. Reads the file again to count the lines before it. */
uint64_t reader_find_line(const struct chunk_origin *origin);

#endif
