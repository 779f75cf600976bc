#include "config.h"

#include "cpu_map.h"

#include <stdlib.h>

static bool cpu_map_is_wanted(const struct job *job)
{
    enum binning_form form = job->binning.form;
    bool is_slow = form == BINNING_EDGES_FEW || form == BINNING_EDGES || form == BINNING_LOG10_32;

    return job->element.bytes == 2 && is_slow && job->outside != OUTSIDE_ABORT &&
           job->binning.bins + BINNING_OUTSIDE <= CPU_MAP_VALUES;
}

enum status cpu_map_create(const struct job *job, uint16_t **map, struct failure *failure)
{
    const struct binning *binning = &job->binning;

    *map = NULL;
    if (!cpu_map_is_wanted(job))
        return STATUS_OK;
    uint16_t *bins = malloc(CPU_MAP_VALUES * sizeof *bins);
    if (!bins)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    for (uint32_t word = 0; word < CPU_MAP_VALUES; word++) {
        uint64_t value = job->element.swapped ? element_swap(word, 2) : word;
        uint64_t key = job->element.is_signed ? (uint64_t)(int16_t)value : (uint16_t)value;
        bins[word] = (uint16_t)binning_index(binning, binning->form, key);
    }
    *map = bins;
    return STATUS_OK;
}
