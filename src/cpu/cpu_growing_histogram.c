/*
 * Growing histogram on a CPU thread: as histogram, in the newest window; what lies outside is
 * picked out of each block, and a wider window asked for.
 */
#include "config.h"

#include "cpu/cpu_counter.h"
#include "cpu/cpu_engine.h"
#include "cpu/cpu_index.h"
#include "job/binning_index.h"
#include "operations/growing_histogram.h"

#include <stdlib.h>
#include <string.h>

/*
 * When no window was made for values outside, so many blocks at most with more of them are counted
 * apart until one is asked for again: 1, 3, 7, ...
 */
#define CPU_GROWING_HISTOGRAM_PAUSE_MAX 255

/* Of a block, picks the keys of values whose bin numbers are `limit` or more, and drops those. */
typedef size_t cpu_growing_histogram_pick(const void *elements, bool swapped, size_t count,
                                          uint32_t limit, uint32_t *indexes, uint64_t *keys);

struct cpu_growing_histogram {
    const struct job *job;
    struct growing_histogram *histogram;
    struct cpu_index index; /* of the window's binning */
    cpu_growing_histogram_pick *pick;
    const struct growing_window *window; /* that the counter counts in; NULL: there is none yet */
    const struct cpu_counter *counter;
    void *counter_state;
    struct bin_map_batch *batch; /* NULL: not in use yet */
    unsigned pause;              /* blocks until a window is asked for again */
    unsigned next_pause;
    uint32_t indexes[GROWING_HISTOGRAM_BLOCK];
    uint64_t keys[GROWING_HISTOGRAM_BLOCK]; /* of the values outside */
};

/* Without branches: a block can be a mixture. */
#define CPU_GROWING_HISTOGRAM_DEFINE_PICK(id, name, ctype)                              \
    static size_t cpu_growing_histogram_pick_##name(const void *elements, bool swapped, \
                                                    size_t count, uint32_t limit,       \
                                                    uint32_t *indexes, uint64_t *keys)  \
    {                                                                                   \
        size_t picked = 0;                                                              \
        for (size_t i = 0; i < count; i++) {                                            \
            const ctype value = cpu_keys_load_##name(swapped, elements, i);             \
            uint32_t index = indexes[i];                                                \
            keys[picked] = (uint64_t)(int64_t)value;                                    \
            indexes[i - picked] = index;                                                \
            picked += index >= limit;                                                   \
        }                                                                               \
        return picked;                                                                  \
    }
ELEMENT_TYPES(CPU_GROWING_HISTOGRAM_DEFINE_PICK)

#define CPU_GROWING_HISTOGRAM_ROW(id, name, ctype) \
    [ELEMENT_##id] = cpu_growing_histogram_pick_##name,
static cpu_growing_histogram_pick *const cpu_growing_histogram_picks[ELEMENT_TYPE_COUNT] = {
    ELEMENT_TYPES(CPU_GROWING_HISTOGRAM_ROW)};

static enum status cpu_growing_histogram_open(const struct job *job, void *partial, void **state,
                                              struct failure *failure)
{
    struct cpu_growing_histogram *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    made->histogram = partial;
    made->pick = cpu_growing_histogram_picks[job->element.type];
    return STATUS_OK;
}

/* Counts in that window from now on. */
static enum status cpu_growing_histogram_turn(struct cpu_growing_histogram *self,
                                              const struct growing_window *window,
                                              struct failure *failure)
{
    const struct cpu_counter *counter = cpu_counter_choose(window->histogram);

    if (self->counter)
        self->counter->flush(self->counter_state);
    self->window = window;
    cpu_index_destroy(&self->index);
    if (cpu_index_init(&self->index, &self->job->element, &window->binning, failure) != STATUS_OK)
        return failure->status;
    if (counter == self->counter && counter->move)
        return counter->move(self->counter_state, window->histogram, failure);
    if (self->counter)
        self->counter->close(self->counter_state);
    self->counter_state = NULL;
    self->counter = counter;
    return counter->open(window->histogram, &self->counter_state, failure);
}

/* Counts those of a block's values that the window has. Returns how many are outside, as keys. */
static size_t cpu_growing_histogram_count(struct cpu_growing_histogram *self, const void *block,
                                          size_t n)
{
    const struct element *element = &self->job->element;
    const struct binning *binning = self->window ? &self->window->binning : NULL;

    if (!binning)
        return self->pick(block, element->swapped, n, 0, self->indexes, self->keys);
    cpu_index_find(&self->index, block, n, self->indexes);
    const size_t outside = cpu_index_outside(self->indexes, n, binning->bins);
    if (outside > 0)
        self->pick(block, element->swapped, n, binning->bins, self->indexes, self->keys);
    self->counter->count(self->counter_state, self->indexes, n - outside);
    return outside;
}

/* The same of keys[0..n). */
static size_t cpu_growing_histogram_count_keys(struct cpu_growing_histogram *self, size_t n)
{
    const struct binning *binning = &self->window->binning;
    size_t outside = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t key = self->keys[i];
        const uint32_t index = binning_index(binning, binning->form, key);
        self->keys[outside] = key;
        self->indexes[i - outside] = index;
        outside += index >= binning->bins;
    }
    self->counter->count(self->counter_state, self->indexes, n - outside);
    return outside;
}

/*
 * Asks for windows until one has all that is outside, or none is worth it, and counts it there.
 * Stores how many of a block of n values are still outside.
 */
static enum status cpu_growing_histogram_widen(struct cpu_growing_histogram *self, size_t n,
                                               size_t *outside, struct failure *failure)
{
    while (*outside > 0) {
        const struct growing_window *window;
        if (growing_histogram_widen(self->histogram, self->window, self->keys, *outside, n, &window,
                                    failure) != STATUS_OK)
            return failure->status;
        if (window == self->window) {
            self->pause = self->next_pause;
            self->next_pause = 2 * self->next_pause + 1;
            if (self->next_pause > CPU_GROWING_HISTOGRAM_PAUSE_MAX)
                self->next_pause = CPU_GROWING_HISTOGRAM_PAUSE_MAX;
            return STATUS_OK;
        }
        self->next_pause = 0;
        if (cpu_growing_histogram_turn(self, window, failure) != STATUS_OK)
            return failure->status;
        *outside = cpu_growing_histogram_count_keys(self, *outside);
    }
    return STATUS_OK;
}

/* Counts what lies outside apart. */
static enum status cpu_growing_histogram_spill(struct cpu_growing_histogram *self, size_t n,
                                               struct failure *failure)
{
    if (!self->batch) {
        self->batch = malloc(sizeof *self->batch);
        if (!self->batch)
            return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
        self->batch->count = 0;
    }
    return growing_histogram_spill(self->histogram, self->batch, self->keys, n, failure);
}

static enum status cpu_growing_histogram_block(struct cpu_growing_histogram *self,
                                               const void *block, size_t n, struct failure *failure)
{
    const struct growing_window *newest = growing_histogram_window(self->histogram);

    if (newest != self->window && cpu_growing_histogram_turn(self, newest, failure) != STATUS_OK)
        return failure->status;
    size_t outside = cpu_growing_histogram_count(self, block, n);
    if (outside > 0 && self->pause > 0)
        self->pause--;
    else if (cpu_growing_histogram_widen(self, n, &outside, failure) != STATUS_OK)
        return failure->status;
    return outside > 0 ? cpu_growing_histogram_spill(self, outside, failure) : STATUS_OK;
}

static enum status cpu_growing_histogram_absorb(void *state, const struct chunk *chunk,
                                                struct failure *failure)
{
    struct cpu_growing_histogram *self = state;
    size_t bytes = self->job->element.bytes;
    size_t elements = chunk->bytes / bytes;

    for (size_t i = 0; i < elements; i += GROWING_HISTOGRAM_BLOCK) {
        size_t n = elements - i < GROWING_HISTOGRAM_BLOCK ? elements - i : GROWING_HISTOGRAM_BLOCK;
        const char *block = (const char *)chunk->data + i * bytes;
        if (cpu_growing_histogram_block(self, block, n, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status cpu_growing_histogram_finish(void *state, struct failure *failure)
{
    struct cpu_growing_histogram *self = state;

    if (self->window)
        self->counter->flush(self->counter_state);
    return self->batch ? bin_map_add(self->histogram->map, self->batch, failure) : STATUS_OK;
}

static void cpu_growing_histogram_close(void *state)
{
    struct cpu_growing_histogram *self = state;
    if (!self)
        return;
    if (self->counter)
        self->counter->close(self->counter_state);
    cpu_index_destroy(&self->index);
    free(self->batch);
    free(self);
}

const struct cpu_operation cpu_growing_histogram = {
    .open = cpu_growing_histogram_open,
    .absorb = cpu_growing_histogram_absorb,
    .finish = cpu_growing_histogram_finish,
    .close = cpu_growing_histogram_close,
};
