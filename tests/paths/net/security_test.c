/* security_test.c - unauthenticated peers at the door of a run: whatever they
 * send, they are refused within a bounded time, and the run goes on
 * undisturbed. */
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/paths/net/attacker.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"
#include "tests/support/command.h"

/* Two processes whose threads play ping-pong until the test says stop. */
static const char *const map =
    "digraph g { subgraph cluster_h0 {\n"
    "ping [kind=element, type=\"i32 u8[60]\", capacity=4];\n"
    "inner [kind=element, type=i32];\n"
    "t0 [kind=thread, number=0]; p [kind=proxy]; }\n"
    "subgraph cluster_h1 { pong [kind=element, type=\"i32 u8[60]\",\n"
    "capacity=4]; t1 [kind=thread, number=1]; q [kind=proxy];\n"
    "r [kind=proxy]; s [kind=proxy]; }\n"
    "t0 -> p [as=to, use=write]; p -> pong; t0 -> ping [as=from, use=read];\n"
    "t0 -> inner [use=both]; t1 -> r [as=spare, use=both]; r -> ping;\n"
    "t1 -> s [as=sees, use=read]; s -> ping;\n"
    "t1 -> q [as=to, use=write]; q -> ping; t1 -> pong [as=from, use=read];\n"
    "}\n";

typedef struct game {
    _Atomic int rounds;
    _Atomic bool stop;
} game;

static game *shared;

/* They leave the processors to the others most of the time. */
static const struct timespec pace = {0, 200000};

static int play(paths_thread *self, void *argument)
{
    bool serves = paths_thread_number(self) == 0;
    struct {
        int32_t value;
        unsigned char rest[60];
    } ball = {0}, back;
    paths_path *to, *from;

    (void)argument;
    expect_status(paths_open(&to, self, "to"), 0);
    expect_status(paths_open(&from, self, "from"), 0);
    while (ball.value >= 0) {
        int32_t sent = ball.value;
        if (serves) {
            nanosleep(&pace, NULL);
            ball.value = atomic_load(&shared->stop) ? -1 : sent;
            expect_status(paths_write(to, &ball, sizeof(ball)), 0);
        }
        expect_status(paths_observe(from, &back, sizeof(back)), 0);
        if (serves)
            expect(back.value == ball.value);
        else
            expect_status(paths_write(to, &back, sizeof(back)), 0);
        ball.value = back.value < 0 ? -1 : back.value + 1;
        atomic_fetch_add(&shared->rounds, 1);
    }
    return 0;
}

static const process_program programs[] = {{"*", play, NULL},
                                           {NULL, NULL, NULL}};
static processes run;

/* Until the game has gone on for a while: nobody hangs. */
static void rounds_pass(void)
{
    int from = atomic_load(&shared->rounds);
    int64_t until = pastset_now_ns() + (int64_t)timeout(120) * 1000000000;

    while (atomic_load(&shared->rounds) < from + 20) {
        cr_assert_lt(pastset_now_ns(), until, "the run does not go on");
        poll(NULL, 0, 1);
    }
}

static void begin(void)
{
    cr_assert_geq(sodium_init(), 0);
    signal(SIGPIPE, SIG_IGN);
    shared = shared_memory(sizeof(*shared));
    run = (processes){.map_text = map, .programs = programs};
    processes_start(&run);
    rounds_pass();
}

static void end(void)
{
    rounds_pass();
    atomic_store(&shared->stop, true);
    processes_end_well(&run, 60);
    processes_free(&run);
}

TestSuite(security, .init = begin, .fini = end, .timeout = 300);

/* --- connections --- */

static int dial(void)
{
    return attacker_dial(run.ports[0]);
}

static handshake_claim of_thread(void)
{
    return attacker_claim(ROLE_THREAD, "h1", "h0", paths_map_digest(run.map));
}

/* As a thread of h1 that was let in. */
static int dial_as_thread(void)
{
    handshake_claim claim = of_thread();
    int fd = dial();

    cr_assert(attacker_shake_hands(fd, run.key, &claim));
    cr_assert(attacker_is_welcome(fd));
    return fd;
}

/* What stands for a node on the wire: its rank by name. */
static uint32_t node(const char *name)
{
    uint32_t rank = 0;

    for (uint32_t i = 0; i < run.map->node_count; i++)
        rank += strcmp(run.map->nodes[i].name, name) < 0;
    return rank;
}

/* --- before the key is proven --- */

Test(security, refuses_garbage)
{
    for (int i = 0; i < 20; i++) {
        unsigned char garbage[1000];
        int fd = dial();
        randombytes_buf(garbage, sizeof(garbage));
        attacker_say(fd, garbage, sizeof(garbage));
        attacker_is_closed(fd);
    }
}

Test(security, refuses_a_wrong_key)
{
    handshake_claim claim = of_thread();
    uint8_t key[32];
    int fd = dial();

    memcpy(key, run.key, sizeof(key));
    key[31] ^= 1;
    cr_expect_not(attacker_shake_hands(fd, key, &claim));
    attacker_is_closed(fd);
}

/* Not a byte of an answer: nobody learns whose message it was. */
static void is_not_answered(const handshake_claim *claim)
{
    unsigned char message[HANDSHAKE_MESSAGE_BYTES];
    handshake h;
    int fd = dial();

    check_status(paths__handshake_begin(&h, run.key, claim, message), 0);
    attacker_say(fd, message, sizeof(message));
    cr_expect_not(attacker_hear(fd, message, 1));
    close(fd);
}

Test(security, answers_nobody_who_wants_another_process)
{
    uint64_t digest = paths_map_digest(run.map);
    handshake_claim claims[] = {
        attacker_claim(ROLE_THREAD, "h0", "h1", digest), /* its own, say */
        attacker_claim(ROLE_THREAD, "h0", "h0", digest),
        attacker_claim(ROLE_THREAD, "h1", "h", digest),
        attacker_claim(ROLE_THREAD, "h1", "", digest),
        attacker_claim(ROLE_THREAD, "", "h0", digest),
        attacker_claim(0, "h1", "h0", digest),
        attacker_claim(ROLE_RELAY + 1, "h1", "h0", digest),
    };

    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++)
        is_not_answered(&claims[i]);
}

/* It is told which version is spoken here, and nothing more. */
Test(security, tells_another_version_its_own)
{
    unsigned char opening[HANDSHAKE_OPENING_BYTES], said[1];
    int fd = dial();

    paths__handshake_opening(opening);
    opening[4]++;
    attacker_say(fd, opening, sizeof(opening));
    cr_assert(attacker_hear(fd, opening, sizeof(opening)));
    check_status(paths__handshake_opening_check(opening), 0);
    cr_expect_not(attacker_hear(fd, said, 1));
    close(fd);
}

Test(security, closes_connections_that_say_nothing)
{
    int fds[20];

    for (int i = 0; i < 20; i++)
        fds[i] = dial();
    for (int i = 0; i < 20; i++)
        attacker_is_closed(fds[i]);
}

Test(security, closes_connections_that_stop_in_the_middle)
{
    handshake_claim claim = of_thread();
    unsigned char message[HANDSHAKE_MESSAGE_BYTES];
    static const size_t lengths[] = {
        1, 4, 8, 40, sizeof(message) - 1, sizeof(message)};
    int fds[6];

    for (int i = 0; i < 6; i++) {
        handshake h;
        fds[i] = dial();
        check_status(paths__handshake_begin(&h, run.key, &claim, message), 0);
        attacker_say(fds[i], message, lengths[i]);
    }
    for (int i = 0; i < 6; i++)
        attacker_is_closed(fds[i]);
}

Test(security, stands_thousands_of_connections)
{
    struct rlimit files;
    int fds[600];

    for (int i = 0; i < 3000; i++)
        close(dial());
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    /* More than a process lets in at a time, all silent; and one that knows. */
    for (int i = 0; i < 600; i++)
        fds[i] = dial();
    close(dial_as_thread());
    rounds_pass();
    for (int i = 0; i < 600; i++)
        attacker_is_closed(fds[i]);
}

/* --- whoever knows the key --- */

Test(security, refuses_frames_that_are_too_long)
{
    int fd = dial_as_thread();
    wire_request request = {.kind = WIRE_REQUEST,
                            .verb = PASTSET_WRITE,
                            .proxy = node("q"),
                            .bytes = UINT32_MAX};

    attacker_say(fd, &request, sizeof(request));
    attacker_is_closed(fd);
    fd = dial_as_thread();
    request.bytes = 65; /* one more than the largest tuple of the map */
    attacker_say(fd, &request, sizeof(request));
    attacker_is_closed(fd);
}

Test(security, refuses_unknown_kinds)
{
    static const uint16_t kinds[] = {0, 1, WIRE_KINDS, 77, UINT16_MAX};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        int fd = dial_as_thread();
        attacker_say_frame(fd, (wire_header){.kind = kinds[i]}, "");
        attacker_is_closed(fd);
    }
}

/* The process says why, and closes. */
static void is_refused(uint16_t role, uint64_t digest, const char *name,
                       const char *why)
{
    handshake_claim claim = attacker_claim(role, name, "h0", digest);
    char text[WIRE_TEXT_BYTES + 1] = "";
    wire_header header;
    int fd = dial();

    cr_assert(attacker_shake_hands(fd, run.key, &claim));
    cr_assert(attacker_hear(fd, &header, sizeof(header)));
    cr_assert_eq(header.kind, WIRE_FAILED);
    cr_assert_leq(header.bytes, WIRE_TEXT_BYTES);
    cr_assert(attacker_hear(fd, text, header.bytes));
    check_says(text, why);
    attacker_is_closed(fd);
}

Test(security, refuses_processes_that_do_not_belong_to_the_run)
{
    uint64_t digest = paths_map_digest(run.map);

    is_refused(ROLE_THREAD, digest + 1, "h1", "different path maps");
    is_refused(ROLE_MEMBER, digest, "h1", "a second process of this name");
    is_refused(ROLE_THREAD, digest, "h7", "no such other process");
}

Test(security, refuses_requests_for_stages_that_are_no_entries)
{
    uint32_t stages[] = {node("inner"), node("p"),           node("t0"),
                         node("pong"),  run.map->node_count, UINT32_MAX,
                         node("ping"),  node("t1")};

    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
        int fd = dial_as_thread();
        attacker_say_frame(fd,
                           (wire_header){.request = {.kind = WIRE_REQUEST,
                                                     .verb = PASTSET_READ_LAST,
                                                     .proxy = stages[i]}},
                           "");
        attacker_is_closed(fd);
    }
}

Test(security, refuses_unknown_verbs)
{
    static const uint16_t verbs[] = {0, UINT16_MAX, PASTSET_ALL_VERBS,
                                     INT16_MAX};

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        int fd = dial_as_thread();
        attacker_say_frame(fd,
                           (wire_header){.request = {.kind = WIRE_REQUEST,
                                                     .verb = verbs[i],
                                                     .proxy = node("q")}},
                           "");
        attacker_is_closed(fd);
    }
}

Test(security, refuses_replies_that_nobody_waits_for)
{
    static const uint16_t kinds[] = {WIRE_REPLY, WIRE_DONE, WIRE_END,
                                     WIRE_WELCOME};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        int fd = dial_as_thread();
        attacker_say_frame(fd, (wire_header){.kind = kinds[i]}, "");
        attacker_is_closed(fd);
    }
}

/* It knows the key and is one of the processes, and still may do nothing that
 * the map gives none of its threads. */
static void is_not_allowed(const char *proxy, uint16_t verb)
{
    char text[WIRE_TEXT_BYTES + 1] = "", tuple[64] = {0};
    bool writes = verb == PASTSET_WRITE || verb == PASTSET_EXCHANGE;
    wire_header request = {.request = {.id = 9,
                                       .kind = WIRE_REQUEST,
                                       .verb = verb,
                                       .proxy = node(proxy),
                                       .timeout_ms = WIRE_FOREVER,
                                       .bytes = writes ? sizeof(tuple) : 0,
                                       .capacity = sizeof(tuple)}};
    wire_header reply;
    int fd = dial_as_thread();

    attacker_say_frame(fd, request, tuple);
    cr_assert(attacker_hear(fd, &reply, sizeof(reply)));
    check_status(reply.reply.status, PASTSET_EPERM);
    cr_expect_eq(reply.id, 9);
    cr_assert(reply.bytes < sizeof(text) &&
              attacker_hear(fd, text, reply.bytes));
    check_says(text, proxy);
    check_says(text, pastset_verb_name(verb));
    close(fd);
}

Test(security, lets_nobody_write_by_a_way_on_which_threads_only_read)
{
    is_not_allowed("s", PASTSET_WRITE);
    is_not_allowed("s", PASTSET_EXCHANGE);
}

Test(security, lets_nobody_read_by_a_way_on_which_threads_only_write)
{
    for (uint16_t verb = PASTSET_READ; verb <= PASTSET_TAKE; verb++)
        is_not_allowed("q", verb);
}

/* Answered with an error, since it breaks nothing but a promise. */
Test(security, answers_requests_that_do_not_fit_with_an_error)
{
    char text[WIRE_TEXT_BYTES], short_tuple[60] = {0};
    wire_header frame = {.request = {.id = 7,
                                     .kind = WIRE_REQUEST,
                                     .verb = PASTSET_WRITE,
                                     .proxy = node("r"),
                                     .bytes = sizeof(short_tuple)}};
    wire_request *request = &frame.request;
    wire_header reply;
    int fd = dial_as_thread();

    attacker_say_frame(fd, frame, short_tuple);
    cr_assert(attacker_hear(fd, &reply, sizeof(reply)));
    cr_expect_eq(reply.reply.status, PASTSET_ETYPE);
    cr_expect_eq(reply.id, 7);
    cr_assert(reply.bytes <= sizeof(text) &&
              attacker_hear(fd, text, reply.bytes));
    request->verb = PASTSET_TAKE; /* a pattern of the wrong length */
    attacker_say_frame(fd, frame, short_tuple);
    cr_assert(attacker_hear(fd, &reply, sizeof(reply)));
    cr_expect_eq(reply.reply.status, PASTSET_EINVAL);
    cr_assert(reply.bytes <= sizeof(text) &&
              attacker_hear(fd, text, reply.bytes));
    request->verb = PASTSET_READ; /* room for less than a tuple */
    request->bytes = 0;
    request->capacity = 10;
    attacker_say_frame(fd, frame, "");
    cr_assert(attacker_hear(fd, &reply, sizeof(reply)));
    cr_expect(reply.reply.status == PASTSET_EROOM ||
              reply.reply.status == PASTSET_EEXPIRED ||
              reply.reply.status == PASTSET_EAGAIN);
    close(fd);
}

/* It leaves with requests held, in the middle of one, or of a reply. */
Test(security, forgets_the_requests_of_who_has_left)
{
    wire_header frame = {.request = {.kind = WIRE_REQUEST,
                                     .verb = PASTSET_READ,
                                     .proxy = node("r"),
                                     .index = UINT64_MAX - 1,
                                     .timeout_ms = WIRE_FOREVER,
                                     .capacity = 64}};
    wire_request *request = &frame.request;

    for (int i = 0; i < 10; i++) {
        int fd = dial_as_thread();
        for (uint32_t id = 0; id < 1000; id++) {
            request->id = id;
            attacker_say_frame(fd, frame, "");
        }
        request->verb = i % 2 ? PASTSET_READ : PASTSET_WRITE;
        request->bytes = 64;
        attacker_say(fd, &frame, sizeof(frame));
        attacker_say(fd, &frame, 20);
        request->bytes = 0;
        request->verb = PASTSET_READ;
        close(fd);
    }
}
