/*
 * The source: for all files, pipes, buffers and threads, the chunks in order are the concatenation
 * of the input.
 */
#include "config.h"

#include "input/source.h"
#include "tap.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* No test waits for the clock; this only ends a test that hangs. */
#define WATCHDOG_SECONDS 300

static _Noreturn void bail_out(const char *what)
{
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *must(void *memory)
{
    if (!memory)
        bail_out("no memory");
    return memory;
}

/* Gives up if nobody reads any more: missing data fail a check. */
static void write_all(int fd, const unsigned char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE)
            return;
        if (n < 0)
            bail_out("write");
        data += n;
        bytes -= (size_t)n;
    }
}

/* --- scenes: files and pipes with known content --------------------------------------------------
 */

#define SCENE_FILES_MAX 64

enum input_kind { FILE_REGULAR, FILE_FIFO, FILE_STDIN_PIPE };

static const struct source_options plain = {.kinds = 0};

struct scene_file {
    enum input_kind kind;
    size_t bytes;
};

struct scene {
    char directory[PATH_MAX];
    char *names[SCENE_FILES_MAX]; /* names for source_open */
    struct scene_file files[SCENE_FILES_MAX];
    size_t count;
    unsigned char *content; /* contents of all files, concatenated */
    size_t bytes;
    bool has_pipes;
    pthread_t writer; /* writes the pipes in order, in odd pieces */
    int stdin_pipe;   /* the write end */
};

static void scene_make_file(struct scene *scene, size_t i, const unsigned char *content)
{
    const struct scene_file *file = &scene->files[i];
    int ends[2];
    int fd;

    size_t name_bytes = strlen(scene->directory) + sizeof "/123";
    scene->names[i] = must(malloc(name_bytes));
    snprintf(scene->names[i], name_bytes, "%s/%zu", scene->directory, i);
    switch (file->kind) {
    case FILE_REGULAR:
        fd = open(scene->names[i], O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (fd < 0)
            bail_out(scene->names[i]);
        write_all(fd, content, file->bytes);
        close(fd);
        break;
    case FILE_FIFO:
        if (mkfifo(scene->names[i], 0600) != 0)
            bail_out(scene->names[i]);
        break;
    case FILE_STDIN_PIPE:
        strcpy(scene->names[i], "-");
        if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0)
            bail_out("pipe");
        close(ends[0]);
        scene->stdin_pipe = ends[1];
        break;
    }
}

static void scene_write_pipe(int fd, const unsigned char *data, size_t bytes, uint64_t *state)
{
    while (bytes > 0) {
        size_t piece = 1 + (size_t)(tap_random(state) >> 47 >> tap_random(state) % 17);
        piece = piece < bytes ? piece : bytes;
        write_all(fd, data, piece);
        data += piece;
        bytes -= piece;
        if (tap_random(state) % 4 == 0)
            sched_yield();
    }
    close(fd);
}

static void *scene_write_pipes(void *argument)
{
    struct scene *scene = argument;
    const unsigned char *content = scene->content;
    uint64_t state = 99;

    for (size_t i = 0; i < scene->count; content += scene->files[i++].bytes) {
        int fd = scene->stdin_pipe;
        if (scene->files[i].kind == FILE_REGULAR)
            continue;
        if (scene->files[i].kind == FILE_FIFO && (fd = open(scene->names[i], O_WRONLY)) < 0)
            bail_out(scene->names[i]);
        scene_write_pipe(fd, content, scene->files[i].bytes, &state);
    }
    return NULL;
}

static void scene_make(struct scene *scene, const struct scene_file *files, size_t count)
{
    uint64_t state = 7;

    *scene = (struct scene){.count = count};
    memcpy(scene->files, files, count * sizeof *files);
    tap_write_template(scene->directory, sizeof scene->directory, "source");
    if (!mkdtemp(scene->directory))
        bail_out(scene->directory);
    for (size_t i = 0; i < count; i++) {
        scene->bytes += files[i].bytes;
        scene->has_pipes = scene->has_pipes || files[i].kind != FILE_REGULAR;
    }
    scene->content = must(malloc(scene->bytes + 1));
    for (size_t i = 0; i < scene->bytes; i++)
        scene->content[i] = (unsigned char)tap_random(&state);
    const unsigned char *content = scene->content;
    for (size_t i = 0; i < count; content += files[i++].bytes)
        scene_make_file(scene, i, content);
    if (scene->has_pipes && pthread_create(&scene->writer, NULL, scene_write_pipes, scene) != 0)
        bail_out("no thread");
}

static void scene_clear(struct scene *scene)
{
    if (scene->has_pipes) {
        pthread_cancel(scene->writer); /* has ended if its pipes were read to the end */
        pthread_join(scene->writer, NULL);
    }
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->files[i].kind != FILE_STDIN_PIPE)
            unlink(scene->names[i]);
        free(scene->names[i]);
    }
    rmdir(scene->directory);
    free(scene->content);
}

/* A scene of regular files of these lengths. */
static void scene_make_regular(struct scene *scene, const size_t *lengths, size_t count)
{
    struct scene_file files[SCENE_FILES_MAX];

    for (size_t i = 0; i < count; i++)
        files[i] = (struct scene_file){FILE_REGULAR, lengths[i]};
    scene_make(scene, files, count);
}

static struct source *scene_open(const struct scene *scene, size_t element_bytes)
{
    struct source *source = NULL;
    struct failure failure;

    if (source_open(&source, scene->names, scene->count, &plain, &failure) != STATUS_OK) {
        printf("Bail out! %s\n", failure.message);
        exit(1);
    }
    source_set_format(source, &(struct record_format){.element_bytes = element_bytes}, false, 1);
    return source;
}

/* --- pullers ------------------------------------------------------------------------------------
 */

#define PULLERS_MAX 8

struct piece {
    uint64_t position;
    uint64_t sequence;
    size_t bytes;
};

struct puller {
    pthread_t thread;
    struct source *source;
    unsigned char *output; /* [output_bytes], shared: a chunk is copied to its position */
    size_t output_bytes;
    size_t element_bytes;
    size_t capacity;
    struct piece *pieces; /* the received pieces in order */
    size_t count;
    const char *fault; /* what is wrong with a chunk, or NULL */
    enum status status;
    struct failure failure;
};

/* Returns what is wrong with a single chunk, or NULL. */
static const char *puller_fault(const struct puller *self, const struct chunk *chunk,
                                const unsigned char *buffer)
{
    if (chunk->data != buffer)
        return "it does not lie in the buffer";
    if (chunk->bytes > self->capacity)
        return "it is larger than the buffer";
    if (chunk->bytes % self->element_bytes != 0)
        return "it is no multiple of the element";
    if (chunk->position > self->output_bytes || chunk->bytes > self->output_bytes - chunk->position)
        return "it lies behind the end";
    return NULL;
}

/* Pulls into a buffer that cannot grow. */
static enum status pull_fixed(struct source *source, void *data, size_t capacity,
                              struct chunk *chunk, struct failure *failure)
{
    struct chunk_buffer buffer = {.data = data, .capacity = capacity};
    return source_pull(source, &buffer, chunk, failure);
}

static enum status try_pull_fixed(struct source *source, void *data, size_t capacity,
                                  struct chunk *chunk, bool *pulled, struct failure *failure)
{
    struct chunk_buffer buffer = {.data = data, .capacity = capacity};
    return source_try_pull(source, &buffer, chunk, pulled, failure);
}

static void *puller_run(void *argument)
{
    struct puller *self = argument;
    unsigned char *buffer = must(malloc(self->capacity)); /* exact size, for the sanitizer */
    size_t room = 0;
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    for (;;) {
        struct chunk chunk;
        self->status = pull_fixed(self->source, buffer, self->capacity, &chunk, &self->failure);
        if (self->status != STATUS_OK || chunk.bytes == 0)
            break;
        self->fault = puller_fault(self, &chunk, buffer);
        if (self->fault) {
            source_stop(self->source, 0);
            break;
        }
        memcpy(self->output + chunk.position, buffer, chunk.bytes);
        if (self->count == room)
            self->pieces = must(realloc(self->pieces, (room += room + 64) * sizeof(struct piece)));
        self->pieces[self->count++] = (struct piece){chunk.position, chunk.sequence, chunk.bytes};
    }
    free(buffer);
    return NULL;
}

/* One run: some threads pull a source to its end. */
struct pull {
    struct puller pullers[PULLERS_MAX];
    size_t threads;
    unsigned char *output;
    size_t output_bytes;
};

static void pull_all(struct pull *pull, struct source *source, size_t output_bytes,
                     size_t element_bytes, const size_t *capacities, size_t threads)
{
    *pull = (struct pull){.threads = threads, .output_bytes = output_bytes};
    pull->output = must(calloc(1, output_bytes + 1));
    for (size_t i = 0; i < threads; i++) {
        pull->pullers[i] = (struct puller){
            .source = source,
            .output = pull->output,
            .output_bytes = output_bytes,
            .element_bytes = element_bytes,
            .capacity = capacities[i],
        };
        if (pthread_create(&pull->pullers[i].thread, NULL, puller_run, &pull->pullers[i]) != 0)
            bail_out("no thread");
    }
    for (size_t i = 0; i < threads; i++)
        pthread_join(pull->pullers[i].thread, NULL);
}

static void pull_clear(struct pull *pull)
{
    for (size_t i = 0; i < pull->threads; i++)
        free(pull->pullers[i].pieces);
    free(pull->output);
}

static int piece_compare(const void *left, const void *right)
{
    uint64_t a = ((const struct piece *)left)->sequence;
    uint64_t b = ((const struct piece *)right)->sequence;
    return (a > b) - (a < b);
}

/* Returns whether the chunks of all threads have numbers 0, 1, ... and are contiguous. */
static bool pull_is_contiguous(const struct pull *pull, uint64_t bytes)
{
    size_t count = 0;
    uint64_t position = 0;
    bool right = true;

    for (size_t i = 0; i < pull->threads; i++)
        count += pull->pullers[i].count;
    struct piece *pieces = must(calloc(count + 1, sizeof *pieces));
    for (size_t i = 0, done = 0; i < pull->threads; done += pull->pullers[i++].count) {
        if (pull->pullers[i].count > 0)
            memcpy(pieces + done, pull->pullers[i].pieces, pull->pullers[i].count * sizeof *pieces);
    }
    qsort(pieces, count, sizeof *pieces, piece_compare);
    for (size_t i = 0; i < count && right; position += pieces[i++].bytes) {
        if (pieces[i].sequence != i || pieces[i].position != position)
            right = tap_note("chunk %zu has number %llu and begins at %llu, not %llu", i,
                             (unsigned long long)pieces[i].sequence,
                             (unsigned long long)pieces[i].position, (unsigned long long)position);
    }
    free(pieces);
    return right &&
           (position == bytes || tap_note("%llu bytes came, not %llu", (unsigned long long)position,
                                          (unsigned long long)bytes));
}

/* Returns whether every thread reached the end without a failure. */
static bool pull_succeeded(const struct pull *pull)
{
    for (size_t i = 0; i < pull->threads; i++) {
        const struct puller *puller = &pull->pullers[i];
        if (puller->fault)
            return tap_note("capacity %zu, a chunk: %s", puller->capacity, puller->fault);
        if (puller->status != STATUS_OK)
            return tap_note("capacity %zu: %s", puller->capacity, puller->failure.message);
    }
    return true;
}

/* Returns whether some thread failed at `position` with `text`, and none in another way. */
static bool pull_failed(const struct pull *pull, uint64_t position, const char *text)
{
    bool failed = false;

    for (size_t i = 0; i < pull->threads; i++) {
        const struct puller *puller = &pull->pullers[i];
        if (puller->fault)
            return tap_note("capacity %zu, a chunk: %s", puller->capacity, puller->fault);
        if (puller->status == STATUS_OK)
            continue;
        failed = true;
        if (puller->status != STATUS_DATA || puller->failure.status != STATUS_DATA ||
            puller->failure.position != position || !strstr(puller->failure.message, text))
            return tap_note("at byte %llu: '%s', not '%s' at %llu",
                            (unsigned long long)puller->failure.position, puller->failure.message,
                            text, (unsigned long long)position);
    }
    return failed || tap_note("no failure, instead of '%s'", text);
}

/* --- the whole stream, in order -----------------------------------------------------------------
 */

static bool check_scene(const struct scene_file *files, size_t count, size_t element_bytes,
                        const size_t *capacities, size_t threads)
{
    struct scene scene;
    struct pull pull;

    scene_make(&scene, files, count);
    struct source *source = scene_open(&scene, element_bytes);
    uint64_t size = scene.has_pipes ? SOURCE_SIZE_UNKNOWN : scene.bytes;
    bool right = source_sizes(source).stream == size || tap_note("source_sizes is wrong");
    size_t whole = scene.bytes - scene.bytes % element_bytes;

    pull_all(&pull, source, scene.bytes, element_bytes, capacities, threads);
    if (scene.bytes == whole)
        right = right && pull_succeeded(&pull);
    else
        right = right && pull_failed(&pull, whole, "left after the last");
    right = right && pull_is_contiguous(&pull, whole);
    if (memcmp(pull.output, scene.content, whole) != 0)
        right = tap_note("the bytes are not those of the files");
    if (source_position(source) != whole)
        right = tap_note("source_position is wrong");
    pull_clear(&pull);
    source_close(source);
    scene_clear(&scene);
    return right;
}

/* Every size of element, one thread with each capacity alone, then many with all of them. */
static void test_scene(const char *name, const struct scene_file *files, size_t count)
{
    static const size_t capacities[PULLERS_MAX] = {100003, 13, 4096, 8, 100003, 4096, 65537, 1001};
    bool alone = true;
    bool many = true;

    for (size_t element_bytes = 1; element_bytes <= 8; element_bytes *= 2) {
        for (size_t i = 0; i < 3 && alone; i++)
            alone = check_scene(files, count, element_bytes, &capacities[i], 1) ||
                    tap_note("element %zu, capacity %zu", element_bytes, capacities[i]);
        for (size_t threads = 2; threads <= PULLERS_MAX && many; threads += 3)
            many = check_scene(files, count, element_bytes, capacities, threads) ||
                   tap_note("element %zu, %zu threads", element_bytes, threads);
    }
    tap_ok(alone, "%s: one puller", name);
    tap_ok(many, "%s: many pullers at once", name);
}

static void test_regular(void)
{
    static const struct scene_file none[] = {{FILE_REGULAR, 0}};
    static const struct scene_file small[] = {{FILE_REGULAR, 808}};
    static const struct scene_file large[] = {{FILE_REGULAR, 300000}};
    static const struct scene_file odd[] = {{FILE_REGULAR, 131071}};
    static const struct scene_file limits[] = {{FILE_REGULAR, 65535},
                                               {FILE_REGULAR, 65536},
                                               {FILE_REGULAR, 65537},
                                               {FILE_REGULAR, 0},
                                               {FILE_REGULAR, 65544}};
    static const struct scene_file mixed[] = {{FILE_REGULAR, 100003}, {FILE_REGULAR, 5},
                                              {FILE_REGULAR, 0},      {FILE_REGULAR, 1},
                                              {FILE_REGULAR, 70001},  {FILE_REGULAR, 65538},
                                              {FILE_REGULAR, 40007},  {FILE_REGULAR, 2},
                                              {FILE_REGULAR, 3},      {FILE_REGULAR, 80000},
                                              {FILE_REGULAR, 0}};
    struct scene_file bytes[SCENE_FILES_MAX];

    for (size_t i = 0; i < SCENE_FILES_MAX; i++)
        bytes[i] = (struct scene_file){FILE_REGULAR, i % 4};
    test_scene("an empty file", none, ARRAY_LENGTH(none));
    test_scene("a small file", small, ARRAY_LENGTH(small));
    test_scene("a large file", large, ARRAY_LENGTH(large));
    test_scene("a large file of odd length", odd, ARRAY_LENGTH(odd));
    test_scene("files about as long as small ones may be", limits, ARRAY_LENGTH(limits));
    test_scene("small and large files, elements across them", mixed, ARRAY_LENGTH(mixed));
    test_scene("many files of 0 to 3 bytes", bytes, ARRAY_LENGTH(bytes));
}

static void test_pipes(void)
{
    static const struct scene_file stdin_pipe[] = {{FILE_STDIN_PIPE, 300000}};
    static const struct scene_file fifos[] = {{FILE_FIFO, 100003},
                                              {FILE_FIFO, 0},
                                              {FILE_FIFO, 3},
                                              {FILE_FIFO, 50002}};
    static const struct scene_file mixed[] = {{FILE_REGULAR, 70003}, {FILE_STDIN_PIPE, 50001},
                                              {FILE_REGULAR, 0},     {FILE_REGULAR, 90001},
                                              {FILE_FIFO, 3},        {FILE_REGULAR, 77},
                                              {FILE_FIFO, 20003}};

    test_scene("a pipe written in odd pieces", stdin_pipe, ARRAY_LENGTH(stdin_pipe));
    test_scene("several pipes", fifos, ARRAY_LENGTH(fifos));
    test_scene("files and pipes", mixed, ARRAY_LENGTH(mixed));
}

struct sender {
    pthread_t thread;
    atomic_bool stopped;
};

static void *sender_run(void *argument)
{
    struct sender *self = argument;

    while (!atomic_load(&self->stopped)) {
        kill(getpid(), SIGUSR1);
        sched_yield();
    }
    return NULL;
}

static void test_signals(void)
{
    static const struct scene_file files[] = {{FILE_REGULAR, 70003}, {FILE_STDIN_PIPE, 300001}};
    static const size_t capacities[] = {4096, 13, 100003};
    struct sender sender = {.stopped = false};
    bool right = true;

    if (pthread_create(&sender.thread, NULL, sender_run, &sender) != 0)
        bail_out("no thread");
    for (size_t threads = 1; threads <= ARRAY_LENGTH(capacities); threads++)
        right = check_scene(files, ARRAY_LENGTH(files), 4, capacities, threads) && right;
    atomic_store(&sender.stopped, true);
    pthread_join(sender.thread, NULL);
    tap_ok(right, "a flood of signals loses nothing");
}

/* --- the end ------------------------------------------------------------------------------------
 */

/* Returns whether what is left over is named: how many bytes, where, and in which file. */
static bool check_leftover(enum input_kind kind, size_t bytes, size_t element_bytes,
                           const char *text)
{
    static const size_t capacities[] = {4096, 100003, 13};
    const struct scene_file file = {kind, bytes};
    bool right = true;

    for (size_t threads = 1; threads <= ARRAY_LENGTH(capacities); threads++) {
        struct scene scene;
        struct pull pull;
        size_t whole = bytes - bytes % element_bytes;
        scene_make(&scene, &file, 1);
        struct source *source = scene_open(&scene, element_bytes);
        pull_all(&pull, source, bytes, element_bytes, capacities, threads);
        right = pull_failed(&pull, whole, text) && pull_is_contiguous(&pull, whole) &&
                pull_failed(&pull, whole,
                            kind == FILE_STDIN_PIPE ? "standard input: " : scene.names[0]) &&
                right;
        pull_clear(&pull);
        source_close(source);
        scene_clear(&scene);
    }
    return right;
}

static void test_leftover(void)
{
    tap_ok(check_leftover(FILE_REGULAR, 4001, 4, ": truncated input: 1 byte left") &&
               check_leftover(FILE_REGULAR, 4006, 8, ": truncated input: 6 bytes left") &&
               check_leftover(FILE_REGULAR, 1, 2, ": truncated input: 1 byte left"),
           "bytes left over by a small file are named");
    tap_ok(check_leftover(FILE_REGULAR, 200003, 4, ": truncated input: 3 bytes left") &&
               check_leftover(FILE_REGULAR, 200007, 8, ": truncated input: 7 bytes left"),
           "bytes left over by a large file are named");
    tap_ok(check_leftover(FILE_STDIN_PIPE, 200002, 4, ": truncated input: 2 bytes left") &&
               check_leftover(FILE_STDIN_PIPE, 3, 8, ": truncated input: 3 bytes left"),
           "bytes left over by a pipe are named");
}

/* A large file, pulled once. */
struct begun {
    struct scene scene;
    struct source *source;
    unsigned char buffer[8192];
};

static void begin(struct begun *begun, const size_t *lengths, size_t count)
{
    struct chunk chunk;
    struct failure failure;

    scene_make_regular(&begun->scene, lengths, count);
    begun->source = scene_open(&begun->scene, 4);
    if (pull_fixed(begun->source, begun->buffer, sizeof begun->buffer, &chunk, &failure))
        bail_out(failure.message);
}

static void end(struct begun *begun)
{
    source_close(begun->source);
    scene_clear(&begun->scene);
}

/* Pulls the rest; stores the first byte after it and returns the last result. */
static enum status finish(struct begun *begun, uint64_t *position, struct failure *failure)
{
    struct chunk chunk;
    enum status status;

    do {
        status = pull_fixed(begun->source, begun->buffer, sizeof begun->buffer, &chunk, failure);
        if (status == STATUS_OK)
            *position = chunk.position + chunk.bytes;
    } while (status == STATUS_OK && chunk.bytes > 0);
    return status;
}

static void test_truncated(void)
{
    static const size_t length = 200000;
    struct begun begun;
    struct failure failure = {.status = STATUS_OK};
    uint64_t position = 0;

    begin(&begun, &length, 1);
    if (truncate(begun.scene.names[0], 100002) != 0)
        bail_out("truncate");
    tap_ok(finish(&begun, &position, &failure) == STATUS_DATA && failure.position == 100002 &&
               strstr(failure.message, begun.scene.names[0]) &&
               strstr(failure.message, "shrank while it was read"),
           "a file that shrinks while it is read is an error at that place");
    end(&begun);

    begin(&begun, &length, 1);
    if (truncate(begun.scene.names[0], 0) != 0)
        bail_out("truncate");
    tap_ok(finish(&begun, &position, &failure) == STATUS_DATA &&
               failure.position == sizeof begun.buffer,
           "a file that is emptied while it is read is an error");
    end(&begun);
}

/* A file can change before its turn: it is read as it then is, and nothing hangs. */
static void test_truncated_early(void)
{
    static const size_t lengths[] = {70000, 200000};
    static const size_t capacities[] = {4096};
    struct scene scene;
    struct pull pull;

    scene_make_regular(&scene, lengths, 2);
    struct source *source = scene_open(&scene, 4);
    if (truncate(scene.names[1], 80000) != 0)
        bail_out("truncate");
    pull_all(&pull, source, scene.bytes, 4, capacities, 1);
    tap_ok(pull_succeeded(&pull) && pull_is_contiguous(&pull, 150000) &&
               memcmp(pull.output, scene.content, 150000) == 0,
           "a file that shrinks before its turn is read as it then is");
    pull_clear(&pull);
    source_close(source);
    scene_clear(&scene);
}

static void test_grown(void)
{
    static const size_t length = 200000;
    struct begun begun;
    struct failure failure;
    uint64_t position = 0;

    begin(&begun, &length, 1);
    int fd = open(begun.scene.names[0], O_WRONLY | O_APPEND);
    if (fd < 0)
        bail_out("open");
    write_all(fd, begun.scene.content, 100000);
    close(fd);
    tap_ok(finish(&begun, &position, &failure) == STATUS_OK && position == 300000,
           "a file that grows while it is read is read to its end");
    end(&begun);
}

static void test_removed(void)
{
    static const size_t lengths[] = {100000, 100000};
    struct begun begun;
    struct failure failure = {.status = STATUS_OK};
    uint64_t position = 0;

    begin(&begun, lengths, 2);
    if (unlink(begun.scene.names[0]) != 0 || unlink(begun.scene.names[1]) != 0)
        bail_out("unlink");
    tap_ok(finish(&begun, &position, &failure) == STATUS_DATA && position == 100000 &&
               failure.position == 100000 && strstr(failure.message, begun.scene.names[1]),
           "a file that is gone when its turn comes is an error, an open one is not");
    end(&begun);
}

/* --- from the beginning again --------------------------------------------------------------------
 */

/* Returns whether the source of a file or two, pulled once, is opened again and then gives all. */
static bool check_repeat(const size_t *lengths, size_t count, off_t offset)
{
    static const size_t capacities[] = {4096, 100003};
    static char standard_input[] = "-";
    struct begun begun;
    struct failure failure;
    struct pull pull;
    struct chunk chunk;

    scene_make_regular(&begun.scene, lengths, count);
    size_t bytes = begun.scene.bytes - (size_t)offset;
    char *name = begun.scene.names[0];
    int fd = open(name, O_RDONLY);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || lseek(fd, offset, SEEK_SET) != offset)
        bail_out(name);
    close(fd);
    begun.scene.names[0] = offset > 0 ? standard_input : name;
    begun.source = scene_open(&begun.scene, 1);
    source_set_format(begun.source, &(struct record_format){.element_bytes = 4}, false, 1);
    if (pull_fixed(begun.source, begun.buffer, sizeof begun.buffer, &chunk, &failure) ||
        source_repeat(&begun.source, &failure) != STATUS_OK)
        bail_out(failure.message);
    pull_all(&pull, begun.source, bytes, 4, capacities, 2);
    bool right = pull_succeeded(&pull) && pull_is_contiguous(&pull, bytes) &&
                 memcmp(pull.output, begun.scene.content + offset, bytes) == 0;
    pull_clear(&pull);
    begun.scene.names[0] = name;
    end(&begun);
    return right;
}

/* Returns whether a source that cannot be opened again says so. */
static bool repeat_fails(struct source **source, const char *text)
{
    struct failure failure = {.status = STATUS_OK};

    return (source_repeat(source, &failure) == STATUS_DATA && strstr(failure.message, text)) ||
           tap_note("%s", failure.message);
}

static void test_repeat(void)
{
    static const size_t lengths[] = {200000, 1000};
    struct begun begun;

    tap_ok(check_repeat(lengths, 1, 0) && check_repeat(lengths, 2, 0) &&
               check_repeat(lengths + 1, 1, 0) && check_repeat(lengths, 2, 400) &&
               check_repeat(lengths, 1, 150000) && check_repeat(lengths + 1, 1, 100),
           "files are read again from where they began");
    begin(&begun, lengths, 2);
    if (truncate(begun.scene.names[1], 2000) != 0)
        bail_out("truncate");
    tap_ok(repeat_fails(&begun.source, "has changed") && !begun.source, "unless they have changed");
    end(&begun);
    begin(&begun, lengths, 2);
    if (unlink(begun.scene.names[0]) != 0)
        bail_out("unlink");
    tap_ok(repeat_fails(&begun.source, strerror(ENOENT)) && !begun.source, "or are gone");
    end(&begun);
}

/* --- waiting, and stopping ----------------------------------------------------------------------
 */

/* Replaces standard input by a pipe; returns the write end. */
static int stdin_pipe_open(void)
{
    int ends[2];

    if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0)
        bail_out("pipe");
    close(ends[0]);
    return ends[1];
}

static struct source *stdin_source(size_t element_bytes)
{
    static char name[] = "-";
    static char *const names[] = {name};
    struct source *source = NULL;
    struct failure failure;

    if (source_open(&source, names, 1, &plain, &failure) != STATUS_OK)
        bail_out(failure.message);
    source_set_format(source, &(struct record_format){.element_bytes = element_bytes}, false, 1);
    return source;
}

static bool pulls(struct source *source, const char *text)
{
    char buffer[64];
    struct chunk chunk;
    struct failure failure;

    if (pull_fixed(source, buffer, sizeof buffer, &chunk, &failure) != STATUS_OK)
        return tap_note("%s", failure.message);
    return (chunk.bytes == strlen(text) && memcmp(buffer, text, chunk.bytes) == 0) ||
           tap_note("'%.*s' was pulled, not '%s'", (int)chunk.bytes, buffer, text);
}

static void send_text(int fd, const char *text)
{
    write_all(fd, (const unsigned char *)text, strlen(text));
}

static void test_repeat_pipe(void)
{
    int writer = stdin_pipe_open();
    struct source *source = stdin_source(1);

    send_text(writer, "abc");
    tap_ok(repeat_fails(&source, "not all inputs are regular") && source && pulls(source, "abc"),
           "a pipe cannot be read again, and is left as it was");
    close(writer);
    source_close(source);
}

static void test_no_waiting(void)
{
    int fd = stdin_pipe_open();
    struct source *source = stdin_source(4);
    bool right = true;

    send_text(fd, "abcd");
    right = right && pulls(source, "abcd");
    send_text(fd, "efghijklmno");
    right = right && pulls(source, "efghijkl");
    send_text(fd, "p");
    right = right && pulls(source, "mnop");
    send_text(fd, "qrs");
    send_text(fd, "t");
    close(fd);
    right = right && pulls(source, "qrst") && pulls(source, "") && pulls(source, "");
    tap_ok(right, "a pull returns what there is, and does not wait for more");
    source_close(source);
}

/* Pulls until the end; counts the bytes. */
struct counting_puller {
    struct source *source;
    pthread_t thread;
    atomic_size_t *bytes; /* shared */
};

static void *counting_puller_run(void *argument)
{
    const struct counting_puller *self = argument;
    size_t capacity = (size_t)64 << 20;
    void *buffer = must(malloc(capacity));
    struct chunk chunk;
    struct failure failure;

    while (pull_fixed(self->source, buffer, capacity, &chunk, &failure) == STATUS_OK &&
           chunk.bytes > 0)
        atomic_fetch_add(self->bytes, chunk.bytes);
    free(buffer);
    return NULL;
}

/*
 * A large file, followed by a pipe that stays empty: one puller reads a large range; another reads
 * the last element and waits for the pipe before the first is done. (The file is a hole.)
 */
static void test_pipe_behind_file(void)
{
    static const size_t length = 4;
    static char pipe_name[] = "-";
    const size_t bytes = ((size_t)64 << 20) + 4;
    const struct timespec a_while = {.tv_nsec = 1000000};
    struct counting_puller pullers[2];
    struct source *source = NULL;
    struct failure failure;
    struct scene scene;
    atomic_size_t pulled = 0;

    scene_make_regular(&scene, &length, 1);
    int fd = stdin_pipe_open();
    char *const names[] = {scene.names[0], pipe_name};
    if (truncate(names[0], (off_t)bytes) != 0)
        bail_out("truncate");
    if (source_open(&source, names, 2, &plain, &failure) != STATUS_OK)
        bail_out(failure.message);
    source_set_format(source, &(struct record_format){.element_bytes = 4}, false, 1);
    for (size_t i = 0; i < ARRAY_LENGTH(pullers); i++) {
        pullers[i] = (struct counting_puller){.source = source, .bytes = &pulled};
        if (pthread_create(&pullers[i].thread, NULL, counting_puller_run, &pullers[i]) != 0)
            bail_out("no thread");
    }
    for (int i = 0; i < 30000 && atomic_load(&pulled) < bytes; i++)
        nanosleep(&a_while, NULL);
    tap_ok(atomic_load(&pulled) == bytes, "what was read of a file does not wait for a pipe");
    close(fd);
    for (size_t i = 0; i < ARRAY_LENGTH(pullers); i++)
        pthread_join(pullers[i].thread, NULL);
    source_close(source);
    scene_clear(&scene);
}

/* Returns whether a pull without waiting finds `text`; NULL: nothing yet; "": the end. */
static bool tries(struct source *source, const char *text)
{
    char buffer[64];
    struct chunk chunk = {.bytes = 0};
    struct failure failure;
    bool pulled;

    if (try_pull_fixed(source, buffer, sizeof buffer, &chunk, &pulled, &failure) != STATUS_OK)
        return tap_note("%s", failure.message);
    if (!text || !pulled)
        return !text == !pulled || tap_note("%s was pulled", pulled ? "something" : "nothing");
    return (chunk.bytes == strlen(text) && memcmp(buffer, text, chunk.bytes) == 0) ||
           tap_note("'%.*s' was pulled, not '%s'", (int)chunk.bytes, buffer, text);
}

static void test_try(void)
{
    int fd = stdin_pipe_open();
    struct source *source = stdin_source(4);
    bool right = tries(source, NULL);

    send_text(fd, "abcd");
    right = right && tries(source, "abcd") && tries(source, NULL);
    send_text(fd, "ef"); /* kept for later pulls of either kind */
    right = right && tries(source, NULL) && tries(source, NULL);
    send_text(fd, "ghi");
    right = right && tries(source, "efgh") && tries(source, NULL);
    send_text(fd, "jkl");
    right = right && pulls(source, "ijkl") && source_position(source) == 12;
    close(fd);
    right = right && tries(source, "") && tries(source, "") && pulls(source, "");
    tap_ok(right, "a pull that does not wait loses nothing, and sees the end");
    source_close(source);
}

static void *stopper_run(void *argument)
{
    struct timespec a_while = {.tv_nsec = 3000000}; /* most likely the pullers wait after it */

    for (int i = 0; i < 8; i++) {
        nanosleep(&a_while, NULL);
        kill(getpid(), SIGUSR1); /* afterwards a puller must still see the stop */
    }
    source_stop(argument, 0);
    return NULL;
}

/* Pullers on a pipe that holds `text` and stays open, until another thread stops the source. */
static bool check_stop(const char *text)
{
    static const size_t capacities[PULLERS_MAX] = {4096, 13, 8, 100003};
    int fd = stdin_pipe_open();
    struct source *source = stdin_source(8);
    struct pull pull;
    pthread_t stopper;

    send_text(fd, text);
    if (pthread_create(&stopper, NULL, stopper_run, source) != 0)
        bail_out("no thread");
    pull_all(&pull, source, 4096, 8, capacities, 4);
    pthread_join(stopper, NULL);
    bool right = pull_succeeded(&pull) && pulls(source, "");
    pull_clear(&pull);
    source_stop(source, 0);
    right = right && pulls(source, "");
    close(fd);
    source_close(source);
    return right;
}

static void test_stop(void)
{
    static const size_t length = 200000;
    struct begun begun;

    tap_ok(check_stop(""), "source_stop wakes pullers that wait on an empty pipe");
    tap_ok(check_stop("abc"), "source_stop wakes pullers that wait for the rest of an element");
    tap_ok(check_stop("abcdefghijklmnop"), "source_stop wakes pullers that have had something");
    begin(&begun, &length, 1);
    source_stop(begun.source, 0);
    tap_ok(pulls(begun.source, ""), "source_stop ends a regular file");
    end(&begun);
    scene_make_regular(&begun.scene, &length, 1);
    begun.source = scene_open(&begun.scene, 4);
    source_stop(begun.source, 0);
    tap_ok(pulls(begun.source, "") && pulls(begun.source, ""),
           "source_stop before the first pull leaves nothing to pull");
    end(&begun);
}

/* --- joining ------------------------------------------------------------------------------------
 */

struct joiner {
    struct source *source;
    pthread_t thread;
    atomic_int answer; /* result of source_join; -1: none yet */
};

static void *joiner_run(void *argument)
{
    struct joiner *self = argument;
    atomic_store(&self->answer, source_join(self->source));
    return NULL;
}

static void joiner_start(struct joiner *joiner, struct source *source)
{
    joiner->source = source;
    atomic_init(&joiner->answer, -1);
    if (pthread_create(&joiner->thread, NULL, joiner_run, joiner) != 0)
        bail_out("no thread");
}

static int joiner_wait(struct joiner *joiner)
{
    pthread_join(joiner->thread, NULL);
    return atomic_load(&joiner->answer);
}

/* A leaving thread makes space for a waiting one. */
static bool check_join_leave(void)
{
    int fd = stdin_pipe_open();
    struct source *source = stdin_source(4);
    struct joiner joiner;
    bool right = source_join(source);

    joiner_start(&joiner, source);
    source_leave(source);
    right = joiner_wait(&joiner) == 1 && right;
    close(fd);
    source_close(source);
    return right;
}

#define IDLE_PIECES 40

/* A slow writer. */
static void *idle_writer_run(void *argument)
{
    const struct timespec a_while = {.tv_nsec = 3000000};

    for (int i = 0; i < IDLE_PIECES; i++) {
        nanosleep(&a_while, NULL);
        send_text(*(int *)argument, "abcd");
    }
    return NULL;
}

/* A pipe whose reader waits for each piece has one puller; the end lets nobody in. */
static bool check_join_idle(void)
{
    int fd = stdin_pipe_open();
    struct source *source = stdin_source(4);
    struct joiner joiner;
    struct failure failure;
    struct chunk chunk;
    pthread_t writer;
    char buffer[64];
    bool right = source_join(source);

    joiner_start(&joiner, source);
    if (pthread_create(&writer, NULL, idle_writer_run, &fd) != 0)
        bail_out("no thread");
    while (right && source_position(source) < IDLE_PIECES * 4)
        right = pull_fixed(source, buffer, sizeof buffer, &chunk, &failure) == STATUS_OK;
    right = right && atomic_load(&joiner.answer) == -1;
    pthread_join(writer, NULL);
    close(fd);
    right = right && pulls(source, "");
    right = joiner_wait(&joiner) == 0 && right && !source_join(source);
    source_close(source);
    return right;
}

/* A pipe that is never empty: one puller does not keep up, and another is let in. */
static bool check_join_behind(void)
{
    const struct timespec busy = {.tv_nsec = 100000};
    int fd = stdin_pipe_open();
    struct source *source = stdin_source(4);
    struct joiner joiners[2];
    bool right = source_join(source);

    for (int i = 0; i < 2; i++)
        joiner_start(&joiners[i], source);
    for (int i = 0; i < 800; i++)
        send_text(fd, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl");
    for (int i = 0; i < 200; i++) {
        right = right &&
                pulls(source, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl");
        nanosleep(&busy, NULL);
    }
    for (int i = 0; i < 2; i++)
        right = joiner_wait(&joiners[i]) == 1 && right;
    close(fd);
    source_close(source);
    return right;
}

static bool check_join_file(void)
{
    static const size_t length = 200000;
    struct scene scene;
    scene_make_regular(&scene, &length, 1);
    struct source *source = scene_open(&scene, 4);

    bool right = source_join(source) && source_join(source) && source_join(source);
    source_stop(source, 0);
    right = right && !source_join(source);
    source_close(source);
    scene_clear(&scene);
    return right;
}

static void test_join(void)
{
    tap_ok(check_join_idle(), "source_join: a pipe that is waited for has one puller");
    tap_ok(check_join_behind(), "source_join: a pipe that is always full gets more");
    tap_ok(check_join_leave(), "source_leave: another joins instead");
    tap_ok(check_join_file(), "source_join: a file lets all in, a stopped source none");
}

/* --- opening ------------------------------------------------------------------------------------
 */

static bool check_refused(char *const *names, size_t count, const char *name, const char *reason)
{
    struct source *source = NULL;
    struct failure failure = {.status = STATUS_OK};
    enum status status = source_open(&source, names, count, &plain, &failure);

    if (status == STATUS_OK)
        source_close(source);
    return (status == STATUS_DATA && failure.status == STATUS_DATA && !source &&
            strstr(failure.message, name) && strstr(failure.message, reason)) ||
           tap_note("status %d, '%s'", (int)status, failure.message);
}

static void test_refusals(void)
{
    static const size_t lengths[] = {100, 100};
    static char standard_input[] = "-";
    struct scene scene;
    char missing[PATH_MAX + 8];

    scene_make_regular(&scene, lengths, 2);
    snprintf(missing, sizeof missing, "%s/missing", scene.directory);
    char *last[] = {scene.names[0], scene.names[1], missing};
    char *directory[] = {scene.names[0], scene.directory, scene.names[1]};
    char *redirected[] = {standard_input};
    tap_ok(check_refused(last, 3, missing, strerror(ENOENT)), "a missing file cannot be opened");
    tap_ok(check_refused(directory, 3, scene.directory, strerror(EISDIR)),
           "a directory cannot be opened");
    int fd = open(scene.directory, O_RDONLY);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
        bail_out(scene.directory);
    close(fd);
    tap_ok(check_refused(redirected, 1, "standard input", strerror(EISDIR)),
           "a directory as standard input cannot be opened");
    close(STDIN_FILENO);
    tap_ok(check_refused(redirected, 1, "standard input", strerror(EBADF)),
           "a closed standard input cannot be opened");
    if (open("/dev/null", O_RDONLY) != STDIN_FILENO)
        bail_out("/dev/null");
    scene_clear(&scene);
}

/* A file as standard input is read from its current position. */
static bool check_offset(size_t bytes, off_t offset)
{
    static const size_t capacities[] = {4096, 100003};
    struct scene scene;
    struct pull pull;
    size_t from = (size_t)offset < bytes ? (size_t)offset : bytes;

    scene_make_regular(&scene, &bytes, 1);
    int fd = open(scene.names[0], O_RDONLY);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || lseek(fd, offset, SEEK_SET) != offset)
        bail_out(scene.names[0]);
    close(fd);
    struct source *source = stdin_source(4);
    bool right = source_sizes(source).stream == bytes - from || tap_note("source_sizes is wrong");
    pull_all(&pull, source, bytes - from, 4, capacities, 2);
    right = right && pull_succeeded(&pull) && pull_is_contiguous(&pull, bytes - from) &&
            memcmp(pull.output, scene.content + from, bytes - from) == 0;
    pull_clear(&pull);
    source_close(source);
    right = right && (fcntl(STDIN_FILENO, F_GETFD) >= 0 || tap_note("it was closed"));
    scene_clear(&scene);
    return right;
}

/* /proc reports size 0 for its files. */
static bool check_proc(void)
{
    static char name[] = "/proc/version";
    static char *const names[] = {name};
    char wanted[4096];
    char found[4096];
    struct source *source = NULL;
    struct chunk chunk = {.bytes = 0};
    struct failure failure;
    FILE *file = fopen(name, "r");

    if (!file)
        return true;
    size_t bytes = fread(wanted, 1, sizeof wanted, file);
    fclose(file);
    if (source_open(&source, names, 1, &plain, &failure) != STATUS_OK)
        return tap_note("%s", failure.message);
    enum status status = pull_fixed(source, found, sizeof found, &chunk, &failure);
    source_close(source);
    return status == STATUS_OK && chunk.bytes == bytes && memcmp(found, wanted, bytes) == 0;
}

static void test_opening(void)
{
    test_refusals();
    tap_ok(check_offset(1000, 100) && check_offset(200000, 400) && check_offset(200000, 150000) &&
               check_offset(200000, 200000) && check_offset(1000, 4000),
           "a file as standard input is read from its offset, and left open");
    tap_ok(check_proc(), "a file that tells no size is read whole");
    source_close(NULL);
    tap_ok(true, "NULL can be closed");
}

/* --- pullers of text with buffers of different sizes ---------------------------------------------
 */

#define LONG_BYTES ((size_t)300000)

static enum status buffer_grow(struct chunk_buffer *buffer, size_t capacity,
                               struct failure *failure)
{
    (void)failure;
    buffer->data = must(realloc(buffer->data, capacity));
    buffer->capacity = capacity;
    return STATUS_OK;
}

/* Adds the values of chunks of alternating sizes to the end; false after a failure. */
static bool sum_values(struct source *source, const struct text_rules *rules,
                       const size_t capacities[2], uint64_t *count, int64_t *sum)
{
    text_parse_function *parse = text_choose_parser(rules, ELEMENT_I64);
    struct chunk_buffer buffer = {.data = must(malloc(1)), .grow = buffer_grow};
    struct chunk chunk = {.bytes = 1};
    struct failure failure = {.message = "an invalid token"};
    bool good = true;

    for (int turn = 0; good && chunk.bytes > 0; turn ^= 1) {
        int64_t values[512];
        enum text_event event = TEXT_END;
        buffer_grow(&buffer, capacities[turn], &failure);
        good = source_pull(source, &buffer, &chunk, &failure) == STATUS_OK;
        struct text_cursor text = {
            .rules = rules,
            .data = chunk.data,
            .bytes = chunk.bytes,
            .values = values,
            .capacity = 512,
        };
        do {
            event = parse(&text);
            for (size_t i = 0; i < text.count; i++)
                *sum += values[i];
            *count += text.count;
            good = good && event != TEXT_INVALID;
        } while (good && event != TEXT_END);
    }
    free(buffer.data);
    return good || tap_note("%s", failure.message);
}

/*
 * A line whose beginning is longer than some buffers. It is read into a large buffer and carried
 * over to a small one: `first` repeated, then `last`.
 */
static bool check_capacities(const struct text_rules *rules, const char *first, const char *last,
                             uint64_t count, int64_t sum)
{
    static const size_t capacities[][2] = {{4096, 4096}, {5000, 1 << 20}, {70001, 4097}};
    bool right = true;

    for (size_t i = 0; i < ARRAY_LENGTH(capacities); i++) {
        int fd = stdin_pipe_open();
        struct source *source = stdin_source(8);
        const struct record_format format = {.is_text = true, .text = *rules, .element_bytes = 8};
        char *line = must(malloc(LONG_BYTES));
        struct failure failure;
        struct chunk chunk;
        uint64_t values = 0;
        int64_t total = 0;

        source_set_format(source, &format, false, 1);
        for (size_t at = 0; at < LONG_BYTES; at++)
            line[at] = first[at % strlen(first)];
        if (fcntl(fd, F_SETPIPE_SZ, 1 << 20) < 0)
            bail_out("F_SETPIPE_SZ");
        send_text(fd, "1 1\n");
        write_all(fd, (unsigned char *)line, LONG_BYTES);
        char *buffer = must(malloc(1 << 20));
        right = pull_fixed(source, buffer, 1 << 20, &chunk, &failure) == STATUS_OK &&
                (chunk.bytes == 4 || tap_note("%zu bytes", chunk.bytes)) && right;
        send_text(fd, last);
        close(fd);
        right = sum_values(source, rules, capacities[i], &values, &total) && right;
        if (values != count || total != sum)
            right = tap_note("%llu values, sum %lld, of chunks of %zu and %zu bytes",
                             (unsigned long long)values, (long long)total, capacities[i][0],
                             capacities[i][1]);
        source_close(source);
        free(buffer);
        free(line);
    }
    return right;
}

static void test_capacities(void)
{
    const struct text_rules tokens = {.delimiter = TEXT_NO_DELIMITER};
    const struct text_rules list = {.delimiter = ','};
    const struct text_rules second = {.delimiter = TEXT_NO_DELIMITER, .field = 2};
    const struct text_rules last = {.delimiter = ',', .field = -1};

    tap_ok(check_capacities(&tokens, "0", "7 8\n9\n", 3, 24),
           "a token that is longer than the next buffer");
    tap_ok(check_capacities(&list, "1,2,3,4,", "5\n6\n", 150002, 375011),
           "a list that is longer than the next buffer");
    tap_ok(check_capacities(&second, "x", " 42 x\n1 9\n", 2, 51),
           "a field behind a part that is longer than the next buffer");
    tap_ok(check_capacities(&last, "1,2,3,4,", "5\n6\n", 2, 11),
           "the last field of a line that is longer than the next buffer");
}

/* Returns the number of the next opened descriptor, which reveals one left open. */
static int next_descriptor(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

static void ignore(int signal)
{
    (void)signal;
}

/* SIGUSR1 interrupts the waits of pullers: only they do not block it. */
static void set_signals(void)
{
    struct sigaction action = {.sa_handler = ignore};
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    alarm(WATCHDOG_SECONDS);
}

int main(void)
{
    set_signals();
    if (fcntl(STDIN_FILENO, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != STDIN_FILENO)
        bail_out("/dev/null");
    int descriptor = next_descriptor();

    test_regular();
    test_pipes();
    test_signals();
    test_leftover();
    test_truncated();
    test_truncated_early();
    test_grown();
    test_removed();
    test_repeat();
    test_repeat_pipe();
    test_no_waiting();
    test_pipe_behind_file();
    test_try();
    test_stop();
    test_join();
    test_opening();
    test_capacities();
    tap_ok(next_descriptor() == descriptor, "no descriptor is left open");
    return tap_done();
}
