/* Implements print_order.h: computes a value of each group, and sorts their indices. */
#include "config.h"

#include "result/print_order.h"

#include "aggregate/groups.h"
#include "aggregate/store.h"
#include "lib/parallel.h"
#include "result/print_rows.h"
#include "result/print_values.h"

#include <stdlib.h>
#include <string.h>

/* The index of the number of rows, a value of --sort that each group has. */
#define PRINT_ORDER_ROWS SIZE_MAX

/* The index of an unknown value. */
#define PRINT_ORDER_NONE (SIZE_MAX - 1)

/* Minimum number of groups per thread, and parts per thread, because some groups are large. */
#define PRINT_ORDER_GROUPS_MIN   ((uint64_t)256)
#define PRINT_ORDER_THREAD_PARTS ((size_t)8)

/* A group and its sort key. */
struct print_order_item {
    struct reduce_order value;
    uint64_t group;
    uint64_t rows;
    bool has_value;
    bool is_taken; /* the leader has it */
};

/* Returns the index of the value with that name, or one of these two. */
static size_t print_order_find(const struct plan *plan, const char *name)
{
    struct reduction reduction;

    if (strcmp(name, "count") == 0)
        return PRINT_ORDER_ROWS;
    if (plan->operation == OPERATION_REDUCE) { /* avg is mean, and p099.0 p99 */
        if (!reductions_find(name, strlen(name), &reduction))
            return PRINT_ORDER_NONE;
        name = reduction.name;
    }
    for (size_t i = 0; i < print_values_count(plan); i++) {
        const struct print_column value = print_values_value(plan, i);
        if (print_column_is(&value, name))
            return i;
    }
    return PRINT_ORDER_NONE;
}

size_t print_order_column(const struct print_options *options, const struct plan *plan,
                          const char **value)
{
    *value = options->sort;
    if (plan->value_count < 2)
        return 0;
    for (size_t i = 0; i < plan->value_count; i++) {
        const char *where = plan->columns[i].where;
        const size_t length = strlen(where);
        if (strncmp(options->sort, where, length) != 0 || options->sort[length] != ' ')
            continue;
        *value = options->sort + length + 1;
        if (print_order_find(plan, *value) != PRINT_ORDER_NONE)
            return i;
    }
    return plan->value_count;
}

/* Fails because --sort names an unknown value. */
static enum status print_order_fail(const struct print_options *options, const struct plan *plan,
                                    struct failure *failure)
{
    const struct print_column first = print_values_value(plan, 0);
    const bool is_several = plan->value_count > 1;

    return status_fail(failure, STATUS_USAGE,
                       "invalid --sort '%s': expected %scount or a value that is printed, such as "
                       "'%s%s%s%s%s'",
                       options->sort, is_several ? "a column, a blank, and " : "",
                       is_several ? plan->columns[0].where : "", is_several ? " " : "",
                       first.words[0], first.words[1] ? first.words[1] : "",
                       first.words[1] ? first.words[2] : "");
}

enum status print_order_check(const struct print_options *options, const struct plan *plan,
                              struct failure *failure)
{
    const bool is_of_groups =
        plan->operation == OPERATION_REDUCE || plan->operation == OPERATION_COUNT;
    const char *value;

    if (!is_of_groups) {
        if (options->sort && strcmp(options->sort, "bin") != 0 &&
            strcmp(options->sort, "count") != 0)
            return status_fail(failure, STATUS_USAGE,
                               "invalid --sort '%s': expected bin, or count (largest first)",
                               options->sort);
        return STATUS_OK;
    }
    if (plan->group_count == 0 && (options->sort || options->top > 0 || options->min_count > 0))
        return status_fail(failure, STATUS_USAGE, "--%s with %s requires --by",
                           options->sort      ? "sort"
                           : options->top > 0 ? "top"
                                              : "min-count",
                           plan_operation_names[plan->operation]);
    if (options->top > 0 && !options->sort)
        return status_fail(failure, STATUS_USAGE,
                           "--top with %s requires --sort (try --sort count)",
                           plan_operation_names[plan->operation]);
    if (options->sort && (print_order_column(options, plan, &value) == plan->value_count ||
                          print_order_find(plan, value) == PRINT_ORDER_NONE))
        return print_order_fail(options, plan, failure);
    return STATUS_OK;
}

/* Orders by descending value, then by ascending group. */
static int print_order_compare(const void *a, const void *b)
{
    const struct print_order_item *x = a;
    const struct print_order_item *y = b;

    if (x->has_value != y->has_value)
        return y->has_value - x->has_value;
    if (x->value.whole != y->value.whole)
        return x->value.whole < y->value.whole ? 1 : -1;
    if (x->value.real != y->value.real)
        return x->value.real < y->value.real ? 1 : -1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Compares keys[0..words), unsigned words, in the order of their columns. */
static int print_order_compare_keys(const uint64_t *a, const uint64_t *b, size_t words)
{
    size_t word = 0;

    while (word < words && a[word] == b[word])
        word++;
    return word == words ? 0 : a[word] < b[word] ? -1 : 1;
}

/*
 * Finds each group of `of` among the groups of another column, which are also ascending: map[i] is
 * the index of group i there, or the number of groups. `buffer` has room for a row of each.
 */
static void print_order_map(const struct groups *of, const struct groups *others, uint64_t *buffer,
                            uint64_t *map)
{
    uint64_t other = 0;

    for (uint64_t i = 0; i < of->count; i++) {
        const uint64_t *row = groups_first_row(of, i, buffer);
        int compared = 1;
        map[i] = others->count;
        for (; other < others->count && compared > 0; other += compared > 0)
            compared = print_order_compare_keys(
                row, groups_first_row(others, other, buffer + of->layout->words), of->value);
        if (compared == 0)
            map[i] = other;
    }
}

/* The groups of an order, shared by several threads. */
struct print_order_work {
    const struct print_options *options;
    const struct plan *plan;
    const void *aggregate;
    struct print_order_item *items; /* [count], owned by the caller */
    uint64_t count;                 /* number of groups */
    size_t parts;                   /* number of parts of the groups */
    size_t words;                   /* number of words that a part needs */
    uint64_t *memory;               /* [parts * words], owned by the caller */
    size_t value;                   /* index of the value to sort by, or PRINT_ORDER_ROWS */
};

/* Fills the items of a part of the groups. */
static void print_order_fill(void *context, size_t part)
{
    const struct print_order_work *work = context;
    const struct plan *plan = work->plan;
    const struct store *store = store_of(plan);
    const uint64_t end = (uint64_t)((unsigned __int128)work->count * (part + 1) / work->parts);
    uint64_t i = (uint64_t)((unsigned __int128)work->count * part / work->parts);
    struct reduce_values found;

    for (; i < end; i++) {
        struct print_order_item *item = &work->items[i];
        *item = (struct print_order_item){.group = i, .has_value = true};
        store->values(&found, work->aggregate, i, work->memory + part * work->words);
        item->rows = found.row[found.accumulators->count];
        if (!work->options->sort || work->options->leader)
            continue;
        if (work->value == PRINT_ORDER_ROWS) {
            item->value.whole = (__int128)item->rows;
        } else if (plan->operation == OPERATION_COUNT) {
            item->value.whole =
                (__int128)predicate_count(&plan->predicates[work->value], item->rows,
                                          found.row[found.accumulators->first + work->value]);
        } else {
            item->has_value = print_values_has(plan, &found, work->value);
            if (item->has_value)
                reduce_find_order(&item->value, found.accumulators, found.row, found.found,
                                  (unsigned)work->value);
        }
    }
}

enum status print_order_create(struct print_order *order, const struct print_options *options,
                               const struct plan *plan, const void *aggregate,
                               struct failure *failure)
{
    const struct store *store = store_of(plan);
    const struct print_order *leader = options->leader;
    const struct groups *groups = aggregate;
    const struct groups *leading = leader ? leader->aggregate : groups;
    const uint64_t count = groups->count;
    const unsigned threads = parallel_threads(options->threads, count, PRINT_ORDER_GROUPS_MIN);
    struct print_order_work work = {
        .options = options,
        .plan = plan,
        .aggregate = aggregate,
        .items = malloc((count + 1) * sizeof *work.items),
        .count = count,
        .parts = threads == 1 ? 1 : PRINT_ORDER_THREAD_PARTS * threads,
        .words = store->values_words(aggregate) + leading->layout->words,
        .value =
            options->sort && !leader ? print_order_find(plan, options->sort) : PRINT_ORDER_ROWS,
    };
    struct print_order_item *items = work.items;
    uint64_t *map = malloc((leading->count + 1) * sizeof *map);
    uint64_t *memory = work.memory = malloc(work.parts * work.words * sizeof *memory);

    *order = (struct print_order){.aggregate = aggregate};
    order->groups = malloc((count + 1) * sizeof *order->groups);
    if (!items || !map || !memory || !order->groups) {
        free(items);
        free(map);
        free(memory);
        return status_fail(failure, STATUS_DATA, "not enough memory for sorting groups");
    }
    parallel_run(threads, work.parts, print_order_fill, &work);
    if (leader) {
        print_order_map(leading, groups, memory, map);
        for (uint64_t i = 0; i < leader->count; i++) {
            const uint64_t group = map[leader->groups[i]];
            if (group == count)
                continue;
            items[group].is_taken = true;
            if (items[group].rows >= options->min_count)
                order->groups[order->count++] = group;
        }
    } else if (options->sort) {
        qsort(items, count, sizeof *items, print_order_compare);
    }
    for (uint64_t i = 0; i < count && !(leader && options->top > 0); i++) {
        if (items[i].rows >= options->min_count && !items[i].is_taken &&
            (options->top == 0 || order->count < options->top))
            order->groups[order->count++] = items[i].group;
    }
    free(items);
    free(map);
    free(memory);
    return groups_check(groups, failure);
}

void print_order_destroy(struct print_order *order)
{
    free(order->groups);
}
