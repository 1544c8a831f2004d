/* relay.c - see relay.h. */
#include "tests/faults/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/check.h"

/* Shared with the processes. */
typedef struct orders {
    _Atomic int64_t replies; /* bytes that may still pass */
    _Atomic bool requests_stay;
} orders;

static orders *told;
static int listen_fd, told_fd, heard_fd; /* rings in both directions */
static int process_port;
static pthread_t thread;

static int loopback(struct sockaddr_in *address, int port)
{
    *address = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int relay_open(void)
{
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    int capacity = 4096; /* what is not taken soon fills the sockets */

    listen_fd = loopback(&address, 0);
    setsockopt(listen_fd, SOL_SOCKET, SO_RCVBUF, &capacity, sizeof(capacity));
    cr_assert_eq(bind(listen_fd, (struct sockaddr *)&address, length), 0);
    cr_assert_eq(listen(listen_fd, 1), 0);
    cr_assert_eq(getsockname(listen_fd, (struct sockaddr *)&address, &length),
                 0);
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(told, MAP_FAILED);
    atomic_store(&told->replies, RELAY_ALL);
    told_fd = eventfd(0, EFD_CLOEXEC);
    heard_fd = eventfd(0, EFD_CLOEXEC);
    return ntohs(address.sin_port);
}

static void ring(int fd)
{
    uint64_t one = 1;
    ssize_t r = write(fd, &one, sizeof(one));
    (void)r;
}

static void await(int fd)
{
    uint64_t rings;
    ssize_t r = read(fd, &rings, sizeof(rings));
    (void)r;
}

void relay_replies(int64_t bytes)
{
    atomic_store(&told->replies, bytes);
    ring(told_fd);
    await(heard_fd);
}

void relay_requests(bool taken)
{
    atomic_store(&told->requests_stay, !taken);
    ring(told_fd);
    await(heard_fd);
}

/* False: one of the two has gone. */
static bool pass(int from, int to, int64_t max)
{
    char data[65536];
    size_t capacity = max < (int64_t)sizeof(data) ? (size_t)max : sizeof(data);
    ssize_t got = recv(from, data, capacity, 0);

    for (ssize_t at = 0; at < got;) {
        ssize_t sent = send(to, data + at, (size_t)(got - at), MSG_NOSIGNAL);
        if (sent < 0)
            return false;
        at += sent;
    }
    if (max != RELAY_ALL && got > 0)
        atomic_fetch_sub(&told->replies, got);
    return got > 0;
}

/* Stopped, it still sees both ends go. */
static void carry(int client, int process)
{
    for (bool go = true; go;) {
        int64_t replies = atomic_load(&told->replies);
        bool taken = !atomic_load(&told->requests_stay);
        struct pollfd fds[] = {
            {.fd = told_fd, .events = POLLIN},
            {.fd = client, .events = taken ? POLLIN : 0},
            {.fd = process, .events = replies ? POLLIN : 0},
        };

        poll(fds, 3, -1);
        if (fds[0].revents) {
            await(told_fd);
            ring(heard_fd);
            continue;
        }
        if (fds[1].revents)
            go = pass(client, process, RELAY_ALL);
        if (go && fds[2].revents)
            go = pass(process, client, replies);
    }
}

static void *relay_run(void *argument)
{
    struct sockaddr_in address;
    int client = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    int process = loopback(&address, process_port);

    (void)argument;
    if (connect(process, (struct sockaddr *)&address, sizeof(address)) == 0)
        carry(client, process);
    close(client);
    close(process);
    return NULL;
}

void relay_start(int port)
{
    process_port = port;
    cr_assert_eq(pthread_create(&thread, NULL, relay_run, NULL), 0);
}

void relay_stop(void)
{
    pthread_join(thread, NULL);
    close(listen_fd);
    close(told_fd);
    close(heard_fd);
    munmap(told, sizeof(*told));
}
