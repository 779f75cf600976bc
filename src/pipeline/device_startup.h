/*
 * Makes a device ready while others are at work, on a thread of its own, and calls it in then. If
 * it is not ready at the end nobody waits for it: the thread is left behind in whatever library it
 * is in, and touches nothing any more but memory of its own.
 */
#ifndef GPUHIST_DEVICE_STARTUP_H
#define GPUHIST_DEVICE_STARTUP_H

#include "engine/engine.h"

#include <stdbool.h>

struct device_startup;

struct device_startup_plan {
    const struct engine *engine; /* outlives the process' other threads, as do its functions */
    unsigned device;
    void *context; /* of the functions, which are not called any more after device_startup_end */
    /* Whether it pays to begin now; asked from time to time until it does. */
    bool (*pays)(void *context);
    /* It has begun: the device is there, and gets ready. */
    void (*begun)(void *context);
    /* The device is ready, `reason` NULL, or cannot be used, and why. */
    void (*ready)(void *context, const char *reason);
};

/* What became of it. */
enum device_startup_end {
    DEVICE_STARTUP_NOT_BEGUN,   /* it never paid */
    DEVICE_STARTUP_LEFT_BEHIND, /* it was not ready, and its thread still runs */
    DEVICE_STARTUP_CALLED,      /* `ready` was called, and has returned */
};

/* Starts the thread. NULL with errno set if that cannot be. The caller ends it. */
struct device_startup *device_startup_start(const struct device_startup_plan *plan);

/* Ends and frees it; waits for `ready` to return, but not for the device. */
enum device_startup_end device_startup_end(struct device_startup *startup);

#endif
