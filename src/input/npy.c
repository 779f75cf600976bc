/* Implements npy.h: parses the Python literal of a header. */
#include "config.h"

#include "input/npy.h"

#include "lib/printable.h"

#include <stdio.h>
#include <string.h>

#define NPY_MAGIC       "\x93NUMPY"
#define NPY_MAGIC_BYTES (sizeof NPY_MAGIC - 1)

/* Maximum bytes of a type in a reason. */
#define NPY_SHOWN 64

/* The rest of the literal. Its end reads as NUL. */
struct npy_text {
    const char *next;
    const char *end;
};

/* Returns the next character that is not white space; NUL at the end. */
static char npy_peek(struct npy_text *text)
{
    while (text->next < text->end && memchr(" \t\r\n\f", *text->next, 5))
        text->next++;
    return text->next < text->end ? *text->next : '\0';
}

static bool npy_take(struct npy_text *text, char wanted)
{
    const bool is_next = npy_peek(text) == wanted && text->next < text->end;

    text->next += is_next;
    return is_next;
}

/* Takes a string without escapes; stores its contents without quotes in *string. */
static bool npy_take_string(struct npy_text *text, struct npy_text *string)
{
    const char quote = npy_peek(text);

    if (quote != '\'' && quote != '"')
        return false;
    string->next = ++text->next;
    while (text->next < text->end && *text->next != quote && *text->next != '\\')
        text->next++;
    string->end = text->next;
    return npy_take(text, quote);
}

static bool npy_is(const struct npy_text *string, const char *word)
{
    const size_t length = (size_t)(string->end - string->next);
    return length == strlen(word) && memcmp(string->next, word, length) == 0;
}

/*
 * Takes the tuple of lengths, with or without the L of Python 2. Stores the first length, the
 * product of the others (at most UINT64_MAX), and the number of lengths.
 */
static bool npy_take_shape(struct npy_text *text, uint64_t lengths[2], size_t *count)
{
    *count = 0;
    lengths[0] = lengths[1] = 1;
    if (!npy_take(text, '('))
        return false;
    while (!npy_take(text, ')')) {
        const char first = npy_peek(text);
        const char *begin = text->next;
        uint64_t length = 0;
        for (; text->next < text->end && *text->next >= '0' && *text->next <= '9'; text->next++) {
            if (__builtin_mul_overflow(length, 10, &length) ||
                __builtin_add_overflow(length, (uint64_t)(*text->next - '0'), &length))
                return false;
        }
        if (text->next == begin || (first == '0' && text->next - begin > 1))
            return false;
        text->next += text->next < text->end && *text->next == 'L';
        uint64_t *to = &lengths[*count > 0];
        if (__builtin_mul_overflow(*to, length, to))
            *to = UINT64_MAX;
        ++*count;
        if (!npy_take(text, ',') && (*count == 1 || npy_peek(text) != ')'))
            return false; /* (3) is a number */
    }
    return true;
}

/* Takes a structured type: a list, up to the closing bracket. */
static bool npy_take_list(struct npy_text *text)
{
    struct npy_text string;
    size_t depth = 0;

    if (npy_peek(text) != '[' && npy_peek(text) != '(')
        return false;
    do {
        const char next = npy_peek(text);
        if (next == '\'' || next == '"') {
            if (!npy_take_string(text, &string))
                return false;
            continue;
        }
        depth += next == '[' || next == '(';
        depth -= next == ']' || next == ')';
        text->next++;
    } while (depth > 0 && text->next < text->end);
    return depth == 0;
}

/* Finds the element type of a NumPy string such as "<i4", "|u1" or "u2". */
static bool npy_find_element(const struct npy_text *type, struct npy *npy)
{
    const bool has_order = type->next < type->end && memchr("<>|=", *type->next, 4) != NULL;
    const char order = has_order ? *type->next : '=';
    const char *name = type->next + has_order;

    if (type->end - name != 2 || !memchr("iuf", name[0], 3) || name[1] < '1' || name[1] > '8' ||
        (order == '|' && name[1] != '1'))
        return false;
    const bool is_big = order == '>' || (order == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    snprintf(npy->type, sizeof npy->type, "%c%u%s", name[0], 8u * (unsigned)(name[1] - '0'),
             name[1] == '1' ? ""
             : is_big       ? "be"
                            : "le");
    return element_parse(npy->type, &npy->element);
}

static enum npy_result npy_fail(char reason[NPY_REASON_SIZE], const char *text)
{
    snprintf(reason, NPY_REASON_SIZE, "%s", text);
    return NPY_UNSUPPORTED;
}

/* Reads the literal with its three entries, in any order. */
static enum npy_result npy_read_literal(struct npy_text text, struct npy *npy,
                                        char reason[NPY_REASON_SIZE])
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    static const char damaged[] = "its NumPy header is corrupt";
    struct npy_text type = {.next = NULL};
    uint64_t lengths[2] = {1, 1};
    size_t dimensions = 0;
    bool is_list = false;
    unsigned seen = 0; /* one bit per key */

    if (!npy_take(&text, '{'))
        return npy_fail(reason, damaged);
    while (!npy_take(&text, '}')) {
        struct npy_text word;
        size_t key = 0;
        bool is_valid = npy_take_string(&text, &word) && npy_take(&text, ':');
        while (is_valid && key < 3 && !npy_is(&word, keys[key]))
            key++;
        is_valid = is_valid && key < 3 && !(seen & 1u << key);
        seen |= 1u << key;
        if (is_valid && key == 0) {
            npy_peek(&text);
            type.next = text.next;
            is_list = npy_peek(&text) == '[' || npy_peek(&text) == '(';
            is_valid = is_list ? npy_take_list(&text) : npy_take_string(&text, &type);
            type.end = is_list ? text.next : type.end;
        } else if (is_valid && key == 1) {
            npy_peek(&text);
            word.next = text.next;
            while (text.next < text.end && (*text.next | 32) >= 'a' && (*text.next | 32) <= 'z')
                text.next++;
            word.end = text.next;
            npy->is_column_major = npy_is(&word, "True");
            is_valid = npy->is_column_major || npy_is(&word, "False");
        } else if (is_valid) {
            is_valid = npy_take_shape(&text, lengths, &dimensions);
        }
        if (!is_valid || (!npy_take(&text, ',') && npy_peek(&text) != '}'))
            return npy_fail(reason, damaged);
    }
    npy_peek(&text);
    if (seen != 7 || text.next < text.end)
        return npy_fail(reason, damaged);

    if (is_list || !npy_find_element(&type, npy)) {
        const size_t length = (size_t)(type.end - type.next);
        const bool is_cut = length > NPY_SHOWN;
        snprintf(reason, NPY_REASON_SIZE,
                 "its NumPy array is of type %s%.*s%s%s, and only integers and floats are read",
                 is_list ? "" : "'", (int)(is_cut ? NPY_SHOWN : length), type.next,
                 is_cut ? "..." : "", is_list ? "" : "'");
        printable_mask(reason);
        return NPY_UNSUPPORTED;
    }
    npy->rows = lengths[0];
    npy->columns = lengths[1];
    npy->dimensions = dimensions;
    if (__builtin_mul_overflow(npy->rows, npy->columns, &npy->data_bytes) ||
        __builtin_mul_overflow(npy->data_bytes, element_stored_bytes(&npy->element),
                               &npy->data_bytes) ||
        npy->data_bytes > INT64_MAX - NPY_HEADER_MAX || npy->columns > INT64_MAX / 8)
        return npy_fail(reason, "the shape of its NumPy array is larger than a file can be");
    npy->is_column_major = npy->is_column_major && npy->rows > 1 && npy->columns > 1;
    return NPY_ARRAY;
}

enum npy_result npy_read(const void *data, size_t bytes, struct npy *npy,
                         char reason[NPY_REASON_SIZE])
{
    const unsigned char *head = data;
    const size_t magic = bytes < NPY_MAGIC_BYTES ? bytes : NPY_MAGIC_BYTES;

    if (magic > 0 && memcmp(head, NPY_MAGIC, magic) != 0)
        return NPY_NONE;
    if (bytes < NPY_MAGIC_BYTES + 2)
        return NPY_MORE;
    const unsigned major = head[NPY_MAGIC_BYTES];
    const unsigned minor = head[NPY_MAGIC_BYTES + 1];
    const size_t width = major == 1 ? 2 : 4; /* size of the literal's length field */
    const size_t begin = NPY_MAGIC_BYTES + 2 + width;
    if (major < 1 || major > 3 || minor != 0) {
        snprintf(reason, NPY_REASON_SIZE,
                 "its NumPy header is of version %u.%u, and only 1.0, 2.0 and 3.0 are read", major,
                 minor);
        return NPY_UNSUPPORTED;
    }
    if (bytes < begin)
        return NPY_MORE;
    size_t length = 0;
    for (size_t i = 0; i < width; i++)
        length |= (size_t)head[NPY_MAGIC_BYTES + 2 + i] << 8 * i;
    if (length > NPY_HEADER_MAX - begin)
        return npy_fail(reason, "its NumPy header is longer than 32 KiB");
    if (bytes < begin + length)
        return NPY_MORE;
    const char *text = (const char *)head + begin;
    *npy = (struct npy){.header_bytes = begin + length};
    return npy_read_literal((struct npy_text){text, text + length}, npy, reason);
}

void npy_flatten(struct npy *npy)
{
    npy->rows *= npy->columns;
    npy->columns = npy->dimensions = 1;
    npy->is_column_major = false;
    npy->is_whole = true;
}
