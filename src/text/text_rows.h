/*
 * Rows of text: several columns of each line (plan.h), and lines that must have a number of fields.
 *
 * A line that is not blank is a row, unless it meets no alternative of the conditions. Conditions
 * are tested first, in their order, up to the first alternative that is met. The other columns of a
 * row that meets none are not read. A token that is not a value of its column is invalid: the row
 * then counts only for the other value columns, or not at all if the token belongs to a condition,
 * the weight or a group. A line with wrong quotes or another number of fields than its file's
 * header is one invalid token of column 0.
 *
 * A value is missing if a row that names its columns lacks it or has a placeholder for it (null),
 * or if it is empty and not a string. A missing value is an invalid token. If the plan skips
 * missing values, the row is left out in the same way, but no token is reported. A condition of
 * missing values tests nothing else.
 *
 * Fields, tokens and notations are those of text.h.
 */
#ifndef GPUHIST_TEXT_ROWS_H
#define GPUHIST_TEXT_ROWS_H

#include "text/dictionary.h"
#include "text/text.h"
#include "value/plan.h"

/*
 * Returns true if a plan needs the parser of rows instead of text_choose_parser (text.h): if it has
 * several columns, or rows that name them; if its column is not of numbers, is floored, or is the
 * whole line; or if a column has a name, so that the header sets the number of fields. Pure.
 */
bool text_rows_are_needed(const struct plan *plan);

/*
 * Creates what one thread needs to parse strings of the plan: memory, and the patterns of
 * conditions. Returns NULL if there is no memory. The caller destroys it, before the plan.
 */
struct text_rows_scratch *text_rows_scratch_create(const struct plan *plan);

/* NULL is allowed. */
void text_rows_scratch_destroy(struct text_rows_scratch *scratch);

/* A text that is parsed in calls, and where the rows of a call go. */
struct text_rows {
    const struct plan *plan;
    const struct text_rules *rules; /* the rules of the file, for column 0 */
    const char *data;               /* [bytes] */
    size_t bytes;
    size_t offset; /* offset of the next byte to parse: 0 or set by the last call */
    /*
     * [capacity] each: value columns have elements of their types in this machine's byte order;
     * the weight and groups have keys, 8 bytes per word; conditions have none.
     */
    void *keys[TEXT_COLUMNS_MAX];
    uint64_t *nulls; /* [capacity]: a bit per column without a value; NULL: one value column */
    size_t capacity;
    struct dictionary_cache *strings;  /* gives strings their numbers; NULL: each number is 0 */
    enum text_row_end row_end;         /* how rows of the file end */
    struct text_rows_scratch *scratch; /* this thread's memory */
    enum status status; /* not STATUS_OK: `strings` or a pattern failed, and the call ended early */
    struct failure failure;
    uint64_t met;        /* the conditions that rows met (context.h); calls add to it */
    size_t count;        /* number of rows that the last call stored */
    size_t missing;      /* rows left out of value columns (skips_missing); calls add to it */
    size_t last_missing; /* `offset` after the last of those rows */
    struct kind_guesses guesses;                 /* guesses of timestamps; calls add to them */
    struct text_token invalid[TEXT_COLUMNS_MAX]; /* after TEXT_INVALID: the tokens of one row */
    size_t invalid_count;
};

/*
 * Parses data[offset..bytes), whole lines, as text_parse_function (text.h) says; with TEXT_END,
 * `offset` is `bytes`. After TEXT_INVALID, the invalid tokens belong to the last stored row if that
 * row counts for other columns, else to the row after it. After a failure of `strings` or a
 * pattern, status and failure say so, and rows are lost. Thread-safe on distinct strings.
 */
enum text_event text_rows_parse(struct text_rows *rows);

#endif
