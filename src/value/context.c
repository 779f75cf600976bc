/* Implements context.h. */
#include "config.h"

#include "value/context.h"

#include "lib/decimal.h"

const struct context *context_of(const struct plan *plan)
{
    static const struct context none = {.table_bytes = 0};

    return plan->context ? plan->context : &none;
}

uint64_t context_table_bytes(const struct plan *plan)
{
    const uint64_t bytes = context_of(plan)->table_bytes;

    return plan_has_strings(plan) ? bytes - bytes / 2 : bytes;
}

void context_add_weight(const struct plan *plan, unsigned __int128 weight)
{
    const uint64_t before = atomic_fetch_add(&plan->context->rows.sum, (uint64_t)weight);

    if (weight > UINT64_MAX - before)
        atomic_store(&plan->context->rows.is_too_large, true);
}

void context_add_rows(const struct plan *plan, const uint64_t *weights, size_t n)
{
    unsigned __int128 more = weights ? 0 : n;

    for (size_t i = 0; weights && i < n; i++)
        more += weights[i];
    context_add_weight(plan, more);
}

void context_add_guesses(const struct plan *plan, struct kind_guesses *guesses)
{
    for (size_t i = KIND_TIME_GUESS_NONE + 1; i < KIND_TIME_GUESSES; i++) {
        if (guesses->times[i] > 0)
            atomic_fetch_add_explicit(&plan->context->guesses[i], guesses->times[i],
                                      memory_order_relaxed);
        guesses->times[i] = 0;
    }
}

void context_note_met(const struct plan *plan, uint64_t met)
{
    if (met & ~atomic_load(&plan->context->rows.met))
        atomic_fetch_or(&plan->context->rows.met, met);
}

enum status context_get_rows(const struct plan *plan, uint64_t *total, struct failure *failure)
{
    char limit[DECIMAL_SIZE];

    *total = atomic_load(&plan->context->rows.sum);
    if (!atomic_load(&plan->context->rows.is_too_large))
        return STATUS_OK;
    if (plan_count_decimals(plan) == 0)
        return status_fail(failure, STATUS_DATA, "the weights add up to more than 2^64 - 1");
    decimal_format_fixed(limit, UINT64_MAX, plan_count_decimals(plan));
    return status_fail(failure, STATUS_DATA, "the weights add up to more than %s", limit);
}

enum status context_add_invalid_real(const struct plan *plan, double value, uint64_t position,
                                     struct failure *failure)
{
    struct context *context = plan->context;
    uint64_t first = atomic_load(&context->invalid_first);

    if (context->invalid == INVALID_ABORT)
        return status_fail_at(failure, position, STATUS_DATA,
                              "the number %.17g at byte %llu of the input is %s", value,
                              (unsigned long long)position,
                              __builtin_isfinite(value) ? "out of range for the decimals"
                                                        : "invalid (try --invalid ignore)");
    atomic_fetch_add(&context->invalid_reals, 1);
    while (position < first &&
           !atomic_compare_exchange_weak(&context->invalid_first, &first, position))
        continue;
    return STATUS_OK;
}
