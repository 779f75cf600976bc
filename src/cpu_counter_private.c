/*
 * Private tables. A counter that is incremented twice in a row waits for its own store, so that
 * equal neighbours would cost five cycles each; with several copies of the table, used in turn,
 * they do not meet. Copies are kept while together they fit the L1, and one always.
 */
#include "config.h"

#include "cpu_counter.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define CPU_COUNTER_COPIES     8
#define CPU_COUNTER_COPIED_MAX 1024 /* entries: 8 copies take an L1 of 32 KiB */

/*
 * Entries from one copy to the next: a constant, so that it costs no registers, and not of 4 KiB,
 * by which loads seem to wait for stores.
 */
#define CPU_COUNTER_STRIDE ((size_t)CPU_COUNTER_COPIED_MAX + 16)

/* Bins that are found at once: as many as there are registers for. */
#define CPU_COUNTER_GROUP 4

struct cpu_counter_private {
    struct histogram *histogram;
    uint32_t *tables; /* one, or CPU_COUNTER_COPIES, CPU_COUNTER_STRIDE apart */
    size_t entries;
    size_t copies;    /* 1 or CPU_COUNTER_COPIES */
    uint32_t limit;   /* increments that no counter can wrap in */
    uint32_t counted; /* since the tables were last moved to the histogram, <= limit */
};

static size_t cpu_counter_private_bytes(const struct cpu_counter_private *self)
{
    size_t entries = self->copies == 1 ? self->entries : self->copies * CPU_COUNTER_STRIDE;
    return entries * sizeof *self->tables;
}

static void cpu_counter_private_close(void *state)
{
    struct cpu_counter_private *self = state;
    if (!self)
        return;
    memory_unmap(self->tables, cpu_counter_private_bytes(self));
    free(self);
}

enum status cpu_counter_private_open_limited(struct histogram *histogram, uint32_t limit,
                                             void **state, struct failure *failure)
{
    struct cpu_counter_private *made = malloc(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    size_t entries = histogram->entries;
    *made = (struct cpu_counter_private){
        .histogram = histogram,
        .entries = entries,
        .copies = entries <= CPU_COUNTER_COPIED_MAX ? CPU_COUNTER_COPIES : 1,
        .limit = limit,
    };
    made->tables = memory_map(cpu_counter_private_bytes(made));
    *state = made;
    if (!made->tables)
        return status_fail(failure, STATUS_DATA, "no memory for the tables of a CPU thread");
    return STATUS_OK;
}

static enum status cpu_counter_private_open(struct histogram *histogram, void **state,
                                            struct failure *failure)
{
    return cpu_counter_private_open_limited(histogram, UINT32_MAX, state, failure);
}

static void cpu_counter_private_flush(void *state)
{
    struct cpu_counter_private *self = state;

    for (size_t copy = 0; copy < self->copies; copy++) {
        uint32_t *table = self->tables + copy * CPU_COUNTER_STRIDE;
        histogram_add_counts32(self->histogram, 0, table, self->entries);
        for (size_t i = 0; i < self->entries; i++)
            table[i] = 0;
    }
    self->counted = 0;
}

/* Counts indexes[0..n) in turn in `copies` tables; inlined with a constant for each. */
static inline __attribute__((always_inline)) void cpu_counter_private_add(uint32_t *tables,
                                                                          size_t copies,
                                                                          const uint32_t *indexes,
                                                                          size_t n)
{
    size_t i = 0;

    for (; i + copies <= n; i += copies) {
        for (size_t copy = 0; copy < copies; copy++)
            tables[copy * CPU_COUNTER_STRIDE + indexes[i + copy]]++;
    }
    for (; i < n; i++)
        tables[indexes[i]]++;
}

/* How many of n values can be counted before the tables are full; makes room if they are. */
static size_t cpu_counter_private_reserve(struct cpu_counter_private *self, size_t n)
{
    if (self->counted == self->limit)
        cpu_counter_private_flush(self);
    size_t room = self->limit - self->counted;
    size_t part = n < room ? n : room;
    self->counted += (uint32_t)part;
    return part;
}

static void cpu_counter_private_count(void *state, const uint32_t *indexes, size_t n)
{
    struct cpu_counter_private *self = state;

    while (n > 0) {
        size_t part = cpu_counter_private_reserve(self, n);
        if (self->copies == CPU_COUNTER_COPIES)
            cpu_counter_private_add(self->tables, CPU_COUNTER_COPIES, indexes, part);
        else
            cpu_counter_private_add(self->tables, 1, indexes, part);
        indexes += part;
        n -= part;
    }
}

/*
 * The bins of places i and i + 1; narrow ones are loaded two at once. The statement of no code
 * keeps compilers from gathering.
 */
static inline __attribute__((always_inline)) void cpu_counter_private_find(
    const struct cpu_guide *guide, bool is_wide, bool is_packed,
    const struct cpu_guide_places *places, size_t i, uint64_t bins[2])
{
    const unsigned first = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 32 : 0;
    uint64_t buckets;
    uint64_t distances;

    memcpy(&buckets, places->buckets + i, sizeof buckets);
    memcpy(&distances, places->narrow + i, sizeof distances);
    for (unsigned k = 0; k < 2; k++) {
        unsigned shift = k == 0 ? first : 32 - first;
        uint32_t bucket = (uint32_t)(buckets >> shift);
        uint32_t distance = (uint32_t)(distances >> shift);
        bins[k] = cpu_guide_find(guide, is_wide, is_packed, bucket,
                                 is_wide ? places->wide[i + k] : distance);
    }
    __asm__("" : "+r"(bins[0]), "+r"(bins[1]));
}

/* The bin of place i, found as `bin`: searched for if that is of a mixed bucket. */
static uint64_t cpu_counter_private_search(const struct cpu_guide *guide,
                                           const struct cpu_guide_places *places, size_t i,
                                           uint64_t bin)
{
    if (bin < guide->mixed)
        return bin;
    uint64_t distance = guide->is_wide ? places->wide[i] : places->narrow[i];
    if (guide->is_packed)
        distance += (uint64_t)places->buckets[i] << guide->unit;
    return cpu_guide_settle(guide, (uint32_t)bin, distance);
}

/* Counts CPU_COUNTER_GROUP places from i on in as many tables, each `stride` behind the other. */
static inline __attribute__((always_inline)) void cpu_counter_private_add_group(
    uint32_t *tables, size_t stride, const struct cpu_guide *guide, bool is_wide, bool is_packed,
    bool has_mixed, const struct cpu_guide_places *places, size_t i)
{
    uint64_t bins[CPU_COUNTER_GROUP];
    uint64_t any = 0;

    for (size_t k = 0; k < CPU_COUNTER_GROUP; k += 2) {
        cpu_counter_private_find(guide, is_wide, is_packed, places, i + k, bins + k);
        any |= bins[k] | bins[k + 1];
    }
    if (has_mixed && __builtin_expect(any >= guide->mixed, 0)) {
        for (size_t k = 0; k < CPU_COUNTER_GROUP; k++)
            bins[k] = cpu_counter_private_search(guide, places, i + k, bins[k]);
    }
    for (size_t k = 0; k < CPU_COUNTER_GROUP; k++, tables += stride)
        tables[bins[k]]++;
}

/*
 * Counts places [from, to), a multiple of CPU_COUNTER_COPIES. That bin numbers are not stored in
 * between takes 0.53 instead of 0.71 ns a value, and that all of a group are found before the first
 * is counted 0.48, or 0.58 where buckets may be mixed (Zen 4).
 */
static inline __attribute__((always_inline)) void cpu_counter_private_add_places(
    uint32_t *tables, size_t stride, const struct cpu_guide *guide, bool is_wide, bool is_packed,
    bool has_mixed, const struct cpu_guide_places *places, size_t from, size_t to)
{
    const struct cpu_guide local = *guide; /* no store to the tables can change it */

    for (size_t i = from; i < to; i += CPU_COUNTER_COPIES) {
        for (size_t k = 0; k < CPU_COUNTER_COPIES; k += CPU_COUNTER_GROUP)
            cpu_counter_private_add_group(tables + k * stride, stride, &local, is_wide, is_packed,
                                          has_mixed, places, i + k);
    }
}

/* The same in as many tables as there are; inlined with a constant for each kind of guide. */
static inline __attribute__((always_inline)) void cpu_counter_private_add_kind(
    const struct cpu_counter_private *self, const struct cpu_guide *guide, bool is_wide,
    bool is_packed, bool has_mixed, const struct cpu_guide_places *places, size_t from, size_t to)
{
    if (self->copies == 1)
        cpu_counter_private_add_places(self->tables, 0, guide, is_wide, is_packed, has_mixed,
                                       places, from, to);
    else
        cpu_counter_private_add_places(self->tables, CPU_COUNTER_STRIDE, guide, is_wide, is_packed,
                                       has_mixed, places, from, to);
}

/* Counts places [from, to), a multiple of CPU_COUNTER_COPIES, by the kind of the guide. */
static void cpu_counter_private_add_whole(const struct cpu_counter_private *self,
                                          const struct cpu_guide *guide,
                                          const struct cpu_guide_places *places, size_t from,
                                          size_t to)
{
#define CPU_COUNTER_KIND(wide, packed, mixed)                                             \
    case wide << 2 | packed << 1 | mixed:                                                 \
        cpu_counter_private_add_kind(self, guide, wide, packed, mixed, places, from, to); \
        break;
    switch (guide->is_wide << 2 | guide->is_packed << 1 | guide->has_mixed) {
        CPU_COUNTER_KIND(0, 0, 0)
        CPU_COUNTER_KIND(0, 0, 1)
        CPU_COUNTER_KIND(0, 1, 0)
        CPU_COUNTER_KIND(0, 1, 1)
        CPU_COUNTER_KIND(1, 0, 0)
        CPU_COUNTER_KIND(1, 0, 1)
        CPU_COUNTER_KIND(1, 1, 0)
        CPU_COUNTER_KIND(1, 1, 1)
    }
#undef CPU_COUNTER_KIND
}

/* Counts places [from, to), fewer than CPU_COUNTER_COPIES. */
static void cpu_counter_private_add_rest(const struct cpu_counter_private *self,
                                         const struct cpu_guide *guide,
                                         const struct cpu_guide_places *places, size_t from,
                                         size_t to)
{
    for (size_t i = from; i < to; i++) {
        uint64_t bin = cpu_guide_find(guide, guide->is_wide, guide->is_packed, places->buckets[i],
                                      guide->is_wide ? places->wide[i] : places->narrow[i]);
        self->tables[cpu_counter_private_search(guide, places, i, bin)]++;
    }
}

void cpu_counter_private_count_places(void *state, const struct cpu_guide *guide,
                                      const struct cpu_guide_places *places, size_t n)
{
    struct cpu_counter_private *self = state;

    for (size_t from = 0; from < n;) {
        size_t part = cpu_counter_private_reserve(self, n - from);
        size_t rest = from + part - part % CPU_COUNTER_COPIES;
        cpu_counter_private_add_whole(self, guide, places, from, rest);
        cpu_counter_private_add_rest(self, guide, places, rest, from + part);
        from += part;
    }
}

/* As above, 0.64 ns a value if all are found before the first is counted, else 1.0 (Zen 4). */
static inline __attribute__((always_inline)) void cpu_counter_private_add_mapped(
    uint32_t *tables, size_t stride, const uint16_t *map, const char *words, size_t n)
{
    uint64_t group;
    size_t i = 0;

    for (; i + CPU_COUNTER_GROUP <= n; i += CPU_COUNTER_GROUP) {
        memcpy(&group, words + i * 2, sizeof group);
        size_t bin0 = map[group & UINT16_MAX];
        size_t bin1 = map[group >> 16 & UINT16_MAX];
        size_t bin2 = map[group >> 32 & UINT16_MAX];
        size_t bin3 = map[group >> 48];
        __asm__("" : "+r"(bin0), "+r"(bin1), "+r"(bin2), "+r"(bin3));
        tables[bin0]++;
        tables[stride + bin1]++;
        tables[2 * stride + bin2]++;
        tables[3 * stride + bin3]++;
    }
    for (; i < n; i++) {
        uint16_t word;
        memcpy(&word, words + i * 2, sizeof word);
        tables[map[word]]++;
    }
}

void cpu_counter_private_count_mapped(void *state, const uint16_t *map, const void *elements,
                                      size_t n)
{
    struct cpu_counter_private *self = state;
    const char *words = elements;

    while (n > 0) {
        size_t part = cpu_counter_private_reserve(self, n);
        if (self->copies == 1)
            cpu_counter_private_add_mapped(self->tables, 0, map, words, part);
        else
            cpu_counter_private_add_mapped(self->tables, CPU_COUNTER_STRIDE, map, words, part);
        words += part * 2;
        n -= part;
    }
}

const struct cpu_counter cpu_counter_private = {
    .open = cpu_counter_private_open,
    .count = cpu_counter_private_count,
    .flush = cpu_counter_private_flush,
    .close = cpu_counter_private_close,
};
