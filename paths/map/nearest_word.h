/* nearest_word.h - "did you mean": the word that somebody probably meant. */
#ifndef PATHS_NEAREST_WORD_H
#define PATHS_NEAREST_WORD_H

#include <stddef.h>

/* The one of `count` words that `word` was probably meant to be; NULL: none is
 * near. */
const char *paths_nearest_word(const char *word, const char *const *words,
                               size_t count);
/* The same, of those that differ by `most` letters at most. */
const char *paths_word_within(const char *word, const char *const *words,
                              size_t count, size_t most);

#endif
