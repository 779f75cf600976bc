/*
 * Private tables. A counter that is incremented twice in a row waits for its own store, so that
 * equal neighbours would cost five cycles each. Several copies of the table, used in rotation,
 * avoid this. There are several copies if together they fit L1.
 */
#include "config.h"

#include "engine/cpu_counter.h"
#include "lib/memory.h"

#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of entries of tables with eight copies, and with four. With more copies, equal
 * neighbours wait less, and other values miss L1 more often. ns per value on Zen 4:
 *
 *   copies                     2     4     8
 *   two values in turn      0.66  0.42  0.33
 *   uniform in 1000 bins       -  0.37  0.40
 */
#define CPU_COUNTER_EIGHT_MAX 258
#define CPU_COUNTER_FOUR_MAX  1024

/* Values per round of the loop: a multiple of the number of copies. */
#define CPU_COUNTER_GROUP 8

/*
 * Distance of two copies in entries: a constant, so that it needs no registers. It is not 4 KiB,
 * because loads then seem to wait for stores. Eight copies are adjacent, in distinct L1 sets: at
 * distances near 4 KiB, a whole run on bytes took 1.07 times as long.
 */
#define CPU_COUNTER_STRIDE(copies) \
    ((size_t)((copies) == 8 ? CPU_COUNTER_EIGHT_MAX : CPU_COUNTER_FOUR_MAX) + 16)

struct cpu_counter_private {
    struct histogram *histogram;
    uint32_t *tables; /* all copies, at distances of CPU_COUNTER_STRIDE */
    size_t bytes;     /* size of the tables */
    size_t copies;    /* 1, 4 or 8 */
    uint32_t counted; /* increments since the last flush: at most staged_limit, so that no counter
                         wraps */
};

static void cpu_counter_private_close(void *state)
{
    struct cpu_counter_private *self = state;
    if (!self)
        return;
    memory_unmap(self->tables, self->bytes);
    free(self);
}

static enum status cpu_counter_private_open(struct histogram *histogram, void **state,
                                            struct failure *failure)
{
    const size_t copies = histogram->entries <= CPU_COUNTER_EIGHT_MAX  ? 8
                          : histogram->entries <= CPU_COUNTER_FOUR_MAX ? 4
                                                                       : 1;
    const size_t entries = copies > 1 ? copies * CPU_COUNTER_STRIDE(copies) : histogram->entries;
    struct cpu_counter_private *self = malloc(sizeof *self);
    if (!self)
        return status_fail(failure, STATUS_DATA, "not enough memory for a CPU thread");

    *self = (struct cpu_counter_private){
        .histogram = histogram,
        .tables = memory_map(entries * sizeof *self->tables),
        .bytes = entries * sizeof *self->tables,
        .copies = copies,
    };
    *state = self;
    if (!self->tables)
        return status_fail(failure, STATUS_DATA,
                           "not enough memory for the tables of a CPU thread");
    return STATUS_OK;
}

static void cpu_counter_private_flush(void *state)
{
    struct cpu_counter_private *self = state;
    const size_t entries = self->histogram->entries;

    for (size_t copy = 0; copy < self->copies; copy++) {
        uint32_t *table = self->tables + copy * CPU_COUNTER_STRIDE(self->copies);
        histogram_add_counts32(self->histogram, 0, table, entries);
        memset(table, 0, entries * sizeof *table);
    }
    self->counted = 0;
}

/*
 * If indexes[0..8) alternate between two bins or are all equal, counts them in one table and
 * returns true. ns per value without and with this function:
 *
 *                         Sapphire Rapids     Zen 4
 *   all equal                  2.3   0.17    0.29  0.17
 *   runs of 16 on average     0.87   0.49    1.05  0.37
 *   uniform                   0.38   0.39    0.28  0.30
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

/* Counts indexes[0..n) in `copies` tables in rotation; `copies` is a constant. */
static inline __attribute__((always_inline)) void cpu_counter_private_add(uint32_t *tables,
                                                                          size_t copies,
                                                                          const uint32_t *indexes,
                                                                          size_t n)
{
    size_t i = 0;

    for (; i + CPU_COUNTER_GROUP <= n; i += CPU_COUNTER_GROUP) {
        if (copies == 1 && cpu_counter_private_add_equal(tables, indexes + i))
            continue;
        for (size_t k = 0; k < CPU_COUNTER_GROUP; k++)
            tables[k % copies * CPU_COUNTER_STRIDE(copies) + indexes[i + k]]++;
    }
    for (; i < n; i++)
        tables[indexes[i]]++;
}

static void cpu_counter_private_count(void *state, const uint32_t *indexes, const uint64_t *weights,
                                      size_t n)
{
    struct cpu_counter_private *self = state;
    const uint32_t limit = self->histogram->staged_limit;
    (void)weights;

    for (size_t i = 0, some; i < n; i += some) {
        if (self->counted == limit)
            cpu_counter_private_flush(self);
        some = n - i < limit - self->counted ? n - i : limit - self->counted;
        if (self->copies == 8)
            cpu_counter_private_add(self->tables, 8, indexes + i, some);
        else if (self->copies == 4)
            cpu_counter_private_add(self->tables, 4, indexes + i, some);
        else
            cpu_counter_private_add(self->tables, 1, indexes + i, some);
        self->counted += (uint32_t)some;
    }
}

const struct cpu_counter cpu_counter_private = {
    .open = cpu_counter_private_open,
    .count = cpu_counter_private_count,
    .flush = cpu_counter_private_flush,
    .close = cpu_counter_private_close,
};
