/*
 * Records kernel: copies one element of each record to a dense array, so that other kernels only
 * need to handle elements.
 *
 * An element may be at any address. A thread loads its bytes one by one; neighbouring threads read
 * neighbouring records, so the bytes after the first one are in the L1 cache. PCIe, which transfers
 * the records, is many times slower.
 */
#include "cuda/launch.cuh"

#include <string.h>

namespace
{

constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned BLOCKS_PER_MULTIPROCESSOR = 8;

template <typename T>
__global__ void __launch_bounds__(BLOCK_THREADS)
    records_gather_kernel(const unsigned char *__restrict__ d_first, uint32_t record_bytes,
                          uint32_t count, T *__restrict__ d_elements)
{
    const uint32_t stride = gridDim.x * BLOCK_THREADS;

    for (uint64_t i = blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += stride) {
        T element;
        memcpy(&element, d_first + i * record_bytes, sizeof element);
        d_elements[i] = element;
    }
}

} // namespace

cudaError_t cuda_records_launch(const struct cuda_device *device, const struct plan *plan,
                                const void *d_records, size_t count, void *d_elements,
                                cudaStream_t stream)
{
    const unsigned char *d_first = (const unsigned char *)d_records + plan->record_offset;
    const size_t maximum = (size_t)device->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    const size_t wanted = count / BLOCK_THREADS + 1;
    const unsigned blocks = (unsigned)(wanted < maximum ? wanted : maximum);

    return launch_by_width(&plan->element, [=](auto word) {
        records_gather_kernel<<<blocks, BLOCK_THREADS, 0, stream>>>(d_first,
                                                                    (uint32_t)plan->record_bytes,
                                                                    (uint32_t)count,
                                                                    (decltype(word) *)d_elements);
        return cudaGetLastError();
    });
}
