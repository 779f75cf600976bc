/*
 * Implements text_scan.h: in CSV by blocks of 64 bytes (text_quotes.h), and byte by byte at
 * possible comments and at the end of the text.
 */
#include "config.h"

#include "text/text_scan.h"

#include "text/text_quotes.h"

#include <string.h>

/* Number of bytes scanned at a time for the first row, and at least for the last row. */
#define TEXT_SCAN_BYTES ((size_t)4096)
#define TEXT_SCAN_SHARE 16 /* in a longer text, 1/16 is scanned for the last row */

/* Returns the state after a byte of CSV. */
static inline enum text_scan_state text_scan_step(const struct text_rules *rules,
                                                  enum text_scan_state state, char c)
{
    if (state == TEXT_SCAN_COMMENT)
        return c == '\n' ? TEXT_SCAN_ROW : TEXT_SCAN_COMMENT;
    if (state == TEXT_SCAN_INSIDE)
        return c == '"' ? TEXT_SCAN_CLOSED : TEXT_SCAN_INSIDE;
    if (state == TEXT_SCAN_ROW && rules->has_comments && c == rules->comment)
        return TEXT_SCAN_COMMENT;
    if (c == '"' && state != TEXT_SCAN_PLAIN)
        return TEXT_SCAN_INSIDE;
    return c == '\n'                     ? TEXT_SCAN_ROW
           : c == (char)rules->delimiter ? TEXT_SCAN_FIELD
                                         : TEXT_SCAN_PLAIN;
}

/* A call of the scanner. */
struct text_scan_call {
    const struct text_rules *rules;
    const char *data;
    size_t bytes;
    enum text_scan_state state;
    struct text_scan_ends ends;
};

/* Scans data[begin..end) byte by byte. */
static void text_scan_bytes(struct text_scan_call *call, size_t begin, size_t end)
{
    enum text_scan_state state = call->state;

    for (size_t i = begin; i < end; i++) {
        state = text_scan_step(call->rules, state, call->data[i]);
        if (state == TEXT_SCAN_ROW) {
            call->ends.last = i + 1;
            call->ends.first = call->ends.first > 0 ? call->ends.first : i + 1;
        }
    }
    call->state = state;
}

static inline struct text_quotes text_scan_carry(enum text_scan_state state)
{
    return (struct text_quotes){
        .begins = state <= TEXT_SCAN_FIELD,
        .closed = state == TEXT_SCAN_CLOSED,
        .inside = state == TEXT_SCAN_INSIDE ? UINT64_MAX : 0,
    };
}

/* Returns the state before data[at], which is not in a comment. */
static inline enum text_scan_state text_scan_state_at(const struct text_scan_call *call,
                                                      const struct text_quotes *carry, size_t at)
{
    if (at == 0)
        return call->state;
    return carry->inside                ? TEXT_SCAN_INSIDE
           : carry->closed              ? TEXT_SCAN_CLOSED
           : call->data[at - 1] == '\n' ? TEXT_SCAN_ROW
           : carry->begins              ? TEXT_SCAN_FIELD
                                        : TEXT_SCAN_PLAIN;
}

TEXT_INLINE void text_scan_blocks(enum cpu_isa isa, struct text_scan_call *call)
{
    const struct text_rules *rules = call->rules;
    const char delimiter = (char)rules->delimiter;
    const char *data = call->data;
    struct text_quotes carry = text_scan_carry(call->state);
    bool is_comment = call->state == TEXT_SCAN_COMMENT;
    size_t at = 0;

    for (; at + TEXT_BLOCK <= call->bytes; at += TEXT_BLOCK) {
        const struct text_quotes before = carry;
        if (!is_comment) {
            const char *block = data + at;
            struct text_ends ends = {.newlines = text_block_equal(isa, block, '\n'),
                                     .separators = text_block_equal(isa, block, delimiter)};
            text_quotes_find(isa, data, at, block, delimiter, &ends, &carry);
            uint64_t comments = 0;
            if (rules->has_comments) {
                const uint64_t begins = text_scan_state_at(call, &before, at) == TEXT_SCAN_ROW;
                comments =
                    text_block_equal(isa, block, rules->comment) & (ends.newlines << 1 | begins);
            }
            if (__builtin_expect(comments == 0, true)) {
                if (ends.newlines) {
                    call->ends.last = at + TEXT_BLOCK - (size_t)__builtin_clzll(ends.newlines);
                    if (call->ends.first == 0)
                        call->ends.first = at + text_block_first(ends.newlines) + 1;
                }
                continue;
            }
            call->state = text_scan_state_at(call, &before, at);
        }
        text_scan_bytes(call, at, at + TEXT_BLOCK);
        is_comment = call->state == TEXT_SCAN_COMMENT;
        carry = text_scan_carry(call->state);
    }
    if (!is_comment)
        call->state = text_scan_state_at(call, &carry, at);
    text_scan_bytes(call, at, call->bytes);
}

/* The loop for each instruction set. */
#define TEXT_SCAN_WRAP(isa, target, ...)                                                \
    target TEXT_FLATTEN static void text_scan_blocks_##isa(struct text_scan_call *call) \
    {                                                                                   \
        text_scan_blocks((enum cpu_isa)TEXT_ISA_##isa, call);                           \
    }
CPU_ISA_VARIANTS(TEXT_SCAN_WRAP, )
#define TEXT_SCAN_ENTRY(isa, target, ...) text_scan_blocks_##isa,

struct text_scan_ends text_scan(const struct text_rules *rules, const char *data, size_t bytes,
                                enum text_scan_state *state)
{
    static void (*const functions[CPU_ISA_COUNT])(struct text_scan_call *) = {
        CPU_ISA_VARIANTS(TEXT_SCAN_ENTRY, )};
    struct text_scan_call call = {.rules = rules, .data = data, .bytes = bytes, .state = *state};

    if (bytes == 0)
        return call.ends;
    if (rules->is_quoted &&
        (rules->has_comments || *state == TEXT_SCAN_INSIDE || memchr(data, '"', bytes) != NULL)) {
        functions[cpu_isa_best()](&call);
    } else { /* every newline ends a row */
        const char end = data[bytes - 1];
        const char *first = memchr(data, '\n', bytes);
        call.ends.first = first ? (size_t)(first - data) + 1 : 0;
        call.ends.last = first ? bytes : 0;
        while (first && data[call.ends.last - 1] != '\n')
            call.ends.last--;
        call.state = end == '\n'                                         ? TEXT_SCAN_ROW
                     : rules->is_quoted && end == (char)rules->delimiter ? TEXT_SCAN_FIELD
                                                                         : TEXT_SCAN_PLAIN;
    }
    *state = call.state;
    return call.ends;
}

size_t text_scan_first(const struct text_rules *rules, const char *data, size_t bytes,
                       enum text_scan_state state)
{
    for (size_t at = 0, piece = 0; at < bytes; at += piece) {
        piece = bytes - at < TEXT_SCAN_BYTES ? bytes - at : TEXT_SCAN_BYTES;
        const size_t first = text_scan(rules, data + at, piece, &state).first;
        if (first > 0)
            return at + first;
    }
    return 0;
}

size_t text_scan_last(const struct text_rules *rules, const char *data, size_t bytes,
                      enum text_scan_state *state)
{
    const size_t share = bytes / TEXT_SCAN_SHARE;
    const size_t tail = share < TEXT_SCAN_BYTES ? TEXT_SCAN_BYTES : share;
    const char *end = data + bytes;

    if (rules->is_quoted && !rules->has_comments && tail < bytes) {
        const char *quote = end - tail;
        while ((quote = memchr(quote, '"', (size_t)(end - quote))) && quote + 1 < end &&
               (quote[-1] == '"' || quote[-1] == '\n' || quote[-1] == (char)rules->delimiter ||
                quote[1] == '"'))
            quote++;
        if (quote && quote + 1 < end) {
            enum text_scan_state after = TEXT_SCAN_PLAIN;
            const char *next = quote + 1;
            const size_t last = text_scan(rules, next, (size_t)(end - next), &after).last;
            if (last > 0) {
                *state = after;
                return (size_t)(next - data) + last;
            }
        }
    }
    return text_scan(rules, data, bytes, state).last;
}

size_t text_scan_count_odd(const struct text_rules *rules, const char *data, size_t bytes,
                           enum text_scan_state state)
{
    size_t odd = 0;

    for (size_t i = 0; i < bytes; i++) {
        const enum text_scan_state next = text_scan_step(rules, state, data[i]);
        odd += (state == TEXT_SCAN_PLAIN && data[i] == '"') ||
               (state == TEXT_SCAN_CLOSED && next == TEXT_SCAN_PLAIN && data[i] != '\r');
        state = next;
    }
    return odd;
}

bool text_scan_next_comment(const struct text_rules *rules, const char *data, size_t bytes,
                            size_t *begin, size_t *end)
{
    enum text_scan_state state = TEXT_SCAN_ROW;

    for (size_t i = *end; i < bytes; i++) {
        if (rules->is_quoted)
            state = text_scan_step(rules, state, data[i]);
        const bool is_comment =
            rules->is_quoted ? state == TEXT_SCAN_COMMENT : data[i] == rules->comment;
        if (rules->is_quoted && !is_comment)
            continue; /* else a line begins at i */
        const char *newline = memchr(data + i, '\n', bytes - i);
        *begin = i;
        *end = newline ? (size_t)(newline - data) : bytes;
        if (is_comment)
            return true;
        i = *end;
    }
    return false;
}
