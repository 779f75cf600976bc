#include "config.h"

#include "cpu_tree.h"

#include "cpu_tree_find.h"

#include <string.h>

/*
 * The fewest levels of elements of 8 bytes and of others. Whole processes against plain bins of as
 * many, 64Mi int32 and 32Mi int64 that are as many in each bin (Zen 4): 12 bins, 4 levels, 1.12 x
 * (of int64 5 levels, 1.20), 25 bins, 5 levels, 1.18 and 1.14, 58 bins, 6 levels, 1.22 and 1.16, by
 * a guide 1.48 and 1.42.
 */
#define CPU_TREE_LEVELS_MIN_WIDE 5
#define CPU_TREE_LEVELS_MIN      4

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
        return job->element.bytes >= 4;
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
    return job->binning.base == 10 && job->element.is_signed;
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
           *after - *first < CPU_TREE_NODES)
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
    tree->kind = job->element.is_signed ? CPU_TREE_SIGNED : CPU_TREE_DISTANCES;
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

void cpu_tree_init(struct cpu_tree *tree, const struct job *job)
{
    const struct element *element = &job->element;
    const bool is_wide = element->bytes == 8;
    const bool is_mirrored = cpu_tree_is_mirrored(job);
    uint32_t after;

    *tree = (struct cpu_tree){.find = NULL};
    if (!cpu_tree_is_wanted(job))
        return;
    cpu_tree_choose_ends(job, &tree->first, &after);
    if (after == tree->first || after - tree->first >= CPU_TREE_NODES)
        return;
    tree->levels = is_wide ? CPU_TREE_LEVELS_MIN_WIDE : CPU_TREE_LEVELS_MIN;
    while (after - tree->first >= 1u << tree->levels)
        tree->levels++;
    tree->kind = is_mirrored ? CPU_TREE_MIRRORED : CPU_TREE_WORDS;
    if (!element->is_signed)
        tree->bias = (uint64_t)1 << (8 * element->bytes - 1);
    cpu_tree_fill(tree, job, after);
    if (!is_wide || cpu_tree_choose_rounded(tree, job, after))
        tree->find = cpu_tree_find_choose(element->bytes, tree->levels, tree->kind);
}
