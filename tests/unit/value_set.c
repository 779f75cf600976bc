/* Sets of values, compared with a plain search through the values put in. */
#include "config.h"

#include "tap.h"
#include "value/value_set.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

#define SIGNED_MIN ((uint64_t)INT64_MIN)
#define SIGNED_MAX ((uint64_t)INT64_MAX)

static void *must(void *memory)
{
    if (memory)
        return memory;
    printf("Bail out! no memory\n");
    exit(1);
}

/* --- the reference ---------------------------------------------------------------------------- */

/* A sample: keys in the order in which they were put in, and a copy for the set. */
struct sample {
    uint64_t *keys;
    uint64_t *sorted;
    size_t count;
    size_t unique;
    bool is_signed;
    struct value_set set;
};

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The reference compares the words of keys, regardless of sign. */
static bool reference_contains(const struct sample *sample, uint64_t key)
{
    return bsearch(&key, sample->keys, sample->count, sizeof key, compare_words) != NULL;
}

static size_t reference_unique(const struct sample *sample)
{
    size_t unique = sample->count > 0;

    for (size_t i = 1; i < sample->count; i++)
        unique += sample->keys[i] != sample->keys[i - 1];
    return unique;
}

/* --- samples ---------------------------------------------------------------------------------- */

static bool sample_open(struct sample *sample, const uint64_t *keys, size_t count, bool is_signed)
{
    struct failure failure;

    *sample = (struct sample){.count = count, .is_signed = is_signed};
    sample->keys = must(malloc(count * sizeof *keys));
    sample->sorted = must(malloc(count * sizeof *keys));
    memcpy(sample->keys, keys, count * sizeof *keys);
    memcpy(sample->sorted, keys, count * sizeof *keys);
    qsort(sample->keys, count, sizeof *keys, compare_words);
    sample->unique = value_set_sort(sample->sorted, count, is_signed);
    return value_set_init(&sample->set, sample->sorted, sample->unique, &failure) == STATUS_OK;
}

static void sample_close(struct sample *sample)
{
    value_set_destroy(&sample->set);
    free(sample->keys);
    free(sample->sorted);
}

static bool sample_is_sorted(const struct sample *sample)
{
    for (size_t i = 1; i < sample->unique; i++) {
        uint64_t a = sample->sorted[i - 1];
        uint64_t b = sample->sorted[i];
        if (sample->is_signed ? (int64_t)a >= (int64_t)b : a >= b)
            return tap_note("not sorted at %zu", i);
    }
    return sample->unique == reference_unique(sample);
}

static bool check_key(const struct sample *sample, uint64_t key)
{
    const struct value_set *set = &sample->set;
    bool found = value_set_contains(set, set->form, key - set->low);

    return found == reference_contains(sample, key) ||
           tap_note("%llx: %s", (unsigned long long)key, found ? "found" : "not found");
}

/* Every value, its neighbours, random keys near and far, and the limits. */
static bool sample_is_right(const struct sample *sample)
{
    static const uint64_t limits[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, SIGNED_MIN, SIGNED_MAX};
    uint64_t state = 5;
    bool right = sample_is_sorted(sample);

    for (size_t i = 0; right && i < sample->count; i++) {
        uint64_t key = sample->keys[i];
        uint64_t near = key + tap_random(&state) % 1000 - 500;
        right = check_key(sample, key) && check_key(sample, key - 1) &&
                check_key(sample, key + 1) && check_key(sample, near);
    }
    for (size_t i = 0; right && i < 20000; i++)
        right = check_key(sample, tap_random(&state) >> tap_random(&state) % 64);
    for (size_t i = 0; right && i < ARRAY_LENGTH(limits); i++)
        right = check_key(sample, limits[i]);
    return right;
}

static void check(const uint64_t *keys, size_t count, enum value_set_form form, const char *name)
{
    bool right = true;

    for (int is_signed = 0; is_signed <= 1; is_signed++) {
        struct sample sample;
        right = sample_open(&sample, keys, count, is_signed) && right;
        if (sample.set.form != form)
            right = tap_note("%s, not %s", form == VALUE_SET_BITMAP ? "sorted" : "a bitmap",
                             form == VALUE_SET_BITMAP ? "a bitmap" : "sorted");
        right = right && sample_is_right(&sample);
        sample_close(&sample);
    }
    tap_ok(right, "%s", name);
}

/* --- the tests -------------------------------------------------------------------------------- */

static void test_small(void)
{
    static const uint64_t one[] = {42};
    static const uint64_t two[] = {9, 5};
    static const uint64_t equal[] = {7, 7, 7, 7};
    static const uint64_t apart[] = {0, 1000000000, 3, 1000000000, 17};
    static const uint64_t negative[] = {(uint64_t)-1, (uint64_t)-70, (uint64_t)-64, (uint64_t)-65};

    check(one, ARRAY_LENGTH(one), VALUE_SET_BITMAP, "one value");
    check(two, ARRAY_LENGTH(two), VALUE_SET_BITMAP, "two values");
    check(equal, ARRAY_LENGTH(equal), VALUE_SET_BITMAP, "one value four times");
    check(apart, ARRAY_LENGTH(apart), VALUE_SET_SORTED, "few values far apart");
    check(negative, ARRAY_LENGTH(negative), VALUE_SET_BITMAP, "negative values");
}

static void test_extremes(void)
{
    static const uint64_t all[] = {0, UINT64_MAX, SIGNED_MIN, SIGNED_MAX, 1};
    static const uint64_t top[] = {UINT64_MAX, UINT64_MAX - 63, UINT64_MAX - 64};
    static const uint64_t bottom[] = {SIGNED_MIN, SIGNED_MIN + 63, SIGNED_MIN + 64};
    static const uint64_t ends[] = {SIGNED_MIN, SIGNED_MAX};

    check(all, ARRAY_LENGTH(all), VALUE_SET_SORTED, "the limits of 64 bits");
    check(top, ARRAY_LENGTH(top), VALUE_SET_BITMAP, "the largest values of u64");
    check(bottom, ARRAY_LENGTH(bottom), VALUE_SET_BITMAP, "the smallest values of i64");
    /* neighbours as unsigned words */
    struct sample sample;
    bool right = sample_open(&sample, ends, 2, true) && sample.set.form == VALUE_SET_SORTED &&
                 sample.set.last == UINT64_MAX && sample_is_right(&sample);
    tap_ok(right, "the smallest and the largest value of i64");
    sample_close(&sample);
}

/* Sizes around the limit up to which a set is always a bitmap. */
static void test_limit(void)
{
    const uint64_t last = ((uint64_t)1 << 19) - 1;
    const uint64_t within[] = {1000, 1000 + last};
    const uint64_t beyond[] = {1000, 1000 + last + 1};

    check(within, 2, VALUE_SET_BITMAP, "the widest small bitmap");
    check(beyond, 2, VALUE_SET_SORTED, "one wider");
}

enum { MANY = 100000 };

/* MANY values below `range`, times `step`, plus `base`. */
static void fill(uint64_t *keys, uint64_t range, uint64_t step, uint64_t base)
{
    uint64_t state = range;

    for (size_t i = 0; i < MANY; i++)
        keys[i] = base + tap_random(&state) % range * step;
}

static void test_many(void)
{
    uint64_t *keys = must(malloc(MANY * sizeof *keys));

    fill(keys, 65536, 1, (uint64_t)1 << 40);
    check(keys, MANY, VALUE_SET_BITMAP, "65536 values in a row");
    fill(keys, 3 * MANY, 1, 1 << 20);
    check(keys, MANY, VALUE_SET_BITMAP, "dense");
    fill(keys, UINT64_MAX, 1, 0);
    check(keys, MANY, VALUE_SET_SORTED, "sparse, over all 64 bits");
    fill(keys, MANY, 1000003, (uint64_t)-1000);
    check(keys, MANY, VALUE_SET_SORTED, "evenly spread");
    fill(keys, 5000, 1, 77);
    keys[3] = (uint64_t)1 << 62;
    check(keys, MANY, VALUE_SET_SORTED, "all in one bucket but for one");
    for (size_t i = 0; i < MANY; i++)
        keys[i] = (uint64_t)(i % 7) << 40 | i * i % 999983;
    check(keys, MANY, VALUE_SET_SORTED, "seven clusters");
    for (size_t i = 0; i < MANY; i++)
        keys[i] = (uint64_t)1 << i % 64;
    check(keys, MANY, VALUE_SET_SORTED, "the powers of two, many times");
    free(keys);
}

static void test_millions(void)
{
    const size_t count = tap_some(2000000);
    uint64_t *keys = must(malloc(count * sizeof *keys));
    struct sample sample;
    uint64_t state = 9;
    bool right = true;

    for (size_t i = 0; i < count; i++)
        keys[i] = tap_random(&state) >> 4;
    right = sample_open(&sample, keys, count, false) && sample_is_sorted(&sample);
    for (size_t i = 0; right && i < count; i += 7)
        right = check_key(&sample, keys[i]) && check_key(&sample, keys[i] ^ 1);
    tap_ok(right, "%zu values", count);
    sample_close(&sample);
    free(keys);
}

/* Like a GPU: the same set at the address of a copy of its memory. */
static void test_copy(void)
{
    static const uint64_t keys[] = {5, 1000000007, 99, 12345678901, 100};
    struct sample sample;
    bool right = sample_open(&sample, keys, ARRAY_LENGTH(keys), false);
    void *copy = must(malloc(sample.set.bytes));

    memcpy(copy, sample.set.words, sample.set.bytes);
    struct value_set original = sample.set;
    sample.set = value_set_at(&original, copy);
    memset(original.words, 0xff, original.bytes);
    tap_ok(right && sample_is_right(&sample), "a set at another place");
    sample.set = original;
    sample_close(&sample);
    free(copy);
}

/* Narrow elements: x is taken modulo 2^8. */
static void test_narrow(void)
{
    static const uint64_t keys[] = {(uint64_t)-128, (uint64_t)-3, 0, 5, 127};
    struct sample sample;
    bool right = sample_open(&sample, keys, ARRAY_LENGTH(keys), true);

    for (int value = -128; value <= 127; value++) {
        uint8_t x = (uint8_t)((uint8_t)value - (uint8_t)sample.set.low);
        bool found = value_set_contains(&sample.set, sample.set.form, x);
        right = right && found == reference_contains(&sample, (uint64_t)(int64_t)value);
    }
    tap_ok(right, "distances in 8 bits");
    sample_close(&sample);
}

static void test_null(void)
{
    struct value_set set = {.words = NULL};

    value_set_destroy(&set);
    tap_ok(value_set_sort(NULL, 0, true) == 0, "no values at all can be sorted and freed");
}

int main(void)
{
    test_small();
    test_extremes();
    test_limit();
    test_many();
    test_millions();
    test_copy();
    test_narrow();
    test_null();
    return tap_done();
}
