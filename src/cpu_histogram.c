/*
 * Operation histogram on a CPU thread: a block of elements to bin numbers, and these counted. Bins
 * that are slow to compute are folded, or looked up and counted in one.
 */
#include "config.h"

#include "cpu_counter.h"
#include "cpu_engine.h"
#include "cpu_fold.h"
#include "cpu_guide.h"
#include "cpu_index.h"
#include "cpu_map.h"

#include <stdlib.h>

/* Bin numbers of a block: 16 KiB, half of a common L1. */
#define CPU_HISTOGRAM_BLOCK 4096

/*
 * The same where a guide finds them: its words and the counters do not stay in the L1 together, and
 * are fetched by turns once a block. Uniform int32, 999 random edges, ns a value (Sapphire Rapids):
 * 4096 0.99, 8192 0.89, 16384 0.87, 32768 0.85.
 */
#define CPU_HISTOGRAM_GUIDED_BLOCK 16384

/*
 * The values that a thread counts before it makes its guide or map, that little input need not wait
 * for: it takes 0.1 to 1 ms for 1000 edges, and saves 1.5 ns a value (Zen 4) or 3 (Sapphire
 * Rapids).
 */
#define CPU_HISTOGRAM_FEW_VALUES ((size_t)1 << 16)

struct cpu_histogram {
    const struct job *job;
    struct histogram *histogram;
    struct cpu_fold fold;
    const struct binning *binning; /* counted in: the job's, or that of the fold */
    struct cpu_guide *guide;       /* NULL: none (yet) */
    uint16_t *map;                 /* NULL: none (yet) */
    bool may_look_up;              /* one of these may be made, once `counted` is large */
    size_t counted;                /* until then */
    cpu_index_function *index;
    const struct cpu_counter *counter;
    void *counter_state;
    union {
        uint32_t indexes[CPU_HISTOGRAM_GUIDED_BLOCK];
        struct cpu_guide_places places;
    };
};

static enum status cpu_histogram_open(const struct job *job, void *partial, void **state,
                                      struct failure *failure)
{
    struct cpu_histogram *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    made->histogram = partial;
    if (cpu_fold_init(&made->fold, job, failure) != STATUS_OK)
        return failure->status;
    bool is_folded = made->fold.table;
    made->binning = is_folded ? &made->fold.fine.binning : &job->binning;
    made->index = cpu_index_choose(&job->element, made->binning);
    struct histogram *table = is_folded ? made->fold.table : made->histogram;
    made->counter = cpu_counter_choose(table);
    made->may_look_up = !is_folded && made->counter == &cpu_counter_private;
    return made->counter->open(table, &made->counter_state, failure);
}

/* How many elements are counted at once. */
static size_t cpu_histogram_block(const struct cpu_histogram *self)
{
    if (!self->guide)
        return CPU_HISTOGRAM_BLOCK;
    return self->guide->index ? CPU_HISTOGRAM_GUIDED_BLOCK : CPU_GUIDE_BLOCK;
}

/* Counts a block of elements. Returns how many are outside, where that matters. */
static size_t cpu_histogram_count(struct cpu_histogram *self, const void *block, size_t n)
{
    bool swapped = self->job->element.swapped;
    size_t outside;

    if (self->map) {
        cpu_counter_private_count_mapped(self->counter_state, self->map, block, n);
        return 0;
    }
    if (self->guide && self->guide->index) {
        outside = self->guide->index(self->guide, swapped, block, n, self->indexes);
        self->counter->count(self->counter_state, self->indexes, n);
        return outside;
    }
    if (self->guide) {
        outside = self->guide->place(self->guide, swapped, block, n, &self->places);
        cpu_counter_private_count_places(self->counter_state, self->guide, &self->places, n);
        return outside;
    }
    outside = self->index(self->binning, swapped, block, n, self->indexes);
    self->counter->count(self->counter_state, self->indexes, n);
    return outside;
}

/* Makes the map or guide, if there is to be one, when enough is counted before these elements. */
static enum status cpu_histogram_prepare(struct cpu_histogram *self, size_t elements,
                                         struct failure *failure)
{
    if (self->counted < CPU_HISTOGRAM_FEW_VALUES) {
        self->counted += elements;
        return STATUS_OK;
    }
    self->may_look_up = false;
    if (cpu_map_create(self->job, &self->map, failure) != STATUS_OK)
        return failure->status;
    if (self->map)
        return STATUS_OK;
    return cpu_guide_create(self->job, &self->guide, failure);
}

static enum status cpu_histogram_absorb(void *state, const struct chunk *chunk,
                                        struct failure *failure)
{
    struct cpu_histogram *self = state;
    const size_t bytes = self->job->element.bytes;
    size_t elements = chunk->bytes / bytes;
    size_t outside = 0;

    if (self->may_look_up && cpu_histogram_prepare(self, elements, failure) != STATUS_OK)
        return failure->status;
    const size_t length = cpu_histogram_block(self);
    for (size_t i = 0; i < elements; i += length) {
        size_t n = elements - i < length ? elements - i : length;
        outside += cpu_histogram_count(self, (const char *)chunk->data + i * bytes, n);
    }
    if (outside > 0 && self->job->outside == OUTSIDE_ABORT)
        return job_check_outside(self->job, chunk, failure);
    return STATUS_OK;
}

static enum status cpu_histogram_finish(void *state, struct failure *failure)
{
    struct cpu_histogram *self = state;
    (void)failure;
    self->counter->flush(self->counter_state);
    if (self->fold.table)
        cpu_fold_flush(&self->fold, self->job, self->histogram);
    return STATUS_OK;
}

static void cpu_histogram_close(void *state)
{
    struct cpu_histogram *self = state;
    if (!self)
        return;
    if (self->counter)
        self->counter->close(self->counter_state);
    cpu_guide_destroy(self->guide);
    free(self->map);
    cpu_fold_destroy(&self->fold);
    free(self);
}

const struct cpu_operation cpu_histogram = {
    .open = cpu_histogram_open,
    .absorb = cpu_histogram_absorb,
    .finish = cpu_histogram_finish,
    .close = cpu_histogram_close,
};
