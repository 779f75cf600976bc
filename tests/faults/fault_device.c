#include "config.h"

#include "tests/faults/fault_device.h"

#include "engine/cpu_engine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Total number of checks by CPU threads for the device, and the wait after each. */
#define FAULT_DEVICE_LOOKS   100
#define FAULT_DEVICE_LOOK_NS 1000000

/* The device is present after this many chunks, or after all chunks. */
#define FAULT_DEVICE_CHUNKS 10

/* Number of its chunks, and number of checks. Struct engine has no place for them. */
static atomic_uint fault_device_chunks;
static atomic_uint fault_device_looks;

static bool fault_device_needs_both(void)
{
    const char *mode = getenv("GPUHIST_FAULT_DEVICE");
    return mode && strcmp(mode, "both") == 0;
}

static void fault_device_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = FAULT_DEVICE_LOOK_NS}, NULL);
}

enum status fault_device_fail(struct failure *failure)
{
    return status_fail(failure, STATUS_ENGINE, "the device made for tests has failed");
}

bool fault_device_probe(unsigned device, char *description, size_t size)
{
    snprintf(description, size, "made for tests");
    return device == 0;
}

enum status fault_device_prepare(unsigned device, struct failure *failure)
{
    (void)device;
    (void)failure;
    return STATUS_OK;
}

enum status fault_device_open(const struct plan *plan, const struct engine_options *options,
                              void *aggregate, void **session, unsigned *workers,
                              struct failure *failure)
{
    return cpu_engine.open(plan, options, aggregate, session, workers, failure);
}

enum status fault_device_merge(void *session, struct failure *failure)
{
    (void)session;
    (void)failure;
    return STATUS_OK;
}

enum status fault_device_consumer_open(void *session, void **consumer, struct failure *failure)
{
    return cpu_engine.consumer_open(session, consumer, failure);
}

enum status fault_device_consumer_buffer(void *consumer, struct chunk_buffer *buffer,
                                         struct failure *failure)
{
    return cpu_engine.consumer_buffer(consumer, buffer, failure);
}

enum status fault_device_consumer_accumulate(void *consumer, const struct chunk *chunk,
                                             struct failure *failure)
{
    while (fault_device_needs_both() && atomic_load(&fault_device_looks) == 0)
        fault_device_pause();
    atomic_fetch_add(&fault_device_chunks, 1);
    return cpu_engine.consumer_accumulate(consumer, chunk, failure);
}

enum status fault_device_consumer_flush(void *consumer, struct failure *failure)
{
    (void)consumer;
    (void)failure;
    return STATUS_OK;
}

enum status fault_device_consumer_merge(void *consumer, struct failure *failure)
{
    atomic_fetch_add(&fault_device_chunks, FAULT_DEVICE_CHUNKS);
    return cpu_engine.consumer_merge(consumer, failure);
}

enum status fault_device_wait(void *consumer, const struct chunk *chunk, struct failure *failure)
{
    unsigned looks =
        atomic_fetch_add(&fault_device_looks, 1); /* the device waits for the first check */

    while (atomic_load(&fault_device_chunks) < FAULT_DEVICE_CHUNKS &&
           (looks < FAULT_DEVICE_LOOKS || fault_device_needs_both())) {
        fault_device_pause();
        looks = atomic_fetch_add(&fault_device_looks, 1);
    }
    return cpu_engine.consumer_accumulate(consumer, chunk, failure);
}
