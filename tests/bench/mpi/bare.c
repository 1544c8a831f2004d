/* bare.c - the limit of an interposer: two stamps and 36 bytes into a file for
 * each call, and nothing else. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS (UINT64_C(1) << 24)
#define EVENT 36

static unsigned char *at, *end;

static void begin(void)
{
    char file[] = "bare.XXXXXX";
    int fd = mkstemp(file);

    if (fd < 0 || ftruncate(fd, (off_t)(EVENTS * EVENT)) != 0)
        abort();
    unlink(file);
    at = mmap(NULL, EVENTS * EVENT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        abort();
    end = at + EVENTS * EVENT;
    close(fd);
}

static inline void leave(uint64_t start, uint32_t call)
{
    uint64_t stop = __builtin_ia32_rdtsc();
    uint32_t rest[5] = {call, 2, 3, 8, 1};

    if (at == end)
        return;
    memcpy(at, &start, 8);
    memcpy(at + 8, &stop, 8);
    memcpy(at + 16, rest, 20);
    at += EVENT;
}

int MPI_Init(int *argc, char ***argv)
{
    begin();
    return PMPI_Init(argc, argv);
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    uint64_t start = __builtin_ia32_rdtsc();
    int result = PMPI_Get_count(status, type, count);

    leave(start, 1);
    return result;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag,
             MPI_Comm comm)
{
    uint64_t start = __builtin_ia32_rdtsc();
    int result = PMPI_Send(buffer, count, type, to, tag, comm);

    leave(start, 2);
    return result;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag,
             MPI_Comm comm, MPI_Status *status)
{
    uint64_t start = __builtin_ia32_rdtsc();
    int result = PMPI_Recv(buffer, count, type, from, tag, comm, status);

    leave(start, 3);
    return result;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    uint64_t start = __builtin_ia32_rdtsc();
    int result = PMPI_Allreduce(from, to, count, type, op, comm);

    leave(start, 4);
    return result;
}
