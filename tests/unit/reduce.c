/*
 * Operation reduce near the limits of its accumulators, compared with Python's integers: up to
 * 2^64 - 1 elements, made by repeatedly merging the aggregate of one element with itself.
 */
#include "config.h"

#include "aggregate/scalar.h"
#include "engine/stores.h"
#include "result/result.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

struct stream {
    const char *type;
    uint64_t a_count;
    const char *a;
    uint64_t b_count;
    const char *b;
    const char *expected; /* results of all reductions, in order */
};

static const struct stream rows[] = {
    {"i8", 1099511627776u, "127", 3u, "-128",
     "1099511627779 139637976727168 -128 127 126.99999999930424 1.774196789473858e-07 0.00042121"
     "215432058202 0 -1 -128"},
    {"i8", 9223372036854775808u, "-128", 9223372036854775807u, "127",
     "18446744073709551615 -9223372036854775935 -128 127 -0.50000000000000001 16256.25 127.5 0 -"
     "1 127"},
    {"i8", 18446744073709551614u, "-128", 1u, "127",
     "18446744073709551615 -2361183241434822606465 -128 127 -128 3.5250123132934963e-15 5.937181"
     "4131736755e-08 0 -1 127"},
    {"i8", 18446744073709551614u, "127", 1u, "-127",
     "18446744073709551615 2342736497361113054851 -127 127 127 3.4974193680037402e-15 5.91389834"
     "88082886e-08 1 -1 -127"},
    {"u8", 1099511627776u, "255", 3u, "0",
     "1099511627779 280375465082880 0 255 254.99999999930424 1.774196789473858e-07 0.00042121215"
     "432058202 0 255 0"},
    {"u8", 9223372036854775808u, "0", 9223372036854775807u, "255",
     "18446744073709551615 2351959869397967830785 0 255 127.5 16256.25 127.5 0 255 255"},
    {"u8", 18446744073709551614u, "0", 1u, "255",
     "18446744073709551615 255 0 255 1.3823577699190182e-17 3.5250123132934963e-15 5.93718141317"
     "36755e-08 0 255 255"},
    {"u8", 18446744073709551614u, "255", 1u, "1",
     "18446744073709551615 4703919738795935661571 1 255 255 3.4974193680037402e-15 5.91389834880"
     "82886e-08 1 255 1"},
    {"i16", 1099511627776u, "32767", 3u, "-32768",
     "1099511627779 36027697507237888 -32768 32767 32766.999999821189 0.011718392374795885 0.108"
     "25152366038958 0 -1 -32768"},
    {"i16", 9223372036854775808u, "-32768", 9223372036854775807u, "32767",
     "18446744073709551615 -9223372036854808575 -32768 32767 -0.50000000000000178 1073709056.25 "
     "32767.5 0 -1 32767"},
    {"i16", 18446744073709551614u, "-32768", 1u, "32767",
     "18446744073709551615 -604462909807314587254785 -32768 32767 -32768 2.3282353828072214e-10 "
     "1.5258556231856346e-05 0 -1 32767"},
    {"i16", 18446744073709551614u, "32767", 1u, "-32767",
     "18446744073709551615 604444463063240877703171 -32767 32767 32767 2.3281643301599486e-10 1."
     "5258323401212692e-05 1 -1 -32767"},
    {"u16", 1099511627776u, "65535", 3u, "0",
     "1099511627779 72056494526300160 0 65535 65534.999999821189 0.011718392374795885 0.10825152"
     "366038958 0 65535 0"},
    {"u16", 9223372036854775808u, "0", 9223372036854775807u, "65535",
     "18446744073709551615 604453686435277732511745 0 65535 32767.5 1073709056.25 32767.5 0 6553"
     "5 65535"},
    {"u16", 18446744073709551614u, "0", 1u, "65535",
     "18446744073709551615 65535 0 65535 3.5526594686918767e-15 2.3282353828072214e-10 1.5258556"
     "231856346e-05 0 65535 65535"},
    {"u16", 18446744073709551614u, "65535", 1u, "1",
     "18446744073709551615 1208907372870555465023491 1 65535 65535 2.3281643301599486e-10 1.5258"
     "323401212692e-05 1 65535 1"},
    {"i32", 1099511627776u, "2147483647", 3u, "-2147483648",
     "1099511627779 2361183240328868528128 -2147483648 2147483647 2147483646.9882813 50331647.97"
     "6287842 7094.4801061309518 0 -1 -2147483648"},
    {"i32", 9223372036854775808u, "-2147483648", 9223372036854775807u, "2147483647",
     "18446744073709551615 -9223372039002259455 -2147483648 2147483647 -0.50000000011641532 4.61"
     "16860162799043e+18 2147483647.5 0 -1 2147483647"},
    {"i32", 18446744073709551614u, "-2147483648", 1u, "2147483647",
     "18446744073709551615 -39614081257132168790329524225 -2147483648 2147483647 -2147483648 0.9"
     "9999999953433871 0.99999999976716936 0 -1 2147483647"},
    {"i32", 18446744073709551614u, "2147483647", 1u, "-2147483647",
     "18446744073709551615 39614081238685424716619972611 -2147483647 2147483647 2147483647 0.999"
     "99999906867743 0.99999999953433871 1 -1 -2147483647"},
    {"u32", 1099511627776u, "4294967295", 3u, "0",
     "1099511627779 4722366481770133585920 0 4294967295 4294967294.9882813 50331647.976287842 70"
     "94.4801061309518 0 4294967295 0"},
    {"u32", 9223372036854775808u, "0", 9223372036854775807u, "4294967295",
     "18446744073709551615 39614081247908796755622232065 0 4294967295 2147483647.5 4.61168601627"
     "99043e+18 2147483647.5 0 4294967295 4294967295"},
    {"u32", 18446744073709551614u, "0", 1u, "4294967295",
     "18446744073709551615 4294967295 0 4294967295 2.3283064359965952e-10 0.99999999953433871 0."
     "99999999976716936 0 4294967295 4294967295"},
    {"u32", 18446744073709551614u, "4294967295", 1u, "1",
     "18446744073709551615 79228162495817593511244464131 1 4294967295 4294967295 0.9999999990686"
     "7743 0.99999999953433871 1 4294967295 1"},
    {"i64", 1099511627776u, "9223372036854775807", 3u, "-9223372036854775808",
     "1099511627779 10141204801798165094763549687808 -9223372036854775808 9223372036854775807 9."
     "2233720368044442e+18 9.2845502945896866e+26 30470560045049.527 0 -1 -9223372036854775808"},
    {"i64", 9223372036854775808u, "-9223372036854775808", 9223372036854775807u,
     "9223372036854775807",
     "18446744073709551615 -18446744073709551615 -9223372036854775808 9223372036854775807 -1 8.5"
     "070591730234616e+37 9.2233720368547758e+18 0 -1 9223372036854775807"},
    {"i64", 18446744073709551614u, "-9223372036854775808", 1u, "9223372036854775807",
     "18446744073709551615 -170141183460469231704017187605319778305 -9223372036854775808 9223372"
     "036854775807 -9.2233720368547758e+18 1.8446744073709552e+19 4294967296 0 -1 92233720368547"
     "75807"},
    {"i64", 18446744073709551614u, "9223372036854775807", 1u, "-9223372036854775807",
     "18446744073709551615 170141183460469231685570443531610226691 -9223372036854775807 92233720"
     "36854775807 9.2233720368547758e+18 1.8446744073709552e+19 4294967296 1 -1 -922337203685477"
     "5807"},
    {"u64", 1099511627776u, "18446744073709551615", 3u, "0",
     "1099511627779 20282409603651670422847739658240 0 18446744073709551615 1.844674407365922e+1"
     "9 9.2845502945896866e+26 30470560045049.527 0 18446744073709551615 0"},
    {"u64", 9223372036854775808u, "0", 9223372036854775807u, "18446744073709551615",
     "18446744073709551615 170141183460469231704017187605319778305 0 18446744073709551615 9.2233"
     "720368547758e+18 8.5070591730234616e+37 9.2233720368547758e+18 0 18446744073709551615 1844"
     "6744073709551615"},
    {"u64", 18446744073709551614u, "0", 1u, "18446744073709551615",
     "18446744073709551615 18446744073709551615 0 18446744073709551615 1 1.8446744073709552e+19 "
     "4294967296 0 18446744073709551615 18446744073709551615"},
    {"u64", 18446744073709551614u, "18446744073709551615", 1u, "1",
     "18446744073709551615 340282366920938463408034375210639556611 1 18446744073709551615 1.8446"
     "744073709552e+19 1.8446744073709552e+19 4294967296 1 18446744073709551615 1"},
    {"i64", 18446744073709551614u, "-9223372036854775808", 1u, "-9223372036854775808",
     "18446744073709551615 -170141183460469231722463931679029329920 -9223372036854775808 -922337"
     "2036854775808 -9.2233720368547758e+18 0 0 -9223372036854775808 -9223372036854775808 -92233"
     "72036854775808"},
    {"u64", 18446744073709551614u, "18446744073709551615", 1u, "18446744073709551615",
     "18446744073709551615 340282366920938463426481119284349108225 18446744073709551615 18446744"
     "073709551615 1.8446744073709552e+19 0 0 18446744073709551615 18446744073709551615 18446744"
     "073709551615"},
    {"u64", 9223372036854775809u, "18446744073709551615", 4611686018427387904u, "1",
     "13835058055282163713 170141183460469231745522361771166269439 1 18446744073709551615 1.2297"
     "829382473034e+19 7.5618303760208547e+37 8.6958785502218548e+18 1 18446744073709551615 1844"
     "6744073709551615"},
    {"i64", 9223372036854775813u, "9223372036854775807", 1099511627776u, "-1",
     "9223373136366403589 85070591730234615902737138905849528315 -1 9223372036854775807 9.223370"
     "9373432791e+18 1.0141202383974628e+31 3184525456637869 9223372036854775807 -1 922337203685"
     "4775807"},
    {"i32", 3u, "7", 4u, "-9",
     "7 -15 -9 7 -2.1428571428571429 62.693877551020408 7.9179465488862962 7 -9 7"},
};

static uint64_t key_of(const char *value)
{
    return *value == '-' ? (uint64_t)strtoll(value, NULL, 10) : strtoull(value, NULL, 10);
}

/* Runs a CPU thread over one element and adds its result to the shared aggregate. */
static bool accumulate(const struct plan *plan, uint64_t key, struct scalar *shared)
{
    struct failure failure;
    struct chunk chunk = {.data = &key, .bytes = plan->element.bytes};
    void *state = NULL;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    key <<= 64 - 8 * plan->element.bytes;
#endif
    bool done = store_open_local(&store_scalar, plan, shared, &state, &failure) == STATUS_OK &&
                store_scalar.local_accumulate(state, &chunk, &failure) == STATUS_OK &&
                store_scalar.local_merge(state, &failure) == STATUS_OK;
    store_close_local(&store_scalar, state);
    return done;
}

/* Adds `count` elements of that value to the shared aggregate, by doubling. */
static bool accumulate_many(const struct plan *plan, const char *value, uint64_t count,
                            struct scalar *shared)
{
    uint64_t power[1 + ACCUMULATOR_WORDS_ALL];
    uint64_t same[1 + ACCUMULATOR_WORDS_ALL];
    struct scalar *one = NULL;
    struct failure failure;

    if (!(one = store_scalar.create(plan, &failure)) || !accumulate(plan, key_of(value), one))
        return false;
    const size_t bytes = one->accumulators->words * sizeof *power;
    memcpy(power, one->row, bytes);
    store_scalar.destroy(one);
    for (; count > 0; count >>= 1) {
        if (count & 1)
            scalar_merge(shared, power);
        memcpy(same, power, bytes);
        accumulators_merge(shared->accumulators, power, same);
    }
    return true;
}

static bool is_expected(const struct plan *plan, const struct stream *row,
                        const struct scalar *shared)
{
    char text[REDUCTION_IDS * (REDUCE_SIZE + 1)];
    char *c = text;

    for (unsigned i = 0; i < plan->reductions.count; i++) {
        c += reduce_write(c, shared->accumulators, shared->row, shared->found, i);
        *c++ = ' ';
    }
    c[-1] = '\0';
    return strcmp(text, row->expected) == 0 ||
           tap_note("'%s' instead of '%s'", text, row->expected);
}

static bool check_row(const struct stream *row)
{
    struct plan plan = {.operation = OPERATION_REDUCE};
    struct failure failure;
    void *shared = NULL;

    element_parse(row->type, &plan.element);
    plan.element.swapped = false;
    reductions_default(&plan.reductions, 0);
    if (!(shared = store_scalar.create(&plan, &failure)))
        return false;
    bool good =
        accumulate_many(&plan, row->a, row->a_count, shared) &&
        accumulate_many(&plan, row->b, row->b_count, shared) &&
        store_scalar.finalize(shared, &plan, row->a_count + row->b_count, &failure) == STATUS_OK &&
        result_check(&plan, shared, &failure) == STATUS_OK && is_expected(&plan, row, shared);
    store_scalar.destroy(shared);
    return good;
}

static void test_lost_element(void)
{
    struct plan plan = {.operation = OPERATION_REDUCE};
    struct failure failure;
    void *shared = NULL;

    element_parse("i32", &plan.element);
    reductions_default(&plan.reductions, 0);
    bool good = (shared = store_scalar.create(&plan, &failure)) != NULL &&
                accumulate_many(&plan, "3", 5, shared);
    tap_ok(good && store_scalar.finalize(shared, &plan, 5, &failure) == STATUS_OK &&
               store_scalar.finalize(shared, &plan, 6, &failure) == STATUS_DATA &&
               strstr(failure.message, "6 elements were read, but 5 counted"),
           "an element that was read and not counted is an error");
    store_scalar.destroy(shared);
}

static void test_lost_square(void)
{
    struct plan plan = {.operation = OPERATION_REDUCE};
    struct failure failure;
    void *shared = NULL;
    uint64_t row[] = {2, 6, 0, 18, 0, 0, 3, 3, 3, 3, 0}; /* 3 and 3 */

    element_parse("i32", &plan.element);
    reductions_default(&plan.reductions, 0);
    bool good = (shared = store_scalar.create(&plan, &failure)) != NULL;
    scalar_merge(shared, row);
    good = good && store_scalar.finalize(shared, &plan, 2, &failure) == STATUS_OK;
    row[3] = 17;
    scalar_merge(shared, row);
    tap_ok(good && store_scalar.finalize(shared, &plan, 4, &failure) == STATUS_DATA &&
               strstr(failure.message, "the results contradict each other"),
           "a sum of squares that is too small is an error");
    store_scalar.destroy(shared);
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        tap_ok(check_row(&rows[i]), "%s: %llu times %s and %llu times %s", rows[i].type,
               (unsigned long long)rows[i].a_count, rows[i].a, (unsigned long long)rows[i].b_count,
               rows[i].b);
    test_lost_element();
    test_lost_square();
    return tap_done();
}
