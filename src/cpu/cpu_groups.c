/* Operation groups on a CPU thread: hands the keys of values, beside their groups, to the writer.
 */
#include "config.h"

#include "count/groups.h"
#include "cpu/cpu_engine.h"
#include "cpu/cpu_record.h"

#include <stdlib.h>

struct cpu_groups {
    const struct job *job;
    struct groups_writer writer;
};

static enum status cpu_groups_open(const struct job *job, void *partial, void **state,
                                   struct failure *failure)
{
    struct cpu_groups *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    return groups_writer_open(partial, &made->writer, failure);
}

static enum status cpu_groups_absorb(void *state, const struct chunk *chunk,
                                     struct failure *failure)
{
    struct cpu_groups *self = state;
    const struct element *element = &self->job->element;
    const size_t elements = chunk->bytes / element->bytes;
    uint64_t keys[GROUPS_WRITER_BLOCK];

    for (size_t i = 0, n; i < elements; i += n) {
        const char *block = (const char *)chunk->data + i * element->bytes;
        n = elements - i < GROUPS_WRITER_BLOCK ? elements - i : GROUPS_WRITER_BLOCK;
        cpu_record_gather_keys(element, block, element->bytes, n, keys);
        if (groups_writer_add(&self->writer, chunk->second + i, keys, n, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status cpu_groups_finish(void *state, struct failure *failure)
{
    return groups_writer_flush(&((struct cpu_groups *)state)->writer, failure);
}

static void cpu_groups_close(void *state)
{
    struct cpu_groups *self = state;
    if (!self)
        return;
    groups_writer_close(&self->writer);
    free(self);
}

const struct cpu_operation cpu_groups = {
    .open = cpu_groups_open,
    .absorb = cpu_groups_absorb,
    .finish = cpu_groups_finish,
    .close = cpu_groups_close,
};
