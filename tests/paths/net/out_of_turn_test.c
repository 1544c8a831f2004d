/* out_of_turn_test.c - who knows the key, and says what is not for it to say,
 * or not now: its connection is closed, and nothing of it has happened. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pastset/request.h"
#include "tests/paths/net/hostile_run.h"
#include "tests/support/check.h"

#define ALL_BUT(process) (7u & ~(1u << (process)))

TestSuite(out_of_turn, .timeout = 300);

typedef struct frame {
    wire_kind kind;
    const char *way;     /* a node that it names; NULL: none */
    const char *payload; /* NULL: none */
} frame;

static void say(int fd, const frame *f)
{
    const char *payload = f->payload ? f->payload : "";
    uint32_t node = f->way ? hostile_node(f->way) : UINT32_MAX;
    wire_header header = {.kind = (uint16_t)f->kind};

    if (f->kind == WIRE_REQUEST)
        header.request = (wire_request){.kind = WIRE_REQUEST,
                                        .verb = PASTSET_READ_LAST,
                                        .proxy = node,
                                        .capacity = 4};
    if (f->kind == WIRE_SPOILT)
        header.spoilt = (wire_spoilt){.kind = WIRE_SPOILT,
                                      .verb = PASTSET_READ_LAST,
                                      .proxy = node,
                                      .error = 4};
    if (f->kind == WIRE_LEFT)
        header.left = (wire_left){.kind = WIRE_LEFT, .proxy = node};
    if (f->kind == WIRE_ENDED)
        header.ended = (wire_ended){.kind = WIRE_ENDED, .node = node};
    header.bytes = (uint32_t)strlen(payload);
    attacker_say_frame(fd, header, payload);
}

/* --- on connections of threads and loops --- */

/* What no connection for operations may say to the process that it came to. */
static const frame of_operations[] = {
    {WIRE_WELCOME, NULL, NULL},
    {WIRE_REPLY, NULL, NULL},
    {WIRE_DONE, NULL, NULL},
    {WIRE_END, NULL, NULL},
    {WIRE_FAILED, NULL, "the run has failed"},
    {WIRE_GONE, NULL, "island it has died"},
    {WIRE_ENDED, NULL, NULL},
    {WIRE_REQUEST, "p", NULL}, /* a way of the process that it is said to */
    {WIRE_REQUEST, "r", NULL},
    {WIRE_REQUEST, "pong", NULL},
    {WIRE_SPOILT, "p", NULL},
    {WIRE_LEFT, "p", "nobody comes"},
    {WIRE_LEFT, NULL, "nobody comes"},
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void is_closed_after(uint16_t role, int from, const frame *f)
{
    int fd = hostile_dial(role, from, HARBOUR);

    say(fd, f);
    attacker_is_closed(fd);
}

Test(out_of_turn, ends_a_connection_for_operations_and_nothing_else)
{
    hostile_run_start(hostile_play, 0, 0);
    hostile_run_goes_on();
    for (size_t i = 0; i < COUNT(of_operations); i++) {
        is_closed_after(ROLE_THREAD, LIGHTHOUSE, &of_operations[i]);
        is_closed_after(ROLE_LOOP, LIGHTHOUSE, &of_operations[i]);
    }
    hostile_run_goes_on();
    hostile_run_ends_well();
}

/* That a way is left for good is for the loop to say, whose connection it is
 * on which everything else of that way has come before. */
Test(out_of_turn, is_a_thread_that_leaves_a_way)
{
    static const frame left = {WIRE_LEFT, "q", "nobody comes"};

    hostile_run_start(hostile_play, 0, 0);
    hostile_run_goes_on();
    is_closed_after(ROLE_THREAD, LIGHTHOUSE, &left);
    hostile_run_goes_on();
    hostile_run_ends_well();
}

Test(out_of_turn, is_a_request_by_the_way_of_another_process)
{
    static const frame request = {WIRE_REQUEST, "q", NULL};

    hostile_run_start(hostile_play, 0, 0);
    hostile_run_goes_on();
    is_closed_after(ROLE_THREAD, ISLAND, &request);
    hostile_run_goes_on();
    hostile_run_ends_well();
}

/* --- on the connection of a member --- */

static const frame of_members[] = {
    {WIRE_WELCOME, NULL, NULL},       {WIRE_REPLY, NULL, NULL},
    {WIRE_END, NULL, NULL},           {WIRE_GONE, NULL, "island it has died"},
    {WIRE_REQUEST, "q", NULL},        {WIRE_SPOILT, "q", NULL},
    {WIRE_LEFT, "q", "nobody comes"}, {WIRE_ENDED, NULL, NULL},
    {WIRE_ENDED, "q", NULL},
};

Test(out_of_turn, is_the_death_of_a_member)
{
    for (size_t i = 0; i < COUNT(of_members); i++) {
        int fd;
        hostile_run_start(hostile_idle, 1u << LIGHTHOUSE, 0);
        fd = hostile_dial(ROLE_MEMBER, LIGHTHOUSE, HARBOUR);
        say(fd, &of_members[i]);
        attacker_is_closed(fd);
        hostile_run_ends_with(HARBOUR,
                              "process lighthouse died: it broke the protocol");
    }
}

Test(out_of_turn, is_a_second_member_or_one_at_the_wrong_process)
{
    handshake_claim claims[] = {{0}, {0}};
    wire_header header;

    hostile_run_start(hostile_idle, 1u << LIGHTHOUSE, 0);
    int first = hostile_dial(ROLE_MEMBER, LIGHTHOUSE, HARBOUR);
    claims[0] = hostile_claim(ROLE_MEMBER, LIGHTHOUSE, HARBOUR);
    claims[1] = hostile_claim(ROLE_MEMBER, LIGHTHOUSE, ISLAND);
    for (int i = 0; i < 2; i++) {
        int fd = attacker_dial(hostile_run.ports[i ? ISLAND : HARBOUR]);
        cr_assert(attacker_shake_hands(fd, hostile_run.key, &claims[i]));
        cr_assert(attacker_hear(fd, &header, sizeof(header)));
        cr_expect_eq(header.kind, WIRE_FAILED);
        attacker_is_closed(fd);
    }
    say(first, &(frame){WIRE_DONE, NULL, NULL});
    hostile_run_ends_well();
    close(first);
}

/* --- from the process that was called --- */

/* Lighthouse connects to us as its coordinator. */
static int coordinator_accept(void)
{
    int fd;

    hostile_run_start(hostile_idle, ALL_BUT(LIGHTHOUSE), 1u << HARBOUR);
    fd = accept(hostile_run.doors[HARBOUR], NULL, NULL);
    cr_assert(attacker_answer(fd, hostile_run.key, "harbour",
                              paths_map_digest(hostile_run.map)));
    return fd;
}

/* A process that cannot join tries again for a while: each kind has a test of
 * its own, so that they wait together. */
ParameterizedTestParameters(out_of_turn, is_whatever_comes_instead_of_a_welcome)
{
    static wire_kind kinds[WIRE_KINDS];
    size_t count = 0;

    for (wire_kind kind = WIRE_REQUEST; kind < WIRE_KINDS; kind++) {
        if (kind != WIRE_FAILED)
            kinds[count++] = kind;
    }
    return cr_make_param_array(wire_kind, kinds, count);
}

ParameterizedTest(wire_kind *kind, out_of_turn,
                  is_whatever_comes_instead_of_a_welcome)
{
    int fd = coordinator_accept();

    say(fd, &(frame){*kind, NULL, NULL});
    attacker_is_closed(fd);
    hostile_run_ends_with(
        LIGHTHOUSE,
        "cannot join process harbour: it did not complete the handshake");
}

/* The end of all threads is not told to who still has some. */
static const frame of_coordinators[] = {
    {WIRE_WELCOME, NULL, NULL},  {WIRE_END, NULL, NULL},
    {WIRE_DONE, NULL, NULL},     {WIRE_REPLY, NULL, NULL},
    {WIRE_REQUEST, "p", NULL},   {WIRE_SPOILT, "p", NULL},
    {WIRE_LEFT, "p", "nobody"},  {WIRE_GONE, NULL, "harbour it has died"},
    {WIRE_GONE, NULL, "nobody"}, {WIRE_ENDED, "p", NULL},
};

Test(out_of_turn, is_the_death_of_a_coordinator)
{
    for (size_t i = 0; i < COUNT(of_coordinators); i++) {
        int fd = coordinator_accept();
        say(fd, &(frame){WIRE_WELCOME, NULL, NULL});
        say(fd, &of_coordinators[i]);
        attacker_is_closed(fd);
        hostile_run_ends_with(LIGHTHOUSE,
                              "process harbour died: it broke the protocol");
    }
}

/* It does not get the proof of one that has another map. */
Test(out_of_turn, is_the_answer_of_a_process_with_another_map)
{
    int fd;

    hostile_run_start(hostile_idle, ALL_BUT(LIGHTHOUSE), 1u << HARBOUR);
    fd = accept(hostile_run.doors[HARBOUR], NULL, NULL);
    cr_expect_not(attacker_answer(fd, hostile_run.key, "harbour",
                                  paths_map_digest(hostile_run.map) + 1));
    close(fd);
    hostile_run_ends_with(LIGHTHOUSE,
                          "cannot join process harbour: the two processes "
                          "were started with different path maps");
}
