/*
 * How the CPU and devices share a run: when it pays to make a device ready, how many, and how many
 * CPU workers then stay. Pure functions; all that is to be tuned is in policy.c.
 */
#ifndef GPUHIST_OFFLOAD_POLICY_H
#define GPUHIST_OFFLOAD_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* How far a run is that CPU workers alone do so far. */
struct offload_policy_view {
    uint64_t input_bytes; /* or ENGINE_INPUT_UNKNOWN */
    uint64_t bytes;       /* pulled so far */
    double seconds;       /* since the start */
    unsigned workers;     /* of the CPU, at least 1, */
    unsigned pulling;     /* and of those, how many the source has had a use for */
    unsigned feeders;     /* of devices that have joined */
};

/*
 * Whether the CPU is done with input of that size before a device could be ready, as long as it may
 * take: then nothing need be asked later.
 */
bool offload_policy_is_small(uint64_t input_bytes, unsigned workers);

/*
 * Whether a first device counts more than the CPU workers whose cores its feeders take: these may
 * be as quick as memory is, which feeders use more of.
 */
bool offload_policy_gains(const struct offload_policy_view *view);

/* Whether a device that begins to get ready now will pay. */
bool offload_policy_pays(const struct offload_policy_view *view);

/* Whether one that is ready now and gains has enough to do for its part to be worth starting. */
bool offload_policy_joins(const struct offload_policy_view *view);

/* How many of `devices` devices pay for so much input (or ENGINE_INPUT_UNKNOWN): at least 1. */
unsigned offload_policy_devices(unsigned devices, uint64_t input_bytes);

/* How many of the CPU's workers go on while a device gets ready: at least 1. */
unsigned offload_policy_cpu_workers_meanwhile(unsigned workers);

/*
 * How many of the CPU's workers go on while so many of devices pull: at least 1. One of them has
 * counted so many bytes of plain input in so many seconds; 0 if it is not plain: decoding is the
 * work of CPU workers.
 */
unsigned offload_policy_cpu_workers(unsigned workers, unsigned feeders, uint64_t bytes,
                                    double seconds);

#endif
