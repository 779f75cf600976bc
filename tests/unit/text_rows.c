/*
 * Two columns of the same lines, against the byte-by-byte parser of text_reference.h, which reads
 * each column by itself; and lines whose beginning is shortened (record_squeeze) because they are
 * longer than a chunk.
 */
#include "config.h"

#include "base/cpu_isa.h"
#include "input/record.h"
#include "tap.h"
#include "text/text_pairs.h"
#include "text_reference.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

#define TEXT_MOST 3000

static const struct text_rules every_rules[] = {
    {.field = 1, .second_field = 2, .delimiter = TEXT_NO_DELIMITER},
    {.field = 3, .second_field = 1, .delimiter = TEXT_NO_DELIMITER},
    {.field = 2, .second_field = 2, .delimiter = TEXT_NO_DELIMITER},
    {.field = 1, .second_field = -1, .delimiter = TEXT_NO_DELIMITER},
    {.field = -2, .second_field = 2, .delimiter = TEXT_NO_DELIMITER},
    {.field = -1, .second_field = -3, .delimiter = TEXT_NO_DELIMITER},
    {.field = 2, .second_field = 1, .columns = 3, .delimiter = TEXT_NO_DELIMITER},
    {.field = -1, .second_field = 2, .columns = 2, .delimiter = TEXT_NO_DELIMITER},
    {.field = 2, .second_field = 1, .delimiter = ','},
    {.field = -3, .second_field = 1, .delimiter = ','},
    {.field = 4, .second_field = -2, .delimiter = ','},
    {.field = 1, .second_field = 2, .delimiter = ',', .is_quoted = true},
    {.field = -1, .second_field = 2, .delimiter = ',', .is_quoted = true},
    {.field = 2, .second_field = -2, .delimiter = ',', .is_quoted = true},
    {.field = 1, .second_field = 2, .delimiter = ',', .notation = TEXT_FIXED, .decimals = 2},
    {.field = 2, .second_field = -1, .delimiter = TEXT_NO_DELIMITER, .notation = TEXT_HEX},
};

static const char *const alphabets[] = {
    "1234567890 \n", "12 \t\n-", "123,,\n", "\"\"12,,\n", "1,-.5\n\r", "19 ax0\n", "5 \n\n-",
};

/* The elements that a line gives, or its invalid token. */
struct pair {
    bool is_valid;
    __int128 first;
    __int128 second;
    struct text_token token;
};

/* Puts what the reference reads in each column together. Returns the number of pairs. */
static size_t put_together(const struct job *job, const char *text, size_t bytes,
                           struct pair pairs[TEXT_MOST])
{
    const struct text_rules rules = job_second_rules(job, &job->text);
    struct reference first = reference_parse(&job->text, job->element.type, text, bytes);
    struct reference second = reference_parse(&rules, ELEMENT_I64, text, bytes);
    const size_t count = first.count == second.count ? first.count : SIZE_MAX;

    for (size_t i = 0; i < first.count && count != SIZE_MAX; i++) {
        const struct reference_item *a = &first.items[i];
        const struct reference_item *b = &second.items[i];
        bool is_weight = b->is_valid && (job->second == SECOND_GROUPS || b->value >= 0);
        const struct reference_item *wrong = a->is_valid ? b : a;
        pairs[i] = (struct pair){a->is_valid && is_weight,
                                 a->value,
                                 b->value,
                                 {wrong->offset, wrong->bytes, a->is_valid}};
    }
    free(first.items);
    free(second.items);
    return count;
}

/* Parses a text with so much room, and compares with what it must give. */
static bool gives(const struct job *job, const char *text, size_t bytes, size_t room,
                  const struct pair *wanted, size_t count)
{
    uint64_t values[TEXT_MOST];
    uint64_t second[TEXT_MOST];
    enum text_event event = TEXT_FULL;
    struct text_cursor cursor = {
        .rules = &job->text,
        .data = text,
        .bytes = bytes,
        .values = values,
        .second = second,
        .room = room,
    };
    size_t next = 0;

    while (event != TEXT_END) {
        cursor.invalid = (struct text_token){.offset = SIZE_MAX};
        cursor.count = SIZE_MAX;
        event = text_pairs_parse(job, &cursor);
        const struct text_token token = cursor.invalid;
        const size_t some = cursor.count;
        if (some > room || some > count - next || (event == TEXT_FULL && some < room))
            return tap_note("%zu pairs where there is room for %zu", some, room);
        for (size_t i = 0; i < some; i++, next++) {
            const char *value = (const char *)values + i * job->element.bytes;
            if (!wanted[next].is_valid ||
                reference_value(job->element.type, value) != wanted[next].first ||
                (int64_t)second[i] != wanted[next].second)
                return tap_note("pair %zu is wrong", next);
        }
        if (event != TEXT_INVALID)
            continue;
        if (next == count || wanted[next].is_valid)
            return tap_note("an invalid token instead of pair %zu", next);
        const struct text_token *right = &wanted[next++].token;
        if (token.offset != right->offset || token.bytes != right->bytes ||
            token.is_second != right->is_second)
            return tap_note("another invalid token than that of pair %zu", next - 1);
    }
    return next == count || tap_note("the end too early");
}

static bool agrees(const struct job *job, const char *text, size_t bytes, size_t room)
{
    struct pair wanted[TEXT_MOST];
    char *copy = reference_must(malloc(bytes > 0 ? bytes : 1));
    memcpy(copy, text, bytes);
    size_t count = put_together(job, copy, bytes, wanted);
    bool right = count != SIZE_MAX;

    for (int isa = 0; right && isa < CPU_ISA_COUNT; isa++) {
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        right = gives(job, copy, bytes, room, wanted, count);
        if (!right)
            tap_note("fields %d and %d, delimiter %d, %s, room %zu: %.*s", job->text.field,
                     job->text.second_field, job->text.delimiter, cpu_isa_names[isa], room,
                     (int)bytes, text);
    }
    free(copy);
    return right;
}

static struct job make_job(const struct text_rules *rules, uint64_t *state)
{
    static const char *const types[] = {"i8", "u16", "i32", "i64"};
    struct job job = {
        .text = *rules,
        .is_text = true,
        .second = tap_random(state) % 2 ? SECOND_WEIGHTS : SECOND_GROUPS,
    };

    element_parse(types[tap_random(state) % ARRAY_LENGTH(types)], &job.element);
    element_parse("i64", &job.second_element);
    return job;
}

static size_t make_text(char *text, size_t most, const char *alphabet, uint64_t *state)
{
    const size_t bytes = tap_random(state) % most;

    for (size_t i = 0; i < bytes; i++)
        text[i] = alphabet[tap_random(state) % strlen(alphabet)];
    return bytes;
}

static void test_random(void)
{
    uint64_t state = 6;

    for (size_t i = 0; i < ARRAY_LENGTH(alphabets); i++) {
        bool right = true;
        for (int round = 0; right && round < 3000; round++) {
            char text[TEXT_MOST];
            size_t bytes = make_text(text, round % 20 ? 60 : TEXT_MOST, alphabets[i], &state);
            struct job job =
                make_job(&every_rules[tap_random(&state) % ARRAY_LENGTH(every_rules)], &state);
            size_t room = 1 + tap_random(&state) % (round % 2 ? 4 : TEXT_MOST);
            right = agrees(&job, text, bytes, room);
        }
        tap_ok(right, "random texts of two columns, %zu", i);
    }
}

int main(void)
{
    test_random();
    return tap_done();
}
