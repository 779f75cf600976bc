/* Implements worker_group.h: counts workers, and lets them pause for a device. */
#include "config.h"

#include "engine/worker_group.h"

#include "engine/pipeline.h"

bool worker_group_add(struct worker_group *group, size_t workers)
{
    pthread_mutex_lock(&group->lock);
    bool goes_on = !group->ended;
    group->at_work += goes_on ? workers : 0;
    pthread_mutex_unlock(&group->lock);
    return goes_on;
}

void worker_group_leave(struct worker_group *group)
{
    const struct pipeline_watcher *watcher = group->watcher;

    pthread_mutex_lock(&group->lock);
    bool is_last = --group->at_work == 0;
    group->ended = group->ended || is_last;
    if (is_last && watcher->wake)
        watcher->wake(watcher->context);
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
}

void worker_group_add_feeder(struct worker_group *group)
{
    pthread_mutex_lock(&group->lock);
    atomic_fetch_add_explicit(&group->feeders, 1, memory_order_relaxed);
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
}

void worker_group_await_device(struct worker_group *group, unsigned device_bit)
{
    atomic_fetch_or_explicit(&group->awaited_devices, device_bit, memory_order_relaxed);
}

void worker_group_give_up_device(struct worker_group *group, unsigned device_bit)
{
    pthread_mutex_lock(&group->lock);
    atomic_fetch_and_explicit(&group->awaited_devices, ~device_bit, memory_order_relaxed);
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
}

/* Returns whether a device is being prepared for which workers pause. The lock is held. */
static bool worker_group_awaits_device(const struct worker_group *group)
{
    return atomic_load_explicit(&group->awaited_devices, memory_order_relaxed) != 0 &&
           atomic_load_explicit(&group->feeders, memory_order_relaxed) == 0 && !group->all_paused;
}

bool worker_group_pause(struct worker_group *group)
{
    pthread_mutex_lock(&group->lock);
    group->paused++;
    while (worker_group_awaits_device(group) && group->paused < group->at_work)
        pthread_cond_wait(&group->changed, &group->lock);
    if (worker_group_awaits_device(group)) {
        group->all_paused = true;
        pthread_cond_broadcast(&group->changed);
    }
    group->paused--;
    bool continues = atomic_load_explicit(&group->awaited_devices, memory_order_relaxed) == 0 &&
                     atomic_load_explicit(&group->feeders, memory_order_relaxed) == 0;
    pthread_mutex_unlock(&group->lock);
    return continues;
}
