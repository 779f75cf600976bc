/* Implements table_rows.h: the memory of hash tables. */
#include "config.h"

#include "table/table_rows.h"

#include "base/memory.h"

#define TABLE_SLOTS_BITS_MIN 9

static enum status table_slots_map(struct table_slots *slots, const struct table_layout *layout,
                                   unsigned bits, struct failure *failure)
{
    slots->rows = memory_map(layout->words * sizeof *slots->rows << bits);
    if (!slots->rows)
        return status_fail(failure, STATUS_DATA, "no memory for a table of 2^%u keys", bits);

    slots->bits = bits;
    slots->capacity_bits = bits;
    slots->used = 0;
    return STATUS_OK;
}

enum status table_slots_clear(struct table_slots *slots, const struct table_layout *layout,
                              uint64_t rows, struct failure *failure)
{
    unsigned bits = TABLE_SLOTS_BITS_MIN;

    while ((uint64_t)3 << bits < 4 * rows)
        bits++;
    if (!slots->rows || slots->capacity_bits < bits) {
        table_slots_destroy(slots, layout);
        return table_slots_map(slots, layout, bits, failure);
    }
    slots->bits = bits;
    slots->used = 0;
    memset(slots->rows, 0, layout->words * sizeof *slots->rows << bits);
    return STATUS_OK;
}

enum status table_slots_reserve(struct table_slots *slots, const struct table_layout *layout,
                                const struct keyed_hash *hash, uint64_t more,
                                struct failure *failure)
{
    while (table_slots_are_few(slots, more)) {
        struct table_slots grown = *slots;
        if (table_slots_map(&grown, layout, slots->bits + 1, failure) != STATUS_OK)
            return failure->status;
        for (size_t i = 0; i < (size_t)1 << slots->bits; i++) {
            const uint64_t *row = slots->rows + i * layout->words;
            if (table_row_count(*layout, row) == 0)
                continue;
            const uint64_t hashed = table_hash(*layout, hash, row);
            table_row_copy(*layout, table_slots_find(*layout, &grown, hashed, row), row);
        }
        grown.used = slots->used;
        table_slots_destroy(slots, layout);
        *slots = grown;
    }
    return STATUS_OK;
}

void table_slots_destroy(struct table_slots *slots, const struct table_layout *layout)
{
    if (slots->rows)
        memory_unmap(slots->rows, layout->words * sizeof *slots->rows << slots->capacity_bits);
    slots->rows = NULL;
}
