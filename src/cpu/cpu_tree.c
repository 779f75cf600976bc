#include "config.h"

#include "cpu/cpu_tree.h"

#include "base/cpu_isa.h"
#include "cpu/cpu_tree_find.h"

#include <string.h>

/*
 * The fewest levels by the bytes of elements, and for 2 bytes the step from one function's to the
 * next one's. ns a value in one loop (Zen 4, AVX-512; plain bins 0.38, of int64 0.46): 12 bins, 4
 * levels, 0.33, of int64, 5 levels, 0.40; 25 bins 0.34 and 0.40; 58 bins, 6 levels, 0.36 and 0.47;
 * 299 bins of int16, 9 levels, 0.40. With AVX2 (plain bins 0.38 and 0.62): 25 bins 0.36 and 0.62,
 * 58 bins 0.53 and 0.86.
 */
#define CPU_TREE_LEVELS_MIN(bytes) ((bytes) == 8 ? 5 : 4)
#define CPU_TREE_SHORT_LEVELS_MIN  6
#define CPU_TREE_SHORT_LEVELS_STEP 3

/*
 * The most levels that take no longer than a guide with equal buckets, which takes 0.46 to 0.6 ns;
 * unequal ones take 0.8. With AVX-512 127 bins, 7 levels, take 0.42 and 0.65, 255 bins, 8 levels,
 * 0.62 and 0.77.
 */
#define CPU_TREE_QUICK_AVX512(bytes) ((bytes) == 8 ? 6 : 8)
#define CPU_TREE_QUICK_AVX2(bytes)   ((bytes) == 8 ? 0 : 5)

/*
 * The fewest ends that words are cut for, their levels, and the most that take no longer than a
 * guide with equal buckets. ns a value in one loop, by the tree and by that guide, Zen 4 and
 * Sapphire Rapids: 200 random bins of int32, 8 levels, 0.41 and 0.60, 0.46 and 0.54; 500, 9 levels,
 * 0.50 and 0.59, 0.57 and 0.54, and both take as long in whole processes. The same bins of int64:
 * 0.47 and 0.69, 0.38 and 0.51; 0.52 and 0.69, 0.53 and 0.63.
 */
#define CPU_TREE_CUT_MIN(bytes)   ((bytes) == 8 ? 64 : 128)
#define CPU_TREE_CUT_LEVELS_MIN   8
#define CPU_TREE_CUT_QUICK(bytes) ((bytes) == 8 ? 9 : 8)

/*
 * One word of so many may be doubtful, were there as many values between any two neighbouring ends,
 * and anywhere between these; words are not cut if more are.
 */
#define CPU_TREE_CUT_APART 16

/* Bits of a float's significand. */
#define CPU_TREE_ROUNDED_DIGITS 24

/*
 * The floats between neighbours of which one is no float itself: so that, where values are about as
 * many anywhere between these, 1 of 1000 is doubtful.
 */
#define CPU_TREE_ROUNDED_APART 1024

/*
 * Whether these bins are found rather than computed. Of elements of 2 bytes equal ones and powers
 * of 2 are, too: ns a value (Zen 4), 77 equal bins 0.41 instead of 0.45, powers 0.31 and 0.47.
 */
static bool cpu_tree_is_wanted(const struct job *job)
{
    const bool has_room = job->binning.bins + BINNING_OUTSIDE <= CPU_TABLES_FOUR_MAX;

    switch (job->binning.form) {
    case BINNING_LOG10_32:
    case BINNING_LOG10_64:
    case BINNING_EDGES_FEW:
    case BINNING_EDGES:
        return has_room && job->element.bytes > 1;
    case BINNING_SCALED32:
    case BINNING_LOG2:
        return has_room && job->element.bytes == 2;
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

/* A value that the type has, as an element of so many bytes with its bias. */
static int64_t cpu_tree_word(const struct cpu_tree *tree, unsigned bytes, __int128 value)
{
    const uint64_t word = (uint64_t)value ^ tree->bias;

    return bytes == 2 ? (int16_t)word : bytes == 4 ? (int32_t)word : (int64_t)word;
}

/*
 * What a value is rounded to, as vector code rounds elements. Sets *exact if no element below it is
 * rounded to the same; below 0 that may be false needlessly.
 */
static uint32_t cpu_tree_round_end(const struct cpu_tree *tree, unsigned bytes, __int128 value,
                                   bool *exact)
{
    const bool is_distance =
        tree->kind == CPU_TREE_DISTANCES || tree->kind == CPU_TREE_CUT_DISTANCES;
    const bool is_negative = !is_distance && value < 0;
    const uint64_t magnitude = is_negative ? -(uint64_t)value
                               : is_distance
                                   ? (uint64_t)cpu_tree_word(tree, bytes, value) - tree->low
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
        rounded[i] = cpu_tree_round_end(tree, job->element.bytes,
                                        binning_edge(&job->binning, tree->first + i), &is_exact);
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

/* Sets nodes16, given the `count` nodes from the left to the right. */
static void cpu_tree_fill16(struct cpu_tree *tree, const int16_t *nodes, uint32_t count)
{
    for (unsigned level = 0; level < tree->levels; level++) {
        for (uint32_t column = 0; column < 1u << level; column++) {
            uint32_t end = ((2 * column + 1) << (tree->levels - 1 - level)) - 1;
            tree->nodes16[(1u << level) + column] = end < count ? (uint16_t)nodes[end] : INT16_MAX;
        }
    }
}

/* What trees of that kind cut a value of: the element, or the bits of a float. */
static int64_t cpu_tree_uncut(const struct cpu_tree *tree, unsigned bytes, __int128 value)
{
    bool is_exact;

    return tree->kind == CPU_TREE_CUT ? cpu_tree_word(tree, bytes, value)
                                      : (int32_t)cpu_tree_round_end(tree, bytes, value, &is_exact);
}

/*
 * Chooses shift and base for the `count` ends from `first` on and sets nodes[]. A word that is one
 * more than a node is doubtful: so a node is one less than what its end is cut to, and two if no
 * element is cut to one less. There are two words before the first end, for that, and one behind
 * the last, for what is saturated. Returns the sum, over all ends, of the share of doubtful words
 * between one and the next, in units of 1/65536.
 */
static uint64_t cpu_tree_cut_ends(struct cpu_tree *tree, const struct job *job, uint32_t count,
                                  int16_t *nodes)
{
    const unsigned bytes = job->element.bytes;
    const __int128 lowest = binning_edge(&job->binning, tree->first);
    const __int128 highest = binning_edge(&job->binning, tree->first + count - 1);
    const int64_t low = cpu_tree_uncut(tree, bytes, lowest);
    const int64_t high = cpu_tree_uncut(tree, bytes, highest);
    int64_t previous = INT16_MIN;
    uint64_t shares = 0;

    tree->shift = 2; /* so that differences from the base have no more bits than words had */
    while ((high >> tree->shift) - (low >> tree->shift) > UINT16_MAX - 3)
        tree->shift++;
    tree->base = (low >> tree->shift) - (INT16_MIN + 2);
    for (uint32_t i = 0; i < count; i++) {
        const __int128 end = binning_edge(&job->binning, tree->first + i);
        const int64_t word = (cpu_tree_uncut(tree, bytes, end) >> tree->shift) - tree->base;
        const int64_t before = (cpu_tree_uncut(tree, bytes, end - 1) >> tree->shift) - tree->base;
        const bool is_exact = word - before > 1;
        nodes[i] = (int16_t)(word - 1 - is_exact);
        if (!is_exact)
            shares += (1u << 16) / (uint64_t)(word > previous ? word - previous : 1);
        previous = word;
    }
    return shares;
}

/*
 * Chooses what words of 16 bits are cut from, so that the fewest are doubtful, and makes the tree
 * of these, without `count` if too many were.
 */
static void cpu_tree_init_cut(struct cpu_tree *tree, const struct job *job, uint32_t count)
{
    const unsigned bytes = job->element.bytes;
    const __int128 lowest = binning_edge(&job->binning, tree->first);
    const uint64_t lows[] = {0, (uint64_t)cpu_tree_word(tree, bytes, 0),
                             (uint64_t)cpu_tree_word(tree, bytes, lowest - 1)};
    const enum cpu_tree_kind kinds[] = {CPU_TREE_CUT,
                                        job->element.is_signed ? CPU_TREE_CUT_SIGNED
                                                               : CPU_TREE_CUT_DISTANCES,
                                        CPU_TREE_CUT_DISTANCES};
    uint64_t least = ((uint64_t)count << 16) / CPU_TREE_CUT_APART;
    struct cpu_tree tried = *tree;
    int16_t nodes[CPU_TREE_NODES16];

    if (!cpu_tree_find_choose(bytes, CPU_TREE_CUT_LEVELS_MIN, CPU_TREE_CUT))
        return; /* this machine has none */
    tried.levels = CPU_TREE_CUT_LEVELS_MIN;
    while (count >= 1u << tried.levels)
        tried.levels++;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tried.kind = kinds[i];
        tried.low = lows[i];
        const uint64_t shares = cpu_tree_cut_ends(&tried, job, count, nodes);
        if (shares >= least)
            continue;
        least = shares;
        cpu_tree_fill16(&tried, nodes, count);
        tried.count = cpu_tree_find_choose(bytes, tried.levels, tried.kind);
        *tree = tried;
    }
    if (!tree->count)
        return;
    tree->ends[0] = INT64_MIN;
    for (uint32_t i = 0; i < count; i++)
        tree->ends[i + 1] =
            cpu_tree_word(tree, bytes, binning_edge(&job->binning, tree->first + i));
    tree->is_quickest = tree->levels <= CPU_TREE_CUT_QUICK(bytes);
}

/* Makes the tree of `count` ends of elements of 2 bytes. */
static void cpu_tree_init_short(struct cpu_tree *tree, const struct job *job, uint32_t count)
{
    int16_t nodes[CPU_TREE_NODES16];

    tree->kind = CPU_TREE_WORDS;
    tree->levels = CPU_TREE_SHORT_LEVELS_MIN;
    while (count >= 1u << tree->levels)
        tree->levels += CPU_TREE_SHORT_LEVELS_STEP;
    for (uint32_t i = 0; i < count; i++)
        nodes[i] =
            (int16_t)cpu_tree_word(tree, 2, binning_edge(&job->binning, tree->first + i) - 1);
    cpu_tree_fill16(tree, nodes, count);
    tree->count = cpu_tree_find_choose(2, tree->levels, tree->kind);
    tree->is_quickest = true;
}

/* Makes the tree of words of 32 bits, without `count` if ends are too many, or rounded so. */
static void cpu_tree_init_words(struct cpu_tree *tree, const struct job *job, uint32_t count)
{
    const unsigned bytes = job->element.bytes;
    const uint32_t after = tree->first + count;

    if (count >= CPU_TREE_NODES || job->binning.bins + BINNING_OUTSIDE > CPU_TABLES_EIGHT_MAX)
        return;
    tree->kind = cpu_tree_is_mirrored(job) ? CPU_TREE_MIRRORED : CPU_TREE_WORDS;
    tree->levels = CPU_TREE_LEVELS_MIN(bytes);
    while (count >= 1u << tree->levels)
        tree->levels++;
    cpu_tree_fill(tree, job, after);
    if (bytes != 8 || cpu_tree_choose_rounded(tree, job, after))
        tree->count = cpu_tree_find_choose(bytes, tree->levels, tree->kind);
    tree->is_quickest = cpu_tree_is_quickest(bytes, tree->levels);
}

void cpu_tree_init(struct cpu_tree *tree, const struct job *job)
{
    const unsigned bytes = job->element.bytes;
    uint32_t after;

    *tree = (struct cpu_tree){.count = NULL};
    if (!cpu_tree_is_wanted(job))
        return;
    if (!job->element.is_signed)
        tree->bias = (uint64_t)1 << (8 * bytes - 1);
    cpu_tree_choose_ends(job, &tree->first, &after);
    const uint32_t count = after - tree->first;
    if (count == 0 || count >= CPU_TREE_NODES16)
        return;
    if (bytes == 2)
        cpu_tree_init_short(tree, job, count);
    else if (count >= CPU_TREE_CUT_MIN(bytes))
        cpu_tree_init_cut(tree, job, count);
    if (bytes > 2 && !tree->count)
        cpu_tree_init_words(tree, job, count);
}
