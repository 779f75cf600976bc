/* Implements device_startup.h: a thread that asks, prepares the device, and reports. */
#include "config.h"

#include "exec/device_startup.h"

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

/* Waits so long, or until `ended`. The caller holds the lock. */
static void device_startup_sleep(struct device_startup *self, long nanoseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!self->ended && pthread_cond_timedwait(&self->changed, &self->lock, &until) != ETIMEDOUT)
        ;
}

/* Waits until it pays. Returns false if it ends before. */
static bool device_startup_ask(struct device_startup *self)
{
    long pause = DEVICE_STARTUP_ASK_NS_MIN;

    pthread_mutex_lock(&self->lock);
    while (!self->ended && !self->plan.pays(self->plan.context)) {
        device_startup_sleep(self, pause);
        pause = 2 * pause < DEVICE_STARTUP_ASK_NS_MAX ? 2 * pause : DEVICE_STARTUP_ASK_NS_MAX;
    }
    bool pays = !self->ended;
    if (pays)
        self->state = DEVICE_STARTUP_PREPARES;
    pthread_mutex_unlock(&self->lock);
    return pays;
}

/* Calls `begun` unless `ended`. */
static void device_startup_begin(struct device_startup *self)
{
    pthread_mutex_lock(&self->lock);
    if (!self->ended)
        self->plan.begun(self->plan.context);
    pthread_mutex_unlock(&self->lock);
}

/* Prepares the device, which takes long. Returns NULL, or why the device cannot be used. */
static const char *device_startup_prepare(struct device_startup *self, struct failure *failure)
{
    const struct device_startup_plan *plan = &self->plan;

    if (!plan->engine->probe(plan->device, failure->message, sizeof failure->message))
        return failure->message;
    device_startup_begin(self);
    return plan->engine->prepare(plan->device, failure) == STATUS_OK ? NULL : failure->message;
}

static void *device_startup_run(void *argument)
{
    struct device_startup *self = argument;
    struct failure failure;

    if (!device_startup_ask(self))
        return NULL;
    const char *reason = device_startup_prepare(self, &failure);
    pthread_mutex_lock(&self->lock);
    bool left_behind = self->ended;
    self->state = DEVICE_STARTUP_CALLS;
    pthread_mutex_unlock(&self->lock);
    if (left_behind)
        device_startup_free(self);
    else
        self->plan.ready(self->plan.context, reason);
    return NULL;
}

struct device_startup *device_startup_start(const struct device_startup_plan *plan)
{
    struct device_startup *made = malloc(sizeof *made);
    pthread_condattr_t attributes;

    if (!made)
        return NULL;
    *made = (struct device_startup){.plan = *plan, .state = DEVICE_STARTUP_ASKS};
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int error = pthread_create(&made->thread, NULL, device_startup_run, made);
    if (error == 0)
        return made;
    device_startup_free(made);
    errno = error;
    return NULL;
}

enum device_startup_end device_startup_end(struct device_startup *self)
{
    pthread_t thread = self->thread;

    pthread_mutex_lock(&self->lock);
    enum device_startup_end end = self->state == DEVICE_STARTUP_ASKS ? DEVICE_STARTUP_NOT_BEGUN
                                  : self->state == DEVICE_STARTUP_PREPARES
                                      ? DEVICE_STARTUP_LEFT_BEHIND
                                      : DEVICE_STARTUP_CALLED;
    self->ended = true;
    pthread_cond_signal(&self->changed);
    if (end == DEVICE_STARTUP_LEFT_BEHIND)
        pthread_detach(thread); /* the thread frees *self */
    pthread_mutex_unlock(&self->lock);
    if (end == DEVICE_STARTUP_LEFT_BEHIND)
        return end;
    pthread_join(thread, NULL);
    device_startup_free(self);
    return end;
}
