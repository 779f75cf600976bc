/*
 * Shared by the launchers: the number of blocks, the permission for more shared memory, and the
 * choice of a template by the width of the elements.
 */
#ifndef GPUHIST_LAUNCH_CUH
#define GPUHIST_LAUNCH_CUH

#include "cuda/kernels.h"

/* Returns the number of blocks, with at least `minimum` elements each, at most two per
 * multiprocessor. */
inline unsigned grid_size(const struct cuda_device *device, size_t elements, size_t minimum)
{
    const size_t blocks = elements / minimum;
    const size_t maximum = 2 * (size_t)device->multiprocessors;
    return blocks > maximum ? (unsigned)maximum : blocks > 0 ? (unsigned)blocks : 1;
}

/* Allows a kernel to use `bytes` bytes of dynamic shared memory. */
template <typename Kernel>
cudaError_t allow_shared_bytes(Kernel kernel, size_t bytes)
{
    constexpr size_t allowed = 48 << 10;

    if (bytes <= allowed)
        return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

/* Calls launch(word) with a `word` of the unsigned type that is as wide as the elements. */
template <typename Launch>
cudaError_t launch_by_width(const struct element *element, Launch launch)
{
    switch (element->bytes) {
    case 1:
        return launch(uint8_t());
    case 2:
        return launch(uint16_t());
    case 4:
        return launch(uint32_t());
    case 8:
    case sizeof(struct kind_ip): /* IP addresses: keys of one word (kernels.h) */
        return launch(uint64_t());
    default:
        return cudaErrorInvalidValue;
    }
}

#endif
