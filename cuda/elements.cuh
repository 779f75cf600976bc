/*
 * What all kernels that read elements share: how many there are, 16-byte loads, byte order, and how
 * many blocks.
 */
#ifndef GPUHIST_ELEMENTS_CUH
#define GPUHIST_ELEMENTS_CUH

#include "kernels.h"

/* How many elements, as kernels are told: `most`, or at most so many and how many by *d_count. */
struct element_count {
    uint32_t most;
    const uint32_t *d_count;
};

inline struct element_count count_of(const struct cuda_elements *elements)
{
    return {(uint32_t)elements->count, elements->d_count};
}

__device__ __forceinline__ uint32_t read_count(const struct element_count &count)
{
    return count.d_count ? *count.d_count : count.most;
}

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

/* Sixteen bytes of elements. */
template <typename T>
union element_vector {
    static constexpr uint32_t width = sizeof(uint4) / sizeof(T);
    uint4 loaded;
    T values[width];
};

template <typename T, typename Use>
__device__ __forceinline__ void use_elements(const element_vector<T> &vector, bool swapped, Use use)
{
#pragma unroll
    for (uint32_t i = 0; i < element_vector<T>::width; i++)
        use(swapped ? swap_bytes(vector.values[i]) : vector.values[i]);
}

/*
 * Calls use(value) for the elements that fall to this thread, in native byte order: 16 bytes at a
 * time, grid-stride, two loads under way, and then the last few, less than 16 bytes, one a thread.
 */
template <typename T, typename Use>
__device__ __forceinline__ void for_each_element(const T *d_elements, uint32_t elements,
                                                 bool swapped, Use use)
{
    constexpr uint32_t width = element_vector<T>::width;
    const uint4 *d_vectors = (const uint4 *)d_elements;
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t stride = gridDim.x * blockDim.x;
    const uint32_t vectors = elements / width;
    uint32_t i = thread;

    for (; i < vectors && vectors - i > stride; i += 2 * stride) {
        element_vector<T> first, second;
        first.loaded = __ldcs(d_vectors + i);
        second.loaded = __ldcs(d_vectors + i + stride);
        use_elements(first, swapped, use);
        use_elements(second, swapped, use);
    }
    if (i < vectors) {
        element_vector<T> only;
        only.loaded = __ldcs(d_vectors + i);
        use_elements(only, swapped, use);
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
