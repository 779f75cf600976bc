/*
 * Histogram kernels.
 *
 * Tables that fit a block's shared memory: every block counts in tables of its own there and adds
 * them to the global one at the end. Several interleaved copies, used by neighbouring threads in
 * turn, keep threads with equal values apart; odd strides keep the copies in different banks
 * (8 copies of 256 bins read at the speed of a copy, whatever the values; 2 are as slow as half).
 * Larger tables: atomics on the global table.
 *
 * Shared counters have 32 bits: a launch has fewer than 2^32 elements. Global ones have 64.
 */
#include "elements.cuh"
#include "kernels.h"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned COPIES_MAX = 8;
/* Shared memory that copies may take: two blocks still fit on a multiprocessor. */
constexpr size_t COPIES_BYTES_MAX = 96 << 10;
constexpr size_t SHARED_BYTES_DEFAULT = 48 << 10; /* more must be asked for */

/* struct cuda_histogram_table, as atomics take it. */
struct counters {
    unsigned long long *d_counts;
    unsigned long long *d_outside;

    __device__ __forceinline__ unsigned long long *of(const struct binning &binning,
                                                      uint32_t bin) const
    {
        return bin < binning.bins ? &d_counts[bin] : &d_outside[bin - binning.bins];
    }
};

/*
 * Calls count(bin) for the elements that fall to this thread. PLAIN: 32-bit unit bins, native byte
 * order.
 */
template <typename T, bool PLAIN, typename Count>
__device__ __forceinline__ void for_each_bin(const T *d_elements, uint32_t elements,
                                             const struct binning &binning, bool swapped,
                                             Count count)
{
    for_each_element(d_elements, elements, !PLAIN && swapped, [&](T value) {
        count(binning_index(&binning, PLAIN ? BINNING_UNIT32 : binning.form,
                            (uint64_t)(int64_t)value));
    });
}

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(BLOCK_THREADS)
    histogram_shared_kernel(const T *d_elements, struct element_count count, struct binning binning,
                            bool swapped, uint32_t copies, uint32_t stride,
                            struct counters counters)
{
    extern __shared__ uint32_t tables[]; /* [copies][stride] */
    uint32_t *table = tables + threadIdx.x % copies * stride;

    for (uint32_t i = threadIdx.x; i < copies * stride; i += blockDim.x)
        tables[i] = 0;
    __syncthreads();
    for_each_bin<T, PLAIN>(d_elements, read_count(count), binning, swapped,
                           [=](uint32_t bin) { atomicAdd(&table[bin], 1u); });
    __syncthreads();
    for (uint32_t bin = threadIdx.x; bin < binning.bins + BINNING_OUTSIDE; bin += blockDim.x) {
        unsigned long long sum = 0;
        for (uint32_t copy = 0; copy < copies; copy++)
            sum += tables[copy * stride + bin];
        if (sum > 0)
            atomicAdd(counters.of(binning, bin), sum);
    }
}

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(BLOCK_THREADS)
    histogram_global_kernel(const T *d_elements, struct element_count count, struct binning binning,
                            bool swapped, struct counters counters)
{
    for_each_bin<T, PLAIN>(d_elements, read_count(count), binning, swapped,
                           [=](uint32_t bin) { atomicAdd(counters.of(binning, bin), 1ull); });
}

template <typename T, bool PLAIN>
cudaError_t launch_shared(const struct cuda_device *device, const struct element *element,
                          const struct binning *binning, const struct cuda_elements *elements,
                          struct counters counters, cudaStream_t stream)
{
    auto kernel = histogram_shared_kernel<T, PLAIN>;
    size_t entries = (size_t)binning->bins + BINNING_OUTSIDE;
    size_t stride = entries | 1;
    unsigned copies = COPIES_MAX;
    while (copies > 1 && copies * stride * sizeof(uint32_t) > COPIES_BYTES_MAX)
        copies /= 2;
    size_t shared = copies * (copies > 1 ? stride : entries) * sizeof(uint32_t);

    if (shared > SHARED_BYTES_DEFAULT) {
        cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != cudaSuccess)
            return error;
    }
    /* A block zeroes and adds up whole tables: give it enough to count for that. */
    unsigned blocks = grid_size(device, elements->count, 4 * entries + 4 * BLOCK_THREADS);
    kernel<<<blocks, BLOCK_THREADS, shared, stream>>>((const T *)elements->d_data,
                                                      count_of(elements), *binning,
                                                      element->swapped, copies,
                                                      (uint32_t)(copies > 1 ? stride : entries),
                                                      counters);
    return cudaGetLastError();
}

template <typename T, bool PLAIN>
cudaError_t launch(const struct cuda_device *device, const struct element *element,
                   const struct binning *binning, const struct cuda_elements *elements,
                   const struct cuda_histogram_table *table, cudaStream_t stream)
{
    size_t shared = ((size_t)binning->bins + BINNING_OUTSIDE) * sizeof(uint32_t);
    struct counters counters = {(unsigned long long *)table->d_counts,
                                (unsigned long long *)table->d_outside};

    if (shared <= (size_t)device->shared_bytes)
        return launch_shared<T, PLAIN>(device, element, binning, elements, counters, stream);
    unsigned blocks = grid_size(device, elements->count, 4 * BLOCK_THREADS);
    histogram_global_kernel<T, PLAIN>
        <<<blocks, BLOCK_THREADS, 0, stream>>>((const T *)elements->d_data, count_of(elements),
                                               *binning, element->swapped, counters);
    return cudaGetLastError();
}

} // namespace

cudaError_t cuda_histogram_launch(const struct cuda_device *device, const struct element *element,
                                  const struct binning *binning,
                                  const struct cuda_elements *elements,
                                  const struct cuda_histogram_table *table, cudaStream_t stream)
{
    bool plain = binning->form == BINNING_UNIT32 && !element->swapped;

    switch (element->type) {
#define LAUNCH_CASE(id, name, ctype)                                                          \
    case ELEMENT_##id:                                                                        \
        return plain ? launch<ctype, true>(device, element, binning, elements, table, stream) \
                     : launch<ctype, false>(device, element, binning, elements, table, stream);
        ELEMENT_TYPES(LAUNCH_CASE)
#undef LAUNCH_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    return cudaErrorInvalidValue;
}
