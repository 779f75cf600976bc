/*
 * Private tables. A counter that is incremented twice in a row waits for its own store, so that
 * equal neighbours would cost five cycles each; with several copies of the table, used in turn,
 * they do not meet. Copies are kept while together they fit the L1, and one always.
 */
#include "config.h"

#include "cpu_counter.h"
#include "memory.h"

#include <stdlib.h>

#define CPU_COUNTER_COPIES   8
#define CPU_COUNTER_L1_BYTES ((size_t)32 << 10)

struct cpu_counter_private {
    struct histogram *histogram;
    uint32_t *tables; /* [copies][entries] */
    size_t entries;
    size_t copies;    /* 1 or CPU_COUNTER_COPIES */
    uint32_t limit;   /* increments that no counter can wrap in */
    uint32_t counted; /* since the tables were last moved to the histogram, <= limit */
};

static size_t cpu_counter_private_bytes(const struct cpu_counter_private *self)
{
    return self->copies * self->entries * sizeof *self->tables;
}

static void cpu_counter_private_close(void *state)
{
    struct cpu_counter_private *self = state;
    if (!self)
        return;
    memory_unmap(self->tables, cpu_counter_private_bytes(self));
    free(self);
}

enum status cpu_counter_private_open_limited(struct histogram *histogram, uint32_t limit,
                                             void **state, struct failure *failure)
{
    struct cpu_counter_private *made = malloc(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    size_t entries = histogram->entries;
    bool fits = CPU_COUNTER_COPIES * entries * sizeof *made->tables <= CPU_COUNTER_L1_BYTES;
    *made = (struct cpu_counter_private){
        .histogram = histogram,
        .entries = entries,
        .copies = fits ? CPU_COUNTER_COPIES : 1,
        .limit = limit,
    };
    made->tables = memory_map(cpu_counter_private_bytes(made));
    *state = made;
    if (!made->tables)
        return status_fail(failure, STATUS_DATA, "no memory for the tables of a CPU thread");
    return STATUS_OK;
}

static enum status cpu_counter_private_open(struct histogram *histogram, void **state,
                                            struct failure *failure)
{
    return cpu_counter_private_open_limited(histogram, UINT32_MAX, state, failure);
}

static void cpu_counter_private_flush(void *state)
{
    struct cpu_counter_private *self = state;

    for (size_t copy = 0; copy < self->copies; copy++) {
        uint32_t *table = self->tables + copy * self->entries;
        histogram_add_counts32(self->histogram, 0, table, self->entries);
        for (size_t i = 0; i < self->entries; i++)
            table[i] = 0;
    }
    self->counted = 0;
}

/* Counts indexes[0..n) in turn in `copies` tables; inlined with a constant for each. */
static inline __attribute__((always_inline)) void cpu_counter_private_add(
    uint32_t *tables, size_t entries, size_t copies, const uint32_t *indexes, size_t n)
{
    size_t i = 0;

    for (; i + copies <= n; i += copies) {
        for (size_t copy = 0; copy < copies; copy++)
            tables[copy * entries + indexes[i + copy]]++;
    }
    for (; i < n; i++)
        tables[indexes[i]]++;
}

static void cpu_counter_private_count(void *state, const uint32_t *indexes, size_t n)
{
    struct cpu_counter_private *self = state;

    while (n > 0) {
        if (self->counted == self->limit)
            cpu_counter_private_flush(self);
        size_t room = self->limit - self->counted;
        size_t part = n < room ? n : room;
        if (self->copies == CPU_COUNTER_COPIES)
            cpu_counter_private_add(self->tables, self->entries, CPU_COUNTER_COPIES, indexes, part);
        else
            cpu_counter_private_add(self->tables, self->entries, 1, indexes, part);
        self->counted += (uint32_t)part;
        indexes += part;
        n -= part;
    }
}

const struct cpu_counter cpu_counter_private = {
    .open = cpu_counter_private_open,
    .count = cpu_counter_private_count,
    .flush = cpu_counter_private_flush,
    .close = cpu_counter_private_close,
};
