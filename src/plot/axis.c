/* Implements axis.h. */
#include "config.h"

#include "plot/axis.h"

#include "job/binning.h"

#include <string.h>

/* A number needs a suffix from here on, and gets one if it is then below. */
#define AXIS_SHORT 10000

static const char axis_suffixes[] = "\0KMGTPE";

/* Removes zeros at the end of a fraction. Returns the new length. */
static size_t axis_trim(const char *text, size_t length)
{
    if (!memchr(text, '.', length))
        return length;
    while (text[length - 1] == '0')
        length--;
    return text[length - 1] == '.' ? length - 1 : length;
}

bool axis_has_times(const struct axis *axis)
{
    return axis->element && element_is_time(axis->element);
}

static unsigned axis_decimals(const struct axis *axis)
{
    return axis->element ? axis->element->decimals : 0;
}

void axis_label(char out[AXIS_LABEL_SIZE], const struct axis *axis, __int128 tick)
{
    if (axis_has_times(axis)) {
        const __int128 minute = (__int128)60 * decimal_powers[axis->element->decimals];
        element_format(out, axis->element, tick);
        char *time = strchr(out, 'T');
        if (time && axis->step % minute == 0)
            time[axis->step % (24 * 60 * minute) == 0 ? 0 : strlen("T00:00")] = '\0';
        return;
    }
    size_t length = decimal_write_fixed(out, tick, axis_decimals(axis) + 3 * axis->thousands);

    length = axis_trim(out, length);
    out[length] = tick == 0 ? '\0' : axis_suffixes[axis->thousands];
    out[length + 1] = '\0';
}

void axis_label_power(char out[AXIS_LABEL_SIZE], __int128 edge, unsigned base, unsigned decimals)
{
    const unsigned unit = base == 2 ? 1024 : 1000;
    unsigned units = 0;

    while (decimals == 0 && edge != 0 && edge % unit == 0 && axis_suffixes[units + 1]) {
        edge /= unit;
        units++;
    }
    char *c = out + axis_trim(out, decimal_write_fixed(out, edge, decimals));
    if (units > 0) {
        *c++ = axis_suffixes[units];
        c = stpcpy(c, base == 2 ? "i" : "");
    }
    *c = '\0';
}

__int128 axis_ceiling(const struct axis *axis, __int128 value)
{
    return -binning_floor(-value, axis->step) * axis->step;
}

__int128 axis_next_step(const struct axis *axis)
{
    static const uint32_t seconds[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                       600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    const __int128 second = (__int128)decimal_powers[axis_decimals(axis)];

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
    const __int128 below = low < 0 ? -low : low;
    const __int128 above = high < 0 ? -high : high;
    const __int128 max = below > above ? below : above;
    const __int128 one =
        (__int128)1000 * decimal_powers[axis_decimals(&axis)]; /* the first with a suffix */
    char label[AXIS_LABEL_SIZE];

    for (;; axis.step = axis_next_step(&axis)) {
        /* A label has a suffix if it then has at most one decimal more. */
        __int128 unit = one;
        axis.thousands = 0;
        for (; max >= one / 1000 * AXIS_SHORT && max >= unit && axis.step * 10 >= unit &&
               axis_suffixes[axis.thousands + 1];
             unit *= 1000)
            axis.thousands++;
        if (max >= unit / 1000 * AXIS_SHORT)
            axis.thousands = 0;
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
