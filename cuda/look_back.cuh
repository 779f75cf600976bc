/*
 * Decoupled look-back: sums the counts of all tiles before a tile while blocks still process them
 * (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016).
 */
#ifndef GPUHIST_LOOK_BACK_CUH
#define GPUHIST_LOOK_BACK_CUH

#include <stdint.h>

/*
 * The word of a tile is 0 at first, then OWN with the count of the tile, then ALL with the sum of
 * the counts up to and including the tile.
 */
constexpr uint64_t LOOK_BACK_OWN = 1ull << 62;
constexpr uint64_t LOOK_BACK_ALL = 2ull << 62;
constexpr uint64_t LOOK_BACK_COUNT = LOOK_BACK_OWN - 1;

/*
 * Publishes the count of the tile at a position, and returns the sum of the counts of the tiles
 * before it. One warp of a block calls it. Blocks take positions in ascending order, so earlier
 * tiles are done or in progress, and the wait ends.
 */
static __device__ __forceinline__ uint64_t look_back(uint64_t *states, uint32_t position,
                                                     uint64_t count)
{
    volatile uint64_t *words = states;
    const int lane = (int)(threadIdx.x % 32);
    uint64_t before = 0;

    if (lane == 0)
        words[position] = (position == 0 ? LOOK_BACK_ALL : LOOK_BACK_OWN) | count;
    for (int64_t nearest = (int64_t)position - 1; nearest >= 0; nearest -= 32) {
        int64_t index = nearest - lane;
        uint64_t word = LOOK_BACK_ALL;
        do
            if (index >= 0)
                word = words[index];
        while (__any_sync(~0u, word < LOOK_BACK_OWN));
        unsigned complete = __ballot_sync(~0u, word >= LOOK_BACK_ALL);
        uint64_t part = lane < (complete ? __ffs((int)complete) : 32) ? word & LOOK_BACK_COUNT : 0;
        for (int offset = 16; offset > 0; offset /= 2)
            part += __shfl_xor_sync(~0u, part, offset);
        before += part;
        if (complete)
            break;
    }
    if (lane == 0 && position > 0)
        words[position] = LOOK_BACK_ALL | (before + count);
    return before;
}

#endif
