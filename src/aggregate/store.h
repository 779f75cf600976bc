/*
 * A store: where a run counts, and how. It knows nothing of what is printed, and an accumulator
 * knows nothing of it. A store is a commutative monoid: its *aggregate* begins empty, the workers
 * of all engines accumulate chunks and merge them into it, and at the end it is finalized; then its
 * rows or values are read. Each is a file, src/engine/store_<name>.c. What the CUDA engine does for
 * an operation is in cuda/, which has a table of its own: it is missing in a build without CUDA,
 * and an operation need not have it.
 *
 * A filter writes its result while it runs instead (`connect`).
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

/* About how large the result of a device is that is to be merged into an aggregate. */
struct store_size {
    uint64_t counters; /* which are added as arrays */
    uint64_t rows;     /* of tables */
};

/* What a store keeps in memory. */
struct store_memory {
    bool has_table;    /* of rows, which grows */
    bool has_counters; /* arrays of counters, of each thread as well */
    uint64_t bins;     /* of the shared array, of 64 bits each; 0: it grows */
};

struct store {
    /*
     * The aggregate. All stores have these three.
     *
     * create: creates an empty aggregate, which all workers share. Returns NULL if there is not
     * enough memory. The caller destroys it; the plan must outlive it.
     *
     * finalize: checks that the aggregate holds `elements` elements, the number read, and prepares
     * it for printing and saving: it is then *finalized*. More may be added later, and then it is
     * finalized again. No thread may add meanwhile.
     *
     * destroy: frees an aggregate; NULL is allowed.
     *
     * memory: what aggregates of a plan and their local states have; NULL: next to nothing. Pure.
     *
     * size: that of the result of a device which has counted what the aggregate has by now. Not all
     * stores have it: NULL means a few numbers. Thread-safe while threads add.
     */
    void *(*create)(const struct plan *plan, struct failure *failure);
    enum status (*finalize)(void *aggregate, const struct plan *plan, uint64_t elements,
                            struct failure *failure);
    void (*destroy)(void *aggregate);
    struct store_memory (*memory)(const struct plan *plan);
    struct store_size (*size)(const void *aggregate);
    /*
     * For a filter only, which writes its result in stream order while it runs. connect: gives
     * the aggregate the writers of its result and, or NULL, of what it purges; before any worker
     * starts. stop: makes it write no more, and wakes all threads that wait for earlier chunks.
     * Thread-safe.
     */
    void (*connect)(void *aggregate, struct writer *result, struct writer *purged);
    void (*stop)(void *aggregate);

    /*
     * A local state: what one CPU thread has counted and not yet merged into the aggregate. All
     * stores have local_bytes, local_open and local_accumulate. Calls for distinct local states may
     * run at the same time.
     *
     * local_open: initialises its memory, of local_bytes, all zeros; it adds to `aggregate`.
     * local_accumulate: counts the elements of a chunk. The caller may then reuse the chunk's
     * memory. local_merge: merges it into the aggregate; it may then accumulate more. local_close:
     * frees what it holds, also after a failure of local_open.
     */
    size_t local_bytes;
    enum status (*local_open)(void *local, const struct plan *plan, void *aggregate,
                              struct failure *failure);
    enum status (*local_accumulate)(void *local, const struct chunk *chunk,
                                    struct failure *failure);
    enum status (*local_merge)(void *local, struct failure *failure);
    void (*local_close)(void *local);

    /*
     * States (state.h). NULL, both of them: there is no --save and no merge.
     *
     * save: writes a finalized aggregate: the number of elements, and what `load` reads.
     *
     * load: reads what follows the number of elements, and adds it to the aggregate. Must reject
     * counts above `elements`. After a failure, part of the state may have been added. Thread-safe.
     */
    enum status (*save)(struct state_writer *state, const struct plan *plan, const void *aggregate,
                        struct failure *failure);
    enum status (*load)(struct state_reader *state, const struct plan *plan, void *aggregate,
                        uint64_t elements, struct failure *failure);

    /*
     * The result of a finalized aggregate (result/result.h). Without columns of groups it is that
     * of group 0.
     *
     * groups: returns the number of groups. NULL: there are no columns of groups.
     * elements: returns how many values were counted, or the sum of their weights. All stores but
     * filters have it.
     * rows: of histogram and uniq: begins the rows (rows.h) of a group. The plan and the aggregate
     * must outlive them.
     * values: of reduce and count: stores what is known of a group. `memory` has values_words words
     * (NULL: none) and must outlive it. Thread-safe on distinct memory.
     * check: fails with STATUS_DATA if something could not be read meanwhile. NULL: all can.
     * stats: prints statistics on stderr, for --stats.
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

/* Returns the store of a plan, and that of an operation on one column without groups. Pure. */
const struct store *store_of(const struct plan *plan);
const struct store *store_of_operation(enum operation_id operation);

/*
 * Opens a local state. The caller closes *local, also after a failure, when it may be NULL. The
 * plan and the aggregate must outlive it. Thread-safe.
 */
enum status store_open_local(const struct store *store, const struct plan *plan, void *aggregate,
                             void **local, struct failure *failure);

/* Closes a local state; NULL is allowed. What is not merged is lost. */
void store_close_local(const struct store *store, void *local);

/* Fails with STATUS_DATA, which means a bug, unless `counted` is what was `read`. Thread-safe. */
enum status store_check_elements(uint64_t read, uint64_t counted, struct failure *failure);

#endif
