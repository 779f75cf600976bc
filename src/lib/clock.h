/* The time on a monotonic clock. Thread-safe. */
#ifndef GPUHIST_CLOCK_H
#define GPUHIST_CLOCK_H

#include <time.h>

/* Returns the time in seconds. */
static inline double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
