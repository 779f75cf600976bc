/* What of each line of text is a value; text/text.h defines fields, tokens and lines. */
#ifndef GPUHIST_TEXT_RULES_H
#define GPUHIST_TEXT_RULES_H

#include <stdbool.h>
#include <stdint.h>

#define TEXT_NO_DELIMITER (-1)

struct text_rules {
    int32_t field; /* 0: every token or part */
    int delimiter; /* a byte, or TEXT_NO_DELIMITER */
};

/* Whether chunks of text may be cut at any white space, not only at newlines. */
static inline bool text_is_of_tokens(const struct text_rules *rules)
{
    return rules->field == 0 && rules->delimiter == TEXT_NO_DELIMITER;
}

#endif
