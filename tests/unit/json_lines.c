/*
 * JSON Lines: valid and invalid documents at every offset in a block, and random texts compared
 * with the parser of json_reference.h, in every instruction set. The memory of a text has exactly
 * its length, so that AddressSanitizer detects reads after it. tests/json_lines.bats compares with
 * Python.
 */
#include "config.h"

#include "json_reference.h"
#include "lib/cpu_isa.h"
#include "tap.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct reference_column columns[] = {
    {"a", {"a"}},
    {".b", {"b"}},
    {".b.c", {"b", "c"}},
    {".b.c.a", {"b", "c", "a"}},
    {"b.c", {"b.c"}},
    {".\"b.c\".a", {"b.c", "a"}},
    {".\"\"", {""}},
    {".x.c", {"x", "c"}},
    {"a key of many bytes, some \xc3\xa9", {"a key of many bytes, some \xc3\xa9"}},
    {"x[1]", {"x[1]"}},
    {".x[1]", {"x", "[1]"}},
    {".a[-2][0]", {"a", "[-2]", "[0]"}},
    {".\"\"[0].a", {"", "[0]", "a"}},
    {".b[].c", {"b", "[]", "c"}},
};

/* Compares a text in every instruction set. */
static bool agrees(const char *text, size_t bytes, char end_byte)
{
    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        size_t where = 0;
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        const char *wrong =
            reference_compare(columns, ARRAY_LENGTH(columns), text, bytes, end_byte, &where);
        if (wrong)
            return tap_note("%s: %s at %zu of: %.*s", cpu_isa_names[isa], wrong, where, (int)bytes,
                            text);
    }
    return true;
}

/* A row that is not an object: the offset of the fault in the row, and the reason. */
struct wrong {
    const char *row;
    enum json_fault fault;
    size_t offset;
};

static const struct wrong wrongs[] = {
    {"1", JSON_NOT_OBJECT, 0},
    {" [1]", JSON_NOT_OBJECT, 1},
    {"\"a\"", JSON_NOT_OBJECT, 0},
    {"x{}", JSON_NOT_OBJECT, 0},
    {"}", JSON_NOT_OBJECT, 0},
    {"{", JSON_UNCLOSED, 1},
    {"{ ", JSON_UNCLOSED, 2},
    {"{]", JSON_NO_KEY, 1},
    {"{,}", JSON_NO_KEY, 1},
    {"{a:1}", JSON_NO_KEY, 1},
    {"{\"a\":1,}", JSON_NO_KEY, 7},
    {"{\"a\":1,", JSON_UNCLOSED, 7},
    {"{\"a\"}", JSON_NO_COLON, 4},
    {"{\"a\" 1}", JSON_NO_COLON, 5},
    {"{\"a\"\"b\"}", JSON_NO_COLON, 4},
    {"{\"a\":}", JSON_BAD_VALUE, 5},
    {"{\"a\":,\"b\":1}", JSON_BAD_VALUE, 5},
    {"{\"a\":", JSON_UNCLOSED, 5},
    {"{\"a\":1", JSON_UNCLOSED, 6},
    {"{\"a\":[1,2}", JSON_NO_COMMA, 9},
    {"{\"a\":[1,]}", JSON_BAD_VALUE, 8},
    {"{\"a\":[,1]}", JSON_BAD_VALUE, 6},
    {"{\"a\":{\"b\":1]}", JSON_NO_COMMA, 11},
    {"{\"a\":\"b\"c}", JSON_NO_COMMA, 8},
    {"{\"a\":\"b\" \"c\"}", JSON_NO_COMMA, 9},
    {"{\"a\":1 \"c\":2}", JSON_NO_COMMA, 7},
    {"{\"a\":{} {}}", JSON_NO_COMMA, 8},
    {"{\"a\":1:2}", JSON_NO_COMMA, 6},
    {"{\"a\":1 2}", JSON_BAD_VALUE, 5},
    {"{\"a\":x\"b\"}", JSON_BAD_VALUE, 5},
    {"{\"a\":01}", JSON_BAD_VALUE, 5},
    {"{\"a\":-}", JSON_BAD_VALUE, 5},
    {"{\"a\":+1}", JSON_BAD_VALUE, 5},
    {"{\"a\":1.}", JSON_BAD_VALUE, 5},
    {"{\"a\":.5}", JSON_BAD_VALUE, 5},
    {"{\"a\":1e}", JSON_BAD_VALUE, 5},
    {"{\"a\":1e+}", JSON_BAD_VALUE, 5},
    {"{\"a\":0x10}", JSON_BAD_VALUE, 5},
    {"{\"a\":1_000}", JSON_BAD_VALUE, 5},
    {"{\"a\":12345678901x}", JSON_BAD_VALUE, 5},
    {"{\"a\":NaN}", JSON_BAD_VALUE, 5},
    {"{\"a\":-Infinity}", JSON_BAD_VALUE, 5},
    {"{\"a\":True}", JSON_BAD_VALUE, 5},
    {"{\"a\":nul}", JSON_BAD_VALUE, 5},
    {"{\"a\":nulls}", JSON_BAD_VALUE, 5},
    {"{\"a\":\f1}", JSON_BAD_VALUE, 5},
    {"{\"a\"\x1a 1}", JSON_NO_COLON, 4},
    {"{\"a\":1\f\"b\":2}", JSON_BAD_VALUE, 5},
    {"{\"a\":'b'}", JSON_BAD_VALUE, 5},
    {"{\"a\":\"b}", JSON_UNCLOSED, 5},
    {"{\"a:1}", JSON_UNCLOSED, 1},
    {"{\"a\":\"b\\\"}", JSON_UNCLOSED, 5},
    {"{\"a\":\"b\\", JSON_BAD_ESCAPE, 7},
    {"{\"a\":\"\\x\"}", JSON_BAD_ESCAPE, 6},
    {"{\"a\":\"\\\\\\'\"}", JSON_BAD_ESCAPE, 8},
    {"{\"a\":\"\\u12g4\"}", JSON_BAD_ESCAPE, 6},
    {"{\"a\":\"\\u12\"}", JSON_BAD_ESCAPE, 6},
    {"{\"a\":\"\\u12", JSON_BAD_ESCAPE, 6},
    {"{\"a\":\"\\ud800\"}", JSON_BAD_ESCAPE, 6},
    {"{\"a\":\"\\udc00\"}", JSON_BAD_ESCAPE, 6},
    {"{\"a\":\"\\ud83d\\ud83d\\ude00\"}", JSON_BAD_ESCAPE, 6},
    {"{\"a\":\"\\ud83d\\\\ude00\"}", JSON_BAD_ESCAPE, 6},
    {"{\"a\":\"\t\"}", JSON_CONTROL, 6},
    {"{\"a\":\"\x1f\"}", JSON_CONTROL, 6},
    {"{\"a\\n\\q\":1}", JSON_BAD_ESCAPE, 5},
    {"{\\\"a\":1}", JSON_NO_KEY, 1},
    {"{}x", JSON_NOT_ONE, 2},
    {"{} {}", JSON_NOT_ONE, 3},
    {"{}}", JSON_NOT_ONE, 2},
    {"{},", JSON_NOT_ONE, 2},
    {"{}\\", JSON_NOT_ONE, 2},
    {"{} \"", JSON_NOT_ONE, 3},
    {"\xef\xbb\xbf{}", JSON_NOT_OBJECT, 0},
};

/* Scans a valid, an invalid and a valid row, with a number of bytes before and between. */
static bool refuses(const struct wrong *wrong, size_t before)
{
    char text[400];
    struct json_columns *wanted = json_columns_create();
    static struct json_lines lines;
    struct row_value values[ROW_COLUMNS_MAX];
    struct failure failure;
    unsigned column;

    if (!wanted || json_columns_add(wanted, "a", 1, &column, &failure))
        abort();
    const size_t bytes = (size_t)snprintf(text, sizeof text, "{\"x\":\"%*s\"}\n \n%s\r\n{\"a\":7}",
                                          (int)before, "", wrong->row);
    char *data = reference_copy(text, bytes);
    const size_t row = before + 11;
    json_lines_begin(&lines, wanted, '\n', data, bytes);
    const bool is_right =
        json_lines_next(&lines, values) == ROW_FOUND && values[0].kind == JSON_MISSING &&
        json_lines_next(&lines, values) == ROW_INVALID && lines.fault == wrong->fault &&
        lines.fault_offset == row + wrong->offset + (data[lines.fault_offset] == '\n') &&
        lines.row_begin == row && lines.row_end == row + strlen(wrong->row) + 1 &&
        json_lines_next(&lines, values) == ROW_FOUND && values[0].kind == JSON_NUMBER &&
        values[0].offset == bytes - 2 && values[0].bytes == 1 && lines.row_end == bytes &&
        json_lines_next(&lines, values) == ROW_END;
    if (!is_right)
        tap_note("%zu before, %s: %s at %zu", before, wrong->row, json_fault_text(lines.fault),
                 lines.fault_offset - row);
    free(data);
    json_columns_destroy(wanted);
    return is_right;
}

static void test_faults(void)
{
    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        bool is_right = true;
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        for (size_t i = 0; i < ARRAY_LENGTH(wrongs); i++)
            for (size_t before = 0; is_right && before < 130; before += 1 + before / 66)
                is_right = refuses(&wrongs[i], before);
        tap_ok(is_right, "rows that are no objects, %s", cpu_isa_names[isa]);
    }
}

static const char *const rights[] = {
    "{}",
    " {\t} \r",
    "{\"a\":1}",
    "{ \"a\" : 1 , \"b\" : 2 }",
    "{\"a\":1,\"a\":\"two\"}",
    "{\"b\":{\"c\":1},\"b\":{}}",
    "{\"b\":{\"c\":1},\"b\":3}",
    "{\"b\":{\"c\":{\"a\":[1,{\"a\":2}]},\"c\":{\"a\":-0.5e+10}}}",
    "{\"b\":[{\"c\":1}],\"b.c\":{\"a\":null}}",
    "{\"\\u0061\":1,\"\\u0062\":{\"\\u0063\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}}",
    "{\"\":true,\"\\u0000\":false}",
    "{\"a key of many bytes, some \xc3\xa9\":[],\"a key of many bytes, some \\u00e9\":{}}",
    "{\"a\":\"\\ud83d\\ude00\",\"x\":\"\\ud83d\\ude00\\ud83d\\ude00\"}",
    "{\"a\":[[],[[]],{},{\"a\":[]}],\"x\":{\"a\":{}}}",
    "{\"b\":[{\"c\":1},{\"c\":[]},3,{\"c\":2,\"c\":4}],\"a\":[[7],1],\"x\":[0,\"\\\\\"]}",
    "{\"b\":[],\"\":[{\"a\":\"]\"}],\"x[1]\":true,\"x\":[0,1]}",
    "{\"a\":12345678,\"x\":123456789,\"y\":0,\"z\":-0,\"w\":1E5}",
    "{\"a\":\"{[,:]}\",\"x\":\"\\\\\\\"\"}",
    "{\"a\":\"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"}",
};

static void test_right(void)
{
    bool is_right = true;
    char text[600];

    for (size_t i = 0; i < ARRAY_LENGTH(rights); i++)
        for (int before = 0; is_right && before < 130; before++) {
            const int bytes = snprintf(text, sizeof text, "{\"x\":\"%*s\"}\n%s\n%s", before, "",
                                       rights[i], rights[(i + 1) % ARRAY_LENGTH(rights)]);
            is_right = agrees(text, (size_t)bytes, '\n');
        }
    tap_ok(is_right, "rows that are objects");
}

/* Rows of pieces of JSON, some of them invalid, or valid rows with changed bytes. */
static void test_random(void)
{
    static const char *const pieces[] = {
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\":",
        "\"b\":{",
        "1",
        "-2.5e3",
        "true",
        "nul",
        "\"x\"",
        "\"\\\"",
        "\\",
        "\"",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\"c\":1",
        "\\u0061",
        "\\ud83d\\ude00",
        "123456789",
        "{}\n",
        "\"a\":1",
        "\"b\"",
        "0",
        "\n{\"a\":",
        "}\n",
        "\"b.c\":",
        "]}",
    };
    uint64_t state = 1;
    const unsigned rounds = tap_some(20000);
    bool is_right = true;
    char text[4000];

    for (unsigned round = 0; is_right && round < rounds; round++) {
        size_t bytes = 0;
        const size_t most = round % 50 ? 300 : sizeof text - 300;
        const bool is_wild = round % 3 == 0;
        while (bytes < most) {
            const uint64_t random = tap_random(&state);
            const char *piece = is_wild ? pieces[random % ARRAY_LENGTH(pieces)]
                                        : rights[random % ARRAY_LENGTH(rights)];
            memcpy(text + bytes, piece, strlen(piece));
            bytes += strlen(piece);
            if (!is_wild)
                text[bytes++] = '\n';
        }
        for (uint64_t n = tap_random(&state) % 4; n > 0 && !is_wild; n--) {
            const size_t at = tap_random(&state) % bytes;
            const uint64_t random = tap_random(&state);
            const char byte = "\"\\{}[]:,1a\n u\x01\x80"[random % 15];
            if (random >> 32 & 1) {
                memmove(text + at, text + at + 1, --bytes - at);
            } else if (random >> 33 & 1) {
                memmove(text + at + 1, text + at, bytes++ - at);
                text[at] = byte;
            } else {
                text[at] = byte;
            }
        }
        is_right = agrees(text, bytes, "\n\n\r"[round % 3]);
    }
    tap_ok(is_right, "random texts");
}

/*
 * Appends an object of some members, drawn from `shape`, with values drawn from `values`. Rows of
 * the same shape thus differ only in their values. Returns the number of bytes.
 */
static size_t append_object(char *text, uint64_t *shape, uint64_t *values, unsigned members,
                            unsigned depth)
{
    static const char *const keys[] = {"\"a\":",       "\"b\":",       "\"c\":",
                                       "\"b.c\":",     "\"x\":",       "\"\":",
                                       "\"a key\" : ", "\"\\u0061\":", "\"x[1]\":"};
    static const char *const scalars[] = {"1",    "0",           "-2.5e3",   "true",
                                          "null", "\t12345678 ", "123456789"};
    static const char *const strings[] = {
        "", "x", "{[,:]}", "\\\"", "\\ud83d\\ude00", "twelve bytes"};
    static const char *const arrays[][2] = {{"[1,", "]"},
                                            {"[ ", "\t]"},
                                            {"[ {\"c\" : ", "} , \"],\\\"\" ]"},
                                            {"[[", "],{\"a\":[{}]}]"}};
    size_t at = 0;

    text[at++] = '{';
    for (unsigned i = 0; i < members; i++) {
        const uint64_t random = tap_random(shape);
        const uint64_t value = tap_random(values);
        at +=
            (size_t)sprintf(text + at, "%s%s", i > 0 ? "," : "", keys[random % ARRAY_LENGTH(keys)]);
        if (random >> 32 & 3 || depth == 3)
            at +=
                (size_t)(random >> 40 & 1
                             ? sprintf(text + at, "\"%s\"", strings[value % ARRAY_LENGTH(strings)])
                             : sprintf(text + at, "%s", scalars[value % ARRAY_LENGTH(scalars)]));
        else if (random >> 34 & 1)
            at += (size_t)sprintf(text + at, "%s%s%s", arrays[random >> 35 & 3][0],
                                  scalars[value % ARRAY_LENGTH(scalars)],
                                  arrays[random >> 35 & 3][1]);
        else
            at += append_object(text + at, shape, values, (unsigned)(random >> 35) & 3, depth + 1);
    }
    text[at++] = '}';
    return at;
}

/* Rows of a few shapes that only differ in their values, and with a changed byte. */
static void test_shapes(void)
{
    uint64_t values = 1;
    uint64_t state = 2;
    const unsigned rounds = tap_some(3000);
    bool is_right = true;
    static char text[400000];

    for (unsigned round = 0; is_right && round < rounds; round++) {
        const unsigned shapes = 1 + (unsigned)tap_random(&state) % 6;
        /* about the maximum number of values, and of bytes between them, of a shape */
        const unsigned members = round % 100 == 0   ? JSON_SHAPE_VALUES - 1 + round / 100 % 3
                                 : round % 100 == 1 ? JSON_SHAPE_BYTES / 10
                                                    : (unsigned)tap_random(&state) % 8;
        const unsigned rows = members < 8 ? 20 : 5;
        size_t bytes = 0;
        for (unsigned row = 0; row < rows; row++) {
            uint64_t shape = 100 * round + tap_random(&state) % shapes;
            bytes += append_object(text + bytes, &shape, &values, members, 0);
            text[bytes++] = '\n';
        }
        for (uint64_t n = tap_random(&state) % 3; n > 0; n--)
            text[tap_random(&state) % bytes] = "\"\\{}[]:,1a\n u\x01\x80"[tap_random(&state) % 15];
        is_right = agrees(text, bytes, '\n') && agrees(text, bytes - 1, '\n');
    }
    tap_ok(is_right, "rows of the shape of others");

    /* Rows of a shape at each place around the end of an indexed part. */
    static const char row[] = "{\"a\":1,\"x\":{\"c\":\"x\"}}\n";
    for (size_t before = JSON_WINDOW_BYTES - 60; is_right && before < JSON_WINDOW_BYTES + 4;
         before++) {
        const int bytes =
            sprintf(text, "{\"x\":\"%*s\"}\n%s%s%s%s", (int)before, "", row, row, row, row);
        is_right = agrees(text, (size_t)bytes, '\n');
    }
    tap_ok(is_right, "rows of one shape around the end of the index");

    /* The maximum number of values of a shape, one less, and more. */
    for (unsigned count = JSON_SHAPE_VALUES - 1; is_right && count < JSON_SHAPE_VALUES + 3;
         count++) {
        size_t bytes = 0;
        for (unsigned i = 0; i < 4 * count; i++)
            bytes += (size_t)sprintf(text + bytes, "%s\"%s\":%u%s", i % count == 0 ? "{" : ",",
                                     i % count == count - 1 ? "a" : "x", i,
                                     i % count == count - 1 ? "}\n" : "");
        is_right = agrees(text, bytes, '\n');
    }
    /* The maximum number of bytes: {"x":1,"...":2} and a row end, followed by other rows' shapes.
     */
    for (int key = JSON_SHAPE_BYTES - 20; is_right && key < JSON_SHAPE_BYTES; key++) {
        size_t bytes = (size_t)sprintf(text, "{\"a\":1}\n{\"b\":1}\n{\"a\":1}\n{\"x\":1}\n");
        for (unsigned i = 0; i < 6; i++)
            bytes += (size_t)sprintf(text + bytes, "{\"x\":%u,\"%*s\":%u}\n{\"b\":%u}\n", i, key,
                                     "", i, i);
        is_right = agrees(text, bytes, '\n');
    }
    tap_ok(is_right, "shapes of the most values and bytes");
}

/* Rows longer than an indexed part, and many brackets. */
static void test_long(void)
{
    const size_t string = 3 * JSON_WINDOW_BYTES + 5;
    const size_t bytes = string + 200;
    char *text = reference_copy("", 0);
    bool is_right = true;

    for (unsigned fill = 0; is_right && fill < 3; fill++) {
        text = realloc(text, bytes);
        if (!text)
            abort();
        size_t at = (size_t)sprintf(text, "{\"b\":{\"c\":{\"a\":%s", fill < 2 ? "\"" : "[0");
        for (size_t i = 0; i < string; i++)
            text[at++] = fill == 0 ? 'x' : fill == 1 ? '\\' : i % 2 ? '1' : ',';
        at -= string % 2; /* an even number of backslashes and of elements */
        at += (size_t)sprintf(text + at, "%s}}}\n{\"a\":1}\n{\"a\":\"x}\n{\"a\":2}\n",
                              fill < 2 ? "\"" : "]");
        is_right = agrees(text, at, '\n');
        is_right &= agrees(text, at - 40, '\n');
    }
    tap_ok(is_right, "long rows");
    for (unsigned depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX + 1; depth++) {
        size_t at = (size_t)sprintf(text, "{\"a\":");
        for (unsigned i = 1; i < depth; i++)
            text[at++] = '[';
        for (unsigned i = 1; i < depth; i++)
            text[at++] = ']';
        text[at++] = '}';
        tap_ok(agrees(text, at, '\n'), "nested %u deep", depth);
    }
    free(text);
}

/* Returns whether a path is refused with a message that contains `message`. */
static bool refuses_path(const char *path, const char *message)
{
    struct json_columns *wanted = json_columns_create();
    struct failure failure;
    unsigned column;

    if (!wanted)
        abort();
    const enum status status = json_columns_add(wanted, path, strlen(path), &column, &failure);
    json_columns_destroy(wanted);
    return status == STATUS_USAGE && strstr(failure.message, message);
}

static void test_columns(void)
{
    static const char *const paths[] = {".",        "..a",       ".a.",
                                        ".a..b",    ".\"a",      ".\"a\"b",
                                        ".\"a\\\"", ".\"\\x\"",  ".\"\\ud800\"",
                                        ".a.\"",    ".a[][]",    ".a[0].b[].c[]",
                                        ".\"a\"[",  ".\"a\"[x]", ".\"a\"[--1]"};
    struct json_columns *wanted = json_columns_create();
    struct failure failure;
    unsigned column = 0;
    bool is_right = true;

    for (size_t i = 0; i < ARRAY_LENGTH(paths); i++)
        is_right &= refuses_path(paths[i], paths[i]);
    tap_ok(is_right, "paths that are none");
    if (!wanted)
        abort();
    for (unsigned i = 0; is_right && i < ROW_COLUMNS_MAX; i++) {
        char path[20];
        const int bytes = sprintf(path, ".a.k%u", i);
        is_right = !json_columns_add(wanted, path, (size_t)bytes, &column, &failure) && column == i;
    }
    is_right &= !json_columns_is_each(wanted, 0);
    tap_ok(is_right, "as many columns as there may be");
    static const char again[] = ".\"a\".\"\\u006b7\"";
    tap_ok(!json_columns_add(wanted, again, sizeof again - 1, &column, &failure) && column == 7,
           "a column that is there");
    tap_ok(json_columns_add(wanted, "more", 4, &column, &failure) == STATUS_USAGE &&
               json_columns_add(wanted, ".a[0]", 6, &column, &failure) == STATUS_USAGE,
           "too many columns");
    json_columns_destroy(wanted);

    static const char *const elements[] = {".a[]", ".a",       ".a[0]",
                                           ".a[]", ".\"a[]\"", ".b[00].c[-1]"};
    unsigned numbers[ARRAY_LENGTH(elements)];
    wanted = json_columns_create();
    for (size_t i = 0; wanted && i < ARRAY_LENGTH(elements); i++)
        is_right &=
            !json_columns_add(wanted, elements[i], strlen(elements[i]), &numbers[i], &failure);
    tap_ok(is_right && numbers[0] == numbers[3] && numbers[0] != numbers[1] &&
               numbers[0] != numbers[4],
           "elements, each in one column");
    tap_ok(is_right && json_columns_is_each(wanted, numbers[0]) &&
               !json_columns_is_each(wanted, numbers[1]) &&
               !json_columns_is_each(wanted, numbers[2]) &&
               !json_columns_is_each(wanted, numbers[4]),
           "the column of each element");
    tap_ok(json_columns_add(wanted, ".b[]", 4, &column, &failure) == STATUS_USAGE,
           "one column of each element");
    json_columns_destroy(wanted);
}

static void test_strings(void)
{
    static const char escaped[] =
        "x\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00\\u0000y";
    static const char decoded[] = "x\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0y";
    static const char *const numbers[] = {"0", "-0", "10", "1.50", "1e5", "-1.0E-07"};
    static const char *const others[] = {"",   "-",  "00", "1.",  ".1",
                                         "1e", " 1", "1 ", "0x1", "1e5.0"};
    char text[sizeof escaped];
    bool is_right = true;

    const size_t bytes = json_string_decode(escaped, sizeof escaped - 1, text);
    tap_ok(bytes == sizeof decoded - 1 && memcmp(text, decoded, bytes) == 0, "escapes");
    tap_ok(json_string_decode("", 0, text) == 0, "no escapes");
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        is_right &= json_is_number(numbers[i], strlen(numbers[i]));
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        is_right &= !json_is_number(others[i], strlen(others[i]));
    tap_ok(is_right, "numbers");
}

int main(void)
{
    test_faults();
    test_right();
    test_random();
    test_shapes();
    test_long();
    test_columns();
    test_strings();
    return tap_done();
}
