/* Checkpoints: during one, no worker runs, and its holder sees all earlier work. */
#include "config.h"

#include "engine/checkpoint.h"

#include "tap.h"

#include <stdlib.h>

#define THREADS     6
#define CHECKPOINTS 2000

static struct checkpoint checkpoint = CHECKPOINT_INITIALIZER;
static atomic_uint at_work;
static atomic_bool ended;

/* Data that a worker shares with the holder of a checkpoint. Deliberately not atomic. */
struct worker {
    pthread_t thread;
    uint64_t steps;
    uint64_t merged;
};

static void *run_worker(void *argument)
{
    struct worker *worker = argument;

    while (!atomic_load(&ended)) {
        checkpoint_enter(&checkpoint);
        for (int i = 0; i < 50 && !checkpoint_is_wanted(&checkpoint); i++) {
            atomic_fetch_add(&at_work, 1);
            worker->steps++;
            atomic_fetch_sub(&at_work, 1);
        }
        checkpoint_leave(&checkpoint);
    }
    return NULL;
}

static void start(struct worker workers[THREADS])
{
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.steps = 0};
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0) {
            printf("Bail out! no thread\n");
            exit(1);
        }
    }
}

/* Reads the workers' data twice in a checkpoint; returns whether it did not change. */
static bool look(struct worker workers[THREADS], uint64_t *total)
{
    uint64_t again = 0;
    bool still = atomic_load(&at_work) == 0;

    for (int i = 0; i < THREADS; i++) {
        workers[i].merged += workers[i].steps;
        *total += workers[i].steps;
        again += workers[i].steps;
        workers[i].steps = 0;
    }
    for (int i = 0; i < THREADS; i++)
        again += workers[i].steps;
    return still && atomic_load(&at_work) == 0 && again <= *total;
}

int main(void)
{
    struct worker workers[THREADS];
    uint64_t total = 0;
    uint64_t merged = 0;
    bool still = true;

    checkpoint_begin(&checkpoint);
    checkpoint_end(&checkpoint);
    tap_ok(true, "a checkpoint of no threads does not wait");
    start(workers);
    for (int i = 0; i < CHECKPOINTS; i++) {
        checkpoint_begin(&checkpoint);
        still = look(workers, &total) && still;
        checkpoint_end(&checkpoint);
    }
    tap_ok(still, "nobody is at work in a checkpoint");
    atomic_store(&ended, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    checkpoint_begin(&checkpoint);
    look(workers, &total);
    checkpoint_end(&checkpoint);
    for (int i = 0; i < THREADS; i++)
        merged += workers[i].merged;
    tap_ok(merged == total, "nothing that was done is lost");
    return tap_done();
}
