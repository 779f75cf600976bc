/*
 * Makes blocks of elements, with their weights and groups, from a CPU worker's chunks of text or
 * records. The operation accumulates each block while it is in the cache.
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
 * Creates the memory for blocks of a plan's rows. Local states of `store` (store.h), the plan's own
 * or another, accumulate them. Returns NULL if there is not enough memory. The caller destroys it;
 * the plan and the store must outlive it.
 */
struct cpu_rows *cpu_rows_create(const struct plan *plan, const struct store *store);

/* Frees the memory. */
void cpu_rows_destroy(struct cpu_rows *rows);

/*
 * Parses or gathers the rows of a chunk, and has `local` accumulate them; an ordered operation
 * accumulates all elements of a chunk at once. Fails with STATUS_DATA if the operation fails, on an
 * invalid token if these end the run, on an invalid weight, or if there is no memory. It reports
 * the failure that is first in the stream.
 */
enum status cpu_rows_accumulate(struct cpu_rows *rows, void *local, const struct chunk *chunk,
                                struct failure *failure);

#endif
