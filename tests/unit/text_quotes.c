/*
 * Quoted parts, compared with the automaton of text_reference.h: random texts, and all short ones
 * at every place of a block. The memory of a text has exactly its length, so that AddressSanitizer
 * detects reads after it.
 */
#include "config.h"

#include "lib/cpu_isa.h"
#include "tap.h"
#include "text_reference.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct text_rules every_rules[] = {
    {.field = 0, .delimiter = ',', .is_quoted = true},
    {.field = 1, .delimiter = ',', .is_quoted = true},
    {.field = 2, .delimiter = ',', .is_quoted = true},
    {.field = 30, .delimiter = ',', .is_quoted = true},
    {.field = -1, .delimiter = ',', .is_quoted = true},
    {.field = -3, .delimiter = ',', .is_quoted = true},
    {.field = 0, .delimiter = ' ', .is_quoted = true},
    {.field = 2, .delimiter = ' ', .is_quoted = true},
    {.field = -2, .delimiter = '\t', .is_quoted = true},
    {.field = 2, .delimiter = 255, .is_quoted = true},
};

/* Parses a text in every instruction set, with space for that many values at a time. */
static bool agrees(const struct text_rules *rules, const char *text, size_t bytes, size_t room)
{
    char *copy = reference_must(malloc(bytes > 0 ? bytes : 1));
    memcpy(copy, text, bytes);
    struct reference all = reference_parse(rules, ELEMENT_I16, copy, bytes);
    const char *wrong = NULL;

    for (int isa = 0; !wrong && isa < CPU_ISA_COUNT; isa++) {
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        wrong = reference_compare(&all, bytes, room);
        if (wrong)
            tap_note("field %d, delimiter %d, %s, room %zu: %s: %.*s", rules->field,
                     rules->delimiter, cpu_isa_names[isa], room, wrong, (int)bytes, text);
    }
    free(all.items);
    free(copy);
    return !wrong;
}

static void test_random(void)
{
    static const char *const alphabets[] = {
        "\"\"\"123,,\n",   "\"12,",         "\"1,\n",   "1234567890123456789\",\n",
        "\"1, \t\r\n\r\n", "\"\"\"1\xff\n", "\"1,-x\n",
    };
    uint64_t state = 3;

    for (size_t i = 0; i < ARRAY_LENGTH(alphabets); i++) {
        bool right = true;
        for (int round = 0; right && round < 4000; round++) {
            char text[400];
            const size_t bytes = tap_random(&state) % (round % 4 ? 100 : sizeof text);
            for (size_t j = 0; j < bytes; j++)
                text[j] = alphabets[i][tap_random(&state) % strlen(alphabets[i])];
            right = agrees(&every_rules[tap_random(&state) % ARRAY_LENGTH(every_rules)], text,
                           bytes, 1 + tap_random(&state) % 20);
        }
        tap_ok(right, "random texts with quotes, %zu", i);
    }
}

/* Lines of valid parts, long and short, with quoted delimiters and doubled quotes. */
static void test_good(void)
{
    static const char *const parts[] = {
        "1",
        "\"22\"",
        "\"a,b\"",
        "\"\"",
        "\"\"\"\"",
        "\"say \"\"5,6\"\"\"",
        " 3 ",
        "\" -4 \"",
        "long and plain",
        "\"long, and quoted, again and again and again and again and again and again\"",
    };
    static const char *const ends[] = {",", ",", ",", "\n", "\r\n"};
    uint64_t state = 4;
    bool right = true;

    for (int round = 0; right && round < 20000; round++) {
        char text[2000] = "";
        size_t bytes = 0;
        while (bytes < 300 && tap_random(&state) % 20 > 0) {
            const char *part = parts[tap_random(&state) % ARRAY_LENGTH(parts)];
            const char *end = ends[tap_random(&state) % ARRAY_LENGTH(ends)];
            bytes += (size_t)sprintf(text + bytes, "%s%s", part, end);
        }
        right =
            agrees(&every_rules[tap_random(&state) % 6], text, bytes, 1 + tap_random(&state) % 5);
    }
    tap_ok(right, "random lines of good parts");
}

/* All texts of six bytes, after other bytes, so that they start at every place in a block. */
static void test_short(void)
{
    static const char bytes[] = {'"', ',', '1', '\n', '\r'};
    uint64_t state = 5;
    bool right = true;

    for (size_t number = 0; right && number < (size_t)5 * 5 * 5 * 5 * 5 * 5; number++) {
        char text[80];
        const size_t before = tap_random(&state) % 68;
        size_t rest = number;
        memset(text, '7', before);
        if (before > 2 && number % 2)
            memcpy(text, "\"\",", 3);
        text[before] = before % 3 ? ',' : '\n';
        for (size_t i = 0; i < 6; i++, rest /= 5)
            text[before + 1 + i] = bytes[rest % 5];
        for (size_t rule = 0; right && rule < 6; rule++)
            right = agrees(&every_rules[rule], text, before + 7, 1 + number % 3);
    }
    tap_ok(right, "all texts of six bytes, everywhere in a block");
}

int main(void)
{
    test_random();
    test_good();
    test_short();
    return tap_done();
}
