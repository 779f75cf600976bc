/* The parsers behind text_choose_parser. */
#ifndef GPUHIST_TEXT_INTERNAL_H
#define GPUHIST_TEXT_INTERNAL_H

#include "base/cpu_isa.h"
#include "text/text.h"

/* All functions are thread-safe. */

/* The parser of tokens that takes one after the other, in that instruction set. */
text_parse_function *text_tokens_choose(enum cpu_isa isa, enum element_type type);

/* The parser of tokens that takes eight at once; NULL where the best instruction set has none. */
text_parse_function *text_lanes_choose(enum element_type type);

/* Those of lines, for rules that are not of tokens. */
text_parse_function *text_fields_choose(const struct text_rules *rules, enum element_type type);

/*
 * Defines a text_parse_function with these attributes that passes its arguments on to `parse`,
 * behind further, constant ones: wraps an always-inline loop for an instruction set and a type.
 */
#define TEXT_PARSE_DEFINE(function, attributes, parse, ...)                                      \
    attributes static enum text_event function(const struct text_rules *rules, const char *data, \
                                               size_t bytes, size_t *offset, void *values,       \
                                               size_t room, size_t *count,                       \
                                               struct text_token *invalid)                       \
    {                                                                                            \
        return parse(__VA_ARGS__, rules, data, bytes, offset, values, room, count, invalid);     \
    }

#endif
