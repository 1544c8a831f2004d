/* sql_test.c - SQL over a run made by hand: what is passed over is told by the
 * ledger of the events, and what reaches beyond the run is refused. */
#include "viewer/sql/sql.h"

#include <unistd.h>

#include "eventspace/run/meta.h"
#include "scopes/archive/archive.h"
#include "tests/scopes/reading/stream_files.h"
#include "tests/support/command.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define TUPLES 40000

TestSuite(sql, .timeout = 120, .init = streams_begin, .fini = scratch_remove);

typedef struct fixture {
    eventspace_run *run;
    viewer_sql *sql;
} fixture;

/* A tick is a nanosecond, and both processes began at tick 0. */
static void write_meta(const char *process)
{
    eventspace_meta meta = {.tick_hz = 1e9,
                            .pid = 1,
                            .start_wall_ns = 1000000000,
                            .end_tick = 1000000,
                            .threads = 2,
                            .state = EVENTSPACE_FINISHED};

    snprintf(meta.process, sizeof(meta.process), "%s", process);
    snprintf(meta.tick_source, sizeof(meta.tick_source), "tsc");
    snprintf(meta.counter, sizeof(meta.counter), "one");
    snprintf(meta.eventspace, sizeof(meta.eventspace), "test");
    check_status(eventspace_meta_save(&meta, scratch_file("%s.meta", process)),
                 0);
}

static void write_space(const char *file, const char *stream, uint64_t tuples)
{
    pastset_space *space = stream_space(file);
    pastset_element *element =
        stream_make(space, stream, PASTSET_GROW, tuples + 1);

    check_status(stream_write(element, 0, tuples), 0);
    pastset_space_close(space);
}

static fixture begin_with(uint64_t tuples)
{
    fixture f;

    write_meta("h0");
    write_meta("h1");
    write_space("h0.space", "trace.t0", tuples);
    write_space("h1.space", "trace.h1", tuples);
    f.run = stream_run();
    check_status(viewer_sql_open(&f.sql, f.run), 0);
    return f;
}

static fixture begin(void)
{
    return begin_with(TUPLES);
}

static void end(fixture *f)
{
    viewer_sql_close(f->sql);
    eventspace_run_close(f->run);
}

/* The one number that a statement gives. */
static int64_t ask(const fixture *f, const char *statement)
{
    viewer_sql_result result;
    int64_t number;
    int err = viewer_sql_run(f->sql, &statement, true, &result);

    cr_assert_eq(err, 0, "%s: %s", statement, pastset_error());
    cr_assert_not_null(result.table);
    cr_assert_eq(scopes_table_rows(result.table), 1);
    number = scopes_table_cell(result.table, 0, 0).integer;
    viewer_sql_result_fini(&result);
    return number;
}

/* How many events a statement had read, or passed over. */
static uint64_t reads(const fixture *f, const char *statement, int64_t answer)
{
    scopes_ledger before = *viewer_sql_ledger(f->sql), after;
    int64_t got = ask(f, statement);

    cr_assert_eq(got, answer, "%s: %ld", statement, (long)got);
    after = *viewer_sql_ledger(f->sql);
    cr_assert_eq(after.recorded - before.recorded,
                 after.read - before.read + after.filtered - before.filtered);
    return after.read - before.read;
}

/* How many tuples of a process are as a test says. */
typedef bool test(const eventspace_trace *event);

static int64_t count_if(test *is)
{
    int64_t count = 0;

    for (uint64_t i = 0; i < TUPLES; i++) {
        eventspace_trace event = stream_tuple(i);
        count += is(&event);
    }
    return count;
}

static bool is_all(const eventspace_trace *e)
{
    (void)e;
    return true;
}
static bool is_late(const eventspace_trace *e)
{
    return e->start >= 300000;
}
static bool is_in_window(const eventspace_trace *e)
{
    return e->start > 200000 && e->end <= 210000;
}
static bool is_of_collector(const eventspace_trace *e)
{
    return e->collector == 2;
}
static bool is_of_collectors(const eventspace_trace *e)
{
    return e->collector == 0 || e->collector == 2;
}
static bool is_of_thread(const eventspace_trace *e)
{
    return e->thread == 1;
}
static bool is_narrow(const eventspace_trace *e)
{
    return is_in_window(e) && is_of_thread(e) && is_of_collector(e);
}

Test(sql, reads_all_events_without_conditions)
{
    fixture f = begin();

    cr_assert_eq(reads(&f, "select count(*) from event", 2 * TUPLES),
                 2 * TUPLES);
    end(&f);
}

Test(sql, reads_only_what_is_under_way_in_a_window)
{
    fixture f = begin();
    int64_t late = 2 * count_if(is_late), window = 2 * count_if(is_in_window);

    /* Somewhat more is read, as clocks round; the rest is passed over. */
    cr_assert_leq(
        reads(&f, "select count(*) from event where start_ns >= 300000", late),
        (uint64_t)late + 2 * 1200);
    cr_assert_leq(reads(&f,
                        "select count(*) from event where start_ns > 200000 "
                        "and end_ns <= 210000",
                        window),
                  (uint64_t)window + 2 * 1200 + 2 * 2000);
    cr_assert_eq(reads(&f,
                       "select count(*) from event where start_ns > 5000000 "
                       "and end_ns < 1000",
                       0),
                 0);
    cr_assert_eq(reads(&f, "select count(*) from event where end_ns = null", 0),
                 2 * TUPLES); /* SQLite looks at these */
    end(&f);
}

Test(sql, reads_only_collectors_and_threads_that_are_asked_for)
{
    fixture f = begin();
    int64_t one = 2 * count_if(is_of_collector);
    int64_t two = 2 * count_if(is_of_collectors);
    int64_t thread = 2 * count_if(is_of_thread);

    cr_assert_eq(
        reads(&f, "select count(*) from event where collector = 2", one),
        (uint64_t)one);
    cr_assert_eq(
        reads(&f, "select count(*) from event where collector in (2, 0)", two),
        (uint64_t)two);
    cr_assert_eq(
        reads(&f, "select count(*) from event where thread = 1", thread),
        (uint64_t)thread);
    cr_assert_eq(reads(&f,
                       "select count(*) from event where collector in (2, 0) "
                       "and collector = 2",
                       one),
                 (uint64_t)one);
    cr_assert_eq(
        reads(&f, "select count(*) from event where collector = 2.5", 0),
        2 * TUPLES);
    end(&f);
}

Test(sql, reads_only_processes_that_are_asked_for)
{
    fixture f = begin();

    cr_assert_eq(
        reads(&f, "select count(*) from event where process = 'h1'", TUPLES),
        TUPLES);
    cr_assert_eq(
        reads(&f, "select count(*) from event where process in ('h1', 'h0')",
              2 * TUPLES),
        2 * TUPLES);
    cr_assert_eq(reads(&f,
                       "select count(*) from event where process = 'H1' "
                       "collate nocase",
                       TUPLES),
                 2 * TUPLES);
    end(&f);
}

Test(sql, passes_the_events_once_in_a_join)
{
    fixture f = begin();

    cr_assert_eq(reads(&f,
                       "select count(*) from event e join collector c on "
                       "c.id = e.collector where c.name like 'c%'",
                       2 * TUPLES),
                 2 * TUPLES);
    end(&f);
}

/* Blocks of an archive that have nothing of a window are not unpacked. */
Test(sql, passes_over_blocks_of_an_archive)
{
    scopes_archive_writer *writer;
    fixture f = begin();
    int64_t narrow = 2 * count_if(is_narrow);

    end(&f);
    check_status(
        scopes_archive_writer_open(&writer, scratch_file("h0.archive"), "h0"),
        0);
    for (uint64_t i = 0; i < TUPLES; i++) {
        eventspace_trace event = stream_tuple(i);
        check_status(scopes_archive_append(writer, "trace.t0", i, &event, 1),
                     0);
        if (i % 1000 == 999)
            check_status(scopes_archive_flush(writer), 0);
    }
    check_status(scopes_archive_writer_close(writer), 0);
    unlink(scratch_file("h0.space"));
    f.run = stream_run();
    check_status(viewer_sql_open(&f.sql, f.run), 0);
    cr_assert_leq(reads(&f,
                        "select count(*) from event where start_ns > 200000 "
                        "and end_ns <= 210000 and thread = 1 and collector = 2",
                        narrow),
                  (uint64_t)narrow + 2000);
    cr_assert_eq(ask(&f, "select count(*) from event where process = 'h0'"),
                 TUPLES);
    cr_assert_eq(count_if(is_all), TUPLES);
    end(&f);
}

/* --- against a table that has the same rows --- */

static uint64_t random_below(uint64_t *state, uint64_t end)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % end;
}

/* What a column is compared with: numbers that it has, and what is odd. */
static const char *any_value(uint64_t *state, char out[32])
{
    static const char *const odd[] = {"null",
                                      "''",
                                      "'h0'",
                                      "'h1'",
                                      "'H1'",
                                      "'1'",
                                      "'x'",
                                      "x'6830'",
                                      "1.0",
                                      "2.5",
                                      "-1",
                                      "1e300",
                                      "-1e300",
                                      "9e999",
                                      "4.7e18",
                                      "-4.7e18",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "9223372036854775808",
                                      "4294967296",
                                      "4294967297",
                                      "'h1' || char(0)",
                                      "2305843009213693951"};
    uint64_t kind = random_below(state, 3);

    if (kind == 0)
        return odd[random_below(state, sizeof(odd) / sizeof(*odd))];
    snprintf(out, 32, "%llu",
             (unsigned long long)(kind == 1
                                      ? random_below(state, 8)
                                      : 9000 + random_below(state, 22000)));
    return out;
}

static const char *const compared[] = {"collector", "process",     "thread",
                                       "start_ns",  "end_ns",      "start_ns",
                                       "sequence",  "start_ticks", "thread"};

static void add_condition(char *out, size_t bytes, uint64_t *state)
{
    static const char *const operators[] = {"=",  "<",  "<=", ">",
                                            ">=", "<>", "is", "is not"};
    const char *column = compared[random_below(state, 9)];
    char a[32], b[32], c[32];

    switch (random_below(state, 5)) {
    case 0:
        snprintf(out, bytes, "e.%s between %s and %s", column,
                 any_value(state, a), any_value(state, b));
        break;
    case 1:
        snprintf(out, bytes, "e.%s %s (%s, %s, %s)", column,
                 random_below(state, 3) ? "in" : "not in", any_value(state, a),
                 any_value(state, b), any_value(state, c));
        break;
    case 2:
        snprintf(out, bytes, "%s = e.%s", any_value(state, a), column);
        break;
    default:
        snprintf(out, bytes, "e.%s %s %s", column,
                 operators[random_below(state, 8)], any_value(state, a));
    }
}

static void add_where(char *out, size_t bytes, uint64_t *state)
{
    static const char *const joins[] = {"(%s) and (%s)", "(%s) or (%s)",
                                        "(%s) or not (%s)"};
    char a[300], b[300];

    add_condition(a, sizeof(a), state);
    add_condition(b, sizeof(b), state);
    snprintf(out, bytes, joins[random_below(state, 3)], a, b);
}

/* A copy in a table of SQLite's own has the same columns, and everything that
 * is asked of it SQLite does itself. */
static void compare_with_copy(const fixture *f, const char *from,
                              const char *where)
{
    char text[2000];

    snprintf(text, sizeof(text),
             "select (select count(*) || ' ' || total(e.sequence) from %s "
             "where %s) is (select count(*) || ' ' || total(e.sequence) from "
             "%.*scopy%s where %s)",
             from, where, (int)(strstr(from, "event") - from), from,
             strstr(from, "event") + strlen("event"), where);
    cr_assert_eq(ask(f, text), 1, "%s", text);
}

Test(sql, gives_what_a_table_with_the_same_rows_gives)
{
    static const char *const from[] = {
        "event e",
        "event e",
        "event e",
        "event e join collector c on c.id = e.collector",
        ("collector c left join event e on e.collector = c.id or "
         "e.thread = c.id"),
        "thread t cross join event e on t.number = e.thread"};
    const char *copy = "create table copy as select * from event";
    viewer_sql_result result;
    uint64_t state = 14;
    char where[700];
    fixture f = begin_with(2000);

    check_status(viewer_sql_run(f.sql, &copy, true, &result), 0);
    compare_with_copy(&f, "event e", "e.thread = 1 or e.collector = 2");
    compare_with_copy(&f, "event e", "e.end_ns <= -9223372036854775808");
    for (int i = 0; i < 1000; i++) {
        add_where(where, sizeof(where), &state);
        compare_with_copy(&f, from[random_below(&state, 6)], where);
    }
    end(&f);
}

/* --- what is refused --- */

static void refuse(const fixture *f, const char *statement, const char *why)
{
    const char *text = statement;
    viewer_sql_result result;

    check_status(viewer_sql_run(f->sql, &text, true, &result), PASTSET_EINVAL);
    cr_assert_not_null(strstr(pastset_error(), why), "%s", pastset_error());
    cr_assert_null(result.table);
}

Test(sql, reaches_no_file)
{
    const char *file = scratch_file("made");
    char text[4200];
    fixture f = begin();

    snprintf(text, sizeof(text), "attach '%s' as other", file);
    refuse(&f, text, "beyond the run");
    snprintf(text, sizeof(text), "vacuum into '%s'", file);
    refuse(&f, text, "");
    snprintf(text, sizeof(text), "select writefile('%s', 'x')", file);
    refuse(&f, text, "no such function");
    snprintf(text, sizeof(text), "select readfile('%s')",
             scratch_file("pathmap.dot"));
    refuse(&f, text, "no such function");
    refuse(&f, "pragma writable_schema = 1", "beyond the run");
    refuse(&f, "pragma temp_store_directory = '.'", "beyond the run");
    refuse(&f, "pragma journal_mode = off", "beyond the run");
    refuse(&f, "select load_extension('./made')", "not authorized");
    refuse(&f, "create virtual table x using fts5(a)", "beyond the run");
    refuse(&f, "drop table event", "beyond the run");
    refuse(&f, "insert into event values (1)", "");
    refuse(&f, "delete from collector", "");
    refuse(&f, "update sqlite_master set sql = ''", "");
    cr_assert_neq(access(file, F_OK), 0);
    cr_assert_eq(ask(&f, "select count(*) from event"), 2 * TUPLES);
    end(&f);
}

Test(sql, says_what_is_wrong_with_a_statement)
{
    fixture f = begin();

    refuse(&f, "select * from evnt", "did you mean 'event'?");
    refuse(&f, "select * from waits_fro", "did you mean 'waits_for'?");
    refuse(&f, "select * from event where", "statement 3, \"select * from");
    refuse(&f, "select :x", ":x has no value");
    refuse(&f, "select ?", "needs a name");
    end(&f);
}

Test(sql, binds_parameters_and_keeps_tables_of_its_own)
{
    const char *text = "create table mine as select * from event where thread "
                       "= :thread; -- and then\n";
    viewer_sql_result result;
    fixture f = begin();

    check_status(viewer_sql_set(f.sql, "thread", "5"), 0);
    check_status(viewer_sql_set(f.sql, "thread", "1"), 0);
    check_status(viewer_sql_run(f.sql, &text, true, &result), 0);
    cr_assert_null(result.table);
    cr_assert(viewer_sql_is_blank(text));
    cr_assert_eq(ask(&f, "select count(*) from mine"),
                 2 * count_if(is_of_thread));
    check_status(viewer_sql_set(f.sql, "name", "t1"), 0);
    cr_assert_eq(ask(&f, "select number from thread where name = :name"), 1);
    end(&f);
}

/* --- ids that nobody has defined --- */

static fixture begin_with_strange(void)
{
    const uint32_t ids[] = {STREAM_COLLECTORS, UINT32_MAX};
    pastset_space *space = stream_space("h0.space");
    pastset_element *element =
        stream_make(space, "trace.t0", PASTSET_GROW, 100);
    fixture f;

    write_meta("h0");
    write_meta("h1");
    write_space("h1.space", "trace.h1", 10);
    check_status(stream_write(element, 0, 10), 0);
    for (size_t i = 0; i < 2; i++) {
        eventspace_trace event = stream_tuple(10 + i);
        event.collector = ids[i];
        check_status(
            pastset_write(element, &event, sizeof(event), PASTSET_NOWAIT, NULL),
            0);
    }
    pastset_space_close(space);
    f.run = stream_run();
    check_status(viewer_sql_open(&f.sql, f.run), 0);
    return f;
}

Test(sql, counts_events_of_unknown_ids_once)
{
    fixture f = begin_with_strange();

    cr_assert_eq(viewer_sql_strange(f.sql), 0);
    cr_assert_eq(ask(&f, "select count(*) from event where collector < 3"), 20);
    cr_assert_eq(viewer_sql_strange(f.sql), 2);
    cr_assert_eq(ask(&f, "select count(*) from event"), 22);
    cr_assert_eq(ask(&f, "select count(*) from event a join event b using "
                         "(process, sequence)"),
                 22);
    ask(&f, "select count(*) from tuples");
    cr_assert_eq(viewer_sql_strange(f.sql), 2);
    end(&f);
}

Test(sql, views_count_events_of_unknown_ids_too)
{
    fixture f = begin_with_strange();

    ask(&f, "select count(*) from tuples");
    cr_assert_eq(viewer_sql_strange(f.sql), 2);
    end(&f);
}

static size_t times_in(const char *text, const char *what)
{
    size_t times = 0;

    while ((text = strstr(text, what))) {
        text += strlen(what);
        times++;
    }
    return times;
}

Test(sql, the_command_says_once_that_ids_are_unknown)
{
    static const char *const said =
        "eventspace: 2 events are of collectors that the map does not have\n";
    fixture f = begin_with_strange();
    char *text;

    end(&f);
    text = command_run(0, 60, EVENTSPACE, "sql", scratch_file("."),
                       "select count(*) from event; select max(end_ns) from "
                       "event;",
                       NULL);
    cr_expect_eq(times_in(text, said), 1, "%s", text);
    free(text);
    text = command_run(0, 60, EVENTSPACE, "sql", scratch_file("."),
                       "select count(*) from thread", NULL);
    cr_expect_eq(times_in(text, said), 0, "%s", text);
    free(text);
}
