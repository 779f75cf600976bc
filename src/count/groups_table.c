/* Implements groups_table.h. */
#include "config.h"

#include "count/groups_table.h"

#include "base/keyed_hash.h"
#include "base/memory.h"

#include <string.h>

bool groups_table_resize(struct groups_table *table, const struct groups_layout *layout,
                         const struct keyed_hash *hash, unsigned bits)
{
    struct groups_table made = *table;

    made.bits = bits;
    made.rows = memory_map(groups_table_bytes(layout, bits));
    if (!made.rows)
        return false;
    for (size_t i = 0; table->rows && i < (size_t)1 << table->bits; i++) {
        const uint64_t *row = groups_table_row(table, layout, i);
        const uint64_t key = row[GROUPS_ROW_KEY];
        if (row[GROUPS_ROW_COUNT] > 0)
            memcpy(groups_table_find(&made, layout, keyed_hash_of(hash, key), key), row,
                   layout->words * sizeof *row);
    }
    groups_table_destroy(table, layout);
    *table = made;
    return true;
}

void groups_table_destroy(struct groups_table *table, const struct groups_layout *layout)
{
    if (table->rows)
        memory_unmap(table->rows, groups_table_bytes(layout, table->bits));
    table->rows = NULL;
}
