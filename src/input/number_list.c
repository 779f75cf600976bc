/* Reads lists of integers from the command line or a file. */
#include "config.h"

#include "input/number_list.h"

#include "base/decimal.h"
#include "input/source.h"

#include <stdlib.h>
#include <string.h>

/* A longer word is no number: leading zeros aside, those have 30 characters at the most. */
#define NUMBER_LIST_WORD_MAX 128

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

/* Takes the word that ends here, if one has begun. */
static enum status number_list_end_word(struct number_list_scan *scan, struct failure *failure)
{
    __int128 number;
    bool is_valid = true;

    if (scan->length == 0)
        return STATUS_OK;
    for (size_t i = 1; scan->name && i < scan->length; i++) { /* a file has no suffixes */
        const char c = scan->word[i];
        is_valid = is_valid && ((c >= '0' && c <= '9') || (c == '.' && scan->decimals > 0));
    }
    if (!is_valid || !decimal_parse_fixed(scan->word, scan->length, scan->decimals, &number))
        return number_list_fail_word(scan, failure);
    scan->length = 0;
    return scan->take(scan->context, number, failure);
}

static enum status number_list_scan_bytes(void *context, const char *text, size_t bytes,
                                          struct failure *failure)
{
    struct number_list_scan *scan = context;

    for (const char *c = text; c < text + bytes; c++) {
        if (*c == '\0' || !strchr(" \n,\t\r\v\f", *c)) {
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

static enum status number_list_scan_file(struct number_list_scan *scan, const char *name,
                                         struct failure *failure)
{
    scan->name = strcmp(name, "-") == 0 ? "standard input" : name;
    scan->line = 1;
    return source_read_file(name, number_list_scan_bytes, scan, failure);
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
