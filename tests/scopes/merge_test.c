/* merge_test.c - run directories of several machines, made into one. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/run.h"
#include "tests/support/check.h"
#include "tests/support/process.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define GSUM TEST_BINARY_DIR "/gsum"
#define ROUNDS 2000

TestSuite(merge, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* --- runs --- */

/* A run of gsum with four threads on two hosts. */
static void run_make(const char *directory)
{
    char *mapping = process_run(0, 30, GSUM, "mapping", "--threads", "4", NULL);
    const char *application = scratch_write("application.dot", mapping);
    const char *plain = scratch_file("plain.dot"), *map = scratch_file("m.dot");
    char rounds[16];

    snprintf(rounds, sizeof(rounds), "%d", ROUNDS);
    free(mapping);
    free(process_run(0, 30, EVENTSPACE, "map", "generate", "-a", application,
                     "-n", "2", "-o", plain, NULL));
    free(process_run(0, 30, EVENTSPACE, "map", "instrument", plain,
                     "--collectors", "all", "-o", map, NULL));
    free(process_run(0, 120, EVENTSPACE, "run", map, "--out", directory, "--",
                     GSUM, "run", "-n", rounds, NULL));
}

static void copy(const char *from, const char *to)
{
    free(process_run(0, 60, "/bin/cp", "--sparse=always", from, to, NULL));
}

/* What a machine has on which only this host has run. */
static void machine_make(const char *directory, const char *run,
                         const char *host)
{
    static const char *const suffixes[] = {"space", "meta", "archive"};
    char from[1024], to[1024];

    mkdir(directory, 0777);
    snprintf(from, sizeof(from), "%s/pathmap.dot", run);
    copy(from, directory);
    for (size_t i = 0; i < 3; i++) {
        snprintf(from, sizeof(from), "%s/%s.%s", run, host, suffixes[i]);
        snprintf(to, sizeof(to), "%s/%s.%s", directory, host, suffixes[i]);
        if (access(from, F_OK) == 0)
            copy(from, to);
    }
}

static eventspace_events events_of(const char *directory, size_t host)
{
    eventspace_events events;
    eventspace_run *run;

    check_status(eventspace_run_open(&run, directory), 0);
    check_status(eventspace_run_events(run, host, &events), 0);
    eventspace_run_close(run);
    return events;
}

static char *view_of(const char *directory, const char *view)
{
    return process_run(0, 60, EVENTSPACE, "view", directory, view, "--format",
                       "csv", NULL);
}

/* The same hosts, events and views as before. */
static void check_same(const char *merged, const char *whole)
{
    static const char *const views[] = {"communication", "last-arriver",
                                        "hops"};

    for (size_t host = 0; host < 2; host++) {
        eventspace_events was = events_of(whole, host);
        eventspace_events is = events_of(merged, host);
        cr_expect_gt(was.made, 0);
        cr_expect_eq(is.made, was.made);
        cr_expect_eq(is.present, was.present);
    }
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        char *was = view_of(whole, views[i]), *is = view_of(merged, views[i]);
        cr_expect_str_eq(is, was);
        free(was);
        free(is);
    }
}

/* --- merging --- */

Test(merge, makes_one_run_of_those_of_two_machines)
{
    char run[512], north[512], south[512], all[512], *output;

    snprintf(run, sizeof(run), "%s", scratch_file("run"));
    snprintf(north, sizeof(north), "%s", scratch_file("north"));
    snprintf(south, sizeof(south), "%s", scratch_file("south"));
    snprintf(all, sizeof(all), "%s", scratch_file("all"));
    run_make(run);
    machine_make(north, run, "h0");
    machine_make(south, run, "h1");
    output = process_run(0, 60, EVENTSPACE, "merge", north, south, "--out", all,
                         NULL);
    cr_expect(strstr(output, "host h0: from ") && strstr(output, "/north\n"));
    cr_expect(strstr(output, "host h1: from ") && strstr(output, "/south\n"));
    free(output);
    check_same(all, run);
    output = process_run(1, 60, EVENTSPACE, "merge", north, south, "--out", all,
                         NULL);
    cr_expect(strstr(output, "is not empty; give a new directory"), "%s",
              output);
    free(output);
}

/* What was seen: an empty archive of the other machine's host, in each of two
 * mirrors, made all events of both vanish when they were copied together. */
Test(merge, makes_one_run_of_the_mirrors_of_two_scopes)
{
    char run[512], machines[2][512], mirrors[2][512], all[512], *output;

    snprintf(run, sizeof(run), "%s", scratch_file("run"));
    snprintf(all, sizeof(all), "%s", scratch_file("all"));
    run_make(run);
    for (int i = 0; i < 2; i++) {
        char host[8], file[1024];
        snprintf(host, sizeof(host), "h%d", i);
        snprintf(machines[i], 512, "%s", scratch_file("machine%d", i));
        snprintf(mirrors[i], 512, "%s", scratch_file("mirror%d", i));
        machine_make(machines[i], run, host);
        output = process_run(0, 120, EVENTSPACE, "scope", machines[i], "--out",
                             mirrors[i], NULL);
        free(output);
        snprintf(file, sizeof(file), "%s/h%d.archive", mirrors[i], !i);
        cr_expect_neq(access(file, F_OK), 0,
                      "an archive of what ran elsewhere");
    }
    free(process_run(0, 60, EVENTSPACE, "merge", mirrors[0], mirrors[1],
                     machines[0], "--out", all, NULL));
    for (size_t host = 0; host < 2; host++) {
        char *info = process_run(0, 60, EVENTSPACE, "info", all, "--format",
                                 "csv", NULL);
        char made[64];
        snprintf(made, sizeof(made), "%llu",
                 (unsigned long long)events_of(run, host).made);
        cr_expect(strstr(info, made), "%s not in %s", made, info);
        free(info);
    }
}

Test(merge, refuses_what_is_not_of_one_run)
{
    char runs[2][512], all[512], *output;

    snprintf(all, sizeof(all), "%s", scratch_file("all"));
    for (int i = 0; i < 2; i++) {
        snprintf(runs[i], 512, "%s", scratch_file("run%d", i));
        run_make(runs[i]);
    }
    output = process_run(1, 60, EVENTSPACE, "merge", runs[0], runs[1], "--out",
                         all, NULL);
    cr_expect(strstr(output, "have different runs of host h0"), "%s", output);
    free(output);
    output = process_run(1, 60, EVENTSPACE, "merge", runs[0], "/nowhere",
                         "--out", all, NULL);
    cr_expect(strstr(output, "/nowhere"), "%s", output);
    free(output);
    free(process_run(2, 60, EVENTSPACE, "merge", runs[0], "--out", all, NULL));
    free(process_run(2, 60, EVENTSPACE, "merge", runs[0], runs[1], NULL));
}
