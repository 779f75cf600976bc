/*
 * Reduce and count of several value columns: the partials of the runs of each column alone. The
 * engine hands over the elements of each column in chunks of their own.
 */
#include "config.h"

#include "ops/stores.h"
#include "partial/columns.h"
#include "partial/state.h"

#include <stdlib.h>

struct store_columns_local {
    struct columns *partial;
    void *locals[TEXT_COLUMNS_MAX];      /* of the operations of the columns */
    uint64_t elements[TEXT_COLUMNS_MAX]; /* absorbed since the last merge */
};

static void store_columns_destroy(void *partial)
{
    struct columns *self = partial;

    for (size_t i = 0; self && i < self->count; i++)
        self->runs[i].store->destroy(self->runs[i].partial);
    free(self);
}

static void *store_columns_create(const struct job *job, struct failure *failure)
{
    struct columns *self = calloc(1, sizeof *self + job->value_count * sizeof self->runs[0]);

    if (!self) {
        status_fail(failure, STATUS_DATA, "no memory for %zu columns", job->value_count);
        return NULL;
    }
    for (; self->count < job->value_count; self->count++) {
        struct columns_run *run = &self->runs[self->count];
        run->job = &job->singles[self->count];
        run->store = store_of(run->job);
        run->partial = run->store->create(run->job, failure);
        if (!run->partial) {
            store_columns_destroy(self);
            return NULL;
        }
    }
    return self;
}

static enum status store_columns_finalize(void *partial, const struct job *job, uint64_t elements,
                                          struct failure *failure)
{
    struct columns *self = partial;
    uint64_t all = 0;
    (void)job;

    for (size_t i = 0; i < self->count; i++) {
        struct columns_run *run = &self->runs[i];
        const uint64_t own = atomic_load(&run->elements);
        if (run->store->finalize(run->partial, run->job, own, failure) != STATUS_OK)
            return failure->status;
        all += own;
    }
    return store_check_elements(elements, all, failure);
}

static enum status store_columns_open(void *local, const struct job *job, void *partial,
                                      struct failure *failure)
{
    struct store_columns_local *self = local;
    enum status status = STATUS_OK;
    (void)job;

    self->partial = partial;
    for (size_t i = 0; i < self->partial->count && status == STATUS_OK; i++) {
        struct columns_run *run = &self->partial->runs[i];
        status = store_open_local(run->store, run->job, run->partial, &self->locals[i], failure);
    }
    return status;
}

static enum status store_columns_absorb(void *local, const struct chunk *chunk,
                                        struct failure *failure)
{
    struct store_columns_local *self = local;
    const struct columns_run *run = &self->partial->runs[chunk->column];

    self->elements[chunk->column] += chunk->bytes / run->job->element.bytes;
    return run->store->local_absorb(self->locals[chunk->column], chunk, failure);
}

static enum status store_columns_merge(void *local, struct failure *failure)
{
    struct store_columns_local *self = local;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < self->partial->count && status == STATUS_OK; i++) {
        struct columns_run *run = &self->partial->runs[i];
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

    for (size_t i = 0; self->partial && i < self->partial->count; i++)
        store_close_local(self->partial->runs[i].store, self->locals[i]);
}

static uint64_t store_columns_elements(const void *partial)
{
    const struct columns *self = partial;
    uint64_t all = 0;

    for (size_t i = 0; i < self->count; i++)
        all += atomic_load(&self->runs[i].elements);
    return all;
}

/* The numbers of states are that of all elements, and those of each column's own state. */
static enum status store_columns_save(struct state_writer *state, const struct job *job,
                                      const void *partial, struct failure *failure)
{
    const struct columns *self = partial;
    (void)job;

    state_write_number(state, store_columns_elements(partial));
    for (size_t i = 0; i < self->count; i++) {
        const struct columns_run *run = &self->runs[i];
        if (run->store->save(state, run->job, run->partial, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status store_columns_load(struct state_reader *state, const struct job *job,
                                      void *partial, uint64_t elements, struct failure *failure)
{
    struct columns *self = partial;
    (void)job;

    for (size_t i = 0; i < self->count; i++) {
        struct columns_run *run = &self->runs[i];
        uint64_t own;
        if (state_read_number(state, &own, failure) != STATUS_OK)
            return failure->status;
        if (own > elements)
            return state_fail_damaged(state, "a column has more elements than all", failure);
        elements -= own;
        if (run->store->load(state, run->job, run->partial, own, failure) != STATUS_OK)
            return failure->status;
        atomic_fetch_add(&run->elements, own);
    }
    if (elements > 0)
        return state_fail_damaged(state, "not all elements are of a column", failure);
    return STATUS_OK;
}

static struct store_memory store_columns_memory(const struct job *job)
{
    struct store_memory all = {.bins = 0};

    for (size_t i = 0; i < job->value_count; i++) {
        const struct store *store = store_of(&job->singles[i]);
        const struct store_memory one = store->memory(&job->singles[i]);
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
    .local_absorb = store_columns_absorb,
    .local_merge = store_columns_merge,
    .local_close = store_columns_close,
    .save = store_columns_save,
    .load = store_columns_load,
    .elements = store_columns_elements,
};
