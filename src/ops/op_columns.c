/*
 * Reduce and count of several value columns: the partials of the runs of each column alone. The
 * engine hands over the elements of each column in chunks of their own.
 */
#include "config.h"

#include "ops/stores.h"
#include "output/writer.h"
#include "partial/state.h"
#include "print/print_rows.h"
#include "print/print_values.h"

#include <stdatomic.h>
#include <stdlib.h>

/* The run of one column alone. */
struct op_columns_run {
    const struct job *job;
    const struct store *store;
    void *partial;
    atomic_uint_least64_t elements;
};

struct op_columns_partial {
    size_t count;
    struct op_columns_run runs[]; /* [count] */
};

struct op_columns_local {
    struct op_columns_partial *partial;
    void *locals[TEXT_COLUMNS_MAX];      /* of the operations of the columns */
    uint64_t elements[TEXT_COLUMNS_MAX]; /* absorbed since the last merge */
};

static void op_columns_destroy(void *partial)
{
    struct op_columns_partial *self = partial;

    for (size_t i = 0; self && i < self->count; i++)
        self->runs[i].store->destroy(self->runs[i].partial);
    free(self);
}

static void *op_columns_create(const struct job *job, struct failure *failure)
{
    struct op_columns_partial *self =
        calloc(1, sizeof *self + job->value_count * sizeof self->runs[0]);

    if (!self) {
        status_fail(failure, STATUS_DATA, "no memory for %zu columns", job->value_count);
        return NULL;
    }
    for (; self->count < job->value_count; self->count++) {
        struct op_columns_run *run = &self->runs[self->count];
        run->job = &job->singles[self->count];
        run->store = store_of(run->job);
        run->partial = run->store->create(run->job, failure);
        if (!run->partial) {
            op_columns_destroy(self);
            return NULL;
        }
    }
    return self;
}

static enum status op_columns_finalize(void *partial, const struct job *job, uint64_t elements,
                                       struct failure *failure)
{
    struct op_columns_partial *self = partial;
    uint64_t all = 0;
    (void)job;

    for (size_t i = 0; i < self->count; i++) {
        struct op_columns_run *run = &self->runs[i];
        const uint64_t own = atomic_load(&run->elements);
        if (run->store->finalize(run->partial, run->job, own, failure) != STATUS_OK)
            return failure->status;
        all += own;
    }
    return store_check_elements(elements, all, failure);
}

static enum status op_columns_open(void *local, const struct job *job, void *partial,
                                   struct failure *failure)
{
    struct op_columns_local *self = local;
    enum status status = STATUS_OK;
    (void)job;

    self->partial = partial;
    for (size_t i = 0; i < self->partial->count && status == STATUS_OK; i++) {
        struct op_columns_run *run = &self->partial->runs[i];
        status = store_open_local(run->store, run->job, run->partial, &self->locals[i], failure);
    }
    return status;
}

static enum status op_columns_absorb(void *local, const struct chunk *chunk,
                                     struct failure *failure)
{
    struct op_columns_local *self = local;
    const struct op_columns_run *run = &self->partial->runs[chunk->column];

    self->elements[chunk->column] += chunk->bytes / run->job->element.bytes;
    return run->store->local_absorb(self->locals[chunk->column], chunk, failure);
}

static enum status op_columns_merge(void *local, struct failure *failure)
{
    struct op_columns_local *self = local;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < self->partial->count && status == STATUS_OK; i++) {
        struct op_columns_run *run = &self->partial->runs[i];
        if (run->store->local_merge)
            status = run->store->local_merge(self->locals[i], failure);
        atomic_fetch_add(&run->elements, self->elements[i]);
        self->elements[i] = 0;
    }
    return status;
}

static void op_columns_close(void *local)
{
    struct op_columns_local *self = local;

    for (size_t i = 0; self->partial && i < self->partial->count; i++)
        store_close_local(self->partial->runs[i].store, self->locals[i]);
}

/* The numbers of states are that of all elements, and those of each column's own state. */
static enum status op_columns_save(struct state_writer *state, const struct job *job,
                                   const void *partial, struct failure *failure)
{
    const struct op_columns_partial *self = partial;
    uint64_t all = 0;
    (void)job;

    for (size_t i = 0; i < self->count; i++)
        all += atomic_load(&self->runs[i].elements);
    state_write_number(state, all);
    for (size_t i = 0; i < self->count; i++) {
        const struct op_columns_run *run = &self->runs[i];
        if (run->store->save(state, run->job, run->partial, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status op_columns_load(struct state_reader *state, const struct job *job, void *partial,
                                   uint64_t elements, struct failure *failure)
{
    struct op_columns_partial *self = partial;
    (void)job;

    for (size_t i = 0; i < self->count; i++) {
        struct op_columns_run *run = &self->runs[i];
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

static enum status op_columns_print(struct writer *writer, const struct job *job,
                                    const void *partial, const struct print_options *options,
                                    struct failure *failure)
{
    const struct op_columns_partial *self = partial;
    const struct print_result result = {.options = options,
                                        .format = print_values_format(options),
                                        .job = job,
                                        .list = "columns"};
    struct print_options own = *options;

    print_begin(writer, &result);
    for (size_t i = 0; i < self->count; i++) {
        const struct op_columns_run *run = &self->runs[i];
        own.column = job->columns[i].where;
        own.is_next_column = i > 0;
        if (run->store->print(writer, run->job, run->partial, &own, failure) != STATUS_OK)
            return failure->status;
    }
    print_end(writer, &result);
    return STATUS_OK;
}

/* The columns have the same groups. */
static void op_columns_note(const struct job *job, const void *partial,
                            const struct print_options *options)
{
    const struct op_columns_run *run = ((const struct op_columns_partial *)partial)->runs;
    (void)job;

    if (run->store->note)
        run->store->note(run->job, run->partial, options);
}

static enum status op_columns_check_result(const struct job *job, const void *partial,
                                           struct failure *failure)
{
    const struct op_columns_partial *self = partial;
    bool has_values = false;

    for (size_t i = 0; i < self->count; i++)
        has_values = has_values || self->runs[i].elements > 0;
    for (size_t i = 0; i < self->count; i++) {
        const struct op_columns_run *run = &self->runs[i];
        struct failure own;
        if (!run->store->check_result ||
            run->store->check_result(run->job, run->partial, &own) == STATUS_OK)
            continue;
        if (!has_values)
            return status_fail(failure, own.status, "%s", own.message);
        return status_fail(failure, own.status, "%s: %s", job->columns[i].where,
                           run->elements > 0 ? own.message
                                             : "it has no value, but another column has");
    }
    return STATUS_OK;
}

const struct store op_columns = {
    .create = op_columns_create,
    .finalize = op_columns_finalize,
    .destroy = op_columns_destroy,
    .local_bytes = sizeof(struct op_columns_local),
    .local_open = op_columns_open,
    .local_absorb = op_columns_absorb,
    .local_merge = op_columns_merge,
    .local_close = op_columns_close,
    .save = op_columns_save,
    .load = op_columns_load,
    .print = op_columns_print,
    .note = op_columns_note,
    .check_result = op_columns_check_result,
};
