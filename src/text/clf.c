/*
 * The scanner of web logs: each row is a line of the common or the combined log format, as Apache
 * and nginx write them.
 *
 *     192.0.2.7 - ann [10/Oct/2000:13:55:36 -0700] "GET /a?b=c HTTP/1.1" 200 2326 "-" "Mozilla/5.0"
 *
 * Fields are divided by blanks. One that begins with a bracket ends with the first closing one
 * before a blank, and one that begins with a quote with the next one that is not escaped. A quote
 * inside any other field goes on to the next one, too. A row has seven fields or more: the fourth
 * is in brackets, the fifth in quotes. A `-` as status or bytes is none. Lines of blanks are
 * skipped.
 *
 * What quotes hold is decoded: \" \\ \b \f \n \r \t \v and \xHH, which servers write for bytes of
 * requests; any other backslash is itself.
 */
#include "config.h"

#include "lib/nearest.h"
#include "text/row_scanner.h"
#include "text/text_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns that have names: the fields of a row, in its order, and the parts of the request. */
enum clf_part {
    CLF_IP,
    CLF_IDENT,
    CLF_USER,
    CLF_TIME,
    CLF_REQUEST,
    CLF_STATUS,
    CLF_BYTES, /* rows have this one and those before it */
    CLF_REFERER,
    CLF_AGENT,
    CLF_FIELDS,
    CLF_METHOD = CLF_FIELDS,
    CLF_PATH,
    CLF_QUERY,
    CLF_PROTOCOL,
    CLF_PARTS, /* the number of names; of a column: it has a number */
};

static const struct {
    const char *name;
    const char *kind; /* of a column without one; NULL: that of its values */
} clf_parts[CLF_PARTS] = {
    [CLF_IP] = {"ip", NULL},
    [CLF_IDENT] = {"ident", "text"},
    [CLF_USER] = {"user", "text"},
    [CLF_TIME] = {"time", "time"},
    [CLF_REQUEST] = {"request", "text"},
    [CLF_STATUS] = {"status", "int"},
    [CLF_BYTES] = {"bytes", "int"},
    [CLF_REFERER] = {"referer", "text"},
    [CLF_AGENT] = {"agent", "text"},
    [CLF_METHOD] = {"method", "text"},
    [CLF_PATH] = {"path", "text"},
    [CLF_QUERY] = {"query", "text"},
    [CLF_PROTOCOL] = {"protocol", "text"},
};

/* The greatest number of a field has so many digits. */
#define CLF_DIGITS_MAX 9

/* --- the wanted columns ----------------------------------------------------------------------- */

struct clf_columns {
    struct clf_column {
        enum clf_part part;
        unsigned field; /* CLF_PARTS: its number, from CLF_FIELDS + 1 on; else 0 */
    } list[ROW_COLUMNS_MAX];
    unsigned count;
    bool has_parts;   /* of the request, */
    bool has_numbers; /* or of fields with a number */
};

static enum clf_part clf_find_part(const char *name)
{
    unsigned part = 0;

    while (part < CLF_PARTS && strcmp(clf_parts[part].name, name) != 0)
        part++;
    return (enum clf_part)part;
}

/* Says that there is no such column, and which one was probably meant. */
static enum status clf_fail_name(const char *name, struct failure *failure)
{
    struct nearest search = nearest_begin(name, strlen(name));
    const bool is_digit = *name >= '1' && *name <= '9' && name[1] == '\0';

    if (is_digit)
        return status_fail(failure, STATUS_USAGE,
                           "invalid column '%s': with --clf, field %s is named %s%s", name, name,
                           clf_parts[*name - '1'].name,
                           *name == '9'
                               ? "; the ninth word, which -f 9 reads without --clf, is named status"
                               : "");
    for (size_t i = 0; i < CLF_PARTS; i++)
        nearest_try(&search, clf_parts[i].name, strlen(clf_parts[i].name));
    return status_fail(failure, STATUS_USAGE,
                       "invalid column '%s': --clf has ip ident user time request method path "
                       "query protocol status bytes referer agent, and numbers from 10%s%s%s",
                       name, search.word ? " (did you mean " : "", search.word ? search.word : "",
                       search.word ? "?)" : "");
}

static enum status clf_want(void **wanted, const char *name, unsigned *number,
                            struct failure *failure)
{
    struct clf_columns *columns = *wanted ? *wanted : calloc(1, sizeof *columns);
    const size_t digits = strspn(name, "0123456789");
    struct clf_column column = {.part = clf_find_part(name)};

    *wanted = columns;
    if (!columns)
        return status_fail(failure, STATUS_DATA, "no memory for the names of columns");
    if (column.part == CLF_PARTS) {
        if (digits == 0 || digits > CLF_DIGITS_MAX || name[digits] != '\0' ||
            (column.field = (unsigned)strtoul(name, NULL, 10)) <= CLF_FIELDS)
            return clf_fail_name(name, failure);
    }
    for (*number = 0; *number < columns->count; ++*number) {
        const struct clf_column *other = &columns->list[*number];
        if (other->part == column.part && other->field == column.field)
            return STATUS_OK;
    }
    if (columns->count == ROW_COLUMNS_MAX)
        return status_fail(failure, STATUS_USAGE, "more than %d columns", ROW_COLUMNS_MAX);
    columns->list[columns->count++] = column;
    columns->has_parts |= column.part >= CLF_FIELDS && column.part < CLF_PARTS;
    columns->has_numbers |= column.part == CLF_PARTS;
    return STATUS_OK;
}

static const char *clf_kind(const char *name)
{
    const enum clf_part part = clf_find_part(name);
    return part < CLF_PARTS ? clf_parts[part].kind : NULL;
}

/* --- fields ----------------------------------------------------------------------------------- */

/* A scan, and the next row's data[at..end). */
struct clf_scan {
    const struct clf_columns *columns;
    const char *data;
    size_t bytes;
    size_t next;                                                    /* where the next row begins */
    enum row_event (*read)(struct clf_scan *scan, struct row *row); /* for the instruction set */
};

/* The first blank, or quote, of data[at..end), or `end`. */
TEXT_INLINE size_t clf_find_end(enum cpu_isa isa, const struct clf_scan *scan, size_t at,
                                size_t end)
{
    char copy[TEXT_BLOCK];

    for (; at < end; at += TEXT_BLOCK) {
        const char *block = text_block_at(scan->data, scan->bytes, at, copy);
        const uint64_t ends = text_block_equal(isa, block, ' ') |
                              text_block_equal(isa, block, '\t') |
                              text_block_equal(isa, block, '"');
        if (ends) {
            const size_t found = at + text_block_first(ends);
            return found < end ? found : end;
        }
    }
    return end;
}

/* The bracket that closes the one before data[at], or `end`. */
static size_t clf_find_bracket(const char *data, size_t at, size_t end)
{
    while (at < end && !(data[at] == ']' && (at + 1 == end || text_line_is_blank(data[at + 1]))))
        at++;
    return at;
}

/* The quote that closes the one before data[at], or `end`. Sets *kind if there are escapes. */
TEXT_INLINE size_t clf_find_quote(enum cpu_isa isa, const struct clf_scan *scan, size_t at,
                                  size_t end, unsigned *kind)
{
    uint64_t carry = 0;
    char copy[TEXT_BLOCK];

    for (; at < end; at += TEXT_BLOCK) {
        const char *block = text_block_at(scan->data, scan->bytes, at, copy);
        const uint64_t backslashes = text_block_equal(isa, block, '\\');
        const uint64_t quotes =
            text_block_equal(isa, block, '"') & ~text_block_escaped(backslashes, &carry);
        if (backslashes & (quotes ^ (quotes - 1)))
            *kind = ROW_ESCAPED;
        if (quotes) {
            const size_t found = at + text_block_first(quotes);
            return found < end ? found : end;
        }
    }
    return end;
}

/*
 * Reads the field at data[*at], which is no blank, and sets *at to the next one, or to `end`.
 * Returns what is wrong, or NULL.
 */
TEXT_INLINE const char *clf_read_field(enum cpu_isa isa, const struct clf_scan *scan, size_t *at,
                                       size_t end, struct row_value *value)
{
    const char *data = scan->data;
    const char *fault = NULL;
    size_t to;

    *value = (struct row_value){.kind = ROW_PLAIN, .offset = *at};
    if (data[*at] == '"') {
        value->offset++;
        to = clf_find_quote(isa, scan, value->offset, end, &value->kind);
        fault = to == end ? "a quote is not closed"
                : to + 1 < end && !text_line_is_blank(data[to + 1])
                    ? "something follows a closing quote"
                    : NULL;
        *at = to + 1;
    } else if (data[*at] == '[') {
        value->offset++;
        to = clf_find_bracket(data, value->offset, end);
        fault = to == end ? "a bracket is not closed" : NULL;
        *at = to + 1;
    } else {
        unsigned ignored;
        to = clf_find_end(isa, scan, *at, end);
        while (__builtin_expect(to < end && data[to] == '"', false)) {
            to = clf_find_quote(isa, scan, to + 1, end, &ignored);
            if (to == end)
                return "a quote is not closed";
            to = clf_find_end(isa, scan, to + 1, end);
        }
        *at = to;
    }
    value->bytes = to - value->offset;
    while (*at < end && text_line_is_blank(data[*at]))
        ++*at;
    return fault;
}

/*
 * Divides a request, METHOD TARGET PROTOCOL, of which the target may have blanks: the path is what
 * is before its question mark. A request without a blank has none of these.
 */
static void clf_divide_request(const char *data, struct row_value parts[CLF_PARTS])
{
    const struct row_value *request = &parts[CLF_REQUEST];
    const char *const begin = data + request->offset;
    const char *const end = begin + request->bytes;
    const char *blank = memchr(begin, ' ', request->bytes);
    const char *method = blank ? blank : begin;   /* the ends of each */
    const char *target = blank ? blank + 1 : end; /* its beginning */
    const char *protocol = end;                   /* likewise */
    const char *last = memrchr(begin, ' ', request->bytes);

    if (last && (size_t)(end - last) > 5 && memcmp(last + 1, "HTTP/", 5) == 0)
        protocol = last + 1;
    const char *target_end = protocol == end ? end : last;
    if (target > target_end)
        target = target_end;
    const char *mark = memchr(target, '?', (size_t)(target_end - target));
    const char *path_end = mark ? mark : target_end;
    const char *query = mark ? mark + 1 : target_end;
    const struct {
        const char *begin;
        const char *end;
    } found[CLF_PARTS] = {
        [CLF_METHOD] = {begin, method},
        [CLF_PATH] = {target, path_end},
        [CLF_QUERY] = {query, target_end},
        [CLF_PROTOCOL] = {protocol, end},
    };
    for (unsigned i = CLF_FIELDS; i < CLF_PARTS; i++)
        parts[i] = (struct row_value){
            .kind = request->kind,
            .offset = (size_t)(found[i].begin - data),
            .bytes = (size_t)(found[i].end - found[i].begin),
        };
}

/* --- rows ------------------------------------------------------------------------------------- */

#define CLF_QUOTES_MAX 8

/* The quotes of a row. */
struct clf_quotes {
    size_t at[CLF_QUOTES_MAX]; /* the first ones, */
    unsigned count;            /* of so many */
    bool has_backslash;
};

/* Finds the end of the line at data[row->begin], its newline or the end of the text, and quotes. */
TEXT_INLINE void clf_find_line(enum cpu_isa isa, const struct clf_scan *scan, struct row *row,
                               struct clf_quotes *quotes)
{
    uint64_t backslashes = 0;
    uint64_t newlines;
    char copy[TEXT_BLOCK];
    size_t at = row->begin - TEXT_BLOCK;

    quotes->count = 0;
    do {
        at += TEXT_BLOCK;
        const char *block = text_block_at(scan->data, scan->bytes, at, copy);
        newlines = text_block_equal(isa, block, '\n');
        const uint64_t line = newlines ^ (newlines - 1); /* all if there is none */
        backslashes |= text_block_equal(isa, block, '\\') & line;
        for (uint64_t found = text_block_equal(isa, block, '"') & line; found; found &= found - 1)
            quotes->at[quotes->count++ % CLF_QUOTES_MAX] = at + text_block_first(found);
    } while (newlines == 0);
    row->end = at + text_block_first(newlines);
    quotes->has_backslash = backslashes != 0;
}

/* Takes the next blank of those in a block, 64 if there is none. */
TEXT_INLINE unsigned clf_take_blank(uint64_t *blanks)
{
    const unsigned at = *blanks ? text_block_first(*blanks) : (unsigned)TEXT_BLOCK;
    *blanks &= *blanks - 1;
    return at;
}

TEXT_INLINE struct row_value clf_value(size_t begin, size_t end)
{
    return (struct row_value){.kind = ROW_PLAIN, .offset = begin, .bytes = end - begin};
}

/*
 * Reads the fields of a row up to bytes, and the two in quotes behind it, if they are as servers
 * write them: one blank between fields, a time of 26 bytes, no backslash. Sets *at to what follows,
 * and returns how many fields these are; 0, and *at stays, if others have to be expected.
 */
TEXT_INLINE unsigned clf_read_common(enum cpu_isa isa, const struct clf_scan *scan, size_t *at,
                                     size_t end, const struct clf_quotes *quotes,
                                     struct row_value parts[CLF_PARTS])
{
    const size_t begin = *at;
    const char *data = scan->data;
    const char *line = data + begin;
    const char *tail;
    uint64_t blanks;
    unsigned ends[3];

    if (quotes->has_backslash || quotes->count < 2 || quotes->count > CLF_QUOTES_MAX ||
        scan->bytes - begin < TEXT_BLOCK)
        return 0;
    blanks = text_block_equal(isa, line, ' ') | text_block_equal(isa, line, '\t');
    for (unsigned i = 0; i < 3; i++)
        ends[i] = clf_take_blank(&blanks);
    const unsigned time = ends[2] + 2; /* in brackets: DD/Mon/YYYY:HH:MM:SS +HHMM */
    const size_t request = quotes->at[0] + 1;
    const size_t request_end = quotes->at[1];
    if (ends[0] == 0 || ends[1] < ends[0] + 2 || ends[2] < ends[1] + 2 || time + 29 > TEXT_BLOCK ||
        begin + time + 29 != request || clf_take_blank(&blanks) != time + 20 ||
        clf_take_blank(&blanks) != time + 27 || line[time - 1] != '[' || line[time + 19] == ']' ||
        line[time + 26] != ']' || line[0] == '[' || line[ends[0] + 1] == '[' ||
        line[ends[1] + 1] == '[' || scan->bytes - request_end <= TEXT_BLOCK)
        return 0;
    tail = data + request_end + 1;
    blanks = text_block_equal(isa, tail, ' ') | text_block_equal(isa, tail, '\t');
    const unsigned before = clf_take_blank(&blanks);
    const unsigned status_end = clf_take_blank(&blanks);
    const unsigned bytes_end = clf_take_blank(&blanks);
    const size_t next = request_end + 1 + bytes_end; /* the blank behind bytes */
    if (before != 0 || status_end < 2 || bytes_end < status_end + 2 || next + 1 >= end ||
        tail[1] == '[' || tail[status_end + 1] == '[' || text_line_is_blank(data[next + 1]) ||
        (quotes->count > 2 && quotes->at[2] <= next))
        return 0;
    parts[CLF_IP] = clf_value(begin, begin + ends[0]);
    parts[CLF_IDENT] = clf_value(begin + ends[0] + 1, begin + ends[1]);
    parts[CLF_USER] = clf_value(begin + ends[1] + 1, begin + ends[2]);
    parts[CLF_TIME] = clf_value(begin + time, begin + time + 26);
    parts[CLF_REQUEST] = clf_value(request, request_end);
    parts[CLF_STATUS] = clf_value(request_end + 2, request_end + 1 + status_end);
    parts[CLF_BYTES] = clf_value(request_end + 2 + status_end, next);
    *at = next + 1;
    if (quotes->count < 6 || quotes->at[2] != next + 1 || quotes->at[4] != quotes->at[3] + 2 ||
        !text_line_is_blank(data[quotes->at[3] + 1]))
        return CLF_REFERER;
    const size_t last = quotes->at[5] + 1;
    if (last < end &&
        (!text_line_is_blank(data[last]) || last + 1 == end || text_line_is_blank(data[last + 1])))
        return CLF_REFERER;
    parts[CLF_REFERER] = clf_value(next + 2, quotes->at[3]);
    parts[CLF_AGENT] = clf_value(quotes->at[4] + 1, quotes->at[5]);
    *at = last + (last < end);
    return CLF_FIELDS;
}

/* Reads the fields of the row data[row->begin..row->end), and stores the wanted columns. */
TEXT_INLINE enum row_event clf_read(enum cpu_isa isa, const struct clf_scan *scan, struct row *row,
                                    const struct clf_quotes *quotes)
{
    const struct clf_columns *columns = scan->columns;
    struct row_value parts[CLF_PARTS];
    struct row_value more;
    size_t at = row->begin;
    unsigned field = clf_read_common(isa, scan, &at, row->end, quotes, parts);

    for (; field < CLF_FIELDS && at < row->end; field++) {
        row->fault = field == CLF_TIME && scan->data[at] != '['
                         ? "its fourth field, the time, is not in brackets"
                     : field == CLF_REQUEST && scan->data[at] != '"'
                         ? "its fifth field, the request, is not in quotes"
                         : clf_read_field(isa, scan, &at, row->end, &parts[field]);
        if (row->fault)
            return ROW_INVALID;
    }
    if (field <= CLF_BYTES) {
        row->fault = "it has fewer than seven fields";
        return ROW_INVALID;
    }
    for (unsigned i = field; i < CLF_FIELDS; i++)
        parts[i].kind = ROW_MISSING;
    for (unsigned i = CLF_STATUS; i <= CLF_BYTES; i++) {
        if (parts[i].bytes == 1 && scan->data[parts[i].offset] == '-')
            parts[i].kind = ROW_NULL;
    }
    if (columns->has_parts)
        clf_divide_request(scan->data, parts);
    for (unsigned i = 0; i < columns->count; i++) {
        if (columns->list[i].part < CLF_PARTS)
            row->values[i] = parts[columns->list[i].part];
        else
            row->values[i].kind = ROW_MISSING;
    }
    while (at < row->end) {
        row->fault = clf_read_field(isa, scan, &at, row->end, &more);
        if (row->fault)
            return ROW_INVALID;
        field++;
        for (unsigned i = 0; columns->has_numbers && i < columns->count; i++) {
            if (columns->list[i].field == field)
                row->values[i] = more;
        }
    }
    return ROW_FOUND;
}

TEXT_INLINE enum row_event clf_read_next(enum cpu_isa isa, struct clf_scan *scan, struct row *row)
{
    struct clf_quotes quotes;

    do {
        if (scan->next >= scan->bytes)
            return ROW_END;
        row->begin = scan->next;
        clf_find_line(isa, scan, row, &quotes);
        scan->next = row->end + 1;
        row->end = text_line_content_end(scan->data, row->begin, row->end);
        text_line_trim(scan->data, &row->begin, &row->end);
    } while (row->begin == row->end);
    return clf_read(isa, scan, row, &quotes);
}

#define CLF_WRAP(isa, target, ...)                                                  \
    target TEXT_FLATTEN static enum row_event clf_read_##isa(struct clf_scan *scan, \
                                                             struct row *row)       \
    {                                                                               \
        return clf_read_next((enum cpu_isa)TEXT_ISA_##isa, scan, row);              \
    }
CPU_ISA_VARIANTS(CLF_WRAP, )
#define CLF_ENTRY(isa, target, ...) clf_read_##isa,

static void clf_begin(void *scan, const void *columns, const char *data, size_t bytes)
{
    static enum row_event (*const readers[CPU_ISA_COUNT])(struct clf_scan *, struct row *) = {
        CPU_ISA_VARIANTS(CLF_ENTRY, )};

    *(struct clf_scan *)scan = (struct clf_scan){.columns = columns,
                                                 .data = data,
                                                 .bytes = bytes,
                                                 .read = readers[cpu_isa_best()]};
}

static enum row_event clf_next(void *scan, struct row *row)
{
    struct clf_scan *self = scan;

    return self->read(self, row);
}

/* Decodes the escape text[0..bytes), which begins with a backslash. Returns its length. */
static size_t clf_decode_escape(const char *text, size_t bytes, char *decoded)
{
    static const char letters[] = "\"\\bfnrtv";
    static const char codes[] = "\"\\\b\f\n\r\t\v";
    const char *letter = bytes > 1 ? memchr(letters, text[1], sizeof letters - 1) : NULL;
    unsigned code = 0;

    *decoded = letter ? codes[letter - letters] : '\\';
    if (letter || bytes < 4 || text[1] != 'x')
        return letter ? 2 : 1;
    for (size_t i = 2; i < 4; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const unsigned alpha = (byte | 32u) - 'a';
        const unsigned digit = byte - 48u < 10 ? byte - 48u : alpha < 6 ? alpha + 10 : 16;
        if (digit == 16)
            return 1;
        code = code << 4 | digit;
    }
    *decoded = (char)code;
    return 4;
}

static size_t clf_decode(const char *text, size_t bytes, char *decoded)
{
    size_t length = 0;

    for (size_t at = 0; at < bytes; length++) {
        decoded[length] = text[at];
        at += text[at] == '\\' ? clf_decode_escape(text + at, bytes - at, decoded + length) : 1;
    }
    return length;
}

const struct row_scanner clf_scanner = {
    .option = "clf",
    .names_columns = true,
    .skips_mark = true,
    .noun = "a line of the common log format",
    .wanted = "-f NAME, such as -f status",
    .want = clf_want,
    .forget = free,
    .kind = clf_kind,
    .scan_bytes = sizeof(struct clf_scan),
    .begin = clf_begin,
    .next = clf_next,
    .decode = clf_decode,
};
