/*
 * Operation histogram on a CPU thread: a block of elements to bin numbers, and these counted. Bins
 * that are slow to compute are folded, found in a tree, or looked up and mostly counted in one.
 */
#include "config.h"

#include "cpu/cpu_counter.h"

#include "cpu/cpu_engine.h"
#include "cpu/cpu_fold.h"
#include "cpu/cpu_guide.h"
#include "cpu/cpu_index.h"
#include "cpu/cpu_map.h"
#include "cpu/cpu_tree.h"
#include "engine/outside.h"

#include <stdlib.h>

/* Values that are counted one way, after which another one may be taken. */
#define CPU_HISTOGRAM_BLOCK 16384

/* Bin numbers that are kept: 16 KiB, half of a common L1. */
#define CPU_HISTOGRAM_NUMBERS 4096

/*
 * The values that a thread counts before it makes its guide or map, that little input need not wait
 * for, and so many more for each bin: it takes 0.1 ms for 1000 edges, and saves 1.5 to 3 ns a
 * value.
 */
#define CPU_HISTOGRAM_FEW_VALUES     ((size_t)1 << 15)
#define CPU_HISTOGRAM_VALUES_PER_BIN 8

struct cpu_histogram {
    const struct job *job;
    struct histogram *histogram;
    struct cpu_fold fold;
    const struct binning *binning; /* counted in: the job's, or that of the fold */
    struct cpu_tree tree;          /* without `count`: none; used if there is no guide (yet) */
    struct cpu_guide *guide;       /* NULL: none (yet) */
    uint16_t *map;                 /* NULL: none (yet) */
    bool may_look_up;              /* a guide or map may be made, once `counted` is large */
    size_t counted;                /* until then */
    bool is_slow;       /* the guide, or else the tree, is for the last block's values, */
    bool is_final;      /* and there is nothing better */
    bool was_tree_slow; /* for some block */
    unsigned choice;    /* of guides: the first that was not tried */
    bool had_outside;   /* if that is an error, and counters are not private */
    cpu_index_function *index;
    const struct cpu_counter *counter;
    void *counter_state;
    uint32_t numbers[CPU_HISTOGRAM_NUMBERS]; /* of bins */
    struct cpu_guide_places places;
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
    const bool takes_ranks = !is_folded && made->counter == &cpu_counter_private;
    if (takes_ranks)
        cpu_tree_init(&made->tree, job);
    made->may_look_up = takes_ranks;
    if (made->counter->open(table, &made->counter_state, failure) != STATUS_OK)
        return failure->status;
    if (made->tree.count)
        cpu_counter_private_take_ranks(made->counter_state);
    return STATUS_OK;
}

/* So many values of a block in mixed buckets, 5 to 10 ns each, and another guide is looked for. */
#define CPU_HISTOGRAM_MIXED_MAX (CPU_HISTOGRAM_BLOCK / 8)

/* Counts a block by the guide. Elements that are its keys are not looked at before. */
static void cpu_histogram_count_guided(struct cpu_histogram *self, const char *block, size_t n)
{
    const struct cpu_guide *guide = self->guide;
    size_t mixed = 0;

    for (size_t i = 0, part; i < n; i += part) {
        const void *keys = block + i * self->job->element.bytes;
        part = guide->is_direct || n - i < CPU_GUIDE_BLOCK ? n - i : CPU_GUIDE_BLOCK;
        if (!guide->is_direct) {
            guide->place(guide, self->job->element.swapped, keys, part, &self->places);
            keys = &self->places;
        }
        mixed += cpu_counter_private_count_keys(self->counter_state, guide, keys,
                                                self->places.buckets, part);
    }
    self->is_slow = mixed > CPU_HISTOGRAM_MIXED_MAX;
}

/*
 * So many values of a block found twice in the tree, and a guide is looked for: 6 ns more each with
 * 6 levels, of words that are cut 3 to 7 ns.
 */
#define CPU_HISTOGRAM_TWICE_MAX (CPU_HISTOGRAM_BLOCK / 16)

/* Counts a block by the tree. */
static void cpu_histogram_count_searched(struct cpu_histogram *self, const void *block, size_t n)
{
    const struct element *element = &self->job->element;
    const size_t twice = cpu_counter_private_count_tree(self->counter_state, &self->tree,
                                                        element->swapped, block, element->bytes, n);

    self->is_slow = twice > CPU_HISTOGRAM_TWICE_MAX;
}

/* Whether the private counters have ranks. A guide gives way to another one or to a tree alone. */
static bool cpu_histogram_has_ranks(const struct cpu_histogram *self)
{
    return self->guide || self->tree.count;
}

/* Counts a block by computing bin numbers. */
static void cpu_histogram_count_computed(struct cpu_histogram *self, const char *block, size_t n)
{
    const struct element *element = &self->job->element;

    for (size_t i = 0, part; i < n; i += part) {
        const char *elements = block + i * element->bytes;
        part = n - i < CPU_HISTOGRAM_NUMBERS ? n - i : CPU_HISTOGRAM_NUMBERS;
        if (self->counter == &cpu_counter_private) {
            cpu_counter_private_count_elements(self->counter_state, self->index, self->binning,
                                               element, elements, part, self->numbers, true);
            continue;
        }
        self->index(self->binning, element->swapped, elements, part, self->numbers, NULL);
        if (self->job->outside == OUTSIDE_ABORT && !self->had_outside)
            self->had_outside = cpu_index_outside(self->numbers, part, self->binning->bins) > 0;
        self->counter->count(self->counter_state, self->numbers, part);
    }
}

/* Counts a block of elements. */
static void cpu_histogram_count(struct cpu_histogram *self, const void *block, size_t n)
{
    if (self->map)
        cpu_counter_private_count_mapped(self->counter_state, self->map, block, n);
    else if (self->guide)
        cpu_histogram_count_guided(self, block, n);
    else if (self->tree.count)
        cpu_histogram_count_searched(self, block, n);
    else
        cpu_histogram_count_computed(self, block, n);
}

/* Whether anything that was counted is outside the bins; to be asked if that is an error. */
static bool cpu_histogram_has_outside(const struct cpu_histogram *self)
{
    return self->counter == &cpu_counter_private
               ? cpu_counter_private_has_outside(self->counter_state)
               : self->had_outside;
}

/* Takes the first guide that will do among the choices up to that one, if there is one. */
static enum status cpu_histogram_look_up(struct cpu_histogram *self, unsigned last,
                                         struct failure *failure)
{
    struct cpu_guide *guide;

    if (cpu_guide_create(self->job, self->choice, last, &guide, failure) != STATUS_OK)
        return failure->status;
    self->choice = guide ? guide->choice + 1 : last + 1;
    if (!guide)
        return STATUS_OK;
    if (!cpu_histogram_has_ranks(self))
        cpu_counter_private_take_ranks(self->counter_state);
    cpu_guide_destroy(self->guide);
    self->guide = guide;
    self->is_slow = false;
    return STATUS_OK;
}

/*
 * Makes the guide or map, if there is to be one, once enough is counted before these elements. Only
 * the quickest guides are quicker than a tree, if any is.
 */
static enum status cpu_histogram_prepare(struct cpu_histogram *self, size_t elements,
                                         struct failure *failure)
{
    const size_t few =
        CPU_HISTOGRAM_FEW_VALUES + CPU_HISTOGRAM_VALUES_PER_BIN * (size_t)self->job->binning.bins;

    if (self->counted < few) {
        self->counted += elements;
        return STATUS_OK;
    }
    self->may_look_up = false;
    if (self->tree.count && self->tree.is_quickest)
        return STATUS_OK;
    if (self->tree.count)
        return cpu_histogram_look_up(self, CPU_GUIDE_FIRST_CHOICE, failure);
    if (cpu_map_create(self->job, &self->map, failure) != STATUS_OK)
        return failure->status;
    if (self->map)
        return STATUS_OK;
    return cpu_histogram_look_up(self, CPU_GUIDE_LAST_CHOICE, failure);
}

/*
 * Values are not what the present way is good for: takes the tree instead of a guide, unless that
 * was slow before, or another guide. No guide is taken twice, so that this comes to an end.
 */
static enum status cpu_histogram_change(struct cpu_histogram *self, struct failure *failure)
{
    const bool has_guide = self->guide;

    self->was_tree_slow = self->was_tree_slow || !has_guide;
    if (has_guide && self->tree.count && !self->was_tree_slow) {
        cpu_guide_destroy(self->guide);
        self->guide = NULL;
        self->is_slow = false;
        return STATUS_OK;
    }
    if (cpu_histogram_look_up(self, CPU_GUIDE_LAST_CHOICE, failure) != STATUS_OK)
        return failure->status;
    self->is_final = self->is_slow; /* none was found */
    return STATUS_OK;
}

static enum status cpu_histogram_absorb(void *state, const struct chunk *chunk,
                                        struct failure *failure)
{
    struct cpu_histogram *self = state;
    const size_t bytes = self->job->element.bytes;
    size_t elements = chunk->bytes / bytes;

    for (size_t i = 0, n; i < elements; i += n) {
        n = elements - i < CPU_HISTOGRAM_BLOCK ? elements - i : CPU_HISTOGRAM_BLOCK;
        if (self->may_look_up && cpu_histogram_prepare(self, n, failure) != STATUS_OK)
            return failure->status;
        if (self->is_slow && !self->may_look_up && !self->is_final &&
            cpu_histogram_change(self, failure) != STATUS_OK)
            return failure->status;
        cpu_histogram_count(self, (const char *)chunk->data + i * bytes, n);
    }
    if (self->job->outside == OUTSIDE_ABORT && cpu_histogram_has_outside(self))
        return outside_check(self->job, chunk, failure);
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
