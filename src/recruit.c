#include "config.h"

#include "recruit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/*
 * Between two questions whether it pays: at first, when something can be told (hybrid.c), twice as
 * long each time, and at last, when there is no hurry any more.
 */
#define RECRUIT_ASK_NS_MIN 10000000
#define RECRUIT_ASK_NS_MAX 1000000000

struct recruit {
    struct recruit_plan plan;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    enum { RECRUIT_ASKS, RECRUIT_PREPARES, RECRUIT_CALLS } state;
    bool ended; /* by recruit_end: the plan's context is gone, if the device is being prepared */
};

static void recruit_free(struct recruit *self)
{
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Waits that long, or until the end. The lock is held. */
static void recruit_sleep(struct recruit *self, long nanoseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!self->ended && pthread_cond_timedwait(&self->changed, &self->lock, &until) != ETIMEDOUT)
        ;
}

/* Waits until it pays; false if the end comes before. */
static bool recruit_ask(struct recruit *self)
{
    long pause = RECRUIT_ASK_NS_MIN;

    pthread_mutex_lock(&self->lock);
    while (!self->ended && !self->plan.pays(self->plan.context)) {
        recruit_sleep(self, pause);
        pause = 2 * pause < RECRUIT_ASK_NS_MAX ? 2 * pause : RECRUIT_ASK_NS_MAX;
    }
    bool pays = !self->ended;
    if (pays)
        self->state = RECRUIT_PREPARES;
    pthread_mutex_unlock(&self->lock);
    return pays;
}

/* Tells that it has begun, unless the end has come. */
static void recruit_begin(struct recruit *self)
{
    pthread_mutex_lock(&self->lock);
    if (!self->ended)
        self->plan.begun(self->plan.context);
    pthread_mutex_unlock(&self->lock);
}

/* Makes the device ready, which takes long; NULL or why it cannot be used. */
static const char *recruit_prepare(struct recruit *self, struct failure *failure)
{
    const struct recruit_plan *plan = &self->plan;

    if (!plan->engine->probe(plan->device, failure->message, sizeof failure->message))
        return failure->message;
    recruit_begin(self);
    return plan->engine->prepare(plan->device, failure) == STATUS_OK ? NULL : failure->message;
}

static void *recruit_run(void *argument)
{
    struct recruit *self = argument;
    struct failure failure;

    if (!recruit_ask(self))
        return NULL;
    const char *reason = recruit_prepare(self, &failure);
    pthread_mutex_lock(&self->lock);
    bool left_behind = self->ended;
    self->state = RECRUIT_CALLS;
    pthread_mutex_unlock(&self->lock);
    if (left_behind)
        recruit_free(self);
    else
        self->plan.ready(self->plan.context, reason);
    return NULL;
}

struct recruit *recruit_start(const struct recruit_plan *plan)
{
    struct recruit *made = malloc(sizeof *made);
    pthread_condattr_t attributes;

    if (!made)
        return NULL;
    *made = (struct recruit){.plan = *plan, .state = RECRUIT_ASKS};
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int error = pthread_create(&made->thread, NULL, recruit_run, made);
    if (error == 0)
        return made;
    recruit_free(made);
    errno = error;
    return NULL;
}

enum recruit_end recruit_end(struct recruit *self)
{
    pthread_t thread = self->thread;

    pthread_mutex_lock(&self->lock);
    enum recruit_end end = self->state == RECRUIT_ASKS       ? RECRUIT_NOT_BEGUN
                           : self->state == RECRUIT_PREPARES ? RECRUIT_LEFT_BEHIND
                                                             : RECRUIT_CALLED;
    self->ended = true;
    pthread_cond_signal(&self->changed);
    if (end == RECRUIT_LEFT_BEHIND)
        pthread_detach(thread); /* from here on it frees itself */
    pthread_mutex_unlock(&self->lock);
    if (end == RECRUIT_LEFT_BEHIND)
        return end;
    pthread_join(thread, NULL);
    recruit_free(self);
    return end;
}
