/* Constructs binnings of equal-width bins, of a given width, and of powers. */
#include "config.h"

#include "value/binning_index.h"

#include "lib/decimal.h"

#include <stdlib.h>

/* Maximum number of bins for which the 64-bit estimate of binning_index.h is exact enough. */
#define BINNING_ESTIMATED_MAX ((uint64_t)1 << 28)

const char *binning_limits(const struct element *element, __int128 *low, __int128 *high)
{
    const bool is_signed = element->type != ELEMENT_U64;

    *low = is_signed ? -((__int128)1 << 63) : 0;
    *high = (__int128)1 << (is_signed ? 63 : 64);
    return is_signed ? "64-bit signed integers" : "type u64";
}

__int128 binning_common_divisor(__int128 a, __int128 b)
{
    while (b != 0) { /* Euclid's algorithm */
        const __int128 rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Creates the binning floor((v - low) * numerator / divisor). */
static void binning_set_scaled(struct binning *binning, const struct element *element, __int128 low,
                               __int128 high, uint64_t bins, __int128 numerator, __int128 divisor)
{
    const bool is_signed = element->type != ELEMENT_U64;
    const __int128 common = binning_common_divisor(numerator, divisor);
    const __int128 n = numerator / common;
    const __int128 d = divisor / common;
    enum binning_form form = bins <= BINNING_ESTIMATED_MAX ? BINNING_SCALED64 : BINNING_SCALED128;
    if (n == d) { /* 32-bit differences are exact within 2^32 consecutive values */
        const __int128 start = element->type == ELEMENT_U32 ? 0 : -((__int128)1 << 31);
        const bool is_narrow =
            element->bytes <= 4 && low >= start && high <= start + ((__int128)1 << 32);
        form = is_narrow ? BINNING_UNIT32 : BINNING_UNIT64;
    }
    const bool is_32 = form == BINNING_UNIT32;
    const bool is_biased = is_32 ? element->type != ELEMENT_U32 : is_signed;
    *binning = (struct binning){
        .form = form,
        .is_signed = is_signed,
        .bins = (uint32_t)bins,
        .low = (uint64_t)low,
        .last = (uint64_t)(high - low - 1),
        .bias = is_biased ? (uint64_t)1 << (is_32 ? 31 : 63) : 0,
        .numerator = (uint32_t)n,
        .divisor = (uint64_t)d,
        .multiplier = (uint64_t)(((unsigned __int128)n << 64) / (unsigned __int128)d),
    };
    if (form == BINNING_SCALED64) {
        const uint32_t digits = binning_digits2(binning->last);
        unsigned __int128 multiplier = 0;
        uint32_t power = 0; /* s + f */
        for (; multiplier >> 31 == 0; power++)
            multiplier = ((unsigned __int128)n << (power + 1)) / (unsigned __int128)d;
        binning->shift = digits > 32 ? digits - 32 : 0;
        binning->multiplier = (uint64_t)multiplier;
        binning->fraction = power - binning->shift;
    }
}

/*
 * Fails unless the range is not empty and lies within the integers that bins may cover.
 */
static enum status binning_check_range(const struct element *element, __int128 low, __int128 high,
                                       struct failure *failure)
{
    __int128 min;
    __int128 limit;
    const char *integers = binning_limits(element, &min, &limit);

    if (low >= high)
        return status_fail(failure, STATUS_USAGE, "--range LO:HI is empty: LO must be below HI");
    if (low < min || high > limit)
        return status_fail(failure, STATUS_USAGE, "--range exceeds the values of %s", integers);
    return STATUS_OK;
}

enum status binning_init(struct binning *binning, const struct element *element, __int128 low,
                         __int128 high, uint64_t bins, struct failure *failure)
{
    if (bins == 0)
        return status_fail(failure, STATUS_USAGE, "--bins must be at least 1");
    if (bins > BINNING_BINS_MAX)
        return status_fail(failure, STATUS_USAGE, "--bins is too large: at most %u",
                           (unsigned)BINNING_BINS_MAX);
    if (binning_check_range(element, low, high, failure) != STATUS_OK)
        return failure->status;
    if ((__int128)bins > high - low)
        return status_fail(failure, STATUS_USAGE,
                           "--bins %llu is more than the %llu %s of --range%s",
                           (unsigned long long)bins, (unsigned long long)(high - low),
                           element->decimals > 0 ? "values" : "integers",
                           element->decimals > 0
                               ? ""
                               : " (try --decimals 3 for other numbers, round.3 for floats)");
    binning_set_scaled(binning, element, low, high, bins, (__int128)bins, high - low);
    return STATUS_OK;
}

enum status binning_init_width(struct binning *binning, const struct element *element, __int128 low,
                               __int128 high, __int128 width, struct failure *failure)
{
    char shown[DECIMAL_SIZE];

    if (width == 0)
        return status_fail(failure, STATUS_USAGE, "--width must be at least 1");
    if (binning_check_range(element, low, high, failure) != STATUS_OK)
        return failure->status;

    if (width > high - low) /* one bin covers the range */
        width = high - low;
    __int128 bins = (high - low + width - 1) / width;
    if (bins > BINNING_BINS_MAX) {
        decimal_format_fixed(shown, width, element->decimals);
        return status_fail(failure, STATUS_USAGE, "--width %s makes too many bins: at most %u",
                           shown, (unsigned)BINNING_BINS_MAX);
    }
    binning_set_scaled(binning, element, low, high, (uint64_t)bins, 1, width);
    return STATUS_OK;
}

__int128 binning_next_round(__int128 number)
{
    __int128 digit = number;

    while (digit >= 10)
        digit /= 10;
    return digit == 2 ? number / 2 * 5 : number * 2;
}

uint64_t binning_round_width(__int128 low, __int128 high)
{
    __int128 width = 1;

    while (binning_floor(high - 1, width) - binning_floor(low, width) >= BINNING_ROUND_BINS)
        width = binning_next_round(width);
    return (uint64_t)width;
}

void binning_init_window(struct binning *binning, const struct element *element, __int128 low,
                         uint32_t bins, uint64_t width)
{
    __int128 min;
    __int128 limit;
    __int128 high = low + bins;

    binning_limits(element, &min, &limit);
    if (width == 1) { /* keys of integers outside 64 bits equal keys inside */
        binning_set_scaled(binning, element, low, high < limit ? high : limit, bins, 1, 1);
        return;
    }
    *binning = (struct binning){
        .form = BINNING_MULTIPLES,
        .is_signed = element->is_signed,
        .bins = bins,
        .low = (uint64_t)(low / (__int128)width),
        .divisor = width,
        .multiplier = (uint64_t)(((__int128)1 << 64) / (__int128)width),
    };
}

void binning_init_powers(struct binning *binning, const struct element *element, uint32_t base)
{
    __int128 largest = element_limit(element) - 1;
    __int128 smallest = element_min(element);
    uint32_t (*digits)(uint64_t) = base == 2 ? binning_digits2 : binning_digits10;
    uint32_t zero = digits((uint64_t)-smallest);

    *binning = (struct binning){
        .form = base == 2 ? BINNING_LOG2 : BINNING_LOG10,
        .is_signed = element->is_signed,
        .bins = zero + 1 + digits((uint64_t)largest),
        .low = (uint64_t)smallest,
        .last = (uint64_t)(largest - smallest),
        .base = base,
        .zero = zero,
    };
}

__int128 binning_edge(const struct binning *binning, uint64_t bin)
{
    const __int128 low =
        binning->is_signed ? (__int128)(int64_t)binning->low : (__int128)binning->low;

    if (binning_is_unit(binning))
        return low + (__int128)bin;
    if (binning->base > 0) {
        const bool is_negative = bin < binning->zero; /* [1 - base^k, 1 - base^(k-1)) */
        const uint64_t exponent = is_negative ? binning->zero - bin : bin - binning->zero;
        __int128 power = 1;
        for (uint64_t i = is_negative ? 0 : 1; i < exponent; i++)
            power *= binning->base;
        return bin == binning->zero ? 0 : is_negative ? 1 - power : power;
    }
    if (binning->form == BINNING_MULTIPLES)
        return ((int64_t)binning->low + (__int128)bin) * (__int128)binning->divisor;
    if (bin == binning->bins)
        return low + binning->last + 1;
    if (binning->table)
        return low + (bin > 0 ? (__int128)binning->table[bin - 1] + 1 : 0);
    const unsigned __int128 scaled = binning_divisor(binning) * bin + binning->numerator - 1;
    if (scaled <= UINT64_MAX) /* a 128-bit division is several times slower */
        return low + (__int128)((uint64_t)scaled / binning->numerator);
    return low + (__int128)(scaled / binning->numerator);
}

void binning_bounds(const struct binning *binning, const struct element *element, __int128 *low,
                    __int128 *high)
{
    __int128 min = element_min(element);
    __int128 limit = element_limit(element);

    *low = binning_edge(binning, 0);
    *high = binning_edge(binning, binning->bins);
    *low = *low > min ? *low : min;
    *high = *high < limit ? *high : limit;
}
