/* Implements nearest.h with three rows of the table of distances. */
#include "config.h"

#include "lib/nearest.h"

#include <ctype.h>
#include <stdint.h>

/* Maximum length of words that are compared. */
#define NEAREST_WORD_MAX 63

struct nearest nearest_begin(const char *typed, size_t length)
{
    return (struct nearest){.typed = typed,
                            .length = length,
                            .distance = length < 2   ? 1
                                        : length < 5 ? 2
                                                     : 3};
}

void nearest_try(struct nearest *search, const char *word, size_t length)
{
    unsigned rows[3][NEAREST_WORD_MAX + 1]; /* row i % 3: for the first i letters typed */
    const size_t n = search->length;
    const size_t m = length;
    char typed[NEAREST_WORD_MAX];
    char other[NEAREST_WORD_MAX];

    if (n > NEAREST_WORD_MAX || m > NEAREST_WORD_MAX)
        return;
    for (size_t i = 0; i < n; i++)
        typed[i] = (char)tolower((unsigned char)search->typed[i]);
    for (size_t j = 0; j < m; j++)
        other[j] = (char)tolower((unsigned char)word[j]);
    for (size_t i = 0; i <= n; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *last = rows[(i + 2) % 3];
        const unsigned *before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = row[j - 1] + 1;
            if (i == 0)
                continue;
            unsigned changes[] = {last[j] + 1, last[j - 1] + (typed[i - 1] != other[j - 1]),
                                  UINT32_MAX};
            if (i > 1 && j > 1 && typed[i - 1] == other[j - 2] && typed[i - 2] == other[j - 1])
                changes[2] = before[j - 2] + 1;
            for (size_t k = 0; k < 3; k++)
                row[j] = changes[k] < row[j] ? changes[k] : row[j];
        }
    }
    if (rows[n % 3][m] < search->distance) {
        search->distance = rows[n % 3][m];
        search->word = word;
        search->word_length = length;
    }
}
