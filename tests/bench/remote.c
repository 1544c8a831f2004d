/* remote.c - a write to an element on another process, beside a bare ping-pong.
 *
 * The writer stays on one processor, and what answers it on another: left to
 * itself, the scheduler would put a pair now on one and now on two processors,
 * which differ more than what is to be measured. With one processor only they
 * share it.
 *
 * The other process is a real one. The limit is the same exchange over a bare
 * TCP connection with blocking sockets: as many bytes there, and a short answer
 * back; for the process that polls, with sockets that are polled. Both go in
 * turns, within this run. The limit of what is encrypted is what it takes in
 * clear. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/register_collectors.h"
#include "paths/engine/process.h"
#include "tests/bench/bench.h"

#define TURNS 15
#define ANSWER 48 /* bytes: as long as a reply of ours without a tuple */

typedef struct size_case {
    const char *name;
    size_t bytes;
    int repeats;
} size_case;

static const size_case cases[] = {
    {"write64", 64, 1000}, {"write4k", 4096, 1000}, {"write1m", 1 << 20, 60}};

typedef struct mode {
    const char *suffix, *encrypt;
    bool polling, is_encrypted;
} mode;

static double in_clear[sizeof(cases) / sizeof(cases[0])];

/* --- the bare exchange --- */

static void all(int fd, unsigned char *data, size_t bytes, bool sending,
                int flags)
{
    while (bytes) {
        ssize_t r = sending ? send(fd, data, bytes, flags | MSG_NOSIGNAL)
                            : recv(fd, data, bytes, flags);
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (r <= 0)
            _exit(0); /* the other side is done */
        data += r;
        bytes -= (size_t)r;
    }
}

/* Takes a message, whose first 4 bytes are its length: what has come at once,
 * and no call for the length alone. Only one is under way. */
static void bare_take(int fd, unsigned char *data, size_t capacity, int flags)
{
    uint32_t bytes = sizeof(bytes);

    for (size_t have = 0; have < bytes;) {
        ssize_t r = recv(fd, data + have, capacity - have, flags);
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (r <= 0)
            _exit(0); /* the other side is done */
        have += (size_t)r;
        if (have >= sizeof(bytes))
            memcpy(&bytes, data, sizeof(bytes));
    }
}

static void bare_serve(int fd, int flags)
{
    size_t capacity = 1 << 21;
    unsigned char *data = malloc(capacity);

    for (;;) {
        bare_take(fd, data, capacity, flags);
        all(fd, data, ANSWER, true, flags);
    }
}

static int listen_any(struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(address, 0, sizeof(*address));
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)address, sizeof(*address)) != 0 ||
        listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &length) != 0) {
        perror("bench: listen");
        exit(1);
    }
    return fd;
}

static int bare_start(bool polling, pid_t *child)
{
    struct sockaddr_in address;
    int listener = listen_any(&address);
    int one = 1, fd;

    *child = fork();
    if (*child == 0) {
        bench_pin(1);
        fd = accept(listener, NULL, NULL);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        bare_serve(fd, polling ? MSG_DONTWAIT : 0);
    }
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        perror("bench: connect");
        exit(1);
    }
    close(listener);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static double bare_turn(int fd, const size_case *c, bool polling,
                        unsigned char *data)
{
    uint32_t bytes = (uint32_t)c->bytes + ANSWER; /* with a header's worth */
    int flags = polling ? MSG_DONTWAIT : 0;
    double begin = bench_now_ns();

    for (int i = 0; i < c->repeats; i++) {
        memcpy(data, &bytes, sizeof(bytes));
        all(fd, data, bytes, true, flags);
        all(fd, data, ANSWER, false, flags);
    }
    return (bench_now_ns() - begin) / c->repeats / 1000;
}

/* --- ours --- */

static pid_t server; /* the other process */

static const char map_text[] =
    "digraph b { encrypt=%s;\n"
    "subgraph cluster_h0 { polling=%s; address=\"127.0.0.1:1\";\n"
    " t0 [kind=thread, number=0];\n"
    " p64 [kind=proxy]; p4k [kind=proxy]; p1m [kind=proxy]; }\n"
    "subgraph cluster_h1 { polling=%s; address=\"127.0.0.1:%d\";\n"
    " e64 [kind=element, type=\"u8[64]\", policy=discard, capacity=64];\n"
    " e4k [kind=element, type=\"u8[4096]\", policy=discard, capacity=64];\n"
    " e1m [kind=element, type=\"u8[1048576]\", policy=discard, capacity=2];\n"
    "}\n"
    "t0 -> p64 [as=write64]; p64 -> e64;\n"
    "t0 -> p4k [as=write4k]; p4k -> e4k;\n"
    "t0 -> p1m [as=write1m]; p1m -> e1m; }\n";

static double our_turn(paths_path *path, const size_case *c,
                       const unsigned char *data)
{
    double begin = bench_now_ns();

    for (int i = 0; i < c->repeats; i++)
        bench_check(paths_write(path, data, c->bytes), "write");
    return (bench_now_ns() - begin) / c->repeats / 1000;
}

static void measure(paths_thread *self, const size_case *c, const mode *m)
{
    unsigned char *data = calloc(1, 1 << 21);
    double ours[TURNS], bare[TURNS];
    char name[64];
    paths_path *path;
    pid_t child;
    int fd = bare_start(m->polling, &child);

    bench_check(paths_open(&path, self, c->name), "open");
    our_turn(path, c, data);
    bare_turn(fd, c, m->polling, data);
    for (int i = 0; i < TURNS; i++) {
        /* What polls takes a processor: the side that rests is stopped. */
        kill(child, SIGSTOP);
        ours[i] = our_turn(path, c, data);
        kill(child, SIGCONT);
        kill(server, SIGSTOP);
        bare[i] = bare_turn(fd, c, m->polling, data);
        kill(server, SIGCONT);
    }
    snprintf(name, sizeof(name), "remote.%s%s", c->name, m->suffix);
    if (!m->polling && !m->is_encrypted)
        in_clear[c - cases] = bench_median(ours, TURNS);
    bench_print(name, bench_median(ours, TURNS), "us",
                m->is_encrypted ? in_clear[c - cases]
                                : bench_median(bare, TURNS));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(fd);
    free(data);
}

static int client(paths_thread *self, void *argument)
{
    const mode *m = argument;

    bench_pin(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!m->polling || i == 0)
            measure(self, &cases[i], m);
    }
    return 0;
}

static void process_run(const char *name, const paths_map *map, int listen_fd,
                        mode *m)
{
    static const uint8_t key[PATHS_KEY_BYTES] = "bench";
    paths_process_options options = {
        .map = map, .process = name, .listen_fd = listen_fd, .key = key};
    paths_process *process;

    bench_check(paths_process_start(&process, &options), name);
    bench_check(paths_process_program(process, "*", client, m), name);
    bench_check(paths_process_run(process), name);
    paths_process_stop(process);
}

static void both(mode *m)
{
    struct sockaddr_in address[2];
    int listeners[2];
    char text[4096];
    char *written = NULL;
    paths_map *map;

    listeners[0] = listen_any(&address[0]);
    listeners[1] = listen_any(&address[1]);
    snprintf(text, sizeof(text), map_text, m->encrypt,
             m->polling ? "true" : "false", m->polling ? "true" : "false",
             ntohs(address[1].sin_port));
    written = strstr(text, "127.0.0.1:1\"");
    if (!written)
        exit(1);
    bench_check(eventspace_register(), "register");
    bench_check(paths_map_parse(&map, text, strlen(text), "bench"), "map");
    char real[64];
    snprintf(real, sizeof(real), "127.0.0.1:%d", ntohs(address[0].sin_port));
    paths_attributes_set(&map->processes[0].attributes, "address", real);
    server = fork();
    if (server == 0) {
        bench_pin(1);
        process_run("h1", map, listeners[1], m);
        _exit(0);
    }
    process_run("h0", map, listeners[0], m);
    waitpid(server, NULL, 0);
    paths_map_destroy(map);
}

void bench_remote(void)
{
    both(&(mode){"", "never", false, false});
    both(&(mode){".encrypted", "always", false, true});
    both(&(mode){".polling", "never", true, false});
}
