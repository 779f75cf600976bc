/*
 * A store is the data structure in which a run counts. It does not know how results are printed,
 * and accumulators do not know stores. A store is a commutative monoid: its *aggregate* begins
 * empty, the workers of all engines accumulate chunks and merge them into it, and at the end it is
 * finalized; then its rows or values are read. Each store is a file, src/engine/store_<name>.c. The
 * CUDA engine has its own table of stores in cuda/, which a build without CUDA lacks; an operation
 * need not be in it.
 *
 * A filter instead writes its result while it runs (`connect`).
 *
 * Members that a store does not need are NULL, unless their comment says that all have them.
 * Statuses are STATUS_OK or STATUS_DATA, if not said otherwise.
 */
#ifndef GPUHIST_STORE_H
#define GPUHIST_STORE_H

#include "lib/status.h"
#include "value/chunk.h"
#include "value/context.h"
#include "value/plan.h"

#include <stdatomic.h>
#include <stddef.h>

struct reduce_values;
struct rows;
struct state_reader;
struct state_writer;
struct writer;

/* The approximate size of a device's result, which is merged into an aggregate. */
struct store_size {
    uint64_t counters; /* number of counters, which are added as arrays */
    uint64_t rows;     /* number of rows of tables */
};

/* The memory that a store needs. */
struct store_memory {
    bool has_table;    /* a table of rows, which grows */
    bool has_counters; /* arrays of counters, shared and per thread */
    uint64_t bins;     /* number of 64-bit counters of the shared array; 0: it grows */
};

struct store {
    /*
     * The aggregate. All stores have create, finalize and destroy.
     *
     * create: creates an empty aggregate, which all workers share. Returns NULL if there is not
     * enough memory. The caller destroys it; the plan must outlive it.
     *
     * finalize: checks that the aggregate has `elements` elements, the number read, and prepares it
     * for printing and saving: it is then *finalized*. If more is added later, it must be finalized
     * again. No thread may add meanwhile.
     *
     * destroy: frees an aggregate; NULL is allowed.
     *
     * memory: returns the memory of a plan's aggregates and local states. NULL: very little. Pure.
     *
     * size: returns the size of a device's result if it has counted the same values as the
     * aggregate so far. NULL: a few numbers. Thread-safe while threads add.
     */
    void *(*create)(const struct plan *plan, struct failure *failure);
    enum status (*finalize)(void *aggregate, const struct plan *plan, uint64_t elements,
                            struct failure *failure);
    void (*destroy)(void *aggregate);
    struct store_memory (*memory)(const struct plan *plan);
    struct store_size (*size)(const void *aggregate);
    /*
     * Only for a filter, which writes its result in stream order while it runs. connect: gives the
     * aggregate the writer of its result, and that of the dropped elements or NULL, before any
     * worker starts. stop: makes it write no more, and wakes all threads that wait for earlier
     * chunks. Thread-safe.
     */
    void (*connect)(void *aggregate, struct writer *result, struct writer *purged);
    void (*stop)(void *aggregate);

    /*
     * A local state has the counts of one CPU thread that are not yet merged into the aggregate.
     * All stores have local_bytes, local_open and local_accumulate. Calls for distinct local states
     * may run at the same time.
     *
     * local_open: initialises the state, local_bytes zeros, for `aggregate`. local_accumulate:
     * counts the elements of a chunk. The caller may then reuse the chunk's memory. local_merge:
     * merges the state into the aggregate; it may then accumulate more. local_close: frees the
     * state's memory, also after a failure of local_open.
     */
    size_t local_bytes;
    enum status (*local_open)(void *local, const struct plan *plan, void *aggregate,
                              struct failure *failure);
    enum status (*local_accumulate)(void *local, const struct chunk *chunk,
                                    struct failure *failure);
    enum status (*local_merge)(void *local, struct failure *failure);
    void (*local_close)(void *local);

    /*
     * State files (state.h). Both NULL: there is no --save and no merge.
     *
     * save: writes a finalized aggregate: the number of elements, and the input of `load`.
     *
     * load: reads a state after the number of elements, and merges it into the aggregate. Must
     * reject counts above `elements`. After a failure, part of the state may have been merged.
     * Thread-safe.
     */
    enum status (*save)(struct state_writer *state, const struct plan *plan, const void *aggregate,
                        struct failure *failure);
    enum status (*load)(struct state_reader *state, const struct plan *plan, void *aggregate,
                        uint64_t elements, struct failure *failure);

    /*
     * The result of a finalized aggregate (result/result.h). Without group columns it is that of
     * group 0.
     *
     * groups: returns the number of groups. NULL: there are no group columns.
     * elements: returns the number of values, or the sum of their weights. All stores but filters
     * have it.
     * rows: histogram and uniq: begins the rows (rows.h) of a group. The plan and the aggregate
     * must outlive them. values: reduce and count: stores the results of a group. `memory` has
     * values_words words (NULL: none) and must outlive them. Thread-safe on distinct memory. check:
     * fails with STATUS_DATA if a row could not be read meanwhile. NULL: never. stats: prints
     * statistics on stderr, for --stats.
     */
    uint64_t (*groups)(const void *aggregate);
    uint64_t (*elements)(const void *aggregate);
    void (*rows)(struct rows *rows, const struct plan *plan, const void *aggregate, uint64_t group,
                 bool zeros);
    void (*values)(struct reduce_values *values, const void *aggregate, uint64_t group,
                   uint64_t *memory);
    size_t (*values_words)(const void *aggregate);
    enum status (*check)(const void *aggregate, struct failure *failure);
    void (*stats)(const void *aggregate);
};

/* Return the store of a plan, and that of an operation on one column without groups. Pure. */
const struct store *store_of(const struct plan *plan);
const struct store *store_of_operation(enum operation_id operation);

/*
 * Opens a local state. The caller closes *local, also after a failure, when it may be NULL. The
 * plan and the aggregate must outlive it. Thread-safe.
 */
enum status store_open_local(const struct store *store, const struct plan *plan, void *aggregate,
                             void **local, struct failure *failure);

/* Closes a local state; NULL is allowed. Counts that are not merged are lost. */
void store_close_local(const struct store *store, void *local);

/* Fails with STATUS_DATA, which means a bug, unless `counted` equals `read`. Thread-safe. */
enum status store_check_elements(uint64_t read, uint64_t counted, struct failure *failure);

#endif
