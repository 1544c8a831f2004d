/* detect.c - finds out inside a process which MPI it has, if any, and begins it
 * again with the interposer for that one.
 *
 * This library is loaded into whatever `eventspace mpi` starts: a program, or a
 * script and all that it starts. A process without MPI is left alone. In one
 * that has it, before any line of its own has run, the process becomes itself
 * again, with the same arguments, and the interposer loaded first. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/record/environment.h"

#define NAME_BYTES 4096

extern char **environ;

/* What only one of them has. */
static const char *library_name(void)
{
    if (!dlsym(RTLD_DEFAULT, "PMPI_Init"))
        return NULL;
    if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world"))
        return "libeventspace_openmpi.so";
    if (dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_IN_PLACE") ||
        dlsym(RTLD_DEFAULT, "MPII_Comm_get_attr"))
        return "libeventspace_mpich.so";
    return "";
}

/* LD_PRELOAD with the interposer in the place of this library. */
static bool preload_change(const char *directory, const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    char all[2 * NAME_BYTES];
    const char *own = before ? strstr(before, EVENTSPACE_MPI_DETECT) : NULL;
    const char *begin = own, *behind;
    int length;

    if (!own)
        return false;
    while (begin > before && begin[-1] != ':' && begin[-1] != ' ')
        begin--;
    behind = own + strlen(EVENTSPACE_MPI_DETECT);
    length = snprintf(all, sizeof(all), "%.*s%s/%s%s", (int)(begin - before),
                      before, directory, library, behind);
    return length > 0 && (size_t)length < sizeof(all) &&
           setenv("LD_PRELOAD", all, 1) == 0;
}

static void begin_again(char **argv)
{
    char self[NAME_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return;
    self[length] = 0;
    execve(self, argv, environ);
    execve("/proc/self/exe", argv, environ);
}

static void warn(const char *what, const char *why)
{
    fprintf(stderr, "eventspace: %s is not recorded: %s\n", what, why);
}

__attribute__((constructor)) static void detect(int argc, char **argv)
{
    const char *directory = getenv(EVENTSPACE_MPI_LIBRARIES);
    const char *library = library_name();
    char file[2 * NAME_BYTES];

    if (!directory || !library || !getenv(EVENTSPACE_MPI_RUN) || argc < 1)
        return;
    if (!*library) {
        warn(argv[0], "its MPI is neither Open MPI nor MPICH");
        return;
    }
    snprintf(file, sizeof(file), "%s/%s", directory, library);
    if (access(file, R_OK) != 0) {
        warn(argv[0], strerror(errno));
        warn(file, "it was not built; is that MPI's development package "
                   "installed?");
        return;
    }
    if (preload_change(directory, library))
        begin_again(argv);
    warn(argv[0], "it cannot be begun again with the interposer loaded");
}
