/*
 * State files: the aggregate of a run, which later runs continue or merge.
 *
 * A state is one zstd frame (RFC 8878) with a checksum. It contains
 *
 *     gpuhist state 5        the version of the format
 *     OPERATION OPTION...    the options that define the plan (`line` of plan.h)
 *     numbers                the number of elements, or the sum of their weights; then the numbers
 *                            that the operation saves
 *
 * States of equal lines can be merged. A state does not say whether the input was text or binary,
 * nor its byte order.
 *
 * Numbers are unsigned LEB128: seven bits per byte, the lowest first; the highest bit is set in all
 * bytes but the last; each is as short as possible. Counts of bins are written as runs of adjacent
 * bins, in ascending order: the number of bins in the run, the number of bins skipped since the run
 * before (since bin 0 for the first), and the count of each bin. The first and the last count are
 * above 0; others may be 0, which is shorter than a new run if few bins are empty. A run of 0 bins
 * is the end. A file may have any number of states, one after another.
 *
 * Files are not trusted: everything that is read is checked. Functions are thread-safe on distinct
 * readers and writers.
 */
#ifndef GPUHIST_STATE_H
#define GPUHIST_STATE_H

#include "lib/status.h"
#include "value/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer;

/* Maximum number of bins of a run. */
#define STATE_RUN_BINS 1024

/* The counts of adjacent bins. */
struct state_run {
    unsigned __int128 bin; /* the number of the first bin */
    size_t n;              /* number of bins; 0: the end of the runs */
    uint64_t counts[STATE_RUN_BINS];
};

/* Writes one state. */
struct state_writer;

/*
 * Begins a state with that line of options in `writer`, which keeps write errors. Fails with
 * STATUS_DATA if there is no memory. The caller closes the state.
 */
enum status state_writer_open(struct state_writer **state, struct writer *writer, const char *line,
                              struct failure *failure);

/* Writes a number. */
void state_write_number(struct state_writer *state, unsigned __int128 number);

/*
 * Write the counts, above 0, of bins in ascending order, and after the last count the end of the
 * runs. No number may be written between them.
 */
void state_write_row(struct state_writer *state, unsigned __int128 bin, uint64_t count);
void state_write_rows_end(struct state_writer *state);

/* Completes the state if `status` is STATUS_OK, and frees it. Returns the status or fails. */
enum status state_writer_close(struct state_writer *state, enum status status,
                               struct failure *failure);

/* Reads the states of a file, or of memory, one after another. */
struct state_reader;

/*
 * Opens the file `name`; "-" is standard input. The name must outlive the reader. Fails with
 * STATUS_DATA. The caller closes the reader.
 */
enum status state_reader_open(struct state_reader **state, const char *name,
                              struct failure *failure);

/*
 * Like state_reader_open, but for states in memory; `name` is for messages. state_reader_feed gives
 * it the next state: data[0..bytes), which must live until the state is read to its end.
 */
enum status state_reader_open_memory(struct state_reader **state, const char *name,
                                     struct failure *failure);
void state_reader_feed(struct state_reader *state, const void *data, size_t bytes);

/* Closes the file and frees the reader. NULL is allowed. */
void state_reader_close(struct state_reader *state);

/* Returns the name of the file for messages. */
const char *state_reader_name(const struct state_reader *state);

/*
 * Begins the next state and stores its line of options, which is not checked. The caller frees the
 * line, also after a failure. NULL: there are no more states; a file without any is an error. This
 * and the functions below fail with STATUS_DATA if the file cannot be read, is not a state, is
 * corrupt, has another version, or if there is no memory.
 */
enum status state_read_options(struct state_reader *state, char **line, struct failure *failure);

/* Read a number of 64 or of 128 bits. */
enum status state_read_number(struct state_reader *state, uint64_t *number,
                              struct failure *failure);
enum status state_read_number_128(struct state_reader *state, unsigned __int128 *number,
                                  struct failure *failure);

/*
 * Read a count, or the next run of counts, whose bins must be below `bins`, and subtract the counts
 * from *left, the number of elements not yet counted. Fail if that were less than 0. At the end of
 * the runs, run->n is 0; *left must then be 0.
 */
enum status state_read_count(struct state_reader *state, uint64_t *count, uint64_t *left,
                             struct failure *failure);
enum status state_read_run(struct state_reader *state, unsigned __int128 bins, uint64_t *left,
                           struct state_run *run, struct failure *failure);

/* Checks that the state ends here, and its checksum. */
enum status state_read_end(struct state_reader *state, struct failure *failure);

/* Fails with STATUS_DATA and the message that the file is corrupt; `what` says how. */
enum status state_fail_damaged(const struct state_reader *state, const char *what,
                               struct failure *failure);

/*
 * Writes the finalized aggregate of a plan, with that line of options, to `writer`, which keeps
 * write errors. Files need the line of the plan; states only for this run may have any line. Fails
 * with STATUS_DATA if there is no memory, or if the aggregate cannot be read; the output is then
 * not a valid state. No other thread may use the aggregate.
 */
enum status state_save(struct writer *writer, const char *line, const struct plan *plan,
                       const void *aggregate, struct failure *failure);

/*
 * Reads the rest of a state, whose line is that of the plan, and merges it into the aggregate; adds
 * its elements to *elements. Also fails if *elements would be 2^64 or more. After a failure, the
 * aggregate has no result. Thread-safe on distinct readers, also for one aggregate.
 */
enum status state_load(struct state_reader *state, const struct plan *plan, void *aggregate,
                       uint64_t *elements, struct failure *failure);

#endif
