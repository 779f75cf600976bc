#include "config.h"

#include "binning.h"

/* Whether keys and range fit one window of 2^32 values, so that 32-bit differences are exact. */
static bool binning_is_narrow(const struct element *element, __int128 low, __int128 high)
{
    const __int128 half = (__int128)1 << 31;

    if (element->bytes > 4 || (element->type == ELEMENT_U32 && low < 0))
        return false;
    if (element->type == ELEMENT_U32)
        return high <= 2 * half;
    return low >= -half && high <= half;
}

static enum binning_form binning_choose_form(bool narrow, __int128 span, uint64_t bins)
{
    if (span == (__int128)bins)
        return narrow ? BINNING_UNIT32 : BINNING_UNIT64;
    if (narrow && span <= (__int128)1 << 31)
        return BINNING_SCALED32;
    return span <= (__int128)1 << 63 ? BINNING_SCALED64 : BINNING_SCALED128;
}

static enum status binning_check(bool is_signed, __int128 low, __int128 high, uint64_t bins,
                                 struct failure *failure)
{
    __int128 min = is_signed ? -((__int128)1 << 63) : 0;
    __int128 limit = (__int128)1 << (is_signed ? 63 : 64);

    if (bins == 0)
        return status_fail(failure, STATUS_USAGE, "--bins must be at least 1");
    if (bins > BINNING_BINS_MAX)
        return status_fail(failure, STATUS_USAGE, "--bins is too large: at most %u",
                           (unsigned)BINNING_BINS_MAX);
    if (low >= high)
        return status_fail(failure, STATUS_USAGE, "--range LO:HI is empty: LO must be below HI");
    if (low < min || high > limit)
        return status_fail(failure, STATUS_USAGE, "--range exceeds the values of %s",
                           is_signed ? "64-bit signed integers" : "type u64");
    if ((__int128)bins > high - low)
        return status_fail(failure, STATUS_USAGE,
                           "--bins %llu is more than the %llu integers of --range",
                           (unsigned long long)bins, (unsigned long long)(high - low));
    return STATUS_OK;
}

enum status binning_init(struct binning *binning, const struct element *element, __int128 low,
                         __int128 high, uint64_t bins, struct failure *failure)
{
    bool is_signed = element->type != ELEMENT_U64;
    enum status status = binning_check(is_signed, low, high, bins, failure);
    if (status != STATUS_OK)
        return status;

    __int128 span = high - low;
    enum binning_form form = binning_choose_form(binning_is_narrow(element, low, high), span, bins);
    bool is_32 = form == BINNING_UNIT32 || form == BINNING_SCALED32;
    unsigned __int128 scaled = (unsigned __int128)bins << (is_32 ? 32 : 64);
    uint64_t bias = is_32 ? (uint64_t)1 << 31 : (uint64_t)1 << 63;

    *binning = (struct binning){
        .form = form,
        .is_signed = is_signed,
        .bins = (uint32_t)bins,
        .low = (uint64_t)low,
        .last = (uint64_t)(span - 1),
        .multiplier = (uint64_t)(scaled / (unsigned __int128)span),
        .bias = (is_32 ? element->type != ELEMENT_U32 : is_signed) ? bias : 0,
    };
    return STATUS_OK;
}

__int128 binning_edge(const struct binning *binning, uint64_t bin)
{
    __int128 low = binning->is_signed ? (__int128)(int64_t)binning->low : (__int128)binning->low;
    if (binning_is_unit(binning))
        return low + (__int128)bin;

    unsigned __int128 span = (unsigned __int128)binning->last + 1;
    unsigned __int128 scaled = span * bin + binning->bins - 1;
    if (scaled <= UINT64_MAX) /* a 128-bit division takes several times as long */
        return low + (__int128)((uint64_t)scaled / binning->bins);
    return low + (__int128)(scaled / binning->bins);
}
