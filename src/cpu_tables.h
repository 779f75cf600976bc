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

#endif
