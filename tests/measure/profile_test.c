/* profile_test.c - profiles of real programs, ours and others'. */
#include "measure/profiler/profiler.h"
#include "tests/measure/own_network.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* busy_idle does not end before this process had time to look at it. */
static void begin(void)
{
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    cr_assert_eq(setenv("BUSY_IDLE_WATCHER", pid, 1), 0);
    own_network();
    scratch_make();
}

TestSuite(profile, .timeout = 240, .init = begin, .fini = scratch_remove);

/* What execvp() wants, and does not change. */
#define ARGV(list) ((char **)(uintptr_t)(list))

static int silence(void)
{
    return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static predict_profile *measure(measure_profile_notes *notes,
                                measure_profile_options options)
{
    predict_profile *profile;
    if (!options.output)
        options.output = silence();
    check_status(measure_profile(&profile, notes, &options), 0);
    close(options.output);
    check_status(predict_profile_check(profile), 0);
    return profile;
}

static bool noted(const measure_profile_notes *notes, const char *part)
{
    for (size_t i = 0; i < notes->text_count; i++)
        if (strstr(notes->texts[i], part))
            return true;
    return false;
}

static void need_packets(const measure_profile_notes *notes)
{
    if (noted(notes, "CAP_NET_RAW"))
        cr_skip_test("no right to capture packets");
}

static void need(const char *program)
{
    char line[128];
    snprintf(line, sizeof(line), "command -v %s >/dev/null", program);
    if (system(line) != 0)
        cr_assert_fail("%s is missing: `./bootstrap test` installs it",
                       program);
}

/* Where the machine is busy with something else, a watcher may be too late for
 * sockets and a capture may miss packets, which is told. Then once more: what
 * is asked here is whether all is right that was seen. */
#define TRIES 20

static predict_profile *measure_whole(measure_profile_notes *notes,
                                      measure_profile_options options)
{
    for (int i = 0; i < TRIES; i++) {
        predict_profile *p = measure(notes, options);
        need_packets(notes);
        if (!p->lost_packets && !noted(notes, "are left out"))
            return p;
        predict_profile_destroy(p);
        measure_profile_notes_clear(notes);
    }
    cr_assert_fail("in %d tries it was never all seen", TRIES);
    return NULL;
}

static predict_profile *measure_script(measure_profile_notes *notes,
                                       const char *script)
{
    const char *argv[] = {"sh", scratch_write("script", script), NULL};
    return measure(notes, (measure_profile_options){.argv = ARGV(argv)});
}

static const predict_node *node(const predict_profile *profile,
                                const char *name)
{
    uint32_t found = predict_profile_find_node(profile, name);
    cr_assert_neq(found, PREDICT_NONE, "there is no node %s", name);
    return &profile->nodes[found];
}

/* What busy_idle wrote of its processor time. */
static int64_t own_clock_ns(int fd)
{
    char text[64] = "";
    cr_assert_gt(pread(fd, text, sizeof(text) - 1, 0), 4);
    close(fd);
    check_says(text, "cpu ");
    return strtoll(text + 4, NULL, 10);
}

Test(profile, of_one_process_has_its_phases)
{
    const char *argv[] = {BUSY_IDLE, "one", "1", "20", "10", "15", NULL};
    measure_profile_notes notes;
    int output = memfd_create("output", MFD_CLOEXEC);
    int said = dup(output); /* measure() closes the other one */
    predict_profile *p = measure(
        &notes, (measure_profile_options){
                    .argv = ARGV(argv), .output = output, .no_packets = true});
    const predict_node *n = node(p, "busy_idle");
    int64_t own_ns = own_clock_ns(said);
    unsigned phases = 0;
    cr_assert_eq(p->node_count, 1);
    /* By its own clock, which is read just before it ends. */
    cr_assert_geq(own_ns, 200000000);
    cr_assert_gt(n->kernel_ns, 0.98 * (double)own_ns);
    cr_assert_lt(n->kernel_ns, 1.02 * (double)own_ns + 3e6);
    cr_assert_gt(p->wall_ns, 500000000);
    cr_expect(p->slice_ns >= 700000 && p->slice_ns <= 3000000);
    cr_assert_str_eq(p->source, "none");
    for (size_t i = 0; i < n->phase_count; i++)
        phases += n->phases[i].busy_ns >= 9500000;
    /* Each is there, whole and by itself. There may be more: to be ready is to
     * be busy, and on a busy machine it is ready for long when it begins. Where
     * the kernel lost records, phases are missing, and that is told. */
    if (p->exact_phases && !noted(&notes, "records of switches"))
        cr_assert_geq(phases, 20, "%u phases", phases);
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}

Test(profile, of_two_that_talk_has_each_message)
{
    const char *argv[] = {BUSY_IDLE, "talk", "200", "2", NULL};
    measure_profile_notes notes;
    predict_profile *p = measure_whole(
        &notes,
        (measure_profile_options){.argv = ARGV(argv), .interval_ns = 5000000});
    uint32_t asks = predict_profile_find_node(p, "busy_idle");
    cr_assert_eq(p->node_count, 2);
    cr_assert_eq(p->link_count, 1);
    cr_assert(isnan(p->links[0].latency_s));
    cr_assert_eq(p->message_count, 400, "%zu messages", p->message_count);
    for (size_t i = 0; i < p->message_count; i++) {
        cr_expect_eq(p->messages[i].from == asks, i % 2 == 0);
        cr_expect_eq(p->messages[i].bytes, i % 2 ? 5000 : 100);
    }
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}

Test(profile, of_a_command_that_fails_is_there_all_the_same)
{
    const char *argv[] = {BUSY_IDLE, "fail", "3", NULL};
    measure_profile_notes notes;
    predict_profile *p =
        measure(&notes, (measure_profile_options){.argv = ARGV(argv),
                                                  .no_packets = true});
    cr_assert_eq(notes.exit_code, 3);
    cr_assert(noted(&notes, "exit code 3"));
    cr_assert_eq(p->node_count, 1);
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}

Test(profile, of_nothing_is_refused)
{
    const char *argv[] = {"/nowhere/program", NULL};
    measure_profile_options options = {.argv = ARGV(argv), .no_packets = true};
    measure_profile_notes notes;
    predict_profile *p;
    check_status(measure_profile(&p, &notes, &options), PASTSET_ENOENT);
    measure_profile_notes_clear(&notes);
    options.argv = NULL;
    check_status(measure_profile(&p, &notes, &options), PASTSET_EINVAL);
    cr_assert_null(p);
    measure_profile_notes_clear(&notes);
}

Test(profile, without_the_packets_asked_for_keeps_the_rest)
{
    const char *argv[] = {"true", NULL};
    measure_profile_notes notes;
    predict_profile *p =
        measure(&notes, (measure_profile_options){.argv = ARGV(argv),
                                                  .packets_file = "/dev/null"});
    cr_assert(notes.incomplete);
    cr_assert(noted(&notes, "/dev/null"));
    cr_assert_eq(p->node_count, 1);
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}

Test(profile, without_a_run_directory_keeps_the_rest)
{
    const char *argv[] = {"true", NULL};
    measure_profile_notes notes;
    predict_profile *p = measure(
        &notes, (measure_profile_options){.argv = ARGV(argv),
                                          .run_directory = "/nowhere/run"});
    cr_assert(notes.incomplete);
    cr_assert(noted(&notes, "/nowhere/run"));
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}

/* --- messages that leave no packets here --- */

static void check_incomplete(const char *script, const char *why)
{
    measure_profile_notes notes;
    predict_profile *p = measure_script(&notes, script);

    need_packets(&notes);
    cr_expect(notes.incomplete);
    cr_expect(noted(&notes, why), "%s", why);
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}

Test(profile, says_that_ranks_share_memory)
{
    check_incomplete("OMPI_COMM_WORLD_RANK=0 sleep 0.2 &\n"
                     "OMPI_COMM_WORLD_RANK=1 sleep 0.2 &\nwait\n",
                     "between the ranks of MPI");
}

Test(profile, says_that_connections_are_in_another_network_namespace)
{
    need("redis-server");
    need("unshare");
    need("ip");
    if (system("unshare --net true 2>/dev/null") != 0)
        cr_skip_test("no right to make a network namespace");
    check_incomplete(
        "unshare --net sh -c \"ip link set lo up\n"
        "redis-server --port 17393 --save '' >/dev/null &\n"
        "while ! redis-cli -p 17393 ping >/dev/null 2>&1; do sleep 0.05; done\n"
        "redis-benchmark -p 17393 -n 20000 -c 2 -t set -q\n"
        "redis-cli -p 17393 shutdown nosave\nwait\"\n",
        "another network namespace");
}

/* --- ours --- */

Test(profile, of_a_run_of_ours_has_its_processes_and_exact_messages)
{
    char make[1024];
    snprintf(make, sizeof(make),
             "cd %s && %s/gsum mapping --threads 2 | %s/eventspace map "
             "generate --application - --processes 2 | %s/eventspace map "
             "instrument - --collectors all -o map.dot",
             scratch_file("."), TEST_BINARY_DIR, TEST_BINARY_DIR,
             TEST_BINARY_DIR);
    free(command_run(0, 60, "sh", "-c", make, NULL));
    const char *map = scratch_file("map.dot"), *out = scratch_file("RUN");
    const char *argv[] = {
        TEST_BINARY_DIR "/eventspace", "run", map, "--output", out, "--",
        /* Long enough to be seen before it is over. */
        TEST_BINARY_DIR "/gsum", "run", "--compute=2ms", NULL};
    measure_profile_notes notes;
    predict_profile *p =
        measure(&notes, (measure_profile_options){.argv = ARGV(argv)});
    cr_assert_eq(notes.exit_code, 0);
    cr_assert_eq(p->node_count, 2);
    cr_assert_gt(node(p, "h0")->kernel_ns, 0);
    cr_assert_gt(node(p, "h1")->kernel_ns, 0);
    cr_assert_str_eq(p->source, "traces");
    cr_assert_eq(p->link_count, 1);
    cr_assert_gt(p->message_count, 0);
    cr_assert_gt(p->actor_count, 2);
    cr_assert_not(noted(&notes, "were not found among"));
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}

/* --- others' --- */

static void check_plausible(const predict_profile *p, const char *name)
{
    const predict_node *n = node(p, name);
    cr_expect_gt(n->kernel_ns, 0);
    cr_expect_gt(n->threads, 0);
    cr_expect_gt(n->phase_count, 0);
    cr_expect_leq(n->end_ns, p->wall_ns);
}

/* Messages from one node to another. */
static uint64_t messages(const predict_profile *p, const char *from,
                         const char *to)
{
    uint32_t a = predict_profile_find_node(p, from);
    uint32_t b = predict_profile_find_node(p, to);
    uint64_t count = 0;
    for (size_t i = 0; i < p->message_count; i++)
        count += p->messages[i].from == a && p->messages[i].to == b;
    return count;
}

/* What a capture has missed is counted. Sockets that were gone before a starved
 * watcher looked are told; then once more. */
Test(profile, of_redis_has_a_request_and_a_reply_for_each_operation)
{
    need("redis-server");
    need("redis-benchmark");
    measure_profile_notes notes;
    for (int i = 0;; i++) {
        predict_profile *p = measure_script(
            &notes, "redis-server --port 17391 --save '' >/dev/null &\n"
                    "while ! redis-cli -p 17391 ping >/dev/null 2>&1; do\n"
                    "sleep 0.05; done\n"
                    "redis-benchmark -p 17391 -n 40000 -c 4 -t set -q\n"
                    "redis-cli -p 17391 shutdown nosave\nwait\n");
        need_packets(&notes);
        cr_assert_eq(notes.exit_code, 0);
        uint64_t requests = messages(p, "redis-benchmark", "redis-server");
        uint64_t replies = messages(p, "redis-server", "redis-benchmark");
        uint64_t missing = 400 + p->lost_packets;
        bool blind = noted(&notes, "are left out") && i < TRIES &&
                     (requests + missing < 40000 || replies + missing < 40000);
        if (!blind) {
            check_plausible(p, "redis-server");
            check_plausible(p, "redis-benchmark");
            cr_assert_geq(requests + missing, 40000);
            cr_assert_leq(requests, 40400);
            cr_assert_geq(replies + missing, 40000);
            cr_assert_leq(replies, 40400);
        }
        predict_profile_destroy(p);
        measure_profile_notes_clear(&notes);
        if (!blind)
            break;
    }
}

/* Of iperf3's JSON: the bytes of a sum. */
static uint64_t told(const char *json, const char *sum)
{
    const char *at = strstr(json, sum);
    at = at ? strstr(at, "\"bytes\":") : NULL;
    cr_assert_not_null(at, "no %s in %s", sum, json);
    return strtoull(at + strlen("\"bytes\":"), NULL, 10);
}

/* Its server closes the connection as soon as the client says that it is done:
 * what the client has then given to its kernel and the kernel has not sent is
 * never sent. So it is more than what the server has got, and no more than what
 * the client has given away; and what they agree upon, a few KiB. */
Test(profile, of_iperf_has_the_bytes_that_it_tells)
{
    need("iperf3");
    measure_profile_notes notes;
    const char *json = scratch_file("told");
    char script[1024], *text;
    snprintf(script, sizeof(script),
             "iperf3 -s -p 17392 -1 >/dev/null &\n"
             "until iperf3 -J -c 127.0.0.1 -p 17392 -n 20M -b 50M >%s &&\n"
             "! grep -q '\"error\"' %s; do\n"
             "sleep 0.1; done\nwait\n",
             json, json); /* with -J it gives 0 when it fails, too */
    predict_profile *p = measure_whole(
        &notes, (measure_profile_options){
                    .argv = ARGV(((const char *[]){
                        "sh", scratch_write("script", script), NULL}))});
    uint64_t bytes = 0;
    check_plausible(p, "iperf3");
    for (size_t i = 0; i < p->message_count; i++)
        bytes += p->messages[i].bytes;
    text = file_read(json, NULL);
    cr_assert_geq(bytes, told(text, "\"sum_received\""), "%llu bytes; %s; %s",
                  (unsigned long long)bytes,
                  notes.text_count ? notes.texts[0] : "no notes", text);
    cr_assert_leq(bytes, told(text, "\"sum_sent\"") + (64u << 10));
    cr_assert_geq(told(text, "\"sum_sent\""), 20u << 20);
    free(text);
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}

Test(profile, of_an_mpi_program_has_its_ranks)
{
    need("mpirun");
    measure_profile_notes notes;
    predict_profile *p = measure_script(
        &notes, "mpirun --allow-run-as-root --oversubscribe -np 2 " BUSY_IDLE
                " one 1 10 10 5\n");
    need_packets(&notes);
    cr_assert_eq(notes.exit_code, 0);
    check_plausible(p, "rank0");
    check_plausible(p, "rank1");
    cr_expect_gt(node(p, "rank0")->kernel_ns, 99000000);
    predict_profile_destroy(p);
    measure_profile_notes_clear(&notes);
}
