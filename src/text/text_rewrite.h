/*
 * What users mean by columns and times that are not read, for messages: what these functions write
 * was tried on the text at hand. Pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_REWRITE_H
#define GPUHIST_TEXT_REWRITE_H

#include "text/text_reason.h"

/*
 * Writes which column is meant by a name that is none, in words: 4:time/5s by 4:time/5, 4:time/1m
 * by 4/1m and 2:int/100 by 2/100. Returns false if it is none of
 * these, or if the line[0..bytes) has neither the name nor, in the field of that number, such a
 * value.
 */
bool text_rewrite_column(const struct text_rules *rules, const char *line, size_t bytes,
                         const char *name, char out[TEXT_ADVICE_SIZE]);

/*
 * Writes a --time-format in quotes that reads a token that is not a timestamp: '%m/%d/%Y %T'; and
 * another after it, if one with day and month exchanged reads it as well. Fields of lines are
 * tried in the rows that follow, too. Returns false if there is none.
 */
bool text_rewrite_time(const struct text_reading *reading, const struct text_token *token,
                       char out[TEXT_ADVICE_SIZE]);

#endif
