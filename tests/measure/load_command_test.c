/* load_command_test.c - eventspace netbench and eventspace load, as commands.
 */
#include "tests/support/check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure/links/links.h"
#include "predict/cluster/cluster.h"
#include "predict/cluster/condition.h"
#include "tests/measure/slow_peer.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "predict/cluster/cluster_internal.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"

TestSuite(load_command, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);
TestSuite(netbench_command, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

/* The part of an output that is JSON. */
static json_t *json_of(const char *output)
{
    const char *at = strchr(output, '{');
    json_t *json;
    cr_assert_not_null(at, "no JSON in \"%s\"", output);
    json = json_loads(at, JSON_DISABLE_EOF_CHECK, NULL);
    cr_assert_not_null(json, "no JSON in \"%s\"", output);
    return json;
}

Test(netbench_command, measures_this_machine_by_itself)
{
    command p;
    command_start(&p, EVENTSPACE, "netbench", "--duration", "500ms", "--format",
                  "json", NULL);
    command_wait(&p, 60);
    /* On a busy machine larger messages may happen to be the faster ones. */
    if (p.exit_code == 1) {
        check_says(p.output, "larger messages take no longer");
    } else {
        json_t *json = json_of(p.output);
        cr_assert_eq(p.exit_code, 0);
        cr_assert(json_is_null(json_object_get(json, "address")));
        cr_assert_gt(json_array_size(json_object_get(json, "sizes")), 1);
        json_decref(json);
    }
    command_free(&p);
}

/* What is printed of a link can be given to the options that read one. */
static void check_condition(const char *text, const measure_link *link)
{
    predict_condition c;

    cr_assert_not_null(text);
    check_status(
        predict_condition_parse(&c, text, PREDICT_OF_PROFILED_LINKS, NULL, 0),
        0);
    cr_expect(c.all);
    cr_expect_float_eq(c.wire.latency_s, link->latency_s,
                       1e-3 * link->latency_s + 1e-6);
    cr_expect_float_eq(c.wire.bandwidth, link->bandwidth,
                       2e-3 * link->bandwidth + 1);
}

/* The times are the slow peer's, each way half of them: sleeping takes no less
 * than it should. L and B are the line through just these times. */
static void check_slow(const json_t *json)
{
    const json_t *sizes = json_object_get(json, "sizes");
    measure_link link = {.size_count = json_array_size(sizes)};
    cr_assert_leq(link.size_count, 12);
    for (size_t i = 0; i < link.size_count; i++) {
        const json_t *size = json_array_get(sizes, i);
        double bytes = json_number_value(json_object_get(size, "bytes"));
        double ns = json_number_value(json_object_get(size, "median_ns"));
        cr_assert_eq(bytes, (double)(1 << i));
        cr_assert_geq(2e-9 * (ns + 1), SLOW_PEER_S + SLOW_PEER_BYTE_S * bytes);
        link.sizes[i] =
            (measure_link_size){.bytes = (uint64_t)bytes, .median_s = ns / 1e9};
    }
    check_status(measure_link_fit(&link), 0);
    cr_assert_float_eq(json_number_value(json_object_get(json, "latency_ns")) /
                           1e9,
                       link.latency_s, 1e-6);
    cr_assert_float_eq(
        json_number_value(json_object_get(json, "bandwidth_mbit_s")) * 1e6 / 8,
        link.bandwidth, 1e-3 * link.bandwidth + 1);
    check_condition(json_string_value(json_object_get(json, "link")), &link);
}

Test(netbench_command, tells_latency_and_bandwidth_of_a_slow_link)
{
    command run;
    peer p;
    peer_start(&p, answer_slowly);
    command_start(&run, EVENTSPACE, "netbench", p.address, "--sizes", "1..2k",
                  "--duration", "1s", "--format", "json", NULL);
    command_wait(&run, 100);
    if (run.exit_code == 1) { /* as above */
        check_says(run.output, "larger messages take no longer");
    } else {
        json_t *json = json_of(run.output);
        cr_assert_eq(run.exit_code, 0);
        check_slow(json);
        cr_assert_str_eq(json_string_value(json_object_get(json, "address")),
                         p.address);
        json_decref(json);
    }
    command_free(&run);
    peer_end(&p);
}

Test(netbench_command, says_what_to_start_where_nobody_is)
{
    char *output =
        command_run(1, 60, EVENTSPACE, "netbench", "127.0.0.1:1", NULL);
    check_says(output, "start `eventspace netbench --serve");
    free(output);
}

Test(netbench_command, refuses_wrong_usage)
{
    static const char *const wrong[][2] = {
        {"--sizes", "9..3"},
        {"--sizes", "x"},
        {"--duration", "-1s"},
        {"--duration", "2"},
        {"--pin", "x"},
        {"--pin", "0,1"},
        {"--pin", "1-0"},
        {"--pin", ","},
        {"--format", "xml"},
        {"--clients", "1"},
        {"--listen", "127.0.0.1:0"},

    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        free(command_run(2, 60, EVENTSPACE, "netbench", wrong[i][0],
                         wrong[i][1], NULL));
    free(command_run(2, 60, EVENTSPACE, "netbench", "a", "b", NULL));
    char *said = command_run(2, 60, EVENTSPACE, "netbench", "--serve",
                             "127.0.0.1:0", NULL);
    check_says(said, "write --listen=127.0.0.1:0");
    free(said);
    said = command_run(2, 60, EVENTSPACE, "netbench", "--duration=2", NULL);
    check_says(said, "'2' has no unit; write 2ms or 2s");
    free(said);
    free(command_run(2, 60, EVENTSPACE, "netbench", "--serve", "--duration",
                     "1s", NULL));
}

/* Both ends as commands: the server says where it is, and ends when it has
 * served. */
Test(netbench_command, serves_until_it_has_served)
{
    FILE *server = popen(
        EVENTSPACE " netbench --serve --listen=127.0.0.1 --clients=1", "r");
    char address[64];
    command p;
    cr_assert_not_null(server);
    cr_assert_eq(fscanf(server, "listening at %63[^;];", address), 1);
    command_start(&p, EVENTSPACE, "netbench", address, "--duration", "300ms",
                  "--format", "csv", NULL);
    command_wait(&p, 60);
    if (p.exit_code == 0)
        check_says(p.output, "bytes,rounds,median_ns");
    else
        check_says(p.output, "larger messages take no longer");
    command_free(&p);
    cr_assert_eq(pclose(server), 0);
}

/* Whether the link has a flow of its own depends on the times; then it is in
 * the file as it was printed. */
static void check_flow(const predict_cluster *cluster, uint32_t way,
                       const json_t *link)
{
    const json_t *rate = json_object_get(link, "rate_mbit_s");
    double alone_s = json_number_value(json_object_get(link, "alone_ns")) / 1e9;
    double bytes_s = json_number_value(rate) * 1e6 / 8;
    cr_assert_gt(alone_s, 0);
    if (!json_is_number(rate) || bytes_s < 2) {
        cr_assert(!cluster->flows || cluster->flows[way].rate <= 2);
        return;
    }
    cr_assert_not_null(cluster->flows);
    cr_assert_float_eq(cluster->flows[way].rate, bytes_s, 1 + 1e-3 * bytes_s);
    cr_assert_float_eq(cluster->flows[way].latency_s, alone_s, 1e-3 * alone_s);
}

/* The cluster file has the texts of the condition. */
static void check_link_condition(const predict_cluster *cluster, uint32_t way,
                                 const char *text)
{
    static const char *const names[] = {"a", "b"};
    predict_condition c;

    cr_assert_not_null(text);
    check_status(predict_condition_parse(&c, text, PREDICT_OF_LINKS, names, 2),
                 0);
    cr_expect(predict_condition_of_link(&c, 0, 1));
    cr_expect_eq(c.wire.latency_s, cluster->wires[way].latency_s);
    cr_expect_eq(c.wire.bandwidth, cluster->wires[way].bandwidth);
}

Test(load_command, writes_machine_and_link_into_the_cluster_file)
{
    const char *file = scratch_write(
        "cluster.dot", "digraph { a [speed=2]; a -> c [latency=\"1ms\", "
                       "bandwidth=\"1gbit\"]; }\n");
    char *link, *output;
    predict_cluster *cluster;
    json_t *json;
    peer p;
    peer_start(&p, answer_slowly);
    cr_assert_gt(asprintf(&link, "b=%s", p.address), 0);
    output = command_run(0, 100, EVENTSPACE, "load", "--duration", "200ms",
                         "--machine", "a", "--cluster", file, "--measure-link",
                         link, "--format", "json", NULL);
    json = json_of(output);
    cr_assert_eq(json_array_size(json_object_get(json, "machines")), 1);
    cr_assert_eq(json_array_size(json_object_get(json, "links")), 1);
    check_status(predict_cluster_read(&cluster, file), 0);
    cr_assert_eq(cluster->machine_count, 3);
    uint32_t a = predict_cluster_find(cluster, "a"),
             b = predict_cluster_find(cluster, "b"),
             c = predict_cluster_find(cluster, "c");
    cr_assert_float_eq(
        cluster->machines[a].load,
        json_number_value(json_object_get(
            json_array_get(json_object_get(json, "machines"), 0), "load")),
        0.006);
    cr_assert_eq(cluster->machines[a].speed, 2);
    cr_assert_gt(cluster->wires[a * 3 + b].bandwidth, 0);
    cr_assert_float_eq(cluster->wires[a * 3 + c].bandwidth, 125e6, 1);
    check_flow(cluster, a * 3 + b,
               json_array_get(json_object_get(json, "links"), 0));
    check_link_condition(
        cluster, a * 3 + b,
        json_string_value(json_object_get(
            json_array_get(json_object_get(json, "links"), 0), "condition")));
    predict_cluster_destroy(cluster);
    json_decref(json);
    free(output);
    free(link);
    peer_end(&p);
}

Test(load_command, keeps_what_was_measured_when_a_link_is_not_there)
{
    const char *file = scratch_file("cluster.dot");
    predict_cluster *cluster;
    char *output = command_run(1, 60, EVENTSPACE, "load", "--duration", "200ms",
                               "--machine", "a", "--cluster", file,
                               "--measure-link", "b=127.0.0.1:1", NULL);
    check_says(output, "nothing listens at 127.0.0.1:1");
    free(output);
    check_status(predict_cluster_read(&cluster, file), 0);
    cr_assert_eq(cluster->machine_count, 1);
    predict_cluster_destroy(cluster);
}

/* Asks through a script that stands for ssh: c is not there. The others are
 * this machine, so that they share its processors. */
Test(load_command, asks_the_machines_of_the_file_and_goes_on_without_one)
{
    const char *file =
        scratch_write("cluster.dot", "digraph { a; b; c; a -> b "
                                     "[latency=\"1ms\", bandwidth=\"1gbit\"]; "
                                     "a -> c [latency=\"1ms\", "
                                     "bandwidth=\"1gbit\"]; }\n");
    const char *script = scratch_write(
        "ask", "shift_=$1; shift; shift\n"
               "test $shift_ = c && { echo c is dead >&2; exit 1; }\n"
               "exec " EVENTSPACE " \"$@\"\n");
    char *ask, *output;
    predict_cluster *cluster;
    cr_assert_gt(asprintf(&ask, "sh %s {machine}", script), 0);
    output = command_run(1, 60, EVENTSPACE, "load", "--duration", "200ms",
                         "--cluster", file, "--remote", ask, NULL);
    check_says(output, "machine c: it failed");
    check_says(output, "cannot measure 1 of 3 machines");
    check_status(predict_cluster_read(&cluster, file), 0);
    cr_assert_eq(cluster->machine_count, 3);
    if (access("/proc/sys/kernel/random/boot_id", R_OK) == 0) {
        cr_assert_eq(
            cluster->machines[predict_cluster_find(cluster, "a")].place,
            cluster->machines[predict_cluster_find(cluster, "b")].place);
        cr_assert_eq(cluster->place_count, 2);
    }
    predict_cluster_destroy(cluster);
    free(output);
    output = file_read(file, NULL);
    check_says(output, "processors");
    free(output);
    free(ask);
}

Test(load_command, gives_no_name_to_a_shell_that_is_more_than_a_name)
{
    const char *bad = scratch_file("bad");
    char *text, *output;
    cr_assert_gt(asprintf(&text, "digraph { \"a; touch %s\"; }\n", bad), 0);
    const char *file = scratch_write("cluster.dot", text);
    output =
        command_run(1, 60, EVENTSPACE, "load", "--duration", "100ms",
                    "--cluster", file, "--remote", "true {machine};", NULL);
    cr_assert_neq(access(bad, F_OK), 0);
    free(output);
    free(text);
}

Test(load_command, refuses_wrong_usage)
{
    static const char *const wrong[][2] = {
        {"--measure-link", "x"},
        {"--measure-link", "b="},
        {"--measure-link", "=1.2.3.4"},
        {"--measure-link", "1.2.3.4=b"},
        {"--duration", "0"},
        {"--duration", "2"},
        {"--remote", "ssh {machine}"},
        {"--format", "xml"},
        {"--processor", "-1"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        free(command_run(2, 60, EVENTSPACE, "load", wrong[i][0], wrong[i][1],
                         NULL));
    free(command_run(2, 60, EVENTSPACE, "load", "--cluster", "x", "--remote",
                     "ssh", NULL));
    free(command_run(2, 60, EVENTSPACE, "load", "x", NULL));
}

Test(load_command, says_what_older_words_are_called)
{
    static const char *const words[][3] = {
        {"load", "--host=a", "--host is called --machine now"},
        {"load", "--seconds=2", "--seconds is called --duration now"},
        {"load", "--law", "--law is called --detect-law now"},
        {"load", "--link=1.2.3.4=b", "--link is called --measure-link now"},
        {"netbench", "--seconds=2", "--seconds is called --duration now"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        char *said =
            command_run(2, 60, EVENTSPACE, words[i][0], words[i][1], NULL);
        check_says(said, words[i][2]);
        free(said);
    }
    char *output = command_run(2, 60, EVENTSPACE, "load", "--cluster", "x",
                               "--remote", "ssh {host}", NULL);
    check_says(output, "must contain {machine}");
    check_says(output, "{host} is its older name");
    free(output);
}
