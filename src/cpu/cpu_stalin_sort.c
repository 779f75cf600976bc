/* Operation stalin-sort on a CPU thread: a chunk's survivors, among themselves. */
#include "config.h"

#include "base/cpu_isa.h"
#include "base/memory.h"
#include "cpu/cpu_engine.h"
#include "cpu/cpu_native.h"
#include "operations/stalin_sort.h"

#include <stdlib.h>
#include <string.h>

/* Elements that are looked at together: none of them survives, or all do, or one by one. */
#define CPU_STALIN_SORT_GROUP 64

/* A chunk as it is worked on: what was kept and purged so far. */
struct cpu_stalin_sort_sink {
    void *kept;
    size_t kept_count;
    void *purged; /* NULL: not wanted */
    size_t purged_count;
    uint64_t last; /* key of the last survivor, here or before; if has_last */
    bool has_last;
};

/* Sorts values[0..count); `elements` are the same as they were read. */
typedef void cpu_stalin_sort_function(const void *values, const void *elements, size_t count,
                                      bool descending, struct cpu_stalin_sort_sink *sink);

struct cpu_stalin_sort {
    const struct job *job;
    struct stalin_sort *partial;
    cpu_native_function *swap;
    cpu_stalin_sort_function *sort;
    char *memory; /* capacity bytes for the survivors, and as many for the purged if wanted */
    size_t capacity;
    struct cpu_native native;
};

#define CPU_STALIN_SORT_INLINE static inline __attribute__((always_inline))

/*
 * For each element type: the loops, with `strict` as a constant. Comparisons are of values with all
 * bits flipped if the order is descending, which reverses it for signed and unsigned types alike.
 */
#define CPU_STALIN_SORT_DEFINE_LOOPS(id, name, ctype)                                              \
    CPU_STALIN_SORT_INLINE bool cpu_stalin_sort_passes_##name(bool strict, ctype value,            \
                                                              ctype last)                          \
    {                                                                                              \
        return strict ? value > last : value >= last;                                              \
    }                                                                                              \
    CPU_STALIN_SORT_INLINE bool cpu_stalin_sort_none_##name(bool strict, const ctype *values,      \
                                                            size_t count, ctype flip, ctype last)  \
    {                                                                                              \
        ctype best = values[0] ^ flip;                                                             \
        for (size_t i = 1; i < count; i++) {                                                       \
            ctype value = values[i] ^ flip;                                                        \
            best = value > best ? value : best;                                                    \
        }                                                                                          \
        return !cpu_stalin_sort_passes_##name(strict, best, last);                                 \
    }                                                                                              \
    CPU_STALIN_SORT_INLINE bool cpu_stalin_sort_all_##name(bool strict, const ctype *values,       \
                                                           size_t count, ctype flip, ctype last)   \
    {                                                                                              \
        ctype fails = !cpu_stalin_sort_passes_##name(strict, values[0] ^ flip, last);              \
        for (size_t i = 1; i < count; i++)                                                         \
            fails |=                                                                               \
                !cpu_stalin_sort_passes_##name(strict, values[i] ^ flip, values[i - 1] ^ flip);    \
        return !fails;                                                                             \
    }                                                                                              \
    CPU_STALIN_SORT_INLINE ctype cpu_stalin_sort_each_##name(bool strict, const ctype *values,     \
                                                             const ctype *elements, size_t count,  \
                                                             ctype flip, ctype last,               \
                                                             struct cpu_stalin_sort_sink *sink)    \
    {                                                                                              \
        ctype *kept = sink->kept;                                                                  \
        ctype *purged = sink->purged;                                                              \
        size_t kept_count = sink->kept_count;                                                      \
        size_t purged_count = sink->purged_count;                                                  \
        for (size_t i = 0; i < count; i++) {                                                       \
            ctype value = values[i] ^ flip;                                                        \
            bool keep = cpu_stalin_sort_passes_##name(strict, value, last);                        \
            kept[kept_count] = elements[i];                                                        \
            kept_count += keep;                                                                    \
            if (purged) {                                                                          \
                purged[purged_count] = elements[i];                                                \
                purged_count += !keep;                                                             \
            }                                                                                      \
            last = keep ? value : last;                                                            \
        }                                                                                          \
        sink->kept_count = kept_count;                                                             \
        sink->purged_count = purged_count;                                                         \
        return last;                                                                               \
    }                                                                                              \
    CPU_STALIN_SORT_INLINE ctype cpu_stalin_sort_group_##name(bool strict, const ctype *values,    \
                                                              const ctype *elements, size_t count, \
                                                              ctype flip, ctype last,              \
                                                              struct cpu_stalin_sort_sink *sink)   \
    {                                                                                              \
        if (cpu_stalin_sort_none_##name(strict, values, count, flip, last)) {                      \
            if (sink->purged)                                                                      \
                memcpy((ctype *)sink->purged + sink->purged_count, elements,                       \
                       count * sizeof *elements);                                                  \
            sink->purged_count += sink->purged ? count : 0;                                        \
            return last;                                                                           \
        }                                                                                          \
        if (cpu_stalin_sort_all_##name(strict, values, count, flip, last)) {                       \
            memcpy((ctype *)sink->kept + sink->kept_count, elements, count * sizeof *elements);    \
            sink->kept_count += count;                                                             \
            return values[count - 1] ^ flip;                                                       \
        }                                                                                          \
        return cpu_stalin_sort_each_##name(strict, values, elements, count, flip, last, sink);     \
    }                                                                                              \
    CPU_STALIN_SORT_INLINE void cpu_stalin_sort_##name(bool strict, const ctype *values,           \
                                                       const ctype *elements, size_t count,        \
                                                       bool descending,                            \
                                                       struct cpu_stalin_sort_sink *sink)          \
    {                                                                                              \
        const ctype flip = descending ? (ctype)-1 : 0;                                             \
        ctype last = (ctype)sink->last ^ flip;                                                     \
        size_t i = 0;                                                                              \
        if (!sink->has_last && count > 0) {                                                        \
            ((ctype *)sink->kept)[sink->kept_count++] = elements[0];                               \
            last = values[i++] ^ flip;                                                             \
            sink->has_last = true;                                                                 \
        }                                                                                          \
        for (; count - i >= CPU_STALIN_SORT_GROUP; i += CPU_STALIN_SORT_GROUP)                     \
            last = cpu_stalin_sort_group_##name(strict, values + i, elements + i,                  \
                                                CPU_STALIN_SORT_GROUP, flip, last, sink);          \
        last = cpu_stalin_sort_each_##name(strict, values + i, elements + i, count - i, flip,      \
                                           last, sink);                                            \
        sink->last = (uint64_t)(int64_t)(ctype)(last ^ flip);                                      \
    }

ELEMENT_TYPES(CPU_STALIN_SORT_DEFINE_LOOPS)

/* Wrapped for each instruction set, and the table of them. */
#define CPU_STALIN_SORT_WRAP(isa, target, name, strictness, strict)                \
    target static void cpu_stalin_sort_##strictness##_##name##_##isa(              \
        const void *values, const void *elements, size_t count, bool descending,   \
        struct cpu_stalin_sort_sink *sink)                                         \
    {                                                                              \
        cpu_stalin_sort_##name(strict, values, elements, count, descending, sink); \
    }
#define CPU_STALIN_SORT_DEFINE(id, name, ctype)                \
    CPU_ISA_VARIANTS(CPU_STALIN_SORT_WRAP, name, loose, false) \
    CPU_ISA_VARIANTS(CPU_STALIN_SORT_WRAP, name, strict, true)
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

/* Makes room for what becomes of a chunk. */
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
    (void)failure; /* every chunk was submitted */
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
