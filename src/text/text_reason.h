/*
 * Explains in messages why a token of text is invalid, with advice: an option that reads the
 * invalid or missing value. Pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_REASON_H
#define GPUHIST_TEXT_REASON_H

#include "text/text.h"

/* Size of a buffer for a reason or advice, and a NUL. */
#define TEXT_REASON_SIZE 608
#define TEXT_ADVICE_SIZE 256

struct row_scanner;

/* The text of a token, and how it is read. */
struct text_reading {
    const struct text_rules *rules;
    const struct row_scanner *scanner;
    bool is_value;                         /* the column is a value column */
    bool is_group;                         /* the column is a group column */
    bool takes_strings;                    /* the operation also supports strings (kind text) */
    const struct kind_time_format *format; /* time format; NULL: the default formats */
    const char *option;                    /* option that names rules->field, such as -f */
    const char *field_name;                /* name of rules->field; NULL: none */
    const char *numbers;                   /* advice to name columns by their numbers in the file */
    const struct predicate *condition;     /* condition on the column; NULL: none */
    const struct element *element;
    const char *data; /* [bytes] */
    size_t bytes;
    bool begins_file; /* the text starts at the beginning of its file */
    bool begins_run;  /* only empty files precede the text */
    bool ends_run;    /* an invalid token is an error that ends the run */
};

/* Why a token that is a number is invalid. Skipping such a number changes a sum. */
enum text_misfit {
    TEXT_MISFIT_NONE,    /* not a number */
    TEXT_MISFIT_RANGE,   /* out of range for the type and for every other type */
    TEXT_MISFIT_I64,     /* out of range for the type, but not for i64 */
    TEXT_MISFIT_U64,     /* out of range for the type, but not for u64 */
    TEXT_MISFIT_BUCKET,  /* in range, but its bucket starts below the type's minimum */
    TEXT_MISFIT_DECIMAL, /* too many decimal places */
    TEXT_MISFIT_FORM,    /* unsupported notation: 1e6, 1,234 or "36" */
    TEXT_MISFITS,
};

/*
 * Returns why an invalid token in a column of that element type is nevertheless a number by these
 * rules. For TEXT_MISFIT_DECIMAL, stores its number of decimal places, at least 1, without trailing
 * zeros.
 */
enum text_misfit text_find_misfit(const struct text_rules *rules, const struct element *element,
                                  const char *token, size_t bytes, size_t *decimals);

/*
 * Writes why the token, which the parser found invalid, does not fit the type, with advice, such as
 *
 *   line has 5 fields, its header has 4 (try -f 2)
 *   '300' is out of range for u8 (try -t i64)
 *   invalid weight '-1', no integer from 0 to 2^63 - 1
 *   invalid time 'x' of --where
 *   not a JSON object: a colon is missing
 *
 * Shows at most 40 bytes of the token. Unprintable bytes but NUL are not masked.
 */
void text_explain_invalid(const struct text_reading *reading, const struct text_token *token,
                          char out[TEXT_REASON_SIZE]);

/*
 * For a name WHERE:KIND[/WIDTH] that the header line[0..bytes) lacks, writes that KIND[/WIDTH] is
 * invalid, and the probable one. Returns false if the name has no kind: WHERE is neither a number
 * nor in the header.
 */
bool text_explain_kind(const struct text_rules *rules, const char *line, size_t bytes,
                       const char *name, char out[TEXT_REASON_SIZE]);

/* Writes advice about a name that the header line[0..bytes) lacks, or "". */
void text_advise_name(const struct text_rules *rules, const char *line, size_t bytes,
                      const char *name, char out[TEXT_ADVICE_SIZE]);

#endif
