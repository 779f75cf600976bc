/*
 * Operation count. A CPU thread runs a loop for each predicate over each block of elements, which
 * stays in L1.
 *
 * A value is in an interval if (value - low) mod 2^bits <= last. This holds for signed and unsigned
 * types alike, so there is one loop for each width.
 *
 * The numbers of its states are the hits of each predicate's interval or set, 0 for "every".
 */
#include "config.h"

#include "base/cpu_isa.h"
#include "count/count.h"
#include "cpu/cpu_keys.h"
#include "ops/operations.h"
#include "partial/state.h"
#include "print/print_values.h"

#include <stdlib.h>
#include <string.h>

#define OP_COUNT_INLINE static inline __attribute__((always_inline))

/* X(bits, type of hits): the widths of elements. The loops use the unsigned type of each width. */
#define OP_COUNT_WIDTHS(X) X(8, uint16_t) X(16, uint16_t) X(32, uint32_t) X(64, uint64_t)
_Static_assert(CPU_NATIVE_BLOCK <= UINT16_MAX, "16-bit counters take a block");

/*
 * Counts those of elements[0..count), at most a block in this machine's byte order, that are in the
 * interval or set of a predicate; of "every" 0.
 */
typedef uint64_t op_count_function(const void *elements, size_t count,
                                   const struct predicate *predicate);

/*
 * The loops of a width: the elements of an interval, and those of a set of a constant form. Narrow
 * counters make vectors of many. GB/s in L1 with AVX-512, for counters of 8, 16 and 32 bits: 8-bit
 * elements 14 (in blocks of 255), 45, 23; 16-bit elements -, 85, 43.
 */
#define OP_COUNT_LOOPS(bits, hits_type)                                                          \
    OP_COUNT_INLINE uint64_t op_count_interval##bits(const char *elements, size_t count,         \
                                                     uint##bits##_t low, uint##bits##_t last)    \
    {                                                                                            \
        hits_type hits = 0;                                                                      \
        for (size_t i = 0; i < count; i++, elements += sizeof low) {                             \
            const uint##bits##_t word = (uint##bits##_t)element_load(ELEMENT_U##bits, elements); \
            hits = (hits_type)(hits + ((uint##bits##_t)(word - low) <= last));                   \
        }                                                                                        \
        return hits;                                                                             \
    }                                                                                            \
    OP_COUNT_INLINE uint64_t op_count_set##bits(const char *elements, size_t count,              \
                                                const struct value_set *set,                     \
                                                enum value_set_form form)                        \
    {                                                                                            \
        const uint##bits##_t low = (uint##bits##_t)set->low;                                     \
        uint64_t hits = 0;                                                                       \
        for (size_t i = 0; i < count; i++, elements += sizeof low) {                             \
            const uint##bits##_t word = (uint##bits##_t)element_load(ELEMENT_U##bits, elements); \
            hits += value_set_contains(set, form, (uint##bits##_t)(word - low));                 \
        }                                                                                        \
        return hits;                                                                             \
    }
OP_COUNT_WIDTHS(OP_COUNT_LOOPS)

/* One for each width and instruction set, and their table by the bytes of an element. */
#define OP_COUNT_WRAP_ISA(isa, target, bits)                                                \
    target static uint64_t op_count##bits##_##isa(const void *elements, size_t count,       \
                                                  const struct predicate *predicate)        \
    {                                                                                       \
        const struct value_set *set = &predicate->set;                                      \
        if (predicate->form == PREDICATE_INTERVAL)                                          \
            return op_count_interval##bits(elements, count, (uint##bits##_t)predicate->low, \
                                           (uint##bits##_t)predicate->last);                \
        if (predicate->form == PREDICATE_SET && set->form == VALUE_SET_BITMAP)              \
            return op_count_set##bits(elements, count, set, VALUE_SET_BITMAP);              \
        if (predicate->form == PREDICATE_SET)                                               \
            return op_count_set##bits(elements, count, set, VALUE_SET_SORTED);              \
        return 0;                                                                           \
    }
#define OP_COUNT_WRAP(bits, hits_type) CPU_ISA_VARIANTS(OP_COUNT_WRAP_ISA, bits)
OP_COUNT_WIDTHS(OP_COUNT_WRAP)

#define OP_COUNT_ENTRY(isa, target, bits) op_count##bits##_##isa,
#define OP_COUNT_ROW(bits, hits_type)     [bits / 8] = {CPU_ISA_VARIANTS(OP_COUNT_ENTRY, bits)},
static op_count_function *const op_count_functions[][CPU_ISA_COUNT] = {
    OP_COUNT_WIDTHS(OP_COUNT_ROW)};

struct op_count_local {
    const struct job *job;
    struct count *count; /* the shared partial */
    op_count_function *count_of;
    struct cpu_native swapped;
    uint64_t elements;
    uint64_t *hits; /* of each predicate */
};

static enum status op_count_open(void *local, const struct job *job, void *partial,
                                 struct failure *failure)
{
    struct op_count_local *self = local;

    self->job = job;
    self->count = partial;
    self->count_of = op_count_functions[job->element.bytes][cpu_isa_best()];
    self->hits = calloc(job->predicate_count, sizeof *self->hits);
    if (!self->hits)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    return STATUS_OK;
}

static enum status op_count_absorb(void *local, const struct chunk *chunk, struct failure *failure)
{
    struct op_count_local *self = local;
    const struct job *job = self->job;
    const size_t bytes = job->element.bytes;
    const size_t elements = chunk->bytes / bytes;
    (void)failure;

    for (size_t i = 0; i < elements; i += CPU_NATIVE_BLOCK) {
        size_t n = elements - i < CPU_NATIVE_BLOCK ? elements - i : CPU_NATIVE_BLOCK;
        const char *block = (const char *)chunk->data + i * bytes;
        const void *values = cpu_native_block(&job->element, block, n, &self->swapped);
        for (size_t k = 0; k < job->predicate_count; k++)
            self->hits[k] += self->count_of(values, n, &job->predicates[k]);
    }
    self->elements += elements;
    return STATUS_OK;
}

static enum status op_count_merge(void *local, struct failure *failure)
{
    struct op_count_local *self = local;
    (void)failure;
    count_add(self->count, self->elements, 0, self->hits, self->job->predicate_count);
    self->elements = 0;
    memset(self->hits, 0, self->job->predicate_count * sizeof *self->hits);
    return STATUS_OK;
}

static void op_count_close(void *local)
{
    free(((struct op_count_local *)local)->hits);
}

static enum status op_count_save(struct state_writer *state, const struct job *job,
                                 const void *partial, struct failure *failure)
{
    const struct count *count = partial;
    (void)failure;

    state_write_number(state, count->elements);
    for (size_t i = 0; i < job->predicate_count; i++) {
        bool is_every = job->predicates[i].form == PREDICATE_EVERY;
        state_write_number(state, is_every ? 0 : count->hits[i]);
    }
    return STATUS_OK;
}

static enum status op_count_load(struct state_reader *state, const struct job *job, void *partial,
                                 uint64_t elements, struct failure *failure)
{
    for (size_t i = 0; i < job->predicate_count; i++) {
        uint64_t hits;
        if (state_read_number(state, &hits, failure) != STATUS_OK)
            return failure->status;
        if (hits > elements)
            return state_fail_damaged(state, "the counts exceed the number of elements", failure);
        count_add(partial, 0, i, &hits, 1);
    }
    count_add(partial, elements, 0, NULL, 0);
    return STATUS_OK;
}

static void op_count_find(const struct print_values *values, size_t group,
                          struct print_found *found)
{
    const struct count *count = values->partial;
    (void)group;

    found->elements = count->elements;
    found->hits = count->hits;
}

static enum status op_count_print(struct writer *writer, const struct job *job, const void *partial,
                                  const struct print_options *options, struct failure *failure)
{
    const struct print_values values = {
        .job = job,
        .partial = partial,
        .options = options,
        .groups = 1,
        .find = op_count_find,
    };

    (void)failure;
    print_values(writer, &values);
    return STATUS_OK;
}

const struct operation op_count = {
    .create = count_create,
    .finalize = count_finalize,
    .destroy = count_destroy,
    .local_bytes = sizeof(struct op_count_local),
    .local_open = op_count_open,
    .local_absorb = op_count_absorb,
    .local_merge = op_count_merge,
    .local_close = op_count_close,
    .save = op_count_save,
    .load = op_count_load,
    .print = op_count_print,
};
