/* Finds the bin of a value among given edges, by a search in 128-bit arithmetic. */
#ifndef GPUHIST_EDGES_REFERENCE_H
#define GPUHIST_EDGES_REFERENCE_H

#include <stddef.h>

/*
 * Returns the bin of the value among edges[0..count), ascending, count >= 2: 0 .. count - 2; count
 * - 1 if the value is below all edges; count if it is below no edge.
 */
static size_t edges_reference_entry(const __int128 *edges, size_t count, __int128 value)
{
    size_t from = 0;
    size_t to = count;

    if (value < edges[0])
        return count - 1;
    if (value >= edges[count - 1])
        return count;
    while (to - from > 1) {
        size_t middle = (from + to) / 2;
        if (edges[middle] <= value)
            from = middle;
        else
            to = middle;
    }
    return from;
}

#endif
