/* import_lanes_test.c - messages whose receives end in another order than the
 * sends, with few tags and with many: what views say of an imported trace is
 * what is computed here from the program that it was made of. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/viewer/otf2_make.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define US INT64_C(1000)
#define RANKS 4
#define MESSAGES 1500

static void begin(void)
{
    scratch_make();
}

TestSuite(lanes, .timeout = 300, .init = begin, .fini = scratch_remove);

/* --- the command --- */

static json_t *parse(char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);

    cr_assert_not_null(json, "%s: %s", error.text, text);
    free(text);
    return json;
}

static json_t *import(void)
{
    return parse(command_run(0, 60, EVENTSPACE, "import",
                             scratch_file("trace/trace.otf2"), "--output",
                             scratch_file("run"), "--format=json", NULL));
}

static json_t *view(const char *name, const char *option)
{
    json_t *all =
        parse(command_run(0, 60, EVENTSPACE, "view", scratch_file("run"), name,
                          "--format=json", option, NULL));
    json_t *rows = json_incref(json_object_get(all, "rows"));

    json_decref(all);
    cr_assert(json_is_array(rows), "view %s", name);
    return rows;
}

static json_t *ask(const char *statement)
{
    return parse(command_run(0, 60, EVENTSPACE, "sql", scratch_file("run"),
                             statement, "--format=json", NULL));
}

static json_int_t integer(const json_t *row, const char *key)
{
    json_t *value = json_object_get(row, key);

    cr_assert(json_is_integer(value), "no number %s", key);
    return json_integer_value(value);
}

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));

    return value ? value : "";
}

static json_int_t reported(const json_t *rows, const char *what)
{
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row) if (strcmp(text(row, "what"), what) ==
                                         0) return integer(row, "count");
    return -1;
}

/* --- a program at random --- */

typedef struct message {
    uint32_t from, to, tag;
    int64_t sent_us;
    int64_t wait_us, received_us; /* the call in which it was received */
} message;

/* A call of a rank; of no message: MPI_Irecv. */
typedef struct call {
    int64_t start_us, end_us;
    int message;
    bool receives;
} call;

typedef struct program {
    message messages[MESSAGES];
    call calls[RANKS][3 * MESSAGES];
    uint32_t counts[RANKS];
    bool is_received[MESSAGES];
} program;

static program p;
static uint64_t seed;

static uint32_t chance(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void call_add(uint32_t rank, int64_t start_us, int64_t end_us, int about,
                     bool receives)
{
    p.calls[rank][p.counts[rank]++] = (call){start_us, end_us, about, receives};
}

/* All receives of a rank begin at first, in the order of the sends. */
static int64_t begin_receives(otf2_make *m, uint32_t rank)
{
    int64_t now_us = 1;

    for (uint32_t i = 0; i < MESSAGES; i++) {
        if (p.messages[i].to != rank)
            continue;
        otf2_enter(m, rank, now_us * US, "MPI_Irecv");
        otf2_request(m, rank, now_us * US, i);
        otf2_leave(m, rank, (now_us + 1) * US, "MPI_Irecv");
        call_add(rank, now_us, now_us + 1, -1, false);
        now_us += 2;
    }
    return now_us;
}

static int64_t wait_for(otf2_make *m, uint32_t rank, int64_t now_us, uint32_t i)
{
    message *got = &p.messages[i];

    got->wait_us = now_us;
    got->received_us = (now_us > got->sent_us ? now_us : got->sent_us) + 2;
    p.is_received[i] = true;
    otf2_make_bytes(m, i);
    otf2_call_wait(m, rank, now_us * US, got->received_us * US, got->from,
                   got->tag, i);
    call_add(rank, now_us, got->received_us, (int)i, true);
    return got->received_us + 1 + chance(3);
}

/* A message to the rank that has not been received, and that could be before
 * that moment; MESSAGES: none was found. */
static uint32_t choose(uint32_t rank, int64_t before_us)
{
    for (int attempts = 0; attempts < 40; attempts++) {
        uint32_t i = chance(MESSAGES);
        if (p.messages[i].to == rank && !p.is_received[i] &&
            p.messages[i].sent_us + 8 < before_us)
            return i;
    }
    return MESSAGES;
}

static void run_rank(otf2_make *m, uint32_t rank)
{
    int64_t now_us = begin_receives(m, rank);
    uint32_t next;

    for (uint32_t i = 0; i < MESSAGES; i++) {
        message *own = &p.messages[i];
        if (own->from != rank)
            continue;
        while (now_us + 8 < own->sent_us && chance(8) &&
               (next = choose(rank, own->sent_us)) < MESSAGES)
            now_us = wait_for(m, rank, now_us, next);
        cr_assert_lt(now_us, own->sent_us);
        otf2_make_bytes(m, i);
        otf2_call_send(m, rank, own->sent_us * US, (own->sent_us + 1) * US,
                       own->to, own->tag);
        call_add(rank, own->sent_us, own->sent_us + 1, (int)i, false);
        now_us = own->sent_us + 2;
    }
    while ((next = choose(rank, INT64_MAX)) < MESSAGES)
        now_us = wait_for(m, rank, now_us, next);
    for (uint32_t i = 0; i < MESSAGES; i++)
        if (p.messages[i].to == rank && !p.is_received[i])
            now_us = wait_for(m, rank, now_us, i);
}

static void program_make(uint32_t tags)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), RANKS, NULL);

    memset(&p, 0, sizeof(p));
    for (uint32_t i = 0; i < MESSAGES; i++) {
        message *own = &p.messages[i];
        own->from = chance(RANKS);
        own->to = (own->from + 1 + chance(RANKS - 1)) % RANKS;
        own->tag = chance(tags);
        own->sent_us = 4 * MESSAGES + 20 * (int64_t)i + chance(10);
    }
    for (uint32_t rank = 0; rank < RANKS; rank++)
        run_rank(m, rank);
    otf2_make_end(m);
}

/* --- what views must say --- */

static void check_waits(void)
{
    int64_t wanted[RANKS][RANKS] = {{0}}, got[RANKS][RANKS] = {{0}};
    json_t *rows = view("waits-for", NULL), *row;
    size_t i;

    for (i = 0; i < MESSAGES; i++) {
        const message *each = &p.messages[i];
        if (each->sent_us > each->wait_us)
            wanted[each->to][each->from] +=
                (each->sent_us - each->wait_us) * US;
    }
    json_array_foreach(rows, i, row)
    {
        unsigned thread = 0, on = 0;
        cr_assert_eq(sscanf(text(row, "process"), "rank_%u", &thread), 1);
        cr_assert_eq(sscanf(text(row, "for_process"), "rank_%u", &on), 1);
        cr_assert(thread < RANKS && on < RANKS);
        got[thread][on] += integer(row, "total_ns");
    }
    json_decref(rows);
    for (uint32_t a = 0; a < RANKS; a++)
        for (uint32_t b = 0; b < RANKS; b++)
            cr_expect_eq(got[a][b], wanted[a][b],
                         "%u for %u: %" PRId64 ", not %" PRId64, a, b,
                         got[a][b], wanted[a][b]);
}

/* The last call of a rank that ends by then; NULL. */
static const call *call_before(uint32_t rank, int64_t by_us)
{
    for (uint32_t i = p.counts[rank]; i > 0; i--)
        if (p.calls[rank][i - 1].end_us <= by_us)
            return &p.calls[rank][i - 1];
    return NULL;
}

/* Backwards from the rank that ended last: over its call, on to who sent the
 * message that it has waited for. */
static void path_compute(int64_t *computing_us, int64_t *calls_us)
{
    int64_t now_us = 0;
    uint32_t rank = 0;
    const call *at;

    for (uint32_t r = 0; r < RANKS; r++)
        if (p.calls[r][p.counts[r] - 1].end_us > now_us) {
            now_us = p.calls[r][p.counts[r] - 1].end_us;
            rank = r;
        }
    *calls_us = 0;
    while ((at = call_before(rank, now_us))) {
        const message *got = at->receives ? &p.messages[at->message] : NULL;
        int64_t since_us = at->start_us;
        computing_us[rank] += now_us - at->end_us;
        if (got && got->sent_us > at->start_us) {
            since_us = got->sent_us;
            rank = got->from;
        }
        *calls_us += at->end_us - since_us;
        now_us = since_us;
    }
}

static void check_path(void)
{
    int64_t computing_us[RANKS] = {0}, calls_us, got_ns[RANKS] = {0};
    int64_t calls_ns = 0;
    json_t *rows = view("critical-path", NULL), *row;
    size_t i;

    path_compute(computing_us, &calls_us);
    json_array_foreach(rows, i, row)
    {
        unsigned rank = 0;
        if (strcmp(text(row, "kind"), "computing") != 0) {
            calls_ns += integer(row, "total_ns");
            continue;
        }
        cr_assert_eq(sscanf(text(row, "thread"), "rank_%u", &rank), 1);
        got_ns[rank % RANKS] += integer(row, "total_ns");
    }
    json_decref(rows);
    for (uint32_t r = 0; r < RANKS; r++)
        cr_expect_eq(got_ns[r], computing_us[r] * US,
                     "%u: %" PRId64 " ns, not %" PRId64 " us", r, got_ns[r],
                     computing_us[r]);
    cr_expect_eq(calls_ns, calls_us * US);
}

/* At each element, what the n-th read got is what the n-th write wrote: the
 * length of a message says which it is. */
static void check_order(size_t elements_max)
{
    json_t *rows = view("element-order", "--detail"), *row;
    json_t *by = json_object();
    size_t i, matched = 0, elements = 0;
    const char *name;
    json_t *two;

    json_array_foreach(rows, i, row)
    {
        bool writes = strcmp(text(row, "verb"), "write") == 0;
        if (!writes && strcmp(text(row, "verb"), "observe") != 0)
            continue;
        two = json_object_get(by, text(row, "element"));
        if (!two) {
            two = json_pack("[[],[]]");
            json_object_set_new(by, text(row, "element"), two);
        }
        json_array_append(json_array_get(two, writes ? 0 : 1), row);
    }
    json_object_foreach(by, name, two)
    {
        json_t *written = json_array_get(two, 0);
        json_t *taken = json_array_get(two, 1);
        cr_assert_eq(json_array_size(written), json_array_size(taken));
        elements++;
        json_array_foreach(written, i, row)
        {
            json_t *other = json_array_get(taken, i);
            cr_assert_eq(integer(row, "bytes"), integer(other, "bytes"));
            matched++;
        }
    }
    cr_expect_eq(matched, MESSAGES);
    cr_expect_leq(elements, elements_max, "%zu elements", elements);
    json_decref(by);
    json_decref(rows);
}

static void check_messages(void)
{
    json_t *rows = ask("select * from message order by bytes"), *row;
    size_t i;

    cr_assert_eq(json_array_size(rows), MESSAGES);
    json_array_foreach(rows, i, row)
    {
        cr_assert_eq(integer(row, "bytes"), (json_int_t)i);
        cr_assert_eq(integer(row, "bytes_received"), (json_int_t)i);
        cr_assert_eq(integer(row, "tag"), p.messages[i].tag);
        cr_assert_str_eq(text(row, "status"), "");
    }
    json_decref(rows);
}

static void check_all(uint32_t tags, size_t elements_max)
{
    json_t *report;

    program_make(tags);
    report = import();
    cr_expect_eq(reported(report, "messages"), MESSAGES);
    cr_expect_eq(reported(report, "unmatched sends"), -1);
    json_decref(report);
    check_waits();
    check_path();
    check_order(elements_max);
    check_messages();
}

Test(lanes, are_exact_with_few_tags)
{
    seed = 21;
    check_all(3, 400);
}

Test(lanes, are_exact_with_many_tags)
{
    seed = 22;
    check_all(500, 200);
}

/* Each of RANKS * (RANKS - 1) channels is received in some order at random, as
 * of n messages some 2 * sqrt(n) lie in the opposite order. */
Test(lanes, are_exact_with_a_tag_for_each_message)
{
    seed = 23;
    check_all(1000000, 200);
}

/* --- many tags --- */

#define MANY 100000

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static json_int_t one(const char *statement)
{
    json_t *rows = ask(statement);
    json_int_t n = integer(json_array_get(rows, 0), "n");

    json_decref(rows);
    return n;
}

Test(lanes, of_a_new_tag_for_each_of_many_messages_are_one)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    struct stat map;
    json_t *rows;
    double before;

    for (uint32_t i = 0; i < MANY; i++) {
        otf2_make_bytes(m, i);
        otf2_call_send(m, 0, (10 * (int64_t)i + 5) * US,
                       (10 * (int64_t)i + 6) * US, 1, i);
        otf2_call_receive(m, 1, (10 * (int64_t)i + 2) * US,
                          (10 * (int64_t)i + 8) * US, 0, i);
    }
    otf2_make_end(m);
    before = seconds();
    json_decref(import());
    cr_expect_lt(seconds() - before, 30);
    cr_assert_eq(stat(scratch_file("run/pathmap.dot"), &map), 0);
    cr_expect_lt(map.st_size, 10000);
    cr_expect_eq(one("select count(*) as n from message where bytes = tag and "
                     "bytes_received = tag and ordinal = 0"),
                 MANY);
    rows = view("waits-for", NULL);
    cr_assert_eq(json_array_size(rows), 1);
    cr_expect_str_eq(text(json_array_get(rows, 0), "over"), "rank_0 to rank_1");
    cr_expect_eq(integer(json_array_get(rows, 0), "total_ns"), MANY * 3 * US);
    json_decref(rows);
}

/* All are sent before the first is received, the last sent is received first:
 * each would need a lane. Those for which there is none are known all the same,
 * but nobody is said to have waited for them. */
Test(lanes, are_limited)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *report;

    for (uint32_t i = 0; i < 20000; i++) {
        otf2_make_bytes(m, i);
        otf2_call_send(m, 0, (10 + 2 * (int64_t)i) * US,
                       (11 + 2 * (int64_t)i) * US, 1, i);
        otf2_make_bytes(m, 19999 - i);
        otf2_call_receive(m, 1, (50000 + 2 * (int64_t)i) * US,
                          (50001 + 2 * (int64_t)i) * US, 0, 19999 - i);
    }
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "messages"), 16001);
    cr_expect_eq(reported(report, "unmatched sends"), 20000 - 16001);
    cr_expect_eq(reported(report, "unmatched receives"), 20000 - 16001);
    json_decref(report);
    cr_expect_eq(one("select count(*) as n from message where bytes = tag and "
                     "bytes_received = tag and status = ''"),
                 20000);
}
