/*
 * Operation reduce. A CPU thread runs one vector loop over each block for each needed reduction. If
 * some need a table, the elements are added to it as uniq does.
 *
 * If there are elements, the numbers of its states are the words that the reductions need
 * (reduce_words.h), and the rows of uniq with bins of width 1 if they need a table.
 */
#include "config.h"

#include "base/cpu_isa.h"
#include "count/reduce_words.h"
#include "count/uniq.h"
#include "cpu/cpu_keys.h"
#include "ops/operations.h"
#include "partial/state.h"
#include "print/print_values.h"

#include <stdio.h>
#include <string.h>

#define OP_REDUCE_INLINE static inline __attribute__((always_inline))

/*
 * Adds elements[0..count) to the reductions in `needs`. The elements are in this machine's byte
 * order; there are 1 to CPU_NATIVE_BLOCK.
 */
typedef void op_reduce_function(unsigned needs, const void *elements, size_t count,
                                struct reduce *into);

struct op_reduce_local {
    const struct job *job;
    struct reduce_shared *shared;
    op_reduce_function *absorb;
    void *uniq; /* a local state of op_uniq; NULL: no table is needed */
    struct reduce reduce;
    struct cpu_native swapped;
};

/*
 * The sum of a block. It is kept in the narrowest words that hold it, so that vectors hold many:
 * the sum of 2^12 elements below 2^16 fits in 32 bits, and that of 32-bit halves in 64.
 */
OP_REDUCE_INLINE unsigned __int128 op_reduce_sum(struct element element, const char *elements,
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
OP_REDUCE_INLINE struct wide op_reduce_squares(struct element element, const char *elements,
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
#define OP_REDUCE_DEFINE_FOLD(id, name, ctype)                                               \
    OP_REDUCE_INLINE uint64_t op_reduce_fold_##name(enum reductions_need fold,               \
                                                    const char *elements, size_t count)      \
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
ELEMENT_TYPES(OP_REDUCE_DEFINE_FOLD)

/* A op_reduce_function for a constant type, and the fold of that type. */
OP_REDUCE_INLINE void op_reduce_block(struct element element,
                                      uint64_t (*fold)(enum reductions_need, const char *, size_t),
                                      unsigned needs, const char *elements, size_t count,
                                      struct reduce *into)
{
    struct reduce block = reduce_empty;

    block.count = count;
    if (needs & REDUCTIONS_NEED_SUM)
        block.sum = op_reduce_sum(element, elements, count);
    if (needs & REDUCTIONS_NEED_SQUARES)
        block.squares = op_reduce_squares(element, elements, count);
    if (needs & REDUCTIONS_NEED_MIN)
        block.min = element_value(&element, fold(REDUCTIONS_NEED_MIN, elements, count));
    if (needs & REDUCTIONS_NEED_MAX)
        block.max = element_value(&element, fold(REDUCTIONS_NEED_MAX, elements, count));
    if (needs & REDUCTIONS_NEED_AND)
        block.and_bits = fold(REDUCTIONS_NEED_AND, elements, count);
    if (needs & REDUCTIONS_NEED_OR)
        block.or_bits = fold(REDUCTIONS_NEED_OR, elements, count);
    if (needs & REDUCTIONS_NEED_XOR)
        block.xor_bits = fold(REDUCTIONS_NEED_XOR, elements, count);
    reduce_merge(into, &block);
}

/* One for each type and instruction set, and the table of them. */
#define OP_REDUCE_WRAP(isa, target, id, name, ctype)                                         \
    target static void op_reduce_block_##name##_##isa(unsigned needs, const void *elements,  \
                                                      size_t count, struct reduce *into)     \
    {                                                                                        \
        op_reduce_block(ELEMENT_OF(id, name, ctype), op_reduce_fold_##name, needs, elements, \
                        count, into);                                                        \
    }
#define OP_REDUCE_DEFINE(id, name, ctype) CPU_ISA_VARIANTS(OP_REDUCE_WRAP, id, name, ctype)
ELEMENT_TYPES(OP_REDUCE_DEFINE)

#define OP_REDUCE_ENTRY(isa, target, name) op_reduce_block_##name##_##isa,

#define OP_REDUCE_ROW(id, name, ctype) [ELEMENT_##id] = {CPU_ISA_VARIANTS(OP_REDUCE_ENTRY, name)},

static enum status op_reduce_open(void *local, const struct job *job, void *partial,
                                  struct failure *failure)
{
    static op_reduce_function *const functions[ELEMENT_TYPE_COUNT][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(OP_REDUCE_ROW)};
    struct op_reduce_local *self = local;

    self->job = job;
    self->shared = partial;
    self->absorb = functions[job->element.type][cpu_isa_best()];
    self->reduce = reduce_empty;
    if (!self->shared->uniq)
        return STATUS_OK;
    return operation_open_local(&op_uniq, job, self->shared->uniq, &self->uniq, failure);
}

static enum status op_reduce_absorb(void *local, const struct chunk *chunk, struct failure *failure)
{
    struct op_reduce_local *self = local;
    size_t bytes = self->job->element.bytes;
    size_t elements = chunk->bytes / bytes;

    for (size_t i = 0; i < elements; i += CPU_NATIVE_BLOCK) {
        size_t n = elements - i < CPU_NATIVE_BLOCK ? elements - i : CPU_NATIVE_BLOCK;
        const char *block = (const char *)chunk->data + i * bytes;
        self->absorb(self->job->reductions.needs,
                     cpu_native_block(&self->job->element, block, n, &self->swapped), n,
                     &self->reduce);
    }
    return self->uniq ? op_uniq.local_absorb(self->uniq, chunk, failure) : STATUS_OK;
}

static enum status op_reduce_merge(void *local, struct failure *failure)
{
    struct op_reduce_local *self = local;
    reduce_share(self->shared, &self->reduce);
    self->reduce = reduce_empty;
    return self->uniq ? op_uniq.local_merge(self->uniq, failure) : STATUS_OK;
}

static void op_reduce_close(void *local)
{
    operation_close_local(&op_uniq, ((struct op_reduce_local *)local)->uniq);
}

static enum status op_reduce_save(struct state_writer *state, const struct job *job,
                                  const void *partial, struct failure *failure)
{
    const struct reduce_shared *shared = partial;
    const struct reduce *reduce = &shared->reduce;
    const unsigned needs = job->reductions.needs;
    uint64_t words[REDUCE_WORDS_MAX];

    state_write_number(state, reduce->count);
    if (reduce->count == 0)
        return STATUS_OK;
    reduce_words_pack(needs, reduce, words);
    for (unsigned i = 0; i < reduce_words_count(needs); i++)
        state_write_number(state, words[i]);
    return shared->uniq ? op_uniq_save_rows(state, shared->uniq, failure) : STATUS_OK;
}

static enum status op_reduce_load(struct state_reader *state, const struct job *job, void *partial,
                                  uint64_t elements, struct failure *failure)
{
    struct reduce_shared *shared = partial;
    uint64_t words[REDUCE_WORDS_MAX];
    struct reduce reduce;

    if (elements == 0)
        return STATUS_OK;
    for (unsigned i = 0; i < reduce_words_count(job->reductions.needs); i++) {
        if (state_read_number(state, &words[i], failure) != STATUS_OK)
            return failure->status;
    }
    if (!reduce_words_check(job, elements, words, &reduce))
        return state_fail_damaged(state, "its reductions contradict each other", failure);
    reduce_share(shared, &reduce);
    return shared->uniq ? op_uniq.load(state, job, shared->uniq, elements, failure) : STATUS_OK;
}

static void op_reduce_find(const struct print_values *values, size_t group,
                           struct print_found *found)
{
    const struct reduce_shared *shared = values->partial;
    (void)group;

    found->reduce = shared->reduce;
    memcpy(found->found, shared->found, sizeof found->found);
}

static enum status op_reduce_print(struct writer *writer, const struct job *job,
                                   const void *partial, const struct print_options *options,
                                   struct failure *failure)
{
    const struct print_values values = {
        .job = job,
        .partial = partial,
        .options = options,
        .groups = 1,
        .find = op_reduce_find,
    };

    (void)failure;
    print_values(writer, &values);
    return STATUS_OK;
}

/*
 * Fails if the stream is empty and reductions that then have no value were asked for; lists them.
 */
static enum status op_reduce_check_result(const struct job *job, const void *partial,
                                          struct failure *failure)
{
    const struct reduce *reduce = &((const struct reduce_shared *)partial)->reduce;
    char names[REDUCTIONS_TEXT_SIZE] = "";
    size_t length = 0;

    for (unsigned i = 0; i < job->reductions.count; i++) {
        const struct reduction *reduction = &job->reductions.list[i];
        if (!reduce_has(reduce, reduction->id))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length > 0 ? ", " : "", reduction->name);
    }
    if (length == 0)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       reduce->count > 0 ? "one value has no %s"
                       : job->condition_count > 0
                           ? "no row with a value meets --where: there is no %s"
                           : "the input is empty: it has no %s",
                       names);
}

/* That of the table of distinct values, if there is one. */
static struct operation_size op_reduce_size(const void *partial)
{
    const struct reduce_shared *shared = partial;
    return shared->uniq ? uniq_size(shared->uniq) : (struct operation_size){.rows = 0};
}

const struct operation op_reduce = {
    .create = reduce_create,
    .finalize = reduce_finalize,
    .destroy = reduce_destroy,
    .size = op_reduce_size,
    .local_bytes = sizeof(struct op_reduce_local),
    .local_open = op_reduce_open,
    .local_absorb = op_reduce_absorb,
    .local_merge = op_reduce_merge,
    .local_close = op_reduce_close,
    .save = op_reduce_save,
    .load = op_reduce_load,
    .print = op_reduce_print,
    .check_result = op_reduce_check_result,
};
