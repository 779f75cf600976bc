/*
 * Rows of several columns, compared with the byte-by-byte parser of text_reference.h, which reads
 * each column separately: random plans of values, a weight, groups and conditions on random texts.
 * Texts and keys have memory of exactly their length, so that AddressSanitizer detects its overrun.
 */
#include "config.h"

#include "lib/cpu_isa.h"
#include "lib/decimal.h"
#include "tap.h"
#include "text/text_rows.h"
#include "text_reference.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

#define ROWS_BYTES_MAX 3000
#define COLUMNS_MAX    12
#define FENCE          0x5a

/* Characters of texts drawn byte by byte. */
static const char *const alphabets[] = {
    "1234567890 \n", "12 \t\n-", "123,,\n", "\"\"12,,\n", "1,-.5\n\r", "19 ax0\n", "5 \n\n-",
};

/* Fields of texts drawn line by line: most are values. */
static const char *const tokens[] = {
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-2",
    "-128",
    "127",
    "255",
    "+7",
    "0012",
    "100",
    "65.5",
    "-0.50",
    "3.",
    ".25",
    "a",
    "0x1F",
    "",
    "\"5\"",
    "\"",
    "\" ",
    "1\"2",
    "\"4 , 5\"",
    "\"\"\"9\"\"\"",
    "\"-3\"",
    "x",
    "1e5",
    " 8 ",
    "\r",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
    "a-word-that-is-longer-than-a-block-of-sixty-four-bytes-wherever-it-begins-in-that-block",
};

/* Number of small numbers in the tokens above. */
#define TOKENS_SMALL 5

/* A condition in the form that the reference tests. */
struct condition {
    enum predicate_relation relation; /* PREDICATE_ANY_OF: any of values[0..2) */
    __int128 values[2];
    char text[DECIMAL_SIZE];
};

/* A random plan. */
struct drawn {
    struct plan plan;
    struct predicate predicates[COLUMNS_MAX];
    struct condition conditions[COLUMNS_MAX];
};

/* A line that counts or has invalid tokens. */
struct row {
    bool is_stored;
    uint64_t nulls;
    __int128 values[COLUMNS_MAX];
    struct text_token invalid[COLUMNS_MAX];
    size_t invalid_count;
};

static size_t draw(uint64_t *state, size_t below)
{
    return (size_t)(tap_random(state) % below);
}

/* --- the reference -------------------------------------------------------------------------------
 */

static bool condition_holds(const struct condition *condition, __int128 value)
{
    const __int128 bound = condition->values[0];

    switch (condition->relation) {
    case PREDICATE_EQ:
        return value == bound;
    case PREDICATE_NE:
        return value != bound;
    case PREDICATE_LT:
        return value < bound;
    case PREDICATE_LE:
        return value <= bound;
    case PREDICATE_GT:
        return value > bound;
    case PREDICATE_GE:
        return value >= bound;
    default:
        return value == bound || value == condition->values[1];
    }
}

/* Takes a column's item for a row: its value, or an invalid token. Returns true for the latter. */
static bool row_read(struct row *row, const struct plan *plan, size_t column,
                     const struct reference_item *item)
{
    const struct column *of = &plan->columns[column];
    const __int128 width = of->width.units > 0 ? (__int128)of->width.units : 1;
    const __int128 rest = item->value % width;
    const __int128 floored = item->value - rest - (rest < 0 ? width : 0);
    const bool is_weight = plan->has_weights && column == plan_weight_column(plan);

    row->values[column] = floored;
    if (item->is_valid && floored >= reference_low(of->element.type) &&
        (!is_weight || item->value >= 0))
        return true;
    row->invalid[row->invalid_count++] =
        (struct text_token){.offset = item->offset, .bytes = item->bytes, .column = column};
    return false;
}

/*
 * Makes the row of a line from the items of its columns. Returns false if a condition does not
 * hold.
 */
static bool row_make(struct row *row, const struct drawn *drawn,
                     const struct reference_item *const items[COLUMNS_MAX])
{
    const struct plan *plan = &drawn->plan;
    const size_t columns = plan_column_count(plan);
    const size_t conditions = plan_condition_column(plan);

    *row = (struct row){.nulls = 0};
    if (items[0]->is_line) {
        size_t column = 0; /* the first column of the wrong part, if any */
        while (column < columns && plan->columns[column].field != items[0]->wrong)
            column++;
        row->invalid[row->invalid_count++] =
            (struct text_token){.offset = items[0]->offset,
                                .bytes = items[0]->bytes,
                                .column = column < columns ? column : 0};
        return true;
    }
    for (size_t c = conditions; c < columns; c++) {
        if (!row_read(row, plan, c, items[c]))
            return true;
        if (!condition_holds(&drawn->conditions[c - conditions], row->values[c]))
            return false;
    }
    for (size_t c = 0; c < conditions; c++) {
        if (row_read(row, plan, c, items[c]))
            continue;
        if (c >= plan->value_count || plan->value_count == 1)
            return true;
        row->nulls |= (uint64_t)1 << c;
    }
    row->is_stored = row->invalid_count < plan->value_count;
    return true;
}

/* Reads a text column by column. Returns the number of rows; SIZE_MAX: columns have unequal lines.
 */
static size_t reference_rows(const struct drawn *drawn, const char *text, size_t bytes,
                             struct row rows[ROWS_BYTES_MAX])
{
    const struct plan *plan = &drawn->plan;
    const size_t columns = plan_column_count(plan);
    struct text_rules rules[COLUMNS_MAX];
    struct reference all[COLUMNS_MAX];
    size_t count = 0;
    bool is_even = true;

    for (size_t c = 0; c < columns; c++) {
        rules[c] = plan_column_rules(plan, &plan->text, c);
        all[c] = reference_parse(&rules[c], plan->columns[c].element.type, text, bytes);
        is_even = is_even && all[c].count == all[0].count;
    }
    for (size_t i = 0; is_even && i < all[0].count; i++) {
        const struct reference_item *items[COLUMNS_MAX];
        for (size_t c = 0; c < columns; c++)
            items[c] = &all[c].items[i];
        count += row_make(&rows[count], drawn, items);
    }
    for (size_t c = 0; c < columns; c++)
        free(all[c].items);
    return is_even ? count : SIZE_MAX;
}

/* --- the comparison ------------------------------------------------------------------------------
 */

static size_t key_bytes(const struct plan *plan, size_t column)
{
    return column < plan->value_count ? plan->columns[column].element.bytes : sizeof(uint64_t);
}

/* Returns whether row `i` of a call has the values of a row of the reference. */
static bool row_is_stored(const struct plan *plan, const struct text_rows *rows, size_t i,
                          const struct row *row)
{
    if (rows->nulls && rows->nulls[i] != row->nulls)
        return tap_note("other columns without a value");
    for (size_t c = 0; c < plan_condition_column(plan); c++) {
        const char *key = (const char *)rows->keys[c] + i * key_bytes(plan, c);
        uint64_t word;
        if (row->nulls >> c & 1)
            continue;
        if (c < plan->value_count) {
            if (reference_value(plan->columns[c].element.type, key) != row->values[c])
                return tap_note("another value in column %zu", c);
            continue;
        }
        memcpy(&word, key, sizeof word);
        if (word != (uint64_t)row->values[c])
            return tap_note("another key in column %zu", c);
    }
    return true;
}

static bool row_has_tokens(const struct text_rows *rows, const struct row *row)
{
    if (rows->invalid_count != row->invalid_count)
        return tap_note("%zu invalid tokens, not %zu", rows->invalid_count, row->invalid_count);
    for (size_t i = 0; i < row->invalid_count; i++) {
        const struct text_token *token = &rows->invalid[i];
        const struct text_token *right = &row->invalid[i];
        if (token->offset != right->offset || token->bytes != right->bytes ||
            token->column != right->column)
            return tap_note("%zu bytes at %zu of column %zu are invalid, not %zu at %zu of %zu",
                            token->bytes, token->offset, token->column, right->bytes, right->offset,
                            right->column);
    }
    return true;
}

/* Compares the result of a call with the rows from *next on; advances *next. */
static bool call_is_right(const struct plan *plan, const struct text_rows *rows,
                          enum text_event event, const struct row *wanted, size_t count,
                          size_t *next)
{
    bool has_told = event != TEXT_INVALID;

    if (rows->count > rows->capacity || (event == TEXT_FULL && rows->count < rows->capacity))
        return tap_note("%zu rows in a capacity of %zu", rows->count, rows->capacity);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &wanted[(*next)++];
        if (*next > count || !row->is_stored || !row_is_stored(plan, rows, i, row))
            return tap_note("row %zu is wrong", *next - 1);
        if (row->invalid_count == 0)
            continue;
        if (event != TEXT_INVALID || i + 1 < rows->count || !row_has_tokens(rows, row))
            return tap_note("row %zu has invalid tokens", *next - 1);
        has_told = true;
    }
    if (has_told)
        return true;
    if (*next == count || wanted[*next].is_stored)
        return tap_note("an invalid token instead of row %zu", *next);
    return row_has_tokens(rows, &wanted[(*next)++]);
}

/* Parses a text in blocks of that capacity, and compares with the expected rows. */
static bool gives(const struct plan *plan, const char *text, size_t bytes, size_t capacity,
                  const struct row *wanted, size_t count)
{
    enum text_event event = TEXT_FULL;
    struct text_rows rows = {
        .plan = plan,
        .rules = &plan->text,
        .data = text,
        .bytes = bytes,
        .capacity = capacity,
        .scratch = text_rows_scratch_create(plan),
    };
    const size_t stored = plan_condition_column(plan);
    bool right = true;
    size_t next = 0;

    for (size_t c = 0; c < stored; c++) {
        const size_t end = capacity * key_bytes(plan, c);
        rows.keys[c] = reference_must(malloc(end + 1));
        ((char *)rows.keys[c])[end] = FENCE;
    }
    if (plan->value_count > 1)
        rows.nulls = reference_must(malloc(capacity * sizeof *rows.nulls));
    while (right && event != TEXT_END) {
        const size_t before = rows.offset;
        rows.count = rows.invalid_count = SIZE_MAX;
        event = text_rows_parse(&rows);
        right = call_is_right(plan, &rows, event, wanted, count, &next);
        if (right && event != TEXT_END && rows.offset <= before)
            right = tap_note("it does not advance");
        for (size_t c = 0; c < stored; c++) {
            if (((char *)rows.keys[c])[capacity * key_bytes(plan, c)] != FENCE)
                right = tap_note("a key beyond the capacity");
        }
    }
    if (right && (next != count || rows.offset != bytes))
        right = tap_note("the end too early");
    for (size_t c = 0; c < stored; c++)
        free(rows.keys[c]);
    free(rows.nulls);
    text_rows_scratch_destroy(rows.scratch);
    return right;
}

static void describe(const struct drawn *drawn, const char *isa, size_t capacity, const char *text,
                     size_t bytes)
{
    const struct plan *plan = &drawn->plan;

    tap_note("delimiter %d, %s, %d fields, %s, capacity %zu", plan->text.delimiter,
             plan->text.is_quoted ? "quotes" : "no quotes", plan->text.columns, isa, capacity);
    for (size_t c = 0; c < plan_column_count(plan); c++) {
        const struct column *column = &plan->columns[c];
        const bool is_condition = c >= plan_condition_column(plan);
        tap_note("%s %d: %s, notation %d, %u decimals, width %llu%s%s", plan_column_option(plan, c),
                 column->field, column->element.name, (int)column->notation,
                 column->element.decimals, (unsigned long long)column->width.units,
                 is_condition ? ", condition " : "",
                 is_condition ? drawn->conditions[c - plan_condition_column(plan)].text : "");
    }
    tap_note("text: %.*s", (int)bytes, text);
}

static bool agrees(const struct drawn *drawn, const char *text, size_t bytes, size_t capacity)
{
    static struct row wanted[ROWS_BYTES_MAX];
    char *copy = reference_must(malloc(bytes > 0 ? bytes : 1));
    memcpy(copy, text, bytes);
    const size_t count = reference_rows(drawn, copy, bytes, wanted);
    bool right = count != SIZE_MAX;

    for (int isa = 0; right && isa < CPU_ISA_COUNT; isa++) {
        setenv("GPUHIST_ISA", cpu_isa_names[isa], 1);
        cpu_isa_forget();
        right = gives(&drawn->plan, copy, bytes, capacity, wanted, count);
        if (!right)
            describe(drawn, cpu_isa_names[isa], capacity, text, bytes);
    }
    free(copy);
    return right;
}

/* --- random plans and texts ----------------------------------------------------------------------
 */

static int32_t draw_field(uint64_t *state)
{
    static const int32_t fields[] = {1, 1, 2, 2, 3, 4, 5, 7, 30, -1, -1, -2, -3, -6};
    return fields[draw(state, ARRAY_LENGTH(fields))];
}

/* Draws a column; the type of its keys is random only if it has values. */
static struct column draw_column(bool is_value, uint64_t *state)
{
    static const char *const types[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
    static const uint64_t widths[] = {0, 0, 0, 1, 2, 7, 100, INT64_MAX};
    struct column column = {
        .field = draw_field(state),
        .width.units = widths[draw(state, ARRAY_LENGTH(widths))],
        .notation = (enum text_notation)draw(state, TEXT_OPAQUE),
    };

    element_parse(types[is_value ? draw(state, ARRAY_LENGTH(types)) : 6 + draw(state, 2)],
                  &column.element);
    column.element.decimals = column.notation == TEXT_FIXED ? (unsigned)draw(state, 4) : 0;
    return column;
}

static void draw_condition(struct condition *condition, const struct element *element,
                           struct predicate *predicate, uint64_t *state)
{
    struct failure failure;

    condition->relation = (enum predicate_relation)draw(state, PREDICATE_IN + 1);
    if (condition->relation == PREDICATE_IN)
        condition->relation = PREDICATE_ANY_OF;
    condition->values[0] = (int)draw(state, 4) - (element->is_signed ? 2 : 0);
    condition->values[1] = condition->values[0] + 2;
    decimal_format_fixed(condition->text, condition->values[0], element->decimals);
    if (condition->relation == PREDICATE_ANY_OF) {
        const uint64_t keys[] = {(uint64_t)condition->values[0], (uint64_t)condition->values[1]};
        predicate_init_any_of(predicate, condition->text, element, keys, 2, &failure);
    } else {
        predicate_init(predicate, condition->relation, condition->text, element, &failure);
    }
}

/* Draws a plan of 1 to 6 values and conditions, with other columns between them. */
static void draw_plan(struct drawn *drawn, uint64_t *state)
{
    struct plan *plan = &drawn->plan;

    *drawn = (struct drawn){.plan = {.is_text = true, .conditions = drawn->predicates}};
    plan->value_count = draw(state, 3) ? 1 : 1 + draw(state, 6);
    plan->has_weights = draw(state, 3) == 0;
    plan->group_count = draw(state, 2) ? draw(state, 3) : 0;
    plan->condition_count = draw(state, 2) ? draw(state, 4) : 0;
    for (size_t c = 0; c < plan_column_count(plan); c++)
        plan->columns[c] = draw_column(c < plan->value_count, state);
    if (plan->has_weights) /* its type is fixed */
        element_parse("i64", &plan->columns[plan_weight_column(plan)].element);
    for (size_t i = 0; i < plan->condition_count; i++)
        draw_condition(&drawn->conditions[i],
                       &plan->columns[plan_condition_column(plan) + i].element,
                       &drawn->predicates[i], state);
    plan->text.delimiter = draw(state, 3) ? ',' : TEXT_NO_DELIMITER;
    plan->text.is_quoted = plan->text.delimiter != TEXT_NO_DELIMITER && draw(state, 2);
    plan->text.columns = !plan->text.is_quoted && draw(state, 3) == 0 ? (int)draw(state, 8) : 0;
    plan->element = plan->columns[0].element;
    plan->text.field = plan->columns[0].field;
    plan->text.notation = plan->columns[0].notation;
    plan->text.decimals = plan->element.decimals;
    for (size_t c = 1; c < plan_column_count(plan); c++)
        plan->text.more[c - 1] = plan->columns[c].field;
}

/* A text of those characters. */
static size_t draw_bytes(char *text, size_t limit, const char *alphabet, uint64_t *state)
{
    const size_t bytes = draw(state, limit);

    for (size_t i = 0; i < bytes; i++)
        text[i] = alphabet[draw(state, strlen(alphabet))];
    return bytes;
}

/* Draws a text of lines. Most lines have values in most fields. */
static size_t draw_lines(char *text, size_t limit, int delimiter, uint64_t *state)
{
    const size_t stop = draw(state, limit);
    const size_t small = draw(state, 4) ? TOKENS_SMALL : ARRAY_LENGTH(tokens);
    size_t bytes = 0;

    while (bytes < stop) {
        const size_t fields = draw(state, 8) ? 7 : draw(state, 9);
        for (size_t i = 0; i < fields; i++) {
            const size_t kinds = draw(state, 16) ? small : ARRAY_LENGTH(tokens);
            const char *token = tokens[draw(state, kinds)];
            if (bytes + strlen(token) + 4 > ROWS_BYTES_MAX)
                return bytes;
            if (i > 0)
                text[bytes++] = delimiter == TEXT_NO_DELIMITER ? ' ' : (char)delimiter;
            memcpy(text + bytes, token, strlen(token));
            bytes += strlen(token);
        }
        if (draw(state, 6) == 0)
            text[bytes++] = '\r';
        text[bytes++] = '\n';
    }
    return bytes - (bytes > 0 && draw(state, 2));
}

static bool test_one(size_t alphabet, int round, uint64_t *state)
{
    static char text[ROWS_BYTES_MAX];
    const size_t limit = round % 20 ? 80 : ROWS_BYTES_MAX;
    struct drawn drawn;

    draw_plan(&drawn, state);
    const size_t bytes = alphabet < ARRAY_LENGTH(alphabets)
                             ? draw_bytes(text, limit, alphabets[alphabet], state)
                             : draw_lines(text, limit, drawn.plan.text.delimiter, state);
    const size_t capacity = 1 + draw(state, round % 2 ? 4 : ROWS_BYTES_MAX);
    const bool right = agrees(&drawn, text, bytes, capacity);
    for (size_t i = 0; i < drawn.plan.condition_count; i++)
        predicate_destroy(&drawn.predicates[i]);
    return right;
}

int main(void)
{
    uint64_t state = 6;

    for (size_t i = 0; i < ARRAY_LENGTH(alphabets); i++) {
        bool right = true;
        for (int round = 0; right && round < 2000; round++)
            right = test_one(i, round, &state);
        tap_ok(right, "columns of drawn bytes, %zu", i);
    }
    for (size_t i = 0; i < 4; i++) {
        bool right = true;
        for (int round = 0; right && round < 4000; round++)
            right = test_one(SIZE_MAX, round, &state);
        tap_ok(right, "columns of drawn lines, %zu", i);
    }
    return tap_done();
}
