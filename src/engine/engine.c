/* Implements engine.h, but for the table. */
#include "config.h"

#include "engine/engine.h"

#include <stdio.h>

const struct engine *engine_last(const struct engine *const *table)
{
    while (table[1])
        table++;
    return *table;
}

const char *engine_find_feature(const struct engine *engine, const struct plan *plan,
                                enum engine_support support)
{
    for (const struct engine_feature *row = engine->features; row && row->name; row++) {
        if (row->support == support && row->is_used && row->is_used(plan))
            return row->name;
    }
    return NULL;
}

void engine_write_name(char name[ENGINE_NAME_MAX], const char *engine, unsigned device)
{
    if (device == 0)
        snprintf(name, ENGINE_NAME_MAX, "%.15s", engine);
    else
        snprintf(name, ENGINE_NAME_MAX, "%.15s:%u", engine, device);
}

unsigned engine_useful_workers(unsigned wanted, size_t chunk_bytes, uint64_t input_bytes)
{
    uint64_t chunks = input_bytes / chunk_bytes + (input_bytes % chunk_bytes != 0);

    if (chunks >= wanted)
        return wanted;
    return chunks > 0 ? (unsigned)chunks : 1;
}
