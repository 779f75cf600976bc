/* The aggregate of operation count: merging, counts too large for a test run, the checks. */
#include "config.h"

#include "aggregate/scalar.h"
#include "engine/stores.h"
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LARGE ((uint64_t)1 << 40)

enum { LESS, NOT_LESS, EVERY, NONE, ODD_ONES, PREDICATES };

static void bail_out(const char *message)
{
    printf("Bail out! %s\n", message);
    exit(1);
}

/* The predicates of the tests, on i32. */
static struct predicate predicates[PREDICATES];
static struct plan plan = {
    .operation = OPERATION_COUNT,
    .predicates = predicates,
    .predicate_count = PREDICATES,
};

static void make_predicate(int index, enum predicate_relation relation, const char *text)
{
    struct failure failure;
    if (predicate_init(&predicates[index], relation, text, &plan.element, &failure) != STATUS_OK)
        bail_out(failure.message);
}

static void make_plan(void)
{
    struct failure failure;

    element_parse("i32", &plan.element);
    make_predicate(LESS, PREDICATE_LT, "10");
    make_predicate(NOT_LESS, PREDICATE_GE, "10");
    make_predicate(EVERY, PREDICATE_ALL, NULL);
    make_predicate(NONE, PREDICATE_EQ, "5G");
    if (predicate_init_any_of(&predicates[ODD_ONES], "1,3,5,7", &plan.element,
                              (const uint64_t[]){1, 3, 5, 7}, 4, &failure) != STATUS_OK)
        bail_out(failure.message);
}

static struct scalar *new_count(void)
{
    struct failure failure;
    struct scalar *count = scalar_create(&plan, &failure);
    if (!count)
        bail_out(failure.message);
    return count;
}

/* Counts 0 .. 99 on a CPU thread, `times` times; 10 of these are less than 10. */
static void count_hundred(struct scalar *count, int times)
{
    struct failure failure;
    int32_t values[100];
    void *state = NULL;

    for (int i = 0; i < 100; i++)
        values[i] = i;
    struct chunk chunk = {.data = values, .bytes = sizeof values};
    if (store_open_local(&store_scalar, &plan, count, &state, &failure) != STATUS_OK)
        bail_out(failure.message);
    for (int i = 0; i < times; i++)
        store_scalar.local_accumulate(state, &chunk, &failure);
    store_scalar.local_merge(state, &failure);
    store_close_local(&store_scalar, state);
}

static bool equals(const struct scalar *count, const uint64_t wanted[PREDICATES])
{
    bool right = true;

    for (int i = 0; i < PREDICATES; i++) {
        uint64_t result = predicate_count(&plan.predicates[i], count->row[0], count->row[1 + i]);
        if (result != wanted[i])
            right = tap_note("predicate %d: %llu, not %llu", i, (unsigned long long)result,
                             (unsigned long long)wanted[i]);
    }
    return right;
}

static void test_forms(void)
{
    static const enum predicate_form forms[PREDICATES] = {PREDICATE_INTERVAL, PREDICATE_INTERVAL,
                                                          PREDICATE_EVERY, PREDICATE_EVERY,
                                                          PREDICATE_SET};
    bool right = true;

    for (int i = 0; i < PREDICATES; i++)
        right = right && predicates[i].form == forms[i];
    tap_ok(right, "predicates are brought into their forms");
}

static void test_large(void)
{
    const uint64_t preloaded[] = {3 * LARGE, LARGE + 3, LARGE + 3, 0, 0, UINT32_MAX};
    struct scalar *count = new_count();
    struct failure failure;

    scalar_merge(count, preloaded);
    count_hundred(count, 5);
    uint64_t elements = 3 * LARGE + 500;
    const uint64_t wanted[PREDICATES] = {LARGE + 53, elements - LARGE - 53, elements, 0,
                                         (uint64_t)UINT32_MAX + 20};
    tap_ok(scalar_finalize(count, &plan, elements, &failure) == STATUS_OK && equals(count, wanted),
           "counts beyond 2^32 and 2^40 are kept and added to");
    scalar_destroy(count);
}

static void test_largest(void)
{
    const uint64_t preloaded[1 + PREDICATES] = {UINT64_MAX - 100, UINT64_MAX - 10};
    const uint64_t wanted[PREDICATES] = {UINT64_MAX, UINT64_MAX - 10, UINT64_MAX, 0, 4};
    struct scalar *count = new_count();
    struct failure failure;

    scalar_merge(count, preloaded);
    count_hundred(count, 1);
    tap_ok(scalar_finalize(count, &plan, UINT64_MAX, &failure) == STATUS_OK &&
               equals(count, wanted),
           "counts up to 2^64 - 1");
    scalar_destroy(count);
}

static void *run_worker(void *count)
{
    for (int i = 0; i < 50; i++)
        count_hundred(count, 3);
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 8, ROUNDS = THREADS * 50 * 3 };
    const uint64_t wanted[PREDICATES] = {10 * ROUNDS, 90 * ROUNDS, 100 * ROUNDS, 0, 4 * ROUNDS};
    struct scalar *count = new_count();
    struct failure failure;
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, run_worker, count) != 0)
            bail_out("no thread");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    tap_ok(scalar_finalize(count, &plan, 100 * ROUNDS, &failure) == STATUS_OK &&
               equals(count, wanted),
           "threads merge into one aggregate");
    scalar_destroy(count);
}

static bool refuses(uint64_t elements, uint64_t hits, uint64_t read, const char *message)
{
    const uint64_t preloaded[] = {elements, hits};
    struct scalar *count = new_count();
    struct failure failure = {.status = STATUS_OK};

    scalar_add_counts(count, 0, preloaded, 2);
    bool right = scalar_finalize(count, &plan, read, &failure) == STATUS_DATA &&
                 failure.status == STATUS_DATA && strstr(failure.message, message);
    scalar_destroy(count);
    return right;
}

static void test_totals(void)
{
    tap_ok(refuses(99, 0, 100, "100 elements were read, but 99 counted") &&
               refuses(101, 0, 100, "101 counted") &&
               refuses(100 + ((uint64_t)1 << 32), 0, 100, "4294967396 counted"),
           "elements that were missed or met twice are an error");
    tap_ok(refuses(100, 101, 100, "the results contradict each other"),
           "more hits than elements are an error");
}

static void test_null(void)
{
    struct plan none = {.predicates = NULL};

    scalar_destroy(NULL);
    store_close_local(&store_scalar, NULL);
    plan_destroy(&none);
    tap_ok(true, "nothing can be freed");
}

int main(void)
{
    make_plan();
    test_forms();
    test_large();
    test_largest();
    test_threads();
    test_totals();
    test_null();
    for (int i = 0; i < PREDICATES; i++)
        predicate_destroy(&predicates[i]);
    return tap_done();
}
