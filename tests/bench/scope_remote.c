/* scope_remote.c - how many trace tuples a scope gets over one TCP hop.
 *
 * A leaf in a process of its own reads a run that is over, in which the tuples
 * are in memory, and gives them to the root through a proxy, as in any gather
 * tree. The limit is a process that sends 36-byte records, batched in blocks
 * of 256 KiB, over a bare socket to one that only receives them. All go over
 * loopback, in turns, within this run. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/run/meta.h"
#include "pastset/element.h"
#include "scopes/gather/gather.h"
#include "scopes/wrappers/register_gather.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_processes.h"

#define TURNS 9
#define STREAMS 4
#define TUPLES 1000000 /* of a stream */
#define BLOCK (256 << 10)
#define RECORD EVENTSPACE_TRACE_BYTES

/* --- a run that is over --- */

static const char app_text[] =
    "digraph app { subgraph cluster_h0 {\n"
    " t0 [kind=thread, number=0];\n"
    " c0 [kind=collector, id=0, trace=l0]; c1 [kind=collector, id=1, trace=l1];"
    " c2 [kind=collector, id=2, trace=l2]; c3 [kind=collector, id=3, trace=l3];"
    " e0 [kind=element, type=\"u8[8]\"]; e1 [kind=element, type=\"u8[8]\"];"
    " e2 [kind=element, type=\"u8[8]\"]; e3 [kind=element, type=\"u8[8]\"]; }\n"
    "t0 -> c0 [as=p0]; t0 -> c1 [as=p1]; t0 -> c2 [as=p2]; t0 -> c3 [as=p3];\n"
    "c0 -> e0; c1 -> e1; c2 -> e2; c3 -> e3; }\n";

static void stream_fill(pastset_space *space, uint32_t id)
{
    pastset_element_options options = {
        .policy = PASTSET_DISCARD, .capacity = TUPLES, .single_writer = true};
    eventspace_trace event = {.collector = id, .operation = PASTSET_WRITE};
    pastset_element *stream;
    pastset_type type;
    char name[8];

    snprintf(name, sizeof(name), "l%u", id);
    options.name = name;
    options.type = &type;
    bench_check(pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE), "type");
    bench_check(pastset_element_create(&stream, space, &options), "stream");
    for (uint32_t i = 0; i < TUPLES; i++) {
        event.start = 1000 + 20 * (uint64_t)i;
        event.end = event.start + 10;
        event.sequence = i + 1;
        bench_check(
            pastset_write(stream, &event, sizeof(event), PASTSET_NOWAIT, NULL),
            "write");
    }
}

static paths_map *run_make(const char *directory)
{
    eventspace_meta meta = {.process = "h0",
                            .tick_source = "tsc",
                            .tick_hz = 1e9,
                            .pid = 1,
                            .end_tick = 1,
                            .state = EVENTSPACE_FINISHED};
    pastset_space_options options = {0};
    pastset_space *space;
    char file[256];
    paths_map *map;

    bench_check(paths_map_parse(&map, app_text, strlen(app_text), "bench"),
                "map");
    snprintf(file, sizeof(file), "%s/pathmap.dot", directory);
    bench_check(paths_map_save(map, file), file);
    snprintf(file, sizeof(file), "%s/h0.meta", directory);
    bench_check(eventspace_meta_save(&meta, file), file);
    snprintf(file, sizeof(file), "%s/h0.space", directory);
    options.path = file;
    bench_check(pastset_space_create(&space, &options), file);
    for (uint32_t i = 0; i < STREAMS; i++)
        stream_fill(space, i);
    pastset_space_close(space);
    return map;
}

static void run_remove(const char *directory)
{
    const char *const names[] = {"pathmap.dot", "h0.meta", "h0.space"};
    char file[256];

    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof(file), "%s/%s", directory, names[i]);
        unlink(file);
    }
    rmdir(directory);
}

/* --- ours --- */

typedef struct counted {
    uint64_t tuples;
    double begin_ns, end_ns;
} counted;

static int count(const scopes_record *record, void *context)
{
    counted *c = context;

    if (record->kind != SCOPES_RECORD_TUPLES)
        return 0;
    c->end_ns = bench_now_ns();
    if (c->begin_ns > 0)
        c->tuples += record->count;
    else
        c->begin_ns = c->end_ns; /* the first message: from here on */
    return 0;
}

/* Million tuples a second. */
static double our_turn(const char *directory, const paths_map *app,
                       const char *encrypt)
{
    scopes_gather_options options = {.run = directory};
    counted c = {0};
    scopes_consumer consumer = {.record = count, .context = &c};
    scopes_gatherer gatherer = {.consumer = &consumer};
    paths_map *map;

    bench_check(scopes_gather_map(&map, app, &options), "gather");
    bench_check(paths_attributes_set(&map->attributes, "encrypt", encrypt),
                "encrypt");
    gatherer.map = map;
    many_processes_run(map, scopes_gather_thread, &gatherer);
    paths_map_destroy(map);
    if (c.tuples < (uint64_t)TUPLES * STREAMS * 9 / 10) {
        fprintf(stderr, "bench: %llu tuples came\n",
                (unsigned long long)c.tuples);
        exit(1);
    }
    return (double)c.tuples / (c.end_ns - c.begin_ns) * 1000;
}

/* --- the limit --- */

static void sender(struct sockaddr_in address)
{
    unsigned char *block = calloc(1, BLOCK);
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t bytes = BLOCK / RECORD * RECORD;

    if (!block || connect(fd, (struct sockaddr *)&address, sizeof(address)))
        _exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    for (size_t left = (size_t)TUPLES * STREAMS * RECORD; left;) {
        size_t now = left < bytes ? left : bytes;
        for (size_t sent = 0; sent < now;) {
            ssize_t r = send(fd, block + sent, now - sent, MSG_NOSIGNAL);
            if (r <= 0)
                _exit(1);
            sent += (size_t)r;
        }
        left -= now;
    }
    _exit(0);
}

static double bare_turn(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
    unsigned char *block = malloc(BLOCK);
    double begin = 0;
    size_t got = 0, first = 0;
    pid_t child;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!block || bind(listener, (struct sockaddr *)&address, length) ||
        listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length)) {
        perror("bench: listen");
        exit(1);
    }
    child = fork();
    if (child == 0)
        sender(address);
    fd = accept(listener, NULL, NULL);
    for (;;) {
        ssize_t r = recv(fd, block, BLOCK, 0);
        if (r <= 0)
            break;
        if (!first) {
            begin = bench_now_ns();
            first = (size_t)r;
        }
        got += (size_t)r;
    }
    begin = bench_now_ns() - begin;
    close(fd);
    close(listener);
    free(block);
    waitpid(child, NULL, 0);
    return (double)(got - first) / RECORD / begin * 1000;
}

/* One after the other: what is encrypted would make the next turn slower. */
static void turns(const char *name, const char *directory, const paths_map *app,
                  const char *encrypt)
{
    double ours[TURNS], bare[TURNS];

    for (int i = 0; i < TURNS; i++) {
        ours[i] = our_turn(directory, app, encrypt);
        bare[i] = bare_turn();
    }
    bench_print(name, bench_median(ours, TURNS), "million tuples/s",
                bench_median(bare, TURNS));
}

void bench_scope_remote(void)
{
    char directory[] = "/tmp/eventspace-bench.XXXXXX";
    paths_map *app;

    if (!mkdtemp(directory)) {
        perror("bench: mkdtemp");
        exit(1);
    }
    bench_check(scopes_register(), "register");
    app = run_make(directory);
    turns("scope.remote", directory, app, "never");
    turns("scope.remote.encrypted", directory, app, "always");
    paths_map_destroy(app);
    run_remove(directory);
}
