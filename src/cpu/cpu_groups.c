/* Operation groups on a CPU thread: adds values to the rows of their groups. */
#include "config.h"

#include "cpu/cpu_engine.h"
#include "cpu/cpu_record.h"
#include "operations/groups.h"

#include <stdlib.h>

struct cpu_groups {
    const struct groups *groups;
    struct table_writer *writer;
};

static enum status cpu_groups_open(const struct job *job, void *partial, void **state,
                                   struct failure *failure)
{
    struct cpu_groups *self = calloc(1, sizeof *self);
    if (!self)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    (void)job;
    *state = self;
    self->groups = partial;
    return table_writer_open(self->groups->table, &self->writer, failure);
}

static enum status cpu_groups_absorb(void *state, const struct chunk *chunk,
                                     struct failure *failure)
{
    struct cpu_groups *self = state;
    const struct groups *groups = self->groups;
    const struct element *element = &groups->job->element;
    const size_t elements = chunk->bytes / element->bytes;
    uint64_t keys[TABLE_FIND_MAX];
    uint64_t values[TABLE_FIND_MAX];
    uint64_t *rows[TABLE_FIND_MAX];

    for (size_t i = 0, n; i < elements; i += n) {
        const char *block = (const char *)chunk->data + i * element->bytes;
        n = elements - i < TABLE_FIND_MAX ? elements - i : TABLE_FIND_MAX;
        for (size_t k = 0; k < n; k++)
            keys[k] = chunk->second[i + k] ^ groups->flip;
        if (table_writer_find(self->writer, keys, NULL, n, rows, failure) != STATUS_OK)
            return failure->status;
        cpu_record_gather_keys(element, block, element->bytes, n, values);
        groups_row_add(groups->layout, rows, values, n);
    }
    return STATUS_OK;
}

static enum status cpu_groups_finish(void *state, struct failure *failure)
{
    return table_writer_flush(((struct cpu_groups *)state)->writer, failure);
}

static void cpu_groups_close(void *state)
{
    struct cpu_groups *self = state;
    if (!self)
        return;
    table_writer_close(self->writer);
    free(self);
}

const struct cpu_operation cpu_groups = {
    .open = cpu_groups_open,
    .absorb = cpu_groups_absorb,
    .finish = cpu_groups_finish,
    .close = cpu_groups_close,
};
