/* testbed_test.c - real namespaces and links, seen with ip(8) and tc(8). */
#include "measure/experiment/testbed_internal.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"

TestSuite(testbed, .timeout = 120);

static char name[20];

static measure_testbed *make(uint32_t machines)
{
    measure_testbed *testbed;
    int err;

    snprintf(name, sizeof(name), "est%d", (int)getpid());
    err = measure_testbed_create(&testbed, name, machines);
    if (err == PASTSET_ENOTSUP)
        cr_skip_test("%s", pastset_error());
    check_status(err, 0);
    return testbed;
}

/* The first bytes that a command prints. */
static const char *printed(const char *command)
{
    static char text[4096];
    FILE *pipe = popen(command, "r");
    size_t used = fread(text, 1, sizeof(text) - 1, pipe);

    text[used] = 0;
    pclose(pipe);
    return text;
}

static void enter(const char *space)
{
    char file[80];
    int fd;

    snprintf(file, sizeof(file), "/run/netns/%s", space);
    fd = open(file, O_RDONLY);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
        _exit(9);
    close(fd);
}

static struct sockaddr_in at(const char *address, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};

    inet_pton(AF_INET, address, &to.sin_addr);
    return to;
}

/* A child in the namespace of a machine connects to another one and sends where
 * it comes from. */
static void send_from(const char *space, const char *to, int number)
{
    struct sockaddr_in address = at(to, 7000);
    int fd;

    enter(space);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        write(fd, &number, sizeof(number)) != sizeof(number))
        _exit(8);
    _exit(0);
}

static int receive(int listener, char *from, size_t capacity)
{
    struct sockaddr_in peer;
    socklen_t bytes = sizeof(peer);
    int number = -1, fd = accept(listener, (struct sockaddr *)&peer, &bytes);

    cr_assert_eq(read(fd, &number, sizeof(number)), (ssize_t)sizeof(number));
    inet_ntop(AF_INET, &peer.sin_addr, from, (socklen_t)capacity);
    close(fd);
    return number;
}

/* A listening socket of a machine: made by a child would not come back, so this
 * thread goes there and returns. */
static int listen_at(const measure_testbed *testbed, uint32_t machine)
{
    struct sockaddr_in address =
        at(measure_testbed_address(testbed, machine), 7000);
    int back = open("/proc/self/ns/net", O_RDONLY), fd;

    enter(measure_testbed_namespace(testbed, machine));
    fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    cr_assert_eq(listen(fd, 8), 0);
    cr_assert_eq(setns(back, CLONE_NEWNET), 0);
    close(back);
    return fd;
}

Test(testbed, connects_every_machine_with_every_other)
{
    measure_testbed *testbed = make(3);

    for (uint32_t to = 0; to < 3; to++) {
        int listener = listen_at(testbed, to);
        for (uint32_t from = 0; from < 3; from++) {
            char peer[32];
            pid_t child;
            int status;
            if (from == to)
                continue;
            child = fork();
            if (child == 0)
                send_from(measure_testbed_namespace(testbed, from),
                          measure_testbed_address(testbed, to), (int)from);
            cr_assert_eq(receive(listener, peer, sizeof(peer)), (int)from);
            cr_assert_str_eq(peer, measure_testbed_address(testbed, from));
            cr_assert_eq(waitpid(child, &status, 0), child);
            cr_assert_eq(status, 0);
        }
        close(listener);
    }
    measure_testbed_destroy(testbed);
}

/* How often a link's ends are limited to 10 Mbit/s. */
static int limited(const char *space)
{
    char command[100];
    const char *text;
    int count = 0;

    snprintf(command, sizeof(command),
             "nsenter --net=/run/netns/%s tc qdisc show", space);
    for (text = printed(command); (text = strstr(text, "rate 10Mbit")); text++)
        count++;
    return count;
}

Test(testbed, limits_one_link_at_both_ends_and_no_other)
{
    measure_testbed *testbed = make(3);
    char spaces[3][40];

    for (uint32_t i = 0; i < 3; i++)
        snprintf(spaces[i], sizeof(spaces[i]), "%s",
                 measure_testbed_namespace(testbed, i));
    check_status(measure_testbed_limit(testbed, 0, 2, 10e6 / 8), 0);
    cr_expect_eq(limited(spaces[0]), 1);
    cr_expect_eq(limited(spaces[1]), 0);
    cr_expect_eq(limited(spaces[2]), 1);
    check_status(measure_testbed_limit(testbed, 0, 2, 0), 0);
    cr_expect_eq(limited(spaces[0]), 0);
    check_status(measure_testbed_limit(testbed, 0, 3, 1e6), PASTSET_EINVAL);
    check_status(measure_testbed_limit(testbed, 1, 1, 1e6), PASTSET_EINVAL);
    measure_testbed_destroy(testbed);
}

Test(testbed, leaves_nothing_behind_and_replaces_what_was_left)
{
    measure_testbed *first = make(2), *second;

    cr_assert_not_null(strstr(printed("ip netns list"), name));
    check_status(measure_testbed_create(&second, name, 2),
                 0); /* as after a kill */
    measure_testbed_destroy(second);
    measure_testbed_destroy(first);
    cr_assert_null(strstr(printed("ip netns list"), name));
}

Test(testbed, says_which_rights_it_lacks)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        measure_testbed *testbed;
        if (getuid() == 0 && setuid(65534) != 0)
            _exit(2);
        if (measure_testbed_create(&testbed, "esnobody", 2) != PASTSET_ENOTSUP)
            _exit(3);
        _exit(strstr(pastset_error(), "CAP_NET_ADMIN") ||
                      strstr(pastset_error(), "iproute2")
                  ? 0
                  : 4);
    }
    waitpid(child, &status, 0);
    cr_assert_eq(WEXITSTATUS(status), 0);
}

Test(testbed, refuses_names_and_numbers_that_cannot_be)
{
    measure_testbed *testbed;

    check_status(measure_testbed_create(&testbed, "", 2), PASTSET_EINVAL);
    check_status(measure_testbed_create(&testbed, "a/b", 2), PASTSET_EINVAL);
    check_status(measure_testbed_create(&testbed, "x", 0), PASTSET_EINVAL);
    check_status(measure_testbed_create(&testbed, "x", 1000), PASTSET_EINVAL);
}
