/*
 * Makes a device ready while others are at work, on a thread of its own, and calls it in then. If
 * it is not ready at the end nobody waits for it: the thread is left behind in whatever library it
 * is in, and touches nothing any more but memory of its own.
 */
#ifndef GPUHIST_RECRUIT_H
#define GPUHIST_RECRUIT_H

#include "engine.h"

#include <stdbool.h>

struct recruit;

struct recruit_plan {
    const struct engine *engine; /* outlives the process' other threads, as do its functions */
    unsigned device;
    void *context; /* of the functions, which are not called any more after recruit_end */
    /* Whether it pays to begin now; asked from time to time until it does. */
    bool (*pays)(void *context);
    /* It has begun: the device is there, and gets ready. */
    void (*begun)(void *context);
    /* The device is ready, `reason` NULL, or cannot be used, and why. */
    void (*ready)(void *context, const char *reason);
};

/* What became of it. */
enum recruit_end {
    RECRUIT_NOT_BEGUN,   /* it never paid */
    RECRUIT_LEFT_BEHIND, /* it was not ready, and its thread still runs */
    RECRUIT_CALLED,      /* `ready` was called, and has returned */
};

/* Starts the thread. NULL with errno set if that cannot be. The caller ends it. */
struct recruit *recruit_start(const struct recruit_plan *plan);

/* Ends and frees it; waits for `ready` to return, but not for the device. */
enum recruit_end recruit_end(struct recruit *recruit);

#endif
