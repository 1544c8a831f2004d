/* networks_test.c - who reaches whom, and over whom. */
#include "paths/map/networks_internal.h"

#include "paths/map/networks.h"
#include "tests/support/golden.h"

#define MOST 24

TestSuite(networks, .timeout = 120);

static paths__networks *networks_of(const paths_map *map)
{
    paths__networks *n;

    check_status(paths__networks_create(&n, map), 0);
    return n;
}

/* h0 - h1 - h2 - h3, of which neighbours are in a network of two. */
static const char *const line =
    "digraph g {"
    "subgraph cluster_h0 { address=\"10.0.0.1:7000\"; networks=a; }"
    "subgraph cluster_h1 { address=\"10.0.0.2:7001\";"
    "  networks=\"a b=10.0.1.1\"; }"
    "subgraph cluster_h2 { address=\"10.0.1.2:7002\";"
    "  networks=\"b, c=fd00::1\"; }"
    "subgraph cluster_h3 { address=\"[fd00::2]:7003\"; networks=c; } }";

Test(networks, lead_over_gateways)
{
    paths_map *map = map_parse(line);
    paths__networks *n = networks_of(map);

    for (uint32_t from = 0; from < 4; from++) {
        for (uint32_t to = 0; to < 4; to++) {
            uint32_t next = from < to ? from + 1 : from - 1;
            cr_expect_eq(paths__networks_next(n, from, to),
                         from == to ? to : next);
            cr_expect_eq(paths__networks_reach(n, from, to),
                         from == to || next == to);
        }
    }
    paths__networks_destroy(n);
    paths_map_destroy(map);
}

Test(networks, say_where_a_process_is_reached)
{
    static const struct {
        uint32_t from, to;
        const char *address;
    } at[] = {{0, 1, "10.0.0.2:7001"},
              {2, 1, "10.0.1.1:7001"},
              {1, 2, "10.0.1.2:7002"},
              {3, 2, "[fd00::1]:7002"},
              {2, 3, "[fd00::2]:7003"}};
    paths_map *map = map_parse(line);
    paths__networks *n = networks_of(map);
    char text[PATHS_ADDRESS_TEXT];

    for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
        check_status(
            paths__networks_address(n, map, at[i].from, at[i].to, text), 0);
        cr_expect_str_eq(text, at[i].address);
    }
    cr_expect(paths_networks_several(&map->processes[1].attributes));
    cr_expect_not(paths_networks_several(&map->processes[0].attributes));
    paths__networks_destroy(n);
    paths_map_destroy(map);
}

Test(networks, are_none_where_nobody_says_so)
{
    paths_map *map = map_parse("digraph g { subgraph cluster_h0 {"
                               "address=\"10.0.0.1\"; networks=\" \"; }"
                               "subgraph cluster_h1 {} }");
    paths__networks *n = networks_of(map);
    char text[PATHS_ADDRESS_TEXT];

    cr_expect_null(n);
    cr_expect(paths__networks_reach(n, 0, 1));
    cr_expect_eq(paths__networks_next(n, 0, 1), 1);
    check_status(paths__networks_address(n, map, 1, 0, text), PASTSET_EMAP);
    check_error("\"10.0.0.1\" has no port");
    paths_map_destroy(map);
}

Test(networks, without_a_word_a_process_is_in_all)
{
    paths_map *map =
        map_parse("digraph g { subgraph cluster_a { networks=x; }"
                  "subgraph cluster_b { networks=y; } subgraph cluster_c {} }");
    paths__networks *n = networks_of(map);

    cr_expect_eq(paths__networks_next(n, 0, 1), 2);
    cr_expect_eq(paths__networks_next(n, 2, 1), 1);
    cr_expect_eq(paths__networks_next(n, 1, 2), 2);
    paths__networks_destroy(n);
    paths_map_destroy(map);
}

Test(networks, are_refused_with_what_is_wrong)
{
    static const struct {
        const char *text, *why;
    } bad[] = {{"a =", "\"\" is no name of a network"},
               {"a b!c", "\"b!c\" is no name of a network"},
               {"a=", "a=: write an address"},
               {"a=here", "a=here: write an address"},
               {"a=10.0.0.1=b", "write an address"},
               {"a=10.0.0.1:80", "the port is that of the process's address"}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        check_status(paths__networks_check(bad[i].text), PASTSET_EMAP);
        check_error(bad[i].why);
    }
    check_status(paths__networks_check(" lan,wan=10.0.0.1\tx-1=::1 "), 0);
}

Test(networks, a_map_without_a_way_to_its_first_process_is_refused)
{
    paths_map *map =
        map_parse("digraph g { subgraph cluster_a { networks=x;"
                  "  t [kind=thread, number=0]; e [kind=element, type=u8]; }"
                  "subgraph cluster_b { networks=y;"
                  "  u [kind=thread, number=1]; f [kind=element, type=u8]; }"
                  "t -> e [as=to, use=write]; u -> f [as=to, use=write]; }");
    paths_diagnostics found = {NULL, 0};

    check_status(paths_map_check(map, &found), PASTSET_EMAP);
    cr_assert_eq(found.count, 1);
    cr_expect(strstr(found.items[0].text, "no way from here to process a"),
              "%s", found.items[0].text);
    paths_diagnostics_clear(&found);
    paths_map_destroy(map);
}

/* What would be without effect, and nobody would find out. */
Test(networks, are_meant_where_they_are_misspelt)
{
    static const struct {
        const char *graph, *process, *why;
    } bad[] = {{"", "networkz=x;",
                "an attribute networkz; did you mean "
                "networks?"},
               {"encrypts=always;", "", "encrypts; did you mean encrypt?"},
               {"addresz=\"127.0.0.1\";", "", "addresz; did you mean address?"},
               {"succession=no;", "", "succession=no: choose true or false"},
               {"succession=false;", "", NULL},
               {"", "", NULL},
               {"tunnel=\"8x8\"; label=x; pencolor=red;", "owner=ann;", NULL}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        paths_diagnostics found = {NULL, 0};
        char text[512];
        paths_map *map;
        int err;
        snprintf(text, sizeof(text),
                 "digraph g { %s subgraph cluster_a { %s"
                 "  t [kind=thread, number=0]; e [kind=element, type=u8]; }"
                 "t -> e [as=to, use=write]; }",
                 bad[i].graph, bad[i].process);
        map = map_parse(text);
        err = paths_map_check(map, &found);
        cr_assert_eq(err, bad[i].why ? PASTSET_EMAP : 0, "%s", text);
        cr_assert_eq(found.count, bad[i].why ? 1 : 0, "%s", text);
        if (bad[i].why)
            cr_expect(strstr(found.items[0].text, bad[i].why), "%s",
                      found.items[0].text);
        paths_diagnostics_clear(&found);
        paths_map_destroy(map);
    }
}

/* IPv4 is not listened at where the process has an IPv6 address, but the other
 * way round it is. */
Test(networks, are_of_the_kind_that_a_process_listens_at)
{
    check_status(paths__networks_check_family("a b=::1", "10.0.0.1:70"),
                 PASTSET_EMAP);
    check_error("b=::1 is IPv6");
    check_status(paths__networks_check_family("a b=::1", NULL), PASTSET_EMAP);
    check_status(paths__networks_check_family("a b=10.0.0.2", "10.0.0.1"), 0);
    check_status(paths__networks_check_family("b=10.0.0.2", "[::1]:70"), 0);
}

/* --- against an independent computation --- */

static uint32_t state = 1;

static uint32_t random_below(uint32_t limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

/* Each process in up to three of few networks; some in all. */
static paths_map *map_at_random(uint32_t processes, uint32_t *sets)
{
    char text[8192] = "digraph g {";
    size_t at = strlen(text);

    for (uint32_t i = 0; i < processes; i++) {
        uint32_t words = random_below(8) ? 1 + random_below(3) : 0;
        sets[i] = words ? 0 : UINT32_MAX;
        at +=
            (size_t)sprintf(text + at, "subgraph cluster_h%u { networks=\"", i);
        for (uint32_t k = 0; k < words; k++) {
            uint32_t network = random_below(12);
            sets[i] |= 1u << network;
            at += (size_t)sprintf(text + at, "n%u ", network);
        }
        at += (size_t)sprintf(text + at, "\"; } ");
    }
    strcpy(text + at, "}");
    return map_parse(text);
}

Test(networks, give_the_shortest_ways)
{
    for (int round = 0; round < 300; round++) {
        uint32_t count = 2 + random_below(MOST - 2), sets[MOST];
        uint32_t far[MOST][MOST];
        paths_map *map = map_at_random(count, sets);
        paths__networks *n = networks_of(map);

        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k < count; k++)
                far[i][k] = i == k ? 0 : sets[i] & sets[k] ? 1 : 1000;
        for (uint32_t over = 0; over < count; over++)
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t k = 0; k < count; k++)
                    if (far[i][over] + far[over][k] < far[i][k])
                        far[i][k] = far[i][over] + far[over][k];
        for (uint32_t i = 0; n && i < count; i++) {
            for (uint32_t k = 0; k < count; k++) {
                uint32_t next = paths__networks_next(n, i, k);
                cr_assert_eq(paths__networks_reach(n, i, k), far[i][k] <= 1);
                cr_assert_eq(next == PATHS_NONE, far[i][k] >= 1000);
                if (next != PATHS_NONE && i != k) {
                    cr_assert_eq(far[i][next], 1);
                    cr_assert_eq(far[next][k] + 1, far[i][k]);
                    for (uint32_t m = 0; m < next; m++)
                        cr_assert(far[i][m] != 1 || far[m][k] + 1 != far[i][k],
                                  "not the first of the map");
                }
            }
        }
        paths__networks_destroy(n);
        paths_map_destroy(map);
    }
}
