/*
 * The form of times that --time-format gives, in the letters of strptime:
 *
 *   %Y (four digits)  %y (two: 69 to 99 are 1969 to 1999)  %m  %b %B %h  %d %e  %j (day of the
 * year) %H %k  %I %l  %M  %S  %f (a fraction's digits)  %p (AM or PM)  %a %A  %s (seconds since
 * 1970) %z (an offset, as kind_time.h has it)  %Z (UTC or GMT; after %z and of local times any
 * name) %F %T %D %R (%Y-%m-%d, %H:%M:%S, %m/%d/%y, %H:%M)  %%  %n %t and blanks: any number of
 * blanks
 *
 * Numbers may lack leading zeros, and those of %d, %H and %I may have a blank for one. %S and %s
 * read a fraction as well, unless the point or comma comes next in the format. Names are English
 * and of either case, in full or the first three letters; %a may be any day. A date without a year
 * is of 1970, without month or day of the first; so a time of the day alone counts from midnight,
 * and 29 February needs a year.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_FORMAT_H
#define GPUHIST_KIND_TIME_FORMAT_H

#include "base/status.h"

#define KIND_TIME_FORMAT_STEPS 160

/* A format that is checked. */
struct kind_time_format {
    /* The text with %F and the like written out, one letter for each meaning, and one blank for any
     * number of these. */
    char steps[KIND_TIME_FORMAT_STEPS];
};

/*
 * Checks a format. Refuses letters that are not known, two that say the same (as %j and %m do), a
 * format that says nothing of a time, and one that is too long, with STATUS_USAGE.
 */
enum status kind_time_format_parse(struct kind_time_format *format, const char *text,
                                   struct failure *failure);

#endif
