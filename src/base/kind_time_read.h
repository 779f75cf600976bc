/*
 * How times of the known forms are read (kind_time.h), compiled for host and device. Pure and
 * thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_READ_H
#define GPUHIST_KIND_TIME_READ_H

#include "base/kind_time_internal.h"

#include <string.h>

enum kind_time_result { KIND_TIME_INVALID, KIND_TIME_OUT_OF_RANGE, KIND_TIME_VALID };

/*
 * Compares eight bytes with a shape, in which 0 stands for any digit and * for any byte, and sets
 * bits of *misfits unless they fit. Returns a word in which the byte of each digit that a digit
 * follows is the number of both.
 */
HOST_DEVICE_INLINE uint64_t kind_time_match_eight(const char *text, const char *shape,
                                                  uint64_t *misfits)
{
    const uint64_t wanted = bytes_load(shape);
    const uint64_t any = (bytes_zeros(wanted ^ BYTES_OF('*')) >> 7) * 0xff;
    const uint64_t digits = bytes_zeros(wanted ^ BYTES_OF('0')) >> 7;
    uint64_t found = (bytes_load(text) ^ wanted) & ~any;

    /* the highest bit of a byte is set by adding if it is above 9, or of no digit above 0 */
    *misfits |= ((found + BYTES_OF(0x7f) - digits * 9) | found) & BYTES_OF(0x80);
    return found * 10 + (found >> 8);
}

/* The number that kind_time_match_eight has found at a byte. */
#define KIND_TIME_PAIR(word, byte) ((unsigned)((word) >> 8 * (byte)) & 0xff)

/* Reads YYYY-MM-DDTHH:MM:SS, 19 bytes. */
HOST_DEVICE_INLINE bool kind_time_read_extended(const char *text, struct kind_time_parts *parts)
{
    uint64_t misfits = (text[10] | 0x20) != 't' && text[10] != ' ';
    uint64_t month = kind_time_match_eight(text, "0000-00-", &misfits);
    uint64_t day = kind_time_match_eight(text + 8, "00*00:00", &misfits);
    uint64_t clock = kind_time_match_eight(text + 11, "00:00:00", &misfits);

    parts->year = KIND_TIME_PAIR(month, 0) * 100 + KIND_TIME_PAIR(month, 2);
    parts->month = KIND_TIME_PAIR(month, 5);
    parts->day = KIND_TIME_PAIR(day, 0);
    parts->hour = KIND_TIME_PAIR(clock, 0);
    parts->minute = KIND_TIME_PAIR(clock, 3);
    parts->second = KIND_TIME_PAIR(clock, 6);
    return misfits == 0;
}

/* Reads DD/Mon/YYYY:HH:MM:SS, 20 bytes. */
HOST_DEVICE_INLINE bool kind_time_read_common_log(const char *text, struct kind_time_parts *parts)
{
    /* At the number that the letters of its name make (below). */
    static const struct {
        char letters[4];
        unsigned char number;
    } months[16] = {
        {"sep", 9}, {"nov", 11}, {"mar", 3},  {"jun", 6}, {"feb", 2}, {"", 0},
        {"", 0},    {"oct", 10}, {"may", 5},  {"apr", 4}, {"jan", 1}, {"", 0},
        {"", 0},    {"aug", 8},  {"dec", 12}, {"jul", 7},
    };
    uint64_t misfits = 0;
    uint64_t day = kind_time_match_eight(text, "00/***/*", &misfits);
    uint64_t year = kind_time_match_eight(text + 6, "/0000:00", &misfits);
    uint64_t clock = kind_time_match_eight(text + 12, "00:00:00", &misfits);
    const unsigned a = (unsigned char)text[3] | 0x20u;
    const unsigned b = (unsigned char)text[4] | 0x20u;
    const unsigned c = (unsigned char)text[5] | 0x20u;
    const unsigned at = (a | b << 8 | c << 16) * 61 >> 15 & 15;
    const char *letters = months[at].letters;

    if (misfits != 0 || (char)a != letters[0] || (char)b != letters[1] || (char)c != letters[2])
        return false;
    parts->year = KIND_TIME_PAIR(year, 1) * 100 + KIND_TIME_PAIR(year, 3);
    parts->month = months[at].number;
    parts->day = KIND_TIME_PAIR(day, 0);
    parts->hour = KIND_TIME_PAIR(clock, 0);
    parts->minute = KIND_TIME_PAIR(clock, 3);
    parts->second = KIND_TIME_PAIR(clock, 6);
    return true;
}

/* Where a time is read: its field, and how far it may read on. */
struct kind_time_span {
    const char *field_end;
    const char *end;
};

/* Whether a time may end here: where its field or the line does, or where a later field does. */
HOST_DEVICE_INLINE bool kind_time_ends(const char *at, const struct kind_time_span *span)
{
    return at >= span->field_end && (at == span->end || kind_time_is_white(*at));
}

/* Whether the byte is a bracket, which a time may end with. */
HOST_DEVICE_INLINE bool kind_time_is_closed(const char *at, const struct kind_time_span *span)
{
    return at < span->end && *at == ']';
}

/*
 * Reads what follows a date, with a time of the day or with one that has seconds. Returns the end
 * of it all, NULL if a time may not end there.
 */
HOST_DEVICE_INLINE const char *kind_time_read_tail(const char *at,
                                                   const struct kind_time_span *span,
                                                   bool has_clock, bool has_seconds,
                                                   struct kind_time_parts *parts)
{
    if (has_seconds && at < span->end && (*at == '.' || *at == ','))
        at = kind_time_read_point(at, span->end, parts);
    if (has_clock && at < span->end && *at != ' ') {
        at = kind_time_read_offset(at, span->end, &parts->offset);
    } else if (has_clock && at < span->end) {
        int offset = 0;
        const char *stop = kind_time_read_offset(at + 1, span->end, &offset);
        const bool is_closed = kind_time_is_closed(stop, span);
        const bool is_number = /* of the next field, rather than an offset */
            stop > span->field_end &&
            (stop - at == 4 /* +HH */ || (offset == KIND_TIME_NO_OFFSET && !is_closed));
        if (stop > at + 1 && kind_time_ends(stop + is_closed, span) && !is_number) {
            parts->offset = offset;
            at = stop;
        }
    }
    at += has_clock && kind_time_is_closed(at, span);
    return kind_time_ends(at, span) ? at : NULL;
}

/*
 * Reads the forms that are not the two above, after a bracket or without one, which wants a time of
 * the day. Returns the end of the time, NULL if it is none. A form that does not end where a time
 * may is tried as the next one, which is shorter: a date before a field that only begins like a
 * time is a date.
 */
HOST_DEVICE_COLD const char *kind_time_read_other(const char *text, bool is_opened,
                                                  const struct kind_time_span *span,
                                                  struct kind_time_parts *parts)
{
    /* A 0 is any digit, T is T or t, and a blank may be these as well. */
    static const struct {
        const char *shape;
        unsigned char month, day, hour, minute, second; /* where they begin; 0: nowhere */
    } forms[] = {
        {"0000-00-00 00:00", 5, 8, 11, 14, 0},
        {"0000-00-00", 5, 8, 0, 0, 0},
        {"00000000T000000", 4, 6, 9, 11, 13},
        {"00000000T0000", 4, 6, 9, 11, 0},
    };

    memset(parts, 0, sizeof *parts);
    const char *end = kind_time_read_epoch(text, span->end, true, parts);
    if (parts->is_epoch && !is_opened && kind_time_ends(end, span))
        return end;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *shape = forms[i].shape;
        const char *at = text;
        for (; *shape != '\0' && at < span->end; shape++, at++) {
            bool is_separator = (*shape == ' ' || *shape == 'T') && (*at == 'T' || *at == 't');
            if (*shape == '0' ? !kind_time_is_digit(*at) : *at != *shape && !is_separator)
                break;
        }
        if (*shape != '\0' || (is_opened && forms[i].hour == 0))
            continue;
        memset(parts, 0, sizeof *parts);
        parts->year = kind_time_pair(text) * 100 + kind_time_pair(text + 2);
        parts->month = kind_time_pair(text + forms[i].month);
        parts->day = kind_time_pair(text + forms[i].day);
        parts->hour = forms[i].hour > 0 ? kind_time_pair(text + forms[i].hour) : 0;
        parts->minute = forms[i].minute > 0 ? kind_time_pair(text + forms[i].minute) : 0;
        parts->second = forms[i].second > 0 ? kind_time_pair(text + forms[i].second) : 0;
        at = kind_time_read_tail(at, span, forms[i].hour > 0, forms[i].second > 0, parts);
        if (at)
            return at;
    }
    return NULL;
}

/* The value of a time that is written with digits. */
HOST_DEVICE_INLINE enum kind_time_result kind_time_convert(const struct kind_time_rules *rules,
                                                           const struct kind_time_parts *parts,
                                                           int64_t *value)
{
    int64_t seconds;
    unsigned nanoseconds = parts->nanoseconds;

    if (parts->offset == KIND_TIME_NO_OFFSET || (parts->is_zone_unknown && !rules->is_local))
        return KIND_TIME_INVALID;
    if (parts->is_epoch) {
        if (parts->epoch > INT64_MAX / 2)
            return KIND_TIME_OUT_OF_RANGE;
        seconds = (int64_t)parts->epoch;
        if (parts->is_negative) {
            nanoseconds += parts->has_rest; /* up to 10^9 */
            seconds = -seconds - (nanoseconds > 0);
            nanoseconds = nanoseconds > 0 ? 1000000000 - nanoseconds : 0;
        }
    } else {
        if (parts->year < 1 || parts->month < 1 || parts->month > 12 || parts->day < 1 ||
            parts->hour > 23 || parts->minute > 59 || parts->second > 60)
            return KIND_TIME_INVALID;
        const unsigned before = kind_time_days_before_month(parts->year, parts->month);
        if (parts->day > kind_time_days_before_month(parts->year, parts->month + 1) - before)
            return KIND_TIME_INVALID;
        seconds =
            (kind_time_days_before_year(parts->year) + before + parts->day - 1) * KIND_TIME_DAY +
            parts->hour * 3600 + parts->minute * 60 + parts->second;
        if (!rules->is_local)
            seconds -= parts->offset;
    }
    return kind_time_scale(rules->digits, seconds, nanoseconds, value) ? KIND_TIME_VALID
                                                                       : KIND_TIME_OUT_OF_RANGE;
}

/*
 * Reads the time that begins at text[0], of the forms that are known, as kind_time_read does
 * without a format. Stores its parts and returns its end, NULL if it is none.
 */
HOST_DEVICE_INLINE const char *kind_time_read_known(const char *text, size_t field, size_t bytes,
                                                    struct kind_time_parts *parts)
{
    const struct kind_time_span span = {text + field, text + bytes};
    const char *begin = text + (bytes > 0 && *text == '[');
    const size_t left = (size_t)(span.end - begin);
    const char *at = NULL;

    memset(parts, 0, sizeof *parts);
    if (field == 0)
        return NULL;
    if (left >= 19 && begin[4] == '-') {
        if (kind_time_read_extended(begin, parts))
            at = kind_time_read_tail(begin + 19, &span, true, true, parts);
    } else if (left >= 20 && begin[2] == '/') {
        if (kind_time_read_common_log(begin, parts))
            at = kind_time_read_tail(begin + 20, &span, true, true, parts);
    }
    return at ? at : kind_time_read_other(begin, begin > text, &span, parts);
}

#endif
