/* Implements cpu_window.h. */
#include "config.h"

#include "cpu/cpu_window.h"

#include "cpu/cpu_keys.h"

/* Without branches: a block can be a mixture. */
#define CPU_WINDOW_DEFINE_PICK(id, name, ctype)                                             \
    static size_t cpu_window_pick_##name(const void *elements, bool swapped, size_t count,  \
                                         uint32_t limit, uint32_t *indexes, uint64_t *keys) \
    {                                                                                       \
        size_t picked = 0;                                                                  \
        for (size_t i = 0; i < count; i++) {                                                \
            const ctype value = cpu_keys_load_##name(swapped, elements, i);                 \
            uint32_t index = indexes[i];                                                    \
            keys[picked] = (uint64_t)(int64_t)value;                                        \
            indexes[i - picked] = index;                                                    \
            picked += index >= limit;                                                       \
        }                                                                                   \
        return picked;                                                                      \
    }
ELEMENT_TYPES(CPU_WINDOW_DEFINE_PICK)

#define CPU_WINDOW_ROW(id, name, ctype) [ELEMENT_##id] = cpu_window_pick_##name,
static cpu_window_pick *const cpu_window_picks[ELEMENT_TYPE_COUNT] = {
    ELEMENT_TYPES(CPU_WINDOW_ROW)};

void cpu_window_init(struct cpu_window *self, const struct job *job)
{
    self->element = &job->element;
    self->has_weights = job->second == SECOND_WEIGHTS;
    self->pick = cpu_window_picks[job->element.type];
}

enum status cpu_window_turn(struct cpu_window *self, const struct growing_window *window,
                            struct failure *failure)
{
    const struct cpu_counter *counter = cpu_counter_choose(window->histogram, self->has_weights);

    if (self->counter) {
        self->counter->flush(self->counter_state);
        self->counter->close(self->counter_state);
    }
    self->window = window;
    cpu_index_init(&self->index, self->element, &window->binning);
    self->counter_state = NULL;
    self->counter = counter;
    return counter->open(window->histogram, &self->counter_state, failure);
}

/* As cpu_window_count, with weights. An element of weight 0 adds nothing to bin 0. */
static size_t cpu_window_count_weighted(struct cpu_window *self, const void *block,
                                        const uint64_t *weights, size_t n)
{
    const uint32_t limit = self->window ? self->window->binning.bins : 1;
    size_t outside = 0;

    if (self->window)
        cpu_index_find(&self->index, block, n, self->indexes);
    for (size_t i = 0; i < n; i++) {
        const uint32_t index = self->window ? self->indexes[i] : limit;
        self->indexes[i] = weights[i] > 0 ? index : 0;
        self->weights[i - outside] = weights[i];
        self->outside_weights[outside] = weights[i];
        outside += self->indexes[i] >= limit;
    }
    self->pick(block, self->element->swapped, n, limit, self->indexes, self->outside);
    if (self->window)
        self->counter->count(self->counter_state, self->indexes, self->weights, n - outside);
    return outside;
}

size_t cpu_window_count(struct cpu_window *self, const void *block, const uint64_t *weights,
                        size_t n)
{
    const struct binning *binning = self->window ? &self->window->binning : NULL;

    if (self->has_weights)
        return cpu_window_count_weighted(self, block, weights, n);
    if (!binning)
        return self->pick(block, self->element->swapped, n, 0, self->indexes, self->outside);
    cpu_index_find(&self->index, block, n, self->indexes);
    const size_t outside = cpu_index_outside(self->indexes, n, binning->bins);
    if (outside > 0)
        self->pick(block, self->element->swapped, n, binning->bins, self->indexes, self->outside);
    self->counter->count(self->counter_state, self->indexes, NULL, n - outside);
    return outside;
}

void cpu_window_flush(struct cpu_window *self)
{
    if (self->window)
        self->counter->flush(self->counter_state);
}

void cpu_window_destroy(struct cpu_window *self)
{
    if (self->counter)
        self->counter->close(self->counter_state);
}
