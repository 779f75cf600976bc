/* Reads lists of integers from the command line or a file. */
#include "config.h"

#include "input/number_list.h"

#include "base/decimal.h"
#include "input/source.h"

#include <stdlib.h>
#include <string.h>

/* A longer word is no number: leading zeros aside, those have 30 characters at the most. */
#define NUMBER_LIST_WORD_MAX 128

#define NUMBER_LIST_BUFFER_BYTES ((size_t)64 << 10)

/* The state of a scan: the word that has begun, and where it stands. */
struct number_list_scan {
    const char *option;
    unsigned decimals;
    const char *name; /* of the file, as messages say it; NULL: the command line */
    number_list_take *take;
    void *context;
    unsigned long long line;
    size_t length;
    char word[NUMBER_LIST_WORD_MAX];
};

bool number_list_is_file(const char *argument)
{
    return *argument == '@';
}

bool number_list_is_stdin(const char *argument)
{
    return strcmp(argument, "@-") == 0;
}

static enum status number_list_fail_word(const struct number_list_scan *scan,
                                         struct failure *failure)
{
    bool cut = scan->length == NUMBER_LIST_WORD_MAX;
    int shown = cut ? 40 : (int)scan->length;
    const char *rest = cut ? "..." : "";
    bool is_fixed = scan->decimals > 0;

    if (scan->name)
        return status_fail(failure, STATUS_DATA, STATUS_NAME ":%llu: invalid %s '%.*s%s'",
                           scan->name, scan->line, is_fixed ? "number" : "integer", shown,
                           scan->word, rest);
    return status_fail(failure, STATUS_USAGE, "invalid --%s '%.*s%s': expected %s, or @FILE",
                       scan->option, shown, scan->word, rest,
                       is_fixed ? "numbers with no more decimals than --decimals"
                                : "integers such as 1,2,3");
}

/* A word of a file has no suffix, and a point only with decimals. */
static bool number_list_has_suffix(const struct number_list_scan *scan)
{
    for (size_t i = 1; i < scan->length; i++) {
        bool is_point = scan->word[i] == '.' && scan->decimals > 0;
        if (!is_point && (scan->word[i] < '0' || scan->word[i] > '9'))
            return true;
    }
    return false;
}

/* Takes the word that ends here, if one has begun. */
static enum status number_list_end_word(struct number_list_scan *scan, struct failure *failure)
{
    __int128 number;

    if (scan->length == 0)
        return STATUS_OK;
    if (!decimal_parse_fixed(scan->word, scan->length, scan->decimals, &number) ||
        (scan->name && number_list_has_suffix(scan)))
        return number_list_fail_word(scan, failure);
    scan->length = 0;
    return scan->take(scan->context, number, failure);
}

static bool number_list_is_separator(char c)
{
    return c == ' ' || c == '\n' || c == ',' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static enum status number_list_scan_bytes(struct number_list_scan *scan, const char *text,
                                          size_t bytes, struct failure *failure)
{
    for (const char *c = text; c < text + bytes; c++) {
        if (!number_list_is_separator(*c)) {
            scan->word[scan->length++] = *c ? *c : '?'; /* a NUL would end the message */
            if (scan->length == NUMBER_LIST_WORD_MAX)
                return number_list_fail_word(scan, failure);
            continue;
        }
        if (number_list_end_word(scan, failure) != STATUS_OK)
            return failure->status;
        scan->line += *c == '\n';
    }
    return STATUS_OK;
}

/* Scans all of an open source, a chunk at a time into `memory`. */
static enum status number_list_scan_source(struct number_list_scan *scan, struct source *source,
                                           void *memory, struct failure *failure)
{
    struct chunk_buffer buffer = {.data = memory, .capacity = NUMBER_LIST_BUFFER_BYTES};
    struct chunk chunk;

    do {
        if (source_pull(source, &buffer, &chunk, failure) != STATUS_OK ||
            number_list_scan_bytes(scan, chunk.data, chunk.bytes, failure) != STATUS_OK)
            return failure->status;
    } while (chunk.bytes > 0);
    return STATUS_OK;
}

static enum status number_list_scan_file(struct number_list_scan *scan, const char *name,
                                         struct failure *failure)
{
    char *names[] = {(char *)name}; /* a source takes argv's type, and changes nothing */
    struct source *source = NULL;

    scan->name = strcmp(name, "-") == 0 ? "standard input" : name;
    scan->line = 1;
    char *buffer = malloc(NUMBER_LIST_BUFFER_BYTES);
    if (!buffer)
        return status_fail(failure, STATUS_DATA, "no memory for reading " STATUS_NAME, scan->name);

    enum status status = source_open(&source, names, 1, 1, failure);
    if (status == STATUS_OK)
        status = number_list_scan_source(scan, source, buffer, failure);
    source_close(source);
    free(buffer);
    return status;
}

enum status number_list_scan(const char *argument, const char *option, unsigned decimals,
                             number_list_take *take, void *context, struct failure *failure)
{
    struct number_list_scan scan = {.option = option,
                                    .decimals = decimals,
                                    .take = take,
                                    .context = context};
    enum status status;

    if (strcmp(argument, "@") == 0)
        return status_fail(failure, STATUS_USAGE,
                           "invalid --%s '@': expected a file name after the @", option);
    if (number_list_is_file(argument))
        status = number_list_scan_file(&scan, argument + 1, failure);
    else
        status = number_list_scan_bytes(&scan, argument, strlen(argument), failure);
    return status == STATUS_OK ? number_list_end_word(&scan, failure) : status;
}
