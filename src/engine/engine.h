/*
 * Engines: the back ends that accumulate chunks. An engine is a struct of functions and a row of
 * the table of engines. The rest of the program does not depend on which engine it uses.
 *
 * An engine opened for a plan is a *session*. A session has one or more *consumers*, one for each
 * worker, which uses it on its own thread like this (worker_pool.c):
 *
 *     consumer_open
 *     loop: consumer_buffer, fill it from the source (before a wait for input: consumer_flush),
 *           consumer_accumulate
 *     consumer_merge
 *     consumer_close
 *
 * All sessions of a run merge into one shared aggregate (store.h). consumer_merge and merge may
 * be called more than once, so that a result can be printed during a run. consumer_merge may be
 * called by another thread while the worker does not use the consumer; merge, when all open
 * consumers are merged.
 *
 * After a failure results are undefined; only the close functions may be called. A worker that does
 * not know of the failure yet may still call accumulate and merge, which must be safe.
 *
 * A failure of a device has the status STATUS_ENGINE. The chunks that the device held are lost. If
 * the user named no engine, the caller may repeat the whole run on the last engine of the table,
 * which can always run (run.c).
 */
#ifndef GPUHIST_ENGINE_H
#define GPUHIST_ENGINE_H

#include "lib/status.h"
#include "value/chunk.h"
#include "value/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_INPUT_UNKNOWN UINT64_MAX

/* Maximum number of devices of one engine that are used or listed. */
#define ENGINE_DEVICES_MAX 16

/* Size of a buffer for engine_write_name. */
#define ENGINE_NAME_MAX 32

struct engine_options {
    unsigned threads;     /* number of workers; 0: the engine chooses */
    size_t chunk_bytes;   /* size of a buffer; 0: the engine chooses */
    uint64_t input_bytes; /* size of the input; ENGINE_INPUT_UNKNOWN: a pipe or decoded files */
    bool is_compressed;   /* the input is files, and some are compressed */
    unsigned device;      /* index among the engine's devices, from 0 */
};

/* How an engine supports a feature of plans. */
enum engine_support {
    ENGINE_RUNS,    /* fully */
    ENGINE_PARSES,  /* its threads parse the input on the CPU, no faster than the CPU engine */
    ENGINE_REFUSES, /* not at all */
};

/* A feature of plans: a row of the table of an engine that does not support everything. */
struct engine_feature {
    const char *name; /* the users' word for it, for messages and `info` */
    enum engine_support support;
    bool (*is_used)(const struct plan *plan); /* true: the plan uses it. NULL if it runs */
};

struct engine {
    const char *name;

    /*
     * Returns the number of devices on this machine. May take as long as prepare. NULL: the engine
     * has no separate devices and counts as one.
     */
    unsigned (*devices)(void);
    /*
     * Returns whether the engine can run on a device. Writes a line of text: what it found, or why
     * it cannot run.
     */
    bool (*probe)(unsigned device, char *description, size_t size);
    /* The features of plans; a row without a name ends the table. NULL: it runs everything. */
    const struct engine_feature *features;
    /*
     * Initializes a device for this process. Slow; may run on any thread while other engines work,
     * because it uses only the state of the engine's library. `open` does the same if needed. NULL:
     * open is fast.
     */
    enum status (*prepare)(unsigned device, struct failure *failure);

    /*
     * Opens a session that merges into `aggregate`, and stores its number of workers; the
     * caller need not open consumers for which no input is left. The plan and the aggregate must
     * outlive it. The caller closes the session with close.
     */
    enum status (*open)(const struct plan *plan, const struct engine_options *options,
                        void *aggregate, void **session, unsigned *workers,
                        struct failure *failure);
    /*
     * Merges the session's results into the aggregate; the session is then empty. All open
     * consumers must be merged. NULL: a session is always empty. Any thread may call merge and
     * close.
     */
    enum status (*merge)(void *session, struct failure *failure);
    /*
     * For a plan with a sliding window: from now on the session merges into another aggregate. All
     * open consumers are merged, and the session is empty. NULL: `features` rejects such plans.
     */
    void (*renew)(void *session, void *aggregate);
    /* Frees the session. All consumers must be closed. */
    void (*close)(void *session);

    /*
     * Opens a consumer. The worker's own thread calls this and the next four functions; for
     * consumer_merge see above. The caller closes it with consumer_close.
     */
    enum status (*consumer_open)(void *session, void **consumer, struct failure *failure);
    /* Stores a free buffer of the consumer, which owns the memory. Waits until one is free. */
    enum status (*consumer_buffer)(void *consumer, struct chunk_buffer *buffer,
                                   struct failure *failure);
    /* Accumulates the chunk, whose data is in the buffer returned last. The work may be deferred.
     */
    enum status (*consumer_accumulate)(void *consumer, const struct chunk *chunk,
                                       struct failure *failure);
    /*
     * Completes all deferred work, so that no result waits for further input. Used by ordered
     * operations (store.h). NULL: accumulate defers nothing.
     */
    enum status (*consumer_flush)(void *consumer, struct failure *failure);
    /*
     * Completes all deferred work and merges it into the aggregate or the session. The consumer is
     * then empty and can accumulate more. With a sliding window, it no longer uses the aggregate.
     */
    enum status (*consumer_merge)(void *consumer, struct failure *failure);
    /* Frees the consumer. May be called while merge runs on the session. NULL is allowed. */
    void (*consumer_close)(void *consumer);
};

/*
 * Returns the last engine of a table, which can always run. A table lists the fastest engine first
 * and ends with NULL; it must not be empty. Thread-safe, as are the functions below.
 */
const struct engine *engine_last(const struct engine *const *table);

/*
 * Returns the name of the first feature in the engine's table that has this support and that the
 * plan uses; NULL if there is none.
 */
const char *engine_find_feature(const struct engine *engine, const struct plan *plan,
                                enum engine_support support);

/* Writes "cuda", or for a device N other than 0 "cuda:N"; cuts a longer name. */
void engine_write_name(char name[ENGINE_NAME_MAX], const char *engine, unsigned device);

/* Returns the number of workers with buffers of chunk_bytes that input keeps busy: 1 to `wanted`.
 */
unsigned engine_useful_workers(unsigned wanted, size_t chunk_bytes, uint64_t input_bytes);

#endif
