/*
 * Counting on a CPU thread in a window (growing_window.h), and picking out the values that lie
 * outside it.
 *
 * Thread-safe on distinct structs.
 */
#ifndef GPUHIST_CPU_WINDOW_H
#define GPUHIST_CPU_WINDOW_H

#include "aggregate/growing_window.h"
#include "engine/cpu_counter.h"
#include "engine/cpu_index.h"

/* The maximum of values of a block. */
#define CPU_WINDOW_BLOCK ((size_t)4096)

struct cpu_window {
    const struct element *element;
    const struct growing_window *window; /* NULL: none yet */
    struct cpu_index index;              /* of its binning */
    const struct cpu_counter *counter;
    void *counter_state;
    bool has_weights;
    bool keeps_zeros; /* elements of weight 0 lie outside */
    uint32_t indexes[CPU_WINDOW_BLOCK];
    uint64_t weights[CPU_WINDOW_BLOCK];         /* of the indexes */
    uint64_t outside[CPU_WINDOW_BLOCK];         /* keys (element.h) */
    uint64_t outside_weights[CPU_WINDOW_BLOCK]; /* of these */
};

/* Prepares counting of the elements of a plan, which must outlive it, without a window. */
void cpu_window_init(struct cpu_window *self, const struct plan *plan);

/* Frees what the struct holds. A zero-initialised struct is allowed. */
void cpu_window_destroy(struct cpu_window *self);

/* Counts in that window from now on. Fails with STATUS_DATA if there is no memory. */
enum status cpu_window_turn(struct cpu_window *self, const struct growing_window *window,
                            struct failure *failure);

/*
 * Counts those of a block of n <= CPU_WINDOW_BLOCK elements that lie in the window. Stores the keys
 * of the others in `outside` and returns their number. Without a window all lie outside. The plan
 * has weights: stores those of the others in `outside_weights`; elements of weight 0 lie outside if
 * the plan keeps them, else nowhere.
 */
size_t cpu_window_count(struct cpu_window *self, const void *block, const uint64_t *weights,
                        size_t n);

/* Adds all counts to the histograms of their windows. */
void cpu_window_flush(struct cpu_window *self);

#endif
