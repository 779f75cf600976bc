/*
 * Binning, and the CPU's bin numbers, against the definition of a bin in 128-bit arithmetic:
 * floor((v - LO) * N / (HI - LO)).
 */
#include "config.h"

#include "engine/cpu_index.h"
#include "lib/cpu_isa.h"
#include "lib/decimal.h"
#include "tap.h"
#include "value/binning.h"
#include "value/binning_index.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))
#define POWER2(n)           ((__int128)1 << (n))

struct shape {
    __int128 low;
    __int128 high;
    uint64_t bins;
};

/* Shapes at the limits of the forms and of 64 bits. A type skips those that it cannot have. */
static const struct shape fixed_shapes[] = {
    {0, 1, 1},
    {-1, 0, 1},
    {0, 256, 256},
    {-128, 128, 256},
    {0, 256, 10},
    {-128, 128, 7},
    {5, 250, 244},
    {0, 10000, 100},
    {-100, 100, 3},
    {0, 65536, 65535},
    {-32768, 32768, 1000},
    {0, 5000000, 5000000},
    {-1000, 4999000, 3000000},
    {0, POWER2(31), 1000},
    {0, POWER2(31) + 1, 1000},
    {0, POWER2(31) - 1, 0x7ffffffe},
    {-POWER2(31), 0, 7},
    {-POWER2(30), POWER2(30), 0x7fffffff},
    {-POWER2(31), POWER2(31), 1000},
    {-POWER2(31), POWER2(31) - 2, BINNING_BINS_MAX},
    {-POWER2(31) - 1, POWER2(31), 3},
    {-POWER2(31), POWER2(31) + 1, 3},
    {0, POWER2(32) - 2, BINNING_BINS_MAX},
    {1, POWER2(32) - 1, BINNING_BINS_MAX},
    {POWER2(31), POWER2(32), 12345},
    {2, POWER2(32), BINNING_BINS_MAX},
    {POWER2(32) - 256, POWER2(32), 256},
    {0, POWER2(32), 1000003},
    {0, POWER2(32), BINNING_BINS_MAX},
    {0, POWER2(32) + 1, 77},
    {-5, POWER2(32), 9},
    {POWER2(33), POWER2(33) + 1000, 1000},
    {-POWER2(40), POWER2(41), 3},
    {-POWER2(63), 1 - POWER2(63), 1},
    {-POWER2(63), 256 - POWER2(63), 256},
    {POWER2(63) - 1, POWER2(63), 1},
    {-POWER2(63), 0, 1000003},
    {0, POWER2(63), BINNING_BINS_MAX},
    {-POWER2(62), POWER2(62), 13},
    {-POWER2(62), POWER2(62) + 1, 13},
    {-POWER2(63), 1, BINNING_BINS_MAX},
    {-POWER2(63), POWER2(63), 1},
    {-POWER2(63), POWER2(63), 1000003},
    {-POWER2(63), POWER2(63), BINNING_BINS_MAX},
    {1 - POWER2(63), POWER2(63) - 1, 5},
    {-POWER2(63), POWER2(63), POWER2(28) - 1},
    {-POWER2(40), POWER2(63) - 1, POWER2(28)},
    {0, POWER2(64), 1},
    {0, POWER2(64), 4096},
    {0, POWER2(64), BINNING_BINS_MAX},
    {1, POWER2(64) - 1, 3},
    {POWER2(63), POWER2(64), 1000003},
    {POWER2(63) - 1, POWER2(64), BINNING_BINS_MAX},
    {POWER2(64) - 1, POWER2(64), 1},
    {POWER2(64) - 256, POWER2(64), 256},
};

#define RANDOM_SHAPES 250
#define VALUES_MAX    512

static struct element parse_element(enum element_type type, bool big_endian)
{
    static const char *const names[ELEMENT_TYPE_COUNT][2] = {
#define NAMES(id, name, ctype) [ELEMENT_##id] = {#name "le", #name "be"},
        ELEMENT_TYPES(NAMES)
#undef NAMES
    };
    struct element element = {.name = NULL};

    if (!element_parse(names[type][big_endian], &element))
        tap_ok(false, "element_parse knows %s", names[type][big_endian]);
    return element;
}

/* Values of ranges for elements of this type: all of i64, or of u64 for u64. */
static __int128 range_min(const struct element *element)
{
    return element->type == ELEMENT_U64 ? 0 : -POWER2(63);
}

static __int128 range_limit(const struct element *element)
{
    return POWER2(element->type == ELEMENT_U64 ? 64 : 63);
}

static bool is_valid(const struct shape *shape, const struct element *element)
{
    return shape->low >= range_min(element) && shape->high <= range_limit(element);
}

/* Returns 0 .. limit - 1; short and long numbers are equally frequent. */
static __int128 random_below(uint64_t *state, __int128 limit)
{
    unsigned __int128 word = tap_random(state) >> tap_random(state) % 64;
    return (__int128)(word % (unsigned __int128)limit);
}

/* Half of the ranges start inside the type's range, the others anywhere in 64 bits. */
static struct shape random_shape(const struct element *element, uint64_t *state)
{
    bool own = tap_random(state) % 2 == 0;
    __int128 min = own ? element_min(element) : range_min(element);
    __int128 limit = own ? element_limit(element) : range_limit(element);
    bool from_below = tap_random(state) % 2 == 0;
    __int128 first = random_below(state, limit - min);
    __int128 low = from_below ? min + first : limit - 1 - first;
    __int128 span = 1 + random_below(state, range_limit(element) - low);
    __int128 bins_max = span < BINNING_BINS_MAX ? span : BINNING_BINS_MAX;
    __int128 less = random_below(state, bins_max);
    bool many = tap_random(state) % 2 == 0;

    return (struct shape){low, low + span, (uint64_t)(many ? bins_max - less : 1 + less)};
}

/* Makes shape `i` for the type: fixed ones, then random ones. False: the type has no such shape. */
static bool make_shape(const struct element *element, size_t i, uint64_t *state,
                       struct shape *shape)
{
    *shape = i < ARRAY_LENGTH(fixed_shapes) ? fixed_shapes[i] : random_shape(element, state);
    return is_valid(shape, element);
}

#define SHAPES (ARRAY_LENGTH(fixed_shapes) + RANDOM_SHAPES)

static bool make_binning(struct binning *binning, const struct element *element,
                         const struct shape *shape)
{
    struct failure failure;
    enum status status =
        binning_init(binning, element, shape->low, shape->high, shape->bins, &failure);
    return status == STATUS_OK || tap_note("binning_init: %s", failure.message);
}

static uint32_t defined_index(const struct shape *shape, __int128 value)
{
    if (value < shape->low)
        return (uint32_t)shape->bins;
    if (value >= shape->high)
        return (uint32_t)shape->bins + 1;
    __int128 bins = (__int128)shape->bins;
    return (uint32_t)((value - shape->low) * bins / (shape->high - shape->low));
}

/* Returns a bin to check: all bins if there are few, else the first and last ones and random ones.
 */
static uint64_t sample_bin(const struct shape *shape, size_t i, size_t samples, uint64_t *state)
{
    if (shape->bins <= samples || i < samples / 3)
        return i;
    return i < 2 * samples / 3 ? shape->bins - 1 - (i - samples / 3)
                               : tap_random(state) % shape->bins;
}

static size_t sample_count(const struct shape *shape, size_t samples)
{
    return shape->bins < samples ? (size_t)shape->bins : samples;
}

/* Returns the first value not below bin `bin` by definition: LO + ceil(bin * (HI - LO) / N). */
static __int128 defined_edge(const struct shape *shape, uint64_t bin)
{
    __int128 bins = (__int128)shape->bins;
    return shape->low + ((__int128)bin * (shape->high - shape->low) + bins - 1) / bins;
}

/* Stores values of the type that reveal a wrong binning; returns their number. */
static size_t make_values(const struct element *element, const struct shape *shape, uint64_t *state,
                          __int128 values[VALUES_MAX])
{
    __int128 min = element_min(element);
    __int128 limit = element_limit(element);
    __int128 marks[64] = {min, limit - 1, 0, shape->low, shape->high};
    size_t marks_count = 5;
    size_t count = 0;

    for (size_t i = 0; i < sample_count(shape, 48); i++)
        marks[marks_count++] = defined_edge(shape, sample_bin(shape, i, 48, state));
    for (size_t i = 0; i < 4 * marks_count + 128; i++) {
        __int128 value = min + random_below(state, limit - min);
        if (i < 3 * marks_count)
            value = marks[i / 3] + (__int128)(i % 3) - 1;
        else if (i < 3 * marks_count + 64)
            value = shape->low + random_below(state, shape->high - shape->low);
        if (value >= min && value < limit)
            values[count++] = value;
    }
    return count;
}

static void note_value(const struct element *element, const struct shape *shape, __int128 value,
                       const char *what, uint64_t found, uint64_t wanted)
{
    char low[DECIMAL_SIZE];
    char high[DECIMAL_SIZE];
    char text[DECIMAL_SIZE];

    decimal_format_fixed(low, shape->low, 0);
    decimal_format_fixed(high, shape->high, 0);
    decimal_format_fixed(text, value, 0);
    tap_note("%s, %llu bins over %s:%s, %s %s: found %llu, not %llu", element->name,
             (unsigned long long)shape->bins, low, high, what, text, (unsigned long long)found,
             (unsigned long long)wanted);
}

static bool check_index(const struct element *element, const struct shape *shape, uint64_t *state,
                        unsigned *forms)
{
    struct binning binning;
    __int128 values[VALUES_MAX];

    if (!make_binning(&binning, element, shape))
        return false;
    *forms |= 1u << binning.form;
    size_t count = make_values(element, shape, state, values);
    for (size_t i = 0; i < count; i++) {
        uint32_t wanted = defined_index(shape, values[i]);
        uint32_t found = binning_index(&binning, binning.form, (uint64_t)values[i]);
        if (found != wanted) {
            note_value(element, shape, values[i], "value", found, wanted);
            return false;
        }
    }
    return true;
}

static void test_index(void)
{
    for (int type = 0; type < ELEMENT_TYPE_COUNT; type++) {
        struct element element = parse_element((enum element_type)type, false);
        uint64_t state = (uint64_t)type;
        struct shape shape;
        unsigned forms = 0;
        bool right = true;
        unsigned wanted = 1u << BINNING_UNIT64 | 1u << BINNING_SCALED64 | 1u << BINNING_SCALED128;

        for (size_t i = 0; i < SHAPES; i++)
            right = right && (!make_shape(&element, i, &state, &shape) ||
                              check_index(&element, &shape, &state, &forms));
        tap_ok(right, "%s: every value falls into the bin of the definition", element.name);
        if (element.bytes < 8)
            wanted |= 1u << BINNING_UNIT32;
        tap_ok(forms == wanted, "%s: every form that the type has was reached", element.name);
    }
}

/* edge(b) is the smallest value of bin b: it is in b, and the previous value in b - 1. */
static bool check_edges(const struct element *element, const struct shape *shape, uint64_t *state)
{
    struct binning binning;

    if (!make_binning(&binning, element, shape))
        return false;
    if (binning_edge(&binning, 0) != shape->low ||
        binning_edge(&binning, shape->bins) != shape->high ||
        binning_is_unit(&binning) != ((__int128)shape->bins == shape->high - shape->low))
        return tap_note("%s: the first or last edge is wrong", element->name);
    for (size_t i = 0; i < sample_count(shape, 300); i++) {
        uint64_t bin = sample_bin(shape, i, 300, state);
        __int128 edge = binning_edge(&binning, bin);
        uint32_t before = bin == 0 ? (uint32_t)shape->bins : (uint32_t)bin - 1;
        if (defined_index(shape, edge) != bin || defined_index(shape, edge - 1) != before ||
            binning_edge(&binning, bin + 1) <= edge) {
            note_value(element, shape, edge, "edge", defined_index(shape, edge), bin);
            return false;
        }
    }
    return true;
}

static void test_edges(void)
{
    for (int type = 0; type < ELEMENT_TYPE_COUNT; type++) {
        struct element element = parse_element((enum element_type)type, false);
        uint64_t state = 100 + (uint64_t)type;
        struct shape shape;
        bool right = true;

        for (size_t i = 0; i < SHAPES; i++)
            right = right && (!make_shape(&element, i, &state, &shape) ||
                              check_edges(&element, &shape, &state));
        tap_ok(right, "%s: an edge is the smallest value of its bin, and they ascend",
               element.name);
    }
}

struct form_case {
    enum element_type type;
    struct shape shape;
    enum binning_form form;
};

static bool check_forms(const struct form_case *rows, size_t count)
{
    bool right = true;

    for (size_t i = 0; i < count; i++) {
        struct element element = parse_element(rows[i].type, false);
        struct binning binning;
        if (!make_binning(&binning, &element, &rows[i].shape) || binning.form != rows[i].form)
            right = tap_note("row %zu has another form", i);
    }
    return right;
}

/* Where the forms change: the narrowest exact form. */
static void test_forms(void)
{
    static const struct form_case rows[] = {
        {ELEMENT_I32, {0, 256, 256}, BINNING_UNIT32},
        {ELEMENT_I8, {-POWER2(31), POWER2(31) - 2, BINNING_BINS_MAX}, BINNING_UNIT32},
        {ELEMENT_U32, {2, POWER2(32), BINNING_BINS_MAX}, BINNING_UNIT32},
        {ELEMENT_U32, {-1, 10, 11}, BINNING_UNIT64},
        {ELEMENT_U32, {POWER2(32), POWER2(32) + 1, 1}, BINNING_UNIT64},
        {ELEMENT_I32, {POWER2(31), POWER2(31) + 1, 1}, BINNING_UNIT64},
        {ELEMENT_I32, {-POWER2(31) - 1, -POWER2(31), 1}, BINNING_UNIT64},
        {ELEMENT_I64, {0, 256, 256}, BINNING_UNIT64},
        {ELEMENT_I32, {-POWER2(30), POWER2(30), 1000}, BINNING_SCALED64},
        {ELEMENT_U32, {POWER2(31), POWER2(32), 1000}, BINNING_SCALED64},
        {ELEMENT_U16, {0, POWER2(31), 1000}, BINNING_SCALED64},
        {ELEMENT_I32, {-POWER2(30), POWER2(30) + 1, 1000}, BINNING_SCALED64},
        {ELEMENT_I32, {0, 1000, 100}, BINNING_SCALED64},
        {ELEMENT_U32, {0, POWER2(32), 1000}, BINNING_SCALED64},
        {ELEMENT_U32, {0, POWER2(32), 1001}, BINNING_SCALED64},
        {ELEMENT_U64, {0, 10, 3}, BINNING_SCALED64},
        {ELEMENT_U64, {0, POWER2(63), 1000}, BINNING_SCALED64},
        {ELEMENT_I64, {-POWER2(63), 0, 1000}, BINNING_SCALED64},
        {ELEMENT_U64, {0, POWER2(63) + 1, POWER2(28)}, BINNING_SCALED64},
        {ELEMENT_U64, {0, POWER2(63) + 1, POWER2(28) + 1}, BINNING_SCALED128},
        {ELEMENT_I16, {-POWER2(63), 1, 1000}, BINNING_SCALED64},
        {ELEMENT_U64, {0, POWER2(64), POWER2(28) + 1}, BINNING_SCALED128},
        {ELEMENT_U64, {0, POWER2(64), 1001}, BINNING_SCALED64},
    };
    tap_ok(check_forms(rows, ARRAY_LENGTH(rows)), "the form is the narrowest that is exact");
}

struct refusal {
    enum element_type type;
    struct shape shape;
    const char *option; /* the option that the message names */
};

static bool check_refusals(const struct refusal *rows, size_t count)
{
    bool right = true;

    for (size_t i = 0; i < count; i++) {
        const struct shape *shape = &rows[i].shape;
        struct element element = parse_element(rows[i].type, false);
        struct failure failure = {.status = STATUS_OK};
        struct binning binning;
        enum status status =
            binning_init(&binning, &element, shape->low, shape->high, shape->bins, &failure);
        if (status != STATUS_USAGE || failure.status != STATUS_USAGE ||
            failure.position != STATUS_NOWHERE || !strstr(failure.message, rows[i].option))
            right = tap_note("row %zu: status %d, '%s'", i, (int)status, failure.message);
    }
    return right;
}

static void test_refusals(void)
{
    static const struct refusal bins[] = {
        {ELEMENT_I32, {0, 10, 0}, "--bins"},
        {ELEMENT_U64, {0, POWER2(64), (uint64_t)BINNING_BINS_MAX + 1}, "--bins"},
        {ELEMENT_U64, {0, POWER2(64), (uint64_t)1 << 32}, "--bins"},
        {ELEMENT_I64, {-POWER2(63), POWER2(63), UINT64_MAX}, "--bins"},
        {ELEMENT_I32, {0, 10, 11}, "--bins 11 is more than the 10 integers"},
        {ELEMENT_I64, {POWER2(63) - 1, POWER2(63), 2}, "--bins 2 is more than the 1 "},
        {ELEMENT_U8, {0, BINNING_BINS_MAX - 1, BINNING_BINS_MAX}, "--bins 4294967294 is more"},
    };
    static const struct refusal empty[] = {
        {ELEMENT_I32, {0, 0, 1}, "is empty"},
        {ELEMENT_I32, {5, 4, 1}, "is empty"},
        {ELEMENT_I64, {POWER2(63), -POWER2(63), 1}, "is empty"},
        {ELEMENT_U64, {POWER2(64), POWER2(64), 1}, "is empty"},
    };
    static const struct refusal outside[] = {
        {ELEMENT_I64, {0, POWER2(63) + 1, 1}, "--range"},
        {ELEMENT_I64, {-POWER2(63) - 1, 0, 1}, "--range"},
        {ELEMENT_I8, {-POWER2(63) - 1, 0, 1}, "--range"},
        {ELEMENT_U32, {0, POWER2(64), 1}, "--range"},
        {ELEMENT_U64, {-1, 10, 1}, "--range"},
        {ELEMENT_U64, {0, POWER2(64) + 1, 1}, "--range"},
        {ELEMENT_I32, {POWER2(95), POWER2(95) + 1, 1}, "--range"},
        {ELEMENT_I32, {-POWER2(96) + 1, POWER2(96) - 1, 1}, "--range"},
    };
    tap_ok(check_refusals(bins, ARRAY_LENGTH(bins)),
           "refuses no bins, too many, and more than integers");
    tap_ok(check_refusals(empty, ARRAY_LENGTH(empty)), "refuses an empty range");
    tap_ok(check_refusals(outside, ARRAY_LENGTH(outside)), "refuses a range outside 64 bits");
}

/* --- the CPU's bin numbers ---------------------------------------------------------------------
 */

#define INDEX_ELEMENTS 1021
#define INDEX_GUARD    0x5a5a5a5a

struct index_case {
    struct element element; /* in either byte order */
    struct binning binning;
    struct cpu_index index;
    unsigned char bytes[8 + INDEX_ELEMENTS * 8];
    uint32_t found[INDEX_ELEMENTS + 1];
};

/* Makes elements from `offset` on: values in random order, so that every lane gets every kind. */
static void write_elements(struct index_case *test, size_t offset, const __int128 *values,
                           size_t value_count, uint64_t *state)
{
    unsigned bytes = test->element.bytes;

    for (size_t i = 0; i < INDEX_ELEMENTS; i++) {
        uint64_t key = (uint64_t)values[tap_random(state) % value_count];
        unsigned char *out = test->bytes + offset + i * bytes;
        for (unsigned byte = 0; byte < bytes; byte++) {
            bool is_big_endian =
                test->element.swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
            unsigned place = is_big_endian ? bytes - 1 - byte : byte;
            out[place] = (unsigned char)(key >> 8 * byte);
        }
    }
}

/* Returns whether the index equals binning_index for `count` elements and writes no more. */
static bool check_loop(struct index_case *test, const unsigned char *elements, size_t count)
{
    const struct binning *binning = &test->binning;
    size_t outside = 0;

    for (size_t i = 0; i <= count; i++)
        test->found[i] = INDEX_GUARD;
    cpu_index_find(&test->index, elements, count, test->found);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = element_key(&test->element, elements + i * test->element.bytes);
        uint32_t wanted = binning_index(binning, binning->form, key);
        outside += wanted >= binning->bins;
        if (test->found[i] != wanted)
            return tap_note("%s%s, form %d: element %zu of %zu: found %u, not %u",
                            test->element.name, test->element.swapped ? " swapped" : "",
                            (int)binning->form, i, count, test->found[i], wanted);
    }
    if (test->found[count] != INDEX_GUARD)
        return tap_note("%s: wrote more than %zu", test->element.name, count);
    size_t told = cpu_index_outside(test->found, count, binning->bins);
    if (told != outside)
        return tap_note("%s: %zu outside, not %zu", test->element.name, told, outside);
    return true;
}

static bool check_loops(struct index_case *test, const struct shape *shape, uint64_t *state)
{
    static const size_t counts[] = {0,  1,  2,  3,  5,  7,  8,  9,  15,  16,  17, 31,
                                    32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129};
    static const size_t offsets[] = {0, 1, 3, 6};
    __int128 values[VALUES_MAX];
    bool right = true;

    if (!make_binning(&test->binning, &test->element, shape))
        return false;
    cpu_index_init(&test->index, &test->element, &test->binning);
    size_t value_count = make_values(&test->element, shape, state, values);
    for (size_t i = 0; i < ARRAY_LENGTH(offsets) && right; i++) {
        const unsigned char *elements = test->bytes + offsets[i];
        write_elements(test, offsets[i], values, value_count, state);
        right = check_loop(test, elements, INDEX_ELEMENTS);
        for (size_t j = 0; j < ARRAY_LENGTH(counts) && right; j++)
            right = check_loop(test, elements, counts[j]);
    }
    return right;
}

static void test_loops(void)
{
    static struct index_case test;
    struct shape shape;

    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        for (int type = 0; type < ELEMENT_TYPE_COUNT; type++) {
            uint64_t state = 200 + (uint64_t)type;
            bool right = true;
            for (int order = 0; order < 2; order++) {
                test.element = parse_element((enum element_type)type, order == 1);
                for (size_t i = 0; i < ARRAY_LENGTH(fixed_shapes) + 20; i++)
                    right = right && (!make_shape(&test.element, i, &state, &shape) ||
                                      check_loops(&test, &shape, &state));
            }
            tap_ok(right, "%s: loops with GPUHIST_ISA=%s agree with binning_index",
                   test.element.name, cpu_isa_names[isa]);
        }
    }
    unsetenv("GPUHIST_ISA");
    cpu_isa_forget();
}

static void test_isa(void)
{
    bool allowed = true;
    enum cpu_isa best = cpu_isa_best();

    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        allowed = allowed && cpu_isa_best() == (isa > (int)best ? (enum cpu_isa)isa : best);
    }
    tap_ok(allowed, "GPUHIST_ISA takes the named instruction set, or the best below it");
    setenv("GPUHIST_ISA", "plain", 1);
    cpu_isa_forget();
    tap_ok(cpu_isa_best() == CPU_ISA_PLAIN, "GPUHIST_ISA=plain is always there");
    setenv("GPUHIST_ISA", "abacus", 1);
    cpu_isa_forget();
    tap_ok(cpu_isa_best() == best, "a name that GPUHIST_ISA does not know changes nothing");
    unsetenv("GPUHIST_ISA");
    cpu_isa_forget();
}

int main(void)
{
    unsetenv("GPUHIST_ISA");
    cpu_isa_forget();
    test_forms();
    test_refusals();
    test_index();
    test_edges();
    test_isa();
    test_loops();
    return tap_done();
}
