#include "config.h"

#include "pipeline/offload_policy.h"

#include "engine/engine.h"

/*
 * From the decision until a GPU has counted as much as it has cost: its context takes 0.20 to 0.33
 * s on an H200, its feeders' memory and the end of the process some hundredths.
 */
#define OFFLOAD_POLICY_READY_SECONDS 0.4

/* Its feeders' memory is registered, and its part is copied back and merged: 40 MB of 5M bins. */
#define OFFLOAD_POLICY_JOIN_SECONDS 0.02

/*
 * What a CPU worker counts in that time at the least, by half: 0.6 GB/s with 5 million bins, from
 * a file.
 */
#define OFFLOAD_POLICY_WORKER_BYTES ((uint64_t)64 << 20)

/* Bytes a second of a CPU worker at the most (count, AVX-512), taken until it is measured. */
#define OFFLOAD_POLICY_WORKER_RATE 6e9

/*
 * The start of threads and first touches of memory spoil the measurement: for so long wholly, and
 * then so that it may be half of what it will be. Recruits ask after 10, 30 and 70 ms. 16 threads,
 * GB/s after 4, 9, 20 and 80 ms: stalin-sort 11 46 72 87, reduce 47 61 79 84, 256 bins 20 27 32 36,
 * 5M bins 0 2 10 12.
 */
#define OFFLOAD_POLICY_MEASURE_SECONDS 0.008
#define OFFLOAD_POLICY_SETTLED_SECONDS 0.06

/*
 * Input whose size is not known is a pipe, or compressed. CPU workers join one by one as they are
 * wanted; only when all are is counting the limit. By chance that is so at the beginning, too.
 */
#define OFFLOAD_POLICY_UNKNOWN_BYTES ((uint64_t)256 << 20)

/*
 * Each further GPU costs another context, beside the work, and saves half of the rest or less:
 * at 50 GB/s, 0.3 s of 0.6.
 */
#define OFFLOAD_POLICY_MANY_BYTES ((uint64_t)32 << 30)

/*
 * A feeder that reads 6 to 7 GB/s from the page cache keeps a core at work for most of the time;
 * blocking waits leave the rest to others.
 */
#define OFFLOAD_POLICY_FEEDERS_A_CORE 1
#define OFFLOAD_POLICY_CPU_MIN        1

/*
 * The context of a device is made by threads of its driver, which take turns with the workers: one
 * worker of so many makes way. Of 16 on 16 cores, 5M bins, it took 0.30 s beside 16 and 0.23 beside
 * 14, and the run 0.68 s and 0.52.
 */
#define OFFLOAD_POLICY_CONTEXT_CORES 8

/*
 * Slower ones take more from the feeders, in memory and its bandwidth, than they add: 8 of them
 * with 0.65 GB/s each, 5M bins, beside 8 feeders that did 28 GB/s, not 46.
 */
#define OFFLOAD_POLICY_WORKER_RATE_MIN 1e9

/*
 * What a device adds at the least, of its 50 GB/s, fed by so many cores of the CPU's. 16 cores, 48
 * GB, seconds of the CPU alone and with a device: reduce, 77 GB/s, 0.67 and 0.81; count 0.63 and
 * 0.78; stalin-sort 0.68 and 0.86; but 256 bins, 45 GB/s at first, 1.61 and 0.98.
 */
#define OFFLOAD_POLICY_DEVICE_RATE    28e9
#define OFFLOAD_POLICY_DEVICE_FEEDERS 8

bool offload_policy_is_small(uint64_t input_bytes, unsigned workers)
{
    return input_bytes != ENGINE_INPUT_UNKNOWN &&
           input_bytes / workers < OFFLOAD_POLICY_WORKER_BYTES;
}

/* The bytes a second that CPU workers do, or may yet do as long as that cannot be told. */
static double offload_policy_rate(const struct offload_policy_view *view)
{
    if (view->seconds < OFFLOAD_POLICY_MEASURE_SECONDS)
        return OFFLOAD_POLICY_WORKER_RATE * view->workers;
    double rate = (double)view->bytes / view->seconds;
    return view->seconds < OFFLOAD_POLICY_SETTLED_SECONDS ? 2 * rate : rate;
}

/* How long the rest of input whose size is known takes at that rate. */
static double offload_policy_seconds_left(const struct offload_policy_view *view)
{
    uint64_t left = view->input_bytes > view->bytes ? view->input_bytes - view->bytes : 0;
    return left > 0 ? (double)left / offload_policy_rate(view) : 0; /* infinite, if nothing comes */
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
        return view->pulling >= view->workers && view->bytes >= OFFLOAD_POLICY_UNKNOWN_BYTES;
    return offload_policy_gains(view) &&
           offload_policy_seconds_left(view) >= OFFLOAD_POLICY_READY_SECONDS;
}

bool offload_policy_joins(const struct offload_policy_view *view)
{
    return view->input_bytes == ENGINE_INPUT_UNKNOWN ||
           offload_policy_seconds_left(view) >= OFFLOAD_POLICY_JOIN_SECONDS;
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
    bool is_measured = bytes > 0 && seconds >= OFFLOAD_POLICY_SETTLED_SECONDS;

    if (feeders > 0 && is_measured && (double)bytes / seconds < OFFLOAD_POLICY_WORKER_RATE_MIN)
        return OFFLOAD_POLICY_CPU_MIN;
    unsigned cores = feeders / OFFLOAD_POLICY_FEEDERS_A_CORE;
    return workers > cores + OFFLOAD_POLICY_CPU_MIN ? workers - cores : OFFLOAD_POLICY_CPU_MIN;
}
