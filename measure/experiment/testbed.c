/* testbed.c - namespaces and links by ip(8) and tc(8).
 *
 * Every two machines have a veth pair `es-I-J` (the end of machine I that leads
 * to J). A machine has one address, on its loopback, and a route to each other
 * one over their pair; so a process of a path map has one address, as it
 * should, and each link its own queue.
 *
 * tbf lets a burst through at full speed. It is as small as a packet here, and
 * packets are no larger than on Ethernet, so that even one message of a few
 * kilobytes takes its time on the link. */
#include "measure/experiment/testbed_internal.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pastset/status.h"

#define MACHINES_MAX 64
#define NAME_BYTES 24
/* Not ip -n, tc -n: these have mounts of their own as well, which nobody can
 * have below a chroot. */
#define IN_NAMESPACE "nsenter --net=/run/netns/%s "
#define FRAME 1514      /* Ethernet: 1500 and the header */
#define QUEUE (4 << 20) /* bytes that may wait for a link */

extern char **environ;

struct measure_testbed {
    char name[NAME_BYTES + 1];
    uint32_t machines;
    uint32_t number; /* second and third byte of addresses */
    char namespaces[MACHINES_MAX][NAME_BYTES + 8];
    char addresses[MACHINES_MAX][24];
};

/* Runs a command of words between blanks. What it says is our error text. */
static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int finish(pid_t pid, int fd, const char *command)
{
    char said[400] = "", *end;
    size_t used = 0;
    ssize_t got;
    int status = 0;

    while ((got = read(fd, said + used, sizeof(said) - 1 - used)) > 0)
        used += (size_t)got;
    said[used] = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    end = strchr(said, '\n');
    if (end)
        *end = 0;
    if (strstr(said, "not permitted") || strstr(said, "Permission denied"))
        return pastset_fail(
            PASTSET_ENOTSUP,
            "`%s`: %s; making networks on this machine requires CAP_NET_ADMIN "
            "and CAP_SYS_ADMIN, which root has",
            command, said);
    return pastset_fail(PASTSET_EIO, "`%s`: %s", command,
                        *said ? said : "it failed");
}

static int start(pid_t *pid, int *fd, char **words)
{
    posix_spawn_file_actions_t actions;
    int fds[2], err;

    if (pipe(fds) != 0)
        return pastset_fail(pastset_status_from_errno(errno), "a pipe: %s",
                            strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
    posix_spawn_file_actions_addclose(&actions, fds[0]);
    err = posix_spawnp(pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    *fd = fds[0];
    if (!err)
        return 0;
    close(fds[0]);
    return pastset_fail(PASTSET_ENOTSUP,
                        "%s: %s; it is in the package iproute2", words[0],
                        strerror(err));
}

static int run(const char *format, ...)
{
    char text[400], command[400], *words[48], *state, *word;
    size_t count = 0;
    va_list arguments;
    pid_t pid;
    int fd = -1, err;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    memcpy(command, text, sizeof(command));
    for (word = strtok_r(text, " ", &state); word && count < 47;
         word = strtok_r(NULL, " ", &state))
        words[count++] = word;
    words[count] = NULL;
    err = start(&pid, &fd, words);
    if (err)
        return err;
    err = finish(pid, fd, command);
    close(fd);
    return err;
}

static int machine_make(measure_testbed *t, uint32_t i)
{
    const char *space = t->namespaces[i];
    int err;

    run("ip netns del %s", space); /* of one that was killed */
    err = run("ip netns add %s", space);
    if (!err)
        err = run(IN_NAMESPACE "ip link set lo up", space);
    if (!err)
        err = run(IN_NAMESPACE "ip addr add %s/32 dev lo", space,
                  t->addresses[i]);
    return err;
}

/* One end of a link: up, with packets as on Ethernet, and the way to the other
 * machine over it. */
static int end_make(measure_testbed *t, uint32_t from, uint32_t to)
{
    const char *space = t->namespaces[from];
    int err = run(IN_NAMESPACE "ip link set es-%u-%u mtu 1500 gso_max_segs 1 "
                               "txqueuelen 1000 up",
                  space, from, to);

    if (!err)
        err = run(IN_NAMESPACE "ip route add %s/32 dev es-%u-%u src %s", space,
                  t->addresses[to], from, to, t->addresses[from]);
    return err;
}

static int link_make(measure_testbed *t, uint32_t a, uint32_t b)
{
    int err =
        run(IN_NAMESPACE "ip link add es-%u-%u type veth peer name es-%u-%u "
                         "netns %s",
            t->namespaces[a], a, b, b, a, t->namespaces[b]);

    if (!err)
        err = end_make(t, a, b);
    if (!err)
        err = end_make(t, b, a);
    return err;
}

int measure_testbed_create(measure_testbed **out, const char *name,
                           uint32_t machines)
{
    measure_testbed *t;
    int err = 0;

    *out = NULL;
    if (machines == 0 || machines > MACHINES_MAX || strlen(name) > NAME_BYTES ||
        !*name || strchr(name, '/'))
        return pastset_fail(PASTSET_EINVAL,
                            "a testbed has a name of up to %d letters, and 1 "
                            "to %d machines",
                            NAME_BYTES, MACHINES_MAX);
    t = calloc(1, sizeof(*t));
    if (!t)
        return pastset_no_memory("for a testbed");
    snprintf(t->name, sizeof(t->name), "%s", name);
    t->machines = machines;
    for (const char *c = name; *c; c++)
        t->number = (t->number * 31 + (unsigned char)*c) % 65536;
    for (uint32_t i = 0; i < machines; i++) {
        snprintf(t->namespaces[i], sizeof(t->namespaces[i]), "%s-%u", name, i);
        snprintf(t->addresses[i], sizeof(t->addresses[i]), "10.%u.%u.%u",
                 t->number >> 8, t->number & 255, i + 1);
    }
    for (uint32_t i = 0; i < machines && !err; i++)
        err = machine_make(t, i);
    for (uint32_t i = 0; i < machines && !err; i++) {
        for (uint32_t j = 0; j < i && !err; j++)
            err = link_make(t, j, i);
    }
    if (err) {
        measure_testbed_destroy(t);
        return pastset_fail_while(err, "making the testbed %s", name);
    }
    *out = t;
    return 0;
}

void measure_testbed_destroy(measure_testbed *testbed)
{
    char text[1024];

    if (!testbed)
        return;
    /* The text of what failed before is not to be lost. */
    snprintf(text, sizeof(text), "%s", pastset_error());
    for (uint32_t i = 0; i < testbed->machines; i++)
        run("ip netns del %s", testbed->namespaces[i]);
    pastset_fail(0, "%s", text);
    free(testbed);
}

uint32_t measure_testbed_machines(const measure_testbed *testbed)
{
    return testbed->machines;
}

const char *measure_testbed_namespace(const measure_testbed *testbed,
                                      uint32_t machine)
{
    return testbed->namespaces[machine];
}

const char *measure_testbed_address(const measure_testbed *testbed,
                                    uint32_t machine)
{
    return testbed->addresses[machine];
}

static int end_limit(measure_testbed *t, uint32_t from, uint32_t to,
                     double bandwidth)
{
    const char *space = t->namespaces[from];

    if (bandwidth <= 0) {
        run(IN_NAMESPACE "tc qdisc del dev es-%u-%u root", space, from, to);
        return 0; /* there may have been none */
    }
    return run(IN_NAMESPACE
               "tc qdisc replace dev es-%u-%u root tbf rate %.0fbit "
               "burst %d limit %d",
               space, from, to, bandwidth * 8, FRAME + 86, QUEUE);
}

int measure_testbed_limit(measure_testbed *testbed, uint32_t a, uint32_t b,
                          double bandwidth)
{
    int err;

    if (a >= testbed->machines || b >= testbed->machines || a == b)
        return pastset_fail(PASTSET_EINVAL, "there is no link %u-%u", a, b);
    err = end_limit(testbed, a, b, bandwidth);
    if (!err)
        err = end_limit(testbed, b, a, bandwidth);
    return err;
}
