/* Which parts of a line of text are values. text/text.h defines fields, tokens and lines. */
#ifndef GPUHIST_TEXT_RULES_H
#define GPUHIST_TEXT_RULES_H

#include <stdbool.h>
#include <stdint.h>

#define TEXT_NO_DELIMITER (-1)

struct text_rules {
    int32_t field;  /* the number of the field, from 1; 0: every token or part. If it has a name: 1
                       in the job, and its number in the file in the rules of a chunk */
    int delimiter;  /* a byte, or TEXT_NO_DELIMITER */
    bool is_quoted; /* parts may be quoted (RFC 4180); there is a delimiter */
};

/* Returns whether chunks of text may be cut at any white space, not only at newlines. Pure. */
static inline bool text_is_of_tokens(const struct text_rules *rules)
{
    return rules->field == 0 && rules->delimiter == TEXT_NO_DELIMITER;
}

#endif
