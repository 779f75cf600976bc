/* Tests input/relay.h through a source: threads share indivisible inputs. */
#include "config.h"

#include "tap.h"

#include "input/source.h"
#include "lib/memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK_BYTES   ((size_t)4096)
#define BLOCK_BYTES   ((size_t)8192)
#define BLOCKS        256
#define CONTENT_BYTES (BLOCKS * BLOCK_BYTES)
#define THREADS_MAX   8
#define FILES_MAX     5

static _Noreturn void bail_out(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(1);
}

/* Counts of reads and of changes of the reading thread. */
static atomic_uint reads;
static atomic_uint switches;
static _Atomic(pid_t) last_reader;

static void note_reader(void)
{
    const pid_t self = gettid();

    atomic_fetch_add(&reads, 1);
    if (atomic_exchange(&last_reader, self) != self)
        atomic_fetch_add(&switches, 1);
}

ssize_t pread(int fd, void *data, size_t bytes, off_t offset)
{
    note_reader();
    return syscall(SYS_pread64, fd, data, bytes, offset);
}

ssize_t read(int fd, void *data, size_t bytes)
{
    note_reader();
    return syscall(SYS_read, fd, data, bytes);
}

/* --- inputs: frames of zstd (RFC 8878), whose blocks are not compressed --------------------------
 */

static char directory[4096];
static char names[FILES_MAX][sizeof directory + 32];

static void write_all(int fd, const void *data, size_t bytes)
{
    if (write(fd, data, bytes) != (ssize_t)bytes)
        bail_out("write");
}

/* Writes a frame of `blocks` blocks with 64-bit numbers from `first` on. */
static void write_frame(int fd, uint64_t first, size_t blocks)
{
    const unsigned char head[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x58}; /* a window of 2 MiB */
    uint64_t words[BLOCK_BYTES / sizeof(uint64_t)];

    write_all(fd, head, sizeof head);
    for (size_t i = 0; i < blocks; i++) {
        const uint32_t block = (uint32_t)(BLOCK_BYTES << 3 | (i + 1 == blocks));
        const unsigned char bytes[] = {block & 255, block >> 8 & 255, block >> 16 & 255};
        for (size_t j = 0; j < sizeof words / sizeof *words; j++)
            words[j] = first++;
        write_all(fd, bytes, sizeof bytes);
        write_all(fd, words, sizeof words);
    }
}

static void make_file(size_t i, size_t blocks)
{
    snprintf(names[i], sizeof names[i], "%s/%zu.zst", directory, i);
    const int fd = open(names[i], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        bail_out(names[i]);
    write_frame(fd, 0, blocks);
    close(fd);
}

static void *writer_run(void *argument)
{
    const int fd = open(argument, O_WRONLY);
    write_frame(fd, 0, BLOCKS);
    close(fd);
    return NULL;
}

/* --- threads that pull ---------------------------------------------------------------------------
 */

struct crowd {
    struct source *source;
    unsigned threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned holding;  /* threads other than the decoding one that held a chunk */
    bool leaves_first; /* the first thread with a chunk leaves with it */
    bool has_left;     /* a thread has left with a chunk */
    uint64_t sum;      /* sum of all words */
    uint64_t words;
    bool moved; /* some chunk was not in its thread's first buffer */
    enum status status;
    struct failure failure;
};

static enum status memory_grow(struct chunk_buffer *buffer, size_t capacity,
                               struct failure *failure)
{
    (void)buffer;
    return status_fail(failure, STATUS_DATA, "not enough memory for %zu bytes", capacity);
}

static void memory_exchange(struct chunk_buffer *buffer, struct chunk_memory *memory)
{
    struct chunk_memory *own = buffer->owner;
    const struct chunk_memory before = *own;

    *own = *memory;
    *memory = before;
    buffer->data = own->data;
}

/* Holds a chunk until all threads but one do. */
static void crowd_meet(struct crowd *crowd)
{
    pthread_mutex_lock(&crowd->lock);
    crowd->holding++;
    pthread_cond_broadcast(&crowd->changed);
    while (crowd->holding + 1 < crowd->threads)
        pthread_cond_wait(&crowd->changed, &crowd->lock);
    pthread_mutex_unlock(&crowd->lock);
}

static void *crowd_run(void *argument)
{
    struct crowd *crowd = argument;
    struct chunk_memory memory = {memory_map(CHUNK_BYTES), CHUNK_BYTES};
    const char *begun_with = memory.data;
    struct chunk_buffer buffer = {.data = memory.data,
                                  .capacity = CHUNK_BYTES,
                                  .grow = memory_grow,
                                  .exchange = memory_exchange,
                                  .owner = &memory};
    struct failure failure;
    struct chunk chunk;
    bool leaves = false;
    bool has_met = false;

    if (!memory.data)
        bail_out("memory");
    if (!source_join(crowd->source)) {
        memory_unmap(memory.data, memory.bytes);
        return NULL;
    }
    while (!leaves) {
        const enum status status = source_pull(crowd->source, &buffer, &chunk, &failure);
        const uint64_t *words = chunk.data;
        uint64_t sum = 0;
        for (size_t i = 0; i < chunk.bytes / sizeof *words; i++)
            sum += words[i];
        pthread_mutex_lock(&crowd->lock);
        crowd->sum += sum;
        crowd->words += chunk.bytes / sizeof *words;
        crowd->moved |= chunk.bytes > 0 && chunk.data != begun_with;
        if (status != STATUS_OK) {
            crowd->status = status;
            crowd->failure = failure;
        }
        leaves = crowd->leaves_first && !crowd->has_left && chunk.bytes > 0;
        crowd->has_left |= leaves;
        pthread_mutex_unlock(&crowd->lock);
        if (status != STATUS_OK || chunk.bytes == 0)
            break;
        if (!has_met && !crowd->leaves_first && atomic_load(&last_reader) != gettid()) {
            has_met = true;
            crowd_meet(crowd);
        }
        if (crowd->threads > 1) /* makes counting slower than reading */
            usleep(200);
    }
    if (leaves)
        source_leave(crowd->source);
    memory_unmap(memory.data, memory.bytes);
    return NULL;
}

/*
 * Returns whether `threads` threads pull all words of frames of `blocks` each, once, from files or
 * a pipe. The test hangs unless all except a decoding one hold chunks at the same time.
 */
static bool crowd_pulls(const size_t *blocks, size_t files, bool is_pipe, unsigned threads,
                        bool leaves_first)
{
    const struct source_options options = {.kinds = DECODER_COMPRESSED};
    const struct record_format format = {.element_bytes = sizeof(uint64_t)};
    struct crowd crowd = {
        .threads = threads,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .leaves_first = leaves_first,
        .status = STATUS_OK,
    };
    pthread_t pullers[THREADS_MAX], writer;
    char *arguments[FILES_MAX];
    uint64_t words = 0, sum = 0;

    for (size_t i = 0; i < files; i++) {
        const uint64_t count = blocks[i] * BLOCK_BYTES / sizeof(uint64_t);
        arguments[i] = names[i];
        words += count;
        sum += count * (count - 1) / 2;
        if (!is_pipe)
            make_file(i, blocks[i]);
    }
    if (is_pipe) {
        unlink(names[0]);
        if (mkfifo(names[0], 0600) != 0 || pthread_create(&writer, NULL, writer_run, names[0]) != 0)
            bail_out("no pipe");
    }
    if (source_open(&crowd.source, arguments, files, &options, &crowd.failure) != STATUS_OK)
        bail_out(crowd.failure.message);
    source_set_format(crowd.source, &format, true, 1);
    atomic_store(&reads, 0);
    atomic_store(&switches, 0);
    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&pullers[i], NULL, crowd_run, &crowd) != 0)
            bail_out("no thread");
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(pullers[i], NULL);
    if (is_pipe)
        pthread_join(writer, NULL);
    source_close(crowd.source);
    unlink(names[0]);
    if (crowd.status != STATUS_OK)
        return tap_note("%s", crowd.failure.message);
    if (threads == 1 && crowd.moved)
        return tap_note("a thread that is alone has changed its buffer");
    return (crowd.words == words && crowd.sum == sum) ||
           tap_note("%llu words came, not %llu", (unsigned long long)crowd.words,
                    (unsigned long long)words);
}

int main(void)
{
    const size_t one[] = {BLOCKS};
    const size_t three[] = {BLOCKS, BLOCKS / 2, BLOCKS};
    const size_t five[] = {BLOCKS / 8, BLOCKS / 8, BLOCKS / 8, BLOCKS / 8, BLOCKS};

    tap_write_template(directory, sizeof directory, "relay");
    if (!mkdtemp(directory))
        bail_out("no directory");
    for (size_t i = 0; i < FILES_MAX; i++)
        snprintf(names[i], sizeof names[i], "%s/%zu.zst", directory, i);
    alarm(120); /* a thread that idles despite work makes the others wait forever */

    tap_ok(crowd_pulls(one, 1, false, 1, false), "one thread reads a frame into its buffer");
    tap_ok(crowd_pulls(one, 1, false, 2, false), "two threads share a frame");
    bool right = crowd_pulls(one, 1, false, 8, false);
    tap_ok(right, "eight threads share a frame");
    right = atomic_load(&switches) * 2 < atomic_load(&reads);
    if (!right)
        tap_note("%u of %u reads by another thread", atomic_load(&switches), atomic_load(&reads));
    tap_ok(right, "and one of them decodes it");
    tap_ok(crowd_pulls(one, 1, true, 8, false), "eight threads share a frame from a pipe");
    tap_ok(crowd_pulls(three, 3, false, 8, false), "eight threads share three frames");
    tap_ok(crowd_pulls(three, 3, false, 2, false), "two threads share three frames");
    tap_ok(crowd_pulls(five, 5, false, 2, false),
           "two threads share one long frame and four short");
    tap_ok(crowd_pulls(one, 1, false, 3, true) && crowd_pulls(one, 1, true, 3, true),
           "what a thread that leaves has begun is decoded by another");
    for (size_t i = 0; i < FILES_MAX; i++)
        unlink(names[i]);
    rmdir(directory);
    return tap_done();
}
