/* Implements suggestion.h by dynamic programming over three rows of the table of distances. */
#include "config.h"

#include "app/suggestion.h"

#include <stdbool.h>
#include <string.h>

/* No longer words are compared. */
#define SUGGESTION_LETTERS_MAX 31

static unsigned suggestion_least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static char suggestion_lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

/* Whether a typed letter is that of a word, which has no capitals. */
static bool suggestion_is(char typed, char letter)
{
    return suggestion_lower(typed) == letter;
}

/*
 * The distance of what was typed, a[0..n), and a word b[0..m). Both lengths are at most
 * SUGGESTION_LETTERS_MAX.
 */
static unsigned suggestion_measure(const char *a, size_t n, const char *b, size_t m)
{
    unsigned rows[3][SUGGESTION_LETTERS_MAX + 1]; /* row i % 3: of the first i letters of a */

    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *last = rows[(i - 1) % 3];
        const unsigned *before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = suggestion_least(last[j], row[j - 1]) + 1;
            row[j] = suggestion_least(row[j], last[j - 1] + !suggestion_is(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && suggestion_is(a[i - 1], b[j - 2]) &&
                suggestion_is(a[i - 2], b[j - 1]))
                row[j] = suggestion_least(row[j], before[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void suggestion_begin(struct suggestion *suggestion, const char *typed, size_t length)
{
    *suggestion = (struct suggestion){
        .typed = typed,
        .length = length,
        .distance = length < 2   ? 0
                    : length < 5 ? 2
                                 : 3,
    };
}

void suggestion_consider(struct suggestion *suggestion, const char *word)
{
    size_t length = strlen(word);

    if (length > SUGGESTION_LETTERS_MAX || suggestion->length > SUGGESTION_LETTERS_MAX)
        return;
    unsigned distance = suggestion_measure(suggestion->typed, suggestion->length, word, length);
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->word = word;
    }
}
