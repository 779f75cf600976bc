/*
 * Reads elements in a kernel: their number, loads of 16 bytes, and byte order. Each thread calls a
 * function for each of its elements.
 */
#ifndef GPUHIST_ELEMENTS_CUH
#define GPUHIST_ELEMENTS_CUH

#include "cuda/kernels.h"

__device__ __forceinline__ uint32_t count_elements(const struct cuda_elements &elements)
{
    return elements.d_count ? *elements.d_count : (uint32_t)elements.count;
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

/* READ_AGAIN: other blocks soon read the same elements, which should stay in the L2. */
enum element_reuse { READ_ONCE, READ_AGAIN };

template <enum element_reuse REUSE>
__device__ __forceinline__ uint4 load_vector(const uint4 *d_vector)
{
    return REUSE == READ_ONCE ? __ldcs(d_vector) : __ldcg(d_vector);
}

/*
 * Calls use(value) for each element of this thread, in native byte order. `parts` blocks share the
 * work, and this block is number `part`. The threads load vectors of 16 bytes with a grid stride,
 * each LOADS of them at a time. The last elements, fewer than 16 bytes, go to one thread each.
 */
template <unsigned LOADS, enum element_reuse REUSE, typename T, typename Use>
__device__ __forceinline__ void for_each_element_of(const T *d_elements, uint32_t elements,
                                                    uint32_t part, uint32_t parts, bool swapped,
                                                    Use use)
{
    constexpr uint32_t width = element_vector<T>::width;
    const uint4 *d_vectors = (const uint4 *)d_elements;
    const uint32_t thread = part * blockDim.x + threadIdx.x;
    const uint32_t stride = parts * blockDim.x;
    const uint32_t vectors = elements / width;
    uint32_t i = thread;

    for (; i < vectors && vectors - i > (LOADS - 1) * stride; i += LOADS * stride) {
        element_vector<T> loaded[LOADS];
#pragma unroll
        for (uint32_t k = 0; k < LOADS; k++)
            loaded[k].loaded = load_vector<REUSE>(d_vectors + i + k * stride);
#pragma unroll
        for (uint32_t k = 0; k < LOADS; k++)
            use_elements(loaded[k], swapped, use);
    }
    for (; i < vectors; i += stride) {
        element_vector<T> only;
        only.loaded = load_vector<REUSE>(d_vectors + i);
        use_elements(only, swapped, use);
    }
    if (thread < elements % width) {
        T last = d_elements[vectors * width + thread];
        use(swapped ? swap_bytes(last) : last);
    }
}

/*
 * Like the function above, but for elements of type T and all blocks of the grid, with two loads at
 * a time.
 */
template <typename T, typename Use>
__device__ __forceinline__ void for_each_element(const struct cuda_elements &elements, bool swapped,
                                                 Use use)
{
    for_each_element_of<2, READ_ONCE>((const T *)elements.d_data, count_elements(elements),
                                      blockIdx.x, gridDim.x, swapped, use);
}

#endif
