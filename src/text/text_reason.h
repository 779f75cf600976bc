/*
 * Why a token of text is invalid, in words for messages. Pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_REASON_H
#define GPUHIST_TEXT_REASON_H

#include "text/text.h"

/* Room for any reason and a NUL. */
#define TEXT_REASON_SIZE 320

/* A text, and how it is read. */
struct text_reading {
    const struct text_rules *rules;
    bool is_value;          /* the column is one of the values */
    bool is_group;          /* or one of the groups */
    bool takes_texts;       /* values of kind text would do as well */
    bool is_json;           /* the rows are JSON objects */
    const char *option;     /* that names rules->field: -f */
    const char *field_name; /* of rules->field; NULL: it has none */
    const struct element *element;
    const char *data; /* [bytes] */
    size_t bytes;
    bool begins_file; /* the text is the beginning of its file */
    bool begins_run;  /* and nothing but empty files was before it */
    bool ends_run;    /* an invalid token is an error */
    bool is_decoded;  /* its file is compressed */
};

/* How an invalid token is a number all the same, which would change a sum. */
enum text_misfit {
    TEXT_MISFIT_NONE,    /* it is no number */
    TEXT_MISFIT_RANGE,   /* out of range for the type and every other one */
    TEXT_MISFIT_I64,     /* out of range for the type, but not for i64 */
    TEXT_MISFIT_U64,     /* likewise, for u64 */
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
 * Writes why the token, which the parser has found invalid in the text, is none of the type:
 *
 *   line has 3 fields, -f 9 wants 9
 *   line has 1 field, -f 2 wants 2 (try -d ,)
 *   line has 5 fields, its header has 4 (try -f 2)
 *   '300' is out of range for u8 (try -t i64)
 *   '10' is out of range for i64 with --decimals 18
 *   the bucket of '-125' begins below the least i8 (try -t i64)
 *   invalid integer 'x'
 *   invalid integer '1.5' (try --decimals 1)
 *   invalid weight '-1', no integer from 0 to 2^63 - 1
 *   invalid group 'x' (try COLUMN:text)
 *   invalid time 'x' of --where
 *   not a JSON object: a colon is missing
 *   row has no .http.ms
 *   invalid integer 'id,ms' (try --csv -f N)
 *   invalid integer 'ms' (try --header)
 *   invalid integer '-' (try --invalid ignore)
 *   invalid integer '"36"' (try --csv)
 *   invalid integer '"36"' (there are blanks before its quote)
 *   invalid integer '"36"x' (it goes on after its quotes)
 *   invalid text '"a"b' (it goes on after its quotes)
 *   text of 70000 bytes, more than 65536
 *   invalid integer '10.0.0.7' (try -f N)
 *   invalid integer '170,83' (try -d ,)
 *   invalid integer '{"ms":' (JSON: try --jsonl -f NAME)
 *   invalid integer '2026-11-21' (try COLUMN:time)
 *   invalid integer '\1' (is it binary?)
 *
 * Shows at most 40 bytes of the token. Unprintable bytes but NUL are not masked.
 */
void text_explain_invalid(const struct text_reading *reading, const struct text_token *token,
                          char out[TEXT_REASON_SIZE]);

#endif
