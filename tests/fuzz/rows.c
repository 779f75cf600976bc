/*
 * Compares the scanners of --clf and --logfmt (src/text/row_scanner.h) with byte-by-byte readers.
 * The first byte, from '0' on, chooses the scanner and the instruction set: even numbers are --clf.
 */
#include "config.h"

#include "lib/cpu_isa.h"
#include "text/row_scanner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_HEAD 1

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);

/* --- the references ----------------------------------------------------------------------------
 */

/* A row without the blanks around it, and the position of the reader. */
struct reference {
    const char *data;
    size_t at;
    size_t end;
    struct row_value *values; /* indexed by column number */
};

static bool is_blank(const struct reference *row, size_t at)
{
    return at == row->end || row->data[at] == ' ' || row->data[at] == '\t';
}

/* Advances after the next quote without a backslash; returns false if there is none. */
static bool close_quote(struct reference *row)
{
    for (; row->at < row->end && row->data[row->at] != '"'; row->at++)
        row->at += row->data[row->at] == '\\';
    return row->at++ < row->end;
}

static struct row_value value_of(const struct reference *row, size_t begin, size_t end,
                                 bool is_quoted)
{
    const bool is_escaped = is_quoted && memchr(row->data + begin, '\\', end - begin);
    return (struct row_value){is_escaped ? ROW_ESCAPED : ROW_PLAIN, begin, end - begin};
}

enum { CLF_TIME = 3, CLF_REQUEST, CLF_STATUS, CLF_BYTES, CLF_METHOD = 11, CLF_COLUMNS = 15 };

static const char *const clf_names[] = {"ip",     "ident",  "user",    "time",  "request",
                                        "status", "bytes",  "referer", "agent", "10",
                                        "11",     "method", "path",    "query", "protocol"};

/* The four parts of a request. */
static void read_request(const struct reference *row, struct row_value *parts)
{
    const struct row_value *request = &row->values[CLF_REQUEST];
    const size_t end = request->offset + request->bytes;
    size_t method = request->offset;
    size_t target_end = end;
    size_t protocol = end;

    while (method < end && row->data[method] != ' ')
        method++;
    for (size_t i = method; i < end; i++) {
        if (row->data[i] != ' ')
            continue;
        const bool is_version = end - i > 5 && memcmp(row->data + i + 1, "HTTP/", 5) == 0;
        protocol = is_version ? i + 1 : end;
        target_end = is_version ? i : end;
    }
    const bool is_divided = method < end;
    size_t target = is_divided ? method + 1 : end;
    target = target < target_end ? target : target_end;
    size_t path = target;
    while (path < target_end && row->data[path] != '?')
        path++;
    const size_t query = path < target_end ? path + 1 : target_end;
    const size_t bounds[4][2] = {{request->offset, is_divided ? method : request->offset},
                                 {target, path},
                                 {query, target_end},
                                 {protocol, end}};
    for (unsigned i = 0; i < 4; i++)
        parts[i] = (struct row_value){request->kind, bounds[i][0], bounds[i][1] - bounds[i][0]};
}

static bool read_clf(struct reference *row)
{
    size_t field = 0;

    for (; row->at < row->end; field++) {
        const char first = row->data[row->at];
        const size_t begin = row->at + (first == '"' || first == '[');
        size_t end;
        if ((field == CLF_TIME && first != '[') || (field == CLF_REQUEST && first != '"'))
            return false;
        row->at = begin;
        if (first == '"') {
            if (!close_quote(row) || !is_blank(row, row->at))
                return false;
            end = row->at - 1;
        } else if (first == '[') {
            while (row->at < row->end && (row->data[row->at] != ']' || !is_blank(row, row->at + 1)))
                row->at++;
            end = row->at;
            if (row->at++ == row->end)
                return false;
        } else {
            while (!is_blank(row, row->at)) {
                if (row->data[row->at++] == '"' && !close_quote(row))
                    return false;
            }
            end = row->at;
        }
        if (field < CLF_METHOD)
            row->values[field] = value_of(row, begin, end, first == '"');
        while (row->at < row->end && is_blank(row, row->at))
            row->at++;
    }
    for (unsigned i = CLF_STATUS; i <= CLF_BYTES; i++)
        if (row->values[i].bytes == 1 && row->data[row->values[i].offset] == '-')
            row->values[i].kind = ROW_NULL;
    if (field <= CLF_BYTES)
        return false;
    read_request(row, row->values + CLF_METHOD);
    return true;
}

static const char *const logfmt_names[] = {"a", "level", "b.c", "d\\"};

/* Returns the number of the four digits at data[at], or -1. */
static long read_hex(const struct reference *row, size_t at)
{
    char digits[5] = "";
    char *end;

    if (at > row->end || row->end - at < 4)
        return -1;
    memcpy(digits, row->data + at, 4);
    if (strspn(digits, "0123456789abcdefABCDEF") != 4)
        return -1;
    return strtol(digits, &end, 16);
}

/* Returns the length of the escape at row->at; 0: no escape. */
static size_t read_escape(const struct reference *row)
{
    const char letter = row->at + 1 < row->end ? row->data[row->at + 1] : '\0';

    if (letter != 'u')
        return letter != '\0' && strchr("\"\\ntr", letter) ? 2 : 0;
    const long code = read_hex(row, row->at + 2);
    if (code < 0xd800 || code > 0xdfff)
        return code < 0 ? 0 : 6;
    const bool has_pair =
        row->end - row->at >= 12 && memcmp(row->data + row->at + 6, "\\u", 2) == 0;
    const long low = has_pair ? read_hex(row, row->at + 8) : -1;
    return code < 0xdc00 && low >= 0xdc00 && low <= 0xdfff ? 12 : 0;
}

static bool read_logfmt(struct reference *row)
{
    while (row->at < row->end) {
        const char *key = row->data + row->at;
        struct row_value value;
        size_t begin = row->at;
        while (!is_blank(row, row->at) && row->data[row->at] != '=' && row->data[row->at] != '"')
            row->at++;
        const size_t key_bytes = row->at - begin;
        if (key_bytes == 0 || (row->at < row->end && row->data[row->at] == '"'))
            return false;
        value = value_of(row, row->at, row->at, false);
        if (row->at < row->end && row->data[row->at] == '=') {
            begin = ++row->at;
            if (begin < row->end && row->data[begin] == '"') {
                begin = ++row->at;
                while (row->at < row->end && row->data[row->at] != '"') {
                    const size_t step = row->data[row->at] == '\\' ? read_escape(row) : 1;
                    if (step == 0)
                        return false;
                    row->at += step;
                }
                if (row->at == row->end || !is_blank(row, row->at + 1))
                    return false;
                value = value_of(row, begin, row->at++, true);
            } else {
                for (; !is_blank(row, row->at); row->at++)
                    if (row->data[row->at] == '"')
                        return false;
                value = value_of(row, begin, row->at, false);
            }
        }
        for (unsigned i = 0; i < sizeof logfmt_names / sizeof *logfmt_names; i++)
            if (strlen(logfmt_names[i]) == key_bytes && !memcmp(logfmt_names[i], key, key_bytes))
                row->values[i] = value;
        while (row->at < row->end && is_blank(row, row->at))
            row->at++;
    }
    return true;
}

/* --- the comparison ----------------------------------------------------------------------------
 */

static const struct {
    enum row_scanner_id scanner;
    const char *const *names;
    unsigned count;
    bool (*read)(struct reference *row);
} formats[] = {
    {ROW_CLF, clf_names, CLF_COLUMNS, read_clf},
    {ROW_LOGFMT, logfmt_names, sizeof logfmt_names / sizeof *logfmt_names, read_logfmt},
};

static void check(bool is_right, const char *what, size_t where)
{
    if (!is_right) {
        fprintf(stderr, "%s at %zu\n", what, where);
        abort();
    }
}

/* Finds the next row of data[*next..bytes) that is not blank; returns false if there is none. */
static bool next_row(const char *data, size_t bytes, size_t *next, struct reference *row)
{
    do {
        if (*next >= bytes)
            return false;
        const char *newline = memchr(data + *next, '\n', bytes - *next);
        *row = (struct reference){.data = data,
                                  .at = *next,
                                  .end = newline ? (size_t)(newline - data) : bytes};
        *next = row->end + 1;
        row->end -= row->end > row->at && data[row->end - 1] == '\r';
        while (row->at < row->end && is_blank(row, row->at))
            row->at++;
        while (row->at < row->end && is_blank(row, row->end - 1))
            row->end--;
    } while (row->at == row->end);
    return true;
}

/* The decoded escapes of a value are no longer than the value. */
static void check_decoded(const struct row_scanner *scanner, const char *data,
                          const struct row_value *value)
{
    char *text = malloc(value->bytes);

    check(scanner->decode(data + value->offset, value->bytes, text) <= value->bytes, "decoded",
          value->offset);
    free(text);
}

static void compare(unsigned way, const char *data, size_t bytes)
{
    const struct row_scanner *scanner = row_scanners[formats[way].scanner];
    const unsigned count = formats[way].count;
    void *scan = malloc(scanner->scan_bytes);
    void *wanted = NULL;
    struct failure failure;
    struct reference expected;
    struct row row;
    size_t next = 0;
    unsigned number;

    for (unsigned i = 0; i < count; i++)
        check(scanner->want(&wanted, formats[way].names[i], &number, &failure) == STATUS_OK &&
                  number == i,
              "columns", i);
    scanner->begin(scan, wanted, data, bytes);
    while (next_row(data, bytes, &next, &expected)) {
        struct row_value values[ROW_COLUMNS_MAX] = {{ROW_MISSING, 0, 0}};
        const size_t begin = expected.at;
        expected.values = values;
        const bool is_right = formats[way].read(&expected);
        const enum row_event event = scanner->next(scan, &row);
        check(event == (is_right ? ROW_FOUND : ROW_INVALID), "a row", begin);
        check(row.begin == begin && row.end == expected.end, "the ends of a row", begin);
        for (unsigned i = 0; is_right && i < count; i++) {
            check(row.values[i].kind == values[i].kind, formats[way].names[i], begin);
            check(values[i].kind == ROW_MISSING || (row.values[i].offset == values[i].offset &&
                                                    row.values[i].bytes == values[i].bytes),
                  formats[way].names[i], begin);
            if (values[i].kind == ROW_ESCAPED)
                check_decoded(scanner, data, &values[i]);
        }
    }
    check(scanner->next(scan, &row) == ROW_END, "no end", bytes);
    scanner->forget(wanted);
    free(scan);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
    if (bytes <= FUZZ_HEAD)
        return 0;
    const unsigned way = (unsigned)(input[0] - '0') & 255u;
    char *data = malloc(bytes - FUZZ_HEAD); /* reads after it are invalid */
    memcpy(data, input + FUZZ_HEAD, bytes - FUZZ_HEAD);
    setenv("GPUHIST_ISA", cpu_isa_names[way / 2 % CPU_ISA_COUNT], 1);
    cpu_isa_forget();
    compare(way % 2, data, bytes - FUZZ_HEAD);
    free(data);
    return 0;
}
