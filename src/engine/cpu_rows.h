/*
 * What a CPU worker makes of chunks of text or records: blocks of elements with their weights and
 * groups, which the operation accumulates while they are in the cache.
 *
 * Not thread-safe; each worker has its own.
 */
#ifndef GPUHIST_CPU_ROWS_H
#define GPUHIST_CPU_ROWS_H

#include "lib/status.h"
#include "value/chunk.h"
#include "value/plan.h"

struct cpu_rows;
struct store;

/*
 * Makes the memory for blocks of a plan's rows, which local states of an operation (store.h)
 * accumulate: of the plan's, or of one that does something else with them. Returns NULL if there is
 * not enough. The caller destroys it; the plan and the operation must outlive it.
 */
struct cpu_rows *cpu_rows_create(const struct plan *plan, const struct store *store);

/* Frees it. */
void cpu_rows_destroy(struct cpu_rows *rows);

/*
 * Parses or gathers the rows of a chunk, and has `local` accumulate them; an ordered operation
 * accumulates all elements of a chunk at once. Fails with STATUS_DATA: as the operation does, for
 * an invalid token if these end the run, for a weight that is none, or if there is no memory. The
 * failure that comes first in the stream is reported.
 */
enum status cpu_rows_accumulate(struct cpu_rows *rows, void *local, const struct chunk *chunk,
                                struct failure *failure);

#endif
