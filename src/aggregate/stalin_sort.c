/* Implements stalin_sort.h: writes runs in stream order, and merges each with those before. */
#include "config.h"

#include "aggregate/stalin_sort.h"

#include "lib/writer.h"
#include "text/row_scanner.h"
#include "text/text_rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * A run is parked if it is less than this number of chunks ahead of its turn, and has at most
 * AHEAD_BYTES bytes: copying large runs costs more than waiting. Seconds for 64Mi sorted int32,
 * which are all kept, on two cores:
 *
 *   threads               2      8
 *   all runs parked   0.092  0.147
 *   none              0.024  0.024
 */
#define STALIN_SORT_AHEAD       256
#define STALIN_SORT_AHEAD_BYTES ((size_t)16 << 10)

struct stalin_sort {
    const struct plan *plan;
    struct writer *kept;
    struct writer *purged;             /* dropped elements; NULL: not wanted */
    struct text_rows_scratch *scratch; /* for conditions, in the thread that has the turn */

    /* Written only by the thread that has the turn: rank and key of the last element written. */
    uint64_t last;
    atomic_uint_least64_t floor_key;
    atomic_bool has_floor;
    uint64_t kept_count;
    uint64_t purged_count;

    pthread_mutex_t lock; /* guards the members below */
    uint64_t next;        /* the sequence number of the chunk whose turn it is */
    bool busy;            /* a thread has the turn */
    bool stopped;
    /*
     * By sequence number modulo STALIN_SORT_AHEAD. A condition is signalled at the chunk's turn, or
     * once `stopped`; a single condition would wake all threads each time.
     */
    pthread_cond_t turns[STALIN_SORT_AHEAD];
    struct stalin_sort_run parked[STALIN_SORT_AHEAD]; /* each owns the memory at `kept` */
    bool is_parked[STALIN_SORT_AHEAD];
};

/*
 * Returns whether the text of values is written as it was read. Decimal integers are formatted
 * again, which is faster, and so are timestamps, floored values and rows that name their columns.
 */
static bool stalin_sort_keeps_text(const struct plan *plan)
{
    const enum text_notation notation = plan->text.notation;
    return plan->is_text && !row_scanners[plan->row_scanner]->names_columns &&
           plan->columns[0].width.units <= 1 && (notation == TEXT_FIXED || notation == TEXT_HEX);
}

void *stalin_sort_create(const struct plan *plan, struct failure *failure)
{
    struct stalin_sort *self = calloc(1, sizeof *self);
    if (self && stalin_sort_keeps_text(plan) && plan->condition_count > 0)
        self->scratch = text_rows_scratch_create(plan);
    if (!self || (stalin_sort_keeps_text(plan) && plan->condition_count > 0 && !self->scratch)) {
        free(self);
        status_fail(failure, STATUS_DATA, "not enough memory for the order of the kept values");
        return NULL;
    }
    self->plan = plan;
    pthread_mutex_init(&self->lock, NULL);
    for (size_t i = 0; i < STALIN_SORT_AHEAD; i++)
        pthread_cond_init(&self->turns[i], NULL);
    return self;
}

void stalin_sort_destroy(void *aggregate)
{
    struct stalin_sort *self = aggregate;

    if (!self)
        return;
    for (size_t i = 0; i < STALIN_SORT_AHEAD; i++) {
        if (self->is_parked[i])
            free((void *)self->parked[i].kept);
        pthread_cond_destroy(&self->turns[i]);
    }
    pthread_mutex_destroy(&self->lock);
    text_rows_scratch_destroy(self->scratch);
    free(self);
}

void stalin_sort_connect(void *aggregate, struct writer *kept, struct writer *purged)
{
    struct stalin_sort *self = aggregate;

    self->kept = kept;
    self->purged = purged;
}

bool stalin_sort_floor(const struct stalin_sort *self, uint64_t *key)
{
    if (!atomic_load_explicit(&self->has_floor, memory_order_acquire))
        return false;
    *key = atomic_load_explicit(&self->floor_key, memory_order_relaxed);
    return true;
}

/* Returns the rank of a key: a number that ascends in the plan's order, for any type. */
static uint64_t stalin_sort_rank(const struct plan *plan, uint64_t key)
{
    const uint64_t ascending = plan->element.is_signed ? key ^ (uint64_t)1 << 63 : key;
    return plan->stalin_sort.descending ? ~ascending : ascending;
}

/* Returns whether an element of a rank is kept after one of rank `last`; has_last: there is one. */
static bool stalin_sort_survives(const struct plan *plan, bool has_last, uint64_t last,
                                 uint64_t rank)
{
    return !has_last || (plan->stalin_sort.strict ? rank > last : rank >= last);
}

/* Returns whether an element is kept after the elements written so far. */
static bool stalin_sort_passes(const struct stalin_sort *self, const char *element)
{
    const uint64_t rank = stalin_sort_rank(self->plan, element_key(&self->plan->element, element));
    const bool has_last = atomic_load_explicit(&self->has_floor, memory_order_relaxed);
    return stalin_sort_survives(self->plan, has_last, self->last, rank);
}

/* Writes elements as they were read; for text, as numbers, one per line. */
static void stalin_sort_write(const struct stalin_sort *self, struct writer *writer,
                              const char *elements, size_t count)
{
    const struct element *element = &self->plan->element;

    if (!self->plan->is_text) {
        writer_write(writer, elements, count * element->bytes);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t key = element_key(element, elements + i * element->bytes);
        char *line = writer_reserve(writer, ELEMENT_TEXT_SIZE);
        size_t length = element_write(line, element, element_value(element, key));
        line[length] = '\n';
        writer_commit(writer, length + 1);
    }
}

/*
 * Writes the tokens of a run whose text is kept: sorts them once more, one by one. The chunk may
 * have tokens that are not values, and its values may end before its text.
 */
static void stalin_sort_write_tokens(const struct stalin_sort *self,
                                     const struct stalin_sort_run *run)
{
    const struct plan *plan = self->plan;
    const struct chunk *text = run->chunk.text;
    const bool has_rows = text_rows_are_needed(plan);
    struct text_rules opaque_rules = text->rules;
    struct plan opaque_plan = *plan;
    size_t left = run->chunk.bytes / plan->element.bytes;
    bool has_last = atomic_load_explicit(&self->has_floor, memory_order_relaxed);
    uint64_t last = self->last;
    struct text_cursor cursor = {.rules = &opaque_rules,
                                 .data = text->data,
                                 .bytes = text->bytes,
                                 .capacity = 1};
    struct text_rows rows = {.plan = &opaque_plan,
                             .rules = &text->rules,
                             .data = text->data,
                             .bytes = text->bytes,
                             .scratch = self->scratch,
                             .capacity = 1};

    opaque_rules.notation = TEXT_OPAQUE;
    opaque_plan.columns[0].notation = TEXT_OPAQUE;
    text_parse_function *parse = text_choose_parser(&opaque_rules, plan->element.type);
    while (left > 0 && (has_rows ? text_rows_parse(&rows) : parse(&cursor)) == TEXT_INVALID &&
           rows.status == STATUS_OK) {
        const struct text_token token = has_rows ? rows.invalid[0] : cursor.invalid;
        const char *begin = (const char *)text->data + token.offset;
        uint64_t key;
        if (token.column > 0 ||
            !text_read_token(&plan->text, &plan->element, begin, token.bytes, &key))
            continue;
        const uint64_t rank = stalin_sort_rank(plan, key);
        const bool keep = stalin_sort_survives(plan, has_last, last, rank);
        struct writer *writer = keep ? self->kept : self->purged;
        if (writer) {
            writer_write(writer, begin, token.bytes);
            writer_write(writer, "\n", 1);
        }
        has_last = true;
        last = keep ? rank : last;
        left--;
    }
}

/*
 * Writes the dropped elements of a run whose first `beaten` kept elements are dropped, too. These
 * are all elements of the chunk before the first that stays, and after it those that its worker has
 * dropped.
 */
static void stalin_sort_write_purged(const struct stalin_sort *self,
                                     const struct stalin_sort_run *run, size_t beaten)
{
    const char *elements = run->chunk.data;
    size_t width = self->plan->element.bytes;
    size_t count = run->chunk.bytes / width;
    size_t whole = 0;

    if (beaten == run->kept_count)
        whole = count;
    else if (beaten > 0) {
        while (!stalin_sort_passes(self, elements + whole * width))
            whole++;
    }
    stalin_sort_write(self, self->purged, elements, whole);
    if (beaten < run->kept_count)
        stalin_sort_write(self, self->purged, (const char *)run->purged + (whole - beaten) * width,
                          count - run->kept_count - (whole - beaten));
}

/* Writes the kept and dropped elements of a run, and flushes the writers. The caller has the turn.
 */
static enum status stalin_sort_release(struct stalin_sort *self, const struct stalin_sort_run *run,
                                       struct failure *failure)
{
    const bool keeps_text = stalin_sort_keeps_text(self->plan);
    const size_t width = self->plan->element.bytes;
    const char *kept = run->kept;
    size_t beaten = 0; /* number of kept elements that earlier runs drop */
    size_t high = run->kept_count;

    while (beaten < high) {
        size_t middle = beaten + (high - beaten) / 2;
        if (stalin_sort_passes(self, kept + middle * width))
            high = middle;
        else
            beaten = middle + 1;
    }
    const size_t kept_count = run->kept_count - beaten;
    if (keeps_text && (kept_count > 0 || self->purged))
        stalin_sort_write_tokens(self, run);
    else if (self->purged)
        stalin_sort_write_purged(self, run, beaten);
    self->kept_count += kept_count;
    self->purged_count += run->chunk.bytes / width - kept_count;
    if (kept_count > 0) { /* else run->kept may be NULL */
        const char *last = kept + (run->kept_count - 1) * width;
        if (!keeps_text)
            stalin_sort_write(self, self->kept, kept + beaten * width, kept_count);
        const uint64_t key = element_key(&self->plan->element, last);
        self->last = stalin_sort_rank(self->plan, key);
        atomic_store_explicit(&self->floor_key, key, memory_order_relaxed);
        atomic_store_explicit(&self->has_floor, true, memory_order_release);
    }
    enum status status = writer_flush(self->kept, failure);
    return status == STATUS_OK && self->purged ? writer_flush(self->purged, failure) : status;
}

/* Returns whether it is the turn of that chunk and no thread has it. The caller holds the lock. */
static bool stalin_sort_is_turn(const struct stalin_sort *self, uint64_t sequence)
{
    return sequence == self->next && !self->busy;
}

/*
 * Parks a copy of a run if it is small and not too far ahead of its turn, unless its text may be
 * written, or there is no memory. The caller holds the lock.
 */
static bool stalin_sort_park(struct stalin_sort *self, const struct stalin_sort_run *run)
{
    const size_t slot = run->chunk.sequence % STALIN_SORT_AHEAD;
    const size_t kept_bytes = run->kept_count * self->plan->element.bytes;
    /* the kept elements; if dropped elements are wanted, these and the chunk */
    const size_t bytes = run->purged ? 2 * run->chunk.bytes : kept_bytes;
    const bool may_write = run->kept_count > 0 || run->purged;
    char *memory = NULL;

    if ((stalin_sort_keeps_text(self->plan) && may_write) ||
        run->chunk.sequence - self->next >= STALIN_SORT_AHEAD || bytes > STALIN_SORT_AHEAD_BYTES)
        return false;
    if (bytes > 0) {
        memory = malloc(bytes);
        if (!memory)
            return false;
        memcpy(memory, run->kept, kept_bytes);
    }
    struct stalin_sort_run *copy = &self->parked[slot];
    *copy = *run;
    copy->kept = memory;
    if (memory && run->purged) {
        copy->purged = memcpy(memory + kept_bytes, run->purged, run->chunk.bytes - kept_bytes);
        copy->chunk.data = memcpy(memory + run->chunk.bytes, run->chunk.data, run->chunk.bytes);
    }
    self->is_parked[slot] = true;
    return true;
}

/* Wakes the thread whose turn it is, or all if stopped. The caller holds the lock. */
static void stalin_sort_wake(struct stalin_sort *self)
{
    const size_t first = self->stopped ? 0 : self->next % STALIN_SORT_AHEAD;
    const size_t end = self->stopped ? STALIN_SORT_AHEAD : first + 1;

    for (size_t i = first; i < end; i++)
        pthread_cond_broadcast(&self->turns[i]);
}

enum status stalin_sort_submit(struct stalin_sort *self, const struct stalin_sort_run *run,
                               struct failure *failure)
{
    struct stalin_sort_run parked = {.kept = NULL};
    enum status status = STATUS_OK;

    pthread_mutex_lock(&self->lock);
    if (!stalin_sort_is_turn(self, run->chunk.sequence) && !self->stopped &&
        stalin_sort_park(self, run)) {
        pthread_mutex_unlock(&self->lock);
        return STATUS_OK;
    }
    while (!stalin_sort_is_turn(self, run->chunk.sequence) && !self->stopped)
        pthread_cond_wait(&self->turns[run->chunk.sequence % STALIN_SORT_AHEAD], &self->lock);
    while (!self->stopped) { /* writes the run, and the parked runs that follow */
        self->busy = true;
        pthread_mutex_unlock(&self->lock);
        status = stalin_sort_release(self, run, failure);
        free((void *)parked.kept);
        pthread_mutex_lock(&self->lock);
        self->stopped = self->stopped || run->chunk.is_cut || status != STATUS_OK;
        self->busy = false;
        const size_t slot = ++self->next % STALIN_SORT_AHEAD;
        if (self->stopped || !self->is_parked[slot]) {
            stalin_sort_wake(self);
            break;
        }
        parked = self->parked[slot];
        self->is_parked[slot] = false;
        run = &parked;
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

void stalin_sort_stop(void *aggregate)
{
    struct stalin_sort *self = aggregate;

    pthread_mutex_lock(&self->lock);
    self->stopped = true;
    stalin_sort_wake(self);
    pthread_mutex_unlock(&self->lock);
}

enum status stalin_sort_finalize(void *aggregate, const struct plan *plan, uint64_t elements,
                                 struct failure *failure)
{
    const struct stalin_sort *self = aggregate;
    (void)plan;

    if (self->kept_count + self->purged_count == elements)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       "internal error: %llu elements read, %llu kept and %llu dropped",
                       (unsigned long long)elements, (unsigned long long)self->kept_count,
                       (unsigned long long)self->purged_count);
}

void stalin_sort_stats(const void *aggregate)
{
    const struct stalin_sort *self = aggregate;
    status_print("kept %llu, dropped %llu", (unsigned long long)self->kept_count,
                 (unsigned long long)self->purged_count);
}
