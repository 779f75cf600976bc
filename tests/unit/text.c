/*
 * Text to integers, compared with results for single texts, and for many more with a plain parser
 * (text_reference.h). Texts lie between unreadable pages.
 */
#include "config.h"

#include "lib/cpu_isa.h"
#include "tap.h"
#include "text/text.h"
#include "text_reference.h"

#include <sys/mman.h>
#include <unistd.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* --- memory with an end ------------------------------------------------------------------------
 */

#define ARENA_BYTES ((size_t)4 << 20)

/* ARENA_BYTES bytes between inaccessible pages. */
static char *arena;

static void arena_open(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, ARENA_BYTES + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED || mprotect(all + page, ARENA_BYTES, PROT_READ | PROT_WRITE) != 0) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    arena = all + page;
}

/* Puts a text at the beginning or at the end of the arena. */
static const char *arena_place(const char *text, size_t bytes, bool at_end)
{
    char *place = arena + (at_end ? ARENA_BYTES - bytes : 0);
    return memcpy(place, text, bytes);
}

/* --- against the reference ----------------------------------------------------------------------
 */

static const size_t rooms[] = {3, 5, 2, 1, 64, 1000};

static const char *type_names[] = {
#define TYPE_NAME(id, name, ctype) #name,
    ELEMENT_TYPES(TYPE_NAME)
#undef TYPE_NAME
};

static void show(const char *text, size_t bytes)
{
    fputs("# ", stdout);
    for (size_t i = 0; i < bytes && i < 400; i++)
        printf(text[i] > ' ' && text[i] < 0x7f && text[i] != '\\' ? "%c" : "\\x%02x",
               (unsigned char)text[i]);
    puts("");
}

/* Parses a text in every instruction set, with rooms[0..room_count). */
static bool agrees(const struct text_rules *rules, enum element_type type, const char *text,
                   size_t bytes, size_t room_count)
{
    struct reference all = reference_parse(rules, type, text, bytes);
    bool right = true;

    for (int isa = 0; right && isa < CPU_ISA_COUNT; isa++) {
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        for (size_t i = ARRAY_LENGTH(rooms) - room_count; right && i < ARRAY_LENGTH(rooms); i++) {
            const char *wrong = reference_compare(&all, bytes, rooms[i]);
            if (!wrong)
                continue;
            show(text, bytes);
            right =
                tap_note("field %d, delimiter %d, notation %d, %u decimals, %s, %s, room %zu: %s",
                         rules->field, rules->delimiter, (int)rules->notation, rules->decimals,
                         type_names[type], cpu_isa_names[isa], rooms[i], wrong);
        }
    }
    free(all.items);
    return right;
}

static const enum text_notation notations[] = {TEXT_INTEGERS, TEXT_HEX, TEXT_FIXED};

static const struct text_rules every_rules[] = {
    {.field = 0, .delimiter = TEXT_NO_DELIMITER},
    {.field = 1, .delimiter = TEXT_NO_DELIMITER},
    {.field = 2, .delimiter = TEXT_NO_DELIMITER},
    {.field = 9, .delimiter = TEXT_NO_DELIMITER},
    {.field = INT32_MAX, .delimiter = TEXT_NO_DELIMITER},
    {.field = -1, .delimiter = TEXT_NO_DELIMITER},
    {.field = -3, .delimiter = TEXT_NO_DELIMITER},
    {.field = INT32_MIN, .delimiter = TEXT_NO_DELIMITER},
    {.field = 0, .delimiter = ','},
    {.field = 1, .delimiter = ','},
    {.field = 3, .delimiter = ','},
    {.field = -1, .delimiter = ','},
    {.field = -2, .delimiter = ','},
    {.field = 0, .delimiter = ' '},
    {.field = 2, .delimiter = ' '},
    {.field = -2, .delimiter = ' '},
    {.field = 0, .delimiter = '\t'},
    {.field = 1, .delimiter = '\t'},
    {.field = 0, .delimiter = 0},
    {.field = 2, .delimiter = 255},
    {.field = 0, .delimiter = '\r'},
    {.field = 2, .delimiter = '\r'},
    {.field = -1, .delimiter = '\r'},
    {.field = 0, .delimiter = '5'},
    {.field = 2, .delimiter = '-'},
    {.field = 0, .delimiter = '\n'},
    {.field = 1, .delimiter = '\n'},
    {.field = -1, .delimiter = '\n'},
};

/* --- texts with their results -------------------------------------------------------------------
 */

/* A text and its result: numbers, and OFFSET:BYTES of invalid tokens. */
struct example {
    const char *text;
    const char *wanted;
};

/* Describes the result of parsing a text like struct example. */
static void describe(const struct text_rules *rules, enum element_type type, const char *text,
                     size_t bytes, char *out, size_t size)
{
    text_parse_function *parse = text_choose_parser(rules, type);
    enum text_event event = TEXT_FULL;
    uint64_t value[1];
    struct text_cursor cursor = {
        .rules = rules, .data = text, .bytes = bytes, .values = value, .capacity = 1};
    size_t used = 0;

    *out = '\0';
    while (event != TEXT_END && used < size) {
        event = parse(&cursor);
        const char *space = used > 0 ? " " : "";
        if (cursor.count == 1) {
            __int128 number = reference_value(type, value);
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s%llu", space, number < 0 ? "-" : "",
                                 (unsigned long long)(number < 0 ? -number : number));
        }
        space = used > 0 ? " " : "";
        if (event == TEXT_INVALID && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%zu:%zu", space,
                                     cursor.invalid.offset, cursor.invalid.bytes);
    }
}

static bool gives(const struct text_rules *rules, enum element_type type, const char *text,
                  size_t bytes, const char *wanted)
{
    bool right = true;

    for (int isa = 0; right && isa < CPU_ISA_COUNT; isa++) {
        char found[1000];
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        describe(rules, type, arena_place(text, bytes, true), bytes, found, sizeof found);
        if (strcmp(found, wanted) == 0)
            continue;
        show(text, bytes);
        right = tap_note("field %d, delimiter %d, %s, %s: '%s', not '%s'", rules->field,
                         rules->delimiter, type_names[type], cpu_isa_names[isa], found, wanted);
    }
    return right;
}

static bool rules_give(const struct text_rules *rules, enum element_type type,
                       const struct example *examples, size_t count)
{
    bool right = true;

    for (size_t i = 0; i < count; i++)
        right =
            gives(rules, type, examples[i].text, strlen(examples[i].text), examples[i].wanted) &&
            right;
    return right;
}

static bool examples_are_right(int32_t field, int delimiter, enum element_type type,
                               const struct example *examples, size_t count)
{
    const struct text_rules rules = {.field = field, .delimiter = delimiter};

    return rules_give(&rules, type, examples, count);
}

/* The table of bad inputs: the part about text in memory. */
static void test_bad_inputs(void)
{
    static const struct example examples[] = {
        {"", ""},
        {"\n", ""},
        {"\n\n \t\r\n\v\f", ""},
        {"5", "5"},
        {"5\n6", "5 6"},
        {"5\r\n6\r\n", "5 6"},
        {"5\r6\r7", "5 6 7"},
        {"\xef\xbb\xbf"
         "5\n6\n",
         "0:4 6"},
        {"+5 -5 +0 -0", "5 -5 0 0"},
        {"- + -- ++", "0:1 2:1 4:2 7:2"},
        {"--5 +-5 -+5 5- 5+5", "0:3 4:3 8:3 12:2 15:3"},
        {"007 -0000000000000000000000000012 +00", "7 -12 0"},
        {"1e5 0x10 1.0 NaN NaN123 1_000 1,000", "0:3 4:4 9:3 13:3 17:6 24:5 30:5"},
        {"-9223372036854775808 9223372036854775807", "-9223372036854775808 9223372036854775807"},
        {"9223372036854775808 -9223372036854775809", "0:19 20:20"},
        {"18446744073709551615 18446744073709551616", "0:20 21:20"},
        {"99999999999999999999 100000000000000000000", "0:20 21:21"},
        {"5\xc2\xa0\x36 7", "0:4 7"},
        {"1\t2  3\v4\f5 ", "1 2 3 4 5"},
    };
    static const char nul[] = "12\0003 4\n\0 5";
    const struct text_rules tokens = {.delimiter = TEXT_NO_DELIMITER};

    tap_ok(examples_are_right(0, TEXT_NO_DELIMITER, ELEMENT_I64, examples, ARRAY_LENGTH(examples)),
           "tokens of odd texts");
    tap_ok(gives(&tokens, ELEMENT_I64, nul, sizeof nul - 1, "0:4 4 7:1 5"),
           "a NUL is part of a token");
}

static void test_words(void)
{
    static const struct example second[] = {
        {"1 2 3\n4 5", "2 5"},
        {"  1\t 2\n\t\n\n   \r\n7 8\r\n", "2 8"},
        {"1\n1 2\n1 \n", "1:0 2 8:0"},
        {"1\r\n1 2\r\n", "1:0 2"},
        {"a b\nc 4 d\n5", "2:1 4 11:0"},
        {"1 2\r\r\n", "2:2"},
        {"1 2\v3\n", "2:3"},
        {"1 \r\n\r\r\n2 \r3", "2:0 5:0 9:2"},
    };
    static const struct example last[] = {
        {"1 2 3\n4 5  \n\n6", "3 5 6"},
        {"1 x\r\n \r\n2\r\n", "2:1 2"},
        {"1 2\r", "2"},
    };
    static const struct example third_last[] = {
        {"1 2 3\n4 5\n 6 7 8 9 \n", "1 9:0 7"},
    };

    tap_ok(examples_are_right(2, TEXT_NO_DELIMITER, ELEMENT_I32, second, ARRAY_LENGTH(second)),
           "the second word of a line");
    tap_ok(examples_are_right(-1, TEXT_NO_DELIMITER, ELEMENT_I32, last, ARRAY_LENGTH(last)),
           "the last word of a line");
    tap_ok(examples_are_right(-3, TEXT_NO_DELIMITER, ELEMENT_I32, third_last,
                              ARRAY_LENGTH(third_last)),
           "the third but last word of a line");
}

static void test_parts(void)
{
    static const struct example every[] = {
        {"1,2,3\n4\n", "1 2 3 4"},
        {" 1 ,\t2\t,  3\r\n", "1 2 3"},
        {",\n", "0:0 1:0"},
        {",", "0:0 1:0"},
        {"1,", "1 2:0"},
        {"1,\r\n\n \t\n2,,\n", "1 2:0 2 10:0 11:0"},
        {"1, ,x,2\n  ", "1 3:0 4:1 2"},
        {"x", "0:1"},
        {"x\n\n", "0:1"},
        {"1 2,3\n", "0:3 3"},
    };
    static const struct example tabs[] = {
        {"1\t2\n\t\n \t \t\n3\t\n", "1 2 3 13:0"},
        {"\t1\n\t", "0:0 1"},
    };
    static const struct example second[] = {
        {"1,2,3\n4\n,\n,5", "2 7:0 9:0 5"},
        {"1, 2 \r\n\r\n3\r\n", "2 10:0"},
    };
    static const struct example last[] = {
        {"1,2,3\n4\n5,\n,\n", "3 4 10:0 12:0"},
    };
    static const struct example second_last[] = {
        {"1,2,3\n4\n5,\r\n,\n", "2 7:0 5 12:0"},
    };

    tap_ok(examples_are_right(0, ',', ELEMENT_I32, every, ARRAY_LENGTH(every)), "every part");
    tap_ok(examples_are_right(0, '\t', ELEMENT_I32, tabs, ARRAY_LENGTH(tabs)),
           "every part between tabs");
    tap_ok(examples_are_right(2, ',', ELEMENT_I32, second, ARRAY_LENGTH(second)),
           "the second part");
    tap_ok(examples_are_right(-1, ',', ELEMENT_I32, last, ARRAY_LENGTH(last)), "the last part");
    tap_ok(examples_are_right(-2, ',', ELEMENT_I32, second_last, ARRAY_LENGTH(second_last)),
           "the last part but one");
}

static void test_hex(void)
{
    static const struct example examples[] = {
        {"0 1f 1F 0x1f 0X1F ff -ff +0xA -0x10", "0 31 31 31 31 255 -255 10 -16"},
        {"0x x 0xx 00x1 0x0x1 1x 0x- --1 +", "0:2 3:1 5:3 9:4 14:5 20:2 23:3 27:3 31:1"},
        {"g 1g 0xfg 1.0 0x1p3 @ ` :", "0:1 2:2 5:4 10:3 14:5 20:1 22:1 24:1"},
        {"7fffffffffffffff 8000000000000000 -8000000000000000 -8000000000000001",
         "9223372036854775807 17:16 -9223372036854775808 52:17"},
        {"0x0000000000000000000000000000000000000012 10000000000000000", "18 43:17"},
    };
    static const struct example large[] = {
        {"ffffffffffffffff 0xFFFFFFFFFFFFFFFF -0 -1 10000000000000000",
         "18446744073709551615 18446744073709551615 0 39:2 42:17"},
    };
    static const struct example second[] = {
        {"1,0xff\n2, 7F \n3,\n", "255 127 16:0"},
    };
    const struct text_rules tokens = {.delimiter = TEXT_NO_DELIMITER, .notation = TEXT_HEX};
    const struct text_rules fields = {.field = 2, .delimiter = ',', .notation = TEXT_HEX};

    tap_ok(rules_give(&tokens, ELEMENT_I64, examples, ARRAY_LENGTH(examples)) &&
               rules_give(&tokens, ELEMENT_U64, large, ARRAY_LENGTH(large)),
           "hexadecimal tokens");
    tap_ok(rules_give(&fields, ELEMENT_I16, second, ARRAY_LENGTH(second)), "hexadecimal fields");
}

/* Every byte at every place of a token of 16 digits. */
static void test_hex_bytes(void)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const struct text_rules rules = {.delimiter = ',', .field = 2, .notation = TEXT_HEX};
    bool right = true;

    for (unsigned byte = 1; byte < 256; byte++) {
        for (size_t place = 0; place < 16; place++) {
            char text[] = "7,12345678fedcbA90\n";
            uint64_t element = 0;
            text[2 + place] = (char)byte;
            const bool is_digit = strchr(digits, (char)byte);
            if (byte == ',' || (byte == 'x' && place == 1) || strchr(" \t\n\v\f\r+-", (char)byte))
                continue;
            struct text_cursor cursor = {
                .rules = &rules,
                .data = arena_place(text, sizeof text - 1, true),
                .bytes = sizeof text - 1,
                .values = &element,
                .capacity = 1,
            };
            text_choose_parser(&rules, ELEMENT_U64)(&cursor);
            if (is_digit ? cursor.count != 1 || element != strtoull(text + 2, NULL, 16)
                         : cursor.count != 0)
                right = tap_note("byte %u at %zu: wrong", byte, place);
        }
    }
    tap_ok(right, "each byte in a hexadecimal number");
}

static void test_fixed(void)
{
    static const struct example examples[] = {
        {"0 1 1.5 -1.50 +0.125 .5 5. -.001 1.2500000 -0.0",
         "0 1000 1500 -1500 125 500 5000 -1 1250 0"},
        {". -. .. 1.2.3 1..2 1.2345 1.2340001 1e5 1,5 0x1 1.-5 + 1e-4 1e -.5E-1 1e99 0e99",
         "0:1 2:2 5:2 8:5 14:4 19:6 26:9 100000000 "
         "40:3 44:3 48:4 53:1 55:4 60:2 -50 70:4 0"},
        {"9223372036854775.807 9223372036854775.808 -9223372036854775.808 -9223372036854775.809",
         "9223372036854775807 21:20 -9223372036854775808 64:21"},
        {"000000000000000000000000000001.000 0.00000000000000000000000000000", "1000 0"},
        {"18446744073709551616.0 99999999999999999999.999", "0:22 23:24"},
    };
    static const struct example whole[] = {{"5 5.0 5. 5.5 .0", "5 5 5 9:3 0"}};
    static const struct example all[] = {
        {"18.446744073709551615 18.446744073709551616 0.000000000000000001 19 .5 -0",
         "18446744073709551615 22:21 1 65:2 500000000000000000 0"},
    };
    static const struct example second[] = {{"1, 2.5 \r\n3,-.5\n4,\n5,.\n", "2500 -500 17:0 20:1"}};
    const struct text_rules three = {.delimiter = TEXT_NO_DELIMITER,
                                     .notation = TEXT_FIXED,
                                     .decimals = 3};
    const struct text_rules none = {.delimiter = TEXT_NO_DELIMITER, .notation = TEXT_FIXED};
    const struct text_rules most = {.delimiter = TEXT_NO_DELIMITER,
                                    .notation = TEXT_FIXED,
                                    .decimals = TEXT_DECIMALS_MAX};
    static const struct example rounded[] = {
        {"1.0005 1.0015 1.00049999999999999999999 1.000500000000000000000001 -1.5e-30 5e-4 5.1e-4 "
         ".",
         "1000 1002 1000 1001 0 0 1 88:1"},
        {"18446744073709551.6145 18446744073709551.6155 1e17 99e-9999999999999999999999",
         "18446744073709551614 23:22 46:4 0"},
    };
    const struct text_rules round = {.delimiter = TEXT_NO_DELIMITER,
                                     .notation = TEXT_FIXED,
                                     .decimals = 3,
                                     .is_rounded = true};
    const struct text_rules fields = {.field = 2,
                                      .delimiter = ',',
                                      .notation = TEXT_FIXED,
                                      .decimals = 3};

    tap_ok(rules_give(&three, ELEMENT_I64, examples, ARRAY_LENGTH(examples)) &&
               rules_give(&none, ELEMENT_I64, whole, ARRAY_LENGTH(whole)) &&
               rules_give(&most, ELEMENT_U64, all, ARRAY_LENGTH(all)),
           "tokens with a point");
    tap_ok(rules_give(&round, ELEMENT_I64, rounded, 1) &&
               rules_give(&round, ELEMENT_U64, rounded + 1, 1),
           "numbers that are rounded");
    tap_ok(rules_give(&fields, ELEMENT_I16, second, ARRAY_LENGTH(second)), "fields with a point");
}

/* Numbers with a point, most of them in the usual form, like in numbers_are_right. */
static size_t fixed_put(char *place, unsigned decimals, uint64_t *state)
{
    static const char *const signs[] = {"", "", "-", "+"};
    uint64_t whole = tap_random(state) >> (1 + tap_random(state) % 63);
    uint64_t kind = tap_random(state) % 64;
    unsigned given = kind < 40 ? decimals : (unsigned)(tap_random(state) % (decimals + 2));
    size_t bytes = (size_t)sprintf(place, "%s%llu", signs[kind % 4], (unsigned long long)whole);

    if (given > 0 || kind % 8 == 1)
        place[bytes++] = '.';
    for (unsigned i = 0; i < given; i++)
        place[bytes++] = (char)('0' + (kind == 3 ? 0 : tap_random(state) % 10));
    if (kind % 8 == 5) /* digits that determine rounding, and an exponent */
        bytes += (size_t)sprintf(place + bytes, "%s%s", given > 0 ? "5" : "",
                                 kind % 16 == 5 ? "" : "000000000000000000001");
    if (kind % 16 == 2)
        bytes += (size_t)sprintf(place + bytes, "e%d", (int)(tap_random(state) % 50) - 25);
    return bytes;
}

static bool fixed_are_right(unsigned decimals, uint64_t *state)
{
    struct text_rules rules = {.delimiter = TEXT_NO_DELIMITER,
                               .notation = TEXT_FIXED,
                               .decimals = decimals};
    char text[3000];
    bool right = true;

    for (int round = 0; right && round < 40; round++) {
        const enum element_type type = round % 4 ? ELEMENT_I64 : (enum element_type)(round / 4 % 8);
        const size_t shortest = tap_random(state) % 2900;
        rules.is_rounded = round % 2;
        size_t bytes = 0;
        while (bytes < shortest) {
            bytes += fixed_put(text + bytes, decimals, state);
            text[bytes++] = tap_random(state) % 8 ? '\n' : ' ';
        }
        right = agrees(&rules, type, arena_place(text, bytes, round % 3 > 0), bytes, 2);
    }
    return right;
}

static void test_fixed_numbers(void)
{
    uint64_t state = 11;
    bool right = true;

    for (unsigned decimals = 0; right && decimals <= TEXT_DECIMALS_MAX; decimals++)
        right = fixed_are_right(decimals, &state);
    tap_ok(right, "numbers with a point, of every length");
}

/* --- limits ----------------------------------------------------------------------------------- */

/* Writes a number with a sign, or none, and leading zeros. Returns its length. */
static size_t write_number(char *text, __int128 value, int base, const char *sign, size_t zeros)
{
    char digits[50];
    size_t count = 0;
    size_t length = strlen(sign);

    do
        digits[count++] = "0123456789abcdef"[(int)(value % base)];
    while (value /= base);
    memcpy(text, sign, length);
    memset(text + length, '0', zeros);
    length += zeros;
    while (count > 0)
        text[length++] = digits[--count];
    return length;
}

/* One number near a limit, alone and after others, so that it is read in every way. */
static bool number_is_right(enum element_type type, enum text_notation notation, __int128 value,
                            const char *sign, size_t zeros)
{
    char text[200];
    const bool is_negative = *sign == '-';
    const __int128 number = is_negative ? -value : value;
    const bool fits = number >= reference_low(type) && number <= reference_high(type);

    for (size_t before = 0; before < 24; before += 6) {
        uint64_t element = 0;
        memset(text, ' ', before);
        size_t bytes = before + write_number(text + before, value, notation == TEXT_HEX ? 16 : 10,
                                             sign, zeros);
        const struct text_rules rules = {.delimiter = before % 12 == 0 ? TEXT_NO_DELIMITER : ',',
                                         .notation = notation};
        struct text_cursor cursor = {
            .rules = &rules,
            .data = arena_place(text, bytes, true),
            .bytes = bytes,
            .values = &element,
            .capacity = 1,
        };
        enum text_event event = text_choose_parser(&rules, type)(&cursor);
        if (fits ? cursor.count != 1 || reference_value(type, &element) != number
                 : event != TEXT_INVALID || cursor.invalid.offset != before)
            return tap_note("%.*s as %s: wrong", (int)bytes, text, type_names[type]);
    }
    return true;
}

static bool limit_is_right(enum element_type type, __int128 value, const char *sign, size_t zeros)
{
    return number_is_right(type, TEXT_INTEGERS, value, sign, zeros) &&
           (zeros > 3 || number_is_right(type, TEXT_HEX, value, sign, zeros));
}

static bool limits_are_right(enum element_type type)
{
    static const char *const signs[] = {"", "+", "-"};
    bool right = true;

    for (int bits = 0; bits <= 67; bits++) {
        for (__int128 near = -2; near <= 2; near++) {
            __int128 value = ((__int128)1 << bits) + near;
            for (size_t i = 0; right && value >= 0 && i < 3 * 40; i++)
                right = limit_is_right(type, value, signs[i % 3], i / 3);
        }
    }
    for (__int128 ten = 1; right && ten < (__int128)1 << 80; ten *= 10)
        right = limit_is_right(type, ten, "", 0) && limit_is_right(type, ten - 1, "-", 0) &&
                limit_is_right(type, ten - 1, "+", 3);
    return right;
}

static void test_limits(void)
{
    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        bool right = true;
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        for (int type = 0; type < ELEMENT_TYPE_COUNT; type++)
            right = limits_are_right((enum element_type)type) && right;
        tap_ok(right, "numbers near the limits of all types, %s code", cpu_isa_names[isa]);
    }
}

/* --- random texts ----------------------------------------------------------------------------- */

/* Bytes to draw from; repeated ones are more frequent. */
struct alphabet {
    const char *name;
    const char *bytes;
    size_t count;
};
#define ALPHABET(name, bytes)         \
    {                                 \
        name, bytes, sizeof bytes - 1 \
    }

static const struct alphabet alphabets[] = {
    ALPHABET("digits and newlines", "0123456789\n"),
    ALPHABET("few separators", "00123456789123456789123456789 \n+-"),
    ALPHABET("many separators", "012  \n\n\r\n\t,,,"),
    ALPHABET("blank lines", " \t\n\r,5"),
    ALPHABET("all white space", "123456789 \t\n\r\v\f"),
    ALPHABET("signs", "1234567890+-+- \n"),
    ALPHABET("one digit", "5\n"),
    ALPHABET("delimiters", "1234567890,,,\n\r\n"),
    ALPHABET("words", "abc123   \n"),
    ALPHABET("no separators", "0000000001"),
    ALPHABET("near digits", "0123456789/:;\x01\x80\xb0\xb9\xff \n"),
    ALPHABET("hexadecimal", "0123456789abcdefABCDEF000xxX+-  \n\n,g@`"),
    ALPHABET("points", "0123456789...--+\n\n\n  ,"),
    ALPHABET("zeros and points", "0000000000001.. \n"),
    ALPHABET("everything", "0123456789+-,;\t\n\r\v\f \0\0abz\x7f\x80\x8a\xa0\xff\xff"),
};

static bool random_is_right(const struct alphabet *alphabet, uint64_t *state)
{
    const unsigned rounds = tap_some(1000);
    char text[700];
    bool right = true;

    for (unsigned round = 0; right && round < rounds; round++) {
        struct text_rules rules = every_rules[tap_random(state) % ARRAY_LENGTH(every_rules)];
        const enum element_type type = (enum element_type)(tap_random(state) % ELEMENT_TYPE_COUNT);
        const size_t bytes = tap_random(state) % (round % 4 ? 150 : sizeof text);
        for (size_t i = 0; i < bytes; i++)
            text[i] = alphabet->bytes[tap_random(state) % alphabet->count];
        const char *placed = arena_place(text, bytes, round % 2);
        for (size_t i = 0; right && i < ARRAY_LENGTH(notations); i++) {
            rules.notation = notations[i];
            rules.decimals = round % (TEXT_DECIMALS_MAX + 1);
            right = agrees(&rules, type, placed, bytes, ARRAY_LENGTH(rooms));
        }
    }
    return right;
}

static void test_random(void)
{
    uint64_t state = 1;

    for (size_t i = 0; i < ARRAY_LENGTH(alphabets); i++)
        tap_ok(random_is_right(&alphabets[i], &state), "random texts: %s", alphabets[i].name);
}

/* --- numbers of every length -------------------------------------------------------------------
 */

/* A number with any number of digits, mostly in the type's range, sometimes at its limits. */
static size_t number_put(char *place, enum element_type type, uint64_t *state)
{
    const __int128 high = reference_high(type);
    uint64_t number = tap_random(state) >> tap_random(state) % 64;
    uint64_t kind = tap_random(state) % 64;
    const char *sign = "";

    if (kind == 0)
        number = (uint64_t)high + tap_random(state) % 3; /* or just above */
    else
        number %= (uint64_t)high / 2 + 1;
    if (reference_low(type) < 0 || kind == 1)
        sign = &"-\0+\0\0"[tap_random(state) % 3 * 2];
    return (size_t)sprintf(place, "%s%s%llu", sign, kind == 2 ? "00000000000" : "",
                           (unsigned long long)number);
}

/* Mostly usual text, so that the parser of many numbers at once rarely stops. */
static bool numbers_are_right(enum element_type type, uint64_t *state)
{
    static const char *const whites[] = {"\n", "\n", "\n", "\n", " ", "\r\n", "\t", "  \v \f"};
    const struct text_rules rules = {.delimiter = TEXT_NO_DELIMITER};
    char text[6000];
    bool right = true;

    for (int round = 0; right && round < 300; round++) {
        const size_t shortest = tap_random(state) % 5000;
        size_t bytes = 0;
        while (bytes < shortest) {
            bytes += number_put(text + bytes, type, state);
            bytes += (size_t)sprintf(text + bytes, "%s", whites[tap_random(state) % 8]);
            if (tap_random(state) % 512 == 0)
                bytes += (size_t)sprintf(text + bytes, "%s", round % 2 ? "- " : "1+");
        }
        right = agrees(&rules, type, arena_place(text, bytes, round % 3 > 0), bytes, 2);
    }
    return right;
}

static void test_numbers(void)
{
    uint64_t state = 4;

    for (int type = 0; type < ELEMENT_TYPE_COUNT; type++)
        tap_ok(numbers_are_right((enum element_type)type, &state), "%s of every length",
               type_names[type]);
}

/* All texts of a few of these bytes, by each rule, or each `step`th. */
static void test_short(enum text_notation notation, const char bytes[7], size_t step)
{
    bool right = true;

    for (size_t rule = 0; right && rule < ARRAY_LENGTH(every_rules); rule += step) {
        for (size_t number = 0; right && number < (size_t)7 * 7 * 7 * 7 * 7; number++) {
            char text[5];
            size_t rest = number;
            for (size_t i = 0; i < sizeof text; i++, rest /= 7)
                text[i] = bytes[rest % 7];
            size_t length = 5 - number % 3 * (number % 5 == 0);
            struct text_rules rules = every_rules[rule];
            rules.notation = notation;
            rules.decimals = (unsigned)(number % 3);
            rules.is_rounded = number % 2 == 0;
            rules.has_exponents = number % 2 == 0 && !text_is_of_tokens(&rules);
            right = agrees(&rules, ELEMENT_U8, arena_place(text, length, true), length,
                           4); /* except capacities that no text fills */
        }
    }
    tap_ok(right, "all texts of a few bytes, notation %d", (int)notation);
}

/* Texts of many kinds of lines, of every length, at both ends of the readable memory. */
static void test_ends(void)
{
    static const char line[] =
        "12,-7 ,+123456789012345678,x\r\n 5 6,,\n\n99999999999999999999 8\t9\n"
        "1234567890123456 123456789012345 12345678901234567 \n,,4,5,6,\n";
    char text[2 * sizeof line];
    bool right = true;

    memcpy(text, line, sizeof line - 1);
    memcpy(text + sizeof line - 1, line, sizeof line - 1);
    for (size_t bytes = 0; right && bytes <= 2 * (sizeof line - 1); bytes++) {
        for (size_t rule = 0; right && rule < ARRAY_LENGTH(every_rules); rule++)
            right =
                agrees(&every_rules[rule], ELEMENT_I32, arena_place(text, bytes, true), bytes, 2) &&
                agrees(&every_rules[rule], ELEMENT_U64, arena_place(text, bytes, false), bytes, 2);
    }
    tap_ok(right, "a text that ends, or begins, at a page that cannot be read, of every length");
}

/* --- large texts ------------------------------------------------------------------------------ */

/* A token that begins at every place in a block and ends in every other. */
static void test_edges(void)
{
    static const char rest[] = " 7\r\n8\r\n5 6,77 \r\n1,2,5\r\n1 2,5\n4,";
    static char text[400];
    bool right = true;

    for (size_t before = 0; right && before < 130; before++) {
        for (size_t digits = 1; right && digits < 140; digits += digits < 24 ? 1 : 37) {
            size_t bytes = before + digits + sizeof rest - 1;
            memset(text, ' ', before);
            memset(text + before, digits > 19 ? '0' : '1', digits);
            text[before + digits - 1] = '7';
            memcpy(text + before + digits, rest, sizeof rest - 1);
            for (size_t rule = 0; right && rule < ARRAY_LENGTH(every_rules); rule++)
                right = agrees(&every_rules[rule], ELEMENT_I64, arena_place(text, bytes, true),
                               bytes, 1);
        }
    }
    tap_ok(right, "numbers at every place in a block");
}

/* Fills the arena's first bytes with a repeated text; returns it. */
static const char *fill_arena(const char *text, size_t length, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        arena[i] = text[i % length];
    return arena;
}

static bool long_is_right(const char *text, size_t length)
{
    const size_t bytes = 100007;
    bool right = true;

    fill_arena(text, length, bytes);
    for (size_t rule = 0; right && rule < ARRAY_LENGTH(every_rules); rule++)
        right = agrees(&every_rules[rule], ELEMENT_I16, arena, bytes, 1);
    arena[bytes - 1] = '5';
    for (size_t rule = 0; right && rule < ARRAY_LENGTH(every_rules); rule++)
        right = agrees(&every_rules[rule], ELEMENT_I16, arena, bytes, 1);
    return right;
}

static void test_long(void)
{
    tap_ok(long_is_right("0", 1) && long_is_right("1", 1), "100 KB of digits");
    tap_ok(long_is_right("a", 1), "100 KB of letters");
    tap_ok(long_is_right(" ", 1) && long_is_right("\n", 1) && long_is_right("\r", 1) &&
               long_is_right("\t \t", 3) && long_is_right("\r\n", 2),
           "100 KB of nothing");
    tap_ok(long_is_right("1 2 33 ", 7) && long_is_right("1,2,33,", 7) && long_is_right(",", 1),
           "a line of 100 KB");
}

/* Checks all numbers of a text against arithmetic. */
static void test_sequence(void)
{
    const struct text_rules rules = {.delimiter = TEXT_NO_DELIMITER};
    const size_t numbers = 400000;
    bool right = true;

    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        size_t bytes = 0;
        int32_t *values = reference_must(calloc(numbers, sizeof *values));
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        for (size_t i = 0; i < numbers; i++)
            bytes += (size_t)sprintf(arena + bytes, "%d\n", (int)(i * 7) - 1000000);
        struct text_cursor cursor = {
            .rules = &rules, .data = arena, .bytes = bytes, .values = values, .capacity = numbers};
        enum text_event event = text_choose_parser(&rules, ELEMENT_I32)(&cursor);
        right = right && event != TEXT_INVALID && cursor.count == numbers;
        for (size_t i = 0; i < numbers; i++)
            right = right && values[i] == (int32_t)(i * 7) - 1000000;
        free(values);
    }
    tap_ok(right, "a sequence of %zu numbers", numbers);
}

/* --- lines ------------------------------------------------------------------------------------ */

static uint64_t count_plainly(const char *text, size_t bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    return lines;
}

static void test_lines(void)
{
    uint64_t state = 3;

    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        bool right = true;
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        for (size_t i = 0; i < 1000; i++)
            arena[ARENA_BYTES - 1 - i] = "\n\x0b\x8a x"[tap_random(&state) % 5];
        for (size_t bytes = 0; bytes <= 1000; bytes++) {
            const char *text = arena + ARENA_BYTES - bytes;
            right = right && text_count_lines(text, bytes) == count_plainly(text, bytes);
        }
        memset(arena, '\n', ARENA_BYTES);
        right = right && text_count_lines(arena, ARENA_BYTES) == ARENA_BYTES &&
                text_count_lines(arena + 1, 65536) == 65536 &&
                text_count_lines(arena, 65537) == 65537;
        tap_ok(right, "newlines are counted, %s code", cpu_isa_names[isa]);
    }
}

/* --- text or not ------------------------------------------------------------------------------ */

/* Lists of the strings of one to three bytes that are characters, or the start of longer ones. */
enum { IS_CHARACTER = 1, IS_BEGINNING = 2 };
static unsigned char *known[4]; /* by length, then by the bytes as a big-endian number */

static size_t encode(uint32_t code, unsigned char *bytes)
{
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};

    for (size_t i = more; i > 0; i--, code >>= 6)
        bytes[i] = (unsigned char)(0x80 | (code & 0x3f));
    bytes[0] = (unsigned char)(leads[more] | code);
    return more + 1;
}

static bool is_control(uint32_t code)
{
    bool is_white = (code >= '\t' && code <= '\r') || code == 0x85;
    return !is_white && (code < 0x20 || (code >= 0x7f && code < 0xa0));
}

static void know_characters(void)
{
    for (size_t length = 1; length <= 3; length++)
        known[length] = reference_must(calloc((size_t)1 << 8 * length, 1));
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        unsigned char bytes[4];
        if ((code >= 0xd800 && code < 0xe000) || is_control(code))
            continue;
        size_t length = encode(code, bytes);
        uint32_t number = 0;
        for (size_t i = 1; i <= length && i <= 3; i++) {
            number = number << 8 | bytes[i - 1];
            known[i][number] |= i == length ? IS_CHARACTER : IS_BEGINNING;
        }
    }
}

/* Returns whether the lists make bytes[0..length), at most 3, a text. */
static bool is_known_text(const unsigned char *bytes, size_t length, bool ended)
{
    uint32_t number = 0;
    size_t pending = 0; /* bytes in `number` that are not yet a character */

    for (size_t i = 0; i < length; i++) {
        number = number << 8 | bytes[i];
        if (known[++pending][number] & IS_CHARACTER)
            number = 0, pending = 0;
    }
    return pending == 0 || (!ended && known[pending][number] & IS_BEGINNING);
}

static void test_characters(void)
{
    bool right = true;

    know_characters();
    for (size_t length = 1; length <= 3; length++) {
        for (uint32_t number = 0; right && number < (uint32_t)1 << 8 * length; number++) {
            unsigned char bytes[3];
            for (size_t i = 0; i < length; i++)
                bytes[i] = (unsigned char)(number >> 8 * (length - 1 - i));
            for (int ended = 0; right && ended < 2; ended++)
                right = text_is_text(bytes, length, ended) == is_known_text(bytes, length, ended) ||
                        tap_note("%06x, %s", number, ended ? "ended" : "cut");
        }
    }
    tap_ok(right, "text or not: all strings of up to three bytes");
    for (uint32_t code = 0x10000; right && code <= 0x10ffff; code++) {
        unsigned char bytes[6] = "a";
        size_t length = 1 + encode(code, bytes + 1);
        bytes[length] = 'b';
        right = text_is_text(bytes, 6, true);
        bytes[4] ^= 0x40;
        right = right && !text_is_text(bytes, 6, true);
    }
    tap_ok(right, "text or not: characters of four bytes");
    for (size_t length = 1; length <= 3; length++)
        free(known[length]);
}

static bool detects(const char *text, size_t bytes, bool ended)
{
    return text_is_text(arena_place(text, bytes, true), bytes, ended);
}

static void test_detection(void)
{
    tap_ok(detects("", 0, true) && detects("1\n2\r\n\t\v\f", 8, true) &&
               detects("id,Gr\xc3\xb6\xc3\x9f"
                       "e\n",
                       10, true) &&
               detects("\xef\xbb\xbf"
                       "1\n",
                       5, true),
           "what is text");
    tap_ok(!detects("1\0\n", 3, true) && !detects("\x01\0\0\0", 4, true) &&
               !detects("\xff\xfe"
                        "1\0\n\0",
                        6, true) &&
               !detects("1\x1b[m", 4, true) && !detects("1\x7f", 2, true) &&
               !detects("Gr\xf6\xdf"
                        "e",
                        5, true),
           "what is not");
    tap_ok(detects("1\xe2\x82", 3, false) && !detects("1\xe2\x82", 3, true) &&
               !detects("1\xe2\x28", 3, false) && detects("1\xf0\x9f\x98", 4, false) &&
               !detects("1\xf5", 2, false),
           "a character that is cut off");
}

/* Returns whether text_find_encoding returns this for the bytes, which end with their memory. */
static bool finds(const char *encoding, const char *text, size_t bytes)
{
    const char *found = text_find_encoding(arena_place(text, bytes, true), bytes);
    return encoding ? found && strcmp(found, encoding) == 0 : !found;
}

static void test_encodings(void)
{
    tap_ok(finds("UTF-16", "\xff\xfe\x31\0", 4) && finds("UTF-16", "\xfe\xff\0\x31", 4) &&
               finds("UTF-32", "\xff\xfe\0\0\x31\0\0\0", 8) &&
               finds("UTF-32", "\0\0\xfe\xff\0\0\0\x31", 8),
           "text in UTF-16 and UTF-32, either way round");
    tap_ok(finds("UTF-16", "\xff\xfe\x31\0\x3d\xd8\x00\xde", 8) &&
               finds(NULL, "\xff\xfe\x31\0\x32\0\x3d\xd8\x31\0", 10) &&
               finds(NULL, "\xff\xfe\x31\0\x32\0\x00\xde", 8) &&
               finds(NULL, "\xff\xfe\0\0\x31\0\0\0\x3d\xd8\0", 12),
           "surrogates, in UTF-16 and in pairs");
    tap_ok(finds("UTF-16", "\xff\xfe\x31\0\x3d\xd8", 6) &&
               finds("UTF-16", "\xff\xfe\x31\0\x32", 5) &&
               finds("UTF-32", "\xff\xfe\0\0\x31\0\0\0\x32\0", 10),
           "characters that are cut off");
    tap_ok(finds(NULL, "", 0) && finds(NULL, "\xff", 1) && finds(NULL, "\xff\xfe", 2) &&
               finds(NULL, "\xff\xfe\0\0", 4) && finds(NULL, "1\0", 2) &&
               finds(NULL, "\xff\xfe\x31\0\x07\0", 6) && finds(NULL, "\xff\xfe\xff\xff", 4) &&
               finds(NULL, "\xff\xfe\x31\0\xff\xff", 6) &&
               finds(NULL, "\xff\xfe\x31\0\x2c\x01\x90\x01", 8) &&
               finds(NULL, "\xff\xfe\0\0\x31\0\0\0\0\0\x11\0", 12) &&
               finds(NULL, "\xff\xfe\0\0\x31\0\0\0\x05\0\0\0", 12),
           "a mark alone, control characters, noncharacters, little ASCII are no text");
}

int main(void)
{
    const unsigned less = getenv("GPUHIST_TEST_SHARE") ? 5 : 1;

    arena_open();
    test_bad_inputs();
    test_words();
    test_parts();
    test_hex();
    test_hex_bytes();
    test_fixed();
    test_fixed_numbers();
    test_limits();
    test_random();
    test_numbers();
    test_short(TEXT_INTEGERS, "1-, \n\rx", less);
    test_short(TEXT_HEX, "0xF-, \n", 8 * less);
    test_short(TEXT_FIXED, "01.-, \n", 8 * less);
    test_short(TEXT_FIXED, "05.e-1\n", 8 * less);
    test_short(TEXT_INTEGERS, "1e-+, \n", 8 * less);
    test_ends();
    test_edges();
    test_long();
    test_sequence();
    test_lines();
    test_characters();
    test_detection();
    test_encodings();
    return tap_done();
}
