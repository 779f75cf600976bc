/*
 * Why a token of text is invalid, in words for messages, with advice: the option that would read
 * what is invalid or missing. Pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_REASON_H
#define GPUHIST_TEXT_REASON_H

#include "text/text.h"

/* Room for any reason, or for advice, and a NUL. */
#define TEXT_REASON_SIZE 608
#define TEXT_ADVICE_SIZE 256

struct row_scanner;

/* A text, and how it is read. */
struct text_reading {
    const struct text_rules *rules;
    const struct row_scanner *scanner;
    bool is_value;                         /* the column is one of the values */
    bool is_group;                         /* or one of the groups */
    bool takes_strings;                    /* values of kind text would do as well */
    const struct kind_time_format *format; /* of times; NULL: the usual ones */
    const char *option;                    /* that names rules->field: -f */
    const char *field_name;                /* of rules->field; NULL: it has none */
    const struct predicate *condition;     /* of the column; NULL: it has none */
    const struct element *element;
    const char *data; /* [bytes] */
    size_t bytes;
    bool begins_file; /* the text is the beginning of its file */
    bool begins_run;  /* and nothing but empty files was before it */
    bool ends_run;    /* an invalid token is an error */
};

/* How an invalid token is a number all the same, which would change a sum. */
enum text_misfit {
    TEXT_MISFIT_NONE,    /* it is not a number */
    TEXT_MISFIT_RANGE,   /* out of range for the type and every other one */
    TEXT_MISFIT_I64,     /* out of range for the type, but not for i64 */
    TEXT_MISFIT_U64,     /* out of range for the type, but not for u64 */
    TEXT_MISFIT_BUCKET,  /* in range, but its bucket begins below the type */
    TEXT_MISFIT_DECIMAL, /* it has more decimals */
    TEXT_MISFIT_FORM,    /* it is written otherwise: 1e6, 1,234 or "36" */
    TEXT_MISFITS,
};

/*
 * Returns how an invalid token is a number of these rules all the same, in a column of that element
 * type. For TEXT_MISFIT_DECIMAL it
 * stores how many decimals it has, at least 1, without zeros at the end.
 */
enum text_misfit text_find_misfit(const struct text_rules *rules, const struct element *element,
                                  const char *token, size_t bytes, size_t *decimals);

/*
 * Writes why the token, which the parser has found invalid in the text, is none of the type, with
 * advice, such as
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
 * Writes that the KIND[/WIDTH] of a name WHERE:KIND/WIDTH that the header line[0..bytes) lacks is
 * none, and which was probably meant. Returns false if it has none: WHERE is neither a number nor
 * in the header.
 */
bool text_explain_kind(const struct text_rules *rules, const char *line, size_t bytes,
                       const char *name, char out[TEXT_REASON_SIZE]);

/* Writes advice about a name that the header line[0..bytes) lacks, or "". */
void text_advise_name(const struct text_rules *rules, const char *line, size_t bytes,
                      const char *name, char out[TEXT_ADVICE_SIZE]);

#endif
