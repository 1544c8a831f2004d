/* profiler_notes.c - what is to be said beside a profile. */
#include "measure/profiler/profiler_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"

void measure__note(measure__making *m, const char *format, ...)
{
    measure_profile_notes *notes = m->notes;
    char text[1200];
    va_list list;
    char **grown =
        pastset_array_grow(notes->texts, notes->text_count, sizeof(*grown));
    if (!grown)
        return;
    notes->texts = grown;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    grown[notes->text_count] = strdup(text);
    notes->text_count += grown[notes->text_count] != NULL;
}

void measure_profile_notes_clear(measure_profile_notes *notes)
{
    for (size_t i = 0; i < notes->text_count; i++)
        free(notes->texts[i]);
    free(notes->texts);
    *notes = (measure_profile_notes){0};
}
