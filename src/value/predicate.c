/* Reduces predicates to one of three forms. */
#include "config.h"

#include "value/predicate.h"

#include "lib/digest.h"

#include <stdlib.h>
#include <string.h>

static const char *const predicate_names[] = {
#define PREDICATE_NAME(id, label, name, ...) [PREDICATE_##id] = name,
    PREDICATE_RELATIONS(PREDICATE_NAME)
#undef PREDICATE_NAME
};

/* Sets the form for low <= value < limit, clipped to the range of the type. */
static void predicate_set_interval(struct predicate *predicate, const struct element *element,
                                   __int128 low, __int128 limit)
{
    __int128 type_low = element_min(element);
    __int128 type_limit = element_limit(element);

    low = low > type_low ? low : type_low;
    limit = limit < type_limit ? limit : type_limit;
    if (low >= limit) { /* no value matches: the negation of PREDICATE_EVERY */
        predicate->form = PREDICATE_EVERY;
        predicate->negated = !predicate->negated;
        return;
    }
    predicate->form = low == type_low && limit == type_limit ? PREDICATE_EVERY : PREDICATE_INTERVAL;
    predicate->low = (uint64_t)low;
    predicate->last = (uint64_t)(limit - low - 1);
}

enum status predicate_init(struct predicate *predicate, enum predicate_relation relation,
                           const char *text, const struct element *element, struct failure *failure)
{
    const struct kind *kind = &kind_rows[element->kind];
    __int128 low = element_min(element);
    __int128 limit;

    *predicate = (struct predicate){.name = predicate_names[relation], .text = text};
    if (relation == PREDICATE_ALL) {
        predicate->form = PREDICATE_EVERY;
        return STATUS_OK;
    }
    if (relation == PREDICATE_IN) {
        if (!element_read_range(element, text, &low, &limit))
            return status_fail(failure, STATUS_USAGE, "invalid --%s '%s': expected LO:HI, %s",
                               predicate->name, text, kind->pair);
        if (low >= limit)
            return status_fail(failure, STATUS_USAGE, "--in %s is empty: LO must be below HI",
                               text);
    } else {
        if (!element_read(element, text, strlen(text), &limit))
            return status_fail(failure, STATUS_USAGE, "invalid --%s '%s': expected %s%s",
                               predicate->name, text, kind->value, kind->hint);
        predicate->negated =
            relation == PREDICATE_NE || relation == PREDICATE_GE || relation == PREDICATE_GT;
        if (relation == PREDICATE_EQ || relation == PREDICATE_NE)
            low = limit;
        if (relation != PREDICATE_LT && relation != PREDICATE_GE)
            limit++;
    }
    predicate_set_interval(predicate, element, low, limit);
    return STATUS_OK;
}

enum status predicate_init_any_of(struct predicate *predicate, const char *text,
                                  const struct element *element, const uint64_t *keys, size_t count,
                                  struct failure *failure)
{
    uint64_t digest = 0;

    for (size_t i = 0; i < count; i++)
        digest = digest_add(digest, keys[i]);
    predicate_init_unread(predicate, text, element, count, digest);
    if (predicate->form != PREDICATE_SET)
        return STATUS_OK;
    if (keys[count - 1] - keys[0] == count - 1) { /* the keys are consecutive */
        const __int128 low = element_value(element, keys[0]);
        predicate_set_interval(predicate, element, low, low + (__int128)count);
        return STATUS_OK;
    }
    return value_set_init(&predicate->set, keys, count, failure);
}

void predicate_init_unread(struct predicate *predicate, const char *text,
                           const struct element *element, uint64_t values, uint64_t digest)
{
    const __int128 min = element_min(element);
    const __int128 limit = element_limit(element);

    *predicate = (struct predicate){
        .form = PREDICATE_SET,
        .set_values = values,
        .set_digest = digest,
        .name = predicate_names[PREDICATE_ANY_OF],
        .text = text,
    };
    if (values == 0 || values == limit - min)
        predicate_set_interval(predicate, element, min, min + (__int128)values);
}

static int predicate_compare_ranges(const void *a, const void *b)
{
    const __int128 x = ((const struct predicate_range *)a)->low;
    const __int128 y = ((const struct predicate_range *)b)->low;
    return (x > y) - (x < y);
}

enum status predicate_init_ranges(struct predicate *predicate, const char *text,
                                  const struct predicate_range *ranges, size_t count,
                                  struct failure *failure)
{
    *predicate = (struct predicate){.text = text};
    predicate->ranges = malloc((count + 1) * sizeof *ranges);
    if (!predicate->ranges)
        return status_fail(failure, STATUS_DATA, "not enough memory for a list of IP addresses");
    struct predicate_range *sorted = predicate->ranges;
    memcpy(sorted, ranges, count * sizeof *ranges);
    qsort(sorted, count, sizeof *sorted, predicate_compare_ranges);
    size_t joined = 0; /* number of disjoint ranges so far */
    for (size_t i = 0; i < count; i++) {
        if (joined == 0 || sorted[i].low > sorted[joined - 1].high)
            sorted[joined++] = sorted[i];
        else if (sorted[i].high > sorted[joined - 1].high)
            sorted[joined - 1].high = sorted[i].high;
    }
    predicate->range_count = joined;
    return STATUS_OK;
}

/* Compares strings like memcmp; a prefix is first. */
static int predicate_compare_strings(const void *a, const void *b)
{
    const struct predicate_text *x = a;
    const struct predicate_text *y = b;
    const int order = memcmp(x->data, y->data, x->bytes < y->bytes ? x->bytes : y->bytes);

    return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

enum status predicate_init_strings(struct predicate *predicate, enum predicate_relation relation,
                                   const struct predicate_text *strings, size_t count,
                                   struct failure *failure)
{
    size_t bytes = 0;

    *predicate = (struct predicate){
        .negated = relation == PREDICATE_NE || relation == PREDICATE_GE ||
                   relation == PREDICATE_GT || relation == PREDICATE_DIFFERS,
        .relation = relation == PREDICATE_NE        ? PREDICATE_EQ
                    : relation == PREDICATE_GE      ? PREDICATE_LT
                    : relation == PREDICATE_GT      ? PREDICATE_LE
                    : relation == PREDICATE_DIFFERS ? PREDICATE_MATCHES
                                                    : relation,
        .text_count = count,
    };
    for (size_t i = 0; i < count; i++)
        bytes += strings[i].bytes;
    predicate->strings = malloc(count * sizeof *strings + bytes + 1);
    if (!predicate->strings)
        return status_fail(failure, STATUS_DATA, "not enough memory for a list of strings");
    char *next = (char *)(predicate->strings + count); /* the bytes follow the structs */
    for (size_t i = 0; i < count; i++) {
        memcpy(next, strings[i].data, strings[i].bytes);
        predicate->strings[i] = (struct predicate_text){next, strings[i].bytes};
        next += strings[i].bytes;
    }
    *next = '\0';
    qsort(predicate->strings, count, sizeof *strings, predicate_compare_strings);
    return STATUS_OK;
}

bool predicate_holds_text(const struct predicate *predicate, const char *data, size_t bytes)
{
    const struct predicate_text *text = predicate->strings;
    const struct predicate_text found = {data, bytes};
    bool holds = false;

    switch (predicate->relation) {
    case PREDICATE_BEGINS:
        holds = text->bytes <= bytes && memcmp(data, text->data, text->bytes) == 0;
        break;
    case PREDICATE_CONTAINS:
        holds = memmem(data, bytes, text->data, text->bytes) != NULL;
        break;
    case PREDICATE_EQ: /* a single string needs no search */
        holds = predicate->text_count == 1
                    ? text->bytes == bytes && memcmp(data, text->data, bytes) == 0
                    : bsearch(&found, text, predicate->text_count, sizeof found,
                              predicate_compare_strings) != NULL;
        break;
    default: /* LT or LE */
        holds = predicate_compare_strings(&found, text) < (predicate->relation == PREDICATE_LE);
        break;
    }
    return holds != predicate->negated;
}

void predicate_destroy(struct predicate *predicate)
{
    free(predicate->strings);
    free(predicate->ranges);
    value_set_destroy(&predicate->set);
}
