/* Implements rows_list.h: a radix sort by count, and a heap for the largest counts. */
#include "config.h"

#include "result/rows_list.h"

#include "lib/memory.h"
#include "lib/parallel.h"
#include "lib/resources.h"

#include <pthread.h>
#include <stdlib.h>

#define ROWS_LIST_DIGITS 8

/* Maximum number of rows that are chosen without counting all rows first. */
#define ROWS_LIST_FEW 1024

/* Minimum number of rows per thread that chooses some. */
#define ROWS_LIST_THREAD_ROWS ((uint64_t)64 << 10)

/* Number of rows with each value of each digit; for sorting, the place of the next of these. */
struct rows_list_digits {
    size_t counts[ROWS_LIST_DIGITS][256];
    size_t rows;
};

/* Returns a digit of the complement of a count, so that larger counts are first. */
static unsigned rows_list_digit(uint64_t count, unsigned digit)
{
    return (unsigned)(~count >> 8 * digit) & 255;
}

/* Allocates memory for `items` items, at least one. */
static enum status rows_list_allocate(struct rows_list *list, size_t items, struct failure *failure)
{
    const size_t mebibytes = (size_t)((unsigned __int128)items * sizeof *list->items >> 20);

    list->bytes = (items > 0 ? items : 1) * sizeof *list->items;
    if (mebibytes == 0) /* there may be millions of groups with few rows */
        list->items = malloc(list->bytes);
    else if (resources_have_memory(list->bytes))
        list->items = memory_map(list->bytes);
    if (list->items)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no memory to sort the bins: %zu MiB are needed",
                       mebibytes);
}

/* Sorts items by one digit: starts[d] is the place of the next item with digit d. */
static void rows_list_scatter(struct rows_row *to, const struct rows_row *from, size_t n,
                              size_t *starts, unsigned digit)
{
    for (size_t i = 0; i < n; i++)
        to[starts[rows_list_digit(from[i].count, digit)]++] = from[i];
}

/* Makes the list of all rows, sorted by count. */
static enum status rows_list_sort(struct rows_list *list, const struct rows *rows,
                                  struct rows_list_digits *digits, struct failure *failure)
{
    struct rows_row batch[ROWS_BATCH];
    struct rows rest = *rows;
    unsigned passes[ROWS_LIST_DIGITS] = {0};
    unsigned count = 0;
    size_t n;

    for (unsigned d = 0; d < ROWS_LIST_DIGITS; d++) { /* numbers of items become indexes */
        bool differ = true;
        size_t start = 0;
        for (unsigned i = 0; i < 256; i++) {
            const size_t items = digits->counts[d][i];
            differ = differ && items < digits->rows;
            digits->counts[d][i] = start;
            start += items;
        }
        if (differ)
            passes[count++] = d;
    }
    size_t buffers = count > 1 ? 2 : 1;
    if (rows_list_allocate(list, buffers * digits->rows, failure) != STATUS_OK)
        return failure->status;
    struct rows_row *from = list->items;
    struct rows_row *to = from + (buffers - 1) * digits->rows;
    if (count % 2 == 1) { /* the last pass must fill the first buffer */
        to = from;
        from += (buffers - 1) * digits->rows;
    }
    while ((n = rows_read(&rest, batch, ROWS_BATCH)) > 0)
        rows_list_scatter(to, batch, n, digits->counts[passes[0]], passes[0]);
    for (unsigned pass = 1; pass < count; pass++) {
        struct rows_row *done = to;
        to = from;
        from = done;
        rows_list_scatter(to, from, digits->rows, digits->counts[passes[pass]], passes[pass]);
    }
    list->count = digits->rows;
    return STATUS_OK;
}

/* Returns whether a precedes b: it has a larger count, or an equal count and a lower bin. */
static bool rows_list_precedes(const struct rows_row *a, const struct rows_row *b)
{
    return a->count != b->count ? a->count > b->count : a->low < b->low;
}

/* Puts an item at index i of a heap of n or below it. In the heap each item precedes its parent. */
static void rows_list_sift(struct rows_row *heap, size_t n, size_t i, struct rows_row item)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && rows_list_precedes(&heap[child], &heap[child + 1]))
            child++;
        if (!rows_list_precedes(&item, &heap[child]))
            break;
        heap[i] = heap[child];
    }
    heap[i] = item;
}

/* Offers an item to a heap that keeps the first `capacity` in the order, in any order if fewer. */
static inline void rows_list_offer(struct rows_list *list, size_t capacity,
                                   const struct rows_row *item)
{
    struct rows_row *heap = list->items;

    if (list->count < capacity) {
        heap[list->count++] = *item;
        for (size_t i = capacity / 2; list->count == capacity && i-- > 0;)
            rows_list_sift(heap, capacity, i, heap[i]);
    } else if (rows_list_precedes(item, heap)) {
        rows_list_sift(heap, capacity, 0, *item);
    }
}

/*
 * Reads rows and keeps the first `capacity` in the order, at least one. Adds the number of rows
 * read to list->left and list->empty_left.
 */
static void rows_list_choose(struct rows_list *list, size_t capacity, struct rows rows)
{
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    while ((n = rows_read(&rows, batch, ROWS_BATCH)) > 0) {
        list->left += n;
        for (size_t i = 0; i < n; i++) {
            list->empty_left += batch[i].count == 0;
            rows_list_offer(list, capacity, &batch[i]);
        }
    }
}

/* The state of several threads that choose rows of parts. */
struct rows_list_choice {
    const struct rows *rows;
    size_t parts;
    size_t capacity;
    pthread_mutex_t lock; /* guards the members below */
    struct rows_list *list;
};

/* Chooses rows of a part. Cannot run out of memory: the list has few rows. */
static void rows_list_choose_part(void *context, size_t part)
{
    struct rows_list_choice *choice = context;
    struct rows_row items[ROWS_LIST_FEW];
    struct rows_list list = {.items = items};
    struct rows rows = *choice->rows;

    rows.narrow(&rows, part, choice->parts);
    rows_list_choose(&list, choice->capacity, rows);
    pthread_mutex_lock(&choice->lock);
    choice->list->left += list.left;
    choice->list->empty_left += list.empty_left;
    for (size_t i = 0; i < list.count; i++)
        rows_list_offer(choice->list, choice->capacity, &list.items[i]);
    pthread_mutex_unlock(&choice->lock);
}

static int rows_list_compare_bins(const void *a, const void *b)
{
    __int128 x = ((const struct rows_row *)a)->low;
    __int128 y = ((const struct rows_row *)b)->low;
    return (x > y) - (x < y);
}

static int rows_list_compare_counts(const void *a, const void *b)
{
    return rows_list_precedes(b, a) - rows_list_precedes(a, b);
}

/* Makes the list of the `max` rows with the largest counts, or of all if there are fewer. */
static enum status rows_list_top(struct rows_list *list, const struct rows *rows, size_t max,
                                 bool by_count, unsigned threads, struct failure *failure)
{
    if (rows_list_allocate(list, max, failure) != STATUS_OK)
        return failure->status;
    if (max == 0)
        return STATUS_OK;
    threads = rows->narrow && max <= ROWS_LIST_FEW
                  ? parallel_threads(threads, rows->rows_max, ROWS_LIST_THREAD_ROWS)
                  : 1;
    struct rows_list_choice choice = {
        .rows = rows,
        .parts = threads,
        .capacity = max,
        .list = list,
    };
    list->left = 0;
    if (threads == 1) {
        rows_list_choose(list, max, *rows);
    } else {
        pthread_mutex_init(&choice.lock, NULL);
        parallel_run(threads, threads, rows_list_choose_part, &choice);
        pthread_mutex_destroy(&choice.lock);
    }
    list->left -= list->count;
    for (size_t i = 0; i < list->count; i++)
        list->empty_left -= list->items[i].count == 0;
    qsort(list->items, list->count, sizeof *list->items,
          by_count ? rows_list_compare_counts : rows_list_compare_bins);
    return STATUS_OK;
}

enum status rows_list_make(struct rows_list *list, const struct rows *rows, uint64_t top,
                           bool by_count, unsigned threads, struct failure *failure)
{
    struct rows_list_digits digits = {.rows = 0};
    struct rows_row batch[ROWS_BATCH];
    struct rows rest = *rows;

    *list = (struct rows_list){.items = NULL};
    if (top > 0 && top <= ROWS_LIST_FEW)
        return rows_list_top(list, rows, (size_t)top, by_count, threads, failure);
    for (size_t n; (n = rows_read(&rest, batch, ROWS_BATCH)) > 0; digits.rows += n) {
        for (size_t i = 0; i < n; i++) {
            for (unsigned d = 0; d < ROWS_LIST_DIGITS && batch[i].count >> 8 * d > 0; d++)
                digits.counts[d][rows_list_digit(batch[i].count, d)]++;
        }
    }
    for (unsigned d = 0; d < ROWS_LIST_DIGITS; d++) { /* the leading zeros of all counts */
        size_t others = 0;
        for (unsigned i = 0; i < 256; i++)
            others += digits.counts[d][i];
        digits.counts[d][rows_list_digit(0, d)] += digits.rows - others;
    }
    size_t count = top > 0 && top < digits.rows ? (size_t)top : digits.rows;
    list->left = digits.rows - count;
    if (by_count && count == digits.rows && !rows->plan->any_order)
        return rows_list_sort(list, rows, &digits, failure);
    return rows_list_top(list, rows, count, by_count, threads, failure);
}

static size_t rows_list_read(struct rows *rows, struct rows_row *out, size_t capacity)
{
    const struct rows_list *list = rows->aggregate;
    size_t n = 0;

    while (n < capacity && rows->next[0] < list->count)
        out[n++] = list->items[rows->next[0]++];
    return n;
}

void rows_list_begin(struct rows *rows, const struct rows *from, const struct rows_list *list)
{
    *rows = *from;
    rows->aggregate = list;
    rows->next[0] = 0;
    rows->next[1] = 0;
    rows->read = rows_list_read;
    rows->read_counts = NULL;
    rows->narrow = NULL;
}

void rows_list_destroy(struct rows_list *list)
{
    if (list->bytes >> 20 == 0)
        free(list->items);
    else
        memory_unmap(list->items, list->bytes);
    *list = (struct rows_list){.items = NULL};
}
