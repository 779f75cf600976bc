/* Implements table_hot.h: votes of a sample, and counting without branches. */
#include "config.h"

#include "lib/table_hot.h"

/* Number of keys of a sample. */
#define TABLE_HOT_SAMPLE ((uint64_t)32 << 10)

/* Maximum number of keys seen for each one found; with more, the table gains no time. */
#define TABLE_HOT_SHARE 5

/* Number of keys after which the share is checked. */
#define TABLE_HOT_PERIOD ((uint64_t)256 << 10)

/* Number of keys of a pause: samples then take little time. */
#define TABLE_HOT_PAUSE ((uint64_t)1 << 20)

static void table_hot_begin(struct table_hot *hot, enum table_hot_state state)
{
    hot->state = state;
    hot->seen = 0;
    hot->found = 0;
}

static inline struct table_entry *table_hot_slot(struct table_hot *hot, uint64_t key)
{
    return &hot->slots[key * hot->seed >> (64 - TABLE_HOT_BITS)];
}

static bool table_hot_has_share(const struct table_hot *hot)
{
    return TABLE_HOT_SHARE * hot->found >= hot->seen;
}

/* Lets the keys vote. After enough of them, counts the keys that won, or pauses. */
static void table_hot_sample(struct table_hot *hot, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct table_entry *slot = table_hot_slot(hot, keys[i]);
        const bool is_found = slot->key == keys[i];
        hot->found += is_found;
        if (is_found || slot->count == 0) {
            slot->key = keys[i];
            slot->count++;
        } else {
            slot->count--;
        }
    }
    if (hot->seen < TABLE_HOT_SAMPLE)
        return;
    for (size_t i = 0; i < TABLE_HOT_SLOTS; i++)
        hot->slots[i].count = 0;
    table_hot_begin(hot, table_hot_has_share(hot) ? TABLE_HOT_COUNTS : TABLE_HOT_PAUSES);
}

/* Counts the keys that the table has, and copies the others. Returns their number. */
static size_t table_hot_split(struct table_hot *hot, const uint64_t *restrict keys, size_t n,
                              uint64_t *restrict cold)
{
    size_t missed = 0;

    for (size_t i = 0; i < n; i++) {
        struct table_entry *slot = table_hot_slot(hot, keys[i]);
        const bool is_found = slot->key == keys[i];
        slot->count += is_found;
        cold[missed] = keys[i];
        missed += !is_found;
    }
    return missed;
}

size_t table_hot_count(struct table_hot *hot, const uint64_t **keys, size_t n, uint64_t *cold)
{
    hot->seen += n;
    if (hot->state == TABLE_HOT_COUNTS) {
        if (hot->seen > TABLE_HOT_PERIOD && table_hot_has_share(hot))
            table_hot_begin(hot, TABLE_HOT_COUNTS);
        const size_t missed = table_hot_split(hot, *keys, n, cold);
        hot->found += n - missed;
        *keys = cold;
        return missed;
    }
    if (hot->state == TABLE_HOT_SAMPLES)
        table_hot_sample(hot, *keys, n);
    else if (hot->seen >= TABLE_HOT_PAUSE)
        table_hot_begin(hot, TABLE_HOT_SAMPLES);
    return n;
}

bool table_hot_is_stale(const struct table_hot *hot)
{
    return hot->state == TABLE_HOT_COUNTS && hot->seen > TABLE_HOT_PERIOD &&
           !table_hot_has_share(hot);
}

size_t table_hot_empty(struct table_hot *hot, struct table_entry *entries)
{
    size_t n = 0;

    if (hot->state != TABLE_HOT_COUNTS)
        return 0;
    for (size_t i = 0; i < TABLE_HOT_SLOTS; i++) {
        entries[n] = hot->slots[i];
        n += hot->slots[i].count > 0;
        hot->slots[i].count = 0;
    }
    if (table_hot_is_stale(hot))
        table_hot_begin(hot, TABLE_HOT_SAMPLES);
    return n;
}
