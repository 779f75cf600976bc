/*
 * The ladders of the sum and of counting one value: the kernels that tutorials arrive at, numbered;
 * CUB's; and ours. Each result is compared with the CPU's before it is timed.
 *
 * The reduction's seven steps are those of Harris, "Optimizing Parallel Reduction in CUDA", 2007:
 * 1 interleaved addressing with divergent warps, 2 without divergence but with bank conflicts, 3
 * sequential addressing, 4 the first addition while loading, 5 the last warp by itself, 6 all loops
 * unrolled, 7 many elements for each thread. Sums have 32 bits and wrap; those of blocks are
 * reduced again.
 */
#include "ladder.cuh"

#include <cub/device/device_reduce.cuh>
#include <numeric>
#include <thrust/iterator/transform_iterator.h>

namespace
{

constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned BLOCKS_MAX = 1024; /* of step 7, and of counting with a reduction */
constexpr int STEPS = 7;

/* Sums the block's words in words[0]. All threads call it, after a barrier. */
template <int STEP>
__device__ void reduce_words(volatile uint32_t *words)
{
    const unsigned thread = threadIdx.x;

    if constexpr (STEP == 1) {
        for (unsigned distance = 1; distance < BLOCK_THREADS; distance *= 2) {
            if (thread % (2 * distance) == 0)
                words[thread] = words[thread] + words[thread + distance];
            __syncthreads();
        }
    } else if constexpr (STEP == 2) {
        for (unsigned distance = 1; distance < BLOCK_THREADS; distance *= 2) {
            unsigned place = 2 * distance * thread;
            if (place < BLOCK_THREADS)
                words[place] = words[place] + words[place + distance];
            __syncthreads();
        }
    } else {
        constexpr unsigned nearest = STEP < 5 ? 1 : 64;
        constexpr unsigned unrolled = STEP < 6 ? 1 : BLOCK_THREADS;
#pragma unroll unrolled
        for (unsigned distance = BLOCK_THREADS / 2; distance >= nearest; distance /= 2) {
            if (thread < distance)
                words[thread] = words[thread] + words[thread + distance];
            __syncthreads();
        }
        if (STEP >= 5 && thread < 32) {
            uint32_t sum = words[thread] + words[thread + 32];
#pragma unroll unrolled
            for (unsigned distance = 16; distance > 0; distance /= 2)
                sum += __shfl_down_sync(~0u, sum, distance);
            words[thread] = sum;
        }
    }
}

template <int STEP>
__global__ void reduce_step_kernel(const uint32_t *d_values, size_t count, uint32_t *d_sums)
{
    __shared__ uint32_t words[BLOCK_THREADS];
    constexpr unsigned loads = STEP < 4 ? 1 : 2;
    const size_t stride = (size_t)gridDim.x * BLOCK_THREADS * loads;
    size_t i = (size_t)blockIdx.x * BLOCK_THREADS * loads + threadIdx.x;
    uint32_t sum = 0;

    do {
        sum += i < count ? d_values[i] : 0;
        if (loads == 2)
            sum += i + BLOCK_THREADS < count ? d_values[i + BLOCK_THREADS] : 0;
        i += stride;
    } while (STEP == 7 && i < count);
    words[threadIdx.x] = sum;
    __syncthreads();
    reduce_words<STEP>(words);
    if (threadIdx.x == 0)
        d_sums[blockIdx.x] = words[0];
}

/* Returns the address of the sum: d_sums or d_spare. */
template <int STEP>
uint32_t *reduce_by_steps(const uint32_t *d_values, size_t count, uint32_t *d_sums,
                          uint32_t *d_spare)
{
    constexpr size_t block_values = BLOCK_THREADS * (STEP < 4 ? 1 : 2);

    do {
        size_t blocks = (count + block_values - 1) / block_values;
        if (STEP == 7)
            blocks = std::min(blocks, (size_t)BLOCKS_MAX);
        reduce_step_kernel<STEP><<<(unsigned)blocks, BLOCK_THREADS>>>(d_values, count, d_sums);
        d_values = d_sums;
        count = blocks;
        std::swap(d_sums, d_spare);
    } while (count > 1);
    return d_spare;
}

/* 1: an atomic addition for each hit. */
__global__ void count_1_kernel(const uint32_t *d_values, size_t count, uint32_t value,
                               unsigned long long *d_hits)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        if (d_values[i] == value)
            atomicAdd(d_hits, 1ull);
    }
}

/* 2: a reduction in shared memory, and an atomic addition for each block. */
__global__ void count_2_kernel(const uint32_t *d_values, size_t count, uint32_t value,
                               unsigned long long *d_hits)
{
    __shared__ uint32_t words[BLOCK_THREADS];
    size_t stride = (size_t)gridDim.x * blockDim.x;
    uint32_t hits = 0;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        hits += d_values[i] == value;
    words[threadIdx.x] = hits;
    __syncthreads();
    reduce_words<6>(words);
    if (threadIdx.x == 0)
        atomicAdd(d_hits, (unsigned long long)words[0]);
}

struct equals {
    uint32_t value;
    __host__ __device__ unsigned long long operator()(uint32_t other) const
    {
        return other == value;
    }
};

/* The input of the rungs. */
struct values {
    const struct ladder *ladder;
    std::vector<uint32_t> host;
    uint32_t *d_values;
};

void print_rung(const struct values &values, const std::string &name,
                const std::function<void()> &work)
{
    double time = milliseconds(work);
    double speed = (double)(values.host.size() * sizeof(uint32_t)) / time / 1e6;
    printf("| %s | %.3f | %.0f | %.2f |\n", name.c_str(), time, speed,
           speed / values.ladder->copy_speed);
    fflush(stdout);
}

template <int STEP>
void climb_steps(const struct values &values, uint32_t expected, uint32_t *d_sums,
                 uint32_t *d_spare)
{
    const size_t count = values.host.size();
    const uint32_t *d_sum = reduce_by_steps<STEP>(values.d_values, count, d_sums, d_spare);

    require(fetch(d_sum) == expected, "step " + std::to_string(STEP));
    print_rung(values, "step " + std::to_string(STEP),
               [&, count] { reduce_by_steps<STEP>(values.d_values, count, d_sums, d_spare); });
    if constexpr (STEP < STEPS)
        climb_steps<STEP + 1>(values, expected, d_sums, d_spare);
}

void climb_reduction(const struct values &values)
{
    const size_t count = values.host.size();
    const uint32_t sum = std::accumulate(values.host.begin(), values.host.end(), 0u);
    const struct cuda_elements elements = {values.d_values, count, nullptr, nullptr};
    uint32_t *d_sums = device_array<uint32_t>(count / BLOCK_THREADS + 1);
    uint32_t *d_spare = device_array<uint32_t>(count / BLOCK_THREADS + 1);
    struct cuda_reduce_partial *d_partial = device_array<struct cuda_reduce_partial>(1);
    struct job job = {};

    printf("\n| sum of int32 | ms | GB/s | of a copy's speed |\n|---|---|---|---|\n");
    climb_steps<1>(values, sum, d_sums, d_spare);
    auto cubs = cub_call([=, &values](void *d_memory, size_t &bytes) {
        return cub::DeviceReduce::Sum(d_memory, bytes, values.d_values, d_sums, (int)count);
    });
    cubs();
    require(fetch(d_sums) == sum, "CUB's sum");
    print_rung(values, "CUB, 32 bits", cubs);
    job.operation = OPERATION_REDUCE;
    job.reductions.needs = REDUCTIONS_NEED_SUM;
    element_parse("u32", &job.element);
    auto ours = [&] {
        check(cuda_reduce_launch(&values.ladder->device, &job, &elements, d_partial, 0), "reduce");
    };
    ours();
    require((uint32_t)fetch(d_partial).sum[0] == sum, "reduce");
    print_rung(values, "ours, 128 bits, extremes and bits", ours);
    for (void *d_memory : {(void *)d_sums, (void *)d_spare, (void *)d_partial})
        cudaFree(d_memory);
}

/* A way to count one value; adds to the hits. */
using count_rung = std::pair<const char *, std::function<void()>>;

std::vector<count_rung> count_rungs(const struct values &values, uint32_t value,
                                    unsigned long long *d_hits)
{
    const size_t count = values.host.size();
    const uint32_t *d_values = values.d_values;
    auto cubs = cub_call([=](void *d_memory, size_t &bytes) {
        return cub::DeviceReduce::TransformReduce(d_memory, bytes, d_values, d_hits, (int)count,
                                                  cuda::std::plus<>(), equals{value}, 0ull);
    });
    auto ours = [=, &values] {
        const struct cuda_elements elements = {d_values, count, nullptr, nullptr};
        struct predicate predicate = {};
        struct job job = {};

        job.operation = OPERATION_COUNT;
        job.predicates = &predicate;
        job.predicate_count = 1;
        element_parse("u32", &job.element);
        predicate.form = PREDICATE_INTERVAL;
        predicate.low = value;
        check(cuda_count_intervals_launch(&values.ladder->device, &job, &elements,
                                          (uint64_t *)d_hits, 0),
              "count");
    };
    return {
        {"1 an atomic addition each",
         [=] { count_1_kernel<<<BLOCKS_MAX, BLOCK_THREADS>>>(d_values, count, value, d_hits); }},
        {"2 shared + reduction",
         [=] { count_2_kernel<<<BLOCKS_MAX, BLOCK_THREADS>>>(d_values, count, value, d_hits); }},
        {"CUB's transform and reduce", cubs},
        {"ours", ours},
    };
}

void climb_count(const struct values &values, const char *name, uint32_t value)
{
    const unsigned long long expected =
        (unsigned long long)std::count(values.host.begin(), values.host.end(), value);
    unsigned long long *d_hits = device_array<unsigned long long>(1);

    printf("\n| count of one value, %s | ms | GB/s | of a copy's speed |\n|---|---|---|---|\n",
           name);
    for (const count_rung &rung : count_rungs(values, value, d_hits)) {
        check(cudaMemset(d_hits, 0, sizeof *d_hits), "cudaMemset");
        rung.second();
        require(fetch(d_hits) == expected, rung.first);
        print_rung(values, rung.first, rung.second);
    }
    cudaFree(d_hits);
}

} // namespace

void ladder_reduce(const struct ladder &ladder)
{
    struct values values = {&ladder, std::vector<uint32_t>(ladder.values), nullptr};
    uint64_t state = 1;

    /* xorshift64 (Marsaglia, "Xorshift RNGs", 2003); an eighth of the values are 7 */
    for (uint32_t &value : values.host) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        value = state >> 61 == 0 ? 7 : (uint32_t)(state >> 16);
    }
    values.d_values = device_array<uint32_t>(ladder.values);
    check(cudaMemcpy(values.d_values, values.host.data(), ladder.values * sizeof(uint32_t),
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
    climb_reduction(values);
    climb_count(values, "an eighth of all", 7);
    climb_count(values, "a rare one", 123456789);
    cudaFree(values.d_values);
}
