/*
 * Tiles of values, buckets of bins, and one thread's part of a tile. A *bucket* is a range of
 * bins that a block counts in shared memory.
 */
#ifndef GPUHIST_LADDER_TILE_SHARE_CUH
#define GPUHIST_LADDER_TILE_SHARE_CUH

#include "cuda/elements.cuh"

/* A bucket's table fits shared memory, and a bin's number within it, its *residual*, 16 bits. */
constexpr unsigned BUCKET_BITS = 15;
constexpr uint32_t BUCKET_BINS = 1u << BUCKET_BITS;
constexpr uint32_t BUCKETS_MAX = 512;
constexpr unsigned LANES = 32;

constexpr unsigned SORT_THREADS = 512; /* thread b has bucket b */
constexpr unsigned SORT_WARPS = SORT_THREADS / LANES;
constexpr unsigned SORT_BLOCKS = 2; /* on a multiprocessor */
constexpr uint32_t VECTORS = 8;     /* per thread of a tile */
constexpr uint32_t SHARE_VALUES = VECTORS * element_vector<uint32_t>::width;
constexpr uint32_t TILE_VALUES = SORT_THREADS * SHARE_VALUES;
constexpr uint32_t BATCH = 4; /* places that a thread requests at once */
static_assert(SORT_THREADS >= BUCKETS_MAX, "each bucket has a thread");

/*
 * A run of residuals begins at a multiple of 8 bytes, a word, and is padded to one with a residual
 * that no bin has. So runs are counted word by word, without checks of the ends.
 */
constexpr uint32_t WORD_RESIDUALS = sizeof(uint2) / sizeof(uint16_t);
constexpr uint16_t PADDING_RESIDUAL = BUCKET_BINS;

constexpr size_t VALUES_MAX = ((size_t)1 << 31) - 1;

inline size_t align_scratch(size_t bytes)
{
    constexpr size_t alignment = 256;
    return (bytes + alignment - 1) / alignment * alignment;
}

/* Number of parts of `size` that hold `total`. */
__host__ __device__ constexpr uint32_t count_parts(size_t total, uint32_t size)
{
    return (uint32_t)((total + size - 1) / size);
}

/* Start of part number `part` if `tiles` are divided into `parts` equal ones. */
__device__ __forceinline__ uint32_t first_of_part(uint32_t tiles, uint32_t part, uint32_t parts)
{
    return (uint32_t)((uint64_t)tiles * part / parts);
}

/* Room for the residuals of a tile and their padding, in whole lines of memory. */
__host__ __device__ constexpr uint32_t count_residuals(uint32_t buckets)
{
    constexpr uint32_t line = 128 / sizeof(uint16_t);
    return (TILE_VALUES + buckets * (WORD_RESIDUALS - 1) + line - 1) / line * line;
}

/* This thread's values of a tile, in registers. */
struct tile_share {
    static constexpr uint32_t width = element_vector<uint32_t>::width;
    element_vector<uint32_t> vectors[VECTORS];
    uint32_t count; /* of the tile */

    __device__ __forceinline__ void load(const uint32_t *d_tile, uint32_t tile_count)
    {
        count = tile_count;
        if (is_full()) {
#pragma unroll
            for (uint32_t k = 0; k < VECTORS; k++)
                vectors[k].loaded = __ldcs((const uint4 *)d_tile + k * SORT_THREADS + threadIdx.x);
        } else {
#pragma unroll
            for (uint32_t i = 0; i < SHARE_VALUES; i++)
                vectors[i / width].values[i % width] = has(i) ? d_tile[place(i)] : 0;
        }
    }

    /* Loads tile number `tile` of all values, unless it is `last` or later. */
    __device__ __forceinline__ void load_tile(const uint32_t *d_values, uint32_t values,
                                              uint32_t tile, uint32_t last)
    {
        const uint32_t first = tile * TILE_VALUES;
        if (tile < last)
            load(d_values + first, min(values - first, TILE_VALUES));
    }

    /* Code without a check of has() for each value is much faster. */
    __device__ __forceinline__ bool is_full() const
    {
        return count == TILE_VALUES;
    }

    /* Value i's place in the tile, and whether the tile has that many values. */
    __device__ __forceinline__ uint32_t place(uint32_t i) const
    {
        return (i / width * SORT_THREADS + threadIdx.x) * width + i % width;
    }

    __device__ __forceinline__ bool has(uint32_t i) const
    {
        return place(i) < count;
    }

    __device__ __forceinline__ uint32_t value(uint32_t i) const
    {
        return vectors[i / width].values[i % width];
    }
};

#endif
