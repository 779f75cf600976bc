/* The parsers among which text_choose_parser chooses. All functions are thread-safe. */
#ifndef GPUHIST_TEXT_INTERNAL_H
#define GPUHIST_TEXT_INTERNAL_H

#include "lib/cpu_isa.h"
#include "text/text.h"

/* Returns the parser of tokens, one at a time, in that instruction set. */
text_parse_function *text_tokens_choose(enum cpu_isa isa, enum element_type type);

/*
 * Returns the parser of tokens of a notation, eight at a time; NULL if the best instruction set has
 * none.
 */
text_parse_function *text_lanes_choose(enum text_notation notation, enum element_type type);

/* Returns the parser of fields, for rules that are not text_is_of_tokens. */
text_parse_function *text_fields_choose(enum element_type type);

/*
 * Defines a text_parse_function with these attributes. It calls `parse` with the given constants
 * and then its own argument, so that an always-inline loop is compiled for an instruction set and a
 * type.
 */
#define TEXT_PARSE_DEFINE(function, attributes, parse, ...)              \
    attributes static enum text_event function(struct text_cursor *text) \
    {                                                                    \
        return parse(__VA_ARGS__, text);                                 \
    }

#endif
