/*
 * Guides with gathered loads: a loop looks up the keys of one group and counts an older one
 * meanwhile, as the loops of trees do (cpu_tree.h). All functions are thread-safe.
 */
#ifndef GPUHIST_CPU_GUIDE_GATHER_H
#define GPUHIST_CPU_GUIDE_GATHER_H

#include "cpu/cpu_guide.h"
#include "cpu/cpu_tables.h"

/* Keys that are looked up at once. */
#define CPU_GUIDE_GATHER_GROUP ((size_t)32)

/*
 * Whether gathered loads are quick here: on machines with AVX-512 FP16. On Zen 4 they take as long
 * as loads one by one, and on older ones of Intel many times that, since they were made safe.
 */
bool cpu_guide_can_gather(void);

/*
 * Counts the ranks of keys[0..n), narrow or wide, a multiple of CPU_GUIDE_GATHER_GROUP, in that
 * many copies of the tables, 1, 2 or 8. Returns how many are left, in mixed buckets: mixed[], of n,
 * has their places. To be called with AVX-512 alone (cpu_isa_has_avx512).
 */
size_t cpu_guide_count_gathered(const struct cpu_guide *guide, const void *keys, size_t n,
                                struct cpu_tables tables, size_t copies, uint32_t *mixed);

#endif
