/* Implements parallel.h: threads that take parts by a counter. */
#include "config.h"

#include "lib/parallel.h"

#include "lib/resources.h"

#include <stdatomic.h>
#include <stdbool.h>

#define PARALLEL_THREADS_MAX 256

/*
 * Sizes of stacks: the libraries of devices compile code on them. If `ulimit -v` counts untouched
 * memory, too, ten times the need of our own functions.
 */
#define PARALLEL_STACK_BYTES         ((size_t)8 << 20)
#define PARALLEL_STACK_BYTES_LIMITED ((size_t)1 << 20)

struct parallel {
    void (*work)(void *context, size_t part);
    void *context;
    size_t parts;
    _Atomic size_t taken; /* number of parts that threads have taken */
};

int parallel_start_thread(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    const bool is_limited = resources_limit_mapped();
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    pthread_attr_setstacksize(&attributes,
                              is_limited ? PARALLEL_STACK_BYTES_LIMITED : PARALLEL_STACK_BYTES);
    error = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

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
           parallel_start_thread(&others[started], parallel_take_parts, &parallel) == 0)
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
    const unsigned max = wanted > 0 ? wanted : resources_at_start()->processors;
    return max < useful ? max : (unsigned)useful;
}
