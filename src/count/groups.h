/*
 * The partial of reduce and count with --by: for each different value of another column, the
 * *group*, what reduce or count computes. It is a table (table.h) whose keys are the groups and
 * whose rows groups_row.h describes. The key of a group (element.h) is XORed with `flip`, so that
 * keys in ascending order are groups in ascending order.
 */
#ifndef GPUHIST_GROUPS_H
#define GPUHIST_GROUPS_H

#include "base/status.h"
#include "count/groups_row.h"
#include "table/table.h"

/* Constant but for the table and the buffer. */
struct groups {
    const struct job *job;
    struct groups_layout *layout;
    struct table *table;
    uint64_t flip;
    uint64_t *buffer; /* for a row, of the one thread that saves the partial */
};

/* Create, finish and destroy a struct groups, as operation.h says. The job must outlive it. */
void *groups_create(const struct job *job, struct failure *failure);
enum status groups_finish(void *groups, const struct job *job, uint64_t elements,
                          struct failure *failure);
void groups_destroy(void *groups);

/*
 * Returns the row of group i, in ascending order, of a finished partial: in memory, or in `buffer`,
 * of the layout's words. Thread-safe. groups_check tells of a row that could not be read.
 */
static inline const uint64_t *groups_row(const struct groups *groups, size_t i, uint64_t *buffer)
{
    return table_row(groups->table, i, buffer);
}

/* The key (element.h) of the group of a row. */
static inline uint64_t groups_key(const struct groups *groups, const uint64_t *row)
{
    return row[GROUPS_ROW_KEY] ^ groups->flip;
}

/* Fails with STATUS_DATA if a row could not be read. */
enum status groups_check(const struct groups *groups, struct failure *failure);

#endif
