/* Implements lists.h with arrays that grow. */
#include "config.h"

#include "cli/lists.h"

#include "input/source.h"
#include "lib/decimal.h"
#include "lib/resources.h"
#include "text/text.h"
#include "value/value_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LISTS_CAPACITY_MIN ((size_t)1024)

/*
 * Number of keys (32 MiB) from which a list removes duplicates before it doubles its capacity, so
 * that duplicates take no more memory. Sorting at each doubling would double the time.
 */
#define LISTS_CAPACITY_LARGE ((size_t)4 << 20)

/* Maximum length of a number: 30 characters at most, and leading zeros. */
#define LISTS_WORD_MAX 128

/* A list of numbers or timestamps that is being read: the current word, and an array that grows. */
struct lists_numbers {
    const char *option;
    const struct element *element;
    bool are_edges;   /* __int128; else keys, uint64_t */
    const char *file; /* the file's name in messages; NULL: the command line */
    unsigned long long line;
    size_t length;
    char word[LISTS_WORD_MAX];
    void *items;
    size_t count;
    size_t capacity;
};

bool lists_is_file(const char *argument)
{
    return *argument == '@';
}

bool lists_is_stdin(const char *argument)
{
    return strcmp(argument, "@-") == 0;
}

static enum status lists_fail_name(const char *option, struct failure *failure)
{
    return status_fail(failure, STATUS_USAGE, "invalid --%s '@': expected a file name after the @",
                       option);
}

static enum status lists_fail_word(const struct lists_numbers *list, struct failure *failure)
{
    const bool is_cut = list->length == LISTS_WORD_MAX;
    const int shown = is_cut ? 40 : (int)list->length;
    const char *rest = is_cut ? "..." : "";
    const struct kind *kind = &kind_rows[list->element->kind];
    const size_t sign = *list->word == '-' || *list->word == '+';
    char end[DECIMAL_SIZE];

    if (list->are_edges && kind->scale == KIND_NUMBERS && list->length == sign + strlen("inf") &&
        strncasecmp(list->word + sign, "inf", strlen("inf")) == 0) {
        const bool is_low = *list->word == '-';
        decimal_format_fixed(end,
                             is_low ? element_min(list->element) : element_limit(list->element),
                             list->element->decimals);
        return status_fail(failure, STATUS_USAGE, "invalid --%s '%.*s' (try %s, %s all values)",
                           list->option, shown, list->word, end,
                           is_low ? "the smallest of" : "which is above");
    }
    if (list->file)
        return status_fail(failure, STATUS_DATA, STATUS_NAME ":%llu: invalid %s '%.*s%s'",
                           list->file, list->line, kind->noun, shown, list->word, rest);
    return status_fail(failure, STATUS_USAGE, "invalid --%s '%.*s%s': expected %s, or @FILE",
                       list->option, shown, list->word, rest, kind->list);
}

/* Takes the number that ends here, if one has begun. */
static enum status lists_end_word(struct lists_numbers *list, struct failure *failure)
{
    const struct element *element = list->element;
    const bool is_plain = !kind_rows[element->kind].type; /* numbers without units */
    const size_t item_bytes = list->are_edges ? sizeof(__int128) : sizeof(uint64_t);
    __int128 number;
    bool is_valid = true;

    if (list->length == 0)
        return STATUS_OK;
    for (size_t i = 1; is_plain && list->file && i < list->length; i++) { /* without suffixes */
        const char c = list->word[i];
        const bool is_fixed = strchr(".eE+-", c) && (c == '.' || i + 1 < list->length);
        is_valid = is_valid && ((c >= '0' && c <= '9') || (is_fixed && element->decimals > 0));
    }
    if (!is_valid || !element_read(element, list->word, list->length, &number))
        return lists_fail_word(list, failure);
    list->length = 0;
    if (!list->are_edges && (number < element_min(element) || number >= element_limit(element)))
        return STATUS_OK; /* no element can be equal to it */
    if (list->count == list->capacity) {
        if (!list->are_edges && list->capacity >= LISTS_CAPACITY_LARGE)
            list->count = value_set_sort(list->items, list->count, element->is_signed);
        if (list->count >= list->capacity / 2) {
            const size_t capacity = list->capacity > 0 ? list->capacity * 2 : LISTS_CAPACITY_MIN;
            const size_t bytes = capacity * item_bytes;
            void *grown = resources_have_memory(bytes) ? realloc(list->items, bytes) : NULL;
            if (!grown)
                return status_fail(failure, STATUS_DATA,
                                   "not enough memory for more than %zu values of --%s",
                                   list->count, list->option);
            list->items = grown;
            list->capacity = capacity;
        }
    }
    if (list->are_edges)
        ((__int128 *)list->items)[list->count++] = number;
    else
        ((uint64_t *)list->items)[list->count++] = (uint64_t)number;
    return STATUS_OK;
}

static enum status lists_take_bytes(void *context, const char *text, size_t bytes,
                                    struct failure *failure)
{
    struct lists_numbers *list = context;

    for (const char *c = text; c < text + bytes; c++) {
        if (*c == '\0' || !strchr(" \n,\t\r\v\f", *c)) {
            list->word[list->length++] = *c ? *c : '?'; /* a NUL would end the message */
            if (list->length == LISTS_WORD_MAX)
                return lists_fail_word(list, failure);
            continue;
        }
        if (lists_end_word(list, failure) != STATUS_OK)
            return failure->status;
        list->line += *c == '\n';
    }
    return STATUS_OK;
}

enum status lists_read_numbers(const char *argument, const char *option,
                               const struct element *element, bool are_edges, void **items,
                               size_t *count, struct failure *failure)
{
    struct lists_numbers list = {.option = option, .element = element, .are_edges = are_edges};
    enum status status;

    if (strcmp(argument, "@") == 0) {
        status = lists_fail_name(option, failure);
    } else if (lists_is_file(argument)) {
        list.file = lists_is_stdin(argument) ? "standard input" : argument + 1;
        list.line = 1;
        status = source_read_file(argument + 1, lists_take_bytes, &list, failure);
    } else {
        status = lists_take_bytes(&list, argument, strlen(argument), failure);
    }
    if (status == STATUS_OK)
        status = lists_end_word(&list, failure);
    *items = list.items;
    *count = are_edges ? list.count : value_set_sort(list.items, list.count, element->is_signed);
    return status;
}

/* Writes the bytes of a list's file to `text`, a FILE in memory, which keeps errors. */
static enum status lists_write_text(void *text, const char *data, size_t bytes,
                                    struct failure *failure)
{
    (void)failure;

    fwrite(data, 1, bytes, text);
    return STATUS_OK;
}

/*
 * Removes the quotes of the list item at `item` in place. Returns the end of the item, and stores
 * its new length; NULL: quotes do not enclose it.
 */
static char *lists_unquote(char *item, size_t *bytes)
{
    const char *from = item + strspn(item, " ");
    bool is_open = *from == '"';

    if (!is_open)
        return NULL;
    const char *mate = from;
    do { /* two quotes are one of the item */
        mate = strchr(mate + 1, '"');
        is_open = mate && *++mate == '"';
    } while (is_open);
    if (!mate || mate[strspn(mate, " ")] != (mate[strspn(mate, " ")] ? ',' : '\0'))
        return NULL;
    char *to = item;
    for (from++; from < mate - 1; from++) {
        *to++ = *from;
        from += *from == '"';
    }
    *bytes = (size_t)(to - item);
    return (char *)mate + strspn(mate, " ");
}

enum status lists_read_items(const char *argument, const char *option, struct lists_items *items,
                             struct failure *failure)
{
    const bool is_file = lists_is_file(argument);
    const char separator = is_file ? '\n' : ',';
    size_t bytes = 0;
    size_t capacity = 1;

    *items = (struct lists_items){.is_file = is_file};
    if (strcmp(argument, "@") == 0)
        return lists_fail_name(option, failure);
    FILE *text = open_memstream(&items->text, &bytes);
    enum status status = STATUS_OK;
    if (text && is_file)
        status = source_read_file(argument + 1, lists_write_text, text, failure);
    else if (text)
        fputs(argument, text);
    if ((!text || fclose(text) != 0) && status == STATUS_OK)
        status = status_fail(failure, STATUS_DATA, "not enough memory for the list " STATUS_NAME,
                             argument);
    if (status != STATUS_OK)
        return status;
    char *next = items->text;
    char *end = next + bytes;
    next += is_file && text_has_mark(next, bytes) ? 3 : 0;
    for (const char *c = next; c < end; c++)
        capacity += *c == separator;
    items->list = malloc(capacity * sizeof *items->list);
    if (!items->list)
        return status_fail(failure, STATUS_DATA, "not enough memory for the list of --%s", option);
    while (next < end || (!is_file && next == end)) { /* no line follows the last newline */
        struct predicate_text *item = &items->list[items->count++];
        char *stop = is_file ? NULL : lists_unquote(next, &item->bytes);
        item->data = next;
        if (!stop) {
            stop = memchr(next, separator, (size_t)(end - next));
            stop = stop ? stop : end;
            item->bytes = (size_t)(stop - next) - (is_file && stop > next && stop[-1] == '\r');
        }
        next = stop + 1;
    }
    return STATUS_OK;
}

void lists_destroy_items(struct lists_items *items)
{
    free(items->list);
    free(items->text);
}
