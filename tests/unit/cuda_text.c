/*
 * Compares the GPU's parsing of text with a plain parser: every type, notation and kind of
 * rules, all short texts of a small alphabet, numbers at the limits of the types, tokens and lines
 * across spans, tiles and halos, a line as long as the text; timestamps, IP addresses and widths
 * against the CPU's parser of rows. Checks the spans' parser on the host. With a GPU, also checks
 * the kernel's results, and that operations accept its elements.
 *
 * usage: tests/unit/cuda_text [TEST]...     (short, lengths, ...: see tests[]; all by default)
 */
#include "config.h"

#include "cuda/cuda_operation.h"
#include "cuda/text_span.h"
#include "must_cuda.h"
#include "tap.h"
#include "text/text_rows.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

#define CHUNK_BYTES_MAX ((size_t)64 << 20)
#define HOST_BYTES_MAX  ((size_t)2 << 20) /* longer texts are only for a GPU */
#define TILE_BYTES      8192              /* as in cuda/text.cu */
#define GUARD_BYTES     256

static const struct text_rules all_rules[] = {
    {.field = 0, .delimiter = TEXT_NO_DELIMITER},
    {.field = 1, .delimiter = TEXT_NO_DELIMITER},
    {.field = 2, .delimiter = TEXT_NO_DELIMITER},
    {.field = 9, .delimiter = TEXT_NO_DELIMITER},
    {.field = INT32_MAX, .delimiter = TEXT_NO_DELIMITER},
    {.field = 2, .columns = 3, .delimiter = TEXT_NO_DELIMITER},
    {.field = 1, .columns = 2, .delimiter = '\t'},
    {.field = -1, .delimiter = TEXT_NO_DELIMITER},
    {.field = -2, .delimiter = TEXT_NO_DELIMITER},
    {.field = INT32_MIN, .delimiter = TEXT_NO_DELIMITER},
    {.field = 0, .delimiter = ','},
    {.field = 1, .delimiter = ','},
    {.field = 2, .delimiter = ','},
    {.field = INT32_MAX, .delimiter = ','},
    {.field = -1, .delimiter = ','},
    {.field = -2, .delimiter = ','},
    {.field = INT32_MIN, .delimiter = ','},
    {.field = 0, .delimiter = '\t'},
    {.field = 0, .delimiter = ' '},
    {.field = 2, .delimiter = '\t'},
    {.field = -2, .delimiter = ' '},
    {.field = 0, .delimiter = '\r'},
    {.field = 2, .delimiter = '\r'},
    {.field = -1, .delimiter = '\r'},
    {.field = 0, .delimiter = '1'},
    {.field = 2, .delimiter = '1'},
    {.field = 0, .delimiter = '-'},
    {.field = 0, .delimiter = 0xff},
    {.field = 0, .delimiter = TEXT_NO_DELIMITER, .notation = TEXT_FIXED, .decimals = 0},
    {.field = 0, .delimiter = TEXT_NO_DELIMITER, .notation = TEXT_FIXED, .decimals = 2},
    {.field = 0, .delimiter = TEXT_NO_DELIMITER, .notation = TEXT_FIXED, .decimals = 18},
    {.field = 2, .delimiter = TEXT_NO_DELIMITER, .notation = TEXT_FIXED, .decimals = 1},
    {.field = 0, .delimiter = ',', .notation = TEXT_FIXED, .decimals = 1},
    {.field = -1, .delimiter = ',', .notation = TEXT_FIXED, .decimals = 3},
    {.field = 0, .delimiter = '.', .notation = TEXT_FIXED, .decimals = 1},
    {.field = 0, .delimiter = TEXT_NO_DELIMITER, .notation = TEXT_HEX},
    {.field = 2, .delimiter = TEXT_NO_DELIMITER, .notation = TEXT_HEX},
    {.field = 0, .delimiter = ',', .notation = TEXT_HEX},
    {.field = -1, .delimiter = ',', .notation = TEXT_HEX},
    {.field = 0, .delimiter = 'x', .notation = TEXT_HEX},
};

/* The bytes of short texts. */
static const char *const alphabets[] = {
    [TEXT_INTEGERS] = "1-, \n\r\t",
    [TEXT_FIXED] = "10.-, \n",
    [TEXT_HEX] = "0xF-, \n",
};

static const char *const all_types[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};

/* The values of a text. */
struct answer {
    uint64_t *keys; /* [TEXT_SPAN_VALUES_MAX(CHUNK_BYTES_MAX)] */
    size_t count;
    uint32_t invalid;
};

/* A plan, a text, and two results; with a GPU, also in device memory. */
struct bench {
    struct plan plan;
    char *text; /* [CHUNK_BYTES_MAX] */
    size_t bytes;
    struct answer expected;
    struct answer found;
    bool has_gpu;
    struct cuda_device device;
    void *d_text;
    char *d_values;
    void *d_control;
    char *values;
};

/* Appends the digits of [value, value + bytes). Returns false if one is not a digit. */
static bool append_digits(__int128 *number, unsigned base, const char *value, size_t bytes)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const __int128 most = (__int128)1 << 100;

    for (size_t i = 0; i < bytes; i++) {
        const char *found = value[i] ? strchr(digits, value[i]) : NULL;
        if (!found || found >= digits + (base == 10 ? 10 : sizeof digits - 1))
            return false;
        const int digit = (int)(found - digits);
        *number = *number < most ? *number * base + (digit < 16 ? digit : digit - 6) : most;
    }
    return true;
}

/* Reads a number with or without a point, times 10^decimals. Further digits must be zeros. */
static bool read_fixed(const struct text_rules *rules, const char *value, size_t bytes,
                       __int128 *number)
{
    const char *point = memchr(value, '.', bytes);
    const size_t whole = point ? (size_t)(point - value) : bytes;
    size_t fraction = point ? bytes - whole - 1 : 0;

    if (whole + fraction == 0)
        return false;
    for (; fraction > rules->decimals; fraction--) {
        if (value[whole + fraction] != '0')
            return false;
    }
    if (!append_digits(number, 10, value, whole) ||
        (point && !append_digits(number, 10, point + 1, fraction)))
        return false;
    for (; fraction < rules->decimals; fraction++)
        append_digits(number, 10, "0", 1);
    return true;
}

/* Reads a number without its sign. */
static bool read_number(const struct text_rules *rules, const char *value, size_t bytes,
                        __int128 *number)
{
    *number = 0;
    if (rules->notation == TEXT_FIXED)
        return read_fixed(rules, value, bytes, number);
    if (rules->notation == TEXT_HEX && bytes > 2 &&
        (memcmp(value, "0x", 2) == 0 || memcmp(value, "0X", 2) == 0))
        return append_digits(number, 16, value + 2, bytes - 2);
    return bytes > 0 && append_digits(number, rules->notation == TEXT_HEX ? 16 : 10, value, bytes);
}

/* The plain parser: reads one value of a text. */
static void expect_value(struct bench *bench, const char *value, size_t bytes)
{
    const bool is_signed = bytes > 0 && (value[0] == '-' || value[0] == '+');
    __int128 number;
    const bool is_good =
        read_number(&bench->plan.text, value + is_signed, bytes - is_signed, &number);

    if (is_signed && value[0] == '-')
        number = -number;
    if (is_good && number >= element_min(&bench->plan.element) &&
        number < element_limit(&bench->plan.element))
        bench->expected.keys[bench->expected.count++] = (uint64_t)number;
    else
        bench->expected.invalid++;
}

static void expect_trimmed(struct bench *bench, const char *value, size_t bytes)
{
    for (; bytes > 0 && strchr(" \t", value[0]) && value[0]; bytes--)
        value++;
    while (bytes > 0 && strchr(" \t", value[bytes - 1]) && value[bytes - 1])
        bytes--;
    expect_value(bench, value, bytes);
}

/* Passes the words of [text, text + bytes) between bytes of `separators` to `use`. */
static size_t for_each_word(struct bench *bench, const char *text, size_t bytes,
                            const char *separators, size_t wanted)
{
    size_t words = 0;

    for (size_t i = 0; i < bytes;) {
        size_t length = 0;
        while (i + length < bytes && !(text[i + length] && strchr(separators, text[i + length])))
            length++;
        if (length > 0 && (++words == wanted || wanted == 0))
            expect_value(bench, text + i, length);
        i += length + 1;
    }
    return words;
}

/* Passes the parts of a line to `use`; `wanted` 0: all parts. */
static size_t for_each_part(struct bench *bench, const char *line, size_t bytes, size_t wanted)
{
    size_t parts = 0;
    size_t first = 0;

    for (size_t i = 0; i <= bytes; i++) {
        if (i < bytes && (unsigned char)line[i] != bench->plan.text.delimiter)
            continue;
        if (++parts == wanted || wanted == 0)
            expect_trimmed(bench, line + first, i - first);
        first = i + 1;
    }
    return parts;
}

static size_t for_each(struct bench *bench, const char *line, size_t bytes, size_t wanted)
{
    return bench->plan.text.delimiter == TEXT_NO_DELIMITER
               ? for_each_word(bench, line, bytes, " \t", wanted)
               : for_each_part(bench, line, bytes, wanted);
}

static void expect_line(struct bench *bench, const char *line, size_t bytes)
{
    const int64_t field = bench->plan.text.field;
    const size_t none = SIZE_MAX;

    bool is_blank = true;
    for (size_t i = 0; i < bytes; i++)
        is_blank = is_blank && (line[i] == ' ' || line[i] == '\t');
    if (is_blank)
        return;
    if (field == 0) {
        for_each(bench, line, bytes, 0);
        return;
    }
    int64_t fields = (int64_t)for_each(bench, line, bytes, none);
    int64_t wanted = field > 0 ? field : fields + 1 + field;
    const int32_t columns = bench->plan.text.columns;
    if (wanted < 1 || wanted > fields || (columns > 0 && fields != columns))
        bench->expected.invalid++;
    else
        for_each(bench, line, bytes, (size_t)wanted);
}

static void expect(struct bench *bench)
{
    const char *text = bench->text;
    const char *end = text + bench->bytes;

    bench->expected.count = 0;
    bench->expected.invalid = 0;
    if (text_is_of_tokens(&bench->plan.text)) {
        for_each_word(bench, text, bench->bytes, " \t\n\r\v\f", 0);
        return;
    }
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *next = newline ? newline : end;
        size_t bytes = (size_t)(next - text);
        expect_line(bench, text, bytes - (bytes > 0 && text[bytes - 1] == '\r'));
        text = newline ? newline + 1 : end;
    }
}

/* Parses the text span by span. Each span sees a piece that ends `halo` bytes after it. */
static void parse_on_host(struct bench *bench, uint32_t halo)
{
    const struct text_span_rules rules =
        text_span_rules_of(&bench->plan.text, &bench->plan.columns[0]);
    unsigned char piece[TEXT_SPAN_BYTES + 65];
    struct answer *found = &bench->found;

    found->count = 0;
    found->invalid = 0;
    for (uint32_t first = 0; first <= bench->bytes; first += TEXT_SPAN_BYTES) {
        struct text_span_sink sink = {.values = found->keys + found->count};
        struct text_span_view view = {
            .text = (const unsigned char *)bench->text,
            .bytes = (uint32_t)bench->bytes,
            .piece = piece,
            .piece_first = first - 1,
            .piece_bytes = TEXT_SPAN_BYTES + 1 + halo,
        };
        for (uint32_t i = 0; i < view.piece_bytes; i++) {
            uint32_t place = view.piece_first + i;
            piece[i] = place < view.bytes ? view.text[place] : '\n';
        }
        text_span_parse(&view, &rules, text_span_unit_of(&bench->plan.text), first, &sink);
        must(sink.count <= TEXT_SPAN_VALUES, "too many values in a span");
        found->count += sink.count;
        found->invalid += sink.invalid;
    }
}

/* Parses the text with the kernel; returns false if it writes after the values. */
static bool parse_on_gpu(struct bench *bench)
{
    struct element one_word = bench->plan.element;
    struct cuda_text_parsed parsed;
    const struct element *element = &one_word;

    one_word.bytes = one_word.bytes < sizeof(uint64_t) ? one_word.bytes : sizeof(uint64_t);
    size_t room = TEXT_SPAN_VALUES_MAX(bench->bytes) * element->bytes + GUARD_BYTES;
    struct answer *found = &bench->found;
    bool good = true;

    must_cuda(cudaMemcpy(bench->d_text, bench->text, bench->bytes, cudaMemcpyHostToDevice));
    must_cuda(cudaMemset(bench->d_values, 0xaa, room));
    must_cuda(cuda_text_launch(&bench->device, &bench->plan.text, &bench->plan.columns[0],
                               bench->d_text, bench->bytes, bench->d_values, bench->d_control,
                               NULL));
    must_cuda(cudaMemcpy(&parsed, bench->d_control, sizeof parsed, cudaMemcpyDeviceToHost));
    must_cuda(cudaMemcpy(bench->values, bench->d_values, room, cudaMemcpyDeviceToHost));
    found->invalid = parsed.invalid;
    found->count = parsed.values;
    if (found->count > TEXT_SPAN_VALUES_MAX(bench->bytes))
        return false;
    for (size_t i = 0; i < found->count; i++)
        found->keys[i] = element_key(element, bench->values + i * element->bytes);
    const bool is_withdrawn = cuda_text_reads_less(&bench->plan.text) && found->invalid > 0;
    for (size_t i = found->count * element->bytes; i < room && !is_withdrawn; i++)
        good = good && bench->values[i] == (char)0xaa;
    return good;
}

/* Compares the results; explains the first difference. */
static bool agree(const struct bench *bench, const char *where)
{
    const struct answer *expected = &bench->expected;
    const struct answer *found = &bench->found;
    const struct text_rules *rules = &bench->plan.text;

    if (found->count == expected->count && found->invalid == expected->invalid &&
        memcmp(found->keys, expected->keys, found->count * sizeof *found->keys) == 0)
        return true;
    tap_note("%s, %s, field %d, delimiter %d, notation %d, %u decimals: %zu bytes have %zu values "
             "and %u invalid, not %zu and %u",
             where, bench->plan.element.name, (int)rules->field, rules->delimiter,
             (int)rules->notation, rules->decimals, bench->bytes, found->count, found->invalid,
             expected->count, expected->invalid);
    for (size_t i = 0; bench->bytes <= 200 && i < bench->bytes; i++)
        printf("%s%02x", i == 0 ? "# " : " ", (unsigned char)bench->text[i]);
    puts("");
    return false;
}

/* Compares the expected values with those of the spans. */
static bool check_found(struct bench *bench, bool on_gpu)
{
    static const uint32_t halos[] = {0, 1, 64};
    bool good = true;

    for (size_t i = 0; bench->bytes <= HOST_BYTES_MAX && i < ARRAY_LENGTH(halos); i++) {
        parse_on_host(bench, halos[i]);
        good = agree(bench, "host") && good;
    }
    if (cuda_text_reads_less(&bench->plan.text) && bench->expected.invalid > 0)
        bench->expected.count = 0; /* on the GPU */
    if (on_gpu && bench->has_gpu)
        good = (parse_on_gpu(bench) || tap_note("written behind the values")) &&
               agree(bench, "GPU") && good;
    return good;
}

static bool check(struct bench *bench, bool on_gpu)
{
    expect(bench);
    return check_found(bench, on_gpu);
}

static void set_rules(struct bench *bench, const char *type, const struct text_rules *rules)
{
    struct plan *plan = &bench->plan;

    element_parse(type, &plan->element);
    plan->element.decimals = rules->decimals;
    plan->is_text = true;
    plan->text = *rules;
    plan->value_count = 1;
    plan->columns[0] = (struct column){
        .field = rules->field,
        .element = plan->element,
        .notation = rules->notation,
    };
}

static void set_plan(struct bench *bench, const char *type, size_t rules)
{
    set_rules(bench, type, &all_rules[rules]);
}

/* Fills the text with bytes of an alphabet. */
static void fill_random(struct bench *bench, size_t bytes, const char *alphabet, uint64_t *state)
{
    size_t letters = strlen(alphabet);

    bench->bytes = bytes;
    for (size_t i = 0; i < bytes; i++)
        bench->text[i] = alphabet[tap_random(state) % letters];
}

/* Writes a number of up to `digits` digits, and of up to 3 decimals. */
static size_t write_number(char *at, enum text_notation notation, unsigned digits, uint64_t *state)
{
    const char *sign = tap_random(state) % 8 == 0 ? "-" : "";
    uint64_t limit = 1;

    for (uint64_t n = 1 + tap_random(state) % digits; n > 0; n--)
        limit *= 10;
    const unsigned long long number = tap_random(state) % limit;
    const uint64_t random = tap_random(state);
    if (notation == TEXT_HEX)
        return (size_t)sprintf(at, random & 1 ? "%s%llx" : "%s0X%llX", sign, number);
    if (notation == TEXT_FIXED && random & 3)
        return (size_t)sprintf(at, "%s%llu.%.*s", sign, number, (int)(random & 3), "502");
    return (size_t)sprintf(at, "%s%llu", sign, number);
}

/*
 * Fills the text from `begin` on with numbers. Between them are separators that start many lines,
 * the plan's delimiter, and sometimes junk.
 */
static void fill_numbers(struct bench *bench, size_t begin, size_t bytes, unsigned digits,
                         uint64_t *state)
{
    const int delimiter = bench->plan.text.delimiter;
    const enum text_notation notation = bench->plan.text.notation;
    size_t i = begin;

    while (bytes - i > 48) {
        uint64_t random = tap_random(state);
        if (random % 64 == 0)
            i += (size_t)sprintf(bench->text + i, "%s", random & 64 ? "x" : "+-1");
        else
            i += write_number(bench->text + i, notation, digits, state);
        if (random >> 8 & 7)
            bench->text[i++] = delimiter == TEXT_NO_DELIMITER ? ' ' : (char)delimiter;
        else
            i += (size_t)sprintf(bench->text + i, "%s", random >> 11 & 7 ? "\n" : " \r\n\n");
    }
    while (i < bytes)
        bench->text[i++] = '7';
    bench->bytes = bytes;
}

/* Every text of a small alphabet. */
static void test_short_texts(struct bench *bench)
{
    const size_t letters = 7;
    bool good = true;

    for (size_t rules = 0; rules < ARRAY_LENGTH(all_rules); rules++) {
        const char *alphabet = alphabets[all_rules[rules].notation];
        set_plan(bench, rules % 2 ? "i8" : "u8", rules);
        size_t texts = 1;
        for (bench->bytes = 0; bench->bytes <= 6; bench->bytes++, texts *= letters) {
            for (size_t text = 0; text < texts; text++) {
                size_t rest = text;
                for (size_t i = 0; i < bench->bytes; i++, rest /= letters)
                    bench->text[i] = alphabet[rest % letters];
                expect(bench);
                parse_on_host(bench, 0);
                good = good && agree(bench, "host");
            }
        }
    }
    tap_ok(good, "every text of up to 6 of 7 letters");
}

/* Every length up to 200, of several alphabets. */
static void test_lengths(struct bench *bench)
{
    static const char *const longer[] = {
        "0123456789 \n", "12-+ \t\n\r\v\f",           "1, \r\n",           "1\t\n",
        "1\xff\r\n ",    "99999999999999999999999\n", "0000000000001 ,\n", " \t\r\n",
        "1x, 2",         "0123456789.. ,\n",          "000000.1\n",        "0xX9aFg: \n",
    };
    uint64_t state = 1;

    for (size_t a = 0; a < ARRAY_LENGTH(longer); a++) {
        bool good = true;
        for (size_t bytes = 0; bytes <= 200; bytes++) {
            for (size_t rules = 0; rules < ARRAY_LENGTH(all_rules); rules++) {
                set_plan(bench, all_types[tap_random(&state) % ARRAY_LENGTH(all_types)], rules);
                fill_random(bench, bytes, longer[a], &state);
                good = check(bench, true) && good;
            }
        }
        tap_ok(good, "texts of 0 to 200 bytes, alphabet %zu", a);
    }
}

/*
 * Appends a multiple of 10^-decimals after `zeros` zeros. If their number is odd, hexadecimal
 * digits have 0x, and no decimal places end in 0; else zeros can follow the decimal places.
 */
static void append_wide(struct bench *bench, __int128 number, unsigned zeros)
{
    const struct text_rules *rules = &bench->plan.text;
    const unsigned base = rules->notation == TEXT_HEX ? 16 : 10;
    char *at = bench->text + bench->bytes;
    char digits[128];
    unsigned __int128 rest = number < 0 ? -(unsigned __int128)number : (unsigned __int128)number;
    size_t length = 0;

    do
        digits[length++] = "0123456789abcdef"[rest % base];
    while ((rest /= base) > 0 || length <= rules->decimals);
    if (number < 0)
        *at++ = '-';
    if (base == 16 && zeros % 2)
        at += sprintf(at, "0x");
    at += sprintf(at, "%.*s", (int)zeros, "00000000000000000000000000000000000000000000000000");
    while (length > rules->decimals)
        *at++ = digits[--length];
    if (rules->notation == TEXT_FIXED) {
        *at++ = '.';
        while (length > 0)
            *at++ = digits[--length];
        if (zeros % 2 == 0)
            at += sprintf(at, "%.*s", (int)zeros % 5, "0000");
        while (zeros % 2 && at[-1] == '0')
            at--;
    }
    *at++ = zeros % 3 ? ' ' : '\n';
    bench->bytes = (size_t)(at - bench->text);
}

/* Numbers next to the limits of a type and to the powers of ten, with zeros before them. */
static void fill_limits(struct bench *bench)
{
    bench->bytes = 0;
    for (unsigned zeros = 0; zeros < 50; zeros += 7) {
        for (int bits = 0; bits < 70; bits++) {
            for (int delta = -2; delta <= 2; delta++) {
                __int128 number = ((__int128)1 << bits) + delta;
                append_wide(bench, number, zeros);
                append_wide(bench, -number, zeros);
            }
        }
        for (__int128 ten = 1; ten < (__int128)1 << 100; ten *= 10) {
            for (int leading = 1; leading <= 9; leading++) {
                append_wide(bench, leading * ten, zeros);
                append_wide(bench, leading * ten + ten - 1, zeros);
            }
        }
    }
}

static void test_limits(struct bench *bench)
{
    for (size_t type = 0; type < ARRAY_LENGTH(all_types); type++) {
        bool good = true;
        for (size_t rules = 0; rules < ARRAY_LENGTH(all_rules); rules++) {
            if (!text_is_of_tokens(&all_rules[rules]))
                continue;
            set_plan(bench, all_types[type], rules);
            fill_limits(bench);
            good = check(bench, true) && good;
        }
        tap_ok(good, "%s: numbers at the limits", all_types[type]);
    }
}

/* Tokens and lines across the ends of spans, tiles and halos, at every offset. */
static void test_edges(struct bench *bench)
{
    uint64_t state = 2;

    for (size_t rules = 0; rules < ARRAY_LENGTH(all_rules); rules++) {
        bool good = true;
        for (size_t shift = 0; shift < 40; shift++) {
            set_plan(bench, all_types[shift % ARRAY_LENGTH(all_types)], rules);
            memset(bench->text, '\n', shift);
            fill_numbers(bench, shift, 3 * TILE_BYTES + 7 * shift, 19, &state);
            good = check(bench, true) && good;
        }
        for (size_t bytes = 2 * TILE_BYTES - 3; bytes <= 2 * TILE_BYTES + 3; bytes++) {
            fill_numbers(bench, 0, bytes, 3, &state);
            good = check(bench, true) && good;
            bench->text[bytes - 1] = (char)bench->plan.text.delimiter;
            good = check(bench, true) && good;
        }
        tap_ok(good, "edges of spans and tiles, field %d, delimiter %d, notation %d",
               (int)all_rules[rules].field, all_rules[rules].delimiter,
               (int)all_rules[rules].notation);
    }
}

/* Lines and tokens as long as the text. */
static void test_long_units(struct bench *bench)
{
    static const char *const fillers[] = {"0", " ", "\t", "1 ", ",", "12345,", "x", ".5 "};
    bool good = true;

    for (size_t f = 0; f < ARRAY_LENGTH(fillers); f++) {
        size_t length = strlen(fillers[f]);
        for (size_t rules = 0; rules < ARRAY_LENGTH(all_rules); rules++) {
            set_plan(bench, "i64", rules);
            bench->bytes = 100000;
            for (size_t i = 0; i < bench->bytes; i++)
                bench->text[i] = fillers[f][i % length];
            good = check(bench, true) && good;
            memcpy(bench->text + bench->bytes - 3, " 42", 3);
            good = check(bench, true) && good;
            memcpy(bench->text + bench->bytes - 3, "8\r\n", 3);
            good = check(bench, true) && good;
        }
    }
    tap_ok(good, "a line as long as the text");
}

static void test_large(struct bench *bench)
{
    static const size_t rules[] = {0, 2, 5, 8, 10, 27, 31, 33}; /* indexes of all_rules */
    uint64_t state = 3;

    for (size_t i = 0; bench->has_gpu && i < ARRAY_LENGTH(rules); i++) {
        set_plan(bench, i % 2 ? "i64" : "i32", rules[i]);
        fill_numbers(bench, 0, CHUNK_BYTES_MAX - i, 10, &state);
        tap_ok(check(bench, true), "64 MiB, field %d, delimiter %d, notation %d",
               (int)bench->plan.text.field, bench->plan.text.delimiter,
               (int)bench->plan.text.notation);
    }
}

/* The result of the parser of rows. */
static void expect_rows(struct bench *bench)
{
    struct text_rows rows = {
        .plan = &bench->plan,
        .rules = &bench->plan.text,
        .data = bench->text,
        .bytes = bench->bytes,
        .capacity = TEXT_SPAN_VALUES_MAX(CHUNK_BYTES_MAX),
    };
    const struct element *element = &bench->plan.element;
    char *values = bench->values;
    enum text_event event;

    bench->expected.count = 0;
    bench->expected.invalid = 0;
    do {
        rows.keys[0] = values;
        event = text_rows_parse(&rows);
        for (size_t i = 0; i < rows.count; i++) {
            struct kind_ip address = {0, 0};
            if (element_is_wide(element))
                memcpy(&address, values + i * sizeof address, sizeof address);
            else
                address.low = element_key(element, values + i * element->bytes);
            if (address.high > 0) /* it has two words */
                bench->expected.invalid++;
            else
                bench->expected.keys[bench->expected.count++] = address.low;
        }
        bench->expected.invalid += event == TEXT_INVALID;
    } while (event != TEXT_END);
}

/* Fills the text with as many of these pieces as fit. */
static void fill_pieces(struct bench *bench, size_t bytes, const char *const *pieces, size_t count,
                        uint64_t *state)
{
    size_t i = 0;

    while (bytes - i > 48)
        i += (size_t)sprintf(bench->text + i, "%s", pieces[tap_random(state) % count]);
    bench->bytes = i;
}

/* Timestamps in fields of lines, of each precision, with and without buckets. */
static void test_times(struct bench *bench)
{
    static const char *const pieces[] = {
        "\n2026-11-21T13:45:02Z\n",
        " 1795268702.25 ",
        "\n[21/Nov/2026:13:45:02 +0000] ",
        ",2026-11-21 13:45,",
        "1,2026-11-21\n",
        "7 2026-11-21 13:45:02 +0100\n",
        "2026-11-21T13:45:02Z",
        "2024-02-29 23:59:60.25+01:00",
        "2026-11-21 13:45:02",
        "2026-11-21",
        "13:45:02.123456789012",
        "20261121T134502Z",
        "[21/Nov/2026:13:45:02",
        "[01/jan/1970:00:00:00 -0130]",
        "30/Feb/2026:13:45:02 +0000",
        "1795268702",
        "-.5",
        "1795268702123",
        "20261121134502",
        "21-Nov-2026",
        " 9:05:00",
        " PM",
        "99999999999999999999",
        "0001-01-01",
        "9999-12-31T23:59:59.9Z",
        "2262-04-11T23:47:16.9",
        " +0000]",
        " +0100",
        " -1999",
        " ",
        " ",
        " ",
        " ",
        ",",
        ",",
        ",",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\t",
        " Z ",
        "T",
        "+01",
        "7",
        "x",
        "]",
    };
    static const char *const buckets[] = {"", "15m", "w", "d", "mo", "7y"};
    static const int delimiters[] = {TEXT_NO_DELIMITER, ',', '\t', ' '};
    static const int32_t fields[] = {1, 2, 3, -1, -2};
    static const unsigned digits[] = {0, 3, 9};
    uint64_t state = 5;

    for (size_t f = 0; f < ARRAY_LENGTH(fields); f++) {
        bool good = true;
        uint64_t found = 0;
        for (size_t i = 0; i < 800; i++) {
            const char *bucket = buckets[tap_random(&state) % ARRAY_LENGTH(buckets)];
            const struct text_rules rules = {
                .field = fields[f],
                .columns = i % 8 == 7 ? 3 : 0,
                .delimiter = delimiters[tap_random(&state) % ARRAY_LENGTH(delimiters)],
                .notation = TEXT_TIME,
                .decimals = digits[tap_random(&state) % ARRAY_LENGTH(digits)],
            };
            set_rules(bench, "i64", &rules);
            struct column *column = &bench->plan.columns[0];
            column->element.kind = i % 3 == 2 ? KIND_LOCAL_TIME : KIND_TIME;
            must(!*bucket || kind_time_bucket_parse(bucket, strlen(bucket), rules.decimals,
                                                    &column->width.bucket),
                 "no bucket");
            fill_pieces(bench, i % 40 == 39 ? 3 * TILE_BYTES : 100 + i, pieces,
                        ARRAY_LENGTH(pieces), &state);
            expect_rows(bench);
            found += bench->expected.count;
            good = check_found(bench, true) && good;
        }
        tap_ok(good && found > 300, "times in field %d: %u", (int)fields[f], (unsigned)found);
    }
}

/*
 * IP addresses in fields of lines. Spans only take IPv4 addresses; the GPU returns no values if
 * there is any other token.
 */
static void test_addresses(struct bench *bench)
{
    static const char *const pieces[] = {
        "1.2.3.4",
        "255.255.255.255",
        "0.0.0.0",
        "10.20.30.40",
        "192.168.100.7",
        " ",
        " ",
        " ",
        " ",
        "\n",
        "\n",
        "\r\n",
        "\n1.1.1.1",
        "\t",
        "256.1.1.1",
        "1.2.3",
        "01.2.3.4",
        "2001:db8::1",
    };
    static const int32_t fields[] = {1, 2, -1};
    uint64_t state = 7;
    bool good = true;
    uint64_t found = 0;
    uint64_t pure = 0; /* texts with only IPv4 addresses */

    for (size_t i = 0; i < 3000; i++) {
        const struct text_rules rules = {
            .field = fields[i % ARRAY_LENGTH(fields)],
            .delimiter = i % 2 ? TEXT_NO_DELIMITER : ' ',
            .notation = TEXT_IP,
        };
        set_rules(bench, "u64", &rules);
        struct element *element = &bench->plan.columns[0].element;
        element->kind = KIND_IP;
        element->bytes = sizeof(struct kind_ip);
        element->prefix = (struct kind_ip_prefix){i % 4 ? 32 : i % 32, 128};
        bench->plan.element = *element;
        fill_pieces(bench, 80 + i % 200, pieces, ARRAY_LENGTH(pieces) - (i % 3 ? 5 : 0), &state);
        expect_rows(bench);
        found += bench->expected.count;
        pure += bench->expected.count > 0 && bench->expected.invalid == 0;
        good = check_found(bench, true) && good;
    }
    tap_ok(good && found > 1000 && pure > 100, "addresses: %u, %u texts of IPv4", (unsigned)found,
           (unsigned)pure);
}

/* Numbers in fields of lines, rounded down to a width. */
static void test_widths(struct bench *bench)
{
    static const char *const pieces[] = {
        "1",    "-1", "-128", "127", "255", "99", "-9223372036854775808",
        "12.5", "ff", " ",    ",",   "\n",  "\n", "18446744073709551615"};
    static const uint64_t widths[] = {2, 7, 100, UINT64_C(1) << 63};
    static const enum text_notation notations[] = {TEXT_INTEGERS, TEXT_FIXED, TEXT_HEX};
    uint64_t state = 6;
    bool good = true;
    uint64_t found = 0;

    for (size_t i = 0; i < 2000; i++) {
        const struct text_rules rules = {
            .field = i % 2 ? 1 : -1,
            .delimiter = i % 3 ? TEXT_NO_DELIMITER : ',',
            .notation = notations[tap_random(&state) % ARRAY_LENGTH(notations)],
            .decimals = 0,
        };
        set_rules(bench, all_types[tap_random(&state) % ARRAY_LENGTH(all_types)], &rules);
        bench->plan.columns[0].width.units = widths[tap_random(&state) % ARRAY_LENGTH(widths)];
        fill_pieces(bench, 100 + i % 300, pieces, ARRAY_LENGTH(pieces), &state);
        expect_rows(bench);
        found += bench->expected.count;
        good = check_found(bench, true) && good;
    }
    tap_ok(good && found > 1000, "widths: %u values", (unsigned)found);
}

/* A region of device memory, zeroed. */
static void *device_zeros(size_t bytes)
{
    void *d_memory = NULL;

    must_cuda(cudaMalloc(&d_memory, bytes));
    must_cuda(cudaMemset(d_memory, 0, bytes));
    return d_memory;
}

/* Launches an operation over elements; its result is in d_result, which was zero before. */
static void launch(const struct bench *bench, const struct cuda_elements *elements, void *d_result)
{
    const struct cuda_device *device = &bench->device;
    const struct plan *plan = &bench->plan;
    const size_t room = CHUNK_BYTES_MAX / 8;
    char *d_bytes = d_result;
    const struct cuda_stalin_sort_buffers buffers = {d_bytes + room, d_bytes + 2 * room, d_bytes};

    const struct cuda_histogram_table table = {.d_counts = d_result,
                                               .d_outside =
                                                   (uint64_t *)d_result + plan->binning.bins};

    if (plan->operation == OPERATION_HISTOGRAM)
        must_cuda(
            cuda_histogram_launch(device, &plan->element, &plan->binning, elements, &table, NULL));
    else if (plan->operation == OPERATION_REDUCE)
        must_cuda(cuda_reduce_launch(device, plan, elements, d_result, NULL));
    else if (plan->operation == OPERATION_COUNT)
        must_cuda(cuda_count_intervals_launch(device, plan, elements, d_result, NULL));
    else
        must_cuda(cuda_stalin_sort_launch(device, plan, elements, NULL, &buffers, NULL));
}

/*
 * Returns whether the operation has the same result if it is told the number of values on the
 * device and if it reads the number there.
 */
static bool check_operation(struct bench *bench, void *d_result, char *told, char *read)
{
    const struct cuda_text_parsed *d_parsed = bench->d_control;
    const size_t bytes = CHUNK_BYTES_MAX / 8 * 3;
    struct cuda_elements elements = {.d_data = bench->d_values, .count = bench->expected.count};

    /* Only stalin-sort uses the data before its kept elements; only their number counts. */
    size_t head = bench->plan.operation == OPERATION_STALIN_SORT ? sizeof(uint64_t) : bytes;
    must_cuda(cudaMemset(d_result, 0, bytes));
    launch(bench, &elements, d_result);
    must_cuda(cudaMemcpy(told, d_result, bytes, cudaMemcpyDeviceToHost));
    elements.count = TEXT_SPAN_VALUES_MAX(bench->bytes);
    elements.d_count = &d_parsed->values;
    must_cuda(cudaMemset(d_result, 0, bytes));
    launch(bench, &elements, d_result);
    must_cuda(cudaMemcpy(read, d_result, bytes, cudaMemcpyDeviceToHost));
    return memcmp(told, read, head) == 0 &&
           memcmp(told + bytes / 3, read + bytes / 3, bytes / 3 * 2) == 0;
}

/* Every operation over texts with and without values. */
static void test_operations(struct bench *bench)
{
    static const enum operation_id ids[] = {OPERATION_HISTOGRAM, OPERATION_REDUCE, OPERATION_COUNT,
                                            OPERATION_STALIN_SORT};
    static const char *const names[] = {"histogram", "reduce", "count", "stalin-sort"};
    static const size_t lengths[] = {0, 1, 50, 5000, 3 << 20, 3 << 20};
    struct predicate predicate = {.form = PREDICATE_INTERVAL, .low = 5, .last = 500};
    size_t bytes = CHUNK_BYTES_MAX / 8 * 3;
    void *d_result = device_zeros(bytes);
    char *told = malloc(bytes);
    char *read = malloc(bytes);
    struct failure failure;
    uint64_t state = 4;

    must(told && read, "no memory");
    set_plan(bench, "i64", 0);
    must(binning_init(&bench->plan.binning, &bench->plan.element, 0, 1000, 1000, &failure) ==
             STATUS_OK,
         "no bins");
    bench->plan.predicates = &predicate;
    bench->plan.predicate_count = 1;
    bench->plan.stalin_sort.purged = true;
    for (size_t id = 0; id < ARRAY_LENGTH(ids); id++) {
        bool good = true;
        bench->plan.operation = ids[id];
        for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
            fill_random(bench, lengths[i], i % 2 ? "0123456789 \n" : " x\n", &state);
            good = check(bench, true) && check_operation(bench, d_result, told, read) && good;
        }
        tap_ok(good, "%s of elements counted on the device", names[id]);
    }
    cudaFree(d_result);
    free(told);
    free(read);
}

static void open_bench(struct bench *bench)
{
    size_t values = TEXT_SPAN_VALUES_MAX(CHUNK_BYTES_MAX);
    size_t room = values * sizeof(uint64_t) + GUARD_BYTES;
    int devices = 0;

    bench->text = malloc(CHUNK_BYTES_MAX);
    bench->expected.keys = malloc(values * sizeof(uint64_t));
    bench->found.keys = malloc(values * sizeof(uint64_t));
    bench->values = malloc(room);
    must(bench->text && bench->expected.keys && bench->found.keys && bench->values, "no memory");
    bench->has_gpu = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (!bench->has_gpu)
        return;
    must_cuda(
        cudaDeviceGetAttribute(&bench->device.multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    must_cuda(cudaDeviceGetAttribute(&bench->device.shared_bytes,
                                     cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    must_cuda(cudaMalloc(&bench->d_text, CHUNK_BYTES_MAX));
    must_cuda(cudaMalloc((void **)&bench->d_values, room));
    must_cuda(cudaMalloc(&bench->d_control, cuda_text_control_bytes(CHUNK_BYTES_MAX)));
}

static void close_bench(struct bench *bench)
{
    free(bench->text);
    free(bench->expected.keys);
    free(bench->found.keys);
    free(bench->values);
    if (!bench->has_gpu)
        return;
    cudaFree(bench->d_text);
    cudaFree(bench->d_values);
    cudaFree(bench->d_control);
}

static const struct {
    const char *name;
    void (*run)(struct bench *bench);
    bool needs_gpu;
} tests[] = {
    {"short", test_short_texts, false},   {"lengths", test_lengths, false},
    {"limits", test_limits, false},       {"edges", test_edges, false},
    {"long", test_long_units, false},     {"large", test_large, false},
    {"times", test_times, false},         {"widths", test_widths, false},
    {"addresses", test_addresses, false}, {"operations", test_operations, true},
};

/* Returns whether a test is named, or none is. */
static bool is_wanted(const char *name, int argc, char **argv)
{
    bool wanted = argc == 1;

    for (int i = 1; i < argc; i++)
        wanted = wanted || strcmp(argv[i], name) == 0;
    return wanted;
}

int main(int argc, char **argv)
{
    struct bench bench = {.has_gpu = false};

    open_bench(&bench);
    for (size_t i = 0; i < ARRAY_LENGTH(tests); i++) {
        if (!is_wanted(tests[i].name, argc, argv))
            continue;
        if (bench.has_gpu || !tests[i].needs_gpu)
            tests[i].run(&bench);
        else
            tap_ok(true, "%s # SKIP no GPU", tests[i].name);
    }
    close_bench(&bench);
    return tap_done();
}
