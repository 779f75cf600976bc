/* Implements writer_parts.h: threads that write parts to memory and write them out in order. */
#include "config.h"

#include "lib/writer_parts.h"

#include "lib/parallel.h"

#include <pthread.h>

/* Maximum number of useful threads: only one writes out at a time. */
#define WRITER_PARTS_THREADS_MAX 16

/* Number of parts in memory per thread: one that it writes, and one that waits. */
#define WRITER_PARTS_PER_THREAD 2
#define WRITER_PARTS_SLOTS_MAX  (WRITER_PARTS_PER_THREAD * WRITER_PARTS_THREADS_MAX)

/* Initial memory of a part. */
#define WRITER_PARTS_BYTES ((size_t)128 << 10)

/* The memory of a part. */
struct writer_parts_slot {
    struct writer *memory;
    bool is_complete; /* the part waits to be written; guarded by the lock */
};

struct writer_parts_work {
    const struct writer_parts *parts;
    struct writer *writer; /* used by the thread that sets is_writing */
    struct writer_parts_slot slots[WRITER_PARTS_SLOTS_MAX];
    size_t slot_count; /* part i is in slot i % slot_count */

    pthread_mutex_t lock;   /* guards the members below */
    pthread_cond_t changed; /* a slot is free, or no part is left */
    size_t taken;           /* the first `taken` parts are being written to memory or done */
    size_t written;         /* the first `written` parts are written */
    bool is_writing;        /* a thread is writing */
    bool has_failed;
};

/*
 * The work of one thread: writes parts to memory until none is left. Writes out the next parts if
 * they are complete, unless another thread does.
 */
static void writer_parts_run(void *context, size_t thread)
{
    struct writer_parts_work *work = context;

    (void)thread;
    pthread_mutex_lock(&work->lock);
    for (;;) {
        while (!work->has_failed && work->taken < work->parts->count &&
               work->taken - work->written == work->slot_count)
            pthread_cond_wait(&work->changed, &work->lock); /* waits for a free slot */
        if (work->has_failed || work->taken == work->parts->count)
            break;
        const size_t part = work->taken++;
        struct writer_parts_slot *slot = &work->slots[part % work->slot_count];
        pthread_mutex_unlock(&work->lock);
        work->parts->write(work->parts->context, part, slot->memory);
        pthread_mutex_lock(&work->lock);
        slot->is_complete = true;
        if (work->is_writing)
            continue;
        work->is_writing = true;
        while ((slot = &work->slots[work->written % work->slot_count])->is_complete) {
            pthread_mutex_unlock(&work->lock);
            const bool is_written = writer_write_memory(work->writer, slot->memory);
            pthread_mutex_lock(&work->lock);
            slot->is_complete = false;
            work->written++;
            work->has_failed = !is_written;
            pthread_cond_signal(&work->changed);
        }
        work->is_writing = false;
    }
    pthread_cond_signal(&work->changed); /* wakes the next thread that waits */
    pthread_mutex_unlock(&work->lock);
}

bool writer_parts_write(struct writer *writer, const struct writer_parts *parts, unsigned threads)
{
    struct writer_parts_work work = {
        .parts = parts,
        .writer = writer,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };

    if (threads > WRITER_PARTS_THREADS_MAX)
        threads = WRITER_PARTS_THREADS_MAX;
    for (; work.slot_count < (size_t)WRITER_PARTS_PER_THREAD * threads; work.slot_count++) {
        struct writer *memory = writer_create_memory(WRITER_PARTS_BYTES);
        if (!memory)
            break;
        work.slots[work.slot_count].memory = memory;
    }
    if (work.slot_count == 0)
        return false;
    parallel_run(threads, threads, writer_parts_run, &work);
    while (work.slot_count > 0)
        writer_discard(work.slots[--work.slot_count].memory);
    return true;
}
