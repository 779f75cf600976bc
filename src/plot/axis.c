/* Implements axis.h. */
#include "config.h"

#include "plot/axis.h"

#include "job/binning.h"

#include <string.h>

/* Digits are in groups from here on. */
#define AXIS_GROUPED 10000

size_t axis_write(char out[AXIS_LABEL_SIZE], const struct element *element, __int128 value,
                  bool is_in_picture)
{
    const struct element plain = {.decimals = 0};
    char text[ELEMENT_TEXT_SIZE];

    element = element ? element : &plain;
    size_t length = element_write(text, element, value);
    size_t whole = length; /* digits before the point, with the sign */
    char *c = out;

    const bool is_number = kind_rows[element->kind].scale == KIND_NUMBERS;
    if (is_in_picture && element->decimals > 0 && is_number) {
        whole = length - element->decimals - 1;
        while (text[length - 1] == '0')
            length--;
        length -= text[length - 1] == '.';
    }
    const __int128 from = (__int128)AXIS_GROUPED * decimal_power(element->decimals);
    const bool is_grouped = is_in_picture && is_number && (value >= from || -value >= from);
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

void axis_label(char out[AXIS_LABEL_SIZE], const struct axis *axis, __int128 tick)
{
    if (axis_has_times(axis)) {
        const __int128 minute = (__int128)60 * decimal_power(axis->element->decimals);
        element_format(out, axis->element, tick);
        char *time = strchr(out, 'T');
        if (time && axis->step % minute == 0)
            time[axis->step % (24 * 60 * minute) == 0 ? 0 : strlen("T00:00")] = '\0';
        return;
    }
    axis_write(out, axis->element, tick, true);
}

__int128 axis_ceiling(const struct axis *axis, __int128 value)
{
    return -binning_floor(-value, axis->step) * axis->step;
}

__int128 axis_next_step(const struct axis *axis)
{
    static const uint32_t seconds[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                       600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    const __int128 second = (__int128)decimal_power(axis->element ? axis->element->decimals : 0);

    if (!axis_has_times(axis) || axis->step < second)
        return binning_next_round(axis->step);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        if (seconds[i] * second > axis->step)
            return seconds[i] * second;
    }
    return binning_next_round(axis->step / (86400 * second)) * 86400 * second;
}

struct axis axis_make(__int128 low, __int128 high, const struct element *element, unsigned length,
                      unsigned each, unsigned wide)
{
    struct axis axis = {.step = 1, .element = element};
    char label[AXIS_LABEL_SIZE];

    for (;; axis.step = axis_next_step(&axis)) {
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
 * Each squaring of the number, scaled to 1 <= x < 2, gives a bit (Knuth, "The Art of Computer
 * Programming", vol. 1, 1.2.2).
 */
uint32_t axis_log2(uint64_t number)
{
    const unsigned whole = 63 - (unsigned)__builtin_clzll(number);
    uint64_t x = number << (63 - whole) >> 32; /* with 31 bits of fraction */
    uint32_t result = whole;

    for (unsigned i = 0; i < AXIS_LOG2_BITS; i++) {
        x = x * x >> 31;
        result = result << 1 | (uint32_t)(x >> 32);
        x >>= x >> 32;
    }
    return result;
}
