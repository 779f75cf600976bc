/* What the files of the source share: its state and the two kinds of input. */
#ifndef GPUHIST_SOURCE_INTERNAL_H
#define GPUHIST_SOURCE_INTERNAL_H

#include "input/decoder.h"
#include "input/source.h"
#include "text/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* Bytes that were read ahead of their use: data[begin..end), at most SOURCE_AHEAD_BYTES. */
#define SOURCE_AHEAD_BYTES ((size_t)64 << 10)

struct source_ahead {
    char *data; /* NULL: never used */
    size_t begin;
    size_t end;
};

/*
 * One file of the stream. Guarded by the source's lock; used without it: fd, by pread, and users,
 * which those who have read a range give up while another puller may wait for a pipe.
 */
struct input {
    int fd;
    const char *name;  /* for messages */
    bool is_regular;   /* reading never waits */
    bool is_claimable; /* ranges of [next, size) can be claimed; else it is read on from fd */
    bool is_detected;  /* whether it is compressed is known */
    bool raw_ended;    /* fd has no more */
    off_t start;       /* where it began */
    off_t next;
    off_t size;
    atomic_uint users;            /* the source while it is current, and every range being read */
    struct source_frames *frames; /* NULL: it is plain */
    struct source_ahead raw;      /* as in the file */
    struct source_ahead plain;    /* decoded, to look at */
    uint64_t skip_lines;          /* of its header, that are still to come */
};

/* A range of a regular file that a puller has claimed and will read by itself. */
struct source_range {
    struct input *input;
    off_t offset;
    size_t bytes; /* 0: nothing claimed */
};

/* What the names stood for before anything was read. */
struct source_origin {
    uint64_t size;      /* of all, or SOURCE_SIZE_UNKNOWN: not all are regular files */
    off_t stdin_offset; /* -1: standard input is not one of them, or no regular file */
    uint64_t digest;    /* which files they are, and of what size and time (digest.h) */
};

struct source {
    char *const *names;
    size_t count;
    struct source_format format; /* const once pulling has begun, as are the next two */
    bool decodes;                /* compressed files are decoded, */
    uint64_t decoding_memory;    /* in windows of that many bytes; 0: as usual */
    bool holds_frames;           /* until they have ended */
    uint64_t size;               /* of the stream, or SOURCE_SIZE_UNKNOWN */
    struct source_origin origin;
    int wake[2]; /* a pipe: readable once the source is stopped */
    atomic_bool stopped;

    pthread_mutex_t join_lock;    /* guards the next four; taken alone, or last */
    pthread_cond_t joining;       /* signalled when one of them changes */
    unsigned joined;              /* pullers that source_join has let through */
    unsigned wanted;              /* how many it may; UINT_MAX: all */
    bool ended;                   /* none any more */
    struct source_frames *frames; /* of the current input, that pullers help to decode; or NULL */

    pthread_mutex_t lock; /* guards all below */
    bool waited;          /* this pull found the pipe empty and had to wait */
    uint64_t turn_begins; /* when this pull began its turn, in nanoseconds */
    unsigned behind;      /* pulls in a row that did not have to wait */
    uint64_t turn_ends;   /* when the last pull ended its turn */
    uint64_t turns_ns;    /* how long the turns of those pulls took, */
    uint64_t gaps_ns;     /* and how long it was nobody's turn between them */
    size_t opened;        /* how many of the names have been opened */
    struct input *current;
    const char *last_name; /* the input that the last bytes were read from, as messages say it */
    char *carry;           /* the start of an element or line, cut off by the last pull, */
    size_t carry_begin;    /* at this offset; there is room up to the end of it */
    size_t carry_bytes;    /* of the current input if it is text */
    uint64_t line;         /* these three of the next chunk read on, as in struct chunk */
    uint64_t line_offset;
    uint64_t line_start;
    uint64_t left_out; /* bytes read that are in no chunk and were told of with none */
    uint64_t position; /* of the next chunk */
    uint64_t sequence;
};

/* Whether a name stands for standard input, and the name as messages say it. */
bool source_is_stdin(const char *name);
const char *source_name(const char *name);

/* Room for reading ahead, its bytes moved to the front; false with errno set if there is none. */
bool source_ahead_reserve(struct source_ahead *ahead);

/* Moves up to `room` bytes to `buffer` and returns how many. */
size_t source_ahead_take(struct source_ahead *ahead, void *buffer, size_t room);

/* Fails with STATUS_DATA: NAME: REASON. */
enum status source_input_fail(struct failure *failure, const char *name, const char *reason);

/* Sets the frames that pullers help to decode, NULL for none. Thread-safe. */
void source_set_frames(struct source *source, struct source_frames *frames);

/* Makes the next name the current input. The lock is held. */
enum status source_input_open(struct source *source, struct failure *failure);

/* Gives up one use of an input; the last one closes it. Thread-safe. */
void source_input_release(struct input *input);

/* All claims are taken: the file is read on behind the last of them, as anything else is. */
void source_input_read_on(struct source *source);

/*
 * Claims a range of at most `room` bytes that completes whole elements, or lines or tokens, behind
 * the `filled` bytes of the buffer, and advances the file. An empty range means that none is left:
 * what remains, less than an element, a line that is too long, or grown since the file was opened,
 * is to be read on.
 */
struct source_range source_file_claim(struct input *input, size_t filled, size_t room,
                                      const struct source_format *format);

/* Reads a claimed range into `buffer`, without the lock. Fails if the file has become shorter. */
enum status source_file_read(const struct source_range *range, void *buffer, uint64_t position,
                             struct failure *failure);

/*
 * Reads `bytes` bytes at an offset of a regular file, fewer only at its end. Returns how many, or
 * -1 with errno. Thread-safe.
 */
ssize_t source_file_read_at(int fd, void *data, size_t bytes, off_t offset);

/* Moves the first claim of a file behind its header. */
enum status source_file_skip_header(struct input *input, struct failure *failure);

/*
 * How much of data[0..bytes) is whole elements, or lines or tokens: up to the last end of one.
 * Nothing before `known` is looked at, of which it is known that none ends there.
 */
size_t source_text_cut(const struct source_format *format, const char *data, size_t known,
                       size_t bytes);

/*
 * Splits a line that fills data[0..bytes) and has no end yet into two, if each of its parts is a
 * value: a delimiter between two parts that are not blank becomes a newline. Returns where the
 * second line begins, or 0.
 */
size_t source_text_split(const struct text_rules *rules, char *data, size_t bytes);

/*
 * Shortens a line, or token, that fills data[0..bytes) and has no end yet to what its values are
 * made from; returns its new length. Stands for the same values and the same errors, whatever
 * follows.
 */
size_t source_text_squeeze(const struct text_rules *rules, char *data, size_t bytes);

/* What a read from a pipe met. */
enum source_event {
    SOURCE_DATA,  /* some bytes */
    SOURCE_END,   /* the input's end */
    SOURCE_EMPTY, /* nothing just now; or the source was stopped */
    SOURCE_ERROR, /* the failure is written */
};

/*
 * Reads the current input into `buffer`, up to `room` bytes, decoded and without its header; *bytes
 * may be 0 at SOURCE_DATA. Waits as source_pipe_read does. The lock is held.
 */
enum source_event source_input_read(struct source *source, void *buffer, size_t room, bool wait,
                                    size_t *bytes, struct failure *failure);

/*
 * Reads its first block ahead, to input->plain, until that is full, the file ends (SOURCE_END), or
 * there is no more just now. The lock is held.
 */
enum source_event source_input_look(struct source *source, struct failure *failure);

/* Makes a pipe hold as much as the system allows, 1 MiB by default; else does nothing. */
void source_pipe_widen(int fd);

/*
 * A pipe that stays empty for this long is empty "for now". Returning each time that the reader has
 * overtaken the writer would hand the pipe from thread to thread in small pieces.
 */
#define SOURCE_PIPE_PAUSE_MS 1

/*
 * Whether a read would find something, the end or an error, within so many milliseconds (-1: waits
 * without limit); false once the source is stopped. The lock is held.
 */
bool source_pipe_has(const struct source *source, int milliseconds);

/*
 * Reads what is there, up to `room` bytes; waits for it without limit if `wait`, else for as long
 * as a busy writer takes to write the next piece. The lock is held; a source_stop from another
 * thread ends the waiting.
 */
enum source_event source_pipe_read(struct source *source, void *buffer, size_t room, bool wait,
                                   size_t *bytes, struct failure *failure);

#endif
