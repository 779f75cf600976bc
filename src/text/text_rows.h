/*
 * Rows of text: several columns of each line (plan.h), and lines that must have a number of fields.
 *
 * A line that is not blank is a row, unless it meets no alternative of the conditions. Conditions
 * are tested first, in their order, up to the first alternative that is met; what a row that meets
 * none holds in other columns is not looked at. A token
 * that is not a value of its column is invalid: then the row counts only for the other value
 * columns, or if it is of a condition, the weight or a group, not at all. A line with wrong quotes
 * or another number of fields than its file's header is one invalid token of column 0.
 *
 * A value is missing if the row, which names its columns, lacks it or says that it is none (null);
 * or if it is empty, of another kind than text. A missing value is an invalid token, or if the plan
 * skips these, its row is left out as if it were one, without a token. A condition of missing
 * values is tested by nothing else.
 *
 * Fields, tokens and notations are those of text.h.
 */
#ifndef GPUHIST_TEXT_ROWS_H
#define GPUHIST_TEXT_ROWS_H

#include "text/dictionary.h"
#include "text/text.h"
#include "value/plan.h"

/*
 * Returns whether a plan parses rows, and not tokens as text_choose_parser (text.h) does: it has
 * several columns, rows that name them, a column of another kind than numbers, floored, or of the
 * whole line; or a column has a name, so that the header says how many fields a line has. Pure.
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
    const struct text_rules *rules; /* of the file; they are those of column 0 */
    const char *data;               /* [bytes] */
    size_t bytes;
    size_t offset; /* 0, or what the last call left */
    /*
     * [capacity] each: of values, elements of their types in this machine's byte order; of the
     * weight and of groups, keys of 8 bytes for each word; conditions have none.
     */
    void *keys[TEXT_COLUMNS_MAX];
    uint64_t *nulls; /* [capacity], a bit for each column without a value; NULL: one value column */
    size_t capacity;
    struct dictionary_cache *strings;  /* numbers strings; NULL: the number of each is 0 */
    enum text_row_end row_end;         /* of the file */
    struct text_rows_scratch *scratch; /* of this thread */
    enum status status; /* not STATUS_OK: `strings` or a pattern has failed; the call ended early */
    struct failure failure;
    uint64_t met; /* conditions that rows met (context.h); calls add to it */
    size_t count; /* rows that the last call stored */
    size_t
        missing; /* rows that were left out, maybe of some value columns alone; calls add to it */
    size_t last_missing;                         /* `offset` after the last of them */
    struct kind_guesses guesses;                 /* calls add to it */
    struct text_token invalid[TEXT_COLUMNS_MAX]; /* after TEXT_INVALID: those of one row */
    size_t invalid_count;
};

/*
 * Parses data[offset..bytes), whole lines, as text_parse_function (text.h) says; with TEXT_END,
 * `offset` is `bytes`. After TEXT_INVALID, the invalid tokens are of the row that is the last one
 * stored, if it counts for other columns, or comes after those stored. Thread-safe on distinct
 * strings. After a failure of `strings` or a pattern, status and failure say so, and rows are lost.
 */
enum text_event text_rows_parse(struct text_rows *rows);

#endif
