/* Implements cpu_rows.h. */
#include "config.h"

#include "engine/cpu_rows.h"

#include "aggregate/store.h"
#include "engine/cpu_keys.h"
#include "input/parse_errors.h"
#include "lib/decimal.h"
#include "text/text_rows.h"

#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of keys of a block in all columns: 32 KiB, which stay in or near L1. Minimum
 * number of rows of a block.
 */
#define CPU_ROWS_KEYS ((size_t)4096)
#define CPU_ROWS_MIN  ((size_t)256)

struct cpu_rows {
    const struct plan *plan;
    const struct store *store;
    text_parse_function *parse;       /* parser for text with only one column to read */
    bool has_reals;                   /* some column has floats, which can be invalid */
    bool has_rows;                    /* text: lines are parsed as rows */
    size_t stored;                    /* number of stored columns: all except conditions */
    size_t capacity;                  /* maximum number of rows of a block */
    struct dictionary_cache *strings; /* for text: see text_rows.h, like the next member */
    struct text_rows_scratch *scratch_text;
    uint64_t *memory;                 /* the memory that the next members point into */
    uint64_t *keys[TEXT_COLUMNS_MAX]; /* [stored] arrays of keys */
    uint64_t *nulls;                  /* for several value columns: see text_rows.h */
    uint64_t *scratch;                /* [capacity] keys of two words: remaining rows */
    uint64_t *left[TEXT_COLUMNS_MAX]; /* weights and groups of the remaining rows */
};

void cpu_rows_destroy(struct cpu_rows *rows)
{
    free(rows->strings);
    text_rows_scratch_destroy(rows->scratch_text);
    free(rows->memory);
    free(rows);
}

/* Makes the blocks hold `capacity` rows. Their contents are lost. */
static bool cpu_rows_reserve(struct cpu_rows *rows, size_t capacity)
{
    const size_t values = rows->plan->value_count;
    const bool is_text = rows->plan->is_text;
    const bool may_lose =
        (is_text || rows->has_reals) && values > 1; /* then all other columns are also compacted */
    size_t words = 2 + may_lose;                    /* words of a row: keys, scratch and nulls */

    for (size_t i = 0; i < rows->stored; i++)
        words += column_words(&rows->plan->columns[i]) * (may_lose && i >= values ? 2u : 1u);

    free(rows->memory);
    rows->memory = malloc(words * capacity * sizeof *rows->memory);
    if (!rows->memory) {
        rows->capacity = 0;
        return false;
    }
    rows->capacity = capacity;
    uint64_t *next = rows->memory;
    for (size_t i = 0; i < rows->stored; i++) {
        rows->keys[i] = next;
        next += capacity * column_words(&rows->plan->columns[i]);
    }
    rows->scratch = next;
    next += 2 * capacity;
    rows->nulls = may_lose ? next : NULL;
    next += may_lose * capacity;
    for (size_t i = values; may_lose && i < rows->stored; i++) {
        rows->left[i] = next;
        next += capacity * column_words(&rows->plan->columns[i]);
    }
    return true;
}

struct cpu_rows *cpu_rows_create(const struct plan *plan, const struct store *store)
{
    struct cpu_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return NULL;

    rows->plan = plan;
    rows->store = store;
    rows->stored = plan_condition_column(plan);
    rows->has_rows = text_rows_are_needed(plan);
    rows->has_reals = plan_has_reals(plan);
    if (plan->is_text && !rows->has_rows)
        rows->parse = text_choose_parser(&plan->text, plan->element.type);
    struct dictionary *dictionary = context_of(plan)->dictionary;
    bool has_memory = true;
    if (dictionary)
        has_memory = (rows->strings = dictionary_cache_create(dictionary)) != NULL;
    if (rows->has_rows)
        has_memory = has_memory && (rows->scratch_text = text_rows_scratch_create(plan)) != NULL;
    const size_t some = CPU_ROWS_KEYS / rows->stored;
    if (has_memory && cpu_rows_reserve(rows, some > CPU_ROWS_MIN ? some : CPU_ROWS_MIN))
        return rows;
    cpu_rows_destroy(rows);
    return NULL;
}

/*
 * Copies the elements of a value column, with their weights and groups, of the rows with indices
 * kept[0..n). Stores the address of the copies in *elements.
 */
static void cpu_rows_compact(struct cpu_rows *rows, size_t column, const uint16_t *kept, size_t n,
                             struct chunk *elements)
{
    const struct plan *plan = rows->plan;

    for (size_t c = column; c < rows->stored;
         c = c < plan->value_count ? plan->value_count : c + 1) {
        const size_t width = plan_key_bytes(plan, c);
        const char *from = (const char *)rows->keys[c];
        char *to = (char *)(c < plan->value_count ? rows->scratch : rows->left[c]);
        for (size_t i = 0; i < n; i++)
            memcpy(to + i * width, from + kept[i] * width, width);
    }
    elements->data = rows->scratch;
    elements->weights = plan->has_weights ? rows->left[plan_weight_column(plan)] : NULL;
    elements->groups = (const uint64_t *const *)&rows->left[plan_group_column(plan)];
}

/*
 * Accumulates the first `count` rows of the block; for each value column, the rows with a value.
 * `made`: a chunk of elements without the elements and their number.
 */
static enum status cpu_rows_accumulate_block(struct cpu_rows *rows, void *local,
                                             const struct chunk *made, size_t count,
                                             struct failure *failure)
{
    const struct plan *plan = rows->plan;

    for (size_t c = 0; c < plan->value_count; c++) {
        struct chunk elements = *made;
        size_t n = count;
        elements.column = c;
        elements.data = rows->keys[c];
        elements.weights = plan->has_weights ? rows->keys[plan_weight_column(plan)] : NULL;
        elements.groups = (const uint64_t *const *)&rows->keys[plan_group_column(plan)];
        uint64_t nulls = 0;
        for (size_t i = 0; rows->nulls && i < count; i++)
            nulls |= rows->nulls[i];
        if (nulls >> c & 1) {
            uint16_t kept[CPU_ROWS_KEYS];
            n = 0;
            for (size_t i = 0; i < count; i++) {
                kept[n] = (uint16_t)i;
                n += ~rows->nulls[i] >> c & 1;
            }
            cpu_rows_compact(rows, c, kept, n, &elements);
        }
        elements.bytes = n * plan->columns[c].element.bytes;
        if (plan->is_text)
            parse_errors_add_values(plan->context->errors, n);
        if (plan_has_rows(plan))
            context_add_rows(plan, elements.weights, n);
        if (rows->store->local_accumulate(local, &elements, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status cpu_rows_accumulate_text(struct cpu_rows *rows, void *local,
                                            const struct chunk *text, struct failure *failure)
{
    const struct plan *plan = rows->plan;
    const size_t width = plan->element.bytes;
    struct text_cursor one = {.rules = &text->rules, .data = text->data, .bytes = text->bytes};
    struct text_rows several = {
        .plan = plan,
        .rules = &text->rules,
        .row_end = text->origin.row_end,
        .data = text->data,
        .bytes = text->bytes,
        .strings = rows->strings,
        .scratch = rows->scratch_text,
    };
    struct chunk made = *text;
    enum text_event event;
    size_t held = 0; /* rows that are parsed but not accumulated yet */

    made.text = text;
    do {
        if (rows->parse) {
            one.values = (char *)rows->keys[0] + held * width;
            one.capacity = rows->capacity - held;
            event = rows->parse(&one);
            held += one.count;
        } else {
            for (size_t c = 0; c < rows->stored; c++)
                several.keys[c] = (char *)rows->keys[c] + held * plan_key_bytes(plan, c);
            several.nulls = rows->nulls ? rows->nulls + held : NULL;
            several.capacity = rows->capacity - held;
            event = text_rows_parse(&several);
            held += several.count;
            if (several.status != STATUS_OK) {
                *failure = several.failure;
                return several.status;
            }
        }
        if (plan->condition_count > 0)
            context_note_met(plan, several.met);
        if (rows->has_rows)
            context_add_guesses(plan, &several.guesses);
        if (event == TEXT_INVALID) {
            const struct text_token *tokens = rows->parse ? &one.invalid : several.invalid;
            const size_t count = rows->parse ? 1 : several.invalid_count;
            for (size_t i = 0; i < count; i++) {
                struct failure before; /* the first failure in the stream is reported */
                if (parse_errors_add_invalid(plan->context->errors, text, &tokens[i], failure) ==
                    STATUS_OK)
                    continue;
                made.is_cut = true;
                if (cpu_rows_accumulate_block(rows, local, &made, held, &before) != STATUS_OK &&
                    before.position < failure->position)
                    *failure = before;
                return failure->status;
            }
            if (held < rows->capacity)
                continue;
        }
        made.is_cut = text->is_cut && event == TEXT_END;
        if (cpu_rows_accumulate_block(rows, local, &made, held, failure) != STATUS_OK)
            return failure->status;
        held = 0;
    } while (event != TEXT_END);
    if (several.missing > 0)
        parse_errors_add_missing(plan->context->errors, several.missing);
    return STATUS_OK;
}

static inline __attribute__((always_inline)) void cpu_rows_copy(char *to, const char *from,
                                                                size_t record_bytes, size_t count,
                                                                size_t width)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t element = 0; /* source and destination can overlap */
        memcpy(&element, from + i * record_bytes, width);
        memcpy(to + i * width, &element, width);
    }
}

/*
 * Rounds the floats of a column of records[0..count) to keys. Returns whether all are valid;
 * invalid ones get key 0. Inlined for each format.
 */
static inline __attribute__((always_inline)) bool cpu_rows_round(enum real_format format,
                                                                 bool is_swapped, const char *from,
                                                                 size_t record_bytes, size_t count,
                                                                 unsigned decimals, uint64_t *keys)
{
    bool are_valid = true;

    for (size_t i = 0; i < count; i++) {
        int64_t key = 0;
        are_valid &=
            real_round(real_load(format, is_swapped, from + i * record_bytes), decimals, &key);
        keys[i] = (uint64_t)key;
    }
    return are_valid;
}

/* Like the function above, but rounds a column of floats of any format. */
static bool cpu_rows_round_column(const struct plan *plan, const struct column *column,
                                  const char *records, size_t count, uint64_t *keys)
{
    const struct element *element = &column->element;
    const char *from = records + column->offset;
    const size_t bytes = plan_value_bytes(plan);
    const unsigned decimals = element->decimals;

    switch (element->real) {
#define CPU_ROWS_ROUND(id, name, size)                                                   \
    case REAL_##id:                                                                      \
        return element->is_real_swapped                                                  \
                   ? cpu_rows_round(REAL_##id, true, from, bytes, count, decimals, keys) \
                   : cpu_rows_round(REAL_##id, false, from, bytes, count, decimals, keys);
        REAL_FORMATS(CPU_ROWS_ROUND)
#undef CPU_ROWS_ROUND
    case REAL_NONE:
        break;
    }
    return true;
}

/*
 * Copies the elements of a column of records[0..count) to elements[0..count), which can start at
 * the same address. Seconds for 256 MiB of 16-byte records in the page cache, one core:
 *
 *   cat                        0.023
 *   sum of one u32 of each     0.032
 *   sum of all u32             0.044
 */
static void cpu_rows_gather(const struct plan *plan, const struct column *column,
                            const char *records, size_t count, void *elements)
{
    const size_t record_bytes = plan_value_bytes(plan);
    const char *first = records + column->offset;

    switch (column->element.bytes) {
    case 1:
        cpu_rows_copy(elements, first, record_bytes, count, 1);
        break;
    case 2:
        cpu_rows_copy(elements, first, record_bytes, count, 2);
        break;
    case 4:
        cpu_rows_copy(elements, first, record_bytes, count, 4);
        break;
    default:
        cpu_rows_copy(elements, first, record_bytes, count, 8);
        break;
    }
}

/*
 * Like cpu_rows_gather, but stores the keys (element.h) of the elements, rounded down to the width
 * of the column. Returns whether all values are valid.
 */
static bool cpu_rows_gather_keys(const struct plan *plan, const struct column *column,
                                 const char *records, size_t n, uint64_t *keys)
{
    uint64_t elements[CPU_KEYS_BLOCK];
    const bool is_real = column->element.real != REAL_NONE;
    const bool are_valid = !is_real || cpu_rows_round_column(plan, column, records, n, keys);

    for (size_t i = 0, some; !is_real && i < n; i += some) {
        some = n - i < CPU_KEYS_BLOCK ? n - i : CPU_KEYS_BLOCK;
        cpu_rows_gather(plan, column, records + i * plan_value_bytes(plan), some, elements);
        cpu_keys_widen(&column->element, elements, some, keys + i);
    }
    for (size_t i = 0; column->width.units > 1 && i < n; i++)
        column_floor(&keys[i], column->width.units, column->element.is_signed);
    return are_valid;
}

/* Invalid floats of a block. Unless they are only counted, the first one ends the run. */
struct cpu_rows_reals {
    uint64_t position; /* position of the block's first record in the stream */
    size_t first;      /* index of the first record that ends the run; SIZE_MAX: none */
    struct failure failure;
};

/*
 * Returns whether the float of a column of a record is valid; if not, adds it to the invalid ones.
 * `index`: index of the record in its block.
 */
static bool cpu_rows_check_real(const struct plan *plan, const struct column *column,
                                const char *record, size_t index, struct cpu_rows_reals *reals)
{
    const struct element *element = &column->element;
    int64_t key;

    if (element->real == REAL_NONE)
        return true;
    const double value =
        real_load(element->real, element->is_real_swapped, record + column->offset);
    if (real_round(value, element->decimals, &key))
        return true;
    const uint64_t position = reals->position + index * plan_value_bytes(plan) + column->offset;
    struct failure failure;
    if (context_add_invalid_real(plan, value, position, &failure) != STATUS_OK &&
        (reals->first == SIZE_MAX || position < reals->failure.position)) {
        reals->first = index;
        reals->failure = failure;
    }
    return false;
}

/*
 * Keeps the indices in kept[0..count) of records with valid floats; with several value columns, at
 * least one must be valid, and the bits of the others go to lost[]. Returns the number kept.
 */
static size_t cpu_rows_check_reals(const struct cpu_rows *rows, const char *records, size_t count,
                                   uint16_t *kept, uint64_t *lost, struct cpu_rows_reals *reals)
{
    const struct plan *plan = rows->plan;
    const size_t values = plan->value_count;
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        const char *record = records + kept[i] * plan_value_bytes(plan);
        uint64_t invalid = 0;
        for (size_t c = 0; c < rows->stored; c++)
            invalid |=
                (uint64_t)!cpu_rows_check_real(plan, &plan->columns[c], record, kept[i], reals)
                << c;
        kept[left] = kept[i];
        if (lost)
            lost[left] = invalid;
        left += invalid >> values == 0 && (invalid == 0 || invalid != UINT64_MAX >> (64 - values));
    }
    return left;
}

/* Stores the indices of records that meet an alternative in kept[0..n). Returns their number. */
static size_t cpu_rows_select(struct cpu_rows *rows, const char *records, size_t n, uint16_t *kept,
                              struct cpu_rows_reals *reals)
{
    const struct plan *plan = rows->plan;
    const size_t first = plan_condition_column(plan);
    uint64_t *keys = rows->scratch;
    enum { OPEN, MET, INVALID }; /* the record meets no alternative yet, meets one, or is invalid */
    uint8_t states[CPU_ROWS_KEYS] = {OPEN};
    size_t left = 0;

    for (size_t c = 0; c <= plan->condition_count; c++) {
        const bool is_end = c == plan->condition_count;
        if (c == 0 || is_end || plan->conditions[c].is_alternative) {
            for (size_t i = 0; c > 0 && i < left; i++)
                states[kept[i]] = MET;
            left = 0;
            for (size_t i = 0; i < n; i++) {
                kept[left] = (uint16_t)i;
                left += states[i] == (is_end ? MET : OPEN);
            }
        }
        if (is_end)
            break;
        const struct column *column = &plan->columns[first + c];
        const bool are_valid = cpu_rows_gather_keys(plan, column, records, n, keys);
        const size_t before = left;
        left = 0;
        for (size_t i = 0; i < before; i++) {
            const uint16_t k = kept[i];
            const bool is_valid =
                are_valid ||
                cpu_rows_check_real(plan, column, records + k * plan_value_bytes(plan), k, reals);
            if (!is_valid)
                states[k] = INVALID;
            kept[left] = k;
            left += is_valid && predicate_holds(&plan->conditions[c], keys[k]);
        }
        context_note_met(plan, (uint64_t)(left > 0) << c);
    }
    return left;
}

/*
 * Gathers the columns of records[0..n), or of those with indices in kept[], after `held` rows.
 * Returns whether all floats are valid.
 */
static bool cpu_rows_gather_columns(struct cpu_rows *rows, const char *records, size_t n,
                                    const uint16_t *kept, size_t count, bool is_all, size_t held)
{
    const struct plan *plan = rows->plan;
    bool are_valid = true;

    for (size_t c = 0; c < rows->stored; c++) {
        const struct column *column = &plan->columns[c];
        const size_t width = plan_key_bytes(plan, c);
        char *to = (char *)rows->keys[c] + held * width;
        void *gathered = is_all ? (void *)to : rows->scratch;
        if (c < plan->value_count && column->element.real == REAL_NONE)
            cpu_rows_gather(plan, column, records, n, gathered);
        else
            are_valid &= cpu_rows_gather_keys(plan, column, records, n, gathered);
        for (size_t k = 0; !is_all && k < count; k++)
            memcpy(to + k * width, (char *)gathered + kept[k] * width, width);
    }
    return are_valid;
}

/* Gathers the rows of a chunk of records in blocks; for an ordered operation, in one block. */
static enum status cpu_rows_accumulate_records(struct cpu_rows *rows, void *local,
                                               const struct chunk *chunk, struct failure *failure)
{
    const struct plan *plan = rows->plan;
    const size_t record_bytes = plan_value_bytes(plan);
    const size_t all = chunk->bytes / record_bytes;
    const size_t block = rows->capacity < CPU_ROWS_KEYS ? rows->capacity : CPU_ROWS_KEYS;
    const bool is_ordered = rows->store->stop; /* all rows fit */
    struct chunk made = *chunk;
    uint16_t kept[CPU_ROWS_KEYS];
    size_t held = 0; /* rows that are not accumulated yet */

    made.is_gathered = true;
    for (size_t i = 0, n; i < all; i += n) {
        const char *from = (const char *)chunk->data + i * record_bytes;
        n = all - i < block ? all - i : block;
        struct cpu_rows_reals reals = {
            .position = chunk->position + i * record_bytes,
            .first = SIZE_MAX,
        };
        for (size_t k = 0; k < n && rows->has_reals; k++)
            kept[k] = (uint16_t)k;
        size_t count = plan->condition_count > 0 ? cpu_rows_select(rows, from, n, kept, &reals) : n;
        bool is_all = count == n;
        if (rows->nulls)
            memset(rows->nulls + held, 0, count * sizeof *rows->nulls);
        if (!cpu_rows_gather_columns(rows, from, n, kept, count, is_all, held)) {
            count = cpu_rows_check_reals(rows, from, count, kept,
                                         rows->nulls ? rows->nulls + held : NULL, &reals);
            is_all = false;
            cpu_rows_gather_columns(rows, from, n, kept, count, is_all, held);
        }
        while (count > 0 && reals.first != SIZE_MAX && kept[count - 1] >= reals.first)
            count--;
        const uint64_t *weights =
            plan->has_weights ? rows->keys[plan_weight_column(plan)] + held : NULL;
        size_t good = weights ? 0 : count; /* number of rows before the first invalid weight */
        while (good < count && weights[good] <= INT64_MAX)
            good++;
        held += good;
        const bool is_wrong = good < count || reals.first != SIZE_MAX; /* the run ends */
        const bool is_last = is_wrong || i + n == all;
        if (!is_last && (is_ordered || held == 0))
            continue;
        made.position = chunk->position + i * record_bytes;
        made.indices = is_all ? NULL : kept;
        made.is_cut = is_wrong || (chunk->is_cut && is_last);
        if (cpu_rows_accumulate_block(rows, local, &made, held, failure) != STATUS_OK)
            return failure->status;
        held = 0;
        if (good < count) {
            const struct column *column = &plan->columns[plan_weight_column(plan)];
            const uint64_t position =
                made.position + (is_all ? good : kept[good]) * record_bytes + column->offset;
            char weight[DECIMAL_SIZE];
            char limit[DECIMAL_SIZE];
            const unsigned decimals = column->element.decimals;
            decimal_format_fixed(weight, element_value(&column->element, weights[good]), decimals);
            decimal_format_fixed(limit, INT64_MAX, decimals);
            return status_fail_at(failure, position, STATUS_DATA,
                                  "weight %s at byte %llu of the input is not from 0 to %s", weight,
                                  (unsigned long long)position, decimals > 0 ? limit : "2^63 - 1");
        }
        if (is_wrong) {
            *failure = reals.failure;
            return failure->status;
        }
    }
    return STATUS_OK;
}

enum status cpu_rows_accumulate(struct cpu_rows *rows, void *local, const struct chunk *chunk,
                                struct failure *failure)
{
    const struct plan *plan = rows->plan;
    const size_t all = plan->is_text ? chunk->bytes / 2 + 1 : chunk->bytes / plan_value_bytes(plan);

    /* An ordered operation accumulates all values of a chunk at once. */
    if (rows->store->stop && all > rows->capacity && !cpu_rows_reserve(rows, all))
        return status_fail(failure, STATUS_DATA, "not enough memory for the values of a chunk");
    return plan->is_text ? cpu_rows_accumulate_text(rows, local, chunk, failure)
                         : cpu_rows_accumulate_records(rows, local, chunk, failure);
}
