#include "config.h"

#include "cpu_tree.h"

#include "cpu_isa.h"
#include "cpu_tree_find.h"

#include <string.h>

/*
 * The fewest levels by the bytes of elements, and the step from one function's to the next one's.
 * ns a value in one loop (Zen 4, AVX-512; plain bins 0.38, of int64 0.46): 12 bins, 4 levels, 0.33,
 * of int64, 5 levels, 0.40; 25 bins 0.34 and 0.40; 58 bins, 6 levels, 0.36 and 0.47; 299 bins of
 * int16, 9 levels, 0.40. With AVX2 (plain bins 0.38 and 0.62): 25 bins 0.36 and 0.62, 58 bins 0.53
 * and 0.86.
 */
#define CPU_TREE_LEVELS_MIN(bytes)  ((bytes) == 2 ? 6 : (bytes) == 8 ? 5 : 4)
#define CPU_TREE_LEVELS_STEP(bytes) ((bytes) == 2 ? 3 : 1)

/*
 * The most levels that take no longer than a guide with equal buckets, which takes 0.46 to 0.6 ns;
 * unequal ones take 0.8. With AVX-512 127 bins, 7 levels, take 0.42 and 0.65, 255 bins, 8 levels,
 * 0.62 and 0.77.
 */
#define CPU_TREE_QUICK_AVX512(bytes) ((bytes) == 8 ? 6 : 9)
#define CPU_TREE_QUICK_AVX2(bytes)   ((bytes) == 8 ? 0 : 5)

/* Bits of a float's significand. */
#define CPU_TREE_ROUNDED_DIGITS 24

/*
 * The floats between neighbours of which one is no float itself: so that, where values are about as
 * many anywhere between these, 1 of 1000 is doubtful.
 */
#define CPU_TREE_ROUNDED_APART 1024

static bool cpu_tree_is_wanted(const struct job *job)
{
    switch (job->binning.form) {
    case BINNING_LOG10_32:
    case BINNING_LOG10_64:
    case BINNING_EDGES_FEW:
    case BINNING_EDGES:
        return job->element.bytes > 1 &&
               job->binning.bins + BINNING_OUTSIDE <= (CPU_TREE_COPIES(job->element.bytes) == 4
                                                           ? CPU_TABLES_FOUR_MAX
                                                           : CPU_TABLES_EIGHT_MAX);
    default:
        return false;
    }
}

/*
 * Whether bins lie on both sides of 0 alike, so that it does to search magnitudes, of which the
 * greatest is no power of 10.
 */
static bool cpu_tree_is_mirrored(const struct job *job)
{
    return job->binning.base == 10 && job->element.is_signed && job->element.bytes > 2;
}

/*
 * Of the bins' ends, those that values of the type, or of mirrored bins their magnitudes, may be on
 * either side of: the first, and the one behind the last.
 */
static void cpu_tree_choose_ends(const struct job *job, uint32_t *first, uint32_t *after)
{
    const uint32_t ends = job->binning.bins + 1;

    *first = cpu_tree_is_mirrored(job) ? job->binning.zero + 1 : 0;
    while (*first < ends && binning_edge(&job->binning, *first) <= element_min(&job->element))
        ++*first;
    *after = *first;
    while (*after < ends && binning_edge(&job->binning, *after) < element_limit(&job->element) &&
           *after - *first < CPU_TREE_NODES16)
        ++*after;
}

/* How many ends are to the left of a path below so many levels. */
static uint32_t cpu_tree_column(unsigned levels, uint32_t path)
{
    uint32_t column = 0;

    for (unsigned level = 0; level < levels; level++)
        column = 2 * column + (path >> level & 1);
    return column;
}

/* The end, counted from the first, that is the node of a path below so many levels. */
static uint32_t cpu_tree_end(const struct cpu_tree *tree, unsigned level, uint32_t path)
{
    return ((2 * cpu_tree_column(level, path) + 1) << (tree->levels - 1 - level)) - 1;
}

/*
 * What an end of bins of 8 bytes is rounded to, as vector code rounds elements. Sets *exact if no
 * element below it is rounded to the same; below 0 that may be false needlessly.
 */
static uint32_t cpu_tree_round_end(const struct cpu_tree *tree, __int128 value, bool *exact)
{
    const bool is_negative = tree->kind == CPU_TREE_SIGNED && value < 0;
    const uint64_t magnitude = is_negative ? -(uint64_t)value
                               : tree->kind == CPU_TREE_DISTANCES
                                   ? ((uint64_t)value ^ tree->bias) - tree->low
                                   : (uint64_t)value;
    const uint32_t digits = binning_digits2(magnitude);
    const uint32_t lost = digits > CPU_TREE_ROUNDED_DIGITS ? digits - CPU_TREE_ROUNDED_DIGITS : 0;
    const uint64_t kept = magnitude >> lost << lost;
    const float rounded = (float)kept;
    uint32_t bits;

    memcpy(&bits, &rounded, sizeof bits);
    *exact = is_negative ? lost == 0 : kept == magnitude;
    return is_negative ? ~bits : bits;
}

/*
 * Sets the nodes that are rounded, given the number of the first end behind all. False if
 * neighbours are rounded to nearly the same.
 */
static bool cpu_tree_fill_rounded(struct cpu_tree *tree, const struct job *job, uint32_t after)
{
    uint32_t rounded[CPU_TREE_NODES];
    bool was_exact = true;

    for (uint32_t i = 0; i < CPU_TREE_NODES; i++)
        tree->doubts[i] = INT32_MAX;
    for (uint32_t i = 0; i < after - tree->first; i++) {
        bool is_exact;
        rounded[i] =
            cpu_tree_round_end(tree, binning_edge(&job->binning, tree->first + i), &is_exact);
        if (!is_exact)
            tree->doubts[(tree->first + i + 1) % (1u << tree->levels)] = rounded[i];
        if (i > 0 && !(is_exact && was_exact) &&
            rounded[i] - rounded[i - 1] < CPU_TREE_ROUNDED_APART)
            return false;
        was_exact = is_exact;
    }
    for (unsigned level = 0; level < tree->levels; level++) {
        for (uint32_t path = 0; path < 1u << level; path++) {
            uint32_t end = cpu_tree_end(tree, level, path);
            tree->nodes32[level][path] = end < after - tree->first ? rounded[end] - 1 : INT32_MAX;
        }
    }
    return true;
}

/* Chooses what elements of 8 bytes are rounded from. False if too many would be doubtful. */
static bool cpu_tree_choose_rounded(struct cpu_tree *tree, const struct job *job, uint32_t after)
{
    const __int128 lowest = binning_edge(&job->binning, tree->first);

    tree->low = tree->bias; /* 0 */
    if (tree->kind == CPU_TREE_MIRRORED)
        return cpu_tree_fill_rounded(tree, job, after);
    tree->kind = !job->element.is_signed ? CPU_TREE_DISTANCES
                 : lowest < 0            ? CPU_TREE_SIGNED
                                         : CPU_TREE_POSITIVE;
    if (cpu_tree_fill_rounded(tree, job, after))
        return true;
    tree->kind = CPU_TREE_DISTANCES;
    tree->low = (uint64_t)(lowest - 1) ^ tree->bias;
    return cpu_tree_fill_rounded(tree, job, after);
}

/* Sets the nodes that are not rounded, and the ranks. */
static void cpu_tree_fill(struct cpu_tree *tree, const struct job *job, uint32_t after)
{
    for (unsigned level = 0; level < tree->levels; level++) {
        for (uint32_t path = 0; path < 1u << level; path++) {
            uint32_t end = tree->first + cpu_tree_end(tree, level, path);
            tree->nodes64[level][path] = INT64_MAX;
            tree->nodes32[level][path] = INT32_MAX;
            if (end >= after)
                continue;
            uint64_t node = (uint64_t)(binning_edge(&job->binning, end) - 1) ^ tree->bias;
            tree->nodes64[level][path] = (int64_t)node;
            tree->nodes32[level][path] = (uint32_t)node; /* of 8 bytes to be rounded yet */
        }
    }
    for (uint32_t path = 0; path < 1u << (tree->levels - 1); path++)
        tree->ranks[path] = tree->first + 2 * cpu_tree_column(tree->levels - 1, path);
}

/* Whether no guide is quicker than a tree of so many levels. */
static bool cpu_tree_is_quickest(unsigned bytes, unsigned levels)
{
    return levels <=
           (cpu_isa_has_avx512() ? CPU_TREE_QUICK_AVX512(bytes) : CPU_TREE_QUICK_AVX2(bytes));
}

/* Sets the nodes of elements of 2 bytes. */
static void cpu_tree_fill16(struct cpu_tree *tree, const struct job *job, uint32_t after)
{
    for (unsigned level = 0; level < tree->levels; level++) {
        for (uint32_t column = 0; column < 1u << level; column++) {
            uint32_t end = tree->first + ((2 * column + 1) << (tree->levels - 1 - level)) - 1;
            tree->nodes16[(1u << level) + column] =
                end < after
                    ? (uint16_t)((uint64_t)(binning_edge(&job->binning, end) - 1) ^ tree->bias)
                    : INT16_MAX;
        }
    }
}

void cpu_tree_init(struct cpu_tree *tree, const struct job *job)
{
    const struct element *element = &job->element;
    const unsigned bytes = element->bytes;
    const unsigned most = bytes == 2 ? CPU_TREE_LEVELS16 : CPU_TREE_LEVELS;
    uint32_t after;

    *tree = (struct cpu_tree){.count = NULL};
    if (!cpu_tree_is_wanted(job))
        return;
    cpu_tree_choose_ends(job, &tree->first, &after);
    if (after == tree->first || after - tree->first >= 1u << most)
        return;
    tree->levels = CPU_TREE_LEVELS_MIN(bytes);
    while (after - tree->first >= 1u << tree->levels)
        tree->levels += CPU_TREE_LEVELS_STEP(bytes);
    tree->kind = cpu_tree_is_mirrored(job) ? CPU_TREE_MIRRORED : CPU_TREE_WORDS;
    if (!element->is_signed)
        tree->bias = (uint64_t)1 << (8 * bytes - 1);
    if (bytes == 2)
        cpu_tree_fill16(tree, job, after);
    else
        cpu_tree_fill(tree, job, after);
    if (bytes != 8 || cpu_tree_choose_rounded(tree, job, after))
        tree->count = cpu_tree_find_choose(bytes, tree->levels, tree->kind);
    tree->is_quickest = cpu_tree_is_quickest(bytes, tree->levels);
}
