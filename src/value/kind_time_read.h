/*
 * Reads timestamps of the known forms (kind_time.h), compiled for host and device. Pure and
 * thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_READ_H
#define GPUHIST_KIND_TIME_READ_H

#include "value/kind_ip_read.h"
#include "value/kind_time_internal.h"

#include <stddef.h>
#include <string.h>

enum kind_time_result { KIND_TIME_INVALID, KIND_TIME_OUT_OF_RANGE, KIND_TIME_VALID };

/*
 * Compares eight bytes with a shape, in which 0 means any digit and * any byte, and sets bits of
 * *misfits unless they match. Returns a word: if a digit follows a digit, the byte of the first is
 * the number of both.
 */
HOST_DEVICE_INLINE uint64_t kind_time_match_eight(const char *text, const char *shape,
                                                  uint64_t *misfits)
{
    const uint64_t wanted = bytes_load(shape);
    const uint64_t any = (bytes_zeros(wanted ^ BYTES_OF('*')) >> 7) * 0xff;
    const uint64_t digits = bytes_zeros(wanted ^ BYTES_OF('0')) >> 7;
    uint64_t found = (bytes_load(text) ^ wanted) & ~any;

    /* the sum sets the highest bit of a byte that is not a digit, or differs from the shape */
    *misfits |= ((found + BYTES_OF(0x7f) - digits * 9) | found) & BYTES_OF(0x80);
    return found * 10 + (found >> 8);
}

/* The two-digit number that kind_time_match_eight has found at a byte. */
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

/* Returns the number of the month with these first three letters; 0: there is none. */
HOST_DEVICE_INLINE unsigned kind_time_find_month(const char *name)
{
    /* indexed by a hash of the letters (below) */
    static const struct {
        char letters[4];
        unsigned char number;
    } months[16] = {
        {"sep", 9}, {"nov", 11}, {"mar", 3},  {"jun", 6}, {"feb", 2}, {"", 0},
        {"", 0},    {"oct", 10}, {"may", 5},  {"apr", 4}, {"jan", 1}, {"", 0},
        {"", 0},    {"aug", 8},  {"dec", 12}, {"jul", 7},
    };
    const unsigned a = (unsigned char)name[0] | 0x20u;
    const unsigned b = (unsigned char)name[1] | 0x20u;
    const unsigned c = (unsigned char)name[2] | 0x20u;
    const unsigned at = (a | b << 8 | c << 16) * 61 >> 15 & 15;
    const char *letters = months[at].letters;

    return (char)a == letters[0] && (char)b == letters[1] && (char)c == letters[2]
               ? months[at].number
               : 0;
}

/* Reads DD/Mon/YYYY:HH:MM:SS, 20 bytes. */
HOST_DEVICE_INLINE bool kind_time_read_common_log(const char *text, struct kind_time_parts *parts)
{
    uint64_t misfits = 0;
    uint64_t day = kind_time_match_eight(text, "00/***/*", &misfits);
    uint64_t year = kind_time_match_eight(text + 6, "/0000:00", &misfits);
    uint64_t clock = kind_time_match_eight(text + 12, "00:00:00", &misfits);

    parts->month = kind_time_find_month(text + 3);
    if (misfits != 0 || parts->month == 0)
        return false;
    parts->year = KIND_TIME_PAIR(year, 1) * 100 + KIND_TIME_PAIR(year, 3);
    parts->day = KIND_TIME_PAIR(day, 0);
    parts->hour = KIND_TIME_PAIR(clock, 0);
    parts->minute = KIND_TIME_PAIR(clock, 3);
    parts->second = KIND_TIME_PAIR(clock, 6);
    return true;
}

/* The place of a timestamp: its field, the end of its line, and the rules. */
struct kind_time_span {
    const char *field_end;
    const char *end;
    bool is_cell;
    bool is_joined;
    bool is_local;
};

/* What precedes a time of day: it limits what the next word may be. */
enum kind_time_lead {
    KIND_TIME_AFTER_BLANK,
    KIND_TIME_AFTER_T,
    KIND_TIME_AFTER_COLON, /* as in the common log format */
    KIND_TIME_PACKED,      /* nothing: date and time are one number */
};

/* Stores why a timestamp is rejected. Returns NULL. */
HOST_DEVICE_INLINE const char *kind_time_refuse(struct kind_time_parts *parts,
                                                enum kind_time_fault fault)
{
    parts->fault = fault;
    return NULL;
}

HOST_DEVICE_INLINE const char *kind_time_skip_white(const char *at, const char *end)
{
    while (at < end && kind_time_is_white(*at))
        at++;
    return at;
}

HOST_DEVICE_INLINE unsigned kind_time_count_digits(const char *at, const char *end)
{
    unsigned count = 0;

    while (at + count < end && kind_time_is_digit(at[count]))
        count++;
    return count;
}

HOST_DEVICE_INLINE bool kind_time_is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Returns whether the byte ends a timestamp unless a digit follows it. */
HOST_DEVICE_INLINE bool kind_time_is_inner_mark(char c)
{
    return c == ',' || c == ':';
}

/* Returns whether the byte ends a timestamp, whatever follows it. */
HOST_DEVICE_INLINE bool kind_time_is_outer_mark(char c)
{
    return c == ';' || c == '|' || c == ']' || c == ')' || c == '"';
}

/* Returns whether a word ends here: at white space or a mark. After an offset, `:` is an outer
 * mark.
 */
HOST_DEVICE_INLINE bool kind_time_ends_word(const char *at, const char *end, bool has_offset)
{
    if (at == end || kind_time_is_white(*at) || kind_time_is_outer_mark(*at))
        return true;
    return kind_time_is_inner_mark(*at) &&
           ((has_offset && *at == ':') || at + 1 == end || !kind_time_is_digit(at[1]));
}

/* Returns whether a timestamp of a format may end here: at the end of its field, of a later field
 * or of the line. */
HOST_DEVICE_INLINE bool kind_time_ends(const char *at, const struct kind_time_span *span)
{
    return at >= span->field_end && (at == span->end || kind_time_is_white(*at));
}

/* Returns the end of a timestamp at `at`, NULL if it may not end there. In a cell, the mate of
 * `opener`, a bracket or 0, may follow. */
HOST_DEVICE_INLINE const char *kind_time_finish(const char *at, const struct kind_time_span *span,
                                                char opener, bool has_offset)
{
    if (span->is_cell) {
        const char mate = opener == '[' ? ']' : opener == '(' ? ')' : opener;
        at += opener && at < span->end && *at == mate;
        return at == span->end ? at : NULL;
    }
    return kind_time_ends_word(at, span->end, has_offset) ? at : NULL;
}

HOST_DEVICE_INLINE bool kind_time_is_date(unsigned year, unsigned month, unsigned day)
{
    return year >= 1 && month >= 1 && month <= 12 && day >= 1 &&
           day <= kind_time_days_before_month(year, month + 1) -
                      kind_time_days_before_month(year, month);
}

/*
 * Reads YYYY-MM-DD, YYYY/MM/DD, DD-Mon-YYYY, DD/Mon/YYYY or YYYYMMDD that no digit follows. Returns
 * its end, NULL if there is none.
 */
HOST_DEVICE_COLD const char *kind_time_read_date(const char *at, const char *end,
                                                 struct kind_time_parts *parts)
{
    const unsigned digits = kind_time_count_digits(at, end);
    const char *stop = at + (digits == 8 ? 8 : digits == 4 ? 10 : 11);

    if ((digits != 2 && digits != 4 && digits != 8) || stop > end ||
        (stop < end && kind_time_is_digit(*stop)))
        return NULL;
    const char *separator = at + digits;
    if (digits == 2) {
        parts->month = kind_time_find_month(at + 3);
        if ((*separator != '-' && *separator != '/') || at[6] != *separator || parts->month == 0 ||
            kind_time_count_digits(at + 7, end) != 4)
            return NULL;
        parts->day = kind_time_pair(at);
        parts->year = kind_time_pair(at + 7) * 100 + kind_time_pair(at + 9);
        return stop;
    }
    const char *month = separator + (digits == 4);
    const char *day = month + 2 + (digits == 4);
    if (digits == 4 &&
        ((*separator != '-' && *separator != '/') || at[7] != *separator ||
         kind_time_count_digits(month, end) != 2 || kind_time_count_digits(day, end) != 2))
        return NULL;
    if (digits == 8) {
        month = at + 4;
        day = at + 6;
    }
    parts->year = kind_time_pair(at) * 100 + kind_time_pair(at + 2);
    parts->month = kind_time_pair(month);
    parts->day = kind_time_pair(day);
    return stop;
}

/*
 * Reads H:MM or H:MM:SS, with one or two digits of hours, or if is_basic also HHMM or HHMMSS; then
 * an optional fraction of the seconds. Returns its end, NULL if there is none.
 */
HOST_DEVICE_COLD const char *kind_time_read_clock(const char *at, const char *end, bool is_basic,
                                                  struct kind_time_parts *parts)
{
    const unsigned digits = kind_time_count_digits(at, end);
    bool has_seconds;

    if (is_basic && (digits == 4 || digits == 6)) {
        has_seconds = digits == 6;
        parts->hour = kind_time_pair(at);
        parts->minute = kind_time_pair(at + 2);
        parts->second = has_seconds ? kind_time_pair(at + 4) : 0;
        at += digits;
    } else {
        if (digits < 1 || digits > 2 || at + digits == end || at[digits] != ':' ||
            kind_time_count_digits(at + digits + 1, end) != 2)
            return NULL;
        parts->hour = digits == 2 ? kind_time_pair(at) : (unsigned)(*at - '0');
        parts->minute = kind_time_pair(at + digits + 1);
        parts->second = 0;
        at += digits + 3;
        has_seconds = at < end && *at == ':' && kind_time_count_digits(at + 1, end) == 2;
        if (has_seconds) {
            parts->second = kind_time_pair(at + 1);
            at += 3;
        }
    }
    return has_seconds ? kind_time_read_point(at, end, parts) : at;
}

/* Reads AM, PM, a.m. or p.m. in any case. Returns its end; `at` if there is none. */
HOST_DEVICE_INLINE const char *kind_time_match_half(const char *at, const char *end)
{
    const ptrdiff_t left = end - at;

    if (left < 2 || ((*at | 0x20) != 'a' && (*at | 0x20) != 'p'))
        return at;
    if ((at[1] | 0x20) == 'm')
        return at + 2;
    return left >= 4 && at[1] == '.' && (at[2] | 0x20) == 'm' && at[3] == '.' ? at + 4 : at;
}

/* The zones whose names are known, in parentheses or not. */
enum kind_time_zone_word { KIND_TIME_ZONE_NONE, KIND_TIME_ZONE_UTC, KIND_TIME_ZONE_OTHER };

/* Reads the name of a zone, and UTC or GMT with a sign and digits. Stores its end. */
HOST_DEVICE_COLD enum kind_time_zone_word kind_time_read_zone(const char *at, const char *end,
                                                              const char **stop)
{
    static const char names[] =
        "ACDT ACST ADT AEDT AEST AKDT AKST AST AWST BST CAT CDT CEST CET CST ChST EAT EDT EEST EET "
        "EST HDT HKT HST IDT IST JST KST MDT MEST MET MSK MST NDT NST NZDT NZST PDT PKT PST SAST "
        "SGT SST WAT WET WIB WIT WITA GMT UTC ";
    const bool is_enclosed = at < end && *at == '(';
    enum kind_time_zone_word zone = KIND_TIME_ZONE_NONE;
    unsigned length = 0;

    at += is_enclosed;
    while (at + length < end && length < 5 && kind_time_is_letter(at[length]))
        length++;
    for (const char *name = names; length > 2 && *name != '\0'; name++) {
        unsigned same = 0;
        while (same < length && name[same] == at[same])
            same++;
        if (same == length && name[same] == ' ')
            zone = KIND_TIME_ZONE_OTHER;
        while (*name != ' ')
            name++;
    }
    if (zone == KIND_TIME_ZONE_NONE)
        return zone;
    const bool is_utc = (at[0] == 'U' && at[2] == 'C') || (at[0] == 'G' && at[1] == 'M');
    at += length;
    if (is_utc) {
        const bool has_sign = at < end && (*at == '+' || *at == '-');
        zone = has_sign ? KIND_TIME_ZONE_OTHER : KIND_TIME_ZONE_UTC;
        at += has_sign;
        while (
            has_sign && at < end &&
            (kind_time_is_digit(*at) || (*at == ':' && kind_time_count_digits(at + 1, end) == 2 &&
                                         kind_time_is_digit(at[-1]))))
            at++;
    }
    if (is_enclosed && (at == end || *at != ')'))
        return KIND_TIME_ZONE_NONE;
    *stop = at + is_enclosed;
    return zone;
}

/*
 * Reads AM or PM, attached or as the next word, and converts the hour to 0 to 23, or to 24 if it is
 * not 1 to 12. As the next word, it ends with the word or before a mark; "PM: " is another field.
 * Returns its end, `at` if there is none, NULL if it is ambiguous.
 */
HOST_DEVICE_COLD const char *kind_time_read_half(const char *at, const struct kind_time_span *span,
                                                 struct kind_time_parts *parts)
{
    const char *end = span->end;
    const char *word = kind_time_skip_white(at, end);
    const char *stop = kind_time_match_half(word, end);
    const char *zone_end;

    if (stop == word) { /* p.m without its last point */
        const bool is_cut = word > at && end - word >= 3 && word[1] == '.' &&
                            (word[2] | 0x20) == 'm' &&
                            ((*word | 0x20) == 'a' || (*word | 0x20) == 'p');
        return is_cut ? NULL : at;
    }
    if (word > at && stop < end && !kind_time_is_white(*stop) && *stop != ',' &&
        (*stop == '|' || !kind_time_is_outer_mark(*stop))) {
        const bool is_part =
            *stop == '.' || *stop == '|' || stop[-1] == '.' ||
            ((*stop == '+' || *stop == '-') && kind_time_count_digits(stop + 1, end) > 0) ||
            kind_time_read_zone(stop, end, &zone_end) != KIND_TIME_ZONE_NONE;
        return is_part ? NULL : at;
    }
    if (parts->hour < 1 || parts->hour > 12)
        parts->hour = 24;
    else
        parts->hour = parts->hour % 12 + ((*word | 0x20) == 'p' ? 12 : 0);
    return stop;
}

/* Returns whether [at, end) is a number: digits with at most one point, and an optional sign. */
HOST_DEVICE_INLINE bool kind_time_is_number(const char *at, const char *end)
{
    at += at < end && (*at == '+' || *at == '-');
    const unsigned whole = kind_time_count_digits(at, end);
    at += whole;
    const bool has_point = at < end && *at == '.';
    at += has_point;
    const unsigned rest = has_point ? kind_time_count_digits(at, end) : 0;
    return whole + rest > 0 && at + rest == end;
}

HOST_DEVICE_INLINE const char *kind_time_word_end(const char *at, const char *end)
{
    while (at < end && !kind_time_is_white(*at))
        at++;
    return at;
}

/*
 * Reads the word after a time of day without an attached offset. The word may be an offset or the
 * name of a zone. Returns the end of the part that belongs to the timestamp; `at` if the word is
 * another field; NULL if that is ambiguous, or the zone is unknown.
 */
HOST_DEVICE_COLD const char *kind_time_read_next(const char *at, const struct kind_time_span *span,
                                                 enum kind_time_lead lead,
                                                 struct kind_time_parts *parts)
{
    const char *word = kind_time_skip_white(at, span->end);
    const char *stop = word;
    const bool is_whole = span->is_cell || span->is_joined;
    int offset = 0;

    if (word == span->end)
        return at;
    if (*word != '+' && *word != '-') {
        if (*word == 'Z' && kind_time_ends_word(word + 1, span->end, true))
            return lead == KIND_TIME_AFTER_T && !is_whole ? at : word + 1;
        const enum kind_time_zone_word zone = kind_time_read_zone(word, span->end, &stop);
        if (zone == KIND_TIME_ZONE_NONE)
            return at;
        if (!kind_time_ends_word(stop, span->end, true))
            return (*stop != '_' && !kind_time_is_letter(*stop) && !kind_time_is_digit(*stop)) ||
                           kind_time_is_digit(stop[-1]) /* GMT+3x */
                       ? kind_time_refuse(parts, KIND_TIME_FAULT_ZONE)
                       : at;
        return zone == KIND_TIME_ZONE_UTC || span->is_local
                   ? stop
                   : kind_time_refuse(parts, KIND_TIME_FAULT_ZONE);
    }
    stop = kind_time_read_offset(word, span->end, &offset);
    const size_t length = (size_t)(stop - word);
    if (length == 0) { /* not an accepted offset: +5:30 */
        const bool is_short = span->end - word > 3 && kind_time_is_digit(word[1]) && word[2] == ':';
        return is_short && !span->is_local ? kind_time_refuse(parts, KIND_TIME_FAULT_OFFSET) : at;
    }
    if (!kind_time_ends_word(stop, span->end, true)) { /* -03.5 is another field */
        const bool is_point = *stop == '.' && kind_time_count_digits(stop + 1, span->end) == 0;
        return is_point || kind_time_is_inner_mark(*stop)
                   ? kind_time_refuse(parts, KIND_TIME_FAULT_OFFSET)
                   : at;
    }
    const bool is_marked = stop < span->end && !kind_time_is_white(*stop);
    const bool is_clock = offset != KIND_TIME_NO_OFFSET;
    const bool is_used = is_clock && offset >= -12 * 3600 && offset <= 14 * 3600;
    if (!is_used && !(is_whole && is_clock)) {
        const bool is_value = !is_whole && !is_marked && length < 6 &&
                              (!is_clock || length == 3 || lead == KIND_TIME_AFTER_BLANK);
        return is_value ? at : kind_time_refuse(parts, KIND_TIME_FAULT_OFFSET);
    }
    if (!is_whole) {
        const bool may_be_value = length < 6 && offset <= -10 * 3600;
        if (length == 3 &&
            (lead == KIND_TIME_AFTER_COLON || (lead == KIND_TIME_AFTER_T && !is_marked)))
            return at;
        if (lead == KIND_TIME_AFTER_T || lead == KIND_TIME_PACKED ||
            (may_be_value && (lead == KIND_TIME_AFTER_BLANK || length == 3)))
            return span->is_local ? at : kind_time_refuse(parts, KIND_TIME_FAULT_OFFSET);
    }
    parts->offset = offset;
    return stop;
}

/* Reads the rest of a timestamp after H:MM:SS. Returns its end, NULL if it is invalid. */
HOST_DEVICE_COLD const char *kind_time_read_tail(const char *at, const struct kind_time_span *span,
                                                 char opener, enum kind_time_lead lead,
                                                 struct kind_time_parts *parts)
{
    const char *stop = at;
    bool has_offset = false;

    at = lead == KIND_TIME_PACKED ? at : kind_time_read_half(at, span, parts);
    if (!at)
        return NULL;
    if (at < span->end && !kind_time_is_white(*at)) {
        const char *attached = at;
        at = kind_time_read_offset(at, span->end, &parts->offset);
        if (at == attached) {
            const enum kind_time_zone_word zone = kind_time_read_zone(at, span->end, &stop);
            if (zone == KIND_TIME_ZONE_OTHER && !span->is_local)
                return kind_time_refuse(parts, KIND_TIME_FAULT_ZONE);
            at = zone != KIND_TIME_ZONE_NONE ? stop : at;
        }
        has_offset = at > attached;
    }
    if (!has_offset && at < span->end && kind_time_is_white(*at)) {
        const char *before = at;
        at = kind_time_read_next(at, span, lead, parts);
        if (!at)
            return NULL;
        has_offset = at > before;
    }
    parts->has_offset = has_offset;
    if (span->is_cell && has_offset) {
        const char *word = kind_time_skip_white(at, span->end);
        if (word > at && kind_time_read_zone(word, span->end, &stop) != KIND_TIME_ZONE_NONE)
            at = stop;
    }
    return kind_time_finish(at, span, opener, has_offset);
}

/*
 * Returns whether the word after a date, which begins with a digit and is not a time, is a field of
 * its own: a number that does not look like a time, an IP address or a date.
 */
HOST_DEVICE_COLD bool kind_time_is_other_field(const char *word, const char *end)
{
    const char *stop = kind_time_word_end(word, end);
    const unsigned digits = kind_time_count_digits(word, stop);
    struct kind_time_parts parts;
    uint64_t address;

    if (digits == (size_t)(stop - word) && (digits == 4 || digits == 6))
        return kind_time_pair(word) > 23 || kind_time_pair(word + 2) > 59 ||
               (digits == 6 && kind_time_pair(word + 4) > 60);
    return kind_time_is_number(word, stop) ||
           kind_ip_read_v4(word, (size_t)(stop - word), &address) ||
           kind_time_read_date(word, stop, &parts);
}

/* Reads the rest of a timestamp after its date. Returns its end, NULL if it is invalid. */
HOST_DEVICE_COLD const char *kind_time_read_after_date(const char *at,
                                                       const struct kind_time_span *span,
                                                       char opener, bool has_name, bool is_packed,
                                                       struct kind_time_parts *parts)
{
    const char *end = span->end;
    const char *clock = NULL;
    const bool has_digit = end - at >= 2 && kind_time_is_digit(at[1]);

    if (has_digit && (*at | 0x20) == 't') {
        clock = kind_time_read_clock(at + 1, end, is_packed, parts);
        return clock ? kind_time_read_tail(clock, span, opener, KIND_TIME_AFTER_T, parts) : NULL;
    }
    if (is_packed && (parts->year < 1900 || parts->year > 2099))
        return kind_time_refuse(parts, KIND_TIME_FAULT_NUMBER);
    if (has_digit && has_name && *at == ':') {
        clock = kind_time_read_clock(at + 1, end, false, parts);
        return clock ? kind_time_read_tail(clock, span, opener, KIND_TIME_AFTER_COLON, parts)
                     : NULL;
    }
    const char *word = kind_time_skip_white(at, end);
    if (word == at) {
        /* a mark that neither a digit follows, nor blanks and a time */
        if (at < end && !span->is_cell) {
            struct kind_time_parts other;
            word = kind_time_skip_white(at + 1, end);
            if (has_digit || kind_time_read_clock(word, end, false, &other))
                return kind_time_refuse(parts, KIND_TIME_FAULT_WORD);
        }
        return kind_time_finish(at, span, opener, false);
    }
    clock = kind_time_read_clock(word, end, false, parts);
    if (clock && (clock = kind_time_read_tail(clock, span, opener, KIND_TIME_AFTER_BLANK, parts)))
        return clock;
    if (parts->fault != KIND_TIME_FAULT_NONE)
        return NULL;
    parts->hour = parts->minute = parts->second = parts->nanoseconds = 0;
    parts->has_rest = false;
    if (word < end && !span->is_cell) {
        int offset;
        const bool is_offset = (*word == '+' || *word == '-') && !span->is_local &&
                               kind_time_read_offset(word, end, &offset) - word == 6;
        if (is_offset || (kind_time_is_digit(*word) && !kind_time_is_other_field(word, end)))
            return kind_time_refuse(parts, KIND_TIME_FAULT_WORD);
    }
    return kind_time_finish(at, span, opener, false);
}

/* Returns whether digits are a date and a time of day: YYYYMMDDHH and so on. */
HOST_DEVICE_INLINE bool kind_time_is_packed(const char *digits, unsigned count, bool has_century)
{
    const unsigned year = has_century ? kind_time_pair(digits) * 100 + kind_time_pair(digits + 2)
                                      : 2000 + kind_time_pair(digits);
    const char *month = digits + (has_century ? 4 : 2);
    const unsigned left = count - (has_century ? 4 : 2);

    return year >= 1900 && year <= 2099 &&
           kind_time_is_date(year, kind_time_pair(month), kind_time_pair(month + 2)) &&
           kind_time_pair(month + 4) < 24 && (left < 8 || kind_time_pair(month + 6) < 60) &&
           (left < 10 || kind_time_pair(month + 8) < 60);
}

/* Returns whether a timestamp with these first two bytes is 0. */
HOST_DEVICE_INLINE bool kind_time_is_zero(unsigned first, unsigned second)
{
    return first == '0' && second - '0' > 9u;
}

/*
 * Reads a number: seconds since 1970, or the digits of a date and a time. Returns its end, NULL if
 * it is invalid.
 */
HOST_DEVICE_COLD const char *kind_time_read_number(const char *at,
                                                   const struct kind_time_span *span, char opener,
                                                   struct kind_time_parts *parts)
{
    const bool has_sign = at < span->end && (*at == '+' || *at == '-');
    const char *digits = at + has_sign;
    const unsigned count = kind_time_count_digits(digits, span->end);
    const unsigned unit = count == 9 || count == 10    ? 1
                          : count == 12 || count == 13 ? 1000
                          : count == 15 || count == 16 ? 1000000
                          : count == 19                ? 1000000000
                                                       : 0;
    const char *stop = digits + count;
    const bool has_point = span->end - stop >= 2 && *stop == '.' && kind_time_is_digit(stop[1]);

    if (!has_sign && (count == 14 || count == 17)) {
        if (!kind_time_is_packed(digits, count, true))
            return kind_time_refuse(parts, KIND_TIME_FAULT_NUMBER);
        parts->year = kind_time_pair(digits) * 100 + kind_time_pair(digits + 2);
        parts->month = kind_time_pair(digits + 4);
        parts->day = kind_time_pair(digits + 6);
        parts->hour = kind_time_pair(digits + 8);
        parts->minute = kind_time_pair(digits + 10);
        parts->second = kind_time_pair(digits + 12);
        if (count == 17)
            kind_time_read_fraction(digits + 14, stop, parts);
        return kind_time_read_tail(stop, span, opener, KIND_TIME_PACKED, parts);
    }
    const bool is_zero = count == 1 && !has_sign && *digits == '0' && !has_point;
    if ((unit == 0 && !is_zero) ||
        (!has_sign && ((count == 10 && kind_time_is_packed(digits, 10, true)) ||
                       (count == 12 && (kind_time_is_packed(digits, 12, true) ||
                                        kind_time_is_packed(digits, 12, false))) ||
                       (count == 16 && kind_time_is_packed(digits, 16, true)))))
        return count > 0 ? kind_time_refuse(parts, KIND_TIME_FAULT_NUMBER) : NULL;
    uint64_t number = 0;
    for (unsigned i = 0; i < count; i++)
        number = number * 10 + (uint64_t)(digits[i] - '0');
    if (has_point)
        stop = kind_time_read_fraction(stop + 1, span->end, parts);
    if (unit > 1) {
        parts->has_rest |= parts->nanoseconds % unit != 0;
        parts->nanoseconds =
            (unsigned)(number % unit) * (1000000000 / unit) + parts->nanoseconds / unit;
        number /= unit;
    }
    parts->is_epoch = true;
    parts->is_negative = *at == '-';
    parts->epoch = number;
    return kind_time_finish(stop, span, opener, false);
}

/* Reads any of the forms. Returns the end of the timestamp, NULL if there is none. */
HOST_DEVICE_COLD const char *kind_time_read_any(const char *text, const struct kind_time_span *span,
                                                struct kind_time_parts *parts)
{
    const char opener = *text == '[' || *text == '(' || *text == '"' ? *text : '\0';
    const char *begin = text + (opener != '\0');

    memset(parts, 0, sizeof *parts);
    const char *stop = kind_time_read_date(begin, span->end, parts);
    if (stop)
        return kind_time_read_after_date(stop, span, opener, stop - begin == 11, stop - begin == 8,
                                         parts);
    return kind_time_read_number(begin, span, opener, parts);
}

/* Stores the value of a timestamp. */
HOST_DEVICE_INLINE enum kind_time_result kind_time_convert(const struct kind_time_rules *rules,
                                                           const struct kind_time_parts *parts,
                                                           int64_t *value)
{
    int64_t seconds;
    unsigned nanoseconds = parts->nanoseconds;

    if (parts->offset == KIND_TIME_NO_OFFSET || (parts->is_zone_unknown && !rules->is_local))
        return KIND_TIME_INVALID;
    if (rules->is_found &&
        ((rules->is_local && parts->has_offset) || parts->has_rest ||
         nanoseconds % (unsigned)decimal_power(KIND_TIME_DIGITS_MAX - rules->digits) > 0))
        return KIND_TIME_INVALID;
    if (parts->is_epoch) {
        if (parts->epoch > INT64_MAX / 2)
            return KIND_TIME_OUT_OF_RANGE;
        seconds = (int64_t)parts->epoch;
        if (parts->is_negative) {
            nanoseconds += parts->has_rest; /* at most 10^9 */
            seconds = -seconds - (nanoseconds > 0);
            nanoseconds = nanoseconds > 0 ? 1000000000 - nanoseconds : 0;
        }
    } else {
        if (!kind_time_is_date(parts->year, parts->month, parts->day) || parts->hour > 23 ||
            parts->minute > 59 || parts->second > 59u + (parts->minute == 59))
            return KIND_TIME_INVALID;
        const unsigned before = kind_time_days_before_month(parts->year, parts->month);
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
 * Returns whether the word after a time of day may belong to it: a sign, a parenthesis, Z, AM, or a
 * zone's name, whose third letter is one of these. This spares the look-up of most words.
 */
HOST_DEVICE_INLINE bool kind_time_may_go_on(const char *at, const char *end)
{
    at = kind_time_skip_white(at, end);
    if (at == end || kind_time_is_digit(*at))
        return false;
    if (*at == '+' || *at == '-' || *at == '(' || *at == 'Z')
        return true;
    if (end - at < 2 || !kind_time_is_letter(*at))
        return false;
    if ((at[1] | 0x20) == 'm' || at[1] == '.')
        return true;
    return end - at > 2 && (at[2] == 'T' || at[2] == 'S' || at[2] == 'D' || at[2] == 'C' ||
                            at[2] == 'K' || at[2] == 'B');
}

/*
 * Like kind_time_read without a format, but stores the parts of the timestamp, and returns its end,
 * NULL if there is none; parts->fault says why. It reads the most common forms itself, although
 * kind_time_read_any reads them, too.
 */
HOST_DEVICE_INLINE const char *kind_time_read_known(const struct kind_time_rules *rules,
                                                    const char *text, size_t field, size_t bytes,
                                                    struct kind_time_parts *parts)
{
    const struct kind_time_span span = {text + field, text + bytes, rules->is_cell,
                                        rules->is_joined, rules->is_local};
    const char *begin = text + (bytes > 0 && *text == '[');
    const size_t left = (size_t)(span.end - begin);

    memset(parts, 0, sizeof *parts);
    if (field == 0)
        return NULL;
    if (left >= 19 && begin[4] == '-' && kind_time_read_extended(begin, parts)) {
        const char *at = begin + 19;
        if (at < span.end && (*at == '.' || *at == ','))
            at = kind_time_read_point(at, span.end, parts);
        const bool has_offset = at < span.end && *at == 'Z';
        at += has_offset;
        parts->has_offset = has_offset;
        if (at == span.end || (!span.is_cell && kind_time_is_white(*at) &&
                               (has_offset || !kind_time_may_go_on(at, span.end))))
            return at;
    } else if (left >= 26 && begin[2] == '/' && begin[20] == ' ' && !span.is_cell &&
               kind_time_read_common_log(begin, parts)) {
        const char *at = kind_time_read_offset(begin + 21, span.end, &parts->offset);
        const bool is_used = parts->offset >= -12 * 3600 && parts->offset <= 14 * 3600;
        parts->has_offset = true;
        if (at == begin + 26 && is_used &&
            (at == span.end || *at == ']' || kind_time_is_white(*at)))
            return at;
    }
    return kind_time_read_any(text, &span, parts);
}

#endif
