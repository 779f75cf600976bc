/*
 * Implements json_lines.h in two stages, like simdjson (Langdale and Lemire, "Parsing gigabytes of
 * JSON per second", VLDB Journal 28, 2019). The first stage finds, in blocks of 64 bytes and
 * without branches, the quotes that begin and end strings, and the brackets, colons, commas and row
 * ends outside strings; it checks the contents of strings. The second stage goes from one of these
 * bytes to the next, by the grammar, and checks the bytes between them: white space, or a number or
 * literal.
 *
 * Strings do not extend beyond their row. Therefore the first stage stops at a row end within a
 * string, or at a fault in one; the second stage reports the row, and the first starts again after
 * it.
 *
 * Rows often differ only in their values. Therefore the scanner keeps the shapes of a few rows: the
 * bytes between the values. A row with the bytes of a shape is valid if its numbers and literals
 * are, and its keys need not be looked up: half the time of the second stage by the grammar
 * (bench/RESULTS.md).
 *
 * A third stage, only if a path leads into an array, reads the bytes of that array, which are then
 * known to be valid, one by one. The shape of a row with such an array is not kept.
 */
#include "config.h"

#include "text/json_lines.h"

#include "lib/nearest.h"
#include "text/json_block.h"
#include "text/text_quotes.h"

#include <stdio.h>
#include <stdlib.h>

/* Maximum depth of suggested keys. */
#define JSON_SUGGEST_DEPTH 16

/* --- strings and numbers ---------------------------------------------------------------------- */

/* Reads four hexadecimal digits. Returns false if they are not. */
static bool json_hex_read(const char *text, uint32_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const unsigned letter = (byte | 32u) - 'a';
        const unsigned digit = byte - 48u < 10 ? byte - 48u : letter < 6 ? letter + 10 : 16;
        if (digit == 16)
            return false;
        *value = *value << 4 | digit;
    }
    return true;
}

size_t json_escape_read(const char *text, size_t bytes, uint32_t *code)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char codes[] = "\"\\/\b\f\n\r\t";
    uint32_t low;

    if (bytes < 2)
        return 0;
    if (text[1] != 'u') {
        const char *letter = memchr(letters, text[1], sizeof letters - 1);
        *code = letter ? (unsigned char)codes[letter - letters] : 0;
        return letter ? 2 : 0;
    }
    if (bytes < 6 || !json_hex_read(text + 2, code))
        return 0;
    if ((*code & 0xf800) != 0xd800) /* not a surrogate */
        return 6;
    if (*code >= 0xdc00 || bytes < 12 || text[6] != '\\' || text[7] != 'u' ||
        !json_hex_read(text + 8, &low) || (low & 0xfc00) != 0xdc00)
        return 0;
    *code = 0x10000 + ((*code & 0x3ff) << 10) + (low & 0x3ff);
    return 12;
}

/*
 * Writes the UTF-8 (RFC 3629) of the valid escape at text[0], and stores its length in *written.
 * Returns the length of the escape.
 */
static size_t json_escape_decode(const char *text, size_t bytes, char utf8[4], size_t *written)
{
    uint32_t code = 0;
    const size_t taken = json_escape_read(text, bytes, &code);
    const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

    /* The highest bits after the mark of the length, then six bits per byte. */
    *utf8 = (char)(more > 0 ? 0xff00 >> (more + 1) | code >> 6 * more : code);
    for (unsigned i = 1; i <= more; i++)
        utf8[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    *written = more + 1;
    return taken;
}

size_t json_string_decode(const char *string, size_t bytes, char *text)
{
    char *out = text;
    size_t written;

    for (size_t at = 0; at < bytes;) {
        const char *escape = memchr(string + at, '\\', bytes - at);
        const size_t plain = escape ? (size_t)(escape - string) - at : bytes - at;
        memcpy(out, string + at, plain);
        out += plain;
        at += plain;
        if (at < bytes) {
            char utf8[4];
            at += json_escape_decode(string + at, bytes - at, utf8, &written);
            memcpy(out, utf8, written);
            out += written;
        }
    }
    return (size_t)(out - text);
}

bool json_is_number(const char *text, size_t bytes)
{
    const char *end = text + bytes;

    if (text < end && *text == '-')
        text++;
    const char *digits = text;
    while (text < end && (unsigned char)(*text - '0') < 10)
        text++;
    if (text == digits || (*digits == '0' && text - digits > 1))
        return false;
    if (text < end && *text == '.') {
        digits = ++text;
        while (text < end && (unsigned char)(*text - '0') < 10)
            text++;
        if (text == digits)
            return false;
    }
    if (text < end && (*text == 'e' || *text == 'E')) {
        text++;
        if (text < end && (*text == '+' || *text == '-'))
            text++;
        digits = text;
        while (text < end && (unsigned char)(*text - '0') < 10)
            text++;
        if (text == digits)
            return false;
    }
    return text == end;
}

/* --- the wanted columns ----------------------------------------------------------------------- */

#define JSON_NO_COLUMN (-1)
#define JSON_NODES_MAX 0x4000

/* Maximum number of digits of an element's number. */
#define JSON_INDEX_DIGITS 18

/* Nodes with these numbers are always there. */
enum { JSON_NODE_NONE, JSON_NODE_ROW };

/* A wanted key, or a key whose object has wanted keys. */
struct json_node {
    const char *key; /* [key_bytes], owned */
    size_t key_bytes;
    uint64_t key_head;    /* the first eight bytes of the key, padded with zeros */
    uint64_t key_lengths; /* bit n: some child's key has n bytes, or 63 or more */
    uint64_t below;       /* the columns of the nodes below this one, one bit each */
    int column;           /* the number of the column, or JSON_NO_COLUMN */
    uint16_t parent;
    uint16_t child;   /* the first child; 0: none */
    uint16_t sibling; /* the next child of its parent; 0: none */
};

/* A step of a path, at or below an array. */
struct json_hop {
    char *key; /* the key of a member, owned; NULL: the step is an element */
    size_t key_bytes;
    int64_t index; /* the index of the element; negative: from the end */
    bool is_each;  /* the step is each element, without an index */
};

/* A path that leads into an array. Its value is the member with exactly that name, or else the
 * element. */
struct json_element {
    char *path;            /* owned */
    unsigned column;       /* the column of the value */
    int member;            /* the column of the member, or JSON_NO_COLUMN */
    unsigned array;        /* the column of the array */
    struct json_hop *hops; /* [count], owned; the first is an element */
    size_t count;
    size_t each; /* index of the element with `[]`; SIZE_MAX: none */
};

struct json_columns {
    struct json_node *nodes; /* [count], owned */
    size_t count;
    struct json_element *elements; /* [element_count], owned */
    size_t element_count;
    unsigned columns;
};

struct json_columns *json_columns_create(void)
{
    struct json_columns *columns = calloc(1, sizeof *columns);
    struct json_node *nodes = calloc(2, sizeof *nodes);

    if (!columns || !nodes) {
        free(columns);
        free(nodes);
        return NULL;
    }
    nodes[JSON_NODE_NONE].column = nodes[JSON_NODE_ROW].column = JSON_NO_COLUMN;
    *columns = (struct json_columns){.nodes = nodes, .count = 2};
    return columns;
}

static void json_element_destroy(struct json_element *element)
{
    for (size_t i = 0; i < element->count; i++)
        free(element->hops[i].key);
    free(element->hops);
    free(element->path);
}

void json_columns_destroy(struct json_columns *columns)
{
    if (!columns)
        return;
    for (size_t i = 0; i < columns->count; i++)
        free((char *)columns->nodes[i].key);
    for (size_t i = 0; i < columns->element_count; i++)
        json_element_destroy(&columns->elements[i]);
    free(columns->nodes);
    free(columns->elements);
    free(columns);
}

/* Returns the first eight bytes of a key of `bytes`, padded with zeros; `readable` can be read. */
TEXT_INLINE uint64_t json_key_head(const char *key, size_t bytes, size_t readable)
{
    char copy[8] = {0};

    if (__builtin_expect(readable >= 8, true)) {
        const uint64_t word = bytes_load(key);
        return bytes >= 8 ? word : word & (((uint64_t)1 << 8 * bytes) - 1);
    }
    memcpy(copy, key, bytes);
    return bytes_load(copy);
}

/* Returns the child of a node with this key, or JSON_NODE_NONE. */
TEXT_INLINE unsigned json_columns_find(const struct json_columns *columns, unsigned node,
                                       const char *key, size_t bytes, size_t readable)
{
    const struct json_node *nodes = columns->nodes;

    if (!(nodes[node].key_lengths >> (bytes < 63 ? bytes : 63) & 1))
        return JSON_NODE_NONE;
    const uint64_t head = json_key_head(key, bytes, readable);
    unsigned child = nodes[node].child;
    while (child != JSON_NODE_NONE &&
           (nodes[child].key_head != head || nodes[child].key_bytes != bytes ||
            (bytes > 8 && memcmp(nodes[child].key + 8, key + 8, bytes - 8) != 0)))
        child = nodes[child].sibling;
    return child;
}

/* Returns whether string[0..bytes), which may have escapes, is a key. */
static bool json_is_key(const char *string, size_t bytes, const char *key, size_t key_bytes)
{
    bool is_equal = true;
    size_t matched = 0; /* number of bytes of the key matched so far */

    for (size_t at = 0; is_equal && at < bytes;) {
        char utf8[4] = {string[at]};
        size_t written = 1;
        at += string[at] == '\\' ? json_escape_decode(string + at, bytes - at, utf8, &written) : 1;
        is_equal = key_bytes - matched >= written && memcmp(key + matched, utf8, written) == 0;
        matched += written;
    }
    return is_equal && matched == key_bytes;
}

/* Like json_columns_find, but for a key with escapes. */
static unsigned json_columns_find_escaped(const struct json_columns *columns, unsigned node,
                                          const char *key, size_t bytes)
{
    const struct json_node *nodes = columns->nodes;
    unsigned child = nodes[node].child;

    while (child != JSON_NODE_NONE &&
           !json_is_key(key, bytes, nodes[child].key, nodes[child].key_bytes))
        child = nodes[child].sibling;
    return child;
}

/*
 * Finds or adds the child with the key, which this function takes over. Returns JSON_NODE_NONE if
 * there is no memory, or there are JSON_NODES_MAX nodes.
 */
static unsigned json_columns_add_child(struct json_columns *columns, unsigned parent, char *key,
                                       size_t bytes)
{
    const unsigned found = json_columns_find(columns, parent, key, bytes, bytes);

    if (found != JSON_NODE_NONE) {
        free(key);
        return found;
    }
    struct json_node *nodes = columns->count == JSON_NODES_MAX
                                  ? NULL
                                  : realloc(columns->nodes, (columns->count + 1) * sizeof *nodes);
    if (!nodes) {
        free(key);
        return JSON_NODE_NONE;
    }
    const unsigned child = (unsigned)columns->count++;
    nodes[child] = (struct json_node){
        .key = key,
        .key_bytes = bytes,
        .key_head = json_key_head(key, bytes, bytes),
        .column = JSON_NO_COLUMN,
        .parent = (uint16_t)parent,
        .sibling = nodes[parent].child,
    };
    nodes[parent].child = (uint16_t)child;
    nodes[parent].key_lengths |= (uint64_t)1 << (bytes < 63 ? bytes : 63);
    columns->nodes = nodes;
    return child;
}

/* Makes a hop from a key of a path. `in_quotes`: the key is a JSON string. Returns false if there
 * is no memory. */
static bool json_path_copy_key(struct json_hop *hop, const char *text, size_t bytes, bool in_quotes)
{
    *hop = (struct json_hop){.key = malloc(bytes + 1), .key_bytes = bytes};
    if (hop->key && in_quotes)
        hop->key_bytes = json_string_decode(text, bytes, hop->key);
    else if (hop->key)
        memcpy(hop->key, text, bytes);
    return hop->key;
}

/*
 * Reads the element, `[7]`, `[-7]` or `[]`, at the start of text[0..bytes). Returns its length, 0
 * if there is none.
 */
static size_t json_path_read_element(const char *text, size_t bytes, struct json_hop *hop)
{
    const bool is_negative = bytes > 1 && text[1] == '-';
    const size_t first = (size_t)1 + is_negative;
    size_t end = first;

    *hop = (struct json_hop){.is_each = end == 1};
    if (bytes == 0 || text[0] != '[')
        return 0;
    for (; end < bytes && end - first < JSON_INDEX_DIGITS && text[end] >= '0' && text[end] <= '9';
         end++) {
        hop->index = hop->index * 10 + (text[end] - '0');
        hop->is_each = false;
    }
    if (is_negative)
        hop->index = -hop->index;
    return end < bytes && text[end] == ']' && (end > first || hop->is_each) ? end + 1 : 0;
}

/* Returns the length of the key text[0..bytes) without the elements at its end. */
static size_t json_path_key_bytes(const char *text, size_t bytes)
{
    struct json_hop hop;

    for (size_t begin = 1; begin < bytes; begin++) {
        size_t at = begin;
        for (size_t length = 1; at < bytes && length > 0; at += length)
            length = json_path_read_element(text + at, bytes - at, &hop);
        if (at == bytes)
            return begin;
    }
    return bytes;
}

/*
 * Reads a path that begins with a dot. `has_elements`: keys may end with elements, else these are
 * part of the key. Stores the hops, which the caller destroys, also after a failure, and the number
 * of hops before the first element. Fails with STATUS_USAGE if the path is invalid.
 */
static enum status json_path_read(const char *path, size_t bytes, bool has_elements,
                                  struct json_element *read, size_t *keys, struct failure *failure)
{
    size_t at = 0;
    bool is_wrong = false;

    *read = (struct json_element){.member = JSON_NO_COLUMN, .each = SIZE_MAX};
    *keys = SIZE_MAX;
    read->hops = calloc(bytes + 1, sizeof *read->hops); /* each has at least two bytes */
    if (!read->hops)
        return status_fail(failure, STATUS_DATA, "memory exhausted");
    while (at < bytes && !is_wrong) {
        const bool is_quoted = at + 1 < bytes && path[at + 1] == '"';
        const size_t begin = at + 1 + is_quoted;
        size_t end = begin;
        uint32_t code;
        while (end < bytes && path[end] != (is_quoted ? '"' : '.')) {
            const size_t escape = is_quoted && path[end] == '\\'
                                      ? json_escape_read(path + end, bytes - end, &code)
                                      : 1;
            is_wrong |= escape == 0;
            end += escape + (escape == 0);
        }
        is_wrong |= path[at] != '.' || (is_quoted ? end >= bytes : end == begin);
        if (is_wrong)
            break;
        const size_t key_bytes = has_elements && !is_quoted
                                     ? json_path_key_bytes(path + begin, end - begin)
                                     : end - begin;
        if (!json_path_copy_key(&read->hops[read->count++], path + begin, key_bytes, is_quoted))
            return status_fail(failure, STATUS_DATA, "memory exhausted");
        at = begin + key_bytes + is_quoted;
        for (size_t length = 1; has_elements && length > 0 && at < bytes; at += length) {
            struct json_hop *hop = &read->hops[read->count];
            length = json_path_read_element(path + at, bytes - at, hop);
            if (length == 0)
                break;
            is_wrong |= hop->is_each && read->each != SIZE_MAX;
            *keys = *keys == SIZE_MAX ? read->count : *keys;
            read->each = hop->is_each ? read->count : read->each;
            read->count++;
        }
    }
    if (!is_wrong)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE, "invalid path '%.*s'%s",
                       (int)(bytes < 1000 ? bytes : 1000), path,
                       read->each != SIZE_MAX ? ": [] can be in it once" : "");
}

/* Stores the next number of a column. Fails with STATUS_USAGE if there are too many. */
static enum status json_columns_number(struct json_columns *columns, unsigned *column,
                                       struct failure *failure)
{
    if (columns->columns == ROW_COLUMNS_MAX)
        return status_fail(failure, STATUS_USAGE,
                           "so many columns cannot be read at once (elements of arrays count as 3 "
                           "of %d)",
                           ROW_COLUMNS_MAX);
    *column = columns->columns++;
    return STATUS_OK;
}

/* Adds the column of the member at the end of the hops, which are all keys. */
static enum status json_columns_add_member(struct json_columns *columns, struct json_hop *hops,
                                           size_t count, unsigned *column, struct failure *failure)
{
    unsigned node = JSON_NODE_ROW;

    for (size_t i = 0; i < count; i++) {
        node = json_columns_add_child(columns, node, hops[i].key, hops[i].key_bytes);
        hops[i].key = NULL;
        if (node == JSON_NODE_NONE)
            return status_fail(failure, STATUS_DATA, "memory exhausted");
    }
    struct json_node *nodes = columns->nodes;
    if (nodes[node].column == JSON_NO_COLUMN) {
        if (json_columns_number(columns, column, failure) != STATUS_OK)
            return failure->status;
        nodes[node].column = (int)*column;
        for (unsigned above = nodes[node].parent; above; above = nodes[above].parent)
            nodes[above].below |= (uint64_t)1 << nodes[node].column;
    }
    *column = (unsigned)nodes[node].column;
    return STATUS_OK;
}

/*
 * Adds the column of an element, whose path has `keys` keys before the first element. Takes over
 * the path, unless it fails.
 */
static enum status json_columns_add_element(struct json_columns *columns, const char *path,
                                            size_t bytes, struct json_element *element, size_t keys,
                                            unsigned *column, struct failure *failure)
{
    struct json_element member;
    size_t none;
    unsigned number = 0;

    for (size_t i = 0; i < columns->element_count && element->each != SIZE_MAX; i++) {
        if (columns->elements[i].each != SIZE_MAX)
            return status_fail(failure, STATUS_USAGE, "only the column of -f can have []");
    }
    if (json_columns_number(columns, &element->column, failure) != STATUS_OK)
        return failure->status;
    enum status status = json_path_read(path, bytes, false, &member, &none, failure);
    if (status == STATUS_OK) {
        status = json_columns_add_member(columns, member.hops, member.count, &number, failure);
        element->member = (int)number;
    } else if (status == STATUS_USAGE) { /* a key in quotes before elements */
        status = STATUS_OK;
    }
    json_element_destroy(&member);
    if (status == STATUS_OK)
        status = json_columns_add_member(columns, element->hops, keys, &element->array, failure);
    if (status != STATUS_OK)
        return status;
    element->path = strndup(path, bytes);
    struct json_element *elements =
        realloc(columns->elements, (columns->element_count + 1) * sizeof *elements);
    columns->elements = elements ? elements : columns->elements;
    if (!elements || !element->path)
        return status_fail(failure, STATUS_DATA, "memory exhausted");
    element->count -= keys;
    element->each -= element->each == SIZE_MAX ? 0 : keys;
    memmove(element->hops, element->hops + keys, element->count * sizeof *element->hops);
    elements[columns->element_count++] = *element;
    *column = element->column;
    *element = (struct json_element){.count = 0};
    return STATUS_OK;
}

enum status json_columns_add(struct json_columns *columns, const char *path, size_t bytes,
                             unsigned *column, struct failure *failure)
{
    struct json_element read = {.count = 0};
    struct json_hop name;
    size_t keys = SIZE_MAX;
    enum status status;

    if (bytes == 0 || path[0] != '.') {
        if (!json_path_copy_key(&name, path, bytes, false))
            return status_fail(failure, STATUS_DATA, "memory exhausted");
        return json_columns_add_member(columns, &name, 1, column, failure);
    }
    for (size_t i = 0; i < columns->element_count; i++) {
        const struct json_element *element = &columns->elements[i];
        if (strlen(element->path) == bytes && memcmp(element->path, path, bytes) == 0) {
            *column = element->column;
            return STATUS_OK;
        }
    }
    status = json_path_read(path, bytes, true, &read, &keys, failure);
    if (status == STATUS_OK)
        status = keys == SIZE_MAX
                     ? json_columns_add_member(columns, read.hops, read.count, column, failure)
                     : json_columns_add_element(columns, path, bytes, &read, keys, column, failure);
    json_element_destroy(&read);
    return status;
}

bool json_columns_is_each(const struct json_columns *columns, unsigned column)
{
    for (size_t i = 0; i < columns->element_count; i++) {
        if (columns->elements[i].column == column)
            return columns->elements[i].each != SIZE_MAX;
    }
    return false;
}

/* --- the first stage: the index --------------------------------------------------------------- */

/* Like text_block_at, but as if end bytes followed the text. */
TEXT_INLINE const char *json_lines_block(const struct json_lines *lines, size_t at, char *copy)
{
    if (__builtin_expect(lines->bytes - at >= TEXT_BLOCK, true))
        return lines->data + at;
    memset(copy, lines->end_byte, TEXT_BLOCK);
    if (at < lines->bytes)
        memcpy(copy, lines->data + at, lines->bytes - at);
    return copy;
}

/*
 * Checks the escapes at the set bits of the block at `at`. Returns the bit of the first invalid
 * escape, or 0. Not inlined: escapes are rare.
 */
__attribute__((noinline)) static uint64_t json_lines_check_escapes(struct json_lines *lines,
                                                                   size_t at, uint64_t bits)
{
    uint32_t code;

    for (; bits; bits &= bits - 1) {
        const size_t begin = at + text_block_first(bits);
        if (begin < lines->escapes_end)
            continue; /* the second half of a surrogate pair */
        const size_t bytes = json_escape_read(lines->data + begin, lines->bytes - begin, &code);
        if (bytes == 0)
            return bits & -bits;
        lines->escapes_end = begin + bytes;
    }
    return 0;
}

/* Indexes the next window, at lines->next. The text does not end before it. */
TEXT_INLINE void json_lines_index(enum cpu_isa isa, struct json_lines *lines)
{
    const size_t window = lines->next;
    const size_t text_end = lines->bytes;
    size_t at = window;
    uint64_t is_escaped = lines->is_escaped;
    uint64_t is_inside = 0 - (uint64_t)lines->is_inside; /* all bits set, or 0 */
    uint64_t backslashes = 0;
    unsigned count = 0;
    char copy[TEXT_BLOCK];

    do {
        const char *block = json_lines_block(lines, at, copy);
        const struct json_masks masks = json_block_masks(isa, block, lines->end_byte);
        const uint64_t escaped = text_block_escaped(masks.backslashes, &is_escaped);
        const uint64_t quotes = masks.quotes & ~escaped;
        const uint64_t inside = text_quotes_prefix_xor(quotes) ^ is_inside;
        uint64_t entries = quotes | (masks.operators & ~inside);
        uint64_t wrong = masks.controls & inside;
        if (__builtin_expect(masks.backslashes != 0, false))
            wrong |= json_lines_check_escapes(lines, at, masks.backslashes & inside & ~escaped);
        if (__builtin_expect(wrong != 0, false)) {
            entries &= (wrong & -wrong) - 1;
            lines->next = at + text_block_first(wrong);
            lines->is_broken = true;
        }
        json_block_write_bits(entries, (unsigned)(at - window), lines->index + count);
        count += (unsigned)__builtin_popcountll(entries);
        backslashes |= masks.backslashes;
        is_inside = 0 - (inside >> 63);
        at += TEXT_BLOCK;
    } while (!lines->is_broken && at <= text_end && at - window < JSON_WINDOW_BYTES);
    if (!lines->is_broken)
        lines->next = at;
    lines->window = window;
    lines->count = count;
    lines->is_escaped = is_escaped != 0;
    lines->is_inside = is_inside != 0;
    lines->window_has_backslash = backslashes != 0;
    lines->has_backslash |= backslashes != 0;
}

#define JSON_LINES_WRAP(isa, target, ...)                                            \
    target TEXT_FLATTEN static void json_lines_index_##isa(struct json_lines *lines) \
    {                                                                                \
        json_lines_index((enum cpu_isa)TEXT_ISA_##isa, lines);                       \
    }
CPU_ISA_VARIANTS(JSON_LINES_WRAP, )

#define JSON_LINES_ENTRY(isa, target, ...) json_lines_index_##isa,

/* Restarts the index at `at`, the start of a row. */
static void json_lines_restart(struct json_lines *lines, size_t at)
{
    lines->window = lines->next = at;
    lines->escapes_end = 0;
    lines->count = lines->used = 0;
    lines->is_broken = lines->is_escaped = lines->is_inside = false;
    lines->window_has_backslash = false;
}

void json_lines_begin(struct json_lines *lines, const struct json_columns *columns, char end_byte,
                      const char *data, size_t bytes)
{
    static void (*const functions[CPU_ISA_COUNT])(struct json_lines *) = {
        CPU_ISA_VARIANTS(JSON_LINES_ENTRY, )};

    lines->index_window = functions[cpu_isa_best()];
    lines->columns = columns;
    lines->data = data;
    lines->bytes = bytes;
    lines->end_byte = end_byte;
    lines->row_next = 0;
    lines->element = 0;
    for (unsigned i = 0; i < JSON_SHAPES; i++)
        lines->shapes[i].count = 0;
    lines->shape = lines->shape_oldest = lines->misses = 0;
    json_lines_restart(lines, 0);
}

/* --- the second stage: rows ------------------------------------------------------------------- */

#define JSON_STACK_ARRAY 0x8000

/* The place of the scan in the index. */
struct json_cursor {
    const uint16_t *entry;
    const uint16_t *end;
    size_t window;
};

/* Returns the offset of the next entry; if the index is broken, that of the invalid byte. */
TEXT_INLINE size_t json_take(struct json_lines *lines, struct json_cursor *cursor)
{
    while (__builtin_expect(cursor->entry == cursor->end, false)) {
        if (lines->is_broken)
            return lines->next;
        lines->index_window(lines);
        *cursor = (struct json_cursor){lines->index, lines->index + lines->count, lines->window};
    }
    return cursor->window + *cursor->entry++;
}

/* Returns the byte of an entry; after the text, an end byte. */
TEXT_INLINE char json_byte(const struct json_lines *lines, size_t at)
{
    return __builtin_expect(at < lines->bytes, true) ? lines->data[at] : lines->end_byte;
}

TEXT_INLINE bool json_is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Returns the first byte of data[begin..end) that is not white space, or `end`. */
TEXT_INLINE size_t json_skip_blanks(const char *data, size_t begin, size_t end)
{
    while (begin < end && json_is_blank(data[begin]))
        begin++;
    return begin;
}

/* Returns whether the `bytes` at `text`, of which `readable` may be read, are an integer of 1 to 8
 * digits.
 */
TEXT_INLINE bool json_is_short_integer(const char *text, size_t bytes, size_t readable)
{
    if (bytes - 1 > 7 || readable < 8 || (*text == '0' && bytes > 1))
        return false;
    const uint64_t digits = (bytes_load(text) ^ BYTES_OF('0')) << (64 - 8 * bytes);
    return (((digits + BYTES_OF(0x80 - 10)) | digits) & BYTES_OF(0x80)) == 0;
}

/*
 * Returns the kind of the number or literal text[0..*bytes), JSON_MISSING if it is neither.
 * Excludes trailing white space from *bytes. The text has `readable` >= *bytes bytes.
 */
TEXT_INLINE enum json_kind json_scalar_kind(const char *text, size_t *bytes, size_t readable)
{
    while (json_is_blank(text[*bytes - 1]))
        --*bytes;
    if (json_is_short_integer(text, *bytes, readable) || json_is_number(text, *bytes))
        return JSON_NUMBER;
    if (*bytes == 4 && memcmp(text, "true", 4) == 0)
        return JSON_TRUE;
    if (*bytes == 5 && memcmp(text, "false", 5) == 0)
        return JSON_FALSE;
    return *bytes == 4 && memcmp(text, "null", 4) == 0 ? JSON_NULL : JSON_MISSING;
}

/* Stores the value of a node if it is wanted; the values of nodes below it become missing. */
TEXT_INLINE void json_store(const struct json_node *node, struct row_value *values,
                            enum json_kind kind, size_t offset, size_t bytes)
{
    for (uint64_t below = node->below; below; below &= below - 1)
        values[text_block_first(below)].kind = JSON_MISSING;
    if (node->column != JSON_NO_COLUMN)
        values[node->column] = (struct row_value){kind, offset, bytes};
}

/*
 * Ends a row with a fault. The scan continues after the row; strings are valid until there, unless
 * the index is broken within the row.
 */
__attribute__((noinline)) static enum row_event json_lines_fail(struct json_lines *lines,
                                                                const struct json_cursor *cursor,
                                                                enum json_fault fault,
                                                                size_t offset)
{
    const char *end = offset < lines->bytes
                          ? memchr(lines->data + offset, lines->end_byte, lines->bytes - offset)
                          : NULL;

    lines->fault = fault;
    lines->fault_offset = offset;
    lines->row_end = end ? (size_t)(end - lines->data) : lines->bytes;
    lines->used = (unsigned)(cursor->entry - lines->index);
    lines->row_next = lines->row_end + 1;
    if (lines->row_next > lines->next)
        json_lines_restart(lines, lines->row_next);
    while (lines->used < lines->count &&
           lines->window + lines->index[lines->used] < lines->row_next)
        lines->used++;
    return ROW_INVALID;
}

/*
 * Like json_lines_fail, but for a string at `quote` that the first stage found invalid.
 */
static enum row_event json_lines_fail_string(struct json_lines *lines,
                                             const struct json_cursor *cursor, size_t quote)
{
    const char wrong = json_byte(lines, lines->next);

    if (wrong == lines->end_byte ||
        (wrong == '\r' && json_byte(lines, lines->next + 1) == lines->end_byte))
        return json_lines_fail(lines, cursor, JSON_UNCLOSED, quote);
    return json_lines_fail(lines, cursor, wrong == '\\' ? JSON_BAD_ESCAPE : JSON_CONTROL,
                           lines->next);
}

/* An entry, and the gap before it. */
struct json_step {
    size_t at;
    size_t gap; /* the first byte since the last entry that is not white space, or `at` */
    char byte;  /* the byte of the entry */
};

/* Takes the next entry; the last one ended at `from`. */
TEXT_INLINE struct json_step json_step(struct json_lines *lines, struct json_cursor *cursor,
                                       size_t from)
{
    const size_t at = json_take(lines, cursor);

    return (struct json_step){at, json_skip_blanks(lines->data, from, at), json_byte(lines, at)};
}

/* Takes the entry that ends a string, and sets *end to it. Returns false if the string is invalid.
 */
TEXT_INLINE bool json_take_string(struct json_lines *lines, struct json_cursor *cursor, size_t *end)
{
    *end = json_take(lines, cursor);
    return json_byte(lines, *end) == '"';
}

/* Returns whether the string data[begin..end) has escapes. */
TEXT_INLINE bool json_has_escapes(const struct json_lines *lines, size_t begin, size_t end)
{
    return lines->has_backslash && memchr(lines->data + begin, '\\', end - begin);
}

/* Returns the kind of the string data[begin..end), the value of a node. */
TEXT_INLINE enum json_kind json_string_kind(const struct json_lines *lines,
                                            const struct json_node *node, size_t begin, size_t end)
{
    return node->column != JSON_NO_COLUMN && json_has_escapes(lines, begin, end) ? JSON_ESCAPED
                                                                                 : JSON_STRING;
}

/* Stores a number, literal or string that ends at the last entry taken, also for the row's shape.
 */
TEXT_INLINE void json_store_scalar(struct json_lines *lines, const struct json_cursor *cursor,
                                   unsigned node, struct row_value *values, enum json_kind kind,
                                   size_t offset, size_t bytes)
{
    json_store(&lines->columns->nodes[node], values, kind, offset, bytes);
    if (lines->mark_count < JSON_SHAPE_VALUES)
        lines->marks[lines->mark_count] =
            (struct json_mark){(uint16_t)(cursor->entry - 1 - lines->index), (uint16_t)node};
    lines->mark_count++;
}

/* Stores an object or an array, whose bytes are not known yet. If it is wanted, or replaces wanted
 * values, the row's shape is not kept. */
TEXT_INLINE void json_store_open(struct json_lines *lines, const struct json_node *node,
                                 struct row_value *values, enum json_kind kind, size_t offset)
{
    bool is_stored = node->column != JSON_NO_COLUMN;

    for (uint64_t below = node->below; below; below &= below - 1)
        is_stored |= values[text_block_first(below)].kind != JSON_MISSING;
    if (is_stored)
        lines->mark_count = JSON_SHAPE_VALUES + 1;
    json_store(node, values, kind, offset, 0);
}

/* Scans the row whose first bracket is the last entry taken, `step`. */
TEXT_INLINE enum row_event json_lines_scan(struct json_lines *lines, struct json_cursor *cursor,
                                           struct json_step step, struct row_value *values)
{
    const struct json_node *const nodes = lines->columns->nodes;
    const char *const data = lines->data;
    unsigned node = JSON_NODE_ROW; /* the node of the open object, or of the value */
    unsigned depth = 0;
    enum json_fault fault;
    size_t from; /* the start of a string, after its quote */
    bool is_array;

open: /* the bracket at step.at, of the value `node` */
    if (depth == JSON_DEPTH_MAX)
        return json_lines_fail(lines, cursor, JSON_TOO_DEEP, step.at);
    is_array = data[step.at] == '[';
    lines->stack[depth++] = (uint16_t)(is_array ? node | JSON_STACK_ARRAY : node);
    step = json_step(lines, cursor, step.at + 1);
    if (step.gap == step.at && step.byte == (is_array ? ']' : '}'))
        goto close;
    if (is_array)
        goto element;

key: /* a key of the object `node` */
    fault = JSON_NO_KEY;
    if (step.gap < step.at || step.byte != '"')
        goto fail;
    from = step.at + 1;
    if (!json_take_string(lines, cursor, &step.at))
        return json_lines_fail_string(lines, cursor, from - 1);
    if (json_has_escapes(lines, from, step.at))
        node = json_columns_find_escaped(lines->columns, node, data + from, step.at - from);
    else
        node = json_columns_find(lines->columns, node, data + from, step.at - from,
                                 lines->bytes - from);
    step = json_step(lines, cursor, step.at + 1);
    fault = JSON_NO_COLON;
    if (step.gap < step.at || step.byte != ':')
        goto fail;
    step = json_step(lines, cursor, step.at + 1);
    goto value;

element: /* an element of an array */
    node = JSON_NODE_NONE;

value: /* the value of `node` */
    fault = JSON_BAD_VALUE;
    if (step.gap < step.at) {
        size_t length = step.at - step.gap;
        const enum json_kind kind =
            json_scalar_kind(data + step.gap, &length, lines->bytes - step.gap);
        if (kind == JSON_MISSING)
            goto fail;
        json_store_scalar(lines, cursor, node, values, kind, step.gap, length);
        step.gap = step.at;
    } else if (step.byte == '"') {
        from = step.at + 1;
        if (!json_take_string(lines, cursor, &step.at))
            return json_lines_fail_string(lines, cursor, from - 1);
        json_store_scalar(lines, cursor, node, values,
                          json_string_kind(lines, &nodes[node], from, step.at), from,
                          step.at - from);
        step = json_step(lines, cursor, step.at + 1);
    } else {
        if (step.byte != '{' && step.byte != '[')
            goto fail;
        json_store_open(lines, &nodes[node], values, step.byte == '{' ? JSON_OBJECT : JSON_ARRAY,
                        step.at);
        goto open;
    }

next: /* after a value */
    fault = JSON_NO_COMMA;
    node = lines->stack[depth - 1];
    is_array = node & JSON_STACK_ARRAY;
    if (step.byte == ',' && step.gap == step.at) {
        step = json_step(lines, cursor, step.at + 1);
        if (is_array)
            goto element;
        goto key;
    }
    if (step.byte != (is_array ? ']' : '}') || step.gap < step.at)
        goto fail;

close: /* the bracket at step.at */
    node = lines->stack[--depth] & ~(unsigned)JSON_STACK_ARRAY;
    if (nodes[node].column != JSON_NO_COLUMN)
        values[nodes[node].column].bytes = step.at + 1 - values[nodes[node].column].offset;
    step = json_step(lines, cursor, step.at + 1);
    if (depth > 0)
        goto next;
    lines->row_end = step.at;
    fault = JSON_NOT_ONE;
    if (step.gap == step.at && step.byte == lines->end_byte)
        return ROW_FOUND;

fail:
    if (step.gap == step.at && step.byte == lines->end_byte)
        fault = JSON_UNCLOSED;
    return json_lines_fail(lines, cursor, fault, step.gap);
}

/* Makes the values of all columns missing. */
TEXT_INLINE void json_clear(const struct json_lines *lines, struct row_value *values)
{
    for (unsigned i = 0; i < lines->columns->columns; i++)
        values[i].kind = JSON_MISSING;
}

/* Returns whether two strings are equal. After each, 7 bytes more are readable. */
TEXT_INLINE bool json_is_equal(const char *text, const char *other, size_t bytes)
{
    size_t at = 0;

    for (; at + 8 < bytes; at += 8) {
        if (bytes_load(text + at) != bytes_load(other + at))
            return false;
    }
    return (bytes_load(text + at) ^ bytes_load(other + at)) << (64 - 8 * (bytes - at)) == 0;
}

/*
 * Scans a row that begins with the last entry taken, at `begin`, if it has the shape. It is then
 * valid, because the row of that shape was: only its numbers and literals must be checked, and the
 * wanted values read. Returns false if it has another shape, or is not completely indexed.
 */
TEXT_INLINE bool json_lines_scan_shape(struct json_lines *lines, const struct json_shape *shape,
                                       struct json_cursor *cursor, size_t begin,
                                       struct row_value *values)
{
    const struct json_node *const nodes = lines->columns->nodes;
    const char *const data = lines->data;
    const uint16_t *entry = cursor->entry;
    const char *text = shape->text;
    size_t at = begin;

    if (shape->count == 0 || (size_t)(cursor->end - entry) < shape->entries)
        return false;
    json_clear(lines, values);
    for (const struct json_piece *piece = shape->pieces;; piece++) {
        if (lines->bytes - at < piece->bytes + (size_t)8 ||
            !json_is_equal(data + at, text, piece->bytes))
            return false;
        text += piece->bytes;
        entry += piece->entries;
        at += piece->bytes;
        if (piece == &shape->pieces[shape->count - 1])
            break;
        const size_t end = cursor->window + *entry++;
        size_t value = at;
        size_t length = end - at;
        enum json_kind kind;
        if (!piece->is_string) {
            value = json_skip_blanks(data, at, end);
            length = end - value;
            kind = length > 0 ? json_scalar_kind(data + value, &length, lines->bytes - value)
                              : JSON_MISSING;
            if (kind == JSON_MISSING)
                return false;
        } else {
            kind = json_string_kind(lines, &nodes[piece->node], at, end);
        }
        if (piece->node != JSON_NODE_NONE)
            json_store(&nodes[piece->node], values, kind, value, length);
        at = end;
    }
    cursor->entry = entry;
    lines->row_end = at - 1;
    return true;
}

/* Keeps the shape of the scanned row, which has the entries [first, end) of the index. */
static void json_shape_keep(struct json_lines *lines, size_t first, size_t end)
{
    struct json_shape *shape = &lines->shapes[lines->shape_oldest];
    const uint16_t *index = lines->index;
    size_t used = 0;

    shape->count = 0;
    shape->entries = (unsigned)(end - first - 1);
    for (unsigned i = 0; i <= lines->mark_count; i++) {
        const bool is_last = i == lines->mark_count;
        const size_t last = is_last ? end - 1 : lines->marks[i].entry - (size_t)1;
        const size_t bytes = index[last] + (size_t)1 - index[first];
        if (used + bytes > JSON_SHAPE_BYTES)
            return;
        memcpy(shape->text + used, lines->data + lines->window + index[first], bytes);
        used += bytes;
        shape->pieces[i] = (struct json_piece){
            .bytes = (uint16_t)bytes,
            .entries = (uint16_t)(last - first),
            .node = is_last ? JSON_NODE_NONE : lines->marks[i].node,
            .is_string = lines->data[lines->window + index[last]] == '"',
        };
        first = last + 1;
    }
    shape->count = lines->mark_count + 1;
    lines->shape = lines->shape_oldest;
    lines->shape_oldest = (lines->shape_oldest + 1) % JSON_SHAPES;
}

/* Scans the next row, without the values of elements of arrays. */
static enum row_event json_lines_scan_next(struct json_lines *lines, struct row_value *values)
{
    struct json_cursor cursor = {lines->index + lines->used, lines->index + lines->count,
                                 lines->window};
    struct json_step step;

    for (;; lines->row_next = step.at + 1) {
        if (lines->row_next > lines->bytes)
            return ROW_END;
        lines->has_backslash = lines->window_has_backslash;
        step = json_step(lines, &cursor, lines->row_next);
        if (step.gap < step.at || step.byte != lines->end_byte)
            break;
    }
    lines->row_begin = lines->row_next;
    if (step.gap < step.at || step.byte != '{')
        return json_lines_fail(lines, &cursor, JSON_NOT_OBJECT, step.gap);
    enum row_event event = ROW_INVALID;
    for (unsigned i = 0; event == ROW_INVALID && i < JSON_SHAPES; i++) {
        const unsigned shape = (lines->shape + i) % JSON_SHAPES;
        if (!json_lines_scan_shape(lines, &lines->shapes[shape], &cursor, step.at, values))
            continue;
        lines->shape = shape;
        lines->misses = 0;
        event = ROW_FOUND;
    }
    if (event == ROW_INVALID) {
        const size_t first = (size_t)(cursor.entry - 1 - lines->index);
        json_clear(lines, values);
        lines->mark_count = 0;
        event = json_lines_scan(lines, &cursor, step, values);
        /* If rows have many shapes, few of them are kept. */
        const unsigned misses = ++lines->misses;
        if (event == ROW_FOUND && (misses & (misses - 1)) == 0 &&
            lines->mark_count <= JSON_SHAPE_VALUES && lines->row_begin >= lines->window &&
            lines->row_end < lines->bytes)
            json_shape_keep(lines, first, (size_t)(cursor.entry - lines->index));
    }
    if (event == ROW_FOUND) {
        lines->row_next = lines->row_end + 1;
        lines->used = (unsigned)(cursor.entry - lines->index);
    }
    return event;
}

/* --- the third stage: elements of arrays ------------------------------------------------------ */

/*
 * The following functions read a valid row, which contains the offset `at`. They return
 * JSON_NOWHERE if there is no such value.
 */
#define JSON_NOWHERE SIZE_MAX

/* Returns the offset after the string at data[at]. */
static size_t json_string_end(const char *data, size_t at, size_t end)
{
    for (size_t i = at + 1;; i++) {
        const char *quote = memchr(data + i, '"', end - i);
        i = (size_t)(quote - data);
        size_t first = i;
        while (data[first - 1] == '\\')
            first--;
        if ((i - first) % 2 == 0)
            return i + 1;
    }
}

/* Returns the offset after the value at data[at]. */
static size_t json_value_end(const char *data, size_t at, size_t end)
{
    size_t depth = 0;

    do {
        switch (data[at]) {
        case '"':
            at = json_string_end(data, at, end);
            break;
        case '{':
        case '[':
            depth++;
            at++;
            break;
        case '}':
        case ']':
            depth--;
            at++;
            break;
        default: /* a number or literal, or within brackets a separator of values */
            for (at++; depth == 0 && !memchr(",]} \t\r\n", data[at], 7); at++)
                ;
        }
    } while (depth > 0);
    return at;
}

/* Returns the first value in the array or object at data[at], or the bracket that ends it. */
static size_t json_first_in(const char *data, size_t at, size_t end)
{
    return json_skip_blanks(data, at + 1, end);
}

/* Returns the value or member after the one that ends before data[at], or the closing bracket. */
static size_t json_next_in(const char *data, size_t at, size_t end)
{
    at = json_skip_blanks(data, at, end);
    return data[at] == ',' ? json_skip_blanks(data, at + 1, end) : at;
}

/* Returns the value of the last member with the key in the object at data[at]. */
static size_t json_find_member(const char *data, size_t at, size_t end, const struct json_hop *hop)
{
    size_t found = JSON_NOWHERE;

    if (data[at] != '{')
        return JSON_NOWHERE;
    for (at = json_first_in(data, at, end); data[at] != '}';) {
        const size_t key = at + 1;
        at = json_string_end(data, at, end);
        const bool is_found = json_is_key(data + key, at - 1 - key, hop->key, hop->key_bytes);
        at = json_skip_blanks(data, json_skip_blanks(data, at, end) + 1, end);
        found = is_found ? at : found;
        at = json_next_in(data, json_value_end(data, at, end), end);
    }
    return found;
}

/* Returns the element with that index of the array at data[at]. */
static size_t json_find_element(const char *data, size_t at, size_t end, int64_t index)
{
    size_t ahead; /* ahead of `at` by the index from the end */

    if (data[at] != '[')
        return JSON_NOWHERE;
    at = ahead = json_first_in(data, at, end);
    const bool is_from_end = index < 0;
    for (; index < 0 && data[ahead] != ']'; index++)
        ahead = json_next_in(data, json_value_end(data, ahead, end), end);
    if (index < 0)
        return JSON_NOWHERE;
    for (; is_from_end && data[ahead] != ']'; index++)
        ahead = json_next_in(data, json_value_end(data, ahead, end), end);
    for (; index > 0 && data[at] != ']'; index--)
        at = json_next_in(data, json_value_end(data, at, end), end);
    return data[at] == ']' ? JSON_NOWHERE : at;
}

/* Returns the value that hops lead to from data[at]. */
static size_t json_follow(const char *data, size_t at, size_t end, const struct json_hop *hops,
                          size_t count)
{
    for (size_t i = 0; i < count && at != JSON_NOWHERE; i++)
        at = hops[i].key ? json_find_member(data, at, end, &hops[i])
                         : json_find_element(data, at, end, hops[i].index);
    return at;
}

/* Returns the value at data[at]. */
static struct row_value json_read_value(const char *data, size_t at, size_t end)
{
    if (at == JSON_NOWHERE)
        return (struct row_value){.kind = JSON_MISSING};
    const size_t bytes = json_value_end(data, at, end) - at;
    const char first = data[at];
    if (first == '"')
        return (struct row_value){memchr(data + at, '\\', bytes) ? JSON_ESCAPED : JSON_STRING,
                                  at + 1, bytes - 2};
    const enum json_kind kind = first == '{'   ? JSON_OBJECT
                                : first == '[' ? JSON_ARRAY
                                : first == 't' ? JSON_TRUE
                                : first == 'f' ? JSON_FALSE
                                : first == 'n' ? JSON_NULL
                                               : JSON_NUMBER;
    return (struct row_value){kind, at, bytes};
}

/* Stores the value of an element's column, for `[]` the next value. Returns false if the array is
 * empty. */
static bool json_lines_store_element(struct json_lines *lines, const struct json_element *element,
                                     struct row_value *values)
{
    const char *data = lines->data;
    const size_t end = lines->row_end;
    const struct row_value *array = &values[element->array];
    struct row_value *value = &values[element->column];
    const struct json_hop *hops = element->hops;
    const size_t each = element->each;
    size_t at = lines->element; /* the element of `[]`, unless it is the first */

    if (element->member != JSON_NO_COLUMN && values[element->member].kind != JSON_MISSING) {
        *value = values[element->member];
        return true;
    }
    value->kind = JSON_MISSING;
    if (array->kind != JSON_ARRAY)
        return true;
    if (each == SIZE_MAX) {
        at = json_follow(data, array->offset, end, hops, element->count);
        *value = json_read_value(data, at, end);
        return true;
    }
    if (at == 0) {
        at = json_follow(data, array->offset, end, hops, each);
        if (at == JSON_NOWHERE || data[at] != '[')
            return true;
        at = json_first_in(data, at, end);
        if (data[at] == ']')
            return false;
    }
    *value = json_read_value(data,
                             json_follow(data, at, end, hops + each + 1, element->count - each - 1),
                             end);
    at = json_next_in(data, json_value_end(data, at, end), end);
    lines->element = data[at] == ']' ? 0 : at;
    return true;
}

enum row_event json_lines_next(struct json_lines *lines, struct row_value *values)
{
    const struct json_columns *columns = lines->columns;
    const size_t bytes = columns->columns * sizeof *values;
    bool has_values;

    do {
        has_values = true;
        if (lines->element > 0) {
            memcpy(values, lines->values, bytes);
        } else {
            const enum row_event event = json_lines_scan_next(lines, values);
            if (event != ROW_FOUND)
                return event;
        }
        const bool is_next = lines->element > 0; /* the row was returned before */
        for (size_t i = 0; i < columns->element_count; i++) {
            const struct json_element *element = &columns->elements[i];
            if (element->each != SIZE_MAX || !is_next)
                has_values &= json_lines_store_element(lines, element, values);
        }
        if (lines->element > 0)
            memcpy(lines->values, values, bytes);
    } while (!has_values);
    return ROW_FOUND;
}

const char *json_fault_text(enum json_fault fault)
{
    static const char *const strings[] = {
        [JSON_NOT_OBJECT] = "not an object",
        [JSON_BAD_VALUE] = "a value is not a number, string, true, false or null",
        [JSON_NO_KEY] = "missing quoted key",
        [JSON_NO_COLON] = "missing colon",
        [JSON_NO_COMMA] = "missing comma or bracket",
        [JSON_UNCLOSED] = "unterminated string, object or array",
        [JSON_BAD_ESCAPE] = "invalid escape in a string",
        [JSON_CONTROL] = "control character in a string",
        [JSON_TOO_DEEP] = "objects or arrays nested too deep",
        [JSON_NOT_ONE] = "trailing data after the object",
    };
    return strings[fault];
}

/* --- the row of the table --------------------------------------------------------------------- */

static enum status json_want(void **columns, const char *name, unsigned *number,
                             struct failure *failure)
{
    if (!*columns && !(*columns = json_columns_create()))
        return status_fail(failure, STATUS_DATA, "not enough memory for the names of columns");
    return json_columns_add(*columns, name, strlen(name), number, failure);
}

static void json_forget(void *columns)
{
    if (columns)
        json_columns_destroy(columns);
}

static bool json_is_each(const void *columns, int32_t field)
{
    return json_columns_is_each(columns, (unsigned)field - 1);
}

static void json_begin(void *scan, const void *columns, const char *data, size_t bytes)
{
    json_lines_begin(scan, columns, '\n', data, bytes);
}

static enum row_event json_next(void *scan, struct row *row)
{
    struct json_lines *lines = scan;
    const enum row_event event = json_lines_next(lines, row->values);

    row->begin = lines->row_begin;
    row->end = lines->row_end;
    if (event == ROW_INVALID)
        row->fault = json_fault_text(lines->fault);
    return event;
}

static void json_suggest(const char *row, size_t bytes, const char *name,
                         char column[ROW_NAME_SIZE])
{
    const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
    struct nearest search = nearest_begin(last, strlen(last));
    char found[ROW_NAME_SIZE] = "";        /* the path of a key */
    size_t ends[JSON_SUGGEST_DEPTH] = {0}; /* the ends of the paths of the open objects */
    size_t depth = 0;
    size_t arrays = 0; /* number of open arrays, whose members are not suggested */

    column[0] = '\0';
    const size_t before = strcspn(name, "[");
    if (name[before] != '\0') { /* another element cannot be meant */
        if (*name != '.' && strlen(name) + 1 < ROW_NAME_SIZE && memmem(row, bytes, name, before))
            snprintf(column, ROW_NAME_SIZE, ".%s", name);
        return;
    }
    for (size_t i = 0; i < bytes && depth < JSON_SUGGEST_DEPTH; i++) {
        arrays += row[i] == '[';
        arrays -= row[i] == ']' && arrays > 0;
        if (row[i] == '{' && arrays == 0)
            ends[depth++] = strlen(found);
        else if (row[i] == '}' && arrays == 0 && depth > 0)
            depth--;
        if (row[i] != '"')
            continue;
        const size_t begin = ++i;
        while (i < bytes && row[i] != '"')
            i += (size_t)1 + (row[i] == '\\');
        size_t next = i + 1;
        while (next < bytes && (row[next] == ' ' || row[next] == '\t'))
            next++;
        if (next >= bytes || row[next] != ':' || arrays > 0 || depth == 0)
            continue;
        const size_t end = ends[depth - 1];
        const size_t key = i - begin;
        if (end + key + 2 > sizeof found || memchr(row + begin, '.', key))
            continue;
        const bool has_path = depth > 1 || *name == '.';
        snprintf(found + end, sizeof found - end, ".%.*s", (int)key, row + begin);
        const unsigned distance = search.distance;
        if (strcmp(found + !has_path, name) != 0)
            nearest_try(&search, row + begin, key);
        if (search.distance < distance)
            strcpy(column, found + !has_path);
    }
}

const struct row_scanner json_scanner = {
    .option = "jsonl",
    .names_columns = true,
    .noun = "JSON",
    .part = "JSON member",
    .wanted = "-f NAME or -f .PATH",
    .none = "null",
    .want = json_want,
    .forget = json_forget,
    .is_each = json_is_each,
    .scan_bytes = sizeof(struct json_lines),
    .begin = json_begin,
    .next = json_next,
    .decode = json_string_decode,
    .suggest = json_suggest,
};
