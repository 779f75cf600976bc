/*
 * Implements text_rows.h with the masks of text_line.h: counting the starts of fields finds the
 * wanted fields of a line in ascending order; fields numbered from the end of the line are found
 * backwards from there.
 *
 * CPU time of a whole run over 214 MB of a web log in the page cache, with one field, and also with
 * weights in the next field: 0.049 and 0.062 s (Zen 4).
 */
#include "config.h"

#include "text/text_rows.h"

#include "text/pattern.h"
#include "text/row_scanner.h"
#include "text/text_line.h"
#include "text/text_number.h"

#include <stdlib.h>

/* Maximum length of a joined timestamp; only --time-format and blanks make longer ones. */
#define TEXT_ROWS_JOINED_MAX 512

/* Maximum length of a string of TEXT_BYTES_MAX bytes if each is an escape. */
#define TEXT_ROWS_ESCAPED_BYTES (6 * TEXT_BYTES_MAX)

struct text_rows_scratch {
    struct pattern *patterns[TEXT_COLUMNS_MAX]; /* each condition's, owned; NULL: it has none */
    char text[TEXT_ROWS_ESCAPED_BYTES];
    _Alignas(max_align_t) char scan[]; /* [scan_bytes], the row scanner's scan */
};

/* A field that is wanted in every line; several columns may use it. */
struct text_rows_field {
    struct text_rules rules;
    size_t begin;    /* the start of the field in the current line */
    size_t end;      /* the end of the field; SIZE_MAX: not found */
    bool is_escaped; /* it has escapes, which the scanner decodes */
    unsigned null;   /* 1: it says that a value is missing unless it is a string; 2: also then */
};

/* A column, and the form of its tokens. */
struct text_rows_column {
    size_t index; /* its index in the plan */
    const struct text_rows_field *field;
    const struct text_rows_field *half[2]; /* the fields that it joins; NULL: it has its own */
    struct text_rules rules;
    struct text_number_limits limits;
    uint64_t width;
    const struct column *of;
    bool is_number;                           /* its tokens are numbers without units */
    bool is_text;                             /* its values are strings */
    bool takes_dash;                          /* a dash is a value: of strings, or kinds to find */
    bool is_padded;                           /* blanks around its tokens are not part of them */
    bool has_cells;                           /* its fields are cells (text_rules.h) */
    bool has_tabs;                            /* vertical tabs are newlines (TEXT_ENDS_NUL_EXACT) */
    size_t key_bytes;                         /* size of a stored key */
    const struct predicate *condition;        /* its condition; NULL: its keys are stored */
    struct pattern *pattern;                  /* the pattern of the condition, or NULL */
    bool tests_missing;                       /* only missing values satisfy the condition */
    bool is_special;                          /* it joins fields, or tests_missing */
    bool is_refined;                          /* numbers: has a width, or its kind was found */
    const struct text_rows_column *next;      /* condition met: the column to read next */
    const struct text_rows_column *otherwise; /* not met: the same; NULL: the row does not count */
};

/* A call of the parser. */
struct text_rows_call {
    struct text_rows *rows;
    const struct row_scanner *scanner;
    size_t counted;                                   /* number of fields numbered from the left */
    size_t fields;                                    /* number of all fields */
    struct text_rows_field field[TEXT_COLUMNS_MAX];   /* [fields], ascending; -n are last */
    size_t columns;                                   /* number of columns */
    struct text_rows_column column[TEXT_COLUMNS_MAX]; /* [columns], conditions first */
};

bool text_rows_are_needed(const struct plan *plan)
{
    const struct column *first = &plan->columns[0];

    return plan_has_rows(plan) || first->name || row_scanners[plan->row_scanner]->names_columns ||
           first->width.units > 1 || first->notation > TEXT_OPAQUE ||
           first->field == TEXT_WHOLE_LINE || plan->skips_missing;
}

struct text_rows_scratch *text_rows_scratch_create(const struct plan *plan)
{
    struct text_rows_scratch *scratch =
        malloc(sizeof *scratch + row_scanners[plan->row_scanner]->scan_bytes);
    if (!scratch)
        return NULL;

    memset(scratch->patterns, 0, sizeof scratch->patterns);
    for (size_t i = 0; i < plan->condition_count; i++) {
        const struct predicate *condition = &plan->conditions[i];
        if (condition->relation != PREDICATE_MATCHES)
            continue;
        scratch->patterns[i] = pattern_create(condition->strings->data);
        if (!scratch->patterns[i]) {
            text_rows_scratch_destroy(scratch);
            return NULL;
        }
    }
    return scratch;
}

void text_rows_scratch_destroy(struct text_rows_scratch *scratch)
{
    for (size_t i = 0; scratch && i < TEXT_COLUMNS_MAX; i++)
        pattern_destroy(scratch->patterns[i]);
    free(scratch);
}

/* Adds the field of these rules to the wanted fields. */
static void text_rows_want(struct text_rows_call *call, const struct text_rules *rules)
{
    const int32_t wanted = rules->field;
    size_t at = 0;

    for (int32_t field; at < call->fields; at++) {
        field = call->field[at].rules.field;
        if ((field < 0) != (wanted < 0) ? field < 0 : field >= wanted)
            break; /* fields from the right are last */
    }
    if (at < call->fields && call->field[at].rules.field == wanted)
        return;
    memmove(&call->field[at + 1], &call->field[at], (call->fields++ - at) * sizeof call->field[0]);
    call->field[at] = (struct text_rows_field){.rules = *rules};
    call->counted += wanted > 0;
}

/* Returns the wanted field with that number. */
static const struct text_rows_field *text_rows_wanted(const struct text_rows_call *call,
                                                      int32_t number)
{
    const struct text_rows_field *field = call->field;

    while (field->rules.field != number)
        field++;
    return field;
}

/* Links each condition to the next one, the next alternative, or the stored columns. */
static void text_rows_link(struct text_rows_call *call, size_t conditions)
{
    const struct text_rows_column *otherwise = NULL;

    for (size_t i = conditions; i-- > 0;) {
        struct text_rows_column *column = &call->column[i];
        const bool is_last = i + 1 == conditions || column[1].condition->is_alternative;
        column->next = is_last ? &call->column[conditions] : column + 1;
        column->otherwise = otherwise;
        if (column->condition->is_alternative)
            otherwise = column;
    }
}

/* Prepares a call: the fields in order, each once, and the columns in the order of reading. */
static void text_rows_prepare(struct text_rows_call *call, struct text_rows *rows)
{
    const struct plan *plan = rows->plan;
    const size_t count = plan_column_count(plan);
    const size_t conditions = plan_condition_column(plan);
    const struct row_scanner *scanner = row_scanners[plan->row_scanner];

    call->rows = rows;
    call->scanner = scanner;
    call->fields = call->counted = 0;
    call->columns = count;
    for (size_t i = 0; i < count; i++) {
        const size_t index = (conditions + i) % count;
        const struct column *of = &plan->columns[index];
        struct text_rows_column *column = &call->column[i];
        *column = (struct text_rows_column){
            .index = index,
            .rules = plan_column_rules(plan, rows->rules, index),
            .width = of->width.units,
            .of = of,
            .is_number = of->notation < TEXT_OPAQUE,
            .is_text = element_is_string(&of->element),
            .key_bytes = plan_key_bytes(plan, index),
            .condition = index >= conditions ? &plan->conditions[index - conditions] : NULL,
        };
        column->takes_dash = column->is_text || of->find;
        if (column->condition) {
            column->pattern = rows->scratch->patterns[index - conditions];
            column->tests_missing = column->condition->is_of_missing;
        }
        column->is_padded =
            !column->is_text && (column->rules.delimiter != TEXT_NO_DELIMITER ||
                                 column->rules.field == TEXT_WHOLE_LINE || scanner->names_columns);
        column->has_tabs = column->is_text && rows->row_end == TEXT_ENDS_NUL_EXACT;
        column->has_cells = scanner->names_columns || column->rules.field == TEXT_WHOLE_LINE ||
                            text_has_cells(&column->rules);
        if (column->is_number)
            column->limits = text_number_limits(of->element);
        if (column->rules.from_zero)
            column->limits = (struct text_number_limits){{INT64_MAX, 0}, of->element.bytes};
        text_rows_want(call, &column->rules);
        for (size_t half = of->half; half > 0 && half < of->half + 2; half++) {
            const struct text_rules rules = plan_column_rules(plan, rows->rules, half);
            if (rules.field != 0) /* 0: the header has the joined name */
                text_rows_want(call, &rules);
        }
    }
    text_rows_link(call, plan->condition_count);
    for (size_t i = 0; i < count; i++) {
        struct text_rows_column *column = &call->column[i];
        const size_t half = column->of->half;
        column->field = text_rows_wanted(call, column->rules.field);
        column->is_special = half > 0 || column->tests_missing;
        column->is_refined = column->width > 1 || column->rules.is_found;
        for (size_t k = 0; half > 0 && k < 2; k++) {
            const int32_t number = text_rules_field(rows->rules, half + k);
            column->half[k] = number != 0 ? text_rows_wanted(call, number) : NULL;
        }
    }
}

/* The presence of a column's value in a row. */
enum text_rows_presence {
    TEXT_ROWS_PRESENT,
    TEXT_ROWS_TOO_SHORT, /* invalid: the line has too few fields */
    TEXT_ROWS_ABSENT,    /* missing: the row lacks the column */
    TEXT_ROWS_EMPTY,     /* missing: the field is empty, or a placeholder */
};

static bool text_rows_is_missing(enum text_rows_presence presence)
{
    return presence >= TEXT_ROWS_ABSENT;
}

/* Adds an invalid token of the row; or counts the row, if missing values are skipped. */
static void text_rows_add_invalid(struct text_rows *rows, size_t column, size_t begin, size_t end,
                                  enum text_rows_presence presence)
{
    if (text_rows_is_missing(presence) && rows->plan->skips_missing) {
        rows->missing += rows->last_missing != rows->offset;
        rows->last_missing = rows->offset;
        return;
    }
    rows->invalid[rows->invalid_count++] = (struct text_token){
        .offset = begin,
        .bytes = end - begin,
        .column = column,
        .is_missing = presence == TEXT_ROWS_TOO_SHORT || presence == TEXT_ROWS_ABSENT,
        .is_empty = presence == TEXT_ROWS_EMPTY,
    };
}

/* A token: a field without enclosing quotes and blanks. */
struct text_rows_token {
    size_t begin; /* the start of the token in the data */
    size_t end;
    size_t line_end; /* if blanks separate fields, a timestamp may extend to here */
    bool is_escaped; /* its field has escapes, or in CSV doubled quotes */
    bool is_cell;    /* it must fill its field (kind_time.h) */
};

/*
 * Returns the bytes of a token, and stores their number: in the data, or in `scratch` if escapes or
 * the reader have changed them, with the original bytes. NULL if there are too many.
 */
static const char *text_rows_find_text(const struct text_rows *rows,
                                       const struct text_rows_column *column,
                                       const struct text_rows_token *token, size_t *bytes)
{
    const char *data = rows->data + token->begin;

    *bytes = token->end - token->begin;
    if (!token->is_escaped && !column->has_tabs)
        return *bytes <= TEXT_BYTES_MAX ? data : NULL;
    if (*bytes > TEXT_ROWS_ESCAPED_BYTES)
        return NULL;
    if (token->is_escaped) {
        *bytes = row_scanners[rows->plan->row_scanner]->decode(data, *bytes, rows->scratch->text);
        data = rows->scratch->text;
    }
    for (size_t i = 0; i < *bytes && column->has_tabs; i++)
        rows->scratch->text[i] = (char)(data[i] == '\v' ? '\n' : data[i] == '\0' ? '\v' : data[i]);
    return *bytes <= TEXT_BYTES_MAX ? rows->scratch->text : NULL;
}

/*
 * Reads a token of a column that is not `is_number`, and stores its key; or for a string with a
 * condition, whether it meets that. Returns false if the token is invalid.
 */
static bool text_rows_read_kind(struct text_rows *rows, const struct text_rows_column *column,
                                const struct text_rows_token *token, uint64_t key[2])
{
    const struct kind *kind = &kind_rows[column->of->element.kind];
    struct kind_text text = {
        .is_cell = token->is_cell,
        .more = token->is_cell ? 0 : token->line_end - token->end,
        .guesses = &rows->guesses,
    };
    uint32_t id = 0;

    key[0] = 0;
    if (column->of->notation <= TEXT_NOTHING) /* opaque: only the token's place is wanted */
        return column->of->notation == TEXT_NOTHING;
    text.data = text_rows_find_text(rows, column, token, &text.bytes);
    if (!text.data)
        return false;
    if (kind->parse)
        return kind->parse(column->of, &text, key) &&
               (!column->rules.from_zero || key[0] <= INT64_MAX);
    if (column->pattern) {
        bool is_match = false;
        rows->status =
            pattern_search(column->pattern, text.data, text.bytes, &is_match, &rows->failure);
        key[0] = is_match != column->condition->negated;
        return true;
    }
    if (column->condition) {
        key[0] = predicate_holds_text(column->condition, text.data, text.bytes);
        return true;
    }
    if (rows->strings)
        rows->status = dictionary_find(rows->strings, text.data, text.bytes, &id, &rows->failure);
    key[0] = id;
    return true;
}

/* Reads a token of a column. Returns false if it is invalid. */
TEXT_INLINE bool text_rows_read_token(enum cpu_isa isa, struct text_rows *rows,
                                      const struct text_rows_column *column,
                                      const struct text_rows_token *token, uint64_t key[2])
{
    struct text_number number;
    const char *data = rows->data;
    size_t begin = token->begin;
    size_t end = token->end;

    if (__builtin_expect(!column->is_number, false))
        return text_rows_read_kind(rows, column, token, key);
    if (__builtin_expect(token->is_escaped, false)) {
        data = text_rows_find_text(rows, column, token, &end);
        begin = 0;
        if (!data)
            return false;
    }
    if (!text_number_read(isa, &column->rules, data, begin, end, &number) ||
        number.magnitude > column->limits.magnitude[number.is_negative])
        return false;
    key[0] = number.is_negative ? -number.magnitude : number.magnitude;
    if (__builtin_expect(!column->is_refined, true))
        return true;
    return text_number_is_plain(&column->rules, data, begin, end, &number) &&
           (column->width <= 1 ||
            (column_floor(key, column->width, column->of->element.is_signed) &&
             (!number.is_negative || -key[0] <= column->limits.magnitude[true])));
}

/* Finds the token of a field of a line; a missing token is at the end of its line. */
TEXT_INLINE enum text_rows_presence text_rows_find(bool is_quoted, const struct text_rows *rows,
                                                   const struct text_rows_column *column,
                                                   const struct text_rows_field *field,
                                                   size_t line_end, struct text_rows_token *token)
{
    const char *data = rows->data;
    const bool is_found = field->end != SIZE_MAX;

    *token = (struct text_rows_token){
        .begin = is_found ? field->begin : line_end,
        .end = is_found ? field->end : line_end,
        .line_end = line_end,
        .is_escaped = field->is_escaped,
        .is_cell = column->has_cells,
    };
    if (is_quoted && field->rules.field != TEXT_WHOLE_LINE && token->begin < token->end &&
        data[token->begin] == '"') {
        token->begin++;
        token->end--;
        token->is_cell = true;
        token->is_escaped =
            column->is_text && memchr(data + token->begin, '"', token->end - token->begin);
    }
    if (column->is_padded)
        text_line_trim(data, &token->begin, &token->end);
    if (__builtin_expect(!is_found, false))
        return row_scanners[rows->plan->row_scanner]->names_columns ? TEXT_ROWS_ABSENT
                                                                    : TEXT_ROWS_TOO_SHORT;
    const bool is_empty = token->begin == token->end && !column->is_text;
    return __builtin_expect(field->null > column->takes_dash || is_empty, false)
               ? TEXT_ROWS_EMPTY
               : TEXT_ROWS_PRESENT;
}

/* Like text_rows_read, but reads the timestamp that two fields of a line form. */
__attribute__((noinline)) static bool text_rows_read_joined(struct text_rows *rows,
                                                            const struct text_rows_column *column,
                                                            size_t line_end, uint64_t key[2])
{
    char joined[TEXT_ROWS_JOINED_MAX];
    struct text_rows_token tokens[2];
    enum text_rows_presence presence = TEXT_ROWS_PRESENT; /* else that of the first missing field */
    size_t missing = 0;                                   /* the column of that field; 0: none */
    size_t length = 0;
    bool is_time = true; /* false if it is longer than the buffer */

    for (size_t i = 0; i < 2; i++) {
        const enum text_rows_presence found = text_rows_find(rows->rules->is_quoted, rows, column,
                                                             column->half[i], line_end, &tokens[i]);
        const bool is_found = found == TEXT_ROWS_PRESENT;
        presence = presence == TEXT_ROWS_PRESENT ? found : presence;
        missing = is_found || missing > 0 ? missing : column->of->half + i;
        size_t bytes = 0;
        const char *text = is_found ? text_rows_find_text(rows, column, &tokens[i], &bytes) : NULL;
        is_time = is_time && text && bytes < sizeof joined - length;
        if (!is_time)
            continue;
        if (i == 1)
            joined[length++] = ' ';
        memcpy(joined + length, text, bytes);
        length += bytes;
    }
    if (column->tests_missing && presence != TEXT_ROWS_TOO_SHORT) {
        key[0] = text_rows_is_missing(presence) != column->condition->negated;
        return true;
    }
    const struct kind_text both = {
        .data = joined,
        .bytes = length,
        .is_cell = column->has_cells,
        .is_joined = true,
        .guesses = &rows->guesses,
    };
    if (is_time && kind_rows[column->of->element.kind].parse(column->of, &both, key))
        return true;
    const size_t at = missing > column->of->half; /* the invalid or missing token */
    text_rows_add_invalid(rows, column->index, tokens[missing > 0 ? at : 0].begin,
                          tokens[missing > 0 ? at : 0].end, presence);
    if (text_rows_is_missing(presence) && rows->plan->skips_missing)
        return false;
    struct text_token *invalid = &rows->invalid[rows->invalid_count - 1];
    invalid->half = missing;
    invalid->is_joined = missing == 0;
    invalid->second_offset = tokens[1].begin;
    invalid->second_bytes = tokens[1].end - tokens[1].begin;
    return false;
}

/*
 * Reads the field of a column of a line whose content ends at line_end. Returns false, and adds the
 * token, if it is invalid.
 */
TEXT_INLINE bool text_rows_read(enum cpu_isa isa, bool is_quoted, struct text_rows_call *call,
                                const struct text_rows_column *column, size_t line_end,
                                uint64_t key[2])
{
    struct text_rows *rows = call->rows;
    struct text_rows_token token;

    const enum text_rows_presence presence =
        text_rows_find(is_quoted, rows, column, column->field, line_end, &token);
    if (__builtin_expect(column->is_special, false)) {
        if (column->half[0] && column->of->notation != TEXT_NOTHING &&
            (!call->scanner->names_columns || column->field->end == SIZE_MAX))
            return text_rows_read_joined(rows, column, line_end, key);
        if (column->tests_missing && presence != TEXT_ROWS_TOO_SHORT) {
            key[0] = (text_rows_is_missing(presence) || token.begin == token.end) !=
                     column->condition->negated;
            return true;
        }
    }
    if ((presence == TEXT_ROWS_PRESENT || column->of->notation == TEXT_NOTHING) &&
        text_rows_read_token(isa, rows, column, &token, key))
        return true;
    text_rows_add_invalid(rows, column->index, token.begin, token.end, presence);
    return false;
}

/* Returns whether the key of a column meets its condition. */
TEXT_INLINE bool text_rows_meets(const struct text_rows_column *column, const uint64_t key[2])
{
    if (column->is_text || column->tests_missing)
        return key[0] != 0;
    if (element_is_wide(&column->of->element))
        return predicate_holds_address(column->condition,
                                       element_address((struct kind_ip){key[0], key[1]}));
    return predicate_holds(column->condition, key[0]);
}

/* Reads the columns of a line. Returns TEXT_END to continue with the next line. */
TEXT_INLINE enum text_event text_rows_take(enum cpu_isa isa, bool is_quoted,
                                           struct text_rows_call *call, size_t line_end)
{
    struct text_rows *rows = call->rows;
    const size_t values = rows->plan->value_count;
    const struct text_rows_column *const end = call->column + call->columns;
    uint64_t nulls = 0;

    for (const struct text_rows_column *column = call->column; column < end;) {
        uint64_t key[2];
        if (!text_rows_read(isa, is_quoted, call, column, line_end, key)) {
            nulls |= (uint64_t)1 << column->index;
            if (values == 1 || column->index >= values)
                return rows->invalid_count > 0 ? TEXT_INVALID : TEXT_END;
            column++;
        } else if (__builtin_expect(rows->status != STATUS_OK, false)) {
            return TEXT_INVALID;
        } else if (!column->condition) {
            char *to = (char *)rows->keys[column->index] + rows->count * column->key_bytes;
            if (column->key_bytes == sizeof key)
                memcpy(to, key, sizeof key);
            else
                element_store(to, key[0], column->key_bytes);
            column++;
        } else if (text_rows_meets(column, key)) {
            rows->met |= (uint64_t)1 << (column - call->column);
            column = column->next;
        } else if (column->otherwise) {
            column = column->otherwise;
        } else {
            return TEXT_END;
        }
    }
    if (values > 1)
        rows->nulls[rows->count] = nulls;
    rows->count += nulls == 0 || nulls != UINT64_MAX >> (64 - values);
    return rows->invalid_count == 0 ? TEXT_END : TEXT_INVALID;
}

/*
 * Returns the column whose field begins at data[begin], in the line's content data[line..end); 0
 * also if it is not a column of the plan.
 */
__attribute__((noinline)) static size_t text_rows_column_at(const struct text_rows_call *call,
                                                            size_t line, size_t end, size_t begin)
{
    const char *data = call->rows->data + line;
    struct text_field field = {.begin = SIZE_MAX};
    int64_t number = 0;
    size_t found = SIZE_MAX;

    for (size_t offset = 0; line + field.begin != begin &&
                            text_line_next(call->rows->rules, data, end - line, &offset, &field);)
        number++;
    for (size_t i = 0; i < call->columns; i++) {
        const struct text_rows_column *column = &call->column[i];
        if (column->rules.field == number && column->index < found)
            found = column->index;
    }
    return found == SIZE_MAX ? 0 : found;
}

/* Ends a line at `newline`. Returns TEXT_END to continue with the next line. */
TEXT_INLINE enum text_event text_rows_finish(enum cpu_isa isa, bool is_quoted,
                                             struct text_rows_call *call, size_t begin,
                                             bool is_wrong, bool has_ordinary, uint64_t fields,
                                             size_t newline)
{
    struct text_rows *rows = call->rows;
    const char *data = rows->data;
    const int32_t wanted_fields = rows->rules->columns;
    size_t end = text_line_content_end(data, begin, newline);

    if (text_line_is_blanks(data, begin, end))
        return TEXT_END;
    if (rows->count == rows->capacity) {
        rows->offset = begin;
        return TEXT_FULL;
    }
    rows->offset = newline < rows->bytes ? newline + 1 : rows->bytes;
    if (is_wrong) {
        const size_t line = begin;
        begin = text_line_find_wrong(rows->rules, data, begin, end);
        const size_t column = text_rows_column_at(call, line, end, begin);
        text_line_trim(data, &begin, &end);
        text_rows_add_invalid(rows, column, begin, end, TEXT_ROWS_PRESENT);
        return TEXT_INVALID;
    }
    if (wanted_fields > 0 && fields != (uint64_t)wanted_fields) {
        text_rows_add_invalid(rows, 0, end, end, TEXT_ROWS_PRESENT);
        return TEXT_INVALID;
    }
    for (size_t i = call->counted; i < call->fields; i++) {
        struct text_rows_field *field = &call->field[i];
        field->begin = begin;
        field->end = end;
        if (field->rules.field != TEXT_WHOLE_LINE &&
            !text_line_find_last(data, &field->rules, is_quoted, has_ordinary, &field->begin,
                                 &field->end))
            field->end = SIZE_MAX;
    }
    return text_rows_take(isa, is_quoted, call, end);
}

TEXT_INLINE enum text_event text_rows_search(enum cpu_isa isa, bool is_quoted,
                                             struct text_rows_call *call)
{
    struct text_rows *rows = call->rows;
    const int delimiter = rows->rules->delimiter;
    struct text_quotes carry = TEXT_QUOTES_NONE;
    size_t begin = rows->offset;                /* the start of the line */
    bool is_wrong = false;                      /* the line has wrong quotes */
    bool has_ordinary = false;                  /* the line has ordinary quotes (text_quotes.h) */
    uint64_t fields = 0;                        /* number of fields of the line so far */
    struct text_rows_field *next = call->field; /* the first field that is not found */
    const struct text_rows_field *const counted = call->field + call->counted;
    bool is_open = false; /* the end of the field before `next` is not found */

    for (size_t at = begin; begin < rows->bytes; at += TEXT_BLOCK) {
        uint64_t begins = carry.begins;
        struct text_ends found =
            text_line_find_ends(isa, is_quoted, rows->data, rows->bytes, delimiter, at, &carry);
        uint64_t breaks = found.newlines | found.separators;
        uint64_t ends = breaks | found.returns;
        uint64_t rest = UINT64_MAX; /* the bytes that are not searched yet */
        begins |= breaks << 1;
        if (delimiter == TEXT_NO_DELIMITER)
            begins &= ~ends;
        carry.begins = breaks >> 63;
        while (begin < rows->bytes) {
            uint64_t newlines = found.newlines & rest;
            uint64_t line = rest & (newlines ^ (newlines - 1)); /* the line's bytes of the block */
            uint64_t line_begins = begins & line;
            uint64_t line_ends = ends & line;
            uint64_t before = fields;
            fields += (uint64_t)__builtin_popcountll(line_begins);
            if (is_open && line_ends) {
                next[-1].end = at + text_block_first(line_ends);
                is_open = false;
            }
            for (; next < counted && (uint64_t)next->rules.field <= fields; next++) {
                struct text_rows_field *field = next;
                for (; before + 1 < (uint64_t)field->rules.field; before++)
                    line_begins &= line_begins - 1;
                unsigned first = text_block_first(line_begins);
                line_ends &= UINT64_MAX << first;
                field->begin = at + first;
                field->end = line_ends ? at + text_block_first(line_ends) : SIZE_MAX;
                is_open = line_ends == 0;
            }
            is_wrong |= (found.wrong & line) != 0;
            has_ordinary |= (found.ordinary & line) != 0;
            if (!newlines)
                break;
            size_t newline = at + text_block_first(newlines);
            for (; next < counted; next++)
                next->end = SIZE_MAX;
            enum text_event event = text_rows_finish(isa, is_quoted, call, begin, is_wrong,
                                                     has_ordinary, fields, newline);
            if (event != TEXT_END)
                return event;
            rest &= ~(newlines ^ (newlines - 1));
            begin = newline + 1;
            is_wrong = has_ordinary = is_open = false;
            fields = 0;
            next = call->field;
        }
    }
    rows->offset = rows->bytes;
    return TEXT_END;
}

/* Reads the rows that a scan finds. */
TEXT_INLINE enum text_event text_rows_scan(enum cpu_isa isa, struct text_rows_call *call)
{
    const struct row_scanner *scanner = call->scanner;
    struct text_rows *rows = call->rows;
    void *scan = rows->scratch->scan;
    struct row row;

    if (rows->offset == 0)
        scanner->begin(scan, rows->plan->wanted, rows->data, rows->bytes);
    while (rows->count < rows->capacity) {
        const enum row_event found = scanner->next(scan, &row);
        if (found == ROW_END) {
            rows->offset = rows->bytes;
            return TEXT_END;
        }
        rows->offset = row.end;
        if (found == ROW_INVALID) {
            text_rows_add_invalid(rows, 0, row.begin, row.end, TEXT_ROWS_PRESENT);
            rows->invalid[0].fault = row.fault;
            return TEXT_INVALID;
        }
        for (size_t i = 0; i < call->fields; i++) {
            struct text_rows_field *field = &call->field[i];
            const struct row_value *value = &row.values[field->rules.field - 1];
            field->is_escaped = value->kind == ROW_ESCAPED;
            field->null = value->kind == ROW_NULL ? 2 : value->kind == ROW_DASH;
            field->begin = value->offset;
            field->end = value->kind == ROW_MISSING ? SIZE_MAX : value->offset + value->bytes;
        }
        const enum text_event event = text_rows_take(isa, false, call, row.end);
        if (event != TEXT_END)
            return event;
    }
    return TEXT_FULL;
}

/* The loop for each instruction set, once for quoted parts and once for others. */
#define TEXT_ROWS_WRAP(isa, target, ...)                                                          \
    target TEXT_FLATTEN static enum text_event text_rows_parse_##isa(struct text_rows_call *call) \
    {                                                                                             \
        if (call->scanner->names_columns)                                                         \
            return text_rows_scan((enum cpu_isa)TEXT_ISA_##isa, call);                            \
        if (call->rows->rules->is_quoted)                                                         \
            return text_rows_search((enum cpu_isa)TEXT_ISA_##isa, true, call);                    \
        return text_rows_search((enum cpu_isa)TEXT_ISA_##isa, false, call);                       \
    }
CPU_ISA_VARIANTS(TEXT_ROWS_WRAP, )
#define TEXT_ROWS_ENTRY(isa, target, ...) text_rows_parse_##isa,

enum text_event text_rows_parse(struct text_rows *rows)
{
    static enum text_event (*const functions[CPU_ISA_COUNT])(struct text_rows_call *) = {
        CPU_ISA_VARIANTS(TEXT_ROWS_ENTRY, )};
    struct text_rows_call call;

    text_rows_prepare(&call, rows);
    rows->count = 0;
    rows->invalid_count = 0;
    return functions[cpu_isa_best()](&call);
}
