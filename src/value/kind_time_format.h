/*
 * The form of timestamps that --time-format gives, with the conversion specifiers of strptime:
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
 *   %Z              UTC or GMT; any letters with %z or in local times
 *   %F %T %D %R     %Y-%m-%d, %H:%M:%S, %m/%d/%y, %H:%M
 *   %n %t, blanks   one or more blanks
 *   %%              a percent sign
 *
 * Numbers other than years may lack leading zeros; %d, %H and %I accept a blank instead. %S and %s
 * also read a fraction, unless a point or comma is next in the format. Names are English, of either
 * case, in full or the first three letters. A format has a day and a month. If it has no year,
 * dates are in the year given with it, else in the present year, or if that is later than tomorrow
 * in the year before.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_FORMAT_H
#define GPUHIST_KIND_TIME_FORMAT_H

#include "lib/status.h"

#include <stdbool.h>
#include <stdint.h>

#define KIND_TIME_FORMAT_STEPS 160

/* A valid format. */
struct kind_time_format {
    /* the format with %F and the like expanded, one letter per meaning, and single blanks */
    char steps[KIND_TIME_FORMAT_STEPS];
    bool lacks_year;
    unsigned year; /* formats without a year: that of dates; 0: that of `today` or one before */
    int64_t today; /* the present day, in days since 1970 */
};

/*
 * Checks a format. Fails with STATUS_USAGE if it is too long, has unknown or contradictory
 * specifiers (such as %j and %m), no day or month, %p without %I, or %I without %p. The caller
 * stores `year` and `today` if the format lacks a year.
 */
enum status kind_time_format_parse(struct kind_time_format *format, const char *text,
                                   struct failure *failure);

/* Returns the year of dates without one, if they are not later than tomorrow. */
unsigned kind_time_format_year(const struct kind_time_format *format);

#endif
