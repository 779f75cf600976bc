/*
 * Sorted runs: temporary files with one row per key, in ascending key order and in the in-memory
 * layout. They have no names, so the system frees them however the process ends.
 *
 * Thread-safe on distinct runs; table_run_read also on the same one.
 */
#ifndef GPUHIST_TABLE_RUNS_H
#define GPUHIST_TABLE_RUNS_H

#include "lib/table.h"

struct stage;

/* A run. The rows have the layout of the table. */
struct table_run {
    int fd; /* owned; -1: there is no file */
    uint64_t rows;
    const char *directory; /* not owned */
};

/*
 * Creates an empty run in a directory. Fails with STATUS_DATA. The caller destroys the run, also
 * after a failure.
 */
enum status table_run_create(struct table_run *run, const char *directory, struct failure *failure);

/* Appends rows, whose keys are above all earlier ones. Fails with STATUS_DATA, as on a full disk.
 */
enum status table_run_append(struct table_run *run, const struct table_layout *layout,
                             const uint64_t *rows, size_t n, struct failure *failure);

/* Reads rows [first, first + n) of the run to rows[0..n). On failure returns false and sets errno.
 */
bool table_run_read(const struct table_run *run, const struct table_layout *layout, uint64_t first,
                    uint64_t *rows, size_t n);

/*
 * Fails with STATUS_DATA: "cannot WHAT a temporary file of counts in DIRECTORY", and the reason in
 * errno.
 */
enum status table_run_fail(const struct table_run *run, const char *what, struct failure *failure);

/* Closes the file. */
void table_run_destroy(struct table_run *run);

/* Maximum number of runs that are merged at once. */
#define TABLE_RUNS_MAX 32

/*
 * Merges runs[0..n), 0 < n <= TABLE_RUNS_MAX, into one run, and rows of equal keys into one row.
 * Stores the run in *merged, which the caller destroys, and destroys runs[0..n). Reports the rows
 * read to the stage unless it is NULL. Fails with STATUS_DATA, also on overflow; the runs then
 * remain, and there is no *merged.
 */
enum status table_runs_merge(struct table_run *runs, size_t n, const struct table_layout *layout,
                             const char *directory, struct stage *stage, struct table_run *merged,
                             struct failure *failure);

#endif
