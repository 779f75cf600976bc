/*
 * States: what a run has counted, in a file, so that other runs can go on from there. This is the
 * container and its primitives; what stands in it is made by state_job.h.
 *
 * A state is one frame of zstd (RFC 8878) with a checksum of its content, which is
 *
 *     gpuhist state 1        the version of the format
 *     KEY TAB VALUE          any number of lines: the definition (definition.h)
 *                            an empty line
 *     numbers                what the definition's operation has to say
 *
 * Numbers are unsigned LEB128: seven bits a byte, the lowest first, the highest bit set in all
 * bytes but the last; none is longer than it must be. Rows of a histogram, in ascending order, are
 * a count above 0 and the number of bins skipped since the row before (of the first: since bin 0);
 * a count of 0 ends them. Any number of states may stand in a file, one behind another.
 *
 * What is read may be anything: it is checked, and never believed. Thread-safe on distinct readers
 * and writers.
 */
#ifndef GPUHIST_STATE_H
#define GPUHIST_STATE_H

#include "base/status.h"
#include "operations/definition.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer;

struct state_row {
    unsigned __int128 bin;
    uint64_t count; /* 0: no row, but the end of them */
};

/* Writes one state. */
struct state_writer;

/*
 * Begins a state in `writer`, which stays the caller's and keeps its errors. Fails with STATUS_DATA
 * if there is no memory. The caller closes it.
 */
enum status state_writer_open(struct state_writer **state, struct writer *writer,
                              struct failure *failure);

/* Writes the definition; then, as often as need be, a number or a row, up to one of count 0. */
void state_write_definition(struct state_writer *state, const struct definition *definition);
void state_write_number(struct state_writer *state, unsigned __int128 number);
void state_write_row(struct state_writer *state, const struct state_row *row);

/* Completes the state. Fails with STATUS_DATA if it could not be made. */
enum status state_writer_finish(struct state_writer *state, struct failure *failure);

/* NULL is allowed. */
void state_writer_close(struct state_writer *state);

/* Reads the states of a file, one after another. */
struct state_reader;

/*
 * Opens the file `name`, "-" being standard input; the name must live as long. Fails with
 * STATUS_DATA. The caller closes it.
 */
enum status state_reader_open(struct state_reader **state, const char *name,
                              struct failure *failure);

/* NULL is allowed. */
void state_reader_close(struct state_reader *state);

/* The file's name, as messages say it. */
const char *state_reader_name(const struct state_reader *state);

/*
 * Begins the next state and reads its definition into one of zeros; *found is false if there is
 * none, which is an error of the first. All that read fail with STATUS_DATA if the file cannot be
 * read, is no state, is damaged or of a newer version, or if there is no memory.
 */
enum status state_read_definition(struct state_reader *state, struct definition *definition,
                                  bool *found, struct failure *failure);
enum status state_read_number(struct state_reader *state, uint64_t *number,
                              struct failure *failure);
enum status state_read_number_128(struct state_reader *state, unsigned __int128 *number,
                                  struct failure *failure);

/* Reads a row, or the end of them. Bin numbers are in ascending order, and below `bins`. */
enum status state_read_row(struct state_reader *state, unsigned __int128 bins,
                           struct state_row *row, struct failure *failure);

/* Ends the state, of which nothing may be left, and verifies its checksum. */
enum status state_read_end(struct state_reader *state, struct failure *failure);

/* Fails with STATUS_DATA: the file is damaged, `what` is wrong. */
enum status state_fail_damaged(const struct state_reader *state, const char *what,
                               struct failure *failure);

#endif
