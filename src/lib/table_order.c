/*
 * Sorts rows by key. Arrays that fit a cache: a radix sort from the lowest byte up (Knuth, "The Art
 * of Computer Programming", vol. 3, 5.2.5). All rows of a finalized table: a sample sort (W. D.
 * Frazer, A. C. McKellar, "Samplesort", JACM 1970), which distributes them to buckets between
 * splitters; each bucket is then sorted by radix. Since partitions are chosen by a hash, some
 * partitions are a random sample of the keys.
 */
#include "config.h"

#include "lib/memory.h"
#include "lib/parallel.h"
#include "lib/table_internal.h"

#include <stdlib.h>

/* Approximate size of a bucket. */
#define TABLE_SORT_BUCKET_BYTES ((size_t)128 << 10)

#define TABLE_SORT_BUCKETS_MAX ((size_t)1024)

/* Number of keys of the sample per splitter. */
#define TABLE_SORT_SAMPLE 16

/* The sample is chosen from 1/SHARE of all rows. */
#define TABLE_SORT_SAMPLE_SHARE 64

/* Number of upper bits, beyond log2 of their number, by which entries are sorted first. */
#define TABLE_ORDER_BITS_MORE 8

/* Number of groups of partitions, which threads take one at a time. */
#define TABLE_SORT_GROUPS           64
#define TABLE_SORT_GROUP_PARTITIONS (TABLE_PARTITIONS / TABLE_SORT_GROUPS)

/* Sorts entries by the bytes of their keys that have a set bit in `bits`. */
static void table_order_bytes(struct table_entry *entries, size_t n, struct table_entry *spare,
                              uint64_t bits)
{
    struct table_entry *from = entries;
    struct table_entry *to = spare;

    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t starts[256] = {0};
        size_t start = 0;
        if ((bits >> shift & 255) == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            starts[from[i].key >> shift & 255]++;
        for (size_t i = 0; i < 256; i++) {
            const size_t count = starts[i];
            starts[i] = start;
            start += count;
        }
        for (size_t i = 0; i < n; i++)
            to[starts[from[i].key >> shift & 255]++] = from[i];
        struct table_entry *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != entries)
        memcpy(entries, from, n * sizeof *entries);
}

/* Sorts entries that are nearly in order by insertion; returns false after `n` moves. */
static bool table_order_insert(struct table_entry *entries, size_t n)
{
    size_t moves = 0;

    for (size_t i = 1; i < n; i++) {
        const struct table_entry entry = entries[i];
        size_t k = i;
        for (; k > 0 && entries[k - 1].key > entry.key && moves < n; k--, moves++)
            entries[k] = entries[k - 1];
        entries[k] = entry;
    }
    return moves < n;
}

/*
 * Sorts entries by enough upper bits of their keys that few random keys are equal in these, and
 * then by insertion. For 8M random 64-bit keys, that is three passes over each bucket instead of
 * seven. If too many are equal, sorts by all bits.
 */
void table_order_entries(struct table_entry *entries, size_t n, struct table_entry *spare)
{
    uint64_t differing = 0;

    for (size_t i = 1; i < n; i++)
        differing |= entries[i].key ^ entries[0].key;
    uint64_t upper = differing;
    for (int more = __builtin_popcountll(differing) - TABLE_ORDER_BITS_MORE;
         more > 0 && n >> (more - 1) == 0; more--)
        upper &= upper - 1; /* without its lowest bit */
    table_order_bytes(entries, n, spare, upper);
    if (upper != differing && !table_order_insert(entries, n))
        table_order_bytes(entries, n, spare, differing);
}

void table_order_rows(const struct table_layout *layout, uint64_t *rows, size_t n, uint64_t *spare)
{
    struct table_entry *numbers = (struct table_entry *)spare;
    const size_t words = layout->words;

    if (layout->key_words == 1 && words == 2) {
        table_order_entries((struct table_entry *)rows, n, numbers);
        return;
    }
    for (size_t i = 0; i < n; i++)
        numbers[i].count = i;
    for (size_t w = layout->key_words; w-- > 0;) {
        for (size_t i = 0; i < n; i++)
            numbers[i].key = rows[numbers[i].count * words + w];
        table_order_entries(numbers, n, numbers + n);
    }
    uint64_t *sorted = spare + 2 * n; /* in place of the scratch of the numbers */
    for (size_t i = 0; i < n; i++)
        memcpy(sorted + i * words, rows + numbers[i].count * words, words * sizeof *rows);
    memcpy(rows, sorted, n * words * sizeof *rows);
}

struct table_sort {
    const struct table *table;
    const struct table_ranks *ranks;           /* NULL: rows stay as they are */
    uint64_t *sorted;                          /* the rows of all buckets */
    size_t buckets;                            /* number of buckets, a power of 2 */
    uint64_t *splitters;                       /* the largest key of each bucket but the last */
    uint16_t *row_buckets;                     /* [distinct]: each row's, set when it is counted */
    size_t starts[TABLE_SORT_BUCKETS_MAX + 1]; /* the start of each bucket in `sorted` */
    size_t (*counts)[TABLE_SORT_BUCKETS_MAX];  /* [groups]: rows of each bucket; then the index of
                                                  the next one in `sorted` */
    bool copies;                               /* rows are copied to the buckets, else counted */
    _Atomic bool has_failed;                   /* there is no memory */
};

/* Returns the number of splitters below the key, by a binary search without branches. */
TABLE_INLINE size_t table_sort_bucket(const struct table_layout layout, const uint64_t *splitters,
                                      size_t buckets, const uint64_t *key)
{
    size_t bucket = 0;

    for (size_t half = buckets / 2; half > 0; half /= 2) {
        const uint64_t *splitter = splitters + (bucket + half - 1) * layout.key_words;
        bucket += table_key_is_less(layout, splitter, key) ? half : 0;
    }
    return bucket;
}

/* Replaces the numbers in a key by their ranks. */
static void table_sort_rank(const struct table_sort *sort, uint64_t *key)
{
    for (size_t w = 0; w < sort->table->layout.key_words; w++) {
        if (sort->ranks->is_ranked[w])
            key[w] = sort->ranks->ranks[key[w]];
    }
}

/* Counts the rows of a group in each bucket, or copies them there. */
TABLE_INLINE void table_sort_scan(const struct table_layout layout, struct table_sort *sort,
                                  size_t group, bool has_ranks)
{
    uint64_t ranked[TABLE_RANKED_WORDS_MAX];
    const uint64_t *splitters = sort->splitters; /* no store to rows can change these */
    const size_t buckets = sort->buckets;
    const bool copies = sort->copies;
    uint64_t *sorted = sort->sorted;
    size_t *counts = sort->counts[group];
    const size_t first = group * TABLE_SORT_GROUP_PARTITIONS;
    uint16_t *bucket = sort->row_buckets;

    for (size_t p = 0; p < first; p++)
        bucket += sort->table->partitions[p].packed.used;
    for (size_t p = first; p < first + TABLE_SORT_GROUP_PARTITIONS; p++) {
        for (const struct table_block *block = sort->table->partitions[p].packed.blocks; block;
             block = block->next) {
            for (size_t i = 0; i < block->used; i++) {
                const uint64_t *row = block->words + i * layout.words;
                const uint64_t *key = row;
                if (!copies && has_ranks) {
                    key = memcpy(ranked, row, layout.key_words * sizeof *row);
                    table_sort_rank(sort, ranked);
                }
                if (!copies)
                    *bucket = (uint16_t)table_sort_bucket(layout, splitters, buckets, key);
                const size_t at = counts[*bucket++]++;
                if (copies)
                    memcpy(sorted + at * layout.words, row, layout.words * sizeof *row);
                if (copies && has_ranks)
                    table_sort_rank(sort, sorted + at * layout.words);
            }
        }
    }
}

static void table_sort_group(void *context, size_t group)
{
    struct table_sort *sort = context;

    if (sort->ranks)
        table_sort_scan(sort->table->layout, sort, group, true);
    else if (sort->table->has_counts || sort->table->has_sums) /* rows of the same words */
        table_sort_scan(table_counts, sort, group, false);
    else
        table_sort_scan(sort->table->layout, sort, group, false);
}

static void table_sort_one(void *context, size_t bucket)
{
    struct table_sort *sort = context;
    const struct table_layout *layout = &sort->table->layout;
    uint64_t *rows = sort->sorted + sort->starts[bucket] * layout->words;
    const size_t n = sort->starts[bucket + 1] - sort->starts[bucket];
    uint64_t *spare = malloc((n + 1) * table_order_spare_words(layout) * sizeof *spare);

    if (spare)
        table_order_rows(layout, rows, n, spare);
    else
        atomic_store(&sort->has_failed, true);
    free(spare);
}

/*
 * Chooses the splitters from a sample, read evenly from a part of the table, because consecutive
 * rows have similar counts. Returns false if there is no memory.
 */
static bool table_sort_split(struct table_sort *sort)
{
    const struct table *table = sort->table;
    const size_t words = table->layout.words;
    const size_t key_bytes = table->layout.key_words * sizeof(uint64_t);
    const size_t wanted = TABLE_SORT_SAMPLE * sort->buckets;
    const uint64_t step = table->distinct / TABLE_SORT_SAMPLE_SHARE / wanted + 1;
    struct table_position position = table_begin(table);
    uint64_t *sample =
        malloc((wanted + 1) * (words + table_order_spare_words(&table->layout)) * sizeof *sample);
    uint64_t *rows = sample + wanted * words; /* in the spare part */
    uint64_t seen = 0;
    size_t n = 0;
    size_t some;

    sort->splitters = malloc(sort->buckets * key_bytes);
    if (!sample || !sort->splitters) {
        free(sample);
        return false;
    }
    while (n < wanted && (some = table_read(table, &position, rows, wanted)) > 0) {
        for (size_t i = 0; i < some && n < wanted; i++) {
            if (seen++ % step == 0)
                memcpy(sample + n++ * words, rows + i * words, words * sizeof *rows);
        }
    }
    for (size_t i = 0; sort->ranks && i < n; i++)
        table_sort_rank(sort, sample + i * words);
    table_order_rows(&table->layout, sample, n, sample + wanted * words);
    for (size_t i = 0; i + 1 < sort->buckets; i++)
        memcpy((char *)sort->splitters + i * key_bytes,
               sample + (i + 1) * n / sort->buckets * words, key_bytes);
    free(sample);
    return true;
}

bool table_sort(struct table *table, const struct table_ranks *ranks)
{
    const uint64_t bytes = table->distinct * table_row_bytes(table);
    unsigned threads = table_threads(table);
    struct table_sort sort = {.table = table, .ranks = ranks, .buckets = 1};
    size_t start = 0;

    while (sort.buckets < TABLE_SORT_BUCKETS_MAX && sort.buckets * TABLE_SORT_BUCKET_BYTES < bytes)
        sort.buckets *= 2;
    if (sort.buckets == 1)
        threads = 1;
    sort.counts = calloc(TABLE_SORT_GROUPS, sizeof *sort.counts);
    sort.row_buckets = memory_map((table->distinct + 1) * sizeof *sort.row_buckets);
    if (sort.counts && sort.row_buckets && table_sort_split(&sort))
        sort.sorted = memory_map(bytes + table_row_bytes(table));
    if (sort.sorted) {
        parallel_run(threads, TABLE_SORT_GROUPS, table_sort_group, &sort);
        for (size_t bucket = 0; bucket < sort.buckets; bucket++) { /* counts become indexes */
            sort.starts[bucket] = start;
            for (size_t group = 0; group < TABLE_SORT_GROUPS; group++) {
                const size_t count = sort.counts[group][bucket];
                sort.counts[group][bucket] = start;
                start += count;
            }
        }
        sort.starts[sort.buckets] = start;
        sort.copies = true;
        parallel_run(threads, TABLE_SORT_GROUPS, table_sort_group, &sort);
        parallel_run(threads, sort.buckets, table_sort_one, &sort);
    }
    memory_unmap(sort.row_buckets, (table->distinct + 1) * sizeof *sort.row_buckets);
    free(sort.splitters);
    free(sort.counts);
    table->sorted = sort.sorted;
    return sort.sorted && !atomic_load(&sort.has_failed);
}
