/*
 * Operations reduce and count without groups. A CPU thread runs one vector loop over each block for
 * each accumulator (accumulator.h). If some reductions need a table, the elements are added to it,
 * like in uniq.
 *
 * The numbers of its states are the words of the row, and the rows of uniq with bins of width 1 if
 * there are elements and the reductions need a table.
 */
#include "config.h"

#include "aggregate/scalar.h"
#include "aggregate/state.h"
#include "aggregate/uniq.h"
#include "engine/cpu_keys.h"
#include "engine/stores.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(CPU_NATIVE_BLOCK <= ACCUMULATOR_BLOCK, "accumulators take a block");

struct store_scalar_local {
    const struct plan *plan;
    struct scalar *scalar;
    void *uniq;    /* a local state of store_table; NULL: no table is needed */
    uint64_t *row; /* the words of the accumulators; owned */
    struct cpu_native swapped;
};

static void store_scalar_restart(struct store_scalar_local *self)
{
    const struct accumulators *accumulators = self->scalar->accumulators;
    memcpy(self->row, accumulators->initial, accumulators->words * sizeof *self->row);
}

static enum status store_scalar_open(void *local, const struct plan *plan, void *aggregate,
                                     struct failure *failure)
{
    struct store_scalar_local *self = local;

    self->plan = plan;
    self->scalar = aggregate;
    self->row = calloc(self->scalar->accumulators->words, sizeof *self->row);
    if (!self->row)
        return status_fail(failure, STATUS_DATA, "not enough memory for a CPU thread");
    store_scalar_restart(self);
    if (!self->scalar->uniq)
        return STATUS_OK;
    return store_open_local(&store_table, plan, self->scalar->uniq, &self->uniq, failure);
}

static enum status store_scalar_accumulate(void *local, const struct chunk *chunk,
                                           struct failure *failure)
{
    struct store_scalar_local *self = local;
    const struct element *element = &self->plan->element;
    const size_t elements = chunk->bytes / element->bytes;

    for (size_t i = 0; i < elements; i += CPU_NATIVE_BLOCK) {
        const size_t n = elements - i < CPU_NATIVE_BLOCK ? elements - i : CPU_NATIVE_BLOCK;
        const char *block = (const char *)chunk->data + i * element->bytes;
        accumulators_add_block(self->scalar->accumulators, self->row,
                               cpu_native_block(element, block, n, &self->swapped), n);
    }
    return self->uniq ? store_table.local_accumulate(self->uniq, chunk, failure) : STATUS_OK;
}

static enum status store_scalar_merge(void *local, struct failure *failure)
{
    struct store_scalar_local *self = local;

    scalar_merge(self->scalar, self->row);
    store_scalar_restart(self);
    return self->uniq ? store_table.local_merge(self->uniq, failure) : STATUS_OK;
}

static void store_scalar_close(void *local)
{
    struct store_scalar_local *self = local;

    store_close_local(&store_table, self->uniq);
    free(self->row);
}

static enum status store_scalar_save(struct state_writer *state, const struct plan *plan,
                                     const void *aggregate, struct failure *failure)
{
    const struct scalar *scalar = aggregate;
    (void)plan;

    for (size_t i = 0; i < scalar->accumulators->words; i++)
        state_write_number(state, scalar->row[i]);
    if (!scalar->uniq || scalar->row[0] == 0)
        return STATUS_OK;
    return store_table_save_rows(state, scalar->uniq, failure);
}

static enum status store_scalar_load(struct state_reader *state, const struct plan *plan,
                                     void *aggregate, uint64_t elements, struct failure *failure)
{
    struct scalar *scalar = aggregate;
    const struct accumulators *accumulators = scalar->accumulators;
    uint64_t *row = calloc(accumulators->words, sizeof *row);
    enum status status =
        row ? STATUS_OK : status_fail(failure, STATUS_DATA, "not enough memory for the result");

    for (size_t i = accumulators->first; i < accumulators->words && status == STATUS_OK; i++)
        status = state_read_number(state, &row[i], failure);
    if (status == STATUS_OK) {
        row[0] = elements;
        if (accumulators_check(accumulators, row))
            scalar_merge(scalar, row);
        else
            status = state_fail_damaged(state, "its values contradict each other", failure);
    }
    free(row);
    if (status == STATUS_OK && scalar->uniq && elements > 0)
        status = store_table.load(state, plan, scalar->uniq, elements, failure);
    return status;
}

static void store_scalar_values(struct reduce_values *values, const void *aggregate, uint64_t group,
                                uint64_t *memory)
{
    const struct scalar *scalar = aggregate;
    (void)group;
    (void)memory;

    values->accumulators = scalar->accumulators;
    values->row = scalar->row;
    memcpy(values->found, scalar->found, sizeof values->found);
}

static uint64_t store_scalar_elements(const void *aggregate)
{
    return ((const struct scalar *)aggregate)->row[0];
}

/* Returns the size of the table of distinct values, if there is one. */
static struct store_size store_scalar_size(const void *aggregate)
{
    const struct scalar *scalar = aggregate;
    return scalar->uniq ? uniq_size(scalar->uniq) : (struct store_size){.rows = 0};
}

static struct store_memory store_scalar_memory(const struct plan *plan)
{
    const bool has_table = plan->reductions.needs & REDUCTIONS_NEED_TABLE;
    return (struct store_memory){.has_table = has_table, .has_counters = has_table};
}

const struct store store_scalar = {
    .create = scalar_create,
    .finalize = scalar_finalize,
    .destroy = scalar_destroy,
    .memory = store_scalar_memory,
    .size = store_scalar_size,
    .local_bytes = sizeof(struct store_scalar_local),
    .local_open = store_scalar_open,
    .local_accumulate = store_scalar_accumulate,
    .local_merge = store_scalar_merge,
    .local_close = store_scalar_close,
    .save = store_scalar_save,
    .load = store_scalar_load,
    .elements = store_scalar_elements,
    .values = store_scalar_values,
};
