/*
 * Reduce and count of several value columns: the aggregates of one run per column. The engine
 * passes the elements of each column in separate chunks.
 */
#include "config.h"

#include "aggregate/columns.h"
#include "aggregate/state.h"
#include "engine/stores.h"

#include <stdlib.h>

struct store_columns_local {
    struct columns *aggregate;
    void *locals[TEXT_COLUMNS_MAX];      /* the local state of each column; owned */
    uint64_t elements[TEXT_COLUMNS_MAX]; /* number accumulated since the last merge */
};

static void store_columns_destroy(void *aggregate)
{
    struct columns *self = aggregate;

    for (size_t i = 0; self && i < self->count; i++)
        self->runs[i].store->destroy(self->runs[i].aggregate);
    free(self);
}

static void *store_columns_create(const struct plan *plan, struct failure *failure)
{
    struct columns *self = calloc(1, sizeof *self + plan->value_count * sizeof self->runs[0]);

    if (!self) {
        status_fail(failure, STATUS_DATA, "not enough memory for %zu columns", plan->value_count);
        return NULL;
    }
    for (; self->count < plan->value_count; self->count++) {
        struct columns_run *run = &self->runs[self->count];
        run->plan = &plan->singles[self->count];
        run->store = store_of(run->plan);
        run->aggregate = run->store->create(run->plan, failure);
        if (!run->aggregate) {
            store_columns_destroy(self);
            return NULL;
        }
    }
    return self;
}

static enum status store_columns_finalize(void *aggregate, const struct plan *plan,
                                          uint64_t elements, struct failure *failure)
{
    struct columns *self = aggregate;
    uint64_t all = 0;
    (void)plan;

    for (size_t i = 0; i < self->count; i++) {
        struct columns_run *run = &self->runs[i];
        const uint64_t own = atomic_load(&run->elements);
        if (run->store->finalize(run->aggregate, run->plan, own, failure) != STATUS_OK)
            return failure->status;
        all += own;
    }
    return store_check_elements(elements, all, failure);
}

static enum status store_columns_open(void *local, const struct plan *plan, void *aggregate,
                                      struct failure *failure)
{
    struct store_columns_local *self = local;
    enum status status = STATUS_OK;
    (void)plan;

    self->aggregate = aggregate;
    for (size_t i = 0; i < self->aggregate->count && status == STATUS_OK; i++) {
        struct columns_run *run = &self->aggregate->runs[i];
        status = store_open_local(run->store, run->plan, run->aggregate, &self->locals[i], failure);
    }
    return status;
}

static enum status store_columns_accumulate(void *local, const struct chunk *chunk,
                                            struct failure *failure)
{
    struct store_columns_local *self = local;
    const struct columns_run *run = &self->aggregate->runs[chunk->column];

    self->elements[chunk->column] += chunk->bytes / run->plan->element.bytes;
    return run->store->local_accumulate(self->locals[chunk->column], chunk, failure);
}

static enum status store_columns_merge(void *local, struct failure *failure)
{
    struct store_columns_local *self = local;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < self->aggregate->count && status == STATUS_OK; i++) {
        struct columns_run *run = &self->aggregate->runs[i];
        if (run->store->local_merge)
            status = run->store->local_merge(self->locals[i], failure);
        atomic_fetch_add(&run->elements, self->elements[i]);
        self->elements[i] = 0;
    }
    return status;
}

static void store_columns_close(void *local)
{
    struct store_columns_local *self = local;

    for (size_t i = 0; self->aggregate && i < self->aggregate->count; i++)
        store_close_local(self->aggregate->runs[i].store, self->locals[i]);
}

static uint64_t store_columns_elements(const void *aggregate)
{
    const struct columns *self = aggregate;
    uint64_t all = 0;

    for (size_t i = 0; i < self->count; i++)
        all += atomic_load(&self->runs[i].elements);
    return all;
}

/* The numbers of states are the number of all elements, and those of each column's state. */
static enum status store_columns_save(struct state_writer *state, const struct plan *plan,
                                      const void *aggregate, struct failure *failure)
{
    const struct columns *self = aggregate;
    (void)plan;

    state_write_number(state, store_columns_elements(aggregate));
    for (size_t i = 0; i < self->count; i++) {
        const struct columns_run *run = &self->runs[i];
        if (run->store->save(state, run->plan, run->aggregate, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status store_columns_load(struct state_reader *state, const struct plan *plan,
                                      void *aggregate, uint64_t elements, struct failure *failure)
{
    struct columns *self = aggregate;
    (void)plan;

    for (size_t i = 0; i < self->count; i++) {
        struct columns_run *run = &self->runs[i];
        uint64_t own;
        if (state_read_number(state, &own, failure) != STATUS_OK)
            return failure->status;
        if (own > elements)
            return state_fail_damaged(state, "a column has more elements than all", failure);
        elements -= own;
        if (run->store->load(state, run->plan, run->aggregate, own, failure) != STATUS_OK)
            return failure->status;
        atomic_fetch_add(&run->elements, own);
    }
    if (elements > 0)
        return state_fail_damaged(state, "not all elements are of a column", failure);
    return STATUS_OK;
}

static struct store_memory store_columns_memory(const struct plan *plan)
{
    struct store_memory all = {.bins = 0};

    for (size_t i = 0; i < plan->value_count; i++) {
        const struct store *store = store_of(&plan->singles[i]);
        const struct store_memory one = store->memory(&plan->singles[i]);
        all.has_table = all.has_table || one.has_table;
        all.has_counters = all.has_counters || one.has_counters;
        all.bins += one.bins;
    }
    return all;
}

const struct store store_columns = {
    .create = store_columns_create,
    .finalize = store_columns_finalize,
    .destroy = store_columns_destroy,
    .memory = store_columns_memory,
    .local_bytes = sizeof(struct store_columns_local),
    .local_open = store_columns_open,
    .local_accumulate = store_columns_accumulate,
    .local_merge = store_columns_merge,
    .local_close = store_columns_close,
    .save = store_columns_save,
    .load = store_columns_load,
    .elements = store_columns_elements,
};
