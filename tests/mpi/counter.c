/* counter.c - counts the calls and messages of a program of MPI that it is
 * loaded into (LD_PRELOAD), and knows nothing of EventSpace but the parameters
 * of calls (mpi/calls.def); for foreign_test.mjs and twins_test.mjs.
 *
 * COUNTER_FOLDER/RANK.counts has a line for each name of a call ("call NAME
 * COUNT"), the bytes of collectives that have a buffer and a count ("bytes NAME
 * BYTES"), and for each peer in MPI_COMM_WORLD "sent PEER MESSAGES BYTES".
 * Counted is what one thread calls between MPI_Init and MPI_Finalize;
 * persistent requests are not. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* A pointer is no handle: such a call is not asked for one. */
#pragma GCC diagnostic ignored "-Wpointer-to-int-cast"
#pragma GCC diagnostic ignored "-Wint-to-pointer-cast"

enum { CALLS = 700, PEERS = 64 };

typedef struct counted {
    const char *name;
    long count, bytes;
} counted;

static counted calls[CALLS];
static struct {
    long messages, bytes;
} sent[PEERS];
static bool is_on;
static int depth; /* what MPI calls itself is not counted */

static counted *call_of(const char *name)
{
    int i = 0;

    while (calls[i].name && strcmp(calls[i].name, name) != 0)
        i++;
    calls[i].name = name;
    return &calls[i];
}

static long bytes_of(long count, MPI_Datatype type)
{
    int bytes = 0;

    PMPI_Type_size(type, &bytes);
    return count * bytes;
}

static int in_world(int peer, MPI_Comm comm)
{
    MPI_Group own, world;
    int is_inter, result;

    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        PMPI_Comm_remote_group(comm, &own);
    else
        PMPI_Comm_group(comm, &own);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(own, 1, &peer, world, &result);
    PMPI_Group_free(&own);
    PMPI_Group_free(&world);
    return result;
}

/* Whether the name is one of those between spaces. */
static int is_among(const char *name, const char *names)
{
    const char *at = strstr(names, name);
    size_t length = strlen(name);

    return at && at[-1] == ' ' && at[length] == ' ';
}

static void note(const char *name, int peer, long count, MPI_Datatype type,
                 MPI_Comm comm)
{
    counted *call = call_of(name);

    call->count++;
    if (is_among(name, " MPI_Bcast MPI_Reduce MPI_Allreduce "))
        call->bytes += bytes_of(count, type);
    if (peer == MPI_PROC_NULL ||
        !is_among(name, " MPI_Send MPI_Bsend MPI_Rsend MPI_Ssend MPI_Isend "
                        "MPI_Ibsend MPI_Irsend MPI_Issend MPI_Sendrecv "
                        "MPI_Sendrecv_replace "))
        return;
    peer = in_world(peer, comm);
    if (peer < 0 || peer >= PEERS)
        return;
    sent[peer].messages++;
    sent[peer].bytes += bytes_of(count, type);
}

/* What a call has no parameter for: in it, these are what it has not. */
static const int dest = MPI_PROC_NULL;
static const long count, sendcount = -1;
static const intptr_t datatype, sendtype, comm;

#define AS(type, value) ((type)(intptr_t)(value))
#define CALL(name, parameters, arguments, word, roles)                         \
    int name parameters                                                        \
    {                                                                          \
        int outcome;                                                           \
        bool has_both = AS(long, sendcount) >= 0;                              \
        if (depth++ == 0 && is_on)                                             \
            note(#name, dest,                                                  \
                 has_both ? AS(long, sendcount) : AS(long, count),             \
                 has_both ? AS(MPI_Datatype, sendtype)                         \
                          : AS(MPI_Datatype, datatype),                        \
                 AS(MPI_Comm, comm));                                          \
        outcome = P##name arguments;                                           \
        depth--;                                                               \
        return outcome;                                                        \
    }
#define OWN(name)
#define OLD(name)
#include "mpi/calls.def"

/* --- what the test of BLACS calls in Fortran --- */

#define FORTRAN(symbol, name, parameters, arguments, ...)                      \
    void p##symbol parameters;                                                 \
    void symbol parameters;                                                    \
    void symbol parameters                                                     \
    {                                                                          \
        if (depth++ == 0 && is_on)                                             \
            note(name, __VA_ARGS__);                                           \
        p##symbol arguments;                                                   \
        depth--;                                                               \
    }
#define NOBODY MPI_PROC_NULL, 0, MPI_DATATYPE_NULL, MPI_COMM_NULL

FORTRAN(mpi_comm_dup_, "MPI_Comm_dup", (int *a, int *b, int *error),
        (a, b, error), NOBODY)
FORTRAN(mpi_comm_rank_, "MPI_Comm_rank", (int *a, int *b, int *error),
        (a, b, error), NOBODY)
FORTRAN(mpi_comm_size_, "MPI_Comm_size", (int *a, int *b, int *error),
        (a, b, error), NOBODY)
FORTRAN(mpi_initialized_, "MPI_Initialized", (int *a, int *error), (a, error),
        NOBODY)
FORTRAN(mpi_recv_, "MPI_Recv",
        (void *buffer, int *count, int *type, int *peer, int *tag, int *comm,
         int *status, int *error),
        (buffer, count, type, peer, tag, comm, status, error), NOBODY)
FORTRAN(mpi_send_, "MPI_Send",
        (void *buffer, int *count, int *type, int *peer, int *tag, int *comm,
         int *error),
        (buffer, count, type, peer, tag, comm, error), *peer, *count,
        MPI_Type_f2c(*type), MPI_Comm_f2c(*comm))
FORTRAN(mpi_type_size_, "MPI_Type_size", (int *a, int *b, int *error),
        (a, b, error), NOBODY)

/* --- the beginning and the end --- */

static void write_down(void)
{
    const char *folder = getenv("COUNTER_FOLDER");
    char name[4096];
    int rank;
    FILE *out;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof(name), "%s/%d.counts", folder ? folder : ".", rank);
    out = fopen(name, "w");
    if (!out)
        return;
    for (int i = 0; calls[i].name; i++) {
        fprintf(out, "call %s %ld\n", calls[i].name, calls[i].count);
        fprintf(out, "bytes %s %ld\n", calls[i].name, calls[i].bytes);
    }
    for (int i = 0; i < PEERS; i++)
        fprintf(out, "sent %d %ld %ld\n", i, sent[i].messages, sent[i].bytes);
    fclose(out);
}

int MPI_Init(int *argc, char ***argv)
{
    int outcome = PMPI_Init(argc, argv);

    is_on = true;
    call_of("MPI_Init")->count++;
    return outcome;
}

void mpi_init_(int *error);
void mpi_init_(int *error)
{
    *error = MPI_Init(NULL, NULL);
}

int MPI_Finalize(void)
{
    is_on = false;
    call_of("MPI_Finalize")->count++;
    write_down();
    return PMPI_Finalize();
}
