/*
 * Operation stalin-sort on a CPU thread: sorts a chunk by itself. Merging the chunks in order is up
 * to the partial (stalin_sort.h).
 */
#include "config.h"

#include "base/cpu_isa.h"
#include "base/memory.h"
#include "count/stalin_sort.h"
#include "cpu/cpu_engine.h"
#include "cpu/cpu_native.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a group: one test finds that none survives, another that all do. */
#define CPU_STALIN_SORT_GROUP 64

/* The output of a chunk: the elements kept and purged so far. */
struct cpu_stalin_sort_sink {
    char *kept;
    size_t kept_count;
    char *purged; /* NULL: not wanted */
    size_t purged_count;
    uint64_t last; /* key of the last survivor, of this chunk or before it; if has_last */
    bool has_last;
};

/*
 * Sorts values[0..count), which are in this machine's byte order. `elements` are the same values as
 * they were read; these are what is output.
 */
typedef void cpu_stalin_sort_function(const void *values, const void *elements, size_t count,
                                      bool descending, struct cpu_stalin_sort_sink *sink);

struct cpu_stalin_sort {
    const struct job *job;
    struct stalin_sort *partial;
    cpu_native_function *swap; /* NULL: elements are in this machine's byte order */
    cpu_stalin_sort_function *sort;
    char *memory; /* `capacity` bytes for the survivors, then as many for the purged */
    size_t capacity;
    struct cpu_native native;
};

#define CPU_STALIN_SORT_INLINE static inline __attribute__((always_inline))

/*
 * The order of a job. Keys are compared with all bits flipped if the order is descending: that
 * reverses it for signed and unsigned types alike.
 */
struct cpu_stalin_sort_order {
    struct element element;
    bool strict;
    uint64_t flip; /* all bits, or none */
};

/* Whether an element survives if the last survivor is `last`; both are flipped keys. */
CPU_STALIN_SORT_INLINE bool cpu_stalin_sort_passes(struct cpu_stalin_sort_order order, uint64_t key,
                                                   uint64_t last)
{
    if (order.element.is_signed)
        return order.strict ? (int64_t)key > (int64_t)last : (int64_t)key >= (int64_t)last;
    return order.strict ? key > last : key >= last;
}

/*
 * The two loops that compilers vectorize. They exist for each type, because vectors of keys would
 * hold fewer elements.
 *
 * cpu_stalin_sort_best_T: the key of the greatest element of a group, by the job's order.
 * cpu_stalin_sort_are_sorted_T: whether each element of a group survives the one before it.
 */
#define CPU_STALIN_SORT_LOOPS(id, name, ctype)                                                     \
    CPU_STALIN_SORT_INLINE uint64_t cpu_stalin_sort_best_##name(const ctype *values, ctype flip)   \
    {                                                                                              \
        ctype best = values[0] ^ flip;                                                             \
        for (size_t i = 1; i < CPU_STALIN_SORT_GROUP; i++) {                                       \
            ctype value = values[i] ^ flip;                                                        \
            best = value > best ? value : best;                                                    \
        }                                                                                          \
        return (uint64_t)(int64_t)(ctype)(best ^ flip);                                            \
    }                                                                                              \
    CPU_STALIN_SORT_INLINE bool cpu_stalin_sort_are_sorted_##name(const ctype *values, ctype flip, \
                                                                  bool strict)                     \
    {                                                                                              \
        ctype fails = 0;                                                                           \
        for (size_t i = 1; i < CPU_STALIN_SORT_GROUP; i++) {                                       \
            ctype value = values[i] ^ flip;                                                        \
            ctype before = values[i - 1] ^ flip;                                                   \
            fails |= strict ? value <= before : value < before;                                    \
        }                                                                                          \
        return !fails;                                                                             \
    }
ELEMENT_TYPES(CPU_STALIN_SORT_LOOPS)

/* cpu_stalin_sort_best_T for a constant type. */
CPU_STALIN_SORT_INLINE uint64_t cpu_stalin_sort_best(struct cpu_stalin_sort_order order,
                                                     const void *values)
{
    switch (order.element.type) {
#define CPU_STALIN_SORT_CASE(id, name, ctype) \
    case ELEMENT_##id:                        \
        return cpu_stalin_sort_best_##name(values, (ctype)order.flip);
        ELEMENT_TYPES(CPU_STALIN_SORT_CASE)
#undef CPU_STALIN_SORT_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    __builtin_unreachable();
}

/* cpu_stalin_sort_are_sorted_T for a constant type. */
CPU_STALIN_SORT_INLINE bool cpu_stalin_sort_are_sorted(struct cpu_stalin_sort_order order,
                                                       const void *values)
{
    switch (order.element.type) {
#define CPU_STALIN_SORT_CASE(id, name, ctype) \
    case ELEMENT_##id:                        \
        return cpu_stalin_sort_are_sorted_##name(values, (ctype)order.flip, order.strict);
        ELEMENT_TYPES(CPU_STALIN_SORT_CASE)
#undef CPU_STALIN_SORT_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    __builtin_unreachable();
}

/* Sorts count elements one by one. Returns the flipped key of the last survivor. */
CPU_STALIN_SORT_INLINE uint64_t cpu_stalin_sort_each(struct cpu_stalin_sort_order order,
                                                     const char *values, const char *elements,
                                                     size_t count, uint64_t last,
                                                     struct cpu_stalin_sort_sink *sink)
{
    const size_t width = order.element.bytes;
    char *kept = sink->kept; /* copies: stores of elements might change *sink */
    char *purged = sink->purged;
    size_t kept_count = sink->kept_count;
    size_t purged_count = sink->purged_count;

    for (size_t i = 0; i < count; i++) {
        uint64_t key = element_load(order.element.type, values + i * width) ^ order.flip;
        bool keep = cpu_stalin_sort_passes(order, key, last);
        memcpy(kept + kept_count * width, elements + i * width, width);
        kept_count += keep;
        if (purged) {
            memcpy(purged + purged_count * width, elements + i * width, width);
            purged_count += !keep;
        }
        last = keep ? key : last;
    }
    sink->kept_count = kept_count;
    sink->purged_count = purged_count;
    return last;
}

/* Sorts a group. Returns the flipped key of the last survivor. */
CPU_STALIN_SORT_INLINE uint64_t cpu_stalin_sort_group(struct cpu_stalin_sort_order order,
                                                      const char *values, const char *elements,
                                                      uint64_t last,
                                                      struct cpu_stalin_sort_sink *sink)
{
    const size_t width = order.element.bytes;
    const size_t bytes = CPU_STALIN_SORT_GROUP * width;

    if (!cpu_stalin_sort_passes(order, cpu_stalin_sort_best(order, values) ^ order.flip, last)) {
        if (sink->purged) {
            memcpy(sink->purged + sink->purged_count * width, elements, bytes);
            sink->purged_count += CPU_STALIN_SORT_GROUP;
        }
        return last;
    }
    uint64_t first = element_load(order.element.type, values) ^ order.flip;
    if (cpu_stalin_sort_passes(order, first, last) && cpu_stalin_sort_are_sorted(order, values)) {
        memcpy(sink->kept + sink->kept_count * width, elements, bytes);
        sink->kept_count += CPU_STALIN_SORT_GROUP;
        return element_load(order.element.type, values + bytes - width) ^ order.flip;
    }
    return cpu_stalin_sort_each(order, values, elements, CPU_STALIN_SORT_GROUP, last, sink);
}

/* A cpu_stalin_sort_function for a constant type and strictness. */
CPU_STALIN_SORT_INLINE void cpu_stalin_sort_block(struct element element, bool strict,
                                                  const char *values, const char *elements,
                                                  size_t count, bool descending,
                                                  struct cpu_stalin_sort_sink *sink)
{
    const struct cpu_stalin_sort_order order = {element, strict, descending ? UINT64_MAX : 0};
    const size_t width = element.bytes;
    uint64_t last = sink->last ^ order.flip;
    size_t i = 0;

    if (!sink->has_last && count > 0) {
        memcpy(sink->kept + sink->kept_count++ * width, elements, width);
        last = element_load(element.type, values) ^ order.flip;
        sink->has_last = true;
        i = 1;
    }
    for (; count - i >= CPU_STALIN_SORT_GROUP; i += CPU_STALIN_SORT_GROUP)
        last = cpu_stalin_sort_group(order, values + i * width, elements + i * width, last, sink);
    last = cpu_stalin_sort_each(order, values + i * width, elements + i * width, count - i, last,
                                sink);
    sink->last = last ^ order.flip;
}

/* One for each type, strictness and instruction set, and the table of them. */
#define CPU_STALIN_SORT_WRAP(isa, target, id, name, ctype, strictness, strict)              \
    target static void cpu_stalin_sort_##strictness##_##name##_##isa(                       \
        const void *values, const void *elements, size_t count, bool descending,            \
        struct cpu_stalin_sort_sink *sink)                                                  \
    {                                                                                       \
        cpu_stalin_sort_block(ELEMENT_OF(id, name, ctype), strict, values, elements, count, \
                              descending, sink);                                            \
    }
#define CPU_STALIN_SORT_DEFINE(id, name, ctype)                           \
    CPU_ISA_VARIANTS(CPU_STALIN_SORT_WRAP, id, name, ctype, loose, false) \
    CPU_ISA_VARIANTS(CPU_STALIN_SORT_WRAP, id, name, ctype, strict, true)
ELEMENT_TYPES(CPU_STALIN_SORT_DEFINE)

#define CPU_STALIN_SORT_ENTRY(isa, target, name, strictness) \
    cpu_stalin_sort_##strictness##_##name##_##isa,
#define CPU_STALIN_SORT_ROW(id, name, ctype)                                  \
    [ELEMENT_##id] = {{CPU_ISA_VARIANTS(CPU_STALIN_SORT_ENTRY, name, loose)}, \
                      {CPU_ISA_VARIANTS(CPU_STALIN_SORT_ENTRY, name, strict)}},

static cpu_stalin_sort_function *cpu_stalin_sort_choose(const struct job *job)
{
    static cpu_stalin_sort_function *const functions[ELEMENT_TYPE_COUNT][2][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(CPU_STALIN_SORT_ROW)};
    return functions[job->element.type][job->stalin_sort.strict][cpu_isa_best()];
}

static enum status cpu_stalin_sort_open(const struct job *job, void *partial, void **state,
                                        struct failure *failure)
{
    struct cpu_stalin_sort *made = malloc(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    made->partial = partial;
    made->swap = cpu_native_choose(&job->element);
    made->sort = cpu_stalin_sort_choose(job);
    made->memory = NULL;
    made->capacity = 0;
    return STATUS_OK;
}

/* Makes room for the survivors and the purged elements of a chunk. */
static enum status cpu_stalin_sort_reserve(struct cpu_stalin_sort *self, size_t bytes,
                                           struct failure *failure)
{
    if (bytes < self->capacity)
        return STATUS_OK;
    memory_unmap(self->memory, 2 * self->capacity);
    self->capacity = 2 * bytes + 64; /* chunks of a pipe differ in size, and may have no values */
    self->memory = memory_map(2 * self->capacity);
    if (self->memory)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no memory for the survivors of %zu bytes", bytes);
}

static enum status cpu_stalin_sort_absorb(void *state, const struct chunk *chunk,
                                          struct failure *failure)
{
    struct cpu_stalin_sort *self = state;
    const struct job *job = self->job;
    size_t width = job->element.bytes;
    size_t count = chunk->bytes / width;

    if (cpu_stalin_sort_reserve(self, chunk->bytes, failure) != STATUS_OK)
        return failure->status;
    struct cpu_stalin_sort_sink sink = {
        .kept = self->memory,
        .purged = job->stalin_sort.purged ? self->memory + self->capacity : NULL,
    };
    sink.has_last = stalin_sort_floor(self->partial, &sink.last);
    for (size_t i = 0; i < count; i += CPU_NATIVE_BLOCK) {
        size_t n = count - i < CPU_NATIVE_BLOCK ? count - i : CPU_NATIVE_BLOCK;
        const char *elements = (const char *)chunk->data + i * width;
        const void *values = cpu_native_block(self->swap, elements, n, &self->native);
        self->sort(values, elements, n, job->stalin_sort.descending, &sink);
    }
    struct stalin_sort_run run = {
        .chunk = *chunk,
        .kept = sink.kept,
        .kept_count = sink.kept_count,
        .purged = sink.purged,
    };
    return stalin_sort_submit(self->partial, &run, failure);
}

static enum status cpu_stalin_sort_finish(void *state, struct failure *failure)
{
    (void)state;
    (void)failure; /* absorb has submitted every chunk */
    return STATUS_OK;
}

static void cpu_stalin_sort_close(void *state)
{
    struct cpu_stalin_sort *self = state;
    if (!self)
        return;
    memory_unmap(self->memory, 2 * self->capacity);
    free(self);
}

const struct cpu_operation cpu_stalin_sort = {
    .open = cpu_stalin_sort_open,
    .absorb = cpu_stalin_sort_absorb,
    .finish = cpu_stalin_sort_finish,
    .close = cpu_stalin_sort_close,
};
