/* source.h - where in the program's source a call stands. */
#ifndef MPI_SOURCE_H
#define MPI_SOURCE_H

#include <stdint.h>

typedef struct mpi_source {
    char text[256];     /* "solve.c:12", or "app+0x1f3" without debugging
                           information; "": not known */
    char file[512];     /* "": not known */
    char function[256]; /* the same */
    uint32_t line;
} mpi_source;

/* Of the address to which a call returns. */
void mpi__source_of(mpi_source *out, uintptr_t from);

#endif
