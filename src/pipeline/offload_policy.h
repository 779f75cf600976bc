/*
 * How the CPU and devices share a run: when it pays to prepare a device, how many devices pay, and
 * how many CPU workers keep running then. Functions are pure and thread-safe; the tuned constants
 * are in offload_policy.c.
 */
#ifndef GPUHIST_OFFLOAD_POLICY_H
#define GPUHIST_OFFLOAD_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* The state of a run. */
struct offload_policy_view {
    uint64_t input_bytes; /* or ENGINE_INPUT_UNKNOWN */
    uint64_t bytes;       /* pulled so far */
    double seconds;       /* since the start */
    unsigned workers;     /* of the CPU, at least 1 */
    unsigned pulling;     /* CPU workers that have begun to pull */
    unsigned feeders;     /* of devices that have joined */
};

/*
 * Whether even slow CPU workers finish input of this size before a device could be ready. Then the
 * functions below need not be asked during the run.
 */
bool offload_policy_is_small(uint64_t input_bytes, unsigned workers);

/*
 * Whether a first device adds more than the CPU workers whose cores its feeders take. It may not if
 * these reach the bandwidth of the memory.
 */
bool offload_policy_gains(const struct offload_policy_view *view);

/* Whether it pays to begin to prepare a device now. */
bool offload_policy_pays(const struct offload_policy_view *view);

/* Whether enough input is left for a device that is ready now, and gains, to join. */
bool offload_policy_joins(const struct offload_policy_view *view);

/* How many of `devices` devices pay for so much input, or ENGINE_INPUT_UNKNOWN; at least 1. */
unsigned offload_policy_devices(unsigned devices, uint64_t input_bytes);

/* How many of the CPU workers keep running while a device is prepared; at least 1. */
unsigned offload_policy_cpu_workers_meanwhile(unsigned workers);

/*
 * How many of the CPU workers keep running while so many feeders pull; at least 1. `bytes` and
 * `seconds` are what one worker has counted, in which time; 0 bytes for compressed input, which CPU
 * workers must decode in any case.
 */
unsigned offload_policy_cpu_workers(unsigned workers, unsigned feeders, uint64_t bytes,
                                    double seconds);

#endif
