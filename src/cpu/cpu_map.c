#include "config.h"

#include "cpu/cpu_map.h"

#include <stdlib.h>

static bool cpu_map_is_wanted(const struct job *job)
{
    enum binning_form form = job->binning.form;
    bool is_slow = form == BINNING_EDGES_FEW || form == BINNING_EDGES || form == BINNING_LOG10_32;

    return job->element.bytes == 2 && is_slow &&
           job->binning.bins + BINNING_OUTSIDE <= CPU_MAP_VALUES;
}

/* The first value behind all those of an entry, or of the type. */
static __int128 cpu_map_end(const struct job *job, uint32_t entry)
{
    const struct binning *binning = &job->binning;
    const __int128 limit = element_limit(&job->element);

    if (entry > binning->bins)
        return limit;
    __int128 end = binning_edge(binning, entry == binning->bins ? 0 : entry + 1);
    return end < limit ? end : limit;
}

enum status cpu_map_create(const struct job *job, uint16_t **map, struct failure *failure)
{
    const struct binning *binning = &job->binning;
    const struct element *element = &job->element;

    *map = NULL;
    if (!cpu_map_is_wanted(job))
        return STATUS_OK;
    uint16_t *bins = malloc(CPU_MAP_VALUES * sizeof *bins);
    if (!bins)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    for (__int128 value = element_min(element); value < element_limit(element);) {
        const uint32_t entry = binning_index(binning, binning->form, (uint64_t)value);
        for (const __int128 end = cpu_map_end(job, entry); value < end; value++) {
            uint16_t word = (uint16_t)value;
            bins[element->swapped ? element_swap(word, 2) : word] = (uint16_t)entry;
        }
    }
    *map = bins;
    return STATUS_OK;
}
