/* Implements table_rows.h: the memory of hash tables. */
#include "config.h"

#include "lib/table_rows.h"

#include "lib/memory.h"

#define TABLE_SLOTS_BITS_MIN 9

enum status table_slots_clear(struct table_slots *slots, const struct table_layout *layout,
                              uint64_t rows, struct failure *failure)
{
    unsigned bits = TABLE_SLOTS_BITS_MIN;

    while ((uint64_t)3 << bits < 4 * rows)
        bits++;
    if (slots->rows && bits <= slots->capacity_bits) {
        memset(slots->rows, 0, table_slots_bytes(layout, bits));
    } else {
        table_slots_destroy(slots, layout);
        slots->rows = memory_map(table_slots_bytes(layout, bits));
        if (!slots->rows)
            return status_fail(failure, STATUS_DATA, "not enough memory for a table of 2^%u keys",
                               bits);
        slots->capacity_bits = bits;
    }
    slots->bits = bits;
    slots->used = 0;
    return STATUS_OK;
}

void table_slots_destroy(struct table_slots *slots, const struct table_layout *layout)
{
    if (slots->rows)
        memory_unmap(slots->rows, table_slots_bytes(layout, slots->capacity_bits));
    slots->rows = NULL;
}
