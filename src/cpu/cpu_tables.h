/*
 * The tables of private counters (cpu_counter_private), as loops have them that count what they
 * find in the same go. A counter that is incremented twice in a row waits for its own store, so
 * that equal neighbours would cost five cycles each; with several copies of the table, used in
 * turn, they do not meet.
 */
#ifndef GPUHIST_CPU_TABLES_H
#define GPUHIST_CPU_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The most entries that there are 8 and 4 copies for. 8 of them take an L1 of 32 KiB with 1024
 * entries, which the other things wanted there suffer from: ns a value of uniform ones in 1000 bins
 * with 8 and with 4 copies 0.40 and 0.37 (Zen 4), 0.56 and 0.47 (Sapphire Rapids), two values in
 * turn 0.33 and 0.42; with 2 copies the latter take 0.66.
 */
#define CPU_TABLES_COPIES_MAX 8
#define CPU_TABLES_EIGHT_MAX  258
#define CPU_TABLES_FOUR_MAX   1024

/*
 * Entries from one copy to the next: a constant, so that it costs no registers, and not of 4 KiB,
 * by which loads seem to wait for stores.
 */
#define CPU_TABLES_STRIDE ((size_t)CPU_TABLES_FOUR_MAX + 16)

struct cpu_tables {
    uint32_t *first; /* the first copy, the counter's */
    uint32_t spare;  /* an entry that nothing is asked of */
};

/*
 * A load waits for an older store if the lower 12 bits of their addresses are the same ("4K
 * aliasing" in Intel's Optimization Reference Manual). So what loops load beside the tables had
 * better be where these have no entries, which are few as a rule: ns a value of int32 in 300 random
 * bins, by where the stack was (Zen 4), 0.50 to 0.58.
 */
#define CPU_TABLES_PAGE 4096

/*
 * Where so many bytes are to be within `room`, which has those and CPU_TABLES_PAGE more: so that
 * they end where the tables begin, but for whole pages. Aligned as the tables and the room are.
 */
static inline void *cpu_tables_beside(struct cpu_tables tables, void *room, size_t bytes)
{
    const uintptr_t before = (uintptr_t)tables.first - bytes;
    return (char *)room + (before - (uintptr_t)room) % CPU_TABLES_PAGE;
}

/* The copies of the tables in the order in which they are used: if there are fewer, again. */
struct cpu_tables_turns {
    uint32_t *of[CPU_TABLES_COPIES_MAX];
};

/*
 * Before loops over the registers and ranks of a group, whose rounds are to be unrolled all, or
 * what should be in registers goes through memory: left to gcc 12, trees of six levels took 1.7 ns
 * a value with AVX2, not 0.9. Sanitizers watch each access: compilers would take minutes for them.
 */
#ifdef SANITIZED
#define CPU_TABLES_UNROLL
#else
#define CPU_TABLES_UNROLL _Pragma("GCC unroll 64")
#endif

/*
 * Counts ranks[from..to), words of so many bytes, 2 or 4, in that many copies in turn. All but
 * pointers are constants. Not looked at by UBSan, which with clang 14 takes minutes for it.
 */
static inline __attribute__((always_inline, no_sanitize("undefined"))) void cpu_tables_count(
    struct cpu_tables tables, size_t copies, const void *ranks, size_t bytes, size_t from,
    size_t to)
{
    CPU_TABLES_UNROLL
    for (size_t i = from; i < to; i++) {
        uint16_t half;
        uint32_t rank;
        if (bytes == sizeof half) {
            memcpy(&half, (const char *)ranks + i * sizeof half, sizeof half);
            rank = half;
        } else {
            memcpy(&rank, (const char *)ranks + i * sizeof rank, sizeof rank);
        }
        tables.first[i % copies * CPU_TABLES_STRIDE + rank]++;
    }
}

/*
 * Loops that compute bin numbers write them to an array, and with each group that they write count
 * one that they wrote so many numbers before: that one is no longer waited for. It is a multiple of
 * each group, and each group one of CPU_TABLES_COPIES_MAX.
 */
#define CPU_TABLES_LAG ((size_t)64)

/* Counts a group, indexes[0..n), n a constant. */
static inline __attribute__((always_inline, no_sanitize("undefined"))) void cpu_tables_count_group(
    const struct cpu_tables_turns *turns, const uint32_t *indexes, size_t n)
{
    CPU_TABLES_UNROLL
    for (size_t i = 0; i < n; i++)
        turns->of[i % CPU_TABLES_COPIES_MAX][indexes[i]]++;
}

/* Counts those of indexes[0..n) that a loop over groups of so many has not. */
static inline void cpu_tables_count_rest(const struct cpu_tables_turns *turns,
                                         const uint32_t *indexes, size_t n, size_t group)
{
    const size_t groups = (n + group - 1) / group;
    const size_t behind = CPU_TABLES_LAG / group;

    for (size_t i = groups > behind ? (groups - behind) * group : 0; i < n; i++)
        turns->of[i % CPU_TABLES_COPIES_MAX][indexes[i]]++;
}

#endif
