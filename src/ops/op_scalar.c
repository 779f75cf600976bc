/*
 * Operations reduce and count without groups. A CPU thread runs one vector loop over each block for
 * each accumulator (accumulator.h). If some reductions need a table, the elements are added to it
 * as uniq does.
 *
 * The numbers of its states are the words of the row, and the rows of uniq with bins of width 1 if
 * there are elements and the reductions need a table.
 */
#include "config.h"

#include "count/scalar.h"
#include "count/uniq.h"
#include "cpu/cpu_keys.h"
#include "ops/stores.h"
#include "partial/state.h"
#include "print/print_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CPU_NATIVE_BLOCK <= ACCUMULATOR_BLOCK, "accumulators take a block");

struct op_scalar_local {
    const struct job *job;
    struct scalar *scalar;
    void *uniq;    /* a local state of op_uniq; NULL: no table is needed */
    uint64_t *row; /* of the accumulators */
    struct cpu_native swapped;
};

static void op_scalar_restart(struct op_scalar_local *self)
{
    const struct accumulators *accumulators = self->scalar->accumulators;
    memcpy(self->row, accumulators->initial, accumulators->words * sizeof *self->row);
}

static enum status op_scalar_open(void *local, const struct job *job, void *partial,
                                  struct failure *failure)
{
    struct op_scalar_local *self = local;

    self->job = job;
    self->scalar = partial;
    self->row = calloc(self->scalar->accumulators->words, sizeof *self->row);
    if (!self->row)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    op_scalar_restart(self);
    if (!self->scalar->uniq)
        return STATUS_OK;
    return store_open_local(&op_uniq, job, self->scalar->uniq, &self->uniq, failure);
}

static enum status op_scalar_absorb(void *local, const struct chunk *chunk, struct failure *failure)
{
    struct op_scalar_local *self = local;
    const struct element *element = &self->job->element;
    const size_t elements = chunk->bytes / element->bytes;

    for (size_t i = 0; i < elements; i += CPU_NATIVE_BLOCK) {
        const size_t n = elements - i < CPU_NATIVE_BLOCK ? elements - i : CPU_NATIVE_BLOCK;
        const char *block = (const char *)chunk->data + i * element->bytes;
        accumulators_add_block(self->scalar->accumulators, self->row,
                               cpu_native_block(element, block, n, &self->swapped), n);
    }
    return self->uniq ? op_uniq.local_absorb(self->uniq, chunk, failure) : STATUS_OK;
}

static enum status op_scalar_merge(void *local, struct failure *failure)
{
    struct op_scalar_local *self = local;

    scalar_merge(self->scalar, self->row);
    op_scalar_restart(self);
    return self->uniq ? op_uniq.local_merge(self->uniq, failure) : STATUS_OK;
}

static void op_scalar_close(void *local)
{
    struct op_scalar_local *self = local;

    store_close_local(&op_uniq, self->uniq);
    free(self->row);
}

static enum status op_scalar_save(struct state_writer *state, const struct job *job,
                                  const void *partial, struct failure *failure)
{
    const struct scalar *scalar = partial;
    (void)job;

    for (size_t i = 0; i < scalar->accumulators->words; i++)
        state_write_number(state, scalar->row[i]);
    if (!scalar->uniq || scalar->row[0] == 0)
        return STATUS_OK;
    return op_uniq_save_rows(state, scalar->uniq, failure);
}

static enum status op_scalar_load(struct state_reader *state, const struct job *job, void *partial,
                                  uint64_t elements, struct failure *failure)
{
    struct scalar *scalar = partial;
    const struct accumulators *accumulators = scalar->accumulators;
    uint64_t *row = calloc(accumulators->words, sizeof *row);
    enum status status =
        row ? STATUS_OK : status_fail(failure, STATUS_DATA, "no memory for the result");

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
        status = op_uniq.load(state, job, scalar->uniq, elements, failure);
    return status;
}

static void op_scalar_find(const struct print_values *values, size_t group,
                           struct print_found *found)
{
    const struct scalar *scalar = values->partial;
    (void)group;

    found->accumulators = scalar->accumulators;
    found->row = scalar->row;
    memcpy(found->found, scalar->found, sizeof found->found);
}

static enum status op_scalar_print(struct writer *writer, const struct job *job,
                                   const void *partial, const struct print_options *options,
                                   struct failure *failure)
{
    const struct print_values values = {
        .job = job,
        .partial = partial,
        .options = options,
        .groups = 1,
        .find = op_scalar_find,
    };

    (void)failure;
    print_values(writer, &values);
    return STATUS_OK;
}

/*
 * Fails if the stream is empty and reductions that then have no value were asked for; lists them.
 */
static enum status op_scalar_check_result(const struct job *job, const void *partial,
                                          struct failure *failure)
{
    const uint64_t count = ((const struct scalar *)partial)->row[0];
    char names[REDUCTIONS_TEXT_SIZE] = "";
    size_t length = 0;

    for (unsigned i = 0; i < job->reductions.count; i++) {
        const struct reduction *reduction = &job->reductions.list[i];
        if (!reduce_has(count, reduction->id))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length > 0 ? ", " : "", reduction->name);
    }
    if (length == 0)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       count > 0 ? "one value has no %s"
                       : job->condition_count > 0
                           ? "no row with a value meets --where: there is no %s"
                           : "the input is empty: it has no %s",
                       names);
}

/* That of the table of distinct values, if there is one. */
static struct store_size op_scalar_size(const void *partial)
{
    const struct scalar *scalar = partial;
    return scalar->uniq ? uniq_size(scalar->uniq) : (struct store_size){.rows = 0};
}

#define OP_SCALAR                                                                                 \
    {                                                                                             \
        .create = scalar_create, .finalize = scalar_finalize, .destroy = scalar_destroy,          \
        .size = op_scalar_size, .local_bytes = sizeof(struct op_scalar_local),                    \
        .local_open = op_scalar_open, .local_absorb = op_scalar_absorb,                           \
        .local_merge = op_scalar_merge, .local_close = op_scalar_close, .save = op_scalar_save,   \
        .load = op_scalar_load, .print = op_scalar_print, .check_result = op_scalar_check_result, \
    }

const struct store op_reduce = OP_SCALAR;
const struct store op_count = OP_SCALAR;
