/* Implements cpu_window.h. */
#include "config.h"

#include "engine/cpu_window.h"

#include "engine/cpu_keys.h"

#include <string.h>

void cpu_window_init(struct cpu_window *self, const struct plan *plan)
{
    self->element = &plan->element;
    self->has_weights = plan->has_weights;
    self->keeps_zeros = plan_keeps_zeros(plan);
}

enum status cpu_window_turn(struct cpu_window *self, const struct growing_window *window,
                            struct failure *failure)
{
    if (self->counter) {
        self->counter->flush(self->counter_state);
        self->counter->close(self->counter_state);
    }
    self->window = window;
    self->counter = cpu_counter_choose(window->histogram, self->has_weights);
    self->counter_state = NULL;
    cpu_index_init(&self->index, self->element, &window->binning);
    return self->counter->open(window->histogram, &self->counter_state, failure);
}

size_t cpu_window_count(struct cpu_window *self, const void *block, const uint64_t *weights,
                        size_t n)
{
    const uint32_t limit = self->window ? self->window->binning.bins : 1;
    size_t outside = 0;

    if (!self->window && (!weights || self->keeps_zeros)) {
        cpu_keys_widen(self->element, block, n, self->outside);
        if (weights)
            memcpy(self->outside_weights, weights, n * sizeof *weights);
        return n;
    }
    if (self->window)
        cpu_index_find(&self->index, block, n, self->indexes);
    if (!weights)
        outside = cpu_index_outside(self->indexes, n, limit);
    const uint32_t of_zeros = self->keeps_zeros ? limit : 0; /* weight 0 adds nothing to bin 0 */
    for (size_t i = 0; weights && i < n; i++) {
        const uint32_t index = self->window ? self->indexes[i] : limit;
        self->indexes[i] = weights[i] > 0 ? index : of_zeros;
        self->weights[i - outside] = weights[i];
        self->outside_weights[outside] = weights[i];
        outside += self->indexes[i] >= limit;
    }
    if (outside > 0) {
        cpu_keys_widen(self->element, block, n, self->outside);
        for (size_t i = 0, k = 0; i < n; i++) { /* without branches: a block can be a mixture */
            const uint32_t index = self->indexes[i];
            self->outside[k] = self->outside[i];
            self->indexes[i - k] = index;
            k += index >= limit;
        }
    }
    if (self->window)
        self->counter->count(self->counter_state, self->indexes, weights ? self->weights : NULL,
                             n - outside);
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
