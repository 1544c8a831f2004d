/* deadlocks.c - programs that hang, and programs that only look like it.
 *
 *     deadlocks NAME
 *
 * Three ranks each, or more. What hangs says here who of them never goes on;
 * the others compute until they are killed. What does not hang is slow: a rank
 * sleeps or computes for `slow_s` seconds (EVENTSPACE_SLOW_S) where others
 * wait. Without a name, each program is told in a line: its name, how many
 * ranks it has, and who hangs in it, or "none". */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD
#define LARGE (1 << 22) /* no library sends as many bytes unasked */
#define TAG 7

static int rank, size, left, right, one = 1, other;
static double slow_s = 1.7;
static char *large, *into;

static void receive(int from, int tag)
{
    MPI_Recv(&other, 1, MPI_INT, from, tag, WORLD, MPI_STATUS_IGNORE);
}

static void tell(int to, int tag)
{
    MPI_Send(&one, 1, MPI_INT, to, tag, WORLD);
}

static void forever(void)
{
    for (;;)
        pause();
}

static void wait_s(double seconds)
{
    usleep((useconds_t)(seconds * 1e6));
}

static void compute_s(double seconds)
{
    struct timespec t;
    double end;
    volatile double sum = 0;

    clock_gettime(CLOCK_MONOTONIC, &t);
    end = (double)t.tv_sec + (double)t.tv_nsec * 1e-9 + seconds;
    do {
        for (int i = 0; i < 100000; i++)
            sum += i;
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while ((double)t.tv_sec + (double)t.tv_nsec * 1e-9 < end);
}

/* --- that hang --- */

static void ring_of_receives(void)
{
    receive(left, TAG);
}

static void synchronous_sends(void)
{
    if (rank == 2)
        forever();
    MPI_Ssend(&one, 1, MPI_INT, 1 - rank, TAG, WORLD);
    receive(1 - rank, TAG);
}

static void large_sends(void)
{
    MPI_Send(large, LARGE, MPI_CHAR, right, TAG, WORLD);
    MPI_Recv(into, LARGE, MPI_CHAR, left, TAG, WORLD, MPI_STATUS_IGNORE);
}

static void order_of_collectives(void)
{
    if (rank == 0)
        MPI_Barrier(WORLD);
    MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank != 0)
        MPI_Barrier(WORLD);
}

static void barrier_or_receive(void)
{
    if (rank == 1)
        receive(0, TAG);
    MPI_Barrier(WORLD);
    if (rank == 0)
        tell(1, TAG);
}

static void wrong_tag(void)
{
    if (rank == 0) {
        tell(1, TAG);
        receive(1, TAG);
    } else if (rank == 1) {
        receive(0, TAG + 1);
        tell(0, TAG);
    } else {
        forever();
    }
}

static void from_ended(void)
{
    if (rank == 0)
        receive(1, TAG);
}

static void wildcards(void)
{
    receive(MPI_ANY_SOURCE, rank == 1 ? MPI_ANY_TAG : TAG);
    tell(right, TAG);
}

static void wait_all(void)
{
    MPI_Request requests[2];
    int got[2];

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i ? left : right, TAG, WORLD,
                  &requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    tell(left, TAG);
    tell(right, TAG);
}

/* Only the later of two requests never ends. */
static void wait_all_second(void)
{
    MPI_Request requests[2];
    int got[2];

    if (rank == 1)
        forever();
    if (rank == 0) {
        MPI_Irecv(&got[0], 1, MPI_INT, 1, TAG, WORLD, &requests[0]);
        MPI_Irecv(&got[1], 1, MPI_INT, 2, TAG, WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        receive(0, TAG);
    }
}

static void wait_send(void)
{
    MPI_Request request;

    MPI_Isend(large, LARGE, MPI_CHAR, right, TAG, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(into, LARGE, MPI_CHAR, left, TAG, WORLD, MPI_STATUS_IGNORE);
}

static void wait_some(void)
{
    MPI_Request requests[2];
    int got[2], index, done, indexes[2];

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i ? left : right, TAG, WORLD,
                  &requests[i]);
    if (rank == 0)
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    else
        MPI_Waitsome(2, requests, &done, indexes, MPI_STATUSES_IGNORE);
}

static void probes(void)
{
    MPI_Status status;

    MPI_Probe(left, TAG, WORLD, &status);
    tell(right, TAG);
    receive(left, TAG);
}

static void roots(void)
{
    if (rank < 2)
        MPI_Bcast(&one, 1, MPI_INT, 1 - rank, WORLD);
    else
        forever();
}

static void gather_or_receive(void)
{
    int all[3];

    if (rank == 0)
        MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
    else if (rank == 1)
        receive(0, TAG);
    else
        forever();
}

/* Two communicators of the same ranks. */
static void two_communicators(void)
{
    MPI_Comm a, b;

    MPI_Comm_dup(WORLD, &a);
    MPI_Comm_dup(WORLD, &b);
    if (rank != 1) {
        MPI_Barrier(a);
        MPI_Barrier(b);
    } else {
        MPI_Barrier(b);
        MPI_Barrier(a);
    }
}

static void wrong_partner(void)
{
    MPI_Sendrecv(&one, 1, MPI_INT, right, TAG, &other, 1, MPI_INT, right, TAG,
                 WORLD, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request request;

    MPI_Recv_init(&other, 1, MPI_INT, left, TAG, WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell(right, TAG);
}

static void poll(MPI_Request *request, int us)
{
    int flag = 0;

    while (!flag) {
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        if (us)
            usleep((useconds_t)us);
    }
}

static void polling(void)
{
    MPI_Request request;

    if (rank == 2)
        forever();
    MPI_Irecv(&other, 1, MPI_INT, 1 - rank, TAG, WORLD, &request);
    poll(&request, rank ? 1000 : 20);
    tell(1 - rank, TAG);
}

static void probing(void)
{
    int flag = 0;
    MPI_Message message;

    for (; !flag; usleep(20))
        if (rank == 0)
            MPI_Iprobe(1, TAG, WORLD, &flag, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Iprobe(MPI_ANY_SOURCE, TAG, WORLD, &flag, MPI_STATUS_IGNORE);
        else
            MPI_Improbe(1, TAG, WORLD, &flag, &message, MPI_STATUS_IGNORE);
}

static MPI_Comm intercommunicator(void)
{
    MPI_Comm own, inter;

    MPI_Comm_split(WORLD, rank == 0, rank, &own);
    MPI_Intercomm_create(own, 0, WORLD, rank == 0, TAG, &inter);
    return inter;
}

/* Ranks 1 and 2 are 0 and 1 of theirs. */
static void between_groups(void)
{
    MPI_Comm inter = intercommunicator();

    MPI_Recv(&other, 1, MPI_INT, 0, TAG, inter, MPI_STATUS_IGNORE);
}

static void not_all_split(void)
{
    MPI_Comm made;

    if (rank == 1)
        receive(0, TAG);
    if (rank == 2)
        MPI_Comm_dup(WORLD, &made);
    else
        MPI_Comm_split(WORLD, 0, rank, &made);
}

static void to_itself(void)
{
    if (rank == 0)
        MPI_Ssend(&one, 1, MPI_INT, 0, TAG, WORLD);
    forever();
}

/* A barrier that all have begun ends; what they do then does not. */
static void after_immediate(void)
{
    MPI_Request request;

    MPI_Ibarrier(WORLD, &request);
    if (rank == 1)
        receive(0, TAG);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        tell(0, TAG);
    else
        receive(1, TAG);
    receive(left, TAG + 1);
}

/* --- collectives that hang --- */

static void scan_or_receive(void)
{
    if (rank == 0)
        receive(1, TAG);
    MPI_Scan(&one, &other, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank == 1)
        tell(0, TAG);
}

static void order_of_exscan(void)
{
    if (rank == 0)
        MPI_Barrier(WORLD);
    MPI_Exscan(&one, &other, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank != 0)
        MPI_Barrier(WORLD);
}

static MPI_Win window_make(void)
{
    static int memory[4];
    MPI_Win window;

    MPI_Win_create(memory, sizeof(memory), sizeof(*memory), MPI_INFO_NULL,
                   WORLD, &window);
    return window;
}

static void fence_or_receive(void)
{
    MPI_Win window = window_make();

    MPI_Win_fence(0, window);
    if (rank == 1)
        receive(0, TAG);
    MPI_Win_fence(0, window);
    if (rank == 0)
        tell(1, TAG);
}

static void free_or_barrier(void)
{
    MPI_Win window = window_make();

    if (rank == 2)
        MPI_Barrier(WORLD);
    MPI_Win_free(&window);
    if (rank != 2)
        MPI_Barrier(WORLD);
}

static void window_or_receive(void)
{
    if (rank == 2)
        receive(1, TAG);
    window_make();
    if (rank == 1)
        tell(2, TAG);
}

static MPI_Group group_of(int of)
{
    MPI_Group all, made;

    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, &of, &made);
    return made;
}

/* Rank 0 opens its window to rank 1, who does not do its part. */
static void window_not_completed(void)
{
    MPI_Win window = window_make();

    if (rank == 2)
        forever();
    if (rank == 0) {
        MPI_Win_post(group_of(1), 0, window);
        MPI_Win_wait(window);
        tell(1, TAG);
    } else {
        MPI_Win_start(group_of(0), 0, window);
        receive(0, TAG);
        MPI_Win_complete(window);
    }
}

static void immediate_or_receive(void)
{
    MPI_Request request;

    if (rank == 1)
        receive(0, TAG);
    MPI_Ibarrier(WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        tell(1, TAG);
}

static void immediate_second(void)
{
    MPI_Request requests[2];
    int sums[2];

    MPI_Iallreduce(&one, &sums[0], 1, MPI_INT, MPI_SUM, WORLD, &requests[0]);
    if (rank == 2)
        receive(0, TAG);
    MPI_Iallreduce(&one, &sums[1], 1, MPI_INT, MPI_SUM, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        tell(2, TAG);
}

static void immediate_root(void)
{
    MPI_Request request;

    if (rank == 2)
        forever();
    if (rank == 0)
        receive(1, TAG);
    MPI_Ibcast(&one, 1, MPI_INT, 0, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        tell(0, TAG);
}

static void immediate_to_root(void)
{
    MPI_Request request;
    int flag = 0;

    if (rank == 2)
        forever();
    if (rank == 1)
        receive(0, TAG);
    MPI_Ireduce(&one, &other, 1, MPI_INT, MPI_SUM, 0, WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void immediate_scan(void)
{
    MPI_Request request;

    if (rank == 0)
        receive(2, TAG);
    MPI_Iscan(&one, &other, 1, MPI_INT, MPI_SUM, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 2)
        tell(0, TAG);
}

#define MIDDLE (1 << 18) /* is not sent unasked either, and quickly */

static void broadcast_or_receive(void)
{
    if (rank != 0)
        receive(0, TAG);
    MPI_Bcast(large, MIDDLE, MPI_CHAR, 0, WORLD);
    if (rank == 0)
        tell(1, TAG);
}

/* --- several requests that hang --- */

/* Of five ranks, the last. */
static void wait_all_fourth(void)
{
    MPI_Request requests[4];
    int got[4];

    if (rank > 0 && rank < 4)
        forever();
    if (rank == 4)
        receive(0, TAG);
    for (int i = 0; i < 4 && rank == 0; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i + 1, TAG, WORLD, &requests[i]);
    MPI_Waitall(rank == 0 ? 4 : 0, requests, MPI_STATUSES_IGNORE);
}

static void test_all_fourth(void)
{
    MPI_Request requests[4];
    int got[4], flag = 0;

    if (rank > 0 && rank < 4)
        forever();
    if (rank == 4)
        receive(0, TAG);
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i + 1, TAG, WORLD, &requests[i]);
    while (!flag)
        MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
}

static void wait_all_sends(void)
{
    MPI_Request requests[2];

    if (rank == 1)
        forever();
    if (rank == 2)
        receive(0, TAG + 1);
    MPI_Issend(&one, 1, MPI_INT, 1, TAG, WORLD, &requests[0]);
    MPI_Issend(&one, 1, MPI_INT, 2, TAG, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* The message that is received has come, so that it is the one that is sent. */
static void wait_all_send(void)
{
    MPI_Request requests[2];

    if (rank == 2)
        forever();
    if (rank == 1) {
        tell(0, TAG);
        receive(0, TAG + 1);
    }
    MPI_Irecv(&other, 1, MPI_INT, 1, TAG, WORLD, &requests[0]);
    MPI_Isend(large, LARGE, MPI_CHAR, 1, TAG, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Rank 3 computes, but nobody waits for it. */
static void wait_any_of_two(void)
{
    MPI_Request requests[2];
    int got[2], index;

    if (rank == 3)
        forever();
    if (rank > 0)
        receive(0, TAG);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i + 1, TAG, WORLD, &requests[i]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void another_tag_is_posted(void)
{
    MPI_Request request;

    if (rank == 2)
        forever();
    if (rank == 0) {
        MPI_Ssend(&one, 1, MPI_INT, 1, TAG, WORLD);
    } else {
        MPI_Irecv(&other, 1, MPI_INT, 0, TAG + 1, WORLD, &request);
        receive(0, TAG + 2);
    }
}

static void another_communicator_is_posted(void)
{
    MPI_Comm copy;
    MPI_Request request;

    MPI_Comm_dup(WORLD, &copy);
    if (rank == 1)
        MPI_Irecv(into, LARGE, MPI_CHAR, 0, TAG, copy, &request);
    if (rank == 0)
        MPI_Send(large, LARGE, MPI_CHAR, 1, TAG, WORLD);
    MPI_Barrier(WORLD);
}

/* --- that are slow --- */

static void late_message(void)
{
    if (rank == 0)
        wait_s(slow_s);
    else
        receive(left, TAG);
    if (rank != 2)
        tell(right, TAG);
}

static void late_collective(void)
{
    for (int i = 0; i < 3; i++) {
        if (rank == i)
            compute_s(slow_s / 2);
        if (i == 1)
            MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_SUM, WORLD);
        else
            MPI_Barrier(WORLD);
    }
}

static void late_receiver(void)
{
    if (rank == 0)
        MPI_Ssend(&one, 1, MPI_INT, 1, TAG, WORLD);
    if (rank == 2)
        MPI_Send(large, LARGE, MPI_CHAR, 1, TAG, WORLD);
    if (rank != 1)
        return;
    wait_s(slow_s / 2);
    receive(0, TAG);
    wait_s(slow_s / 2);
    MPI_Recv(into, LARGE, MPI_CHAR, 2, TAG, WORLD, MPI_STATUS_IGNORE);
}

/* All at once, again and again: they wait for each other, in a way. */
static void large_exchange(void)
{
    double end = MPI_Wtime() + slow_s;
    int goes_on = 1;

    while (goes_on) {
        MPI_Sendrecv(large, LARGE, MPI_CHAR, right, TAG, into, LARGE, MPI_CHAR,
                     left, TAG, WORLD, MPI_STATUS_IGNORE);
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, WORLD);
    }
}

/* One message of that size takes as long as it takes. */
#define HUGE_BYTES 600000000

static void huge_message(void)
{
    char *huge = malloc(HUGE_BYTES);
    MPI_Request requests[2];
    int count = 0;

    if (rank == 2)
        return;
    memset(huge, 1, HUGE_BYTES);
    if (rank == 0)
        MPI_Isend(huge, HUGE_BYTES, MPI_CHAR, 1, TAG, WORLD,
                  &requests[count++]);
    else
        MPI_Irecv(huge, HUGE_BYTES, MPI_CHAR, 0, TAG, WORLD,
                  &requests[count++]);
    MPI_Irecv(&other, 1, MPI_INT, 1 - rank, TAG + 1, WORLD, &requests[count++]);
    if (rank == 0) {
        tell(1, TAG + 1);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        tell(0, TAG + 1);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
}

/* Both have to be there for a collective that takes long, and who is first done
 * waits for the other. */
static void huge_collective(void)
{
    char *huge = malloc(HUGE_BYTES);

    memset(huge, rank, HUGE_BYTES);
    MPI_Bcast(huge, HUGE_BYTES / 2, MPI_CHAR, 0, WORLD);
    if (rank == 0)
        receive(2, TAG);
    else if (rank == 1)
        tell(2, TAG);
    else {
        receive(1, TAG);
        tell(0, TAG);
    }
}

static void chain(void)
{
    if (rank == 2)
        compute_s(slow_s);
    else
        receive(right, TAG);
    if (rank > 0)
        tell(left, TAG);
    MPI_Barrier(WORLD);
}

static void workers(void)
{
    bool is_told[3] = {false};

    if (rank > 0) {
        for (int i = 0; i < 2; i++) {
            receive(0, TAG);
            compute_s(slow_s / 3 * rank);
            tell(0, TAG);
        }
        return;
    }
    tell(1, TAG);
    tell(2, TAG);
    for (int i = 0; i < 4; i++) {
        MPI_Status status;
        MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD,
                 &status);
        if (!is_told[status.MPI_SOURCE])
            tell(status.MPI_SOURCE, TAG);
        is_told[status.MPI_SOURCE] = true;
    }
}

static void wait_any_comes(void)
{
    MPI_Request requests[2];
    int got[2], index;

    if (rank > 0) {
        if (rank == 1)
            wait_s(slow_s);
        else
            receive(1, TAG);
        tell(right, TAG);
        return;
    }
    MPI_Irecv(&got[0], 1, MPI_INT, 0, TAG, WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, 2, TAG, WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    tell(0, TAG);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void slow_subset(void)
{
    MPI_Comm pair;

    MPI_Comm_split(WORLD, rank == 0, rank, &pair);
    if (rank == 1)
        wait_s(slow_s);
    MPI_Barrier(pair);
    MPI_Barrier(WORLD);
}

static void late_split(void)
{
    MPI_Comm made;

    if (rank == 1)
        wait_s(slow_s);
    MPI_Comm_split(WORLD, rank, rank, &made);
    if (rank == 2)
        wait_s(slow_s / 2);
    MPI_Comm_dup(WORLD, &made);
}

static void *thread_tells(void *unused)
{
    receive(1, TAG + 2);
    wait_s(slow_s);
    tell(1, TAG);
    return unused;
}

/* The main threads of ranks 0 and 1 wait for each other, but a thread of 0
 * tells. */
static void other_thread(void)
{
    pthread_t thread;

    if (rank == 0)
        pthread_create(&thread, NULL, thread_tells, NULL);
    if (rank == 1)
        tell(0, TAG + 2);
    if (rank == 0)
        receive(1, TAG + 1);
    else if (rank == 1)
        receive(0, TAG);
    if (rank == 1)
        tell(0, TAG + 1);
    if (rank == 0)
        pthread_join(thread, NULL);
}

static void polling_comes(void)
{
    MPI_Request request;

    if (rank == 0) {
        wait_s(slow_s);
        tell(1, TAG);
        tell(2, TAG);
        receive(1, TAG);
    } else {
        MPI_Irecv(&other, 1, MPI_INT, 0, TAG, WORLD, &request);
        poll(&request, 20);
    }
    if (rank == 1)
        tell(0, TAG);
}

static void probing_comes(void)
{
    MPI_Message message;
    int flag = 0;

    if (rank == 0)
        wait_s(slow_s);
    for (; !flag && rank; usleep(20))
        if (rank == 1)
            MPI_Iprobe(0, TAG, WORLD, &flag, MPI_STATUS_IGNORE);
        else
            MPI_Improbe(MPI_ANY_SOURCE, TAG, WORLD, &flag, &message,
                        MPI_STATUS_IGNORE);
    if (rank < 2)
        tell(right, TAG);
    if (rank == 1)
        receive(0, TAG);
    if (rank == 2)
        MPI_Mrecv(&other, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

/* Looks now and then whether there is something, while it computes for those
 * who wait for it. */
static void looks_now_and_then(void)
{
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        MPI_Irecv(&other, 1, MPI_INT, 1, TAG, WORLD, &request);
        for (int i = 0; i < (int)(slow_s * 25); i++) {
            compute_s(0.04);
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
        tell(1, TAG);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        receive(0, TAG);
        tell(0, TAG);
    }
}

/* Rank 2 has nothing more to do. */
static void ended_early(void)
{
    if (rank == 0)
        receive(1, TAG);
    if (rank == 1) {
        compute_s(slow_s);
        tell(0, TAG);
    }
}

static void late_root(void)
{
    int all[3];

    if (rank == 1)
        wait_s(slow_s);
    MPI_Bcast(&one, 1, MPI_INT, 1, WORLD);
    if (rank == 2)
        wait_s(slow_s / 2);
    MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
    MPI_Reduce(&one, &other, 1, MPI_INT, MPI_SUM, 1, WORLD);
}

/* Root 0 has what rank 1 gave, who waits for it meanwhile. */
static void slow_gather(void)
{
    int all[3];

    if (rank == 2)
        compute_s(slow_s);
    MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
    if (rank == 0)
        tell(1, TAG);
    if (rank == 1)
        receive(0, TAG);
}

static void slow_immediate(void)
{
    MPI_Request request;

    if (rank == 0)
        compute_s(slow_s);
    MPI_Ibarrier(WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(large, LARGE, MPI_CHAR, right, TAG, WORLD, &request);
    if (rank == 1)
        wait_s(slow_s / 2);
    MPI_Recv(into, LARGE, MPI_CHAR, left, TAG, WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* What was started while recording was off is not counted. */
static void slow_unrecorded(void)
{
    MPI_Request request;

    MPI_Pcontrol(0);
    for (int i = 0; i < 3; i++) {
        MPI_Ibarrier(WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Pcontrol(1);
    if (rank == 2)
        compute_s(slow_s);
    MPI_Ibarrier(WORLD, &request);
    if (rank == 1)
        receive(0, TAG);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        tell(1, TAG);
}

static void slow_fence(void)
{
    MPI_Win window;
    static int memory;

    MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, WORLD, &window);
    if (rank == 2)
        compute_s(slow_s);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void slow_persistent(void)
{
    MPI_Request requests[2];

    MPI_Send_init(large, LARGE, MPI_CHAR, right, TAG, WORLD, &requests[0]);
    MPI_Recv_init(into, LARGE, MPI_CHAR, left, TAG, WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        if (rank == i)
            wait_s(slow_s / 2);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void slow_between_groups(void)
{
    MPI_Comm inter = intercommunicator();

    if (rank == 0) {
        compute_s(slow_s);
        MPI_Send(&one, 1, MPI_INT, 1, TAG, inter);
    }
    if (rank == 2)
        MPI_Recv(&other, 1, MPI_INT, 0, TAG, inter, MPI_STATUS_IGNORE);
    MPI_Barrier(WORLD);
}

static void slow_scan(void)
{
    if (rank == 0)
        compute_s(slow_s / 2);
    MPI_Scan(&one, &other, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank == 1)
        wait_s(slow_s / 2);
    MPI_Exscan(&one, &other, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank == 2) /* the others are through */
        tell(0, TAG);
    if (rank == 0)
        receive(2, TAG);
}

static void slow_window(void)
{
    MPI_Win window;

    if (rank == 1)
        wait_s(slow_s / 3);
    window = window_make();
    MPI_Win_fence(0, window);
    MPI_Put(&one, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    if (rank == 2)
        compute_s(slow_s / 3);
    MPI_Win_fence(0, window);
    if (rank == 0)
        wait_s(slow_s / 3);
    MPI_Win_free(&window);
}

/* Rank 1 has done its part and waits for rank 0, who waits for rank 2 too. */
static void slow_post(void)
{
    MPI_Win window = window_make();
    MPI_Group all, others;
    int zero = 0;

    MPI_Comm_group(WORLD, &all);
    MPI_Group_excl(all, 1, &zero, &others);
    if (rank == 0) {
        wait_s(slow_s / 2);
        MPI_Win_post(others, 0, window);
        MPI_Win_wait(window);
        tell(1, TAG);
    } else {
        MPI_Win_start(group_of(0), 0, window);
        MPI_Put(&one, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
        if (rank == 2)
            wait_s(slow_s / 2);
        MPI_Win_complete(window);
    }
    if (rank == 1)
        receive(0, TAG);
    MPI_Win_free(&window);
}

/* Rank 1 has started it, and waits for rank 0, who waits for rank 2. */
static void slow_immediate_others(void)
{
    MPI_Request requests[2];
    int sum;

    if (rank == 2)
        compute_s(slow_s / 2);
    MPI_Ibarrier(WORLD, &requests[0]);
    if (rank == 2)
        wait_s(slow_s / 2);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD, &requests[1]);
    if (rank == 1)
        receive(0, TAG);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        tell(1, TAG);
}

static void slow_immediate_roots(void)
{
    MPI_Request request;

    if (rank == 0)
        wait_s(slow_s / 3);
    MPI_Ibcast(&one, 1, MPI_INT, 0, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        wait_s(slow_s / 3);
    MPI_Ireduce(&one, &other, 1, MPI_INT, MPI_SUM, 0, WORLD, &request);
    poll(&request, 0);
    if (rank == 2)
        compute_s(slow_s / 3);
    MPI_Iscan(&one, &other, 1, MPI_INT, MPI_SUM, WORLD, &request);
    poll(&request, 20);
}

static void slow_broadcast(void)
{
    if (rank == 2)
        wait_s(slow_s);
    MPI_Bcast(large, MIDDLE, MPI_CHAR, 0, WORLD);
    if (rank == 0)
        tell(1, TAG);
    if (rank == 1)
        receive(0, TAG);
}

/* Of five ranks, the last. The others wait for rank 0 meanwhile. */
static void slow_fourth(void)
{
    MPI_Request requests[4];
    int got[4];

    if (rank > 0) {
        if (rank == 4)
            compute_s(slow_s);
        tell(0, TAG);
        receive(0, TAG);
        return;
    }
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i + 1, TAG, WORLD, &requests[i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        tell(i + 1, TAG);
}

#define UNASKED 3000 /* bytes; more than the recorder is sure of */

/* Rank 1 waits for rank 0 before it receives what rank 0 has sent, which has
 * left; rank 0 waits for rank 2. */
static void one_of_two_sends(void)
{
    MPI_Request requests[2];

    if (rank == 0) {
        MPI_Isend(large, UNASKED, MPI_CHAR, 1, TAG, WORLD, &requests[0]);
        MPI_Isend(large, LARGE, MPI_CHAR, 2, TAG, WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        tell(1, TAG + 1);
    } else if (rank == 1) {
        receive(0, TAG + 1);
        MPI_Recv(into, UNASKED, MPI_CHAR, 0, TAG, WORLD, MPI_STATUS_IGNORE);
    } else {
        wait_s(slow_s);
        MPI_Recv(into, LARGE, MPI_CHAR, 0, TAG, WORLD, MPI_STATUS_IGNORE);
    }
}

static void slow_any_of_two(void)
{
    MPI_Request requests[2];
    int got[2], index;

    if (rank > 0) {
        if (rank == 1)
            receive(0, TAG);
        else
            wait_s(slow_s);
        tell(0, TAG);
        return;
    }
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i + 1, TAG, WORLD, &requests[i]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    tell(1, TAG);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

/* What rank 0 sends is received by what rank 1 has posted. */
static void posted_before(void)
{
    MPI_Request requests[2];

    if (rank == 1) {
        MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, WORLD,
                  &requests[0]);
        MPI_Irecv(into, LARGE, MPI_CHAR, 0, MPI_ANY_TAG, WORLD, &requests[1]);
        receive(2, TAG);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 0) {
        wait_s(slow_s / 2);
        MPI_Ssend(large, LARGE, MPI_CHAR, 1, TAG, WORLD);
        tell(2, TAG);
    } else {
        receive(0, TAG);
        wait_s(slow_s / 2);
        tell(1, TAG);
        tell(1, TAG + 1);
    }
}

/* --- all of them --- */

static const struct {
    const char *name;
    void (*run)(void);
    const char *stuck; /* ranks; NULL: none */
    int ranks;
} programs[] = {
#define HANGS_OF(ranks, name, stuck)                                           \
    {                                                                          \
#name, name, stuck, ranks                                              \
    }
#define HANGS(name, stuck) HANGS_OF(3, name, stuck)
#define SLOW_OF(ranks, name) HANGS_OF(ranks, name, NULL)
#define SLOW(name) SLOW_OF(3, name)
    HANGS(ring_of_receives, "0 1 2"),
    HANGS(synchronous_sends, "0 1"),
    HANGS(large_sends, "0 1 2"),
    HANGS(order_of_collectives, "0 1 2"),
    HANGS(barrier_or_receive, "0 1 2"),
    HANGS(wrong_tag, "0 1"),
    HANGS(from_ended, "0 1 2"), /* the others in MPI_Finalize */
    HANGS(wildcards, "0 1 2"),
    HANGS(wait_all, "0 1 2"),
    HANGS(wait_all_second, "0 2"),
    HANGS(wait_send, "0 1 2"),
    HANGS(wait_some, "0 1 2"),
    HANGS(probes, "0 1 2"),
    HANGS(roots, "0 1"),
    HANGS(gather_or_receive, "0 1"),
    HANGS(two_communicators, "0 1 2"),
    HANGS(wrong_partner, "0 1 2"),
    HANGS(persistent, "0 1 2"),
    HANGS(polling, "0 1"),
    HANGS(probing, "0 1 2"),
    HANGS(between_groups, "0 1 2"),
    HANGS(not_all_split, "0 1 2"),
    HANGS(to_itself, "0"),
    HANGS(after_immediate, "0 1 2"),
    HANGS(scan_or_receive, "0 1 2"),
    HANGS(order_of_exscan, "0 1 2"),
    HANGS(fence_or_receive, "0 1 2"),
    HANGS(free_or_barrier, "0 1 2"),
    HANGS(window_or_receive, "0 1 2"),
    HANGS(window_not_completed, "0 1"),
    HANGS(immediate_or_receive, "0 1 2"),
    HANGS(immediate_second, "0 1 2"),
    HANGS(immediate_root, "0 1"),
    HANGS(immediate_to_root, "0 1"),
    HANGS(immediate_scan, "0 1 2"),
    HANGS(broadcast_or_receive, "0 1 2"),
    HANGS_OF(5, wait_all_fourth, "0 4"),
    HANGS_OF(5, test_all_fourth, "0 4"),
    HANGS(wait_all_sends, "0 2"),
    HANGS(wait_all_send, "0 1"),
    HANGS_OF(4, wait_any_of_two, "0 1 2"),
    HANGS(another_tag_is_posted, "0 1"),
    HANGS(another_communicator_is_posted, "0 1 2"),
    SLOW(late_message),
    SLOW(late_collective),
    SLOW(late_receiver),
    SLOW(large_exchange),
    SLOW(huge_message),
    SLOW(huge_collective),
    SLOW(chain),
    SLOW(workers),
    SLOW(wait_any_comes),
    SLOW(slow_subset),
    SLOW(late_split),
    SLOW(other_thread),
    SLOW(polling_comes),
    SLOW(probing_comes),
    SLOW(looks_now_and_then),
    SLOW(ended_early),
    SLOW(late_root),
    SLOW(slow_gather),
    SLOW(slow_immediate),
    SLOW(slow_unrecorded),
    SLOW(slow_fence),
    SLOW(slow_persistent),
    SLOW(slow_between_groups),
    SLOW(slow_scan),
    SLOW(slow_window),
    SLOW(slow_post),
    SLOW(slow_immediate_others),
    SLOW(slow_immediate_roots),
    SLOW(slow_broadcast),
    SLOW_OF(5, slow_fourth),
    SLOW(one_of_two_sends),
    SLOW(slow_any_of_two),
    SLOW(posted_before),
};

#define PROGRAMS (sizeof(programs) / sizeof(*programs))

static int list(void)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        printf("%s %d %s\n", programs[i].name, programs[i].ranks,
               programs[i].stuck ? programs[i].stuck : "none");
    return 0;
}

int main(int argc, char **argv)
{
    size_t which = 0;
    int provided;

    if (argc < 2)
        return list();
    alarm(300); /* whoever hangs must not do so for ever */
    while (which < PROGRAMS && strcmp(programs[which].name, argv[1]) != 0)
        which++;
    if (which == PROGRAMS)
        return 2;
    if (getenv("EVENTSPACE_SLOW_S"))
        slow_s = atof(getenv("EVENTSPACE_SLOW_S"));
    MPI_Init_thread(&argc, &argv,
                    programs[which].run == other_thread ? MPI_THREAD_MULTIPLE
                                                        : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    large = calloc(LARGE, 1);
    into = calloc(LARGE, 1);
    programs[which].run();
    MPI_Finalize();
    return 0;
}
