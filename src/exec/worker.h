/*
 * A worker: a thread that opens a worker of an engine, and pulls chunks from the source and absorbs
 * them until the source ends, or until it leaves its core to a device.
 */
#ifndef GPUHIST_WORKER_H
#define GPUHIST_WORKER_H

#include "engine/engine.h"
#include "exec/crew.h"
#include "input/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* What the workers of one session of an engine share. Does not change while they run. */
struct worker_session {
    struct crew *crew;
    const struct engine *engine;
    void *session;       /* of the engine */
    unsigned count;      /* the number of workers */
    bool joins_late;     /* the workers are feeders of a device that was prepared during the run */
    unsigned device_bit; /* of that device, in crew->awaited_devices */
};

/*
 * Written by the worker's own thread, between checkpoint_enter and checkpoint_leave; so during a
 * checkpoint another thread can use it, except `fault`, which is also written outside.
 */
struct worker {
    const struct worker_session *session;
    unsigned index;
    pthread_t thread;
    void *worker; /* of the engine; NULL while it is not open */
    enum status status;
    struct failure failure; /* of the engine, at the end the one to report; valid with `status` */
    enum status fault_status;
    struct failure fault; /* of the input; valid with `fault_status` */
    enum status open_status;
    bool has_absorbed;           /* chunks that are not yet merged */
    atomic_bool pulls;           /* has begun to pull; relaxed */
    atomic_uint_least64_t bytes; /* pulled so far; other threads read it; relaxed */
    struct stream_total counted; /* in chunks */
    double opened_at;            /* when it was ready to pull, and when it was done */
    double finished_at;
    double pull_seconds;
    double busy_seconds;
    double wait_seconds;
};

/* The thread of a worker: pthread_create's function, whose argument is a struct worker. */
void *worker_run(void *worker);

/*
 * Completes and merges what the worker has absorbed. Skips the engine if there is nothing: then a
 * device that has failed meanwhile has lost nothing. Another thread may call it while the worker is
 * stopped at a checkpoint. Fails as the engine does.
 */
enum status worker_complete(struct worker *worker, struct failure *failure);

#endif
