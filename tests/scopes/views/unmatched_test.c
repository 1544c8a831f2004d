/* unmatched_test.c - messages of which both ends do not agree: all of them are
 * told, and no others. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pastset/status.h"
#include "tests/scopes/fake_run.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/golden.h"
#include "tests/support/scratch.h"

static void begin(void)
{
    scratch_make();
}

TestSuite(unmatched, .timeout = 60, .init = begin, .fini = scratch_remove);

static const char map_given[] =
    "digraph g {\n"
    "  subgraph cluster_h0 { t0 [kind=thread, number=0];\n"
    "    c0 [kind=collector, id=0]; e [kind=element, type=\"u64\"]; }\n"
    "  subgraph cluster_h1 { t1 [kind=thread, number=1];\n"
    "    c1 [kind=collector, id=1]; }\n"
    "  subgraph cluster_h2 { t2 [kind=thread, number=2]; }\n"
    "  t0 -> c0; c0 -> e; t1 -> c1; c1 -> e;\n"
    "}\n";

/* What each process defines, with ids 0 to 5. */
#define WORLD 0
#define ROW 1
#define SENDS 2
#define FROM_0_TO_1 3 /* in WORLD */
#define FROM_0_TO_2 4
#define FROM_1_TO_0 5 /* in ROW */

static void define(fake_run *run, uint32_t process, uint32_t kind, uint32_t id,
                   uint32_t parent, const char *text, size_t bytes)
{
    char tuple[100];

    memcpy(tuple, (uint32_t[]){kind, id, parent, 0}, 16);
    memcpy(tuple + 16, text, bytes);
    check_status(fake_run_define(run, process, tuple, 16 + bytes), 0);
}

static void define_all(fake_run *run, uint32_t process)
{
#define TEXT(text) text, sizeof(text)
    define(run, process, EVENTSPACE_DEFINES_COMMUNICATOR, WORLD, UINT32_MAX,
           TEXT("world\0\"key\0w"));
    define(run, process, EVENTSPACE_DEFINES_COMMUNICATOR, ROW, UINT32_MAX,
           TEXT("row\0\"key\0r"));
    define(run, process, EVENTSPACE_DEFINES_OPERATION, SENDS, UINT32_MAX,
           "MPI_Send", 8);
    define(run, process, EVENTSPACE_DEFINES_CHANNEL, FROM_0_TO_1, WORLD,
           TEXT("\0\"from\0000\0\"to\0001"));
    define(run, process, EVENTSPACE_DEFINES_CHANNEL, FROM_0_TO_2, WORLD,
           TEXT("\0\"from\0000\0\"to\0002"));
    define(run, process, EVENTSPACE_DEFINES_CHANNEL, FROM_1_TO_0, ROW,
           TEXT("\0\"from\0001\0\"to\0000"));
#undef TEXT
}

static void message(fake_run *run, uint32_t thread, uint32_t kind,
                    uint32_t channel, int32_t tag, uint32_t ordinal,
                    uint64_t bytes)
{
    static uint32_t calls;
    eventspace_message tuple = {.tick = FAKE_START + calls,
                                .bytes = bytes,
                                .channel = channel,
                                .ordinal = ordinal,
                                .call = calls,
                                .operation = SENDS,
                                .tag = tag,
                                .kind = (uint16_t)kind};

    calls++;
    check_status(fake_run_message(run, thread, thread, &tuple), 0);
}

#define SENT EVENTSPACE_MESSAGE_SENT
#define RECEIVED EVENTSPACE_MESSAGE_RECEIVED

static void run_make(void)
{
    paths_map *map = map_parse(map_given);
    fake_run *run;

    cr_assert_eq(mkdir(scratch_file("run"), 0700), 0);
    run = fake_run_begin(scratch_file("run"), map);
    cr_assert_not_null(run);
    for (uint32_t i = 0; i < 3; i++)
        define_all(run, i);
    /* Two of five are received, one with fewer bytes. */
    for (uint32_t i = 0; i < 5; i++)
        message(run, 0, SENT, FROM_0_TO_1, 7, i, 100 + i);
    message(run, 1, RECEIVED, FROM_0_TO_1, 7, 0, 100);
    message(run, 1, RECEIVED, FROM_0_TO_1, 7, 1, 40);
    /* Of another tag, which both ends have. */
    message(run, 0, SENT, FROM_0_TO_1, 8, 0, 1);
    message(run, 1, RECEIVED, FROM_0_TO_1, 8, 0, 1);
    /* Nobody sends it. */
    message(run, 2, RECEIVED, FROM_0_TO_2, 7, 0, 9);
    /* Which it is of, nobody knows. */
    message(run, 1, SENT, FROM_1_TO_0, -3, EVENTSPACE_MESSAGE_UNKNOWN, 5);
    message(run, 0, RECEIVED, FROM_1_TO_0, -3, EVENTSPACE_MESSAGE_UNKNOWN, 5);
    check_status(fake_run_end(run), 0);
    paths_map_destroy(map);
}

static void check_row(const scopes_table *table, const char *what,
                      const char *communicator, const char *from,
                      const char *to, int64_t tag, int64_t count, int64_t bytes,
                      int64_t received)
{
    size_t row = table_row(table, "what", what, NULL);

    cr_expect_str_eq(table_text(table, row, "communicator"), communicator);
    cr_expect_str_eq(table_text(table, row, "from_thread"), from);
    cr_expect_str_eq(table_text(table, row, "to_thread"), to);
    cr_expect_eq(table_integer(table, row, "tag"), tag);
    cr_expect_eq(table_integer(table, row, "count"), count);
    cr_expect_eq(table_integer(table, row, "bytes"), bytes);
    cr_expect_eq(table_integer(table, row, "bytes_received"), received);
}

Test(unmatched, are_told_by_what_is_wrong)
{
    scopes_table *table;
    told t;

    run_make();
    told_run(&t, scratch_file("run"));
    table = told_view(&t, "unmatched");
    cr_assert_eq(scopes_table_rows(table), 4);
    check_row(table, "not received", "world", "t0", "t1", 7, 3, 102 + 103 + 104,
              SCOPES_BLANK);
    check_row(table, "not sent", "world", "t0", "t2", 7, 1, SCOPES_BLANK, 9);
    check_row(table, "lengths differ", "world", "t0", "t1", 7, 1, 101, 40);
    check_row(table, "ambiguous", "row", "t1", "t0", -3, 2, 5, 5);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(unmatched, are_told_each)
{
    scopes_table *table;
    told t;
    size_t row;

    run_make();
    told_run(&t, scratch_file("run"));
    t.view_input.each = true;
    table = told_view(&t, "unmatched");
    cr_assert_eq(scopes_table_rows(table), 7);
    cr_expect_eq(table_count(table, "what", "not received", NULL), 3);
    row = table_row(table, "what", "lengths differ", NULL);
    cr_expect_eq(table_integer(table, row, "ordinal"), 1);
    cr_expect_str_eq(table_text(table, row, "send_call"), "MPI_Send");
    cr_expect_lt(table_integer(table, row, "send_ns"),
                 table_integer(table, row, "receive_ns"));
    for (size_t i = 1; i < 3; i++)
        cr_expect_leq(table_integer(table, i - 1, "send_ns"),
                      table_integer(table, i, "send_ns"));
    scopes_table_destroy(table);
    told_end(&t);
}

Test(unmatched, are_those_of_a_thread_or_communicator)
{
    bool asked[3] = {false, false, true};
    paths_number_list of_t2 = {asked, 3};
    scopes_table *table;
    told t;

    run_make();
    told_run(&t, scratch_file("run"));
    t.view_input.threads = &of_t2;
    table = told_view(&t, "unmatched");
    cr_expect_eq(scopes_table_rows(table), 1);
    scopes_table_destroy(table);
    t.view_input.threads = NULL;
    t.view_input.of = "row";
    table = told_view(&t, "unmatched");
    cr_expect_eq(scopes_table_rows(table), 1);
    scopes_table_destroy(table);
    t.view_input.of = "column";
    check_status(
        scopes_view_make(&table, scopes_view_find("unmatched"), &t.view_input),
        PASTSET_ENOENT);
    told_end(&t);
}
