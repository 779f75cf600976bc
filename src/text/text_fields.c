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
 * With quotes allowed (text_quotes.h), a whole run over lines of 7 parts takes 1.1 to 1.2 times as
 * long.
 *
 * A call stops at the start of a line, or if every part is a value, also after a delimiter. The
 * last line may lack its newline. A call that has parsed that line may set *offset to one byte
 * after the text.
 */
#include "config.h"

#include "text/text_internal.h"
#include "text/text_line.h"
#include "text/text_number.h"
#include "text/text_scan.h"

/* A call of the parser: its arguments, and the values stored so far. */
struct text_call {
    const struct text_rules *rules;
    struct text_number_limits limits;
    char *values;
    const char *data;
    size_t bytes;
    size_t *offset;
    size_t capacity;
    size_t stored;
    struct text_token *invalid;
};

/*
 * Stores the value at data[begin..end), without quotes and blanks around it, after those stored,
 * and sets *offset to `next`, where parsing continues. There must be capacity. Returns false, and
 * sets *invalid, if it is not a value.
 */
TEXT_INLINE bool text_fields_take(enum cpu_isa isa, bool is_quoted, const struct text_call *call,
                                  size_t begin, size_t end, size_t next)
{
    const char *data = call->data;
    struct text_number number;

    *call->offset = next;
    if (is_quoted && begin < end && data[begin] == '"') {
        begin++;
        end--;
    }
    text_line_trim(data, &begin, &end);
    if (begin < end && text_number_read(isa, call->rules, data, begin, end, &number) &&
        number.magnitude <= call->limits.magnitude[number.is_negative] &&
        text_number_is_plain(call->rules, data, begin, end, &number)) {
        element_store(call->values + call->stored * call->limits.bytes,
                      number.is_negative ? -number.magnitude : number.magnitude,
                      call->limits.bytes);
        return true;
    }
    *call->invalid = (struct text_token){.offset = begin, .bytes = end - begin};
    return false;
}

/*
 * Sets *invalid for a line with wrong quotes. The parts before `begin` are valid. Parsing continues
 * at `next`. Not inlined: wrong quotes are rare.
 */
__attribute__((noinline)) static enum text_event text_fields_refuse(struct text_call *call,
                                                                    size_t begin, size_t newline,
                                                                    size_t next)
{
    const char *data = call->data;
    size_t end = text_line_content_end(data, begin, newline);

    begin = text_line_find_wrong(call->rules, data, begin, end);
    text_line_trim(data, &begin, &end);
    *call->offset = next;
    *call->invalid = (struct text_token){.offset = begin, .bytes = end - begin};
    return TEXT_INVALID;
}

/* --- field n or -n ---------------------------------------------------------------------------- */

/* The line that is searched for its field. */
struct text_line {
    size_t begin;
    bool has_ordinary; /* it has ordinary quotes (text_quotes.h) */
    bool is_wrong;     /* it has wrong quotes */
    uint64_t left;     /* number of fields still to begin, with the wanted one; 0: it is found */
    size_t field_begin;
    size_t field_end; /* the end of the field; SIZE_MAX: not found */
};

/*
 * Searches the line's part of the block at `at`, given the masks of the fields that begin and end
 * there.
 */
TEXT_INLINE void text_fields_scan(struct text_line *line, size_t at, uint64_t begins, uint64_t ends)
{
    if (line->left > 0) {
        uint64_t fields = (uint64_t)__builtin_popcountll(begins);
        if (fields < line->left) {
            line->left -= fields;
            return;
        }
        unsigned first = text_line_select(begins, line->left - 1);
        line->left = 0;
        line->field_begin = at + first;
        ends &= UINT64_MAX << first;
    }
    if (line->field_end == SIZE_MAX && ends)
        line->field_end = at + text_block_first(ends);
}

/* Stores the field of a line that ends at `newline`. Returns TEXT_END to continue with the next
 * line.
 */
TEXT_INLINE enum text_event text_fields_finish(enum cpu_isa isa, bool is_quoted,
                                               struct text_call *call, struct text_line *line,
                                               size_t newline)
{
    size_t next = newline < call->bytes ? newline + 1 : call->bytes;
    size_t end = text_line_content_end(call->data, line->begin, newline);

    if (text_line_is_blanks(call->data, line->begin, end))
        return TEXT_END;
    if (call->stored == call->capacity) {
        *call->offset = line->begin;
        return TEXT_FULL;
    }
    if (line->is_wrong)
        return text_fields_refuse(call, line->begin, newline, next);
    if (line->left > 0) /* a missing field is 0 bytes at the end of the line */
        line->field_begin = line->field_end = end;
    if (!text_fields_take(isa, is_quoted, call, line->field_begin, line->field_end, next))
        return TEXT_INVALID;
    call->stored++;
    return TEXT_END;
}

TEXT_INLINE enum text_event text_fields_nth(enum cpu_isa isa, bool is_quoted, bool is_from_end,
                                            struct text_call *call)
{
    const uint64_t field = is_from_end ? 0 : (uint64_t)call->rules->field;
    struct text_line line = {.begin = *call->offset, .left = field, .field_end = SIZE_MAX};
    struct text_quotes carry = TEXT_QUOTES_NONE;

    for (size_t at = *call->offset; line.begin < call->bytes; at += TEXT_BLOCK) {
        uint64_t begins = carry.begins;
        struct text_ends found = text_line_find_ends(isa, is_quoted, call->data, call->bytes,
                                                     call->rules->delimiter, at, &carry);
        uint64_t breaks = found.newlines | found.separators;
        uint64_t ends = breaks | found.returns;
        begins |= breaks << 1;
        if (call->rules->delimiter == TEXT_NO_DELIMITER)
            begins &= ~ends;
        uint64_t rest = UINT64_MAX; /* the bytes that are not searched yet */
        carry.begins = breaks >> 63;
        while (line.begin < call->bytes) {
            uint64_t newlines = found.newlines & rest;
            uint64_t upto = newlines ^ (newlines - 1); /* up to the newline; all if there is none */
            if (!is_from_end)
                text_fields_scan(&line, at, begins & rest & upto, ends & rest & upto);
            line.is_wrong |= (found.wrong & rest & upto) != 0;
            line.has_ordinary |= (found.ordinary & rest & upto) != 0;
            if (!newlines)
                break;
            size_t newline = at + text_block_first(newlines);
            if (is_from_end) {
                line.field_begin = line.begin;
                line.field_end = text_line_content_end(call->data, line.begin, newline);
                line.left =
                    !text_line_find_last(call->data, call->rules, is_quoted, line.has_ordinary,
                                         &line.field_begin, &line.field_end);
            }
            enum text_event event = text_fields_finish(isa, is_quoted, call, &line, newline);
            if (event != TEXT_END)
                return event;
            rest &= ~upto;
            line = (struct text_line){.begin = newline + 1, .left = field, .field_end = SIZE_MAX};
        }
    }
    *call->offset = call->bytes;
    return TEXT_END;
}

/* --- every part ------------------------------------------------------------------------------- */

/*
 * Returns the start of the first line at or after `begin` that is not blank; one after the text if
 * there is none.
 */
TEXT_INLINE size_t text_fields_skip_blank_lines(const char *data, size_t bytes, size_t begin)
{
    for (size_t at = begin; at < bytes; at++) {
        bool is_return = data[at] == '\r' && (at + 1 == bytes || data[at + 1] == '\n');
        if (data[at] == '\n')
            begin = at + 1;
        else if (!is_return && !text_line_is_blank(data[at]))
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
    struct text_ends found = text_line_find_ends(isa, is_quoted, call->data, call->bytes,
                                                 call->rules->delimiter, *at, carry);
    uint64_t first_wrong = found.wrong & -found.wrong;
    uint64_t ends = found.newlines | found.separators | first_wrong;

    for (; ends && *begin <= call->bytes; ends &= ends - 1) {
        size_t end = *at + text_block_first(ends);
        bool is_last = found.newlines & ends & -ends;
        if (call->stored == call->capacity) {
            *call->offset = *begin;
            return TEXT_FULL;
        }
        if (first_wrong & ends & -ends) {
            const size_t row = text_scan_first(call->rules, call->data + *begin,
                                               call->bytes - *begin, TEXT_SCAN_FIELD);
            const size_t newline = row > 0 ? *begin + row - 1 : call->bytes;
            return text_fields_refuse(call, *begin, newline, newline + 1);
        }
        size_t part_end = is_last ? text_line_content_end(call->data, *begin, end) : end;
        if (!text_fields_take(isa, is_quoted, call, *begin, part_end, end + 1))
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

/* --- the table -------------------------------------------------------------------------------- */

/*
 * The loops for each instruction set, for quoted parts and for others. Each is a function of its
 * own, because in one function they take 5% longer.
 */
#define TEXT_FIELDS_WRAP(isa, target, kind, quoted, plain)                                        \
    target TEXT_FLATTEN static enum text_event text_fields_##kind##_##isa(struct text_call *call) \
    {                                                                                             \
        const enum cpu_isa set = (enum cpu_isa)TEXT_ISA_##isa;                                    \
        return call->rules->is_quoted ? quoted : plain;                                           \
    }
CPU_ISA_VARIANTS(TEXT_FIELDS_WRAP, last, text_fields_nth(set, true, true, call),
                 text_fields_nth(set, false, true, call))
CPU_ISA_VARIANTS(TEXT_FIELDS_WRAP, every, text_fields_every(set, true, call),
                 text_fields_every(set, false, call))
CPU_ISA_VARIANTS(TEXT_FIELDS_WRAP, nth, text_fields_nth(set, true, false, call),
                 text_fields_nth(set, false, false, call))
#define TEXT_FIELDS_ENTRY(isa, target, kind) text_fields_##kind##_##isa,

static enum text_event text_fields_parse(struct element element, struct text_cursor *text)
{
    static enum text_event (*const loops[3][CPU_ISA_COUNT])(
        struct text_call *) = {{CPU_ISA_VARIANTS(TEXT_FIELDS_ENTRY, last)},
                               {CPU_ISA_VARIANTS(TEXT_FIELDS_ENTRY, every)},
                               {CPU_ISA_VARIANTS(TEXT_FIELDS_ENTRY, nth)}};
    const int32_t field = text->rules->field;
    struct text_call call = {
        .rules = text->rules,
        .limits = text_number_limits(element),
        .values = text->values,
        .data = text->data,
        .bytes = text->bytes,
        .offset = &text->offset,
        .capacity = text->capacity,
        .invalid = &text->invalid,
    };
    enum text_event event = loops[field < 0 ? 0 : field == 0 ? 1 : 2][cpu_isa_best()](&call);

    text->count = call.stored;
    return event;
}

/* A text_parse_function for each type. */
#define TEXT_FIELDS_DEFINE(id, name, ctype) \
    TEXT_PARSE_DEFINE(text_fields_##name, , text_fields_parse, ELEMENT_OF(id, name, ctype))
ELEMENT_TYPES(TEXT_FIELDS_DEFINE)

text_parse_function *text_fields_choose(enum element_type type)
{
#define TEXT_FIELDS_TYPE(id, name, ctype) [ELEMENT_##id] = text_fields_##name,
    static text_parse_function *const functions[] = {ELEMENT_TYPES(TEXT_FIELDS_TYPE)};
    return functions[type];
}
