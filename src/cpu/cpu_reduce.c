/* Operation reduce on a CPU thread: a vector loop a block for each thing that is accumulated. */
#include "config.h"

#include "base/cpu_isa.h"
#include "cpu/cpu_engine.h"
#include "cpu/cpu_native.h"
#include "operations/reduce.h"

#include <stdlib.h>
#include <string.h>

#define CPU_REDUCE_INLINE static inline __attribute__((always_inline))

/* Accumulates elements[0..count), from 1 to a block of them in native order, to what is needed. */
typedef void cpu_reduce_function(unsigned needs, const void *elements, size_t count,
                                 struct reduce *into);

struct cpu_reduce {
    const struct job *job;
    struct reduce_shared *shared;
    cpu_native_function *swap;
    cpu_reduce_function *absorb;
    struct reduce reduce;
    struct cpu_native room;
};

/* Does `statement` for each `value` among the elements, which need not be aligned. */
#define CPU_REDUCE_EACH(ctype, statement)                          \
    for (size_t i = 0; i < count; i++) {                           \
        ctype value;                                               \
        memcpy(&value, elements + i * sizeof value, sizeof value); \
        statement;                                                 \
    }

/*
 * Sums of a block, in the narrowest words that hold them, so that they vectorise: 2^12 elements
 * below 2^16 fit 32 bits, the halves of wider words fit 64. A sum of halves is put together as
 * low + 2^32 * high.
 */
#define CPU_REDUCE_DEFINE_SUMS(id, name, ctype)                                                   \
    CPU_REDUCE_INLINE unsigned __int128 cpu_reduce_sum_##name(const char *elements, size_t count) \
    {                                                                                             \
        if (sizeof(ctype) <= 2) {                                                                 \
            int32_t sum = 0;                                                                      \
            CPU_REDUCE_EACH(ctype, sum += (int32_t)value)                                         \
            return (unsigned __int128)(__int128)sum;                                              \
        }                                                                                         \
        if (sizeof(ctype) == 4) {                                                                 \
            int64_t sum = 0;                                                                      \
            CPU_REDUCE_EACH(ctype, sum += (int64_t)value)                                         \
            return (unsigned __int128)(__int128)sum;                                              \
        }                                                                                         \
        uint64_t low = 0;                                                                         \
        int64_t high = 0;                                                                         \
        CPU_REDUCE_EACH(ctype, low += (uint64_t)value & UINT32_MAX;                               \
                        high += (int64_t)(value >> 16 >> 16))                                     \
        return ((unsigned __int128)(__int128)high << 32) + low;                                   \
    }                                                                                             \
    CPU_REDUCE_INLINE struct wide cpu_reduce_squares_##name(const char *elements, size_t count)   \
    {                                                                                             \
        const bool is_signed = (ctype)-1 < 1;                                                     \
        if (sizeof(ctype) == 1) {                                                                 \
            uint32_t sum = 0;                                                                     \
            CPU_REDUCE_EACH(ctype, sum += (uint32_t)((int32_t)value * (int32_t)value))            \
            return wide_from(sum);                                                                \
        }                                                                                         \
        if (sizeof(ctype) == 2) {                                                                 \
            uint64_t sum = 0;                                                                     \
            CPU_REDUCE_EACH(ctype, sum += (uint32_t)value * (uint32_t)value)                      \
            return wide_from(sum);                                                                \
        }                                                                                         \
        if (sizeof(ctype) == 4) {                                                                 \
            uint64_t low = 0;                                                                     \
            uint64_t high = 0;                                                                    \
            CPU_REDUCE_EACH(ctype, uint64_t square =                                              \
                                       is_signed ? (uint64_t)((int64_t)value * (int64_t)value)    \
                                                 : (uint64_t)value * (uint64_t)value;             \
                            low += (uint32_t)square; high += square >> 32)                        \
            return wide_from(((unsigned __int128)high << 32) + low);                              \
        }                                                                                         \
        unsigned __int128 low = 0;                                                                \
        unsigned __int128 high = 0;                                                               \
        CPU_REDUCE_EACH(ctype, uint64_t size = value < 1 ? -(uint64_t)value : (uint64_t)value;    \
                        unsigned __int128 square = (unsigned __int128)size * size;                \
                        low += (uint64_t)square; high += square >> 64)                            \
        high += low >> 64;                                                                        \
        return (struct wide){{(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)}};            \
    }

/* Extremes and bits: the fold of a type with itself. */
#define CPU_REDUCE_DEFINE_FOLD(what, name, ctype, initial, folded)                         \
    CPU_REDUCE_INLINE ctype cpu_reduce_##what##_##name(const char *elements, size_t count) \
    {                                                                                      \
        ctype first;                                                                       \
        memcpy(&first, elements, sizeof first);                                            \
        ctype result = (ctype)(initial);                                                   \
        CPU_REDUCE_EACH(ctype, result = (ctype)(folded))                                   \
        return result;                                                                     \
    }
#define CPU_REDUCE_DEFINE_FOLDS(id, name, ctype)                                     \
    CPU_REDUCE_DEFINE_FOLD(min, name, ctype, first, value < result ? value : result) \
    CPU_REDUCE_DEFINE_FOLD(max, name, ctype, first, value > result ? value : result) \
    CPU_REDUCE_DEFINE_FOLD(and, name, ctype, -1, result &value)                      \
    CPU_REDUCE_DEFINE_FOLD(or, name, ctype, 0, result | value)                       \
    CPU_REDUCE_DEFINE_FOLD(xor, name, ctype, 0, result ^ value)
ELEMENT_TYPES(CPU_REDUCE_DEFINE_SUMS)
ELEMENT_TYPES(CPU_REDUCE_DEFINE_FOLDS)

#define CPU_REDUCE_DEFINE_ABSORB(id, name, ctype)                                         \
    CPU_REDUCE_INLINE void cpu_reduce_absorb_##name(unsigned needs, const char *elements, \
                                                    size_t count, struct reduce *into)    \
    {                                                                                     \
        struct reduce block = reduce_empty;                                               \
        block.count = count;                                                              \
        if (needs & REDUCTIONS_NEED_SUM)                                                  \
            block.sum = cpu_reduce_sum_##name(elements, count);                           \
        if (needs & REDUCTIONS_NEED_SQUARES)                                              \
            block.squares = cpu_reduce_squares_##name(elements, count);                   \
        if (needs & REDUCTIONS_NEED_MIN)                                                  \
            block.min = cpu_reduce_min_##name(elements, count);                           \
        if (needs & REDUCTIONS_NEED_MAX)                                                  \
            block.max = cpu_reduce_max_##name(elements, count);                           \
        if (needs & REDUCTIONS_NEED_AND)                                                  \
            block.and_bits = (uint64_t)(int64_t)cpu_reduce_and_##name(elements, count);   \
        if (needs & REDUCTIONS_NEED_OR)                                                   \
            block.or_bits = (uint64_t)(int64_t)cpu_reduce_or_##name(elements, count);     \
        if (needs & REDUCTIONS_NEED_XOR)                                                  \
            block.xor_bits = (uint64_t)(int64_t)cpu_reduce_xor_##name(elements, count);   \
        reduce_merge(into, &block);                                                       \
    }
ELEMENT_TYPES(CPU_REDUCE_DEFINE_ABSORB)

/* Wrapped for each instruction set, and the table of them. */
#define CPU_REDUCE_WRAP(isa, target, name)                                                    \
    target static void cpu_reduce_absorb_##name##_##isa(unsigned needs, const void *elements, \
                                                        size_t count, struct reduce *into)    \
    {                                                                                         \
        cpu_reduce_absorb_##name(needs, elements, count, into);                               \
    }
#define CPU_REDUCE_DEFINE(id, name, ctype) CPU_ISA_VARIANTS(CPU_REDUCE_WRAP, name)
ELEMENT_TYPES(CPU_REDUCE_DEFINE)

#define CPU_REDUCE_ENTRY(isa, target, name) cpu_reduce_absorb_##name##_##isa,

#define CPU_REDUCE_ROW(id, name, ctype) [ELEMENT_##id] = {CPU_ISA_VARIANTS(CPU_REDUCE_ENTRY, name)},

static cpu_reduce_function *cpu_reduce_choose(enum element_type type)
{
    static cpu_reduce_function *const functions[ELEMENT_TYPE_COUNT][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(CPU_REDUCE_ROW)};
    return functions[type][cpu_isa_best()];
}

static enum status cpu_reduce_open(const struct job *job, void *partial, void **state,
                                   struct failure *failure)
{
    struct cpu_reduce *made = aligned_alloc(_Alignof(struct cpu_reduce), sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    made->shared = partial;
    made->swap = cpu_native_choose(&job->element);
    made->absorb = cpu_reduce_choose(job->element.type);
    made->reduce = reduce_empty;
    return STATUS_OK;
}

static enum status cpu_reduce_absorb(void *state, const struct chunk *chunk,
                                     struct failure *failure)
{
    struct cpu_reduce *self = state;
    size_t bytes = self->job->element.bytes;
    size_t elements = chunk->bytes / bytes;

    (void)failure;
    for (size_t i = 0; i < elements; i += CPU_NATIVE_BLOCK) {
        size_t n = elements - i < CPU_NATIVE_BLOCK ? elements - i : CPU_NATIVE_BLOCK;
        const char *block = (const char *)chunk->data + i * bytes;
        self->absorb(self->job->reductions.needs,
                     cpu_native_block(self->swap, block, n, &self->room), n, &self->reduce);
    }
    return STATUS_OK;
}

static enum status cpu_reduce_finish(void *state, struct failure *failure)
{
    struct cpu_reduce *self = state;
    (void)failure;
    reduce_share(self->shared, &self->reduce);
    self->reduce = reduce_empty;
    return STATUS_OK;
}

const struct cpu_operation cpu_reduce = {
    .open = cpu_reduce_open,
    .absorb = cpu_reduce_absorb,
    .finish = cpu_reduce_finish,
    .close = free,
};
