/* Operation uniq on a CPU thread: makes keys of the values and hands them to the table. */
#include "config.h"

#include "cpu/cpu_engine.h"
#include "cpu/cpu_keys.h"
#include "operations/uniq.h"

#include <stdlib.h>

/* Keys that are made at once: 16 KiB, half of a common L1. */
#define CPU_UNIQ_KEYS ((size_t)2048)

/* Makes keys of elements[0..n). */
typedef void cpu_uniq_convert(const struct uniq_divisor *divisor, uint64_t flip,
                              const char *elements, size_t n, bool swapped, uint64_t *keys);

struct cpu_uniq {
    const struct job *job;
    const struct uniq *uniq;
    struct uniq_divisor divisor;
    cpu_uniq_convert *convert;
    struct table_writer *writer;
    uint64_t keys[CPU_UNIQ_KEYS];
};

#define CPU_UNIQ_DEFINE(id, name, ctype)                                                   \
    static inline __attribute__((always_inline)) void cpu_uniq_keys_##name(                \
        const struct uniq_divisor *divisor, uint64_t flip, const char *elements, size_t n, \
        bool swapped, bool is_unit, uint64_t *restrict keys)                               \
    {                                                                                      \
        const bool is_signed = (ctype)-1 < (ctype)1;                                       \
        for (size_t i = 0; i < n; i++) {                                                   \
            const ctype value = cpu_keys_load_##name(swapped, elements, i);                \
            const uint64_t bin = is_unit     ? (uint64_t)value                             \
                                 : is_signed ? uniq_divide_signed(divisor, (int64_t)value) \
                                             : uniq_divide(divisor, (uint64_t)value);      \
            keys[i] = bin ^ flip;                                                          \
        }                                                                                  \
    }                                                                                      \
    static void cpu_uniq_convert_##name(const struct uniq_divisor *divisor, uint64_t flip, \
                                        const char *elements, size_t n, bool swapped,      \
                                        uint64_t *keys)                                    \
    {                                                                                      \
        if (divisor->width > 1)                                                            \
            cpu_uniq_keys_##name(divisor, flip, elements, n, swapped, false, keys);        \
        else if (swapped)                                                                  \
            cpu_uniq_keys_##name(divisor, flip, elements, n, true, true, keys);            \
        else                                                                               \
            cpu_uniq_keys_##name(divisor, flip, elements, n, false, true, keys);           \
    }
ELEMENT_TYPES(CPU_UNIQ_DEFINE)

#define CPU_UNIQ_ROW(id, name, ctype) [ELEMENT_##id] = cpu_uniq_convert_##name,
static cpu_uniq_convert *const cpu_uniq_converts[ELEMENT_TYPE_COUNT] = {
    ELEMENT_TYPES(CPU_UNIQ_ROW)};

static enum status cpu_uniq_open(const struct job *job, void *partial, void **state,
                                 struct failure *failure)
{
    struct cpu_uniq *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    made->uniq = partial;
    made->divisor = uniq_divisor_of(job->bin_width);
    made->convert = cpu_uniq_converts[job->element.type];
    return table_writer_open(made->uniq->table, &made->writer, failure);
}

static enum status cpu_uniq_absorb(void *state, const struct chunk *chunk, struct failure *failure)
{
    struct cpu_uniq *self = state;
    const size_t bytes = self->job->element.bytes;
    const size_t elements = chunk->bytes / bytes;

    for (size_t i = 0, n; i < elements; i += n) {
        n = elements - i < CPU_UNIQ_KEYS ? elements - i : CPU_UNIQ_KEYS;
        self->convert(&self->divisor, self->uniq->flip, (const char *)chunk->data + i * bytes, n,
                      self->job->element.swapped, self->keys);
        if (table_writer_add(self->writer, self->keys, n, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status cpu_uniq_finish(void *state, struct failure *failure)
{
    return table_writer_flush(((struct cpu_uniq *)state)->writer, failure);
}

static void cpu_uniq_close(void *state)
{
    struct cpu_uniq *self = state;
    if (!self)
        return;
    table_writer_close(self->writer);
    free(self);
}

const struct cpu_operation cpu_uniq = {
    .open = cpu_uniq_open,
    .absorb = cpu_uniq_absorb,
    .finish = cpu_uniq_finish,
    .close = cpu_uniq_close,
};
