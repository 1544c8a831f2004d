/* collective_fault_test.c - what goes wrong in a round is an error for all who
 * take part, which names who did it, and nobody else is hurt.
 *
 * Eight threads t0 ... t7 on four processes take part in a collective; t5, on
 * h2, is the one who does it. Two more, p on h1 and q on h3, pass tuples to and
 * fro all the time. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "paths/generate/generate.h"
#include "paths/engine/process.h"
#include "pastset/waiter.h"
#include "tests/paths/wrappers/collective_round.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"
#include "tests/support/command.h"

TestSuite(collective_fault, .timeout = 600);

#define THREADS 8
#define CULPRIT 5
#define SECOND_NS 1000000000
#define DEADLINE_MS 500 /* of an operation */
#define MAP_DEADLINE_MS                                                        \
    1500        /* of each round, also of those that are to go well */
#define WELL 20 /* rounds before it and after it */
#define WRONG (3 * THREADS + 5) /* a round in which t5 is the source */
#define CROSSED_AFTER 100 /* tuples that p and q pass after the others' end */

/* --- what is tried --- */

typedef struct scenario {
    const char *use;
    const char *root;  /* process */
    const char *shape; /* of the tree */
    bool of_map;       /* the deadline */
} scenario;

/* Of the test that runs; the processes are forked after it is set. */
static scenario now;
static int bell[2]; /* a pipe: who has come to some point rings */

typedef struct outcome {
    int64_t begun_ns, ended_ns;
    uint64_t round;
    uint64_t crossed; /* meanwhile */
    int status;
    char text[1000];
} outcome;

typedef struct board {
    outcome outcomes[THREADS];
    _Atomic unsigned finished; /* of t0 ... t7 */
    unsigned expected;         /* how many of them will be */
    _Atomic uint64_t crossed;  /* tuples that came from p to q and back */
    int64_t left_ns;           /* when t5 did */
} board;
static board *shared;

static int deadline_ms(void)
{
    return (int)timeout(now.of_map ? MAP_DEADLINE_MS : DEADLINE_MS);
}

static void ring(void)
{
    ssize_t r = write(bell[1], "", 1);
    (void)r;
}

static void wait_for_bell(unsigned times)
{
    struct pollfd rings = {.fd = bell[0], .events = POLLIN};
    char one;

    while (times--) {
        cr_assert_eq(poll(&rings, 1, (int)timeout(60) * 1000), 1,
                     "%s, root on %s: not everybody came so far", now.use,
                     now.root);
        cr_assert_eq(read(bell[0], &one, 1), 1);
    }
}

/* --- the map --- */

static void print_all(FILE *out)
{
    char type[32];

    fprintf(out, "digraph test { all [kind=element, type=\"%s\", shape=%s",
            round_type(type, now.use, THREADS, 1), now.shape);
    if (now.of_map)
        fprintf(out, ", deadline=\"%dms\"", deadline_ms());
    fprintf(out, "];\n");
}

/* `go` is for who must come after whom. */
static char *application_make(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    print_all(out);
    fprintf(out, "go [kind=element, type=\"i32\"];\n"
                 "ping [kind=element, type=\"i32\"];\n"
                 "pong [kind=element, type=\"i32\"];\n");
    for (int i = 0; i < THREADS; i++)
        fprintf(out,
                "t%d [kind=thread, number=%d]; t%d -> all [use=%s];\n"
                "t%d -> go [use=both];\n",
                i, i, i, now.use, i);
    fprintf(out, "p [kind=thread, number=8]; q [kind=thread, number=9];\n"
                 "p -> ping [use=write]; q -> ping [use=read];\n"
                 "q -> pong [use=write]; p -> pong [use=read]; }\n");
    fclose(out);
    return text;
}

static char *placement_make(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "digraph placement { all -> %s; go -> h2;\n", now.root);
    for (int i = 0; i < THREADS; i++)
        fprintf(out, "t%d -> h%d;\n", i, i / 2);
    fprintf(out, "p -> h1; q -> h3; ping -> h3; pong -> h1; }\n");
    fclose(out);
    return text;
}

static paths_map *parsed(const char *text)
{
    paths_map *map;

    check_status(paths_map_parse(&map, text, strlen(text), "fault.dot"), 0);
    return map;
}

/* Takes the texts. */
static char *map_make(char *application, char *placement)
{
    paths_map *a = parsed(application), *p = parsed(placement), *map;
    paths_generate_options options = {
        .application = a, .processes = 4, .placement = p};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    check_status(paths_generate(&map, &options), 0);
    check_status(paths_map_write(map, out), 0);
    fclose(out);
    paths_map_destroy(map);
    paths_map_destroy(a);
    paths_map_destroy(p);
    free(application);
    free(placement);
    return text;
}

/* --- what p and q do --- */

static int cross_once(paths_path *there, paths_path *back, int32_t n)
{
    int32_t got;
    int err = paths_write(there, &n, sizeof(n));

    if (!err)
        err = paths_observe(back, &got, sizeof(got));
    if (err)
        return err;
    expect(got == n);
    return 0;
}

/* It goes on all the time, and leaves the processors to the others. */
static const struct timespec pace = {0, 200000};

static int cross(paths_thread *self, void *argument)
{
    paths_path *there, *back;
    int left = CROSSED_AFTER, err = 0;

    (void)argument;
    expect_status(paths_open(&there, self, "ping"), 0);
    expect_status(paths_open(&back, self, "pong"), 0);
    for (int32_t n = 1; left && !err; n++) {
        err = cross_once(there, back, n);
        atomic_fetch_add(&shared->crossed, 1);
        nanosleep(&pace, NULL);
        if (n == 10)
            ring();
        left -= atomic_load(&shared->finished) == shared->expected;
    }
    return err ? err : cross_once(there, back, -1);
}

static int cross_back(paths_thread *self, void *argument)
{
    paths_path *there, *back;
    int32_t n = 0;
    int err = 0;

    (void)argument;
    expect_status(paths_open(&there, self, "ping"), 0);
    expect_status(paths_open(&back, self, "pong"), 0);
    while (n >= 0 && !err) {
        err = paths_observe(there, &n, sizeof(n));
        if (!err)
            err = paths_write(back, &n, sizeof(n));
    }
    return err;
}

/* --- taking part --- */

typedef struct member {
    paths_path *all, *go;
    unsigned number;
    round_part part;
    outcome *outcome;
} member;

static int member_open(member *m, paths_thread *self)
{
    memset(m, 0, sizeof(*m));
    m->number = paths_thread_number(self);
    m->outcome = &shared->outcomes[m->number];
    m->part.use = now.use;
    m->part.place = m->number;
    m->part.count = THREADS;
    m->part.width = 1;
    expect_status(paths_open(&m->all, self, "all"), 0);
    expect_status(paths_open(&m->go, self, "go"), 0);
    return 0;
}

static int take_part(member *m, uint64_t round)
{
    int err;

    round_make(&m->part, round);
    err = paths_call(m->all, &m->part.arguments);
    if (err)
        return err;
    expect(round_is_right(&m->part));
    return 0;
}

static int go_well(member *m, uint64_t first)
{
    int err = 0;

    for (uint64_t r = first; r < first + WELL && !err; r++)
        err = take_part(m, r);
    return err;
}

/* What came of the round that was to fail. */
static void note(member *m, int status)
{
    outcome *o = m->outcome;

    o->ended_ns = pastset_now_ns();
    o->crossed = atomic_load(&shared->crossed) - o->crossed;
    o->round = m->part.round;
    o->status = status;
    snprintf(o->text, sizeof(o->text), "%s", status ? pastset_error() : "");
}

static void begin(member *m)
{
    m->outcome->crossed = atomic_load(&shared->crossed);
    m->outcome->begun_ns = pastset_now_ns();
}

static int end(int err)
{
    atomic_fetch_add(&shared->finished, 1);
    return err;
}

/* --- how late this machine is by itself --- */

#define TICK_MS 10

/* The longest that somebody who wanted to sleep for a moment had to wait to
 * go on: other programs may want the processors too. */
static _Atomic int64_t stalled_ns;
static _Atomic bool watching;
static pthread_t watcher;

static void *watch(void *unused)
{
    (void)unused;
    while (atomic_load(&watching)) {
        int64_t began = pastset_now_ns(), over;
        poll(NULL, 0, TICK_MS);
        over = pastset_now_ns() - began - TICK_MS * 1000000;
        if (over > atomic_load(&stalled_ns))
            atomic_store(&stalled_ns, over);
    }
    return NULL;
}

static void watch_begin(void)
{
    atomic_store(&stalled_ns, 0);
    atomic_store(&watching, true);
    cr_assert_eq(pthread_create(&watcher, NULL, watch, NULL), 0);
}

static void watch_end(void)
{
    atomic_store(&watching, false);
    pthread_join(watcher, NULL);
}

/* What takes a second takes that, and several stalls at worst: of who waits,
 * of the network loops, and of who is told. */
static int64_t a_second(void)
{
    return (int64_t)timeout(1) * SECOND_NS + 5 * atomic_load(&stalled_ns);
}

/* --- running it --- */

static void start(processes *h, process_program *programs, unsigned expected)
{
    h->map_text = map_make(application_make(), placement_make());
    h->programs = programs;
    shared = shared_memory(sizeof(*shared));
    shared->expected = expected;
    cr_assert_eq(pipe(bell), 0);
    processes_start(h);
    watch_begin();
}

static void stop(processes *h)
{
    processes_free(h);
    free((void *)(uintptr_t)h->map_text);
    munmap(shared, sizeof(*shared));
    close(bell[0]);
    close(bell[1]);
}

static void look_at(unsigned i, int status, const char *says, int64_t until_ns)
{
    const outcome *o = &shared->outcomes[i];

    cr_expect_eq(o->status, status, "%s, root on %s: t%u got %s, not %s: %s",
                 now.use, now.root, i, pastset_status_name(o->status),
                 pastset_status_name(status), o->text);
    cr_expect(strstr(o->text, says), "%s, root on %s: t%u: no \"%s\" in \"%s\"",
              now.use, now.root, i, says, o->text);
    cr_expect_leq(o->ended_ns, until_ns, "%s, root on %s: t%u: %.3f s late",
                  now.use, now.root, i,
                  (double)(o->ended_ns - until_ns) / SECOND_NS);
}

/* All who took part, but one. */
static void look(unsigned but, int status, const char *says, int64_t until_ns)
{
    for (unsigned i = 0; i < THREADS; i++) {
        if (i != but)
            look_at(i, status, says, until_ns);
    }
}

typedef void attempt(void);

/* Each kind, with the root at the coordinator and elsewhere, which is by turns
 * where sanitizers make it slow; and one without partials. */
static void try_all(attempt *one)
{
    static const char *const roots[] = {"h0", "h1"};
    bool slow = timeout(1) > 1;

    for (int i = 0; i < 2 * ROUND_USES; i++) {
        now =
            (scenario){round_uses[i / 2], roots[i % 2], "hierarchical", false};
        if (!slow || i % 2 == i / 2 % 2)
            one();
    }
    now = (scenario){"sum", "h3", "flat", false};
    one();
}

/* --- a process dies --- */

static int until_it_dies(paths_thread *self, void *argument)
{
    member m;
    int err = member_open(&m, self);

    (void)argument;
    for (uint64_t r = 0; !err; r++) {
        if (r == WELL && m.number == 0)
            ring();
        err = take_part(&m, r);
    }
    note(&m, err);
    expect_status(take_part(&m, 0), err); /* and so it stays */
    return end(0);
}

static void kill_process(void)
{
    process_program programs[] = {{"*", until_it_dies, NULL},
                                  {"p", cross, NULL},
                                  {"q", cross_back, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = NULL};
    int64_t killed;

    start(&h, programs, THREADS - 2);
    wait_for_bell(2);
    killed = pastset_now_ns();
    kill(h.pids[2], SIGKILL);
    processes_wait(&h, 60);
    watch_end();
    for (unsigned i = 0; i < THREADS; i++) {
        if (i / 2 != 2)
            look_at(i, PASTSET_EHOST, "process h2 died", killed + a_second());
    }
    cr_expect_eq(h.exit_codes[0], 1, "%s", now.use); /* it tells of it */
    cr_expect(strstr(h.results[0].text, "process h2 died"), "%s",
              h.results[0].text);
    cr_expect_eq(h.exit_codes[1], 0, "%s: %s", now.use, h.results[1].text);
    cr_expect_eq(h.exit_codes[2], -SIGKILL);
    cr_expect_eq(h.exit_codes[3], 0, "%s: %s", now.use, h.results[3].text);
    stop(&h);
}

Test(collective_fault, a_process_that_dies_is_named_to_all_others)
{
    try_all(kill_process);
}

Test(collective_fault, a_process_that_dies_may_be_that_of_the_root)
{
    for (int i = 0; i < ROUND_USES; i++) {
        now = (scenario){round_uses[i], "h2", "hierarchical", false};
        kill_process();
    }
}

static int until_it_ends(paths_thread *self, void *argument)
{
    member m;
    int err = member_open(&m, self);

    (void)argument;
    for (uint64_t r = 0; !err; r++) {
        if (r == WELL && m.number == 0)
            ring();
        err = take_part(&m, r);
    }
    note(&m, err);
    return err;
}

static void kill_coordinator(void)
{
    process_program programs[] = {{"*", until_it_ends, NULL},
                                  {"p", cross, NULL},
                                  {"q", cross_back, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = NULL};
    int64_t killed;

    start(&h, programs, THREADS);
    wait_for_bell(2);
    killed = pastset_now_ns();
    kill(h.pids[0], SIGKILL);
    processes_wait(&h, 20);
    watch_end();
    for (unsigned i = 2; i < THREADS; i++)
        look_at(i, PASTSET_EHOST, "process h0 died", killed + a_second());
    for (unsigned i = 1; i < 4; i++) {
        cr_expect_eq(h.exit_codes[i], 1);
        check_says(h.results[i].text, "process h0 died");
    }
    stop(&h);
}

Test(collective_fault, the_death_of_the_coordinator_ends_the_run)
{
    try_all(kill_coordinator);
}

/* --- one comes too late --- */

static int fail_late(member *m)
{
    int32_t one = 1;
    int err;

    begin(m);
    round_make(&m->part, WRONG);
    if (m->number == CULPRIT) {
        for (int i = 1; i < THREADS; i++)
            expect_status(paths_observe(m->go, &one, sizeof(one)), 0);
    } else if (!now.of_map) {
        m->part.arguments.timeout_ms = deadline_ms();
    }
    err = paths_call(m->all, &m->part.arguments);
    note(m, err);
    if (m->number != CULPRIT)
        expect_status(paths_write(m->go, &one, sizeof(one)), 0);
    return 0;
}

static int one_comes_late(paths_thread *self, void *argument)
{
    member m;
    int err = member_open(&m, self);

    (void)argument;
    if (!err)
        err = go_well(&m, 0);
    if (!err)
        err = fail_late(&m);
    if (!err)
        err = go_well(&m, WRONG + 1);
    return end(err);
}

static int64_t first_begun(void)
{
    int64_t first = INT64_MAX;

    for (int i = 0; i < THREADS; i++) {
        const outcome *o = &shared->outcomes[i];
        if (i != CULPRIT && o->begun_ns < first)
            first = o->begun_ns;
    }
    return first;
}

#define SLACK_NS 100000000 /* half of what wrappers give those below them */

static unsigned exact; /* outcomes that name t5, of those who are not near it */

/* t4, who waits at the same partial, is the first to give up, and knows who is
 * late. Where this machine does not let it, others know which partial is, or
 * not even that. */
static const char *late_name(const outcome *o, int64_t deadline)
{
    static const char *const vague[] = {"(of threads number 4 to 5)",
                                        ": the deadline passed"};
    bool stalls = shared->outcomes[CULPRIT - 1].ended_ns >
                  first_begun() + deadline + SLACK_NS;

    for (int i = 0; i < 2 && stalls; i++) {
        if (strstr(o->text, vague[i]))
            return vague[i];
    }
    exact += o - shared->outcomes < CULPRIT - 1;
    return "thread t5";
}

/* Whether tuples crossed during each outcome: on a busy machine p and q may
 * have had no processor meanwhile. */
static bool run_late_once(void)
{
    process_program programs[] = {{"*", one_comes_late, NULL},
                                  {"p", cross, NULL},
                                  {"q", cross_back, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = NULL};
    int64_t deadline = (int64_t)deadline_ms() * 1000000;

    bool crossed = true;

    start(&h, programs, THREADS);
    processes_end_well(&h, 60);
    watch_end();
    for (unsigned i = 0; i < THREADS; i++) {
        const outcome *o = &shared->outcomes[i];
        look_at(i, PASTSET_ETIMEDOUT, late_name(o, deadline),
                o->begun_ns + deadline + a_second());
        cr_expect_geq(o->ended_ns, first_begun() + deadline,
                      "%s, root on %s: t%u gave up %.3f s after it began",
                      now.use, now.root, i,
                      (double)(o->ended_ns - o->begun_ns) / SECOND_NS);
        crossed = crossed && o->crossed > 0;
    }
    stop(&h);
    return crossed;
}

/* Where p and q are kept from it they never get on. */
static void run_late(void)
{
    bool crossed = false;

    for (int i = 0; i < 5 && !crossed; i++)
        crossed = run_late_once();
    cr_expect(crossed, "%s, root on %s: nothing crossed", now.use, now.root);
}

Test(collective_fault, who_does_not_come_in_time_is_named_to_all)
{
    exact = 0;
    try_all(run_late);
    cr_expect_gt(exact, 0);
}

Test(collective_fault, the_map_may_say_how_long_the_others_wait)
{
    exact = 0;
    for (int i = 0; i < ROUND_USES; i++) {
        now = (scenario){round_uses[i], i % 2 ? "h0" : "h1", "hierarchical",
                         true};
        run_late();
    }
    cr_expect_gt(exact, 0);
}

/* --- a mistake of one --- */

/* Runs a program whose round WRONG fails for all. */
static void run_wrong(paths_main *program, int status)
{
    process_program programs[] = {{"*", program, NULL},
                                  {"p", cross, NULL},
                                  {"q", cross_back, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = NULL};

    start(&h, programs, THREADS);
    processes_end_well(&h, 60);
    watch_end();
    for (unsigned i = 0; i < THREADS; i++) {
        look_at(i, status, "thread t5", INT64_MAX);
        cr_expect_eq(shared->outcomes[i].round, WRONG);
    }
    stop(&h);
}

static int one_brings_too_much(paths_thread *self, void *argument)
{
    member m;
    int err = member_open(&m, self);

    (void)argument;
    if (!err)
        err = go_well(&m, 0);
    if (err)
        return end(err);
    round_make(&m.part, WRONG);
    if (m.number == CULPRIT)
        m.part.arguments.bytes += sizeof(int64_t);
    note(&m, paths_call(m.all, &m.part.arguments));
    return end(go_well(&m, WRONG + 1));
}

static void run_too_much(void)
{
    run_wrong(one_brings_too_much, PASTSET_ETYPE);
}

Test(collective_fault, who_brings_a_tuple_of_another_type_is_named_to_all)
{
    try_all(run_too_much);
}

static void on_done(paths_arguments *arguments, int status, void *context)
{
    int *out = context;

    (void)arguments;
    if (status && !*out)
        *out = status;
}

/* Both operations end before anybody else comes. */
static int contribute_twice(member *m, paths_thread *self)
{
    int32_t one = 1;
    int statuses[2] = {0, 0};
    round_part *second = calloc(1, sizeof(*second));
    int ended = 0;

    *second = m->part;
    round_make(&m->part, WRONG);
    round_make(second, WRONG);
    expect_status(
        paths_start(m->all, &m->part.arguments, on_done, &statuses[0]), 0);
    expect_status(
        paths_start(m->all, &second->arguments, on_done, &statuses[1]), 0);
    while (ended < 2) {
        int r = paths_poll(self, PASTSET_FOREVER);
        if (r < 0)
            return r;
        ended += r;
    }
    note(m, statuses[0]);
    free(second);
    expect(statuses[0] == PASTSET_EINVAL);
    expect(statuses[1] == PASTSET_EINVAL);
    for (int i = 1; i < THREADS; i++)
        expect_status(paths_write(m->go, &one, sizeof(one)), 0);
    return 0;
}

static int one_comes_twice(paths_thread *self, void *argument)
{
    int32_t one;
    member m;
    int err = member_open(&m, self);

    (void)argument;
    if (!err)
        err = go_well(&m, 0);
    if (!err && m.number == CULPRIT) {
        err = contribute_twice(&m, self);
    } else if (!err) {
        round_make(&m.part, WRONG);
        err = paths_observe(m.go, &one, sizeof(one));
        if (!err)
            note(&m, paths_call(m.all, &m.part.arguments));
    }
    return end(err ? err : go_well(&m, WRONG + 1));
}

static void run_twice(void)
{
    run_wrong(one_comes_twice, PASTSET_EINVAL);
}

Test(collective_fault, who_contributes_twice_is_named_to_all)
{
    try_all(run_twice);
}

/* --- one leaves --- */

static int one_leaves(paths_thread *self, void *argument)
{
    member m;
    int err = member_open(&m, self);

    (void)argument;
    if (!err)
        err = go_well(&m, 0);
    if (m.number == CULPRIT || err) {
        shared->left_ns = pastset_now_ns();
        return err;
    }
    note(&m, take_part(&m, WELL));
    expect_status(take_part(&m, WELL + 1), PASTSET_ECANCELED);
    return end(0);
}

static void run_leaves(void)
{
    process_program programs[] = {{"*", one_leaves, NULL},
                                  {"p", cross, NULL},
                                  {"q", cross_back, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = NULL};

    start(&h, programs, THREADS - 1);
    processes_end_well(&h, 60);
    watch_end();
    look(CULPRIT, PASTSET_ECANCELED, "thread t5", shared->left_ns + a_second());
    look(CULPRIT, PASTSET_ECANCELED, "has ended", INT64_MAX);
    stop(&h);
}

Test(collective_fault, who_ends_early_is_named_to_all_others)
{
    try_all(run_leaves);
}

/* --- plain elements of those that a process leaves behind --- */

static const char left_behind[] =
    "digraph test {\n"
    "lone [kind=element, type=\"i32\"]; far [kind=element, type=\"i32\"];\n"
    "pair [kind=element, type=\"i32\"]; never [kind=element, type=\"i32\"];\n"
    "full [kind=element, type=\"i32\", capacity=1];\n"
    "w [kind=thread]; w -> lone [use=write]; w -> far [use=write];\n"
    "w -> pair [use=write]; w -> full [use=read]; w -> never [use=read];\n"
    "alone [kind=thread]; alone -> lone [use=read]; alone -> pair "
    "[use=write];\n"
    "cut [kind=thread]; cut -> far [use=read];\n"
    "stuck [kind=thread]; stuck -> full [use=write]; stuck -> never "
    "[use=write];\n"
    "waits [kind=thread]; waits -> pair [use=read];\n"
    "bystander [kind=thread]; bystander -> never [use=write]; }\n";

static const char left_places[] =
    "digraph placement { w -> h2; alone -> h1; cut -> h3; stuck -> h3;\n"
    "waits -> h3; bystander -> h0; lone -> h1; far -> h2; pair -> h3;\n"
    "full -> h1; never -> h2; }\n";

/* Rings when the operation is under way, and waits for it. */
static int start_and_wait(paths_thread *self, paths_path *path,
                          pastset_verb verb, int32_t *tuple)
{
    paths_arguments a = {.verb = verb,
                         .tuple = tuple,
                         .bytes = sizeof(*tuple),
                         .timeout_ms = PASTSET_FOREVER};
    int status = 0;

    expect_status(paths_start(path, &a, on_done, &status), 0);
    ring();
    expect(paths_poll(self, PASTSET_FOREVER) == 1);
    return status;
}

/* It runs, so that its process has come to the coordinator. */
static int wait_for_ever(paths_thread *self, void *argument)
{
    int32_t got;
    paths_path *path;

    expect_status(paths_open(&path, self, argument), 0);
    ring();
    return paths_observe(path, &got, sizeof(got));
}

static int see_the_end(paths_thread *self, void *argument)
{
    int32_t value = 1;
    paths_path *path;

    expect_status(paths_open(&path, self, argument), 0);
    expect_status(start_and_wait(self, path, PASTSET_OBSERVE, &value),
                  PASTSET_EHOST);
    expect_error("process h2 died");
    return 0;
}

static int fill_it(paths_thread *self, void *argument)
{
    int32_t value = 1;
    paths_path *path;

    expect_status(paths_open(&path, self, argument), 0);
    expect_status(paths_write(path, &value, sizeof(value)), 0);
    expect_status(start_and_wait(self, path, PASTSET_WRITE, &value),
                  PASTSET_EHOST);
    expect_error("process h2 died");
    return 0;
}

static int see_it_and_write(paths_thread *self, void *argument)
{
    int32_t value = 42;
    paths_path *pair;
    int err = see_the_end(self, argument);

    if (err)
        return err;
    expect_status(paths_open(&pair, self, "pair"), 0);
    return paths_write(pair, &value, sizeof(value));
}

static int go_on_waiting(paths_thread *self, void *argument)
{
    int32_t value = 0;
    paths_path *path;

    expect_status(paths_open(&path, self, argument), 0);
    expect_status(start_and_wait(self, path, PASTSET_OBSERVE, &value), 0);
    expect(value == 42);
    return 0;
}

static int do_nothing(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    return 0;
}

Test(collective_fault, plain_readers_go_on_if_a_writer_is_left)
{
    char lone[] = "lone", far[] = "far", full[] = "full", pair[] = "pair";
    char never[] = "never";
    process_program programs[] = {{"w", wait_for_ever, never},
                                  {"alone", see_it_and_write, lone},
                                  {"cut", see_the_end, far},
                                  {"stuck", fill_it, full},
                                  {"waits", go_on_waiting, pair},
                                  {"bystander", do_nothing, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text =
                       map_make(strdup(left_behind), strdup(left_places)),
                   .programs = programs};

    cr_assert_eq(pipe(bell), 0);
    processes_start(&h);
    wait_for_bell(5);
    kill(h.pids[2], SIGKILL);
    processes_wait(&h, 30);
    cr_expect_eq(h.exit_codes[0], 1);
    check_says(h.results[0].text, "process h2 died");
    cr_expect_eq(h.exit_codes[1], 0, "%s", h.results[1].text);
    cr_expect_eq(h.exit_codes[2], -SIGKILL);
    cr_expect_eq(h.exit_codes[3], 0, "%s", h.results[3].text);
    processes_free(&h);
    free((void *)(uintptr_t)h.map_text);
}
