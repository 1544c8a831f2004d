/* import_messages_test.c - the messages of imported traces, end by end: by SQL,
 * and through exports. A message's length tells which one it is. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/viewer/otf2_make.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define US INT64_C(1000)

static void begin(void)
{
    scratch_make();
}

TestSuite(messages, .timeout = 300, .init = begin, .fini = scratch_remove);

static json_t *parse(char *text)
{
    json_error_t error;
    /* What is damaged is said behind it. */
    json_t *json = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);

    cr_assert_not_null(json, "%s: %s", error.text, text);
    free(text);
    return json;
}

static void import(const char *trace, const char *run)
{
    free(command_run(0, 60, EVENTSPACE, "import", scratch_file("%s", trace),
                     "--output", scratch_file("%s", run), NULL));
}

/* The rows of a statement. */
static json_t *ask(const char *run, const char *statement)
{
    return parse(command_run(0, 60, EVENTSPACE, "sql", scratch_file("%s", run),
                             statement, "--format=json", NULL));
}

static json_int_t number(const json_t *row, const char *key)
{
    json_t *value = json_object_get(row, key);

    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));

    return value ? value : "";
}

/* --- a program that sends at random --- */

#define RANKS 4
#define TAGS 3
#define MESSAGES 1200

typedef struct sent {
    uint32_t from, to, tag;
    int64_t at_us;
} sent;

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void shuffle(uint32_t *list, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = chance(i), other = list[i - 1];
        list[i - 1] = list[k];
        list[k] = other;
    }
}

/* Orders those from one sender with one tag as they were sent, wherever in the
 * list these stand: so MPI gives them to receives. */
static void keep_order(uint32_t *list, uint32_t count, const sent *all)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++) {
            const sent *a = &all[list[i]], *b = &all[list[k]];
            if (a->from == b->from && a->tag == b->tag && list[k] < list[i]) {
                uint32_t other = list[i];
                list[i] = list[k];
                list[k] = other;
            }
        }
}

/* Begins all receives first, in an order that MPI would have, and ends them in
 * any other. */
static void receive_all(otf2_make *m, uint32_t rank, const sent *all)
{
    uint32_t list[MESSAGES], count = 0;

    for (uint32_t i = 0; i < MESSAGES; i++)
        if (all[i].to == rank)
            list[count++] = i;
    shuffle(list, count);
    keep_order(list, count, all);
    for (uint32_t i = 0; i < count; i++) {
        otf2_enter(m, rank, (10 + i) * US, "MPI_Irecv");
        otf2_request(m, rank, (10 + i) * US, list[i]);
        otf2_leave(m, rank, (10 + i) * US, "MPI_Irecv");
    }
    for (uint32_t i = 0; i < MESSAGES; i++)
        if (all[i].from == rank) {
            otf2_make_bytes(m, i);
            otf2_call_send(m, rank, all[i].at_us * US, (all[i].at_us + 1) * US,
                           all[i].to, all[i].tag);
        }
    shuffle(list, count);
    for (uint32_t i = 0; i < count; i++) {
        otf2_make_bytes(m, list[i]);
        otf2_call_wait(m, rank, (20000 + 2 * i) * US, (20001 + 2 * i) * US,
                       all[list[i]].from, all[list[i]].tag, list[i]);
    }
}

static void random_make(sent *all)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), RANKS, NULL);

    for (uint32_t i = 0; i < MESSAGES; i++) {
        all[i] = (sent){.from = chance(RANKS),
                        .tag = chance(TAGS),
                        .at_us = 5000 + 2 * (int64_t)i};
        all[i].to = (all[i].from + 1 + chance(RANKS - 1)) % RANKS;
    }
    for (uint32_t rank = 0; rank < RANKS; rank++)
        receive_all(m, rank, all);
    otf2_make_end(m);
}

/* Each is there once, as it was sent and received. `offset_ns` is between the
 * times of the run and those of the trace. */
static void check_all(const char *run, const sent *all)
{
    json_t *rows = ask(run, "select * from message order by bytes"), *row;
    size_t i;

    cr_assert_eq(json_array_size(rows), MESSAGES);
    json_array_foreach(rows, i, row)
    {
        cr_assert_eq(number(row, "bytes"), (json_int_t)i);
        cr_assert_eq(number(row, "bytes_received"), (json_int_t)i,
                     "message %zu is taken for another", i);
        cr_assert_eq(number(row, "from_thread"), all[i].from);
        cr_assert_eq(number(row, "to_thread"), all[i].to);
        cr_assert_eq(number(row, "tag"), all[i].tag);
        cr_assert_str_eq(text(row, "communicator"), "MPI_COMM_WORLD");
        cr_assert_str_eq(text(row, "status"), "");
    }
    json_decref(rows);
}

Test(messages, of_receives_that_end_in_any_order_are_matched)
{
    static sent all[MESSAGES];
    json_t *rows;

    seed = 7;
    random_make(all);
    import("trace/trace.otf2", "run");
    check_all("run", all);
    rows = ask("run", "select distinct send_call, receive_call from message");
    cr_expect_eq(json_array_size(rows), 1);
    cr_expect_str_eq(text(json_array_get(rows, 0), "send_call"), "MPI_Send");
    cr_expect_str_eq(text(json_array_get(rows, 0), "receive_call"), "MPI_Wait");
    json_decref(rows);
    /* Both ends name the operations that they were. */
    rows =
        ask("run", "select count(*) as n from message m "
                   "join event s on s.thread = m.send_thread and "
                   "s.sequence = m.send_sequence and s.verb = 'write' and "
                   "s.start_ns <= m.send_ns and m.send_ns <= s.end_ns "
                   "join event r on r.thread = m.receive_thread and "
                   "r.sequence = m.receive_sequence and r.verb = 'observe' and "
                   "r.start_ns <= m.receive_ns and m.receive_ns <= r.end_ns "
                   "where s.bytes = m.bytes and r.bytes = m.bytes");
    cr_expect_eq(number(json_array_get(rows, 0), "n"), MESSAGES);
    json_decref(rows);
}

/* --- through exports --- */

Test(messages, come_back_from_an_export)
{
    static sent all[MESSAGES];

    seed = 8;
    random_make(all);
    import("trace/trace.otf2", "run");
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--format=otf2", "--output", scratch_file("again"), NULL));
    import("again/traces.otf2", "second");
    check_all("second", all);
}

/* The window has the second send and the first receive: of two messages, and
 * nothing says so in OTF2 but that both are left out. Later
 * there are two that are whole. */
Test(messages, of_which_a_window_has_one_end_are_not_taken_for_others)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *rows;

    for (uint32_t i = 0; i < 2; i++) {
        otf2_make_bytes(m, 1 + i);
        otf2_call_send(m, 0, (1000 + 4000 * i) * US, (1100 + 4000 * i) * US, 1,
                       3);
        otf2_call_receive(m, 1, (10000 + 1000 * i) * US,
                          (10100 + 1000 * i) * US, 0, 3);
    }
    otf2_make_bytes(m, 3);
    otf2_call_send(m, 0, 5200 * US, 5300 * US, 1, 4);
    otf2_call_receive(m, 1, 11200 * US, 11300 * US, 0, 4);
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--from=3ms", "--to=9.5ms", "--format=otf2", "--output",
                     scratch_file("again"), NULL));
    import("again/traces.otf2", "second");
    cr_expect_eq(json_array_size(rows = ask("second", "select * from message")),
                 0);
    json_decref(rows);
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--from=3ms", "--format=otf2", "--output",
                     scratch_file("later"), NULL));
    import("later/traces.otf2", "third");
    rows = ask("third", "select * from message order by bytes");
    cr_assert_eq(json_array_size(rows), 2);
    for (int i = 0; i < 2; i++) {
        const json_t *row = json_array_get(rows, (size_t)i);
        cr_expect_eq(number(row, "bytes"), 2 + i);
        cr_expect_eq(number(row, "bytes_received"), 2 + i);
    }
    json_decref(rows);
}

/* Of some windows: each message of which both ends are in it, and no other. */
Test(messages, of_a_window_come_back_whatever_the_order_of_receives)
{
    static const char *const windows[][2] = {
        {"0", "20.7"}, {"5.5", "20.4"}, {"6", "21"}, {"5.1", "20.1"}};
    static sent all[MESSAGES];
    static const char in_window[] =
        "select m.bytes from message m "
        "join event s on s.thread = m.send_thread and "
        "s.sequence = m.send_sequence and s.verb = 'write' "
        "join event r on r.thread = m.receive_thread and "
        "r.sequence = m.receive_sequence and r.verb = 'observe' "
        "where min(s.end_ns, r.end_ns) >= %s * 1000000 and "
        "max(s.start_ns, r.start_ns) <= %s * 1000000 order by 1";

    seed = 11;
    random_make(all);
    import("trace/trace.otf2", "run");
    for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
        char from[32], to[32], statement[1000], *trace;
        json_t *rows, *wanted, *row;
        size_t i;
        snprintf(from, sizeof(from), "--from=%sms", windows[w][0]);
        snprintf(to, sizeof(to), "--to=%sms", windows[w][1]);
        snprintf(statement, sizeof(statement), in_window, windows[w][0],
                 windows[w][1]);
        free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"), from,
                         to, "--format=otf2", "--output",
                         scratch_file("again%zu", w), NULL));
        trace = strdup(scratch_file("again%zu/traces.otf2", w));
        free(command_run(0, 60, EVENTSPACE, "import", trace, "--replace",
                         "--output", scratch_file("second"), NULL));
        free(trace);
        rows = ask("second", "select * from message order by bytes");
        wanted = ask("run", statement);
        cr_expect_gt(json_array_size(wanted), 50);
        cr_assert_eq(json_array_size(rows), json_array_size(wanted));
        json_array_foreach(rows, i, row)
        {
            cr_assert_eq(number(row, "bytes"),
                         number(json_array_get(wanted, i), "bytes"));
            cr_assert_eq(number(row, "bytes_received"), number(row, "bytes"));
            cr_assert_str_eq(text(row, "status"), "");
        }
        json_decref(rows);
        json_decref(wanted);
    }
}

Test(messages, between_some_threads_come_back)
{
    static sent all[MESSAGES];
    json_t *rows, *row;
    size_t i, between = 0;

    seed = 12;
    random_make(all);
    for (i = 0; i < MESSAGES; i++)
        between += (all[i].from == 1 && all[i].to == 2) ||
                   (all[i].from == 2 && all[i].to == 1);
    import("trace/trace.otf2", "run");
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--thread=1,2", "--format=otf2", "--output",
                     scratch_file("again"), NULL));
    import("again/traces.otf2", "second");
    rows = ask("second", "select * from message");
    cr_expect_eq(json_array_size(rows), between);
    json_array_foreach(rows, i, row)
    {
        cr_assert_str_eq(text(row, "status"), "");
        cr_assert_eq(number(row, "bytes"), number(row, "bytes_received"));
    }
    json_decref(rows);
}

/* Two threads of rank 0 send with tag 3, and its helper alone with tag 4, while
 * its main thread receives. */
Test(messages, of_helpers_come_back_as_theirs)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    const char *const runs[] = {"run", "second"};
    uint32_t helper = otf2_make_helper(m, 0);

    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_call_receive(m, 0, 20 * US, 90 * US, 1, 5);
    otf2_call_send(m, helper, 30 * US, 31 * US, 1, 3);
    otf2_make_bytes(m, 44);
    otf2_call_send(m, helper, 40 * US, 41 * US, 1, 4);
    otf2_call_receive(m, 1, 45 * US, 46 * US, 0, 4);
    otf2_make_bytes(m, 8);
    otf2_call_receive(m, 1, 50 * US, 52 * US, 0, 3);
    otf2_call_receive(m, 1, 53 * US, 54 * US, 0, 3);
    otf2_call_send(m, 1, 80 * US, 81 * US, 0, 5);
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--format=otf2", "--output", scratch_file("again"), NULL));
    import("again/traces.otf2", "second");
    for (int i = 0; i < 2; i++) {
        json_t *rows = ask(runs[i], "select send_call, bytes, bytes_received, "
                                    "t.name as sender from message m "
                                    "join thread t on t.number = m.send_thread "
                                    "where tag = 4");
        const json_t *row = json_array_get(rows, 0);
        cr_assert_eq(json_array_size(rows), 1);
        cr_expect_str_eq(text(row, "send_call"),
                         i == 0 ? "MPI_Send" : "write send to rank_1 tag 4");
        cr_expect_eq(number(row, "bytes_received"), 44);
        cr_expect(strstr(text(row, "sender"), "helper"), "%s",
                  text(row, "sender"));
        json_decref(rows);
        rows = ask(runs[i], "select * from message where tag = 3 and "
                            "status = 'ambiguous'");
        cr_expect_eq(json_array_size(rows), 4, "%s: %zu", runs[i],
                     json_array_size(rows));
        json_decref(rows);
    }
}

/* Of three messages the second receive is damaged: the third is not taken for
 * it. */
Test(messages, behind_one_that_is_damaged_do_not_come_back_as_another)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    uint64_t wanted = 0x1122334455667701;
    char *bytes;
    size_t length, found = 0, i;
    json_t *rows, *row;
    FILE *file;

    for (uint32_t k = 0; k < 3; k++) {
        otf2_make_bytes(m, wanted + k - 1);
        otf2_call_send(m, 0, (10 + 10 * k) * US, (11 + 10 * k) * US, 1, 3);
        otf2_call_receive(m, 1, (12 + 10 * k) * US, (14 + 10 * k) * US, 0, 3);
    }
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    bytes = file_read(scratch_file("run/rank_1.space"), &length);
    for (i = 0; i + 12 < length; i++)
        if (memcmp(bytes + i, &wanted, sizeof(wanted)) == 0) {
            memset(bytes + i + 8, 0x7f, 4); /* the channel */
            found++;
        }
    cr_assert_eq(found, 1);
    file = fopen(scratch_file("run/rank_1.space"), "wb");
    cr_assert_eq(fwrite(bytes, 1, length, file), length);
    fclose(file);
    free(bytes);
    rows = ask("run", "select * from message where status = ''");
    cr_expect_eq(json_array_size(rows), 2);
    json_decref(rows);
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--format=otf2", "--output", scratch_file("again"), NULL));
    import("again/traces.otf2", "second");
    rows = ask("second", "select * from message where status = ''");
    json_array_foreach(rows, i, row)
        cr_expect_eq(number(row, "bytes"), number(row, "bytes_received"));
    json_decref(rows);
}

/* The slice of a track in which a moment lies; NULL. */
static const json_t *slice_at(const json_t *events, const json_t *end)
{
    double ts = json_number_value(json_object_get(end, "ts"));
    json_t *event;
    size_t i;

    json_array_foreach(events, i, event)
    {
        double start = json_number_value(json_object_get(event, "ts"));
        double length = json_number_value(json_object_get(event, "dur"));
        if (strcmp(text(event, "ph"), "X") == 0 &&
            number(event, "tid") == number(end, "tid") && start <= ts &&
            ts <= start + length)
            return event;
    }
    return NULL;
}

Test(messages, are_flows_of_chrome_from_the_sender_to_the_receiver)
{
    static sent all[MESSAGES];
    const json_t *starts[MESSAGES + 1] = {NULL};
    json_t *trace, *events, *event;
    size_t i, flows = 0;

    seed = 9;
    random_make(all);
    import("trace/trace.otf2", "run");
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--format=chrome", "--output", scratch_file("run.json"),
                     NULL));
    trace = json_load_file(scratch_file("run.json"), 0, NULL);
    cr_assert_not_null(trace);
    events = json_object_get(trace, "traceEvents");
    json_array_foreach(events, i, event)
    {
        const json_t *from, *to;
        json_int_t id = number(event, "id");
        if (strcmp(text(event, "cat"), "message") != 0)
            continue;
        cr_assert(id >= 1 && id <= MESSAGES);
        if (strcmp(text(event, "ph"), "s") == 0) {
            starts[id] = event;
            continue;
        }
        cr_assert_not_null(starts[id]);
        from = slice_at(events, starts[id]);
        to = slice_at(events, event);
        cr_assert(from && to);
        /* What one sent the other received: lengths tell. */
        cr_assert_eq(number(json_object_get(from, "args"), "bytes"),
                     number(json_object_get(to, "args"), "bytes"));
        cr_assert_eq(number(json_object_get(from, "args"), "tag"),
                     number(json_object_get(to, "args"), "tag"));
        flows++;
    }
    cr_expect_eq(flows, MESSAGES);
    json_decref(trace);
}

/* --- what cannot be told --- */

Test(messages, that_nobody_received_are_there)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *rows;

    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_make_bytes(m, 99);
    otf2_call_send(m, 0, 20 * US, 21 * US, 1, 3);
    otf2_make_bytes(m, 8);
    otf2_call_receive(m, 1, 5 * US, 32 * US, 0, 3);
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    rows = ask("run", "select * from message order by send_ns");
    cr_assert_eq(json_array_size(rows), 2);
    cr_expect_str_eq(text(json_array_get(rows, 0), "status"), "");
    cr_expect_str_eq(text(json_array_get(rows, 1), "status"), "not received");
    cr_expect_eq(number(json_array_get(rows, 1), "bytes"), 99);
    cr_expect(
        json_is_null(json_object_get(json_array_get(rows, 1), "receive_ns")));
    json_decref(rows);
}

/* The end of an MPI_Irecv is missing, as some tracers have it: which of two
 * messages was received in it nobody knows. */
Test(messages, are_ambiguous_where_receives_are_missing)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *rows;

    otf2_enter(m, 1, 1 * US, "MPI_Irecv");
    otf2_request(m, 1, 1 * US, 1);
    otf2_leave(m, 1, 2 * US, "MPI_Irecv");
    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_call_send(m, 0, 20 * US, 21 * US, 1, 3);
    otf2_call_receive(m, 1, 5 * US, 32 * US, 0, 3);
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    rows = ask("run", "select count(*) as n, count(ordinal) as numbered, "
                      "sum(status = 'ambiguous') as ambiguous from message");
    cr_expect_eq(number(json_array_get(rows, 0), "n"), 3);
    cr_expect_eq(number(json_array_get(rows, 0), "numbered"), 0);
    cr_expect_eq(number(json_array_get(rows, 0), "ambiguous"), 3);
    json_decref(rows);
}

/* What MPI_Sendrecv sent and received is not recorded, as by EZTrace: the first
 * that was sent is not the first that is said to be received. */
Test(messages, are_ambiguous_where_their_lengths_differ)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *rows;

    otf2_make_bytes(m, 100); /* received in an MPI_Sendrecv */
    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_make_bytes(m, 200); /* sent in one */
    otf2_call_receive(m, 1, 25 * US, 26 * US, 0, 3);
    otf2_make_bytes(m, 8);
    otf2_call_send(m, 0, 30 * US, 31 * US, 1, 4);
    otf2_call_receive(m, 1, 32 * US, 33 * US, 0, 4);
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    rows = ask("run", "select * from message where status = 'ambiguous'");
    cr_expect_eq(json_array_size(rows), 2);
    json_decref(rows);
    rows = ask("run", "select tag from message where status = ''");
    cr_assert_eq(json_array_size(rows), 1);
    cr_expect_eq(number(json_array_get(rows, 0), "tag"), 4);
    json_decref(rows);
}

/* One thread of rank 1 begins two receives, the other waits for them: in which
 * order they began is not known, and so not which message was which. */
Test(messages, are_ambiguous_where_another_thread_began_to_receive)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    uint32_t helper = otf2_make_helper(m, 1);
    json_t *rows;

    for (uint32_t i = 0; i < 3; i++) {
        otf2_enter(m, helper, (1 + 2 * i) * US, "MPI_Irecv");
        otf2_request(m, helper, (1 + 2 * i) * US, i);
        otf2_leave(m, helper, (2 + 2 * i) * US, "MPI_Irecv");
        otf2_call_send(m, 0, (10 + 10 * i) * US, (11 + 10 * i) * US, 1,
                       i < 2 ? 3 : 4);
    }
    for (uint32_t i = 3; i-- > 0;)
        otf2_call_wait(m, 1, (70 - 10 * i) * US, (71 - 10 * i) * US, 0,
                       i < 2 ? 3 : 4, i);
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    rows = ask("run", "select * from message where status = 'ambiguous'");
    cr_expect_eq(json_array_size(rows), 4);
    json_decref(rows);
    rows = ask("run", "select tag from message where status = ''");
    cr_assert_eq(json_array_size(rows), 1);
    cr_expect_eq(number(json_array_get(rows, 0), "tag"), 4);
    json_decref(rows);
}

/* Which of two messages it was that MPI_Mrecv got, is not known. */
Test(messages, are_ambiguous_where_a_call_without_one_may_have_received_it)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *rows;

    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_call_send(m, 0, 20 * US, 21 * US, 1, 3);
    otf2_enter(m, 1, 11 * US, "MPI_Mrecv");
    otf2_leave(m, 1, 12 * US, "MPI_Mrecv");
    otf2_call_receive(m, 1, 25 * US, 26 * US, 0, 3);
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    rows = ask("run", "select * from message where status = 'ambiguous'");
    cr_expect_eq(json_array_size(rows), 3);
    json_decref(rows);
}

Test(messages, are_ambiguous_where_two_threads_of_a_rank_send)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *rows;

    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_call_send(m, otf2_make_helper(m, 0), 30 * US, 31 * US, 1, 3);
    otf2_call_receive(m, 1, 5 * US, 12 * US, 0, 3);
    otf2_call_receive(m, 1, 13 * US, 32 * US, 0, 3);
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    rows = ask("run", "select status, count(*) as n, "
                      "count(distinct send_thread) as senders from message "
                      "group by 1");
    cr_assert_eq(json_array_size(rows), 1);
    cr_expect_str_eq(text(json_array_get(rows, 0), "status"), "ambiguous");
    cr_expect_eq(number(json_array_get(rows, 0), "n"), 4);
    cr_expect_eq(number(json_array_get(rows, 0), "senders"), 2);
    json_decref(rows);
}

/* --- damage --- */

/* Some of the bytes that are not zero. */
static void damage(const char *name, const char *damaged)
{
    size_t length;
    char *bytes = file_read(scratch_file("%s", name), &length);
    FILE *file = fopen(scratch_file("%s", damaged), "wb");

    for (uint32_t left = 1 + chance(8); left > 0;) {
        size_t at = chance((uint32_t)length);
        if (!bytes[at])
            continue;
        bytes[at] =
            (char)(chance(2) ? bytes[at] ^ 1 << chance(8) : (int)chance(256));
        left--;
    }
    cr_assert_eq(fwrite(bytes, 1, length, file), length);
    fclose(file);
    free(bytes);
}

Test(messages, in_damaged_files_are_read_or_left_out)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);

    for (uint32_t i = 0; i < 200; i++) {
        otf2_call_send(m, 0, (10 + 10 * i) * US, (11 + 10 * i) * US, 1, i % 20);
        otf2_call_receive(m, 1, (12 + 10 * i) * US, (14 + 10 * i) * US, 0,
                          i % 20);
    }
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    free(command_run(0, 60, "cp", scratch_file("run/rank_1.space"),
                     scratch_file("whole"), NULL));
    seed = 13;
    for (int i = 0; i < 25; i++) {
        const char *const questions[][2] = {{"sql", "select * from message"},
                                            {"export", "--format=otf2"},
                                            {"export", "--format=chrome"}};
        damage("whole", "run/rank_1.space");
        for (size_t k = 0; k < 3; k++) {
            command c;
            command_start(&c, EVENTSPACE, questions[k][0], scratch_file("run"),
                          questions[k][1], k > 0 ? "--output" : NULL,
                          scratch_file("out%d.%zu", i, k), NULL);
            command_wait(&c, 60);
            cr_expect(c.exit_code == 0 || c.exit_code == 1,
                      "%d: %s: exit code %d: %s", i, questions[k][0],
                      c.exit_code, c.output);
            command_free(&c);
        }
    }
}

/* --- where regions are in the source --- */

Test(messages, and_places_in_the_source_come_back)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 1, NULL);
    const char *const runs[] = {"run", "second"};

    otf2_enter(m, 0, 1 * US, "solve");
    otf2_enter(m, 0, 2 * US, "elsewhere");
    otf2_leave(m, 0, 3 * US, "elsewhere");
    otf2_leave(m, 0, 4 * US, "solve");
    otf2_make_end(m);
    import("trace/trace.otf2", "run");
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--format=otf2", "--output", scratch_file("again"), NULL));
    import("again/traces.otf2", "second");
    for (int i = 0; i < 2; i++) {
        json_t *rows = ask(runs[i], "select * from region order by name");
        cr_assert_eq(json_array_size(rows), 2);
        cr_expect(
            json_is_null(json_object_get(json_array_get(rows, 0), "file")));
        cr_expect_str_eq(text(json_array_get(rows, 1), "file"), "solve.f90");
        cr_expect_eq(number(json_array_get(rows, 1), "line"), 214);
        json_decref(rows);
    }
}

/* --- of two runs --- */

static void drop_process(const char *run, const char *process)
{
    static const char *const suffixes[] = {"space", "meta"};

    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(
            unlink(scratch_file("%s/%s.%s", run, process, suffixes[i])), 0);
}

static void one_message(const char *trace)
{
    otf2_make *m = otf2_make_begin(scratch_file("%s", trace), 2, NULL);

    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_call_receive(m, 1, 5 * US, 32 * US, 0, 3);
    otf2_make_end(m);
}

/* The processes of one trace belong together, wherever it was imported; those
 * of two do not, however alike they are. */
Test(messages, of_two_traces_are_not_taken_for_one)
{
    static const char *const others[] = {"first", "second"};

    one_message("first");
    one_message("second");
    for (size_t i = 0; i < 2; i++) {
        json_t *rows;
        import("first/trace.otf2", "run");
        free(command_run(0, 60, EVENTSPACE, "import",
                         scratch_file("%s/trace.otf2", others[i]), "--output",
                         scratch_file("other"), NULL));
        drop_process("run", "rank_1");
        drop_process("other", "rank_0");
        free(command_run(0, 60, EVENTSPACE, "merge", scratch_file("run"),
                         scratch_file("other"), "--output",
                         scratch_file("both"), NULL));
        rows = ask("both", "select status from message order by 1");
        cr_assert_eq(json_array_size(rows), 1 + i);
        cr_expect_str_eq(text(json_array_get(rows, 0), "status"),
                         i == 0 ? "" : "not received");
        if (i == 1)
            cr_expect_str_eq(text(json_array_get(rows, 1), "status"),
                             "not sent");
        json_decref(rows);
        free(command_run(0, 60, "rm", "-r", scratch_file("run"),
                         scratch_file("other"), scratch_file("both"), NULL));
    }
}

/* --- elsewhere --- */

/* Mirrors, archives and packed runs have them, too. */
Test(messages, are_in_what_is_made_of_a_run)
{
    static sent all[MESSAGES];

    seed = 10;
    random_make(all);
    import("trace/trace.otf2", "run");
    free(command_run(0, 60, EVENTSPACE, "scope", scratch_file("run"),
                     "--output", scratch_file("mirror"), NULL));
    check_all("mirror", all);
    free(command_run(0, 60, EVENTSPACE, "archive", scratch_file("run"), NULL));
    check_all("run", all);
    free(command_run(0, 60, EVENTSPACE, "pack", scratch_file("run"), NULL));
    check_all("run.tar.zst", all);
}
