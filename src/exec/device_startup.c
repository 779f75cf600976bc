/* Implements device_startup.h: a thread that asks, prepares the device, and reports. */
#include "config.h"

#include "exec/device_startup.h"

#include "base/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/*
 * The pause between two calls of `pays`: at first the time until speed is known (offload_policy.c),
 * then twice as long each time, up to the second value.
 */
#define DEVICE_STARTUP_ASK_NS_MIN 10000000
#define DEVICE_STARTUP_ASK_NS_MAX 1000000000

struct device_startup {
    struct device_startup_plan plan;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    enum { DEVICE_STARTUP_ASKS, DEVICE_STARTUP_PREPARES, DEVICE_STARTUP_CALLS } state;
    bool ended; /* device_startup_end was called; the context is not valid in state PREPARES */
};

static void device_startup_free(struct device_startup *self)
{
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Waits until it pays, prepares the device, which takes long, and reports. */
static void *device_startup_run(void *argument)
{
    struct device_startup *self = argument;
    const struct device_startup_plan *plan = &self->plan;
    const char *reason = NULL;
    struct failure failure;
    long pause = DEVICE_STARTUP_ASK_NS_MIN;

    pthread_mutex_lock(&self->lock);
    while (!self->ended && !plan->pays(plan->context)) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += pause;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (!self->ended &&
               pthread_cond_timedwait(&self->changed, &self->lock, &until) != ETIMEDOUT)
            ;
        pause = 2 * pause < DEVICE_STARTUP_ASK_NS_MAX ? 2 * pause : DEVICE_STARTUP_ASK_NS_MAX;
    }
    const bool begins = !self->ended;
    if (begins)
        self->state = DEVICE_STARTUP_PREPARES;
    pthread_mutex_unlock(&self->lock);
    if (!begins)
        return NULL;
    if (!plan->engine->probe(plan->device, failure.message, sizeof failure.message) ||
        plan->engine->prepare(plan->device, &failure) != STATUS_OK)
        reason = failure.message;

    pthread_mutex_lock(&self->lock);
    const bool ended = self->ended;
    self->state = DEVICE_STARTUP_CALLS;
    pthread_mutex_unlock(&self->lock);
    if (ended)
        device_startup_free(self);
    else
        plan->ready(plan->context, reason);
    return NULL;
}

struct device_startup *device_startup_start(const struct device_startup_plan *plan)
{
    struct device_startup *startup = malloc(sizeof *startup);
    pthread_condattr_t attributes;

    if (!startup)
        return NULL;
    *startup = (struct device_startup){.plan = *plan, .state = DEVICE_STARTUP_ASKS};
    pthread_mutex_init(&startup->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&startup->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int error = parallel_start_thread(&startup->thread, device_startup_run, startup);
    if (error == 0)
        return startup;
    device_startup_free(startup);
    errno = error;
    return NULL;
}

enum device_startup_end device_startup_end(struct device_startup *self)
{
    pthread_t thread = self->thread;

    pthread_mutex_lock(&self->lock);
    enum device_startup_end end = self->state == DEVICE_STARTUP_ASKS ? DEVICE_STARTUP_NOT_BEGUN
                                  : self->state == DEVICE_STARTUP_PREPARES ? DEVICE_STARTUP_RUNNING
                                                                           : DEVICE_STARTUP_CALLED;
    self->ended = true;
    pthread_cond_signal(&self->changed);
    if (end == DEVICE_STARTUP_RUNNING)
        pthread_detach(thread); /* the thread frees *self */
    pthread_mutex_unlock(&self->lock);
    if (end == DEVICE_STARTUP_RUNNING)
        return end;
    pthread_join(thread, NULL);
    device_startup_free(self);
    return end;
}
