/*
 * Counts values in a window (growing_window.h) on a CPU thread, and collects the values outside it.
 *
 * Thread-safe on distinct structs.
 */
#ifndef GPUHIST_CPU_WINDOW_H
#define GPUHIST_CPU_WINDOW_H

#include "aggregate/growing_window.h"
#include "engine/cpu_counter.h"
#include "engine/cpu_index.h"

/* Maximum number of values in a block. */
#define CPU_WINDOW_BLOCK ((size_t)4096)

struct cpu_window {
    const struct element *element;
    const struct growing_window *window; /* the current window; not owned; NULL: none yet */
    struct cpu_index index;              /* for the window's binning */
    const struct cpu_counter *counter;
    void *counter_state;
    bool has_weights;
    bool keeps_zeros; /* elements of weight 0 count as outside; else they are dropped */
    uint32_t indexes[CPU_WINDOW_BLOCK];
    uint64_t weights[CPU_WINDOW_BLOCK];         /* the weights of `indexes` */
    uint64_t outside[CPU_WINDOW_BLOCK];         /* keys (element.h) of values outside */
    uint64_t outside_weights[CPU_WINDOW_BLOCK]; /* the weights of `outside` */
};

/* Prepares counting of the elements of a plan, which must outlive it, without a window. */
void cpu_window_init(struct cpu_window *self, const struct plan *plan);

/* Frees what the struct holds. A zero-initialised struct is allowed. */
void cpu_window_destroy(struct cpu_window *self);

/* Counts in that window from now on. Fails with STATUS_DATA if there is no memory. */
enum status cpu_window_turn(struct cpu_window *self, const struct growing_window *window,
                            struct failure *failure);

/*
 * Counts the elements of a block of n <= CPU_WINDOW_BLOCK elements that lie in the window. Stores
 * the keys of the other elements in `outside`, if the plan has weights their weights in
 * `outside_weights`, and returns their number. Without a window all elements are outside. Elements
 * of weight 0 are outside if the plan keeps them, else dropped.
 */
size_t cpu_window_count(struct cpu_window *self, const void *block, const uint64_t *weights,
                        size_t n);

/* Adds all counts to the window's histogram. */
void cpu_window_flush(struct cpu_window *self);

#endif
