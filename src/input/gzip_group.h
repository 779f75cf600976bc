/*
 * A worker group decodes one gzip file with several threads: one thread reads it in order, and the
 * others decode ahead of it (lib/deflate.h). The file is divided every 256 KiB. A piece begins with
 * the first block found there, and ends where the next piece begins. Once the piece before it is
 * decoded, the group knows its window, and whether it begins where that piece ends. If not, because
 * of a wrong guess or large blocks, the reading thread decodes the bytes between. Thus all output
 * follows from the start of the file.
 *
 * The group keeps at most one and a half pieces per thread. A piece ends before it has more than 8
 * MiB of decoded bytes.
 *
 * A worker group gives up at unusual data and at faults: the file must then be decoded from its
 * start by decoder.h, which reports the fault.
 *
 * All functions are thread-safe, except gzip_group_create and gzip_group_destroy; only one thread
 * at a time begins, reads or ends.
 */
#ifndef GPUHIST_GZIP_GROUP_H
#define GPUHIST_GZIP_GROUP_H

#include "input/relay.h"
#include "lib/decoder.h"
#include "lib/input.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct gzip_group;

/*
 * Returns a new worker group without a file, for `threads` threads, or NULL if there is no memory.
 * It notifies the relay of work; the relay must outlive it. The caller destroys it.
 */
struct gzip_group *gzip_group_create(unsigned threads, struct relay *relay);

/* Frees it. */
void gzip_group_destroy(struct gzip_group *group);

/*
 * Begins a regular file, which the caller must use until gzip_group_end. *bytes_read counts the
 * bytes read. Returns false if the file is too short, if its members have known lengths
 * (decoder_frame_bytes), if its header is unusual, or if there is no memory.
 */
bool gzip_group_begin(struct gzip_group *group, const struct input *input,
                      const struct decoder_format *format, atomic_uint_least64_t *bytes_read);

/* Waits until no thread works on the file, and frees its pieces. */
void gzip_group_end(struct gzip_group *group);

/* Does some of the work. Returns false if there is none at present. */
bool gzip_group_work(struct gzip_group *group);

enum gzip_group_event {
    GZIP_GROUP_DATA,
    GZIP_GROUP_ENDED,   /* all members are complete and their checksums are right */
    GZIP_GROUP_GAVE_UP, /* the group gave up; all bytes returned so far are right */
};

/* Reads the next bytes of the file, at least 1 and at most `capacity`, in order. */
enum gzip_group_event gzip_group_read(struct gzip_group *group, char *data, size_t capacity,
                                      size_t *bytes);

#endif
