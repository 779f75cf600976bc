/*
 * Weights kernels: widen the weights of a chunk to a dense array of 64-bit words, check them, and
 * add them up.
 *
 * Values and weights of text are parsed separately, as if each were the only column. A line that is
 * not blank has one value or invalid token of each, so if none is invalid, the index of a line is
 * that of its value and of its weight. Otherwise no element counts, and the host does the work
 * (cuda_weighed.invalid).
 */
#include "cuda/elements.cuh"
#include "cuda/launch.cuh"

#include <string.h>
#include <type_traits>

namespace
{

constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned BLOCKS_PER_MULTIPROCESSOR = 8;

/*
 * The sums of halves of fewer than 2^31 weights are below 2^63. d_widened may be the weights'
 * memory: each thread reads a weight before it writes it.
 */
template <typename T>
__global__ void __launch_bounds__(BLOCK_THREADS)
    weights_widen_kernel(const struct cuda_weights weights, uint64_t *d_widened,
                         struct cuda_weighed *d_weighed)
{
    const uint32_t count = weights.d_weights ? weights.d_weights->values : (uint32_t)weights.count;
    const uint32_t stride = gridDim.x * BLOCK_THREADS;
    unsigned long long halves[2] = {0, 0};
    uint32_t invalid = 0;

    for (uint64_t i = blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count; i += stride) {
        T loaded;
        memcpy(&loaded, (const char *)weights.d_first + i * weights.record_bytes, sizeof loaded);
        const T native = weights.element.swapped ? swap_bytes(loaded) : loaded;
        const uint64_t weight = weights.element.is_signed
                                    ? (uint64_t)(int64_t)(typename std::make_signed<T>::type)native
                                    : (uint64_t)native;
        halves[0] += (uint32_t)weight;
        halves[1] += weight >> 32;
        invalid |= (uint32_t)(weight >> 63);
        d_widened[i] = weight;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        halves[0] += __shfl_down_sync(~0u, halves[0], distance);
        halves[1] += __shfl_down_sync(~0u, halves[1], distance);
        invalid |= __shfl_down_sync(~0u, invalid, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd((unsigned long long *)&d_weighed->halves[0], halves[0]);
        atomicAdd((unsigned long long *)&d_weighed->halves[1], halves[1]);
        if (invalid > 0)
            atomicOr(&d_weighed->invalid, invalid);
    }
}

/* Has one thread; runs after all blocks of the other kernel. */
__global__ void weights_finish_kernel(const struct cuda_weights weights,
                                      struct cuda_weighed *d_weighed)
{
    uint32_t count = (uint32_t)weights.count;

    if (weights.d_values) {
        count = weights.d_values->values;
        if (weights.d_values->invalid > 0 || weights.d_weights->invalid > 0 ||
            weights.d_weights->values != count)
            d_weighed->invalid = 1;
    }
    d_weighed->count = d_weighed->invalid > 0 ? 0 : count;
}

} // namespace

cudaError_t cuda_weights_launch(const struct cuda_device *device,
                                const struct cuda_weights *weights, uint64_t *d_widened,
                                struct cuda_weighed *d_weighed, cudaStream_t stream)
{
    const size_t maximum = (size_t)device->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    const size_t wanted = weights->count / BLOCK_THREADS + 1;
    const unsigned blocks = (unsigned)(wanted < maximum ? wanted : maximum);

    cudaError_t error = cudaMemsetAsync(d_weighed, 0, sizeof *d_weighed, stream);
    if (error != cudaSuccess)
        return error;
    return launch_by_width(&weights->element, [=](auto word) {
        weights_widen_kernel<decltype(word)>
            <<<blocks, BLOCK_THREADS, 0, stream>>>(*weights, d_widened, d_weighed);
        weights_finish_kernel<<<1, 1, 0, stream>>>(*weights, d_weighed);
        return cudaGetLastError();
    });
}
