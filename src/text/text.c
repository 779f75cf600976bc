/* Implements text.h: chooses a parser, and counts lines. */
#include "config.h"

#include "text/text.h"

#include "lib/cpu_isa.h"
#include "text/text_internal.h"
#include "text/text_number.h"

text_parse_function *text_choose_parser(const struct text_rules *rules, enum element_type type)
{
    if (!text_is_of_tokens(rules))
        return text_fields_choose(type);
    text_parse_function *lanes = text_lanes_choose(rules->notation, type);
    return lanes ? lanes : text_tokens_choose(cpu_isa_best(), type);
}

bool text_read_token(const struct text_rules *rules, const struct element *element,
                     const char *token, size_t bytes, uint64_t *key)
{
    const struct text_number_limits limits = text_number_limits(*element);
    struct text_number number;

    if (!text_number_read_any(rules, token, bytes, &number) ||
        number.magnitude > limits.magnitude[number.is_negative])
        return false;
    *key = number.is_negative ? -number.magnitude : number.magnitude;
    return true;
}

/*
 * Bytes whose newlines are counted in 8 bits. The loop over them has a constant length, so that it
 * is also vectorized at -O2. GB/s from L2:
 *
 *                           -O2  -O3
 *   loops of this length     65   66
 *   a loop over all bytes   1.8   55
 */
#define TEXT_COUNT_BYTES ((size_t)128)

static inline __attribute__((always_inline)) uint64_t text_count(const char *data, size_t bytes)
{
    uint64_t lines = 0;
    size_t i = 0;

    for (; bytes - i >= TEXT_COUNT_BYTES; i += TEXT_COUNT_BYTES) {
        uint8_t newlines = 0;
        for (size_t j = 0; j < TEXT_COUNT_BYTES; j++)
            newlines = (uint8_t)(newlines + (data[i + j] == '\n'));
        lines += newlines;
    }
    for (; i < bytes; i++)
        lines += data[i] == '\n';
    return lines;
}

#define TEXT_COUNT_WRAP(isa, target, prefix)                              \
    target static uint64_t prefix##_##isa(const char *data, size_t bytes) \
    {                                                                     \
        return text_count(data, bytes);                                   \
    }
CPU_ISA_VARIANTS(TEXT_COUNT_WRAP, text_count)
#define TEXT_COUNT_ENTRY(isa, target, prefix) prefix##_##isa,

bool text_has_mark(const char *text, size_t bytes)
{
    return bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
}

uint64_t text_count_lines(const char *data, size_t bytes)
{
    static uint64_t (*const functions[CPU_ISA_COUNT])(const char *, size_t) = {
        CPU_ISA_VARIANTS(TEXT_COUNT_ENTRY, text_count)};
    return functions[cpu_isa_best()](data, bytes);
}
