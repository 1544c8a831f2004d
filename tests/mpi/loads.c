/* loads.c - a program that loads MPI when it runs, and is linked with none; for
 * loads_test.mjs.
 *
 *     loads LIBRARY HOW
 *
 * It finds functions of MPI in all that is loaded (HOW `any`), or in that
 * library only (`own`), and sends a message from rank 0 to rank 1. Or the
 * library is a module that is linked with MPI (`module`), and this file is
 * that, too (MODULE). It may also be linked with MPI after all (LINKED). */
#define OMPI_SKIP_MPICXX
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(MODULE) || defined(LINKED)
#define CALL(name) name
#define WORLD MPI_COMM_WORLD
#define INT MPI_INT
#else
#ifdef OPEN_MPI /* its handles are objects */
#define OBJECT(type, name) ((type)find(name))
#define WORLD OBJECT(MPI_Comm, "ompi_mpi_comm_world")
#define INT OBJECT(MPI_Datatype, "ompi_mpi_int")
#else
#define WORLD MPI_COMM_WORLD
#define INT MPI_INT
#endif
#define CALL(name) ((__typeof__(&name))find(#name))

static void *where;

static void *find(const char *name)
{
    void *found = dlsym(where, name);

    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

#endif

void talk(void);

void talk(void)
{
    int rank, what = 7;

    CALL(MPI_Init)(NULL, NULL);
    CALL(MPI_Comm_rank)(WORLD, &rank);
    if (rank == 0)
        CALL(MPI_Send)(&what, 1, INT, 1, 5, WORLD);
    else
        CALL(MPI_Recv)(&what, 1, INT, 0, 5, WORLD, MPI_STATUS_IGNORE);
    CALL(MPI_Finalize)();
    printf("%d has %d\n", rank, what);
}

#ifdef LINKED
int main(void)
{
    talk();
    return 0;
}
#elif !defined(MODULE)
int main(int argc, char **argv)
{
    bool is_module = argc > 2 && strcmp(argv[2], "module") == 0;
    void *library =
        dlopen(argv[1], RTLD_NOW | (is_module ? RTLD_LOCAL : RTLD_GLOBAL));

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    where = is_module || strcmp(argv[2], "own") == 0 ? library : RTLD_DEFAULT;
    if (is_module)
        ((void (*)(void))find("talk"))();
    else
        talk();
    return 0;
}
#endif
