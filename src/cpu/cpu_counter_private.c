/*
 * Private tables. A counter that is incremented twice in a row waits for its own store, so that
 * equal neighbours would cost five cycles each; with several copies of the table, used in rotation,
 * they do not meet. There are several while together they fit the L1.
 */
#include "config.h"

#include "base/memory.h"
#include "cpu/cpu_counter.h"

#include <stdlib.h>
#include <string.h>

/*
 * The most entries that there are 8 and 4 copies for. 8 of them take an L1 of 32 KiB with 1024
 * entries, which the other things wanted there suffer from: ns a value of uniform ones in 1000 bins
 * with 8 and with 4 copies 0.40 and 0.37 (Zen 4), 0.56 and 0.47 (Sapphire Rapids), two values in
 * turn 0.33 and 0.42; with 2 copies the latter take 0.66.
 */
#define CPU_COUNTER_COPIES_MAX 8
#define CPU_COUNTER_EIGHT_MAX  258
#define CPU_COUNTER_FOUR_MAX   1024

/*
 * Entries from one copy to the next: a constant, so that it costs no registers, and not of 4 KiB,
 * by which loads seem to wait for stores.
 */
#define CPU_COUNTER_STRIDE ((size_t)CPU_COUNTER_FOUR_MAX + 16)

struct cpu_counter_private {
    struct histogram *histogram;
    uint32_t *tables; /* one, or several, CPU_COUNTER_STRIDE apart */
    size_t entries;
    size_t bytes;     /* of the tables */
    size_t copies;    /* 1, 4 or 8 */
    uint32_t limit;   /* increments that no counter can wrap in */
    uint32_t counted; /* since the tables were last added to the histogram, <= limit */
};

static void cpu_counter_private_close(void *state)
{
    struct cpu_counter_private *self = state;
    if (!self)
        return;
    memory_unmap(self->tables, self->bytes);
    free(self);
}

enum status cpu_counter_private_open_limited(struct histogram *histogram, uint32_t limit,
                                             void **state, struct failure *failure)
{
    struct cpu_counter_private *self = malloc(sizeof *self);
    if (!self)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    size_t entries = histogram->entries;
    size_t copies = entries <= CPU_COUNTER_EIGHT_MAX  ? CPU_COUNTER_COPIES_MAX
                    : entries <= CPU_COUNTER_FOUR_MAX ? CPU_COUNTER_COPIES_MAX / 2
                                                      : 1;
    *self = (struct cpu_counter_private){
        .histogram = histogram,
        .entries = entries,
        .bytes = (copies == 1 ? entries : copies * CPU_COUNTER_STRIDE) * sizeof *self->tables,
        .copies = copies,
        .limit = limit,
    };
    self->tables = memory_map(self->bytes);
    *state = self;
    if (!self->tables)
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
        uint32_t *table = self->tables + copy * CPU_COUNTER_STRIDE;
        histogram_add_counts32(self->histogram, 0, table, self->entries);
        memset(table, 0, self->entries * sizeof *table);
    }
    self->counted = 0;
}

/*
 * Counts indexes[0..8) in one table if they are two in turn, or one, and returns whether they are.
 * ns a value of equal ones 2.3 and with this 0.17 on Sapphire Rapids, 0.29 and 0.17 on Zen 4; in
 * runs of 16 on average 0.87 and 0.49, 1.05 and 0.37; uniform ones 0.38 and 0.39, 0.28 and 0.30.
 */
static inline __attribute__((always_inline)) bool cpu_counter_private_add_equal(
    uint32_t *table, const uint32_t *indexes)
{
    uint64_t first;
    uint64_t last;

    memcpy(&first, indexes, sizeof first);
    memcpy(&last, indexes + 6, sizeof last);
    if (__builtin_expect(first != last, 1) ||
        memcmp(indexes, indexes + 2, 6 * sizeof *indexes) != 0)
        return false;
    if (indexes[0] == indexes[1]) {
        table[indexes[0]] += 8;
    } else {
        table[indexes[0]] += 4;
        table[indexes[1]] += 4;
    }
    return true;
}

/* Counts indexes[0..n) in turn in `copies` tables; inlined with a constant for each. */
static inline __attribute__((always_inline)) void cpu_counter_private_add(uint32_t *tables,
                                                                          size_t copies,
                                                                          const uint32_t *indexes,
                                                                          size_t n)
{
    const size_t group = CPU_COUNTER_COPIES_MAX;
    size_t i = 0;

    for (; i + group <= n; i += group) {
        if (copies == 1 && cpu_counter_private_add_equal(tables, indexes + i))
            continue;
        for (size_t k = 0; k < group; k++)
            tables[k % copies * CPU_COUNTER_STRIDE + indexes[i + k]]++;
    }
    for (; i < n; i++)
        tables[indexes[i]]++;
}

static void cpu_counter_private_count(void *state, const uint32_t *indexes, const uint64_t *weights,
                                      size_t n)
{
    struct cpu_counter_private *self = state;

    (void)weights;
    while (n > 0) {
        if (self->counted == self->limit)
            cpu_counter_private_flush(self);
        const size_t left = self->limit - self->counted;
        const size_t part = n < left ? n : left;
        if (self->copies == 8)
            cpu_counter_private_add(self->tables, 8, indexes, part);
        else if (self->copies == 4)
            cpu_counter_private_add(self->tables, 4, indexes, part);
        else
            cpu_counter_private_add(self->tables, 1, indexes, part);
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
