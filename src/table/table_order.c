/* Implements table_order.h. */
#include "config.h"

#include "table/table_order.h"

#include <string.h>

#define TABLE_ORDER_INSERTION 48

static void table_order_insert(struct table_entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct table_entry entry = entries[i];
        size_t to = i;
        for (; to > 0 && entries[to - 1].key > entry.key; to--)
            entries[to] = entries[to - 1];
        entries[to] = entry;
    }
}

/* Sorts by the byte at `shift` from one array to the other. */
static void table_order_pass(const struct table_entry *from, struct table_entry *to, size_t n,
                             unsigned shift)
{
    size_t starts[256] = {0};
    size_t start = 0;

    for (size_t i = 0; i < n; i++)
        starts[from[i].key >> shift & 255]++;
    for (size_t i = 0; i < 256; i++) {
        size_t count = starts[i];
        starts[i] = start;
        start += count;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[from[i].key >> shift & 255]++] = from[i];
}

void table_order_entries(struct table_entry *entries, size_t n, struct table_entry *spare)
{
    struct table_entry *from = entries;
    struct table_entry *to = spare;
    uint64_t differing = 0;

    if (n <= TABLE_ORDER_INSERTION) {
        table_order_insert(entries, n);
        return;
    }
    for (size_t i = 1; i < n; i++)
        differing |= entries[i].key ^ entries[0].key;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((differing >> shift & 255) == 0)
            continue;
        table_order_pass(from, to, n, shift);
        struct table_entry *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != entries)
        memcpy(entries, from, n * sizeof *entries);
}
