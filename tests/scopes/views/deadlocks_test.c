/* deadlocks_test.c - who can never go on, of what threads are in: lists made by
 * hand. What notes and messages say is tested with MPI programs (tests/mpi). */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "pastset/request.h"
#include "pastset/verb.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static void begin(void)
{
    scratch_make();
}

TestSuite(deadlocks, .timeout = 60, .init = begin, .fini = scratch_remove);

static char others[] = "others";

static const char map_text[] =
    "digraph g {\n"
    "  subgraph cluster_h0 { t0 [kind=thread, number=0];\n"
    "    c0 [kind=collector, id=0]; e [kind=element, type=\"u64\"]; }\n"
    "  subgraph cluster_h1 { t1 [kind=thread, number=1];\n"
    "    c1 [kind=collector, id=1]; }\n"
    "  subgraph cluster_h2 { t2 [kind=thread, number=2];\n"
    "    c2 [kind=collector, id=2]; }\n"
    "  t0 -> c0; c0 -> e; t1 -> c1; c1 -> e; t2 -> c2; c2 -> e;\n"
    "}\n";

#define THREADS 3
#define SECOND INT64_C(1000000000)

typedef struct world {
    told told;
    scopes_pending items[THREADS];
    scopes_pending_list list;
    uint32_t for_whom[THREADS][THREADS];
} world;

/* All of them compute. */
static void world_init(world *w)
{
    *w = (world){.list = {.items = w->items, .count = THREADS}};
    told_made(&w->told, map_text, NULL, 0);
    for (uint32_t i = 0; i < THREADS; i++)
        w->items[i] = (scopes_pending){.process = i,
                                       .thread = i,
                                       .process_state = EVENTSPACE_RUNNING,
                                       .activity = PATHS_COMPUTING,
                                       .path = "path",
                                       .element = PATHS_NONE,
                                       .stage = PATHS_NONE,
                                       .first = PATHS_NONE,
                                       .peer_thread = PATHS_NONE,
                                       .waits_for = others};
    w->told.view_input.pending = &w->list;
}

/* For a second, for whom: "12" are threads 1 and 2. */
static scopes_pending *waits(world *w, uint32_t thread, const char *whom)
{
    scopes_pending *p = &w->items[thread];

    p->activity = PATHS_WAITING;
    p->operates = true;
    p->lasts_ns = SECOND;
    p->verb = PASTSET_TAKE;
    p->threads = w->for_whom[thread];
    for (; *whom; whom++)
        p->threads[p->thread_count++] = (uint32_t)(*whom - '0');
    return p;
}

/* These threads have a row each, in this order: "02". */
static void check_stuck(world *w, const char *threads)
{
    scopes_table *table = told_view(&w->told, "deadlocks");
    char found[THREADS + 1] = "";
    size_t rows = scopes_table_rows(table);

    for (size_t i = 0; i < rows && i < THREADS; i++)
        found[i] = (char)('0' + table_integer(table, i, "number"));
    cr_expect_str_eq(found, threads);
    scopes_table_destroy(table);
    told_end(&w->told);
}

/* A front end's thread: it waits for a process, which may be about to come up
 * as long as the run goes on. */
Test(deadlocks, who_is_not_known_yet_may_come_up)
{
    world w;

    world_init(&w);
    w.list.count = 2;
    waits(&w, 0, "2")->flags = PATHS_NOTE_COLLECTOR;
    check_stuck(&w, "");
    world_init(&w);
    w.list.count = 2;
    waits(&w, 0, "2")->flags = PATHS_NOTE_COLLECTOR;
    w.items[0].process_state = EVENTSPACE_KILLED;
    check_stuck(&w, "0");
}

Test(deadlocks, nobody_waits)
{
    world w;

    world_init(&w);
    check_stuck(&w, "");
}

Test(deadlocks, a_circle_hangs)
{
    world w;

    world_init(&w);
    waits(&w, 0, "1");
    waits(&w, 1, "2");
    waits(&w, 2, "0");
    check_stuck(&w, "012");
}

Test(deadlocks, a_chain_goes_on)
{
    world w;

    world_init(&w);
    waits(&w, 0, "1");
    waits(&w, 1, "2");
    check_stuck(&w, "");
}

Test(deadlocks, a_chain_that_hangs_on_a_circle_hangs)
{
    world w;

    world_init(&w);
    waits(&w, 0, "1");
    waits(&w, 1, "0");
    waits(&w, 2, "0");
    check_stuck(&w, "012");
}

Test(deadlocks, all_have_to_come)
{
    world w;

    world_init(&w);
    waits(&w, 0, "12");
    waits(&w, 1, "0");
    check_stuck(&w, "01"); /* though 2 computes */
}

Test(deadlocks, one_of_several_will_do)
{
    world w;

    world_init(&w);
    waits(&w, 0, "12")->for_any = true;
    waits(&w, 1, "0");
    check_stuck(&w, "");
}

Test(deadlocks, none_of_several_comes)
{
    world w;

    world_init(&w);
    waits(&w, 0, "12")->for_any = true;
    waits(&w, 1, "0");
    w.items[2].activity = PATHS_ENDED;
    check_stuck(&w, "01");
}

Test(deadlocks, who_has_ended_brings_nothing)
{
    world w;

    world_init(&w);
    waits(&w, 0, "1");
    w.items[1].activity = PATHS_ENDED;
    check_stuck(&w, "0");
}

Test(deadlocks, who_is_not_known_may_bring_it)
{
    world w;

    world_init(&w);
    waits(&w, 0, "2");
    w.list.count = 2;
    check_stuck(&w, "");
}

Test(deadlocks, who_waits_for_nobody_that_is_known_goes_on)
{
    world w;

    world_init(&w);
    waits(&w, 0, "");
    waits(&w, 1, "0");
    check_stuck(&w, "");
}

Test(deadlocks, what_has_just_begun_is_not_told)
{
    world w;

    world_init(&w);
    waits(&w, 0, "1");
    waits(&w, 1, "0")->lasts_ns = SECOND / 10;
    check_stuck(&w, "");
}

Test(deadlocks, of_a_killed_process_it_is_told)
{
    world w;

    world_init(&w);
    for (uint32_t i = 0; i < 2; i++) {
        scopes_pending *p = waits(&w, i, i ? "0" : "1");
        p->lasts_ns = 0;
        p->process_state = EVENTSPACE_KILLED;
    }
    check_stuck(&w, "01");
}

/* 0 sends to 1, which receives from 0. */
static void send_and_receive(world *w, uint64_t sent, uint64_t received)
{
    scopes_pending *sender, *receiver;

    world_init(w);
    sender = waits(w, 0, "1");
    receiver = waits(w, 1, "0");
    sender->verb = PASTSET_WRITE;
    sender->peer_thread = 1;
    receiver->peer_thread = 0;
    sender->communicator = receiver->communicator = 1;
    sender->tag = sent;
    receiver->tag = received;
    sender->flags = receiver->flags = PATHS_NOTE_COLLECTOR;
}

Test(deadlocks, a_message_on_its_way_goes_on)
{
    world w;

    send_and_receive(&w, 7, 7);
    check_stuck(&w, "");
}

Test(deadlocks, a_message_with_any_tag_goes_on)
{
    world w;

    send_and_receive(&w, 7, PATHS_NOTE_ANY_TAG);
    check_stuck(&w, "");
}

Test(deadlocks, another_tag_hangs)
{
    world w;

    send_and_receive(&w, 7, 8);
    check_stuck(&w, "01");
}

Test(deadlocks, another_communicator_hangs)
{
    world w;

    send_and_receive(&w, 7, 7);
    w.items[0].communicator = 2;
    check_stuck(&w, "01");
}

/* A part of what the thread waits for. */
static scopes_pending part(uint16_t verb, uint32_t peer, uint32_t flags)
{
    return (scopes_pending){.operates = true,
                            .element = PATHS_NONE,
                            .stage = PATHS_NONE,
                            .flags = PATHS_NOTE_COLLECTOR | flags,
                            .communicator = 1,
                            .peer_thread = peer,
                            .verb = verb};
}

#define PARTS 3

/* For each thread, whom it waits for in its parts. */
static struct {
    scopes_pending all[PARTS];
    uint32_t peers[PARTS];
} parts[THREADS];

static void part_add(world *w, uint32_t thread, scopes_pending one)
{
    scopes_pending *p = &w->items[thread];
    size_t n = p->part_count++;

    parts[thread].peers[n] = one.peer_thread;
    one.process = one.thread = thread;
    one.threads = &parts[thread].peers[n];
    one.thread_count = 1;
    parts[thread].all[n] = one;
    p->parts = parts[thread].all;
    p->flags |= PATHS_NOTE_COLLECTOR;
}

/* All receive from the left; they send meanwhile to whom is `away`. */
static void send_and_receive_all(world *w, uint32_t away)
{
    world_init(w);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t left = (i + 2) % THREADS;
        waits(w, i, left == 0 ? "0" : left == 1 ? "1" : "2");
        part_add(w, i, part(PASTSET_TAKE, left, 0));
        part_add(w, i,
                 part(PASTSET_WRITE, (i + away) % THREADS, PATHS_NOTE_MAYBE));
    }
}

Test(deadlocks, who_sends_while_it_receives_brings_it)
{
    world w;

    send_and_receive_all(&w, 1);
    check_stuck(&w, "");
}

Test(deadlocks, who_sends_to_another_does_not_bring_it)
{
    world w;

    send_and_receive_all(&w, 2);
    check_stuck(&w, "012");
}

Test(deadlocks, the_last_of_three_does_not_come)
{
    world w;

    world_init(&w);
    waits(&w, 0, "12");
    part_add(&w, 0, part(PASTSET_TAKE, 1, 0));
    part_add(&w, 0, part(PASTSET_TAKE, 1, 0));
    part_add(&w, 0, part(PASTSET_TAKE, 2, 0));
    waits(&w, 2, "0");
    check_stuck(&w, "02"); /* though 1 computes */
}

Test(deadlocks, one_of_three_comes)
{
    world w;

    world_init(&w);
    waits(&w, 0, "12")->flags = PATHS_NOTE_ONE;
    part_add(&w, 0, part(PASTSET_TAKE, 2, 0));
    part_add(&w, 0, part(PASTSET_TAKE, 1, 0));
    waits(&w, 2, "0");
    check_stuck(&w, "");
}

/* 0 sends to 1 and 2, and may have done so to 1, who waits for it. */
static void two_sends(world *w)
{
    world_init(w);
    waits(w, 0, "12");
    part_add(w, 0, part(PASTSET_WRITE, 1, PATHS_NOTE_MAYBE));
    part_add(w, 0, part(PASTSET_WRITE, 2, PATHS_NOTE_MAYBE));
    waits(w, 1, "0")->flags = PATHS_NOTE_COLLECTOR;
    w->items[1].tag = 1;
}

Test(deadlocks, a_send_that_may_have_ended_is_not_waited_for)
{
    world w;

    two_sends(&w);
    check_stuck(&w, "");
}

Test(deadlocks, one_of_two_sends_is_waited_for)
{
    world w;

    two_sends(&w);
    w.items[2].activity = PATHS_ENDED;
    check_stuck(&w, "01");
}

/* 0 sends to 1, who has posted a receive and receives something else. */
static void sends_to_who_has_posted(world *w, uint64_t tag)
{
    scopes_pending posted = part(PASTSET_TAKE, 0, PATHS_NOTE_POSTED);

    send_and_receive(w, 7, 8);
    posted.tag = tag;
    w->items[1].under_way = 1;
    part_add(w, 1, part(PASTSET_TAKE, 0, 0));
    parts[1].all[0].tag = 8;
    part_add(w, 1, posted);
}

Test(deadlocks, a_posted_receive_takes_a_message)
{
    world w;

    sends_to_who_has_posted(&w, 7);
    check_stuck(&w, "");
}

Test(deadlocks, a_posted_receive_of_another_tag_does_not)
{
    world w;

    sends_to_who_has_posted(&w, 9);
    check_stuck(&w, "01");
}

Test(deadlocks, a_posted_receive_that_is_not_known_may)
{
    world w;

    sends_to_who_has_posted(&w, 9);
    w.items[1].under_way = 2;
    check_stuck(&w, "");
}
