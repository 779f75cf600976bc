/*
 * Operation reduce on a CPU thread: one vector loop over each block for each needed reduction. If
 * some need a table, the elements are added to it as uniq does.
 */
#include "config.h"

#include "base/cpu_isa.h"
#include "cpu/cpu_engine.h"
#include "cpu/cpu_native.h"
#include "operations/reduce.h"

#include <stdlib.h>
#include <string.h>

#define CPU_REDUCE_INLINE static inline __attribute__((always_inline))

/*
 * Adds elements[0..count) to the reductions in `needs`. The elements are in this machine's byte
 * order; there are 1 to CPU_NATIVE_BLOCK.
 */
typedef void cpu_reduce_function(unsigned needs, const void *elements, size_t count,
                                 struct reduce *into);

struct cpu_reduce {
    const struct job *job;
    struct reduce_shared *shared;
    cpu_native_function *swap;
    cpu_reduce_function *absorb;
    void *uniq; /* the state of cpu_uniq; NULL: no table is needed */
    struct reduce reduce;
    struct cpu_native swapped;
};

/*
 * The sum of a block. It is kept in the narrowest words that hold it, so that vectors hold many:
 * the sum of 2^12 elements below 2^16 fits in 32 bits, and that of 32-bit halves in 64.
 */
CPU_REDUCE_INLINE unsigned __int128 cpu_reduce_sum(struct element element, const char *elements,
                                                   size_t count)
{
    int32_t narrow = 0;
    int64_t sum = 0;
    uint64_t low = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t key = element_load(element.type, elements + i * element.bytes);
        if (element.bytes <= 2) {
            narrow += (int32_t)key;
        } else if (element.bytes == 4) {
            sum += (int64_t)key;
        } else {
            low += (uint32_t)key;
            sum += element.is_signed ? (int64_t)key >> 32 : (int64_t)(key >> 32);
        }
    }
    if (element.bytes == 8)
        return ((unsigned __int128)(__int128)sum << 32) + low;
    return (unsigned __int128)((__int128)sum + narrow);
}

/* The sum of the squares of a block, in words as narrow as possible. */
CPU_REDUCE_INLINE struct wide cpu_reduce_squares(struct element element, const char *elements,
                                                 size_t count)
{
    uint32_t narrow = 0;
    uint64_t low = 0;
    uint64_t high = 0;
    unsigned __int128 wide_low = 0;
    unsigned __int128 wide_high = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t key = element_load(element.type, elements + i * element.bytes);
        int64_t value = (int64_t)key; /* signed, so that a widening multiplication is found */
        if (element.bytes == 1) {
            int32_t square = (int32_t)value * (int32_t)value;
            narrow += (uint32_t)square;
        } else if (element.bytes == 2) {
            low += (uint32_t)key * (uint32_t)key;
        } else if (element.bytes == 4) {
            int64_t signed_square = element.is_signed ? value * value : 0;
            uint64_t square = element.is_signed ? (uint64_t)signed_square : key * key;
            low += (uint32_t)square;
            high += square >> 32;
        } else {
            uint64_t size = element.is_signed && value < 0 ? -key : key;
            unsigned __int128 square = (unsigned __int128)size * size;
            wide_low += (uint64_t)square;
            wide_high += square >> 64;
        }
    }
    if (element.bytes < 8)
        return wide_from(((unsigned __int128)high << 32) + low + narrow);
    wide_high += wide_low >> 64;
    return (struct wide){{(uint64_t)wide_low, (uint64_t)wide_high, (uint64_t)(wide_high >> 64)}};
}

/*
 * The key of a fold of a block: the one for a need of reductions. The loop exists for each type,
 * because vectors of keys would hold fewer elements.
 */
#define CPU_REDUCE_DEFINE_FOLD(id, name, ctype)                                              \
    CPU_REDUCE_INLINE uint64_t cpu_reduce_fold_##name(enum reductions_need fold,             \
                                                      const char *elements, size_t count)    \
    {                                                                                        \
        ctype result =                                                                       \
            fold == REDUCTIONS_NEED_XOR ? 0 : (ctype)element_load(ELEMENT_##id, elements);   \
        for (size_t i = 0; i < count; i++) {                                                 \
            ctype value = (ctype)element_load(ELEMENT_##id, elements + i * sizeof value);    \
            result = (ctype)(fold == REDUCTIONS_NEED_MIN   ? value < result ? value : result \
                             : fold == REDUCTIONS_NEED_MAX ? value > result ? value : result \
                             : fold == REDUCTIONS_NEED_AND ? result & value                  \
                             : fold == REDUCTIONS_NEED_OR  ? result | value                  \
                                                           : result ^ value);                 \
        }                                                                                    \
        return (uint64_t)(int64_t)result;                                                    \
    }
ELEMENT_TYPES(CPU_REDUCE_DEFINE_FOLD)

/* cpu_reduce_fold_T for a constant type. */
CPU_REDUCE_INLINE uint64_t cpu_reduce_fold(struct element element, enum reductions_need fold,
                                           const char *elements, size_t count)
{
    switch (element.type) {
#define CPU_REDUCE_CASE(id, name, ctype) \
    case ELEMENT_##id:                   \
        return cpu_reduce_fold_##name(fold, elements, count);
        ELEMENT_TYPES(CPU_REDUCE_CASE)
#undef CPU_REDUCE_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    __builtin_unreachable();
}

/* A cpu_reduce_function for a constant type. */
CPU_REDUCE_INLINE void cpu_reduce_block(struct element element, unsigned needs,
                                        const char *elements, size_t count, struct reduce *into)
{
    struct reduce block = reduce_empty;

    block.count = count;
    if (needs & REDUCTIONS_NEED_SUM)
        block.sum = cpu_reduce_sum(element, elements, count);
    if (needs & REDUCTIONS_NEED_SQUARES)
        block.squares = cpu_reduce_squares(element, elements, count);
    if (needs & REDUCTIONS_NEED_MIN)
        block.min =
            element_value(&element, cpu_reduce_fold(element, REDUCTIONS_NEED_MIN, elements, count));
    if (needs & REDUCTIONS_NEED_MAX)
        block.max =
            element_value(&element, cpu_reduce_fold(element, REDUCTIONS_NEED_MAX, elements, count));
    if (needs & REDUCTIONS_NEED_AND)
        block.and_bits = cpu_reduce_fold(element, REDUCTIONS_NEED_AND, elements, count);
    if (needs & REDUCTIONS_NEED_OR)
        block.or_bits = cpu_reduce_fold(element, REDUCTIONS_NEED_OR, elements, count);
    if (needs & REDUCTIONS_NEED_XOR)
        block.xor_bits = cpu_reduce_fold(element, REDUCTIONS_NEED_XOR, elements, count);
    reduce_merge(into, &block);
}

/* One for each type and instruction set, and the table of them. */
#define CPU_REDUCE_WRAP(isa, target, id, name, ctype)                                        \
    target static void cpu_reduce_block_##name##_##isa(unsigned needs, const void *elements, \
                                                       size_t count, struct reduce *into)    \
    {                                                                                        \
        cpu_reduce_block(ELEMENT_OF(id, name, ctype), needs, elements, count, into);         \
    }
#define CPU_REDUCE_DEFINE(id, name, ctype) CPU_ISA_VARIANTS(CPU_REDUCE_WRAP, id, name, ctype)
ELEMENT_TYPES(CPU_REDUCE_DEFINE)

#define CPU_REDUCE_ENTRY(isa, target, name) cpu_reduce_block_##name##_##isa,

#define CPU_REDUCE_ROW(id, name, ctype) [ELEMENT_##id] = {CPU_ISA_VARIANTS(CPU_REDUCE_ENTRY, name)},

static enum status cpu_reduce_open(const struct job *job, void *partial, void **state,
                                   struct failure *failure)
{
    static cpu_reduce_function *const functions[ELEMENT_TYPE_COUNT][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(CPU_REDUCE_ROW)};
    struct cpu_reduce *self = aligned_alloc(_Alignof(struct cpu_reduce), sizeof *self);
    if (!self)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = self;
    self->job = job;
    self->shared = partial;
    self->swap = cpu_native_choose(&job->element);
    self->absorb = functions[job->element.type][cpu_isa_best()];
    self->reduce = reduce_empty;
    self->uniq = NULL;
    if (reduce_uniq(partial))
        return cpu_uniq.open(job, reduce_uniq(partial), &self->uniq, failure);
    return STATUS_OK;
}

static enum status cpu_reduce_absorb(void *state, const struct chunk *chunk,
                                     struct failure *failure)
{
    struct cpu_reduce *self = state;
    size_t bytes = self->job->element.bytes;
    size_t elements = chunk->bytes / bytes;

    for (size_t i = 0; i < elements; i += CPU_NATIVE_BLOCK) {
        size_t n = elements - i < CPU_NATIVE_BLOCK ? elements - i : CPU_NATIVE_BLOCK;
        const char *block = (const char *)chunk->data + i * bytes;
        self->absorb(self->job->reductions.needs,
                     cpu_native_block(self->swap, block, n, &self->swapped), n, &self->reduce);
    }
    return self->uniq ? cpu_uniq.absorb(self->uniq, chunk, failure) : STATUS_OK;
}

static enum status cpu_reduce_finish(void *state, struct failure *failure)
{
    struct cpu_reduce *self = state;
    reduce_share(self->shared, &self->reduce);
    self->reduce = reduce_empty;
    return self->uniq ? cpu_uniq.finish(self->uniq, failure) : STATUS_OK;
}

static void cpu_reduce_close(void *state)
{
    struct cpu_reduce *self = state;
    if (!self)
        return;
    cpu_uniq.close(self->uniq);
    free(self);
}

const struct cpu_operation cpu_reduce = {
    .open = cpu_reduce_open,
    .absorb = cpu_reduce_absorb,
    .finish = cpu_reduce_finish,
    .close = cpu_reduce_close,
};
