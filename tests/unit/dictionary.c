/*
 * Tests the dictionary of strings: ids, threads, its limit, and its order compared with qsort and
 * memcmp. With arguments `figures THREADS`, prints its speed.
 */
#include "config.h"

#include "tap.h"
#include "text/dictionary.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX 300
#define THREADS  8

static const struct keyed_hash keys = {
    {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb}};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* Writes the string of a number; different numbers have different strings. */
static size_t write_text(uint64_t number, char *text)
{
    static const char *const heads[] = {"", "/", "/api/v1/items/",
                                        "https://www.example.com/a/b?c="};
    uint64_t state = number;
    size_t bytes = (size_t)sprintf(text, "%s", heads[number % 4]);

    if (number % 7 == 0)
        for (uint64_t i = tap_random(&state) % 100; i > 0; i--)
            text[bytes++] = '\0';
    for (; number > 0; number /= 200)
        text[bytes++] = (char)(number % 200 + (number % 2) * 50);
    text[bytes++] = (char)255;
    return bytes;
}

/* A worker that looks up strings with its own frequencies, and the ids it gets. */
struct finder {
    struct dictionary *dictionary;
    uint64_t seed;
    uint64_t texts; /* number of distinct strings */
    uint64_t finds;
    uint32_t *ids; /* [texts]; UINT32_MAX: not looked up */
    bool is_right;
};

static void *find_strings(void *argument)
{
    struct finder *finder = argument;
    struct dictionary_cache *cache = must(dictionary_cache_create(finder->dictionary));
    struct failure failure;
    char text[TEXT_MAX];
    size_t bytes;
    uint32_t id;

    finder->is_right = true;
    for (uint64_t i = 0; finder->is_right && i < finder->finds; i++) {
        const uint64_t random = tap_random(&finder->seed);
        const uint64_t number = i < finder->texts && finder->seed % 2 ? i : random % finder->texts;
        bytes = write_text(number, text);
        finder->is_right = dictionary_find(cache, text, bytes, &id, &failure) == STATUS_OK;
        if (finder->ids[number] == UINT32_MAX)
            finder->ids[number] = id;
        const char *kept = dictionary_text(finder->dictionary, id, &bytes);
        finder->is_right &= finder->ids[number] == id && bytes == write_text(number, text) &&
                            memcmp(text, kept, bytes) == 0;
    }
    free(cache);
    return NULL;
}

/* Returns whether the order is that of memcmp, and ids and ranks are the inverse of each other. */
static bool is_ordered(const struct dictionary *dictionary, unsigned threads)
{
    struct dictionary_order order;
    bool is_right = dictionary_order_create(dictionary, threads, &order);
    const char *before = NULL;
    size_t before_bytes = 0;

    for (uint32_t rank = 0; is_right && rank < dictionary_count(dictionary); rank++) {
        size_t bytes;
        const char *text = dictionary_text(dictionary, order.ids[rank], &bytes);
        if (before) {
            const int difference =
                memcmp(before, text, bytes < before_bytes ? bytes : before_bytes);
            is_right = difference < 0 || (difference == 0 && before_bytes < bytes);
        }
        is_right &= order.ranks[order.ids[rank]] == rank;
        before = text;
        before_bytes = bytes;
    }
    dictionary_order_destroy(&order);
    return is_right;
}

static void test_threads(uint64_t texts, uint64_t finds)
{
    struct dictionary *dictionary = must(dictionary_create((uint64_t)1 << 30, keys));
    struct finder finders[THREADS];
    pthread_t threads[THREADS];
    bool is_right = true;
    uint64_t found = 0;

    for (size_t i = 0; i < THREADS; i++) {
        finders[i] = (struct finder){dictionary, i, texts, finds, NULL, false};
        finders[i].ids = must(malloc(texts * sizeof(uint32_t)));
        memset(finders[i].ids, 255, texts * sizeof(uint32_t));
        if (pthread_create(&threads[i], NULL, find_strings, &finders[i]))
            abort();
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        is_right &= finders[i].is_right;
    }
    for (uint64_t number = 0; number < texts; number++) {
        uint32_t id = UINT32_MAX;
        for (size_t i = 0; i < THREADS; i++) {
            const uint32_t own = finders[i].ids[number];
            is_right &= id == UINT32_MAX || own == UINT32_MAX || own == id;
            id = own == UINT32_MAX ? id : own;
        }
        is_right &= id == UINT32_MAX || id < dictionary_count(dictionary);
        found += id != UINT32_MAX;
    }
    tap_ok(is_right, "%d threads find the same numbers, %llu texts", THREADS,
           (unsigned long long)texts);
    tap_ok(found == dictionary_count(dictionary), "each text has one number, without gaps");
    tap_ok(is_ordered(dictionary, 1), "in order, by one thread");
    tap_ok(is_ordered(dictionary, THREADS), "in order, by several");
    for (size_t i = 0; i < THREADS; i++)
        free(finders[i].ids);
    dictionary_destroy(dictionary);
}

/* Similar strings: zeros at their ends, long common parts, bytes above 127. */
static void test_alike(void)
{
    struct dictionary *dictionary = must(dictionary_create((uint64_t)1 << 30, keys));
    struct dictionary_cache *cache = must(dictionary_cache_create(dictionary));
    static char text[70000];
    struct failure failure;
    bool is_right = true;
    uint32_t id, again;

    for (uint32_t bytes = 0; bytes < 300; bytes++) {
        for (int way = 0; is_right && way < 3; way++) {
            memset(text, way == 0 ? 0 : way == 1 ? 'a' : 255, bytes + 1);
            text[0] = way == 0 ? 'b' : text[0];
            is_right = !dictionary_find(cache, text, bytes + 1, &id, &failure) &&
                       id == 3 * bytes + (uint32_t)way &&
                       !dictionary_find(cache, text, bytes + 1, &again, &failure) && again == id;
        }
    }
    for (size_t bytes = 65000; bytes < 65100; bytes++)
        is_right &= !dictionary_find(cache, memset(text, 'c', bytes), bytes, &id, &failure);
    is_right &= !dictionary_find(cache, "", 0, &id, &failure) && id == 1000 &&
                !dictionary_find(cache, "", 0, &again, &failure) && again == id;
    tap_ok(is_right, "texts that are alike");
    tap_ok(dictionary_count(dictionary) == 1001, "how many there are");
    tap_ok(is_ordered(dictionary, 1), "their order");
    free(cache);
    dictionary_destroy(dictionary);
}

static void test_limit(void)
{
    const uint64_t limit = (uint64_t)3 << 20;
    struct dictionary *dictionary = must(dictionary_create(limit, keys));
    struct dictionary_cache *cache = must(dictionary_cache_create(dictionary));
    struct failure failure;
    enum status status = STATUS_OK;
    char text[TEXT_MAX];
    uint64_t number = 0;
    uint32_t id;

    while (!status && number < 1000000) {
        status = dictionary_find(cache, text, write_text(number, text), &id, &failure);
        number += !status;
    }
    tap_ok(status == STATUS_DATA && strstr(failure.message, "more than 3145728 bytes"),
           "a limit, passed after %llu texts", (unsigned long long)number);
    tap_ok(dictionary_memory(dictionary) <= limit && number > 5000, "it is not passed much before");
    free(cache);
    dictionary_destroy(dictionary);
    dictionary = must(dictionary_create(limit, keys));
    tap_ok(is_ordered(dictionary, 4), "an empty dictionary");
    dictionary_destroy(dictionary);
}

/* --- figures ---------------------------------------------------------------------------------- */

/* Returns the CPU time of all threads. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_figures(unsigned threads)
{
    const size_t finds = 4 << 20;
    struct dictionary *dictionary = must(dictionary_create(UINT64_MAX, keyed_hash_create()));
    struct dictionary_cache *cache = must(dictionary_cache_create(dictionary));
    char(*texts)[64] = must(malloc(finds * sizeof *texts));
    uint8_t *bytes = must(malloc(finds));
    struct dictionary_order order;
    struct failure failure;
    uint64_t state = 1;
    uint32_t id = 0;

    /* The frequency of number k of 16,383 is about 1 / k: all powers of 2 are equally frequent. */
    for (size_t i = 0; i < finds; i++) {
        const uint64_t random = tap_random(&state);
        const unsigned low = 1u << random % 14;
        const unsigned k = low + (unsigned)(random >> 32) % low;
        bytes[i] = (uint8_t)sprintf(texts[i], "/api/v1/%.*s/%u", (int)(k * 7919 % 40),
                                    "items-and-users-and-carts-and-some-more-", k);
    }
    for (int round = 0; round < 3; round++) {
        double begin = seconds();
        for (size_t i = 0; i < finds; i++)
            if (dictionary_find(cache, texts[i], bytes[i], &id, &failure))
                abort();
        printf("Zipf: %.1f M/s\n", (double)finds / 1e6 / (seconds() - begin));
    }
    for (size_t i = 0; i < finds; i++)
        sprintf(texts[i], "%016llx-some-text-%012llx", (unsigned long long)tap_random(&state),
                (unsigned long long)i);
    double begin = seconds();
    for (size_t i = 0; i < finds; i++)
        if (dictionary_find(cache, texts[i], 40, &id, &failure))
            abort();
    printf("different: %.1f M/s, %.1f bytes each\n", (double)finds / 1e6 / (seconds() - begin),
           (double)dictionary_memory(dictionary) / (double)finds);
    begin = seconds();
    if (!dictionary_order_create(dictionary, threads, &order))
        abort();
    printf("order: %.3f s\n", seconds() - begin);
    dictionary_order_destroy(&order);
    free(texts);
    free(bytes);
    free(cache);
    dictionary_destroy(dictionary);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "figures") == 0) {
        print_figures((unsigned)atoi(argv[2]));
        return 0;
    }
    test_alike();
    test_limit();
    test_threads(10, 1000);
    test_threads(50000, TAP_HAS_TSAN ? 20000 : 100000);
    test_threads(300000, TAP_HAS_TSAN ? 40000 : 200000);
    return tap_done();
}
