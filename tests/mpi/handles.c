/* handles.c - threads of a process that make requests and types, and are given
 * each other's handles; for handles_test.mjs.
 *
 *     handles ROUNDS
 *
 * Each thread sends messages to itself, in a communicator of its own. Prints
 * for each, in the order in which they have come to MPI: how many messages and
 * bytes it has received. */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    THREADS = 7,
    SHORT = 500, /* threads that do one thing, one after the other */
    LONG = 5000,
    PEER = 0,
    TAG = 1
};

typedef struct thread {
    pthread_t id;
    MPI_Comm comm;
    void (*run)(struct thread *t);
    long rounds, messages, bytes;
    char out[LONG], in[LONG];
} thread;

static sem_t is_known;

static void count(thread *t, long bytes)
{
    t->messages++;
    t->bytes += bytes;
}

/* Requests that nobody starts. */
static void make_and_free(thread *t)
{
    MPI_Request q[2];

    for (long i = 0; i < t->rounds; i++) {
        MPI_Recv_init(t->in, LONG, MPI_BYTE, PEER, TAG, t->comm, &q[0]);
        MPI_Ssend_init(t->out, LONG, MPI_BYTE, PEER, TAG, t->comm, &q[1]);
        MPI_Request_free(&q[i & 1]);
        MPI_Request_free(&q[~i & 1]);
    }
}

static void complete(MPI_Request q[2], long i)
{
    int flag = 0, index;

    if (i % 3 == 0)
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int left = 2; i % 3 == 1 && left > 0; left--)
        MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
    while (i % 3 == 2 && !flag)
        MPI_Testall(2, q, &flag, MPI_STATUSES_IGNORE);
}

static void talk(thread *t)
{
    MPI_Request q[2];

    for (long i = 0; i < t->rounds; i++) {
        int bytes = i % 4 ? (int)(i % 100) : LONG;
        MPI_Irecv(t->in, LONG, MPI_BYTE, i % 2 ? PEER : MPI_ANY_SOURCE, TAG,
                  t->comm, &q[0]);
        MPI_Isend(t->out, bytes, MPI_BYTE, PEER, TAG, t->comm, &q[1]);
        complete(q, i);
        count(t, bytes);
    }
}

static void start_again(thread *t)
{
    MPI_Request q[2];

    for (long i = 0; i < t->rounds; i++) {
        int bytes = (int)(i % 100);
        MPI_Recv_init(t->in, LONG, MPI_BYTE, PEER, TAG, t->comm, &q[0]);
        MPI_Send_init(t->out, bytes, MPI_BYTE, PEER, TAG, t->comm, &q[1]);
        for (int k = 0; k < 3; k++) {
            MPI_Startall(2, q);
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
            count(t, bytes);
        }
        MPI_Request_free(&q[0]);
        MPI_Request_free(&q[1]);
    }
}

/* Receives that are cancelled, between others. */
static void cancel(thread *t)
{
    MPI_Request q;

    for (long i = 0; i < t->rounds; i++) {
        MPI_Irecv(t->in, LONG, MPI_BYTE, PEER, TAG, t->comm, &q);
        MPI_Cancel(&q);
        if (i % 2)
            MPI_Request_free(&q);
        else
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Sendrecv(t->out, 7, MPI_BYTE, PEER, TAG, t->in, LONG, MPI_BYTE,
                     PEER, TAG, t->comm, MPI_STATUS_IGNORE);
        count(t, 7);
    }
}

/* Types of many sizes. */
static void make_types(thread *t)
{
    MPI_Datatype type;

    for (long i = 0; i < t->rounds; i++) {
        int bytes = 1 + (int)((i * 37 + (long)(size_t)t / 64) % 1000);
        MPI_Type_contiguous(bytes, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        MPI_Sendrecv(t->out, 1, type, PEER, TAG, t->in, LONG, MPI_BYTE, PEER,
                     TAG, t->comm, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
        count(t, bytes);
    }
}

static void *thread_run(void *argument)
{
    thread *t = argument;
    int rank;

    MPI_Comm_rank(t->comm, &rank); /* by which it is numbered */
    sem_post(&is_known);
    t->run(t);
    return NULL;
}

static void *short_run(void *argument)
{
    char out[LONG] = "", in[LONG];
    int bytes = *(int *)argument;

    MPI_Sendrecv(out, bytes, MPI_BYTE, PEER, bytes, in, LONG, MPI_BYTE, PEER,
                 bytes, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return NULL;
}

static void run_short(void)
{
    pthread_t id;

    for (int bytes = 1; bytes <= SHORT; bytes++) {
        pthread_create(&id, NULL, short_run, &bytes);
        pthread_join(id, NULL);
        printf("%d 1 %d\n", THREADS + bytes, bytes);
    }
}

int main(int argc, char **argv)
{
    static void (*const runs[THREADS])(thread *) = {
        make_and_free, talk, start_again, cancel, make_types, make_types, talk};
    static thread all[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 3);
    sem_init(&is_known, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        all[i].run = runs[i];
        all[i].rounds = atol(argv[1]);
        MPI_Comm_dup(MPI_COMM_SELF, &all[i].comm);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&all[i].id, NULL, thread_run, &all[i]);
        sem_wait(&is_known);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i].id, NULL);
    for (int i = 0; i < THREADS; i++) {
        printf("%d %ld %ld\n", i + 1, all[i].messages, all[i].bytes);
        MPI_Comm_free(&all[i].comm);
    }
    run_short();
    MPI_Finalize();
    return 0;
}
