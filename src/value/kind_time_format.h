/*
 * The form of times that --time-format gives, in the letters of strptime:
 *
 *   %Y %y           the year, four digits or two: 69 to 99 are 1969 to 1999
 *   %m  %b %B %h    the month, its number or its name
 *   %d %e  %j       the day of the month, of the year
 *   %H %k  %I %l    the hour of 24, of 12
 *   %p              AM or PM
 *   %M  %S  %f      minute, second, the digits of a fraction
 *   %a %A           a day of the week, which may be any
 *   %s              seconds since 1970
 *   %z              an offset: Z, +HH:MM, +HHMM or +HH
 *   %Z              UTC or GMT; with %z, and of local times, any letters
 *   %F %T %D %R     %Y-%m-%d, %H:%M:%S, %m/%d/%y, %H:%M
 *   %n %t, blanks   one or more blanks
 *   %%              a percent sign
 *
 * Numbers but years may lack leading zeros, and those of %d, %H and %I may have a blank for one. %S
 * and %s read a fraction as well, unless the point or comma comes next in the format. Names are
 * English and of either case, in full or the first three letters. A format has a day and a month.
 * Without a year it takes the one that it is given, or the present one; or the one before, for
 * dates later than tomorrow.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_FORMAT_H
#define GPUHIST_KIND_TIME_FORMAT_H

#include "lib/status.h"

#include <stdbool.h>
#include <stdint.h>

#define KIND_TIME_FORMAT_STEPS 160

/* A format that is checked. */
struct kind_time_format {
    /* the text with %F and the like written out, one letter for each meaning, and single blanks */
    char steps[KIND_TIME_FORMAT_STEPS];
    bool lacks_year;
    unsigned year; /* that dates then are of; 0: that of `today`, or the one before */
    int64_t today; /* days since 1970 */
};

/*
 * Checks a format. Refuses letters that are not known, two that say the same (as %j and %m do), a
 * format without a day and a month, %p without %I and %I without %p, and one that is too long, with
 * STATUS_USAGE. The caller stores year and today if it lacks a year.
 */
enum status kind_time_format_parse(struct kind_time_format *format, const char *text,
                                   struct failure *failure);

/* Returns the year that dates without one are of, if they are not later than tomorrow. */
unsigned kind_time_format_year(const struct kind_time_format *format);

#endif
