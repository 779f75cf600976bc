/*
 * The order of kept elements: for all chunks, orders and threads, the output is what a plain loop
 * keeps and drops of the whole stream.
 */
#include "config.h"

#include "aggregate/stalin_sort.h"

#include "engine/stores.h"
#include "lib/writer.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

/* --- streams: numbers, and those that a plain loop keeps ----------------------------------------
 */

struct stream {
    struct plan plan;
    size_t count;
    __int128 *values;     /* [count] */
    unsigned char *bytes; /* the values as elements of the plan's type */
    bool *keeps;          /* [count]; true: kept by definition */
};

/* The definition: sets keeps[i] for values[0..count). *floor: the last kept value before; or NULL.
 */
static void survive(const struct stalin_sort_rules *rules, const __int128 *values, size_t count,
                    const __int128 *floor, bool *keeps)
{
    const __int128 *last = floor;

    for (size_t i = 0; i < count; i++) {
        keeps[i] = !last || (rules->descending ? values[i] < *last : values[i] > *last) ||
                   (!rules->strict && values[i] == *last);
        if (keeps[i])
            last = &values[i];
    }
}

static void stream_encode(struct stream *stream, size_t i)
{
    const struct element *element = &stream->plan.element;
    bool big_endian = element->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

    for (unsigned byte = 0; byte < element->bytes; byte++) {
        unsigned place = big_endian ? element->bytes - 1 - byte : byte;
        stream->bytes[i * element->bytes + place] = (unsigned char)(stream->values[i] >> 8 * byte);
    }
}

/* Makes a stream of `count` elements. The caller sets its values, then calls stream_settle. */
static void stream_open(struct stream *stream, const char *type, bool strict, bool descending,
                        size_t count)
{
    *stream = (struct stream){
        .plan = {.operation = OPERATION_STALIN_SORT,
                 .stalin_sort = {.strict = strict, .descending = descending}},
        .count = count,
        .values = must(malloc(count * sizeof *stream->values)),
        .keeps = must(malloc(count * sizeof *stream->keeps)),
    };
    if (!element_parse(type, &stream->plan.element))
        bail_out(type);
    stream->bytes = must(malloc(count * stream->plan.element.bytes));
}

static void stream_settle(struct stream *stream)
{
    for (size_t i = 0; i < stream->count; i++)
        stream_encode(stream, i);
    survive(&stream->plan.stalin_sort, stream->values, stream->count, NULL, stream->keeps);
}

static void stream_close(struct stream *stream)
{
    free(stream->values);
    free(stream->bytes);
    free(stream->keeps);
}

/* Copies elements [first, first + count) where keeps[] is `wanted`. Returns the number of bytes. */
static size_t stream_select(const struct stream *stream, size_t first, size_t count,
                            const bool *keeps, bool wanted, unsigned char *out)
{
    size_t width = stream->plan.element.bytes;
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        if (keeps[i] != wanted)
            continue;
        memcpy(out + bytes, stream->bytes + (first + i) * width, width);
        bytes += width;
    }
    return bytes;
}

/* --- pieces of a stream, sorted by a plain loop -------------------------------------------------
 */

#define PIECE_MAX 300

struct piece {
    struct stalin_sort_run run;
    unsigned char data[PIECE_MAX * sizeof(uint64_t)];
    unsigned char kept[PIECE_MAX * sizeof(uint64_t)];
    unsigned char purged[PIECE_MAX * sizeof(uint64_t)];
};

/* Sorts elements [first, first + count). `floor`: the last kept key before them; or NULL. */
static void piece_make(struct piece *piece, const struct stream *stream, size_t first, size_t count,
                       uint64_t sequence, const uint64_t *floor)
{
    size_t width = stream->plan.element.bytes;
    bool keeps[PIECE_MAX];
    __int128 last = 0;

    if (floor)
        last = stream->plan.element.is_signed ? (__int128)(int64_t)*floor : (__int128)*floor;
    survive(&stream->plan.stalin_sort, stream->values + first, count, floor ? &last : NULL, keeps);
    memcpy(piece->data, stream->bytes + first * width, count * width);
    size_t kept_bytes = stream_select(stream, first, count, keeps, true, piece->kept);
    stream_select(stream, first, count, keeps, false, piece->purged);
    piece->run = (struct stalin_sort_run){
        .chunk = {.data = piece->data,
                  .bytes = count * width,
                  .position = first * width,
                  .sequence = sequence},
        .kept = piece->kept,
        .kept_count = kept_bytes / width,
        .purged = stream->plan.stalin_sort.purged ? piece->purged : NULL,
    };
}

/* Submits a piece. Its memory must not be needed afterwards. */
static enum status piece_submit(struct piece *piece, struct stalin_sort *aggregate,
                                struct failure *failure)
{
    enum status status = stalin_sort_submit(aggregate, &piece->run, failure);
    memset(piece, 0xa5, sizeof *piece);
    return status;
}

static struct stalin_sort *aggregate_open(const struct plan *plan)
{
    struct failure failure;
    struct stalin_sort *aggregate = stalin_sort_create(plan, &failure);

    if (!aggregate)
        bail_out(failure.message);
    return aggregate;
}

/* Returns whether a finished aggregate has seen this many elements, and detects a wrong number. */
static bool aggregate_counts(struct stalin_sort *aggregate, const struct plan *plan,
                             uint64_t elements)
{
    struct failure failure;

    return (filter_stalin_sort.finalize(aggregate, plan, elements, &failure) == STATUS_OK ||
            tap_note("%s", failure.message)) &&
           filter_stalin_sort.finalize(aggregate, plan, elements + 1, &failure) == STATUS_DATA;
}

/* --- outputs ------------------------------------------------------------------------------------
 */

/* An output for kept or for dropped elements, and its read end. */
struct output {
    char name[8192];
    int fd; /* the read end; -1: a file that exists after the writer is closed */
    struct writer *writer;
};

static const unsigned char nothing;

static char directory[4096];

static void output_open(struct output *output, const char *entry, bool is_fifo)
{
    struct failure failure;

    output->fd = -1;
    snprintf(output->name, sizeof output->name, "%s/%s", directory, entry);
    if (is_fifo && (mkfifo(output->name, 0600) != 0 ||
                    (output->fd = open(output->name, O_RDWR | O_NONBLOCK)) < 0))
        bail_out(output->name);
    if (writer_open(&output->writer, output->name, &failure) != STATUS_OK)
        bail_out(failure.message);
}

/* Closes the writer of a file and opens the file for reading. */
static void output_complete(struct output *output)
{
    struct failure failure;

    if (writer_close(output->writer, &failure) != STATUS_OK)
        bail_out(failure.message);
    output->writer = NULL;
    output->fd = open(output->name, O_RDONLY);
    if (output->fd < 0)
        bail_out(output->name);
}

static void output_close(struct output *output)
{
    writer_discard(output->writer);
    close(output->fd);
    unlink(output->name);
}

/* Returns whether the rest of the output equals these bytes; `expected` is not NULL. */
static bool output_holds(const struct output *output, const char *what,
                         const unsigned char *expected, size_t bytes)
{
    unsigned char *found = must(malloc(bytes + 1));
    size_t done = 0;
    ssize_t n;

    while (done <= bytes && (n = read(output->fd, found + done, bytes + 1 - done)) > 0)
        done += (size_t)n;
    bool right = (done == bytes && memcmp(found, expected, bytes) == 0) ||
                 tap_note("%s: %zu bytes of %zu, %s", what, done, bytes,
                          done == bytes ? "other ones" : "or more");
    free(found);
    return right;
}

/* Returns whether the outputs hold the kept and dropped elements of [first, end). */
static bool outputs_hold(const struct output outputs[2], const struct stream *stream, size_t first,
                         size_t end)
{
    static const char *const names[2] = {"kept", "purged"};
    unsigned char *expected = must(malloc((end - first) * sizeof(uint64_t) + 1));
    size_t count = stream->plan.stalin_sort.purged ? 2 : 1;
    bool right = true;

    for (size_t i = 0; i < count; i++) {
        size_t bytes =
            stream_select(stream, first, end - first, stream->keeps + first, i == 0, expected);
        right = output_holds(&outputs[i], names[i], expected, bytes) && right;
    }
    free(expected);
    return right;
}

/* --- the law ------------------------------------------------------------------------------------
 */

#define LAW_ELEMENTS 7
#define LAW_CHUNKS   3
#define LAW_CUT_NONE LAW_CHUNKS

/* A worker's knowledge of the chunks before the one that it sorts. */
enum floor_mode { FLOOR_NONE, FLOOR_STALE, FLOOR_FRESH, FLOOR_MODES };

struct arrangement {
    size_t begins[LAW_CHUNKS + 1]; /* starts of the chunks, and the end */
    size_t order[LAW_CHUNKS];      /* order of submission */
    enum floor_mode floor;
    size_t cut; /* the chunk before a fault, or LAW_CUT_NONE */
};

static const size_t law_orders[][LAW_CHUNKS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* Returns whether the aggregate knows the last kept element of [0, end), if any. */
static bool law_floor_is_right(const struct stream *stream, const struct stalin_sort *aggregate,
                               size_t end)
{
    const struct element *element = &stream->plan.element;
    uint64_t key;

    while (end > 0 && !stream->keeps[end - 1])
        end--;
    if (!stalin_sort_floor(aggregate, &key))
        return end == 0;
    return end > 0 && element_value(element, key) == stream->values[end - 1];
}

/* Submits the chunks one by one. After each, all possible output must be written. */
static bool law_submit(const struct stream *stream, const struct output outputs[2],
                       struct stalin_sort *aggregate, const struct arrangement *how)
{
    bool submitted[LAW_CHUNKS + 1] = {false};
    size_t released = 0;
    uint64_t keys[FLOOR_MODES] = {0};
    bool has_key[FLOOR_MODES] = {false};
    struct piece piece;
    struct failure failure;
    bool right = true;

    for (size_t i = 0; i < LAW_CHUNKS; i++) {
        size_t chunk = how->order[i];
        size_t begin = how->begins[chunk];
        size_t before = how->begins[released];
        keys[FLOOR_STALE] = keys[FLOOR_FRESH];
        has_key[FLOOR_STALE] = has_key[FLOOR_FRESH];
        has_key[FLOOR_FRESH] = stalin_sort_floor(aggregate, &keys[FLOOR_FRESH]);
        piece_make(&piece, stream, begin, how->begins[chunk + 1] - begin, chunk,
                   has_key[how->floor] ? &keys[how->floor] : NULL);
        piece.run.chunk.is_cut = chunk == how->cut;
        right = piece_submit(&piece, aggregate, &failure) == STATUS_OK && right;
        submitted[chunk] = true;
        while (submitted[released] && (released == 0 || released - 1 != how->cut))
            released++;
        right = outputs_hold(outputs, stream, before, how->begins[released]) &&
                law_floor_is_right(stream, aggregate, how->begins[released]) && right;
    }
    return right;
}

static bool law_holds(const struct stream *stream, const struct output outputs[2],
                      const struct arrangement *how)
{
    struct stalin_sort *aggregate = aggregate_open(&stream->plan);
    size_t last = how->cut == LAW_CUT_NONE ? LAW_CHUNKS : how->cut + 1;

    stalin_sort_connect(aggregate, outputs[0].writer,
                        stream->plan.stalin_sort.purged ? outputs[1].writer : NULL);
    bool right = law_submit(stream, outputs, aggregate, how) &&
                 aggregate_counts(aggregate, &stream->plan, how->begins[last]);
    stalin_sort_destroy(aggregate);
    return right ||
           tap_note("%s%s%s%s, chunks from 0, %zu, %zu, in the order %zu, %zu, %zu; floor %d",
                    stream->plan.element.name, stream->plan.stalin_sort.strict ? ", strict" : "",
                    stream->plan.stalin_sort.descending ? ", descending" : "",
                    stream->plan.stalin_sort.purged ? ", purged" : "", how->begins[1],
                    how->begins[2], how->order[0], how->order[1], how->order[2], (int)how->floor);
}

/* Every pair of cuts, every order, every floor. */
static bool law_holds_everywhere(const struct stream *stream, const struct output outputs[2],
                                 size_t cut)
{
    for (size_t i = 0; i <= stream->count; i++) {
        for (size_t j = i; j <= stream->count; j++) {
            for (size_t k = 0; k < ARRAY_LENGTH(law_orders) * FLOOR_MODES; k++) {
                struct arrangement how = {.begins = {0, i, j, stream->count},
                                          .floor = (enum floor_mode)(k % FLOOR_MODES),
                                          .cut = cut};
                memcpy(how.order, law_orders[k / FLOOR_MODES], sizeof how.order);
                if (!law_holds(stream, outputs, &how))
                    return false;
            }
        }
    }
    return true;
}

/* Limits of the type and adjacent values, including those where keys change sign. */
static __int128 extreme(const struct element *element, uint64_t *state)
{
    __int128 limit = (__int128)1 << (element->bytes * 8 - element->is_signed);
    __int128 low = element->is_signed ? -limit : 0;
    const __int128 values[] = {
        low,       low + 1,  (low + limit) / 2 - 1, (low + limit) / 2, (low + limit) / 2 + 1,
        limit - 2, limit - 1};
    return values[tap_random(state) % ARRAY_LENGTH(values)];
}

/* A stream of extremes under one of the combinations of the three rules. */
static void law_stream(struct stream *stream, const char *type, unsigned rules, uint64_t seed)
{
    stream_open(stream, type, rules & 1, rules & 2, LAW_ELEMENTS);
    stream->plan.stalin_sort.purged = rules & 4;
    for (size_t i = 0; i < stream->count; i++)
        stream->values[i] = extreme(&stream->plan.element, &seed);
    stream_settle(stream);
}

static void test_law(const struct output outputs[2])
{
    static const char *const types[] = {"i8", "u16", "i32be", "i64", "u64"};

    for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
        bool right = true;
        for (unsigned rules = 0; rules < 8 && right; rules++) {
            for (uint64_t seed = 0; seed < 2 && right; seed++) {
                struct stream stream;
                law_stream(&stream, types[i], rules, seed * 8 + rules);
                right = law_holds_everywhere(&stream, outputs, LAW_CUT_NONE);
                stream_close(&stream);
            }
        }
        tap_ok(right, "%s: three chunks, wherever cut and however submitted, are one stream",
               types[i]);
    }
}

static void test_cut(const struct output outputs[2])
{
    bool right = true;

    for (size_t cut = 0; cut < LAW_CHUNKS; cut++) {
        for (unsigned rules = 0; rules < 8 && right; rules++) {
            struct stream stream;
            law_stream(&stream, "i16", rules, cut * 8 + rules);
            right = law_holds_everywhere(&stream, outputs, cut);
            stream_close(&stream);
        }
    }
    tap_ok(right, "nothing behind a fault is written, whenever it was submitted");
}

/* --- threads that pull and submit ---------------------------------------------------------------
 */

#define TEAM_WORKERS 4

/* Data shared by workers: a stream from which each takes the next piece, like from a source. */
struct team {
    const struct stream *stream;
    struct stalin_sort *aggregate;
    size_t piece_max;
    bool hold;              /* the first piece waits until no other worker advances */
    pthread_mutex_t lock;   /* guards the next two */
    size_t next;            /* the next element */
    uint64_t state;         /* random state for the sizes */
    atomic_size_t sequence; /* number of the next piece; also changed under the lock */
    atomic_bool failed;
};

/* Takes the next piece; false at the end. */
static bool team_take(struct team *team, size_t *first, size_t *count, uint64_t *sequence)
{
    pthread_mutex_lock(&team->lock);
    size_t left = team->stream->count - team->next;
    *count = 1 + (size_t)(tap_random(&team->state) % team->piece_max);
    *count = *count < left ? *count : left;
    *first = team->next;
    *sequence = atomic_fetch_add(&team->sequence, 1);
    team->next += *count;
    pthread_mutex_unlock(&team->lock);
    return left > 0;
}

/* Waits while others take pieces. Ends too early if they are slow; this does no harm. */
static void team_wait(struct team *team)
{
    const struct timespec a_while = {.tv_nsec = 3000000};
    size_t before;

    do {
        before = atomic_load(&team->sequence);
        nanosleep(&a_while, NULL);
    } while (atomic_load(&team->sequence) != before);
}

static void *team_run(void *argument)
{
    struct team *team = argument;
    struct failure failure;
    struct piece piece;
    size_t first;
    size_t count;
    uint64_t sequence;
    uint64_t floor;

    while (team_take(team, &first, &count, &sequence)) {
        uint64_t state = sequence;
        bool has_floor = stalin_sort_floor(team->aggregate, &floor);
        if (team->hold && sequence == 0)
            team_wait(team);
        for (uint64_t work = tap_random(&state) % 16 == 0 ? 20000 : 0; work > 0; work--)
            tap_random(&state);
        piece_make(&piece, team->stream, first, count, sequence, has_floor ? &floor : NULL);
        if (piece_submit(&piece, team->aggregate, &failure) != STATUS_OK)
            atomic_store(&team->failed, true);
    }
    return NULL;
}

static bool team_is_right(const struct stream *stream, size_t piece_max, bool hold)
{
    struct team team = {.stream = stream, .piece_max = piece_max, .hold = hold};
    struct output outputs[2];
    pthread_t threads[TEAM_WORKERS];

    output_open(&outputs[0], "kept", false);
    output_open(&outputs[1], "purged", false);
    team.aggregate = aggregate_open(&stream->plan);
    stalin_sort_connect(team.aggregate, outputs[0].writer,
                        stream->plan.stalin_sort.purged ? outputs[1].writer : NULL);
    pthread_mutex_init(&team.lock, NULL);
    for (size_t i = 0; i < TEAM_WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, team_run, &team) != 0)
            bail_out("no thread");
    }
    for (size_t i = 0; i < TEAM_WORKERS; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&team.lock);
    output_complete(&outputs[0]);
    output_complete(&outputs[1]);
    bool right = !atomic_load(&team.failed) && outputs_hold(outputs, stream, 0, stream->count) &&
                 aggregate_counts(team.aggregate, &stream->plan, stream->count);
    stalin_sort_destroy(team.aggregate);
    output_close(&outputs[0]);
    output_close(&outputs[1]);
    return right;
}

/* Random steps, most of them in the right order: many elements are kept, many dropped. */
static void team_stream(struct stream *stream, unsigned rules, uint64_t seed)
{
    __int128 value = 0;

    stream_open(stream, "i32", rules & 1, rules & 2, 20000);
    stream->plan.stalin_sort.purged = rules & 4;
    for (size_t i = 0; i < stream->count; i++) {
        value += (__int128)(tap_random(&seed) % 100) - 45;
        stream->values[i] = stream->plan.stalin_sort.descending ? -value : value;
    }
    stream_settle(stream);
}

static void test_team(const char *name, size_t piece_max, bool hold)
{
    bool right = true;

    for (unsigned rules = 0; rules < 8 && right; rules++) {
        struct stream stream;
        team_stream(&stream, rules, rules);
        right = team_is_right(&stream, piece_max, hold);
        stream_close(&stream);
    }
    tap_ok(right, "%s", name);
}

/* --- runs that are too large to be parked -------------------------------------------------------
 */

#define MIB ((size_t)1 << 20)

/* A run on a thread of its own. Its elements are of u8: the first half `value`, the second 0. */
struct large {
    struct stalin_sort *aggregate;
    size_t bytes;
    uint64_t sequence;
    unsigned char value;
    pthread_t thread;
    atomic_bool begun;
    atomic_bool returned;
    enum status status;
};

static void *large_run(void *argument)
{
    struct large *self = argument;
    size_t kept = (self->bytes + 1) / 2;
    unsigned char *data = must(malloc(self->bytes));
    struct failure failure;

    memset(data, self->value, kept);
    memset(data + kept, 0, self->bytes - kept);
    const struct stalin_sort_run run = {
        .chunk = {.data = data, .bytes = self->bytes, .sequence = self->sequence},
        .kept = data,
        .kept_count = kept,
        .purged = data + kept,
    };
    atomic_store(&self->begun, true);
    self->status = stalin_sort_submit(self->aggregate, &run, &failure);
    atomic_store(&self->returned, true);
    free(data);
    return NULL;
}

static void large_start(struct large *large, struct stalin_sort *aggregate)
{
    const struct timespec a_while = {.tv_nsec = 1000000};

    large->aggregate = aggregate;
    large->value = (unsigned char)(large->sequence + 1);
    if (pthread_create(&large->thread, NULL, large_run, large) != 0)
        bail_out("no thread");
    while (!atomic_load(&large->begun))
        nanosleep(&a_while, NULL);
    nanosleep(&a_while, NULL); /* most likely it waits now if it must */
}

/* Returns whether it was submitted well. */
static bool large_join(struct large *large)
{
    pthread_join(large->thread, NULL);
    return large->status == STATUS_OK;
}

static const struct plan large_plan = {
    .operation = OPERATION_STALIN_SORT,
    .element = {.type = ELEMENT_U8, .bytes = 1, .name = "u8"},
    .stalin_sort = {.purged = true},
};

/* Returns whether the halves of the runs were written in order: kept, or the dropped zeros. */
static bool large_was_written(const struct output *output, const struct large *runs, size_t count,
                              bool kept)
{
    size_t all = 0;
    size_t done = 0;

    for (size_t i = 0; i < count; i++)
        all += runs[i].bytes;
    unsigned char *expected = must(malloc(all));
    for (size_t i = 0; i < count; i++) {
        size_t bytes = kept ? (runs[i].bytes + 1) / 2 : runs[i].bytes / 2;
        memset(expected + done, kept ? runs[i].value : 0, bytes);
        done += bytes;
    }
    bool right = output_holds(output, kept ? "kept" : "purged", expected, done);
    free(expected);
    return right;
}

/* Small runs are parked; their release makes space for more. */
static void test_parked_again(void)
{
    const uint64_t turns = 1000;
    const size_t small = 8 << 10; /* dropped elements double the memory */
    struct stalin_sort *aggregate = aggregate_open(&large_plan);
    struct output null = {.fd = -1};
    struct failure failure;
    bool right = true;

    if (writer_open(&null.writer, "/dev/null", &failure) != STATUS_OK)
        bail_out(failure.message);
    stalin_sort_connect(aggregate, null.writer, null.writer);
    for (uint64_t i = 0; i < 2 * turns; i += 2) {
        struct large parked = {.aggregate = aggregate, .sequence = i + 1, .bytes = small};
        struct large turn = {.aggregate = aggregate, .sequence = i, .bytes = 1};
        large_run(&parked); /* on this thread: must not wait */
        large_run(&turn);
        right = right && parked.status == STATUS_OK && turn.status == STATUS_OK;
    }
    tap_ok(right && aggregate_counts(aggregate, &large_plan, turns * (small + 1)),
           "what is small is parked, again and again");
    stalin_sort_destroy(aggregate);
    writer_discard(null.writer);
}

/* Runs of more than 16 KiB, or 8 KiB with dropped elements, are not parked. */
static void test_large(void)
{
    struct large runs[] = {{.sequence = 0, .bytes = 3},
                           {.sequence = 1, .bytes = 17 * MIB},
                           {.sequence = 2, .bytes = 9 * MIB},
                           {.sequence = 3, .bytes = 9 * MIB},
                           {.sequence = 4, .bytes = 5}};
    const struct timespec a_while = {.tv_nsec = 1000000};
    const size_t count = ARRAY_LENGTH(runs);
    struct stalin_sort *aggregate = aggregate_open(&large_plan);
    struct output outputs[2];
    bool right = true;

    output_open(&outputs[0], "kept", false);
    output_open(&outputs[1], "purged", false);
    stalin_sort_connect(aggregate, outputs[0].writer, outputs[1].writer);
    for (size_t i = count; i-- > 1;)
        large_start(&runs[i], aggregate);
    for (int i = 0; i < 50 && !atomic_load(&runs[1].returned); i++)
        nanosleep(&a_while, NULL); /* time for a copy, which must not happen */
    tap_ok(!atomic_load(&runs[1].returned) && !atomic_load(&runs[2].returned) &&
               !atomic_load(&runs[3].returned),
           "a run that is too large to be parked waits for its turn");
    large_start(&runs[0], aggregate);
    for (size_t i = 0; i < count; i++)
        right = large_join(&runs[i]) && right;
    output_complete(&outputs[0]);
    output_complete(&outputs[1]);
    tap_ok(right && large_was_written(&outputs[0], runs, count, true) &&
               large_was_written(&outputs[1], runs, count, false) &&
               aggregate_counts(aggregate, &large_plan, 35 * MIB + 8),
           "and is written in order");
    stalin_sort_destroy(aggregate);
    output_close(&outputs[0]);
    output_close(&outputs[1]);
}

/* --- ends ---------------------------------------------------------------------------------------
 */

/* Returns whether `end` cancels a waiting and a parked run, and nothing is written. */
static bool check_end(const struct output outputs[2], void (*end)(void *aggregate))
{
    struct large runs[] = {{.sequence = 1, .bytes = 17 * MIB}, {.sequence = 2, .bytes = 2}};
    struct large late[] = {{.sequence = 0, .bytes = 2}, {.sequence = 3, .bytes = 17 * MIB}};
    struct stalin_sort *aggregate = aggregate_open(&large_plan);
    bool right = true;

    stalin_sort_connect(aggregate, outputs[0].writer, outputs[1].writer);
    for (size_t i = 0; i < ARRAY_LENGTH(runs); i++)
        large_start(&runs[i], aggregate);
    end(aggregate);
    for (size_t i = 0; i < ARRAY_LENGTH(runs); i++)
        right = large_join(&runs[i]) && right;
    for (size_t i = 0; i < ARRAY_LENGTH(late); i++) {
        large_start(&late[i], aggregate);
        right = large_join(&late[i]) && right;
    }
    stalin_sort_destroy(aggregate);
    return output_holds(&outputs[0], "kept", &nothing, 0) &&
           output_holds(&outputs[1], "purged", &nothing, 0) && right;
}

/* Submits the first chunk, which is empty and precedes a fault. */
static void submit_fault(void *aggregate)
{
    const struct stalin_sort_run run = {.chunk = {.is_cut = true}};
    struct failure failure;

    if (stalin_sort_submit(aggregate, &run, &failure) != STATUS_OK)
        bail_out(failure.message);
}

static void test_ends(const struct output outputs[2])
{
    tap_ok(check_end(outputs, stalin_sort_stop), "after stalin_sort_stop nobody waits");
    tap_ok(check_end(outputs, submit_fault), "behind a fault nobody waits");
}

/* Chunks 0, 1, 2 in some order, with one element each; one of the outputs is full. */
static bool check_full(const size_t order[3], const struct output *kept,
                       const struct output *purged)
{
    static const unsigned char data[2] = {7, 0};
    struct stalin_sort *aggregate = aggregate_open(&large_plan);
    bool right = true;

    stalin_sort_connect(aggregate, kept->writer, purged->writer);
    for (size_t i = 0; i < 3; i++) {
        const struct stalin_sort_run run = {
            .chunk = {.data = data, .bytes = 2, .sequence = order[i]},
            .kept = data,
            .kept_count = 1,
            .purged = data + 1,
        };
        struct failure failure = {.status = STATUS_OK};
        enum status status = stalin_sort_submit(aggregate, &run, &failure);
        right = right && status == (order[i] == 0 ? STATUS_DATA : STATUS_OK) &&
                failure.status == status &&
                (status == STATUS_OK || strstr(failure.message, strerror(ENOSPC)));
    }
    stalin_sort_destroy(aggregate);
    return right;
}

static void test_full(const struct output outputs[2])
{
    static const unsigned char kept = 7;
    struct output full = {.fd = -1};
    struct failure failure;
    bool right = true;

    for (size_t i = 0; i < ARRAY_LENGTH(law_orders); i++) {
        if (writer_open(&full.writer, "/dev/full", &failure) != STATUS_OK) {
            tap_ok(true, "full outputs # SKIP no /dev/full");
            return;
        }
        right = check_full(law_orders[i], &full, &outputs[1]) &&
                output_holds(&outputs[1], "purged", &nothing, 0) && right;
        writer_discard(full.writer);
        writer_open(&full.writer, "/dev/full", &failure);
        right = check_full(law_orders[i], &outputs[0], &full) &&
                output_holds(&outputs[0], "kept", &kept, 1) && right;
        writer_discard(full.writer);
    }
    tap_ok(right, "whose turn it is gets the writer's failure, what follows is dropped");
}

int main(void)
{
    struct output fifos[2];

    alarm(WATCHDOG_SECONDS);
    tap_write_template(directory, sizeof directory, "stalin-sort");
    if (!mkdtemp(directory))
        bail_out(directory);
    output_open(&fifos[0], "kept.fifo", true);
    output_open(&fifos[1], "purged.fifo", true);
    test_law(fifos);
    test_cut(fifos);
    test_team("threads that pull and submit write in order", PIECE_MAX, false);
    test_team("threads that get too far ahead wait, and all is written in order", 3, true);
    test_large();
    test_parked_again();
    test_ends(fifos);
    test_full(fifos);
    stalin_sort_destroy(NULL);
    output_close(&fifos[0]);
    output_close(&fifos[1]);
    tap_ok(rmdir(directory) == 0, "no file is left behind");
    return tap_done();
}
