/* Presents all inputs as one stream: assigns input to threads, keeps the order, finds the end. */
#include "config.h"

#include "input/source.h"

#include "input/first_block.h"
#include "input/gzip_group.h"
#include "input/parts.h"
#include "input/reader.h"
#include "input/relay.h"
#include "input/stream.h"
#include "lib/clock.h"
#include "lib/digest.h"
#include "lib/resources.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Size of the buffer of source_read_file. */
#define SOURCE_FILE_BUFFER_BYTES ((size_t)64 << 10)

/*
 * Another thread is useful for a pipe if nobody reads it for more than this share of the time, in
 * percent, whether or not pulls wait for the writer: a writer that blocks on a full pipe always
 * lets the next pull run dry. Seconds for 2 GB of int32 on 16 Sapphire Rapids cores with buffers of
 * 128, 256 and 512 KiB and 1 MiB (cat | wc -c: 1.1): 5M bins 1.43 1.20 1.24 1.28 (before, with one
 * thread, 3.8 to 4.4), uniq 1.45 1.26 1.21 1.79; 2.6 GB of text (cat | cat: 1.46) into 5M bins 2.03
 * 1.88 1.83 1.59. If no CPU is left beside the writer's, another thread slows down the others: on
 * two Zen 4 cores, a second thread took 1.15 times as long for 256 bins and 1.14 times for the sum
 * of text, where nobody reads the pipe for 8% and 29% of the time, but 0.64 times for uniq.
 */
#define SOURCE_UNREAD_SPARE 10 /* with a CPU to spare */
#define SOURCE_UNREAD_FULL  40
#define SOURCE_UNREAD_PULLS 16 /* number of pulls per measurement */

/* Time for which a pull collects the small pieces of a slow writer. */
#define SOURCE_GATHER_SECONDS 0.02

/*
 * Files up to this size are read in order, not claimed in ranges. Thus files in /proc and /sys,
 * which report a size of 0 or of a page, 64 KiB at most, are read to their end, and many small
 * files share a chunk.
 */
#define SOURCE_SMALL_BYTES 65536

/* Number of bytes read at first to find the end of a row of CSV that extends beyond a range. */
#define SOURCE_FINISH_BYTES ((size_t)4096)

/*
 * Number of compressed files that are opened ahead for each thread that pulls, so that the longest
 * can be begun first.
 */
#define SOURCE_FILES_AHEAD 2

/*
 * Minimum number of threads that decode one gzip file together: they need about twice the CPU time
 * of a single thread (2.2 times for a log on Zen 4). And the memory for each of them, which the
 * memory plan does not include.
 */
#define SOURCE_GROUP_THREADS 4
#define SOURCE_GROUP_MEMORY  ((uint64_t)128 << 20)

/* The inputs as they were when the source was opened. */
struct source_origin {
    uint64_t size;      /* the sum of the sizes; SOURCE_SIZE_UNKNOWN: not all are regular files */
    off_t stdin_offset; /* standard input's; -1: not an input, or not a regular file */
    uint64_t digest;    /* digest of identity, size and modification time of all files */
};

struct source {
    char *const *names;
    size_t count;
    unsigned processors;
    struct record_format format; /* this and the next three are constant once pulling has begun */
    struct reader_options reading;
    struct source_options options;
    uint64_t size;            /* size of the stream, or SOURCE_SIZE_UNKNOWN */
    struct parts *parts;      /* owned; NULL: nothing may be divided */
    struct gzip_group *group; /* owned; NULL: several threads do not decode one gzip file */
    unsigned threads;
    struct source_origin origin;
    int wake[2];                      /* a pipe: readable once the source is stopped */
    atomic_bool stopped;              /* nothing more is read in order */
    atomic_uint_least64_t stop;       /* input at and after this position is not needed */
    atomic_bool is_decoding;          /* compressed input was found */
    atomic_uint_least64_t bytes_read; /* bytes read from files, without those only inspected */
    atomic_size_t tabbed;             /* the first file whose header has tabs; or SIZE_MAX */
    atomic_bool is_divided;           /* a file was added to the parts */
    atomic_bool has_ended;            /* everything outside the parts was read */
    atomic_bool is_unread;            /* at the last measurement, nobody read the pipe too long */
    atomic_uint waiting;              /* number of threads that wait for the lock to pull */
    atomic_uintptr_t decoder;         /* the thread that decodes an input in order; 0: none yet */

    _Atomic(struct reader_header *) header; /* the first input's; NULL: not read; owned */

    struct relay relay; /* its lock is taken without others, or last */

    pthread_mutex_t ticket_lock;     /* CSV: guards the next four; taken without others, or last */
    pthread_cond_t turned;           /* signalled when the next three change */
    uint64_t ticket;                 /* number of ranges that were scanned, in order */
    enum text_scan_state turn_state; /* the state at the start of the next range */
    uint64_t turn_sequence;          /* the sequence number of the next chunk */

    pthread_mutex_t lock;    /* guards the members below */
    bool waited;             /* this pull found the pipe empty and had to wait */
    double pull_begins;      /* when this pull began, as clock_seconds */
    double pull_ends;        /* when the last pull ended */
    bool was_awaited;        /* at pull_ends, another thread waited to pull */
    unsigned pulls;          /* number of pulls measured so far */
    double unread_seconds;   /* the time between these pulls in which nobody waited to pull */
    double measured_seconds; /* the whole time of these pulls */
    uint64_t ranges_bytes;   /* number of bytes claimed of plain files */
    size_t opened;           /* number of names opened so far */
    struct input *file;      /* the file whose ranges from `next` on can be claimed; or NULL */
    off_t next;
    off_t end;                 /* the end of the wanted part of `file` */
    enum text_row_end row_end; /* the ends of rows of `file` */
    uint64_t ranges;           /* number of ranges claimed of all files */
    bool is_reading;           /* `reader` is in use: an input is read in order */
    bool may_divide;           /* the input was just opened, and at most inspected */
    struct reader reader;
    struct stream stream;
    uint64_t sequence; /* the sequence number of the next chunk */
    uint64_t divided;  /* number of positions of divided files after this chunk */
};

/* A range of a regular file that a thread has claimed and will read without the lock. */
struct source_range {
    struct input *input;
    off_t offset;
    size_t bytes; /* length of the range; 0: nothing claimed */
    enum text_row_end row_end;
    uint64_t number; /* 0, 1, 2, ... through all files */
};

/* A pull in progress. */
struct source_pull {
    struct stream_chunk chunk;
    bool wait;
    struct source_range range; /* the range to read after chunk.whole */
};

enum status source_open(struct source **source, char *const *names, size_t count,
                        const struct source_options *options, struct failure *failure)
{
    const struct reader_options decoding = {.kinds = DECODER_COMPRESSED};
    struct source_origin origin = {.stdin_offset = -1};

    for (size_t i = 0; i < count; i++) {
        const char *name = names[i];
        const bool is_stdin = input_name(name) == input_stdin_name;
        struct stat info;
        if ((is_stdin ? fstat(STDIN_FILENO, &info) : stat(name, &info)) != 0)
            return input_fail(failure, input_name(name), strerror(errno));
        if (S_ISDIR(info.st_mode))
            return input_fail(failure, input_name(name), strerror(EISDIR));
        if (!is_stdin && faccessat(AT_FDCWD, name, R_OK, AT_EACCESS) != 0)
            return input_fail(failure, input_name(name), strerror(errno));

        off_t offset = is_stdin && S_ISREG(info.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
        if (offset >= 0)
            origin.stdin_offset = offset;
        const off_t start = offset >= 0 ? offset : 0;
        if (!S_ISREG(info.st_mode))
            origin.size = SOURCE_SIZE_UNKNOWN;
        else if (origin.size != SOURCE_SIZE_UNKNOWN && info.st_size > start)
            origin.size += (uint64_t)(info.st_size - start);
        const uint64_t words[] = {
            (uint64_t)info.st_dev,         (uint64_t)info.st_ino,          (uint64_t)info.st_size,
            (uint64_t)info.st_mtim.tv_sec, (uint64_t)info.st_mtim.tv_nsec,
        };
        for (size_t word = 0; word < sizeof words / sizeof *words; word++)
            origin.digest = digest_add(origin.digest, words[word]);
    }
    struct source *new = calloc(1, sizeof *new);
    if (!new || pipe2(new->wake, O_CLOEXEC) != 0) {
        free(new);
        return status_fail(failure, STATUS_DATA, "cannot open the input: %s", strerror(errno));
    }
    new->names = names;
    new->count = count;
    new->processors = resources_at_start()->processors;
    new->format.element_bytes = 1;
    new->stop = UINT64_MAX;
    new->stream.format = &new->format;
    new->tabbed = SIZE_MAX;
    new->options = *options;
    new->reading = (struct reader_options){
        .kinds = options->kinds,
        .row_end = options->row_end,
        .memory_limit = options->memory_limit,
        .holds_frames = options->holds_frames,
        .wake = new->wake[0],
        .bytes_read = &new->bytes_read,
        .tabbed = &new->tabbed,
        .header = &new->header,
    };
    new->size = origin.size;
    new->origin = origin;
    const bool decodes = options->kinds & DECODER_COMPRESSED;
    for (size_t i = 0; decodes && i < count && new->size != SOURCE_SIZE_UNKNOWN; i++) {
        const struct decoder_format *format = NULL;
        struct failure ignored; /* a file that cannot be read is reported later */
        struct input *input;
        if (input_open(&input, names[i], &ignored) != STATUS_OK)
            continue;
        if (input->is_regular && reader_detect(&decoding, input, &format, &ignored) == STATUS_OK &&
            format)
            new->size = SOURCE_SIZE_UNKNOWN; /* the decoded size differs */
        input_release(input);
    }
    relay_init(&new->relay, new->size == SOURCE_SIZE_UNKNOWN ? 1 : UINT_MAX);
    pthread_mutex_init(&new->ticket_lock, NULL);
    pthread_cond_init(&new->turned, NULL);
    pthread_mutex_init(&new->lock, NULL);
    *source = new;
    return STATUS_OK;
}

/* Ends the reading of the current input. */
static void source_close_current(struct source *source)
{
    if (source->is_reading)
        reader_close(&source->reader);
    source->is_reading = false;
}

/* Returns whether there is a current input, or one to come. The lock is held. */
static bool source_has_input(const struct source *source)
{
    return source->is_reading || source->file || source->opened < source->count;
}

struct source_sizes source_sizes(const struct source *source)
{
    return (struct source_sizes){.stream = source->size, .files = source->origin.size};
}

struct source_progress source_progress(const struct source *source)
{
    return (struct source_progress){
        .file_bytes = atomic_load_explicit(&source->bytes_read, memory_order_relaxed),
        .is_decoding = atomic_load_explicit(&source->is_decoding, memory_order_relaxed),
        .is_unread = atomic_load_explicit(&source->is_unread, memory_order_relaxed),
    };
}

/* Opens the next input, and begins to read it in order. */
static enum status source_open_next(struct source *source, struct failure *failure)
{
    const struct decoder_format *format = NULL;
    struct input *input;

    source->stream.origin = (struct chunk_origin){.name = source->stream.origin.name};
    if (input_open(&input, source->names[source->opened], failure) != STATUS_OK)
        return failure->status;
    input->number = source->opened++;
    if (input->is_regular &&
        reader_detect(&source->reading, input, &format, failure) != STATUS_OK) {
        input_release(input);
        return failure->status;
    }
    reader_open(&source->reader, &source->reading, input, format);
    reader_set_records(&source->reader, &source->format, &source->stream.rules);
    source->is_reading = true;
    source->may_divide =
        input->is_regular && (format || input->size - input->start > SOURCE_SMALL_BYTES);
    return STATUS_OK;
}

enum status source_look_array(struct source *source, struct npy *array, bool *is_array,
                              const char **name, struct failure *failure)
{
    struct input_piece piece = {.wait = true};
    enum input_event event = INPUT_END;

    *is_array = false;
    source->reading.kinds &= ~(unsigned)DECODER_ARRAY;
    if (source_has_input(source) && source_open_next(source, failure) != STATUS_OK)
        return failure->status;
    if (source->is_reading) {
        *name = source->reader.input->name;
        event = reader_look_array(&source->reader, &piece, array, is_array, failure);
    }
    if (!*is_array)
        source->reading.kinds = source->options.kinds;
    return event == INPUT_ERROR ? failure->status : STATUS_OK;
}

enum status source_look(struct source *source, bool *is_text, char note[SOURCE_NOTE_SIZE],
                        struct failure *failure)
{
    struct reader *reader = &source->reader;
    const struct reader_ahead *block = &reader->plain;
    enum input_event event;
    char advice[FIRST_BLOCK_ADVICE_SIZE];

    *is_text = true;
    note[0] = '\0';
    for (;;) {
        struct input_piece piece = {.wait = true};
        if (!source_has_input(source))
            return STATUS_OK; /* all files are empty */
        if (!source->is_reading && source_open_next(source, failure) != STATUS_OK)
            return failure->status;
        if (source->format.is_text && reader_begin(reader, &piece, failure) == INPUT_ERROR)
            return failure->status; /* the names of fields were looked up */
        event = reader_look(reader, false, failure);
        if (block->end > 0 || source->format.is_text)
            break;
        if (event == INPUT_ERROR)
            return failure->status;
        source_close_current(source);
    }
    const char *name = reader->input->name;
    if (source->format.is_text) {
        if (first_block_splits_quotes(&source->stream.rules, block->data + block->begin,
                                      block->end - block->begin))
            snprintf(note, SOURCE_NOTE_SIZE,
                     "note: %.300s has quoted fields, which -d splits (try --csv)", name);
        return STATUS_OK;
    }
    *is_text = text_is_text(block->data, block->end, event == INPUT_END);
    if (!*is_text && source->options.kinds & DECODER_REFUSED &&
        first_block_has_nuls(block->data, block->end))
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME ": numbers with NULs after them: give -z, or --binary if it "
                                       "is not text",
                           name);
    if (*is_text)
        first_block_advise_text(block->data, block->end, advice);
    else
        first_block_advise_binary(name, block->data, block->end, advice);
    if (*advice)
        snprintf(note, SOURCE_NOTE_SIZE, "note: reading %s%.300s%s; %s",
                 *is_text ? "every word of " : "", name, *is_text ? "" : " as i32le", advice);
    const char *encoding = *is_text ? NULL : text_find_encoding(block->data, block->end);
    if (!encoding)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       STATUS_NAME ": text in %s, which is not supported: convert it "
                                   "(iconv -f %s -t UTF-8), or give --binary if it is not text",
                       name, encoding, encoding);
}

enum status source_copy_first(struct source *source, int *copy, struct failure *failure)
{
    const struct reader_ahead *block = &source->reader.plain;
    char note[SOURCE_NOTE_SIZE];
    bool is_text;

    *copy = -1;
    if (source_look(source, &is_text, note, failure) != STATUS_OK)
        return failure->status;
    /* An error after some rows occurs again once these have been counted. */
    const enum input_event event =
        source->is_reading ? reader_look(&source->reader, true, failure) : INPUT_END;
    const char *data = source->is_reading ? block->data + block->begin : "";
    size_t bytes = source->is_reading ? block->end - block->begin : 0;
    for (const char *ends = "\n\r"; event != INPUT_END; ends++) { /* whole rows */
        const char *end = memrchr(data, *ends, bytes);
        bytes = end ? (size_t)(end - data) + 1 : bytes;
        if (end || *ends == '\0')
            break;
    }
    *copy = memfd_create(input_stdin_name, MFD_CLOEXEC);
    ssize_t n = 0;
    for (size_t done = 0; *copy >= 0 && done < bytes && n >= 0; done += (size_t)n) {
        n = write(*copy, data + done, bytes - done);
        n = n < 0 && errno == EINTR ? 0 : n;
    }
    if (*copy >= 0 && n >= 0)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "cannot copy the first block: %s", strerror(errno));
}

void source_set_format(struct source *source, const struct record_format *format, bool divides,
                       unsigned threads)
{
    source->format = *format;
    source->threads = threads;
    if (threads >= SOURCE_GROUP_THREADS && !source->options.holds_frames &&
        resources_at_start()->memory / threads >= SOURCE_GROUP_MEMORY)
        source->group = gzip_group_create(threads, &source->relay);
    if (divides && source->origin.size != SOURCE_SIZE_UNKNOWN) /* the source can be repeated */
        source->parts = parts_create(&source->format, &source->reading, &source->relay);
    if (format->has_arrays)
        source->reading.kinds &= ~(unsigned)DECODER_ARRAY;
    source->stream.rules = format->text;
    if (source->is_reading) /* an input was opened to be inspected */
        reader_set_records(&source->reader, &source->format, &source->stream.rules);
}

void source_close(struct source *source)
{
    if (!source)
        return;
    if (source->parts)
        parts_destroy(source->parts);
    source_close_current(source);
    if (source->group)
        gzip_group_destroy(source->group);
    if (source->file)
        input_release(source->file);
    free(source->stream.carry);
    free(atomic_load(&source->header));
    close(source->wake[0]);
    close(source->wake[1]);
    pthread_mutex_destroy(&source->lock);
    pthread_mutex_destroy(&source->ticket_lock);
    pthread_cond_destroy(&source->turned);
    relay_destroy(&source->relay);
    free(source);
}

enum status source_read_file(const char *name, source_take *take, void *context,
                             struct failure *failure)
{
    const struct source_options options = {.kinds = 0};
    char *names[] = {(char *)name}; /* a source takes argv's type, and changes nothing */
    struct source *source = NULL;
    struct chunk chunk = {.bytes = 1};
    struct chunk_buffer buffer = {
        .data = malloc(SOURCE_FILE_BUFFER_BYTES),
        .capacity = SOURCE_FILE_BUFFER_BYTES,
    };
    if (!buffer.data)
        return status_fail(failure, STATUS_DATA, "not enough memory for reading " STATUS_NAME,
                           strcmp(name, "-") == 0 ? "standard input" : name);

    enum status status = source_open(&source, names, 1, &options, failure);
    while (status == STATUS_OK && chunk.bytes > 0) {
        status = source_pull(source, &buffer, &chunk, failure);
        if (status == STATUS_OK)
            status = take(context, chunk.data, chunk.bytes, failure);
    }
    source_close(source);
    free(buffer.data);
    return status;
}

enum status source_repeat(struct source **source, struct failure *failure)
{
    bool divides = (*source)->parts && !source_needs_order(*source);
    const struct source before = {
        .names = (*source)->names,
        .count = (*source)->count,
        .options = (*source)->options,
        .format = (*source)->format,
        .threads = (*source)->threads,
        .origin = (*source)->origin,
    };

    if (before.origin.size == SOURCE_SIZE_UNKNOWN)
        return status_fail(failure, STATUS_DATA, "not all inputs are regular files");
    source_close(*source); /* first, since it may share its offset in standard input */
    *source = NULL;
    if (before.origin.stdin_offset >= 0)
        lseek(STDIN_FILENO, before.origin.stdin_offset, SEEK_SET); /* cannot fail, as in input.c */
    if (source_open(source, before.names, before.count, &before.options, failure) != STATUS_OK)
        return failure->status;
    if ((*source)->origin.digest != before.origin.digest) {
        source_close(*source);
        *source = NULL;
        return status_fail(failure, STATUS_DATA, "the input has changed since it was first read");
    }
    source_set_format(*source, &before.format, divides, before.threads);
    return STATUS_OK;
}

bool source_join(struct source *source)
{
    return relay_join(&source->relay);
}

void source_leave(struct source *source)
{
    relay_leave(&source->relay);
}

void source_stop(struct source *source, uint64_t position)
{
    uint64_t before = atomic_load(&source->stop);

    while (position < before && !atomic_compare_exchange_weak(&source->stop, &before, position))
        continue;
    if (source->parts)
        parts_stop(source->parts, position);
    if (!atomic_exchange(&source->stopped, true)) {
        ssize_t n = write(source->wake[1], "", 1); /* an empty pipe takes a byte */
        (void)n;
        relay_let_join(&source->relay, 0);
    }
    relay_notify(&source->relay, true);
}

const char *source_tabbed_file(const struct source *source)
{
    const size_t number = atomic_load(&source->tabbed);
    return number < source->count ? input_name(source->names[number]) : NULL;
}

bool source_copy_name(const struct source *source, int32_t field, char **name)
{
    const struct reader_header *header = atomic_load(&source->header);

    *name = NULL;
    return !header ||
           record_copy_name(&source->format.text, header->line, header->bytes, field, name);
}

bool source_needs_order(const struct source *source)
{
    return source->parts && parts_needs_order(source->parts);
}

uint64_t source_position(const struct source *source)
{
    return source->stream.position;
}

enum status source_check(const struct source *source, uint64_t counted, struct failure *failure)
{
    uint64_t read = source->stream.taken + source->ranges_bytes;

    if (atomic_load(&source->stopped))
        return STATUS_OK; /* the last chunk was dropped */
    read += source->parts ? parts_bytes(source->parts) : 0;
    if (read == counted)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "internal error: %llu bytes were read, %llu counted",
                       (unsigned long long)read, (unsigned long long)counted);
}

/* --- opening inputs; the lock is held -------------------------------------------------------- */

/*
 * Begins to read the file with a worker group, if it has gzip format and is so large a part of the
 * input that other threads would wait for a single decoding thread. Returns whether it has begun.
 */
static bool source_begin_group(struct source *source)
{
    struct reader *reader = &source->reader;
    struct input *input = reader->input;
    const struct decoder_format *format = reader->format;
    const uint64_t bytes = (uint64_t)(input->size - input->start);

    if (!source->group || !decoder_is_deflate(format) ||
        source->origin.size == SOURCE_SIZE_UNKNOWN ||
        bytes < source->origin.size / source->threads * 2 ||
        !gzip_group_begin(source->group, input, format, &source->bytes_read))
        return false;
    atomic_fetch_sub(&source->bytes_read, (uint64_t)(lseek(input->fd, 0, SEEK_CUR) - input->start));
    if (input->fd == STDIN_FILENO)
        lseek(STDIN_FILENO, 0, SEEK_END); /* other processes then see it as read */
    input_hold(input);
    source_close_current(source);
    reader_open_group(reader, &source->reading, input, format, source->group);
    reader_set_records(reader, &source->format, &source->stream.rules);
    source->is_reading = true;
    relay_let_join(&source->relay, UINT_MAX);
    relay_notify(&source->relay, true);
    return true;
}

/*
 * After an input was opened: adds a compressed file to the parts, or allows threads to claim ranges
 * of a large plain file after its header, and ends reading in order.
 */
static enum status source_divide_input(struct source *source, const struct source_pull *pull,
                                       struct failure *failure)
{
    struct stream *stream = &source->stream;
    struct reader *reader = &source->reader;
    struct input *input = reader->input;
    struct input_piece piece = {.wait = true};

    source->may_divide = false;
    if (reader->format) {
        atomic_store(&source->is_decoding, true);
        if (source_begin_group(source))
            return STATUS_OK;
        if (!source->parts || pull->chunk.filled > pull->chunk.whole || stream->carry_bytes > 0)
            return STATUS_OK; /* a record extends over the file's start */
        input_hold(input);
        source->divided =
            parts_add(source->parts, input, reader->format, stream->position + pull->chunk.filled);
        if (source->divided == 0) {
            input_release(input);
            return STATUS_OK;
        }
        atomic_store_explicit(&source->is_divided, true, memory_order_release);
    } else {
        if (reader_begin(reader, &piece, failure) == INPUT_ERROR)
            return failure->status;
        input_hold(input);
        const uint64_t skipped = reader->columns_before + reader->columns_after;
        source->file = input;
        source->next = input->start + (off_t)(reader->header_bytes + reader->columns_before);
        source->end = input->size - (off_t)reader->columns_after;
        source->row_end = reader->row_end;
        pthread_mutex_lock(&source->ticket_lock); /* all ranges of the files before are scanned */
        source->turn_state = TEXT_SCAN_ROW;
        source->turn_sequence = source->sequence;
        pthread_mutex_unlock(&source->ticket_lock);
        stream->left_out += reader->header_bytes + skipped;
        atomic_fetch_add(&source->bytes_read, skipped);
    }
    /* Bytes that were read ahead will be read again, except the header. */
    const uint64_t read = (uint64_t)(lseek(input->fd, 0, SEEK_CUR) - input->start);
    atomic_fetch_sub(&source->bytes_read, read - (reader->format ? 0 : reader->header_bytes));
    if (reader->format && input->fd == STDIN_FILENO)
        lseek(STDIN_FILENO, 0, SEEK_END); /* other processes then see it as read */
    source_close_current(source);
    return STATUS_OK;
}

/* --- claiming ranges of regular files; the lock is held -------------------------------------- */

/*
 * Returns the length of the whole lines, also of CSV, or tokens in the next `bytes` bytes of the
 * file; 0 if the first one is longer, or if they cannot be read.
 */
static size_t source_cut_range(const struct source *source, size_t bytes)
{
    char block[4096];
    size_t end = bytes;

    while (end > 0) {
        size_t n = end < sizeof block ? end : sizeof block;
        ssize_t got = input_read_at(source->file->fd, block, n, source->next + (off_t)(end - n));
        if (got < 0)
            return 0;
        if ((size_t)got < n)
            return bytes; /* reading the range will report the error */
        reader_end_rows(source->row_end, block, n);
        size_t cut = record_cut(&source->format, block, 0, n, NULL);
        if (cut > 0)
            return end - n + cut;
        end -= n;
    }
    return 0;
}

/*
 * Claims a range that ends with a whole record when it is read after the filled bytes of the
 * buffer; *is_claimed is false if there is none. The rest must then be read in order: part of an
 * element, a line that is too long or lacks memory, or bytes by which the file has grown. Fails
 * with STATUS_ENGINE like the buffer's `grow`.
 */
static enum status source_claim(struct source *source, struct source_pull *pull, bool *is_claimed,
                                struct failure *failure)
{
    const struct record_format *format = &source->format;
    uint64_t left = source->end > source->next ? (uint64_t)(source->end - source->next) : 0;
    struct chunk_buffer *buffer = pull->chunk.buffer;
    size_t capacity = pull->chunk.limit - pull->chunk.filled;
    size_t bytes = left < capacity ? (size_t)left : capacity;

    if (format->is_text) { /* even at the end: the last line may still be growing */
        bytes = source_cut_range(source, bytes);
        while (bytes == 0 && left > capacity && capacity < CHUNK_ROW_BYTES_MAX && buffer->grow) {
            const enum status status = buffer->grow(buffer, chunk_grown_bytes(capacity), failure);
            if (status == STATUS_ENGINE)
                return status;
            if (status != STATUS_OK)
                break;
            pull->chunk.limit = capacity = buffer->capacity;
            bytes = source_cut_range(source, left < capacity ? (size_t)left : capacity);
        }
    } else {
        size_t cut_off = (pull->chunk.filled + bytes) % format->element_bytes;
        bytes = bytes > cut_off ? bytes - cut_off : 0;
    }
    *is_claimed = bytes > 0;
    if (bytes == 0)
        return STATUS_OK;
    pull->range = (struct source_range){
        .input = source->file,
        .offset = source->next,
        .bytes = bytes,
        .row_end = source->row_end,
        .number = source->ranges++,
    };
    source->next += (off_t)bytes;
    source->ranges_bytes += bytes;
    input_hold(source->file);
    return STATUS_OK;
}

/*
 * Begins to read in order the rest of the file whose ranges were claimed. In CSV, waits until all
 * ranges are scanned.
 */
static void source_end_ranges(struct source *source)
{
    struct stream *stream = &source->stream;
    struct input *file = source->file;

    if (source->format.is_text && source->format.text.is_quoted) {
        pthread_mutex_lock(&source->ticket_lock);
        while (source->ticket < source->ranges)
            pthread_cond_wait(&source->turned, &source->ticket_lock);
        stream->is_skipping = source->turn_state == TEXT_SCAN_INSIDE;
        stream->skip_state = source->turn_state;
        source->sequence = source->turn_sequence;
        pthread_mutex_unlock(&source->ticket_lock);
    }
    const bool is_array = source->format.has_arrays; /* bytes after an array are an error */
    source->next = is_array ? file->size : source->next;
    lseek(file->fd, source->next, SEEK_SET); /* cannot fail: reading there has not */
    /* The lines before are not counted yet. */
    stream->origin = (struct chunk_origin){
        .name = stream->origin.name,
        .offset = (uint64_t)source->next,
        .start = (uint64_t)file->start,
    };
    reader_open(&source->reader, &source->reading, file, NULL);
    source->reader.row_end = source->row_end;
    source->reader.has_array = is_array;
    source->is_reading = true;
    source->file = NULL;
}

/* --- a pull ---------------------------------------------------------------------------------- */

/*
 * Reads the next bytes to the buffer after the filled bytes, or claims a range to read there, which
 * chunk.filled does not include. The lock is held.
 */
static enum status source_fill(struct source *source, struct source_pull *pull,
                               struct failure *failure)
{
    struct stream_chunk *chunk = &pull->chunk;
    struct stream *stream = &source->stream;
    struct reader *reader = &source->reader;
    enum status status = STATUS_OK;
    bool is_done = false;

    while (status == STATUS_OK && !is_done && chunk->filled < chunk->limit &&
           !atomic_load(&source->stopped)) {
        if (source->waited && chunk->whole > 0 &&
            clock_seconds() - source->pull_begins > SOURCE_GATHER_SECONDS)
            break; /* it has collected the pieces of a slow writer for long enough */
        if (stream->carry_bytes > 0) {
            status = stream_take_carry(stream, chunk, failure);
        } else if (source->is_reading && source->may_divide) {
            status = source_divide_input(source, pull, failure);
        } else if (source->is_reading) {
            struct input_piece piece = {
                .data = chunk->buffer->data + chunk->filled,
                .capacity = chunk->limit - chunk->filled,
                .wait = pull->wait && chunk->whole == 0,
            };
            const enum input_event event = reader_read(reader, &piece, failure);
            source->waited |= piece.has_waited;
            if (piece.bytes > 0)
                stream->origin.name = reader->input->name;
            stream_count_header(stream, reader);
            if (reader->format)
                atomic_store(&source->is_decoding, true);
            if (event == INPUT_ERROR)
                return failure->status;
            is_done = event == INPUT_EMPTY;
            if (event == INPUT_END) {
                source_close_current(source);
                stream->is_skipping = false;
                is_done = source->format.is_text && chunk->filled > 0;
                if (is_done) /* the end of a file ends its last line */
                    status = stream_end_file(stream, chunk, failure);
            }
            if (piece.bytes > 0 && stream->is_skipping)
                stream_skip(stream, piece.data, &piece.bytes);
            if (piece.bytes > 0)
                status = stream_take(stream, chunk, piece.bytes, failure);
        } else if (source->file) {
            status = source_claim(source, pull, &is_done, failure);
            if (status == STATUS_OK && !is_done)
                source_end_ranges(source);
        } else {
            is_done = source->divided > 0 || source->opened == source->count;
            if (!is_done)
                status = source_open_next(source, failure);
        }
    }
    return status;
}

/*
 * After a pull: determines whether more threads are useful. For a pipe, they are if nobody reads it
 * for too long, unless a thread already waits to pull. The lock is held.
 */
static void source_count_pullers(struct source *source)
{
    if (!source_has_input(source)) {
        if (!atomic_load(&source->is_divided))
            relay_let_join(&source->relay, 0);
        return;
    }
    if (!source->is_reading) {
        relay_let_join(&source->relay, UINT_MAX);
        return;
    }
    if (source->reader.format)
        return;
    const double now = clock_seconds();
    const double gap = source->pulls > 0 ? source->pull_begins - source->pull_ends : 0;
    source->unread_seconds += source->was_awaited ? 0 : gap;
    source->measured_seconds += gap + (now - source->pull_begins);
    source->pull_ends = now;
    source->was_awaited = atomic_load(&source->waiting) > 0;
    if (++source->pulls <= SOURCE_UNREAD_PULLS)
        return;
    const bool is_full =
        relay_threads(&source->relay).wanted >= source->processors - 1; /* one is the writer's */
    const unsigned percent = is_full ? SOURCE_UNREAD_FULL : SOURCE_UNREAD_SPARE;
    const bool is_unread = source->unread_seconds * 100 > source->measured_seconds * percent;
    atomic_store_explicit(&source->is_unread, is_unread, memory_order_relaxed);
    source->pulls = 1;
    source->unread_seconds = source->measured_seconds = 0;
    if (is_unread)
        relay_let_join(&source->relay, 1);
}

/*
 * Makes a chunk of the rows of CSV that begin in a range, of which `bytes` bytes were read; the
 * chunk is empty if there are none. Waits until earlier ranges are scanned, and reads to the end of
 * the last row. If a quote of that row is never closed, fails, and the chunk has the rows before.
 */
static enum status source_take_rows(struct source *source, const struct source_pull *pull,
                                    size_t bytes, struct chunk *chunk, struct failure *failure)
{
    const struct source_range *range = &pull->range;
    const struct text_rules *rules = &source->format.text;
    struct chunk_buffer *buffer = pull->chunk.buffer;
    enum text_scan_state state = TEXT_SCAN_ROW;
    size_t row = text_scan_last(rules, buffer->data, bytes, &state); /* the last row's start */
    size_t begin = 0;                                                /* the first row's start */
    size_t end = bytes;
    enum status status = STATUS_OK;

    pthread_mutex_lock(&source->ticket_lock);
    while (source->ticket < range->number)
        pthread_cond_wait(&source->turned, &source->ticket_lock);
    if (source->turn_state == TEXT_SCAN_INSIDE) { /* else a row begins, since a line does */
        state = TEXT_SCAN_INSIDE;
        row = text_scan_last(rules, buffer->data, bytes, &state);
        begin = text_scan_first(rules, buffer->data, bytes, TEXT_SCAN_INSIDE);
        begin = begin > 0 ? begin : bytes;
    }
    const bool is_short = bytes < range->bytes;
    const bool is_empty = begin == bytes && !is_short;
    chunk->sequence = source->turn_sequence;
    source->turn_sequence += !is_empty;
    source->turn_state = state;
    source->ticket++;
    pthread_cond_broadcast(&source->turned);
    pthread_mutex_unlock(&source->ticket_lock);

    if (is_short)
        end = row > begin ? row : begin;
    bool is_open = state == TEXT_SCAN_INSIDE && !is_empty && !is_short;
    for (size_t wanted = SOURCE_FINISH_BYTES; is_open && status == STATUS_OK; wanted *= 2) {
        const struct chunk_origin origin = {
            .name = range->input->name,
            .offset = (uint64_t)range->offset + row,
            .start = (uint64_t)range->input->start,
            .row_end = range->row_end,
        };
        if (end == buffer->capacity)
            status = stream_grow(rules, &origin, buffer, row, end, failure);
        const size_t space = buffer->capacity - end;
        char *next = buffer->data + end;
        ssize_t n = 0;
        if (status == STATUS_OK)
            n = input_read_at(range->input->fd, next, space < wanted ? space : wanted,
                              range->offset + (off_t)end);
        if (n < 0)
            status = input_fail(failure, range->input->name, strerror(errno));
        if (status == STATUS_OK && n == 0 && state == TEXT_SCAN_INSIDE)
            status = stream_fail_row(rules, &origin, buffer->data + row, end - row, NULL, failure);
        if (status != STATUS_OK || n == 0)
            break; /* the end of the file ends the row */
        reader_end_rows(range->row_end, next, (size_t)n);
        const size_t found = text_scan(rules, next, (size_t)n, &state).first; /* sets `state` */
        end += found > 0 ? found : (size_t)n;
        is_open = found == 0;
    }
    if (status != STATUS_OK) {
        failure->position = chunk->position + row;
        end = row;
    }
    chunk->data = buffer->data + begin;
    chunk->bytes = end - begin;
    chunk->position += begin;
    chunk->origin.offset += begin;
    return status;
}

/*
 * Reads the claimed range to the buffer, completes the chunk with it, and releases the range. Fails
 * if the file has become shorter. The lock is neither held nor taken: the thread that holds it may
 * be waiting for later input.
 */
static enum status source_read_range(struct source *source, const struct source_pull *pull,
                                     struct chunk *chunk, struct failure *failure)
{
    const struct source_range *range = &pull->range;
    char *data = pull->chunk.buffer->data;
    size_t good = pull->chunk.whole;
    const size_t end = good + range->bytes;
    const uint64_t position = chunk->position;
    enum status status = STATUS_OK;
    ssize_t n = 1;

    while (good < end && n > 0) {
        n = input_read_at(range->input->fd, data + good, end - good,
                          range->offset + (off_t)(good - pull->chunk.whole));
        good += n > 0 ? (size_t)n : 0;
    }
    atomic_fetch_add_explicit(&source->bytes_read, range->bytes, memory_order_relaxed);
    if (range->row_end != TEXT_ENDS_LF)
        reader_end_rows(range->row_end, data, good);
    if (source->format.is_text && source->format.text.is_quoted)
        status = source_take_rows(source, pull, good, chunk, failure);
    else if (good < end)
        chunk->bytes = record_cut(&source->format, data, 0, good, NULL);
    if (good < end)
        status = status_fail_at(failure, position + good, STATUS_DATA, STATUS_NAME ": %s",
                                range->input->name,
                                n < 0 ? strerror(errno) : "the file shrank while it was read");
    if (status != STATUS_OK) {
        chunk->is_cut = true;
        source_stop(source, failure->position);
    }
    input_release(range->input);
    return status;
}

/* Returns the number of parts that threads have begun. */
static unsigned source_count_taken(const struct source *source)
{
    return source->parts ? (unsigned)parts_count(source->parts).taken : 0;
}

/* The events that a pull waits for. */
enum source_wait {
    SOURCE_WAITS,          /* another thread that reads, and data */
    SOURCE_WAITS_FOR_DATA, /* only data */
    SOURCE_TRIES,          /* none */
};

/*
 * Completes a pull that has read or claimed: makes the chunk and advances the stream. Sets *ended
 * at the end of the input, and once the source is stopped. Also fails if the input has ended within
 * an element. The lock is held.
 */
static enum status source_end_pull(struct source *source, struct source_pull *pull,
                                   enum status status, struct chunk *chunk, bool *ended,
                                   struct failure *failure)
{
    const struct record_format *format = &source->format;
    const struct source_range *range = &pull->range;
    struct stream *stream = &source->stream;
    size_t fault = pull->chunk.filled;

    if (range->bytes > 0) { /* a kept start of an element belongs to the first element */
        pull->chunk.whole = pull->chunk.filled;
    } else if (status == STATUS_OK) {
        fault = pull->chunk.whole;
        status = stream_keep(stream, &pull->chunk, failure);
    }
    const size_t rest = stream->carry_bytes;
    if (status == STATUS_OK && range->bytes == 0 && pull->chunk.whole == 0 && rest > 0 &&
        !source_has_input(source) && !atomic_load(&source->stopped))
        status =
            status_fail(failure, STATUS_DATA,
                        STATUS_NAME ": truncated input: %zu byte%s left after the last %zu-byte %s",
                        stream->origin.name, rest, rest == 1 ? "" : "s", format->element_bytes,
                        format->has_records ? "record" : "element");
    const bool is_cut = status != STATUS_OK;
    if (is_cut)
        failure->position = stream->position + fault;

    const bool is_dropped =
        range->bytes == 0 && !is_cut && stream->position >= atomic_load(&source->stop);
    const uint64_t line = stream->origin.line;
    stream_end(stream, &pull->chunk, is_dropped, is_cut, chunk);
    chunk->sequence = source->sequence;
    if (range->bytes > 0) {
        chunk->bytes += range->bytes;
        chunk->origin = (struct chunk_origin){
            .name = range->input->name,
            .offset = (uint64_t)range->offset,
            .start = (uint64_t)range->input->start,
            .row_end = range->row_end,
        };
        stream->position += range->bytes;
        stream->origin.line = line;
    }
    chunk->left_out = chunk->bytes > 0 || !source_has_input(source) ? stream->left_out : 0;
    stream->left_out -= chunk->left_out;
    stream->position += source->divided;
    source->divided = 0;
    source->sequence += chunk->bytes > 0 || is_cut;
    source_count_pullers(source);
    if (is_cut)
        source_stop(source, failure->position); /* before another thread reads beyond the fault */
    const bool is_stopped = atomic_load(&source->stopped);
    *ended = !source_has_input(source) || is_stopped;
    if (*ended && (stream->carry_bytes == 0 || is_stopped)) /* else the next pull fails */
        atomic_store(&source->has_ended, true);
    return status;
}

/*
 * Pulls from the inputs outside the parts. Holding the lock, reads or claims, and completes the
 * chunk; then, without the lock, reads the claimed range. As long as other threads take decoded
 * chunks, this thread hands them over and continues. *chunk is empty at the end of the input, and
 * if nothing can be read at present; *is_busy then says whether another thread has the lock.
 */
static enum status source_pull_inputs(struct source *source, struct chunk_buffer *buffer,
                                      enum source_wait wait, struct chunk *chunk, bool *ended,
                                      bool *is_busy, struct failure *failure)
{
    struct source_pull pull;
    enum status status;
    bool is_handed;

    *chunk = (struct chunk){.bytes = 0};
    *ended = false;
    *is_busy = false;
    if (wait == SOURCE_WAITS) {
        atomic_fetch_add(&source->waiting, 1);
        pthread_mutex_lock(&source->lock);
        atomic_fetch_sub(&source->waiting, 1);
    } else if (pthread_mutex_trylock(&source->lock) != 0) {
        *is_busy = true;
        return STATUS_OK;
    }
    do {
        pull = (struct source_pull){
            .chunk = stream_begin(&source->stream, buffer),
            .wait = wait != SOURCE_TRIES,
        };
        source->pull_begins = clock_seconds();
        source->waited = false;
        status = source_fill(source, &pull, failure);
        status = source_end_pull(source, &pull, status, chunk, ended, failure);
        const bool is_decoded = source->is_reading && source->reader.format;
        atomic_store(&source->decoder, is_decoded ? (uintptr_t)pthread_self() : 0);
        is_handed = is_decoded && chunk->bytes > 0 && status == STATUS_OK && !*ended &&
                    relay_hand(&source->relay, buffer, chunk, 1 + source_count_taken(source));
    } while (is_handed);
    pthread_mutex_unlock(&source->lock);
    if (atomic_load(&source->is_decoding))
        relay_notify(&source->relay, *ended);
    if (status != STATUS_OK || pull.range.bytes == 0)
        return status;
    return source_read_range(source, &pull, chunk, failure);
}

/*
 * Makes the comments in a chunk, which is in the buffer, blank. If columns are selected by name,
 * fails, and cuts the chunk, at a comment whose columns differ from those of the header.
 */
static enum status source_blank_comments(struct source *source, const struct chunk_buffer *buffer,
                                         struct chunk *chunk, struct failure *failure)
{
    const struct record_format *format = &source->format;
    char *data =
        chunk->bytes > 0 ? buffer->data + ((const char *)chunk->data - buffer->data) : NULL;

    if (!format->text.has_comments)
        return STATUS_OK;
    for (size_t begin, end = 0;
         text_scan_next_comment(&format->text, data, chunk->bytes, &begin, &end);) {
        const size_t length = end - begin - (data[end - 1] == '\r');
        if (format->has_names && record_has_columns(data + begin, length) &&
            !record_has_same_columns(format, &chunk->rules, data + begin, length)) {
            struct chunk_origin origin = chunk->origin;
            origin.line += text_count_lines(data, begin);
            chunk->bytes = begin;
            chunk->is_cut = true;
            source_stop(source, chunk->position + begin);
            return status_fail_at(failure, chunk->position + begin, STATUS_DATA,
                                  STATUS_NAME ":%llu: the line names other columns than the header "
                                              "(divide the file before it)",
                                  origin.name, (unsigned long long)reader_find_line(&origin));
        }
        memset(data + begin, ' ', end - begin);
    }
    return STATUS_OK;
}

/*
 * Pulls once compressed input was found. A thread that has begun to decode an input continues with
 * it. The others take chunks from the relay; if there is none, they begin the next input, or
 * continue one whose thread is counting, or else wait. At the end *chunk is empty.
 */
static enum status source_pull_decoded(struct source *source, struct chunk_buffer *buffer,
                                       struct chunk *chunk, struct failure *failure)
{
    struct parts *parts = source->parts;
    bool reads = atomic_load(&source->decoder) == (uintptr_t)pthread_self();
    bool has_part = !reads && parts && parts_has_own(parts);

    for (;;) {
        const uint64_t events = relay_events(&source->relay);
        const bool is_free = !reads && !has_part;
        const size_t ahead = SOURCE_FILES_AHEAD * (size_t)relay_threads(&source->relay).joined;
        enum parts_event event = PARTS_ENDED;
        enum status status = STATUS_OK;
        bool ended = atomic_load(&source->has_ended) || atomic_load(&source->stopped);
        bool is_busy = false;

        *chunk = (struct chunk){.bytes = 0};
        if (is_free)
            status = relay_take(&source->relay, atomic_load(&source->stop), buffer, chunk, failure);
        if (status != STATUS_OK || chunk->bytes > 0)
            return status;
        if (!ended && !has_part && (reads || !parts || parts_count(parts).left < ahead)) {
            status = source_pull_inputs(source, buffer, SOURCE_WAITS_FOR_DATA, chunk, &ended,
                                        &is_busy, failure);
            if (status != STATUS_OK || chunk->bytes > 0)
                return status;
            if (!ended && !is_busy)
                continue; /* a file was added to the parts */
        }
        if (is_free && source->group && gzip_group_work(source->group))
            continue;
        if (parts && !reads)
            event = parts_pull(parts, buffer, chunk, failure);
        if (event == PARTS_FAULT)
            source_stop(source, failure->position);
        if (event == PARTS_FAULT || event == PARTS_CHUNK)
            return event == PARTS_FAULT ? failure->status : STATUS_OK;
        if (is_free && ended && event == PARTS_ENDED && relay_events(&source->relay) == events)
            break;
        if (is_free)
            relay_wait(&source->relay, events);
        reads = has_part = false;
    }
    relay_let_join(&source->relay, 0);
    relay_notify(&source->relay, true); /* the others that wait see the same */
    return STATUS_OK;
}

enum status source_pull(struct source *source, struct chunk_buffer *buffer, struct chunk *chunk,
                        struct failure *failure)
{
    enum status status = STATUS_OK;
    bool ended = false;
    bool is_busy;

    do {
        if (atomic_load(&source->is_decoding)) {
            status = source_pull_decoded(source, buffer, chunk, failure);
            break;
        }
        status = source_pull_inputs(source, buffer, SOURCE_WAITS, chunk, &ended, &is_busy, failure);
        ended = ended && !atomic_load(&source->is_decoding);
    } while (status == STATUS_OK && chunk->bytes == 0 && !ended);
    if (source_blank_comments(source, buffer, chunk, failure) != STATUS_OK)
        status = failure->status; /* before any other fault of the chunk */
    return status;
}

enum status source_try_pull(struct source *source, struct chunk_buffer *buffer, struct chunk *chunk,
                            bool *pulled, struct failure *failure)
{
    bool ended = false;
    bool is_busy;
    enum status status =
        relay_take(&source->relay, atomic_load(&source->stop), buffer, chunk, failure);

    if (status == STATUS_OK && chunk->bytes == 0)
        status = source_pull_inputs(source, buffer, SOURCE_TRIES, chunk, &ended, &is_busy, failure);
    if (source_blank_comments(source, buffer, chunk, failure) != STATUS_OK)
        status = failure->status;
    *pulled = status != STATUS_OK || chunk->bytes > 0 || ended;
    return status;
}
