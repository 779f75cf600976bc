/*
 * The scanner of rows, in every instruction set, compared with a field-by-field parser: random
 * texts in two pieces; the first piece starts in every state. The memory of a text has exactly its
 * length, so that AddressSanitizer detects reads after it.
 */
#include "config.h"

#include "lib/cpu_isa.h"
#include "tap.h"
#include "text/text_scan.h"

#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* Texts that lead from the start of a row to each state. */
static const char *const leads[TEXT_SCAN_STATES] = {
    [TEXT_SCAN_ROW] = "",      [TEXT_SCAN_FIELD] = ",",     [TEXT_SCAN_PLAIN] = "1",
    [TEXT_SCAN_INSIDE] = "\"", [TEXT_SCAN_CLOSED] = "\"\"", [TEXT_SCAN_COMMENT] = "#",
};

static const struct text_rules every_rules[] = {
    {.delimiter = ',', .is_quoted = true},
    {.delimiter = ',', .is_quoted = true, .has_comments = true, .comment = '#'},
    {.delimiter = ' ', .is_quoted = true},
    {.delimiter = TEXT_NO_DELIMITER},
};

static void use_isa(int isa)
{
    setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
    cpu_isa_forget();
}

/* Returns the end of the row that starts at `at`: the byte after its newline; 0: no newline. */
static size_t row_end(const struct text_rules *rules, const char *text, size_t bytes, size_t at)
{
    bool begins_field = true;

    if (!rules->is_quoted || (rules->has_comments && at < bytes && text[at] == rules->comment)) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        return newline ? (size_t)(newline - text) + 1 : 0;
    }
    while (at < bytes) {
        if (begins_field && text[at] == '"') {
            for (at++; at < bytes; at += 2) {
                while (at < bytes && text[at] != '"')
                    at++;
                if (at + 1 >= bytes || text[at + 1] != '"')
                    break;
            }
            at += at < bytes;
            begins_field = false;
            continue;
        }
        if (text[at] == '\n')
            return at + 1;
        begins_field = text[at++] == (char)rules->delimiter;
    }
    return 0;
}

/* Stores the ends of rows in text[from..to), relative to `from`. */
static struct text_scan_ends reference_ends(const struct text_rules *rules, const char *text,
                                            size_t bytes, size_t from, size_t to)
{
    struct text_scan_ends ends = {.first = 0};

    for (size_t end = 0; (end = row_end(rules, text, bytes, end)) > 0 && end <= to;) {
        if (end > from) {
            ends.last = end - from;
            ends.first = ends.first > 0 ? ends.first : ends.last;
        }
    }
    return ends;
}

/* Scans text[from..to) from a state on, and back from its end; stores the state at `to`. */
static bool scans_piece(const struct text_rules *rules, enum text_scan_state *state,
                        const char *text, size_t bytes, const struct text_scan_ends *wanted)
{
    char *piece = malloc(bytes > 0 ? bytes : 1);

    if (!piece)
        return tap_note("no memory");
    memcpy(piece, text, bytes);
    const size_t first = text_scan_first(rules, piece, bytes, *state);
    enum text_scan_state last_state = *state;
    const size_t last = text_scan_last(rules, piece, bytes, &last_state);
    const struct text_scan_ends found = text_scan(rules, piece, bytes, state);
    free(piece);
    if (first != found.first || last != found.last || last_state != *state)
        return tap_note("first %zu, last %zu, state %d, not %zu, %zu, %d", first, last,
                        (int)last_state, found.first, found.last, (int)*state);
    return (found.first == wanted->first && found.last == wanted->last) ||
           tap_note("ends %zu, %zu, not %zu, %zu", found.first, found.last, wanted->first,
                    wanted->last);
}

/* Scans a text from a state on, in two pieces, in every instruction set. */
static bool scans(const struct text_rules *rules, enum text_scan_state first_state,
                  const char *text, size_t bytes, size_t cut)
{
    const size_t lead = strlen(leads[first_state]);
    char *whole = malloc(lead + bytes + 1);
    const size_t places[] = {lead, lead + cut, lead + bytes};
    struct text_scan_ends wanted[2];
    bool right = whole != NULL;

    if (!right)
        return tap_note("no memory");
    memcpy(whole, leads[first_state], lead);
    memcpy(whole + lead, text, bytes);
    for (size_t i = 0; i < 2; i++)
        wanted[i] = reference_ends(rules, whole, lead + bytes, places[i], places[i + 1]);
    for (int isa = 0; right && isa < CPU_ISA_COUNT; isa++) {
        enum text_scan_state state = first_state;
        use_isa(isa);
        for (size_t i = 0; right && i < 2; i++)
            right = scans_piece(rules, &state, whole + places[i], places[i + 1] - places[i],
                                &wanted[i]) ||
                    tap_note("%s code, piece %zu at %zu: %.*s", cpu_isa_names[isa], i, cut,
                             (int)(lead + bytes), whole);
    }
    free(whole);
    return right;
}

static void test_random(const struct text_rules *rules, const char *name)
{
    static const char *const alphabets[] = {"\"\",,\n#1 ", "\"12,",     "\"1,\n", "1234567\",\n",
                                            "\"1\r\n#",    "12 3456\n", "##\"\n"};
    const unsigned rounds = tap_some(6000);
    uint64_t random = 7;

    for (size_t i = 0; i < ARRAY_LENGTH(alphabets); i++) {
        bool right = true;
        for (unsigned round = 0; right && round < rounds; round++) {
            char text[400];
            const size_t bytes = tap_random(&random) % (round % 4 ? 100 : sizeof text);
            enum text_scan_state state = (enum text_scan_state)(round % TEXT_SCAN_STATES);
            if (!rules->is_quoted || (state == TEXT_SCAN_COMMENT && !rules->has_comments))
                state = TEXT_SCAN_ROW;
            if (state == TEXT_SCAN_FIELD && rules->delimiter != ',')
                state = TEXT_SCAN_ROW;
            for (size_t j = 0; j < bytes; j++)
                text[j] = alphabets[i][tap_random(&random) % strlen(alphabets[i])];
            right = scans(rules, state, text, bytes, tap_random(&random) % (bytes + 1));
        }
        tap_ok(right, "%s, random texts, %zu", name, i);
    }
}

/* Long texts: the last row is found from the end. */
static void test_long(const struct text_rules *rules, const char *name)
{
    static const char *const alphabets[] = {"\"\",,\n#1 ", "\"1234567,,,,\n", "\"\"\n\n,1",
                                            "\",\n1111111111111111111111111111111111111111111"};
    const unsigned rounds = tap_some(1200);
    uint64_t random = 8;
    bool right = true;

    for (unsigned round = 0; right && round < rounds; round++) {
        const char *alphabet = alphabets[round % ARRAY_LENGTH(alphabets)];
        enum text_scan_state state = round % 3 ? TEXT_SCAN_ROW : TEXT_SCAN_INSIDE;
        char text[12000];
        const size_t bytes = sizeof text - tap_random(&random) % 4000;
        for (size_t j = 0; j < bytes; j++)
            text[j] = alphabet[tap_random(&random) % strlen(alphabet)];
        for (size_t j = tap_random(&random) % bytes; round % 5 == 0 && j < bytes; j++)
            text[j] = text[j] == '\n' ? ' ' : text[j]; /* a long last row */
        right = scans(rules, rules->is_quoted ? state : TEXT_SCAN_ROW, text, bytes,
                      tap_random(&random) % (bytes + 1));
    }
    tap_ok(right, "%s, long random texts", name);
}

static void blank_comments(const struct text_rules *rules, char *text, size_t bytes)
{
    for (size_t begin, end = 0; text_scan_next_comment(rules, text, bytes, &begin, &end);)
        memset(text + begin, ' ', end - begin);
}

/* Comments are found, and nothing else. */
static void test_comments(void)
{
    static const char csv[] = "#a,\"b\n1,\"x\n#y\"\n#\"\n2,#3\n# end";
    static const char blanked[] = "     \n1,\"x\n#y\"\n  \n2,#3\n     ";
    static const char lines[] = "#\n1 #2\n#\n\n## x";
    static const char blank_lines[] = " \n1 #2\n \n\n    ";
    const struct text_rules words = {.delimiter = TEXT_NO_DELIMITER,
                                     .has_comments = true,
                                     .comment = '#'};
    char text[64];

    memcpy(text, csv, sizeof csv);
    blank_comments(&every_rules[1], text, sizeof csv - 1);
    tap_ok(strcmp(text, blanked) == 0, "comments in CSV");
    memcpy(text, lines, sizeof lines);
    blank_comments(&words, text, sizeof lines - 1);
    tap_ok(strcmp(text, blank_lines) == 0, "comments in lines");
}

static void test_odd(void)
{
    static const char text[] = "Ann\",\"2\"\n\"Lee, \"\"x\"\"\",3\r\n\"4\"\r\n";

    tap_ok(text_scan_count_odd(every_rules, text, sizeof text - 1, TEXT_SCAN_INSIDE) == 0 &&
               text_scan_count_odd(every_rules, text, sizeof text - 1, TEXT_SCAN_PLAIN) == 1,
           "odd quotes of the wrong state");
}

/*
 * A quote that opens, closes, or does neither, in the last rows of a long text: the end of the last
 * row and the state are those of the whole text.
 */
static void test_last_quotes(void)
{
    static const char *const ends[] = {
        "3,\"opened\n4,5\n", "\"opened\n4,5\n",   "3,\"a\"\n4,5",  "3,\"a\n\",5\n6",
        "3,\"a\"\"b\n4,5\n", "3,\"\"\n4,\"\n5\n", "3,a\"b\n4,5\n",
    };
    static char text[3 * 4096 + 64];

    for (size_t i = 0; i < ARRAY_LENGTH(ends); i++) {
        enum text_scan_state state = TEXT_SCAN_ROW;
        enum text_scan_state last_state = TEXT_SCAN_ROW;
        size_t bytes = 0;
        while (bytes < sizeof text - 64) {
            memcpy(text + bytes, "1,2\n", 4);
            bytes += 4;
        }
        memcpy(text + bytes, ends[i], strlen(ends[i]));
        bytes += strlen(ends[i]);
        const size_t whole = text_scan(&every_rules[0], text, bytes, &state).last;
        const size_t last = text_scan_last(&every_rules[0], text, bytes, &last_state);
        tap_ok(last == whole && last_state == state, "the last row of a long text, end %zu", i);
    }
}

int main(void)
{
    static const char *const names[ARRAY_LENGTH(every_rules)] = {"CSV", "CSV with comments",
                                                                 "CSV with blanks", "lines"};

    for (size_t i = 0; i < ARRAY_LENGTH(every_rules); i++)
        test_random(&every_rules[i], names[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(every_rules); i++)
        test_long(&every_rules[i], names[i]);
    for (int isa = 0; isa < CPU_ISA_COUNT; isa++) {
        use_isa(isa);
        test_last_quotes();
    }
    test_comments();
    test_odd();
    return tap_done();
}
