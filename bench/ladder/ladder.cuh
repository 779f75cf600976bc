/*
 * Functions for all benchmarks of kernels: checks, device memory, timing. A CUDA error or a wrong
 * result ends the program with a message.
 */
#ifndef GPUHIST_LADDER_CUH
#define GPUHIST_LADDER_CUH

extern "C" {
#include "value/binning.h"
#include "value/element.h"
}
#include "cuda/kernels.h"

#include <algorithm>
#include <functional>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <vector>

/* The GPU, the speed of its memory, and the size of the inputs. */
struct ladder {
    struct cuda_device device;
    double copy_speed; /* of a large copy, GB/s, read and written */
    size_t values;     /* int32 of a large input */
};

static inline void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "kernels: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static inline void require(bool right, const std::string &what)
{
    if (right)
        return;
    fprintf(stderr, "kernels: wrong result: %s\n", what.c_str());
    exit(1);
}

/* An array in device memory, of zeros. */
template <typename T>
T *device_array(size_t count)
{
    void *memory;
    check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
    check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
    return (T *)memory;
}

template <typename T>
std::vector<T> fetch_array(const T *d_values, size_t count)
{
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), d_values, count * sizeof(T), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    return values;
}

/* One value in device memory. */
template <typename T>
T fetch(const T *d_value)
{
    return fetch_array(d_value, 1)[0];
}

/* Returns the median time of `work` in milliseconds, from fewer runs if it is slow. */
static inline double milliseconds(const std::function<void()> &work)
{
    constexpr int runs_most = 21;
    constexpr int runs_slow = 3;
    constexpr float slow = 20; /* ms */
    std::vector<float> times;
    cudaEvent_t start, stop;
    int runs = runs_most;

    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    for (int i = -2; i < runs; i++) {
        float time;
        check(cudaEventRecord(start), "cudaEventRecord");
        work();
        check(cudaEventRecord(stop), "cudaEventRecord");
        check(cudaEventSynchronize(stop), "a kernel");
        check(cudaEventElapsedTime(&time, start, stop), "cudaEventElapsedTime");
        if (time > slow)
            runs = runs_slow;
        if (i >= 0)
            times.push_back(time);
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}

/* A first call of CUB's algorithms returns the size of their temporary memory, never freed. */
template <typename Call>
std::function<void()> cub_call(Call call)
{
    size_t bytes = 0;
    check(call(nullptr, bytes), "CUB");
    void *d_memory = device_array<char>(bytes + 1);
    return [=] {
        size_t size = bytes;
        check(call(d_memory, size), "CUB");
    };
}

/* The ladders. Each one prints its tables. */
void ladder_histogram(const struct ladder &ladder);
void ladder_reduce(const struct ladder &ladder);
void ladder_uniq(const struct ladder &ladder);

#endif
