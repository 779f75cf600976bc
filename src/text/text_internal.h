/* The parsers among which text_choose_parser chooses. All functions are thread-safe. */
#ifndef GPUHIST_TEXT_INTERNAL_H
#define GPUHIST_TEXT_INTERNAL_H

#include "base/cpu_isa.h"
#include "text/text.h"

/* The parser of tokens, one at a time, in that instruction set. */
text_parse_function *text_tokens_choose(enum cpu_isa isa, enum element_type type);

/*
 * The parser of tokens of a notation, eight at a time; NULL if the best instruction set has none.
 */
text_parse_function *text_lanes_choose(enum text_notation notation, enum element_type type);

/* The parser of fields, for rules that are not text_is_of_tokens. */
text_parse_function *text_fields_choose(const struct text_rules *rules, enum element_type type);

/* Two fields of each line, numbered from either end. The second column's elements have 8 bytes. */
struct text_columns {
    const struct text_rules *second; /* the first's are those of the text */
    struct element first_element;
    struct element second_element;
};

/* Parses both in one pass, as text_pairs_parse (text_pairs.h). text->rules are the first's. */
enum text_event text_fields_parse_pairs(const struct text_columns *columns,
                                        struct text_cursor *text);

/*
 * Defines a text_parse_function with these attributes. It calls `parse` with the given constants
 * and then its own argument: so an always-inline loop is compiled for an instruction set and a
 * type.
 */
#define TEXT_PARSE_DEFINE(function, attributes, parse, ...)              \
    attributes static enum text_event function(struct text_cursor *text) \
    {                                                                    \
        return parse(__VA_ARGS__, text);                                 \
    }

#endif
