/* hostile_run.c - see hostile_run.h. */
#include "tests/paths/net/hostile_run.h"

#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/support/check.h"
#include "tests/support/command.h"

const char *const hostile_names[3] = {"harbour", "lighthouse", "island"};
processes hostile_run;

bool hostile_run_is_sealed;

#define MAP(encrypt)                                                           \
    "digraph g { encrypt=" encrypt "; subgraph cluster_harbour {\n"            \
    "ping [kind=element, type=i32, capacity=4];\n"                             \
    "inner [kind=element, type=i32];\n"                                        \
    "t0 [kind=thread, number=0]; p [kind=proxy]; r [kind=proxy]; }\n"          \
    "subgraph cluster_lighthouse {\n"                                          \
    "pong [kind=element, type=i32, capacity=4];\n"                             \
    "t1 [kind=thread, number=1]; q [kind=proxy]; }\n"                          \
    "subgraph cluster_island {\n"                                              \
    "buoy [kind=element, type=i32, policy=discard]; }\n"                       \
    "t0 -> p [as=to, use=write]; p -> pong; t0 -> ping [as=from, use=read];\n" \
    "t0 -> r [as=out, use=write]; r -> buoy; t0 -> inner [use=both];\n"        \
    "t1 -> q [as=to, use=write]; q -> ping; t1 -> pong [as=from, use=read];\n" \
    "}\n"

static struct game {
    _Atomic int rounds;
    _Atomic bool stop;
} * game;

static int play(paths_thread *self, void *argument)
{
    bool serves = paths_thread_number(self) == 0;
    int32_t ball = 0, back;
    paths_path *to, *from;

    (void)argument;
    expect_status(paths_open(&to, self, "to"), 0);
    expect_status(paths_open(&from, self, "from"), 0);
    while (ball >= 0) {
        int32_t sent = ball;
        if (serves) {
            ball = atomic_load(&game->stop) ? -1 : sent;
            expect_status(paths_write(to, &ball, sizeof(ball)), 0);
        }
        expect_status(paths_observe(from, &back, sizeof(back)), 0);
        if (serves)
            expect(back == ball);
        else
            expect_status(paths_write(to, &back, sizeof(back)), 0);
        ball = back < 0 ? -1 : back + 1;
        atomic_fetch_add(&game->rounds, 1);
    }
    return 0;
}

static int idle(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    while (!atomic_load(&game->stop))
        poll(NULL, 0, 1);
    return 0;
}

const process_program hostile_play[] = {{"*", play, NULL}, {NULL, NULL, NULL}};
const process_program hostile_idle[] = {{"*", idle, NULL}, {NULL, NULL, NULL}};

void hostile_run_start(const process_program *programs, unsigned absent,
                       unsigned intercepted)
{
    cr_assert_geq(sodium_init(), 0);
    signal(SIGPIPE, SIG_IGN);
    game = shared_memory(sizeof(*game));
    hostile_run = (processes){.map_text = hostile_run_is_sealed ? MAP("always")
                                                                : MAP("auto"),
                              .programs = programs,
                              .absent = absent,
                              .intercepted = intercepted};
    processes_start(&hostile_run);
}

void hostile_run_goes_on(void)
{
    int from = atomic_load(&game->rounds);
    int64_t until = pastset_now_ns() + (int64_t)timeout(120) * 1000000000;

    while (atomic_load(&game->rounds) < from + 20) {
        cr_assert_lt(pastset_now_ns(), until, "the run does not go on");
        poll(NULL, 0, 1);
    }
}

void hostile_run_stop(void)
{
    atomic_store(&game->stop, true);
}

void hostile_run_ends_well(void)
{
    hostile_run_stop();
    processes_end_well(&hostile_run, 60);
    processes_free(&hostile_run);
}

void hostile_run_ends_with(int process, const char *text)
{
    hostile_run_stop();
    processes_wait(&hostile_run, 60);
    cr_expect_eq(hostile_run.exit_codes[process], 1);
    check_says(hostile_run.results[process].text, text);
    processes_free(&hostile_run);
}

uint32_t hostile_node(const char *name)
{
    const paths_map *m = hostile_run.map;
    uint32_t rank = 0;

    for (uint32_t i = 0; i < m->node_count; i++)
        rank += strcmp(m->nodes[i].name, name) < 0;
    return rank;
}

handshake_claim hostile_claim(uint16_t role, int from, int to)
{
    return attacker_claim(role, hostile_names[from], hostile_names[to],
                          paths_map_digest(hostile_run.map));
}

int hostile_dial(uint16_t role, int from, int to)
{
    handshake_claim claim = hostile_claim(role, from, to);
    int fd = attacker_dial(hostile_run.ports[to]);

    cr_assert(attacker_shake_hands(fd, hostile_run.key, &claim));
    cr_assert(attacker_is_welcome(fd));
    return fd;
}

void hostile_is_secret(const void *bytes, size_t count)
{
    uint64_t digest = paths_map_digest(hostile_run.map);
    uint64_t turned = __builtin_bswap64(digest);

    for (int i = 0; i < 3; i++)
        cr_expect_null(
            memmem(bytes, count, hostile_names[i], strlen(hostile_names[i])),
            "the name %s in clear", hostile_names[i]);
    cr_expect_null(memmem(bytes, count, &digest, 8), "the map's digest");
    cr_expect_null(memmem(bytes, count, &turned, 8), "the map's digest");
}
