/* The table of ways to find bins: which binning takes which loop. */
#include "config.h"

#include "cpu/cpu_index.h"

#include "cpu/cpu_map.h"
#include "job/binning_index.h"

#include <stdlib.h>
#include <string.h>

/* What rules are about. */
struct cpu_index_case {
    const struct element *element;
    const struct binning *binning;
    bool has_values;    /* the type has some in the bins */
    __int128 before;    /* how far the first bin begins before the lowest of these */
    __int128 product;   /* quotients: (x + a) * n of the highest one, */
    __int128 product32; /* and if x were 2^32 */
};

/* Exact quotients are of products less than that (cpu_index_loops.c). */
#define CPU_INDEX_EXACT_END ((__int128)1 << 50)

static bool cpu_index_is_quotient(const struct cpu_index_case *of)
{
    return of->has_values && of->binning->base == 0 && !of->binning->table;
}

static bool cpu_index_is_unit(const struct cpu_index_case *of)
{
    return cpu_index_is_quotient(of) && binning_is_unit(of->binning);
}

static bool cpu_index_is_exact(const struct cpu_index_case *of)
{
    return cpu_index_is_quotient(of) && of->product < CPU_INDEX_EXACT_END;
}

/* The same as if x could be any word of 32 bits. */
static bool cpu_index_is_exact32(const struct cpu_index_case *of)
{
    return cpu_index_is_quotient(of) && of->product32 < CPU_INDEX_EXACT_END;
}

static bool cpu_index_is_rounded(const struct cpu_index_case *of)
{
    return cpu_index_is_quotient(of) && of->binning->bins < INT32_MAX;
}

static bool cpu_index_is_log2(const struct cpu_index_case *of)
{
    return of->binning->base == 2;
}

static bool cpu_index_is_log10(const struct cpu_index_case *of)
{
    return of->binning->base == 10;
}

static bool cpu_index_has_edges(const struct cpu_index_case *of)
{
    return of->has_values && of->binning->table;
}

static bool cpu_index_has_equal(const struct cpu_index_case *of)
{
    return of->binning->form == BINNING_EDGES_EQUAL && cpu_index_has_edges(of);
}

/* Whether edges are near enough, and the first among the type's values, for 32 bits to do. */
static bool cpu_index_has_near_edges(const struct cpu_index_case *of)
{
    return cpu_index_has_edges(of) && of->before == 0 && of->binning->last <= UINT32_MAX;
}

static bool cpu_index_has_near_equal(const struct cpu_index_case *of)
{
    return cpu_index_has_near_edges(of) && cpu_index_has_equal(of);
}

static bool cpu_index_is_mapped(const struct cpu_index_case *of)
{
    return of->element->bytes == 2 && of->binning->bins < CPU_MAP_VALUES - BINNING_OUTSIDE &&
           (cpu_index_has_edges(of) || cpu_index_is_log10(of));
}

static bool cpu_index_is_any(const struct cpu_index_case *of)
{
    (void)of;
    return true;
}

/*
 * Which way is taken: the first row that the binning is for and whose keys, of so many bits, the
 * elements fit in. It is the same in every instruction set. Before that, values of a range so small
 * that it is folded (op_histogram.c) have bins one wide.
 *
 * bench/RESULTS.md has what each takes, as a multiple of what bins one wide do.
 */
static const struct cpu_index_rule {
    enum cpu_index_way way;
    unsigned bits;
    bool (*fits)(const struct cpu_index_case *of);
} cpu_index_rules[] = {
    /* Bins one wide: a difference. */
    {CPU_INDEX_UNIT, 64, cpu_index_is_unit},
    /* Elements of 16 bits, and bins that are slow to compute: a table of all words. */
    {CPU_INDEX_MAP16, 16, cpu_index_is_mapped},
    /* Equal parts, --width and automatic bins: quotients, exact as doubles ... */
    {CPU_INDEX_EXACT32, 32, cpu_index_is_exact32},
    {CPU_INDEX_EXACT64, 64, cpu_index_is_exact},
    /* ... or rounded, and where there is doubt as defined. */
    {CPU_INDEX_ROUNDED64, 64, cpu_index_is_rounded},
    /* Powers: leading zeros, or the exponent of a float; of 10 comparisons with powers as well. */
    {CPU_INDEX_LOG2_32, 32, cpu_index_is_log2},
    {CPU_INDEX_LOG2_64, 64, cpu_index_is_log2},
    {CPU_INDEX_LOG10_32, 32, cpu_index_is_log10},
    {CPU_INDEX_LOG10_64, 64, cpu_index_is_log10},
    /* Edges: the look-up table of binning_index.h, of equal buckets or of growing ones. */
    {CPU_INDEX_EQUAL_BUCKETS32, 32, cpu_index_has_near_equal},
    {CPU_INDEX_EQUAL_BUCKETS64, 64, cpu_index_has_equal},
    {CPU_INDEX_BUCKETS32, 32, cpu_index_has_near_edges},
    {CPU_INDEX_BUCKETS64, 64, cpu_index_has_edges},
    /* What is left, 2^31 bins or a range of which the type has no value: as defined. */
    {CPU_INDEX_DEFINED64, 64, cpu_index_is_any},
};

static const struct cpu_index_rule *cpu_index_choose(const struct cpu_index_case *of)
{
    const struct cpu_index_rule *rule = cpu_index_rules;

    while (8 * of->element->bytes > rule->bits || !rule->fits(of))
        rule++;
    return rule;
}

/* The case, and the terms that tell what is in the bins. */
static struct cpu_index_case cpu_index_set_range(struct cpu_index_terms *terms,
                                                 const struct element *element,
                                                 const struct binning *binning)
{
    const __int128 begin = binning->base == 0 ? binning_edge(binning, 0) : 0;
    __int128 low;
    __int128 high;

    binning_bounds(binning, element, &low, &high);
    const __int128 origin = binning->table ? begin : low;
    *terms = (struct cpu_index_terms){
        .binning = binning,
        .origin = (uint64_t)origin,
        .last = (uint64_t)(high - 1 - origin),
        .limit = (uint64_t)(element_limit(element) - 1 - origin),
        .below = binning->table ? binning->buckets + 1 : binning->bins,
        .above = binning->table ? binning->buckets + 2 : binning->bins + 1,
        .signs = element->is_signed ? UINT64_MAX : 0,
    };
    return (struct cpu_index_case){.element = element,
                                   .binning = binning,
                                   .has_values = low < high,
                                   .before = low - begin};
}

/* Sets the terms of quotients: a first bin may begin before the type's values do. */
static void cpu_index_set_quotient(struct cpu_index_terms *terms, struct cpu_index_case *of)
{
    const struct binning *binning = of->binning;
    const uint64_t n = binning->numerator > 0 ? binning->numerator : 1; /* 0 of multiples */
    const double d = binning->divisor > 0 ? (double)binning->divisor : 0x1p64;

    of->product = (of->before + terms->last) * n;
    of->product32 = (of->before + ((__int128)1 << 32)) * n;
    terms->added = (uint64_t)of->before;
    terms->reciprocal = (double)n / d;
    terms->offset =
        ((double)of->before * (double)n + (of->product < CPU_INDEX_EXACT_END ? 0.5 : 0)) / d;
}

enum status cpu_index_init(struct cpu_index *index, const struct element *element,
                           const struct binning *binning, struct failure *failure)
{
    *index = (struct cpu_index){.element_bytes = element->bytes};
    struct cpu_index_case of = cpu_index_set_range(&index->terms, element, binning);
    cpu_index_set_quotient(&index->terms, &of);

    const struct cpu_index_rule *rule = cpu_index_choose(&of);
    if (rule->way == CPU_INDEX_UNIT) {
        index->loop = cpu_keys_choose_units(element);
        return STATUS_OK;
    }
    index->loop = cpu_index_loops_choose(rule->way);
    if (rule->way != CPU_INDEX_MAP16) {
        index->make_keys = cpu_keys_choose(element, rule->bits / 8);
        return STATUS_OK;
    }
    index->map = cpu_map_create(element, binning);
    index->terms.map = index->map;
    return index->map ? STATUS_OK : status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
}

void cpu_index_destroy(struct cpu_index *index)
{
    free(index->map);
}

/* Finds those of elements[0..count), a multiple of CPU_INDEX_GROUP. */
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
