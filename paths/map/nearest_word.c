/* nearest_word.c - see nearest_word.h. */
#include "paths/map/nearest_word.h"

#include <string.h>

#define WORD_BYTES 32

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters are to be added, left out, changed or swapped with the next
 * to make one word of the other, as far as it matters. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_BYTES + 1], columns = strlen(b);

    if (strlen(a) > WORD_BYTES || columns > WORD_BYTES)
        return WORD_BYTES;
    for (size_t k = 0; k <= columns; k++)
        rows[0][k] = k;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= columns; k++) {
            row[k] = smaller(smaller(above[k], row[k - 1]) + 1,
                             above[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = smaller(row[k], before[k - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][columns];
}

#define NEAR 2 /* further away it is another word */

const char *paths_nearest_word(const char *word, const char *const *words,
                               size_t count)
{
    return paths_word_within(word, words, count, NEAR);
}

const char *paths_word_within(const char *word, const char *const *words,
                              size_t count, size_t most)
{
    const char *nearest = NULL;
    size_t min = most + 1;

    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, words[i]);
        if (d < min && d < strlen(words[i])) {
            min = d;
            nearest = words[i];
        }
    }
    return nearest;
}
