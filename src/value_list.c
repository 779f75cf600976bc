#include "config.h"

#include "value_list.h"

#include "decimal.h"
#include "memory.h"
#include "source.h"
#include "value_set.h"

#include <stdlib.h>
#include <string.h>

/* A longer word is no number: leading zeros aside, those have 30 characters at the most. */
#define VALUE_LIST_WORD_MAX 128

#define VALUE_LIST_BUFFER_BYTES ((size_t)64 << 10)

/*
 * Room for keys: at first, and from when on duplicates are removed before it is doubled, so that
 * many of them take no more memory than this (32 MiB). Sorting each time would double the time.
 */
#define VALUE_LIST_ROOM_MIN   ((size_t)1024)
#define VALUE_LIST_ROOM_LARGE ((size_t)4 << 20)

/* The state of reading a list: the word that has begun, and where it stands. */
struct value_list_reader {
    struct value_list *list;
    const struct element *element;
    const char *name; /* of the file, as messages say it; NULL: the command line */
    unsigned long long line;
    size_t length;
    char word[VALUE_LIST_WORD_MAX];
};

void value_list_sort(struct value_list *list, const struct element *element)
{
    list->count = value_set_sort(list->keys, list->count, element->is_signed);
}

void value_list_free(struct value_list *list)
{
    free(list->keys);
}

/* Makes room for one more key. */
static enum status value_list_grow(struct value_list *list, const struct element *element,
                                   struct failure *failure)
{
    if (list->room >= VALUE_LIST_ROOM_LARGE) {
        value_list_sort(list, element);
        if (list->count <= list->room / 2)
            return STATUS_OK;
    }

    size_t room = list->room > 0 ? list->room * 2 : VALUE_LIST_ROOM_MIN;
    size_t bytes = room * sizeof *list->keys;
    uint64_t *keys = bytes <= memory_available() ? realloc(list->keys, bytes) : NULL;
    if (!keys)
        return status_fail(failure, STATUS_DATA, "no memory for more than %zu values of --any-of",
                           list->count);
    list->keys = keys;
    list->room = room;
    return STATUS_OK;
}

static enum status value_list_fail_word(const struct value_list_reader *reader,
                                        struct failure *failure)
{
    bool cut = reader->length == VALUE_LIST_WORD_MAX;
    int shown = cut ? 40 : (int)reader->length;
    const char *rest = cut ? "..." : "";

    if (reader->name)
        return status_fail(failure, STATUS_DATA, STATUS_NAME ":%llu: invalid integer '%.*s%s'",
                           reader->name, reader->line, shown, reader->word, rest);
    return status_fail(failure, STATUS_USAGE,
                       "invalid --any-of '%.*s%s': expected integers such as 1,2,3, or @FILE",
                       shown, reader->word, rest);
}

/* A word of a file has no suffix and no fraction. */
static bool value_list_has_suffix(const struct value_list_reader *reader)
{
    for (size_t i = 1; i < reader->length; i++) {
        if (reader->word[i] < '0' || reader->word[i] > '9')
            return true;
    }
    return false;
}

/* Takes the word that ends here, if one has begun. */
static enum status value_list_end_word(struct value_list_reader *reader, struct failure *failure)
{
    struct value_list *list = reader->list;
    __int128 value;

    if (reader->length == 0)
        return STATUS_OK;
    if (!decimal_parse(reader->word, reader->length, DECIMAL_UNIT_SI, &value) ||
        (reader->name && value_list_has_suffix(reader)))
        return value_list_fail_word(reader, failure);
    reader->length = 0;
    if (value < element_min(reader->element) || value >= element_limit(reader->element))
        return STATUS_OK; /* no element can be equal to it */
    if (list->count == list->room && value_list_grow(list, reader->element, failure) != STATUS_OK)
        return failure->status;
    list->keys[list->count++] = (uint64_t)value;
    return STATUS_OK;
}

static bool value_list_is_separator(char c)
{
    return c == ' ' || c == '\n' || c == ',' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static enum status value_list_take(struct value_list_reader *reader, const char *text, size_t bytes,
                                   struct failure *failure)
{
    for (const char *c = text; c < text + bytes; c++) {
        if (!value_list_is_separator(*c)) {
            reader->word[reader->length++] = *c ? *c : '?'; /* a NUL would end the message */
            if (reader->length == VALUE_LIST_WORD_MAX)
                return value_list_fail_word(reader, failure);
            continue;
        }
        if (value_list_end_word(reader, failure) != STATUS_OK)
            return failure->status;
        reader->line += *c == '\n';
    }
    return STATUS_OK;
}

enum status value_list_parse(struct value_list *list, const char *text,
                             const struct element *element, struct failure *failure)
{
    struct value_list_reader reader = {.list = list, .element = element};
    enum status status = value_list_take(&reader, text, strlen(text), failure);
    return status == STATUS_OK ? value_list_end_word(&reader, failure) : status;
}

/* Reads all of an open source, a chunk at a time into `buffer`. */
static enum status value_list_read_source(struct value_list_reader *reader, struct source *source,
                                          void *buffer, struct failure *failure)
{
    struct chunk chunk;

    do {
        if (source_pull(source, buffer, VALUE_LIST_BUFFER_BYTES, &chunk, failure) != STATUS_OK ||
            value_list_take(reader, chunk.data, chunk.bytes, failure) != STATUS_OK)
            return failure->status;
    } while (chunk.bytes > 0);
    return value_list_end_word(reader, failure);
}

enum status value_list_read(struct value_list *list, const char *name,
                            const struct element *element, struct failure *failure)
{
    char *names[] = {(char *)name}; /* a source takes argv's type, and changes nothing */
    struct value_list_reader reader = {
        .list = list,
        .element = element,
        .name = strcmp(name, "-") == 0 ? "standard input" : name,
        .line = 1,
    };
    struct source *source = NULL;
    char *buffer = malloc(VALUE_LIST_BUFFER_BYTES);
    if (!buffer)
        return status_fail(failure, STATUS_DATA, "no memory for reading " STATUS_NAME, reader.name);

    enum status status = source_open(&source, names, 1, 1, failure);
    if (status == STATUS_OK)
        status = value_list_read_source(&reader, source, buffer, failure);
    source_close(source);
    free(buffer);
    return status;
}
