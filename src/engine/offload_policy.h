/*
 * Decides how the CPU and devices share a run: when to prepare a device, how many devices are worth
 * it, and how many CPU workers then keep running. All functions are pure and thread-safe. The tuned
 * constants are in offload_policy.c.
 */
#ifndef GPUHIST_OFFLOAD_POLICY_H
#define GPUHIST_OFFLOAD_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* The state of a run. */
struct offload_policy_view {
    uint64_t input_bytes;   /* size of the input, or ENGINE_INPUT_UNKNOWN */
    uint64_t bytes;         /* bytes pulled so far */
    double seconds;         /* seconds since the start */
    uint64_t earlier_bytes; /* `bytes` of an earlier view; 0: there is none */
    double earlier_seconds; /* `seconds` of that view */
    uint64_t counters;      /* size of a device's result: counters and rows (struct store_size) */
    uint64_t rows;
    unsigned workers; /* number of CPU workers, at least 1 */
    unsigned pulling; /* number of CPU workers that have begun to pull */
    bool is_unread;   /* the input is a pipe that is not read (source_progress) */
    unsigned feeders; /* number of feeders of devices that have joined */
};

/* Returns true if even slow CPU workers would finish input_bytes before a device is ready. */
bool offload_policy_is_small(uint64_t input_bytes, unsigned workers);

/* Returns whether a device adds more than the CPU workers that its feeders replace. */
bool offload_policy_gains(const struct offload_policy_view *view);

/* Returns whether the run gains if the preparation of a device begins now. */
bool offload_policy_pays(const struct offload_policy_view *view);

/* Returns whether enough input is left for a device that is ready now. */
bool offload_policy_joins(const struct offload_policy_view *view);

/* Returns the useful number of devices for input_bytes (or ENGINE_INPUT_UNKNOWN), at least 1. */
unsigned offload_policy_devices(unsigned devices, uint64_t input_bytes);

/* Returns the number of CPU workers that keep running while a device is prepared, at least 1. */
unsigned offload_policy_cpu_workers_meanwhile(unsigned workers);

/*
 * Returns the number of CPU workers that keep running while `feeders` feeders pull, at least 1. One
 * worker has counted `bytes` bytes in `seconds` seconds. `bytes` is 0 for compressed input, which
 * CPU workers must decode in any case.
 */
unsigned offload_policy_cpu_workers(unsigned workers, unsigned feeders, uint64_t bytes,
                                    double seconds);

#endif
