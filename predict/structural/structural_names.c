/* structural_names.c - words, sets, and where something is wrong. */
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/structural/structural_internal.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

const char *predict__structural_word(predict_structural *model,
                                     const char *text, size_t bytes)
{
    char *word = strndup(text, bytes);
    char **place = word ? tsearch(word, &model->words, by_text) : NULL;

    if (!place || *place != word)
        free(word);
    return place ? *place : NULL;
}

uint32_t predict__structural_set_find(const predict_structural *model,
                                      const char *name)
{
    for (uint32_t i = 0; i < model->set_count; i++)
        if (model->sets[i].name == name)
            return i;
    return PREDICT__NONE;
}

bool predict__structural_set_has(const predict__set *set, const char *member)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->members[i] == member)
            return true;
    return false;
}

int predict__structural_fail(const predict_structural *model, uint32_t source,
                             uint32_t line, int err, const char *format, ...)
{
    char text[600];
    va_list rest;

    va_start(rest, format);
    vsnprintf(text, sizeof(text), format, rest);
    va_end(rest);
    return pastset_fail(err, "%s:%u: %s", model->sources[source].name, line,
                        text);
}
