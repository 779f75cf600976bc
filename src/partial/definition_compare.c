/*
 * Compares definitions, and says how they differ in words of the command line. What the keys of
 * each operation mean is said where it is defined: in <operation>_state.c.
 */
#include "config.h"

#include "partial/definition.h"

#include <stdio.h>
#include <string.h>

/* Room for what an option says; a longer value is cut. */
#define DEFINITION_WORDS_SIZE 160

/* The parts of a definition before the predicates. */
#define DEFINITION_OPTIONS 7

/* Writes `option` and the value of the key; nothing if the definition has no such line. */
static void definition_word_option(const struct definition *definition, const char *key,
                                   const char *option, char words[DEFINITION_WORDS_SIZE])
{
    size_t length = 0;
    const char *value = definition_find(definition, key, NULL, &length);

    words[0] = '\0';
    if (value)
        snprintf(words, DEFINITION_WORDS_SIZE, "%s%.*s", option, (int)length, value);
}

/* Whether it is the operation uniq: bins of width 1 over all values. */
static bool definition_is_uniq(const struct definition *definition)
{
    char operation[32] = "";
    char width[32] = "";

    definition_get(definition, "operation", operation, sizeof operation);
    definition_get(definition, "width", width, sizeof width);
    return strcmp(operation, "uniq") == 0 && strcmp(width, "1") == 0;
}

/*
 * The operation. All operations with bins are called histogram, and their bins are compared later;
 * but uniq is called uniq if `with_uniq`.
 */
static void definition_word_operation(const struct definition *definition, bool with_uniq,
                                      char words[DEFINITION_WORDS_SIZE])
{
    definition_word_option(definition, "operation", "", words);
    if (strcmp(words, "groups") == 0)
        definition_word_option(definition, "of", "--by, of ", words);
    else if (strcmp(words, "reduce") != 0 && strcmp(words, "count") != 0)
        strcpy(words, with_uniq && definition_is_uniq(definition) ? "uniq" : "histogram");
}

/* The option that defines the bins, with --range where it has one; or uniq. */
static void definition_word_bins(const struct definition *definition,
                                 char words[DEFINITION_WORDS_SIZE])
{
    char bins[32] = "";
    char width[32] = "";
    char range[80] = "";
    char other[32] = "";
    bool has_width = definition_get(definition, "width", width, sizeof width);

    definition_get(definition, "bins", bins, sizeof bins);
    definition_get(definition, "range", range, sizeof range);
    words[0] = '\0';
    if (definition_get(definition, "powers", other, sizeof other))
        snprintf(words, DEFINITION_WORDS_SIZE, "--log%s", other);
    else if (definition_get(definition, "edges", other, sizeof other))
        snprintf(words, DEFINITION_WORDS_SIZE, "--edges of %s bins (%s)", bins, other);
    else if (strncmp(range, "0:", 2) == 0 && strcmp(range + 2, bins) == 0)
        snprintf(words, DEFINITION_WORDS_SIZE, "--bins %s", bins);
    else if (*range && (!has_width || strcmp(width, "1") == 0))
        snprintf(words, DEFINITION_WORDS_SIZE, "--bins %s --range %s", bins, range);
    else if (*range)
        snprintf(words, DEFINITION_WORDS_SIZE, "--width %s --range %s", width, range);
    else if (has_width)
        snprintf(words, DEFINITION_WORDS_SIZE, "--width %s", width);
    if (strcmp(width, "automatic") == 0)
        strcpy(words, "automatic bins");
    else if (definition_is_uniq(definition))
        strcpy(words, "uniq");
}

/* The type, "i64" or "i64 with 3 decimals". */
static void definition_word_type(const struct definition *definition,
                                 char words[DEFINITION_WORDS_SIZE])
{
    char type[64] = "";

    definition_get(definition, "type", type, sizeof type);
    const int name = (int)strcspn(type, " ");
    const char *decimals = type + name + strspn(type + name, " with");
    snprintf(words, DEFINITION_WORDS_SIZE, "--type %.*s%s%.*s", name, type,
             *decimals ? " --decimals " : "", (int)strcspn(decimals, " "), decimals);
}

/* Predicate i of a count: NAME TAB TEXT TAB MEANING. Only the meaning of a list is shown. */
static void definition_word_predicate(const struct definition *definition, unsigned i,
                                      char words[DEFINITION_WORDS_SIZE])
{
    size_t length = 0;
    const char *value = definition_find(definition, "predicate", NULL, &length);

    words[0] = '\0';
    while (value && i-- > 0)
        value = definition_find(definition, "predicate", value, &length);
    if (!value)
        return;
    int name = (int)strcspn(value, "\t");
    const char *text = value + name + 1;
    int text_length = (int)strcspn(text, "\t");
    const char *meaning = text + text_length + 1;
    int meaning_length = (int)(value + length - meaning);
    bool is_list = memmem(meaning, (size_t)meaning_length, " values", 7) != NULL;
    snprintf(words, DEFINITION_WORDS_SIZE, "--%.*s%s%.*s%s%s%.*s%s", name, value,
             text_length > 0 ? " " : "", text_length < 30 ? text_length : 30, text,
             text_length > 30 ? "..." : "", is_list ? " (" : "", is_list ? meaning_length : 0,
             meaning, is_list ? ")" : "");
}

/* Writes part i of a definition as words; "" if it has no such part. */
static void definition_word(const struct definition *definition, unsigned i,
                            char words[DEFINITION_WORDS_SIZE])
{
    switch (i) {
    case 0:
        definition_word_operation(definition, false, words);
        break;
    case 1:
        definition_word_type(definition, words);
        break;
    case 2:
        definition_word_bins(definition, words);
        break;
    case 3:
        definition_word_option(definition, "outside", "--outside ", words);
        break;
    case 4:
        definition_word_option(definition, "sums", "--", words);
        break;
    case 5:
        definition_word_option(definition, "reductions", "reduce ", words);
        break;
    case 6:
        definition_word_option(definition, "by", "--by ", words);
        break;
    default:
        definition_word_predicate(definition, i - DEFINITION_OPTIONS, words);
    }
}

bool definition_compare(const struct definition *a, const struct definition *b,
                        char difference[DEFINITION_DIFFERENCE_SIZE])
{
    char words[DEFINITION_WORDS_SIZE];
    char others[DEFINITION_WORDS_SIZE];
    unsigned i = 0;

    if (a->length == b->length && memcmp(a->text, b->text, a->length) == 0)
        return true;
    do {
        definition_word(a, i, words);
        definition_word(b, i, others);
    } while (strcmp(words, others) == 0 && (i++ < DEFINITION_OPTIONS || *words));
    if (i == 0) {
        definition_word_operation(a, true, words);
        definition_word_operation(b, true, others);
    }
    if (!*others && !*words) /* long lists, cut where they are equal */
        snprintf(difference, DEFINITION_DIFFERENCE_SIZE, "other predicates, not the same");
    else if (!*others)
        snprintf(difference, DEFINITION_DIFFERENCE_SIZE, "no %s", words);
    else if (!*words)
        snprintf(difference, DEFINITION_DIFFERENCE_SIZE, "also %s, not", others);
    else
        snprintf(difference, DEFINITION_DIFFERENCE_SIZE, "%s, not %s", others, words);
    return false;
}
