/*
 * Time zones: how far a zone's clocks are ahead of UTC at each instant.
 *
 * A zone is read once, from its file in the directory TZDIR, else /usr/share/zoneinfo (TZif
 * versions 1 to 4, RFC 9636), and its rule for the time after the last listed change is written out
 * up to the year 9999. It does not use libc, which takes UTC for an unknown zone, and locks.
 *
 * Instants are seconds since 1970 in UTC; local times are what the clocks show, counted as if
 * they were in UTC.
 *
 * A zone is constant once it is read: all functions of one are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_ZONE_H
#define GPUHIST_KIND_TIME_ZONE_H

#include "lib/status.h"

#include <stddef.h>
#include <stdint.h>

struct kind_time_zone;

/*
 * Reads the zone of that name, such as Europe/Berlin. Fails with STATUS_USAGE if the name is
 * unknown, with STATUS_DATA if its file is unreadable or corrupt, or there is no memory. The caller
 * destroys the zone.
 */
enum status kind_time_zone_read(const char *name, struct kind_time_zone **zone,
                                struct failure *failure);

/* Like kind_time_zone_read, but parses the contents of a file, which messages call `name`. */
enum status kind_time_zone_parse(const char *name, const unsigned char *data, size_t bytes,
                                 struct kind_time_zone **zone, struct failure *failure);

/* Frees a zone, which may be NULL. */
void kind_time_zone_destroy(struct kind_time_zone *zone);

/* Returns the name that the zone was read by. It lives as long as the zone. */
const char *kind_time_zone_name(const struct kind_time_zone *zone);

/* Returns how far the clocks are ahead of UTC at an instant, in seconds: less than 26 hours. */
int64_t kind_time_zone_offset(const struct kind_time_zone *zone, int64_t instant);

/*
 * Returns the first instant at which the clocks show a local time or a later one: the first of two
 * if it occurs twice; the instant of the clock change if it is skipped.
 */
int64_t kind_time_zone_first(const struct kind_time_zone *zone, int64_t local);

/*
 * Returns the last instant, not later than `instant`, at which the clocks show a local time or skip
 * it. The clocks must show that or a later local time at `instant`.
 */
int64_t kind_time_zone_last(const struct kind_time_zone *zone, int64_t local, int64_t instant);

#endif
