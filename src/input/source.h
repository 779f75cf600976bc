/*
 * The source presents all inputs as one stream of bytes. Any number of threads pull chunks from it.
 *
 * A thread claims a range of a regular file under a lock, and then reads it in parallel with
 * others. Other inputs are read under the lock, directly into the buffer of the thread that pulls.
 * Chunks hold whole records: the beginning of one that does not fit in a buffer opens the next
 * chunk. A binary element may extend from one file to the next. Comments in chunks are blank.
 *
 * Ranges end at newlines. In CSV, that newline may be inside quotes. The row then belongs to the
 * range in which it begins: its thread reads on beyond the end, and the threads of later ranges
 * skip these bytes. Each thread scans its range for quotes once, for a row that begins with it, and
 * hands the state at its end to the thread of the next range, which scans again if it begins
 * between quotes. So threads wait only for scans, not for counting.
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

/* The minimum capacity of buffers for text. */
#define SOURCE_TEXT_CAPACITY_MIN ((size_t)4096)

/* Room for a note on how the input is read, and a NUL. */
#define SOURCE_NOTE_SIZE 512

/* A size that cannot be known before the end. */
#define SOURCE_SIZE_UNKNOWN UINT64_MAX

/* How inputs are read. All 0: as they are. */
struct source_options {
    unsigned kinds;            /* of decoder_detect: files whose first bytes show that they are
                                  compressed are decoded; those that are refused are errors,
                                  compressed or not */
    uint64_t memory_limit;     /* of decoder_open */
    bool holds_frames;         /* the contents of a frame of up to 16 MiB are held back until its
                                  checksum is verified; of a larger one, until 16 MiB are decoded */
    enum text_row_end row_end; /* TEXT_ENDS_LF: or TEXT_ENDS_CR, as the first block shows */
};

/*
 * Opens the stream of names[0..count), "-" being standard input. The names must live as long as the
 * source. Every file is looked at now and opened when its turn comes: fails with STATUS_DATA if one
 * is missing, unreadable or a directory. The caller closes it.
 */
enum status source_open(struct source **source, char *const *names, size_t count,
                        const struct source_options *options, struct failure *failure);

/*
 * Reads the first block of the first file that is not empty (reader_look), and stores in *is_text
 * whether it is text (text_is_text); true if all files are empty. If the default way of reading
 * may be wrong for this block (first_block.h), writes a note that says so; else an empty note.
 * After source_set_format with text that has a delimiter, it looks at the first file only, which is
 * text, and the note is about that delimiter. Fails with STATUS_DATA if no byte of a file can be
 * read or decoded, or if the block is text in an encoding that is not supported
 * (text_find_encoding).
 */
enum status source_look(struct source *source, bool *is_text, char note[SOURCE_NOTE_SIZE],
                        struct failure *failure);

/*
 * Copies the first 64 KiB of text of the first file that is not empty, as whole rows, decoded, to a
 * file in memory; of a pipe it waits for them or its end. The caller closes *copy, also after a
 * failure, when it may be -1. Fails with STATUS_DATA. Called before the first pull.
 */
enum status source_copy_first(struct source *source, int *copy, struct failure *failure);

/*
 * Reads the beginning of the first file, and stores whether it is an array of NumPy, which one, and
 * the name of the file. Fails with STATUS_DATA if an array is not supported, as source_look does
 * otherwise. Called before source_look.
 */
enum status source_look_array(struct source *source, struct npy *array, bool *is_array,
                              const char **name, struct failure *failure);

/*
 * Sets what chunks consist of, if not of bytes. `divides` allows several threads to decode
 * compressed files in parallel, if all inputs are regular files: chunks then come in any order, all
 * with sequence 0; their positions are in the order of the stream, with gaps (source_needs_order).
 * `threads` may pull: several decode one gzip file that has a large share of the input, in order
 * (gzip_group.h). Called once, before the first pull.
 */
void source_set_format(struct source *source, const struct record_format *format, bool divides,
                       unsigned threads);

/*
 * Starts again: replaces *source by a source of the same inputs with the same settings, at the
 * beginning. No pull may be in progress. Fails with STATUS_DATA unless all inputs are regular files
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
 * Waits until another thread is of use, and returns true; returns false if the input ends before.
 * Every thread calls it once before its first pull. None waits if ranges of a file can be read in
 * parallel. For a pipe, another thread is of use whenever the pipe goes unread for more than a
 * tenth of the time, or two fifths if no processor is to spare. For compressed input, one is for
 * each part that nobody has begun, and while chunks wait that were handed over (relay.h).
 * Thread-safe.
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
 * element. *chunk then is what precedes the fault, possibly nothing, with is_cut set, and the
 * source is stopped. Thread-safe.
 */
enum status source_pull(struct source *source, struct chunk_buffer *buffer, struct chunk *chunk,
                        struct failure *failure);

/* As source_pull; but if that would wait, it does nothing and sets *pulled to false. */
enum status source_try_pull(struct source *source, struct chunk_buffer *buffer, struct chunk *chunk,
                            bool *pulled, struct failure *failure);

/*
 * Ends the stream at a position, or at once if it is 0. Pulls in progress and later pulls see the
 * end of the input when all that is left is after the position. Thread-safe.
 */
void source_stop(struct source *source, uint64_t position);

/*
 * Returns whether a pull has failed because divided files have to be read in order
 * (parts_needs_order). All that was read must be discarded; after source_repeat the source reads in
 * order. Thread-safe.
 */
bool source_needs_order(const struct source *source);

/* What source_open has found; SOURCE_SIZE_UNKNOWN unless all inputs are regular files. */
struct source_sizes {
    uint64_t stream; /* its length; SOURCE_SIZE_UNKNOWN also if a file is compressed */
    uint64_t files;  /* the sum of their sizes as they are */
};
struct source_sizes source_sizes(const struct source *source);

/* How far reading is. */
struct source_progress {
    uint64_t file_bytes; /* read so far, of source_sizes' `files` */
    bool is_decoding;    /* compressed input has been found */
    bool is_unread;      /* a pipe went unread for so long when that was last measured that another
                            thread would be of use: those that pull cannot keep up with it */
};

/* Returns it. Thread-safe. */
struct source_progress source_progress(const struct source *source);

/*
 * Returns the name of the first file whose header has tabs between its names, by which its lines
 * are separated though the format has no delimiter; NULL if there was none so far. Thread-safe.
 */
const char *source_tabbed_file(const struct source *source);

/*
 * Stores the name that the header of the first input has for the field with this number, as
 * record_copy_name does; NULL also if no header was read. Returns false if there is no memory.
 * Thread-safe.
 */
bool source_copy_name(const struct source *source, int32_t field, char **name);

/*
 * After the last pull of a run: checks that the workers have counted as many bytes, in chunks, as
 * were read. A failure, with STATUS_DATA, is a bug. Not thread-safe.
 */
enum status source_check(const struct source *source, uint64_t counted, struct failure *failure);

/* How many bytes have been pulled so far. Not thread-safe. */
uint64_t source_position(const struct source *source);

#endif
