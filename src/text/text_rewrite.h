/*
 * Guesses for messages which columns and time formats users meant. The functions try each guess on
 * the text at hand before they write it. Pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_REWRITE_H
#define GPUHIST_TEXT_REWRITE_H

#include "text/text_reason.h"

/*
 * Writes, in words, the column that an invalid name probably means: 4:time/5s for 4:time/5,
 * 4:time/1m for 4/1m and 2:int/100 for 2/100. Returns false for other names, and if line[0..bytes)
 * has neither the name nor a value of that type in the field of that number.
 */
bool text_rewrite_column(const struct text_rules *rules, const char *line, size_t bytes,
                         const char *name, char out[TEXT_ADVICE_SIZE]);

/*
 * Writes a quoted --time-format that reads a token which is not a timestamp: '%m/%d/%Y %T'. If the
 * format with day and month exchanged reads it as well, writes both. Fields of lines are also
 * tried in the rows that follow. Returns false if there is none.
 */
bool text_rewrite_time(const struct text_reading *reading, const struct text_token *token,
                       char out[TEXT_ADVICE_SIZE]);

/*
 * Returns how much of a value, text[0..length) at the beginning of the rest of a line,
 * text[0..bytes), a format reads: 0 or all of it, and where blanks separate fields maybe more.
 */
size_t text_rewrite_read(const struct text_reading *reading, const struct kind_time_format *format,
                         const char *text, size_t length, size_t bytes);

#endif
