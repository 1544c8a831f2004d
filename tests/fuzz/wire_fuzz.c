/* wire_fuzz.c - whatever comes over a connection is parsed or refused, and
 * when the connection is gone nothing of it is left.
 *
 * Two processes of one map are within this one, without threads, and their
 * loops are turned by hand. An input is
 *
 *   0 u8  what the connection is: see MODE_*; bit 7: the second process
 *   1 u8  bytes that arrive at once (0: all)
 *   2     what arrives
 *
 * A fuzzer can guess neither keys and digests nor the ids of requests. So what
 * it claims in a handshake is sealed for it, with the digest of the map where
 * it claims 0; and in frames that begin where a frame should, the ids of
 * replies are replaced by those of requests that wait for one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/net/connection_internal.h"
#include "paths/wrappers/collective_internal.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum {
    MODE_GREETING, /* nothing is known of it */
    MODE_CLAIM,    /* it knows the key, and claims what comes first */
    MODE_THREAD,   /* it was let in, as these */
    MODE_LOOP,
    MODE_MEMBER,
    MODE_LINK, /* this process has connected, and waits for replies */
    MODE_LINK_MEMBER,
    MODE_ANSWER,  /* this process has connected, and is answered this claim */
    MODE_SEALED,  /* it was let in, and what arrives is sealed */
    MODE_RECORDS, /* it was let in, and seals nothing, though it should */
    MODE_RELAY,   /* it was let in, to ask for a way on */
    MODES,
};

#define WAITING 4 /* requests whose replies a link waits for */
#define INPUT_MAX 8192

static const char map_text[] =
    "digraph g { subgraph cluster_h0 {\n"
    "e0 [kind=element, type=\"i32 u32\", capacity=4];\n"
    "v0 [kind=element, type=\"bytes[200]\", capacity=4, policy=discard];\n"
    "d0 [kind=delay, latency=\"1us\"]; q0 [kind=proxy];\n"
    "t0 [kind=thread, number=0]; a0 [kind=proxy]; b0 [kind=proxy];\n"
    "sum [kind=sum]; total [kind=element, type=i64, policy=discard];\n"
    "all [kind=alltoall, deadline=\"1us\"];\n"
    "turned [kind=element, type=\"u16[4]\", policy=discard];\n"
    "c0 [kind=proxy]; }\n"
    "subgraph cluster_h1 {\n"
    "e1 [kind=element, type=\"i32 u32\", capacity=4];\n"
    "v1 [kind=element, type=\"bytes[200]\", capacity=4, policy=discard];\n"
    "d1 [kind=delay, latency=\"1us\"]; q1 [kind=proxy];\n"
    "t1 [kind=thread, number=1]; a1 [kind=proxy]; b1 [kind=proxy];\n"
    "s1 [kind=proxy]; x1 [kind=proxy];\n"
    "c1 [kind=proxy]; }\n"
    "t0 -> a0 [as=a, use=both]; a0 -> e1; t0 -> b0 [as=b, use=both];\n"
    "b0 -> v1; t0 -> c0 [as=c, use=both]; c0 -> d1; d1 -> q1; q1 -> e0;\n"
    "t1 -> a1 [as=a, use=both]; a1 -> e0; t1 -> b1 [as=b, use=both];\n"
    "b1 -> v0; t1 -> c1 [as=c, use=both]; c1 -> d0; d0 -> q0; q0 -> e1;\n"
    "t0 -> sum [as=s]; t1 -> s1 [as=s]; s1 -> sum; sum -> total;\n"
    "t0 -> all [as=x]; t1 -> x1 [as=x]; x1 -> all; all -> turned; }\n";

static const uint8_t key[PATHS_KEY_BYTES] = {42};
static paths_map *map;
static paths_process *both[2];

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s (%s)\n", what, pastset_error());
    abort();
}

static void processes_make(void)
{
    paths_process_options options = {.key = key, .listen_fd = -1};

    must(paths_map_parse(&map, map_text, strlen(map_text), "fuzz.dot") == 0,
         "the map can be read");
    for (int i = 0; i < 2; i++) {
        options.map = map;
        options.process = i ? "h1" : "h0";
        must(paths_process_start(&both[i], &options) == 0,
             "a process can start");
        /* Where an input takes long, the other has still not come too late. */
        both[i]->since_ms = uv_now(&both[i]->loop);
        both[i]->connect_timeout_ms = UINT32_MAX;
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    processes_make();
    return 0;
}

/* --- turning the loop --- */

static void turn(paths_process *process)
{
    for (int i = 0; i < 2; i++)
        uv_run(&process->loop, UV_RUN_NOWAIT);
}

/* Reads what the process has sent, and forgets it. */
static void drain(int fd)
{
    char rest[4096];

    while (recv(fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
        ;
}

static void feed(paths_process *process, int fd, const uint8_t *data,
                 size_t bytes, size_t at_once)
{
    while (bytes) {
        size_t part = at_once && at_once < bytes ? at_once : bytes;
        if (send(fd, data, part, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)part)
            return; /* the process has closed it */
        turn(process);
        drain(fd);
        data += part;
        bytes -= part;
    }
}

/* The same by who knows the session's keys: `at_once` bytes in each record. */
static void feed_sealed(paths_process *process, channel *to,
                        const uint8_t *data, size_t bytes, size_t at_once)
{
    while (bytes) {
        size_t part = at_once && at_once < bytes ? at_once : bytes;
        struct iovec text = {(void *)(uintptr_t)data, part};
        if (paths__channel_send(to, &text, 1, MSG_NOSIGNAL | MSG_DONTWAIT) !=
            (ssize_t)part)
            return; /* the process has closed it */
        turn(process);
        drain(to->fd);
        data += part;
        bytes -= part;
    }
}

/* --- connections --- */

/* From here on a connection is sealed, with keys that nobody had to agree on;
 * its other end has the socket `fd`. */
static channel channel_make(connection *c, int fd)
{
    handshake h = {.seals = HANDSHAKE_SEALED};
    channel other = {.fd = fd};

    must(paths__channel_begin(&c->channel, &h, false) == 0 &&
             paths__channel_begin(&other, &h, true) == 0,
         "a channel can be sealed");
    return other;
}

/* A connection of the process; returns the far end. */
static int connection_make(paths_process *process, connection_state state,
                           connection **out)
{
    int ends[2];

    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
         "there are sockets");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    uv_update_time(&process->loop); /* it is turned by hand, maybe long ago */
    must(paths__connection_open(out, process, (channel){.fd = ends[0]},
                                state) == 0,
         "a connection can be opened");
    if (state == CONNECTION_GREETING)
        process->unauthenticated++;
    return ends[1];
}

/* What the input claims, sealed by who knows the key. */
static void claim_seal(noise *n, paths_process *process,
                       unsigned char claim[HANDSHAKE_CLAIM_BYTES],
                       unsigned char message[HANDSHAKE_MESSAGE_BYTES])
{
    static const uint8_t secret[NOISE_KEY_BYTES] = {1};

    if (memcmp(claim, (uint64_t[]){0}, 8) == 0)
        memcpy(claim, &process->digest, 8);
    paths__handshake_opening(message);
    paths__noise_begin(n, message, HANDSHAKE_OPENING_BYTES, key, secret);
    must(paths__noise_first_write(n, claim, HANDSHAKE_CLAIM_BYTES,
                                  message + HANDSHAKE_OPENING_BYTES) == 0,
         "a message can be made");
}

/* Claims it, and gives the proof if it is answered. */
static void claim_feed(paths_process *process, int fd,
                       unsigned char claim[HANDSHAKE_CLAIM_BYTES])
{
    unsigned char message[HANDSHAKE_MESSAGE_BYTES];
    unsigned char proof[HANDSHAKE_PROOF_BYTES];
    noise_cipher own, theirs;
    noise n;

    claim_seal(&n, process, claim, message);
    must(send(fd, message, sizeof(message), MSG_NOSIGNAL) ==
             (ssize_t)sizeof(message),
         "a message can be sent");
    turn(process);
    if (recv(fd, message, sizeof(message), MSG_DONTWAIT) !=
        (ssize_t)sizeof(message))
        return;
    must(paths__noise_second_read(&n, claim, HANDSHAKE_CLAIM_BYTES,
                                  message + HANDSHAKE_OPENING_BYTES) == 0,
         "the answer can be read");
    paths__noise_split(&n, &own, &theirs);
    paths__noise_seal(&own, NULL, 0, proof);
    feed(process, fd, proof, sizeof(proof), 0);
}

static int opened_make(paths_process *process, uint16_t role)
{
    unsigned char claim[HANDSHAKE_CLAIM_BYTES] = {0};
    connection *c;
    int fd = connection_make(process, CONNECTION_GREETING, &c);

    memcpy(claim + 8, &role, 2);
    strcpy((char *)claim + 16, process_name(process, 1 - process->self));
    strcpy((char *)claim + 16 + HANDSHAKE_NAME_BYTES,
           paths_process_name(process));
    claim_feed(process, fd, claim);
    must((role == ROLE_MEMBER && process->self != 0) ||
             (process->connections &&
              process->connections->state == CONNECTION_OPEN),
         "who belongs here is let in");
    return fd;
}

/* A process that was called answers this. Nothing of it is on a socket. */
static void answer_feed(paths_process *process, const uint8_t *data,
                        size_t bytes)
{
    handshake_claim own = {.role = ROLE_LOOP, .digest = process->digest};
    unsigned char claim[HANDSHAKE_CLAIM_BYTES] = {0}, theirs[sizeof(claim)];
    unsigned char message[HANDSHAKE_MESSAGE_BYTES];
    unsigned char proof[HANDSHAKE_PROOF_BYTES];
    noise n;
    handshake h;
    int err;

    strcpy(own.from, paths_process_name(process));
    strcpy(own.to, process_name(process, 1 - process->self));
    memcpy(claim, data, bytes < sizeof(claim) ? bytes : sizeof(claim));
    must(paths__handshake_begin(&h, key, &own, message) == 0,
         "a handshake can begin");
    paths__noise_begin(&n, message, HANDSHAKE_OPENING_BYTES, key, key);
    must(paths__noise_first_read(&n, theirs, sizeof(theirs),
                                 message + HANDSHAKE_OPENING_BYTES) == 0,
         "its message can be read");
    must(paths__noise_second_write(&n, claim, sizeof(claim),
                                   message + HANDSHAKE_OPENING_BYTES) == 0,
         "it can be answered");
    for (size_t i = sizeof(claim); i < bytes && i < sizeof(claim) + 40; i++)
        message[i % sizeof(message)] ^= data[i]; /* and damaged */
    err = paths__handshake_finish(&h, &own, message, proof);
    must(err || (strcmp(h.claim.from, own.to) == 0 &&
                 strcmp(h.claim.to, own.from) == 0),
         "only the right process is believed");
    paths__handshake_wipe(&h);
}

static int link_make(paths_process *process, uint16_t role)
{
    connection *c;
    int fd = connection_make(process, CONNECTION_OPEN, &c);

    c->peer = 1 - process->self;
    c->role = role;
    process->told_done = role == ROLE_MEMBER; /* so that END may come */
    if (role == ROLE_MEMBER)
        process->peers[c->peer].member = c;
    else
        process->peers[c->peer].link = c;
    return fd;
}

/* Requests of the other process that go back to it over `link`: their ids. */
static int requests_send(paths_process *process, int link, uint32_t *ids)
{
    uint32_t proxy =
        process->numbers[paths_map_find_node(map, process->self ? "c0" : "c1")];
    static const uint8_t tuple[8];
    int fd = opened_make(process, ROLE_LOOP);
    int count = 0;

    for (uint32_t i = 0; i < WAITING; i++) {
        wire_request request = {.id = i,
                                .kind = WIRE_REQUEST,
                                .verb = i % 2 ? PASTSET_WRITE : PASTSET_READ,
                                .bytes = i % 2 ? 8 : 0,
                                .proxy = proxy,
                                .timeout_ms = WIRE_FOREVER,
                                .capacity = 8};
        feed(process, fd, (const uint8_t *)&request, sizeof(request), 0);
        feed(process, fd, tuple, request.bytes, 0);
    }
    for (int i = 0; i < 1000 && count < WAITING; i++) {
        wire_header header;
        uint8_t rest[64];
        turn(process); /* until the delay is over */
        while (recv(link, &header, sizeof(header), MSG_DONTWAIT) ==
               (ssize_t)sizeof(header)) {
            if (header.bytes)
                must(recv(link, rest, header.bytes, MSG_DONTWAIT) ==
                         (ssize_t)header.bytes,
                     "frames are sent whole");
            ids[count++] = header.id;
        }
        if (count < WAITING)
            usleep(1);
    }
    return fd;
}

/* Replaces the ids of replies in frames that follow each other. */
static void ids_replace(uint8_t *data, size_t bytes, const uint32_t *ids)
{
    wire_header header;

    while (bytes >= sizeof(header)) {
        memcpy(&header, data, sizeof(header));
        if (header.kind == WIRE_REPLY && header.id < 128)
            header.id = ids[header.id % WAITING];
        memcpy(data, &header, sizeof(header));
        if (header.bytes > bytes - sizeof(header))
            return;
        data += sizeof(header) + header.bytes;
        bytes -= sizeof(header) + header.bytes;
    }
}

/* --- after an input --- */

/* Rounds begin anew: who has left, and what is owed, is made undone. */
static void rounds_reset(paths_process *process)
{
    paths__collectives_gone(process, 1 - process->self, "the input has ended");
    for (uint32_t i = 0; i < map->node_count; i++) {
        collective *c;
        uint32_t round;
        if (!process->stages[i] || !process->stages[i]->joins)
            continue;
        c = process->stages[i]->state;
        must(!c->failing && !c->representative, "no round is on its way");
        round = state_round(atomic_load(&c->state));
        for (uint32_t k = 0; k < c->count; k++) {
            c->inputs[k].owes = 0;
            atomic_store(&c->inputs[k].round, round - 2); /* none */
        }
        c->late = 0;
        atomic_store(&c->closed, false);
        atomic_store(&c->state, state_of(round, 0));
    }
}

/* Nothing is left behind; and what ends a run is made undone. */
static void clear(paths_process *process)
{
    rounds_reset(process);
    for (int i = 0; i < 100 && process->connections; i++)
        turn(process);
    must(process->connections == NULL, "the connection was closed");
    turn(process);
    must(process->unauthenticated == 0, "strangers are counted");
    must(process->held == NULL && process->held_count == 0, "nothing is held");
    must(process->timers.count == 0, "no timer is left");
    for (int i = 0; i < 2; i++) {
        must(process->peers[i].pending.first == NULL, "nothing is waited for");
        must(!process->peers[i].link && !process->peers[i].member,
             "no connection is left with a peer");
        process->peers[i].done = false;
        atomic_store(&process->peers[i].dead, false);
        free(process->peers[i].why);
        process->peers[i].why = NULL;
    }
    for (size_t i = 0; i < pastset_space_count(process->space); i++)
        pastset_element_truncate(pastset_space_at(process->space, i),
                                 UINT64_MAX);
    atomic_store(&process->failed, 0);
    process->failure[0] = 0;
    process->failure_told = process->ended = process->told_done = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static uint8_t copy[INPUT_MAX];
    uint32_t ids[WAITING] = {0};
    connection *c;
    channel sealed = {.fd = -1};
    paths_process *process;
    unsigned char claim[HANDSHAKE_CLAIM_BYTES] = {0};
    size_t begin = 0;
    int fd, other = -1;

    if (bytes < 2 || bytes > INPUT_MAX)
        return 0;
    if (!both[0])
        processes_make(); /* where it is not libFuzzer that calls */
    process = both[data[0] >> 7];
    paths__current_set(&process->loop_executor);
    bytes -= 2;
    memcpy(copy, data + 2, bytes);
    switch ((data[0] & 127) % MODES) {
    case MODE_GREETING:
        fd = connection_make(process, CONNECTION_GREETING, &c);
        break;
    case MODE_CLAIM:
        fd = connection_make(process, CONNECTION_GREETING, &c);
        begin = bytes < sizeof(claim) ? bytes : sizeof(claim);
        memcpy(claim, copy, begin);
        claim_feed(process, fd, claim);
        break;
    case MODE_THREAD:
        fd = opened_make(process, ROLE_THREAD);
        break;
    case MODE_LOOP:
        fd = opened_make(process, ROLE_LOOP);
        break;
    case MODE_RELAY:
        fd = opened_make(process, ROLE_RELAY);
        break;
    case MODE_MEMBER:
        fd = opened_make(process, ROLE_MEMBER);
        break;
    case MODE_SEALED:
    case MODE_RECORDS:
        fd = opened_make(process, ROLE_LOOP);
        sealed = channel_make(process->connections, fd);
        break;
    case MODE_LINK:
        fd = link_make(process, ROLE_LOOP);
        other = requests_send(process, fd, ids);
        ids_replace(copy, bytes, ids);
        break;
    case MODE_LINK_MEMBER:
        fd = link_make(process, ROLE_MEMBER);
        break;
    default:
        answer_feed(process, copy, bytes);
        paths__current_set(NULL);
        return 0;
    }
    if ((data[0] & 127) % MODES == MODE_SEALED)
        feed_sealed(process, &sealed, copy, bytes, data[1]);
    else
        feed(process, fd, copy + begin, bytes - begin, data[1]);
    if (sealed.fd >= 0)
        paths__channel_close(&sealed);
    else
        close(fd);
    if (other >= 0) {
        turn(process);
        drain(other);
        close(other);
    }
    clear(process);
    paths__current_set(NULL);
    return 0;
}
