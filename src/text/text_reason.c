/* Implements text_reason.h. */
#include "config.h"

#include "text/text_reason.h"

#include "base/kind_time.h"
#include "text/text_advice.h"
#include "text/text_line.h"
#include "text/text_number.h"

#include <stdio.h>
#include <string.h>

#define TEXT_REASON_SHOWN 40

/*
 * Whether token[0..bytes) is digits, in groups of three or not, with a fraction and an exponent or
 * without. Stores how many decimals it has, without zeros at its end, and whether that is all: it
 * has neither groups nor an exponent.
 */
static bool text_reason_is_any_number(const char *token, size_t bytes, size_t *decimals,
                                      bool *is_plain)
{
    size_t digits = 0;
    size_t i = 0;

    *decimals = 0;
    *is_plain = true;
    for (; i < bytes && token[i] >= '0' && token[i] <= '9'; i++)
        digits++;
    while (digits > 0 && i + 3 < bytes && (token[i] == ',' || token[i] == '_') &&
           memchr("0123456789", token[i + 1], 10) && memchr("0123456789", token[i + 2], 10) &&
           memchr("0123456789", token[i + 3], 10)) {
        i += 4;
        *is_plain = false;
    }
    if (i < bytes && token[i] == '.') {
        const size_t point = i++;
        for (; i < bytes && token[i] >= '0' && token[i] <= '9'; i++) {
            digits++;
            *decimals = token[i] == '0' ? *decimals : i - point;
        }
    }
    if (digits > 0 && i + 1 < bytes && (token[i] == 'e' || token[i] == 'E')) {
        const bool has_sign = i + 2 < bytes && (token[i + 1] == '-' || token[i + 1] == '+');
        i += (size_t)1 + has_sign;
        while (i < bytes && token[i] >= '0' && token[i] <= '9')
            i++;
        *is_plain = false;
    }
    return digits > 0 && i == bytes;
}

enum text_misfit text_find_misfit(const struct text_rules *rules, const struct element *element,
                                  const char *token, size_t bytes, size_t *decimals)
{
    const bool is_kind = rules->notation > TEXT_OPAQUE;
    const bool is_quoted = bytes > 2 && token[0] == '"' && token[bytes - 1] == '"';
    const uint64_t half = (uint64_t)1 << 63;
    size_t sign = bytes > 0 && (*token == '-' || *token == '+');
    struct text_number number;
    bool is_plain;

    *decimals = 0;
    if (!is_kind && bytes > sign && text_advice_is_number(rules, token + sign, bytes - sign)) {
        if (!text_number_read_any(rules, token, bytes, &number))
            return TEXT_MISFIT_RANGE;
        if (number.magnitude <= text_number_limits(*element).magnitude[number.is_negative])
            return TEXT_MISFIT_BUCKET;
        if (number.is_negative)
            return number.magnitude <= half ? TEXT_MISFIT_I64 : TEXT_MISFIT_RANGE;
        return number.magnitude < half ? TEXT_MISFIT_I64 : TEXT_MISFIT_U64;
    }
    token += is_quoted;
    bytes -= 2 * (size_t)is_quoted;
    sign = bytes > 0 && (*token == '-' || *token == '+');
    if (is_kind || rules->notation == TEXT_HEX ||
        !text_reason_is_any_number(token + sign, bytes - sign, decimals, &is_plain))
        return TEXT_MISFIT_NONE;
    *decimals += *decimals == 0;
    return is_quoted || !is_plain ? TEXT_MISFIT_FORM : TEXT_MISFIT_DECIMAL;
}

/*
 * Writes the reason if the line has no such field, or another number of them than its header; one
 * that lacks the wanted field is only said to lack it. Returns whether it is so.
 */
static bool text_reason_has_wrong_fields(const struct text_reading *reading, size_t offset,
                                         char out[TEXT_REASON_SIZE])
{
    const int32_t columns = reading->rules->columns;
    const int64_t field = reading->rules->field;
    const size_t wanted = (size_t)(field < 0 ? -field : field);
    char advice[TEXT_ADVICE_SIZE] = "";
    char number[24];
    struct text_field found;
    size_t fields = 0;
    size_t bytes;
    const char *line = text_advice_find_line(reading, offset, &bytes);

    for (size_t next = 0; text_line_next(reading->rules, line, bytes, &next, &found);)
        fields++;
    const bool is_missing = fields < wanted;
    if (!is_missing && (columns == 0 || fields == (size_t)columns))
        return false;
    int length =
        snprintf(out, TEXT_REASON_SIZE, "line has %zu field%s, ", fields, fields == 1 ? "" : "s");
    out += length;
    const size_t size = TEXT_REASON_SIZE - (size_t)length;
    snprintf(number, sizeof number, "%lld", (long long)field);
    if (is_missing) {
        text_advise_missing(reading, offset, fields, advice);
        snprintf(out, size, "%s %.100s wants %zu%s", reading->option,
                 reading->field_name ? reading->field_name : number, wanted, advice);
        return true;
    }
    if (reading->field_name)
        snprintf(advice, sizeof advice, " (try %s %s)", reading->option, number);
    snprintf(out, size, "its header has %d%s", (int)columns, advice);
    return true;
}

/* What the values of a column are. */
static const char *text_reason_noun(const struct text_reading *reading)
{
    const struct text_rules *rules = reading->rules;

    switch (rules->notation) {
    case TEXT_TIME:
        return "time";
    case TEXT_IP:
        return "address";
    case TEXT_BYTES:
        return "text";
    default:
        return rules->from_zero                ? "weight"
               : reading->is_group             ? "group"
               : rules->notation == TEXT_FIXED ? "number"
                                               : "integer";
    }
}

void text_explain_invalid(const struct text_reading *reading, const struct text_token *token,
                          char out[TEXT_REASON_SIZE])
{
    const char *begin = reading->data + token->offset;
    const struct text_rules *rules = reading->rules;
    const bool is_kind = rules->notation > TEXT_OPAQUE;
    size_t ignored;
    const enum text_misfit misfit = /* of a weight it is not told */
        rules->from_zero ? TEXT_MISFIT_NONE
                         : text_find_misfit(rules, reading->element, begin, token->bytes, &ignored);
    const char *type = misfit == TEXT_MISFIT_I64 ? "i64" : misfit == TEXT_MISFIT_U64 ? "u64" : "";
    bool has_mark = text_advice_has_mark(begin, token->bytes);
    char shown[TEXT_REASON_SHOWN + 4];
    char advice[TEXT_ADVICE_SIZE];
    char decimals[24] = "";
    const bool is_other = /* that has not been said */
        !reading->is_value && !rules->from_zero && (is_kind || !reading->is_group);

    if (token->fault) {
        snprintf(out, TEXT_REASON_SIZE, "not a JSON object: %s%s%s%s", token->fault,
                 has_mark ? ", but with a byte order mark (" : "", has_mark ? TEXT_ADVICE_MARK : "",
                 has_mark ? ")" : "");
        return;
    }
    if (reading->is_json && token->is_missing) {
        text_advise_path(reading, token->offset, reading->field_name, advice);
        snprintf(out, TEXT_REASON_SIZE, "row has no %.100s%s", reading->field_name, advice);
        return;
    }
    if (token->bytes == 0 && !reading->is_json &&
        text_reason_has_wrong_fields(reading, token->offset, out))
        return;
    text_advise_token(reading, token, advice);
    if (rules->notation == TEXT_BYTES && token->bytes > TEXT_BYTES_MAX) {
        snprintf(out, TEXT_REASON_SIZE, "text of %zu bytes, more than %zu", token->bytes,
                 TEXT_BYTES_MAX);
        return;
    }
    /* The beginning of the token, with `?` for NUL. */
    const size_t bytes = token->bytes - 3 * has_mark;
    const size_t length = bytes < TEXT_REASON_SHOWN ? bytes : TEXT_REASON_SHOWN;
    for (size_t i = 0; i < length; i++)
        shown[i] = begin[3 * has_mark + i] == '\0' ? '?' : begin[3 * has_mark + i];
    strcpy(shown + length, bytes > length ? "..." : "");
    if (rules->notation == TEXT_FIXED)
        snprintf(decimals, sizeof decimals, " with --decimals %u", rules->decimals);
    const struct kind_time_rules time = {
        .digits = reading->element->decimals,
        .is_local = reading->element->notation == ELEMENT_LOCAL_TIME,
    };
    if (rules->notation == TEXT_TIME && token->bytes > 0 &&
        kind_time_is_out_of_range(&time, begin, token->bytes, token->bytes))
        snprintf(out, TEXT_REASON_SIZE, "'%s' is out of range for times with %u digits of a second",
                 shown, time.digits);
    else if (misfit == TEXT_MISFIT_BUCKET)
        snprintf(out, TEXT_REASON_SIZE, "the bucket of '%s' begins below the least %s%s%s", shown,
                 reading->element->name, decimals,
                 reading->element->bytes < sizeof(int64_t) ? " (try -t i64)" : "");
    else if (*type || misfit == TEXT_MISFIT_RANGE)
        snprintf(out, TEXT_REASON_SIZE, "'%s' is out of range for %s%s%s%s%s", shown,
                 reading->element->name, decimals, *type ? " (try -t " : "", type,
                 *type ? ")" : "");
    else
        snprintf(out, TEXT_REASON_SIZE, "invalid %s '%s%s'%s%s%s%s", text_reason_noun(reading),
                 has_mark ? "<byte order mark>" : "", shown,
                 rules->from_zero ? ", no integer from 0 to 2^63 - 1" : "", is_other ? " of " : "",
                 is_other ? reading->option : "", advice);
}
