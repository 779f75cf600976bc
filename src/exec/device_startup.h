/*
 * Prepares a device on its own thread while other engines work, and calls back when it is ready.
 * The end of a run does not wait for a device that is not ready: the thread continues in the
 * device's library, and then uses only its own memory.
 */
#ifndef GPUHIST_DEVICE_STARTUP_H
#define GPUHIST_DEVICE_STARTUP_H

#include "engine/engine.h"

#include <stdbool.h>

struct device_startup;

struct device_startup_plan {
    const struct engine *engine; /* must be valid until the process ends */
    unsigned device;
    /*
     * For the functions below. The thread of the startup calls them, none after device_startup_end
     * has returned. device_startup_end waits while one of them runs, so none of them may call it.
     */
    void *context;
    /*
     * Returns whether it pays to begin now. Called at intervals until it returns true; then the
     * preparation begins.
     */
    bool (*pays)(void *context);
    /*
     * Called when the device is ready (`reason` is NULL) or cannot be used (`reason` says why,
     * until the call returns).
     */
    void (*ready)(void *context, const char *reason);
};

/* The outcome of a startup. */
enum device_startup_end {
    DEVICE_STARTUP_NOT_BEGUN, /* `pays` has not returned true */
    DEVICE_STARTUP_RUNNING,   /* the device is not ready; the thread still runs */
    DEVICE_STARTUP_CALLED,    /* `ready` was called and has returned */
};

/*
 * Starts the thread. Returns NULL and sets errno if that fails. The caller ends it with
 * device_startup_end. Thread-safe, as is device_startup_end on distinct startups.
 */
struct device_startup *device_startup_start(const struct device_startup_plan *plan);

/* Ends and frees a startup. Waits for a call of the plan's functions, but not for the device. */
enum device_startup_end device_startup_end(struct device_startup *startup);

#endif
