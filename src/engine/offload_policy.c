/* Implements offload_policy.h: the rules and their measured constants. */
#include "config.h"

#include "engine/offload_policy.h"

#include "engine/engine.h"

/*
 * The time from the decision until a GPU has repaid its cost: its context takes 0.20 to 0.33 s
 * on an H200, the memory of its feeders and the end of the process a tenth. Seconds for 8 GB of a
 * log on 16 cores, three pairs of runs:
 *
 *   without a GPU    0.45  0.50  0.52
 *   with an H100     0.47  0.55  0.62
 */
#define OFFLOAD_POLICY_READY_SECONDS 0.5

/* The time to register the feeders' memory. */
#define OFFLOAD_POLICY_JOIN_SECONDS 0.015

/*
 * The time to merge a counter of a device's result: copying 8 bytes and adding them, 5 ms for 5M
 * bins. And that of a row of a table, per thread: 1Gi rows took 16 threads 1.2 s.
 */
#define OFFLOAD_POLICY_COUNTER_SECONDS 1e-9
#define OFFLOAD_POLICY_ROW_SECONDS     20e-9
#define OFFLOAD_POLICY_ROW_THREADS     16

/* Half of the bytes that the slowest CPU worker counts in that time: 0.6 GB/s, 5M bins, a file. */
#define OFFLOAD_POLICY_WORKER_BYTES ((uint64_t)64 << 20)

/* Bytes per second of the fastest CPU worker (count, AVX-512), assumed until it is measured. */
#define OFFLOAD_POLICY_WORKER_RATE 6e9

/*
 * Starting threads and touching memory for the first time distort the measured rate. Before the
 * first time it is not used: 2 GB of 5M bins, which take 0.21 s, would begin a device. Before the
 * second it may be half of the final rate. Startups ask after 10, 30 and 70 ms. GB/s of 16 threads
 * after 4, 9, 20 and 80 ms: stalin-sort 11 46 72 87, reduce 47 61 79 84, 256 bins 20 27 32 36, 5M
 * bins 0 2 10 12.
 */
#define OFFLOAD_POLICY_MEASURE_SECONDS 0.02
#define OFFLOAD_POLICY_STEADY_SECONDS  0.06

/*
 * Input of unknown size is a pipe or compressed. CPU workers join one by one as they are needed.
 * Counting limits the speed only if all have joined and nobody reads the pipe. At the start that
 * may happen by chance, so a device is worth it after this many bytes at the earliest.
 */
#define OFFLOAD_POLICY_UNKNOWN_BYTES ((uint64_t)256 << 20)

/*
 * Minimum input for a second GPU. It costs another context and saves at most half of the rest: 0.3
 * s of 0.6 s at 50 GB/s.
 */
#define OFFLOAD_POLICY_MANY_BYTES ((uint64_t)32 << 30)

/*
 * Threads of the driver create the context of a device and compete with the workers for cores.
 * Therefore one in this many workers pauses meanwhile. 5M bins on 16 cores: with 16 workers the
 * context took 0.30 s and the run 0.68 s, with 14 workers 0.23 s and 0.52 s.
 */
#define OFFLOAD_POLICY_CONTEXT_CORES 8

/*
 * CPU workers below this rate cost the feeders more memory bandwidth than they add: beside 8
 * workers of 0.65 GB/s each (5M bins), 8 feeders reached 28 GB/s instead of 46.
 */
#define OFFLOAD_POLICY_WORKER_RATE_MIN 1e9

/*
 * The minimum rate that a device adds, of its 50 GB/s, and the cores that its feeders need. Seconds
 * for 48 GB on 16 cores:
 *
 *                                       CPU  with a device
 *   reduce (77 GB/s on the CPU)        0.67           0.81
 *   count                              0.63           0.78
 *   stalin-sort                        0.68           0.86
 *   256 bins (45 GB/s at first)        1.61           0.98
 */
#define OFFLOAD_POLICY_DEVICE_RATE    28e9
#define OFFLOAD_POLICY_DEVICE_FEEDERS 8

bool offload_policy_is_small(uint64_t input_bytes, unsigned workers)
{
    return input_bytes != ENGINE_INPUT_UNKNOWN &&
           input_bytes / workers < OFFLOAD_POLICY_WORKER_BYTES;
}

/*
 * Returns the rate of the CPU workers in bytes per second, or an upper bound until it is known. It
 * is at least the latest rate: growing tables slow down the start for longer than threads do.
 */
static double offload_policy_rate(const struct offload_policy_view *view)
{
    if (view->seconds < OFFLOAD_POLICY_MEASURE_SECONDS)
        return OFFLOAD_POLICY_WORKER_RATE * view->workers;
    double rate = (double)view->bytes / view->seconds;
    if (view->seconds < OFFLOAD_POLICY_STEADY_SECONDS)
        rate *= 2;
    if (view->earlier_seconds <= 0 || view->seconds <= view->earlier_seconds)
        return rate;
    const double latest =
        (double)(view->bytes - view->earlier_bytes) / (view->seconds - view->earlier_seconds);
    return latest > rate ? latest : rate;
}

/* Returns the number of bytes left of the input, whose size is known. */
static double offload_policy_bytes_left(const struct offload_policy_view *view)
{
    return view->input_bytes > view->bytes ? (double)(view->input_bytes - view->bytes) : 0;
}

/* Returns the seconds that the rest takes at that rate. */
static double offload_policy_seconds_left(const struct offload_policy_view *view)
{
    const double left = offload_policy_bytes_left(view);
    return left > 0 ? left / offload_policy_rate(view) : 0; /* may be infinite */
}

/*
 * Returns the seconds for merging a device's result of the rest. It has at most as many rows per
 * byte as the input so far, which it has if all values are distinct.
 */
static double offload_policy_merge_seconds(const struct offload_policy_view *view)
{
    const unsigned threads =
        view->workers < OFFLOAD_POLICY_ROW_THREADS ? view->workers : OFFLOAD_POLICY_ROW_THREADS;
    const double rows =
        view->bytes > 0 ? (double)view->rows / (double)view->bytes * offload_policy_bytes_left(view)
                        : 0;

    return (double)view->counters * OFFLOAD_POLICY_COUNTER_SECONDS +
           rows * OFFLOAD_POLICY_ROW_SECONDS / threads;
}

bool offload_policy_gains(const struct offload_policy_view *view)
{
    unsigned stay = offload_policy_cpu_workers(view->workers, OFFLOAD_POLICY_DEVICE_FEEDERS, 0, 0);
    double leave = (double)(view->workers - stay) / view->workers;
    return view->feeders > 0 || offload_policy_rate(view) * leave < OFFLOAD_POLICY_DEVICE_RATE;
}

bool offload_policy_pays(const struct offload_policy_view *view)
{
    if (view->input_bytes == ENGINE_INPUT_UNKNOWN)
        return view->is_unread && view->pulling >= view->workers &&
               view->bytes >= OFFLOAD_POLICY_UNKNOWN_BYTES;
    return offload_policy_gains(view) &&
           offload_policy_seconds_left(view) >=
               OFFLOAD_POLICY_READY_SECONDS + offload_policy_merge_seconds(view);
}

bool offload_policy_joins(const struct offload_policy_view *view)
{
    return view->input_bytes == ENGINE_INPUT_UNKNOWN ||
           offload_policy_seconds_left(view) >=
               OFFLOAD_POLICY_JOIN_SECONDS + offload_policy_merge_seconds(view);
}

unsigned offload_policy_devices(unsigned devices, uint64_t input_bytes)
{
    return input_bytes == ENGINE_INPUT_UNKNOWN || input_bytes < OFFLOAD_POLICY_MANY_BYTES ? 1
                                                                                          : devices;
}

unsigned offload_policy_cpu_workers_meanwhile(unsigned workers)
{
    return workers - workers / OFFLOAD_POLICY_CONTEXT_CORES;
}

unsigned offload_policy_cpu_workers(unsigned workers, unsigned feeders, uint64_t bytes,
                                    double seconds)
{
    bool is_measured = bytes > 0 && seconds >= OFFLOAD_POLICY_STEADY_SECONDS;

    if (feeders > 0 && is_measured && (double)bytes / seconds < OFFLOAD_POLICY_WORKER_RATE_MIN)
        return 1;
    /* A feeder, which reads 6 to 7 GB/s from the page cache, uses most of a core. */
    return workers > feeders + 1 ? workers - feeders : 1;
}
