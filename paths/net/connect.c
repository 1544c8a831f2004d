/* connect.c - connecting to another process, until frames can go.
 *
 * Tries again while the other process is not up yet, proves who this one is,
 * and is let in or told why not. Where it does not reach that process itself,
 * each one on the way is asked to pass on what is said from there
 * (relay_internal.h). It blocks, but not for longer than there is a reason to
 * wait for that process. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/map/networks_internal.h"
#include "paths/net/connect_internal.h"
#include "paths/net/member_internal.h"
#include "paths/net/records_internal.h"
#include "paths/net/wire_internal.h"

#define AGAIN_NS 2000000000 /* for a second try */
#define RECONNECT_MS 10000  /* for one who was there before */

void paths__socket_tune(int fd)
{
    int one = 1, idle = 1, interval = 1, count = 3;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    /* A machine that vanished is found out within some four seconds. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

/* An address that nobody answers for is given up after a second, not after the
 * kernel's two minutes: the run may have failed meanwhile. */
static int socket_connect(const paths_address *address)
{
    struct timeval turn = {.tv_sec = 1};
    int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &turn, sizeof(turn));
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address->socket,
                           address->bytes) != 0) {
        int error = errno;
        close(fd);
        errno = error == EINPROGRESS ? ETIMEDOUT : error;
        return -1;
    }
    return fd;
}

static bool worth_retrying(int error)
{
    return error == ECONNREFUSED || error == EHOSTUNREACH ||
           error == ENETUNREACH || error == ETIMEDOUT || error == EINTR;
}

/* The reason, as an error. */
static int vain(paths_process *process, uint32_t to)
{
    return atomic_load(&process->failed) ? paths__process_failure(process)
                                         : paths__gone_why(process, to);
}

static int write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return pastset_fail(PASTSET_EHOST, "%s", strerror(errno));
        at += sent;
        bytes -= (size_t)sent;
    }
    return 0;
}

/* A connection that is being made: reading from it ends with the run, or when
 * the other process has died or has not said all that it must by the
 * deadline. */
typedef struct joining {
    paths_process *process;
    paths__networks *networks;
    uint32_t to;
    channel channel;
    int64_t deadline_ns;
    uint32_t refused_ms; /* so long it may be that it is not up yet: */
    int64_t refused_ns;
    bool is_refused; /* nobody listens there, by the last try */
    bool again;      /* it is joined in place of another that died */
    bool closed;     /* by the other process */
    bool reached;    /* somebody was there */
    bool refused;    /* and said why this process cannot come in */
} joining;

/* Is there a reason not to wait for that process any longer? */
static bool is_vain(const joining *j)
{
    return (atomic_load(&j->process->failed) && !j->again) ||
           atomic_load(&j->process->peers[j->to].dead);
}

/* Connects to that process or the first one on the way to it, again and again
 * while that is not up yet. */
static int dial(joining *j, uint32_t hop)
{
    paths_process *process = j->process;
    char text[PATHS_ADDRESS_TEXT];
    paths_address address;
    int err = paths__networks_address(j->networks, process->map, process->self,
                                      hop, text);

    if (!err)
        err = paths_address_parse(&address, text);
    while (!err) {
        int error;

        j->channel.fd = socket_connect(&address);
        if (j->channel.fd >= 0)
            return 0;
        error = errno;
        j->is_refused = error == ECONNREFUSED;
        if (!worth_retrying(error) || pastset_now_ns() > j->deadline_ns ||
            (error == ECONNREFUSED && pastset_now_ns() > j->refused_ns) ||
            is_vain(j))
            err = pastset_fail(PASTSET_EHOST, "%s: %s", text, strerror(error));
        else
            poll(NULL, 0, 20); /* it is not up yet */
    }
    return err;
}

static int read_all(joining *j, void *data, size_t bytes)
{
    char *at = data;

    while (bytes) {
        ssize_t got = paths__channel_receive(&j->channel, at, bytes, 0);
        bool again = got < 0 && (errno == EINTR || errno == EAGAIN);

        if (got == 0 || (got < 0 && errno == ECONNRESET)) {
            j->closed = true;
            return pastset_fail(PASTSET_EHOST, "it closed the connection");
        }
        if (got < 0 && !again)
            return pastset_fail(PASTSET_EHOST, "%s",
                                paths__channel_error(errno));
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        }
        /* Also when a little comes now and then. */
        if (bytes && is_vain(j))
            return vain(j->process, j->to);
        /* One that was there before may be slow; the kernel knows whether it
         * has vanished. */
        if (bytes && pastset_now_ns() > j->deadline_ns && !j->again)
            return pastset_fail(PASTSET_EHOST, "it does not answer");
    }
    return 0;
}

/* What comes back to the first message. A process that does not know its key,
 * or has another name, closes the connection without a word. */
static int answer_read(joining *j,
                       unsigned char second[HANDSHAKE_MESSAGE_BYTES])
{
    int err = read_all(j, second, HANDSHAKE_OPENING_BYTES);

    if (err && j->closed && !j->again)
        return pastset_fail(PASTSET_EAUTH,
                            "it did not accept this process's key (or is "
                            "another process than the map says)");
    if (!err)
        err = paths__handshake_opening_check(second);
    if (!err)
        err = read_all(j, second + HANDSHAKE_OPENING_BYTES,
                       HANDSHAKE_MESSAGE_BYTES - HANDSHAKE_OPENING_BYTES);
    return err;
}

/* What goes over others may go over more than is seen from here. */
static uint8_t seals_of(const paths_process *process, int fd, bool is_relayed)
{
    const char *encrypt = paths_attributes_get(
        &process->map->processes[process->self].attributes, "encrypt");
    uint8_t seals = paths__records_have_aes() ? HANDSHAKE_AES : 0;

    if (!encrypt)
        encrypt = paths_attributes_get(&process->map->attributes, "encrypt");
    if (paths__channel_is_exposed(fd, encrypt) ||
        (is_relayed && !(encrypt && strcmp(encrypt, "never") == 0)))
        seals |= HANDSHAKE_SEALED;
    return seals;
}

uint8_t paths__connection_seals(const paths_process *process, int fd)
{
    return seals_of(process, fd, false);
}

static int greet(joining *j, uint32_t whom, uint16_t role, bool is_relayed)
{
    paths_process *process = j->process;
    handshake_claim own = {.role = role,
                           .digest = process->digest,
                           .seals =
                               seals_of(process, j->channel.fd, is_relayed)};
    unsigned char message[HANDSHAKE_MESSAGE_BYTES];
    unsigned char proof[HANDSHAKE_PROOF_BYTES];
    handshake h;
    int err;

    snprintf(own.from, sizeof(own.from), "%s", paths_process_name(process));
    snprintf(own.to, sizeof(own.to), "%s", process_name(process, whom));
    err = paths__handshake_begin(&h, process->key, &own, message);
    if (err)
        goto done;
    err = write_all(j->channel.fd, message, sizeof(message));
    if (err)
        goto done;
    err = answer_read(j, message);
    if (err)
        goto done;
    err = paths__handshake_finish(&h, &own, message, proof);
    if (err)
        goto done;
    if (h.claim.digest != own.digest) {
        err = pastset_fail(PASTSET_EHOST, HANDSHAKE_OTHER_MAP);
        goto done;
    }
    err = write_all(j->channel.fd, proof, sizeof(proof));
    if (!err)
        err = paths__channel_begin(&j->channel, &h, true);
done:
    paths__handshake_wipe(&h);
    return err;
}

/* The other process knows now who wants to come in, and says whether he may. */
static int welcome_read(joining *j)
{
    wire_header header;
    char text[WIRE_TEXT_BYTES + 1];
    int err = read_all(j, &header, sizeof(header));

    if (!err)
        err = paths__wire_header_check(&header, 0);
    if (err)
        return err;
    if (header.kind == WIRE_FAILED) {
        err = read_all(j, text, header.bytes);
        if (err)
            return err;
        text[header.bytes] = 0;
        j->refused = true;
        return pastset_fail(PASTSET_EHOST, "%s", text);
    }
    if (header.kind != WIRE_WELCOME)
        return pastset_fail(PASTSET_EPROTO,
                            "it did not complete the handshake");
    return 0;
}

/* Asks the process at the other end for a way on to the next one, again and
 * again while that is not up yet. */
static int way_on(joining *j, uint32_t onward)
{
    const char *name = process_name(j->process, onward);
    wire_header header = {.kind = WIRE_RELAY, .bytes = (uint32_t)strlen(name)};
    int err;

    do {
        struct iovec parts[2] = {{&header, sizeof(header)},
                                 {(void *)(uintptr_t)name, header.bytes}};
        j->refused = false;
        /* An empty socket takes it whole. */
        err =
            paths__channel_send(&j->channel, parts, 2, MSG_NOSIGNAL) < 0
                ? pastset_fail(PASTSET_EHOST, "%s", paths__channel_error(errno))
                : welcome_read(j);
        if (!err || !j->refused || is_vain(j) ||
            pastset_now_ns() > j->deadline_ns ||
            pastset_now_ns() > j->refused_ns)
            break;
        poll(NULL, 0, 20);
    } while (true);
    j->refused = false; /* by one on the way: whoever is meant did not */
    if (err)
        return err;
    paths__channel_unseal(&j->channel);
    return 0;
}

/* Proves to the process at the other end who this is, and is let in. */
static int enter(joining *j, uint32_t whom, uint16_t role, bool is_relayed)
{
    int err = greet(j, whom, role, is_relayed);

    return err ? err : welcome_read(j);
}

/* The process behind `hop` to which the way leads; `to` itself, or
 * PATHS_NONE. */
static int onward_of(joining *j, uint32_t hop, uint32_t *out)
{
    *out = paths__networks_next(j->networks, hop, j->to);
    if (*out == PATHS_NONE)
        return pastset_fail(PASTSET_EMAP,
                            "no process between is in networks of both");
    return 0;
}

/* One try. */
static int connect_once(joining *j, uint16_t role)
{
    struct timeval turn = {.tv_usec = 100000};
    uint32_t hop, onward;
    bool is_relayed = false;
    int err = onward_of(j, j->process->self, &hop);

    j->closed = false;
    j->refused_ns = pastset_now_ns() + (int64_t)j->refused_ms * 1000000;
    if (!err)
        err = dial(j, hop);
    if (!err) {
        paths__socket_tune(j->channel.fd);
        setsockopt(j->channel.fd, SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof(turn));
    }
    for (; !err && hop != j->to; hop = onward, is_relayed = true) {
        err = onward_of(j, hop, &onward);
        if (!err)
            err = enter(j, hop, ROLE_RELAY, is_relayed);
        if (!err)
            err = way_on(j, onward);
        if (err && !j->refused)
            pastset_fail_while(err, "over process %s",
                               process_name(j->process, hop));
    }
    if (!err) {
        if (role == ROLE_MEMBER && !j->reached && !j->again)
            paths__launcher_tell(j->process, j->process->self, PATHS_COMING);
        j->reached = true;
        err = enter(j, j->to, role, is_relayed);
    }
    if (err)
        paths__channel_close(&j->channel);
    return err;
}

/* It was there, and has closed the connection: it may have died just then, and
 * whoever stands in for it says so (stand_in.c). */
static int connect_again(joining *j, uint16_t role, int err)
{
    int64_t soon = pastset_now_ns() + AGAIN_NS;
    char text[WIRE_TEXT_BYTES];
    int again;

    snprintf(text, sizeof(text), "%s", pastset_error());
    if (j->deadline_ns > soon)
        j->deadline_ns = soon;
    again = connect_once(j, role);
    if (again && !j->refused)
        pastset_fail(err, "%s", text);
    return again;
}

/* A process that does not let us in may have ended because the run has failed,
 * or has died. Then that is being told to us too, and is what should be
 * reported. */
static bool cause_comes(const joining *j)
{
    for (int i = 0; i < 25 && !is_vain(j) && !j->again; i++)
        poll(NULL, 0, 20);
    return is_vain(j);
}

/* A process that has failed says how itself, but for what it says of others. */
static int refused_why(int err, const char *name)
{
    char text[WIRE_TEXT_BYTES];
    const char *how;

    snprintf(text, sizeof(text), "%s", pastset_error());
    how = paths__failure_of(text, name);
    if (!how)
        return pastset_fail_while(err, "cannot join process %s", name);
    return strstr(how, "process ")
               ? pastset_fail(err, "ended because process %s failed: %s", name,
                              how)
               : pastset_fail(err, "ended because process %s failed", name);
}

static int join(joining *j, uint16_t role, channel *out)
{
    const char *name = process_name(j->process, j->to);
    struct timeval none = {0, 0};
    int err = paths__networks_create(&j->networks, j->process->map);

    if (!err)
        err = connect_once(j, role);
    if (err && j->reached && !j->refused && !is_vain(j) && !j->again)
        err = connect_again(j, role, err);
    paths__networks_destroy(j->networks);
    if (err && role == ROLE_MEMBER && j->refused && j->reached)
        /* The coordinator knows. */
        paths__launcher_tell(j->process, j->process->self, PATHS_COME);
    if (err && ((!j->refused && cause_comes(j)) || is_vain(j)))
        return vain(j->process, j->to);
    if (err && j->refused)
        return refused_why(err, name);
    if (err && !j->again)
        return pastset_fail_while(err, "cannot join process %s", name);
    if (err)
        return err;
    setsockopt(j->channel.fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
    setsockopt(j->channel.fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
    *out = j->channel;
    return 0;
}

static joining joining_of(paths_process *process, uint32_t to,
                          uint32_t timeout_ms, uint32_t refused_ms)
{
    return (joining){.process = process,
                     .to = to,
                     .channel = {.fd = -1},
                     .deadline_ns =
                         pastset_now_ns() + (int64_t)timeout_ms * 1000000,
                     .refused_ms = refused_ms};
}

int paths__connect(paths_process *process, uint32_t to, uint16_t role,
                   channel *out)
{
    joining j = joining_of(process, to, process->connect_timeout_ms,
                           process->refused_ms);

    return join(&j, role, out);
}

int paths__reconnect(paths_process *process, uint32_t to, bool *refused,
                     channel *out)
{
    joining j = joining_of(process, to, RECONNECT_MS, 0);
    int err;

    j.again = true;
    err = join(&j, ROLE_MEMBER, out);
    *refused = j.refused;
    return err;
}

probe paths__probe(paths_process *process, uint32_t to)
{
    joining j = joining_of(process, to, 0, 0);
    probe found = PROBE_UNREACHABLE;

    j.again = true;
    if (paths__networks_create(&j.networks, process->map) == 0 &&
        paths__networks_next(j.networks, process->self, to) == to) {
        if (dial(&j, to) == 0)
            found = PROBE_THERE;
        else if (j.is_refused)
            found = PROBE_REFUSED;
    }
    paths__channel_close(&j.channel);
    paths__networks_destroy(j.networks);
    return found;
}

/* --- the ways of connections --- */

uint32_t paths__between(const paths_process *process, uint32_t from,
                        uint32_t to, uint32_t *between)
{
    paths__networks *networks;
    uint32_t count = 0, hop = from;

    if (paths__networks_create(&networks, process->map) != 0)
        return 0;
    while ((hop = paths__networks_next(networks, hop, to)) != to &&
           hop != PATHS_NONE)
        between[count++] = hop;
    paths__networks_destroy(networks);
    for (uint32_t i = 0; to == process->self && 2 * i + 1 < count; i++) {
        uint32_t far = between[i];
        between[i] = between[count - 1 - i];
        between[count - 1 - i] = far;
    }
    return count;
}

uint32_t *paths__between_room(const paths_process *process)
{
    return malloc(((size_t)process->process_count + 1) * sizeof(uint32_t));
}

int paths__lost_why(const paths_process *process, uint32_t to, const char *why)
{
    uint32_t *between = paths__between_room(process);
    uint32_t count =
        between ? paths__between(process, process->self, to, between) : 0;
    char names[WIRE_TEXT_BYTES / 2] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < count && used < sizeof(names); i++)
        used +=
            (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                             i ? ", " : "", process_name(process, between[i]));
    free(between);
    if (count)
        return pastset_fail(PASTSET_EHOST,
                            "process %s died, or one on the way to it (%s): %s",
                            process_name(process, to), names, why);
    return pastset_fail(PASTSET_EHOST, "process %s died: %s",
                        process_name(process, to), why);
}
