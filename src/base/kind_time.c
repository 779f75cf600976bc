/* Implements kind_time.h: reading the forms that are known, and writing. */
#include "config.h"

#include "base/kind_time.h"

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/kind_time_internal.h"

#include <string.h>

enum kind_time_result { KIND_TIME_INVALID, KIND_TIME_OUT_OF_RANGE, KIND_TIME_VALID };

const unsigned short kind_time_days_before[2][13] = {
    {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
    {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366},
};

/*
 * Compares eight bytes with a shape, in which 0 stands for any digit and * for any byte, and sets
 * bits of *misfits unless they fit. Returns a word in which the byte of each digit that a digit
 * follows is the number of both.
 */
BYTES_INLINE uint64_t kind_time_match_eight(const char *text, const char *shape, uint64_t *misfits)
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
static inline bool kind_time_read_extended(const char *text, struct kind_time_parts *parts)
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
static inline bool kind_time_read_common_log(const char *text, struct kind_time_parts *parts)
{
    /* The sums of the second and the third letter, of which no two are equal; the first is of feb.
     */
    enum { FIRST = 'e' + 'b', SUMS = 'o' + 'v' - FIRST + 1 };
#define KIND_TIME_MONTH(number, a, b, c) [(b) + (c)-FIRST] = { {a, b, c}, number }
    static const struct {
        char letters[3];
        unsigned char number; /* 0: no month has this sum */
    } months[SUMS] = {
        KIND_TIME_MONTH(1, 'j', 'a', 'n'),  KIND_TIME_MONTH(2, 'f', 'e', 'b'),
        KIND_TIME_MONTH(3, 'm', 'a', 'r'),  KIND_TIME_MONTH(4, 'a', 'p', 'r'),
        KIND_TIME_MONTH(5, 'm', 'a', 'y'),  KIND_TIME_MONTH(6, 'j', 'u', 'n'),
        KIND_TIME_MONTH(7, 'j', 'u', 'l'),  KIND_TIME_MONTH(8, 'a', 'u', 'g'),
        KIND_TIME_MONTH(9, 's', 'e', 'p'),  KIND_TIME_MONTH(10, 'o', 'c', 't'),
        KIND_TIME_MONTH(11, 'n', 'o', 'v'), KIND_TIME_MONTH(12, 'd', 'e', 'c'),
    };
#undef KIND_TIME_MONTH
    uint64_t misfits = 0;
    uint64_t day = kind_time_match_eight(text, "00/***/*", &misfits);
    uint64_t year = kind_time_match_eight(text + 6, "/0000:00", &misfits);
    uint64_t clock = kind_time_match_eight(text + 12, "00:00:00", &misfits);
    char letters[3] = {(char)(text[3] | 0x20), (char)(text[4] | 0x20), (char)(text[5] | 0x20)};
    unsigned sum = (unsigned)(letters[1] + letters[2] - FIRST);

    if (misfits != 0 || sum >= SUMS || memcmp(months[sum].letters, letters, sizeof letters) != 0)
        return false;
    parts->year = KIND_TIME_PAIR(year, 1) * 100 + KIND_TIME_PAIR(year, 3);
    parts->month = months[sum].number;
    parts->day = KIND_TIME_PAIR(day, 0);
    parts->hour = KIND_TIME_PAIR(clock, 0);
    parts->minute = KIND_TIME_PAIR(clock, 3);
    parts->second = KIND_TIME_PAIR(clock, 6);
    return true;
}

const char *kind_time_read_fraction(const char *at, const char *end, struct kind_time_parts *parts)
{
    unsigned nanoseconds = 0;
    unsigned count = 0;

    for (; at < end && kind_time_is_digit(*at); at++) {
        if (count < KIND_TIME_DIGITS_MAX) {
            nanoseconds = nanoseconds * 10 + (unsigned)(*at - '0');
            count++;
        } else {
            parts->has_rest |= *at != '0';
        }
    }
    parts->nanoseconds = nanoseconds * (unsigned)decimal_powers[KIND_TIME_DIGITS_MAX - count];
    return at;
}

const char *kind_time_read_point(const char *at, const char *end, struct kind_time_parts *parts)
{
    if (end - at < 2 || (*at != '.' && *at != ',') || !kind_time_is_digit(at[1]))
        return at;
    return kind_time_read_fraction(at + 1, end, parts);
}

const char *kind_time_read_epoch(const char *at, const char *end, bool with_fraction,
                                 struct kind_time_parts *parts)
{
    const char *begin = at;
    const char *digits = at + (at < end && (*at == '-' || *at == '+'));
    uint64_t epoch = 0;

    for (at = digits; end - at >= 8; at += 8) {
        uint64_t word = bytes_load(at) ^ BYTES_OF('0');
        if (bytes_no_digits(word) != 0)
            break;
        if (__builtin_mul_overflow(epoch, (uint64_t)100000000, &epoch) ||
            __builtin_add_overflow(epoch, bytes_join_eight(word), &epoch))
            epoch = UINT64_MAX;
    }
    for (; at < end && kind_time_is_digit(*at); at++) {
        if (__builtin_mul_overflow(epoch, (uint64_t)10, &epoch) ||
            __builtin_add_overflow(epoch, (uint64_t)(*at - '0'), &epoch))
            epoch = UINT64_MAX;
    }
    bool has_digits = at > digits;
    if (with_fraction && at < end && *at == '.') {
        const char *point = at;
        at = kind_time_read_fraction(point + 1, end, parts);
        has_digits |= at > point + 1;
    }
    if (!has_digits)
        return begin;
    parts->is_epoch = true;
    parts->is_negative = *begin == '-';
    parts->epoch = epoch;
    return at;
}

/* The number of two digits. */
static unsigned kind_time_pair(const char *digits)
{
    return (unsigned)(digits[0] - '0') * 10 + (unsigned)(digits[1] - '0');
}

const char *kind_time_read_offset(const char *at, const char *end, int *offset)
{
    const char *stop = at + 1;
    unsigned hours = 0;
    unsigned minutes = 0;

    if (at == end || (*at != '+' && *at != '-' && *at != 'Z' && *at != 'z'))
        return at;
    if (*at == '+' || *at == '-') {
        if (end - at < 3 || !kind_time_is_digit(at[1]) || !kind_time_is_digit(at[2]))
            return at;
        hours = kind_time_pair(at + 1);
        stop = at + 3;
        const char *more = stop + (stop < end && *stop == ':');
        if (end - more >= 2 && kind_time_is_digit(more[0]) && kind_time_is_digit(more[1])) {
            minutes = kind_time_pair(more);
            stop = more + 2;
        }
    }
    *offset = hours > 23 || minutes > 59 ? KIND_TIME_NO_OFFSET
                                         : (int)(hours * 60 + minutes) * (*at == '-' ? -60 : 60);
    return stop;
}

/* Where a time is read: its field, and how far it may read on. */
struct kind_time_span {
    const char *field_end;
    const char *end;
};

/* Whether a time may end here: where its field or the line does, or where a later field does. */
static inline bool kind_time_ends(const char *at, const struct kind_time_span *span)
{
    return at >= span->field_end && (at == span->end || kind_time_is_white(*at));
}

/* Whether the byte is a bracket, which a time may end with. */
static inline bool kind_time_is_closed(const char *at, const struct kind_time_span *span)
{
    return at < span->end && *at == ']';
}

/*
 * Reads what follows a date, with a time of the day or with one that has seconds. Returns the end
 * of it all, NULL if a time may not end there.
 */
BYTES_INLINE const char *kind_time_read_tail(const char *at, const struct kind_time_span *span,
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
static __attribute__((noinline)) const char *kind_time_read_other(const char *text, bool is_opened,
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

    *parts = (struct kind_time_parts){0};
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
        *parts = (struct kind_time_parts){
            .year = kind_time_pair(text) * 100 + kind_time_pair(text + 2),
            .month = kind_time_pair(text + forms[i].month),
            .day = kind_time_pair(text + forms[i].day),
            .hour = forms[i].hour > 0 ? kind_time_pair(text + forms[i].hour) : 0,
            .minute = forms[i].minute > 0 ? kind_time_pair(text + forms[i].minute) : 0,
            .second = forms[i].second > 0 ? kind_time_pair(text + forms[i].second) : 0,
        };
        at = kind_time_read_tail(at, span, forms[i].hour > 0, forms[i].second > 0, parts);
        if (at)
            return at;
    }
    return NULL;
}

/* The value of a time that is written with digits. */
static inline enum kind_time_result kind_time_convert(const struct kind_time_rules *rules,
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
        const unsigned short *before =
            kind_time_days_before[kind_time_is_leap(parts->year)] + parts->month - 1;
        if (parts->day > (unsigned)(before[1] - before[0]))
            return KIND_TIME_INVALID;
        seconds =
            (kind_time_days_before_year(parts->year) + before[0] + parts->day - 1) * KIND_TIME_DAY +
            parts->hour * 3600 + parts->minute * 60 + parts->second;
        if (!rules->is_local)
            seconds -= parts->offset;
    }
    return kind_time_scale(rules->digits, seconds, nanoseconds, value) ? KIND_TIME_VALID
                                                                       : KIND_TIME_OUT_OF_RANGE;
}

/* Reads as kind_time_read does; *used is the bytes of the time. */
static inline enum kind_time_result kind_time_find(const struct kind_time_rules *rules,
                                                   const char *text, size_t field, size_t bytes,
                                                   int64_t *value, size_t *used)
{
    const struct kind_time_span span = {text + field, text + bytes};
    struct kind_time_parts parts = {0};
    const char *begin = text + (bytes > 0 && *text == '[');
    size_t left = (size_t)(span.end - begin);
    const char *at = NULL;

    if (field == 0)
        return KIND_TIME_INVALID;
    if (rules->format) {
        at = kind_time_format_match(rules->format, text, span.end, &parts);
        at = at && kind_time_ends(at, &span) ? at : NULL;
    } else {
        if (left >= 19 && begin[4] == '-') {
            if (kind_time_read_extended(begin, &parts))
                at = kind_time_read_tail(begin + 19, &span, true, true, &parts);
        } else if (left >= 20 && begin[2] == '/') {
            if (kind_time_read_common_log(begin, &parts))
                at = kind_time_read_tail(begin + 20, &span, true, true, &parts);
        }
        if (!at)
            at = kind_time_read_other(begin, begin > text, &span, &parts);
    }
    if (!at)
        return KIND_TIME_INVALID;
    *used = (size_t)(at - text);
    return kind_time_convert(rules, &parts, value);
}

size_t kind_time_read(const struct kind_time_rules *rules, const char *text, size_t field,
                      size_t bytes, int64_t *value)
{
    int64_t found;
    size_t used;

    if (kind_time_find(rules, text, field, bytes, &found, &used) != KIND_TIME_VALID)
        return 0;
    *value = found;
    return used;
}

bool kind_time_is_out_of_range(const struct kind_time_rules *rules, const char *text, size_t field,
                               size_t bytes)
{
    int64_t value;
    size_t used;

    return kind_time_find(rules, text, field, bytes, &value, &used) == KIND_TIME_OUT_OF_RANGE;
}

/* Writes two digits. Returns their end. */
static inline char *kind_time_write_pair(char *out, unsigned number)
{
    out[0] = (char)('0' + number / 10);
    out[1] = (char)('0' + number % 10);
    return out + 2;
}

size_t kind_time_write(char *out, const struct kind_time_rules *rules, int64_t value)
{
    const int64_t scale = (int64_t)decimal_powers[rules->digits];
    int64_t seconds = kind_time_divide(value, scale);
    uint64_t fraction = (uint64_t)value - (uint64_t)seconds * (uint64_t)scale;
    int64_t days = kind_time_divide(seconds, KIND_TIME_DAY);
    unsigned second = (unsigned)(seconds - days * KIND_TIME_DAY);
    struct kind_time_date date = kind_time_find_date(days);
    uint64_t year = (uint64_t)(date.year < 0 ? -date.year : date.year);
    char *at = out;

    *at = date.year < 0 ? '-' : '+';
    at += date.year < 0 || year > 9999;
    if (year > 9999) {
        at += decimal_write(at, year);
    } else {
        at = kind_time_write_pair(at, (unsigned)year / 100);
        at = kind_time_write_pair(at, (unsigned)year % 100);
    }
    *at++ = '-';
    at = kind_time_write_pair(at, date.month);
    *at++ = '-';
    at = kind_time_write_pair(at, date.day);
    *at++ = 'T';
    at = kind_time_write_pair(at, second / 3600);
    *at++ = ':';
    at = kind_time_write_pair(at, second / 60 % 60);
    *at++ = ':';
    at = kind_time_write_pair(at, second % 60);
    if (rules->digits > 0) {
        *at++ = '.';
        for (unsigned i = rules->digits; i-- > 0; fraction /= 10)
            at[i] = (char)('0' + fraction % 10);
        at += rules->digits;
    }
    if (!rules->is_local)
        *at++ = 'Z';
    return (size_t)(at - out);
}
