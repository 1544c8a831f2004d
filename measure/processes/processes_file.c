/* processes_file.c - small files of /proc.
 *
 * A file of /proc that is kept open and read again costs a microsecond or two,
 * which is what a probe of each thread each 20 ms must not exceed by much. */
#include "measure/processes/processes_internal.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void measure__drop(measure_watch *w, int *fd)
{
    if (*fd < 0)
        return;
    close(*fd);
    *fd = -1;
    w->files_left++;
}

long measure__read(measure_watch *w, int *fd, char *text, size_t capacity,
                   const char *format, ...)
{
    char name[96];
    long got;
    text[0] = '\0';
    if (*fd < 0) {
        va_list list;
        va_start(list, format);
        vsnprintf(name, sizeof(name), format, list);
        va_end(list);
        *fd = open(name, O_RDONLY | O_CLOEXEC);
        if (*fd < 0)
            return -1;
        w->files_left--;
    }
    got = pread(*fd, text, capacity - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    if (got < 0 || w->files_left < 0)
        measure__drop(w, fd);
    return got;
}
