/*
 * Runs: files of rows in ascending order of distinct keys. They have no names, so that nothing is
 * left of them however the process ends.
 *
 * A run is a sequence of blocks of table_run_rows rows, the last of which may have fewer. Of each
 * row a block has numbers, as unsigned LEB128, compressed by zstd: for each word of the key the
 * difference to that of the row before, as long as the words in front of it are equal, else the
 * word itself; and then the other words. The offsets of the blocks are kept in memory.
 *
 * Thread-safe on distinct runs; table_run_read also on the same one.
 */
#ifndef GPUHIST_TABLE_RUNS_H
#define GPUHIST_TABLE_RUNS_H

#include "table/table.h"

/* The words of a block, if a row has not more. */
#define TABLE_RUN_WORDS ((size_t)2048)

/* The rows of a block. Pure. */
static inline size_t table_run_rows(const struct table_layout *layout)
{
    return layout->words < TABLE_RUN_WORDS ? TABLE_RUN_WORDS / layout->words : 1;
}

/* A run. Zero-initialised, it is none. */
struct table_run {
    const struct table_layout *layout; /* of the table, which outlives the run */
    int fd;
    uint64_t rows;
    uint64_t bytes;
    uint64_t *offsets; /* [blocks + 1]: where each block begins in the file, and the last ends */
    size_t capacity;   /* of offsets */
};

/* Writes a run. */
struct table_run_writer;

/* Begins a run in that directory. Fails with STATUS_DATA. The caller closes the writer. */
enum status table_run_writer_open(struct table_run_writer **writer,
                                  const struct table_layout *layout, const char *directory,
                                  struct failure *failure);

/* Appends rows, whose keys are above all before. Fails with STATUS_DATA, as on a full disk. */
enum status table_run_write(struct table_run_writer *writer, const void *rows, size_t n,
                            struct failure *failure);

/* Completes the run and stores it in *run, which the caller destroys. Fails likewise. */
enum status table_run_writer_finish(struct table_run_writer *writer, struct table_run *run,
                                    struct failure *failure);

/* Frees the writer, and the run if it was not finished. NULL is allowed. */
void table_run_writer_close(struct table_run_writer *writer);

/*
 * Reads block `block` to rows[0..table_run_rows). Stores the number of its rows, 0 after the last
 * block. Fails with STATUS_DATA.
 */
enum status table_run_read(const struct table_run *run, size_t block, void *rows, size_t *n,
                           struct failure *failure);

/* Closes the file and frees what the run holds. */
void table_run_destroy(struct table_run *run);

/*
 * Merges runs[0..n), n > 0, of one layout into one, and rows of equal keys into one. Stores it in
 * *merged, which the caller destroys, and destroys runs[0..n). Fails with STATUS_DATA, also if rows
 * do not fit; the runs then remain, and the caller destroys them.
 */
enum status table_runs_merge(struct table_run *runs, size_t n, const char *directory,
                             struct table_run *merged, struct failure *failure);

#endif
