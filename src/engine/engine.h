/*
 * Engines: what can absorb chunks. Each is a struct of functions and a row of the table; nothing
 * else in the program asks which one it has.
 *
 * An engine that is opened for a job is a *session*; it offers a number of *workers*, each to be
 * run on a thread of its own, like this (pipeline.c):
 *
 *     worker_open
 *     loop: worker_buffer, fill it from the source (if that must wait: worker_flush),
 *           worker_absorb
 *     worker_finish
 *     worker_close
 *
 * Everything is merged into one shared partial (operation.h). So that a result can be printed while
 * the work goes on, worker_finish and finish may be called any number of times: worker_finish also
 * from another thread, while the worker's own is not using it, and finish whenever all workers are
 * finished so far. After a failure what is asked of a session does not matter, but the close
 * functions: other workers may not know yet, and absorb and finish.
 *
 * What fails because a device does fails with STATUS_ENGINE: chunks that it had are lost then, and
 * if no engine was asked for by name, the whole run may be done again on the engine that always
 * runs (run.c).
 */
#ifndef GPUHIST_ENGINE_H
#define GPUHIST_ENGINE_H

#include "base/status.h"
#include "job/chunk.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_INPUT_UNKNOWN UINT64_MAX

/* No more devices of an engine are used, nor told of. */
#define ENGINE_DEVICES_MAX 16

/* Room for what engine_write_name writes. */
#define ENGINE_NAME_MAX 32

struct engine_options {
    unsigned threads;     /* workers; 0: as many as pay */
    size_t chunk_bytes;   /* of one buffer; 0: what suits the engine */
    uint64_t input_bytes; /* the size of the input, or ENGINE_INPUT_UNKNOWN: a pipe, unless */
    bool is_compressed;   /* it is files that are decoded */
    unsigned device;      /* which of the engine's, from 0 on */
};

/* Memory of a worker, to be filled by the caller. */
struct engine_buffer {
    void *data;
    size_t capacity; /* bytes, at least one element */
};

struct engine {
    const char *name;

    /* How many devices it has here; NULL: itself alone. May take as long as prepare. */
    unsigned (*devices)(void);
    /* Whether it can run on a device. Writes one line: what it has found, or why it cannot. */
    bool (*probe)(unsigned device, char *description, size_t size);
    /*
     * Makes a device ready for this process, which takes long, and may be done on any thread while
     * other engines work; open does it as well. NULL: open is quick. Touches nothing but what the
     * engine's library has to itself.
     */
    enum status (*prepare)(unsigned device, struct failure *failure);

    /* Prepares a session that merges into `partial`; job and partial outlive it. */
    enum status (*open)(const struct job *job, const struct engine_options *options, void *partial,
                        void **session, struct failure *failure);
    /*
     * Merges what the session holds after all workers are finished so far; it then holds nothing.
     * NULL: it never holds anything.
     */
    enum status (*finish)(void *session, struct failure *failure);
    /* How many workers the session can have. Those that the input has no work for are not opened.
     */
    unsigned (*workers)(const void *session);
    /* Frees the session; all workers are closed. Finish and close may be called by any thread. */
    void (*close)(void *session);

    /* Prepares one worker, on its own thread, as are the four that follow. */
    enum status (*worker_open)(void *session, void **worker, struct failure *failure);
    /* A free buffer of the worker; waits for one if need be. */
    enum status (*worker_buffer)(void *worker, struct engine_buffer *buffer,
                                 struct failure *failure);
    /* Takes the chunk, which lies in the last buffer given; it may be done later. */
    enum status (*worker_absorb)(void *worker, const struct chunk *chunk, struct failure *failure);
    /*
     * Completes what was absorbed so far, so that none of it waits for input to come; NULL: absorb
     * does it at once. For operations that are ordered (operation.h).
     */
    enum status (*worker_flush)(void *worker, struct failure *failure);
    /*
     * Completes all that was absorbed, and merges it into the partial or the session; the worker
     * then has nothing, and may absorb more.
     */
    enum status (*worker_finish)(void *worker, struct failure *failure);
    /* Frees the worker, while the session may be asked to finish; NULL is allowed. */
    void (*worker_close)(void *worker);
};

/*
 * The engine of that name in a table, or NULL. A table lists the fastest engine first and ends with
 * NULL; its last engine can always run.
 */
const struct engine *engine_find(const struct engine *const *table, const char *name);

/* The last engine of a table, which can always run. */
const struct engine *engine_last(const struct engine *const *table);

/* Writes how an engine on a device is called: its name, for devices but the first with ":N". */
void engine_write_name(char name[ENGINE_NAME_MAX], const char *engine, unsigned device);

/*
 * How many workers with buffers of chunk_bytes the input can keep busy: at least 1, at most
 * `wanted`.
 */
unsigned engine_useful_workers(unsigned wanted, size_t chunk_bytes, uint64_t input_bytes);

#endif
