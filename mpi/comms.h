/* comms.h - what a communicator is, for comms.c and ends.c. */
#ifndef MPI_COMMS_H
#define MPI_COMMS_H

#include <pthread.h>

#include "mpi/interpose.h"

#define MPI__KEY 160
#define MPI__NAME 128

/* Something that is defined once in this process, and has a name. */
typedef struct mpi_defined {
    struct mpi_defined *next;
    uint64_t what;   /* kind, call, peer */
    uint32_t poster; /* as in mpi_place_key */
    uint32_t upper, channel;
    bool is_there;
    _Atomic uint32_t rounds; /* how often the process came to it */
} mpi_defined;

struct mpi_comm {
    mpi_comm *next;
    uint64_t handle;      /* 0: it was freed */
    char key[MPI__KEY];   /* "": none that others know */
    char alike[MPI__KEY]; /* the key of those made before; "": there can be none
                           */
    char name[MPI__NAME];
    bool is_named; /* made by its members only */
    bool is_asked; /* from here on */
    bool is_inter;
    bool is_sorted;  /* ranks are in the order of MPI_COMM_WORLD */
    uint32_t number; /* of its key; 0: it has none */
    uint32_t children;
    uint32_t definition;         /* MPI__NONE */
    uint32_t first;              /* the first member's rank in MPI_COMM_WORLD */
    int size;                    /* of the group that is communicated with */
    uint32_t *world;             /* ranks in MPI_COMM_WORLD */
    uint32_t posted[MPI__GROUP]; /* of a window: to whom it is open */
    int posted_count;
    mpi_defined *ends;
};

/* Of all communicators. */
extern pthread_mutex_t mpi__comms_lock;

#endif
