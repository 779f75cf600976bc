/* The map of all 8-bit or 16-bit values to their bins. */
#include "config.h"

#include "cpu/cpu_map.h"

#include "job/binning_index.h"

#include <stdlib.h>

/* The first value behind all those of a bin number, or of the type. */
static __int128 cpu_map_end(const struct element *element, const struct binning *binning,
                            uint32_t index)
{
    const __int128 limit = element_limit(element);

    if (index > binning->bins)
        return limit;
    __int128 end = binning_edge(binning, index == binning->bins ? 0 : index + 1);
    return end < limit ? end : limit;
}

uint16_t *cpu_map_create(const struct element *element, const struct binning *binning)
{
    uint16_t *map = malloc(CPU_MAP_VALUES * sizeof *map);

    if (!map)
        return NULL;
    for (__int128 value = element_min(element); value < element_limit(element);) {
        const uint32_t index = binning_index(binning, binning->form, (uint64_t)value);
        for (const __int128 end = cpu_map_end(element, binning, index); value < end; value++) {
            const uint16_t word = (uint16_t)value;
            map[element->swapped ? element_swap(word, 2) : word] = (uint16_t)index;
        }
    }
    return map;
}
