/* instrument_test.c - collectors in path maps. */
#include "eventspace/instrument.h"

#include "tests/support/golden.h"
#include "tests/support/memory.h"

static paths_map *instrument(const paths_map *map,
                             eventspace_collectors collectors)
{
    eventspace_instrument_options options = {.collectors = collectors};
    paths_map *out;

    check_status(eventspace_instrument(&out, map, &options), 0);
    return out;
}

static void check_same(const paths_map *a, const paths_map *b)
{
    char *a_text = map_text(a), *b_text = map_text(b);

    cr_assert_str_eq(a_text, b_text);
    free(a_text);
    free(b_text);
}

static const paths_map_node *node(const paths_map *map, const char *name)
{
    uint32_t index = paths_map_find_node(map, name);

    cr_assert_neq(index, PATHS_NONE, "no %s", name);
    return &map->nodes[index];
}

/* Two threads join in a wrapper behind a proxy. */
#define JOIN                                                                   \
    "digraph g { "                                                             \
    "subgraph cluster_a { t0 [kind=thread, number=0]; p0 [kind=proxy]; } "     \
    "subgraph cluster_b { t1 [kind=thread, number=1]; d [kind=delay, "         \
    "latency=\"1us\"]; e [kind=element, type=i32]; } "                         \
    "t0 -> p0 [as=x, use=write, type=i32]; p0 -> d; t1 -> d; d -> e; }"

Test(instrument, puts_collectors_on_every_edge, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/generated_links.dot");
    paths_map *all = instrument(map, EVENTSPACE_ALL_COLLECTORS);

    golden_compare(map_text(all), "eventspace/golden/all.dot");
    paths_map_destroy(map);
    paths_map_destroy(all);
}

Test(instrument, puts_collectors_below_threads, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/generated.dot");
    paths_map *some = instrument(map, EVENTSPACE_THREAD_COLLECTORS);

    golden_compare(map_text(some), "eventspace/golden/threads.dot");
    paths_map_destroy(map);
    paths_map_destroy(some);
}

Test(instrument, names_collectors_below_a_join_by_the_stage_above,
     .timeout = 120)
{
    paths_map *map = map_parse(JOIN);
    paths_map *all = instrument(map, EVENTSPACE_ALL_COLLECTORS);

    cr_assert_str_eq(paths_node_get(node(all, "t0.x.ec1"), "trace"),
                     "trace.t0");
    cr_assert_str_eq(paths_node_get(node(all, "t0.x.ec2"), "trace"), "trace.b",
                     "behind the proxy");
    cr_assert_str_eq(paths_node_get(node(all, "t1.e.ec1"), "trace"),
                     "trace.t1");
    cr_assert_str_eq(paths_node_get(node(all, "d.ec"), "trace"), "trace.b");
    paths_map_destroy(map);
    paths_map_destroy(all);
}

Test(instrument, leaves_the_attributes_on_the_edge_of_the_thread,
     .timeout = 120)
{
    paths_map *map = map_parse(JOIN);
    paths_map *all = instrument(map, EVENTSPACE_ALL_COLLECTORS);
    const paths_map_edge *edge = &all->edges[node(all, "t0")->out[0]];

    cr_assert_str_eq(paths_attributes_get(&edge->attributes, "as"), "x");
    cr_assert_str_eq(paths_attributes_get(&edge->attributes, "type"), "i32");
    cr_assert_str_eq(all->nodes[edge->to].name, "t0.x.ec1");
    cr_assert_eq(all->edges[all->nodes[edge->to].out[0]].attributes.count, 0);
    paths_map_destroy(map);
    paths_map_destroy(all);
}

/* The same collectors as all, and all but those of threads on demand. */
Test(instrument, has_collectors_that_record_on_demand, .timeout = 120)
{
    static const struct {
        eventspace_collectors always, on_demand;
    } asked[] = {{EVENTSPACE_THREAD_COLLECTORS, EVENTSPACE_ALL_COLLECTORS},
                 {EVENTSPACE_NO_COLLECTORS, EVENTSPACE_ALL_COLLECTORS},
                 {EVENTSPACE_NO_COLLECTORS, EVENTSPACE_THREAD_COLLECTORS},
                 {EVENTSPACE_ALL_COLLECTORS, EVENTSPACE_THREAD_COLLECTORS}};
    paths_map *map = map_parse(JOIN), *some, *like;

    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        eventspace_instrument_options options = {.collectors = asked[i].always,
                                                 .detail = asked[i].on_demand};
        check_status(eventspace_instrument(&some, map, &options), 0);
        like = instrument(map, asked[i].always > asked[i].on_demand
                                   ? asked[i].always
                                   : asked[i].on_demand);
        cr_assert_eq(some->node_count, like->node_count);
        for (uint32_t n = 0; n < some->node_count; n++) {
            const char *detail = paths_node_get(&some->nodes[n], "detail");
            const char *name = some->nodes[n].name;
            bool is_collector = strcmp(some->nodes[n].type, "collector") == 0;
            bool of_thread = is_collector && strstr(name, ".ec1");
            bool always =
                asked[i].always == EVENTSPACE_ALL_COLLECTORS ||
                (asked[i].always == EVENTSPACE_THREAD_COLLECTORS && of_thread);
            cr_expect_str_eq(name, like->nodes[n].name);
            cr_expect(is_collector && !always ? detail && !strcmp(detail, "1")
                                              : !detail,
                      "%zu: %s", i, name);
        }
        paths_map_destroy(like);
        like = instrument(some, EVENTSPACE_ALL_COLLECTORS);
        paths_map_destroy(some);
        some = instrument(map, EVENTSPACE_ALL_COLLECTORS);
        check_same(like, some); /* they are taken out as others are */
        paths_map_destroy(like);
        paths_map_destroy(some);
    }
    paths_map_destroy(map);
}

Test(instrument, gives_each_collector_a_trace_element_if_asked, .timeout = 120)
{
    eventspace_instrument_options options = {
        .collectors = EVENTSPACE_ALL_COLLECTORS,
        .trace_per = EVENTSPACE_TRACE_PER_COLLECTOR,
        .trace_capacity = 1000,
        .trace_policy = "grow",
        .prefault = true,
    };
    paths_map *map = map_parse(JOIN), *all;

    check_status(eventspace_instrument(&all, map, &options), 0);
    cr_assert_str_eq(paths_node_get(node(all, "d.ec"), "trace"), "trace.d.ec");
    cr_assert_str_eq(paths_attributes_get(&all->attributes, "trace_capacity"),
                     "1000");
    cr_assert_str_eq(paths_attributes_get(&all->attributes, "trace_policy"),
                     "grow");
    cr_assert_str_eq(paths_attributes_get(&all->attributes, "trace_prefault"),
                     "true");
    paths_map_destroy(map);
    paths_map_destroy(all);
}

Test(instrument, gives_the_same_twice_as_once, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/generated_links.dot");
    paths_map *once = instrument(map, EVENTSPACE_ALL_COLLECTORS);
    paths_map *twice = instrument(once, EVENTSPACE_ALL_COLLECTORS);

    check_same(once, twice);
    paths_map_destroy(map);
    paths_map_destroy(once);
    paths_map_destroy(twice);
}

Test(instrument, takes_all_collectors_out_again, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/generated_links.dot");
    paths_map *all = instrument(map, EVENTSPACE_ALL_COLLECTORS);
    paths_map *none = instrument(all, EVENTSPACE_NO_COLLECTORS);

    check_same(none, map);
    paths_map_destroy(map);
    paths_map_destroy(all);
    paths_map_destroy(none);
}

Test(instrument, passes_collectors_by_that_lead_nowhere, .timeout = 120)
{
    paths_map *map = map_parse("digraph g { t [kind=thread]; a "
                               "[kind=collector]; b [kind=collector]; "
                               "t -> a -> b -> a; t -> b }");
    paths_map *all = instrument(map, EVENTSPACE_ALL_COLLECTORS);

    cr_assert_eq(all->edge_count, 0);
    cr_assert_eq(all->node_count, 1);
    paths_map_destroy(map);
    paths_map_destroy(all);
}

Test(instrument, refuses_an_unknown_policy, .timeout = 120)
{
    eventspace_instrument_options options = {.trace_policy = "drop"};
    paths_map *map = map_parse(JOIN), *out;

    check_status(eventspace_instrument(&out, map, &options), PASTSET_EINVAL);
    check_error("choose grow, discard or block");
    paths_map_destroy(map);
}

typedef struct instrumenting {
    const paths_map *map;
    paths_map *out;
} instrumenting;

static int instrument_all(void *context)
{
    instrumenting *i = context;
    eventspace_instrument_options options = {.collectors =
                                                 EVENTSPACE_ALL_COLLECTORS};

    return eventspace_instrument(&i->out, i->map, &options);
}

Test(instrument, gives_no_map_when_any_of_its_memory_is_lacking, .timeout = 120)
{
    paths_map *map = map_parse(JOIN);
    paths_map *whole = instrument(map, EVENTSPACE_ALL_COLLECTORS);
    instrumenting i = {.map = map};
    int err;

    for (unsigned at = 1; memory_fails_at(at, instrument_all, &i, &err); at++) {
        check_status(err, PASTSET_ENOMEM);
        cr_assert_null(i.out, "allocation %u", at);
    }
    check_status(err, 0);
    check_same(i.out, whole);
    paths_map_destroy(i.out);
    paths_map_destroy(whole);
    paths_map_destroy(map);
}
