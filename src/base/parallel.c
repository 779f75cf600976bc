/* Implements parallel.h: threads that take parts by a counter. */
#include "config.h"

#include "base/parallel.h"

#include "base/control_group.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define PARALLEL_THREADS_MAX 256

struct parallel {
    void (*work)(void *context, size_t part);
    void *context;
    size_t parts;
    _Atomic size_t taken; /* parts that a thread has taken */
};

static void *parallel_take_parts(void *argument)
{
    struct parallel *parallel = argument;
    size_t part;

    while ((part = atomic_fetch_add(&parallel->taken, 1)) < parallel->parts)
        parallel->work(parallel->context, part);
    return NULL;
}

void parallel_run(unsigned threads, size_t parts, void (*work)(void *context, size_t part),
                  void *context)
{
    struct parallel parallel = {.work = work, .context = context, .parts = parts};
    pthread_t others[PARALLEL_THREADS_MAX];
    size_t max = threads < parts ? threads : parts;
    size_t started = 0;

    while (started + 1 < max && started < PARALLEL_THREADS_MAX &&
           pthread_create(&others[started], NULL, parallel_take_parts, &parallel) == 0)
        started++;
    parallel_take_parts(&parallel);
    while (started > 0)
        pthread_join(others[--started], NULL);
}

unsigned parallel_threads(unsigned wanted, uint64_t items, uint64_t min_items)
{
    const uint64_t useful = items / min_items;

    if (useful <= 1)
        return 1;
    const unsigned max = wanted > 0 ? wanted : parallel_processors();
    return max < useful ? max : (unsigned)useful;
}

unsigned parallel_processors_under(const char *root)
{
    const uint64_t quota = control_group_processors(root);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned processors = online > 0 ? (unsigned)online : 1;
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        processors = (unsigned)CPU_COUNT(&set);
#endif
    return quota < processors ? (unsigned)quota : processors;
}
