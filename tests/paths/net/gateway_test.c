/* gateway_test.c - a run whose processes do not all reach each other: what they
 * say goes by way of those between. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "paths/net/wire_internal.h"
#include "tests/paths/net/attacker.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"

#define PROCESSES 5
#define ROUNDS 200

TestSuite(gateway, .timeout = 300);

/* A line: the first thread plays ping-pong with the last one, and all take part
 * in a sum at the first. */
static const char *const line =
    "digraph g {"
    "subgraph cluster_h0 { networks=a; ping [kind=element, type=i64];"
    " total [kind=element, type=i64, policy=discard]; root [kind=sum];"
    " t0 [kind=thread, number=0]; p [kind=proxy]; }"
    "subgraph cluster_h1 { networks=\"a b\"; t1 [kind=thread, number=1];"
    " s1 [kind=proxy]; }"
    "subgraph cluster_h2 { networks=\"b c\"; t2 [kind=thread, number=2];"
    " s2 [kind=proxy]; }"
    "subgraph cluster_h3 { networks=\"c d\"; t3 [kind=thread, number=3];"
    " s3 [kind=proxy]; }"
    "subgraph cluster_h4 { networks=d; pong [kind=element, type=i64];"
    " t4 [kind=thread, number=4]; q [kind=proxy]; s4 [kind=proxy]; }"
    "t0 -> p [as=to, use=write]; p -> pong; t0 -> ping [as=from, use=read];"
    "t4 -> q [as=to, use=write]; q -> ping; t4 -> pong [as=from, use=read];"
    "t0 -> root [as=sum, use=sum]; t1 -> s1 [as=sum, use=sum]; s1 -> root;"
    "t2 -> s2 [as=sum, use=sum]; s2 -> root;"
    "t3 -> s3 [as=sum, use=sum]; s3 -> root;"
    "t4 -> s4 [as=sum, use=sum]; s4 -> root; root -> total; }";

static int play(paths_thread *self, int64_t round)
{
    bool serves = paths_thread_number(self) == 0;
    int64_t ball = round;
    paths_path *to, *from;

    expect_status(paths_open(&to, self, "to"), 0);
    expect_status(paths_open(&from, self, "from"), 0);
    if (serves)
        expect_status(paths_write(to, &ball, sizeof(ball)), 0);
    expect_status(paths_observe(from, &ball, sizeof(ball)), 0);
    if (!serves) {
        ball = -ball;
        expect_status(paths_write(to, &ball, sizeof(ball)), 0);
    } else {
        expect(ball == -round);
    }
    return 0;
}

static int take_part(paths_thread *self, void *argument)
{
    uint32_t number = paths_thread_number(self);
    paths_path *sum;

    (void)argument;
    expect_status(paths_open(&sum, self, "sum"), 0);
    for (int64_t i = 1; i <= ROUNDS; i++) {
        int64_t value = i * (number + 1);
        int err = number == 0 || number == 4 ? play(self, i) : 0;
        if (err)
            return err;
        expect_status(
            paths_exchange(sum, &value, sizeof(value), &value, sizeof(value)),
            0);
        expect(value == i * 15);
    }
    return 0;
}

static const process_program programs[] = {{"*", take_part, NULL},
                                           {NULL, NULL, NULL}};
static processes run;

static void begin(void)
{
    run = (processes){.map_text = line, .programs = programs};
    processes_start(&run);
}

Test(gateway, leads_on_and_on)
{
    begin();
    processes_end_well(&run, 120);
    processes_free(&run);
}

Test(gateway, may_come_last)
{
    for (uint32_t late = 0; late < PROCESSES; late++) {
        run = (processes){
            .map_text = line, .programs = programs, .absent = 1u << late};
        processes_start(&run);
        processes_start_late(&run, late);
        processes_end_well(&run, 120);
        processes_free(&run);
    }
}

/* --- much at once --- */

#define LARGE (1u << 20)
#define LARGE_ROUNDS 40

/* Both threads write to the other one's element, by a connection of their own
 * and no proxy between. */
static const char *const large =
    "digraph g {"
    "subgraph cluster_h0 { networks=a; t0 [kind=thread, number=0];"
    " e0 [kind=element, type=\"u8[1048576]\", capacity=2];"
    " p [kind=proxy]; }"
    "subgraph cluster_h1 { networks=\"a b\"; t1 [kind=thread, number=1];"
    " e1 [kind=element, type=u8]; }"
    "subgraph cluster_h2 { networks=\"b c\"; t2 [kind=thread, number=2];"
    " e2 [kind=element, type=u8]; }"
    "subgraph cluster_h3 { networks=c; t3 [kind=thread, number=3];"
    " e3 [kind=element, type=\"u8[1048576]\", capacity=2];"
    " q [kind=proxy]; }"
    "t0 -> p [as=to, use=write]; p -> e3; t0 -> e0 [as=from, use=read];"
    "t3 -> q [as=to, use=write]; q -> e0; t3 -> e3 [as=from, use=read];"
    "t1 -> e1 [as=own, use=both]; t2 -> e2 [as=own, use=both]; }";

static void fill(unsigned char *tuple, uint32_t seed)
{
    for (size_t i = 0; i < LARGE; i++) {
        seed = seed * 1664525u + 1013904223u;
        tuple[i] = (unsigned char)(seed >> 24);
    }
}

static int exchange_large(paths_thread *self, void *argument)
{
    uint32_t number = paths_thread_number(self);
    unsigned char *own, *got, *want;
    paths_path *to, *from;

    (void)argument;
    if (number == 1 || number == 2)
        return 0;
    own = malloc(3 * (size_t)LARGE);
    expect(own != NULL);
    got = own + LARGE;
    want = got + LARGE;
    expect_status(paths_open(&to, self, "to"), 0);
    expect_status(paths_open(&from, self, "from"), 0);
    for (uint32_t i = 0; i < LARGE_ROUNDS; i++) {
        fill(own, 2 * i + (number == 0));
        fill(want, 2 * i + (number != 0));
        expect_status(paths_write(to, own, LARGE), 0);
        expect_status(paths_observe(from, got, LARGE), 0);
        expect(memcmp(got, want, LARGE) == 0);
    }
    free(own);
    return 0;
}

static const process_program large_programs[] = {{"*", exchange_large, NULL},
                                                 {NULL, NULL, NULL}};

static void exchange_by(const char *encrypt)
{
    if (encrypt)
        setenv("PROCESSES_ENCRYPT", encrypt, 1);
    run = (processes){.map_text = large, .programs = large_programs};
    processes_start(&run);
    processes_end_well(&run, 120);
    processes_free(&run);
    unsetenv("PROCESSES_ENCRYPT");
}

Test(gateway, passes_on_all_of_what_is_large)
{
    exchange_by(NULL);
}

Test(gateway, passes_on_what_it_cannot_read)
{
    exchange_by("always");
}

/* --- what a peer may not ask --- */

static const char *const asked_in_vain[] = {
    "nobody", "", "h1", /* whom it asks */ "h0" /* who asks */};

static int gateway_dial(uint16_t role)
{
    handshake_claim claim = {.digest = paths_map_digest(run.map), .role = role};
    wire_header header;
    int fd = attacker_dial(run.ports[1]);

    strcpy(claim.from, "h0");
    strcpy(claim.to, "h1");
    cr_assert(attacker_shake_hands(fd, run.key, &claim));
    cr_assert(attacker_hear(fd, &header, sizeof(header)));
    cr_assert_eq(header.kind, WIRE_WELCOME);
    return fd;
}

static void ask(int fd, const char *whom)
{
    wire_header header = {.kind = WIRE_RELAY, .bytes = (uint32_t)strlen(whom)};

    attacker_say_frame(fd, header, whom);
}

Test(gateway, closes_who_asks_for_what_is_not_there)
{
    run = (processes){.map_text = line, .programs = programs, .absent = 1};
    processes_start(&run);
    for (size_t i = 0; i < sizeof(asked_in_vain) / sizeof(*asked_in_vain);
         i++) {
        int fd = gateway_dial(ROLE_RELAY);
        ask(fd, asked_in_vain[i]);
        attacker_is_closed(fd);
    }
    for (uint16_t role = ROLE_THREAD; role <= ROLE_LOOP; role++) {
        int fd = gateway_dial(role);
        ask(fd, "h2");
        attacker_is_closed(fd);
    }
    processes_start_late(&run, 0);
    processes_end_well(&run, 120);
    processes_free(&run);
}

/* One that it does not reach is told, and may ask again. */
Test(gateway, tells_whom_it_does_not_reach)
{
    wire_header header;
    char text[WIRE_TEXT_BYTES + 1] = "";
    int fd;

    run = (processes){.map_text = line, .programs = programs, .absent = 1};
    processes_start(&run);
    fd = gateway_dial(ROLE_RELAY);
    for (int i = 0; i < 3; i++) {
        ask(fd, "h3");
        cr_assert(attacker_hear(fd, &header, sizeof(header)));
        cr_assert_eq(header.kind, WIRE_FAILED);
        cr_assert(attacker_hear(fd, text, header.bytes));
        text[header.bytes] = 0;
        cr_expect_str_eq(text, "process h1 cannot reach process h3: no network "
                               "has both");
    }
    ask(fd, "h2");
    cr_assert(attacker_hear(fd, &header, sizeof(header)));
    cr_expect_eq(header.kind, WIRE_WELCOME);
    /* What is said from here on is said to h2, which does not know it. */
    cr_assert_eq(send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    attacker_is_closed(fd);
    processes_start_late(&run, 0);
    processes_end_well(&run, 120);
    processes_free(&run);
}

/* Somebody who does not go away is not waited for long, and nothing is left of
 * what was passed on: processes look for leaks when they end. */
Test(gateway, ends_in_front_of_somebody_who_stays)
{
    wire_header header;
    int fd;

    run = (processes){.map_text = line, .programs = programs, .absent = 1};
    processes_start(&run);
    fd = gateway_dial(ROLE_RELAY);
    ask(fd, "h2");
    cr_assert(attacker_hear(fd, &header, sizeof(header)));
    cr_expect_eq(header.kind, WIRE_WELCOME);
    processes_start_late(&run, 0);
    processes_end_well(&run, 120);
    close(fd);
    processes_free(&run);
}

/* Of one that has died, those behind it hear nothing any more, and neither does
 * anybody of them: all are gone for the first, and it is gone for them. */
Test(gateway, takes_those_behind_it_with_it)
{
    /* Whoever had not joined waits for that long: nobody speaks for it here. */
    run = (processes){.map_text = line,
                      .programs = programs,
                      .absent = 1,
                      .connect_timeout_ms = 5000};
    processes_start(&run);
    processes_start_late(&run, 0);
    kill(run.pids[2], SIGKILL);
    processes_wait(&run, 120);
    cr_expect_eq(run.exit_codes[2], -SIGKILL);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        if (i != 2 && run.exit_codes[i] == 0)
            cr_expect(false, "h%u has ended well", i);
    }
    processes_free(&run);
}
