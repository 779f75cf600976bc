/* Implements accumulator.h: the table of accumulators, and rows of them. */
#include "config.h"

#include "aggregate/accumulator.h"

#include "lib/wide.h"

#include <stdlib.h>
#include <string.h>

#define ACCUMULATOR_INLINE static inline __attribute__((always_inline))

struct accumulator {
    size_t words;
    uint64_t initial; /* the first word without values */
    bool is_ordered;  /* `initial` is XORed with the sign bias */
    /* Adds the value of keys[i], counts[i] times, to rows[i]; counts NULL: once each. */
    void (*add)(const struct accumulator_use *use, uint64_t *const *rows, const uint64_t *keys,
                const uint64_t *counts, size_t n);
    /* Adds the words `from` to the words `into`. */
    void (*merge)(uint64_t sign_bias, uint64_t *into, const uint64_t *from);
    /* Returns whether some values can produce its words in a row. */
    bool (*check)(const struct accumulators *rows, const struct accumulator_use *use,
                  const uint64_t *row);
};

/* accumulator_value_NAME: the words of a value that occurs `count` times. */

ACCUMULATOR_INLINE void accumulator_value_sum(const struct accumulator_use *use, uint64_t key,
                                              uint64_t count, uint64_t *words)
{
    const __int128 value = use->sign_bias != 0 ? (__int128)(int64_t)key : (__int128)key;
    const unsigned __int128 sum = (unsigned __int128)value * count;

    words[0] = (uint64_t)sum;
    words[1] = (uint64_t)(sum >> 64);
}

ACCUMULATOR_INLINE void accumulator_value_squares(const struct accumulator_use *use, uint64_t key,
                                                  uint64_t count, uint64_t *words)
{
    const uint64_t magnitude = use->sign_bias != 0 && (int64_t)key < 0 ? -key : key;
    const unsigned __int128 square = (unsigned __int128)magnitude * magnitude;
    const unsigned __int128 low = (unsigned __int128)(uint64_t)square * count;
    const unsigned __int128 high = (square >> 64) * count + (low >> 64);

    words[0] = (uint64_t)low;
    words[1] = (uint64_t)high;
    words[2] = (uint64_t)(high >> 64);
}

ACCUMULATOR_INLINE void accumulator_value_key(const struct accumulator_use *use, uint64_t key,
                                              uint64_t count, uint64_t *words)
{
    (void)use;
    (void)count;
    *words = key;
}

ACCUMULATOR_INLINE void accumulator_value_odd_key(const struct accumulator_use *use, uint64_t key,
                                                  uint64_t count, uint64_t *words)
{
    (void)use;
    *words = count % 2 == 1 ? key : 0;
}

ACCUMULATOR_INLINE void accumulator_value_hits(const struct accumulator_use *use, uint64_t key,
                                               uint64_t count, uint64_t *words)
{
    *words = predicate_contains(use->predicate, key) ? count : 0;
}

/* accumulator_merge_NAME: merges words; for accumulators of one word, from a and b. */

static inline void accumulator_merge_sum(uint64_t sign_bias, uint64_t *into, const uint64_t *from)
{
    (void)sign_bias;
    into[0] += from[0];
    into[1] += from[1] + (into[0] < from[0]);
}

static inline void accumulator_merge_squares(uint64_t sign_bias, uint64_t *into,
                                             const uint64_t *from)
{
    const unsigned __int128 more = (unsigned __int128)from[1] << 64 | from[0];
    const unsigned __int128 sum = ((unsigned __int128)into[1] << 64 | into[0]) + more;
    (void)sign_bias;

    into[0] = (uint64_t)sum;
    into[1] = (uint64_t)(sum >> 64);
    into[2] += from[2] + (sum < more);
}

#define ACCUMULATOR_DEFINE_MERGE(name, result)                                      \
    static inline void accumulator_merge_##name(uint64_t sign_bias, uint64_t *into, \
                                                const uint64_t *from)               \
    {                                                                               \
        const uint64_t a = *into;                                                   \
        const uint64_t b = *from;                                                   \
        (void)sign_bias;                                                            \
        *into = result;                                                             \
    }
ACCUMULATOR_DEFINE_MERGE(min, (b ^ sign_bias) < (a ^ sign_bias) ? b : a)
ACCUMULATOR_DEFINE_MERGE(max, (b ^ sign_bias) > (a ^ sign_bias) ? b : a)
ACCUMULATOR_DEFINE_MERGE(and, a &b)
ACCUMULATOR_DEFINE_MERGE(or, a | b)
ACCUMULATOR_DEFINE_MERGE(xor, a ^ b)
ACCUMULATOR_DEFINE_MERGE(hits, a + b)

/* The loops over values, each with its own row. */
#define ACCUMULATOR_DEFINE_ADD(id, name, n, value, ...)                                          \
    static void accumulator_add_##name(const struct accumulator_use *use, uint64_t *const *rows, \
                                       const uint64_t *keys, const uint64_t *counts,             \
                                       size_t values)                                            \
    {                                                                                            \
        const struct accumulator_use own = *use; /* a copy: rows cannot alias it */              \
        uint64_t words[n];                                                                       \
        for (size_t i = 0; i < values && !counts; i++) {                                         \
            accumulator_value_##value(&own, keys[i], 1, words);                                  \
            accumulator_merge_##name(own.sign_bias, rows[i] + own.word, words);                  \
        }                                                                                        \
        for (size_t i = 0; i < values && counts; i++) {                                          \
            accumulator_value_##value(&own, keys[i], counts[i], words);                          \
            accumulator_merge_##name(own.sign_bias, rows[i] + own.word, words);                  \
        }                                                                                        \
    }
ACCUMULATORS(ACCUMULATOR_DEFINE_ADD)

/* Returns whether values between the minimum and the maximum can have this sum. */
static bool accumulator_check_sum(const struct accumulators *rows,
                                  const struct accumulator_use *use, const uint64_t *row)
{
    const struct element *element = &rows->plan->element;
    const uint64_t count = row[rows->count];
    const size_t *word_of = rows->word_of;
    const __int128 min = word_of[ACCUMULATOR_MIN] > 0
                             ? element_value(element, row[word_of[ACCUMULATOR_MIN]])
                             : element_min(element);
    const __int128 max = word_of[ACCUMULATOR_MAX] > 0
                             ? element_value(element, row[word_of[ACCUMULATOR_MAX]])
                             : element_limit(element) - 1;
    const unsigned __int128 sum = (unsigned __int128)row[use->word + 1] << 64 | row[use->word];

    if (!element->is_signed)
        return sum >= (unsigned __int128)min * count && sum <= (unsigned __int128)max * count;
    return (__int128)sum >= min * (__int128)count && (__int128)sum <= max * (__int128)count;
}

/*
 * Returns whether this sum of squares is possible: at least that of equal values, at most that of
 * extreme ones. No reduction needs it without the sum.
 */
static bool accumulator_check_squares(const struct accumulators *rows,
                                      const struct accumulator_use *use, const uint64_t *row)
{
    const struct element *element = &rows->plan->element;
    const uint64_t *words = accumulators_words(rows, row, ACCUMULATOR_SUM);
    const unsigned __int128 total = (unsigned __int128)words[1] << 64 | words[0];
    const bool is_negative = element->is_signed && (__int128)total < 0;
    const uint64_t extreme = element->is_signed ? (uint64_t)-element_min(element)
                                                : (uint64_t)(element_limit(element) - 1);
    const struct wide squares = {{row[use->word], row[use->word + 1], row[use->word + 2]}};
    const struct wide sum = wide_from(is_negative ? -total : total);
    const struct wide count = wide_from(row[rows->count]);
    const struct wide min = wide_multiply(&sum, &sum);
    const struct wide scaled = wide_multiply(&count, &squares);
    struct wide max = count;

    wide_scale(&max, extreme);
    wide_scale(&max, extreme);
    return wide_compare(&scaled, &min) >= 0 && wide_compare(&squares, &max) <= 0;
}

/* Returns true if the word is the key of a value. */
static bool accumulator_check_key(const struct accumulators *rows,
                                  const struct accumulator_use *use, const uint64_t *row)
{
    const struct element *element = &rows->plan->element;
    const __int128 value = element_value(element, row[use->word]);

    return value >= element_min(element) && value < element_limit(element);
}

/* Returns true if the word is the key of a value that is not below the minimum. */
static bool accumulator_check_max(const struct accumulators *rows,
                                  const struct accumulator_use *use, const uint64_t *row)
{
    const size_t min = rows->word_of[ACCUMULATOR_MIN];

    return accumulator_check_key(rows, use, row) &&
           (min == 0 || (row[min] ^ use->sign_bias) <= (row[use->word] ^ use->sign_bias));
}

static bool accumulator_check_hits(const struct accumulators *rows,
                                   const struct accumulator_use *use, const uint64_t *row)
{
    return row[use->word] <= row[rows->count];
}

#define ACCUMULATOR_ROW(id, name, n, value, start, is_order, check_by) \
    [ACCUMULATOR_##id] = {                                             \
        .words = (n),                                                  \
        .initial = (start),                                            \
        .is_ordered = (is_order),                                      \
        .add = accumulator_add_##name,                                 \
        .merge = accumulator_merge_##name,                             \
        .check = accumulator_check_##check_by,                         \
    },
static const struct accumulator accumulator_rows[ACCUMULATOR_IDS] = {ACCUMULATORS(ACCUMULATOR_ROW)};

_Static_assert(1 << ACCUMULATOR_SUM == REDUCTIONS_NEED_SUM &&
                   1 << ACCUMULATOR_XOR == REDUCTIONS_NEED_XOR &&
                   ACCUMULATOR_XOR < ACCUMULATOR_HITS,
               "accumulators are in the order of needs");

/* Adds an accumulator to the rows. */
static void accumulators_append(struct accumulators *rows, enum accumulator_id id,
                                const struct predicate *predicate)
{
    const struct element *element = &rows->plan->element;
    struct accumulator_use *use = &rows->use[rows->uses++];

    *use = (struct accumulator_use){
        .id = id,
        .accumulator = &accumulator_rows[id],
        .predicate = predicate,
        .sign_bias = element_sign_bias(element),
        .word = rows->words,
    };
    rows->word_of[id] = use->word;
    rows->initial[use->word] =
        use->accumulator->initial ^ (use->accumulator->is_ordered ? use->sign_bias : 0);
    rows->words += use->accumulator->words;
}

struct accumulators *accumulators_create(const struct plan *plan, size_t key_words, unsigned needs)
{
    const size_t uses = ACCUMULATOR_HITS + plan->predicate_count;
    const size_t words = key_words + 1 + ACCUMULATOR_WORDS_ALL + plan->predicate_count;
    struct accumulators *rows =
        calloc(1, sizeof *rows + uses * sizeof *rows->use + words * sizeof *rows->initial);
    if (!rows)
        return NULL;

    rows->plan = plan;
    rows->block = accumulator_block_of(plan->element.type);
    rows->count = key_words;
    rows->first = rows->words = key_words + 1;
    rows->initial = (uint64_t *)(rows->use + uses);
    for (enum accumulator_id id = 0; id < ACCUMULATOR_HITS; id++) {
        if (needs & 1u << id)
            accumulators_append(rows, id, NULL);
    }
    for (size_t i = 0; i < plan->predicate_count; i++)
        accumulators_append(rows, ACCUMULATOR_HITS, &plan->predicates[i]);
    return rows;
}

void accumulators_add_values(const void *accumulators, uint64_t *const *rows, const uint64_t *keys,
                             size_t n)
{
    const struct accumulators *self = accumulators;

    for (const struct accumulator_use *use = self->use; use < self->use + self->uses; use++)
        use->accumulator->add(use, rows, keys, NULL, n);
}

void accumulators_add_counts(const struct accumulators *self, uint64_t *row, const uint64_t *keys,
                             const uint64_t *counts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        row[self->count] += counts[i];
        for (const struct accumulator_use *use = self->use; use < self->use + self->uses; use++)
            use->accumulator->add(use, &row, &keys[i], &counts[i], 1);
    }
}

void accumulators_add_block(const struct accumulators *self, uint64_t *row, const void *elements,
                            size_t count)
{
    uint64_t words[ACCUMULATOR_WORDS_MAX];

    row[self->count] += count;
    for (const struct accumulator_use *use = self->use; use < self->use + self->uses; use++) {
        self->block(use, elements, count, words);
        use->accumulator->merge(use->sign_bias, row + use->word, words);
    }
}

bool accumulators_merge(const void *accumulators, uint64_t *into, const uint64_t *from)
{
    const struct accumulators *self = accumulators;

    into[self->count] += from[self->count];
    for (const struct accumulator_use *use = self->use; use < self->use + self->uses; use++)
        use->accumulator->merge(use->sign_bias, into + use->word, from + use->word);
    return true;
}

void accumulators_select(const struct accumulators *self, uint64_t *row, const uint64_t *words)
{
    for (enum accumulator_id id = 0; id < ACCUMULATOR_HITS; id++) {
        if (self->word_of[id] > 0)
            memcpy(row + self->word_of[id], words, accumulator_rows[id].words * sizeof *words);
        words += accumulator_rows[id].words;
    }
}

bool accumulators_check(const struct accumulators *self, const uint64_t *row)
{
    const size_t bytes = (self->words - self->first) * sizeof *row;
    bool is_valid = true;

    if (row[self->count] == 0)
        return memcmp(row + self->first, self->initial + self->first, bytes) == 0;
    for (const struct accumulator_use *use = self->use; use < self->use + self->uses; use++)
        is_valid = is_valid && use->accumulator->check(self, use, row);
    return is_valid;
}
