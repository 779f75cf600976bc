/*
 * A worker group decodes one gzip file with several threads: one reads it in order, and the others
 * decode ahead of it (lib/deflate.h). The file is divided every 256 KiB. A piece begins with the
 * first block that is found there, and ends where the next one begins. When the piece before it is
 * decoded, it is known whether it begins where that ends, and what precedes it. If it does not,
 * which a guess or large blocks may cause, the thread that reads decodes what is between. So
 * nothing is read that does not follow from the beginning of the file.
 *
 * At most one and a half pieces for each thread are kept. A piece that would have more than 8 MiB
 * of plain bytes ends before.
 *
 * A worker group gives up at whatever is unusual, as at a fault: then the file has to be decoded
 * from its beginning by decoder.h, which says what is wrong.
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
 * The relay, which is told of work, must outlive it. The caller destroys it.
 */
struct gzip_group *gzip_group_create(unsigned threads, struct relay *relay);

/* Frees it. NULL is allowed. */
void gzip_group_destroy(struct gzip_group *group);

/*
 * Begins a regular file, of which the caller's use must outlast gzip_group_end. *bytes_read counts
 * the bytes that were read. Returns false if the file is too short, if its members have known
 * lengths (decoder_frame_bytes), if its header is unusual, or if there is no memory.
 */
bool gzip_group_begin(struct gzip_group *group, const struct input *input,
                      const struct decoder_format *format, atomic_uint_least64_t *bytes_read);

/* Waits until no thread works for the file, and frees what is kept of it. */
void gzip_group_end(struct gzip_group *group);

/* Does a piece of the work that there is. Returns false if there is none at present. */
bool gzip_group_work(struct gzip_group *group);

enum gzip_group_event {
    GZIP_GROUP_DATA,
    GZIP_GROUP_ENDED,   /* all members are complete and their checksums are right */
    GZIP_GROUP_GAVE_UP, /* what was read is right, as far as it is decoded */
};

/* Reads the next bytes of the file, at least 1 and at most `capacity`, in order. */
enum gzip_group_event gzip_group_read(struct gzip_group *group, char *data, size_t capacity,
                                      size_t *bytes);

#endif
