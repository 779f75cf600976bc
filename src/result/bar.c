/* Implements bar.h. */
#include "config.h"

#include "result/bar.h"

#include "result/axis.h"

#include <string.h>

size_t bar_write(char out[BAR_SIZE], const struct bar_scale *scale, uint64_t count,
                 unsigned *columns)
{
    const struct terminal *terminal = scale->terminal;
    const unsigned steps = terminal->has_unicode ? 8 : 1; /* number of steps per column */
    const unsigned whole = scale->columns * steps;
    unsigned __int128 part = count;
    unsigned __int128 most = scale->max;
    char *c = out;

    *out = '\0';
    *columns = 0;
    if (count == 0 || whole == 0)
        return 0;
    if (scale->min > 0) { /* a bar would begin at half the smallest count */
        const uint32_t bit = 1U << AXIS_LOG2_BITS;
        part = axis_log2(count) + bit - axis_log2(scale->min);
        most = axis_log2(scale->max) + bit - axis_log2(scale->min);
    }
    /* part / most * whole, rounded, and at least 1 */
    unsigned share = (unsigned)((part * whole * 2 + most) / (most * 2));
    share = share > 0 ? share : 1;
    *columns = (share + steps - 1) / steps;
    c = stpcpy(c, terminal->has_colour ? "\033[36m" : "");
    if (!terminal->has_unicode) {
        memset(c, '#', share);
        c += share;
        share = 0;
    }
    for (; share > 0; share -= share < 8 ? share : 8) { /* U+2588 is full, U+258F an eighth */
        memcpy(c, "\xe2\x96", 2);
        c[2] = (char)(0x90 - (share < 8 ? share : 8));
        c += 3;
    }
    *c = '\0';
    c = stpcpy(c, terminal->has_colour ? "\033[0m" : "");
    return (size_t)(c - out);
}
