/*
 * Runs: files of entries in ascending order of distinct keys. They have no names, so that nothing
 * is left of them however the process ends.
 *
 * A run is a sequence of blocks of TABLE_RUN_ENTRIES entries, the last of which may have fewer. Of
 * each entry a block has the difference of its key to the key before and its count, as unsigned
 * LEB128, compressed by zstd. The places of the blocks are kept in memory.
 *
 * Thread-safe on distinct runs; table_run_read also on the same one.
 */
#ifndef GPUHIST_TABLE_RUNS_H
#define GPUHIST_TABLE_RUNS_H

#include "table/table.h"

#define TABLE_RUN_ENTRIES ((size_t)1024)

/* A run. Zero-initialised, it is none. */
struct table_run {
    int fd;
    uint64_t entries;
    uint64_t bytes;
    uint64_t
        *places; /* [blocks + 1]: where each block begins in the file, and where the last ends */
    size_t room; /* of places */
};

/* Writes a run. */
struct table_run_writer;

/* Begins a run in that directory. Fails with STATUS_DATA. The caller closes the writer. */
enum status table_run_writer_open(struct table_run_writer **writer, const char *directory,
                                  struct failure *failure);

/* Appends entries, whose keys are above all before. Fails with STATUS_DATA, as on a full disk. */
enum status table_run_write(struct table_run_writer *writer, const struct table_entry *entries,
                            size_t n, struct failure *failure);

/* Completes the run and stores it in *run, which the caller destroys. Fails likewise. */
enum status table_run_writer_finish(struct table_run_writer *writer, struct table_run *run,
                                    struct failure *failure);

/* Frees the writer, and the run if it was not finished. NULL is allowed. */
void table_run_writer_close(struct table_run_writer *writer);

/*
 * Reads block `block` to entries[0..TABLE_RUN_ENTRIES). Stores the number of its entries, 0 after
 * the last block. Fails with STATUS_DATA.
 */
enum status table_run_read(const struct table_run *run, size_t block, struct table_entry *entries,
                           size_t *n, struct failure *failure);

/* Closes the file and frees what the run holds. */
void table_run_destroy(struct table_run *run);

/*
 * Merges runs[0..n) into one, adding the counts of equal keys. Stores it in *merged, which the
 * caller destroys, and destroys runs[0..n). Fails with STATUS_DATA, also if a sum does not fit in
 * 64 bits; the runs then remain, and the caller destroys them.
 */
enum status table_runs_merge(struct table_run *runs, size_t n, const char *directory,
                             struct table_run *merged, struct failure *failure);

#endif
