/* The two parsers behind text_choose_parser. */
#ifndef GPUHIST_TEXT_INTERNAL_H
#define GPUHIST_TEXT_INTERNAL_H

#include "text.h"

/* The parser of tokens, and those of lines for rules that are not of tokens. Thread-safe. */
text_parse_function *text_tokens_choose(enum element_type type);
text_parse_function *text_fields_choose(const struct text_rules *rules, enum element_type type);

#endif
