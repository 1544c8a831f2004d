/* order.c - programs of MPI in which it is not plain which message is which;
 * for order_test.mjs.
 *
 *     order HOW FOLDER
 *
 * FOLDER/RANK.sent has a line for each message that the rank has sent while it
 * was recorded ("to tag number"), and RANK.received one for each that it has
 * received then ("from tag number"), in the order of its calls. Numbers tell
 * messages of a rank apart. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 5, OTHER = 6, DEEP = 60, LEAVES = 8 };

static int rank, number;
static FILE *sent, *received;
static bool is_quiet;

static FILE *log_open(const char *folder, const char *what)
{
    char name[4096];
    FILE *log;

    snprintf(name, sizeof(name), "%s/%d.%s", folder, rank, what);
    log = fopen(name, "w");
    if (!log)
        MPI_Abort(MPI_COMM_WORLD, 1);
    setlinebuf(log); /* it may be killed */
    return log;
}

static void note_sent(int to, int tag, int own)
{
    if (!is_quiet)
        fprintf(sent, "%d %d %d\n", to, tag, own);
}

static void note_received(int from, int tag, int own)
{
    if (!is_quiet)
        fprintf(received, "%d %d %d\n", from, tag, own);
}

/* `to` and `from` are ranks in the communicator and in MPI_COMM_WORLD alike,
 * unless `as` says another one. */
static void send_as(MPI_Comm comm, int to, int as, int tag)
{
    int own = number++;

    MPI_Send(&own, 1, MPI_INT, to, tag, comm);
    note_sent(as, tag, own);
}

static void receive_as(MPI_Comm comm, int from, int as, int tag)
{
    int own;

    MPI_Recv(&own, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
    note_received(as, tag, own);
}

static void send(int tag)
{
    send_as(MPI_COMM_WORLD, 1, 1, tag);
}

static void wait_for(MPI_Request *request, const int *into)
{
    MPI_Status status;

    MPI_Wait(request, &status);
    note_received(status.MPI_SOURCE, status.MPI_TAG, *into);
}

static void end_by_signal(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    raise(SIGKILL);
}

static void switch_to(bool on)
{
    is_quiet = !on;
    MPI_Pcontrol(on);
}

/* --- rank 1 is killed, and a receive has overtaken another one --- */

static void overtake(int source, int tag)
{
    MPI_Request first, second;
    int in[2];

    if (rank == 1) {
        MPI_Irecv(&in[0], 1, MPI_INT, source, tag, MPI_COMM_WORLD, &first);
        MPI_Irecv(&in[1], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &second);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        send(TAG);
        send(TAG);
    }
    if (rank == 1)
        wait_for(&second, &in[1]);
    end_by_signal();
}

/* The earlier one takes the first message, and nobody waits for it. */
static void same(void)
{
    overtake(0, TAG);
}

/* It may have taken anything. */
static void any_tag(void)
{
    overtake(0, MPI_ANY_TAG);
}

static void any_source(void)
{
    overtake(MPI_ANY_SOURCE, TAG);
}

/* It has nothing to do with these messages. */
static void other_tag(void)
{
    overtake(0, OTHER);
}

static void other_source(void)
{
    overtake(2, MPI_ANY_TAG);
}

static void persistent(void)
{
    MPI_Request all[2];
    int in[2];

    if (rank == 1) {
        MPI_Recv_init(&in[0], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &all[0]);
        MPI_Recv_init(&in[1], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &all[1]);
    }
    for (int i = 0; i < 2; i++) {
        if (rank == 0) {
            send(TAG);
            send(TAG);
        }
        if (rank == 1) {
            MPI_Startall(2, all);
            wait_for(&all[1], &in[1]);
        }
        if (rank == 1 && i == 0)
            wait_for(&all[0], &in[0]);
    }
    end_by_signal();
}

/* Known, and not received. */
static void matched(void)
{
    MPI_Message message;

    if (rank == 0) {
        send(TAG);
        send(TAG);
    }
    if (rank == 1) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message,
                   MPI_STATUS_IGNORE);
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
    }
    end_by_signal();
}

/* Receives that were overtaken, and have taken nothing. */
static void cancelled(void)
{
    MPI_Request first[2], second;
    int in[3];

    if (rank == 0) {
        send(OTHER);
        MPI_Barrier(MPI_COMM_WORLD);
        send(TAG);
        send(TAG);
    } else if (rank == 1) {
        MPI_Irecv(&in[0], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &first[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                  &first[1]);
        MPI_Irecv(&in[2], 1, MPI_INT, 0, OTHER, MPI_COMM_WORLD, &second);
        wait_for(&second, &in[2]);
        MPI_Cancel(&first[0]);
        MPI_Cancel(&first[1]);
        MPI_Waitall(2, first, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end_by_signal();
}

static void *other_run(void *argument)
{
    MPI_Mprobe(0, TAG, MPI_COMM_WORLD, argument, MPI_STATUS_IGNORE);
    return NULL;
}

/* As `matched`, by another thread, which has no end of these messages. */
static void threads(void)
{
    pthread_t other;
    MPI_Message message;

    if (rank == 0) {
        send(TAG);
        send(TAG);
    }
    if (rank == 1) {
        pthread_create(&other, NULL, other_run, &message);
        pthread_join(other, NULL);
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
    }
    end_by_signal();
}

/* --- all end --- */

/* A message that is too long for the first receive. */
static void too_long(void)
{
    int big[64] = {0}, in;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        big[0] = number++;
        MPI_Send(big, 64, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        note_sent(1, TAG, big[0]);
        send(TAG);
        send(TAG);
    }
    if (rank == 1) {
        if (MPI_Recv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) == MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 2);
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
    }
}

/* The same, by receives that somebody waits for, in one way or another. Their
 * requests end, too, and later ones are given their handles. */
static void too_long_later(void)
{
    int big[64] = {0}, in, index, flag = 0;
    MPI_Request q;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5; i++) {
        if (rank == 0) {
            big[0] = number++;
            MPI_Send(big, 64, MPI_INT, 1, TAG, MPI_COMM_WORLD);
            note_sent(1, TAG, big[0]);
            send(TAG);
        }
        if (rank != 1)
            continue;
        MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &q);
        if (i == 0)
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        else if (i == 1)
            MPI_Waitall(1, &q, MPI_STATUSES_IGNORE);
        else if (i == 2)
            MPI_Waitany(1, &q, &index, MPI_STATUS_IGNORE);
        else if (i == 3)
            MPI_Waitsome(1, &q, &flag, &index, MPI_STATUSES_IGNORE);
        while (i == 4 && q != MPI_REQUEST_NULL &&
               MPI_Test(&q, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS)
            if (flag)
                MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &q);
        wait_for(&q, &in);
    }
}

/* The same, by one that is started again. */
static void too_long_again(void)
{
    int big[64] = {0}, in;
    MPI_Request q;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        big[0] = number++;
        MPI_Send(big, 64, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        note_sent(1, TAG, big[0]);
        send(TAG);
    }
    if (rank != 1)
        return;
    MPI_Recv_init(&in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &q);
    MPI_Start(&q);
    if (MPI_Wait(&q, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (q == MPI_REQUEST_NULL) /* one of the libraries frees it */
        MPI_Recv_init(&in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &q);
    MPI_Start(&q);
    wait_for(&q, &in);
    MPI_Request_free(&q);
}

/* Messages that were found, and whose receives fail at first. */
static void wrong_matched(void)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request q;
    int in;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4 && rank == 0; i++)
        send(TAG);
    for (int i = 0; i < 2 && rank == 1; i++) {
        MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, &status);
        if (MPI_Imrecv(&in, -1, MPI_INT, &message, &q) == MPI_SUCCESS ||
            MPI_Mrecv(&in, -1, MPI_INT, &message, &status) == MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 2);
        if (i) {
            MPI_Imrecv(&in, 1, MPI_INT, &message, &q);
            wait_for(&q, &in);
        } else {
            MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
            note_received(0, TAG, in);
        }
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
    }
}

static int wait_in_call(MPI_Comm comm, int key, void *request, void *state)
{
    (void)comm;
    (void)key;
    (void)state;
    return MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Requests that end in a call that MPI makes: these are not recorded, and the
 * next ones are given their handles. */
static void within(void)
{
    int key, in[2];
    MPI_Comm comm;
    MPI_Request q[2];

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, wait_in_call, &key, NULL);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == 0) {
            send(TAG);
            send(TAG);
        }
        if (rank == 1) {
            MPI_Irecv(&in[0], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &q[0]);
            MPI_Comm_set_attr(comm, key, &q[0]);
        }
        MPI_Comm_free(&comm);
        if (rank == 1) {
            MPI_Irecv(&in[1], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &q[1]);
            wait_for(&q[1], &in[1]);
        }
    }
}

/* A message from rank 0 to 1. */
static void dup_and_use(MPI_Comm *made)
{
    MPI_Comm_dup(MPI_COMM_WORLD, made);
    if (rank == 0)
        send_as(*made, 1, 1, TAG);
    if (rank == 1)
        receive_as(*made, 0, 0, TAG);
}

static int free_in_call(MPI_Comm comm, int key, void *inner, void *state)
{
    (void)comm;
    (void)key;
    (void)state;
    return MPI_Comm_free(inner);
}

/* The same of a communicator, which only two of three have used. */
static void freed_within(void)
{
    int key;
    MPI_Comm inner, after;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_in_call, &key, NULL);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &inner);
        if (rank == 0)
            send_as(inner, 2, 2, TAG);
        if (rank == 2)
            receive_as(inner, 0, 0, TAG);
        MPI_Comm_set_attr(MPI_COMM_WORLD, key, &inner);
        MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
        dup_and_use(&after);
    }
}

/* Receives that are cancelled, and that nobody waits for. */
static void cancelled_freed(void)
{
    MPI_Request all[4];
    int in[4];

    if (rank == 1) {
        MPI_Irecv(&in[0], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &all[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                  &all[1]);
        MPI_Recv_init(&in[2], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &all[2]);
        MPI_Start(&all[2]);
        MPI_Irecv(&in[3], 1, MPI_INT, 0, OTHER, MPI_COMM_WORLD, &all[3]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        send(OTHER);
    if (rank == 1)
        wait_for(&all[3], &in[3]);
    for (int i = 0; i < 3 && rank == 1; i++) {
        MPI_Cancel(&all[i]);
        MPI_Request_free(&all[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        send(TAG);
        send(TAG);
    }
    if (rank == 1) {
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
    }
}

/* The communicator is freed while a receive of it is under way, and its handle
 * may be that of another one then. */
static void freed(void)
{
    MPI_Comm comm, after;
    MPI_Request requests[4];
    int in[4];

    for (int i = 0; i < 4; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == 1)
            MPI_Irecv(&in[i], 1, MPI_INT, 0, TAG, comm, &requests[i]);
        if (rank == 0 && i % 2)
            send_as(comm, 1, 1, TAG);
        if (i % 2)
            MPI_Comm_free(&comm);
        else if (rank == 0)
            send_as(comm, 1, 1, TAG);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &after);
    if (rank == 0)
        send_as(after, 1, 1, TAG);
    if (rank == 1) {
        receive_as(after, 0, 0, TAG);
        for (int i = 3; i >= 0; i--)
            wait_for(&requests[i], &in[i]);
    }
}

/* Messages of which one end is recorded, or none. */
static void quiet(void)
{
    MPI_Request request;
    int in;

    for (int i = 0; i < 4; i++) {
        switch_to(!(i & 1 << rank));
        if (rank == 0)
            send(TAG);
        if (rank == 1)
            receive_as(MPI_COMM_WORLD, 0, 0, TAG);
    }
    switch_to(true);
    /* Posted while it is off, and received while it is on; and otherwise. */
    for (int i = 0; i < 2; i++) {
        switch_to(i);
        if (rank == 1)
            MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
        switch_to(!i);
        if (rank == 0)
            send(TAG);
        if (rank == 1)
            wait_for(&request, &in);
    }
    switch_to(true);
    if (rank == 0)
        send(TAG);
    if (rank == 1)
        receive_as(MPI_COMM_WORLD, 0, 0, TAG);
}

/* Communicators that some make, or free, while recording is off. */
static void quiet_comms(void)
{
    MPI_Comm one, two;

    switch_to(rank != 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    switch_to(true);
    MPI_Comm_dup(MPI_COMM_WORLD, &two);
    if (rank == 0) {
        send_as(one, 1, 1, TAG);
        send_as(two, 1, 1, TAG);
    }
    if (rank == 1) {
        receive_as(two, 0, 0, TAG);
        receive_as(one, 0, 0, TAG);
    }
    switch_to(rank != 1);
    MPI_Comm_free(&one);
    switch_to(true);
    dup_and_use(&one);
}

/* Rank 0 with each of the others: the same tag and the same lowest rank. */
static void between(void)
{
    MPI_Comm inter, pair;
    MPI_Group world, two;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int other = 1; other < 3; other++) {
        int ranks[] = {0, other};
        if (rank != 0 && rank != other)
            continue;
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, rank ? 0 : other,
                             7, &inter);
        MPI_Group_incl(world, 2, ranks, &two);
        MPI_Comm_create_group(MPI_COMM_WORLD, two, 7, &pair);
        if (rank) {
            receive_as(pair, 0, 0, TAG);
            receive_as(inter, 0, 0, TAG);
        } else {
            send_as(inter, 0, other, TAG);
            send_as(pair, 1, other, TAG);
        }
    }
}

/* Long ways to communicators, which ranks use in different orders. */
static void deep(void)
{
    MPI_Comm all[DEEP], leaves[LEAVES];

    for (int i = 0; i < DEEP; i++)
        if (i % 2)
            MPI_Comm_split(all[i - 1], 0, rank, &all[i]);
        else
            MPI_Comm_dup(i ? all[i - 1] : MPI_COMM_WORLD, &all[i]);
    for (int i = 0; i < DEEP; i++) {
        if (rank == 0)
            send_as(all[i], 1, 1, TAG);
        if (rank == 1)
            receive_as(all[DEEP - 1 - i], 0, 0, TAG);
    }
    for (int i = 0; i < LEAVES; i++)
        MPI_Comm_dup(all[DEEP - 1 - i], &leaves[i]);
    for (int i = 0; i < LEAVES; i++) {
        if (rank == 0)
            send_as(leaves[i], 1, 1, TAG);
        if (rank == 1)
            receive_as(leaves[LEAVES - 1 - i], 0, 0, TAG);
    }
}

#define WAY(name)                                                              \
    {                                                                          \
#name, name                                                            \
    }

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {WAY(same),
            WAY(any_tag),
            WAY(any_source),
            WAY(other_tag),
            WAY(other_source),
            WAY(persistent),
            WAY(matched),
            WAY(cancelled),
            WAY(threads),
            WAY(too_long),
            WAY(too_long_later),
            WAY(too_long_again),
            WAY(wrong_matched),
            WAY(within),
            WAY(freed_within),
            WAY(cancelled_freed),
            WAY(freed),
            WAY(quiet),
            WAY(quiet_comms),
            WAY(between),
            WAY(deep)};

int main(int argc, char **argv)
{
    int provided;

    if (strcmp(argv[1], "threads") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sent = log_open(argv[2], "sent");
    received = log_open(argv[2], "received");
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    MPI_Finalize();
    return 0;
}
