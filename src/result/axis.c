/* Implements axis.h. */
#include "config.h"

#include "result/axis.h"

#include "value/binning.h"

#include <string.h>

/* Minimum largest number for thousands separators, which are then used from AXIS_GROUPS_FROM. */
#define AXIS_GROUPS_IF   10000
#define AXIS_GROUPS_FROM 1000

enum axis_digits axis_digits(const struct element *element, __int128 low, __int128 high)
{
    const __int128 from = (__int128)AXIS_GROUPS_IF * decimal_power(element->decimals);
    return -low >= from || high >= from ? AXIS_GROUPED : AXIS_SHORT;
}

unsigned axis_zeros(const struct element *element, __int128 value)
{
    unsigned zeros = 0;

    while (zeros < element->decimals && value % (__int128)decimal_power(zeros + 1) == 0)
        zeros++;
    return zeros;
}

size_t axis_write(char out[AXIS_LABEL_SIZE], const struct element *element, __int128 value,
                  enum axis_digits digits)
{
    const struct element plain = {.decimals = 0};
    char text[ELEMENT_TEXT_SIZE];

    element = element ? element : &plain;
    size_t length = element_write(text, element, value);
    size_t whole = length; /* number of digits before the point, with the sign */
    char *c = out;

    const bool is_number = kind_rows[element->kind].scale == KIND_NUMBERS;
    if (digits != AXIS_PRINTED && element->decimals > 0 && is_number) {
        whole = length - element->decimals - 1;
        while (text[length - 1] == '0')
            length--;
        length -= text[length - 1] == '.';
    }
    const __int128 from = (__int128)AXIS_GROUPS_FROM * decimal_power(element->decimals);
    const bool is_grouped =
        digits == AXIS_GROUPED && is_number && (value >= from || -value >= from);
    for (size_t i = 0; i < length; i++) {
        if (is_grouped && i > (value < 0) && i < whole && (whole - i) % 3 == 0)
            *c++ = ',';
        *c++ = text[i];
    }
    *c = '\0';
    return (size_t)(c - out);
}

bool axis_has_times(const struct axis *axis)
{
    return axis->element && element_is_time(axis->element);
}

/* Writes a timestamp as 2026-11-21T13:45:02.250, without its offset; returns the place of the T. */
static char *axis_format_time(char out[AXIS_LABEL_SIZE], const struct element *element,
                              __int128 value)
{
    element_format(out, element, value);
    char *time = strchr(out, 'T');
    time[strcspn(time, "Z+-")] = '\0';
    return time;
}

void axis_times_add(struct axis_times *times, const struct element *element, __int128 value)
{
    char text[AXIS_LABEL_SIZE];
    const char *time = axis_format_time(text, element, value);

    times->has_fraction = times->has_fraction || strpbrk(time + strlen("T00:00:00"), "123456789");
    times->has_second = times->has_second || times->has_fraction || memcmp(time + 7, "00", 2) != 0;
    times->has_hour = times->has_hour || times->has_second || memcmp(time, "T00:00", 6) != 0;
    times->has_day = times->has_day || times->has_hour || memcmp(time - 2, "01", 2) != 0;
    times->has_month = times->has_month || times->has_day || memcmp(time - 5, "01", 2) != 0;
}

size_t axis_write_time(char out[AXIS_LABEL_SIZE], const struct axis_times *times,
                       const struct element *element, __int128 value, bool has_date)
{
    char text[AXIS_LABEL_SIZE];
    char *time = axis_format_time(text, element, value);

    if (!times->has_hour) {
        time[times->has_day ? 0 : times->has_month ? -3 : -6] = '\0';
        strcpy(out, text);
        return strlen(out);
    }
    *time = ' ';
    if (!times->has_fraction)
        time[strlen(times->has_second ? "T00:00:00" : "T00:00")] = '\0';
    strcpy(out, has_date ? text : time + 1);
    return strlen(out);
}

bool axis_has_new_date(const struct axis_times *times, const struct element *element,
                       __int128 value, __int128 before)
{
    char strings[2][AXIS_LABEL_SIZE];

    if (!times->has_hour)
        return false;
    *axis_format_time(strings[0], element, value) = '\0';
    *axis_format_time(strings[1], element, before) = '\0';
    return strcmp(strings[0], strings[1]) != 0;
}

void axis_label(char out[AXIS_LABEL_SIZE], const struct axis *axis, __int128 tick)
{
    if (axis_has_times(axis))
        axis_write_time(out, &axis->times, axis->element, tick, false);
    else
        axis_write(out, axis->element, tick, axis->digits);
}

__int128 axis_ceiling(const struct axis *axis, __int128 value)
{
    if (!axis_has_times(axis))
        return -binning_floor(-value, axis->step) * axis->step;
    const __int128 number = kind_time_bucket_number(&axis->ticks, value);
    const __int128 begin = kind_time_bucket_begin(&axis->ticks, number);
    return begin >= value ? begin : kind_time_bucket_begin(&axis->ticks, number + 1);
}

/* Makes an axis of timestamps. */
static struct axis axis_make_times(__int128 low, __int128 high, const struct element *element,
                                   __int128 ticks_max)
{
    const struct kind_time_bucket unit = {.digits = element->decimals,
                                          .width = 1,
                                          .zone = element->zone};
    struct axis axis = {.ticks = unit, .element = element};
    __int128 ticks = 0; /* maximum number of ticks after the first */

    while ((ticks = kind_time_bucket_number(&axis.ticks, high) -
                    kind_time_bucket_number(&axis.ticks, low)) >= ticks_max &&
           ticks > 1)
        axis.ticks = kind_time_bucket_widen(&axis.ticks, &unit);
    for (__int128 tick = axis_ceiling(&axis, low); tick <= high;
         tick = axis_ceiling(&axis, tick + 1))
        axis_times_add(&axis.times, element, tick);
    return axis;
}

struct axis axis_make(__int128 low, __int128 high, const struct element *element,
                      enum axis_digits digits, unsigned length, unsigned each, unsigned wide)
{
    struct axis axis = {.step = 1, .element = element, .digits = digits};
    char label[AXIS_LABEL_SIZE];

    if (axis_has_times(&axis))
        return axis_make_times(low, high, element,
                               length / (each + wide * (unsigned)strlen("2026-11-21")));
    for (;; axis.step = binning_next_round(axis.step)) {
        /* The longest label is at one of the ends, or next to it. */
        const __int128 last = binning_floor(high, axis.step) * axis.step;
        const __int128 ticks[] = {axis_ceiling(&axis, low), last - axis.step, last};
        size_t longest = 0;
        for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
            axis_label(label, &axis, ticks[i]);
            longest = strlen(label) > longest ? strlen(label) : longest;
        }
        if (((high - low) / axis.step + 1) * (__int128)(each + wide * longest) <= length ||
            axis.step > high - low)
            return axis;
    }
}

/*
 * Squares the number, scaled to 1 <= x < 2, once per bit of the result (Knuth, "The Art of Computer
 * Programming", vol. 1, 1.2.2).
 */
uint32_t axis_log2(uint64_t number)
{
    const unsigned whole = 63 - (unsigned)__builtin_clzll(number);
    uint64_t x = number << (63 - whole) >> 32; /* has 31 bits of fraction */
    uint32_t result = whole;

    for (unsigned i = 0; i < AXIS_LOG2_BITS; i++) {
        x = x * x >> 31;
        result = result << 1 | (uint32_t)(x >> 32);
        x >>= x >> 32;
    }
    return result;
}
