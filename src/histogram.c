#include "config.h"

#include "histogram.h"

#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Region r is guarded by lock r mod this: enough that two workers rarely want the same one. */
#define HISTOGRAM_LOCKS 1024

struct histogram_locks {
    pthread_mutex_t mutex[HISTOGRAM_LOCKS];
};

static pthread_mutex_t *histogram_lock(struct histogram *histogram, size_t region)
{
    pthread_mutex_t *mutex = &histogram->locks->mutex[region % HISTOGRAM_LOCKS];
    pthread_mutex_lock(mutex);
    return mutex;
}

enum status histogram_create(const struct job *job, struct histogram **histogram,
                             struct failure *failure)
{
    size_t entries = (size_t)job->binning.bins + BINNING_OUTSIDE;
    size_t bytes = entries * sizeof(uint64_t);
    uint64_t available = memory_available();
    struct histogram *made = calloc(1, sizeof *made);

    if (bytes > available)
        status_fail(failure, STATUS_DATA, "%u bins need %zu MiB of memory, but %llu MiB are free",
                    job->binning.bins, bytes >> 20, (unsigned long long)available >> 20);
    else if (!made || !(made->locks = calloc(1, sizeof *made->locks)) ||
             !(made->counts = memory_map(bytes)))
        status_fail(failure, STATUS_DATA, "no memory for %u bins (%zu MiB)", job->binning.bins,
                    bytes >> 20);
    else {
        made->entries = entries;
        for (size_t i = 0; i < HISTOGRAM_LOCKS; i++)
            pthread_mutex_init(&made->locks->mutex[i], NULL);
        *histogram = made;
        return STATUS_OK;
    }
    histogram_destroy(made);
    return failure->status;
}

void histogram_destroy(struct histogram *histogram)
{
    if (!histogram)
        return;
    memory_unmap(histogram->counts, histogram->entries * sizeof(uint64_t));
    free(histogram->locks);
    free(histogram);
}

/* How many of the n counters from `first` on lie in its region. */
static size_t histogram_region_rest(size_t first, size_t n)
{
    size_t rest = HISTOGRAM_REGION_BINS - first % HISTOGRAM_REGION_BINS;
    return rest < n ? rest : n;
}

#define HISTOGRAM_DEFINE_ADD(name, counter)                                                     \
    void name(struct histogram *histogram, size_t first, const counter *counts, size_t n)       \
    {                                                                                           \
        while (n > 0) {                                                                         \
            size_t length = histogram_region_rest(first, n);                                    \
            pthread_mutex_t *mutex = histogram_lock(histogram, first >> HISTOGRAM_REGION_LOG2); \
            for (size_t i = 0; i < length; i++)                                                 \
                histogram->counts[first + i] += counts[i];                                      \
            pthread_mutex_unlock(mutex);                                                        \
            first += length;                                                                    \
            counts += length;                                                                   \
            n -= length;                                                                        \
        }                                                                                       \
    }

HISTOGRAM_DEFINE_ADD(histogram_add_counts32, uint32_t)
HISTOGRAM_DEFINE_ADD(histogram_add_counts64, uint64_t)

/*
 * Four residuals at a time; four equal ones are counted in one step, since a counter that is
 * incremented again and again waits for its own store each time (all values equal: 1.2x).
 */
static void histogram_count_residuals(uint64_t *counts, const uint16_t *residuals, size_t n)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        uint64_t four;
        memcpy(&four, residuals + i, sizeof four);
        if (four == (four << 16 | four >> 48)) {
            counts[residuals[i]] += 4;
            continue;
        }
        counts[four & 0xffff]++;
        counts[four >> 16 & 0xffff]++;
        counts[four >> 32 & 0xffff]++;
        counts[four >> 48]++;
    }
    for (; i < n; i++)
        counts[residuals[i]]++;
}

void histogram_add_residuals(struct histogram *histogram, size_t region, const uint16_t *residuals,
                             size_t n)
{
    pthread_mutex_t *mutex = histogram_lock(histogram, region);
    histogram_count_residuals(histogram->counts + (region << HISTOGRAM_REGION_LOG2), residuals, n);
    pthread_mutex_unlock(mutex);
}

enum status histogram_finish(struct histogram *histogram, const struct job *job, uint64_t elements,
                             struct failure *failure)
{
    uint64_t *counts = histogram->counts;
    size_t below = histogram->entries - 2;
    size_t above = histogram->entries - 1;
    uint64_t total = 0;

    for (size_t i = 0; i < histogram->entries; i++)
        total += counts[i];
    if (total != elements)
        return status_fail(failure, STATUS_DATA,
                           "internal error: %llu elements were read, but %llu counted",
                           (unsigned long long)elements, (unsigned long long)total);
    if (job->outside == OUTSIDE_CLAMP) {
        counts[0] += counts[below];
        counts[below - 1] += counts[above];
    }
    if (job->outside == OUTSIDE_CLAMP || job->outside == OUTSIDE_IGNORE)
        counts[below] = counts[above] = 0;
    return STATUS_OK;
}
