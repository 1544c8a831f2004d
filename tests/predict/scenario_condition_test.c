/* scenario_condition_test.c - one condition as a text: what it tells, about
 * what, and what is refused. */
#include "predict/cluster/condition.h"
#include "tests/support/check.h"
#include "predict/cluster/cluster_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define OF_LINKS (PREDICT_OF_LINKS | PREDICT_BUSY)
#define ANY (PREDICT_OF_NODES | OF_LINKS)

static const char *const names[] = {"n0", "n1", "big-box", "n1-big"};
static predict_condition c;

static int parse(const char *text)
{
    return predict_condition_parse(&c, text, ANY, names, COUNT(names));
}

TestSuite(condition, .timeout = 120);

Test(condition, tells_what_was_said_and_what_was_not)
{
    static const struct {
        const char *text;
        unsigned told;
    } said[] = {
        {"n0:load=0", PREDICT_LOAD},
        {"n0:law=fair", PREDICT_SCHEDULER},
        {"n0:speed=1", PREDICT_SPEED},
        {"n0:waiting=sleep", PREDICT_WAITING},
        {"n0:session=same", PREDICT_SESSION},
        {"n0:speed=1,load=0,law=credit,waiting=spin,session=other",
         PREDICT_OF_NODES},
        {"n0-n1:bandwidth=1mbit", PREDICT_BANDWIDTH},
        {"n0-n1:latency=0", PREDICT_LATENCY},
        {"n0-n1:latency=0us", PREDICT_LATENCY},
        {"n0-n1:rate=1mbit", PREDICT_RATE},
        {"n0-n1:burst=0", PREDICT_BURST},
        {"n0-n1:alone=0s", PREDICT_ALONE},
        {"n0-n1:busy=0", PREDICT_BUSY},
        {"n0-n1:latency=1s,bandwidth=1B,rate=1B,burst=1,alone=1s",
         PREDICT_OF_LINKS},
    };
    for (size_t i = 0; i < COUNT(said); i++) {
        check_status(parse(said[i].text), 0);
        cr_expect_eq(c.told, said[i].told, "\"%s\" tells %x", said[i].text,
                     c.told);
        cr_expect(!c.all);
    }
}

Test(condition, of_a_node_has_how_it_waits_and_whose_its_load_is)
{
    static const char *const words[] = {"sleep", "spin", "yield"};
    char text[32];

    for (uint32_t i = 0; i < PREDICT_WAITINGS; i++) {
        snprintf(text, sizeof(text), "n1:waiting=%s", words[i]);
        check_status(parse(text), 0);
        cr_expect_eq(c.waiting, i);
    }
    check_status(parse("n1:load=1,session=other"), 0);
    cr_expect(c.of_other_session);
    check_status(parse("n1:load=1,session=same"), 0);
    cr_expect(!c.of_other_session);
    check_status(parse("n1:waiting=spins"), PASTSET_EINVAL);
    check_error("waiting=spins");
    check_error("sleep, spin or yield");
    check_status(parse("n1:session="), PASTSET_EINVAL);
    check_error("same, other");
}

Test(condition, of_a_node_has_load_law_and_speed)
{
    check_status(parse("n1:load=1.5,law=eevdf:2ms,speed=.5"), 0);
    cr_expect_eq(c.load, 1.5);
    cr_expect_eq(c.scheduler.credit_s, 0);
    cr_expect_eq(c.scheduler.slice_s, 2e-3);
    cr_expect_eq(c.speed, 0.5);
    for (uint32_t i = 0; i < COUNT(names); i++)
        cr_expect_eq(predict_condition_of_node(&c, i), i == 1);
    cr_expect(!predict_condition_of_link(&c, 1, 1));
    check_status(parse("n1:load=1,load=2"), 0);
    cr_expect_eq(c.load, 2, "the last one counts");
    cr_expect_eq(c.speed, 0, "nothing stays of what was read before");
}

Test(condition, of_a_link_has_its_units)
{
    check_status(parse("n1-n0:latency=9us,bandwidth=13mbit,rate=9.6mbit,burst="
                       "1600,alone=1.5ms,"
                       "busy=0.25"),
                 0);
    cr_expect_eq(c.wire.bandwidth, 13e6 / 8);
    cr_expect_eq(c.wire.latency_s, 9e-6);
    cr_expect_eq(c.flow.rate, 1.2e6);
    cr_expect_eq(c.flow.burst, 1600);
    cr_expect_eq(c.flow.latency_s, 1.5e-3);
    cr_expect_eq(c.busy, 0.25);
    check_status(parse("n1-n0:latency=2min,bandwidth=3kB"), 0);
    cr_expect_eq(c.wire.latency_s, 120);
    cr_expect_eq(c.wire.bandwidth, 3e3);
    check_status(parse("n1-n0:latency=250ns,bandwidth=1gbit"), 0);
    cr_expect_eq(c.wire.latency_s, 250e-9);
    cr_expect_eq(c.wire.bandwidth, 1.25e8);
}

Test(condition, of_a_link_is_about_it_in_both_directions)
{
    check_status(parse("n1-n0:bandwidth=1mbit"), 0);
    cr_expect(predict_condition_of_link(&c, 0, 1));
    cr_expect(predict_condition_of_link(&c, 1, 0));
    cr_expect(!predict_condition_of_link(&c, 0, 2));
    cr_expect(!predict_condition_of_link(&c, 1, 1));
    cr_expect(!predict_condition_of_node(&c, 0));
}

Test(condition, a_star_is_all_nodes_or_all_links)
{
    check_status(parse("*:load=1"), 0);
    cr_expect(c.all);
    cr_expect(predict_condition_of_node(&c, 3));
    cr_expect(!predict_condition_of_link(&c, 0, 3));
    check_status(parse("*:bandwidth=1mbit"), 0);
    cr_expect(predict_condition_of_link(&c, 0, 3));
    cr_expect(!predict_condition_of_node(&c, 3));
}

Test(condition, names_may_have_dashes_in_them)
{
    static const struct {
        const char *text;
        uint32_t a, b;
    } links[] = {{"big-box-n1:bandwidth=1mbit", 2, 1},
                 {"n0-n1-big:bandwidth=1mbit", 0, 3},
                 {"n1-n1-big:bandwidth=1mbit", 1, 3},
                 {"n1-big-big-box:bandwidth=1mbit", 3, 2}};
    for (size_t i = 0; i < COUNT(links); i++) {
        check_status(parse(links[i].text), 0);
        cr_expect_eq(c.a, links[i].a, "%s", links[i].text);
        cr_expect_eq(c.b, links[i].b, "%s", links[i].text);
    }
    check_status(parse("n1-big:load=1"), 0);
    cr_expect(predict_condition_of_node(&c, 3),
              "what it tells makes it a node");
    check_status(parse("n1-big:bandwidth=1mbit"), PASTSET_ENOENT);
    check_error("no link \"n1-big\"");
}

Test(condition, a_name_may_have_an_equals_sign_in_it)
{
    static const char *const odd[] = {"a=b"};
    check_status(predict_condition_parse(&c, "a=b:load=1", ANY, odd, 1), 0);
    cr_expect_eq(c.a, 0);
}

Test(condition, a_name_that_can_be_two_links_is_refused)
{
    static const char *const two[] = {"a", "b-c", "a-b", "c"};
    check_status(
        predict_condition_parse(&c, "a-b-c:bandwidth=1mbit", ANY, two, 4),
        PASTSET_EINVAL);
    check_error("\"a-b-c\" can be read as 2 links");
    check_status(
        predict_condition_parse(&c, "a-b-c:bandwidth=1mbit", ANY, two, 3), 0);
    cr_expect_eq(c.a, 0);
    cr_expect_eq(c.b, 1);
}

Test(condition, what_is_not_there_is_told_with_what_is)
{
    check_status(parse("n7:load=1"), PASTSET_ENOENT);
    check_error("there is no node \"n7\"; the nodes are: n0, n1, big-box, "
                "n1-big");
    check_status(parse("n0-n7:bandwidth=1mbit"), PASTSET_ENOENT);
    check_error("there is no link \"n0-n7\"");
    check_status(parse("n0:bandwidth=1mbit"), PASTSET_ENOENT);
    check_status(parse("n:load=1"), PASTSET_ENOENT);
    check_status(parse("n00:load=1"), PASTSET_ENOENT);
    check_status(parse("-:bandwidth=1mbit"), PASTSET_ENOENT);
    check_status(parse("**:load=1"), PASTSET_ENOENT);
    check_status(parse("n0-*:bandwidth=1mbit"), PASTSET_ENOENT);
    check_status(predict_condition_parse(&c, "n0:load=1", ANY, names, 0),
                 PASTSET_ENOENT);
    check_status(parse("n0-n0:bandwidth=1mbit"), PASTSET_EINVAL);
    check_error("from a node to itself");
}

Test(condition, more_names_than_fit_end_with_dots)
{
    static char text[90][8];
    const char *many[90];
    for (int i = 0; i < 90; i++) {
        snprintf(text[i], sizeof(text[i]), "node%02d", i);
        many[i] = text[i];
    }
    check_status(predict_condition_parse(&c, "x:load=1", ANY, many, 90),
                 PASTSET_ENOENT);
    check_error("node00, node01, ");
    cr_expect_str_eq(strstr(pastset_error(), ", ..."), ", ...");
}

Test(condition, texts_that_are_none_are_refused_with_a_reason)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"",
         "is not a condition: write it as n0:load=1 or n0-n1:bandwidth=10mbit"},
        {"n0", "\"n0\" is not a condition: write it as"},
        {"n0:", "\"n0:\" is not a condition: write it as"},
        {"n0=", "\"n0=\" is not a condition: write it as"},
        {":load=1", "is not a condition: write it as"},
        {"load=1", "is not a condition: write it as"},
        {":", "is not a condition: write it as"},
        {"=", "is not a condition: write it as"},
        {"n0:load", "\"n0:load\" is not a condition: write it as"},
        {"n0:speed=1,load", "\"load\" is not a condition of a node"},
        {"n0:load=1,", "\"\" is not a condition"},
        {"n0:,load=1", "\"n0:,load=1\" is not a condition: write it as"},
        {"n0:x=2", "\"x=2\" is not a condition"},
        {"n0:LOAD=2", "\"LOAD=2\" is not a condition"},
        {"n0:load=1,speed:2", "\"speed:2\" is not a condition"},
        {"n0:load=", "n0:load=: the load \"\" is not a number from 0"},
        {"n0:load=-1", "the load \"-1\" is not a number from 0"},
        {"n0:load=+1", "not a number from 0"},
        {"n0:load=nan", "not a number from 0"},
        {"n0:load=inf", "not a number from 0"},
        {"n0:load=1e3", "not a number from 0"},
        {"n0:load=0x1", "not a number from 0"},
        {"n0:load=1.2.3", "not a number from 0"},
        {"n0:load=.", "not a number from 0"},
        {"n0:load= 1", "not a number from 0"},
        {"n0:load=1 ", "not a number from 0"},
        {"n0:speed=0", "the speed must be above 0"},
        {"n0:speed=x", "the speed \"x\" is not a number"},
        {"n0:law=no", "\"no\" is not a law"},
        {"n0-n1:bandwidth=10", "\"10\" is not a rate"},
        {"n0-n1:latency=10", "\"10\" is not a duration"},
        {"n0-n1:bandwidth=-10mbit", "\"-10mbit\" is not a rate"},
        {"n0-n1:bandwidth= 10mbit", "\" 10mbit\" is not a rate"},
        {"n0-n1:bandwidth=nanmbit", "\"nanmbit\" is not a rate"},
        {"n0-n1:bandwidth=99999999999999999999gbit", "is not a rate"},
        {"n0-n1:latency=99999999999999999999s", "is not a duration"},
        {"n0-n1:bandwidth=0mbit", "the bandwidth \"0mbit\" must be above 0"},
        {"n0-n1:bandwidth=10mbit,1parsec",
         "n0-n1:bandwidth=10mbit,1parsec: \"1parsec\""},
        {"n0-n1:rate=0B", "must be above 0"},
        {"n0-n1:rate=400us", "\"400us\" is not a rate"},
        {"n0-n1:alone=10mbit", "\"10mbit\" is not a duration"},
        {"n0-n1:burst=x", "the burst \"x\" is not a number"},
        {"n0-n1:busy=1.5", "the busy share"},
        {"n0-n1:busy=nan", "the busy share \"nan\" is not a number"},
        {"n0:load=1,bandwidth=10mbit",
         "either of a node, n0:load=1, or of a link"},
        {"n0-n1:busy=0,speed=1", "either of a node, n0:load=1, or of a link"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        int err = parse(wrong[i].text);
        cr_expect_eq(err, PASTSET_EINVAL, "\"%s\": %s", wrong[i].text,
                     pastset_status_name(err));
        cr_expect(strstr(pastset_error(), wrong[i].says), "\"%s\": %s",
                  wrong[i].text, pastset_error());
    }
}

/* As conditions were written before. */
Test(condition, older_forms_are_refused_with_the_one_of_now)
{
    static const struct {
        const char *text, *says;
    } older[] = {
        {"n0=load:1", "\"n0=load:1\" is an older form: write it as n0:load=1"},
        {"*=load:0.5,law:credit", "write it as *:load=0.5,law=credit"},
        {"n0=law:bounded:6ms", "write it as n0:law=bounded:6ms"},
        {"n1=speed:2", "write it as n1:speed=2"},
        {"n0-n1=10mbit,400us",
         "write it as n0-n1:bandwidth=10mbit,latency=400us"},
        {"*=10mbit", "write it as *:bandwidth=10mbit"},
        {"n0-n1=0", "write it as n0-n1:latency=0"},
        {"n0-n1=13mbit,9us,rate:9.6mbit,burst:1600,alone:20us,busy:0.3",
         "write it as n0-n1:bandwidth=13mbit,latency=9us,rate=9.6mbit,"
         "burst=1600,alone=20us,busy=0.3"},
        {"n0=load=1", "write it as n0:load=1"},
        {"n0:load:1", "write it as n0:load=1"},
        {"n0-n1:10mbit", "write it as n0-n1:bandwidth=10mbit"},
        {"n0=load:1,speed=2", "write it as n0:load=1,speed=2"},
    };
    for (size_t i = 0; i < COUNT(older); i++) {
        char *now;
        check_status(parse(older[i].text), PASTSET_EINVAL);
        cr_expect(strstr(pastset_error(), older[i].says), "\"%s\": %s",
                  older[i].text, pastset_error());
        now = strdup(strstr(pastset_error(), "as ") + strlen("as "));
        check_status(parse(now), 0);
        free(now);
    }
    check_status(predict_condition_check("10mbit,400us", ANY | PREDICT_UNNAMED),
                 PASTSET_EINVAL);
    check_error("write it as bandwidth=10mbit,latency=400us");
    check_status(predict_condition_check("n0=load:1", PREDICT_OF_LINKS),
                 PASTSET_EINVAL);
    check_error("write it as n0-n1:latency=400us,bandwidth=10mbit or");
}

Test(condition, without_a_name_is_of_all_links_where_that_is_allowed)
{
    check_status(predict_condition_parse(
                     &c, "latency=40us,bandwidth=900mbit,busy=0.3",
                     OF_LINKS | PREDICT_UNNAMED, names, COUNT(names)),
                 0);
    cr_expect(c.all);
    cr_expect_eq(c.wire.latency_s, 40e-6);
    cr_expect_eq(c.wire.bandwidth, 9e8 / 8);
    cr_expect_eq(c.busy, 0.3);
    check_status(predict_condition_parse(&c, "n0-n1:busy=0.3",
                                         OF_LINKS | PREDICT_UNNAMED, names,
                                         COUNT(names)),
                 0);
    cr_expect(!c.all && c.a == 0 && c.b == 1);
    check_status(predict_condition_parse(&c, "latency=40us", OF_LINKS, names,
                                         COUNT(names)),
                 PASTSET_EINVAL);
    check_error(
        "\"latency=40us\" is not a condition: write it as n0-n1:latency=");
    check_status(predict_condition_check("load=1", OF_LINKS | PREDICT_UNNAMED),
                 PASTSET_EINVAL);
}

Test(condition, is_checked_before_the_names_are_known)
{
    check_status(predict_condition_check("n7:load=1", ANY), 0);
    check_status(predict_condition_check("n7-n8:latency=1ms", ANY), 0);
    check_status(predict_condition_check("n7:load=x", ANY), PASTSET_EINVAL);
    check_error("not a number from 0");
}

/* What is printed of a link can be read again. */
Test(condition, the_text_of_a_link_can_be_read)
{
    static const predict_wire wires[] = {
        {151.2e-6, 94.12e6 / 8}, {0, 1}, {2.5, 1.25e10}, {9e-9, 12.5e3}};
    static const predict_flow none = {0}, flow = {1.2e6, 1600, 20e-6};
    char text[PREDICT_LINK_TEXT_BYTES];
    predict_link_text(wires[0], none, text, sizeof(text));
    cr_expect_str_eq(text, "latency=151.2us,bandwidth=94.12mbit");
    for (size_t i = 0; i < COUNT(wires); i++) {
        predict_link_text(wires[i], i % 2 ? flow : none, text, sizeof(text));
        check_status(predict_condition_parse(&c, text,
                                             OF_LINKS | PREDICT_UNNAMED, names,
                                             COUNT(names)),
                     0);
        cr_expect_float_eq(c.wire.latency_s, wires[i].latency_s,
                           5e-4 * wires[i].latency_s + 1e-9);
        cr_expect_float_eq(c.wire.bandwidth, wires[i].bandwidth,
                           5e-4 * wires[i].bandwidth);
        cr_expect_eq(c.flow.rate, i % 2 ? flow.rate : 0);
        cr_expect_eq(c.flow.burst, i % 2 ? flow.burst : 0);
        cr_expect_eq(c.flow.latency_s, i % 2 ? flow.latency_s : 0);
    }
}

Test(condition, numbers_that_are_too_large_are_refused)
{
    char text[480];
    memset(text, '9', sizeof(text));
    memcpy(text, "n0:load=", 8);
    text[sizeof(text) - 1] = '\0';
    check_status(parse(text), PASTSET_EINVAL);
    check_error("not a number from 0");
    text[8 + 300] = '\0';
    check_status(parse(text), 0);
    cr_expect(isfinite(c.load) && c.load > 1e299);
}

/* 511 bytes are read, 512 are not. */
Test(condition, texts_that_are_too_long_are_refused)
{
    char text[513];
    memset(text, 'n', sizeof(text));
    memcpy(text + 504, ":load=1", 8);
    check_status(parse(text), PASTSET_ENOENT);
    memcpy(text + 505, ":load=1", 8);
    check_status(parse(text), PASTSET_EINVAL);
    check_error("is too long");
}

/* Says what is allowed, and no more. */
Test(condition, tells_only_what_it_may)
{
    check_status(predict_condition_parse(&c, "n0-n1:bandwidth=10mbit",
                                         PREDICT_OF_NODES, names, COUNT(names)),
                 PASTSET_EINVAL);
    check_error("\"bandwidth=10mbit\" is not a condition of a node: those are "
                "load=NUMBER");
    cr_expect_null(strstr(pastset_error(), "of a link"));
    check_status(predict_condition_parse(&c, "n0:load=1", PREDICT_OF_LINKS,
                                         names, COUNT(names)),
                 PASTSET_EINVAL);
    check_error(
        "\"load=1\" is not a condition of a link: those are latency=TIME");
    cr_expect_null(strstr(pastset_error(), "busy"));
    cr_expect_null(strstr(pastset_error(), "of a node"));
    check_status(predict_condition_parse(&c, "n0-n1:busy=1", PREDICT_OF_LINKS,
                                         names, COUNT(names)),
                 PASTSET_EINVAL);
    check_error("\"busy=1\" is not a condition of a link");
    check_status(predict_condition_parse(&c, "n0", PREDICT_OF_NODES, names,
                                         COUNT(names)),
                 PASTSET_EINVAL);
    check_error("write it as n0:load=1 or *:load=0.5,law=fair");
    check_status(predict_condition_parse(&c, "n0", PREDICT_OF_LINKS, names,
                                         COUNT(names)),
                 PASTSET_EINVAL);
    check_error("write it as n0-n1:latency=400us,bandwidth=10mbit or "
                "*:bandwidth=10mbit");
}

Test(condition, bandwidths_and_times_are_read_alone_too)
{
    double value = -1;
    check_status(predict_bandwidth_parse(&value, "10mbit"), 0);
    cr_expect_eq(value, 1.25e6);
    check_status(predict_bandwidth_parse(&value, "0mbit"), PASTSET_EINVAL);
    check_status(predict_bandwidth_parse(&value, "10ms"), PASTSET_EINVAL);
    check_status(predict_time_parse(&value, "400us"), 0);
    cr_expect_eq(value, 4e-4);
    check_status(predict_time_parse(&value, "400"), PASTSET_EINVAL);
    check_status(predict_time_parse(&value, "nan"), PASTSET_EINVAL);
    cr_expect_eq(value, 4e-4, "what was refused changed it");
}
