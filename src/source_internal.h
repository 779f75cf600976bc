/* What the files of the source share: its state and the two kinds of input. */
#ifndef GPUHIST_SOURCE_INTERNAL_H
#define GPUHIST_SOURCE_INTERNAL_H

#include "source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * One file of the stream. Guarded by the source's lock; used without it: fd, by pread, and users,
 * which those who have read a range give up while another puller may wait for a pipe.
 */
struct input {
    int fd;
    const char *name;  /* for messages */
    bool is_regular;   /* reading never waits */
    bool is_claimable; /* ranges of [next, size) can be claimed; else it is read on from fd */
    off_t next;
    off_t size;
    atomic_uint users; /* the source while it is current, and every range being read */
};

/* A range of a regular file that a puller has claimed and will read by itself. */
struct source_range {
    struct input *input;
    off_t offset;
    size_t bytes; /* 0: nothing claimed */
};

struct source {
    char *const *names;
    size_t count;
    size_t element_bytes;
    uint64_t size;
    int wake[2]; /* a pipe: readable once the source is stopped */
    atomic_bool stopped;

    pthread_mutex_t join_lock; /* guards the next three; taken alone, or last */
    pthread_cond_t joining;    /* signalled when one of them changes */
    unsigned joined;           /* pullers that source_join has let through */
    unsigned wanted;           /* how many it may; UINT_MAX: all */
    bool ended;                /* none any more */

    pthread_mutex_t lock; /* guards all below */
    bool waited;          /* this pull found the pipe empty and had to wait */
    uint64_t turn_begins; /* when this pull began its turn, in nanoseconds */
    unsigned behind;      /* pulls in a row that did not have to wait */
    uint64_t turn_ends;   /* when the last pull ended its turn */
    uint64_t turns_ns;    /* how long the turns of those pulls took, */
    uint64_t gaps_ns;     /* and how long it was nobody's turn between them */
    size_t opened;        /* how many of the names have been opened */
    struct input *current;
    const char *last_name;  /* the input that the last bytes were read from, as messages say it */
    unsigned char carry[8]; /* the start of an element, cut off by the last pull */
    size_t carry_bytes;
    uint64_t position; /* of the next chunk */
    uint64_t sequence;
};

/* The name of an input as messages say it. */
const char *source_name(const char *name);

/*
 * Claims the largest range of at most `room` bytes that completes whole elements behind the
 * `filled` bytes of the buffer, and advances the file. An empty range means that none is left: what
 * remains, less than an element or grown since the file was opened, is to be read on.
 */
struct source_range source_file_claim(struct input *input, size_t filled, size_t room,
                                      size_t element_bytes);

/* Reads a claimed range into `buffer`, without the lock. Fails if the file has become shorter. */
enum status source_file_read(const struct source_range *range, void *buffer, uint64_t position,
                             struct failure *failure);

/* What a read from a pipe met. */
enum source_event {
    SOURCE_DATA,  /* some bytes */
    SOURCE_END,   /* the input's end */
    SOURCE_EMPTY, /* nothing just now; or the source was stopped */
    SOURCE_ERROR, /* the failure is written */
};

/* Makes a pipe hold as much as the system allows, 1 MiB by default; else does nothing. */
void source_pipe_widen(int fd);

/*
 * Reads what is there, up to `room` bytes; waits for it without limit if `wait`, else for as long
 * as a busy writer takes to write the next piece. The lock is held; a source_stop from another
 * thread ends the waiting.
 */
enum source_event source_pipe_read(struct source *source, void *buffer, size_t room, bool wait,
                                   size_t *bytes, struct failure *failure);

#endif
