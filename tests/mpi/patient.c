/* patient.c - is linked between a program and MPI, below the recorder: calls
 * that wait sleep between looks instead of spinning, so that more ranks than
 * there are processors do not take time from each other; and messages to one
 * rank may be delayed, as if over a slow link: they leave the sender that much
 * after it has sent them. Neither the program nor the recorder sees that. */
#include "patient.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS 50000

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int sleep_ns(int64_t ns)
{
    struct timespec time = {ns / 1000000000, ns % 1000000000};

    return nanosleep(&time, NULL);
}

static int finish(MPI_Request *request, MPI_Status *status)
{
    int done = 0, err = MPI_SUCCESS;

    while (!err && !done) {
        err = PMPI_Test(request, &done, status);
        if (!err && !done)
            sleep_ns(LOOK_NS);
    }
    return err;
}

/* --- a slow link --- */

typedef struct letter {
    struct letter *next;
    struct timespec due;
    int bytes, tag;
    MPI_Comm comm;
    char data[];
} letter;

static struct {
    int to;
    int64_t delay_ns; /* 0: there is none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    letter *first, **last;
    bool ends;
} slow = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER,
          .last = &slow.first};

static letter *letter_next(void)
{
    letter *l;

    pthread_mutex_lock(&slow.lock);
    while (!slow.first && !slow.ends)
        pthread_cond_wait(&slow.changed, &slow.lock);
    l = slow.first;
    if (l)
        slow.first = l->next;
    if (!slow.first)
        slow.last = &slow.first;
    pthread_mutex_unlock(&slow.lock);
    return l;
}

static void *deliver(void *none)
{
    letter *l;

    while ((l = letter_next())) {
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &l->due, NULL))
            ;
        REAL(PMPI_Send)(l->data, l->bytes, MPI_BYTE, slow.to, l->tag, l->comm);
        free(l);
    }
    return none;
}

/* False: it is not for the slow link. */
static bool post(const void *data, int count, MPI_Datatype type, int to,
                 int tag, MPI_Comm comm)
{
    int size;
    letter *l;

    if (!slow.delay_ns || to != slow.to)
        return false;
    PMPI_Type_size(type, &size);
    l = malloc(sizeof(*l) + (size_t)size * (size_t)count);
    if (!l)
        abort();
    *l = (letter){.bytes = size * count, .tag = tag, .comm = comm};
    memcpy(l->data, data, (size_t)l->bytes);
    clock_gettime(CLOCK_MONOTONIC, &l->due);
    l->due.tv_nsec += slow.delay_ns;
    l->due.tv_sec += l->due.tv_nsec / 1000000000;
    l->due.tv_nsec %= 1000000000;
    pthread_mutex_lock(&slow.lock);
    *slow.last = l;
    slow.last = &l->next;
    pthread_cond_signal(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
    return true;
}

void patient_delay(int to, int64_t ns)
{
    slow.to = to;
    slow.delay_ns = ns;
    if (pthread_create(&slow.thread, NULL, deliver, NULL))
        abort();
}

void patient_end(void)
{
    if (!slow.delay_ns)
        return;
    pthread_mutex_lock(&slow.lock);
    slow.ends = true;
    pthread_cond_signal(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
    pthread_join(slow.thread, NULL);
    slow.delay_ns = 0;
}

/* --- calls --- */

int PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm)
{
    return post(data, count, type, to, tag, comm)
               ? MPI_SUCCESS
               : REAL(PMPI_Send)(data, count, type, to, tag, comm);
}

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag,
               MPI_Comm comm, MPI_Request *request)
{
    if (post(data, count, type, to, tag, comm))
        to = MPI_PROC_NULL; /* a request that is done */
    return REAL(PMPI_Isend)(data, count, type, to, tag, comm, request);
}

int PMPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag,
              MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    int err = PMPI_Irecv(data, count, type, from, tag, comm, &request);

    return err ? err : finish(&request, status);
}

int PMPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to,
                  int out_tag, void *in, int in_count, MPI_Datatype in_type,
                  int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    int err = PMPI_Send(out, out_count, out_type, to, out_tag, comm);

    return err ? err
               : PMPI_Recv(in, in_count, in_type, from, in_tag, comm, status);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return finish(request, status);
}

int PMPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int done = 0, err = MPI_SUCCESS;

    while (!err && !done) {
        err = PMPI_Testall(count, requests, &done, statuses);
        if (!err && !done)
            sleep_ns(LOOK_NS);
    }
    return err;
}

int PMPI_Barrier(MPI_Comm comm)
{
    MPI_Request request;
    int err = PMPI_Ibarrier(comm, &request);

    return err ? err : finish(&request, MPI_STATUS_IGNORE);
}

int PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    int err = PMPI_Iallreduce(in, out, count, type, op, comm, &request);

    return err ? err : finish(&request, MPI_STATUS_IGNORE);
}

int PMPI_Reduce(const void *in, void *out, int count, MPI_Datatype type,
                MPI_Op op, int root, MPI_Comm comm)
{
    MPI_Request request;
    int err = PMPI_Ireduce(in, out, count, type, op, root, comm, &request);

    return err ? err : finish(&request, MPI_STATUS_IGNORE);
}

int PMPI_Bcast(void *data, int count, MPI_Datatype type, int root,
               MPI_Comm comm)
{
    MPI_Request request;
    int err = PMPI_Ibcast(data, count, type, root, comm, &request);

    return err ? err : finish(&request, MPI_STATUS_IGNORE);
}
