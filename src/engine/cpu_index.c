/* Chooses the loop that computes bin numbers, and its constants. */
#include "config.h"

#include "engine/cpu_index.h"

#include "engine/cpu_keys.h"

#include <string.h>

/* Products below this limit have exact quotients (cpu_index_loops.c). */
#define CPU_INDEX_EXACT_END ((__int128)1 << 50)

/*
 * The choice of the loop depends on the element and the binning, not on the instruction set.
 * bench/RESULTS.md has the time of each loop as a multiple of that for bins of width 1.
 */
void cpu_index_init(struct cpu_index *index, const struct element *element,
                    const struct binning *binning)
{
    const __int128 begin = binning->base == 0 ? binning_edge(binning, 0) : 0;
    __int128 low;
    __int128 high;

    binning_bounds(binning, element, &low, &high);
    const bool has_values = low < high; /* the bins contain values of the type */
    const __int128 before = low - begin;
    const __int128 origin = binning->table ? begin : low;
    *index = (struct cpu_index){
        .terms =
            {
                .binning = binning,
                .origin = (uint64_t)origin,
                .last = (uint64_t)(high - 1 - origin),
                .limit = (uint64_t)(element_limit(element) - 1 - origin),
                .below = binning->table ? binning->buckets + 1 : binning->bins,
                .above = binning->table ? binning->buckets + 2 : binning->bins + 1,
                .added = (uint64_t)before,
                .signs = element->is_signed ? UINT64_MAX : 0,
            },
        .element_bytes = element->bytes,
    };
    struct cpu_index_terms *terms = &index->terms;
    enum cpu_index_way way = CPU_INDEX_QUOTIENT;
    unsigned key_bytes = element->bytes <= 4 ? 4 : 8;

    if (has_values && binning_is_unit(binning)) {
        way = CPU_INDEX_UNITS;
        terms->is_simple = true;
    } else if (binning->base > 0) {
        way = CPU_INDEX_POWERS;
        terms->is_simple = binning->base == 2;
    } else if (has_values && binning->table) {
        way = CPU_INDEX_BUCKETS;
        terms->is_simple = binning->form == BINNING_EDGES_EQUAL;
        if (before != 0 || binning->last > UINT32_MAX)
            key_bytes = 8;
    } else if (has_values && binning->bins < INT32_MAX) {
        const uint64_t n =
            binning->numerator > 0 ? binning->numerator : 1; /* numerator is 0 for multiples */
        const double d = binning->divisor > 0 ? (double)binning->divisor : 0x1p64;
        if ((before + ((__int128)1 << 32)) * n >= CPU_INDEX_EXACT_END)
            key_bytes = 8;
        terms->is_simple = (before + terms->last) * n < CPU_INDEX_EXACT_END;
        terms->reciprocal = (double)n / d;
        terms->offset = ((double)before * (double)n + (terms->is_simple ? 0.5 : 0)) / d;
    } else { /* by the definition only */
        terms->doubt = UINT32_MAX;
        key_bytes = 8;
    }
    index->loop = cpu_index_loops_choose(way, key_bytes);
    index->make_keys = cpu_keys_choose(element, key_bytes);
}

/* Finds the bins of elements[0..count); count is a multiple of CPU_INDEX_GROUP. */
static void cpu_index_find_groups(const struct cpu_index *index, const char *elements, size_t count,
                                  uint32_t *indexes)
{
    uint64_t keys[CPU_KEYS_BLOCK];

    if (!index->make_keys) {
        index->loop(&index->terms, elements, count, indexes);
        return;
    }
    for (size_t i = 0, n; i < count; i += n) {
        n = count - i < CPU_KEYS_BLOCK ? count - i : CPU_KEYS_BLOCK;
        index->make_keys(elements + i * index->element_bytes, n, keys);
        index->loop(&index->terms, keys, n, indexes + i);
    }
}

void cpu_index_find(const struct cpu_index *index, const void *elements, size_t count,
                    uint32_t *indexes)
{
    const size_t rest = count % CPU_INDEX_GROUP;
    const size_t whole = count - rest;
    uint64_t rest_elements[CPU_INDEX_GROUP] = {0};
    uint32_t rest_indexes[CPU_INDEX_GROUP];

    cpu_index_find_groups(index, elements, whole, indexes);
    if (rest == 0)
        return;
    memcpy(rest_elements, (const char *)elements + whole * index->element_bytes,
           rest * index->element_bytes);
    cpu_index_find_groups(index, (const char *)rest_elements, CPU_INDEX_GROUP, rest_indexes);
    memcpy(indexes + whole, rest_indexes, rest * sizeof *indexes);
}
