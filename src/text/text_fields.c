/*
 * Parses fields of lines. The masks of a block say where lines end, and where their parts (between
 * delimiters) or words (between blanks) begin and end. A field far from the start of its line is
 * found by counting bits of masks, not by looking at each byte before it.
 *
 * GB/s on one core, with AVX-512, data in L2:
 *
 *   lines                         field        GB/s
 *   web log, 165 bytes            word 9       7.9 (plain code 1.5)
 *                                 word -3      6.6
 *   six numbers of 3 digits       part 3       2.1
 *                                 part -2      2.0
 *                                 every part   0.7
 *
 * GB/s of a whole run on one core from the page cache, lines of 7 parts, with quotes allowed
 * (text_quotes.h) and without (-d alone):
 *
 *   lines                         allowed      part 4   part -3
 *   75 bytes, none quoted         no           3.7
 *                                 yes          3.4      1.6
 *   85 bytes, 3 parts quoted      yes          3.1      1.6
 *
 * A call stops at the start of a line, or if every part is a value, also after a delimiter. The
 * last line may lack its newline. A call that has parsed that line may set *offset to one byte
 * after the text.
 */
#include "config.h"

#include "text/text_internal.h"
#include "text/text_number.h"
#include "text/text_quotes.h"

/* A column: how its values are written, and where they are stored. */
struct text_column {
    struct text_number_limits limits;
    const struct text_rules *rules;
    char *values;
};

/* A call of the parser: its arguments, and the values of each column stored so far. */
struct text_call {
    struct text_column first;
    struct text_column second; /* of pairs */
    const char *data;
    size_t bytes;
    size_t *offset;
    size_t room;
    size_t stored;
    struct text_token *invalid;
};

TEXT_INLINE bool text_fields_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Trims the blanks at both ends of data[*begin..*end). */
TEXT_INLINE void text_fields_trim(const char *data, size_t *begin, size_t *end)
{
    while (*begin < *end && text_fields_is_blank(data[*begin]))
        ++*begin;
    while (*begin < *end && text_fields_is_blank(data[*end - 1]))
        --*end;
}

/*
 * Puts the value at data[begin..end), without quotes and blanks around it, behind those stored, and
 * sets *offset to `next`, where parsing continues. There must be room. Returns false, and sets
 * *invalid, if it is not a value.
 */
TEXT_INLINE bool text_fields_take(enum cpu_isa isa, bool is_quoted, const struct text_call *call,
                                  const struct text_column *column, size_t begin, size_t end,
                                  size_t next)
{
    const char *data = call->data;
    struct text_number number;

    *call->offset = next;
    if (is_quoted && begin < end && data[begin] == '"') {
        begin++;
        end--;
    }
    text_fields_trim(data, &begin, &end);
    if (begin < end && text_number_read(isa, column->rules, data, begin, end, &number) &&
        number.magnitude <= column->limits.magnitude[number.is_negative]) {
        char *place = column->values + call->stored * column->limits.bytes;
        element_store(place, number.is_negative ? -number.magnitude : number.magnitude,
                      column->limits.bytes);
        return true;
    }
    *call->invalid = (struct text_token){.offset = begin, .bytes = end - begin};
    return false;
}

/* The end of a line's content: without the carriage return before the newline, if there is one. */
TEXT_INLINE size_t text_fields_content_end(const char *data, size_t begin, size_t newline)
{
    return newline - (newline > begin && data[newline - 1] == '\r');
}

/* The newline of the line that goes on at `at`, or the end of the text. */
static size_t text_fields_line_end(const struct text_call *call, size_t at)
{
    const char *newline = at < call->bytes ? memchr(call->data + at, '\n', call->bytes - at) : NULL;
    return newline ? (size_t)(newline - call->data) : call->bytes;
}

/*
 * Sets *invalid for a line with wrong quotes. The parts before `begin` are right. Parsing continues
 * at `next`. Not inlined: wrong quotes are rare.
 */
__attribute__((noinline)) static enum text_event text_fields_refuse(struct text_call *call,
                                                                    size_t begin, size_t newline,
                                                                    size_t next)
{
    const char *data = call->data;
    size_t end = text_fields_content_end(data, begin, newline);

    begin = text_quotes_find_wrong(data, (char)call->first.rules->delimiter, begin, end);
    text_fields_trim(data, &begin, &end);
    *call->offset = next;
    *call->invalid = (struct text_token){.offset = begin, .bytes = end - begin};
    return TEXT_INVALID;
}

/* Whether data[begin..end) holds only blanks. */
TEXT_INLINE bool text_fields_are_blanks(const char *data, size_t begin, size_t end)
{
    while (begin < end && text_fields_is_blank(data[begin]))
        begin++;
    return begin == end;
}

/* Masks of the bytes of a block where lines and fields end. */
struct text_ends {
    uint64_t newlines;
    uint64_t returns;    /* carriage returns before newlines: they end a field, too */
    uint64_t separators; /* delimiters, or blanks between words */
    uint64_t wrong;      /* bytes that show wrong quotes (text_quotes.h) */
};

TEXT_INLINE struct text_ends text_fields_find(enum cpu_isa isa, bool is_quoted,
                                              const struct text_call *call, size_t at,
                                              struct text_quotes *carry)
{
    char copy[TEXT_BLOCK];
    const char *block = text_block_at(call->data, call->bytes, at, copy);
    size_t next = at + TEXT_BLOCK;
    uint64_t newline_next = next >= call->bytes || call->data[next] == '\n';
    struct text_ends ends = {.newlines = text_block_equal(isa, block, '\n')};

    ends.returns = text_block_equal(isa, block, '\r') & (ends.newlines >> 1 | newline_next << 63);
    if (call->first.rules->delimiter == TEXT_NO_DELIMITER)
        ends.separators = text_block_equal(isa, block, ' ') | text_block_equal(isa, block, '\t');
    else
        ends.separators =
            text_block_equal(isa, block, (char)call->first.rules->delimiter) & ~ends.returns;
    if (is_quoted)
        ends.wrong =
            text_quotes_find(isa, block, ends.newlines, ends.returns, &ends.separators, carry);
    return ends;
}

/* --- a field from the end of a line ----------------------------------------------------------- */

/*
 * Finds the n-th word from the end of the line content [*begin, *end), and stores its bounds there.
 * Returns false if there are fewer words.
 */
TEXT_INLINE bool text_fields_last_word(const char *data, uint64_t n, size_t *begin, size_t *end)
{
    const size_t line = *begin;

    *begin = *end;
    do {
        *end = *begin;
        while (*end > line && text_fields_is_blank(data[*end - 1]))
            --*end;
        *begin = *end;
        while (*begin > line && !text_fields_is_blank(data[*begin - 1]))
            --*begin;
    } while (*begin < *end && --n > 0);
    return *begin < *end;
}

/* The same for parts between delimiters. The line has no wrong quotes. */
TEXT_INLINE bool text_fields_last_part(const char *data, bool is_quoted, char delimiter, uint64_t n,
                                       size_t *begin, size_t *end)
{
    const size_t line = *begin;

    *begin = *end;
    for (;;) {
        bool is_inside = false;
        while (*begin > line && (data[*begin - 1] != delimiter || is_inside))
            is_inside ^= data[--*begin] == '"' && is_quoted;
        if (--n == 0)
            return true;
        if (*begin == line)
            return false;
        *end = --*begin;
    }
}

/* The same for a column's field, a word or a part. */
TEXT_INLINE bool text_fields_find_last(const char *data, const struct text_rules *rules,
                                       bool is_quoted, size_t *begin, size_t *end)
{
    uint64_t n = (uint64_t) - (int64_t)rules->field;

    if (rules->delimiter == TEXT_NO_DELIMITER)
        return text_fields_last_word(data, n, begin, end);
    return text_fields_last_part(data, is_quoted, (char)rules->delimiter, n, begin, end);
}

/* --- field n ---------------------------------------------------------------------------------- */

/* A field that is searched in a line. */
struct text_wanted {
    uint64_t left; /* fields that begin up to and including the wanted one; 0: it is found */
    size_t begin;
    size_t end; /* SIZE_MAX: not found */
};

/* The line that is searched for its field, or for two. */
struct text_line {
    size_t begin;
    bool is_wrong; /* it has wrong quotes */
    struct text_wanted first;
    struct text_wanted second; /* of pairs */
};

/* The line at `begin`, not searched yet. A negative field is never found by counting. */
TEXT_INLINE struct text_line text_fields_start(const struct text_call *call, bool is_pair,
                                               size_t begin)
{
    struct text_line line = {.begin = begin};

    line.first = (struct text_wanted){(uint64_t)call->first.rules->field, 0, SIZE_MAX};
    if (is_pair)
        line.second = (struct text_wanted){(uint64_t)call->second.rules->field, 0, SIZE_MAX};
    return line;
}

/* The index of the set bit that has `rank` set bits below it. */
TEXT_INLINE unsigned text_fields_select(uint64_t mask, uint64_t rank)
{
    while (rank-- > 0)
        mask &= mask - 1;
    return text_block_first(mask);
}

/*
 * Searches the line's part of the block at `at`, given the masks of the fields that begin and end
 * there.
 */
TEXT_INLINE void text_fields_scan(struct text_wanted *field, size_t at, uint64_t begins,
                                  uint64_t ends)
{
    if (field->left > 0) {
        uint64_t fields = (uint64_t)__builtin_popcountll(begins);
        if (fields < field->left) {
            field->left -= fields;
            return;
        }
        unsigned first = text_fields_select(begins, field->left - 1);
        field->left = 0;
        field->begin = at + first;
        ends &= UINT64_MAX << first;
    }
    if (field->end == SIZE_MAX && ends)
        field->end = at + text_block_first(ends);
}

/* text_fields_take for a field; a missing one is 0 bytes at `end`, that of the line's content. */
TEXT_INLINE bool text_fields_take_wanted(enum cpu_isa isa, bool is_quoted,
                                         const struct text_call *call,
                                         const struct text_column *column,
                                         const struct text_wanted *field, size_t end, size_t next)
{
    if (field->left > 0)
        return text_fields_take(isa, is_quoted, call, column, end, end, next);
    return text_fields_take(isa, is_quoted, call, column, field->begin, field->end, next);
}

/*
 * Finds a pair's field that is numbered from the end of the line content data[begin..end). Not
 * inlined: it is the same in all instruction sets.
 */
__attribute__((noinline)) static void text_fields_search_last(const char *data,
                                                              const struct text_rules *rules,
                                                              size_t begin, size_t end,
                                                              struct text_wanted *field)
{
    bool found = text_fields_find_last(data, rules, rules->is_quoted, &begin, &end);

    *field = (struct text_wanted){!found, begin, end};
}

/*
 * Stores the field, or the pair, of a line that ends at `newline`, unless it has another number of
 * fields than the rules say. Returns TEXT_END to go on with
 * the next line.
 */
TEXT_INLINE enum text_event text_fields_finish(enum cpu_isa isa, bool is_quoted, bool is_pair,
                                               bool is_miscounted, struct text_call *call,
                                               struct text_line *line, size_t newline)
{
    size_t next = newline < call->bytes ? newline + 1 : call->bytes;
    size_t end = text_fields_content_end(call->data, line->begin, newline);

    if (text_fields_are_blanks(call->data, line->begin, end))
        return TEXT_END;
    if (call->stored == call->room) {
        *call->offset = line->begin;
        return TEXT_FULL;
    }
    if (line->is_wrong)
        return text_fields_refuse(call, line->begin, newline, next);
    if (is_miscounted) {
        *call->offset = next;
        *call->invalid = (struct text_token){.offset = end};
        return TEXT_INVALID;
    }
    if (is_pair && call->first.rules->field < 0)
        text_fields_search_last(call->data, call->first.rules, line->begin, end, &line->first);
    if (is_pair && call->second.rules->field < 0)
        text_fields_search_last(call->data, call->second.rules, line->begin, end, &line->second);
    if (!text_fields_take_wanted(isa, is_quoted, call, &call->first, &line->first, end, next))
        return TEXT_INVALID;
    if (is_pair &&
        !text_fields_take_wanted(isa, is_quoted, call, &call->second, &line->second, end, next)) {
        call->invalid->is_second = true;
        return TEXT_INVALID;
    }
    call->stored++;
    return TEXT_END;
}

/*
 * Parses one field of each line; or of pairs two, of which each may be numbered from its end. If
 * `is_counted`, lines have as many fields as the rules say.
 */
TEXT_INLINE enum text_event text_fields_search(enum cpu_isa isa, bool is_quoted, bool is_pair,
                                               bool is_counted, struct text_call *call)
{
    const uint64_t columns = (uint64_t)call->first.rules->columns;
    struct text_line line = text_fields_start(call, is_pair, *call->offset);
    uint64_t fields = 0; /* that begin in the line, if they are counted */
    struct text_quotes carry = TEXT_QUOTES_NONE;

    for (size_t at = *call->offset; line.begin < call->bytes; at += TEXT_BLOCK) {
        uint64_t begins = carry.begins;
        struct text_ends found = text_fields_find(isa, is_quoted, call, at, &carry);
        uint64_t breaks = found.newlines | found.separators;
        uint64_t ends = breaks | found.returns;
        begins |= breaks << 1;
        if (call->first.rules->delimiter == TEXT_NO_DELIMITER)
            begins &= ~ends;
        uint64_t rest = UINT64_MAX; /* the bytes that are not searched yet */
        carry.begins = breaks >> 63;
        while (line.begin < call->bytes) {
            uint64_t newlines = found.newlines & rest;
            uint64_t upto = newlines ^ (newlines - 1); /* up to the newline; all if there is none */
            text_fields_scan(&line.first, at, begins & rest & upto, ends & rest & upto);
            if (is_pair)
                text_fields_scan(&line.second, at, begins & rest & upto, ends & rest & upto);
            if (is_counted)
                fields += (uint64_t)__builtin_popcountll(begins & rest & upto);
            line.is_wrong |= (found.wrong & rest & upto) != 0;
            if (!newlines)
                break;
            size_t newline = at + text_block_first(newlines);
            enum text_event event =
                text_fields_finish(isa, is_quoted, is_pair, is_counted && fields != columns, call,
                                   &line, newline);
            fields = 0;
            if (event != TEXT_END)
                return event;
            rest &= ~upto;
            line = text_fields_start(call, is_pair, newline + 1);
        }
    }
    *call->offset = call->bytes;
    return TEXT_END;
}

TEXT_INLINE enum text_event text_fields_nth(enum cpu_isa isa, bool is_quoted,
                                            struct text_call *call)
{
    return text_fields_search(isa, is_quoted, false, false, call);
}

TEXT_INLINE enum text_event text_fields_pair(enum cpu_isa isa, bool is_quoted,
                                             struct text_call *call)
{
    return text_fields_search(isa, is_quoted, true, false, call);
}

/* --- field -n --------------------------------------------------------------------------------- */

TEXT_INLINE enum text_event text_fields_last(enum cpu_isa isa, bool is_quoted,
                                             struct text_call *call)
{
    struct text_line line = {.begin = *call->offset};
    struct text_quotes carry = TEXT_QUOTES_NONE;

    for (size_t at = *call->offset; line.begin < call->bytes; at += TEXT_BLOCK) {
        struct text_ends found = text_fields_find(isa, is_quoted, call, at, &carry);
        uint64_t newlines = found.newlines;
        for (; newlines && line.begin < call->bytes; newlines &= newlines - 1) {
            size_t newline = at + text_block_first(newlines);
            line.is_wrong |= (found.wrong & (newlines ^ (newlines - 1))) != 0;
            line.first.begin = line.begin;
            line.first.end = text_fields_content_end(call->data, line.begin, newline);
            line.first.left = !text_fields_find_last(call->data, call->first.rules, is_quoted,
                                                     &line.first.begin, &line.first.end);
            enum text_event event =
                text_fields_finish(isa, is_quoted, false, false, call, &line, newline);
            if (event != TEXT_END)
                return event;
            line.begin = newline + 1;
        }
        line.is_wrong |= found.wrong != 0; /* the lines that ended in this block had none */
    }
    *call->offset = call->bytes;
    return TEXT_END;
}

/* --- every part ------------------------------------------------------------------------------- */

/*
 * The start of the first line that holds more than blanks, from the line at `begin` on; one behind
 * the text if there is none.
 */
TEXT_INLINE size_t text_fields_skip_blank_lines(const char *data, size_t bytes, size_t begin)
{
    for (size_t at = begin; at < bytes; at++) {
        bool is_return = data[at] == '\r' && (at + 1 == bytes || data[at + 1] == '\n');
        if (data[at] == '\n')
            begin = at + 1;
        else if (!is_return && !text_fields_is_blank(data[at]))
            return begin;
    }
    return bytes + 1;
}

/*
 * Stores the parts that end in the block at *at; the first of them begins at *begin. Advances both:
 * *begin to the next part, *at to the next block, or to the line that follows blank ones.
 */
TEXT_INLINE enum text_event text_fields_take_block(enum cpu_isa isa, bool is_quoted,
                                                   struct text_call *call, size_t *at,
                                                   size_t *begin, struct text_quotes *carry)
{
    struct text_ends found = text_fields_find(isa, is_quoted, call, *at, carry);
    uint64_t first_wrong = found.wrong & -found.wrong;
    uint64_t ends = found.newlines | found.separators | first_wrong;

    for (; ends && *begin <= call->bytes; ends &= ends - 1) {
        size_t end = *at + text_block_first(ends);
        bool is_last = found.newlines & ends & -ends;
        if (call->stored == call->room) {
            *call->offset = *begin;
            return TEXT_FULL;
        }
        if (first_wrong & ends & -ends) {
            size_t newline = text_fields_line_end(call, end);
            return text_fields_refuse(call, *begin, newline, newline + 1);
        }
        size_t part_end = is_last ? text_fields_content_end(call->data, *begin, end) : end;
        if (!text_fields_take(isa, is_quoted, call, &call->first, *begin, part_end, end + 1))
            return TEXT_INVALID;
        call->stored++;
        *begin = is_last ? text_fields_skip_blank_lines(call->data, call->bytes, end + 1) : end + 1;
        if (*begin != end + 1) {
            *at = *begin;
            *carry = TEXT_QUOTES_NONE;
            return TEXT_END;
        }
    }
    *at += TEXT_BLOCK;
    return TEXT_END;
}

TEXT_INLINE enum text_event text_fields_every(enum cpu_isa isa, bool is_quoted,
                                              struct text_call *call)
{
    struct text_quotes carry = TEXT_QUOTES_NONE;
    size_t begin = *call->offset;

    if (begin == 0 || (begin <= call->bytes && call->data[begin - 1] == '\n'))
        begin = text_fields_skip_blank_lines(call->data, call->bytes, begin);
    for (size_t at = begin; begin <= call->bytes;) {
        enum text_event event = text_fields_take_block(isa, is_quoted, call, &at, &begin, &carry);
        if (event != TEXT_END)
            return event;
    }
    *call->offset = begin;
    return TEXT_END;
}

/* --- the tables ------------------------------------------------------------------------------- */

/* X(kind, ...) for each loop above; passes further arguments on. */
#define TEXT_FIELDS_KINDS(X, ...) X(nth, __VA_ARGS__) X(last, __VA_ARGS__) X(every, __VA_ARGS__)

/* Each loop for each instruction set, once for quoted parts and once for others. */
#define TEXT_FIELDS_WRAP(isa, target, kind)                                                       \
    target TEXT_FLATTEN static enum text_event text_fields_##kind##_##isa(struct text_call *call) \
    {                                                                                             \
        if (call->first.rules->is_quoted)                                                         \
            return text_fields_##kind((enum cpu_isa)TEXT_ISA_##isa, true, call);                  \
        return text_fields_##kind((enum cpu_isa)TEXT_ISA_##isa, false, call);                     \
    }
#define TEXT_FIELDS_WRAP_KIND(kind, ...) CPU_ISA_VARIANTS(TEXT_FIELDS_WRAP, kind)
TEXT_FIELDS_KINDS(TEXT_FIELDS_WRAP_KIND, )
TEXT_FIELDS_WRAP_KIND(pair, )

/* The loops that count the fields of each line: of one column, and of pairs. */
#define TEXT_FIELDS_WRAP_COUNTED(isa, target, kind, is_pair)                                      \
    target TEXT_FLATTEN static enum text_event text_fields_##kind##_##isa(struct text_call *call) \
    {                                                                                             \
        return text_fields_search((enum cpu_isa)TEXT_ISA_##isa, false, is_pair, true, call);      \
    }
CPU_ISA_VARIANTS(TEXT_FIELDS_WRAP_COUNTED, counted, false)
CPU_ISA_VARIANTS(TEXT_FIELDS_WRAP_COUNTED, counted_pair, true)

/* The column of a call whose values are stored at `values`. */
TEXT_INLINE struct text_column text_fields_column(struct element element,
                                                  const struct text_rules *rules, char *values)
{
    struct text_column column = {text_number_limits(element), rules, values};

    if (rules->from_zero)
        column.limits.magnitude[true] = 0;
    return column;
}

/* A call for a text whose first column is of that type. */
TEXT_INLINE struct text_call text_fields_call(struct element element, struct text_cursor *text)
{
    return (struct text_call){
        .first = text_fields_column(element, text->rules, text->values),
        .data = text->data,
        .bytes = text->bytes,
        .offset = &text->offset,
        .room = text->room,
        .invalid = &text->invalid,
    };
}

/* A text_parse_function for a loop, the one that counts fields, and a type. */
TEXT_INLINE enum text_event text_fields_parse(enum text_event (*run)(struct text_call *),
                                              enum text_event (*run_counted)(struct text_call *),
                                              struct element element, struct text_cursor *text)
{
    struct text_call call = text_fields_call(element, text);
    enum text_event event = text->rules->columns > 0 ? run_counted(&call) : run(&call);

    text->count = call.stored;
    return event;
}

/* A parser for each loop, instruction set and type. */
#define TEXT_FIELDS_DEFINE(isa, target, kind, id, name, ctype)                  \
    TEXT_PARSE_DEFINE(text_fields_##kind##_##name##_##isa, , text_fields_parse, \
                      text_fields_##kind##_##isa, text_fields_counted_##isa,    \
                      ELEMENT_OF(id, name, ctype))
#define TEXT_FIELDS_DEFINE_KIND(kind, ...) CPU_ISA_VARIANTS(TEXT_FIELDS_DEFINE, kind, __VA_ARGS__)
#define TEXT_FIELDS_DEFINE_TYPE(id, name, ctype) \
    TEXT_FIELDS_KINDS(TEXT_FIELDS_DEFINE_KIND, id, name, ctype)
ELEMENT_TYPES(TEXT_FIELDS_DEFINE_TYPE)

#define TEXT_FIELDS_ENTRY(isa, target, kind, name) text_fields_##kind##_##name##_##isa,

#define TEXT_FIELDS_ROW(kind, name) {CPU_ISA_VARIANTS(TEXT_FIELDS_ENTRY, kind, name)},
#define TEXT_FIELDS_ROWS(id, name, ctype) \
    [ELEMENT_##id] = {TEXT_FIELDS_KINDS(TEXT_FIELDS_ROW, name)},

text_parse_function *text_fields_choose(const struct text_rules *rules, enum element_type type)
{
    static text_parse_function *const functions[ELEMENT_TYPE_COUNT][3][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(TEXT_FIELDS_ROWS)};
    unsigned kind = rules->field > 0 ? 0 : rules->field < 0 ? 1 : 2;
    return functions[type][kind][cpu_isa_best()];
}

#define TEXT_FIELDS_PAIR_ENTRY(isa, target, kind) text_fields_##kind##_##isa,

enum text_event text_fields_parse_pairs(const struct text_columns *columns,
                                        struct text_cursor *text)
{
    static enum text_event (*const functions[2][CPU_ISA_COUNT])(struct text_call *) = {
        {CPU_ISA_VARIANTS(TEXT_FIELDS_PAIR_ENTRY, pair)},
        {CPU_ISA_VARIANTS(TEXT_FIELDS_PAIR_ENTRY, counted_pair)},
    };
    struct text_call call = text_fields_call(columns->first_element, text);

    call.second =
        text_fields_column(columns->second_element, columns->second, (char *)text->second);
    enum text_event event = functions[text->rules->columns > 0][cpu_isa_best()](&call);
    text->count = call.stored;
    return event;
}
