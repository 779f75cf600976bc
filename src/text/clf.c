/*
 * The scanner of web logs: each row is a line of the common or the combined log format of Apache
 * and nginx.
 *
 *     192.0.2.7 - ann [10/Oct/2000:13:55:36 -0700] "GET /a?b=c HTTP/1.1" 200 2326 "-" "Mozilla/5.0"
 *
 * Blanks separate fields. A field that begins with a bracket ends with the first closing bracket
 * before a blank, and one that begins with a quote ends with the next unescaped quote. A quote
 * inside another field also extends to the next quote. A row has seven or more fields: the fourth
 * is in brackets, the fifth is quoted. A `-` as status or bytes means no value. Lines of blanks are
 * skipped.
 *
 * Escapes in quotes are decoded: \" \\ \b \f \n \r \t \v and \xHH, which servers write for bytes of
 * requests; any other backslash is an ordinary byte.
 *
 * Rows in the servers' usual form are read by masks of their blocks, which have the places of
 * newlines, quotes, backslashes, tabs and blanks. All other rows are read byte by byte.
 */
#include "config.h"

#include "lib/nearest.h"
#include "text/row_scanner.h"
#include "text/text_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns that have names: the fields of a row, in order, and the parts of the request. */
enum clf_part {
    CLF_IP,
    CLF_IDENT,
    CLF_USER,
    CLF_TIME,
    CLF_REQUEST,
    CLF_STATUS,
    CLF_BYTES, /* all rows have the fields up to this one */
    CLF_REFERER,
    CLF_AGENT,
    CLF_FIELDS,
    CLF_METHOD = CLF_FIELDS,
    CLF_PATH,
    CLF_QUERY,
    CLF_PROTOCOL,
    CLF_PARTS, /* the number of names; for a column: it has a number instead */
};

static const struct {
    const char *name;
    const char *kind;     /* the default kind; NULL: the values determine it */
    const char *bucketed; /* the kind if a bucket width is given; NULL: none is allowed */
} clf_parts[CLF_PARTS] = {
    [CLF_IP] = {"ip", NULL, "ip"},         [CLF_IDENT] = {"ident", "text"},
    [CLF_USER] = {"user", "text"},         [CLF_TIME] = {"time", "time", "time"},
    [CLF_REQUEST] = {"request", "text"},   [CLF_STATUS] = {"status", "int", "int"},
    [CLF_BYTES] = {"bytes", "int", "int"}, [CLF_REFERER] = {"referer", "text"},
    [CLF_AGENT] = {"agent", "text"},       [CLF_METHOD] = {"method", "text"},
    [CLF_PATH] = {"path", "text"},         [CLF_QUERY] = {"query", "text"},
    [CLF_PROTOCOL] = {"protocol", "text"},
};

/* Maximum number of digits in the number of a field. */
#define CLF_DIGITS_MAX 9

/* --- the wanted columns ----------------------------------------------------------------------- */

struct clf_columns {
    struct clf_column {
        enum clf_part part;
        unsigned field; /* CLF_PARTS: the field's number, above CLF_FIELDS; else 0 */
    } list[ROW_COLUMNS_MAX];
    unsigned count;
    bool has_parts;   /* some columns are parts of the request */
    bool has_numbers; /* some columns are fields with a number */
};

static enum clf_part clf_find_part(const char *name)
{
    unsigned part = 0;

    while (part < CLF_PARTS && strcmp(clf_parts[part].name, name) != 0)
        part++;
    return (enum clf_part)part;
}

/* Fails because the column is unknown, with the one that was probably meant. */
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
    if (*name == '-' && strspn(name + 1, "0123456789") == strlen(name + 1))
        return status_fail(failure, STATUS_USAGE,
                           "invalid column '%s': with --clf, fields after the agent are counted "
                           "from the left (try 10)",
                           name);
    for (size_t i = 0; i < CLF_PARTS; i++) {
        const size_t length = strlen(clf_parts[i].name);
        if (clf_parts[i].bucketed && strncmp(name, clf_parts[i].name, length) == 0 &&
            name[length] == '/')
            return status_fail(failure, STATUS_USAGE, "unknown column '%s' (try %s:%s%s)", name,
                               clf_parts[i].name, clf_parts[i].bucketed, name + length);
        nearest_try(&search, clf_parts[i].name, length);
    }
    return status_fail(failure, STATUS_USAGE,
                       "unknown column '%s': --clf has ip ident user time request method path "
                       "query protocol status bytes referer agent, and numbers from 10%s%s%s",
                       name, search.word ? " (did you mean '" : "", search.word ? search.word : "",
                       search.word ? "'?)" : "");
}

static enum status clf_want(void **wanted, const char *name, unsigned *number,
                            struct failure *failure)
{
    struct clf_columns *columns = *wanted ? *wanted : calloc(1, sizeof *columns);
    const size_t digits = strspn(name, "0123456789");
    struct clf_column column = {.part = clf_find_part(name)};

    *wanted = columns;
    if (!columns)
        return status_fail(failure, STATUS_DATA, "not enough memory for the names of columns");
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

struct clf_scan {
    const struct clf_columns *columns;
    const char *data;
    size_t bytes;
    size_t whole; /* rows that begin before it end with a newline */
    size_t next;  /* the start of the next row */
    enum row_event (*read)(struct clf_scan *scan, struct row *row); /* the best function here */
};

/* Returns the first byte that ends a field and has no open quote before it, or `end`. */
static size_t clf_find_end(const char *data, size_t at, size_t end)
{
    while (at < end && data[at] != '"' && !text_line_is_blank(data[at]))
        at++;
    return at;
}

/* Returns the bracket that closes the one before data[at], or `end`. */
static size_t clf_find_bracket(const char *data, size_t at, size_t end)
{
    while (at < end && !(data[at] == ']' && (at + 1 == end || text_line_is_blank(data[at + 1]))))
        at++;
    return at;
}

/* Returns the quote that closes the one before data[at], or `end`. */
static size_t clf_find_quote(const char *data, size_t at, size_t end)
{
    while (at < end && data[at] != '"')
        at += (size_t)1 + (data[at] == '\\');
    return at < end ? at : end;
}

TEXT_INLINE struct row_value clf_value(enum row_value_kind kind, size_t begin, size_t end)
{
    return (struct row_value){.kind = kind, .offset = begin, .bytes = end - begin};
}

/*
 * Reads the field at data[*at], which is not a blank, and sets *at to the next field, or to `end`.
 * Returns the fault, or NULL.
 */
static const char *clf_read_field(const char *data, size_t *at, size_t end, struct row_value *value)
{
    const size_t begin = *at + (data[*at] == '"' || data[*at] == '[');
    const char *fault = NULL;
    size_t to;

    if (data[*at] == '"') {
        to = clf_find_quote(data, begin, end);
        *value =
            clf_value(memchr(data + begin, '\\', to - begin) ? ROW_ESCAPED : ROW_PLAIN, begin, to);
        fault = to == end ? "unterminated quote"
                : to + 1 < end && !text_line_is_blank(data[to + 1])
                    ? "something follows a closing quote"
                    : NULL;
        *at = to + 1;
    } else if (data[*at] == '[') {
        to = clf_find_bracket(data, begin, end);
        *value = clf_value(ROW_PLAIN, begin, to);
        fault = to == end ? "unterminated bracket" : NULL;
        *at = to + 1;
    } else {
        to = clf_find_end(data, begin, end);
        while (to < end && data[to] == '"') {
            to = clf_find_quote(data, to + 1, end);
            if (to == end)
                return "unterminated quote";
            to = clf_find_end(data, to + 1, end);
        }
        *value = clf_value(ROW_PLAIN, begin, to);
        *at = to;
    }
    while (*at < end && text_line_is_blank(data[*at]))
        ++*at;
    return fault;
}

/*
 * Divides a request, METHOD TARGET PROTOCOL, whose target may have blanks: the path is the part
 * before its question mark. A request without a blank has no parts.
 */
static void clf_divide_request(const char *data, struct row_value parts[CLF_PARTS])
{
    const struct row_value *request = &parts[CLF_REQUEST];
    const char *const begin = data + request->offset;
    const char *const end = begin + request->bytes;
    const char *blank = memchr(begin, ' ', request->bytes);
    const char *method = blank ? blank : begin;   /* the end of the method */
    const char *target = blank ? blank + 1 : end; /* the start of the target */
    const char *protocol = end;                   /* the start of the protocol */
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

#if defined(__x86_64__)
/*
 * For the low four bits of a byte: the mark with these bits, else a byte with other bits. A byte
 * over 127 looks up 0.
 */
#define CLF_MARKS 1, 0, '"', 0, 0, 0, 0, 0, 0, '\t', '\n', 0, '\\', 0, 0, 0

CPU_ISA_TARGET_AVX2 static inline uint64_t clf_find_marks_avx2(const char *block)
{
    const __m256i by_low = _mm256_setr_epi8(CLF_MARKS, CLF_MARKS);
    const __m256i low = _mm256_loadu_si256((const __m256i *)block);
    const __m256i high = _mm256_loadu_si256((const __m256i *)block + 1);
    return text_block_bits_avx2(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(by_low, low), low),
                                _mm256_cmpeq_epi8(_mm256_shuffle_epi8(by_low, high), high));
}

CPU_ISA_TARGET_AVX512 static inline uint64_t clf_find_marks_avx512(const char *block)
{
    const __m512i by_low = _mm512_broadcast_i32x4(_mm_setr_epi8(CLF_MARKS));
    const __m512i bytes = _mm512_loadu_si512(block);
    return _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(by_low, bytes), bytes);
}
#endif

/* Returns the marks of a block: its newlines, quotes, backslashes and tabs. */
TEXT_INLINE uint64_t clf_find_marks(enum cpu_isa isa, const char *block)
{
#if defined(__x86_64__)
    if (isa <= CPU_ISA_AVX512)
        return clf_find_marks_avx512(block);
    if (isa == CPU_ISA_AVX2)
        return clf_find_marks_avx2(block);
#endif
    return text_block_equal(isa, block, '\n') | text_block_equal(isa, block, '"') |
           text_block_equal(isa, block, '\\') | text_block_equal(isa, block, '\t');
}

/* A block of the text with its marks and blanks. */
struct clf_block {
    size_t at;
    uint64_t marks;
    uint64_t stops; /* marks and blanks */
};

TEXT_INLINE void clf_read_block(enum cpu_isa isa, const struct clf_scan *scan, size_t at,
                                struct clf_block *block)
{
    char copy[TEXT_BLOCK];
    const char *bytes = text_block_at(scan->data, scan->bytes, at, copy);

    block->at = at;
    block->marks = clf_find_marks(isa, bytes);
    block->stops = block->marks | text_block_equal(isa, bytes, ' ');
}

/*
 * Returns the first mark at or after data[from], or with is_word the first mark or blank. `block`
 * begins at or before `from`; it becomes the block with that mark.
 */
TEXT_INLINE size_t clf_find_mark(enum cpu_isa isa, const struct clf_scan *scan, size_t from,
                                 bool is_word, struct clf_block *block)
{
    for (;;) {
        const size_t past = from - block->at;
        const uint64_t found =
            past < TEXT_BLOCK ? (is_word ? block->stops : block->marks) >> past : 0;
        if (found)
            return from + text_block_first(found);
        if (past < TEXT_BLOCK)
            from = block->at + TEXT_BLOCK;
        clf_read_block(isa, scan, from, block);
    }
}

TEXT_INLINE bool clf_is_dash(const struct clf_scan *scan, const struct row_value *value)
{
    return value->bytes == 1 && scan->data[value->offset] == '-';
}

/* Stores a field: as one of the parts, or as a value if its number is wanted. */
TEXT_INLINE void clf_store(const struct clf_scan *scan, unsigned field, struct row_value value,
                           struct row_value parts[CLF_PARTS], struct row *row)
{
    if (field < CLF_FIELDS) {
        parts[field] = value;
        return;
    }
    if (!scan->columns->has_numbers)
        return;
    if (clf_is_dash(scan, &value))
        value.kind = ROW_DASH;
    for (unsigned i = 0; i < scan->columns->count; i++) {
        if (scan->columns->list[i].field == field + 1)
            row->values[i] = value;
    }
}

/*
 * Reads the fields of a row in the servers' usual form: one blank between fields, a timestamp of 26
 * bytes, quotes only around fields, no backslash. Sets the row's end and the start of the next row.
 * Returns the number of fields; 0: the row may have another form.
 */
TEXT_INLINE unsigned clf_read_common(enum cpu_isa isa, struct clf_scan *scan, struct row *row,
                                     struct row_value parts[CLF_PARTS])
{
    const size_t begin = row->begin;
    const char *data = scan->data;
    const char *line = data + begin;
    struct clf_block block;
    unsigned ends[5];

    if (scan->whole < begin + TEXT_BLOCK)
        return 0;
    clf_read_block(isa, scan, begin, &block);
    uint64_t stops = block.stops;
    if (__builtin_popcountll(stops) < 6)
        return 0;
#pragma GCC unroll 5
    for (unsigned i = 0; i < 5; i++, stops &= stops - 1)
        ends[i] = text_block_first(stops);
    const unsigned time = ends[2] + 2; /* in brackets: DD/Mon/YYYY:HH:MM:SS +HHMM */
    if (text_block_first(block.marks | (uint64_t)1 << 63) != time + 28 || line[time + 28] != '"' ||
        ends[0] == 0 || ends[1] < ends[0] + 2 || ends[2] < ends[1] + 2 || ends[3] != time + 20 ||
        ends[4] != time + 27 || line[time - 1] != '[' || line[time + 19] == ']' ||
        line[time + 26] != ']' || line[0] == '[' || line[ends[0] + 1] == '[' ||
        line[ends[1] + 1] == '[')
        return 0;
    const size_t request = begin + time + 29;
    size_t at = clf_find_mark(isa, scan, request, false, &block);
    if (data[at] != '"')
        return 0;
    parts[CLF_IP] = clf_value(ROW_PLAIN, begin, begin + ends[0]);
    parts[CLF_IDENT] = clf_value(ROW_PLAIN, begin + ends[0] + 1, begin + ends[1]);
    parts[CLF_USER] = clf_value(ROW_PLAIN, begin + ends[1] + 1, begin + ends[2]);
    parts[CLF_TIME] = clf_value(ROW_PLAIN, begin + time, begin + time + 26);
    parts[CLF_REQUEST] = clf_value(ROW_PLAIN, request, at);

    const size_t tail = ++at;
    clf_read_block(isa, scan, tail, &block);
    stops = block.stops;
    if (__builtin_popcountll(stops) < 3)
        return 0;
#pragma GCC unroll 3
    for (unsigned i = 0; i < 3; i++, stops &= stops - 1)
        ends[i] = text_block_first(stops);
    at = tail + ends[2];
    if (ends[0] != 0 || ends[1] < 2 || ends[2] < ends[1] + 2 || data[tail] != ' ' ||
        data[tail + ends[1]] != ' ' || data[tail + 1] == '[' || data[tail + ends[1] + 1] == '[' ||
        data[at - 1] == '\r')
        return 0;
    parts[CLF_STATUS] = clf_value(ROW_PLAIN, tail + 1, tail + ends[1]);
    parts[CLF_BYTES] = clf_value(ROW_PLAIN, tail + ends[1] + 1, at);

    unsigned field = CLF_REFERER;
    for (; data[at] == ' '; field++) {
        const size_t from = at + 1;
        if (__builtin_expect(data[from] == '"', true)) {
            at = clf_find_mark(isa, scan, from + 1, false, &block) + 1;
            if (data[at - 1] != '"')
                return 0;
            clf_store(scan, field, clf_value(ROW_PLAIN, from + 1, at - 1), parts, row);
        } else {
            at = clf_find_mark(isa, scan, from, true, &block);
            if (at == from || data[from] == '[' || data[at - 1] == '\r')
                return 0;
            clf_store(scan, field, clf_value(ROW_PLAIN, from, at), parts, row);
        }
    }
    row->end = at;
    at += data[at] == '\r';
    if (data[at] != '\n')
        return 0;
    scan->next = at + 1;
    return field;
}

/* Finds the end of the row of any form at data[row->begin], and its content. */
static void clf_find_line(struct clf_scan *scan, struct row *row)
{
    const char *data = scan->data;
    const char *newline = memchr(data + row->begin, '\n', scan->bytes - row->begin);

    row->end = newline ? (size_t)(newline - data) : scan->bytes;
    scan->next = row->end + 1;
    row->end = text_line_content_end(data, row->begin, row->end);
    text_line_trim(data, &row->begin, &row->end);
}

/* Reads the fields of the row data[row->begin..row->end) of any form. Sets row->fault. */
__attribute__((noinline)) static unsigned clf_read_fields(const struct clf_scan *scan,
                                                          struct row *row,
                                                          struct row_value parts[CLF_PARTS])
{
    const char *data = scan->data;
    unsigned field = 0;

    row->fault = NULL;
    for (size_t at = row->begin; !row->fault && at < row->end; field++) {
        struct row_value value = {.kind = ROW_MISSING};
        row->fault = field == CLF_TIME && data[at] != '['
                         ? "its fourth field, the time, is not in brackets"
                     : field == CLF_REQUEST && data[at] != '"'
                         ? "its fifth field, the request, is not in quotes"
                         : clf_read_field(data, &at, row->end, &value);
        clf_store(scan, field, value, parts, row);
    }
    if (!row->fault && field <= CLF_BYTES && row->begin < row->end)
        row->fault = "fewer than seven fields";
    return field;
}

/* Stores the named columns of a row, in which `fields` fields were found. */
TEXT_INLINE void clf_store_parts(const struct clf_scan *scan, unsigned fields, struct row *row,
                                 struct row_value parts[CLF_PARTS])
{
    const struct clf_columns *columns = scan->columns;

    for (unsigned i = fields; i < CLF_FIELDS; i++)
        parts[i].kind = ROW_MISSING;
    for (unsigned i = CLF_STATUS; i <= CLF_BYTES; i++) {
        if (clf_is_dash(scan, &parts[i]))
            parts[i].kind = ROW_NULL;
    }
    if (columns->has_parts)
        clf_divide_request(scan->data, parts);
    for (unsigned i = 0; i < columns->count; i++) {
        if (columns->list[i].part < CLF_PARTS)
            row->values[i] = parts[columns->list[i].part];
    }
}

TEXT_INLINE enum row_event clf_read_next(enum cpu_isa isa, struct clf_scan *scan, struct row *row)
{
    const struct clf_columns *columns = scan->columns;
    struct row_value parts[CLF_PARTS];
    unsigned fields;

    do {
        if (scan->next >= scan->bytes)
            return ROW_END;
        for (unsigned i = 0; columns->has_numbers && i < columns->count; i++)
            row->values[i].kind = ROW_MISSING;
        row->begin = scan->next;
        fields = clf_read_common(isa, scan, row, parts);
        if (__builtin_expect(fields == 0, false)) {
            clf_find_line(scan, row);
            fields = clf_read_fields(scan, row, parts);
            if (row->fault)
                return ROW_INVALID;
        }
    } while (row->begin == row->end);
    clf_store_parts(scan, fields, row, parts);
    return ROW_FOUND;
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

    struct clf_scan *self = scan;
    const char *newline = bytes > 0 ? memrchr(data, '\n', bytes) : NULL;

    self->columns = columns;
    self->data = data;
    self->bytes = bytes;
    self->next = 0;
    self->whole = newline ? (size_t)(newline - data) + 1 : 0;
    self->read = readers[cpu_isa_best()];
}

static enum row_event clf_next(void *scan, struct row *row)
{
    struct clf_scan *self = scan;

    return self->read(self, row);
}

/* Decodes the escape at the start of text[0..bytes), a backslash. Returns its length. */
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
    .noun = "log line",
    .part = "field",
    .wanted = "-f NAME, such as -f status",
    .none = "-",
    .want = clf_want,
    .forget = free,
    .kind = clf_kind,
    .scan_bytes = sizeof(struct clf_scan),
    .begin = clf_begin,
    .next = clf_next,
    .decode = clf_decode,
};
