/*
 * Implements definition.h: a growing text of lines, looking up keys, and how two of them differ in
 * words of the command line. What the keys of each operation mean is said where it is defined: in
 * <operation>_state.c.
 */
#include "config.h"

#include "partial/definition.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFINITION_SIZE_MIN ((size_t)1024)

/* The size of what an option says; a longer value is cut. */
#define DEFINITION_WORDS_SIZE 160

/* The parts of a definition before the predicates. */
#define DEFINITION_OPTIONS 7

void definition_destroy(struct definition *definition)
{
    free(definition->text);
}

void definition_append(struct definition *definition, const char *text, size_t bytes)
{
    size_t size = definition->size > 0 ? definition->size : DEFINITION_SIZE_MIN;

    while (size - definition->length <= bytes)
        size *= 2;
    if (size != definition->size && !definition->is_lost) {
        char *grown = realloc(definition->text, size);
        definition->is_lost = !grown;
        definition->text = grown ? grown : definition->text;
        definition->size = grown ? size : definition->size;
    }
    if (definition->is_lost)
        return;
    memcpy(definition->text + definition->length, text, bytes);
    definition->length += bytes;
    definition->text[definition->length] = '\0';
}

void definition_print(struct definition *definition, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        definition->is_lost = true;
    else
        definition_append(definition, text, (size_t)length);
}

void definition_append_typed(struct definition *definition, const char *typed)
{
    for (const char *c = typed; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127 || *c == '\\')
            definition_print(definition, "\\%03o", (unsigned)(unsigned char)*c);
        else
            definition_append(definition, c, 1);
    }
}

char *definition_read_typed(const char *text, size_t length)
{
    char *typed = malloc(length + 1);
    char *out = typed;

    for (size_t i = 0; typed && i < length; i++) {
        bool is_code = text[i] == '\\' && length - i > 3;
        unsigned code = is_code
                            ? (unsigned)(text[i + 1] - '0') * 64 +
                                  (unsigned)(text[i + 2] - '0') * 8 + (unsigned)(text[i + 3] - '0')
                            : (unsigned char)text[i];
        *out++ = (char)code;
        i += is_code ? 3 : 0;
    }
    if (typed)
        *out = '\0';
    return typed;
}

const char *definition_find(const struct definition *definition, const char *key, const char *from,
                            size_t *length)
{
    const char *end = definition->text + definition->length;
    const char *line = from ? from : definition->text;
    size_t key_length = strlen(key);

    if (from) { /* `from` is within a line: start at the next one */
        line = memchr(from, '\n', (size_t)(end - from));
        line = line ? line + 1 : end;
    }
    while (line && line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        if ((size_t)(stop - line) > key_length && line[key_length] == '\t' &&
            memcmp(line, key, key_length) == 0) {
            *length = (size_t)(stop - line) - key_length - 1;
            return line + key_length + 1;
        }
        line = newline ? newline + 1 : end;
    }
    return NULL;
}

bool definition_get(const struct definition *definition, const char *key, char *value, size_t size)
{
    size_t length;
    const char *found = definition_find(definition, key, NULL, &length);

    if (!found || length >= size)
        return false;
    memcpy(value, found, length);
    value[length] = '\0';
    return true;
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

/* Writes `option` and the value of the key; nothing if the definition has no such line. */
static void definition_word_option(const struct definition *definition, const char *key,
                                   const char *option, char words[DEFINITION_WORDS_SIZE])
{
    size_t length = 0;
    const char *value = definition_find(definition, key, NULL, &length);

    if (value)
        snprintf(words, DEFINITION_WORDS_SIZE, "%s%.*s", option, (int)length, value);
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
    if (definition_is_uniq(definition))
        strcpy(words, "uniq");
    else if (strcmp(width, "automatic") == 0)
        strcpy(words, "automatic bins");
    else if (definition_get(definition, "powers", other, sizeof other))
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
}

/* Predicate i of a count: NAME TAB TEXT TAB MEANING. Only the meaning of a list is shown. */
static void definition_word_predicate(const struct definition *definition, unsigned i,
                                      char words[DEFINITION_WORDS_SIZE])
{
    size_t length = 0;
    const char *value = definition_find(definition, "predicate", NULL, &length);

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
static void definition_word(const struct definition *definition, unsigned i, bool with_uniq,
                            char words[DEFINITION_WORDS_SIZE])
{
    char type[64] = "";
    unsigned decimals = 0;

    words[0] = '\0';
    switch (i) {
    case 0: /* all operations with bins are histograms, and their bins are compared later */
        definition_word_option(definition, "operation", "", words);
        if (strcmp(words, "groups") == 0)
            definition_word_option(definition, "of", "--by, of ", words);
        else if (strcmp(words, "reduce") != 0 && strcmp(words, "count") != 0)
            strcpy(words, with_uniq && definition_is_uniq(definition) ? "uniq" : "histogram");
        break;
    case 1: /* NAME, or NAME with N decimals */
        definition_get(definition, "type", type, sizeof type);
        sscanf(type, "%*s with %2u", &decimals);
        snprintf(words, DEFINITION_WORDS_SIZE, "--type %.*s", (int)strcspn(type, " "), type);
        if (decimals > 0)
            sprintf(words + strlen(words), " --decimals %u", decimals);
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
        definition_word(a, i, false, words);
        definition_word(b, i, false, others);
    } while (strcmp(words, others) == 0 && (i++ < DEFINITION_OPTIONS || *words));
    if (i == 0) {
        definition_word(a, 0, true, words);
        definition_word(b, 0, true, others);
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
