/* Implements cuda_features.h: the table, and tests whether a plan uses a feature. */
#include "config.h"

#include "cuda/cuda_features.h"

#include "text/row_scanner.h"

#include <string.h>

static bool cuda_features_has_conditions(const struct plan *plan)
{
    return plan->condition_count > 0;
}

static bool cuda_features_has_groups(const struct plan *plan)
{
    return plan->group_count > 0;
}

static bool cuda_features_has_window(const struct plan *plan)
{
    return plan->window_periods > 0;
}

static bool cuda_features_has_columns(const struct plan *plan)
{
    return plan->value_count > 1;
}

static bool cuda_features_has_keys(const struct plan *plan)
{
    return row_scanners[plan->row_scanner]->names_columns;
}

static bool cuda_features_has_addresses(const struct plan *plan)
{
    return element_is_wide(&plan->element);
}

static bool cuda_features_has_units(const struct plan *plan)
{
    return plan->is_text &&
           (plan->columns[0].notation == TEXT_OTHER ||
            (plan->has_weights && plan->columns[plan_weight_column(plan)].notation == TEXT_OTHER));
}

static bool cuda_features_has_reals(const struct plan *plan)
{
    return plan_has_reals(plan);
}

static bool cuda_features_is_rounded(const struct plan *plan)
{
    const enum kind_id weight = plan->columns[plan_weight_column(plan)].element.kind;
    return plan->is_text &&
           (plan->text.is_rounded || (plan->has_weights && kind_rows[weight].is_rounded));
}

static bool cuda_features_has_strings(const struct plan *plan)
{
    return element_is_string(&plan->element);
}

static bool cuda_features_is_csv(const struct plan *plan)
{
    return plan->is_text && plan->text.is_quoted;
}

static bool cuda_features_has_format(const struct plan *plan)
{
    return plan->is_text && plan->columns[0].time_format != NULL;
}

static bool cuda_features_has_zone(const struct plan *plan)
{
    return plan->is_text && plan->columns[0].element.zone != NULL;
}

static bool cuda_features_has_widths_of_records(const struct plan *plan)
{
    return !plan->is_text && plan->has_weights &&
           plan->columns[plan_weight_column(plan)].width.units > 1;
}

static bool cuda_features_has_joins(const struct plan *plan)
{
    return plan->half_count > 0;
}

static bool cuda_features_is_whole_line(const struct plan *plan)
{
    const bool has_value = plan->columns[0].field == TEXT_WHOLE_LINE;
    return plan->is_text &&
           (has_value || (plan->has_weights &&
                          plan->columns[plan_weight_column(plan)].field == TEXT_WHOLE_LINE));
}

static bool cuda_features_skips_missing(const struct plan *plan)
{
    return plan->skips_missing;
}

const struct engine_feature cuda_features[] = {
    {"histogram, uniq, count, stalin-sort", ENGINE_RUNS, NULL},
    {"reduce, also median, p99, distinct, mode", ENGINE_RUNS, NULL},
    {"binary input, --record", ENGINE_RUNS, NULL},
    {"text, -f N or NAME, -d, .N, hex", ENGINE_RUNS, NULL},
    {"timestamps (-f N:time, N:localtime)", ENGINE_RUNS, NULL},
    {"IPv4 addresses (-f N:ip)", ENGINE_RUNS, NULL},
    {"widths of columns (-f N:int/100)", ENGINE_RUNS, NULL},
    {"--weight", ENGINE_RUNS, NULL},
    {"--csv without quotes", ENGINE_RUNS, NULL},
    {"--csv with quotes", ENGINE_PARSES, cuda_features_is_csv},
    {"other IP addresses", ENGINE_PARSES, cuda_features_has_addresses},
    {"durations and sizes (-f N:ms, N:bytes)", ENGINE_PARSES, cuda_features_has_units},
    {"floats (-t f32)", ENGINE_PARSES, cuda_features_has_reals},
    {"rounded numbers (-f N:round.6)", ENGINE_PARSES, cuda_features_is_rounded},
    {"--time-format", ENGINE_PARSES, cuda_features_has_format},
    {"--tz", ENGINE_PARSES, cuda_features_has_zone},
    {"widths of weights in records", ENGINE_PARSES, cuda_features_has_widths_of_records},
    {"-f 0", ENGINE_PARSES, cuda_features_is_whole_line},
    {"--missing skip", ENGINE_PARSES, cuda_features_skips_missing},
    {"--where", ENGINE_REFUSES, cuda_features_has_conditions},
    {"--by", ENGINE_REFUSES, cuda_features_has_groups},
    {"--window", ENGINE_REFUSES, cuda_features_has_window},
    {"several columns of values", ENGINE_REFUSES, cuda_features_has_columns},
    {"--jsonl, --logfmt, --clf", ENGINE_REFUSES, cuda_features_has_keys},
    {"strings (-f N:text)", ENGINE_REFUSES, cuda_features_has_strings},
    {"two columns joined (-f A+B:time)", ENGINE_REFUSES, cuda_features_has_joins},
    {NULL, ENGINE_RUNS, NULL},
};

bool cuda_features_must_parse(const struct plan *plan, const struct chunk *chunk)
{
    for (const struct engine_feature *feature = cuda_features; feature->name; feature++) {
        if (feature->support != ENGINE_PARSES || !feature->is_used(plan))
            continue;
        if (feature->is_used == cuda_features_has_addresses)
            continue; /* the GPU finds out whether all are IPv4 */
        /* without quotes, CSV only has delimiters */
        if (feature->is_used != cuda_features_is_csv || memchr(chunk->data, '"', chunk->bytes))
            return true;
    }
    return false;
}
