/*
 * Fuzzes timestamps (src/value/kind_time.h) and IP addresses (kind_ip.h): reading a written value
 * gives the same value, and inet_pton and timegm agree. The first byte chooses the kind, so that
 * seeds can be written by hand: 'i' an address, 'p' a prefix, '0' to '9' a timestamp with that many
 * digits, 'a' to 'h' the same as local time. The field of a timestamp ends at the first blank.
 */
#include "config.h"

#include "value/kind_ip.h"
#include "value/kind_time.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Returns the key by inet_pton of an address without brackets and port. */
static bool reference_address(const char *text, struct kind_ip *key)
{
    unsigned char in[16];
    uint64_t words[2] = {0, 0};

    if (inet_pton(AF_INET, text, in) == 1) {
        *key = (struct kind_ip){0, (uint64_t)in[0] << 24 | (uint64_t)in[1] << 16 |
                                       (uint64_t)in[2] << 8 | in[3]};
        return true;
    }
    if (inet_pton(AF_INET6, text, in) != 1)
        return false;
    for (int i = 0; i < 16; i++)
        words[i / 8] = words[i / 8] << 8 | in[i];
    *key = (struct kind_ip){words[0], words[1]};
    if (words[0] == 0 && words[1] >> 32 == 0xffff)
        key->low &= 0xffffffff;
    else if (words[0] == 0 && words[1] >> 32 < 0xffff)
        key->low += (uint64_t)1 << 32;
    return true;
}

static void try_address(const char *text, size_t bytes)
{
    char out[KIND_IP_SIZE];
    struct kind_ip key;
    struct kind_ip again;
    const bool is_read = kind_ip_read(text, bytes, &key);

    if (is_read) {
        const size_t length = kind_ip_write(out, key);
        must(kind_ip_read(out, length, &again) && again.high == key.high && again.low == key.low,
             "an address does not read as it was written");
    }
    if (bytes > 64 || memchr(text, '\0', bytes))
        return;
    char copy[65];
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    if (reference_address(copy, &again))
        must(is_read && again.high == key.high && again.low == key.low,
             "an address that inet_pton reads otherwise");
    else if (is_read)
        must(strchr(copy, '[') || strchr(copy, '.'), "an address that inet_pton does not read");
}

static void try_prefix(const char *text, size_t bytes)
{
    struct kind_ip first;
    struct kind_ip last;

    if (kind_ip_read_range(text, bytes, &first, &last))
        must(first.high < last.high || (first.high == last.high && first.low <= last.low),
             "a prefix ends before it begins");
}

/* Returns the seconds of a valid timestamp of the form 2026-11-21T13:45:02Z. */
static bool reference_time(const char *text, size_t bytes, bool *has_shape, int64_t *seconds)
{
    static const char shape[] = "0000-00-00T00:00:00Z";
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    struct tm tm = {.tm_sec = 0};

    *has_shape = bytes == strlen(shape);
    for (size_t i = 0; i < bytes && *has_shape; i++)
        *has_shape = shape[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == shape[i];
    if (!*has_shape)
        return false;
    sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
           &tm.tm_min, &tm.tm_sec);
    const int year = tm.tm_year;
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 59 + (tm.tm_min == 59) ||
        tm.tm_mday > days[tm.tm_mon - 1] + (is_leap && tm.tm_mon == 2))
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    *seconds = timegm(&tm);
    return true;
}

static void try_time(const struct kind_time_rules *rules, const char *text, size_t bytes)
{
    const char *blank = memchr(text, ' ', bytes);
    const size_t field = blank ? (size_t)(blank - text) : bytes;
    char out[KIND_TIME_SIZE];
    int64_t value = 0;
    int64_t again = 0;
    bool has_shape;
    const size_t used = kind_time_read(rules, text, field, bytes, &value, NULL);

    must(used <= bytes, "a time ends outside");
    must(used == 0 || !kind_time_is_out_of_range(rules, text, field, bytes),
         "a time that is read is out of range");
    if (used > 0) {
        const size_t length = kind_time_write(out, rules, value);
        must(kind_time_read(rules, out, length, length, &again, NULL) == length && again == value,
             "a time does not read as it was written");
    }
    char copy[32] = "";
    memcpy(copy, text, bytes < sizeof copy ? bytes : sizeof copy - 1);
    if (reference_time(copy, bytes, &has_shape, &again)) {
        must(used == bytes || rules->digits > 0, "a time that is not read");
        must(used == 0 || rules->digits > 0 || value == again, "a time that timegm has otherwise");
    } else if (has_shape) {
        must(used == 0, "a time that is none");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
    if (bytes == 0)
        return 0;
    const char way = (char)input[0];
    /* a copy of exact size, so that reads after it are detected */
    char *text = malloc(bytes - 1 > 0 ? bytes - 1 : 1);
    if (!text)
        abort();
    memcpy(text, input + 1, bytes - 1);
    if (way == 'i') {
        try_address(text, bytes - 1);
    } else if (way == 'p') {
        try_prefix(text, bytes - 1);
    } else if ((way >= '0' && way <= '9') || (way >= 'a' && way <= 'h')) {
        const struct kind_time_rules rules = {.digits =
                                                  (unsigned)(way >= 'a' ? way - 'a' : way - '0'),
                                              .is_local = way >= 'a'};
        try_time(&rules, text, bytes - 1);
    }
    free(text);
    return 0;
}
