/* Implements checkpoint.h: a count of the threads at work, with a lock and a condition. */
#include "config.h"

#include "engine/checkpoint.h"

void checkpoint_enter(struct checkpoint *checkpoint)
{
    pthread_mutex_lock(&checkpoint->lock);
    while (checkpoint_is_wanted(checkpoint))
        pthread_cond_wait(&checkpoint->changed, &checkpoint->lock);
    checkpoint->active++;
    pthread_mutex_unlock(&checkpoint->lock);
}

void checkpoint_leave(struct checkpoint *checkpoint)
{
    pthread_mutex_lock(&checkpoint->lock);
    if (--checkpoint->active == 0 && checkpoint_is_wanted(checkpoint))
        pthread_cond_broadcast(&checkpoint->changed);
    pthread_mutex_unlock(&checkpoint->lock);
}

bool checkpoint_is_wanted(const struct checkpoint *checkpoint)
{
    return atomic_load_explicit(&checkpoint->wanted, memory_order_relaxed);
}

void checkpoint_begin(struct checkpoint *checkpoint)
{
    pthread_mutex_lock(&checkpoint->lock);
    atomic_store_explicit(&checkpoint->wanted, true, memory_order_relaxed);
    while (checkpoint->active > 0)
        pthread_cond_wait(&checkpoint->changed, &checkpoint->lock);
    pthread_mutex_unlock(&checkpoint->lock);
}

void checkpoint_end(struct checkpoint *checkpoint)
{
    pthread_mutex_lock(&checkpoint->lock);
    atomic_store_explicit(&checkpoint->wanted, false, memory_order_relaxed);
    pthread_cond_broadcast(&checkpoint->changed);
    pthread_mutex_unlock(&checkpoint->lock);
}
