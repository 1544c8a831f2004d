/* identity.c - a program of MPI whose ranks send each other random messages in
 * all ways there are, and write down which message each receive got; for
 * identity_test.mjs.
 *
 *     identity MESSAGES SEED FOLDER [THREADS]
 *
 * Messages say themselves who sent them, and the how manieth of that thread
 * they are. FOLDER/RANK.THREAD.sent has a line for each message in the order in
 * which they were sent ("to tag bytes"), and RANK.THREAD.received one for each
 * that was received, in the order in which receives ended ("from thread
 * number").
 *
 * It goes by rounds. What is sent in one follows from the seed, so that each
 * rank knows what it is to receive. Receives of one communicator differ in a
 * round by their source, by their tag, by both or not at all, as otherwise one
 * with a wildcard might take what another one waits for. In a round of the one
 * kind all are posted before anything is sent, so that sends may wait for them;
 * in one of the other kind no send does. */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMMS = 4,    /* all, a duplicate, a half, and between the halves */
    TAGS = 3,     /* of messages at random */
    SENDS = 60,   /* of a rank in a communicator and round */
    MOST = 2048,  /* requests of a thread at once */
    ROOM = 70000, /* bytes of a buffer: more than is sent eagerly */
    FIXED = 96,   /* bytes of a persistent send */
    RING = 20,    /* tags of other kinds of messages */
    HANDED = 500,
    BOTH_POST,
    BOTH_SEND,
    STARTED,
    HANDED_COUNT = 40,
    PEERS = 64 /* most ranks */
};

typedef struct communicator {
    MPI_Comm comm;
    int peers[PEERS]; /* their ranks in MPI_COMM_WORLD */
    int peer_count;
} communicator;

typedef struct header {
    int32_t from, thread, number;
} header;

/* What is to be sent, or received. */
typedef struct message {
    int comm, peer, tag, bytes, way;
} message;

/* A request: of a buffer, and whether it receives. */
typedef struct task {
    MPI_Request request;
    char *buffer;
    bool receives, persists, is_active;
} task;

/* A request that is used again. */
typedef struct kept {
    MPI_Request request;
    char *buffer;
    bool is_made, is_used;
} kept;

typedef struct thread {
    int number, rounds;
    uint64_t plan, chance; /* the states of random numbers */
    communicator comms[COMMS];
    kept receives[COMMS * (PEERS + 1) * (TAGS + 1)],
        sends[COMMS * PEERS * TAGS];
    task tasks[MOST];
    int task_count;
    int32_t sent;
    FILE *sends_log, *receives_log;
    sem_t *is_known;
} thread;

#define KEPT(all) (sizeof(all) / sizeof(*(all)))

static int rank, size;
static uint64_t seed;
static const char *folder;

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int below(uint64_t *state, int end)
{
    return (int)(next(state) % (uint64_t)end);
}

/* --- what is written down --- */

static FILE *log_open(int number, const char *what)
{
    char name[4096];
    FILE *log;

    snprintf(name, sizeof(name), "%s/%d.%d.%s", folder, rank, number, what);
    log = fopen(name, "w");
    if (!log) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return log;
}

static void fill(thread *t, char *buffer, int to, int tag, int bytes)
{
    header h = {rank, t->number, t->sent++};

    memcpy(buffer, &h, sizeof(h));
    fprintf(t->sends_log, "%d %d %d\n", to, tag, bytes);
}

static void note(thread *t, const char *buffer)
{
    header h;

    memcpy(&h, buffer, sizeof(h));
    fprintf(t->receives_log, "%d %d %d\n", h.from, h.thread, h.number);
}

/* --- requests --- */

static char *room(void)
{
    char *buffer = calloc(1, ROOM);

    if (!buffer)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return buffer;
}

static task *add(thread *t, char *buffer, bool receives)
{
    task *own = &t->tasks[t->task_count++];

    if (t->task_count > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    *own = (task){MPI_REQUEST_NULL, buffer, receives, false, true};
    return own;
}

static void done(thread *t, task *own)
{
    if (own->receives)
        note(t, own->buffer);
    if (!own->persists)
        free(own->buffer);
    own->is_active = false;
}

/* Completes some of a few of those that are active, as chance will have it. */
static void complete(thread *t)
{
    task *chosen[MOST];
    MPI_Request requests[MOST];
    MPI_Status statuses[MOST];
    int indexes[MOST], count = 0, few = 0, flag = 1, way;
    MPI_Status *one, *all;

    for (int i = 0; i < t->task_count; i++)
        if (t->tasks[i].is_active)
            chosen[count++] = &t->tasks[i];
    for (int i = count - 1; i > 0; i--) {
        int other = below(&t->chance, i + 1);
        task *swapped = chosen[i];
        chosen[i] = chosen[other];
        chosen[other] = swapped;
    }
    way = below(&t->chance, 8);
    if (way >= 4) /* of many; or of a few */
        count = 1 + below(&t->chance, count < 9 ? count : 9);
    for (int i = 0; i < count; i++)
        requests[i] = chosen[i]->request;
    one = below(&t->chance, 2) ? MPI_STATUS_IGNORE : statuses;
    all = below(&t->chance, 2) ? MPI_STATUSES_IGNORE : statuses;
    switch (way) {
    case 0:
        MPI_Waitsome(count, requests, &few, indexes, all);
        break;
    case 1:
        MPI_Testsome(count, requests, &few, indexes, all);
        break;
    case 2:
        MPI_Waitany(count, requests, indexes, one);
        few = 1;
        break;
    case 3:
        MPI_Testany(count, requests, indexes, &flag, one);
        few = flag && indexes[0] != MPI_UNDEFINED ? 1 : 0;
        break;
    case 4:
        MPI_Waitall(count, requests, all);
        few = -count;
        break;
    case 5:
        MPI_Testall(count, requests, &flag, all);
        few = flag ? -count : 0;
        break;
    case 6:
        MPI_Wait(&requests[0], one);
        few = -1;
        break;
    default:
        MPI_Test(&requests[0], &flag, one);
        few = flag ? -1 : 0;
    }
    for (int i = 0; i < count; i++)
        chosen[i]->request = requests[i];
    for (int i = 0; i < abs(few); i++)
        done(t, chosen[few < 0 ? i : indexes[i]]);
}

static bool is_busy(const thread *t)
{
    for (int i = 0; i < t->task_count; i++)
        if (t->tasks[i].is_active)
            return true;
    return false;
}

static void complete_all(thread *t)
{
    while (is_busy(t))
        complete(t);
    t->task_count = 0;
    for (size_t i = 0; i < KEPT(t->receives); i++)
        t->receives[i].is_used = false;
    for (size_t i = 0; i < KEPT(t->sends); i++)
        t->sends[i].is_used = false;
}

/* --- what is sent in a round --- */

/* That which a rank sends in it; the same wherever it is asked. */
static void planned(const thread *t, int round, int comm, int from, int peers,
                    message out[SENDS])
{
    uint64_t state = t->plan ^ (uint64_t)round << 32 ^ (uint64_t)comm << 24 ^
                     (uint64_t)from << 8;

    for (int i = 0; i < SENDS; i++) {
        message *m = &out[i];
        m->comm = comm;
        m->peer = below(&state, peers);
        m->tag = below(&state, TAGS);
        m->way = below(&state, 10);
        m->bytes = (int)sizeof(header) + below(&state, 200);
        if (below(&state, 12) == 0)
            m->bytes = (int)sizeof(header) + below(&state, ROOM - 100);
        if (m->way >= 8)
            m->bytes = FIXED;
    }
}

static void shuffle(thread *t, message *all, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int other = below(&t->chance, i + 1);
        message swapped = all[i];
        all[i] = all[other];
        all[other] = swapped;
    }
}

/* How receives of a communicator differ. */
static void generalise(message *m, int policy)
{
    if (policy == 1 || policy == 3 || (policy == 4 && m->tag == 1))
        m->peer = MPI_ANY_SOURCE;
    if (policy == 2 || policy == 3)
        m->tag = MPI_ANY_TAG;
}

static int own_index(const communicator *c)
{
    for (int i = 0; i < c->peer_count; i++)
        if (c->peers[i] == rank)
            return i;
    return -1;
}

/* Of the group that the peers of this rank send to. */
static int to_receive(thread *t, int round, message *out)
{
    message sent[SENDS];
    int count = 0;

    for (int c = 0; c < COMMS; c++) {
        const communicator *own = &t->comms[c];
        uint64_t state = t->plan ^ (uint64_t)round << 32 ^ (uint64_t)c << 24;
        int policy = below(&state, 5);
        bool is_inter = own_index(own) < 0;
        int mine = is_inter ? rank / 2 : own_index(own);
        int targets = is_inter ? (size + 1 - rank % 2) / 2 : own->peer_count;
        for (int i = 0; i < own->peer_count; i++) {
            planned(t, round, c, own->peers[i], targets, sent);
            for (int k = 0; k < SENDS; k++) {
                if (sent[k].peer != mine)
                    continue;
                out[count] = sent[k];
                out[count].peer = i;
                generalise(&out[count++], policy);
            }
        }
    }
    shuffle(t, out, count);
    return count;
}

static int to_send(thread *t, int round, message *out)
{
    for (int c = 0; c < COMMS; c++)
        planned(t, round, c, rank, t->comms[c].peer_count, out + SENDS * c);
    shuffle(t, out, COMMS * SENDS);
    return COMMS * SENDS;
}

/* --- receiving --- */

static void start(thread *t, task *own)
{
    if (below(&t->chance, 2))
        MPI_Start(&own->request);
    else
        MPI_Startall(1, &own->request);
}

static bool start_kept_receive(thread *t, const message *m)
{
    int peer = m->peer == MPI_ANY_SOURCE ? PEERS : m->peer;
    int tag = m->tag == MPI_ANY_TAG ? TAGS : m->tag;
    kept *k = &t->receives[(m->comm * (PEERS + 1) + peer) * (TAGS + 1) + tag];
    task *own;

    if (k->is_used)
        return false;
    if (!k->is_made) {
        k->buffer = room();
        MPI_Recv_init(k->buffer, ROOM, MPI_BYTE, m->peer, m->tag,
                      t->comms[m->comm].comm, &k->request);
        k->is_made = true;
    }
    k->is_used = true;
    own = add(t, k->buffer, true);
    own->request = k->request;
    own->persists = true;
    start(t, own);
    k->request = own->request;
    return true;
}

static void post(thread *t, const message *m)
{
    task *own;

    if (below(&t->chance, 3) == 0 && start_kept_receive(t, m))
        return;
    own = add(t, room(), true);
    MPI_Irecv(own->buffer, ROOM, MPI_BYTE, m->peer, m->tag,
              t->comms[m->comm].comm, &own->request);
}

static void receive(thread *t, const message *m)
{
    MPI_Comm comm = t->comms[m->comm].comm;
    MPI_Status own = {0},
               *status = below(&t->chance, 2) ? &own : MPI_STATUS_IGNORE;
    MPI_Message handle;
    char *buffer = room();
    task *later;
    int flag = 0;

    switch (below(&t->chance, 7)) {
    case 0:
        MPI_Mprobe(m->peer, m->tag, comm, &handle, status);
        MPI_Mrecv(buffer, ROOM, MPI_BYTE, &handle, status);
        break;
    case 1:
        while (!flag)
            MPI_Improbe(m->peer, m->tag, comm, &flag, &handle, status);
        MPI_Mrecv(buffer, ROOM, MPI_BYTE, &handle, status);
        break;
    case 2:
        MPI_Mprobe(m->peer, m->tag, comm, &handle, status);
        later = add(t, buffer, true);
        MPI_Imrecv(buffer, ROOM, MPI_BYTE, &handle, &later->request);
        return;
    case 3:
        MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, ROOM,
                     MPI_BYTE, m->peer, m->tag, comm, status);
        break;
    case 4:
        MPI_Probe(m->peer, m->tag, comm, &own);
        MPI_Recv(buffer, ROOM, MPI_BYTE, own.MPI_SOURCE, own.MPI_TAG, comm,
                 status);
        break;
    case 5:
        later = add(t, buffer, true);
        MPI_Irecv(buffer, ROOM, MPI_BYTE, m->peer, m->tag, comm,
                  &later->request);
        return;
    default:
        MPI_Recv(buffer, ROOM, MPI_BYTE, m->peer, m->tag, comm, status);
    }
    note(t, buffer);
    free(buffer);
}

/* --- sending --- */

static bool start_kept_send(thread *t, const message *m, int to)
{
    kept *k = &t->sends[(m->comm * PEERS + m->peer) * TAGS + m->tag];
    MPI_Comm comm = t->comms[m->comm].comm;
    task *own;

    if (k->is_used)
        return false;
    if (!k->is_made) {
        k->buffer = room();
        if (m->tag == 1)
            MPI_Ssend_init(k->buffer, FIXED, MPI_BYTE, m->peer, m->tag, comm,
                           &k->request);
#ifndef OPEN_MPI /* 4.1.4 sends what the first of them has sent once more */
        else if (m->tag == 2)
            MPI_Bsend_init(k->buffer, FIXED, MPI_BYTE, m->peer, m->tag, comm,
                           &k->request);
#endif
        else
            MPI_Send_init(k->buffer, FIXED, MPI_BYTE, m->peer, m->tag, comm,
                          &k->request);
        k->is_made = true;
    }
    k->is_used = true;
    fill(t, k->buffer, to, m->tag, FIXED);
    own = add(t, k->buffer, false);
    own->request = k->request;
    own->persists = true;
    start(t, own);
    k->request = own->request;
    return true;
}

static void send(thread *t, const message *m, bool may_wait)
{
    int to = t->comms[m->comm].peers[m->peer], bytes = m->bytes;
    MPI_Comm comm = t->comms[m->comm].comm;
    char *buffer;
    task *own;

    if (m->way >= 8 && start_kept_send(t, m, to))
        return;
    buffer = room();
    fill(t, buffer, to, m->tag, bytes);
    if (may_wait && m->way < 5) {
        if (m->way == 0)
            MPI_Ssend(buffer, bytes, MPI_BYTE, m->peer, m->tag, comm);
        else if (m->way == 1)
            MPI_Bsend(buffer, bytes, MPI_BYTE, m->peer, m->tag, comm);
        else if (m->way == 2)
            MPI_Rsend(buffer, bytes, MPI_BYTE, m->peer, m->tag, comm);
        else if (m->way == 3)
            MPI_Sendrecv(buffer, bytes, MPI_BYTE, m->peer, m->tag, NULL, 0,
                         MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
        else
            MPI_Send(buffer, bytes, MPI_BYTE, m->peer, m->tag, comm);
        free(buffer);
        return;
    }
    own = add(t, buffer, false);
    if (m->way == 5)
        MPI_Issend(buffer, bytes, MPI_BYTE, m->peer, m->tag, comm,
                   &own->request);
    else if (m->way == 6)
        MPI_Ibsend(buffer, bytes, MPI_BYTE, m->peer, m->tag, comm,
                   &own->request);
    else
        MPI_Isend(buffer, bytes, MPI_BYTE, m->peer, m->tag, comm,
                  &own->request);
}

/* --- rounds --- */

/* Each to the next, and from the one before. */
static void ring(thread *t)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Comm comm = t->comms[below(&t->plan, 2)].comm;
    char out[64] = "", in[64];

    fill(t, out, to, RING, sizeof(out));
    MPI_Sendrecv(out, sizeof(out), MPI_BYTE, to, RING, in, sizeof(in), MPI_BYTE,
                 from, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    note(t, in);
    fill(t, out, to, RING, sizeof(out));
    MPI_Sendrecv_replace(out, sizeof(out), MPI_BYTE, to, RING, MPI_ANY_SOURCE,
                         RING, comm, MPI_STATUS_IGNORE);
    note(t, out);
}

static void with_nobody(thread *t)
{
    MPI_Comm comm = t->comms[0].comm;
    MPI_Request requests[2];
    MPI_Message handle;
    int x = 0, y;

    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 1, comm);
    MPI_Recv(&y, 1, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(&y, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[0]);
    MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 1, comm, &handle, MPI_STATUS_IGNORE);
    MPI_Mrecv(&y, 1, MPI_INT, &handle, MPI_STATUS_IGNORE);
}

static void round_of(thread *t, int number)
{
    message receives[MOST], sends[COMMS * SENDS];
    int receive_count = to_receive(t, number, receives);
    int send_count = to_send(t, number, sends), posted = receive_count;
    bool all_are_posted = below(&t->plan, 2) == 0;

    if (!all_are_posted)
        posted = below(&t->chance, receive_count + 1);
    for (int i = 0; i < posted; i++)
        post(t, &receives[i]);
    MPI_Barrier(t->comms[0].comm);
    for (int i = 0; i < send_count; i++) {
        send(t, &sends[i], all_are_posted);
        if (below(&t->chance, 4) == 0 && is_busy(t) && all_are_posted &&
            below(&t->chance, 4) == 0) {
            int flag;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, t->comms[0].comm, &flag,
                       MPI_STATUS_IGNORE);
        }
    }
    for (int i = posted; i < receive_count; i++)
        receive(t, &receives[i]);
    complete_all(t);
    MPI_Barrier(t->comms[0].comm);
    ring(t);
    if (number % 16 == 0)
        with_nobody(t);
}

/* --- threads --- */

static void comms_make(thread *t)
{
    communicator *c = t->comms;
    int half = rank % 2;

    MPI_Comm_dup(c[0].comm, &c[1].comm);
    MPI_Comm_split(c[0].comm, half, rank, &c[2].comm);
    MPI_Intercomm_create(c[2].comm, 0, c[0].comm, 1 - half, 100 + t->number,
                         &c[3].comm);
    for (int i = 0; i < size; i++) {
        c[0].peers[c[0].peer_count++] = c[1].peers[c[1].peer_count++] = i;
        if (i % 2 == half)
            c[2].peers[c[2].peer_count++] = i;
        else
            c[3].peers[c[3].peer_count++] = i;
    }
}

static void kept_free(kept *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].is_made) {
            MPI_Request_free(&all[i].request);
            free(all[i].buffer);
        }
}

static void *thread_run(void *argument)
{
    thread *t = argument;
    int first;

    MPI_Comm_rank(t->comms[0].comm, &first); /* by which it is numbered */
    if (t->is_known)
        sem_post(t->is_known);
    comms_make(t);
    for (int i = 0; i < t->rounds; i++)
        round_of(t, i);
    kept_free(t->receives, KEPT(t->receives));
    kept_free(t->sends, KEPT(t->sends));
    for (int c = 1; c < COMMS; c++)
        MPI_Comm_free(&t->comms[c].comm);
    return NULL;
}

static thread *thread_make(int number, int rounds, MPI_Comm comm)
{
    thread *t = calloc(1, sizeof(*t));

    if (!t)
        MPI_Abort(MPI_COMM_WORLD, 1);
    t->number = number;
    t->rounds = rounds;
    t->plan = seed + (uint64_t)number * 7919;
    t->chance = seed ^ (uint64_t)rank << 16 ^ (uint64_t)number << 40;
    t->comms[0].comm = comm;
    t->sends_log = log_open(number, "sent");
    t->receives_log = log_open(number, "received");
    return t;
}

static void thread_end(thread *t)
{
    fclose(t->sends_log);
    fclose(t->receives_log);
    free(t);
}

/* --- two threads of one purpose --- */

/* Of the other thread that takes part. */
typedef struct pair {
    thread *main, *other;
    MPI_Request requests[HANDED_COUNT], both[2 * HANDED_COUNT];
    char in[HANDED_COUNT][64], both_in[2 * HANDED_COUNT][64];
    sem_t is_known, is_posted, is_read;
    pthread_barrier_t at_once;
} pair;

static void wait_in_any_order(thread *t, MPI_Request *requests, char in[][64],
                              int count)
{
    int indexes[2 * HANDED_COUNT], few;

    for (int left = count; left > 0; left -= few) {
        MPI_Waitsome(count, requests, &few, indexes, MPI_STATUSES_IGNORE);
        for (int i = 0; i < few; i++)
            note(t, in[indexes[i]]);
    }
}

static void send_many(thread *t, int tag)
{
    int to = (rank + 1) % size;

    for (int i = 0; i < HANDED_COUNT; i++) {
        char out[64] = "";
        fill(t, out, to, tag, sizeof(out));
        MPI_Send(out, sizeof(out), MPI_BYTE, to, tag, MPI_COMM_WORLD);
    }
}

static void post_half(pair *p, int half)
{
    for (int i = 0; i < HANDED_COUNT; i++)
        MPI_Irecv(p->both_in[2 * i + half], 64, MPI_BYTE, MPI_ANY_SOURCE,
                  BOTH_POST, MPI_COMM_WORLD, &p->both[2 * i + half]);
}

static void *other_run(void *argument)
{
    pair *p = argument;
    int first;

    MPI_Comm_rank(MPI_COMM_WORLD, &first);
    sem_post(&p->is_known);
    for (int i = 0; i < 2; i++) { /* what the other thread has posted */
        sem_wait(&p->is_posted);
        wait_in_any_order(p->other, p->requests, p->in, HANDED_COUNT);
        sem_post(&p->is_read);
    }
    pthread_barrier_wait(&p->at_once);
    post_half(p, 1);
    pthread_barrier_wait(&p->at_once);
    send_many(p->other, BOTH_SEND);
    return NULL;
}

static void hand_over(pair *p, int tag)
{
    int from = (rank + size - 1) % size;

    for (int i = 0; i < HANDED_COUNT; i++) {
        if (tag == HANDED)
            MPI_Irecv(p->in[i], 64, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                      &p->requests[i]);
        else
            MPI_Recv_init(p->in[i], 64, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                          &p->requests[i]);
    }
    if (tag == STARTED)
        MPI_Startall(HANDED_COUNT, p->requests);
    sem_post(&p->is_posted);
    send_many(p->main, tag);
    sem_wait(&p->is_read);
    for (int i = 0; i < HANDED_COUNT && tag == STARTED; i++)
        MPI_Request_free(&p->requests[i]);
}

static void by_two_threads(int number, thread *main)
{
    static pair p;
    pthread_t other;

    p.main = main;
    p.other = thread_make(number, 0, MPI_COMM_WORLD);
    sem_init(&p.is_known, 0, 0);
    sem_init(&p.is_posted, 0, 0);
    sem_init(&p.is_read, 0, 0);
    pthread_barrier_init(&p.at_once, NULL, 2);
    pthread_create(&other, NULL, other_run, &p);
    sem_wait(&p.is_known);
    hand_over(&p, HANDED);
    hand_over(&p, STARTED);
    pthread_barrier_wait(&p.at_once);
    post_half(&p, 0);
    pthread_barrier_wait(&p.at_once);
    send_many(main, BOTH_SEND);
    pthread_join(other, NULL);
    send_many(main, BOTH_POST);
    send_many(main, BOTH_POST);
    wait_in_any_order(main, p.both, p.both_in, 2 * HANDED_COUNT);
    for (int i = 0; i < 2 * HANDED_COUNT; i++) {
        char in[64];
        MPI_Recv(in, sizeof(in), MPI_BYTE, MPI_ANY_SOURCE, BOTH_SEND,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note(main, in);
    }
    thread_end(p.other);
}

int main(int argc, char **argv)
{
    int threads = argc > 4 ? atoi(argv[4]) : 1, provided, rounds;
    long messages = atol(argv[1]);
    static char buffered[1 << 26];
    thread *all[64];
    pthread_t ids[64];
    void *detached;
    int bytes;
    sem_t is_known;

    if (threads > 1) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        if (provided != MPI_THREAD_MULTIPLE)
            MPI_Abort(MPI_COMM_WORLD, 3);
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seed = strtoull(argv[2], NULL, 10);
    folder = argv[3];
    rounds = (int)(messages / (size * COMMS * SENDS * threads)) + 1;
    MPI_Buffer_attach(buffered, sizeof(buffered));
    sem_init(&is_known, 0, 0);
    for (int i = 0; i < threads; i++) {
        MPI_Comm comm = MPI_COMM_WORLD;
        if (threads > 1)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        all[i] = thread_make(i, rounds, comm);
    }
    for (int i = 1; i < threads; i++) {
        all[i]->is_known = &is_known;
        pthread_create(&ids[i], NULL, thread_run, all[i]);
        sem_wait(&is_known);
    }
    thread_run(all[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    if (threads > 1)
        by_two_threads(threads, all[0]);
    for (int i = 0; i < threads; i++)
        thread_end(all[i]);
    MPI_Buffer_detach(&detached, &bytes);
    MPI_Finalize();
    return 0;
}
