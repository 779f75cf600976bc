/* Implements crew.h: who is at work, and pausing for a device. */
#include "config.h"

#include "exec/crew.h"

#include "exec/pipeline.h"

bool crew_add(struct crew *crew, size_t workers)
{
    pthread_mutex_lock(&crew->lock);
    bool goes_on = !crew->ended;
    crew->at_work += goes_on ? workers : 0;
    pthread_mutex_unlock(&crew->lock);
    return goes_on;
}

void crew_leave(struct crew *crew)
{
    const struct pipeline_watcher *watcher = crew->watcher;

    pthread_mutex_lock(&crew->lock);
    bool is_last = --crew->at_work == 0;
    crew->ended = crew->ended || is_last;
    if (is_last && watcher->wake)
        watcher->wake(watcher->context);
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

void crew_add_feeder(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    atomic_fetch_add_explicit(&crew->feeders, 1, memory_order_relaxed);
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

void crew_await_device(struct crew *crew, unsigned device_bit)
{
    atomic_fetch_or_explicit(&crew->awaited_devices, device_bit, memory_order_relaxed);
}

void crew_give_up_device(struct crew *crew, unsigned device_bit)
{
    pthread_mutex_lock(&crew->lock);
    atomic_fetch_and_explicit(&crew->awaited_devices, ~device_bit, memory_order_relaxed);
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

/* Whether a device is being prepared for which workers pause. The lock is held. */
static bool crew_awaits_device(const struct crew *crew)
{
    return atomic_load_explicit(&crew->awaited_devices, memory_order_relaxed) != 0 &&
           atomic_load_explicit(&crew->feeders, memory_order_relaxed) == 0 && !crew->all_paused;
}

bool crew_pause(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->paused++;
    while (crew_awaits_device(crew) && crew->paused < crew->at_work)
        pthread_cond_wait(&crew->changed, &crew->lock);
    if (crew_awaits_device(crew)) {
        crew->all_paused = true;
        pthread_cond_broadcast(&crew->changed);
    }
    crew->paused--;
    bool continues = atomic_load_explicit(&crew->awaited_devices, memory_order_relaxed) == 0 &&
                     atomic_load_explicit(&crew->feeders, memory_order_relaxed) == 0;
    pthread_mutex_unlock(&crew->lock);
    return continues;
}
