/* processes_socket.c - which TCP sockets belong to which process.
 *
 * The links in /proc/PID/fd name sockets by their inodes, /proc/PID/net/tcp of
 * a network namespace tells the ends of each inode. The tables are read only
 * for sockets that were not seen before. The links must be looked at again and
 * again, as nothing tells when one socket was closed and another opened: for
 * most processes at each probe, and for those with many less often, so that it
 * takes a hundredth of a processor at most. What once was seen is kept. */
#include "measure/processes/processes_internal.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/array.h"

#define COST_SHARE 100
#define TRIES 8 /* samples in which a new socket may come to be connected */

/* --- ends --- */

/* 32 bits of an address, as 8 hex digits in the order of this machine. */
static bool parse_word(const char *text, uint32_t *out)
{
    char digits[9] = "";
    memcpy(digits, text, 8);
    char *end;
    *out = (uint32_t)strtoul(digits, &end, 16);
    return *end == '\0';
}

/* "0100007F:1F90", or 32 digits before the colon. IPv4 in IPv6 is IPv4. */
static bool parse_end(const char *text, char address[46], uint16_t *port)
{
    const char *colon = strchr(text, ':');
    size_t digits = colon ? (size_t)(colon - text) : 0;
    uint32_t words[4] = {0};
    if (digits != 8 && digits != 32)
        return false;
    for (size_t i = 0; i < digits / 8; i++)
        if (!parse_word(text + 8 * i, &words[i]))
            return false;
    *port = (uint16_t)strtoul(colon + 1, NULL, 16);
    if (digits == 32 && !words[0] && !words[1] &&
        (words[2] == htonl(0xffff) || (!words[2] && !words[3]))) {
        words[0] = words[3];
        digits = 8;
    }
    return inet_ntop(digits == 8 ? AF_INET : AF_INET6, words, address, 46);
}

static void take_line(measure_watch *w, uint64_t network, const char *line)
{
    char local[48], remote[48];
    unsigned long long inode;
    if (sscanf(line, " %*d: %47s %47s %*x %*s %*s %*s %*u %*u %llu", local,
               remote, &inode) != 3 ||
        !inode)
        return;
    for (size_t i = 0; i < w->socket_count; i++) {
        measure__socket *s = &w->sockets[i];
        if (s->known || s->inode != inode || s->network != network)
            continue;
        if (parse_end(local, s->local, &s->local_port) &&
            parse_end(remote, s->remote, &s->remote_port))
            s->known = true;
    }
}

static void read_table(measure_watch *w, pid_t pid, uint64_t network,
                       const char *which)
{
    char name[64], line[512];
    snprintf(name, sizeof(name), "/proc/%d/net/%s", pid, which);
    FILE *file = fopen(name, "re");
    if (!file)
        return;
    while (fgets(line, sizeof(line), file))
        take_line(w, network, line);
    fclose(file);
}

/* --- a process's files --- */

static bool has_socket(const measure_watch *w, pid_t pid, uint64_t inode)
{
    for (size_t i = w->socket_count; i-- > 0;)
        if (w->sockets[i].pid == pid && w->sockets[i].inode == inode)
            return true;
    return false;
}

static bool add_socket(measure_watch *w, const measure_process *p,
                       uint64_t inode)
{
    void *grown =
        pastset_array_grow(w->sockets, w->socket_count, sizeof(*w->sockets));
    if (!grown) {
        w->memory = true;
        return false;
    }
    w->sockets = grown;
    w->sockets[w->socket_count++] =
        (measure__socket){.inode = inode, .network = p->network, .pid = p->pid};
    return true;
}

/* Whether there are new ones. */
static bool list_sockets(measure_watch *w, size_t process)
{
    const measure_process *p = &w->result.processes[process];
    char name[64], target[64];
    unsigned long long inode;
    bool fresh = false;
    snprintf(name, sizeof(name), "/proc/%d/fd", p->pid);
    DIR *folder = opendir(name);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        ssize_t got = readlinkat(dirfd(folder), entry->d_name, target,
                                 sizeof(target) - 1);
        target[got > 0 ? got : 0] = '\0';
        if (sscanf(target, "socket:[%llu]", &inode) == 1 &&
            !has_socket(w, p->pid, inode))
            fresh |= add_socket(w, p, inode);
    }
    if (folder)
        closedir(folder);
    return fresh;
}

/* A socket that was there before it was connected has no other end yet. */
static bool waits(const measure_watch *w, pid_t pid)
{
    for (size_t i = w->socket_count; i-- > 0;)
        if (w->sockets[i].pid == pid && !w->sockets[i].known &&
            w->sockets[i].tries < TRIES)
            return true;
    return false;
}

static void count_try(measure_watch *w, pid_t pid)
{
    for (size_t i = w->socket_count; i-- > 0;)
        if (w->sockets[i].pid == pid && !w->sockets[i].known &&
            w->sockets[i].tries < TRIES)
            w->sockets[i].tries++;
}

void measure__look_at_sockets(measure_watch *w, size_t process)
{
    pid_t pid = w->result.processes[process].pid;
    uint64_t network = w->result.processes[process].network;
    int64_t now = measure__now(CLOCK_MONOTONIC), before;
    bool fresh;
    if (w->no_sockets || now < w->processes[process].sockets_next_ns)
        return;
    before = measure__now(CLOCK_THREAD_CPUTIME_ID);
    fresh = list_sockets(w, process);
    w->processes[process].sockets_next_ns =
        now + COST_SHARE * (measure__now(CLOCK_THREAD_CPUTIME_ID) - before);
    if (!fresh && !waits(w, pid))
        return;
    read_table(w, pid, network, "tcp");
    read_table(w, pid, network, "tcp6");
    count_try(w, pid);
}

/* --- asking --- */

bool measure_watch_connects(const measure_watch *w, pid_t pid)
{
    for (size_t i = 0; i < w->socket_count; i++)
        if (w->sockets[i].pid == pid && w->sockets[i].known &&
            w->sockets[i].remote_port)
            return true;
    return false;
}

static bool fits(const measure__socket *s, uint64_t network,
                 const char *address, uint16_t port)
{
    return s->known && (!network || s->network == network) &&
           s->local_port == port &&
           (strcmp(s->local, address) == 0 ||
            (!s->remote_port && strcmp(s->local, "0.0.0.0") == 0));
}

pid_t measure_watch_owner(const measure_watch *w, uint64_t network,
                          const char *local, uint16_t local_port,
                          const char *remote, uint16_t remote_port)
{
    pid_t listener = 0;
    for (size_t i = 0; i < w->socket_count; i++) {
        const measure__socket *s = &w->sockets[i];
        if (!fits(s, network, local, local_port))
            continue;
        if (s->remote_port == remote_port && strcmp(s->remote, remote) == 0)
            return s->pid;
        /* The last one: who began to listen may only have handed it on. */
        if (!s->remote_port)
            listener = s->pid;
    }
    return listener;
}
