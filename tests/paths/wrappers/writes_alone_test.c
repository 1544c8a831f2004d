/* writes_alone_test.c - an element that one collective writes is written
 * without a lock; which ones these are, and that nothing else is lost by it. */
#include <string.h>

#include "paths/engine/process_internal.h"
#include "paths/wrappers/collective_tree_internal.h"
#include "pastset/element_internal.h"
#include "tests/support/check.h"
#include "tests/support/inside.h"

TestSuite(writes_alone, .timeout = 120);

#define TUPLES 50000
#define ELEMENT "e [kind=element, type=i64, policy=discard, capacity=4];\n"
#define THREADS "t0 [kind=thread, number=0]; t1 [kind=thread, number=1];\n"

/* A program's own type, which lets both by at the same time. Its state is none
 * of a collective. */
static const paths_wrapper_type funnel = {
    .name = "funnel", .state_bytes = 8, .joins = true};

/* And one that only looks. */
static const paths_wrapper_type onlooker = {.name = "onlooker",
                                            .observes = true};

static _Atomic int finished;

static paths_map *parse(const char *text)
{
    paths_map *map;

    check_status(paths_map_parse(&map, text, strlen(text), "test.dot"), 0);
    return map;
}

static void check_shape(bool alone, const char *text)
{
    paths_map *map = parse(text);
    uint32_t i = 0;

    while (strcmp(map->nodes[i].name, "e") != 0)
        i++;
    cr_expect_eq(paths__collective_writes_alone(map, i), alone, "%s", text);
    paths_map_destroy(map);
}

Test(writes_alone, where_one_collective_and_nobody_else_leads_to_it)
{
    check_status(paths_wrapper_register(&funnel), 0);
    check_status(paths_wrapper_register(&onlooker), 0);
    check_shape(true, "digraph g { subgraph cluster_h { " ELEMENT THREADS
                      "c [kind=sum]; } t0 -> c; t1 -> c; c -> e; }");
    check_shape(true, "digraph g { subgraph cluster_h { " ELEMENT THREADS
                      "c [kind=barrier]; o [kind=onlooker]; }\n"
                      "t0 -> c; t1 -> c; c -> o; o -> e; }");
    check_shape(false, "digraph g { subgraph cluster_h { " ELEMENT THREADS
                       "c [kind=sum]; t2 [kind=thread, number=2]; }\n"
                       "t0 -> c; t1 -> c; c -> e; t2 -> e; }");
    check_shape(false, "digraph g { subgraph cluster_h { " ELEMENT THREADS
                       "c [kind=sum]; d [kind=delay]; }\n"
                       "t0 -> c; t1 -> c; c -> d; d -> e; }");
    check_shape(false, "digraph g { subgraph cluster_i { " ELEMENT "}\n"
                       "subgraph cluster_h { " THREADS "c [kind=sum]; }\n"
                       "t0 -> c; t1 -> c; c -> e; }");
    check_shape(false, "digraph g { subgraph cluster_h { " ELEMENT THREADS
                       "c [kind=broadcast]; } t0 -> c; t1 -> c; c -> e; }");
    check_shape(false, "digraph g { subgraph cluster_h { " ELEMENT THREADS
                       "c [kind=funnel]; } t0 -> c; t1 -> c; c -> e; }");
    check_shape(false, "digraph g { subgraph cluster_h { " ELEMENT THREADS
                       "} t0 -> e; t1 -> e; }");
}

static pastset_element *here(void)
{
    return pastset_space_find(paths_process_space(paths__current->process),
                              "e");
}

static int write_many(paths_thread *self, void *argument)
{
    paths_path *path;
    pastset_ledger l;
    int err = paths_open(&path, self, "e");

    (void)argument;
    for (int64_t i = 0; i < TUPLES && !err; i++)
        err = paths_write(path, &i, sizeof(i));
    if (!err && atomic_fetch_add(&finished, 1) == 1) {
        pastset_element_ledger(here(), &l);
        if (l.written != 2 * TUPLES)
            err = pastset_fail(PASTSET_EAPP, "%llu have been written",
                               (unsigned long long)l.written);
    }
    return err;
}

Test(writes_alone, not_below_what_only_joins_ways)
{
    paths_map *map;

    check_status(paths_wrapper_register(&funnel), 0);
    map = parse("digraph g { subgraph cluster_h { " ELEMENT THREADS
                "c [kind=funnel]; }\n"
                "t0 -> c [as=e]; t1 -> c [as=e]; c -> e; }");
    for (int i = 0; i < 5; i++) {
        finished = 0;
        check_status(inside_run(map, write_many, NULL), 0);
    }
    paths_map_destroy(map);
}

static int take_by_pattern(paths_thread *self, void *argument)
{
    int64_t wanted = 2, value = 0;
    pastset_pattern pattern = {.fields = 1, .values = &wanted, .bytes = 8};
    paths_path *path;
    int err = paths_open(&path, self, "e");

    (void)argument;
    for (int64_t i = 1; i <= 3 && !err; i++)
        err = paths_thread_number(self) == 0
                  ? paths_write(path, &i, sizeof(i))
                  : paths_read_last(path, &value, sizeof(value));
    if (!err)
        err = paths_take(path, &pattern, &value, sizeof(value));
    if (!err && value != wanted)
        err = pastset_fail(PASTSET_EAPP, "took %lld", (long long)value);
    return err;
}

Test(writes_alone, not_where_all_may_come_to_take)
{
    paths_map *map = parse("digraph g { subgraph cluster_h { " ELEMENT THREADS
                           "c [kind=broadcast]; }\n"
                           "t0 -> c [as=e]; t1 -> c [as=e]; c -> e; }");

    check_status(inside_run(map, take_by_pattern, NULL), 0);
    paths_map_destroy(map);
}
