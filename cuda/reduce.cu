/*
 * Reduction kernels: one pass that computes the totals of all reductions. Squares cost the most, so
 * they are left out unless wanted.
 *
 * A thread accumulates in registers. A warp, and then a block, merges its threads' totals; one
 * thread adds them to the aggregate in device memory by atomics. Registers are wide enough for one
 * launch: at most 2^30 bytes.
 */
#include "cuda/elements.cuh"
#include "cuda/launch.cuh"

#include <type_traits>

namespace
{

using totals = struct cuda_reduce_aggregate;
using uint128 = unsigned __int128;

/* Number of threads per block: 64-bit elements need more registers. */
template <typename T>
constexpr unsigned BLOCK_THREADS = sizeof(T) == 8 ? 768 : 1024;

/* Number of blocks per multiprocessor. Two need 2,048 threads, and enough registers for each. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
constexpr unsigned BLOCKS_SHARING = 2;
#else
constexpr unsigned BLOCKS_SHARING = 1;
#endif

constexpr unsigned WARP_THREADS = 32;
constexpr unsigned TOTALS_WORDS = sizeof(totals) / sizeof(uint64_t);

template <typename T>
constexpr bool IS_SIGNED = std::is_signed_v<T>;

/* The word BIAS: key ^ BIAS compares as an unsigned word. */
template <typename T>
constexpr uint64_t BIAS = IS_SIGNED<T> ? (uint64_t)1 << 63 : 0;

template <typename T>
__device__ __forceinline__ uint64_t key_of(T value)
{
    return (uint64_t)(int64_t)value;
}

/* Returns the square of a value of at most 32 bits. */
template <typename T>
__device__ __forceinline__ uint64_t square(T value)
{
    if constexpr (IS_SIGNED<T>)
        return (uint64_t)((int64_t)value * (int64_t)value);
    return (uint64_t)value * (uint64_t)value;
}

template <unsigned N>
__device__ __forceinline__ void add_words(unsigned long long (&into)[N],
                                          const unsigned long long (&from)[N])
{
    uint128 carry = 0;
#pragma unroll
    for (unsigned i = 0; i < N; i++) {
        carry += (uint128)into[i] + from[i];
        into[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

/*
 * Like add_words, but while other threads add to the same words. A thread whose addition makes a
 * word wrap carries to the next word, so nothing is lost, whatever the order. If the carry makes
 * the next addend wrap to 0, there is nothing to add to that word, and the carry continues.
 */
template <unsigned N>
__device__ void add_words_atomically(unsigned long long (&d_into)[N],
                                     const unsigned long long (&from)[N])
{
    unsigned long long carry = 0;

    for (unsigned i = 0; i < N; i++) {
        unsigned long long addend = from[i] + carry;
        carry = addend < carry;
        if (addend == 0)
            continue;
        unsigned long long before = atomicAdd(&d_into[i], addend);
        carry += before + addend < before;
    }
}

__device__ __forceinline__ totals no_totals()
{
    totals none = {};
    none.min = UINT64_MAX;
    none.and_bits = UINT64_MAX;
    return none;
}

__device__ __forceinline__ void merge(totals &into, const totals &from)
{
    into.count += from.count;
    add_words(into.sum, from.sum);
    add_words(into.squares, from.squares);
    into.min = min(into.min, from.min);
    into.max = max(into.max, from.max);
    into.and_bits &= from.and_bits;
    into.or_bits |= from.or_bits;
    into.xor_bits ^= from.xor_bits;
}

__device__ void merge_atomically(totals *d_into, const totals &from)
{
    atomicAdd(&d_into->count, from.count);
    add_words_atomically(d_into->sum, from.sum);
    add_words_atomically(d_into->squares, from.squares);
    atomicMin(&d_into->min, from.min);
    atomicMax(&d_into->max, from.max);
    atomicAnd(&d_into->and_bits, from.and_bits);
    atomicOr(&d_into->or_bits, from.or_bits);
    atomicXor(&d_into->xor_bits, from.xor_bits);
}

/* The totals of a thread. */
template <typename T, bool SQUARES>
struct accumulator {
    using sum_type = std::conditional_t<sizeof(T) == 8, uint128, int64_t>;

    uint32_t count = 0;
    sum_type sum = 0;
    uint128 squares = 0;      /* 64-bit elements: the sum of the squares' lower halves */
    uint128 squares_high = 0; /* 64-bit elements: the sum of the squares' upper halves */
    T smallest = IS_SIGNED<T> ? (T)((BIAS<T> - 1) >> (64 - 8 * sizeof(T))) : (T)-1;
    T greatest = (T)~smallest;
    T and_bits = (T)-1;
    T or_bits = 0;
    T xor_bits = 0;

    __device__ __forceinline__ void accumulate(T value)
    {
        count++;
        if constexpr (sizeof(T) == 8)
            sum += (uint128)(__int128)value;
        else
            sum += (int64_t)value;
        if constexpr (SQUARES && sizeof(T) < 8)
            squares += square(value);
        if constexpr (SQUARES && sizeof(T) == 8) {
            uint64_t size = IS_SIGNED<T> && (int64_t)value < 0 ? -(uint64_t)value : value;
            squares += size * size;
            squares_high += __umul64hi(size, size);
        }
        smallest = min(smallest, value);
        greatest = max(greatest, value);
        and_bits &= value;
        or_bits |= value;
        xor_bits ^= value;
    }

    __device__ __forceinline__ totals total() const
    {
        const uint128 wide = (uint128)(__int128)sum;
        const uint128 high = squares_high + (squares >> 64);
        totals result;
        result.count = count;
        result.sum[0] = (uint64_t)wide;
        result.sum[1] = (uint64_t)(wide >> 64);
        result.squares[0] = (uint64_t)squares;
        result.squares[1] = (uint64_t)high;
        result.squares[2] = (uint64_t)(high >> 64);
        result.min = key_of(smallest) ^ BIAS<T>;
        result.max = key_of(greatest) ^ BIAS<T>;
        result.and_bits = key_of(and_bits);
        result.or_bits = key_of(or_bits);
        result.xor_bits = key_of(xor_bits);
        return result;
    }
};

/* Merges the totals of a warp's threads; the first thread has the result. */
__device__ __forceinline__ void merge_warp(totals &own)
{
    union lanes {
        totals total;
        unsigned long long words[TOTALS_WORDS];
    };

#pragma unroll 1
    for (unsigned offset = WARP_THREADS / 2; offset > 0; offset /= 2) {
        lanes from, other;
        from.total = own;
#pragma unroll
        for (unsigned i = 0; i < TOTALS_WORDS; i++)
            other.words[i] = __shfl_down_sync(0xffffffff, from.words[i], offset);
        merge(own, other.total);
    }
}

template <typename T, bool SQUARES>
__global__ void __launch_bounds__(BLOCK_THREADS<T>, BLOCKS_SHARING)
    reduce_kernel(struct cuda_elements elements, bool swapped, totals *d_aggregate)
{
    constexpr unsigned warps = BLOCK_THREADS<T> / WARP_THREADS;
    __shared__ totals of_warps[warps];
    const unsigned warp = threadIdx.x / WARP_THREADS;
    const unsigned lane = threadIdx.x % WARP_THREADS;
    accumulator<T, SQUARES> accumulated;

    for_each_element<T>(elements, swapped, [&](T value) { accumulated.accumulate(value); });
    totals own = accumulated.total();
    merge_warp(own);
    if (lane == 0)
        of_warps[warp] = own;
    __syncthreads();
    if (warp > 0)
        return;
    own = lane < warps ? of_warps[lane] : no_totals();
    merge_warp(own);
    if (lane == 0)
        merge_atomically(d_aggregate, own);
}

template <typename T>
cudaError_t launch(const struct cuda_device *device, const struct plan *plan,
                   const struct cuda_elements *elements, totals *d_aggregate, cudaStream_t stream)
{
    auto kernel = plan->reductions.needs & REDUCTIONS_NEED_SQUARES ? reduce_kernel<T, true>
                                                                   : reduce_kernel<T, false>;
    unsigned blocks = grid_size(device, elements->count, 64 / sizeof(T) * BLOCK_THREADS<T>);

    kernel<<<blocks, BLOCK_THREADS<T>, 0, stream>>>(*elements, plan->element.swapped, d_aggregate);
    return cudaGetLastError();
}

} // namespace

cudaError_t cuda_reduce_launch(const struct cuda_device *device, const struct plan *plan,
                               const struct cuda_elements *elements,
                               struct cuda_reduce_aggregate *d_aggregate, cudaStream_t stream)
{
    if (elements->count == 0)
        return cudaSuccess;
    switch (plan->element.type) {
#define LAUNCH_CASE(id, name, ctype) \
    case ELEMENT_##id:               \
        return launch<ctype>(device, plan, elements, d_aggregate, stream);
        ELEMENT_TYPES(LAUNCH_CASE)
#undef LAUNCH_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    return cudaErrorInvalidValue;
}
