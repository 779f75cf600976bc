/*
 * The source presents all inputs as one stream of bytes. Any number of threads pull chunks from it.
 *
 * A thread claims a range of a regular file under a lock, and then reads it in parallel with
 * others. Other inputs are read under the lock, directly into the buffer of the thread that pulls.
 * Chunks have whole records: the start of a record that does not fit in a buffer begins the next
 * chunk. A binary element may extend from one file to the next. Comments in chunks are blank.
 *
 * Ranges end at newlines. In CSV, that newline may be inside quotes. The row then belongs to the
 * range in which it begins: its thread reads beyond the end, and the threads of later ranges skip
 * these bytes. Each thread scans its range for quotes once, as if a row began with it, and passes
 * the state at its end to the thread of the next range, which scans again if it begins between
 * quotes. Thus threads wait only for scans, not for counting.
 */
#ifndef GPUHIST_SOURCE_H
#define GPUHIST_SOURCE_H

#include "input/record.h"
#include "lib/decoder.h"
#include "lib/status.h"
#include "value/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;

/* Minimum capacity of buffers for text. */
#define SOURCE_TEXT_CAPACITY_MIN ((size_t)4096)

/* Size of a buffer for a note on how the input is read, and a NUL. */
#define SOURCE_NOTE_SIZE 512

/* A size that is unknown before the end. */
#define SOURCE_SIZE_UNKNOWN UINT64_MAX

/* How inputs are read. All 0: without changes. */
struct source_options {
    unsigned kinds;        /* for decoder_detect: decode compressed files, and reject unsupported
                              file types, by their first bytes or those they decompress to */
    uint64_t memory_limit; /* for decoder_open */
    bool holds_frames;     /* return the contents of a frame of up to 16 MiB only after its
                              checksum is verified; of a larger one, after 16 MiB are decoded */
    enum text_row_end row_end; /* the ends of rows; TEXT_ENDS_LF: CR if the first block has no LF */
};

/*
 * Opens the stream of names[0..count); "-" is standard input. The names must outlive the source.
 * Checks every file now, and opens it when its turn comes: fails with STATUS_DATA if one is
 * missing, unreadable or a directory. The caller closes the source.
 */
enum status source_open(struct source **source, char *const *names, size_t count,
                        const struct source_options *options, struct failure *failure);

/*
 * Reads the first block of the first file that is not empty (reader_look), and stores in *is_text
 * whether it is text (text_is_text); true if all files are empty. If the default format may be
 * wrong for this block (first_block.h), writes a note about that; else an empty note. After
 * source_set_format for text with a delimiter, it reads only the first file, which is text, and the
 * note is about that delimiter. Fails with STATUS_DATA if no byte of a file can be read or decoded,
 * or if the block is text in an unsupported encoding (text_find_encoding).
 */
enum status source_look(struct source *source, bool *is_text, char note[SOURCE_NOTE_SIZE],
                        struct failure *failure);

/*
 * Copies the first 64 KiB of decoded text of the first file that is not empty, as whole rows, to a
 * file in memory; at a pipe, waits for them or its end. The caller closes *copy, also after a
 * failure, when it may be -1. Fails with STATUS_DATA. Called before the first pull.
 */
enum status source_copy_first(struct source *source, int *copy, struct failure *failure);

/*
 * Reads the start of the first file, and stores whether it is a NumPy array, the array's header,
 * and the name of the file. Fails with STATUS_DATA if the array is unsupported, or like
 * source_look. Called before source_look.
 */
enum status source_look_array(struct source *source, struct npy *array, bool *is_array,
                              const char **name, struct failure *failure);

/*
 * Sets the format of chunks; the default is bytes. `divides` allows several threads to decode
 * compressed files in parallel, if all inputs are regular files: chunks then have any order, all
 * with sequence 0; their positions are in stream order, with gaps (source_needs_order). `threads`
 * threads may pull: several decode one gzip file that is a large part of the input, in order
 * (gzip_group.h). Called once, before the first pull.
 */
void source_set_format(struct source *source, const struct record_format *format, bool divides,
                       unsigned threads);

/*
 * Starts again: replaces *source by a source of the same inputs with the same settings, at its
 * start. No pull may be in progress. Fails with STATUS_DATA unless all inputs are regular files
 * whose identity, size and modification time have not changed. *source is then unchanged, or closed
 * and NULL.
 */
enum status source_repeat(struct source **source, struct failure *failure);

/* Closes a source. No pull may be in progress. NULL is allowed. */
void source_close(struct source *source);

/*
 * Reads all of the file `name`, or of standard input if that is "-", and hands each piece to
 * `take`, which ends the reading if it fails. Fails with STATUS_DATA if the file cannot be read.
 * Thread-safe, but for standard input.
 */
typedef enum status source_take(void *context, const char *data, size_t bytes,
                                struct failure *failure);
enum status source_read_file(const char *name, source_take *take, void *context,
                             struct failure *failure);

/*
 * Waits until another thread is useful, and returns true; returns false if the input ends before.
 * Every thread calls it once before its first pull. No thread waits if ranges of a file can be read
 * in parallel. For a pipe, another thread is useful if nobody reads the pipe for more than a tenth
 * of the time, or two fifths if no CPU is to spare. For compressed input, another thread is useful
 * for each part that nobody has begun, and while chunks wait in the relay (relay.h). Thread-safe.
 */
bool source_join(struct source *source);

/* A thread that has joined stops pulling before the end; another may join instead. Thread-safe. */
void source_leave(struct source *source);

/*
 * Fills the buffer with the next chunk. Its capacity is at least one element, or
 * SOURCE_TEXT_CAPACITY_MIN for text; it may differ from call to call. The buffer grows if a row is
 * longer. Waits for the first whole record. Returns when the buffer is full, when nothing more
 * arrives for INPUT_PAUSE_MS (reader.h), or, if it had to wait, 20 ms after it began; it may also
 * return at the end of a file. At the end of the input, or after source_stop, chunk->bytes is 0.
 * The caller owns the buffer; chunk->data points to it.
 *
 * Fails with STATUS_DATA on an I/O error, if a file shrinks, and if the stream ends within an
 * element. *chunk then has the data before the fault, possibly none, with is_cut set, and the
 * source is stopped. Thread-safe.
 */
enum status source_pull(struct source *source, struct chunk_buffer *buffer, struct chunk *chunk,
                        struct failure *failure);

/* Like source_pull, but if that would wait, does nothing and sets *pulled to false. */
enum status source_try_pull(struct source *source, struct chunk_buffer *buffer, struct chunk *chunk,
                            bool *pulled, struct failure *failure);

/*
 * Ends the stream at a position, or at once if it is 0. Pulls in progress and later pulls see the
 * end of the input when all remaining input is after the position. Thread-safe.
 */
void source_stop(struct source *source, uint64_t position);

/*
 * Returns whether a pull has failed because divided files must be read in order
 * (parts_needs_order). All input read so far must be discarded; after source_repeat the source
 * reads in order. Thread-safe.
 */
bool source_needs_order(const struct source *source);

/* Sizes found by source_open; SOURCE_SIZE_UNKNOWN unless all inputs are regular files. */
struct source_sizes {
    uint64_t stream; /* length of the stream; SOURCE_SIZE_UNKNOWN also if a file is compressed */
    uint64_t files;  /* the sum of the file sizes, compressed or not */
};
struct source_sizes source_sizes(const struct source *source);

/* The progress of reading. */
struct source_progress {
    uint64_t file_bytes; /* number of bytes read so far, of source_sizes.files */
    bool is_decoding;    /* compressed input has been found */
    bool is_unread;      /* at the last measurement, nobody read the pipe for so long that another
                            thread would be useful: the threads that pull cannot keep up */
};

/* Returns the progress of reading. Thread-safe. */
struct source_progress source_progress(const struct source *source);

/*
 * Returns the name of the first file whose header has tabs between its names, so that tabs separate
 * its fields although the format has no delimiter; NULL if there was none so far. Thread-safe.
 */
const char *source_tabbed_file(const struct source *source);

/*
 * Like record_copy_name, for the header of the first input; stores NULL also if no header was read.
 * Returns false if there is no memory. Thread-safe.
 */
bool source_copy_name(const struct source *source, int32_t field, char **name);

/*
 * After the last pull of a run: checks that the workers have counted all bytes read, in chunks. A
 * failure, with STATUS_DATA, is a bug. Not thread-safe.
 */
enum status source_check(const struct source *source, uint64_t counted, struct failure *failure);

/* Returns the number of bytes pulled so far. Not thread-safe. */
uint64_t source_position(const struct source *source);

#endif
