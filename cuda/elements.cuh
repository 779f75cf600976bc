/*
 * What all kernels that read a chunk share: 16-byte loads, byte order, and how many blocks.
 */
#ifndef GPUHIST_ELEMENTS_CUH
#define GPUHIST_ELEMENTS_CUH

#include "kernels.h"

template <typename T>
__device__ __forceinline__ T swap_bytes(T value)
{
    if constexpr (sizeof(T) == 2)
        return (T)__byte_perm((uint32_t)value, 0, 0x4401);
    if constexpr (sizeof(T) == 4)
        return (T)__byte_perm((uint32_t)value, 0, 0x0123);
    if constexpr (sizeof(T) == 8) {
        uint32_t low = __byte_perm((uint32_t)value, 0, 0x0123);
        uint32_t high = __byte_perm((uint32_t)((uint64_t)value >> 32), 0, 0x0123);
        return (T)((uint64_t)low << 32 | high);
    }
    return value;
}

/*
 * Calls use(value) for the elements that fall to this thread, in native byte order: 16 bytes at a
 * time, grid-stride, and then the last few, less than 16 bytes, one a thread.
 */
template <typename T, typename Use>
__device__ __forceinline__ void for_each_element(const T *d_elements, uint32_t elements,
                                                 bool swapped, Use use)
{
    constexpr uint32_t width = 16 / sizeof(T);
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t vectors = elements / width;

    for (uint32_t i = thread; i < vectors; i += gridDim.x * blockDim.x) {
        union {
            uint4 vector;
            T values[width];
        } loaded;
        loaded.vector = __ldcs((const uint4 *)d_elements + i);
#pragma unroll
        for (uint32_t j = 0; j < width; j++)
            use(swapped ? swap_bytes(loaded.values[j]) : loaded.values[j]);
    }
    if (thread < elements % width) {
        T last = d_elements[vectors * width + thread];
        use(swapped ? swap_bytes(last) : last);
    }
}

/* As many blocks as the elements can keep busy with at least `least` of them each. */
inline unsigned grid_size(const struct cuda_device *device, size_t elements, size_t least)
{
    size_t blocks = elements / least;
    size_t most = 2 * (size_t)device->multiprocessors;
    return blocks > most ? (unsigned)most : blocks > 0 ? (unsigned)blocks : 1;
}

#endif
