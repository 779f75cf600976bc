/* Implements table_order.h. */
#include "config.h"

#include "table/table_order.h"

#include <string.h>

#define TABLE_ORDER_INSERTION 48

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
        for (size_t i = 1; i < n; i++) {
            const struct table_entry entry = entries[i];
            size_t at = i;
            for (; at > 0 && entries[at - 1].key > entry.key; at--)
                entries[at] = entries[at - 1];
            entries[at] = entry;
        }
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
    uint64_t *sorted = spare + 2 * n; /* where the scratch of the numbers was */
    for (size_t i = 0; i < n; i++)
        memcpy(sorted + i * words, rows + numbers[i].count * words, words * sizeof *rows);
    memcpy(rows, sorted, n * words * sizeof *rows);
}
