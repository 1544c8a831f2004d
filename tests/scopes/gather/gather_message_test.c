/* gather_message_test.c - messages of gather trees: what is put in comes out,
 * and what is damaged is refused; and the maps of such trees. */
#include "scopes/gather/gather_internal.h"
#include "scopes/gather/gather_sums.h"

#include <stdlib.h>

#include "scopes/wrappers/register_gather.h"
#include "tests/support/check.h"

TestSuite(gather_message, .timeout = 120);
TestSuite(gather_ledger, .timeout = 120);
TestSuite(gather_windows, .timeout = 120);
TestSuite(gather_map, .timeout = 120);

#define CAPACITY 8192

/* A message with a record of each kind. */
static size_t message_make(unsigned char *buffer)
{
    eventspace_trace events[3] = {{.start = 10, .end = 20, .sequence = 1},
                                  {.start = 30, .end = 45, .sequence = 2},
                                  {.start = 50, .end = 51, .sequence = 3}};
    scopes_statistic sums[2] = {{.collector = 1, .count = 4},
                                {.collector = 2, .count = 5}};
    gather_part tuples = {.kind = SCOPES_RECORD_TUPLES,
                          .name_bytes = 5,
                          .bytes = sizeof(events),
                          .count = 3,
                          .index = 7,
                          .span = 4};
    gather_part end = {.kind = SCOPES_RECORD_STREAM_END,
                       .name_bytes = 1,
                       .index = 11,
                       .span = 2};
    gather_part statistics = {
        .kind = SCOPES_RECORD_STATISTICS, .bytes = sizeof(sums), .count = 2};
    gather_part text = {.kind = SCOPES_RECORD_PROBLEM, .bytes = 3};
    gather_writer w;

    scopes__gather_begin(&w, buffer, CAPACITY, 2);
    w.head.recorded = 13;
    w.head.read = 3;
    w.head.flags = GATHER_ENDED;
    cr_assert_not_null(scopes__gather_add(&w, &tuples, "lane1", events));
    cr_assert_not_null(scopes__gather_add(&w, &end, "x", NULL));
    cr_assert_not_null(scopes__gather_add(&w, &statistics, "", sums));
    cr_assert_not_null(scopes__gather_add(&w, &text, "", "bad"));
    return scopes__gather_end(&w);
}

typedef struct seen {
    scopes_record records[8];
    int count;
} seen;

static int see(const scopes_record *record, void *context)
{
    seen *s = context;

    cr_assert_lt(s->count, 8);
    s->records[s->count++] = *record;
    return 0;
}

Test(gather_message, gives_what_was_put_into_it)
{
    unsigned char buffer[CAPACITY];
    seen s = {.count = 0};
    gather_head head;
    size_t bytes = message_make(buffer);

    check_status(scopes__gather_deliver(buffer, bytes, &head, see, &s), 0);
    cr_assert_eq(s.count, 5);
    cr_expect_eq(s.records[0].kind, SCOPES_RECORD_TUPLES);
    cr_expect_str_eq(s.records[0].stream, "lane1");
    cr_expect_eq(s.records[0].process, 2);
    cr_expect_eq(s.records[0].index, 7);
    cr_expect_eq(s.records[0].span, 4);
    cr_expect_eq(s.records[0].count, 3);
    cr_expect_eq(((const eventspace_trace *)s.records[0].body)[1].end, 45);
    cr_expect_str_eq(s.records[1].stream, "x");
    cr_expect_eq(s.records[1].span, 2);
    cr_expect_eq(s.records[2].count, 2);
    cr_expect_eq(s.records[3].bytes, 3);
    cr_expect_eq(s.records[4].kind, SCOPES_RECORD_LEDGER);
    cr_expect_eq(s.records[4].ledger.recorded, 13);
    cr_expect(s.records[4].ended);
    cr_expect_not(s.records[4].more);
}

Test(gather_message, that_was_cut_short_is_refused_at_every_length)
{
    unsigned char whole[CAPACITY];
    gather_head head;
    size_t bytes = message_make(whole);

    for (size_t cut = 0; cut < bytes; cut++) {
        unsigned char *part = malloc(cut + 1); /* its end is watched */
        memcpy(part, whole, cut);
        check_status(scopes__gather_check(part, cut, &head), PASTSET_EPROTO);
        if (cut >= sizeof(head)) { /* also when its head says that length */
            uint32_t length = (uint32_t)cut;
            memcpy(part + offsetof(gather_head, bytes), &length, 4);
            check_status(scopes__gather_check(part, cut, &head),
                         PASTSET_EPROTO);
        }
        free(part);
    }
}

/* Whatever a byte is changed to: it is refused, or what is read lies within. */
Test(gather_message, with_a_changed_byte_is_never_read_beyond_its_end)
{
    unsigned char whole[CAPACITY];
    size_t bytes = message_make(whole);
    size_t refused = 0;

    for (size_t at = 0; at < bytes; at++) {
        for (int bit = 0; bit < 8; bit++) {
            unsigned char *copy = malloc(bytes);
            seen s = {.count = 0};
            gather_head head;
            memcpy(copy, whole, bytes);
            copy[at] ^= (unsigned char)(1 << bit);
            refused += scopes__gather_deliver(copy, bytes, &head, see, &s) != 0;
            for (int i = 0; i < s.count; i++) {
                const unsigned char *body = s.records[i].body;
                cr_assert(!body || (body >= copy && body <= copy + bytes &&
                                    s.records[i].bytes <=
                                        (size_t)(copy + bytes - body)));
            }
            free(copy);
        }
    }
    cr_assert_gt(refused, 32 * 8, "only %zu were refused", refused);
}

Test(gather_message, takes_no_record_that_does_not_fit)
{
    unsigned char buffer[256];
    gather_part part = {.kind = SCOPES_RECORD_PROBLEM, .bytes = 161};
    gather_writer w;

    scopes__gather_begin(&w, buffer, sizeof(buffer), 0);
    cr_expect_eq(scopes__gather_capacity(&w, 0), 160);
    cr_expect_null(scopes__gather_add(&w, &part, "", NULL));
    part.bytes = 160;
    cr_expect_not_null(scopes__gather_add(&w, &part, "", NULL));
    cr_expect_eq(scopes__gather_end(&w), 256);
}

/* --- sums --- */

Test(gather_message, sums_of_many_windows_are_kept_apart_and_found_again)
{
    gather_sums s;
    uint64_t count = 0;

    scopes__gather_sums_init(&s, 1000);
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < 5000; i++) {
            scopes_statistic one = {.collector = i % 50,
                                    .window = i / 50,
                                    .count = 1,
                                    .total_ns = i,
                                    .min_ns = i,
                                    .max_ns = i};
            check_status(scopes__gather_sums_merge(&s, &one), 0);
        }
    }
    cr_assert_eq(s.used, 5000);
    for (uint32_t i = 0; i < s.used; i++) {
        uint32_t number =
            (uint32_t)(s.items[i].window * 50 + s.items[i].collector);
        cr_assert_eq(s.items[i].count, 2);
        cr_assert_eq(s.items[i].total_ns, 2 * number);
        cr_assert_eq(s.items[i].min_ns, number);
        count += s.items[i].count;
    }
    cr_expect_eq(count, 10000);
    scopes__gather_sums_clear(&s);
    scopes_statistic one = {.collector = 3, .count = 1};
    check_status(scopes__gather_sums_merge(&s, &one), 0);
    cr_expect_eq(s.used, 1);
    cr_expect_eq(s.items[0].count, 1);
    scopes__gather_sums_clear(&s); /* few of many: one by one */
    check_status(scopes__gather_sums_merge(&s, &one), 0);
    cr_expect_eq(s.used, 1);
    cr_expect_eq(s.items[0].count, 1);
    scopes__gather_sums_fini(&s);
}

Test(gather_message, sums_divide_time_at_the_edges_of_windows)
{
    eventspace_meta meta = {
        .tick_hz = 1e9, .start_tick = 500, .start_wall_ns = 10000};
    /* Ends at wall times 10999, 11000, 11999, 12000 and, before the start,
     * 9999. */
    eventspace_trace events[] = {{.start = 1489, .end = 1499},
                                 {.start = 1480, .end = 1500},
                                 {.start = 2469, .end = 2499},
                                 {.start = 2500, .end = 2500},
                                 {.start = 400, .end = 499}};
    const uint64_t windows[] = {10, 11, 12, 9};
    const uint64_t counts[] = {1, 2, 1, 1};
    const uint64_t totals[] = {10, 50, 0, 99};
    gather_sums s;

    scopes__gather_sums_init(&s, 1000);
    scopes__gather_sums_clock(&s, &meta);
    check_status(scopes__gather_sums_tuples(&s, events, 5), 0);
    cr_assert_eq(s.used, 4);
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_eq(s.items[i].window, windows[i]);
        cr_expect_eq(s.items[i].count, counts[i]);
        cr_expect_eq(s.items[i].total_ns, totals[i]);
    }
    scopes__gather_sums_fini(&s);
}

static scopes_record record_of(scopes_record_kind kind, uint32_t process,
                               const char *stream, uint64_t index,
                               uint64_t span)
{
    scopes_record r = {
        .kind = kind, .process = process, .index = index, .span = span};

    snprintf(r.stream, sizeof(r.stream), "%s", stream);
    return r;
}

/* --- ledgers --- */

static paths_map *app_of(unsigned processes);

Test(gather_ledger, counts_each_gap_and_what_a_filter_left_out)
{
    eventspace_trace events[10] = {{.start = 1, .end = 2}};
    paths_map *app = app_of(2);
    scopes_mirror *mirror;
    scopes_ledger l;
    scopes_record r;

    check_status(scopes_mirror_open(&mirror, NULL, app), 0);
    r = record_of(SCOPES_RECORD_TUPLES, 1, "x", 5, 10); /* 0 to 4 are gone */
    r.count = 4;
    r.body = events;
    check_status(scopes_mirror_record(&r, mirror), 0);
    r = record_of(SCOPES_RECORD_COUNTED, 1, "x", 20, 3); /* 15 to 19 too */
    r.count = 3;
    check_status(scopes_mirror_record(&r, mirror), 0);
    r = record_of(SCOPES_RECORD_STREAM_END, 1, "x", 25,
                  2); /* 23, 24; 2 refused */
    check_status(scopes_mirror_record(&r, mirror), 0);
    r = record_of(SCOPES_RECORD_LEDGER, 1, "", 0, 0);
    r.ledger.recorded = 27;
    r.ended = true;
    check_status(scopes_mirror_record(&r, mirror), 0);
    scopes_mirror_ledger(mirror, 1, &l);
    cr_expect_eq(l.recorded, 27);
    cr_expect_eq(l.read, 7);
    cr_expect_eq(l.filtered, 6);
    cr_expect_eq(l.lost, 14);
    cr_expect(scopes_mirror_ended(mirror, 1));
    cr_expect_not(scopes_mirror_ended(mirror, 0));
    scopes_mirror_close(mirror);
    paths_map_destroy(app);
}

Test(gather_ledger, what_a_process_has_still_is_not_lost)
{
    paths_map *app = app_of(2);
    scopes_mirror *mirror;
    scopes_ledger l;
    scopes_record r;

    check_status(scopes_mirror_open(&mirror, NULL, app), 0);
    r = record_of(SCOPES_RECORD_COUNTED, 1, "x", 5, 10); /* 0 to 4 are gone */
    r.count = 4;
    check_status(scopes_mirror_record(&r, mirror), 0);
    r = record_of(SCOPES_RECORD_LEDGER, 1, "", 0, 0);
    r.ledger = (scopes_ledger){.recorded = 40, .read = 10, .lost = 7};
    r.more = true;
    check_status(scopes_mirror_record(&r, mirror), 0);
    scopes_mirror_ledger(mirror, SIZE_MAX, &l);
    cr_expect_eq(l.recorded, 40);
    cr_expect_eq(l.read, 4);
    cr_expect_eq(l.filtered, 6);
    cr_expect_eq(l.lost, 7); /* two were refused */
    cr_expect_eq(l.unread, 23);
    r.ended = true; /* and has ended without more of them */
    check_status(scopes_mirror_record(&r, mirror), 0);
    scopes_mirror_ledger(mirror, SIZE_MAX, &l);
    cr_expect_eq(l.lost, 30);
    cr_expect_eq(l.unread, 0);
    scopes_mirror_close(mirror);
    paths_map_destroy(app);
}

Test(gather_ledger, refuses_tuples_that_come_twice_and_processes_that_are_not)
{
    paths_map *app = app_of(2);
    scopes_mirror *mirror;
    scopes_record first = record_of(SCOPES_RECORD_COUNTED, 0, "x", 0, 10);
    scopes_record again = record_of(SCOPES_RECORD_COUNTED, 0, "x", 9, 1);
    scopes_record none = record_of(SCOPES_RECORD_COUNTED, 2, "x", 0, 1);

    check_status(scopes_mirror_open(&mirror, NULL, app), 0);
    check_status(scopes_mirror_record(&first, mirror), 0);
    check_status(scopes_mirror_record(&again, mirror), PASTSET_EPROTO);
    check_status(scopes_mirror_record(&none, mirror), PASTSET_EPROTO);
    scopes_mirror_close(mirror);
    paths_map_destroy(app);
}

/* A stream may be far ahead of the others while its leaf has more. */
Test(gather_windows, are_given_when_every_process_is_past_them)
{
    paths_map *app = app_of(2);
    scopes_windows *windows;
    scopes_table *table;
    scopes_statistic sum = {.collector = 1, .window = 5, .count = 2};
    scopes_record r = record_of(SCOPES_RECORD_STATISTICS, 0, "", 0, 0);
    scopes_record ledger = record_of(SCOPES_RECORD_LEDGER, 0, "", 0, 0);

    check_status(scopes_windows_create(&windows, 1000, app), 0);
    r.body = &sum;
    r.count = 1;
    r.bytes = sizeof(sum);
    check_status(scopes_windows_record(&r, windows), 0);
    sum.window = 6;
    check_status(scopes_windows_record(&r, windows), 0);
    ledger.more = true;
    check_status(scopes_windows_record(&ledger, windows), 0);
    check_status(scopes_windows_take(windows, false, &table), 0);
    cr_expect_null(table); /* as process 0 has more */
    ledger.more = false;
    check_status(scopes_windows_record(&ledger, windows), 0);
    r.process = 1;
    sum.window = 5;
    check_status(scopes_windows_record(&r, windows), 0);
    check_status(scopes_windows_take(windows, false, &table), 0);
    cr_expect_null(table); /* as process 1 is in it still */
    sum.window = 6;
    ledger.process = 1;
    check_status(scopes_windows_record(&r, windows), 0);
    check_status(scopes_windows_record(&ledger, windows), 0);
    check_status(scopes_windows_take(windows, false, &table), 0);
    cr_assert_not_null(table);
    cr_expect_eq(scopes_table_rows(table), 2);
    scopes_table_destroy(table);
    check_status(scopes_windows_take(windows, false, &table), 0);
    cr_expect_null(table);
    check_status(scopes_windows_take(windows, true, &table), 0);
    cr_assert_not_null(table);
    scopes_table_destroy(table);
    scopes_windows_destroy(windows);
    paths_map_destroy(app);
}

/* --- maps --- */

static paths_map *app_of(unsigned processes)
{
    paths_map *app;
    char name[16];

    check_status(paths_map_create(&app, "app"), 0);
    for (unsigned i = 0; i < processes; i++) {
        snprintf(name, sizeof(name), "h%u", i);
        uint32_t process = paths_map_add_process(app, name);
        snprintf(name, sizeof(name), "127.0.0.%u:70%02u", i + 1, i);
        paths_attributes_set(&app->processes[process].attributes, "address",
                             name);
    }
    return app;
}

static paths_map *tree_of(unsigned processes,
                          const scopes_gather_options *options)
{
    paths_map *app = app_of(processes), *map;

    check_status(scopes_register(), 0);
    check_status(scopes_gather_map(&map, app, options), 0);
    paths_map_destroy(app);
    return map;
}

/* How many of the ways of a node lead to children. */
static unsigned children_of(const paths_map *map, const paths_map_node *node)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < node->out_count; i++) {
        const char *use =
            paths_attributes_get(&map->edges[node->out[i]].attributes, "use");
        count += use && strcmp(use, "read") == 0;
    }
    return count;
}

/* Every leaf is reached from the root, once. */
static unsigned leaves_below(const paths_map *map, const char *thread)
{
    const paths_map_node *node = &map->nodes[paths_map_find_node(map, thread)];
    unsigned count = 0;

    for (uint32_t i = 0; i < node->out_count; i++) {
        uint32_t nodes[PATHS_PATH_NODES];
        size_t length =
            paths_map_walk(map, node->out[i], nodes, PATHS_PATH_NODES);
        const paths_map_node *end = &map->nodes[nodes[length - 1]];
        const char *use =
            paths_attributes_get(&map->edges[node->out[i]].attributes, "use");
        char below[300];
        if (strcmp(use, "read") != 0)
            continue;
        if (strncmp(end->name, "traces.", 7) == 0) {
            count++;
            continue;
        }
        snprintf(below, sizeof(below), "gather.%s", end->name + 9);
        count += leaves_below(map, below);
    }
    return count;
}

Test(gather_map, of_a_flat_tree_leads_from_the_root_to_each_process)
{
    scopes_gather_options options = {.run = "/tmp/run"};
    paths_map *map = tree_of(5, &options);
    uint32_t root = paths_map_find_node(map, "scope");

    cr_expect_str_eq(map->processes[0].name, "scope");
    cr_expect_eq(map->process_count, 6);
    cr_expect_eq(children_of(map, &map->nodes[root]), 5);
    cr_expect_eq(leaves_below(map, "scope"), 5);
    cr_expect_str_eq(
        paths_attributes_get(&map->processes[3].attributes, "address"),
        "127.0.0.3");
    paths_map_destroy(map);
}

Test(gather_map, has_no_gatherer_with_more_children_than_its_fanout)
{
    for (unsigned processes = 1; processes <= 17; processes++) {
        for (unsigned fanout = 2; fanout <= 4; fanout++) {
            scopes_gather_options options = {.run = "/r", .fanout = fanout};
            paths_map *map = tree_of(processes, &options);
            for (uint32_t i = 0; i < map->node_count; i++) {
                const paths_map_node *node = &map->nodes[i];
                cr_expect_leq(children_of(map, node), fanout,
                              "%u processes: %s", processes, node->name);
                if (strncmp(node->name, "gather.", 7) == 0)
                    cr_expect_geq(children_of(map, node), 2);
            }
            cr_expect_eq(leaves_below(map, "scope"), processes,
                         "%u processes by %u", processes, fanout);
            paths_map_destroy(map);
        }
    }
}

/* How many proxies of other processes lead to one. */
static unsigned ways_to(const paths_map *map, uint32_t process)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < map->edge_count; i++) {
        const paths_map_node *from = &map->nodes[map->edges[i].from];
        count += from->process != process &&
                 map->nodes[map->edges[i].to].process == process;
    }
    return count;
}

Test(gather_map, gathers_within_a_machine_first)
{
    static const uint32_t machines[] = {1, 0, 1, 2, 1, 0, 1};
    static const char *const names[] = {"scope", "scope.h1", "scope.h0",
                                        "scope.h3"};
    scopes_gather_options options = {.fanout = 2,
                                     .machines = machines,
                                     .machine_count = 3,
                                     .root_address = "10.0.0.9"};
    paths_map *map = tree_of(7, &options);

    cr_assert_eq(map->process_count, 4);
    cr_expect_eq(leaves_below(map, "scope"), 7);
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_str_eq(map->processes[i].name, names[i]);
        cr_expect_eq(ways_to(map, i), i > 0, "to %s", names[i]);
    }
    for (uint32_t i = 0; i < map->node_count; i++) {
        cr_expect_leq(children_of(map, &map->nodes[i]), 2);
        cr_expect_null(paths_node_get(&map->nodes[i], "run"));
    }
    cr_expect_str_eq(
        paths_attributes_get(&map->processes[0].attributes, "address"),
        "10.0.0.9");
    /* Loopback leads to no other machine. */
    cr_expect_null(
        paths_attributes_get(&map->processes[1].attributes, "address"));
    paths_map_destroy(map);
}

Test(gather_map, without_a_fanout_reads_each_process_of_a_machine)
{
    static const uint32_t machines[] = {0, 0, 1};
    scopes_gather_options options = {.machines = machines, .machine_count = 2};
    paths_map *map = tree_of(3, &options);

    cr_expect_eq(map->process_count, 3);
    cr_expect_eq(
        children_of(map, &map->nodes[paths_map_find_node(map, "scope")]), 3);
    cr_expect_eq(ways_to(map, 1), 2);
    paths_map_destroy(map);
}

Test(gather_map, says_what_was_asked_for_as_attributes)
{
    scopes_gather_options options = {
        .run = "/r",
        .collectors = "1 2",
        .min_ns = 500,
        .window_ns = 1000000,
        .throttle = {
            .interval_ms = 20, .batch = 100, .share = 0.25, .lag = 7000}};
    paths_map *map = tree_of(1, &options);
    const paths_map_node *read =
        &map->nodes[paths_map_find_node(map, "traces.h0")];
    const paths_map_node *filter =
        &map->nodes[paths_map_find_node(map, "filter.h0")];
    const paths_map_node *statistics =
        &map->nodes[paths_map_find_node(map, "statistics.h0")];

    cr_expect_str_eq(paths_node_get(read, "interval"), "20ms");
    cr_expect_str_eq(paths_node_get(read, "batch"), "100");
    cr_expect_str_eq(paths_node_get(read, "share"), "0.25");
    cr_expect_str_eq(paths_node_get(read, "lag"), "7000");
    cr_expect_str_eq(paths_node_get(filter, "collectors"), "1 2");
    cr_expect_str_eq(paths_node_get(filter, "least"), "500ns");
    cr_expect_str_eq(paths_node_get(statistics, "window"), "1000000ns");
    paths_map_destroy(map);
}

Test(gather_map, is_encrypted_as_the_run_is)
{
    scopes_gather_options options = {.run = "/r"};
    paths_map *app = app_of(2), *map;

    paths_attributes_set(&app->attributes, "encrypt", "always");
    paths_attributes_set(&app->processes[1].attributes, "encrypt", "never");
    check_status(scopes_register(), 0);
    check_status(scopes_gather_map(&map, app, &options), 0);
    cr_expect_str_eq(paths_attributes_get(&map->attributes, "encrypt"),
                     "always");
    cr_expect_null(
        paths_attributes_get(&map->processes[1].attributes, "encrypt"));
    cr_expect_str_eq(
        paths_attributes_get(&map->processes[2].attributes, "encrypt"),
        "never");
    paths_map_destroy(map);
    paths_map_destroy(app);
}

Test(gather_map, refuses_what_would_be_no_tree)
{
    scopes_gather_options one = {.run = "/r", .fanout = 1};
    scopes_gather_options small = {.run = "/r", .message_bytes = 100};
    static const uint32_t machines[] = {0, 2};
    scopes_gather_options idle = {.machines = machines, .machine_count = 3};
    paths_map *app = app_of(2), *map;

    check_status(scopes_gather_map(&map, app, &one), PASTSET_EINVAL);
    check_status(scopes_gather_map(&map, app, &small), PASTSET_EINVAL);
    check_status(scopes_gather_map(&map, app, &idle), PASTSET_EINVAL);
    check_error("machine 1 has no process");
    paths_map_destroy(app);
}
