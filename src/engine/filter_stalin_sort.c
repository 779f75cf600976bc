/*
 * Operation stalin-sort. A CPU thread sorts a chunk; the aggregate merges the chunks in order and
 * writes them (stalin_sort.h).
 */
#include "config.h"

#include "aggregate/stalin_sort.h"
#include "engine/cpu_keys.h"
#include "engine/stores.h"
#include "lib/cpu_isa.h"
#include "lib/memory.h"

#include <string.h>

/* Elements of a group: one test detects that none is kept, another that all are kept. */
#define FILTER_STALIN_SORT_GROUP 64

/* The output of a chunk: the elements kept and dropped so far. */
struct filter_stalin_sort_sink {
    char *kept;
    size_t kept_count;
    char *purged; /* dropped elements; NULL: not wanted */
    size_t purged_count;
    uint64_t last; /* key of the last element kept in or before this chunk; valid if has_last */
    bool has_last;
};

/*
 * Sorts values[0..count), which have this machine's byte order. `elements` are the same values in
 * their original byte order, for the output.
 */
typedef void filter_stalin_sort_function(const void *values, const void *elements, size_t count,
                                         bool descending, struct filter_stalin_sort_sink *sink);

struct filter_stalin_sort_local {
    const struct plan *plan;
    struct stalin_sort *aggregate;
    filter_stalin_sort_function *sort;
    char *memory; /* `capacity` bytes for kept elements, then as many for dropped ones */
    size_t capacity;
    struct cpu_native native;
};

#define FILTER_STALIN_SORT_INLINE static inline __attribute__((always_inline))

/*
 * The two vectorized loops. They exist for each type, because vectors of keys would hold fewer
 * elements. If the order is descending, all bits of `flip` are set: it reverses the order of signed
 * and unsigned values.
 *
 * filter_stalin_sort_best_T: returns the flipped key of the largest flipped element of a group.
 * filter_stalin_sort_are_sorted_T: returns whether each element of a group is in order after the
 * previous one.
 */
#define FILTER_STALIN_SORT_LOOPS(id, name, ctype)                                          \
    FILTER_STALIN_SORT_INLINE uint64_t filter_stalin_sort_best_##name(const void *group,   \
                                                                      uint64_t flip)       \
    {                                                                                      \
        const ctype *values = group;                                                       \
        ctype best = values[0] ^ (ctype)flip;                                              \
        for (size_t i = 1; i < FILTER_STALIN_SORT_GROUP; i++) {                            \
            ctype value = values[i] ^ (ctype)flip;                                         \
            best = value > best ? value : best;                                            \
        }                                                                                  \
        return (uint64_t)(int64_t)(ctype)(best ^ (ctype)flip) ^ flip;                      \
    }                                                                                      \
    FILTER_STALIN_SORT_INLINE bool filter_stalin_sort_are_sorted_##name(const void *group, \
                                                                        uint64_t flip,     \
                                                                        bool strict)       \
    {                                                                                      \
        const ctype *values = group;                                                       \
        ctype fails = 0;                                                                   \
        for (size_t i = 1; i < FILTER_STALIN_SORT_GROUP; i++) {                            \
            ctype value = values[i] ^ (ctype)flip;                                         \
            ctype before = values[i - 1] ^ (ctype)flip;                                    \
            fails |= strict ? value <= before : value < before;                            \
        }                                                                                  \
        return !fails;                                                                     \
    }
ELEMENT_TYPES(FILTER_STALIN_SORT_LOOPS)

/* The sort order of a plan, and the loops of its type. */
struct filter_stalin_sort_order {
    struct element element;
    bool strict;
    uint64_t flip;
    uint64_t (*best)(const void *group, uint64_t flip);
    bool (*are_sorted)(const void *group, uint64_t flip, bool strict);
};

/* Returns whether an element is kept after the last kept one, `last`; both are flipped keys. */
FILTER_STALIN_SORT_INLINE bool filter_stalin_sort_passes(struct filter_stalin_sort_order order,
                                                         uint64_t key, uint64_t last)
{
    if (order.element.is_signed)
        return order.strict ? (int64_t)key > (int64_t)last : (int64_t)key >= (int64_t)last;
    return order.strict ? key > last : key >= last;
}

/* Sorts count elements one by one. Returns the flipped key of the last kept element. */
FILTER_STALIN_SORT_INLINE uint64_t filter_stalin_sort_each(struct filter_stalin_sort_order order,
                                                           const char *values, const char *elements,
                                                           size_t count, uint64_t last,
                                                           struct filter_stalin_sort_sink *sink)
{
    const size_t width = order.element.bytes;
    char *kept = sink->kept; /* local copies: stores of elements could change *sink */
    char *purged = sink->purged;
    size_t kept_count = sink->kept_count;
    size_t purged_count = sink->purged_count;

    for (size_t i = 0; i < count; i++) {
        uint64_t key = element_load(order.element.type, values + i * width) ^ order.flip;
        bool keep = filter_stalin_sort_passes(order, key, last);
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

/* Sorts a group. Returns the flipped key of the last kept element. */
FILTER_STALIN_SORT_INLINE uint64_t filter_stalin_sort_group(struct filter_stalin_sort_order order,
                                                            const char *values,
                                                            const char *elements, uint64_t last,
                                                            struct filter_stalin_sort_sink *sink)
{
    const size_t width = order.element.bytes;
    const size_t bytes = FILTER_STALIN_SORT_GROUP * width;

    if (!filter_stalin_sort_passes(order, order.best(values, order.flip), last)) {
        if (sink->purged) {
            memcpy(sink->purged + sink->purged_count * width, elements, bytes);
            sink->purged_count += FILTER_STALIN_SORT_GROUP;
        }
        return last;
    }
    uint64_t first = element_load(order.element.type, values) ^ order.flip;
    if (filter_stalin_sort_passes(order, first, last) &&
        order.are_sorted(values, order.flip, order.strict)) {
        memcpy(sink->kept + sink->kept_count * width, elements, bytes);
        sink->kept_count += FILTER_STALIN_SORT_GROUP;
        return element_load(order.element.type, values + bytes - width) ^ order.flip;
    }
    return filter_stalin_sort_each(order, values, elements, FILTER_STALIN_SORT_GROUP, last, sink);
}

/* A filter_stalin_sort_function for an order that is constant except for `flip`. */
FILTER_STALIN_SORT_INLINE void filter_stalin_sort_block(struct filter_stalin_sort_order order,
                                                        const char *values, const char *elements,
                                                        size_t count,
                                                        struct filter_stalin_sort_sink *sink)
{
    const size_t width = order.element.bytes;
    uint64_t last = sink->last ^ order.flip;
    size_t i = 0;

    if (!sink->has_last && count > 0) {
        memcpy(sink->kept + sink->kept_count++ * width, elements, width);
        last = element_load(order.element.type, values) ^ order.flip;
        sink->has_last = true;
        i = 1;
    }
    for (; count - i >= FILTER_STALIN_SORT_GROUP; i += FILTER_STALIN_SORT_GROUP)
        last =
            filter_stalin_sort_group(order, values + i * width, elements + i * width, last, sink);
    last = filter_stalin_sort_each(order, values + i * width, elements + i * width, count - i, last,
                                   sink);
    sink->last = last ^ order.flip;
}

/* A function for each type, strictness and instruction set, and their table. */
#define FILTER_STALIN_SORT_WRAP(isa, target, id, name, ctype, strictness, strict)             \
    target static void filter_stalin_sort_##strictness##_##name##_##isa(                      \
        const void *values, const void *elements, size_t count, bool descending,              \
        struct filter_stalin_sort_sink *sink)                                                 \
    {                                                                                         \
        const struct filter_stalin_sort_order order = {ELEMENT_OF(id, name, ctype), strict,   \
                                                       descending ? UINT64_MAX : 0,           \
                                                       filter_stalin_sort_best_##name,        \
                                                       filter_stalin_sort_are_sorted_##name}; \
        filter_stalin_sort_block(order, values, elements, count, sink);                       \
    }
#define FILTER_STALIN_SORT_DEFINE(id, name, ctype)                           \
    CPU_ISA_VARIANTS(FILTER_STALIN_SORT_WRAP, id, name, ctype, loose, false) \
    CPU_ISA_VARIANTS(FILTER_STALIN_SORT_WRAP, id, name, ctype, strict, true)
ELEMENT_TYPES(FILTER_STALIN_SORT_DEFINE)

#define FILTER_STALIN_SORT_ENTRY(isa, target, name, strictness) \
    filter_stalin_sort_##strictness##_##name##_##isa,
#define FILTER_STALIN_SORT_ROW(id, name, ctype)                                  \
    [ELEMENT_##id] = {{CPU_ISA_VARIANTS(FILTER_STALIN_SORT_ENTRY, name, loose)}, \
                      {CPU_ISA_VARIANTS(FILTER_STALIN_SORT_ENTRY, name, strict)}},

static enum status filter_stalin_sort_open(void *local, const struct plan *plan, void *aggregate,
                                           struct failure *failure)
{
    static filter_stalin_sort_function *const functions[ELEMENT_TYPE_COUNT][2][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(FILTER_STALIN_SORT_ROW)};
    struct filter_stalin_sort_local *self = local;
    (void)failure;

    self->plan = plan;
    self->aggregate = aggregate;
    self->sort = functions[plan->element.type][plan->stalin_sort.strict][cpu_isa_best()];
    return STATUS_OK;
}

static enum status filter_stalin_sort_accumulate(void *local, const struct chunk *chunk,
                                                 struct failure *failure)
{
    struct filter_stalin_sort_local *self = local;
    const struct plan *plan = self->plan;
    size_t width = plan->element.bytes;
    size_t count = chunk->bytes / width;

    if (chunk->bytes >= self->capacity) {
        memory_unmap(self->memory, 2 * self->capacity);
        self->capacity = 2 * chunk->bytes + 64; /* chunks of a pipe vary, and can be empty */
        self->memory = memory_map(2 * self->capacity);
        if (!self->memory)
            return status_fail(failure, STATUS_DATA,
                               "not enough memory for the kept values of %zu bytes", chunk->bytes);
    }
    struct filter_stalin_sort_sink sink = {
        .kept = self->memory,
        .purged = plan->stalin_sort.purged ? self->memory + self->capacity : NULL,
    };
    sink.has_last = stalin_sort_floor(self->aggregate, &sink.last);
    for (size_t i = 0; i < count; i += CPU_NATIVE_BLOCK) {
        size_t n = count - i < CPU_NATIVE_BLOCK ? count - i : CPU_NATIVE_BLOCK;
        const char *elements = (const char *)chunk->data + i * width;
        const void *values = cpu_native_block(&plan->element, elements, n, &self->native);
        self->sort(values, elements, n, plan->stalin_sort.descending, &sink);
    }
    struct stalin_sort_run run = {
        .chunk = *chunk,
        .kept = sink.kept,
        .kept_count = sink.kept_count,
        .purged = sink.purged,
    };
    return stalin_sort_submit(self->aggregate, &run, failure);
}

static void filter_stalin_sort_close(void *local)
{
    struct filter_stalin_sort_local *self = local;
    memory_unmap(self->memory, 2 * self->capacity);
}

const struct store filter_stalin_sort = {
    .create = stalin_sort_create,
    .finalize = stalin_sort_finalize,
    .destroy = stalin_sort_destroy,
    .connect = stalin_sort_connect,
    .stop = stalin_sort_stop,
    .local_bytes = sizeof(struct filter_stalin_sort_local),
    .local_open = filter_stalin_sort_open,
    .local_accumulate = filter_stalin_sort_accumulate,
    .local_close = filter_stalin_sort_close,
    .stats = stalin_sort_stats,
};
