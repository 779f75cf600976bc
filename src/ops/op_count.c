/*
 * Operation count on a CPU thread: one loop for each predicate over each block of elements, which
 * stays in L1.
 *
 * A value is in an interval if (value - low) mod 2^bits <= last. This holds for signed and unsigned
 * types alike, so there is one loop for each width.
 */
#include "config.h"

#include "base/cpu_isa.h"
#include "count/count.h"
#include "cpu/cpu_engine.h"
#include "cpu/cpu_native.h"

#include <stdlib.h>
#include <string.h>

#define CPU_COUNT_INLINE static inline __attribute__((always_inline))

/* X(bits): the widths of elements. The loops use the unsigned type of each width. */
#define CPU_COUNT_WIDTHS(X) X(8) X(16) X(32) X(64)

/*
 * Counts those of elements[0..count), at most a block in this machine's byte order, that are in an
 * interval, or in a set.
 */
typedef uint64_t cpu_count_interval_function(const void *elements, size_t count, uint64_t low,
                                             uint64_t last);
typedef uint64_t cpu_count_set_function(const void *elements, size_t count,
                                        const struct value_set *set);

/* A word modulo 2^(8 * width). */
CPU_COUNT_INLINE uint64_t cpu_count_wrap(size_t width, uint64_t word)
{
    switch (width) {
    case 1:
        return (uint8_t)word;
    case 2:
        return (uint16_t)word;
    case 4:
        return (uint32_t)word;
    default:
        return word;
    }
}

/* Whether (word - first) mod 2^(8 * width) <= span. */
CPU_COUNT_INLINE bool cpu_count_is_within(size_t width, uint64_t word, uint64_t first,
                                          uint64_t span)
{
    switch (width) {
    case 1:
        return (uint8_t)((uint8_t)word - (uint8_t)first) <= (uint8_t)span;
    case 2:
        return (uint16_t)((uint16_t)word - (uint16_t)first) <= (uint16_t)span;
    case 4:
        return (uint32_t)word - (uint32_t)first <= (uint32_t)span;
    default:
        return word - first <= span;
    }
}

_Static_assert(CPU_NATIVE_BLOCK <= UINT16_MAX, "16-bit counters take a block");

/*
 * A cpu_count_interval_function for a constant type. Narrow counters make vectors of many. GB/s in
 * L1 with AVX-512, for counters of 8, 16 and 32 bits: 8-bit elements 14 (in blocks of 255), 45, 23;
 * 16-bit elements -, 85, 43.
 */
CPU_COUNT_INLINE uint64_t cpu_count_interval(enum element_type type, size_t width,
                                             const char *elements, size_t count, uint64_t low,
                                             uint64_t last)
{
    uint16_t hits16 = 0;
    uint32_t hits32 = 0;
    uint64_t hits64 = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t word = element_load(type, elements + i * width);
        bool is_hit = cpu_count_is_within(width, word, low, last);
        if (width <= 2)
            hits16 = (uint16_t)(hits16 + is_hit);
        else if (width == 4)
            hits32 += is_hit;
        else
            hits64 += is_hit;
    }
    return hits16 + hits32 + hits64;
}

/* Counts the elements that are in a set of a constant form. */
CPU_COUNT_INLINE uint64_t cpu_count_set_form(enum element_type type, size_t width,
                                             const char *elements, size_t count,
                                             const struct value_set *set, enum value_set_form form)
{
    const uint64_t low = set->low;
    uint64_t hits = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t word = element_load(type, elements + i * width);
        hits += value_set_contains(set, form, cpu_count_wrap(width, word - low));
    }
    return hits;
}

/* A cpu_count_set_function for a constant type. */
CPU_COUNT_INLINE uint64_t cpu_count_set(enum element_type type, size_t width, const char *elements,
                                        size_t count, const struct value_set *set)
{
    if (set->form == VALUE_SET_BITMAP)
        return cpu_count_set_form(type, width, elements, count, set, VALUE_SET_BITMAP);
    return cpu_count_set_form(type, width, elements, count, set, VALUE_SET_SORTED);
}

/* Both for each width and instruction set, and their tables by the bytes of an element. */
#define CPU_COUNT_WRAP_ISA(isa, target, bits)                                                   \
    target static uint64_t cpu_count_interval##bits##_##isa(const void *elements, size_t count, \
                                                            uint64_t low, uint64_t last)        \
    {                                                                                           \
        return cpu_count_interval(ELEMENT_U##bits, bits / 8, elements, count, low, last);       \
    }                                                                                           \
    target static uint64_t cpu_count_set##bits##_##isa(const void *elements, size_t count,      \
                                                       const struct value_set *set)             \
    {                                                                                           \
        return cpu_count_set(ELEMENT_U##bits, bits / 8, elements, count, set);                  \
    }
#define CPU_COUNT_WRAP(bits) CPU_ISA_VARIANTS(CPU_COUNT_WRAP_ISA, bits)
CPU_COUNT_WIDTHS(CPU_COUNT_WRAP)

#define CPU_COUNT_INTERVAL_ENTRY(isa, target, bits) cpu_count_interval##bits##_##isa,
#define CPU_COUNT_SET_ENTRY(isa, target, bits)      cpu_count_set##bits##_##isa,
#define CPU_COUNT_INTERVAL_ROW(bits) \
    [bits / 8] = {CPU_ISA_VARIANTS(CPU_COUNT_INTERVAL_ENTRY, bits)},
#define CPU_COUNT_SET_ROW(bits) [bits / 8] = {CPU_ISA_VARIANTS(CPU_COUNT_SET_ENTRY, bits)},

static cpu_count_interval_function *const cpu_count_intervals[][CPU_ISA_COUNT] = {
    CPU_COUNT_WIDTHS(CPU_COUNT_INTERVAL_ROW)};
static cpu_count_set_function *const cpu_count_sets[][CPU_ISA_COUNT] = {
    CPU_COUNT_WIDTHS(CPU_COUNT_SET_ROW)};

struct cpu_count {
    const struct job *job;
    struct count *count;       /* the shared partial */
    cpu_native_function *swap; /* NULL: elements are in this machine's byte order */
    cpu_count_interval_function *count_interval;
    cpu_count_set_function *count_set;
    struct cpu_native room;
    uint64_t elements;
    uint64_t hits[]; /* of each predicate */
};

static void cpu_count_clear(struct cpu_count *self)
{
    self->elements = 0;
    memset(self->hits, 0, self->job->predicate_count * sizeof *self->hits);
}

static enum status cpu_count_open(const struct job *job, void *partial, void **state,
                                  struct failure *failure)
{
    size_t bytes = sizeof(struct cpu_count) + job->predicate_count * sizeof(uint64_t);
    size_t alignment = _Alignof(struct cpu_count);
    struct cpu_count *made = aligned_alloc(alignment, (bytes + alignment - 1) & -alignment);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    made->count = partial;
    made->swap = cpu_native_choose(&job->element);
    made->count_interval = cpu_count_intervals[job->element.bytes][cpu_isa_best()];
    made->count_set = cpu_count_sets[job->element.bytes][cpu_isa_best()];
    cpu_count_clear(made);
    return STATUS_OK;
}

/* Counts a block, in this machine's byte order, for each predicate. */
static void cpu_count_block(struct cpu_count *self, const void *elements, size_t count)
{
    const struct job *job = self->job;

    for (size_t i = 0; i < job->predicate_count; i++) {
        const struct predicate *predicate = &job->predicates[i];
        if (predicate->form == PREDICATE_INTERVAL)
            self->hits[i] += self->count_interval(elements, count, predicate->low, predicate->last);
        else if (predicate->form == PREDICATE_SET)
            self->hits[i] += self->count_set(elements, count, &predicate->set);
    }
    self->elements += count;
}

static enum status cpu_count_absorb(void *state, const struct chunk *chunk, struct failure *failure)
{
    struct cpu_count *self = state;
    size_t element_bytes = self->job->element.bytes;
    size_t elements = chunk->bytes / element_bytes;
    (void)failure;

    for (size_t i = 0; i < elements; i += CPU_NATIVE_BLOCK) {
        size_t n = elements - i < CPU_NATIVE_BLOCK ? elements - i : CPU_NATIVE_BLOCK;
        const char *block = (const char *)chunk->data + i * element_bytes;
        cpu_count_block(self, cpu_native_block(self->swap, block, n, &self->room), n);
    }
    return STATUS_OK;
}

static enum status cpu_count_finish(void *state, struct failure *failure)
{
    struct cpu_count *self = state;
    (void)failure;
    count_add_hits(self->count, 0, self->hits, self->job->predicate_count);
    count_add_elements(self->count, self->elements);
    cpu_count_clear(self);
    return STATUS_OK;
}

static void cpu_count_close(void *state)
{
    free(state);
}

const struct cpu_operation cpu_count = {
    .open = cpu_count_open,
    .absorb = cpu_count_absorb,
    .finish = cpu_count_finish,
    .close = cpu_count_close,
};
