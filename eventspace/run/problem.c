/* problem.c - what is wrong with a process's files. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/run/run_internal.h"

void eventspace__problem_note(eventspace_run_process *process,
                              const char *format, ...)
{
    size_t used = strlen(process->problem);
    const char *between = used ? "; " : "";
    char text[sizeof(process->problem)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (strstr(process->problem, text)) /* said before */
        return;
    snprintf(process->problem + used, sizeof(process->problem) - used, "%s%.*s",
             between, (int)(sizeof(process->problem) - 1), text);
}
