/* source_test.c - paths that end in a source: a stage of the application's own
 * that answers by itself. And what the stages of a type on a process share. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/collect/trace.h"
#include "eventspace/register_collectors.h"
#include "tests/paths/wrappers/wrappers.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"
#include "paths/map/map.h"
#include "pastset/element.h"

#define SHORT_MS 50
#define LONG_MS 20000

/* --- a well: answers at once --- */

/* The context of the type. */
typedef struct seen {
    _Atomic unsigned wells;           /* stages that there are */
    _Atomic unsigned processes_ended; /* after all of their wells */
} seen;

/* Of each process. */
typedef struct well_process {
    seen *seen;
    _Atomic uint64_t drawn; /* from all of its wells */
} well_process;

static int well_process_init(void *state, paths_process *process, void *context)
{
    well_process *h = state;

    if (!context)
        return pastset_fail(PASTSET_EINVAL, "process %s has a dry well",
                            paths_process_name(process));
    h->seen = context;
    return 0;
}

static void well_process_fini(void *state, paths_process *process)
{
    well_process *h = state;

    (void)process;
    if (atomic_load(&h->seen->wells) == 0)
        atomic_fetch_add(&h->seen->processes_ended, 1);
}

static int well_init(paths_stage *stage)
{
    const well_process *h = paths_stage_process_state(stage);

    atomic_fetch_add(&h->seen->wells, 1);
    return 0;
}

static void well_fini(paths_stage *stage)
{
    const well_process *h = paths_stage_process_state(stage);

    atomic_fetch_sub(&h->seen->wells, 1);
}

static int answer(paths_operation *op, uint64_t value)
{
    void *room;
    int err = paths_answer_room(op, sizeof(value), &room);

    if (!err)
        memcpy(room, &value, sizeof(value));
    return err;
}

static int well_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    well_process *h = paths_stage_process_state(stage);
    void *room;

    (void)note;
    switch (op->verb) {
    case PASTSET_READ_LAST:
        return answer(op, atomic_fetch_add(&h->drawn, 1));
    case PASTSET_READ_NEXT: /* every tenth: the others are lost */
        op->lost = (10 - op->index % 10) % 10;
        op->index += op->lost;
        return answer(op, op->index);
    case PASTSET_READ_FIRST: /* of a length that its type does not have */
        return paths_answer_room(op, 7, &room);
    case PASTSET_WRITE: /* in vain, but allowed */
        return 0;
    default:
        return PATHS_PASS;
    }
}

static const char *const type_only[] = {"type", NULL};

static const paths_wrapper_type well_type = {
    .name = "well",
    .process_bytes = sizeof(well_process),
    .attributes = type_only,
    .process_init = well_process_init,
    .process_fini = well_process_fini,
    .init = well_init,
    .fini = well_fini,
    .down = well_down,
    .source = true,
};

/* --- an echo: tuples of any length --- */

#define ECHO "twenty bytes of echo"

static int echo_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    void *room;
    int err;

    (void)stage;
    (void)note;
    if (op->verb != PASTSET_READ_FIRST)
        return PATHS_PASS;
    err = paths_answer_room(op, strlen(ECHO), &room);
    if (!err)
        memcpy(room, ECHO, strlen(ECHO));
    return err;
}

static const paths_wrapper_type echo_type = {
    .name = "echo",
    .attributes = type_only,
    .down = echo_down,
    .source = true,
};

/* --- a lid: no source, but it answers some reads before the element does ---
 */

static int lid_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    (void)stage;
    (void)note;
    return op->verb == PASTSET_READ_LAST ? answer(op, 42) : PATHS_PASS;
}

static const paths_wrapper_type lid_type = {
    .name = "lid",
    .down = lid_down,
};

/* --- processes --- */

/* In memory that all processes share. */
typedef struct shared {
    wrapper_counts counts;
    seen seen;
    /* For tests that kill a process. */
    _Atomic uint64_t joined, ready, died;
} shared;

static shared *at;
static paths_wrapper_context contexts[] = {
    {"other", NULL}, {"handover", NULL}, {"well", NULL}, {NULL, NULL}};

static void prepare(void)
{
    at = shared_memory(sizeof(*at));
    contexts[1].context = &at->counts;
    contexts[2].context = &at->seen;
    wrappers_register();
    check_status(paths_wrapper_register(&well_type), 0);
    check_status(paths_wrapper_register(&echo_type), 0);
    check_status(paths_wrapper_register(&lid_type), 0);
    check_status(eventspace_register(), 0);
}

TestSuite(source, .init = prepare, .timeout = 300);

static void run_well(const char *map, const process_program *programs)
{
    processes h = {.map_text = map, .programs = programs, .contexts = contexts};

    processes_start(&h);
    processes_end_well(&h, 60);
    processes_free(&h);
}

static int idle(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    return 0;
}

static void wait_until(const _Atomic uint64_t *counter, uint64_t count)
{
    while (atomic_load(counter) < count)
        usleep(1000);
}

static int call(paths_path *path, pastset_verb verb, void *tuple, size_t bytes,
                int timeout_ms)
{
    paths_arguments arguments = {
        .verb = verb, .tuple = tuple, .bytes = bytes, .timeout_ms = timeout_ms};
    int status = paths_call(path, &arguments);

    return status ? status : (int)arguments.bytes;
}

/* t0 is where the sources are, t1 elsewhere. */
static const char *const two_processes =
    "digraph g { subgraph cluster_h0 {\n"
    "water [kind=well, type=u64]; words [kind=echo, type=\"bytes[64]\"];\n"
    "hands [kind=handover, type=u64]; t0 [kind=thread, number=0]; }\n"
    "subgraph cluster_h1 { p [kind=proxy]; q [kind=proxy]; r [kind=proxy];\n"
    "t1 [kind=thread, number=1]; }\n"
    "t0 -> water; t0 -> words [use=read]; t0 -> hands;\n"
    "t1 -> p [as=water]; t1 -> q [as=words, use=read]; t1 -> r [as=hands];\n"
    "p -> water; q -> words; r -> hands; }\n";

static void run_here_and_there(paths_main *program)
{
    process_program here[] = {
        {"*", idle, NULL}, {"t0", program, NULL}, {NULL, NULL, NULL}};
    process_program there[] = {
        {"*", idle, NULL}, {"t1", program, NULL}, {NULL, NULL, NULL}};

    run_well(two_processes, here);
    run_well(two_processes, there);
}

/* --- what it answers --- */

static int read_both(paths_thread *self, void *argument)
{
    paths_path *water, *words;
    uint64_t value = 99;
    char text[64];

    (void)argument;
    expect_status(paths_open(&water, self, "water"), 0);
    expect_status(paths_open(&words, self, "words"), 0);
    expect(strcmp(paths_type(water)->text, "u64") == 0);
    expect(strncmp(paths_describe(water), paths_thread_name(self), 2) == 0);
    expect(strstr(paths_describe(water), "-> water"));
    for (uint64_t i = 0; i < 5; i++) {
        expect_status(paths_read_last(water, &value, sizeof(value)), 0);
        expect(value == i);
    }
    expect(call(words, PASTSET_READ_FIRST, text, sizeof(text),
                PASTSET_FOREVER) == (int)strlen(ECHO));
    expect(memcmp(text, ECHO, strlen(ECHO)) == 0);
    return 0;
}

Test(source, answers_with_bytes_of_its_own_wherever_it_is)
{
    run_here_and_there(read_both);
}

static int read_every_tenth(paths_thread *self, void *argument)
{
    uint64_t value, read, lost;
    paths_path *water;

    (void)argument;
    expect_status(paths_open(&water, self, "water"), 0);
    for (uint64_t i = 0; i < 4; i++) {
        expect_status(paths_read_next(water, &value, sizeof(value)), 0);
        expect(value == 10 * i);
    }
    paths_reader_ledger(water, &read, &lost);
    expect(read == 4 && lost == 27);
    return 0;
}

Test(source, says_by_the_index_where_read_next_goes_on)
{
    run_here_and_there(read_every_tenth);
}

static int read_into_too_little(paths_thread *self, void *argument)
{
    paths_path *water, *words;
    char text[64];

    (void)argument;
    expect_status(paths_open(&water, self, "water"), 0);
    expect_status(paths_open(&words, self, "words"), 0);
    expect_status(paths_read_last(water, text, 7), PASTSET_EROOM);
    expect_status(call(words, PASTSET_READ_FIRST, text, 19, PASTSET_FOREVER),
                  PASTSET_EROOM);
    expect_error("\"words\": a tuple of 20 bytes, but room for 19");
    expect(call(words, PASTSET_READ_FIRST, text, 20, PASTSET_FOREVER) == 20);
    return 0;
}

Test(source, tells_a_reader_whose_buffer_is_too_small)
{
    run_here_and_there(read_into_too_little);
}

static int read_what_is_no_tuple(paths_thread *self, void *argument)
{
    paths_path *water;
    uint64_t value;

    (void)argument;
    expect_status(paths_open(&water, self, "water"), 0);
    expect_status(paths_read_first(water, &value, sizeof(value)),
                  PASTSET_ETYPE);
    expect_error("source \"water\" has type \"u64\": a tuple of 7 bytes does "
                 "not fit");
    return 0;
}

Test(source, is_held_to_the_type_of_its_node)
{
    run_here_and_there(read_what_is_no_tuple);
}

static int ask_for_more(paths_thread *self, void *argument)
{
    pastset_pattern pattern = {.fields = 1, .values = "12345678", .bytes = 8};
    paths_path *water, *words;
    uint64_t value = 1;

    (void)argument;
    expect_status(paths_open(&water, self, "water"), 0);
    expect_status(paths_open(&words, self, "words"), 0);
    expect_status(paths_write(water, &value, sizeof(value)), 0);
    expect_status(paths_read(water, 0, &value, sizeof(value)), PASTSET_EINVAL);
    expect_error("source \"water\" (well) does not support read");
    expect_status(paths_take(water, &pattern, &value, sizeof(value)),
                  PASTSET_EINVAL);
    expect_error("does not support take");
    expect_status(
        paths_exchange(water, &value, sizeof(value), &value, sizeof(value)),
        PASTSET_EINVAL);
    expect_error("does not support exchange");
    expect_status(paths_write(words, "", 0), PASTSET_EPERM);
    expect_error("source \"words\" with use=read");
    return 0;
}

Test(source, refuses_by_name_what_it_does_not_answer)
{
    run_here_and_there(ask_for_more);
}

/* What a process of the run sends is looked at once more where it arrives. */
static int match_with_too_much(paths_thread *self, void *argument)
{
    pastset_pattern pattern = {.fields = 1, .values = "123", .bytes = 3};
    paths_path *water;
    uint64_t value;

    (void)argument;
    expect_status(paths_open(&water, self, "water"), 0);
    expect_status(paths_take(water, &pattern, &value, sizeof(value)),
                  PASTSET_EINVAL);
    expect_error("a pattern that does not fit the type");
    return 0;
}

Test(source, is_not_asked_from_elsewhere_with_patterns_of_another_type)
{
    process_program programs[] = {{"t0", idle, NULL},
                                  {"t1", match_with_too_much, NULL},
                                  {NULL, NULL, NULL}};

    run_well(two_processes, programs);
}

static const char *const covered =
    "digraph g { subgraph cluster_h0 { lid [kind=lid];\n"
    "e [kind=element, type=u64]; t0 [kind=thread, number=0]; }\n"
    "subgraph cluster_h1 { p [kind=proxy]; t1 [kind=thread, number=1]; }\n"
    "t0 -> lid [as=e]; lid -> e; t1 -> p [as=e]; p -> lid; }\n";

static int read_the_lid(paths_thread *self, void *argument)
{
    uint64_t value = 7;
    paths_path *e;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_write(e, &value, sizeof(value)), 0);
    expect_status(paths_read_last(e, &value, sizeof(value)), 0);
    expect(value == 42);
    expect_status(paths_observe(e, &value, sizeof(value)), 0);
    expect(value == 7);
    return 0;
}

Test(source, is_not_needed_for_a_wrapper_to_answer_in_place_of_an_element)
{
    process_program here[] = {
        {"*", idle, NULL}, {"t0", read_the_lid, NULL}, {NULL, NULL, NULL}};
    process_program there[] = {
        {"*", idle, NULL}, {"t1", read_the_lid, NULL}, {NULL, NULL, NULL}};

    run_well(covered, here);
    run_well(covered, there);
}

/* --- what is no answer --- */

/* A source that breaks its word, by its node's `does`. */
static int liar_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    const char *does = paths_node_get(paths_stage_node(stage), "does");
    uint64_t value = 5;
    int err = strcmp(does, "nothing") == 0 ? 0 : answer(op, value);

    (void)note;
    if (err)
        return err;
    if (strcmp(does, "more") == 0)
        op->bytes = 4096;
    if (strcmp(does, "less") == 0)
        op->bytes = 7;
    return 0;
}

static const char *const liar_attributes[] = {"type", "does", NULL};

static const paths_wrapper_type liar_type = {
    .name = "liar",
    .attributes = liar_attributes,
    .down = liar_down,
    .source = true,
};

static const char *const lying =
    "digraph g { subgraph cluster_h0 {\n"
    "nothing [kind=liar, type=u64, does=nothing];\n"
    "more [kind=liar, type=\"bytes[4096]\", does=more];\n"
    "less [kind=liar, type=u64, does=less]; t0 [kind=thread, number=0]; }\n"
    "subgraph cluster_h1 { p [kind=proxy]; q [kind=proxy]; r [kind=proxy];\n"
    "t1 [kind=thread, number=1]; }\n"
    "t0 -> nothing [use=read]; t0 -> more [use=read]; t0 -> less [use=read];\n"
    "t1 -> p [as=nothing, use=read]; t1 -> q [as=more, use=read];\n"
    "t1 -> r [as=less, use=read]; p -> nothing; q -> more; r -> less; }\n";

static int read_lies(paths_thread *self, void *argument)
{
    static const char *const names[] = {"nothing", "more", "less"};
    char tuple[8192];
    paths_path *path;

    (void)argument;
    for (int i = 0; i < 3; i++) {
        expect_status(paths_open(&path, self, names[i]), 0);
        expect_status(call(path, PASTSET_READ_LAST, tuple, sizeof(tuple),
                           PASTSET_FOREVER),
                      PASTSET_ETYPE);
        expect_error(i ? "bytes does not fit"
                       : "source \"nothing\" (liar) completed a read_last "
                         "without an answer");
    }
    return 0;
}

Test(source, is_told_when_what_it_completes_has_no_answer_of_its_type)
{
    process_program programs[] = {{"*", read_lies, NULL}, {NULL, NULL, NULL}};

    check_status(paths_wrapper_register(&liar_type), 0);
    run_well(lying, programs);
}

/* --- below as many stages as there may be --- */

static int seen_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    (void)stage;
    (void)op;
    (void)note;
    return PATHS_PASS;
}

static const paths_wrapper_type step_type = {.name = "step", .up = seen_up};

static const paths_wrapper_type bottom_type = {
    .name = "bottom",
    .attributes = type_only,
    .up = seen_up,
    .source = true,
};

static int write_to_the_bottom(paths_thread *self, void *argument)
{
    uint64_t value = 1;
    paths_path *bottom;

    (void)argument;
    expect_status(paths_open(&bottom, self, "bottom"), 0);
    expect_status(paths_write(bottom, &value, sizeof(value)), PASTSET_EINVAL);
    expect_error("source \"bottom\" (bottom) does not support write");
    return 0;
}

Test(source, refuses_below_as_many_stages_as_a_path_may_have)
{
    process_program programs[] = {{"*", write_to_the_bottom, NULL},
                                  {NULL, NULL, NULL}};
    char map[4096];
    int used = snprintf(
        map, sizeof(map),
        "digraph g { subgraph cluster_h0 { bottom [kind=bottom, type=u64];\n"
        "t0 [kind=thread, number=0];");

    check_status(paths_wrapper_register(&step_type), 0);
    check_status(paths_wrapper_register(&bottom_type), 0);
    for (int i = 1; i < PATHS_STAGES_MAX; i++)
        used += snprintf(map + used, sizeof(map) - (size_t)used,
                         " s%d [kind=step];", i);
    used += snprintf(map + used, sizeof(map) - (size_t)used,
                     "}\nsubgraph cluster_h1 { p [kind=proxy]; t1 "
                     "[kind=thread, number=1]; }\nt0 -> s1; t1 -> p; p -> s1;");
    for (int i = 1; i < PATHS_STAGES_MAX - 1; i++)
        used += snprintf(map + used, sizeof(map) - (size_t)used, " s%d -> s%d;",
                         i, i + 1);
    snprintf(map + used, sizeof(map) - (size_t)used, " s%d -> bottom; }\n",
             PATHS_STAGES_MAX - 1);
    run_well(map, programs);
}

/* --- a thread of its own --- */

typedef struct alarm_clock {
    pthread_t thread;
    paths_stage *stage;
    _Atomic bool stops;
} alarm_clock;

/* Fails when the run is over. */
static void *alarm_run(void *argument)
{
    alarm_clock *a = argument;

    while (!atomic_load(&a->stops))
        usleep(1000);
    pastset_fail(PASTSET_EAPP, "it rings too late");
    paths_process_fail(paths_stage_process(a->stage), PASTSET_EAPP);
    return NULL;
}

static int alarm_init(paths_stage *stage)
{
    alarm_clock *a = paths_stage_state(stage);

    a->stage = stage;
    return pthread_create(&a->thread, NULL, alarm_run, a) ? PASTSET_ELIMIT : 0;
}

static void alarm_fini(paths_stage *stage)
{
    alarm_clock *a = paths_stage_state(stage);

    atomic_store(&a->stops, true);
    pthread_join(a->thread, NULL);
}

static const paths_wrapper_type alarm_type = {
    .name = "alarm",
    .state_bytes = sizeof(alarm_clock),
    .attributes = type_only,
    .init = alarm_init,
    .fini = alarm_fini,
    .source = true,
};

Test(source, may_fail_when_the_run_is_over)
{
    static const char *const map =
        "digraph g { subgraph cluster_h0 { a [kind=alarm, type=u64];\n"
        "t0 [kind=thread, number=0]; t0 -> a; } }\n";
    process_program programs[] = {{"*", idle, NULL}, {NULL, NULL, NULL}};

    check_status(paths_wrapper_register(&alarm_type), 0);
    run_well(map, programs);
}

/* --- through collectors --- */

#define READS 20

/* A collector on each side of the proxy; `end` is for h0 to wait for h1. */
static const char *const collected =
    "digraph g { subgraph cluster_h0 {\n"
    "water [kind=well, type=u64]; c1 [kind=collector, id=1];\n"
    "t0 [kind=thread, number=0]; end [kind=element, type=u64]; }\n"
    "subgraph cluster_h1 { p [kind=proxy]; q [kind=proxy];\n"
    "c0 [kind=collector, id=0]; t1 [kind=thread, number=1]; }\n"
    "t1 -> c0 [as=water, use=read]; c0 -> p; p -> c1; c1 -> water;\n"
    "t1 -> q [as=end]; q -> end; t0 -> end; }\n";

/* The tuples of a collector on this process. */
static int check_collected(const char *name)
{
    pastset_element *trace =
        pastset_space_find(paths_process_space(processes_here), name);
    eventspace_trace event;
    size_t bytes = sizeof(event);

    expect(trace);
    for (uint64_t i = 0; i < READS; i++) {
        expect_status(pastset_read(trace, i, &event, &bytes, PASTSET_NOWAIT),
                      0);
        expect(event.operation == PASTSET_READ_LAST && event.status == 0);
        expect(event.bytes == sizeof(uint64_t) && event.thread == 1);
        expect(event.sequence == i + 1);
    }
    return 0;
}

static int read_collected(paths_thread *self, void *argument)
{
    paths_path *water, *end;
    uint64_t value;

    (void)argument;
    expect_status(paths_open(&water, self, "water"), 0);
    expect_status(paths_open(&end, self, "end"), 0);
    for (uint64_t i = 0; i < READS; i++) {
        expect_status(paths_read_last(water, &value, sizeof(value)), 0);
        expect(value == i);
    }
    expect_status(check_collected("c0"), 0);
    return paths_write(end, &value, sizeof(value));
}

static int look_at_collected(paths_thread *self, void *argument)
{
    uint64_t value;
    paths_path *end;

    (void)argument;
    expect_status(paths_open(&end, self, "end"), 0);
    expect_status(paths_observe(end, &value, sizeof(value)), 0);
    return check_collected("c1");
}

Test(source, is_read_through_collectors)
{
    process_program programs[] = {{"t0", look_at_collected, NULL},
                                  {"t1", read_collected, NULL},
                                  {NULL, NULL, NULL}};

    run_well(collected, programs);
}

/* --- held --- */

static int observe_three(paths_thread *self, void *argument)
{
    paths_path *hands;
    uint64_t value;

    (void)argument;
    expect_status(paths_open(&hands, self, "hands"), 0);
    expect(call(hands, PASTSET_OBSERVE, &value, sizeof(value),
                PASTSET_NOWAIT) == PASTSET_EAGAIN);
    expect_status(paths_observe(hands, &value, sizeof(value)), 0);
    expect(value == 7);
    expect(call(hands, PASTSET_OBSERVE, &value, sizeof(value), LONG_MS) == 8);
    expect(value == 8);
    expect_status(paths_observe(hands, &value, sizeof(value)), PASTSET_EAPP);
    expect_error("it was handed a failure");
    return 0;
}

static int write_three(paths_thread *self, void *argument)
{
    static const uint64_t values[] = {7, 8, HANDOVER_FAILS};
    paths_path *hands;

    (void)argument;
    expect_status(paths_open(&hands, self, "hands"), 0);
    for (unsigned i = 0; i < 3; i++) {
        wait_until(&at->counts.held, i + 1);
        expect_status(paths_write(hands, &values[i], sizeof(values[i])), 0);
    }
    return 0;
}

static void check_held(const char *reader, const char *writer)
{
    process_program programs[] = {{reader, observe_three, NULL},
                                  {writer, write_three, NULL},
                                  {NULL, NULL, NULL}};

    atomic_store(&at->counts.held, 0);
    run_well(two_processes, programs);
    cr_expect_eq(at->counts.held, 3);
    cr_expect_eq(at->counts.dropped, 0);
}

Test(source, holds_a_read_until_it_has_an_answer)
{
    check_held("t0", "t1");
    check_held("t1", "t0");
}

typedef struct started {
    paths_arguments arguments;
    uint64_t value;
    int status;
    bool done;
} started;

static void done(paths_arguments *arguments, int status, void *context)
{
    started *s = context;

    (void)arguments;
    s->status = status;
    s->done = true;
}

#define STARTED 8

static int observe_many(paths_thread *self, void *argument)
{
    started all[STARTED] = {0};
    paths_path *hands;
    int ended = 0;

    (void)argument;
    expect_status(paths_open(&hands, self, "hands"), 0);
    for (int i = 0; i < STARTED; i++) {
        started *s = &all[i];
        s->arguments = (paths_arguments){.verb = PASTSET_OBSERVE,
                                         .tuple = &s->value,
                                         .bytes = sizeof(s->value),
                                         .timeout_ms = PASTSET_FOREVER};
        expect_status(paths_start(hands, &s->arguments, done, s), 0);
    }
    while (ended < STARTED)
        ended += paths_poll(self, PASTSET_FOREVER);
    for (uint64_t i = 0; i < STARTED; i++)
        expect(all[i].done && all[i].status == 0 && all[i].value == i + 1);
    return 0;
}

static int write_many(paths_thread *self, void *argument)
{
    paths_path *hands;

    (void)argument;
    expect_status(paths_open(&hands, self, "hands"), 0);
    wait_until(&at->counts.held, STARTED);
    for (uint64_t i = 1; i <= STARTED; i++)
        expect_status(paths_write(hands, &i, sizeof(i)), 0);
    return 0;
}

static void check_many(const char *reader, const char *writer)
{
    process_program programs[] = {{reader, observe_many, NULL},
                                  {writer, write_many, NULL},
                                  {NULL, NULL, NULL}};

    atomic_store(&at->counts.held, 0);
    run_well(two_processes, programs);
}

Test(source, holds_many_reads_of_one_thread)
{
    check_many("t0", "t1");
    check_many("t1", "t0");
}

/* --- dropped --- */

static int observe_in_vain(paths_thread *self, void *argument)
{
    paths_path *hands;
    uint64_t value = 1;

    (void)argument;
    expect_status(paths_open(&hands, self, "hands"), 0);
    expect_status(call(hands, PASTSET_OBSERVE, &value, sizeof(value), SHORT_MS),
                  PASTSET_ETIMEDOUT);
    expect(at->counts.dropped == 1);
    expect(call(hands, PASTSET_WRITE, &value, sizeof(value), PASTSET_NOWAIT) ==
           PASTSET_EAGAIN); /* nobody waits */
    return 0;
}

Test(source, drops_a_read_whose_deadline_has_passed)
{
    process_program here[] = {
        {"t0", observe_in_vain, NULL}, {"t1", idle, NULL}, {NULL, NULL, NULL}};
    process_program there[] = {
        {"t0", idle, NULL}, {"t1", observe_in_vain, NULL}, {NULL, NULL, NULL}};

    run_well(two_processes, here);
    atomic_store(&at->counts.dropped, 0);
    run_well(two_processes, there);
}

static int observe_for_ever(paths_thread *self, void *argument)
{
    paths_path *hands;
    uint64_t value;

    (void)argument;
    expect_status(paths_open(&hands, self, "hands"), 0);
    return paths_observe(hands, &value, sizeof(value));
}

static int fail_when_held(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    wait_until(&at->counts.held, 1);
    return pastset_fail(PASTSET_EAPP, "enough of it");
}

Test(source, drops_what_it_holds_when_the_run_fails)
{
    process_program programs[] = {{"t0", fail_when_held, NULL},
                                  {"t1", observe_for_ever, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {
        .map_text = two_processes, .programs = programs, .contexts = contexts};

    processes_start(&h);
    processes_wait(&h, 60);
    cr_expect_eq(h.results[0].status, PASTSET_EAPP);
    check_says(h.results[0].text, "enough of it");
    check_says(h.results[1].text, "enough of it");
    cr_expect_eq(at->counts.dropped, 1);
    processes_free(&h);
}

/* --- processes that die --- */

static void kill_process(processes *h, uint32_t process)
{
    siginfo_t ended;

    kill(h->pids[process], SIGKILL);
    waitid(P_PID, (id_t)h->pids[process], &ended, WEXITED | WNOWAIT);
    atomic_store(&at->died, 1);
}

/* The coordinator is h0; the source is on h1, and read from h2 and h0. */
static const char *const three_processes =
    "digraph g { subgraph cluster_h0 { t0 [kind=thread, number=0];\n"
    "p [kind=proxy]; }\n"
    "subgraph cluster_h1 { hands [kind=handover, type=u64];\n"
    "stay [kind=thread, number=2]; }\n"
    "subgraph cluster_h2 { t1 [kind=thread, number=1]; q [kind=proxy]; }\n"
    "t0 -> p [as=hands, use=read]; p -> hands;\n"
    "t1 -> q [as=hands, use=read]; q -> hands; stay -> hands; }\n";

/* So that the coordinator waits for its process. */
static int stay(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    atomic_store(&at->joined, 1);
    wait_until(&at->died, 1);
    return 0;
}

static int see_it_dropped(paths_thread *self, void *argument)
{
    paths_path *hands;
    uint64_t value;

    (void)argument;
    expect_status(paths_open(&hands, self, "hands"), 0);
    wait_until(&at->counts.held, 1);
    atomic_store(&at->ready, 1);
    wait_until(&at->counts.dropped, 1);
    expect(call(hands, PASTSET_OBSERVE, &value, sizeof(value),
                PASTSET_NOWAIT) == PASTSET_EAGAIN); /* it still answers */
    wait_until(&at->died, 1);
    return 0;
}

Test(source, drops_the_reads_of_a_process_that_was_killed)
{
    process_program programs[] = {{"stay", stay, NULL},
                                  {"t0", see_it_dropped, NULL},
                                  {"t1", observe_for_ever, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = three_processes,
                   .programs = programs,
                   .contexts = contexts};

    processes_start(&h);
    wait_until(&at->ready, 1);
    kill_process(&h, 2);
    processes_wait(&h, 60);
    cr_expect_eq(h.exit_codes[1], 0, "%s", h.results[1].text);
    cr_expect_eq(h.results[0].status, PASTSET_EHOST); /* only that it died */
    check_says(h.results[0].text, "the other processes completed");
    cr_expect_eq(at->counts.dropped, 1);
    processes_free(&h);
}

static int lose_it(paths_thread *self, void *argument)
{
    paths_path *hands;
    uint64_t value;

    (void)argument;
    expect_status(paths_open(&hands, self, "hands"), 0);
    expect_status(paths_observe(hands, &value, sizeof(value)), PASTSET_EHOST);
    expect_error("process h1 died");
    expect_status(paths_read_last(hands, &value, sizeof(value)), PASTSET_EHOST);
    return 0;
}

Test(source, is_lost_with_its_process_and_its_readers_are_told)
{
    process_program programs[] = {
        {"*", lose_it, NULL}, {"stay", stay, NULL}, {NULL, NULL, NULL}};
    processes h = {.map_text = three_processes,
                   .programs = programs,
                   .contexts = contexts};

    processes_start(&h);
    /* It serves reads before the coordinator has let it in, and nobody stands
     * in for it. */
    wait_until(&at->joined, 1);
    wait_until(&at->counts.held, 2);
    kill_process(&h, 1);
    processes_wait(&h, 60);
    cr_expect_eq(h.exit_codes[2], 0, "%s", h.results[2].text);
    check_says(h.results[0].text, "the other processes completed");
    processes_free(&h);
}

/* --- what the stages of a type share --- */

/* Two wells on h0, one on h1. */
static const char *const three_wells =
    "digraph g { subgraph cluster_h0 { a [kind=well, type=u64];\n"
    "b [kind=well, type=u64]; t0 [kind=thread, number=0];\n"
    "p [kind=proxy]; }\n"
    "subgraph cluster_h1 { c [kind=well, type=u64]; }\n"
    "t0 -> a [use=read]; t0 -> b [use=read]; t0 -> p [as=c, use=read];\n"
    "p -> c; }\n";

static int draw_from_three(paths_thread *self, void *argument)
{
    static const uint64_t want[][3] = {{0, 1, 0}, {2, 3, 1}};
    static const char *const names[] = {"a", "b", "c"};

    (void)argument;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            paths_path *path;
            uint64_t value;
            expect_status(paths_open(&path, self, names[i]), 0);
            expect_status(paths_read_last(path, &value, sizeof(value)), 0);
            expect(value == want[round][i]);
        }
    }
    return 0;
}

Test(source, shares_state_with_those_of_its_type_on_its_process_alone)
{
    process_program programs[] = {{"t0", draw_from_three, NULL},
                                  {NULL, NULL, NULL}};

    run_well(three_wells, programs);
    cr_expect_eq(at->seen.wells, 0);
    cr_expect_geq(at->seen.processes_ended,
                  1); /* the last to end, after all wells */
}

static paths_map *map_of(const char *text)
{
    paths_map *map;

    check_status(paths_map_parse(&map, text, strlen(text), "test.dot"), 0);
    return map;
}

#define ONE_PROCESS(nodes, edges)                                              \
    "digraph g { wrappers=\"spring\"; subgraph cluster_h0 {\n"                 \
    "t0 [kind=thread, number=0];\n" nodes " }\n" edges " }\n"

Test(source, does_not_start_when_its_type_cannot_begin_on_the_process)
{
    paths_map *map =
        map_of(ONE_PROCESS("a [kind=well, type=u64];", "t0 -> a [use=read];"));
    paths_process_options options = {
        .map = map, .process = "h0", .listen_fd = -1};
    paths_process *process;

    check_status(paths_process_start(&process, &options), PASTSET_EINVAL);
    check_error("process h0: wrapper type \"well\": process h0 has a dry well");
    cr_expect_eq(at->seen.wells, 0);
    cr_expect_eq(at->seen.processes_ended, 0);
    options.contexts = contexts;
    check_status(paths_process_start(&process, &options), 0);
    cr_expect_eq(at->seen.wells, 1);
    paths_process_stop(process);
    cr_expect_eq(at->seen.wells, 0);
    cr_expect_eq(at->seen.processes_ended, 1);
    paths_map_destroy(map);
}

Test(source, must_have_the_attribute_type)
{
    static const paths_wrapper_type none = {.name = "none", .source = true};

    check_status(paths_wrapper_register(&none), PASTSET_EINVAL);
    check_error("by the attribute `type`");
    cr_expect_null(paths_wrapper_find("none"));
}

Test(source, cannot_have_all_names_for_its_elements)
{
    static const paths_wrapper_type all = {.name = "all", .element_prefix = ""};

    check_status(paths_wrapper_register(&all), PASTSET_EINVAL);
    check_error("an empty element_prefix");
    cr_expect_null(paths_wrapper_find("all"));
}

/* --- in a map --- */

static void check_good(const char *text)
{
    paths_map *map = map_of(text);
    paths_diagnostics diagnostics;

    check_status(paths_map_check(map, &diagnostics), 0);
    cr_expect_eq(diagnostics.count, 0);
    paths_map_destroy(map);
}

/* These are all that is said, in their order. */
static void check_bad(const char *text, const char *const *wanted)
{
    paths_map *map = map_of(text);
    paths_diagnostics found;
    size_t count = 0;

    check_status(paths_map_check(map, &found), PASTSET_EMAP);
    for (; wanted[count]; count++) {
        cr_assert_lt(count, found.count, "nobody says %s", wanted[count]);
        check_says(found.items[count].text, wanted[count]);
    }
    cr_expect_eq(found.count, count, "also: %s", found.items[count].text);
    paths_diagnostics_clear(&found);
    paths_map_destroy(map);
}

Test(source, ends_a_path_in_a_good_map)
{
    check_good(two_processes);
    check_good(three_wells);
    check_good(collected);
    check_good(ONE_PROCESS("a [kind=well, type=u64];",
                           "t0 -> a [use=read, type=u64];"));
}

/* One that only the program knows tells by its type that it is a source. */
Test(source, of_a_type_that_is_not_known_here_ends_a_path_too)
{
    check_good(ONE_PROCESS("a [kind=spring, type=u64, depth=9];",
                           "t0 -> a [use=read];"));
    check_bad(ONE_PROCESS("a [kind=spring];", "t0 -> a [use=read];"),
              (const char *const[]){
                  "no edge leaves it: add one to where its path continues",
                  "does not lead to an element: it ends at a", NULL});
    check_bad(ONE_PROCESS("a [kind=spring, type=word];", "t0 -> a [use=read];"),
              (const char *const[]){"word", NULL});
}

Test(source, is_the_only_wrapper_in_which_a_path_may_end)
{
    check_bad(ONE_PROCESS("a [kind=delay, latency=\"1ms\"];", "t0 -> a;"),
              (const char *const[]){
                  "no edge leaves it: add one to where its path continues",
                  "does not lead to an element: it ends at a", NULL});
    check_bad(
        ONE_PROCESS("a [kind=delay, latency=\"1ms\", type=u64];", "t0 -> a;"),
        (const char *const[]){
            "has an unknown attribute, type",
            "no edge leaves it: add one to where its path continues",
            "does not lead to an element: it ends at a", NULL});
}

Test(source, is_checked_in_a_map)
{
    check_bad(
        ONE_PROCESS("a [kind=well];", "t0 -> a;"),
        (const char *const[]){"has no type: say what its tuples are", NULL});
    check_bad(ONE_PROCESS("a [kind=well, type=u65];", "t0 -> a;"),
              (const char *const[]){"u65", NULL});
    check_bad(
        ONE_PROCESS("a [kind=well, type=u64]; e [kind=element, type=u64];",
                    "t0 -> a; a -> e;"),
        (const char *const[]){
            "an edge leaves it: a well is a source, where paths end", NULL});
    check_bad(ONE_PROCESS("a [kind=well, type=u64];", "t0 -> a [type=i32];"),
              (const char *const[]){
                  "expects tuples of type \"i32\", but those of a are \"u64\"",
                  NULL});
    check_bad(ONE_PROCESS("a [kind=well, type=u64]; s [kind=sum];",
                          "t0 -> s; s -> a;"),
              (const char *const[]){"leads to \"a\", a source: its rounds need "
                                    "an element",
                                    NULL});
}
