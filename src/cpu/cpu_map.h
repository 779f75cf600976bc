/* Maps: the bin of every value of a 16-bit type. */
#ifndef GPUHIST_CPU_MAP_H
#define GPUHIST_CPU_MAP_H

#include "job/binning.h"

#include <stdint.h>

#define CPU_MAP_VALUES 65536

/*
 * Returns the bin numbers (0 .. bins + 1, all below CPU_MAP_VALUES) of all elements of a 16-bit
 * type, indexed by the word that the element is in memory. Returns NULL if there is no memory; the
 * caller frees it. Thread-safe.
 */
uint16_t *cpu_map_create(const struct element *element, const struct binning *binning);

#endif
